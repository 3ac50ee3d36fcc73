/* Counting one access of a statement: how often the threads make it, of how many elements at once, and what a warp asks for together.
 * SPDX-License-Identifier: MIT
 */
#include "cost/count_parts.h"

#include "cost/cost.h"
#include "frontend/affine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the unrolled part ---------------------------------------------------------------------------------------------- */

/* Different values of a subscript over items and members of the dimensions in `mask`; `each`: no two instances have the same.  `row`: it is that of a
 * row, along which vectors are read, each for itself. */
static double distinct(const shape *s, const linear *subscript, const bool *mask, bool each, bool row)
{
	int64_t value[MOST_DISTINCT];
	int n = 1;
	double product = 1, apart = 1; /* members of what is not affine are read one by one, and those of no whole vector, tap by tap; vectors at once */
	bool part = each;
	value[0] = 0;
	for (int d = 0; d < s->stmt->n_dim; d++) {
		const heddle_layout *layout = &s->stmt->dim[d].layout;
		const int64_t at_once = row && subscript->coefficient[d] == 1 ? s->d[d].at_once : 1, members = s->d[d].members / at_once;
		int64_t items = s->d[d].unrolled ? s->d[d].items : 1;
		apart *= mask[d] ? (double)at_once : 1;
		if (mask[d] && subscript->within[d])
			apart *= (double)(items * members);
		if (!mask[d] || !subscript->coefficient[d] || subscript->within[d] || items * members == 1)
			continue;
		product *= (double)(items * members);
		part |= s->alone && s->d[d].extent < members;
		if (product > MOST_DISTINCT)
			return product * apart;
		int before = n;
		for (int64_t i = 0; i < items; i++)
			for (int64_t v = 0; v < members; v++) {
				int64_t shift = subscript->coefficient[d] * (i * layout->threads * layout->vector + v * at_once);
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

/* Are terms of a sum, along the tensor's rows, members of vectors which are each read by itself: of neighbours, or
 * under conditions? */
static bool reads_terms(const movement *m, int e)
{
	const heddle_stmt *stmt = m->shape->stmt;
	const int lockstep = m->shape->alone && !m->tile ? heddle_lockstep_dim(stmt, NULL) : -1;
	if (lockstep < 0 || !stmt->dim[lockstep].reduction || !m->dims[lockstep] || e != heddle_tensor_inner(m->tensor))
		return false;
	const bool asked = m->access && m->access->expr && !count_is_read_anyway(stmt, m->access->expr);
	return m->subscript[e].coefficient[lockstep] == 1 || (m->subscript[e].coefficient[lockstep] && asked);
}

double count_elements(const movement *m)
{
	double n = 1;
	bool used[HEDDLE_MAX_DIM] = {0};
	for (int e = 0; e < m->tensor->rank; e++) {
		bool mask[HEDDLE_MAX_DIM] = {0};
		for (int d = 0; d < m->shape->stmt->n_dim; d++) {
			mask[d] = m->dims[d] && !used[d];
			used[d] |= m->subscript[e].coefficient[d] != 0 || m->subscript[e].within[d];
		}
		n *= distinct(m->shape, &m->subscript[e], mask, m->write || reads_terms(m, e), !m->tile && e == heddle_tensor_inner(m->tensor));
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

/* Elements of the tile's array before element `value` of its row. */
int64_t count_row_offset(const heddle_group *tile, int64_t value)
{
	const int64_t place = affine_floor_div(value, tile->phases), phase = value - place * tile->phases;
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
double count_sectors(const counter *c, const int64_t *at, int n, int64_t bytes)
{
	int64_t seen[8 * MOST_WARP];
	int found = 0;
	for (int t = 0; t < n; t++)
		for (int64_t s = affine_floor_div(at[t], c->transfer.sector); s <= affine_floor_div(at[t] + bytes - 1, c->transfer.sector); s++) {
			int j = found - 1;
			while (j >= 0 && seen[j] != s)
				j--;
			if (j < 0 && found < (int)HEDDLE_COUNT(seen))
				seen[found++] = s;
		}
	return found;
}

/* Cycles of the banks: most different words that one bank gives. */
double count_bank_cycles(const counter *c, const int64_t *at, int n, int64_t bytes)
{
	int64_t word[HEDDLE_MOST_BANKS][MOST_WARP];
	int found[HEDDLE_MOST_BANKS] = {0}, most = 0;
	for (int t = 0; t < n; t++)
		for (int64_t w = affine_floor_div(at[t], c->transfer.bank_width); w <= affine_floor_div(at[t] + bytes - 1, c->transfer.bank_width); w++) {
			int bank = (int)(w - affine_floor_div(w, c->transfer.banks) * c->transfer.banks), j = found[bank] - 1;
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
			r.transactions += m->tile ? count_bank_cycles(c, at, n, bytes) : count_sectors(c, at, n, bytes);
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
	return target->group->space == HEDDLE_SPACE_GLOBAL && count_access_width(c, &m) > 1;
}

/* Members of the vectors that rows are read by where vectors are gathered across them, as many iterations together as a vector has
 * members (model/simplify_turn.c); 1: they are not. */
static int64_t turned_width(const counter *c, const movement *m)
{
	const heddle_stmt *stmt = m->shape->stmt;
	const int across = count_lockstep(m), inner = m->tile ? heddle_tile_array_row(m->tile) : heddle_tensor_inner(m->tensor);
	int along = -1;
	if (m->write || !c->language->zips || !c->language->unaligned || across < 0 || inner < 0 || stmt->reduction)
		return 1;
	for (int d = 0; d < stmt->n_dim; d++)
		if (m->dims[d] && m->subscript[inner].coefficient[d] == 1 && d != across)
			along = d;
	const int64_t w = choose_least(stmt->dim[across].layout.vector, c->language->max_vector);
	if (along < 0 || m->subscript[inner].coefficient[across] || !count_depends(m, across))
		return 1;
	const heddle_layout *rows = &stmt->dim[along].layout;
	const bool members = rows->vector > 1; /* of vectors: they stand inside of all items */
	if ((members ? rows->vector : rows->items) % w)
		return 1;
	/* iterations side by side: nothing is a loop inside of theirs, and where they are copies nothing else is copied in each */
	for (int o = 0; o < stmt->n_dim && !members; o++)
		if ((o != along && o != across && stmt->dim[o].layout.vector > 1) ||
		    (stmt->dim[o].layout.items > 1 && o != along && count_stands_inside(c, stmt, o, along) &&
		     (o != across || m->shape->d[along].unrolled || !m->shape->d[o].unrolled)))
			return 1;
	for (int e = 0; e < m->tensor->rank; e++)
		if (e != inner && m->subscript[e].coefficient[along])
			return 1;
	/* the vectors that iterations store lie in rows of their own */
	const heddle_access *target = &stmt->access[0];
	if (target->tensor->rank && count_subscripts(c, stmt, target)[target->tensor->rank - 1].coefficient[along])
		return 1;
	return stores_vectors(c, m->shape) ? w : 1;
}

/* Members of the vectors by which elements of an input are read that lie two apart, two vectors for each (model/simplify_vector_value.c);
 * 1: they are not. */
static int64_t strided_width(const counter *c, const movement *m)
{
	const int d = count_lockstep(m), inner = heddle_tensor_inner(m->tensor);
	if (m->write || m->tile || !c->language->zips || !c->language->unaligned || d < 0 || inner != m->tensor->rank - 1 ||
	    m->tensor->role != HEDDLE_ROLE_INPUT || m->tensor->type == HEDDLE_BOOL || m->subscript[inner].coefficient[d] != 2 ||
	    m->shape->d[d].extent < choose_least(m->shape->stmt->dim[d].layout.vector, c->language->max_vector))
		return 1;
	for (int e = 0; e < inner; e++)
		if (m->subscript[e].coefficient[d])
			return 1;
	return choose_least(m->shape->stmt->dim[d].layout.vector, c->language->max_vector);
}

/* Vectors of an access by strided_width for each vector of results: two taps side by side need the same ones.  Members of those that a condition
 * leaves some out of are read one by one. */
static double strided_vectors(const counter *c, const movement *m)
{
	const heddle_stmt *stmt = m->shape->stmt;
	const linear *row = &m->subscript[heddle_tensor_inner(m->tensor)];
	for (int d = 0; d < stmt->n_dim; d++)
		if (stmt->dim[d].reduction && m->shape->d[d].unrolled && m->shape->d[d].items == 2 && row->coefficient[d] == 1)
			return 1;
	const double share = m->access && m->access->expr ? fabs(count_read_share(c, stmt, m->access->expr)) : 1;
	const int64_t w = strided_width(c, m);
	const double whole = share < 1 ? count_read_vectors(c, stmt, m->access->expr, count_lockstep(m), w) : share;
	const double vectors = share > 0 && whole >= 0 && whole < share ? 1 + whole / share : 2;
	for (int b = 0; b < m->n_beside && vectors == 2; b++) /* one ends with the vector that the other begins with */
		if (m->beside[b] == w - 1 || m->beside[b] == 1 - w)
			return 1;
	const int64_t extent = m->shape->d[count_lockstep(m)].extent;
	if (m->shape->guarded != 1 && count_guards(stmt, count_lockstep(m))) /* those that lack members are counted with what the guard leaves */
		return vectors;
	return vectors == 2 ? 2 - (double)(extent % w) / (double)extent : vectors;
}

double count_strided(const counter *c, const movement *m)
{
	return strided_width(c, m) > 1 ? strided_vectors(c, m) : 1;
}

bool count_stands_inside(const counter *c, const heddle_stmt *stmt, int o, int d)
{
	const bool apart = c->kernel->threads == 1;
	const int vectors = apart && stmt->dim[o].layout.vector > 1, own = apart && stmt->dim[d].layout.vector > 1;
	return vectors > own || (vectors == own && o > d);
}

bool count_has_loop_inside(const counter *c, const movement *m, int d)
{
	const heddle_stmt *stmt = m->shape->stmt;
	for (int o = 0; o < stmt->n_dim; o++)
		if (m->shape->d[o].parts > 1 ||
		    (!stmt->dim[o].reduction && !m->shape->d[o].unrolled && m->shape->d[o].items > 1 && count_stands_inside(c, stmt, o, d)))
			return true;
	return false;
}

bool count_has_sum_inside(const movement *m, int d)
{
	const heddle_stmt *stmt = m->shape->stmt;
	const bool window = heddle_is_window(stmt, d);
	for (int o = 0; o < stmt->n_dim; o++) {
		const bool other = heddle_is_window(stmt, o);
		if (stmt->dim[o].reduction && !m->shape->d[o].unrolled && m->shape->d[o].items > 1 && (other > window || (other == window && o > d)))
			return true;
	}
	return false;
}

/* Share of all threads' items, each of a vector, that have any value of d. */
static double share_of_vectors(const counter *c, const movement *m, int d)
{
	const heddle_layout *layout = &m->shape->stmt->dim[d].layout;
	if (count_moves(c, m->shape->stmt, d) || m->shape->d[d].outer <= 0)
		return m->shape->d[d].share;
	return ceil((double)m->shape->d[d].extent / (double)layout->vector) * (double)layout->vector / (m->shape->d[d].outer * (double)layout->tile);
}

/* How often all threads make the access that stands in the text: tiles, rounds, items that are a loop; that of whole vectors `wide` times. */
static double repeats(const counter *c, const movement *m, double wide)
{
	const heddle_stmt *stmt = m->shape->stmt;
	double n = 1;
	for (int d = 0; d < stmt->n_dim; d++) {
		const heddle_dim *dim = &stmt->dim[d];
		if (!m->dims[d] && dim->member < 0)
			continue;
		const bool depends = count_depends(m, d);
		const bool each = !depends && (dim->reduction ? count_has_sum_inside(m, d) : count_has_loop_inside(c, m, d)); /* item reads it */
		n *= m->shape->d[d].outer * (double)dim->layout.rounds;
		if (!m->shape->d[d].unrolled || each)
			n *= (double)m->shape->d[d].items;
		n *= depends ? 1 : m->shape->d[d].parts;
		if (m->access && m->shape->d[d].harmless && dim->layout.rounds > 1) /* rounds of which there is anything */
			n *= ceil((double)m->shape->d[d].extent * (double)dim->layout.rounds / (double)dim->layout.tile) /
			     (m->shape->d[d].outer * (double)dim->layout.rounds);
		const bool own = depends || !m->shape->d[d].unrolled || m->shape->d[d].parts > 1, copies = each && !dim->reduction && c->kernel->threads > 1;
		if (!m->whole && !(m->access && m->shape->d[d].harmless))
			n *= own ? m->shape->d[d].share : copies ? share_of_vectors(c, m, d) : m->shape->d[d].busy;
		else if (m->whole && dim->member < 0 &&
			 dim->layout.threads == 1) /* members that do not exist add what their tiles are filled with */
			n *= depends || !m->shape->d[d].unrolled ? fmin(1, m->shape->d[d].share) : 1;
	}
	n *= m->share;
	return n * (m->write || m->whole ? wide : count_guarded_share(c, m, n * count_elements(m), wide));
}

double count_repeats(const counter *c, const movement *m)
{
	return repeats(c, m, 1);
}

void count_go_on(const counter *c, double begin[HEDDLE_MOST_SECTOR], double n, int64_t bytes)
{
	const int sector = c->transfer.sector;
	const int64_t step = bytes % sector;
	double after[HEDDLE_MOST_SECTOR] = {0};
	if (!step || n <= 1)
		return;
	const double whole = floor(n / sector), rest = n - whole * sector; /* after so many rounds all has come back */
	for (int from = 0; from < sector; from++)
		for (int64_t i = 0; i < sector && begin[from] > 0; i++)
			after[((from + i * step) % sector + sector) % sector] += begin[from] * (whole + ((double)i < rest ? 1 : 0)) / n;
	memcpy(begin, after, sizeof(after));
}

/* n rounds go on by so many elements each. */
static void go_on(const counter *c, count_begins *b, const movement *m, double n, int64_t elements)
{
	count_go_on(c, b->at, n, elements * heddle_type_size(m->tensor->type));
}

/* Where accesses of so many elements begin: their tiles, rounds and items, and `place` of the row, where windows give those along it; -1: they
 * do not. */
static count_begins beginnings(const counter *c, const movement *m, int64_t width, int64_t place)
{
	const heddle_stmt *stmt = m->shape->stmt;
	const int row = heddle_tensor_inner(m->tensor), size = heddle_type_size(m->tensor->type);
	int lane = count_lockstep(m);
	for (int d = 0; d < stmt->n_dim && width > 1 && row >= 0 && (lane < 0 || m->subscript[row].coefficient[lane] != 1); d++)
		lane = count_side_by_side(c, m, d) > 1 && m->subscript[row].coefficient[d] == 1 ? d : lane;
	count_begins b = {{0}};
	int64_t first = place < 0 ? 0 : place;
	for (int e = 0; e < m->tensor->rank; e++)
		first += place < 0 || e != row ? m->subscript[e].constant * count_stride(c, m->tensor, e) : 0;
	b.at[((first * size) % c->transfer.sector + c->transfer.sector) % c->transfer.sector] = 1;
	for (int d = 0; d < stmt->n_dim; d++) {
		const heddle_layout *layout = &stmt->dim[d].layout;
		const bool in_row = place >= 0 && m->subscript[row].coefficient[d] && m->shape->d[d].unrolled;
		int64_t step = 0;
		for (int e = 0; e < m->tensor->rank; e++)
			step += m->subscript[e].coefficient[d] * count_stride(c, m->tensor, e);
		if (!step || (!m->dims[d] && stmt->dim[d].member < 0))
			continue;
		go_on(c, &b, m, m->shape->d[d].outer, step * layout->tile);
		go_on(c, &b, m, (double)layout->rounds, step * (layout->tile / layout->rounds));
		if (in_row)
			continue;
		if (d == lane && width > layout->vector) {
			go_on(c, &b, m, (double)count_side_by_side(c, m, d) / (double)width, step * width);
			continue;
		}
		go_on(c, &b, m, (double)m->shape->d[d].items, step * layout->threads * layout->vector);
		const int64_t at_once = d == lane ? width : 1;
		go_on(c, &b, m, (double)layout->vector / (double)at_once, step * at_once);
	}
	return b;
}

void count_add_accesses(counter *c, const movement *m, const heddle_group *group, int64_t width, double rounds, const count_begins *b)
{
	heddle_movement *to = m->tile ? &c->out->shared : &c->out->global;
	round_of r = one_round(c, m, width, 0);
	for (int base = 0; base < c->transfer.sector && b; base++) {
		if (base == 0)
			r.transactions *= b->at[0];
		else if (b->at[base] > 0)
			r.transactions += b->at[base] * one_round(c, m, width, base).transactions;
	}
	const int64_t turned = width == 1 ? turned_width(c, m) : 1;
	if (turned > 1) {
		const double row = ceil((double)(turned * heddle_type_size(m->tensor->type)) / c->transfer.sector);
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
 * multiple of any vector; 0: there is no window, or too much.  `only`: [n_dim] by dimension the item whose places they are, -1: all; NULL: all. */
static int window_places(const counter *c, const movement *m, const int64_t *only, int64_t place[MOST_PLACES])
{
	enum { LONGEST = 64, FIRST = 1024 };
	const heddle_stmt *stmt = m->shape->stmt;
	const linear *row = &m->subscript[row_of(m)];
	const int64_t phases = m->tile ? m->tile->phases : 1;
	const int lockstep = heddle_lockstep_dim(stmt, NULL);
	bool window = m->n_beside > 0;
	int n = 1;
	place[0] = m->tile ? 0 : FIRST + (row->constant % LONGEST + LONGEST) % LONGEST;
	for (int d = 0; d < stmt->n_dim; d++) {
		const heddle_layout *layout = &stmt->dim[d].layout;
		const bool one = only && only[d] >= 0;
		const int64_t step = row->coefficient[d], items = m->shape->d[d].unrolled && !one ? m->shape->d[d].items : 1,
			      members = m->shape->d[d].members;
		const int before = n;
		/* copies around a loop stand each in one of its own */
		if (m->tile && step && items > 1 && !stmt->dim[d].reduction && count_has_loop_inside(c, m, d))
			return 0;
		window = window || (step && stmt->dim[d].reduction && heddle_is_window(stmt, d));
		/* items lie side by side, or members that do not run in lockstep, which needs whole vectors */
		const bool beside = d != lockstep || (items > 1 && m->shape->d[d].parts <= 1);
		const bool apart = layout->vector > 1 && !m->shape->alone && beside && m->tile && count_access_width(c, m) < layout->vector;
		window = window || (m->tile && step == phases && (apart || (layout->vector == 1 && items > 1 && layout->threads == 1)));
		for (int k = 0; k < before; k++)
			place[k] += (m->tile && step < 0 ? -step * (choose_least(layout->tile, m->shape->d[d].extent) - 1) : 0) +
				    (one ? step * only[d] * layout->threads * layout->vector : 0);
		for (int64_t i = 1; i < items * members && step; i++)
			for (int k = 0; k < before; k++) {
				const int64_t x = place[k] +
						  step * (i / members * layout->threads * layout->vector + i % members);
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

enum { MOST_MEMBERS = 256 };

/* Accesses that stand in the text in rows of their own: members of each dimension that tell them apart, and how many
 * they are together. */
static int64_t rows_apart(const movement *m, int64_t n[HEDDLE_MAX_DIM])
{
	const shape *s = m->shape;
	const int inner = row_of(m);
	int64_t all = 1;
	for (int d = 0; d < s->stmt->n_dim; d++) {
		bool across = false;
		for (int e = 0; e < m->tensor->rank && inner >= 0 && !m->subscript[inner].coefficient[d] && m->dims[d];
		     e++)
			across = across || (e != inner && m->subscript[e].coefficient[d]);
		n[d] = !across || s->d[d].parts > 1 ? 1 : s->d[d].members * (s->d[d].unrolled ? s->d[d].items : 1);
		all *= n[d];
	}
	return all;
}

/* Of number k of them: where it is along each dimension; -1: anywhere. */
static void place_of_row(const shape *s, int64_t k, const int64_t n[HEDDLE_MAX_DIM], int64_t member[HEDDLE_MAX_DIM])
{
	for (int d = 0; d < s->stmt->n_dim; d++) {
		const heddle_layout *layout = &s->stmt->dim[d].layout;
		const int64_t x = k % n[d];
		member[d] =
			n[d] > 1 ? x / s->d[d].members * layout->threads * layout->vector + x % s->d[d].members : -1;
		k /= n[d];
	}
}

/* From which places, but for multiples of w, may vectors of w elements begin, whatever thread, round, tile or row it
 * is?  -1: from none. */
static int64_t vectors_begin(const movement *m, int64_t w, const int64_t *member)
{
	const heddle_stmt *stmt = m->shape->stmt;
	const int row = row_of(m);
	const int64_t phases = m->tile ? m->tile->phases : 1;
	int64_t begin = m->tile ? count_tile_begin(m, row, w, phases == 1 ? member : NULL) : 0;
	bool aligned =
		!m->tile ? m->tensor->rank < 2 || heddle_cost_rows_aligned(m->tensor, w)
			 : begin >= 0 && (phases == 1 || (heddle_tile_row_length(m->tile) + m->tile->pad) % w == 0);
	for (int d = 0; d < stmt->n_dim; d++) {
		const heddle_layout *layout = &stmt->dim[d].layout;
		if (layout->threads > 1 || layout->rounds > 1 || (!m->shape->d[d].unrolled && layout->items > 1))
			aligned = aligned && m->subscript[row].coefficient[d] * layout->vector % (w * phases) == 0;
		if (!m->tile && m->shape->d[d].outer > 1)
			aligned = aligned && m->subscript[row].coefficient[d] * layout->tile % w == 0;
	}
	return aligned ? begin : -1;
}

double count_wide_share(const counter *c, const movement *m)
{
	shape one = *m->shape;
	movement there = *m;
	int64_t place[MOST_PLACES], wide = 0;
	there.shape = &one;
	for (int d = 0; d < one.stmt->n_dim; d++)
		if (!one.stmt->dim[d].reduction && !(m->tile && one.d[d].harmless)) /* nothing asks for those that tiles hold something for */
			one.d[d].items = one.d[d].members = 1;
	const int n = c->kernel->threads == 1 || row_of(m) < 0 ? 0 : window_places(c, &there, NULL, place);
	for (int k = 0; k < n; k++) {
		const int64_t first = place[k] - place[k] % 2;
		int found = 0;
		for (int j = 0; j < n; j++)
			found += place[j] == first || place[j] == first + 1;
		wide += found == 2;
	}
	return wide > 0 && vectors_begin(m, 2, NULL) == 0 && c->language->max_vector > 1 ? (double)wide / (double)n : 0;
}

enum { MOST_SEEN = 512 };

/* Vectors that have names, by the number of their row. */
typedef struct seen_vectors {
	int n;
	int64_t row[MOST_SEEN], place[MOST_SEEN], width[MOST_SEEN];
} seen_vectors;

/* Is it one of them?  It is, from now on. */
static bool has_seen(seen_vectors *seen, int64_t row, int64_t place, int64_t width)
{
	for (int k = 0; k < seen->n; k++)
		if (seen->row[k] == row && seen->place[k] == place && seen->width[k] == width)
			return true;
	if (seen->n < MOST_SEEN) {
		seen->row[seen->n] = row;
		seen->place[seen->n] = place;
		seen->width[seen->n++] = width;
	}
	return false;
}

/* Loads of neighbours become vectors (model/simplify_widen.c): the widest first, of places that no vector has yet.  `share`: of the steps;
 * `seen`: vectors that have been counted, NULL: none. */
static void count_window(counter *c, const movement *m, const heddle_group *group, const int64_t *place, int n, double share, seen_vectors *seen)
{
	enum { WIDTHS = 8 };
	double others = count_repeats(c, m) * share, accesses[WIDTHS] = {0};
	count_begins all[WIDTHS] = {{{0}}};
	const int row = row_of(m);
	int64_t apart[HEDDLE_MAX_DIM], rows = m->tile ? rows_apart(m, apart) : 1;
	int most = 0;
	for (int e = 0; e < m->tensor->rank; e++) {
		bool mask[HEDDLE_MAX_DIM] = {0};
		for (int d = 0; d < m->shape->stmt->n_dim && e != row; d++)
			mask[d] = m->dims[d] && !m->subscript[row].coefficient[d];
		others *= e == row ? 1 : distinct(m->shape, &m->subscript[e], mask, false, false);
	}
	while (most + 1 < WIDTHS && (INT64_C(2) << most) <= c->language->max_vector &&
	       (!c->language->max_bytes ||
		(INT64_C(2) << most) * heddle_type_size(m->tensor->type) <= c->language->max_bytes))
		most++;
	const bool alike = rows == 1 || rows > MOST_MEMBERS;
	rows = alike ? 1 : rows;
	for (int64_t r = 0; r < rows; r++) {
		int64_t left[MOST_PLACES], at[HEDDLE_MAX_DIM];
		memcpy(left, place, sizeof(*place) * (size_t)n);
		if (!alike)
			place_of_row(m->shape, r, apart, at);
		for (int wide = most; wide >= 0; wide--) {
			const int64_t w = INT64_C(1) << wide, begin = vectors_begin(m, w, alike ? NULL : at);
			for (int k = 0; k < n && begin >= 0; k++) {
				int member[MOST_PLACES], found = 0;
				for (int j = 0; j < n && left[k] >= 0 && (left[k] + begin) % w == 0; j++)
					if (left[j] >= left[k] && left[j] < left[k] + w)
						member[found++] = j;
				if (found < w)
					continue;
				const bool again = seen && w > 1 && has_seen(seen, r, left[k], w);
				for (int j = 0; j < found && again; j++)
					left[member[j]] = -1;
				if (again)
					continue;
				const count_begins one = m->tile ? all[wide] : beginnings(c, m, w, left[k]);
				for (int b = 0; b < c->transfer.sector; b++)
					all[wide].at[b] =
						(all[wide].at[b] * accesses[wide] + one.at[b]) / (accesses[wide] + 1);
				for (int j = 0; j < found; j++)
					left[member[j]] = -1;
				accesses[wide]++;
			}
		}
	}
	for (int wide = most; wide >= 0; wide--)
		if (accesses[wide] > 0)
			count_add_accesses(c, m, group, INT64_C(1) << wide, accesses[wide] / (double)rows * others,
					   m->tile ? NULL : &all[wide]);
}

bool count_asks_terms(const counter *c, const movement *m, int d)
{
	const heddle_stmt *stmt = m->shape->stmt;
	const heddle_layout *layout = &stmt->dim[d].layout;
	int64_t place[MOST_PLACES];
	return m->tile && stmt->dim[d].reduction && heddle_is_window(stmt, d) && m->shape->d[d].unrolled && layout->vector * layout->threads == 1 &&
	       !choose_divisible(stmt, d, layout->tile) && heddle_fixed_extent(stmt->source->index[d]->upper) == 0 && !count_moves(c, stmt, d) && window_places(c, m, NULL, place) > 0;
}

/* Share of the reads that are made where a block has all of its results, and a step all of its terms: those ask for nothing. */
static double whole_steps(const counter *c, const movement *m)
{
	const heddle_stmt *stmt = m->shape->stmt;
	double share = m->shape->guarded == 1 && !count_own_results(c->kernel) ? 1 : 0;
	for (int d = 0; d < stmt->n_dim; d++) {
		const heddle_layout *layout = &stmt->dim[d].layout;
		const int64_t extent = m->shape->d[d].extent, tiles = extent / layout->tile, known = heddle_fixed_extent(stmt->source->index[d]->upper);
		const double outer = m->shape->d[d].outer;
		if (extent % layout->tile == 0 || count_moves(c, stmt, d))
			continue;
		if (known > 0 && known < layout->tile) /* loops end where it does, but not threads, nor vectors of results */
			share *= layout->threads == 1 && (stmt->dim[d].reduction || known % layout->vector == 0) ? 1 : 0;
		else if (stmt->dim[d].member >= 0 && m->shape->d[d].harmless)
			share *= (double)tiles / outer;
		else if (count_depends(m, d) || !m->shape->d[d].unrolled)
			share *= (double)(tiles * layout->tile) / (double)extent;
		else
			share *= (double)tiles / (outer * m->shape->d[d].busy);
	}
	return share;
}

/* Adds what a window reads whose terms are so, term after term where a step may lack some; false: they are not. */
static bool count_terms_apart(counter *c, const movement *m, const heddle_group *group)
{
	const heddle_stmt *stmt = m->shape->stmt;
	int64_t only[HEDDLE_MAX_DIM] = {0}, terms = 1, first[MOST_PLACES], place[MOST_PLACES];
	seen_vectors seen = {.n = 0};
	int asked = 0;
	for (int d = 0; d < stmt->n_dim; d++) {
		only[d] = count_asks_terms(c, m, d) ? 0 : -1;
		asked += only[d] == 0;
		terms *= only[d] < 0 ? 1 : m->shape->d[d].items;
	}
	const double whole = terms > 1 ? whole_steps(c, m) : 0;
	const int n_all = window_places(c, m, NULL, place), n_first = window_places(c, m, only, first);
	if (whole > 0)
		count_window(c, m, group, place, n_all, whole, NULL);
	for (int64_t t = 0; t < terms && terms > 1; t++) {
		double share = 1;
		int64_t rest = t;
		for (int d = 0; d < stmt->n_dim; d++) {
			const int64_t items = m->shape->d[d].items, extent = m->shape->d[d].extent;
			if (only[d] < 0)
				continue;
			only[d] = rest % items;
			rest /= items;
			/* of all steps those that have the term, by those that they have on average */
			share *= (double)(extent / items + (extent % items > only[d])) * (double)items / (double)extent;
		}
		int n = window_places(c, m, only, place), left = 0;
		for (int k = 0; k < n; k++) {
			bool known = false;
			for (int j = 0; j < n_first && t > 0; j++)
				known = known || first[j] == place[k];
			if (!known)
				place[left++] = place[k];
		}
		if (left > 0 && share > whole)
			count_window(c, m, group, place, left, share - whole, asked == 1 && t > 0 ? &seen : NULL);
	}
	return terms > 1;
}

/* Those that stand in the text in rows of their own, each by vectors as wide as its row's beginning allows. */
static void count_members(counter *c, const movement *m, const heddle_group *group)
{
	enum { MOST_WIDTH = 64 };
	const shape *s = m->shape;
	int64_t n[HEDDLE_MAX_DIM];
	const int64_t all = rows_apart(m, n);
	double share[MOST_WIDTH + 1] = {0};
	/* many threads read as wide as they can what nothing is stored to in between */
	const bool freely = c->kernel->threads > 1 && !count_own_results(c->kernel) && m->tensor != s->stmt->access[0].tensor;
	const bool alike = all == 1 || all > MOST_MEMBERS || m->write || !freely || c->language->unaligned;
	const int lockstep = count_lockstep(m);
	int64_t any[HEDDLE_MAX_DIM];
	for (int d = 0; d < HEDDLE_MAX_DIM; d++)
		any[d] = -1;
	/* results that lie apart are a loop around others, whose members stand together where an access is the same for all results of the loop */
	const bool together = !m->write && !m->tile && (c->kernel->threads > 1 ? freely : (m->once && lockstep >= 0 && !count_depends(m, lockstep) &&
										 !count_along_target(c, s->stmt, lockstep)));
	if (alike)
		share[count_member_width(c, m, together ? any : NULL)] = 1;
	for (int64_t k = 0; k < all && !alike; k++) {
		int64_t member[HEDDLE_MAX_DIM];
		place_of_row(s, k, n, member);
		share[count_member_width(c, m, member)] += 1 / (double)all;
	}
	for (int64_t width = 1; width <= MOST_WIDTH; width++) {
		if (share[width] == 0)
			continue;
		const count_begins b = m->tile ? (count_begins){{0}} : beginnings(c, m, width, -1);
		count_add_accesses(c, m, group, width, share[width] * count_elements(m) / (double)width * count_repeats(c, m), m->tile ? NULL : &b);
	}
}

void count_movement(counter *c, const movement *m, const heddle_group *group)
{
	int64_t place[MOST_PLACES];
	const int places = (m->tile || (c->kernel->threads > 1 && row_of(m) >= 0)) && !m->write ? window_places(c, m, NULL, place) : 0;
	if (places) {
		if (!count_terms_apart(c, m, group))
			count_window(c, m, group, place, places, 1, NULL);
		return;
	}
	const int64_t strided = strided_width(c, m);
	if (strided > 1) {
		const count_begins b = m->tile ? (count_begins){{0}} : beginnings(c, m, strided, -1);
		count_add_accesses(c, m, group, strided, count_elements(m) / (double)strided * repeats(c, m, strided_vectors(c, m)), m->tile ? NULL : &b);
	} else {
		count_members(c, m, group);
	}
}
