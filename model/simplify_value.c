/* simplify: one value folded: divisions, extrema, sums, comparisons.
 * SPDX-License-Identifier: MIT
 */
#include "model/simplify_parts.h"

#include <string.h>

/* ---- values --------------------------------------------------------------------------------------------------------------- */

static bool is_integer(heddle_type type)
{
	return !heddle_type_is_float(type);
}

/* Divisions whose result the operand's range settles. */
static heddle_value *fold_division(rewriter *r, heddle_value *v)
{
	bool floors = v->kind == HEDDLE_VALUE_FLOOR_DIV || v->kind == HEDDLE_VALUE_FLOOR_MOD;
	bool div = floors ? v->kind == HEDDLE_VALUE_FLOOR_DIV : v->op == HEDDLE_OP_DIV;
	heddle_value *x = v->arg[0], *c = v->arg[1];
	if (!heddle_type_is_signed(v->type))
		return v;
	heddle_range range = heddle_ranges_of(r->s->ranges, x), by = heddle_ranges_of(r->s->ranges, c);
	if (by.lo <= 0 && !floors)
		return v;
	if (range.lo >= 0 && range.hi < by.lo)
		return div ? heddle_value_int(r->s->p, v->type, 0) : x;
	/* The divisor of a floor division is never below 1. */
	if (floors && range.lo >= 0 && r->plain_division)
		return heddle_value_binary(r->s->p, div ? HEDDLE_OP_DIV : HEDDLE_OP_MOD, x, c);
	return v;
}

static heddle_value *fold_extremum(rewriter *r, heddle_value *v)
{
	heddle_range a = heddle_ranges_of(r->s->ranges, v->arg[0]), b = heddle_ranges_of(r->s->ranges, v->arg[1]);
	bool min = v->op == HEDDLE_OP_MIN;
	if (v->type != HEDDLE_INT32 && v->type != HEDDLE_INT64)
		return v;
	if (a.hi <= b.lo && a.hi != INT64_MAX)
		return v->arg[min ? 0 : 1];
	if (b.hi <= a.lo && b.hi != INT64_MAX)
		return v->arg[min ? 1 : 0];
	return v;
}

/* x + c and x - c: x, and c with its sign. */
heddle_value *simplify_without_constant(heddle_value *v, int64_t *c)
{
	*c = 0;
	if (v->kind != HEDDLE_VALUE_BINARY || (v->op != HEDDLE_OP_ADD && v->op != HEDDLE_OP_SUB) || v->arg[1]->kind != HEDDLE_VALUE_INT)
		return v;
	*c = v->op == HEDDLE_OP_ADD ? v->arg[1]->i : -v->arg[1]->i;
	return v->arg[0];
}

static heddle_value *plus(rewriter *r, heddle_value *v, int64_t c)
{
	return heddle_value_binary(r->s->p, HEDDLE_OP_ADD, v, heddle_value_int(r->s->p, v->type, c));
}

static bool overflows(rewriter *r, const heddle_value *v)
{
	return heddle_ranges_overflow(r->s->ranges, v);
}

/* min(7, x - 1) + 1 is min(8, x). */
static heddle_value *fold_into_extremum(rewriter *r, heddle_value *v, heddle_value *x, int64_t c)
{
	int64_t inner;
	heddle_value *side[2];
	for (int k = 0; k < 2; k++) {
		simplify_without_constant(x->arg[k], &inner);
		if (x->arg[k]->kind != HEDDLE_VALUE_INT && !inner)
			return v;
		side[k] = plus(r, x->arg[k], c);
		bool nearer = inner < 0 ? c <= -inner : c >= -inner && c <= 0; /* to 0: cannot overflow */
		if (!nearer && overflows(r, side[k]))
			return v;
	}
	return heddle_value_binary(r->s->p, x->op, side[0], side[1]);
}

/* floor(e / n) * m, n a multiple of m, taken from floor(e / (n / m)): what is left is floor(e / (n / m)) mod m. */
static heddle_value *fold_remainder(rewriter *r, heddle_value *v)
{
	heddle_program *p = r->s->p;
	int64_t c, k, k2 = 0;
	heddle_value *product = v->arg[1], *left = simplify_without_constant(v->arg[0], &c);
	if (product->kind != HEDDLE_VALUE_BINARY || product->op != HEDDLE_OP_MUL || product->arg[1]->kind != HEDDLE_VALUE_INT)
		return v;
	heddle_value *quotient = product->arg[0];
	int64_t m = product->arg[1]->i;
	if (quotient->kind != HEDDLE_VALUE_FLOOR_DIV || quotient->arg[1]->kind != HEDDLE_VALUE_INT || m <= 1 || quotient->arg[1]->i % m)
		return v;
	int64_t d = quotient->arg[1]->i / m;
	heddle_value *e = simplify_without_constant(quotient->arg[0], &k), *e2 = left;
	if (d > 1) {
		if (left->kind != HEDDLE_VALUE_FLOOR_DIV || !heddle_value_is_int(left->arg[1], d))
			return v;
		e2 = simplify_without_constant(left->arg[0], &k2);
	}
	if (!heddle_value_equal(e, e2) || (k - k2) % d)
		return v;
	heddle_value *whole = quotient->arg[0];
	if (d > 1)
		whole = heddle_value_floor(p, HEDDLE_VALUE_FLOOR_DIV, whole, left->arg[1]);
	return plus(r, heddle_value_floor(p, HEDDLE_VALUE_FLOOR_MOD, whole, product->arg[1]), c - (k - k2) / d);
}

/* Sums as a person writes them: floor((x - 1) / 8) + 1 is floor((x + 7) / 8), y * -8 + x is x - y * 8. */
static heddle_value *fold_sum(rewriter *r, heddle_value *v)
{
	heddle_program *p = r->s->p;
	int64_t c, inner, n;
	heddle_value *x = simplify_without_constant(v, &c);
	bool divided = x->kind == HEDDLE_VALUE_FLOOR_DIV && x->arg[1]->kind == HEDDLE_VALUE_INT && x->arg[1]->i > 0;
	if (c != 0 && x->kind == HEDDLE_VALUE_BINARY && (x->op == HEDDLE_OP_MIN || x->op == HEDDLE_OP_MAX))
		return fold_into_extremum(r, v, x, c);
	if (c != 0 && x->kind == HEDDLE_VALUE_BINARY && x->op == HEDDLE_OP_SUB && x->arg[0]->kind == HEDDLE_VALUE_INT &&
	    !__builtin_add_overflow(x->arg[0]->i, c, &n) && n >= INT32_MIN && n <= INT32_MAX)
		return heddle_value_binary(p, HEDDLE_OP_SUB, heddle_value_int(p, v->type, n), x->arg[1]); /* (8 - x) + 1 */
	if (c > 0 && divided) {
		heddle_value *of = simplify_without_constant(x->arg[0], &inner);
		if (inner >= 0 || __builtin_mul_overflow(c, x->arg[1]->i, &n) || inner + n < 0 || inner + n >= x->arg[1]->i)
			return v;
		heddle_value *up = plus(r, of, inner + n);
		return overflows(r, up) ? v : heddle_value_floor(p, HEDDLE_VALUE_FLOOR_DIV, up, x->arg[1]);
	}
	if (v->op == HEDDLE_OP_SUB && v->arg[0]->kind == HEDDLE_VALUE_INT) {
		heddle_value *from = simplify_without_constant(v->arg[1], &c); /* 8 - (x + 1) */
		if (c == 0 || __builtin_sub_overflow(v->arg[0]->i, c, &n) || n < INT32_MIN || n > INT32_MAX)
			return v;
		return heddle_value_binary(p, HEDDLE_OP_SUB, heddle_value_int(p, v->type, n), from);
	}
	if (v->op == HEDDLE_OP_SUB)
		return fold_remainder(r, v);
	for (int k = 0; k < 2; k++) {
		heddle_value *product = v->arg[k], *other = v->arg[1 - k];
		if (product->kind == HEDDLE_VALUE_UNARY && product->op == HEDDLE_OP_NEG)
			return heddle_value_binary(p, HEDDLE_OP_SUB, other, product->arg[0]);
		if (other->kind == HEDDLE_VALUE_INT || product->kind != HEDDLE_VALUE_BINARY || product->op != HEDDLE_OP_MUL ||
		    product->arg[1]->kind != HEDDLE_VALUE_INT || product->arg[1]->i >= 0 || product->arg[1]->i < -INT32_MAX)
			continue;
		heddle_value *factor = heddle_value_int(p, v->type, -product->arg[1]->i);
		return heddle_value_binary(p, HEDDLE_OP_SUB, other, heddle_value_binary(p, HEDDLE_OP_MUL, product->arg[0], factor));
	}
	return v;
}

static bool is_over_sizes(const heddle_value *v)
{
	if (v->kind == HEDDLE_VALUE_VARIABLE || v->kind == HEDDLE_VALUE_BLOCK || v->kind == HEDDLE_VALUE_THREAD ||
	    v->kind == HEDDLE_VALUE_LOAD)
		return false;
	for (int k = 0; k < v->n_arg; k++)
		if (!is_over_sizes(v->arg[k]))
			return false;
	return true;
}

/* 4*t + c compared with a number: 4*t with the next one that it can be, so that neighbours' conditions are the same one. */
static heddle_value *without_constant_in_steps(rewriter *r, heddle_value *a, heddle_op op, heddle_value **b)
{
	int64_t c, bound;
	heddle_value *x = simplify_without_constant(a, &c);
	const heddle_range range = heddle_ranges_of(r->s->ranges, x);
	if (c == 0 || range.modulus <= 1 || overflows(r, a) || __builtin_sub_overflow((*b)->i, c, &bound) ||
	    bound <= INT32_MIN + range.modulus || bound >= INT32_MAX - range.modulus)
		return a;
	const int64_t past = (bound - range.residue) % range.modulus, above = past < 0 ? past + range.modulus : past;
	if (op == HEDDLE_OP_LT || op == HEDDLE_OP_GE)
		bound += above ? range.modulus - above : 0;
	else
		bound -= above;
	*b = heddle_value_int(r->s->p, a->type, bound);
	return x;
}

/* i < N in place of N >= i + 1: what varies stands left, and ones are not added to be compared. */
static heddle_value *fold_comparison(rewriter *r, heddle_value *v)
{
	static const heddle_op swapped[] = {[HEDDLE_OP_LT] = HEDDLE_OP_GT, [HEDDLE_OP_LE] = HEDDLE_OP_GE,
					    [HEDDLE_OP_GT] = HEDDLE_OP_LT, [HEDDLE_OP_GE] = HEDDLE_OP_LE};
	heddle_program *p = r->s->p;
	heddle_value *a = v->arg[0], *b = v->arg[1];
	heddle_op op = v->op;
	int64_t c, d;
	if (op < HEDDLE_OP_LT || op > HEDDLE_OP_GE || a->width != 1 || (a->type != HEDDLE_INT32 && a->type != HEDDLE_INT64))
		return v;
	if (a->kind == HEDDLE_VALUE_INT || (is_over_sizes(a) && !is_over_sizes(b))) {
		heddle_value *t = a;
		a = b;
		b = t;
		op = swapped[op];
	}
	if (a->kind != HEDDLE_VALUE_INT && b->kind != HEDDLE_VALUE_INT) {
		/* x + c < y, x <= y, x < y + c; or the same with >. */
		bool less = op == HEDDLE_OP_LT || op == HEDDLE_OP_LE;
		heddle_value *x = simplify_without_constant(a, &c), *y = simplify_without_constant(b, &d);
		int64_t sum = less ? c - d - (op == HEDDLE_OP_LE) : d - c - (op == HEDDLE_OP_GE);
		heddle_value *low = less ? x : y, *high = less ? y : x;
		if (sum > 0)
			low = plus(r, low, sum);
		else if (sum < -1)
			high = plus(r, high, -sum);
		bool nearer = sum >= -1 && (sum <= c || sum <= d || sum <= 0); /* what is added is no more than was */
		if (!nearer && (overflows(r, low) || overflows(r, high)))
			return v;
		a = less ? low : high;
		b = less ? high : low;
		op = less ? (sum == -1 ? HEDDLE_OP_LE : HEDDLE_OP_LT) : (sum == -1 ? HEDDLE_OP_GE : HEDDLE_OP_GT);
	}
	if (a->kind != HEDDLE_VALUE_INT && b->kind == HEDDLE_VALUE_INT)
		a = without_constant_in_steps(r, a, op, &b);
	if (op == HEDDLE_OP_LE && b->kind == HEDDLE_VALUE_INT && b->i < INT32_MAX) {
		b = plus(r, b, 1);
		op = HEDDLE_OP_LT;
	}
	if (op == HEDDLE_OP_GE && heddle_value_is_int(b, 1)) {
		b = plus(r, b, -1);
		op = HEDDLE_OP_GT;
	}
	if (op == v->op && heddle_value_equal(a, v->arg[0]) && heddle_value_equal(b, v->arg[1]))
		return v;
	return heddle_value_binary(p, op, a, b);
}

/* (x + n - 1) mod n is x mod n - 1 where x mod n > 0. */
static heddle_value *fold_previous(rewriter *r, heddle_value *v)
{
	heddle_program *p = r->s->p;
	int64_t c, n = v->arg[1]->kind == HEDDLE_VALUE_INT ? v->arg[1]->i : 0;
	heddle_value *x = simplify_without_constant(v->arg[0], &c);
	if (!r->facts || n <= 1 || c == 0 || (c + 1) % n)
		return v;
	heddle_value *rest = heddle_value_floor(p, HEDDLE_VALUE_FLOOR_MOD, x, v->arg[1]);
	heddle_value *some = heddle_value_binary(p, HEDDLE_OP_GT, rest, heddle_value_int(p, rest->type, 0));
	return simplify_is_known(r, some, NULL) ? plus(r, rest, -1) : v;
}

/* (x + 16) mod 16 is x mod 16, and (x + 24) mod 16 with x from 0 to 7 is x + 8. */
static heddle_value *fold_turns(rewriter *r, heddle_value *v)
{
	int64_t c, n = v->kind == HEDDLE_VALUE_FLOOR_MOD && v->arg[1]->kind == HEDDLE_VALUE_INT ? v->arg[1]->i : 0;
	heddle_value *x = n > 1 ? simplify_without_constant(v->arg[0], &c) : NULL;
	if (!x || c == 0)
		return v;
	heddle_value *rest = plus(r, x, (c % n + n) % n);
	const heddle_range range = heddle_ranges_of(r->s->ranges, rest);
	if (overflows(r, rest))
		return v;
	return range.lo >= 0 && range.hi < n ? rest : c < 0 || c >= n ? heddle_value_floor(r->s->p, v->kind, rest, v->arg[1]) : v;
}

static heddle_value *fold_value(heddle_value *v, void *user)
{
	rewriter *r = user;
	if (v->kind == HEDDLE_VALUE_VARIABLE) {
		for (const binding *b = r->env; b; b = b->up)
			if (!strcmp(b->name, v->name)) {
				v = b->value;
				break;
			}
	}
	if (v->kind == HEDDLE_VALUE_SELECT && v->arg[0]->width == 1 && r->facts) {
		const heddle_value *condition = simplify_with_facts(r, v->arg[0]);
		if (condition->kind == HEDDLE_VALUE_INT)
			return v->arg[condition->i ? 1 : 2];
	}
	if (v->width != 1 || !is_integer(v->type) || v->kind == HEDDLE_VALUE_INT || v->kind == HEDDLE_VALUE_LOAD)
		return v;
	if (v->type == HEDDLE_BOOL) {
		int known = heddle_ranges_decide(r->s->ranges, v);
		if (known >= 0)
			return heddle_value_int(r->s->p, HEDDLE_BOOL, known);
		return v->kind == HEDDLE_VALUE_BINARY ? fold_comparison(r, v) : v;
	}
	if (v->type == HEDDLE_INT32 || v->type == HEDDLE_INT64) {
		heddle_range range = heddle_ranges_of(r->s->ranges, v);
		if (range.lo == range.hi && range.modulus == 0 && !(r->addresses > 0 && heddle_ranges_settled(r->s->ranges, v)))
			return heddle_value_int(r->s->p, v->type, range.lo);
	}
	if (v->kind == HEDDLE_VALUE_CAST && v->type == HEDDLE_INT64 && v->arg[0]->kind == HEDDLE_VALUE_CAST &&
	    v->arg[0]->type == HEDDLE_INT32 && v->arg[0]->arg[0]->type == HEDDLE_INT64 &&
	    heddle_range_fits(heddle_ranges_of(r->s->ranges, v->arg[0]->arg[0]), HEDDLE_INT32))
		return v->arg[0]->arg[0]; /* there and back */
	if (v->kind == HEDDLE_VALUE_FLOOR_MOD)
		v = fold_turns(r, fold_previous(r, v));
	if (v->kind == HEDDLE_VALUE_FLOOR_DIV || v->kind == HEDDLE_VALUE_FLOOR_MOD)
		return fold_division(r, v);
	if (v->kind == HEDDLE_VALUE_BINARY && (v->op == HEDDLE_OP_DIV || v->op == HEDDLE_OP_MOD))
		return fold_division(r, v);
	if (v->kind == HEDDLE_VALUE_BINARY && (v->op == HEDDLE_OP_MIN || v->op == HEDDLE_OP_MAX))
		return fold_extremum(r, v);
	if (v->kind == HEDDLE_VALUE_BINARY && (v->op == HEDDLE_OP_ADD || v->op == HEDDLE_OP_SUB) &&
	    (v->type == HEDDLE_INT32 || v->type == HEDDLE_INT64))
		return fold_sum(r, v);
	return v;
}

static void in_address(const heddle_value *v, bool begins, void *user)
{
	rewriter *r = user;
	if (v->kind == HEDDLE_VALUE_LOAD && v->buffer->role != HEDDLE_BUFFER_REGISTER && v->buffer->role != HEDDLE_BUFFER_SCALAR)
		r->addresses += begins ? 1 : -1;
}

heddle_value *simplify_value(rewriter *r, heddle_value *value)
{
	return heddle_value_map_within(r->s->p, value, fold_value, in_address, r);
}
