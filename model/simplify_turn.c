/* Vectors that are gathered across rows: the rows are read by vectors instead, and turned.
 *
 *   for j in 0 .. n { C[j][x : 4] = vector(A[0][j], A[1][j], A[2][j], A[3][j]) }
 *
 * reads four elements that lie rows apart for each vector.  Four iterations together read each row by one vector; two steps of
 * zips, each of vector k with vector k + 2, make columns of rows, for each step moves the highest bit of a member's row into its
 * place in the vector.  Two loops that copy elements across,
 *
 *   for i in 0 .. m { for j in 0 .. n { T[j][i] = A[i][j] } }
 *
 * are such a loop once vectors of i are stored together.
 *
 *   Enters: loops with constant bounds whose bodies are stores of vectors, and pairs of loops around a copy.
 *   Leaves: the same stores, as many iterations at once as a vector has members, where these divide the trips.
 *   Guaranteed: what was read is read, no more; stores of one loop write elements of their own, so their order does not matter.
 *
 * SPDX-License-Identifier: MIT
 */
#include "model/simplify_lanes.h"

#include <string.h>

/* Statements that a loop may become: beyond, neither readers nor compilers like the text. */
enum { MOST_TEXT = 512, MOST_GATHERED = 4 };

typedef struct turning {
	simplify *s;
	const heddle_node *loop;
	int width;
	/* of one store */
	int n;
	heddle_value *gathered[MOST_GATHERED];
	const char *column[MOST_GATHERED]; /* the one that the map is at */
	int at;				   /* iteration */
} turning;

/* The loads of all members walk along rows of one buffer, together with the loop. */
static bool is_across(const turning *t, const heddle_value *v)
{
	const heddle_buffer *buffer = v->n_arg ? v->arg[0]->buffer : NULL;
	if (v->kind != HEDDLE_VALUE_BUILD || v->width != t->width || !buffer || buffer->width != 1 || buffer->rank < 1 || buffer->type == HEDDLE_BOOL ||
	    buffer->role == HEDDLE_BUFFER_REGISTER || buffer->role == HEDDLE_BUFFER_SCALAR)
		return false;
	if (buffer->stride && !heddle_value_is_int(buffer->stride[buffer->rank - 1], 1))
		return false;
	for (int m = 0; m < v->n_arg; m++) {
		const heddle_value *load = v->arg[m];
		int64_t step;
		if (load->kind != HEDDLE_VALUE_LOAD || load->buffer != buffer || (load->n_arg != buffer->rank && load->n_arg != 1))
			return false;
		for (int k = 0; k < load->n_arg; k++)
			if (lanes_has_load(load->arg[k]) || (k + 1 < load->n_arg && heddle_value_depends(load->arg[k], t->loop->name)))
				return false;
		if (!heddle_value_coefficient(load->arg[load->n_arg - 1], t->loop->name, &step) || step != 1)
			return false;
	}
	return true;
}

/* Lists the vectors of a value that are surely gathered, across rows; what else it reads is read by each iteration for itself. */
static void collect(turning *t, heddle_value *v)
{
	if (!is_across(t, v)) {
		const int n = v->kind == HEDDLE_VALUE_SELECT ? 1 : v->n_arg;
		for (int k = 0; k < n; k++)
			collect(t, v->arg[k]);
		return;
	}
	for (int k = 0; k < t->n; k++)
		if (heddle_value_equal(t->gathered[k], v))
			return;
	if (t->n < MOST_GATHERED)
		t->gathered[t->n++] = v;
}

/* Stores that write different elements in all iterations: the loop moves another subscript than the vector's, and vectors of one
 * iteration lie apart.  `first` is the loop's first store. */
static bool writes_apart(const turning *t, const heddle_node *first, const heddle_node *node)
{
	const int last = node->n_value - 1;
	bool moves = false;
	int64_t step, a, b;
	if (node->buffer != first->buffer || node->value[0]->width != t->width || node->buffer->role == HEDDLE_BUFFER_REGISTER || last < 2)
		return false;
	for (int k = 1; k <= last; k++) {
		if (lanes_has_load(node->value[k]) || !heddle_value_coefficient(node->value[k], t->loop->name, &step))
			return false;
		moves = moves || (k < last && step != 0);
		if (k < last && !heddle_value_equal(node->value[k], first->value[k]))
			return false;
	}
	if (!moves || step != 0)
		return false;
	for (int n = 0; n < t->loop->child[0]->n_child; n++) {
		const heddle_node *other = t->loop->child[0]->child[n];
		if (other == node || other->kind != HEDDLE_NODE_STORE)
			continue;
		if (other->buffer != node->buffer || !heddle_value_equal(simplify_without_constant(node->value[last], &a), simplify_without_constant(other->value[last], &b)) ||
		    (a - b < t->width && b - a < t->width))
			return false;
	}
	return true;
}

/* Of a loop by ones with constant bounds; 0: it is another, or empty. */
static int64_t constant_trips(const heddle_node *loop)
{
	const bool constant = loop->value[0]->kind == HEDDLE_VALUE_INT && loop->value[1]->kind == HEDDLE_VALUE_INT && loop->i == 1;
	return constant ? loop->value[1]->i - loop->value[0]->i : 0;
}

static bool can_turn(turning *t)
{
	const heddle_node *loop = t->loop, *body = loop->child[0], *first = NULL;
	int text = 0;
	const int64_t trips = constant_trips(loop);
	if (body->kind != HEDDLE_NODE_BLOCK)
		return false;
	for (int k = 0; k < body->n_child && !first; k++)
		first = body->child[k]->kind == HEDDLE_NODE_STORE ? body->child[k] : NULL;
	t->width = first ? first->value[0]->width : 1;
	if (t->width < 2 || trips < t->width || trips % t->width)
		return false;
	for (int k = 0; k < body->n_child; k++) {
		const heddle_node *node = body->child[k];
		if (node->kind == HEDDLE_NODE_COMMENT)
			continue;
		t->n = 0;
		if (node->kind != HEDDLE_NODE_STORE || simplify_reads(node->value[0], first->buffer) || !writes_apart(t, first, node))
			return false;
		collect(t, node->value[0]);
		if (!t->n)
			return false;
		text += t->width;
		for (int w = t->width; w > 1; w /= 2)
			text += t->n * t->width;
	}
	return text <= MOST_TEXT;
}

/* Names a value at the end of a block. */
static heddle_value *named(turning *t, const char *name, heddle_value *value, int line, heddle_node *out)
{
	heddle_node *let = heddle_node_let(t->s->p, simplify_name(t->s, name), value);
	let->line = line;
	heddle_node_append(t->s->p, out, let);
	return heddle_value_variable(t->s->p, value->type, value->width, let->name);
}

/* Appends the rows of a gathered vector and the steps that turn them; the columns are left in `column`. */
static void turn(turning *t, const heddle_value *gathered, int line, heddle_node *out, heddle_value **column)
{
	heddle_program *p = t->s->p;
	heddle_value *next[HEDDLE_MAX_VECTOR];
	const char *of = gathered->arg[0]->buffer->name, *line_name = heddle_arena_printf(p->arena, "%s_line", of);
	const int half = t->width / 2;
	for (int m = 0; m < t->width; m++) {
		heddle_value *load = gathered->arg[m];
		column[m] = named(t, line_name, heddle_value_load_ahead(p, load->buffer, t->width, load->n_arg, load->arg, load->i), line, out);
	}
	for (int rows = 2; rows <= t->width; rows *= 2) { /* that a vector holds members of */
		const char *name = heddle_arena_printf(p->arena, rows < t->width ? "%s_by%d" : "%s_turned", of, rows);
		for (int m = 0; m < t->width; m++)
			next[m] = named(t, name, heddle_value_zip(p, column[m / 2], column[m / 2 + half], m % 2), line, out);
		for (int m = 0; m < t->width; m++)
			column[m] = next[m];
	}
}

static heddle_value *with_column(heddle_value *v, void *user)
{
	const turning *t = user;
	for (int k = 0; k < t->n && v->kind == HEDDLE_VALUE_BUILD; k++)
		if (heddle_value_equal(t->gathered[k], v))
			return heddle_value_variable(t->s->p, v->type, v->width, t->column[k]);
	return v;
}

/* A variable, and what stands for it. */
typedef struct substitution {
	heddle_program *p;
	const char *name;
	heddle_value *value;
} substitution;

static heddle_value *substituted(heddle_value *v, void *user)
{
	const substitution *to = user;
	return v->kind == HEDDLE_VALUE_VARIABLE && !strcmp(v->name, to->name) ? to->value : v;
}

/* The value in iteration number t->at of the loop.  Its variable goes by another name first: of i - 1 there is i left where 1 is added, which
 * must not be taken for the variable once more. */
static heddle_value *at_iteration(turning *t, heddle_value *v)
{
	heddle_program *p = t->s->p;
	heddle_value *now = heddle_value_variable(p, t->loop->value[0]->type, 1, t->loop->name), *other = heddle_value_variable(p, now->type, 1, " i");
	substitution away = {p, now->name, other};
	substitution back = {p, other->name, heddle_value_binary(p, HEDDLE_OP_ADD, now, heddle_value_int(p, now->type, t->at))};
	return heddle_value_map(p, heddle_value_map(p, v, substituted, &away), substituted, &back);
}

static void turn_store(turning *t, const heddle_node *node, heddle_node *out)
{
	heddle_program *p = t->s->p;
	heddle_value *column[MOST_GATHERED][HEDDLE_MAX_VECTOR];
	t->n = 0;
	collect(t, node->value[0]);
	for (int k = 0; k < t->n; k++)
		turn(t, t->gathered[k], node->line, out, column[k]);
	for (t->at = 0; t->at < t->width; t->at++) {
		heddle_node *store = simplify_node_like(p, node);
		for (int k = 0; k < t->n; k++)
			t->column[k] = column[k][t->at]->name;
		for (int k = 0; k < node->n_value; k++) {
			heddle_value *v = at_iteration(t, heddle_value_map(p, node->value[k], with_column, t));
			HEDDLE_PUSH(p->arena, store->value, store->n_value, v);
		}
		heddle_node_append(p, out, store);
	}
}

/* ---- copies across ------------------------------------------------------------------------------------------------------------------- */

static const heddle_node *only_child(const heddle_node *node, heddle_node_kind kind)
{
	const heddle_node *body = node->child[0];
	return body->kind == HEDDLE_NODE_BLOCK && body->n_child == 1 && body->child[0]->kind == kind ? body->child[0] : NULL;
}

/* The last subscript goes with the variable, the others do not know it. */
static bool walks(int n, heddle_value *const *subscript, const char *variable)
{
	int64_t step;
	for (int k = 0; k + 1 < n; k++)
		if (heddle_value_depends(subscript[k], variable))
			return false;
	return n > 0 && heddle_value_coefficient(subscript[n - 1], variable, &step) && step == 1;
}

/* The condition for all iterations of the two loops: each comparison where its sides are nearest; NULL: not all parts are such. */
static heddle_value *for_all(simplify *s, heddle_value *condition, const heddle_node *outer, const heddle_node *inner)
{
	heddle_program *p = s->p;
	const heddle_node *const loop[] = {outer, inner};
	if (condition->kind == HEDDLE_VALUE_BINARY && condition->op == HEDDLE_OP_AND) {
		heddle_value *a = for_all(s, condition->arg[0], outer, inner), *b = for_all(s, condition->arg[1], outer, inner);
		return a && b ? heddle_value_binary(p, HEDDLE_OP_AND, a, b) : NULL;
	}
	if (condition->kind != HEDDLE_VALUE_BINARY || condition->op < HEDDLE_OP_LT || condition->op > HEDDLE_OP_GE || lanes_has_load(condition) ||
	    !heddle_type_is_signed(condition->arg[0]->type) || heddle_type_is_float(condition->arg[0]->type))
		return NULL;
	const bool less = condition->op == HEDDLE_OP_LT || condition->op == HEDDLE_OP_LE;
	for (int k = 0; k < 2 && condition->kind == HEDDLE_VALUE_BINARY; k++) { /* it may be decided by the first one */
		int64_t a, b;
		if (!heddle_value_coefficient(condition->arg[0], loop[k]->name, &a) || !heddle_value_coefficient(condition->arg[1], loop[k]->name, &b))
			return NULL;
		const bool last = less ? a > b : a < b;
		substitution at = {p, loop[k]->name, heddle_value_int(p, loop[k]->value[0]->type, last ? loop[k]->value[1]->i - 1 : loop[k]->value[0]->i)};
		condition = heddle_value_map(p, condition, substituted, &at);
	}
	return condition;
}

/* Two loops around one store of what lies across: the store takes vectors along the outer loop.  Where the elements may not all exist,
 * that is asked first, and the loops are there twice. */
static void store_vectors(simplify *s, heddle_node *outer)
{
	enum { LEAST = 4 };
	heddle_program *p = s->p;
	const heddle_node *inner = only_child(outer, HEDDLE_NODE_FOR), *store = inner ? only_child(inner, HEDDLE_NODE_STORE) : NULL;
	heddle_value *load = store ? store->value[0] : NULL, *whole = NULL;
	int width = s->options->max_vector;
	while (store && width >= LEAST && (constant_trips(outer) % width || constant_trips(inner) % width))
		width /= 2;
	if (!store || width < LEAST || constant_trips(outer) < width || constant_trips(inner) < width)
		return;
	if (load->kind == HEDDLE_VALUE_SELECT) {
		whole = for_all(s, load->arg[0], outer, inner);
		load = load->arg[1];
		if (!whole)
			return;
	}
	if (load->kind != HEDDLE_VALUE_LOAD || load->width != 1 || load->buffer == store->buffer || store->buffer->width != 1 ||
	    store->buffer->role == HEDDLE_BUFFER_REGISTER || !walks(load->n_arg, load->arg, inner->name) ||
	    !walks(store->n_value - 1, store->value + 1, outer->name) ||
	    (load->n_arg == load->buffer->rank && heddle_value_depends(load->arg[load->n_arg - 1], outer->name)))
		return;
	heddle_node *rows = simplify_node_like(p, outer), *columns = simplify_node_like(p, inner);
	heddle_node *around = heddle_node_block(p), *body = heddle_node_block(p), *vectors = simplify_node_like(p, store);
	rows->name = simplify_name(s, outer->name);
	columns->name = simplify_name(s, inner->name);
	for (int k = 0; k < 2; k++) {
		HEDDLE_PUSH(p->arena, rows->value, rows->n_value, outer->value[k]);
		HEDDLE_PUSH(p->arena, columns->value, columns->n_value, inner->value[k]);
	}
	substitution at[] = {{p, outer->name, heddle_value_variable(p, outer->value[0]->type, 1, rows->name)},
			     {p, inner->name, heddle_value_variable(p, inner->value[0]->type, 1, columns->name)}};
	heddle_value *member[HEDDLE_MAX_VECTOR];
	turning t = {.s = s, .loop = rows, .width = width};
	load = heddle_value_map(p, heddle_value_map(p, load, substituted, &at[0]), substituted, &at[1]);
	for (t.at = 0; t.at < width; t.at++)
		member[t.at] = at_iteration(&t, load);
	HEDDLE_PUSH(p->arena, vectors->value, vectors->n_value, heddle_value_build(p, width, member));
	for (int k = 1; k < store->n_value; k++) {
		heddle_value *subscript = heddle_value_map(p, heddle_value_map(p, store->value[k], substituted, &at[0]), substituted, &at[1]);
		HEDDLE_PUSH(p->arena, vectors->value, vectors->n_value, subscript);
	}
	heddle_node_append(p, body, vectors);
	HEDDLE_PUSH(p->arena, columns->child, columns->n_child, body);
	t = (turning){.s = s, .loop = columns};
	if (!can_turn(&t))
		return;
	heddle_node_append(p, around, columns);
	HEDDLE_PUSH(p->arena, rows->child, rows->n_child, around);
	rows->i = width;
	rows->loop = HEDDLE_LOOP_SERIAL;
	if (!whole) {
		*outer = *rows;
		return;
	}
	heddle_node *then = heddle_node_block(p), *otherwise = heddle_node_block(p), *plain = HEDDLE_NEW(p->arena, heddle_node);
	*plain = *outer;
	heddle_node_append(p, then, rows);
	heddle_node_append(p, otherwise, plain);
	*outer = *heddle_node_if(p, whole, then, otherwise);
	outer->line = plain->line;
}

static void visit(simplify *s, heddle_node *node, bool copies)
{
	if (node->kind == HEDDLE_NODE_FOR && copies) {
		store_vectors(s, node);
		copies = node->kind == HEDDLE_NODE_FOR; /* else they are there twice now, and one is to stay */
	}
	turning t = {.s = s, .loop = node};
	for (int k = 0; k < node->n_child; k++)
		visit(s, node->child[k], copies);
	if (node->kind != HEDDLE_NODE_FOR || !can_turn(&t))
		return;
	heddle_node *body = simplify_node_like(s->p, node->child[0]);
	for (int k = 0; k < node->child[0]->n_child; k++)
		if (node->child[0]->child[k]->kind == HEDDLE_NODE_STORE)
			turn_store(&t, node->child[0]->child[k], body);
		else
			heddle_node_append(s->p, body, node->child[0]->child[k]);
	node->child[0] = body;
	node->i = t.width;
	node->loop = HEDDLE_LOOP_SERIAL;
}

void simplify_turn(simplify *s, bool copies)
{
	if (s->options->zips && s->options->vector_arithmetic && s->options->unaligned_vectors)
		visit(s, s->launch->body, copies);
}
