/* A reduction cut into chunks: partial results, and a statement that combines them.
 * SPDX-License-Identifier: MIT
 */
#include "model/rewrite_parts.h"
#include "model/scop.h"

#include <string.h>

/* A quotient rounds down in a bound, and to zero in a value. */
static bool divides(const heddle_expr *expr)
{
	if (expr->kind == HEDDLE_EXPR_BINARY && (expr->op == HEDDLE_OP_DIV || expr->op == HEDDLE_OP_MOD))
		return true;
	for (int i = 0; i < expr->n_arg; i++)
		if (divides(expr->arg[i]))
			return true;
	return false;
}

static bool never_negative(const heddle_expr *expr)
{
	if (expr->kind == HEDDLE_EXPR_SIZE || (expr->kind == HEDDLE_EXPR_INT && expr->i >= 0))
		return true;
	if (expr->kind != HEDDLE_EXPR_BINARY || (expr->op != HEDDLE_OP_ADD && expr->op != HEDDLE_OP_MUL && expr->op != HEDDLE_OP_DIV))
		return false;
	return never_negative(expr->arg[0]) && never_negative(expr->arg[1]);
}

static bool mentions_sum(const heddle_expr *expr)
{
	if (expr->kind == HEDDLE_EXPR_INDEX)
		return expr->index->reduction;
	for (int i = 0; i < expr->n_arg; i++)
		if (mentions_sum(expr->arg[i]))
			return true;
	return false;
}

int rewrite_split(rewriter *r, const heddle_statement *s, const heddle_split *how)
{
	int k = -1;
	for (int i = 0; i < s->n_index; i++)
		if (!strcmp(s->index[i]->name, how->dim) && s->index[i]->reduction)
			k = i;
	if (k < 0)
		return heddle_error(r->ctx, 510, &s->location, "statement %d has no reduction over `%s` to split", s->position,
				    how->dim);
	if (s->assign == HEDDLE_ASSIGN_SET || heddle_expr_reads(s->value, s->target))
		return heddle_error(r->ctx, 510, &s->location, "statement %d is not a reduction that can be split", s->position);

	int n_lhs = 0;
	for (int i = 0; i < s->n_index; i++)
		n_lhs += !s->index[i]->reduction;
	const heddle_index *old = s->index[k];
	heddle_expr *chunk = rewrite_int(r, how->chunk);
	heddle_expr *length = rewrite_binary(r, HEDDLE_OP_SUB, old->upper, old->lower);
	if (!rewrite_over_sizes(length))
		return heddle_error(r->ctx, 510, &s->location, "the range of `%s` in statement %d depends on other indices: it cannot be split",
				    how->dim, s->position);
	if (!never_negative(length)) /* a range that ends before it begins has nothing to sum, and no chunks */
		length = rewrite_binary(r, HEDDLE_OP_MAX, length, rewrite_int(r, 0));
	heddle_expr *count = rewrite_binary(r, HEDDLE_OP_DIV, rewrite_binary(r, HEDDLE_OP_ADD, length, rewrite_int(r, how->chunk - 1)),
					 chunk);
	for (int i = 0; i < n_lhs; i++)
		if (s->lhs[i]->kind != HEDDLE_EXPR_INDEX)
			return heddle_error(r->ctx, 510, &s->location, "statement %d has computed subscripts on its left side",
					    s->position);

	for (int i = 0; i < n_lhs; i++)
		if (mentions_sum(s->lhs[i]->index->lower) || mentions_sum(s->lhs[i]->index->upper))
			return heddle_error(r->ctx, 510, &s->location, "the range of `%s` in statement %d depends on what is summed: it cannot be split",
					    s->lhs[i]->index->name, s->position);

	/* P(c, lhs..) op=! value where k = lower + c * chunk + k'; where `lower` must stay a bound, k itself is in that chunk */
	heddle_statement *p = HEDDLE_NEW(r->arena, heddle_statement);
	*p = *s;
	p->index = NULL;
	p->n_index = 0;
	p->initialise = true;
	heddle_tensor *partial = rewrite_new_tensor(r, rewrite_fresh_name(r, heddle_arena_printf(r->arena, "%s_partial", s->target->name)),
					    heddle_type_computed(s->target->type), n_lhs + 1);
	partial->location = s->location;
	partial->extent[0] = count;
	for (int i = 0; i < n_lhs; i++)
		partial->extent[i + 1] = rewrite_over_sizes(s->lhs[i]->index->upper) ? s->lhs[i]->index->upper : s->target->extent[i];
	heddle_index *c =
		rewrite_new_index(r, heddle_arena_printf(r->arena, "%s_chunk", old->name), rewrite_int(r, 0), count, false);
	HEDDLE_PUSH(r->arena, p->index, p->n_index, c);
	heddle_expr *by[64] = {0};
	heddle_index *fresh[64] = {0};
	heddle_expr *start = rewrite_binary(r, HEDDLE_OP_MUL, rewrite_index(r, c), chunk);
	for (int i = 0; i < s->n_index && i < 64; i++) {
		const heddle_index *from = s->index[i];
		fresh[i] = rewrite_new_index(r, from->name, from->lower, from->upper, from->reduction);
		if (i == k && divides(old->lower)) {
			heddle_expr *from_here = rewrite_binary(r, HEDDLE_OP_ADD, start, old->lower);
			fresh[i]->lower = from_here;
			fresh[i]->upper = rewrite_binary(r, HEDDLE_OP_MIN, old->upper, rewrite_binary(r, HEDDLE_OP_ADD, from_here, chunk));
			by[i] = rewrite_index(r, fresh[i]);
		} else if (i == k) {
			fresh[i]->lower = rewrite_int(r, 0);
			fresh[i]->upper = heddle_extent_multiple(length, how->chunk) ? chunk :
					  rewrite_binary(r, HEDDLE_OP_MIN, chunk, rewrite_binary(r, HEDDLE_OP_SUB, length, start));
			by[i] = rewrite_binary(r, HEDDLE_OP_ADD, rewrite_binary(r, HEDDLE_OP_ADD, start, rewrite_index(r, fresh[i])),
					    old->lower);
		} else {
			by[i] = rewrite_index(r, fresh[i]);
		}
		HEDDLE_PUSH(r->arena, p->index, p->n_index, fresh[i]);
	}
	for (int i = 0; i < s->n_index && i < 64; i++) {
		if (i == k)
			continue;
		fresh[i]->lower = rewrite_substitute(r, fresh[i]->lower, by);
		fresh[i]->upper = rewrite_substitute(r, fresh[i]->upper, by);
	}
	p->target = partial;
	p->n_lhs = n_lhs + 1;
	p->lhs = HEDDLE_NEW_ARRAY(r->arena, heddle_expr *, n_lhs + 1);
	p->lhs[0] = rewrite_index(r, c);
	for (int i = 0; i < n_lhs; i++)
		p->lhs[i + 1] = rewrite_substitute(r, s->lhs[i], by);
	p->value = rewrite_substitute(r, s->value, by);
	rewrite_push(r, p);

	/* target(lhs) op= P(c, lhs) */
	heddle_statement *q = HEDDLE_NEW(r->arena, heddle_statement);
	*q = *s;
	q->index = NULL;
	q->n_index = 0;
	q->lhs = HEDDLE_NEW_ARRAY(r->arena, heddle_expr *, n_lhs);
	heddle_expr **subscript = HEDDLE_NEW_ARRAY(r->arena, heddle_expr *, n_lhs + 1), *own[64] = {0};
	for (int i = 0; i < n_lhs; i++) {
		const heddle_index *from = s->lhs[i]->index;
		heddle_index *index = rewrite_new_index(r, from->name, from->lower, from->upper, false);
		HEDDLE_PUSH(r->arena, q->index, q->n_index, index);
		q->lhs[i] = rewrite_index(r, index);
		subscript[i + 1] = rewrite_index(r, index);
		if (from->position < 64)
			own[from->position] = rewrite_index(r, index);
	}
	for (int i = 0; i < n_lhs; i++) {
		q->index[i]->lower = rewrite_substitute(r, q->index[i]->lower, own);
		q->index[i]->upper = rewrite_substitute(r, q->index[i]->upper, own);
	}
	heddle_index *over = rewrite_new_index(r, c->name, rewrite_int(r, 0), count, true);
	HEDDLE_PUSH(r->arena, q->index, q->n_index, over);
	subscript[0] = rewrite_index(r, over);
	q->value = rewrite_read(r, partial, subscript);
	q->value->location = s->location;
	rewrite_push(r, q);
	return 0;
}

