/* A launch of a program to a load: accesses as references in a tree of loops, and requests of a warp.
 * SPDX-License-Identifier: MIT
 */
#include "cost/measure_parts.h"
#include "cost/reuse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* References that run in less than this share of their loops' iterations touch edges only. */
static const double RARE = 0.02;

enum { MOST_REFERENCES = 96 };

/* References of one loop that differ by constants: conditions may stand between them. */
typedef struct pending {
	heddle_reference reference; /* without the digits of the constants */
	const traffic_form *address;
	int buffer;
	bool store;
	int n;
	int64_t *constant;
} pending;

typedef struct scanner {
	measurer *m;
	heddle_arena *arena;
	traffic_box box;
	double line;
	int n_loop;
	heddle_reuse_loop *loop;
	int *loop_of; /* [variable] */
	int n_pending;
	pending *pending;
} scanner;

/* ---- accesses that differ by a constant ----------------------------------------------------------------------------------------- */

static bool same_terms(const traffic_form *a, const traffic_form *b)
{
	if (a->n_term != b->n_term)
		return false;
	for (int i = 0; i < a->n_term; i++) {
		int j = 0;
		while (j < b->n_term && (b->term[j].atom != a->term[i].atom &&
					 (b->term[j].atom->kind != TRAFFIC_VARIABLE || a->term[i].atom->kind != TRAFFIC_VARIABLE ||
					  b->term[j].atom->variable != a->term[i].atom->variable)))
			j++;
		if (j == b->n_term || b->term[j].by != a->term[i].by)
			return false;
	}
	return true;
}

static bool is_like(const heddle_region_access *a, const heddle_region_access *b)
{
	return a->buffer == b->buffer && a->store == b->store && a->ahead == b->ahead && a->bytes == b->bytes && same_terms(a->address, b->address);
}

static int by_value(const void *x, const void *y)
{
	const int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;
	return a < b ? -1 : a > b;
}

/* Sorted, each once; their number. */
static int distinct_constants(int64_t *constant, int n)
{
	int distinct = 0;
	qsort(constant, (size_t)n, sizeof(*constant), by_value);
	for (int i = 0; i < n; i++)
		if (i == 0 || constant[i] != constant[distinct - 1])
			constant[distinct++] = constant[i];
	return distinct;
}

/* Of the accesses like the first one, which are marked as done. */
static int constants_of(const heddle_region *region, int first, bool *done, int64_t *constant)
{
	int n = 0;
	for (int i = first; i < region->n_access; i++)
		if (!done[i] && is_like(&region->access[first], &region->access[i])) {
			done[i] = true;
			constant[n++] = region->access[i].address->constant;
		}
	return distinct_constants(constant, n);
}

static void add_digit(heddle_reference *r, int loop, double stride, double extent)
{
	if (r->n_digit < HEDDLE_REFERENCE_DIGITS && extent > 1 && stride != 0)
		r->digit[r->n_digit++] = (heddle_reuse_digit){loop, stride, extent};
}

/* Constants as digits: equal gaps first, then the gaps between those rows.  Of the constants the first one stays. */
static void add_constants(heddle_reference *r, int64_t *constant, int n)
{
	while (n > 1) {
		const int64_t gap = constant[1] - constant[0];
		int length = 1, rows = 0;
		while (length < n && constant[length] - constant[length - 1] == gap)
			length++;
		add_digit(r, -1, (double)gap, length);
		for (int i = 0; i < n; i += length)
			constant[rows++] = constant[i];
		n = rows;
	}
}

/* ---- digits ---------------------------------------------------------------------------------------------------------------------- */

static int loop_of(const scanner *s, int variable)
{
	const traffic_id *block = &s->m->regions.reader.block;
	if (variable >= block->first && variable < block->first + block->n_digit)
		return s->loop_of[variable];
	return variable < s->m->regions.reader.n_variable ? s->loop_of[variable] : -1;
}

static double values_of(const scanner *s, int variable)
{
	const traffic_range r = s->box.range[variable];
	const int loop = loop_of(s, variable);
	if (r.hi >= TRAFFIC_BIG)
		return loop >= 0 ? s->loop[loop].trips : 1;
	return (double)(r.hi - r.lo + 1);
}

/* What is loaded from different places leads to different places, far from each other.  `global`: else each block has others there. */
static void add_places(scanner *s, heddle_reference *r, const traffic_form *place, bool global)
{
	double far = r->size;
	for (int l = 0; l < s->n_loop && s->loop[l].grid && !global; l++) {
		add_digit(r, l, far, s->loop[l].trips);
		far *= s->loop[l].trips;
	}
	for (int i = 0; i < place->n_term; i++) {
		traffic_term one = {place->term[i].atom, 1};
		const traffic_form form = {.n_term = 1, .term = &one};
		const int variable = one.atom->kind == TRAFFIC_VARIABLE ? one.atom->variable : heddle_traffic_widest(&form, &s->box);
		if (variable < 0)
			continue;
		const double n = values_of(s, variable);
		add_digit(r, loop_of(s, variable), far, n);
		far *= n;
	}
}

static void add_term(scanner *s, heddle_reference *r, const traffic_term *term)
{
	if (term->atom->kind == TRAFFIC_VARIABLE) {
		add_digit(r, loop_of(s, term->atom->variable), (double)term->by, values_of(s, term->atom->variable));
		return;
	}
	if (term->atom->kind == TRAFFIC_DATA && term->atom->arg[0]) {
		add_places(s, r, term->atom->arg[0], term->atom->variable == 0);
		return;
	}
	traffic_term one = {term->atom, 1};
	const traffic_form form = {.n_term = 1, .term = &one};
	const traffic_range range = heddle_traffic_range(&form, &s->box);
	const int variable = heddle_traffic_widest(&form, &s->box);
	if (range.hi >= TRAFFIC_BIG || range.lo <= -TRAFFIC_BIG) {
		r->indirect = true;
		return;
	}
	add_digit(r, variable >= 0 ? loop_of(s, variable) : -1, (double)term->by, (double)(range.hi - range.lo + 1));
}

/* Dependence on data inside a subscript makes every element of the loops around a place of its own. */
static void add_loops(scanner *s, heddle_reference *r)
{
	for (int l = r->loop; l >= 0; l = s->loop[l].parent)
		add_digit(r, l, s->line, s->loop[l].trips);
	add_digit(r, -1, s->line, s->m->launch->threads);
}

static double array_bytes(const scanner *s, const heddle_buffer *buffer)
{
	double bytes = heddle_type_size(buffer->type) * buffer->width;
	int64_t extent;
	for (int i = 0; i < buffer->rank; i++)
		bytes *= heddle_value_evaluate(buffer->extent[i], s->m->regions.reader.size, &extent) == 0 ? (double)extent : 1;
	if (buffer->stride && buffer->rank && heddle_value_evaluate(buffer->stride[0], s->m->regions.reader.size, &extent) == 0) {
		int64_t rows;
		if (heddle_value_evaluate(buffer->extent[0], s->m->regions.reader.size, &rows) == 0)
			bytes = fmax(bytes, (double)(rows * extent) * heddle_type_size(buffer->type));
	}
	return bytes;
}

static double iterations(const scanner *s, int loop)
{
	double n = 1;
	for (; loop >= 0; loop = s->loop[loop].parent)
		n *= s->loop[loop].grid ? 1 : s->loop[loop].trips;
	return n;
}

static bool is_streamed(const scanner *s, const heddle_region_access *access)
{
	for (int i = 0; i < s->m->launch->n_streamed; i++)
		if (s->m->launch->streamed[i] == access->buffer)
			return access->store && access->bytes > heddle_type_size(access->buffer->type);
	return false;
}

static pending *find_pending(scanner *s, const heddle_region_access *access, int loop)
{
	for (int i = 0; i < s->n_pending; i++) {
		pending *p = &s->pending[i];
		if (p->reference.loop == loop && p->buffer == access->buffer->position && p->reference.bytes == access->bytes &&
		    p->store == access->store && same_terms(p->address, access->address))
			return p;
	}
	return NULL;
}

static void add_reference(scanner *s, const heddle_region *region, const heddle_region_access *access, const int64_t *constant, int n,
			  int loop)
{
	const double all = s->m->load->blocks * s->m->launch->threads * iterations(s, loop);
	pending *p = find_pending(s, access, loop);
	const double times = fmin(1, (double)region->executed / all);
	if (times < RARE || (!p && s->n_pending == MOST_REFERENCES))
		return;
	if (!p) {
		p = &s->pending[s->n_pending++];
		*p = (pending){.address = access->address, .buffer = access->buffer->position, .store = access->store};
		p->reference = (heddle_reference){.loop = loop, .array = access->buffer->position, .bytes = access->bytes,
						  .size = array_bytes(s, access->buffer)};
		for (int t = 0; t < access->address->n_term; t++)
			add_term(s, &p->reference, &access->address->term[t]);
		if (p->reference.indirect)
			add_loops(s, &p->reference);
	}
	p->reference.times = fmax(p->reference.times, times);
	p->reference.ahead = p->reference.ahead || access->ahead;
	p->reference.streamed = is_streamed(s, access);
	for (int i = 0; i < n; i++)
		HEDDLE_PUSH(s->arena, p->constant, p->n, constant[i]);
}

/* A region, and the loops around it. */
typedef struct frame {
	const struct frame *outer;
	const heddle_region *region; /* FOR */
} frame;

static bool form_has(const traffic_form *form, int variable)
{
	bool found = false;
	for (int i = 0; i < form->n_term && !found; i++) {
		const traffic_atom *atom = form->term[i].atom;
		found = atom->kind != TRAFFIC_VARIABLE || atom->variable == variable; /* of others nothing is said */
	}
	return found;
}

/* Is each access of the array in the region at a place that the loop does not change?  *conditions: sides of conditions with such accesses
 * are added. */
static bool stays(const heddle_region *region, const heddle_buffer *array, int variable, int *conditions)
{
	bool all = true;
	for (int i = 0; i < region->n_access && all; i++)
		all = region->access[i].buffer != array || !form_has(region->access[i].address, variable);
	for (int c = 0; c < region->n_child && all; c++) {
		const heddle_region *child = region->child[c];
		bool any = false;
		for (int i = 0; i < child->n_access && region->kind == HEDDLE_REGION_IF; i++)
			any = any || child->access[i].buffer == array;
		*conditions += any;
		all = stays(child, array, variable, conditions);
	}
	return all;
}

/* A compiler makes a loop of its own for each side of a few conditions that the loop does not change; with more of them it leaves in
 * memory what is accessed under them. */
static bool stays_in_registers(const heddle_region *loop, const heddle_buffer *array)
{
	enum { FEW = 2 };
	int conditions = 0;
	return stays(loop, array, loop->variable, &conditions) && conditions <= FEW;
}

/* How often the access of `vectors` is one: a compiler keeps in registers what stays in place in a loop, of a thread's own memory or of what
 * the launch only reads, if there are enough beside operands; it loads them before and stores them after the loop. */
static uint64_t moved(const scanner *s, const heddle_region *region, const heddle_region_access *access, double vectors, const frame *around)
{
	const double sums = 0.75; /* of the registers, at most */
	const heddle_quantity *registers = &s->m->descriptor->vector_registers;
	const bool own = heddle_buffer_space(access->buffer) == HEDDLE_SPACE_REGISTER;
	uint64_t executed = region->executed;
	if (!own && !measure_is_constant(s->m, access->buffer))
		return executed;
	if (registers->set && vectors > sums * registers->value)
		return executed;
	for (; around && (own ? stays_in_registers(around->region, access->buffer) : !form_has(access->address, around->region->variable));
	     around = around->outer)
		executed = around->region->executed < executed ? around->region->executed : executed;
	return executed;
}

static void count_accesses(scanner *s, const heddle_region *region, int loop, const frame *around)
{
	heddle_load *load = s->m->load;
	bool *done = HEDDLE_NEW_ARRAY(s->arena, bool, region->n_access + 1);
	int64_t *constant = HEDDLE_NEW_ARRAY(s->arena, int64_t, region->n_access + 1);
	for (int i = 0; i < region->n_access; i++) {
		const heddle_region_access *access = &region->access[i];
		const heddle_space space = heddle_buffer_space(access->buffer);
		if (done[i])
			continue;
		const int n = constants_of(region, i, done, constant);
		const double parts = ceil((double)access->bytes / s->m->vector_bytes);
		const double requests = measure_per_block(s->m, moved(s, region, access, n * parts, around)) * n;
		load->instruction[measure_access(access->buffer, access->store)] += requests * parts * (access->ahead ? 2 : 1);
		if (space == HEDDLE_SPACE_GLOBAL && !access->store)
			s->m->loaded += (double)region->executed / (load->blocks * s->m->launch->threads) * n * access->bytes;
		if (space == HEDDLE_SPACE_GLOBAL && is_streamed(s, access))
			load->streamed += requests * access->bytes;
		if ((space == HEDDLE_SPACE_GLOBAL || space == HEDDLE_SPACE_SHARED) && !s->m->simd)
			measure_requests(s->m, &s->box, access, requests);
		if (space == HEDDLE_SPACE_GLOBAL || s->m->simd)
			add_reference(s, region, access, constant, n, loop);
	}
}

/* ---- loops ----------------------------------------------------------------------------------------------------------------------- */

static int add_loop(scanner *s, int parent, bool grid, double trips)
{
	const heddle_reuse_loop loop = {parent, grid, trips};
	HEDDLE_PUSH(s->arena, s->loop, s->n_loop, loop);
	return s->n_loop - 1;
}

static void add_copy(scanner *s, const heddle_region *region)
{
	const double bytes = (double)region->executed * (double)region->by / s->m->load->blocks;
	const heddle_transfer transfer = heddle_descriptor_transfer(s->m->descriptor);
	s->m->load->sectors += bytes / transfer.sector;
	s->m->load->cache_cycles += bytes / transfer.line / transfer.lines;
}

static void scan(scanner *s, const heddle_region *region, int loop, const frame *around)
{
	const frame own = {around, region};
	if (region->executed == 0)
		return;
	count_accesses(s, region, loop, around);
	if (region->kind == HEDDLE_REGION_COPY)
		add_copy(s, region);
	if (region->kind == HEDDLE_REGION_FOR) {
		loop = add_loop(s, loop, false, (double)region->child[0]->executed / (double)region->executed);
		s->loop_of[region->variable] = loop;
		s->box.range[region->variable] = (traffic_range){0, (int64_t)ceil(s->loop[loop].trips) - 1};
	}
	for (int i = 0; i < region->n_child; i++)
		scan(s, region->child[i], loop, region->kind == HEDDLE_REGION_FOR ? &own : around);
}

static int grid_loops(scanner *s)
{
	const traffic_id *block = &s->m->regions.reader.block;
	int loop = -1;
	for (int d = block->n_digit - 1; d >= 0; d--) {
		const int64_t n = block->weight[d + 1] / block->weight[d];
		loop = n > 1 ? add_loop(s, loop, true, (double)n) : loop;
		s->loop_of[block->first + d] = n > 1 ? loop : -1;
	}
	return loop;
}

/* Do two references to one array touch common data in a block?  Their boxes do if the way from one's first element to the other's is made of
 * the first one's strides. */
static bool coincide(const scanner *s, const pending *a, const pending *b)
{
	const heddle_reference *r = &a->reference;
	bool used[HEDDLE_REFERENCE_DIGITS] = {false};
	const double way = fabs((double)(b->constant[0] - a->constant[0]));
	double rest = way, box = r->bytes;
	for (int i = 0; i < r->n_digit; i++) {
		int widest = -1;
		for (int d = 0; d < r->n_digit; d++)
			if (!used[d] && (r->digit[d].loop < 0 || !s->loop[r->digit[d].loop].grid) &&
			    (widest < 0 || fabs(r->digit[d].stride) > fabs(r->digit[widest].stride)))
				widest = d;
		if (widest < 0)
			break;
		used[widest] = true;
		const double stride = fabs(r->digit[widest].stride);
		rest -= stride * fmin(floor(rest / stride), r->digit[widest].extent - 1);
		box += stride * (r->digit[widest].extent - 1);
	}
	return (rest < fmax(r->bytes, s->line) && way < box) || r->indirect || b->reference.indirect;
}

/* References that touch no common data count as ones to arrays of their own. */
static void separate(scanner *s)
{
	for (int i = 0; i < s->n_pending; i++) {
		heddle_reference *r = &s->pending[i].reference;
		const int buffer = r->array;
		for (int j = 0; j < i && r->array == buffer; j++)
			if (s->pending[j].buffer == buffer && coincide(s, &s->pending[j], &s->pending[i]))
				r->array = s->pending[j].reference.array;
		if (r->array == buffer)
			r->array = s->m->program->n_buffer + i;
	}
}

static bool is_loaded(const scanner *s, int buffer)
{
	bool any = false;
	for (int i = 0; i < s->n_pending && !any; i++)
		any = s->pending[i].buffer == buffer && !s->pending[i].store;
	return any;
}

/* Bytes that an average block stores to global memory: of all arrays, or of those that it reads as well. */
static double stored_bytes(const scanner *s, bool updated)
{
	heddle_reference *stores = HEDDLE_NEW_ARRAY(s->arena, heddle_reference, MOST_REFERENCES);
	int n = 0;
	for (int i = 0; i < s->n_pending; i++) {
		const pending *p = &s->pending[i];
		if (p->store && heddle_buffer_space(s->m->program->buffer[p->buffer]) == HEDDLE_SPACE_GLOBAL &&
		    (!updated || is_loaded(s, p->buffer)))
			stores[n++] = p->reference;
	}
	return heddle_reuse_average(s->loop, s->n_loop, stores, n, s->line);
}

static void finish(scanner *s)
{
	heddle_reference *all = HEDDLE_NEW_ARRAY(s->arena, heddle_reference, MOST_REFERENCES);
	for (int i = 0; i < s->n_pending; i++) {
		pending *p = &s->pending[i];
		p->n = distinct_constants(p->constant, p->n);
		add_constants(&p->reference, p->constant, p->n);
	}
	separate(s);
	for (int i = 0; i < s->n_pending; i++)
		for (int j = 0; j < s->n_pending && !s->pending[i].reference.ahead; j++)
			s->pending[i].reference.ahead = s->pending[j].reference.ahead && s->pending[j].reference.array == s->pending[i].reference.array;
	for (int i = 0; i < s->n_pending; i++)
		all[i] = s->pending[i].reference;
	s->m->load->stored = stored_bytes(s, false);
	s->m->load->updated = stored_bytes(s, true);
	const heddle_transfer transfer = heddle_descriptor_transfer(s->m->descriptor);
	heddle_reuse(s->m->load, s->loop, s->n_loop, all, s->n_pending, s->line, &transfer);
}

void measure_memory(measurer *m)
{
	const heddle_memory *memory = heddle_descriptor_memory(m->descriptor, "global");
	scanner s = {.m = m, .arena = m->regions.reader.arena, .box = m->regions.reader.box};
	const int n = m->regions.reader.n_variable;
	const double sector = heddle_descriptor_transfer(m->descriptor).sector;
	s.line = m->simd && memory && memory->line.set ? memory->line.value : sector;
	s.loop_of = HEDDLE_NEW_ARRAY(s.arena, int, n + 1);
	s.pending = HEDDLE_NEW_ARRAY(s.arena, pending, MOST_REFERENCES);
	for (int i = 0; i < n; i++)
		s.loop_of[i] = -1;
	scan(&s, m->regions.body, grid_loops(&s), NULL);
	finish(&s);
}
