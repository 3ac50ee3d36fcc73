/* Splits of reductions and zero fills, as a definition -> definition rewrite.
 *
 * Enters: the checked definition and the config's splits.  Leaves: a definition whose extra tensors and statements are
 * ordinary ones, so that every later pass, the proof included, treats partial results like any other tensor.
 * SPDX-License-Identifier: MIT
 */
#include "model/split.h"

#include <string.h>

typedef struct rewriter {
	heddle_ctx *ctx;
	heddle_arena *arena;
	heddle_definition *out;
} rewriter;

/* ---- small expressions ------------------------------------------------------------------------------------------------ */

static heddle_expr *int_expr(rewriter *r, int64_t i)
{
	heddle_expr *e = HEDDLE_NEW(r->arena, heddle_expr);
	e->kind = HEDDLE_EXPR_INT;
	e->type = HEDDLE_INT32;
	e->i = i;
	return e;
}

static heddle_expr *index_expr(rewriter *r, heddle_index *index)
{
	heddle_expr *e = HEDDLE_NEW(r->arena, heddle_expr);
	e->kind = HEDDLE_EXPR_INDEX;
	e->type = HEDDLE_INT32;
	e->index = index;
	return e;
}

static heddle_expr *binary_expr(rewriter *r, heddle_op op, heddle_expr *a, heddle_expr *b)
{
	if (a->kind == HEDDLE_EXPR_INT && b->kind == HEDDLE_EXPR_INT) {
		switch (op) {
		case HEDDLE_OP_ADD:
			return int_expr(r, a->i + b->i);
		case HEDDLE_OP_SUB:
			return int_expr(r, a->i - b->i);
		case HEDDLE_OP_MUL:
			return int_expr(r, a->i * b->i);
		case HEDDLE_OP_DIV:
			return int_expr(r, a->i / b->i);
		default:
			break;
		}
	}
	if (b->kind == HEDDLE_EXPR_INT && b->i == 0 && (op == HEDDLE_OP_ADD || op == HEDDLE_OP_SUB))
		return a;
	if (a->kind == HEDDLE_EXPR_INT && a->i == 0 && op == HEDDLE_OP_ADD)
		return b;
	heddle_expr *e = HEDDLE_NEW(r->arena, heddle_expr);
	e->kind = HEDDLE_EXPR_BINARY;
	e->type = a->type;
	e->op = op;
	e->n_arg = 2;
	e->arg = HEDDLE_NEW_ARRAY(r->arena, heddle_expr *, 2);
	e->arg[0] = a;
	e->arg[1] = b;
	return e;
}

/* `expr` with each index i replaced by by[i->position] (NULL: kept). */
static heddle_expr *substitute(rewriter *r, const heddle_expr *expr, heddle_expr *const *by)
{
	if (expr->kind == HEDDLE_EXPR_INDEX && by[expr->index->position])
		return by[expr->index->position];
	heddle_expr *copy = HEDDLE_NEW(r->arena, heddle_expr);
	*copy = *expr;
	if (expr->n_arg)
		copy->arg = HEDDLE_NEW_ARRAY(r->arena, heddle_expr *, expr->n_arg);
	for (int i = 0; i < expr->n_arg; i++)
		copy->arg[i] = substitute(r, expr->arg[i], by);
	return copy;
}

static heddle_index *new_index(rewriter *r, const char *name, heddle_expr *lower, heddle_expr *upper, bool reduction)
{
	heddle_index *index = HEDDLE_NEW(r->arena, heddle_index);
	index->name = name;
	index->lower = lower;
	index->upper = upper;
	index->reduction = reduction;
	return index;
}

static heddle_tensor *new_tensor(rewriter *r, const char *name, heddle_type type, int rank)
{
	heddle_tensor *tensor = HEDDLE_NEW(r->arena, heddle_tensor);
	tensor->name = name;
	tensor->type = type;
	tensor->role = HEDDLE_ROLE_TEMPORARY;
	tensor->rank = rank;
	tensor->extent = HEDDLE_NEW_ARRAY(r->arena, heddle_expr *, rank);
	tensor->position = r->out->n_tensor;
	HEDDLE_PUSH(r->arena, r->out->tensor, r->out->n_tensor, tensor);
	return tensor;
}

static void push_statement(rewriter *r, heddle_statement *statement)
{
	statement->position = r->out->n_statement;
	for (int i = 0; i < statement->n_index; i++)
		statement->index[i]->position = i;
	HEDDLE_PUSH(r->arena, r->out->statement, r->out->n_statement, statement);
}

static const char *fresh_name(rewriter *r, const char *stem)
{
	for (int n = 0;; n++) {
		const char *name = n ? heddle_arena_printf(r->arena, "%s%d", stem, n) : stem;
		bool used = false;
		for (int i = 0; i < r->out->n_tensor; i++)
			used |= !strcmp(r->out->tensor[i]->name, name);
		for (int i = 0; i < r->out->n_size; i++)
			used |= !strcmp(r->out->size[i]->name, name);
		if (!used)
			return name;
	}
}

/* ---- zero fill --------------------------------------------------------------------------------------------------------- */

static heddle_expr *zero(rewriter *r, heddle_type type)
{
	heddle_expr *e = int_expr(r, 0);
	e->kind = heddle_type_is_float(type) ? HEDDLE_EXPR_FLOAT : HEDDLE_EXPR_INT;
	e->type = type;
	return e;
}

static void fill(rewriter *r, heddle_tensor *tensor)
{
	heddle_statement *s = HEDDLE_NEW(r->arena, heddle_statement);
	s->target = tensor;
	s->n_lhs = tensor->rank;
	s->lhs = HEDDLE_NEW_ARRAY(r->arena, heddle_expr *, tensor->rank);
	for (int i = 0; i < tensor->rank; i++) {
		heddle_index *index = new_index(r, heddle_arena_printf(r->arena, "z%d", i), int_expr(r, 0),
						tensor->extent[i], false);
		HEDDLE_PUSH(r->arena, s->index, s->n_index, index);
		s->lhs[i] = index_expr(r, index);
	}
	s->value = zero(r, tensor->type);
	s->location = tensor->location;
	push_statement(r, s);
}

/* ---- split --------------------------------------------------------------------------------------------------------------- */

static bool reads_tensor(const heddle_expr *expr, const heddle_tensor *tensor)
{
	if (expr->kind == HEDDLE_EXPR_READ && expr->tensor == tensor)
		return true;
	for (int i = 0; i < expr->n_arg; i++)
		if (reads_tensor(expr->arg[i], tensor))
			return true;
	return false;
}

static bool over_sizes(const heddle_expr *expr)
{
	if (expr->kind == HEDDLE_EXPR_INDEX)
		return false;
	for (int i = 0; i < expr->n_arg; i++)
		if (!over_sizes(expr->arg[i]))
			return false;
	return true;
}

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

static int split(rewriter *r, const heddle_statement *s, const heddle_split *how)
{
	int k = -1;
	for (int i = 0; i < s->n_index; i++)
		if (!strcmp(s->index[i]->name, how->dim) && s->index[i]->reduction)
			k = i;
	if (k < 0)
		return heddle_error(r->ctx, 510, &s->location, "statement %d has no reduction over `%s` to split", s->position,
				    how->dim);
	if (s->assign == HEDDLE_ASSIGN_SET || reads_tensor(s->value, s->target))
		return heddle_error(r->ctx, 510, &s->location, "statement %d is not a reduction that can be split", s->position);

	int n_lhs = 0;
	for (int i = 0; i < s->n_index; i++)
		n_lhs += !s->index[i]->reduction;
	const heddle_index *old = s->index[k];
	heddle_expr *chunk = int_expr(r, how->chunk);
	heddle_expr *length = binary_expr(r, HEDDLE_OP_SUB, old->upper, old->lower);
	if (!over_sizes(length))
		return heddle_error(r->ctx, 510, &s->location, "the range of `%s` in statement %d depends on other indices: it cannot be split",
				    how->dim, s->position);
	if (!never_negative(length)) /* a range that ends before it begins has nothing to sum, and no chunks */
		length = binary_expr(r, HEDDLE_OP_MAX, length, int_expr(r, 0));
	heddle_expr *count = binary_expr(r, HEDDLE_OP_DIV, binary_expr(r, HEDDLE_OP_ADD, length, int_expr(r, how->chunk - 1)),
					 chunk);
	for (int i = 0; i < n_lhs; i++)
		if (s->lhs[i]->kind != HEDDLE_EXPR_INDEX)
			return heddle_error(r->ctx, 510, &s->location, "statement %d has computed subscripts on its left side",
					    s->position);

	/* P(c, lhs..) op=! value where k = lower + c * chunk + k'; where `lower` must stay a bound, k itself is in that chunk */
	heddle_statement *p = HEDDLE_NEW(r->arena, heddle_statement);
	*p = *s;
	p->index = NULL;
	p->n_index = 0;
	p->initialise = true;
	heddle_tensor *partial = new_tensor(r, fresh_name(r, heddle_arena_printf(r->arena, "%s_partial", s->target->name)),
					    heddle_type_computed(s->target->type), n_lhs + 1);
	partial->location = s->location;
	partial->extent[0] = count;
	for (int i = 0; i < n_lhs; i++)
		partial->extent[i + 1] = over_sizes(s->lhs[i]->index->upper) ? s->lhs[i]->index->upper : s->target->extent[i];
	heddle_index *c =
		new_index(r, heddle_arena_printf(r->arena, "%s_chunk", old->name), int_expr(r, 0), count, false);
	HEDDLE_PUSH(r->arena, p->index, p->n_index, c);
	heddle_expr *by[64] = {0};
	heddle_index *fresh[64] = {0};
	heddle_expr *start = binary_expr(r, HEDDLE_OP_MUL, index_expr(r, c), chunk);
	for (int i = 0; i < s->n_index && i < 64; i++) {
		const heddle_index *from = s->index[i];
		fresh[i] = new_index(r, from->name, from->lower, from->upper, from->reduction);
		if (i == k && divides(old->lower)) {
			heddle_expr *from_here = binary_expr(r, HEDDLE_OP_ADD, start, old->lower);
			fresh[i]->lower = from_here;
			fresh[i]->upper = binary_expr(r, HEDDLE_OP_MIN, old->upper, binary_expr(r, HEDDLE_OP_ADD, from_here, chunk));
			by[i] = index_expr(r, fresh[i]);
		} else if (i == k) {
			fresh[i]->lower = int_expr(r, 0);
			fresh[i]->upper = binary_expr(r, HEDDLE_OP_MIN, chunk, binary_expr(r, HEDDLE_OP_SUB, length, start));
			by[i] = binary_expr(r, HEDDLE_OP_ADD, binary_expr(r, HEDDLE_OP_ADD, start, index_expr(r, fresh[i])),
					    old->lower);
		} else {
			by[i] = index_expr(r, fresh[i]);
		}
		HEDDLE_PUSH(r->arena, p->index, p->n_index, fresh[i]);
	}
	for (int i = 0; i < s->n_index && i < 64; i++) {
		if (i == k)
			continue;
		fresh[i]->lower = substitute(r, fresh[i]->lower, by);
		fresh[i]->upper = substitute(r, fresh[i]->upper, by);
	}
	p->target = partial;
	p->n_lhs = n_lhs + 1;
	p->lhs = HEDDLE_NEW_ARRAY(r->arena, heddle_expr *, n_lhs + 1);
	p->lhs[0] = index_expr(r, c);
	for (int i = 0; i < n_lhs; i++)
		p->lhs[i + 1] = substitute(r, s->lhs[i], by);
	p->value = substitute(r, s->value, by);
	push_statement(r, p);

	/* target(lhs) op= P(c, lhs) */
	heddle_statement *q = HEDDLE_NEW(r->arena, heddle_statement);
	*q = *s;
	q->index = NULL;
	q->n_index = 0;
	q->lhs = HEDDLE_NEW_ARRAY(r->arena, heddle_expr *, n_lhs);
	heddle_expr *read = HEDDLE_NEW(r->arena, heddle_expr);
	read->kind = HEDDLE_EXPR_READ;
	read->type = partial->type;
	read->tensor = partial;
	read->n_arg = n_lhs + 1;
	read->arg = HEDDLE_NEW_ARRAY(r->arena, heddle_expr *, n_lhs + 1);
	read->location = s->location;
	for (int i = 0; i < n_lhs; i++) {
		const heddle_index *from = s->lhs[i]->index;
		heddle_index *index = new_index(r, from->name, from->lower, from->upper, false);
		HEDDLE_PUSH(r->arena, q->index, q->n_index, index);
		q->lhs[i] = index_expr(r, index);
		read->arg[i + 1] = index_expr(r, index);
	}
	heddle_index *over = new_index(r, c->name, int_expr(r, 0), count, true);
	HEDDLE_PUSH(r->arena, q->index, q->n_index, over);
	read->arg[0] = index_expr(r, over);
	q->value = read;
	push_statement(r, q);
	return 0;
}

heddle_definition *heddle_definition_rewrite(heddle_ctx *ctx, heddle_arena *arena, const heddle_definition *definition,
					     const heddle_config *config)
{
	heddle_definition *out = HEDDLE_NEW(arena, heddle_definition);
	*out = *definition;
	out->n_tensor = out->n_statement = 0;
	out->tensor = NULL;
	out->statement = NULL;
	rewriter r = {ctx, arena, out};
	for (int i = 0; i < definition->n_tensor; i++)
		HEDDLE_PUSH(arena, out->tensor, out->n_tensor, definition->tensor[i]);
	for (int i = 0; i < config->n_split; i++)
		if (config->split[i].stmt >= definition->n_statement) {
			heddle_error(ctx, 510, NULL, "there is no statement %d to split", config->split[i].stmt);
			return NULL;
		}
	for (int i = 0; i < definition->n_tensor; i++)
		if (definition->tensor[i]->zero_fill)
			fill(&r, definition->tensor[i]);
	for (int i = 0; i < definition->n_statement; i++) {
		const heddle_split *how = NULL;
		for (int j = 0; j < config->n_split; j++)
			if (config->split[j].stmt == i)
				how = &config->split[j];
		if (how) {
			if (split(&r, definition->statement[i], how) < 0)
				return NULL;
			continue;
		}
		heddle_statement *copy = HEDDLE_NEW(arena, heddle_statement);
		*copy = *definition->statement[i];
		push_statement(&r, copy);
	}
	return out;
}
