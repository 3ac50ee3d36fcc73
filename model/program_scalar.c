/* The same program without vectors in global memory: what runs where a base address is aligned to its elements alone.
 * SPDX-License-Identifier: MIT
 */
#include "model/program.h"

#include <string.h>

typedef struct scalar {
	heddle_program *p;
	heddle_node *out; /* the block that is being made; NULL: nothing can be put before the value */
	int n_name;
	const char **name; /* of the launch */
} scalar;

static bool is_wide_global(const heddle_buffer *buffer, int width)
{
	bool global = buffer->role == HEDDLE_BUFFER_INPUT || buffer->role == HEDDLE_BUFFER_OUTPUT ||
		      buffer->role == HEDDLE_BUFFER_INOUT || buffer->role == HEDDLE_BUFFER_TEMPORARY;
	return global && width > buffer->width;
}

static bool value_is_wide(const heddle_value *v)
{
	if (v->kind == HEDDLE_VALUE_LOAD && is_wide_global(v->buffer, v->width))
		return true;
	for (int k = 0; k < v->n_arg; k++)
		if (value_is_wide(v->arg[k]))
			return true;
	return false;
}

static bool node_is_wide(const heddle_node *node)
{
	if (node->kind == HEDDLE_NODE_STORE && is_wide_global(node->buffer, node->value[0]->width))
		return true;
	for (int k = 0; k < node->n_value; k++)
		if (value_is_wide(node->value[k]))
			return true;
	for (int k = 0; k < node->n_child; k++)
		if (node_is_wide(node->child[k]))
			return true;
	return false;
}

static bool has_load(const heddle_value *v)
{
	bool found = v->kind == HEDDLE_VALUE_LOAD;
	for (int k = 0; k < v->n_arg; k++)
		found = found || has_load(v->arg[k]);
	return found;
}

/* ---- names -------------------------------------------------------------------------------------------------------------- */

static void collect_names(scalar *s, const heddle_node *node)
{
	if (node->kind == HEDDLE_NODE_LET || node->kind == HEDDLE_NODE_FOR)
		HEDDLE_PUSH(s->p->arena, s->name, s->n_name, node->name);
	for (int k = 0; k < node->n_child; k++)
		collect_names(s, node->child[k]);
}

static bool is_taken(const scalar *s, const char *name)
{
	for (int k = 0; k < s->n_name; k++)
		if (!strcmp(s->name[k], name))
			return true;
	for (int k = 0; k < s->p->n_buffer; k++)
		if (!strcmp(s->p->buffer[k]->name, name))
			return true;
	for (int k = 0; k < s->p->n_size; k++)
		if (!strcmp(s->p->size[k].name, name))
			return true;
	return false;
}

static const char *fresh_name(scalar *s, const char *base)
{
	const char *name = heddle_arena_strdup(s->p->arena, base);
	for (int k = 1; is_taken(s, name); k++)
		name = heddle_arena_printf(s->p->arena, "%s_%d", base, k);
	HEDDLE_PUSH(s->p->arena, s->name, s->n_name, name);
	return name;
}

/* ---- accesses ------------------------------------------------------------------------------------------------------------ */

/* A subscript that is used several times gets a name where one can stand before it. */
static heddle_value *named(scalar *s, const heddle_buffer *buffer, heddle_value *subscript)
{
	if (!s->out || has_load(subscript) || subscript->kind == HEDDLE_VALUE_VARIABLE || subscript->kind == HEDDLE_VALUE_INT)
		return subscript;
	const char *name = fresh_name(s, heddle_arena_printf(s->p->arena, "%s_at", buffer->name));
	heddle_node_append(s->p, s->out, heddle_node_let(s->p, name, subscript));
	return heddle_value_variable(s->p, subscript->type, 1, name);
}

/* Subscripts of member `k` from those of the first. */
static heddle_value **member(scalar *s, int n, heddle_value *const *first, int k)
{
	heddle_value **subscript = HEDDLE_NEW_ARRAY(s->p->arena, heddle_value *, n);
	memcpy(subscript, first, sizeof(*first) * (size_t)n);
	subscript[n - 1] = heddle_value_binary(s->p, HEDDLE_OP_ADD, first[n - 1], heddle_value_int(s->p, first[n - 1]->type, k));
	return subscript;
}

static heddle_value *load_members(heddle_value *v, void *user)
{
	scalar *s = user;
	if (v->kind != HEDDLE_VALUE_LOAD || !is_wide_global(v->buffer, v->width))
		return v;
	heddle_value *part[16];
	heddle_value **first = HEDDLE_NEW_ARRAY(s->p->arena, heddle_value *, v->n_arg);
	memcpy(first, v->arg, sizeof(*first) * (size_t)v->n_arg);
	first[v->n_arg - 1] = named(s, v->buffer, first[v->n_arg - 1]);
	for (int k = 0; k < v->width; k++)
		part[k] = heddle_value_load(s->p, v->buffer, 1, v->n_arg, member(s, v->n_arg, first, k));
	return heddle_value_build(s->p, v->width, part);
}

/* All members are read before the first is written. */
static void store_members(scalar *s, heddle_node *node, int line)
{
	const int n = node->n_value - 1, width = node->value[0]->width;
	heddle_value *value = node->value[0];
	bool parts = value->kind == HEDDLE_VALUE_BUILD || value->kind == HEDDLE_VALUE_SPLAT;
	if (value->kind != HEDDLE_VALUE_VARIABLE && (!parts || has_load(value))) {
		const char *name = fresh_name(s, heddle_arena_printf(s->p->arena, "%s_new", node->buffer->name));
		heddle_node *let = heddle_node_let(s->p, name, value);
		let->line = line;
		heddle_node_append(s->p, s->out, let);
		value = heddle_value_variable(s->p, value->type, width, name);
	}
	node->value[n] = named(s, node->buffer, node->value[n]);
	for (int k = 0; k < width; k++) {
		heddle_node *store = heddle_node_store(s->p, node->buffer, n, member(s, n, node->value + 1, k),
						       heddle_value_extract(s->p, value, k));
		store->line = line;
		heddle_node_append(s->p, s->out, store);
	}
}

/* ---- the tree -------------------------------------------------------------------------------------------------------------- */

static void split_node(scalar *s, heddle_node *node);

static void split_child(scalar *s, heddle_node *node)
{
	bool simple = node->kind == HEDDLE_NODE_LET || node->kind == HEDDLE_NODE_STORE;
	heddle_node *out = s->out;
	s->out = simple ? out : NULL;
	for (int k = 0; k < node->n_value; k++)
		node->value[k] = heddle_value_map(s->p, node->value[k], load_members, s);
	s->out = out;
	if (node->kind == HEDDLE_NODE_STORE && is_wide_global(node->buffer, node->value[0]->width)) {
		store_members(s, node, node->line);
		return;
	}
	split_node(s, node);
	heddle_node_append(s->p, out, node);
}

/* Blocks get new lists of children; loops and branches keep theirs, which are blocks. */
static void split_node(scalar *s, heddle_node *node)
{
	heddle_node *out = s->out;
	int n = node->n_child;
	heddle_node **child = node->child;
	if (node->kind == HEDDLE_NODE_BLOCK) {
		node->n_child = 0;
		node->child = NULL;
		s->out = node;
		for (int k = 0; k < n; k++)
			split_child(s, child[k]);
	} else {
		for (int k = 0; k < n; k++)
			split_node(s, child[k]);
	}
	s->out = out;
}

bool heddle_program_is_wide(const heddle_program *p)
{
	for (int k = 0; k < p->n_launch; k++)
		if (node_is_wide(p->launch[k]->body))
			return true;
	return false;
}

heddle_program *heddle_program_scalar(const heddle_program *from)
{
	heddle_program *p = heddle_program_copy(from);
	for (int k = 0; k < p->n_launch; k++) {
		scalar s = {.p = p};
		collect_names(&s, p->launch[k]->body);
		split_node(&s, p->launch[k]->body);
		/* vectors that are taken apart need more addresses than registers were shared out for: some spilled */
		if (p->launch[k]->min_blocks > 1)
			p->launch[k]->min_blocks = 1;
	}
	for (int k = 0; k < p->n_buffer; k++)
		if (p->buffer[k]->role != HEDDLE_BUFFER_SHARED && p->buffer[k]->role != HEDDLE_BUFFER_REGISTER)
			p->buffer[k]->align = heddle_type_size(p->buffer[k]->type);
	heddle_program_number(p);
	return p;
}
