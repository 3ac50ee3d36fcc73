/* prove: what threads may depend on, the order of dependent instances, races in blocks and between them.
 * SPDX-License-Identifier: MIT
 */
#include "model/prove.h"

#include <isl/id.h>
#include <isl/space.h>
#include <string.h>

/* ---- threads ------------------------------------------------------------------------------------------------------------------- */

/* Does the parameter say where a thread is, other than by the coordinates that the leaf is laid out with? */
static bool foreign(prover *p, const heddle_leaf *leaf, const char *name)
{
	size_t length = name ? strlen(name) : 0;
	if (!heddle_prove_varies(name) || (length > 6 && !strcmp(name + length - 6, "_block")))
		return false;
	if (leaf->kind == HEDDLE_LEAF_BARRIER || leaf->kind == HEDDLE_LEAF_COMBINE || leaf->kind == HEDDLE_LEAF_COPY ||
	    leaf->kind == HEDDLE_LEAF_WAIT)
		return true;
	bool copy = false;
	for (int i = 0; i < p->mapped->n_columns; i++) {
		long long columns = (long long)p->mapped->columns[i];
		bool own = leaf->kind == HEDDLE_LEAF_MOVE && columns == heddle_prove_copy_columns(p, leaf->group);
		bool this = !strcmp(name, heddle_arena_printf(p->scop->arena, "c_row%lld", columns)) ||
			    !strcmp(name, heddle_arena_printf(p->scop->arena, "c_column%lld", columns));
		if (this && own)
			return false;
		copy |= this;
	}
	return copy || leaf->kind == HEDDLE_LEAF_MOVE;
}

int heddle_prove_threads(prover *p)
{
	for (int l = 0; l < p->n_leaf; l++) {
		heddle_leaf *leaf = p->leaf[l];
		isl_set *wide = isl_set_copy(leaf->domain);
		for (int i = (int)isl_set_dim(wide, isl_dim_param) - 1; wide && i >= 0; i--)
			if (foreign(p, leaf, isl_set_get_dim_name(wide, isl_dim_param, (unsigned)i)))
				wide = isl_set_project_out(wide, isl_dim_param, (unsigned)i, 1);
		wide = isl_set_intersect_params(wide, isl_set_copy(p->mapped->context));
		bool same = isl_set_is_subset(wide, leaf->domain) == isl_bool_true;
		isl_set_free(wide);
		if (!same)
			return heddle_prove_violated(p, leaf, "what runs would depend on coordinates that are not its own");
	}
	return 0;
}

/* ---- order --------------------------------------------------------------------------------------------------------------------- */

/* Statements that depend on each other share no loop and follow each other as written; what a store writes was complete. */
int heddle_prove_sequence(prover *p)
{
	for (int d = 0; d < p->scop->n_dependence; d++) {
		const heddle_dependence *dependence = &p->scop->dependence[d];
		if (dependence->input || dependence->source == dependence->sink)
			continue;
		for (int i = 0; i < p->n_leaf; i++)
			for (int j = 0; j < p->n_leaf; j++) {
				const heddle_leaf *a = p->leaf[i], *b = p->leaf[j];
				if (a->stmt != dependence->source || b->stmt != dependence->sink ||
				    a->kind == HEDDLE_LEAF_STORE || a->kind == HEDDLE_LEAF_BARRIER || b->kind == HEDDLE_LEAF_BARRIER ||
				    a->kind == HEDDLE_LEAF_WAIT || b->kind == HEDDLE_LEAF_WAIT)
					continue;
				if (i > j || heddle_prove_common_loops(a, b))
					return heddle_prove_violated(p, b, "it would run before a statement that it depends on");
			}
	}
	return 0;
}

/* Dependences of a statement on itself run forward in time, in one thread or with a barrier (heddle_prove_races). */
int heddle_prove_order(prover *p)
{
	for (int i = 0; i < p->n_leaf; i++) {
		heddle_leaf *leaf = p->leaf[i];
		if (leaf->kind != HEDDLE_LEAF_COMPUTE)
			continue;
		for (int d = 0; d < p->scop->n_dependence; d++) {
			const heddle_dependence *dependence = &p->scop->dependence[d];
			if (dependence->source != leaf->stmt || dependence->sink != leaf->stmt || dependence->input)
				continue;
			isl_map *at = heddle_prove_instances(p, leaf);
			isl_map *pairs = isl_map_apply_range(isl_map_copy(at), isl_map_copy(dependence->relation));
			pairs = isl_map_apply_range(pairs, isl_map_reverse(at)); /* { E -> E' } */
			unsigned skip = (unsigned)p->kernel->n_member + 1;
			isl_map *same_block = isl_map_universe(isl_map_get_space(pairs));
			for (int m = 0; m < p->kernel->n_member; m++)
				same_block = isl_map_equate(same_block, isl_dim_in, m, isl_dim_out, m);
			bool block = isl_map_is_subset(pairs, same_block) == isl_bool_true;
			isl_map_free(same_block);
			pairs = isl_map_project_out(pairs, isl_dim_in, 0, skip);
			pairs = isl_map_project_out(pairs, isl_dim_out, 0, skip);
			isl_space *space = isl_space_domain(isl_map_get_space(pairs));
			isl_map *backward = isl_map_intersect(pairs, isl_map_lex_ge(space));
			bool forward = isl_map_is_empty(backward) == isl_bool_true;
			isl_map_free(backward);
			if (!block)
				return heddle_prove_violated(p, leaf, "dependent instances would be in different blocks");
			if (!forward)
				return heddle_prove_violated(p, leaf, "a dependence would run backwards");
		}
	}
	return 0;
}

/* ---- races ----------------------------------------------------------------------------------------------------------------------- */

/* Does the barrier run in the same round of its loops whenever the leaf does? */
static bool always_with(prover *p, const heddle_leaf *barrier, const heddle_leaf *leaf)
{
	if (heddle_prove_common_loops(barrier, leaf) != barrier->n_loop)
		return false;
	isl_set *needs = heddle_prove_runs(p, leaf);
	isl_size n = isl_set_dim(needs, isl_dim_set);
	needs = isl_set_project_out(needs, isl_dim_set, (unsigned)barrier->n_loop, (unsigned)(n - barrier->n_loop));
	needs = isl_set_set_tuple_name(needs, barrier->name);
	isl_set *has = heddle_prove_runs(p, barrier);
	bool always = isl_set_is_subset(needs, has) == isl_bool_true;
	isl_set_free(needs);
	isl_set_free(has);
	return always;
}

/* Is there a barrier that every pair carried at `level` passes?  level == common: in the same round of all common loops. A
 * barrier after the first access in one of its loops, or before the second one in one of its, lies between them when that
 * loop is inside the one that carries the pair. */
static bool separated(prover *p, int a, int b, int level, int common)
{
	int depth = level < common ? level + 1 : common;
	for (int z = 0; z < p->n_leaf; z++) {
		const heddle_leaf *barrier = p->leaf[z];
		if (barrier->kind != HEDDLE_LEAF_BARRIER || barrier->n_loop < depth)
			continue;
		if (level == common && (z < a || z > b))
			continue;
		if ((z > a && always_with(p, barrier, p->leaf[a])) || (z < b && always_with(p, barrier, p->leaf[b])))
			return true;
	}
	return false;
}

/* { E -> E' } : same block, different thread, carried at `level` of `common` loops */
static __isl_give isl_map *carried(prover *p, __isl_take isl_map *pairs, int level, int common)
{
	int n = p->kernel->n_member;
	isl_map *lower = isl_map_copy(pairs), *upper = pairs;
	for (int m = 0; m < n; m++) {
		lower = isl_map_equate(lower, isl_dim_in, m, isl_dim_out, m);
		upper = isl_map_equate(upper, isl_dim_in, m, isl_dim_out, m);
	}
	lower = isl_map_order_lt(lower, isl_dim_in, n, isl_dim_out, n);
	upper = isl_map_order_gt(upper, isl_dim_in, n, isl_dim_out, n);
	pairs = isl_map_union(lower, upper);
	for (int l = 0; l < level; l++)
		pairs = isl_map_equate(pairs, isl_dim_in, n + 1 + l, isl_dim_out, n + 1 + l);
	if (level < common)
		pairs = isl_map_order_lt(pairs, isl_dim_in, n + 1 + level, isl_dim_out, n + 1 + level);
	return pairs;
}

static bool race_free(prover *p, const event *a, const event *b)
{
	int common = heddle_prove_common_loops(a->leaf, b->leaf);
	for (int level = 0; level <= common; level++) {
		/* in one round the first leaf comes first; a leaf meets itself in one round only as a double write */
		if (level == common && (a->at > b->at || (a->at == b->at && !a->write)))
			continue;
		bool safe = a->at != b->at || level < common ? separated(p, a->at, b->at, level, common) : false;
		if (safe)
			continue;
		isl_map *pairs = isl_map_apply_range(isl_map_copy(a->map), isl_map_reverse(isl_map_copy(b->map)));
		pairs = carried(p, pairs, level, common);
		bool empty = isl_map_is_empty(pairs) == isl_bool_true;
		isl_map_free(pairs);
		if (!empty)
			return false;
	}
	return true;
}

/* Global elements that two blocks share are only read. */
static bool block_free(prover *p, const event *a, const event *b)
{
	isl_map *pairs = isl_map_apply_range(isl_map_copy(a->map), isl_map_reverse(isl_map_copy(b->map)));
	bool good = true;
	for (int m = 0; m < p->kernel->n_member && good; m++) {
		isl_map *equal = isl_map_equate(isl_map_universe(isl_map_get_space(pairs)), isl_dim_in, m, isl_dim_out, m);
		good = isl_map_is_subset(pairs, equal) == isl_bool_true;
		isl_map_free(equal);
	}
	isl_map_free(pairs);
	return good;
}

bool heddle_prove_is_move(const heddle_leaf *leaf)
{
	return leaf->kind == HEDDLE_LEAF_MOVE || leaf->kind == HEDDLE_LEAF_COPY;
}

/* What a round copies it also waits for, before anything reads the tile. */
int heddle_prove_waits(prover *p)
{
	for (int i = 0; i < p->n_leaf; i++) {
		const heddle_leaf *copy = p->leaf[i];
		bool waited = copy->kind != HEDDLE_LEAF_COPY, read = false;
		for (int z = i + 1; z < p->n_leaf && !waited && !read; z++) {
			waited = p->leaf[z]->kind == HEDDLE_LEAF_WAIT && always_with(p, p->leaf[z], copy);
			for (int a = 1; p->leaf[z]->kind == HEDDLE_LEAF_COMPUTE && a < p->leaf[z]->stmt->n_access; a++)
				read |= p->leaf[z]->stmt->access[a].group == copy->group;
		}
		if (!waited)
			return heddle_prove_violated(p, copy, "a copy would not be waited for");
	}
	return 0;
}

int heddle_prove_races(prover *p, event_list *list)
{
	for (int i = 0; i < list->n; i++)
		for (int j = 0; j < list->n; j++) {
			const event *a = &list->item[i], *b = &list->item[j];
			if (a->place != b->place || (!a->write && !b->write))
				continue;
			bool shared = heddle_prove_is_move(a->leaf) || heddle_prove_is_move(b->leaf);
			bool beside = a->leaf->kind == HEDDLE_LEAF_COPY || b->leaf->kind == HEDDLE_LEAF_COPY;
			if ((p->kernel->threads > 1 || beside) && !race_free(p, a, b))
				return heddle_prove_violated(p, b->leaf, "threads would race on an element");
			if (!shared && i <= j && !block_free(p, a, b))
				return heddle_prove_violated(p, b->leaf, "blocks would race on an element");
		}
	return 0;
}
