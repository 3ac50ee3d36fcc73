/* What follows from the layout of members and of the main statement: the layouts of other statements, tiles' arrays, what stays in
 * registers, what is prefetched.
 * SPDX-License-Identifier: MIT
 */
#include "cost/space.h"

#include <math.h>

enum { WORD = 4 };

bool heddle_space_runs_along(const heddle_outline_access *a, int d)
{
	return a->rank && a->affine && fabs(a->step[d]) == a->bytes;
}

bool heddle_space_any_runs_along(const heddle_outline_stmt *s, int d)
{
	for (int a = 0; a < s->n_access; a++)
		if (heddle_space_runs_along(&s->access[a], d))
			return true;
	return false;
}

int heddle_space_vector_along(const heddle_outline *o, const heddle_outline_stmt *s, int d)
{
	int v = (int)(o->vector_bytes / WORD);
	for (int a = 0; a < s->n_access && !o->simd; a++)
		while (heddle_space_runs_along(&s->access[a], d) && v > 1 && !o->language.unaligned && s->access[a].aligned % v)
			v /= 2;
	while (v > 1 && (v > s->extent[d] || v > o->language.max_vector))
		v /= 2;
	return v;
}

/* Dimensions that are no members: those of the main statement are chosen; others are laid out as the main one's of the
 * same length, or over the lanes, or by vectors. */
static void follow(const heddle_outline *o, heddle_candidate *c, const heddle_outline_stmt *s)
{
	enum { MOST_ITEMS = 16 };
	const heddle_outline_stmt *main = &o->stmt[o->main];
	int along = -1;
	const unsigned free = s->locals & ~s->ordered;
	for (int d = 0; d < s->n_dim; d++) {
		if (!(free >> d & 1) || s->slot[d] < 0)
			continue;
		c->slot[s->slot[d]] = (heddle_slot_layout){1, 1, 1, 1};
		if (along < 0 || heddle_space_any_runs_along(s, d) > heddle_space_any_runs_along(s, along) ||
		    (heddle_space_any_runs_along(s, d) == heddle_space_any_runs_along(s, along) && s->extent[d] > s->extent[along]))
			along = d;
	}
	if (along < 0)
		return;
	heddle_slot_layout *l = &c->slot[s->slot[along]];
	for (int d = 0; d < main->n_dim; d++)
		if ((main->locals & ~main->ordered) >> d & 1 && main->slot[d] >= 0 &&
		    main->extent[d] == s->extent[along] && heddle_space_any_runs_along(main, d) &&
		    c->slot[main->slot[d]].threads * c->slot[main->slot[d]].vector > 1) {
			*l = c->slot[main->slot[d]];
			return;
		}
	bool vectors = o->simd;
	for (int m = 0; m < o->n_member; m++)
		vectors = vectors && c->slot[m].vector == 1;
	if (c->lanes < 2 && !vectors)
		return;
	l->vector = heddle_space_any_runs_along(s, along) ? heddle_space_vector_along(o, s, along) : 1;
	l->threads = c->lanes;
	while (l->vector > 1 && l->vector * l->threads >= 2 * s->extent[along])
		l->vector /= 2;
	if (s->extent[along] <= (double)MOST_ITEMS * l->threads * l->vector)
		l->items = (int)ceil(s->extent[along] / (l->threads * l->vector));
	if (l->threads > 1 && l->threads >= 2 * s->extent[along])
		*l = (heddle_slot_layout){1, 1, 1, 1};
}

/* The tensor's dimension that is best innermost in the array: along which threads read vectors, else most threads. */
static int innermost(const heddle_outline *o, const heddle_candidate *c, const heddle_outline_stmt *s,
		     const heddle_outline_access *a)
{
	int best = -1, most = 1;
	for (int e = 0; e < a->rank; e++)
		for (int d = 0; d < s->n_dim; d++) {
			if (a->factor[e][d] != 1 || s->slot[d] < 0 || (s->reductions >> d & 1 && o->simd))
				continue;
			const heddle_slot_layout *l = &c->slot[s->slot[d]];
			const int score =
				s->reductions >> d & 1 ? 1 : (l->vector > 1 ? 4096 : 1) * (o->simd ? 1 : l->threads);
			if (score > most || (score == most && e == a->row))
				best = e, most = score;
		}
	return best == a->row || best == a->rank - 1 ? -1 : best;
}

static void lay_out_tile(const heddle_outline *o, heddle_candidate *c, int g)
{
	enum { MOVED = 16 };
	heddle_slot_group *choice = &c->group[g];
	const heddle_outline_stmt *s = &o->stmt[o->group[g].stmt];
	const heddle_outline_access *a = &s->access[o->group[g].access];
	const int most = o->simd ? (int)(o->vector_bytes / a->bytes) : (int)(MOVED / a->bytes);
	heddle_box box;
	choice->last = (signed char)innermost(o, c, s, a);
	choice->pad = 0;
	choice->columns = 0;
	choice->phases = 1;
	choice->copy = 0;
	choice->vector = 1;
	if (!heddle_box_of(o, c, g, &box))
		return;
	const bool turned = choice->last >= 0;
	for (int v = most; v > 1 && !(turned && o->simd); v /= 2) {
		choice->vector = (signed char)v;
		if (a->aligned % v == 0 && heddle_box_of(o, c, g, &box) && box.run_length % v == 0 &&
		    heddle_box_begins_at(o, c, g, &box, v))
			break;
		choice->vector = 1;
	}
	if (o->simd || !heddle_box_of(o, c, g, &box))
		return;
	const int wide = (int)(o->vector_bytes / a->bytes), unit = wide > 1 ? wide : 1,
		  rest = (int)(box.row_length % unit);
	choice->pad = (short)((rest ? unit - rest : 0) + (turned ? unit : s->stmt->reduction ? 0 : 1));
}

/* Blocks along the dimension stay as many, and have no rounds or items that do not exist in any of them; of an extent that is open
 * (`known` 0) only a single block is shortened. */
static void shorten(heddle_slot_layout *l, double extent, int known)
{
	const double blocks = ceil(extent / heddle_slot_tile(l)), results = (double)l->threads * l->vector;
	if (blocks > 1 && !known)
		return;
	if (l->rounds > 1)
		l->rounds = (int)ceil(extent / blocks / (results * l->items));
	else if (blocks == 1)
		l->items = (int)ceil(extent / results);
}

static void complete_layouts(const heddle_outline *o, heddle_candidate *c)
{
	const heddle_outline_stmt *main = &o->stmt[o->main];
	for (int d = 0; d < main->n_dim; d++)
		if (main->members >> d & 1 && main->slot[d] >= 0)
			shorten(&c->slot[main->slot[d]], o->member_extent[main->slot[d]], main->known[d]);
	for (int d = 0; d < main->n_dim; d++)
		if (main->locals >> d & 1 && main->slot[d] >= 0 &&
		    heddle_slot_tile(&c->slot[main->slot[d]]) >= main->extent[d])
			shorten(&c->slot[main->slot[d]], main->extent[d], main->known[d]);
	for (int s = 0; s < o->n_stmt; s++)
		if (s != o->main)
			follow(o, c, &o->stmt[s]);
}

void heddle_space_complete(const heddle_outline *o, heddle_candidate *c)
{
	double words, array;
	if (!heddle_given_layout(o))
		complete_layouts(o, c);
	heddle_given_apply(o, c);
	for (int g = 0; g < o->n_group; g++) {
		heddle_slot_group *choice = &c->group[g];
		if (choice->space == HEDDLE_SPACE_SHARED)
			lay_out_tile(o, c, g);
		else
			choice->space = o->group[g].uses > 1 && heddle_candidate_keeps(o, c, g, &words, &array)
						? HEDDLE_SPACE_REGISTER
						: HEDDLE_SPACE_GLOBAL;
	}
	c->streams &= heddle_candidate_streams(o, c);
	heddle_space_prefetch(o, c);
	heddle_given_apply(o, c);
}

/* Bytes from what the access reads in a block to what the next block reads; 0: other blocks read some of it, too, or
 * some of what lies between, or lines of it several times. */
static double next_part(const heddle_outline *o, const heddle_candidate *c, const heddle_outline_stmt *s,
			const heddle_outline_access *a)
{
	const int fastest = o->n_member ? c->order[o->n_member - 1] : -1;
	double part = a->bytes, distance = 0, line = 0;
	for (int d = 0; d < s->n_dim; d++) {
		const bool member = s->members >> d & 1;
		const heddle_slot_layout *l = s->slot[d] < 0 ? NULL : &c->slot[s->slot[d]];
		if (s->extent[d] > 1 && !(a->mask >> d & 1))
			return 0;
		part *= member && l ? fmin(heddle_slot_tile(l), s->extent[d]) : s->extent[d];
		if (member && l && s->slot[d] == fastest) {
			if (a->unknown >> d & 1)
				return 0;
			distance += a->step[d] * heddle_slot_tile(l);
		}
		line = fmax(line, l ? fabs(a->step[d]) * l->vector : 0);
	}
	return a->affine && part <= distance && line >= o->line && heddle_outline_blocks(o, c, fastest) > 1 ? distance : 0;
}

void heddle_space_prefetch(const heddle_outline *o, heddle_candidate *c)
{
	enum { PART = 8 }; /* of the second cache, at most */
	double all = 0;
	const heddle_descriptor *chip = o->descriptor;
	const heddle_memory *memory = heddle_descriptor_memory(chip, "global"), *second = heddle_descriptor_memory(chip, "l2"),
			    *last = heddle_descriptor_memory(chip, "l3");
	if (!o->simd || !chip->prefetches || !second || !memory)
		return;
	for (int g = 0; g < o->n_group; g++)
		all += o->stmt[o->group[g].stmt].access[o->group[g].access].size;
	for (int g = 0; g < o->n_group; g++) {
		const heddle_outline_group *group = &o->group[g];
		const heddle_outline_stmt *s = &o->stmt[group->stmt];
		bool reads = c->group[g].space == HEDDLE_SPACE_GLOBAL && !group->written;
		for (int h = g + 1; h < o->n_group; h++) /* the last one that reads the tensor */
			reads = reads && o->group[h].tensor != group->tensor;
		if (c->group[g].space != HEDDLE_SPACE_SHARED)
			c->group[g].prefetch = 0;
		const double distance = reads ? next_part(o, c, s, &s->access[group->access]) : 0;
		if (distance <= 0 || PART * distance > second->size.value || (last && all <= last->size.value))
			continue;
		/* the bytes that are under way in memory's latency */
		c->group[g].prefetch = (signed char)fmin(64, ceil(memory->latency.value * memory->bandwidth.value / distance));
	}
}
