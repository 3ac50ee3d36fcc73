/* Arithmetic on sizes in values that may leave 32 bits: in int64 where no int32 takes the result, else with a warning.
 * SPDX-License-Identifier: MIT
 */
#include "frontend/check.h"

#include <math.h>

/* Sizes and integers with + - * / % min max between them, calculated in int32? */
static bool over_sizes(const heddle_expr *e, bool *any)
{
	const bool operation = e->kind == HEDDLE_EXPR_UNARY ? e->op == HEDDLE_OP_NEG : e->kind == HEDDLE_EXPR_BINARY && e->op <= HEDDLE_OP_MAX;
	*any = *any || e->kind == HEDDLE_EXPR_SIZE;
	if (e->type != HEDDLE_INT32 || (!operation && e->kind != HEDDLE_EXPR_SIZE && e->kind != HEDDLE_EXPR_INT))
		return false;
	for (int i = 0; i < e->n_arg; i++)
		if (!over_sizes(e->arg[i], any))
			return false;
	return true;
}

/* No value of the expression over sizes, nor of a part of it, is larger, nor smaller than its negative. */
static double magnitude(const heddle_expr *e)
{
	if (e->kind == HEDDLE_EXPR_SIZE)
		return (double)e->size->max;
	if (e->kind == HEDDLE_EXPR_INT)
		return fabs((double)e->i);
	const double a = magnitude(e->arg[0]), b = e->n_arg > 1 ? magnitude(e->arg[1]) : 0;
	switch (e->op) {
	case HEDDLE_OP_ADD:
	case HEDDLE_OP_SUB:
		return a + b;
	case HEDDLE_OP_MUL:
		return a * b;
	case HEDDLE_OP_DIV:
	case HEDDLE_OP_MOD:
		return a;
	default:
		return fmax(a, b);
	}
}

static heddle_expr *in_int64(heddle_arena *arena, heddle_expr *e)
{
	heddle_expr *r = heddle_expr_make(arena, HEDDLE_EXPR_CAST, HEDDLE_INT64, 1);
	if (e->n_arg) {
		*r = *e;
		r->type = HEDDLE_INT64;
		r->arg = HEDDLE_NEW_ARRAY(arena, heddle_expr *, e->n_arg);
		for (int i = 0; i < e->n_arg; i++)
			r->arg[i] = in_int64(arena, e->arg[i]);
	} else {
		r->arg[0] = e;
		r->implicit = true;
		r->location = e->location;
	}
	return r;
}

heddle_expr *heddle_check_widen(heddle_arena *arena, heddle_expr *e, heddle_type type)
{
	bool any = false;
	const bool wide = heddle_type_is_float(type) || heddle_type_size(type) == 8;
	return wide && e->n_arg && over_sizes(e, &any) && any && magnitude(e) > INT32_MAX ? in_int64(arena, e) : e;
}

void heddle_check_wraps(checker *c, const heddle_expr *e)
{
	bool left = false, right = false;
	if (e->kind == HEDDLE_EXPR_READ) /* its subscripts are not calculated in int32 */
		return;
	if (e->kind == HEDDLE_EXPR_BINARY && e->op == HEDDLE_OP_MUL && over_sizes(e->arg[0], &left) && over_sizes(e->arg[1], &right) && left &&
	    right && magnitude(e) > INT32_MAX) {
		heddle_text text = {0};
		heddle_expr_print(e, &text);
		if (heddle_check_warn(c, 218, &e->location, "`%s` is an int32 here and wraps around above 2147483647", heddle_text_str(&text)))
			heddle_note(c->ctx, NULL, "`int64(%s)` does not; `sizes` in the head or -s limit the sizes", heddle_text_str(&text));
		heddle_text_free(&text);
		return;
	}
	for (int i = 0; i < e->n_arg; i++)
		heddle_check_wraps(c, e->arg[i]);
}
