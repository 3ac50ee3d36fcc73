/* What guards and conditions in a value ask for.
 * SPDX-License-Identifier: MIT
 */
#include "cost/count_conditions.h"

#include "frontend/affine.h"

linear count_quotient(const counter *c, const heddle_expr *expr, int64_t *divisor)
{
	int64_t by = 0;
	while (expr->kind == HEDDLE_EXPR_CAST)
		expr = expr->arg[0];
	*divisor = 1;
	if (expr->kind != HEDDLE_EXPR_BINARY || expr->op != HEDDLE_OP_DIV || heddle_expr_evaluate(expr->arg[1], c->size, &by) < 0 || by < 1)
		return count_linear(c, expr);
	*divisor = by;
	return count_linear(c, expr->arg[0]);
}

bool count_add_conjunct(const counter *c, conjuncts *all, const heddle_expr *greater, const heddle_expr *less, int64_t apart)
{
	int64_t up, down;
	linear a = count_quotient(c, greater, &up), b = count_quotient(c, less, &down);
	if (!a.affine || !b.affine || all->n == MOST_CONJUNCTS || (up > 1 && !count_is_constant(&b)) || (down > 1 && !count_is_constant(&a)))
		return false;
	const linear zero = {.affine = true};
	linear *l = &all->of[all->n++];
	/* quotients round towards 0 */
	if (up > 1) {
		const int64_t least = b.constant + apart;
		*l = a;
		l->constant -= least > 0 ? least * up : (least - 1) * up + 1;
	} else if (down > 1) {
		const int64_t most = a.constant - apart;
		*l = count_add(zero, b, -1);
		l->constant += most < 0 ? most * down : (most + 1) * down - 1;
	} else {
		*l = count_add(a, b, -1);
		l->constant -= apart;
	}
	return true;
}

/* value % divisor == 0; false: it is something else. */
static bool add_multiple(const counter *c, conjuncts *all, const heddle_expr *value, const heddle_expr *rest)
{
	int64_t by = 0, left = 0;
	while (value->kind == HEDDLE_EXPR_CAST)
		value = value->arg[0];
	if (value->kind != HEDDLE_EXPR_BINARY || value->op != HEDDLE_OP_MOD || heddle_expr_evaluate(value->arg[1], c->size, &by) < 0 ||
	    heddle_expr_evaluate(rest, c->size, &left) < 0 || left || by < 1 || by > MOST_WARP || all->n_multiple == MOST_CONJUNCTS)
		return false;
	all->multiple[all->n_multiple].of = count_linear(c, value->arg[0]);
	all->multiple[all->n_multiple].divisor = by;
	return all->multiple[all->n_multiple++].of.affine;
}

bool count_take_conjuncts(const counter *c, const heddle_expr *guard, conjuncts *all)
{
	const heddle_expr *a = guard->n_arg > 0 ? guard->arg[0] : NULL, *b = guard->n_arg > 1 ? guard->arg[1] : NULL;
	if (guard->kind == HEDDLE_EXPR_CAST)
		return count_take_conjuncts(c, a, all);
	if (guard->kind != HEDDLE_EXPR_BINARY)
		return false;
	switch (guard->op) {
	case HEDDLE_OP_AND:
		return count_take_conjuncts(c, a, all) && count_take_conjuncts(c, b, all);
	case HEDDLE_OP_GE:
		return count_add_conjunct(c, all, a, b, 0);
	case HEDDLE_OP_GT:
		return count_add_conjunct(c, all, a, b, 1);
	case HEDDLE_OP_LE:
		return count_add_conjunct(c, all, b, a, 0);
	case HEDDLE_OP_LT:
		return count_add_conjunct(c, all, b, a, 1);
	case HEDDLE_OP_EQ:
		return add_multiple(c, all, a, b) || add_multiple(c, all, b, a) || (count_add_conjunct(c, all, a, b, 0) && count_add_conjunct(c, all, b, a, 0));
	default:
		return false;
	}
}

const heddle_expr *count_guard_of(const heddle_stmt *stmt, bool *otherwise)
{
	const heddle_expr *select = stmt->source->value;
	while (select->kind == HEDDLE_EXPR_CAST)
		select = select->arg[0];
	if (stmt->value == stmt->source->value || select->kind != HEDDLE_EXPR_SELECT)
		return NULL;
	*otherwise = stmt->value == select->arg[2];
	return select->arg[0];
}

bool count_take_guard(const counter *c, const heddle_stmt *stmt, conjuncts *all)
{
	bool otherwise = false;
	const heddle_expr *guard = count_guard_of(stmt, &otherwise);
	return guard && !otherwise && count_take_conjuncts(c, guard, all);
}

int count_conjuncts(const counter *c, const heddle_stmt *stmt, linear *all, int most)
{
	conjuncts guard = {0};
	bool otherwise = false;
	if (!count_guard_of(stmt, &otherwise))
		return 0;
	if (otherwise || !count_take_guard(c, stmt, &guard) || guard.n_multiple || guard.n > most)
		return -1;
	for (int k = 0; k < guard.n; k++)
		all[k] = guard.of[k];
	return guard.n;
}

int count_guard_begins(const counter *c, const heddle_stmt *stmt, int d)
{
	conjuncts all = {0};
	int terms = -1;
	if (!count_take_guard(c, stmt, &all) || all.n_multiple)
		return -1;
	for (int k = 0; k < all.n; k++) {
		const linear *l = &all.of[k];
		int sum = -1;
		for (int o = 0; o < stmt->n_dim; o++)
			if (stmt->dim[o].reduction && l->coefficient[o])
				sum = sum >= 0 || heddle_is_window(stmt, o) ? HEDDLE_MAX_DIM : o;
		if (l->coefficient[d] > 0 || (l->coefficient[d] && (sum < 0 || sum == HEDDLE_MAX_DIM || (terms >= 0 && terms != sum))))
			return -1;
		terms = l->coefficient[d] ? sum : terms;
	}
	return terms;
}

bool count_guard_parts(const counter *c, const heddle_stmt *stmt, int d)
{
	bool otherwise = false, parts = false;
	const heddle_expr *guard = count_guard_of(stmt, &otherwise);
	conjuncts all = {0};
	if (!guard || !count_take_conjuncts(c, guard, &all) || all.n_multiple || (otherwise && all.n > 1))
		return false;
	for (int k = 0; k < all.n; k++)
		parts = parts || all.of[k].coefficient[d];
	return parts;
}

bool count_guards(const heddle_stmt *stmt, int d)
{
	bool otherwise = false;
	const heddle_expr *guard = count_guard_of(stmt, &otherwise);
	return guard && choose_mentions(guard, d);
}

int count_guard_beside(const heddle_stmt *stmt, int d)
{
	bool otherwise = false;
	const heddle_expr *guard = count_guard_of(stmt, &otherwise);
	if (!guard || otherwise || guard->kind != HEDDLE_EXPR_BINARY || (guard->op != HEDDLE_OP_LE && guard->op != HEDDLE_OP_GE) ||
	    guard->arg[0]->kind != HEDDLE_EXPR_INDEX || guard->arg[1]->kind != HEDDLE_EXPR_INDEX)
		return -1;
	const int a = guard->arg[0]->index->position, b = guard->arg[1]->index->position;
	return a == d ? b : b == d ? a : -1;
}

bool count_guard_rises(const counter *c, const heddle_stmt *stmt, int d)
{
	conjuncts all = {0};
	return count_take_guard(c, stmt, &all) && all.n == 1 && all.of[0].coefficient[d] > 0;
}

/* Is the element read whenever the value is computed? */
static bool is_read_anyway(const heddle_expr *read, const heddle_expr *value)
{
	if (value->kind == HEDDLE_EXPR_READ && heddle_expr_equal(read, value))
		return true;
	for (int i = 0; i < (value->kind == HEDDLE_EXPR_SELECT ? 1 : value->n_arg); i++)
		if (is_read_anyway(read, value->arg[i]))
			return true;
	return false;
}

bool count_is_read_anyway(const heddle_stmt *stmt, const heddle_expr *read)
{
	return is_read_anyway(read, stmt->value);
}

/* Does a condition under which the value reads the element mention dimension d? */
static bool asks(const heddle_expr *read, const heddle_expr *value, int d, bool mentioned)
{
	if (value->kind == HEDDLE_EXPR_READ && heddle_expr_equal(read, value))
		return mentioned;
	const bool decided = value->kind == HEDDLE_EXPR_SELECT && choose_mentions(value->arg[0], d);
	for (int i = 0; i < value->n_arg; i++)
		if (asks(read, value->arg[i], d, mentioned || (decided && i > 0)))
			return true;
	return false;
}

bool count_read_asks(const heddle_stmt *stmt, const heddle_expr *read, int d)
{
	return asks(read, stmt->value, d, false);
}
