/* map, the leaves: which instances run, and where they are in the statement or tensor.
 * SPDX-License-Identifier: MIT
 */
#include "model/nest_parts.h"
#include "model/plain.h"

#include <isl/constraint.h>
#include <isl/local_space.h>
#include <isl/mat.h>
#include <isl/space.h>
#include <isl/val.h>
#include <string.h>

/* ---- leaves: sets ------------------------------------------------------------------------------------------------------ */

int heddle_leaf_loop(const heddle_leaf *leaf, int dim, heddle_part part)
{
	for (int i = 0; i < leaf->n_loop; i++)
		if (leaf->loop[i]->dim == dim && leaf->loop[i]->part == part)
			return i;
	return -1;
}

void heddle_leaf_tuple(const heddle_leaf *leaf, heddle_text *out)
{
	heddle_text_printf(out, "%s[", leaf->name);
	for (int i = 0; i < leaf->n_loop; i++)
		heddle_text_printf(out, "%sx%d", i ? ", " : "", i);
	heddle_text_add(out, "]");
}

/* { L[x] } */
static __isl_give isl_space *leaf_space(const heddle_nest_builder *b, const heddle_leaf *leaf)
{
	isl_space *space = isl_space_set_from_params(isl_set_get_space(b->mapped->context));
	space = isl_space_add_dims(space, isl_dim_set, (unsigned)leaf->n_loop);
	return isl_space_set_tuple_name(space, isl_dim_set, leaf->name);
}

/* { L[x] -> NAME[0, 0, ..] } with n dimensions; without a name: NULL */
static __isl_give isl_multi_aff *leaf_function(const heddle_nest_builder *b, const heddle_leaf *leaf, const char *name, int n)
{
	isl_space *from = leaf_space(b, leaf);
	isl_space *to = isl_space_add_dims(isl_space_set_from_params(isl_space_params(isl_space_copy(from))), isl_dim_set, (unsigned)n);
	if (name)
		to = isl_space_set_tuple_name(to, isl_dim_set, name);
	return isl_multi_aff_zero(isl_space_map_from_domain_and_range(from, to));
}

/* { L[x] -> [0] } */
static __isl_give isl_aff *nothing(const heddle_nest_builder *b, const heddle_leaf *leaf)
{
	return isl_aff_zero_on_domain(isl_local_space_from_space(leaf_space(b, leaf)));
}

static __isl_give isl_val *number(__isl_keep isl_aff *of, int64_t i)
{
	return isl_val_int_from_si(isl_aff_get_ctx(of), (long)i);
}

static __isl_give isl_aff *add_term(__isl_take isl_aff *aff, enum isl_dim_type type, int at, int64_t by)
{
	isl_val *old = isl_aff_get_coefficient_val(aff, type, at), *more = number(aff, by);
	return isl_aff_set_coefficient_val(aff, type, at, isl_val_add(old, more));
}

/* aff + by * (the coordinate of that name) */
static __isl_give isl_aff *add_coordinate(__isl_take isl_aff *aff, int64_t by, const char *name)
{
	isl_space *space = isl_aff_get_domain_space(aff);
	const int at = isl_space_find_dim_by_name(space, isl_dim_param, name);
	isl_space_free(space);
	return add_term(aff, isl_dim_param, at, by);
}

/* aff + by * (loop number `loop`); nothing where there is no such loop (-1) */
static __isl_give isl_aff *add_loop(__isl_take isl_aff *aff, int64_t by, int loop)
{
	return loop < 0 ? aff : add_term(aff, isl_dim_in, loop, by);
}

/* { L[x] -> [128 i_block + 16 x2 + i_thread] } */
static __isl_give isl_aff *position(const heddle_nest_builder *b, const heddle_leaf *leaf, int d)
{
	const heddle_stmt *stmt = leaf->stmt;
	const heddle_dim *dim = &stmt->dim[d];
	const heddle_layout *layout = &dim->layout;
	const heddle_member *member = dim->member >= 0 ? &stmt->kernel->member[dim->member] : NULL;
	isl_aff *at = nothing(b, leaf);
	if (member)
		at = add_coordinate(at, layout->tile, heddle_block_param(b->scop, member));
	else
		at = add_loop(at, layout->tile, heddle_leaf_loop(leaf, d, HEDDLE_PART_TILE));
	at = add_loop(at, layout->items * layout->threads * layout->vector, heddle_leaf_loop(leaf, d, HEDDLE_PART_ROUND));
	at = add_loop(at, layout->threads * layout->vector, heddle_leaf_loop(leaf, d, HEDDLE_PART_ITEM));
	const bool absent = leaf->kind != HEDDLE_LEAF_COMPUTE && dim->reduction;
	if (layout->threads > 1 && !absent)
		at = add_coordinate(at, layout->vector, member ? heddle_thread_param(b->scop, member) : "c_lane");
	return add_loop(at, 1, heddle_leaf_loop(leaf, d, HEDDLE_PART_VEC));
}

/* { L[x] -> S[d] } */
static __isl_give isl_multi_aff *stmt_instance(heddle_nest_builder *b, const heddle_leaf *leaf)
{
	isl_multi_aff *instance = leaf_function(b, leaf, leaf->stmt->name, leaf->stmt->n_dim);
	for (int d = 0; d < leaf->stmt->n_dim; d++)
		instance = isl_multi_aff_set_aff(instance, d, position(b, leaf, d));
	return instance;
}

/* Bounds of loops: { L[x] : 0 <= x < extent } */
static __isl_give isl_basic_set *loop_bounds(const heddle_nest_builder *b, const heddle_leaf *leaf)
{
	isl_space *space = leaf_space(b, leaf);
	const isl_size before = isl_space_dim(space, isl_dim_param) + 1, n = before + leaf->n_loop;
	int rows = leaf->n_loop, row = 0;
	for (int i = 0; i < leaf->n_loop; i++)
		rows += leaf->loop[i]->extent != 0;
	isl_mat *none = isl_mat_alloc(b->scop->isl, 0, (unsigned)n), *bound = isl_mat_alloc(b->scop->isl, (unsigned)rows, (unsigned)n);
	for (int i = 0; i < rows; i++)
		for (int k = 0; k < n; k++)
			bound = isl_mat_set_element_si(bound, i, k, 0);
	for (int i = 0; i < leaf->n_loop; i++) {
		bound = isl_mat_set_element_si(bound, row++, before + i, 1);
		if (!leaf->loop[i]->extent)
			continue;
		bound = isl_mat_set_element_si(bound, row, before + i, -1);
		bound = isl_mat_set_element_val(bound, row++, 0, isl_val_int_from_si(b->scop->isl, (long)leaf->loop[i]->extent - 1));
	}
	return isl_basic_set_from_constraint_matrices(space, none, bound, isl_dim_cst, isl_dim_param, isl_dim_set, isl_dim_div);
}

/* Bounds of loops and of the coordinates that the leaf uses; `one_lane`: of lane 0 only. */
static __isl_give isl_set *layout_bounds(heddle_nest_builder *b, const heddle_leaf *leaf, bool one_lane)
{
	isl_set *bounds = isl_set_from_basic_set(loop_bounds(b, leaf));
	if (one_lane)
		bounds = isl_set_fix_si(bounds, isl_dim_param, (unsigned)isl_set_find_dim_by_name(bounds, isl_dim_param, "c_lane"), 0);
	return heddle_plainly_intersect_params(bounds, isl_set_copy(b->mapped->context));
}

/* Only one lane may write what all lanes hold. */
static bool one_lane(const heddle_nest_builder *b, const heddle_leaf *leaf)
{
	if (b->kernel->lanes == 1)
		return false;
	bool laned = false;
	for (int d = 0; d < leaf->stmt->n_dim; d++)
		laned |= leaf->stmt->dim[d].member < 0 && !leaf->stmt->dim[d].reduction && leaf->stmt->dim[d].layout.threads > 1;
	if (laned)
		return false;
	bool global = leaf->stmt->access[0].group->space == HEDDLE_SPACE_GLOBAL;
	switch (leaf->kind) {
	case HEDDLE_LEAF_STORE:
		return true;
	case HEDDLE_LEAF_COMPUTE:
		return global && !leaf->stmt->reduction;
	case HEDDLE_LEAF_FINISH:
		return global;
	default:
		return false;
	}
}

__isl_give isl_set *heddle_nest_in_domain(__isl_keep isl_set *domain, __isl_keep isl_multi_aff *instance)
{
	return isl_set_preimage_multi_aff(isl_set_copy(domain), isl_multi_aff_copy(instance));
}

/* { L[x] -> T[e] }: the first element of the group's tile in the leaf's round.  The offset's dimensions are the statement's tile
 * loops in dimension order; the leaf has them in nest order. */
static __isl_give isl_multi_aff *tile_start(heddle_nest_builder *b, const heddle_leaf *leaf, const heddle_group *group)
{
	int n = 0, at = 0;
	for (int d = 0; d < leaf->stmt->n_dim; d++)
		n += leaf->stmt->dim[d].member < 0 && !leaf->stmt->dim[d].single_tile;
	isl_multi_aff *loops = leaf_function(b, leaf, NULL, n);
	for (int d = 0; d < leaf->stmt->n_dim; d++)
		if (leaf->stmt->dim[d].member < 0 && !leaf->stmt->dim[d].single_tile)
			loops = isl_multi_aff_set_aff(loops, at++,
						      add_loop(nothing(b, leaf), 1, heddle_leaf_loop(leaf, d, HEDDLE_PART_TILE)));
	return isl_multi_aff_pullback_multi_aff(isl_multi_aff_copy(group->offset), loops);
}

/* { L[x] in set : aff < size } */
static __isl_give isl_basic_set *below_size(__isl_take isl_basic_set *set, __isl_take isl_aff *aff, int64_t size)
{
	isl_val *last = number(aff, size - 1);
	aff = isl_aff_add_constant_val(isl_aff_neg(aff), last);
	return isl_basic_set_add_constraint(set, isl_inequality_from_aff(aff));
}

/* Element `column` of a row that goes on through several dimensions, along dimension e of them. */
static __isl_give isl_aff *run_position(const heddle_group *group, int e, __isl_keep isl_aff *column)
{
	int64_t below = 1;
	bool outermost = true;
	for (int inner = e + 1; heddle_tile_in_run(group, inner); inner++)
		below *= group->size[inner];
	for (int outer = group->run; outer < e; outer++)
		outermost = outermost && group->size[outer] == 1;
	isl_aff *at = isl_aff_copy(column);
	if (below > 1)
		at = isl_aff_floor(isl_aff_scale_down_val(at, number(at, below)));
	if (outermost)
		return at;
	isl_aff *over = isl_aff_floor(isl_aff_scale_down_val(isl_aff_copy(column), number(column, below * group->size[e])));
	return isl_aff_sub(at, isl_aff_scale_val(over, number(over, group->size[e])));
}

/* Elements that an access of the statement touches; a result is written even where there is nothing to sum. */
static __isl_give isl_set *touched(const heddle_stmt *stmt, const heddle_access *access)
{
	isl_map *relation = access->write && access->affine ? isl_map_from_multi_pw_aff(isl_multi_pw_aff_copy(access->index))
							    : isl_map_copy(access->relation);
	isl_set *instances = isl_set_copy(access->write && stmt->initialise && access->affine ? stmt->lhs : stmt->domain);
	return isl_set_reset_tuple_id(isl_set_apply(instances, relation));
}

/* What a tile holds of its tensor.  Of one that is written in parts, some of them later, it is not all that lies in the tile: what nobody has
 * written yet is not read.  { T[e] }; NULL: all of it. */
static __isl_give isl_set *held(heddle_nest_builder *b, const heddle_group *group)
{
	const heddle_tensor *tensor = group->tensor;
	const heddle_scop *scop = b->scop;
	if (tensor->role == HEDDLE_ROLE_INPUT || tensor->role == HEDDLE_ROLE_INOUT)
		return NULL;
	isl_set *written = NULL, *read = NULL;
	for (int s = 0; s < scop->n_stmt; s++)
		for (int a = 0; a < scop->stmt[s]->n_access; a++) {
			const heddle_access *access = &scop->stmt[s]->access[a];
			isl_set **set = access->group == group ? &read : access->write && !read ? &written : NULL;
			if (access->tensor != tensor || !set)
				continue;
			isl_set *here = touched(scop->stmt[s], access);
			*set = *set ? isl_set_union(*set, here) : here;
		}
	if (!read || !written)
		return isl_set_free(read), isl_set_free(written);
	isl_set *all = heddle_scop_tensor_box(b->scop, tensor, isl_set_get_space(written));
	all = isl_set_intersect_params(all, isl_set_copy(b->mapped->context));
	const bool whole = isl_set_is_subset(all, written) != isl_bool_false;
	isl_set *hull = whole ? NULL : isl_set_from_basic_set(isl_set_simple_hull(isl_set_coalesce(isl_set_copy(read))));
	isl_set_free(written);
	isl_set_free(read);
	isl_set_free(all);
	return hull;
}

/* Where the tile element of a move is, in the tensor and in the tile. */
static void move_sets(heddle_nest_builder *b, heddle_leaf *leaf)
{
	heddle_group *group = leaf->group;
	int rank = group->tensor->rank;
	int row = heddle_leaf_loop(leaf, HEDDLE_MOVE_ROW, HEDDLE_PART_ITEM);
	int column = heddle_leaf_loop(leaf, HEDDLE_MOVE_COLUMN, HEDDLE_PART_ITEM);
	int vec = heddle_leaf_loop(leaf, HEDDLE_MOVE_VEC, HEDDLE_PART_VEC);
	int64_t columns = heddle_nest_columns(b, group), rows = 1;
	int64_t row_threads = b->kernel->threads / columns;
	for (int e = 0; e < rank; e++)
		rows *= heddle_tile_in_run(group, e) ? 1 : group->size[e];
	bool copy = leaf->kind == HEDDLE_LEAF_COPY;
	isl_aff *r = add_loop(nothing(b, leaf), copy ? 1 : row_threads, row);
	if (row_threads > 1 && !copy)
		r = add_coordinate(r, 1, heddle_arena_printf(b->scop->arena, "c_row%lld", (long long)columns));
	isl_aff *c = add_loop(nothing(b, leaf), copy ? 1 : columns * group->vector, column);
	if (columns > 1 && !copy)
		c = add_coordinate(c, group->vector, heddle_arena_printf(b->scop->arena, "c_column%lld", (long long)columns));
	c = add_loop(c, 1, vec);
	leaf->position = leaf_function(b, leaf, heddle_arena_printf(b->scop->arena, "T_%s", group->tensor->name), rank);
	int64_t below = rows;
	int wide = 0;
	for (int e = 0; e < rank; e++)
		wide += !heddle_tile_in_run(group, e) && group->size[e] > 1;
	for (int e = 0; e < rank; e++) {
		if (heddle_tile_in_run(group, e)) {
			if (group->size[e] == 1)
				continue;
			leaf->position = isl_multi_aff_set_aff(leaf->position, e, run_position(group, e, c));
			continue;
		}
		below /= group->size[e];
		const int own = heddle_leaf_loop(leaf, HEDDLE_MOVE_ROWS - e, HEDDLE_PART_ITEM);
		if (group->size[e] == 1)
			continue;
		isl_aff *at;
		if (own >= 0)
			at = add_loop(nothing(b, leaf), 1, own);
		else if (wide == 1)
			at = isl_aff_copy(r);
		else
			at = isl_aff_floor(isl_aff_scale_down_val(isl_aff_copy(r), number(r, below)));
		if (own < 0 && wide > 1 && below * group->size[e] != rows)
			at = isl_aff_mod_val(at, number(r, group->size[e]));
		leaf->position = isl_multi_aff_set_aff(leaf->position, e, at);
	}
	isl_basic_set *inside = below_size(below_size(loop_bounds(b, leaf), r, rows), c, heddle_tile_run_length(group));
	leaf->domain = heddle_plainly_intersect_params(isl_set_from_basic_set(inside), isl_set_copy(b->mapped->context));
	leaf->element = isl_multi_aff_add(tile_start(b, leaf, group), isl_multi_aff_copy(leaf->position));
	/* inside the tensor */
	heddle_stmt shape = {.all = leaf->domain};
	leaf->valid = isl_set_copy(leaf->domain);
	for (int e = 0; e < rank; e++) {
		isl_pw_aff *x = isl_pw_aff_from_aff(isl_multi_aff_get_aff(leaf->element, e));
		isl_pw_aff *extent = heddle_scop_bound(b->scop, &shape, group->tensor->extent[e]);
		isl_set *low = isl_pw_aff_nonneg_set(isl_pw_aff_copy(x));
		leaf->valid = heddle_plainly_intersect(leaf->valid, heddle_plainly_intersect(low, isl_pw_aff_lt_set(x, extent)));
	}
	isl_set *there = held(b, group);
	if (there) {
		isl_multi_aff *element = isl_multi_aff_reset_tuple_id(isl_multi_aff_copy(leaf->element), isl_dim_out);
		leaf->valid = heddle_plainly_intersect(leaf->valid, isl_set_preimage_multi_aff(there, element));
	}
	if (copy)
		leaf->domain = isl_set_coalesce(heddle_plainly_intersect(leaf->domain, isl_set_copy(leaf->valid)));
	if (leaf->fill)
		leaf->domain = isl_set_coalesce(isl_set_subtract(leaf->domain, isl_set_copy(leaf->valid)));
	leaf->box = isl_set_copy(leaf->domain);
}

/* May the access be made where dimension d has ended?  A tile has zeros there, but not for a read that is made under a condition: it
 * holds only what that lets through.  Other reads must be those of an instance that exists. */
static bool reaches_beyond(const heddle_access *access, int d)
{
	if (!access->tensor->rank) /* a number is the same everywhere */
		return true;
	isl_set *defined = isl_multi_pw_aff_domain(isl_multi_pw_aff_copy(access->index));
	isl_set *all = isl_set_universe(isl_set_get_space(defined));
	const bool whole = isl_set_is_equal(defined, all) == isl_bool_true;
	const bool moves = !access->affine || isl_multi_pw_aff_involves_dims(access->index, isl_dim_in, (unsigned)d, 1) != isl_bool_false ||
			   isl_set_involves_dims(defined, isl_dim_set, (unsigned)d, 1) != isl_bool_false;
	isl_set_free(defined);
	isl_set_free(all);
	return !moves || (whole && access->group->space == HEDDLE_SPACE_SHARED);
}

/* Does what the statement asks for, beside ranges, have to do with dimension d? */
static bool asks_along(const heddle_stmt *stmt, int d)
{
	isl_set *other = isl_set_intersect(isl_set_eliminate(isl_set_copy(stmt->domain), isl_dim_set, (unsigned)d, 1), isl_set_copy(stmt->all));
	const bool asks = isl_set_is_subset(other, stmt->domain) != isl_bool_true;
	isl_set_free(other);
	return asks;
}

/* Does the range of another dimension follow from dimension d? */
static bool decides_ranges(heddle_nest_builder *b, heddle_stmt *stmt, int d)
{
	bool decides = false;
	for (int other = 0; other < stmt->n_dim && !decides; other++) {
		isl_set *range = other == d ? NULL : heddle_stmt_range(b->scop, stmt, other);
		decides = range && isl_set_involves_dims(range, isl_dim_set, (unsigned)d, 1) != isl_bool_false;
		isl_set_free(range);
	}
	return decides;
}

/* Does the statement run for a part of its ranges only? */
static bool is_guarded(const heddle_stmt *stmt)
{
	return stmt->value != stmt->source->value;
}

/* Is an index in it that is summed over, or one that is not? */
static bool mentions(const heddle_expr *expr, const heddle_stmt *stmt, bool reduction)
{
	if (expr->kind == HEDDLE_EXPR_INDEX)
		return stmt->dim[expr->index->position].reduction == reduction;
	for (int i = 0; i < expr->n_arg; i++)
		if (mentions(expr->arg[i], stmt, reduction))
			return true;
	return false;
}

/* Do the results along d that there are depend on which terms there are?  A sum ends for all of them. */
static bool ends_with_terms(const heddle_stmt *stmt, int d)
{
	return mentions(stmt->source->index[d]->upper, stmt, true) || mentions(stmt->source->index[d]->lower, stmt, true);
}

bool heddle_nest_harmless(heddle_nest_builder *b, heddle_stmt *stmt, int d)
{
	bool all = true, any = false;
	if (!stmt->reduction || stmt->dim[d].member < 0 || ends_with_terms(stmt, d)) /* a result beyond may have other terms */
		return false;
	for (int a = 1; a < stmt->n_access; a++) {
		const bool shared = stmt->access[a].group->space == HEDDLE_SPACE_SHARED;
		if (!reaches_beyond(&stmt->access[a], d))
			return false;
		all = all && shared;
		any |= shared;
	}
	return any && ((all && !is_guarded(stmt)) || !decides_ranges(b, stmt, d)) && !(is_guarded(stmt) && asks_along(stmt, d));
}

/* What of a computation's box must be guarded: rows that are not harmless.  `split`: rounds of which nothing exists are left out elsewhere. */
static __isl_give isl_set *guarded_rows(heddle_nest_builder *b, const heddle_leaf *leaf, bool split)
{
	heddle_stmt *stmt = leaf->stmt;
	isl_set *asked = isl_set_copy(stmt->domain);
	bool harmless[HEDDLE_MAX_DIM] = {false}, any = false, whole = true;
	for (int d = 0; d < stmt->n_dim; d++) {
		const bool here = harmless[d] = (split || stmt->dim[d].layout.rounds == 1) && heddle_nest_harmless(b, stmt, d);
		any |= here;
		whole = whole && (here || stmt->dim[d].member < 0);
		if (here)
			asked = isl_set_eliminate(asked, isl_dim_set, (unsigned)d, 1); /* whatever its value */
	}
	if (!any) {
		isl_set_free(asked);
		return isl_set_copy(leaf->domain);
	}
	isl_set *runs = isl_set_copy(leaf->box);
	if (is_guarded(stmt))
		return heddle_plainly_intersect(runs, isl_set_preimage_multi_aff(asked, isl_multi_aff_copy(leaf->instance)));
	isl_set_free(asked);
	for (int d = 0; d < stmt->n_dim && !whole; d++)
		if (stmt->dim[d].member >= 0 && !harmless[d])
			runs = heddle_plainly_intersect(runs, isl_set_preimage_multi_aff(heddle_stmt_range(b->scop, stmt, d),
											 isl_multi_aff_copy(leaf->instance)));
	return runs;
}

/* Does a finish give registers a value that are no result, too?  They are the thread's own, and this is their first value. */
static bool finishes_all(const heddle_leaf *leaf)
{
	const heddle_stmt *stmt = leaf->stmt;
	const heddle_group *group = stmt->access[0].group;
	return leaf->kind == HEDDLE_LEAF_FINISH && group->space == HEDDLE_SPACE_REGISTER && stmt->source->initialise &&
	       group->first_writer == stmt;
}

/* With the ends of loops over results that no block shares out, which make no block one at an edge.  Lanes that exchange what they have summed
 * must not have such loops in parts, whose ends differ from lane to lane. */
static __isl_give isl_set *shared_out(heddle_nest_builder *b, const heddle_leaf *leaf, __isl_take isl_set *box)
{
	heddle_stmt *stmt = leaf->stmt;
	for (int d = 0; d < stmt->n_dim && b->kernel->lanes == 1; d++)
		if (stmt->dim[d].member < 0 && !stmt->dim[d].reduction && !ends_with_terms(stmt, d))
			box = heddle_plainly_intersect(box, isl_set_preimage_multi_aff(heddle_stmt_range(b->scop, stmt, d), isl_multi_aff_copy(leaf->instance)));
	return box;
}

static void leaf_sets(heddle_nest_builder *b, heddle_leaf *leaf)
{
	heddle_stmt *stmt = leaf->stmt;
	const bool lane = one_lane(b, leaf);
	switch (leaf->kind) {
	case HEDDLE_LEAF_MOVE:
	case HEDDLE_LEAF_COPY:
		move_sets(b, leaf);
		return;
	case HEDDLE_LEAF_BARRIER:
	case HEDDLE_LEAF_WAIT:
		leaf->domain = layout_bounds(b, leaf, false);
		leaf->box = isl_set_copy(leaf->domain);
		return;
	case HEDDLE_LEAF_INITIALISE:
	case HEDDLE_LEAF_COMBINE:
		leaf->instance = stmt_instance(b, leaf);
		leaf->domain = layout_bounds(b, leaf, lane);
		leaf->box = isl_set_copy(leaf->domain);
		return;
	case HEDDLE_LEAF_FINISH:
	case HEDDLE_LEAF_STORE:
		leaf->instance = stmt_instance(b, leaf);
		leaf->box = layout_bounds(b, leaf, lane);
		if (!finishes_all(leaf))
			leaf->box = shared_out(b, leaf, leaf->box);
		leaf->domain = isl_set_copy(leaf->box);
		if (!finishes_all(leaf))
			leaf->domain = heddle_plainly_intersect(leaf->domain, heddle_nest_in_domain(stmt->lhs, leaf->instance));
		return;
	case HEDDLE_LEAF_COMPUTE:
		leaf->instance = stmt_instance(b, leaf);
		leaf->box = heddle_plainly_intersect(layout_bounds(b, leaf, lane), heddle_nest_in_domain(stmt->inner, leaf->instance));
		leaf->domain = isl_set_intersect(isl_set_copy(leaf->box), heddle_nest_in_domain(stmt->domain, leaf->instance));
		return;
	}
}

static void walk(heddle_nest_builder *b, heddle_nest *nest, heddle_nest **path, int depth)
{
	if (nest->kind == HEDDLE_NEST_LOOP)
		path[depth++] = nest;
	if (nest->kind == HEDDLE_NEST_LEAF) {
		nest->leaf->n_loop = depth;
		memcpy(nest->leaf->loop, path, sizeof(*path) * (size_t)depth);
		leaf_sets(b, nest->leaf);
	}
	for (int i = 0; i < nest->n_child; i++)
		walk(b, nest->child[i], path, depth);
}

/* The parameters that differ between threads of a block, taken out. */
__isl_give isl_set *heddle_nest_without_threads(heddle_nest_builder *b, __isl_take isl_set *set)
{
	isl_size n = isl_set_dim(set, isl_dim_param);
	for (int i = n - 1; set && i >= 0; i--) {
		const char *name = isl_set_get_dim_name(set, isl_dim_param, (unsigned)i);
		if (!name)
			break; /* isl has failed: the pass reports it at its end */
		size_t length = strlen(name);
		bool block = length > 6 && !strcmp(name + length - 6, "_block");
		if (!block && strncmp(name, "N_", 2))
			set = isl_set_project_out(set, isl_dim_param, (unsigned)i, 1);
	}
	(void)b;
	return set;
}

/* { [x0 .. x_prefix-1] } of a leaf's instances, for any thread. */
static __isl_give isl_set *prefix_of(heddle_nest_builder *b, __isl_take isl_set *set, int prefix)
{
	isl_size n = isl_set_dim(set, isl_dim_set);
	set = isl_set_project_out(set, isl_dim_set, (unsigned)prefix, (unsigned)(n - prefix));
	return heddle_nest_without_threads(b, set); /* projecting dimensions out has dropped the tuple's name */
}

static __isl_give isl_set *restrict_prefix(heddle_leaf *leaf, __isl_take isl_set *set, __isl_keep isl_set *prefix)
{
	isl_set *wide = isl_set_copy(prefix);
	isl_size have = isl_set_dim(wide, isl_dim_set);
	wide = isl_set_add_dims(wide, isl_dim_set, (unsigned)(leaf->n_loop - have));
	wide = isl_set_set_tuple_name(wide, leaf->name);
	return isl_set_coalesce(heddle_plainly_intersect(set, wide));
}

/* Does a block run no two of these tiles? */
static bool at_most_once(__isl_keep isl_set *tiles)
{
	isl_map *pairs = isl_map_lex_lt(isl_set_get_space(tiles));
	pairs = isl_map_intersect_domain(isl_map_intersect_range(pairs, isl_set_copy(tiles)), isl_set_copy(tiles));
	bool once = isl_map_is_empty(pairs) == isl_bool_true;
	isl_map_free(pairs);
	return once;
}

/* { [tile loops] -> T[e] } of some thread, as a set. */
static __isl_give isl_set *places_in_rounds(heddle_nest_builder *b, const heddle_leaf *leaf, __isl_take isl_map *place, int prefix)
{
	place = isl_map_intersect_domain(place, isl_set_copy(leaf->domain));
	isl_size n = isl_map_dim(place, isl_dim_in);
	place = isl_map_project_out(place, isl_dim_in, (unsigned)prefix, (unsigned)(n - prefix));
	return heddle_nest_without_threads(b, isl_map_wrap(place));
}

/* Does the statement read any of the elements that the leaf fills? */
static bool fill_is_read(heddle_nest_builder *b, const heddle_region *r, const heddle_leaf *fill)
{
	const heddle_leaf *compute = r->compute;
	isl_map *position = isl_map_from_multi_aff(isl_multi_aff_copy(fill->position));
	isl_set *filled = places_in_rounds(b, fill, position, r->prefix);
	if (b->blocks)
		filled = heddle_plainly_intersect_params(filled, isl_set_copy(b->blocks));
	bool read = false;
	for (int a = 1; a < compute->stmt->n_access && !read; a++) {
		const heddle_access *access = &compute->stmt->access[a];
		if (access->group != fill->group)
			continue;
		isl_multi_pw_aff *at = isl_multi_pw_aff_pullback_multi_aff(isl_multi_pw_aff_copy(access->index),
									   isl_multi_aff_copy(compute->instance));
		at = isl_multi_pw_aff_sub(at, isl_multi_pw_aff_from_multi_aff(tile_start(b, compute, fill->group)));
		isl_set *places = places_in_rounds(b, compute, isl_map_from_multi_pw_aff(at), r->prefix);
		read = isl_set_is_disjoint(places, filled) != isl_bool_true;
		isl_set_free(places);
	}
	isl_set_free(filled);
	return read;
}

/* May the loop have bounds of its own?  Those over tiles and rounds, and where there are rounds those over items one by one and the
 * steps of reductions: what is indexed by them lies in memory. */
static bool may_be_bounded(const heddle_leaf *leaf, const heddle_nest *loop)
{
	if (loop->part == HEDDLE_PART_ITEM && loop->dim >= 0) {
		const heddle_dim *dim = &leaf->stmt->dim[loop->dim];
		return loop->loop == HEDDLE_LOOP_SERIAL && (dim->reduction ? heddle_nest_has_rounds(leaf->stmt) : dim->layout.rounds > 1);
	}
	return loop->part == HEDDLE_PART_TILE || loop->part == HEDDLE_PART_ROUND;
}

bool heddle_nest_has_rounds(const heddle_stmt *stmt)
{
	for (int d = 0; d < stmt->n_dim; d++)
		if (stmt->dim[d].layout.rounds > 1)
			return true;
	return false;
}

int64_t heddle_nest_round_length(const heddle_stmt *stmt, int d)
{
	const heddle_layout *layout = &stmt->dim[d].layout;
	return layout->items * layout->threads * layout->vector;
}

const heddle_size *heddle_nest_rounds_of(const heddle_stmt *stmt, int d)
{
	const heddle_index *index = stmt->source->index[d];
	const bool plain = stmt->dim[d].layout.rounds > 1 && stmt->dim[d].member >= 0 && index->upper->kind == HEDDLE_EXPR_SIZE &&
			   index->lower->kind == HEDDLE_EXPR_INT && index->lower->i == 0;
	return plain ? index->upper->size : NULL;
}

/* Whole rounds of dimension d: a number, or the name of a parameter; NULL: not seen. */
static const char *whole_rounds(heddle_nest_builder *b, const heddle_stmt *stmt, int d)
{
	const heddle_size *size = heddle_nest_rounds_of(stmt, d);
	const int64_t by = heddle_nest_round_length(stmt, d);
	if (size && size->min == size->max)
		return heddle_arena_printf(b->scop->arena, "%lld", (long long)(size->min / by));
	for (int i = 0; i < b->mapped->n_quotient && size; i++)
		if (b->mapped->quotient[i].size == size && b->mapped->quotient[i].by == by)
			return b->mapped->quotient[i].param;
	return NULL;
}

/* { L[x] : the round of dimension d is one of the whole ones ("<"), or the one after them ("=") }, or NULL. */
static __isl_give isl_set *rounds_at(heddle_nest_builder *b, const heddle_leaf *leaf, int d, const char *which)
{
	const heddle_stmt *stmt = leaf->stmt;
	const char *whole = whole_rounds(b, stmt, d);
	if (!whole)
		return NULL;
	heddle_text text = {0};
	heddle_text_printf(&text, "%s{ ", b->mapped->params);
	heddle_leaf_tuple(leaf, &text);
	heddle_text_printf(&text, " : %lld*c_%s_block + x%d %s %s }", (long long)stmt->dim[d].layout.rounds,
			   stmt->kernel->member[stmt->dim[d].member].name, heddle_leaf_loop(leaf, d, HEDDLE_PART_ROUND), which, whole);
	isl_set *set = isl_set_read_from_str(b->scop->isl, heddle_text_str(&text));
	heddle_text_free(&text);
	return set;
}

/* Does the end of dimension d cut rounds of a sum?  Not where what is beyond is harmless. */
static bool cuts_rounds(heddle_nest_builder *b, heddle_stmt *stmt, int d)
{
	return stmt->dim[d].layout.rounds > 1 && !heddle_nest_harmless(b, stmt, d);
}

/* The same for all dimensions whose rounds are cut, of { L[x0 .. x_prefix-1] }; false where a quotient has no name. */
static bool split_by_quotients(heddle_nest_builder *b, const heddle_region *r, int prefix, __isl_keep isl_set *needed, isl_set **full,
			       isl_set **cut)
{
	*full = isl_set_copy(needed);
	*cut = isl_set_empty(isl_set_get_space(needed));
	for (int d = 0; d < r->compute->stmt->n_dim; d++) {
		if (!cuts_rounds(b, r->compute->stmt, d))
			continue;
		isl_set *before = rounds_at(b, r->compute, d, "<"), *after = rounds_at(b, r->compute, d, "=");
		if (!before || !after) {
			isl_set_free(before);
			isl_set_free(after);
			*full = isl_set_free(*full);
			*cut = isl_set_free(*cut);
			return false;
		}
		unsigned rest = (unsigned)(r->compute->n_loop - prefix);
		before = isl_set_project_out(before, isl_dim_set, (unsigned)prefix, rest);
		after = isl_set_project_out(after, isl_dim_set, (unsigned)prefix, rest);
		*full = heddle_plainly_intersect(*full, before);
		*cut = isl_set_union(*cut, heddle_plainly_intersect(isl_set_copy(needed), after));
	}
	return true;
}

/* Of a leaf's box what exists along dimensions with rounds, all of them or those that the end cuts. */
static __isl_give isl_set *existing(heddle_nest_builder *b, const heddle_leaf *leaf, __isl_take isl_set *box, bool cut)
{
	for (int d = 0; d < leaf->stmt->n_dim; d++)
		if (cut ? cuts_rounds(b, leaf->stmt, d) : leaf->stmt->dim[d].layout.rounds > 1)
			box = heddle_plainly_intersect(box, isl_set_preimage_multi_aff(heddle_stmt_range(b->scop, leaf->stmt, d),
										       isl_multi_aff_copy(leaf->instance)));
	return box;
}

__isl_give isl_set *heddle_nest_in_rounds(heddle_nest_builder *b, const heddle_leaf *leaf, __isl_take isl_set *box)
{
	return existing(b, leaf, box, false);
}

/* Rounds that are cut go to the region's second computation. */
static void split_rounds(heddle_nest_builder *b, const heddle_region *r)
{
	heddle_leaf *whole = r->compute, *rest = r->rest;
	int prefix = r->prefix;
	while (prefix < whole->n_loop && whole->loop[prefix]->part == HEDDLE_PART_ROUND)
		prefix++;
	isl_set *kept = existing(b, whole, isl_set_copy(whole->box), true), *full = NULL, *cut = NULL;
	/* in an interior block, too, only where an instance runs: what makes a block one was found with these */
	isl_set *runs = heddle_nest_in_domain(whole->stmt->domain, whole->instance);
	isl_set *needed = prefix_of(b, heddle_plainly_intersect(heddle_plainly_intersect(isl_set_copy(kept), isl_set_copy(whole->domain)), runs), prefix);
	if (!split_by_quotients(b, r, prefix, needed, &full, &cut)) {
		cut = prefix_of(b, isl_set_subtract(isl_set_copy(whole->box), isl_set_copy(kept)), prefix);
		full = isl_set_subtract(isl_set_copy(needed), isl_set_copy(cut));
		cut = heddle_plainly_intersect(isl_set_copy(needed), cut);
	}
	isl_set_free(kept);
	isl_set_free(needed);
	full = isl_set_coalesce(full);
	cut = isl_set_coalesce(cut);
	whole->domain = restrict_prefix(whole, whole->domain, full);
	whole->box = restrict_prefix(whole, whole->box, full);
	rest->domain = existing(b, rest, restrict_prefix(rest, rest->domain, cut), true);
	rest->box = restrict_prefix(rest, rest->box, cut);
	isl_set_free(full);
	isl_set_free(cut);
}

/* Of a box { L[x] } what lies after some of the instances `runs`, further along a dimension inside of the members alone: where a range that ends
 * leaves something out. */
static __isl_give isl_set *beyond(heddle_nest_builder *b, const heddle_leaf *leaf, __isl_keep isl_set *box, __isl_keep isl_set *runs)
{
	isl_set *all = isl_set_empty(isl_set_get_space(box)), *missing = isl_set_subtract(isl_set_copy(box), isl_set_copy(runs));
	for (int d = 0; d < leaf->stmt->n_dim; d++) {
		if (leaf->stmt->dim[d].member >= 0)
			continue;
		isl_pw_aff *at = isl_pw_aff_from_aff(position(b, leaf, d));
		isl_map *after = isl_pw_aff_gt_map(isl_pw_aff_copy(at), at);
		for (int i = 0; i < leaf->n_loop; i++)
			if (leaf->loop[i]->dim != d)
				after = isl_map_equate(after, isl_dim_in, i, isl_dim_out, i);
		after = isl_map_intersect_domain(after, isl_set_copy(missing));
		all = isl_set_union(all, isl_map_domain(isl_map_intersect_range(after, isl_set_copy(runs))));
	}
	isl_set_free(missing);
	return all;
}

/* Of a layout { L[x] } the tiles { L[x0 .. x_prefix-1] } of the region's part: that lack some along its dimension, but none along those before it; all
 * that lack none along those before the last one are in the last part. */
static __isl_give isl_set *lacks(heddle_nest_builder *b, const heddle_region *r, __isl_keep isl_set *layout)
{
	isl_set *all = NULL;
	for (int k = 0; k <= r->part - 2; k++) {
		isl_set *range = isl_set_preimage_multi_aff(heddle_stmt_range(b->scop, r->compute->stmt, r->cut[k]), isl_multi_aff_copy(r->compute->instance));
		isl_set *missing = prefix_of(b, isl_set_subtract(isl_set_copy(layout), range), r->prefix);
		if (k < r->part - 2)
			all = all ? isl_set_union(all, missing) : missing;
		else if (r->part < r->parts)
			return all ? isl_set_subtract(missing, all) : missing;
		else
			isl_set_free(missing);
	}
	isl_set *tiles = prefix_of(b, isl_set_copy(layout), r->prefix);
	return isl_set_subtract(tiles, all);
}

/* The tiles that a region runs: all, those that are full, those that a range begins in, or the rest. */
static bool apply_region(heddle_nest_builder *b, heddle_region *r)
{
	heddle_leaf *compute = r->compute;
	isl_set *tiles = prefix_of(b, isl_set_copy(compute->domain), r->prefix);
	if (r->part) {
		isl_set *layout = layout_bounds(b, compute, one_lane(b, compute));
		layout = restrict_prefix(compute, layout, tiles);
		isl_set *inner = heddle_nest_in_domain(compute->stmt->inner, compute->instance);
		isl_set *ended = r->part > 1 && r->parts > 2 && !r->n_cut ? beyond(b, compute, layout, inner) : NULL;
		isl_set *lacking = r->part > 1 && r->n_cut ? lacks(b, r, layout) : NULL;
		isl_set *missing = prefix_of(b, isl_set_subtract(layout, inner), r->prefix);
		isl_set *full = isl_set_coalesce(isl_set_subtract(isl_set_copy(tiles), missing));
		tiles = r->part == 1 ? heddle_plainly_intersect(tiles, full) : isl_set_subtract(tiles, full);
		if (ended)
			ended = prefix_of(b, ended, r->prefix);
		if (ended)
			tiles = r->part == 2 ? isl_set_subtract(tiles, ended) : heddle_plainly_intersect(tiles, ended);
		if (lacking)
			tiles = heddle_plainly_intersect(tiles, lacking);
	}
	tiles = isl_set_coalesce(tiles);
	bool empty = isl_set_is_empty(tiles) == isl_bool_true;
	for (int i = 0; i < r->n_leaf; i++) {
		heddle_leaf *leaf = r->leaf[i];
		if (leaf == compute || leaf == r->rest) {
			isl_set *runs = b->interior ? isl_set_copy(leaf->box) : guarded_rows(b, leaf, r->rest != NULL);
			isl_set_free(leaf->domain);
			leaf->domain = runs;
		}
		leaf->domain = restrict_prefix(leaf, leaf->domain, tiles);
		leaf->box = restrict_prefix(leaf, leaf->box, tiles);
	}
	if (r->rest)
		split_rounds(b, r);
	for (int i = 0; i < r->n_leaf; i++) {
		heddle_leaf *leaf = r->leaf[i];
		if (!leaf->fill || isl_set_is_empty(leaf->domain) == isl_bool_true || fill_is_read(b, r, leaf))
			continue;
		isl_set_free(leaf->domain);
		leaf->domain = isl_set_empty(isl_set_get_space(leaf->box));
	}
	/* the barrier after the last round keeps nothing apart, where that is the last of all parts */
	heddle_leaf *last = r->leaf[r->n_leaf - 1];
	if (last->kind == HEDDLE_LEAF_BARRIER && last != r->leaf[0] && r->part == r->parts && !r->n_cut && at_most_once(tiles)) {
		isl_set_free(last->domain);
		last->domain = isl_set_empty(isl_set_get_space(last->box));
	}
	isl_set_free(tiles);
	return !empty;
}

/* A leaf of the statement in the same tile loops that has loops over all of a thread's elements: combinations and barriers
 * have none. */
static const heddle_leaf *with_items(const heddle_nest_builder *b, const heddle_leaf *leaf, int first, int prefix)
{
	for (int i = first; i < b->mapped->n_leaf; i++) {
		const heddle_leaf *other = b->mapped->leaf[i];
		bool whole = other->kind == HEDDLE_LEAF_INITIALISE ||
			     (other->kind == HEDDLE_LEAF_COMPUTE && !other->stmt->reduction);
		if (other->stmt == leaf->stmt && whole && other->n_loop >= prefix &&
		    !memcmp(other->loop, leaf->loop, sizeof(leaf->loop[0]) * (size_t)prefix))
			return other;
	}
	return leaf;
}

/* Do the ends of left-hand dimension d move with another one? */
static bool moves_along(const heddle_stmt *stmt, int d)
{
	return !stmt->dim[d].reduction && (mentions(stmt->source->index[d]->upper, stmt, false) || mentions(stmt->source->index[d]->lower, stmt, false));
}

/* Of any of them? */
static bool moves(const heddle_stmt *stmt)
{
	for (int d = 0; d < stmt->n_dim; d++)
		if (moves_along(stmt, d))
			return true;
	return false;
}

/* Do the bounds of dimension d depend on another one, or those of another one on d? */
static bool bounds_depend(heddle_nest_builder *b, heddle_stmt *stmt, int d)
{
	return moves_along(stmt, d) || decides_ranges(b, stmt, d) || (is_guarded(stmt) && asks_along(stmt, d));
}

/* Sums of rounds that run over the end are all initialised: each item of a round that has any. */
static __isl_give isl_set *with_all_items(heddle_nest_builder *b, const heddle_leaf *leaf, __isl_take isl_set *runs)
{
	bool any = false;
	for (int i = 0; i < leaf->n_loop; i++) {
		const int d = leaf->loop[i]->dim;
		/* Rounds that are cut go over what exists.  But where only conditions on lanes or terms say which items do, partial vectors
		 * and parts of arrays that are kept in registers (simplify_rounds.c) are read and written with all items. */
		if (leaf->loop[i]->part != HEDDLE_PART_ITEM || d < 0 || leaf->stmt->dim[d].layout.rounds == 1 ||
		    (cuts_rounds(b, leaf->stmt, d) && !bounds_depend(b, leaf->stmt, d)))
			continue;
		runs = isl_set_eliminate(runs, isl_dim_set, (unsigned)i, 1);
		any = true;
	}
	return any ? heddle_plainly_intersect(runs, layout_bounds(b, leaf, false)) : runs;
}

/* Leaves outside regions follow the blocks, local tile loops and rounds of their statement: the sums that are finished are those
 * that were started. */
static void restrict_outer(heddle_nest_builder *b, heddle_leaf *leaf, int first)
{
	if (leaf->kind != HEDDLE_LEAF_INITIALISE && leaf->kind != HEDDLE_LEAF_COMBINE && leaf->kind != HEDDLE_LEAF_BARRIER &&
	    !finishes_all(leaf))
		return;
	/* lanes are combined in all rounds: their registers are all set */
	const bool all_rounds = heddle_nest_reduces_lanes(leaf->stmt);
	int prefix = 0;
	while (prefix < leaf->n_loop &&
	       (all_rounds ? leaf->loop[prefix]->part == HEDDLE_PART_TILE : may_be_bounded(leaf, leaf->loop[prefix])))
		prefix++;
	const heddle_leaf *whole = with_items(b, leaf, first, prefix);
	isl_multi_aff *instance = stmt_instance(b, whole);
	isl_set *runs = layout_bounds(b, whole, false);
	/* where ends move with each other rounds go over sums that there are not: all that a thread has begin */
	if (leaf->kind == HEDDLE_LEAF_INITIALISE && heddle_nest_has_rounds(leaf->stmt) && moves(leaf->stmt))
		runs = shared_out(b, whole, existing(b, whole, runs, true));
	else
		runs = heddle_plainly_intersect(runs, heddle_nest_in_domain(leaf->stmt->lhs, instance));
	isl_multi_aff_free(instance);
	if (leaf->kind == HEDDLE_LEAF_INITIALISE)
		runs = with_all_items(b, whole, runs);
	isl_set *tiles = prefix_of(b, runs, prefix);
	leaf->domain = restrict_prefix(leaf, leaf->domain, tiles);
	isl_set_free(leaf->box);
	leaf->box = isl_set_copy(leaf->domain);
	isl_set_free(tiles);
}

/* In a boundary block the items and vectors of a thread are all visited, each under its condition: loops keep constant
 * bounds, and registers constant subscripts. */
static void spread_leaf(heddle_nest_builder *b, heddle_leaf *leaf)
{
	bool guarded = (leaf->kind == HEDDLE_LEAF_COMPUTE || leaf->kind == HEDDLE_LEAF_FINISH || leaf->kind == HEDDLE_LEAF_STORE) &&
		       (!b->interior || heddle_nest_has_rounds(leaf->stmt));
	leaf->spread = isl_set_copy(guarded ? leaf->box : leaf->domain);
	int column = leaf->kind == HEDDLE_LEAF_COPY ? heddle_leaf_loop(leaf, HEDDLE_MOVE_COLUMN, HEDDLE_PART_ITEM) : -1;
	if (column >= 0) { /* once for each row */
		leaf->spread = isl_set_eliminate(leaf->spread, isl_dim_set, (unsigned)column, 1);
		leaf->spread = isl_set_fix_si(leaf->spread, isl_dim_set, (unsigned)column, 0);
	}
	int tiles = 0;
	while (tiles < leaf->n_loop && may_be_bounded(leaf, leaf->loop[tiles]))
		tiles++;
	if (guarded && tiles) { /* but only the tiles that some thread needs: those loops have no bounds of their own */
		isl_set *needed = prefix_of(b, isl_set_copy(leaf->domain), tiles);
		leaf->spread = restrict_prefix(leaf, leaf->spread, needed);
		isl_set_free(needed);
	}
	/* simple bounds: what they let in, the conditions inside keep out; where they leave a loop without an end the parts have theirs */
	if (guarded) {
		isl_set *parts = isl_set_coalesce(isl_set_remove_divs(leaf->spread));
		leaf->spread = heddle_scop_hull(b->scop, isl_set_copy(parts));
		if (isl_set_n_basic_set(parts) > 1 && isl_set_is_bounded(leaf->spread) == isl_bool_false) {
			isl_set_free(leaf->spread);
			leaf->spread = isl_set_copy(parts);
		}
		isl_set_free(parts);
	}
}

void heddle_nest_sets(heddle_nest_builder *b, heddle_nest *root, int first)
{
	heddle_nest *path[4 * HEDDLE_MAX_DIM];
	walk(b, root, path, 0);
	for (int i = first; i < b->mapped->n_leaf; i++) {
		bool inside = false;
		for (int r = 0; r < b->n_region; r++)
			for (int l = 0; l < b->region[r].n_leaf; l++)
				inside |= b->region[r].leaf[l] == b->mapped->leaf[i];
		if (!inside && (b->mapped->leaf[i]->n_loop || b->mapped->leaf[i]->kind != HEDDLE_LEAF_BARRIER))
			restrict_outer(b, b->mapped->leaf[i], first);
	}
	for (int r = 0; r < b->n_region; r++)
		apply_region(b, &b->region[r]);
	for (int i = first; i < b->mapped->n_leaf; i++)
		spread_leaf(b, b->mapped->leaf[i]);
}
