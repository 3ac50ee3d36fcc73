/* prove: the coordinates of blocks and threads, and the instances and elements of a leaf for each of them.
 * SPDX-License-Identifier: MIT
 */
#include "model/plain.h"
#include "model/prove.h"

#include <isl/constraint.h>
#include <isl/id.h>
#include <isl/local_space.h>
#include <isl/space.h>
#include <stdio.h>
#include <string.h>

int heddle_prove_violated(prover *p, const heddle_leaf *leaf, const char *what)
{
	/* an answer that isl could not give is not a violation: heddle_pass_prove says so */
	if (isl_ctx_last_error(p->scop->isl) != isl_error_none)
		return -1;
	return heddle_error(p->scop->ctx, 970, &leaf->stmt->source->location,
			    "internal: kernel %d, %s, statement %s: %s (pass `map`)", p->kernel->position,
			    p->branch && p->branch->interior ? "interior" : "boundary", leaf->stmt->name, what);
}

int heddle_prove_missing(prover *p, const heddle_stmt *stmt, const char *what)
{
	const heddle_leaf none = {.stmt = (heddle_stmt *)(uintptr_t)stmt};
	return heddle_prove_violated(p, &none, what);
}

/* ---- coordinates --------------------------------------------------------------------------------------------------------
 *
 * Where a block and a thread are is parameters: what a leaf runs is { L[x] } for each of them, and sets of one thread are
 * compared without a dimension more.  Only where two threads meet they become dimensions. */

/* Is this parameter a coordinate, not a size?  (Without a name isl has failed: the pass reports it at its end.) */
static bool varies(const char *parameter)
{
	return parameter && strncmp(parameter, "N_", 2) != 0;
}

static bool of_thread(const char *parameter)
{
	size_t length = parameter ? strlen(parameter) : 0;
	return varies(parameter) && !(length > 6 && !strcmp(parameter + length - 6, "_block"));
}

/* "c_row16" or "c_column16" */
static bool of_columns(const char *name, int64_t columns)
{
	char row[32], column[32];
	snprintf(row, sizeof(row), "c_row%lld", (long long)columns);
	snprintf(column, sizeof(column), "c_column%lld", (long long)columns);
	return !strcmp(name, row) || !strcmp(name, column);
}

bool heddle_prove_foreign(const prover *p, const heddle_leaf *leaf, const char *name)
{
	if (!of_thread(name))
		return false;
	if (leaf->kind == HEDDLE_LEAF_BARRIER || leaf->kind == HEDDLE_LEAF_COMBINE || leaf->kind == HEDDLE_LEAF_COPY ||
	    leaf->kind == HEDDLE_LEAF_WAIT)
		return true;
	if (leaf->kind == HEDDLE_LEAF_MOVE)
		return !of_columns(name, leaf->group->columns);
	for (int i = 0; i < p->mapped->n_columns; i++)
		if (of_columns(name, p->mapped->columns[i]))
			return true;
	return false;
}

__isl_give isl_set *heddle_prove_without_foreign(const prover *p, const heddle_leaf *leaf, __isl_take isl_set *set)
{
	for (int i = (int)isl_set_dim(set, isl_dim_param) - 1, end = i; set && i >= 0; end = --i) {
		while (i >= 0 && heddle_prove_foreign(p, leaf, isl_set_get_dim_name(set, isl_dim_param, (unsigned)i)))
			i--;
		if (i < end)
			set = isl_set_project_out(set, isl_dim_param, (unsigned)(i + 1), (unsigned)(end - i));
	}
	return set;
}

/* For some thread. */
__isl_give isl_map *heddle_prove_without_threads(__isl_take isl_map *map)
{
	for (int i = (int)isl_map_dim(map, isl_dim_param) - 1, end = i; map && i >= 0; end = --i) {
		while (i >= 0 && of_thread(isl_map_get_dim_name(map, isl_dim_param, (unsigned)i)))
			i--;
		if (i < end)
			map = isl_map_project_out(map, isl_dim_param, (unsigned)(i + 1), (unsigned)(end - i));
	}
	return map;
}

__isl_give isl_set *heddle_prove_range_of_threads(__isl_take isl_map *map)
{
	return isl_map_range(heddle_prove_without_threads(map));
}

/* A copy of its own: isl simplifies shared sets in place, and what is generated must not depend on what was asked here. */
__isl_give isl_set *heddle_prove_own_copy(__isl_keep isl_set *set)
{
	isl_set *copy = isl_set_copy(set);
	const char *name = isl_set_get_tuple_name(set);
	return name ? isl_set_set_tuple_name(copy, name) : copy;
}

/* { L[x] } that run in the blocks of the branch; only the leaf's own coordinates bound it (heddle_prove_threads). */
__isl_give isl_set *heddle_prove_runs(prover *p, const heddle_leaf *leaf)
{
	isl_set **known = &p->run[leaf->number];
	if (!*known)
		*known = isl_set_intersect_params(heddle_prove_without_foreign(p, leaf, heddle_prove_own_copy(leaf->domain)), isl_set_copy(p->blocks));
	return isl_set_copy(*known);
}

/* { L[x] -> .. } where it runs */
__isl_give isl_map *heddle_prove_where_it_runs(prover *p, const heddle_leaf *leaf, __isl_take isl_map *access)
{
	return isl_map_intersect_domain(access, heddle_prove_runs(p, leaf));
}

static __isl_give isl_map *lift(__isl_take isl_map *map, const char *parameter, int at)
{
	int from = isl_map_find_dim_by_name(map, isl_dim_param, parameter);
	if (from < 0) /* anything */
		return isl_map_insert_dims(map, isl_dim_in, (unsigned)at, 1);
	return isl_map_move_dims(map, isl_dim_in, (unsigned)at, isl_dim_param, (unsigned)from, 1);
}

/* { L[x] -> .. } becomes { [blocks, x] -> .. } */
static __isl_give isl_map *with_blocks(prover *p, __isl_take isl_map *map)
{
	for (int m = 0; m < p->kernel->n_member; m++)
		map = lift(map, heddle_block_param(p->scop, &p->kernel->member[m]), m);
	return map;
}

/* Coordinates of a thread: of the members, then the lane. */
int heddle_prove_n_coordinate(const prover *p)
{
	int n = p->kernel->lanes > 1;
	for (int m = 0; m < p->kernel->n_member; m++)
		n += p->kernel->member[m].layout.threads > 1;
	return n;
}

/* { L[x] -> .. } becomes { [blocks, first `after` of x, threads, rest of x] -> .. } */
__isl_give isl_map *heddle_prove_with_coordinates(prover *p, __isl_take isl_map *map, int after)
{
	int at = after;
	for (int m = 0; m < p->kernel->n_member; m++)
		if (p->kernel->member[m].layout.threads > 1)
			map = lift(map, heddle_thread_param(p->scop, &p->kernel->member[m]), at++);
	if (p->kernel->lanes > 1)
		map = lift(map, "c_lane", at);
	return with_blocks(p, map);
}

static __isl_give isl_constraint *weigh(__isl_take isl_constraint *number, const char *parameter, int64_t weight)
{
	isl_space *space = isl_space_params(isl_constraint_get_space(number));
	int at = isl_space_find_dim_by_name(space, isl_dim_param, parameter);
	isl_space_free(space);
	if (at < 0)
		isl_die(isl_constraint_get_ctx(number), isl_error_internal, "no such coordinate", return isl_constraint_free(number));
	return isl_constraint_set_coefficient_si(number, isl_dim_param, at, (int)weight);
}

/* { L[x] -> .. } becomes { E[blocks, thread, x] -> .. } with the number of the thread, whatever its coordinates. */
__isl_give isl_map *heddle_prove_with_number(prover *p, const heddle_leaf *leaf, __isl_take isl_map *map)
{
	const heddle_kernel *kernel = p->kernel;
	char name[32];
	map = isl_map_insert_dims(map, isl_dim_in, 0, 1);
	isl_constraint *number = isl_constraint_alloc_equality(isl_local_space_from_space(isl_map_get_space(map)));
	number = isl_constraint_set_coefficient_si(number, isl_dim_in, 0, -1);
	if (leaf->kind == HEDDLE_LEAF_COPY) { /* none of the threads */
		number = isl_constraint_set_constant_si(number, -1);
	} else if (leaf->kind == HEDDLE_LEAF_MOVE) {
		const int columns = leaf->group->columns;
		snprintf(name, sizeof(name), "c_row%d", columns);
		if (columns < kernel->threads)
			number = weigh(number, name, columns);
		snprintf(name, sizeof(name), "c_column%d", columns);
		if (columns > 1)
			number = weigh(number, name, 1);
	} else {
		for (int m = 0; m < kernel->n_member; m++)
			if (kernel->member[m].layout.threads > 1)
				number = weigh(number, heddle_thread_param(p->scop, &kernel->member[m]), kernel->member[m].thread_stride);
		if (kernel->lanes > 1)
			number = weigh(number, "c_lane", kernel->lane_stride);
	}
	return with_blocks(p, heddle_prove_without_threads(isl_map_add_constraint(map, number)));
}

/* Two sets of coordinates of members and the lane are two threads: from the smallest stride up, each coordinate counts whole
 * rounds of those before it. */
int heddle_prove_coordinates(prover *p)
{
	const heddle_kernel *kernel = p->kernel;
	int64_t stride[HEDDLE_MAX_DIM + 1], size[HEDDLE_MAX_DIM + 1], reach = 1;
	int n = 0;
	for (int m = 0; m <= kernel->n_member; m++) {
		bool lane = m == kernel->n_member;
		int64_t s = lane ? kernel->lanes : kernel->member[m].layout.threads;
		int64_t step = lane ? kernel->lane_stride : kernel->member[m].thread_stride;
		if (s <= 1)
			continue;
		int at = n++;
		for (; at > 0 && stride[at - 1] > step; at--)
			stride[at] = stride[at - 1], size[at] = size[at - 1];
		stride[at] = step, size[at] = s;
	}
	for (int i = 0; i < n; i++) {
		if (stride[i] < reach)
			return heddle_prove_missing(p, kernel->stmt[0], "two coordinates would be one thread");
		reach = stride[i] * size[i];
	}
	return reach <= kernel->threads ? 0 : heddle_prove_missing(p, kernel->stmt[0], "a coordinate would be beyond the threads");
}

/* ---- accesses ---------------------------------------------------------------------------------------------------------- */

bool heddle_prove_subset(__isl_take isl_map *a, __isl_take isl_map *b)
{
	if (heddle_plainly_subset(a, b)) {
		isl_map_free(a);
		isl_map_free(b);
		return true;
	}
	isl_map *rest = isl_map_subtract(a, b); /* unlike isl's own test it does not ask first whether a is empty */
	bool result = isl_map_is_empty(rest) == isl_bool_true;
	isl_map_free(rest);
	return result;
}

bool heddle_prove_inside(__isl_take isl_set *a, __isl_take isl_set *b)
{
	if (heddle_plainly_inside(a, b)) {
		isl_set_free(a);
		isl_set_free(b);
		return true;
	}
	isl_set *rest = isl_set_subtract(a, b);
	bool result = isl_set_is_empty(rest) == isl_bool_true;
	isl_set_free(rest);
	return result;
}

/* Is all of { [x] -> v } in { [first of x] -> v }, the other dimensions of x being anything? */
bool heddle_prove_subset_beyond(__isl_take isl_map *a, __isl_take isl_map *b)
{
	isl_size n = isl_map_dim(a, isl_dim_in), keep = isl_map_dim(b, isl_dim_in);
	a = isl_map_reset_tuple_id(isl_map_reset_tuple_id(a, isl_dim_in), isl_dim_out);
	b = isl_map_reset_tuple_id(isl_map_reset_tuple_id(b, isl_dim_in), isl_dim_out);
	if (n > keep)
		b = isl_map_reset_tuple_id(isl_map_add_dims(b, isl_dim_in, (unsigned)(n - keep)), isl_dim_in);
	return heddle_prove_subset(a, b);
}

/* { L[x] -> v } becomes { [first `keep` of x] -> v } */
__isl_give isl_map *heddle_prove_first_loops(__isl_take isl_map *map, int keep)
{
	isl_size n = isl_map_dim(map, isl_dim_in);
	return isl_map_project_out(map, isl_dim_in, (unsigned)keep, (unsigned)(n - keep));
}

__isl_give isl_multi_pw_aff *heddle_prove_index_of(const heddle_leaf *leaf, const heddle_access *access)
{
	return isl_multi_pw_aff_pullback_multi_aff(isl_multi_pw_aff_copy(access->index), isl_multi_aff_copy(leaf->instance));
}

/* { L[x] -> T[e] } */
__isl_give isl_map *heddle_prove_element_of(const heddle_leaf *leaf, const heddle_access *access)
{
	if (access->affine)
		return isl_map_from_multi_pw_aff(heddle_prove_index_of(leaf, access));
	return isl_map_preimage_domain_multi_aff(isl_map_copy(access->relation), isl_multi_aff_copy(leaf->instance));
}

/* { L[x] -> T[e] } : the first element of the tile of `group` in the round of the leaf */
__isl_give isl_multi_aff *heddle_prove_tile_start(const heddle_leaf *leaf, const heddle_group *group)
{
	isl_space *from = isl_multi_aff_get_domain_space(leaf->kind == HEDDLE_LEAF_MOVE || leaf->kind == HEDDLE_LEAF_COPY
								 ? leaf->position
								 : leaf->instance);
	isl_space *to = isl_space_align_params(isl_multi_aff_get_domain_space(group->offset), isl_space_copy(from));
	from = isl_space_align_params(from, isl_space_copy(to));
	isl_multi_aff *loops = isl_multi_aff_zero(isl_space_map_from_domain_and_range(from, to));
	isl_local_space *x = isl_local_space_from_space(isl_multi_aff_get_domain_space(loops));
	int at = 0;
	for (int d = 0; d < leaf->stmt->n_dim; d++) {
		if (leaf->stmt->dim[d].member >= 0 || leaf->stmt->dim[d].single_tile)
			continue;
		for (int i = 0; i < leaf->n_loop; i++)
			if (leaf->loop[i]->dim == d && leaf->loop[i]->part == HEDDLE_PART_TILE)
				loops = isl_multi_aff_set_aff(loops, at++, isl_aff_var_on_domain(isl_local_space_copy(x), isl_dim_set, (unsigned)i));
	}
	isl_local_space_free(x);
	return isl_multi_aff_pullback_multi_aff(isl_multi_aff_copy(group->offset), loops);
}

/* { L[x] -> T[e - offset] } in a shared tile */
__isl_give isl_multi_pw_aff *heddle_prove_place_in_tile(const heddle_leaf *leaf, const heddle_access *access)
{
	isl_multi_aff *offset = heddle_prove_tile_start(leaf, access->group);
	return isl_multi_pw_aff_sub(heddle_prove_index_of(leaf, access), isl_multi_pw_aff_from_multi_aff(offset));
}

/* ---- leaves that are laid out alike ---------------------------------------------------------------------------------------- */

/* The loop of `leaf` over the same part of the same dimension as loop k of `other`; -1: there is none.  Statements have the members
 * of their kernel in common. */
static int loop_alike(const heddle_leaf *leaf, const heddle_leaf *other, int k)
{
	const heddle_nest *wanted = other->loop[k];
	for (int i = 0; i < leaf->n_loop; i++) {
		const heddle_nest *loop = leaf->loop[i];
		const bool plain = loop->part == wanted->part && loop->dim >= 0 && wanted->dim >= 0;
		const int member = plain ? leaf->stmt->dim[loop->dim].member : -1;
		if (loop == wanted || (plain && leaf->stmt == other->stmt && loop->dim == wanted->dim) ||
		    (member >= 0 && other->stmt->dim[wanted->dim].member == member))
			return i;
	}
	return -1;
}

__isl_give isl_multi_aff *heddle_prove_alike(const heddle_leaf *leaf, const heddle_leaf *other)
{
	isl_space *from = isl_multi_aff_get_domain_space(leaf->instance), *to = isl_multi_aff_get_domain_space(other->instance);
	isl_multi_aff *there = isl_multi_aff_zero(isl_space_map_from_domain_and_range(from, to));
	isl_local_space *x = isl_local_space_from_space(isl_multi_aff_get_domain_space(there));
	for (int k = 0; k < other->n_loop; k++) {
		const int i = loop_alike(leaf, other, k);
		if (i >= 0)
			there = isl_multi_aff_set_aff(there, k, isl_aff_var_on_domain(isl_local_space_copy(x), isl_dim_set, (unsigned)i));
	}
	isl_local_space_free(x);
	return there;
}

bool heddle_prove_runs_at(prover *p, __isl_take isl_set *some, const heddle_leaf *other, __isl_take isl_multi_aff *there)
{
	return heddle_prove_inside(some, isl_set_preimage_multi_aff(heddle_prove_runs(p, other), there));
}
