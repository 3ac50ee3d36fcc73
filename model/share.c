/* An expression that several statements compute: computed once, into a tensor that they read.
 * SPDX-License-Identifier: MIT
 */
#include "model/rewrite_parts.h"

#include <string.h>

/* Indices of one statement that stand for those of another. */
typedef struct pairing {
	int n;
	heddle_index *from[16], *to[16];
} pairing;

static bool same_range(const heddle_index *a, const heddle_index *b)
{
	return rewrite_over_sizes(a->lower) && rewrite_over_sizes(a->upper) && heddle_expr_equal(a->lower, b->lower) &&
	       heddle_expr_equal(a->upper, b->upper);
}

static bool paired(pairing *p, heddle_index *from, heddle_index *to)
{
	for (int i = 0; i < p->n; i++)
		if (p->from[i] == from || p->to[i] == to)
			return p->from[i] == from && p->to[i] == to;
	if (p->n == (int)HEDDLE_COUNT(p->from) || !same_range(from, to))
		return false;
	p->from[p->n] = from;
	p->to[p->n++] = to;
	return true;
}

/* Is `b` the expression `a`, with indices of its own statement?  Fills the pairing from a's to b's. */
static bool matches(pairing *p, const heddle_expr *a, const heddle_expr *b)
{
	if (a->kind == HEDDLE_EXPR_INDEX && b->kind == HEDDLE_EXPR_INDEX)
		return paired(p, a->index, b->index);
	if (!heddle_expr_same_node(a, b))
		return false;
	for (int i = 0; i < a->n_arg; i++)
		if (!matches(p, a->arg[i], b->arg[i]))
			return false;
	return true;
}

static const heddle_expr *find_match(pairing *p, const heddle_expr *a, const heddle_expr *in)
{
	p->n = 0;
	if (matches(p, a, in))
		return in;
	const heddle_expr *found = NULL;
	for (int i = 0; i < in->n_arg && !found; i++)
		found = find_match(p, a, in->arg[i]);
	return found;
}

/* Is a tensor that the expression reads written by a statement from `first` to `last`? */
static bool overwritten(const heddle_definition *definition, const heddle_expr *expr, int first, int last)
{
	for (int s = first; s <= last; s++)
		if (heddle_expr_reads(expr, definition->statement[s]->target))
			return true;
	return false;
}

static bool may_share(const heddle_definition *definition, int first, int later, const heddle_expr *expr, pairing *p)
{
	return find_match(p, expr, definition->statement[later]->value) && p->n > 0 && !overwritten(definition, expr, first, later);
}

static int nodes(const heddle_expr *expr)
{
	int n = 1;
	for (int i = 0; i < expr->n_arg; i++)
		n += nodes(expr->arg[i]);
	return n;
}

/* The larger of `best` and what is shared below `expr`.  What a condition chooses is not computed for all indices. */
static const heddle_expr *largest(const heddle_definition *definition, int first, const heddle_expr *expr, const heddle_expr *best)
{
	const bool computes = expr->kind == HEDDLE_EXPR_BINARY || expr->kind == HEDDLE_EXPR_UNARY || expr->kind == HEDDLE_EXPR_CALL;
	pairing p;
	if (computes && heddle_type_is_float(expr->type) && heddle_type_computed(expr->type) == expr->type &&
	    (!best || nodes(expr) > nodes(best)))
		for (int later = first + 1; later < definition->n_statement; later++)
			if (may_share(definition, first, later, expr, &p))
				return expr;
	const int always = expr->type == HEDDLE_BOOL ? 0 : expr->kind == HEDDLE_EXPR_SELECT ? 1 : expr->n_arg;
	for (int i = 0; i < always; i++)
		best = largest(definition, first, expr->arg[i], best);
	return best;
}

const heddle_expr *heddle_share_find(const heddle_definition *definition, int first)
{
	return largest(definition, first, definition->statement[first]->value, NULL);
}

/* Indices of the expression, in the order in which they stand there: those of its rows come last. */
static void list_indices(const heddle_expr *expr, int *n, heddle_index **index)
{
	bool known = expr->kind != HEDDLE_EXPR_INDEX;
	for (int i = 0; i < *n && !known; i++)
		known = index[i] == expr->index;
	if (!known)
		index[(*n)++] = expr->index;
	for (int i = 0; i < expr->n_arg; i++)
		list_indices(expr->arg[i], n, index);
}

typedef struct replacement {
	rewriter *r;
	const heddle_expr *what;
	heddle_tensor *by;
	heddle_index **index; /* of `what`, in the order of the tensor's dimensions */
} replacement;

static heddle_expr *replaced(const replacement *how, heddle_expr *expr)
{
	pairing p = {0};
	heddle_arena *arena = how->r->arena;
	if (matches(&p, how->what, expr)) {
		heddle_expr **subscript = HEDDLE_NEW_ARRAY(arena, heddle_expr *, how->by->rank);
		for (int e = 0; e < how->by->rank; e++)
			for (int i = 0; i < p.n; i++)
				if (p.from[i] == how->index[e])
					subscript[e] = rewrite_index(how->r, p.to[i]);
		heddle_expr *read = rewrite_read(how->r, how->by, subscript);
		read->location = expr->location;
		return read;
	}
	heddle_expr *copy = HEDDLE_NEW(arena, heddle_expr);
	*copy = *expr;
	copy->arg = expr->n_arg ? HEDDLE_NEW_ARRAY(arena, heddle_expr *, expr->n_arg) : NULL;
	for (int i = 0; i < expr->n_arg; i++)
		copy->arg[i] = replaced(how, expr->arg[i]);
	return copy;
}

heddle_statement *rewrite_share(rewriter *r, const heddle_definition *definition, int first)
{
	const heddle_statement *s = definition->statement[first];
	const heddle_expr *what = heddle_share_find(definition, first);
	heddle_index *old[16];
	heddle_expr *by[64] = {0};
	int rank = 0;
	if (!what) {
		heddle_error(r->ctx, 529, &s->location, "statement %d computes nothing that a later one computes again", first);
		return NULL;
	}
	list_indices(what, &rank, old);
	heddle_tensor *tensor = rewrite_new_tensor(r, rewrite_fresh_name(r, heddle_arena_printf(r->arena, "%s_term", s->target->name)), what->type, rank);
	tensor->location = s->location;
	heddle_statement *fill = HEDDLE_NEW(r->arena, heddle_statement);
	fill->target = tensor;
	fill->n_lhs = rank;
	fill->lhs = HEDDLE_NEW_ARRAY(r->arena, heddle_expr *, rank);
	fill->location = s->location;
	for (int e = 0; e < rank; e++) {
		heddle_index *index = rewrite_new_index(r, old[e]->name, old[e]->lower, old[e]->upper, false);
		tensor->extent[e] = old[e]->upper;
		HEDDLE_PUSH(r->arena, fill->index, fill->n_index, index);
		fill->lhs[e] = rewrite_index(r, index);
		by[old[e]->position] = rewrite_index(r, index);
	}
	fill->value = rewrite_substitute(r, what, by);
	const replacement how = {r, what, tensor, old};
	pairing p;
	for (int later = first; later < definition->n_statement; later++)
		if (later == first || may_share(definition, first, later, what, &p))
			definition->statement[later]->value = replaced(&how, definition->statement[later]->value);
	return fill;
}
