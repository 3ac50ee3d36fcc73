/* An operand written anew so that its rows run along another of its dimensions.
 *
 *   C(i, j) +=! A(k, i) * B(k, j)      becomes      A_turned(i, k) = A(k, i)
 *                                                   C(i, j) +=! A_turned(i, k) * B(k, j)
 *
 * SPDX-License-Identifier: MIT
 */
#include "model/rewrite_parts.h"

#include <string.h>

enum { MOST_RANK = 16 };

/* Does the subscript of dimension e stay below its extent, whatever a condition around the read says? */
static bool inside(const heddle_expr *read, int e)
{
	const heddle_expr *upper = read->arg[e]->index->upper, *extent = read->tensor->extent[e];
	return heddle_expr_equal(upper, extent) || (upper->kind == HEDDLE_EXPR_INT && extent->kind == HEDDLE_EXPR_INT && upper->i <= extent->i);
}

/* The first index of c * t + r, a number of two digits, r in 0:c.  NULL: it is no such one. */
static const heddle_index *upper_digit(const heddle_expr *subscript)
{
	if (subscript->kind != HEDDLE_EXPR_BINARY || subscript->op != HEDDLE_OP_ADD)
		return NULL;
	const heddle_expr *upper = subscript->arg[0], *lower = subscript->arg[1];
	if (upper->kind != HEDDLE_EXPR_BINARY || upper->op != HEDDLE_OP_MUL || upper->arg[0]->kind != HEDDLE_EXPR_INT ||
	    upper->arg[1]->kind != HEDDLE_EXPR_INDEX || lower->kind != HEDDLE_EXPR_INDEX || lower->index == upper->arg[1]->index)
		return NULL;
	const heddle_expr *first = lower->index->lower, *end = lower->index->upper;
	const bool digit = first->kind == HEDDLE_EXPR_INT && first->i == 0 && end->kind == HEDDLE_EXPR_INT && end->i <= upper->arg[0]->i;
	return digit ? upper->arg[1]->index : NULL;
}

const heddle_index *heddle_turn_index(const heddle_expr *read, int e)
{
	return read->arg[e]->kind == HEDDLE_EXPR_INDEX ? read->arg[e]->index : upper_digit(read->arg[e]);
}

const heddle_expr *heddle_turn_extent(const heddle_expr *read, int e)
{
	return read->arg[e]->kind == HEDDLE_EXPR_INDEX ? read->arg[e]->index->upper : read->tensor->extent[e];
}

/* Can all that the read may ask for be copied?  Its subscripts are different indices, each from 0 to a size, or numbers of two digits that
 * are. */
static bool plain(const heddle_expr *read, bool conditional)
{
	if (read->n_arg < 2 || read->n_arg > MOST_RANK || read->tensor->stride)
		return false;
	for (int e = 0; e < read->n_arg; e++) {
		const heddle_expr *subscript = read->arg[e];
		if (upper_digit(subscript)) {
			for (int f = 0; f < e; f++)
				if (heddle_turn_index(read, f) == upper_digit(subscript))
					return false;
			continue;
		}
		if (subscript->kind != HEDDLE_EXPR_INDEX || !rewrite_over_sizes(subscript->index->upper) ||
		    subscript->index->lower->kind != HEDDLE_EXPR_INT || subscript->index->lower->i != 0 || (conditional && !inside(read, e)))
			return false;
		for (int f = 0; f < e; f++)
			if (heddle_turn_index(read, f) == subscript->index)
				return false;
	}
	return true;
}

/* The dimension of the tensor that the index subscripts, where that is not the last one; -1: it is, or there is none. */
static int turned_dim(const heddle_expr *read, const char *index)
{
	for (int e = 0; e + 1 < read->n_arg; e++)
		if (read->arg[e]->kind == HEDDLE_EXPR_INDEX && (!index || !strcmp(read->arg[e]->index->name, index)))
			return e;
	return -1;
}

static const heddle_expr *find(const heddle_expr *expr, const char *tensor, const char *index, bool conditional, int *skip)
{
	if (expr->kind == HEDDLE_EXPR_READ) {
		const bool fits = (!tensor || !strcmp(expr->tensor->name, tensor)) && plain(expr, conditional) && turned_dim(expr, index) >= 0;
		return fits && (*skip)-- == 0 ? expr : NULL;
	}
	const heddle_expr *found = NULL;
	for (int i = 0; i < expr->n_arg && !found; i++)
		found = find(expr->arg[i], tensor, index, conditional || expr->kind == HEDDLE_EXPR_SELECT, skip);
	return found;
}

const heddle_expr *heddle_turn_find(const heddle_statement *s, const char *tensor, const char *index, int skip)
{
	const heddle_expr *read = find(s->value, tensor, index, false, &skip);
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

heddle_statement *rewrite_turn(rewriter *r, heddle_statement *s, const heddle_turn *how)
{
	const heddle_expr *read = heddle_turn_find(s, how->tensor, how->index, 0);
	if (!read) {
		heddle_error(r->ctx, 532, &s->location, "statement %d does not read `%s` across its rows by a plain `%s`: there is nothing to turn",
			     how->stmt, how->tensor, how->index);
		return NULL;
	}
	const int rank = read->n_arg, last = turned_dim(read, how->index);
	heddle_tensor *tensor = rewrite_new_tensor(r, rewrite_fresh_name(r, heddle_arena_printf(r->arena, "%s_turned", how->tensor)), read->type, rank);
	heddle_statement *fill = HEDDLE_NEW(r->arena, heddle_statement);
	heddle_expr **from = HEDDLE_NEW_ARRAY(r->arena, heddle_expr *, rank), **to = HEDDLE_NEW_ARRAY(r->arena, heddle_expr *, rank);
	tensor->location = s->location;
	fill->target = tensor;
	fill->n_lhs = rank;
	fill->lhs = HEDDLE_NEW_ARRAY(r->arena, heddle_expr *, rank);
	fill->location = s->location;
	for (int at = 0; at < rank; at++) {
		const int e = at + 1 == rank ? last : at < last ? at : at + 1;
		heddle_expr *extent = read->arg[e]->kind == HEDDLE_EXPR_INDEX ? read->arg[e]->index->upper : read->tensor->extent[e];
		heddle_index *index = rewrite_new_index(r, heddle_turn_index(read, e)->name, rewrite_int(r, 0), extent, false);
		tensor->extent[at] = extent;
		HEDDLE_PUSH(r->arena, fill->index, fill->n_index, index);
		fill->lhs[at] = rewrite_index(r, index);
		to[at] = read->arg[e];
		from[e] = rewrite_index(r, index);
	}
	fill->value = rewrite_read(r, read->tensor, from);
	fill->value->location = read->location;
	s->value = replaced(r, s->value, read, rewrite_read(r, tensor, to));
	return fill;
}
