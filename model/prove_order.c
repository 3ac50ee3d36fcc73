/* prove: what threads may depend on, the order of dependent instances, races in blocks and between them.
 * SPDX-License-Identifier: MIT
 */
#include "model/prove.h"

#include <isl/space.h>
#include <string.h>

/* ---- threads ------------------------------------------------------------------------------------------------------------------- */

int heddle_prove_threads(prover *p)
{
	for (int l = 0; l < p->n_leaf; l++) {
		heddle_leaf *leaf = p->leaf[l];
		isl_set *wide = heddle_prove_without_foreign(p, leaf, heddle_prove_own_copy(leaf->domain));
		wide = isl_set_intersect_params(wide, isl_set_copy(p->mapped->context));
		if (!heddle_prove_inside(wide, heddle_prove_own_copy(leaf->domain)))
			return heddle_prove_violated(p, leaf, "what runs would depend on coordinates that are not its own");
	}
	return 0;
}

/* ---- order --------------------------------------------------------------------------------------------------------------------- */

/* { L[x] -> S[d] } of what a leaf has a part in: what starts or ends a sum, in all of its terms. */
static __isl_give isl_map *parts_of(prover *p, const heddle_leaf *leaf)
{
	const bool ends = leaf->kind == HEDDLE_LEAF_INITIALISE || leaf->kind == HEDDLE_LEAF_COMBINE || leaf->kind == HEDDLE_LEAF_FINISH;
	isl_map *parts = heddle_prove_instances(p, leaf);
	for (int d = 0; d < leaf->stmt->n_dim && ends; d++)
		if (leaf->stmt->dim[d].reduction)
			parts = isl_map_eliminate(parts, isl_dim_out, (unsigned)d, 1);
	return parts;
}

/* { A[x] -> B[x] } of instances of two leaves that depend on each other. */
static __isl_give isl_map *dependent(prover *p, const heddle_leaf *a, const heddle_leaf *b, const heddle_dependence *dependence)
{
	isl_map *pairs = isl_map_apply_range(parts_of(p, a), isl_map_copy(dependence->relation));
	return isl_map_apply_range(pairs, isl_map_reverse(parts_of(p, b)));
}

/* Are there none in two leaves?  Full tiles and the rest of a statement are leaves of their own. */
static bool independent(prover *p, const heddle_leaf *a, const heddle_leaf *b, const heddle_dependence *dependence)
{
	isl_map *pairs = dependent(p, a, b, dependence);
	const bool none = isl_map_is_empty(pairs) == isl_bool_true;
	isl_map_free(pairs);
	return none;
}

/* Are all of them, of leaves in order, in the same step of the loops that the leaves share? */
static bool in_the_same_step(prover *p, const heddle_leaf *a, const heddle_leaf *b, const heddle_dependence *dependence)
{
	const int common = heddle_prove_common_loops(a, b);
	if (!common)
		return true;
	isl_map *pairs = dependent(p, a, b, dependence);
	isl_map *same = isl_map_universe(isl_map_get_space(pairs));
	for (int i = 0; i < common; i++)
		same = isl_map_equate(same, isl_dim_in, i, isl_dim_out, i);
	return heddle_prove_subset(pairs, same);
}

/* Does the leaf move a tensor that the dependence is not about? */
static bool moves_another(const heddle_leaf *leaf, const heddle_dependence *dependence)
{
	return heddle_prove_is_move(leaf) && leaf->group->tensor != dependence->tensor;
}

/* What comes after a sum's terms, or before them, reads nothing but the sum itself: has it no part in what ends in one of its reads? */
static bool reads_nothing_of(const heddle_leaf *leaf, const heddle_dependence *dependence)
{
	return dependence->from != 0 && (leaf->kind == HEDDLE_LEAF_COMBINE || leaf->kind == HEDDLE_LEAF_FINISH || leaf->kind == HEDDLE_LEAF_INITIALISE);
}

/* A sum that starts in registers of its own, before what it reads is there. */
static bool starts_apart(const heddle_leaf *leaf, const heddle_dependence *dependence)
{
	return leaf->kind == HEDDLE_LEAF_INITIALISE && (!leaf->stmt->in_group || dependence->to != 0);
}

/* Statements that depend on each other follow each other as written, in each step of loops that they share; what a store writes was
 * complete. */
int heddle_prove_sequence(prover *p)
{
	for (int d = 0; d < p->scop->n_dependence; d++) {
		const heddle_dependence *dependence = &p->scop->dependence[d];
		if (dependence->input || dependence->source == dependence->sink)
			continue;
		for (int i = 0; i < p->n_leaf; i++)
			for (int j = 0; j < p->n_leaf && p->leaf[i]->stmt == dependence->source; j++) {
				const heddle_leaf *a = p->leaf[i], *b = p->leaf[j];
				if (b->stmt != dependence->sink || moves_another(a, dependence) || moves_another(b, dependence) || starts_apart(b, dependence) ||
				    a->kind == HEDDLE_LEAF_STORE || reads_nothing_of(a, dependence) || a->kind == HEDDLE_LEAF_BARRIER || b->kind == HEDDLE_LEAF_BARRIER ||
				    a->kind == HEDDLE_LEAF_WAIT || b->kind == HEDDLE_LEAF_WAIT)
					continue;
				if (i > j ? !independent(p, a, b, dependence) : !in_the_same_step(p, a, b, dependence))
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
			isl_map *at = heddle_prove_with_coordinates(p, heddle_prove_instances(p, leaf), 0);
			isl_map *pairs = isl_map_apply_range(isl_map_copy(at), isl_map_copy(dependence->relation));
			pairs = isl_map_apply_range(pairs, isl_map_reverse(at)); /* { [blocks, threads, x] -> [blocks', threads', x'] } */
			unsigned skip = (unsigned)(p->kernel->n_member + heddle_prove_n_coordinate(p));
			isl_map *same_block = isl_map_universe(isl_map_get_space(pairs));
			for (int m = 0; m < p->kernel->n_member; m++)
				same_block = isl_map_equate(same_block, isl_dim_in, m, isl_dim_out, m);
			bool block = heddle_prove_subset(isl_map_copy(pairs), same_block);
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
	signed char *known = &p->always[barrier->number * p->mapped->n_leaf + leaf->number];
	if (!*known) {
		isl_set *has = isl_set_add_dims(heddle_prove_runs(p, barrier), isl_dim_set, (unsigned)(leaf->n_loop - barrier->n_loop));
		*known = heddle_prove_inside(heddle_prove_runs(p, leaf), isl_set_set_tuple_name(has, leaf->name)) ? 1 : -1;
	}
	return *known > 0;
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

bool heddle_prove_is_move(const heddle_leaf *leaf)
{
	return leaf->kind == HEDDLE_LEAF_MOVE || leaf->kind == HEDDLE_LEAF_COPY;
}

/* { [blocks, threads, x] -> [blocks', threads', x'] } that touch one element.  Statements alone are told apart by the coordinates
 * of their threads, which is easier than by their numbers. */
static __isl_give isl_map *meetings(prover *p, event *a, event *b)
{
	if (heddle_prove_is_move(a->leaf) || heddle_prove_is_move(b->leaf)) {
		for (event *e = a; e; e = e == a && b != a ? b : NULL)
			if (!e->numbered)
				e->numbered = heddle_prove_with_number(p, e->leaf, heddle_prove_where_it_runs(p, e->leaf, isl_map_copy(e->access)));
		return isl_map_apply_range(isl_map_copy(a->numbered), isl_map_reverse(isl_map_copy(b->numbered)));
	}
	for (event *e = a; e; e = e == a && b != a ? b : NULL)
		if (!e->coordinates)
			e->coordinates = heddle_prove_with_coordinates(p, heddle_prove_where_it_runs(p, e->leaf, isl_map_copy(e->access)), 0);
	return isl_map_apply_range(isl_map_copy(a->coordinates), isl_map_reverse(isl_map_copy(b->coordinates)));
}

/* Unlike isl's own test it does not ask first whether either is empty. */
static bool disjoint(__isl_keep isl_map *a, __isl_take isl_map *b)
{
	isl_map *both = isl_map_intersect(b, isl_map_copy(a));
	bool none = isl_map_is_empty(both) == isl_bool_true;
	isl_map_free(both);
	return none;
}

/* Are two threads of one block never in `meet` when it is carried at `level` of `common` loops?  The conditions are put together
 * apart from `meet`, which has existentials: each of them would cost a test of the whole. */
static bool never_carried(prover *p, __isl_take isl_map *meet, int n_thread, int level, int common)
{
	int n = p->kernel->n_member;
	isl_map *same = isl_map_universe(isl_map_get_space(meet));
	for (int m = 0; m < n; m++)
		same = isl_map_equate(same, isl_dim_in, m, isl_dim_out, m);
	for (int l = 0; l < level; l++)
		same = isl_map_equate(same, isl_dim_in, n + n_thread + l, isl_dim_out, n + n_thread + l);
	if (level < common)
		same = isl_map_order_lt(same, isl_dim_in, n + n_thread + level, isl_dim_out, n + n_thread + level);
	bool never = true;
	for (int t = 0; t < n_thread && never; t++) {
		isl_map *before = isl_map_order_lt(isl_map_copy(same), isl_dim_in, n + t, isl_dim_out, n + t);
		isl_map *after = isl_map_order_gt(isl_map_copy(same), isl_dim_in, n + t, isl_dim_out, n + t);
		never = disjoint(meet, before);
		never = disjoint(meet, after) && never;
		same = isl_map_equate(same, isl_dim_in, n + t, isl_dim_out, n + t);
	}
	isl_map_free(same);
	isl_map_free(meet);
	return never;
}

static bool race_free(prover *p, event *a, event *b)
{
	int common = heddle_prove_common_loops(a->leaf, b->leaf);
	for (int level = 0; level <= common; level++) {
		/* in one round the first leaf comes first; a leaf meets itself in one round only as a double write */
		if (level == common && (a->at > b->at || (a->at == b->at && !a->write)))
			continue;
		bool safe = a->at != b->at || level < common ? separated(p, a->at, b->at, level, common) : false;
		if (safe)
			continue;
		if (a->at == b->at && a->leaf->kind == HEDDLE_LEAF_MOVE && heddle_prove_tells_mover(p, a->leaf, level))
			continue;
		int n_thread = heddle_prove_is_move(a->leaf) || heddle_prove_is_move(b->leaf) ? 1 : heddle_prove_n_coordinate(p);
		if (!never_carried(p, meetings(p, a, b), n_thread, level, common))
			return false;
	}
	return true;
}

/* Global elements that two blocks share are only read. */
static bool block_free(prover *p, event *a, event *b)
{
	isl_map *pairs = meetings(p, a, b), *equal = isl_map_universe(isl_map_get_space(pairs));
	for (int m = 0; m < p->kernel->n_member; m++)
		equal = isl_map_equate(equal, isl_dim_in, m, isl_dim_out, m);
	return heddle_prove_subset(pairs, equal);
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

/* { L[x] -> T[e] } of an access that is one function; NULL where it is not. */
static __isl_give isl_multi_aff *element_function(const event *e)
{
	isl_pw_multi_aff *f = isl_pw_multi_aff_from_multi_pw_aff(heddle_prove_index_of(e->leaf, e->of));
	isl_multi_aff *whole = isl_pw_multi_aff_isa_multi_aff(f) == isl_bool_true ? isl_pw_multi_aff_as_multi_aff(isl_pw_multi_aff_copy(f)) : NULL;
	isl_pw_multi_aff_free(f);
	return whole;
}

/* Do instances of one leaf that differ touch elements that differ, by two accesses, of which one may be the other? */
static bool instances_apart(prover *p, const event *a, const event *b)
{
	isl_multi_aff *f = element_function(a), *g = a == b ? isl_multi_aff_copy(f) : element_function(b);
	const bool apart = f && g && isl_multi_aff_plain_is_equal(f, g) == isl_bool_true && heddle_prove_tells_all(p, a->leaf, f, false);
	isl_multi_aff_free(f);
	isl_multi_aff_free(g);
	return apart;
}

/* Do two accesses, of instances that differ, touch elements that differ?  The write of a statement does, where each of its instances
 * runs once (heddle_prove_once, heddle_prove_finish) and writes an element of its own. */
static bool apart(prover *p, const event *a, const event *b)
{
	if (!a->of || !b->of || !a->of->affine || !b->of->affine)
		return false;
	if (a->at == b->at)
		return instances_apart(p, a, b);
	return a->write && b->write && a->leaf->stmt == b->leaf->stmt && a->leaf->kind == HEDDLE_LEAF_COMPUTE &&
	       b->leaf->kind == HEDDLE_LEAF_COMPUTE && !a->leaf->stmt->reduction && isl_map_plain_is_injective(a->of->relation) == isl_bool_true;
}

int heddle_prove_races(prover *p, event_list *list)
{
	for (int i = 0; i < list->n; i++)
		for (int j = 0; j < list->n; j++) {
			event *a = &list->item[i], *b = &list->item[j];
			if (a->place != b->place || (!a->write && !b->write) || apart(p, a, b))
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
