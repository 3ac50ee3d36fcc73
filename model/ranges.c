/* Intervals and congruences of integer values.
 *
 * The congruence half is the domain of Granger: value = residue (mod modulus), modulus 0 for a constant.
 * SPDX-License-Identifier: MIT
 */
#include "model/ranges.h"

#include <stdlib.h>
#include <string.h>

typedef struct entry {
	const char *name;
	heddle_range range;
	int64_t step;  /* see heddle_ranges_step */
	bool settled;  /* see heddle_ranges_settled */
	int64_t scope; /* of this variable and those before it: a number that no other scope of the stack has had */
} entry;

/* Values never change and passes ask for the same ones over and over, also as parts of others: the last answers are kept. */
typedef struct answer {
	const heddle_value *value;
	int64_t scope;
	heddle_range range;
} answer;

enum { ANSWERS = 1021 }; /* a prime, so that values at equal distances have places of their own */

struct heddle_ranges {
	const heddle_program *program;
	const heddle_launch *launch;
	heddle_range block;
	int n, capacity;
	entry *entry;
	int64_t n_scope;
	answer *answer; /* [ANSWERS], each at a place that its value's address gives */
};

/* ---- bounds that saturate ----------------------------------------------------------------------------------------------- */

static int64_t add_bound(int64_t a, int64_t b)
{
	int64_t r;
	if (a == INT64_MIN || b == INT64_MIN)
		return INT64_MIN;
	if (a == INT64_MAX || b == INT64_MAX)
		return INT64_MAX;
	if (__builtin_add_overflow(a, b, &r))
		return a < 0 ? INT64_MIN : INT64_MAX;
	return r;
}

static int64_t negate_bound(int64_t a)
{
	return a == INT64_MIN ? INT64_MAX : a == INT64_MAX ? INT64_MIN : -a;
}

static int64_t multiply_bound(int64_t a, int64_t b)
{
	int64_t r;
	bool negative = (a < 0) != (b < 0);
	if (a == 0 || b == 0)
		return 0;
	if (a == INT64_MIN || b == INT64_MIN || a == INT64_MAX || b == INT64_MAX || __builtin_mul_overflow(a, b, &r))
		return negative ? INT64_MIN : INT64_MAX;
	return r;
}

static int64_t floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

static int64_t divide_bound(int64_t a, int64_t c)
{
	return a == INT64_MIN || a == INT64_MAX ? a : floor_div(a, c);
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t greatest(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* ---- congruences ----------------------------------------------------------------------------------------------------------- */

int64_t heddle_gcd(int64_t a, int64_t b)
{
	while (b) {
		int64_t r = a % b;
		a = b;
		b = r;
	}
	return a < 0 ? negate_bound(a) : a;
}

static int64_t reduce(int64_t value, int64_t modulus)
{
	return value - modulus * floor_div(value, modulus);
}

static heddle_range normal(heddle_range r)
{
	if (r.lo == r.hi && r.lo != INT64_MIN && r.lo != INT64_MAX)
		return heddle_range_constant(r.lo);
	if (r.modulus == 0) {
		/* A constant of the congruence beside an interval that does not know it: overflow on the way. */
		if (r.residue < r.lo || r.residue > r.hi)
			r.modulus = 1;
		else
			return heddle_range_constant(r.residue);
	}
	r.residue = reduce(r.residue, r.modulus);
	/* Bounds move inward to the next values that the congruence allows. */
	if (r.lo != INT64_MIN && r.modulus > 1)
		r.lo = add_bound(r.lo, reduce(r.residue - reduce(r.lo, r.modulus), r.modulus));
	if (r.hi != INT64_MAX && r.modulus > 1)
		r.hi = add_bound(r.hi, -reduce(reduce(r.hi, r.modulus) - r.residue, r.modulus));
	return r;
}

heddle_range heddle_range_constant(int64_t value)
{
	return (heddle_range){value, value, 0, value};
}

heddle_range heddle_range_between(int64_t lo, int64_t hi)
{
	return lo == hi ? heddle_range_constant(lo) : (heddle_range){lo, hi, 1, 0};
}

int64_t heddle_range_residue(heddle_range range, int64_t modulus)
{
	if (modulus <= 0 || range.modulus % modulus != 0)
		return -1;
	return reduce(range.residue, modulus);
}

static heddle_range type_range(heddle_type type)
{
	switch (type) {
	case HEDDLE_BOOL: return heddle_range_between(0, 1);
	case HEDDLE_INT8: return heddle_range_between(INT8_MIN, INT8_MAX);
	case HEDDLE_INT16: return heddle_range_between(INT16_MIN, INT16_MAX);
	case HEDDLE_INT32: return heddle_range_between(INT32_MIN, INT32_MAX);
	case HEDDLE_UINT8: return heddle_range_between(0, UINT8_MAX);
	case HEDDLE_UINT16: return heddle_range_between(0, UINT16_MAX);
	case HEDDLE_UINT32: return heddle_range_between(0, UINT32_MAX);
	default: return heddle_range_between(INT64_MIN, INT64_MAX);
	}
}

heddle_range heddle_range_narrowed(heddle_range range, int64_t lo, int64_t hi)
{
	heddle_range r = range;
	r.lo = greatest(r.lo, lo);
	r.hi = least(r.hi, hi);
	if (r.lo > r.hi || range.modulus == 0)
		return range;
	r = normal(r);
	return r.lo > r.hi ? range : r;
}

bool heddle_range_fits(heddle_range range, heddle_type type)
{
	heddle_range all = type_range(type);
	if (type == HEDDLE_INT64)
		return range.lo != INT64_MIN && range.hi != INT64_MAX;
	return range.lo >= all.lo && range.hi <= all.hi;
}

static heddle_range add(heddle_range a, heddle_range b)
{
	heddle_range r = {add_bound(a.lo, b.lo), add_bound(a.hi, b.hi), heddle_gcd(a.modulus, b.modulus), 0};
	if (__builtin_add_overflow(a.residue, b.residue, &r.residue))
		return heddle_range_between(r.lo, r.hi);
	return normal(r);
}

static heddle_range negate(heddle_range a)
{
	return normal((heddle_range){negate_bound(a.hi), negate_bound(a.lo), a.modulus, negate_bound(a.residue)});
}

heddle_range heddle_range_difference(heddle_range a, heddle_range b)
{
	return add(a, negate(b));
}

static heddle_range multiply(heddle_range a, heddle_range b)
{
	int64_t p[4] = {multiply_bound(a.lo, b.lo), multiply_bound(a.lo, b.hi), multiply_bound(a.hi, b.lo),
			multiply_bound(a.hi, b.hi)};
	heddle_range r = {p[0], p[0], 1, 0};
	int64_t mm, mr, rm, rr;
	for (int k = 1; k < 4; k++) {
		r.lo = least(r.lo, p[k]);
		r.hi = greatest(r.hi, p[k]);
	}
	/* (r1 + m1 x) (r2 + m2 y) = r1 r2 + multiples of m1 m2, m1 r2, r1 m2 */
	if (__builtin_mul_overflow(a.modulus, b.modulus, &mm) || __builtin_mul_overflow(a.modulus, b.residue, &mr) ||
	    __builtin_mul_overflow(a.residue, b.modulus, &rm) || __builtin_mul_overflow(a.residue, b.residue, &rr))
		return normal(r);
	r.modulus = heddle_gcd(heddle_gcd(mm, mr), rm);
	r.residue = rr;
	return normal(r);
}

/* What holds for values of either range. */
static heddle_range join(heddle_range a, heddle_range b)
{
	heddle_range r = {least(a.lo, b.lo), greatest(a.hi, b.hi), 1, 0};
	int64_t difference;
	if (!__builtin_sub_overflow(a.residue, b.residue, &difference)) {
		r.modulus = heddle_gcd(heddle_gcd(a.modulus, b.modulus), difference);
		r.residue = a.residue;
	}
	if (r.modulus == 0)
		return a;
	return normal(r);
}

static heddle_range floor_divide(heddle_range a, int64_t c)
{
	heddle_range r = {divide_bound(a.lo, c), divide_bound(a.hi, c), 1, 0};
	/* (m x + r) / c = (m / c) x + floor(r / c) when c divides m */
	if (a.modulus % c == 0) {
		r.modulus = a.modulus / c;
		r.residue = floor_div(a.residue, c);
	}
	return normal(r);
}

static heddle_range floor_modulo(heddle_range a, int64_t c)
{
	heddle_range r = {0, c - 1, heddle_gcd(a.modulus, c), a.residue};
	if (r.modulus == c)
		return heddle_range_constant(reduce(a.residue, c));
	if (a.lo != INT64_MIN && a.hi != INT64_MAX && floor_div(a.lo, c) == floor_div(a.hi, c)) {
		r.lo = reduce(a.lo, c);
		r.hi = reduce(a.hi, c);
	}
	return normal(r);
}

/* ---- values -------------------------------------------------------------------------------------------------------------------- */

static heddle_range of_division(heddle_op op, heddle_range a, heddle_range b)
{
	if (b.modulus != 0 || b.residue <= 0) {
		/* |a / b| <= |a|, and a % b has the sign of a and is no greater */
		if (a.lo >= 0)
			return heddle_range_between(0, a.hi);
		return heddle_range_between(INT64_MIN, INT64_MAX);
	}
	int64_t c = b.residue;
	bool div = op == HEDDLE_OP_DIV;
	if (a.lo >= 0)
		return div ? floor_divide(a, c) : floor_modulo(a, c);
	if (!div) {
		heddle_range r = {a.lo > -c ? a.lo : 1 - c, a.hi < 0 ? 0 : least(a.hi, c - 1), heddle_gcd(a.modulus, c), a.residue};
		return r.modulus == 0 ? heddle_range_between(r.lo, r.hi) : normal(r);
	}
	heddle_range r = {a.lo == INT64_MIN ? a.lo : a.lo / c, a.hi == INT64_MAX ? a.hi : a.hi / c, 1, 0};
	if (a.modulus % c == 0 && a.residue % c == 0) {
		r.modulus = a.modulus / c;
		r.residue = a.residue / c;
	}
	return normal(r);
}

static heddle_range of_binary(const heddle_ranges *ranges, const heddle_value *v)
{
	heddle_range a = heddle_ranges_of(ranges, v->arg[0]), b = heddle_ranges_of(ranges, v->arg[1]), r;
	switch (v->op) {
	case HEDDLE_OP_ADD: return add(a, b);
	case HEDDLE_OP_SUB: return add(a, negate(b));
	case HEDDLE_OP_MUL: return multiply(a, b);
	case HEDDLE_OP_DIV:
	case HEDDLE_OP_MOD: return of_division(v->op, a, b);
	case HEDDLE_OP_MIN:
	case HEDDLE_OP_MAX:
		r = join(a, b);
		if (v->op == HEDDLE_OP_MIN)
			r.hi = least(a.hi, b.hi);
		else
			r.lo = greatest(a.lo, b.lo);
		return normal(r);
	default: return type_range(v->type);
	}
}

static const entry *find(const heddle_ranges *ranges, const char *name)
{
	for (int k = ranges->n - 1; k >= 0; k--)
		if (*ranges->entry[k].name == *name && !strcmp(ranges->entry[k].name, name))
			return &ranges->entry[k];
	return NULL;
}

static heddle_range defined_range(const heddle_ranges *ranges, const char *name, heddle_range otherwise)
{
	const entry *e = find(ranges, name);
	return e ? e->range : otherwise;
}

static heddle_range size_range(const heddle_ranges *ranges, const heddle_value *v)
{
	const heddle_program_size *size = &ranges->program->size[v->i];
	return normal((heddle_range){size->min, size->max, size->divisor, 0});
}

static heddle_range unchecked(const heddle_ranges *ranges, const heddle_value *v)
{
	heddle_range a, b;
	int decided;
	switch (v->kind) {
	case HEDDLE_VALUE_INT: return heddle_range_constant(v->i);
	case HEDDLE_VALUE_VARIABLE: return defined_range(ranges, v->name, type_range(v->type));
	case HEDDLE_VALUE_BLOCK: return defined_range(ranges, "block", ranges->block);
	case HEDDLE_VALUE_THREAD:
		return defined_range(ranges, "thread",
				     ranges->launch ? heddle_range_between(0, ranges->launch->threads - 1) : type_range(v->type));
	case HEDDLE_VALUE_SIZE: return size_range(ranges, v);
	case HEDDLE_VALUE_UNARY:
		return v->op == HEDDLE_OP_NEG ? negate(heddle_ranges_of(ranges, v->arg[0])) : type_range(v->type);
	case HEDDLE_VALUE_BINARY: return of_binary(ranges, v);
	case HEDDLE_VALUE_FLOOR_DIV:
	case HEDDLE_VALUE_FLOOR_MOD:
		a = heddle_ranges_of(ranges, v->arg[0]);
		b = heddle_ranges_of(ranges, v->arg[1]);
		if (b.modulus != 0 || b.residue <= 0)
			return v->kind == HEDDLE_VALUE_FLOOR_MOD ? heddle_range_between(0, add_bound(b.hi, -1))
								 : heddle_range_between(a.lo < 0 ? a.lo : 0, a.hi < 0 ? -1 : a.hi);
		return v->kind == HEDDLE_VALUE_FLOOR_DIV ? floor_divide(a, b.residue) : floor_modulo(a, b.residue);
	case HEDDLE_VALUE_SELECT:
		decided = heddle_ranges_decide(ranges, v->arg[0]);
		if (decided >= 0)
			return heddle_ranges_of(ranges, v->arg[decided ? 1 : 2]);
		return join(heddle_ranges_of(ranges, v->arg[1]), heddle_ranges_of(ranges, v->arg[2]));
	case HEDDLE_VALUE_CAST:
		return heddle_type_is_float(v->arg[0]->type) ? type_range(v->type) : heddle_ranges_of(ranges, v->arg[0]);
	default: return type_range(v->type);
	}
}

static heddle_range checked(const heddle_ranges *ranges, const heddle_value *value)
{
	heddle_range r = unchecked(ranges, value), all = type_range(value->type);
	const bool fits = value->type == HEDDLE_INT64 ? r.lo != INT64_MIN && r.hi != INT64_MAX : heddle_range_fits(r, value->type);
	if (fits)
		return r;
	/* The value may have wrapped around, and then only what 2^32 and 2^64 are multiples of is known. */
	const bool power = r.modulus > 1 && r.modulus <= INT32_MAX && !(r.modulus & (r.modulus - 1));
	if (power && (value->type == HEDDLE_INT64 || value->type == HEDDLE_INT32))
		all = normal((heddle_range){all.lo, all.hi, r.modulus, r.residue});
	return all;
}

heddle_range heddle_ranges_of(const heddle_ranges *ranges, const heddle_value *value)
{
	if (heddle_type_is_float(value->type) || value->width != 1)
		return heddle_range_between(INT64_MIN, INT64_MAX);
	if (value->n_arg == 0)
		return checked(ranges, value);
	const int64_t scope = ranges->n ? ranges->entry[ranges->n - 1].scope : 0;
	answer *known = &ranges->answer[(uintptr_t)value / sizeof(void *) % ANSWERS];
	if (known->value != value || known->scope != scope) {
		const heddle_range range = checked(ranges, value);
		*known = (answer){value, scope, range};
	}
	return known->range;
}

#define MOST_STEP (INT64_C(1) << 20)

static int64_t step_of_range(heddle_range r)
{
	const int64_t of = r.modulus ? r.residue ? 1 : r.modulus : r.residue;
	return of == 0 ? MOST_STEP : least(of & -of, MOST_STEP);
}

int64_t heddle_ranges_step(const heddle_ranges *ranges, const heddle_value *v)
{
	int64_t a = 1;
	if (heddle_type_is_float(v->type) || heddle_type_size(v->type) < 4 || v->width != 1)
		return 1;
	if (v->kind == HEDDLE_VALUE_VARIABLE) {
		const entry *e = find(ranges, v->name);
		a = e ? e->step : 1;
	} else if (v->kind == HEDDLE_VALUE_BINARY && (v->op == HEDDLE_OP_ADD || v->op == HEDDLE_OP_SUB)) {
		a = least(heddle_ranges_step(ranges, v->arg[0]), heddle_ranges_step(ranges, v->arg[1]));
	} else if (v->kind == HEDDLE_VALUE_BINARY && v->op == HEDDLE_OP_MUL) {
		a = least(heddle_ranges_step(ranges, v->arg[0]) * heddle_ranges_step(ranges, v->arg[1]), MOST_STEP);
	} else if (v->kind == HEDDLE_VALUE_CAST) {
		a = heddle_ranges_step(ranges, v->arg[0]);
	}
	return greatest(a, step_of_range(heddle_ranges_of(ranges, v)));
}

bool heddle_ranges_overflow(const heddle_ranges *ranges, const heddle_value *value)
{
	return !heddle_range_fits(unchecked(ranges, value), value->type);
}

bool heddle_ranges_natural(const heddle_ranges *ranges, const heddle_value *v)
{
	const bool grows = v->kind == HEDDLE_VALUE_BINARY && (v->op == HEDDLE_OP_ADD || v->op == HEDDLE_OP_MUL);
	return heddle_ranges_of(ranges, v).lo >= 0 ||
	       (grows && heddle_ranges_natural(ranges, v->arg[0]) && heddle_ranges_natural(ranges, v->arg[1]));
}

heddle_range heddle_ranges_loop(const heddle_ranges *ranges, const heddle_node *loop)
{
	heddle_range lower = heddle_ranges_of(ranges, loop->value[0]), upper = heddle_ranges_of(ranges, loop->value[1]);
	if (heddle_ranges_natural(ranges, loop->value[0])) /* bounds are index arithmetic */
		lower = heddle_range_narrowed(lower, 0, INT64_MAX);
	heddle_range r = {lower.lo, add_bound(upper.hi, -1), heddle_gcd(lower.modulus, loop->i), lower.residue};
	if (r.hi < r.lo)
		r.hi = r.lo; /* it never runs; any range is right */
	return normal(r);
}

/* a op b by bounds and congruence. */
static int decide_comparison(heddle_op op, heddle_range a, heddle_range b)
{
	switch (op) {
	case HEDDLE_OP_LT:
		return a.hi < b.lo ? 1 : a.lo >= b.hi ? 0 : -1;
	case HEDDLE_OP_LE:
		return a.hi <= b.lo ? 1 : a.lo > b.hi ? 0 : -1;
	case HEDDLE_OP_GT:
		return decide_comparison(HEDDLE_OP_LT, b, a);
	case HEDDLE_OP_GE:
		return decide_comparison(HEDDLE_OP_LE, b, a);
	case HEDDLE_OP_EQ: {
		if (a.lo == a.hi && b.lo == b.hi && a.lo == b.lo)
			return 1;
		int64_t m = heddle_gcd(a.modulus, b.modulus);
		if (a.hi < b.lo || b.hi < a.lo || (m > 0 && reduce(a.residue, m) != reduce(b.residue, m)))
			return 0;
		return -1;
	}
	default: {
		int equal = decide_comparison(HEDDLE_OP_EQ, a, b);
		return equal < 0 ? -1 : !equal;
	}
	}
}

int heddle_ranges_decide(const heddle_ranges *ranges, const heddle_value *c)
{
	if (c->width != 1)
		return -1;
	if (c->kind == HEDDLE_VALUE_INT)
		return c->i != 0;
	if (c->kind == HEDDLE_VALUE_UNARY && c->op == HEDDLE_OP_NOT) {
		int inner = heddle_ranges_decide(ranges, c->arg[0]);
		return inner < 0 ? -1 : !inner;
	}
	if (c->kind != HEDDLE_VALUE_BINARY)
		return -1;
	if (c->op == HEDDLE_OP_AND || c->op == HEDDLE_OP_OR) {
		int a = heddle_ranges_decide(ranges, c->arg[0]), b = heddle_ranges_decide(ranges, c->arg[1]);
		int strong = c->op == HEDDLE_OP_OR;
		if (a == strong || b == strong)
			return strong;
		return a < 0 || b < 0 ? -1 : !strong;
	}
	heddle_type type = c->arg[0]->type;
	if (c->op < HEDDLE_OP_LT || c->op > HEDDLE_OP_NE || heddle_type_is_float(type) || type == HEDDLE_UINT64)
		return -1;
	heddle_range a = heddle_ranges_of(ranges, c->arg[0]), b = heddle_ranges_of(ranges, c->arg[1]);
	if ((a.lo == INT64_MIN && a.hi == INT64_MAX) || (b.lo == INT64_MIN && b.hi == INT64_MAX))
		return -1;
	return decide_comparison(c->op, a, b);
}

/* ---- the stack of variables --------------------------------------------------------------------------------------------------------- */

heddle_ranges *heddle_ranges_new(const heddle_program *program, const heddle_launch *launch)
{
	heddle_ranges *r = heddle_xalloc(sizeof(*r));
	memset(r, 0, sizeof(*r));
	r->answer = heddle_xalloc(sizeof(answer) * ANSWERS);
	memset(r->answer, 0, sizeof(answer) * ANSWERS);
	r->program = program;
	r->launch = launch;
	r->block = heddle_range_between(0, INT32_MAX);
	if (launch && launch->grid) {
		int64_t blocks = heddle_ranges_of(r, launch->grid).hi;
		r->block = heddle_range_between(0, blocks < 1 ? 0 : least(blocks - 1, INT32_MAX));
	}
	return r;
}

heddle_ranges *heddle_ranges_free(heddle_ranges *ranges)
{
	if (ranges) {
		free(ranges->answer);
		free(ranges->entry);
	}
	free(ranges);
	return NULL;
}

void heddle_ranges_define(heddle_ranges *r, const char *name, heddle_range range)
{
	if (r->n == r->capacity) {
		r->capacity = r->capacity ? 2 * r->capacity : 32;
		r->entry = heddle_xrealloc(r->entry, sizeof(*r->entry) * (size_t)r->capacity);
	}
	const entry *before = find(r, name);
	const int64_t step = before ? before->step : step_of_range(range);
	r->entry[r->n++] = (entry){name, range, step, false, ++r->n_scope};
}

void heddle_ranges_narrow(heddle_ranges *r, const char *name, heddle_range range)
{
	const entry *before = find(r, name);
	const bool settled = range.lo == range.hi && (!before || before->settled || before->range.lo != before->range.hi);
	heddle_ranges_define(r, name, range);
	r->entry[r->n - 1].settled = settled;
}

bool heddle_ranges_settled(const heddle_ranges *ranges, const heddle_value *v)
{
	const entry *e = v->kind == HEDDLE_VALUE_VARIABLE ? find(ranges, v->name) : NULL;
	bool any = e && e->settled;
	for (int k = 0; k < v->n_arg && !any; k++)
		any = heddle_ranges_settled(ranges, v->arg[k]);
	return any;
}

void heddle_ranges_let(heddle_ranges *r, const char *name, const heddle_value *value)
{
	const int64_t step = heddle_ranges_step(r, value);
	heddle_ranges_define(r, name, heddle_ranges_of(r, value));
	r->entry[r->n - 1].step = step;
}

int heddle_ranges_mark(const heddle_ranges *ranges)
{
	return ranges->n;
}

void heddle_ranges_unwind(heddle_ranges *ranges, int mark)
{
	ranges->n = mark;
}

/* ---- dependence on a variable --------------------------------------------------------------------------------------------------------- */

bool heddle_value_depends(const heddle_value *value, const char *variable)
{
	if (value->kind == HEDDLE_VALUE_VARIABLE)
		return !strcmp(value->name, variable);
	for (int k = 0; k < value->n_arg; k++)
		if (heddle_value_depends(value->arg[k], variable))
			return true;
	return false;
}

bool heddle_node_depends(const heddle_node *node, const char *variable)
{
	for (int k = 0; k < node->n_value; k++)
		if (heddle_value_depends(node->value[k], variable))
			return true;
	for (int k = 0; k < node->n_child; k++)
		if (heddle_node_depends(node->child[k], variable))
			return true;
	return false;
}

bool heddle_value_coefficient(const heddle_value *v, const char *iterator, int64_t *coefficient)
{
	int64_t a, b;
	*coefficient = 0;
	if (v->kind == HEDDLE_VALUE_VARIABLE && !strcmp(v->name, iterator)) {
		*coefficient = 1;
		return true;
	}
	if (!heddle_value_depends(v, iterator))
		return true;
	if (v->kind == HEDDLE_VALUE_CAST && v->type == HEDDLE_INT64 && v->arg[0]->type == HEDDLE_INT32)
		return heddle_value_coefficient(v->arg[0], iterator, coefficient);
	if (v->kind == HEDDLE_VALUE_UNARY && v->op == HEDDLE_OP_NEG) {
		if (!heddle_value_coefficient(v->arg[0], iterator, &a))
			return false;
		*coefficient = -a;
		return true;
	}
	if (v->kind != HEDDLE_VALUE_BINARY || !heddle_value_coefficient(v->arg[0], iterator, &a) ||
	    !heddle_value_coefficient(v->arg[1], iterator, &b))
		return false;
	switch (v->op) {
	case HEDDLE_OP_ADD: return !__builtin_add_overflow(a, b, coefficient);
	case HEDDLE_OP_SUB: return !__builtin_sub_overflow(a, b, coefficient);
	case HEDDLE_OP_MUL:
		if (v->arg[1]->kind == HEDDLE_VALUE_INT && !b)
			return !__builtin_mul_overflow(a, v->arg[1]->i, coefficient);
		if (v->arg[0]->kind == HEDDLE_VALUE_INT && !a)
			return !__builtin_mul_overflow(b, v->arg[0]->i, coefficient);
		return false;
	default: return false;
	}
}
