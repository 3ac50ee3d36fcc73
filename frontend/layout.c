/* Declared strides: never negative, and no two elements of what is written share memory.
 *
 * Two dimensions i and j of a written tensor are apart when one strides over the whole of the other:
 * stride(i) >= stride(j) * extent(j), or the other way round.  All pairs apart and all strides at least 1 leave one element to
 * each place; beside a stride of 1 the others are that by being apart from it, or there are no elements.  Whatever does not
 * hold for all sizes becomes a precondition.
 * SPDX-License-Identifier: MIT
 */
#include "frontend/check.h"

static heddle_expr *binary(checker *c, heddle_op op, heddle_type type, heddle_expr *a, heddle_expr *b)
{
	heddle_expr *e = heddle_expr_make(c->arena, HEDDLE_EXPR_BINARY, type, 2);
	e->op = op;
	e->arg[0] = a;
	e->arg[1] = b;
	return e;
}

static bool is_int(const heddle_expr *e, int64_t i)
{
	return e->kind == HEDDLE_EXPR_INT && e->i == i;
}

static heddle_expr *times(checker *c, heddle_expr *a, heddle_expr *b)
{
	return is_int(a, 1) ? b : is_int(b, 1) ? a : binary(c, HEDDLE_OP_MUL, HEDDLE_INT32, a, b);
}

/* stride >= least for all sizes, or a precondition, or an error. */
static void require_least(checker *c, affine_space *space, const tensor_state *t, int d, int least)
{
	affine_row row, below = affine_constant(least - 1);
	if (!affine_from_expr(space, t->tensor->stride[d], true, &row) || !affine_add(&below, &row, -1)) {
		heddle_expr *bound = heddle_expr_make(c->arena, HEDDLE_EXPR_INT, HEDDLE_INT32, 0);
		bound->i = least;
		heddle_check_require(c, binary(c, HEDDLE_OP_GE, HEDDLE_BOOL, t->tensor->stride[d], bound));
		return;
	}
	if (!heddle_check_violated(c, space, &below))
		return;
	heddle_check_fail(c, 128, &t->param->stride[d]->location, "the stride of dimension %d of `%s` is %s", d, t->tensor->name,
			  least ? "less than 1" : "negative");
	heddle_note(c->ctx, NULL,
		    least ? "each element that is written needs a place of its own" : "only strides from 0 can be declared");
}

/* outer - inner * extent >= 0, as a row. */
static bool room(checker *c, affine_space *space, const heddle_tensor *t, int outer, int inner, affine_row *row)
{
	affine_row taken;
	return affine_from_expr(space, t->stride[outer], true, row) &&
	       affine_from_expr(space, times(c, t->stride[inner], t->extent[inner]), true, &taken) &&
	       affine_add(row, &taken, -1);
}

/* The row is negative whatever the sizes are. */
static bool never(affine_space *space, const affine_row *row)
{
	affine_row negative = affine_constant(-1);
	return affine_add(&negative, row, -1) && affine_prove(space, &negative);
}

static heddle_expr *apart(checker *c, const heddle_tensor *t, int outer, int inner)
{
	return binary(c, HEDDLE_OP_GE, HEDDLE_BOOL, t->stride[outer], times(c, t->stride[inner], t->extent[inner]));
}

static void report_overlap(checker *c, const tensor_state *t, int i, int j)
{
	heddle_text text = {0};
	heddle_expr_print(t->tensor->extent[j], &text);
	heddle_check_fail(c, 128, &t->param->stride_location, "elements of `%s` share memory: dimension %d strides into dimension %d",
			  t->tensor->name, i, j);
	heddle_note(c->ctx, NULL, "dimension %d has %s elements; one of the two must stride over the whole of the other", j,
		    heddle_text_str(&text));
	heddle_text_free(&text);
}

/* With a stride of 1 there is no question which of the two is inside. */
static void require_apart(checker *c, affine_space *space, const tensor_state *t, int i, int j)
{
	heddle_tensor *tensor = t->tensor;
	affine_row ij = {0}, ji = {0}, short_of = affine_constant(-1);
	bool know_ij = room(c, space, tensor, i, j, &ij), know_ji = room(c, space, tensor, j, i, &ji);
	if ((know_ij && affine_prove(space, &ij)) || (know_ji && affine_prove(space, &ji)))
		return;
	bool only_ij = is_int(tensor->stride[j], 1), only_ji = is_int(tensor->stride[i], 1);
	if (only_ij == only_ji) {
		only_ij = know_ji && never(space, &ji);
		only_ji = know_ij && never(space, &ij);
	}
	if (only_ij == only_ji) {
		heddle_check_require(c, binary(c, HEDDLE_OP_OR, HEDDLE_BOOL, apart(c, tensor, i, j), apart(c, tensor, j, i)));
		return;
	}
	bool known = only_ij ? know_ij : know_ji;
	if (known && affine_add(&short_of, only_ij ? &ij : &ji, -1)) {
		if (heddle_check_violated(c, space, &short_of))
			report_overlap(c, t, only_ij ? i : j, only_ij ? j : i);
		return;
	}
	heddle_check_require(c, only_ij ? apart(c, tensor, i, j) : apart(c, tensor, j, i));
}

static bool beside_one(const heddle_tensor *t, int d)
{
	for (int e = 0; e < t->rank; e++)
		if (e != d && is_int(t->stride[e], 1))
			return true;
	return false;
}

/* Extents and strides over unknown names are not there, which was an error. */
static bool is_whole(const heddle_tensor *t)
{
	for (int d = 0; d < t->rank; d++)
		if (!t->extent[d] || !t->stride[d])
			return false;
	return true;
}

void heddle_check_layouts(checker *c)
{
	for (int i = 0; i < c->n_state; i++) {
		const tensor_state *t = &c->state[i];
		heddle_tensor *tensor = t->tensor;
		if (!tensor->stride || t->bad || !tensor->extent || !is_whole(tensor))
			continue;
		heddle_arena *arena = heddle_arena_new();
		affine_space *space = affine_space_new(arena, c->arena, &c->file->steps);
		bool written = tensor->role != HEDDLE_ROLE_INPUT;
		for (int d = 0; d < tensor->rank; d++)
			require_least(c, space, t, d, written && !beside_one(tensor, d));
		for (int d = 0; written && d < tensor->rank; d++)
			for (int e = d + 1; e < tensor->rank; e++)
				require_apart(c, space, t, d, e);
		heddle_arena_free(arena);
	}
}
