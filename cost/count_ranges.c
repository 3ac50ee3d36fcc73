/* Ranges whose ends move with other dimensions, and guards: how many instances there are.
 *
 * Of a range that moves a statement has so many values on average, and its tile loop so many rounds; of a guard that is taken into the
 * domain the share of the instances where it holds.  Both by going over values of the dimensions that they depend on, of long ones over
 * samples; the longest dimension of a guard is solved for.
 * SPDX-License-Identifier: MIT
 */
#include "cost/count_parts.h"

#include "frontend/affine.h"

#include <math.h>

/* At most so many samples of one, two, ... dimensions together. */
static const int most_samples[] = {1, 64, 256, 216, 256, 243, 64};

enum { MOST_PARENTS = 6, MOST_CONJUNCTS = 16, MOST_ROWS = 4096 };

/* The product, or a number that is large enough for samples to be taken. */
static int64_t times(int64_t a, int64_t b)
{
	const int64_t enough = INT64_MAX / 4;
	int64_t product;
	return __builtin_mul_overflow(a, b, &product) || product > enough ? enough : product;
}

/* What a guard asks for: affine expressions that are not negative, and others that are multiples of a divisor. */
typedef struct conjuncts {
	int n, n_multiple;
	linear of[MOST_CONJUNCTS];
	struct {
		linear of;
		int64_t divisor;
	} multiple[MOST_CONJUNCTS];
} conjuncts;

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

/* greater - less >= apart. */
static bool add_conjunct(const counter *c, conjuncts *all, const heddle_expr *greater, const heddle_expr *less, int64_t apart)
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

/* false: it is something else. */
static bool take_conjuncts(const counter *c, const heddle_expr *guard, conjuncts *all)
{
	const heddle_expr *a = guard->n_arg > 0 ? guard->arg[0] : NULL, *b = guard->n_arg > 1 ? guard->arg[1] : NULL;
	if (guard->kind == HEDDLE_EXPR_CAST)
		return take_conjuncts(c, a, all);
	if (guard->kind != HEDDLE_EXPR_BINARY)
		return false;
	switch (guard->op) {
	case HEDDLE_OP_AND:
		return take_conjuncts(c, a, all) && take_conjuncts(c, b, all);
	case HEDDLE_OP_GE:
		return add_conjunct(c, all, a, b, 0);
	case HEDDLE_OP_GT:
		return add_conjunct(c, all, a, b, 1);
	case HEDDLE_OP_LE:
		return add_conjunct(c, all, b, a, 0);
	case HEDDLE_OP_LT:
		return add_conjunct(c, all, b, a, 1);
	case HEDDLE_OP_EQ:
		return add_multiple(c, all, a, b) || add_multiple(c, all, b, a) || (add_conjunct(c, all, a, b, 0) && add_conjunct(c, all, b, a, 0));
	default:
		return false;
	}
}

/* The dimensions that the ends of another one depend on. */
typedef struct parents {
	int n, dim[MOST_PARENTS];
} parents;

/* `guard`: beside its ends; NULL: not asked about. */
static parents parents_of(const heddle_stmt *stmt, int d, const conjuncts *guard)
{
	const heddle_index *index = stmt->source->index[d];
	parents p = {0};
	for (int o = 0; o < stmt->n_dim && p.n < MOST_PARENTS; o++) {
		bool moves = choose_mentions(index->upper, o) || (index->lower && choose_mentions(index->lower, o));
		for (int k = 0; guard && k < guard->n; k++)
			moves = moves || (guard->of[k].coefficient[d] && guard->of[k].coefficient[o]);
		for (int k = 0; guard && k < guard->n_multiple; k++)
			moves = moves || (guard->multiple[k].of.coefficient[d] && guard->multiple[k].of.coefficient[o]);
		if (o != d && moves)
			p.dim[p.n++] = o;
	}
	return p;
}

/* The guard that went into the statement's domain, NULL: there is none.  `*otherwise`: instances are where it does not hold. */
static const heddle_expr *guard_of(const heddle_stmt *stmt, bool *otherwise)
{
	const heddle_expr *select = stmt->source->value;
	while (select->kind == HEDDLE_EXPR_CAST)
		select = select->arg[0];
	if (stmt->value == stmt->source->value || select->kind != HEDDLE_EXPR_SELECT)
		return NULL;
	*otherwise = stmt->value == select->arg[2];
	return select->arg[0];
}

/* The conjuncts of the guard that holds wherever there is an instance; false: there is no guard, or it is something else. */
static bool take_guard(const counter *c, const heddle_stmt *stmt, conjuncts *all)
{
	bool otherwise = false;
	const heddle_expr *guard = guard_of(stmt, &otherwise);
	return guard && !otherwise && take_conjuncts(c, guard, all);
}

int count_conjuncts(const counter *c, const heddle_stmt *stmt, linear *all, int most)
{
	conjuncts guard = {0};
	bool otherwise = false;
	if (!guard_of(stmt, &otherwise))
		return 0;
	if (otherwise || !take_guard(c, stmt, &guard) || guard.n_multiple || guard.n > most)
		return -1;
	for (int k = 0; k < guard.n; k++)
		all[k] = guard.of[k];
	return guard.n;
}

bool count_moves(const heddle_stmt *stmt, int d)
{
	return parents_of(stmt, d, NULL).n > 0;
}

bool count_is_tied(const counter *c, const heddle_stmt *stmt, int d, int o)
{
	conjuncts guard = {0};
	if (!take_guard(c, stmt, &guard))
		guard.n = guard.n_multiple = 0;
	const parents p = parents_of(stmt, d, &guard);
	bool tied = false;
	for (int k = 0; k < p.n; k++)
		tied = tied || p.dim[k] == o;
	return tied;
}

static count_ends ends_at(const counter *c, const heddle_stmt *stmt, int d, const int64_t *at)
{
	const heddle_index *index = stmt->source->index[d];
	count_ends ends = {0, 1};
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
	const parents p = parents_of(stmt, d, NULL);
	count_ends range[MOST_PARENTS];
	for (int k = 0; k < p.n; k++)
		range[k] = count_box(c, stmt, p.dim[k]);
	return ends_within(c, stmt, d, &p, NULL, range);
}

/* Combinations of positions of n dimensions: all, or samples. */
typedef struct sampling {
	int n;
	bool every;
	int64_t all, positions[HEDDLE_MAX_DIM];
	double step[HEDDLE_MAX_DIM]; /* from one sample to the next, as a share of the positions */
} sampling;

/* Once `n` and `positions` are known: at most so many.  Samples are points of a sequence whose every stretch is spread evenly, that goes on by powers of the root of
 * x^n = x + 1: those of a grid would meet tiles of other dimensions in the same way each time. */
static void begin_sampling(sampling *s, int64_t most)
{
	enum { ENOUGH = 32 };
	double root = 1, power = 1;
	s->all = 1;
	for (int k = 0; k < s->n; k++)
		s->all = times(s->all, s->positions[k] > 0 ? s->positions[k] : 0);
	s->every = s->all <= most;
	if (s->every)
		return;
	s->all = most;
	for (int k = 0; k < ENOUGH; k++)
		root = pow(1 + root, 1.0 / s->n);
	for (int k = 0; k < s->n; k++)
		s->step[k] = k == s->n - 1 ? 1 / (double)s->all : (power /= root);
}

/* Number `number` of them: `at` of each dimension. */
static void take_sample(const sampling *s, int64_t number, int64_t *at)
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
	const parents p = parents_of(stmt, d, NULL);
	count_ends box[MOST_PARENTS];
	int64_t number[MOST_PARENTS] = {0};
	sampling of = {.n = p.n};
	double sum = 0, found = 0;
	for (int k = 0; k < p.n; k++) {
		box[k] = count_box(c, stmt, p.dim[k]);
		of.positions[k] = box[k].upper - box[k].lower;
	}
	begin_sampling(&of, most_samples[of.n]);
	for (int64_t s = 0; s < of.all; s++) {
		int64_t at[HEDDLE_MAX_DIM] = {0};
		take_sample(&of, s, number);
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
	if (!take_guard(c, stmt, &t.guard))
		t.guard.n = t.guard.n_multiple = 0;
	t.to = parents_of(stmt, d, &t.guard);
	for (int k = 0; k < t.to.n; k++) {
		const count_ends box = count_box(c, stmt, t.to.dim[k]);
		const int64_t size = stmt->dim[t.to.dim[k]].layout.tile,
			      tiles = (box.upper - box.lower + size - 1) / size;
		t.tiles.positions[k] = known && known[t.to.dim[k]] ? choose_least(1, tiles) : tiles;
	}
	t.tiles.n = t.to.n;
	begin_sampling(&t.tiles, most_samples[t.tiles.n]);
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
		n = times(n, range[p].upper - range[p].lower);
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
	take_sample(&t->tiles, s, number);
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

/* ---- guards -------------------------------------------------------------------------------------------------------------- */

/* Dimensions that conjuncts tie together, and those conjuncts. */
typedef struct component {
	bool in[HEDDLE_MAX_DIM], mine[MOST_CONJUNCTS];
} component;

static component component_of(const heddle_stmt *stmt, const conjuncts *all, int first)
{
	component x = {{0}, {0}};
	x.in[first] = true;
	for (bool grows = true; grows;) {
		grows = false;
		for (int k = 0; k < all->n; k++)
			for (int d = 0; d < stmt->n_dim && !x.mine[k]; d++)
				x.mine[k] = x.in[d] && all->of[k].coefficient[d];
		for (int k = 0; k < all->n; k++)
			for (int d = 0; d < stmt->n_dim; d++)
				if (x.mine[k] && all->of[k].coefficient[d] && !x.in[d])
					x.in[d] = grows = true;
	}
	return x;
}

/* Groups of `group` values along dimension d, of n in its box, for all of which the component's conjuncts hold, with the others as they are. */
static int64_t solved(const conjuncts *all, const component *x, int d, count_ends box, const int64_t *at, int64_t group, int64_t n)
{
	int64_t first = 0, last = n - 1;
	for (int k = 0; k < all->n; k++) {
		const linear *l = &all->of[k];
		const int64_t factor = l->coefficient[d];
		int64_t rest = l->constant + factor * box.lower;
		if (!x->mine[k])
			continue;
		for (int o = 0; o < HEDDLE_MAX_DIM; o++)
			rest += o == d ? 0 : l->coefficient[o] * at[o];
		if (factor > 0 && -affine_floor_div(rest, factor * group) > first)
			first = -affine_floor_div(rest, factor * group);
		else if (factor < 0)
			last = choose_least(last, affine_floor_div(rest, -factor * group));
		else if (factor == 0 && rest < 0)
			return 0;
	}
	return last < first ? 0 : last - first + 1;
}

/* The share of the component's values that are in whole groups for all values of which its conjuncts hold; `any`: in groups for some value of
 * which they do, each by itself, and so it is along dimensions whose group is negative. */
static double share_of(const counter *c, const heddle_stmt *stmt, const conjuncts *given, const component *x, const int64_t *group, bool any)
{
	conjuncts all = *given;
	count_ends box[HEDDLE_MAX_DIM];
	int dim[HEDDLE_MAX_DIM], n = 0, longest = -1;
	int64_t groups[HEDDLE_MAX_DIM], rows = 1, step = 1, taken = 0, found = 0;
	double values = 1; /* of all groups, for one that there is: the last one of a dimension may have fewer */
	for (int d = 0; d < stmt->n_dim; d++) {
		const int64_t size = x->in[d] && group ? llabs(group[d]) : 1;
		const bool some = any || (group && group[d] < 0);
		box[d] = x->in[d] ? count_box(c, stmt, d) : (count_ends){0, 1};
		groups[d] = (box[d].upper - box[d].lower + size - 1) / size;
		if (groups[d] < 1)
			return 0;
		values *= (double)(groups[d] * size) / (double)(box[d].upper - box[d].lower);
		if (x->in[d] && (longest < 0 || groups[d] > groups[longest]))
			longest = d;
		/* the worst, or the best, of a group's values, as that of its first one */
		for (int k = 0; k < all.n; k++) {
			const int64_t last = all.of[k].coefficient[d] * (size - 1);
			all.of[k].constant += (last < 0) == some ? 0 : last;
		}
	}
	for (int d = 0; d < stmt->n_dim; d++)
		if (x->in[d] && d != longest) {
			dim[n++] = d;
			rows = times(rows, groups[d]);
		}
	while (rows / step > MOST_ROWS) /* odd: most lengths are even, and samples are to take all of their values */
		step = 2 * step + 1;
	for (int64_t row = step / 2; row < rows; row += step, taken++) {
		int64_t rest = row, at[HEDDLE_MAX_DIM] = {0};
		bool whole = true;
		for (int k = 0; k < n; k++) {
			const int64_t size = group ? llabs(group[dim[k]]) : 1, number = rest % groups[dim[k]];
			at[dim[k]] = box[dim[k]].lower + number * size;
			whole = whole && (any || (group && group[dim[k]] < 0) || at[dim[k]] + size <= box[dim[k]].upper);
			rest /= groups[dim[k]];
		}
		const int64_t size = group ? llabs(group[longest]) : 1;
		const bool some = any || (group && group[longest] < 0);
		if (whole)
			found += solved(&all, x, longest, box[longest], at, size, some ? groups[longest] : (box[longest].upper - box[longest].lower) / size);
	}
	return (any ? 1 : values) * (double)found / ((double)taken * (double)groups[longest]);
}

/* Conditions that all have to hold, or not to. */
typedef struct conditions {
	int n;
	const heddle_expr *of[MOST_CONJUNCTS];
	bool holds[MOST_CONJUNCTS];
} conditions;

/* Do all of them do as they should?  -1: data decide. */
static int all_hold(const counter *c, const conditions *asked, const int64_t *at)
{
	bool all = true;
	for (int k = 0; k < asked->n; k++) {
		int64_t holds = 0;
		if (heddle_expr_evaluate_at(asked->of[k], c->size, at, &holds) < 0)
			return -1;
		all = all && (holds != 0) == asked->holds[k];
	}
	return all;
}

/* Vectors along a dimension. */
typedef struct vectors {
	int dim;
	int64_t members;
} vectors;

/* Share of the instances where they do, by asking for each; where `of` is given, of those in vectors in all of whose members they do.  -1: data
 * decide. */
static double asked_share(const counter *c, const heddle_stmt *stmt, const conditions *asked, const vectors *of)
{
	count_ends box[HEDDLE_MAX_DIM];
	int dim[HEDDLE_MAX_DIM];
	sampling values = {.n = 0};
	int64_t found = 0;
	for (int d = 0; d < stmt->n_dim; d++) {
		bool within = false;
		for (int k = 0; k < asked->n; k++)
			within = within || choose_mentions(asked->of[k], d);
		box[d] = within ? count_box(c, stmt, d) : (count_ends){0, 1};
		dim[values.n] = d;
		values.positions[values.n] = box[d].upper - box[d].lower;
		values.n += within;
	}
	begin_sampling(&values, MOST_ROWS);
	for (int64_t v = 0; v < values.all; v++) {
		int64_t number[HEDDLE_MAX_DIM], at[HEDDLE_MAX_DIM] = {0};
		bool all = true;
		take_sample(&values, v, number);
		for (int k = 0; k < values.n; k++)
			at[dim[k]] = box[dim[k]].lower + number[k];
		const int64_t first = of ? at[of->dim] - (at[of->dim] - box[of->dim].lower) % of->members : 0;
		for (int64_t k = 0; k < (of ? of->members : 1) && all; k++) {
			if (of)
				at[of->dim] = first + k;
			const int holds = all_hold(c, asked, at);
			if (holds < 0)
				return -1;
			all = holds;
		}
		found += all;
	}
	return values.all > 0 ? (double)found / (double)values.all : 0;
}

/* The same, by values where no group is one that the statement has: then its conjuncts bound loops over tiles. */
static double share_in_groups(const counter *c, const heddle_stmt *stmt, const conjuncts *all, const component *x, const int64_t *group, bool any)
{
	bool grouped = false;
	for (int o = 0; o < stmt->n_dim; o++)
		grouped = grouped || (group && x->in[o] && llabs(group[o]) > 1 && (!stmt->dim[o].reduction || stmt->dim[o].layout.tile > 1));
	return share_of(c, stmt, all, x, grouped ? group : NULL, any);
}

/* The product of the components' shares; `members`: only of those that kernels share out to blocks. */
static double shares_of(const counter *c, const heddle_stmt *stmt, const conjuncts *all, const int64_t *group, bool any, bool members)
{
	bool done[HEDDLE_MAX_DIM] = {0};
	double share = 1;
	for (int k = 0; k < all->n; k++)
		for (int d = 0; d < stmt->n_dim; d++) {
			if (!all->of[k].coefficient[d] || done[d])
				continue;
			const component x = component_of(stmt, all, d);
			bool asked = true;
			for (int o = 0; o < stmt->n_dim; o++) {
				done[o] = done[o] || x.in[o];
				asked = asked && (!members || !x.in[o] || stmt->dim[o].member >= 0);
			}
			share *= asked ? share_in_groups(c, stmt, all, &x, group, any) : 1;
		}
	return share;
}

double count_guarded(const counter *c, const heddle_stmt *stmt, const int64_t *group)
{
	bool otherwise = false;
	const heddle_expr *guard = guard_of(stmt, &otherwise);
	conjuncts all = {0};
	if (!guard)
		return 1;
	if (!take_conjuncts(c, guard, &all) || all.n_multiple)
		return group ? 0 : asked_share(c, stmt, &(conditions){.n = 1, .of = {guard}, .holds = {!otherwise}}, NULL);
	/* instances where it does not hold are in whole groups where it holds for no value */
	const double share = shares_of(c, stmt, &all, group, otherwise, false);
	return otherwise ? 1 - share : share;
}

/* How a guard's conjuncts have a box: they hold in all of it, or nowhere. */
typedef struct held {
	bool whole, empty;
} held;

static held held_in(const heddle_stmt *stmt, const conjuncts *all, const component *x, const count_ends *range)
{
	held h = {true, false};
	for (int k = 0; k < all->n; k++) {
		int64_t least = all->of[k].constant, most = least;
		for (int d = 0; d < stmt->n_dim && x->mine[k]; d++) {
			const int64_t factor = all->of[k].coefficient[d];
			least += factor * (factor > 0 ? range[d].lower : range[d].upper - 1);
			most += factor * (factor > 0 ? range[d].upper - 1 : range[d].lower);
		}
		h.whole = h.whole && (!x->mine[k] || least >= 0);
		h.empty = h.empty || (x->mine[k] && most < 0);
	}
	return h;
}

/* Number `number` of the boxes into which dimensions are cut, so many values along each; by dimension its range.  Does it lack none of them? */
static bool box_number(const counter *c, const heddle_stmt *stmt, const bool *in, const int64_t *size, int64_t number, count_ends *range)
{
	bool full = true;
	for (int d = 0; d < stmt->n_dim; d++) {
		if (!in[d])
			continue;
		const count_ends box = count_box(c, stmt, d);
		const int64_t n = (box.upper - box.lower + size[d] - 1) / size[d], first = box.lower + number % n * size[d];
		number /= n;
		range[d] = (count_ends){first, choose_least(first + size[d], box.upper)};
		full = full && range[d].upper - first == size[d];
	}
	return full;
}

static double values_in(const heddle_stmt *stmt, const bool *in, const count_ends *range)
{
	double n = 1;
	for (int d = 0; d < stmt->n_dim; d++)
		n *= in[d] ? (double)(range[d].upper - range[d].lower) : 1;
	return n;
}

/* Of a component with reductions: the share of its values in blocks of results that are whole, in which each whole tile of terms is either there
 * for all results or for none; of tiles that have fewer terms than others those that are there for all.  -1: it has none, or too many. */
static double inside_of(const counter *c, const heddle_stmt *stmt, const conjuncts *all, const component *x, const int64_t *block, bool results)
{
	enum { MOST_BOXES = 256 };
	count_ends range[HEDDLE_MAX_DIM] = {{0, 0}};
	int64_t size[HEDDLE_MAX_DIM], blocks = 1, steps = 1;
	bool result[HEDDLE_MAX_DIM] = {0}, term[HEDDLE_MAX_DIM] = {0}, any = false, open = false;
	double total = 1, found = 0;
	for (int d = 0; d < stmt->n_dim; d++) {
		const count_ends box = count_box(c, stmt, d);
		const int64_t extent = box.upper - box.lower;
		if (!x->in[d])
			continue;
		if (extent < 1)
			return -1;
		*(stmt->dim[d].reduction ? &term[d] : &result[d]) = true;
		any = any || term[d];
		open = open || (term[d] && !heddle_fixed_extent(stmt->source->index[d]->upper));
		size[d] = term[d] ? choose_least(stmt->dim[d].layout.tile, extent) : block[d];
		*(term[d] ? &steps : &blocks) *= (extent + size[d] - 1) / size[d];
		total *= results && term[d] ? 1 : (double)extent;
		if (steps > MOST_BOXES || blocks > MOST_BOXES)
			return -1;
	}
	for (int64_t b = 0; b < blocks && any; b++) {
		bool inside = box_number(c, stmt, result, size, b, range);
		double values = 0;
		for (int64_t s = 0; s < steps && inside; s++) {
			const bool full = box_number(c, stmt, term, size, s, range);
			const held h = held_in(stmt, all, x, range);
			inside = h.whole || h.empty || (!full && open);
			values += h.whole && !results ? values_in(stmt, x->in, range) : 0;
		}
		found += inside ? (results ? values_in(stmt, result, range) : values) : 0;
	}
	return any ? found / total : -1;
}

double count_inside(const counter *c, const heddle_stmt *stmt, const int64_t *block, bool results)
{
	bool done[HEDDLE_MAX_DIM] = {0};
	conjuncts all = {0};
	double share = 1;
	if (!take_guard(c, stmt, &all) || all.n_multiple)
		return count_guarded(c, stmt, block);
	for (int k = 0; k < all.n; k++)
		for (int d = 0; d < stmt->n_dim; d++) {
			if (!all.of[k].coefficient[d] || done[d])
				continue;
			const component x = component_of(stmt, &all, d);
			const double inside = inside_of(c, stmt, &all, &x, block, results);
			for (int o = 0; o < stmt->n_dim; o++)
				done[o] = done[o] || x.in[o];
			share *= inside >= 0 ? inside : share_in_groups(c, stmt, &all, &x, block, false);
		}
	return share;
}

/* An end, of which both are asked where it is the least, or the most, of two.  An end that does not move is that of the box. */
static bool take_end(const counter *c, const heddle_expr *end, const heddle_expr *own, bool upper, conjuncts *all)
{
	int64_t known;
	if (heddle_expr_evaluate(end, c->size, &known) >= 0)
		return true;
	if (end->kind == HEDDLE_EXPR_BINARY && end->op == (upper ? HEDDLE_OP_MIN : HEDDLE_OP_MAX))
		return take_end(c, end->arg[0], own, upper, all) && take_end(c, end->arg[1], own, upper, all);
	return upper ? add_conjunct(c, all, end, own, 1) : add_conjunct(c, all, own, end, 0);
}

/* The ends of dimension d, those that move, as what a guard would ask for; false: they are something else. */
static bool take_ends(const counter *c, const heddle_stmt *stmt, int d, conjuncts *all)
{
	heddle_index *index = stmt->source->index[d];
	const heddle_expr own = {.kind = HEDDLE_EXPR_INDEX, .index = index};
	return take_end(c, index->upper, &own, true, all) && (!index->lower || take_end(c, index->lower, &own, false, all));
}

double count_whole(const counter *c, const heddle_stmt *stmt, int d, const int64_t *group)
{
	int64_t one[HEDDLE_MAX_DIM];
	conjuncts all = {0};
	for (int o = 0; o < stmt->n_dim; o++)
		one[o] = 1;
	if (!take_ends(c, stmt, d, &all))
		return -1;
	const double some = shares_of(c, stmt, &all, one, false, false);
	return some > 0 ? shares_of(c, stmt, &all, group, false, false) / some : 1;
}

double count_begun(const counter *c, const heddle_stmt *stmt, int d, const int64_t *group)
{
	conjuncts all = {0};
	return take_ends(c, stmt, d, &all) ? shares_of(c, stmt, &all, group, true, false) : -1;
}

int count_ends_earlier(const counter *c, const heddle_stmt *stmt, int d)
{
	conjuncts all = {0};
	int by = -1;
	if (!take_ends(c, stmt, d, &all) || all.n_multiple)
		return -1;
	for (int k = 0; k < all.n; k++)
		for (int o = 0; o < stmt->n_dim; o++) {
			const int64_t factor = o == d ? 0 : all.of[k].coefficient[o];
			if (factor > 0 || (factor && (all.of[k].coefficient[d] > 0 || (by >= 0 && by != o))))
				return -1;
			by = factor ? o : by;
		}
	return by;
}

double count_busy(const counter *c, const heddle_stmt *stmt)
{
	int64_t tile[HEDDLE_MAX_DIM];
	conjuncts all = {0};
	if (!take_guard(c, stmt, &all))
		return 1;
	for (int d = 0; d < stmt->n_dim; d++)
		tile[d] = stmt->dim[d].layout.tile;
	return shares_of(c, stmt, &all, tile, true, true); /* rounds of a loop are counted where it is */
}

double count_any(const counter *c, const heddle_stmt *stmt, const int64_t *group)
{
	conjuncts all = {0};
	return take_guard(c, stmt, &all) && !all.n_multiple ? shares_of(c, stmt, &all, group, true, false) : 1;
}

int count_guard_begins(const counter *c, const heddle_stmt *stmt, int d)
{
	conjuncts all = {0};
	int terms = -1;
	if (!take_guard(c, stmt, &all) || all.n_multiple)
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

/* Blocks of what a guard ties together, for some sizes. */
typedef struct guarded_blocks {
	counter c;
	int64_t all, lower[HEDDLE_MAX_DIM], upper[HEDDLE_MAX_DIM], tiles[HEDDLE_MAX_DIM];
} guarded_blocks;

static guarded_blocks blocks_of(const counter *c, const heddle_stmt *stmt, const int64_t *size)
{
	guarded_blocks b = {.c = *c, .all = 1};
	b.c.size = size;
	for (int d = 0; d < stmt->n_dim; d++) {
		const count_ends box = count_box(&b.c, stmt, d);
		const int64_t tile = stmt->dim[d].layout.tile;
		b.lower[d] = box.lower;
		b.upper[d] = box.upper;
		b.tiles[d] = count_guards(stmt, d) && !stmt->dim[d].reduction ? (box.upper - box.lower + tile - 1) / tile : 1;
		b.all = times(b.all, b.tiles[d] > 0 ? b.tiles[d] : 0);
	}
	return b;
}

/* What a place in the text reads in all of them, as one number: what holds in the same blocks is one branch, in which the same elements are read once.
 * `*there`: so many in which its guard holds.  false: data decide. */
static bool sign_place(const guarded_blocks *b, const movement *m, const heddle_expr *guard, const int64_t *value, uint64_t *sign, double *there)
{
	const heddle_stmt *stmt = m->shape->stmt;
	for (int64_t number = 0; number < b->all; number++) {
		int64_t at[HEDDLE_MAX_DIM] = {0}, rest = number, holds = 1;
		for (int d = 0; d < stmt->n_dim; d++) {
			if (value[d] < 0) /* the guard does not mention it */
				continue;
			at[d] = b->lower[d] + rest % b->tiles[d] * stmt->dim[d].layout.tile + value[d];
			rest /= b->tiles[d];
			holds = holds && at[d] < b->upper[d];
		}
		if (holds && heddle_expr_evaluate_at(guard, b->c.size, at, &holds) < 0)
			return false;
		*there += holds != 0;
		for (int e = 0; e <= m->tensor->rank; e++) {
			int64_t index = 0;
			if (e < m->tensor->rank && holds && heddle_expr_evaluate_at(count_subscript(stmt, m->access, e), b->c.size, at, &index) < 0)
				return false;
			*sign = (*sign ^ (uint64_t)(e < m->tensor->rank ? index : holds)) * UINT64_C(0x100000001b3);
		}
	}
	return true;
}

double count_branches(const counter *c, const movement *m)
{
	enum { MOST_PLACES_SIGNED = 64, MOST_SIGNED = 4096, MORE_SIZES = 8 }; /* conditions that hold in the same blocks may not do so of more */
	const shape *s = m->shape;
	const heddle_stmt *stmt = s->stmt;
	const int n_size = c->scop->definition->n_size;
	bool otherwise = false;
	const heddle_expr *guard = guard_of(stmt, &otherwise);
	conjuncts all = {0};
	int64_t places = 1;
	double others = 1, reads = 0;
	uint64_t seen[MOST_PLACES_SIGNED];
	guarded_blocks blocks[MORE_SIZES];
	int found = 0;
	if (c->kernel->threads > 1 || m->tile || !m->access || !stmt->reduction || !guard || otherwise || !take_conjuncts(c, guard, &all) || !all.n_multiple)
		return -1;
	for (int d = 0; d < stmt->n_dim; d++) {
		const heddle_layout *layout = &stmt->dim[d].layout;
		const int64_t extent = s->d[d].extent;
		const bool loop = !s->d[d].unrolled && layout->items > 1, copies = layout->tile > 1 && !loop;
		if (count_moves(stmt, d) || layout->rounds > 1 || extent < 1)
			return -1;
		if (count_guards(stmt, d)) {
			if (loop || s->d[d].parts > 1 || (stmt->dim[d].reduction ? extent > layout->tile || !copies : stmt->dim[d].member < 0))
				return -1;
			places = times(places, stmt->dim[d].reduction ? extent : layout->tile);
		} else {
			if (layout->vector > 1 || (copies && (stmt->dim[d].reduction || (extent % layout->tile && !count_depends(m, d)))))
				return -1;
			others *= copies && !count_depends(m, d) ? (double)(extent / layout->tile) : (double)extent;
		}
	}
	if (places > MOST_PLACES_SIGNED)
		return -1;
	int64_t *size = HEDDLE_NEW_ARRAY(c->arena, int64_t, MORE_SIZES * n_size + 1);
	for (int more = 0; more < MORE_SIZES; more++) {
		for (int k = 0; k < n_size; k++)
			size[more * n_size + k] = c->size[k] + more;
		blocks[more] = blocks_of(c, stmt, size + more * n_size);
		if (times(places, blocks[more].all) > MOST_SIGNED)
			return -1;
	}
	for (int64_t p = 0; p < places; p++) {
		int64_t value[HEDDLE_MAX_DIM], rest = p;
		uint64_t sign = UINT64_C(0xcbf29ce484222325);
		double there = 0, of_more = 0;
		bool known = false;
		for (int d = 0; d < stmt->n_dim; d++) {
			const int64_t n = stmt->dim[d].reduction ? s->d[d].extent : stmt->dim[d].layout.tile;
			value[d] = count_guards(stmt, d) ? rest % n : -1;
			rest = count_guards(stmt, d) ? rest / n : rest;
		}
		for (int more = 0; more < MORE_SIZES; more++)
			if (!sign_place(&blocks[more], m, guard, value, &sign, more ? &of_more : &there))
				return -1;
		for (int k = 0; k < found; k++)
			known = known || seen[k] == sign;
		if (known)
			continue;
		reads += there;
		seen[found++] = sign;
	}
	return reads * others;
}

bool count_guard_parts(const counter *c, const heddle_stmt *stmt, int d)
{
	bool otherwise = false, parts = false;
	const heddle_expr *guard = guard_of(stmt, &otherwise);
	conjuncts all = {0};
	if (!guard || !take_conjuncts(c, guard, &all) || all.n_multiple || (otherwise && all.n > 1))
		return false;
	for (int k = 0; k < all.n; k++)
		parts = parts || all.of[k].coefficient[d];
	return parts;
}

bool count_guards(const heddle_stmt *stmt, int d)
{
	bool otherwise = false;
	const heddle_expr *guard = guard_of(stmt, &otherwise);
	return guard && choose_mentions(guard, d);
}

int count_guard_beside(const heddle_stmt *stmt, int d)
{
	bool otherwise = false;
	const heddle_expr *guard = guard_of(stmt, &otherwise);
	if (!guard || otherwise || guard->kind != HEDDLE_EXPR_BINARY || (guard->op != HEDDLE_OP_LE && guard->op != HEDDLE_OP_GE) ||
	    guard->arg[0]->kind != HEDDLE_EXPR_INDEX || guard->arg[1]->kind != HEDDLE_EXPR_INDEX)
		return -1;
	const int a = guard->arg[0]->index->position, b = guard->arg[1]->index->position;
	return a == d ? b : b == d ? a : -1;
}

bool count_guard_rises(const counter *c, const heddle_stmt *stmt, int d)
{
	conjuncts all = {0};
	return take_guard(c, stmt, &all) && all.n == 1 && all.of[0].coefficient[d] > 0;
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

/* Adds the shares of the instances at which it is read in the value, which is computed under these conditions; false: data decide. */
static bool add_reads(const counter *c, const heddle_stmt *stmt, const heddle_expr *read, const heddle_expr *value, conditions *under,
		      const vectors *of, double *sum)
{
	if (value->kind == HEDDLE_EXPR_READ && heddle_expr_equal(read, value)) {
		const double share = asked_share(c, stmt, under, of);
		*sum += share;
		return share >= 0;
	}
	for (int i = 0; i < value->n_arg; i++) {
		const bool decided = value->kind == HEDDLE_EXPR_SELECT && i > 0;
		if (decided && under->n == MOST_CONJUNCTS)
			return false;
		if (decided) {
			under->of[under->n] = value->arg[0];
			under->holds[under->n++] = i == 1;
		}
		const bool known = add_reads(c, stmt, read, value->arg[i], under, of, sum);
		under->n -= decided;
		if (!known)
			return false;
	}
	return true;
}

double count_read_share(const counter *c, const heddle_stmt *stmt, const heddle_expr *read)
{
	conditions under = {.n = 0};
	double sum = 0;
	return is_read_anyway(read, stmt->value) ? 1 : add_reads(c, stmt, read, stmt->value, &under, NULL, &sum) ? sum : -1;
}

double count_read_vectors(const counter *c, const heddle_stmt *stmt, const heddle_expr *read, int d, int64_t members)
{
	const vectors of = {d, members};
	conditions under = {.n = 0};
	double sum = 0;
	return is_read_anyway(read, stmt->value) ? 1 : add_reads(c, stmt, read, stmt->value, &under, &of, &sum) ? sum : -1;
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
