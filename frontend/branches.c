/* Conditions of `?:` that bound the subscripts of what their branches read.
 *
 * In `i + k >= 1 && i + k <= W ? x(i + k - 1) * w(k) : 0` the condition says where x is read.  So this subscript tells nothing about
 * the ranges of i and k; w's does.
 * SPDX-License-Identifier: MIT
 */
#include "frontend/check.h"

void heddle_branch_enter(affine_space *space, branch_conditions *known, const heddle_expr *condition, bool negate)
{
	if (condition->kind == HEDDLE_EXPR_UNARY && condition->op == HEDDLE_OP_NOT) {
		heddle_branch_enter(space, known, condition->arg[0], !negate);
		return;
	}
	if (condition->kind == HEDDLE_EXPR_BINARY && condition->op == (negate ? HEDDLE_OP_OR : HEDDLE_OP_AND)) {
		heddle_branch_enter(space, known, condition->arg[0], negate);
		heddle_branch_enter(space, known, condition->arg[1], negate);
		return;
	}
	const affine_or *when = affine_condition(space, condition, negate);
	for (int i = 0; when->n == 1 && i < when->term[0].n; i++) {
		branch_row row = {when->term[0].row[i], condition};
		HEDDLE_PUSH(space->arena, known->row, known->n, row);
	}
}

/* Is the difference of the row and a multiple of the subscript, of either sign, over sizes alone? */
static bool bounds(const affine_space *space, const affine_row *row, const affine_row *subscript)
{
	int64_t p = 0, q = 0; /* the first coefficients, in lowest terms */
	for (int v = 0; v < space->n; v++) {
		const int64_t a = row->c[v], b = subscript->c[v];
		if (space->variable[v].size_only || (!a && !b))
			continue;
		if (!a || !b)
			return false;
		if (!p) {
			const int64_t common = affine_gcd(a, b);
			p = a / common;
			q = b / common;
		}
		if (a % p || b % q || a / p != b / q)
			return false;
	}
	return p != 0;
}

/* What is divided when all indices of the row are in one quotient; else NULL. */
static const affine_row *dividend(const affine_space *space, const affine_row *row)
{
	const affine_variable *only = NULL;
	for (int v = 0; v < space->n; v++) {
		if (!row->c[v] || space->variable[v].size_only)
			continue;
		if (only)
			return NULL;
		only = &space->variable[v];
	}
	return only && (only->kind == AFFINE_FLOOR || only->kind == AFFINE_TRUNC) ? only->a : NULL;
}

const branch_row *heddle_branch_bound(const affine_space *space, const branch_conditions *known, const affine_row *subscript)
{
	for (; subscript; subscript = dividend(space, subscript))
		for (int i = 0; i < known->n; i++)
			if (bounds(space, &known->row[i].row, subscript))
				return &known->row[i];
	return NULL;
}
