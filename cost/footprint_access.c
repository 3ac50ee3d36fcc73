/* Accesses of memory by a candidate's threads: instructions, requests, and the filling of tiles.
 * SPDX-License-Identifier: MIT
 */
#include "cost/footprint_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Words of a simt thread for the index of what is prefetched, next to its address: some share one. */
enum { PREFETCHED_INDEX = 1 };

/* Moves of a thread up to which a tile's are written out (model/nest_tree.c), so that all loads stand before the
 * stores; words that are loaded together in a loop over more. */
enum { WRITTEN_OUT = 16, LOADED_TOGETHER = 16 };

heddle_space footprint_space(const footprint_counter *k, const heddle_outline_access *a)
{
	return a->group < 0 ? HEDDLE_SPACE_GLOBAL : (heddle_space)k->c->group[a->group].space;
}

/* All warps of a block. */
void footprint_count(footprint_counter *k, heddle_instruction kind, double n)
{
	k->load->instruction[kind] += n * k->warps;
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

void footprint_threads(footprint_counter *k)
{
	int64_t stride[HEDDLE_MAX_DIM], members = 1, next;
	for (int m = 0; m < k->o->n_member; m++)
		members *= k->c->slot[m].threads;
	next = k->c->lanes_outer ? 1 : k->c->lanes;
	for (int i = k->o->n_member - 1; i >= 0; i--) {
		stride[k->c->order[i]] = next;
		next *= k->c->slot[k->c->order[i]].threads;
	}
	for (int t = 0; t < k->n_lane; t++) {
		for (int m = 0; m < k->o->n_member; m++)
			k->at[m][t] = t / stride[m] % k->c->slot[m].threads;
		k->lane[t] = t / (k->c->lanes_outer ? members : 1) % k->c->lanes;
	}
}

/* Byte addresses of the first warp's lanes, `step` bytes from one value of a dimension to the next. */
static void addresses(const footprint_counter *k, const heddle_shape *s, const double *step, int64_t *out)
{
	memset(out, 0, sizeof(*out) * (size_t)k->n_lane);
	for (int d = 0; d < s->stmt->n_dim; d++) {
		const bool member = s->stmt->members >> d & 1;
		if (s->layout[d].threads == 1 || step[d] == 0)
			continue;
		const int64_t *at = member ? k->at[s->stmt->slot[d]] : k->lane,
			      by = (int64_t)fabs(step[d]) * s->layout[d].vector;
		for (int t = 0; t < k->n_lane; t++)
			out[t] += at[t] * by;
	}
}

/* ---- accesses ---------------------------------------------------------------------------------------------------- */

/* Different values of subscript e, of those that are written out: taps of a window meet. */
static double values_of(const heddle_shape *s, const heddle_outline_access *a, int e, const double *each,
			unsigned *seen)
{
	double all = 1, span = 1;
	for (int d = 0; d < s->stmt->n_dim; d++) {
		if (!a->factor[e][d] || *seen >> d & 1)
			continue;
		*seen |= 1u << d;
		all *= each[d];
		/* items of several threads lie apart */
		span = s->layout[d].threads > 1 && each[d] > 1 ? INFINITY
							       : span + (double)llabs(a->factor[e][d]) * (each[d] - 1);
	}
	return fmin(all, span);
}

/* Addresses of what is written out whose distance from each other is no number. */
static double addresses_of(const heddle_shape *s, const heddle_outline_access *a)
{
	double each[HEDDLE_MAX_DIM] = {0}, n = 1;
	unsigned seen = 0;
	for (int d = 0; d < s->stmt->n_dim; d++)
		each[d] = (s->stmt->reductions >> d & 1 ? 1 : s->items[d]) * s->layout[d].vector;
	for (int e = 0; e < a->rank && a->affine; e++) {
		const double values = values_of(s, a, e, each, &seen);
		n *= e == a->row || heddle_stride_known(a->access->tensor, e) ? 1 : values;
	}
	return n;
}

static double elements_of(const heddle_shape *s, const heddle_outline_access *a, const double *each)
{
	unsigned seen = 0;
	double n = 1;
	for (int e = 0; e < a->rank; e++)
		n *= values_of(s, a, e, each, &seen);
	for (int d = 0; d < s->stmt->n_dim; d++)
		n *= (a->mask & ~seen) >> d & 1 ? each[d] : 1;
	return n;
}

/* The dimension whose vector is contiguous in the access; -1: none. */
static int contiguous(const heddle_shape *s, const heddle_outline_access *a, double bytes, const double *step)
{
	for (int d = 0; d < s->stmt->n_dim && a->affine; d++)
		if (s->layout[d].vector > 1 && fabs(step[d]) == bytes)
			return d;
	return -1;
}

/* Do vectors of `wide` elements along dimension d begin at multiples of them, whatever the other dimensions are? */
static bool begins_aligned(const footprint_counter *k, const heddle_shape *s, const heddle_outline_access *a, int d,
			   int wide)
{
	const bool shared = footprint_space(k, a) == HEDDLE_SPACE_SHARED;
	const heddle_box *box = shared ? &k->box[a->group] : NULL;
	const int row = shared ? box->array_row : a->row;
	bool aligned = shared ? (box->row_length + k->c->group[a->group].pad) % wide == 0
			      : a->aligned % wide == 0 && row >= 0 && a->first[row] % wide == 0;
	for (int x = 0; x < s->stmt->n_dim && aligned; x++)
		aligned = x == d || a->factor[row][x] * s->layout[x].vector % wide == 0;
	return aligned;
}

/* Elements of the widest access along a vector. */
static int widest(const footprint_counter *k, const heddle_shape *s, const heddle_outline_access *a, int d)
{
	const heddle_space_language *language = &k->o->language;
	const int bytes = (int)a->bytes, most = language->max_bytes && language->max_bytes < k->o->vector_bytes
							? language->max_bytes
							: (int)k->o->vector_bytes;
	int wide = s->layout[d].vector < language->max_vector ? s->layout[d].vector : language->max_vector;
	while (wide > 1 && (wide * bytes > most || (!language->unaligned && !begins_aligned(k, s, a, d, wide))))
		wide /= 2;
	return wide;
}

/* One thread with vectors: lockstep dimensions run at once, others element by element. */
static void request_vectors(const footprint_counter *k, const heddle_shape *s, const heddle_outline_access *a,
			    double elements, int along, footprint_request *r)
{
	const int L = s->lockstep;
	const double v = L < 0 ? 1 : s->layout[L].vector, registers = fmax(1, v * a->bytes / k->o->vector_bytes);
	if (L < 0 || !(a->mask >> L & 1)) {
		/* a vector of what lies in one register is taken apart, element by element */
		const double apart = along < 0 ? 1 : s->layout[along].vector;
		r->n = elements * fmax(1, apart * a->bytes / k->o->vector_bytes);
		r->gathered = apart > 1 ? apart * elements : 0;
		r->bytes = a->bytes * apart;
		r->words = apart;
		return;
	}
	elements *= s->edge;
	r->words = elements * registers;
	if (along == L) {
		r->n = elements * registers;
		r->bytes = v * a->bytes / registers;
		return;
	}
	/* across rows: gathered, or read by vectors along another dimension and turned */
	const bool turns = along >= 0 && k->o->language.zips;
	const double apart = fabs(r->step[L]) / a->bytes;
	if (k->o->language.zips && !turns && a->affine &&
	    (apart == 2 || apart == 4)) { /* every second or fourth element: vectors of all are unzipped */
		r->n = elements * registers * apart;
		r->gathered = r->n - elements * registers;
		r->bytes = v * a->bytes / registers;
		return;
	}
	const double all = elements * v * (along >= 0 ? s->layout[along].vector : 1),
		     native = k->o->vector_bytes / a->bytes;
	const double at_once = turns ? fmin(s->layout[along].vector, native) : 1;
	r->n = all / at_once;
	r->gathered = turns ? r->n * log2(fmin(v, native)) : all;
	r->bytes = a->bytes * at_once;
	r->words = all / native;
}

footprint_request footprint_request_of(const footprint_counter *k, const heddle_shape *s,
				       const heddle_outline_access *a)
{
	const bool shared = footprint_space(k, a) == HEDDLE_SPACE_SHARED;
	double each[HEDDLE_MAX_DIM] = {0};
	footprint_request r = {.bytes = a->bytes};
	for (int d = 0; d < s->stmt->n_dim; d++) {
		r.step[d] = a->step[d];
		for (int e = 0; e < a->rank && shared; e++)
			r.step[d] =
				(e ? r.step[d] : 0) + (double)(a->factor[e][d] * k->box[a->group].pitch[e]) * a->bytes;
	}
	const int along = contiguous(s, a, a->bytes, r.step);
	for (int d = 0; d < s->stmt->n_dim; d++) {
		const bool term = s->stmt->reductions >> d & 1;
		each[d] = (term ? 1 : s->items[d]) * (d == along || d == s->lockstep ? 1 : s->layout[d].vector);
		if (!k->o->simd && d != along)
			each[d] = (term ? 1 : s->items[d]) * s->layout[d].vector;
	}
	r.addresses = k->o->simd ? 0 : addresses_of(s, a);
	if (!k->o->simd && along >= 0) {
		const int wide = widest(k, s, a, along);
		each[along] *= (double)s->layout[along].vector / wide;
		r.n = elements_of(s, a, each);
		r.bytes = a->bytes * wide;
		r.words = r.n * fmax(1, r.bytes / 4);
		return r;
	}
	const double elements = elements_of(s, a, each);
	if (k->o->simd) {
		request_vectors(k, s, a, elements, along, &r);
	} else {
		r.n = elements;
		r.words = r.n * fmax(1, a->bytes / 4);
	}
	return r;
}

/* So many requests of warps, each as the representative one's. */
static void add_requests(const footprint_counter *k, const heddle_shape *s, const footprint_request *r, bool shared,
			 double requests)
{
	const heddle_transfer *transfer = &k->o->transfer;
	const int bytes = (int)r->bytes;
	int64_t address[HEDDLE_MOST_LANES];
	addresses(k, s, r->step, address);
	if (shared) {
		k->load->shared_cycles += requests * heddle_request_cycles(transfer, address, k->n_lane, bytes);
		return;
	}
	k->load->sectors += requests * heddle_request_sectors(transfer, address, k->n_lane, bytes);
	k->load->cache_cycles += requests * heddle_request_cache_cycles(transfer, address, k->n_lane, bytes);
}

/* `times` executions of an access of memory by each thread. */
void footprint_access(footprint_counter *k, const heddle_shape *s, const heddle_outline_access *a,
		      const footprint_request *r, double times, bool store)
{
	const bool shared = footprint_space(k, a) == HEDDLE_SPACE_SHARED;
	const heddle_instruction load = shared ? HEDDLE_INSTRUCTION_SHARED_LOAD : HEDDLE_INSTRUCTION_GLOBAL_LOAD;
	const double n = times * r->n;
	footprint_count(k, store ? (heddle_instruction)(load + 1) : load, n);
	footprint_count(k, HEDDLE_INSTRUCTION_PERMUTE, times * r->gathered);
	if (k->o->simd)
		return;
	if (shared || a->affine) {
		add_requests(k, s, r, shared, n * k->warps);
		return;
	}
	k->load->sectors += n * k->threads;
	k->load->cache_cycles += n * k->threads / k->o->transfer.lines;
}

/* Has an earlier statement read the same for the same thread, all of it at once?  It is still there. */
static bool is_kept(const footprint_counter *k, const heddle_shape *s, const heddle_outline_access *a)
{
	for (const heddle_shape *t = k->shape; t < s && s->n_loop == 0; t++)
		for (int b = 1; b < t->stmt->n_access && t->n_loop == 0 && t->stmt->n_dim == s->stmt->n_dim; b++) {
			const heddle_outline_access *other = &t->stmt->access[b];
			bool same = other->access->tensor == a->access->tensor && other->affine && a->affine;
			for (int d = 0; d < s->stmt->n_dim && same; d++)
				same = a->step[d] == other->step[d] &&
				       (a->step[d] == 0 ||
					memcmp(&s->layout[d], &t->layout[d], sizeof(s->layout[d])) == 0);
			if (same)
				return true;
		}
	return false;
}

/* Words of a simt thread for an address that a sum reads, or the filling of a tile for it: each loop over terms adds
 * to what the one outside of it has, and keeps that. */
static double term_address(const heddle_shape *s, const heddle_outline_access *a, bool tile)
{
	double loops = 0;
	for (int i = 0; i < s->n_loop; i++)
		if (!tile || s->loop[i].part == HEDDLE_LOOP_TILE)
			loops += (s->stmt->reductions & a->mask) >> s->loop[i].dim & 1;
	return s->stmt->stmt->reduction ? FOOTPRINT_ADDRESS * loops : 0;
}

/* Words that a simt thread holds of what a statement reads: all of an operand that several of its results use, of
 * others what is loaded together. */
static double held_words(const heddle_shape *s, const heddle_outline_access *a, const footprint_request *r)
{
	bool reused = false;
	for (int d = 0; d < s->stmt->n_dim; d++)
		reused = reused || (!((a->mask | s->stmt->reductions) >> d & 1) &&
				    s->layout[d].items * s->layout[d].vector > 1);
	return reused && s->stmt->stmt->reduction ? r->words : fmin(r->words, FOOTPRINT_UNDER_WAY);
}

/* Returns the iterations in which global memory is read. */
double footprint_reads(footprint_counter *k, const heddle_shape *s)
{
	double flight = 0, innermost = 0;
	k->loaded = 0;
	for (int a = 1; a < s->stmt->n_access; a++) {
		const heddle_outline_access *read = &s->stmt->access[a];
		const heddle_space space = footprint_space(k, read);
		if (read->again || !read->rank || space == HEDDLE_SPACE_REGISTER ||
		    (space == HEDDLE_SPACE_GLOBAL && is_kept(k, s, read)))
			continue;
		const footprint_request r = footprint_request_of(k, s, read);
		const double runs = heddle_shape_runs(s, read->mask, false);
		footprint_access(k, s, read, &r, runs * heddle_shape_items(s, s->apart & ~read->mask), false);
		if (space == HEDDLE_SPACE_GLOBAL && k->c->group[read->group].prefetch)
			footprint_count(k, HEDDLE_INSTRUCTION_GLOBAL_LOAD, runs * r.n);
		k->loaded += k->o->simd ? r.words : held_words(s, read, &r);
		k->indexed += space == HEDDLE_SPACE_GLOBAL ? term_address(s, read, false) * r.addresses : 0;
		k->kept += k->o->simd ? 0 : k->o->descriptor->registers.access.value;
		innermost = space == HEDDLE_SPACE_GLOBAL ? fmax(innermost, runs) : innermost;
		flight += space == HEDDLE_SPACE_GLOBAL ? r.n * r.bytes : 0;
	}
	k->load->flight =
		fmax(k->load->flight, flight * (s->stmt->ordered ? 1 : fmin(FOOTPRINT_UNROLLED, fmax(1, innermost))));
	return innermost;
}

/* ---- tiles ------------------------------------------------------------------------------------------------------- */

/* Elements that one thread moves together into an array whose rows lie across the tensor's: loads along these, zips,
 * stores along those (model/simplify_turn.c). */
static double turned_together(const footprint_counter *k, const heddle_outline_access *a, const heddle_box *box)
{
	enum { LEAST = 4 };
	const heddle_space_language *language = &k->o->language;
	int64_t n = (int64_t)(k->o->vector_bytes / a->bytes);
	while (n >= LEAST && (box->run_length % n || box->size[box->array_row] % n))
		n /= 2;
	return language->zips && language->vector_arithmetic && language->unaligned && n >= LEAST ? (double)n : 1;
}

/* What a simt thread holds of a tile while it moves it. */
static void hold_tile(footprint_counter *k, const heddle_shape *s, const heddle_outline_access *a,
		      const heddle_box *box, double moves)
{
	const heddle_slot_group *choice = &k->c->group[a->group];
	const double words = fmax(1, choice->vector * a->bytes / 4);
	double rows = 1, rounds = 1;
	for (int d = 0; d < s->stmt->n_dim; d++)
		rounds *= s->layout[d].rounds;
	for (int e = 0; e < a->rank; e++)
		rows *= (e < box->run || e > box->row) && !heddle_stride_known(a->access->tensor, e)
				? (double)box->size[e]
				: 1;
	const bool written_out = moves <= WRITTEN_OUT && rounds <= 1,
		   ahead = choice->prefetch && written_out;
	const double address = fmax(FOOTPRINT_ADDRESS, term_address(s, a, true)) + (ahead ? PREFETCHED_INDEX : 0);
	k->indexed += address * (written_out ? fmin(moves, rows) : 1) + (ahead ? words * moves : 0);
	if (!ahead) /* vectors are stored one after another */
		k->moved += fmin(words * moves, written_out && words == 1 ? moves : fmax(words, LOADED_TOGETHER));
	k->kept += k->o->descriptor->registers.tile.value;
}

/* Rows of a box and what threads move of it in one step. */
static void count_fill(footprint_counter *k, const heddle_shape *s, int g)
{
	const heddle_box *box = &k->box[g];
	const heddle_slot_group *choice = &k->c->group[g];
	const heddle_outline_access *a = &s->stmt->access[k->o->group[g].access];
	double tile_steps = 1, rows = 1;
	for (int d = 0; d < s->stmt->n_dim; d++)
		tile_steps *= s->tiles[d];
	for (int e = 0; e < a->rank; e++)
		rows *= e >= box->run && e <= box->row ? 1 : (double)box->size[e];
	const double vectors = (double)box->run_length / choice->vector, bytes = choice->vector * a->bytes;
	const double passes = floor(vectors / box->columns), rest = (vectors - passes * box->columns) / box->columns;
	const double of_thread =
		ceil(rows * box->columns / k->threads) * (passes + (rest > 0 ? fmax(rest, 1.0 / k->warps) : 0));
	const bool along = box->pitch[box->row] == 1 && choice->phases == 1;
	const double registers = k->o->simd ? fmax(1, bytes / k->o->vector_bytes) : 1;
	const double together = along || !k->o->simd ? 1 : turned_together(k, a, box);
	if (!choice->copy) { /* a copy of the chip takes none of the threads' */
		footprint_count(k, HEDDLE_INSTRUCTION_GLOBAL_LOAD, tile_steps * of_thread * registers / together);
		footprint_count(k, HEDDLE_INSTRUCTION_SHARED_STORE,
				tile_steps * of_thread * (along ? registers : choice->vector) / together);
		footprint_count(k, HEDDLE_INSTRUCTION_PERMUTE, tile_steps * of_thread * log2(together) / together);
	}
	const double sector = k->o->transfer.sector, request = fmin(box->columns, vectors) * bytes;
	const bool begins = sector < a->bytes || heddle_box_begins_at(k->o, k->c, g, box, (int)(sector / a->bytes));
	k->load->shared_bytes += (double)box->elements * a->bytes;
	if (k->o->simd)
		return;
	k->load->sectors += tile_steps * rows * (passes + (rest > 0)) *
			    (ceil(request / sector) + (begins ? 0 : 1 - bytes / sector));
	int64_t address[HEDDLE_MOST_LANES], from[HEDDLE_MOST_LANES];
	for (int t = 0; t < k->n_lane; t++) {
		int64_t row = t / box->columns;
		address[t] = t % box->columns * choice->vector * box->pitch[box->row];
		from[t] = t % box->columns * (int64_t)bytes;
		for (int e = a->rank - 1; e >= 0; e--)
			if (e < box->run || e > box->row) {
				address[t] += row % box->size[e] * box->pitch[e];
				from[t] += row % box->size[e] * (int64_t)a->stride[e];
				row /= box->size[e];
			}
		address[t] *= (int64_t)a->bytes;
	}
	const double cycles =
		heddle_request_cycles(&k->o->transfer, address, k->n_lane, along ? (int)bytes : (int)a->bytes);
	k->load->shared_cycles += tile_steps * of_thread * (along ? 1 : choice->vector) * k->warps * cycles;
	k->load->cache_cycles += tile_steps * of_thread * k->warps *
				 heddle_request_cache_cycles(&k->o->transfer, from, k->n_lane, (int)bytes);
	k->load->flight += of_thread * bytes;
	hold_tile(k, s, a, box, ceil(of_thread));
}

void footprint_tiles(footprint_counter *k, const heddle_shape *s, int stmt)
{
	double steps = 1, terms = 1;
	bool any = false, early = true;
	for (int g = 0; g < k->o->n_group; g++)
		if (k->c->group[g].space == HEDDLE_SPACE_SHARED && k->o->group[g].stmt == stmt) {
			count_fill(k, s, g);
			early = early && k->c->group[g].prefetch;
			any = true;
		}
	for (int d = 0; d < s->stmt->n_dim; d++) {
		steps *= s->tiles[d];
		terms *= s->stmt->reductions >> d & 1 ? s->items[d] : 1;
	}
	if (!any)
		return;
	k->load->chain[HEDDLE_INSTRUCTION_GLOBAL_LOAD] += k->o->simd ? 1 : steps;
	k->load->prefetched += early && !k->o->simd ? steps : 0;
	k->load->chain[HEDDLE_INSTRUCTION_SHARED_LOAD] +=
		k->o->simd ? 0 : steps * fmax(1, terms / (2 * FOOTPRINT_UNROLLED));
	if (k->threads == 1)
		return;
	k->load->chain[HEDDLE_INSTRUCTION_SHARED_STORE] += steps;
	k->load->chain[HEDDLE_INSTRUCTION_BARRIER] += 2 * steps;
	footprint_count(k, HEDDLE_INSTRUCTION_BARRIER, 2 * steps);
}
