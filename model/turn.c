/* An operand whose rows do not run along a reduction, written anew so that they do.
 *
 *   C(i, j) +=! A(k, i) * B(k, j)      becomes      A_turned(i, k) = A(k, i)
 *                                                   C(i, j) +=! A_turned(i, k) * B(k, j)
 *
 * SPDX-License-Identifier: MIT
 */
#include "model/rewrite_parts.h"

#include <string.h>

enum { MOST_RANK = 16 };

/* Does the read have a row that could run along a reduction and does not?  Its subscripts are different indices over ranges of sizes,
 * which begin at 0: all of the ranges is read. */
static bool turns(const heddle_expr *read)
{
	bool reduction = false;
	if (read->n_arg < 2 || read->n_arg > MOST_RANK || read->tensor->stride)
		return false;
	for (int e = 0; e < read->n_arg; e++) {
		const heddle_expr *subscript = read->arg[e];
		if (subscript->kind != HEDDLE_EXPR_INDEX || !rewrite_over_sizes(subscript->index->upper) ||
		    subscript->index->lower->kind != HEDDLE_EXPR_INT || subscript->index->lower->i != 0)
			return false;
		for (int f = 0; f < e; f++)
			if (read->arg[f]->index == subscript->index)
				return false;
		reduction = reduction || subscript->index->reduction;
	}
	return reduction && !read->arg[read->n_arg - 1]->index->reduction;
}

/* The first such read of the tensor (NULL: of any) from the `skip`-th on; not in what a condition chooses, as it may choose what exists. */
static const heddle_expr *find(const heddle_expr *expr, const char *tensor, int *skip)
{
	if (expr->kind == HEDDLE_EXPR_READ)
		return (!tensor || !strcmp(expr->tensor->name, tensor)) && turns(expr) && (*skip)-- == 0 ? expr : NULL;
	const heddle_expr *found = NULL;
	for (int i = 0; i < expr->n_arg && !found && expr->kind != HEDDLE_EXPR_SELECT; i++)
		found = find(expr->arg[i], tensor, skip);
	return found;
}

const heddle_expr *heddle_turn_find(const heddle_statement *s, const char *tensor, int skip)
{
	const heddle_expr *read = s->assign == HEDDLE_ASSIGN_SET ? NULL : find(s->value, tensor, &skip);
	return read && read->tensor != s->target ? read : NULL;
}

static heddle_expr *replaced(rewriter *r, heddle_expr *expr, const heddle_expr *what, heddle_expr *by)
{
	if (heddle_expr_equal(expr, what))
		return by;
	heddle_expr *copy = HEDDLE_NEW(r->arena, heddle_expr);
	*copy = *expr;
	copy->arg = expr->n_arg ? HEDDLE_NEW_ARRAY(r->arena, heddle_expr *, expr->n_arg) : NULL;
	for (int i = 0; i < expr->n_arg; i++)
		copy->arg[i] = replaced(r, expr->arg[i], what, by);
	return copy;
}

heddle_statement *rewrite_turn(rewriter *r, heddle_statement *s, const char *name)
{
	const heddle_expr *read = heddle_turn_find(s, name, 0);
	if (!read) {
		heddle_error(r->ctx, 532, &s->location, "statement %d does not read `%s` across its rows by plain indices: there is nothing to turn", s->position,
			     name);
		return NULL;
	}
	const int rank = read->n_arg;
	heddle_tensor *tensor = rewrite_new_tensor(r, rewrite_fresh_name(r, heddle_arena_printf(r->arena, "%s_turned", name)), read->type, rank);
	heddle_statement *fill = HEDDLE_NEW(r->arena, heddle_statement);
	heddle_expr **from = HEDDLE_NEW_ARRAY(r->arena, heddle_expr *, rank), **to = HEDDLE_NEW_ARRAY(r->arena, heddle_expr *, rank);
	tensor->location = s->location;
	fill->target = tensor;
	fill->lhs = HEDDLE_NEW_ARRAY(r->arena, heddle_expr *, rank);
	fill->location = s->location;
	for (int reduction = 0; reduction < 2; reduction++)
		for (int e = 0; e < rank; e++) {
			heddle_index *old = read->arg[e]->index;
			if (old->reduction != (reduction == 1))
				continue;
			heddle_index *index = rewrite_new_index(r, old->name, old->lower, old->upper, false);
			tensor->extent[fill->n_lhs] = old->upper;
			HEDDLE_PUSH(r->arena, fill->index, fill->n_index, index);
			fill->lhs[fill->n_lhs] = rewrite_index(r, index);
			to[fill->n_lhs++] = rewrite_index(r, old);
			from[e] = rewrite_index(r, index);
		}
	fill->value = rewrite_read(r, read->tensor, from);
	fill->value->location = read->location;
	s->value = replaced(r, s->value, read, rewrite_read(r, tensor, to));
	return fill;
}
