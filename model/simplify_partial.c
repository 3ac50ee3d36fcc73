/* Partial vectors of which it is known how many lanes take part.
 *
 * Lanes that take part one after another do so in a copy in memory (simplify_guard.c):
 *
 *   P[0 : w] = X; for v in a .. b: P[v] = f(P[v], v); X = P[0 : w]
 *
 * Reading a vector of what was stored in parts waits for the stores, which takes longer than all that is computed.  Where a and b
 * are numbers the vector is built in registers:  X = { X_0, .., f(X_a, a), .., f(X_b-1, b-1), X_b, .. }
 * SPDX-License-Identifier: MIT
 */
#include "model/simplify_parts.h"

#include <string.h>

typedef struct partial {
	heddle_program *p;
	const heddle_buffer *copy;
	const char *name; /* v */
	heddle_value *all; /* X before */
	int lane;
	bool failed; /* another element of the copy is read, or lanes choose: that is not worth text for each */
} partial;

static heddle_value *in_lane(heddle_value *v, void *user)
{
	partial *at = user;
	if (v->kind == HEDDLE_VALUE_VARIABLE && !strcmp(v->name, at->name))
		return heddle_value_int(at->p, v->type, at->lane);
	at->failed = at->failed || v->kind == HEDDLE_VALUE_SELECT;
	if (v->kind != HEDDLE_VALUE_LOAD || v->buffer != at->copy)
		return v;
	at->failed = at->failed || v->width != 1 || !heddle_value_is_int(v->arg[0], at->lane);
	return heddle_value_extract(at->p, at->all, at->lane);
}

static const heddle_node *only_child(const heddle_node *node)
{
	while (node->kind == HEDDLE_NODE_BLOCK && node->n_child == 1)
		node = node->child[0];
	return node;
}

static bool stores_at(const heddle_node *node, const heddle_buffer *buffer, const char *name)
{
	return node->kind == HEDDLE_NODE_STORE && node->buffer == buffer && node->n_value == 2 && node->value[0]->width == 1 &&
	       node->value[1]->kind == HEDDLE_VALUE_VARIABLE && !strcmp(node->value[1]->name, name);
}

/* The vector as one value, or NULL: the block is another one. */
static heddle_value *built(simplify *s, const heddle_node *block)
{
	if (block->n_child != 4 || block->child[0]->kind != HEDDLE_NODE_DECLARE)
		return NULL;
	const heddle_node *begin = only_child(block->child[1]), *loop = only_child(block->child[2]), *end = only_child(block->child[3]);
	partial at = {.p = s->p, .copy = block->child[0]->buffer, .name = loop->name};
	if (begin->kind != HEDDLE_NODE_STORE || begin->buffer != at.copy || begin->value[0]->kind != HEDDLE_VALUE_LOAD ||
	    loop->kind != HEDDLE_NODE_FOR || loop->i != 1 || loop->value[0]->kind != HEDDLE_VALUE_INT ||
	    loop->value[1]->kind != HEDDLE_VALUE_INT || end->kind != HEDDLE_NODE_STORE || end->value[0]->kind != HEDDLE_VALUE_LOAD ||
	    end->value[0]->buffer != at.copy || end->value[0]->width != begin->value[0]->width)
		return NULL;
	const heddle_node *body = only_child(loop->child[0]);
	const int width = begin->value[0]->width;
	if (!stores_at(body, at.copy, loop->name) || loop->value[0]->i < 0 || loop->value[1]->i > width)
		return NULL;
	heddle_value *lane[HEDDLE_MAX_VECTOR];
	at.all = begin->value[0];
	for (at.lane = 0; at.lane < width; at.lane++) {
		const bool part = at.lane >= loop->value[0]->i && at.lane < loop->value[1]->i;
		lane[at.lane] = part ? heddle_value_map(s->p, body->value[0], in_lane, &at) : heddle_value_extract(s->p, at.all, at.lane);
	}
	return at.failed ? NULL : heddle_value_build(s->p, width, lane);
}

static void build_in(simplify *s, heddle_node *node)
{
	for (int k = 0; k < node->n_child; k++)
		build_in(s, node->child[k]);
	heddle_value *vector = node->kind == HEDDLE_NODE_BLOCK ? built(s, node) : NULL;
	if (!vector)
		return;
	const heddle_node *end = only_child(node->child[3]);
	heddle_node *store = heddle_node_store(s->p, end->buffer, end->n_value - 1, end->value + 1, vector);
	store->line = only_child(node->child[2])->line;
	node->n_child = 0;
	heddle_node_append(s->p, node, store);
}

void simplify_partial(simplify *s)
{
	if (s->options->vector_arithmetic)
		build_in(s, s->launch->body);
}
