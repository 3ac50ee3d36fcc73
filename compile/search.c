/* Best-first search over configs.
 * SPDX-License-Identifier: MIT
 */
#include "compile/search.h"

#include "cost/cost.h"
#include "model/rewrite.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { USUAL_TOP = 10, USUAL_BUDGET = 160, MOST_ITEMS = 4096, MOST_THREADS = 64 };

/* Not looked around in: what is so much slower than the best one. */
static const double HOPELESS = 3;

typedef struct candidate {
	const char *line; /* as a move wrote it, then the program's */
	heddle_plan *plan; /* NULL: refused */
	bool expanded;
} candidate;

typedef struct searcher {
	heddle_ctx *ctx;
	heddle_arena *arena;
	const heddle_definition *definition;
	const heddle_target *target;
	const heddle_config *given; /* what moves leave alone */
	const int64_t *size; /* the definition's, each as great as it may be */
	int budget, threads;
	heddle_arena *arena_of[MOST_THREADS];
	heddle_steps steps; /* of the budget */
	int n, rated; /* those after the first `rated` wait */
	candidate *all;
	int n_seen;
	const char **seen; /* lines as moves wrote them, rated or refused */
	heddle_search *out;
} searcher;

/* ---- rating ------------------------------------------------------------------------------------------------------------------- */

/* Each thread takes every so many-th candidate, with a context and an arena of its own. */
typedef struct worker {
	pthread_t thread;
	const searcher *s;
	int first;
	heddle_arena *arena;
} worker;

static void rate_one(heddle_ctx *ctx, heddle_arena *arena, const searcher *s, candidate *c)
{
	heddle_program *program = heddle_compile(ctx, s->definition, s->target,
						 &(heddle_compile_options){.config = c->line, .unproved = true, .plan_arena = arena, .plan = &c->plan});
	if (program)
		c->line = heddle_arena_strdup(arena, program->config);
	heddle_program_free(program);
}

static void *rate_some(void *user)
{
	worker *w = user;
	heddle_ctx *ctx = heddle_ctx_new();
	for (int i = w->first; i < w->s->n; i += w->s->threads) {
		rate_one(ctx, w->arena, w->s, &w->s->all[i]);
		heddle_diagnostics_clear(ctx); /* why it was refused is nobody's question */
	}
	heddle_ctx_free(ctx);
	return NULL;
}

static bool is_double(const searcher *s, int i)
{
	for (int j = 0; j < i; j++)
		if (!strcmp(s->all[j].line, s->all[i].line))
			return true;
	return false;
}

/* Those that are refused or have another's line once they are complete are dropped. */
static void drop_refused(searcher *s)
{
	int n = s->rated;
	for (int i = s->rated; i < s->n; i++) {
		const bool good = s->all[i].plan && s->all[i].plan->seconds > 0;
		s->out->rated += good;
		s->out->refused += !good;
		s->all[n] = s->all[i];
		n += good && !is_double(s, n);
	}
	s->n = s->rated = n;
}

static void rate_waiting(searcher *s)
{
	worker w[MOST_THREADS];
	bool started[MOST_THREADS];
	for (int t = s->threads - 1; t >= 0; t--) {
		w[t] = (worker){.s = s, .first = s->rated + t, .arena = s->arena_of[t]};
		started[t] = t > 0 && pthread_create(&w[t].thread, NULL, rate_some, &w[t]) == 0;
		if (!started[t])
			rate_some(&w[t]);
	}
	for (int t = 0; t < s->threads; t++)
		if (started[t])
			pthread_join(w[t].thread, NULL);
	drop_refused(s);
	s->steps.done = s->out->rated + s->out->refused;
	heddle_steps_say(s->ctx, &s->steps, "configs of %s on %s", s->definition->name, s->target->text);
}

/* What a move made of a config is to be rated, unless it has been. */
static void tried(searcher *s, const heddle_config *config)
{
	heddle_text text = {0};
	heddle_config_print(config, &text);
	const candidate one = {.line = heddle_arena_strdup(s->arena, heddle_text_str(&text))};
	heddle_text_free(&text);
	bool known = s->out->rated + s->out->refused + s->n - s->rated >= s->budget;
	for (int i = 0; i < s->n_seen && !known; i++)
		known = !strcmp(s->seen[i], one.line);
	if (known)
		return;
	HEDDLE_PUSH(s->arena, s->seen, s->n_seen, one.line);
	HEDDLE_PUSH(s->arena, s->all, s->n, one);
}

/* ---- moves ------------------------------------------------------------------------------------------------------------------- */

static const heddle_stmt_config *given_stmt(const searcher *s, int k, int stmt)
{
	static const heddle_stmt_config none = {0};
	if (k < s->given->n_kernel)
		for (int i = 0; i < s->given->kernel[k].n_stmt; i++)
			if (s->given->kernel[k].stmt[i].stmt == stmt)
				return &s->given->kernel[k].stmt[i];
	return &none;
}

static bool is_given(const searcher *s, int k, int stmt, const char *name)
{
	const heddle_stmt_config *g = given_stmt(s, k, stmt);
	return heddle_named_get(&g->tile, name, 0) || heddle_named_get(&g->round, name, 0) || heddle_named_get(&g->thread, name, 0) ||
	       heddle_named_get(&g->vector, name, 0);
}

/* One dimension of a statement as numbers that a move may change. */
typedef struct numbers {
	int64_t rounds, items, threads, vector;
} numbers;

static numbers numbers_of(const heddle_stmt_config *c, const char *name)
{
	numbers n = {heddle_named_get(&c->round, name, 1), 1, heddle_named_get(&c->thread, name, 1), heddle_named_get(&c->vector, name, 1)};
	const int64_t least = n.rounds * n.threads * n.vector, tile = heddle_named_get(&c->tile, name, least);
	n.items = tile / least;
	return n;
}

static bool are_good(const numbers *n)
{
	return n->rounds >= 1 && n->items >= 1 && n->threads >= 1 && n->vector >= 1 && n->items <= MOST_ITEMS && n->vector <= 64;
}

static void set_numbers(heddle_config *config, heddle_stmt_config *c, const char *name, const numbers *n, bool reduction)
{
	heddle_named_set(config, &c->tile, name, n->rounds * n->items * n->threads * n->vector);
	heddle_named_set(config, &c->round, name, n->rounds);
	heddle_named_set(config, &c->thread, name, n->threads);
	heddle_named_set(config, &c->vector, name, n->vector);
	if (reduction)
		heddle_named_set(config, &c->reduce, name, n->threads * n->vector > 1 ? HEDDLE_REDUCE_LANES : HEDDLE_REDUCE_SEQUENTIAL);
}

/* Entries that say nothing go: so that a config has one line. */
static void drop_ones(heddle_named_list *list)
{
	int n = 0;
	for (int i = 0; i < list->n; i++)
		if (list->item[i].value > 1)
			list->item[n++] = list->item[i];
	list->n = n;
}

/* A copy of the candidate in which what follows from kernel k's layouts is found anew, unless it was given: where tiles are, which
 * stores go past the caches, how many blocks a unit is to hold. */
static heddle_config *copy_for(searcher *s, const char *line, int k)
{
	heddle_config *config = heddle_config_parse(s->ctx, s->arena, line);
	if (k < 0 || k >= config->n_kernel)
		return config;
	heddle_kernel_config *kernel = &config->kernel[k];
	const heddle_kernel_config none = {0}, *given = k < s->given->n_kernel ? &s->given->kernel[k] : &none;
	kernel->n_group = 0;
	for (int g = 0; g < given->n_group; g++)
		HEDDLE_PUSH(s->arena, kernel->group, kernel->n_group, given->group[g]);
	kernel->has_stream = given->has_stream;
	kernel->n_stream = given->n_stream;
	kernel->stream = given->stream;
	kernel->resident = given->resident;
	return config;
}

/* Elements of a dimension, as many as there may be. */
static int64_t extent_of(const searcher *s, const heddle_index *index)
{
	int64_t extent;
	return heddle_expr_evaluate(index->upper, s->size, &extent) < 0 ? INT64_MAX / 2 : extent;
}

static bool is_reduction(const heddle_statement *stmt, const char *name)
{
	for (int i = 0; i < stmt->n_index; i++)
		if (!strcmp(stmt->index[i]->name, name))
			return stmt->index[i]->reduction;
	return false;
}

/* A tile of twice the dimension or more is one that idles. */
static bool fits(const searcher *s, const heddle_statement *stmt, const char *name, const numbers *n)
{
	for (int i = 0; i < stmt->n_index; i++)
		if (!strcmp(stmt->index[i]->name, name))
			return n->rounds * n->items * n->threads * n->vector < 2 * extent_of(s, stmt->index[i]);
	return true;
}

/* Vectors along a reduction beside vectors along results: each result would be put together from lanes. */
static bool crosses_vectors(const heddle_statement *stmt, const heddle_stmt_config *c, const char *name, const numbers *n)
{
	if (n->vector == 1)
		return false;
	for (int i = 0; i < stmt->n_index; i++)
		if (stmt->index[i]->reduction != is_reduction(stmt, name) && heddle_named_get(&c->vector, stmt->index[i]->name, 1) > 1)
			return true;
	return false;
}

/* What statements of kernel k say of dimension `name` becomes `n`, where it was what `old` says. */
static void change(searcher *s, const heddle_definition *rewritten, const char *line, int k, const char *name, const numbers *old,
		   const numbers *n)
{
	if (!are_good(n))
		return;
	heddle_config *config = copy_for(s, line, k);
	heddle_kernel_config *kernel = &config->kernel[k];
	for (int i = 0; i < kernel->n_stmt; i++) {
		heddle_stmt_config *c = &kernel->stmt[i];
		const numbers now = numbers_of(c, name);
		bool has = false;
		for (int d = 0; d < rewritten->statement[c->stmt]->n_index; d++)
			has |= !strcmp(rewritten->statement[c->stmt]->index[d]->name, name);
		if (!has || memcmp(&now, old, sizeof(now)) != 0)
			continue;
		if (!fits(s, rewritten->statement[c->stmt], name, n) || crosses_vectors(rewritten->statement[c->stmt], c, name, n))
			return;
		set_numbers(config, c, name, n, is_reduction(rewritten->statement[c->stmt], name));
		drop_ones(&c->tile), drop_ones(&c->round), drop_ones(&c->thread), drop_ones(&c->vector);
	}
	/* the block's threads go with the members' and the lanes' */
	if (kernel->threads)
		kernel->threads = (int)(kernel->threads * n->threads / old->threads);
	tried(s, config);
}

static void change_numbers(searcher *s, const heddle_definition *rewritten, const char *line, int k, const char *name, numbers o)
{
	static const struct {
		int rounds, items, threads, vector; /* powers of two */
	} factor[] = {{0, 1, 0, 0},  {0, -1, 0, 0}, {0, 0, 1, 0},  {0, 0, -1, 0}, {0, 0, 0, 1},	 {0, 0, 0, -1},
		      {1, 0, 0, 0},  {-1, 0, 0, 0}, {0, -1, 1, 0}, {0, 1, -1, 0}, {0, -1, 0, 1}, {0, 1, 0, -1},
		      {1, -1, 0, 0}, {-1, 1, 0, 0}, {0, 0, -1, 1}, {0, 0, 1, -1}, {0, 2, 0, 0},  {0, -2, 0, 0},
		      {2, 0, 0, 0},  {-2, 0, 0, 0}, {0, 4, 0, 0},  {0, -4, 0, 0}, {0, 0, 0, 4},	 {4, 0, 0, 0}};
	for (size_t i = 0; i < HEDDLE_COUNT(factor); i++) {
		int64_t *const field[] = {&o.rounds, &o.items, &o.threads, &o.vector};
		const int by[] = {factor[i].rounds, factor[i].items, factor[i].threads, factor[i].vector};
		const numbers old = o;
		bool whole = true;
		for (int f = 0; f < 4; f++) {
			whole = whole && (by[f] >= 0 || *field[f] % (1 << -by[f]) == 0);
			*field[f] = by[f] >= 0 ? *field[f] << by[f] : *field[f] >> -by[f];
		}
		if (whole)
			change(s, rewritten, line, k, name, &old, &o);
		o = old;
	}
	for (int step = -1; step <= 1; step += 2) {
		numbers n = o;
		n.items += step;
		if (o.items > 2 && o.items <= 16)
			change(s, rewritten, line, k, name, &o, &n);
	}
}

/* Vectors along `to` instead of along `from`, items where they were. */
static void turn_vectors(searcher *s, const heddle_definition *rewritten, const char *line, int k, int at, const char *from, const char *to)
{
	heddle_config *config = copy_for(s, line, k);
	heddle_stmt_config *c = &config->kernel[k].stmt[at];
	numbers a = numbers_of(c, from), b = numbers_of(c, to);
	const numbers old = a;
	a.vector = b.vector;
	b.vector = old.vector;
	const heddle_statement *stmt = rewritten->statement[c->stmt];
	set_numbers(config, c, from, &a, is_reduction(stmt, from));
	set_numbers(config, c, to, &b, is_reduction(stmt, to));
	if (!fits(s, stmt, to, &b) || crosses_vectors(stmt, c, to, &b))
		return;
	drop_ones(&c->tile), drop_ones(&c->round), drop_ones(&c->thread), drop_ones(&c->vector);
	tried(s, config);
}

static void layout_moves(searcher *s, const heddle_definition *rewritten, const char *line, const heddle_config *config, int k)
{
	const heddle_kernel_config *kernel = &config->kernel[k];
	for (int i = 0; i < kernel->n_stmt; i++) {
		const heddle_stmt_config *c = &kernel->stmt[i];
		if (c->stmt >= rewritten->n_statement)
			continue;
		const heddle_statement *stmt = rewritten->statement[c->stmt];
		for (int d = 0; d < stmt->n_index; d++) {
			const char *name = stmt->index[d]->name;
			if (is_given(s, k, c->stmt, name))
				continue;
			change_numbers(s, rewritten, line, k, name, numbers_of(c, name));
			for (int to = 0; to < stmt->n_index; to++)
				if (to != d && numbers_of(c, name).vector > 1 && numbers_of(c, stmt->index[to]->name).vector == 1 &&
				    !is_given(s, k, c->stmt, stmt->index[to]->name))
					turn_vectors(s, rewritten, line, k, i, name, stmt->index[to]->name);
		}
	}
}

/* Each member of the block order becomes its fastest one. */
static void order_moves(searcher *s, const char *line, const heddle_config *config, int k)
{
	if (k < s->given->n_kernel && s->given->kernel[k].n_order)
		return;
	for (int m = 0; m + 1 < config->kernel[k].n_order; m++) {
		heddle_config *copy = heddle_config_parse(s->ctx, s->arena, line);
		heddle_kernel_config *kernel = &copy->kernel[k];
		const char *last = kernel->order[m];
		memmove(kernel->order + m, kernel->order + m + 1, sizeof(*kernel->order) * (size_t)(kernel->n_order - m - 1));
		kernel->order[kernel->n_order - 1] = last;
		tried(s, copy);
	}
}

static bool group_given(const searcher *s, int k, const heddle_group_config *group)
{
	for (int g = 0; k < s->given->n_kernel && g < s->given->kernel[k].n_group; g++)
		if (!strcmp(s->given->kernel[k].group[g].tensor, group->tensor) && s->given->kernel[k].group[g].number == group->number)
			return true;
	return false;
}

/* Tiles that were placed in shared memory are read from where they are. */
static void space_moves(searcher *s, const char *line, const heddle_config *config, int k)
{
	for (int g = 0; g < config->kernel[k].n_group; g++) {
		if (config->kernel[k].group[g].space != HEDDLE_SPACE_SHARED || group_given(s, k, &config->kernel[k].group[g]))
			continue;
		heddle_config *copy = heddle_config_parse(s->ctx, s->arena, line);
		heddle_group_config *group = &copy->kernel[k].group[g];
		*group = (heddle_group_config){.tensor = group->tensor, .number = group->number, .space = HEDDLE_SPACE_GLOBAL, .pad = -1};
		tried(s, copy);
	}
}

/* A kernel is cut in two, or two neighbours become one; what was said of kernels is found anew. */
static void fuse_moves(searcher *s, const char *line, const heddle_config *config)
{
	if (s->given->n_fuse || s->given->n_kernel)
		return;
	for (int i = 1; i < config->n_fuse; i++) {
		heddle_config *copy = heddle_config_parse(s->ctx, s->arena, line);
		const int by = copy->fuse[i] == copy->fuse[i - 1] ? 1 : -1;
		copy->n_kernel = 0;
		for (int j = i; j < copy->n_fuse; j++)
			copy->fuse[j] += by;
		tried(s, copy);
	}
}

/* A split reduction in chunks of twice and half the size, or whole. */
static void split_moves(searcher *s, const char *line, const heddle_config *config)
{
	if (s->given->has_split || s->given->n_kernel || s->given->n_fuse)
		return;
	for (int i = 0; i < config->n_split; i++)
		for (int how = 0; how < 3; how++) {
			heddle_config *copy = heddle_config_parse(s->ctx, s->arena, line);
			copy->n_kernel = copy->n_fuse = 0;
			copy->has_fuse = false;
			if (how == 2)
				copy->split[i] = copy->split[--copy->n_split];
			else
				copy->split[i].chunk = how ? copy->split[i].chunk * 2 : (copy->split[i].chunk + 1) / 2;
			tried(s, copy);
		}
}

static void expand(searcher *s, const char *line)
{
	heddle_config *config = heddle_config_parse(s->ctx, s->arena, line);
	const heddle_definition *rewritten = heddle_definition_rewrite(s->ctx, s->arena, s->definition, config);
	for (int k = 0; k < config->n_kernel && rewritten; k++) {
		layout_moves(s, rewritten, line, config, k);
		order_moves(s, line, config, k);
		space_moves(s, line, config, k);
	}
	fuse_moves(s, line, config);
	split_moves(s, line, config);
}

/* ---- choice ------------------------------------------------------------------------------------------------------------------ */

static int by_time(const void *a, const void *b)
{
	const candidate *x = a, *y = b;
	return x->plan->seconds < y->plan->seconds ? -1 : x->plan->seconds > y->plan->seconds ? 1 : strcmp(x->line, y->line);
}

/* The fastest one that has not been looked around in; -1: there is none that is worth it. */
static int next_of(const searcher *s)
{
	int next = -1;
	double best = INFINITY;
	for (int i = 0; i < s->n; i++) {
		best = fmin(best, s->all[i].plan->seconds);
		if (!s->all[i].expanded && (next < 0 || by_time(&s->all[i], &s->all[next]) < 0))
			next = i;
	}
	return next >= 0 && s->all[next].plan->seconds <= HOPELESS * best ? next : -1;
}

static void look_around(searcher *s)
{
	int next;
	while (s->out->rated + s->out->refused < s->budget && (next = next_of(s)) >= 0) {
		s->all[next].expanded = true;
		expand(s, s->all[next].line);
		rate_waiting(s);
	}
}

/* The choice as it will be made: with its proof, and what is said of it in the caller's arena. */
static bool choose(const searcher *s, heddle_arena *arena, const candidate *c)
{
	const int diagnostics = heddle_diagnostics_count(s->ctx);
	heddle_choice choice = {heddle_arena_strdup(arena, c->line), NULL};
	heddle_program *program = heddle_compile(s->ctx, s->definition, s->target,
						 &(heddle_compile_options){.config = c->line, .plan_arena = arena, .plan = &choice.plan});
	if (program)
		HEDDLE_PUSH(arena, s->out->choice, s->out->n_choice, choice);
	heddle_program_free(program);
	heddle_diagnostics_keep(s->ctx, diagnostics);
	return program != NULL;
}

/* The best `top`, among them the usual one. */
static void choose_best(const searcher *s, heddle_arena *arena, int top, const char *usual)
{
	heddle_search *out = s->out;
	for (int i = 0; i < s->n; i++) {
		const bool own = !strcmp(s->all[i].line, usual), room = out->n_choice < top;
		if (!(room || (own && top > 1)))
			continue;
		out->n_choice -= !room;
		if (choose(s, arena, &s->all[i]))
			out->usual = own ? out->n_choice - 1 : out->usual;
	}
}

int heddle_search_configs(heddle_ctx *ctx, heddle_arena *arena, const heddle_definition *definition, const heddle_target *target,
			  const heddle_search_options *options, heddle_search *out)
{
	*out = (heddle_search){.usual = -1};
	heddle_arena *own = heddle_arena_new();
	searcher s = {.ctx = ctx, .arena = own, .target = target, .out = out};
	candidate first = {.line = options->config ? options->config : ""};
	const int top = options->top > 0 ? options->top : USUAL_TOP;
	s.definition = heddle_definition_gather(ctx, own, heddle_definition_unflatten(ctx, own, definition));
	s.budget = options->budget > 0 ? options->budget : USUAL_BUDGET;
	s.threads = options->threads < 1 ? 1 : options->threads < MOST_THREADS ? options->threads : MOST_THREADS;
	s.steps = heddle_steps_new(s.budget);
	s.given = heddle_config_parse(ctx, own, options->config);
	int64_t *size = HEDDLE_NEW_ARRAY(own, int64_t, s.definition->n_size + 1);
	for (int i = 0; i < s.definition->n_size; i++)
		size[i] = s.definition->size[i]->max;
	s.size = size;
	for (int t = 0; t < s.threads; t++)
		s.arena_of[t] = heddle_arena_new();
	if (s.given)
		rate_one(ctx, own, &s, &first);
	if (first.plan) {
		out->rated = 1;
		HEDDLE_PUSH(own, s.all, s.n, first);
		s.rated = s.n;
		if (!isnan(first.plan->seconds))
			look_around(&s);
		qsort(s.all, (size_t)s.n, sizeof(*s.all), by_time);
		choose_best(&s, arena, top, first.line);
	}
	for (int t = 0; t < s.threads; t++)
		heddle_arena_free(s.arena_of[t]);
	heddle_arena_free(own);
	return first.plan ? 0 : -1;
}
