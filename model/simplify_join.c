/* simplify: the tree of conditions that stand in a row.
 *
 *	if (c) A  if (c) B				becomes	if (c) { A B }
 *	if (c) A  if (c && d) B				becomes	if (c) { A  if (d) B }
 *	if (d) A else B  if (c) { if (d) C else D }	becomes	if (d) { A  if (c) C } else { B  if (c) D }
 *
 * also where others stand between that leave each other's registers alone: what is read under a condition is read once for all that
 * stands inside of it, and vectors that are whole or not are so around everything.
 *
 * Enters: a block so far, and the branch that is to follow.  Leaves: the same statements under the same conditions; two of which one
 * takes what the other changes in the order in which they were.
 * SPDX-License-Identifier: MIT
 */
#include "model/simplify_parts.h"

bool simplify_declares(const heddle_node *block)
{
	for (int k = 0; k < block->n_child; k++)
		if (block->child[k]->kind == HEDDLE_NODE_DECLARE)
			return true;
	return false;
}

/* Append what `from` does to the block `to`; where registers are declared each stays in a scope of its own. */
static void append_all(heddle_program *p, heddle_node *to, heddle_node *from)
{
	if (simplify_declares(to)) {
		heddle_node *inner = simplify_node_like(p, to);
		inner->child = to->child;
		inner->n_child = to->n_child;
		to->child = NULL;
		to->n_child = 0;
		heddle_node_append(p, to, inner);
	}
	if (simplify_declares(from)) {
		heddle_node_append(p, to, from);
		return;
	}
	for (int k = 0; k < from->n_child; k++)
		if (from->child[k]->kind != HEDDLE_NODE_IF || !simplify_join(p, to, from->child[k]))
			heddle_node_append(p, to, from->child[k]);
}

/* Elements of an array that an access of so many members takes, along its last dimension. */
static int64_t elements_taken(const heddle_buffer *buffer, int width)
{
	return width > buffer->width ? width / buffer->width : 1;
}

/* May accesses to the array by these subscripts, of so many members each, meet in an element? */
static bool may_meet(const heddle_buffer *buffer, heddle_value *const *a, int width_a, heddle_value *const *b, int width_b)
{
	for (int k = 0; k < buffer->rank; k++) {
		const bool last = k == buffer->rank - 1;
		const int64_t of_a = last ? elements_taken(buffer, width_a) : 1, of_b = last ? elements_taken(buffer, width_b) : 1;
		if (a[k]->kind == HEDDLE_VALUE_INT && b[k]->kind == HEDDLE_VALUE_INT && (a[k]->i >= b[k]->i + of_b || b[k]->i >= a[k]->i + of_a))
			return false;
	}
	return true;
}

/* An element or vector of a register array that is taken or changed. */
typedef struct touch {
	const heddle_buffer *buffer;
	heddle_value *const *subscript;
	int width;
} touch;

/* What a node and all in it touch: many stores of another are compared with it. */
typedef struct touches {
	heddle_arena *arena;
	bool shuffles; /* other threads are asked */
	int n;
	touch *touch;
} touches;

static void add_taken(touches *t, const heddle_value *v)
{
	t->shuffles |= v->kind == HEDDLE_VALUE_SHUFFLE;
	if (v->kind == HEDDLE_VALUE_LOAD && v->buffer->role == HEDDLE_BUFFER_REGISTER)
		HEDDLE_PUSH(t->arena, t->touch, t->n, ((touch){v->buffer, v->arg, v->width}));
	for (int k = 0; k < v->n_arg; k++)
		add_taken(t, v->arg[k]);
}

static void add_touches(touches *t, const heddle_node *node)
{
	if (node->kind == HEDDLE_NODE_STORE && node->buffer->role == HEDDLE_BUFFER_REGISTER)
		HEDDLE_PUSH(t->arena, t->touch, t->n, ((touch){node->buffer, &node->value[1], node->value[0]->width}));
	for (int k = 0; k < node->n_value; k++)
		add_taken(t, node->value[k]);
	for (int k = 0; k < node->n_child; k++)
		add_touches(t, node->child[k]);
}

/* May the store change what is touched? */
static bool meets(const heddle_node *store, const touches *t)
{
	for (int k = 0; k < t->n; k++)
		if (t->touch[k].buffer == store->buffer &&
		    may_meet(store->buffer, &store->value[1], store->value[0]->width, t->touch[k].subscript, t->touch[k].width))
			return true;
	return t->shuffles;
}

/* Is the array the block's own, or that of one inside of it? */
static bool declares_inside(const heddle_node *node, const heddle_buffer *buffer)
{
	if (node->kind == HEDDLE_NODE_DECLARE && node->buffer == buffer)
		return true;
	for (int k = 0; k < node->n_child; k++)
		if (declares_inside(node->child[k], buffer))
			return true;
	return false;
}

/* Does `a` change registers only, and none that `b`, which touches these, takes or changes? */
static bool leaves(const heddle_node *a, const heddle_node *b, const touches *of_b)
{
	if (a->kind == HEDDLE_NODE_BARRIER || a->kind == HEDDLE_NODE_COPY || a->kind == HEDDLE_NODE_WAIT)
		return false;
	if (a->kind == HEDDLE_NODE_STORE && (a->buffer->role != HEDDLE_BUFFER_REGISTER || (meets(a, of_b) && !declares_inside(b, a->buffer))))
		return false;
	for (int k = 0; k < a->n_child; k++)
		if (!leaves(a->child[k], b, of_b))
			return false;
	return true;
}

static bool leave_each_other(const heddle_node *a, const heddle_node *b)
{
	touches of_a = {.arena = heddle_arena_new()}, of_b = {.arena = of_a.arena};
	add_touches(&of_a, a);
	add_touches(&of_b, b);
	const bool each = leaves(a, b, &of_b) && leaves(b, a, &of_a);
	heddle_arena_free(of_a.arena);
	return each;
}

/* So many nodes back. */
enum { MOST_PAST = 64 };

/* What may stand between branches that become one. */
static bool may_be_passed(const heddle_node *node)
{
	return node->kind == HEDDLE_NODE_IF || node->kind == HEDDLE_NODE_STORE || node->kind == HEDDLE_NODE_BLOCK || node->kind == HEDDLE_NODE_FOR;
}

/* Does the condition ask for this one, among others? */
static bool asks_for(const heddle_value *condition, const heddle_value *one)
{
	if (one->kind == HEDDLE_VALUE_BINARY && one->op == HEDDLE_OP_AND)
		return asks_for(condition, one->arg[0]) && asks_for(condition, one->arg[1]);
	if (condition->kind == HEDDLE_VALUE_BINARY && condition->op == HEDDLE_OP_AND)
		return asks_for(condition->arg[0], one) || asks_for(condition->arg[1], one);
	return heddle_value_equal(condition, one);
}

/* Do both ask for the same, in whatever order? */
static bool ask_the_same(const heddle_value *a, const heddle_value *b)
{
	return heddle_value_equal(a, b) || (simplify_is_pure(a) && simplify_is_pure(b) && asks_for(a, b) && asks_for(b, a));
}

/* The node that `test` may join, past others that have nothing to do with it; NULL: there is none. */
static heddle_node *partner(const heddle_node *out, const heddle_node *test)
{
	for (int k = out->n_child - 1; k >= 0 && k >= out->n_child - MOST_PAST; k--) {
		heddle_node *other = out->child[k];
		if (other->kind == HEDDLE_NODE_IF && other->n_child == test->n_child && ask_the_same(other->value[0], test->value[0]))
			return other;
		if (!may_be_passed(other) || !leave_each_other(other, test))
			return NULL;
	}
	return NULL;
}

/* A condition that others stand inside of, from the innermost out. */
typedef struct around {
	const heddle_node *test;
	const struct around *up;
} around;

/* `if (c) { if (d) A else B }`, the condition of `test` around `inner`, as `if (d) { if (c) A } else { if (c) B }`. */
static heddle_node *turned_out(heddle_program *p, const heddle_node *test, const heddle_node *inner)
{
	heddle_node *side[2];
	for (int k = 0; k < 2; k++) {
		heddle_node *one = heddle_node_if(p, test->value[0], inner->child[k], NULL);
		one->uniform = test->uniform;
		one->line = test->line;
		side[k] = heddle_node_block(p);
		heddle_node_append(p, side[k], one);
	}
	heddle_node *turned = heddle_node_if(p, inner->value[0], side[0], side[1]);
	turned->uniform = inner->uniform;
	turned->line = inner->line;
	return turned;
}

static void join(heddle_program *p, heddle_node *to, const heddle_node *test)
{
	for (int k = 0; k < test->n_child; k++)
		append_all(p, to->child[k], test->child[k]);
	to->uniform &= test->uniform;
}

/* Does the child of a block leave those before it alone, as they do it? */
static bool may_come_first(const heddle_node *block, int child)
{
	for (int k = 0; k < child; k++)
		if (!may_be_passed(block->child[k]) || !leave_each_other(block->child[k], block->child[child]))
			return false;
	return true;
}

/* What stands inside of `test`, which has one branch, on two branches, joins such a condition on its own, whatever other conditions of one branch are
 * around it (`up`).  What is left of it; NULL: nothing. */
static heddle_node *turn_out(heddle_program *p, heddle_node *out, heddle_node *test, const around *up)
{
	heddle_node *then = test->child[0], *left = simplify_node_like(p, then);
	const around here = {test, up};
	if (test->n_child > 1)
		return test;
	for (int k = 0; k < then->n_child; k++) {
		heddle_node *inner = then->child[k];
		const bool first = inner->kind == HEDDLE_NODE_IF && simplify_is_pure(inner->value[0]) && may_come_first(then, k);
		const heddle_node *turned = inner;
		for (const around *a = &here; a && first && inner->n_child == 2; a = a->up)
			turned = turned_out(p, a->test, turned);
		heddle_node *other = turned != inner ? partner(out, turned) : NULL;
		if (other)
			join(p, other, turned);
		else if (!first || inner->n_child == 2 || (inner = turn_out(p, out, inner, &here)))
			heddle_node_append(p, left, inner);
	}
	then->child = left->child;
	then->n_child = left->n_child;
	return then->n_child ? test : NULL;
}

/* What the condition asks for beside `known`; NULL: nothing. */
static heddle_value *asked_beside(heddle_program *p, heddle_value *condition, const heddle_value *known)
{
	if (condition->kind != HEDDLE_VALUE_BINARY || condition->op != HEDDLE_OP_AND)
		return asks_for(known, condition) ? NULL : condition;
	heddle_value *left = asked_beside(p, condition->arg[0], known), *right = asked_beside(p, condition->arg[1], known);
	return left && right ? heddle_value_binary(p, HEDDLE_OP_AND, left, right) : left ? left : right;
}

/* Is it one of several parts of a sum that stand in the text, where they do: under conditions, or with registers of its own?  A loop around a sum
 * has all of them. */
static bool is_part(const heddle_node *node)
{
	return node->kind == HEDDLE_NODE_IF || node->kind == HEDDLE_NODE_BLOCK;
}

/* Does such a node before child k of the block touch the registers that `test` does?  A sum goes on where it stands. */
static bool goes_on_before(const heddle_node *out, int k, const heddle_node *test)
{
	for (int before = k - 1; before >= 0 && before >= k - MOST_PAST; before--)
		if (is_part(out->child[before]) && !leave_each_other(out->child[before], test))
			return true;
	return false;
}

/* The node with one branch that asks for a part of what `test` asks for, where that may stand inside of it; NULL: there is none. */
static heddle_node *outer_partner(const heddle_node *out, const heddle_node *test)
{
	for (int k = out->n_child - 1; k >= 0 && k >= out->n_child - MOST_PAST; k--) {
		heddle_node *other = out->child[k];
		if (other->kind == HEDDLE_NODE_IF && other->n_child == 1 && simplify_is_pure(other->value[0]) && asks_for(test->value[0], other->value[0]))
			return goes_on_before(out, k, test) ? NULL : other;
		if (!may_be_passed(other) || !leave_each_other(other, test))
			return NULL;
	}
	return NULL;
}

bool simplify_join(heddle_program *p, heddle_node *out, heddle_node *test)
{
	if (!simplify_is_pure(test->value[0]))
		return false;
	heddle_node *last = partner(out, test);
	if (last)
		join(p, last, test);
	if (last || !turn_out(p, out, test, NULL))
		return true;
	heddle_node *outer = test->n_child == 1 ? outer_partner(out, test) : NULL;
	if (!outer)
		return false;
	heddle_value *more = asked_beside(p, test->value[0], outer->value[0]);
	heddle_node *inner = more ? heddle_node_block(p) : test->child[0]; /* the same, in another order: nothing more */
	if (more) {
		test->value[0] = more;
		heddle_node_append(p, inner, test);
	}
	outer->uniform &= test->uniform;
	append_all(p, outer->child[0], inner);
	return true;
}
