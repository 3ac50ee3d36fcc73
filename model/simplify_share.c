/* Loads of shared and global memory that several statements in a row make get a let: what is in a register is not read again.
 *
 * Within a stretch of lets, stores and conditions around them nothing else touches memory, so a load means the same until a store to
 * its buffer.  Loads under a condition share with one that happens anyway, else they are left to the branch that they stand in;
 * those under a selection are left alone, and those of register arrays cost nothing.
 * SPDX-License-Identifier: MIT
 */
#include "model/simplify_parts.h"

#include <stdlib.h>
#include <string.h>

/* Loads that one stretch may share: beyond, registers would be short anyway. */
enum { MOST_SHARED = 512 };

typedef struct shared_load {
	heddle_value *load;
	int first, last; /* children of the block where it stands */
	int count;
	bool open; /* no store to its buffer yet */
	bool sure; /* one of them happens in any case */
	const char *name;
} shared_load;

typedef struct sharer {
	simplify *s;
	int n;
	shared_load *load; /* [MOST_SHARED] */
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

static bool seen_before(sharer *x, const heddle_value *v, int at, bool sure)
{
	for (int k = 0; k < x->n; k++) {
		shared_load *l = &x->load[k];
		if (!l->open || !heddle_value_equal(l->load, v))
			continue;
		l->count++;
		l->last = at;
		l->sure |= sure;
		return true;
	}
	return false;
}

/* What is inside a load that is made again is not counted again: the whole gets the name. */
static void see(sharer *x, heddle_value *v, int at, bool sure)
{
	bool shareable = is_shareable(v);
	if (shareable && seen_before(x, v, at, sure))
		return;
	int n = v->kind == HEDDLE_VALUE_SELECT ? 1 : v->n_arg;
	for (int k = 0; k < n; k++)
		see(x, v->arg[k], at, sure);
	if (shareable && x->n < MOST_SHARED)
		x->load[x->n++] = (shared_load){.load = v, .first = at, .last = at, .count = 1, .open = true, .sure = sure};
}

static void close_buffer(sharer *x, const heddle_buffer *buffer)
{
	for (int k = 0; k < x->n; k++)
		if (buffer_of(x->load[k].load) == buffer)
			x->load[k].open = false;
}

static void see_node(sharer *x, const heddle_node *node, int at, bool sure)
{
	for (int v = 0; v < node->n_value; v++)
		see(x, node->value[v], at, sure);
	for (int k = 0; k < node->n_child; k++)
		see_node(x, node->child[k], at, false);
	if (node->kind == HEDDLE_NODE_STORE)
		close_buffer(x, node->buffer);
}

static bool is_shared(const shared_load *l)
{
	return l->count > 1 && l->sure;
}

/* A load whose subscripts hold a let of the stretch is in scope from that let on: its first use is after it. */
static heddle_value *with_name(sharer *x, heddle_value *v, int at)
{
	heddle_value *copy = NULL;
	if (is_shareable(v))
		for (int k = 0; k < x->n; k++) {
			const shared_load *l = &x->load[k];
			if (is_shared(l) && l->first <= at && at <= l->last && heddle_value_equal(l->load, v))
				return heddle_value_variable(x->s->p, v->type, v->width, l->name);
		}
	for (int k = 0; k < v->n_arg; k++) {
		heddle_value *arg = with_name(x, v->arg[k], at);
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
		node->value[v] = with_name(x, node->value[v], at);
	for (int k = 0; k < node->n_child; k++)
		name_loads(x, node->child[k], at);
}

/* Children from .. to of `block`, with their shared loads in lets, appended to `out`. */
static void share_stretch(sharer *x, heddle_node *block, int from, int to, heddle_node *out)
{
	heddle_program *p = x->s->p;
	x->n = 0;
	for (int k = from; k < to; k++)
		see_node(x, block->child[k], k, true);
	for (int k = 0; k < x->n; k++)
		if (is_shared(&x->load[k]))
			x->load[k].name = simplify_name(x->s, heddle_arena_printf(p->arena, "%s_v", buffer_of(x->load[k].load)->name));
	for (int k = from; k < to; k++) {
		heddle_node *node = block->child[k];
		/* Inner loads were seen before those that they are subscripts of, so the lets are in order. */
		for (int l = 0; l < x->n; l++) {
			shared_load *s = &x->load[l];
			if (!is_shared(s) || s->first != k)
				continue;
			heddle_value *load = HEDDLE_NEW(p->arena, heddle_value);
			*load = *s->load;
			load->arg = HEDDLE_NEW_ARRAY(p->arena, heddle_value *, load->n_arg ? load->n_arg : 1);
			for (int a = 0; a < load->n_arg; a++)
				load->arg[a] = with_name(x, s->load->arg[a], k);
			heddle_node *let = heddle_node_let(p, s->name, load);
			let->line = node->line;
			heddle_node_append(p, out, let);
		}
		name_loads(x, node, k);
		heddle_node_append(p, out, node);
	}
}

/* Lets and stores, and conditions around such. */
static bool is_straight(const heddle_node *node)
{
	if (node->kind != HEDDLE_NODE_LET && node->kind != HEDDLE_NODE_STORE && node->kind != HEDDLE_NODE_IF && node->kind != HEDDLE_NODE_BLOCK)
		return false;
	for (int k = 0; k < node->n_child; k++)
		if (!is_straight(node->child[k]))
			return false;
	return true;
}

static heddle_node *share(sharer *x, heddle_node *node)
{
	if (node->kind != HEDDLE_NODE_BLOCK) {
		for (int k = 0; k < node->n_child; k++)
			node->child[k] = share(x, node->child[k]);
		return node;
	}
	heddle_node *out = simplify_node_like(x->s->p, node);
	for (int k = 0; k < node->n_child;) {
		int end = k;
		while (end < node->n_child && is_straight(node->child[end]))
			end++;
		if (end > k) {
			share_stretch(x, node, k, end, out);
			k = end;
		} else {
			heddle_node_append(x->s->p, out, node->child[k++]);
		}
	}
	for (int k = 0; k < out->n_child; k++)
		out->child[k] = share(x, out->child[k]);
	return out;
}

void simplify_share(simplify *s)
{
	sharer x = {.s = s, .load = heddle_xalloc(sizeof(shared_load) * MOST_SHARED)};
	s->launch->body = share(&x, s->launch->body);
	free(x.load);
}
