/* Subscripts: linear offsets of global buffers, and sums ordered so that what changes least comes first.
 * SPDX-License-Identifier: MIT
 */
#include "model/simplify_parts.h"

#include <string.h>

/* ---- linear offsets --------------------------------------------------------------------------------------------------------- */

/* Elements from one value of subscript `d` to the next. */
static heddle_value *stride_of(heddle_program *p, const heddle_buffer *buffer, int d)
{
	if (buffer->stride)
		return buffer->stride[d];
	heddle_value *stride = heddle_value_int(p, HEDDLE_INT64, 1);
	for (int k = d + 1; k < buffer->rank; k++) {
		heddle_value *extent = heddle_value_cast(p, HEDDLE_INT64, buffer->extent[k]);
		if (k == buffer->rank - 1 && buffer->pad)
			extent = heddle_value_binary(p, HEDDLE_OP_ADD, extent, heddle_value_int(p, HEDDLE_INT64, buffer->pad));
		stride = heddle_value_binary(p, HEDDLE_OP_MUL, stride, extent);
	}
	return stride;
}

static heddle_value *offset_in(simplify *s, const heddle_buffer *buffer, int n, heddle_value *const *subscript,
			       heddle_type type, heddle_value *(*convert)(simplify *, heddle_type, heddle_value *))
{
	heddle_program *p = s->p;
	heddle_value *sum = NULL;
	for (int d = 0; d < n; d++) {
		heddle_value *term = convert(s, type, subscript[d]);
		if (n == buffer->rank)
			term = heddle_value_binary(p, HEDDLE_OP_MUL, term, convert(s, type, stride_of(p, buffer, d)));
		sum = sum ? heddle_value_binary(p, HEDDLE_OP_ADD, sum, term) : term;
	}
	return sum ? sum : heddle_value_int(p, type, 0);
}

static heddle_value *widen(simplify *s, heddle_type type, heddle_value *v)
{
	return heddle_value_cast(s->p, type, v);
}

heddle_value *simplify_offset(simplify *s, const heddle_buffer *buffer, int n, heddle_value *const *subscript)
{
	return offset_in(s, buffer, n, subscript, HEDDLE_INT64, widen);
}

/* `v` in 32 bits, with 32-bit operations wherever their operands and results fit.  Its own value fits: it is a subscript, or
 * a stride, of a buffer with fewer than 2^31 elements. */
static heddle_value *narrow(simplify *s, heddle_type type, heddle_value *v)
{
	heddle_program *p = s->p;
	heddle_value *arg[2];
	if (v->type == type)
		return v;
	if (v->kind == HEDDLE_VALUE_CAST && v->arg[0]->type == type)
		return v->arg[0];
	bool known = v->kind == HEDDLE_VALUE_FLOOR_DIV || v->kind == HEDDLE_VALUE_FLOOR_MOD ||
		     (v->kind == HEDDLE_VALUE_BINARY && v->op <= HEDDLE_OP_MAX) ||
		     (v->kind == HEDDLE_VALUE_UNARY && v->op == HEDDLE_OP_NEG);
	if (!known || !heddle_range_fits(heddle_ranges_of(s->ranges, v), type))
		return heddle_value_cast(p, type, v);
	for (int k = 0; k < v->n_arg; k++) {
		if (!heddle_range_fits(heddle_ranges_of(s->ranges, v->arg[k]), type))
			return heddle_value_cast(p, type, v);
		arg[k] = narrow(s, type, v->arg[k]);
	}
	if (v->kind == HEDDLE_VALUE_UNARY)
		return heddle_value_unary(p, v->op, arg[0]);
	if (v->kind == HEDDLE_VALUE_BINARY)
		return heddle_value_binary(p, v->op, arg[0], arg[1]);
	return heddle_value_floor(p, v->kind, arg[0], arg[1]);
}

/* Fewer than 2^31 elements from the first to the last, whatever the sizes: so is every offset inside. */
static bool is_small(simplify *s, const heddle_buffer *buffer)
{
	int64_t count = 1;
	for (int d = 0; d < buffer->rank && buffer->stride; d++) {
		int64_t most = heddle_ranges_of(s->ranges, buffer->extent[d]).hi, stride = heddle_ranges_of(s->ranges, buffer->stride[d]).hi;
		if (__builtin_mul_overflow(stride, most < 1 ? 1 : most, &stride) || __builtin_add_overflow(count, stride, &count) ||
		    count > INT32_MAX)
			return false;
	}
	if (buffer->stride)
		return true;
	for (int d = 0; d < buffer->rank; d++) {
		int64_t most = heddle_ranges_of(s->ranges, buffer->extent[d]).hi;
		if (__builtin_mul_overflow(count, most < 1 ? 1 : most, &count) || count > INT32_MAX)
			return false;
	}
	return true;
}

/* ---- sums of products --------------------------------------------------------------------------------------------------------- */

enum { MOST_FACTORS = 6, MOST_TERMS = 12 };

/* coefficient * factor[0] * ... */
typedef struct term {
	int64_t coefficient;
	int n;
	heddle_value *factor[MOST_FACTORS];
	int depth; /* of the innermost loop that it changes with; SIZES_DEPTH: sizes alone */
} term;

enum { SIZES_DEPTH = INT32_MAX };

typedef struct polynomial {
	int n;
	term term[MOST_TERMS];
} polynomial;

typedef struct scope {
	const char *name;
	int depth;
} scope;

typedef struct indexer {
	simplify *s;
	int depth; /* of loops around */
	int n_scope;
	scope *scope;
} indexer;

static int depth_of(const indexer *x, const heddle_value *v)
{
	int depth = SIZES_DEPTH;
	switch (v->kind) {
	case HEDDLE_VALUE_VARIABLE:
		for (int k = x->n_scope - 1; k >= 0; k--)
			if (!strcmp(x->scope[k].name, v->name))
				return x->scope[k].depth;
		return x->depth;
	case HEDDLE_VALUE_BLOCK:
	case HEDDLE_VALUE_THREAD:
		return 0;
	case HEDDLE_VALUE_LOAD:
	case HEDDLE_VALUE_SHUFFLE:
		return x->depth;
	default:
		for (int k = 0; k < v->n_arg; k++) {
			int inner = depth_of(x, v->arg[k]);
			if (inner != SIZES_DEPTH && (depth == SIZES_DEPTH || inner > depth))
				depth = inner;
		}
		return depth;
	}
}

static bool same_factors(const term *a, const term *b)
{
	if (a->n != b->n)
		return false;
	for (int k = 0; k < a->n; k++)
		if (!heddle_value_equal(a->factor[k], b->factor[k]))
			return false;
	return true;
}

static bool add_term(polynomial *p, term t)
{
	for (int k = 0; k < p->n; k++)
		if (same_factors(&p->term[k], &t))
			return !__builtin_add_overflow(p->term[k].coefficient, t.coefficient, &p->term[k].coefficient);
	if (p->n == MOST_TERMS)
		return false;
	p->term[p->n++] = t;
	return true;
}

static bool add_polynomial(polynomial *to, const polynomial *from, int64_t sign)
{
	for (int k = 0; k < from->n; k++) {
		term t = from->term[k];
		t.coefficient *= sign;
		if (!add_term(to, t))
			return false;
	}
	return true;
}

static bool is_size(const heddle_value *v)
{
	return v->kind == HEDDLE_VALUE_SIZE || (v->kind == HEDDLE_VALUE_CAST && v->arg[0]->kind == HEDDLE_VALUE_SIZE);
}

/* Sizes stand last among the factors, so that terms with the same size are found. */
static void add_factor(term *t, heddle_value *factor)
{
	int at = t->n++;
	while (at > 0 && is_size(t->factor[at - 1]) && !is_size(factor)) {
		t->factor[at] = t->factor[at - 1];
		at--;
	}
	t->factor[at] = factor;
}

static bool multiply_terms(const term *a, const term *b, term *out)
{
	*out = *a;
	if (a->n + b->n > MOST_FACTORS || __builtin_mul_overflow(a->coefficient, b->coefficient, &out->coefficient))
		return false;
	for (int k = 0; k < b->n; k++)
		add_factor(out, b->factor[k]);
	if (out->depth == SIZES_DEPTH || (b->depth != SIZES_DEPTH && b->depth > out->depth))
		out->depth = b->depth;
	return true;
}

static heddle_value *ordered(indexer *x, heddle_value *v);

static bool to_polynomial(indexer *x, heddle_value *v, heddle_type type, polynomial *out)
{
	polynomial a = {0}, b = {0};
	*out = (polynomial){0};
	if (v->kind == HEDDLE_VALUE_INT) {
		out->n = 1;
		out->term[0] = (term){.coefficient = v->i, .depth = SIZES_DEPTH};
		return true;
	}
	if (v->kind == HEDDLE_VALUE_CAST && type == HEDDLE_INT64 && v->arg[0]->type == HEDDLE_INT32 &&
	    v->arg[0]->kind != HEDDLE_VALUE_LOAD && !heddle_ranges_overflow(x->s->ranges, v->arg[0]))
		return to_polynomial(x, v->arg[0], type, out);
	bool sum = v->kind == HEDDLE_VALUE_BINARY && (v->op == HEDDLE_OP_ADD || v->op == HEDDLE_OP_SUB);
	bool product = v->kind == HEDDLE_VALUE_BINARY && v->op == HEDDLE_OP_MUL;
	if (sum) {
		return to_polynomial(x, v->arg[0], type, out) && to_polynomial(x, v->arg[1], type, &b) &&
		       add_polynomial(out, &b, v->op == HEDDLE_OP_ADD ? 1 : -1);
	}
	if (product) {
		if (!to_polynomial(x, v->arg[0], type, &a) || !to_polynomial(x, v->arg[1], type, &b))
			return false;
		for (int i = 0; i < a.n; i++)
			for (int j = 0; j < b.n; j++) {
				term t;
				if (!multiply_terms(&a.term[i], &b.term[j], &t) || !add_term(out, t))
					return false;
			}
		return true;
	}
	out->n = 1;
	out->term[0] = (term){.coefficient = 1, .n = 1, .depth = depth_of(x, v)};
	out->term[0].factor[0] = heddle_value_cast(x->s->p, type, ordered(x, v));
	return true;
}

/* The product without its coefficient's sign. */
static heddle_value *term_value(heddle_program *p, heddle_type type, const term *t)
{
	heddle_value *v = NULL;
	int64_t magnitude = t->coefficient < 0 ? -t->coefficient : t->coefficient;
	for (int k = 0; k < t->n; k++)
		v = v ? heddle_value_binary(p, HEDDLE_OP_MUL, v, t->factor[k]) : t->factor[k];
	heddle_value *c = heddle_value_int(p, type, magnitude);
	return v ? heddle_value_binary(p, HEDDLE_OP_MUL, v, c) : c;
}

/* a * K and b * K, which are better as (a + b) * K. */
static bool shares_size(const term *a, const term *b)
{
	return a->depth == b->depth && a->n > 1 && b->n > 1 && is_size(a->factor[a->n - 1]) &&
	       heddle_value_equal(a->factor[a->n - 1], b->factor[b->n - 1]);
}

static heddle_value *plus(heddle_program *p, heddle_value *sum, heddle_value *v, bool negative)
{
	if (!sum)
		return negative ? heddle_value_unary(p, HEDDLE_OP_NEG, v) : v;
	return heddle_value_binary(p, negative ? HEDDLE_OP_SUB : HEDDLE_OP_ADD, sum, v);
}

/* (a + b) * K for the terms a * K + b * K from `first` on; they are marked done. */
static heddle_value *shared_product(heddle_program *p, heddle_type type, polynomial *poly, int first, bool *done)
{
	heddle_value *sum = NULL, *size = poly->term[first].factor[poly->term[first].n - 1];
	for (int pass = 0; pass < 2; pass++) /* what is added before what is taken away */
		for (int k = first; k < poly->n; k++) {
			term t = poly->term[k];
			bool negative = t.coefficient < 0;
			if (done[k] || negative != (pass == 1) || !(k == first || shares_size(&poly->term[first], &t)))
				continue;
			t.n--;
			sum = plus(p, sum, term_value(p, type, &t), negative);
			if (k != first)
				done[k] = true;
		}
	done[first] = true;
	return heddle_value_binary(p, HEDDLE_OP_MUL, sum, size);
}

/* A term that is a 32-bit value times a constant. */
static bool is_narrow(const term *t)
{
	return t->n == 1 && t->factor[0]->kind == HEDDLE_VALUE_CAST && t->factor[0]->arg[0]->type == HEDDLE_INT32 &&
	       t->factor[0]->arg[0]->kind != HEDDLE_VALUE_SIZE && t->coefficient >= -INT32_MAX && t->coefficient <= INT32_MAX;
}

/* int64(a) * 128 + int64(b) as int64(a * 128 + b), where that cannot overflow, for the terms from `first` on that change with
 * the same loop; they are marked done.  NULL when there is but one. */
static heddle_value *narrow_sum(indexer *x, polynomial *poly, int first, bool *done)
{
	heddle_program *p = x->s->p;
	heddle_value *sum = NULL;
	int n = 0;
	for (int pass = 0; pass < 2; pass++) /* what is added before what is taken away */
		for (int k = first; k < poly->n; k++) {
			term t = poly->term[k];
			if (done[k] || !is_narrow(&t) || t.depth != poly->term[first].depth || (t.coefficient < 0) != (pass == 1))
				continue;
			t.factor[0] = t.factor[0]->arg[0];
			heddle_value *v = term_value(p, HEDDLE_INT32, &t);
			sum = plus(p, sum, v, pass == 1);
			if (heddle_ranges_overflow(x->s->ranges, v) || heddle_ranges_overflow(x->s->ranges, sum))
				return NULL;
			n++;
		}
	if (n < 2)
		return NULL;
	for (int k = first; k < poly->n; k++)
		if (is_narrow(&poly->term[k]) && poly->term[k].depth == poly->term[first].depth)
			done[k] = true;
	return heddle_value_cast(p, HEDDLE_INT64, sum);
}

/* The sum with what changes with outer loops first, sizes and constants last; NULL when a partial sum could overflow. */
static heddle_value *from_polynomial(indexer *x, heddle_type type, polynomial *poly)
{
	heddle_program *p = x->s->p;
	heddle_value *sum = NULL;
	bool done[MOST_TERMS] = {false};
	int64_t constant = 0;
	for (int k = 0; k < poly->n; k++) {
		done[k] = poly->term[k].coefficient == 0;
		if (poly->term[k].n == 0) {
			constant = poly->term[k].coefficient;
			done[k] = true;
		}
	}
	for (;;) {
		int best = -1;
		for (int k = 0; k < poly->n; k++) {
			const term *t = &poly->term[k];
			if (done[k])
				continue;
			if (best < 0 || t->depth < poly->term[best].depth ||
			    (t->depth == poly->term[best].depth && t->coefficient > 0 && poly->term[best].coefficient < 0))
				best = k;
		}
		if (best < 0)
			break;
		heddle_value *together = type == HEDDLE_INT64 && is_narrow(&poly->term[best]) ? narrow_sum(x, poly, best, done) : NULL;
		if (together) {
			sum = plus(p, sum, together, false);
			continue;
		}
		bool shared = false;
		for (int k = best + 1; k < poly->n; k++)
			shared |= !done[k] && shares_size(&poly->term[best], &poly->term[k]);
		if (shared) {
			sum = plus(p, sum, shared_product(p, type, poly, best, done), false);
		} else {
			sum = plus(p, sum, term_value(p, type, &poly->term[best]), poly->term[best].coefficient < 0);
			done[best] = true;
		}
		if (type == HEDDLE_INT32 && heddle_ranges_overflow(x->s->ranges, sum))
			return NULL;
	}
	heddle_value *c = heddle_value_int(p, type, constant);
	return sum ? heddle_value_binary(p, HEDDLE_OP_ADD, sum, c) : c;
}

/* An integer value of width 1 with its sums in order, and those inside its other operations. */
static heddle_value *ordered(indexer *x, heddle_value *v)
{
	polynomial poly;
	bool arithmetic = v->kind == HEDDLE_VALUE_BINARY && v->op <= HEDDLE_OP_MUL;
	if (arithmetic && (v->type == HEDDLE_INT32 || v->type == HEDDLE_INT64) && v->width == 1) {
		if (!to_polynomial(x, v, v->type, &poly))
			return v;
		heddle_value *sum = from_polynomial(x, v->type, &poly);
		return sum ? sum : v;
	}
	if (!simplify_is_pure(v) || !v->n_arg)
		return v;
	/* Rebuilt by the constructors, so that what now folds is folded. */
	heddle_value *copy = HEDDLE_NEW(x->s->p->arena, heddle_value);
	bool changed = false;
	*copy = *v;
	copy->arg = HEDDLE_NEW_ARRAY(x->s->p->arena, heddle_value *, v->n_arg);
	for (int k = 0; k < v->n_arg; k++) {
		copy->arg[k] = ordered(x, v->arg[k]);
		changed |= copy->arg[k] != v->arg[k];
	}
	return changed ? copy : v;
}

/* ---- the tree -------------------------------------------------------------------------------------------------------------------- */

/* One linear subscript in place of several; *n becomes 1. */
static void linear(indexer *x, const heddle_buffer *buffer, int *n, heddle_value **subscript)
{
	if (!simplify_is_global(buffer) || *n < 2)
		return;
	if (is_small(x->s, buffer))
		subscript[0] = offset_in(x->s, buffer, *n, subscript, HEDDLE_INT32, narrow);
	else
		subscript[0] = simplify_offset(x->s, buffer, *n, subscript);
	*n = 1;
}

heddle_value *simplify_narrow(simplify *s, heddle_value *v)
{
	bool narrows = v->kind == HEDDLE_VALUE_CAST && v->type == HEDDLE_INT32 && v->width == 1 &&
		       v->arg[0]->type == HEDDLE_INT64 && simplify_is_pure(v);
	if (!narrows || !heddle_range_fits(heddle_ranges_of(s->ranges, v->arg[0]), HEDDLE_INT32))
		return v;
	return narrow(s, HEDDLE_INT32, v->arg[0]);
}

static heddle_value *index_value(heddle_value *v, void *user)
{
	indexer *x = user;
	if (v->kind == HEDDLE_VALUE_CAST)
		return simplify_narrow(x->s, v);
	if (v->kind != HEDDLE_VALUE_LOAD || !v->n_arg)
		return v;
	heddle_value *copy = HEDDLE_NEW(x->s->p->arena, heddle_value);
	*copy = *v;
	copy->arg = HEDDLE_NEW_ARRAY(x->s->p->arena, heddle_value *, v->n_arg);
	memcpy(copy->arg, v->arg, sizeof(*v->arg) * (size_t)v->n_arg);
	linear(x, v->buffer, &copy->n_arg, copy->arg);
	for (int k = 0; k < copy->n_arg; k++)
		copy->arg[k] = ordered(x, copy->arg[k]);
	return copy;
}

static void enter(indexer *x, const char *name, int depth)
{
	scope new = {name, depth};
	x->scope = heddle_arena_grow(x->s->p->arena, x->scope, (size_t)x->n_scope, sizeof(*x->scope));
	x->scope[x->n_scope++] = new;
}

static void index_node(indexer *x, heddle_node *node)
{
	simplify *s = x->s;
	int mark = heddle_ranges_mark(s->ranges), n_scope = x->n_scope, n;
	for (int k = 0; k < node->n_value; k++)
		node->value[k] = heddle_value_map(s->p, node->value[k], index_value, x);
	switch (node->kind) {
	case HEDDLE_NODE_STORE:
		n = node->n_value - 1;
		linear(x, node->buffer, &n, node->value + 1);
		node->n_value = n + 1;
		for (int k = 1; k < node->n_value; k++)
			node->value[k] = ordered(x, node->value[k]);
		break;
	case HEDDLE_NODE_COPY: {
		int n_from = node->n_value - 1 - (int)node->i;
		heddle_value **from = node->value + 1 + node->i;
		n = (int)node->i;
		linear(x, node->buffer, &n, node->value + 1);
		linear(x, node->source, &n_from, from);
		memmove(node->value + 1 + n, from, sizeof(*from) * (size_t)n_from);
		node->i = n;
		node->n_value = 1 + n + n_from;
		for (int k = 0; k < node->n_value; k++)
			node->value[k] = ordered(x, node->value[k]);
		break;
	}
	case HEDDLE_NODE_LET:
		if (simplify_is_pure(node->value[0]))
			node->value[0] = ordered(x, node->value[0]);
		heddle_ranges_let(s->ranges, node->name, node->value[0]);
		enter(x, node->name, x->depth);
		return;
	case HEDDLE_NODE_FOR:
		x->depth++;
		heddle_ranges_define(s->ranges, node->name, heddle_ranges_loop(s->ranges, node));
		enter(x, node->name, x->depth);
		index_node(x, node->child[0]);
		x->depth--;
		break;
	default:
		for (int k = 0; k < node->n_child; k++)
			index_node(x, node->child[k]);
	}
	heddle_ranges_unwind(s->ranges, mark);
	x->n_scope = n_scope;
}

void simplify_linearise(simplify *s)
{
	indexer x = {.s = s};
	index_node(&x, s->launch->body);
}
