/* map, sync and bound: statements in tile coordinates, moves, barriers; interior and boundary blocks.
 *
 * Enters: layouts and groups.  Leaves: a tree of sequences, loops and leaves per version of a kernel, each leaf with the set
 * of instances that run and their place in the statement or tensor.
 * Guaranteed: interior blocks run exactly their boxes, without a member's guard; a barrier stands between accesses of
 * different threads that depend on each other; barriers do not depend on thread coordinates.
 * SPDX-License-Identifier: MIT
 */
#include "model/nest.h"

#include <isl/id.h>
#include <isl/schedule_node.h>
#include <isl/space.h>
#include <isl/val.h>
#include <stdlib.h>
#include <string.h>

typedef struct region {
	heddle_leaf *compute;
	int prefix; /* leading loops of its leaves: the tile loops */
	int n_leaf;
	heddle_leaf **leaf;
	int part; /* 0 everything, 1 full tiles, 2 the rest */
} region;

typedef struct builder {
	heddle_scop *scop;
	heddle_kernel *kernel;
	heddle_mapped *mapped;
	bool interior;
	int n_region;
	region *region;
} builder;

/* ---- names ------------------------------------------------------------------------------------------------------------ */

const char *heddle_block_param(heddle_scop *scop, const heddle_member *member)
{
	return heddle_arena_printf(scop->arena, "c_%s_block", member->name);
}

const char *heddle_thread_param(heddle_scop *scop, const heddle_member *member)
{
	return heddle_arena_printf(scop->arena, "c_%s_thread", member->name);
}

/* Words that a generated variable must not be: reserved in C, C++ or OpenCL C. */
static bool reserved(const char *name)
{
	static const char *const word[] = {
		"auto",	   "break",   "case",	 "char",     "class",  "const",	 "continue", "default", "delete",  "do",
		"double",  "else",    "enum",	 "extern",   "float",  "for",	 "friend",   "goto",	"half",	   "if",
		"inline",  "int",     "kernel",	 "local",    "long",   "new",	 "operator", "private", "public",  "register",
		"restrict", "return", "short",	 "signed",   "sizeof", "static", "struct",   "switch",	"this",	   "throw",
		"try",	   "typedef", "union",	 "unsigned", "using",  "void",	 "volatile", "while",	"global",  "constant",
		"bool",	   "true",    "false",	 "uint",     "ulong",  "uchar",	 "ushort",   "and",	"or",	   "not",
		"lane",	   "thread",  "block",	 "template", "asm",    "image",	 "event_t",  "size_t",	"int8_t",  "xor"};
	for (size_t i = 0; i < HEDDLE_COUNT(word); i++)
		if (!strcmp(word[i], name))
			return true;
	return heddle_builtin_find(name) >= 0;
}

static bool taken(const heddle_scop *scop, const char *name)
{
	for (int i = 0; i < scop->definition->n_tensor; i++)
		if (!strcmp(scop->definition->tensor[i]->name, name))
			return true;
	for (int i = 0; i < scop->definition->n_size; i++)
		if (!strcmp(scop->definition->size[i]->name, name))
			return true;
	return !strcmp(scop->definition->name, name);
}

const char *heddle_loop_name(heddle_scop *scop, const heddle_stmt *stmt, int dim, heddle_part part)
{
	const heddle_dim *d = &stmt->dim[dim];
	const char *name = d->member >= 0 ? stmt->kernel->member[d->member].name : d->name;
	bool only = part == HEDDLE_PART_TILE ? d->layout.tile == 1
					     : part == HEDDLE_PART_ITEM && d->member < 0 && d->single_tile &&
						       d->layout.threads * d->layout.vector == 1;
	if (only && !reserved(name) && !taken(scop, name))
		return name;
	static const char *const suffix[] = {"tile", "item", "vec"};
	return heddle_arena_printf(scop->arena, "%s_%s", name, suffix[part]);
}

/* ---- tree ------------------------------------------------------------------------------------------------------------- */

static heddle_nest *new_nest(builder *b, heddle_nest_kind kind)
{
	heddle_nest *nest = HEDDLE_NEW(b->scop->arena, heddle_nest);
	nest->kind = kind;
	return nest;
}

static heddle_nest *append(builder *b, heddle_nest *parent, heddle_nest *child)
{
	HEDDLE_PUSH(b->scop->arena, parent->child, parent->n_child, child);
	return child;
}

static heddle_leaf *add_leaf(builder *b, heddle_nest *parent, heddle_leaf_kind kind, heddle_stmt *stmt, heddle_group *group)
{
	heddle_leaf *leaf = HEDDLE_NEW(b->scop->arena, heddle_leaf);
	leaf->kind = kind;
	leaf->number = b->mapped->n_leaf;
	leaf->name = heddle_arena_printf(b->scop->arena, "L%d", leaf->number);
	leaf->stmt = stmt;
	leaf->group = group;
	HEDDLE_PUSH(b->scop->arena, b->mapped->leaf, b->mapped->n_leaf, leaf);
	append(b, parent, new_nest(b, HEDDLE_NEST_LEAF))->leaf = leaf;
	return leaf;
}

static heddle_nest *add_loop(builder *b, heddle_nest *parent, const heddle_stmt *stmt, int dim, heddle_part part,
			     heddle_loop_kind kind)
{
	const heddle_layout *layout = &stmt->dim[dim].layout;
	int64_t extent = part == HEDDLE_PART_TILE ? 0 : part == HEDDLE_PART_ITEM ? layout->items : layout->vector;
	if (part != HEDDLE_PART_TILE && extent == 1)
		return parent;
	if (part == HEDDLE_PART_TILE && (stmt->dim[dim].member >= 0 || stmt->dim[dim].single_tile))
		return parent;
	heddle_nest *loop = append(b, parent, new_nest(b, HEDDLE_NEST_LOOP));
	loop->name = heddle_loop_name(b->scop, stmt, dim, part);
	loop->dim = dim;
	loop->part = part;
	loop->loop = kind;
	loop->extent = extent;
	return append(b, loop, new_nest(b, HEDDLE_NEST_SEQUENCE));
}

static bool has_lanes(const heddle_stmt *stmt)
{
	for (int d = 0; d < stmt->n_dim; d++)
		if (stmt->dim[d].member < 0 && stmt->dim[d].layout.threads > 1)
			return true;
	return false;
}

/* Loops over what one thread holds of the statement's dimensions: reductions outside, items, then vectors inside. */
static heddle_nest *item_loops(builder *b, heddle_nest *parent, const heddle_stmt *stmt, bool reductions)
{
	for (int d = 0; d < stmt->n_dim && reductions; d++)
		if (stmt->dim[d].reduction)
			parent = add_loop(b, parent, stmt, d, HEDDLE_PART_ITEM,
					  stmt->dim[d].reduce == HEDDLE_REDUCE_LANES && stmt->dim[d].layout.items <= 8
						  ? HEDDLE_LOOP_UNROLL
						  : HEDDLE_LOOP_SERIAL);
	for (int d = 0; d < stmt->n_dim; d++)
		if (!stmt->dim[d].reduction)
			parent = add_loop(b, parent, stmt, d, HEDDLE_PART_ITEM, HEDDLE_LOOP_UNROLL);
	for (int d = 0; d < stmt->n_dim; d++)
		if (!stmt->dim[d].reduction)
			parent = add_loop(b, parent, stmt, d, HEDDLE_PART_VEC, HEDDLE_LOOP_VECTOR);
	for (int d = 0; d < stmt->n_dim && reductions; d++)
		if (stmt->dim[d].reduction)
			parent = add_loop(b, parent, stmt, d, HEDDLE_PART_VEC, HEDDLE_LOOP_VECTOR);
	return parent;
}

/* Loops over the accumulator's own dimensions: reductions appear only as vector members. */
static heddle_nest *accumulator_loops(builder *b, heddle_nest *parent, const heddle_stmt *stmt)
{
	parent = item_loops(b, parent, stmt, false);
	for (int d = 0; d < stmt->n_dim; d++)
		if (stmt->dim[d].reduction && stmt->dim[d].reduce == HEDDLE_REDUCE_LANES)
			parent = add_loop(b, parent, stmt, d, HEDDLE_PART_VEC, HEDDLE_LOOP_VECTOR);
	return parent;
}

static heddle_nest *tile_loops(builder *b, heddle_nest *parent, const heddle_stmt *stmt, bool reductions)
{
	for (int d = 0; d < stmt->n_dim; d++)
		if (stmt->dim[d].reduction == reductions)
			parent = add_loop(b, parent, stmt, d, HEDDLE_PART_TILE, HEDDLE_LOOP_SERIAL);
	return parent;
}

static int count_loops(const heddle_nest *root, const heddle_nest *target, int depth)
{
	if (root == target)
		return depth;
	for (int i = 0; i < root->n_child; i++) {
		int found = count_loops(root->child[i], target, depth + (root->kind == HEDDLE_NEST_LOOP));
		if (found >= 0)
			return found;
	}
	return -1;
}

static bool stages(const heddle_kernel *kernel, const heddle_stmt *stmt)
{
	for (int g = 0; g < kernel->n_group; g++)
		if (kernel->group[g]->stmt == stmt && kernel->group[g]->space == HEDDLE_SPACE_SHARED)
			return true;
	return false;
}

static int64_t columns_of(builder *b, const heddle_group *group)
{
	int64_t row = group->size[group->tensor->rank - 1] / group->vector;
	int64_t columns = 1;
	while (columns < row && columns * 2 <= b->kernel->threads)
		columns *= 2;
	while (b->kernel->threads % columns)
		columns /= 2;
	for (int i = 0; i < b->mapped->n_columns; i++)
		if (b->mapped->columns[i] == columns)
			return columns;
	b->mapped->columns[b->mapped->n_columns++] = columns;
	return columns;
}

/* Rows of a tile are its dimensions but the last, as one; a thread has some of them, and vectors of columns. */
static void add_move(builder *b, heddle_nest *parent, heddle_group *group)
{
	int64_t columns = columns_of(b, group);
	int64_t rows = 1, row_threads = b->kernel->threads / columns;
	int64_t vectors = group->size[group->tensor->rank - 1] / group->vector;
	for (int e = 0; e + 1 < group->tensor->rank; e++)
		rows *= group->size[e];
	const char *name = heddle_arena_printf(b->scop->arena, "%s", group->tensor->name);
	heddle_nest *at = parent;
	int64_t extent[3] = {(rows + row_threads - 1) / row_threads, (vectors + columns - 1) / columns, group->vector};
	static const char *const suffix[3] = {"row", "column", "vec"};
	for (int i = 0; i < 3; i++) {
		if (extent[i] == 1)
			continue;
		heddle_nest *loop = append(b, at, new_nest(b, HEDDLE_NEST_LOOP));
		loop->name = heddle_arena_printf(b->scop->arena, "%s_%s", name, suffix[i]);
		loop->dim = -1 - i;
		loop->part = i == 2 ? HEDDLE_PART_VEC : HEDDLE_PART_ITEM;
		loop->extent = extent[i];
		loop->loop = i == 2 ? HEDDLE_LOOP_VECTOR : extent[i] <= 16 ? HEDDLE_LOOP_UNROLL : HEDDLE_LOOP_SERIAL;
		at = append(b, loop, new_nest(b, HEDDLE_NEST_SEQUENCE));
	}
	add_leaf(b, at, HEDDLE_LEAF_MOVE, group->stmt, group);
}

/* Moves, barrier, computation, barrier: the body of the tile loops. */
static void add_region(builder *b, heddle_nest *root, heddle_nest *at, heddle_stmt *stmt, int part, bool again)
{
	int first = b->mapped->n_leaf;
	heddle_nest *body = tile_loops(b, at, stmt, true);
	int prefix = count_loops(root, body, 0);
	bool staged = stages(b->kernel, stmt);
	for (int g = 0; g < b->kernel->n_group; g++)
		if (b->kernel->group[g]->stmt == stmt && b->kernel->group[g]->space == HEDDLE_SPACE_SHARED)
			add_move(b, body, b->kernel->group[g]);
	if (staged && b->kernel->threads > 1)
		add_leaf(b, body, HEDDLE_LEAF_BARRIER, stmt, NULL);
	heddle_leaf *compute = add_leaf(b, item_loops(b, body, stmt, true), HEDDLE_LEAF_COMPUTE, stmt, NULL);
	if (staged && b->kernel->threads > 1 && (prefix > 0 || again))
		add_leaf(b, body, HEDDLE_LEAF_BARRIER, stmt, NULL);
	region r = {.compute = compute, .prefix = prefix, .part = part};
	for (int i = first; i < b->mapped->n_leaf; i++)
		HEDDLE_PUSH(b->scop->arena, r.leaf, r.n_leaf, b->mapped->leaf[i]);
	HEDDLE_PUSH(b->scop->arena, b->region, b->n_region, r);
}

/* After the last statement that writes, all elements that the first one wrote: later ones may write fewer. */
static void add_store(builder *b, heddle_nest *parent, heddle_stmt *stmt)
{
	heddle_group *group = stmt->access[0].group;
	if (group->space != HEDDLE_SPACE_REGISTER || !group->live_out || group->last_writer != stmt)
		return;
	heddle_stmt *all = group->first_writer;
	add_leaf(b, item_loops(b, parent, all, false), HEDDLE_LEAF_STORE, all, group);
}

static bool reduces_lanes(const heddle_stmt *stmt)
{
	for (int d = 0; d < stmt->n_dim; d++)
		if (stmt->dim[d].reduction && stmt->dim[d].reduce == HEDDLE_REDUCE_LANES)
			return true;
	return false;
}

static bool splittable(const heddle_stmt *stmt)
{
	for (int d = 0; d < stmt->n_dim; d++)
		if (stmt->dim[d].member < 0 && stmt->dim[d].layout.tile > 1)
			return true;
	return false;
}

/* Everything of one statement, in the sequence of its kernel. */
static void add_stmt(builder *b, heddle_nest *root, heddle_stmt *stmt, bool barrier_each)
{
	heddle_nest *sequence = append(b, root, new_nest(b, HEDDLE_NEST_SEQUENCE));
	bool split = b->interior && splittable(stmt);
	if (!stmt->reduction) {
		/* Assignments: the tile loops of all local dimensions, full tiles first. */
		bool ordered = false;
		for (int d = 0; d < stmt->n_dim; d++)
			ordered |= !stmt->dim[d].coincident;
		split = split && !ordered;
		for (int part = split ? 1 : 0; part <= (split ? 2 : 0); part++) {
			heddle_nest *at = tile_loops(b, sequence, stmt, false);
			add_region(b, root, at, stmt, part, part == 1);
			if (barrier_each)
				add_leaf(b, at, HEDDLE_LEAF_BARRIER, stmt, NULL);
		}
		add_store(b, sequence, stmt);
		return;
	}
	heddle_nest *at = tile_loops(b, sequence, stmt, false);
	add_leaf(b, accumulator_loops(b, at, stmt), HEDDLE_LEAF_INITIALISE, stmt, NULL);
	for (int part = split ? 1 : 0; part <= (split ? 2 : 0); part++)
		add_region(b, root, at, stmt, part, part == 1);
	if (reduces_lanes(stmt))
		add_leaf(b, at, HEDDLE_LEAF_COMBINE, stmt, NULL);
	if (!stmt->in_group)
		add_leaf(b, item_loops(b, at, stmt, false), HEDDLE_LEAF_FINISH, stmt, NULL);
	if (barrier_each)
		add_leaf(b, at, HEDDLE_LEAF_BARRIER, stmt, NULL);
	add_store(b, sequence, stmt);
}

/* ---- leaves: sets ------------------------------------------------------------------------------------------------------ */

static int find_loop(const heddle_leaf *leaf, int dim, heddle_part part)
{
	for (int i = 0; i < leaf->n_loop; i++)
		if (leaf->loop[i]->dim == dim && leaf->loop[i]->part == part)
			return i;
	return -1;
}

static void tuple(const heddle_leaf *leaf, heddle_text *out)
{
	heddle_text_printf(out, "%s[", leaf->name);
	for (int i = 0; i < leaf->n_loop; i++)
		heddle_text_printf(out, "%sx%d", i ? ", " : "", i);
	heddle_text_add(out, "]");
}

/* "128 i_block + 16 x2 + i_thread" */
static void position(const heddle_scop *scop, const heddle_leaf *leaf, int d, heddle_text *out)
{
	const heddle_stmt *stmt = leaf->stmt;
	const heddle_dim *dim = &stmt->dim[d];
	const heddle_layout *layout = &dim->layout;
	const heddle_member *member = dim->member >= 0 ? &stmt->kernel->member[dim->member] : NULL;
	int tile = find_loop(leaf, d, HEDDLE_PART_TILE), item = find_loop(leaf, d, HEDDLE_PART_ITEM);
	int vec = find_loop(leaf, d, HEDDLE_PART_VEC);
	heddle_text_add(out, "0");
	if (member)
		heddle_text_printf(out, " + %lld*c_%s_block", (long long)layout->tile, member->name);
	else if (tile >= 0)
		heddle_text_printf(out, " + %lld*x%d", (long long)layout->tile, tile);
	if (item >= 0)
		heddle_text_printf(out, " + %lld*x%d", (long long)(layout->threads * layout->vector), item);
	bool absent = leaf->kind != HEDDLE_LEAF_COMPUTE && dim->reduction;
	if (layout->threads > 1 && !absent) {
		if (member)
			heddle_text_printf(out, " + %lld*c_%s_thread", (long long)layout->vector, member->name);
		else
			heddle_text_printf(out, " + %lld*c_lane", (long long)layout->vector);
	}
	if (vec >= 0)
		heddle_text_printf(out, " + x%d", vec);
	(void)scop;
}

static __isl_give isl_multi_aff *stmt_instance(builder *b, const heddle_leaf *leaf)
{
	heddle_text text = {0};
	heddle_text_printf(&text, "%s{ ", b->mapped->params);
	tuple(leaf, &text);
	heddle_text_printf(&text, " -> %s[", leaf->stmt->name);
	for (int d = 0; d < leaf->stmt->n_dim; d++) {
		heddle_text_add(&text, d ? ", " : "");
		position(b->scop, leaf, d, &text);
	}
	heddle_text_add(&text, "] }");
	isl_multi_aff *instance = isl_multi_aff_read_from_str(b->scop->isl, heddle_text_str(&text));
	heddle_text_free(&text);
	return instance;
}

/* Bounds of loops and of the coordinates that the leaf uses. */
static __isl_give isl_set *layout_bounds(builder *b, const heddle_leaf *leaf, const char *more)
{
	heddle_text text = {0};
	heddle_text_printf(&text, "%s{ ", b->mapped->params);
	tuple(leaf, &text);
	heddle_text_add(&text, " : 1 = 1");
	for (int i = 0; i < leaf->n_loop; i++) {
		heddle_text_printf(&text, " and 0 <= x%d", i);
		if (leaf->loop[i]->extent)
			heddle_text_printf(&text, " and x%d < %lld", i, (long long)leaf->loop[i]->extent);
	}
	if (more && *more)
		heddle_text_printf(&text, " and %s", more);
	heddle_text_add(&text, " }");
	isl_set *set = isl_set_read_from_str(b->scop->isl, heddle_text_str(&text));
	heddle_text_free(&text);
	return isl_set_intersect_params(set, isl_set_copy(b->mapped->context));
}

/* Only one lane may write what all lanes hold. */
static bool one_lane(const builder *b, const heddle_leaf *leaf)
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

static __isl_give isl_set *in_domain(__isl_keep isl_set *domain, __isl_keep isl_multi_aff *instance)
{
	return isl_set_preimage_multi_aff(isl_set_copy(domain), isl_multi_aff_copy(instance));
}

/* Where the tile element of a move is, in the tensor and in the tile. */
static void move_sets(builder *b, heddle_leaf *leaf)
{
	heddle_group *group = leaf->group;
	int rank = group->tensor->rank;
	int row = find_loop(leaf, -1, HEDDLE_PART_ITEM), column = find_loop(leaf, -2, HEDDLE_PART_ITEM);
	int vec = find_loop(leaf, -3, HEDDLE_PART_VEC);
	int64_t columns = columns_of(b, group), rows = 1;
	int64_t row_threads = b->kernel->threads / columns;
	heddle_text text = {0}, r = {0}, c = {0}, more = {0};
	for (int e = 0; e + 1 < rank; e++)
		rows *= group->size[e];
	heddle_text_add(&r, "0");
	if (row >= 0)
		heddle_text_printf(&r, " + %lld*x%d", (long long)row_threads, row);
	if (row_threads > 1)
		heddle_text_printf(&r, " + c_row%lld", (long long)columns);
	heddle_text_add(&c, "0");
	if (column >= 0)
		heddle_text_printf(&c, " + %lld*x%d", (long long)(columns * group->vector), column);
	if (columns > 1)
		heddle_text_printf(&c, " + %lld*c_column%lld", (long long)group->vector, (long long)columns);
	if (vec >= 0)
		heddle_text_printf(&c, " + x%d", vec);
	heddle_text_printf(&text, "%s{ ", b->mapped->params);
	tuple(leaf, &text);
	heddle_text_printf(&text, " -> T_%s[", group->tensor->name);
	int64_t below = rows;
	int wide = 0;
	for (int e = 0; e + 1 < rank; e++)
		wide += group->size[e] > 1;
	for (int e = 0; e + 1 < rank; e++) {
		below /= group->size[e];
		if (group->size[e] == 1)
			heddle_text_add(&text, "0, ");
		else if (wide == 1)
			heddle_text_printf(&text, "%s, ", heddle_text_str(&r));
		else if (below * group->size[e] == rows)
			heddle_text_printf(&text, "floor((%s)/%lld), ", heddle_text_str(&r), (long long)below);
		else
			heddle_text_printf(&text, "(floor((%s)/%lld) mod %lld), ", heddle_text_str(&r), (long long)below,
					   (long long)group->size[e]);
	}
	heddle_text_printf(&text, "%s] }", rank ? heddle_text_str(&c) : "");
	leaf->position = isl_multi_aff_read_from_str(b->scop->isl, heddle_text_str(&text));
	heddle_text_printf(&more, "%s < %lld and %s < %lld", heddle_text_str(&r), (long long)rows, heddle_text_str(&c),
			   (long long)group->size[rank - 1]);
	leaf->domain = layout_bounds(b, leaf, heddle_text_str(&more));
	/* element = position + offset(tile loops); the tile loops are the leaf's leading ones */
	isl_multi_aff *offset = isl_multi_aff_copy(group->offset);
	int prefix = (int)isl_multi_aff_dim(offset, isl_dim_in);
	heddle_text_clear(&text);
	heddle_text_printf(&text, "%s{ ", b->mapped->params);
	tuple(leaf, &text);
	heddle_text_add(&text, " -> [");
	/* The offset's dimensions are the statement's tile loops in dimension order; the leaf has them in nest order. */
	int at = 0;
	for (int d = 0; d < leaf->stmt->n_dim; d++)
		if (leaf->stmt->dim[d].member < 0 && !leaf->stmt->dim[d].single_tile)
			heddle_text_printf(&text, "%sx%d", at++ ? ", " : "", find_loop(leaf, d, HEDDLE_PART_TILE));
	(void)prefix;
	heddle_text_add(&text, "] }");
	isl_multi_aff *loops = isl_multi_aff_read_from_str(b->scop->isl, heddle_text_str(&text));
	offset = isl_multi_aff_pullback_multi_aff(offset, loops);
	leaf->element = isl_multi_aff_add(offset, isl_multi_aff_copy(leaf->position));
	/* inside the tensor */
	heddle_stmt shape = {.all = leaf->domain};
	leaf->valid = isl_set_copy(leaf->domain);
	for (int e = 0; e < rank; e++) {
		isl_pw_aff *x = isl_pw_aff_from_aff(isl_multi_aff_get_aff(leaf->element, e));
		isl_pw_aff *extent = heddle_scop_pw_aff(b->scop, &shape, group->tensor->extent[e]);
		isl_set *low = isl_pw_aff_nonneg_set(isl_pw_aff_copy(x));
		leaf->valid = isl_set_intersect(leaf->valid, isl_set_intersect(low, isl_pw_aff_lt_set(x, extent)));
	}
	leaf->box = isl_set_copy(leaf->domain);
	heddle_text_free(&text);
	heddle_text_free(&r);
	heddle_text_free(&c);
	heddle_text_free(&more);
}

/* Can the statement run on rows that do not exist?  Only if it reads nothing but filled tiles, and its sums stay private. */
static bool harmless(const heddle_stmt *stmt)
{
	if (!stmt->reduction || stmt->value != stmt->source->value || stmt->n_access < 2)
		return false;
	for (int a = 1; a < stmt->n_access; a++)
		if (stmt->access[a].group->space != HEDDLE_SPACE_SHARED)
			return false;
	return true;
}

static void leaf_sets(builder *b, heddle_leaf *leaf)
{
	heddle_stmt *stmt = leaf->stmt;
	const char *lane = one_lane(b, leaf) ? "c_lane = 0" : NULL;
	switch (leaf->kind) {
	case HEDDLE_LEAF_MOVE:
		move_sets(b, leaf);
		return;
	case HEDDLE_LEAF_BARRIER:
		leaf->domain = layout_bounds(b, leaf, NULL);
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
		leaf->domain = isl_set_copy(leaf->box);
		if (leaf->kind == HEDDLE_LEAF_STORE || stmt->access[0].group->space != HEDDLE_SPACE_REGISTER ||
		    !stmt->source->initialise)
			leaf->domain = isl_set_intersect(leaf->domain, in_domain(stmt->lhs, leaf->instance));
		return;
	case HEDDLE_LEAF_COMPUTE:
		leaf->instance = stmt_instance(b, leaf);
		leaf->box = isl_set_intersect(layout_bounds(b, leaf, lane), in_domain(stmt->inner, leaf->instance));
		leaf->domain = isl_set_intersect(isl_set_copy(leaf->box), in_domain(stmt->domain, leaf->instance));
		return;
	}
}

static void walk(builder *b, heddle_nest *nest, heddle_nest **path, int depth)
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
static __isl_give isl_set *without_threads(builder *b, __isl_take isl_set *set)
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
static __isl_give isl_set *prefix_of(builder *b, __isl_take isl_set *set, int prefix)
{
	isl_size n = isl_set_dim(set, isl_dim_set);
	set = isl_set_project_out(set, isl_dim_set, (unsigned)prefix, (unsigned)(n - prefix));
	return without_threads(b, set); /* projecting dimensions out has dropped the tuple's name */
}

static __isl_give isl_set *restrict_prefix(heddle_leaf *leaf, __isl_take isl_set *set, __isl_keep isl_set *prefix)
{
	isl_set *wide = isl_set_copy(prefix);
	isl_size have = isl_set_dim(wide, isl_dim_set);
	wide = isl_set_add_dims(wide, isl_dim_set, (unsigned)(leaf->n_loop - have));
	wide = isl_set_set_tuple_name(wide, leaf->name);
	return isl_set_coalesce(isl_set_intersect(set, wide));
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

/* The tiles that a region runs: all, those that are full, or the rest. */
static bool apply_region(builder *b, region *r)
{
	heddle_leaf *compute = r->compute;
	isl_set *tiles = prefix_of(b, isl_set_copy(compute->domain), r->prefix);
	if (r->part) {
		isl_set *layout = layout_bounds(b, compute, one_lane(b, compute) ? "c_lane = 0" : NULL);
		layout = restrict_prefix(compute, layout, tiles);
		isl_set *inner = in_domain(compute->stmt->inner, compute->instance);
		isl_set *missing = prefix_of(b, isl_set_subtract(layout, inner), r->prefix);
		isl_set *full = isl_set_coalesce(isl_set_subtract(isl_set_copy(tiles), missing));
		tiles = r->part == 1 ? isl_set_intersect(tiles, full) : isl_set_subtract(tiles, full);
	}
	tiles = isl_set_coalesce(tiles);
	bool empty = isl_set_is_empty(tiles) == isl_bool_true;
	for (int i = 0; i < r->n_leaf; i++) {
		heddle_leaf *leaf = r->leaf[i];
		if (leaf == compute && (b->interior || harmless(leaf->stmt))) {
			isl_set_free(leaf->domain);
			leaf->domain = isl_set_copy(leaf->box);
		}
		leaf->domain = restrict_prefix(leaf, leaf->domain, tiles);
		leaf->box = restrict_prefix(leaf, leaf->box, tiles);
	}
	/* the barrier after the last round keeps nothing apart */
	heddle_leaf *last = r->leaf[r->n_leaf - 1];
	if (last->kind == HEDDLE_LEAF_BARRIER && last != r->leaf[0] && r->part != 1 && at_most_once(tiles)) {
		isl_set_free(last->domain);
		last->domain = isl_set_empty(isl_set_get_space(last->box));
	}
	isl_set_free(tiles);
	return !empty;
}

/* Leaves outside regions follow the local tile loops of their statement. */
static void restrict_outer(builder *b, heddle_leaf *leaf)
{
	if (leaf->kind != HEDDLE_LEAF_INITIALISE && leaf->kind != HEDDLE_LEAF_COMBINE && leaf->kind != HEDDLE_LEAF_BARRIER)
		return;
	int prefix = 0;
	while (prefix < leaf->n_loop && leaf->loop[prefix]->part == HEDDLE_PART_TILE)
		prefix++;
	isl_multi_aff *instance = stmt_instance(b, leaf);
	isl_set *runs = isl_set_intersect(layout_bounds(b, leaf, NULL), in_domain(leaf->stmt->lhs, instance));
	isl_multi_aff_free(instance);
	isl_set *tiles = prefix_of(b, runs, prefix);
	leaf->domain = restrict_prefix(leaf, leaf->domain, tiles);
	isl_set_free(leaf->box);
	leaf->box = isl_set_copy(leaf->domain);
	isl_set_free(tiles);
}

/* ---- versions -------------------------------------------------------------------------------------------------------------- */

/* { S[d] -> [coordinates of the thread that runs it] } */
static __isl_give isl_map *thread_of(heddle_scop *scop, const heddle_kernel *kernel, const heddle_stmt *stmt)
{
	heddle_text text = {0}, out = {0};
	int lane = -1;
	for (int m = 0; m < kernel->n_member; m++) {
		int d = 0;
		while (stmt->dim[d].member != m)
			d++;
		heddle_text_printf(&out, "(floor(d%d/%lld) mod %lld), ", d, (long long)kernel->member[m].layout.vector,
				   (long long)kernel->member[m].layout.threads);
	}
	for (int d = 0; d < stmt->n_dim; d++)
		if (stmt->dim[d].member < 0 && stmt->dim[d].layout.threads > 1)
			lane = d;
	if (lane >= 0)
		heddle_text_printf(&out, "(floor(d%d/%lld) mod %lld)", lane, (long long)stmt->dim[lane].layout.vector,
				   (long long)stmt->dim[lane].layout.threads);
	else
		heddle_text_add(&out, "0");
	heddle_text_printf(&text, "%s{ %s[", heddle_scop_params(scop, NULL), stmt->name);
	for (int d = 0; d < stmt->n_dim; d++)
		heddle_text_printf(&text, "%sd%d", d ? ", " : "", d);
	heddle_text_printf(&text, "] -> [%s] }", heddle_text_str(&out));
	isl_map *map = isl_map_read_from_str(scop->isl, heddle_text_str(&text));
	heddle_text_free(&text);
	heddle_text_free(&out);
	return map;
}

/* A dependence through global memory between different threads of a block. */
static bool crosses_threads(heddle_scop *scop, const heddle_kernel *kernel, const heddle_dependence *dependence)
{
	if (kernel->threads == 1 || dependence->input)
		return false;
	for (int g = 0; g < kernel->n_group; g++)
		if (kernel->group[g]->tensor == dependence->tensor && kernel->group[g]->space != HEDDLE_SPACE_GLOBAL)
			return false;
	if (kernel->lanes > 1 && has_lanes(dependence->source) != has_lanes(dependence->sink))
		return true;
	/* A reduction over the lanes is finished by lane 0, an unlaned one is computed by every lane. */
	if (kernel->lanes > 1 && (dependence->source->reduction || dependence->sink->reduction))
		return true;
	isl_map *same = isl_map_apply_range(thread_of(scop, kernel, dependence->source),
					    isl_map_reverse(thread_of(scop, kernel, dependence->sink)));
	bool crosses = isl_map_is_subset(dependence->relation, same) != isl_bool_true;
	isl_map_free(same);
	return crosses;
}

static bool barrier_inside(builder *b, const heddle_stmt *stmt)
{
	for (int d = 0; d < b->scop->n_dependence; d++) {
		const heddle_dependence *dependence = &b->scop->dependence[d];
		if (dependence->source == stmt && dependence->sink == stmt && crosses_threads(b->scop, b->kernel, dependence))
			return true;
	}
	return false;
}

/* Does statement `to` need a barrier after the last one, which stood before statement `from`? */
static bool barrier_before(builder *b, int from, int to)
{
	for (int d = 0; d < b->scop->n_dependence; d++) {
		const heddle_dependence *dependence = &b->scop->dependence[d];
		if (dependence->sink != b->kernel->stmt[to] || dependence->source == dependence->sink)
			continue;
		for (int s = from; s < to; s++)
			if (b->kernel->stmt[s] == dependence->source && crosses_threads(b->scop, b->kernel, dependence))
				return true;
	}
	return false;
}

/* Leaves that none of the blocks runs, and what holds nothing else. */
static void prune(heddle_nest *nest, __isl_keep isl_set *blocks)
{
	int n = 0;
	for (int i = 0; i < nest->n_child; i++) {
		prune(nest->child[i], blocks);
		heddle_nest *child = nest->child[i];
		bool empty = child->n_child == 0;
		if (child->kind == HEDDLE_NEST_LEAF) {
			isl_set *here = isl_set_intersect_params(isl_set_copy(child->leaf->domain), isl_set_copy(blocks));
			empty = isl_set_is_empty(here) == isl_bool_true;
			isl_set_free(here);
		}
		if (!empty)
			nest->child[n++] = child;
	}
	nest->n_child = n;
}

/* In a boundary block the items and vectors of a thread are all visited, each under its condition: loops keep constant
 * bounds, and registers constant subscripts. */
static void spread_leaf(builder *b, heddle_leaf *leaf)
{
	bool guarded = !b->interior && (leaf->kind == HEDDLE_LEAF_COMPUTE || leaf->kind == HEDDLE_LEAF_FINISH ||
					leaf->kind == HEDDLE_LEAF_STORE);
	leaf->spread = isl_set_copy(guarded ? leaf->box : leaf->domain);
	int tiles = 0;
	while (tiles < leaf->n_loop && leaf->loop[tiles]->part == HEDDLE_PART_TILE)
		tiles++;
	if (guarded && tiles) { /* but only the tiles that some thread needs: those loops have no bounds of their own */
		isl_set *needed = prefix_of(b, isl_set_copy(leaf->domain), tiles);
		leaf->spread = restrict_prefix(leaf, leaf->spread, needed);
		isl_set_free(needed);
	}
}

static heddle_nest *build(builder *b)
{
	heddle_nest *root = new_nest(b, HEDDLE_NEST_SEQUENCE);
	heddle_nest *path[4 * HEDDLE_MAX_DIM];
	int first = b->mapped->n_leaf, since = 0;
	b->n_region = 0;
	b->region = NULL;
	for (int s = 0; s < b->kernel->n_stmt; s++) {
		if (barrier_before(b, since, s)) {
			add_leaf(b, root, HEDDLE_LEAF_BARRIER, b->kernel->stmt[s], NULL);
			since = s;
		}
		add_stmt(b, root, b->kernel->stmt[s], barrier_inside(b, b->kernel->stmt[s]));
	}
	walk(b, root, path, 0);
	for (int i = first; i < b->mapped->n_leaf; i++) {
		bool inside = false;
		for (int r = 0; r < b->n_region; r++)
			for (int l = 0; l < b->region[r].n_leaf; l++)
				inside |= b->region[r].leaf[l] == b->mapped->leaf[i];
		if (!inside && b->mapped->leaf[i]->n_loop)
			restrict_outer(b, b->mapped->leaf[i]);
	}
	for (int r = 0; r < b->n_region; r++)
		apply_region(b, &b->region[r]);
	for (int i = first; i < b->mapped->n_leaf; i++)
		spread_leaf(b, b->mapped->leaf[i]);
	return root;
}

/* Sizes that no left-hand dimension depends on, taken out: whether a reduction is empty must not decide what is interior. */
static __isl_give isl_set *without_inner_sizes(builder *b, __isl_take isl_set *set)
{
	for (int i = (int)isl_set_dim(set, isl_dim_param) - 1; set && i >= 0; i--) {
		const char *name = isl_set_get_dim_name(set, isl_dim_param, (unsigned)i);
		bool outer = !name || strncmp(name, "N_", 2) != 0;
		for (int s = 0; s < b->kernel->n_stmt && !outer; s++) {
			isl_set *plain = isl_set_gist_params(isl_set_copy(b->kernel->stmt[s]->lhs), isl_set_copy(b->scop->context));
			int at = isl_set_find_dim_by_name(plain, isl_dim_param, name);
			outer = at >= 0 && isl_set_involves_dims(plain, isl_dim_param, (unsigned)at, 1) == isl_bool_true;
			isl_set_free(plain);
		}
		if (!outer)
			set = isl_set_project_out(set, isl_dim_param, (unsigned)i, 1);
	}
	return isl_set_coalesce(set);
}

/* Blocks in which some instance of a box does not run: a member's bound or a guard cuts it. */
static __isl_give isl_set *cut_blocks(builder *b, int first)
{
	isl_set *cut = isl_set_empty(isl_set_get_space(b->mapped->context));
	for (int i = first; i < b->mapped->n_leaf; i++) {
		heddle_leaf *leaf = b->mapped->leaf[i];
		if (leaf->kind != HEDDLE_LEAF_COMPUTE && leaf->kind != HEDDLE_LEAF_FINISH && leaf->kind != HEDDLE_LEAF_STORE)
			continue;
		isl_set *runs = isl_set_copy(leaf->domain);
		if (leaf->kind == HEDDLE_LEAF_COMPUTE)
			runs = isl_set_intersect(runs, in_domain(leaf->stmt->domain, leaf->instance));
		isl_set *missing = isl_set_subtract(isl_set_copy(leaf->box), runs);
		missing = without_threads(b, isl_set_params(missing));
		cut = isl_set_coalesce(isl_set_union(cut, missing));
	}
	return cut;
}

static void context_text(builder *b, heddle_text *names, heddle_text *bounds)
{
	heddle_kernel *kernel = b->kernel;
	for (int m = 0; m < kernel->n_member; m++) {
		heddle_text_printf(names, "%sc_%s_block", names->length ? ", " : "", kernel->member[m].name);
		heddle_text_printf(bounds, " and 0 <= c_%s_block", kernel->member[m].name);
		if (kernel->member[m].layout.threads > 1) {
			heddle_text_printf(names, ", c_%s_thread", kernel->member[m].name);
			heddle_text_printf(bounds, " and 0 <= c_%s_thread < %lld", kernel->member[m].name,
					   (long long)kernel->member[m].layout.threads);
		}
	}
	if (kernel->lanes > 1) {
		heddle_text_printf(names, "%sc_lane", names->length ? ", " : "");
		heddle_text_printf(bounds, " and 0 <= c_lane < %lld", (long long)kernel->lanes);
	}
	for (int g = 0; g < kernel->n_group; g++)
		if (kernel->group[g]->space == HEDDLE_SPACE_SHARED)
			columns_of(b, kernel->group[g]);
	for (int i = 0; i < b->mapped->n_columns; i++) {
		long long columns = (long long)b->mapped->columns[i];
		heddle_text_printf(names, "%sc_row%lld, c_column%lld", names->length ? ", " : "", columns, columns);
		heddle_text_printf(bounds, " and 0 <= c_row%lld < %lld and 0 <= c_column%lld < %lld", columns,
				   b->kernel->threads / columns, columns, columns);
	}
}

/* Blocks that are launched: along each member, those that some statement needs. */
static __isl_give isl_set *launched(builder *b)
{
	heddle_kernel *kernel = b->kernel;
	isl_set *all = isl_set_universe(isl_set_get_space(b->scop->context));
	all = isl_set_intersect_params(all, isl_set_copy(b->scop->context));
	for (int m = 0; m < kernel->n_member; m++) {
		isl_set *any = NULL;
		for (int s = 0; s < kernel->n_stmt; s++) {
			const heddle_stmt *stmt = kernel->stmt[s];
			int d = 0;
			while (stmt->dim[d].member != m)
				d++;
			/* { [] : some instance has T * block <= d < T * (block + 1) } */
			isl_set *range = isl_set_copy(stmt->lhs);
			isl_size n = isl_set_dim(range, isl_dim_set);
			range = isl_set_project_out(range, isl_dim_set, (unsigned)d + 1, (unsigned)(n - d - 1));
			range = isl_set_project_out(range, isl_dim_set, 0, (unsigned)d);
			heddle_text text = {0};
			long long tile = (long long)kernel->member[m].layout.tile;
			heddle_text_printf(&text, "[c_%s_block] -> { [x] : %lld*c_%s_block <= x < %lld*c_%s_block + %lld }",
					   kernel->member[m].name, tile, kernel->member[m].name, tile, kernel->member[m].name,
					   tile);
			isl_set *tiles = isl_set_read_from_str(b->scop->isl, heddle_text_str(&text));
			heddle_text_free(&text);
			isl_set *here = isl_set_params(isl_set_intersect(range, tiles));
			any = any ? isl_set_union(any, here) : here;
		}
		all = isl_set_intersect(all, isl_set_coalesce(any));
	}
	return isl_set_coalesce(all);
}

static bool make_params(builder *b)
{
	heddle_text names = {0}, bounds = {0}, text = {0};
	b->mapped->params = ""; /* columns_of only */
	context_text(b, &names, &bounds);
	b->mapped->params = heddle_scop_params(b->scop, heddle_text_str(&names));
	heddle_text_printf(&text, "%s{ : 1 = 1%s }", b->mapped->params, heddle_text_str(&bounds));
	b->mapped->context = isl_set_read_from_str(b->scop->isl, heddle_text_str(&text));
	b->mapped->context = isl_set_intersect(b->mapped->context, isl_set_copy(b->scop->context));
	b->mapped->context = isl_set_intersect(b->mapped->context, launched(b));
	heddle_text_free(&names);
	heddle_text_free(&bounds);
	heddle_text_free(&text);
	return b->mapped->context;
}

static void add_branch(builder *b, bool interior, __isl_take isl_set *blocks, heddle_nest *nest)
{
	prune(nest, blocks);
	b->mapped->branch[b->mapped->n_branch++] = (heddle_branch){.interior = interior, .blocks = blocks, .nest = nest};
}

/* ---- schedule trees --------------------------------------------------------------------------------------------------------- */

static void collect(const heddle_nest *nest, heddle_leaf **leaf, int *n)
{
	if (nest->kind == HEDDLE_NEST_LEAF)
		leaf[(*n)++] = nest->leaf;
	for (int i = 0; i < nest->n_child; i++)
		collect(nest->child[i], leaf, n);
}

/* The band over loop number `depth` of all leaves below. */
static __isl_give isl_multi_union_pw_aff *loop_band(builder *b, const heddle_nest *nest, int depth)
{
	heddle_leaf **leaf = HEDDLE_NEW_ARRAY(b->scop->arena, heddle_leaf *, b->mapped->n_leaf);
	heddle_text text = {0};
	int n = 0;
	collect(nest, leaf, &n);
	heddle_text_printf(&text, "%s[{ ", b->mapped->params);
	for (int i = 0; i < n; i++) {
		heddle_text_add(&text, i ? "; " : "");
		tuple(leaf[i], &text);
		heddle_text_printf(&text, " -> [(x%d)]", depth);
	}
	heddle_text_add(&text, " }]");
	isl_multi_union_pw_aff *band = isl_multi_union_pw_aff_read_from_str(b->scop->isl, heddle_text_str(&text));
	heddle_text_free(&text);
	return band;
}

static __isl_give isl_schedule *tree(builder *b, heddle_nest *nest, int depth)
{
	if (nest->kind == HEDDLE_NEST_LEAF)
		return isl_schedule_from_domain(isl_union_set_from_set(isl_set_copy(nest->leaf->spread)));
	isl_schedule *schedule = NULL;
	for (int i = 0; i < nest->n_child; i++) {
		isl_schedule *child = tree(b, nest->child[i], depth + (nest->kind == HEDDLE_NEST_LOOP));
		schedule = schedule ? isl_schedule_sequence(schedule, child) : child;
	}
	if (nest->kind == HEDDLE_NEST_SEQUENCE)
		return schedule;
	schedule = isl_schedule_insert_partial_schedule(schedule, loop_band(b, nest, depth));
	isl_schedule_node *node = isl_schedule_get_root(schedule);
	isl_schedule_free(schedule);
	node = isl_schedule_node_child(node, 0);
	node = isl_schedule_node_insert_mark(node, isl_id_alloc(b->scop->isl, nest->name, nest));
	schedule = isl_schedule_node_get_schedule(node);
	isl_schedule_node_free(node);
	return schedule;
}

heddle_mapped *heddle_map_kernel(heddle_scop *scop, heddle_kernel *kernel)
{
	heddle_mapped *mapped = HEDDLE_NEW(scop->arena, heddle_mapped);
	builder b = {.scop = scop, .kernel = kernel, .mapped = mapped};
	mapped->scop = scop;
	mapped->kernel = kernel;
	if (!make_params(&b))
		return heddle_scop_check(scop, "map"), heddle_mapped_free(mapped);
	heddle_nest *everything = build(&b);
	if (heddle_scop_check(scop, "map") < 0)
		return heddle_mapped_free(mapped);
	isl_set *blocks = without_threads(&b, isl_set_copy(mapped->context));
	isl_set *cut = isl_set_intersect(without_inner_sizes(&b, cut_blocks(&b, 0)), isl_set_copy(blocks));
	isl_set *interior = isl_set_coalesce(isl_set_subtract(isl_set_copy(blocks), isl_set_copy(cut)));
	bool all = isl_set_is_empty(cut) == isl_bool_true, none = isl_set_is_empty(interior) == isl_bool_true;
	if (!none) {
		b.interior = true;
		add_branch(&b, true, isl_set_copy(interior), build(&b));
	}
	if (!all)
		add_branch(&b, false, isl_set_copy(blocks), everything);
	isl_set_free(blocks);
	isl_set_free(cut);
	isl_set_free(interior);
	for (int i = 0; i < mapped->n_branch && isl_ctx_last_error(scop->isl) == isl_error_none; i++)
		mapped->branch[i].schedule = tree(&b, mapped->branch[i].nest, 0);
	if (heddle_scop_check(scop, "map") < 0)
		return heddle_mapped_free(mapped);
	return mapped;
}

heddle_mapped *heddle_mapped_free(heddle_mapped *mapped)
{
	if (!mapped)
		return NULL;
	for (int i = 0; i < mapped->n_leaf; i++) {
		heddle_leaf *leaf = mapped->leaf[i];
		isl_set_free(leaf->domain);
		isl_set_free(leaf->box);
		isl_set_free(leaf->spread);
		isl_set_free(leaf->valid);
		isl_multi_aff_free(leaf->instance);
		isl_multi_aff_free(leaf->element);
		isl_multi_aff_free(leaf->position);
	}
	for (int i = 0; i < mapped->n_branch; i++) {
		isl_set_free(mapped->branch[i].blocks);
		isl_schedule_free(mapped->branch[i].schedule);
	}
	isl_set_free(mapped->context);
	return NULL;
}

int heddle_pass_map(heddle_scop *scop)
{
	for (int k = 0; k < scop->n_kernel; k++)
		if (!(scop->kernel[k]->mapped = heddle_map_kernel(scop, scop->kernel[k])))
			return -1;
	return 0;
}

void heddle_mapped_print(const heddle_mapped *mapped, heddle_text *out)
{
	for (int i = 0; i < mapped->n_branch; i++) {
		char *blocks = isl_set_to_str(mapped->branch[i].blocks);
		char *schedule = mapped->branch[i].schedule ? isl_schedule_to_str(mapped->branch[i].schedule) : NULL;
		heddle_text_printf(out, "%s blocks %s\n%s\n", mapped->branch[i].interior ? "interior" : "boundary", blocks,
				   schedule ? schedule : "nothing to run");
		free(blocks);
		free(schedule);
	}
}
