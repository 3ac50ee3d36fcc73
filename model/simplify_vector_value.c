/* Values of a loop in lockstep: one vector for all members, of wide accesses where they lie side by side, or each member's own.
 * SPDX-License-Identifier: MIT
 */
#include "model/simplify_lanes.h"

#include <math.h>
#include <string.h>

/* ---- wide accesses ------------------------------------------------------------------------------------------------------------------ */

/* Subscripts at v = 0 when the members of v are consecutive elements; NULL when they are not. */
heddle_value **lanes_consecutive(lanes *l, const heddle_buffer *buffer, int n, heddle_value *const *subscript)
{
	int64_t a;
	if (buffer->stride && (n != buffer->rank || !heddle_value_is_int(buffer->stride[n - 1], 1)))
		return NULL;
	if (buffer->width != 1 || n < 1 || !heddle_value_coefficient(subscript[n - 1], l->name, &a) || a != 1 ||
	    lanes_has_load(subscript[n - 1]))
		return NULL;
	for (int k = 0; k < n - 1; k++)
		if (lanes_depends(l, subscript[k]))
			return NULL;
	heddle_value **first = HEDDLE_NEW_ARRAY(l->p->arena, heddle_value *, n);
	for (int k = 0; k < n; k++)
		first[k] = lanes_at(l, subscript[k], 0);
	return first;
}

/* The address of the first member is a multiple of the whole vector.  Shared buffers are ours to align. */
bool lanes_is_aligned(lanes *l, heddle_buffer *buffer, int n, heddle_value *const *first)
{
	int bytes = l->width * heddle_type_size(buffer->type);
	if (l->s->options->unaligned_vectors)
		return true;
	const heddle_value *offset = simplify_offset(l->s, buffer, n, first);
	if (heddle_range_residue(heddle_ranges_of(l->s->ranges, offset), l->width) != 0 && heddle_ranges_step(l->s->ranges, offset) % l->width)
		return false; /* products of sizes may be too great for a range: what they are multiples of is known all the same */
	if (buffer->role == HEDDLE_BUFFER_SHARED && buffer->align < bytes)
		buffer->align = bytes;
	return buffer->align % bytes == 0;
}

/* Members that lie two apart in an input: two vectors from the first to the last of them, and every second one of theirs.  What lies
 * between two elements of a row exists; of other buffers it may not have been written. */
static heddle_value *strided_load(lanes *l, heddle_value *load)
{
	heddle_buffer *buffer = load->buffer;
	const int n = load->n_arg;
	int64_t step;
	if (!l->s->options->zips || !l->s->options->unaligned_vectors || !l->arithmetic || buffer->role != HEDDLE_BUFFER_INPUT ||
	    buffer->type == HEDDLE_BOOL || n < 1 || (buffer->stride && !heddle_value_is_int(buffer->stride[n - 1], 1)))
		return NULL;
	for (int k = 0; k < n; k++)
		if (lanes_has_load(load->arg[k]) || (k + 1 < n && lanes_depends(l, load->arg[k])))
			return NULL;
	if (!heddle_value_coefficient(load->arg[n - 1], l->name, &step) || step != 2)
		return NULL;
	heddle_value **first = HEDDLE_NEW_ARRAY(l->p->arena, heddle_value *, n), **second = HEDDLE_NEW_ARRAY(l->p->arena, heddle_value *, n);
	for (int k = 0; k < n; k++)
		first[k] = second[k] = lanes_at(l, load->arg[k], 0);
	second[n - 1] = heddle_value_binary(l->p, HEDDLE_OP_ADD, first[n - 1], heddle_value_int(l->p, first[n - 1]->type, l->width - 1));
	return heddle_value_unzip(l->p, heddle_value_load_ahead(l->p, buffer, l->width, n, first, load->i),
				  heddle_value_load_ahead(l->p, buffer, l->width, n, second, load->i));
}

static heddle_value *wide_load(lanes *l, heddle_value *load)
{
	heddle_buffer *buffer = load->buffer;
	if (buffer->role == HEDDLE_BUFFER_SCALAR || (buffer->role == HEDDLE_BUFFER_REGISTER && !l->arithmetic))
		return NULL;
	heddle_value **first = lanes_consecutive(l, buffer, load->n_arg, load->arg), *strided = first ? NULL : strided_load(l, load);
	if (strided)
		return strided;
	if (!first || (buffer->role != HEDDLE_BUFFER_REGISTER && !lanes_is_aligned(l, buffer, load->n_arg, first)))
		return NULL;
	return heddle_value_load_ahead(l->p, buffer, l->width, load->n_arg, first, load->i);
}

heddle_value *lanes_full(lanes *l, heddle_value *v)
{
	return v->width == 1 ? heddle_value_splat(l->p, v, l->width) : v;
}

static wide *find_wide(lanes *l, const heddle_value *load)
{
	for (int k = 0; k < l->n_wide; k++)
		if (heddle_value_equal(l->wide[k].load, load))
			return &l->wide[k];
	return NULL;
}

/* Where one of two conditions holds; NULL stands for true. */
static heddle_value *either(lanes *l, heddle_value *a, heddle_value *b)
{
	if (!a || !b || heddle_value_equal(heddle_value_unary(l->p, HEDDLE_OP_NOT, a), b) ||
	    heddle_value_equal(a, heddle_value_unary(l->p, HEDDLE_OP_NOT, b)))
		return NULL;
	return heddle_value_equal(a, b) ? a : heddle_value_binary(l->p, HEDDLE_OP_OR, a, b);
}

static heddle_value *both(lanes *l, heddle_value *a, heddle_value *b)
{
	return a ? heddle_value_binary(l->p, HEDDLE_OP_AND, a, b) : b;
}

/* Is it the same place of a buffer of the same shape? */
static bool same_place(const heddle_value *load, const heddle_buffer *buffer, int n, heddle_value *const *subscript)
{
	if (n != load->n_arg || buffer->rank != n || load->buffer->rank != n)
		return false;
	for (int k = 0; k < n; k++)
		if (!heddle_value_equal(load->arg[k], subscript[k]) || !heddle_value_equal(load->buffer->extent[k], buffer->extent[k]))
			return false;
	return true;
}

/* Does the value surely load that place of some buffer? */
static bool loads_there(const heddle_value *v, const heddle_value *load)
{
	if (v->kind == HEDDLE_VALUE_LOAD && same_place(load, v->buffer, v->n_arg, v->arg))
		return true;
	const bool decides = v->kind == HEDDLE_VALUE_SELECT ||
			     (v->kind == HEDDLE_VALUE_BINARY && (v->op == HEDDLE_OP_AND || v->op == HEDDLE_OP_OR));
	for (int k = 0; k < (decides ? 1 : v->n_arg); k++)
		if (loads_there(v->arg[k], load))
			return true;
	return false;
}

/* An element of the caller's that is there whether it is asked for or not: the statement stores or loads that place of a buffer of the same
 * shape in any case. */
static bool exists_anyway(const lanes *l, const heddle_value *load)
{
	const heddle_node *store = l->statement;
	if (load->buffer->role != HEDDLE_BUFFER_INPUT && load->buffer->role != HEDDLE_BUFFER_INOUT)
		return false;
	return same_place(load, store->buffer, store->n_value - 1, store->value + 1) || loads_there(store->value[0], load);
}

static void collect_wide_load(lanes *l, heddle_value *v, heddle_value *guard)
{
	wide *known = find_wide(l, v);
	heddle_value *vector = known ? NULL : wide_load(l, v);
	if (known) {
		known->count++;
		known->guard = either(l, known->guard, guard);
	} else if (vector && l->n_wide < MOST_WIDE) {
		l->wide[l->n_wide++] = (wide){v, vector, NULL, 1, guard};
	}
}

/* Of what a selection between members may leave out, the loads of elements that exist: a vector of them costs no more than its members do. */
static void collect_existing(lanes *l, heddle_value *v)
{
	if (v->kind == HEDDLE_VALUE_LOAD && lanes_depends(l, v) && exists_anyway(l, v))
		collect_wide_load(l, v, NULL);
	for (int k = 0; k < v->n_arg && v->kind != HEDDLE_VALUE_LOAD; k++)
		collect_existing(l, v->arg[k]);
}

/* The loads that can be wide and happen under conditions that all members share.  Vector arithmetic chooses between vectors instead. */
static void collect_wide_where(lanes *l, heddle_value *v, heddle_value *guard)
{
	if (!lanes_depends(l, v))
		return;
	if (v->kind == HEDDLE_VALUE_LOAD)
		collect_wide_load(l, v, guard);
	const bool select = v->kind == HEDDLE_VALUE_SELECT;
	const bool shared = select && !l->arithmetic && !lanes_depends(l, v->arg[0]) && simplify_is_pure(v->arg[0]);
	for (int k = 0; k < (select ? 1 : v->n_arg); k++)
		collect_wide_where(l, v->arg[k], guard);
	for (int k = 1; k < v->n_arg && select && lanes_depends(l, v->arg[0]); k++)
		collect_existing(l, v->arg[k]);
	if (!shared)
		return;
	collect_wide_where(l, v->arg[1], both(l, guard, v->arg[0]));
	collect_wide_where(l, v->arg[2], both(l, guard, heddle_value_unary(l->p, HEDDLE_OP_NOT, v->arg[0])));
}

/* Vectors under a condition that a branch reads, too, which others decide about: their members would not be there for it.  They are read one by
 * one instead. */
static void drop_read_in(lanes *l, const heddle_value *branch)
{
	const wide *known = branch->kind == HEDDLE_VALUE_LOAD ? find_wide(l, branch) : NULL;
	if (known && known->guard)
		l->wide[known - l->wide] = l->wide[--l->n_wide];
	for (int k = 0; k < branch->n_arg; k++)
		drop_read_in(l, branch->arg[k]);
}

static void drop_unshared(lanes *l, const heddle_value *v)
{
	const bool unshared = v->kind == HEDDLE_VALUE_SELECT && (lanes_depends(l, v->arg[0]) || !simplify_is_pure(v->arg[0]));
	for (int k = 0; k < v->n_arg; k++)
		if (k > 0 && unshared)
			drop_read_in(l, v->arg[k]);
		else
			drop_unshared(l, v->arg[k]);
}

void lanes_collect_wide(lanes *l, heddle_value *v)
{
	collect_wide_where(l, v, NULL);
	drop_unshared(l, v);
}

static heddle_value *zero(lanes *l, heddle_type type)
{
	return heddle_type_is_float(type) ? heddle_value_float(l->p, type, 0) : heddle_value_int(l->p, type, 0);
}

/* The vector in a let of its own, so that its members can be named. */
static heddle_value *wide_variable(lanes *l, wide *w)
{
	if (!w->variable) {
		const char *name = simplify_name(l->s, heddle_arena_printf(l->p->arena, "%s_v", w->load->buffer->name));
		heddle_value *vector = w->vector;
		if (w->guard)
			vector = heddle_value_select(l->p, w->guard, vector, lanes_full(l, zero(l, vector->type)));
		heddle_node *let = heddle_node_let(l->p, name, vector);
		let->line = l->line;
		heddle_node_append(l->p, l->out, let);
		w->variable = heddle_value_variable(l->p, w->vector->type, l->width, name);
		l->any = true;
	}
	return w->variable;
}

/* ---- one member ------------------------------------------------------------------------------------------------------------------------- */

typedef struct member_of {
	lanes *l;
	int member;
} member_of;

static heddle_value *member_load(lanes *l, heddle_value *v, int member)
{
	if (v->kind == HEDDLE_VALUE_LOAD) {
		wide *w = find_wide(l, v);
		if (w)
			return heddle_value_extract(l->p, wide_variable(l, w), member);
	}
	return NULL;
}

/* Is `a` a member of a vector that is zeros where the condition does not hold, and `b` a zero? */
static bool asks_again(const lanes *l, const heddle_value *condition, const heddle_value *a, const heddle_value *b)
{
	if (a->kind != HEDDLE_VALUE_EXTRACT || !((b->kind == HEDDLE_VALUE_FLOAT && b->f == 0 && !signbit(b->f)) || (b->kind == HEDDLE_VALUE_INT && b->i == 0)))
		return false;
	for (int k = 0; k < l->n_wide; k++)
		if (l->wide[k].variable == a->arg[0])
			return l->wide[k].guard && heddle_value_equal(l->wide[k].guard, condition);
	return false;
}

/* The value at v = member; loads that are wide come out of their vectors. */
heddle_value *lanes_member(lanes *l, heddle_value *v, int m)
{
	heddle_value *load = member_load(l, v, m);
	if (load)
		return load;
	if (!lanes_depends(l, v))
		return v;
	if (simplify_is_pure(v))
		return lanes_at(l, v, m);
	heddle_value *copy = HEDDLE_NEW(l->p->arena, heddle_value);
	*copy = *v;
	copy->arg = HEDDLE_NEW_ARRAY(l->p->arena, heddle_value *, v->n_arg ? v->n_arg : 1);
	for (int k = 0; k < v->n_arg; k++)
		copy->arg[k] = lanes_member(l, v->arg[k], m);
	/* A condition over v alone is decided by now. */
	if (v->kind == HEDDLE_VALUE_SELECT && copy->arg[0]->kind == HEDDLE_VALUE_INT)
		return copy->arg[copy->arg[0]->i ? 1 : 2];
	if (v->kind == HEDDLE_VALUE_SELECT && asks_again(l, copy->arg[0], copy->arg[1], copy->arg[2]))
		return copy->arg[1];
	return copy;
}

/* The vector of members m; { x.0, x.1, ... } is x. */
heddle_value *lanes_build(lanes *l, heddle_value **m)
{
	heddle_value *whole = m[0]->kind == HEDDLE_VALUE_EXTRACT ? m[0]->arg[0] : NULL;
	for (int k = 0; k < l->width && whole; k++)
		if (m[k]->kind != HEDDLE_VALUE_EXTRACT || m[k]->i != k || !heddle_value_equal(m[k]->arg[0], whole))
			whole = NULL;
	return whole && whole->width == l->width ? whole : heddle_value_build(l->p, l->width, m);
}

static heddle_value *members(lanes *l, heddle_value *v)
{
	heddle_value *m[HEDDLE_MAX_VECTOR];
	for (int k = 0; k < l->width; k++)
		m[k] = lanes_member(l, v, k);
	return lanes_build(l, m);
}

/* ---- vectors ---------------------------------------------------------------------------------------------------------------------------- */

/* Functions that languages with vector arithmetic have for vectors of floats. */
static bool has_vector_form(const heddle_value *v)
{
	static const char *const names[] = {
		"acos",	 "acosh", "asin",  "asinh", "atan", "atan2", "atanh", "cbrt",  "ceil",  "copysign", "cos",
		"cosh",	 "cospi", "erf",   "erfc",  "exp",  "exp10", "exp2",  "expm1", "fabs",  "fdim",	    "floor",
		"fmax",	 "fmin",  "fmod",  "hypot", "log",  "log10", "log1p", "log2",  "pow",   "rint",	    "round",
		"rsqrt", "sin",	  "sinh",  "sinpi", "sqrt", "tan",   "tanh",  "trunc", NULL};
	if (v->type != HEDDLE_FLOAT32 && v->type != HEDDLE_FLOAT64)
		return false;
	for (int k = 0; k < v->n_arg; k++)
		if (v->arg[k]->type != v->type)
			return false;
	for (int k = 0; names[k]; k++)
		if (!strcmp(names[k], heddle_builtins[v->i].name))
			return true;
	return false;
}

static bool binary_has_vector_form(const heddle_value *v)
{
	bool is_float = heddle_type_is_float(v->arg[0]->type);
	switch (v->op) {
	case HEDDLE_OP_ADD:
	case HEDDLE_OP_SUB:
	case HEDDLE_OP_MUL:
	case HEDDLE_OP_MIN:
	case HEDDLE_OP_MAX:
		return v->type != HEDDLE_BOOL || heddle_op_of_truths(v->op) != v->op;
	case HEDDLE_OP_DIV:
		return is_float;
	case HEDDLE_OP_LT:
	case HEDDLE_OP_LE:
	case HEDDLE_OP_GT:
	case HEDDLE_OP_GE:
	case HEDDLE_OP_EQ:
	case HEDDLE_OP_NE:
		return v->arg[0]->type != HEDDLE_BOOL;
	case HEDDLE_OP_AND:
	case HEDDLE_OP_OR:
		return true;
	case HEDDLE_OP_BITAND:
	case HEDDLE_OP_BITOR:
	case HEDDLE_OP_BITXOR:
		return v->type != HEDDLE_BOOL;
	default:
		return false;
	}
}

/* The loads of an arm that is evaluated whether chosen or not must happen anyway. */
static bool is_harmless(lanes *l, const heddle_value *v)
{
	if (v->kind == HEDDLE_VALUE_LOAD && !find_wide(l, v))
		return false;
	if (v->kind == HEDDLE_VALUE_LOAD)
		return true;
	if (v->kind == HEDDLE_VALUE_BINARY && !binary_has_vector_form(v))
		return false; /* an integer division may be by zero */
	for (int k = 0; k < v->n_arg; k++)
		if (!is_harmless(l, v->arg[k]))
			return false;
	return true;
}

static heddle_value *vector_select(lanes *l, heddle_value *v)
{
	if (!lanes_depends(l, v->arg[0]))
		return heddle_value_select(l->p, v->arg[0], lanes_full(l, lanes_vector(l, v->arg[1])), lanes_full(l, lanes_vector(l, v->arg[2])));
	if (v->type == HEDDLE_BOOL || !is_harmless(l, v->arg[1]) || !is_harmless(l, v->arg[2]))
		return members(l, v);
	heddle_value *condition = lanes_full(l, lanes_vector(l, v->arg[0]));
	return heddle_value_select(l->p, condition, lanes_full(l, lanes_vector(l, v->arg[1])), lanes_full(l, lanes_vector(l, v->arg[2])));
}

static heddle_value *vector_load(lanes *l, heddle_value *v)
{
	wide *w = find_wide(l, v);
	if (w && (w->variable || w->count > 1))
		return wide_variable(l, w);
	heddle_value *load = w ? w->vector : wide_load(l, v);
	l->any |= load != NULL;
	return load ? load : members(l, v);
}

static heddle_value *vector_call(lanes *l, heddle_value *v)
{
	heddle_value *arg[8];
	if (!has_vector_form(v) || v->n_arg > (int)HEDDLE_COUNT(arg))
		return members(l, v);
	for (int k = 0; k < v->n_arg; k++)
		arg[k] = lanes_full(l, lanes_vector(l, v->arg[k]));
	return heddle_value_call(l->p, (int)v->i, v->type, v->n_arg, arg);
}

/* All members of `v`: of width 1 when they are the same. */
heddle_value *lanes_vector(lanes *l, heddle_value *v)
{
	if (!lanes_depends(l, v))
		return v;
	if (v->kind != HEDDLE_VALUE_LOAD && simplify_is_pure(v) && !lanes_has_load(v))
		return members(l, v); /* made of the iterator */
	switch (v->kind) {
	case HEDDLE_VALUE_LOAD:
		return vector_load(l, v);
	case HEDDLE_VALUE_UNARY:
		return heddle_value_unary(l->p, v->op, lanes_vector(l, v->arg[0]));
	case HEDDLE_VALUE_BINARY:
		if (!binary_has_vector_form(v))
			return members(l, v);
		return heddle_value_binary(l->p, v->type == HEDDLE_BOOL ? heddle_op_of_truths(v->op) : v->op,
					   lanes_full(l, lanes_vector(l, v->arg[0])), lanes_full(l, lanes_vector(l, v->arg[1])));
	case HEDDLE_VALUE_FMA:
		return heddle_value_fma(l->p, lanes_vector(l, v->arg[0]), lanes_vector(l, v->arg[1]), lanes_vector(l, v->arg[2]));
	case HEDDLE_VALUE_CAST:
		if (v->type == HEDDLE_BOOL || v->arg[0]->type == HEDDLE_BOOL)
			return members(l, v);
		return heddle_value_cast(l->p, v->type, lanes_vector(l, v->arg[0]));
	case HEDDLE_VALUE_SELECT:
		return vector_select(l, v);
	case HEDDLE_VALUE_CALL:
		return vector_call(l, v);
	default:
		return members(l, v);
	}
}
