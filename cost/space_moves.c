/* Neighbours of a candidate: one number changed, or one choice.
 * SPDX-License-Identifier: MIT
 */
#include "cost/space.h"

#include <math.h>
#include <string.h>

typedef struct mover {
	const heddle_outline *o;
	const heddle_candidate *from;
	heddle_space_visit *visit;
	void *user;
} mover;

static void visit(const mover *m, heddle_candidate *c, bool completed)
{
	if (!completed)
		heddle_space_complete(m->o, c);
	heddle_space_prefetch(m->o, c);
	heddle_given_apply(m->o, c);
	m->visit(m->user, c);
}

/* ---- layouts ----------------------------------------------------------------------------------------------------- */

/* Powers of two by which rounds, items, threads and vector change together. */
static const signed char factors[][4] = {
	{1, 0, 0, 0},  {-1, 0, 0, 0}, {2, 0, 0, 0},  {0, 1, 0, 0},  {0, -1, 0, 0}, {0, 0, 1, 0},  {0, 0, -1, 0},
	{0, 0, 0, 1},  {0, 0, 0, -1}, {1, -1, 0, 0}, {-1, 1, 0, 0}, {0, 1, -1, 0}, {0, -1, 1, 0}, {0, 1, 0, -1},
	{0, -1, 0, 1}, {0, 0, 1, -1}, {0, 0, -1, 1}, {0, 2, 0, 0},  {0, -2, 0, 0}, {3, 0, 0, 0},  {0, 3, 0, 0}};

static bool scale(int *n, int by)
{
	if (by < 0 && *n % (1 << -by))
		return false;
	*n = by < 0 ? *n >> -by : *n << by;
	return true;
}

/* Steps of so many terms leave no rest; blocks of so many results may where the extent is known, or one thread takes them in rounds: sizes
 * that are open are multiples of powers of two more often than of other numbers. */
static bool may_have(const heddle_outline *o, int slot, bool member, int items)
{
	const heddle_outline_stmt *main = &o->stmt[o->main];
	bool all = true;
	for (int d = 0; d < main->n_dim; d++)
		all = all && (main->slot[d] != slot || (member ? o->simd || main->known[d] : main->known[d] && main->known[d] % items == 0));
	return all;
}

static void change_slot(const mover *m, int slot, bool member)
{
	for (size_t f = 0; f < HEDDLE_COUNT(factors); f++) {
		heddle_candidate c = *m->from;
		heddle_slot_layout *l = &c.slot[slot];
		if (m->o->simd && factors[f][2])
			continue;
		if (!member && (l->threads > 1 ? factors[f][2] != 0 : factors[f][2] > 0))
			continue; /* the lanes change together */
		if (scale(&l->rounds, factors[f][0]) && scale(&l->items, factors[f][1]) &&
		    scale(&l->threads, factors[f][2]) && scale(&l->vector, factors[f][3]))
			visit(m, &c, false);
	}
	for (int by = -1; by <= 1; by += 2) {
		enum { MOST = 32 };
		heddle_candidate c = *m->from;
		c.slot[slot].items += by;
		if (c.slot[slot].items >= 1 && c.slot[slot].items <= MOST && may_have(m->o, slot, member, c.slot[slot].items))
			visit(m, &c, false);
	}
}

/* Items or rounds that take the whole dimension in one tile, or share it out evenly among those blocks that there are.
 */
static void fill_slot(const mover *m, int slot, double extent)
{
	const heddle_slot_layout *l = &m->from->slot[slot];
	heddle_candidate c = *m->from;
	const double blocks = ceil(extent / heddle_slot_tile(l)), unit = (double)l->items * l->threads * l->vector;
	c.slot[slot].rounds = (int)ceil(extent / blocks / unit);
	if (c.slot[slot].rounds != l->rounds)
		visit(m, &c, false);
	c = *m->from;
	c.slot[slot].rounds = (int)ceil(extent / unit);
	visit(m, &c, false);
	c = *m->from;
	c.slot[slot].items = (int)ceil(extent / (unit / l->items * l->rounds));
	visit(m, &c, false);
}

static void change_lanes(const mover *m, int by)
{
	heddle_candidate c = *m->from;
	if (!scale(&c.lanes, by) || c.lanes < 1)
		return;
	for (int i = m->o->n_member; i < m->o->n_slot; i++)
		if (c.slot[i].threads > 1)
			c.slot[i].threads = c.lanes;
	visit(m, &c, false);
}

/* ---- spaces ------------------------------------------------------------------------------------------------------ */

static void change_space(const mover *m, int g)
{
	heddle_candidate c = *m->from;
	heddle_slot_group *group = &c.group[g];
	if (m->o->group[g].written) {
		group->space = group->space == HEDDLE_SPACE_REGISTER ? HEDDLE_SPACE_GLOBAL : HEDDLE_SPACE_REGISTER;
		visit(m, &c, true);
		return;
	}
	group->space = group->space == HEDDLE_SPACE_SHARED ? HEDDLE_SPACE_GLOBAL : HEDDLE_SPACE_SHARED;
	group->prefetch = 0;
	visit(m, &c, false);
}

static void change_tile(const mover *m, int g)
{
	const heddle_slot_group *now = &m->from->group[g];
	const int bytes = heddle_type_size(m->o->group[g].tensor->type),
		  unit = (int)(m->o->vector_bytes / bytes) > 1 ? (int)(m->o->vector_bytes / bytes) : 1;
	heddle_candidate c;
	heddle_box box;
	for (int last = -1; last < m->o->group[g].tensor->rank - 1; last++) {
		c = *m->from;
		c.group[g].last = (signed char)last;
		if (last != now->last)
			visit(m, &c, true);
	}
	for (int copy = 0; copy <= m->o->descriptor->n_copy; copy++) {
		c = *m->from;
		c.group[g].copy = (signed char)copy;
		c.group[g].vector = copy ? 1 : now->vector;
		c.group[g].prefetch = copy ? 0 : now->prefetch;
		if (copy != now->copy && (!copy || m->o->descriptor->copy[copy - 1].preferred))
			visit(m, &c, true);
	}
	if (m->o->simd)
		return;
	for (int pad = now->pad - 2 * unit; pad <= now->pad + 2 * unit; pad += unit) {
		c = *m->from;
		c.group[g].pad = (short)pad;
		if (pad >= 0 && pad != now->pad)
			visit(m, &c, true);
	}
	for (int phases = 1; phases <= 4; phases *= 2) {
		c = *m->from;
		c.group[g].phases = (signed char)phases;
		if (phases != now->phases)
			visit(m, &c, true);
	}
	c = *m->from;
	if (!heddle_box_of(m->o, &c, g, &box))
		return;
	for (int columns = box.columns / 2; columns >= 1 && columns * 8 >= box.columns; columns /= 2) {
		c.group[g].columns = (short)columns;
		visit(m, &c, true);
	}
	c = *m->from;
	c.group[g].prefetch = !now->prefetch;
	if (!now->copy)
		visit(m, &c, true);
}

/* ---- the kernel -------------------------------------------------------------------------------------------------- */

static void change_order(const mover *m)
{
	for (int i = 0; i + 1 < m->o->n_member; i++) {
		heddle_candidate c = *m->from;
		const signed char last = c.order[i];
		memmove(c.order + i, c.order + i + 1, (size_t)(m->o->n_member - i - 1));
		c.order[m->o->n_member - 1] = last;
		visit(m, &c, true);
	}
}

static void change_streams(const mover *m)
{
	const unsigned all = heddle_candidate_streams(m->o, m->from);
	if (!all)
		return;
	heddle_candidate c = *m->from;
	c.streams = c.streams ? 0 : all;
	visit(m, &c, true);
}

/* Blocks that registers are to be shared out among: those that fit, and one more. */
static void change_resident(const mover *m)
{
	const heddle_descriptor *d = m->o->descriptor;
	const int threads = heddle_candidate_threads(m->o, m->from);
	heddle_load load;
	if (m->o->simd || !d->registers_per_unit.set || threads < 2)
		return;
	heddle_footprint(m->o, m->from, &load);
	const int fit = (int)(d->registers_per_unit.value / (fmax(load.registers, 1) * threads));
	for (int n = fit > 0 ? fit : 1; n <= fit + 1; n++) {
		heddle_candidate c = *m->from;
		c.resident = c.resident == n ? 0 : n;
		visit(m, &c, true);
	}
}

void heddle_space_neighbours(const heddle_outline *outline, const heddle_candidate *candidate, heddle_space_visit *each,
			     void *user)
{
	const mover m = {outline, candidate, each, user};
	const heddle_outline_stmt *main = &outline->stmt[outline->main];
	const bool layouts = !heddle_given_layout(outline);
	for (int d = 0; d < main->n_dim && layouts; d++) {
		if (main->slot[d] < 0 || main->ordered >> d & 1)
			continue;
		change_slot(&m, main->slot[d], main->members >> d & 1);
		fill_slot(&m, main->slot[d], main->extent[d]);
	}
	for (int by = -1; by <= 1 && layouts && !outline->simd; by += 2)
		change_lanes(&m, by);
	for (int g = 0; g < outline->n_group; g++) {
		if (outline->group[g].uses > outline->group[g].written)
			change_space(&m, g);
		if (candidate->group[g].space == HEDDLE_SPACE_SHARED)
			change_tile(&m, g);
	}
	change_order(&m);
	change_streams(&m);
	change_resident(&m);
}
