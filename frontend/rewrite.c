/* Expressions rewritten: copies, roundings of divisions, indices counted from elsewhere.
 * SPDX-License-Identifier: MIT
 */
#include "frontend/check.h"

heddle_expr *heddle_expr_rewrite(heddle_arena *arena, const heddle_expr *e, heddle_expr *(*map)(void *user, heddle_expr *copy),
				 void *user)
{
	heddle_expr *copy = HEDDLE_NEW(arena, heddle_expr);
	*copy = *e;
	copy->arg = e->n_arg ? HEDDLE_NEW_ARRAY(arena, heddle_expr *, e->n_arg) : NULL;
	for (int i = 0; i < e->n_arg; i++)
		copy->arg[i] = heddle_expr_rewrite(arena, e->arg[i], map, user);
	return map ? map(user, copy) : copy;
}

static heddle_expr *binary(checker *c, heddle_op op, heddle_type type, heddle_expr *a, heddle_expr *b)
{
	heddle_expr *e = heddle_expr_make(c->arena, HEDDLE_EXPR_BINARY, type, 2);
	e->op = op;
	e->arg[0] = a;
	e->arg[1] = b;
	e->location = a->location;
	return e;
}

static bool not_negative(checker *c, const heddle_expr *e)
{
	heddle_arena *arena = heddle_arena_new();
	affine_space *space = affine_space_new(arena, c->arena, &c->file->steps);
	affine_row row;
	bool yes = affine_from_expr(space, e, true, &row) && affine_prove(space, &row);
	heddle_arena_free(arena);
	return yes;
}

/* With m = ((a % d) + d) % d, where % truncates:  rounded down, a % d is m and a / d is (a - m) / d. */
static heddle_expr *rounded_down(void *user, heddle_expr *e)
{
	checker *c = user;
	if (e->kind != HEDDLE_EXPR_BINARY || (e->op != HEDDLE_OP_DIV && e->op != HEDDLE_OP_MOD) || not_negative(c, e->arg[0]))
		return e;
	heddle_expr *a = e->arg[0], *d = e->arg[1];
	heddle_expr *m = binary(c, HEDDLE_OP_MOD, e->type,
				binary(c, HEDDLE_OP_ADD, e->type, binary(c, HEDDLE_OP_MOD, e->type, a, d), d), d);
	return e->op == HEDDLE_OP_MOD ? m : binary(c, HEDDLE_OP_DIV, e->type, binary(c, HEDDLE_OP_SUB, e->type, a, m), d);
}

heddle_expr *heddle_check_as_value(checker *c, const heddle_expr *e)
{
	return heddle_expr_rewrite(c->arena, e, rounded_down, c);
}

/* ---- indices below 0 ------------------------------------------------------------------------------------------------------- */

typedef struct shift {
	checker *c;
	const heddle_index *index;
	heddle_expr *by;
} shift;

static heddle_expr *shifted(void *user, heddle_expr *e)
{
	const shift *s = user;
	return e->kind == HEDDLE_EXPR_INDEX && e->index == s->index ? binary(s->c, HEDDLE_OP_ADD, e->type, e, s->by) : e;
}

/* A subscript that is a sum of indices and sizes, in its shortest form. */
static heddle_expr *short_form(checker *c, heddle_expr *e)
{
	heddle_arena *arena = heddle_arena_new();
	affine_space *space = affine_space_new(arena, c->arena, &c->file->steps);
	affine_row row;
	bool plain = affine_from_expr(space, e, false, &row);
	for (int v = 0; plain && v < space->n; v++)
		plain = !row.c[v] || space->variable[v].kind == AFFINE_INDEX || space->variable[v].kind == AFFINE_SIZE;
	if (plain) {
		heddle_location where = e->location;
		e = affine_to_expr(space, &row);
		e->location = where;
	}
	heddle_arena_free(arena);
	return e;
}

static void shift_index(checker *c, heddle_statement *st, heddle_index *index)
{
	heddle_expr *lower = index->lower, *zero = heddle_expr_make(c->arena, HEDDLE_EXPR_INT, HEDDLE_INT32, 0);
	shift s = {c, index, heddle_check_as_value(c, lower)};
	index->upper = short_form(c, binary(c, HEDDLE_OP_SUB, HEDDLE_INT32, index->upper, lower));
	index->lower = zero;
	for (int i = 0; i < st->n_index; i++) {
		if (st->index[i] == index)
			continue;
		st->index[i]->lower = heddle_expr_rewrite(c->arena, st->index[i]->lower, shifted, &s);
		st->index[i]->upper = heddle_expr_rewrite(c->arena, st->index[i]->upper, shifted, &s);
	}
	for (int i = 0; i < st->n_lhs; i++)
		st->lhs[i] = short_form(c, heddle_expr_rewrite(c->arena, st->lhs[i], shifted, &s));
	st->value = heddle_expr_rewrite(c->arena, st->value, shifted, &s);
}

/* One that is a left-hand subscript itself cannot be below 0: that is an error or a precondition. */
static bool is_subscript(const heddle_statement *st, const heddle_index *index)
{
	for (int i = 0; i < st->n_lhs; i++)
		if (st->lhs[i]->kind == HEDDLE_EXPR_INDEX && st->lhs[i]->index == index)
			return true;
	return false;
}

void heddle_check_normalise(checker *c)
{
	for (int i = 0; i < c->def->n_statement; i++) {
		heddle_statement *st = c->def->statement[i];
		for (int j = 0; j < st->n_index; j++) {
			st->index[j]->written_lower = st->index[j]->lower;
			st->index[j]->written_upper = st->index[j]->upper;
		}
		for (int j = 0; j < st->n_index; j++)
			if (!is_subscript(st, st->index[j]) && !not_negative(c, st->index[j]->lower))
				shift_index(c, st, st->index[j]);
	}
}

/* ---- names and order -------------------------------------------------------------------------------------------------------- */

/* By the first statement that writes them: those that were made along the way stand where reading the printed definition
 * would find them. */
static void order_temporaries(checker *c)
{
	heddle_definition *def = c->def;
	int first = def->n_input + def->n_output, n = first;
	heddle_tensor **old = HEDDLE_NEW_ARRAY(c->scratch, heddle_tensor *, def->n_tensor + 1);
	bool *placed = HEDDLE_NEW_ARRAY(c->scratch, bool, def->n_tensor + 1);
	if (c->errors)
		return;
	for (int i = 0; i < def->n_tensor; i++)
		old[i] = def->tensor[i];
	for (int i = 0; i < def->n_statement; i++) {
		heddle_tensor *t = def->statement[i]->target;
		if (t->role != HEDDLE_ROLE_TEMPORARY || placed[t->position])
			continue;
		placed[t->position] = true;
		def->tensor[n++] = t;
	}
	for (int i = first; i < def->n_tensor; i++)
		if (!placed[i])
			def->tensor[n++] = old[i];
	for (int i = first; i < def->n_tensor; i++)
		def->tensor[i]->position = i;
}

/* Indices that came with a call keep their names, unless something here has them. */
static void rename_indices(checker *c)
{
	for (int i = 0; i < c->n_derived; i++) {
		const heddle_statement *st = c->derived[i].statement;
		for (int j = 0; j < st->n_index; j++)
			if (heddle_check_tensor(c, st->index[j]->name) || heddle_check_size(c, st->index[j]->name))
				st->index[j]->name = heddle_check_fresh(c, st->index[j]->name);
	}
}

void heddle_check_arrange(checker *c)
{
	rename_indices(c);
	order_temporaries(c);
}
