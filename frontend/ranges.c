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
#include <stdlib.h>
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

static bool has_kind(const heddle_expr *e, heddle_expr_kind kind)
{
	if (e->kind == kind)
		return true;
	for (int i = 0; i < e->n_arg; i++)
		if (has_kind(e->arg[i], kind))
			return true;
	return false;
}

static bool index_times_size(const heddle_expr *e)
{
	if (e->kind == HEDDLE_EXPR_BINARY &&
	    (e->op == HEDDLE_OP_MUL || e->op == HEDDLE_OP_DIV || e->op == HEDDLE_OP_MOD)) {
		bool left = has_kind(e->arg[0], HEDDLE_EXPR_INDEX), right = has_kind(e->arg[1], HEDDLE_EXPR_INDEX);
		if (left && !right && has_kind(e->arg[1], HEDDLE_EXPR_SIZE))
			return true;
		if (right && !left && has_kind(e->arg[0], HEDDLE_EXPR_SIZE) && e->op == HEDDLE_OP_MUL)
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

static bool contains_read(const heddle_expr *e)
{
	return has_kind(e, HEDDLE_EXPR_READ);
}

/* Subscripts with a stride that is not known yet. */
static int check_strides(inference *f, const heddle_expr *e)
{
	int errors = 0;
	for (int i = 0; i < e->n_arg; i++) {
		affine_row row;
		if (e->kind == HEDDLE_EXPR_READ && !contains_read(e->arg[i]) && index_times_size(e->arg[i])) {
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

/* Was a size given as 0?  Then ranges may be empty. */
static bool has_no_elements(const heddle_definition *d)
{
	for (int i = 0; i < d->n_size; i++)
		if (d->size[i]->max == 0)
			return true;
	return false;
}

/* A range that is negative whatever the sizes are is a mistake; one that is empty is likely to be one. */
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
		if (!affine_prove(f->space, &negative)) {
			if (!is_given(f, i) && !has_no_elements(f->c->def) && heddle_check_warn(f->c, 214, &index->location, "index `%s` has no values, whatever the sizes are: %s",
								 index->name, heddle_text_str(&text)))
				heddle_note(f->c->ctx, NULL, "inferred from the subscripts: a `where` says what is meant");
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

/* ---- what is written ------------------------------------------------------------------------------------------------------------ */

/* b - a, when the sizes that are given say it; else -1. */
static int64_t distance(affine_space *space, const heddle_expr *a, const heddle_expr *b)
{
	affine_row x, y;
	if (!affine_from_expr(space, a, true, &x) || !affine_from_expr(space, b, true, &y) || !affine_add(&y, &x, -1))
		return -1;
	for (int v = 0; v < space->n; v++) {
		const heddle_size *size = space->variable[v].kind == AFFINE_SIZE ? space->variable[v].size : NULL;
		if (!y.c[v])
			continue;
		if (!size || size->min != size->max || !affine_add_product(&y.k, y.c[v], size->min))
			return -1;
	}
	return y.k < 0 ? -1 : y.k;
}

/* The index of the least coefficient among those not done; -1: there is none left. */
static int least_coefficient(const affine_space *space, const affine_row *row, const bool *done)
{
	int least = -1;
	for (int v = 0; v < space->n; v++)
		if (row->c[v] && !space->variable[v].size_only && !done[v] && (least < 0 || llabs(row->c[v]) < llabs(row->c[least])))
			least = v;
	return least;
}

/* Does the row take every value between its extremes, or runs of `*width` values that begin `*step` apart?  A sum of indices with
 * size-only ranges does when, from the least coefficient up, each is at most one step more than what the smaller ones span; once
 * it may be more, which makes it the step.  Extents must be constants, but for the last index.
 * The indices are added to `used`; one that is there already ties two dimensions together. */
static bool is_interval(affine_space *space, const affine_row *row, bool *used, int64_t *step, int64_t *width)
{
	int64_t span = 0; /* of the indices so far in this step, greatest - least */
	bool done[AFFINE_VARIABLES] = {false};
	*step = *width = 1;
	for (int v = 0; v < space->n; v++) {
		if (!row->c[v] || space->variable[v].size_only)
			continue;
		if (space->variable[v].kind != AFFINE_INDEX || used[v])
			return false;
		const heddle_index *index = space->variable[v].index;
		if (has_kind(index->lower, HEDDLE_EXPR_INDEX) || has_kind(index->upper, HEDDLE_EXPR_INDEX))
			return false;
		used[v] = true;
	}
	for (int v, next = least_coefficient(space, row, done); (v = next) >= 0;) {
		const int64_t coefficient = llabs(row->c[v]);
		if (*step == 1 && coefficient > span + 1) {
			*step = coefficient;
			*width = span + 1;
			span = 0;
		}
		if (coefficient % *step || coefficient > span + *step)
			return false;
		done[v] = true;
		next = least_coefficient(space, row, done);
		const int64_t extent = distance(space, space->variable[v].index->lower, space->variable[v].index->upper);
		int64_t more;
		if (next >= 0 && (extent < 1 || __builtin_mul_overflow(extent - 1, coefficient, &more) || __builtin_add_overflow(span, more, &span)))
			return false;
	}
	return true;
}

static bool extremes(inference *f, const affine_row *row, affine_row *lower, affine_row *upper)
{
	affine_row list[MAX_CANDIDATES];
	int n = affine_bounds(f->space, row, false, list, MAX_CANDIDATES);
	for (int i = 0; i < n; i++)
		if (!affine_size_only(f->space, &list[i]))
			return false;
	if (!n || !affine_extremum(f->space, AFFINE_MAX, n, list, lower))
		return false;
	n = affine_bounds(f->space, row, true, list, MAX_CANDIDATES);
	for (int i = 0; i < n; i++)
		if (!affine_size_only(f->space, &list[i]))
			return false;
	if (!n || !affine_extremum(f->space, AFFINE_MIN, n, list, upper))
		return false;
	upper->k++;
	return true;
}

/* Another index's range may depend on a left-hand index (a triangle): what is written is still a box, since a reduction
 * or initialisation over an empty range writes too.  Not so when one left-hand index depends on another. */
static int record_write(inference *f)
{
	scope *s = f->s;
	heddle_statement *st = s->statement;
	tensor_state *t = s->target;
	int errors = 0;
	bool used[AFFINE_VARIABLES] = {false};
	tensor_write w = {
		.lower = HEDDLE_NEW_ARRAY(f->c->scratch, heddle_expr *, st->n_lhs + 1),
		.upper = HEDDLE_NEW_ARRAY(f->c->scratch, heddle_expr *, st->n_lhs + 1),
		/* an accumulation into what is there is no first value */
		.box = st->assign == HEDDLE_ASSIGN_SET || st->initialise,
	};
	for (int i = 0; i < st->n_lhs; i++) {
		affine_row row, lower, upper;
		if (!heddle_check_affine(f->c, f->space, st->lhs[i], false, 208, "the left-hand subscript", &row)) {
			errors++;
			continue;
		}
		if (!extremes(f, &row, &lower, &upper)) {
			heddle_check_fail(f->c, 208, &st->lhs[i]->location, "the range of the left-hand subscript cannot be found");
			heddle_note(f->c->ctx, NULL, "it may be a sum of indices and sizes with factors, and quotients of such by numbers");
			if (too_large(st->lhs[i]))
				heddle_note(f->c->ctx, NULL, limit_note);
			errors++;
			continue;
		}
		int64_t step, width;
		w.box = w.box && is_interval(f->space, &row, used, &step, &width) && (step < 2 || w.step < 2);
		if (w.box && step > 1) {
			w.comb = i;
			w.step = step;
			w.width = width;
		}
		w.lower[i] = affine_to_expr(f->space, &lower);
		w.upper[i] = affine_to_expr(f->space, &upper);
	}
	if (errors)
		return -1;
	if (!t->n_write) {
		t->lower = HEDDLE_NEW_ARRAY(f->c->arena, heddle_expr *, st->n_lhs + 1);
		t->upper = HEDDLE_NEW_ARRAY(f->c->arena, heddle_expr *, st->n_lhs + 1);
	}
	for (int i = 0; i < st->n_lhs; i++) {
		affine_row both[2], out;
		if (!t->n_write) {
			t->lower[i] = w.lower[i];
			t->upper[i] = w.upper[i];
			continue;
		}
		if (affine_from_expr(f->space, t->lower[i], true, &both[0]) &&
		    affine_from_expr(f->space, w.lower[i], true, &both[1]) &&
		    affine_extremum(f->space, AFFINE_MIN, 2, both, &out))
			t->lower[i] = affine_to_expr(f->space, &out);
		if (!affine_from_expr(f->space, t->upper[i], true, &both[0]) || !affine_from_expr(f->space, w.upper[i], true, &both[1]) ||
		    !affine_extremum(f->space, AFFINE_MAX, 2, both, &out))
			continue;
		t->upper[i] = affine_to_expr(f->space, &out);
		t->early = t->early || (t->read_beyond && !(affine_add(&both[0], &out, -1) && affine_prove(f->space, &both[0])));
	}
	HEDDLE_PUSH(f->c->scratch, t->write, t->n_write, w);
	return 0;
}

/* The write whose runs begin `by` elements after those of write number `first`, as many; -1: there is none. */
static int write_beside(affine_space *space, const tensor_state *t, int first, int64_t by)
{
	const tensor_write *w = &t->write[first];
	for (int i = 0; i < t->n_write; i++) {
		const tensor_write *other = &t->write[i];
		bool beside = other->box && other->comb == w->comb && other->step == w->step; /* both have one */
		for (int d = 0; d < t->rank && beside; d++)
			beside = distance(space, w->lower[d], other->lower[d]) == (d == w->comb ? by : 0) &&
				 distance(space, w->upper[d], other->upper[d]) == (d == w->comb ? by + other->width - w->width : 0);
		if (beside)
			return i;
	}
	return -1;
}

/* The writes, with those that fill each other's gaps, y(2 * i) and y(2 * i + 1), as one more that has none. */
static tensor_state without_gaps(affine_space *space, const tensor_state *t)
{
	tensor_state all = *t;
	all.write = HEDDLE_NEW_ARRAY(space->arena, tensor_write, 2 * t->n_write + 1);
	if (t->n_write)
		memcpy(all.write, t->write, sizeof(*t->write) * (size_t)t->n_write);
	for (int i = 0; i < t->n_write; i++) {
		const tensor_write *w = &t->write[i];
		int last = i;
		if (!w->box || w->step < 2)
			continue;
		for (int64_t by = w->width; by < w->step && last >= 0; by += last < 0 ? 0 : t->write[last].width)
			last = write_beside(space, t, i, by);
		if (last < 0)
			continue;
		tensor_write one = {.lower = w->lower, .upper = HEDDLE_NEW_ARRAY(space->arena, heddle_expr *, t->rank + 1), .box = true};
		for (int d = 0; d < t->rank; d++)
			one.upper[d] = d == w->comb ? t->write[last].upper[d] : w->upper[d];
		all.write[all.n_write++] = one;
	}
	for (int i = 0; i < t->n_write; i++)
		all.write[i].box = all.write[i].box && all.write[i].step < 2;
	return all;
}

/* Do the boxes written reach from 0 to the extent in dimension `along`, each of them whole in all others? */
static bool covered_along(affine_space *space, const tensor_state *t, int along, const affine_row *extent)
{
	bool *used = HEDDLE_NEW_ARRAY(space->arena, bool, t->n_write + 1);
	affine_row reached = affine_constant(0);
	for (;;) {
		affine_row rest = reached;
		if (affine_add(&rest, &extent[along], -1) && affine_prove(space, &rest))
			return true;
		int found = -1;
		affine_row next = {0};
		for (int i = 0; i < t->n_write && found < 0; i++) {
			bool fits = t->write[i].box && !used[i];
			for (int d = 0; d < t->rank && fits; d++) {
				affine_row lower, upper, gap = d == along ? reached : affine_constant(0);
				fits = affine_from_expr(space, t->write[i].lower[d], true, &lower) &&
				       affine_from_expr(space, t->write[i].upper[d], true, &upper) &&
				       affine_add(&gap, &lower, -1) && affine_prove(space, &gap);
				next = d == along ? upper : next;
				if (fits && d != along)
					fits = affine_add(&upper, &extent[d], -1) && affine_prove(space, &upper);
			}
			if (fits)
				found = i;
		}
		if (found < 0)
			return false;
		used[found] = true;
		affine_row both[2] = {reached, next};
		if (!affine_extremum(space, AFFINE_MAX, 2, both, &reached))
			return false;
	}
}

/* Is all below `upper` written? */
static bool covered_in(affine_space *space, const tensor_state *t, heddle_expr *const *upper)
{
	affine_row *extent = HEDDLE_NEW_ARRAY(space->arena, affine_row, t->rank + 1);
	for (int d = 0; d < t->rank; d++)
		if (!affine_from_expr(space, upper[d], true, &extent[d]))
			return false;
	if (t->rank == 0)
		return t->n_write > 0;
	const tensor_state whole = without_gaps(space, t);
	for (int d = 0; d < t->rank; d++)
		if (covered_along(space, &whole, d, extent))
			return true;
	return false;
}

static bool covered(const checker *c, const tensor_state *t, heddle_expr *const *upper)
{
	heddle_arena *arena = heddle_arena_new();
	bool result = covered_in(affine_space_new(arena, c->arena, &c->file->steps), t, upper);
	heddle_arena_free(arena);
	return result;
}

/* Reads of other tensors that later statements write too. */
static void note_early(inference *f, const heddle_expr *e)
{
	for (int i = 0; i < e->n_arg; i++)
		note_early(f, e->arg[i]);
	if (e->kind != HEDDLE_EXPR_READ)
		return;
	tensor_state *t = &f->c->state[e->tensor->position];
	if (t == f->s->target || !t->n_write || t->early)
		return;
	t->early = !covered(f->c, t, t->upper);
	/* of what is written as yet, that may be all, and a statement further down adds to it */
	for (int d = 0; d < t->rank && !t->read_beyond; d++) {
		affine_row row, lower, upper, written;
		t->read_beyond = !affine_from_expr(f->space, e->arg[d], true, &row) || !extremes(f, &row, &lower, &upper) ||
				 !affine_from_expr(f->space, t->upper[d], true, &written) || !affine_add(&written, &upper, -1) ||
				 !affine_prove(f->space, &written);
	}
}

/* The factor of the one index of a subscript; 0: it has none or several. */
static int64_t lone_factor(const affine_space *space, const affine_row *row)
{
	int64_t factor = 0;
	for (int v = 0; v < space->n; v++) {
		if (row->c[v] == 0 || space->variable[v].size_only)
			continue;
		if (factor || space->variable[v].kind != AFFINE_INDEX)
			return 0;
		factor = row->c[v];
	}
	return factor;
}

/* Does the read take an element that an earlier instance of the same statement, in the order of its left-hand indices, writes
 * if any does: T(i - 1, j) in T(i, j), T(N - i, j) in T(N - 1 - i, j)? */
static bool reads_earlier(inference *f, const heddle_expr *read)
{
	const heddle_statement *st = f->s->statement;
	for (int d = 0; d < st->n_lhs; d++) {
		affine_row row, own;
		if (!affine_from_expr(f->space, read->arg[d], true, &row) || !affine_from_expr(f->space, st->lhs[d], true, &own))
			return false;
		const int64_t factor = lone_factor(f->space, &own);
		if (!factor || !affine_add(&row, &own, -1) || !affine_is_constant(&row))
			return false;
		if (row.k)
			return (row.k < 0) == (factor > 0);
	}
	return false;
}

/* Reads of the statement's own target, whose last write is the statement's own. */
static bool own_early(inference *f, const heddle_expr *e)
{
	tensor_state *t = f->s->target;
	for (int i = 0; i < e->n_arg; i++)
		if (own_early(f, e->arg[i]))
			return true;
	if (e->kind != HEDDLE_EXPR_READ || e->tensor != t->tensor)
		return false;
	bool earlier = reads_earlier(f, e);
	t->n_write -= !earlier;
	bool whole = covered(f->c, t, t->upper);
	t->n_write += !earlier;
	return !whole;
}

/* Reads of the target, and combining with what is there, before all of it has a value. */
static void note_own(inference *f)
{
	const heddle_statement *st = f->s->statement;
	tensor_state *t = f->s->target;
	if (t->early)
		return;
	t->early = own_early(f, st->value);
	if (t->early || t->n_write < 2 || st->assign == HEDDLE_ASSIGN_SET || st->initialise)
		return;
	t->n_write--;
	t->early = !covered(f->c, t, t->upper);
	t->n_write++;
}

void heddle_check_read_whole(checker *c, tensor_state *t)
{
	if (t->n_write && !t->early)
		t->early = !covered(c, t, t->declared ? t->tensor->extent : t->upper);
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
	if (check_given(f) || check_strides(f, st->value))
		return -1;
	if (!find_ranges(f)) {
		report_unsolved(f);
		return -1;
	}
	if (check_negative(f))
		return -1;
	warn_always(f);
	note_early(f, st->value);
	if (record_write(f) < 0)
		return -1;
	note_own(f);
	return 0;
}

int heddle_check_ranges(scope *s)
{
	heddle_arena *arena = heddle_arena_new();
	inference f = {.s = s, .c = s->c, .space = affine_space_new(arena, s->c->arena, &s->c->file->steps)};
	int result = infer(&f);
	heddle_arena_free(arena);
	return result;
}

int heddle_check_write(scope *s)
{
	heddle_arena *arena = heddle_arena_new();
	inference f = {.s = s, .c = s->c, .space = affine_space_new(arena, s->c->arena, &s->c->file->steps)};
	int result = record_write(&f);
	heddle_arena_free(arena);
	return result;
}

bool heddle_check_extremes(checker *c, affine_space *space, const heddle_expr *e, heddle_expr **lower, heddle_expr **upper)
{
	inference f = {.c = c, .space = space};
	affine_row row, least, end;
	if (!affine_from_expr(space, e, true, &row) || !extremes(&f, &row, &least, &end))
		return false;
	*lower = affine_to_expr(space, &least);
	*upper = affine_to_expr(space, &end);
	return true;
}

/* ---- shapes ---------------------------------------------------------------------------------------------------------------------- */

static void warn_zero_fill(checker *c, const tensor_state *t, bool whole)
{
	heddle_text text = {0};
	for (int d = 0; d < t->rank; d++) {
		heddle_text_add(&text, d ? ", " : "");
		heddle_expr_print(t->lower[d], &text);
		heddle_text_add(&text, ":");
		heddle_expr_print(t->upper[d], &text);
	}
	if (heddle_check_warn(c, 204, &t->first_write, "not all of `%s` is written%s; its other elements are 0",
			      t->tensor->name, whole ? " before it is read" : "") &&
	    t->rank)
		heddle_note(c->ctx, NULL, "the statements write within %s", heddle_text_str(&text));
	heddle_text_free(&text);
}

void heddle_check_shapes(checker *c)
{
	for (int i = 0; i < c->n_state; i++) {
		tensor_state *t = &c->state[i];
		if (t->tensor->role == HEDDLE_ROLE_INPUT || !t->n_write || t->bad)
			continue;
		if (!t->declared)
			t->tensor->extent = t->upper;
		t->tensor->rank = t->rank;
		/* With statements missing, what is written is not known. */
		if (t->tensor->role == HEDDLE_ROLE_INOUT || c->errors || c->syntax->broken)
			continue;
		bool whole = covered(c, t, t->tensor->extent);
		t->tensor->zero_fill = !whole || t->early || t->zeroed;
		if ((!whole || t->early) && !t->hidden)
			warn_zero_fill(c, t, whole);
	}
}
