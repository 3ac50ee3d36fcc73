/* The level `interpret`: sets up memory and shadow memory, runs every block of every launch, collects findings and counts.
 * SPDX-License-Identifier: MIT
 */
#include "harness/interpret.h"

#include "harness/interpret_machine.h"

#include <stdlib.h>
#include <string.h>

enum { WRONG_ARRAYS = 771, INTERNAL = 950 };

void heddle_machine_find(machine *m, const char *kind, int node, int line, int thread, const char *format, ...)
{
	heddle_interpret *in = m->in;
	for (int k = 0; k < in->n_finding; k++) {
		const heddle_interpret_finding *f = &in->finding[k];
		if (f->launch == m->position && f->node == node && !strcmp(f->kind, kind))
			return;
	}
	heddle_text text = {0};
	va_list args;
	va_start(args, format);
	heddle_text_vprintf(&text, format, args);
	va_end(args);
	heddle_interpret_finding f = {.kind = kind, .launch = m->position, .node = node, .line = line, .block = m->block,
				      .thread = thread, .text = heddle_arena_strdup(in->arena, heddle_text_str(&text))};
	heddle_text_free(&text);
	HEDDLE_PUSH(in->arena, in->finding, in->n_finding, f);
	if (in->n_finding >= in->max_findings)
		m->stop = true;
}

/* ---- memory -------------------------------------------------------------------------------------------------------------- */

static bool is_argument(heddle_buffer_role role)
{
	return role == HEDDLE_BUFFER_INPUT || role == HEDDLE_BUFFER_OUTPUT || role == HEDDLE_BUFFER_INOUT ||
	       role == HEDDLE_BUFFER_SCALAR;
}

static int64_t evaluate(machine *m, const heddle_value *v, const char *what)
{
	int64_t i = 0;
	if (heddle_value_evaluate(v, m->in->size, &i) < 0) {
		heddle_error(m->ctx, INTERNAL, NULL, "program %s: %s cannot be evaluated", m->p->name, what);
		m->broken = true;
	}
	return i;
}

/* Of the element with row-major number `number`. */
static int64_t strided_offset(const memory *mem, int64_t number)
{
	int64_t offset = 0;
	for (int k = mem->buffer->rank - 1; k >= 0; k--) {
		offset += number % mem->extent[k] * mem->stride[k];
		number /= mem->extent[k];
	}
	return offset;
}

/* Declared strides: elements from the first to the last, and which of them are none. */
static void measure_strides(machine *m, memory *mem)
{
	const heddle_buffer *buffer = mem->buffer;
	int64_t span = 1, count = 1;
	for (int k = 0; k < buffer->rank; k++) {
		mem->stride[k] = evaluate(m, buffer->stride[k], "a stride");
		count *= mem->extent[k];
		if (mem->stride[k] < 0 || __builtin_mul_overflow(mem->stride[k], mem->extent[k] - 1, &span) || span > INT32_MAX) {
			heddle_error(m->ctx, WRONG_ARRAYS, NULL, "%s has a stride of %lld", buffer->name, (long long)mem->stride[k]);
			m->broken = true;
			return;
		}
	}
	span = 1;
	for (int k = 0; k < buffer->rank; k++)
		span += mem->stride[k] * (mem->extent[k] - 1);
	mem->total = count ? span : 0;
	if (count >= mem->total)
		return;
	mem->hole = heddle_xalloc((size_t)mem->total);
	memset(mem->hole, 1, (size_t)mem->total);
	for (int64_t k = 0; k < count; k++)
		mem->hole[strided_offset(mem, k)] = 0;
}

static void measure_memory(machine *m, memory *mem)
{
	const heddle_buffer *buffer = mem->buffer;
	if (buffer->rank > MAX_SUBSCRIPTS) {
		heddle_error(m->ctx, INTERNAL, NULL, "program %s: %s has rank %d", m->p->name, buffer->name, buffer->rank);
		m->broken = true;
		return;
	}
	mem->total = 1;
	for (int k = buffer->rank - 1; k >= 0; k--) {
		mem->extent[k] = evaluate(m, buffer->extent[k], "an extent");
		mem->extent[k] = mem->extent[k] < 0 ? 0 : mem->extent[k];
		mem->stride[k] = mem->total;
		mem->total *= mem->extent[k] + (k == buffer->rank - 1 ? buffer->pad : 0);
	}
	if (buffer->stride)
		measure_strides(m, mem);
	mem->members = mem->total * buffer->width;
}

/* Is the array what the program and the sizes ask for? */
static bool check_array(machine *m, const memory *mem)
{
	const heddle_buffer *buffer = mem->buffer;
	const heddle_array *array = m->in->array[buffer->position];
	bool right = array && array->type == buffer->type && array->rank == buffer->rank;
	for (int k = 0; right && k < buffer->rank; k++)
		right = array->shape[k] == mem->extent[k];
	if (right)
		return true;
	heddle_error(m->ctx, WRONG_ARRAYS, NULL, "%s needs an array of its type and shape", buffer->name);
	m->broken = true;
	return false;
}

static size_t at_least_one(int64_t n)
{
	return n > 0 ? (size_t)n : 1;
}

static void *zeroed(size_t bytes)
{
	return memset(heddle_xalloc(bytes), 0, bytes);
}

/* Every element between an array and its copy in the layout of the program. */
static void copy_elements(memory *mem, bool back)
{
	heddle_array *array = mem->copy_of;
	int64_t n = heddle_array_count(array);
	for (int64_t k = 0; k < n; k++) {
		unsigned char *at = array->data + heddle_array_offset(array, k) * mem->size;
		unsigned char *own = mem->data + (mem->buffer->stride ? strided_offset(mem, k) : k) * mem->size;
		memcpy(back ? at : own, back ? own : at, (size_t)mem->size);
	}
}

static void open_argument(machine *m, memory *mem)
{
	heddle_buffer_role role = mem->buffer->role;
	if (!check_array(m, mem) || role == HEDDLE_BUFFER_SCALAR)
		return;
	heddle_array *array = m->in->array[mem->buffer->position];
	if (heddle_array_is_dense(array) && !mem->buffer->stride) {
		mem->data = array->data;
	} else {
		mem->copy_of = array;
		mem->data = zeroed(at_least_one(mem->members * mem->size));
		copy_elements(mem, false);
	}
	if (role == HEDDLE_BUFFER_INPUT)
		return;
	mem->granules = 1;
	mem->shadow = zeroed(at_least_one(mem->members) * sizeof(shadow));
	if (role == HEDDLE_BUFFER_INOUT)
		for (int64_t k = 0; k < mem->members; k++)
			mem->shadow[k].write_epoch = 1;
}

/* The workspace is real, so that temporaries whose lives overlap show: granules are the least element size and alignment. */
static void open_workspace(machine *m)
{
	const heddle_program *p = m->p;
	int64_t need = evaluate(m, p->workspace, "the workspace");
	m->granule = 8;
	for (int k = 0; k < p->n_buffer; k++) {
		memory *mem = &m->memory[k];
		if (mem->buffer->role != HEDDLE_BUFFER_TEMPORARY)
			continue;
		int64_t offset = evaluate(m, mem->buffer->offset, "an offset");
		while (m->granule > mem->size || offset % m->granule)
			m->granule /= 2;
		int64_t end = offset + mem->members * mem->size;
		if (offset < 0 || end > need || offset % mem->buffer->align)
			heddle_machine_find(m, "workspace", -1, 0, 0,
					    "%s lies at bytes %lld .. %lld of a workspace of %lld, aligned to %d",
					    mem->buffer->name, (long long)offset, (long long)end, (long long)need,
					    mem->buffer->align);
		m->workspace_bytes = end > m->workspace_bytes ? end : m->workspace_bytes;
	}
	if (!m->workspace_bytes || m->broken || m->in->n_finding)
		return;
	size_t granules = (size_t)(m->workspace_bytes / m->granule + 1);
	m->workspace = heddle_xalloc(granules * (size_t)m->granule);
	memset(m->workspace, 0xA5, granules * (size_t)m->granule);
	m->workspace_shadow = zeroed(granules * sizeof(shadow));
	m->workspace_owner = zeroed(granules * sizeof(uint16_t));
	for (int k = 0; k < p->n_buffer; k++) {
		memory *mem = &m->memory[k];
		if (mem->buffer->role != HEDDLE_BUFFER_TEMPORARY)
			continue;
		int64_t offset = evaluate(m, mem->buffer->offset, "an offset");
		mem->data = m->workspace + offset;
		mem->shadow = m->workspace_shadow + offset / m->granule;
		mem->owner = m->workspace_owner + offset / m->granule;
		mem->granules = mem->size / m->granule;
	}
}

static void open_memory(machine *m)
{
	const heddle_program *p = m->p;
	m->memory = zeroed(sizeof(memory) * (size_t)(p->n_buffer + 1));
	for (int k = 0; k < p->n_buffer && !m->broken; k++) {
		memory *mem = &m->memory[k];
		heddle_buffer_role role = p->buffer[k]->role;
		mem->buffer = p->buffer[k];
		mem->class = class_of(mem->buffer->type);
		mem->size = heddle_type_size(mem->buffer->type);
		mem->space = role == HEDDLE_BUFFER_SHARED     ? HEDDLE_SPACE_SHARED
			     : role == HEDDLE_BUFFER_REGISTER ? HEDDLE_SPACE_REGISTER
							      : HEDDLE_SPACE_GLOBAL;
		measure_memory(m, mem);
		if (!m->broken && is_argument(role))
			open_argument(m, mem);
	}
	if (!m->broken)
		open_workspace(m);
	if (!m->broken) {
		m->half = heddle_xalloc(sizeof(float) << 16);
		for (uint32_t bits = 0; bits < 1u << 16; bits++)
			m->half[bits] = heddle_float16_to((uint16_t)bits);
	}
}

/* Shared and register memory of a launch. */
static void open_local(machine *m, int lanes)
{
	for (int k = 0; k < m->p->n_buffer; k++) {
		memory *mem = &m->memory[k];
		mem->traffic = &m->count->buffer[k];
		if (mem->space == HEDDLE_SPACE_SHARED) {
			mem->granules = 1;
			mem->data = heddle_xalloc(at_least_one(mem->members * mem->size));
			memset(mem->data, 0xA5, at_least_one(mem->members * mem->size));
			mem->shadow = zeroed(at_least_one(mem->members) * sizeof(shadow));
		} else if (mem->space == HEDDLE_SPACE_REGISTER) {
			size_t n = at_least_one(mem->members * lanes);
			mem->data = zeroed(n * sizeof(uint64_t));
			mem->written = zeroed(n);
		}
	}
}

static void close_local(machine *m)
{
	for (int k = 0; k < m->p->n_buffer; k++) {
		memory *mem = &m->memory[k];
		if (mem->space == HEDDLE_SPACE_GLOBAL)
			continue;
		free(mem->data);
		free(mem->shadow);
		free(mem->written);
		mem->data = mem->written = NULL;
		mem->shadow = NULL;
	}
}

static void close_memory(machine *m)
{
	for (int k = 0; m->memory && k < m->p->n_buffer; k++) {
		memory *mem = &m->memory[k];
		if (!mem->buffer || !is_argument(mem->buffer->role))
			continue;
		if (mem->shadow && m->in->unwritten)
			for (int64_t n = 0; n < mem->members; n++)
				m->in->unwritten[k] += mem->shadow[n].write_epoch == 0 && !(mem->hole && mem->hole[n]);
		if (mem->copy_of) {
			if (mem->buffer->role != HEDDLE_BUFFER_INPUT)
				copy_elements(mem, true);
			free(mem->data);
		}
		free(mem->shadow);
		free(mem->hole);
	}
	free(m->memory);
	free(m->workspace);
	free(m->workspace_shadow);
	free(m->workspace_owner);
	free(m->half);
	free(m->pending);
}

/* ---- launches ------------------------------------------------------------------------------------------------------------- */

/* The blocks 0 .. n in an order that `seed` gives. */
static int64_t *shuffled(int64_t n, uint64_t seed)
{
	int64_t *order = heddle_xalloc(sizeof(*order) * at_least_one(n));
	for (int64_t k = 0; k < n; k++)
		order[k] = k;
	for (int64_t k = n - 1; k > 0; k--) {
		int64_t j = (int64_t)(heddle_random(seed, (uint64_t)k) % (uint64_t)(k + 1)), kept = order[k];
		order[k] = order[j];
		order[j] = kept;
	}
	return order;
}

static int count_nodes(const heddle_node *node)
{
	int n = 1;
	for (int k = 0; k < node->n_child; k++)
		n += count_nodes(node->child[k]);
	return n;
}

static void open_counts(machine *m, const heddle_launch *launch)
{
	heddle_arena *arena = m->in->arena;
	m->count = &m->in->launch[m->position];
	m->count->n_node = count_nodes(launch->body);
	m->count->runs = HEDDLE_NEW_ARRAY(arena, uint64_t, m->count->n_node);
	m->count->lanes = HEDDLE_NEW_ARRAY(arena, uint64_t, m->count->n_node);
	m->count->buffer = HEDDLE_NEW_ARRAY(arena, heddle_interpret_traffic, m->p->n_buffer + 1);
}

static void close_launch(machine *m)
{
	close_local(m);
	free(m->op);
	free(m->cell);
	free(m->pool);
	free(m->masks);
	free(m->offset);
	m->op = NULL;
	m->op_capacity = 0;
	m->cell = m->pool = NULL;
	m->masks = NULL;
	m->offset = NULL;
	m->arena = heddle_arena_free(m->arena);
}

static void run_launch(machine *m, const heddle_launch *launch)
{
	int64_t blocks = evaluate(m, launch->grid, "a grid");
	if (m->broken)
		return;
	open_counts(m, launch);
	if (blocks > INT32_MAX || launch->threads > MAX_LANES) {
		heddle_error(m->ctx, INTERNAL, NULL, "launch %s has %lld blocks of %d threads", launch->name,
			     (long long)blocks, launch->threads);
		m->broken = true;
		return;
	}
	m->warp = m->in->warp ? m->in->warp : m->p->warp > 1 ? m->p->warp : launch->threads > 1 ? 32 : 1;
	m->launch_start = m->now + 1;
	m->block = 0;
	m->arena = heddle_arena_new();
	open_local(m, launch->threads);
	if (heddle_machine_compile(m, launch) == 0 && blocks > 0) {
		int64_t *order = shuffled(blocks, m->in->seed + (uint64_t)m->position);
		for (int64_t k = 0; k < blocks && !m->stop; k++) {
			m->block = order[k];
			heddle_machine_block(m);
		}
		free(order);
	}
	close_launch(m);
}

static bool holds(machine *m)
{
	for (int k = 0; k < m->p->n_precondition; k++)
		if (!evaluate(m, m->p->precondition[k], "a precondition") && !m->broken) {
			heddle_text text = {0};
			heddle_value_print(m->p->precondition[k], &text);
			heddle_machine_find(m, "precondition", -1, 0, 0, "the sizes break %s", heddle_text_str(&text));
			heddle_text_free(&text);
			return false;
		}
	return !m->broken;
}

int heddle_interpret_run(heddle_ctx *ctx, heddle_interpret *in)
{
	const heddle_program *p = in->program;
	machine m = {.ctx = ctx, .in = in, .p = p, .position = -1, .now = 1};

	in->max_operations = in->max_operations ? in->max_operations : 20000000000u;
	in->max_findings = in->max_findings > 0 ? in->max_findings : 16;
	in->n_finding = 0;
	in->finding = NULL;
	in->operations = 0;
	in->launch = HEDDLE_NEW_ARRAY(in->arena, heddle_interpret_launch, p->n_launch + 1);
	in->unwritten = HEDDLE_NEW_ARRAY(in->arena, int64_t, p->n_buffer + 1);
	m.deadline = heddle_now() + (in->timeout > 0 ? in->timeout : 60);
	open_memory(&m);
	if (!m.broken && !in->n_finding && holds(&m))
		for (m.position = 0; m.position < p->n_launch && !m.stop && !m.broken; m.position++)
			run_launch(&m, p->launch[m.position]);
	close_memory(&m);
	return m.broken ? -1 : 0;
}
