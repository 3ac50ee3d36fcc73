/* dependences: pairs of statement instances whose order matters, and pairs that read the same element.
 *
 * Enters: statements with accesses.  Leaves: scop->dependence; coincident flags of every dimension.
 * Guaranteed: memory-based, so an order that respects all of them gives every read the value it had in source order,
 * reductions up to reassociation.  A reduction's order among its own accumulations is not a dependence.
 * SPDX-License-Identifier: MIT
 */
#include "model/scop.h"

#include <isl/space.h>

/* { S[d] : initialised, but nothing is accumulated }, the reductions at 0.  `some`: only for sizes for which the statement
 * accumulates anything, unless there are none. */
static __isl_give isl_set *empty_sums(heddle_scop *scop, heddle_stmt *stmt, bool some)
{
	isl_set *summed = isl_set_copy(stmt->all), *empty = heddle_stmt_left_ranges(scop, stmt, true);
	for (int i = 0; i < stmt->n_dim; i++)
		if (stmt->dim[i].reduction) {
			summed = isl_set_eliminate(summed, isl_dim_set, (unsigned)i, 1);
			empty = isl_set_fix_si(empty, isl_dim_set, (unsigned)i, 0);
		}
	empty = isl_set_subtract(empty, summed);
	if (some && isl_set_is_empty(stmt->all) == isl_bool_false)
		empty = isl_set_intersect_params(empty, isl_set_params(isl_set_copy(stmt->all)));
	return empty;
}

static bool initialises(const heddle_stmt *stmt, int a)
{
	return stmt->access[a].write && stmt->initialise;
}

/* What the initialisation of `op=!` writes is part of what the statement touches: the elements of the whole range. */
static __isl_give isl_map *touched(heddle_scop *scop, heddle_stmt *stmt, int a, bool some)
{
	const heddle_access *access = &stmt->access[a];
	if (!initialises(stmt, a))
		return isl_map_copy(access->relation);
	isl_map *all = isl_map_from_multi_pw_aff(isl_multi_pw_aff_copy(access->index));
	return isl_map_intersect_domain(all, isl_set_union(isl_set_copy(stmt->all), empty_sums(scop, stmt, some)));
}

static __isl_give isl_map *pairs(heddle_scop *scop, heddle_stmt *source, int a, heddle_stmt *sink, int b, bool some)
{
	isl_map *relation = isl_map_apply_range(touched(scop, source, a, some), isl_map_reverse(touched(scop, sink, b, some)));
	if (source == sink) {
		isl_set *space = isl_set_universe(isl_set_get_space(source->all));
		isl_map *order = isl_map_lex_lt(isl_set_get_space(space));
		isl_set_free(space);
		relation = isl_map_intersect(relation, order);
	}
	return relation;
}

static __isl_give isl_map *for_any_sizes(__isl_keep isl_map *relation)
{
	isl_size n = isl_map_dim(relation, isl_dim_param);
	return isl_map_project_out(isl_map_copy(relation), isl_dim_param, 0, n < 0 ? 0 : (unsigned)n);
}

/* Sizes for which nothing is accumulated mostly give pairs that others give, too, and the same order: they are left out then. */
static __isl_give isl_map *ordered_pairs(heddle_scop *scop, heddle_stmt *source, int a, heddle_stmt *sink, int b)
{
	isl_map *some = pairs(scop, source, a, sink, b, true);
	if (!initialises(source, a) && !initialises(sink, b))
		return some;
	isl_map *all = pairs(scop, source, a, sink, b, false);
	isl_map *any = for_any_sizes(some), *every = for_any_sizes(all);
	bool same = isl_map_is_subset(every, any) == isl_bool_true;
	isl_map_free(any);
	isl_map_free(every);
	isl_map_free(same ? all : some);
	return same ? some : all;
}

static void add(heddle_scop *scop, heddle_stmt *source, int a, heddle_stmt *sink, int b, bool input)
{
	isl_map *relation = ordered_pairs(scop, source, a, sink, b);
	if (isl_map_is_empty(relation) != isl_bool_false) {
		isl_map_free(relation);
		return;
	}
	heddle_dependence dependence = {source, sink, source->access[a].tensor, isl_map_coalesce(relation), input};
	HEDDLE_PUSH(scop->arena, scop->dependence, scop->n_dependence, dependence);
}

/* Accumulations of one reduction into the same element may run in any order. */
static bool is_reassociation(const heddle_stmt *stmt, int a, int b)
{
	return stmt->reduction && stmt->access[a].write && stmt->access[b].write;
}

static void pair(heddle_scop *scop, heddle_stmt *source, heddle_stmt *sink)
{
	for (int a = 0; a < source->n_access; a++)
		for (int b = 0; b < sink->n_access; b++) {
			bool input = !source->access[a].write && !sink->access[b].write;
			if (source->access[a].tensor != sink->access[b].tensor)
				continue;
			if (source == sink && (input || is_reassociation(source, a, b)))
				continue;
			if (input && (!source->access[a].affine || !sink->access[b].affine))
				continue;
			add(scop, source, a, sink, b, input);
		}
}

/* { S[a] -> S[b] : a_dim = b_dim } */
static __isl_give isl_map *equal_dim(const heddle_stmt *source, int i, const heddle_stmt *sink, int j)
{
	isl_space *space = isl_space_map_from_domain_and_range(isl_set_get_space(source->all), isl_set_get_space(sink->all));
	return isl_map_equate(isl_map_universe(space), isl_dim_in, i, isl_dim_out, j);
}

bool heddle_dependence_aligned(const heddle_dependence *dependence, int i, int j)
{
	isl_map *equal = equal_dim(dependence->source, i, dependence->sink, j);
	bool result = isl_map_is_subset(dependence->relation, equal) == isl_bool_true;
	isl_map_free(equal);
	return result;
}

static void mark_coincident(heddle_scop *scop, heddle_stmt *stmt)
{
	for (int i = 0; i < stmt->n_dim; i++) {
		stmt->dim[i].coincident = !stmt->dim[i].reduction;
		for (int d = 0; d < scop->n_dependence; d++) {
			const heddle_dependence *dependence = &scop->dependence[d];
			if (dependence->source == stmt && dependence->sink == stmt && !heddle_dependence_aligned(dependence, i, i))
				stmt->dim[i].coincident = false;
		}
	}
}

int heddle_pass_dependences(heddle_scop *scop)
{
	for (int a = 0; a < scop->n_stmt; a++)
		for (int b = a; b < scop->n_stmt; b++)
			pair(scop, scop->stmt[a], scop->stmt[b]);
	for (int i = 0; i < scop->n_stmt; i++)
		mark_coincident(scop, scop->stmt[i]);
	return heddle_scop_check(scop, "dependences");
}
