/* prove: accumulators are initialised, added to, combined and finished, in this order and by those who hold them.
 * SPDX-License-Identifier: MIT
 */
#include "model/prove.h"

#include <isl/local_space.h>
#include <isl/space.h>

/* ---- sums ---------------------------------------------------------------------------------------------------------------------- */

int heddle_prove_common_loops(const heddle_leaf *a, const heddle_leaf *b)
{
	int n = 0;
	while (n < a->n_loop && n < b->n_loop && a->loop[n] == b->loop[n])
		n++;
	return n;
}

/* Loops around one life of the accumulators: over tiles of dimensions that are not reduced, and rounds where they are outside. */
static int life_loops(const heddle_leaf *leaf)
{
	const bool rounds = leaf->stmt->kernel->rounds_outside;
	int n = 0;
	while (n < leaf->n_loop && leaf->loop[n]->dim >= 0 && !leaf->stmt->dim[leaf->loop[n]->dim].reduction &&
	       (leaf->loop[n]->part == HEDDLE_PART_TILE || (rounds && leaf->loop[n]->part == HEDDLE_PART_ROUND)))
		n++;
	return n;
}

/* { L[x] -> [d] } without the reduced dimensions; then the vector members of those that the accumulator keeps apart. */
static __isl_give isl_multi_aff *accumulator(const heddle_leaf *leaf, bool members)
{
	const heddle_stmt *stmt = leaf->stmt;
	isl_multi_aff *at = isl_multi_aff_reset_tuple_id(isl_multi_aff_copy(leaf->instance), isl_dim_out);
	for (int d = stmt->n_dim - 1; d >= 0; d--)
		if (stmt->dim[d].reduction)
			at = isl_multi_aff_drop_dims(at, isl_dim_out, (unsigned)d, 1);
	for (int i = 0; i < leaf->n_loop && members; i++) {
		int d = leaf->loop[i]->dim;
		if (d < 0 || leaf->loop[i]->part != HEDDLE_PART_VEC || !stmt->dim[d].reduction)
			continue;
		isl_local_space *x = isl_local_space_from_space(isl_multi_aff_get_domain_space(at));
		at = isl_multi_aff_flat_range_product(
			at, isl_multi_aff_from_aff(isl_aff_var_on_domain(x, isl_dim_set, (unsigned)i)));
	}
	return isl_multi_aff_reset_tuple_id(at, isl_dim_out);
}

/* { L[x] -> accumulator } of one thread */
static __isl_give isl_map *holds(prover *p, const heddle_leaf *leaf, bool members)
{
	return isl_map_reset_tuple_id(heddle_prove_where_it_runs(p, leaf, isl_map_from_multi_aff(accumulator(leaf, members))), isl_dim_in);
}

/* For some lane. */
static __isl_give isl_map *without_lanes(__isl_take isl_map *map)
{
	int lane = isl_map_find_dim_by_name(map, isl_dim_param, "c_lane");
	return lane < 0 ? map : isl_map_project_out(map, isl_dim_param, (unsigned)lane, 1);
}

/* The leaves of one reduction in a branch, by position; -1: none. */
typedef struct sum {
	const heddle_stmt *stmt;
	int initialise, combine, finish, first, last; /* first and last compute */
	bool lanes;
} sum;

static int find_sum(prover *p, const heddle_stmt *stmt, sum *s)
{
	*s = (sum){stmt, -1, -1, -1, -1, -1, false};
	for (int d = 0; d < stmt->n_dim; d++)
		s->lanes |= stmt->dim[d].reduction && stmt->dim[d].reduce == HEDDLE_REDUCE_LANES;
	for (int i = 0; i < p->n_leaf; i++) {
		const heddle_leaf *leaf = p->leaf[i];
		if (leaf->stmt != stmt)
			continue;
		int *one = leaf->kind == HEDDLE_LEAF_INITIALISE ? &s->initialise
			   : leaf->kind == HEDDLE_LEAF_COMBINE	? &s->combine
			   : leaf->kind == HEDDLE_LEAF_FINISH	? &s->finish
								: NULL;
		if (one && *one >= 0)
			return heddle_prove_violated(p, leaf, "a sum would be started or finished twice");
		if (one)
			*one = i;
		if (leaf->kind == HEDDLE_LEAF_COMPUTE)
			s->first = s->first < 0 ? i : s->first, s->last = i;
	}
	return 0;
}

/* Initialised, then summed, then combined, then finished, in the same round of the loops around. */
static int check_sum_order(prover *p, const sum *s)
{
	const heddle_leaf *start = p->leaf[s->initialise];
	int life = life_loops(start);
	if ((s->first >= 0 && s->first < s->initialise) || (s->combine >= 0 && (s->combine < s->last || s->combine < s->initialise)) ||
	    (s->finish >= 0 && (s->finish < s->last || s->finish < s->combine || s->finish < s->initialise)))
		return heddle_prove_violated(p, start, "a sum would be used before it is complete");
	for (int i = 0; i < p->n_leaf; i++) {
		const heddle_leaf *leaf = p->leaf[i];
		bool part = leaf->kind == HEDDLE_LEAF_COMPUTE || leaf->kind == HEDDLE_LEAF_COMBINE || leaf->kind == HEDDLE_LEAF_FINISH;
		if (leaf->stmt == s->stmt && part && (life_loops(leaf) != life || heddle_prove_common_loops(start, leaf) != life))
			return heddle_prove_violated(p, leaf, "a sum would live across rounds of its loops");
	}
	return 0;
}

/* Is what the leaf holds held by the instance of the other leaf that is laid out alike? */
static bool held_alike(prover *p, __isl_keep isl_map *held, const heddle_leaf *leaf, const heddle_leaf *other, bool members)
{
	if (heddle_prove_common_loops(leaf, other) < life_loops(other))
		return false;
	isl_multi_aff *there = heddle_prove_alike(leaf, other), *own = accumulator(leaf, members);
	isl_multi_aff *by = isl_multi_aff_pullback_multi_aff(accumulator(other, members), isl_multi_aff_copy(there));
	const bool same = isl_multi_aff_plain_is_equal(own, by) == isl_bool_true;
	isl_multi_aff_free(own);
	isl_multi_aff_free(by);
	if (same)
		return heddle_prove_runs_at(p, isl_set_set_tuple_name(isl_map_domain(isl_map_copy(held)), leaf->name), other, there);
	isl_multi_aff_free(there);
	return false;
}

/* Is everything that `leaf` holds also held by the leaf at `other`, in the same life, by the same thread or some lane of it? */
static bool held_by(prover *p, __isl_take isl_map *held, const heddle_leaf *leaf, int other, bool members, bool lanes)
{
	if (held_alike(p, held, leaf, p->leaf[other], members)) {
		isl_map_free(held);
		return true;
	}
	isl_map *by = heddle_prove_first_loops(holds(p, p->leaf[other], members), life_loops(p->leaf[other]));
	return heddle_prove_subset_beyond(held, lanes ? without_lanes(by) : by);
}

/* Results that do not exist have sums that nobody keeps. */
static bool computed_is_finished(prover *p, const sum *s, int i)
{
	isl_map *held = holds(p, p->leaf[i], false);
	isl_set *exists = heddle_prove_own_copy(s->stmt->lhs);
	for (int d = s->stmt->n_dim - 1; d >= 0; d--)
		if (s->stmt->dim[d].reduction)
			exists = isl_set_project_out(exists, isl_dim_set, (unsigned)d, 1);
	held = isl_map_intersect_range(held, isl_set_reset_tuple_id(exists));
	if (!s->lanes && p->kernel->lanes > 1 && heddle_prove_replicated(p, p->leaf[i]) &&
	    s->stmt->access[0].group->space == HEDDLE_SPACE_GLOBAL)
		held = heddle_prove_first_lane(held);
	return held_by(p, held, p->leaf[i], s->finish, false, s->lanes);
}

static int check_finish(prover *p, const sum *s)
{
	const heddle_leaf *leaf = p->leaf[s->finish];
	bool global = s->stmt->access[0].group->space == HEDDLE_SPACE_GLOBAL;
	if (!held_by(p, holds(p, leaf, false), leaf, s->initialise, false, false))
		return heddle_prove_violated(p, leaf, "a thread would finish a sum that it does not hold");
	for (int i = 0; i < p->n_leaf; i++)
		if (p->leaf[i]->stmt == s->stmt && p->leaf[i]->kind == HEDDLE_LEAF_COMPUTE && !computed_is_finished(p, s, i))
			return heddle_prove_violated(p, leaf, "a part of a sum would be in a thread that does not finish it");
	if (!global)
		return 0;
	if (!heddle_prove_single(p, leaf, false))
		return heddle_prove_violated(p, leaf, "a sum would be finished twice");
	return heddle_prove_inside(heddle_prove_runs(p, leaf), heddle_prove_that_are_in(leaf, s->stmt->lhs)) ? 0 : heddle_prove_violated(p, leaf, "a sum that does not exist would be finished");
}

/* Every result that belongs to the blocks of the branch is finished; sums in the target's own registers are initialised. */
static int check_results(prover *p, const sum *s)
{
	const heddle_stmt *stmt = s->stmt;
	int at = stmt->in_group ? s->initialise : s->finish;
	isl_set *needed = heddle_prove_in_blocks(p, stmt, heddle_prove_own_copy(stmt->initialise || stmt->in_group ? stmt->lhs : stmt->domain));
	for (int d = stmt->n_dim - 1; d >= 0; d--)
		if (stmt->dim[d].reduction)
			needed = isl_set_project_out(needed, isl_dim_set, (unsigned)d, 1);
	needed = isl_set_reset_tuple_id(needed);
	if (at >= 0)
		needed = isl_set_subtract(needed, heddle_prove_range_of_threads(holds(p, p->leaf[at], false)));
	bool none = isl_set_is_empty(needed) == isl_bool_true;
	isl_set_free(needed);
	return none ? 0 : heddle_prove_missing(p, stmt, "results of a reduction would not be finished");
}

/* { [life loops] } of a leaf, for some thread */
static __isl_give isl_set *rounds(prover *p, const heddle_leaf *leaf)
{
	return isl_map_domain(heddle_prove_first_loops(heddle_prove_without_threads(holds(p, leaf, false)), life_loops(leaf)));
}

static int check_sum(prover *p, const heddle_stmt *stmt)
{
	sum s;
	if (find_sum(p, stmt, &s) < 0 || check_results(p, &s) < 0)
		return -1;
	if (s.first < 0 && s.finish < 0)
		return 0;
	if (s.initialise < 0)
		return heddle_prove_missing(p, stmt, "a sum would not be initialised");
	if (check_sum_order(p, &s) < 0)
		return -1;
	for (int i = 0; i < p->n_leaf; i++) {
		const heddle_leaf *leaf = p->leaf[i];
		if (leaf->stmt != stmt || leaf->kind != HEDDLE_LEAF_COMPUTE)
			continue;
		if (!held_by(p, holds(p, leaf, true), leaf, s.initialise, true, false))
			return heddle_prove_violated(p, leaf, "a thread would add to a sum that it did not initialise");
		if (!s.lanes)
			continue;
		isl_set *need = rounds(p, leaf), *have = s.combine >= 0 ? rounds(p, p->leaf[s.combine]) : NULL;
		bool combined = have && isl_set_is_subset(need, have) == isl_bool_true;
		isl_set_free(need);
		isl_set_free(have);
		if (!combined)
			return heddle_prove_violated(p, leaf, "the parts of a sum would not be combined");
	}
	return s.finish >= 0 ? check_finish(p, &s) : 0;
}

int heddle_prove_sums(prover *p)
{
	for (int i = 0; i < p->kernel->n_stmt; i++)
		if (p->kernel->stmt[i]->reduction && check_sum(p, p->kernel->stmt[i]) < 0)
			return -1;
	return 0;
}
