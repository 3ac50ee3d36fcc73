/* Splits of reductions, shared expressions, turned operands and zero fills, as a definition -> definition rewrite.
 *
 * Enters: the checked definition; the config's splits, shares and turns.  Leaves: a definition whose extra tensors and statements are
 * ordinary ones, so that every later pass, the proof included, treats partial results like any other tensor.
 * SPDX-License-Identifier: MIT
 */
#include "model/rewrite_parts.h"

#include <string.h>

/* ---- small expressions ------------------------------------------------------------------------------------------------ */

heddle_expr *rewrite_int(rewriter *r, int64_t i)
{
	heddle_expr *e = HEDDLE_NEW(r->arena, heddle_expr);
	e->kind = HEDDLE_EXPR_INT;
	e->type = HEDDLE_INT32;
	e->i = i;
	return e;
}

heddle_expr *rewrite_index(rewriter *r, heddle_index *index)
{
	heddle_expr *e = HEDDLE_NEW(r->arena, heddle_expr);
	e->kind = HEDDLE_EXPR_INDEX;
	e->type = HEDDLE_INT32;
	e->index = index;
	return e;
}

heddle_expr *rewrite_binary(rewriter *r, heddle_op op, heddle_expr *a, heddle_expr *b)
{
	if (a->kind == HEDDLE_EXPR_INT && b->kind == HEDDLE_EXPR_INT) {
		switch (op) {
		case HEDDLE_OP_ADD:
			return rewrite_int(r, a->i + b->i);
		case HEDDLE_OP_SUB:
			return rewrite_int(r, a->i - b->i);
		case HEDDLE_OP_MUL:
			return rewrite_int(r, a->i * b->i);
		case HEDDLE_OP_DIV:
			return rewrite_int(r, a->i / b->i);
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

heddle_expr *rewrite_read(rewriter *r, heddle_tensor *tensor, heddle_expr **subscript)
{
	heddle_expr *read = HEDDLE_NEW(r->arena, heddle_expr);
	read->kind = HEDDLE_EXPR_READ;
	read->type = tensor->type;
	read->tensor = tensor;
	read->n_arg = tensor->rank;
	read->arg = subscript;
	return read;
}

/* `expr` with each index i replaced by by[i->position] (NULL: kept). */
heddle_expr *rewrite_substitute(rewriter *r, const heddle_expr *expr, heddle_expr *const *by)
{
	if (expr->kind == HEDDLE_EXPR_INDEX && by[expr->index->position])
		return by[expr->index->position];
	heddle_expr *copy = HEDDLE_NEW(r->arena, heddle_expr);
	*copy = *expr;
	if (expr->n_arg)
		copy->arg = HEDDLE_NEW_ARRAY(r->arena, heddle_expr *, expr->n_arg);
	for (int i = 0; i < expr->n_arg; i++)
		copy->arg[i] = rewrite_substitute(r, expr->arg[i], by);
	return copy;
}

heddle_index *rewrite_new_index(rewriter *r, const char *name, heddle_expr *lower, heddle_expr *upper, bool reduction)
{
	heddle_index *index = HEDDLE_NEW(r->arena, heddle_index);
	index->name = name;
	index->lower = lower;
	index->upper = upper;
	index->reduction = reduction;
	return index;
}

heddle_tensor *rewrite_new_tensor(rewriter *r, const char *name, heddle_type type, int rank)
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

/* Indices that the given definition has, too, are right already: other threads may read them. */
void rewrite_number(heddle_statement *statement, int position)
{
	statement->position = position;
	for (int i = 0; i < statement->n_index; i++)
		if (statement->index[i]->position != i)
			statement->index[i]->position = i;
}

void rewrite_push(rewriter *r, heddle_statement *statement)
{
	rewrite_number(statement, r->out->n_statement);
	HEDDLE_PUSH(r->arena, r->out->statement, r->out->n_statement, statement);
}

const char *rewrite_fresh_name(rewriter *r, const char *stem)
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

bool rewrite_over_sizes(const heddle_expr *expr)
{
	if (expr->kind == HEDDLE_EXPR_INDEX)
		return false;
	for (int i = 0; i < expr->n_arg; i++)
		if (!rewrite_over_sizes(expr->arg[i]))
			return false;
	return true;
}

/* ---- zero fill --------------------------------------------------------------------------------------------------------- */

static heddle_expr *zero(rewriter *r, heddle_type type)
{
	heddle_expr *e = rewrite_int(r, 0);
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
		heddle_index *index = rewrite_new_index(r, heddle_arena_printf(r->arena, "z%d", i), rewrite_int(r, 0),
						tensor->extent[i], false);
		HEDDLE_PUSH(r->arena, s->index, s->n_index, index);
		s->lhs[i] = rewrite_index(r, index);
	}
	s->value = zero(r, tensor->type);
	s->location = tensor->location;
	rewrite_push(r, s);
}

/* Does the first statement that touches the tensor write all of it?  What the checker saw of an accumulation is less than what its sum writes. */
static bool is_covered(const heddle_definition *d, const heddle_tensor *tensor)
{
	int k = 0;
	while (k < d->n_statement && d->statement[k]->target != tensor && !heddle_expr_reads(d->statement[k]->value, tensor))
		k++;
	const heddle_statement *s = k < d->n_statement ? d->statement[k] : NULL;
	if (!s || s->target != tensor || (s->assign != HEDDLE_ASSIGN_SET && !s->initialise) || heddle_expr_reads(s->value, tensor))
		return false;
	if (s->whole)
		return true;
	for (int e = 0; e < s->n_lhs; e++) {
		const heddle_index *index = s->lhs[e]->index;
		if (s->lhs[e]->kind != HEDDLE_EXPR_INDEX || index->lower->kind != HEDDLE_EXPR_INT || index->lower->i != 0 ||
		    !heddle_expr_equal(index->upper, tensor->extent[e]))
			return false;
		for (int other = 0; other < e; other++)
			if (s->lhs[other]->index == index)
				return false;
	}
	return true;
}

/* ---- the rewrite ------------------------------------------------------------------------------------------------------------ */

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
		if (definition->tensor[i]->zero_fill && !is_covered(definition, definition->tensor[i]))
			fill(&r, definition->tensor[i]);
	heddle_definition now = *definition;
	heddle_statement **filled = HEDDLE_NEW_ARRAY(arena, heddle_statement *, definition->n_statement + 1);
	now.statement = HEDDLE_NEW_ARRAY(arena, heddle_statement *, definition->n_statement + 1);
	for (int i = 0; i < definition->n_statement; i++) {
		now.statement[i] = HEDDLE_NEW(arena, heddle_statement);
		*now.statement[i] = *definition->statement[i];
	}
	for (int i = 0; i < config->n_share; i++) {
		const int first = config->share[i];
		const bool there = first < definition->n_statement;
		if (!there || filled[first]) {
			heddle_error(ctx, 529, NULL, there ? "statement %d is listed twice" : "there is no statement %d to share with", first);
			return NULL;
		}
		filled[first] = rewrite_share(&r, &now, first);
		if (!filled[first])
			return NULL;
	}
	heddle_statement **turned = HEDDLE_NEW_ARRAY(arena, heddle_statement *, config->n_turn + 1);
	for (int i = 0; i < config->n_turn; i++) {
		if (config->turn[i].stmt >= definition->n_statement) {
			heddle_error(ctx, 532, NULL, "there is no statement %d that reads `%s`", config->turn[i].stmt, config->turn[i].tensor);
			return NULL;
		}
		turned[i] = rewrite_turn(&r, now.statement[config->turn[i].stmt], &config->turn[i]);
		if (!turned[i])
			return NULL;
	}
	for (int i = 0; i < now.n_statement; i++) {
		const heddle_split *how = NULL;
		for (int j = 0; j < config->n_split; j++)
			if (config->split[j].stmt == i)
				how = &config->split[j];
		if (filled[i])
			rewrite_push(&r, filled[i]);
		for (int j = 0; j < config->n_turn; j++)
			if (config->turn[j].stmt == i)
				rewrite_push(&r, turned[j]);
		if (!how)
			rewrite_push(&r, now.statement[i]);
		else if (rewrite_split(&r, now.statement[i], how) < 0)
			return NULL;
	}
	rewrite_merge(&r);
	return out;
}
