/* The best candidates of each kernel, of the usual rewrites and fusion or of all that are worth rating, as config lines.
 * SPDX-License-Identifier: MIT
 */
#include "compile/pick_parts.h"

#include "cost/space.h"
#include "model/passes.h"
#include "model/rewrite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	MOST_KERNELS = 64,
	FEW_SEEDS = 50, /* times the variants wanted: seeds with which the kernels of a variant are rated */
};

typedef struct finder {
	const heddle_pick_search *search;
	heddle_config *given;
	heddle_pick_candidates *found;
	heddle_fusion_options how; /* variants are rated */
	double *alone, *least; /* seconds of each statement of the definition in a kernel of its own; and what no rewrite changes of it */
	int n_variant;
	struct variant *variant;
} finder;

const char *heddle_pick_line(heddle_arena *arena, const heddle_config *config)
{
	heddle_text text = {0};
	heddle_config_print(config, &text);
	const char *line = heddle_arena_strdup(arena, heddle_text_str(&text));
	heddle_text_free(&text);
	return line;
}

/* The next part of the line that says more than "none". */
static const char *next_part(const char *at, size_t *length)
{
	static const char *const none[] = {"split=none; ", "share=none; ", "turn=none; "};
	for (size_t i = 0; i < HEDDLE_COUNT(none); i++)
		if (!strncmp(at, none[i], strlen(none[i])))
			at += strlen(none[i]);
	*length = strcspn(at, ";") + (at[strcspn(at, ";")] ? 2 : 0);
	return at;
}

bool heddle_pick_same(const char *a, const char *b)
{
	size_t n = 0, m = 0;
	do {
		a = next_part(a + n, &n);
		b = next_part(b + m, &m);
	} while (n && n == m && !strncmp(a, b, n));
	return !n && !m;
}

/* ---- rewrites and fusions ---------------------------------------------------------------------------------------- */

/* A rewrite, and which statements share a kernel. */
typedef struct variant {
	const char *config; /* with nothing of any kernel but what is given */
	double seconds;	    /* in closed form, with few candidates */
	double compared;    /* by which variants are sorted: DOUBT is added where something is rewritten */
} variant;

/* What a rewrite has to gain to come before the definition as it is. */
static const double DOUBT = 0.1;

/* Of the definition as the config rewrites it, up to a pass; NULL with diagnostics. */
static heddle_scop *scop_of(const finder *p, heddle_definition *rewritten, heddle_config *config, const char *stop)
{
	const heddle_pass_options passes = {.stop = stop};
	heddle_scop *scop = heddle_scop_new(p->search->ctx, p->search->arena, rewritten, p->search->target->descriptor);
	scop->shuffles = p->how.language.shuffles;
	if (heddle_passes_run(scop, config, &passes) < 0) {
		heddle_scop_free(scop);
		return NULL;
	}
	return scop;
}

static void add_variant(finder *p, heddle_config *config, int *fuse, int n_stmt, double seconds, bool rewritten)
{
	config->fuse = fuse;
	config->n_fuse = n_stmt;
	const variant one = {heddle_pick_line(p->search->arena, config), seconds, seconds * (rewritten ? 1 + DOUBT : 1)};
	HEDDLE_PUSH(p->search->arena, p->variant, p->n_variant, one);
}

/* Seconds of one statement in a kernel of its own, and the least of any kernel; a recurrence's first step has none. */
static double alone_seconds(const heddle_scop *scop, heddle_fusion *fusion, const heddle_statement *statement, double *least)
{
	double seconds = 0;
	for (int k = 0; k < scop->n_stmt; k++)
		if (scop->stmt[k]->source == statement) {
			seconds = heddle_fusion_alone(fusion, k);
			*least = heddle_fusion_least(fusion, k);
		}
	return seconds;
}

static void rate_alone(finder *p, const heddle_scop *scop, heddle_fusion *fusion)
{
	const int n = scop->definition->n_statement;
	p->alone = HEDDLE_NEW_ARRAY(p->search->arena, double, n + 1);
	p->least = HEDDLE_NEW_ARRAY(p->search->arena, double, n + 1);
	for (int i = 0; i < n; i++)
		p->alone[i] = alone_seconds(scop, fusion, scop->definition->statement[i], &p->least[i]);
}

/* The definition as the alternative rewrites it, and the config; NULL: refused. */
static heddle_definition *rewritten_by(const finder *p, const heddle_alternative *alternative,
				       heddle_config **config)
{
	*config = heddle_config_parse(p->search->ctx, p->search->arena, p->search->given);
	if (!(*config)->has_split && !(*config)->has_share && !(*config)->has_turn)
		heddle_alternative_config(alternative, *config);
	(*config)->has_split = (*config)->has_share = (*config)->has_turn = true;
	return heddle_definition_rewrite(p->search->ctx, p->search->arena, p->search->definition, *config);
}

/* Seconds of the statement that is rewritten and of the one that the rewrite adds, each in a kernel of its own; INFINITY: the rewrite
 * is refused, or no faster than the statement was. */
static double own_seconds(const finder *p, const heddle_alternative *a)
{
	const int stmt = a->n_split ? a->split[0].stmt : a->turn[0].stmt;
	heddle_config *config;
	const heddle_definition *rewritten = rewritten_by(p, a, &config);
	if (!rewritten)
		return INFINITY;
	heddle_definition part = *rewritten;
	heddle_statement own[2], *list[2] = {&own[0], &own[1]};
	part.statement = list;
	part.n_statement = 2;
	for (int i = 0; i < part.n_statement; i++) {
		own[i] = *rewritten->statement[stmt + i];
		own[i].position = i;
	}
	heddle_scop *scop = scop_of(p, &part, config, "schedule");
	heddle_fusion *fusion = heddle_fusion_new(p->search->arena, scop, &p->how);
	double sum = scop ? 0 : INFINITY, least;
	for (int i = 0; i < part.n_statement && scop; i++)
		sum += alone_seconds(scop, fusion, part.statement[i], &least);
	heddle_scop_free(scop);
	return sum < p->alone[stmt] ? sum : INFINITY;
}

/* Fusions of the definition, rewritten, that are worth rating.  Seconds of the best; INFINITY: the rewrite is refused. */
static double add_rewrite(finder *p, const heddle_alternative *alternative)
{
	const int n_rewrite = alternative->n_split + alternative->n_share + alternative->n_turn;
	double best = INFINITY;
	heddle_config *config;
	heddle_definition *rewritten = rewritten_by(p, alternative, &config);
	heddle_scop *scop = rewritten ? scop_of(p, rewritten, config, "schedule") : NULL;
	heddle_fusion *fusion = heddle_fusion_new(p->search->arena, scop, &p->how);
	if (scop && config->n_fuse) {
		best = 1; /* one only */
		add_variant(p, config, config->fuse, config->n_fuse, best, false);
	} else if (scop) {
		if (!n_rewrite)
			rate_alone(p, scop, fusion);
		int n = 0, *own = heddle_fusion_best(fusion), **other = p->search->wide ? heddle_fusion_others(fusion, &n) : NULL;
		best = heddle_fusion_seconds(fusion, own);
		add_variant(p, config, own, scop->n_stmt, best, n_rewrite > 0);
		for (int i = 0; i < n; i++)
			add_variant(p, config, other[i], scop->n_stmt, heddle_fusion_seconds(fusion, other[i]), n_rewrite > 0);
	}
	heddle_scop_free(scop);
	return best;
}

static bool touches(const heddle_alternative *a, int stmt)
{
	bool found = false;
	for (int i = 0; i < a->n_split; i++)
		found = found || a->split[i].stmt == stmt;
	for (int i = 0; i < a->n_share; i++)
		found = found || a->share[i] == stmt;
	for (int i = 0; i < a->n_turn; i++)
		found = found || a->turn[i].stmt == stmt;
	return found;
}

/* Does the rewrite change a statement that takes a good part of the time, and more than any statement and another launch could? */
static bool matters(const finder *p, const heddle_alternative *a)
{
	const double part = 0.1;
	const double launch = a->n_share ? 0 : p->search->target->descriptor->launch_overhead.value;
	double total = 0;
	for (int s = 0; s < p->search->definition->n_statement; s++)
		total += p->alone[s];
	for (int s = 0; s < p->search->definition->n_statement; s++)
		if (touches(a, s) && (a->n_share || p->alone[s] >= part * total) && p->alone[s] > (1 + DOUBT) * (p->least[s] + launch))
			return true;
	return false;
}

/* Only the best rewrites of a statement, by their own seconds, are rated with the whole definition. */
static bool is_among_best(const finder *p, const heddle_alternative *list, const double *own, int n, int i)
{
	enum { FEW = 2 };
	const int most = p->search->variants > FEW ? p->search->variants : FEW;
	int better = 0;
	for (int k = 1; k < n; k++)
		for (int s = 0; s < p->search->definition->n_statement; s++) {
			const bool first = own[k] < own[i] || (own[k] == own[i] && k < i);
			better += first && touches(&list[i], s) && touches(&list[k], s);
		}
	return own[i] < INFINITY && better < most;
}

/* Add each statement's best rewrite that gains more than DOUBT to `out`; returns how many.  `before`: seconds without a rewrite,
 * of each statement. */
static int join_best(const finder *p, const heddle_alternative *list, int n, const double *seconds, const double *before,
		     heddle_alternative *out)
{
	int joined = 0;
	for (int s = 0; s < p->search->definition->n_statement; s++) {
		int best = -1;
		for (int i = 1; i < n; i++)
			if (touches(&list[i], s) && (best < 0 ? seconds[i] * (1 + DOUBT) < before[s] : seconds[i] < seconds[best]))
				best = i;
		joined += best >= 0 && heddle_alternative_add(out, &list[best]);
	}
	return joined;
}

/* Variants: nothing rewritten; the best rewrites of each statement, one at a time; those that make the definition faster,
 * together; and those that make their own statement faster, together, since several may only gain when all are applied. */
static int add_variants(finder *p)
{
	const heddle_pick_search *search = p->search;
	heddle_alternative all = {0}, each = {0};
	int n = 0;
	const double plain = add_rewrite(p, &all);
	if (!isfinite(plain))
		return -1;
	if (p->given->n_kernel || p->given->n_fuse || p->given->has_split || p->given->has_share || p->given->has_turn)
		return 0; /* who names kernels numbers the statements of the definition */
	int64_t *size = HEDDLE_NEW_ARRAY(search->arena, int64_t, search->definition->n_size + 1);
	for (int i = 0; i < search->definition->n_size; i++) {
		const heddle_expr expr = {.kind = HEDDLE_EXPR_SIZE, .size = search->definition->size[i]};
		const heddle_scop none = {0};
		size[i] = heddle_scop_estimate(&none, &expr);
	}
	const int diagnostics = heddle_diagnostics_count(search->ctx);
	heddle_alternative *list = heddle_space_alternatives(search->arena, search->definition, search->target->descriptor, size, &n);
	double *seconds = HEDDLE_NEW_ARRAY(search->arena, double, n + 1);
	double *own = HEDDLE_NEW_ARRAY(search->arena, double, n + 1);
	double *whole = HEDDLE_NEW_ARRAY(search->arena, double, search->definition->n_statement + 1);
	for (int i = 1; i < n; i++) {
		seconds[i] = own[i] = INFINITY;
		if (matters(p, &list[i]))
			own[i] = list[i].n_share ? 0 : own_seconds(p, &list[i]); /* a share is rated with the definition only */
	}
	for (int i = 1; i < n; i++)
		if (is_among_best(p, list, own, n, i))
			seconds[i] = add_rewrite(p, &list[i]);
	for (int i = 1; i < n; i++)
		own[i] = list[i].n_share ? INFINITY : own[i];
	for (int s = 0; s < search->definition->n_statement; s++)
		whole[s] = plain;
	if (join_best(p, list, n, seconds, whole, &all) > 1)
		add_rewrite(p, &all);
	if (join_best(p, list, n, own, p->alone, &each) > 1 && memcmp(&all, &each, sizeof(all)) != 0)
		add_rewrite(p, &each);
	heddle_diagnostics_keep(search->ctx, diagnostics);
	return 0;
}

static int by_seconds(const void *a, const void *b)
{
	const variant *x = a, *y = b;
	return x->compared < y->compared ? -1 : x->compared > y->compared ? 1 : strcmp(x->config, y->config);
}

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

/* The best candidates of each kernel of the variant, as configs: number j has each kernel's j-th, or its last one. */
static int add_candidates(finder *p, const variant *v)
{
	const heddle_pick_search *search = p->search;
	heddle_space_found found[MOST_KERNELS];
	heddle_outline *outline[MOST_KERNELS];
	int most = 1;
	heddle_config *config = heddle_config_parse(search->ctx, search->arena, v->config);
	heddle_definition *rewritten = config ? heddle_definition_rewrite(search->ctx, search->arena, search->definition, config) : NULL;
	heddle_scop *scop = rewritten ? scop_of(p, rewritten, config, "fuse") : NULL;
	if (!scop || scop->n_kernel > MOST_KERNELS) {
		heddle_scop_free(scop);
		return -1;
	}
	for (int k = 0; k < scop->n_kernel; k++) {
		outline[k] = heddle_outline_new(search->arena, scop, scop->kernel[k], &p->how.language, NULL);
		heddle_outline_give(search->arena, outline[k], p->given);
		found[k] = heddle_space_best(search->arena, outline[k], &search->space, search->most);
		most = found[k].n > most ? found[k].n : most;
	}
	for (int j = 0; j < most; j++) {
		heddle_config *copy = heddle_config_parse(search->ctx, search->arena, v->config);
		heddle_pick_candidate one = {.variant = p->found->n_variant};
		double slowest = 0;
		copy->n_kernel = 0;
		for (int k = 0; k < scop->n_kernel; k++) {
			if (!found[k].n)
				continue;
			const heddle_ranked *best = &found[k].best[j < found[k].n ? j : found[k].n - 1];
			if (best->seconds > slowest) /* the kernel that takes most of the time */
				one.kind = best->kind;
			slowest = fmax(slowest, best->seconds);
			one.expected += best->seconds;
			heddle_candidate_config(outline[k], &best->candidate, copy);
		}
		one.compared = one.expected * (v->compared / v->seconds);
		heddle_config_overlay(copy, p->given);
		one.config = heddle_pick_line(search->arena, copy);
		HEDDLE_PUSH(search->arena, p->found->item, p->found->n, one);
	}
	p->found->n_variant++;
	heddle_scop_free(scop);
	return 0;
}

static int by_compared(const void *a, const void *b)
{
	const heddle_pick_candidate *x = a, *y = b;
	const int order = x->compared < y->compared ? -1 : x->compared > y->compared ? 1 : x->variant - y->variant;
	return order ? order : strcmp(x->config, y->config);
}

/* In order, each config once. */
static void sort_candidates(heddle_pick_candidates *found)
{
	int n = 0;
	qsort(found->item, (size_t)found->n, sizeof(*found->item), by_compared);
	for (int i = 0; i < found->n; i++) {
		bool known = false;
		for (int j = 0; j < n && !known; j++)
			known = heddle_pick_same(found->item[i].config, found->item[j].config);
		if (!known)
			found->item[n++] = found->item[i];
	}
	found->n = n;
}

int heddle_pick_search_candidates(const heddle_pick_search *search, heddle_pick_candidates *found)
{
	finder p = {.search = search, .found = found, .given = heddle_config_parse(search->ctx, search->arena, search->given),
		    .how = {heddle_target_space_language(search->target),
			    {.seeds = FEW_SEEDS * search->variants, .around = 1}}};
	*found = (heddle_pick_candidates){0};
	if (!p.given || add_variants(&p) < 0)
		return -1;
	const variant plain = p.variant[0];
	add_candidates(&p, &plain);
	qsort(p.variant, (size_t)p.n_variant, sizeof(*p.variant), by_seconds);
	for (int v = 0; v < p.n_variant && found->n_variant < search->variants; v++)
		if (strcmp(p.variant[v].config, plain.config) != 0 && (v == 0 || strcmp(p.variant[v].config, p.variant[v - 1].config) != 0))
			add_candidates(&p, &p.variant[v]);
	sort_candidates(found);
	return 0;
}
