/* place: tensors written in a kernel go to registers where each thread keeps to its own elements; tiles of tensors that are
 * only read go to shared memory.
 *
 * Enters: layouts; the config's space of each group.  Leaves: kernel->group, access.group, accumulators.
 * Guaranteed: every access has a group; a register group's elements are private to a thread (or equal in all lanes); a
 * shared group's box contains everything its statement reads in one step.
 * SPDX-License-Identifier: MIT
 */
#include "model/nest.h"

#include <isl/space.h>
#include <isl/val.h>
#include <string.h>

/* Registers of one array per thread; beyond this the compiler spills. */
#define MAX_REGISTER_ELEMENTS 1024

bool heddle_kernel_writes(const heddle_kernel *kernel, const heddle_tensor *tensor)
{
	for (int s = 0; s < kernel->n_stmt; s++)
		if (kernel->stmt[s]->access[0].tensor == tensor)
			return true;
	return false;
}

int heddle_access_dim(const heddle_stmt *stmt, const heddle_access *access, int e)
{
	const heddle_expr *subscript = access->expr ? access->expr->arg[e] : stmt->source->lhs[e];
	while (subscript->kind == HEDDLE_EXPR_CAST)
		subscript = subscript->arg[0];
	return subscript->kind == HEDDLE_EXPR_INDEX ? subscript->index->position : -1;
}

typedef struct found_step {
	int dim;
	int64_t value; /* INT64_MIN: of no piece so far */
	bool known;
} found_step;

static isl_stat add_step(__isl_take isl_set *where, __isl_take isl_aff *subscript, void *user)
{
	found_step *found = user;
	isl_val *v = isl_aff_get_coefficient_val(subscript, isl_dim_in, found->dim);
	const bool plain = isl_val_is_int(v) == isl_bool_true && isl_aff_dim(subscript, isl_dim_div) == 0;
	const int64_t value = plain ? isl_val_get_num_si(v) : 0;
	found->known = found->known && plain && (found->value == INT64_MIN || found->value == value);
	found->value = value;
	isl_val_free(v);
	isl_aff_free(subscript);
	isl_set_free(where);
	return isl_stat_ok;
}

int64_t heddle_access_step(const heddle_access *access, int e, int dim)
{
	found_step found = {dim, INT64_MIN, true};
	isl_pw_aff *subscript = isl_multi_pw_aff_get_pw_aff(access->index, e);
	isl_pw_aff_foreach_piece(subscript, add_step, &found);
	isl_pw_aff_free(subscript);
	return found.known && found.value != INT64_MIN ? found.value : 0;
}

/* Subscript `e` as one formula on its domain; NULL: it is piecewise. */
static isl_aff *formula_of(const heddle_access *access, int e)
{
	isl_pw_aff *all = isl_multi_pw_aff_get_pw_aff(access->index, e);
	all = isl_pw_aff_gist(all, isl_pw_aff_domain(isl_pw_aff_copy(all)));
	if (isl_pw_aff_isa_aff(all) == isl_bool_true)
		return isl_pw_aff_as_aff(all);
	isl_pw_aff_free(all);
	return NULL;
}

bool heddle_access_is_uniform(const heddle_access *access)
{
	bool uniform = access->affine;
	for (int e = 0; e < access->tensor->rank && uniform; e++) {
		isl_aff *own = formula_of(access, e);
		uniform = own != NULL;
		isl_aff_free(own);
	}
	return uniform;
}

/* Results that a thread holds along the dimension; reductions are loops. */
static int64_t held_along(const heddle_dim *dim)
{
	return dim->reduction ? 1 : dim->layout.items * dim->layout.vector;
}

bool heddle_is_window(const heddle_stmt *stmt, int d)
{
	enum { LONGEST = 8, MOST_COPIES = 256 };
	const heddle_dim *window = &stmt->dim[d];
	int64_t copies = window->layout.items;
	for (int x = 0; x < stmt->n_dim; x++)
		copies *= held_along(&stmt->dim[x]);
	if (!window->reduction || window->member >= 0 || stmt->kernel->threads < 2 || window->layout.items < 2 || window->layout.items > LONGEST ||
	    window->layout.threads * window->layout.vector * window->layout.rounds > 1 || copies > MOST_COPIES)
		return false;
	for (int a = 1; a < stmt->n_access; a++) {
		const heddle_access *access = &stmt->access[a];
		const heddle_group *group = access->group;
		if (!group || group->space == HEDDLE_SPACE_REGISTER || !access->tensor->rank || !access->affine ||
		    heddle_kernel_writes(stmt->kernel, access->tensor))
			continue;
		const int row = group->space == HEDDLE_SPACE_SHARED ? heddle_tile_array_row(group) : heddle_tensor_inner(access->tensor);
		if (row < 0)
			continue;
		for (int x = 0; x < stmt->n_dim; x++)
			if (held_along(&stmt->dim[x]) > 1 && heddle_access_step(access, row, x) && heddle_access_step(access, row, d))
				return true;
	}
	return false;
}

/* The most that an extent can be; 0: not known. */
static int64_t most_of(const heddle_expr *extent)
{
	if (extent->kind != HEDDLE_EXPR_BINARY || extent->op != HEDDLE_OP_MIN)
		return heddle_fixed_extent(extent);
	const int64_t a = most_of(extent->arg[0]), b = most_of(extent->arg[1]);
	return !a || (b && b < a) ? b : a;
}

/* The dimension that goes through each piece of a row that another one has cut: the one of k in chunk * 256 + k, k in 0:256.  Short
 * pieces are windows and blocks of pixels, no rows. */
static int cut_row(const heddle_stmt *stmt, const heddle_access *access, int e)
{
	enum { SHORT = 64 };
	int row = -1;
	int64_t length = 0;
	for (int d = 0; d < stmt->n_dim && access->affine; d++)
		if (row < 0 && heddle_access_step(access, e, d) == 1 && heddle_fixed_extent(stmt->source->index[d]->lower) == 0) {
			row = d;
			length = most_of(stmt->source->index[d]->upper);
		}
	if (row < 0 || length < SHORT)
		return -1;
	for (int d = 0; d < stmt->n_dim; d++)
		if (d != row && heddle_access_step(access, e, d) % length != 0)
			return -1;
	return row;
}

int heddle_row_dim(const heddle_stmt *stmt, const heddle_access *access)
{
	const int inner = heddle_tensor_inner(access->tensor), plain = inner >= 0 ? heddle_access_dim(stmt, access, inner) : -1;
	return inner >= 0 && plain < 0 ? cut_row(stmt, access, inner) : plain;
}

/* Is dimension d a vector, and are its members neighbours in the statement's target? */
static bool goes_along_target(const heddle_stmt *stmt, int d)
{
	const heddle_access *target = &stmt->access[0];
	const int row = heddle_tensor_inner(target->tensor);
	if (row < 0 || stmt->dim[d].reduction || stmt->dim[d].layout.vector < 2)
		return false;
	return heddle_access_dim(stmt, target, row) == d || (target->affine && heddle_access_step(target, row, d) == 1);
}

int heddle_lockstep_dim(const heddle_stmt *stmt, const bool *among)
{
	for (int d = 0; d < stmt->n_dim; d++)
		if ((!among || among[d]) && goes_along_target(stmt, d))
			return d;
	for (int reductions = 0; reductions < 2; reductions++)
		for (int d = 0; d < stmt->n_dim; d++)
			if ((!among || among[d]) && stmt->dim[d].reduction == reductions && stmt->dim[d].layout.vector > 1)
				return d;
	return -1;
}

int heddle_tensor_inner(const heddle_tensor *tensor)
{
	if (!tensor->stride)
		return tensor->rank - 1;
	for (int e = tensor->rank - 1; e >= 0; e--)
		if (tensor->stride[e]->kind == HEDDLE_EXPR_INT && tensor->stride[e]->i == 1)
			return e;
	return -1;
}

bool heddle_same_layout(const heddle_layout *a, const heddle_layout *b)
{
	return a->tile == b->tile && a->rounds == b->rounds && a->threads == b->threads && a->vector == b->vector;
}

/* False: an array has no more dimensions. */
static bool add_coordinate(heddle_registers *r, int dim, heddle_part part, int64_t extent)
{
	if (extent <= 1)
		return true;
	if (r->n >= HEDDLE_MAX_DIM)
		return false;
	r->c[r->n].dim = dim;
	r->c[r->n].part = part;
	r->c[r->n++].extent = extent;
	return true;
}

/* More than any array may have stay as many as they have become. */
static int64_t elements(const heddle_registers *r)
{
	int64_t n = 1;
	for (int i = 0; i < r->n && n <= HEDDLE_MAX_ARRAY_BYTES; i++)
		n *= r->c[i].extent;
	return n;
}

int64_t heddle_array_bytes(const heddle_registers *r)
{
	bool several = false;
	for (int i = 0; i < r->n; i++)
		several |= r->c[i].part == HEDDLE_PART_TILE || r->c[i].part == HEDDLE_PART_ROUND;
	return several ? elements(r) * heddle_type_size(r->type) : 0;
}

int64_t heddle_fixed_extent(const heddle_expr *extent)
{
	int64_t value;
	return heddle_expr_evaluate(extent, NULL, &value) == 0 ? value : 0;
}

bool heddle_extent_multiple(const heddle_expr *extent, int64_t unit)
{
	int64_t value;
	if (heddle_expr_evaluate(extent, NULL, &value) == 0)
		return value % unit == 0;
	if (extent->kind == HEDDLE_EXPR_SIZE)
		return extent->size->divisor % unit == 0;
	if (extent->kind != HEDDLE_EXPR_BINARY)
		return false;
	const bool a = heddle_extent_multiple(extent->arg[0], unit), b = heddle_extent_multiple(extent->arg[1], unit);
	return extent->op == HEDDLE_OP_MUL ? a || b : (extent->op == HEDDLE_OP_ADD || extent->op == HEDDLE_OP_SUB) && a && b;
}

/* Tiles of the statement's local dimension `d` that the tensor's dimension `e` takes; 0: not known. */
static int64_t tiles_of(const heddle_tensor *tensor, int e, const heddle_stmt *stmt, int d)
{
	const int64_t tile = stmt->dim[d].layout.tile;
	return (heddle_fixed_extent(tensor->extent[e]) + tile - 1) / tile;
}

/* Every access of the tensor in the kernel subscripts it with plain indices that are laid out alike.  `tiles`: a thread may go over
 * its elements tile by tile. */
static bool uniform_layout(const heddle_kernel *kernel, const heddle_tensor *tensor, const heddle_stmt *writer, bool tiles)
{
	for (int s = 0; s < kernel->n_stmt; s++) {
		const heddle_stmt *stmt = kernel->stmt[s];
		for (int a = 0; a < stmt->n_access; a++) {
			const heddle_access *access = &stmt->access[a];
			if (access->tensor != tensor)
				continue;
			if (!access->affine)
				return false;
			for (int e = 0; e < tensor->rank; e++) {
				int d = heddle_access_dim(stmt, access, e);
				int w = heddle_access_dim(writer, &writer->access[0], e);
				if (d < 0 || w < 0 || stmt->dim[d].member != writer->dim[w].member)
					return false;
				if (!heddle_same_layout(&stmt->dim[d].layout, &writer->dim[w].layout))
					return false;
				if (stmt->dim[d].member < 0 && (!stmt->dim[d].single_tile || !writer->dim[w].single_tile) &&
				    !(tiles && tiles_of(tensor, e, stmt, d) > 0))
					return false;
				for (int f = 0; f < e; f++)
					if (heddle_access_dim(stmt, access, f) == d)
						return false;
			}
		}
	}
	return true;
}

static heddle_stmt *first_writer(const heddle_kernel *kernel, const heddle_tensor *tensor)
{
	for (int s = 0; s < kernel->n_stmt; s++)
		if (kernel->stmt[s]->access[0].tensor == tensor)
			return kernel->stmt[s];
	return NULL;
}

/* The first access writes without reading, and everything accessed later was written in the kernel before. */
bool heddle_starts_fresh(heddle_scop *scop, const heddle_kernel *kernel, const heddle_tensor *tensor)
{
	heddle_stmt *writer = first_writer(kernel, tensor);
	if (!writer || tensor->role == HEDDLE_ROLE_INOUT)
		return false;
	isl_set *lhs = !writer->initialise ? isl_set_copy(writer->domain) :
		       writer->lhs	   ? isl_set_copy(writer->lhs) :
					     heddle_stmt_left_ranges(scop, writer, true);
	isl_map *written = isl_map_from_multi_pw_aff(isl_multi_pw_aff_copy(writer->access[0].index));
	isl_set *image = isl_set_apply(lhs, written);
	bool fresh = writer->source->initialise || writer->source->assign == HEDDLE_ASSIGN_SET;
	for (int s = 0; s < kernel->n_stmt && fresh; s++) {
		const heddle_stmt *stmt = kernel->stmt[s];
		for (int a = 0; a < stmt->n_access && fresh; a++) {
			if (stmt->access[a].tensor != tensor || (stmt == writer && !a))
				continue;
			if (stmt->position <= writer->position)
				fresh = false;
			isl_set *touched = isl_map_range(isl_map_copy(stmt->access[a].relation));
			fresh = fresh && isl_set_is_subset(touched, image) == isl_bool_true;
			isl_set_free(touched);
		}
	}
	isl_set_free(image);
	return fresh;
}

bool heddle_used_after(const heddle_scop *scop, const heddle_kernel *kernel, const heddle_tensor *tensor)
{
	if (tensor->role != HEDDLE_ROLE_TEMPORARY)
		return true;
	for (int i = kernel->stmt[0]->position + 1; i < scop->n_stmt; i++)
		for (int a = 0; a < scop->stmt[i]->n_access && scop->stmt[i]->kernel != kernel; a++)
			if (scop->stmt[i]->access[a].tensor == tensor)
				return true;
	return false;
}

/* What a thread has of a dimension: all rounds, or those of one. */
static heddle_part first_part(const heddle_kernel *kernel)
{
	return kernel->rounds_outside ? HEDDLE_PART_ITEM : HEDDLE_PART_ROUND;
}

bool heddle_register_legal(heddle_scop *scop, heddle_kernel *kernel, heddle_tensor *tensor, heddle_registers *registers)
{
	heddle_registers r = {.name = tensor->name, .type = tensor->type};
	heddle_stmt *writer = first_writer(kernel, tensor);
	/* Where threads hold registers their subscripts are constants in the end: a local dimension must fit one tile.  The one thread
	 * of a vector unit has its arrays in memory anyway, near it; what is stored for others is stored by tiles that are gone then. */
	const bool tiles = scop->descriptor->execution == HEDDLE_SIMD && !heddle_used_after(scop, kernel, tensor);
	if (!writer || tensor->role == HEDDLE_ROLE_INOUT || !uniform_layout(kernel, tensor, writer, tiles))
		return false;
	if (!heddle_starts_fresh(scop, kernel, tensor))
		return false;
	bool room = true;
	for (int e = 0; e < tensor->rank && tiles; e++) {
		const int d = heddle_access_dim(writer, &writer->access[0], e);
		if (writer->dim[d].member < 0)
			room = room && add_coordinate(&r, e, HEDDLE_PART_TILE, tiles_of(tensor, e, writer, d));
	}
	const bool array = heddle_array_bytes(&r) > 0;
	const int lockstep = heddle_lockstep_dim(writer, NULL);
	for (int part = (int)first_part(kernel); part < HEDDLE_PARTS; part++)
		for (int last = 0; last < 2; last++) /* members that are computed together lie side by side */
			for (int e = 0; e < tensor->rank; e++) {
				const int d = heddle_access_dim(writer, &writer->access[0], e);
				if ((d == lockstep) == last)
					room = room && add_coordinate(&r, e, (heddle_part)part,
								      heddle_layout_extent(&writer->dim[d].layout, (heddle_part)part));
			}
	if (!room)
		return false;
	if (array ? heddle_array_bytes(&r) > HEDDLE_MAX_ARRAY_BYTES : elements(&r) > MAX_REGISTER_ELEMENTS)
		return false;
	if (registers)
		*registers = r;
	return true;
}

/* ---- shared tiles ------------------------------------------------------------------------------------------------------ */

/* The coordinates of a step: parameters of its block, and the loops over tiles; by dimension what numbers its tile.  Freed by free_step. */
typedef struct step_text {
	heddle_text blocks, loops;
	const char *tile[HEDDLE_MAX_DIM];
} step_text;

static step_text step_of(heddle_scop *scop, const heddle_stmt *stmt)
{
	const heddle_kernel *kernel = stmt->kernel;
	step_text s = {.blocks = {0}};
	for (int m = 0; m < kernel->n_member; m++)
		heddle_text_printf(&s.blocks, "%s%s", m ? ", " : "", heddle_block_param(scop, &kernel->member[m]));
	for (int d = 0; d < stmt->n_dim; d++) {
		const heddle_dim *dim = &stmt->dim[d];
		s.tile[d] = "0";
		if (dim->member >= 0) {
			s.tile[d] = heddle_block_param(scop, &kernel->member[dim->member]);
		} else if (!dim->single_tile) {
			s.tile[d] = heddle_arena_printf(scop->arena, "o%d", d);
			heddle_text_printf(&s.loops, "%so%d", s.loops.length ? ", " : "", d);
		}
	}
	return s;
}

static void free_step(step_text *s)
{
	heddle_text_free(&s->blocks);
	heddle_text_free(&s->loops);
}

/* { [tile loops of the statement] -> S[d] } of one step of a block, as a relation. */
__isl_give isl_map *heddle_step_instances(heddle_scop *scop, const heddle_stmt *stmt)
{
	heddle_text text = {0}, where = {0};
	step_text s = step_of(scop, stmt);
	for (int d = 0; d < stmt->n_dim; d++) {
		const long long tile = (long long)stmt->dim[d].layout.tile;
		heddle_text_printf(&where, "%s%lld*%s <= d%d <= %lld*%s + %lld", d ? " and " : "", tile, s.tile[d], d, tile, s.tile[d], tile - 1);
	}
	heddle_text_printf(&text, "%s{ [%s] -> %s[", heddle_scop_params(scop, heddle_text_str(&s.blocks)), heddle_text_str(&s.loops), stmt->name);
	for (int d = 0; d < stmt->n_dim; d++)
		heddle_text_printf(&text, "%sd%d", d ? ", " : "", d);
	heddle_text_printf(&text, "] : %s }", stmt->n_dim ? heddle_text_str(&where) : "1 = 1");
	isl_map *map = isl_map_read_from_str(scop->isl, heddle_text_str(&text));
	heddle_text_free(&text);
	heddle_text_free(&where);
	free_step(&s);
	return map;
}

/* The box of what a step reads.  Subscripts like 3 * w + 4 * k leave elements out: their bounds are those of rational numbers. */
static isl_fixed_box *box_of(__isl_take isl_map *step)
{
	isl_fixed_box *box = isl_map_get_range_simple_fixed_box_hull(step);
	if (isl_fixed_box_is_valid(box) == isl_bool_true) {
		isl_map_free(step);
		return box;
	}
	isl_fixed_box_free(box);
	step = isl_map_remove_divs(step);
	box = isl_map_get_range_simple_fixed_box_hull(step);
	isl_map_free(step);
	return box;
}

/* { [tile loops of the statement] -> S[d] }: the first instance of a step's tile along each dimension, or the last one where `last` says so. */
static __isl_give isl_multi_aff *corner_of(heddle_scop *scop, const heddle_stmt *stmt, const bool *last)
{
	heddle_text text = {0}, at = {0};
	step_text s = step_of(scop, stmt);
	for (int d = 0; d < stmt->n_dim; d++) {
		const long long tile = (long long)stmt->dim[d].layout.tile;
		heddle_text_printf(&at, "%s(%lld*%s + %lld)", d ? ", " : "", tile, s.tile[d], last[d] ? tile - 1 : 0);
	}
	heddle_text_printf(&text, "%s{ [%s] -> %s[%s] }", heddle_scop_params(scop, heddle_text_str(&s.blocks)), heddle_text_str(&s.loops), stmt->name,
			   heddle_text_str(&at));
	isl_multi_aff *corner = isl_multi_aff_read_from_str(scop->isl, heddle_text_str(&text));
	heddle_text_free(&text);
	heddle_text_free(&at);
	free_step(&s);
	return corner;
}

/* Narrows the box along dimension e of the tensor to what the subscript itself says of a whole tile: bounds of rational numbers may be wider.
 * One that holds under a condition alone is left as it is. */
static void narrow_box(heddle_scop *scop, const heddle_stmt *stmt, const heddle_access *access, heddle_group *group, int e)
{
	isl_aff *own = formula_of(access, e);
	bool last[HEDDLE_MAX_DIM] = {0};
	int64_t size = 1;
	if (!own || isl_aff_dim(own, isl_dim_div) != 0) {
		isl_aff_free(own);
		return;
	}
	for (int d = 0; d < stmt->n_dim; d++) {
		isl_val *factor = isl_aff_get_coefficient_val(own, isl_dim_in, d);
		const int64_t by = isl_val_get_num_si(factor);
		last[d] = by < 0;
		size += llabs(by) * (stmt->dim[d].layout.tile - 1);
		isl_val_free(factor);
	}
	if (size < group->size[e]) {
		isl_multi_aff *corner = corner_of(scop, stmt, last);
		own = isl_aff_align_params(own, isl_multi_aff_get_space(corner));
		corner = isl_multi_aff_align_params(corner, isl_aff_get_domain_space(own));
		own = isl_aff_pullback_multi_aff(own, corner);
		group->offset = isl_multi_aff_align_params(group->offset, isl_aff_get_domain_space(own));
		own = isl_aff_align_params(own, isl_multi_aff_get_domain_space(group->offset));
		group->offset = isl_multi_aff_set_aff(group->offset, e, own);
		group->size[e] = size;
		own = NULL;
	}
	isl_aff_free(own);
}

bool heddle_tile_box(heddle_scop *scop, const heddle_stmt *stmt, const heddle_access *access, heddle_group *group)
{
	if (!access->affine)
		return false;
	isl_map *step = heddle_step_instances(scop, stmt);
	isl_map *read = isl_map_from_multi_pw_aff(isl_multi_pw_aff_copy(access->index));
	isl_fixed_box *box = box_of(isl_map_apply_range(step, read));
	bool valid = isl_fixed_box_is_valid(box) == isl_bool_true;
	if (valid) {
		isl_multi_val *size = isl_fixed_box_get_size(box);
		for (int e = 0; e < access->tensor->rank; e++) {
			isl_val *v = isl_multi_val_get_val(size, e);
			group->size[e] = isl_val_is_int(v) == isl_bool_true ? isl_val_get_num_si(v) : 0;
			valid = valid && group->size[e] > 0;
			isl_val_free(v);
		}
		isl_multi_val_free(size);
		isl_multi_aff_free(group->offset);
		group->offset = isl_fixed_box_get_offset(box);
		for (int e = 0; e < access->tensor->rank && valid; e++)
			narrow_box(scop, stmt, access, group, e);
	}
	isl_fixed_box_free(box);
	return valid;
}

int heddle_tile_row(const heddle_group *group)
{
	const int inner = heddle_tensor_inner(group->tensor);
	return inner < 0 ? group->tensor->rank - 1 : inner;
}

bool heddle_tile_in_run(const heddle_group *group, int e)
{
	return e >= group->run && e <= heddle_tile_row(group);
}

int64_t heddle_tile_run_length(const heddle_group *group)
{
	int64_t n = 1;
	for (int e = 0; e < group->tensor->rank; e++)
		n *= heddle_tile_in_run(group, e) ? group->size[e] : 1;
	return n;
}

int heddle_tile_most_columns(const heddle_group *group)
{
	const int64_t vectors = heddle_tile_run_length(group) / group->vector;
	int columns = 1;
	while (columns < vectors && columns * 2 <= group->kernel->threads)
		columns *= 2;
	while (group->kernel->threads % columns)
		columns /= 2;
	return columns;
}

int64_t heddle_tile_extent(const heddle_group *group, int at)
{
	const int e = group->order[at];
	if (!heddle_tile_in_run(group, e))
		return group->size[e];
	return e == group->run ? heddle_tile_run_length(group) : 0;
}

int heddle_tile_array_row(const heddle_group *group)
{
	for (int i = group->tensor->rank - 1; i > 0; i--)
		if (group->size[group->order[i]] > 1)
			return group->order[i];
	return group->order[0];
}

int64_t heddle_tile_row_length(const heddle_group *group)
{
	const int row = heddle_tile_array_row(group);
	const int64_t n = heddle_tile_in_run(group, row) ? heddle_tile_run_length(group) : group->size[row];
	return (n + group->phases - 1) / group->phases;
}

int64_t heddle_tile_elements(const heddle_group *group)
{
	int64_t n = 1, row = 0;
	for (int at = 0; at < group->tensor->rank; at++) {
		const int64_t extent = heddle_tile_extent(group, at);
		n *= row > 0 && extent > 1 ? row : 1;
		row = extent > 1 ? extent : row;
	}
	if (!row)
		return 1;
	return n * group->phases * (heddle_tile_row_length(group) + group->pad);
}

/* Has the tile the tensor's dimension from end to end? */
static bool is_whole(const heddle_group *group, int e)
{
	isl_aff *first = isl_multi_aff_get_aff(group->offset, e);
	const bool from_0 = isl_aff_plain_is_zero(first) == isl_bool_true;
	isl_aff_free(first);
	return from_0 && group->size[e] == heddle_fixed_extent(group->tensor->extent[e]);
}

void heddle_tile_run(heddle_group *group)
{
	int at = 0;
	group->run = heddle_tile_row(group);
	if (group->tensor->stride || !group->tensor->rank || group->copy)
		return;
	while (group->order[at] != group->run)
		at++;
	while (at > 0 && group->order[at - 1] == group->run - 1 && is_whole(group, group->run))
		group->run--, at--;
}

/* Is every coefficient of the aff, but those of `unit` elements, a multiple of it? */
static bool in_steps(__isl_take isl_aff *aff, int64_t unit)
{
	bool good = true;
	static const enum isl_dim_type type[] = {isl_dim_param, isl_dim_in, isl_dim_div};
	isl_val *v = isl_aff_get_constant_val(aff);
	good = isl_val_is_int(v) == isl_bool_true && isl_val_get_num_si(v) % unit == 0;
	isl_val_free(v);
	for (int t = 0; t < 3; t++)
		for (int i = 0; good && i < isl_aff_dim(aff, type[t]); i++) {
			v = isl_aff_get_coefficient_val(aff, type[t], i);
			good = isl_val_is_zero(v) == isl_bool_true ||
			       (type[t] != isl_dim_div && isl_val_is_int(v) == isl_bool_true && isl_val_get_num_si(v) % unit == 0);
			isl_val_free(v);
		}
	isl_aff_free(aff);
	return good;
}

int64_t heddle_tile_run_unit(const heddle_group *group, int64_t unit)
{
	for (int e = group->run + 1; e <= heddle_tile_row(group); e++)
		for (int64_t n = group->size[e]; unit > 1 && n % 2 == 0; n /= 2)
			unit /= 2;
	return unit;
}

bool heddle_tile_begins_at(const heddle_group *group, int64_t unit)
{
	return in_steps(isl_multi_aff_get_aff(group->offset, group->run), heddle_tile_run_unit(group, unit));
}

void heddle_tile_whole_vectors(heddle_group *group, int64_t vector)
{
	const int row = group->tensor->rank ? heddle_tile_row(group) : -1;
	if (row < 0 || group->run != row || group->copy || group->order[group->tensor->rank - 1] != row ||
	    !heddle_extent_multiple(group->tensor->extent[row], vector) || !heddle_tile_begins_at(group, vector))
		return;
	group->size[row] = (group->size[row] + vector - 1) / vector * vector;
}

/* Rows of the tile lie as rows of the tensor do, and begin and end where the copy can. */
bool heddle_copy_fits(const heddle_group *group, const heddle_copy *copy)
{
	const heddle_tensor *tensor = group->tensor;
	int last = tensor->rank - 1, size = heddle_type_size(tensor->type);
	double bytes = copy->alignment.value > copy->granularity.value ? copy->alignment.value : copy->granularity.value;
	int64_t unit = bytes > size ? (int64_t)bytes / size : 1;
	if (last < 0 || group->order[last] != last)
		return false;
	if (tensor->stride && !(tensor->stride[last]->kind == HEDDLE_EXPR_INT && tensor->stride[last]->i == 1))
		return false;
	if (unit == 1)
		return true;
	if ((int64_t)bytes % size || bytes > 16)
		return false;
	bool good = group->size[last] % unit == 0 && group->pad % unit == 0 && heddle_extent_multiple(tensor->extent[last], unit) &&
		    in_steps(isl_multi_aff_get_aff(group->offset, last), unit);
	for (int e = 0; e < last && tensor->stride; e++)
		good = good && heddle_extent_multiple(tensor->stride[e], unit);
	return good;
}

static int place_copy(heddle_scop *scop, heddle_group *group, const char *name)
{
	group->copy = heddle_descriptor_copy(scop->descriptor, name);
	if (!group->copy) {
		heddle_error(scop->ctx, 526, NULL, "config: `%s` has no copy `%s`", scop->descriptor->name, name);
		for (int i = 0; i < scop->descriptor->n_copy; i++)
			heddle_note(scop->ctx, NULL, "it has `%s`", scop->descriptor->copy[i].name);
		return -1;
	}
	for (int g = 0; g < group->kernel->n_group; g++) {
		const heddle_group *other = group->kernel->group[g];
		if (other->stmt == group->stmt && other->copy && other->copy != group->copy)
			return heddle_error(scop->ctx, 526, NULL, "config: tiles of one statement are moved by `%s` and by `%s`",
					    other->copy->name, name);
	}
	if (!heddle_copy_fits(group, group->copy))
		return heddle_error(scop->ctx, 526, NULL,
				    "config: `%s.%d` cannot be moved by `%s`: rows of the tile are not rows of the tensor, or "
				    "begin or end where it cannot", group->tensor->name, group->number, name);
	return 0;
}

/* Rows that are taken apart: what threads take of them in steps lies side by side. */
static int place_phases(heddle_scop *scop, heddle_group *group, const heddle_group_config *config)
{
	group->phases = config->phases > 1 ? config->phases : 1;
	const int row = group->tensor->rank ? heddle_tile_array_row(group) : -1;
	if (group->phases == 1 || (row >= 0 && !group->copy && group->size[row] >= group->phases && (row != heddle_tile_row(group) || group->run == row)))
		return 0;
	return heddle_error(scop->ctx, 522, NULL, "config: rows of `%s.%d` cannot be taken apart by phases=%d: they are moved by a copy, go on through "
			    "several dimensions, or have fewer elements", group->tensor->name, group->number, group->phases);
}

static int place_shared(heddle_scop *scop, heddle_group *group, const heddle_group_config *config)
{
	const heddle_tensor *tensor = group->tensor;
	bool used[HEDDLE_MAX_DIM] = {0};
	if (heddle_kernel_writes(group->kernel, tensor))
		return heddle_error(scop->ctx, 520, NULL, "config: `%s` is written in kernel %d, it cannot be staged",
				    tensor->name, group->kernel->position);
	bool boxed = heddle_tile_box(scop, group->stmt, group->access, group);
	if (heddle_scop_check(scop, "place") < 0)
		return -1;
	if (!boxed)
		return heddle_error(scop->ctx, 520, NULL, "config: `%s.%d` has no fixed box per step, it cannot be staged",
				    tensor->name, group->number);
	bool permutation = !config->n_order || config->n_order == tensor->rank;
	for (int i = 0; i < config->n_order && permutation; i++) {
		permutation = config->order[i] < tensor->rank && !used[config->order[i]];
		if (permutation)
			used[config->order[i]] = true;
		group->order[i] = config->order[i];
	}
	if (!permutation) {
		heddle_error(scop->ctx, 521, NULL, "config: order of `%s.%d` is not a permutation of its dimensions", tensor->name, group->number);
		return heddle_note(scop->ctx, NULL, "list each number from 0 to %d once", tensor->rank - 1), -1;
	}
	for (int e = 0; e < tensor->rank && !config->n_order; e++)
		group->order[e] = e;
	group->space = HEDDLE_SPACE_SHARED;
	group->pad = config->pad > 0 ? config->pad : 0;
	group->vector = config->vector > 1 ? config->vector : 1;
	if (config->copy && place_copy(scop, group, config->copy) < 0)
		return -1;
	heddle_tile_run(group);
	heddle_tile_whole_vectors(group, group->vector);
	int64_t row = tensor->rank ? heddle_tile_run_length(group) : group->vector;
	if (row % group->vector)
		return heddle_error(scop->ctx, 522, NULL, "config: vector=%d does not divide the %lld elements of a row of `%s.%d`",
				    group->vector, (long long)row, tensor->name, group->number);
	group->columns = config->columns > 0 ? config->columns : heddle_tile_most_columns(group);
	if (group->columns & (group->columns - 1) || group->kernel->threads % group->columns)
		return heddle_error(scop->ctx, 522, NULL, "config: columns=%d of `%s.%d` is not a power of two that divides the block's %d threads",
				    group->columns, tensor->name, group->number, group->kernel->threads);
	return place_phases(scop, group, config);
}

/* ---- groups ---------------------------------------------------------------------------------------------------------------- */

static const heddle_group_config *group_config(const heddle_kernel_config *config, const char *tensor, int number)
{
	for (int i = 0; i < config->n_group; i++)
		if (!strcmp(config->group[i].tensor, tensor) && config->group[i].number == number)
			return &config->group[i];
	return NULL;
}

static heddle_group *new_group(heddle_scop *scop, heddle_kernel *kernel, heddle_tensor *tensor, heddle_stmt *stmt,
			       heddle_access *access, int number)
{
	heddle_group *group = HEDDLE_NEW(scop->arena, heddle_group);
	group->tensor = tensor;
	group->kernel = kernel;
	group->stmt = stmt;
	group->access = access;
	group->number = number;
	group->vector = group->phases = 1;
	HEDDLE_PUSH(scop->arena, kernel->group, kernel->n_group, group);
	return group;
}

/* The group of the kernel that holds a written tensor, or of a read that is the same as an earlier one of the statement. */
static heddle_group *find_group(heddle_kernel *kernel, heddle_stmt *stmt, const heddle_access *access, bool written)
{
	for (int g = 0; g < kernel->n_group; g++) {
		heddle_group *group = kernel->group[g];
		if (group->tensor != access->tensor)
			continue;
		if (written)
			return group;
		/* of subscripts that data give the relation only says what they may be */
		if (group->stmt == stmt && group->access->affine == access->affine && isl_map_is_equal(group->access->relation, access->relation) == isl_bool_true)
			return group;
	}
	return NULL;
}

int heddle_make_groups(heddle_scop *scop, heddle_kernel *kernel)
{
	for (int s = 0; s < kernel->n_stmt; s++) {
		heddle_stmt *stmt = kernel->stmt[s];
		for (int a = 0; a < stmt->n_access; a++) {
			heddle_access *access = &stmt->access[a];
			bool written = heddle_kernel_writes(kernel, access->tensor);
			int number = 0;
			access->group = find_group(kernel, stmt, access, written);
			if (access->group)
				continue;
			for (int g = 0; g < kernel->n_group; g++)
				number += kernel->group[g]->tensor == access->tensor;
			access->group = new_group(scop, kernel, access->tensor, written ? NULL : stmt, access, number);
		}
	}
	return 0;
}

static int64_t stride_of(const heddle_tensor *tensor, int e)
{
	int64_t stride = 1;
	if (tensor->stride)
		return heddle_fixed_extent(tensor->stride[e]);
	for (int f = e + 1; f < tensor->rank; f++)
		if (__builtin_mul_overflow(stride, heddle_fixed_extent(tensor->extent[f]), &stride))
			return 0;
	return stride;
}

int64_t heddle_block_distance(const heddle_group *group)
{
	const heddle_kernel *kernel = group->kernel;
	const heddle_tensor *tensor = group->tensor;
	const int fastest = kernel->n_member ? kernel->member_order[kernel->n_member - 1] : -1;
	int64_t distance = 0, part;
	if (!group->stmt || !group->access->affine || fastest < 0)
		return 0;
	for (int d = 0; d < group->stmt->n_dim; d++)
		for (int e = 0; e < tensor->rank && group->stmt->dim[d].member == fastest; e++)
			if (__builtin_mul_overflow(heddle_access_step(group->access, e, d) * kernel->member[fastest].layout.tile, stride_of(tensor, e), &part) ||
			    __builtin_add_overflow(distance, part, &distance))
				return 0;
	return distance;
}

/* Lines of a later block's elements are asked for where the group's own are read; tiles are loaded a step ahead. */
static int place_ahead(heddle_scop *scop, heddle_group *group, const heddle_group_config *config)
{
	const int64_t distance = config->space > HEDDLE_SPACE_GLOBAL ? 0 : heddle_block_distance(group);
	if (config->prefetch < 1)
		return 0;
	if (config->space == HEDDLE_SPACE_SHARED) {
		group->early = config->prefetch == 1 && !config->copy && group->kernel->threads > 1;
		return group->early ? 0 : heddle_error(scop->ctx, 530, NULL,
						       "config: `%s.%d` cannot be asked for ahead: a tile that a block's threads fill is loaded "
						       "one step ahead, with prefetch=1", group->tensor->name, group->number);
	}
	if (!scop->descriptor->prefetches)
		return heddle_error(scop->ctx, 530, NULL, "config: `%s.%d` cannot be asked for ahead: %s has no way to ask", group->tensor->name,
				    group->number, scop->descriptor->name);
	if (distance > 0 && !__builtin_mul_overflow(distance, config->prefetch, &group->ahead))
		return 0;
	return heddle_error(scop->ctx, 530, NULL,
			    "config: `%s.%d` cannot be asked for ahead: it is written in the kernel, or not read in global memory, or the next "
			    "block's part of it does not lie a known number of elements further on", group->tensor->name, group->number);
}

static int place_group(heddle_scop *scop, heddle_kernel *kernel, heddle_group *group)
{
	const heddle_group_config *config = group_config(kernel->config, group->tensor->name, group->number);
	if (!config)
		return 0;
	if (place_ahead(scop, group, config) < 0)
		return -1;
	if (config->space < 0 || config->space == HEDDLE_SPACE_GLOBAL)
		return 0;
	if (config->space == HEDDLE_SPACE_SHARED)
		return place_shared(scop, group, config);
	bool legal = heddle_register_legal(scop, kernel, group->tensor, &group->registers);
	if (heddle_scop_check(scop, "place") < 0)
		return -1;
	if (!legal)
		return heddle_error(scop->ctx, 523, NULL, "config: `%s` cannot live in registers of kernel %d: threads share its "
							  "elements, or its first use reads it",
				    group->tensor->name, kernel->position);
	group->space = HEDDLE_SPACE_REGISTER;
	group->live_out = heddle_used_after(scop, kernel, group->tensor);
	for (int s = 0; s < kernel->n_stmt; s++)
		if (kernel->stmt[s]->access[0].tensor == group->tensor) {
			group->first_writer = group->first_writer ? group->first_writer : kernel->stmt[s];
			group->last_writer = kernel->stmt[s];
		}
	return 0;
}

/* One part of one dimension, of the sums and of what they are added up to. */
static bool add_part(const heddle_stmt *stmt, int d, heddle_part part, heddle_registers *sums, heddle_registers *total)
{
	const heddle_dim *dim = &stmt->dim[d];
	const int64_t extent = heddle_layout_extent(&dim->layout, part);
	bool room = true;
	if (!dim->reduction)
		room = add_coordinate(total, d, part, extent);
	if (!dim->reduction || (dim->reduce == HEDDLE_REDUCE_LANES && part == HEDDLE_PART_VEC))
		room = add_coordinate(sums, d, part, extent) && room;
	return room;
}

bool heddle_stmt_sums(const heddle_stmt *stmt, heddle_registers *sums, heddle_registers *total)
{
	const int lockstep = heddle_lockstep_dim(stmt, NULL);
	bool room = true;
	*sums = *total = (heddle_registers){.type = heddle_type_computed(stmt->access[0].tensor->type)};
	for (int part = (int)first_part(stmt->kernel); part < HEDDLE_PARTS; part++)
		for (int d = 0; d < stmt->n_dim; d++)
			if (part != HEDDLE_PART_VEC || d != lockstep)
				room = add_part(stmt, d, (heddle_part)part, sums, total) && room;
	if (lockstep >= 0) /* members that are computed together lie side by side */
		room = add_part(stmt, lockstep, HEDDLE_PART_VEC, sums, total) && room;
	return room;
}

static int make_accumulator(heddle_scop *scop, heddle_stmt *stmt)
{
	const char *target = stmt->access[0].tensor->name;
	if (!heddle_stmt_sums(stmt, &stmt->accumulator, &stmt->total))
		return heddle_error(scop->ctx, 527, NULL, "config: sums of %s have more than %d parts", stmt->name, HEDDLE_MAX_DIM);
	stmt->accumulator.name = heddle_arena_printf(scop->arena, "%s_sum%d", target, stmt->position);
	stmt->total.name = heddle_arena_printf(scop->arena, "%s_total%d", target, stmt->position);
	stmt->partial = stmt->accumulator.n > stmt->total.n;
	heddle_group *group = stmt->access[0].group;
	/* rows that do not exist are summed too: they must not be what an earlier statement left in the registers */
	stmt->in_group = group->space == HEDDLE_SPACE_REGISTER && stmt->accumulator.type == group->registers.type && stmt->initialise &&
			 group->first_writer == stmt;
	return 0;
}

bool heddle_lanes_shuffle(const heddle_scop *scop, const heddle_kernel *kernel)
{
	const int64_t warp = scop->descriptor->warp.set ? (int64_t)scop->descriptor->warp.value : 0, lanes = kernel->lanes;
	return scop->shuffles && warp > 0 && kernel->lane_stride == 1 && lanes > 0 && (lanes & (lanes - 1)) == 0 &&
	       kernel->threads % warp == 0 && (lanes <= warp || lanes % warp == 0);
}

int64_t heddle_lanes_bytes(const heddle_scop *scop, const heddle_kernel *kernel)
{
	int64_t bytes = 0;
	const int64_t slots = heddle_lanes_shuffle(scop, kernel) ? kernel->threads / (int64_t)scop->descriptor->warp.value : kernel->threads;
	for (int s = 0; s < kernel->n_stmt && kernel->lanes > 1; s++) {
		const heddle_stmt *stmt = kernel->stmt[s];
		int64_t results = 1;
		bool laned = false;
		for (int d = 0; d < stmt->n_dim; d++) {
			laned |= stmt->dim[d].reduction && stmt->dim[d].layout.threads > 1;
			if (!stmt->dim[d].reduction)
				results *= stmt->dim[d].layout.items * stmt->dim[d].layout.vector;
		}
		if (laned)
			bytes += results * slots * heddle_type_size(heddle_type_computed(stmt->access[0].tensor->type));
	}
	return bytes;
}

/* Bytes of shared memory that tiles and the exchange of lanes take together. */
static int64_t shared_bytes(const heddle_scop *scop, const heddle_kernel *kernel)
{
	int64_t bytes = heddle_lanes_bytes(scop, kernel);
	for (int g = 0; g < kernel->n_group; g++) {
		const heddle_group *group = kernel->group[g];
		if (group->space == HEDDLE_SPACE_SHARED)
			bytes += heddle_tile_elements(group) * heddle_type_size(group->tensor->type);
	}
	return bytes;
}

static int check_limits(heddle_scop *scop, const heddle_kernel *kernel)
{
	const heddle_quantity *limit = &scop->descriptor->shared_per_block;
	int64_t bytes = shared_bytes(scop, kernel);
	if (bytes && limit->set && (double)bytes > limit->value)
		return heddle_error(scop->ctx, 524, NULL, "config: kernel %d needs %lld bytes of shared memory, `%s` has %.0f per block",
				    kernel->position, (long long)bytes, scop->descriptor->name, limit->value);
	bytes = 0;
	for (int s = 0; s < kernel->n_stmt; s++)
		if (kernel->stmt[s]->reduction)
			bytes += heddle_array_bytes(&kernel->stmt[s]->accumulator);
	for (int g = 0; g < kernel->n_group; g++)
		if (kernel->group[g]->space == HEDDLE_SPACE_REGISTER)
			bytes += heddle_array_bytes(&kernel->group[g]->registers);
	if (bytes > HEDDLE_MAX_ARRAY_BYTES)
		return heddle_error(scop->ctx, 527, NULL, "config: kernel %d keeps %lld bytes in arrays of each thread, %d are allowed",
				    kernel->position, (long long)bytes, HEDDLE_MAX_ARRAY_BYTES);
	return 0;
}

static int no_group(heddle_scop *scop, const heddle_kernel *kernel, const heddle_group_config *config)
{
	heddle_text text = {0};
	heddle_error(scop->ctx, 513, NULL, "config: kernel %d has no group `%s.%d`", kernel->position, config->tensor, config->number);
	for (int g = 0; g < kernel->n_group; g++)
		heddle_text_printf(&text, "%s`%s.%d`", g ? ", " : "", kernel->group[g]->tensor->name, kernel->group[g]->number);
	heddle_note(scop->ctx, NULL, "it has %s", heddle_text_str(&text));
	heddle_text_free(&text);
	return -1;
}

int heddle_pass_place(heddle_scop *scop)
{
	for (int k = 0; k < scop->n_kernel; k++) {
		heddle_kernel *kernel = scop->kernel[k];
		if (!kernel->n_group)
			heddle_make_groups(scop, kernel);
		for (int i = 0; i < kernel->config->n_group; i++) {
			const heddle_group_config *config = &kernel->config->group[i];
			bool found = false;
			for (int g = 0; g < kernel->n_group; g++)
				found |= kernel->group[g]->number == config->number &&
					 !strcmp(kernel->group[g]->tensor->name, config->tensor);
			if (!found)
				return no_group(scop, kernel, config);
		}
		for (int g = 0; g < kernel->n_group; g++)
			if (place_group(scop, kernel, kernel->group[g]) < 0)
				return -1;
		for (int s = 0; s < kernel->n_stmt; s++)
			if (kernel->stmt[s]->reduction && make_accumulator(scop, kernel->stmt[s]) < 0)
				return -1;
		if (check_limits(scop, kernel) < 0)
			return -1;
	}
	return heddle_scop_check(scop, "place");
}
