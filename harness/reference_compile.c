/* Expressions of a statement to the oracle's nodes, and where their reads go: compiled once, located and loaded strip by strip.
 * SPDX-License-Identifier: MIT
 */
#include "harness/reference_machine.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- compiling ----------------------------------------------------------------------------------------------------------- */

/* Integer value of a subscript expression as an affine function of the statement's indices; false where it is none. */
static bool affine(const heddle_machine *m, const heddle_expr *x, heddle_affine *out)
{
	const int n = m->statement->n_index;
	out->base = 0;
	out->coefficient = HEDDLE_NEW_ARRAY(m->arena, int64_t, n);
	switch (x->kind) {
	case HEDDLE_EXPR_INT:
		out->base = x->i;
		return true;
	case HEDDLE_EXPR_SIZE:
		out->base = m->size[x->size->position];
		return true;
	case HEDDLE_EXPR_INDEX:
		out->coefficient[x->index->position] = 1;
		return true;
	case HEDDLE_EXPR_CAST:
		return (x->type == HEDDLE_INT32 || x->type == HEDDLE_INT64) && !heddle_type_is_float(x->arg[0]->type) &&
		       affine(m, x->arg[0], out);
	case HEDDLE_EXPR_UNARY:
		if (x->op != HEDDLE_OP_NEG || !affine(m, x->arg[0], out))
			return false;
		out->base = -out->base;
		for (int k = 0; k < n; ++k)
			out->coefficient[k] = -out->coefficient[k];
		return true;
	case HEDDLE_EXPR_BINARY:
		break;
	default:
		return false;
	}
	heddle_affine a, b;
	if ((x->op != HEDDLE_OP_ADD && x->op != HEDDLE_OP_SUB && x->op != HEDDLE_OP_MUL) || !affine(m, x->arg[0], &a) ||
	    !affine(m, x->arg[1], &b))
		return false;
	if (x->op != HEDDLE_OP_MUL) {
		const int64_t sign = x->op == HEDDLE_OP_ADD ? 1 : -1;
		out->base = a.base + sign * b.base;
		for (int k = 0; k < n; ++k)
			out->coefficient[k] = a.coefficient[k] + sign * b.coefficient[k];
		return true;
	}
	bool a_constant = true, b_constant = true;
	for (int k = 0; k < n; ++k) {
		a_constant = a_constant && !a.coefficient[k];
		b_constant = b_constant && !b.coefficient[k];
	}
	if (!a_constant && !b_constant)
		return false;
	const heddle_affine *varying = a_constant ? &b : &a;
	const int64_t factor = a_constant ? a.base : b.base;
	out->base = factor * varying->base;
	for (int k = 0; k < n; ++k)
		out->coefficient[k] = factor * varying->coefficient[k];
	return true;
}

heddle_access *heddle_oracle_access(heddle_machine *m, heddle_store *store, int rank, heddle_expr *const *subscript,
				    const heddle_location *location)
{
	heddle_access *a = HEDDLE_NEW(m->arena, heddle_access);
	a->store = store;
	a->location = location;
	a->rank = rank;
	a->affine = true;
	a->form = HEDDLE_NEW_ARRAY(m->arena, heddle_affine, rank);
	a->subscript = HEDDLE_NEW_ARRAY(m->arena, heddle_oracle_node *, rank);
	for (int d = 0; d < rank; ++d) {
		if (!affine(m, subscript[d], &a->form[d])) {
			a->affine = false;
			a->subscript[d] = heddle_oracle_compile(m, subscript[d]);
		}
	}
	return a;
}

static heddle_oracle_node *node_new(heddle_machine *m, heddle_expr_kind kind, heddle_type type)
{
	heddle_oracle_node *n = HEDDLE_NEW(m->arena, heddle_oracle_node);
	n->kind = kind;
	n->type = type;
	n->real = heddle_type_is_float(type);
	n->wide = type == HEDDLE_FLOAT64;
	n->u = heddle_unit_roundoff(n->wide ? HEDDLE_FLOAT64 : HEDDLE_FLOAT32);
	n->tiny = n->wide ? 0x1p-1074 : 0x1p-149;
	n->loose = 1;
	if (m->definition->policy == HEDDLE_POLICY_RELAXED) {
		n->tiny = n->flush = n->wide ? DBL_MIN : FLT_MIN;
		n->loose = 2;
	}
	n->s.clean = true;
	return n;
}

static void fill_constant(heddle_oracle_node *n, long double v, int64_t i)
{
	double e = 0;
	unsigned char q = 0;
	if (n->real && n->kind == HEDDLE_EXPR_FLOAT)
		heddle_oracle_round(n->type, &v, &e, &q);
	for (int l = 0; l < HEDDLE_STRIP; ++l) {
		n->s.v[l] = v;
		n->s.i[l] = heddle_oracle_wrap(n->type, i);
		n->s.e[l] = e;
	}
	n->s.clean = e == 0;
}

heddle_oracle_node *heddle_oracle_convert(heddle_machine *m, heddle_oracle_node *arg, heddle_type type)
{
	if (arg->type == type)
		return arg;
	heddle_oracle_node *n = node_new(m, HEDDLE_EXPR_CAST, type);
	n->expr = arg->expr;
	n->n_arg = 1;
	n->arg = HEDDLE_NEW(m->arena, heddle_oracle_node *);
	n->arg[0] = arg;
	return n;
}

/* The type that both operands of an operation have; the checker's casts make them equal, a missing cast is made here. */
static heddle_type operand_type(const heddle_expr *x)
{
	const heddle_type a = x->arg[0]->type, b = x->arg[1]->type;
	if (heddle_type_is_float(a) != heddle_type_is_float(b))
		return heddle_type_is_float(a) ? a : b;
	return heddle_type_size(b) > heddle_type_size(a) ? b : a;
}

heddle_oracle_node *heddle_oracle_compile(heddle_machine *m, const heddle_expr *x)
{
	heddle_oracle_node *n = node_new(m, x->kind, x->type);
	n->expr = x;
	if (x->kind == HEDDLE_EXPR_READ) {
		n->access = heddle_oracle_access(m, &m->store[x->tensor->position], x->n_arg, x->arg, &x->location);
		return n;
	}
	n->n_arg = x->n_arg;
	n->arg = HEDDLE_NEW_ARRAY(m->arena, heddle_oracle_node *, x->n_arg);
	for (int k = 0; k < x->n_arg; ++k)
		n->arg[k] = heddle_oracle_compile(m, x->arg[k]);
	switch (x->kind) {
	case HEDDLE_EXPR_INT:
		fill_constant(n, (long double)x->i, x->i);
		break;
	case HEDDLE_EXPR_FLOAT:
		fill_constant(n, (long double)x->f, (int64_t)0);
		break;
	case HEDDLE_EXPR_SIZE:
		fill_constant(n, (long double)m->size[x->size->position], m->size[x->size->position]);
		break;
	case HEDDLE_EXPR_INDEX:
		n->position = x->index->position;
		break;
	case HEDDLE_EXPR_BINARY:
		if (x->op != HEDDLE_OP_SHL && x->op != HEDDLE_OP_SHR)
			for (int k = 0; k < 2; ++k)
				n->arg[k] = heddle_oracle_convert(m, n->arg[k], operand_type(x));
		break;
	case HEDDLE_EXPR_SELECT:
		n->mask = heddle_arena_alloc(m->arena, 2 * HEDDLE_STRIP);
		for (int k = 1; k < 3; ++k)
			n->arg[k] = heddle_oracle_convert(m, n->arg[k], x->type);
		break;
	case HEDDLE_EXPR_CALL:
		if (heddle_builtins[x->builtin].integer)
			break;
		n->special = heddle_special_find(heddle_builtins[x->builtin].name);
		if (!n->special) {
			heddle_error(m->ctx, 950, &x->location, "the reference has no function '%s'",
				     heddle_builtins[x->builtin].name);
			m->failed = true;
		}
		/* Arguments of another type are converted, as the call in generated code does. */
		for (int k = 0; k < x->n_arg; ++k)
			if (!n->arg[k]->real)
				n->arg[k] = heddle_oracle_convert(m, n->arg[k], x->type);
		break;
	default:
		break;
	}
	return n;
}

/* ---- accesses --------------------------------------------------------------------------------------------------------- */

/* Per lane: subscripts that are not affine, or that leave the tensor on some lane. */
static void locate_slowly(heddle_machine *m, heddle_access *a)
{
	const heddle_store *s = a->store;
	const bool sliced = s->sampled && m->n_prefix;
	a->linear = false;
	for (int l = 0; l < m->n; ++l)
		a->offset[l] = sliced ? m->slice * s->rest : 0;
	for (int d = sliced ? m->n_prefix : 0; d < a->rank; ++d) {
		const heddle_oracle_node *x = a->subscript[d];
		int64_t start = 0, step = 0;
		if (!x) {
			start = a->form[d].base;
			for (int k = 0; k < m->statement->n_index; ++k)
				start += a->form[d].coefficient[k] * m->at[k];
			step = m->strip >= 0 ? a->form[d].coefficient[m->strip] : 0;
		}
		for (int l = 0; l < m->n; ++l) {
			if ((m->mask && m->mask[l] == HEDDLE_LANE_OFF) || a->offset[l] < 0) {
				a->offset[l] = -1;
				continue;
			}
			int64_t i = x ? x->s.i[l] : start + l * step;
			bool unsure = x && x->s.e[l] > 0;
			if (i < 0 || i >= s->extent[d]) {
				if (lane_on(m, l) && !unsure)
					heddle_oracle_fault(m, l, 710, a->location,
							    "subscript %d of '%s' is %lld, outside 0:%lld", d + 1,
							    s->tensor->name, (long long)i, (long long)s->extent[d]);
				a->offset[l] = -1;
			} else if (unsure) {
				a->offset[l] = -1; /* which element is read depends on rounding */
			} else {
				a->offset[l] += i * s->stride[d];
			}
		}
	}
}

void heddle_oracle_locate(heddle_machine *m, heddle_access *a)
{
	const heddle_store *s = a->store;
	const bool sliced = s->sampled && m->n_prefix;
	if (s->sampled && !sliced) {
		a->linear = true;
		a->step = 0;
		a->offset[0] = m->sample;
		return;
	}
	for (int d = 0; d < a->rank; ++d)
		if (a->subscript[d])
			heddle_oracle_eval(m, a->subscript[d]);
	if (!a->affine) {
		locate_slowly(m, a);
		return;
	}
	int64_t offset = sliced ? m->slice * s->rest : 0, total = 0;
	for (int d = sliced ? m->n_prefix : 0; d < a->rank; ++d) {
		int64_t start = a->form[d].base;
		for (int k = 0; k < m->statement->n_index; ++k)
			start += a->form[d].coefficient[k] * m->at[k];
		int64_t step = m->strip >= 0 ? a->form[d].coefficient[m->strip] : 0;
		int64_t last = start + (m->n - 1) * step;
		if (start < 0 || start >= s->extent[d] || last < 0 || last >= s->extent[d]) {
			locate_slowly(m, a);
			return;
		}
		offset += start * s->stride[d];
		total += step * s->stride[d];
	}
	a->linear = true;
	a->step = total;
	a->offset[0] = offset;
}

/* Input tensors are read where they lie. */
#define LOAD(ctype, target, convert)                                                                                    \
	for (int l = 0; l < m->n; ++l) {                                                                                \
		if (offset[l] < 0)                                                                                      \
			continue;                                                                                       \
		ctype x;                                                                                                \
		memcpy(&x, data + (size_t)offset[l] * sizeof(x), sizeof(x));                                            \
		target[l] = convert(x);                                                                                 \
	}                                                                                                               \
	break

#define AS_LONG_DOUBLE(x) ((long double)(x))
#define AS_INT(x) ((int64_t)(x))
#define AS_HALF(x) ((long double)heddle_float16_to(x))
#define AS_BFLOAT(x) ((long double)heddle_bfloat16_to(x))

static void load_input(const heddle_machine *m, heddle_oracle_node *n, const heddle_array *array, const int64_t *offset)
{
	const unsigned char *data = array->data;
	heddle_strip *s = &n->s;
	switch (array->type) {
	case HEDDLE_BOOL:
	case HEDDLE_UINT8:
		LOAD(uint8_t, s->i, AS_INT);
	case HEDDLE_INT8:
		LOAD(int8_t, s->i, AS_INT);
	case HEDDLE_INT16:
		LOAD(int16_t, s->i, AS_INT);
	case HEDDLE_INT32:
		LOAD(int32_t, s->i, AS_INT);
	case HEDDLE_INT64:
		LOAD(int64_t, s->i, AS_INT);
	case HEDDLE_UINT16:
		LOAD(uint16_t, s->i, AS_INT);
	case HEDDLE_UINT32:
		LOAD(uint32_t, s->i, AS_INT);
	case HEDDLE_UINT64:
		LOAD(uint64_t, s->i, AS_INT);
	case HEDDLE_FLOAT16:
		LOAD(uint16_t, s->v, AS_HALF);
	case HEDDLE_BFLOAT16:
		LOAD(uint16_t, s->v, AS_BFLOAT);
	case HEDDLE_FLOAT32:
		LOAD(float, s->v, AS_LONG_DOUBLE);
	case HEDDLE_FLOAT64:
		LOAD(double, s->v, AS_LONG_DOUBLE);
	case HEDDLE_N_TYPE:
		break;
	}
}

static void load_computed(heddle_machine *m, heddle_oracle_node *n, const int64_t *offset)
{
	const heddle_store *t = n->access->store;
	heddle_strip *s = &n->s;
	for (int l = 0; l < m->n; ++l) {
		const int64_t o = offset[l];
		if (o < 0)
			continue;
		if (!(t->mark[o] & HEDDLE_MARK_WRITTEN) && lane_on(m, l))
			heddle_oracle_fault(m, l, 711, n->access->location, "an element of '%s' is read before it is written",
					    t->tensor->name);
		if (n->real)
			s->v[l] = t->value[o];
		else
			s->i[l] = t->integer[o];
		s->e[l] = t->error[o];
		s->q[l] = t->mark[o] & HEDDLE_MARK_BRANCH;
		if (s->e[l] > 0 || s->q[l])
			s->clean = false;
	}
}

void heddle_oracle_read(heddle_machine *m, heddle_oracle_node *n)
{
	heddle_access *a = n->access;
	heddle_strip *s = &n->s;
	heddle_oracle_locate(m, a);
	if (m->failed)
		return;
	if (a->linear)
		for (int l = 1; l < m->n; ++l)
			a->offset[l] = a->offset[0] + l * a->step;
	s->clean = true;
	memset(s->e, 0, sizeof(*s->e) * (size_t)m->n);
	memset(s->q, 0, (size_t)m->n);
	if (a->store->array)
		load_input(m, n, a->store->array, a->offset);
	else
		load_computed(m, n, a->offset);
	for (int l = 0; l < m->n && n->real && n->flush > 0; ++l) {
		if (s->v[l] != 0 && fabsl(s->v[l]) < (long double)n->flush) {
			s->e[l] += n->flush;
			s->clean = false;
		}
	}
	if (a->linear)
		return;
	for (int l = 0; l < m->n; ++l) {
		if (a->offset[l] >= 0)
			continue;
		s->v[l] = 0;
		s->i[l] = 0;
		if (!m->mask || m->mask[l] != HEDDLE_LANE_OFF) {
			s->e[l] = INFINITY;
			s->q[l] = HEDDLE_MARK_BRANCH;
			s->clean = false;
		}
	}
}
