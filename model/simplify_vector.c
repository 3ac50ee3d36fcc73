/* Loops of kind VECTOR run in lockstep: all members of a statement before the next statement.
 *
 * That is right when each iteration stores in elements of its own: for every buffer stored to, some subscript of all its
 * accesses is the same a * v + r with a != 0.  A statement `x = x op e` with one x for all iterations is a reduction, and is
 * combined.  Whatever else there is makes the loop an ordinary one.
 * SPDX-License-Identifier: MIT
 */
#include "model/simplify_lanes.h"

enum { UNROLLED_TRIPS = 16 };

bool lanes_depends(const lanes *l, const heddle_value *v)
{
	return heddle_value_depends(v, l->name);
}

bool lanes_has_load(const heddle_value *v)
{
	if (v->kind == HEDDLE_VALUE_LOAD)
		return true;
	for (int k = 0; k < v->n_arg; k++)
		if (lanes_has_load(v->arg[k]))
			return true;
	return false;
}

/* ---- substitution of v --------------------------------------------------------------------------------------------------- */

heddle_value *lanes_at(lanes *l, heddle_value *v, int64_t i)
{
	binding b = {l->name, heddle_value_int(l->p, l->type, i), NULL};
	rewriter r = {.s = l->s, .env = &b};
	return simplify_value(&r, v);
}

/* ---- iterators out of divisions and comparisons ------------------------------------------------------------------------------- */

/* e = a * v + r: r, and a > 0, such that the members of v do not carry e over a multiple of `c`:
 * r mod c + a * (width - 1) < c.  With m = gcd(modulus of r, c), r mod c <= c - m + r mod m. */
static bool stays_within(lanes *l, const heddle_value *rest, int64_t a, int64_t c)
{
	for (int64_t m = c; m > 0; m--) {
		if (c % m)
			continue;
		int64_t residue = heddle_range_residue(heddle_ranges_of(l->s->ranges, rest), m);
		if (residue >= 0)
			return residue + a * (l->width - 1) < m;
		if (m > 4096 && m % 2 == 0)
			m = m / 2 + 1; /* divisors of a great number: halves are enough */
	}
	return false;
}

static heddle_value *lift_division(lanes *l, heddle_value *v, bool div)
{
	int64_t a;
	heddle_value *e = v->arg[0], *c = v->arg[1];
	if (c->kind != HEDDLE_VALUE_INT || c->i <= 0 || !heddle_value_coefficient(e, l->name, &a) || a <= 0)
		return v;
	heddle_value *rest = lanes_at(l, e, 0);
	if (v->kind == HEDDLE_VALUE_BINARY && heddle_ranges_of(l->s->ranges, rest).lo < 0)
		return v;
	if (!stays_within(l, rest, a, c->i))
		return v;
	heddle_value *part = v->kind == HEDDLE_VALUE_BINARY ? heddle_value_binary(l->p, v->op, rest, c)
							     : heddle_value_floor(l->p, v->kind, rest, c);
	if (div)
		return part;
	heddle_value *shift = heddle_value_binary(l->p, HEDDLE_OP_MUL, heddle_value_variable(l->p, l->type, 1, l->name),
						  heddle_value_int(l->p, l->type, a));
	return heddle_value_binary(l->p, HEDDLE_OP_ADD, part, heddle_value_cast(l->p, part->type, shift));
}

/* x + a v < 0 with x = residue (mod m): the same for all members when
 *   a > 0: residue + a (width - 1) < m   (x < 0 means x <= residue - m)
 *   a < 0: residue + a (width - 1) >= 0  (x >= 0 means x >= residue) */
static bool same_sign(lanes *l, heddle_value *x, int64_t a)
{
	heddle_range range = heddle_ranges_of(l->s->ranges, x);
	int64_t m = range.modulus, reach = a * (l->width - 1);
	if (m <= 1)
		return false;
	return a > 0 ? range.residue + reach < m : range.residue + reach >= 0;
}

static heddle_value *lift_comparison(lanes *l, heddle_value *v)
{
	int64_t a, b;
	heddle_value *left = v->arg[0], *right = v->arg[1];
	heddle_op op = v->op;
	if (!heddle_type_is_signed(left->type) || lanes_has_load(v) || op == HEDDLE_OP_EQ || op == HEDDLE_OP_NE)
		return v;
	if (!heddle_value_coefficient(left, l->name, &a) || !heddle_value_coefficient(right, l->name, &b) || a == b)
		return v;
	/* as left - right [- 1] + (a - b) v < 0 */
	if (op == HEDDLE_OP_GT || op == HEDDLE_OP_GE) {
		heddle_value *swap = left;
		int64_t c = a;
		left = right;
		right = swap;
		a = b;
		b = c;
	}
	heddle_value *x = heddle_value_binary(l->p, HEDDLE_OP_SUB, heddle_value_cast(l->p, HEDDLE_INT64, lanes_at(l, left, 0)),
					      heddle_value_cast(l->p, HEDDLE_INT64, lanes_at(l, right, 0)));
	if (op == HEDDLE_OP_LE || op == HEDDLE_OP_GE)
		x = heddle_value_binary(l->p, HEDDLE_OP_SUB, x, heddle_value_int(l->p, HEDDLE_INT64, 1));
	return same_sign(l, x, a - b) ? lanes_at(l, v, 0) : v;
}

static heddle_value *lift(heddle_value *v, void *user)
{
	lanes *l = user;
	if (!lanes_depends(l, v))
		return v;
	if (v->kind == HEDDLE_VALUE_FLOOR_DIV || v->kind == HEDDLE_VALUE_FLOOR_MOD)
		return lift_division(l, v, v->kind == HEDDLE_VALUE_FLOOR_DIV);
	if (v->kind == HEDDLE_VALUE_BINARY && (v->op == HEDDLE_OP_DIV || v->op == HEDDLE_OP_MOD) &&
	    heddle_type_is_signed(v->type) && !lanes_has_load(v))
		return lift_division(l, v, v->op == HEDDLE_OP_DIV);
	if (v->kind == HEDDLE_VALUE_BINARY && v->op >= HEDDLE_OP_LT && v->op <= HEDDLE_OP_NE)
		return lift_comparison(l, v);
	return v;
}

static void lift_tree(simplify *s, heddle_node *node, void *user)
{
	lanes *l = user;
	for (int k = 0; k < node->n_value; k++)
		node->value[k] = heddle_value_map(s->p, node->value[k], lift, l);
}

/* ---- may the iterations run in lockstep? ------------------------------------------------------------------------------------------ */

typedef struct access {
	heddle_buffer *buffer;
	int n;
	heddle_value *const *subscript;
	const heddle_node *store; /* the statement when this is its store, else NULL */
	const heddle_node *in;
	int depth; /* conditions and loops around it, inside the vector loop */
} access;

typedef struct census {
	heddle_arena *arena;
	lanes *l;
	int n;
	access *access;
	bool bad;
	int n_inner;
	const char **inner; /* names of the loops inside */
} census;

static void count_value(census *c, const heddle_node *node, heddle_value *v, int depth)
{
	if (v->width != 1 || v->kind == HEDDLE_VALUE_SHUFFLE || v->kind == HEDDLE_VALUE_REDUCE) {
		c->bad = true;
		return;
	}
	if (v->kind == HEDDLE_VALUE_LOAD) {
		access a = {v->buffer, v->n_arg, v->arg, NULL, node, depth};
		HEDDLE_PUSH(c->arena, c->access, c->n, a);
	}
	for (int k = 0; k < v->n_arg; k++)
		count_value(c, node, v->arg[k], depth);
}

static void count_node(census *c, const heddle_node *node, int depth)
{
	for (int k = 0; k < node->n_value; k++)
		count_value(c, node, node->value[k], depth);
	switch (node->kind) {
	case HEDDLE_NODE_STORE: {
		access a = {node->buffer, node->n_value - 1, node->value + 1, node, node, depth};
		HEDDLE_PUSH(c->arena, c->access, c->n, a);
		break;
	}
	case HEDDLE_NODE_FOR:
		c->bad |= lanes_depends(c->l, node->value[0]) || lanes_depends(c->l, node->value[1]);
		HEDDLE_PUSH(c->arena, c->inner, c->n_inner, node->name);
		break;
	case HEDDLE_NODE_LET: /* one with loads: integers are inlined */
	case HEDDLE_NODE_DECLARE:
	case HEDDLE_NODE_BARRIER:
	case HEDDLE_NODE_COPY:
	case HEDDLE_NODE_WAIT:
		c->bad = true;
		break;
	default:
		break;
	}
	for (int k = 0; k < node->n_child; k++)
		count_node(c, node->child[k], depth + (node->kind == HEDDLE_NODE_FOR || node->kind == HEDDLE_NODE_IF));
}

/* Subscript `d` of all accesses to the buffer is the same a * v + r, a != 0, with an r that no loop inside changes. */
static bool own_elements_by(const census *c, const heddle_buffer *buffer, int d)
{
	heddle_value *first = NULL;
	int64_t a;
	for (int k = 0; k < c->n; k++) {
		if (c->access[k].buffer != buffer)
			continue;
		if (d >= c->access[k].n)
			return false;
		heddle_value *subscript = c->access[k].subscript[d];
		if (first && !heddle_value_equal(first, subscript))
			return false;
		first = subscript;
	}
	if (!first || lanes_has_load(first) || !heddle_value_coefficient(first, c->l->name, &a) || a == 0)
		return false;
	for (int k = 0; k < c->n_inner; k++)
		if (heddle_value_depends(first, c->inner[k]))
			return false;
	return true;
}

/* The side e of `x = x op e` (either order, also fma(a, b, x), which gives a * b); NULL when it is none. */
static heddle_value *reduced(heddle_program *p, const heddle_node *store, heddle_op *op)
{
	const heddle_value *v = store->value[0];
	heddle_value *self, *e;
	if (v->kind == HEDDLE_VALUE_FMA) {
		*op = HEDDLE_OP_ADD;
		self = v->arg[2];
		e = heddle_value_binary(p, HEDDLE_OP_MUL, v->arg[0], v->arg[1]);
	} else if (v->kind == HEDDLE_VALUE_BINARY && (v->op == HEDDLE_OP_ADD || v->op == HEDDLE_OP_MUL ||
						      v->op == HEDDLE_OP_MIN || v->op == HEDDLE_OP_MAX)) {
		*op = v->op;
		self = v->arg[0];
		e = v->arg[1];
		if (self->kind != HEDDLE_VALUE_LOAD || self->buffer != store->buffer) {
			self = v->arg[1];
			e = v->arg[0];
		}
	} else {
		return NULL;
	}
	if (self->kind != HEDDLE_VALUE_LOAD || self->buffer != store->buffer || self->n_arg != store->n_value - 1)
		return NULL;
	for (int k = 0; k < self->n_arg; k++)
		if (!heddle_value_equal(self->arg[k], store->value[k + 1]))
			return NULL;
	return e;
}

/* All accesses to the buffer are those of one reduction over v: its store and the load of the same element. */
static bool is_reduction(const census *c, const heddle_buffer *buffer)
{
	const heddle_node *store = NULL;
	heddle_op op;
	int n = 0;
	for (int k = 0; k < c->n; k++) {
		if (c->access[k].buffer != buffer)
			continue;
		n++;
		if (c->access[k].store) {
			if (store)
				return false;
			store = c->access[k].store;
		}
	}
	if (n != 2 || !store || !reduced(c->l->p, store, &op))
		return false;
	for (int k = 1; k < store->n_value; k++)
		if (lanes_depends(c->l, store->value[k]))
			return false;
	return true;
}

static bool may_run_in_lockstep(lanes *l, const heddle_node *body)
{
	census c = {.arena = l->p->arena, .l = l};
	count_node(&c, body, 0);
	for (int k = 0; k < c.n && !c.bad; k++) {
		if (!c.access[k].store)
			continue;
		bool own = false;
		for (int d = 0; d < c.access[k].n && !own; d++)
			own = own_elements_by(&c, c.access[k].buffer, d);
		c.bad |= !own && !is_reduction(&c, c.access[k].buffer);
	}
	return !c.bad;
}

/* ---- statements --------------------------------------------------------------------------------------------------------------------------- */

static void emit_node(lanes *l, const heddle_node *node, heddle_node *out);

static void begin_statement(lanes *l, const heddle_node *node, heddle_node *out)
{
	l->n_wide = 0;
	l->statement = node;
	l->out = out;
	l->line = node->line;
}

static void append_store(lanes *l, const heddle_node *like, int n, heddle_value **subscript, heddle_value *value)
{
	heddle_node *store = heddle_node_store(l->p, like->buffer, n, subscript, value);
	store->line = like->line;
	heddle_node_append(l->p, l->out, store);
}

/* One scalar store for each member. */
static void append_member_stores(lanes *l, const heddle_node *node, heddle_value *const *value)
{
	int n = node->n_value - 1;
	heddle_value **subscript;
	for (int m = 0; m < l->width; m++) {
		subscript = HEDDLE_NEW_ARRAY(l->p->arena, heddle_value *, n ? n : 1);
		for (int k = 0; k < n; k++)
			subscript[k] = lanes_member(l, node->value[k + 1], m);
		append_store(l, node, n, subscript, value[m]);
	}
}

/* The statement in a loop over v, as it was. */
void lanes_append_scalar_loop(lanes *l, const heddle_node *node, bool unroll, heddle_node *out)
{
	const char *name = simplify_name(l->s, l->name);
	heddle_value *v = heddle_value_variable(l->p, l->type, 1, name);
	int mark = heddle_ranges_mark(l->s->ranges);
	heddle_node *block = heddle_node_block(l->p);
	heddle_node_append(l->p, block, simplify_node_like(l->p, node));
	*block->child[0] = *node;
	heddle_ranges_define(l->s->ranges, name, heddle_range_between(0, l->width - 1));
	heddle_node *body = simplify_substitute(l->s, block, l->name, v);
	heddle_ranges_unwind(l->s->ranges, mark);
	heddle_node *loop = heddle_node_for(l->p, unroll ? HEDDLE_LOOP_UNROLL : HEDDLE_LOOP_SERIAL, name,
					    heddle_value_int(l->p, l->type, 0), heddle_value_int(l->p, l->type, l->width), 1, body);
	loop->uniform = true;
	loop->line = node->line;
	heddle_node_append(l->p, out, loop);
}

static bool touches_registers_in_value(const lanes *l, const heddle_value *v)
{
	if (v->kind == HEDDLE_VALUE_LOAD && v->buffer->role == HEDDLE_BUFFER_REGISTER && v->n_arg && lanes_depends(l, v))
		return true;
	for (int k = 0; k < v->n_arg; k++)
		if (touches_registers_in_value(l, v->arg[k]))
			return true;
	return false;
}

/* Register arrays are indexed by v: the loop over it has to go. */
bool lanes_touch_registers(const lanes *l, const heddle_node *node)
{
	for (int k = 0; k < node->n_value; k++)
		if (touches_registers_in_value(l, node->value[k]))
			return true;
	if (node->kind == HEDDLE_NODE_STORE && node->buffer->role == HEDDLE_BUFFER_REGISTER)
		for (int k = 1; k < node->n_value; k++)
			if (lanes_depends(l, node->value[k]))
				return true;
	for (int k = 0; k < node->n_child; k++)
		if (lanes_touch_registers(l, node->child[k]))
			return true;
	return false;
}

bool lanes_store_in_one_element(const lanes *l, const heddle_node *node)
{
	for (int k = 1; k < node->n_value; k++)
		if (lanes_depends(l, node->value[k]))
			return false;
	return true;
}

/* x = x op e for all members. */
static void emit_reduction(lanes *l, const heddle_node *node, heddle_node *out)
{
	heddle_op op = HEDDLE_OP_ADD;
	heddle_value *e = reduced(l->p, node, &op), *value[HEDDLE_MAX_VECTOR];
	begin_statement(l, node, out);
	lanes_collect_wide(l, e);
	if (l->arithmetic && lanes_depends(l, e) && e->type != HEDDLE_BOOL) {
		heddle_value *self = heddle_value_load(l->p, node->buffer, 1, node->n_value - 1, node->value + 1);
		heddle_value *all = heddle_value_reduce(l->p, op, lanes_full(l, lanes_vector(l, e)));
		append_store(l, node, node->n_value - 1, node->value + 1, heddle_value_binary(l->p, op, self, all));
		l->any = true;
		return;
	}
	if (!l->n_wide) {
		lanes_append_scalar_loop(l, node, lanes_touch_registers(l, node), out);
		return;
	}
	for (int m = 0; m < l->width; m++)
		value[m] = lanes_member(l, node->value[0], m);
	append_member_stores(l, node, value);
}

/* A store whose conditions over v are settled. */
void lanes_emit_plain_store(lanes *l, const heddle_node *node, heddle_node *out)
{
	heddle_buffer *buffer = node->buffer;
	int n = node->n_value - 1;
	heddle_value *value[HEDDLE_MAX_VECTOR];
	if (lanes_store_in_one_element(l, node)) {
		emit_reduction(l, node, out);
		return;
	}
	begin_statement(l, node, out);
	lanes_collect_wide(l, node->value[0]);
	heddle_value **first = lanes_consecutive(l, buffer, n, node->value + 1);
	bool is_register = buffer->role == HEDDLE_BUFFER_REGISTER;
	bool wide_store = first && (is_register ? l->arithmetic : lanes_is_aligned(l, buffer, n, first));
	if (!wide_store && !l->n_wide) {
		lanes_append_scalar_loop(l, node, lanes_touch_registers(l, node), out);
		return;
	}
	if (l->arithmetic) {
		heddle_value *all = lanes_full(l, lanes_vector(l, node->value[0]));
		if (wide_store) {
			append_store(l, node, n, first, all);
			l->any = true;
			return;
		}
		for (int m = 0; m < l->width; m++)
			value[m] = heddle_value_extract(l->p, all, m);
		if (all->kind != HEDDLE_VALUE_SPLAT && all->kind != HEDDLE_VALUE_BUILD) {
			const char *name = simplify_name(l->s, "t");
			heddle_node_append(l->p, out, heddle_node_let(l->p, name, all));
			for (int m = 0; m < l->width; m++)
				value[m] = heddle_value_extract(l->p, heddle_value_variable(l->p, all->type, l->width, name), m);
		}
		append_member_stores(l, node, value);
		return;
	}
	for (int m = 0; m < l->width; m++)
		value[m] = lanes_member(l, node->value[0], m);
	if (wide_store) {
		append_store(l, node, n, first, lanes_build(l, value));
		l->any = true;
	} else {
		append_member_stores(l, node, value);
	}
}

void lanes_emit_children(lanes *l, const heddle_node *block, heddle_node *out)
{
	for (int k = 0; k < block->n_child; k++)
		emit_node(l, block->child[k], out);
}

static void emit_for(lanes *l, const heddle_node *node, heddle_node *out)
{
	heddle_node *loop = simplify_node_like(l->p, node), *body = heddle_node_block(l->p);
	int mark = heddle_ranges_mark(l->s->ranges);
	for (int k = 0; k < 2; k++)
		HEDDLE_PUSH(l->p->arena, loop->value, loop->n_value, node->value[k]);
	heddle_ranges_define(l->s->ranges, node->name, heddle_ranges_loop(l->s->ranges, node));
	lanes_emit_children(l, node->child[0], body);
	heddle_ranges_unwind(l->s->ranges, mark);
	HEDDLE_PUSH(l->p->arena, loop->child, loop->n_child, body);
	if (loop->loop == HEDDLE_LOOP_VECTOR)
		loop->loop = HEDDLE_LOOP_UNROLL;
	heddle_node_append(l->p, out, loop);
}

static void emit_node(lanes *l, const heddle_node *node, heddle_node *out)
{
	switch (node->kind) {
	case HEDDLE_NODE_BLOCK:
		lanes_emit_children(l, node, out);
		break;
	case HEDDLE_NODE_FOR:
		emit_for(l, node, out);
		break;
	case HEDDLE_NODE_IF:
		lanes_emit_if(l, node, out);
		break;
	case HEDDLE_NODE_STORE:
		lanes_emit_store(l, node, out);
		break;
	default: /* comments; the census has refused the others */
		heddle_node_append(l->p, out, simplify_node_like(l->p, node));
		break;
	}
}

/* ---- the loop ---------------------------------------------------------------------------------------------------------------------------------- */

static int greatest_element(const heddle_buffer *buffer)
{
	bool memory = buffer->role != HEDDLE_BUFFER_REGISTER && buffer->role != HEDDLE_BUFFER_SCALAR;
	return memory ? heddle_type_size(buffer->type) : 1;
}

static int greatest_element_in(const heddle_value *v)
{
	int most = v->kind == HEDDLE_VALUE_LOAD ? greatest_element(v->buffer) : 1;
	for (int k = 0; k < v->n_arg; k++) {
		int inner = greatest_element_in(v->arg[k]);
		most = inner > most ? inner : most;
	}
	return most;
}

/* Bytes of the greatest element of memory that a tree touches. */
static int greatest_element_of(const heddle_node *node)
{
	int most = node->kind == HEDDLE_NODE_STORE ? greatest_element(node->buffer) : 1, inner;
	for (int k = 0; k < node->n_value; k++)
		if ((inner = greatest_element_in(node->value[k])) > most)
			most = inner;
	for (int k = 0; k < node->n_child; k++)
		if ((inner = greatest_element_of(node->child[k])) > most)
			most = inner;
	return most;
}

static int width_for(const simplify *s, const heddle_node *loop, int64_t trips)
{
	int width = s->options->max_vector < HEDDLE_MAX_VECTOR ? s->options->max_vector : HEDDLE_MAX_VECTOR, bytes = s->options->max_bytes;
	if (bytes > 0 && width > bytes / greatest_element_of(loop))
		width = bytes / greatest_element_of(loop);
	while (width & (width - 1))
		width &= width - 1;
	while (width > 1 && trips % width)
		width /= 2;
	return width;
}

/* The loop in lockstep, appended to `out`; false, and nothing is done, when it cannot be. */
static bool in_lockstep(simplify *s, const heddle_node *loop, heddle_node *out)
{
	heddle_program *p = s->p;
	heddle_value *lower = loop->value[0], *upper = loop->value[1], *part = NULL;
	if (lower->kind != HEDDLE_VALUE_INT || upper->kind != HEDDLE_VALUE_INT || loop->i != 1)
		return false;
	int64_t trips = upper->i - lower->i;
	lanes l = {.s = s, .p = p, .type = lower->type, .width = width_for(s, loop, trips), .arithmetic = s->options->vector_arithmetic};
	if (l.width < 2)
		return false;
	l.name = simplify_name(s, loop->name);
	heddle_value *v = heddle_value_variable(p, l.type, 1, l.name);
	heddle_ranges_define(s->ranges, l.name, heddle_range_between(0, l.width - 1));
	if (trips != l.width) {
		const char *name = simplify_name(s, loop->name);
		part = heddle_value_variable(p, l.type, 1, name);
		heddle_ranges_define(s->ranges, name, heddle_range_between(0, trips / l.width - 1));
		v = heddle_value_binary(p, HEDDLE_OP_ADD,
					heddle_value_binary(p, HEDDLE_OP_MUL, part, heddle_value_int(p, l.type, l.width)), v);
	}
	v = heddle_value_binary(p, HEDDLE_OP_ADD, v, lower);

	binding b = {loop->name, v, NULL};
	rewriter r = {.s = s, .env = &b, .inline_integers = true, .copies = 1};
	heddle_node *body = heddle_node_block(p), *done = heddle_node_block(p);
	simplify_emit(&r, loop->child[0], body);
	simplify_walk(s, body, lift_tree, &l);
	if (!may_run_in_lockstep(&l, body))
		return false;
	emit_node(&l, body, done);
	if (!l.any)
		return false;
	if (!part) {
		for (int k = 0; k < done->n_child; k++)
			heddle_node_append(p, out, done->child[k]);
		return true;
	}
	heddle_node *parts = heddle_node_for(p, HEDDLE_LOOP_UNROLL, part->name, heddle_value_int(p, l.type, 0),
					     heddle_value_int(p, l.type, trips / l.width), 1, done);
	parts->uniform = true;
	parts->line = loop->line;
	heddle_node_append(p, out, parts);
	return true;
}

static heddle_node *vectorised(simplify *s, heddle_node *block);

static void visit(simplify *s, heddle_node *node, heddle_node *out)
{
	int mark = heddle_ranges_mark(s->ranges);
	if (node->kind == HEDDLE_NODE_LET) {
		heddle_ranges_let(s->ranges, node->name, node->value[0]);
		heddle_node_append(s->p, out, node);
		return;
	}
	if (node->kind == HEDDLE_NODE_FOR && node->loop == HEDDLE_LOOP_VECTOR) {
		bool done = in_lockstep(s, node, out);
		heddle_ranges_unwind(s->ranges, mark);
		if (done)
			return;
		lanes l = {.s = s, .p = s->p, .name = node->name};
		int64_t trips = node->value[1]->i - node->value[0]->i;
		bool shortly = node->value[0]->kind == HEDDLE_VALUE_INT && node->value[1]->kind == HEDDLE_VALUE_INT &&
			       (trips <= UNROLLED_TRIPS || lanes_touch_registers(&l, node->child[0]));
		node->loop = shortly ? HEDDLE_LOOP_UNROLL : HEDDLE_LOOP_SERIAL;
	}
	if (node->kind == HEDDLE_NODE_FOR)
		heddle_ranges_define(s->ranges, node->name, heddle_ranges_loop(s->ranges, node));
	if (node->kind == HEDDLE_NODE_BLOCK)
		node = vectorised(s, node);
	else
		for (int k = 0; k < node->n_child; k++)
			node->child[k] = vectorised(s, node->child[k]);
	heddle_ranges_unwind(s->ranges, mark);
	heddle_node_append(s->p, out, node);
}

static heddle_node *vectorised(simplify *s, heddle_node *block)
{
	heddle_node *out = simplify_node_like(s->p, block);
	int mark = heddle_ranges_mark(s->ranges);
	for (int k = 0; k < block->n_child; k++)
		visit(s, block->child[k], out);
	heddle_ranges_unwind(s->ranges, mark);
	return out;
}

void simplify_vectorise(simplify *s)
{
	s->launch->body = vectorised(s, s->launch->body);
	lanes_clear_copied(s);
}
