/* Rewriting of trees: substitution of variables, folding with ranges, unrolling.
 * SPDX-License-Identifier: MIT
 */
#include "model/simplify_parts.h"

#include <string.h>

/* Register arrays must have constant subscripts in the end, so loops that index them may become this much longer. */
enum { REGISTER_FACTOR = 16, GUESSED_TRIPS = 8 };

bool simplify_is_pure(const heddle_value *v)
{
	switch (v->kind) {
	case HEDDLE_VALUE_LOAD:
	case HEDDLE_VALUE_CALL:
	case HEDDLE_VALUE_SHUFFLE:
	case HEDDLE_VALUE_EXTRACT:
	case HEDDLE_VALUE_REDUCE:
		return false;
	default:
		for (int k = 0; k < v->n_arg; k++)
			if (!simplify_is_pure(v->arg[k]))
				return false;
		return true;
	}
}

heddle_node *simplify_node_like(heddle_program *p, const heddle_node *node)
{
	heddle_node *copy = HEDDLE_NEW(p->arena, heddle_node);
	*copy = *node;
	copy->n_value = copy->n_child = 0;
	copy->value = NULL;
	copy->child = NULL;
	return copy;
}

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
static heddle_value *without_constant(heddle_value *v, int64_t *c)
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
		without_constant(x->arg[k], &inner);
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
	heddle_value *product = v->arg[1], *left = without_constant(v->arg[0], &c);
	if (product->kind != HEDDLE_VALUE_BINARY || product->op != HEDDLE_OP_MUL || product->arg[1]->kind != HEDDLE_VALUE_INT)
		return v;
	heddle_value *quotient = product->arg[0];
	int64_t m = product->arg[1]->i;
	if (quotient->kind != HEDDLE_VALUE_FLOOR_DIV || quotient->arg[1]->kind != HEDDLE_VALUE_INT || m <= 1 || quotient->arg[1]->i % m)
		return v;
	int64_t d = quotient->arg[1]->i / m;
	heddle_value *e = without_constant(quotient->arg[0], &k), *e2 = left;
	if (d > 1) {
		if (left->kind != HEDDLE_VALUE_FLOOR_DIV || !heddle_value_is_int(left->arg[1], d))
			return v;
		e2 = without_constant(left->arg[0], &k2);
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
	heddle_value *x = without_constant(v, &c);
	bool divided = x->kind == HEDDLE_VALUE_FLOOR_DIV && x->arg[1]->kind == HEDDLE_VALUE_INT && x->arg[1]->i > 0;
	if (c != 0 && x->kind == HEDDLE_VALUE_BINARY && (x->op == HEDDLE_OP_MIN || x->op == HEDDLE_OP_MAX))
		return fold_into_extremum(r, v, x, c);
	if (c != 0 && x->kind == HEDDLE_VALUE_BINARY && x->op == HEDDLE_OP_SUB && x->arg[0]->kind == HEDDLE_VALUE_INT &&
	    !__builtin_add_overflow(x->arg[0]->i, c, &n) && n >= INT32_MIN && n <= INT32_MAX)
		return heddle_value_binary(p, HEDDLE_OP_SUB, heddle_value_int(p, v->type, n), x->arg[1]); /* (8 - x) + 1 */
	if (c > 0 && divided) {
		heddle_value *of = without_constant(x->arg[0], &inner);
		if (inner >= 0 || __builtin_mul_overflow(c, x->arg[1]->i, &n) || inner + n < 0 || inner + n >= x->arg[1]->i)
			return v;
		heddle_value *up = plus(r, of, inner + n);
		return overflows(r, up) ? v : heddle_value_floor(p, HEDDLE_VALUE_FLOOR_DIV, up, x->arg[1]);
	}
	if (v->op == HEDDLE_OP_SUB && v->arg[0]->kind == HEDDLE_VALUE_INT) {
		heddle_value *from = without_constant(v->arg[1], &c); /* 8 - (x + 1) */
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
		heddle_value *x = without_constant(a, &c), *y = without_constant(b, &d);
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

static bool is_known(const rewriter *r, heddle_value *v, heddle_value *also);

/* (x + n - 1) mod n is x mod n - 1 where x mod n > 0. */
static heddle_value *fold_previous(rewriter *r, heddle_value *v)
{
	heddle_program *p = r->s->p;
	int64_t c, n = v->arg[1]->kind == HEDDLE_VALUE_INT ? v->arg[1]->i : 0;
	heddle_value *x = without_constant(v->arg[0], &c);
	if (!r->facts || n <= 1 || c == 0 || (c + 1) % n)
		return v;
	heddle_value *rest = heddle_value_floor(p, HEDDLE_VALUE_FLOOR_MOD, x, v->arg[1]);
	heddle_value *some = heddle_value_binary(p, HEDDLE_OP_GT, rest, heddle_value_int(p, rest->type, 0));
	return is_known(r, some, NULL) ? plus(r, rest, -1) : v;
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
		if (range.lo == range.hi && range.modulus == 0)
			return heddle_value_int(r->s->p, v->type, range.lo);
	}
	if (v->kind == HEDDLE_VALUE_CAST && v->type == HEDDLE_INT64 && v->arg[0]->kind == HEDDLE_VALUE_CAST &&
	    v->arg[0]->type == HEDDLE_INT32 && v->arg[0]->arg[0]->type == HEDDLE_INT64 &&
	    heddle_range_fits(heddle_ranges_of(r->s->ranges, v->arg[0]->arg[0]), HEDDLE_INT32))
		return v->arg[0]->arg[0]; /* there and back */
	if (v->kind == HEDDLE_VALUE_FLOOR_MOD)
		v = fold_previous(r, v);
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

heddle_value *simplify_value(rewriter *r, heddle_value *value)
{
	return heddle_value_map(r->s->p, value, fold_value, r);
}

/* ---- how much a loop becomes --------------------------------------------------------------------------------------------------- */

static int64_t trips(const heddle_value *lower, const heddle_value *upper, int64_t step)
{
	if (lower->kind != HEDDLE_VALUE_INT || upper->kind != HEDDLE_VALUE_INT)
		return -1;
	return upper->i <= lower->i ? 0 : (upper->i - lower->i + step - 1) / step;
}

static int64_t size_when_unrolled(const heddle_node *node)
{
	int64_t n = node->kind == HEDDLE_NODE_BLOCK ? 0 : 1, t = 1;
	for (int k = 0; k < node->n_child; k++)
		n += size_when_unrolled(node->child[k]);
	if (node->kind == HEDDLE_NODE_FOR && node->loop == HEDDLE_LOOP_UNROLL) {
		t = trips(node->value[0], node->value[1], node->i);
		t = t < 0 ? GUESSED_TRIPS : t;
	}
	return n > INT32_MAX || t > INT32_MAX ? INT64_MAX / 4 : n * t;
}

static bool indexes_registers_in_value(const heddle_value *v, const char *iterator)
{
	if (v->kind == HEDDLE_VALUE_LOAD && v->buffer->role == HEDDLE_BUFFER_REGISTER)
		for (int k = 0; k < v->n_arg; k++)
			if (heddle_value_depends(v->arg[k], iterator))
				return true;
	for (int k = 0; k < v->n_arg; k++)
		if (indexes_registers_in_value(v->arg[k], iterator))
			return true;
	return false;
}

static bool indexes_registers(const heddle_node *node, const char *iterator)
{
	for (int k = 0; k < node->n_value; k++)
		if (indexes_registers_in_value(node->value[k], iterator))
			return true;
	if (node->kind == HEDDLE_NODE_STORE && node->buffer->role == HEDDLE_BUFFER_REGISTER)
		for (int k = 1; k < node->n_value; k++)
			if (heddle_value_depends(node->value[k], iterator))
				return true;
	for (int k = 0; k < node->n_child; k++)
		if (indexes_registers(node->child[k], iterator))
			return true;
	return false;
}

static bool may_unroll(const rewriter *r, const heddle_node *loop, int64_t n)
{
	int64_t size = size_when_unrolled(loop->child[0]), limit = r->s->options->unroll_limit;
	if (n > INT32_MAX || size > INT32_MAX)
		return false;
	if (size * n <= limit)
		return true;
	return size * n <= REGISTER_FACTOR * limit && indexes_registers(loop->child[0], loop->name);
}

/* ---- nodes ------------------------------------------------------------------------------------------------------------------------ */

static bool declares(const heddle_node *block)
{
	for (int k = 0; k < block->n_child; k++)
		if (block->child[k]->kind == HEDDLE_NODE_DECLARE)
			return true;
	return false;
}

static void bind(rewriter *r, const char *name, heddle_value *value)
{
	binding *b = HEDDLE_NEW(r->s->p->arena, binding);
	*b = (binding){name, value, r->env};
	r->env = b;
}

/* The children of a block, in a scope of their own when they declare something. */
static void emit_block(rewriter *r, const heddle_node *block, heddle_node *out)
{
	binding *env = r->env;
	heddle_node *inner = out;
	int mark = heddle_ranges_mark(r->s->ranges);
	if (block->kind != HEDDLE_NODE_BLOCK) {
		simplify_emit(r, block, out);
		return;
	}
	if (declares(block)) {
		inner = simplify_node_like(r->s->p, block);
		heddle_node_append(r->s->p, out, inner);
	}
	for (int k = 0; k < block->n_child; k++)
		simplify_emit(r, block->child[k], inner);
	r->env = env;
	/* Lets that were flattened into `out` stay in scope of what follows there, where nothing names them. */
	heddle_ranges_unwind(r->s->ranges, mark);
}

/* As the body of a loop or branch: a block of its own, not nested in another. */
static heddle_node *emit_body(rewriter *r, const heddle_node *block)
{
	binding *env = r->env;
	heddle_node *out = heddle_node_block(r->s->p);
	int mark = heddle_ranges_mark(r->s->ranges);
	out->line = block->line;
	if (block->kind == HEDDLE_NODE_BLOCK)
		for (int k = 0; k < block->n_child; k++)
			simplify_emit(r, block->child[k], out);
	else
		simplify_emit(r, block, out);
	r->env = env;
	heddle_ranges_unwind(r->s->ranges, mark);
	return out->n_child == 1 && out->child[0]->kind == HEDDLE_NODE_BLOCK ? out->child[0] : out;
}

static bool is_empty(const heddle_node *block)
{
	for (int k = 0; k < block->n_child; k++) {
		const heddle_node *child = block->child[k];
		bool nothing = child->kind == HEDDLE_NODE_COMMENT || child->kind == HEDDLE_NODE_LET ||
			       child->kind == HEDDLE_NODE_DECLARE || (child->kind == HEDDLE_NODE_BLOCK && is_empty(child));
		if (!nothing)
			return false;
	}
	return true;
}

/* A name as it is, or a new one in a further copy.  Code outside the scope of the old name is not touched. */
static const char *own_name(rewriter *r, const char *name, heddle_type type, int width)
{
	bool taken = r->copies > 0;
	for (int k = 0; k < r->n_seen && !taken; k++)
		taken = !strcmp(r->seen[k], name);
	if (!taken && r->unique)
		HEDDLE_PUSH(r->s->p->arena, r->seen, r->n_seen, name);
	if (!taken)
		return name;
	const char *new = simplify_name(r->s, name);
	bind(r, name, heddle_value_variable(r->s->p, type, width, new));
	return new;
}

static void emit_iteration(rewriter *r, const heddle_node *loop, heddle_type type, int64_t i, bool further, heddle_node *out)
{
	binding *env = r->env;
	r->copies += further;
	r->unrolled++;
	bind(r, loop->name, heddle_value_int(r->s->p, type, i));
	emit_block(r, loop->child[0], out);
	r->copies -= further;
	r->unrolled--;
	r->env = env;
}

static void push_fact(rewriter *r, heddle_value *condition, bool holds);
static void use_negated_facts(rewriter *r);

static void emit_for(rewriter *r, const heddle_node *node, heddle_node *out)
{
	simplify *s = r->s;
	heddle_value *lower = simplify_value(r, node->value[0]), *upper = simplify_value(r, node->value[1]);
	heddle_type type = lower->type;
	int64_t n = trips(lower, upper, node->i);
	binding *env = r->env;
	int mark = heddle_ranges_mark(s->ranges);
	heddle_range from = heddle_ranges_of(s->ranges, lower), to = heddle_ranges_of(s->ranges, upper);

	if (n == 0 || (to.hi <= from.lo && to.hi != INT64_MAX))
		return;
	if (n == 1) {
		emit_iteration(r, node, type, lower->i, false, out);
		return;
	}
	if (n > 0 && r->unroll && node->loop == HEDDLE_LOOP_UNROLL && may_unroll(r, node, n)) {
		for (int64_t k = 0; k < n; k++)
			emit_iteration(r, node, type, lower->i + k * node->i, k > 0, out);
		return;
	}
	heddle_node *loop = simplify_node_like(s->p, node);
	heddle_value *bounds[2] = {lower, upper};
	loop->name = own_name(r, node->name, type, 1);
	loop->value = HEDDLE_NEW_ARRAY(s->p->arena, heddle_value *, 2);
	memcpy(loop->value, bounds, sizeof(bounds));
	loop->n_value = 2;
	heddle_ranges_define(s->ranges, loop->name, heddle_ranges_loop(s->ranges, loop));
	fact *facts = r->facts;
	if (simplify_is_pure(lower) && simplify_is_pure(upper)) { /* or the body does not run */
		push_fact(r, heddle_value_binary(s->p, HEDDLE_OP_LT, lower, upper), true);
		push_fact(r, heddle_value_binary(s->p, HEDDLE_OP_LT, heddle_value_variable(s->p, type, 1, loop->name), upper), true);
		use_negated_facts(r);
	}
	heddle_node *body = emit_body(r, node->child[0]);
	r->facts = facts;
	r->env = env;
	heddle_ranges_unwind(s->ranges, mark);
	if (is_empty(body))
		return;
	HEDDLE_PUSH(s->p->arena, loop->child, loop->n_child, body);
	heddle_node_append(s->p, out, loop);
}

/* Append what `from` does to the block `to`; where registers are declared each stays in a scope of its own. */
static void append_all(heddle_program *p, heddle_node *to, heddle_node *from)
{
	if (declares(to)) {
		heddle_node *inner = simplify_node_like(p, to);
		inner->child = to->child;
		inner->n_child = to->n_child;
		to->child = NULL;
		to->n_child = 0;
		heddle_node_append(p, to, inner);
	}
	if (declares(from)) {
		heddle_node_append(p, to, from);
		return;
	}
	for (int k = 0; k < from->n_child; k++)
		heddle_node_append(p, to, from->child[k]);
}

/* `if (c) A  if (c) B` is `if (c) { A B }`, also with two branches each. */
static bool joins_last(rewriter *r, heddle_node *out, const heddle_node *test)
{
	heddle_node *last = out->n_child ? out->child[out->n_child - 1] : NULL;
	if (!last || last->kind != HEDDLE_NODE_IF || last->n_child != test->n_child || !simplify_is_pure(test->value[0]) ||
	    !heddle_value_equal(last->value[0], test->value[0]))
		return false;
	for (int k = 0; k < test->n_child; k++)
		append_all(r->s->p, last->child[k], test->child[k]);
	last->uniform &= test->uniform;
	return true;
}

/* ---- what branches around say ---------------------------------------------------------------------------------------------- */

/* A comparison as left + c < right. */
typedef struct less {
	heddle_value *left, *right;
	int64_t c;
} less;

/* v = a x: x, and a; 1 and v itself where there is no constant factor. */
static heddle_value *without_factor(heddle_value *v, int64_t *a)
{
	*a = 1;
	for (int side = 0; v->kind == HEDDLE_VALUE_BINARY && v->op == HEDDLE_OP_MUL && side < 2; side++)
		if (v->arg[side]->kind == HEDDLE_VALUE_INT) {
			*a = v->arg[side]->i;
			return v->arg[1 - side];
		}
	return v;
}

static int64_t floor_of(int64_t v, int64_t a)
{
	return v >= 0 ? v / a : -((-v + a - 1) / a);
}

static int64_t common_factor(int64_t a, int64_t b)
{
	while (b) {
		int64_t r = a % b;
		a = b;
		b = r;
	}
	return a < 0 ? -a : a;
}

/* g a x + c < g b y is a x + floor(c / g) < b y. */
static void divide_by_factor(heddle_program *p, less *l)
{
	int64_t a, b;
	heddle_value *x = without_factor(l->left, &a), *y = without_factor(l->right, &b);
	int64_t g = common_factor(a, b);
	if (g < 2 || l->c < INT32_MIN || l->c > INT32_MAX)
		return;
	l->left = heddle_value_binary(p, HEDDLE_OP_MUL, x, heddle_value_int(p, x->type, a / g));
	l->right = heddle_value_binary(p, HEDDLE_OP_MUL, y, heddle_value_int(p, y->type, b / g));
	l->c = floor_of(l->c, g);
}

static bool as_less(heddle_program *p, heddle_value *v, less *out)
{
	int64_t c, d;
	if (v->kind != HEDDLE_VALUE_BINARY || v->op < HEDDLE_OP_LT || v->op > HEDDLE_OP_GE || !heddle_type_is_signed(v->arg[0]->type) ||
	    heddle_type_is_float(v->arg[0]->type))
		return false;
	bool swap = v->op == HEDDLE_OP_GT || v->op == HEDDLE_OP_GE, equal = v->op == HEDDLE_OP_LE || v->op == HEDDLE_OP_GE;
	out->left = without_constant(v->arg[swap], &c);
	out->right = without_constant(v->arg[!swap], &d);
	out->c = c - d - equal;
	if (out->left->kind == HEDDLE_VALUE_INT || out->right->kind == HEDDLE_VALUE_INT) { /* constants stand in c */
		if (out->left->kind == HEDDLE_VALUE_INT && out->left->i != 0) {
			out->c += out->left->i;
			out->left = heddle_value_int(p, out->left->type, 0);
		}
		if (out->right->kind == HEDDLE_VALUE_INT && out->right->i != 0) {
			out->c -= out->right->i;
			out->right = heddle_value_int(p, out->right->type, 0);
		}
	}
	divide_by_factor(p, out);
	return true;
}

/* `known` says that `v` holds. */
static bool implies(heddle_program *p, heddle_value *known, heddle_value *v)
{
	less a, b;
	if (known->kind == HEDDLE_VALUE_BINARY && known->op == HEDDLE_OP_AND)
		return implies(p, known->arg[0], v) || implies(p, known->arg[1], v);
	if (heddle_value_equal(known, v))
		return true;
	return as_less(p, known, &a) && as_less(p, v, &b) && b.c <= a.c && heddle_value_equal(a.left, b.left) &&
	       heddle_value_equal(a.right, b.right);
}

enum { MOST_TERMS = 8 };

/* The terms of a sum into term[MOST_TERMS], its constants into *c; -1: too many. */
static int terms_of(heddle_value *v, heddle_value **term, int n, int64_t *c)
{
	if (v->kind == HEDDLE_VALUE_INT) {
		*c += v->i;
		return n;
	}
	if (v->kind == HEDDLE_VALUE_BINARY && v->op == HEDDLE_OP_SUB && v->arg[1]->kind == HEDDLE_VALUE_INT) {
		*c -= v->arg[1]->i;
		return terms_of(v->arg[0], term, n, c);
	}
	if (v->kind == HEDDLE_VALUE_BINARY && v->op == HEDDLE_OP_ADD) {
		n = terms_of(v->arg[0], term, n, c);
		return n < 0 ? n : terms_of(v->arg[1], term, n, c);
	}
	if (n == MOST_TERMS)
		return -1;
	term[n] = v;
	return n + 1;
}

/* `known` is left + c < right, `v` is left + rest + d < right: it holds when rest + d is never above c. */
static bool implies_by_bound(const rewriter *r, heddle_value *known, heddle_value *v)
{
	less a, b;
	heddle_value *of_a[MOST_TERMS], *of_b[MOST_TERMS];
	if (known->kind == HEDDLE_VALUE_BINARY && known->op == HEDDLE_OP_AND)
		return implies_by_bound(r, known->arg[0], v) || implies_by_bound(r, known->arg[1], v);
	if (!as_less(r->s->p, known, &a) || !as_less(r->s->p, v, &b) || !heddle_value_equal(a.right, b.right))
		return false;
	int n = terms_of(a.left, of_a, 0, &a.c), m = terms_of(b.left, of_b, 0, &b.c);
	if (n < 1 || m < n)
		return false;
	for (int i = 0; i < n; i++) {
		int at = 0;
		while (at < m && !heddle_value_equal(of_a[i], of_b[at]))
			at++;
		if (at == m)
			return false;
		of_b[at] = of_b[--m];
	}
	int64_t most = b.c;
	for (int i = 0; i < m; i++) {
		int64_t hi = heddle_ranges_of(r->s->ranges, of_b[i]).hi;
		if (hi > INT32_MAX || hi < INT32_MIN)
			return false;
		most += hi;
	}
	return most <= a.c;
}

/* `also`, NULL or a condition, and the facts say that all conjuncts of `v` hold. */
static bool is_known(const rewriter *r, heddle_value *v, heddle_value *also)
{
	if (v->kind == HEDDLE_VALUE_BINARY && v->op == HEDDLE_OP_AND)
		return is_known(r, v->arg[0], also) && is_known(r, v->arg[1], also);
	if (also && implies(r->s->p, also, v))
		return true;
	for (const fact *f = r->facts; f; f = f->up)
		if (f->holds && (implies(r->s->p, f->condition, v) || implies_by_bound(r, f->condition, v)))
			return true;
	return heddle_ranges_decide(r->s->ranges, v) == 1;
}

/* The one conjunct that keeps a condition from holding; NULL when there are several. */
static heddle_value *only_unknown(const rewriter *r, heddle_value *v)
{
	if (v->kind != HEDDLE_VALUE_BINARY || v->op != HEDDLE_OP_AND)
		return v;
	if (is_known(r, v->arg[0], NULL))
		return only_unknown(r, v->arg[1]);
	return is_known(r, v->arg[1], NULL) ? only_unknown(r, v->arg[0]) : NULL;
}

/* What `known` being `holds` says of left - right: it raises *lo or lowers *hi. */
static void narrow_by(heddle_program *p, heddle_value *known, bool holds, const less *v, int64_t *lo, int64_t *hi)
{
	less k;
	if (holds && known->kind == HEDDLE_VALUE_BINARY && known->op == HEDDLE_OP_AND) {
		narrow_by(p, known->arg[0], true, v, lo, hi);
		narrow_by(p, known->arg[1], true, v, lo, hi);
		return;
	}
	if (!as_less(p, known, &k))
		return;
	if (heddle_value_equal(k.left, v->right) && heddle_value_equal(k.right, v->left)) { /* the other way around */
		if (holds && k.c + 1 > *lo)
			*lo = k.c + 1;
		if (!holds && k.c < *hi)
			*hi = k.c;
		return;
	}
	if (!heddle_value_equal(k.left, v->left) || !heddle_value_equal(k.right, v->right))
		return;
	if (holds && -k.c - 1 < *hi)
		*hi = -k.c - 1;
	if (!holds && -k.c > *lo)
		*lo = -k.c;
}

/* A comparison that the facts about its two sides decide: 1, 0, or -1 for neither. */
static int decide_by_facts(const rewriter *r, heddle_value *v)
{
	less x;
	if (!as_less(r->s->p, v, &x))
		return -1;
	heddle_value *d = heddle_value_binary(r->s->p, HEDDLE_OP_SUB, x.left, x.right);
	if (heddle_ranges_overflow(r->s->ranges, d))
		return -1;
	heddle_range range = heddle_ranges_of(r->s->ranges, d);
	int64_t lo = range.lo, hi = range.hi, m = range.modulus;
	for (const fact *f = r->facts; f; f = f->up) {
		heddle_value *one = f->holds ? f->condition : only_unknown(r, f->condition);
		if (one)
			narrow_by(r->s->p, one, f->holds, &x, &lo, &hi);
	}
	if (m > 1 && lo > INT32_MIN && lo < INT32_MAX)
		lo += ((range.residue - lo) % m + m) % m;
	if (m > 1 && hi > INT32_MIN && hi < INT32_MAX)
		hi -= ((hi - range.residue) % m + m) % m;
	return hi < -x.c ? 1 : lo >= -x.c ? 0 : -1;
}

static void narrow_variables(rewriter *r, heddle_value *v, bool holds);

/* A conjunction by ranges and facts: 1, 0, or -1. */
static int decide_here(const rewriter *r, heddle_value *v)
{
	if (v->kind == HEDDLE_VALUE_BINARY && v->op == HEDDLE_OP_AND) {
		int a = decide_here(r, v->arg[0]), b = a ? decide_here(r, v->arg[1]) : 0;
		return !a || !b ? 0 : a < 0 || b < 0 ? -1 : 1;
	}
	int decided = heddle_ranges_decide(r->s->ranges, v);
	return decided >= 0 ? decided : decide_by_facts(r, v);
}

/* A fact that cannot hold beside the others: nothing comes here. */
static bool is_contradicted(const rewriter *r)
{
	for (const fact *f = r->facts; f; f = f->up)
		if (f->holds && heddle_ranges_decide(r->s->ranges, f->condition) == 0)
			return true;
	return false;
}

/* What `v` is when a conjunct of `broken` fails, whichever it is: 1, 0, or -1 when that differs or is not known; 2 when none
 * of them can fail. */
static int decide_in_each_case(rewriter *r, heddle_value *broken, heddle_value *v)
{
	if (broken->kind == HEDDLE_VALUE_BINARY && broken->op == HEDDLE_OP_AND) {
		int a = decide_in_each_case(r, broken->arg[0], v), b = a < 0 ? -1 : decide_in_each_case(r, broken->arg[1], v);
		return a == 2 ? b : b == 2 || a == b ? a : -1;
	}
	if (is_known(r, broken, NULL))
		return 2;
	fact assumed = {broken, false, r->facts};
	rewriter in_case = *r;
	in_case.facts = &assumed;
	int mark = heddle_ranges_mark(r->s->ranges);
	narrow_variables(&in_case, broken, false);
	int decided = is_contradicted(&in_case) ? 2 : decide_here(&in_case, v);
	heddle_ranges_unwind(r->s->ranges, mark);
	return decided;
}

/* The condition without what is known; constant when all is. */
static heddle_value *with_facts(rewriter *r, heddle_value *v)
{
	heddle_program *p = r->s->p;
	if (v->kind == HEDDLE_VALUE_INT || !simplify_is_pure(v))
		return v;
	for (const fact *f = r->facts; f; f = f->up)
		if (!f->holds && is_known(r, f->condition, v))
			return heddle_value_int(p, HEDDLE_BOOL, 0);
	if (is_known(r, v, NULL))
		return heddle_value_int(p, HEDDLE_BOOL, 1);
	int decided = r->facts ? decide_by_facts(r, v) : -1;
	for (const fact *f = r->facts; f && decided < 0; f = f->up)
		if (!f->holds && f->condition->kind == HEDDLE_VALUE_BINARY && f->condition->op == HEDDLE_OP_AND)
			decided = decide_in_each_case(r, f->condition, v);
	if (decided >= 0 && decided < 2)
		return heddle_value_int(p, HEDDLE_BOOL, decided);
	if (v->kind == HEDDLE_VALUE_BINARY && v->op == HEDDLE_OP_AND)
		return heddle_value_binary(p, HEDDLE_OP_AND, with_facts(r, v->arg[0]), with_facts(r, v->arg[1]));
	return v;
}

static const char *name_of(const heddle_value *x)
{
	return x->width != 1			  ? NULL
	       : x->kind == HEDDLE_VALUE_BLOCK	  ? "block"
	       : x->kind == HEDDLE_VALUE_THREAD	  ? "thread"
	       : x->kind == HEDDLE_VALUE_VARIABLE ? x->name
						  : NULL;
}

static bool is_int32(int64_t lo, int64_t hi)
{
	return lo >= INT32_MIN && hi <= INT32_MAX;
}

/* x = right, or not. */
static void narrow_by_equality(heddle_ranges *ranges, heddle_value *x, heddle_value *right_value, bool holds)
{
	heddle_range range = heddle_ranges_of(ranges, x), right = heddle_ranges_of(ranges, right_value);
	int64_t lo = INT64_MIN, hi = INT64_MAX;
	if (!name_of(x) || !is_int32(right.lo, right.hi))
		return;
	if (holds) {
		lo = right.lo;
		hi = right.hi;
	} else {
		lo = right.lo == right.hi && right.lo == range.lo ? range.lo + 1 : lo;
		hi = right.lo == right.hi && right.lo == range.hi ? range.hi - 1 : hi;
	}
	heddle_ranges_define(ranges, name_of(x), heddle_range_narrowed(range, lo, hi));
}

/* Variables whose range a comparison with something else limits: a x + c < right, left + c < a x, or x = right. */
static void narrow_variables(rewriter *r, heddle_value *v, bool holds)
{
	heddle_ranges *ranges = r->s->ranges;
	less k;
	int64_t a, b;
	if (holds && v->kind == HEDDLE_VALUE_BINARY && v->op == HEDDLE_OP_AND) {
		narrow_variables(r, v->arg[0], true);
		narrow_variables(r, v->arg[1], true);
		return;
	}
	if (v->kind == HEDDLE_VALUE_BINARY && v->op == HEDDLE_OP_EQ && heddle_type_is_signed(v->arg[0]->type) &&
	    !heddle_type_is_float(v->arg[0]->type)) {
		narrow_by_equality(ranges, v->arg[0], v->arg[1], holds);
		return;
	}
	if (!as_less(r->s->p, v, &k) || !is_int32(k.c, k.c))
		return;
	heddle_value *x = without_factor(k.left, &a), *y = without_factor(k.right, &b);
	heddle_range left = heddle_ranges_of(ranges, k.left), right = heddle_ranges_of(ranges, k.right);
	bool left_is_zero = k.left->kind == HEDDLE_VALUE_INT, right_is_zero = k.right->kind == HEDDLE_VALUE_INT;
	/* c < -m y is m y + c < 0, and -m x + c < 0 is c < m x */
	if (left_is_zero && b < 0) {
		x = y;
		a = -b;
		y = k.left;
		right = left;
	} else if (right_is_zero && a < 0) {
		y = x;
		b = -a;
		x = k.right;
		left = right;
	}
	if (name_of(x) && a > 0 && is_int32(right.lo, right.hi)) {
		int64_t most = floor_of((holds ? right.hi : right.lo) - k.c - 1, a);
		heddle_range range = heddle_ranges_of(ranges, x);
		heddle_ranges_define(ranges, name_of(x), heddle_range_narrowed(range, holds ? INT64_MIN : most + 1, holds ? most : INT64_MAX));
	}
	if (name_of(y) && b > 0 && is_int32(left.lo, left.hi)) {
		int64_t limit = floor_of((holds ? left.lo : left.hi) + k.c, b);
		heddle_range range = heddle_ranges_of(ranges, y);
		heddle_ranges_define(ranges, name_of(y), heddle_range_narrowed(range, holds ? limit + 1 : INT64_MIN, holds ? INT64_MAX : limit));
	}
}

/* A fact for what is emitted until r->facts is set back; it lives in the arena.  !(a || b) is !a and !b. */
static void push_fact(rewriter *r, heddle_value *condition, bool holds)
{
	if (condition->kind == HEDDLE_VALUE_BINARY && condition->op == (holds ? HEDDLE_OP_AND : HEDDLE_OP_OR)) {
		push_fact(r, condition->arg[0], holds);
		push_fact(r, condition->arg[1], holds);
		return;
	}
	if (holds && condition->kind == HEDDLE_VALUE_BINARY && condition->op >= HEDDLE_OP_LT && condition->op <= HEDDLE_OP_GE) {
		/* x < min(a, b): x < a and x < b; max(a, b) < x: a < x and b < x */
		bool swap = condition->op == HEDDLE_OP_GT || condition->op == HEDDLE_OP_GE;
		for (int side = 0; side < 2; side++) {
			heddle_value *x = condition->arg[side];
			if (x->kind != HEDDLE_VALUE_BINARY || x->op != (side == swap ? HEDDLE_OP_MAX : HEDDLE_OP_MIN))
				continue;
			for (int k = 0; k < 2; k++)
				push_fact(r, heddle_value_binary(r->s->p, condition->op, side ? condition->arg[0] : x->arg[k],
								 side ? x->arg[k] : condition->arg[1]), true);
		}
	}
	fact *new = HEDDLE_NEW(r->s->p->arena, fact);
	*new = (fact){condition, holds, r->facts};
	r->facts = new;
	if (holds)
		narrow_variables(r, condition, true);
}

/* What negated facts say of variables, now that more is known. */
static void use_negated_facts(rewriter *r)
{
	for (const fact *f = r->facts; f; f = f->up) {
		heddle_value *one = f->holds ? NULL : only_unknown(r, f->condition);
		if (one)
			narrow_variables(r, one, false);
	}
}

/* The branch of an IF on `condition`. */
static heddle_node *emit_branch(rewriter *r, heddle_value *condition, bool holds, const heddle_node *block)
{
	fact *before = r->facts;
	int mark = heddle_ranges_mark(r->s->ranges);
	if (simplify_is_pure(condition)) {
		push_fact(r, condition, holds);
		use_negated_facts(r);
	}
	heddle_node *out = emit_body(r, block);
	heddle_ranges_unwind(r->s->ranges, mark);
	r->facts = before;
	return out;
}

static void emit_if(rewriter *r, const heddle_node *node, heddle_node *out)
{
	heddle_program *p = r->s->p;
	heddle_value *condition = with_facts(r, simplify_value(r, node->value[0]));
	if (condition->kind == HEDDLE_VALUE_INT) {
		if (condition->i)
			emit_block(r, node->child[0], out);
		else if (node->n_child > 1)
			emit_block(r, node->child[1], out);
		return;
	}
	heddle_node *then = emit_branch(r, condition, true, node->child[0]);
	heddle_node *otherwise = node->n_child > 1 ? emit_branch(r, condition, false, node->child[1]) : NULL;
	if (otherwise && is_empty(otherwise))
		otherwise = NULL;
	if (is_empty(then)) {
		if (!otherwise)
			return;
		condition = heddle_value_unary(p, HEDDLE_OP_NOT, condition);
		then = otherwise;
		otherwise = NULL;
	}
	heddle_node *new = heddle_node_if(p, condition, then, otherwise);
	new->uniform = node->uniform;
	new->line = node->line;
	if (!joins_last(r, out, new))
		heddle_node_append(p, out, new);
}

/* Values that are as short as a name. */
static bool is_identity(const heddle_value *v)
{
	switch (v->kind) {
	case HEDDLE_VALUE_INT:
	case HEDDLE_VALUE_FLOAT:
	case HEDDLE_VALUE_VARIABLE:
	case HEDDLE_VALUE_BLOCK:
	case HEDDLE_VALUE_THREAD:
	case HEDDLE_VALUE_SIZE:
		return true;
	default:
		return false;
	}
}

static void emit_let(rewriter *r, const heddle_node *node, heddle_node *out)
{
	simplify *s = r->s;
	heddle_value *value = simplify_value(r, node->value[0]);
	bool index = value->width == 1 && (value->type == HEDDLE_INT32 || value->type == HEDDLE_INT64);
	if (is_identity(value) || ((r->inline_integers || r->unrolled) && index && simplify_is_pure(value))) {
		bind(r, node->name, value);
		return;
	}
	heddle_node *let = simplify_node_like(s->p, node);
	let->name = own_name(r, node->name, value->type, value->width);
	heddle_ranges_define(s->ranges, let->name, heddle_ranges_of(s->ranges, value));
	HEDDLE_PUSH(s->p->arena, let->value, let->n_value, value);
	heddle_node_append(s->p, out, let);
}

void simplify_emit(rewriter *r, const heddle_node *node, heddle_node *out)
{
	heddle_program *p = r->s->p;
	heddle_node *copy;
	switch (node->kind) {
	case HEDDLE_NODE_BLOCK:
		emit_block(r, node, out);
		break;
	case HEDDLE_NODE_FOR:
		emit_for(r, node, out);
		break;
	case HEDDLE_NODE_IF:
		emit_if(r, node, out);
		break;
	case HEDDLE_NODE_LET:
		emit_let(r, node, out);
		break;
	case HEDDLE_NODE_STORE:
	case HEDDLE_NODE_COPY:
		copy = simplify_node_like(p, node);
		for (int k = 0; k < node->n_value; k++)
			HEDDLE_PUSH(p->arena, copy->value, copy->n_value, simplify_value(r, node->value[k]));
		heddle_node_append(p, out, copy);
		break;
	case HEDDLE_NODE_COMMENT:
		if (r->copies)
			break;
		heddle_node_append(p, out, simplify_node_like(p, node));
		break;
	case HEDDLE_NODE_DECLARE:
	case HEDDLE_NODE_BARRIER:
	case HEDDLE_NODE_WAIT:
		heddle_node_append(p, out, simplify_node_like(p, node));
		break;
	}
}

heddle_node *simplify_substitute(simplify *s, const heddle_node *node, const char *name, heddle_value *value)
{
	rewriter r = {.s = s, .copies = 1};
	bind(&r, name, value);
	return emit_body(&r, node);
}

void simplify_fold(simplify *s, rewriter options)
{
	options.s = s;
	s->launch->body = emit_body(&options, s->launch->body);
}
