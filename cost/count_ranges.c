/* Ranges whose ends move with other dimensions: so many values on average, and so many rounds of loops over tiles, by going over values of the
 * dimensions that they depend on, of long ones over samples.
 * SPDX-License-Identifier: MIT
 */
#include "cost/count_conditions.h"

#include "frontend/affine.h"

#include <math.h>

/* At most so many samples of one, two, ... dimensions together. */
static const int most_samples[] = {1, 64, 256, 216, 256, 243, 64};

enum { MOST_PARENTS = 6 };

/* The dimensions that the ends of another one depend on. */
typedef struct parents {
	int n, dim[MOST_PARENTS];
} parents;

/* Has the dimension the one value that is counted for? */
static bool is_held(const counter *c, const heddle_stmt *stmt, int d)
{
	return c->held && stmt->dim[d].member == c->held->member;
}

/* `guard`: beside its ends; NULL: not asked about. */
static parents parents_of(const counter *c, const heddle_stmt *stmt, int d, const conjuncts *guard)
{
	const heddle_index *index = stmt->source->index[d];
	parents p = {0};
	for (int o = 0; o < stmt->n_dim && p.n < MOST_PARENTS; o++) {
		bool moves = !is_held(c, stmt, o) && (choose_mentions(index->upper, o) || (index->lower && choose_mentions(index->lower, o)));
		for (int k = 0; guard && k < guard->n; k++)
			moves = moves || (guard->of[k].coefficient[d] && guard->of[k].coefficient[o]);
		for (int k = 0; guard && k < guard->n_multiple; k++)
			moves = moves || (guard->multiple[k].of.coefficient[d] && guard->multiple[k].of.coefficient[o]);
		if (o != d && moves)
			p.dim[p.n++] = o;
	}
	return p;
}

bool count_moves(const counter *c, const heddle_stmt *stmt, int d)
{
	return parents_of(c, stmt, d, NULL).n > 0;
}

bool count_is_tied(const counter *c, const heddle_stmt *stmt, int d, int o)
{
	conjuncts guard = {0};
	if (!count_take_guard(c, stmt, &guard))
		guard.n = guard.n_multiple = 0;
	const parents p = parents_of(c, stmt, d, &guard);
	bool tied = false;
	for (int k = 0; k < p.n; k++)
		tied = tied || p.dim[k] == o;
	return tied;
}

static count_ends ends_at(const counter *c, const heddle_stmt *stmt, int d, const int64_t *at)
{
	const heddle_index *index = stmt->source->index[d];
	count_ends ends = {0, 1};
	int64_t held[HEDDLE_MAX_DIM];
	if (is_held(c, stmt, d))
		return (count_ends){c->held->at, c->held->at + 1};
	for (int o = 0; o < stmt->n_dim && c->held; o++)
		held[o] = is_held(c, stmt, o) ? c->held->at : at[o];
	at = c->held ? held : at;
	if (index->lower && heddle_expr_evaluate_at(index->lower, c->size, at, &ends.lower) < 0)
		ends.lower = 0;
	if (heddle_expr_evaluate_at(index->upper, c->size, at, &ends.upper) < 0)
		ends.upper = ends.lower + 1;
	return ends;
}

/* The ends that the guard leaves. */
static count_ends guarded_ends(const conjuncts *guard, int d, const int64_t *at, count_ends ends)
{
	for (int k = 0; k < guard->n; k++) {
		const linear *l = &guard->of[k];
		int64_t rest = l->constant;
		for (int o = 0; o < HEDDLE_MAX_DIM; o++)
			rest += o == d ? 0 : l->coefficient[o] * at[o];
		if (l->coefficient[d] > 0 && -affine_floor_div(rest, l->coefficient[d]) > ends.lower)
			ends.lower = -affine_floor_div(rest, l->coefficient[d]);
		else if (l->coefficient[d] < 0)
			ends.upper = choose_least(ends.upper, affine_floor_div(rest, -l->coefficient[d]) + 1);
	}
	return ends;
}

/* The furthest ends where each of the parents is in a range of its own: at corners, since bounds are affine, or extrema of such. */
static count_ends ends_within(const counter *c, const heddle_stmt *stmt, int d, const parents *p, const conjuncts *guard, const count_ends *range)
{
	count_ends all = {INT64_MAX, INT64_MIN};
	for (unsigned corner = 0; corner < 1u << p->n; corner++) {
		int64_t at[HEDDLE_MAX_DIM] = {0};
		for (int k = 0; k < p->n; k++)
			at[p->dim[k]] = corner >> k & 1 ? range[k].upper - 1 : range[k].lower;
		const count_ends own = ends_at(c, stmt, d, at), ends = guard ? guarded_ends(guard, d, at, own) : own;
		all.lower = choose_least(all.lower, ends.lower);
		all.upper = all.upper > ends.upper ? all.upper : ends.upper;
	}
	return all;
}

count_ends count_box(const counter *c, const heddle_stmt *stmt, int d)
{
	const parents p = parents_of(c, stmt, d, NULL);
	count_ends range[MOST_PARENTS];
	for (int k = 0; k < p.n; k++)
		range[k] = count_box(c, stmt, p.dim[k]);
	return ends_within(c, stmt, d, &p, NULL, range);
}

/* Points of a sequence whose every stretch is spread evenly, which goes on by powers of the root of x^n = x + 1: those of a grid would meet tiles of
 * other dimensions in the same way each time. */
void count_begin_sampling(sampling *s, int64_t most)
{
	enum { ENOUGH = 32 };
	double root = 1, power = 1;
	s->all = 1;
	for (int k = 0; k < s->n; k++)
		s->all = count_times(s->all, s->positions[k] > 0 ? s->positions[k] : 0);
	s->every = s->all <= most;
	if (s->every)
		return;
	s->all = most;
	for (int k = 0; k < ENOUGH; k++)
		root = pow(1 + root, 1.0 / s->n);
	for (int k = 0; k < s->n; k++)
		s->step[k] = k == s->n - 1 ? 1 / (double)s->all : (power /= root);
}

void count_take_sample(const sampling *s, int64_t number, int64_t *at)
{
	int64_t rest = number;
	for (int k = 0; k < s->n && s->every; rest /= s->positions[k++])
		at[k] = rest % s->positions[k];
	for (int k = 0; k < s->n && !s->every; k++)
		at[k] = (int64_t)(fmod(((double)number + 0.5) * s->step[k], 1) * (double)s->positions[k]);
}

/* Is the instance one that the parents' own ranges have? */
static bool exists(const counter *c, const heddle_stmt *stmt, const parents *p, const int64_t *at)
{
	for (int k = 0; k < p->n; k++) {
		const count_ends ends = ends_at(c, stmt, p->dim[k], at);
		if (at[p->dim[k]] < ends.lower || at[p->dim[k]] >= ends.upper)
			return false;
	}
	return true;
}

double count_mean(const counter *c, const heddle_stmt *stmt, int d)
{
	const parents p = parents_of(c, stmt, d, NULL);
	count_ends box[MOST_PARENTS];
	int64_t number[MOST_PARENTS] = {0};
	sampling of = {.n = p.n};
	double sum = 0, found = 0;
	for (int k = 0; k < p.n; k++) {
		box[k] = count_box(c, stmt, p.dim[k]);
		of.positions[k] = box[k].upper - box[k].lower;
	}
	count_begin_sampling(&of, most_samples[of.n]);
	for (int64_t s = 0; s < of.all; s++) {
		int64_t at[HEDDLE_MAX_DIM] = {0};
		count_take_sample(&of, s, number);
		for (int k = 0; k < p.n; k++)
			at[p.dim[k]] = box[k].lower + number[k];
		if (!exists(c, stmt, &p, at))
			continue;
		const count_ends ends = ends_at(c, stmt, d, at);
		sum += ends.upper > ends.lower ? (double)(ends.upper - ends.lower) : 0;
		found++;
	}
	return found > 0 ? sum / found : 0;
}

/* What a loop over tiles of dimension d is tied to: its own ends, and the guard where that is in the domain. */
typedef struct tied {
	parents to;
	conjuncts guard;
	count_ends box;
	sampling tiles; /* of those that it is tied to */
} tied;

/* `known`: dimensions whose tile is; NULL: none. */
static tied tied_of(const counter *c, const heddle_stmt *stmt, int d, const bool *known)
{
	tied t = {.box = count_box(c, stmt, d)};
	if (!count_take_guard(c, stmt, &t.guard))
		t.guard.n = t.guard.n_multiple = 0;
	t.to = parents_of(c, stmt, d, &t.guard);
	for (int k = 0; k < t.to.n; k++) {
		const count_ends box = count_box(c, stmt, t.to.dim[k]);
		const int64_t size = stmt->dim[t.to.dim[k]].layout.tile,
			      tiles = (box.upper - box.lower + size - 1) / size;
		t.tiles.positions[k] = known && known[t.to.dim[k]] ? choose_least(1, tiles) : tiles;
	}
	t.tiles.n = t.to.n;
	count_begin_sampling(&t.tiles, most_samples[t.tiles.n]);
	return t;
}

/* Are there values, of dimension d in a range and of those that it is tied to in theirs, whose multiples are what the guard asks for? */
static bool reach_multiples(const tied *t, int d, count_ends own, const count_ends *range)
{
	for (int k = 0; k < t->guard.n_multiple; k++) {
		const linear *l = &t->guard.multiple[k].of;
		const int64_t divisor = t->guard.multiple[k].divisor;
		uint64_t reached = 0;
		bool all_known = true;
		if (!l->coefficient[d])
			continue;
		for (int o = 0; o < HEDDLE_MAX_DIM; o++) {
			bool known = o == d || !l->coefficient[o];
			for (int p = 0; p < t->to.n; p++)
				known = known || t->to.dim[p] == o;
			all_known = all_known && known;
		}
		if (!all_known)
			continue;
		reached = 1ull << (l->constant - affine_floor_div(l->constant, divisor) * divisor);
		for (int p = -1; p < t->to.n; p++) {
			const count_ends r = p < 0 ? own : range[p];
			const int64_t factor = l->coefficient[p < 0 ? d : t->to.dim[p]];
			uint64_t next = 0;
			for (int64_t x = r.lower; x < r.upper && x < r.lower + divisor; x++)
				for (int64_t b = 0; b < divisor; b++)
					if (reached >> b & 1)
						next |= 1ull << (b + factor * x - affine_floor_div(b + factor * x, divisor) * divisor);
			reached = next;
		}
		if (!(reached & 1))
			return false;
	}
	return true;
}

/* Are there such values for which all of the guard holds that asks about them alone, tried one by one; -1: they are too many. */
static int reach_all(const tied *t, int d, count_ends own, const count_ends *range)
{
	enum { MOST_TRIED = 1024 };
	int64_t n = own.upper - own.lower;
	for (int p = 0; p < t->to.n; p++)
		n = count_times(n, range[p].upper - range[p].lower);
	if (n > MOST_TRIED)
		return -1;
	for (int64_t k = 0; k < n; k++) {
		int64_t at[HEDDLE_MAX_DIM] = {0}, rest = k;
		bool known[HEDDLE_MAX_DIM] = {0}, all = true;
		for (int p = -1; p < t->to.n; p++) {
			const count_ends r = p < 0 ? own : range[p];
			const int o = p < 0 ? d : t->to.dim[p];
			known[o] = true;
			at[o] = r.lower + rest % (r.upper - r.lower);
			rest /= r.upper - r.lower;
		}
		for (int c = 0; c < t->guard.n + t->guard.n_multiple && all; c++) {
			const linear *l = c < t->guard.n ? &t->guard.of[c] : &t->guard.multiple[c - t->guard.n].of;
			int64_t value = l->constant;
			bool asked = true;
			for (int o = 0; o < HEDDLE_MAX_DIM; o++) {
				asked = asked && (known[o] || !l->coefficient[o]);
				value += l->coefficient[o] * at[o];
			}
			all = !asked || (c < t->guard.n ? value >= 0 : value % t->guard.multiple[c - t->guard.n].divisor == 0);
		}
		if (all)
			return 1;
	}
	return 0;
}

/* Does the loop run its tile number `tile`, where those that it is tied to are in ranges of theirs? */
static bool runs_tile(const counter *c, const heddle_stmt *stmt, int d, const tied *t, int64_t tile, const count_ends *range)
{
	const int64_t size = stmt->dim[d].layout.tile;
	count_ends own = ends_within(c, stmt, d, &t->to, &t->guard, range);
	if (own.lower < t->box.lower + tile * size)
		own.lower = t->box.lower + tile * size;
	own.upper = choose_least(own.upper, t->box.lower + (tile + 1) * size);
	const int all = own.lower < own.upper && t->guard.n_multiple ? reach_all(t, d, own, range) : -1;
	return own.lower < own.upper && (all < 0 ? reach_multiples(t, d, own, range) : all);
}

/* Number `s` of the combinations of tiles of what a loop is tied to, those of `at` where that is `known`: `range` becomes theirs. */
static void take_tiles(const counter *c, const heddle_stmt *stmt, const tied *t, const bool *known, const int64_t *at, int64_t s, count_ends *range)
{
	int64_t number[MOST_PARENTS] = {0};
	count_take_sample(&t->tiles, s, number);
	for (int k = 0; k < t->to.n; k++) {
		const int o = t->to.dim[k];
		const count_ends box = count_box(c, stmt, o);
		const int64_t size = stmt->dim[o].layout.tile;
		range[k].lower = box.lower + size * (known && known[o] ? at[o] : number[k]);
		range[k].upper = choose_least(range[k].lower + size, box.upper);
	}
}

double count_rounds(const counter *c, const heddle_stmt *stmt, int d, const bool *known, const int64_t *at)
{
	const tied t = tied_of(c, stmt, d, known);
	const int64_t size = stmt->dim[d].layout.tile;
	count_ends range[MOST_PARENTS] = {{0, 0}};
	double sum = 0;
	for (int64_t s = 0; s < t.tiles.all; s++) {
		take_tiles(c, stmt, &t, known, at, s, range);
		const count_ends ends = ends_within(c, stmt, d, &t.to, &t.guard, range);
		const int64_t first = affine_floor_div(ends.lower - t.box.lower, size), last = -affine_floor_div(t.box.lower - ends.upper, size);
		if (ends.upper <= ends.lower)
			continue;
		if (!t.guard.n_multiple)
			sum += (double)(last - first);
		for (int64_t tile = first; tile < last && t.guard.n_multiple; tile++)
			sum += runs_tile(c, stmt, d, &t, tile, range);
	}
	return t.tiles.all > 0 ? sum / (double)t.tiles.all : 0;
}

double count_runs(const counter *c, const heddle_stmt *stmt, int d, const bool *known, const int64_t *at)
{
	const tied t = tied_of(c, stmt, d, known);
	count_ends range[MOST_PARENTS] = {{0, 0}};
	double sum = 0;
	if (!t.to.n)
		return 1;
	for (int64_t s = 0; s < t.tiles.all; s++) {
		take_tiles(c, stmt, &t, known, at, s, range);
		sum += runs_tile(c, stmt, d, &t, at[d], range);
	}
	return t.tiles.all > 0 ? sum / (double)t.tiles.all : 0;
}
