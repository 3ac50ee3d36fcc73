/* Reads that a guard leaves: what results share in blocks where it holds for all of them, and in those that it cuts.
 * SPDX-License-Identifier: MIT
 */
#include "cost/count_tree.h"

#include "frontend/affine.h"

#include <math.h>
#include <string.h>

/* Do terms along d that stand in the text read one place of the tile's rows after another? */
static bool has_taps(const movement *m, int d)
{
	return m->shape->stmt->dim[d].reduction && m->shape->d[d].unrolled && m->subscript[heddle_tile_array_row(m->tile)].coefficient[d];
}

/* Of those terms the share whose vectors of w elements begin where vectors may. */
static double taps_in_vectors(const movement *m, int64_t w)
{
	const int n_dim = m->shape->stmt->n_dim;
	int64_t taps = 1, good = 0;
	for (int d = 0; d < n_dim; d++)
		taps *= has_taps(m, d) ? m->shape->d[d].items : 1;
	for (int64_t t = 0; t < taps; t++) {
		int64_t rest = t, place = 0;
		for (int d = 0; d < n_dim; d++)
			if (has_taps(m, d)) {
				place += m->subscript[heddle_tile_array_row(m->tile)].coefficient[d] * (rest % m->shape->d[d].items);
				rest /= m->shape->d[d].items;
			}
		good += place >= 0 && count_row_offset(m->tile, place) % w == 0;
	}
	return (double)good / (double)taps;
}

double count_tile_vectors(const counter *c, const shape *s, int d)
{
	double most = 0;
	for (int a = 1; a < s->stmt->n_access; a++) {
		const heddle_access *access = &s->stmt->access[a];
		movement m = {.shape = s, .access = access, .tensor = access->tensor, .tile = access->group};
		if (!access->tensor->rank || access->group->space != HEDDLE_SPACE_SHARED)
			continue;
		linear *subscript = count_subscripts(c, s->stmt, access);
		m.subscript = subscript;
		for (int k = 0; k < s->stmt->n_dim; k++)
			m.dims[k] = true;
		if (count_lockstep(&m) != d)
			continue;
		movement first = m;
		linear *without = HEDDLE_NEW_ARRAY(c->arena, linear, access->tensor->rank);
		memcpy(without, subscript, sizeof(*without) * (size_t)access->tensor->rank);
		for (int k = 0; k < s->stmt->n_dim; k++)
			if (has_taps(&m, k) && s->stmt->dim[k].layout.vector == 1)
				without[heddle_tile_array_row(m.tile)].coefficient[k] = 0;
		first.subscript = without;
		const int64_t w = count_access_width(c, &first);
		most = w > 1 ? fmax(most, taps_in_vectors(&m, w)) : most;
	}
	return most;
}

/* Of many threads, do the results along d ask each for itself whether they exist, the first one, too? */
static bool asks_each(const counter *c, const shape *s, int d, bool apart)
{
	const heddle_layout *layout = &s->stmt->dim[d].layout;
	return layout->threads > 1 && !s->d[d].harmless && !choose_divisible(s->stmt, d, layout->tile) && (apart || count_tile_vectors(c, s, d) == 0);
}

/* Branches of one thread's results that ask for the same become one where no more stand between than are looked back at: those of a value of d and of
 * the next have all results along what stands inside of d between them that the guard asks about. */
static bool stands_near(const shape *s, int d)
{
	enum { MOST_BACK = 64 }; /* model/simplify_join.c */
	const heddle_stmt *stmt = s->stmt;
	int64_t between = 1;
	for (int o = 0; o < stmt->n_dim; o++) {
		const bool vector = stmt->dim[o].layout.vector > 1, inside = vector == (stmt->dim[d].layout.vector > 1) ? o > d : vector;
		between *= !stmt->dim[o].reduction && inside && s->d[o].unrolled && count_guards(stmt, o) ? s->d[o].items : 1;
	}
	return !s->alone || between <= MOST_BACK;
}

/* Of a guard `s <= t` the dimension that the access does not depend on; -1: it is not so. */
static int across_steps(const counter *c, const movement *m)
{
	const heddle_stmt *stmt = m->shape->stmt;
	if (c->kernel->threads > 1 || !stmt->reduction)
		return -1;
	for (int d = 0; d < stmt->n_dim; d++) {
		const bool items = !stmt->dim[d].reduction && m->shape->d[d].unrolled && m->shape->d[d].items > 1 && !count_depends(m, d);
		const int other = items ? count_guard_beside(stmt, d) : -1;
		if (other >= 0 && count_depends(m, other) && stmt->dim[d].layout.vector * stmt->dim[other].layout.vector == 1)
			return d;
	}
	return -1;
}

/* Reads of a block of n x k items that lies so far `apart` of such a guard, which holds for i and j where sign (j - i) is no more: of each i they are
 * shared where it holds for some j in all blocks, the `least` of which lie apart, and that is there: for the first one where others are `asked` for;
 * else each j that it holds for reads for itself. */
static double reads_of_steps(int64_t n, int64_t k, int64_t sign, int64_t least, int64_t apart, bool asked)
{
	double reads = 0;
	for (int64_t i = 0; i < n; i++) {
		bool shared = false;
		int64_t others = 0;
		for (int64_t j = 0; j < k; j++) {
			const int64_t step = sign * (j - i);
			shared = shared || (step <= least && (j == 0 || !asked));
			others += step <= apart;
		}
		reads += shared ? 1 : (double)others;
	}
	return reads;
}

/* Reads of what depends on `other` in blocks at an edge of such a guard, by all instances of a box: in those on the diagonal, and where it holds
 * for all (`*whole`), were they at an edge, too. */
static double reads_in_steps(const counter *c, const movement *m, int last, int other, double *whole)
{
	const heddle_stmt *stmt = m->shape->stmt;
	const int64_t a = stmt->dim[other].layout.tile, b = stmt->dim[last].layout.tile, n = m->shape->d[other].extent, k = m->shape->d[last].extent;
	const int64_t sign = count_guard_rises(c, stmt, last) ? -1 : 1;
	/* it holds for some from where blocks lie so far apart (`first`), for all from `rest` on */
	const int64_t first = sign > 0 ? 1 - a : 1 - b, rest = sign > 0 ? b - 1 : a - 1;
	const bool asked = sign < 0 && !choose_divisible(stmt, last, b); /* the smaller one is there where the other is */
	int64_t least = INT64_MAX;
	double reads = 0, inside = 0;
	for (int pass = 0; pass < 2; pass++) /* the least, then by it */
		for (int64_t i0 = 0; i0 < n; i0 += a) {
			const int64_t from = affine_floor_div(sign > 0 ? i0 - rest : i0 + first, b) * b;
			for (int64_t j0 = from; j0 <= (sign > 0 ? i0 - first : i0 + rest); j0 += b) {
				const int64_t apart = sign * (i0 - j0);
				if (j0 < 0 || j0 >= k || apart < first || apart >= rest)
					continue;
				least = choose_least(least, apart);
				reads += pass == 1 ? reads_of_steps(choose_least(a, n - i0), choose_least(b, k - j0), sign, least, apart, asked) : 0;
			}
			/* blocks further from the diagonal than that */
			const int64_t blocks = sign > 0 ? affine_floor_div(choose_least(i0 - rest, k - 1), b) + 1 : (k + b - 1) / b - affine_floor_div(i0 + rest + b - 1, b);
			inside += pass == 1 && blocks > 0 ? (double)blocks : 0;
			/* of those a block that lacks some asks for each of the greater ones, which read the smaller ones but the first for themselves */
			if (pass == 1 && blocks > 0 && sign > 0 && n - i0 < a)
				reads += (double)(blocks * (n - i0));
			else if (pass == 1 && blocks > 0 && sign < 0 && k % b)
				reads += (double)(1 + (a - 1) * (k % b));
		}
	const double all = (double)n * (double)k;
	*whole = all > 0 ? inside * reads_of_steps(a, b, sign, least, INT64_MAX, asked) / all : 0;
	return all > 0 ? reads / all : 0;
}

/* Of a sum whose terms begin later from one result of a thread to the next: the first one has all of them, whatever block it is in, and others
 * take what it reads.  The dimension along which results lie so; -1: there is none. */
static int first_in_steps(const counter *c, const movement *m)
{
	const heddle_stmt *stmt = m->shape->stmt;
	const int lockstep = heddle_lockstep_dim(stmt, NULL);
	int first = -1;
	if (c->kernel->threads > 1 || !stmt->reduction || m->tile || (lockstep >= 0 && stmt->dim[lockstep].reduction))
		return -1;
	for (int d = 0; d < stmt->n_dim; d++) {
		const heddle_layout *layout = &stmt->dim[d].layout;
		if (stmt->dim[d].reduction || count_depends(m, d) || !count_guards(stmt, d) || layout->tile == 1)
			continue;
		const int64_t at_once = d == lockstep ? choose_least(layout->vector, c->language->max_vector) : layout->vector;
		if (first >= 0 || layout->tile == at_once || layout->rounds > 1 || !m->shape->d[d].unrolled)
			return -1;
		const int terms = count_guard_begins(c, stmt, d);
		/* its own terms begin with a tile; what stands in one condition with those of the others asks for more than they do */
		if (terms < 0 || (d == lockstep ? layout->tile % stmt->dim[terms].layout.tile : stmt->dim[terms].layout.tile > 1))
			return -1;
		first = d;
	}
	/* results beside it are asked for around its vectors, but each in one condition with its single ones */
	for (int d = 0; d < stmt->n_dim && first >= 0; d++)
		if (!stmt->dim[d].reduction && count_depends(m, d) && count_guards(stmt, d) && stmt->dim[d].layout.tile > 1 && first != lockstep)
			return -1;
	return first;
}

/* Inside of a condition of the guard of one thread's sum, results along what it does not ask about are under conditions in blocks at an edge: so many
 * times as often is something read as if they shared all of it; `cut`: in blocks that lack some of those results, by each of them, else in others. */
static double again_inside(const counter *c, const movement *m, int lane, bool cut)
{
	const heddle_stmt *stmt = m->shape->stmt;
	const bool vectors = lane >= 0 && stmt->dim[lane].layout.tile > 1 && !stmt->dim[lane].reduction && !count_guards(stmt, lane);
	double sum = 0, ran = 0;
	if (c->kernel->threads > 1 || !stmt->reduction)
		return 1;
	for (int kind = cut; kind < (cut ? 1 << stmt->n_dim : 1); kind++) { /* of the block, along each dimension: whole, or cut */
		int64_t values[HEDDLE_MAX_DIM];
		double blocks = 1, once = 1;
		for (int d = 0; d < stmt->n_dim; d++) {
			const bool inside = !stmt->dim[d].reduction && !count_guards(stmt, d) && m->shape->d[d].unrolled && stands_near(m->shape, d);
			const int64_t tile = inside ? stmt->dim[d].layout.tile : 1, rest = m->shape->d[d].extent % tile;
			const bool lacks = kind >> d & 1;
			values[d] = lacks && !m->shape->d[d].harmless ? rest : tile;
			blocks *= lacks ? (rest > 0 ? 1 : 0) : (double)(m->shape->d[d].extent / tile);
			once *= cut || count_depends(m, d) ? (double)values[d] : 1;
		}
		const double reads = blocks > 0 ? count_under_conditions(c, m, vectors ? lane : -1, values, -1, -1) : 0;
		if (reads < 0)
			return 1;
		sum += blocks * reads;
		ran += blocks * once;
	}
	return ran > 0 ? sum / ran : 1;
}

/* Reads of what results share along dimensions that the guard does not ask about, by those results, in blocks that lack some results along such;
 * `items`: [n_dim] so many of a thread share it along each in whole blocks. */
static double shared_in_cut(const shape *s, const double *items)
{
	const heddle_stmt *stmt = s->stmt;
	double sum = 0, ran = 0;
	for (int kind = 1; kind < (1 << stmt->n_dim); kind++) { /* of the block, along each dimension: whole, or cut */
		double share = 1, values = 1;
		for (int d = 0; d < stmt->n_dim && share > 0; d++) {
			const heddle_layout *layout = &stmt->dim[d].layout;
			const bool lacks = kind >> d & 1, asked = stmt->dim[d].reduction || stmt->dim[d].member < 0 || count_guards(stmt, d) || !s->d[d].extent;
			const double rest = asked ? 0 : (double)(s->d[d].extent % layout->tile);
			share *= asked ? !lacks : lacks ? rest / (double)s->d[d].extent : 1 - rest / (double)s->d[d].extent;
			values *= lacks && layout->threads == 1 && items[d] == (double)layout->tile ? rest : items[d];
		}
		sum += share > 0 ? share / values : 0;
		ran += share;
	}
	return ran > 0 ? sum / ran : 1;
}

/* Do blocks with all of their results, in which the guard does not hold for all, stand apart, or are there no others?  `inside`: share of the instances
 * that are in blocks in which it does. */
static bool guards_blocks(const counter *c, const heddle_stmt *stmt, double inside)
{
	bool parts = false;
	for (int d = 0; d < stmt->n_dim; d++) { /* of one value each, loops go where it holds */
		parts = parts || (inside == 0 && stmt->dim[d].layout.tile > 1 && count_guards(stmt, d));
		parts = parts || count_guard_parts(c, stmt, d);
		if (!stmt->dim[d].reduction && stmt->dim[d].layout.tile > 1 && count_guards(stmt, d))
			return true;
	}
	return parts;
}

/* Share of the accesses that a guard leaves, of so many that each thread makes without it; those of whole vectors count
 * `wide` times.  In blocks where it holds everywhere nothing is asked.  In others each vector is, and those that it
 * leaves no member out of share no reads; members of the rest are asked one by one, and read one by one. */
static double guarded_share(const counter *c, const movement *m, double accesses, double wide)
{
	const shape *s = m->shape;
	int64_t vector[HEDDLE_MAX_DIM], beside[HEDDLE_MAX_DIM], block[HEDDLE_MAX_DIM];
	const int lane = heddle_lockstep_dim(s->stmt, NULL);
	const bool parted = c->kernel->threads == 1 && lane >= 0 && !s->stmt->dim[lane].reduction && count_guard_parts(c, s->stmt, lane);
	double instances = 1, same = 1, whole = 1, turned = 1, shared[HEDDLE_MAX_DIM];
	if (s->guarded <= 0 || s->guarded == 1 || accesses <= 0)
		return wide * fabs(s->guarded);
	for (int d = 0; d < s->stmt->n_dim; d++) {
		const heddle_dim *dim = &s->stmt->dim[d];
		const bool depends = count_depends(m, d);
		instances *= !m->dims[d] ? 1 : s->d[d].harmless ? s->d[d].outer * (double)dim->layout.tile : (double)s->d[d].extent;
		const bool members = d == lane && !dim->reduction, asked = members && count_guards(s->stmt, d);
		vector[d] = asked && !(m->apart && c->kernel->threads > 1) ? choose_least(dim->layout.vector, c->language->max_vector) : 1;
		block[d] = !dim->reduction ? dim->layout.tile : s->d[d].extent > 0 ? s->d[d].extent : 1;
		same *= depends ? 1 : (double)vector[d];
		/* results along what the guard does not ask about are inside of its conditions, but where those of all threads ask, too */
		const bool inside = !dim->reduction && !count_guards(s->stmt, d) && !asks_each(c, s, d, m->apart) && stands_near(s, d);
		shared[d] = !depends && s->d[d].unrolled && inside ? (double)dim->layout.items : 1;
		/* where terms begin with those of the first result along d, others take what it reads */
		const bool results = c->kernel->threads == 1 && d != lane && !depends && !dim->reduction && s->d[d].unrolled && dim->layout.tile > 1;
		const int terms = results && count_guards(s->stmt, d) ? count_guard_begins(c, s->stmt, d) : -1;
		const bool first = terms >= 0 && dim->layout.tile % s->stmt->dim[terms].layout.tile == 0;
		beside[d] = first ? -dim->layout.tile : vector[d];
		turned *= first ? (double)dim->layout.tile : 1;
		/* vectors along what no guard asks about are whole wherever they are asked for */
		if (members && inside && !depends)
			shared[d] *= (double)choose_least(dim->layout.vector, c->language->max_vector);
		whole *= shared[d];
	}
	const double vectors = fmin(s->guarded, count_guarded(c, s->stmt, vector));
	double blocks = count_own_results(c->kernel) ? 0 : fmin(vectors, count_inside(c, s->stmt, block, false));
	/* blocks that lack results along what no guard asks about are no whole ones, either; accesses are those of all blocks */
	double whole_ones = blocks, full = 1;
	for (int d = 0; d < s->stmt->n_dim; d++) {
		const heddle_dim *dim = &s->stmt->dim[d];
		const bool asked = dim->member < 0 || count_guards(s->stmt, d);
		const double part = dim->reduction || asked || !s->d[d].extent ? 1 : 1 - (double)(s->d[d].extent % dim->layout.tile) / (double)s->d[d].extent;
		blocks *= part;
		full *= part;
		whole_ones *= part * (!dim->reduction && !count_depends(m, d) && s->d[d].unrolled && !s->d[d].harmless && s->d[d].busy > 0 ? s->d[d].share / s->d[d].busy : 1);
	}
	/* members of vectors along what it does not ask about, of which some are missing, read each for themselves */
	const bool cut = c->kernel->threads == 1 && s->stmt->reduction && lane >= 0 && !s->stmt->dim[lane].reduction && count_depends(m, lane) &&
			 !count_guards(s->stmt, lane) && !s->d[lane].harmless && s->d[lane].extent > 0;
	const double alone = cut ? (double)(s->d[lane].extent % s->stmt->dim[lane].layout.vector) / (double)s->d[lane].extent : 0;
	const double some = count_guarded(c, s->stmt, beside), left = s->guarded - vectors;
	const bool alone_inside = c->kernel->threads == 1 && s->stmt->reduction;
	const double of_whole = guards_blocks(c, s->stmt, whole_ones) ? again_inside(c, m, lane, false) / whole : 1 / whole;
	const double of_cut = full == 1 ? 1 / whole : alone_inside ? again_inside(c, m, lane, true) : shared_in_cut(s, shared);
	/* vectors of terms that it leaves whole stand around all results, members of others inside of each */
	const bool lanes = c->kernel->threads == 1 && lane >= 0 && s->stmt->dim[lane].reduction && count_depends(m, lane) && count_guard_parts(c, s->stmt, lane);
	double single = 0, of_blocks = 1; /* instances that are in no vector; of those in whole blocks the share that is in some */
	if (lanes) {
		vector[lane] = choose_least(s->stmt->dim[lane].layout.vector, c->language->max_vector);
		of_blocks = 1 - (double)(s->d[lane].extent % vector[lane]) / (double)s->d[lane].extent;
		single = some - count_guarded(c, s->stmt, vector);
	}
	const double inside = (wide * (full * (some - single) - blocks * of_blocks) / (same * turned) + (parted ? 0 : full * left)) * of_whole;
	double apart = inside + (1 - full) * (wide * (some - single) / (same * turned) + (parted ? 0 : left)) * of_cut + (parted ? left : 0) + single - blocks * (1 - of_blocks);
	const int last = across_steps(c, m);
	if (last >= 0) {
		double others;
		apart = reads_in_steps(c, m, last, count_guard_beside(s->stmt, last), &others);
		apart = (1 - alone) * apart + (1 - alone - full) * others + alone * s->guarded;
	}
	const int first = first_in_steps(c, m);
	if (first >= 0 && wide == 1) {
		for (int d = 0; d < s->stmt->n_dim; d++)
			block[d] = d == first ? s->stmt->dim[d].layout.tile : 1;
		return count_any(c, s->stmt, block) * instances * s->d[first].outer / ((double)s->d[first].extent * whole * accesses);
	}
	/* terms that fill no vector are gone through one by one, by each result */
	const bool terms = c->kernel->threads == 1 && lane >= 0 && s->stmt->dim[lane].reduction && count_depends(m, lane) && !count_guards(s->stmt, lane) &&
			   !count_moves(c, s->stmt, lane) && heddle_fixed_extent(s->stmt->source->index[lane]->upper) == 0 && s->d[lane].extent > 0;
	const int64_t v = terms ? choose_least(s->stmt->dim[lane].layout.vector, c->language->max_vector) : 1;
	const double alone_terms = terms ? (double)(s->d[lane].extent % v) / (double)s->d[lane].extent : 0;
	/* so are members, in a loop inside of blocks, in whole blocks, too; a single one that is left has a name there */
	const bool members = cut && s->stmt->dim[lane].member < 0 && s->stmt->dim[lane].layout.tile > 2 && heddle_fixed_extent(s->stmt->source->index[lane]->upper) == 0;
	const double single_ones = terms ? alone_terms : members ? alone : 0;
	return (1 - single_ones) * wide * whole_ones * count_shared_taps(c, m) +
	       ((1 - single_ones) * apart + single_ones * s->guarded) * instances / (accesses * (double)c->kernel->threads);
}

/* The same; members are apart but at those taps of a window at which a tile has whole vectors. */
double count_guarded_share(const counter *c, const movement *m, double accesses, double wide)
{
	const int lane = heddle_lockstep_dim(m->shape->stmt, NULL);
	const heddle_stmt *stmt = m->shape->stmt;
	const bool any = c->kernel->threads > 1 && lane >= 0 && (m->apart || stmt->reduction);
	const double whole = any ? count_tile_vectors(c, m->shape, lane) : 0;
	movement together = *m, apart = *m;
	const double branches = accesses > 0 ? count_branches(c, m) : -1;
	if (branches >= 0)
		return branches / accesses;
	const double walked = accesses > 0 ? count_walk(c, m) : -1;
	if (walked >= 0)
		return walked / (accesses * (double)c->kernel->threads);
	if (whole == 0)
		return guarded_share(c, m, accesses, wide);
	together.apart = false;
	apart.apart = true;
	/* sums in registers that other statements read are no vectors: they are asked for one by one */
	if (stmt->reduction && stmt->access[0].group->space == HEDDLE_SPACE_REGISTER)
		return guarded_share(c, &apart, accesses, wide);
	return whole * guarded_share(c, &together, accesses, wide) + (whole < 1 ? (1 - whole) * guarded_share(c, &apart, accesses, wide) : 0);
}
