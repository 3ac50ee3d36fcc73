/* Shadow memory of the emulator: every access is checked for bounds, races and uninitialised reads.
 *
 * Memory is a list of regions; each region that can be written has a cell per element-sized piece.  Two accesses to a cell
 * race when at least one writes, not both are atomic, different threads made them, and nothing orders them: a barrier
 * between (another epoch of the same block), a __syncwarp between (threads of one warp), another launch, or a fence before
 * an atomic of the one block and an atomic of the other after it.
 * SPDX-License-Identifier: MIT
 */
#include "harness/emulate.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { MAX_SUSPICION = 20, GUARD_REACH = 64 * 1024 };

/* ---- findings --------------------------------------------------------------------------------------------------------------- */

static bool same_suspicion(const heddle_suspicion *a, const heddle_suspicion *b)
{
	if (strcmp(a->kind, b->kind))
		return false;
	if (a->file || b->file)
		return a->file && b->file && a->line == b->line && !strcmp(a->file, b->file);
	if (a->has_other && b->has_other)
		return (a->pc == b->pc && a->other_pc == b->other_pc) || (a->pc == b->other_pc && a->other_pc == b->pc);
	return a->pc == b->pc;
}

/* Whether it is new; asked before its text is made. */
static bool is_news(const heddle_emulator *e, const heddle_suspicion *suspicion)
{
	if (e->n_suspicion >= MAX_SUSPICION)
		return false;
	for (int i = 0; i < e->n_suspicion; i++)
		if (same_suspicion(&e->suspicion[i], suspicion))
			return false;
	return true;
}

void heddle_suspect(heddle_emulator *e, const heddle_suspicion *suspicion)
{
	if (!strcmp(suspicion->kind, "unsupported"))
		e->unsupported = true;
	if (!is_news(e, suspicion))
		return;
	if (!e->suspicion)
		e->suspicion = HEDDLE_NEW_ARRAY(e->arena, heddle_suspicion, MAX_SUSPICION);
	/* Words of the shared object do not outlive it. */
	heddle_suspicion copy = *suspicion;
	copy.kind = heddle_arena_strdup(e->arena, suspicion->kind);
	copy.file = suspicion->file ? heddle_arena_strdup(e->arena, suspicion->file) : NULL;
	e->suspicion[e->n_suspicion++] = copy;
}

/* ---- regions ------------------------------------------------------------------------------------------------------------------ */

static size_t cells_of(size_t size, int shift)
{
	return (size + ((size_t)1 << shift) - 1) >> shift;
}

static heddle_cell *make_cells(size_t n)
{
	heddle_cell *cell = mmap(NULL, n * sizeof(heddle_cell), PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (cell == MAP_FAILED) {
		fprintf(stderr, "heddle: no memory to watch %zu elements\n", n);
		exit(HEDDLE_EXIT_LIMIT);
	}
	return cell;
}

heddle_region *heddle_shadow_add(heddle_emulator *e, const char *name, void *low, size_t size, int element, bool watched)
{
	heddle_region *r = HEDDLE_NEW(e->arena, heddle_region);
	r->name = name;
	r->low = (uintptr_t)low;
	r->high = r->low + size;
	r->element = element;
	r->shift = element == 1 ? 0 : element == 2 ? 1 : 2;
	if (watched && size) {
		r->n_cell = cells_of(size, r->shift);
		r->cell = make_cells(r->n_cell);
	}
	HEDDLE_PUSH(e->arena, e->region, e->n_region, r);
	return r;
}

static int by_address(const void *a, const void *b)
{
	const heddle_region *x = *(heddle_region *const *)a, *y = *(heddle_region *const *)b;
	return (x->low > y->low) - (x->low < y->low);
}

void heddle_shadow_sort(heddle_emulator *e)
{
	qsort(e->region, (size_t)e->n_region, sizeof(*e->region), by_address);
	memset(e->recent, 0, sizeof(e->recent));
}

void heddle_shadow_free(heddle_emulator *e)
{
	for (int i = 0; i < e->n_region; i++)
		if (e->region[i]->cell)
			munmap(e->region[i]->cell, e->region[i]->n_cell * sizeof(heddle_cell));
	e->n_region = 0;
}

void heddle_shadow_forget(heddle_region *r, uintptr_t low, uintptr_t high)
{
	for (size_t i = (low - r->low) >> r->shift; i < r->n_cell && r->low + (i << r->shift) < high; i++)
		r->cell[i].write.epoch = 0;
}

/* Smaller accesses than cells: every cell becomes several with the same past. */
static void refine(heddle_region *r, int shift)
{
	size_t n = cells_of(r->high - r->low, shift);
	heddle_cell *cell = make_cells(n);
	for (size_t i = 0; i < n; i++)
		cell[i] = r->cell[i >> (r->shift - shift)];
	munmap(r->cell, r->n_cell * sizeof(heddle_cell));
	r->cell = cell;
	r->n_cell = n;
	r->shift = shift;
}

/* The last region that begins at or below `a`; -1: none. */
static int region_below(const heddle_emulator *e, uintptr_t a)
{
	int low = -1, high = e->n_region;
	while (high - low > 1) {
		int middle = (low + high) / 2;
		if (e->region[middle]->low <= a)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* "A[3,4]", "byte 48 of s". */
static const char *place_name(heddle_emulator *e, const heddle_region *r, uintptr_t a)
{
	for (int i = 0; i < r->n_part; i++)
		if (r->part[i].active && a >= r->part[i].low && a < r->part[i].high)
			return heddle_arena_printf(e->arena, "byte %zu of %s", (size_t)(a - r->part[i].low), r->part[i].name);
	size_t byte = a - r->low;
	if (!r->argument || !r->element || byte % (size_t)r->element)
		return heddle_arena_printf(e->arena, "byte %zu of %s%s", byte, r->shared ? "shared " : "", r->name);
	heddle_text t = {0};
	heddle_text_printf(&t, "%s[", r->name);
	int64_t left = (int64_t)(byte / (size_t)r->element);
	for (int d = 0; d < r->argument->rank; d++) {
		int64_t at = r->stride[d] > 0 ? left / r->stride[d] : 0;
		left -= at * r->stride[d];
		heddle_text_printf(&t, "%s%lld", d ? "," : "", (long long)at);
	}
	heddle_text_add(&t, "]");
	const char *text = heddle_arena_strdup(e->arena, heddle_text_str(&t));
	heddle_text_free(&t);
	return text;
}

static uint32_t place_of(const heddle_emulator *e, const void *pc)
{
	return (uint32_t)((uintptr_t)pc - e->base);
}

static const char *verb(int how)
{
	return how & HEDDLE_EMU_ATOMIC ? "updates" : how & HEDDLE_EMU_WRITE ? "writes" : "reads";
}

/* An access that touches no region, or leaves one.  False: it must not happen, the run ends. */
static void report_bounds(heddle_emulator *e, uintptr_t a, size_t size, int how, const void *pc)
{
	heddle_suspicion s = {.kind = "bounds", .pc = place_of(e, pc)};
	int i = region_below(e, a);
	const heddle_region *below = i >= 0 ? e->region[i] : NULL, *above = i + 1 < e->n_region ? e->region[i + 1] : NULL;
	bool near_below = below && a + size > below->high && a < below->high + GUARD_REACH;
	bool near_above = above && above->low - a <= GUARD_REACH;
	if (near_below && near_above && above->low - a < a - below->high)
		near_below = false;
	if (is_news(e, &s)) {
		const char *who = heddle_device_where(e, e->current, e->block);
		if (near_below)
			s.text = heddle_arena_printf(e->arena, "%s %s %zu bytes, %zu past the end of %s%s (%zu bytes long)", who,
				verb(how), size, (size_t)(a + size - below->high), below->shared ? "shared " : "", below->name,
				(size_t)(below->high - below->low));
		else if (near_above)
			s.text = heddle_arena_printf(e->arena, "%s %s %zu bytes, %zu before the start of %s%s", who, verb(how),
				size, (size_t)(above->low - a), above->shared ? "shared " : "", above->name);
		else
			s.text = heddle_arena_printf(e->arena, "%s %s %zu bytes at an address far from every array", who, verb(how),
				size);
		heddle_suspect(e, &s);
	}
	if (!near_below && !near_above)
		heddle_device_stop(e);
}

/* Inside a region, but not the kernel's to touch so. */
static void check_permission(heddle_emulator *e, const heddle_region *r, uintptr_t a, size_t size, int how, const void *pc)
{
	heddle_suspicion s = {.kind = "bounds", .pc = place_of(e, pc)};
	const char *why = NULL;
	if (!r->active)
		why = "which this launch was not given";
	else if (how & HEDDLE_EMU_WRITE && !r->writable)
		why = "which is an input";
	if (!why && r->n_part) {
		bool inside = false;
		for (int i = 0; i < r->n_part; i++)
			inside |= r->part[i].active && a >= r->part[i].low && a + size <= r->part[i].high;
		if (!inside)
			why = "outside of the temporaries that this launch was given";
	}
	if (!why && r->hole)
		for (size_t i = (a - r->low) / (size_t)r->element; i <= (a + size - 1 - r->low) / (size_t)r->element; i++)
			if (r->hole[i])
				why = "between the rows of the strided tensor";
	if (!why || !is_news(e, &s))
		return;
	s.text = heddle_arena_printf(e->arena, "%s %s %s, %s", heddle_device_where(e, e->current, e->block), verb(how),
				     place_name(e, r, a), why);
	heddle_suspect(e, &s);
}

/* ---- races ---------------------------------------------------------------------------------------------------------------------- */

static const heddle_block_record *record_of(const heddle_emulator *e, uint32_t epoch)
{
	int low = 0, high = e->n_record;
	while (high - low > 1) {
		int middle = (low + high) / 2;
		if (e->record[middle].epoch <= epoch)
			low = middle;
		else
			high = middle;
	}
	return &e->record[low];
}

/* Whether the past access and the present one by the running thread are not ordered. */
static bool unordered(const heddle_emulator *e, const heddle_region *r, const heddle_touch *past, bool atomic)
{
	if (past->epoch < e->launch_epoch || (past->atomic && atomic))
		return false;
	if (past->epoch < e->block_epoch)
		return !r->shared && !(e->acquired && record_of(e, past->epoch)->published);
	if (past->epoch < e->epoch || past->thread == e->current)
		return false;
	const heddle_thread *t = e->thread;
	return past->thread / e->warp != e->current / e->warp || past->warp_epoch >= t[past->thread].warp_epoch ||
	       past->warp_epoch >= t[e->current].warp_epoch;
}

static void report_race(heddle_emulator *e, const heddle_region *r, uintptr_t a, const heddle_touch *past, const char *did,
			int how, const void *pc)
{
	heddle_suspicion s = {.kind = "race", .pc = place_of(e, pc), .has_other = true, .other_pc = past->pc};
	if (!is_news(e, &s))
		return;
	bool inside = past->epoch >= e->block_epoch;
	int64_t block = inside ? e->block : record_of(e, past->epoch)->block;
	s.text = heddle_arena_printf(e->arena, "%s %s %s, which %s %s %s",
		heddle_device_where(e, e->current, e->block), verb(how), place_name(e, r, a),
		heddle_device_where(e, past->thread, block), did,
		inside ? "with no barrier between" : "in the same launch");
	heddle_suspect(e, &s);
}

static void remember_read(const heddle_emulator *e, heddle_cell *c, const heddle_touch *now)
{
	heddle_touch *a = &c->read, *b = &c->other_read;
	bool a_here = a->epoch >= e->block_epoch, b_foreign = b->epoch >= e->launch_epoch && b->epoch < e->block_epoch;
	if (a->epoch < e->launch_epoch || (a_here && a->thread == now->thread)) {
		*a = *now;
		return;
	}
	/* A read by another block is kept: it races with any write of this block. */
	if (!b_foreign)
		*b = *a;
	*a = *now;
}

static void check_cell(heddle_emulator *e, heddle_region *r, heddle_cell *c, uintptr_t a, int how, const heddle_touch *now,
		       const void *pc)
{
	bool known = r->shared ? c->write.epoch >= e->block_epoch : r->initialised || c->write.epoch;
	if (how & HEDDLE_EMU_READ && !known) {
		heddle_suspicion s = {.kind = "uninitialised", .pc = now->pc};
		if (is_news(e, &s)) {
			s.text = heddle_arena_printf(e->arena, "%s reads %s, which nothing has written",
						     heddle_device_where(e, e->current, e->block), place_name(e, r, a));
			heddle_suspect(e, &s);
		}
	}
	if (c->write.epoch && unordered(e, r, &c->write, now->atomic))
		report_race(e, r, a, &c->write, c->write.atomic ? "updates atomically" : "writes", how, pc);
	if (how & HEDDLE_EMU_WRITE) {
		if (c->read.epoch && unordered(e, r, &c->read, false))
			report_race(e, r, a, &c->read, "reads", how, pc);
		else if (c->other_read.epoch && unordered(e, r, &c->other_read, false))
			report_race(e, r, a, &c->other_read, "reads", how, pc);
		c->write = *now;
	} else {
		remember_read(e, c, now);
	}
}

static void note_atomic(heddle_emulator *e)
{
	e->acquired = true;
	if (e->thread[e->current].fenced)
		e->record[e->n_record - 1].published = true;
}

static heddle_region *find_region(heddle_emulator *e, uintptr_t a, const void *pc)
{
	heddle_region **recent = &e->recent[(uintptr_t)pc >> 2 & 63];
	if (*recent && a >= (*recent)->low && a < (*recent)->high)
		return *recent;
	int i = region_below(e, a);
	if (i < 0 || a >= e->region[i]->high)
		return NULL;
	return *recent = e->region[i];
}

void heddle_shadow_access(void *state, const volatile void *address, unsigned long size, int how, const void *pc)
{
	heddle_emulator *e = state;
	uintptr_t a = (uintptr_t)address, stacks = (uintptr_t)e->stacks;
	e->recent_pc = place_of(e, pc);
	if (e->late)
		heddle_crash_late(e, NULL, 0, e->recent_pc);
	if (a - stacks < (size_t)e->n_stack * e->stack_size) {
		if ((int)((a - stacks) / e->stack_size) != e->thread[e->current].stack)
			heddle_suspect(e, &(heddle_suspicion){.kind = "bounds", .pc = place_of(e, pc),
				.text = heddle_arena_printf(e->arena, "%s %s the private memory of another thread",
					heddle_device_where(e, e->current, e->block), verb(how))});
		return;
	}
	if (!size)
		return;
	heddle_region *r = find_region(e, a, pc);
	if (!r || a + size > r->high) {
		/* Constants of the object itself; its variables are regions. */
		if (!r && a >= e->image_low && a < e->image_high && (a < e->data_low || a >= e->data_high) &&
		    !(how & HEDDLE_EMU_WRITE))
			return;
		report_bounds(e, a, size, how, pc);
		return;
	}
	if (how & HEDDLE_EMU_ATOMIC)
		note_atomic(e);
	if (!r->active || r->n_part || r->hole || (how & HEDDLE_EMU_WRITE && !r->writable))
		check_permission(e, r, a, size, how, pc);
	if (!r->cell)
		return;
	uintptr_t begin = a - r->low, piece = ((uintptr_t)1 << r->shift) - 1;
	if ((begin | size) & piece)
		refine(r, (begin | size) & 1 ? 0 : 1);
	heddle_touch now = {.epoch = e->epoch, .warp_epoch = e->thread[e->current].warp_epoch, .pc = place_of(e, pc),
			    .thread = (uint16_t)e->current, .atomic = (how & HEDDLE_EMU_ATOMIC) != 0};
	for (size_t i = begin >> r->shift; i << r->shift < begin + size; i++)
		check_cell(e, r, &r->cell[i], r->low + (i << r->shift), how, &now, pc);
}
