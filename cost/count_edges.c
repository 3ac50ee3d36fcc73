/* What is read more than once: copies of an access in the text that stand under conditions of their own, in blocks at an edge and in tiles that
 * have fewer terms or results than others.
 * SPDX-License-Identifier: MIT
 */
#include "cost/count_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool count_reads_memory(const heddle_stmt *stmt)
{
	for (int a = 1; a < stmt->n_access; a++)
		if (stmt->access[a].tensor->rank && stmt->access[a].group->space == HEDDLE_SPACE_GLOBAL)
			return true;
	return false;
}

double count_within_guards(const counter *c, const heddle_stmt *own, bool whole)
{
	double share = 1;
	for (int k = 0; k < c->kernel->n_stmt; k++) {
		const heddle_stmt *stmt = c->kernel->stmt[k];
		const shape s = count_shape(c, stmt);
		int64_t block[HEDDLE_MAX_DIM];
		double there = 1;
		if (stmt == own)
			continue;
		for (int d = 0; d < stmt->n_dim; d++) {
			block[d] = !stmt->dim[d].reduction ? stmt->dim[d].layout.tile : s.d[d].extent > 0 ? s.d[d].extent : 1;
			if (whole && stmt->dim[d].member >= 0 && count_guards(stmt, d) && s.d[d].extent >= block[d])
				there *= 1 - (double)(s.d[d].extent % block[d]) / (double)s.d[d].extent;
		}
		share = fmin(share, count_inside(c, stmt, block, true) / there);
	}
	return share;
}

enum { MOST_ELEMENTS = 1024 };

/* Elements of a tensor that a place in the text reads: its subscripts, without what all places share. */
typedef struct element {
	int64_t at[HEDDLE_MAX_DIM];
	int64_t branch; /* places under different conditions have nothing of each other; 0: under none */
} element;

static int find_element(const element *all, int n, const element *one, int rank)
{
	while (n > 0 && (all[n - 1].branch != one->branch || memcmp(all[n - 1].at, one->at, sizeof(*one->at) * (size_t)rank) != 0))
		n--;
	return n - 1;
}

/* May results along d be left out in some block?  Where one tile holds all that there are it is known which. */
static bool is_left_out(const heddle_stmt *stmt, int d)
{
	const int64_t tile = stmt->dim[d].layout.tile, known = heddle_fixed_extent(stmt->source->index[d]->upper);
	return !choose_divisible(stmt, d, tile) && !(known > 0 && known <= tile);
}

/* Are they asked for then?  Not where sums run over. */
static bool is_asked(const shape *s, int d)
{
	return !s->d[d].harmless && is_left_out(s->stmt, d);
}

/* Are the members of vectors along d no vectors, but rounds of a loop? */
static bool has_member_loop(const shape *s, int d)
{
	return s->d[d].parts > 1 && s->d[d].parts == (double)s->stmt->dim[d].layout.vector;
}

/* One coordinate of a place in the text: an item of a dimension, of the vectors' dimension a vector, or a member of a vector. */
typedef struct place_part {
	int dim;
	int64_t n, step; /* so many, so many of a thread's values of the dimension apart */
	int64_t apart;   /* and so many of the dimension's own */
	bool several;    /* stand in the text, whatever their number in this block */
	bool asked;      /* those after the first are under a condition of their own */
} place_part;

/* What is read at a place, and the conditions around it: coordinates of parts that are asked for, from the outside in. */
typedef struct tree_read {
	bool apart; /* from all others, but from what is under no condition */
	int64_t element[HEDDLE_MAX_DIM], key[2 * HEDDLE_MAX_DIM];
} tree_read;

/* Does a place stand inside of the conditions of the read? */
static bool is_under(const tree_read *read, const tree_read *place, int n)
{
	int k = 0;
	while (k < n && read->key[k] == place->key[k] && read->apart == place->apart)
		k++;
	for (; k < n; k++)
		if (read->key[k])
			return false;
	return true;
}

/* Parts that are asked for first, of them those of dimension `outside` (-1: of none): then what stands around comes before what is inside of it. */
static void order_parts(place_part *part, int n, int outside)
{
	place_part ordered[2 * HEDDLE_MAX_DIM + 1];
	int to = 0;
	for (int rank = 2; rank >= 0; rank--)
		for (int k = 0; k < n; k++)
			if (part[k].asked + (part[k].asked && part[k].dim == outside) == rank)
				ordered[to++] = part[k];
	memcpy(part, ordered, sizeof(*part) * (size_t)n);
}

/* Goes to the next place; false: there is none. */
static bool next_place(const place_part *part, int n, int64_t *at)
{
	for (int k = n - 1; k >= 0; k--) {
		if (++at[k] < part[k].n)
			return true;
		at[k] = 0;
	}
	return false;
}

/* Is it there, where a block has `there` of a thread's values of each dimension?  *outside: nothing is asked before it. */
static bool has_place(const place_part *part, int n, const int64_t *at, const int64_t *there, tree_read *read, bool *outside)
{
	int64_t value[HEDDLE_MAX_DIM] = {0};
	bool all = true;
	*outside = true;
	for (int k = 0; k < n; k++) {
		value[part[k].dim] += at[k] * part[k].step;
		read->key[k] = part[k].asked ? at[k] : 0;
		*outside = *outside && !read->key[k];
	}
	for (int k = 0; k < n; k++)
		all = all && value[part[k].dim] < there[part[k].dim];
	return all;
}

/* A vector's members, gone through by themselves where some are missing: what only one place asks for is read for each. */
typedef struct left_members {
	int64_t n;    /* 0: it is whole */
	bool named;   /* what stands outside of all conditions has a name, of the vectors before */
	bool several; /* there may be more vectors, for which it has one */
	const int64_t *last; /* [n_dim] results beside it which all blocks that have them lack some of the vector, so that none asks whether it is whole */
} left_members;

/* Is it what no block with a whole vector has?  Then it stands outside of the branch of the others. */
static bool is_last(const heddle_stmt *stmt, const place_part *part, int n, const int64_t *at, const int64_t *last)
{
	int64_t value[HEDDLE_MAX_DIM] = {0};
	for (int k = 0; k < n; k++)
		value[part[k].dim] += at[k] * part[k].step;
	for (int d = 0; d < stmt->n_dim; d++)
		if (last[d] > 0 && value[d] != last[d])
			return false;
	return true;
}

/* Members of what is left of a vector are a loop: do others take what the place reads, so that it has a name outside of it?  They do where they stand
 * inside of its conditions. */
static bool has_others(const movement *m, const place_part *part, const int64_t *at, int n, const left_members *left)
{
	bool inside = true;
	for (int k = n - 1; k >= 0; k--) {
		const heddle_layout *layout = &m->shape->stmt->dim[part[k].dim].layout;
		int64_t other[2 * HEDDLE_MAX_DIM];
		memcpy(other, at, sizeof(*at) * (size_t)n);
		other[k] = 1;
		const bool only = layout->tile == 2 * part[k].step; /* there are no more than these two */
		const bool apart = part[k].asked && only && left->last && is_last(m->shape->stmt, part, n, other, left->last);
		if (part[k].several && at[k] == 0 && !count_depends(m, part[k].dim) && (inside || !part[k].asked) && !apart)
			return true;
		inside = inside && !(part[k].asked && at[k]);
	}
	return false;
}

/* Reads of one step: conditions on results stand inside of each other, dimension by dimension, in the order of `part`.  What is read under one is
 * shared by all that stand inside of it, and nothing of it by others.  `left`: of a vector along which the access does not go; NULL: of none.
 * `alone`: each place that the access depends on has its own element, whatever its subscripts are.  -1: too many. */
static double reads_of_tree(const movement *m, const place_part *part, int n, const int64_t *there, const left_members *left, bool alone)
{
	int64_t at[2 * HEDDLE_MAX_DIM] = {0}, places = 1;
	double reads = 0;
	int found = 0;
	for (int k = 0; k < n; k++)
		if (part[k].n > MOST_ELEMENTS || (places *= part[k].n) > MOST_ELEMENTS)
			return -1;
	if (places < 1)
		return 0;
	tree_read *seen = heddle_xalloc(sizeof(*seen) * (size_t)places);
	do {
		tree_read one = {.apart = false};
		bool outside;
		if (!has_place(part, n, at, there, &one, &outside))
			continue;
		one.apart = left && left->last && is_last(m->shape->stmt, part, n, at, left->last);
		for (int k = 0; k < n; k++) {
			for (int e = 0; e < m->tensor->rank && !alone; e++)
				one.element[e] += m->subscript[e].coefficient[part[k].dim] * at[k] * part[k].apart;
			if (alone && count_depends(m, part[k].dim))
				one.element[part[k].dim] += at[k] * part[k].apart;
		}
		bool known = false;
		for (int k = 0; k < found && !known; k++)
			known = !memcmp(seen[k].element, one.element, sizeof(one.element)) && is_under(&seen[k], &one, n);
		if (known)
			continue;
		seen[found++] = one;
		const bool shared = !left || !left->n || has_others(m, part, at, n, left) || (outside && left->several);
		reads += left && left->named && outside ? 0 : shared ? 1 : (double)left->n;
	} while (next_place(part, n, at));
	free(seen);
	return reads;
}

/* Reads of one step of a thread that has so many values of each dimension whose items are unrolled, and `taps` members of the lockstep dimension.
 * `whole`: blocks have all of their results, and nothing is asked but by loops inside of them.  What is read under a condition is shared by places
 * that have the same one.  -1: too many. */
static double reads_of_step(const counter *c, const movement *m, const int64_t *values, int lockstep, int64_t taps, bool whole)
{
	const heddle_stmt *stmt = m->shape->stmt;
	place_part part[HEDDLE_MAX_DIM];
	int64_t there[HEDDLE_MAX_DIM];
	int n = 0;
	for (int members = 0; members < 2; members++) /* loops inside of a block are around its results */
		for (int d = 0; d < stmt->n_dim; d++) {
			const heddle_dim *dim = &stmt->dim[d];
			const bool known = heddle_fixed_extent(stmt->source->index[d]->upper) > 0;
			const bool loop = dim->member < 0 && !choose_divisible(stmt, d, dim->layout.tile) && !(whole && known);
			const bool asked = d != lockstep && !dim->reduction && (loop || (!whole && is_asked(m->shape, d)));
			there[d] = INT64_MAX;
			if (members == (dim->member >= 0))
				part[n++] = (place_part){d, d == lockstep ? taps : values[d], 1, 1, true, asked};
		}
	order_parts(part, stmt->n_dim, -1);
	return reads_of_tree(m, part, stmt->n_dim, there, NULL, m->access && m->access->expr && count_read_share(c, stmt, m->access->expr) != 1);
}

int count_lanes(const heddle_stmt *stmt)
{
	for (int d = 0; d < stmt->n_dim; d++)
		if (stmt->dim[d].reduction && stmt->dim[d].layout.vector > 1)
			return d;
	return -1;
}

/* The same of vectors of a window's taps, one after another, of which the last one is not filled. */
static double reads_of_vectors(const counter *c, const movement *m, const int64_t *values, int lockstep, int64_t taps, bool shared)
{
	const int64_t v = m->shape->stmt->dim[lockstep].layout.vector;
	const int row = heddle_tensor_inner(m->tensor);
	const bool beside = row >= 0 && m->subscript[row].coefficient[lockstep] == 1;
	double sum = 0;
	const shape *s = m->shape;
	if (shared && !beside && (s->d[lockstep].unrolled || s->stmt->dim[lockstep].layout.items == 1)) /* all stand together */
		return reads_of_step(c, m, values, lockstep, taps, true);
	for (int64_t first = 0; first < taps; first += v) {
		/* neighbours of a whole vector are read as one, which overlaps others */
		const int64_t here = choose_least(v, taps - first), at_once = beside && here == v ? v : 1;
		const double reads = reads_of_step(c, m, values, lockstep, here / at_once, shared);
		if (reads < 0)
			return -1;
		sum += reads * (double)at_once;
	}
	return sum;
}

double count_shared_taps(const counter *c, const movement *m)
{
	const heddle_stmt *stmt = m->shape->stmt;
	const int lanes = heddle_lockstep_dim(stmt, NULL);
	const int64_t taps = lanes >= 0 && stmt->dim[lanes].reduction ? heddle_fixed_extent(stmt->source->index[lanes]->upper) : 0;
	int64_t values[HEDDLE_MAX_DIM];
	if (taps < 1 || c->kernel->threads > 1 || taps > stmt->dim[lanes].layout.tile)
		return 1;
	for (int e = 0; e < m->tensor->rank; e++)
		if (!m->subscript[e].affine)
			return 1;
	for (int d = 0; d < stmt->n_dim; d++)
		values[d] = !stmt->dim[d].reduction && m->shape->d[d].unrolled ? stmt->dim[d].layout.tile : 1;
	const double reads = reads_of_vectors(c, m, values, lanes, taps, true);
	const double steps = m->shape->d[lanes].unrolled ? 1 : (double)stmt->dim[lanes].layout.items;
	const double all = count_elements(m) * steps * (count_depends(m, lanes) ? m->shape->d[lanes].share : 1);
	return reads > 0 && all > 0 ? reads / all : 1;
}

/* The same of a window whose taps are lanes of vectors which they do not fill, of which the first result's have no condition: all others' are under
 * one in blocks at an edge.  0: it is not of this kind. */
static double reads_of_taps(const counter *c, const movement *m, int lockstep)
{
	const heddle_stmt *stmt = m->shape->stmt;
	const heddle_layout *lanes = &stmt->dim[lockstep].layout;
	const int64_t known = heddle_fixed_extent(stmt->source->index[lockstep]->upper), extent = m->shape->d[lockstep].extent;
	const bool filled = (extent > 0 && extent % lanes->vector == 0) || known == 0; /* terms that fill none are counted by themselves */
	const bool steps = filled && lanes->items > 1 && m->shape->d[lockstep].unrolled; /* stand in the text */
	const int64_t taps = !filled ? known : steps ? lanes->items * lanes->vector : lanes->vector; /* of a step */
	int64_t tile[HEDDLE_MAX_DIM], values[HEDDLE_MAX_DIM];
	double ran = 0, sum = 0;
	if (taps < 1 || taps > lanes->tile || lanes->threads > 1 || (!steps && lanes->items > 1 && m->shape->d[lockstep].unrolled))
		return 0;
	for (int e = 0; e < m->tensor->rank; e++)
		if (!m->subscript[e].affine)
			return 0;
	for (int d = 0; d < stmt->n_dim; d++) {
		if (d != lockstep && (count_moves(stmt, d) || (stmt->dim[d].reduction && stmt->dim[d].layout.vector > 1)))
			return 0;
		const int64_t results = stmt->dim[d].layout.tile, extents = m->shape->d[d].extent;
		/* loops inside of a block go on where it is known how far */
		const bool inside = stmt->dim[d].member < 0 && !stmt->dim[d].reduction && (extents % results == 0 || heddle_fixed_extent(stmt->source->index[d]->upper) > 0);
		tile[d] = d != lockstep && m->shape->d[d].unrolled && extents > 0 && (stmt->dim[d].member >= 0 || inside) ? results : 1;
	}
	const bool guarded = count_within_guards(c, stmt, false) < 1;
	bool cuts = guarded || known > 0;
	for (int d = 0; d < stmt->n_dim; d++)
		cuts = cuts || m->shape->d[d].extent % tile[d] != 0;
	if (!cuts)
		return 0;
	for (int kind = 0; kind < (1 << stmt->n_dim); kind++) { /* of the block, along each dimension: whole, or cut */
		double blocks = 1;
		bool whole = !guarded;
		for (int d = 0; d < stmt->n_dim && blocks > 0; d++) {
			const int64_t rest = m->shape->d[d].extent % tile[d];
			const bool cut = kind >> d & 1;
			values[d] = cut ? rest : tile[d];
			blocks *= tile[d] == 1 ? (cut ? 0 : 1) : cut ? (rest > 0 ? 1 : 0) : (double)(m->shape->d[d].extent / tile[d]);
			whole = whole && !(cut && stmt->dim[d].member >= 0);
		}
		if (blocks == 0)
			continue;
		const double reads = reads_of_vectors(c, m, values, lockstep, taps, whole);
		if (reads < 0)
			return 0;
		sum += blocks * reads;
		double once = filled ? 1 : (double)m->shape->d[lockstep].items; /* steps */
		once *= filled ? 1 : count_depends(m, lockstep) ? m->shape->d[lockstep].share : 1; /* as it is counted where nothing is read again */
		for (int d = 0; d < stmt->n_dim; d++)
			once *= d != lockstep && count_depends(m, d) ? (double)values[d] / (double)tile[d] : 1;
		ran += blocks * once * count_elements(m);
	}
	return ran > 0 ? sum / ran : 0;
}

/* Does a loop inside of blocks go over the results? */
static bool is_inner(const heddle_stmt *stmt, int d)
{
	return !stmt->dim[d].reduction && stmt->dim[d].member < 0 && stmt->dim[d].layout.tile > 1;
}

/* Those of a statement of one thread, from the outside in, without its vectors in lockstep; their number.  `values`: of each dimension, in this
 * block.  `whole`: it has all of its results, and what the last tile of a loop inside of it lacks is all that is asked. */
static int parts_of_place(const shape *s, int lockstep, const int64_t *values, bool whole, place_part part[2 * HEDDLE_MAX_DIM])
{
	const heddle_stmt *stmt = s->stmt;
	bool asked[HEDDLE_MAX_DIM];
	int n = 0;
	for (int d = 0; d < stmt->n_dim; d++)
		asked[d] = is_asked(s, d) && (!whole || is_inner(stmt, d));
	if (lockstep >= 0 && !stmt->dim[lockstep].reduction)
		for (int d = 0; d < stmt->n_dim; d++) /* lanes beside a vector are copies of the terms */
			if (stmt->dim[d].reduction && stmt->dim[d].layout.vector > 1)
				part[n++] = (place_part){d, stmt->dim[d].layout.vector, 1, 1, true, !whole && !choose_divisible(stmt, d, stmt->dim[d].layout.vector)};
	for (int kind = 0; kind < 4; kind++) /* vectors are inside of others, and results of blocks inside of those of their loops */
		for (int d = 0; d < stmt->n_dim; d++) {
			const int64_t v = stmt->dim[d].layout.vector;
			if (d != lockstep && !stmt->dim[d].reduction && kind == 2 * (v > 1) + !is_inner(stmt, d))
				part[n++] = (place_part){d, (values[d] + v - 1) / v, v, v, stmt->dim[d].layout.tile > v && !count_guards(stmt, d), asked[d]};
		}
	for (int d = 0; d < stmt->n_dim; d++) {
		const int64_t v = stmt->dim[d].layout.vector;
		if (stmt->dim[d].member >= 0 && v > 1 && d != lockstep)
			part[n++] = (place_part){d, v, 1, 1, true, asked[d]};
	}
	return n;
}

/* Reads of a vector of which so many members are left, at all places, each gone through by itself. */
static double reads_of_left(const place_part *part, int n, const int64_t *there, int64_t left)
{
	int64_t at[2 * HEDDLE_MAX_DIM] = {0};
	double reads = 0;
	do {
		tree_read one;
		bool outside;
		reads += has_place(part, n, at, there, &one, &outside) ? (double)left : 0;
	} while (next_place(part, n, at));
	return reads;
}

/* As count_under_conditions; `whole`: as parts_of_place has it. */
static double under_conditions(const counter *c, const movement *m, int lockstep, const int64_t *values, bool whole, int outside, int alone)
{
	place_part part[2 * HEDDLE_MAX_DIM + 1];
	const heddle_stmt *stmt = m->shape->stmt;
	const int n = parts_of_place(m->shape, lockstep, values, whole, part);
	const int64_t v = lockstep < 0 ? 1 : choose_least(stmt->dim[lockstep].layout.vector, c->language->max_vector);
	const bool along = lockstep >= 0 && count_depends(m, lockstep);
	for (int k = 0; k < n; k++) {
		part[k].several = part[k].several && part[k].dim != alone;
		part[k].asked = part[k].asked || part[k].dim == outside;
	}
	order_parts(part, n, outside);
	if (lockstep < 0)
		return reads_of_tree(m, part, n, values, NULL, false);
	const bool all_there = whole && !is_inner(stmt, lockstep);
	if (all_there || (values[lockstep] % v == 0 && lockstep != outside && (m->shape->d[lockstep].harmless || choose_divisible(stmt, lockstep, v)))) {
		memmove(part + 1, part, sizeof(*part) * (size_t)n);
		part[0] = (place_part){lockstep, values[lockstep] / v, v, v, true, is_asked(m->shape, lockstep) && !all_there};
		order_parts(part, n + 1, outside);
		return reads_of_tree(m, part, n + 1, values, NULL, false) * (along ? (double)v : 1);
	}
	int64_t last[HEDDLE_MAX_DIM];
	double reads = 0;
	for (int d = 0; d < stmt->n_dim; d++)
		last[d] = d != lockstep && stmt->dim[d].member >= 0 && is_asked(m->shape, d) ? stmt->dim[d].layout.tile - 1 : 0;
	for (int64_t from = 0; from < values[lockstep]; from += v) {
		const int64_t left = values[lockstep] - from;
		const bool ends = from + v == stmt->dim[lockstep].layout.tile && stmt->dim[lockstep].member >= 0 && left < v;
		const left_members members = {left < v ? left : 0, from > 0, lockstep != alone && stmt->dim[lockstep].layout.tile > v, ends ? last : NULL};
		const double here = reads_of_tree(m, part, n, values, along ? NULL : &members, false);
		if (here < 0)
			return -1;
		reads += along && left < v ? reads_of_left(part, n, values, left) : along ? here * (double)v : here;
	}
	return reads;
}

double count_under_conditions(const counter *c, const movement *m, int lockstep, const int64_t *values, int outside, int alone)
{
	return under_conditions(c, m, lockstep, values, false, outside, alone);
}

/* The same where lanes beside a vector of results are copies of the terms, of which the last step may lack some: of a step on average. */
static double reads_of_terms(const counter *c, const movement *m, int lockstep, int64_t *values, bool all)
{
	const heddle_stmt *stmt = m->shape->stmt;
	const int lanes = lockstep >= 0 && !stmt->dim[lockstep].reduction ? count_lanes(stmt) : -1;
	if (lanes < 0)
		return under_conditions(c, m, lockstep, values, all, -1, -1);
	const int64_t v = stmt->dim[lanes].layout.vector, extent = m->shape->d[lanes].extent;
	const double steps = m->shape->d[lanes].unrolled ? (double)m->shape->d[lanes].items : 1; /* that are counted as one */
	values[lanes] = v;
	const double whole = under_conditions(c, m, lockstep, values, all, -1, -1);
	values[lanes] = extent % v;
	const double last = values[lanes] ? under_conditions(c, m, lockstep, values, all, -1, -1) : 0;
	return whole < 0 || last < 0 ? -1 : steps * ((double)(extent / v) * whole + last) / ((double)extent / (double)v);
}

/* Do subscripts that go along d go along nothing else?  Then its terms share nothing. */
static bool is_alone(const movement *m, int d)
{
	for (int e = 0; e < m->tensor->rank; e++)
		for (int o = 0; o < m->shape->stmt->n_dim && m->subscript[e].coefficient[d]; o++)
			if (o != d && m->subscript[e].coefficient[o])
				return false;
	return true;
}

/* Is it a sum whose results are a box that a block has, each of which asks for the terms one by one? */
static bool has_plain_sums(const movement *m, int lockstep)
{
	const heddle_stmt *stmt = m->shape->stmt;
	const bool copies = lockstep >= 0; /* lanes beside a vector of results */
	bool plain = (stmt->reduction || stmt->access[0].group->space == HEDDLE_SPACE_REGISTER) && m->shape->guarded == 1 && !(lockstep >= 0 && stmt->dim[lockstep].reduction);
	for (int e = 0; e < m->tensor->rank; e++)
		plain = plain && m->subscript[e].affine;
	for (int d = 0; d < stmt->n_dim; d++) {
		const heddle_layout *layout = &stmt->dim[d].layout;
		plain = plain && !count_moves(stmt, d) && m->shape->d[d].extent > 0 && layout->rounds == 1;
		if (stmt->dim[d].reduction)
			plain = plain && (layout->vector == 1 || (copies && d != lockstep && count_depends(m, d))) &&
				!(m->shape->d[d].unrolled && m->shape->d[d].items > 1 && count_depends(m, d) && (layout->vector == 1 || !is_alone(m, d)));
		else
			plain = plain && (!is_inner(stmt, d) || m->shape->d[d].unrolled);
	}
	return plain;
}

int count_kinds(const movement *m, int other)
{
	int kinds = 1;
	for (int d = 0; d < m->shape->stmt->n_dim; d++)
		if (d != other && !m->shape->stmt->dim[d].reduction && m->shape->d[d].extent % m->shape->stmt->dim[d].layout.tile)
			kinds = 1 << (d + 1);
	return kinds;
}

double count_blocks(const movement *m, int kind, int other, count_kind *k)
{
	const heddle_stmt *stmt = m->shape->stmt;
	double blocks = 1;
	*k = (count_kind){.once = count_elements(m), .whole = true, .full = true};
	for (int d = 0; d < stmt->n_dim && blocks > 0; d++) {
		const bool cut = kind >> d & 1;
		const int64_t tile = stmt->dim[d].layout.tile, extent = m->shape->d[d].extent, rest = extent % tile;
		if (d == other || stmt->dim[d].reduction) {
			blocks *= cut ? 0 : 1;
			k->values[d] = tile;
			continue;
		}
		k->values[d] = cut && !m->shape->d[d].harmless ? rest : tile;
		blocks *= cut ? (rest > 0 ? 1 : 0) : (double)(extent / tile);
		if (is_inner(stmt, d)) /* where it is known how many the last tile has nothing asks for them in whole blocks */
			k->full = k->full && !(cut && heddle_fixed_extent(stmt->source->index[d]->upper) == 0);
		else
			k->whole = k->whole && !(cut && (m->shape->d[d].harmless || is_left_out(stmt, d)));
		/* elements are no more than a known length needs */
		const int64_t fixed = heddle_fixed_extent(stmt->source->index[d]->upper), most = fixed > 0 && fixed < tile ? m->shape->d[d].items * m->shape->d[d].members : tile;
		k->once *= cut && count_depends(m, d) ? (double)k->values[d] / (double)most : 1;
	}
	return blocks;
}

/* The same of sums, by asking for each kind of block what is read in it; 0: it is not of this kind. */
static double reads_of_sums(const counter *c, const movement *m, int lockstep)
{
	const heddle_stmt *stmt = m->shape->stmt;
	const double inside = count_within_guards(c, stmt, true);
	bool filled = true; /* vectors that nothing fills are cut in blocks of any kind */
	double ran = 0, sum = 0;
	if (!has_plain_sums(m, lockstep))
		return 0;
	for (int d = 0; d < stmt->n_dim; d++) {
		const int64_t known = heddle_fixed_extent(stmt->source->index[d]->upper);
		filled = filled && (stmt->dim[d].reduction || known == 0 || known >= stmt->dim[d].layout.vector);
	}
	const int kinds = count_kinds(m, -1);
	for (int kind = 0; kind < kinds; kind++) {
		count_kind k;
		const double blocks = count_blocks(m, kind, -1, &k);
		const bool whole = filled && k.whole;
		if (blocks == 0)
			continue;
		const double together = !whole ? 0 : k.full ? k.once : reads_of_terms(c, m, lockstep, k.values, true);
		const double apart = whole && inside == 1 ? 0 : reads_of_terms(c, m, lockstep, k.values, false);
		if (apart < 0 || together < 0)
			return 0;
		sum += blocks * (whole ? inside * together + (1 - inside) * apart : apart);
		ran += blocks * k.once;
	}
	return ran > 0 ? sum / ran : 0;
}

/* Rounds of loops in blocks at an edge around what whole ones have once. */
static double rounds_at_edges(const counter *c, const movement *m)
{
	double rounds = 1;
	for (int d = 0; d < m->shape->stmt->n_dim; d++)
		if (m->shape->d[d].unrolled && !m->shape->d[d].copied && !count_depends(m, d) && !count_has_loop_inside(c, m, d))
			rounds *= (double)m->shape->d[d].items;
	return rounds;
}

/* Are vectors read along a loop inside of a block, whatever its results are, which may lack some? */
static bool has_inner_rows(const movement *m, int d, int64_t members)
{
	const heddle_stmt *stmt = m->shape->stmt;
	return d >= 0 && !stmt->reduction && !stmt->dim[d].reduction && stmt->dim[d].member < 0 && count_depends(m, d) && !count_moves(stmt, d) &&
	       !choose_divisible(stmt, d, members);
}

/* In blocks at an edge each item, and each member of what is left of a vector, has a condition or a loop of its own
 * around what it reads: what others of the thread read as well is read again, but for single elements that several of
 * them ask for, which get a name.  So many times as if it were shared everywhere, on average. */
static double reads_at_edges(const counter *c, const movement *m)
{
	const heddle_stmt *stmt = m->shape->stmt;
	const int lockstep = heddle_lockstep_dim(stmt, NULL);
	double once = count_within_guards(c, stmt, false), all = 1, whole = once, shared = 1, inside = 1, inside_named = 1, rounds = 1;
	/* in the text, that read the same; of them those along other dimensions than the vectors' */
	int64_t places = 1, others = 1;
	double rolled = 1, named = once;
	bool vectors = false, copied = true, cut = once < 1;
	double each = 1; /* results around a loop read it by themselves, those that there are */
	if (c->kernel->threads > 1)
		return 1;
	for (int d = 0; d < stmt->n_dim; d++) /* rounds that lack some stand apart */
		if (stmt->dim[d].layout.rounds > 1)
			return 1;
	if (m->shape->guarded != 1 && once == 1) /* blocks that lack results are none of its whole ones */
		return 1;
	const double sums = reads_of_sums(c, m, lockstep);
	if (sums > 0 || (lockstep < 0 && stmt->reduction))
		return sums > 0 ? sums : 1;
	const int64_t known = lockstep < 0 ? 0 : heddle_fixed_extent(stmt->source->index[lockstep]->upper);
	const int64_t members = lockstep < 0 ? 1 : m->shape->width;
	const int lanes = count_lanes(stmt);
	/* one by one whatever the block: taps that a guard leaves, and members of what has no whole vector */
	if (lanes >= 0 && lanes == lockstep && !count_depends(m, lanes) && known == 0 && m->shape->guarded == 1 && !count_moves(stmt, lanes))
		return 1; /* reads_beside_terms has it */
	if (lanes >= 0) {
		const double again = m->shape->guarded == 1 ? reads_of_taps(c, m, lanes) : 1;
		if (again > 0)
			return again;
	} else if (known > 0 && known % members) {
		return rounds_at_edges(c, m);
	}
	const bool rows = has_inner_rows(m, lockstep, members);
	bool rolls = false; /* are copies a loop there? */
	for (int d = 0; d < stmt->n_dim; d++)
		rolls = rolls || (stmt->dim[d].member >= 0 && m->shape->d[d].unrolled && !m->shape->d[d].copied && stmt->dim[d].layout.items > 1);
	for (int d = 0; d < stmt->n_dim; d++) {
		const heddle_layout *layout = &stmt->dim[d].layout;
		if (stmt->reduction ? stmt->dim[d].reduction : stmt->dim[d].member < 0)
			continue;
		if (count_moves(stmt, d))
			return 1;
		const int64_t extent = m->shape->d[d].extent, tiles = extent / layout->tile, rest = extent % layout->tile;
		const bool depends = count_depends(m, d);
		const bool all_there = heddle_fixed_extent(stmt->source->index[d]->upper) > 0 && tiles + (rest > 0) == 1; /* its items, in any block */
		const bool filled = rest % layout->vector == 0;
		if (!depends && layout->items > 1 && m->shape->d[d].unrolled && count_has_loop_inside(c, m, d)) {
			each *= extent ? (double)extent / (m->shape->d[d].outer * (double)layout->tile) : 1;
			continue;
		}
		vectors = vectors || (depends && d == lockstep && !choose_divisible(stmt, d, members));
		if (depends || !m->shape->d[d].unrolled || has_member_loop(m->shape, d)) {
			const double part = extent && stmt->dim[d].member >= 0 && !(depends && all_there && filled) ? (double)(tiles * layout->tile) / (double)extent : 1;
			/* members that stand together in whole blocks, and are a loop in others */
			const bool apart = !depends && d != lockstep && layout->vector > 1 && m->shape->d[d].parts == 1 && m->shape->d[d].parts_at_edges > 1;
			whole *= apart ? (double)layout->vector : 1;
			all *= apart ? (double)layout->vector : 1;
			once *= part;
			whole *= part;
			named *= part;
			continue;
		}
		if (all_there) {
			once *= filled ? 1 : 0;
			whole *= filled ? 1 : 0;
			rounds *= m->shape->d[d].copied || count_has_loop_inside(c, m, d) ? 1 : (double)m->shape->d[d].items;
			continue;
		}
		copied = copied && (m->shape->d[d].copied || layout->items == 1);
		const int64_t v = d == lockstep ? m->shape->width : 1;
		const int64_t items = layout->tile / v, left = rest / v + rest % v;
		/* with names copies read once, and each round of what is a loop there */
		const bool one_by_one = d == lockstep && v == 1 && m->shape->d[d].parts_at_edges > 1; /* members are a loop at an edge only */
		const int64_t beside = one_by_one ? 1 : m->shape->d[d].copied ? layout->tile : layout->tile / layout->items;
		named *= (double)(tiles * (layout->tile / beside));
		/* but what is left of a vector is a loop, which reads it for each member */
		const bool apart = v > 1 && v == beside && (!m->shape->d[d].copied || rolls);
		rolled *= (double)(tiles * (layout->tile / beside) + (apart ? left : (rest + beside - 1) / beside));
		places *= items;
		others *= d == lockstep ? 1 : items;
		cut = cut || (items > 1 && !choose_divisible(stmt, d, layout->tile));
		if (stmt->dim[d].member < 0) { /* a loop inside of whole blocks: what it leaves for its last tile shares along the others */
			inside *= (double)(tiles + left);
			inside_named *= (double)(tiles + (rest > 0));
			whole *= (double)(tiles * items + left);
			all *= (double)(tiles * items + left);
			shared *= (double)(tiles + (rest > 0));
			continue;
		}
		once *= (double)tiles;
		whole *= (double)(tiles * items);
		all *= (double)(tiles * items + left);
		shared *= (double)(tiles + (rest > 0));
	}
	if (stmt->reduction && others > 1)
		inside = inside_named;
	/* single elements have names, but not those that other results of a sum ask for under conditions of their own */
	const bool parts = lockstep >= 0 && !stmt->dim[lockstep].reduction && m->shape->d[lockstep].extent % members != 0;
	if (shared == 0)
		return 1;
	/* whole vectors at the edge have one condition for all items */
	const double extent = lockstep < 0 ? 0 : (double)m->shape->d[lockstep].extent, rest = extent > 0 ? fmod(extent, (double)members) / extent : 0;
	if (rows && extent > 0) {
		const int64_t tile = stmt->dim[lockstep].layout.tile;
		const double last = fmod(extent, (double)tile) / extent;
		if (!copied) /* a loop over results is around what is left of the last tile, and around all in blocks that lack some */
			return each * (once * (1 - last) + whole * last + all - whole) / shared;
		return each * (1 - rest + rest * (tile == 2 ? once + all - whole : all) / shared); /* one element that is left has a name */
	}
	if (!vectors && places > 1 && (!stmt->reduction || others == 1 || m->shape->guarded != 1 || parts))
		return stmt->reduction ? 1 : each * (once + rolled - named) / shared;
	if (rounds > 1) /* what is there in any block is a loop in those at an edge */
		return each * (once * inside + (all - whole) * rounds) / shared;
	if (!vectors || (cut && !(copied && !stmt->reduction && count_within_guards(c, stmt, false) == 1)))
		return each * (once * inside + all - whole) / shared;
	return each * (1 - rest + rest * all / shared);
}

/* The last tile of a window may have fewer terms, whose reads results share less: what it reads by the share of its
 * terms. */
static double reads_of_rest(const movement *m)
{
	const heddle_stmt *stmt = m->shape->stmt;
	const double elements = count_elements(m);
	double factor = 1;
	for (int d = 0; d < stmt->n_dim; d++) {
		const heddle_layout *layout = &stmt->dim[d].layout;
		const int64_t extent = m->shape->d[d].extent, tiles = extent / layout->tile,
			      rest = extent % layout->tile;
		const bool window = stmt->dim[d].reduction && layout->items == layout->tile &&
				    m->shape->d[d].unrolled && count_depends(m, d);
		if (!window || count_moves(stmt, d) || tiles == 0 || rest == 0)
			continue;
		shape last = *m->shape;
		movement there = *m;
		last.d[d].items = rest;
		there.shape = &last;
		factor *= ((double)tiles * elements + count_elements(&there)) /
			  (elements * (double)extent / (double)layout->tile);
	}
	return factor;
}

/* Do some threads have fewer results along d than others, or none, in any block? */
static bool has_idle_threads(const heddle_stmt *stmt, int d)
{
	const heddle_layout *layout = &stmt->dim[d].layout;
	return layout->threads > 1 && heddle_fixed_extent(stmt->source->index[d]->upper) % (layout->threads * layout->vector) > 0;
}

/* Reads that stand in the text where each copy of what may be left out is under a condition, and a name is under one that follows from those of
 * all that use it: where there is none, each reads for itself.  Of those of each dimension so many exist as `there` says, 0: all; of dimension
 * `vectors` they are vectors (-1: single ones).  0: too many, or not affine. */
static double reads_with_names(const movement *m, const int64_t *there, int vectors)
{
	const heddle_stmt *stmt = m->shape->stmt;
	int64_t n[HEDDLE_MAX_DIM], places = 1;
	double reads = 0;
	int found = 0;
	for (int e = 0; e < m->tensor->rank; e++)
		if (!m->subscript[e].affine)
			return 0;
	for (int d = 0; d < stmt->n_dim; d++) {
		n[d] = !count_depends(m, d) ? 1 : m->shape->d[d].unrolled ? m->shape->d[d].items * m->shape->d[d].members : m->shape->d[d].members;
		n[d] = d == vectors && count_depends(m, d) ? (n[d] + stmt->dim[d].layout.vector - 1) / stmt->dim[d].layout.vector : n[d];
		if ((places *= n[d]) > MOST_ELEMENTS)
			return 0;
	}
	element *seen = heddle_xalloc(sizeof(*seen) * MOST_ELEMENTS), *when = heddle_xalloc(sizeof(*when) * MOST_ELEMENTS);
	int64_t *users = heddle_xalloc(sizeof(*users) * MOST_ELEMENTS);
	for (int64_t p = 0; p < places; p++) {
		element one = {{0}, 0}, under = {{0}, 0};
		int64_t rest = p;
		bool exists = true;
		for (int d = 0; d < stmt->n_dim; d++) {
			const heddle_layout *layout = &stmt->dim[d].layout;
			const int64_t k = rest % n[d] * (d == vectors ? layout->vector : 1);
			exists = exists && (there[d] == 0 || k < there[d]);
			rest /= n[d];
			for (int e = 0; e < m->tensor->rank; e++)
				one.at[e] += m->subscript[e].coefficient[d] * (k / layout->vector * layout->threads * layout->vector + k % layout->vector);
			under.at[d] = has_idle_threads(stmt, d) || is_left_out(stmt, d) ? k : 0;
		}
		if (!exists)
			continue;
		const int at = find_element(seen, found, &one, m->tensor->rank);
		if (at < 0) {
			seen[found] = one;
			when[found] = under;
			users[found++] = 1;
			continue;
		}
		users[at]++;
		bool before = true, after = true; /* its condition follows from the other's, or the other way around */
		for (int d = 0; d < stmt->n_dim; d++) {
			before = before && under.at[d] <= when[at].at[d];
			after = after && under.at[d] >= when[at].at[d];
		}
		when[at].branch |= !before && !after;
		for (int d = 0; d < stmt->n_dim && before; d++)
			when[at].at[d] = under.at[d];
	}
	for (int k = 0; k < found; k++)
		reads += when[k].branch ? (double)users[k] : 1;
	free(seen);
	free(when);
	free(users);
	return reads;
}

/* The same of blocks at an edge, or of all where none is whole, by what they would read of all elements on average: those that lack results along
 * a dimension that one thread has all of need less of a window.  0: not known. */
static double names_at_edges(const movement *m)
{
	const shape *s = m->shape;
	const int n_dim = s->stmt->n_dim;
	double sum = 0, ran = 0;
	for (int kind = 0; kind < (1 << n_dim); kind++) { /* of the block, along each dimension: whole, or cut */
		double blocks = 1, once = count_elements(m);
		int64_t there[HEDDLE_MAX_DIM] = {0};
		for (int d = 0; d < n_dim && blocks > 0; d++) {
			const heddle_layout *layout = &s->stmt->dim[d].layout;
			const int64_t rest = s->d[d].extent % layout->tile, tiles = s->d[d].extent / layout->tile;
			const bool written_out = s->d[d].unrolled || layout->items == 1, depends = count_depends(m, d);
			const bool cut = kind >> d & 1, apart = rest > 0 && tiles > 0 && layout->threads == 1 && written_out && depends && is_asked(s, d);
			blocks *= cut ? (apart ? 1 : 0) : apart ? (double)tiles : 1;
			there[d] = cut ? rest : 0;
			once *= cut ? (double)rest / (double)layout->tile : 1;
		}
		const double reads = blocks > 0 && (kind > 0 || !count_any_whole(s)) ? reads_with_names(m, there, -1) : -1;
		if (reads == 0)
			return 0;
		sum += reads > 0 ? blocks * reads : 0;
		ran += reads > 0 ? blocks * once : 0;
	}
	const int64_t all[HEDDLE_MAX_DIM] = {0};
	return ran > 0 ? sum / ran * count_elements(m) : reads_with_names(m, all, -1);
}

/* Of one thread that sums up nothing: what windows of results share in whole blocks is shared in others as far as there is any of it, copies stand
 * beside each other there, and conditions follow from each other.  So many times as if it were shared everywhere. */
static double reads_of_windows(const counter *c, const movement *m)
{
	const shape *s = m->shape;
	const heddle_stmt *stmt = s->stmt;
	const int lockstep = heddle_lockstep_dim(stmt, NULL);
	shape edge = *s;
	movement there = *m;
	double sum = 0, ran = 0, places = 1;
	if (c->kernel->threads > 1 || m->tile || stmt->reduction || s->guarded != 1 || stmt->access[0].group->space != HEDDLE_SPACE_GLOBAL)
		return 1;
	for (int d = 0; d < stmt->n_dim; d++) {
		if (count_moves(stmt, d) || stmt->dim[d].layout.rounds > 1 || s->d[d].parts > 1)
			return 1;
		places *= count_depends(m, d) ? (double)((s->d[d].unrolled ? s->d[d].items : 1) * s->d[d].members) : 1;
		edge.d[d].unrolled = s->d[d].copied;
	}
	const double elements = count_elements(m);
	there.shape = &edge;
	if (elements >= places)
		return 1;
	for (int kind = 0; kind < (1 << stmt->n_dim); kind++) { /* of the block, along each dimension: whole, or cut */
		double blocks = 1, once = elements, loops = 1, of_vectors = 1;
		int64_t left[HEDDLE_MAX_DIM] = {0};
		for (int d = 0; d < stmt->n_dim && blocks > 0; d++) {
			const heddle_layout *layout = &stmt->dim[d].layout;
			const int64_t rest = s->d[d].extent % layout->tile, tiles = s->d[d].extent / layout->tile;
			const bool cut = kind >> d & 1, depends = count_depends(m, d), asked = rest > 0 && tiles > 0 && is_asked(s, d);
			const int64_t n = cut ? rest : layout->tile;
			blocks *= cut ? (asked ? 1 : 0) : asked ? (double)tiles : 1;
			left[d] = cut ? rest : 0;
			once *= cut && depends ? (double)rest / (double)layout->tile : 1;
			if (depends && s->d[d].unrolled && !s->d[d].copied)
				loops *= (double)choose_least(s->d[d].items, (n + layout->vector - 1) / layout->vector);
			else if (depends && !s->d[d].unrolled) /* a loop in whole blocks, too */
				loops *= (double)n / (double)layout->tile;
			of_vectors *= d == lockstep && depends ? (double)choose_least(layout->vector, n) : 1;
		}
		const double reads = blocks == 0 ? 0 : kind == 0 && count_any_whole(s) ? elements : loops * of_vectors * reads_with_names(&there, left, lockstep);
		if (blocks > 0 && reads == 0)
			return 1;
		sum += blocks * reads;
		ran += blocks * once;
	}
	return ran > 0 ? sum / ran : 1;
}

bool count_goes_on(const heddle_stmt *stmt)
{
	bool own = stmt->reduction;
	for (int a = 1; a < stmt->n_access; a++)
		own = own || (stmt->access[a].tensor == stmt->access[0].tensor && stmt->access[0].group->space == HEDDLE_SPACE_REGISTER);
	return own;
}

/* Reads that stand in the text of a block at an edge for what is read once in whole ones: where results of a window
 * need the same they share it there only.  `named`: but for rounds of loops that there are at an edge only. */
static double reads_apart(const movement *m, bool named)
{
	shape edge = *m->shape;
	movement there = *m;
	double reads = 1;
	there.shape = &edge;
	for (int d = 0; d < edge.stmt->n_dim; d++) {
		const heddle_layout *layout = &edge.stmt->dim[d].layout;
		const bool depends = count_depends(m, d), unrolled = edge.d[d].unrolled;
		if (!named)
			reads *= depends ? (double)((unrolled ? edge.d[d].items : 1) * edge.d[d].members) : 1;
		else if (unrolled && !edge.d[d].copied && (depends || choose_divisible(edge.stmt, d, layout->tile)))
			reads *= (double)edge.d[d].items;
		edge.d[d].unrolled = unrolled && edge.d[d].copied;
	}
	const double names = named ? names_at_edges(&there) : 0;
	return fmax(1, (named ? reads * (names > 0 ? names : count_elements(&there)) : reads) / count_elements(m));
}

double count_single_elements(const counter *c, const movement *m, int lockstep)
{
	const heddle_stmt *stmt = m->shape->stmt;
	int along = lockstep;
	if (!m->tile)
		return 1;
	if (count_access_width(c, m) > 1 && count_lockstep(m) >= 0 && !stmt->dim[count_lockstep(m)].reduction)
		return 0;
	for (int d = 0; d < stmt->n_dim; d++) /* lanes of terms beside vectors of results */
		if (stmt->dim[d].reduce == HEDDLE_REDUCE_LANES && (along < 0 || !count_depends(m, along)))
			along = d;
	if (along < 0 || stmt->dim[along].layout.vector == 1 || !count_depends(m, along))
		return 1;
	if (!stmt->dim[along].reduction)
		return 0;
	const int row = heddle_tile_array_row(m->tile);
	const int64_t members = m->shape->d[along].members;
	const bool beside = m->subscript[row].coefficient[along] == m->tile->phases && count_tile_begin(m, row, 2, NULL) == 0;
	return beside ? (double)(members % 2) / (double)members : 1;
}

/* Of a sum of many threads that asks for no thread's results, since tiles hold something for those that do not exist: so many times as if all were
 * shared.  0: it is another. */
static double reads_of_first(const counter *c, const movement *m)
{
	const heddle_stmt *stmt = m->shape->stmt;
	const shape *s = m->shape;
	place_part part[2 * HEDDLE_MAX_DIM];
	int64_t there[HEDDLE_MAX_DIM];
	bool asked[HEDDLE_MAX_DIM] = {0}, apart[HEDDLE_MAX_DIM] = {0};
	int n_part = 0;
	double sum = 0, ran = 0;
	if (!stmt->reduction || s->guarded != 1 || count_own_results(c->kernel))
		return 0;
	for (int e = 0; e < m->tensor->rank; e++)
		if (!m->subscript[e].affine)
			return 0;
	for (int d = 0; d < stmt->n_dim; d++) {
		const heddle_dim *dim = &stmt->dim[d];
		if (count_moves(stmt, d) || dim->layout.rounds > 1 || s->d[d].parts > 1)
			return 0;
		asked[d] = dim->member >= 0 && is_asked(s, d);
		const bool idle = dim->member >= 0 && !s->d[d].harmless && has_idle_threads(stmt, d);
		apart[d] = dim->layout.threads > 1 && (idle ? dim->layout.threads == dim->layout.tile : asked[d]); /* the first one asks, too */
		if ((idle && !apart[d]) || (asked[d] && !s->d[d].unrolled))
			return 0;
		asked[d] = asked[d] && !apart[d];
	}
	for (int members = 0; members < 2; members++)
		for (int d = 0; d < stmt->n_dim; d++) {
			const heddle_layout *layout = &stmt->dim[d].layout;
			const int64_t items = s->d[d].unrolled ? s->d[d].items : 1;
			if (apart[d])
				continue;
			if (members)
				part[n_part++] = (place_part){d, s->d[d].members, 1, 1, true, asked[d]};
			else
				part[n_part++] = (place_part){d, items, layout->vector, layout->threads * layout->vector, true, asked[d]};
		}
	order_parts(part, n_part, -1);
	for (int kind = 0; kind < (1 << stmt->n_dim); kind++) { /* of the block, along each dimension: whole, or cut */
		double blocks = 1, once = count_elements(m), results = 1; /* of a thread, that ask for themselves */
		bool whole = true;
		for (int d = 0; d < stmt->n_dim && blocks > 0; d++) {
			const heddle_layout *layout = &stmt->dim[d].layout;
			const int64_t tile = layout->tile, rest = s->d[d].extent % tile;
			const bool cut = kind >> d & 1;
			there[d] = INT64_MAX;
			if (stmt->dim[d].member < 0) {
				blocks *= cut ? 0 : 1;
				continue;
			}
			blocks *= cut ? (rest > 0 ? 1 : 0) : (double)(s->d[d].extent / tile);
			results *= apart[d] ? (double)(cut ? rest : tile) / (double)layout->threads : 1;
			const double busy = (double)choose_least(layout->threads, (rest + layout->vector - 1) / layout->vector) / (double)layout->threads;
			once *= apart[d] && cut ? count_depends(m, d) ? (double)rest / (double)tile : busy : 1;
			whole = whole && !(cut && is_left_out(stmt, d));
			there[d] = cut && asked[d] ? rest : INT64_MAX;
			once *= cut && asked[d] && count_depends(m, d) ? (double)rest / (double)tile : 1;
		}
		const double reads = blocks == 0 ? 0 : whole ? once : results * reads_of_tree(m, part, n_part, there, NULL, false);
		if (reads < 0)
			return 0;
		sum += blocks * reads;
		ran += blocks * once;
	}
	return ran > 0 ? sum / ran : 0;
}

/* Is the access one to whole vectors of results along d? */
static bool reads_vectors(const counter *c, const movement *m, int d)
{
	return count_depends(m, d) && count_lockstep(m) == d && count_access_width(c, m) > 1;
}

/* Does the sum read any, all of whose results it goes on with at once? */
static bool sums_vectors(const counter *c, const shape *s, int d)
{
	for (int a = 1; a < s->stmt->n_access; a++) {
		const heddle_access *access = &s->stmt->access[a];
		const bool shared = access->group->space == HEDDLE_SPACE_SHARED;
		movement m = {.shape = s, .access = access, .tensor = access->tensor, .tile = shared ? access->group : NULL};
		if (!m.tensor->rank || !access->affine || (!shared && access->group->space != HEDDLE_SPACE_GLOBAL))
			continue;
		m.subscript = count_subscripts(c, s->stmt, access);
		for (int k = 0; k < s->stmt->n_dim; k++)
			m.dims[k] = true;
		if (reads_vectors(c, &m, d))
			return true;
	}
	return false;
}

/* Is it a sum of many threads that reads vectors of results along d, some of which may be missing, and results of a box? */
static bool is_sum_of_vectors(const counter *c, const movement *m, int d)
{
	const heddle_stmt *stmt = m->shape->stmt;
	if (c->kernel->threads == 1 || !stmt->reduction || m->shape->guarded != 1 || count_own_results(c->kernel) || d < 0 || stmt->dim[d].member < 0 ||
	    !is_asked(m->shape, d) || count_within_guards(c, stmt, false) < 1)
		return false;
	for (int e = 0; e < m->tensor->rank; e++)
		if (!m->subscript[e].affine)
			return false;
	for (int o = 0; o < stmt->n_dim; o++) {
		const heddle_layout *layout = &stmt->dim[o].layout;
		if (count_moves(stmt, o) || layout->rounds > 1 || m->shape->d[o].parts > 1 || !is_alone(m, o))
			return false;
		if (stmt->dim[o].member >= 0 && (heddle_fixed_extent(stmt->source->index[o]->upper) % layout->tile || (layout->items > 1 && !m->shape->d[o].unrolled)))
			return false;
	}
	return sums_vectors(c, m->shape, d);
}

/* Reads of all threads of a block that has so many results of each dimension, some of which may be missing: the condition of a whole vector along
 * `along` is around all that it takes, and those of other results of the thread are inside, but for vectors, which have a name outside of these.  Each
 * result of what is left of a vector reads for itself under other results' conditions.  -1: too many. */
static double reads_of_vector_sums(const counter *c, const movement *m, int along, const int64_t *values)
{
	const heddle_stmt *stmt = m->shape->stmt;
	const int64_t v = choose_least(stmt->dim[along].layout.vector, c->language->max_vector);
	const bool named = reads_vectors(c, m, along);
	place_part part[HEDDLE_MAX_DIM];
	double threads = 1, left = (double)(values[along] % v);
	int n = 0;
	for (int d = 0; d < stmt->n_dim; d++) {
		const heddle_layout *layout = &stmt->dim[d].layout;
		const bool asked = is_asked(m->shape, d), depends = count_depends(m, d);
		if (stmt->dim[d].member < 0 || d == along)
			continue;
		left *= asked || depends ? (double)values[d] : (double)layout->threads;
		if (layout->threads == 1)
			part[n++] = (place_part){d, values[d], 1, 1, true, asked};
		else /* the first one asks, too */
			threads *= depends || (asked && !named) ? (double)values[d] : fmin((double)layout->threads, ceil((double)values[d] / (double)layout->vector));
	}
	order_parts(part, n, -1);
	const double reads = reads_of_tree(m, part, n, values, NULL, false);
	return reads < 0 ? -1 : (double)(values[along] / v) * threads * reads * (count_depends(m, along) ? (double)v : 1) + left;
}

double count_sums_of_vectors(const counter *c, const movement *m)
{
	const heddle_stmt *stmt = m->shape->stmt;
	const shape *s = m->shape;
	const int along = heddle_lockstep_dim(stmt, NULL);
	double sum = 0, once = 1;
	if (!is_sum_of_vectors(c, m, along))
		return 0;
	for (int kind = 0; kind < (1 << stmt->n_dim); kind++) { /* of the block, along each dimension: whole, or cut */
		double blocks = 1, shared = 1;
		int64_t values[HEDDLE_MAX_DIM];
		for (int d = 0; d < stmt->n_dim; d++) {
			const heddle_layout *layout = &stmt->dim[d].layout;
			const int64_t rest = s->d[d].extent % layout->tile;
			const bool cut = kind >> d & 1;
			values[d] = cut && !s->d[d].harmless ? rest : layout->tile;
			if (stmt->dim[d].member < 0)
				blocks *= cut ? 0 : 1;
			else
				blocks *= cut ? (rest > 0 ? 1 : 0) : (double)(s->d[d].extent / layout->tile);
			shared *= stmt->dim[d].member < 0 ? 1 : (double)(count_depends(m, d) ? layout->tile : layout->threads);
		}
		const double reads = blocks == 0 ? 0 : kind == 0 ? shared : reads_of_vector_sums(c, m, along, values);
		if (reads < 0)
			return 0;
		sum += blocks * reads;
	}
	for (int d = 0; d < stmt->n_dim; d++) {
		const bool all = s->d[d].harmless, depends = count_depends(m, d);
		if (stmt->dim[d].member < 0)
			continue;
		once *= depends ? (all ? s->d[d].outer * (double)stmt->dim[d].layout.tile : (double)s->d[d].extent)
				: s->d[d].outer * (all ? 1 : s->d[d].busy) * (double)stmt->dim[d].layout.threads;
	}
	return once > 0 ? sum / once : 0;
}

/* Reads of one thread for the terms of one result, which are lanes along d, of what does not depend on them: in whole blocks, or in others.  Lanes of a
 * tile that lacks terms stand under a condition each, but for the first of a step, which there is; in the last tile of whole blocks it is known
 * only of what is left of the first step.  `vectors`: whole ones have one condition. */
static double reads_beside_steps(const shape *s, int d, bool vectors, bool whole)
{
	const heddle_layout *layout = &s->stmt->dim[d].layout;
	const int64_t v = layout->vector, tiles = s->d[d].extent / layout->tile, rest = s->d[d].extent % layout->tile;
	const bool loop = !s->d[d].unrolled && layout->items > 1;
	const double begun = ceil((double)rest / (double)v);
	if (!whole)
		return loop ? (double)(tiles * layout->items) + begun : (double)tiles + (rest > 0);
	const int64_t first = loop ? 0 : choose_least(rest, v), others = rest - first;
	const double last = vectors ? (double)(others / v + others % v) : (double)others;
	return (double)(tiles * (loop ? layout->items : 1)) + (first > 0) + last;
}

double count_beside_lanes(const counter *c, const movement *m)
{
	const heddle_stmt *stmt = m->shape->stmt;
	const shape *s = m->shape;
	const int lanes = heddle_lockstep_dim(stmt, NULL);
	double sum = 0, once = 1;
	if (c->kernel->threads == 1 || !stmt->reduction || lanes < 0 || !stmt->dim[lanes].reduction || count_depends(m, lanes) || s->guarded != 1 ||
	    count_own_results(c->kernel) || count_within_guards(c, stmt, false) < 1 || stmt->dim[lanes].layout.threads > 1 ||
	    heddle_fixed_extent(stmt->source->index[lanes]->upper) > 0 || stmt->dim[lanes].layout.vector > c->language->max_vector)
		return 0;
	for (int e = 0; e < m->tensor->rank; e++)
		if (!m->subscript[e].affine)
			return 0;
	const bool vectors = sums_vectors(c, s, lanes);
	for (int d = 0; d < stmt->n_dim; d++) {
		const heddle_layout *layout = &stmt->dim[d].layout;
		if (count_moves(stmt, d) || layout->rounds > 1 || s->d[d].parts > 1 || s->d[d].extent < 1 || !is_alone(m, d) || (d != lanes && stmt->dim[d].reduction))
			return 0;
		if (stmt->dim[d].reduction)
			continue;
		if (stmt->dim[d].member < 0 || heddle_fixed_extent(stmt->source->index[d]->upper) % layout->tile || (layout->items > 1 && !s->d[d].unrolled) ||
		    (vectors && s->d[d].extent % layout->tile)) /* which results of a block at an edge have a name depends on the order */
			return 0;
	}
	for (int kind = 0; kind < (1 << stmt->n_dim); kind++) { /* of the block, along each dimension: whole, or cut */
		double blocks = 1, shared = 1, each = 1;
		bool asked = false;
		for (int d = 0; d < stmt->n_dim; d++) {
			const heddle_layout *layout = &stmt->dim[d].layout;
			const int64_t rest = s->d[d].extent % layout->tile;
			const bool cut = kind >> d & 1, asks = !stmt->dim[d].reduction && is_asked(s, d);
			const int64_t values = cut && asks ? rest : layout->tile;
			if (stmt->dim[d].reduction) {
				blocks *= cut ? 0 : 1;
				continue;
			}
			blocks *= cut ? (rest > 0 ? 1 : 0) : (double)(s->d[d].extent / layout->tile);
			shared *= (double)(count_depends(m, d) ? values : layout->threads);
			each *= (double)(count_depends(m, d) || asks ? values : layout->threads);
			asked = asked || asks;
		}
		const bool terms = kind > 0 && asked; /* results ask for themselves */
		sum += blocks * (terms ? each * (double)s->d[lanes].extent : shared * reads_beside_steps(s, lanes, vectors, kind == 0));
	}
	for (int d = 0; d < stmt->n_dim; d++) {
		const bool all = s->d[d].harmless || m->whole;
		if (d == lanes)
			once *= s->d[d].unrolled ? s->d[d].outer : (double)s->d[d].extent / (double)stmt->dim[d].layout.vector;
		else
			once *= count_depends(m, d) ? (all ? s->d[d].outer * (double)stmt->dim[d].layout.tile : (double)s->d[d].extent)
						    : s->d[d].outer * (all ? 1 : s->d[d].busy) * (double)stmt->dim[d].layout.threads;
	}
	return once > 0 ? sum / once : 0;
}

/* Does a statement that sums up nothing read along its vectors, which are inside of other members, what those share? */
static bool has_members_beside(const counter *c, const movement *m, int along)
{
	const heddle_stmt *stmt = m->shape->stmt;
	bool any = false;
	if (m->shape->inner < 0 || m->tile || count_goes_on(stmt) || m->shape->guarded != 1 || count_own_results(c->kernel) ||
	    !count_depends(m, along) || m->shape->width < 2 || stmt->access[0].group->space != HEDDLE_SPACE_GLOBAL || count_within_guards(c, stmt, false) < 1)
		return false;
	for (int e = 0; e < m->tensor->rank; e++)
		if (!m->subscript[e].affine)
			return false;
	for (int d = 0; d < stmt->n_dim; d++) {
		const heddle_layout *layout = &stmt->dim[d].layout;
		if (count_moves(stmt, d) || layout->rounds > 1 || m->shape->d[d].parts > 1 || m->shape->d[d].extent < 1 || !is_alone(m, d) ||
		    heddle_fixed_extent(stmt->source->index[d]->upper) % layout->tile)
			return false;
		any = any || (d != along && !count_depends(m, d) && layout->vector > 1);
	}
	return any;
}

/* Reads of all threads for so many values of dimension d, which the access does not depend on, in a block that lacks some results. */
static double reads_beside(const shape *s, int d, int64_t values)
{
	const heddle_layout *layout = &s->stmt->dim[d].layout;
	const double begun = ceil((double)values / (double)layout->vector);
	if (s->d[d].parts_at_edges > 1) /* members are a loop there */
		return (double)values;
	return s->d[d].copied || layout->items == 1 ? fmin((double)layout->threads, begun) : begun;
}

double count_members_beside(const counter *c, const movement *m)
{
	const heddle_stmt *stmt = m->shape->stmt;
	const shape *s = m->shape;
	const int along = s->inner;
	double sum = 0, once = 1;
	if (!has_members_beside(c, m, along))
		return 0;
	const bool loop = !count_indexes_registers(c, stmt, along); /* over what is left of a vector */
	for (int kind = 0; kind < (1 << stmt->n_dim); kind++) { /* of the block, along each dimension: whole, or cut */
		double blocks = 1, shared = 1, copies = 1, each = 1, full = 1, left = 0; /* in whole blocks; in others, of vectors and of single members */
		for (int d = 0; d < stmt->n_dim; d++) {
			const heddle_layout *layout = &stmt->dim[d].layout;
			const int64_t extent = s->d[d].extent, rest = extent % layout->tile, tiles = extent / layout->tile;
			const bool cut = kind >> d & 1, inside = stmt->dim[d].member < 0, depends = count_depends(m, d);
			const int64_t values = inside ? extent : cut ? rest : layout->tile;
			const double of_tile = s->d[d].unrolled ? (double)layout->threads : (double)(layout->threads * layout->items);
			blocks *= inside ? !cut : cut ? rest > 0 : (double)tiles;
			if (d == along) {
				left = (double)(values % s->width);
				full = (double)values - left;
			} else if (!depends && inside) { /* a loop in each block */
				const double begun = ceil((double)rest / (double)layout->vector);
				shared *= (double)tiles * of_tile + (s->d[d].copied ? begun > 0 : begun);
				copies *= (double)tiles * reads_beside(s, d, layout->tile) + reads_beside(s, d, rest);
				each *= (double)extent;
				continue;
			} else if (!depends) {
				copies *= reads_beside(s, d, values);
			}
			shared *= depends ? (double)values : of_tile;
			each *= d == along ? 1 : (double)values;
			copies *= depends && d != along ? (double)values : 1;
		}
		sum += blocks == 0 ? 0 : blocks * (kind == 0 ? shared : full * copies + left * (loop ? each : copies));
	}
	for (int d = 0; d < stmt->n_dim; d++) {
		const double extent = (double)s->d[d].extent;
		once *= count_depends(m, d)  ? extent
			: s->d[d].unrolled ? s->d[d].outer * s->d[d].busy * (double)stmt->dim[d].layout.threads
					   : extent / (double)stmt->dim[d].layout.vector;
	}
	return once > 0 ? sum / once : 0;
}

/* The same of many threads: in blocks at an edge each item computes its result, or adds to its sum, under a condition of its own, and reads what it
 * takes there; what is `named` has a name for all copies, whose conditions all hold only where the first one's does. */
static double reads_of_copies(const counter *c, const movement *m, double single, bool named)
{
	const heddle_stmt *stmt = m->shape->stmt;
	const int lockstep = heddle_lockstep_dim(stmt, NULL);
	double once = count_own_results(c->kernel) ? 0 : 1, all = 1, shared = 1;
	if (!stmt->reduction)
		once = count_within_guards(c, stmt, false);
	double whole = once;
	for (int d = 0; d < stmt->n_dim; d++) {
		const heddle_layout *layout = &stmt->dim[d].layout;
		const shape *s = m->shape;
		if (stmt->dim[d].member < 0 || choose_divisible(stmt, d, layout->tile) ||
		    count_guards(stmt, d)) /* what a guard leaves is counted by it */
			continue;
		if (count_moves(stmt, d) || layout->rounds > 1)
			return 1;
		const int64_t known = heddle_fixed_extent(stmt->source->index[d]->upper);
		if (known > 0 && known < layout->tile && layout->threads == 1 && !named) { /* all of them are there in any block, of which none may be whole */
			once *= known % layout->vector ? 0 : 1;
			whole *= known % layout->vector ? 0 : 1;
			continue;
		}
		const int64_t extent = s->d[d].extent, tiles = extent / layout->tile;
		const bool depends = count_depends(m, d);
		const double runs = s->d[d].harmless ? s->d[d].outer * (double)layout->tile : (double)extent;
		if (depends || !s->d[d].unrolled) {
			const double part = runs > 0 ? (double)(tiles * layout->tile) / runs : 1;
			once *= part;
			whole *= part;
			continue;
		}
		const bool again = named ? !s->d[d].copied : !s->d[d].harmless; /* those of which nothing is asked share */
		const int64_t vector = named && d == lockstep && s->width > 1 && s->d[d].parts == 1 ? s->width : 1, places = again ? layout->tile / vector : layout->threads;
		once *= (double)(tiles * layout->threads);
		whole *= (double)(tiles * places);
		all *= again ? ceil(runs / (double)vector) : s->d[d].outer * (double)layout->threads * (s->d[d].harmless ? 1 : s->d[d].busy);
		shared *= s->d[d].outer * (double)layout->threads * (s->d[d].harmless ? 1 : s->d[d].busy);
	}
	/* where results of a window need the same they share it, but not at an edge */
	return shared > 0 ? 1 - single +
				    single * (once + (all - whole) * reads_apart(m, named) / reads_of_rest(m)) / shared
			  : 1;
}

/* The same: named is what goes on with no value, and vectors of what one result takes at once. */
static double reads_of_items(const counter *c, const movement *m)
{
	const heddle_stmt *stmt = m->shape->stmt;
	const bool adds = count_goes_on(stmt);
	int64_t any[HEDDLE_MAX_DIM];
	if (c->kernel->threads == 1 || (m->tile && !(stmt->reduction && count_reads_memory(stmt))) || count_ends_of_threads(c, m) > 0)
		return 1;
	const double vectors = count_beside_lanes(c, m) > 0 ? 1 : stmt->reduction ? count_sums_of_vectors(c, m) : count_members_beside(c, m);
	if (vectors > 0)
		return vectors;
	for (int d = 0; d < HEDDLE_MAX_DIM; d++)
		any[d] = -1;
	const double single = count_single_elements(c, m, heddle_lockstep_dim(stmt, NULL));
	if (single == 0 || (!stmt->reduction && (count_own_results(c->kernel) || (adds && count_member_width(c, m, any) > 1))))
		return 1;
	const double wide = adds ? count_wide_share(c, m) : 1, first = single == 1 && wide < 1 ? reads_of_first(c, m) : 0;
	const double apart = first > 0 ? first : wide < 1 ? reads_of_copies(c, m, single, false) : 0;
	return (1 - wide) * apart + (wide > 0 ? wide * reads_of_copies(c, m, single, true) : 0);
}

double count_again(const counter *c, const movement *m)
{
	const double moving = count_moving_sums(c, m);
	if (moving > 0)
		return moving;
	return count_left(c, m, reads_at_edges(c, m)) * reads_of_windows(c, m) * reads_of_items(c, m) * reads_of_rest(m) * count_at_ends(c, m);
}
