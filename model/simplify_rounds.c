/* A round's part of a register array that lives in memory gets registers of its own.
 *
 * An array that a loop indexes is memory.  Compilers keep an element of it in a register over the loops inside only where it surely
 * is stored there; what stands under a condition goes through memory in every step.  So where all that the body of a loop does with
 * an array is to change elements of one part, those that the loop's variable selects,
 *
 *   for r: for k: if (c(k)) X[r][0] += ...
 *
 * the part is copied once, before and after:
 *
 *   for r: { part = X[r]; for k: if (c(k)) part[0] += ...; X[r] = part; }
 *
 * Copying asks for no condition: an element whose conditions all ask for what the loops inside change is one that the round has, and
 * that was initialised before.
 * SPDX-License-Identifier: MIT
 */
#include "model/simplify_parts.h"

enum { MOST_DIMS = 8, MOST_ELEMENTS = 64, MOST_NAMES = 64 };

/* What the body of a loop does with one array. */
typedef struct round_part {
	simplify *s;
	heddle_buffer *array;
	heddle_value *subscript[MOST_DIMS]; /* of the first access: constants stand for any */
	int64_t greatest[MOST_DIMS];	    /* of the constants */
	bool accessed, failed;
	bool conditional; /* an access under a condition, inside of a loop */
	int n_element;
	int64_t element[MOST_ELEMENTS][MOST_DIMS];
	int n_inside; /* variables that the body defines; of these `moving` change with its loops */
	const char *inside[MOST_NAMES];
	int n_moving;
	const char *moving[MOST_NAMES];
	int loops, conditions; /* around the place of the walk, inside of the body */
	bool asks_outside;     /* one of these conditions asks for what the body's loops do not change */
} round_part;

static bool depends_on_any(const heddle_value *v, int n, const char *const *name)
{
	for (int k = 0; k < n; k++)
		if (heddle_value_depends(v, name[k]))
			return true;
	return false;
}

static void define(round_part *part, const char *name, bool moves)
{
	if (part->n_inside == MOST_NAMES) {
		part->failed = true;
		return;
	}
	part->inside[part->n_inside++] = name;
	if (moves)
		part->moving[part->n_moving++] = name;
}

static bool is_constant(const heddle_value *v)
{
	return v->kind == HEDDLE_VALUE_INT;
}

/* The number of the element; -1: it was not met before. */
static int find_element(const round_part *part, int n, heddle_value *const *subscript)
{
	for (int e = 0; e < part->n_element; e++) {
		bool same = true;
		for (int k = 0; k < n; k++)
			same = same && (!is_constant(subscript[k]) || part->element[e][k] == subscript[k]->i);
		if (same)
			return e;
	}
	return -1;
}

static void see_access(round_part *part, int width, int n, heddle_value *const *subscript, bool store)
{
	if (part->failed)
		return;
	for (int k = 0; k < n; k++) {
		const heddle_value *first = part->accessed ? part->subscript[k] : subscript[k];
		const bool alike = is_constant(first) ? is_constant(subscript[k]) && subscript[k]->i >= 0 : heddle_value_equal(first, subscript[k]);
		part->failed = part->failed || !alike || depends_on_any(subscript[k], part->n_inside, part->inside);
		part->subscript[k] = part->accessed ? part->subscript[k] : subscript[k];
	}
	part->accessed = true;
	part->conditional = part->conditional || (part->conditions && part->loops);
	part->failed = part->failed || width != part->array->width || part->asks_outside;
	if (part->failed || find_element(part, n, subscript) >= 0)
		return;
	if (store || part->n_element == MOST_ELEMENTS) { /* what it was is not asked for: it may be nothing */
		part->failed = true;
		return;
	}
	for (int k = 0; k < n; k++) {
		part->element[part->n_element][k] = is_constant(subscript[k]) ? subscript[k]->i : 0;
		if (part->element[part->n_element][k] > part->greatest[k])
			part->greatest[k] = part->element[part->n_element][k];
	}
	part->n_element++;
}

static void see_value(round_part *part, const heddle_value *v)
{
	for (int k = 0; k < v->n_arg; k++)
		see_value(part, v->arg[k]);
	if (v->kind == HEDDLE_VALUE_LOAD && v->buffer == part->array)
		see_access(part, v->width, v->n_arg, v->arg, false);
}

/* Does every conjunct of every disjunct depend on something that the loops change? */
static bool asks_inside(const round_part *part, const heddle_value *c)
{
	if (c->kind == HEDDLE_VALUE_BINARY && (c->op == HEDDLE_OP_AND || c->op == HEDDLE_OP_OR))
		return asks_inside(part, c->arg[0]) && asks_inside(part, c->arg[1]);
	return depends_on_any(c, part->n_moving, part->moving);
}

static void see_node(round_part *part, const heddle_node *node)
{
	const bool loop = node->kind == HEDDLE_NODE_FOR, test = node->kind == HEDDLE_NODE_IF, outside = part->asks_outside;
	for (int k = 0; k < node->n_value; k++)
		see_value(part, node->value[k]);
	if (node->kind == HEDDLE_NODE_STORE && node->buffer == part->array)
		see_access(part, node->value[0]->width, node->n_value - 1, node->value + 1, true);
	if (node->kind == HEDDLE_NODE_LET)
		define(part, node->name, depends_on_any(node->value[0], part->n_moving, part->moving));
	if (loop)
		define(part, node->name, true);
	if (test)
		part->asks_outside = outside || !asks_inside(part, node->value[0]);
	part->failed = part->failed || (node->kind == HEDDLE_NODE_DECLARE && node->buffer == part->array);
	part->loops += loop;
	part->conditions += test;
	for (int k = 0; k < node->n_child && !part->failed; k++)
		see_node(part, node->child[k]);
	part->loops -= loop;
	part->conditions -= test;
	part->asks_outside = outside;
}

/* Is the part one of a loop's variables, and are its elements a box? */
static bool is_worth_copying(const round_part *part)
{
	int64_t box = 1;
	bool selected = false;
	for (int k = 0; k < part->array->rank && part->accessed; k++) {
		selected = selected || !is_constant(part->subscript[k]);
		box *= part->greatest[k] + 1;
	}
	return part->accessed && !part->failed && part->conditional && selected && box == part->n_element;
}

/* ---- rewriting ------------------------------------------------------------------------------------------------------------- */

typedef struct copied_part {
	heddle_program *p;
	const round_part *part;
	heddle_buffer *copy; /* its dimensions are those that constants are subscripts of */
} copied_part;

static int copy_subscripts(const copied_part *c, heddle_value *const *subscript, heddle_value **out)
{
	int n = 0;
	for (int k = 0; k < c->part->array->rank; k++)
		if (is_constant(c->part->subscript[k]))
			out[n++] = subscript[k];
	return n;
}

static heddle_value *in_copy(heddle_value *v, void *user)
{
	copied_part *c = user;
	heddle_value *subscript[MOST_DIMS];
	if (v->kind != HEDDLE_VALUE_LOAD || v->buffer != c->part->array)
		return v;
	const int n = copy_subscripts(c, v->arg, subscript);
	return heddle_value_load(c->p, c->copy, v->width, n, subscript);
}

static heddle_node *on_copy(copied_part *c, const heddle_node *node)
{
	heddle_value *subscript[MOST_DIMS];
	heddle_node *copy = simplify_node_like(c->p, node);
	const bool stored = node->kind == HEDDLE_NODE_STORE && node->buffer == c->part->array;
	const int n = stored ? copy_subscripts(c, node->value + 1, subscript) : 0;
	for (int k = 0; k < (stored ? 1 : node->n_value); k++)
		HEDDLE_PUSH(c->p->arena, copy->value, copy->n_value, heddle_value_map(c->p, node->value[k], in_copy, c));
	for (int k = 0; k < n; k++)
		HEDDLE_PUSH(c->p->arena, copy->value, copy->n_value, subscript[k]);
	if (stored)
		copy->buffer = c->copy;
	for (int k = 0; k < node->n_child; k++)
		HEDDLE_PUSH(c->p->arena, copy->child, copy->n_child, on_copy(c, node->child[k]));
	return copy;
}

/* copy = the part, or the other way around: loops that are there to be unrolled. */
static heddle_node *move_part(const copied_part *c, bool back)
{
	const round_part *part = c->part;
	heddle_value *whole[MOST_DIMS], *own[MOST_DIMS];
	const char *name[MOST_DIMS];
	int n = 0;
	for (int k = 0; k < part->array->rank; k++) {
		whole[k] = part->subscript[k];
		if (!is_constant(part->subscript[k]))
			continue;
		name[n] = simplify_name(part->s, "i");
		whole[k] = own[n] = heddle_value_variable(c->p, HEDDLE_INT32, 1, name[n]);
		n++;
	}
	heddle_value *from = back ? heddle_value_load(c->p, c->copy, c->copy->width, n, own)
				  : heddle_value_load(c->p, part->array, part->array->width, part->array->rank, whole);
	heddle_node *body = back ? heddle_node_store(c->p, part->array, part->array->rank, whole, from) : heddle_node_store(c->p, c->copy, n, own, from);
	for (int k = n - 1; k >= 0; k--) {
		body = heddle_node_for(c->p, HEDDLE_LOOP_HINT, name[k], heddle_value_int(c->p, HEDDLE_INT32, 0),
				       heddle_value_cast(c->p, HEDDLE_INT32, c->copy->extent[k]), 1, body);
		body->uniform = true;
	}
	return body;
}

static heddle_node *with_copy(const round_part *part, const heddle_node *body)
{
	heddle_program *p = part->s->p;
	const heddle_buffer *array = part->array;
	copied_part c = {.p = p, .part = part};
	int n = 0;
	for (int k = 0; k < array->rank; k++)
		n += is_constant(part->subscript[k]);
	const char *name = heddle_arena_printf(p->arena, "%s_round", array->of ? array->of : array->name);
	c.copy = heddle_buffer_new(p, simplify_name(part->s, name), HEDDLE_BUFFER_REGISTER, array->type, n);
	c.copy->width = array->width;
	c.copy->align = array->align;
	c.copy->of = array->of;
	n = 0;
	for (int k = 0; k < array->rank; k++)
		if (is_constant(part->subscript[k]))
			c.copy->extent[n++] = heddle_value_int(p, HEDDLE_INT64, part->greatest[k] + 1);
	heddle_node *block = heddle_node_block(p);
	heddle_node_append(p, block, heddle_node_declare(p, c.copy));
	heddle_node_append(p, block, move_part(&c, false));
	heddle_node_append(p, block, on_copy(&c, body));
	heddle_node_append(p, block, move_part(&c, true));
	return block;
}

static void find_arrays(const heddle_value *v, heddle_buffer **array, int *n, int most)
{
	for (int k = 0; k < v->n_arg; k++)
		find_arrays(v->arg[k], array, n, most);
	if (v->kind != HEDDLE_VALUE_LOAD || v->buffer->role != HEDDLE_BUFFER_REGISTER || v->n_arg != v->buffer->rank || v->n_arg > MOST_DIMS)
		return;
	bool selected = false;
	for (int k = 0; k < v->n_arg; k++)
		selected = selected || !is_constant(v->arg[k]);
	for (int k = 0; k < *n; k++)
		selected = selected && array[k] != v->buffer;
	if (selected && *n < most)
		array[(*n)++] = v->buffer;
}

static void find_all_arrays(const heddle_node *node, heddle_buffer **array, int *n, int most)
{
	for (int k = 0; k < node->n_value; k++)
		find_arrays(node->value[k], array, n, most);
	for (int k = 0; k < node->n_child; k++)
		find_all_arrays(node->child[k], array, n, most);
}

static void copy_in(simplify *s, heddle_node *node)
{
	enum { MOST_ARRAYS = 8 };
	heddle_buffer *array[MOST_ARRAYS];
	int n = 0;
	if (node->kind == HEDDLE_NODE_FOR)
		find_all_arrays(node->child[0], array, &n, MOST_ARRAYS);
	for (int k = 0; k < n; k++) {
		round_part part = {.s = s, .array = array[k]};
		see_node(&part, node->child[0]);
		if (is_worth_copying(&part))
			node->child[0] = with_copy(&part, node->child[0]);
	}
	for (int k = 0; k < node->n_child; k++)
		copy_in(s, node->child[k]);
}

void simplify_rounds(simplify *s)
{
	copy_in(s, s->launch->body);
}
