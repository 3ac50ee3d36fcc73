/* The best candidates of each kernel, of the usual rewrites and fusion or of all that are worth rating, as config lines.
 * SPDX-License-Identifier: MIT
 */
#include "compile/pick_parts.h"

#include "cost/cost.h"
#include "cost/space.h"
#include "model/passes.h"
#include "model/rewrite.h"

#include <stdlib.h>
#include <string.h>

enum {
	MOST_KERNELS = 64,
	GIVEN_FACTOR = 4, /* candidates for each one that is wanted, where given parts make many of them alike */
};

typedef struct finder {
	const heddle_pick_search *search;
	const heddle_config *given;
	heddle_pick_candidates *found;
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

static heddle_space_language language_of(const heddle_target *target)
{
	const heddle_language l = heddle_target_language(target);
	return (heddle_space_language){.max_vector = l.max_vector, .max_bytes = l.max_bytes, .zips = l.zips, .unaligned = l.unaligned_vectors,
				       .vector_arithmetic = l.vector_arithmetic,
				       .shuffles = l.shuffles && target->descriptor->shuffles};
}

/* The best candidates of each kernel that the scop has after pass `fuse`, as configs: number j has each kernel's j-th, or its last one. */
static int add_candidates(finder *p, heddle_scop *scop, const heddle_config *config)
{
	const heddle_space_language language = language_of(p->search->target);
	const heddle_space_options options = {.seeds = p->search->seeds, .around = p->search->around};
	heddle_space_found found[MOST_KERNELS];
	heddle_outline *outline[MOST_KERNELS];
	int most = 0;
	if (scop->n_kernel > MOST_KERNELS)
		return -1;
	for (int k = 0; k < scop->n_kernel; k++) {
		outline[k] = heddle_outline_new(p->search->arena, scop, scop->kernel[k], &language, NULL);
		found[k] = heddle_space_best(p->search->arena, outline[k], &options, p->search->most * (p->given->n_kernel ? GIVEN_FACTOR : 1));
		most = found[k].n > most ? found[k].n : most;
	}
	for (int j = 0; j < most; j++) {
		heddle_config *copy = heddle_config_parse(p->search->ctx, p->search->arena, heddle_pick_line(p->search->arena, config));
		heddle_pick_candidate one = {.variant = p->found->n_variant};
		if (copy)
			copy->n_kernel = 0;
		for (int k = 0; k < scop->n_kernel && copy; k++) {
			if (!found[k].n)
				continue;
			const heddle_ranked *best = &found[k].best[j < found[k].n ? j : found[k].n - 1];
			one.expected += best->seconds;
			heddle_candidate_config(outline[k], &best->candidate, copy);
		}
		if (!copy)
			return -1;
		heddle_config_overlay(copy, p->given);
		one.config = heddle_pick_line(p->search->arena, copy);
		HEDDLE_PUSH(p->search->arena, p->found->item, p->found->n, one);
	}
	p->found->n_variant++;
	return 0;
}

/* Programs of the definition as rewritten by the config, with its kernels or, where it says nothing of them, with all that are worth rating. */
static int add_rewrite(finder *p, heddle_config *config, bool usual)
{
	const heddle_pass_options passes = {.complete = heddle_cost_complete, .stop = config->n_fuse || usual ? "fuse" : "schedule"};
	heddle_definition *rewritten = heddle_definition_rewrite(p->search->ctx, p->search->arena, p->search->definition, config);
	int n = 0, status = -1;
	if (!rewritten)
		return -1;
	heddle_scop *scop = heddle_scop_new(p->search->ctx, p->search->arena, rewritten, p->search->target->descriptor);
	scop->shuffles = language_of(p->search->target).shuffles;
	const bool given = config->n_fuse || usual;
	if (heddle_passes_run(scop, config, &passes) == 0)
		status = given ? add_candidates(p, scop, config) : 0;
	int **fusion = status == 0 && !given ? heddle_space_fusions(p->search->arena, scop, &n) : NULL;
	for (int f = 0; f < n; f++) {
		config->fuse = fusion[f];
		config->n_fuse = scop->n_stmt;
		scop->n_kernel = 0;
		if (heddle_pass_fuse(scop) == 0)
			add_candidates(p, scop, config);
	}
	heddle_scop_free(scop);
	return status;
}

static void add_variants(finder *p)
{
	int n = 0;
	heddle_config *config = heddle_config_parse(p->search->ctx, p->search->arena, p->search->given);
	int64_t *size = HEDDLE_NEW_ARRAY(p->search->arena, int64_t, p->search->definition->n_size + 1);
	for (int i = 0; i < p->search->definition->n_size; i++) {
		const heddle_expr expr = {.kind = HEDDLE_EXPR_SIZE, .size = p->search->definition->size[i]};
		const heddle_scop none = {0};
		size[i] = heddle_scop_estimate(&none, &expr);
	}
	const bool rewrites = config->has_split || config->has_share || config->has_turn;
	heddle_alternative *list = rewrites ? NULL : heddle_space_alternatives(p->search->arena, p->search->definition, p->search->target->descriptor, size, &n);
	for (int i = 0; i < n; i++) {
		heddle_config *copy = heddle_config_parse(p->search->ctx, p->search->arena, p->search->given);
		heddle_alternative_config(&list[i], copy);
		copy->has_split = copy->has_share = copy->has_turn = true;
		add_rewrite(p, copy, false);
	}
}

static int by_expected(const void *a, const void *b)
{
	const heddle_pick_candidate *x = a, *y = b;
	const int order = x->expected < y->expected ? -1 : x->expected > y->expected ? 1 : x->variant - y->variant;
	return order ? order : strcmp(x->config, y->config);
}

/* In order, each config once. */
static void sort_candidates(heddle_pick_candidates *found)
{
	int n = 0;
	qsort(found->item, (size_t)found->n, sizeof(*found->item), by_expected);
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
	const struct heddle_descriptor *descriptor = search->target->descriptor;
	heddle_config *config = heddle_config_parse(search->ctx, search->arena, search->given);
	finder p = {.search = search, .given = heddle_config_parse(search->ctx, search->arena, search->given), .found = found};
	*found = (heddle_pick_candidates){0};
	if (!config || !p.given)
		return -1;
	heddle_cost_split(search->arena, config, search->definition, descriptor);
	heddle_cost_share(search->arena, config, search->definition, descriptor);
	heddle_cost_turn(search->arena, config, search->definition, descriptor);
	if (add_rewrite(&p, config, true) < 0)
		return -1;
	if (search->variants && !p.given->n_kernel) /* other rewrites and fusions number statements and kernels in other ways */
		add_variants(&p);
	sort_candidates(found);
	return 0;
}
