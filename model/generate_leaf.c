/* generate, one leaf: the statement, move or combination that stands in its loops.
 * SPDX-License-Identifier: MIT
 */
#include "model/generate.h"
#include "model/plain.h"

#include <isl/id.h>
#include <isl/space.h>
#include <math.h>
#include <string.h>

typedef struct maker {
	heddle_generator *g;
	heddle_program *p;
	heddle_leaf *leaf;
	isl_set *runs;				  /* NULL: not asked for yet */
	heddle_value *const *loop;		  /* x */
	heddle_value *dim[HEDDLE_MAX_DIM];	  /* the statement's dimensions */
	heddle_value *part[HEDDLE_MAX_DIM][HEDDLE_PARTS];	  /* COMBINE: its own loops, by dimension and part */
} maker;

static heddle_value *index_int(maker *m, int64_t i)
{
	return heddle_value_int(m->p, HEDDLE_INT32, i);
}

/* ---- where things are ------------------------------------------------------------------------------------------------- */

/* { [x] } that the leaf runs in the blocks of the branch. */
static __isl_give isl_set *runs(maker *m)
{
	if (!m->runs) {
		m->runs = heddle_plainly_intersect_params(isl_set_copy(m->leaf->spread), isl_set_copy(m->g->mapped->context));
		m->runs = heddle_plainly_intersect_params(m->runs, isl_set_copy(m->g->branch->blocks));
	}
	return isl_set_copy(m->runs);
}

static heddle_value *aff_value(maker *m, __isl_take isl_pw_aff *aff)
{
	return heddle_generate_pieces(m->g, aff, isl_pw_aff_n_piece(aff) > 1 ? runs(m) : NULL, m->loop);
}

static void dim_values(maker *m)
{
	const heddle_stmt *stmt = m->leaf->stmt;
	for (int d = 0; d < stmt->n_dim; d++) {
		isl_pw_aff *x = isl_pw_aff_from_aff(isl_multi_aff_get_aff(m->leaf->instance, d));
		m->dim[d] = aff_value(m, x);
	}
}

/* Subscripts of a register array: one loop each. */
static int register_index(maker *m, const heddle_registers *r, const heddle_access *access, heddle_value **index)
{
	for (int i = 0; i < r->n; i++) {
		int d = access ? heddle_access_dim(m->leaf->stmt, access, r->c[i].dim) : r->c[i].dim;
		int x = heddle_leaf_loop(m->leaf, d, r->c[i].part);
		heddle_value *own = m->part[d][r->c[i].part];
		index[i] = own ? own : x >= 0 ? m->loop[x] : index_int(m, 0);
	}
	return r->n;
}

/* { L[x] -> [e] } of an access that is a function. */
static __isl_give isl_pw_aff *access_aff(maker *m, const heddle_access *access, int e)
{
	isl_pw_aff *at = isl_multi_pw_aff_get_pw_aff(access->index, e);
	at = isl_pw_aff_pullback_multi_aff(at, isl_multi_aff_copy(m->leaf->instance));
	isl_set *chosen = isl_pw_aff_domain(isl_pw_aff_copy(at));
	if (isl_set_plain_is_universe(chosen) == isl_bool_true) {
		isl_set_free(chosen);
		return at;
	}
	chosen = heddle_plainly_intersect(chosen, runs(m));
	bool never = isl_set_is_empty(chosen) == isl_bool_true;
	isl_set_free(chosen);
	if (never) { /* the branch of `?:` that reads is not taken in these blocks: any subscript will do */
		isl_pw_aff_free(at);
		isl_local_space *space = isl_local_space_from_space(isl_set_get_space(m->leaf->domain));
		return isl_pw_aff_from_aff(isl_aff_zero_on_domain(space));
	}
	return at;
}

/* Subscripts of a tile's array, from those in the tile by tensor dimension, which are taken: NULL where the tile has one element.  A run
 * has one subscript for all its dimensions, a row that is taken apart two. */
static int array_index(maker *m, const heddle_group *group, isl_pw_aff **at, heddle_value **index)
{
	isl_pw_aff *sum[HEDDLE_MAX_DIM];
	int n = 0;
	bool running = false;
	for (int i = 0; i < group->tensor->rank; i++) {
		const int e = group->order[i];
		if (!at[e])
			continue;
		if (!running || !heddle_tile_in_run(group, e)) {
			running = heddle_tile_in_run(group, e);
			sum[n++] = at[e];
			continue;
		}
		sum[n - 1] = isl_pw_aff_scale_val(sum[n - 1], isl_val_int_from_si(m->g->scop->isl, (long)group->size[e]));
		sum[n - 1] = isl_pw_aff_add(sum[n - 1], at[e]);
	}
	if (group->phases > 1) {
		isl_val *phases = isl_val_int_from_si(m->g->scop->isl, group->phases);
		isl_pw_aff *place = isl_pw_aff_floor(isl_pw_aff_scale_down_val(isl_pw_aff_copy(sum[n - 1]), isl_val_copy(phases)));
		sum[n - 1] = isl_pw_aff_sub(sum[n - 1], isl_pw_aff_scale_val(isl_pw_aff_copy(place), phases));
		sum[n++] = place;
	}
	for (int i = 0; i < n; i++)
		index[i] = aff_value(m, sum[i]);
	return n;
}

/* Subscripts in a shared tile: tensor subscript minus the tile's first element. */
static int tile_index(maker *m, const heddle_access *access, heddle_value **index)
{
	const heddle_group *group = access->group;
	const heddle_stmt *stmt = m->leaf->stmt;
	heddle_text text = {0};
	isl_pw_aff *in_tile[HEDDLE_MAX_DIM];
	int at = 0;
	heddle_text_printf(&text, "%s{ %s[", m->g->mapped->params, m->leaf->name);
	for (int i = 0; i < m->leaf->n_loop; i++)
		heddle_text_printf(&text, "%sx%d", i ? ", " : "", i);
	heddle_text_add(&text, "] -> [");
	for (int d = 0; d < stmt->n_dim; d++)
		if (stmt->dim[d].member < 0 && !stmt->dim[d].single_tile)
			heddle_text_printf(&text, "%sx%d", at++ ? ", " : "", heddle_leaf_loop(m->leaf, d, HEDDLE_PART_TILE));
	heddle_text_add(&text, "] }");
	isl_multi_aff *loops = isl_multi_aff_read_from_str(m->g->scop->isl, heddle_text_str(&text));
	isl_multi_aff *offset = isl_multi_aff_pullback_multi_aff(isl_multi_aff_copy(group->offset), loops);
	heddle_text_free(&text);
	for (int e = 0; e < group->tensor->rank; e++) {
		isl_pw_aff *first = group->size[e] > 1 ? isl_pw_aff_from_aff(isl_multi_aff_get_aff(offset, e)) : NULL;
		in_tile[e] = first ? isl_pw_aff_sub(access_aff(m, access, e), first) : NULL;
	}
	isl_multi_aff_free(offset);
	return array_index(m, group, in_tile, index);
}

/* ---- expressions ------------------------------------------------------------------------------------------------------ */

static heddle_value *expression(maker *m, const heddle_expr *expr);

/* An integer expression used as a subscript: in the index type. */
static heddle_value *subscript(maker *m, const heddle_expr *expr)
{
	heddle_program *p = m->p;
	switch (expr->kind) {
	case HEDDLE_EXPR_INT:
		return index_int(m, expr->i);
	case HEDDLE_EXPR_INDEX:
		return m->dim[expr->index->position];
	case HEDDLE_EXPR_SIZE:
		return heddle_generate_size(m->g, expr->size);
	case HEDDLE_EXPR_BINARY:
		if (expr->op <= HEDDLE_OP_MAX)
			return heddle_value_binary(p, expr->op, subscript(m, expr->arg[0]), subscript(m, expr->arg[1]));
		break;
	case HEDDLE_EXPR_UNARY:
		if (expr->op == HEDDLE_OP_NEG)
			return heddle_value_unary(p, HEDDLE_OP_NEG, subscript(m, expr->arg[0]));
		break;
	case HEDDLE_EXPR_CAST:
		if ((expr->type == HEDDLE_INT32 || expr->type == HEDDLE_INT64) &&
		    (expr->arg[0]->kind == HEDDLE_EXPR_INDEX || expr->arg[0]->kind == HEDDLE_EXPR_SIZE ||
		     expr->arg[0]->kind == HEDDLE_EXPR_INT))
			return subscript(m, expr->arg[0]);
		break;
	default:
		break;
	}
	return heddle_value_cast(p, HEDDLE_INT32, expression(m, expr));
}

/* Subscripts in memory, of those in the tensor, which they replace: their number. */
static int memory_index(maker *m, const heddle_tensor *tensor, heddle_value **index)
{
	int n = 0;
	for (int e = 0; e < tensor->rank; e++) {
		heddle_value *at = index[e];
		if (tensor->flat && tensor->factor[e]) {
			heddle_value *factor = heddle_value_cast(m->p, HEDDLE_INT32, heddle_generate_shape(m->g, tensor->factor[e]));
			at = heddle_value_binary(m->p, HEDDLE_OP_ADD, heddle_value_binary(m->p, HEDDLE_OP_MUL, factor, at), index[e + 1]);
			e++;
		}
		index[n++] = at;
	}
	return n;
}

static heddle_access *find_access(const heddle_stmt *stmt, const heddle_expr *expr)
{
	for (int a = 0; a < stmt->n_access; a++)
		if (stmt->access[a].expr == expr)
			return &stmt->access[a];
	return NULL;
}

static heddle_value *read(maker *m, const heddle_expr *expr)
{
	heddle_access *access = find_access(m->leaf->stmt, expr);
	heddle_value *index[HEDDLE_MAX_DIM];
	heddle_group *group = access->group;
	int n;
	switch (group->space) {
	case HEDDLE_SPACE_REGISTER:
		n = register_index(m, &group->registers, access, index);
		return heddle_value_load(m->p, heddle_generate_registers(m->g, &group->registers, group->tensor->name), 1, n,
					 index);
	case HEDDLE_SPACE_SHARED:
		n = tile_index(m, access, index);
		return heddle_value_load(m->p, group->shared, 1, n, index);
	default:
		for (n = 0; n < expr->n_arg; n++)
			index[n] = subscript(m, expr->arg[n]);
		n = memory_index(m, group->tensor, index);
		return heddle_value_load_ahead(m->p, m->g->global[group->tensor->position], 1, n, index, group->ahead);
	}
}

static heddle_value *expression(maker *m, const heddle_expr *expr)
{
	heddle_program *p = m->p;
	heddle_value *arg[4];
	switch (expr->kind) {
	case HEDDLE_EXPR_INT:
		return heddle_type_is_float(expr->type) ? heddle_value_float(p, expr->type, (double)expr->i)
							: heddle_value_int(p, expr->type, expr->i);
	case HEDDLE_EXPR_FLOAT:
		return heddle_value_float(p, expr->type, expr->f);
	case HEDDLE_EXPR_INDEX:
		return heddle_value_cast(p, expr->type, m->dim[expr->index->position]);
	case HEDDLE_EXPR_SIZE:
		return heddle_value_cast(p, expr->type, heddle_generate_size(m->g, expr->size));
	case HEDDLE_EXPR_READ:
		return read(m, expr);
	case HEDDLE_EXPR_UNARY:
		return heddle_value_unary(p, expr->op, expression(m, expr->arg[0]));
	case HEDDLE_EXPR_BINARY:
		arg[0] = expression(m, expr->arg[0]);
		arg[1] = expression(m, expr->arg[1]);
		return heddle_value_binary(p, expr->op, arg[0], arg[1]);
	case HEDDLE_EXPR_SELECT:
		for (int i = 0; i < 3; i++)
			arg[i] = expression(m, expr->arg[i]);
		return heddle_value_select(p, arg[0], arg[1], arg[2]);
	case HEDDLE_EXPR_CAST:
		return heddle_value_cast(p, expr->type, expression(m, expr->arg[0]));
	case HEDDLE_EXPR_CALL:
		for (int i = 0; i < expr->n_arg && i < 4; i++)
			arg[i] = expression(m, expr->arg[i]);
		return heddle_value_call(p, expr->builtin, expr->type, expr->n_arg, arg);
	}
	return NULL;
}

/* ---- reductions ---------------------------------------------------------------------------------------------------------- */

static heddle_op reduce_op(heddle_assign assign)
{
	static const heddle_op op[] = {[HEDDLE_ASSIGN_SET] = HEDDLE_OP_ADD,
				       [HEDDLE_ASSIGN_ADD] = HEDDLE_OP_ADD,
				       [HEDDLE_ASSIGN_MUL] = HEDDLE_OP_MUL,
				       [HEDDLE_ASSIGN_MIN] = HEDDLE_OP_MIN,
				       [HEDDLE_ASSIGN_MAX] = HEDDLE_OP_MAX};
	return op[assign];
}

static heddle_value *identity(maker *m, heddle_type type, heddle_assign assign)
{
	heddle_program *p = m->p;
	bool least = assign == HEDDLE_ASSIGN_MAX;
	if (assign == HEDDLE_ASSIGN_ADD || assign == HEDDLE_ASSIGN_MUL) {
		int one = assign == HEDDLE_ASSIGN_MUL;
		return heddle_type_is_float(type) ? heddle_value_float(p, type, one) : heddle_value_int(p, type, one);
	}
	if (heddle_type_is_float(type))
		return heddle_value_float(p, type, least ? -INFINITY : INFINITY);
	if (heddle_type_is_unsigned(type)) {
		int bits = type == HEDDLE_BOOL ? 1 : heddle_type_size(type) * 8;
		int64_t most = bits == 64 ? -1 : (int64_t)((UINT64_C(1) << bits) - 1);
		return heddle_value_int(p, type, least ? 0 : most);
	}
	int64_t most = (int64_t)((UINT64_C(1) << (heddle_type_size(type) * 8 - 1)) - 1);
	return heddle_value_int(p, type, least ? -most - 1 : most);
}

/* a op= b: a product is added by a fused multiply-add where the language has one. */
static heddle_value *accumulate(maker *m, heddle_op op, heddle_value *a, heddle_value *b)
{
	bool product = b->kind == HEDDLE_VALUE_BINARY && b->op == HEDDLE_OP_MUL && heddle_type_is_float(b->type);
	if (op == HEDDLE_OP_ADD && product && b->type == a->type)
		return heddle_value_fma(m->p, b->arg[0], b->arg[1], a);
	return heddle_value_binary(m->p, op, a, heddle_value_cast(m->p, a->type, b));
}

/* A register array of the leaf's statement and its subscripts here. */
static heddle_buffer *group_registers(maker *m, heddle_value **index, int *n)
{
	heddle_access *access = &m->leaf->stmt->access[0];
	*n = register_index(m, &access->group->registers, access, index);
	return heddle_generate_registers(m->g, &access->group->registers, access->tensor->name);
}

/* What each thread sums into. */
static heddle_buffer *accumulator(maker *m, heddle_value **index, int *n)
{
	heddle_stmt *stmt = m->leaf->stmt;
	if (stmt->in_group && !stmt->partial)
		return group_registers(m, index, n);
	*n = register_index(m, &stmt->accumulator, NULL, index);
	return heddle_generate_registers(m->g, &stmt->accumulator, NULL);
}

/* What the reduction leaves behind. */
static heddle_buffer *result(maker *m, heddle_value **index, int *n)
{
	heddle_stmt *stmt = m->leaf->stmt;
	if (!stmt->partial)
		return accumulator(m, index, n);
	if (stmt->in_group)
		return group_registers(m, index, n);
	*n = register_index(m, &stmt->total, NULL, index);
	return heddle_generate_registers(m->g, &stmt->total, NULL);
}

static heddle_node *store_target(maker *m, heddle_value *value, bool update)
{
	heddle_stmt *stmt = m->leaf->stmt;
	heddle_access *access = &stmt->access[0];
	heddle_group *group = access->group;
	heddle_value *index[HEDDLE_MAX_DIM];
	heddle_buffer *buffer;
	int n = 0;
	if (group->space == HEDDLE_SPACE_REGISTER) {
		n = register_index(m, &group->registers, access, index);
		buffer = heddle_generate_registers(m->g, &group->registers, group->tensor->name);
	} else {
		for (; n < stmt->source->n_lhs; n++)
			index[n] = subscript(m, stmt->source->lhs[n]);
		n = memory_index(m, access->tensor, index);
		buffer = m->g->global[access->tensor->position];
	}
	if (update) {
		heddle_value *old = heddle_value_load(m->p, buffer, 1, n, index);
		value = heddle_value_binary(m->p, reduce_op(stmt->source->assign),
					    heddle_value_cast(m->p, value->type, old), value);
	}
	return heddle_node_store(m->p, buffer, n, index, heddle_value_cast(m->p, buffer->type, value));
}

static heddle_node *compute(maker *m)
{
	heddle_stmt *stmt = m->leaf->stmt;
	heddle_value *value = expression(m, stmt->value);
	heddle_value *index[HEDDLE_MAX_DIM];
	int n;
	if (!stmt->reduction)
		return store_target(m, value, stmt->source->assign != HEDDLE_ASSIGN_SET && !stmt->source->initialise);
	heddle_buffer *sum = accumulator(m, index, &n);
	value = accumulate(m, reduce_op(stmt->source->assign), heddle_value_load(m->p, sum, 1, n, index), value);
	return heddle_node_store(m->p, sum, n, index, value);
}

static heddle_node *initialise(maker *m)
{
	heddle_value *index[HEDDLE_MAX_DIM];
	int n;
	heddle_buffer *sum = accumulator(m, index, &n);
	return heddle_node_store(m->p, sum, n, index, identity(m, sum->type, m->leaf->stmt->source->assign));
}

static heddle_node *finish(maker *m)
{
	heddle_value *index[HEDDLE_MAX_DIM];
	int n;
	heddle_buffer *total = result(m, index, &n);
	return store_target(m, heddle_value_load(m->p, total, 1, n, index), !m->leaf->stmt->source->initialise);
}

/* ---- combine ---------------------------------------------------------------------------------------------------------- */

static heddle_node *loop_node(maker *m, heddle_loop_kind kind, const char *stem, int64_t extent, heddle_value **iterator,
			      heddle_node **body)
{
	const char *name = heddle_generate_name(m->g, stem);
	*body = heddle_node_block(m->p);
	*iterator = heddle_value_variable(m->p, HEDDLE_INT32, 1, name);
	heddle_node *loop = heddle_node_for(m->p, kind, name, index_int(m, 0), index_int(m, extent), 1, *body);
	loop->uniform = true;
	return loop;
}

/* Loops over everything that one thread holds of the result; returns the innermost block. */
static heddle_node *over_results(maker *m, heddle_node *at)
{
	heddle_stmt *stmt = m->leaf->stmt;
	for (int i = 0; i < stmt->total.n; i++) {
		int d = stmt->total.c[i].dim;
		heddle_part part = stmt->total.c[i].part;
		heddle_node *body;
		heddle_node_append(m->p, at,
				   loop_node(m, HEDDLE_LOOP_UNROLL, heddle_loop_name(m->g->scop, stmt, d, part),
					     stmt->total.c[i].extent, &m->part[d][part], &body));
		at = body;
	}
	return at;
}

static void store_result(maker *m, heddle_node *at, heddle_value *value)
{
	heddle_value *index[HEDDLE_MAX_DIM];
	int n;
	heddle_buffer *buffer = result(m, index, &n);
	heddle_node_append(m->p, at, heddle_node_store(m->p, buffer, n, index, value));
}

static heddle_value *load_result(maker *m)
{
	heddle_value *index[HEDDLE_MAX_DIM];
	int n;
	heddle_buffer *buffer = result(m, index, &n);
	return heddle_value_load(m->p, buffer, 1, n, index);
}

/* result = all vector members of the accumulator */
static void combine_members(maker *m, heddle_node *at, heddle_op op)
{
	heddle_stmt *stmt = m->leaf->stmt;
	heddle_value *index[HEDDLE_MAX_DIM];
	int n;
	heddle_type type = stmt->accumulator.type;
	store_result(m, at, identity(m, type, stmt->source->assign));
	for (int i = 0; i < stmt->accumulator.n; i++) {
		int d = stmt->accumulator.c[i].dim;
		heddle_node *body;
		if (!stmt->dim[d].reduction)
			continue;
		heddle_node_append(m->p, at, loop_node(m, HEDDLE_LOOP_VECTOR, heddle_loop_name(m->g->scop, stmt, d, HEDDLE_PART_VEC),
						       stmt->accumulator.c[i].extent, &m->part[d][HEDDLE_PART_VEC], &body));
		at = body;
	}
	heddle_buffer *sum = accumulator(m, index, &n);
	store_result(m, at, heddle_value_binary(m->p, op, load_result(m), heddle_value_load(m->p, sum, 1, n, index)));
}

static heddle_value *thread(maker *m)
{
	return heddle_value_cast(m->p, HEDDLE_INT32, heddle_value_thread(m->p));
}

/* Subscripts of the exchange array: results of a thread, then the slot. */
static int slot_index(maker *m, heddle_value *slot, heddle_value **index)
{
	heddle_stmt *stmt = m->leaf->stmt;
	int n = 0;
	for (int i = 0; i < stmt->total.n; i++)
		index[n++] = m->part[stmt->total.c[i].dim][stmt->total.c[i].part];
	index[n++] = slot;
	return n;
}

static heddle_buffer *exchange_buffer(maker *m, int64_t slots)
{
	heddle_stmt *stmt = m->leaf->stmt;
	heddle_program *p = m->p;
	const char *name = heddle_arena_printf(p->arena, "%s_lanes%d", stmt->access[0].tensor->name, stmt->position);
	for (int i = 0; i < m->g->launch->n_shared; i++)
		if (!strcmp(m->g->launch->shared[i]->name, name))
			return m->g->launch->shared[i];
	heddle_buffer *buffer =
		heddle_buffer_new(p, name, HEDDLE_BUFFER_SHARED, stmt->accumulator.type, stmt->total.n + 1);
	for (int i = 0; i < stmt->total.n; i++)
		buffer->extent[i] = heddle_value_int(p, HEDDLE_INT64, stmt->total.c[i].extent);
	buffer->extent[stmt->total.n] = heddle_value_int(p, HEDDLE_INT64, slots);
	buffer->align = 16;
	buffer->comment = "partial results of lanes";
	HEDDLE_PUSH(p->arena, m->g->launch->shared, m->g->launch->n_shared, buffer);
	return buffer;
}

/* One value per warp is left: through shared memory, then every thread adds the warps of its lanes. */
static void combine_warps(maker *m, heddle_node *block, heddle_op op, int warp)
{
	heddle_program *p = m->p;
	const heddle_kernel *kernel = m->g->kernel;
	int64_t warps = kernel->lanes / warp;
	heddle_value *index[HEDDLE_MAX_DIM + 1];
	heddle_buffer *buffer = exchange_buffer(m, kernel->threads / warp);
	heddle_value *width = index_int(m, warp);
	heddle_value *first = heddle_value_binary(p, HEDDLE_OP_EQ, heddle_value_floor(p, HEDDLE_VALUE_FLOOR_MOD, thread(m), width),
						  index_int(m, 0));
	heddle_node *write = heddle_node_block(p), *at = over_results(m, write);
	int n = slot_index(m, heddle_value_floor(p, HEDDLE_VALUE_FLOOR_DIV, thread(m), width), index);
	heddle_node_append(p, at, heddle_node_store(p, buffer, n, index, load_result(m)));
	heddle_node_append(p, block, heddle_node_if(p, first, write, NULL));
	heddle_node_append(p, block, heddle_node_barrier(p));
	at = over_results(m, block);
	heddle_value *base = heddle_value_binary(
		p, HEDDLE_OP_MUL,
		heddle_value_floor(p, HEDDLE_VALUE_FLOOR_DIV, thread(m), index_int(m, kernel->lanes)), index_int(m, warps));
	heddle_value *sum = NULL;
	for (int64_t w = 0; w < warps; w++) {
		n = slot_index(m, heddle_value_binary(p, HEDDLE_OP_ADD, base, index_int(m, w)), index);
		heddle_value *one = heddle_value_load(p, buffer, 1, n, index);
		sum = sum ? heddle_value_binary(p, op, sum, one) : one;
	}
	store_result(m, at, sum);
}

/* Without shuffles: a tree in shared memory, halving the lanes. */
static void combine_tree(maker *m, heddle_node *block, heddle_op op)
{
	heddle_program *p = m->p;
	const heddle_kernel *kernel = m->g->kernel;
	heddle_value *index[HEDDLE_MAX_DIM + 1], *other[HEDDLE_MAX_DIM + 1];
	heddle_buffer *buffer = exchange_buffer(m, kernel->threads);
	heddle_node *at = over_results(m, block);
	int n = slot_index(m, thread(m), index);
	heddle_node_append(p, at, heddle_node_store(p, buffer, n, index, load_result(m)));
	heddle_node_append(p, block, heddle_node_barrier(p));
	int64_t live = kernel->lanes;
	while (live > 1) {
		int64_t half = (live + 1) / 2;
		heddle_value *busy =
			heddle_value_binary(p, HEDDLE_OP_LT, heddle_generate_coordinate(m->g, "c_lane"), index_int(m, live - half));
		heddle_node *body = heddle_node_block(p);
		at = over_results(m, body);
		n = slot_index(m, thread(m), index);
		slot_index(m, heddle_value_binary(p, HEDDLE_OP_ADD, thread(m), index_int(m, half * kernel->lane_stride)), other);
		heddle_value *both = heddle_value_binary(p, op, heddle_value_load(p, buffer, 1, n, index),
							 heddle_value_load(p, buffer, 1, n, other));
		heddle_node_append(p, at, heddle_node_store(p, buffer, n, index, both));
		heddle_node_append(p, block, heddle_node_if(p, busy, body, NULL));
		heddle_node_append(p, block, heddle_node_barrier(p));
		live = half;
	}
	at = over_results(m, block);
	heddle_value *first = heddle_value_binary(
		p, HEDDLE_OP_SUB, thread(m),
		heddle_value_binary(p, HEDDLE_OP_MUL, heddle_generate_coordinate(m->g, "c_lane"), index_int(m, kernel->lane_stride)));
	n = slot_index(m, first, index);
	store_result(m, at, heddle_value_load(p, buffer, 1, n, index));
}

static heddle_node *combine(maker *m)
{
	heddle_program *p = m->p;
	const heddle_kernel *kernel = m->g->kernel;
	heddle_op op = reduce_op(m->leaf->stmt->source->assign);
	heddle_node *block = heddle_node_block(p);
	bool laned = false;
	for (int d = 0; d < m->leaf->stmt->n_dim; d++)
		laned |= m->leaf->stmt->dim[d].reduction && m->leaf->stmt->dim[d].layout.threads > 1;
	int warp = p->warp;
	const bool shuffles = heddle_lanes_shuffle(m->g->scop, kernel);
	if (m->leaf->stmt->partial)
		combine_members(m, over_results(m, block), op);
	if (!laned || kernel->lanes == 1)
		return block;
	if (!shuffles) {
		combine_tree(m, block, op);
	} else {
		int64_t most = kernel->lanes < warp ? kernel->lanes : warp;
		heddle_node *at = over_results(m, block);
		for (int64_t mask = most / 2; mask >= 1; mask /= 2)
			store_result(m, at,
				     heddle_value_binary(p, op, load_result(m), heddle_value_shuffle(p, load_result(m), (int)mask)));
		if (kernel->lanes > warp)
			combine_warps(m, block, op, warp);
	}
	/* the exchange array is used again in the next round of an enclosing loop */
	if (m->leaf->n_loop && (!shuffles || kernel->lanes > warp))
		heddle_node_append(p, block, heddle_node_barrier(p));
	return block;
}

/* ---- moves ----------------------------------------------------------------------------------------------------------------- */

static heddle_node *store(maker *m)
{
	heddle_group *group = m->leaf->group;
	heddle_value *index[HEDDLE_MAX_DIM], *target[HEDDLE_MAX_DIM];
	heddle_stmt *stmt = m->leaf->stmt;
	int n, rank = 0;
	heddle_buffer *from = group_registers(m, index, &n);
	heddle_buffer *to = m->g->global[group->tensor->position];
	for (; rank < stmt->source->n_lhs; rank++)
		target[rank] = subscript(m, stmt->source->lhs[rank]);
	rank = memory_index(m, group->tensor, target);
	return heddle_node_store(m->p, to, rank, target, heddle_value_load(m->p, from, 1, n, index));
}

/* The condition for being in `part` when known to be in `whole`; NULL when it always holds in this branch. */
static heddle_value *membership(maker *m, __isl_keep isl_set *whole, __isl_keep isl_set *part)
{
	isl_set *here = heddle_plainly_intersect_params(isl_set_copy(whole), isl_set_copy(m->g->branch->blocks));
	heddle_value *condition = NULL;
	if (!heddle_plainly_inside(here, part) && isl_set_is_subset(here, part) == isl_bool_false) {
		isl_set *inside = isl_set_gist(isl_set_copy(part), isl_set_copy(here));
		condition = heddle_generate_condition(m->g, inside, m->loop);
	}
	isl_set_free(here);
	return condition;
}

static heddle_value *zero(maker *m, heddle_type type)
{
	return heddle_type_is_float(type) ? heddle_value_float(m->p, type, 0) : heddle_value_int(m->p, type, 0);
}

/* { L[x] -> [c] }: the first or last element of the row that is copied. */
static __isl_give isl_pw_aff *row_end(maker *m, int column, bool last)
{
	isl_set *copied = heddle_plainly_intersect_params(isl_set_copy(m->leaf->domain), isl_set_copy(m->g->branch->blocks));
	isl_map *row = isl_map_from_domain(copied);
	row = isl_map_add_dims(row, isl_dim_out, 1);
	row = isl_map_equate(row, isl_dim_in, column, isl_dim_out, 0);
	row = isl_map_eliminate(row, isl_dim_in, (unsigned)column, 1);
	row = isl_map_fix_si(row, isl_dim_in, (unsigned)column, 0);
	isl_pw_multi_aff *end = last ? isl_map_lexmax_pw_multi_aff(row) : isl_map_lexmin_pw_multi_aff(row);
	isl_pw_aff *at = isl_pw_multi_aff_get_pw_aff(end, 0);
	isl_pw_multi_aff_free(end);
	return isl_pw_aff_coalesce(isl_pw_aff_gist(at, isl_set_copy(m->leaf->spread)));
}

/* One row of the tile, as far as the tensor has it. */
static heddle_node *copy(maker *m)
{
	heddle_leaf *leaf = m->leaf;
	heddle_group *group = leaf->group;
	heddle_value *from[HEDDLE_MAX_DIM], *to[HEDDLE_MAX_DIM], *first = index_int(m, 0), *count = index_int(m, 1);
	int n = 0, rank = group->tensor->rank, column = heddle_leaf_loop(leaf, HEDDLE_MOVE_COLUMN, HEDDLE_PART_ITEM);
	if (column >= 0) {
		isl_pw_aff *begin = row_end(m, column, false), *end = row_end(m, column, true);
		end = isl_pw_aff_add_constant_val(isl_pw_aff_sub(end, isl_pw_aff_copy(begin)), isl_val_one(m->g->scop->isl));
		count = aff_value(m, isl_pw_aff_coalesce(end));
		first = aff_value(m, begin);
	}
	for (int e = 0; e < rank; e++)
		from[e] = aff_value(m, isl_pw_aff_from_aff(isl_multi_aff_get_aff(leaf->element, e)));
	for (int e = 0; e < rank; e++)
		if (group->size[group->order[e]] > 1)
			to[n++] = aff_value(m, isl_pw_aff_from_aff(isl_multi_aff_get_aff(leaf->position, group->order[e])));
	if (column >= 0) {
		from[rank - 1] = heddle_value_binary(m->p, HEDDLE_OP_ADD, from[rank - 1], first);
		to[n - 1] = heddle_value_binary(m->p, HEDDLE_OP_ADD, to[n - 1], first);
	}
	return heddle_node_copy(m->p, group->copy->name, count, group->shared, n, to, m->g->global[group->tensor->position],
				memory_index(m, group->tensor, from), from);
}

/* Subscripts of a move's element in its tensor: one alone, over all elements, where rows go on through several dimensions. */
static int move_source(maker *m, heddle_value **from)
{
	heddle_leaf *leaf = m->leaf;
	const heddle_group *group = leaf->group;
	const heddle_buffer *buffer = m->g->global[group->tensor->position];
	const int rank = group->tensor->rank, rows = group->run < heddle_tile_row(group) ? group->run : rank;
	heddle_value *sum = NULL;
	for (int e = 0; e < rows; e++) {
		from[e] = aff_value(m, isl_pw_aff_from_aff(isl_multi_aff_get_aff(leaf->element, e)));
		sum = !sum ? from[e] : heddle_value_binary(m->p, HEDDLE_OP_ADD, sum, from[e]);
		if (rows < rank) /* a Horner's scheme */
			sum = heddle_value_binary(m->p, HEDDLE_OP_MUL, sum, heddle_value_cast(m->p, HEDDLE_INT32, buffer->extent[e + 1]));
	}
	if (rows == rank)
		return memory_index(m, group->tensor, from);
	isl_aff *along = isl_multi_aff_get_aff(leaf->element, rows);
	for (int e = rows + 1; e < rank; e++) {
		along = isl_aff_scale_val(along, isl_val_int_from_si(m->g->scop->isl, (long)group->size[e]));
		along = isl_aff_add(along, isl_multi_aff_get_aff(leaf->element, e));
		if (sum)
			sum = heddle_value_binary(m->p, HEDDLE_OP_MUL, sum, heddle_value_cast(m->p, HEDDLE_INT32, buffer->extent[e]));
	}
	from[0] = aff_value(m, isl_pw_aff_from_aff(along));
	if (sum)
		from[0] = heddle_value_binary(m->p, HEDDLE_OP_ADD, sum, from[0]);
	return 1;
}

static heddle_node *move(maker *m)
{
	heddle_leaf *leaf = m->leaf;
	heddle_group *group = leaf->group;
	heddle_value *from[HEDDLE_MAX_DIM], *to[HEDDLE_MAX_DIM];
	isl_pw_aff *in_tile[HEDDLE_MAX_DIM];
	const int rank = move_source(m, from);
	for (int e = 0; e < group->tensor->rank; e++)
		in_tile[e] = group->size[e] > 1 ? isl_pw_aff_from_aff(isl_multi_aff_get_aff(leaf->position, e)) : NULL;
	const int n = array_index(m, group, in_tile, to);
	if (leaf->fill)
		return heddle_node_store(m->p, group->shared, n, to, zero(m, group->tensor->type));
	heddle_value *value = heddle_value_load(m->p, m->g->global[group->tensor->position], 1, rank, from);
	heddle_value *condition = membership(m, leaf->domain, leaf->valid);
	if (condition)
		value = heddle_value_select(m->p, condition, value, zero(m, value->type));
	return heddle_node_store(m->p, group->shared, n, to, value);
}

/* The tiles of one statement are moved by one copy (place). */
static heddle_node *wait_for(maker *m)
{
	const heddle_group *copied = NULL;
	for (int g = 0; g < m->g->kernel->n_group && !copied; g++)
		if (m->g->kernel->group[g]->stmt == m->leaf->stmt && m->g->kernel->group[g]->copy)
			copied = m->g->kernel->group[g];
	return heddle_node_wait(m->p, copied->copy->name);
}

static void set_line(heddle_node *node, int line)
{
	node->line = line;
	for (int i = 0; i < node->n_child; i++)
		set_line(node->child[i], line);
}

heddle_node *heddle_generate_leaf(heddle_generator *g, heddle_leaf *leaf, heddle_value *const *x)
{
	maker m = {.g = g, .p = g->program, .leaf = leaf, .loop = x};
	heddle_node *node = NULL;
	if (leaf->instance && leaf->kind != HEDDLE_LEAF_COMBINE)
		dim_values(&m);
	switch (leaf->kind) {
	case HEDDLE_LEAF_INITIALISE:
		node = initialise(&m);
		break;
	case HEDDLE_LEAF_COMPUTE:
		node = compute(&m);
		break;
	case HEDDLE_LEAF_COMBINE:
		node = combine(&m);
		break;
	case HEDDLE_LEAF_FINISH:
		node = finish(&m);
		break;
	case HEDDLE_LEAF_STORE:
		node = store(&m);
		break;
	case HEDDLE_LEAF_MOVE:
		node = move(&m);
		break;
	case HEDDLE_LEAF_COPY:
		node = copy(&m);
		break;
	case HEDDLE_LEAF_WAIT:
		node = wait_for(&m);
		break;
	case HEDDLE_LEAF_BARRIER:
		node = heddle_node_barrier(g->program);
		break;
	}
	if (leaf->kind == HEDDLE_LEAF_COMPUTE || leaf->kind == HEDDLE_LEAF_FINISH || leaf->kind == HEDDLE_LEAF_STORE) {
		heddle_value *guard = membership(&m, leaf->spread, leaf->domain);
		if (guard) {
			node = heddle_node_if(g->program, guard, node, NULL);
			node->uniform = false;
		}
	}
	set_line(node, leaf->stmt->source->location.line);
	isl_set_free(m.runs);
	return node;
}
