/* Creating a scop, and turning the notation's expressions into isl functions.
 * SPDX-License-Identifier: MIT
 */
#include "model/nest.h"

#include <isl/id.h>
#include <isl/local_space.h>
#include <isl/ast_build.h>
#include <isl/options.h>
#include <isl/val.h>
#include <isl/printer.h>
#include <string.h>

const char *heddle_scop_param(const heddle_scop *scop, const heddle_size *size)
{
	if (size->min == size->max)
		return NULL;
	return heddle_arena_printf(scop->arena, "N_%s", size->name);
}

const char *heddle_scop_params(const heddle_scop *scop, const char *extra)
{
	heddle_text text = {0};
	if (!scop->n_param && !(extra && *extra))
		return "";
	heddle_text_add(&text, "[");
	for (int i = 0; i < scop->n_param; i++)
		heddle_text_printf(&text, "%sN_%s", i ? ", " : "", scop->param[i]->name);
	if (extra && *extra)
		heddle_text_printf(&text, "%s%s", scop->n_param ? ", " : "", extra);
	heddle_text_add(&text, "] -> ");
	const char *result = heddle_arena_strdup(scop->arena, heddle_text_str(&text));
	heddle_text_free(&text);
	return result;
}

bool heddle_scop_is_open(const heddle_size *size)
{
	return size->min < size->max && size->max == HEDDLE_MAX_SIZE / size->divisor * size->divisor;
}

__isl_give isl_set *heddle_scop_hull(const heddle_scop *scop, __isl_take isl_set *set)
{
	if (isl_set_n_basic_set(set) <= 1)
		return set;
	heddle_text text = {0};
	heddle_text_printf(&text, "%s{ : 1 = 1", heddle_scop_params(scop, NULL));
	for (int i = 0; i < scop->definition->n_size; i++) {
		const heddle_size *size = scop->definition->size[i];
		if (heddle_scop_is_open(size))
			heddle_text_printf(&text, " and %s <= %lld", heddle_scop_param(scop, size), (long long)size->max);
	}
	heddle_text_add(&text, " }");
	set = isl_set_gist_params(set, isl_set_read_from_str(scop->isl, heddle_text_str(&text)));
	heddle_text_free(&text);
	return isl_set_from_basic_set(isl_set_simple_hull(set));
}

/* { : min <= N <= max and N = divisor * m } for every open size. */
static __isl_give isl_set *size_context(heddle_scop *scop)
{
	heddle_text text = {0};
	heddle_text_printf(&text, "%s{ : ", heddle_scop_params(scop, NULL));
	for (int i = 0; i < scop->n_param; i++) {
		const heddle_size *size = scop->param[i];
		heddle_text_printf(&text, "%s%lld <= N_%s <= %lld", i ? " and " : "", (long long)size->min, size->name,
				   (long long)size->max);
		if (size->divisor > 1)
			heddle_text_printf(&text, " and N_%s mod %lld = 0", size->name, (long long)size->divisor);
	}
	if (!scop->n_param)
		heddle_text_add(&text, "1 = 1");
	heddle_text_add(&text, " }");
	isl_set *context = isl_set_read_from_str(scop->isl, heddle_text_str(&text));
	heddle_text_free(&text);
	return context;
}

bool heddle_expr_has_index(const heddle_expr *expr)
{
	if (expr->kind == HEDDLE_EXPR_INDEX)
		return true;
	for (int i = 0; i < expr->n_arg; i++)
		if (heddle_expr_has_index(expr->arg[i]))
			return true;
	return false;
}

heddle_scop *heddle_scop_new(heddle_ctx *ctx, heddle_arena *arena, const heddle_definition *definition,
			     const heddle_descriptor *descriptor)
{
	heddle_scop *scop = HEDDLE_NEW(arena, heddle_scop);
	scop->ctx = ctx;
	scop->arena = arena;
	scop->definition = definition;
	scop->descriptor = descriptor;
	scop->isl = isl_ctx_alloc();
	isl_options_set_on_error(scop->isl, ISL_ON_ERROR_CONTINUE);
	isl_options_set_schedule_max_constant_term(scop->isl, 0);
	isl_options_set_schedule_maximize_coincidence(scop->isl, 1);
	isl_options_set_ast_build_detect_min_max(scop->isl, 1);
	isl_options_set_ast_build_allow_or(scop->isl, 1);
	for (int i = 0; i < definition->n_size; i++)
		if (definition->size[i]->min != definition->size[i]->max)
			HEDDLE_PUSH(arena, scop->param, scop->n_param, definition->size[i]);
	scop->context = size_context(scop);
	/* what the entry checks may be relied on */
	heddle_stmt none = {.all = isl_set_from_params(isl_set_copy(scop->context))};
	for (int i = 0; i < definition->n_precondition; i++) {
		if (heddle_expr_has_index(definition->precondition[i]))
			continue; /* for each instance: checked where code is interpreted */
		isl_set *holds = heddle_scop_precondition(scop, &none, definition->precondition[i]);
		if (holds)
			scop->context = isl_set_intersect(scop->context, isl_set_params(holds));
	}
	isl_set_free(none.all);
	return scop;
}

static void free_stmt(heddle_stmt *stmt)
{
	isl_set_free(stmt->domain);
	isl_set_free(stmt->all);
	isl_set_free(stmt->inner);
	isl_set_free(stmt->lhs);
	isl_schedule_free(stmt->schedule);
	for (int i = 0; i < stmt->n_access; i++) {
		isl_map_free(stmt->access[i].relation);
		isl_multi_pw_aff_free(stmt->access[i].index);
	}
}

heddle_scop *heddle_scop_free(heddle_scop *scop)
{
	if (!scop)
		return NULL;
	isl_ctx_reset_operations(scop->isl);
	isl_ctx_set_max_operations(scop->isl, 0);
	for (int i = 0; i < scop->n_stmt; i++)
		free_stmt(scop->stmt[i]);
	for (int i = 0; i < scop->n_dependence; i++)
		isl_map_free(scop->dependence[i].relation);
	for (int k = 0; k < scop->n_kernel; k++) {
		heddle_mapped_free(scop->kernel[k]->mapped);
		for (int g = 0; g < scop->kernel[k]->n_group; g++)
			isl_multi_aff_free(scop->kernel[k]->group[g]->offset);
	}
	isl_set_free(scop->context);
	isl_ctx_free(scop->isl);
	return NULL;
}

/* Past its limit isl refuses everything: what it says then may be about what it refused before. */
bool heddle_scop_at_limit(const heddle_scop *scop)
{
	isl_ctx *isl = scop->isl;
	enum isl_error error = isl_ctx_last_error(isl);
	if (error == isl_error_none)
		return false;
	if (error != isl_error_quota && error != isl_error_abort) {
		isl_ctx_reset_error(isl);
		isl_val_free(isl_val_one(isl));
		error = isl_ctx_last_error(isl);
	}
	return error == isl_error_quota || error == isl_error_abort;
}

int heddle_scop_check(heddle_scop *scop, const char *pass)
{
	enum isl_error error = isl_ctx_last_error(scop->isl);
	if (error == isl_error_none)
		return 0;
	char *message = heddle_arena_printf(scop->arena, "%s", isl_ctx_last_error_msg(scop->isl));
	if (heddle_scop_at_limit(scop))
		return heddle_error(scop->ctx, 600, NULL, "pass `%s` reached the limit of polyhedral operations", pass);
	return heddle_error(scop->ctx, 960, NULL, "pass `%s`: %s", pass, message);
}

/* ---- expressions ----------------------------------------------------------------------------------------------------- */

static __isl_give isl_local_space *domain_space(const heddle_stmt *stmt)
{
	return isl_local_space_from_space(isl_set_get_space(stmt->all));
}

static __isl_give isl_pw_aff *constant(heddle_scop *scop, const heddle_stmt *stmt, int64_t i)
{
	return isl_pw_aff_from_aff(isl_aff_val_on_domain(domain_space(stmt), isl_val_int_from_si(scop->isl, i)));
}

static __isl_give isl_pw_aff *size_aff(heddle_scop *scop, const heddle_stmt *stmt, const heddle_size *size)
{
	const char *name = heddle_scop_param(scop, size);
	if (!name)
		return constant(scop, stmt, size->min);
	isl_local_space *space = domain_space(stmt);
	int position = isl_local_space_find_dim_by_name(space, isl_dim_param, name);
	return isl_pw_aff_from_aff(isl_aff_var_on_domain(space, isl_dim_param, (unsigned)position));
}

/* More pieces than this are worth nothing to what comes, and isl's work grows with their products: what has more counts as not
 * affine, which is always right for a read, a guard or a subscript. */
enum { MOST_PIECES = 32, MOST_NEGATED = 8 };

static __isl_give isl_pw_aff *few_pieces(__isl_take isl_pw_aff *aff)
{
	if (isl_pw_aff_n_piece(aff) <= MOST_PIECES)
		return aff;
	isl_pw_aff_free(aff);
	return NULL;
}

__isl_give isl_set *heddle_few_pieces(__isl_take isl_set *set)
{
	set = isl_set_coalesce(set);
	if (isl_set_n_basic_set(set) <= MOST_PIECES)
		return set;
	isl_set_free(set);
	return NULL;
}

/* The complement, or NULL (no error) when that would be too many pieces. */
__isl_give isl_set *heddle_complement(__isl_take isl_set *set)
{
	if (isl_set_n_basic_set(set) <= MOST_NEGATED)
		return isl_set_complement(set);
	isl_set_free(set);
	return NULL;
}

/* a / b or a % b for a positive constant b, rounded down or truncated, which is the same where a is never negative on the
 * domain. */
static __isl_give isl_pw_aff *divide(const heddle_stmt *stmt, heddle_op op, bool down, __isl_take isl_pw_aff *a,
				     __isl_take isl_pw_aff *b)
{
	if (isl_pw_aff_is_cst(b) != isl_bool_true) {
		isl_pw_aff_free(a);
		isl_pw_aff_free(b);
		return NULL;
	}
	if (!down) {
		isl_set *negative = isl_set_complement(isl_pw_aff_nonneg_set(isl_pw_aff_copy(a)));
		negative = isl_set_intersect(negative, isl_set_copy(stmt->all));
		down = isl_set_is_empty(negative) == isl_bool_true;
		isl_set_free(negative);
	}
	isl_set *positive = isl_pw_aff_pos_set(isl_pw_aff_copy(b));
	bool usable = isl_set_is_empty(positive) == isl_bool_false;
	isl_set_free(positive);
	if (!usable) {
		isl_pw_aff_free(a);
		isl_pw_aff_free(b);
		return NULL;
	}
	if (!down)
		return op == HEDDLE_OP_DIV ? isl_pw_aff_tdiv_q(a, b) : isl_pw_aff_tdiv_r(a, b);
	if (op == HEDDLE_OP_DIV)
		return isl_pw_aff_floor(isl_pw_aff_div(a, b));
	isl_pw_aff *quotient = isl_pw_aff_floor(isl_pw_aff_div(isl_pw_aff_copy(a), isl_pw_aff_copy(b)));
	return isl_pw_aff_sub(a, isl_pw_aff_mul(b, quotient));
}

static __isl_give isl_pw_aff *affine(heddle_scop *scop, const heddle_stmt *stmt, const heddle_expr *expr, bool down);

static __isl_give isl_pw_aff *binary(heddle_scop *scop, const heddle_stmt *stmt, const heddle_expr *expr, bool down)
{
	isl_pw_aff *a = affine(scop, stmt, expr->arg[0], down);
	isl_pw_aff *b = a ? affine(scop, stmt, expr->arg[1], down) : NULL;
	if (!a || !b) {
		isl_pw_aff_free(a);
		return NULL;
	}
	switch (expr->op) {
	case HEDDLE_OP_ADD:
		return few_pieces(isl_pw_aff_add(a, b));
	case HEDDLE_OP_SUB:
		return few_pieces(isl_pw_aff_sub(a, b));
	case HEDDLE_OP_MIN:
		return few_pieces(isl_pw_aff_min(a, b));
	case HEDDLE_OP_MAX:
		return few_pieces(isl_pw_aff_max(a, b));
	case HEDDLE_OP_MUL:
		if (isl_pw_aff_is_cst(a) == isl_bool_true || isl_pw_aff_is_cst(b) == isl_bool_true)
			return isl_pw_aff_mul(a, b);
		break;
	case HEDDLE_OP_DIV:
	case HEDDLE_OP_MOD:
		return few_pieces(divide(stmt, expr->op, down, a, b));
	default:
		break;
	}
	isl_pw_aff_free(a);
	isl_pw_aff_free(b);
	return NULL;
}

static __isl_give isl_pw_aff *affine(heddle_scop *scop, const heddle_stmt *stmt, const heddle_expr *expr, bool down)
{
	switch (expr->kind) {
	case HEDDLE_EXPR_INT:
		return constant(scop, stmt, expr->i);
	case HEDDLE_EXPR_SIZE:
		return size_aff(scop, stmt, expr->size);
	case HEDDLE_EXPR_INDEX:
		return isl_pw_aff_from_aff(
			isl_aff_var_on_domain(domain_space(stmt), isl_dim_set, (unsigned)expr->index->position));
	case HEDDLE_EXPR_CAST:
		if (expr->type == HEDDLE_INT32 || expr->type == HEDDLE_INT64)
			if (!heddle_type_is_float(expr->arg[0]->type))
				return affine(scop, stmt, expr->arg[0], down);
		return NULL;
	case HEDDLE_EXPR_UNARY:
		if (expr->op == HEDDLE_OP_NEG && !heddle_type_is_float(expr->type)) {
			isl_pw_aff *a = affine(scop, stmt, expr->arg[0], down);
			return a ? isl_pw_aff_neg(a) : NULL;
		}
		return NULL;
	case HEDDLE_EXPR_BINARY:
		return heddle_type_is_float(expr->type) ? NULL : binary(scop, stmt, expr, down);
	default:
		return NULL;
	}
}

__isl_give isl_pw_aff *heddle_scop_pw_aff(heddle_scop *scop, const heddle_stmt *stmt, const heddle_expr *expr)
{
	return affine(scop, stmt, expr, false);
}

__isl_give isl_pw_aff *heddle_scop_bound(heddle_scop *scop, const heddle_stmt *stmt, const heddle_expr *expr)
{
	return affine(scop, stmt, expr, true);
}

__isl_give isl_set *heddle_scop_tensor_box(heddle_scop *scop, const heddle_tensor *tensor, __isl_take isl_space *space)
{
	isl_set *box = isl_set_universe(space);
	heddle_stmt shape = {.all = isl_set_copy(box)};
	for (int e = 0; e < tensor->rank; e++) {
		isl_pw_aff *extent = heddle_scop_bound(scop, &shape, tensor->extent[e]);
		isl_local_space *local = isl_local_space_from_space(isl_set_get_space(box));
		isl_pw_aff *at = isl_pw_aff_from_aff(isl_aff_var_on_domain(local, isl_dim_set, (unsigned)e));
		isl_set *low = isl_pw_aff_nonneg_set(isl_pw_aff_copy(at));
		box = isl_set_intersect(box, isl_set_intersect(low, isl_pw_aff_lt_set(at, extent)));
	}
	isl_set_free(shape.all);
	return box;
}

static __isl_give isl_set *compare(heddle_scop *scop, const heddle_stmt *stmt, const heddle_expr *expr, bool down)
{
	isl_pw_aff *a = affine(scop, stmt, expr->arg[0], down);
	isl_pw_aff *b = a ? affine(scop, stmt, expr->arg[1], down) : NULL;
	if (!a || !b) {
		isl_pw_aff_free(a);
		return NULL;
	}
	switch (expr->op) {
	case HEDDLE_OP_LT:
		return isl_pw_aff_lt_set(a, b);
	case HEDDLE_OP_LE:
		return isl_pw_aff_le_set(a, b);
	case HEDDLE_OP_GT:
		return isl_pw_aff_gt_set(a, b);
	case HEDDLE_OP_GE:
		return isl_pw_aff_ge_set(a, b);
	case HEDDLE_OP_EQ:
		return isl_pw_aff_eq_set(a, b);
	default:
		return isl_pw_aff_ne_set(a, b);
	}
}

static __isl_give isl_set *condition(heddle_scop *scop, const heddle_stmt *stmt, const heddle_expr *expr, bool down)
{
	if (expr->kind == HEDDLE_EXPR_UNARY && expr->op == HEDDLE_OP_NOT) {
		isl_set *a = condition(scop, stmt, expr->arg[0], down);
		return a ? heddle_complement(a) : NULL;
	}
	if (expr->kind != HEDDLE_EXPR_BINARY)
		return NULL;
	if (expr->op >= HEDDLE_OP_LT && expr->op <= HEDDLE_OP_NE)
		return heddle_type_is_float(expr->arg[0]->type) ? NULL : compare(scop, stmt, expr, down);
	if (expr->op != HEDDLE_OP_AND && expr->op != HEDDLE_OP_OR)
		return NULL;
	isl_set *a = condition(scop, stmt, expr->arg[0], down);
	isl_set *b = a ? condition(scop, stmt, expr->arg[1], down) : NULL;
	if (!a || !b) {
		isl_set_free(a);
		return NULL;
	}
	return heddle_few_pieces(expr->op == HEDDLE_OP_AND ? isl_set_intersect(a, b) : isl_set_union(a, b));
}

__isl_give isl_set *heddle_scop_condition(heddle_scop *scop, const heddle_stmt *stmt, const heddle_expr *expr)
{
	return condition(scop, stmt, expr, false);
}

__isl_give isl_set *heddle_scop_precondition(heddle_scop *scop, const heddle_stmt *stmt, const heddle_expr *expr)
{
	return condition(scop, stmt, expr, true);
}

/* ---- estimates ------------------------------------------------------------------------------------------------------- */

/* An open size counts as this much, within its range: choices must be good for the sizes that people use. */
#define TYPICAL_SIZE 1024
#define TYPICAL_WINDOW 3

static int64_t estimate(const heddle_scop *scop, const heddle_expr *expr, bool *failed)
{
	int64_t a = 0, b = 0;
	if (expr->n_arg > 0)
		a = estimate(scop, expr->arg[0], failed);
	if (expr->n_arg > 1)
		b = estimate(scop, expr->arg[1], failed);
	switch (expr->kind) {
	case HEDDLE_EXPR_INT:
		return expr->i;
	case HEDDLE_EXPR_SIZE: {
		int64_t value = expr->size->window ? TYPICAL_WINDOW : TYPICAL_SIZE;
		if (value < expr->size->min)
			value = expr->size->min;
		return value > expr->size->max ? expr->size->max : value;
	}
	case HEDDLE_EXPR_CAST:
		return a;
	case HEDDLE_EXPR_INDEX: /* a bound that depends on another index: half of that index's range */
		a = estimate(scop, expr->index->upper, failed);
		return a / 2;
	case HEDDLE_EXPR_UNARY:
		return -a;
	case HEDDLE_EXPR_BINARY:
		switch (expr->op) {
		case HEDDLE_OP_ADD:
			return a + b;
		case HEDDLE_OP_SUB:
			return a - b;
		case HEDDLE_OP_MUL:
			return a * b;
		case HEDDLE_OP_DIV:
			return b ? a / b : 0;
		case HEDDLE_OP_MOD:
			return b ? a % b : 0;
		case HEDDLE_OP_MIN:
			return a < b ? a : b;
		case HEDDLE_OP_MAX:
			return a > b ? a : b;
		default:
			break;
		}
		break;
	default:
		break;
	}
	*failed = true;
	return TYPICAL_SIZE;
}

int64_t heddle_scop_estimate(const heddle_scop *scop, const heddle_expr *expr)
{
	bool failed = false;
	int64_t value = estimate(scop, expr, &failed);
	return failed ? TYPICAL_SIZE : value < 0 ? 0 : value;
}

int64_t heddle_scop_dim_extent(const heddle_scop *scop, const heddle_stmt *stmt, int dim)
{
	int64_t extent = heddle_scop_estimate(scop, stmt->source->index[dim]->upper);
	return extent < 1 ? 1 : extent;
}
