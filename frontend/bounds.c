/* Every access is inside its tensor: proved, or a precondition on sizes, or an error.
 *
 * For each subscript e and each enclosing condition, the points with e < 0 and with e >= extent are asked for.  If there are
 * none, all is well.  Else these points are projected onto the sizes: the negation of the result is the precondition.  Where
 * every choice of sizes under which the statement does anything at all has such a point, it is an error.
 * SPDX-License-Identifier: MIT
 */
#include "frontend/check.h"

#include <string.h>

enum { MAX_GUARDS = 24 };

typedef struct access_check {
	checker *c;
	heddle_statement *st;
	affine_space *space;
	int n_guard;
	struct {
		heddle_expr *condition;
		bool negate;
	} guard[MAX_GUARDS];
} access_check;

/* ---- preconditions ------------------------------------------------------------------------------------------------------------- */

void heddle_check_require(checker *c, heddle_expr *e)
{
	for (int i = 0; i < c->def->n_precondition; i++)
		if (heddle_expr_equal(c->def->precondition[i], e))
			return;
	HEDDLE_PUSH(c->arena, c->def->precondition, c->def->n_precondition, e);
}

static heddle_expr *boolean(checker *c, heddle_op op, heddle_expr *a, heddle_expr *b)
{
	heddle_expr *e = heddle_expr_make(c->arena, HEDDLE_EXPR_BINARY, HEDDLE_BOOL, 2);
	e->op = op;
	e->arg[0] = a;
	e->arg[1] = b;
	return e;
}

/* Not all rows of `term` hold. */
static void require_not(checker *c, affine_space *space, const affine_and *term)
{
	heddle_expr *any = NULL;
	for (int i = 0; i < term->n; i++) {
		heddle_expr *e = affine_negative_expr(space, &term->row[i]);
		any = any ? boolean(c, HEDDLE_OP_OR, any, e) : e;
	}
	heddle_check_require(c, any);
}

/* Does a point of `domain` imply all rows of the term? */
static bool always(const affine_problem *domain, const affine_and *term)
{
	for (int i = 0; i < term->n; i++)
		if (!affine_implies(domain, &term->row[i]))
			return false;
	return true;
}

/* ---- messages -------------------------------------------------------------------------------------------------------------------- */

static void add_value(access_check *a, const heddle_expr *e, heddle_text *out)
{
	checker *c = a->c;
	int64_t *size = HEDDLE_NEW_ARRAY(c->scratch, int64_t, c->def->n_size + 1), value;
	bool fixed = true;
	for (int i = 0; i < c->def->n_size; i++) {
		size[i] = c->def->size[i]->min;
		fixed = fixed && c->def->size[i]->min == c->def->size[i]->max;
	}
	if (fixed && heddle_expr_evaluate(e, size, &value) == 0)
		heddle_text_printf(out, "%lld", (long long)value);
	else
		heddle_expr_print(e, out);
}

/* The extreme value of a subscript, ignoring conditions; false when unknown. */
static bool add_extreme(access_check *a, const affine_row *row, bool want_max, heddle_text *out)
{
	affine_row list[4], extreme;
	int n = affine_bounds(a->space, row, want_max, list, 4);
	for (int i = 0; i < n; i++)
		if (!affine_size_only(a->space, &list[i]))
			return false;
	if (!n || !affine_extremum(a->space, want_max ? AFFINE_MIN : AFFINE_MAX, n, list, &extreme))
		return false;
	add_value(a, affine_to_expr(a->space, &extreme), out);
	return true;
}

static void add_range(access_check *a, const affine_row *row, heddle_text *out)
{
	size_t before = out->length;
	if (!add_extreme(a, row, false, out)) {
		out->length = before;
		heddle_text_add(out, "?");
	}
	heddle_text_add(out, " to ");
	before = out->length;
	if (!add_extreme(a, row, true, out)) {
		out->length = before;
		heddle_text_add(out, "?");
	}
}

static const char *statement_text(const heddle_location *w)
{
	const char *text = w->source->text;
	for (int line = 1; line < w->line; line++)
		text = strchr(text, '\n') + 1;
	return text + w->column - 1;
}

static void report_write(access_check *a, int d, const affine_row *row)
{
	checker *c = a->c;
	heddle_text text = {0};
	add_range(a, row, &text);
	heddle_expr *lhs = a->st->lhs[d];
	const syntax_statement *syntax = NULL;
	for (int i = 0; i < c->syntax->n_statement; i++)
		if (!memcmp(&c->syntax->statement[i].location, &a->st->location, sizeof(a->st->location)))
			syntax = &c->syntax->statement[i];
	bool fixable = lhs->kind == HEDDLE_EXPR_INDEX && syntax && syntax->whole.line;
	heddle_check_fail(c, 202, fixable ? &syntax->whole : &lhs->location,
			  "`%s` is written at %s in dimension %d, but tensors begin at 0", a->st->target->name,
			  heddle_text_str(&text), d);
	heddle_text_clear(&text);
	if (fixable) {
		heddle_expr_print(lhs->index->upper, &text);
		bool given = false;
		for (int i = 0; i < syntax->n_clause; i++)
			given |= syntax->clause[i].kind == CLAUSE_RANGE && !strcmp(syntax->clause[i].name, lhs->index->name);
		if (!given)
			heddle_fixit(c->ctx, "%.*s%s %s in 0:%s", syntax->whole.length, statement_text(&syntax->whole),
				     syntax->n_clause ? "," : " where", lhs->index->name, heddle_text_str(&text));
	}
	heddle_text_free(&text);
}

static void add_indices(access_check *a, const affine_row *row, heddle_text *out)
{
	bool first = true;
	for (int i = 0; i < a->st->n_index; i++) {
		heddle_index *index = a->st->index[i];
		int v = affine_index_variable(a->space, index);
		bool in = v >= 0 && row->c[v];
		for (int w = 0; v >= 0 && w < a->space->n && !in; w++)
			in = row->c[w] && ((a->space->variable[w].a && a->space->variable[w].a->c[v]) ||
					   (a->space->variable[w].b && a->space->variable[w].b->c[v]));
		if (!in)
			continue;
		heddle_text_printf(out, "%s%s in ", first ? "" : ", ", index->name);
		add_value(a, index->lower, out);
		heddle_text_add(out, ":");
		add_value(a, index->upper, out);
		first = false;
	}
}

static void report_read(access_check *a, const heddle_expr *read, int d, const affine_row *row)
{
	checker *c = a->c;
	heddle_text text = {0};
	heddle_text_printf(&text, "`%s` has elements 0 to ", read->tensor->name);
	affine_row last;
	if (affine_from_expr(a->space, read->tensor->extent[d], true, &last)) {
		last.k--;
		add_value(a, affine_to_expr(a->space, &last), &text);
	}
	heddle_text_printf(&text, " in dimension %d but is read at ", d);
	add_range(a, row, &text);
	heddle_check_fail(c, 205, &read->arg[d]->location, "%s%s", heddle_text_str(&text),
			  a->n_guard ? ", and the condition does not prevent it" : "");
	heddle_text_clear(&text);
	add_indices(a, row, &text);
	if (text.length)
		heddle_note(c->ctx, NULL, "%s", heddle_text_str(&text));
	heddle_note(c->ctx, NULL, "narrow the indices with `where`, or read under a condition: `0 <= i && i < N ? A(i) : 0`");
	heddle_text_free(&text);
}

/* ---- accesses ----------------------------------------------------------------------------------------------------------------------- */

static void require_ranges(affine_problem *p, const affine_row *row)
{
	for (int v = 0; v < p->space->n; v++) {
		affine_row bound, x = affine_variable_row(v);
		heddle_index *index = p->space->variable[v].index;
		if (!row->c[v] || p->space->variable[v].kind != AFFINE_INDEX)
			continue;
		if (affine_from_expr(p->space, index->lower, true, &bound) && affine_add(&x, &bound, -1))
			affine_require(p, &x);
	}
}

typedef enum verdict { SAFE, DEPENDS, WRONG } verdict;

/* Can `violation` >= 0 hold?  Adds the precondition when that depends on sizes. */
static verdict check_violation(access_check *a, const affine_row *subscript, const affine_row *violation)
{
	affine_problem *domain = affine_problem_new(a->space);
	for (int i = 0; i < a->n_guard; i++)
		affine_require_or(domain, affine_condition(a->space, a->guard[i].condition, a->guard[i].negate));
	affine_problem *p = affine_problem_copy(domain);
	affine_require(p, violation);
	affine_or *when = affine_project(p);
	if (*a->space->steps < 0)
		return SAFE; /* not known, and said to take too long */
	require_ranges(domain, subscript);
	for (int t = 0; t < when->n; t++)
		if (!when->term[t].n || always(domain, &when->term[t]))
			return WRONG;
	for (int t = 0; t < when->n; t++)
		require_not(a->c, a->space, &when->term[t]);
	return when->n ? DEPENDS : SAFE;
}

bool heddle_check_violated(checker *c, affine_space *space, const affine_row *row)
{
	access_check a = {.c = c, .space = space};
	return check_violation(&a, row, row) == WRONG;
}

/* Subscripts that are not affine: the condition itself, checked for every element where code is interpreted. */
static void require_inside(access_check *a, const heddle_expr *read, int d)
{
	checker *c = a->c;
	heddle_expr *e = read->arg[d];
	/* A type that holds the subscript and, since extents are below 2^31, the extent. */
	heddle_type type = e->type == HEDDLE_UINT32 ? HEDDLE_INT64 : heddle_type_size(e->type) < 8 ? HEDDLE_INT32 : e->type;
	heddle_expr *zero = heddle_expr_make(c->arena, HEDDLE_EXPR_INT, type, 0);
	heddle_expr *value = heddle_expr_convert(c->arena, e, type);
	heddle_expr *inside = boolean(c, HEDDLE_OP_LT, value, heddle_expr_convert(c->arena, read->tensor->extent[d], type));
	if (!heddle_type_is_unsigned(e->type))
		inside = boolean(c, HEDDLE_OP_AND, boolean(c, HEDDLE_OP_GE, value, zero), inside);
	for (int i = 0; i < a->n_guard; i++)
		if (!a->guard[i].negate && heddle_expr_equal(a->guard[i].condition, inside))
			return;
	for (int i = a->n_guard - 1; i >= 0; i--) {
		heddle_expr *yes = heddle_expr_make(c->arena, HEDDLE_EXPR_INT, HEDDLE_BOOL, 0);
		heddle_expr *select = heddle_expr_make(c->arena, HEDDLE_EXPR_SELECT, HEDDLE_BOOL, 3);
		yes->i = 1;
		select->arg[0] = a->guard[i].condition;
		select->arg[1] = a->guard[i].negate ? yes : inside;
		select->arg[2] = a->guard[i].negate ? inside : yes;
		inside = select;
	}
	heddle_check_require(c, inside);
}

/* The subscript, or the ends of one that is two digits: a condition on such a one is not seen.  False: it is no form. */
static bool find_ends(access_check *a, const heddle_expr *e, affine_row *least, affine_row *most)
{
	heddle_digits digits;
	if (heddle_check_digits(a->space, e, &digits)) {
		const bool found = heddle_check_subscript(a->space, e, least, most);
		most->k -= found;
		return found;
	}
	const bool found = heddle_check_affine(a->c, a->space, e, false, 0, "the subscript", least);
	*most = *least;
	return found;
}

static void check_read(access_check *a, const heddle_expr *read)
{
	if (a->c->state[read->tensor->position].bad)
		return;
	for (int d = 0; d < read->n_arg; d++) {
		affine_row least, most, extent, below = affine_constant(-1), above;
		/* Reads and products of indices leave it to the run; strides by unknown sizes are errors. */
		if (heddle_expr_has(read->arg[d], HEDDLE_EXPR_READ)) {
			require_inside(a, read, d);
			continue;
		}
		if (!find_ends(a, read->arg[d], &least, &most)) {
			require_inside(a, read, d);
			continue;
		}
		if (!affine_from_expr(a->space, read->tensor->extent[d], true, &extent))
			continue; /* an input extent with a division by an unknown size: E0127 was given */
		above = most;
		if (!affine_add(&below, &least, -1) || !affine_add(&above, &extent, -1)) {
			require_inside(a, read, d);
			continue;
		}
		if (check_violation(a, &least, &below) == WRONG || check_violation(a, &most, &above) == WRONG)
			report_read(a, read, d, &most);
	}
}

static void check_reads(access_check *a, heddle_expr *e)
{
	if (e->kind == HEDDLE_EXPR_SELECT) {
		check_reads(a, e->arg[0]);
		int n = a->n_guard;
		for (int branch = 1; branch <= 2; branch++) {
			if (n < MAX_GUARDS) {
				a->guard[n].condition = e->arg[0];
				a->guard[n].negate = branch == 2;
				a->n_guard = n + 1;
			}
			check_reads(a, e->arg[branch]);
			a->n_guard = n;
		}
		return;
	}
	for (int i = 0; i < e->n_arg; i++)
		check_reads(a, e->arg[i]);
	if (e->kind == HEDDLE_EXPR_READ)
		check_read(a, e);
}

static void check_writes(access_check *a)
{
	checker *c = a->c;
	const tensor_state *t = &c->state[a->st->target->position];
	if (t->bad || t->hidden)
		return;
	for (int d = 0; d < a->st->n_lhs; d++) {
		affine_row least, most, extent, below = affine_constant(-1), above;
		if (!find_ends(a, a->st->lhs[d], &least, &most) || !affine_add(&below, &least, -1))
			continue; /* coverage.c has reported it */
		if (check_violation(a, &least, &below) == WRONG) {
			report_write(a, d, &least);
			continue;
		}
		above = most;
		if (!t->declared || !affine_from_expr(a->space, t->tensor->extent[d], true, &extent) ||
		    !affine_add(&above, &extent, -1) || check_violation(a, &most, &above) != WRONG)
			continue;
		heddle_text text = {0};
		add_range(a, &most, &text);
		heddle_check_fail(c, 210, &a->st->lhs[d]->location,
				  "`%s` is written at %s in dimension %d, outside its declared shape", t->tensor->name,
				  heddle_text_str(&text), d);
		heddle_text_clear(&text);
		add_value(a, t->tensor->extent[d], &text);
		heddle_note(c->ctx, &t->tensor->location, "dimension %d is declared with %s elements here", d,
			    heddle_text_str(&text));
		heddle_text_free(&text);
	}
}

/* Extents are never negative. */
static void check_extents(checker *c)
{
	heddle_arena *arena = heddle_arena_new();
	access_check a = {.c = c, .space = affine_space_new(arena, c->arena, &c->file->steps)};
	for (int i = 0; i < c->n_state; i++) {
		const tensor_state *t = &c->state[i];
		for (int d = 0; d < t->rank && !t->bad && t->tensor->extent && t->tensor->extent[d]; d++) {
			affine_row extent, negative = affine_constant(-1);
			if (!affine_from_expr(a.space, t->tensor->extent[d], true, &extent) ||
			    !affine_add(&negative, &extent, -1) || check_violation(&a, &extent, &negative) != WRONG)
				continue;
			heddle_text text = {0};
			add_value(&a, t->tensor->extent[d], &text);
			const heddle_location *where = t->param ? &t->tensor->location : &t->first_write;
			heddle_check_fail(c, 203, where, "dimension %d of `%s` has the negative extent %s", d, t->tensor->name,
					  heddle_text_str(&text));
			heddle_text_free(&text);
		}
	}
	heddle_arena_free(arena);
}

void heddle_check_accesses(checker *c)
{
	check_extents(c);
	for (int i = 0; i < c->def->n_statement; i++) {
		heddle_arena *arena = heddle_arena_new();
		access_check a = {.c = c, .st = c->def->statement[i], .space = affine_space_new(arena, c->arena, &c->file->steps)};
		const derived_statement *derived = NULL;
		for (int j = 0; j < c->n_derived && !derived; j++)
			derived = c->derived[j].statement == a.st ? &c->derived[j] : NULL;
		if (!derived || !derived->writes)
			check_writes(&a);
		if (!derived)
			check_reads(&a, a.st->value);
		heddle_arena_free(arena);
	}
}
