/* Instructions, requests, chains and registers of a candidate, in closed form.
 * SPDX-License-Identifier: MIT
 */
#include "cost/footprint.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Iterations of a loop whose loads compilers issue before the first is used (measured on generated PTX and on what PoCL makes: 4). */
enum { UNROLLED = 4, INSTRUCTION_BYTES = 16 };

typedef struct counter {
	const heddle_outline *o;
	const heddle_candidate *c;
	heddle_load *load;
	heddle_shape *shape;
	heddle_box box[HEDDLE_SPACE_GROUPS];
	int threads, warps, n_lane; /* n_lane: of the first warp */
	bool outside;		    /* rounds are */
	int64_t at[HEDDLE_MAX_DIM][HEDDLE_MOST_LANES]; /* a member's thread coordinate in each lane */
	int64_t lane[HEDDLE_MOST_LANES];
	/* registers, in words or vectors of one thread */
	double kept, most; /* of the whole kernel; of the statement that takes most */
	double loaded;	   /* of the statement at hand: what it reads, by the descriptor's weights */
} counter;

static heddle_space space_of(const counter *k, const heddle_outline_access *a)
{
	return a->group < 0 ? HEDDLE_SPACE_GLOBAL : (heddle_space)k->c->group[a->group].space;
}

static double weight_of(const heddle_quantity *q)
{
	return q->set ? q->value : 1;
}

/* All warps of a block. */
static void count(counter *k, heddle_instruction kind, double n)
{
	k->load->instruction[kind] += n * k->warps;
}

/* ---- threads ----------------------------------------------------------------------------------------------------------------------- */

static void place_threads(counter *k)
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
static void addresses(const counter *k, const heddle_shape *s, const double *step, int64_t *out)
{
	memset(out, 0, sizeof(*out) * (size_t)k->n_lane);
	for (int d = 0; d < s->stmt->n_dim; d++) {
		const bool member = s->stmt->members >> d & 1;
		if (s->layout[d].threads == 1 || step[d] == 0)
			continue;
		const int64_t *at = member ? k->at[s->stmt->slot[d]] : k->lane, by = (int64_t)fabs(step[d]) * s->layout[d].vector;
		for (int t = 0; t < k->n_lane; t++)
			out[t] += at[t] * by;
	}
}

/* ---- accesses ---------------------------------------------------------------------------------------------------------------------- */

/* How a thread makes an access: instructions for what is written out, of how many bytes; elements that are gathered one by one. */
typedef struct demand {
	double n, bytes, gathered;
	double words; /* registers for all of it */
	double step[HEDDLE_MAX_DIM]; /* bytes in the space where it goes */
} demand;

/* Different values of subscript e, of those that are written out: taps of a window meet. */
static double values_of(const heddle_shape *s, const heddle_outline_access *a, int e, const double *each, unsigned *seen)
{
	double all = 1, span = 1;
	for (int d = 0; d < s->stmt->n_dim; d++) {
		if (!a->factor[e][d] || *seen >> d & 1)
			continue;
		*seen |= 1u << d;
		all *= each[d];
		/* items of several threads lie apart */
		span = s->layout[d].threads > 1 && each[d] > 1 ? INFINITY : span + (double)llabs(a->factor[e][d]) * (each[d] - 1);
	}
	return fmin(all, span);
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
static bool begins_aligned(const counter *k, const heddle_shape *s, const heddle_outline_access *a, int d, int wide)
{
	const bool shared = space_of(k, a) == HEDDLE_SPACE_SHARED;
	const heddle_box *box = shared ? &k->box[a->group] : NULL;
	const int row = shared ? box->array_row : a->row;
	bool aligned = shared ? (box->row_length + k->c->group[a->group].pad) % wide == 0 : a->aligned % wide == 0 && row >= 0 && a->first[row] % wide == 0;
	for (int x = 0; x < s->stmt->n_dim && aligned; x++)
		aligned = x == d || a->factor[row][x] * s->layout[x].vector % wide == 0;
	return aligned;
}

/* Elements of the widest access along a vector. */
static int widest(const counter *k, const heddle_shape *s, const heddle_outline_access *a, int d)
{
	const heddle_space_language *language = &k->o->language;
	const int bytes = (int)a->bytes, most = language->max_bytes && language->max_bytes < k->o->vector_bytes ? language->max_bytes : (int)k->o->vector_bytes;
	int wide = s->layout[d].vector < language->max_vector ? s->layout[d].vector : language->max_vector;
	while (wide > 1 && (wide * bytes > most || (!language->unaligned && !begins_aligned(k, s, a, d, wide))))
		wide /= 2;
	return wide;
}

/* One thread with vectors: lockstep dimensions run at once, others element by element. */
static void request_vectors(const counter *k, const heddle_shape *s, const heddle_outline_access *a, double elements, int along, demand *r)
{
	const int L = s->lockstep;
	const double v = L < 0 ? 1 : s->layout[L].vector, registers = fmax(1, v * a->bytes / k->o->vector_bytes);
	if (L < 0 || !(a->mask >> L & 1)) {
		/* a vector of what lies in one register is taken apart, element by element */
		const double apart = along < 0 ? 1 : s->layout[along].vector;
		r->n = elements * fmax(1, apart * a->bytes / k->o->vector_bytes);
		r->gathered = apart > 1 ? 2 * apart * elements : 0;
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
	if (k->o->language.zips && !turns && a->affine && (apart == 2 || apart == 4)) { /* every second or fourth element: vectors of all are unzipped */
		r->n = elements * registers * apart;
		r->gathered = r->n - elements * registers;
		r->bytes = v * a->bytes / registers;
		return;
	}
	const double all = elements * v * (along >= 0 ? s->layout[along].vector : 1), native = k->o->vector_bytes / a->bytes;
	const double at_once = turns ? fmin(s->layout[along].vector, native) : 1;
	r->n = all / at_once;
	r->gathered = turns ? r->n * log2(fmin(v, native)) : all;
	r->bytes = a->bytes * at_once;
	r->words = all / native;
}

static demand request_of(const counter *k, const heddle_shape *s, const heddle_outline_access *a)
{
	const bool shared = space_of(k, a) == HEDDLE_SPACE_SHARED;
	double each[HEDDLE_MAX_DIM];
	demand r = {.bytes = a->bytes};
	for (int d = 0; d < s->stmt->n_dim; d++) {
		r.step[d] = a->step[d];
		for (int e = 0; e < a->rank && shared; e++)
			r.step[d] = (e ? r.step[d] : 0) + (double)(a->factor[e][d] * k->box[a->group].pitch[e]) * a->bytes;
	}
	const int along = contiguous(s, a, a->bytes, r.step);
	for (int d = 0; d < s->stmt->n_dim; d++) {
		const bool term = s->stmt->reductions >> d & 1;
		each[d] = (term ? 1 : s->items[d]) * (d == along || d == s->lockstep ? 1 : s->layout[d].vector);
		if (!k->o->simd && d != along)
			each[d] = (term ? 1 : s->items[d]) * s->layout[d].vector;
	}
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

/* Sectors or bank cycles of one request of the representative warp. */
static double served(const counter *k, const heddle_shape *s, const demand *r, bool shared)
{
	int64_t address[HEDDLE_MOST_LANES];
	if (k->n_lane == 1)
		return shared ? fmax(1, r->bytes / k->o->transfer.bank_width / k->o->transfer.banks) : ceil(r->bytes / k->o->transfer.sector);
	addresses(k, s, r->step, address);
	return shared ? heddle_request_cycles(&k->o->transfer, address, k->n_lane, (int)r->bytes) :
			heddle_request_sectors(&k->o->transfer, address, k->n_lane, (int)r->bytes);
}

/* `times` executions of an access of memory by each thread. */
static void count_access(counter *k, const heddle_shape *s, const heddle_outline_access *a, const demand *r, double times, bool store)
{
	const bool shared = space_of(k, a) == HEDDLE_SPACE_SHARED;
	const heddle_instruction load = shared ? HEDDLE_INSTRUCTION_SHARED_LOAD : HEDDLE_INSTRUCTION_GLOBAL_LOAD;
	const double n = times * r->n;
	count(k, store ? (heddle_instruction)(load + 1) : load, n);
	count(k, HEDDLE_INSTRUCTION_PERMUTE, times * r->gathered);
	if (k->o->simd)
		return;
	if (shared)
		k->load->shared_cycles += n * k->warps * served(k, s, r, true);
	else if (a->affine)
		k->load->sectors += n * k->warps * served(k, s, r, false);
	else
		k->load->sectors += n * k->threads;
}

/* Has an earlier statement read the same for the same thread, all of it at once?  It is still there. */
static bool is_kept(const counter *k, const heddle_shape *s, const heddle_outline_access *a)
{
	for (const heddle_shape *t = k->shape; t < s && s->n_loop == 0; t++)
		for (int b = 1; b < t->stmt->n_access && t->n_loop == 0 && t->stmt->n_dim == s->stmt->n_dim; b++) {
			const heddle_outline_access *other = &t->stmt->access[b];
			bool same = other->access->tensor == a->access->tensor && other->affine && a->affine;
			for (int d = 0; d < s->stmt->n_dim && same; d++)
				same = a->step[d] == other->step[d] && (a->step[d] == 0 || memcmp(&s->layout[d], &t->layout[d], sizeof(s->layout[d])) == 0);
			if (same)
				return true;
		}
	return false;
}

/* Returns the iterations in which global memory is read. */
static double count_reads(counter *k, const heddle_shape *s)
{
	const heddle_register_weights *weight = &k->o->descriptor->registers;
	double flight = 0, innermost = 0;
	k->loaded = 0;
	for (int a = 1; a < s->stmt->n_access; a++) {
		const heddle_outline_access *read = &s->stmt->access[a];
		const heddle_space space = space_of(k, read);
		if (read->again || !read->rank || space == HEDDLE_SPACE_REGISTER || (space == HEDDLE_SPACE_GLOBAL && is_kept(k, s, read)))
			continue;
		const demand r = request_of(k, s, read);
		const double runs = heddle_shape_runs(s, read->mask, false);
		count_access(k, s, read, &r, runs, false);
		k->loaded += r.words * (k->o->simd ? 1 : weight_of(space == HEDDLE_SPACE_SHARED ? &weight->operand : &weight->load));
		k->kept += k->o->simd ? 0 : weight->access.value;
		innermost = space == HEDDLE_SPACE_GLOBAL ? fmax(innermost, runs) : innermost;
		flight += space == HEDDLE_SPACE_GLOBAL ? r.n * r.bytes : 0;
	}
	k->load->flight = fmax(k->load->flight, flight * (s->stmt->ordered ? 1 : fmin(UNROLLED, fmax(1, innermost))));
	return innermost;
}

/* ---- tiles ------------------------------------------------------------------------------------------------------------------------- */

/* Rows of a box and what threads move of it in one step. */
static void count_fill(counter *k, const heddle_shape *s, int g)
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
	const double of_thread = ceil(rows * box->columns / k->threads) * (passes + (rest > 0 ? fmax(rest, 1.0 / k->warps) : 0));
	const bool along = box->pitch[box->row] == 1 && choice->phases == 1;
	const double registers = k->o->simd ? fmax(1, bytes / k->o->vector_bytes) : 1;
	count(k, HEDDLE_INSTRUCTION_GLOBAL_LOAD, tile_steps * of_thread * registers);
	count(k, HEDDLE_INSTRUCTION_SHARED_STORE, tile_steps * of_thread * (along ? registers : choice->vector));
	const double sector = k->o->transfer.sector, request = fmin(box->columns, vectors) * bytes;
	const bool begins = sector < a->bytes || heddle_box_begins_at(k->o, k->c, g, box, (int)(sector / a->bytes));
	k->load->shared_bytes += (double)box->elements * a->bytes;
	if (k->o->simd)
		return;
	k->load->sectors += tile_steps * rows * (passes + (rest > 0)) * (ceil(request / sector) + (begins ? 0 : 1 - bytes / sector));
	int64_t address[HEDDLE_MOST_LANES];
	for (int t = 0; t < k->n_lane; t++) {
		int64_t row = t / box->columns;
		address[t] = t % box->columns * choice->vector * box->pitch[box->row];
		for (int e = a->rank - 1; e >= 0; e--)
			if (e < box->run || e > box->row) {
				address[t] += row % box->size[e] * box->pitch[e];
				row /= box->size[e];
			}
		address[t] *= (int64_t)a->bytes;
	}
	const double cycles = heddle_request_cycles(&k->o->transfer, address, k->n_lane, along ? (int)bytes : (int)a->bytes);
	k->load->shared_cycles += tile_steps * of_thread * (along ? 1 : choice->vector) * k->warps * cycles;
	k->load->flight += of_thread * bytes;
	if (choice->prefetch)
		k->kept += of_thread * bytes / 4 * weight_of(&k->o->descriptor->registers.early);
	k->kept += k->o->descriptor->registers.tile.value;
}

static void count_tiles(counter *k, const heddle_shape *s, int stmt)
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
	k->load->chain[HEDDLE_INSTRUCTION_SHARED_LOAD] += k->o->simd ? 0 : steps * fmax(1, terms / (2 * UNROLLED));
	if (k->threads == 1)
		return;
	k->load->chain[HEDDLE_INSTRUCTION_SHARED_STORE] += steps;
	k->load->chain[HEDDLE_INSTRUCTION_BARRIER] += 2 * steps;
	count(k, HEDDLE_INSTRUCTION_BARRIER, 2 * steps);
}

/* ---- values ------------------------------------------------------------------------------------------------------------------------ */

/* Instructions of one operator for the elements that a thread has of these dimensions. */
static double width(const counter *k, const heddle_shape *s, unsigned mask, bool wide)
{
	double n = heddle_shape_items(s, mask);
	for (int d = 0; d < s->stmt->n_dim; d++)
		n *= mask >> d & 1 && !(k->o->simd && d == s->lockstep) ? s->layout[d].vector : 1;
	if (k->o->simd && s->lockstep >= 0 && mask >> s->lockstep & 1)
		n *= s->edge * fmax(1, s->layout[s->lockstep].vector * (wide ? 8 : 4) / k->o->vector_bytes);
	return n;
}

static double instructions(const counter *k)
{
	double n = 0;
	for (int i = 0; i < HEDDLE_N_INSTRUCTION; i++)
		n += k->load->instruction[i];
	return n;
}

/* Iterations under way at the same time, each of so many instructions. */
static double overlap(const counter *k, double body)
{
	const heddle_quantity *window = &k->o->descriptor->window;
	return window->set ? fmax(UNROLLED, window->value / fmax(body, 1)) : UNROLLED;
}

/* `reads`: iterations that wait for global memory; `before`: instructions of the block so far. */
static void count_values(counter *k, const heddle_shape *s, double reads, double before)
{
	const unsigned all = (1u << s->stmt->n_dim) - 1;
	const double iterations = heddle_shape_runs(s, all, false);
	double terms = 1;
	for (int i = 0; i < s->stmt->n_operator; i++) {
		const heddle_outline_operator *o = &s->stmt->operator[i];
		count(k, o->kind, heddle_shape_runs(s, o->mask, false) * width(k, s, o->mask, o->wide));
	}
	count(k, HEDDLE_INSTRUCTION_BRANCH, iterations * (s->stmt->n_comparison ? 3 : 1));
	count(k, HEDDLE_INSTRUCTION_INTEGER, iterations * (k->o->simd ? 0.75 * s->stmt->n_comparison : 0.5));
	for (int d = 0; d < s->stmt->n_dim; d++)
		terms *= s->stmt->reductions >> d & 1 ? s->tiles[d] * s->items[d] : 1;
	if (s->stmt->stmt->reduction)
		k->load->chain[s->stmt->sum] += terms * heddle_shape_runs(s, k->o->simd ? all : s->stmt->locals, true);
	const double under_way = s->stmt->ordered ? 1 : overlap(k, (instructions(k) - before) / (k->warps * iterations));
	const double depths = s->stmt->ordered ? iterations : fmax(1, iterations / under_way);
	k->load->chain[HEDDLE_INSTRUCTION_GLOBAL_LOAD] += reads > 0 ? fmax(1, reads / under_way) : 0;
	for (int i = 0; i < HEDDLE_N_INSTRUCTION; i++)
		k->load->chain[i] += s->stmt->depth[i] * (s->stmt->stmt->reduction && i == (int)s->stmt->sum ? 1 : depths);
	k->load->peak_runs = fmax(k->load->peak_runs, iterations);
	k->load->code = fmax(k->load->code, width(k, s, all, false) * (1 + s->stmt->n_operator) * INSTRUCTION_BYTES);
}

/* ---- sums -------------------------------------------------------------------------------------------------------------------------- */

/* Lanes and elements of a vector meet: `each` results of a thread, `runs` times. */
static void count_combine(counter *k, const heddle_shape *s, double each, double runs)
{
	const bool power = (k->c->lanes & (k->c->lanes - 1)) == 0;
	const int lanes = s->lanes & s->stmt->reductions ? k->c->lanes : 1, warp = k->o->warp;
	const bool shuffles = k->o->language.shuffles && !k->c->lanes_outer && power && k->threads % warp == 0;
	const double near = lanes < warp ? lanes : warp, steps = shuffles ? log2(near) : 0;
	double vectors = 1;
	for (int d = 0; d < s->stmt->n_dim; d++)
		vectors *= s->stmt->reductions >> d & 1 ? s->layout[d].vector : 1;
	const double halves = log2(vectors) * each * runs;
	count(k, s->stmt->sum, k->o->simd ? halves : (vectors - 1) * each * runs);
	count(k, HEDDLE_INSTRUCTION_PERMUTE, k->o->simd ? halves : 0);
	if (lanes < 2)
		return;
	count(k, HEDDLE_INSTRUCTION_SHUFFLE, steps * each * runs);
	count(k, s->stmt->sum, steps * each * runs);
	k->load->chain[HEDDLE_INSTRUCTION_SHUFFLE] += steps * runs;
	k->load->chain[s->stmt->sum] += steps * runs;
	if (shuffles && lanes <= warp)
		return;
	const double far = shuffles ? 2 : ceil(log2(lanes)), barriers = shuffles ? 1 : far + 1;
	count(k, HEDDLE_INSTRUCTION_SHARED_STORE, each * runs * (shuffles ? 1 : far));
	count(k, HEDDLE_INSTRUCTION_SHARED_LOAD, each * runs * far);
	count(k, s->stmt->sum, each * runs * far);
	count(k, HEDDLE_INSTRUCTION_BARRIER, barriers * runs);
	k->load->shared_cycles += 2 * each * runs * far * k->warps;
	k->load->chain[HEDDLE_INSTRUCTION_SHARED_LOAD] += far * runs;
	k->load->chain[HEDDLE_INSTRUCTION_BARRIER] += barriers * runs;
	k->load->shared_bytes += each * s->stmt->sum_bytes * (shuffles ? k->threads / warp : k->threads);
}

/* Share of the results that are fewer than a thread's items: these are summed one by one, and share no operands. */
static double remainder_of(const heddle_shape *s)
{
	double full = 1;
	for (int d = 0; d < s->stmt->n_dim; d++)
		if (s->stmt->members >> d & 1 && s->layout[d].items > 1)
			full *= 1 - fmod(floor(s->stmt->extent[d] / s->layout[d].vector), s->layout[d].items) * s->layout[d].vector / s->stmt->extent[d];
	return 1 - full;
}

/* What a thread sums into: registers, or an array in memory where there are several rounds in each step. */
static void count_sums(counter *k, const heddle_shape *s)
{
	const unsigned all = (1u << s->stmt->n_dim) - 1;
	const double unit = k->o->simd ? 1 : fmax(1, s->stmt->sum_bytes / 4);
	double rounds = 1, steps = 1, vectors = 1;
	if (!s->stmt->stmt->reduction) {
		k->most = fmax(k->most, k->o->simd ? 1 + s->stmt->n_access : k->loaded + width(k, s, all, false));
		return;
	}
	const double sums = width(k, s, all, s->stmt->sum_bytes > 4) / s->edge, runs = heddle_shape_runs(s, all, true);
	for (int d = 0; d < s->stmt->n_dim; d++) {
		rounds *= s->layout[d].rounds;
		steps *= s->tiles[d];
		vectors *= s->stmt->reductions >> d & 1 ? s->layout[d].vector : 1;
	}
	k->most = fmax(k->most, fmin(k->loaded, k->o->simd ? k->o->descriptor->vector_registers.value / 2 : INFINITY) + sums * unit);
	if (rounds > 1 && !k->outside)
		count(k, HEDDLE_INSTRUCTION_STACK, 2 * sums * rounds * (steps + 1));
	const double lone = k->o->simd ? remainder_of(s) * heddle_shape_runs(s, all, false) * sums : 0;
	count(k, HEDDLE_INSTRUCTION_STACK, 2 * lone);
	k->load->chain[s->stmt->sum] += lone;
	count_combine(k, s, k->o->simd && s->lockstep >= 0 && s->stmt->reductions >> s->lockstep & 1 ? sums : sums / vectors, runs);
}

/* ---- results ----------------------------------------------------------------------------------------------------------------------- */

/* Bytes of lines that a block writes of the target. */
static double written(const counter *k, const heddle_shape *s)
{
	const heddle_outline_access *a = &s->stmt->access[0];
	double elements = 1, run = 1;
	for (int d = 0; d < s->stmt->n_dim; d++) {
		const bool member = s->stmt->members >> d & 1;
		const double here = s->stmt->extent[d] / (member ? heddle_outline_blocks(k->o, k->c, s->stmt->slot[d]) : 1);
		elements *= a->mask >> d & 1 ? here : 1;
		run = a->row >= 0 && a->factor[a->row][d] == 1 ? here : run;
	}
	const double bytes = run * a->bytes;
	return elements * a->bytes * ceil(bytes / k->o->line) * k->o->line / bytes;
}

static void count_results(counter *k, const heddle_shape *s, int stmt)
{
	const heddle_outline_access *target = &s->stmt->access[0];
	const heddle_statement *source = s->stmt->stmt->source;
	const unsigned all = (1u << s->stmt->n_dim) - 1;
	const int g = target->group;
	bool last = true;
	for (int t = stmt + 1; t < k->o->n_stmt; t++)
		last = last && k->o->stmt[t].access[0].group != g;
	if (g >= 0 && k->c->group[g].space == HEDDLE_SPACE_REGISTER && !(last && k->o->group[g].used_after))
		return;
	const demand r = request_of(k, s, target);
	const double runs = heddle_shape_runs(s, s->stmt->stmt->reduction ? target->mask : all, s->stmt->stmt->reduction);
	const double bytes = written(k, s);
	k->load->stored += bytes;
	k->load->streamed += g >= 0 && k->c->streams >> g & 1 ? bytes : 0;
	count_access(k, s, target, &r, runs, true);
	if (source->assign != HEDDLE_ASSIGN_SET && !source->initialise)
		count_access(k, s, target, &r, runs, false);
}

/* ---- the kernel -------------------------------------------------------------------------------------------------------------------- */

/* Results of statements before it that the statement reads, and other threads have written. */
static void count_waits(counter *k, const heddle_shape *s, int stmt)
{
	bool waits = false;
	for (int a = 1; a < s->stmt->n_access; a++) {
		const int g = s->stmt->access[a].group;
		waits = waits || (g >= 0 && k->o->group[g].written && k->c->group[g].space == HEDDLE_SPACE_GLOBAL && k->o->group[g].stmt < stmt);
	}
	if (!waits || k->threads == 1)
		return;
	count(k, HEDDLE_INSTRUCTION_BARRIER, 1);
	k->load->chain[HEDDLE_INSTRUCTION_BARRIER]++;
}

static void keep_groups(counter *k)
{
	for (int g = 0; g < k->o->n_group; g++) {
		const heddle_slot_group *choice = &k->c->group[g];
		double words, array;
		if (choice->space == HEDDLE_SPACE_SHARED)
			heddle_box_of(k->o, k->c, g, &k->box[g]);
		if (choice->space != HEDDLE_SPACE_REGISTER || !heddle_candidate_keeps(k->o, k->c, g, &words, &array))
			continue;
		if (array > 0)
			count(k, HEDDLE_INSTRUCTION_STACK, words * k->o->group[g].uses);
		else if (!k->o->stmt[k->o->group[g].stmt].stmt->reduction)
			k->kept += words;
	}
}

void heddle_footprint(const heddle_outline *outline, const heddle_candidate *candidate, heddle_load *load)
{
	counter k = {.o = outline, .c = candidate, .load = load, .shape = outline->shape};
	*load = (heddle_load){.blocks = 1};
	k.threads = load->threads = heddle_candidate_threads(outline, candidate);
	k.warps = (k.threads + outline->warp - 1) / outline->warp;
	k.n_lane = k.threads < outline->warp ? k.threads : outline->warp;
	k.n_lane = k.n_lane < HEDDLE_MOST_LANES ? k.n_lane : HEDDLE_MOST_LANES;
	place_threads(&k);
	for (int m = 0; m < outline->n_member; m++)
		load->blocks *= heddle_outline_blocks(outline, candidate, m);
	for (int s = 0; s < outline->n_stmt; s++)
		k.shape[s] = heddle_shape_of(outline, candidate, s);
	k.outside = heddle_rounds_outside(outline, candidate);
	keep_groups(&k);
	k.kept += outline->simd ? 0 : outline->descriptor->registers.base.value;
	for (int s = 0; s < outline->n_stmt; s++) {
		count_waits(&k, &k.shape[s], s);
		count_tiles(&k, &k.shape[s], s);
		const double before = instructions(&k), reads = count_reads(&k, &k.shape[s]);
		count_values(&k, &k.shape[s], reads, before);
		count_sums(&k, &k.shape[s]);
		count_results(&k, &k.shape[s], s);
	}
	load->registers = k.kept + k.most;
	load->min_blocks = candidate->resident;
	heddle_footprint_reuse(outline, candidate, k.shape, k.box, load);
}
