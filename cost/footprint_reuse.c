/* References of a candidate in the tree of its loops, for heddle_reuse.
 * SPDX-License-Identifier: MIT
 */
#include "cost/footprint.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LOOPS = 96, MOST_REFERENCES = 48 };

typedef struct tree {
	const heddle_outline *o;
	const heddle_candidate *c;
	const heddle_box *box;
	int n_loop, n_reference, grid[HEDDLE_MAX_DIM];
	heddle_reuse_loop loop[MOST_LOOPS];
	heddle_reference reference[MOST_REFERENCES];
} tree;

static int add_loop(tree *t, int parent, bool grid, double trips)
{
	if (trips <= 1 || t->n_loop == MOST_LOOPS)
		return parent;
	t->loop[t->n_loop] = (heddle_reuse_loop){parent, grid, trips};
	return t->n_loop++;
}

static int add_grid(tree *t)
{
	int at = -1;
	for (int i = 0; i < t->o->n_member; i++) {
		const int m = t->c->order[i], before = t->n_loop;
		at = add_loop(t, at, true, heddle_outline_blocks(t->o, t->c, m));
		t->grid[m] = t->n_loop > before ? at : -1;
	}
	return at;
}

/* Does it have the same loops over tiles as the statement before, and need no sum of that one? */
static bool follows(const tree *t, const heddle_shape *s, const heddle_shape *before)
{
	if (s->stmt->n_dim != before->stmt->n_dim || s->stmt->ordered || before->stmt->ordered)
		return false;
	for (int d = 0; d < s->stmt->n_dim; d++)
		if (s->tiles[d] != before->tiles[d] || s->layout[d].rounds > 1 ||
		    (s->tiles[d] > 1 && memcmp(&s->layout[d], &before->layout[d], sizeof(s->layout[d]))))
			return false;
	for (int g = 0; g < t->o->n_group; g++)
		if (t->c->group[g].space == HEDDLE_SPACE_SHARED)
			return false;
	for (int a = 1; a < s->stmt->n_access; a++)
		if (before->stmt->stmt->reduction &&
		    s->stmt->access[a].access->tensor == before->stmt->access[0].access->tensor)
			return false;
	return true;
}

static void add_loops(tree *t, heddle_shape *s, const heddle_shape *before, int parent)
{
	bool shared = before && follows(t, s, before);
	for (int i = 0; i < s->n_loop; i++) {
		shared = shared && s->loop[i].part == HEDDLE_LOOP_TILE;
		if (shared)
			s->loop[i].at = before->loop[i].at;
		else
			s->loop[i].at = add_loop(t, parent, false, s->loop[i].trips);
		parent = s->loop[i].at;
	}
}

static void add_digit(heddle_reference *r, int loop, double stride, double extent)
{
	if (extent > 1 && stride != 0 && r->n_digit < HEDDLE_REFERENCE_DIGITS)
		r->digit[r->n_digit++] = (heddle_reuse_digit){loop, stride, extent};
}

static double part_stride(const heddle_slot_layout *l, heddle_loop_part part)
{
	const double results = (double)l->threads * l->vector;
	return part == HEDDLE_LOOP_TILE    ? heddle_slot_tile(l)
	       : part == HEDDLE_LOOP_ROUND ? results * l->items
					   : results;
}

/* What a thread's access is of one dimension: `step` bytes from one value to the next; `box`: in a tile, which has no
 * place for blocks and steps. */
static void add_digits(const tree *t, const heddle_shape *s, heddle_reference *r, const double *step, bool box)
{
	for (int i = 0; i < s->n_loop; i++)
		if (!box || s->loop[i].part != HEDDLE_LOOP_TILE)
			add_digit(r, s->loop[i].at,
				  step[s->loop[i].dim] * part_stride(&s->layout[s->loop[i].dim], s->loop[i].part),
				  s->loop[i].trips);
	for (int d = 0; d < s->stmt->n_dim; d++) {
		const heddle_slot_layout *l = &s->layout[d];
		if (step[d] == 0)
			continue;
		if (s->stmt->members >> d & 1 && !box && t->grid[s->stmt->slot[d]] >= 0)
			add_digit(r, t->grid[s->stmt->slot[d]], step[d] * heddle_slot_tile(l),
				  t->loop[t->grid[s->stmt->slot[d]]].trips);
		const double here = fmin((double)l->threads * l->vector, s->stmt->extent[d]);
		add_digit(r, -1, step[d], here);
		add_digit(r, -1, step[d] * l->threads * l->vector,
			  s->stmt->reductions >> d & 1 ? 1 : fmin(s->items[d], ceil(s->stmt->extent[d] / here)));
	}
}

static heddle_reference *add_reference(tree *t, int loop, int array, const heddle_outline_access *a)
{
	if (t->n_reference == MOST_REFERENCES)
		t->n_reference--;
	heddle_reference *r = &t->reference[t->n_reference++];
	*r = (heddle_reference){
		.loop = loop, .array = array, .bytes = a->bytes, .size = a->size, .times = 1, .indirect = !a->affine};
	return r;
}

/* The innermost loop whose dimension is in the mask, among those of results alone where `results`. */
static int innermost(const heddle_shape *s, unsigned mask, bool results, int otherwise)
{
	for (int i = s->n_loop - 1; i >= 0; i--)
		if (mask >> s->loop[i].dim & 1 && !(results && s->stmt->reductions >> s->loop[i].dim & 1))
			return s->loop[i].at;
	return otherwise;
}

/* A tile is filled in each step, and read as a thread's accesses are. */
static void add_tile(tree *t, const heddle_shape *s, int g, int block)
{
	const heddle_box *box = &t->box[g];
	const heddle_outline_access *a = &s->stmt->access[t->o->group[g].access];
	double step[HEDDLE_MAX_DIM] = {0};
	int loop = block;
	for (int i = 0; i < s->n_loop; i++)
		loop = s->loop[i].part == HEDDLE_LOOP_TILE ? s->loop[i].at : loop;
	heddle_reference *r = add_reference(t, loop, a->access->tensor->position, a);
	for (int i = 0; i < s->n_loop; i++)
		if (s->loop[i].part == HEDDLE_LOOP_TILE)
			add_digit(r, s->loop[i].at,
				  a->step[s->loop[i].dim] * heddle_slot_tile(&s->layout[s->loop[i].dim]),
				  s->loop[i].trips);
	for (int d = 0; d < s->stmt->n_dim; d++)
		if (s->stmt->members >> d & 1 && t->grid[s->stmt->slot[d]] >= 0)
			add_digit(r, t->grid[s->stmt->slot[d]], a->step[d] * heddle_slot_tile(&s->layout[d]),
				  t->loop[t->grid[s->stmt->slot[d]]].trips);
	for (int e = 0; e < a->rank; e++)
		add_digit(r, -1, a->stride[e], (double)box->size[e]);
	if (!t->o->simd)
		return;
	for (int d = 0; d < s->stmt->n_dim; d++)
		for (int e = 0; e < a->rank; e++)
			step[d] += (double)(a->factor[e][d] * box->pitch[e]) * a->bytes;
	const int array = t->o->scop->definition->n_tensor + g;
	r = add_reference(t, loop, array, a);
	r->size = (double)box->elements * a->bytes;
	add_digit(r, -1, a->bytes, (double)box->elements);
	r = add_reference(t, innermost(s, a->mask, false, loop), array, a);
	r->size = (double)box->elements * a->bytes;
	add_digits(t, s, r, step, true);
}

/* Sums of all rounds, in a thread's memory. */
static void add_sums(tree *t, const heddle_shape *s, int stmt, int block)
{
	const heddle_outline_access *a = &s->stmt->access[0];
	double bytes = s->stmt->sum_bytes, all;
	int loop = block;
	for (int d = 0; d < s->stmt->n_dim; d++)
		bytes *= s->stmt->reductions >> d & 1 ? 1 : (double)s->layout[d].items * s->layout[d].vector;
	all = bytes;
	heddle_reference *r = add_reference(t, loop, t->o->scop->definition->n_tensor + HEDDLE_SPACE_GROUPS + stmt, a);
	add_digit(r, -1, s->stmt->sum_bytes, bytes / s->stmt->sum_bytes);
	for (int i = 0; i < s->n_loop; i++)
		if (s->loop[i].part == HEDDLE_LOOP_ROUND) {
			add_digit(r, s->loop[i].at, all, s->loop[i].trips);
			r->loop = s->loop[i].at;
			all *= s->loop[i].trips;
		}
	r->size = all;
}

static void add_stmt(tree *t, const heddle_shape *s, int stmt, int block, bool outside)
{
	bool rounds = false;
	for (int i = 0; i < s->stmt->n_access; i++) {
		const heddle_outline_access *a = &s->stmt->access[i];
		const heddle_space space =
			a->group < 0 ? HEDDLE_SPACE_GLOBAL : (heddle_space)t->c->group[a->group].space;
		const bool kept = space == HEDDLE_SPACE_REGISTER && (i > 0 || !t->o->group[a->group].used_after);
		if (a->again || !a->rank || kept || (space == HEDDLE_SPACE_SHARED && i > 0))
			continue;
		const bool results = i == 0 && s->stmt->stmt->reduction;
		heddle_reference *r =
			add_reference(t, innermost(s, a->mask, results, block), a->access->tensor->position, a);
		add_digits(t, s, r, a->step, false);
		r->streamed = i == 0 && a->group >= 0 && t->c->streams >> a->group & 1;
		for (int g = 0; g < t->o->n_group; g++)
			r->ahead = r->ahead || (t->o->group[g].tensor == a->access->tensor && t->c->group[g].prefetch &&
						t->c->group[g].space == HEDDLE_SPACE_GLOBAL);
	}
	for (int g = 0; g < t->o->n_group; g++)
		if (t->c->group[g].space == HEDDLE_SPACE_SHARED && t->o->group[g].stmt == stmt)
			add_tile(t, s, g, block);
	for (int d = 0; d < s->stmt->n_dim; d++)
		rounds = rounds || s->layout[d].rounds > 1;
	if (t->o->simd && rounds && !outside && s->stmt->stmt->reduction)
		add_sums(t, s, stmt, block);
}

void heddle_footprint_reuse(const heddle_outline *outline, const heddle_candidate *candidate, heddle_shape *shape,
			    const heddle_box *box, heddle_load *load)
{
	tree t;
	t.o = outline;
	t.c = candidate;
	t.box = box;
	t.n_loop = t.n_reference = 0;
	const int block = add_grid(&t);
	const bool outside = heddle_rounds_outside(outline, candidate);
	for (int s = 0; s < outline->n_stmt; s++)
		add_loops(&t, &shape[s], s ? &shape[s - 1] : NULL, block);
	for (int s = 0; s < outline->n_stmt; s++)
		add_stmt(&t, &shape[s], s, block, outside);
	heddle_reuse(load, t.loop, t.n_loop, t.reference, t.n_reference,
		     outline->simd ? outline->line : outline->transfer.sector, &outline->transfer);
}
