/* map, the tree: sequences, loops and leaves of each statement in a kernel.
 * SPDX-License-Identifier: MIT
 */
#include "model/nest_parts.h"

#include <string.h>

/* ---- names ------------------------------------------------------------------------------------------------------------ */

const char *heddle_block_param(heddle_scop *scop, const heddle_member *member)
{
	return heddle_arena_printf(scop->arena, "c_%s_block", member->name);
}

const char *heddle_thread_param(heddle_scop *scop, const heddle_member *member)
{
	return heddle_arena_printf(scop->arena, "c_%s_thread", member->name);
}

/* Words that a generated variable must not be: reserved in C or in languages like it; dialects know more (heddle_dialect_reserves). */
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
	static const char *const suffix[] = {"tile", "round", "item", "vec"};
	return heddle_arena_printf(scop->arena, "%s_%s", name, suffix[part]);
}

/* ---- tree ------------------------------------------------------------------------------------------------------------- */

heddle_nest *heddle_nest_new(heddle_nest_builder *b, heddle_nest_kind kind)
{
	heddle_nest *nest = HEDDLE_NEW(b->scop->arena, heddle_nest);
	nest->kind = kind;
	return nest;
}

static heddle_nest *append(heddle_nest_builder *b, heddle_nest *parent, heddle_nest *child)
{
	HEDDLE_PUSH(b->scop->arena, parent->child, parent->n_child, child);
	return child;
}

heddle_leaf *heddle_nest_add_leaf(heddle_nest_builder *b, heddle_nest *parent, heddle_leaf_kind kind, heddle_stmt *stmt, heddle_group *group)
{
	heddle_leaf *leaf = HEDDLE_NEW(b->scop->arena, heddle_leaf);
	leaf->kind = kind;
	leaf->number = b->mapped->n_leaf;
	leaf->name = heddle_arena_printf(b->scop->arena, "L%d", leaf->number);
	leaf->stmt = stmt;
	leaf->group = group;
	HEDDLE_PUSH(b->scop->arena, b->mapped->leaf, b->mapped->n_leaf, leaf);
	append(b, parent, heddle_nest_new(b, HEDDLE_NEST_LEAF))->leaf = leaf;
	return leaf;
}

static heddle_nest *add_loop(heddle_nest_builder *b, heddle_nest *parent, const heddle_stmt *stmt, int dim, heddle_part part,
			     heddle_loop_kind kind)
{
	const heddle_layout *layout = &stmt->dim[dim].layout;
	int64_t extent = heddle_layout_extent(layout, part);
	if (part != HEDDLE_PART_TILE && extent == 1)
		return parent;
	if (part == HEDDLE_PART_TILE && (stmt->dim[dim].member >= 0 || stmt->dim[dim].single_tile))
		return parent;
	heddle_nest *loop = append(b, parent, heddle_nest_new(b, HEDDLE_NEST_LOOP));
	loop->name = heddle_loop_name(b->scop, stmt, dim, part);
	loop->dim = dim;
	loop->part = part;
	loop->loop = kind;
	loop->extent = extent;
	return append(b, loop, heddle_nest_new(b, HEDDLE_NEST_SEQUENCE));
}

bool heddle_stmt_has_lanes(const heddle_stmt *stmt)
{
	for (int d = 0; d < stmt->n_dim; d++)
		if (stmt->dim[d].member < 0 && stmt->dim[d].layout.threads > 1)
			return true;
	return false;
}

static bool stages(const heddle_kernel *kernel, const heddle_stmt *stmt)
{
	for (int g = 0; g < kernel->n_group; g++)
		if (kernel->group[g]->stmt == stmt && kernel->group[g]->space == HEDDLE_SPACE_SHARED)
			return true;
	return false;
}

/* Compilers had better see all items of a short reduction at once: those of lanes, and the only ones of what threads read from
 * tiles; left alone they unroll by what the body is long.  Inside other reductions they keep too much in registers. */
static heddle_loop_kind reduction_loop(const heddle_nest_builder *b, const heddle_stmt *stmt, int d)
{
	enum { SHORT = 8 };
	if (stmt->dim[d].layout.items > SHORT)
		return HEDDLE_LOOP_SERIAL;
	if (heddle_is_window(stmt, d))
		return HEDDLE_LOOP_WINDOW;
	if (stmt->dim[d].reduce == HEDDLE_REDUCE_LANES)
		return HEDDLE_LOOP_UNROLL;
	for (int other = 0; other < stmt->n_dim; other++)
		if (other != d && stmt->dim[other].reduction && stmt->dim[other].layout.items > 1)
			return HEDDLE_LOOP_SERIAL;
	return b->kernel->threads > 1 && stages(b->kernel, stmt) ? HEDDLE_LOOP_HINT : HEDDLE_LOOP_SERIAL;
}

/* Loops over what one thread holds of the statement's dimensions: rounds outside, then reductions, items, and vectors inside.
 * `one_by_one`: where there are rounds items are loops, too, those that rounds are made of outside the reductions: the text stands
 * once, for what is not worth registers for all of them. */
static heddle_nest *item_loops(heddle_nest_builder *b, heddle_nest *parent, const heddle_stmt *stmt, bool reductions, bool one_by_one)
{
	for (int d = 0; d < stmt->n_dim && !b->kernel->rounds_outside; d++)
		parent = add_loop(b, parent, stmt, d, HEDDLE_PART_ROUND, HEDDLE_LOOP_SERIAL);
	for (int d = 0; d < stmt->n_dim && one_by_one; d++)
		if (stmt->dim[d].layout.rounds > 1)
			parent = add_loop(b, parent, stmt, d, HEDDLE_PART_ITEM, HEDDLE_LOOP_SERIAL);
	for (int windows = 0; windows < 2; windows++)
		for (int d = 0; d < stmt->n_dim && reductions; d++)
			if (stmt->dim[d].reduction && heddle_is_window(stmt, d) == (windows == 1))
				parent = add_loop(b, parent, stmt, d, HEDDLE_PART_ITEM, reduction_loop(b, stmt, d));
	/* the outermost vector loop is the one that runs in lockstep; lanes of terms beside it are sums of their own: what each asks, and what its
	 * results share, stands once */
	const int lockstep = heddle_lockstep_dim(stmt, NULL);
	const bool apart = b->kernel->threads == 1 && lockstep >= 0 && !stmt->dim[lockstep].reduction;
	for (int d = 0; d < stmt->n_dim && reductions && apart; d++)
		if (stmt->dim[d].reduction)
			parent = add_loop(b, parent, stmt, d, HEDDLE_PART_VEC, HEDDLE_LOOP_UNROLL);
	const heddle_loop_kind items = one_by_one && heddle_nest_has_rounds(stmt) ? HEDDLE_LOOP_SERIAL : HEDDLE_LOOP_UNROLL;
	/* one thread alone takes vectors inside, next to each other: what they share, and conditions on the rest, stand once */
	for (int vectors = 0; vectors < 2; vectors++)
		for (int d = 0; d < stmt->n_dim; d++)
			if (!stmt->dim[d].reduction && !(one_by_one && stmt->dim[d].layout.rounds > 1) &&
			    vectors == (b->kernel->threads == 1 && stmt->dim[d].layout.vector > 1))
				parent = add_loop(b, parent, stmt, d, HEDDLE_PART_ITEM, items);
	if (lockstep >= 0 && !stmt->dim[lockstep].reduction)
		parent = add_loop(b, parent, stmt, lockstep, HEDDLE_PART_VEC, HEDDLE_LOOP_VECTOR);
	for (int d = 0; d < stmt->n_dim; d++)
		if (!stmt->dim[d].reduction && d != lockstep)
			parent = add_loop(b, parent, stmt, d, HEDDLE_PART_VEC, HEDDLE_LOOP_VECTOR);
	for (int d = 0; d < stmt->n_dim && reductions && !apart; d++)
		if (stmt->dim[d].reduction)
			parent = add_loop(b, parent, stmt, d, HEDDLE_PART_VEC, HEDDLE_LOOP_VECTOR);
	return parent;
}

/* Loops over the accumulator's own dimensions: reductions appear only as vector members. */
static heddle_nest *accumulator_loops(heddle_nest_builder *b, heddle_nest *parent, const heddle_stmt *stmt)
{
	parent = item_loops(b, parent, stmt, false, true);
	for (int d = 0; d < stmt->n_dim; d++)
		if (stmt->dim[d].reduction && stmt->dim[d].reduce == HEDDLE_REDUCE_LANES)
			parent = add_loop(b, parent, stmt, d, HEDDLE_PART_VEC, HEDDLE_LOOP_VECTOR);
	return parent;
}

static heddle_nest *tile_loops(heddle_nest_builder *b, heddle_nest *parent, const heddle_stmt *stmt, bool reductions)
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

int64_t heddle_nest_columns(heddle_nest_builder *b, const heddle_group *group)
{
	const int64_t columns = group->columns;
	for (int i = 0; i < b->mapped->n_columns; i++)
		if (b->mapped->columns[i] == columns)
			return columns;
	b->mapped->columns[b->mapped->n_columns++] = columns;
	return columns;
}

/* Do rows of a moved tile have a loop for each of their dimensions? */
static bool rows_apart(const heddle_nest_builder *b, const heddle_group *group)
{
	int wide = 0;
	for (int e = 0; e < group->tensor->rank; e++)
		wide += !heddle_tile_in_run(group, e) && group->size[e] > 1;
	return b->kernel->threads == 1 && wide > 1;
}

static const char *move_name(heddle_nest_builder *b, const heddle_group *group, const char *suffix)
{
	return heddle_arena_printf(b->scop->arena, "%s_%s", group->tensor->name, suffix);
}

/* "I_c" where the dimension of the tensor is one of the statement, else "I_row2". */
static const char *row_name(heddle_nest_builder *b, const heddle_group *group, int e)
{
	const int d = heddle_access_dim(group->stmt, group->access, e);
	if (d >= 0)
		return move_name(b, group, group->stmt->dim[d].name);
	return heddle_arena_printf(b->scop->arena, "%s_row%d", group->tensor->name, e);
}

static heddle_nest *add_move_loop(heddle_nest_builder *b, heddle_nest *parent, int dim, const char *name, int64_t extent, heddle_loop_kind kind)
{
	if (extent == 1)
		return parent;
	heddle_nest *loop = append(b, parent, heddle_nest_new(b, HEDDLE_NEST_LOOP));
	loop->name = name;
	loop->dim = dim;
	loop->part = dim == HEDDLE_MOVE_VEC ? HEDDLE_PART_VEC : HEDDLE_PART_ITEM;
	loop->extent = extent;
	loop->loop = kind;
	return append(b, loop, heddle_nest_new(b, HEDDLE_NEST_SEQUENCE));
}

/* Rows of a tile run along the dimension whose elements lie side by side; the others are the number of the row, as one, and a
 * thread has some of them, and vectors of columns.  One thread alone has a loop for each. */
static void add_move(heddle_nest_builder *b, heddle_nest *parent, heddle_group *group)
{
	int64_t columns = heddle_nest_columns(b, group);
	int64_t rows = 1, row_threads = b->kernel->threads / columns;
	int64_t vectors = heddle_tile_run_length(group) / group->vector;
	for (int e = 0; e < group->tensor->rank; e++)
		rows *= heddle_tile_in_run(group, e) ? 1 : group->size[e];
	const bool once = heddle_nest_has_rounds(group->stmt); /* a move for many rounds is not worth more text */
	const heddle_loop_kind rows_kind = (rows + row_threads - 1) / row_threads <= 16 && !once ? HEDDLE_LOOP_UNROLL : HEDDLE_LOOP_SERIAL;
	heddle_nest *at = parent;
	if (rows_apart(b, group)) {
		for (int e = 0; e < group->tensor->rank; e++)
			if (!heddle_tile_in_run(group, e))
				at = add_move_loop(b, at, HEDDLE_MOVE_ROWS - e, row_name(b, group, e), group->size[e], rows_kind);
	} else {
		at = add_move_loop(b, at, HEDDLE_MOVE_ROW, move_name(b, group, "row"), (rows + row_threads - 1) / row_threads, rows_kind);
	}
	const int64_t along = (vectors + columns - 1) / columns;
	at = add_move_loop(b, at, HEDDLE_MOVE_COLUMN, move_name(b, group, "column"), along,
			   along <= 16 && !once ? HEDDLE_LOOP_UNROLL : HEDDLE_LOOP_SERIAL);
	at = add_move_loop(b, at, HEDDLE_MOVE_VEC, move_name(b, group, "vec"), group->vector, HEDDLE_LOOP_VECTOR);
	heddle_nest_add_leaf(b, at, HEDDLE_LEAF_MOVE, group->stmt, group);
}

/* The same by a copy: a row at a time, all threads together; what the tensor does not have is filled by the threads. */
static void add_copy(heddle_nest_builder *b, heddle_nest *parent, heddle_group *group)
{
	int64_t rows = 1, columns = group->size[group->tensor->rank - 1];
	heddle_nest *at = parent;
	for (int e = 0; e + 1 < group->tensor->rank; e++)
		rows *= group->size[e];
	for (int i = 0; i < 2; i++) {
		if ((i ? columns : rows) == 1)
			continue;
		heddle_nest *loop = append(b, at, heddle_nest_new(b, HEDDLE_NEST_LOOP));
		loop->name = heddle_arena_printf(b->scop->arena, "%s_%s", group->tensor->name, i ? "column" : "row");
		loop->dim = i ? HEDDLE_MOVE_COLUMN : HEDDLE_MOVE_ROW;
		loop->part = HEDDLE_PART_ITEM;
		loop->extent = i ? columns : rows;
		loop->loop = HEDDLE_LOOP_SERIAL;
		at = append(b, loop, heddle_nest_new(b, HEDDLE_NEST_SEQUENCE));
	}
	heddle_nest_add_leaf(b, at, HEDDLE_LEAF_COPY, group->stmt, group);
	add_move(b, parent, group);
	b->mapped->leaf[b->mapped->n_leaf - 1]->fill = true;
}

/* Bounds along dimensions that have rounds cut rounds, not blocks: whole rounds run without conditions, then those that are cut.
 * In a boundary block that is worth its text where no other dimension needs conditions. */
static bool splits_rounds(heddle_nest_builder *b, heddle_stmt *stmt)
{
	for (int d = 0; d < stmt->n_dim && !b->interior; d++)
		if (stmt->dim[d].member >= 0 && stmt->dim[d].layout.rounds == 1 && stmt->dim[d].layout.tile > 1 &&
		    !heddle_nest_harmless(b, stmt, d))
			return false;
	return heddle_nest_has_rounds(stmt);
}

/* Moves of all the statement's tiles, and a barrier after them.  Returns whether threads wait for each other. */
static bool add_moves(heddle_nest_builder *b, heddle_nest *body, heddle_stmt *stmt)
{
	bool staged = stages(b->kernel, stmt);
	bool copies = false;
	for (int g = 0; g < b->kernel->n_group; g++) {
		heddle_group *group = b->kernel->group[g];
		if (group->stmt != stmt || group->space != HEDDLE_SPACE_SHARED)
			continue;
		if (group->copy)
			add_copy(b, body, group);
		else
			add_move(b, body, group);
		copies |= group->copy != NULL;
	}
	if (copies)
		heddle_nest_add_leaf(b, body, HEDDLE_LEAF_WAIT, stmt, NULL);
	/* a copy goes on beside the threads, be it one thread only */
	bool apart = staged && (b->kernel->threads > 1 || copies);
	if (apart)
		heddle_nest_add_leaf(b, body, HEDDLE_LEAF_BARRIER, stmt, NULL);
	return apart;
}

/* Where rounds are outside, their loops, after the moves of all statements: tiles serve all rounds. */
heddle_nest *heddle_nest_add_rounds(heddle_nest_builder *b, heddle_nest *root)
{
	heddle_nest *at = root;
	for (int s = 0; s < b->kernel->n_stmt; s++)
		add_moves(b, root, b->kernel->stmt[s]);
	b->moved = b->mapped->n_leaf;
	for (int d = 0; d < b->kernel->stmt[0]->n_dim; d++)
		at = add_loop(b, at, b->kernel->stmt[0], d, HEDDLE_PART_ROUND, HEDDLE_LOOP_SERIAL);
	return at;
}

/* Is there a dimension whose range may begin inside of a tile? */
static bool begins_inside(const heddle_stmt *stmt)
{
	int64_t first;
	for (int d = 0; d < stmt->n_dim; d++)
		if (stmt->dim[d].member < 0 && stmt->dim[d].layout.tile > 1 && heddle_expr_evaluate(stmt->source->index[d]->lower, NULL, &first) < 0)
			return true;
	return false;
}

/* Dimensions whose last tile may lack some; their number. */
static int cut_dims(const heddle_stmt *stmt, int dim[HEDDLE_MAX_DIM])
{
	int n = 0;
	for (int d = 0; d < stmt->n_dim; d++)
		if (stmt->dim[d].member < 0 && stmt->dim[d].layout.tile > 1 && !heddle_extent_multiple(stmt->source->index[d]->upper, stmt->dim[d].layout.tile))
			dim[n++] = d;
	return n;
}

/* Moves, barrier, computation, barrier: the body of the tile loops. */
static void add_region(heddle_nest_builder *b, heddle_nest *root, heddle_nest *body, heddle_stmt *stmt, int part, int parts)
{
	const bool outside = b->kernel->rounds_outside;
	int first = b->mapped->n_leaf;
	int prefix = outside ? 0 : count_loops(root, body, 0);
	bool apart = !outside && add_moves(b, body, stmt);
	heddle_leaf *compute = heddle_nest_add_leaf(b, item_loops(b, body, stmt, true, !stmt->reduction), HEDDLE_LEAF_COMPUTE, stmt, NULL);
	heddle_leaf *rest = NULL;
	if (splits_rounds(b, stmt))
		rest = heddle_nest_add_leaf(b, item_loops(b, body, stmt, true, true), HEDDLE_LEAF_COMPUTE, stmt, NULL);
	if (apart && (prefix > 0 || part < parts))
		heddle_nest_add_leaf(b, body, HEDDLE_LEAF_BARRIER, stmt, NULL);
	heddle_region r = {.compute = compute, .rest = rest, .prefix = prefix, .part = part, .parts = parts};
	if (parts > 1 && !begins_inside(stmt))
		r.n_cut = cut_dims(stmt, r.cut);
	r.n_cut = r.n_cut > 1 && r.n_cut + 1 == parts ? r.n_cut : 0;
	for (int i = b->first; i < b->moved && outside; i++)
		if (b->mapped->leaf[i]->stmt == stmt)
			HEDDLE_PUSH(b->scop->arena, r.leaf, r.n_leaf, b->mapped->leaf[i]);
	for (int i = first; i < b->mapped->n_leaf; i++)
		HEDDLE_PUSH(b->scop->arena, r.leaf, r.n_leaf, b->mapped->leaf[i]);
	HEDDLE_PUSH(b->scop->arena, b->region, b->n_region, r);
}

/* After the last statement that writes, all elements that the first one wrote: later ones may write fewer. */
static void add_store(heddle_nest_builder *b, heddle_nest *parent, heddle_stmt *stmt)
{
	heddle_group *group = stmt->access[0].group;
	if (group->space != HEDDLE_SPACE_REGISTER || !group->live_out || group->last_writer != stmt)
		return;
	heddle_stmt *all = group->first_writer;
	heddle_nest_add_leaf(b, item_loops(b, parent, all, false, true), HEDDLE_LEAF_STORE, all, group);
}

bool heddle_nest_reduces_lanes(const heddle_stmt *stmt)
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

/* After all tiles: lanes meet, and sums go where their target is. */
static void add_end(heddle_nest_builder *b, heddle_nest *at, heddle_stmt *stmt)
{
	if (heddle_nest_reduces_lanes(stmt))
		heddle_nest_add_leaf(b, at, HEDDLE_LEAF_COMBINE, stmt, NULL);
	if (stmt->reduction && !stmt->in_group)
		heddle_nest_add_leaf(b, item_loops(b, at, stmt, false, true), HEDDLE_LEAF_FINISH, stmt, NULL);
}

/* Is it later from one value of an index in it to the next? */
static bool rises(const heddle_expr *expr)
{
	const heddle_expr *const *arg = (const heddle_expr *const *)expr->arg;
	if (expr->kind == HEDDLE_EXPR_INDEX)
		return true;
	if (expr->kind != HEDDLE_EXPR_BINARY)
		return false;
	const bool first = rises(arg[0]), second = rises(arg[1]), flat = !heddle_expr_has_index(arg[1]);
	switch (expr->op) {
	case HEDDLE_OP_ADD:
		return (first && (second || flat)) || (second && !heddle_expr_has_index(arg[0]));
	case HEDDLE_OP_SUB:
		return first && flat;
	case HEDDLE_OP_MUL:
		return (first && arg[1]->kind == HEDDLE_EXPR_INT && arg[1]->i > 0) || (second && arg[0]->kind == HEDDLE_EXPR_INT && arg[0]->i > 0);
	default:
		return false;
	}
}

/* Does a sum end later from one result to the next?  The result that goes through all of the terms, which others would share, is the block's last
 * one, which may be missing.  Where sums begin later, or end earlier, it is the first one. */
static bool sums_end_apart(const heddle_stmt *stmt)
{
	for (int d = 0; d < stmt->n_dim; d++)
		if (stmt->dim[d].reduction && rises(stmt->source->index[d]->upper))
			return true;
	return false;
}

/* Into how many parts tiles are taken: full ones, those that a range begins in, those that it ends in, for `each` dimension by itself.  In boundary
 * blocks only where sums end apart, and of one thread: lanes that exchange what they have summed meet in all parts, whose ends would differ from
 * lane to lane.  0: where there are rounds steps are long enough for a test in each, and the text is not made twice. */
static int tile_parts(const heddle_nest_builder *b, const heddle_stmt *stmt, bool each)
{
	int cut[HEDDLE_MAX_DIM];
	if (!(b->interior ? splittable(stmt) : b->kernel->threads == 1 && sums_end_apart(stmt)) || heddle_nest_has_rounds(stmt))
		return 0;
	const int n = cut_dims(stmt, cut);
	return begins_inside(stmt) ? 3 : each && n > 1 ? 1 + n : 2;
}

/* Everything of one statement, in the sequence of its kernel. */
void heddle_nest_add_stmt(heddle_nest_builder *b, heddle_nest *root, heddle_stmt *stmt, bool barrier_each)
{
	heddle_nest *sequence = append(b, root, heddle_nest_new(b, HEDDLE_NEST_SEQUENCE));
	int parts = tile_parts(b, stmt, true);
	if (!stmt->reduction) {
		/* Assignments: the tile loops of all local dimensions, full tiles first. */
		bool ordered = false;
		for (int d = 0; d < stmt->n_dim; d++)
			ordered |= !stmt->dim[d].coincident;
		parts = ordered ? 0 : parts;
		for (int part = parts > 0; part <= parts; part++) {
			heddle_nest *at = tile_loops(b, sequence, stmt, false);
			add_region(b, root, tile_loops(b, at, stmt, true), stmt, part, parts);
			if (barrier_each)
				heddle_nest_add_leaf(b, at, HEDDLE_LEAF_BARRIER, stmt, NULL);
		}
		add_store(b, sequence, stmt);
		return;
	}
	heddle_nest *at = tile_loops(b, sequence, stmt, false);
	heddle_nest_add_leaf(b, accumulator_loops(b, at, stmt), HEDDLE_LEAF_INITIALISE, stmt, NULL);
	for (int part = parts > 0; part <= parts; part++)
		add_region(b, root, tile_loops(b, at, stmt, true), stmt, part, parts);
	add_end(b, at, stmt);
	if (barrier_each)
		heddle_nest_add_leaf(b, at, HEDDLE_LEAF_BARRIER, stmt, NULL);
	add_store(b, sequence, stmt);
}

void heddle_nest_add_joined(heddle_nest_builder *b, heddle_nest *root, heddle_stmt *const *stmt, int n)
{
	heddle_nest *sequence = append(b, root, heddle_nest_new(b, HEDDLE_NEST_SEQUENCE));
	int parts = tile_parts(b, stmt[0], false);
	for (int s = 0; s < n; s++) {
		parts = heddle_goes_in_order(stmt[s]) || heddle_ends_in_step(stmt[s]) ? 0 : parts;
		if (stmt[s]->reduction && !heddle_ends_in_step(stmt[s]))
			heddle_nest_add_leaf(b, accumulator_loops(b, sequence, stmt[s]), HEDDLE_LEAF_INITIALISE, stmt[s], NULL);
	}
	for (int part = parts > 0; part <= parts; part++) {
		heddle_nest *body = tile_loops(b, tile_loops(b, sequence, stmt[0], false), stmt[0], true);
		for (int s = 0; s < n; s++) {
			const bool ends = heddle_ends_in_step(stmt[s]);
			if (ends)
				heddle_nest_add_leaf(b, accumulator_loops(b, body, stmt[s]), HEDDLE_LEAF_INITIALISE, stmt[s], NULL);
			add_region(b, root, body, stmt[s], part, parts);
			if (ends)
				add_end(b, body, stmt[s]);
		}
	}
	for (int s = 0; s < n; s++) {
		if (!heddle_ends_in_step(stmt[s]))
			add_end(b, sequence, stmt[s]);
		add_store(b, sequence, stmt[s]);
	}
}
