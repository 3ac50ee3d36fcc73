/* Register arrays that are used by whole vectors become arrays of vectors; from the others the vector accesses go away.
 * SPDX-License-Identifier: MIT
 */
#include "model/simplify_parts.h"

#include <string.h>

/* What the accesses to one register array have in common. */
typedef struct usage {
	int width;	   /* of its vector accesses; 0: there is none */
	bool mixed;	   /* several widths, or a scalar store, or a vector that is not one element of the vector array */
	bool dynamic;	   /* a scalar access by a subscript that is no constant: it lives in memory anyway */
	bool clear;	   /* a member may be read before it was written (see below) */
} usage;

typedef struct promoter {
	simplify *s;
	usage *use; /* per buffer position */
} promoter;

static bool is_candidate(const heddle_buffer *buffer)
{
	return buffer->role == HEDDLE_BUFFER_REGISTER && buffer->width == 1 && buffer->rank > 0;
}

static void see_access(promoter *x, const heddle_buffer *buffer, int n, heddle_value *const *subscript, int width, bool store)
{
	usage *u = &x->use[buffer->position];
	if (!is_candidate(buffer))
		return;
	if (n != buffer->rank) {
		u->mixed = true;
	} else if (width > 1) {
		u->mixed |= u->width && u->width != width;
		u->width = width;
		u->mixed |= heddle_range_residue(heddle_ranges_of(x->s->ranges, subscript[n - 1]), width) != 0;
	} else if (store || subscript[n - 1]->kind != HEDDLE_VALUE_INT) {
		u->mixed = true;
		u->dynamic |= subscript[n - 1]->kind != HEDDLE_VALUE_INT;
	}
}

static void see_value(promoter *x, const heddle_value *v)
{
	if (v->kind == HEDDLE_VALUE_LOAD)
		see_access(x, v->buffer, v->n_arg, v->arg, v->width, false);
	for (int k = 0; k < v->n_arg; k++)
		see_value(x, v->arg[k]);
}

/* { c0 ? x0 : r[0], c1 ? x1 : r[1], ... } for r itself: a store under a mask that differs between members. */
static bool keeps_members(const heddle_value *v, const heddle_buffer *buffer)
{
	if (v->kind != HEDDLE_VALUE_BUILD)
		return false;
	for (int k = 0; k < v->n_arg; k++) {
		const heddle_value *member = v->arg[k];
		if (member->kind == HEDDLE_VALUE_SELECT && member->arg[2]->kind == HEDDLE_VALUE_LOAD &&
		    member->arg[2]->buffer == buffer)
			return true;
	}
	return false;
}

static void see_node(simplify *s, heddle_node *node, void *user)
{
	promoter *x = user;
	(void)s;
	for (int k = 0; k < node->n_value; k++)
		see_value(x, node->value[k]);
	if (node->kind != HEDDLE_NODE_STORE)
		return;
	see_access(x, node->buffer, node->n_value - 1, node->value + 1, node->value[0]->width, true);
	/* A masked store reads the members that it keeps, so they must hold something. */
	if (is_candidate(node->buffer) && keeps_members(node->value[0], node->buffer))
		x->use[node->buffer->position].clear = true;
}

static bool is_promoted(const promoter *x, const heddle_buffer *buffer)
{
	const usage *u = &x->use[buffer->position];
	return buffer->role == HEDDLE_BUFFER_REGISTER && u->width > 0 && !u->mixed;
}

/* ---- rewriting --------------------------------------------------------------------------------------------------------------- */

/* Subscripts of the vector that holds the element: the last one divided, or dropped when there is one vector only. */
static int vector_subscripts(promoter *x, const heddle_buffer *buffer, int n, heddle_value *const *subscript, heddle_value **out)
{
	heddle_program *p = x->s->p;
	for (int k = 0; k < n; k++)
		out[k] = subscript[k];
	if (buffer->rank == n - 1)
		return n - 1;
	heddle_value *last = subscript[n - 1];
	out[n - 1] = heddle_value_floor(p, HEDDLE_VALUE_FLOOR_DIV, last, heddle_value_int(p, last->type, buffer->width));
	return n;
}

static heddle_value **subscript_copy(heddle_program *p, int n, heddle_value *const *subscript, int64_t shift)
{
	heddle_value **copy = HEDDLE_NEW_ARRAY(p->arena, heddle_value *, n ? n : 1);
	for (int k = 0; k < n; k++)
		copy[k] = subscript[k];
	if (shift)
		copy[n - 1] = heddle_value_binary(p, HEDDLE_OP_ADD, copy[n - 1], heddle_value_int(p, copy[n - 1]->type, shift));
	return copy;
}

static heddle_value *rewrite_load(heddle_value *v, void *user)
{
	promoter *x = user;
	heddle_program *p = x->s->p;
	heddle_value *subscript[64], *member[HEDDLE_MAX_VECTOR];
	if (v->kind != HEDDLE_VALUE_LOAD || v->buffer->role != HEDDLE_BUFFER_REGISTER || !v->n_arg || v->n_arg > 64)
		return v;
	heddle_buffer *buffer = v->buffer;
	if (is_promoted(x, buffer)) {
		int n = vector_subscripts(x, buffer, v->n_arg, v->arg, subscript);
		heddle_value *load = heddle_value_load(p, buffer, buffer->width, n, subscript);
		return v->width > 1 ? load : heddle_value_extract(p, load, (int)(v->arg[v->n_arg - 1]->i % buffer->width));
	}
	if (v->width == 1 || buffer->width > 1 || x->use[buffer->position].dynamic)
		return v;
	for (int k = 0; k < v->width; k++)
		member[k] = heddle_value_load(p, buffer, 1, v->n_arg, subscript_copy(p, v->n_arg, v->arg, k));
	return heddle_value_build(p, v->width, member);
}

static heddle_node *rewrite(promoter *x, heddle_node *node);

/* A vector store to an array that stays one of scalars. */
static void lower_store(promoter *x, heddle_node *node, heddle_node *out)
{
	heddle_program *p = x->s->p;
	heddle_value *value = node->value[0];
	int n = node->n_value - 1, width = value->width;
	if (value->kind != HEDDLE_VALUE_SPLAT) {
		heddle_node *let = heddle_node_let(p, simplify_name(x->s, "t"), value);
		let->line = node->line;
		heddle_node_append(p, out, let);
		value = heddle_value_variable(p, value->type, width, let->name);
	}
	for (int k = 0; k < width; k++) {
		heddle_node *store = heddle_node_store(p, node->buffer, n, subscript_copy(p, n, node->value + 1, k),
						       heddle_value_extract(p, value, k));
		store->line = node->line;
		heddle_node_append(p, out, store);
	}
}

static int64_t count_elements(const heddle_buffer *buffer)
{
	int64_t count = 1;
	for (int d = 0; d < buffer->rank; d++)
		count *= buffer->extent[d]->i;
	return count;
}

static bool mentions_in_value(const heddle_value *v, const heddle_buffer *buffer)
{
	if (v->kind == HEDDLE_VALUE_LOAD && v->buffer == buffer)
		return true;
	for (int k = 0; k < v->n_arg; k++)
		if (mentions_in_value(v->arg[k], buffer))
			return true;
	return false;
}

static bool mentions(const heddle_node *node, const heddle_buffer *buffer)
{
	if (node->kind == HEDDLE_NODE_STORE && node->buffer == buffer)
		return true;
	for (int k = 0; k < node->n_value; k++)
		if (mentions_in_value(node->value[k], buffer))
			return true;
	for (int k = 0; k < node->n_child; k++)
		if (mentions(node->child[k], buffer))
			return true;
	return false;
}

/* The statements after child `at` of the block store in every element before anything reads one.  Stores are unrolled: an
 * element is stored once, by a constant subscript. */
static bool is_filled_first(const heddle_node *block, int at, const heddle_buffer *buffer)
{
	int64_t filled = 0;
	for (int k = at + 1; k < block->n_child; k++) {
		const heddle_node *node = block->child[k];
		if (!mentions(node, buffer))
			continue;
		if (node->kind != HEDDLE_NODE_STORE || mentions_in_value(node->value[0], buffer))
			break;
		for (int v = 1; v < node->n_value; v++)
			if (node->value[v]->kind != HEDDLE_VALUE_INT)
				return false;
		for (int e = at + 1; e < k; e++) {
			const heddle_node *other = block->child[e];
			bool same = other->kind == HEDDLE_NODE_STORE && other->buffer == buffer;
			for (int v = 1; v < node->n_value && same; v++)
				same = heddle_value_equal(node->value[v], other->value[v]);
			if (same)
				return false;
		}
		filled++;
	}
	return filled >= count_elements(buffer);
}

/* Zeros in all elements, right after the declaration. */
static void clear(promoter *x, heddle_buffer *buffer, heddle_node *out)
{
	heddle_program *p = x->s->p;
	int64_t count = count_elements(buffer);
	heddle_value *zero = heddle_type_is_float(buffer->type) ? heddle_value_float(p, buffer->type, 0)
							       : heddle_value_int(p, buffer->type, 0);
	for (int64_t k = 0; k < count; k++) {
		heddle_value *subscript[64];
		int64_t rest = k;
		for (int d = buffer->rank - 1; d >= 0; d--) {
			subscript[d] = heddle_value_int(p, HEDDLE_INT32, rest % buffer->extent[d]->i);
			rest /= buffer->extent[d]->i;
		}
		heddle_node_append(p, out, heddle_node_store(p, buffer, buffer->rank, subscript,
							     heddle_value_splat(p, zero, buffer->width)));
	}
}

static void rewrite_child(promoter *x, heddle_node *block, int at, heddle_node *out)
{
	heddle_program *p = x->s->p;
	heddle_node *child = block->child[at];
	if (child->kind == HEDDLE_NODE_STORE && child->buffer->role == HEDDLE_BUFFER_REGISTER && child->value[0]->width > 1 &&
	    child->buffer->width == 1 && !x->use[child->buffer->position].dynamic) {
		lower_store(x, child, out);
		return;
	}
	heddle_node_append(p, out, child);
	if (child->kind == HEDDLE_NODE_DECLARE && is_promoted(x, child->buffer) && x->use[child->buffer->position].clear &&
	    !is_filled_first(block, at, child->buffer))
		clear(x, child->buffer, out);
}

static heddle_node *rewrite(promoter *x, heddle_node *node)
{
	heddle_program *p = x->s->p;
	for (int k = 0; k < node->n_value; k++)
		node->value[k] = heddle_value_map(p, node->value[k], rewrite_load, x);
	if (node->kind == HEDDLE_NODE_STORE && is_promoted(x, node->buffer)) {
		int n = vector_subscripts(x, node->buffer, node->n_value - 1, node->value + 1, node->value + 1);
		node->n_value = n + 1;
	}
	if (node->kind == HEDDLE_NODE_BLOCK) {
		heddle_node *out = simplify_node_like(p, node);
		for (int k = 0; k < node->n_child; k++)
			node->child[k] = rewrite(x, node->child[k]);
		for (int k = 0; k < node->n_child; k++)
			rewrite_child(x, node, k, out);
		return out;
	}
	for (int k = 0; k < node->n_child; k++)
		node->child[k] = rewrite(x, node->child[k]);
	return node;
}

static void make_vector_array(heddle_program *p, heddle_buffer *buffer, int width)
{
	int last = buffer->rank - 1;
	int64_t n = buffer->extent[last]->i / width;
	buffer->width = width;
	buffer->align = heddle_type_size(buffer->type) * width;
	buffer->extent[last] = heddle_value_int(p, HEDDLE_INT64, n);
	if (n == 1)
		buffer->rank = last;
}

/* ---- what nothing reads ---------------------------------------------------------------------------------------------------- */

static void mark_read(const heddle_value *v, bool *read)
{
	if (v->kind == HEDDLE_VALUE_LOAD)
		read[v->buffer->position] = true;
	for (int k = 0; k < v->n_arg; k++)
		mark_read(v->arg[k], read);
}

static void find_read(const heddle_node *node, bool *read)
{
	for (int k = 0; k < node->n_value; k++)
		mark_read(node->value[k], read);
	for (int k = 0; k < node->n_child; k++)
		find_read(node->child[k], read);
}

/* Registers that nothing reads are left when a store of parts turns out to have none. */
static void drop_unread(heddle_node *node, const bool *read)
{
	int n = 0;
	for (int k = 0; k < node->n_child; k++) {
		heddle_node *child = node->child[k];
		const bool writes = child->kind == HEDDLE_NODE_STORE || child->kind == HEDDLE_NODE_DECLARE;
		drop_unread(child, read);
		if (node->kind != HEDDLE_NODE_BLOCK || !writes || child->buffer->role != HEDDLE_BUFFER_REGISTER || read[child->buffer->position])
			node->child[n++] = child;
	}
	node->n_child = n;
}

void simplify_registers(simplify *s)
{
	bool *read = HEDDLE_NEW_ARRAY(s->p->arena, bool, s->p->n_buffer ? s->p->n_buffer : 1);
	promoter x = {.s = s, .use = HEDDLE_NEW_ARRAY(s->p->arena, usage, s->p->n_buffer ? s->p->n_buffer : 1)};
	find_read(s->launch->body, read);
	drop_unread(s->launch->body, read);
	simplify_walk(s, s->launch->body, see_node, &x);
	for (int k = 0; k < s->p->n_buffer; k++) {
		heddle_buffer *buffer = s->p->buffer[k];
		usage *u = &x.use[k];
		if (!is_candidate(buffer) || !u->width)
			continue;
		u->mixed |= buffer->extent[buffer->rank - 1]->kind != HEDDLE_VALUE_INT ||
			    buffer->extent[buffer->rank - 1]->i % u->width != 0;
		if (!u->mixed)
			make_vector_array(s->p, buffer, u->width);
	}
	s->launch->body = rewrite(&x, s->launch->body);
}
