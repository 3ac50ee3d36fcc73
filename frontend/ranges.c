/* Range inference: which values each index takes, and from that the extents of what is written.
 *
 * As in TC: ranges given by `where` are taken as they are; every tensor read says 0 <= subscript < extent for all values of
 * the indices that have a range; in rounds, each index without a range that is alone in such a condition gets the
 * intersection of what these conditions allow, until nothing changes.  A subscript that the condition of its branch bounds
 * is left out (branches.c): it only counts for indices that nothing else gives a range.
 * SPDX-License-Identifier: MIT
 */
#include "frontend/check.h"

#include <math.h>
#include <string.h>

enum { MAX_CANDIDATES = 6, MAX_CONDITIONS = 48 };

/* A subscript that the condition of its branch bounds. */
typedef struct bounded_subscript {
	heddle_expr *subscript, *lower, *upper; /* of the tensor: lower (NULL: 0) <= subscript < upper */
	branch_row by;
} bounded_subscript;

typedef struct inference {
	scope *s;
	checker *c;
	affine_space *space;
	int n_row;
	affine_row *row; /* each >= 0 for all values of the indices */
	branch_conditions known; /* where the read that is looked at happens */
	int n_bounded;
	bounded_subscript *bounded;
} inference;

/* ---- conditions ------------------------------------------------------------------------------------------------------------ */

static void add_row(inference *f, const affine_row *row)
{
	HEDDLE_PUSH(f->space->arena, f->row, f->n_row, *row);
}

/* The only index-dependent variable of a row when it is a quotient with a positive coefficient; else -1. */
static int lone_quotient(const affine_space *space, const affine_row *row)
{
	int found = -1;
	for (int v = 0; v < space->n; v++) {
		if (!row->c[v] || space->variable[v].size_only)
			continue;
		if (found >= 0)
			return -1;
		found = v;
	}
	if (found < 0 || row->c[found] < 0)
		return -1;
	affine_kind kind = space->variable[found].kind;
	return kind == AFFINE_FLOOR || kind == AFFINE_TRUNC ? found : -1;
}

/* c * q + rest >= 0 with q = a / d: q >= L = ceil(-rest / c), so a >= d * L.  c * q + rest <= 0: q <= U, so
 * a <= d * U + d - 1. */
static bool invert_quotient(inference *f, const affine_row *row, int v, bool lower, affine_row *out)
{
	int64_t c = row->c[v], d = f->space->variable[v].d;
	affine_row rest = *row, negated = {0}, limit;
	rest.c[v] = 0;
	if (!affine_add(&negated, &rest, -1))
		return false;
	negated.k += lower ? c - 1 : 0;
	if (!affine_floor(f->space, &negated, c, &limit))
		return false;
	if (lower) {
		*out = *f->space->variable[v].a;
		return affine_add(out, &limit, -d);
	}
	*out = affine_constant(d - 1);
	return affine_add(out, &limit, d) && affine_add(out, f->space->variable[v].a, -1);
}

/* lower <= subscript < upper */
static void add_condition(inference *f, const affine_row *subscript, const affine_row *lower, const affine_row *upper)
{
	affine_row above = *subscript, below = *subscript, row;
	if (!affine_add(&above, lower, -1) || !affine_add(&below, upper, -1))
		return;
	below.k++; /* subscript - upper + 1 <= 0 */
	int v = lone_quotient(f->space, subscript);
	if (v >= 0) {
		if (invert_quotient(f, &above, v, true, &row))
			add_row(f, &row);
		if (invert_quotient(f, &below, v, false, &row))
			add_row(f, &row);
		return;
	}
	add_row(f, &above);
	affine_row negated = {0};
	if (affine_add(&negated, &below, -1))
		add_row(f, &negated);
}

static void add_dimension(inference *f, heddle_expr *subscript, heddle_expr *lower, heddle_expr *upper)
{
	affine_row s, l = {0}, u;
	if (f->n_row >= MAX_CONDITIONS * 4 || !affine_from_expr(f->space, subscript, false, &s))
		return;
	const branch_row *by = heddle_branch_bound(f->space, &f->known, &s);
	if (by) {
		bounded_subscript bounded = {subscript, lower, upper, *by};
		HEDDLE_PUSH(f->space->arena, f->bounded, f->n_bounded, bounded);
		return;
	}
	if ((!lower || affine_from_expr(f->space, lower, true, &l)) && affine_from_expr(f->space, upper, true, &u))
		add_condition(f, &s, &l, &u);
}

static const tensor_state *state_of(const checker *c, const heddle_tensor *tensor)
{
	return &c->state[tensor->position];
}

/* Is what was written so far not all that there is: has the caller put in all of the declared elements? */
static bool is_whole(const tensor_state *t)
{
	return t->declared && t->tensor->role == HEDDLE_ROLE_INOUT;
}

static void collect_reads(inference *f, const heddle_expr *e)
{
	const int n = f->known.n;
	for (int i = 0; i < e->n_arg; i++) {
		if (e->kind == HEDDLE_EXPR_SELECT && i > 0)
			heddle_branch_enter(f->space, &f->known, e->arg[0], i == 2);
		collect_reads(f, e->arg[i]);
		f->known.n = n;
	}
	if (e->kind != HEDDLE_EXPR_READ)
		return;
	const tensor_state *t = state_of(f->c, e->tensor);
	for (int i = 0; i < e->n_arg; i++) {
		if (t->upper && !is_whole(t))
			add_dimension(f, e->arg[i], t->lower[i], t->upper[i]);
		else if (t->declared)
			add_dimension(f, e->arg[i], NULL, t->tensor->extent[i]);
	}
}

/* What the left-hand side says when its tensor has a shape already: used only for indices that nothing else gives a range. */
static void collect_target(inference *f)
{
	const tensor_state *t = f->s->target;
	const heddle_statement *st = f->s->statement;
	for (int i = 0; i < st->n_lhs; i++) {
		if (t->upper && !is_whole(t))
			add_dimension(f, st->lhs[i], t->lower[i], t->upper[i]);
		else if (t->declared)
			add_dimension(f, st->lhs[i], NULL, t->tensor->extent[i]);
	}
}

/* ---- solving ----------------------------------------------------------------------------------------------------------------- */

typedef struct candidates {
	int n_lower, n_upper;
	affine_row *lower; /* index >= each */
	affine_row *upper; /* index < each */
} candidates;

/* The single index without a range in a row, whose other terms are all over sizes; -1 when it is not so. */
static int lone_unsolved(const affine_space *space, const affine_row *row)
{
	int found = -1;
	for (int v = 0; v < space->n; v++) {
		if (!row->c[v] || space->variable[v].size_only)
			continue;
		if (found >= 0 || space->variable[v].kind != AFFINE_INDEX || space->variable[v].index->lower)
			return -1;
		found = v;
	}
	return found;
}

/* The row minimised over all solved indices, as one row; false when it cannot be written as one. */
static bool minimise(inference *f, const affine_row *row, affine_row *out)
{
	affine_row candidate[MAX_CANDIDATES], part[MAX_CANDIDATES], rest;
	int n = affine_bounds(f->space, row, false, candidate, MAX_CANDIDATES);
	if (n <= 1) {
		*out = candidate[0];
		return n == 1;
	}
	int v = lone_unsolved(f->space, &candidate[0]);
	if (v < 0)
		return false;
	for (int i = 0; i < n; i++) {
		if (lone_unsolved(f->space, &candidate[i]) != v || candidate[i].c[v] != candidate[0].c[v])
			return false;
		part[i] = candidate[i];
		part[i].c[v] = 0;
	}
	if (!affine_extremum(f->space, AFFINE_MAX, n, part, &rest))
		return false;
	rest.c[v] = candidate[0].c[v];
	*out = rest;
	return true;
}

/* c * v + rest >= 0 */
static void add_candidate(inference *f, candidates *list, int v, const affine_row *row)
{
	int64_t c = row->c[v];
	affine_row rest = *row, negated = {0}, bound;
	rest.c[v] = 0;
	if (c > 0) {
		negated.k = c - 1;
		if (affine_add(&negated, &rest, -1) && affine_floor(f->space, &negated, c, &bound))
			HEDDLE_PUSH(f->space->arena, list->lower, list->n_lower, bound);
	} else if (affine_floor(f->space, &rest, -c, &bound)) {
		bound.k++;
		HEDDLE_PUSH(f->space->arena, list->upper, list->n_upper, bound);
	}
}

/* One round; true when an index got a range. */
static bool solve_round(inference *f)
{
	affine_space *space = f->space;
	candidates *list = HEDDLE_NEW_ARRAY(f->space->arena, candidates, AFFINE_VARIABLES);
	bool progress = false;
	for (int i = 0; i < f->n_row; i++) {
		affine_row row;
		if (!minimise(f, &f->row[i], &row))
			continue;
		int v = lone_unsolved(space, &row);
		if (v >= 0)
			add_candidate(f, &list[v], v, &row);
	}
	for (int v = 0; v < space->n; v++) {
		affine_row lower, upper;
		if (!list[v].n_lower || !list[v].n_upper)
			continue;
		if (!affine_extremum(space, AFFINE_MAX, list[v].n_lower, list[v].lower, &lower) ||
		    !affine_extremum(space, AFFINE_MIN, list[v].n_upper, list[v].upper, &upper))
			continue;
		heddle_index *index = space->variable[v].index;
		index->lower = affine_to_expr(space, &lower);
		index->upper = affine_to_expr(space, &upper);
		progress = true;
	}
	return progress;
}

static bool all_solved(const heddle_statement *st)
{
	for (int i = 0; i < st->n_index; i++)
		if (!st->index[i]->lower)
			return false;
	return true;
}

/* ---- errors ------------------------------------------------------------------------------------------------------------------ */

static bool constrained(const inference *f, heddle_index *index)
{
	int v = affine_index_variable(f->space, index);
	for (int i = 0; i < f->n_row; i++)
		for (int w = 0; v >= 0 && w < f->space->n; w++)
			if (f->row[i].c[w] && (w == v || (f->space->variable[w].a && f->space->variable[w].a->c[v])))
				return true;
	return false;
}

static bool has_index(const heddle_expr *e, const heddle_index *index)
{
	if (e->kind == HEDDLE_EXPR_INDEX && e->index == index)
		return true;
	for (int i = 0; i < e->n_arg; i++)
		if (has_index(e->arg[i], index))
			return true;
	return false;
}

/* No number that comes up in an affine form of `e` is larger, indices at the ends of their ranges included where those are over
 * sizes (`bounds`). */
static double largest(const heddle_expr *e, bool bounds)
{
	double a = 0, b = 0;
	switch (e->kind) {
	case HEDDLE_EXPR_INT:
		return fabs((double)e->i);
	case HEDDLE_EXPR_SIZE:
		return e->size->min == e->size->max ? (double)e->size->max : 1;
	case HEDDLE_EXPR_INDEX:
		return bounds && e->index->lower ? fmax(1, fmax(largest(e->index->lower, false), largest(e->index->upper, false))) : 1;
	case HEDDLE_EXPR_BINARY:
		a = largest(e->arg[0], bounds);
		b = largest(e->arg[1], bounds);
		if (e->op == HEDDLE_OP_MUL)
			return a * b;
		if (e->op == HEDDLE_OP_SHL)
			return ldexp(a, (int)fmin(b, 64));
		return e->op == HEDDLE_OP_ADD || e->op == HEDDLE_OP_SUB ? a + b : fmax(a, b);
	default:
		for (int i = 0; i < e->n_arg; i++)
			a = fmax(a, largest(e->arg[i], bounds));
		return a;
	}
}

/* Is the size of its numbers why something was not found out about the expression? */
static bool too_large(const heddle_expr *e) { return largest(e, true) >= (double)AFFINE_LARGEST; }

static const char limit_note[] = "in subscripts and bounds, constants, factors of indices and what comes of them are at most 2^61";

void heddle_check_note_large(checker *c, const heddle_expr *e)
{
	if (too_large(e))
		heddle_note(c->ctx, NULL, limit_note);
}

/* The first subscript of what is read in `e` that has the index; NULL: none. */
static const heddle_expr *subscript_with(const heddle_expr *e, const heddle_index *index)
{
	for (int i = 0; i < e->n_arg; i++) {
		const heddle_expr *inner = subscript_with(e->arg[i], index);
		if (inner)
			return inner;
		if (e->kind == HEDDLE_EXPR_READ && has_index(e->arg[i], index))
			return e->arg[i];
	}
	return NULL;
}

/* Says why a subscript with the index gave it no range; false: none is there, or it is affine. */
static bool note_subscript(inference *f, const heddle_index *index)
{
	const heddle_expr *subscript = subscript_with(f->s->statement->value, index);
	affine_row row;
	if (!subscript || affine_from_expr(f->space, subscript, false, &row))
		return false;
	if (too_large(subscript)) {
		heddle_note(f->c->ctx, &subscript->location, "this subscript has too large a number to tell");
		heddle_note(f->c->ctx, NULL, limit_note);
	} else {
		heddle_note(f->c->ctx, &subscript->location, "this subscript is not affine; write `where %s in 0:..`", index->name);
	}
	return true;
}

static void report_unsolved(inference *f)
{
	scope *s = f->s;
	checker *c = f->c;
	for (int i = 0; i < s->n_index; i++) {
		heddle_index *index = s->index[i].index;
		if (index->lower)
			continue;
		s->index[i].reported = true;
		const char *nearest = heddle_check_nearest(s, index->name);
		if (!s->index[i].lhs && !constrained(f, index)) {
			heddle_check_fail(c, 101, &index->location,
					  "`%s` is not a tensor, a size or an index with a range", index->name);
		} else {
			heddle_check_fail(c, 201, &index->location, "the range of index `%s` cannot be inferred", index->name);
			if (constrained(f, index))
				heddle_note(c->ctx, NULL, "no subscript has it as the only index without a range; write `where %s in 0:..`",
					    index->name);
			else if (!note_subscript(f, index))
				heddle_note(c->ctx, NULL, "it is in no subscript of a tensor that is read; write `where %s in 0:..`", index->name);
		}
		if (nearest)
			heddle_note(c->ctx, NULL, "did you mean `%s`?", nearest);
	}
}

bool heddle_expr_has(const heddle_expr *e, heddle_expr_kind kind)
{
	if (e->kind == kind)
		return true;
	for (int i = 0; i < e->n_arg; i++)
		if (heddle_expr_has(e->arg[i], kind))
			return true;
	return false;
}

static bool index_times_size(const heddle_expr *e)
{
	if (e->kind == HEDDLE_EXPR_BINARY &&
	    (e->op == HEDDLE_OP_MUL || e->op == HEDDLE_OP_DIV || e->op == HEDDLE_OP_MOD)) {
		bool left = heddle_expr_has(e->arg[0], HEDDLE_EXPR_INDEX), right = heddle_expr_has(e->arg[1], HEDDLE_EXPR_INDEX);
		if (left && !right && heddle_expr_has(e->arg[1], HEDDLE_EXPR_SIZE))
			return true;
		if (right && !left && heddle_expr_has(e->arg[0], HEDDLE_EXPR_SIZE) && e->op == HEDDLE_OP_MUL)
			return true;
	}
	for (int i = 0; i < e->n_arg; i++)
		if (index_times_size(e->arg[i]))
			return true;
	return false;
}

bool heddle_check_affine(checker *c, affine_space *space, const heddle_expr *e, bool floor, int code, const char *what,
			 affine_row *out)
{
	bool affine = affine_from_expr(space, e, floor, out), product = false;
	for (int v = 0; affine && v < space->n; v++)
		product |= out->c[v] && space->variable[v].kind == AFFINE_PRODUCT && !space->variable[v].size_only;
	if (affine && !product)
		return true;
	if (index_times_size(e)) {
		heddle_check_fail(c, 209, &e->location, "an index is multiplied or divided by a size that is not known");
		heddle_note(c->ctx, NULL, "strides and dilations must be constants: give the size a value with -s");
	} else if (code) {
		const bool large = too_large(e);
		heddle_check_fail(c, code, &e->location, large ? "%s has too large a number" : "%s is not affine", what);
		heddle_note(c->ctx, NULL, large ? limit_note
						: "sums of indices and sizes with constant factors, and / and %% by constants, are");
	}
	return false;
}

/* ---- given ranges -------------------------------------------------------------------------------------------------------------- */

/* Does the range of `e`, or of an index in it, depend on `goal`?  `seen` are the indices that were looked at. */
static bool reaches(const heddle_expr *e, const heddle_index *goal, bool *seen)
{
	if (e->kind == HEDDLE_EXPR_INDEX) {
		if (e->index == goal)
			return true;
		if (seen[e->index->position] || !e->index->lower)
			return false;
		seen[e->index->position] = true;
		return reaches(e->index->lower, goal, seen) || reaches(e->index->upper, goal, seen);
	}
	for (int i = 0; i < e->n_arg; i++)
		if (reaches(e->arg[i], goal, seen))
			return true;
	return false;
}

static int check_given(inference *f)
{
	heddle_statement *st = f->s->statement;
	int errors = 0;
	for (int i = 0; i < st->n_index; i++) {
		heddle_index *index = st->index[i];
		affine_row row;
		bool *seen = HEDDLE_NEW_ARRAY(f->space->arena, bool, st->n_index + 1);
		if (!index->lower)
			continue;
		if (!heddle_check_affine(f->c, f->space, index->lower, true, 207, "the lower bound", &row) ||
		    !heddle_check_affine(f->c, f->space, index->upper, true, 207, "the upper bound", &row)) {
			errors++;
		} else if (reaches(index->lower, index, seen) || reaches(index->upper, index, seen)) {
			heddle_check_fail(f->c, 206, &f->s->index[i].range->location,
					  "the range of `%s` depends on itself", index->name);
			errors++;
		}
	}
	return errors;
}

/* Subscripts with a stride that is not known yet. */
static int check_strides(inference *f, const heddle_expr *e)
{
	int errors = 0;
	for (int i = 0; i < e->n_arg; i++) {
		affine_row row;
		heddle_digits digits;
		if (e->kind == HEDDLE_EXPR_READ && !heddle_expr_has(e->arg[i], HEDDLE_EXPR_READ) && index_times_size(e->arg[i]) &&
		    !heddle_check_digits(f->space, e->arg[i], &digits)) {
			int before = f->c->errors;
			heddle_check_affine(f->c, f->space, e->arg[i], false, 0, "", &row);
			errors += f->c->errors - before;
		} else {
			errors += check_strides(f, e->arg[i]);
		}
	}
	return errors;
}

static bool is_given(const inference *f, int i)
{
	return f->s->index[i].range && f->s->index[i].range->a->location.line;
}

/* Does the index have several ranges by `where`, of which this is the intersection? */
static bool is_intersection(const inference *f, const heddle_index *index)
{
	int n = 0;
	for (int i = 0; i < f->s->syntax->n_clause; i++) {
		const syntax_clause *c = &f->s->syntax->clause[i];
		n += c->kind == CLAUSE_RANGE && !strcmp(c->name, index->name);
	}
	return n > 1;
}

/* Was a size given as 0?  Then ranges may be empty. */
static bool has_no_elements(const heddle_definition *d)
{
	for (int i = 0; i < d->n_size; i++)
		if (d->size[i]->max == 0)
			return true;
	return false;
}

/* A range that is negative whatever the sizes are is a mistake; one that is empty is likely to be one.  Ranges that have nothing
 * in common leave no values: they end at the same place, for that decides the extents. */
static int check_negative(inference *f)
{
	heddle_statement *st = f->s->statement;
	int errors = 0;
	for (int i = 0; i < st->n_index; i++) {
		heddle_index *index = st->index[i];
		affine_row lower, upper;
		if (!affine_from_expr(f->space, index->lower, true, &lower) ||
		    !affine_from_expr(f->space, index->upper, true, &upper))
			continue;
		affine_row empty = lower, negative;
		if (!affine_add(&empty, &upper, -1) || !affine_size_only(f->space, &empty) || !affine_prove(f->space, &empty))
			continue;
		heddle_text text = {0};
		heddle_expr_print(index->lower, &text);
		heddle_text_add(&text, ":");
		heddle_expr_print(index->upper, &text);
		negative = empty;
		negative.k--;
		const bool several = is_intersection(f, index);
		if (several || !affine_prove(f->space, &negative)) {
			index->lower = several ? index->upper : index->lower;
			if ((several || !is_given(f, i)) && !has_no_elements(f->c->def) && heddle_check_warn(f->c, 214, &index->location, "index `%s` has no values, whatever the sizes are: %s",
								 index->name, heddle_text_str(&text)))
				heddle_note(f->c->ctx, NULL, several ? "its ranges have none in common"
								     : "inferred from the subscripts: a `where` says what is meant");
			heddle_text_free(&text);
			continue;
		}
		heddle_check_fail(f->c, 203, &index->location, "index `%s` has the negative range %s", index->name,
				  heddle_text_str(&text));
		if (is_given(f, i)) {
			heddle_note(f->c->ctx, &f->s->index[i].range->location, "it is given here; lower:upper, upper excluded");
		} else {
			heddle_note(f->c->ctx, NULL, "inferred from the subscripts: no value of `%s` keeps all reads inside",
				    index->name);
		}
		heddle_text_free(&text);
		errors++;
	}
	return errors;
}

/* Does the conjunct have an index whose range was inferred, and no size whose value is given (with which it may well be true)? */
static bool is_inferred(const inference *f, const branch_row *by)
{
	for (int v = 0; v < f->space->n; v++) {
		const affine_variable *variable = &f->space->variable[v];
		if (by->row.c[v] && variable->kind == AFFINE_SIZE && variable->size->min == variable->size->max)
			return false;
	}
	for (int i = 0; i < f->s->n_index; i++)
		if (!is_given(f, i) && has_index(by->conjunct, f->s->index[i].index))
			return true;
	return false;
}

/* A condition that is true for all values of indices whose ranges were inferred is likely to be meant otherwise. */
static void warn_always(inference *f)
{
	for (int i = 0; i < f->n_bounded; i++) {
		const branch_row *by = &f->bounded[i].by;
		if (!is_inferred(f, by) || !affine_prove(f->space, &by->row) ||
		    !heddle_check_warn(f->c, 219, &by->conjunct->location, "this condition decides nothing, given the ranges of the indices"))
			continue;
		for (int k = 0; k < f->s->n_index; k++) {
			const heddle_index *index = f->s->index[k].index;
			if (!has_index(by->conjunct, index))
				continue;
			heddle_text text = {0};
			heddle_expr_print(index->lower, &text);
			heddle_text_add(&text, ":");
			heddle_expr_print(index->upper, &text);
			heddle_note(f->c->ctx, NULL, is_given(f, k) ? "`%s` is in %s" : "`%s` is in %s, from the subscripts; a `where` can say otherwise",
				    index->name, heddle_text_str(&text));
			heddle_text_free(&text);
		}
	}
}

/* In rounds, until all indices have a range or nothing changes. */
static bool solve(inference *f)
{
	while (!all_solved(f->s->statement) && solve_round(f))
		;
	return all_solved(f->s->statement);
}

/* Ranges by what is read, then by a declared shape of the target, by reads that their conditions bound, and by what was written. */
static bool find_ranges(inference *f)
{
	const heddle_statement *st = f->s->statement;
	collect_reads(f, st->value);
	for (int i = 0; i < f->s->n_exists; i++)
		collect_reads(f, f->s->exists[i]);
	if (solve(f))
		return true;
	if (f->s->target->declared && !f->s->target->upper) {
		collect_target(f);
		if (solve(f))
			return true;
	}
	for (int i = 0; i < f->n_bounded; i++)
		add_dimension(f, f->bounded[i].subscript, f->bounded[i].lower, f->bounded[i].upper);
	if (solve(f))
		return true;
	collect_target(f);
	return solve(f);
}

static int infer(inference *f)
{
	heddle_statement *st = f->s->statement;
	if (check_given(f))
		return -1;
	const bool found = find_ranges(f);
	if (check_strides(f, st->value))
		return -1;
	if (!found) {
		report_unsolved(f);
		return -1;
	}
	if (check_negative(f))
		return -1;
	warn_always(f);
	heddle_check_lesser(f->s, f->space);
	heddle_check_reach(f->s, f->space);
	return heddle_check_written(f->s, f->space);
}

int heddle_check_ranges(scope *s)
{
	heddle_arena *arena = heddle_arena_new();
	inference f = {.s = s, .c = s->c, .space = affine_space_new(arena, s->c->arena, &s->c->file->steps)};
	int result = infer(&f);
	heddle_arena_free(arena);
	return result;
}

