/* Tiles that are filled a step ahead: what the next step of a loop puts into shared memory is loaded into registers while this step
 * computes, so that memory's latency passes meanwhile.
 *
 *	for k { tile = load(k); barrier; compute; barrier }
 *
 * becomes
 *
 *	next = load(0)
 *	for k { tile = next; barrier; if (there is a next step) next = load(k + 1); compute; barrier }
 *
 * Enters: loops whose body fills tiles marked `early` up to its first barrier and ends with a barrier.  Leaves: the same elements
 * loaded, each once, by the same threads; what is stored to a tile, and when, is as it was.  A loop with anything else before its
 * first barrier stays as it is.
 * SPDX-License-Identifier: MIT
 */
#include "model/simplify_parts.h"

#include <string.h>

typedef struct parting {
	simplify *s;
	heddle_node *declared; /* block: the registers; NULL: it is only asked whether it can be done */
	int n_loaded;
	bool fails;	       /* something before the barrier is no fill */
	int n_let;	       /* those that hold what is loaded now */
	const char **let;
} parting;

/* Does it read global memory, or (`near`) memory that the loop changes? */
static bool reads(const heddle_value *v, bool near)
{
	if (v->kind == HEDDLE_VALUE_LOAD && v->buffer->role != HEDDLE_BUFFER_SCALAR && simplify_is_global(v->buffer) != near)
		return true;
	for (int k = 0; k < v->n_arg; k++)
		if (reads(v->arg[k], near))
			return true;
	return false;
}

/* Does it depend on what is loaded before the barrier? */
static bool uses_loaded(const parting *p, const heddle_value *v)
{
	if (reads(v, false))
		return true;
	for (int k = 0; k < p->n_let; k++)
		if (heddle_value_depends(v, p->let[k]))
			return true;
	return false;
}

/* Does the loop store to what the value reads? */
static bool changes(const heddle_node *loop, const heddle_value *v)
{
	if (v->kind == HEDDLE_VALUE_LOAD && simplify_stores_to(loop, v->buffer))
		return true;
	for (int k = 0; k < v->n_arg; k++)
		if (changes(loop, v->arg[k]))
			return true;
	return false;
}

/* A register of its own for `value`, set in `loads`; what reads it. */
static heddle_value *in_register(parting *p, heddle_value *value, const heddle_buffer *tile, heddle_node *loads)
{
	heddle_program *program = p->s->p;
	p->n_loaded++;
	if (!p->declared)
		return value;
	const char *wish = heddle_arena_printf(program->arena, "%s_next", tile->of ? tile->of : tile->name);
	heddle_buffer *next = heddle_buffer_new(program, simplify_name(p->s, wish), HEDDLE_BUFFER_REGISTER, value->type, 0);
	next->width = value->width;
	next->of = tile->of;
	next->comment = heddle_arena_printf(program->arena, "what the next step puts into %s", tile->name);
	heddle_node_append(program, p->declared, heddle_node_declare(program, next));
	heddle_node_append(program, loads, heddle_node_store(program, next, 0, NULL, value));
	return heddle_value_load(program, next, value->width, 0, NULL);
}

/* The first tile that is stored to in what follows child k: whose value a let there holds. */
static const heddle_buffer *tile_after(const heddle_node *block, int k)
{
	for (; k < block->n_child; k++) {
		if (block->child[k]->kind == HEDDLE_NODE_STORE)
			return block->child[k]->buffer;
		for (int c = 0; c < block->child[k]->n_child; c++) {
			const heddle_buffer *tile = tile_after(block->child[k]->child[c], 0);
			if (tile)
				return tile;
		}
	}
	return NULL;
}

/* Children [from, to) of the block: what loads is appended to `loads`, what stores to `stores`. */
static void part(parting *p, const heddle_node *loop, const heddle_node *block, int from, int to, heddle_node *loads, heddle_node *stores)
{
	heddle_program *program = p->s->p;
	for (int k = from; k < to && !p->fails; k++) {
		heddle_node *node = block->child[k], *rest;
		const heddle_buffer *tile = tile_after(block, k);
		for (int v = 0; v < node->n_value; v++)
			p->fails = p->fails || reads(node->value[v], true) || changes(loop, node->value[v]);
		switch (node->kind) {
		case HEDDLE_NODE_COMMENT:
			heddle_node_append(program, stores, node);
			break;
		case HEDDLE_NODE_LET:
			if (tile && reads(node->value[0], false)) {
				rest = simplify_node_like(program, node);
				HEDDLE_PUSH(program->arena, rest->value, rest->n_value, in_register(p, node->value[0], tile, loads));
				heddle_node_append(program, stores, rest);
				HEDDLE_PUSH(program->arena, p->let, p->n_let, node->name);
				break;
			}
			p->fails = p->fails || uses_loaded(p, node->value[0]);
			heddle_node_append(program, loads, node);
			heddle_node_append(program, stores, node);
			break;
		case HEDDLE_NODE_STORE:
			p->fails = p->fails || node->buffer->role != HEDDLE_BUFFER_SHARED || !node->buffer->early;
			for (int v = 1; v < node->n_value; v++)
				p->fails = p->fails || uses_loaded(p, node->value[v]);
			rest = node;
			if (!p->fails && reads(node->value[0], false)) {
				rest = simplify_node_like(program, node);
				HEDDLE_PUSH(program->arena, rest->value, rest->n_value, in_register(p, node->value[0], node->buffer, loads));
				for (int v = 1; v < node->n_value; v++)
					HEDDLE_PUSH(program->arena, rest->value, rest->n_value, node->value[v]);
			}
			heddle_node_append(program, stores, rest);
			break;
		case HEDDLE_NODE_IF: {
			heddle_node *load = simplify_node_like(program, node);
			rest = simplify_node_like(program, node);
			p->fails = p->fails || uses_loaded(p, node->value[0]);
			HEDDLE_PUSH(program->arena, load->value, load->n_value, node->value[0]);
			HEDDLE_PUSH(program->arena, rest->value, rest->n_value, node->value[0]);
			for (int c = 0; c < node->n_child; c++) {
				heddle_node *a = heddle_node_block(program), *b = heddle_node_block(program);
				part(p, loop, node->child[c], 0, node->child[c]->n_child, a, b);
				HEDDLE_PUSH(program->arena, load->child, load->n_child, a);
				HEDDLE_PUSH(program->arena, rest->child, rest->n_child, b);
			}
			heddle_node_append(program, loads, load);
			heddle_node_append(program, stores, rest);
			break;
		}
		default:
			p->fails = true;
		}
	}
}

/* The loads of the step that begins at `at`, where `there` is one (NULL: there is). */
static void append_loads(simplify *s, heddle_node *to, const heddle_node *loads, const heddle_node *loop, heddle_value *at,
			 heddle_value *there)
{
	heddle_node *step = simplify_substitute(s, loads, loop->name, at);
	if (there) {
		heddle_node *branch = heddle_node_if(s->p, there, step, NULL);
		branch->uniform = loop->uniform;
		heddle_node_append(s->p, to, branch);
		return;
	}
	for (int k = 0; k < step->n_child; k++)
		heddle_node_append(s->p, to, step->child[k]);
}

/* What stands in the loop's place; NULL: it stays. */
static heddle_node *load_ahead(simplify *s, const heddle_node *loop)
{
	heddle_program *program = s->p;
	const heddle_node *body = loop->child[0];
	const int n = body->n_child;
	int first = 0;
	while (first < n && body->child[first]->kind != HEDDLE_NODE_BARRIER)
		first++;
	if (loop->loop != HEDDLE_LOOP_SERIAL || first == 0 || first + 1 >= n || body->child[n - 1]->kind != HEDDLE_NODE_BARRIER)
		return NULL;
	parting can = {.s = s}, p = {.s = s, .declared = heddle_node_block(program)};
	heddle_node *loads = heddle_node_block(program), *stores = heddle_node_block(program);
	part(&can, loop, body, 0, first, heddle_node_block(program), heddle_node_block(program));
	for (int k = 0; k < can.n_let; k++)
		for (int c = first; c < n; c++)
			can.fails = can.fails || heddle_node_depends(body->child[c], can.let[k]);
	if (can.fails || !can.n_loaded)
		return NULL;
	part(&p, loop, body, 0, first, loads, stores);

	heddle_value *at = heddle_value_variable(program, loop->value[0]->type, 1, loop->name);
	heddle_value *next = heddle_value_binary(program, HEDDLE_OP_ADD, at, heddle_value_int(program, at->type, loop->i));
	heddle_value *begins = heddle_value_binary(program, HEDDLE_OP_LT, loop->value[0], loop->value[1]);
	heddle_value *goes_on = heddle_value_binary(program, HEDDLE_OP_LT, next, loop->value[1]);
	heddle_node *out = heddle_node_block(program), *inner = heddle_node_block(program);
	for (int k = 0; k < p.declared->n_child; k++)
		heddle_node_append(program, out, p.declared->child[k]);
	const int64_t trips = simplify_trips(loop->value[0], loop->value[1], loop->i);
	append_loads(s, out, loads, loop, loop->value[0], trips > 0 ? NULL : begins);
	for (int k = 0; k < stores->n_child; k++)
		heddle_node_append(program, inner, stores->child[k]);
	heddle_node_append(program, inner, body->child[first]);
	append_loads(s, inner, loads, loop, next, goes_on);
	for (int k = first + 1; k < n; k++)
		heddle_node_append(program, inner, body->child[k]);
	heddle_node *turned = simplify_node_like(program, loop);
	for (int k = 0; k < loop->n_value; k++)
		HEDDLE_PUSH(program->arena, turned->value, turned->n_value, loop->value[k]);
	HEDDLE_PUSH(program->arena, turned->child, turned->n_child, inner);
	heddle_node_append(program, out, turned);
	return out;
}

/* A loop in a block is replaced by nodes of the same block. */
static void visit(simplify *s, heddle_node *node)
{
	heddle_node **child = NULL;
	int n = 0;
	for (int k = 0; k < node->n_child; k++) {
		visit(s, node->child[k]);
		heddle_node *turned = node->child[k]->kind == HEDDLE_NODE_FOR ? load_ahead(s, node->child[k]) : NULL;
		if (turned && node->kind == HEDDLE_NODE_BLOCK)
			for (int c = 0; c < turned->n_child; c++)
				HEDDLE_PUSH(s->p->arena, child, n, turned->child[c]);
		else
			HEDDLE_PUSH(s->p->arena, child, n, turned ? turned : node->child[k]);
	}
	node->child = child;
	node->n_child = n;
}

void simplify_ahead(simplify *s)
{
	bool any = false;
	for (int k = 0; k < s->launch->n_shared; k++)
		any = any || s->launch->shared[k]->early;
	if (!any)
		return;
	visit(s, s->launch->body);
	for (int k = 0; k < s->launch->n_shared; k++)
		s->launch->shared[k]->early = false; /* done */
}
