/* Construction of programs: values with folding and simple identities, nodes, numbering, copying.
 * SPDX-License-Identifier: MIT
 */
#include "model/program.h"

#include <string.h>

heddle_program *heddle_program_new(const char *name)
{
	heddle_arena *arena = heddle_arena_new();
	heddle_program *p = HEDDLE_NEW(arena, heddle_program);
	p->arena = arena;
	p->name = heddle_arena_strdup(arena, name);
	p->warp = 1;
	p->workspace = heddle_value_int(p, HEDDLE_INT64, 0);
	return p;
}

heddle_program *heddle_program_free(heddle_program *program)
{
	if (program)
		heddle_arena_free(program->arena);
	return NULL;
}

/* ---- integer arithmetic of a type ---------------------------------------------------------------------------------- */

static bool is_integer(heddle_type type)
{
	return !heddle_type_is_float(type);
}

/* `i` as a value of `type`: modulo 2^bits; uint64 keeps its bits in the int64. */
static int64_t wrap(heddle_type type, int64_t i)
{
	switch (type) {
	case HEDDLE_BOOL: return i != 0;
	case HEDDLE_INT8: return (int8_t)i;
	case HEDDLE_INT16: return (int16_t)i;
	case HEDDLE_INT32: return (int32_t)i;
	case HEDDLE_UINT8: return (uint8_t)i;
	case HEDDLE_UINT16: return (uint16_t)i;
	case HEDDLE_UINT32: return (uint32_t)i;
	default: return i;
	}
}

static bool is_comparison(heddle_op op)
{
	return op >= HEDDLE_OP_LT && op <= HEDDLE_OP_NE;
}

/* a / 0 is 0 and a % 0 is a. */
static int64_t fold_division(heddle_op op, bool is_unsigned, int64_t a, int64_t b)
{
	if (b == 0)
		return op == HEDDLE_OP_DIV ? 0 : a;
	if (is_unsigned)
		return (int64_t)(op == HEDDLE_OP_DIV ? (uint64_t)a / (uint64_t)b : (uint64_t)a % (uint64_t)b);
	if (b == -1)
		return op == HEDDLE_OP_DIV ? (int64_t)(0 - (uint64_t)a) : 0;
	return op == HEDDLE_OP_DIV ? a / b : a % b;
}

static bool fold_comparison(heddle_op op, bool is_unsigned, int64_t a, int64_t b)
{
	bool less = is_unsigned ? (uint64_t)a < (uint64_t)b : a < b;
	switch (op) {
	case HEDDLE_OP_LT: return less;
	case HEDDLE_OP_LE: return less || a == b;
	case HEDDLE_OP_GT: return !less && a != b;
	case HEDDLE_OP_GE: return !less;
	case HEDDLE_OP_EQ: return a == b;
	default: return a != b;
	}
}

static int bits(heddle_type type)
{
	return type == HEDDLE_BOOL ? 1 : 8 * heddle_type_size(type);
}

/* a op b in `type`, shift counts modulo its width; false where the operator is none of integers. */
static bool fold(heddle_op op, heddle_type type, int64_t a, int64_t b, int64_t *r)
{
	bool is_unsigned = heddle_type_is_unsigned(type);
	uint64_t ua = (uint64_t)a, ub = (uint64_t)b;

	switch (op) {
	case HEDDLE_OP_ADD: *r = (int64_t)(ua + ub); break;
	case HEDDLE_OP_SUB: *r = (int64_t)(ua - ub); break;
	case HEDDLE_OP_MUL: *r = (int64_t)(ua * ub); break;
	case HEDDLE_OP_DIV:
	case HEDDLE_OP_MOD: *r = fold_division(op, is_unsigned, a, b); break;
	case HEDDLE_OP_MIN: *r = fold_comparison(HEDDLE_OP_LT, is_unsigned, a, b) ? a : b; break;
	case HEDDLE_OP_MAX: *r = fold_comparison(HEDDLE_OP_GT, is_unsigned, a, b) ? a : b; break;
	case HEDDLE_OP_LT:
	case HEDDLE_OP_LE:
	case HEDDLE_OP_GT:
	case HEDDLE_OP_GE:
	case HEDDLE_OP_EQ:
	case HEDDLE_OP_NE: *r = fold_comparison(op, is_unsigned, a, b); return true;
	case HEDDLE_OP_AND: *r = a && b; break;
	case HEDDLE_OP_OR: *r = a || b; break;
	case HEDDLE_OP_BITAND: *r = a & b; break;
	case HEDDLE_OP_BITOR: *r = a | b; break;
	case HEDDLE_OP_BITXOR: *r = a ^ b; break;
	case HEDDLE_OP_SHL: *r = (int64_t)(ua << (b & (bits(type) - 1))); break;
	case HEDDLE_OP_SHR:
		b &= bits(type) - 1;
		*r = is_unsigned ? (int64_t)(ua >> b) : a >> b;
		break;
	default: return false;
	}
	*r = wrap(type, *r);
	return true;
}

static int64_t floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

/* ---- values: helpers ------------------------------------------------------------------------------------------------- */

static heddle_value *value_new(heddle_program *p, heddle_value_kind kind, heddle_type type, int width, int n_arg)
{
	heddle_value *v = HEDDLE_NEW(p->arena, heddle_value);
	v->kind = kind;
	v->type = type;
	v->width = width;
	v->n_arg = n_arg;
	if (n_arg)
		v->arg = HEDDLE_NEW_ARRAY(p->arena, heddle_value *, n_arg);
	return v;
}

static bool is_constant(const heddle_value *v)
{
	return v->kind == HEDDLE_VALUE_INT;
}

bool heddle_value_is_int(const heddle_value *v, int64_t i)
{
	return v && v->kind == HEDDLE_VALUE_INT && v->i == i;
}

/* The constant inside a value or inside a splat of one; NULL when there is none. */
static const heddle_value *constant_of(const heddle_value *v)
{
	if (v->kind == HEDDLE_VALUE_SPLAT)
		v = v->arg[0];
	return is_constant(v) ? v : NULL;
}

static bool is_binary(const heddle_value *v, heddle_op op)
{
	return v->kind == HEDDLE_VALUE_BINARY && v->op == op;
}

/* No loads and no conversions inside: subscript arithmetic, which does not wrap around. */
static bool is_affine_like(const heddle_value *v)
{
	if (v->kind == HEDDLE_VALUE_LOAD || v->kind == HEDDLE_VALUE_CALL || v->kind == HEDDLE_VALUE_SHUFFLE)
		return false;
	for (int k = 0; k < v->n_arg; k++)
		if (!is_affine_like(v->arg[k]))
			return false;
	return true;
}

heddle_value *heddle_value_int(heddle_program *p, heddle_type type, int64_t i)
{
	heddle_value *v = value_new(p, HEDDLE_VALUE_INT, type, 1, 0);
	v->i = wrap(type, i);
	return v;
}

heddle_value *heddle_value_float(heddle_program *p, heddle_type type, double f)
{
	heddle_value *v = value_new(p, HEDDLE_VALUE_FLOAT, type, 1, 0);
	v->f = type == HEDDLE_FLOAT64 ? f : (double)(float)f;
	return v;
}

heddle_value *heddle_value_variable(heddle_program *p, heddle_type type, int width, const char *name)
{
	heddle_value *v = value_new(p, HEDDLE_VALUE_VARIABLE, type, width, 0);
	v->name = heddle_arena_strdup(p->arena, name);
	return v;
}

heddle_value *heddle_value_size(heddle_program *p, int position)
{
	heddle_value *v = value_new(p, HEDDLE_VALUE_SIZE, HEDDLE_INT64, 1, 0);
	v->i = position;
	v->name = position >= 0 && position < p->n_size ? p->size[position].name : NULL;
	return v;
}

heddle_value *heddle_value_block(heddle_program *p)
{
	return value_new(p, HEDDLE_VALUE_BLOCK, HEDDLE_INT32, 1, 0);
}

heddle_value *heddle_value_thread(heddle_program *p)
{
	return value_new(p, HEDDLE_VALUE_THREAD, HEDDLE_INT32, 1, 0);
}

heddle_value *heddle_value_load(heddle_program *p, heddle_buffer *buffer, int width, int n, heddle_value **subscript)
{
	heddle_value *v = value_new(p, HEDDLE_VALUE_LOAD, buffer->type, width, n);
	v->buffer = buffer;
	for (int k = 0; k < n; k++)
		v->arg[k] = subscript[k];
	return v;
}

heddle_value *heddle_value_load_ahead(heddle_program *p, heddle_buffer *buffer, int width, int n, heddle_value **subscript, int64_t ahead)
{
	heddle_value *v = heddle_value_load(p, buffer, width, n, subscript);
	v->i = ahead;
	return v;
}

heddle_value *heddle_value_unary(heddle_program *p, heddle_op op, heddle_value *a)
{
	if (is_constant(a) && op == HEDDLE_OP_NEG)
		return heddle_value_int(p, a->type, (int64_t)(0 - (uint64_t)a->i));
	if (is_constant(a) && op == HEDDLE_OP_NOT)
		return heddle_value_int(p, HEDDLE_BOOL, !a->i);
	if (a->kind == HEDDLE_VALUE_UNARY && a->op == op && (op == HEDDLE_OP_NOT || is_integer(a->type)))
		return a->arg[0];
	heddle_value *v = value_new(p, HEDDLE_VALUE_UNARY, op == HEDDLE_OP_NOT ? HEDDLE_BOOL : a->type, a->width, 1);
	v->op = op;
	v->arg[0] = a;
	return v;
}

static heddle_value *binary_new(heddle_program *p, heddle_op op, heddle_value *a, heddle_value *b)
{
	heddle_type type = is_comparison(op) || op == HEDDLE_OP_AND || op == HEDDLE_OP_OR ? HEDDLE_BOOL : a->type;
	heddle_value *v = value_new(p, HEDDLE_VALUE_BINARY, type, a->width, 2);
	v->op = op;
	v->arg[0] = a;
	v->arg[1] = b;
	return v;
}

/* A constant of the type and width of `like`. */
static heddle_value *constant_like(heddle_program *p, const heddle_value *like, int64_t i)
{
	return heddle_value_splat(p, heddle_value_int(p, like->type, i), like->width);
}

/* x + c where x may itself be y + c0 or y - c0: one constant is left, printed with its natural sign. */
static heddle_value *add_constant(heddle_program *p, heddle_value *x, int64_t c)
{
	heddle_type type = x->type;
	if (is_binary(x, HEDDLE_OP_ADD) && constant_of(x->arg[1])) {
		c = (int64_t)((uint64_t)c + (uint64_t)constant_of(x->arg[1])->i);
		x = x->arg[0];
	} else if (is_binary(x, HEDDLE_OP_SUB) && constant_of(x->arg[1])) {
		c = (int64_t)((uint64_t)c - (uint64_t)constant_of(x->arg[1])->i);
		x = x->arg[0];
	}
	c = wrap(type, c);
	if (c == 0)
		return x;
	if (is_constant(x))
		return heddle_value_int(p, type, (int64_t)((uint64_t)x->i + (uint64_t)c));
	if (heddle_type_is_signed(type) && c < 0 && wrap(type, (int64_t)(0 - (uint64_t)c)) > 0)
		return binary_new(p, HEDDLE_OP_SUB, x, constant_like(p, x, -c));
	return binary_new(p, HEDDLE_OP_ADD, x, constant_like(p, x, c));
}

static heddle_value *multiply_constant(heddle_program *p, heddle_value *x, int64_t c)
{
	if (is_binary(x, HEDDLE_OP_MUL) && constant_of(x->arg[1])) {
		c = (int64_t)((uint64_t)c * (uint64_t)constant_of(x->arg[1])->i);
		x = x->arg[0];
	}
	c = wrap(x->type, c);
	if (c == 0)
		return constant_like(p, x, 0);
	if (c == 1)
		return x;
	return binary_new(p, HEDDLE_OP_MUL, x, constant_like(p, x, c));
}

/* x = q * c with q free of loads: c divides exactly.  The factor is bounded so that q * factor cannot have wrapped. */
static heddle_value *exact_quotient(heddle_program *p, heddle_value *x, int64_t c)
{
	if (c <= 0 || x->width != 1 || !heddle_type_is_signed(x->type))
		return NULL;
	if (is_constant(x))
		return x->i % c == 0 ? heddle_value_int(p, x->type, x->i / c) : NULL;
	if (!is_binary(x, HEDDLE_OP_MUL) || !is_constant(x->arg[1]) || !is_affine_like(x->arg[0]))
		return NULL;
	int64_t factor = x->arg[1]->i;
	if (factor % c != 0 || factor > (1 << 20) || factor < -(1 << 20))
		return NULL;
	return multiply_constant(p, x->arg[0], factor / c);
}

static heddle_value *divide_constant(heddle_program *p, heddle_op op, heddle_value *x, int64_t c)
{
	if (c == 1)
		return op == HEDDLE_OP_DIV ? x : constant_like(p, x, 0);
	heddle_value *q = exact_quotient(p, x, c);
	if (q)
		return op == HEDDLE_OP_DIV ? q : constant_like(p, x, 0);
	if (op == HEDDLE_OP_DIV && c > 1 && c < (1 << 20) && is_binary(x, HEDDLE_OP_DIV) && constant_of(x->arg[1])) {
		int64_t c0 = constant_of(x->arg[1])->i;
		if (c0 > 0 && c0 < (1 << 20) && wrap(x->type, c * c0) == c * c0)
			return binary_new(p, op, x->arg[0], constant_like(p, x, c * c0));
	}
	return NULL;
}

static heddle_value *simplify_logic(heddle_op op, heddle_value *a, heddle_value *b)
{
	const heddle_value *ca = constant_of(a), *cb = constant_of(b);
	bool is_and = op == HEDDLE_OP_AND;
	if (ca)
		return (ca->i != 0) == is_and ? b : a;
	if (cb)
		return (cb->i != 0) == is_and ? a : b;
	return heddle_value_equal(a, b) ? a : NULL;
}

/* An integer binary simplified, or NULL. */
static heddle_value *simplify_integer(heddle_program *p, heddle_op op, heddle_value *a, heddle_value *b)
{
	const heddle_value *ca = constant_of(a), *cb = constant_of(b);
	int64_t r;

	if (is_constant(a) && is_constant(b) && fold(op, a->type, a->i, b->i, &r))
		return heddle_value_int(p, is_comparison(op) ? HEDDLE_BOOL : a->type, r);
	switch (op) {
	case HEDDLE_OP_ADD:
		if (cb)
			return add_constant(p, a, cb->i);
		return ca ? add_constant(p, b, ca->i) : NULL;
	case HEDDLE_OP_SUB:
		if (cb)
			return add_constant(p, a, (int64_t)(0 - (uint64_t)cb->i));
		if (ca && ca->i == 0)
			return heddle_value_unary(p, HEDDLE_OP_NEG, b);
		return heddle_value_equal(a, b) ? constant_like(p, a, 0) : NULL;
	case HEDDLE_OP_MUL:
		if (cb)
			return multiply_constant(p, a, cb->i);
		return ca ? multiply_constant(p, b, ca->i) : NULL;
	case HEDDLE_OP_DIV:
	case HEDDLE_OP_MOD:
		return cb ? divide_constant(p, op, a, cb->i) : NULL;
	case HEDDLE_OP_MIN:
	case HEDDLE_OP_MAX:
	case HEDDLE_OP_BITAND:
	case HEDDLE_OP_BITOR:
		return heddle_value_equal(a, b) ? a : NULL;
	case HEDDLE_OP_SHL:
	case HEDDLE_OP_SHR:
		return cb && cb->i == 0 ? a : NULL;
	case HEDDLE_OP_LE:
	case HEDDLE_OP_GE:
	case HEDDLE_OP_EQ:
	case HEDDLE_OP_LT:
	case HEDDLE_OP_GT:
	case HEDDLE_OP_NE:
		if (a->width == 1 && heddle_value_equal(a, b))
			return heddle_value_int(p, HEDDLE_BOOL,
						op == HEDDLE_OP_LE || op == HEDDLE_OP_GE || op == HEDDLE_OP_EQ);
		return NULL;
	default:
		return NULL;
	}
}

/* Two operands brought to one type and width where that loses nothing: constants take the other's integer type, int32
 * widens to int64, scalars are splat. */
static void unify(heddle_program *p, heddle_value **a, heddle_value **b)
{
	heddle_type ta = (*a)->type, tb = (*b)->type;
	if (ta != tb && is_integer(ta) && is_integer(tb)) {
		if (is_constant(*a) && wrap(tb, (*a)->i) == (*a)->i)
			*a = heddle_value_int(p, tb, (*a)->i);
		else if (is_constant(*b) && wrap(ta, (*b)->i) == (*b)->i)
			*b = heddle_value_int(p, ta, (*b)->i);
		else if (ta == HEDDLE_INT32 && tb == HEDDLE_INT64)
			*a = heddle_value_cast(p, HEDDLE_INT64, *a);
		else if (ta == HEDDLE_INT64 && tb == HEDDLE_INT32)
			*b = heddle_value_cast(p, HEDDLE_INT64, *b);
	}
	if ((*a)->width == 1 && (*b)->width > 1)
		*a = heddle_value_splat(p, *a, (*b)->width);
	else if ((*b)->width == 1 && (*a)->width > 1)
		*b = heddle_value_splat(p, *b, (*a)->width);
}

heddle_value *heddle_value_binary(heddle_program *p, heddle_op op, heddle_value *a, heddle_value *b)
{
	heddle_value *simple = NULL;
	unify(p, &a, &b);
	if (op == HEDDLE_OP_NE && heddle_value_is_int(b, 0) && a->kind == HEDDLE_VALUE_CAST && a->arg[0]->type == HEDDLE_BOOL)
		return a->arg[0]; /* a truth as a number is not 0: the truth */
	if (op == HEDDLE_OP_AND || op == HEDDLE_OP_OR)
		simple = simplify_logic(op, a, b);
	else if (a->type == b->type && is_integer(a->type))
		simple = simplify_integer(p, op, a, b);
	return simple ? simple : binary_new(p, op, a, b);
}

heddle_value *heddle_value_floor(heddle_program *p, heddle_value_kind kind, heddle_value *a, heddle_value *b)
{
	bool div = kind == HEDDLE_VALUE_FLOOR_DIV;
	unify(p, &a, &b);
	if (is_constant(b) && b->i > 0) {
		int64_t c = b->i;
		if (is_constant(a))
			return heddle_value_int(p, a->type, div ? floor_div(a->i, c) : a->i - c * floor_div(a->i, c));
		if (c == 1)
			return div ? a : constant_like(p, a, 0);
		heddle_value *q = exact_quotient(p, a, c);
		if (q)
			return div ? q : constant_like(p, a, 0);
		/* floor((c q + r) / c) = q + floor(r / c) */
		if ((is_binary(a, HEDDLE_OP_ADD) || is_binary(a, HEDDLE_OP_SUB)) && is_constant(a->arg[1]) &&
		    (q = exact_quotient(p, a->arg[0], c))) {
			int64_t r = is_binary(a, HEDDLE_OP_ADD) ? a->arg[1]->i : -a->arg[1]->i;
			if (div)
				return add_constant(p, q, floor_div(r, c));
			return heddle_value_int(p, a->type, r - c * floor_div(r, c));
		}
	}
	heddle_value *v = value_new(p, kind, a->type, a->width, 2);
	v->arg[0] = a;
	v->arg[1] = b;
	return v;
}

heddle_value *heddle_value_select(heddle_program *p, heddle_value *c, heddle_value *a, heddle_value *b)
{
	if (is_constant(c))
		return c->i ? a : b;
	unify(p, &a, &b);
	if (is_integer(a->type) && heddle_value_equal(a, b))
		return a;
	heddle_value *v = value_new(p, HEDDLE_VALUE_SELECT, a->type, a->width, 3);
	v->arg[0] = c;
	v->arg[1] = a;
	v->arg[2] = b;
	return v;
}

heddle_value *heddle_value_cast(heddle_program *p, heddle_type type, heddle_value *a)
{
	if (a->type == type)
		return a;
	if (type == HEDDLE_BOOL && a->kind == HEDDLE_VALUE_CAST && a->arg[0]->type == HEDDLE_BOOL)
		return a->arg[0]; /* a truth as a number, as a truth */
	if (is_constant(a) && is_integer(type))
		return heddle_value_int(p, type, a->i);
	if (is_constant(a) && a->type != HEDDLE_UINT64 && a->i > -(1 << 24) && a->i < (1 << 24) &&
	    (type == HEDDLE_FLOAT32 || type == HEDDLE_FLOAT64))
		return heddle_value_float(p, type, (double)a->i);
	if (a->kind == HEDDLE_VALUE_FLOAT && (type == HEDDLE_FLOAT32 || type == HEDDLE_FLOAT64))
		return heddle_value_float(p, type, a->f);
	heddle_value *v = value_new(p, HEDDLE_VALUE_CAST, type, a->width, 1);
	v->arg[0] = a;
	return v;
}

heddle_value *heddle_value_call(heddle_program *p, int builtin, heddle_type type, int n, heddle_value **arg)
{
	heddle_value *v = value_new(p, HEDDLE_VALUE_CALL, type, n ? arg[0]->width : 1, n);
	v->i = builtin;
	for (int k = 0; k < n; k++)
		v->arg[k] = arg[k];
	return v;
}

heddle_value *heddle_value_fma(heddle_program *p, heddle_value *a, heddle_value *b, heddle_value *c)
{
	int width = a->width > b->width ? a->width : b->width;
	width = c->width > width ? c->width : width;
	heddle_value *v = value_new(p, HEDDLE_VALUE_FMA, a->type, width, 3);
	v->arg[0] = a->width < width ? heddle_value_splat(p, a, width) : a;
	v->arg[1] = b->width < width ? heddle_value_splat(p, b, width) : b;
	v->arg[2] = c->width < width ? heddle_value_splat(p, c, width) : c;
	return v;
}

heddle_value *heddle_value_splat(heddle_program *p, heddle_value *a, int width)
{
	if (width == 1)
		return a;
	heddle_value *v = value_new(p, HEDDLE_VALUE_SPLAT, a->type, width, 1);
	v->arg[0] = a;
	return v;
}

heddle_value *heddle_value_extract(heddle_program *p, heddle_value *a, int member)
{
	if (a->width == 1 && member == 0)
		return a;
	if (a->kind == HEDDLE_VALUE_SPLAT)
		return a->arg[0];
	if (a->kind == HEDDLE_VALUE_BUILD && member >= 0 && member < a->n_arg)
		return a->arg[member];
	heddle_value *v = value_new(p, HEDDLE_VALUE_EXTRACT, a->type, 1, 1);
	v->i = member;
	v->arg[0] = a;
	return v;
}

heddle_value *heddle_value_build(heddle_program *p, int width, heddle_value **arg)
{
	if (width == 1)
		return arg[0];
	heddle_value *whole = arg[0]->kind == HEDDLE_VALUE_EXTRACT ? arg[0]->arg[0] : NULL;
	for (int k = 0; k < width && whole; k++) /* all members of a variable, in their order: the variable */
		if (whole->kind != HEDDLE_VALUE_VARIABLE || whole->width != width || arg[k]->kind != HEDDLE_VALUE_EXTRACT || arg[k]->i != k ||
		    !heddle_value_equal(arg[k]->arg[0], whole))
			whole = NULL;
	if (whole)
		return whole;
	heddle_value *v = value_new(p, HEDDLE_VALUE_BUILD, arg[0]->type, width, width);
	for (int k = 0; k < width; k++)
		v->arg[k] = arg[k];
	return v;
}

heddle_value *heddle_value_zip(heddle_program *p, heddle_value *a, heddle_value *b, int half)
{
	heddle_value *v = value_new(p, HEDDLE_VALUE_ZIP, a->type, a->width, 2);
	v->i = half;
	v->arg[0] = a;
	v->arg[1] = b;
	return v;
}

heddle_value *heddle_value_unzip(heddle_program *p, heddle_value *a, heddle_value *b)
{
	heddle_value *v = value_new(p, HEDDLE_VALUE_UNZIP, a->type, a->width, 2);
	v->arg[0] = a;
	v->arg[1] = b;
	return v;
}

heddle_value *heddle_value_reduce(heddle_program *p, heddle_op op, heddle_value *a)
{
	if (a->width == 1)
		return a;
	heddle_value *v = value_new(p, HEDDLE_VALUE_REDUCE, a->type, 1, 1);
	v->op = op;
	v->arg[0] = a;
	return v;
}

heddle_value *heddle_value_shuffle(heddle_program *p, heddle_value *a, int mask)
{
	if (mask == 0)
		return a;
	heddle_value *v = value_new(p, HEDDLE_VALUE_SHUFFLE, a->type, a->width, 1);
	v->i = mask;
	v->arg[0] = a;
	return v;
}

heddle_op heddle_op_of_truths(heddle_op op)
{
	switch (op) {
	case HEDDLE_OP_ADD:
	case HEDDLE_OP_MAX:
		return HEDDLE_OP_OR;
	case HEDDLE_OP_MUL:
	case HEDDLE_OP_MIN:
		return HEDDLE_OP_AND;
	default:
		return op;
	}
}

/* ---- values: questions ------------------------------------------------------------------------------------------------- */

/* Only variables are told apart by name; a size carries its name for printing. */
static bool names_equal(const heddle_value *a, const heddle_value *b)
{
	if (a->kind != HEDDLE_VALUE_VARIABLE || a->name == b->name)
		return true;
	return a->name && b->name && strcmp(a->name, b->name) == 0;
}

bool heddle_value_equal(const heddle_value *a, const heddle_value *b)
{
	if (a == b)
		return true;
	if (!a || !b || a->kind != b->kind || a->type != b->type || a->width != b->width || a->op != b->op ||
	    a->i != b->i || a->buffer != b->buffer || a->n_arg != b->n_arg || !names_equal(a, b))
		return false;
	if (memcmp(&a->f, &b->f, sizeof(a->f)) != 0)
		return false;
	for (int k = 0; k < a->n_arg; k++)
		if (!heddle_value_equal(a->arg[k], b->arg[k]))
			return false;
	return true;
}

int heddle_value_evaluate(const heddle_value *v, const int64_t *size, int64_t *result)
{
	int64_t a[3] = {0, 0, 0};

	if (!v || v->width != 1 || !is_integer(v->type) || v->n_arg > 3)
		return -1;
	switch (v->kind) {
	case HEDDLE_VALUE_INT: *result = v->i; return 0;
	case HEDDLE_VALUE_SIZE:
		if (!size)
			return -1;
		*result = size[v->i];
		return 0;
	case HEDDLE_VALUE_SELECT:
		if (heddle_value_evaluate(v->arg[0], size, &a[0]) < 0)
			return -1;
		return heddle_value_evaluate(v->arg[a[0] ? 1 : 2], size, result);
	case HEDDLE_VALUE_UNARY:
	case HEDDLE_VALUE_BINARY:
	case HEDDLE_VALUE_FLOOR_DIV:
	case HEDDLE_VALUE_FLOOR_MOD:
	case HEDDLE_VALUE_CAST: break;
	default: return -1;
	}
	for (int k = 0; k < v->n_arg; k++)
		if (heddle_value_evaluate(v->arg[k], size, &a[k]) < 0)
			return -1;
	switch (v->kind) {
	case HEDDLE_VALUE_UNARY:
		*result = v->op == HEDDLE_OP_NOT ? !a[0] : wrap(v->type, (int64_t)(0 - (uint64_t)a[0]));
		return 0;
	case HEDDLE_VALUE_BINARY: /* these are formulas of the host, too, where nothing is divided by 0 */
		if (a[1] == 0 && (v->op == HEDDLE_OP_DIV || v->op == HEDDLE_OP_MOD))
			return -1;
		return fold(v->op, v->arg[0]->type, a[0], a[1], result) ? 0 : -1;
	case HEDDLE_VALUE_CAST: *result = wrap(v->type, a[0]); return 0;
	default:
		if (a[1] <= 0)
			return -1;
		*result = floor_div(a[0], a[1]);
		if (v->kind == HEDDLE_VALUE_FLOOR_MOD)
			*result = a[0] - a[1] * *result;
		return 0;
	}
}

/* `v` with other arguments, built by the constructors so that it folds again. */
static heddle_value *rebuild(heddle_program *p, const heddle_value *v, heddle_value **arg)
{
	switch (v->kind) {
	case HEDDLE_VALUE_UNARY: return heddle_value_unary(p, v->op, arg[0]);
	case HEDDLE_VALUE_BINARY: return heddle_value_binary(p, v->op, arg[0], arg[1]);
	case HEDDLE_VALUE_FLOOR_DIV:
	case HEDDLE_VALUE_FLOOR_MOD: return heddle_value_floor(p, v->kind, arg[0], arg[1]);
	case HEDDLE_VALUE_SELECT: return heddle_value_select(p, arg[0], arg[1], arg[2]);
	case HEDDLE_VALUE_CAST: return heddle_value_cast(p, v->type, arg[0]);
	case HEDDLE_VALUE_FMA: return heddle_value_fma(p, arg[0], arg[1], arg[2]);
	case HEDDLE_VALUE_SPLAT: return heddle_value_splat(p, arg[0], v->width);
	case HEDDLE_VALUE_EXTRACT: return heddle_value_extract(p, arg[0], (int)v->i);
	case HEDDLE_VALUE_BUILD: return heddle_value_build(p, v->n_arg, arg);
	case HEDDLE_VALUE_ZIP: return heddle_value_zip(p, arg[0], arg[1], (int)v->i);
	case HEDDLE_VALUE_UNZIP: return heddle_value_unzip(p, arg[0], arg[1]);
	case HEDDLE_VALUE_REDUCE: return heddle_value_reduce(p, v->op, arg[0]);
	case HEDDLE_VALUE_SHUFFLE: return heddle_value_shuffle(p, arg[0], (int)v->i);
	default: {
		heddle_value *copy = HEDDLE_NEW(p->arena, heddle_value);
		*copy = *v;
		copy->arg = arg;
		return copy;
	}
	}
}

heddle_value *heddle_value_map_within(heddle_program *p, heddle_value *v, heddle_value *(*rename)(heddle_value *, void *),
				      void (*within)(const heddle_value *, bool, void *), void *user)
{
	heddle_value **arg = v->n_arg ? HEDDLE_NEW_ARRAY(p->arena, heddle_value *, v->n_arg) : NULL;
	bool changed = false;
	if (within)
		within(v, true, user);
	for (int k = 0; k < v->n_arg; k++) {
		arg[k] = heddle_value_map_within(p, v->arg[k], rename, within, user);
		changed |= arg[k] != v->arg[k];
	}
	if (within)
		within(v, false, user);
	return rename(changed ? rebuild(p, v, arg) : v, user);
}

heddle_value *heddle_value_map(heddle_program *p, heddle_value *v, heddle_value *(*rename)(heddle_value *, void *), void *user)
{
	return heddle_value_map_within(p, v, rename, NULL, user);
}

/* ---- nodes --------------------------------------------------------------------------------------------------------------- */

static heddle_node *node_new(heddle_program *p, heddle_node_kind kind, int n_value, int n_child)
{
	heddle_node *node = HEDDLE_NEW(p->arena, heddle_node);
	node->kind = kind;
	node->n_value = n_value;
	node->n_child = n_child;
	if (n_value)
		node->value = HEDDLE_NEW_ARRAY(p->arena, heddle_value *, n_value);
	if (n_child)
		node->child = HEDDLE_NEW_ARRAY(p->arena, heddle_node *, n_child);
	return node;
}

heddle_node *heddle_node_block(heddle_program *p)
{
	return node_new(p, HEDDLE_NODE_BLOCK, 0, 0);
}

void heddle_node_append(heddle_program *p, heddle_node *block, heddle_node *child)
{
	HEDDLE_PUSH(p->arena, block->child, block->n_child, child);
}

/* Bodies of loops and branches are always blocks: they are scopes, and the text form shows them as braces. */
static heddle_node *as_block(heddle_program *p, heddle_node *node)
{
	if (node && node->kind == HEDDLE_NODE_BLOCK)
		return node;
	heddle_node *block = heddle_node_block(p);
	if (node)
		heddle_node_append(p, block, node);
	return block;
}

heddle_node *heddle_node_for(heddle_program *p, heddle_loop_kind loop, const char *name, heddle_value *lower,
			     heddle_value *upper, int64_t step, heddle_node *body)
{
	heddle_node *node = node_new(p, HEDDLE_NODE_FOR, 2, 1);
	unify(p, &lower, &upper);
	node->loop = loop;
	node->name = heddle_arena_strdup(p->arena, name);
	node->value[0] = lower;
	node->value[1] = upper;
	node->i = step;
	node->child[0] = as_block(p, body);
	return node;
}

heddle_node *heddle_node_if(heddle_program *p, heddle_value *condition, heddle_node *then, heddle_node *otherwise)
{
	heddle_node *node = node_new(p, HEDDLE_NODE_IF, 1, otherwise ? 2 : 1);
	node->value[0] = condition;
	node->child[0] = as_block(p, then);
	if (otherwise)
		node->child[1] = as_block(p, otherwise);
	return node;
}

heddle_node *heddle_node_let(heddle_program *p, const char *name, heddle_value *value)
{
	heddle_node *node = node_new(p, HEDDLE_NODE_LET, 1, 0);
	node->name = heddle_arena_strdup(p->arena, name);
	node->value[0] = value;
	return node;
}

heddle_node *heddle_node_declare(heddle_program *p, heddle_buffer *buffer)
{
	heddle_node *node = node_new(p, HEDDLE_NODE_DECLARE, 0, 0);
	node->buffer = buffer;
	return node;
}

heddle_node *heddle_node_store(heddle_program *p, heddle_buffer *buffer, int n, heddle_value **subscript, heddle_value *value)
{
	heddle_node *node = node_new(p, HEDDLE_NODE_STORE, n + 1, 0);
	node->buffer = buffer;
	node->value[0] = value;
	for (int k = 0; k < n; k++)
		node->value[k + 1] = subscript[k];
	return node;
}

heddle_node *heddle_node_barrier(heddle_program *p)
{
	return node_new(p, HEDDLE_NODE_BARRIER, 0, 0);
}

heddle_node *heddle_node_copy(heddle_program *p, const char *name, heddle_value *count, heddle_buffer *to, int n_to,
			      heddle_value **to_subscript, heddle_buffer *from, int n_from, heddle_value **from_subscript)
{
	heddle_node *node = node_new(p, HEDDLE_NODE_COPY, 1 + n_to + n_from, 0);
	node->name = heddle_arena_strdup(p->arena, name);
	node->buffer = to;
	node->source = from;
	node->i = n_to;
	node->value[0] = count;
	for (int k = 0; k < n_to; k++)
		node->value[1 + k] = to_subscript[k];
	for (int k = 0; k < n_from; k++)
		node->value[1 + n_to + k] = from_subscript[k];
	return node;
}

heddle_node *heddle_node_wait(heddle_program *p, const char *name)
{
	heddle_node *node = node_new(p, HEDDLE_NODE_WAIT, 0, 0);
	node->name = heddle_arena_strdup(p->arena, name);
	return node;
}

static bool waits_for(const heddle_node *node, const char *name)
{
	if (node->kind == HEDDLE_NODE_WAIT && !strcmp(node->name, name))
		return true;
	for (int k = 0; k < node->n_child; k++)
		if (waits_for(node->child[k], name))
			return true;
	return false;
}

const heddle_node *heddle_node_find(const heddle_node *node, heddle_node_kind kind)
{
	const heddle_node *found = node->kind == kind ? node : NULL;
	for (int k = 0; k < node->n_child && !found; k++)
		found = heddle_node_find(node->child[k], kind);
	return found;
}

bool heddle_node_under_way(const heddle_node *node, const char *name)
{
	if (node->kind == HEDDLE_NODE_COPY && !strcmp(node->name, name))
		return true;
	bool open = false;
	for (int k = 0; k < node->n_child; k++)
		open = (open && !(node->kind == HEDDLE_NODE_BLOCK && waits_for(node->child[k], name))) ||
		       heddle_node_under_way(node->child[k], name);
	return open;
}

heddle_node *heddle_node_comment(heddle_program *p, const char *text)
{
	heddle_node *node = node_new(p, HEDDLE_NODE_COMMENT, 0, 0);
	node->name = heddle_arena_strdup(p->arena, text);
	return node;
}

heddle_buffer *heddle_buffer_new(heddle_program *p, const char *name, heddle_buffer_role role, heddle_type type, int rank)
{
	heddle_buffer *buffer = HEDDLE_NEW(p->arena, heddle_buffer);
	buffer->name = heddle_arena_strdup(p->arena, name);
	buffer->role = role;
	buffer->type = type;
	buffer->width = 1;
	buffer->rank = rank;
	buffer->extent = rank ? HEDDLE_NEW_ARRAY(p->arena, heddle_value *, rank) : NULL;
	buffer->align = heddle_type_size(type);
	buffer->position = p->n_buffer;
	HEDDLE_PUSH(p->arena, p->buffer, p->n_buffer, buffer);
	return buffer;
}

static void number(heddle_node *node, int *next)
{
	node->id = (*next)++;
	for (int k = 0; k < node->n_child; k++)
		number(node->child[k], next);
}

int heddle_program_number(heddle_program *p)
{
	int most = 0;
	for (int k = 0; k < p->n_launch; k++) {
		int n = 0;
		if (p->launch[k]->body)
			number(p->launch[k]->body, &n);
		most = n > most ? n : most;
	}
	return most;
}

/* ---- copying --------------------------------------------------------------------------------------------------------------- */

static const char *copy_string(heddle_program *to, const char *s)
{
	return s ? heddle_arena_strdup(to->arena, s) : NULL;
}

static heddle_buffer *copy_buffer_of(heddle_program *to, const heddle_buffer *buffer)
{
	return buffer ? to->buffer[buffer->position] : NULL;
}

static heddle_value *copy_value(heddle_program *to, const heddle_value *v)
{
	if (!v)
		return NULL;
	heddle_value *copy = HEDDLE_NEW(to->arena, heddle_value);
	*copy = *v;
	copy->name = copy_string(to, v->name);
	copy->buffer = copy_buffer_of(to, v->buffer);
	copy->arg = v->n_arg ? HEDDLE_NEW_ARRAY(to->arena, heddle_value *, v->n_arg) : NULL;
	for (int k = 0; k < v->n_arg; k++)
		copy->arg[k] = copy_value(to, v->arg[k]);
	return copy;
}

static heddle_node *copy_node(heddle_program *to, const heddle_node *node)
{
	if (!node)
		return NULL;
	heddle_node *copy = HEDDLE_NEW(to->arena, heddle_node);
	*copy = *node;
	copy->name = copy_string(to, node->name);
	copy->buffer = copy_buffer_of(to, node->buffer);
	copy->source = copy_buffer_of(to, node->source);
	copy->value = node->n_value ? HEDDLE_NEW_ARRAY(to->arena, heddle_value *, node->n_value) : NULL;
	copy->child = NULL;
	copy->n_child = 0;
	for (int k = 0; k < node->n_value; k++)
		copy->value[k] = copy_value(to, node->value[k]);
	for (int k = 0; k < node->n_child; k++)
		heddle_node_append(to, copy, copy_node(to, node->child[k]));
	return copy;
}

static void copy_buffer(heddle_program *to, const heddle_buffer *from, int position)
{
	heddle_buffer *copy = HEDDLE_NEW(to->arena, heddle_buffer);
	*copy = *from;
	copy->name = copy_string(to, from->name);
	copy->of = copy_string(to, from->of);
	copy->comment = copy_string(to, from->comment);
	copy->extent = from->rank ? HEDDLE_NEW_ARRAY(to->arena, heddle_value *, from->rank) : NULL;
	for (int k = 0; k < from->rank; k++)
		copy->extent[k] = copy_value(to, from->extent[k]);
	copy->stride = from->stride ? HEDDLE_NEW_ARRAY(to->arena, heddle_value *, from->rank) : NULL;
	for (int k = 0; k < from->rank && from->stride; k++)
		copy->stride[k] = copy_value(to, from->stride[k]);
	copy->offset = copy_value(to, from->offset);
	copy->position = position;
	HEDDLE_PUSH(to->arena, to->buffer, to->n_buffer, copy);
}

static void copy_launch(heddle_program *to, const heddle_launch *from)
{
	heddle_launch *copy = HEDDLE_NEW(to->arena, heddle_launch);
	*copy = *from;
	copy->name = copy_string(to, from->name);
	copy->config = copy_string(to, from->config);
	copy->grid = copy_value(to, from->grid);
	copy->buffer = NULL;
	copy->n_buffer = 0;
	copy->shared = NULL;
	copy->n_shared = 0;
	copy->streamed = NULL;
	copy->n_streamed = 0;
	for (int k = 0; k < from->n_buffer; k++)
		HEDDLE_PUSH(to->arena, copy->buffer, copy->n_buffer, copy_buffer_of(to, from->buffer[k]));
	for (int k = 0; k < from->n_shared; k++)
		HEDDLE_PUSH(to->arena, copy->shared, copy->n_shared, copy_buffer_of(to, from->shared[k]));
	for (int k = 0; k < from->n_streamed; k++)
		HEDDLE_PUSH(to->arena, copy->streamed, copy->n_streamed, copy_buffer_of(to, from->streamed[k]));
	copy->body = copy_node(to, from->body);
	HEDDLE_PUSH(to->arena, to->launch, to->n_launch, copy);
}

heddle_program *heddle_program_copy(const heddle_program *p)
{
	heddle_program *to = heddle_program_new(p->name);
	to->target = copy_string(to, p->target);
	to->config = copy_string(to, p->config);
	to->proof = copy_string(to, p->proof);
	to->policy = p->policy;
	to->warp = p->warp;
	for (int k = 0; k < p->n_size; k++) {
		heddle_program_size size = p->size[k];
		size.name = copy_string(to, size.name);
		HEDDLE_PUSH(to->arena, to->size, to->n_size, size);
	}
	for (int k = 0; k < p->n_buffer; k++)
		copy_buffer(to, p->buffer[k], k);
	to->workspace = copy_value(to, p->workspace);
	for (int k = 0; k < p->n_precondition; k++)
		HEDDLE_PUSH(to->arena, to->precondition, to->n_precondition, copy_value(to, p->precondition[k]));
	for (int k = 0; k < p->n_launch; k++)
		copy_launch(to, p->launch[k]);
	return to;
}
