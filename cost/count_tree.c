/* The tree of conditions around what a block reads.
 * SPDX-License-Identifier: MIT
 */
#include "cost/count_tree.h"

#include <stdlib.h>
#include <string.h>

bool count_is_left_out(const heddle_stmt *stmt, int d)
{
	const int64_t tile = stmt->dim[d].layout.tile, known = heddle_fixed_extent(stmt->source->index[d]->upper);
	return !choose_divisible(stmt, d, tile) && !(known > 0 && known <= tile);
}

bool count_is_asked(const shape *s, int d)
{
	return !s->d[d].harmless && count_is_left_out(s->stmt, d);
}

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

/* Is it under any condition? */
static bool is_asked(const tree_read *read, int n)
{
	for (int k = 0; k < n; k++)
		if (read->key[k])
			return true;
	return false;
}

void count_order_parts(place_part *part, int n, int outside)
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
static bool has_others(const movement *m, const place_part *part, const int64_t *at, int n, const left_members *left, bool outside)
{
	bool inside = true;
	for (int k = n - 1; k >= 0; k--) {
		const heddle_layout *layout = &m->shape->stmt->dim[part[k].dim].layout;
		int64_t other[2 * HEDDLE_MAX_DIM];
		memcpy(other, at, sizeof(*at) * (size_t)n);
		other[k] = 1;
		const bool only = layout->tile == 2 * part[k].step; /* there are no more than these two */
		const bool apart = part[k].asked && only && !outside && left->last && is_last(m->shape->stmt, part, n, other, left->last);
		if (part[k].several && at[k] == 0 && !count_depends(m, part[k].dim) && (inside || !part[k].asked) && !apart)
			return true;
		inside = inside && !(part[k].asked && at[k]);
	}
	return false;
}

double count_reads_of_tree(const movement *m, const place_part *part, int n, const int64_t *there, const left_members *left, bool alone)
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
		/* under conditions there is no name for what members of a further vector read, as it is not known that there are any */
		const bool unknown = left && left->empty && !outside;
		bool known = false;
		for (int k = 0; k < found && !known; k++)
			known = !memcmp(seen[k].element, one.element, sizeof(one.element)) && is_under(&seen[k], &one, n) &&
				(seen[k].apart || !one.apart || !left->branch) && (!unknown || !is_asked(&seen[k], n));
		if (known)
			continue;
		seen[found++] = one;
		const bool shared = !left || !left->n || (!unknown && has_others(m, part, at, n, left, outside)) || (outside && left->several);
		reads += left && left->named && outside ? 0 : shared ? 1 : (double)left->n;
	} while (next_place(part, n, at));
	free(seen);
	return reads;
}

bool count_is_inner(const heddle_stmt *stmt, int d)
{
	return !stmt->dim[d].reduction && stmt->dim[d].member < 0 && stmt->dim[d].layout.tile > 1;
}

int count_parts_of_place(const shape *s, int lockstep, const int64_t *values, bool whole, place_part part[2 * HEDDLE_MAX_DIM])
{
	const heddle_stmt *stmt = s->stmt;
	bool asked[HEDDLE_MAX_DIM];
	int n = 0;
	for (int d = 0; d < stmt->n_dim; d++)
		asked[d] = count_is_asked(s, d) && (!whole || count_is_inner(stmt, d));
	if (lockstep >= 0 && !stmt->dim[lockstep].reduction)
		for (int d = 0; d < stmt->n_dim; d++) /* lanes beside a vector are copies of the terms */
			if (stmt->dim[d].reduction && stmt->dim[d].layout.vector > 1)
				part[n++] = (place_part){d, stmt->dim[d].layout.vector, 1, 1, true, !whole && !choose_divisible(stmt, d, stmt->dim[d].layout.vector)};
	for (int kind = 0; kind < 4; kind++) /* vectors are inside of others, and results of blocks inside of those of their loops */
		for (int d = 0; d < stmt->n_dim; d++) {
			const int64_t v = stmt->dim[d].layout.vector;
			if (d != lockstep && !stmt->dim[d].reduction && kind == 2 * (v > 1) + !count_is_inner(stmt, d))
				part[n++] = (place_part){d, (values[d] + v - 1) / v, v, v, stmt->dim[d].layout.tile > v && !count_guards(stmt, d), asked[d]};
		}
	for (int d = 0; d < stmt->n_dim; d++) {
		const int64_t v = stmt->dim[d].layout.vector;
		if (!stmt->dim[d].reduction && v > 1 && d != lockstep)
			part[n++] = (place_part){d, v, 1, 1, true, asked[d]};
	}
	return n;
}

double count_reads_of_left(const place_part *part, int n, const int64_t *there, int64_t left)
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

double count_block_reads(const counter *c, const movement *m, int lockstep, const int64_t *values, bool whole, int outside, int alone)
{
	place_part part[2 * HEDDLE_MAX_DIM + 1];
	const heddle_stmt *stmt = m->shape->stmt;
	const int n = count_parts_of_place(m->shape, lockstep, values, whole, part);
	const int64_t v = lockstep < 0 ? 1 : choose_least(stmt->dim[lockstep].layout.vector, c->language->max_vector);
	const bool along = lockstep >= 0 && count_depends(m, lockstep);
	for (int k = 0; k < n; k++) {
		part[k].several = part[k].several && part[k].dim != alone;
		part[k].asked = part[k].asked || part[k].dim == outside;
	}
	count_order_parts(part, n, outside);
	if (lockstep < 0)
		return count_reads_of_tree(m, part, n, values, NULL, false);
	const bool all_there = whole && !count_is_inner(stmt, lockstep);
	if (all_there || (values[lockstep] % v == 0 && lockstep != outside && (m->shape->d[lockstep].harmless || choose_divisible(stmt, lockstep, v)))) {
		memmove(part + 1, part, sizeof(*part) * (size_t)n);
		part[0] = (place_part){lockstep, values[lockstep] / v, v, v, true, count_is_asked(m->shape, lockstep) && !all_there};
		count_order_parts(part, n + 1, outside);
		return count_reads_of_tree(m, part, n + 1, values, NULL, false) * (along ? (double)v : 1);
	}
	int64_t last[HEDDLE_MAX_DIM];
	double reads = 0;
	const int64_t tile = stmt->dim[lockstep].layout.tile;
	bool moves = false; /* each vector asks where its sums end */
	for (int d = 0; d < stmt->n_dim; d++) {
		moves = moves || (stmt->dim[d].reduction && count_is_tied(c, stmt, d, lockstep));
		last[d] = d != lockstep && stmt->dim[d].member >= 0 && count_is_asked(m->shape, d) ? stmt->dim[d].layout.tile - 1 : 0;
	}
	const int64_t known = heddle_fixed_extent(stmt->source->index[lockstep]->upper);
	for (int64_t from = 0; from < values[lockstep]; from += v) {
		const int64_t left = values[lockstep] - from;
		if (from > 0 && !along && known > 0 && known <= tile) /* nothing is asked between them, and the first one's names are there */
			break;
		/* a single one of which it is known that it is left is no loop, and has a name */
		const bool single = along && left == 1 && v > 1 && known > 0;
		const bool ends = from + v == tile && stmt->dim[lockstep].member >= 0 && left < v;
		const left_members members = {.n = !along && left < v ? left : 0,
					      .named = !along && from > 0,
					      .several = !along && lockstep != alone && tile > v,
					      .empty = !along && from > 0 && left < v && !moves,
					      .branch = single,
					      .last = ends ? last : NULL};
		const double here = count_reads_of_tree(m, part, n, values, &members, false);
		if (here < 0)
			return -1;
		reads += !along || single ? here : left < v ? count_reads_of_left(part, n, values, left) : here * (double)v;
	}
	return reads;
}

double count_under_conditions(const counter *c, const movement *m, int lockstep, const int64_t *values, int outside, int alone)
{
	return count_block_reads(c, m, lockstep, values, false, outside, alone);
}
