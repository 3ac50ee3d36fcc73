/* Candidates of every kernel, lowered and rated; the best of each.
 * SPDX-License-Identifier: MIT
 */
#include "compile/pick.h"

#include "cost/cost.h"
#include "cost/space.h"
#include "model/passes.h"
#include "model/rewrite.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What an effort is worth: candidates that are rated in closed form for each kernel, of how many of their kinds neighbours are, programs that are
 * lowered, and whether rewrites and fusions other than the usual ones are tried. */
static const struct effort {
	int seeds, around, programs;
	bool variants;
} efforts[] = {
	[HEDDLE_EFFORT_RULES] = {0, 0, 0, false},
	[HEDDLE_EFFORT_USUAL] = {600, 1, 4, false},
	[HEDDLE_EFFORT_CLOSED_FORM] = {300, 1, 1, false},
	[HEDDLE_EFFORT_WIDE] = {4000, 6, 24, true},
	[HEDDLE_EFFORT_MEASURED] = {4000, 6, 24, true},
};

enum { MOST_KERNELS = 64, MOST_THREADS = 16 };

/* Ratings err by this much: what the rules chose, some of them from measurements, stays unless something is rated better by more. */
static const double DOUBT = 0.2;

/* One program: a candidate of each kernel. */
typedef struct attempt {
	int variant; /* attempts of one differ in the kernels' parts alone */
	int n_kernel;
	bool rules;
	const char *config;
	double expected; /* seconds, by the closed form */
	bool lowered;
	double seconds[MOST_KERNELS], sum;
	const char *complete; /* the config as completed */
} attempt;

typedef struct picker {
	heddle_ctx *ctx;
	heddle_arena *arena;
	const heddle_definition *definition;
	const heddle_target *target;
	const struct effort *effort;
	int n_variant;
	int n;
	attempt *attempt;
	int next; /* that no thread has taken */
	pthread_mutex_t mutex;
} picker;

static const char *line_of(heddle_arena *arena, const heddle_config *config)
{
	heddle_text text = {0};
	heddle_config_print(config, &text);
	const char *line = heddle_arena_strdup(arena, heddle_text_str(&text));
	heddle_text_free(&text);
	return line;
}

/* ---- candidates ------------------------------------------------------------------------------------------------------------------ */

static heddle_space_language language_of(const heddle_target *target)
{
	const heddle_language l = heddle_target_language(target);
	return (heddle_space_language){.max_vector = l.max_vector, .max_bytes = l.max_bytes, .zips = l.zips, .unaligned = l.unaligned_vectors,
				       .vector_arithmetic = l.vector_arithmetic,
				       .shuffles = l.shuffles && target->descriptor->shuffles};
}

/* The best candidates of each kernel that the scop has after pass `fuse`, as configs: number j has each kernel's j-th, or its last one. */
static int add_attempts(picker *p, heddle_scop *scop, const heddle_config *config)
{
	const heddle_space_language language = language_of(p->target);
	const heddle_space_options options = {.seeds = p->effort->seeds, .around = p->effort->around};
	heddle_space_found found[MOST_KERNELS];
	heddle_outline *outline[MOST_KERNELS];
	int most = 0;
	if (scop->n_kernel > MOST_KERNELS)
		return -1;
	for (int k = 0; k < scop->n_kernel; k++) {
		outline[k] = heddle_outline_new(p->arena, scop, scop->kernel[k], &language, NULL);
		found[k] = heddle_space_best(p->arena, outline[k], &options, p->effort->programs);
		most = found[k].n > most ? found[k].n : most;
	}
	for (int j = 0; j < most; j++) {
		heddle_config *copy = heddle_config_parse(p->ctx, p->arena, line_of(p->arena, config));
		attempt one = {.variant = p->n_variant, .n_kernel = scop->n_kernel};
		for (int k = 0; k < scop->n_kernel && copy; k++) {
			if (!found[k].n)
				continue;
			const heddle_ranked *best = &found[k].best[j < found[k].n ? j : found[k].n - 1];
			one.expected += best->seconds;
			heddle_candidate_config(outline[k], &best->candidate, copy);
		}
		one.config = copy ? line_of(p->arena, copy) : "";
		HEDDLE_PUSH(p->arena, p->attempt, p->n, one);
	}
	p->n_variant++;
	return 0;
}

/* Programs of the definition as rewritten by the config, with its kernels or, where it says nothing of them, with all that are worth rating. */
static int add_rewrite(picker *p, heddle_config *config, bool usual)
{
	const heddle_pass_options passes = {.complete = heddle_cost_complete, .stop = config->n_fuse || usual ? "fuse" : "schedule"};
	heddle_definition *rewritten = heddle_definition_rewrite(p->ctx, p->arena, p->definition, config);
	int n = 0, status = -1;
	if (!rewritten)
		return -1;
	heddle_scop *scop = heddle_scop_new(p->ctx, p->arena, rewritten, p->target->descriptor);
	scop->shuffles = language_of(p->target).shuffles;
	const bool given = config->n_fuse || usual;
	if (heddle_passes_run(scop, config, &passes) == 0)
		status = given ? add_attempts(p, scop, config) : 0;
	int **fusion = status == 0 && !given ? heddle_space_fusions(p->arena, scop, &n) : NULL;
	for (int f = 0; f < n; f++) {
		config->fuse = fusion[f];
		config->n_fuse = scop->n_stmt;
		scop->n_kernel = 0;
		if (heddle_pass_fuse(scop) == 0)
			add_attempts(p, scop, config);
	}
	heddle_scop_free(scop);
	return status;
}

static int add_variants(picker *p, const char *given)
{
	int n = 0;
	heddle_config *config = heddle_config_parse(p->ctx, p->arena, given);
	int64_t *size = HEDDLE_NEW_ARRAY(p->arena, int64_t, p->definition->n_size + 1);
	for (int i = 0; i < p->definition->n_size; i++) {
		const heddle_expr expr = {.kind = HEDDLE_EXPR_SIZE, .size = p->definition->size[i]};
		const heddle_scop none = {0};
		size[i] = heddle_scop_estimate(&none, &expr);
	}
	const bool rewrites = config->has_split || config->has_share || config->has_turn;
	heddle_alternative *list = rewrites ? NULL : heddle_space_alternatives(p->arena, p->definition, p->target->descriptor, size, &n);
	for (int i = 0; i < n; i++) {
		heddle_config *copy = heddle_config_parse(p->ctx, p->arena, given);
		heddle_alternative_config(&list[i], copy);
		copy->has_split = copy->has_share = copy->has_turn = true;
		add_rewrite(p, copy, false);
	}
	return 0;
}

static int by_expected(const void *a, const void *b)
{
	const attempt *x = a, *y = b;
	return x->expected < y->expected ? -1 : x->expected > y->expected ? 1 : x->variant - y->variant;
}

/* ---- programs -------------------------------------------------------------------------------------------------------------------- */

static void lower(picker *p, heddle_ctx *ctx, attempt *a)
{
	heddle_plan *plan = NULL;
	heddle_arena *arena = heddle_arena_new();
	const heddle_compile_options options = {.config = a->config, .unproved = true, .plan_arena = arena, .plan = &plan};
	heddle_program *program = heddle_compile_gathered(ctx, p->definition, p->target, &options);
	if (program && plan && plan->n_launch <= MOST_KERNELS && plan->seconds > 0) {
		const double factor = a->rules ? 1 - DOUBT : 1;
		a->n_kernel = plan->n_launch;
		for (int k = 0; k < plan->n_launch; k++)
			a->seconds[k] = factor * plan->launch[k].rating.seconds;
		a->sum = factor * plan->seconds;
		a->lowered = true;
		pthread_mutex_lock(&p->mutex);
		a->complete = heddle_arena_strdup(p->arena, program->config);
		pthread_mutex_unlock(&p->mutex);
	}
	heddle_program_free(program);
	heddle_arena_free(arena);
	heddle_diagnostics_clear(ctx);
}

static void *lower_all(void *user)
{
	picker *p = user;
	heddle_ctx *ctx = heddle_ctx_new();
	for (;;) {
		pthread_mutex_lock(&p->mutex);
		attempt *a = p->next < p->n ? &p->attempt[p->next++] : NULL;
		pthread_mutex_unlock(&p->mutex);
		if (!a)
			break;
		lower(p, ctx, a);
	}
	heddle_ctx_free(ctx);
	return NULL;
}

static void lower_attempts(picker *p, int threads)
{
	pthread_t thread[MOST_THREADS];
	int n = 0;
	const long processors = sysconf(_SC_NPROCESSORS_ONLN);
	threads = threads > 0 ? threads : processors > 0 ? (int)processors : 1;
	threads = threads < p->n ? threads : p->n;
	threads = threads < MOST_THREADS ? threads : MOST_THREADS;
	pthread_mutex_init(&p->mutex, NULL);
	while (n + 1 < threads && pthread_create(&thread[n], NULL, lower_all, p) == 0)
		n++;
	lower_all(p);
	for (int i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
	pthread_mutex_destroy(&p->mutex);
}

/* The fastest program; each kernel's part from that of the same variant whose launch is fastest. */
static const char *combine(picker *p)
{
	const attempt *first = NULL;
	double least = 0;
	for (int v = 0; v < p->n_variant; v++) {
		const attempt *one = NULL;
		double sum = 0;
		for (int i = 0; i < p->n; i++)
			one = p->attempt[i].variant == v && p->attempt[i].lowered && (!one || p->attempt[i].sum < one->sum) ? &p->attempt[i] : one;
		for (int k = 0; one && k < one->n_kernel; k++) {
			double best = one->seconds[k];
			for (int i = 0; i < p->n; i++)
				if (p->attempt[i].variant == v && p->attempt[i].lowered && p->attempt[i].seconds[k] < best)
					best = p->attempt[i].seconds[k];
			sum += best;
		}
		if (one && (!first || sum < least)) {
			first = one;
			least = sum;
		}
	}
	heddle_config *config = first ? heddle_config_parse(p->ctx, p->arena, first->complete) : NULL;
	for (int k = 0; config && k < config->n_kernel; k++) {
		const attempt *best = first;
		for (int i = 0; i < p->n && k < first->n_kernel; i++)
			if (p->attempt[i].variant == first->variant && p->attempt[i].lowered && p->attempt[i].seconds[k] < best->seconds[k])
				best = &p->attempt[i];
		heddle_config *other = heddle_config_parse(p->ctx, p->arena, best->complete);
		if (other && k < other->n_kernel)
			config->kernel[k] = other->kernel[k];
	}
	return config ? line_of(p->arena, config) : NULL;
}

const char *heddle_pick(heddle_ctx *ctx, heddle_arena *arena, const heddle_definition *definition, const heddle_target *target,
			const heddle_pick_options *options)
{
	const char *given = options->config ? options->config : "";
	picker p = {.ctx = ctx, .arena = arena, .definition = definition, .target = target, .effort = &efforts[options->effort]};
	const int diagnostics = heddle_diagnostics_count(ctx);
	heddle_config *config = heddle_config_parse(ctx, arena, given);
	if (!config)
		return NULL;
	heddle_cost_split(arena, config, definition, target->descriptor);
	heddle_cost_share(arena, config, definition, target->descriptor);
	heddle_cost_turn(arena, config, definition, target->descriptor);
	const char *picked = NULL;
	if (add_rewrite(&p, config, true) == 0) {
		const attempt rules = {.config = given, .variant = 0, .rules = true};
		if (p.effort->variants)
			add_variants(&p, given);
		qsort(p.attempt, (size_t)p.n, sizeof(*p.attempt), by_expected);
		p.n = p.n < p.effort->programs ? p.n : p.effort->programs;
		HEDDLE_PUSH(arena, p.attempt, p.n, rules);
		lower_attempts(&p, options->threads);
		picked = combine(&p);
	}
	heddle_diagnostics_keep(ctx, diagnostics);
	return picked ? picked : given;
}
