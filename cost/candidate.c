/* Candidates: what passes and the chip demand of one, and how it is written into a config.
 * SPDX-License-Identifier: MIT
 */
#include "cost/footprint.h"

#include <limits.h>
#include <math.h>
#include <string.h>

void heddle_candidate_begin(const heddle_outline *outline, heddle_candidate *candidate)
{
	*candidate = (heddle_candidate){.lanes = 1};
	for (int i = 0; i < HEDDLE_SLOTS; i++)
		candidate->slot[i] = (heddle_slot_layout){1, 1, 1, 1};
	for (int m = 0; m < outline->n_member; m++)
		candidate->order[m] = (signed char)m;
	for (int g = 0; g < HEDDLE_SPACE_GROUPS; g++)
		candidate->group[g] = (heddle_slot_group){.last = -1, .vector = 1, .phases = 1};
}

int heddle_candidate_threads(const heddle_outline *outline, const heddle_candidate *candidate)
{
	int threads = candidate->lanes;
	for (int m = 0; m < outline->n_member; m++)
		threads *= candidate->slot[m].threads;
	return threads;
}

static heddle_slot_layout slot_of(const heddle_layout *l)
{
	return (heddle_slot_layout){(int)l->rounds, (int)l->items, (int)l->threads, (int)l->vector};
}

void heddle_candidate_of(const heddle_outline *outline, heddle_candidate *candidate)
{
	const heddle_kernel *kernel = outline->kernel;
	heddle_candidate_begin(outline, candidate);
	candidate->lanes = (int)kernel->lanes;
	candidate->lanes_outer = kernel->config->lanes_outer;
	candidate->resident = kernel->config->resident;
	for (int m = 0; m < outline->n_member; m++) {
		candidate->slot[m] = slot_of(&kernel->member[m].layout);
		candidate->order[m] = (signed char)kernel->member_order[m];
	}
	for (int s = 0; s < outline->n_stmt; s++)
		for (int d = 0; d < outline->stmt[s].n_dim; d++)
			if (outline->stmt[s].slot[d] >= outline->n_member)
				candidate->slot[outline->stmt[s].slot[d]] = slot_of(&kernel->stmt[s]->dim[d].layout);
	for (int g = 0; g < outline->n_group; g++) {
		const heddle_group *from = kernel->group[g];
		heddle_slot_group *to = &candidate->group[g];
		to->space = (signed char)from->space;
		for (int i = 0; i < kernel->config->n_stream; i++)
			candidate->streams |= (unsigned)!strcmp(kernel->config->stream[i], from->tensor->name) << g;
		to->prefetch = from->ahead > 0;
		if (from->space != HEDDLE_SPACE_SHARED)
			continue;
		to->last = (signed char)from->order[from->tensor->rank - 1];
		to->pad = (short)from->pad;
		to->vector = (signed char)from->vector;
		to->columns = (short)from->columns;
		to->phases = (signed char)from->phases;
		to->prefetch = from->early;
		to->copy = (signed char)(from->copy ? from->copy - outline->descriptor->copy + 1 : 0);
	}
}

/* ---- legality ---------------------------------------------------------------------------------------------------- */

static const heddle_slot_layout *layout_of(const heddle_outline_stmt *s, const heddle_candidate *candidate, int d)
{
	static const heddle_slot_layout one = {1, 1, 1, 1};
	return s->slot[d] < 0 ? &one : &candidate->slot[s->slot[d]];
}

/* The dimension that is subscript e, alone; -1: none. */
static int plain_dim(const heddle_outline_stmt *s, const heddle_outline_access *a, int e)
{
	return heddle_access_dim(s->stmt, a->access, e);
}

/* Tiles of a local dimension that the tensor's dimension e takes; 0: not known. */
static int64_t tiles_of(const heddle_outline_access *a, int e, int tile)
{
	return (heddle_fixed_extent(a->access->tensor->extent[e]) + tile - 1) / tile;
}

/* Is the access laid out as the writer's? */
static bool same_layout(const heddle_candidate *candidate, const heddle_outline_stmt *w, const heddle_outline_stmt *s,
			const heddle_outline_access *a, bool tiles)
{
	unsigned seen = 0;
	for (int e = 0; e < a->rank; e++) {
		const int d = plain_dim(s, a, e), x = plain_dim(w, &w->access[0], e);
		if (d < 0 || x < 0 || seen >> d & 1 || s->stmt->dim[d].member != w->stmt->dim[x].member)
			return false;
		seen |= 1u << d;
		const heddle_slot_layout *one = layout_of(s, candidate, d), *other = layout_of(w, candidate, x);
		if (memcmp(one, other, sizeof(*one)) != 0)
			return false;
		const bool single = s->known[d] && w->known[x] && heddle_slot_tile(one) >= s->known[d] &&
				    heddle_slot_tile(one) >= w->known[x];
		if (!(s->members >> d & 1) && !single && !(tiles && tiles_of(a, e, heddle_slot_tile(one)) > 0))
			return false;
	}
	return true;
}

bool heddle_candidate_keeps(const heddle_outline *outline, const heddle_candidate *candidate, int group, double *words,
			    double *array)
{
	enum { MOST_ELEMENTS = 1024 };
	const heddle_outline_group *g = &outline->group[group];
	const heddle_outline_stmt *w = &outline->stmt[g->stmt];
	const bool tiles = outline->simd && !g->used_after, outside = heddle_rounds_outside(outline, candidate);
	double elements = 1;
	bool tiled = false; /* only such may have many elements (model/place.c) */
	*array = 0;
	if (!g->keeps || g->access != 0)
		return false;
	for (int s = 0; s < outline->n_stmt; s++)
		for (int a = 0; a < outline->stmt[s].n_access; a++)
			if (outline->stmt[s].access[a].group == group &&
			    !same_layout(candidate, w, &outline->stmt[s], &outline->stmt[s].access[a], tiles))
				return false;
	for (int e = 0; e < w->access[0].rank; e++) {
		const int d = plain_dim(w, &w->access[0], e);
		const heddle_slot_layout *l = layout_of(w, candidate, d);
		const double several =
			tiles && !(w->members >> d & 1) ? (double)tiles_of(&w->access[0], e, heddle_slot_tile(l)) : 1;
		elements *= (double)(outside ? 1 : l->rounds) * l->items * l->vector * several;
		tiled = tiled || several > 1;
		*array += several > 1 || (l->rounds > 1 && !outside);
	}
	const double bytes = elements * w->access[0].bytes;
	*words = outline->simd ? ceil(bytes / outline->vector_bytes) : elements * fmax(1, w->access[0].bytes / 4);
	*array = *array > 0 ? bytes : 0;
	return tiled ? bytes <= HEDDLE_MAX_ARRAY_BYTES : elements <= MOST_ELEMENTS;
}

/* One dimension of a statement: see model/tile.c. */
static bool layout_legal(const heddle_outline *outline, const heddle_candidate *candidate, const heddle_outline_stmt *s,
			 int d, int *laned)
{
	const heddle_slot_layout *l = layout_of(s, candidate, d);
	const bool member = s->members >> d & 1, reduction = s->reductions >> d & 1, ordered = s->ordered >> d & 1;
	const int64_t tile = (int64_t)l->rounds * l->items * l->threads * l->vector;
	if (l->vector & (l->vector - 1) || tile > INT_MAX / 2 || (!outline->simd && l->vector > outline->language.max_vector))
		return false;
	if (tile > 1 && (double)tile >= 2 * s->extent[d] &&
	    !(member && s->extent[d] < outline->member_extent[s->slot[d]]))
		return false;
	if (member)
		return true;
	if (l->rounds > 1 || (ordered && tile > 1))
		return false;
	/* vectors of a thread's own terms are sums of their own: a loop that is unrolled takes fewer registers */
	if (reduction && !outline->simd && l->threads == 1 && l->vector > 1)
		return false;
	if (l->threads == 1 && l->vector > 1 && (reduction || outline->simd) &&
	    (!s->known[d] ? s->extent[d] : s->known[d]) < (reduction ? 2 : 1) * l->vector)
		return false;
	*laned += l->threads > 1;
	return l->threads == 1 || l->threads == candidate->lanes;
}

/* Copies of the value in the generated code: what is held in registers is written out.  Sums are no more than there are
 * registers.  In a triangle each copy has a condition of its own, on CPUs also a loop for vectors that are cut off. */
static bool text_legal(const heddle_outline *outline, const heddle_candidate *candidate, const heddle_outline_stmt *s)
{
	enum {
		MOST_COPIES = 256,
		MOST_CONDITIONS = 64,
		OF_CUT_VECTOR = 4, /* as long as so many conditions */
		MOST_REGISTERS = 255
	}; /* simplify unrolls loops of up to 1024 nodes, each copy being several */
	const heddle_descriptor *descriptor = outline->descriptor;
	const int lockstep = outline->simd ? heddle_outline_lockstep(s, candidate) : -1;
	double copies = 1, conditions = outline->simd ? OF_CUT_VECTOR : 1;
	for (int d = 0; d < s->n_dim; d++) {
		const heddle_slot_layout *l = layout_of(s, candidate, d);
		const bool reduction = s->reductions >> d & 1;
		const double vectors =
			d == lockstep ? ceil(l->vector * s->sum_bytes / outline->vector_bytes) : l->vector;
		copies *= (reduction ? 1 : l->items) * vectors;
		if (s->cut)
			conditions *= s->cut >> d & 1 ? l->items * vectors : reduction ? vectors : 1;
	}
	const double registers = outline->simd                          ? descriptor->vector_registers.value
				 : descriptor->registers_per_thread.set ? descriptor->registers_per_thread.value
									: MOST_REGISTERS;
	return copies <= MOST_COPIES && conditions <= MOST_CONDITIONS &&
	       (!s->stmt->reduction || copies * (outline->simd ? 1 : s->sum_bytes / 4) <= registers);
}

/* Bytes of arrays in a thread's memory, and of sums at all: parts of a result have to fit an array's dimensions. */
static bool sums_legal(const heddle_outline *outline, const heddle_candidate *candidate, const heddle_outline_stmt *s,
		       double *arrays)
{
	double elements = 1, rounds = 1, partial = 1;
	int parts = 0, rounded = 0;
	bool cut = false; /* a vector along rounds may be partial */
	if (!s->stmt->reduction)
		return true;
	for (int d = 0; d < s->n_dim; d++) {
		const heddle_slot_layout *l = layout_of(s, candidate, d);
		const bool reduction = s->reductions >> d & 1;
		elements *= reduction ? l->vector : (double)l->rounds * l->items * l->vector;
		rounds *= reduction ? 1 : l->rounds;
		rounded += !reduction && l->rounds > 1;
		cut = cut || (!reduction && l->rounds > 1 && l->vector > 1 && (!s->known[d] || s->known[d] % l->vector));
		partial *= reduction ? l->vector * l->threads : 1;
		parts += reduction ? l->vector > 1 : (l->rounds > 1) + (l->items > 1) + (l->vector > 1);
	}
	const bool inside = rounds > 1 && !heddle_rounds_outside(outline, candidate);
	*arrays += inside ? elements * s->sum_bytes : 0;
	if (inside && partial > 1) /* what partial sums are added up to has to be in registers */
		return false;
	if (inside && cut && rounded > 1 && outline->simd) /* an array of sums whose ends are partial vectors is one of single elements */
		return false;
	return parts <= HEDDLE_MAX_DIM;
}

/* Can the descriptor's copy move the box, row by row (heddle_copy_fits in model/place.c)?  All tiles of a statement are
 * moved by one copy. */
static bool copy_legal(const heddle_outline *outline, const heddle_candidate *candidate, int g, const heddle_box *box)
{
	const heddle_slot_group *choice = &candidate->group[g];
	const heddle_copy *copy = &outline->descriptor->copy[choice->copy - 1];
	const heddle_tensor *tensor = outline->group[g].tensor;
	const int last = tensor->rank - 1, size = heddle_type_size(tensor->type);
	const double bytes = fmax(copy->alignment.value, copy->granularity.value);
	const int unit = bytes > size ? (int)bytes / size : 1;
	bool good = box->row == last && (choice->last < 0 || choice->last == last) && box->size[last] % unit == 0 &&
		    choice->pad % unit == 0 &&
		    (unit == 1 ||
		     (bytes <= 16 && (int)bytes % size == 0 && heddle_box_begins_at(outline, candidate, g, box, unit)));
	good = good && outline->stmt[outline->group[g].stmt].access[outline->group[g].access].aligned % unit == 0;
	for (int other = 0; other < outline->n_group && good; other++)
		good = outline->group[other].stmt != outline->group[g].stmt || !candidate->group[other].copy ||
		       candidate->group[other].copy == choice->copy;
	return good;
}

static bool tile_legal(const heddle_outline *outline, const heddle_candidate *candidate, int g, int threads,
		       double *shared)
{
	const heddle_slot_group *choice = &candidate->group[g];
	heddle_box box;
	if (!heddle_box_of(outline, candidate, g, &box) || box.run_length % choice->vector || threads % box.columns)
		return false;
	if (choice->prefetch && (choice->copy || threads == 1)) /* the threads hold the next step's elements */
		return false;
	if (choice->copy && !copy_legal(outline, candidate, g, &box))
		return false;
	const bool rows = box.array_row != box.row || box.run == box.row;
	if (choice->phases > 1 && (choice->copy || !rows || box.size[box.array_row] < choice->phases))
		return false;
	*shared += (double)box.elements * heddle_type_size(outline->group[g].tensor->type);
	return true;
}

/* Shared memory in which lanes meet. */
static double lanes_bytes(const heddle_outline *outline, const heddle_candidate *candidate, int threads)
{
	double bytes = 0;
	for (int s = 0; s < outline->n_stmt && candidate->lanes > 1; s++) {
		const heddle_outline_stmt *stmt = &outline->stmt[s];
		double results = stmt->sum_bytes;
		bool laned = false;
		for (int d = 0; d < stmt->n_dim; d++) {
			const heddle_slot_layout *l = layout_of(stmt, candidate, d);
			laned = laned || ((stmt->reductions >> d & 1) && l->threads > 1);
			results *= stmt->reductions >> d & 1 ? 1 : l->items * l->vector;
		}
		bytes += laned ? results * threads : 0;
	}
	return bytes;
}

unsigned heddle_candidate_streams(const heddle_outline *outline, const heddle_candidate *candidate)
{
	unsigned groups = 0;
	for (int s = 0; s < outline->n_stmt && outline->descriptor->streaming_stores; s++) {
		const heddle_outline_stmt *stmt = &outline->stmt[s];
		const heddle_outline_access *target = &stmt->access[0];
		const int g = target->group;
		/* a result that stays in registers for other statements is stored once, by the last one */
		const bool once = g >= 0 && (outline->group[g].uses == 1 ||
					     (candidate->group[g].space == HEDDLE_SPACE_REGISTER && outline->group[g].used_after));
		if (!once || target->row < 0 || target->aligned * target->bytes < outline->line)
			continue;
		for (int d = 0; d < stmt->n_dim; d++) {
			const heddle_slot_layout *l = layout_of(stmt, candidate, d);
			if (target->factor[target->row][d] == 1 && l->threads == 1 && l->items * l->vector * target->bytes >= outline->line)
				groups |= 1u << g;
		}
	}
	return groups;
}

bool heddle_candidate_legal(const heddle_outline *outline, const heddle_candidate *candidate)
{
	const heddle_descriptor *descriptor = outline->descriptor;
	const int threads = heddle_candidate_threads(outline, candidate);
	double shared = lanes_bytes(outline, candidate, threads), arrays = 0, words, array;
	if (candidate->streams & ~heddle_candidate_streams(outline, candidate))
		return false;
	if (descriptor->threads_per_block.set && threads > descriptor->threads_per_block.value)
		return false;
	if (candidate->resident &&
	    (outline->simd ||
	     (descriptor->threads_per_unit.set && candidate->resident * threads > descriptor->threads_per_unit.value)))
		return false;
	for (int s = 0; s < outline->n_stmt; s++) {
		int laned = 0;
		for (int d = 0; d < outline->stmt[s].n_dim; d++)
			if (!layout_legal(outline, candidate, &outline->stmt[s], d, &laned))
				return false;
		if (laned > 1 || !text_legal(outline, candidate, &outline->stmt[s]) ||
		    !sums_legal(outline, candidate, &outline->stmt[s], &arrays))
			return false;
	}
	for (int g = 0; g < outline->n_group; g++) {
		if (candidate->group[g].space == HEDDLE_SPACE_SHARED &&
		    !tile_legal(outline, candidate, g, threads, &shared))
			return false;
		if (candidate->group[g].space != HEDDLE_SPACE_REGISTER)
			continue;
		if (!heddle_candidate_keeps(outline, candidate, g, &words, &array))
			return false;
		arrays += array;
	}
	const heddle_quantity *limit = descriptor->shared_per_block_static.set ? &descriptor->shared_per_block_static
									       : &descriptor->shared_per_block;
	/* many threads: their arrays are in global memory */
	return arrays <= (outline->simd ? HEDDLE_MAX_ARRAY_BYTES : 0) && (!limit->set || shared <= limit->value);
}

/* ---- config ------------------------------------------------------------------------------------------------------ */

static void set_layout(heddle_config *config, heddle_stmt_config *to, const char *name, const heddle_slot_layout *l,
		       bool reduction)
{
	heddle_named_list *const list[] = {&to->tile, &to->round, &to->thread, &to->vector};
	const int value[] = {heddle_slot_tile(l), l->rounds, l->threads, l->vector};
	for (int i = 0; i < 4; i++)
		if (value[i] > 1)
			heddle_named_set(config, list[i], name, value[i]);
	if (reduction && l->threads * l->vector > 1)
		heddle_named_set(config, &to->reduce, name, HEDDLE_REDUCE_LANES);
}

static void set_group(const heddle_outline *outline, int g, const heddle_slot_group *from, heddle_config *config)
{
	const heddle_outline_group *group = &outline->group[g];
	if (!group->uses)
		return;
	const int rank = group->tensor->rank;
	heddle_group_config *to =
		heddle_config_group(config, outline->kernel->position, group->tensor->name, group->number, true);
	to->space = from->space;
	if (from->space == HEDDLE_SPACE_SHARED || (outline->simd && from->space == HEDDLE_SPACE_GLOBAL))
		to->prefetch = from->prefetch;
	if (from->space != HEDDLE_SPACE_SHARED)
		return;
	to->pad = from->pad;
	to->vector = from->vector;
	to->columns = from->columns;
	to->phases = from->phases > 1 ? from->phases : 0;
	to->copy = from->copy ? outline->descriptor->copy[from->copy - 1].name : NULL;
	if (from->last < 0 || from->last == rank - 1)
		return;
	for (int e = 0; e < rank; e++)
		if (e != from->last)
			to->order[to->n_order++] = e;
	to->order[to->n_order++] = from->last;
}

void heddle_candidate_config(const heddle_outline *outline, const heddle_candidate *candidate, heddle_config *config)
{
	const int k = outline->kernel->position, threads = heddle_candidate_threads(outline, candidate);
	heddle_kernel_config *kernel = heddle_config_kernel(config, k);
	bool same = true, plain = threads == 1;
	for (int i = 0; i < outline->n_slot; i++)
		plain = plain && heddle_slot_tile(&candidate->slot[i]) == 1;
	kernel->threads = candidate->lanes > 1 ? threads : 0;
	kernel->lanes_outer = candidate->lanes_outer;
	kernel->resident = candidate->resident;
	for (int m = 0; m < outline->n_member; m++)
		same = same && candidate->order[m] == m;
	for (int m = 0; m < outline->n_member && !same; m++)
		HEDDLE_PUSH(config->arena, kernel->order, kernel->n_order,
			    outline->kernel->member[candidate->order[m]].name);
	for (int g = 0; g < outline->n_group; g++)
		if (candidate->streams >> g & 1)
			HEDDLE_PUSH(config->arena, kernel->stream, kernel->n_stream, outline->group[g].tensor->name);
	kernel->has_stream = true;
	for (int s = 0; s < outline->n_stmt; s++) {
		const heddle_outline_stmt *stmt = &outline->stmt[s];
		heddle_stmt_config *to = heddle_config_stmt(config, k, stmt->stmt->position);
		if (s == 0 && plain && stmt->n_dim) /* layouts that are not given are chosen */
			heddle_named_set(config, &to->tile, stmt->stmt->dim[0].name, 1);
		for (int d = 0; d < stmt->n_dim; d++)
			if (stmt->slot[d] >= 0 && (s == 0 || !(stmt->members >> d & 1)))
				set_layout(config, to, stmt->stmt->dim[d].name, &candidate->slot[stmt->slot[d]],
					   stmt->reductions >> d & 1);
	}
	for (int g = 0; g < outline->n_group; g++)
		set_group(outline, g, &candidate->group[g], config);
}
