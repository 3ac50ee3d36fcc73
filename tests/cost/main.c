/* The bytes that a program moves by its text (cost/traffic.h) against those of the interpreter, for all definitions of the layers on three
 * descriptors: all equal, for any config and any sizes, unless data decide about a read (said, and left out).
 *
 *   test_cost_layers [-v] [-u] [-t TARGET] [-r [FIRST-]LAST] [FILE.tc...]
 *
 * -r: for configs number FIRST (1) to LAST whose layouts are drawn at random, not for the one that is chosen.  Sizes are multiples of the tiles
 * where that is possible; with -u none is: each lacks some, drawn at random, of its last tile.
 * SPDX-License-Identifier: MIT
 */
#include "compile/compile.h"
#include "cost/traffic.h"
#include "harness/cases.h"
#include "harness/interpret.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Statement instances that one case may have. */
#define MOST_INSTANCES 1e6
/* Where tiles are made full. */
#define MOST_FULL 2e7
#define LONGEST 900.0 /* seconds of one definition, on a machine that has much else to do */

typedef struct one {
	heddle_arena *arena;
	const heddle_definition *definition;
	int64_t *size;
	bool large; /* too many instances to run */
} one;

static bool verbose, uneven;
static int first_draw = 1, draws; /* 0: none */
static int compared, differ, left_out, refused, failed;

static double instances(const heddle_definition *d, const int64_t *size)
{
	double most = 0;
	for (int s = 0; s < d->n_statement; s++) {
		double n = 1;
		for (int i = 0; i < d->statement[s]->n_index; i++) {
			int64_t extent = 1;
			const heddle_expr *upper = d->statement[s]->index[i]->upper;
			while ((upper->kind == HEDDLE_EXPR_BINARY || upper->kind == HEDDLE_EXPR_INDEX) &&
			       heddle_expr_evaluate(upper, size, &extent) < 0) /* one that moves: as far as what it moves with */
				upper = upper->kind == HEDDLE_EXPR_INDEX ? upper->index->upper : upper->arg[0];
			heddle_expr_evaluate(upper, size, &extent);
			n *= extent > 0 ? (double)extent : 1;
		}
		most += n;
	}
	return most;
}

/* Preconditions hold, and no extent is negative. */
static bool holds(const heddle_definition *d, const int64_t *size)
{
	for (int s = 0; s < d->n_statement; s++)
		for (int i = 0; i < d->statement[s]->n_index; i++) {
			int64_t lower, upper;
			if (heddle_expr_evaluate(d->statement[s]->index[i]->lower, size, &lower) == 0 &&
			    heddle_expr_evaluate(d->statement[s]->index[i]->upper, size, &upper) == 0 && upper < lower)
				return false;
		}
	for (int i = 0; i < d->n_precondition; i++) {
		int64_t value = 1;
		if (heddle_expr_evaluate(d->precondition[i], size, &value) == 0 && !value)
			return false;
	}
	return true;
}

/* All sizes as near to the value as their ranges and divisors allow; do the preconditions hold? */
static bool set_sizes(const heddle_definition *d, int64_t *size, int64_t value)
{
	for (int i = 0; i < d->n_size; i++) {
		int64_t x = value;
		x = x > d->size[i]->max ? d->size[i]->max : x < d->size[i]->min ? d->size[i]->min : x;
		size[i] = x < d->size[i]->divisor ? d->size[i]->divisor : x / d->size[i]->divisor * d->size[i]->divisor;
	}
	return holds(d, size);
}

/* The same value for all sizes, as great as the number of instances allows; 0: none fits. */
static int64_t choose(const heddle_definition *d, int64_t *size)
{
	static const int64_t value[] = {128, 64, 32, 16, 8, 4};
	for (size_t v = 0; v < HEDDLE_COUNT(value); v++)
		if (set_sizes(d, size, value[v]) && instances(d, size) <= MOST_INSTANCES)
			return value[v];
	return 0;
}

/* The size that is so many times as great as the extent, which may be rounded up: N, or the chunks (N + 113) / 114.  NULL: it is another. */
static const heddle_size *size_of(const heddle_expr *upper, int64_t *times)
{
	*times = 1;
	if (upper->kind == HEDDLE_EXPR_BINARY && upper->op == HEDDLE_OP_DIV && heddle_expr_evaluate(upper->arg[1], NULL, times) == 0) {
		upper = upper->arg[0];
		if (upper->kind == HEDDLE_EXPR_BINARY && upper->op == HEDDLE_OP_ADD)
			upper = upper->arg[0];
	}
	return upper->kind == HEDDLE_EXPR_SIZE && *times > 0 ? upper->size : NULL;
}

/* Sizes that are extents of dimensions become multiples of their tiles: then tiles are full. */
static void fill_tiles(const one *o, const heddle_scop *scop)
{
	for (int s = 0; s < scop->n_stmt; s++)
		for (int d = 0; d < scop->stmt[s]->n_dim; d++) {
			int64_t times;
			const heddle_size *own = size_of(scop->stmt[s]->source->index[d]->upper, &times);
			const int64_t tile = scop->stmt[s]->dim[d].layout.tile * times;
			if (!own || tile < 2)
				continue;
			int64_t *size = &o->size[own->position], whole = (*size + tile - 1) / tile * tile;
			if (whole <= own->max && whole % own->divisor == 0)
				*size = whole;
		}
}

/* The same, with sizes that no tile has as small as need be. */
static void choose_full(const one *o, const heddle_scop *scop)
{
	static const int64_t value[] = {4, 2, 1};
	fill_tiles(o, scop);
	for (size_t v = 0; v < HEDDLE_COUNT(value) && instances(o->definition, o->size) > MOST_FULL; v++)
		if (set_sizes(o->definition, o->size, value[v]))
			fill_tiles(o, scop);
}

/* The last tile of each size that is an extent lacks some: a number drawn for it, of the greatest of its tiles. */
static void cut_tiles(const one *o, const heddle_scop *scop)
{
	int64_t most[64] = {0};
	for (int s = 0; s < scop->n_stmt; s++)
		for (int d = 0; d < scop->stmt[s]->n_dim; d++) {
			int64_t times;
			const heddle_size *own = size_of(scop->stmt[s]->source->index[d]->upper, &times);
			const int64_t tile = scop->stmt[s]->dim[d].layout.tile * times;
			if (own && own->position < 64 && tile > most[own->position])
				most[own->position] = tile;
		}
	for (int i = 0; i < o->definition->n_size && i < 64; i++) {
		const int64_t before = o->size[i], by = o->definition->size[i]->divisor;
		if (most[i] / by < 2)
			continue;
		const int64_t left = before - (1 + (int64_t)(heddle_random((uint64_t)before, (uint64_t)(i + most[i])) % (uint64_t)(most[i] / by - 1))) * by;
		o->size[i] = left > 0 && left >= o->definition->size[i]->min ? left : before;
		if (!holds(o->definition, o->size))
			o->size[i] = before;
	}
}

static bool mentions(const heddle_expr *expr, const heddle_index *index)
{
	bool any = expr->kind == HEDDLE_EXPR_INDEX && expr->index == index;
	for (int i = 0; i < expr->n_arg; i++)
		any = any || mentions(expr->arg[i], index);
	return any;
}

/* Is the dimension one of a guard, or tied to another one's ends? */
static bool is_tied(const heddle_stmt *stmt, int d)
{
	const heddle_index *index = stmt->source->index[d];
	const heddle_expr *select = stmt->source->value;
	while (select->kind == HEDDLE_EXPR_CAST)
		select = select->arg[0];
	bool tied = stmt->value != stmt->source->value && select->kind == HEDDLE_EXPR_SELECT && mentions(select->arg[0], index);
	for (int o = 0; o < stmt->n_dim; o++)
		tied = tied || (o != d && (mentions(stmt->source->index[o]->upper, index) || mentions(stmt->source->index[o]->lower, index)));
	return tied;
}

/* Of dimensions that guards or ends tie together few are inside of all their ends where they are short: they become longer, others shorter. */
static void choose_long(const one *o, const heddle_scop *scop)
{
	enum { TIMES = 16 };
	int64_t *before = HEDDLE_NEW_ARRAY(o->arena, int64_t, o->definition->n_size + 1);
	const size_t bytes = sizeof(*before) * (size_t)o->definition->n_size;
	bool tied[64] = {0}, any = false;
	for (int s = 0; s < scop->n_stmt; s++)
		for (int d = 0; d < scop->stmt[s]->n_dim; d++) {
			const heddle_expr *upper = scop->stmt[s]->source->index[d]->upper;
			if (upper->kind == HEDDLE_EXPR_SIZE && upper->size->position < 64 && is_tied(scop->stmt[s], d))
				any = tied[upper->size->position] = true;
		}
	memcpy(before, o->size, bytes);
	if (!any)
		return;
	if (!set_sizes(o->definition, o->size, 1) || (fill_tiles(o, scop), instances(o->definition, o->size) > TIMES * MOST_INSTANCES)) {
		memcpy(o->size, before, bytes);
		return;
	}
	do {
		memcpy(before, o->size, bytes);
		for (int i = 0; i < o->definition->n_size && i < 64; i++)
			o->size[i] *= tied[i] && 2 * o->size[i] <= o->definition->size[i]->max ? 2 : 1;
	} while (memcmp(before, o->size, bytes) != 0 && holds(o->definition, o->size) && instances(o->definition, o->size) <= TIMES * MOST_INSTANCES);
	memcpy(o->size, before, bytes);
}

static void examine(const heddle_scop *scop, void *user)
{
	one *o = user;
	if (!scop->program)
		return;
	choose_full(o, scop);
	choose_long(o, scop);
	if (uneven)
		cut_tiles(o, scop);
	o->large = instances(o->definition, o->size) > MOST_FULL;
}

static bool compare(const char *what, const char *name, int k, uint64_t text, uint64_t counted)
{
	if (text != counted || verbose)
		printf("    %s %-26s launch %d %-13s text %14llu counted %14llu\n", text == counted ? "  " : "!!", name, k, what, (unsigned long long)text,
		       (unsigned long long)counted);
	return text == counted;
}

static bool compare_launch(const one *o, const heddle_launch *launch, int k, const int64_t *size, const heddle_interpret_launch *run)
{
	static const char *const space[] = {[HEDDLE_SPACE_GLOBAL] = "global", [HEDDLE_SPACE_SHARED] = "shared"};
	const char *name = o->definition->name;
	heddle_traffic text;
	const bool known = heddle_launch_traffic(launch, size, &text);
	if (!known || text.data) {
		printf("  -- %s launch %d: %s\n", name, k, known ? "data decide about a read" : "not known");
		left_out++;
		return true;
	}
	bool ok = true;
	for (int i = HEDDLE_SPACE_GLOBAL; i <= HEDDLE_SPACE_SHARED; i++) {
		ok = compare(heddle_arena_printf(o->arena, "%s loads", space[i]), name, k, text.load_bytes[i], run->space[i].load_bytes) && ok;
		ok = compare(heddle_arena_printf(o->arena, "%s stores", space[i]), name, k, text.store_bytes[i], run->space[i].store_bytes) && ok;
	}
	compared++;
	differ += !ok;
	return ok;
}

/* ---- configs drawn at random ------------------------------------------------------------------------------------------------ */

typedef struct drawing {
	heddle_text out;
	const int64_t *size;
	uint64_t seed, n;
	bool simd;
} drawing;

static int64_t draw(drawing *w, int64_t n)
{
	return (int64_t)(heddle_random(w->seed, w->n++) % (uint64_t)n);
}

/* `room`: threads that are left of a block; `vector`: results or sums of the statement are vectors along it. */
static heddle_layout draw_layout(drawing *w, bool reduction, bool vector, int64_t extent, int64_t *room)
{
	static const int64_t items[] = {1, 1, 1, 2, 3, 4, 8}, steps[] = {1, 2, 4, 8, 16, 32};
	heddle_layout l = {.rounds = 1, .items = reduction ? steps[draw(w, HEDDLE_COUNT(steps))] : items[draw(w, HEDDLE_COUNT(items))],
			   .threads = 1, .vector = 1};
	int most = 0;
	while ((INT64_C(2) << most) <= *room)
		most++;
	if (!reduction || vector)
		l.threads = INT64_C(1) << draw(w, most + 1);
	if (vector)
		l.vector = INT64_C(1) << draw(w, w->simd ? 6 : 3);
	while (l.items > 1 && l.items * l.threads * l.vector >= 2 * extent)
		l.items /= 2;
	while (l.threads > 1 && l.threads * l.vector >= 2 * extent)
		l.threads /= 2;
	while (l.vector > 1 && l.vector >= 2 * extent)
		l.vector /= 2;
	*room /= l.threads;
	l.tile = l.items * l.threads * l.vector;
	return l;
}

/* `known`: layouts of the kernel's members that statements before have. */
static void draw_statement(drawing *w, int k, const heddle_stmt *stmt, bool *known, int64_t *room)
{
	static const char *const word[] = {"tile", "thread", "vector", "reduce"};
	heddle_layout layout[HEDDLE_MAX_DIM];
	bool mine[HEDDLE_MAX_DIM] = {0};
	int64_t lanes = *room;
	const int dims = stmt->n_dim ? stmt->n_dim : 1, vector = (int)draw(w, dims), other = draw(w, 4) ? -1 : (int)draw(w, dims);
	for (int d = 0; d < stmt->n_dim; d++) {
		const heddle_dim *dim = &stmt->dim[d];
		int64_t upper = 1, lower = 0;
		mine[d] = dim->member < 0 || !known[dim->member];
		if (heddle_expr_evaluate(stmt->source->index[d]->upper, w->size, &upper) < 0 ||
		    heddle_expr_evaluate(stmt->source->index[d]->lower, w->size, &lower) < 0)
			upper = 16;
		layout[d] = draw_layout(w, dim->reduction, d == vector || (d == other && !dim->reduction), upper - lower, dim->member < 0 ? &lanes : room);
		if (dim->member >= 0)
			known[dim->member] = true;
	}
	heddle_text_printf(&w->out, "; k%d.%s:", k, stmt->name);
	for (int m = 0; m < 4; m++) {
		bool any = false;
		for (int d = 0; d < stmt->n_dim; d++) {
			const heddle_layout *l = &layout[d];
			const int64_t n = m == 0 ? l->tile : m == 1 ? l->threads : m == 2 ? l->vector : stmt->dim[d].reduction ? l->threads * l->vector : 1;
			if (!mine[d] || (m > 0 && n == 1))
				continue;
			heddle_text_printf(&w->out, any ? ",%s:" : " %s=%s:", any ? stmt->dim[d].name : word[m], stmt->dim[d].name);
			if (m == 3)
				heddle_text_add(&w->out, "lanes");
			else
				heddle_text_printf(&w->out, "%lld", (long long)n);
			any = true;
		}
	}
}

/* A config with the same kernels, each layout drawn apart from all others; the model chooses where tensors are. */
static void draw_config(const heddle_scop *scop, void *user)
{
	drawing *w = user;
	for (int k = 0; k < scop->n_kernel; k++) {
		bool known[HEDDLE_MAX_DIM] = {0};
		int64_t room = w->simd ? 1 : 256;
		for (int s = 0; s < scop->kernel[k]->n_stmt; s++)
			draw_statement(w, k, scop->kernel[k]->stmt[s], known, &room);
	}
}

/* The config of draw number `n`, in the definition's arena; NULL: it could not be compiled. */
static const char *drawn(heddle_ctx *ctx, const heddle_definition *d, const heddle_target *target, one *o, int n)
{
	drawing w = {.size = o->size, .seed = (uint64_t)n, .simd = target->descriptor->execution == HEDDLE_SIMD};
	heddle_program *p = heddle_compile(ctx, d, target, &(heddle_compile_options){.effort = HEDDLE_EFFORT_CLOSED_FORM, .unproved = true, .examine = draw_config, .user = &w});
	const char *first = p ? strstr(p->config, "; k0") : NULL;
	const char *line = first ? heddle_arena_printf(o->arena, "%.*s%s", (int)(first - p->config), p->config, w.out.data) : NULL;
	heddle_text_free(&w.out);
	heddle_program_free(p);
	return line;
}

/* Runs the program and compares all launches; false: it could not be run. */
static bool run_program(heddle_ctx *ctx, const heddle_module *module, const one *o, heddle_program *p, const heddle_target *target)
{
	const heddle_definition *d = o->definition;
	heddle_array **array = HEDDLE_NEW_ARRAY(o->arena, heddle_array *, d->n_tensor + 1);
	heddle_array **buffer = HEDDLE_NEW_ARRAY(o->arena, heddle_array *, p->n_buffer + 1);
	int64_t *size = HEDDLE_NEW_ARRAY(o->arena, int64_t, p->n_size + 1);
	heddle_program_number(p);
	if (heddle_case_arrays(ctx, module, d, o->size, HEDDLE_FILL_INTEGERS, 1, array) < 0)
		return false;
	for (int k = 0; k < p->n_size; k++)
		for (int j = 0; j < d->n_size; j++)
			if (!strcmp(d->size[j]->name, p->size[k].name))
				size[k] = o->size[j];
	for (int k = 0; k < p->n_buffer; k++)
		for (int j = 0; j < d->n_tensor; j++)
			if (array[j] && (p->buffer[k]->role <= HEDDLE_BUFFER_INOUT || p->buffer[k]->role == HEDDLE_BUFFER_SCALAR) &&
			    !strcmp(d->tensor[j]->name, p->buffer[k]->name))
				buffer[k] = array[j];
	heddle_interpret run = {.arena = o->arena, .program = p, .size = size, .array = buffer, .unaligned_vectors = true,
				.transfer = heddle_descriptor_transfer(target->descriptor), .timeout = LONGEST};
	const bool good = heddle_interpret_run(ctx, &run) == 0 && run.n_finding == 0;
	for (int k = 0; k < p->n_launch && good; k++)
		if (!compare_launch(o, p->launch[k], k, size, &run.launch[k]))
			printf("       %s on %s: %s\n", d->name, target->text, p->config);
	heddle_case_arrays_free(d, array);
	return good;
}

/* `n`: which of the configs drawn at random; 0: none, the chosen one. */
static void run(heddle_ctx *ctx, heddle_module *module, const heddle_definition *d, const char *chip, int n)
{
	heddle_target target;
	if (heddle_target_parse(ctx, chip, &target) < 0 || heddle_target_takes(ctx, d, &target) < 0) {
		heddle_diagnostics_clear(ctx);
		return;
	}
	one o = {.arena = heddle_arena_new(), .definition = d};
	o.size = HEDDLE_NEW_ARRAY(o.arena, int64_t, d->n_size + 1);
	heddle_program *p = NULL;
	const bool sized = choose(d, o.size) || d->n_size == 0;
	const char *config = n && sized ? drawn(ctx, d, &target, &o, n) : NULL;
	if (sized && (config || !n))
		p = heddle_compile(ctx, d, &target, &(heddle_compile_options){.config = config, .complete = config != NULL, .effort = HEDDLE_EFFORT_CLOSED_FORM, .unproved = true, .examine = examine, .user = &o});
	if (p && (o.large || !holds(d, o.size))) {
		printf("  -- %s on %s: %s\n", d->name, chip, o.large ? "too large" : "no shapes for whole tiles");
		left_out++;
	} else if (p ? !run_program(ctx, module, &o, p, &target) : !n) {
		printf("    !! %s on %s is not run: %s\n", d->name, chip, heddle_diagnostics(ctx) ? heddle_diagnostics(ctx)->message : sized ? "a fault" : "no sizes");
		failed++;
	} else if (!p) {
		refused++;
		if (verbose)
			printf("  -- %s on %s: refused: %s\n", d->name, chip, config ? config : "no config");
	}
	heddle_diagnostics_clear(ctx);
	heddle_program_free(p);
	heddle_arena_free(o.arena);
}

static void run_file(const char *path, const char *only)
{
	static const char *const chips[] = {"cuda:h100", "hip:mi300x", "opencl:cpu"};
	heddle_ctx *ctx = heddle_ctx_new();
	char *text = heddle_file_read(ctx, path, NULL);
	heddle_module *module = text ? heddle_module_parse(ctx, path, text, NULL) : NULL;
	if (!module) {
		printf("    !! %s is not read: %s\n", path, heddle_diagnostics(ctx) ? heddle_diagnostics(ctx)->message : "no message");
		failed++;
	}
	for (int d = 0; module && d < module->n_definition; d++)
		for (size_t t = 0; t < HEDDLE_COUNT(chips); t++)
			if (!only || !strcmp(only, chips[t]))
				for (int n = draws > 0 ? first_draw : 0; n <= draws; n++)
					run(ctx, module, module->definition[d], chips[t], n);
	free(text);
	heddle_module_free(module);
	heddle_ctx_free(ctx);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int main(int argc, char **argv)
{
	const char *only = NULL;
	int files = 0;
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "-v"))
			verbose = true;
		else if (!strcmp(argv[i], "-u"))
			uneven = true;
		else if (!strcmp(argv[i], "-t") && i + 1 < argc)
			only = argv[++i];
		else if (!strcmp(argv[i], "-r") && i + 1 < argc) {
			const int read = sscanf(argv[++i], "%d-%d", &first_draw, &draws);
			if (read < 1 || first_draw < 1 || (read == 2 && draws < first_draw)) {
				fprintf(stderr, "test_cost_layers: -r takes numbers of draws, 3 or 15-18, not %s\n", argv[i]);
				return 2;
			}
			if (read == 1)
				draws = first_draw, first_draw = 1;
		} else
			run_file(argv[i], only), files++;
	}
	if (!files) {
		char *name[256];
		int n = 0;
		DIR *folder = opendir(HEDDLE_SOURCE_DIR "/layers");
		for (struct dirent *e; folder && (e = readdir(folder));)
			if (strlen(e->d_name) > 3 && !strcmp(e->d_name + strlen(e->d_name) - 3, ".tc") && n < 256)
				name[n++] = strdup(e->d_name);
		closedir(folder);
		qsort(name, (size_t)n, sizeof(*name), by_name);
		for (int i = 0; i < n; i++) {
			char path[4096];
			snprintf(path, sizeof(path), "%s/layers/%s", HEDDLE_SOURCE_DIR, name[i]);
			run_file(path, only);
			free(name[i]);
		}
	}
	printf("%d launches compared, %d differ; %d left out, %d refused, %d failed\n", compared, differ, left_out, refused, failed);
	return failed > 0 || differ > 0 || compared == 0;
}
