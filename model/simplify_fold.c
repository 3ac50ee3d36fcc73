/* simplify: nodes with folded values; loops unrolled, branches decided or joined.
 * SPDX-License-Identifier: MIT
 */
#include "model/simplify_parts.h"

#include <string.h>

/* Register arrays must have constant subscripts in the end, so loops that index them may become this much longer than the
 * limit; others only this part of it: beyond, readers and compilers are better off with the loop. */
enum { REGISTER_FACTOR = 16, PLAIN_PART = 32, CALL_WEIGHT = 4, GUESSED_TRIPS = 8, MOST_FACTORS = 16 };

bool simplify_is_global(const heddle_buffer *buffer)
{
	return buffer->role != HEDDLE_BUFFER_SHARED && buffer->role != HEDDLE_BUFFER_REGISTER && buffer->role != HEDDLE_BUFFER_SCALAR;
}

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

int simplify_straight_end(const heddle_node *block, int k)
{
	for (; k < block->n_child; k++) {
		const heddle_node_kind kind = block->child[k]->kind;
		if (kind != HEDDLE_NODE_STORE && kind != HEDDLE_NODE_LET && kind != HEDDLE_NODE_COMMENT)
			break;
	}
	return k;
}

/* ---- how much a loop becomes --------------------------------------------------------------------------------------------------- */

int64_t simplify_trips(const heddle_value *lower, const heddle_value *upper, int64_t step)
{
	if (lower->kind != HEDDLE_VALUE_INT || upper->kind != HEDDLE_VALUE_INT)
		return -1;
	return upper->i <= lower->i ? 0 : (upper->i - lower->i + step - 1) / step;
}

int64_t simplify_weight(const heddle_value *v)
{
	int64_t n = v->kind == HEDDLE_VALUE_CALL ? CALL_WEIGHT * v->width : 0;
	for (int k = 0; k < v->n_arg; k++)
		n += simplify_weight(v->arg[k]);
	return n;
}

static bool is_unrolled(heddle_loop_kind kind)
{
	return kind == HEDDLE_LOOP_UNROLL || kind == HEDDLE_LOOP_WINDOW;
}

int64_t simplify_size(const heddle_node *node)
{
	int64_t n = node->kind == HEDDLE_NODE_BLOCK ? 0 : 1, t = 1;
	for (int k = 0; k < node->n_value; k++)
		n += simplify_weight(node->value[k]);
	for (int k = 0; k < node->n_child; k++)
		n += simplify_size(node->child[k]);
	if (node->kind == HEDDLE_NODE_FOR && is_unrolled(node->loop)) {
		t = simplify_trips(node->value[0], node->value[1], node->i);
		t = t < 0 ? GUESSED_TRIPS : t;
	}
	return n > INT32_MAX || t > INT32_MAX ? INT64_MAX / 4 : n * t;
}

/* Does a load of memory of that role depend on the iterator: by a subscript, of shared memory by the one along a row?  Iterations have
 * registers of their own then, or share neighbours of a row when they are written out. */
static bool indexes_in_value(const heddle_value *v, heddle_buffer_role role, const char *iterator)
{
	if (v->kind == HEDDLE_VALUE_LOAD && v->buffer->role == role)
		for (int k = role == HEDDLE_BUFFER_SHARED && v->n_arg ? v->n_arg - 1 : 0; k < v->n_arg; k++)
			if (heddle_value_depends(v->arg[k], iterator))
				return true;
	for (int k = 0; k < v->n_arg; k++)
		if (indexes_in_value(v->arg[k], role, iterator))
			return true;
	return false;
}

static bool indexes(const heddle_node *node, heddle_buffer_role role, const char *iterator)
{
	for (int k = 0; k < node->n_value; k++)
		if (indexes_in_value(node->value[k], role, iterator))
			return true;
	if (node->kind == HEDDLE_NODE_STORE && node->buffer->role == role && role == HEDDLE_BUFFER_REGISTER)
		for (int k = 1; k < node->n_value; k++)
			if (heddle_value_depends(node->value[k], iterator))
				return true;
	for (int k = 0; k < node->n_child; k++)
		if (indexes(node->child[k], role, iterator))
			return true;
	return false;
}

static bool may_unroll(const rewriter *r, const heddle_node *loop, int64_t n)
{
	int64_t size = simplify_size(loop->child[0]), limit = r->s->options->unroll_limit;
	if (n > INT32_MAX || size > INT32_MAX)
		return false;
	if (size * n <= limit / PLAIN_PART)
		return true;
	return size * n <= REGISTER_FACTOR * limit &&
	       (loop->loop == HEDDLE_LOOP_WINDOW || indexes(loop->child[0], HEDDLE_BUFFER_REGISTER, loop->name) ||
		indexes(loop->child[0], HEDDLE_BUFFER_SHARED, loop->name));
}

/* ---- nodes ------------------------------------------------------------------------------------------------------------------------ */

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
	fact *facts = r->facts;
	heddle_node *inner = out;
	int mark = heddle_ranges_mark(r->s->ranges);
	if (block->kind != HEDDLE_NODE_BLOCK) {
		simplify_emit(r, block, out);
		return;
	}
	if (simplify_declares(block)) {
		inner = simplify_node_like(r->s->p, block);
		heddle_node_append(r->s->p, out, inner);
	}
	for (int k = 0; k < block->n_child; k++)
		simplify_emit(r, block->child[k], inner);
	r->env = env;
	r->facts = facts;
	/* Lets that were flattened into `out` stay in scope of what follows there, where nothing names them. */
	heddle_ranges_unwind(r->s->ranges, mark);
}

/* As the body of a loop or branch: a block of its own, not nested in another. */
static heddle_node *emit_body(rewriter *r, const heddle_node *block)
{
	binding *env = r->env;
	fact *facts = r->facts;
	heddle_node *out = heddle_node_block(r->s->p);
	int mark = heddle_ranges_mark(r->s->ranges);
	out->line = block->line;
	if (block->kind == HEDDLE_NODE_BLOCK)
		for (int k = 0; k < block->n_child; k++)
			simplify_emit(r, block->child[k], out);
	else
		simplify_emit(r, block, out);
	r->env = env;
	r->facts = facts;
	heddle_ranges_unwind(r->s->ranges, mark);
	return out->n_child == 1 && out->child[0]->kind == HEDDLE_NODE_BLOCK ? out->child[0] : out;
}

static bool loads_from(const heddle_value *v, const heddle_node *store)
{
	if (v->kind != HEDDLE_VALUE_LOAD || v->buffer != store->buffer || v->n_arg != store->n_value - 1)
		return false;
	for (int k = 0; k < v->n_arg; k++)
		if (!heddle_value_equal(v->arg[k], store->value[k + 1]))
			return false;
	return true;
}

/* A copy that was lent and comes back as it was: declare part; part = X; X = part. */
static bool lends_for_nothing(const heddle_node *block)
{
	if (block->n_child != 3 || block->child[0]->kind != HEDDLE_NODE_DECLARE || block->child[1]->kind != HEDDLE_NODE_STORE ||
	    block->child[2]->kind != HEDDLE_NODE_STORE)
		return false;
	const heddle_node *out = block->child[1], *back = block->child[2];
	return out->buffer == block->child[0]->buffer && out->value[0]->width == back->value[0]->width && loads_from(out->value[0], back) &&
	       loads_from(back->value[0], out);
}

static bool is_empty(const heddle_node *block)
{
	if (lends_for_nothing(block))
		return true;
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

/* The loop's variable is not below its lower bound: below none of those that it is the greatest of.  What does not move ranges say. */
static void push_lower(rewriter *r, heddle_value *variable, heddle_value *lower)
{
	if (lower->kind == HEDDLE_VALUE_BINARY && lower->op == HEDDLE_OP_MAX) {
		push_lower(r, variable, lower->arg[0]);
		push_lower(r, variable, lower->arg[1]);
	} else if (lower->kind != HEDDLE_VALUE_INT) {
		simplify_push_fact(r, heddle_value_binary(r->s->p, HEDDLE_OP_LE, lower, variable), true);
	}
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

static void emit_for(rewriter *r, const heddle_node *node, heddle_node *out)
{
	simplify *s = r->s;
	heddle_value *lower = simplify_value(r, node->value[0]), *upper = simplify_value(r, node->value[1]);
	heddle_type type = lower->type;
	int64_t n = simplify_trips(lower, upper, node->i);
	binding *env = r->env;
	int mark = heddle_ranges_mark(s->ranges);
	heddle_range from = heddle_ranges_of(s->ranges, lower), to = heddle_ranges_of(s->ranges, upper);

	if (n == 0 || (to.hi <= from.lo && to.hi != INT64_MAX))
		return;
	heddle_value *runs = heddle_value_binary(s->p, HEDDLE_OP_LT, lower, upper);
	if (n < 0 && simplify_is_pure(runs) && heddle_value_is_int(simplify_with_facts(r, runs), 0))
		return;
	if (n == 1) {
		emit_iteration(r, node, type, lower->i, false, out);
		return;
	}
	if (n > 0 && r->unroll && is_unrolled(node->loop) && may_unroll(r, node, n)) {
		for (int64_t k = 0; k < n; k++)
			emit_iteration(r, node, type, lower->i + k * node->i, k > 0, out);
		return;
	}
	heddle_node *loop = simplify_node_like(s->p, node);
	heddle_value *bounds[2] = {lower, upper};
	if (r->unroll && is_unrolled(node->loop) && !indexes(node->child[0], HEDDLE_BUFFER_REGISTER, node->name))
		loop->loop = HEDDLE_LOOP_SERIAL; /* whether to unroll it is for the compiler to say */
	loop->name = own_name(r, node->name, type, 1);
	loop->value = HEDDLE_NEW_ARRAY(s->p->arena, heddle_value *, 2);
	memcpy(loop->value, bounds, sizeof(bounds));
	loop->n_value = 2;
	heddle_ranges_define(s->ranges, loop->name, heddle_ranges_loop(s->ranges, loop));
	fact *facts = r->facts;
	if (simplify_is_pure(lower) && simplify_is_pure(upper)) { /* or the body does not run */
		simplify_push_fact(r, heddle_value_binary(s->p, HEDDLE_OP_LT, lower, upper), true);
		simplify_push_fact(r, heddle_value_binary(s->p, HEDDLE_OP_LT, heddle_value_variable(s->p, type, 1, loop->name), upper), true);
		simplify_chain_facts(r);
		push_lower(r, heddle_value_variable(s->p, type, 1, loop->name), lower);
		simplify_use_facts(r);
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

/* The branch of an IF on `condition`. */
static heddle_node *emit_branch(rewriter *r, heddle_value *condition, bool holds, const heddle_node *block)
{
	fact *before = r->facts;
	int mark = heddle_ranges_mark(r->s->ranges);
	if (simplify_is_pure(condition)) {
		simplify_push_fact(r, condition, holds);
		simplify_use_facts(r);
	}
	heddle_node *out = emit_body(r, block);
	heddle_ranges_unwind(r->s->ranges, mark);
	r->facts = before;
	return out;
}

/* A conjunct is false where those before it hold; what they say stays known. */
static bool contradicts_itself(rewriter *r, heddle_value *condition)
{
	if (condition->kind == HEDDLE_VALUE_BINARY && condition->op == HEDDLE_OP_AND)
		return contradicts_itself(r, condition->arg[0]) || contradicts_itself(r, condition->arg[1]);
	if (condition->kind == HEDDLE_VALUE_BINARY && heddle_ranges_decide(r->s->ranges, condition) == 0)
		return true;
	if (heddle_value_is_int(simplify_with_facts(r, condition), 0))
		return true;
	simplify_push_fact(r, condition, true);
	simplify_chain_facts(r);
	return false;
}

static bool never_holds(rewriter *r, heddle_value *condition)
{
	int mark = heddle_ranges_mark(r->s->ranges);
	fact *facts = r->facts;
	bool never = condition->kind != HEDDLE_VALUE_INT && contradicts_itself(r, condition);
	r->facts = facts;
	heddle_ranges_unwind(r->s->ranges, mark);
	return never;
}

/* Do the other conjuncts say that `v` holds? */
static bool follows(rewriter *r, heddle_value *others, heddle_value *v)
{
	int mark = heddle_ranges_mark(r->s->ranges);
	fact *facts = r->facts;
	simplify_push_fact(r, others, true);
	bool known = simplify_is_known(r, v, NULL);
	r->facts = facts;
	heddle_ranges_unwind(r->s->ranges, mark);
	return known;
}

/* The condition without those of its conjuncts that the others say hold; NULL: all of it. */
static heddle_value *not_followed(rewriter *r, heddle_value *others, heddle_value *condition)
{
	if (follows(r, others, condition))
		return NULL;
	if (condition->kind != HEDDLE_VALUE_BINARY || condition->op != HEDDLE_OP_AND)
		return condition;
	heddle_value *first = not_followed(r, others, condition->arg[0]), *last = not_followed(r, others, condition->arg[1]);
	return first && last ? heddle_value_binary(r->s->p, HEDDLE_OP_AND, first, last) : first ? first : last;
}

/* A conjunction without those of its parts that the others say hold. */
static heddle_value *without_implied(rewriter *r, heddle_value *condition)
{
	if (condition->kind != HEDDLE_VALUE_BINARY || condition->op != HEDDLE_OP_AND || !simplify_is_pure(condition))
		return condition;
	heddle_value *first = without_implied(r, condition->arg[0]), *last = without_implied(r, condition->arg[1]);
	last = not_followed(r, first, last);
	first = last ? not_followed(r, last, first) : first;
	return first && last ? heddle_value_binary(r->s->p, HEDDLE_OP_AND, first, last) : first ? first : last;
}

static void emit_if(rewriter *r, const heddle_node *node, heddle_node *out)
{
	heddle_program *p = r->s->p;
	heddle_value *condition = simplify_with_facts(r, simplify_value(r, node->value[0]));
	if (never_holds(r, condition))
		condition = heddle_value_int(p, HEDDLE_BOOL, 0);
	condition = without_implied(r, condition);
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
	if (!simplify_join(r->s->p, out, new))
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

/* ---- what the grid says --------------------------------------------------------------------------------------------------- */

static int factors_of(heddle_value *v, heddle_value **factor, int n)
{
	if (v->kind == HEDDLE_VALUE_BINARY && v->op == HEDDLE_OP_MUL)
		return factors_of(v->arg[1], factor, factors_of(v->arg[0], factor, n));
	if (n < MOST_FACTORS)
		factor[n] = v;
	return n + 1;
}

/* Is it the factor, or, as known ones are multiplied in the grid, one of what it is the product of? */
static bool is_factor_of(const heddle_value *by, const heddle_value *factor)
{
	if (by->kind != HEDDLE_VALUE_INT || factor->kind != HEDDLE_VALUE_INT)
		return heddle_value_equal(factor, by);
	return by->i > 1 && factor->i % by->i == 0;
}

/* Takes it out of n factors, as a product factor by factor; how many are left, -1: it is none of them. */
static int take_factor(rewriter *r, heddle_value *by, heddle_value **factor, int n)
{
	int k = 0;
	simplify *s = r->s;
	by = simplify_narrow(s, simplify_value(r, by));
	while (k < n && !is_factor_of(by, factor[k]))
		k++;
	if (k < n && !heddle_value_equal(by, factor[k])) {
		factor[k] = heddle_value_int(s->p, factor[k]->type, factor[k]->i / by->i);
		return n;
	}
	if (k < n) {
		factor[k] = factor[n - 1];
		return n - 1;
	}
	const heddle_value *product = by;
	while (product->kind == HEDDLE_VALUE_CAST)
		product = product->arg[0];
	if (product->kind != HEDDLE_VALUE_BINARY || product->op != HEDDLE_OP_MUL)
		return -1;
	for (int a = 0; a < 2 && n >= 0; a++)
		n = take_factor(r, heddle_value_cast(s->p, by->type, product->arg[a]), factor, n);
	return n;
}

/* The only factor of the grid that `v` = block / a / b, a and b being the others, does not divide by: v is below it.  NULL: it
 * is not of this kind. */
static heddle_value *blocks_along(rewriter *r, heddle_value *v)
{
	simplify *s = r->s;
	heddle_value *factor[MOST_FACTORS];
	int n = factors_of(s->launch->grid, factor, 0);
	if (n > MOST_FACTORS)
		return NULL;
	for (int k = 0; k < n; k++)
		factor[k] = simplify_narrow(s, simplify_value(r, heddle_value_cast(s->p, v->type, factor[k])));
	while (v->kind == HEDDLE_VALUE_FLOOR_DIV || (v->kind == HEDDLE_VALUE_BINARY && v->op == HEDDLE_OP_DIV)) {
		n = take_factor(r, v->arg[1], factor, n);
		if (n < 0)
			return NULL;
		v = v->arg[0];
	}
	while (v->kind == HEDDLE_VALUE_CAST)
		v = v->arg[0];
	return v->kind == HEDDLE_VALUE_BLOCK && n == 1 ? factor[0] : NULL;
}

heddle_value *simplify_limit(rewriter *r, heddle_value *x, heddle_value *value)
{
	const bool floors = value->kind == HEDDLE_VALUE_FLOOR_MOD;
	const bool truncates = value->kind == HEDDLE_VALUE_BINARY && value->op == HEDDLE_OP_MOD;
	if (value->width != 1 || (value->type != HEDDLE_INT32 && value->type != HEDDLE_INT64))
		return NULL;
	if (truncates && heddle_ranges_of(r->s->ranges, value->arg[1]).lo < 1) /* x % -3 may be 2 */
		return NULL;
	heddle_value *limit = floors || truncates ? simplify_narrow(r->s, value->arg[1]) : blocks_along(r, value);
	return limit && limit->kind != HEDDLE_VALUE_INT && simplify_is_pure(limit) ? heddle_value_binary(r->s->p, HEDDLE_OP_LT, x, limit) : NULL;
}

/* The same as a fact; another of a quotient: what was divided is below the next multiple. */
static void push_limit(rewriter *r, heddle_value *x, heddle_value *value)
{
	int64_t d;
	if (value->width != 1 || (value->type != HEDDLE_INT32 && value->type != HEDDLE_INT64))
		return;
	heddle_value *divided = simplify_quotient(r, value, &d);
	if (divided && divided->kind != HEDDLE_VALUE_INT && simplify_is_pure(divided)) {
		heddle_program *p = r->s->p;
		heddle_value *multiple = heddle_value_binary(p, HEDDLE_OP_MUL, x, heddle_value_int(p, x->type, d));
		heddle_value *next = heddle_value_binary(p, HEDDLE_OP_ADD, multiple, heddle_value_int(p, x->type, d));
		simplify_push_fact(r, heddle_value_binary(p, HEDDLE_OP_LT, divided, next), true);
	}
	heddle_value *limit = simplify_limit(r, x, value);
	if (limit)
		simplify_push_fact(r, limit, true);
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
	heddle_ranges_let(s->ranges, let->name, value);
	HEDDLE_PUSH(s->p->arena, let->value, let->n_value, value);
	heddle_node_append(s->p, out, let);
	push_limit(r, heddle_value_variable(s->p, value->type, value->width, let->name), value);
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
	heddle_value *block = heddle_value_block(s->p);
	options.s = s;
	push_limit(&options, block, block);
	s->launch->body = emit_body(&options, s->launch->body);
}
