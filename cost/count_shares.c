/* Shares of the instances that guards, moving ends and conditions leave: by going over values of the dimensions that they depend on, of long ones over
 * samples; the longest dimension of a guard is solved for.
 * SPDX-License-Identifier: MIT
 */
#include "cost/count_conditions.h"

#include "frontend/affine.h"

#include <stdlib.h>

enum { MOST_ROWS = 4096 };

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
			rows = count_times(rows, groups[d]);
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
	count_begin_sampling(&values, MOST_ROWS);
	for (int64_t v = 0; v < values.all; v++) {
		int64_t number[HEDDLE_MAX_DIM], at[HEDDLE_MAX_DIM] = {0};
		bool all = true;
		count_take_sample(&values, v, number);
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
	const heddle_expr *guard = count_guard_of(stmt, &otherwise);
	conjuncts all = {0};
	if (!guard)
		return 1;
	if (!count_take_conjuncts(c, guard, &all) || all.n_multiple)
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
	if (!count_take_guard(c, stmt, &all) || all.n_multiple)
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
	return upper ? count_add_conjunct(c, all, end, own, 1) : count_add_conjunct(c, all, own, end, 0);
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
	if (!count_take_guard(c, stmt, &all))
		return 1;
	for (int d = 0; d < stmt->n_dim; d++)
		tile[d] = stmt->dim[d].layout.tile;
	return shares_of(c, stmt, &all, tile, true, true); /* rounds of a loop are counted where it is */
}

double count_any(const counter *c, const heddle_stmt *stmt, const int64_t *group)
{
	conjuncts all = {0};
	return count_take_guard(c, stmt, &all) && !all.n_multiple ? shares_of(c, stmt, &all, group, true, false) : 1;
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
	return count_is_read_anyway(stmt, read) ? 1 : add_reads(c, stmt, read, stmt->value, &under, NULL, &sum) ? sum : -1;
}

double count_read_vectors(const counter *c, const heddle_stmt *stmt, const heddle_expr *read, int d, int64_t members)
{
	const vectors of = {d, members};
	conditions under = {.n = 0};
	double sum = 0;
	return count_is_read_anyway(stmt, read) ? 1 : add_reads(c, stmt, read, stmt->value, &under, &of, &sum) ? sum : -1;
}
