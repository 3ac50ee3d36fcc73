/* Subsets that can be seen, condition by condition: { [x] : c x + k >= 0 } as rows of integers.
 * SPDX-License-Identifier: MIT
 */
#include "model/plain.h"

#include "base/base.h"

#include <isl/local_space.h>
#include <isl/mat.h>
#include <isl/space.h>
#include <isl/val.h>
#include <stdint.h>
#include <stdlib.h>

/* Sums over hundreds of dimensions, of coefficients of three rows times a bound, stay below 2^63. */
#define MOST_COEFFICIENT (INT64_C(1) << 20)
#define MOST_BOUND (INT64_C(1) << 32)
#define UNBOUNDED INT64_MAX

/* A convex piece of a set.  Its columns are the constant, parameters, dimensions, and quotients. */
typedef struct piece {
	isl_local_space *space;
	int n, columns, outside; /* rows; columns, `outside` of them are no quotients */
	int64_t *row;		 /* n times columns: row . (1, x) >= 0 */
	int64_t *least, *most;	 /* of the variable of each column, as the rows say */
} piece;

typedef struct pieces {
	int n;
	bool failed; /* a coefficient is too large */
	piece *item;
} pieces;

/* UNBOUNDED: it is too large. */
static int64_t element(__isl_keep isl_mat *mat, int row, int column)
{
	isl_val *v = isl_mat_get_element_val(mat, row, column);
	const int64_t most = column ? MOST_COEFFICIENT : MOST_BOUND;
	int64_t i = UNBOUNDED;
	if (isl_val_is_zero(v) == isl_bool_true) /* most are */
		i = 0;
	else if (isl_val_cmp_si(v, (long)most) <= 0 && isl_val_cmp_si(v, (long)-most) >= 0)
		i = isl_val_get_num_si(v);
	isl_val_free(v);
	return i;
}

static void add_rows(pieces *all, piece *p, __isl_keep isl_mat *mat, bool equal)
{
	const isl_size rows = isl_mat_rows(mat);
	for (int i = 0; i < rows; i++) {
		int64_t *row = &p->row[p->n++ * p->columns];
		for (int k = 0; k < p->columns; k++)
			all->failed |= (row[k] = element(mat, i, k)) == UNBOUNDED;
		for (int k = 0; k < p->columns && equal; k++)
			p->row[p->n * p->columns + k] = -row[k];
		p->n += equal;
	}
}

/* Rounded down, for b > 0. */
static int64_t floor_of(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

static bool is_bound(int64_t i)
{
	return i <= MOST_BOUND && i >= -MOST_BOUND;
}

/* What the row says of the variable of column k where the rest of it is at most `rest`. */
static void narrow(piece *p, const int64_t *row, int k, int64_t rest)
{
	if (row[k] > 0) {
		const int64_t least = -floor_of(rest, row[k]);
		p->least[k] = least > p->least[k] ? least : p->least[k];
	} else {
		const int64_t most = floor_of(rest, -row[k]);
		p->most[k] = most < p->most[k] ? most : p->most[k];
	}
}

/* From bounds of all variables of the row but one the bounds of that one. */
static void narrow_by(piece *p, const int64_t *row)
{
	int64_t most = row[0];
	int open = 0, last = 0;
	for (int k = 1; k < p->columns; k++) {
		const int64_t bound = row[k] > 0 ? p->most[k] : p->least[k];
		if (row[k] && !is_bound(bound))
			open++, last = k;
		else
			most += row[k] ? row[k] * bound : 0;
	}
	if (open == 1)
		narrow(p, row, last, most);
	for (int k = 1; k < p->columns && !open; k++)
		if (row[k])
			narrow(p, row, k, most - row[k] * (row[k] > 0 ? p->most[k] : p->least[k]));
}

/* Twice, as a row may need what a later one says. */
static void find_bounds(piece *p)
{
	for (int k = 0; k < p->columns; k++) {
		p->least[k] = -UNBOUNDED;
		p->most[k] = UNBOUNDED;
	}
	for (int i = 0; i < 2 * p->n; i++)
		narrow_by(p, &p->row[i % p->n * p->columns]);
}

static isl_stat add_piece(__isl_take isl_basic_set *set, void *user)
{
	pieces *all = user;
	piece *p = &all->item[all->n++];
	isl_mat *equal = isl_basic_set_equalities_matrix(set, isl_dim_cst, isl_dim_param, isl_dim_set, isl_dim_div);
	isl_mat *other = isl_basic_set_inequalities_matrix(set, isl_dim_cst, isl_dim_param, isl_dim_set, isl_dim_div);
	p->space = isl_basic_set_get_local_space(set);
	p->columns = isl_mat_cols(other);
	p->outside = p->columns - isl_local_space_dim(p->space, isl_dim_div);
	const size_t rows = (size_t)(2 * isl_mat_rows(equal) + isl_mat_rows(other) + 2), columns = (size_t)p->columns;
	all->failed |= !equal || !other;
	if (!all->failed) {
		p->least = heddle_xalloc(rows * columns * sizeof(*p->least));
		p->most = p->least + columns;
		p->row = p->most + columns;
		add_rows(all, p, equal, true);
		add_rows(all, p, other, false);
	}
	if (!all->failed)
		find_bounds(p);
	isl_mat_free(equal);
	isl_mat_free(other);
	isl_basic_set_free(set);
	return all->failed ? isl_stat_error : isl_stat_ok;
}

static void read_pieces(__isl_keep isl_set *set, pieces *all)
{
	const isl_size n = isl_set_n_basic_set(set);
	*all = (pieces){.item = heddle_xalloc((size_t)(n > 0 ? n : 0) * sizeof(*all->item))};
	all->failed = n < 0 || isl_set_foreach_basic_set(set, add_piece, all) < 0;
}

static void free_pieces(pieces *all)
{
	for (int i = 0; i < all->n; i++) {
		isl_local_space_free(all->item[i].space);
		free(all->item[i].least);
	}
	free(all->item);
}

/* Is c . (1, x) >= 0 by the bounds of the dimensions alone? */
static bool is_covered(const piece *p, const int64_t *c)
{
	int64_t least = c[0];
	for (int k = 1; k < p->columns; k++) {
		const int64_t bound = c[k] > 0 ? p->least[k] : p->most[k];
		if (c[k] && !is_bound(bound))
			return false;
		least += c[k] ? c[k] * bound : 0;
	}
	return least >= 0;
}

/* The same with at most so many of the rows from number `first` on added to the bounds, each once. */
static bool is_covered_with(const piece *p, const int64_t *c, int first, int rows, int64_t *room)
{
	if (is_covered(p, c))
		return true;
	for (int i = first; i < p->n && rows; i++) {
		const int64_t *row = &p->row[i * p->columns];
		for (int k = 0; k < p->columns; k++)
			room[k] = c[k] - row[k];
		if (is_covered_with(p, room, i + 1, rows - 1, room + p->columns))
			return true;
	}
	return false;
}

/* Does row . (1, x) >= 0 hold in the piece?  `room`: for three rows. */
static bool follows(const piece *a, const int64_t *row, int columns, int64_t *room)
{
	for (int k = 0; k < a->columns; k++)
		room[k] = k < columns ? row[k] : 0;
	for (int rows = 0; rows <= 2; rows++)
		if (is_covered_with(a, room, 0, rows, room + a->columns))
			return true;
	return false;
}

/* Quotients of `b` are some integers for which its conditions hold: those of `a` will do if they are the same. */
static bool is_in(const piece *a, const piece *b)
{
	if (b->columns > b->outside ? isl_local_space_is_equal(a->space, b->space) != isl_bool_true : a->outside != b->outside)
		return false;
	int64_t *room = heddle_xalloc(3 * (size_t)a->columns * sizeof(*room));
	bool all = true;
	for (int i = 0; i < b->n && all; i++)
		all = follows(a, &b->row[i * b->columns], b->columns, room);
	free(room);
	return all;
}

static bool in_some(const piece *a, const pieces *b)
{
	for (int i = 0; i < b->n; i++)
		if (is_in(a, &b->item[i]))
			return true;
	return false;
}

bool heddle_plainly_inside(__isl_keep isl_set *a, __isl_keep isl_set *b)
{
	pieces of_a, of_b;
	a = isl_set_align_params(isl_set_copy(a), isl_set_get_space(b));
	b = isl_set_align_params(isl_set_copy(b), isl_set_get_space(a));
	read_pieces(a, &of_a);
	read_pieces(b, &of_b);
	bool inside = !of_a.failed && !of_b.failed;
	for (int i = 0; i < of_a.n && inside; i++)
		inside = in_some(&of_a.item[i], &of_b);
	free_pieces(&of_a);
	free_pieces(&of_b);
	isl_set_free(a);
	isl_set_free(b);
	return inside;
}

bool heddle_plainly_box(__isl_keep isl_set *set, __isl_keep isl_set *known, int64_t extent)
{
	pieces of_set, of_known;
	read_pieces(set, &of_set);
	read_pieces(known, &of_known);
	bool box = !of_set.failed && !of_known.failed && of_set.n == 1 && of_known.n > 0 && of_set.item->columns == of_set.item->outside;
	const int last = box ? of_set.item->columns - 1 : 0;
	box = box && of_set.item->least[last] >= 0 && of_set.item->most[last] < extent;
	for (int i = 0; i < of_known.n && box; i++) {
		piece *p = &of_known.item[i];
		box = p->outside == last + 1;
		if (!box)
			break;
		p->least[last] = 0;
		p->most[last] = extent - 1;
		box = is_in(p, of_set.item);
	}
	free_pieces(&of_set);
	free_pieces(&of_known);
	return box;
}

bool heddle_plainly_subset(__isl_keep isl_map *a, __isl_keep isl_map *b)
{
	isl_set *of_a = isl_map_wrap(isl_map_copy(a)), *of_b = isl_map_wrap(isl_map_copy(b));
	const bool inside = heddle_plainly_inside(of_a, of_b);
	isl_set_free(of_a);
	isl_set_free(of_b);
	return inside;
}

/* ---- intersections ------------------------------------------------------------------------------------------------------------ */

/* The only piece of a set that has one, NULL: it has none or several. */
static __isl_give isl_basic_set *only_piece(__isl_keep isl_set *set)
{
	if (isl_set_n_basic_set(set) != 1)
		return NULL;
	isl_basic_set_list *list = isl_set_get_basic_set_list(set);
	isl_basic_set *only = isl_basic_set_list_get_at(list, 0);
	isl_basic_set_list_free(list);
	return only;
}

/* The only pieces of two sets that have one each. */
static bool only_pieces(__isl_keep isl_set *a, __isl_keep isl_set *b, __isl_give isl_basic_set **one, __isl_give isl_basic_set **other)
{
	*one = only_piece(a);
	*other = *one ? only_piece(b) : NULL;
	if (!*other)
		*one = isl_basic_set_free(*one);
	return *one != NULL;
}

__isl_give isl_set *heddle_plainly_intersect(__isl_take isl_set *a, __isl_take isl_set *b)
{
	isl_basic_set *one, *other;
	if (isl_set_has_equal_space(a, b) != isl_bool_true || !only_pieces(a, b, &one, &other))
		return isl_set_intersect(a, b);
	isl_set_free(a);
	isl_set_free(b);
	return isl_set_from_basic_set(isl_basic_set_intersect(one, other));
}

__isl_give isl_set *heddle_plainly_intersect_params(__isl_take isl_set *set, __isl_take isl_set *params)
{
	isl_space *space = isl_set_get_space(set), *of_params = isl_set_get_space(params);
	const bool alike = isl_space_has_equal_params(space, of_params) == isl_bool_true;
	isl_basic_set *one, *other;
	isl_space_free(space);
	isl_space_free(of_params);
	if (!alike || !only_pieces(set, params, &one, &other))
		return isl_set_intersect_params(set, params);
	isl_set_free(set);
	isl_set_free(params);
	return isl_set_from_basic_set(isl_basic_set_intersect_params(one, other));
}
