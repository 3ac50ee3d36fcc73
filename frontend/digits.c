/* Subscripts factor * high + low whose factor is a size that is not known: not affine, but two digits of a number.
 * SPDX-License-Identifier: MIT
 */
#include "frontend/check.h"

/* A value over sizes that have not all one value. */
static bool is_open(const heddle_expr *e)
{
	int64_t value;
	return !heddle_expr_has(e, HEDDLE_EXPR_INDEX) && !heddle_expr_has(e, HEDDLE_EXPR_READ) && heddle_expr_evaluate(e, NULL, &value) < 0;
}

static heddle_expr *binary(heddle_arena *arena, const heddle_expr *like, heddle_expr *a, heddle_expr *b)
{
	heddle_expr *e = heddle_expr_make(arena, HEDDLE_EXPR_BINARY, like->type, 2);
	e->op = like->op;
	e->location = like->location;
	e->arg[0] = a;
	e->arg[1] = b;
	return e;
}

bool heddle_expr_digits(heddle_arena *arena, const heddle_expr *e, heddle_digits *out)
{
	if (e->kind == HEDDLE_EXPR_CAST && e->implicit)
		return heddle_expr_digits(arena, e->arg[0], out);
	if (e->kind != HEDDLE_EXPR_BINARY)
		return false;
	for (int i = 0; i < 2 && e->op == HEDDLE_OP_MUL; i++) {
		if (!is_open(e->arg[i]) || e->arg[1 - i]->kind != HEDDLE_EXPR_INDEX)
			continue;
		heddle_expr *zero = heddle_expr_make(arena, HEDDLE_EXPR_INT, e->type, 0);
		zero->location = e->location;
		*out = (heddle_digits){e->arg[i], e->arg[1 - i], zero};
		return true;
	}
	if ((e->op == HEDDLE_OP_ADD || e->op == HEDDLE_OP_SUB) && heddle_expr_digits(arena, e->arg[0], out)) {
		out->low = out->low->kind == HEDDLE_EXPR_INT && !out->low->i && e->op == HEDDLE_OP_ADD ? e->arg[1]
												       : binary(arena, e, out->low, e->arg[1]);
		return true;
	}
	if (e->op != HEDDLE_OP_ADD || !heddle_expr_digits(arena, e->arg[1], out))
		return false;
	out->low = out->low->kind == HEDDLE_EXPR_INT && !out->low->i ? e->arg[0] : binary(arena, e, e->arg[0], out->low);
	return true;
}

/* Is there no product of an index and a size in the form? */
static bool is_plain(const affine_space *space, const affine_row *row)
{
	for (int v = 0; v < space->n; v++)
		if (row->c[v] && space->variable[v].kind == AFFINE_PRODUCT && !space->variable[v].size_only)
			return false;
	return true;
}

bool heddle_check_digits(affine_space *space, const heddle_expr *e, heddle_digits *out)
{
	affine_row most, low, lower, upper;
	if (!heddle_expr_digits(space->results, e, out))
		return false;
	const heddle_index *high = out->high->index;
	if (!high->lower || !affine_from_expr(space, high->lower, true, &lower) || !affine_from_expr(space, high->upper, true, &upper) ||
	    !affine_prove(space, &lower) || !affine_size_only(space, &upper) || !is_plain(space, &upper))
		return false;
	if (!affine_from_expr(space, out->factor, false, &most) || !affine_from_expr(space, out->low, false, &low) || !is_plain(space, &low))
		return false;
	most.k--;
	return affine_prove(space, &low) && affine_add(&most, &low, -1) && affine_prove(space, &most);
}

heddle_expr *heddle_check_times(affine_space *space, heddle_expr *factor, const affine_row *row)
{
	heddle_expr like = {.op = HEDDLE_OP_MUL, .type = factor->type, .location = factor->location};
	return binary(space->results, &like, factor, affine_to_expr(space, row));
}

/* ---- tensors whose dimension is two digits everywhere ---------------------------------------------------------------------------- */

/* A subscript of dimension `d` of the tensor in the statement that is not two digits with this factor; NULL: there is none.  With a
 * factor of NULL the first that is two digits gives it. */
static const heddle_expr *other_subscript(heddle_arena *arena, const heddle_expr *e, const heddle_tensor *tensor, int d, heddle_expr **factor)
{
	heddle_digits digits;
	for (int i = 0; i < e->n_arg; i++) {
		const heddle_expr *inner = other_subscript(arena, e->arg[i], tensor, d, factor);
		if (inner)
			return inner;
	}
	if (e->kind != HEDDLE_EXPR_READ || e->tensor != tensor)
		return NULL;
	if (!heddle_expr_digits(arena, e->arg[d], &digits))
		return *factor ? e->arg[d] : NULL;
	*factor = *factor ? *factor : digits.factor;
	return heddle_expr_equal(*factor, digits.factor) ? NULL : e->arg[d];
}

const heddle_expr *heddle_digits_factor(heddle_arena *arena, const heddle_definition *definition, const heddle_tensor *tensor, int d,
					heddle_expr **factor)
{
	*factor = NULL;
	for (int round = 0; round < 2; round++) { /* the first to find the factor */
		for (int i = 0; i < definition->n_statement; i++) {
			const heddle_statement *st = definition->statement[i];
			heddle_digits digits;
			const heddle_expr *other = other_subscript(arena, st->value, tensor, d, factor);
			if (st->target == tensor && heddle_expr_digits(arena, st->lhs[d], &digits)) {
				*factor = *factor ? *factor : digits.factor;
				other = other || heddle_expr_equal(*factor, digits.factor) ? other : st->lhs[d];
			} else if (st->target == tensor && *factor && !other) {
				other = st->lhs[d];
			}
			if (other && *factor)
				return other;
		}
	}
	return NULL;
}

/* Where an index is multiplied by a size in a subscript of what is written. */
static const heddle_expr *digit_write(checker *c, const heddle_tensor *tensor, int d)
{
	heddle_digits digits;
	for (int i = 0; i < c->def->n_statement; i++)
		if (c->def->statement[i]->target == tensor && heddle_expr_digits(c->scratch, c->def->statement[i]->lhs[d], &digits))
			return c->def->statement[i]->lhs[d];
	return NULL;
}

static void require_in_32_bits(checker *c, heddle_expr *extent)
{
	for (int i = 0; i < c->def->n_precondition; i++) { /* a size is in 32 bits */
		const heddle_expr *known = c->def->precondition[i];
		if (known->op == HEDDLE_OP_LE && known->arg[1]->kind == HEDDLE_EXPR_SIZE && heddle_expr_equal(known->arg[0], extent))
			return;
	}
	heddle_expr *most = heddle_expr_make(c->arena, HEDDLE_EXPR_INT, extent->type, 0);
	const heddle_expr like = {.op = HEDDLE_OP_LE, .type = HEDDLE_BOOL, .location = extent->location};
	most->i = HEDDLE_LARGEST_SUBSCRIPT;
	heddle_check_require(c, binary(c->arena, &like, extent, most));
}

static void check_dimension(checker *c, heddle_tensor *tensor, int d)
{
	heddle_expr *factor;
	const heddle_expr *other = heddle_digits_factor(c->scratch, c->def, tensor, d, &factor), *write = digit_write(c, tensor, d);
	if (factor && tensor->extent[d]->kind != HEDDLE_EXPR_SIZE && tensor->extent[d]->kind != HEDDLE_EXPR_INT)
		require_in_32_bits(c, tensor->extent[d]);
	/* What is written is compiled with two dimensions for this one. */
	if (!write || (!other && !tensor->zero_fill))
		return;
	heddle_check_fail(c, 209, &write->location, "an index is multiplied by a size that is not known");
	if (other)
		heddle_note(c->ctx, &other->location, "which is possible where all subscripts of `%s` have this form; this one has not",
			    tensor->name);
	else
		heddle_note(c->ctx, NULL, "which is possible where all of `%s` is written so", tensor->name);
	heddle_note(c->ctx, NULL, "strides and dilations must be constants: give the size a value with -s");
}

void heddle_check_digit_tensors(checker *c)
{
	for (int i = 0; i < c->n_state; i++)
		for (int d = 0; d < c->state[i].rank && !c->state[i].bad && c->state[i].tensor->extent; d++)
			check_dimension(c, c->state[i].tensor, d);
}
