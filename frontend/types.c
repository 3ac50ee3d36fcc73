/* The rules of types: what two operands have in common, in which type is calculated, what a literal fits.
 * SPDX-License-Identifier: MIT
 */
#include "frontend/check.h"

heddle_expr *heddle_expr_make(heddle_arena *arena, heddle_expr_kind kind, heddle_type type, int n_arg)
{
	heddle_expr *e = HEDDLE_NEW(arena, heddle_expr);
	e->kind = kind;
	e->type = type;
	e->n_arg = n_arg;
	e->arg = n_arg ? HEDDLE_NEW_ARRAY(arena, heddle_expr *, n_arg) : NULL;
	return e;
}

static heddle_type signed_of_size(int size)
{
	return size == 1 ? HEDDLE_INT8 : size == 2 ? HEDDLE_INT16 : size == 4 ? HEDDLE_INT32 : HEDDLE_INT64;
}

heddle_type heddle_type_match(heddle_type a, heddle_type b)
{
	int size_a = heddle_type_size(a), size_b = heddle_type_size(b);
	if (a == b)
		return a;
	if (heddle_type_is_float(a) || heddle_type_is_float(b)) {
		if (!heddle_type_is_float(b))
			return a;
		if (!heddle_type_is_float(a))
			return b;
		return size_a == size_b ? HEDDLE_FLOAT32 : size_a > size_b ? a : b;
	}
	if (a == HEDDLE_BOOL || b == HEDDLE_BOOL)
		return a == HEDDLE_BOOL ? b : a;
	if (heddle_type_is_unsigned(a) && heddle_type_is_unsigned(b))
		return size_a > size_b ? a : b;
	return signed_of_size(size_a > size_b ? size_a : size_b);
}

heddle_type heddle_type_arithmetic(heddle_type type)
{
	if (heddle_type_is_float(type))
		return heddle_type_size(type) < 4 ? HEDDLE_FLOAT32 : type;
	return heddle_type_size(type) < 4 ? HEDDLE_INT32 : type;
}

bool heddle_literal_fits(int64_t i, heddle_type type)
{
	switch (type) {
	case HEDDLE_BOOL:
		return i == 0 || i == 1;
	case HEDDLE_INT8:
		return i >= INT8_MIN && i <= INT8_MAX;
	case HEDDLE_INT16:
		return i >= INT16_MIN && i <= INT16_MAX;
	case HEDDLE_INT32:
		return i >= INT32_MIN && i <= INT32_MAX;
	case HEDDLE_INT64:
		return true;
	case HEDDLE_UINT8:
		return i >= 0 && i <= UINT8_MAX;
	case HEDDLE_UINT16:
		return i >= 0 && i <= UINT16_MAX;
	case HEDDLE_UINT32:
		return i >= 0 && i <= UINT32_MAX;
	case HEDDLE_UINT64:
		return i >= 0;
	default: /* every integer this small is a value of every float type */
		return i >= -(1 << 8) && i <= 1 << 8;
	}
}

heddle_expr *heddle_expr_convert(heddle_arena *arena, heddle_expr *e, heddle_type type)
{
	if (e->type == type)
		return e;
	bool to_float = heddle_type_is_float(type);
	if ((e->kind == HEDDLE_EXPR_FLOAT && to_float) || (e->kind == HEDDLE_EXPR_INT && heddle_literal_fits(e->i, type))) {
		heddle_expr *literal = HEDDLE_NEW(arena, heddle_expr);
		*literal = *e;
		literal->type = type;
		if (to_float && e->kind == HEDDLE_EXPR_INT) {
			literal->kind = HEDDLE_EXPR_FLOAT;
			literal->f = (double)e->i;
			literal->i = 0;
		}
		return literal;
	}
	heddle_expr *cast = heddle_expr_make(arena, HEDDLE_EXPR_CAST, type, 1);
	cast->arg[0] = e;
	cast->implicit = true;
	cast->location = e->location;
	return cast;
}
