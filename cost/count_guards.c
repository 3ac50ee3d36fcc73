/* Reads that a guard leaves: what results share in blocks where it holds for all of them, and in those that it cuts.
 * SPDX-License-Identifier: MIT
 */
#include "cost/count_parts.h"

#include "frontend/affine.h"

#include <math.h>
#include <string.h>

/* Are there blocks in which the guard holds for some results only? */
static bool guards_blocks(const heddle_stmt *stmt)
{
	for (int d = 0; d < stmt->n_dim; d++)
		if (!stmt->dim[d].reduction && stmt->dim[d].layout.tile > 1 && count_guards(stmt, d))
			return true;
	return false;
}

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

/* Of many threads, do the results along d ask each for itself whether they exist in the blocks that the guard cuts? */
static bool asks_each(const counter *c, const shape *s, int d, bool apart)
{
	return c->kernel->threads > 1 && guards_blocks(s->stmt) && !choose_divisible(s->stmt, d, s->stmt->dim[d].layout.tile) && (apart || count_tile_vectors(c, s, d) == 0);
}

/* Are the items of d copies that stand one after another under one condition of the guard: inside of all that it asks about? */
static bool is_inside_of_guard(const counter *c, const shape *s, int d, bool apart)
{
	if (s->stmt->dim[d].reduction || !s->d[d].unrolled || count_guards(s->stmt, d) || asks_each(c, s, d, apart))
		return false;
	for (int o = 0; o < s->stmt->n_dim; o++) {
		const heddle_layout *layout = &s->stmt->dim[o].layout;
		if (count_guards(s->stmt, o) && (layout->vector > 1 || (layout->items > 1 && count_stands_inside(c, s->stmt, o, d))))
			return false;
	}
	return true;
}

/* Of a guard `s <= t` the dimension that goes fastest, where the access does not depend on it; -1: it is not so. */
static int last_in_steps(const counter *c, const movement *m)
{
	const heddle_stmt *stmt = m->shape->stmt;
	int last = -1;
	if (c->kernel->threads > 1 || !stmt->reduction)
		return -1;
	for (int d = 0; d < stmt->n_dim; d++)
		last = !stmt->dim[d].reduction && m->shape->d[d].unrolled && m->shape->d[d].items > 1 ? d : last;
	const int other = last >= 0 && !count_depends(m, last) ? count_guard_beside(stmt, last) : -1;
	return other >= 0 && other < last && stmt->dim[last].layout.vector * stmt->dim[other].layout.vector == 1 ? last : -1;
}

/* Reads of a block of n x k items that lies so far `apart` of such a guard, which holds for i and j where sign (j - i) is no more: of each i those
 * are under one condition, and share, for which it holds in all blocks, the `least` of which lie apart; each of the others asks for itself, but
 * where nothing is asked of the first ones: of any i where all exist (`asked` is 0), of the first one where others may not (1); 2: of none. */
static double reads_of_steps(int64_t n, int64_t k, int64_t sign, int64_t least, int64_t apart, int asked)
{
	double reads = 0;
	for (int64_t i = 0; i < n; i++) {
		bool shared = false;
		int64_t others = 0;
		for (int64_t j = 0; j < k; j++) {
			const int64_t step = sign * (j - i);
			shared = shared || step <= least;
			others += step > least && step <= apart;
		}
		reads += shared ? 1 : 0;
		reads += shared && ((i == 0 && asked < 2) || !asked) ? 0 : (double)others;
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
	bool others = false; /* copies that are asked for, too */
	for (int d = 0; d < stmt->n_dim; d++)
		others = others || (d != other && d != last && !stmt->dim[d].reduction && stmt->dim[d].layout.tile > 1);
	const int asked = others ? 2 : !choose_divisible(stmt, other, a);
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

/* Share of the accesses that a guard leaves, of so many that each thread makes without it; those of whole vectors count
 * `wide` times.  In blocks where it holds everywhere nothing is asked.  In others each vector is, and those that it
 * leaves no member out of share no reads; members of the rest are asked one by one, and read one by one. */
static double guarded_share(const counter *c, const movement *m, double accesses, double wide)
{
	const shape *s = m->shape;
	int64_t vector[HEDDLE_MAX_DIM], block[HEDDLE_MAX_DIM];
	const int lane = heddle_lockstep_dim(s->stmt, NULL);
	double instances = 1, same = 1, whole = 1;
	if (s->guarded <= 0 || s->guarded == 1 || accesses <= 0)
		return wide * fabs(s->guarded);
	for (int d = 0; d < s->stmt->n_dim; d++) {
		const heddle_dim *dim = &s->stmt->dim[d];
		const bool depends = count_depends(m, d);
		instances *= m->dims[d] ? (double)s->d[d].extent : 1;
		const bool members = d == lane && !dim->reduction, asked = members && count_guards(s->stmt, d);
		vector[d] = asked && !(m->apart && c->kernel->threads > 1) ? choose_least(dim->layout.vector, c->language->max_vector) : 1;
		block[d] = !dim->reduction ? dim->layout.tile : s->d[d].extent > 0 ? s->d[d].extent : 1;
		same *= depends ? 1 : (double)vector[d];
		if (!depends && is_inside_of_guard(c, s, d, m->apart) && !(d == lane && count_may_be_none(c, s->stmt, d)))
			whole *= (double)dim->layout.items;
		/* vectors along what no guard asks about are whole wherever they are asked for */
		if (members && !asked && !depends && !asks_each(c, s, d, m->apart))
			whole *= (double)choose_least(dim->layout.vector, c->language->max_vector);
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
		whole_ones *= part * (!dim->reduction && !count_depends(m, d) && s->d[d].unrolled && s->d[d].busy > 0 ? s->d[d].share / s->d[d].busy : 1);
	}
	double apart = (wide * (vectors - blocks) / same + s->guarded - vectors) / whole;
	const int last = last_in_steps(c, m);
	if (last >= 0) {
		double others;
		apart = reads_in_steps(c, m, last, count_guard_beside(s->stmt, last), &others);
		apart += (1 - full) * others;
	}
	const int first = first_in_steps(c, m);
	if (first >= 0 && wide == 1) {
		for (int d = 0; d < s->stmt->n_dim; d++)
			block[d] = d == first ? s->stmt->dim[d].layout.tile : 1;
		return count_any(c, s->stmt, block) * instances * s->d[first].outer / ((double)s->d[first].extent * whole * accesses);
	}
	return wide * whole_ones * count_shared_taps(c, m) + apart * instances / (accesses * (double)c->kernel->threads);
}

/* The same; members are apart but at those taps of a window at which a tile has whole vectors. */
double count_guarded_share(const counter *c, const movement *m, double accesses, double wide)
{
	const int lane = heddle_lockstep_dim(m->shape->stmt, NULL);
	const heddle_stmt *stmt = m->shape->stmt;
	const bool any = c->kernel->threads > 1 && lane >= 0 && (m->apart || stmt->reduction);
	const double whole = any ? count_tile_vectors(c, m->shape, lane) : 0;
	movement together = *m, apart = *m;
	if (whole == 0)
		return guarded_share(c, m, accesses, wide);
	together.apart = false;
	apart.apart = true;
	/* sums in registers that other statements read are no vectors: they are asked for one by one */
	if (stmt->reduction && stmt->access[0].group->space == HEDDLE_SPACE_REGISTER)
		return guarded_share(c, &apart, accesses, wide);
	return whole * guarded_share(c, &together, accesses, wide) + (whole < 1 ? (1 - whole) * guarded_share(c, &apart, accesses, wide) : 0);
}
