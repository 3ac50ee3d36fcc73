/* For how many threads the conditions around a place hold, dimension by dimension.
 * SPDX-License-Identifier: MIT
 */
#include "cost/count_walk.h"

#include "frontend/affine.h"

/* May the last tile of terms along d lack some? */
bool walk_lacks_terms(const walk *w, int d)
{
	for (int k = 0; k < w->n_lacking; k++)
		if (w->lacking[k] == d)
			return true;
	return false;
}

/* Do forms tie the dimensions to each other? */
static bool is_tied(const walk *w, int d, int o)
{
	for (int f = 0; f < w->n_form; f++)
		if (w->form[f].coefficient[d] && w->form[f].coefficient[o])
			return true;
	return false;
}

/* Blocks of results along d, from the first one to the one after the last, for which conditions hold that are those of a place plus `more`; `whole`:
 * which are whole, whatever the place; `bounds`: of those the ones that such a round of loops has. */
static count_ends blocks_of(const walk *w, int d, const int64_t *asked, const int64_t *more, bool whole, bool bounds)
{
	count_ends all = {0, w->begins[d].blocks};
	for (int f = 0; f < w->n_form; f++) {
		const int64_t step = w->form[f].coefficient[d] * w->begins[d].tile, constant = whole ? w->form[f].whole : asked[f];
		if (asked[f] == ALWAYS || constant == ALWAYS || (whole && (w->form[f].terms || w->form[f].bounds != bounds)))
			continue;
		const int64_t rest = constant + more[f];
		if (step == 0)
			all.upper = rest < 0 ? 0 : all.upper;
		else if (step > 0 && -affine_floor_div(rest, step) > all.lower)
			all.lower = -affine_floor_div(rest, step);
		else if (step < 0)
			all.upper = choose_least(all.upper, affine_floor_div(rest, -step) + 1);
	}
	return all;
}

/* Is it a loop over terms that results along several dimensions are tied to? */
static bool is_joint(const walk *w, int t)
{
	const heddle_stmt *stmt = w->m->shape->stmt;
	int tied = 0;
	for (int d = 0; d < stmt->n_dim; d++)
		tied += stmt->dim[t].reduction && d != t && is_tied(w, t, d);
	return tied > 1 && w->begins[t].rounds > 1;
}

/* Are the terms there that are asked for? */
static bool has_terms(const walk *w, const int64_t *asked, const int64_t *more)
{
	bool all = true;
	for (int f = 0; f < w->n_form; f++)
		all = all && !(w->form[f].terms && asked[f] != ALWAYS && asked[f] + more[f] < 0);
	return all;
}

/* Rounds of the loops that dimension d is tied to, and of its own; loops that others are tied to as well are in their round `at`, or, where that is
 * NULL, in their first and last ones: what holds in those does in all. */
typedef struct walk_steps {
	int64_t rounds[HEDDLE_MAX_DIM];
	const int64_t *at;
} walk_steps;

/* What is added to the forms where a thread and a round of loops begin, number k of those along d and what is tied to it, in the first block. */
static void begin_step(const walk *w, int d, int64_t k, const walk_steps *steps, int64_t *more)
{
	const int n_dim = w->m->shape->stmt->n_dim;
	int64_t begin[HEDDLE_MAX_DIM] = {0};
	begin[d] = k % w->begins[d].threads * w->begins[d].thread;
	k /= w->begins[d].threads;
	for (int o = 0; o < n_dim; o++) {
		if (o != d && !is_tied(w, d, o))
			continue;
		const bool others = o != d && is_joint(w, o);
		const int64_t round = k % steps->rounds[o];
		begin[o] += (!others ? round : steps->at ? steps->at[o] : round * (w->begins[o].rounds - 1)) * w->begins[o].round;
		k /= steps->rounds[o];
	}
	for (int f = 0; f < w->n_form; f++)
		for (int o = 0; o < n_dim; o++)
			more[f] += w->form[f].coefficient[o] * begin[o];
}

/* Threads, in all their rounds of loops along d and what is tied to it, for which the conditions hold; `whole`: in whole blocks.  Loops that others are
 * tied to as well are in their round `at`, and in any where blocks are whole.  -1: they are too many. */
static double threads_of(const walk *w, int d, const int64_t *conditions, bool whole, const int64_t *at)
{
	const int n_dim = w->m->shape->stmt->n_dim;
	walk_steps of = {.at = whole ? NULL : at};
	int64_t asked[MOST_FORMS], steps = w->begins[d].threads * w->begins[d].rounds, joint = 1;
	count_ends common = {0, w->begins[d].blocks};
	double sum = 0;
	for (int f = 0; f < w->n_form; f++) {
		asked[f] = ALWAYS; /* of other dimensions */
		for (int o = 0; o < n_dim; o++)
			if (w->form[f].coefficient[o] && (o == d || (is_tied(w, d, o) && !is_joint(w, o))))
				asked[f] = whole && !w->form[f].terms ? w->form[f].whole : choose_least(conditions[f], w->form[f].loop);
	}
	for (int o = 0; o < n_dim && steps <= MOST_STEPS; o++) {
		const bool others = o != d && is_joint(w, o);
		of.rounds[o] = o != d && (!is_tied(w, d, o) || (others && !whole)) ? 1 : others ? choose_least(w->begins[o].rounds, 2) : w->begins[o].rounds;
		joint *= others && whole ? of.rounds[o] : 1;
		steps = o == d ? steps : of.rounds[o] > MOST_STEPS ? MOST_STEPS + 1 : steps * of.rounds[o];
	}
	if (steps > MOST_STEPS)
		return -1;
	for (int64_t k = 0; k < steps && whole; k++) {
		int64_t more[MOST_FORMS] = {0};
		begin_step(w, d, k, &of, more);
		const count_ends ends = blocks_of(w, d, asked, more, true, false);
		common.lower = ends.lower > common.lower ? ends.lower : common.lower;
		common.upper = choose_least(common.upper, ends.upper);
	}
	for (int64_t k = 0; k < steps; k++) {
		int64_t more[MOST_FORMS] = {0};
		begin_step(w, d, k, &of, more);
		const count_ends ends = blocks_of(w, d, asked, more, whole, true);
		const int64_t lower = ends.lower > common.lower ? ends.lower : common.lower, upper = choose_least(ends.upper, common.upper);
		sum += upper > lower && (!whole || has_terms(w, asked, more)) ? (double)(upper - lower) : 0;
	}
	return sum / (double)joint;
}

/* The same of all dimensions. */
double walk_threads(const walk *w, const int64_t *conditions, bool whole)
{
	const heddle_stmt *stmt = w->m->shape->stmt;
	int64_t at[HEDDLE_MAX_DIM], joint = 1;
	double sum = 0;
	for (int d = 0; d < stmt->n_dim; d++)
		joint *= is_joint(w, d) ? w->begins[d].rounds : 1;
	for (int64_t k = 0; k < (whole ? 1 : joint); k++) {
		double threads = whole ? (double)joint : 1;
		int64_t rest = k;
		for (int d = 0; d < stmt->n_dim; d++) {
			at[d] = is_joint(w, d) ? rest % w->begins[d].rounds : 0;
			rest /= is_joint(w, d) ? w->begins[d].rounds : 1;
		}
		for (int d = 0; d < stmt->n_dim && threads > 0; d++) {
			bool alone = true; /* of a loop that nothing is asked about */
			for (int o = 0; o < stmt->n_dim; o++)
				alone = alone && !(o != d && stmt->dim[d].reduction && is_tied(w, d, o));
			if (!alone)
				continue;
			const double own = threads_of(w, d, conditions, whole, at);
			if (own < 0)
				return -1;
			threads *= own;
		}
		sum += threads;
	}
	return sum;
}

double walk_threads_at_edges(const walk *w, const int64_t *conditions)
{
	return walk_threads(w, conditions, false) - walk_threads(w, conditions, true);
}

/* No form may be about results of two dimensions, nor of terms alone. */
bool walk_is_by_dimensions(const walk *w)
{
	const heddle_stmt *stmt = w->m->shape->stmt;
	for (int f = 0; f < w->n_form; f++) {
		int results = 0;
		for (int d = 0; d < stmt->n_dim; d++)
			results += w->form[f].coefficient[d] && !stmt->dim[d].reduction;
		if (results != 1 && !w->form[f].terms)
			return false;
	}
	int64_t rounds = 1;
	for (int t = 0; t < stmt->n_dim && rounds <= MOST_STEPS; t++) {
		for (int f = 0; f < w->n_form; f++)
			if (is_joint(w, t) && w->form[f].bounds && w->form[f].coefficient[t])
				return false;
		if (is_joint(w, t) && (walk_lacks_terms(w, t) || w->c->kernel->threads == 1))
			return false;
		rounds *= is_joint(w, t) ? w->begins[t].rounds : 1;
	}
	return rounds <= MOST_STEPS;
}
