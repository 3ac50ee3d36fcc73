/* `T(..) argmax=! e` and `argmin=!`: the index of the extreme, in statements that every pass knows.
 *
 *     T_of(i, k)  = e                                    only where calculating e twice might round it differently
 *     T_most(i) max=! T_of(i, k)
 *     T(i)      min=! T_of(i, k) == T_most(i) || T_of(i, k) != T_of(i, k) ? k : greatest
 *
 * max propagates NaN, which equals nothing: then the first NaN is found.  Equal ones give the least index.  Over several indices,
 * each from 0, the number counts as if they were one: (k * extent(l) + l).
 * SPDX-License-Identifier: MIT
 */
#include "frontend/check.h"

#include <string.h>

/* ---- expressions ------------------------------------------------------------------------------------------------------------- */

static heddle_expr *binary(checker *c, heddle_op op, heddle_type type, heddle_expr *a, heddle_expr *b)
{
	heddle_expr *e = heddle_expr_make(c->arena, HEDDLE_EXPR_BINARY, type, 2);
	e->op = op;
	e->arg[0] = a;
	e->arg[1] = b;
	e->location = a->location;
	return e;
}

static heddle_expr *whole(checker *c, int64_t i, heddle_type type)
{
	heddle_expr *e = heddle_expr_make(c->arena, HEDDLE_EXPR_INT, type, 0);
	e->i = i;
	return e;
}

static heddle_expr *index_expr(checker *c, heddle_index *index)
{
	heddle_expr *e = heddle_expr_make(c->arena, HEDDLE_EXPR_INDEX, HEDDLE_INT32, 0);
	e->index = index;
	e->location = index->location;
	return e;
}

static heddle_expr *read_expr(checker *c, heddle_tensor *tensor, int n, heddle_expr **subscript)
{
	heddle_expr *e = heddle_expr_make(c->arena, HEDDLE_EXPR_READ, tensor->type, n);
	e->tensor = tensor;
	for (int i = 0; i < n; i++)
		e->arg[i] = subscript[i];
	return e;
}

/* Does calculating it again, in other surroundings, give the same bits? */
static bool is_exact(const heddle_expr *e)
{
	bool fine = true;
	if (e->kind == HEDDLE_EXPR_CALL)
		fine = !strcmp(heddle_builtins[e->builtin].name, "fabs");
	else if (e->kind == HEDDLE_EXPR_BINARY && heddle_type_is_float(e->type))
		fine = e->op == HEDDLE_OP_MIN || e->op == HEDDLE_OP_MAX;
	else if (e->kind == HEDDLE_EXPR_READ)
		return true; /* subscripts are integers */
	for (int i = 0; i < e->n_arg && fine; i++)
		fine = is_exact(e->arg[i]);
	return fine;
}

static bool reads(const heddle_expr *e, const heddle_tensor *tensor)
{
	if (e->kind == HEDDLE_EXPR_READ && e->tensor == tensor)
		return true;
	for (int i = 0; i < e->n_arg; i++)
		if (reads(e->arg[i], tensor))
			return true;
	return false;
}

static bool has_index(const heddle_expr *e)
{
	if (e->kind == HEDDLE_EXPR_INDEX)
		return true;
	for (int i = 0; i < e->n_arg; i++)
		if (has_index(e->arg[i]))
			return true;
	return false;
}

/* ---- statements -------------------------------------------------------------------------------------------------------------- */

static heddle_expr *renamed(void *to, heddle_expr *e)
{
	if (e->kind == HEDDLE_EXPR_INDEX)
		e->index = ((heddle_index **)to)[e->index->position];
	return e;
}

/* A statement over the same indices as `of`, which become its own. */
static heddle_statement *beside(checker *c, const heddle_statement *of, heddle_index **to)
{
	heddle_statement *st = HEDDLE_NEW(c->arena, heddle_statement);
	*st = *of;
	st->index = HEDDLE_NEW_ARRAY(c->arena, heddle_index *, of->n_index + 1);
	for (int i = 0; i < of->n_index; i++) {
		st->index[i] = to[i] = HEDDLE_NEW(c->arena, heddle_index);
		*to[i] = *of->index[i];
	}
	for (int i = 0; i < of->n_index; i++) {
		to[i]->lower = heddle_expr_rewrite(c->arena, of->index[i]->lower, renamed, to);
		to[i]->upper = heddle_expr_rewrite(c->arena, of->index[i]->upper, renamed, to);
	}
	st->lhs = HEDDLE_NEW_ARRAY(c->arena, heddle_expr *, of->n_lhs + 1);
	for (int i = 0; i < of->n_lhs; i++)
		st->lhs[i] = heddle_expr_rewrite(c->arena, of->lhs[i], renamed, to);
	st->value = heddle_expr_rewrite(c->arena, of->value, renamed, to);
	return st;
}

static void push(checker *c, heddle_statement *st, bool derived)
{
	st->position = c->def->n_statement;
	HEDDLE_PUSH(c->arena, c->def->statement, c->def->n_statement, st);
	if (derived)
		HEDDLE_PUSH(c->scratch, c->derived, c->n_derived, ((derived_statement){.statement = st}));
}

static int record(checker *c, const syntax_statement *syntax, heddle_statement *st)
{
	scope s = {.c = c, .syntax = syntax, .statement = st, .target = &c->state[st->target->position]};
	int result = heddle_check_write(&s);
	s.target->defined = true;
	return result;
}

static heddle_tensor *hidden(checker *c, const char *of, const char *what, heddle_type type, const heddle_location *where)
{
	char *stem = heddle_arena_printf(c->scratch, "%s_%s", of, what);
	tensor_state *t = heddle_check_add_tensor(c, heddle_check_fresh(c, stem), HEDDLE_ROLE_TEMPORARY, where);
	t->hidden = t->typed = true;
	t->tensor->type = type;
	t->first_write = *where;
	return t->tensor;
}

/* The value of `st` into a tensor of its own, which `st` then reads: element (i - least i, ..) for index values (i, ..). */
static int keep_value(checker *c, const syntax_statement *syntax, heddle_statement *st)
{
	heddle_arena *arena = heddle_arena_new();
	affine_space *space = affine_space_new(arena, c->arena, &c->file->steps);
	heddle_index **to = HEDDLE_NEW_ARRAY(c->scratch, heddle_index *, st->n_index + 1);
	heddle_statement *first = beside(c, st, to);
	heddle_tensor *tensor = hidden(c, syntax->name, "of", st->value->type, &syntax->location);
	heddle_expr **subscript = HEDDLE_NEW_ARRAY(c->arena, heddle_expr *, st->n_index + 1);
	int result = 0;
	first->target = tensor;
	first->assign = HEDDLE_ASSIGN_SET;
	first->initialise = false;
	first->n_lhs = tensor->rank = st->n_index;
	c->state[tensor->position].rank = st->n_index;
	first->lhs = HEDDLE_NEW_ARRAY(c->arena, heddle_expr *, st->n_index + 1);
	for (int i = 0; i < st->n_index && result == 0; i++) {
		heddle_expr *lower, *upper;
		to[i]->reduction = false;
		first->lhs[i] = index_expr(c, to[i]);
		subscript[i] = index_expr(c, st->index[i]);
		if (!heddle_check_extremes(space, first->lhs[i], &lower, &upper)) {
			heddle_check_fail(c, 208, &st->index[i]->location, "the range of index `%s` cannot be found",
					  st->index[i]->name);
			result = -1;
		} else if (lower->kind != HEDDLE_EXPR_INT || lower->i) {
			lower = heddle_check_as_value(c, lower);
			first->lhs[i] = binary(c, HEDDLE_OP_SUB, HEDDLE_INT32, first->lhs[i], lower);
			subscript[i] = binary(c, HEDDLE_OP_SUB, HEDDLE_INT32, subscript[i], lower);
		}
	}
	heddle_arena_free(arena);
	if (result || record(c, syntax, first))
		return -1;
	push(c, first, false);
	st->value = read_expr(c, tensor, st->n_index, subscript);
	return 0;
}

/* The number of the reduction indices' values, as `type`; NULL with an error. */
static heddle_expr *number(checker *c, const syntax_statement *syntax, const heddle_statement *st, heddle_type type)
{
	heddle_expr *r = NULL, *count = NULL;
	int n = 0;
	for (int i = 0; i < st->n_index; i++)
		n += st->index[i]->reduction;
	if (!n)
		return fail(c, 130, &syntax->location, "there is no index to find: all of them are on the left-hand side");
	for (int i = 0; i < st->n_index; i++) {
		heddle_index *index = st->index[i];
		if (!index->reduction)
			continue;
		heddle_expr *e = heddle_expr_convert(c->arena, index_expr(c, index), type);
		if (n == 1)
			return e;
		if (index->lower->kind != HEDDLE_EXPR_INT || index->lower->i || has_index(index->upper)) {
			fail(c, 130, &index->location, "index `%s` is one of several that are searched, but its range is not 0:size",
			     index->name);
			heddle_note(c->ctx, NULL, "several indices count as one, row-major, so each needs a fixed extent");
			return NULL;
		}
		heddle_expr *extent = heddle_check_as_value(c, index->upper);
		r = r ? binary(c, HEDDLE_OP_ADD, type,
			       binary(c, HEDDLE_OP_MUL, type, r, heddle_expr_convert(c->arena, extent, type)), e)
		      : e;
		count = count ? binary(c, HEDDLE_OP_MUL, HEDDLE_INT32, count, index->upper) : index->upper;
	}
	if (type == HEDDLE_INT64)
		return r;
	/* the last number must fit */
	heddle_arena *arena = heddle_arena_new();
	affine_space *space = affine_space_new(arena, c->arena, &c->file->steps);
	affine_row row;
	if (affine_from_expr(space, count, true, &row)) {
		row.k -= (int64_t)INT32_MAX + 2;
		if (heddle_check_violated(c, space, &row)) {
			r = fail(c, 130, &syntax->location, "the number of the element does not fit int32");
			heddle_note(c->ctx, NULL, "declare `%s` as int64", syntax->name);
		}
	} else {
		heddle_check_require(c, binary(c, HEDDLE_OP_LE, HEDDLE_BOOL, heddle_expr_convert(c->arena, count, HEDDLE_INT64),
					       whole(c, (int64_t)INT32_MAX + 1, HEDDLE_INT64)));
	}
	heddle_arena_free(arena);
	return r;
}

static int target_type(checker *c, const syntax_statement *syntax, tensor_state *t)
{
	if (syntax->has_type && t->typed && t->tensor->type != syntax->type) {
		fail(c, 122, &syntax->location, "`%s` is declared %s here but was %s before", syntax->name,
		     heddle_type_name(syntax->type), heddle_type_name(t->tensor->type));
		return -1;
	}
	if (syntax->has_type || !t->typed)
		t->tensor->type = syntax->has_type ? syntax->type : HEDDLE_INT32;
	t->typed = true;
	if (t->tensor->type == HEDDLE_INT32 || t->tensor->type == HEDDLE_INT64)
		return 0;
	fail(c, 130, &syntax->location, "`%s` is %s, but an index is int32 or int64", syntax->name,
	     heddle_type_name(t->tensor->type));
	return -1;
}

/* T(..) min=! found ? number : greatest */
static int find(checker *c, const syntax_statement *syntax, const heddle_statement *most, heddle_tensor *target)
{
	heddle_index **to = HEDDLE_NEW_ARRAY(c->scratch, heddle_index *, most->n_index + 1);
	heddle_statement *st = beside(c, most, to);
	heddle_type type = target->type;
	heddle_expr **subscript = HEDDLE_NEW_ARRAY(c->arena, heddle_expr *, st->n_lhs + 1);
	for (int i = 0; i < st->n_lhs; i++)
		subscript[i] = heddle_expr_rewrite(c->arena, st->lhs[i], NULL, NULL);
	heddle_expr *found =
		binary(c, HEDDLE_OP_EQ, HEDDLE_BOOL, st->value, read_expr(c, most->target, st->n_lhs, subscript));
	if (heddle_type_is_float(st->value->type)) {
		heddle_expr *again[2];
		for (int i = 0; i < 2; i++)
			again[i] = heddle_expr_rewrite(c->arena, st->value, NULL, NULL);
		found = binary(c, HEDDLE_OP_OR, HEDDLE_BOOL, found,
			       binary(c, HEDDLE_OP_NE, HEDDLE_BOOL, again[0], again[1]));
	}
	heddle_expr *value = heddle_expr_make(c->arena, HEDDLE_EXPR_SELECT, type, 3);
	value->arg[0] = found;
	value->arg[1] = number(c, syntax, st, type);
	value->arg[2] = whole(c, type == HEDDLE_INT32 ? INT32_MAX : INT64_MAX, type);
	value->location = syntax->value->location;
	if (!value->arg[1])
		return -1;
	st->value = value;
	st->target = target;
	st->assign = HEDDLE_ASSIGN_MIN;
	if (record(c, syntax, st))
		return -1;
	push(c, st, true);
	return 0;
}

static int check(checker *c, const syntax_statement *syntax, int target)
{
	heddle_tensor *tensor = c->state[target].tensor, *extreme;
	syntax_statement reduction = *syntax;
	heddle_statement *st = HEDDLE_NEW(c->arena, heddle_statement);
	extreme = hidden(c, syntax->name, syntax->assign == HEDDLE_ASSIGN_MAX ? "most" : "least", HEDDLE_FLOAT32,
			 &syntax->location);
	tensor_state *t = &c->state[extreme->position];
	t->typed = false;
	reduction.name = extreme->name;
	reduction.has_type = false;
	st->target = extreme;
	st->assign = syntax->assign;
	st->initialise = true;
	st->location = syntax->location;
	scope s = {.c = c, .syntax = &reduction, .statement = st, .target = t};
	if (target_type(c, syntax, &c->state[target]) || heddle_check_statement_in(&s))
		return -1;
	t->defined = true;
	/* what was calculated in float32 is not rounded to a narrower type */
	extreme->type = st->value->type;
	if (reads(st->value, tensor)) {
		fail(c, 130, &syntax->location, "`%s` cannot be searched for in itself", syntax->name);
		return -1;
	}
	bool kept = !is_exact(st->value);
	if (kept && keep_value(c, syntax, st))
		return -1;
	push(c, st, kept);
	return find(c, syntax, st, tensor);
}

int heddle_check_arg(checker *c, const syntax_statement *syntax)
{
	tensor_state *t = heddle_check_target(c, syntax);
	if (!t)
		return -1;
	int position = t->tensor->position;
	if (t->rank < 0)
		t->rank = t->tensor->rank = syntax->n_lhs;
	int result = check(c, syntax, position);
	t = &c->state[position];
	t->bad |= result != 0;
	if (!t->defined || !t->first_write.line)
		t->first_write = syntax->location;
	t->defined = true;
	return result;
}
