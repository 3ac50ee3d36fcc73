/* The level `emulate`: set up memory for a manifest, run its launches on the emulator, report what was seen.
 * SPDX-License-Identifier: MIT
 */
#include "harness/emulate.h"

#include "harness/device.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { GUARD = 64 * 1024, BASE_ALIGN = 256, MAX_THREADS = 1024 };

/* Memory of one argument, between guards. */
typedef struct block_of_memory {
	void *mapping;
	size_t mapped;
	unsigned char *low;
	size_t size;
} block_of_memory;

/* One run: the emulator and what the manifest's arguments became. */
typedef struct session {
	heddle_ctx *ctx;
	heddle_run *run;
	const heddle_manifest *manifest; /* the variant that runs */
	int first;			 /* position of its first kernel in the object */
	heddle_emulator e;
	heddle_emulate_build build;
	void *object;
	const heddle_emu_object *exports;
	block_of_memory *memory;      /* [n_argument]: tensors with a host array */
	heddle_region **region;	      /* [n_argument]; NULL: none */
	block_of_memory workspace;
	heddle_region *workspace_region, *dynamic_region;
	heddle_part *part;	      /* [n_argument]: temporaries */
} session;

static int evaluate(session *s, heddle_formula formula, int64_t *value)
{
	const heddle_manifest *m = s->manifest;
	return heddle_formula_evaluate(s->ctx, formula, m->n_size, m->size, s->run->size, value);
}

static void add_finding(session *s, const char *kind, const char *file, int line, const char *text)
{
	heddle_finding f = {.kind = kind, .file = file, .line = line, .text = text};
	HEDDLE_PUSH(s->run->arena, s->run->finding, s->run->n_finding, f);
}

/* A fault in how manifest and source fit: the run fails before it starts.  Returns 1. */
static int misfit(session *s, const char *text)
{
	add_finding(s, "compile", s->run->source_path, 0, text);
	return 1;
}

/* ---- memory ----------------------------------------------------------------------------------------------------------------- */

static int allocate(session *s, block_of_memory *b, size_t size, size_t shift)
{
	b->mapped = (size + shift + 2 * GUARD + BASE_ALIGN + 4095) & ~(size_t)4095;
	b->mapping = mmap(NULL, b->mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (b->mapping == MAP_FAILED) {
		b->mapping = NULL;
		return heddle_error(s->ctx, 750, NULL, "no memory for %zu bytes of an emulated array", size);
	}
	b->low = (unsigned char *)b->mapping + GUARD + shift;
	b->size = size;
	return 0;
}

/* 1 for every element of the span that the tensor does not have; NULL when it has all. */
static const unsigned char *holes_of(heddle_arena *arena, const heddle_array *a)
{
	int64_t span = heddle_array_span(a), n = heddle_array_count(a);
	if (n >= span)
		return NULL;
	unsigned char *hole = heddle_arena_alloc(arena, (size_t)span);
	memset(hole, 1, (size_t)span);
	for (int64_t k = 0; k < n; k++)
		hole[heddle_array_offset(a, k)] = 0;
	return hole;
}

static int setup_tensor(session *s, int i)
{
	const heddle_run *run = s->run;
	const heddle_argument *g = &s->manifest->argument[i];
	const heddle_array *a = run->argument[i];
	if (!a)
		return heddle_error(s->ctx, 751, NULL, "no array for argument '%s' of the manifest", g->name);
	size_t element = (size_t)heddle_type_size(g->type), size = (size_t)heddle_array_span(a) * element;
	if (allocate(s, &s->memory[i], size, heddle_run_moved(run, &run->manifest->argument[i])) < 0)
		return -1;
	if (size)
		memcpy(s->memory[i].low, a->data, size);
	bool input = g->role == HEDDLE_ARGUMENT_INPUT;
	heddle_region *r = heddle_shadow_add(&s->e, g->name, s->memory[i].low, size, (int)element, !input);
	r->argument = g;
	r->writable = !input;
	r->initialised = g->role != HEDDLE_ARGUMENT_OUTPUT;
	r->hole = holes_of(run->arena, a);
	memcpy(r->shape, a->shape, sizeof(r->shape));
	memcpy(r->stride, a->stride, sizeof(r->stride));
	s->region[i] = r;
	return 0;
}

static int setup_workspace(session *s)
{
	const heddle_manifest *m = s->manifest;
	int64_t bytes = 0;
	if (m->workspace_bytes && evaluate(s, m->workspace_bytes, &bytes) < 0)
		return -1;
	int n = 0;
	for (int i = 0; i < m->n_argument; i++)
		n += m->argument[i].role == HEDDLE_ARGUMENT_TEMPORARY;
	if (!n)
		return 0;
	if (allocate(s, &s->workspace, (size_t)bytes, 0) < 0)
		return -1;
	memset(s->workspace.low, 0xff, (size_t)bytes);
	heddle_region *r = heddle_shadow_add(&s->e, "the workspace", s->workspace.low, (size_t)bytes, 0, true);
	r->writable = true;
	r->part = HEDDLE_NEW_ARRAY(s->run->arena, heddle_part, n);
	s->workspace_region = r;
	for (int i = 0; i < m->n_argument; i++) {
		const heddle_argument *g = &m->argument[i];
		int64_t offset = 0, size = heddle_type_size(g->type);
		if (g->role != HEDDLE_ARGUMENT_TEMPORARY)
			continue;
		if (g->offset && evaluate(s, g->offset, &offset) < 0)
			return -1;
		for (int d = 0; d < g->rank; d++) {
			int64_t extent;
			if (evaluate(s, g->shape[d], &extent) < 0)
				return -1;
			size *= extent;
		}
		if (offset < 0 || offset + size > bytes)
			return misfit(s, heddle_arena_printf(s->run->arena, "temporary '%s' ends at byte %lld of a workspace of %lld",
				g->name, (long long)(offset + size), (long long)bytes));
		r->part[r->n_part] = (heddle_part){.name = g->name, .low = r->low + (uintptr_t)offset,
						   .high = r->low + (uintptr_t)(offset + size)};
		s->part = r->part;
		r->n_part++;
	}
	return 0;
}

static heddle_part *part_of(session *s, const char *name)
{
	for (int i = 0; s->workspace_region && i < s->workspace_region->n_part; i++)
		if (!strcmp(s->workspace_region->part[i].name, name))
			return &s->workspace_region->part[i];
	return NULL;
}

static void setup_variables(session *s)
{
	heddle_emulator *e = &s->e;
	for (int i = 0; i < s->build.n_variable; i++) {
		const heddle_emulate_variable *v = &s->build.variable[i];
		heddle_region *r = heddle_shadow_add(e, v->name, (void *)(e->base + v->offset), v->size, 0, !v->flag);
		r->shared = v->shared;
		r->writable = r->active = true;
		r->initialised = !v->shared;
	}
	heddle_region *r = heddle_shadow_add(e, "memory (dynamic)", s->exports->dynamic_shared,
					     s->exports->dynamic_shared_size, 0, true);
	r->shared = r->writable = true;
	s->dynamic_region = r;
}

/* ---- the object ------------------------------------------------------------------------------------------------------------- */

static void measure_image(session *s)
{
	Dl_info info;
	heddle_emulator *e = &s->e;
	if (!dladdr(s->exports, &info))
		return;
	const ElfW(Ehdr) *header = info.dli_fbase;
	const ElfW(Phdr) *part = (const void *)((const unsigned char *)header + header->e_phoff);
	e->base = e->image_low = (uintptr_t)header;
	for (int i = 0; i < header->e_phnum; i++) {
		if (part[i].p_type != PT_LOAD)
			continue;
		uintptr_t low = e->base + part[i].p_vaddr, high = low + part[i].p_memsz;
		if (high > e->image_high)
			e->image_high = high;
		if (!(part[i].p_flags & PF_W))
			continue;
		e->data_low = !e->data_low || low < e->data_low ? low : e->data_low;
		e->data_high = high > e->data_high ? high : e->data_high;
	}
}

/* 0 loaded, 1 judged, -1 fault. */
static int load(session *s)
{
	heddle_run *run = s->run;
	if (heddle_emulate_compile(s->ctx, run, &s->build) < 0)
		return -1;
	if (s->build.verdict != HEDDLE_PASS) {
		run->verdict = s->build.verdict;
		run->message = s->build.message;
		if (s->build.verdict == HEDDLE_FAIL)
			add_finding(s, s->build.finding.kind, s->build.finding.file, s->build.finding.line, s->build.finding.text);
		return 1;
	}
	s->object = dlopen(s->build.path, RTLD_NOW | RTLD_LOCAL);
	if (!s->object) {
		const char *why = dlerror(), *name = why ? strstr(why, "undefined symbol: ") : NULL;
		run->verdict = HEDDLE_UNSUPPORTED;
		run->message = heddle_arena_printf(run->arena, "%s", name ? name : why ? why : "the compiled text cannot be loaded");
		return 1;
	}
	s->exports = dlsym(s->object, "heddle_emu_this");
	if (!s->exports)
		return heddle_error(s->ctx, 950, NULL, "the emulated object has no table of kernels");
	*s->exports->device = &s->e.device;
	measure_image(s);
	return 0;
}

/* ---- launches --------------------------------------------------------------------------------------------------------------- */

static bool fits(const heddle_emu_parameter *p, heddle_type type)
{
	if (p->size != heddle_type_size(type))
		return false;
	if (p->kind == '?' || type == HEDDLE_FLOAT16 || type == HEDDLE_BFLOAT16)
		return p->kind != 'p';
	return heddle_type_is_float(type) ? p->kind == 'f' : p->kind == 'i' || p->kind == 'u';
}

static const char *parameter_text(heddle_arena *arena, const heddle_emu_parameter *p)
{
	return p->kind == 'p' ? "a pointer" :
	       heddle_arena_printf(arena, "%s of %d bytes", p->kind == 'f' ? "a float" : p->kind == '?' ? "a value" : "an integer",
				   p->size);
}

static void store_number(void *to, heddle_type type, double f, int64_t i)
{
	switch (type) {
	case HEDDLE_FLOAT32: *(float *)to = (float)f; break;
	case HEDDLE_FLOAT64: *(double *)to = f; break;
	default: memcpy(to, &i, (size_t)heddle_type_size(type)); break; /* little-endian, as every host we emulate on */
	}
}

static int find_argument(const heddle_manifest *m, const char *name)
{
	for (int i = 0; i < m->n_argument; i++)
		if (!strcmp(m->argument[i].name, name))
			return i;
	return -1;
}

/* The value of parameter `k` of a launch, in new memory.  0, 1 misfit, -1 fault. */
static int bind_parameter(session *s, const heddle_manifest_launch *l, const heddle_emu_kernel *kernel, int k, void **value)
{
	heddle_run *run = s->run;
	const heddle_manifest *m = s->manifest;
	const heddle_kernel_argument *a = &l->argument[k];
	const heddle_emu_parameter *p = &kernel->parameter[k];
	heddle_type type = a->type;
	unsigned char *to = *value = heddle_arena_alloc(run->arena, 16);
	int at = a->name && !a->size && !a->byte_offset ? find_argument(m, a->name) : -1;
	bool pointer = false;
	if (a->local_bytes)
		return misfit(s, heddle_arena_printf(run->arena, "parameter %d of %s is shared memory in the manifest, which %s does not have",
						     k + 1, l->kernel, m->backend));
	int64_t number = 0;
	if (a->formula) {
		if (evaluate(s, a->formula, &number) < 0)
			return -1;
		store_number(to, type, 0, number);
	} else if (a->byte_offset) {
		type = HEDDLE_UINT64;
		store_number(to, type, 0, a->offset);
	} else if (!a->name) {
		store_number(to, type, a->literal, (int64_t)a->literal);
	} else if (a->size) {
		for (int i = 0; i < m->n_size; i++)
			if (!strcmp(m->size[i].name, a->name))
				store_number(to, type, (double)run->size[i], run->size[i]);
	} else if (at < 0) {
		return misfit(s, heddle_arena_printf(run->arena, "launch of %s names '%s', which is no argument", l->kernel, a->name));
	} else if (m->argument[at].role == HEDDLE_ARGUMENT_TEMPORARY) {
		heddle_part *part = part_of(s, a->name);
		pointer = part->active = true;
		if (!part->used)
			heddle_shadow_forget(s->workspace_region, part->low, part->high);
		part->used = true;
		*(void **)to = (void *)(part->low + (uintptr_t)a->offset);
	} else if (m->argument[at].role == HEDDLE_ARGUMENT_SCALAR || m->argument[at].role == HEDDLE_ARGUMENT_SIZE) {
		type = m->argument[at].role == HEDDLE_ARGUMENT_SIZE ? a->type : m->argument[at].type;
		if (!run->argument[at])
			return heddle_error(s->ctx, 751, NULL, "no array for argument '%s' of the manifest", a->name);
		memcpy(to, run->argument[at]->data, (size_t)heddle_type_size(type));
	} else {
		pointer = s->region[at]->active = true;
		*(void **)to = s->memory[at].low + a->offset;
	}
	if (pointer ? p->kind != 'p' : !fits(p, type))
		return misfit(s, heddle_arena_printf(run->arena, "parameter %d of %s is %s in the source; the manifest passes %s %s",
			k + 1, l->kernel, parameter_text(run->arena, p), pointer ? "tensor" : heddle_type_name(type),
			a->name ? a->name : "(a literal)"));
	return 0;
}

/* 0, 1 judged, -1 fault. */
static int launch(session *s, int number)
{
	heddle_run *run = s->run;
	const heddle_manifest_launch *l = &s->manifest->launch[number];
	const heddle_emu_kernel *kernel = &s->exports->kernel[s->first + number];
	int64_t grid[3], dynamic = 0, threads = (int64_t)l->block[0] * l->block[1] * l->block[2];
	for (int d = 0; d < 3; d++)
		if (evaluate(s, l->grid[d], &grid[d]) < 0)
			return -1;
	if (l->dynamic_shared_bytes && evaluate(s, l->dynamic_shared_bytes, &dynamic) < 0)
		return -1;
	if (threads < 1 || threads > MAX_THREADS)
		return misfit(s, heddle_arena_printf(run->arena, "%s has blocks of %lld threads; 1 to %d are possible", l->kernel,
						     (long long)threads, MAX_THREADS));
	if (dynamic < 0 || (uint64_t)dynamic > s->exports->dynamic_shared_size)
		return misfit(s, heddle_arena_printf(run->arena, "%s asks for %lld bytes of dynamic shared memory; %lu are possible",
						     l->kernel, (long long)dynamic, s->exports->dynamic_shared_size));
	if (kernel->n_parameter != l->n_argument)
		return misfit(s, heddle_arena_printf(run->arena, "%s takes %d arguments in the source and %d in the manifest", l->kernel,
						     kernel->n_parameter, l->n_argument));
	for (int i = 0; i < s->e.n_region; i++)
		if (s->e.region[i]->argument)
			s->e.region[i]->active = false;
	for (int i = 0; s->workspace_region && i < s->workspace_region->n_part; i++)
		s->workspace_region->part[i].active = false;
	if (s->workspace_region)
		s->workspace_region->active = true;
	s->dynamic_region->high = s->dynamic_region->low + (uintptr_t)dynamic;
	s->dynamic_region->active = dynamic > 0;
	void **value = HEDDLE_NEW_ARRAY(run->arena, void *, l->n_argument + 1);
	for (int k = 0; k < l->n_argument; k++) {
		int bad = bind_parameter(s, l, kernel, k, &value[k]);
		if (bad)
			return bad;
	}
	if (grid[0] > 0 && grid[1] > 0 && grid[2] > 0)
		heddle_device_launch(&s->e, kernel, value, grid, l->block);
	return 0;
}

/* ---- results ---------------------------------------------------------------------------------------------------------------- */

static void copy_back(session *s)
{
	const heddle_manifest *m = s->manifest;
	for (int i = 0; i < m->n_argument; i++)
		if (s->memory[i].size &&
		    (m->argument[i].role == HEDDLE_ARGUMENT_OUTPUT || m->argument[i].role == HEDDLE_ARGUMENT_INOUT))
			memcpy(s->run->argument[i]->data, s->memory[i].low, s->memory[i].size);
}

/* Suspicions become findings, now with lines. */
static void report(session *s)
{
	heddle_emulator *e = &s->e;
	heddle_run *run = s->run;
	const int n_place = 2 * e->n_suspicion, n = n_place + e->n_late;
	if (!n_place)
		return;
	uint64_t *offset = HEDDLE_NEW_ARRAY(run->arena, uint64_t, n);
	const char **file = HEDDLE_NEW_ARRAY(run->arena, const char *, n);
	int *line = HEDDLE_NEW_ARRAY(run->arena, int, n);
	for (int i = 0; i < e->n_suspicion; i++) {
		offset[2 * i] = e->suspicion[i].pc;
		offset[2 * i + 1] = e->suspicion[i].has_other ? e->suspicion[i].other_pc : e->suspicion[i].pc;
	}
	for (int i = 0; i < e->n_late; i++)
		offset[n_place + i] = e->late_pc[i];
	heddle_emulate_lines(s->ctx, run->arena, &s->build, run->source_path, n, offset, file, line);
	for (int i = 0; i < e->n_suspicion; i++) {
		const heddle_suspicion *u = &e->suspicion[i];
		const char *text = u->text, *where = file[2 * i], *other = file[2 * i + 1];
		int at = line[2 * i];
		for (int k = n_place; k < n && !where && !strcmp(u->kind, "timeout"); k++) {
			where = file[k];
			at = line[k];
		}
		if (u->file) {
			where = heddle_emulate_file(run->arena, u->file, run->source_path);
			at = u->line;
		}
		if (u->has_other && other)
			text = heddle_arena_printf(run->arena, "%s, at %s:%d", text, other, line[2 * i + 1]);
		add_finding(s, u->kind, where, at, text);
	}
}

static void judge(session *s)
{
	heddle_run *run = s->run;
	if (!run->n_finding) {
		run->verdict = HEDDLE_PASS;
		run->message = heddle_arena_printf(run->arena, "%d launch%s emulated with warps of %d", s->manifest->n_launch,
						   s->manifest->n_launch == 1 ? "" : "es", run->manifest->warp);
		return;
	}
	const heddle_finding *f = &run->finding[0];
	for (int i = 0; i < run->n_finding && s->e.unsupported; i++)
		if (!strcmp(run->finding[i].kind, "unsupported"))
			f = &run->finding[i];
	run->message = f->file ? heddle_arena_printf(run->arena, "%s:%d: %s: %s", f->file, f->line, f->kind, f->text) :
				 heddle_arena_printf(run->arena, "%s: %s", f->kind, f->text);
	run->verdict = HEDDLE_FAIL;
	if (s->e.unsupported) {
		run->verdict = HEDDLE_UNSUPPORTED;
		run->message = heddle_arena_printf(run->arena, "%s at %s:%d", f->text, f->file ? f->file : "?", f->line);
		run->n_finding = 0;
	}
}

/* 0, 1 judged already, -1 fault. */
static int run_all(session *s)
{
	const heddle_manifest *m = s->manifest;
	int bad = load(s);
	if (bad)
		return bad;
	for (int i = 0; i < m->n_argument; i++) {
		heddle_argument_role role = m->argument[i].role;
		if (role != HEDDLE_ARGUMENT_INPUT && role != HEDDLE_ARGUMENT_OUTPUT && role != HEDDLE_ARGUMENT_INOUT)
			continue;
		if (setup_tensor(s, i) < 0)
			return -1;
	}
	bad = setup_workspace(s);
	if (bad < 0)
		return bad;
	setup_variables(s);
	heddle_shadow_sort(&s->e);
	heddle_crash_catch(&s->e, s->run->timeout > 0 ? s->run->timeout : 60);
	for (int i = 0; i < m->n_launch && !bad && !s->e.stop; i++)
		bad = launch(s, i);
	heddle_crash_release(&s->e);
	if (bad < 0)
		return bad;
	copy_back(s);
	report(s);
	judge(s);
	return 0;
}

static void clean_up(session *s)
{
	const heddle_manifest *m = s->manifest;
	for (int i = 0; i < m->n_argument; i++)
		if (s->memory[i].mapping)
			munmap(s->memory[i].mapping, s->memory[i].mapped);
	if (s->workspace.mapping)
		munmap(s->workspace.mapping, s->workspace.mapped);
	heddle_shadow_free(&s->e);
	heddle_device_free(&s->e);
	if (s->object) {
		*s->exports->device = NULL;
		dlclose(s->object);
	}
	if (s->build.folder[0])
		heddle_dir_remove(s->build.folder);
}

int heddle_emulate_run(heddle_ctx *ctx, heddle_run *run)
{
	const heddle_manifest *m = run->manifest;
	run->registers = run->spill_bytes = run->stack_bytes = run->shared_bytes = -1;
	run->n_finding = 0;
	run->finding = NULL;
	int warp = m->warp;
	if (warp < 1 || warp > 64 || (warp & (warp - 1))) {
		run->verdict = HEDDLE_UNSUPPORTED;
		run->message = heddle_arena_printf(run->arena, "warps of %d threads", warp);
		return 0;
	}
	session s = {.ctx = ctx, .run = run};
	int which;
	s.manifest = heddle_run_variant(run, &which);
	for (int i = 0; i < which; i++)
		s.first += m->variant[i].n_launch;
	m = s.manifest;
	heddle_device_setup(&s.e, run->arena, warp, run->seed);
	s.memory = HEDDLE_NEW_ARRAY(run->arena, block_of_memory, m->n_argument + 1);
	s.region = HEDDLE_NEW_ARRAY(run->arena, heddle_region *, m->n_argument + 1);
	int bad = run_all(&s);
	clean_up(&s);
	return bad < 0 ? -1 : 0;
}

int heddle_emulate_available(heddle_ctx *ctx, const char **why)
{
	if (heddle_emulate_compiler(heddle_ctx_arena(ctx)))
		return 1;
	*why = "no C++ compiler: `apt-get install -y g++`, or set CXX";
	return 0;
}
