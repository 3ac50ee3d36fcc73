/* Loads, stores and asynchronous copies of the interpreter.
 * SPDX-License-Identifier: MIT
 */
#include "harness/interpret_machine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- moving data ------------------------------------------------------------------------------------------------------------------------ */

/* Lanes lo .. hi of member j from memory; lanes that take no part read some element inside the buffer. */
#define FETCH(stored, lane, expression)                                                                                \
	{                                                                                                              \
		const stored *s = (const stored *)mem->data;                                                           \
		lane *d = result;                                                                                      \
		for (int l = lo; l < hi; l++) {                                                                        \
			stored x = s[m->offset[l] + j];                                                                \
			d[l] = (expression);                                                                           \
		}                                                                                                      \
		break;                                                                                                 \
	}

static void fetch(const machine *m, const memory *mem, void *result, int j, int lo, int hi)
{
	switch (mem->buffer->type) {
	case HEDDLE_BOOL: FETCH(uint8_t, int64_t, x != 0)
	case HEDDLE_INT8: FETCH(int8_t, int64_t, x)
	case HEDDLE_INT16: FETCH(int16_t, int64_t, x)
	case HEDDLE_INT32: FETCH(int32_t, int64_t, x)
	case HEDDLE_INT64: FETCH(int64_t, int64_t, x)
	case HEDDLE_UINT8: FETCH(uint8_t, int64_t, x)
	case HEDDLE_UINT16: FETCH(uint16_t, int64_t, x)
	case HEDDLE_UINT32: FETCH(uint32_t, int64_t, x)
	case HEDDLE_UINT64: FETCH(uint64_t, int64_t, (int64_t)x)
	case HEDDLE_FLOAT16: FETCH(uint16_t, float, m->half[x])
	case HEDDLE_BFLOAT16: FETCH(uint16_t, float, heddle_bfloat16_to(x))
	case HEDDLE_FLOAT32: FETCH(float, float, x)
	case HEDDLE_FLOAT64: FETCH(double, double, x)
	default: break;
	}
}

#define PUT(stored, lane, expression)                                                                                  \
	{                                                                                                              \
		stored *s = (stored *)mem->data;                                                                       \
		const lane *d = value;                                                                                 \
		for (int l = k->lo; l < k->hi; l++) {                                                                  \
			if (!active(k, l))                                                                             \
				continue;                                                                              \
			lane x = d[l];                                                                                 \
			s[m->offset[l] + j] = (stored)(expression);                                                    \
		}                                                                                                      \
		break;                                                                                                 \
	}

static void put(const machine *m, const memory *mem, const void *value, int j, const mask *k)
{
	switch (mem->buffer->type) {
	case HEDDLE_BOOL: PUT(uint8_t, int64_t, x != 0)
	case HEDDLE_INT8: PUT(int8_t, int64_t, x)
	case HEDDLE_INT16: PUT(int16_t, int64_t, x)
	case HEDDLE_INT32: PUT(int32_t, int64_t, x)
	case HEDDLE_INT64: PUT(int64_t, int64_t, x)
	case HEDDLE_UINT8: PUT(uint8_t, int64_t, x)
	case HEDDLE_UINT16: PUT(uint16_t, int64_t, x)
	case HEDDLE_UINT32: PUT(uint32_t, int64_t, x)
	case HEDDLE_UINT64: PUT(uint64_t, int64_t, x)
	case HEDDLE_FLOAT16: PUT(uint16_t, float, heddle_machine_float16_from(x))
	case HEDDLE_BFLOAT16: PUT(uint16_t, float, heddle_machine_bfloat16_from(x))
	case HEDDLE_FLOAT32: PUT(float, float, x)
	case HEDDLE_FLOAT64: PUT(double, double, x)
	default: break;
	}
}

/* Cells of one member of a register buffer: one per lane. */
static uint64_t *register_run(const machine *m, const memory *mem, int64_t member)
{
	return (uint64_t *)(void *)mem->data + (size_t)member * (size_t)m->lanes;
}

unsigned char *heddle_machine_register_written(const machine *m, const memory *mem, int64_t member)
{
	return mem->written + (size_t)member * (size_t)m->lanes;
}

static void check_register_written(machine *m, const access *x, const mask *k)
{
	for (int j = 0; j < x->width; j++)
		for (int l = k->lo; l < k->hi; l++)
			if (active(k, l) && !heddle_machine_register_written(m, x->memory, m->offset[l] + j)[l]) {
				heddle_machine_find_uninitialised(m, x, l, m->offset[l] + j, "and was never written");
				return;
			}
}

/* The same register in all lanes: whole runs are copied. */
static void load_register_run(machine *m, const access *x, int64_t member, void *result, const mask *k)
{
	const memory *mem = x->memory;
	const unsigned char *written = heddle_machine_register_written(m, mem, member);
	if (memchr(written + k->lo, 0, (size_t)(k->hi - k->lo)))
		for (int l = k->lo; l < k->hi; l++)
			if (active(k, l) && !written[l]) {
				heddle_machine_find_uninitialised(m, x, l, member, "and was never written");
				break;
			}
	heddle_machine_copy_lanes(mem->class, result, register_run(m, mem, member), NULL, k->lo, k->hi);
}

static void load_register(machine *m, const op *o, const access *x, const mask *k)
{
	const memory *mem = x->memory;
	if (x->scalar) {
		if (!heddle_machine_locate(m, x, k, k->lo, k->lo + 1, "reads"))
			return;
		int64_t first = m->offset[k->lo];
		for (int j = 0; j < x->width; j++)
			load_register_run(m, x, first + j, cells(m, o->d + j * o->a_stride), k);
		return;
	}
	if (!heddle_machine_locate(m, x, k, k->lo, k->hi, "reads"))
		return;
	check_register_written(m, x, k);
	for (int j = 0; j < x->width; j++) {
		void *d = cells(m, o->d + j * o->a_stride);
		for (int l = k->lo; l < k->hi; l++) {
			const uint64_t *run = register_run(m, mem, m->offset[l] + j);
			if (mem->class == CLASS_FLOAT)
				((float *)d)[l] = ((const float *)(const void *)run)[l];
			else
				((uint64_t *)d)[l] = run[l];
		}
	}
}

static void store_register(machine *m, const step *s, const mask *k)
{
	const access *x = s->access;
	const memory *mem = x->memory;
	heddle_type type = mem->buffer->type;
	int at = s->value[0].at;
	if (!heddle_machine_locate(m, x, k, k->lo, x->scalar ? k->lo + 1 : k->hi, "writes"))
		return;
	for (int j = 0; j < x->width; j++) {
		const void *value = cells(m, at < 0 ? at : at + j * m->lanes);
		if (x->scalar && k->dense && type != HEDDLE_FLOAT16 && type != HEDDLE_BFLOAT16) {
			int64_t member = m->offset[k->lo] + j;
			heddle_machine_copy_lanes(mem->class, register_run(m, mem, member), value, NULL, k->lo, k->hi);
			memset(heddle_machine_register_written(m, mem, member) + k->lo, 1, (size_t)(k->hi - k->lo));
			continue;
		}
		for (int l = k->lo; l < k->hi; l++) {
			if (!active(k, l))
				continue;
			int64_t member = m->offset[x->scalar ? k->lo : l] + j;
			uint64_t *run = register_run(m, mem, member);
			if (mem->class == CLASS_FLOAT)
				((float *)(void *)run)[l] = heddle_machine_round_float(m, type, ((const float *)value)[l]);
			else
				run[l] = ((const uint64_t *)value)[l];
			heddle_machine_register_written(m, mem, member)[l] = 1;
		}
	}
}

void heddle_machine_load(machine *m, const op *o, const mask *k)
{
	const access *x = o->access;
	if (x->memory->space == HEDDLE_SPACE_REGISTER) {
		load_register(m, o, x, k);
		heddle_machine_count_access(m, x, k, false);
		return;
	}
	mask one = {k->lane, 0, 1, 1, true};
	const mask *lanes = o->scalar ? &one : k;
	if (!heddle_machine_locate(m, x, lanes, lanes->lo, lanes->hi, "reads"))
		return;
	heddle_machine_check_alignment(m, x, lanes, lanes->lo, lanes->hi);
	heddle_machine_watch(m, x, lanes, false);
	for (int j = 0; j < x->width; j++)
		fetch(m, x->memory, cells(m, o->d + j * o->a_stride), j, lanes->lo, lanes->hi);
	if (o->scalar)
		for (int l = k->lo; l < k->hi; l++)
			m->offset[l] = m->offset[0];
	heddle_machine_count_access(m, x, k, false);
}

void heddle_machine_store(machine *m, const step *s, const mask *k)
{
	const access *x = s->access;
	int at = s->value[0].at;
	if (x->memory->space == HEDDLE_SPACE_REGISTER) {
		store_register(m, s, k);
		heddle_machine_count_access(m, x, k, true);
		return;
	}
	if (!heddle_machine_locate(m, x, k, k->lo, k->hi, "writes"))
		return;
	heddle_machine_check_alignment(m, x, k, k->lo, k->hi);
	heddle_machine_watch(m, x, k, true);
	for (int j = 0; j < x->width; j++)
		put(m, x->memory, cells(m, at < 0 ? at : at + j * m->lanes), j, k);
	heddle_machine_count_access(m, x, k, true);
}

/* ---- asynchronous copies --------------------------------------------------------------------------------------------------- */

static bool same_in_all(const machine *m, const operand *o)
{
	const int64_t *run = cells(m, o->at);
	for (int l = 1; !o->scalar && l < m->lanes; l++)
		if (run[l] != run[0])
			return false;
	return true;
}

static bool all_the_same(const machine *m, const step *s)
{
	bool same = same_in_all(m, &s->value[0]);
	for (int n = 0; n < s->access->n; n++)
		same = same && same_in_all(m, &s->access->subscript[n]);
	for (int n = 0; n < s->source->n; n++)
		same = same && same_in_all(m, &s->source->subscript[n]);
	return same;
}

/* The first of `count` members that one side of a copy touches, -1 after a finding; their shadow is told. */
static int64_t copied_from(machine *m, const access *side, int64_t count, const mask *k, bool write)
{
	access x = *side;
	mask one = {k->lane, 0, 1, 1, true};
	x.width = (int)count;
	if (!heddle_machine_locate(m, &x, &one, 0, 1, write ? "copies to" : "copies from"))
		return -1;
	int64_t first = m->offset[0];
	era e = heddle_machine_era_of(m, x.memory);
	const int lane = COPIER;
	for (int64_t j = first; x.memory->shadow && j < first + count; j++) {
		if (x.memory->owner)
			heddle_machine_watch_granules(m, &x, &e, lane, j, write);
		else if (write)
			heddle_machine_shadow_write(m, &x, &e, &x.memory->shadow[j], lane, j);
		else
			heddle_machine_shadow_read(m, &x, &e, &x.memory->shadow[j], lane, j);
	}
	m->offset[0] = first;
	heddle_machine_count_access(m, &x, &one, write);
	return first;
}

/* What is copied is taken at once and arrives when it is waited for; until then the tile holds nothing that may be read. */
void heddle_machine_copy(machine *m, const step *s, const mask *k)
{
	int64_t count = ((const int64_t *)cells(m, s->value[0].at))[0];
	if (k->count != m->lanes || !all_the_same(m, s)) {
		heddle_machine_find(m, "barrier", s->node->id, s->node->line, first_lane(k),
				    k->count != m->lanes ? "%d of %d threads of the block reach the copy"
							 : "%d of %d threads reach the copy, not all with the same places",
				    k->count, m->lanes);
		m->stop = true;
		return;
	}
	if (count <= 0) {
		if (count < 0)
			heddle_machine_find(m, "bounds", s->node->id, s->node->line, 0, "a copy of %lld elements", (long long)count);
		return;
	}
	int64_t from = copied_from(m, s->source, count, k, false), to = from < 0 ? -1 : copied_from(m, s->access, count, k, true);
	if (to < 0)
		return;
	memory *into = s->access->memory;
	size_t size = (size_t)into->size, bytes = size * (size_t)count;
	if (m->n_pending == m->pending_capacity) {
		m->pending_capacity = m->pending_capacity ? 2 * m->pending_capacity : 16;
		m->pending = heddle_xrealloc(m->pending, sizeof(*m->pending) * (size_t)m->pending_capacity);
	}
	pending_copy *new = &m->pending[m->n_pending++];
	*new = (pending_copy){s->node->name, into, to, count, heddle_xalloc(bytes)};
	memcpy(new->data, s->source->memory->data + (size_t)from * size, bytes);
	memset(into->data + (size_t)to * size, 0xA5, bytes);
	for (int64_t j = to; into->shadow && j < to + count; j++)
		into->shadow[j].writer = COPYING;
}

static void arrive(machine *m, pending_copy *copy, bool in_time)
{
	size_t size = (size_t)copy->memory->size;
	if (in_time)
		memcpy(copy->memory->data + (size_t)copy->first * size, copy->data, size * (size_t)copy->count);
	for (int64_t j = copy->first; copy->memory->shadow && j < copy->first + copy->count; j++) {
		copy->memory->shadow[j].writer = COPIED;
		copy->memory->shadow[j].write_epoch = m->now;
	}
	free(copy->data);
}

void heddle_machine_wait(machine *m, const step *s, const mask *k)
{
	int n = 0;
	if (k->count != m->lanes) {
		heddle_machine_find(m, "barrier", s->node->id, s->node->line, first_lane(k),
				    "%d of %d threads of the block reach the wait", k->count, m->lanes);
		m->stop = true;
	}
	for (int c = 0; c < m->n_pending; c++) {
		if (strcmp(m->pending[c].name, s->node->name))
			m->pending[n++] = m->pending[c];
		else
			arrive(m, &m->pending[c], true);
	}
	m->n_pending = n;
}

/* At the end of a block nothing may be under way. */
void heddle_machine_end_copies(machine *m)
{
	if (m->n_pending && !m->stop)
		heddle_machine_find(m, "race", m->body->node->id, m->body->node->line, 0, "the block ends while a copy to %s is under way",
				    m->pending[0].memory->buffer->name);
	for (int c = 0; c < m->n_pending; c++)
		arrive(m, &m->pending[c], false);
	m->n_pending = 0;
}
