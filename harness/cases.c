/* Test cases: picking sizes around tiles.  What inputs contain is in contents.c.
 * SPDX-License-Identifier: MIT
 */
#include "harness/cases.h"

#include "harness/reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- pragmas ----------------------------------------------------------------------------------------------------------------- */

const heddle_pragma *heddle_pragma_next(const heddle_module *module, const heddle_definition *definition, const char *key,
					int *at)
{
	for (; module && *at < module->n_pragma; ++*at) {
		const heddle_pragma *p = &module->pragma[*at];
		if (!strcmp(p->key, key) && p->definition >= 0 && p->definition < module->n_definition &&
		    module->definition[p->definition] == definition) {
			++*at;
			return p;
		}
	}
	return NULL;
}

/* ---- sizes ------------------------------------------------------------------------------------------------------------------- */

/* An index to be given certain extents through one size symbol. */
typedef struct dimension {
	const heddle_index *index;
	int64_t tile;
	int64_t rounds; /* how many tiles a block goes over, one after another */
	int size; /* position of the symbol that moves its extent */
	int64_t target;
} dimension;

typedef struct picker {
	heddle_arena *arena;
	const heddle_definition *definition;
	const heddle_case_options *options;
	int n_dimension;
	dimension *dimension;
	heddle_case_list *list;
	int64_t pad; /* elements that strides leave free */
} picker;

static const heddle_size *first_size(const heddle_expr *x)
{
	if (x->kind == HEDDLE_EXPR_SIZE)
		return x->size;
	if (x->kind == HEDDLE_EXPR_INDEX && x->index && x->index->upper) /* j in 0:i+1 ends where i does */
		return first_size(x->index->upper);
	for (int k = 0; k < x->n_arg; ++k) {
		const heddle_size *s = first_size(x->arg[k]);
		if (s)
			return s;
	}
	return NULL;
}

static bool mentions_size(const heddle_expr *x, const heddle_size *size)
{
	bool found = x->kind == HEDDLE_EXPR_SIZE && x->size == size;
	for (int k = 0; k < x->n_arg && !found; ++k)
		found = mentions_size(x->arg[k], size);
	return found;
}

/* The one with the largest tile. */
static heddle_tile_hint hint_of(const heddle_case_options *options, const char *name)
{
	heddle_tile_hint hint = {name, 0, 1};
	for (int k = 0; k < options->n_tile; ++k)
		if (!strcmp(options->tile[k].index, name) && options->tile[k].tile > hint.tile)
			hint = options->tile[k];
	return hint;
}

/* Tensors that are filled with zeros first are gone through along their own dimensions, in tiles of their own. */
static void find_filled(picker *p)
{
	const heddle_definition *d = p->definition;
	for (int t = 0; t < d->n_tensor; ++t)
		for (int e = 0; e < d->tensor[t]->rank && d->tensor[t]->zero_fill; ++e) {
			const heddle_tile_hint hint = hint_of(p->options, heddle_arena_printf(p->arena, "z%d", e));
			for (int j = 0; j < p->n_dimension; ++j)
				if (mentions_size(d->tensor[t]->extent[e], d->size[p->dimension[j].size]) && hint.tile > p->dimension[j].tile) {
					p->dimension[j].tile = hint.tile;
					p->dimension[j].rounds = hint.rounds > 1 ? hint.rounds : 1;
				}
		}
}

static bool mentions_index(const heddle_expr *x, const heddle_index *index)
{
	bool found = x->kind == HEDDLE_EXPR_INDEX && x->index == index;
	for (int k = 0; k < x->n_arg && !found; ++k)
		found = mentions_index(x->arg[k], index);
	return found;
}

static bool is_own_index(const heddle_definition *d, const char *name)
{
	for (int s = 0; s < d->n_statement; ++s)
		for (int k = 0; k < d->statement[s]->n_index; ++k)
			if (!strcmp(d->statement[s]->index[k]->name, name))
				return true;
	return false;
}

/* Left-hand subscripts that are sums, y(2 * u + k), are gone through by indices of the compiler's own (model/gather.c), whose tiles count
 * for the indices of the sum. */
static void find_solved(picker *p)
{
	const heddle_definition *d = p->definition;
	heddle_tile_hint hint = {0};
	for (int k = 0; k < p->options->n_tile; ++k)
		if (!is_own_index(d, p->options->tile[k].index) && p->options->tile[k].tile > hint.tile)
			hint = p->options->tile[k];
	for (int s = 0; s < d->n_statement; ++s)
		for (int e = 0; e < d->statement[s]->n_lhs; ++e)
			for (int j = 0; j < p->n_dimension; ++j) {
				dimension *x = &p->dimension[j];
				const heddle_expr *subscript = d->statement[s]->lhs[e];
				if (subscript->kind == HEDDLE_EXPR_INDEX || !mentions_index(subscript, x->index) || hint.tile <= x->tile)
					continue;
				x->tile = hint.tile;
				x->rounds = hint.rounds > 1 ? hint.rounds : 1;
			}
}

/* Every index whose range ends with a size symbol, one per symbol: the first one with the largest tile; rounds as for the largest block. */
static void find_dimensions(picker *p)
{
	const heddle_definition *d = p->definition;
	for (int s = 0; s < d->n_statement; ++s)
		for (int k = 0; k < d->statement[s]->n_index; ++k) {
			const heddle_index *index = d->statement[s]->index[k];
			const heddle_size *size = first_size(index->upper);
			if (!size || size->min == size->max)
				continue;
			const heddle_tile_hint hint = hint_of(p->options, index->name);
			const int64_t rounds = hint.rounds > 1 ? hint.rounds : 1;
			dimension *found = NULL;
			for (int j = 0; j < p->n_dimension; ++j)
				if (p->dimension[j].size == size->position)
					found = &p->dimension[j];
			if (!found) {
				dimension new = {index, hint.tile, rounds, size->position, 0};
				HEDDLE_PUSH(p->arena, p->dimension, p->n_dimension, new);
				continue;
			}
			const int64_t block = hint.tile * rounds, before = found->tile * found->rounds;
			if (hint.tile > found->tile) {
				found->index = index;
				found->tile = hint.tile;
			}
			if (found->tile)
				found->rounds = ((block > before ? block : before) + found->tile - 1) / found->tile;
		}
	find_filled(p);
	find_solved(p);
}

/* The nearest allowed value of a size. */
static int64_t allowed(const heddle_size *size, int64_t value)
{
	int64_t divisor = size->divisor > 1 ? size->divisor : 1;
	if (value < size->min)
		value = size->min;
	value = (value + divisor - 1) / divisor * divisor;
	if (value > size->max)
		value = size->max / divisor * divisor;
	return value < size->min ? size->min : value;
}

static bool precondition_holds(const heddle_expr *x, const int64_t *size)
{
	int64_t low, high;
	/* Comparisons over sizes: decided by the hull of their sides' difference, which is a point. */
	if (x->kind == HEDDLE_EXPR_BINARY && (x->op == HEDDLE_OP_AND || x->op == HEDDLE_OP_OR)) {
		bool a = precondition_holds(x->arg[0], size), b = precondition_holds(x->arg[1], size);
		return x->op == HEDDLE_OP_AND ? a && b : a || b;
	}
	if (x->kind != HEDDLE_EXPR_BINARY || x->op < HEDDLE_OP_LT || x->op > HEDDLE_OP_NE)
		return true; /* with reads: checked where they are used */
	int64_t bl, bh;
	if (heddle_expr_hull(x->arg[0], size, &low, &high) < 0 || heddle_expr_hull(x->arg[1], size, &bl, &bh) < 0)
		return true;
	switch (x->op) {
	case HEDDLE_OP_LT:
		return low < bl;
	case HEDDLE_OP_LE:
		return low <= bl;
	case HEDDLE_OP_GT:
		return low > bl;
	case HEDDLE_OP_GE:
		return low >= bl;
	case HEDDLE_OP_EQ:
		return low == bl;
	default:
		return low != bl;
	}
}

static bool sizes_fit(const heddle_definition *d, const int64_t *size)
{
	int64_t shape[HEDDLE_MAX_RANK];
	for (int k = 0; k < d->n_size; ++k)
		if (size[k] < d->size[k]->min || size[k] > d->size[k]->max ||
		    (d->size[k]->divisor > 1 && size[k] % d->size[k]->divisor))
			return false;
	for (int k = 0; k < d->n_tensor; ++k)
		if (d->tensor[k]->rank > HEDDLE_MAX_RANK || heddle_tensor_shape(d->tensor[k], size, shape) < 0)
			return false;
	for (int k = 0; k < d->n_precondition; ++k)
		if (!precondition_holds(d->precondition[k], size))
			return false;
	return true;
}

const char *heddle_case_name(heddle_arena *arena, const heddle_definition *d, const int64_t *size)
{
	heddle_text text = {0};
	for (int k = 0; k < d->n_size; ++k)
		heddle_text_printf(&text, "%s%s=%lld", k ? " " : "", d->size[k]->name, (long long)size[k]);
	const char *name = heddle_arena_strdup(arena, heddle_text_str(&text));
	heddle_text_free(&text);
	return name;
}

static bool is_taken(const picker *p, const int64_t *size)
{
	return !p->options->takes || p->options->takes(p->options->user, size);
}

/* Sizes of our own that leave a gather nothing to read (rows of a table without columns) are passed over. */
static void add_case(picker *p, const int64_t *size, bool given)
{
	const size_t bytes = sizeof(int64_t) * (size_t)p->definition->n_size;
	if ((!given && !heddle_case_gathers_fit(p->definition, size)) || !is_taken(p, size))
		return;
	for (int k = 0; k < p->list->n; ++k)
		if (!memcmp(p->list->item[k].size, size, bytes))
			return;
	heddle_case new = {.name = heddle_case_name(p->arena, p->definition, size), .size = heddle_arena_alloc(p->arena, bytes),
			   .given = given, .cost = heddle_reference_cost(p->definition, size)};
	memcpy(new.size, size, bytes);
	HEDDLE_PUSH(p->arena, p->list->item, p->list->n, new);
}

/* The size is in no extent and no range: nothing but strides depends on it. */
static bool is_stride_only(const heddle_definition *d, const heddle_size *size)
{
	bool stride = false;
	for (int k = 0; k < d->n_tensor; ++k)
		for (int e = 0; e < d->tensor[k]->rank; ++e) {
			if (mentions_size(d->tensor[k]->extent[e], size))
				return false;
			stride = stride || (d->tensor[k]->stride && d->tensor[k]->stride[e]->kind == HEDDLE_EXPR_SIZE &&
					    d->tensor[k]->stride[e]->size == size);
		}
	for (int s = 0; s < d->n_statement; ++s)
		for (int k = 0; k < d->statement[s]->n_index; ++k)
			if (mentions_size(d->statement[s]->index[k]->lower, size) || mentions_size(d->statement[s]->index[k]->upper, size))
				return false;
	return stride;
}

/* Elements that dimension `e` strides over; 0: not known yet. */
static int64_t reach_of(const heddle_tensor *t, int e, const int64_t *shape, const int64_t *size, const bool *open)
{
	int64_t stride;
	const heddle_expr *x = t->stride[e];
	if ((x->kind == HEDDLE_EXPR_SIZE && open[x->size->position]) || heddle_expr_evaluate(x, size, &stride) < 0)
		return 0;
	return stride * shape[e];
}

/* Strides that have a name of their own stride over the dimensions inside theirs, and over p->pad elements more. */
static void set_strides(const picker *p, int64_t *size)
{
	const heddle_definition *d = p->definition;
	bool *open = HEDDLE_NEW_ARRAY(p->arena, bool, d->n_size + 1);
	for (int k = 0; k < d->n_size; ++k)
		open[k] = d->size[k]->min != d->size[k]->max && is_stride_only(d, d->size[k]);
	for (int k = 0; k < d->n_tensor; ++k) {
		const heddle_tensor *t = d->tensor[k];
		int64_t shape[HEDDLE_MAX_RANK];
		if (!t->stride || t->rank > HEDDLE_MAX_RANK || heddle_tensor_shape(t, size, shape) < 0)
			continue;
		for (int e = t->rank - 1; e >= 0; --e) {
			const heddle_size *own = t->stride[e]->kind == HEDDLE_EXPR_SIZE ? t->stride[e]->size : NULL;
			int64_t least = 1;
			for (int f = 0; f < t->rank; ++f) {
				int64_t reach = f == e ? 0 : reach_of(t, f, shape, size, open);
				least = reach > least ? reach : least;
			}
			if (own && open[own->position]) {
				size[own->position] = allowed(own, least + p->pad);
				open[own->position] = false;
			}
		}
	}
}

/* By how much the extent grows with its size symbol; at least 1. */
static int64_t growth(const dimension *x, int64_t *size, int64_t extent)
{
	enum { STEP = 16 };
	int64_t low, high, slope = 1;
	size[x->size] += STEP;
	if (heddle_index_hull(x->index, size, &low, &high) == 0)
		slope = (high - low + 1 - extent) / STEP;
	size[x->size] -= STEP;
	return slope > 1 ? slope : 1;
}

/* Move the size symbols until each index has its target extent, as far as ranges and divisors allow. */
static void reach_targets(const picker *p, int64_t *size)
{
	/* A step moves by the missing extent; through a stride (i < (W+1)/2) it covers part of the way. */
	bool moved = true;
	for (int round = 0; round < 24 && moved; ++round) {
		moved = false;
		for (int k = 0; k < p->n_dimension; ++k) {
			const dimension *x = &p->dimension[k];
			int64_t low, high;
			if (heddle_index_hull(x->index, size, &low, &high) < 0)
				continue;
			int64_t extent = high - low + 1, missing = x->target - extent;
			/* An extent of 2 * W moves by two at a time: a whole step would pass the target each time. */
			int64_t slope = growth(x, size, extent);
			if (slope > 1)
				missing = missing > 0 ? (missing + slope - 1) / slope : missing / slope;
			int64_t next = allowed(p->definition->size[x->size], size[x->size] + missing);
			moved = moved || next != size[x->size];
			size[x->size] = next;
		}
	}
	set_strides(p, size);
}

/* A precondition e <= S holds for a larger S. */
static void grow_to_bounds(const heddle_definition *d, int64_t *size)
{
	for (int k = 0; k < d->n_precondition; ++k) {
		const heddle_expr *x = d->precondition[k];
		int64_t least;
		if (x->kind != HEDDLE_EXPR_BINARY || x->op != HEDDLE_OP_LE || x->arg[1]->kind != HEDDLE_EXPR_SIZE)
			continue;
		const heddle_size *bound = x->arg[1]->size;
		if (heddle_expr_evaluate(x->arg[0], size, &least) == 0 && least > size[bound->position])
			size[bound->position] = allowed(bound, least);
	}
}

/* Sizes that miss a precondition: grow those that it bounds others by, then each alone, then all, in small steps. */
static bool repair(const picker *p, int64_t *size)
{
	const heddle_definition *d = p->definition;
	if (sizes_fit(d, size))
		return true;
	grow_to_bounds(d, size);
	if (sizes_fit(d, size))
		return true;
	for (int step = 1; step <= 64; ++step) {
		for (int k = 0; k < d->n_size; ++k) {
			int64_t old = size[k];
			size[k] = allowed(d->size[k], old + step);
			if (sizes_fit(d, size))
				return true;
			size[k] = allowed(d->size[k], old - step > 1 ? old - step : 1);
			if (sizes_fit(d, size))
				return true;
			size[k] = old;
		}
		if (step % 4 == 0)
			for (int k = 0; k < d->n_size; ++k)
				size[k] = allowed(d->size[k], size[k] + 1);
	}
	return false;
}

/* Lower the largest targets until a case is affordable. */
static bool cheapen(picker *p, int64_t *size, double limit)
{
	for (int round = 0; round < 200 && heddle_reference_cost(p->definition, size) > limit; ++round) {
		dimension *largest = NULL;
		/* Reductions first: their steps are cheap to shorten, blocks beside blocks are what finds mistakes. */
		for (int k = 0; k < p->n_dimension; ++k)
			if (p->dimension[k].index->reduction && p->dimension[k].target > p->dimension[k].tile + 1)
				largest = &p->dimension[k];
		for (int k = 0; !largest && k < p->n_dimension; ++k)
			if (p->dimension[k].target > 1 && !p->dimension[k].tile)
				largest = &p->dimension[k];
		if (!largest)
			for (int k = 0; k < p->n_dimension; ++k)
				if (!largest || p->dimension[k].target > largest->target)
					largest = &p->dimension[k];
		if (!largest || largest->target <= 1)
			return false;
		p->list->limited = true;
		largest->target = largest->target > largest->tile + 1 ? largest->tile + 1 : (largest->target + 1) / 2;
		reach_targets(p, size);
		if (!repair(p, size))
			return false;
	}
	return heddle_reference_cost(p->definition, size) <= limit;
}

/* The extents of one picked case. */
enum { PICK_TILE, PICK_ABOVE, PICK_BELOW, PICK_TWICE, PICK_MIXED, PICK_MIXED_OTHER, PICK_ONE, PICK_EMPTY, N_PICK };

static int64_t target_of(const dimension *x, int pick, int k)
{
	const int64_t t = x->tile;
	const bool reduction = x->index->reduction;
	if (pick == PICK_ONE)
		return 1;
	if (pick == PICK_EMPTY)
		return reduction ? 0 : 3;
	if (!t) /* not tiled: small and different */
		return 2 + (pick + 2 * k) % 4;
	if (pick == PICK_MIXED)
		pick = k % 2 ? PICK_TILE : PICK_TWICE;
	if (pick == PICK_MIXED_OTHER)
		pick = k % 2 ? PICK_TWICE : PICK_TILE;
	const int64_t block = t * x->rounds;
	switch (pick) {
	case PICK_TILE:
		return reduction ? 3 * t : block;
	case PICK_ABOVE:
		return reduction ? 3 * t + 1 : block + 1;
	case PICK_BELOW:
		return t > 1 ? t - 1 : 1;
	default:
		return reduction ? 4 * t + 3 : 2 * block + 3;
	}
}

/* One index at a time past its tile by each of `parts` parts of it; the others at their tile, or less when that costs too much. */
static void sweep_cases(picker *p, int64_t parts)
{
	const heddle_definition *d = p->definition;
	const double limit = fmin(p->options->cost > 0 ? p->options->cost : 3e6, 3e5);
	int64_t *size = HEDDLE_NEW_ARRAY(p->arena, int64_t, d->n_size);
	for (int k = 0; k < p->n_dimension; ++k) {
		const int64_t t = p->dimension[k].tile;
		const int64_t step = t > parts ? t / parts : 1;
		for (int64_t past = 1, n = 0; past < t; past += step, ++n) {
			for (int j = 0; j < d->n_size; ++j)
				size[j] = allowed(d->size[j], 3);
			for (int j = 0; j < p->n_dimension; ++j)
				p->dimension[j].target = p->dimension[j].tile ? p->dimension[j].tile : 2;
			/* Cheaper by the others alone. */
			for (int round = 0; round < 12; ++round) {
				p->dimension[k].target = t + past + (step > 2 ? n % (step - 1) : 0); /* every rest of a vector */
				reach_targets(p, size);
				if (heddle_reference_cost(d, size) <= limit)
					break;
				for (int j = 0; j < p->n_dimension; ++j)
					if (j != k)
						p->dimension[j].target = (p->dimension[j].target + 1) / 2;
			}
			if (heddle_reference_cost(d, size) <= limit && repair(p, size))
				add_case(p, size, false);
		}
	}
}

/* Cheap ones first; insertion keeps the order of equals. */
static void sort_by_cost(heddle_case_list *list, int first)
{
	for (int k = first + 1; k < list->n; ++k) {
		const heddle_case c = list->item[k];
		int at = k;
		for (; at > first && list->item[at - 1].cost > c.cost; --at)
			list->item[at] = list->item[at - 1];
		list->item[at] = c;
	}
}

/* Sizes of the others that an extent of 2 has made 0, as padding does: at 1 something is computed. */
static void raise_others(const picker *p, int k, int64_t *size)
{
	for (int j = 0; j < p->n_dimension; ++j) {
		const dimension *x = &p->dimension[j];
		if (j != k && x->size != p->dimension[k].size && size[x->size] < 1)
			size[x->size] = allowed(p->definition->size[x->size], 1);
	}
}

/* Index k past its tile by each of `parts` parts of it; index `beside` (-1: none) at its tile, the others at 2, or 1 without one. */
static void sweep_along(picker *p, int k, int parts, int beside)
{
	const heddle_definition *d = p->definition;
	const double limit = fmin(p->options->cost > 0 ? p->options->cost : 3e6, 6e5);
	const int64_t t = p->dimension[k].tile, step = t > parts ? t / parts : 1;
	int64_t *size = HEDDLE_NEW_ARRAY(p->arena, int64_t, d->n_size);
	for (int64_t past = 1, n = 0; past < t; past += step, ++n) {
		for (int j = 0; j < d->n_size; ++j)
			size[j] = allowed(d->size[j], 3);
		for (int j = 0; j < p->n_dimension; ++j)
			p->dimension[j].target = !p->dimension[j].tile ? 1 : j == beside ? p->dimension[j].tile : 2;
		p->dimension[k].target = t + past + (step > 2 ? n % (step - 1) : 0); /* every rest of a vector */
		reach_targets(p, size);
		raise_others(p, k, size);
		if (heddle_reference_cost(d, size) <= limit && repair(p, size))
			add_case(p, size, false);
	}
}

/* What the sweep has passed over: pairs of indices, where a third one made whole tiles too dear, and finer steps. */
static void sweep_pairs(picker *p, int parts)
{
	for (int k = 0; k < p->n_dimension; ++k)
		for (int j = 0; j < p->n_dimension; ++j)
			if (j != k && p->dimension[k].tile > 1 && p->dimension[j].tile > 1)
				sweep_along(p, k, parts, j);
	for (int k = 0; k < p->n_dimension; ++k)
		if (p->dimension[k].tile > 16)
			sweep_along(p, k, 64, -1);
}

/* The greatest sizes with the same extents: strides and padding leave the most room inside. */
static void widen(const picker *p, int64_t *size)
{
	for (int k = 0; k < p->n_dimension; ++k) {
		const dimension *x = &p->dimension[k];
		int64_t low, high, before_low, before_high;
		if (heddle_index_hull(x->index, size, &before_low, &before_high) < 0)
			continue;
		for (int step = 0; step < 8; ++step) {
			const int64_t before = size[x->size];
			size[x->size] = allowed(p->definition->size[x->size], before + 1);
			if (size[x->size] > before && heddle_index_hull(x->index, size, &low, &high) == 0 && low == before_low &&
			    high == before_high)
				continue;
			size[x->size] = before;
			break;
		}
	}
}

/* One or two tiles along each index that is not reduced, in all combinations: blocks that have nothing cut off.  Reductions have `steps`
 * tiles and a rest.  `dear`: tiles with all their rounds, in cases that cost more than the options say. */
static void whole_tiles(picker *p, int steps, bool dear)
{
	const double usual = p->options->cost > 0 ? p->options->cost : 3e6, limit = dear ? 10 * usual : usual;
	enum { MOST_PARALLEL = 8 };
	const heddle_definition *d = p->definition;
	const int first = p->list->n;
	int64_t *size = HEDDLE_NEW_ARRAY(p->arena, int64_t, d->n_size);
	int n_parallel = 0;
	for (int k = 0; k < p->n_dimension; ++k)
		n_parallel += !p->dimension[k].index->reduction;
	for (int choice = 0; choice < 1 << (n_parallel < MOST_PARALLEL ? n_parallel : MOST_PARALLEL); ++choice) {
		for (int k = 0; k < d->n_size; ++k)
			size[k] = allowed(d->size[k], 3);
		for (int k = 0, bit = 0; k < p->n_dimension; ++k) {
			dimension *x = &p->dimension[k];
			const int64_t t = x->tile > 0 ? x->tile * (dear ? x->rounds : 1) : x->index->reduction ? 2 : 1;
			/* With two and a rest padding on both sides leaves the second one whole. */
			const int64_t rest = dear ? t < 64 ? 8 : 24 : t < 16 ? t : 8;
			x->target = x->index->reduction ? steps * t + (t > 1) : choice >> bit++ & 1 ? 2 * t + rest : t;
		}
		reach_targets(p, size);
		widen(p, size);
		if (repair(p, size) && heddle_reference_cost(d, size) <= limit)
			add_case(p, size, false);
	}
	for (int k = first; k < p->list->n; ++k)
		p->list->item[k].dear = dear;
	sort_by_cost(p->list, first);
}

/* Extents that meet all guards in combinations: whole tiles with an edge, edges alone, none. */
static int64_t drawn_target(const dimension *x, uint64_t random, bool dear)
{
	const int64_t t = x->tile * (dear && random >> 60 & 1 ? x->rounds : 1), rest = t > 0 ? (int64_t)(random / 16 % (uint64_t)t) : 0;
	if (!t)
		return 1 + (int64_t)(random % 6);
	switch (random % 12) {
	case 0:
		return 1;
	case 1:
		return t > 1 ? t - 1 : 1;
	case 2:
		return t + 1;
	case 3:
		return 2 * t;
	case 4:
		return 2 * t + 3;
	case 5:
		return 3 * t;
	case 6:
		return x->index->reduction ? 4 * t + 3 : 3 * t - 1;
	case 7:
		return rest + 1;
	case 8:
	case 9:
		return t + rest;
	default:
		return t;
	}
}

/* Sizes that end an index beside the one that is moved, as M does in 0:max(N, M): less than that one, as much, or more. */
static void draw_beside(const picker *p, int64_t *size, uint64_t random)
{
	const heddle_definition *d = p->definition;
	for (int i = 0; i < d->n_size; ++i) {
		const dimension *of = NULL;
		bool moved = false;
		for (int k = 0; k < p->n_dimension; ++k) {
			moved = moved || p->dimension[k].size == i;
			of = mentions_size(p->dimension[k].index->upper, d->size[i]) ? &p->dimension[k] : of;
		}
		if (moved || !of)
			continue;
		const int64_t beside[] = {size[i], size[of->size] / 2, size[of->size], size[of->size] + of->tile + 1};
		size[i] = allowed(d->size[i], beside[random % HEDDLE_COUNT(beside)]);
		random /= HEDDLE_COUNT(beside);
	}
}

static bool ends_with(const heddle_definition *d, const char *index, int size)
{
	for (int s = 0; s < d->n_statement; ++s)
		for (int k = 0; k < d->statement[s]->n_index; ++k) {
			const heddle_size *end = first_size(d->statement[s]->index[k]->upper);
			if (end && end->position == size && !strcmp(d->statement[s]->index[k]->name, index))
				return true;
		}
	return false;
}

/* The dimension with a tile of one of the indices that its size ends, in some kernel. */
static dimension with_some_tile(const picker *p, const dimension *x, uint64_t random)
{
	dimension some = *x;
	uint64_t n = 0;
	for (int k = 0; k < p->options->n_tile; ++k) {
		const heddle_tile_hint *hint = &p->options->tile[k];
		if (!ends_with(p->definition, hint->index, x->size) || random % ++n)
			continue;
		some.tile = hint->tile;
		some.rounds = hint->rounds > 1 ? hint->rounds : 1;
	}
	return some;
}

/* Draws of extents for all indices; those that cost too much are left out, larger ones come later.  `dear`: more of them, which may cost
 * more than the options say. */
static void draw_cases(picker *p, uint64_t n, bool dear)
{
	const heddle_definition *d = p->definition;
	const double usual = p->options->cost > 0 ? p->options->cost : 3e6, limit = dear ? 10 * usual : fmin(usual, 1.5e6);
	int64_t *size = HEDDLE_NEW_ARRAY(p->arena, int64_t, d->n_size);
	const int first = p->list->n;
	for (uint64_t draw = 0; draw < n; ++draw) {
		for (int k = 0; k < d->n_size; ++k)
			size[k] = allowed(d->size[k], 3);
		for (int k = 0; k < p->n_dimension; ++k) {
			const uint64_t random = heddle_random(draw + 1, (uint64_t)k);
			const dimension x = dear ? with_some_tile(p, &p->dimension[k], random >> 32) : p->dimension[k];
			p->dimension[k].target = drawn_target(&x, random, dear);
		}
		reach_targets(p, size);
		if (dear && draw % 2)
			widen(p, size);
		draw_beside(p, size, heddle_random(draw + 1, (uint64_t)p->n_dimension));
		if (repair(p, size) && heddle_reference_cost(d, size) <= limit)
			add_case(p, size, false);
	}
	for (int k = first; k < p->list->n; ++k)
		p->list->item[k].dear = dear;
	sort_by_cost(p->list, first);
}

static void pick_cases(picker *p)
{
	enum { MOST_DIVISOR = 4096 }; /* larger steps would make cases that cost too much */
	const heddle_definition *d = p->definition;
	const double limit = p->options->cost > 0 ? p->options->cost : 2e7;
	bool any_tile = false, any_reduction = false;
	find_dimensions(p);
	for (int k = 0; k < p->n_dimension; ++k) {
		any_tile = any_tile || p->dimension[k].tile > 0;
		any_reduction = any_reduction || p->dimension[k].index->reduction;
	}
	for (int k = 0; k < p->n_dimension && !any_tile; ++k) { /* nothing is known about the mapping but what sizes are multiples of */
		const int64_t usual = p->n_dimension > 3 ? 4 : 16, divisor = d->size[p->dimension[k].size]->divisor;
		const int64_t block = p->options->block ? p->options->block[p->dimension[k].size] : 0;
		p->dimension[k].tile = divisor > usual && divisor <= MOST_DIVISOR ? divisor : usual;
		p->dimension[k].tile = block > p->dimension[k].tile ? block : p->dimension[k].tile;
	}
	int64_t *size = HEDDLE_NEW_ARRAY(p->arena, int64_t, d->n_size);
	static const int64_t pad[N_PICK] = {0, 1, 8, 3, 16, 5, 2, 4};
	for (int pick = 0; pick < N_PICK; ++pick) {
		p->pad = pad[pick];
		if (pick == PICK_EMPTY && !any_reduction)
			continue;
		for (int k = 0; k < d->n_size; ++k)
			size[k] = allowed(d->size[k], 3);
		for (int k = 0; k < p->n_dimension; ++k)
			p->dimension[k].target = target_of(&p->dimension[k], pick, k);
		reach_targets(p, size);
		if (repair(p, size) && cheapen(p, size, limit))
			add_case(p, size, false);
	}
}

/* "M=64 N=64" into sizes; those that the definition fixes may be left out. */
static int given_case(heddle_ctx *ctx, picker *p, const heddle_pragma *pragma)
{
	const heddle_definition *d = p->definition;
	heddle_size_list *list = heddle_sizes_parse(ctx, p->arena, pragma->text);
	if (!list)
		return heddle_note(ctx, &pragma->location, "in this line"), -1;
	int64_t *size = HEDDLE_NEW_ARRAY(p->arena, int64_t, d->n_size);
	bool *has = HEDDLE_NEW_ARRAY(p->arena, bool, d->n_size);
	for (int j = 0; j < list->n; ++j) {
		int found = -1;
		for (int k = 0; k < d->n_size; ++k)
			if (!strcmp(d->size[k]->name, list->range[j].name))
				found = k;
		if (found < 0)
			return heddle_error(ctx, 717, &pragma->location, "'%s' has no size '%s'", d->name, list->range[j].name);
		if (list->range[j].min != list->range[j].max)
			return heddle_error(ctx, 717, &pragma->location, "a test needs one value for '%s', not a range",
					    list->range[j].name);
		size[found] = list->range[j].min;
		has[found] = true;
	}
	for (int k = 0; k < d->n_size; ++k) {
		if (has[k])
			continue;
		if (d->size[k]->min != d->size[k]->max)
			return heddle_error(ctx, 717, &pragma->location, "no value for size '%s'", d->size[k]->name);
		size[k] = d->size[k]->min;
	}
	/* With sizes fixed from outside, a line for other sizes does not apply. */
	for (int k = 0; k < d->n_size; ++k)
		if ((p->options->narrowed || d->size[k]->min == d->size[k]->max) && size[k] != allowed(d->size[k], size[k]))
			return 0;
	if (heddle_sizes_check(ctx, d, size) < 0)
		return heddle_note(ctx, &pragma->location, "in this line"), -1;
	add_case(p, size, true);
	return 0;
}

/* Whoever fixes sizes means them, also where we would not pick any as large; those that are open are as small as can be.  0, or -1:
 * what is wrong with the case. */
static int fixed_case(heddle_ctx *ctx, picker *p)
{
	const double most = 1e9;
	const heddle_definition *d = p->definition;
	int64_t *size = HEDDLE_NEW_ARRAY(p->arena, int64_t, d->n_size);
	bool all_fixed = true;
	for (int k = 0; k < d->n_size; ++k) {
		all_fixed = all_fixed && d->size[k]->min == d->size[k]->max;
		size[k] = allowed(d->size[k], 1);
	}
	if (all_fixed && heddle_sizes_check(ctx, d, size) < 0)
		return -1;
	if (!all_fixed && !repair(p, size))
		return 0;
	const double cost = heddle_reference_cost(d, size);
	if (cost > most)
		return heddle_error(ctx, 719, &d->location, "'%s' computes %.2g values with these sizes, a test %.0e at most: give smaller ones",
				    d->name, cost, most);
	add_case(p, size, all_fixed);
	return 0;
}

/* Draws of powers of two, three times them and small odd numbers, until some are taken: kernels whose preconditions ask for
 * multiples that no tile tells of. */
static void draw_taken(picker *p)
{
	enum { N_DRAW = 4000, ENOUGH = 4 };
	const heddle_definition *d = p->definition;
	const double limit = p->options->cost > 0 ? p->options->cost : 2e7;
	int64_t *size = HEDDLE_NEW_ARRAY(p->arena, int64_t, d->n_size);
	for (uint64_t draw = 0; draw < N_DRAW && p->list->n < ENOUGH; ++draw) {
		for (int k = 0; k < d->n_size; ++k) {
			const uint64_t random = heddle_random(draw + 1, (uint64_t)k);
			const int64_t power = INT64_C(1) << (random % 13);
			const int64_t wanted[] = {power, power, power * 3, (int64_t)(random >> 32) % 64 * 2 + 1};
			size[k] = allowed(d->size[k], wanted[random / 13 % HEDDLE_COUNT(wanted)]);
		}
		if (sizes_fit(d, size) && heddle_reference_cost(d, size) <= limit)
			add_case(p, size, false);
	}
}

int heddle_cases_choose(heddle_ctx *ctx, heddle_arena *arena, const heddle_module *module, const heddle_definition *definition,
			const heddle_case_options *options, heddle_case_list *list)
{
	const heddle_case_options defaults = {0};
	picker p = {.arena = arena, .definition = definition, .options = options ? options : &defaults, .list = list};
	list->n = 0;
	list->item = NULL;
	list->limited = false;
	int at = 0;
	if (p.options->sweep) {
		for (const heddle_pragma *pragma; (pragma = heddle_pragma_next(module, definition, "reach", &at));)
			if (given_case(ctx, &p, pragma) < 0)
				return -1;
		const int n_named = list->n;
		find_dimensions(&p);
		whole_tiles(&p, 1, false);
		sweep_cases(&p, 16);
		sweep_pairs(&p, 8);
		sort_by_cost(list, n_named);
		draw_cases(&p, 400, false);
		sweep_cases(&p, 64);
		const int n_usual = list->n;
		sweep_pairs(&p, 32);
		for (int k = n_usual; k < list->n; ++k)
			list->item[k].dear = true;
		whole_tiles(&p, 1, true);
		whole_tiles(&p, 2, true);
		draw_cases(&p, 4000, true);
		return 0;
	}
	for (const heddle_pragma *pragma; (pragma = heddle_pragma_next(module, definition, "sizes", &at));)
		if (given_case(ctx, &p, pragma) < 0)
			return -1;
	if (!p.options->given_only || !list->n)
		pick_cases(&p);
	if (!list->n && p.options->takes)
		draw_taken(&p);
	if (!list->n && fixed_case(ctx, &p) < 0)
		return -1;
	if (!list->n)
		return heddle_error(ctx, 716, &definition->location, "no sizes can be found for a test of '%s'",
				    definition->name);
	return 0;
}
