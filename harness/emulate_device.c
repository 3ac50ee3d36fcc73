/* Blocks of emulated threads: order, barriers, warp-wide operations.
 *
 * Blocks run one after another in a shuffled order.  The threads of a block are fibers: each runs until it waits or ends,
 * in a shuffled order; when none can run, warps and then the block are released, or else it is a deadlock.  What this order
 * hides, the shadow memory sees.
 * SPDX-License-Identifier: MIT
 */
#include "harness/emulate.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { STACK_SIZE = 256 * 1024, STACK_GUARD = 4096 };

uint32_t heddle_device_random(heddle_emulator *e, uint32_t bound)
{
	uint64_t z = e->random += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	z ^= z >> 31;
	return (uint32_t)((z >> 32) * bound >> 32);
}

const char *heddle_device_where(const heddle_emulator *e, int thread, int64_t block)
{
	const unsigned *d = e->index.block_dim, *g = e->index.grid_dim;
	heddle_text t = {0};
	unsigned v = (unsigned)thread;
	if (d[1] * d[2] == 1)
		heddle_text_printf(&t, "thread %u of block ", v);
	else
		heddle_text_printf(&t, "thread (%u,%u,%u) of block ", v % d[0], v / d[0] % d[1], v / d[0] / d[1]);
	if (g[1] * g[2] == 1)
		heddle_text_printf(&t, "%lld", (long long)block);
	else
		heddle_text_printf(&t, "(%lld,%lld,%lld)", (long long)(block % g[0]), (long long)(block / g[0] % g[1]),
				   (long long)(block / g[0] / g[1]));
	const char *text = heddle_arena_strdup(e->arena, heddle_text_str(&t));
	heddle_text_free(&t);
	return text;
}

/* ---- what a thread calls ------------------------------------------------------------------------------------------------ */

static void leave(heddle_emulator *e)
{
	e->in_thread = false;
	heddle_fiber_switch(&e->thread[e->current].fiber, &e->main);
	e->in_thread = true;
	if (e->late)
		heddle_crash_late(e, e->thread[e->current].file, e->thread[e->current].line, 0);
}

void heddle_device_stop(heddle_emulator *e)
{
	e->stop = true;
	leave(e);
	abort(); /* nobody switches back to a stopped thread */
}

static int device_barrier(void *state, heddle_emu_barrier kind, int predicate, const char *file, int line)
{
	heddle_emulator *e = state;
	heddle_thread *t = &e->thread[e->current];
	t->state = HEDDLE_THREAD_BARRIER;
	t->barrier = kind;
	t->predicate = predicate != 0;
	t->file = file;
	t->line = line;
	leave(e);
	return t->result;
}

static uint64_t full_mask(const heddle_emulator *e)
{
	return e->warp >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << e->warp) - 1;
}

static void device_warp(void *state, heddle_emu_warp *operation)
{
	heddle_emulator *e = state;
	heddle_thread *t = &e->thread[e->current];
	int lane = e->current % e->warp;
	operation->mask &= full_mask(e);
	if (operation->masked && !(operation->mask >> lane & 1)) {
		heddle_suspect(e, &(heddle_suspicion){.kind = "barrier", .file = operation->file, .line = operation->line,
			.text = heddle_arena_printf(e->arena, "%s (lane %d of a warp of %d) calls %s with a mask 0x%llx that "
				"leaves it out", heddle_device_where(e, e->current, e->block), lane, e->warp,
				operation->name, operation->mask)});
		heddle_device_stop(e);
	}
	t->state = HEDDLE_THREAD_WARP;
	t->warp = operation;
	t->file = operation->file;
	t->line = operation->line;
	leave(e);
}

static void device_fence(void *state)
{
	heddle_emulator *e = state;
	e->thread[e->current].fenced = true;
}

static void device_fault(void *state, const char *kind, const char *file, int line, const void *pc, int stop, const char *text)
{
	heddle_emulator *e = state;
	if (file && heddle_emulate_is_shim(file)) /* in a function of the shim: where the text calls it */
		file = NULL;
	heddle_suspect(e, &(heddle_suspicion){.kind = kind, .file = file, .line = line,
		.pc = file ? 0 : (uint32_t)((uintptr_t)pc - e->base),
		.text = heddle_arena_printf(e->arena, "%s (%s)", text, heddle_device_where(e, e->current, e->block))});
	if (stop)
		heddle_device_stop(e);
}

static void thread_main(void *data)
{
	heddle_emulator *e = data;
	e->in_thread = true;
	e->kernel->call(e->kernel->function, e->value);
	heddle_thread *t = &e->thread[e->current];
	t->state = HEDDLE_THREAD_DONE;
	e->free_stack[e->n_free++] = t->stack;
	leave(e);
	abort();
}

/* ---- running ------------------------------------------------------------------------------------------------------------- */

static void resume(heddle_emulator *e, int thread)
{
	heddle_thread *t = &e->thread[thread];
	if (t->state == HEDDLE_THREAD_NEW) {
		t->stack = e->free_stack[--e->n_free];
		unsigned char *stack = e->stacks + (size_t)t->stack * e->stack_size;
		heddle_fiber_make(&t->fiber, stack + STACK_GUARD, e->stack_size - STACK_GUARD, thread_main, e);
	}
	t->state = HEDDLE_THREAD_READY;
	e->current = thread;
	memcpy(e->index.thread, t->index, sizeof(t->index));
	e->index.linear = thread;
	e->index.lane = thread % e->warp;
	heddle_fiber_switch(&e->main, &t->fiber);
}

/* Run every thread that can, once.  False when there was none. */
static bool run_round(heddle_emulator *e, int *order)
{
	int n = 0;
	for (int i = 0; i < e->n_thread; i++)
		if (e->thread[i].state <= HEDDLE_THREAD_READY)
			order[n++] = i;
	for (int i = n - 1; i > 0; i--) {
		int j = (int)heddle_device_random(e, (uint32_t)i + 1), swap = order[i];
		order[i] = order[j];
		order[j] = swap;
	}
	for (int i = 0; i < n && !e->stop; i++)
		resume(e, order[i]);
	return n > 0;
}

static bool same_place(const heddle_thread *a, const heddle_thread *b)
{
	return a->line == b->line && !strcmp(a->file, b->file);
}

/* Lanes [0, n) of the warp from `first` that are in `group` run on with their results. */
static void release_group(heddle_emulator *e, int first, int n, uint64_t group)
{
	heddle_thread *t = e->thread + first;
	uint64_t vote = 0;
	unsigned long long value[64][2];
	for (int i = 0; i < n; i++)
		if (group >> i & 1) {
			memcpy(value[i], t[i].warp->value, sizeof(value[i]));
			vote |= (uint64_t)(value[i][0] != 0) << i;
		}
	for (int i = 0; i < n; i++) {
		if (!(group >> i & 1))
			continue;
		heddle_emu_warp *w = t[i].warp;
		w->active = group;
		w->vote = vote;
		if (w->kind == HEDDLE_EMU_MATCH) {
			w->vote = 0;
			for (int k = 0; k < n; k++)
				if (group >> k & 1 && value[k][0] == value[i][0])
					w->vote |= 1ull << k;
		} else if (w->kind == HEDDLE_EMU_SHUFFLE) {
			int s = w->source;
			if (s >= 0 && s < n && group >> s & 1)
				memcpy(w->value, value[s], sizeof(w->value));
			else
				heddle_suspect(e, &(heddle_suspicion){.kind = "uninitialised", .file = w->file, .line = w->line,
					.text = heddle_arena_printf(e->arena, "%s reads by %s from lane %d, which does not take part",
						heddle_device_where(e, first + i, e->block), w->name, s)});
		}
	}
	uint32_t order = ++e->warp_epoch;
	for (int i = 0; i < n; i++)
		if (group >> i & 1) {
			/* Only __syncwarp orders memory; shuffles and votes do not (CUDA C++ Programming Guide, warp
			 * shuffle functions). */
			if (t[i].warp->kind == HEDDLE_EMU_SYNC)
				t[i].warp_epoch = order;
			t[i].warp = NULL;
			t[i].state = HEDDLE_THREAD_READY;
		}
}

/* Lanes that lane `i` waits for, or 0 while some are missing. */
static uint64_t masked_group(const heddle_thread *t, int n, int i)
{
	const heddle_emu_warp *w = t[i].warp;
	uint64_t group = 0;
	for (int k = 0; k < n; k++) {
		if (!(w->mask >> k & 1) || t[k].state == HEDDLE_THREAD_DONE)
			continue;
		const heddle_emu_warp *o = t[k].warp;
		if (t[k].state != HEDDLE_THREAD_WARP || !o->masked || o->mask != w->mask || o->kind != w->kind)
			return 0;
		group |= UINT64_C(1) << k;
	}
	return group;
}

/* Without masks, those at one place go together; the earliest line first, so that a branch catches up with what follows. */
static uint64_t unmasked_group(const heddle_thread *t, int n)
{
	int best = -1;
	for (int i = 0; i < n; i++)
		if (t[i].state == HEDDLE_THREAD_WARP && !t[i].warp->masked && (best < 0 || t[i].line < t[best].line))
			best = i;
	uint64_t group = 0;
	for (int i = 0; i < n && best >= 0; i++)
		if (t[i].state == HEDDLE_THREAD_WARP && !t[i].warp->masked && t[i].warp->kind == t[best].warp->kind &&
		    same_place(&t[i], &t[best]))
			group |= UINT64_C(1) << i;
	return group;
}

static bool release_warps(heddle_emulator *e)
{
	bool any = false;
	for (int first = 0; first < e->n_thread; first += e->warp) {
		int n = e->n_thread - first < e->warp ? e->n_thread - first : e->warp;
		heddle_thread *t = e->thread + first;
		for (int i = 0; i < n; i++) {
			if (t[i].state != HEDDLE_THREAD_WARP)
				continue;
			uint64_t group = t[i].warp->masked ? masked_group(t, n, i) : unmasked_group(t, n);
			if (!group)
				continue;
			any = true;
			bool masked = t[i].warp->masked;
			release_group(e, first, n, group);
			if (!masked)
				break;
		}
	}
	return any;
}

/* All threads at one barrier: release them. */
static bool release_block(heddle_emulator *e)
{
	int count = 0;
	for (int i = 0; i < e->n_thread; i++) {
		const heddle_thread *t = &e->thread[i];
		if (t->state != HEDDLE_THREAD_BARRIER || t->barrier != e->thread[0].barrier || !same_place(t, &e->thread[0]))
			return false;
		count += t->predicate;
	}
	for (int i = 0; i < e->n_thread; i++) {
		heddle_thread *t = &e->thread[i];
		t->state = HEDDLE_THREAD_READY;
		t->result = t->barrier == HEDDLE_EMU_OR ? count > 0 :
			    t->barrier == HEDDLE_EMU_AND ? count == e->n_thread : count;
	}
	e->epoch++;
	return true;
}

/* Nothing can go on: name one thread that waits and one that it waits for in vain. */
static void report_deadlock(heddle_emulator *e)
{
	int waits = -1, other = -1;
	for (int i = 0; i < e->n_thread && waits < 0; i++)
		if (e->thread[i].state == HEDDLE_THREAD_WARP && e->thread[i].warp->masked)
			waits = i;
	bool warp = waits >= 0;
	for (int i = 0; i < e->n_thread && waits < 0; i++)
		if (e->thread[i].state == HEDDLE_THREAD_BARRIER)
			waits = i;
	const heddle_thread *w = &e->thread[waits];
	int first = waits / e->warp * e->warp;
	for (int i = 0; i < e->n_thread && other < 0; i++) {
		const heddle_thread *t = &e->thread[i];
		if (i == waits || (warp && (i < first || i >= first + e->warp || !(w->warp->mask >> (i - first) & 1))))
			continue;
		if (warp ? t->state != HEDDLE_THREAD_DONE && (t->state != HEDDLE_THREAD_WARP || t->warp->mask != w->warp->mask ||
							    t->warp->kind != w->warp->kind)
			 : t->state != HEDDLE_THREAD_BARRIER || t->barrier != w->barrier || !same_place(t, w))
			other = i;
	}
	const char *what = warp ? w->warp->name : "a barrier of the block", *then = "does not come";
	if (other >= 0) {
		const heddle_thread *t = &e->thread[other];
		const char *at = t->state == HEDDLE_THREAD_DONE ? "has left the kernel" :
				 heddle_arena_printf(e->arena, "waits at line %d in %s", t->line,
						     t->state == HEDDLE_THREAD_WARP ? t->warp->name : "another barrier");
		then = heddle_arena_printf(e->arena, "does not come: it %s", at);
	}
	heddle_suspect(e, &(heddle_suspicion){.kind = "barrier", .file = w->file, .line = w->line,
		.text = heddle_arena_printf(e->arena, "%s waits in %s to which thread %d %s",
			heddle_device_where(e, waits, e->block), what, other, then)});
}

static void prepare_block(heddle_emulator *e, int64_t block)
{
	const unsigned *g = e->index.grid_dim, *d = e->index.block_dim;
	e->block = block;
	e->index.block[0] = (unsigned)(block % g[0]);
	e->index.block[1] = (unsigned)(block / g[0] % g[1]);
	e->index.block[2] = (unsigned)(block / g[0] / g[1]);
	e->block_epoch = ++e->epoch;
	e->warp_epoch++;
	e->acquired = false;
	if (e->n_record == e->record_capacity) {
		e->record_capacity = e->record_capacity ? e->record_capacity * 2 : 64;
		e->record = heddle_xrealloc(e->record, sizeof(*e->record) * (size_t)e->record_capacity);
	}
	e->record[e->n_record++] = (heddle_block_record){.epoch = e->epoch, .block = block};
	for (int i = 0; i < e->n_region; i++)
		if (e->region[i]->shared && e->region[i]->active)
			memset((void *)e->region[i]->low, 0xff, e->region[i]->high - e->region[i]->low);
	e->n_free = 0;
	for (int i = e->n_stack - 1; i >= 0; i--)
		e->free_stack[e->n_free++] = i;
	for (int i = 0; i < e->n_thread; i++) {
		heddle_thread *t = &e->thread[i];
		t->state = HEDDLE_THREAD_NEW;
		t->stack = -1;
		t->fenced = false;
		t->warp_epoch = e->warp_epoch;
		t->index[0] = (unsigned)i % d[0];
		t->index[1] = (unsigned)i / d[0] % d[1];
		t->index[2] = (unsigned)i / d[0] / d[1];
	}
}

static void run_block(heddle_emulator *e, int64_t block, int *order)
{
	prepare_block(e, block);
	while (!e->stop) {
		if (run_round(e, order))
			continue;
		if (release_warps(e))
			continue;
		bool waiting = false;
		for (int i = 0; i < e->n_thread; i++)
			waiting |= e->thread[i].state != HEDDLE_THREAD_DONE;
		if (!waiting)
			return;
		if (!release_block(e)) {
			report_deadlock(e);
			e->stop = true;
		}
	}
}

static void make_threads(heddle_emulator *e, int n)
{
	e->n_thread = n;
	if (n <= e->n_stack)
		return;
	if (e->stacks)
		munmap(e->stacks, (size_t)e->n_stack * e->stack_size);
	for (int i = 0; i < e->n_stack; i++)
		heddle_fiber_free(&e->thread[i].fiber);
	e->stack_size = STACK_SIZE;
	e->n_stack = n;
	e->stacks = mmap(NULL, (size_t)n * e->stack_size, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (e->stacks == MAP_FAILED) {
		fprintf(stderr, "heddle: no memory for the stacks of %d emulated threads\n", n);
		exit(HEDDLE_EXIT_LIMIT);
	}
	for (int i = 0; i < n; i++)
		mprotect(e->stacks + (size_t)i * e->stack_size, STACK_GUARD, PROT_NONE);
	e->thread = heddle_xrealloc(e->thread, sizeof(*e->thread) * (size_t)n);
	memset(e->thread, 0, sizeof(*e->thread) * (size_t)n);
	e->free_stack = heddle_xrealloc(e->free_stack, sizeof(*e->free_stack) * (size_t)n);
}

void heddle_device_setup(heddle_emulator *e, heddle_arena *arena, int warp, uint64_t seed)
{
	memset(e, 0, sizeof(*e));
	e->arena = arena;
	e->warp = warp;
	e->random = seed;
	e->device = (heddle_emu_device){
		.state = e,
		.index = &e->index,
		.access = heddle_shadow_access,
		.barrier = device_barrier,
		.warp = device_warp,
		.fence = device_fence,
		.fault = device_fault,
	};
}

void heddle_device_launch(heddle_emulator *e, const heddle_emu_kernel *kernel, void **value, const int64_t grid[3],
			  const int block[3])
{
	for (int i = 0; i < 3; i++) {
		e->index.grid_dim[i] = (unsigned)grid[i];
		e->index.block_dim[i] = (unsigned)block[i];
	}
	e->kernel = kernel;
	e->value = value;
	e->n_record = 0;
	e->launch_epoch = ++e->epoch;
	make_threads(e, block[0] * block[1] * block[2]);
	int64_t n = grid[0] * grid[1] * grid[2];
	int *order = heddle_xalloc(sizeof(*order) * (size_t)e->n_thread);
	/* Every block once, in the order of a permutation i -> (i * step + start) mod n with step coprime to n. */
	uint64_t start = n > 0 ? heddle_device_random(e, (uint32_t)(n < INT32_MAX ? n : INT32_MAX)) : 0, step = 1;
	if (n > 2) {
		step = 1 + heddle_device_random(e, (uint32_t)(n - 1 < INT32_MAX ? n - 1 : INT32_MAX));
		for (;; step++) {
			uint64_t a = step, b = (uint64_t)n;
			while (b) {
				uint64_t r = a % b;
				a = b;
				b = r;
			}
			if (a == 1)
				break;
		}
	}
	for (int64_t i = 0; i < n && !e->stop; i++)
		run_block(e, (int64_t)(((uint64_t)i * step + start) % (uint64_t)n), order);
	free(order);
}

void heddle_device_free(heddle_emulator *e)
{
	if (e->stacks)
		munmap(e->stacks, (size_t)e->n_stack * e->stack_size);
	for (int i = 0; i < e->n_stack; i++)
		heddle_fiber_free(&e->thread[i].fiber);
	free(e->thread);
	free(e->free_stack);
	free(e->record);
	e->stacks = NULL;
	e->thread = NULL;
	e->free_stack = NULL;
	e->record = NULL;
	e->n_stack = 0;
}
