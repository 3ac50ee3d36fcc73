/* Which statements share a kernel: kernels are rated in closed form, each once.
 * SPDX-License-Identifier: MIT
 */
#include "cost/fusion.h"

#include <math.h>
#include <string.h>

enum {
	MOST_TRIED = 4, /* kernels that a statement is tried with: the last ones */
	MOST_OTHERS = 32,
	SHORT = 8, /* definitions of so many statements are rated fully fused, too */
};

/* Of kernels that are rated alike the joined one is taken: it needs no temporary, and one launch less. */
static const double EVEN = 0.95;

typedef struct rated {
	int n, *stmt;
	double seconds, least;
} rated;

struct heddle_fusion {
	heddle_arena *arena;
	heddle_scop *scop;
	const heddle_fusion_options *how;
	int n;
	rated *known;
};

heddle_fusion *heddle_fusion_new(heddle_arena *arena, heddle_scop *scop, const heddle_fusion_options *how)
{
	heddle_fusion *fusion = HEDDLE_NEW(arena, heddle_fusion);
	*fusion = (heddle_fusion){.arena = arena, .scop = scop, .how = how};
	return fusion;
}

/* ---- rating ------------------------------------------------------------------------------------------------------ */

static void forget_members(const heddle_scop *scop)
{
	for (int i = 0; i < scop->n_stmt; i++)
		for (int d = 0; d < scop->stmt[i]->n_dim; d++)
			scop->stmt[i]->dim[d].member = -1;
}

/* Elements of a part of the statement's domain. */
static double count(const heddle_outline_stmt *s, unsigned mask)
{
	double n = 1;
	for (int d = 0; d < s->n_dim; d++)
		n *= mask >> d & 1 ? s->extent[d] : 1;
	return n;
}

/* All data are moved once, through memory where they exceed the last cache; all floats are computed at the peak rate. */
static double least_seconds(const heddle_outline *o)
{
	const heddle_outline_stmt *main = &o->stmt[o->main];
	const double peak = heddle_descriptor_rate(o->descriptor, main->access[0].access->tensor->type);
	double flops = main->reductions ? count(main, ~0u) : 0;
	const heddle_memory *memory = heddle_descriptor_memory(o->descriptor, "global"), *cache = heddle_descriptor_memory(o->descriptor, "l3");
	double bytes = 0;
	cache = cache ? cache : heddle_descriptor_memory(o->descriptor, "l2");
	for (int g = 0; g < o->n_group; g++) {
		const heddle_outline_stmt *s = &o->stmt[o->group[g].stmt];
		const heddle_outline_access *a = &s->access[o->group[g].access];
		bytes += a->affine ? fmin(a->bytes * count(s, a->mask), a->size) : 0;
	}
	for (int i = 0; i < main->n_operator; i++)
		flops += main->operator[i].kind <= HEDDLE_INSTRUCTION_FMA64 ? count(main, main->operator[i].mask) : 0;
	const bool far = memory && memory->bandwidth.set && !(cache && bytes <= cache->size.value);
	return fmax(far ? bytes / memory->bandwidth.value : 0, peak > 0 ? flops / peak : 0) + o->descriptor->launch_overhead.value;
}

static void rate_kernel(const heddle_fusion *f, const int *stmt, int n, rated *out)
{
	heddle_arena *work = heddle_arena_new();
	heddle_kernel *kernel = HEDDLE_NEW(work, heddle_kernel);
	for (int i = 0; i < n; i++) {
		f->scop->stmt[stmt[i]]->kernel = kernel;
		HEDDLE_PUSH(work, kernel->stmt, kernel->n_stmt, f->scop->stmt[stmt[i]]);
	}
	heddle_kernel_align(f->scop, kernel);
	const heddle_outline *outline = heddle_outline_new(work, f->scop, kernel, &f->how->language, NULL);
	const heddle_space_found found = heddle_space_best(work, outline, &f->how->space, 1);
	out->seconds = found.n ? found.best[0].seconds : INFINITY;
	out->least = least_seconds(outline);
	for (int i = 0; i < n; i++)
		f->scop->stmt[stmt[i]]->kernel = NULL;
	forget_members(f->scop);
	heddle_arena_free(work);
}

/* Of one kernel, whose statements are in order. */
static const rated *rated_of(heddle_fusion *f, const int *stmt, int n)
{
	for (int i = 0; i < f->n; i++)
		if (f->known[i].n == n && !memcmp(f->known[i].stmt, stmt, sizeof(*stmt) * (size_t)n))
			return &f->known[i];
	rated one = {.n = n, .stmt = HEDDLE_NEW_ARRAY(f->arena, int, n)};
	rate_kernel(f, stmt, n, &one);
	memcpy(one.stmt, stmt, sizeof(*stmt) * (size_t)n);
	HEDDLE_PUSH(f->arena, f->known, f->n, one);
	return &f->known[f->n - 1];
}

/* Of the kernel's statements among the first n. */
static double seconds_of_kernel(heddle_fusion *f, const int *kernel_of, int n, int kernel)
{
	int *stmt = HEDDLE_NEW_ARRAY(f->arena, int, n + 1), m = 0;
	for (int i = 0; i < n; i++)
		if (kernel_of[i] == kernel)
			stmt[m++] = i;
	return m ? rated_of(f, stmt, m)->seconds : 0;
}

double heddle_fusion_alone(heddle_fusion *f, int stmt)
{
	return rated_of(f, &stmt, 1)->seconds;
}

double heddle_fusion_least(heddle_fusion *f, int stmt)
{
	return rated_of(f, &stmt, 1)->least;
}

double heddle_fusion_seconds(heddle_fusion *f, const int *kernel_of)
{
	double sum = 0;
	for (int k = 0; k < f->scop->n_stmt; k++)
		sum += seconds_of_kernel(f, kernel_of, f->scop->n_stmt, k);
	return sum;
}

/* ---- which ------------------------------------------------------------------------------------------------------- */

static int members_of(heddle_arena *arena, const heddle_scop *scop, const int *kernel_of, int k)
{
	heddle_kernel kernel = {0};
	for (int i = 0; i < scop->n_stmt; i++)
		if (kernel_of[i] == k)
			HEDDLE_PUSH(arena, kernel.stmt, kernel.n_stmt, scop->stmt[i]);
	heddle_kernel_align(scop, &kernel);
	return kernel.n_member;
}

/* Each statement goes to the kernel of the one before, unless blocks then had nothing to be cut along. */
static void fuse_all(heddle_arena *arena, const heddle_scop *scop, int *kernel_of)
{
	for (int i = 0; i < scop->n_stmt; i++)
		kernel_of[i] = -1;
	for (int i = 0, members = 0; i < scop->n_stmt; i++) {
		kernel_of[i] = i ? kernel_of[i - 1] : 0;
		const int joined = members_of(arena, scop, kernel_of, kernel_of[i]);
		if (i && members > 0 && joined == 0)
			kernel_of[i]++;
		members = members_of(arena, scop, kernel_of, kernel_of[i]);
	}
	forget_members(scop);
}

int *heddle_fusion_best(heddle_fusion *f)
{
	const int n = f->scop->n_stmt;
	int *of = HEDDLE_NEW_ARRAY(f->arena, int, n + 1), n_kernel = 0;
	for (int i = 0; i < n; i++) {
		const double alone = n > 1 ? heddle_fusion_alone(f, i) : 0;
		double most = 0; /* that joining saves */
		int chosen = n_kernel;
		for (int k = n_kernel - 1; k >= 0 && k >= n_kernel - MOST_TRIED; k--) {
			of[i] = k;
			if (!heddle_fuse_legal(f->scop, of, i + 1))
				break;
			const double saved = seconds_of_kernel(f, of, i, k) + alone - EVEN * seconds_of_kernel(f, of, i + 1, k);
			if (saved > most) {
				most = saved;
				chosen = k;
			}
		}
		of[i] = chosen;
		n_kernel += chosen == n_kernel;
	}
	if (n > SHORT)
		return of;
	/* the greedy choice above misses kernels that pay off only once their last statement has joined */
	int *all = HEDDLE_NEW_ARRAY(f->arena, int, n + 1);
	fuse_all(f->arena, f->scop, all);
	if (heddle_fuse_legal(f->scop, all, n) && EVEN * heddle_fusion_seconds(f, all) < heddle_fusion_seconds(f, of))
		return all;
	return of;
}

int **heddle_fusion_others(heddle_fusion *fusion, int *n)
{
	heddle_arena *arena = fusion->arena;
	const heddle_scop *scop = fusion->scop;
	int **list = HEDDLE_NEW_ARRAY(arena, int *, MOST_OTHERS + 2),
	    *all = HEDDLE_NEW_ARRAY(arena, int, scop->n_stmt + 1);
	int *alone = HEDDLE_NEW_ARRAY(arena, int, scop->n_stmt + 1), last = 0;
	*n = 0;
	fuse_all(arena, scop, all);
	list[(*n)++] = all;
	for (int i = 0; i < scop->n_stmt; i++) {
		alone[i] = i;
		last = all[i];
	}
	/* one cut, between neighbours that share a kernel */
	for (int i = 1; i < scop->n_stmt && *n < MOST_OTHERS; i++) {
		if (all[i] != all[i - 1])
			continue;
		int *cut = HEDDLE_NEW_ARRAY(arena, int, scop->n_stmt);
		for (int j = 0; j < scop->n_stmt; j++)
			cut[j] = all[j] + (j >= i);
		list[(*n)++] = cut;
	}
	if (last + 2 < scop->n_stmt) /* one cut alone is not that already */
		list[(*n)++] = alone;
	return list;
}
