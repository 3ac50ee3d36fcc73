/* What a step of a loop stores and the next one reads stays in a register.
 *
 *	for t { h[t][c] = a * h[t - 1][c] + x[t][c] }
 *
 * becomes
 *
 *	last = h[-1 + first t][c]
 *	for t { next = a * last + x[t][c]; h[t][c] = next; last = next }
 *
 * so that no step waits for memory to say what the one before has just told it, and loads of several steps are under way together.  Where
 * the first step does not read it, as in t > 0 ? a * h[t - 1][c] + x[t][c] : x[t][c], that step stands before the loop.  What the rest of
 * the step reads of the element comes from the register, too; a temporary that nothing reads from memory any more is gone.
 *
 * Enters: loops in order without barriers, whose body stores to an element of global memory that moves with the loop, in every step or
 * under conditions that are the same in all of them, before any loop inside.  Leaves: every element that anything reads stored as it was.
 * Loads that come before the store and ask for what it stored a step earlier read the register, and so do those that come after it and ask
 * for what it has just stored.  Nothing else in the body stores to that element: others have another place along a dimension that the loop
 * does not move.  Without barriers no other thread may.
 * SPDX-License-Identifier: MIT
 */
#include "model/simplify_parts.h"

#include <string.h>

/* Registers of one loop: of what more would have to be kept, memory is told and asked as before. */
enum { MOST_CARRIED = 33, MOST_STORES = 64, MOST_DIMS = 8, MOST_PATH = 16, LONGEST_STEP = 1024 };

/* A store of the body, and the branches around it, from outside. */
typedef struct place {
	const heddle_node *store;
	int n_path;
	const heddle_node *branch[MOST_PATH];
	bool then[MOST_PATH];
	bool steady; /* in no loop, and the conditions around it are the same in all steps */
} place;

/* One element that goes from step to step. */
typedef struct element {
	const place *at;
	heddle_value *before[MOST_DIMS]; /* subscripts of what was stored a step earlier */
	heddle_value *now[MOST_DIMS];	 /* and of what is in this step */
	bool stored;			 /* the walk has come past the store */
	bool fails;
	int n_read;
	heddle_value *first;	/* where this holds the first step reads it; NULL: it does in any case */
	heddle_buffer *last;	/* the register */
} element;

typedef struct carrier {
	simplify *s;
	heddle_node *loop;
	bool fails;
	int n_place, n_inside;
	place place[MOST_STORES];
	const char **inside; /* what the body defines */
	int n_element;
	element element[MOST_CARRIED]; /* one more than are kept */
} carrier;

/* The same in all steps, and known before the loop. */
static bool is_steady(const carrier *c, const heddle_value *v, bool moves)
{
	bool steady = moves || !heddle_value_depends(v, c->loop->name);
	for (int k = 0; k < c->n_inside && steady; k++)
		steady = !heddle_value_depends(v, c->inside[k]);
	return steady;
}

static void define_all(carrier *c, const heddle_node *node)
{
	if (node->kind == HEDDLE_NODE_LET || node->kind == HEDDLE_NODE_FOR)
		HEDDLE_PUSH(c->s->p->arena, c->inside, c->n_inside, node->name);
	c->fails = c->fails || node->kind == HEDDLE_NODE_BARRIER || node->kind == HEDDLE_NODE_COPY || node->kind == HEDDLE_NODE_WAIT;
	for (int k = 0; k < node->n_child; k++)
		define_all(c, node->child[k]);
}

static void find_stores(carrier *c, const heddle_node *node, place around)
{
	if (node->kind == HEDDLE_NODE_STORE && simplify_is_global(node->buffer)) {
		around.store = node;
		c->fails = c->fails || c->n_place == MOST_STORES;
		if (!c->fails)
			c->place[c->n_place++] = around;
	}
	around.steady = around.steady && node->kind != HEDDLE_NODE_FOR;
	for (int k = 0; k < node->n_child; k++) {
		place in = around;
		if (node->kind == HEDDLE_NODE_IF) {
			c->fails = c->fails || in.n_path == MOST_PATH;
			if (c->fails)
				return;
			in.branch[in.n_path] = node;
			in.then[in.n_path++] = k == 0;
			in.steady = in.steady && simplify_is_pure(node->value[0]) && is_steady(c, node->value[0], false);
		}
		find_stores(c, node->child[k], in);
	}
}

/* On different sides of a branch that goes the same way in all steps. */
static bool excludes(const carrier *c, const place *a, const place *b)
{
	for (int k = 0; k < a->n_path && k < b->n_path && a->branch[k] == b->branch[k]; k++)
		if (a->then[k] != b->then[k])
			return is_steady(c, a->branch[k]->value[0], false);
	return false;
}

static int width_of(const heddle_node *store)
{
	return store->value[0]->width;
}

/* Is what the one stores and what the other stores or loads, n subscripts each, elsewhere along a dimension that no step changes? */
static bool is_apart(const carrier *c, int n, heddle_value *const *a, int width_a, heddle_value *const *b, int width_b)
{
	for (int e = 0; e < n; e++) {
		int64_t x = 0, y = 0;
		const heddle_value *of_a = simplify_without_constant(a[e], &x), *of_b = simplify_without_constant(b[e], &y);
		const bool last = e == n - 1;
		const bool constants = of_a->kind == HEDDLE_VALUE_INT && of_b->kind == HEDDLE_VALUE_INT;
		x += constants ? of_a->i : 0;
		y += constants ? of_b->i : 0;
		if ((!constants && !heddle_value_equal(of_a, of_b)) || !is_steady(c, a[e], false) || !is_steady(c, b[e], false))
			continue;
		if (last ? x >= y + width_b || y >= x + width_a : x != y)
			return true;
	}
	return false;
}

/* The value in the step that begins at `at`. */
static heddle_value *in_step(const carrier *c, heddle_value *v, heddle_value *at)
{
	binding step = {c->loop->name, at, NULL};
	rewriter r = {.s = c->s, .env = &step};
	return simplify_value(&r, v);
}

/* Can the element of this store go from step to step in a register? */
static bool begins(carrier *c, const place *at, element *out)
{
	const heddle_node *store = at->store;
	bool moves = false, can = at->steady && store->n_value - 1 <= MOST_DIMS;
	for (int e = 1; e < store->n_value && can; e++) {
		can = is_steady(c, store->value[e], true) && simplify_is_pure(store->value[e]);
		moves = moves || heddle_value_depends(store->value[e], c->loop->name);
	}
	for (int k = 0; k < c->n_place && can && moves; k++)
		can = &c->place[k] == at || c->place[k].store->buffer != store->buffer || excludes(c, at, &c->place[k]) ||
		      is_apart(c, store->n_value - 1, store->value + 1, width_of(store), c->place[k].store->value + 1,
			       width_of(c->place[k].store));
	if (!can || !moves)
		return false;
	heddle_program *p = c->s->p;
	heddle_value *t = heddle_value_variable(p, c->loop->value[0]->type, 1, c->loop->name);
	heddle_value *earlier = heddle_value_binary(p, HEDDLE_OP_SUB, t, heddle_value_int(p, t->type, c->loop->i));
	*out = (element){.at = at};
	for (int e = 1; e < store->n_value; e++) {
		out->before[e - 1] = in_step(c, store->value[e], earlier);
		out->now[e - 1] = in_step(c, store->value[e], t);
	}
	return true;
}

/* ---- what reads it ------------------------------------------------------------------------------------------------------------ */

/* A place of the walk: branches around it, and what decides that a part of a value is asked for. */
typedef struct asked {
	heddle_value *condition;
	const heddle_node *branch; /* where it is an IF's */
	bool holds;
	const struct asked *up;
} asked;

static bool is_load_of(const carrier *c, const element *x, const heddle_value *v, heddle_value *const *subscript)
{
	const heddle_node *store = x->at->store;
	rewriter r = {.s = c->s};
	if (v->kind != HEDDLE_VALUE_LOAD || v->buffer != store->buffer || v->width != width_of(store) || v->n_arg != store->n_value - 1)
		return false;
	for (int e = 0; e < v->n_arg; e++) {
		heddle_value *own = simplify_value(&r, v->arg[e]);
		if (!heddle_value_equal(own, subscript[e]) && !simplify_same_sum(own, subscript[e]))
			return false;
	}
	return true;
}

/* Where it is read. */
typedef enum standing {
	ELSEWHERE, /* it is not known whether it was stored */
	EXCLUDED,  /* where the store never is: it is another element's */
	WITHIN,	   /* inside all branches around the store */
} standing;

/* `rest`: what else is asked before it is read. */
static standing stands(const place *at, const asked *when, const asked **rest, int *n_rest)
{
	int depth = 0, met = 0;
	*n_rest = 0;
	for (const asked *a = when; a; a = a->up)
		depth += a->branch != NULL;
	for (const asked *a = when; a; a = a->up) {
		depth -= a->branch != NULL;
		if (a->branch && depth < at->n_path && heddle_value_equal(a->condition, at->branch[depth]->value[0])) {
			if (a->holds != at->then[depth])
				return EXCLUDED;
			met++;
		} else if (*n_rest < MOST_PATH) {
			rest[(*n_rest)++] = a;
		} else {
			return ELSEWHERE;
		}
	}
	return met == at->n_path ? WITHIN : ELSEWHERE;
}

/* When does the first step read it: all that is asked holds there. */
static heddle_value *in_first_step(const carrier *c, element *x, const asked **rest, int n)
{
	heddle_program *p = c->s->p;
	heddle_value *all = NULL;
	for (int k = n - 1; k >= 0; k--) {
		heddle_value *one = rest[k]->condition;
		x->fails = x->fails || !simplify_is_pure(one) || !is_steady(c, one, true);
		one = rest[k]->holds ? one : heddle_value_unary(p, HEDDLE_OP_NOT, one);
		all = all ? heddle_value_binary(p, HEDDLE_OP_AND, all, one) : one;
	}
	return all && !x->fails ? in_step(c, all, c->loop->value[0]) : NULL;
}

static heddle_value *last_of(const carrier *c, const element *x)
{
	return heddle_value_load(c->s->p, x->last, width_of(x->at->store), 0, NULL);
}

/* Meets a value: counts what is read of the elements, or (`change`) puts registers in its place. */
static heddle_value *meet_value(carrier *c, heddle_value *v, const asked *when, bool change)
{
	heddle_program *p = c->s->p;
	for (int k = 0; k < c->n_element; k++) {
		element *x = &c->element[k];
		const asked *rest[MOST_PATH];
		int n_rest = 0;
		const bool again = !x->fails && x->stored && is_load_of(c, x, v, x->now);
		const bool read = again || (!x->fails && is_load_of(c, x, v, x->before));
		const standing at = read ? stands(x->at, when, rest, &n_rest) : EXCLUDED;
		if (at == EXCLUDED || (again && at == ELSEWHERE))
			continue;
		if (change)
			return last_of(c, x);
		if (again)
			continue;
		x->fails = x->stored || at != WITHIN;
		heddle_value *first = x->fails ? NULL : in_first_step(c, x, rest, n_rest);
		if (x->n_read++ == 0)
			x->first = first;
		else
			x->first = x->first && first ? heddle_value_binary(p, HEDDLE_OP_OR, x->first, first) : NULL;
	}
	heddle_value *copy = v;
	for (int k = 0; k < v->n_arg; k++) {
		const bool selected = v->kind == HEDDLE_VALUE_SELECT && k > 0;
		const bool second = v->kind == HEDDLE_VALUE_BINARY && (v->op == HEDDLE_OP_AND || v->op == HEDDLE_OP_OR) && k > 0;
		const asked here = {v->arg[0], NULL, selected ? k == 1 : v->op == HEDDLE_OP_AND, when};
		heddle_value *arg = meet_value(c, v->arg[k], selected || second ? &here : when, change);
		if (arg == v->arg[k])
			continue;
		if (copy == v) {
			copy = HEDDLE_NEW(p->arena, heddle_value);
			*copy = *v;
			copy->arg = HEDDLE_NEW_ARRAY(p->arena, heddle_value *, v->n_arg);
			memcpy(copy->arg, v->arg, sizeof(*v->arg) * (size_t)v->n_arg);
		}
		copy->arg[k] = arg;
	}
	return copy;
}

/* `next = value; X[..] = next; last = next` in place of the store. */
static heddle_node *with_register(carrier *c, const element *x, heddle_node *store)
{
	heddle_program *p = c->s->p;
	heddle_node *block = heddle_node_block(p), *stored = simplify_node_like(p, store);
	const char *name = simplify_name(c->s, heddle_arena_printf(p->arena, "%s_new", store->buffer->name));
	heddle_value *next = heddle_value_variable(p, store->value[0]->type, width_of(store), name);
	heddle_node *let = heddle_node_let(p, name, store->value[0]);
	let->line = store->line;
	for (int k = 0; k < store->n_value; k++)
		HEDDLE_PUSH(p->arena, stored->value, stored->n_value, k ? store->value[k] : next);
	heddle_node_append(p, block, let);
	heddle_node_append(p, block, stored);
	heddle_node_append(p, block, heddle_node_store(p, x->last, 0, NULL, next));
	return block;
}

static heddle_node *meet_node(carrier *c, heddle_node *node, const asked *when, bool change)
{
	for (int k = 0; k < node->n_value; k++) {
		heddle_value *v = meet_value(c, node->value[k], when, change);
		if (change)
			node->value[k] = v;
	}
	heddle_node *out = node;
	for (int k = 0; k < c->n_element && node->kind == HEDDLE_NODE_STORE; k++) {
		element *x = &c->element[k];
		if (x->at->store != node)
			continue;
		x->stored = true;
		if (change && x->n_read && !x->fails)
			out = with_register(c, x, node);
	}
	for (int k = 0; k < node->n_child; k++) {
		const asked here = {node->kind == HEDDLE_NODE_IF ? node->value[0] : NULL, node, k == 0, when};
		heddle_node *child = meet_node(c, node->child[k], node->kind == HEDDLE_NODE_IF ? &here : when, change);
		if (change)
			node->child[k] = child;
	}
	return out;
}

/* ---- before the loop ------------------------------------------------------------------------------------------------------------ */

/* What an earlier child of the block stores there, where nothing since has changed that; it gets a name.  NULL: it is not known. */
static heddle_value *stored_before(const carrier *c, heddle_node *block, const heddle_value *load)
{
	heddle_program *p = c->s->p;
	rewriter r = {.s = c->s};
	for (int k = block->n_child - 1; k >= 0; k--) {
		heddle_node *store = block->child[k];
		if (store->kind == HEDDLE_NODE_FOR || store->kind == HEDDLE_NODE_IF || store->kind == HEDDLE_NODE_BLOCK)
			return NULL;
		if (store->kind != HEDDLE_NODE_STORE || store->buffer != load->buffer)
			continue;
		bool same = width_of(store) == load->width;
		for (int e = 0; e < load->n_arg && same; e++)
			same = heddle_value_equal(simplify_value(&r, store->value[e + 1]), load->arg[e]);
		if (!same && !is_apart(c, load->n_arg, store->value + 1, width_of(store), load->arg, load->width))
			return NULL;
		if (!same)
			continue;
		if (store->value[0]->kind != HEDDLE_VALUE_VARIABLE) {
			const char *name = simplify_name(c->s, heddle_arena_printf(p->arena, "%s_new", store->buffer->name));
			heddle_node *let = heddle_node_let(p, name, store->value[0]);
			let->line = store->line;
			store->value[0] = heddle_value_variable(p, store->value[0]->type, load->width, name);
			heddle_node_append(p, block, let);
			memmove(&block->child[k + 1], &block->child[k], sizeof(*block->child) * (size_t)(block->n_child - 1 - k));
			block->child[k] = let;
		}
		return store->value[0];
	}
	return NULL;
}

/* What the first step reads, where it reads it. */
static heddle_value *initial(const carrier *c, const element *x, heddle_node *block)
{
	heddle_program *p = c->s->p;
	const heddle_node *store = x->at->store;
	heddle_value *subscript[MOST_DIMS];
	for (int e = 0; e < store->n_value - 1; e++)
		subscript[e] = in_step(c, x->before[e], c->loop->value[0]);
	heddle_value *load = heddle_value_load(p, store->buffer, width_of(store), store->n_value - 1, subscript);
	heddle_value *when = x->first, *before = stored_before(c, block, load);
	if (before)
		return before;
	if (simplify_trips(c->loop->value[0], c->loop->value[1], c->loop->i) <= 0) {
		heddle_value *runs = heddle_value_binary(p, HEDDLE_OP_LT, c->loop->value[0], c->loop->value[1]);
		when = when ? heddle_value_binary(p, HEDDLE_OP_AND, runs, when) : runs;
	}
	for (int k = x->at->n_path - 1; k >= 0; k--) {
		heddle_value *branch = x->at->branch[k]->value[0];
		branch = x->at->then[k] ? branch : heddle_value_unary(p, HEDDLE_OP_NOT, branch);
		when = when ? heddle_value_binary(p, HEDDLE_OP_AND, branch, when) : branch;
	}
	if (!when)
		return load;
	heddle_value *zero = heddle_type_is_float(load->type) ? heddle_value_float(p, load->type, 0) : heddle_value_int(p, load->type, 0);
	rewriter r = {.s = c->s};
	return simplify_value(&r, heddle_value_select(p, when, load, load->width > 1 ? heddle_value_splat(p, zero, load->width) : zero));
}

/* Does the first step read none of them, and are there more?  So it is another one. */
static bool begins_otherwise(const carrier *c)
{
	const int64_t trips = simplify_trips(c->loop->value[0], c->loop->value[1], c->loop->i);
	bool all = trips < 0 || trips > 1;
	for (int k = 0; k < c->n_element; k++)
		all = all && c->element[k].first && c->element[k].first->kind == HEDDLE_VALUE_INT && !c->element[k].first->i;
	return all && simplify_size(c->loop->child[0]) <= LONGEST_STEP;
}

/* The first step, which gives the registers what they begin with. */
static void append_first(const carrier *c, heddle_node *block)
{
	heddle_program *p = c->s->p;
	heddle_node *loop = c->loop, *step = simplify_substitute(c->s, loop->child[0], loop->name, loop->value[0]);
	if (simplify_trips(loop->value[0], loop->value[1], loop->i) <= 0) {
		heddle_node *branch = heddle_node_if(p, heddle_value_binary(p, HEDDLE_OP_LT, loop->value[0], loop->value[1]), step, NULL);
		branch->uniform = loop->uniform;
		step = branch;
	}
	heddle_node_append(p, block, step);
	rewriter r = {.s = c->s};
	loop->value[0] = simplify_value(
		&r, heddle_value_binary(p, HEDDLE_OP_ADD, loop->value[0], heddle_value_int(p, loop->value[0]->type, loop->i)));
}

/* What stands before the loop is appended to its block.  Is there any? */
static bool carry(simplify *s, heddle_node *loop, heddle_node *block)
{
	heddle_program *p = s->p;
	carrier c = {.s = s, .loop = loop};
	define_all(&c, loop->child[0]);
	if (loop->loop != HEDDLE_LOOP_SERIAL || c.fails)
		return false;
	find_stores(&c, loop->child[0], (place){.steady = true});
	for (int k = 0; k < c.n_place && !c.fails; k++) {
		c.n_element += begins(&c, &c.place[k], &c.element[c.n_element]);
		c.fails = c.n_element == MOST_CARRIED;
	}
	if (c.fails || !c.n_element)
		return false;
	meet_node(&c, loop->child[0], NULL, false);
	int kept = 0;
	for (int k = 0; k < c.n_element; k++)
		if (c.element[k].n_read && !c.element[k].fails)
			c.element[kept++] = c.element[k];
	c.n_element = kept;
	if (!kept)
		return false;
	const bool otherwise = begins_otherwise(&c);
	for (int k = 0; k < kept; k++) {
		element *x = &c.element[k];
		const heddle_node *store = x->at->store;
		const char *wish = heddle_arena_printf(p->arena, "%s_last", store->buffer->name);
		x->last = heddle_buffer_new(p, simplify_name(s, wish), HEDDLE_BUFFER_REGISTER, store->value[0]->type, 0);
		x->last->width = width_of(store);
		x->last->of = store->buffer->name;
		x->last->comment = heddle_arena_printf(p->arena, "%s of the step before", store->buffer->name);
		x->stored = false;
		HEDDLE_PUSH(p->arena, s->carried, s->n_carried, store->buffer);
		heddle_value *first = otherwise ? NULL : initial(&c, x, block);
		heddle_node_append(p, block, heddle_node_declare(p, x->last));
		if (first)
			heddle_node_append(p, block, heddle_node_store(p, x->last, 0, NULL, first));
	}
	meet_node(&c, loop->child[0], NULL, true);
	if (otherwise)
		append_first(&c, block);
	return true;
}

static bool visit(simplify *s, heddle_node *node)
{
	heddle_node *all = heddle_node_block(s->p);
	bool any = false;
	for (int k = 0; k < node->n_child; k++) {
		any = visit(s, node->child[k]) || any;
		if (node->kind == HEDDLE_NODE_BLOCK && node->child[k]->kind == HEDDLE_NODE_FOR)
			any = carry(s, node->child[k], all) || any;
		heddle_node_append(s->p, all, node->child[k]);
	}
	node->child = all->child;
	node->n_child = all->n_child;
	return any;
}

/* Lets of what the first step does not ask for. */
static void drop_unused(heddle_node *node)
{
	int n = 0;
	for (int k = node->n_child - 1; k >= 0; k--) {
		drop_unused(node->child[k]);
		bool used = node->child[k]->kind != HEDDLE_NODE_LET;
		for (int later = k + 1; later < node->n_child && !used; later++)
			used = node->child[later] && heddle_node_depends(node->child[later], node->child[k]->name);
		if (!used)
			node->child[k] = NULL;
	}
	for (int k = 0; k < node->n_child; k++)
		if (node->child[k])
			node->child[n++] = node->child[k];
	node->n_child = n;
}

static bool loads(const heddle_node *node, const heddle_buffer *buffer)
{
	bool any = node->kind == HEDDLE_NODE_COPY && node->source == buffer;
	for (int k = 0; k < node->n_value && !any; k++)
		any = simplify_reads(node->value[k], buffer);
	for (int k = 0; k < node->n_child && !any; k++)
		any = loads(node->child[k], buffer);
	return any;
}

static void drop_stores(heddle_node *node, const heddle_buffer *buffer)
{
	int n = 0;
	for (int k = 0; k < node->n_child; k++) {
		drop_stores(node->child[k], buffer);
		if (node->child[k]->kind != HEDDLE_NODE_STORE || node->child[k]->buffer != buffer)
			node->child[n++] = node->child[k];
	}
	node->n_child = node->kind == HEDDLE_NODE_BLOCK ? n : node->n_child;
}

static int without_buffer(heddle_buffer **list, int n, const heddle_buffer *buffer)
{
	int kept = 0;
	for (int k = 0; k < n; k++)
		if (list[k] != buffer)
			list[kept++] = list[k];
	return kept;
}

/* Temporaries of this launch alone that were kept in registers and that nothing loads. */
static bool drop_temporaries(simplify *s)
{
	heddle_program *p = s->p;
	bool any = false;
	for (int k = 0; k < s->n_carried; k++) {
		const heddle_buffer *buffer = s->carried[k];
		bool alone = buffer->role == HEDDLE_BUFFER_TEMPORARY && !loads(s->launch->body, buffer);
		for (int l = 0; l < p->n_launch && alone; l++)
			for (int b = 0; b < p->launch[l]->n_buffer && alone; b++)
				alone = p->launch[l] == s->launch || p->launch[l]->buffer[b] != buffer;
		if (!alone)
			continue;
		drop_stores(s->launch->body, buffer);
		s->launch->n_buffer = without_buffer(s->launch->buffer, s->launch->n_buffer, buffer);
		s->launch->n_streamed = without_buffer(s->launch->streamed, s->launch->n_streamed, buffer);
		p->n_buffer = without_buffer(p->buffer, p->n_buffer, buffer);
		any = true;
	}
	for (int k = 0; k < p->n_buffer && any; k++)
		p->buffer[k]->position = k;
	return any;
}

void simplify_carry(simplify *s)
{
	if (!visit(s, s->launch->body))
		return;
	if (drop_temporaries(s))
		heddle_program_lay_out(s->p);
	simplify_fold(s, (rewriter){.unique = true}); /* what the first step and the others know of themselves */
	drop_unused(s->launch->body);
}
