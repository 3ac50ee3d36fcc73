/* tile: the config's numbers become the layout of every dimension.
 *
 * Enters: kernels with members; a complete config.  Leaves: member.layout, dim.layout, threads, lanes.
 * Guaranteed: members are laid out the same in all statements of a kernel; thread counts fit the block and the descriptor's
 * limits; names in the config exist; tiles of one thread are no longer than dimensions are known to be.
 * SPDX-License-Identifier: MIT
 */
#include "model/scop.h"

#include <string.h>

static const heddle_stmt_config *stmt_config(const heddle_kernel_config *config, int stmt)
{
	static const heddle_stmt_config none = {0};
	for (int i = 0; i < config->n_stmt; i++)
		if (config->stmt[i].stmt == stmt)
			return &config->stmt[i];
	return &none;
}

static int no_dimension(heddle_scop *scop, const heddle_stmt *stmt, const char *name)
{
	heddle_text text = {0};
	heddle_error(scop->ctx, 513, NULL, "config: %s has no dimension `%s`", stmt->name, name);
	for (int d = 0; d < stmt->n_dim; d++)
		heddle_text_printf(&text, "%s`%s`", d ? ", " : "", stmt->dim[d].name);
	heddle_note(scop->ctx, NULL, "it has %s", stmt->n_dim ? heddle_text_str(&text) : "none");
	heddle_text_free(&text);
	return -1;
}

static int check_names(heddle_scop *scop, const heddle_stmt *stmt, const heddle_named_list *list)
{
	for (int i = 0; i < list->n; i++) {
		bool found = false;
		for (int d = 0; d < stmt->n_dim; d++)
			found |= !strcmp(stmt->dim[d].name, list->item[i].name);
		if (!found)
			return no_dimension(scop, stmt, list->item[i].name);
	}
	return 0;
}

static int layout_from(heddle_scop *scop, const heddle_stmt *stmt, const heddle_stmt_config *config, const char *name,
		       heddle_layout *layout)
{
	layout->threads = heddle_named_get(&config->thread, name, 1);
	layout->vector = heddle_named_get(&config->vector, name, 1);
	layout->rounds = heddle_named_get(&config->round, name, 1);
	int64_t least = layout->rounds * layout->threads * layout->vector;
	layout->tile = heddle_named_get(&config->tile, name, least);
	if (layout->vector & (layout->vector - 1))
		return heddle_error(scop->ctx, 525, NULL, "config: %s vector of `%s` (%lld) is not a power of two", stmt->name, name,
				    (long long)layout->vector);
	if (layout->tile % least)
		return heddle_error(scop->ctx, 514, NULL,
				    "config: %s tile of `%s` (%lld) is not a multiple of its rounds, threads and vector (%lld)",
				    stmt->name, name, (long long)layout->tile, (long long)least);
	layout->items = layout->tile / least;
	return 0;
}

/* How long dimension d is known to be, where it begins at 0 as tiles do; INT64_MAX: it is not known. */
static int64_t known_extent(const heddle_stmt *stmt, int d)
{
	const heddle_index *index = stmt->source->index[d];
	const int64_t extent = heddle_fixed_extent(index->upper);
	int64_t lower;
	return extent > 0 && heddle_expr_evaluate(index->lower, NULL, &lower) == 0 && lower == 0 ? extent : INT64_MAX;
}

/* What is shorter than a vector fills none: one thread goes through it one by one. */
static void drop_vector(heddle_layout *layout, int64_t extent)
{
	if (layout->threads > 1 || extent >= layout->vector)
		return;
	layout->items *= layout->vector;
	layout->vector = 1;
}

/* A tile that one thread goes through, one by one, is no longer than what is there. */
static void shorten(heddle_layout *layout, int64_t extent)
{
	if (layout->rounds * layout->threads * layout->vector == 1 && extent < layout->tile)
		layout->tile = layout->items = extent;
}

int64_t heddle_layout_extent(const heddle_layout *layout, heddle_part part)
{
	switch (part) {
	case HEDDLE_PART_ROUND:
		return layout->rounds;
	case HEDDLE_PART_ITEM:
		return layout->items;
	case HEDDLE_PART_VEC:
		return layout->vector;
	case HEDDLE_PART_TILE:
	case HEDDLE_PARTS:
		break;
	}
	return 0;
}

/* The first statement of a kernel that gives a member a tile decides for all. */
static int member_layouts(heddle_scop *scop, heddle_kernel *kernel)
{
	for (int m = 0; m < kernel->n_member; m++) {
		heddle_member *member = &kernel->member[m];
		bool given = false;
		int64_t longest = 0;
		member->layout = (heddle_layout){1, 1, 1, 1, 1};
		for (int s = 0; s < kernel->n_stmt; s++) {
			const heddle_stmt *stmt = kernel->stmt[s];
			const heddle_stmt_config *config = stmt_config(kernel->config, stmt->position);
			for (int i = 0; i < stmt->n_dim; i++) {
				const char *name = stmt->dim[i].name;
				heddle_layout layout;
				if (stmt->dim[i].member != m)
					continue;
				longest = known_extent(stmt, i) > longest ? known_extent(stmt, i) : longest;
				if (heddle_named_get(&config->tile, name, 0) + heddle_named_get(&config->round, name, 0) +
					    heddle_named_get(&config->thread, name, 0) + heddle_named_get(&config->vector, name, 0) == 0)
					continue;
				if (layout_from(scop, stmt, config, name, &layout) < 0)
					return -1;
				if (given && !heddle_same_layout(&layout, &member->layout))
					return heddle_error(scop->ctx, 515, NULL,
							    "config: kernel %d: `%s` is laid out differently in %s",
							    kernel->position, name, stmt->name);
				member->layout = layout;
				given = true;
			}
		}
		/* many threads may read tiles that hold zeros beyond the end */
		if (scop->descriptor->execution == HEDDLE_SIMD)
			drop_vector(&member->layout, longest);
		shorten(&member->layout, longest);
	}
	return 0;
}

static int kernel_threads(heddle_scop *scop, heddle_kernel *kernel)
{
	const heddle_descriptor *descriptor = scop->descriptor;
	int64_t product = 1;
	for (int m = 0; m < kernel->n_member; m++)
		product *= kernel->member[m].layout.threads;
	kernel->threads = kernel->config->threads ? kernel->config->threads : (int)product;
	if (kernel->threads % product)
		return heddle_error(scop->ctx, 516, NULL,
				    "config: kernel %d has %d threads, not a multiple of the %lld that its members take",
				    kernel->position, kernel->threads, (long long)product);
	if (descriptor->threads_per_block.set && kernel->threads > descriptor->threads_per_block.value)
		return heddle_error(scop->ctx, 517, NULL, "config: kernel %d has %d threads, `%s` allows %.0f per block",
				    kernel->position, kernel->threads, descriptor->name, descriptor->threads_per_block.value);
	const int resident = kernel->config->resident;
	if (resident && (descriptor->execution == HEDDLE_SIMD || (descriptor->threads_per_unit.set &&
								  resident * kernel->threads > descriptor->threads_per_unit.value)))
		return heddle_error(scop->ctx, 531, NULL, "config: %d blocks of kernel %d, of %d threads each, are more than a unit of `%s` holds",
				    resident, kernel->position, kernel->threads, descriptor->name);
	kernel->lanes = kernel->threads / product;
	kernel->lane_stride = kernel->config->lanes_outer ? product : 1;
	/* Thread id: the last member is fastest, the lanes faster or slower than all members. */
	int64_t stride = kernel->config->lanes_outer ? 1 : kernel->lanes;
	for (int m = kernel->n_member - 1; m >= 0; m--) {
		int at = kernel->member_order[m];
		kernel->member[at].thread_stride = stride;
		stride *= kernel->member[at].layout.threads;
	}
	return 0;
}

/* Is the tile known to be at least as long as the dimension?  Results exist even where there is nothing to sum. */
static bool covers(const heddle_stmt *stmt, int i, int64_t tile)
{
	isl_set *range = isl_set_copy(stmt->dim[i].reduction ? stmt->all : stmt->lhs);
	isl_set *beyond = isl_set_lower_bound_si(range, isl_dim_set, (unsigned)i, (int)tile);
	bool result = isl_set_is_empty(beyond) == isl_bool_true;
	isl_set_free(beyond);
	return result;
}

__isl_give isl_set *heddle_stmt_left_ranges(heddle_scop *scop, heddle_stmt *stmt, bool project)
{
	isl_set *lhs = isl_set_universe(isl_set_get_space(stmt->all));
	bool taken[HEDDLE_MAX_DIM] = {0};
	lhs = isl_set_intersect_params(lhs, isl_set_copy(scop->context));
	for (bool more = true; more;) {
		more = false;
		for (int i = 0; i < stmt->n_dim; i++) {
			if (taken[i] || (stmt->dim[i].reduction &&
					 isl_set_involves_dims(lhs, isl_dim_set, (unsigned)i, 1) != isl_bool_true))
				continue;
			lhs = isl_set_intersect(lhs, heddle_stmt_range(scop, stmt, i));
			taken[i] = more = true;
		}
	}
	for (int i = 0; i < stmt->n_dim && project; i++)
		if (taken[i] && stmt->dim[i].reduction)
			lhs = isl_set_eliminate(lhs, isl_dim_set, (unsigned)i, 1);
	return lhs;
}

static int stmt_layouts(heddle_scop *scop, heddle_kernel *kernel, heddle_stmt *stmt)
{
	const heddle_stmt_config *config = stmt_config(kernel->config, stmt->position);
	const heddle_named_list *lists[] = {&config->tile, &config->round, &config->thread, &config->vector, &config->reduce};
	const bool simd = scop->descriptor->execution == HEDDLE_SIMD;
	int laned = 0;
	for (size_t i = 0; i < HEDDLE_COUNT(lists); i++)
		if (check_names(scop, stmt, lists[i]) < 0)
			return -1;
	for (int i = 0; i < stmt->n_dim; i++) {
		heddle_dim *dim = &stmt->dim[i];
		if (!dim->reduction && heddle_named_get(&config->reduce, dim->name, HEDDLE_REDUCE_SEQUENTIAL) != HEDDLE_REDUCE_SEQUENTIAL)
			return heddle_error(scop->ctx, 518, NULL, "config: `%s` of %s is not a reduction, there is nothing to reduce",
					    dim->name, stmt->name);
		if (dim->member >= 0) {
			dim->layout = kernel->member[dim->member].layout;
			continue;
		}
		if (layout_from(scop, stmt, config, dim->name, &dim->layout) < 0)
			return -1;
		if (dim->layout.rounds > 1)
			return heddle_error(scop->ctx, 518, NULL, "config: `%s` of %s has no rounds: blocks are not cut along it", dim->name,
					    stmt->name);
		dim->reduce = (heddle_reduce)heddle_named_get(&config->reduce, dim->name, HEDDLE_REDUCE_SEQUENTIAL);
		bool spread = dim->layout.threads > 1 || dim->layout.vector > 1;
		if (dim->reduction ? spread != (dim->reduce == HEDDLE_REDUCE_LANES) : spread && !dim->coincident)
			return heddle_error(scop->ctx, 518, NULL,
					    "config: `%s` of %s cannot be spread over threads or vectors like this; "
					    "a reduction needs reduce=%s:lanes",
					    dim->name, stmt->name, dim->name);
		if (dim->reduction || simd)
			drop_vector(&dim->layout, known_extent(stmt, i));
		if (dim->layout.threads * dim->layout.vector == 1)
			dim->reduce = HEDDLE_REDUCE_SEQUENTIAL;
		shorten(&dim->layout, known_extent(stmt, i));
		laned += dim->layout.threads > 1;
		if (dim->layout.threads > 1 && dim->layout.threads != kernel->lanes)
			return heddle_error(scop->ctx, 519, NULL, "config: `%s` of %s takes %lld threads, the kernel has %lld lanes",
					    dim->name, stmt->name, (long long)dim->layout.threads, (long long)kernel->lanes);
		if (!dim->coincident && !dim->reduction && dim->layout.tile > 1)
			return heddle_error(scop->ctx, 518, NULL, "config: `%s` of %s must run in order, its tile is 1", dim->name,
					    stmt->name);
	}
	stmt->inner = isl_set_universe(isl_set_get_space(stmt->all));
	for (int i = 0; i < stmt->n_dim; i++)
		if (stmt->dim[i].member < 0)
			stmt->inner = isl_set_intersect(stmt->inner, heddle_stmt_range(scop, stmt, i));
	stmt->lhs = heddle_stmt_left_ranges(scop, stmt, true);
	for (int i = 0; i < stmt->n_dim; i++)
		if (stmt->dim[i].member < 0)
			stmt->dim[i].single_tile = covers(stmt, i, stmt->dim[i].layout.tile);
	if (laned > 1)
		return heddle_error(scop->ctx, 519, NULL, "config: at most one dimension of %s can take the lanes", stmt->name);
	return 0;
}

/* Only members have a place among the block's coordinates. */
static int no_member(heddle_scop *scop, const heddle_kernel *kernel, const char *name)
{
	heddle_text text = {0};
	heddle_error(scop->ctx, 513, NULL, "config: kernel %d has no dimension `%s` to order", kernel->position, name);
	for (int m = 0; m < kernel->n_member; m++)
		heddle_text_printf(&text, "%s`%s`", m ? ", " : "", kernel->member[m].name);
	heddle_note(scop->ctx, NULL, "its blocks are cut along %s", kernel->n_member ? heddle_text_str(&text) : "no dimension");
	heddle_text_free(&text);
	return -1;
}

static int order_members(heddle_scop *scop, heddle_kernel *kernel)
{
	int n = 0;
	bool used[HEDDLE_MAX_DIM] = {0};
	for (int i = 0; i < kernel->config->n_order; i++) {
		int found = -1;
		for (int m = 0; m < kernel->n_member; m++)
			if (!strcmp(kernel->member[m].name, kernel->config->order[i]))
				found = m;
		if (found < 0)
			return no_member(scop, kernel, kernel->config->order[i]);
		if (used[found])
			return heddle_error(scop->ctx, 521, NULL, "config: order of kernel %d gives `%s` twice", kernel->position,
					    kernel->config->order[i]);
		used[found] = true;
		kernel->member_order[n++] = found;
	}
	for (int m = 0; m < kernel->n_member; m++)
		if (!used[m])
			kernel->member_order[n++] = m;
	return 0;
}

static int check_statements(heddle_scop *scop, const heddle_kernel *kernel)
{
	for (int i = 0; i < kernel->config->n_stmt; i++) {
		bool found = false;
		for (int s = 0; s < kernel->n_stmt; s++)
			found |= kernel->stmt[s]->position == kernel->config->stmt[i].stmt;
		if (!found)
			return heddle_error(scop->ctx, 513, NULL, "config: kernel %d has no statement S%d", kernel->position,
					    kernel->config->stmt[i].stmt);
	}
	return 0;
}

static int check_streams(heddle_scop *scop, const heddle_kernel *kernel)
{
	for (int i = 0; i < kernel->config->n_stream; i++) {
		const char *name = kernel->config->stream[i];
		bool found = false;
		for (int s = 0; s < kernel->n_stmt; s++)
			found = found || !strcmp(kernel->stmt[s]->access[0].tensor->name, name);
		if (!found)
			return heddle_error(scop->ctx, 513, NULL, "config: kernel %d writes no tensor `%s`", kernel->position, name);
		if (!scop->descriptor->streaming_stores)
			return heddle_error(scop->ctx, 528, NULL, "config: `%s` of kernel %d cannot be streamed: %s has no such stores", name,
					    kernel->position, scop->descriptor->name);
	}
	return 0;
}

/* Can rounds be the outermost loops?  Where no loop over tiles is around them, one thread goes through all statements for the elements
 * of a round and needs room for no others.  The loops are shared: their dimensions have the same numbers in all statements. */
static bool rounds_outside(const heddle_kernel *kernel)
{
	bool any = false;
	if (kernel->threads > 1)
		return false;
	for (int s = 0; s < kernel->n_stmt; s++)
		for (int d = 0; d < kernel->stmt[s]->n_dim; d++) {
			const heddle_dim *dim = &kernel->stmt[s]->dim[d];
			if (dim->member < 0 && !dim->single_tile)
				return false;
			if (dim->layout.rounds == 1)
				continue;
			any = true;
			for (int other = 0; other < s; other++)
				if (d >= kernel->stmt[other]->n_dim || kernel->stmt[other]->dim[d].member != dim->member)
					return false;
		}
	return any;
}

int heddle_pass_tile(heddle_scop *scop)
{
	static const heddle_kernel_config none = {0};
	for (int k = scop->n_kernel; k < scop->config->n_kernel; k++)
		if (scop->config->kernel[k].n_stmt)
			return heddle_error(scop->ctx, 513, NULL, "config: there is no kernel %d", k);
	for (int k = 0; k < scop->n_kernel; k++) {
		heddle_kernel *kernel = scop->kernel[k];
		kernel->config = k < scop->config->n_kernel ? &scop->config->kernel[k] : &none;
		if (check_statements(scop, kernel) < 0 || check_streams(scop, kernel) < 0 || order_members(scop, kernel) < 0 || member_layouts(scop, kernel) < 0 || kernel_threads(scop, kernel) < 0)
			return -1;
		for (int s = 0; s < kernel->n_stmt; s++)
			if (stmt_layouts(scop, kernel, kernel->stmt[s]) < 0)
				return -1;
		kernel->rounds_outside = rounds_outside(kernel);
	}
	return heddle_scop_check(scop, "tile");
}
