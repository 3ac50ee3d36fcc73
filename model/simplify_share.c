/* Loads of shared and global memory that several statements in a row make get a let: what is in a register is not read again.
 *
 * Within a stretch of lets, stores, conditions around them and the short loops of what is left of a vector nothing else touches memory, so
 * a load means the same until a store to its buffer.  Loads under a condition share with one that happens anyway.  Where none does, but one
 * of their conditions follows from all others, the let is under that one:
 *
 *   if (b < B) y[b] = x[b] + c[j];  if (b + 1 < B) y[b + 1] = x[b + 1] + c[j];    let c_v = b < B ? c[j] : 0; ...
 *
 * else, and where they are added to a sum but for what is known to hold, they are left to the branch that they stand in.  Those that a
 * selection leaves out share with one that happens anyway; those of register arrays cost nothing.
 * Where one of them asks for a line further on, the shared one does, for the line that is furthest.
 * SPDX-License-Identifier: MIT
 */
#include "model/simplify_parts.h"

#include <stdlib.h>
#include <string.h>

/* Loads that one stretch may share: each is looked for among all others. */
enum { MOST_SHARED = 8192 };

/* The branches around a place, from the innermost out. */
typedef struct path {
	heddle_value *condition; /* NULL: what decides is not known */
	bool holds;
	const struct path *up;
} path;

typedef struct shared_load {
	heddle_value *load;
	int first, last; /* children of the block where it stands */
	int count;
	bool open;	  /* no store to its buffer yet */
	bool sure;	  /* one of them happens in any case */
	bool either;	  /* so does one of two, on the sides of a branch */
	bool again;	  /* two of them may happen, in different branches */
	bool adds;	  /* one of them is added to a sum where its conditions hold */
	const path *when; /* one of them happens just there where this holds, and none elsewhere; NULL: not known */
	int64_t ahead;	  /* elements to the furthest line that one of them asks for */
	const char *name;
} shared_load;

typedef struct sharer {
	simplify *s;
	int n;
	shared_load *load; /* [MOST_SHARED] */
	const path *outer; /* around the block */
	const heddle_node *block, *child; /* that are looked at */
	int n_inner, inner_capacity;
	const char **inner; /* names that the child defines inside */
	bool adds;	    /* what is seen is added to a sum, under conditions */
	bool often;	    /* it is in a loop that runs more than once */
} sharer;

static bool is_memory(const heddle_buffer *buffer)
{
	return buffer->role != HEDDLE_BUFFER_REGISTER && buffer->role != HEDDLE_BUFFER_SCALAR;
}

static bool is_memory_load(const heddle_value *v)
{
	return v->kind == HEDDLE_VALUE_LOAD && is_memory(v->buffer);
}

/* A load, or a vector that is gathered by loads of one buffer. */
static bool is_shareable(const heddle_value *v)
{
	if (v->kind != HEDDLE_VALUE_BUILD)
		return is_memory_load(v);
	for (int k = 0; k < v->n_arg; k++)
		if (!is_memory_load(v->arg[k]) || v->arg[k]->buffer != v->arg[0]->buffer)
			return false;
	return true;
}

static const heddle_buffer *buffer_of(const heddle_value *load)
{
	return load->kind == HEDDLE_VALUE_BUILD ? load->arg[0]->buffer : load->buffer;
}

/* The same elements, whatever else is asked for on the way. */
static bool same_elements(const heddle_value *a, const heddle_value *b)
{
	if (a->kind != HEDDLE_VALUE_LOAD || b->kind != HEDDLE_VALUE_LOAD || a->i == b->i)
		return heddle_value_equal(a, b);
	heddle_value as_b = *a;
	as_b.i = b->i;
	return heddle_value_equal(&as_b, b);
}

static const char **grown(const char **names, int n, int *capacity)
{
	if (n < *capacity)
		return names;
	*capacity = *capacity ? 2 * *capacity : 64;
	return heddle_xrealloc(names, sizeof(*names) * (size_t)*capacity);
}

static int64_t ahead_of(const heddle_value *v)
{
	return v->kind == HEDDLE_VALUE_LOAD ? v->i : 0;
}

static bool is_on(const path *p, const path *end)
{
	for (; p; p = p->up)
		if (p == end)
			return true;
	return false;
}

static void push_facts(rewriter *r, const path *p, const path *end)
{
	if (!p || p == end)
		return;
	push_facts(r, p->up, end);
	if (p->condition)
		simplify_push_fact(r, p->condition, p->holds);
}

/* Where `known` holds, and all that is around the block, so does `wanted`, but for what is on both.  `known` may be NULL. */
static bool implies(const sharer *x, const path *known, const path *wanted)
{
	rewriter r = {.s = x->s};
	const int mark = heddle_ranges_mark(x->s->ranges);
	bool all = true;
	push_facts(&r, x->outer, NULL);
	push_facts(&r, known, NULL);
	for (; wanted && !is_on(known, wanted) && all; wanted = wanted->up)
		all = wanted->condition && wanted->holds && simplify_is_known(&r, wanted->condition, NULL);
	heddle_ranges_unwind(x->s->ranges, mark);
	return all;
}

static const path *new_path(const sharer *x, heddle_value *condition, bool holds, const path *up)
{
	path *p = HEDDLE_NEW(x->s->p->arena, path);
	*p = (path){condition, holds, up};
	return p;
}

/* The path without the branch `out`. */
static const path *without(const sharer *x, const path *p, const path *out)
{
	return p == out ? p->up : new_path(x, p->condition, p->holds, without(x, p->up, out));
}

/* Where the way to `other` leaves the one to `one` by a branch's other side; NULL: nowhere. */
static const path *other_side(const path *one, const path *other)
{
	for (; one; one = one->up)
		for (const path *p = other; p; p = p->up)
			if (p->condition == one->condition && p->up == one->up && p->holds != one->holds)
				return p;
	return NULL;
}

/* One side of a branch, and something more on the other: where that follows from the first side it is what decides, `*always`: nothing does.  NULL: so
 * it is, or it is another. */
static const path *of_both_sides(const sharer *x, const path *one, const path *other, const path *side, bool *always)
{
	if (side->condition != one->condition || side->up != one->up)
		return NULL;
	const path *both = without(x, other, side);
	*always = !both;
	return both && implies(x, one, both) ? both : NULL;
}

static bool is_known_path(const path *p)
{
	for (; p; p = p->up)
		if (!p->condition)
			return false;
	return true;
}

/* One more of them happens where `when` holds. */
static void meet(const sharer *x, shared_load *l, const path *when, int at)
{
	l->sure |= !when;
	if (l->either)
		l->again |= at > l->last;
	if (l->sure || !l->when || when == l->when)
		return;
	const path *side = other_side(l->when, when);
	l->again |= !side && at > l->last; /* those of one child share inside it */
	if (!is_known_path(when))
		l->when = NULL;
	else if (side)
		l->when = of_both_sides(x, l->when, when, side, &l->either);
	else if (!implies(x, when, l->when))
		l->when = implies(x, l->when, when) ? when : NULL;
}

static bool seen_before(sharer *x, const heddle_value *v, int at, const path *when)
{
	for (int k = 0; k < x->n; k++) {
		shared_load *l = &x->load[k];
		if (!l->open || !same_elements(l->load, v))
			continue;
		l->count++;
		l->adds |= x->adds;
		l->ahead = ahead_of(v) > l->ahead ? ahead_of(v) : l->ahead;
		meet(x, l, when, at);
		l->last = at;
		return true;
	}
	return false;
}

bool simplify_stores_to(const heddle_node *node, const heddle_buffer *buffer)
{
	if (node->kind == HEDDLE_NODE_STORE && node->buffer == buffer)
		return true;
	for (int k = 0; k < node->n_child; k++)
		if (simplify_stores_to(node->child[k], buffer))
			return true;
	return false;
}

/* Is the load's buffer changed somewhere in the branches that are looked at? */
static bool stores_inside(const sharer *x, const heddle_value *load)
{
	return x->child->n_child > 0 && simplify_stores_to(x->child, buffer_of(load));
}

static bool is_inner(const sharer *x, const heddle_value *v)
{
	for (int k = 0; k < x->n_inner; k++)
		if (heddle_value_depends(v, x->inner[k]))
			return true;
	return false;
}

/* Operands that are computed whenever the value is. */
static int sure_operands(const heddle_value *v)
{
	const bool decides = v->kind == HEDDLE_VALUE_SELECT ||
			     (v->kind == HEDDLE_VALUE_BINARY && (v->op == HEDDLE_OP_AND || v->op == HEDDLE_OP_OR));
	return decides ? 1 : v->n_arg;
}

/* Loads that may not happen, of what a selection, && and || leave out, use one that does. */
static void see_unsure(sharer *x, const heddle_value *v, int at)
{
	const bool shareable = is_shareable(v) && !stores_inside(x, v);
	for (int k = 0; k < x->n && shareable; k++)
		if (x->load[k].open && x->load[k].sure && same_elements(x->load[k].load, v)) {
			x->load[k].count++;
			x->load[k].last = at;
			return;
		}
	for (int k = 0; k < v->n_arg; k++)
		see_unsure(x, v->arg[k], at);
}

/* What is inside a load that is made again is not counted again: the whole gets the name. */
static void see(sharer *x, heddle_value *v, int at, const path *when)
{
	const bool shareable = is_shareable(v) && !is_inner(x, v) && !stores_inside(x, v);
	if (shareable && seen_before(x, v, at, when))
		return;
	for (int k = 0; k < sure_operands(v); k++)
		see(x, v->arg[k], at, when);
	for (int k = sure_operands(v); k < v->n_arg; k++)
		see_unsure(x, v->arg[k], at);
	if (shareable && x->n < MOST_SHARED)
		x->load[x->n++] = (shared_load){.load = v, .first = at, .last = at, .count = x->often ? 2 : 1, .open = true, .sure = !when, .adds = x->adds,
						   .when = is_known_path(when) ? when : NULL, .ahead = ahead_of(v)};
}

static void close_buffer(sharer *x, const heddle_buffer *buffer)
{
	for (int k = 0; k < x->n; k++)
		if (buffer_of(x->load[k].load) == buffer)
			x->load[k].open = false;
}

/* The value as a condition that can be asked before the child; NULL: it cannot. */
static heddle_value *askable(const sharer *x, heddle_value *v)
{
	return simplify_is_pure(v) && !is_inner(x, v) ? v : NULL;
}

/* A sum that goes on in a register.  To give it a zero where there is nothing to add would ask its condition twice. */
static bool goes_on(const heddle_node *node)
{
	return node->kind == HEDDLE_NODE_STORE && node->buffer->role == HEDDLE_BUFFER_REGISTER && simplify_reads(node->value[0], node->buffer);
}

static void see_node(sharer *x, const heddle_node *node, int at, const path *when)
{
	x->adds = when && goes_on(node);
	for (int v = 0; v < node->n_value; v++)
		see(x, node->value[v], at, when);
	x->adds = false;
	if (node->kind == HEDDLE_NODE_FOR || (node != x->child && node->kind == HEDDLE_NODE_LET)) {
		x->inner = grown(x->inner, x->n_inner, &x->inner_capacity);
		x->inner[x->n_inner++] = node->name;
	}
	if (node->kind == HEDDLE_NODE_FOR && simplify_trips(node->value[0], node->value[1], node->i) <= 0)
		when = new_path(x, askable(x, heddle_value_binary(x->s->p, HEDDLE_OP_LT, node->value[0], node->value[1])), true, when);
	heddle_value *condition = node->kind == HEDDLE_NODE_IF ? askable(x, node->value[0]) : NULL;
	const bool often = x->often;
	x->often = often || (node->kind == HEDDLE_NODE_FOR && simplify_trips(node->value[0], node->value[1], node->i) > 1);
	for (int k = 0; k < node->n_child; k++)
		see_node(x, node->child[k], at, node->kind == HEDDLE_NODE_IF ? new_path(x, condition, k == 0, when) : when);
	x->often = often;
	if (node->kind == HEDDLE_NODE_STORE)
		close_buffer(x, node->buffer);
}

/* Does the path need a name that the block defines at or after child `from`? */
static bool needs_later(const sharer *x, const path *p, int from)
{
	for (; p; p = p->up)
		for (int k = from; k < x->block->n_child; k++)
			if (x->block->child[k]->kind == HEDDLE_NODE_LET && heddle_value_depends(p->condition, x->block->child[k]->name))
				return true;
	return false;
}

static bool is_shared(const sharer *x, const shared_load *l)
{
	if (l->count < 2 || l->sure)
		return l->count > 1;
	if (l->either)
		return l->again;
	return l->again && l->when && l->load->type != HEDDLE_BOOL && !needs_later(x, l->when, l->first) &&
	       (!l->adds || implies(x, NULL, l->when));
}

/* A load whose subscripts hold a let of the stretch is in scope from that let on: its first use is after it.  `sure`: the value is
 * computed whenever the statement runs, as only those are that count as met. */
static heddle_value *with_name(sharer *x, heddle_value *v, int at, bool sure)
{
	heddle_value *copy = NULL;
	if (is_shareable(v))
		for (int k = 0; k < x->n; k++) {
			const shared_load *l = &x->load[k];
			if (l->name && (sure || l->sure) && l->first <= at && at <= l->last && same_elements(l->load, v))
				return heddle_value_variable(x->s->p, v->type, v->width, l->name);
		}
	for (int k = 0; k < v->n_arg; k++) {
		heddle_value *arg = with_name(x, v->arg[k], at, sure && k < sure_operands(v));
		if (arg == v->arg[k])
			continue;
		if (!copy) {
			copy = HEDDLE_NEW(x->s->p->arena, heddle_value);
			*copy = *v;
			copy->arg = HEDDLE_NEW_ARRAY(x->s->p->arena, heddle_value *, v->n_arg);
			memcpy(copy->arg, v->arg, sizeof(*v->arg) * (size_t)v->n_arg);
		}
		copy->arg[k] = arg;
	}
	return copy ? copy : v;
}

static void name_loads(sharer *x, heddle_node *node, int at)
{
	for (int v = 0; v < node->n_value; v++)
		node->value[v] = with_name(x, node->value[v], at, true);
	for (int k = 0; k < node->n_child; k++)
		name_loads(x, node->child[k], at);
}

/* The load where it happens, else nothing; of the conditions those that the block's own do not say. */
static heddle_value *guarded(const sharer *x, const shared_load *l, heddle_value *load)
{
	heddle_program *p = x->s->p;
	heddle_value *condition = NULL;
	for (const path *when = l->sure ? NULL : l->when; when; when = when->up) {
		const path alone = {when->condition, when->holds, NULL};
		if (implies(x, NULL, &alone))
			continue;
		heddle_value *one = when->holds ? when->condition : heddle_value_unary(p, HEDDLE_OP_NOT, when->condition);
		condition = condition ? heddle_value_binary(p, HEDDLE_OP_AND, one, condition) : one;
	}
	if (!condition)
		return load;
	heddle_value *zero = heddle_type_is_float(load->type) ? heddle_value_float(p, load->type, 0) : heddle_value_int(p, load->type, 0);
	return heddle_value_select(p, condition, load, load->width > 1 ? heddle_value_splat(p, zero, load->width) : zero);
}

/* Children from .. to of the block, with their shared loads in lets, appended to `out`. */
static void share_stretch(sharer *x, int from, int to, heddle_node *out)
{
	heddle_program *p = x->s->p;
	x->n = 0;
	for (int k = from; k < to; k++) {
		const heddle_node *child = x->block->child[k];
		x->child = child;
		x->n_inner = 0;
		see_node(x, child, k, NULL);
		if (child->kind == HEDDLE_NODE_LET)
			heddle_ranges_let(x->s->ranges, child->name, child->value[0]);
	}
	for (int k = 0; k < x->n; k++)
		if (is_shared(x, &x->load[k]))
			x->load[k].name = simplify_name(x->s, heddle_arena_printf(p->arena, "%s_v", buffer_of(x->load[k].load)->name));
	for (int k = from; k < to; k++) {
		heddle_node *node = x->block->child[k];
		/* Inner loads were seen before those that they are subscripts of, so the lets are in order. */
		for (int l = 0; l < x->n; l++) {
			shared_load *s = &x->load[l];
			if (!s->name || s->first != k)
				continue;
			heddle_value *load = HEDDLE_NEW(p->arena, heddle_value);
			*load = *s->load;
			if (load->kind == HEDDLE_VALUE_LOAD)
				load->i = s->ahead;
			load->arg = HEDDLE_NEW_ARRAY(p->arena, heddle_value *, load->n_arg ? load->n_arg : 1);
			for (int a = 0; a < load->n_arg; a++)
				load->arg[a] = with_name(x, s->load->arg[a], k, true);
			heddle_node *let = heddle_node_let(p, s->name, guarded(x, s, load));
			let->line = node->line;
			heddle_node_append(p, out, let);
		}
		name_loads(x, node, k);
		heddle_node_append(p, out, node);
	}
}

/* A loop over what is left of a vector: of a length that is not known, but short. */
static bool is_rest(const sharer *x, const heddle_node *node)
{
	enum { MOST_MEMBERS = 16 };
	if (node->kind != HEDDLE_NODE_FOR || simplify_trips(node->value[0], node->value[1], node->i) >= 0)
		return false;
	const heddle_range from = heddle_ranges_of(x->s->ranges, node->value[0]), to = heddle_ranges_of(x->s->ranges, node->value[1]);
	return from.lo > INT64_MIN / 2 && to.hi < INT64_MAX / 2 && to.hi - from.lo <= MOST_MEMBERS;
}

/* Lets and stores, loops of such over what is left of a vector, and conditions around them; inside of these other loops and arrays, too. */
static bool is_straight(const sharer *x, const heddle_node *node, bool inside)
{
	const bool left = is_rest(x, node) || (inside && (node->kind == HEDDLE_NODE_FOR || node->kind == HEDDLE_NODE_DECLARE || node->kind == HEDDLE_NODE_COMMENT));
	if (node->kind != HEDDLE_NODE_LET && node->kind != HEDDLE_NODE_STORE && node->kind != HEDDLE_NODE_IF && node->kind != HEDDLE_NODE_BLOCK && !left)
		return false;
	for (int k = 0; k < node->n_child; k++)
		if (node->kind == HEDDLE_NODE_FOR ? simplify_straight_end(node->child[k], 0) < node->child[k]->n_child : !is_straight(x, node->child[k], true))
			return false;
	return true;
}

static heddle_node *share(sharer *x, heddle_node *node);

static heddle_node *share_children(sharer *x, heddle_node *node)
{
	const path *outer = x->outer;
	for (int k = 0; k < node->n_child; k++) {
		const bool pure = node->kind == HEDDLE_NODE_IF && simplify_is_pure(node->value[0]);
		if (pure)
			x->outer = new_path(x, node->value[0], k == 0, outer);
		if (node->kind == HEDDLE_NODE_FOR) {
			heddle_ranges_define(x->s->ranges, node->name, heddle_ranges_loop(x->s->ranges, node));
			heddle_value *i = heddle_value_variable(x->s->p, node->value[0]->type, 1, node->name);
			x->outer = new_path(x, heddle_value_binary(x->s->p, HEDDLE_OP_LT, i, node->value[1]), true, outer);
			if (node->value[0]->kind != HEDDLE_VALUE_INT) /* ranges say what does not move */
				x->outer = new_path(x, heddle_value_binary(x->s->p, HEDDLE_OP_LE, node->value[0], i), true, x->outer);
		}
		node->child[k] = share(x, node->child[k]);
		x->outer = outer;
	}
	return node;
}

/* `v`, which stands for the value, is below what that says. */
static void know_limit(sharer *x, heddle_value *v, heddle_value *value)
{
	rewriter r = {.s = x->s};
	heddle_value *limit = simplify_limit(&r, v, value);
	if (limit)
		x->outer = new_path(x, limit, true, x->outer);
}

static heddle_node *share(sharer *x, heddle_node *node)
{
	const int mark = heddle_ranges_mark(x->s->ranges);
	const path *outer = x->outer;
	heddle_node *out = node;
	if (node->kind != HEDDLE_NODE_BLOCK) {
		share_children(x, node);
		heddle_ranges_unwind(x->s->ranges, mark);
		return out;
	}
	out = simplify_node_like(x->s->p, node);
	for (int k = 0; k < node->n_child; k++) { /* a remainder is below what it is one of, and a block below how many there are */
		const heddle_node *let = node->child[k];
		if (let->kind == HEDDLE_NODE_LET)
			know_limit(x, heddle_value_variable(x->s->p, let->value[0]->type, let->value[0]->width, let->name), let->value[0]);
	}
	for (int k = 0; k < node->n_child;) {
		int end = k;
		while (end < node->n_child && is_straight(x, node->child[end], false))
			end++;
		if (end > k) {
			x->block = node;
			share_stretch(x, k, end, out);
			k = end;
		} else {
			heddle_node_append(x->s->p, out, node->child[k++]);
		}
	}
	for (int k = 0; k < out->n_child; k++)
		out->child[k] = share(x, out->child[k]);
	x->outer = outer;
	heddle_ranges_unwind(x->s->ranges, mark);
	return out;
}

void simplify_share(simplify *s)
{
	sharer x = {.s = s, .load = heddle_xalloc(sizeof(shared_load) * MOST_SHARED)};
	heddle_value *block = heddle_value_block(s->p);
	know_limit(&x, block, block);
	s->launch->body = share(&x, s->launch->body);
	free(x.load);
	free(x.inner);
}
