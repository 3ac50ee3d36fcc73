/* What statements write: the boxes that are covered, and from them the extents of tensors and what is left at 0.
 * SPDX-License-Identifier: MIT
 */
#include "frontend/check.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_CANDIDATES = 6 };

/* ---- one statement ----------------------------------------------------------------------------------------------------------- */

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

/* One bound of index `v`, without those parts that only say that the row's value is not below or above a size: with k >= 1 - 2 * u,
 * 2 * u + k - 1 is not below 0.  `*crops`: there are such.  NULL: others depend on indices, too. */
static heddle_expr *bound_of_all(affine_space *space, const affine_row *row, int v, bool upper, bool *crops)
{
	const heddle_index *index = space->variable[v].index;
	enum { MOST = 8 };
	affine_row part[MOST], kept[MOST], extremum;
	int n_kept = 0;
	const int n = affine_bound_rows(space, upper ? index->upper : index->lower, upper ? HEDDLE_OP_MIN : HEDDLE_OP_MAX, part, MOST);
	if (n == MOST) /* perhaps not all of them */
		return NULL;
	for (int i = 0; i < n; i++) {
		affine_row at = *row;
		if (affine_size_only(space, &part[i])) {
			kept[n_kept++] = part[i];
			continue;
		}
		at.c[v] = 0;
		if (!affine_add(&at, &part[i], row->c[v]) || !affine_size_only(space, &at))
			return NULL;
		*crops = true;
	}
	const affine_kind kind = upper ? AFFINE_MIN : AFFINE_MAX;
	return n_kept && affine_extremum(space, kind, n_kept, kept, &extremum) ? affine_to_expr(space, &extremum) : NULL;
}

/* Does the row take every value between its extremes, or runs of `*width` values that begin `*step` apart?  A sum of indices with
 * size-only ranges does when, from the least coefficient up, each is at most one step more than what the smaller ones span; once
 * it may be more, which makes it the step.  Extents must be constants, but for the last index.  Ranges may also keep the row itself
 * above or below sizes.
 * The indices are added to `used`; one that is there already ties two dimensions together. */
static bool is_interval(affine_space *space, const affine_row *row, bool *used, int64_t *step, int64_t *width)
{
	int64_t span = 0; /* of the indices so far in this step, greatest - least */
	bool done[AFFINE_VARIABLES] = {false}, crops = false;
	heddle_expr *lower[AFFINE_VARIABLES], *upper[AFFINE_VARIABLES];
	*step = *width = 1;
	for (int v = 0; v < space->n; v++) {
		if (!row->c[v] || space->variable[v].size_only)
			continue;
		if (space->variable[v].kind != AFFINE_INDEX || used[v])
			return false;
		lower[v] = bound_of_all(space, row, v, false, &crops);
		upper[v] = bound_of_all(space, row, v, true, &crops);
		if (!lower[v] || !upper[v])
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
		const int64_t extent = distance(space, lower[v], upper[v]);
		int64_t more;
		if (next >= 0 && (extent < 1 || __builtin_mul_overflow(extent - 1, coefficient, &more) || __builtin_add_overflow(span, more, &span)))
			return false;
	}
	return *step == 1 || !crops;
}

static bool extremes(affine_space *space, const affine_row *row, affine_row *lower, affine_row *upper)
{
	affine_row list[MAX_CANDIDATES];
	int n = affine_bounds(space, row, false, list, MAX_CANDIDATES);
	for (int i = 0; i < n; i++)
		if (!affine_size_only(space, &list[i]))
			return false;
	if (!n || !affine_extremum(space, AFFINE_MAX, n, list, lower))
		return false;
	n = affine_bounds(space, row, true, list, MAX_CANDIDATES);
	for (int i = 0; i < n; i++)
		if (!affine_size_only(space, &list[i]))
			return false;
	if (!n || !affine_extremum(space, AFFINE_MIN, n, list, upper))
		return false;
	upper->k++;
	return true;
}

/* Does the lower digit reach from 0 to the factor? */
static bool is_whole_digit(affine_space *space, const heddle_digits *digits)
{
	affine_row low, least, end, factor;
	return affine_from_expr(space, digits->low, false, &low) && extremes(space, &low, &least, &end) && affine_is_constant(&least) &&
	       least.k == 0 && affine_from_expr(space, digits->factor, false, &factor) && affine_add(&factor, &end, -1) &&
	       affine_is_constant(&factor) && factor.k == 0;
}

bool heddle_check_subscript(affine_space *space, const heddle_expr *e, affine_row *lower, affine_row *upper)
{
	heddle_digits digits;
	affine_row row, least, end;
	if (!heddle_check_digits(space, e, &digits))
		return affine_from_expr(space, e, false, &row) && extremes(space, &row, lower, upper);
	return affine_from_expr(space, digits.high, false, &row) && extremes(space, &row, &least, &end) &&
	       affine_from_expr(space, heddle_check_times(space, digits.factor, &least), true, lower) &&
	       affine_from_expr(space, heddle_check_times(space, digits.factor, &end), true, upper);
}

/* Does the subscript take all values between its extremes, but for gaps as in is_interval? */
static bool subscript_is_interval(affine_space *space, const heddle_expr *e, bool *used, int64_t *step, int64_t *width)
{
	heddle_digits digits;
	affine_row row;
	if (!heddle_check_digits(space, e, &digits))
		return affine_from_expr(space, e, false, &row) && is_interval(space, &row, used, step, width);
	return affine_from_expr(space, digits.low, false, &row) && is_interval(space, &row, used, step, width) && *step == 1 &&
	       affine_from_expr(space, digits.high, false, &row) && is_interval(space, &row, used, step, width) && *step == 1;
}

/* Is it affine, or two digits of which the lower one is whole?  If not, an error says so. */
static bool check_target(checker *c, affine_space *space, const heddle_expr *e)
{
	heddle_digits digits;
	affine_row row;
	return (heddle_check_digits(space, e, &digits) && is_whole_digit(space, &digits)) ||
	       heddle_check_affine(c, space, e, false, 208, "the left-hand subscript", &row);
}

/* Another index's range may depend on a left-hand index (a triangle): what is written is still a box, since a reduction
 * or initialisation over an empty range writes too.  Not so when one left-hand index depends on another. */
static int record_write(scope *s, affine_space *space)
{
	heddle_statement *st = s->statement;
	tensor_state *t = s->target;
	int errors = 0;
	bool used[AFFINE_VARIABLES] = {false};
	tensor_write w = {
		.lower = HEDDLE_NEW_ARRAY(s->c->scratch, heddle_expr *, st->n_lhs + 1),
		.upper = HEDDLE_NEW_ARRAY(s->c->scratch, heddle_expr *, st->n_lhs + 1),
		/* an accumulation into what is there is no first value */
		.box = st->assign == HEDDLE_ASSIGN_SET || st->initialise,
	};
	for (int i = 0; i < st->n_lhs; i++) {
		affine_row lower, upper;
		if (!check_target(s->c, space, st->lhs[i])) {
			errors++;
			continue;
		}
		if (!heddle_check_subscript(space, st->lhs[i], &lower, &upper)) {
			heddle_check_fail(s->c, 208, &st->lhs[i]->location, "the range of the left-hand subscript cannot be found");
			heddle_note(s->c->ctx, NULL, "it may be a sum of indices and sizes with factors, and quotients of such by numbers");
			heddle_check_note_large(s->c, st->lhs[i]);
			errors++;
			continue;
		}
		int64_t step, width;
		w.box = w.box && subscript_is_interval(space, st->lhs[i], used, &step, &width) && (step < 2 || w.step < 2);
		if (w.box && step > 1) {
			w.comb = i;
			w.step = step;
			w.width = width;
		}
		w.lower[i] = affine_to_expr(space, &lower);
		w.upper[i] = affine_to_expr(space, &upper);
	}
	if (errors)
		return -1;
	if (!t->n_write) {
		t->lower = HEDDLE_NEW_ARRAY(s->c->arena, heddle_expr *, st->n_lhs + 1);
		t->upper = HEDDLE_NEW_ARRAY(s->c->arena, heddle_expr *, st->n_lhs + 1);
	}
	for (int i = 0; i < st->n_lhs; i++) {
		affine_row both[2], out;
		if (!t->n_write) {
			t->lower[i] = w.lower[i];
			t->upper[i] = w.upper[i];
			continue;
		}
		if (affine_from_expr(space, t->lower[i], true, &both[0]) &&
		    affine_from_expr(space, w.lower[i], true, &both[1]) &&
		    affine_extremum(space, AFFINE_MIN, 2, both, &out))
			t->lower[i] = affine_to_expr(space, &out);
		if (!affine_from_expr(space, t->upper[i], true, &both[0]) || !affine_from_expr(space, w.upper[i], true, &both[1]) ||
		    !affine_extremum(space, AFFINE_MAX, 2, both, &out))
			continue;
		t->upper[i] = affine_to_expr(space, &out);
		t->early = t->early || (t->read_beyond && !(affine_add(&both[0], &out, -1) && affine_prove(space, &both[0])));
	}
	HEDDLE_PUSH(s->c->scratch, t->write, t->n_write, w);
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
static void note_early(scope *s, affine_space *space, const heddle_expr *e)
{
	for (int i = 0; i < e->n_arg; i++)
		note_early(s, space, e->arg[i]);
	if (e->kind != HEDDLE_EXPR_READ)
		return;
	tensor_state *t = &s->c->state[e->tensor->position];
	if (t == s->target || !t->n_write || t->early)
		return;
	t->early = !covered(s->c, t, t->upper);
	/* of what is written as yet, that may be all, and a statement further down adds to it */
	for (int d = 0; d < t->rank && !t->read_beyond; d++) {
		affine_row lower, upper, written;
		t->read_beyond = !heddle_check_subscript(space, e->arg[d], &lower, &upper) ||
				 !affine_from_expr(space, t->upper[d], true, &written) || !affine_add(&written, &upper, -1) ||
				 !affine_prove(space, &written);
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
static bool reads_earlier(scope *s, affine_space *space, const heddle_expr *read)
{
	const heddle_statement *st = s->statement;
	for (int d = 0; d < st->n_lhs; d++) {
		affine_row row, own;
		if (!affine_from_expr(space, read->arg[d], true, &row) || !affine_from_expr(space, st->lhs[d], true, &own))
			return false;
		const int64_t factor = lone_factor(space, &own);
		if (!factor || !affine_add(&row, &own, -1) || !affine_is_constant(&row))
			return false;
		if (row.k)
			return (row.k < 0) == (factor > 0);
	}
	return false;
}

/* Reads of the statement's own target, whose last write is the statement's own. */
static bool own_early(scope *s, affine_space *space, const heddle_expr *e)
{
	tensor_state *t = s->target;
	for (int i = 0; i < e->n_arg; i++)
		if (own_early(s, space, e->arg[i]))
			return true;
	if (e->kind != HEDDLE_EXPR_READ || e->tensor != t->tensor)
		return false;
	bool earlier = reads_earlier(s, space, e);
	t->n_write -= !earlier;
	bool whole = covered(s->c, t, t->upper);
	t->n_write += !earlier;
	return !whole;
}

/* Reads of the target, and combining with what is there, before all of it has a value. */
static void note_own(scope *s, affine_space *space)
{
	const heddle_statement *st = s->statement;
	tensor_state *t = s->target;
	if (t->early)
		return;
	t->early = own_early(s, space, st->value);
	if (t->early || t->n_write < 2 || st->assign == HEDDLE_ASSIGN_SET || st->initialise)
		return;
	t->n_write--;
	t->early = !covered(s->c, t, t->upper);
	t->n_write++;
}

void heddle_check_read_whole(checker *c, tensor_state *t)
{
	if (t->n_write && !t->early)
		t->early = !covered(c, t, t->declared ? t->tensor->extent : t->upper);
}

int heddle_check_write(scope *s)
{
	heddle_arena *arena = heddle_arena_new();
	int result = record_write(s, affine_space_new(arena, s->c->arena, &s->c->file->steps));
	heddle_arena_free(arena);
	return result;
}

int heddle_check_written(scope *s, affine_space *space)
{
	note_early(s, space, s->statement->value);
	if (record_write(s, space) < 0)
		return -1;
	note_own(s, space);
	return 0;
}

bool heddle_check_extremes(affine_space *space, const heddle_expr *e, heddle_expr **lower, heddle_expr **upper)
{
	affine_row row, least, end;
	if (!affine_from_expr(space, e, true, &row) || !extremes(space, &row, &least, &end))
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
