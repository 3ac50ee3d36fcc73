/* Counting what a mapped kernel moves.
 *
 * The loops around an access, from outside: blocks, threads, tile loops, items of reductions (one after another), then the
 * unrolled items and vector members.  In the unrolled part each element is read once; around it everything is repeated,
 * whether the access depends on a loop or not.  So an access reads
 *     blocks x threads x tile loops x reduction items x |elements of the unrolled part|
 * times the shares of the instances that exist, and a request brings the addresses of one warp together.
 * SPDX-License-Identifier: MIT
 */
#include "cost/count_parts.h"

#include "cost/cost.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BESIDE = 15 };

/* What a leaf does to one tensor. */
typedef struct movement {
	const shape *shape;
	const linear *subscript; /* [rank] */
	const heddle_tensor *tensor;
	const heddle_group *tile; /* in this shared tile; NULL: global memory */
	bool dims[HEDDLE_MAX_DIM]; /* which dimensions the leaf runs over */
	bool write;
	bool once;  /* by the first lane only, where lanes have the same */
	bool whole; /* runs for instances that do not exist, too */
	bool apart; /* each member has a guard of its own */
	int64_t beside[MOST_BESIDE]; /* other accesses of the statement: elements of the row from this one */
	int n_beside;
} movement;

/* ---- expressions ---------------------------------------------------------------------------------------------------- */

int64_t count_value(const counter *c, const heddle_expr *expr, int64_t otherwise)
{
	int64_t value;
	return heddle_expr_evaluate(expr, c->size, &value) < 0 ? otherwise : value;
}

/* Of two numbers that are multiples of powers of two, 0 standing for those of 0: of which their sum is one. */
static int64_t common_power(int64_t a, int64_t b)
{
	return !a ? b : !b ? a : choose_least(a, b);
}

static linear add(linear a, linear b, int64_t factor)
{
	a.affine = a.affine && b.affine;
	a.constant += factor * b.constant;
	a.multiple = common_power(a.multiple, b.multiple * (factor & -factor));
	for (int d = 0; d < HEDDLE_MAX_DIM; d++) {
		a.coefficient[d] += factor * b.coefficient[d];
		a.within[d] = a.within[d] || b.within[d];
	}
	return a;
}

/* Of an expression that is not affine: the dimensions in it. */
static void mark(const heddle_expr *expr, bool *within)
{
	if (expr->kind == HEDDLE_EXPR_INDEX)
		within[expr->index->position] = true;
	for (int i = 0; i < expr->n_arg; i++)
		mark(expr->arg[i], within);
}

static bool is_constant(const linear *a)
{
	for (int d = 0; d < HEDDLE_MAX_DIM; d++)
		if (a->coefficient[d])
			return false;
	return a->affine;
}

/* The greatest power of two, `most` at most, that the extent is known to be a multiple of. */
static int64_t known_power(const heddle_expr *extent, int64_t most)
{
	while (most > 1 && !heddle_extent_multiple(extent, most))
		most /= 2;
	return most;
}

static linear to_linear(const counter *c, const heddle_expr *expr)
{
	linear zero = {.affine = true}, a = zero, b = zero;
	if (expr->kind == HEDDLE_EXPR_INT || expr->kind == HEDDLE_EXPR_SIZE) {
		a.constant = count_value(c, expr, 1);
		a.multiple = a.constant ? known_power(expr, MOST_WARP) : 0;
	} else if (expr->kind == HEDDLE_EXPR_INDEX)
		a.coefficient[expr->index->position] = 1;
	else if (expr->kind == HEDDLE_EXPR_CAST)
		a = to_linear(c, expr->arg[0]);
	else if (expr->kind == HEDDLE_EXPR_UNARY && expr->op == HEDDLE_OP_NEG)
		a = add(zero, to_linear(c, expr->arg[0]), -1);
	else if (expr->kind == HEDDLE_EXPR_BINARY && expr->op <= HEDDLE_OP_MUL) {
		a = to_linear(c, expr->arg[0]);
		b = to_linear(c, expr->arg[1]);
		if (expr->op == HEDDLE_OP_ADD)
			return add(a, b, 1);
		if (expr->op == HEDDLE_OP_SUB)
			return add(a, b, -1);
		const int64_t multiple = a.multiple * b.multiple;
		if (is_constant(&a) || is_constant(&b)) {
			a = is_constant(&b) ? add(zero, a, b.constant) : add(zero, b, a.constant);
			a.multiple = multiple;
			return a;
		}
		a = (linear){.affine = false};
		mark(expr, a.within);
	} else {
		a.affine = false;
		mark(expr, a.within);
	}
	return a;
}

static const heddle_expr *subscript_of(const heddle_stmt *stmt, const heddle_access *access, int e)
{
	return access->expr ? access->expr->arg[e] : stmt->source->lhs[e];
}

int64_t count_stride(const counter *c, const heddle_tensor *tensor, int e)
{
	int64_t stride = 1;
	if (tensor->stride)
		return count_value(c, tensor->stride[e], 1);
	for (int i = e + 1; i < tensor->rank; i++)
		stride *= count_value(c, tensor->extent[i], 1);
	return stride;
}

/* ---- vectors --------------------------------------------------------------------------------------------------------------- */

/* The dimension whose vector loop runs in lockstep.  Loads of a tile come together along its rows, whichever vector loop goes
 * there. */
static int lockstep(const movement *m)
{
	const heddle_stmt *stmt = m->shape->stmt;
	for (int d = 0; d < stmt->n_dim && m->tile && !m->write; d++)
		if (m->dims[d] && !stmt->dim[d].reduction && stmt->dim[d].layout.vector > 1 &&
		    m->subscript[heddle_tile_array_row(m->tile)].coefficient[d] == m->tile->phases)
			return d;
	return heddle_lockstep_dim(stmt, m->dims);
}

/* Do the tile's dimensions beside `inner` go in steps of w elements? */
static bool tile_aligned(const movement *m, int inner, int64_t w)
{
	int64_t pitch = 1;
	bool aligned = true;
	for (int i = m->tensor->rank - 1; i >= 0; i--) {
		const int e = m->tile->order[i];
		aligned = aligned && (e == inner || m->tile->size[e] == 1 || pitch % w == 0);
		pitch = count_tile_pitch(m->tile, i, pitch);
	}
	return aligned;
}

/* Do the rows that the access reads begin at multiples of w elements, a power of two? */
static bool rows_begin_at(const movement *m, int inner, int64_t w)
{
	const heddle_tensor *tensor = m->tensor;
	for (int e = 0; e < tensor->rank; e++) {
		int64_t step = m->subscript[e].multiple, multiple = 1;
		for (int d = 0; d < m->shape->stmt->n_dim; d++)
			step |= m->subscript[e].within[d] ? 1 : llabs(m->subscript[e].coefficient[d]);
		if (e == inner || step == 0)
			continue;
		for (int i = e + 1; i < tensor->rank && !tensor->stride; i++)
			multiple *= known_power(tensor->extent[i], w);
		multiple = tensor->stride ? known_power(tensor->stride[e], w) : multiple;
		if ((step & -step) * multiple % w)
			return false;
	}
	return true;
}

/* May a vector along d go past the end of the dimension, for all that is known before the sizes are? */
static bool is_guarded(const heddle_stmt *stmt, int d)
{
	const heddle_index *index = stmt->source->index[d];
	const int64_t v = stmt->dim[d].layout.vector;
	return v > 1 && !(heddle_extent_multiple(index->upper, v) && heddle_extent_multiple(index->lower, v));
}

/* Elements of one access: a vector where the members lie side by side and the language can. */
static int64_t access_width(const counter *c, const movement *m)
{
	int d = lockstep(m), rank = m->tensor->rank;
	int inner = m->tile ? heddle_tile_array_row(m->tile) : heddle_tensor_inner(m->tensor);
	const int64_t step = m->tile ? m->tile->phases : 1;
	if (d < 0 || inner < 0 || m->subscript[inner].coefficient[d] != step)
		return 1;
	for (int e = 0; e < rank; e++)
		if (e != inner && m->subscript[e].coefficient[d])
			return 1;
	int64_t w = choose_least(m->shape->stmt->dim[d].layout.vector, c->language->max_vector);
	int64_t most = c->language->max_bytes > 0 ? c->language->max_bytes / heddle_type_size(m->tensor->type) : w;
	while (w > 1 && w > most)
		w /= 2;
	if (c->language->unaligned)
		return w;
	/* everything else in the address goes in steps of the vector; else neighbours that stand together are read by narrower ones */
	const bool narrower = !m->write && (m->tile || (c->kernel->threads > 1 && !m->apart));
	for (; w > 1; w = narrower ? w / 2 : 1) {
		bool aligned = m->tile ? tile_aligned(m, inner, w) : rows_begin_at(m, inner, w);
		for (int o = 0; o < m->shape->stmt->n_dim; o++)
			if (o != d && m->subscript[inner].coefficient[o])
				aligned = aligned && (m->subscript[inner].coefficient[o] * m->shape->stmt->dim[o].layout.vector) % (w * step) == 0;
		if (aligned && (m->tile || m->subscript[inner].multiple % w == 0))
			return w;
	}
	return 1;
}

/* ---- what is unrolled --------------------------------------------------------------------------------------------------- */

/* Do the statement's registers differ from one index of d to another? */
static bool indexes_registers(const counter *c, const heddle_stmt *stmt, int d)
{
	bool any = stmt->reduction;
	for (int a = 0; a < stmt->n_access && !any; a++) {
		const heddle_access *access = &stmt->access[a];
		for (int e = 0; access->group && access->group->space == HEDDLE_SPACE_REGISTER && e < access->tensor->rank; e++) {
			const linear at = to_linear(c, subscript_of(stmt, access, e));
			any = any || at.coefficient[d] || at.within[d];
		}
	}
	return any;
}

/* Does one access take a whole vector? */
static bool has_vectors(const counter *c, const shape *s)
{
	const heddle_stmt *stmt = s->stmt;
	for (int a = 0; a < stmt->n_access; a++) {
		movement m = {.shape = s, .tensor = stmt->access[a].tensor, .write = true};
		if (!m.tensor->rank || !stmt->access[a].affine || stmt->access[a].group->space != HEDDLE_SPACE_GLOBAL)
			continue;
		m.subscript = count_subscripts(c, stmt, &stmt->access[a]);
		for (int k = 0; k < stmt->n_dim; k++)
			m.dims[k] = true;
		if (access_width(c, &m) > 1)
			return true;
	}
	return false;
}

/* Are the members of a vector stored one by one, each under a guard of its own? */
static bool lanes_apart(const counter *c, const shape *s)
{
	const int d = heddle_lockstep_dim(s->stmt, NULL);
	return d >= 0 && is_guarded(s->stmt, d) && !has_vectors(c, s);
}

/* Nodes of the program that calls take where all of `members` stand, 4 for each member of a dimension that it depends on. */
static double length_of_calls(const heddle_stmt *stmt, const heddle_expr *expr, int lockstep, int64_t members)
{
	double n = 0;
	if (expr->kind == HEDDLE_EXPR_CALL) {
		bool within[HEDDLE_MAX_DIM] = {0};
		mark(expr, within);
		n = 4 * (double)(lockstep >= 0 && within[lockstep] ? members : 1);
	}
	for (int i = 0; i < expr->n_arg; i++)
		n += length_of_calls(stmt, expr->arg[i], lockstep, members);
	return n;
}

/* Nodes of the program that one vector of results takes, or one result where there are no vectors: results that lie apart are stored one by
 * one, the vector having a name; each may have a guard. */
static double length_of_body(const counter *c, const shape *s, int lockstep, bool wide)
{
	const heddle_stmt *stmt = s->stmt;
	movement m = {.shape = s, .tensor = stmt->access[0].tensor, .write = true};
	for (int d = 0; d < stmt->n_dim; d++)
		m.dims[d] = true;
	const int64_t members = wide ? choose_least(stmt->dim[lockstep].layout.vector, c->language->max_vector) : 1;
	const double calls = length_of_calls(stmt, stmt->value, lockstep, members);
	if (!wide)
		return calls + 1;
	m.subscript = count_subscripts(c, stmt, &stmt->access[0]);
	return calls + (access_width(c, &m) > 1 ? 1 : 1 + (double)members);
}

/* A loop of n rounds around a body of `size` nodes; does it become their copies? */
static bool around(double *size, double n)
{
	const bool unrolled = *size * n <= MOST_UNROLLED;
	*size = n > 1 ? (1 + *size) * n : *size;
	return unrolled;
}

/* Reductions that are not shared by lanes and are no windows run their items one after another; so do others that index no registers and would
 * become long, and those that go over their tile in rounds without a sum.  Members are inside, those that run in lockstep around the others;
 * one thread takes the items of vectors inside of the others' items. */
static void find_unrolled(const counter *c, shape *s)
{
	const heddle_stmt *stmt = s->stmt;
	const int lockstep = heddle_lockstep_dim(stmt, NULL);
	const bool results = lockstep >= 0 && !stmt->dim[lockstep].reduction, wide = results && has_vectors(c, s);
	bool rounds = false;
	for (int d = 0; d < stmt->n_dim; d++) {
		rounds = rounds || stmt->dim[d].layout.rounds > 1;
		s->d[d].parts = 1;
	}
	double size = length_of_body(c, s, results ? lockstep : -1, wide);
	for (int inside = 1; inside >= 0; inside--)
		for (int d = stmt->n_dim - 1; d >= 0; d--) {
			const heddle_dim *dim = &stmt->dim[d];
			if (dim->reduction || inside != (d != lockstep))
				continue;
			const double n = ceil((double)dim->layout.vector / (d == lockstep && wide ? (double)c->language->max_vector : 1));
			s->d[d].parts = around(&size, n) || indexes_registers(c, stmt, d) ? 1 : n;
		}
	for (int inside = 1; inside >= 0; inside--)
		for (int d = stmt->n_dim - 1; d >= 0; d--) {
			const heddle_dim *dim = &stmt->dim[d];
			if (dim->reduction)
				s->d[d].unrolled = (dim->reduce == HEDDLE_REDUCE_LANES && dim->layout.items <= 8) || heddle_is_window(stmt, d);
			else if (inside == (c->kernel->threads == 1 && dim->layout.vector > 1))
				s->d[d].unrolled = (around(&size, (double)dim->layout.items) && !rounds) || indexes_registers(c, stmt, d);
		}
}

/* ---- shapes ----------------------------------------------------------------------------------------------------------- */

static bool moves_with(const heddle_expr *expr)
{
	if (expr->kind == HEDDLE_EXPR_INDEX)
		return true;
	for (int i = 0; i < expr->n_arg; i++)
		if (moves_with(expr->arg[i]))
			return true;
	return false;
}

static shape shape_of(const counter *c, const heddle_stmt *stmt)
{
	shape s = {.stmt = stmt, .rectangular = isl_set_plain_is_equal(stmt->domain, stmt->all) == isl_bool_true};
	for (int d = 0; d < stmt->n_dim; d++) {
		const heddle_index *index = stmt->source->index[d];
		const heddle_layout *layout = &stmt->dim[d].layout;
		s.rectangular = s.rectangular && !moves_with(index->upper) && !moves_with(index->lower);
		int64_t extent = count_value(c, index->upper, 1) - count_value(c, index->lower, 0);
		s.d[d].extent = extent < 0 ? 0 : extent;
		double tiles = ceil((double)s.d[d].extent / (double)layout->tile);
		int64_t rest = s.d[d].extent - ((int64_t)tiles - 1) * layout->tile;
		s.d[d].outer = tiles;
		s.d[d].share = tiles > 0 ? (double)s.d[d].extent / (tiles * (double)layout->tile) : 0;
		int64_t busy = choose_least(layout->threads, (rest + layout->vector - 1) / layout->vector);
		s.d[d].items = layout->items;
		/* the loop of a reduction goes as far as is known to be needed */
		int64_t lower = 0;
		const int64_t known = heddle_expr_evaluate(index->lower, NULL, &lower) < 0 ? 0 : heddle_fixed_extent(index->upper) - lower;
		if (stmt->dim[d].reduction && layout->threads == 1 && known > 0 && known < layout->tile) {
			s.d[d].items = (known + layout->vector - 1) / layout->vector;
			s.d[d].share = (double)known / (double)(s.d[d].items * layout->vector);
		}
		s.d[d].busy = tiles > 0 ? (tiles - 1 + (double)busy / (double)layout->threads) / tiles : 0;
	}
	find_unrolled(c, &s);
	return s;
}

/* ---- the unrolled part ---------------------------------------------------------------------------------------------- */

/* Different values of a subscript over items and members of the dimensions in `mask`; `each`: no two instances have the same. */
static double distinct(const shape *s, const linear *subscript, const bool *mask, bool each)
{
	int64_t value[MOST_DISTINCT];
	int n = 1;
	double product = 1, apart = 1; /* members of what is not affine are read one by one, and those of no whole vector, tap by tap */
	bool part = each;
	value[0] = 0;
	for (int d = 0; d < s->stmt->n_dim; d++) {
		const heddle_layout *layout = &s->stmt->dim[d].layout;
		int64_t items = s->d[d].unrolled ? s->d[d].items : 1;
		if (mask[d] && subscript->within[d])
			apart *= (double)(items * layout->vector);
		if (!mask[d] || !subscript->coefficient[d] || subscript->within[d] || items * layout->vector == 1)
			continue;
		product *= (double)(items * layout->vector);
		part |= s->d[d].extent < layout->vector;
		if (product > MOST_DISTINCT)
			return product * apart;
		int before = n;
		for (int64_t i = 0; i < items; i++)
			for (int64_t v = 0; v < layout->vector; v++) {
				int64_t shift = subscript->coefficient[d] * (i * layout->threads * layout->vector + v);
				for (int k = 0; k < before && shift; k++) {
					int64_t x = value[k] + shift;
					int j = n - 1;
					while (j >= 0 && value[j] != x)
						j--;
					if (j < 0)
						value[n++] = x;
				}
			}
	}
	return (part ? product : n) * apart;
}

/* Elements that one thread touches in the unrolled part. */
static double elements(const movement *m)
{
	double n = 1;
	bool used[HEDDLE_MAX_DIM] = {0};
	for (int e = 0; e < m->tensor->rank; e++) {
		bool mask[HEDDLE_MAX_DIM] = {0};
		for (int d = 0; d < m->shape->stmt->n_dim; d++) {
			mask[d] = m->dims[d] && !used[d];
			used[d] |= m->subscript[e].coefficient[d] != 0 || m->subscript[e].within[d];
		}
		n *= distinct(m->shape, &m->subscript[e], mask, m->write);
	}
	return n;
}

/* Elements of the tile's array from one of tensor dimension order[i] to the next, where `inner` are those from one of order[i + 1]. */
int64_t count_tile_pitch(const heddle_group *tile, int i, int64_t inner)
{
	const int row = heddle_tile_array_row(tile), e = tile->order[i];
	const bool padded = heddle_tile_in_run(tile, row) ? e == tile->run : e == row;
	if (e == row && tile->phases > 1)
		return tile->phases * (heddle_tile_row_length(tile) + tile->pad);
	return inner * tile->size[e] + (padded ? tile->pad : 0);
}

static int64_t floor_div(int64_t a, int64_t b)
{
	return a >= 0 ? a / b : -((-a + b - 1) / b);
}

/* Elements of the tile's array before element `value` of its row. */
int64_t count_row_offset(const heddle_group *tile, int64_t value)
{
	const int64_t place = floor_div(value, tile->phases), phase = value - place * tile->phases;
	return tile->phases == 1 ? value : phase * (heddle_tile_row_length(tile) + tile->pad) + place;
}

/* ---- requests --------------------------------------------------------------------------------------------------------- */

/* Byte address of thread t's first element, without what all threads share; false: it takes no part. */
static bool address(const counter *c, const movement *m, int t, int64_t *at)
{
	const heddle_kernel *kernel = c->kernel;
	const heddle_stmt *stmt = m->shape->stmt;
	int64_t lane = kernel->lanes > 1 ? t / kernel->lane_stride % kernel->lanes : 0, offset = 0;
	bool laned = false;
	int64_t x[HEDDLE_MAX_DIM];
	for (int d = 0; d < stmt->n_dim; d++) {
		const heddle_dim *dim = &stmt->dim[d];
		int64_t coordinate = 0;
		if (dim->member >= 0)
			coordinate = t / kernel->member[dim->member].thread_stride % dim->layout.threads;
		else if (dim->layout.threads > 1) {
			coordinate = lane;
			laned |= m->dims[d];
		}
		x[d] = coordinate * dim->layout.vector;
	}
	if (m->once && !laned && lane)
		return false;
	int64_t pitch = 1;
	for (int i = m->tensor->rank - 1; i >= 0; i--) {
		int e = m->tile ? m->tile->order[i] : i;
		int64_t value = 0;
		for (int d = 0; d < stmt->n_dim; d++)
			value += m->dims[d] ? m->subscript[e].coefficient[d] * x[d] : 0;
		if (m->tile && e == heddle_tile_array_row(m->tile))
			offset += count_row_offset(m->tile, value);
		else
			offset += value * (m->tile ? pitch : count_stride(c, m->tensor, e));
		if (m->tile)
			pitch = count_tile_pitch(m->tile, i, pitch);
	}
	*at = offset * heddle_type_size(m->tensor->type);
	return true;
}

/* Sectors that `n` accesses of `bytes` each touch. */
double count_sectors(const int64_t *at, int n, int64_t bytes)
{
	int64_t seen[8 * MOST_WARP];
	int found = 0;
	for (int t = 0; t < n; t++)
		for (int64_t s = floor_div(at[t], SECTOR); s <= floor_div(at[t] + bytes - 1, SECTOR); s++) {
			int j = found - 1;
			while (j >= 0 && seen[j] != s)
				j--;
			if (j < 0 && found < (int)HEDDLE_COUNT(seen))
				seen[found++] = s;
		}
	return found;
}

/* Cycles of the banks: most different words that one bank gives. */
double count_bank_cycles(const int64_t *at, int n, int64_t bytes)
{
	int64_t word[BANKS][MOST_WARP];
	int found[BANKS] = {0}, most = 0;
	for (int t = 0; t < n; t++)
		for (int64_t w = floor_div(at[t], BANK_WIDTH); w <= floor_div(at[t] + bytes - 1, BANK_WIDTH); w++) {
			int bank = (int)(((w % BANKS) + BANKS) % BANKS), j = found[bank] - 1;
			while (j >= 0 && word[bank][j] != w)
				j--;
			if (j < 0 && found[bank] < MOST_WARP)
				word[bank][found[bank]++] = w;
			most = found[bank] > most ? found[bank] : most;
		}
	return most;
}

static round_of one_round(const counter *c, const movement *m, int64_t width, int64_t base)
{
	round_of r = {0};
	int64_t bytes = width * heddle_type_size(m->tensor->type);
	const int part = m->tile ? count_lanes_at_once(c, bytes) : c->warp;
	for (int first = 0; first < c->kernel->threads; first += c->warp) {
		bool any = false;
		for (int from = first; from < first + c->warp && from < c->kernel->threads; from += part) {
			int64_t at[MOST_WARP];
			int n = 0;
			for (int t = from; t < from + part && t < c->kernel->threads; t++)
				if (address(c, m, t, &at[n]))
					at[n++] += base;
			r.threads += n;
			r.transactions += m->tile ? count_bank_cycles(at, n, bytes) : count_sectors(at, n, bytes);
			any |= n > 0;
		}
		r.requests += any;
	}
	return r;
}

/* Are the statement's results stored by vectors, where others than its thread see them? */
static bool stores_vectors(const counter *c, const shape *s)
{
	const heddle_access *target = &s->stmt->access[0];
	movement m = {.shape = s, .tensor = target->tensor, .subscript = count_subscripts(c, s->stmt, target), .write = true};
	for (int d = 0; d < s->stmt->n_dim; d++)
		m.dims[d] = true;
	return target->group->space == HEDDLE_SPACE_GLOBAL && access_width(c, &m) > 1;
}

/* Members of the vectors that rows are read by where vectors are gathered across them, as many iterations together as a vector has
 * members (model/simplify_turn.c); 1: they are not. */
static int64_t turned_width(const counter *c, const movement *m)
{
	const heddle_stmt *stmt = m->shape->stmt;
	const int across = lockstep(m), inner = m->tile ? heddle_tile_array_row(m->tile) : heddle_tensor_inner(m->tensor);
	int along = -1;
	if (m->write || !c->language->zips || !c->language->unaligned || across < 0 || inner < 0 || stmt->reduction)
		return 1;
	for (int d = 0; d < stmt->n_dim; d++)
		if (m->dims[d] && m->subscript[inner].coefficient[d] == 1 && stmt->dim[d].layout.vector == 1)
			along = d;
	const int64_t w = choose_least(stmt->dim[across].layout.vector, c->language->max_vector);
	if (along < 0 || m->subscript[inner].coefficient[across] || m->shape->d[along].unrolled || stmt->dim[along].layout.items % w)
		return 1;
	for (int e = 0; e < m->tensor->rank; e++)
		if (e != inner && m->subscript[e].coefficient[along])
			return 1;
	return stores_vectors(c, m->shape) ? w : 1;
}

/* Members of the vectors by which elements of an input are read that lie two apart, two vectors for each (model/simplify_vector.c);
 * 1: they are not. */
static int64_t strided_width(const counter *c, const movement *m)
{
	const int d = lockstep(m), inner = heddle_tensor_inner(m->tensor);
	if (m->write || m->tile || !c->language->zips || !c->language->unaligned || d < 0 || inner != m->tensor->rank - 1 ||
	    m->tensor->role != HEDDLE_ROLE_INPUT || m->tensor->type == HEDDLE_BOOL || m->subscript[inner].coefficient[d] != 2 ||
	    m->shape->d[d].extent < m->shape->stmt->dim[d].layout.vector)
		return 1;
	for (int e = 0; e < inner; e++)
		if (m->subscript[e].coefficient[d])
			return 1;
	return choose_least(m->shape->stmt->dim[d].layout.vector, c->language->max_vector);
}

/* Vectors of an access by strided_width for each vector of results: two taps side by side need the same ones. */
static double strided_vectors(const movement *m)
{
	const heddle_stmt *stmt = m->shape->stmt;
	const linear *row = &m->subscript[heddle_tensor_inner(m->tensor)];
	for (int d = 0; d < stmt->n_dim; d++)
		if (stmt->dim[d].reduction && m->shape->d[d].extent == 2 && row->coefficient[d] == 1)
			return 1;
	return 2;
}

/* Is there a loop inside of the copies that items of d are, along a dimension that the access goes along?  Then it stands in each copy. */
static bool has_loop_inside(const counter *c, const movement *m, int d)
{
	const heddle_stmt *stmt = m->shape->stmt;
	const bool apart = c->kernel->threads == 1;
	for (int o = 0; o < stmt->n_dim; o++) {
		const heddle_dim *dim = &stmt->dim[o];
		const int vectors = apart && dim->layout.vector > 1, own = apart && stmt->dim[d].layout.vector > 1;
		bool depends = false;
		for (int e = 0; e < m->tensor->rank; e++)
			depends |= m->subscript[e].coefficient[o] != 0 || m->subscript[e].within[o];
		const bool inside = vectors > own || (vectors == own && o > d);
		if (depends && !dim->reduction && inside && !m->shape->d[o].unrolled && m->shape->d[o].items > 1)
			return true;
	}
	return false;
}

/* Share of the blocks that no end of a member cuts: there is a version for them. */
static double uncut(const shape *s)
{
	double n = 1;
	for (int d = 0; d < s->stmt->n_dim; d++)
		if (s->stmt->dim[d].member >= 0 && s->d[d].outer > 0)
			n *= floor((double)s->d[d].extent / (double)s->stmt->dim[d].layout.tile) / s->d[d].outer;
	return n;
}

/* How often all threads make the access that stands in the text: tiles, rounds, items that are a loop. */
static double repeats(const counter *c, const movement *m)
{
	const heddle_stmt *stmt = m->shape->stmt;
	double n = 1;
	for (int d = 0; d < stmt->n_dim; d++) {
		const heddle_dim *dim = &stmt->dim[d];
		if (!m->dims[d] && dim->member < 0)
			continue;
		bool depends = false;
		for (int e = 0; e < m->tensor->rank; e++)
			depends |= m->subscript[e].coefficient[d] != 0 || m->subscript[e].within[d];
		n *= m->shape->d[d].outer * (double)dim->layout.rounds;
		if (!m->shape->d[d].unrolled)
			n *= (double)m->shape->d[d].items;
		else if (!depends && !dim->reduction && has_loop_inside(c, m, d))
			n *= (double)m->shape->d[d].items;
		n *= depends ? 1 : m->shape->d[d].parts;
		if (!m->whole)
			n *= depends || !m->shape->d[d].unrolled ? m->shape->d[d].share : m->shape->d[d].busy;
		else if (dim->member < 0 && dim->layout.threads == 1) /* cut blocks add what their tiles are filled with */
			n *= 1 - uncut(m->shape) * (1 - m->shape->d[d].share);
	}
	return n;
}

/* Shares of the accesses whose first thread's begins so many bytes into a sector. */
typedef struct begins {
	double at[SECTOR];
} begins;

void count_go_on(double begin[SECTOR], double n, int64_t bytes)
{
	const int64_t step = bytes % SECTOR;
	double after[SECTOR] = {0};
	if (!step || n <= 1)
		return;
	const double whole = floor(n / SECTOR), rest = n - whole * SECTOR; /* after so many rounds all has come back */
	for (int from = 0; from < SECTOR; from++)
		for (int64_t i = 0; i < SECTOR; i++)
			after[((from + i * step) % SECTOR + SECTOR) % SECTOR] += begin[from] * (whole + ((double)i < rest ? 1 : 0)) / n;
	memcpy(begin, after, sizeof(after));
}

/* n rounds go on by so many elements each. */
static void go_on(begins *b, const movement *m, double n, int64_t elements)
{
	count_go_on(b->at, n, elements * heddle_type_size(m->tensor->type));
}

/* Where accesses of so many elements begin: their tiles, rounds and items, and `place` of the row, where windows give those along it; -1: they
 * do not. */
static begins beginnings(const counter *c, const movement *m, int64_t width, int64_t place)
{
	const heddle_stmt *stmt = m->shape->stmt;
	const int row = heddle_tensor_inner(m->tensor), lane = lockstep(m), size = heddle_type_size(m->tensor->type);
	begins b = {{0}};
	int64_t first = place < 0 ? 0 : place;
	for (int e = 0; e < m->tensor->rank; e++)
		first += place < 0 || e != row ? m->subscript[e].constant * count_stride(c, m->tensor, e) : 0;
	b.at[((first * size) % SECTOR + SECTOR) % SECTOR] = 1;
	for (int d = 0; d < stmt->n_dim; d++) {
		const heddle_layout *layout = &stmt->dim[d].layout;
		const bool in_row = place >= 0 && m->subscript[row].coefficient[d] && m->shape->d[d].unrolled;
		int64_t step = 0;
		for (int e = 0; e < m->tensor->rank; e++)
			step += m->subscript[e].coefficient[d] * count_stride(c, m->tensor, e);
		if (!step || (!m->dims[d] && stmt->dim[d].member < 0))
			continue;
		go_on(&b, m, m->shape->d[d].outer, step * layout->tile);
		go_on(&b, m, (double)layout->rounds, step * (layout->tile / layout->rounds));
		if (in_row)
			continue;
		go_on(&b, m, (double)m->shape->d[d].items, step * layout->threads * layout->vector);
		const int64_t at_once = d == lane ? width : 1;
		go_on(&b, m, (double)layout->vector / (double)at_once, step * at_once);
	}
	return b;
}

static void add_accesses(counter *c, const movement *m, const heddle_group *group, int64_t width, double rounds, const begins *b)
{
	heddle_movement *to = m->tile ? &c->out->shared : &c->out->global;
	round_of r = one_round(c, m, width, 0);
	for (int base = 0; base < SECTOR && b; base++) {
		if (base == 0)
			r.transactions *= b->at[0];
		else if (b->at[base] > 0)
			r.transactions += b->at[base] * one_round(c, m, width, base).transactions;
	}
	const int64_t turned = width == 1 ? turned_width(c, m) : 1;
	if (turned > 1) {
		const double row = ceil((double)(turned * heddle_type_size(m->tensor->type)) / SECTOR);
		r.requests /= (double)turned;
		r.transactions = m->tile ? r.transactions : row * r.requests;
	}
	/* what the threads of an edge leave out is taken as spread evenly */
	double bytes = rounds * r.threads * (double)(width * heddle_type_size(m->tensor->type));
	if (m->write) {
		to->store_bytes += bytes;
		to->store_requests += rounds * r.requests;
		to->store_transactions += rounds * r.transactions;
	} else {
		to->load_bytes += bytes;
		to->load_requests += rounds * r.requests;
		to->load_transactions += rounds * r.transactions;
	}
	for (int g = 0; g < c->kernel->n_group && !m->tile; g++) {
		heddle_movement *own = &c->out->group[g];
		if (c->kernel->group[g] != group)
			continue;
		*(m->write ? &own->store_bytes : &own->load_bytes) += bytes;
		*(m->write ? &own->store_requests : &own->load_requests) += rounds * r.requests;
		*(m->write ? &own->store_transactions : &own->load_transactions) += rounds * r.transactions;
	}
}

/* The dimension of the tensor along which what is read lies. */
static int row_of(const movement *m)
{
	return m->tile ? heddle_tile_array_row(m->tile) : heddle_tensor_inner(m->tensor);
}

/* Elements of the rows that a thread reads for all results of a window, as places in the tile's array, or in the tensor's rows but for a
 * multiple of any vector; 0: there is no window, or too much. */
static int window_places(const movement *m, int64_t place[MOST_PLACES])
{
	enum { LONGEST = 64, FIRST = 1024 };
	const heddle_stmt *stmt = m->shape->stmt;
	const linear *row = &m->subscript[row_of(m)];
	const int64_t phases = m->tile ? m->tile->phases : 1;
	bool window = m->n_beside > 0;
	int n = 1;
	place[0] = m->tile ? 0 : FIRST + (row->constant % LONGEST + LONGEST) % LONGEST;
	for (int d = 0; d < stmt->n_dim; d++) {
		const heddle_layout *layout = &stmt->dim[d].layout;
		const int64_t step = row->coefficient[d], items = m->shape->d[d].unrolled ? m->shape->d[d].items : 1;
		const int before = n;
		window = window || (step && stmt->dim[d].reduction && heddle_is_window(stmt, d));
		window = window || (m->tile && step == phases && layout->vector * layout->threads == 1 && items > 1); /* items lie side by side */
		for (int k = 0; k < before; k++)
			place[k] += m->tile && step < 0 ? -step * (choose_least(layout->tile, m->shape->d[d].extent) - 1) : 0;
		for (int64_t i = 1; i < items * layout->vector && step; i++)
			for (int k = 0; k < before; k++) {
				const int64_t x = place[k] + step * (i / layout->vector * layout->threads * layout->vector + i % layout->vector);
				int j = n - 1;
				while (j >= 0 && place[j] != x)
					j--;
				if (j < 0 && n == MOST_PLACES)
					return 0;
				if (j < 0)
					place[n++] = x;
			}
	}
	for (int b = 0, before = n; b < m->n_beside; b++)
		for (int k = 0; k < before; k++) {
			int j = n - 1;
			while (j >= 0 && place[j] != place[k] + m->beside[b])
				j--;
			if (j < 0 && n == MOST_PLACES)
				return 0;
			if (j < 0)
				place[n++] = place[k] + m->beside[b];
		}
	for (int k = 0; k < n; k++) {
		if (!m->tile && place[k] < 0)
			return 0;
		place[k] = m->tile ? count_row_offset(m->tile, place[k]) : place[k];
	}
	return window ? n : 0;
}

/* May vectors of w elements begin at every place that is a multiple of w, whatever thread, round, tile or row it is? */
static bool places_aligned(const movement *m, int64_t w)
{
	const heddle_stmt *stmt = m->shape->stmt;
	const int row = row_of(m);
	const int64_t phases = m->tile ? m->tile->phases : 1;
	bool aligned = !m->tile	     ? m->tensor->rank < 2 || heddle_cost_rows_aligned(m->tensor, w)
		       : phases == 1 ? tile_aligned(m, row, w)
				     : tile_aligned(m, row, w) && (heddle_tile_row_length(m->tile) + m->tile->pad) % w == 0;
	for (int d = 0; d < stmt->n_dim; d++) {
		const heddle_layout *layout = &stmt->dim[d].layout;
		if (layout->threads > 1 || layout->rounds > 1 || (!m->shape->d[d].unrolled && layout->items > 1))
			aligned = aligned && m->subscript[row].coefficient[d] * layout->vector % (w * phases) == 0;
		if (!m->tile && m->shape->d[d].outer > 1)
			aligned = aligned && m->subscript[row].coefficient[d] * layout->tile % w == 0;
	}
	return aligned;
}

/* Loads of neighbours become vectors (model/simplify_widen.c): the widest first, of places that no vector has yet. */
static void count_window(counter *c, const movement *m, const heddle_group *group, int64_t *place, int n)
{
	double others = repeats(c, m);
	const int row = row_of(m);
	int64_t w = 1;
	for (int e = 0; e < m->tensor->rank; e++) {
		bool mask[HEDDLE_MAX_DIM] = {0};
		for (int d = 0; d < m->shape->stmt->n_dim && e != row; d++)
			mask[d] = m->dims[d] && !m->subscript[row].coefficient[d];
		others *= e == row ? 1 : distinct(m->shape, &m->subscript[e], mask, false);
	}
	while (2 * w <= c->language->max_vector && (!c->language->max_bytes || 2 * w * heddle_type_size(m->tensor->type) <= c->language->max_bytes))
		w *= 2;
	for (; w >= 1; w /= 2) {
		double accesses = 0;
		begins all = {{0}};
		for (int k = 0; k < n && places_aligned(m, w); k++) {
			int member[MOST_PLACES], found = 0;
			for (int j = 0; j < n && place[k] >= 0 && place[k] % w == 0; j++)
				if (place[j] >= place[k] && place[j] < place[k] + w)
					member[found++] = j;
			if (found < w)
				continue;
			const begins one = m->tile ? all : beginnings(c, m, w, place[k]);
			for (int r = 0; r < SECTOR; r++)
				all.at[r] = (all.at[r] * accesses + one.at[r]) / (accesses + 1);
			for (int j = 0; j < found; j++)
				place[member[j]] = -1;
			accesses++;
		}
		if (accesses > 0)
			add_accesses(c, m, group, w, accesses * others, m->tile ? NULL : &all);
	}
}

static void count(counter *c, const movement *m, const heddle_group *group)
{
	int64_t place[MOST_PLACES];
	const int places = (m->tile || (c->kernel->threads > 1 && row_of(m) >= 0)) && !m->write ? window_places(m, place) : 0;
	if (places) {
		count_window(c, m, group, place, places);
		return;
	}
	const int64_t strided = strided_width(c, m), width = strided > 1 ? strided : access_width(c, m);
	const begins b = m->tile ? (begins){{0}} : beginnings(c, m, width, -1);
	add_accesses(c, m, group, width, elements(m) / (double)width * (strided > 1 ? strided_vectors(m) : 1) * repeats(c, m), m->tile ? NULL : &b);
}

/* ---- leaves ------------------------------------------------------------------------------------------------------------- */

linear *count_subscripts(const counter *c, const heddle_stmt *stmt, const heddle_access *access)
{
	linear *all = HEDDLE_NEW_ARRAY(c->arena, linear, access->tensor->rank + 1);
	for (int e = 0; e < access->tensor->rank; e++) {
		all[e] = to_linear(c, subscript_of(stmt, access, e));
		c->out->exact = c->out->exact && all[e].affine;
	}
	return all;
}

/* Elements of the row from one access to another of the same tensor, no further than vectors reach; 0: they are none or not known. */
static int64_t elements_beside(counter *c, const heddle_stmt *stmt, int a, int b)
{
	const heddle_tensor *tensor = stmt->access[a].tensor;
	const int row = tensor->rank ? heddle_tensor_inner(tensor) : -1;
	int64_t apart = 0;
	if (tensor != stmt->access[b].tensor || row < 0)
		return 0;
	for (int e = 0; e < tensor->rank; e++) {
		linear x = to_linear(c, subscript_of(stmt, &stmt->access[a], e)), y = to_linear(c, subscript_of(stmt, &stmt->access[b], e));
		const linear difference = add(y, x, -1);
		if (!is_constant(&difference) || (e != row && difference.constant))
			return 0;
		apart = e == row ? difference.constant : apart;
	}
	return llabs(apart) < c->language->max_vector ? apart : 0;
}

/* `taken`: accesses that have been counted; those beside this one are, with it. */
static void count_read(counter *c, const shape *s, const heddle_access *access, bool *taken)
{
	const heddle_group *group = access->group;
	/* what the caller gives as a number is an argument */
	if (group->space == HEDDLE_SPACE_REGISTER || (!access->tensor->rank && access->tensor->role == HEDDLE_ROLE_INPUT))
		return;
	movement m = {.shape = s, .tensor = access->tensor, .subscript = count_subscripts(c, s->stmt, access)};
	if (group->space == HEDDLE_SPACE_SHARED)
		m.tile = group;
	for (int d = 0; d < s->stmt->n_dim; d++)
		m.dims[d] = true;
	m.whole = m.tile && s->stmt->reduction;
	m.apart = lanes_apart(c, s);
	m.once = !s->stmt->reduction && s->stmt->access[0].group->space == HEDDLE_SPACE_GLOBAL; /* read where it is stored */
	for (int a = 1; a < s->stmt->n_access && !m.tile && c->kernel->threads > 1 && m.n_beside < MOST_BESIDE; a++) {
		const int64_t apart = taken[a] ? 0 : elements_beside(c, s->stmt, (int)(access - s->stmt->access), a);
		if (!apart || s->stmt->access[a].group->space != HEDDLE_SPACE_GLOBAL)
			continue;
		m.beside[m.n_beside++] = apart;
		taken[a] = true;
	}
	if (access->tensor->rank)
		count(c, &m, group);
	else
		add_accesses(c, &m, group, 1, repeats(c, &m), NULL);
}

/* The target's elements, from the accumulator or the register group, or straight from the computation. */
static void count_write(counter *c, const shape *s, bool update)
{
	const heddle_access *access = &s->stmt->access[0];
	movement m = {.shape = s, .tensor = access->tensor, .subscript = count_subscripts(c, s->stmt, access), .write = true, .once = true};
	for (int d = 0; d < s->stmt->n_dim; d++)
		m.dims[d] = !s->stmt->dim[d].reduction;
	count(c, &m, access->group);
	m.write = false;
	if (update)
		count(c, &m, access->group);
}

/* A subscript over the kernel's members instead of the statement's dimensions; those of `joined` statements that are none are the same ones. */
static linear over_members(const heddle_stmt *stmt, linear a, bool joined)
{
	linear b = {.affine = a.affine, .constant = a.constant};
	for (int d = 0; d < stmt->n_dim; d++)
		if (stmt->dim[d].member >= 0)
			b.coefficient[stmt->dim[d].member] += a.coefficient[d];
		else if (joined)
			b.coefficient[HEDDLE_MAX_DIM - 1 - d] += a.coefficient[d];
		else
			b.affine = b.affine && !a.coefficient[d];
	return b;
}

static bool reads_the_same(counter *c, const heddle_stmt *s, int a, const heddle_stmt *t, int b, bool joined)
{
	bool same = s->access[a].tensor == t->access[b].tensor;
	for (int e = 0; e < s->access[a].tensor->rank && same; e++) {
		linear x = to_linear(c, subscript_of(s, &s->access[a], e)), y = to_linear(c, subscript_of(t, &t->access[b], e));
		if (s != t) {
			x = over_members(s, x, joined);
			y = over_members(t, y, joined);
		}
		linear difference = add(x, y, -1);
		same = is_constant(&difference) && difference.constant == 0;
	}
	return same;
}

/* Everything of the statement is unrolled, but for rounds that those in a row go through together: they are one stretch of code.  So is a step
 * of `joined` ones. */
static bool is_straight(const counter *c, const heddle_stmt *stmt, bool joined)
{
	shape s = shape_of(c, stmt);
	for (int d = 0; d < stmt->n_dim; d++) {
		const heddle_layout *layout = &stmt->dim[d].layout;
		const bool once = s.d[d].unrolled || (layout->items == 1 && s.d[d].parts <= 1);
		if ((stmt->dim[d].member < 0 && !joined) || !once || (layout->rounds > 1 && !c->kernel->rounds_outside))
			return false;
	}
	return true;
}

/* An earlier access of the statement, or of the stretch that it belongs to, reads the same elements: they are in registers. */
static bool is_repeated(counter *c, int at, int a)
{
	const heddle_stmt *stmt = c->kernel->stmt[at];
	for (int b = 1; b < a; b++)
		if (reads_the_same(c, stmt, a, stmt, b, false))
			return true;
	if (heddle_kernel_writes(c->kernel, stmt->access[a].tensor))
		return false;
	const bool joined = heddle_joins(c->scop, c->kernel, at);
	for (int s = at - 1; s >= 0 && is_straight(c, stmt, joined) && is_straight(c, c->kernel->stmt[s], joined); s--) {
		if (joined && !heddle_joins(c->scop, c->kernel, s + 1))
			break;
		for (int b = 1; b < c->kernel->stmt[s]->n_access; b++)
			if (reads_the_same(c, stmt, a, c->kernel->stmt[s], b, joined))
				return true;
	}
	return false;
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

/* Does the statement's value read something that data decide about? */
static bool has_conditional_read(const heddle_expr *value, const heddle_expr *expr)
{
	if (expr->kind == HEDDLE_EXPR_READ && expr->tensor->rank && !is_read_anyway(expr, value))
		return true;
	for (int i = 0; i < expr->n_arg; i++)
		if (has_conditional_read(value, expr->arg[i]))
			return true;
	return false;
}

static void count_stmt(counter *c, int at)
{
	const heddle_stmt *stmt = c->kernel->stmt[at];
	shape s = shape_of(c, stmt);
	const heddle_group *target = stmt->access[0].group;
	c->out->exact = c->out->exact && s.rectangular;
	c->out->moving = c->out->moving || !s.rectangular;
	for (int d = 0; d < stmt->n_dim; d++)
		c->out->exact = c->out->exact && s.d[d].share >= 1;
	bool *taken = HEDDLE_NEW_ARRAY(c->arena, bool, stmt->n_access);
	for (int a = 1; a < stmt->n_access; a++)
		taken[a] = is_repeated(c, at, a);
	for (int a = 1; a < stmt->n_access; a++)
		if (!taken[a]) {
			taken[a] = true;
			count_read(c, &s, &stmt->access[a], taken);
		}
	c->out->conditional = c->out->conditional || has_conditional_read(stmt->value, stmt->value);
	for (int g = 0; g < c->kernel->n_group; g++)
		if (c->kernel->group[g]->stmt == stmt && c->kernel->group[g]->space == HEDDLE_SPACE_SHARED)
			count_fills(c, &s, c->kernel->group[g]);
	if (target->space == HEDDLE_SPACE_GLOBAL)
		count_write(c, &s, stmt->source->assign != HEDDLE_ASSIGN_SET && !stmt->source->initialise);
	for (int g = 0; g < c->kernel->n_group; g++) {
		const heddle_group *group = c->kernel->group[g];
		if (group->space == HEDDLE_SPACE_REGISTER && group->live_out && group->last_writer == stmt) {
			shape first = shape_of(c, group->first_writer);
			count_write(c, &first, false);
		}
	}
}

/* Lanes exchange through shared memory what shuffles do not reach. */
static void count_exchange(counter *c, const heddle_stmt *stmt)
{
	const heddle_kernel *kernel = c->kernel;
	double results = 1, rounds = c->out->blocks, size;
	bool laned = false;
	for (int d = 0; d < stmt->n_dim; d++) {
		const heddle_dim *dim = &stmt->dim[d];
		laned |= dim->reduction && dim->layout.threads > 1;
		if (!dim->reduction)
			results *= (double)(dim->layout.items * dim->layout.vector);
	}
	if (!laned || kernel->lanes < 2)
		return;
	shape s = shape_of(c, stmt);
	for (int d = 0; d < stmt->n_dim; d++)
		if (!stmt->dim[d].reduction && stmt->dim[d].member < 0)
			rounds *= s.d[d].outer;
	const double words = results * rounds;
	size = heddle_type_size(stmt->accumulator.type) * words;
	int64_t lanes = kernel->lanes, warps = kernel->threads / c->warp;
	const bool shuffles = heddle_lanes_shuffle(c->scop, kernel);
	if (shuffles && lanes <= c->warp)
		return;
	if (shuffles) {
		c->out->shared.store_bytes += size * (double)warps;
		c->out->shared.load_bytes += size * (double)kernel->threads * (double)(lanes / c->warp);
		c->out->shared.store_requests += words * (double)warps;
		c->out->shared.store_transactions += words * (double)warps;
		c->out->shared.load_requests += words * (double)warps * (double)(lanes / c->warp);
		c->out->shared.load_transactions += words * (double)warps * (double)(lanes / c->warp) * ceil((double)c->warp / BANKS);
		return;
	}
	double groups = (double)kernel->threads / (double)lanes, moved = 0;
	for (int64_t live = lanes; live > 1; live = (live + 1) / 2)
		moved += (double)(live - (live + 1) / 2) * groups;
	c->out->shared.store_bytes += size * ((double)kernel->threads + moved);
	c->out->shared.load_bytes += size * ((double)kernel->threads + 2 * moved);
	if (kernel->lane_stride % c->warp) /* parts of warps: not counted */
		return;
	const double wide = fmax(1, (double)(c->warp * heddle_type_size(stmt->accumulator.type)) / (BANKS * BANK_WIDTH)), all = words * (double)warps,
		     some = words * moved / c->warp;
	c->out->shared.store_requests += all + some;
	c->out->shared.load_requests += all + 2 * some;
	c->out->shared.store_transactions += (all + some) * wide;
	c->out->shared.load_transactions += (all + 2 * some) * wide;
}

int count_lanes_at_once(const counter *c, int64_t bytes)
{
	const int64_t part = choose_least(c->warp, BANKS) * BANK_WIDTH / (bytes > BANK_WIDTH ? bytes : BANK_WIDTH);
	return part < 1 ? 1 : (int)part;
}

int count_warp(const heddle_scop *scop)
{
	const heddle_quantity *warp = &scop->descriptor->warp;
	return warp->set && warp->value > 1 && warp->value <= MOST_WARP ? (int)warp->value : 1;
}

heddle_kernel_count heddle_cost_count(heddle_arena *arena, const heddle_scop *scop, const heddle_kernel *kernel,
				      const heddle_count_language *language, const int64_t *size)
{
	heddle_kernel_count out = {.blocks = 1, .exact = true};
	counter c = {arena, scop, kernel, language, size, count_warp(scop), &out};
	out.group = HEDDLE_NEW_ARRAY(arena, heddle_movement, kernel->n_group ? kernel->n_group : 1);
	shape s = shape_of(&c, kernel->stmt[0]);
	for (int d = 0; d < kernel->stmt[0]->n_dim; d++)
		if (kernel->stmt[0]->dim[d].member >= 0)
			out.blocks *= s.d[d].outer;
	for (int i = 0; i < kernel->n_stmt; i++) {
		count_stmt(&c, i);
		count_exchange(&c, kernel->stmt[i]);
	}
	return out;
}
