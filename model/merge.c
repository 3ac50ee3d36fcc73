/* The first step of a recurrence and the others become one statement.
 *
 *   h(0, c) = x(0, c)
 *   h(t, c) = a(c) * h(t-1, c) + x(t, c) where t in 1:T
 *
 * becomes
 *
 *   h(t, c) = t > 0 ? a(c) * h(t-1, c) + x(t, c) : x(0, c) where t in 0:T
 *
 * so that what reads h goes through its steps with it.  There must be a first step: T is a number, or the first step itself reads a tensor
 * there that has T elements.
 * SPDX-License-Identifier: MIT
 */
#include "model/rewrite_parts.h"

#include <string.h>

enum { MOST_RANK = 16 };

static bool reads(const heddle_expr *expr, const heddle_tensor *tensor)
{
	if (expr->kind == HEDDLE_EXPR_READ && expr->tensor == tensor)
		return true;
	for (int i = 0; i < expr->n_arg; i++)
		if (reads(expr->arg[i], tensor))
			return true;
	return false;
}

/* Does it read, whatever its values are, a tensor's element `first` of a dimension that has as many as the index goes to? */
static bool needs_first(const heddle_expr *expr, int64_t first, const heddle_expr *upper)
{
	for (int e = 0; expr->kind == HEDDLE_EXPR_READ && e < expr->n_arg; e++)
		if (expr->arg[e]->kind == HEDDLE_EXPR_INT && expr->arg[e]->i == first && heddle_expr_equal(expr->tensor->extent[e], upper))
			return true;
	const int sure = expr->kind == HEDDLE_EXPR_SELECT || expr->kind == HEDDLE_EXPR_READ ? 0 : expr->n_arg;
	for (int i = 0; i < sure; i++)
		if (needs_first(expr->arg[i], first, upper))
			return true;
	return false;
}

/* Does it read the tensor's steps by a number: of the first step, say, elements that others of its instances have made?  As one statement
 * they would have to follow one another. */
static bool reads_at_number(const heddle_expr *expr, const heddle_tensor *tensor, int step)
{
	if (expr->kind == HEDDLE_EXPR_READ && expr->tensor == tensor && expr->arg[step]->kind == HEDDLE_EXPR_INT)
		return true;
	for (int i = 0; i < expr->n_arg; i++)
		if (reads_at_number(expr->arg[i], tensor, step))
			return true;
	return false;
}

/* Does each read of the target stay at the statement's own indices along all dimensions that it goes through before its steps?  Others may be
 * of elements whose first step, as one statement, would come later. */
static bool stays_before(const heddle_expr *expr, const heddle_statement *others, int step)
{
	for (int e = 0; e < others->n_lhs && expr->kind == HEDDLE_EXPR_READ && expr->tensor == others->target; e++) {
		const heddle_index *own = others->lhs[e]->index;
		if (e != step && own->position < others->lhs[step]->index->position &&
		    (expr->arg[e]->kind != HEDDLE_EXPR_INDEX || expr->arg[e]->index != own))
			return false;
	}
	for (int i = 0; i < expr->n_arg; i++)
		if (!stays_before(expr->arg[i], others, step))
			return false;
	return true;
}

/* An assignment by plain indices over sizes, each once, but for the subscript `but`. */
static bool is_plain(const heddle_statement *s, int but)
{
	if (s->assign != HEDDLE_ASSIGN_SET || s->n_index != s->n_lhs - (but >= 0) || s->n_lhs > MOST_RANK)
		return false;
	for (int e = 0; e < s->n_lhs; e++) {
		const heddle_expr *x = s->lhs[e];
		if (e == but)
			continue;
		if (x->kind != HEDDLE_EXPR_INDEX || x->index->reduction || !rewrite_over_sizes(x->index->lower) || !rewrite_over_sizes(x->index->upper))
			return false;
		for (int f = 0; f < e; f++)
			if (s->lhs[f]->kind == HEDDLE_EXPR_INDEX && s->lhs[f]->index == x->index)
				return false;
	}
	return true;
}

/* The subscript that is a number in the first one and goes on from there in the other; -1: they are no such pair. */
static int step_of(const heddle_statement *first, const heddle_statement *others)
{
	int step = -1;
	if (first->target != others->target || first->n_lhs != others->n_lhs || first->target->zero_fill || reads(first->value, first->target) ||
	    !reads(others->value, others->target))
		return -1;
	for (int e = 0; e < first->n_lhs; e++)
		if (first->lhs[e]->kind == HEDDLE_EXPR_INT) {
			if (step >= 0)
				return -1;
			step = e;
		}
	if (step < 0 || !is_plain(first, step) || !is_plain(others, -1) || reads_at_number(others->value, others->target, step) ||
	    !stays_before(others->value, others, step))
		return -1;
	for (int e = 0; e < first->n_lhs; e++) {
		const heddle_index *x = others->lhs[e]->index;
		const int64_t at = first->lhs[e]->kind == HEDDLE_EXPR_INT ? first->lhs[e]->i : 0;
		if (e == step) {
			const bool is_number = x->upper->kind == HEDDLE_EXPR_INT && x->upper->i > at;
			if (x->lower->kind != HEDDLE_EXPR_INT || x->lower->i != at + 1 || (!is_number && !needs_first(first->value, at, x->upper)))
				return -1;
		} else if (!heddle_expr_equal(x->lower, first->lhs[e]->index->lower) || !heddle_expr_equal(x->upper, first->lhs[e]->index->upper)) {
			return -1;
		}
	}
	return step;
}

/* `others` with the first step as its branch. */
static heddle_statement *merged(rewriter *r, const heddle_statement *first, const heddle_statement *others, int step)
{
	heddle_expr *by[MOST_RANK] = {0}, *in_first[MOST_RANK] = {0};
	heddle_statement *s = HEDDLE_NEW(r->arena, heddle_statement);
	*s = *others;
	s->index = HEDDLE_NEW_ARRAY(r->arena, heddle_index *, others->n_index);
	for (int i = 0; i < others->n_index; i++) {
		s->index[i] = HEDDLE_NEW(r->arena, heddle_index);
		*s->index[i] = *others->index[i];
		by[i] = rewrite_index(r, s->index[i]);
		if (others->index[i] == others->lhs[step]->index)
			s->index[i]->lower = rewrite_int(r, first->lhs[step]->i);
	}
	s->lhs = HEDDLE_NEW_ARRAY(r->arena, heddle_expr *, others->n_lhs);
	for (int e = 0; e < others->n_lhs; e++) {
		s->lhs[e] = rewrite_substitute(r, others->lhs[e], by);
		if (e != step)
			in_first[first->lhs[e]->index->position] = s->lhs[e];
	}
	heddle_expr *select = HEDDLE_NEW(r->arena, heddle_expr);
	select->kind = HEDDLE_EXPR_SELECT;
	select->type = others->value->type;
	select->n_arg = 3;
	select->arg = HEDDLE_NEW_ARRAY(r->arena, heddle_expr *, 3);
	select->arg[0] = rewrite_binary(r, HEDDLE_OP_GT, s->lhs[step], rewrite_int(r, first->lhs[step]->i));
	select->arg[0]->type = HEDDLE_BOOL;
	select->arg[1] = rewrite_substitute(r, others->value, by);
	select->arg[2] = rewrite_substitute(r, first->value, in_first);
	s->value = select;
	return s;
}

void rewrite_merge(rewriter *r)
{
	heddle_definition *d = r->out;
	int n = 0;
	for (int k = 0; k < d->n_statement; k++) {
		heddle_statement *s = d->statement[k];
		const int step = n > 0 && d->statement[n - 1]->value->type == s->value->type ? step_of(d->statement[n - 1], s) : -1;
		if (step >= 0)
			s = merged(r, d->statement[--n], s, step);
		rewrite_number(s, n);
		d->statement[n++] = s;
	}
	d->n_statement = n;
}
