/* The loops of a statement and the boxes of its tiles, under a candidate.
 * SPDX-License-Identifier: MIT
 */
#include "cost/footprint.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const heddle_slot_layout one = {1, 1, 1, 1};

double heddle_outline_blocks(const heddle_outline *outline, const heddle_candidate *candidate, int member)
{
	return ceil(outline->member_extent[member] / heddle_slot_tile(&candidate->slot[member]));
}

/* ---- loops ------------------------------------------------------------------------------------------------------- */

static void add_loop(heddle_shape *s, int d, heddle_loop_part part, double trips)
{
	if (trips <= 1)
		return;
	s->loop[s->n_loop].dim = d;
	s->loop[s->n_loop].part = part;
	s->loop[s->n_loop].trips = trips;
	s->loop[s->n_loop++].at = -1;
}

/* Trips of the parts of a dimension: blocks and tiles at an edge are partial, by items and rounds, not by threads of a
 * warp. */
static void split_extent(heddle_shape *s, int d)
{
	const heddle_slot_layout *l = &s->layout[d];
	const bool member = s->stmt->members >> d & 1, simd = s->outline->simd;
	const double tile = heddle_slot_tile(l), extent = s->stmt->extent[d];
	const double blocks = ceil(extent / tile), used = extent / (blocks * tile);
	s->tiles[d] = member                                                        ? 1
		      : extent <= tile                                              ? 1
		      : s->stmt->reductions >> d & 1 && l->threads * l->vector == 1 ? extent / tile
										    : blocks;
	s->rounds[d] = l->rounds > 1 ? fmax(1, l->rounds * used) : 1;
	s->items[d] = l->items;
	if (simd && l->rounds == 1)
		s->items[d] = fmax(fmin(1, l->items), l->items * used);
	else if (!member && extent < tile)
		s->items[d] = ceil(extent / (tile / l->items));
	if (!member && l->threads * l->vector == 1 && extent > tile)
		s->items[d] = l->items;
}

int heddle_outline_lockstep(const heddle_outline_stmt *s, const heddle_candidate *candidate)
{
	const heddle_outline_access *target = &s->access[0];
	int best = -1, score = 0;
	for (int d = s->n_dim - 1; d >= 0; d--) {
		const bool reduction = s->reductions >> d & 1,
			   along = target->row >= 0 && target->factor[target->row][d] == 1;
		const int mine = reduction ? 1 : along ? 3 : 2;
		if (s->slot[d] >= 0 && candidate->slot[s->slot[d]].vector > 1 && mine >= score)
			best = d, score = mine;
	}
	return best;
}

/* Is all that varies along the dimension read from shared tiles?  They are padded with zeros, so that no vector of sums is partial. */
static bool reads_tiles(const heddle_shape *s, int d)
{
	bool any = false;
	for (int i = 1; i < s->stmt->n_access; i++) {
		const heddle_outline_access *a = &s->stmt->access[i];
		if (!(a->mask >> d & 1))
			continue;
		if (a->group < 0 || s->candidate->group[a->group].space != HEDDLE_SPACE_SHARED)
			return false;
		any = true;
	}
	return any && !s->stmt->n_comparison && !s->stmt->cut;
}

/* Elements of partial vectors are computed one by one, or in shorter vectors where their number is known, but not into
 * sums. */
static double edge_of(const heddle_shape *s)
{
	const int d = s->lockstep;
	if (!s->outline->simd || d < 0)
		return 1;
	const double vector = s->layout[d].vector, extent = s->stmt->extent[d], vectors = extent / vector;
	const int left = (int)fmod(extent, vector);
	if (s->stmt->stmt->reduction && reads_tiles(s, d))
		return ceil(vectors) / vectors;
	const bool sums = s->stmt->members >> d & 1 && s->stmt->stmt->reduction;
	const double rest = s->stmt->known[d] && !sums ? __builtin_popcount((unsigned)left) : left,
		     cut = fmin(s->stmt->cuts[d], vectors);
	return (floor(vectors) + rest + cut * (vector - 1)) / vectors;
}

/* Items at the ends of a window are guarded separately; the other items of the iteration share their operands. */
static void find_guarded(heddle_shape *s)
{
	double all = 1, free = 1;
	for (int d = 0; d < s->stmt->n_dim && s->outline->simd; d++) {
		if (s->stmt->reach[d] <= 0 || s->layout[d].items < 2)
			continue;
		all *= s->layout[d].items;
		free *= fmax(0, s->layout[d].items - s->stmt->reach[d]);
		s->apart |= 1u << d;
	}
	s->guarded = all - free;
	s->apart = free > 0 ? 0 : s->apart;
}

heddle_shape heddle_shape_of(const heddle_outline *outline, const heddle_candidate *candidate, int stmt)
{
	heddle_shape s = {.outline = outline, .candidate = candidate, .stmt = &outline->stmt[stmt]};
	const int n = s.stmt->n_dim;
	for (int d = 0; d < n; d++) {
		s.layout[d] = s.stmt->slot[d] < 0 ? one : candidate->slot[s.stmt->slot[d]];
		split_extent(&s, d);
		if (!(s.stmt->members >> d & 1) && s.layout[d].threads > 1)
			s.lanes |= 1u << d;
	}
	for (unsigned reductions = 0; reductions < 2; reductions++)
		for (int d = 0; d < n; d++)
			if ((s.stmt->reductions >> d & 1) == reductions)
				add_loop(&s, d, HEDDLE_LOOP_TILE, s.tiles[d]);
	for (int d = 0; d < n; d++)
		add_loop(&s, d, HEDDLE_LOOP_ROUND, s.rounds[d]);
	for (int d = 0; d < n; d++)
		if (s.stmt->reductions >> d & 1)
			add_loop(&s, d, HEDDLE_LOOP_TERM, s.items[d]);
	s.lockstep = heddle_outline_lockstep(s.stmt, candidate);
	s.edge = edge_of(&s);
	find_guarded(&s);
	return s;
}

double heddle_shape_runs(const heddle_shape *s, unsigned mask, bool results)
{
	double n = 1, runs = 1;
	for (int i = 0; i < s->n_loop; i++) {
		if (results && s->stmt->reductions >> s->loop[i].dim & 1)
			continue;
		n *= s->loop[i].trips;
		runs = mask >> s->loop[i].dim & 1 ? n : runs;
	}
	return runs;
}

double heddle_shape_items(const heddle_shape *s, unsigned mask)
{
	double n = 1;
	for (int d = 0; d < s->stmt->n_dim; d++)
		n *= (mask & ~s->stmt->reductions) >> d & 1 ? s->items[d] : 1;
	return n;
}

bool heddle_rounds_outside(const heddle_outline *outline, const heddle_candidate *candidate)
{
	bool any = false;
	if (heddle_candidate_threads(outline, candidate) > 1)
		return false;
	for (int s = 0; s < outline->n_stmt; s++)
		for (int d = 0; d < outline->stmt[s].n_dim; d++) {
			const heddle_outline_stmt *stmt = &outline->stmt[s];
			const heddle_slot_layout *l = stmt->slot[d] < 0 ? &one : &candidate->slot[stmt->slot[d]];
			if (!(stmt->members >> d & 1) && (!stmt->known[d] || heddle_slot_tile(l) < stmt->known[d]))
				return false;
			any = any || l->rounds > 1;
			if (l->rounds > 1 && (d >= outline->stmt[0].n_dim || outline->stmt[0].slot[d] != stmt->slot[d]))
				return false;
		}
	return any;
}

/* ---- tiles ------------------------------------------------------------------------------------------------------- */

/* Has the box the tensor's dimension from end to end, in every step? */
static bool is_whole(const heddle_outline_stmt *s, const heddle_candidate *candidate, const heddle_outline_access *a,
		     const heddle_box *box, int e)
{
	bool whole = a->first[e] == 0 && box->size[e] == heddle_fixed_extent(a->access->tensor->extent[e]);
	for (int d = 0; d < s->n_dim && whole; d++) {
		if (!a->factor[e][d])
			continue;
		const int tile = s->slot[d] < 0 ? 1 : heddle_slot_tile(&candidate->slot[s->slot[d]]);
		whole = !(s->members >> d & 1) && s->known[d] > 0 && tile >= s->known[d];
	}
	return whole;
}

bool heddle_box_begins_at(const heddle_outline *outline, const heddle_candidate *candidate, int group,
			  const heddle_box *box, int vector)
{
	const heddle_outline_group *g = &outline->group[group];
	const heddle_outline_stmt *s = &outline->stmt[g->stmt];
	const heddle_outline_access *a = &s->access[g->access];
	const int e = box->run;
	int unit = vector;
	for (int f = e + 1; f <= box->row; f++)
		for (int64_t n = box->size[f]; unit > 1 && n % 2 == 0; n /= 2)
			unit /= 2;
	int64_t first = a->first[e]; /* of the first tiles */
	bool good = true;
	for (int d = 0; d < s->n_dim; d++) {
		const int64_t tile = s->slot[d] < 0 ? 1 : heddle_slot_tile(&candidate->slot[s->slot[d]]);
		first += a->factor[e][d] < 0 ? a->factor[e][d] * (tile - 1) : 0;
		good = good && a->factor[e][d] * tile % unit == 0;
	}
	return good && first % unit == 0;
}

static void lay_out(heddle_box *box, const int *order, int rank, const heddle_slot_group *choice)
{
	int64_t inner = 1;
	const int pad = choice->pad > 0 ? choice->pad : 0;
	box->array_row = order[0];
	for (int i = rank - 1; i > 0 && box->array_row == order[0]; i--)
		box->array_row = box->size[order[i]] > 1 ? order[i] : box->array_row;
	const bool in_run = box->array_row >= box->run && box->array_row <= box->row;
	box->row_length = in_run ? box->run_length : box->size[box->array_row];
	box->row_length = (box->row_length + choice->phases - 1) / choice->phases;
	for (int i = rank - 1; i >= 0; i--) {
		const int e = order[i];
		box->pitch[e] = inner;
		if (e == (in_run ? box->run : box->array_row))
			inner = choice->phases * (box->row_length + pad);
		else
			inner *= box->size[e];
	}
	box->elements = inner;
}

bool heddle_box_of(const heddle_outline *outline, const heddle_candidate *candidate, int group, heddle_box *box)
{
	const heddle_outline_group *g = &outline->group[group];
	const heddle_slot_group *choice = &candidate->group[group];
	const heddle_outline_stmt *s = &outline->stmt[g->stmt];
	const heddle_outline_access *a = &s->access[g->access];
	const int rank = a->rank, last = choice->last < 0 ? rank - 1 : choice->last,
		  threads = heddle_candidate_threads(outline, candidate);
	int order[HEDDLE_MAX_RANK], n = 0;
	if (g->written || !a->boxed || !rank)
		return false;
	for (int e = 0; e < rank; e++) {
		box->size[e] = 1;
		for (int d = 0; d < s->n_dim; d++)
			if (a->factor[e][d] && s->slot[d] >= 0)
				box->size[e] +=
					llabs(a->factor[e][d]) * (heddle_slot_tile(&candidate->slot[s->slot[d]]) - 1);
		if (e != last)
			order[n++] = e;
	}
	order[n] = last;
	box->row = a->row < 0 ? rank - 1 : a->row;
	box->run = box->row;
	int at = rank - 1;
	while (order[at] != box->run)
		at--;
	while (!a->access->tensor->stride && !choice->copy && at > 0 && order[at - 1] == box->run - 1 &&
	       is_whole(s, candidate, a, box, box->run))
		box->run--, at--;
	if (box->run == box->row && !choice->copy && order[rank - 1] == box->row &&
	    heddle_extent_multiple(a->access->tensor->extent[box->row], choice->vector) &&
	    heddle_box_begins_at(outline, candidate, group, box, choice->vector))
		box->size[box->row] = (box->size[box->row] + choice->vector - 1) / choice->vector * choice->vector;
	box->run_length = 1;
	for (int e = box->run; e <= box->row; e++)
		box->run_length *= box->size[e];
	lay_out(box, order, rank, choice);
	box->columns = choice->columns;
	if (!box->columns) {
		box->columns = 1;
		while (box->columns < box->run_length / choice->vector && box->columns * 2 <= threads)
			box->columns *= 2;
		while (threads % box->columns)
			box->columns /= 2;
	}
	return true;
}
