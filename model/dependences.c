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
static __isl_give isl_map *written(heddle_scop *scop, heddle_stmt *stmt, bool some)
{
	isl_map *all = isl_map_from_multi_pw_aff(isl_multi_pw_aff_copy(stmt->access[0].index));
	return isl_map_intersect_domain(all, isl_set_union(isl_set_copy(stmt->all), empty_sums(scop, stmt, some)));
}

/* `write`: written(), by twice the position of the statement, and one more for `some`; made when it is first asked for. */
static __isl_give isl_map *touched(heddle_scop *scop, heddle_stmt *stmt, int a, bool some, isl_map **write)
{
	isl_map **known = &write[2 * stmt->position + some];
	if (!initialises(stmt, a))
		return isl_map_copy(stmt->access[a].relation);
	if (!*known)
		*known = written(scop, stmt, some);
	return isl_map_copy(*known);
}

static __isl_give isl_map *pairs(heddle_scop *scop, heddle_stmt *source, int a, heddle_stmt *sink, int b, bool some, isl_map **write)
{
	isl_map *relation = isl_map_apply_range(touched(scop, source, a, some, write), isl_map_reverse(touched(scop, sink, b, some, write)));
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
static __isl_give isl_map *ordered_pairs(heddle_scop *scop, heddle_stmt *source, int a, heddle_stmt *sink, int b, isl_map **write)
{
	isl_map *some = pairs(scop, source, a, sink, b, true, write);
	if (!initialises(source, a) && !initialises(sink, b))
		return some;
	isl_map *all = pairs(scop, source, a, sink, b, false, write);
	isl_map *any = for_any_sizes(some), *every = for_any_sizes(all);
	bool same = isl_map_is_subset(every, any) == isl_bool_true;
	isl_map_free(any);
	isl_map_free(every);
	isl_map_free(same ? all : some);
	return same ? some : all;
}

/* Pairs of reads are many, and few of them are ever asked for. */
static void add_input(heddle_scop *scop, heddle_stmt *source, int a, heddle_stmt *sink, int b)
{
	heddle_dependence dependence = {
		.source = source, .sink = sink, .tensor = source->access[a].tensor, .from = a, .to = b, .input = true};
	HEDDLE_PUSH(scop->arena, scop->dependence, scop->n_dependence, dependence);
}

__isl_keep isl_map *heddle_dependence_relation(heddle_dependence *d)
{
	if (!d->relation && !d->empty) {
		d->relation = isl_map_apply_range(isl_map_copy(d->source->access[d->from].relation),
						  isl_map_reverse(isl_map_copy(d->sink->access[d->to].relation)));
		d->empty = isl_map_is_empty(d->relation) != isl_bool_false;
		d->relation = d->empty ? isl_map_free(d->relation) : isl_map_coalesce(d->relation);
	}
	return d->relation;
}

static void add(heddle_scop *scop, heddle_stmt *source, int a, heddle_stmt *sink, int b, isl_map **write)
{
	isl_map *relation = ordered_pairs(scop, source, a, sink, b, write);
	if (isl_map_is_empty(relation) != isl_bool_false) {
		isl_map_free(relation);
		return;
	}
	heddle_dependence dependence = {.source = source, .sink = sink, .tensor = source->access[a].tensor,
					.relation = isl_map_coalesce(relation), .from = a, .to = b};
	dependence.aligned = HEDDLE_NEW_ARRAY(scop->arena, signed char, HEDDLE_MAX_DIM * HEDDLE_MAX_DIM);
	HEDDLE_PUSH(scop->arena, scop->dependence, scop->n_dependence, dependence);
}

/* Accumulations of one reduction into the same element may run in any order. */
static bool is_reassociation(const heddle_stmt *stmt, int a, int b)
{
	return stmt->reduction && stmt->access[a].write && stmt->access[b].write;
}

static void pair(heddle_scop *scop, heddle_stmt *source, heddle_stmt *sink, isl_map **write)
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
			if (input)
				add_input(scop, source, a, sink, b);
			else
				add(scop, source, a, sink, b, write);
		}
}

/* { S[a] -> S[b] : a_dim = b_dim } */
static __isl_give isl_map *equal_dim(const heddle_stmt *source, int i, const heddle_stmt *sink, int j)
{
	isl_space *space = isl_space_map_from_domain_and_range(isl_set_get_space(source->all), isl_set_get_space(sink->all));
	return isl_map_equate(isl_map_universe(space), isl_dim_in, i, isl_dim_out, j);
}

bool heddle_dependence_aligned(heddle_dependence *dependence, int i, int j)
{
	signed char *known = dependence->aligned ? &dependence->aligned[i * HEDDLE_MAX_DIM + j] : NULL;
	if (known && *known)
		return *known > 0;
	isl_map *equal = equal_dim(dependence->source, i, dependence->sink, j);
	bool result = isl_map_is_subset(heddle_dependence_relation(dependence), equal) == isl_bool_true;
	isl_map_free(equal);
	if (known)
		*known = result ? 1 : -1;
	return result;
}

bool heddle_stmt_constrains(const heddle_scop *scop, const heddle_stmt *source, const heddle_stmt *sink)
{
	const int *first = &scop->first_dependence[source->position * scop->n_stmt + sink->position];
	for (int d = first[0]; d < first[1]; d++)
		if (!scop->dependence[d].input)
			return true;
	return false;
}

static void mark_coincident(heddle_scop *scop, heddle_stmt *stmt)
{
	for (int i = 0; i < stmt->n_dim; i++) {
		stmt->dim[i].coincident = !stmt->dim[i].reduction;
		for (int d = 0; d < scop->n_dependence; d++) {
			heddle_dependence *dependence = &scop->dependence[d];
			if (dependence->source == stmt && dependence->sink == stmt && !heddle_dependence_aligned(dependence, i, i))
				stmt->dim[i].coincident = false;
		}
	}
}

int heddle_pass_dependences(heddle_scop *scop)
{
	const int n = scop->n_stmt;
	isl_map **write = HEDDLE_NEW_ARRAY(scop->arena, isl_map *, 2 * n);
	scop->first_dependence = HEDDLE_NEW_ARRAY(scop->arena, int, n * n + 1);
	for (int a = 0; a < n; a++)
		for (int b = 0; b < n; b++) {
			scop->first_dependence[a * n + b] = scop->n_dependence;
			if (b >= a)
				pair(scop, scop->stmt[a], scop->stmt[b], write);
		}
	scop->first_dependence[n * n] = scop->n_dependence;
	for (int i = 0; i < 2 * n; i++)
		isl_map_free(write[i]);
	for (int i = 0; i < scop->n_stmt; i++)
		mark_coincident(scop, scop->stmt[i]);
	return heddle_scop_check(scop, "dependences");
}
