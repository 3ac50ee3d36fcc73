/* generate: schedule tree -> isl AST -> program.
 *
 * Enters: mapped kernels.  Leaves: scop->program with launches, buffers, workspace.
 * Guaranteed: loops and guards are isl's; every value in a leaf is computed from isl's iterators and the coordinates.
 * SPDX-License-Identifier: MIT
 */
#include "model/generate.h"
#include "model/ranges.h"

#include <isl/id.h>
#include <isl/val.h>
#include <string.h>

/* Tile coordinates can pass a size by less than a tile and must fit 32 bits.  A size that nobody bounded is bounded here, and
 * the entry checks it; one that is bounded above this gets 64-bit indices. */
#define INT32_SIZE_LIMIT ((int64_t)INT32_MAX - 65535)

/* ---- names and sizes ---------------------------------------------------------------------------------------------------- */

const char *heddle_generate_name(heddle_generator *g, const char *stem)
{
	for (int n = 1;; n++) {
		const char *name = n == 1 ? stem : heddle_arena_printf(g->program->arena, "%s%s%d", stem,
								       stem[strlen(stem) - 1] >= '0' && stem[strlen(stem) - 1] <= '9'
									       ? "_"
									       : "",
								       n);
		bool used = false;
		for (int i = 0; i < g->n_name && !used; i++)
			used = !strcmp(g->name[i], name);
		if (used)
			continue;
		name = heddle_arena_strdup(g->program->arena, name);
		HEDDLE_PUSH(g->program->arena, g->name, g->n_name, name);
		return name;
	}
}

void heddle_generate_vary(heddle_generator *g, const char *name, int64_t extent)
{
	int n = g->n_varying;
	HEDDLE_PUSH(g->program->arena, g->varying, n, name);
	HEDDLE_PUSH(g->program->arena, g->varying_extent, g->n_varying, extent);
}

static int find_varying(const heddle_generator *g, const char *name)
{
	for (int i = 0; i < g->n_varying; i++)
		if (!strcmp(g->varying[i], name))
			return i;
	return -1;
}

bool heddle_generate_varies(const heddle_generator *g, const heddle_value *value)
{
	if (value->kind == HEDDLE_VALUE_THREAD || value->kind == HEDDLE_VALUE_LOAD)
		return true;
	if (value->kind == HEDDLE_VALUE_VARIABLE && find_varying(g, value->name) >= 0)
		return true;
	for (int i = 0; i < value->n_arg; i++)
		if (heddle_generate_varies(g, value->arg[i]))
			return true;
	return false;
}

/* The greatest (`most`) or least of what the value is for all threads, the same for each of them; NULL where that is not seen. */
static heddle_value *extreme(heddle_generator *g, heddle_value *value, bool most)
{
	heddle_program *p = g->program;
	const heddle_op op = value->op;
	if (!heddle_generate_varies(g, value))
		return value;
	if (value->kind == HEDDLE_VALUE_VARIABLE) {
		int64_t extent = g->varying_extent[find_varying(g, value->name)];
		return extent ? heddle_value_int(p, value->type, most ? extent - 1 : 0) : NULL;
	}
	const bool divides = value->kind == HEDDLE_VALUE_FLOOR_DIV && !heddle_generate_varies(g, value->arg[1]);
	const bool scales = value->kind == HEDDLE_VALUE_BINARY && op == HEDDLE_OP_MUL;
	if (value->kind != HEDDLE_VALUE_BINARY && !divides)
		return NULL;
	heddle_value *a = value->arg[0], *b = value->arg[1];
	if (scales && a->kind == HEDDLE_VALUE_INT) {
		a = value->arg[1];
		b = value->arg[0];
	}
	if (scales && b->kind != HEDDLE_VALUE_INT)
		return NULL;
	if (!scales && !divides && op != HEDDLE_OP_ADD && op != HEDDLE_OP_SUB && op != HEDDLE_OP_MIN && op != HEDDLE_OP_MAX)
		return NULL;
	a = extreme(g, a, scales && b->i < 0 ? !most : most);
	b = scales || divides ? b : extreme(g, b, op == HEDDLE_OP_SUB ? !most : most);
	if (!a || !b)
		return NULL;
	return divides ? heddle_value_floor(p, HEDDLE_VALUE_FLOOR_DIV, a, b) : heddle_value_binary(p, op, a, b);
}

static heddle_value *open_size(heddle_generator *g, const char *name, heddle_type type)
{
	for (int i = 0; i < g->program->n_size; i++)
		if (!strcmp(g->program->size[i].name, name))
			return heddle_value_cast(g->program, type, heddle_value_size(g->program, i));
	return NULL;
}

static heddle_value *size_value(heddle_generator *g, const heddle_size *size, heddle_type type)
{
	if (size->min == size->max)
		return heddle_value_int(g->program, type, size->min);
	return open_size(g, size->name, type);
}

heddle_value *heddle_generate_size(heddle_generator *g, const heddle_size *size)
{
	return size_value(g, size, g->index_type);
}

heddle_value *heddle_generate_shape(heddle_generator *g, const heddle_expr *expr)
{
	heddle_program *p = g->program;
	switch (expr->kind) {
	case HEDDLE_EXPR_INT:
		return heddle_value_int(p, HEDDLE_INT64, expr->i);
	case HEDDLE_EXPR_SIZE:
		return size_value(g, expr->size, HEDDLE_INT64);
	case HEDDLE_EXPR_CAST:
		return heddle_generate_shape(g, expr->arg[0]);
	case HEDDLE_EXPR_UNARY:
		return heddle_value_unary(p, HEDDLE_OP_NEG, heddle_generate_shape(g, expr->arg[0]));
	case HEDDLE_EXPR_BINARY: {
		heddle_value *a = heddle_generate_shape(g, expr->arg[0]), *b = heddle_generate_shape(g, expr->arg[1]);
		if (expr->op == HEDDLE_OP_DIV)
			return heddle_value_floor(p, HEDDLE_VALUE_FLOOR_DIV, a, b);
		if (expr->op == HEDDLE_OP_MOD)
			return heddle_value_floor(p, HEDDLE_VALUE_FLOOR_MOD, a, b);
		return heddle_value_binary(p, expr->op, a, b);
	}
	default:
		return heddle_value_int(p, HEDDLE_INT64, 0);
	}
}

heddle_value *heddle_generate_coordinate(heddle_generator *g, const char *param)
{
	for (int i = 0; i < g->n_alias; i++)
		if (!strcmp(g->alias_param[i], param))
			param = g->alias_name[i];
	return heddle_value_variable(g->program, g->index_type, 1, heddle_arena_strdup(g->program->arena, param));
}

/* ---- isl expressions ------------------------------------------------------------------------------------------------------ */

static heddle_value *fold(heddle_generator *g, heddle_op op, isl_ast_expr *expr)
{
	isl_size n = isl_ast_expr_get_op_n_arg(expr);
	heddle_value *result = heddle_generate_expr(g, isl_ast_expr_get_op_arg(expr, 0));
	for (int i = 1; i < n; i++)
		result = heddle_value_binary(g->program, op, result,
					     heddle_generate_expr(g, isl_ast_expr_get_op_arg(expr, i)));
	return result;
}

static heddle_value *op_value(heddle_generator *g, isl_ast_expr *expr)
{
	heddle_program *p = g->program;
	switch (isl_ast_expr_get_op_type(expr)) {
	case isl_ast_op_and:
	case isl_ast_op_and_then:
		return fold(g, HEDDLE_OP_AND, expr);
	case isl_ast_op_or:
	case isl_ast_op_or_else:
		return fold(g, HEDDLE_OP_OR, expr);
	case isl_ast_op_max:
		return fold(g, HEDDLE_OP_MAX, expr);
	case isl_ast_op_min:
		return fold(g, HEDDLE_OP_MIN, expr);
	case isl_ast_op_add:
		return fold(g, HEDDLE_OP_ADD, expr);
	case isl_ast_op_sub:
		return fold(g, HEDDLE_OP_SUB, expr);
	case isl_ast_op_mul:
		return fold(g, HEDDLE_OP_MUL, expr);
	case isl_ast_op_div:
		return fold(g, HEDDLE_OP_DIV, expr);
	case isl_ast_op_eq:
		return fold(g, HEDDLE_OP_EQ, expr);
	case isl_ast_op_le:
		return fold(g, HEDDLE_OP_LE, expr);
	case isl_ast_op_lt:
		return fold(g, HEDDLE_OP_LT, expr);
	case isl_ast_op_ge:
		return fold(g, HEDDLE_OP_GE, expr);
	case isl_ast_op_gt:
		return fold(g, HEDDLE_OP_GT, expr);
	case isl_ast_op_minus:
		return heddle_value_unary(p, HEDDLE_OP_NEG, heddle_generate_expr(g, isl_ast_expr_get_op_arg(expr, 0)));
	case isl_ast_op_fdiv_q:
	case isl_ast_op_pdiv_q:
		return heddle_value_floor(p, HEDDLE_VALUE_FLOOR_DIV, heddle_generate_expr(g, isl_ast_expr_get_op_arg(expr, 0)),
					  heddle_generate_expr(g, isl_ast_expr_get_op_arg(expr, 1)));
	case isl_ast_op_pdiv_r:
	case isl_ast_op_zdiv_r:
		return heddle_value_floor(p, HEDDLE_VALUE_FLOOR_MOD, heddle_generate_expr(g, isl_ast_expr_get_op_arg(expr, 0)),
					  heddle_generate_expr(g, isl_ast_expr_get_op_arg(expr, 1)));
	case isl_ast_op_cond:
	case isl_ast_op_select:
		return heddle_value_select(p, heddle_generate_expr(g, isl_ast_expr_get_op_arg(expr, 0)),
					   heddle_generate_expr(g, isl_ast_expr_get_op_arg(expr, 1)),
					   heddle_generate_expr(g, isl_ast_expr_get_op_arg(expr, 2)));
	default:
		heddle_error(g->scop->ctx, 961, NULL, "generate: an operator of isl's AST is not known");
		return heddle_value_int(p, g->index_type, 0);
	}
}

heddle_value *heddle_generate_expr(heddle_generator *g, __isl_take isl_ast_expr *expr)
{
	heddle_value *result;
	if (!expr)
		return heddle_value_int(g->program, g->index_type, 0); /* the error is isl's: checked after the pass */
	switch (isl_ast_expr_get_type(expr)) {
	case isl_ast_expr_int: {
		isl_val *v = isl_ast_expr_get_val(expr);
		result = heddle_value_int(g->program, g->index_type, isl_val_get_num_si(v));
		isl_val_free(v);
		break;
	}
	case isl_ast_expr_id: {
		isl_id *id = isl_ast_expr_get_id(expr);
		const char *name = isl_id_get_name(id);
		result = !strncmp(name, "N_", 2) ? open_size(g, name + 2, g->index_type) : NULL;
		if (!result)
			result = heddle_generate_coordinate(g, name);
		isl_id_free(id);
		break;
	}
	default:
		result = op_value(g, expr);
		break;
	}
	isl_ast_expr_free(expr);
	return result;
}

/* ---- AST -> nodes ------------------------------------------------------------------------------------------------------------ */

typedef struct binding {
	const char *iterator;
	heddle_value *value;
	struct binding *next;
} binding;

typedef struct walker {
	heddle_generator *g;
	const heddle_nest *loop; /* the mark above: what the next `for` is */
} walker;

static heddle_value *rename_one(heddle_value *value, void *user)
{
	for (const binding *b = user; b && value->kind == HEDDLE_VALUE_VARIABLE; b = b->next)
		if (!strcmp(b->iterator, value->name))
			return b->value;
	return value;
}

static heddle_value *renamed(heddle_generator *g, heddle_value *value, binding *scope)
{
	return scope ? heddle_value_map(g->program, value, rename_one, scope) : value;
}

static void rename_node(heddle_generator *g, heddle_node *node, binding *scope)
{
	for (int i = 0; i < node->n_value; i++)
		node->value[i] = renamed(g, node->value[i], scope);
	for (int i = 0; i < node->n_child; i++)
		rename_node(g, node->child[i], scope);
}

static bool has_names(const heddle_node *block)
{
	bool found = false;
	for (int i = 0; i < block->n_child; i++)
		found |= block->child[i]->kind == HEDDLE_NODE_LET || block->child[i]->kind == HEDDLE_NODE_DECLARE;
	return found;
}

/* What the condition says of all threads alike, or NULL: nothing. */
static heddle_value *uniform_part(heddle_generator *g, heddle_value *condition)
{
	if (!heddle_generate_varies(g, condition))
		return condition;
	if (condition->kind != HEDDLE_VALUE_BINARY || (condition->op != HEDDLE_OP_AND && condition->op != HEDDLE_OP_OR))
		return NULL;
	heddle_value *a = uniform_part(g, condition->arg[0]), *b = uniform_part(g, condition->arg[1]);
	if (a && b)
		return heddle_value_binary(g->program, condition->op, a, b);
	return condition->op == HEDDLE_OP_AND ? (a ? a : b) : NULL;
}

/* `if (condition) node` with the barriers of the node outside of the condition. */
static heddle_node *around_barriers(heddle_generator *g, heddle_value *condition, heddle_node *node)
{
	heddle_program *p = g->program;
	if (node->kind == HEDDLE_NODE_BARRIER)
		return node;
	if (!heddle_node_find(node, HEDDLE_NODE_BARRIER) || (node->kind == HEDDLE_NODE_BLOCK ? has_names(node) : !node->uniform))
		return heddle_node_if(p, condition, node, NULL);
	for (int i = 0; i < node->n_child; i++)
		node->child[i] = around_barriers(g, condition, node->child[i]);
	return node;
}

/* Where what runs before a barrier has a condition on the thread that follows from the barrier's own, isl may put both under
 * it: the same for all threads, but nobody sees that.  The barrier moves out, under what the condition says of all threads
 * alike.  There may be barriers too many then, but all threads come to each. */
static heddle_node *conditional(heddle_generator *g, heddle_value *condition, heddle_node *then, heddle_node *otherwise)
{
	if (otherwise || !heddle_node_find(then, HEDDLE_NODE_BARRIER) || !heddle_generate_varies(g, condition)) {
		heddle_node *node = heddle_node_if(g->program, condition, then, otherwise);
		node->uniform = !heddle_generate_varies(g, condition);
		return node;
	}
	heddle_value *all = uniform_part(g, condition);
	heddle_node *parts = around_barriers(g, condition, then);
	return all ? conditional(g, all, parts, NULL) : parts;
}

static heddle_node *convert(walker *w, __isl_take isl_ast_node *ast, binding *scope);

static heddle_node *convert_for(walker *w, isl_ast_node *ast, binding *scope)
{
	heddle_generator *g = w->g;
	heddle_program *p = g->program;
	const heddle_nest *nest = w->loop;
	isl_ast_expr *iterator = isl_ast_node_for_get_iterator(ast);
	isl_id *id = isl_ast_expr_get_id(iterator);
	binding here = {heddle_arena_strdup(p->arena, id ? isl_id_get_name(id) : ""), NULL, scope};
	heddle_value *lower = renamed(g, heddle_generate_expr(g, isl_ast_node_for_get_init(ast)), scope);
	isl_id_free(id);
	isl_ast_expr_free(iterator);
	if (isl_ast_node_for_is_degenerate(ast) == isl_bool_true) {
		here.value = lower;
		return convert(w, isl_ast_node_for_get_body(ast), &here);
	}
	isl_ast_expr *condition = isl_ast_node_for_get_cond(ast);
	bool inclusive = isl_ast_expr_get_op_type(condition) == isl_ast_op_le;
	heddle_value *upper = renamed(g, heddle_generate_expr(g, isl_ast_expr_get_op_arg(condition, 1)), scope);
	isl_ast_expr_free(condition);
	if (inclusive)
		upper = heddle_value_binary(p, HEDDLE_OP_ADD, upper, heddle_value_int(p, g->index_type, 1));
	isl_ast_expr *increment = isl_ast_node_for_get_inc(ast);
	isl_val *step_value = isl_ast_expr_get_val(increment);
	int64_t step = isl_val_get_num_si(step_value);
	isl_val_free(step_value);
	isl_ast_expr_free(increment);
	heddle_value *own[2] = {lower, upper};
	bool varies = heddle_generate_varies(g, lower) || heddle_generate_varies(g, upper);
	if (varies && nest && heddle_nest_threads_meet(nest)) {
		/* threads that meet inside all run all rounds of any; their own bounds guard what lies between the barriers */
		heddle_value *from = extreme(g, lower, false), *to = extreme(g, upper, true);
		if (from && to) {
			lower = from;
			upper = to;
			varies = false;
		}
	}
	const char *name = heddle_generate_name(g, nest ? nest->name : "i");
	heddle_loop_kind kind = nest ? nest->loop : HEDDLE_LOOP_SERIAL;
	const bool expands = kind == HEDDLE_LOOP_UNROLL || kind == HEDDLE_LOOP_VECTOR;
	if (varies && !expands)
		heddle_generate_vary(g, name, 0);
	here.value = heddle_value_variable(p, g->index_type, 1, name);
	heddle_node *body = convert(w, isl_ast_node_for_get_body(ast), &here);
	if (lower != own[0])
		body = conditional(g, heddle_value_binary(p, HEDDLE_OP_GE, here.value, own[0]), body, NULL);
	if (upper != own[1])
		body = conditional(g, heddle_value_binary(p, HEDDLE_OP_LT, here.value, own[1]), body, NULL);
	bool open = lower->kind != HEDDLE_VALUE_INT || upper->kind != HEDDLE_VALUE_INT;
	if (expands && open && step == 1) {
		/* registers are indexed by it: all of its rounds, the bounds as a guard inside */
		heddle_value *inside = NULL;
		if (!heddle_value_is_int(lower, 0))
			inside = heddle_value_binary(p, HEDDLE_OP_GE, here.value, lower);
		if (!heddle_value_is_int(upper, nest->extent)) {
			heddle_value *below = heddle_value_binary(p, HEDDLE_OP_LT, here.value, upper);
			inside = inside ? heddle_value_binary(p, HEDDLE_OP_AND, inside, below) : below;
		}
		if (inside) {
			body = heddle_node_if(p, inside, body, NULL);
			body->uniform = !heddle_generate_varies(g, inside);
		}
		lower = heddle_value_int(p, g->index_type, 0);
		upper = heddle_value_int(p, g->index_type, nest->extent);
		varies = false;
	} else if (open) {
		kind = HEDDLE_LOOP_SERIAL;
	}
	if (body->kind != HEDDLE_NODE_BLOCK) {
		heddle_node *block = heddle_node_block(p);
		heddle_node_append(p, block, body);
		body = block;
	}
	heddle_node *loop = heddle_node_for(p, kind, name, lower, upper, step, body);
	loop->uniform = !varies;
	return loop;
}

static heddle_node *convert_if(walker *w, isl_ast_node *ast, binding *scope)
{
	heddle_generator *g = w->g;
	const heddle_nest *loop = w->loop;
	heddle_value *condition = renamed(g, heddle_generate_expr(g, isl_ast_node_if_get_cond(ast)), scope);
	heddle_node *then = convert(w, isl_ast_node_if_get_then(ast), scope), *otherwise = NULL;
	w->loop = loop;
	if (isl_ast_node_if_has_else(ast) == isl_bool_true)
		otherwise = convert(w, isl_ast_node_if_get_else(ast), scope);
	return conditional(g, condition, then, otherwise);
}

static heddle_node *convert(walker *w, __isl_take isl_ast_node *ast, binding *scope)
{
	heddle_generator *g = w->g;
	heddle_node *result = NULL;
	switch (isl_ast_node_get_type(ast)) {
	case isl_ast_node_for:
		result = convert_for(w, ast, scope);
		break;
	case isl_ast_node_if:
		result = convert_if(w, ast, scope);
		break;
	case isl_ast_node_block: {
		isl_ast_node_list *list = isl_ast_node_block_get_children(ast);
		isl_size n = isl_ast_node_list_n_ast_node(list);
		const heddle_nest *loop = w->loop;
		result = heddle_node_block(g->program);
		for (int i = 0; i < n; i++) {
			w->loop = loop;
			heddle_node_append(g->program, result, convert(w, isl_ast_node_list_get_ast_node(list, i), scope));
		}
		isl_ast_node_list_free(list);
		break;
	}
	case isl_ast_node_mark: {
		isl_id *id = isl_ast_node_mark_get_id(ast);
		w->loop = isl_id_get_user(id);
		isl_id_free(id);
		result = convert(w, isl_ast_node_mark_get_node(ast), scope);
		break;
	}
	case isl_ast_node_user: {
		isl_id *id = isl_ast_node_get_annotation(ast);
		result = id ? isl_id_get_user(id) : NULL;
		isl_id_free(id);
		if (!result)
			result = heddle_node_block(g->program);
		rename_node(g, result, scope);
		break;
	}
	default:
		result = heddle_node_block(g->program);
		break;
	}
	isl_ast_node_free(ast);
	return result;
}

static __isl_give isl_ast_node *at_domain(__isl_take isl_ast_node *node, __isl_keep isl_ast_build *build, void *user)
{
	heddle_generator *g = user;
	isl_union_map *schedule = isl_union_map_reverse(isl_ast_build_get_schedule(build));
	isl_pw_multi_aff *iteration = isl_pw_multi_aff_from_map(isl_map_from_union_map(schedule));
	const char *name = isl_pw_multi_aff_get_tuple_name(iteration, isl_dim_out);
	heddle_leaf *leaf = NULL;
	for (int i = 0; name && i < g->mapped->n_leaf; i++)
		if (!strcmp(g->mapped->leaf[i]->name, name))
			leaf = g->mapped->leaf[i];
	if (!leaf) {
		isl_pw_multi_aff_free(iteration);
		return node;
	}
	heddle_node *made = heddle_generate_leaf(g, leaf, build, iteration);
	return isl_ast_node_set_annotation(node, isl_id_alloc(g->scop->isl, leaf->name, made));
}

static __isl_give isl_ast_node *branch_ast(heddle_generator *g, __isl_take isl_set *context, __isl_take isl_schedule *schedule)
{
	isl_ast_build *build = isl_ast_build_from_context(isl_set_coalesce(context));
	build = isl_ast_build_set_at_each_domain(build, at_domain, g);
	isl_ast_node *ast = isl_ast_build_node_from_schedule(build, schedule);
	isl_ast_build_free(build);
	return ast;
}

heddle_node *heddle_generate_branch(heddle_generator *g)
{
	isl_set *context = isl_set_intersect(isl_set_copy(g->mapped->context), isl_set_copy(g->branch->blocks));
	isl_schedule *schedule = isl_schedule_copy(g->branch->schedule);
	isl_ast_node *ast = schedule ? branch_ast(g, isl_set_copy(context), isl_schedule_copy(schedule)) : NULL;
	if (schedule && !ast && isl_ctx_last_error(g->scop->isl) == isl_error_invalid) {
		/* isl 0.25 loses the definition of a quotient where sizes have divisors; nothing but simpler guards is won by those */
		isl_ctx_reset_error(g->scop->isl);
		schedule = isl_schedule_gist_domain_params(schedule, isl_set_copy(g->scop->context));
		ast = branch_ast(g, isl_set_remove_divs(isl_set_copy(context)), isl_schedule_copy(schedule));
	}
	isl_set_free(context);
	isl_schedule_free(schedule);
	if (!ast)
		return heddle_node_block(g->program);
	walker w = {g, NULL};
	return convert(&w, ast, NULL);
}

/* ---- launches ------------------------------------------------------------------------------------------------------------------ */

/* Number of tiles along a member: ceil(extent / tile), the greatest over its statements. */
static heddle_value *tiles_along(heddle_generator *g, const heddle_kernel *kernel, int m)
{
	heddle_program *p = g->program;
	heddle_value *extent = NULL;
	int64_t tile = kernel->member[m].layout.tile;
	for (int s = 0; s < kernel->n_stmt; s++) {
		const heddle_stmt *stmt = kernel->stmt[s];
		for (int d = 0; d < stmt->n_dim; d++) {
			if (stmt->dim[d].member != m)
				continue;
			/* bounds that depend on other indices: the greatest value, from isl */
			isl_pw_aff *most = isl_set_dim_max(isl_set_copy(stmt->lhs), d);
			isl_pw_aff *upper = heddle_scop_bound(g->scop, stmt, stmt->source->index[d]->upper);
			bool plain = upper && !isl_pw_aff_involves_dims(upper, isl_dim_in, 0, (unsigned)stmt->n_dim);
			isl_pw_aff_free(upper);
			heddle_value *here;
			if (plain) {
				here = heddle_generate_shape(g, stmt->source->index[d]->upper);
				isl_pw_aff_free(most);
			} else {
				/* and -1 where there is nothing to run */
				isl_local_space *sizes = isl_local_space_from_space(isl_set_get_space(g->scop->context));
				isl_aff *none = isl_aff_add_constant_si(isl_aff_zero_on_domain(sizes), -1);
				most = isl_pw_aff_union_max(most, isl_pw_aff_from_aff(none));
				isl_ast_build *build = isl_ast_build_from_context(isl_set_copy(g->scop->context));
				here = heddle_generate_expr(g, isl_ast_build_expr_from_pw_aff(build, most));
				here = heddle_value_binary(p, HEDDLE_OP_ADD, heddle_value_cast(p, HEDDLE_INT64, here),
							   heddle_value_int(p, HEDDLE_INT64, 1));
				isl_ast_build_free(build);
			}
			if (!extent)
				extent = here;
			else if (!heddle_value_equal(extent, here))
				extent = heddle_value_binary(p, HEDDLE_OP_MAX, extent, here);
		}
	}
	extent = heddle_value_binary(p, HEDDLE_OP_ADD, extent, heddle_value_int(p, HEDDLE_INT64, tile - 1));
	return heddle_value_floor(p, HEDDLE_VALUE_FLOOR_DIV, extent, heddle_value_int(p, HEDDLE_INT64, tile));
}

/* The isl parameter "c_i_block" becomes the variable i_block ("N_M_rounds": M_rounds); `threads`: how many values it has in a block if threads differ. */
static heddle_value *let(heddle_generator *g, heddle_node *block, const char *param, heddle_value *value, int64_t threads)
{
	const char *name = heddle_generate_name(g, param + strlen("c_")); /* or "N_" */
	int n = g->n_alias;
	HEDDLE_PUSH(g->program->arena, g->alias_param, n, param);
	HEDDLE_PUSH(g->program->arena, g->alias_name, g->n_alias, name);
	if (threads)
		heddle_generate_vary(g, name, threads);
	heddle_node_append(g->program, block, heddle_node_let(g->program, name, value));
	return heddle_value_variable(g->program, value->type, 1, name);
}

static void coordinates(heddle_generator *g, heddle_node *block, heddle_value **tiles)
{
	heddle_program *p = g->program;
	const heddle_kernel *kernel = g->kernel;
	heddle_type type = g->index_type;
	heddle_value *thread = heddle_value_cast(p, type, heddle_value_thread(p));
	heddle_value *rest = heddle_value_cast(p, type, heddle_value_block(p));
	for (int i = kernel->n_member - 1; i >= 0; i--) {
		int m = kernel->member_order[i];
		heddle_value *count = heddle_value_cast(p, type, tiles[m]);
		heddle_value *here = i ? heddle_value_floor(p, HEDDLE_VALUE_FLOOR_MOD, rest, count) : rest;
		let(g, block, heddle_block_param(g->scop, &kernel->member[m]), here, 0);
		if (i)
			rest = heddle_value_floor(p, HEDDLE_VALUE_FLOOR_DIV, rest, count);
	}
	for (int i = 0; i < g->mapped->n_quotient; i++) {
		const heddle_quotient *quotient = &g->mapped->quotient[i];
		let(g, block, quotient->param, heddle_value_floor(p, HEDDLE_VALUE_FLOOR_DIV, heddle_generate_size(g, quotient->size),
								  heddle_value_int(p, type, quotient->by)), 0);
	}
	for (int m = 0; m < kernel->n_member; m++) {
		const heddle_member *member = &kernel->member[m];
		if (member->layout.threads == 1)
			continue;
		heddle_value *v = heddle_value_floor(p, HEDDLE_VALUE_FLOOR_DIV, thread,
						     heddle_value_int(p, type, member->thread_stride));
		if (member->thread_stride * member->layout.threads < kernel->threads)
			v = heddle_value_floor(p, HEDDLE_VALUE_FLOOR_MOD, v, heddle_value_int(p, type, member->layout.threads));
		let(g, block, heddle_thread_param(g->scop, member), v, member->layout.threads);
	}
	if (kernel->lanes > 1) {
		heddle_value *v = heddle_value_floor(p, HEDDLE_VALUE_FLOOR_DIV, thread,
						     heddle_value_int(p, type, kernel->lane_stride));
		if (kernel->lane_stride * kernel->lanes < kernel->threads)
			v = heddle_value_floor(p, HEDDLE_VALUE_FLOOR_MOD, v, heddle_value_int(p, type, kernel->lanes));
		let(g, block, "c_lane", v, kernel->lanes);
	}
	for (int i = 0; i < g->mapped->n_columns; i++) {
		int64_t columns = g->mapped->columns[i];
		heddle_value *width = heddle_value_int(p, type, columns);
		let(g, block, heddle_arena_printf(p->arena, "c_row%lld", (long long)columns),
		    heddle_value_floor(p, HEDDLE_VALUE_FLOOR_DIV, thread, width), (kernel->threads + columns - 1) / columns);
		let(g, block, heddle_arena_printf(p->arena, "c_column%lld", (long long)columns),
		    heddle_value_floor(p, HEDDLE_VALUE_FLOOR_MOD, thread, width), columns);
	}
}

/* Coordinates that nothing uses go. */
static void drop_unused(heddle_node *block)
{
	int n = 0;
	for (int i = 0; i < block->n_child; i++) {
		heddle_node *child = block->child[i];
		bool used = child->kind != HEDDLE_NODE_LET;
		for (int j = i + 1; j < block->n_child && !used; j++)
			used = heddle_node_depends(block->child[j], child->name);
		if (used)
			block->child[n++] = child;
	}
	block->n_child = n;
}

heddle_buffer *heddle_generate_registers(heddle_generator *g, heddle_registers *r, const char *of)
{
	if (r->buffer)
		return r->buffer;
	bool edge = !g->branch->interior && g->mapped->n_branch > 1;
	const char *stem = heddle_arena_printf(g->program->arena, "%s%s%s", r->name, of ? "_reg" : "", edge ? "_edge" : "");
	const char *name = stem;
	for (int n = 2;; n++) {
		bool used = false;
		for (int i = 0; i < g->program->n_buffer; i++)
			used |= !strcmp(g->program->buffer[i]->name, name);
		if (!used)
			break;
		name = heddle_arena_printf(g->program->arena, "%s_%d", stem, n);
	}
	r->buffer = heddle_buffer_new(g->program, name, HEDDLE_BUFFER_REGISTER, r->type, r->n);
	for (int i = 0; i < r->n; i++)
		r->buffer->extent[i] = heddle_value_int(g->program, HEDDLE_INT64, r->c[i].extent);
	r->buffer->of = of;
	heddle_node_append(g->program, g->top, heddle_node_declare(g->program, r->buffer));
	return r->buffer;
}

static heddle_node *branch_body(heddle_generator *g, const heddle_branch *branch)
{
	g->branch = branch;
	g->top = heddle_node_block(g->program);
	for (int i = 0; i < g->kernel->n_group; i++)
		g->kernel->group[i]->registers.buffer = NULL;
	for (int s = 0; s < g->kernel->n_stmt; s++)
		g->kernel->stmt[s]->accumulator.buffer = g->kernel->stmt[s]->total.buffer = NULL;
	heddle_node *body = heddle_generate_branch(g);
	heddle_node_append(g->program, g->top, body);
	return g->top;
}

static heddle_value *branch_condition(heddle_generator *g, const heddle_branch *branch)
{
	isl_set *context = isl_set_copy(g->mapped->context);
	isl_set *blocks = isl_set_gist_params(isl_set_copy(branch->blocks), isl_set_params(isl_set_copy(context)));
	isl_ast_build *build = isl_ast_build_from_context(context);
	heddle_value *value = heddle_generate_expr(g, isl_ast_build_expr_from_set(build, blocks));
	isl_ast_build_free(build);
	return value;
}

/* Bytes: vectors in a tile that begin at a multiple of their size do not cross lines. */
static int widest_vector(const heddle_descriptor *descriptor)
{
	enum { LEAST = 16 };
	return descriptor->vector_bytes.set && descriptor->vector_bytes.value > LEAST ? (int)descriptor->vector_bytes.value : LEAST;
}

static void shared_tiles(heddle_generator *g)
{
	heddle_program *p = g->program;
	g->shared = HEDDLE_NEW_ARRAY(p->arena, heddle_buffer *, g->kernel->n_group + 1);
	for (int i = 0; i < g->kernel->n_group; i++) {
		heddle_group *group = g->kernel->group[i];
		if (group->space != HEDDLE_SPACE_SHARED)
			continue;
		int rank = 0;
		for (int e = 0; e < group->tensor->rank; e++)
			rank += group->size[group->order[e]] > 1;
		const char *name = heddle_arena_printf(p->arena, "%s_tile%s", group->tensor->name, "");
		for (int n = 2;; n++) {
			bool used = false;
			for (int b = 0; b < p->n_buffer; b++)
				used |= !strcmp(p->buffer[b]->name, name);
			if (!used)
				break;
			name = heddle_arena_printf(p->arena, "%s_tile%d", group->tensor->name, n);
		}
		heddle_buffer *buffer = heddle_buffer_new(p, name, HEDDLE_BUFFER_SHARED, group->tensor->type, rank);
		int at = 0;
		for (int e = 0; e < group->tensor->rank; e++)
			if (group->size[group->order[e]] > 1)
				buffer->extent[at++] = heddle_value_int(p, HEDDLE_INT64, group->size[group->order[e]]);
		buffer->pad = rank ? group->pad : 0;
		buffer->align = widest_vector(g->scop->descriptor);
		buffer->of = group->tensor->name;
		g->shared[i] = group->shared = buffer;
		HEDDLE_PUSH(p->arena, g->launch->shared, g->launch->n_shared, buffer);
	}
}

/* The launch takes a buffer in global memory that it touches. */
static void use_global(heddle_generator *g, heddle_buffer *buffer)
{
	if (buffer->role > HEDDLE_BUFFER_TEMPORARY)
		return;
	for (int i = 0; i < g->launch->n_buffer; i++)
		if (g->launch->buffer[i] == buffer)
			return;
	HEDDLE_PUSH(g->program->arena, g->launch->buffer, g->launch->n_buffer, buffer);
}

static void collect_value(heddle_generator *g, const heddle_value *value)
{
	if (value->kind == HEDDLE_VALUE_LOAD)
		use_global(g, value->buffer);
	for (int i = 0; i < value->n_arg; i++)
		collect_value(g, value->arg[i]);
}

static void collect_global(heddle_generator *g, const heddle_node *node)
{
	if (node->kind == HEDDLE_NODE_STORE)
		use_global(g, node->buffer);
	if (node->kind == HEDDLE_NODE_COPY)
		use_global(g, node->source);
	for (int i = 0; i < node->n_value; i++)
		collect_value(g, node->value[i]);
	for (int i = 0; i < node->n_child; i++)
		collect_global(g, node->child[i]);
}

/* Launch arguments in program order. */
static void sort_buffers(heddle_launch *launch)
{
	for (int i = 1; i < launch->n_buffer; i++)
		for (int j = i; j > 0 && launch->buffer[j]->position < launch->buffer[j - 1]->position; j--) {
			heddle_buffer *swap = launch->buffer[j];
			launch->buffer[j] = launch->buffer[j - 1];
			launch->buffer[j - 1] = swap;
		}
}

static int launch_kernel(heddle_generator *g, heddle_kernel *kernel)
{
	heddle_program *p = g->program;
	heddle_launch *launch = HEDDLE_NEW(p->arena, heddle_launch);
	heddle_value *tiles[HEDDLE_MAX_DIM];
	heddle_text config = {0};
	g->kernel = kernel;
	g->launch = launch;
	g->n_name = g->n_varying = g->n_alias = 0;
	/* words of the program's text form, then what the user named */
	static const char *const word[] = {"block", "thread", "true", "false", "inf", "nan"};
	for (size_t i = 0; i < HEDDLE_COUNT(word); i++)
		HEDDLE_PUSH(p->arena, g->name, g->n_name, word[i]);
	for (int t = 0; t < g->scop->definition->n_tensor; t++)
		HEDDLE_PUSH(p->arena, g->name, g->n_name, g->scop->definition->tensor[t]->name);
	for (int i = 0; i < g->scop->definition->n_size; i++)
		HEDDLE_PUSH(p->arena, g->name, g->n_name, g->scop->definition->size[i]->name);
	launch->name = heddle_arena_printf(p->arena, "%s_%d", g->scop->definition->name, kernel->position);
	launch->threads = kernel->threads;
	/* Said aloud: without it some compilers aim at full occupancy and spill to get there. */
	launch->min_blocks = kernel->threads > 1 ? 1 : 0;
	launch->grid = heddle_value_int(p, HEDDLE_INT64, 1);
	for (int m = 0; m < kernel->n_member; m++) {
		tiles[m] = tiles_along(g, kernel, m);
		launch->grid = heddle_value_binary(p, HEDDLE_OP_MUL, launch->grid, tiles[m]);
	}
	if (kernel->position < g->scop->config->n_kernel)
		heddle_config_print_kernel(g->scop->config, kernel->position, &config);
	launch->config = heddle_arena_strdup(p->arena, heddle_text_str(&config));
	heddle_text_free(&config);
	HEDDLE_PUSH(p->arena, p->launch, p->n_launch, launch);
	g->mapped = kernel->mapped;
	launch->body = heddle_node_block(p);
	coordinates(g, launch->body, tiles);
	shared_tiles(g);
	int n_branch = g->mapped->n_branch; /* none: nothing runs for any of the sizes */
	heddle_node *last = n_branch ? branch_body(g, &g->mapped->branch[n_branch - 1]) : heddle_node_block(p);
	if (n_branch == 2) {
		heddle_node *first = branch_body(g, &g->mapped->branch[0]);
		last = heddle_node_if(p, branch_condition(g, &g->mapped->branch[0]), first, last);
		last->uniform = true;
	}
	heddle_node_append(p, launch->body, last);
	drop_unused(launch->body);
	collect_global(g, launch->body);
	sort_buffers(launch);
	return heddle_scop_check(g->scop, "generate");
}

/* ---- buffers --------------------------------------------------------------------------------------------------------------------- */

static bool needs_memory(const heddle_scop *scop, const heddle_tensor *tensor)
{
	if (tensor->role != HEDDLE_ROLE_TEMPORARY)
		return true;
	for (int k = 0; k < scop->n_kernel; k++)
		for (int i = 0; i < scop->kernel[k]->n_group; i++) {
			const heddle_group *group = scop->kernel[k]->group[i];
			if (group->tensor == tensor && (group->space != HEDDLE_SPACE_REGISTER || group->live_out))
				return true;
		}
	return false;
}

static void add_buffer(heddle_generator *g, const heddle_tensor *tensor, heddle_buffer_role role)
{
	heddle_program *p = g->program;
	heddle_buffer *buffer = heddle_buffer_new(p, heddle_arena_strdup(p->arena, tensor->name), role, tensor->type, tensor->rank);
	for (int i = 0; i < tensor->rank; i++)
		buffer->extent[i] = heddle_generate_shape(g, tensor->extent[i]);
	buffer->stride = tensor->stride ? HEDDLE_NEW_ARRAY(p->arena, heddle_value *, tensor->rank) : NULL;
	for (int i = 0; i < tensor->rank && tensor->stride; i++)
		buffer->stride[i] = heddle_generate_shape(g, tensor->stride[i]);
	buffer->align = tensor->align ? (int)tensor->align : 16;
	g->global[tensor->position] = buffer;
}

/* A stretch of the workspace that temporaries with disjoint lives share. */
typedef struct slot {
	heddle_value *bytes; /* the greatest of its temporaries, in whole units */
	int last;	     /* kernel that last touches the newest of them */
	int n;
	heddle_buffer **buffer;
} slot;

static bool touches(const heddle_kernel *kernel, const heddle_tensor *tensor)
{
	for (int s = 0; s < kernel->n_stmt; s++)
		for (int a = 0; a < kernel->stmt[s]->n_access; a++)
			if (kernel->stmt[s]->access[a].tensor == tensor)
				return true;
	return false;
}

/* Bytes of a temporary, rounded up to 256: each slot starts aligned for any vector. */
static heddle_value *slot_bytes(heddle_generator *g, const heddle_buffer *buffer)
{
	heddle_program *p = g->program;
	heddle_value *unit = heddle_value_int(p, HEDDLE_INT64, 256);
	heddle_value *bytes = heddle_value_int(p, HEDDLE_INT64, heddle_type_size(buffer->type));
	for (int i = 0; i < buffer->rank; i++)
		bytes = heddle_value_binary(p, HEDDLE_OP_MUL, bytes, buffer->extent[i]);
	bytes = heddle_value_binary(p, HEDDLE_OP_ADD, bytes, heddle_value_int(p, HEDDLE_INT64, 255));
	return heddle_value_binary(p, HEDDLE_OP_MUL, heddle_value_floor(p, HEDDLE_VALUE_FLOOR_DIV, bytes, unit), unit);
}

/* First come, first served: a temporary takes the first slot whose tensors are dead before its own first kernel. */
static void lay_out_workspace(heddle_generator *g)
{
	heddle_program *p = g->program;
	const heddle_scop *scop = g->scop;
	slot *slots = NULL;
	int n = 0;
	for (int k = 0; k < scop->n_kernel; k++)
		for (int t = 0; t < scop->definition->n_tensor; t++) {
			const heddle_tensor *tensor = scop->definition->tensor[t];
			heddle_buffer *buffer = g->global[t];
			bool first = buffer && buffer->role == HEDDLE_BUFFER_TEMPORARY && touches(scop->kernel[k], tensor);
			int last = k, free = 0;
			for (int j = 0; j < k && first; j++)
				first = !touches(scop->kernel[j], tensor);
			if (!first)
				continue;
			for (int j = k + 1; j < scop->n_kernel; j++)
				last = touches(scop->kernel[j], tensor) ? j : last;
			while (free < n && slots[free].last >= k)
				free++;
			if (free == n) {
				slot empty = {.bytes = heddle_value_int(p, HEDDLE_INT64, 0)};
				HEDDLE_PUSH(p->arena, slots, n, empty);
			}
			heddle_value *bytes = slot_bytes(g, buffer);
			bool same = heddle_value_equal(bytes, slots[free].bytes);
			slots[free].bytes = !slots[free].n ? bytes
					    : same	   ? bytes
							   : heddle_value_binary(p, HEDDLE_OP_MAX, slots[free].bytes, bytes);
			slots[free].last = last;
			HEDDLE_PUSH(p->arena, slots[free].buffer, slots[free].n, buffer);
		}
	p->workspace = heddle_value_int(p, HEDDLE_INT64, 0);
	for (int i = 0; i < n; i++) {
		for (int j = 0; j < slots[i].n; j++)
			slots[i].buffer[j]->offset = p->workspace;
		p->workspace = heddle_value_binary(p, HEDDLE_OP_ADD, p->workspace, slots[i].bytes);
	}
}

static void add_buffers(heddle_generator *g)
{
	const heddle_definition *definition = g->scop->definition;
	g->global = HEDDLE_NEW_ARRAY(g->program->arena, heddle_buffer *, definition->n_tensor);
	for (int pass = 0; pass < 3; pass++)
		for (int i = 0; i < definition->n_tensor; i++) {
			const heddle_tensor *tensor = definition->tensor[i];
			bool scalar = tensor->role == HEDDLE_ROLE_INPUT && tensor->rank == 0;
			if (pass == 0 && tensor->role == HEDDLE_ROLE_INPUT && !scalar)
				add_buffer(g, tensor, HEDDLE_BUFFER_INPUT);
			else if (pass == 0 && tensor->role == HEDDLE_ROLE_OUTPUT)
				add_buffer(g, tensor, HEDDLE_BUFFER_OUTPUT);
			else if (pass == 0 && tensor->role == HEDDLE_ROLE_INOUT)
				add_buffer(g, tensor, HEDDLE_BUFFER_INOUT);
			else if (pass == 1 && scalar)
				add_buffer(g, tensor, HEDDLE_BUFFER_SCALAR);
			else if (pass == 2 && tensor->role == HEDDLE_ROLE_TEMPORARY && needs_memory(g->scop, tensor))
				add_buffer(g, tensor, HEDDLE_BUFFER_TEMPORARY);
		}
	lay_out_workspace(g);
}

/* Nobody said how great it may become. */
static bool is_unbounded(const heddle_size *size)
{
	return size->min < size->max && size->max == INT32_MAX / size->divisor * size->divisor;
}

static heddle_type index_type(const heddle_scop *scop)
{
	for (int i = 0; i < scop->definition->n_size; i++)
		if (scop->definition->size[i]->max > INT32_SIZE_LIMIT && !is_unbounded(scop->definition->size[i]))
			return HEDDLE_INT64;
	return HEDDLE_INT32;
}

static void add_preconditions(heddle_generator *g);

int heddle_pass_generate(heddle_scop *scop)
{
	heddle_program *p = heddle_program_new(scop->definition->name);
	heddle_generator g = {.scop = scop, .program = p, .index_type = index_type(scop)};
	scop->program = p;
	p->warp = scop->descriptor->warp.set ? (int)scop->descriptor->warp.value : 1;
	p->size = HEDDLE_NEW_ARRAY(p->arena, heddle_program_size, scop->definition->n_size);
	for (int i = 0; i < scop->definition->n_size; i++) {
		const heddle_size *size = scop->definition->size[i];
		int64_t max = is_unbounded(size) ? INT32_SIZE_LIMIT / size->divisor * size->divisor : size->max;
		p->size[p->n_size++] =
			(heddle_program_size){heddle_arena_strdup(p->arena, size->name), size->min, max, size->divisor};
	}
	add_buffers(&g);
	for (int k = 0; k < scop->n_kernel; k++)
		if (launch_kernel(&g, scop->kernel[k]) < 0)
			return -1;
	add_preconditions(&g);
	return heddle_error_count(scop->ctx) ? -1 : 0;
}

/* Preconditions over sizes only; those that read tensors are checked where code is interpreted. */
static bool over_sizes(const heddle_expr *expr)
{
	if (expr->kind == HEDDLE_EXPR_READ || expr->kind == HEDDLE_EXPR_INDEX || expr->kind == HEDDLE_EXPR_CALL)
		return false;
	for (int i = 0; i < expr->n_arg; i++)
		if (!over_sizes(expr->arg[i]))
			return false;
	return true;
}

static void add_preconditions(heddle_generator *g)
{
	heddle_program *p = g->program;
	for (int i = 0; i < g->scop->definition->n_precondition; i++) {
		const heddle_expr *condition = g->scop->definition->precondition[i];
		if (over_sizes(condition))
			HEDDLE_PUSH(p->arena, p->precondition, p->n_precondition, heddle_generate_shape(g, condition));
	}
}
