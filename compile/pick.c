/* Candidates of every kernel become attempts; those are lowered in threads and rated; the best few are listed or timed.
 * SPDX-License-Identifier: MIT
 */
#include "compile/pick_parts.h"

#include "model/rewrite.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What an effort is worth: how far candidates of each kernel are searched for, programs that are lowered, and of how many rewrites and
 * fusions they are. */
static const struct effort {
	heddle_space_options space;
	int programs, variants;
	bool wide;
	double work; /* bytes of programs, after which no other round begins: a megabyte takes about ten milliseconds */
} efforts[] = {
	[HEDDLE_EFFORT_USUAL] = {{1000, 2}, 8, 3, false, 8e6},
	[HEDDLE_EFFORT_CLOSED_FORM] = {{1000, 2}, 1, 2, false, 0},
	[HEDDLE_EFFORT_WIDE] = {{4000, 6}, 24, 4, true, 400e6},
	[HEDDLE_EFFORT_MEASURED] = {{4000, 6}, 48, 4, true, 800e6},
};

enum {
	MOST_KERNELS = 64,
	MOST_THREADS = 16,
	CANDIDATES = 4, /* for each program that is lowered */
	TIMED = 24, /* programs that are timed on the device */
};

/* One program: a candidate of each kernel. */
typedef struct attempt {
	uint64_t kind; /* see cost/space.h */
	int variant;   /* attempts of one differ in the kernels' parts alone */
	int n_kernel;
	bool mixed; /* made of parts of other attempts, which give its `sum` */
	const char *config;
	double expected; /* seconds, in closed form */
	bool lowered;	 /* what follows is known */
	heddle_lowered *kept; /* not NULL: of the fastest one */
	const char *complete; /* the config as completed */
	double rated;	      /* seconds of the program */
	double seconds[MOST_KERNELS], sum; /* by which attempts are compared */
} attempt;

typedef struct picker {
	heddle_ctx *ctx;
	heddle_arena *arena;
	const heddle_definition *definition;
	const heddle_target *target;
	struct effort effort;
	int n_variant;
	int n;
	attempt *attempt;
	int next, end; /* attempts before `next` are taken by a thread, those before `end` are to be */
	int wanted;  /* programs, whatever they promise */
	double work; /* bytes of the programs that are lowered */
	pthread_mutex_t mutex;
	heddle_steps steps;
} picker;

/* ---- programs -------------------------------------------------------------------------------------------------------------------- */

/* The first attempt with the least seconds, of one variant (any: -1) and one kernel (all: -1); NULL: none is lowered. */
static attempt *fastest(picker *p, int variant, int kernel)
{
	attempt *best = NULL;
	double least = 0;
	for (int i = 0; i < p->n; i++) {
		attempt *a = &p->attempt[i];
		const double seconds = kernel < 0 ? a->sum : a->seconds[kernel];
		if (!a->lowered || (variant >= 0 && a->variant != variant) || (best && seconds >= least))
			continue;
		best = a;
		least = seconds;
	}
	return best;
}

/* Of all attempts only the fastest one is kept. */
static void keep_fastest(picker *p)
{
	const attempt *best = fastest(p, -1, -1);
	for (int i = 0; i < p->n; i++)
		if (&p->attempt[i] != best)
			p->attempt[i].kept = heddle_lowered_free(p->attempt[i].kept);
}

static heddle_lowered *take_kept(picker *p)
{
	heddle_lowered *kept = NULL;
	for (int i = 0; i < p->n; i++)
		if (p->attempt[i].kept) {
			kept = p->attempt[i].kept;
			p->attempt[i].kept = NULL;
		}
	return kept;
}

static void lower(picker *p, heddle_ctx *ctx, attempt *a)
{
	heddle_plan *plan = NULL;
	heddle_arena *arena = heddle_arena_new();
	const heddle_compile_options options = {.config = a->config, .complete = true, .unproved = true, .plan_arena = arena, .plan = &plan};
	heddle_lowered *lowered = heddle_lower(ctx, p->definition, p->target, &options);
	if (lowered && plan && plan->n_launch <= MOST_KERNELS) {
		const bool known = plan->seconds > 0; /* else data decide, and the closed form says what is expected */
		a->n_kernel = plan->n_launch;
		for (int k = 0; k < plan->n_launch; k++)
			a->seconds[k] = known ? plan->launch[k].rating.seconds : a->expected / plan->n_launch;
		a->rated = known ? plan->seconds : a->expected;
		a->sum = a->mixed ? a->sum : a->rated;
		lowered->scop->ctx = p->ctx; /* this thread's goes */
		pthread_mutex_lock(&p->mutex);
		a->lowered = true;
		a->kept = lowered;
		a->complete = heddle_arena_strdup(p->arena, lowered->program->config);
		p->work += (double)heddle_arena_bytes(lowered->program->arena);
		keep_fastest(p);
		pthread_mutex_unlock(&p->mutex);
	} else {
		heddle_lowered_free(lowered);
	}
	heddle_arena_free(arena);
	heddle_diagnostics_clear(ctx);
}

/* Lower attempts until none is left; `tells`: this thread says how far all of them are. */
static void lower_some(picker *p, bool tells)
{
	heddle_ctx *ctx = heddle_ctx_new();
	for (;;) {
		pthread_mutex_lock(&p->mutex);
		attempt *a = p->next < p->end ? &p->attempt[p->next++] : NULL;
		p->steps.done += a != NULL;
		const heddle_steps steps = p->steps;
		pthread_mutex_unlock(&p->mutex);
		if (tells)
			heddle_steps_say(p->ctx, &steps, "configs of %s", p->definition->name);
		if (!a)
			break;
		lower(p, ctx, a);
	}
	heddle_ctx_free(ctx);
}

static void *lower_silently(void *user)
{
	lower_some(user, false);
	return NULL;
}

/* The attempts up to `end`. */
static void lower_attempts(picker *p, int threads)
{
	pthread_t thread[MOST_THREADS];
	int n = 0;
	const long processors = sysconf(_SC_NPROCESSORS_ONLN);
	threads = threads > 0 ? threads : processors > 0 ? (int)processors : 1;
	threads = threads < p->end - p->next ? threads : p->end - p->next;
	threads = threads < MOST_THREADS ? threads : MOST_THREADS;
	pthread_mutex_init(&p->mutex, NULL);
	while (n + 1 < threads && pthread_create(&thread[n], NULL, lower_silently, p) == 0)
		n++;
	lower_some(p, p->effort.wide); /* others are over at once */
	for (int i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
	pthread_mutex_destroy(&p->mutex);
}

/* ---- rounds ---------------------------------------------------------------------------------------------------------------------- */

/* What the closed form errs by for attempts of one kind, as for those that are lowered. */
static double error_of(const picker *p, const attempt *of)
{
	double log_sum = 0;
	int n = 0;
	for (int i = 0; i < p->next; i++) {
		const attempt *a = &p->attempt[i];
		if (!a->lowered || a->mixed || a->kind != of->kind || a->variant != of->variant || !(a->expected > 0))
			continue;
		log_sum += log(a->rated / a->expected);
		n++;
	}
	return n ? exp(log_sum / n) : 1;
}

/* The attempt is the next one that a thread takes. */
static void to_front(picker *p, int i)
{
	const attempt one = p->attempt[i];
	p->attempt[i] = p->attempt[p->end];
	p->attempt[p->end++] = one;
}

/* The most promising attempts that are not lowered; false: none promises to be faster than what is. */
static bool next_round(picker *p)
{
	enum { AT_ONCE = 2, FIRST = 6, DOUBTFUL = 3 };
	const double gain = 0.95, trusted = 1.25; /* less is not worth lowering; errors of the closed form up to that are usual */
	const double little = 2e6; /* bytes of programs: some hundredths of a second */
	const attempt *best = fastest(p, -1, -1);
	const int first = p->end;
	/* others are lowered whatever they promise where the closed form errs about its first choices, or where it is cheap */
	const bool errs = !best || best->rated > trusted * best->expected, cheap = p->work < little;
	const bool doubt = first < p->wanted || (first < FIRST && (errs || cheap));
	if (first >= p->wanted && p->work > (doubt ? DOUBTFUL : 1) * p->effort.work)
		return false;
	while (p->end < p->n && p->end < first + AT_ONCE && p->end < p->effort.programs) {
		int chosen = -1;
		double least = best && !doubt && !p->effort.wide ? gain * best->sum : INFINITY;
		for (int i = p->end; i < p->n; i++) {
			const double seconds = p->attempt[i].expected * error_of(p, &p->attempt[i]);
			bool known = false; /* two of a kind teach little */
			for (int j = first; j < p->end && !p->effort.wide && first >= p->wanted; j++)
				known = known || p->attempt[j].kind == p->attempt[i].kind;
			if (seconds < least && !known) {
				least = seconds;
				chosen = i;
			}
		}
		if (chosen < 0)
			break;
		to_front(p, chosen);
	}
	return p->end > first;
}

/* One attempt more for each variant whose fastest launches are of different attempts: with each kernel's part from the fastest. */
static void add_mixed(picker *p)
{
	for (int v = 0; v < p->n_variant; v++) {
		const attempt *first = fastest(p, v, -1);
		heddle_config *config = first ? heddle_config_parse(p->ctx, p->arena, first->complete) : NULL;
		attempt one = {.variant = v, .mixed = true};
		bool differs = false;
		for (int k = 0; config && k < first->n_kernel; k++) {
			const attempt *best = fastest(p, v, k);
			one.sum += best->seconds[k];
			if (best->seconds[k] >= first->seconds[k] || k >= config->n_kernel)
				continue;
			heddle_config *other = heddle_config_parse(p->ctx, p->arena, best->complete);
			if (other && k < other->n_kernel) {
				config->kernel[k] = other->kernel[k];
				differs = true;
			}
		}
		if (!differs)
			continue;
		one.config = heddle_pick_line(p->arena, config);
		HEDDLE_PUSH(p->arena, p->attempt, p->n, one);
		to_front(p, p->n - 1);
	}
}

static picker begin(heddle_ctx *ctx, heddle_arena *arena, const heddle_definition *definition, const heddle_target *target,
		    heddle_effort effort)
{
	return (picker){.ctx = ctx, .arena = arena, .definition = definition, .target = target, .effort = efforts[effort]};
}

/* The best candidates become attempts, after those that there are, in the order of the closed form.  0, or -1 where the config is wrong. */
static int find_attempts(picker *p, const char *given)
{
	const heddle_pick_search search = {.ctx = p->ctx, .arena = p->arena, .definition = p->definition, .target = p->target, .given = given,
					   .space = p->effort.space, .most = CANDIDATES * p->effort.programs,
					   .variants = p->effort.variants, .wide = p->effort.wide};
	heddle_pick_candidates found;
	const int diagnostics = heddle_diagnostics_count(p->ctx);
	if (!heddle_config_parse(p->ctx, p->arena, given))
		return -1;
	if (heddle_pick_search_candidates(&search, &found) < 0) {
		heddle_diagnostics_keep(p->ctx, diagnostics);
		found.n = 0;
	}
	for (int i = 0; i < found.n; i++) {
		const attempt one = {.kind = found.item[i].kind, .variant = p->n_variant + found.item[i].variant, .config = found.item[i].config, .expected = found.item[i].expected};
		HEDDLE_PUSH(p->arena, p->attempt, p->n, one);
	}
	p->n_variant += found.n_variant > 0 ? found.n_variant : 1;
	return 0;
}

static void try_attempts(picker *p, int threads)
{
	const int diagnostics = heddle_diagnostics_count(p->ctx);
	p->steps = heddle_steps_new(p->n < p->effort.programs ? p->n : p->effort.programs);
	while (next_round(p))
		lower_attempts(p, threads);
	add_mixed(p);
	lower_attempts(p, threads);
	heddle_diagnostics_keep(p->ctx, diagnostics);
}

static int compare(double x, double y, const attempt *a, const attempt *b)
{
	if (!a->lowered || !b->lowered)
		return b->lowered - a->lowered;
	return x < y ? -1 : x > y ? 1 : strcmp(a->complete, b->complete);
}

static int by_sum(const void *a, const void *b)
{
	const attempt *x = a, *y = b;
	return compare(x->sum, y->sum, x, y);
}

static int by_rated(const void *a, const void *b)
{
	const attempt *x = a, *y = b;
	return compare(x->rated, y->rated, x, y);
}

/* In order, those that are not lowered or have the config of another one left out. */
static void sort_attempts(picker *p, int (*order)(const void *, const void *))
{
	int n = 0;
	qsort(p->attempt, (size_t)p->n, sizeof(*p->attempt), order);
	for (int i = 0; i < p->n && p->attempt[i].lowered; i++) {
		bool known = false;
		for (int j = 0; j < n && !known; j++)
			known = heddle_pick_same(p->attempt[i].complete, p->attempt[j].complete);
		if (!known)
			p->attempt[n++] = p->attempt[i];
	}
	p->n = n;
}

/* ---- results --------------------------------------------------------------------------------------------------------------------- */

/* Of the best by rating the one that is fastest on the device; NULL with a diagnostic. */
static const char *fastest_timed(picker *p, const heddle_pick_options *options)
{
	const char *config[TIMED];
	sort_attempts(p, by_sum);
	const int n = p->n < TIMED ? p->n : TIMED;
	for (int i = 0; i < n; i++)
		config[i] = p->attempt[i].complete;
	const int best = n == 1 ? 0 : heddle_pick_fastest(p->ctx, p->definition, p->target, config, n, options);
	return best < 0 ? NULL : config[best];
}

int heddle_pick(heddle_ctx *ctx, heddle_arena *arena, const heddle_definition *gathered, const heddle_target *target,
		const heddle_pick_options *options, heddle_pick_result *picked)
{
	const char *given = options->config ? options->config : "";
	const bool wide = efforts[options->effort].wide;
	picker p = begin(ctx, arena, gathered, target, wide ? HEDDLE_EFFORT_USUAL : options->effort);
	if (find_attempts(&p, given) < 0)
		return -1;
	if (p.effort.programs > 1)
		try_attempts(&p, options->threads);
	if (wide) { /* after the usual ones, so that more effort never ends with a slower program */
		p.effort = efforts[options->effort];
		p.effort.programs += p.end;
		p.work = 0;
		if (find_attempts(&p, given) < 0)
			return -1;
		try_attempts(&p, options->threads);
	}
	const attempt *best = fastest(&p, -1, -1);
	*picked = (heddle_pick_result){.config = best ? best->complete : p.n ? p.attempt[0].config : given, .complete = p.n > 0,
				       .lowered = take_kept(&p)};
	if (best && options->effort == HEDDLE_EFFORT_MEASURED && options->time) {
		picked->lowered = heddle_lowered_free(picked->lowered);
		picked->config = fastest_timed(&p, options);
	}
	return picked->config ? 0 : -1;
}

/* With its proof, and its plan in the caller's arena; false: it is refused. */
static bool list_one(const picker *p, heddle_arena *arena, const char *config, bool usual, heddle_pick_list *list)
{
	const int diagnostics = heddle_diagnostics_count(p->ctx);
	heddle_picked one = {heddle_arena_strdup(arena, config), NULL, usual};
	const heddle_compile_options options = {.config = one.config, .complete = true, .plan_arena = arena, .plan = &one.plan};
	heddle_program *program = heddle_compile_gathered(p->ctx, p->definition, p->target, &options);
	const bool proved = program != NULL;
	if (proved)
		HEDDLE_PUSH(arena, list->picked, list->n, one);
	heddle_program_free(program);
	heddle_diagnostics_keep(p->ctx, diagnostics);
	return proved;
}

/* Sorted, the first n of them, the last of which gives way to the usual one. */
static void list_best(picker *p, heddle_arena *arena, const char *usual, int n, heddle_pick_list *list)
{
	for (int i = 0; i < p->next; i++) {
		list->refused += !p->attempt[i].lowered;
		list->rated += p->attempt[i].lowered;
	}
	sort_attempts(p, by_rated);
	for (int i = 0; i < p->n; i++) {
		const bool own = heddle_pick_same(p->attempt[i].complete, usual), room = list->n < n;
		if (!room && !(own && n > 1))
			continue;
		list->n -= !room;
		list->refused += !list_one(p, arena, own ? usual : p->attempt[i].complete, own, list);
	}
}

int heddle_pick_top(heddle_ctx *ctx, heddle_arena *arena, const heddle_definition *definition, const heddle_target *target,
		    const heddle_pick_options *options, int n, heddle_pick_list *list)
{
	const char *given = options->config ? options->config : "";
	heddle_plan *plan = NULL;
	heddle_arena *own = heddle_arena_new();
	const heddle_definition *gathered = heddle_definition_gather(ctx, own, heddle_definition_unflatten(ctx, own, definition));
	picker p = begin(ctx, own, gathered, target, options->effort);
	const heddle_compile_options compile = {.config = given, .unproved = true, .plan_arena = own, .plan = &plan};
	heddle_program *program = heddle_compile(ctx, definition, target, &compile);
	int status = program ? 0 : -1;
	*list = (heddle_pick_list){0};
	p.effort.programs = p.effort.programs < n ? n : p.effort.programs;
	p.wanted = n;
	if (status == 0 && !isnan(plan->seconds))
		status = find_attempts(&p, given);
	if (status == 0 && p.n)
		try_attempts(&p, options->threads);
	heddle_lowered_free(take_kept(&p));
	if (status == 0) {
		attempt usual = {.lowered = true, .complete = program->config, .rated = plan->seconds};
		bool known = false;
		for (int i = 0; i < p.n && !known; i++)
			known = p.attempt[i].lowered && heddle_pick_same(p.attempt[i].complete, usual.complete);
		if (!known)
			HEDDLE_PUSH(own, p.attempt, p.n, usual);
		list_best(&p, arena, program->config, n, list);
	}
	heddle_program_free(program);
	heddle_arena_free(own);
	return status;
}
