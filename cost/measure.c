/* A launch of a program to a load: instructions by class.
 * SPDX-License-Identifier: MIT
 */
#include "cost/measure_parts.h"

#include <math.h>
#include <string.h>

enum {
	DIVISION = 4,	/* instructions of an integer division by a constant: multiply, shift, correct */
	PROPAGATING = 3, /* of a minimum that propagates NaN: compare, choose, choose again */
	GENERATOR = 20, /* and of one call of the counter-based random builtin */
};

double measure_per_block(const measurer *m, uint64_t executed)
{
	const double warp = m->descriptor->warp.set ? m->descriptor->warp.value : 1, threads = m->launch->threads;
	return m->load->blocks > 0 ? (double)executed / (m->load->blocks * threads) * ceil(threads / warp) : 0;
}

double measure_native(const measurer *m, heddle_type type, int width)
{
	const int bytes = width * heddle_type_size(heddle_type_computed(type));
	if (!m->simd)
		return width;
	return width > 1 && bytes > m->vector_bytes ? (double)bytes / m->vector_bytes : 1;
}

heddle_instruction measure_access(const heddle_buffer *buffer, bool store)
{
	switch (heddle_buffer_space(buffer)) {
	case HEDDLE_SPACE_GLOBAL: return store ? HEDDLE_INSTRUCTION_GLOBAL_STORE : HEDDLE_INSTRUCTION_GLOBAL_LOAD;
	case HEDDLE_SPACE_SHARED: return store ? HEDDLE_INSTRUCTION_SHARED_STORE : HEDDLE_INSTRUCTION_SHARED_LOAD;
	case HEDDLE_SPACE_REGISTER:
	case HEDDLE_N_SPACE: break;
	}
	return HEDDLE_INSTRUCTION_STACK;
}

static heddle_instruction arithmetic(heddle_type type)
{
	return type == HEDDLE_FLOAT64 ? HEDDLE_INSTRUCTION_FMA64 : HEDDLE_INSTRUCTION_FMA;
}

static double binary(const measurer *m, const heddle_value *v, heddle_instruction *which)
{
	const heddle_type type = v->arg[0]->type;
	const double n = measure_native(m, type, v->width);
	const bool division = v->op == HEDDLE_OP_DIV || v->op == HEDDLE_OP_MOD;
	if (!heddle_type_is_float(type)) {
		*which = HEDDLE_INSTRUCTION_INTEGER;
		return division ? DIVISION * n : n;
	}
	*which = division ? HEDDLE_INSTRUCTION_SPECIAL
		 : v->op == HEDDLE_OP_ADD || v->op == HEDDLE_OP_SUB || v->op == HEDDLE_OP_MUL ? arithmetic(type)
		 : HEDDLE_INSTRUCTION_FLOAT;
	return v->op == HEDDLE_OP_MIN || v->op == HEDDLE_OP_MAX ? PROPAGATING * n : n;
}

static double call(const measurer *m, const heddle_value *v, heddle_instruction *which)
{
	const heddle_builtin *builtin = &heddle_builtins[v->i];
	*which = builtin->integer ? HEDDLE_INSTRUCTION_INTEGER : builtin->plain ? HEDDLE_INSTRUCTION_FLOAT : HEDDLE_INSTRUCTION_SPECIAL;
	return (builtin->integer ? GENERATOR : 1) * measure_native(m, v->type, v->width);
}

/* Lanes move: compilers of simt chips rename registers instead. */
static double permutation(const measurer *m, const heddle_value *v, heddle_instruction *which)
{
	*which = HEDDLE_INSTRUCTION_PERMUTE;
	if (!m->simd)
		return 0;
	switch (v->kind) {
	case HEDDLE_VALUE_SPLAT: /* a broadcast is a part of the load, or of the extraction */
		return v->arg[0]->kind == HEDDLE_VALUE_LOAD || v->arg[0]->kind == HEDDLE_VALUE_VARIABLE || v->arg[0]->kind == HEDDLE_VALUE_EXTRACT ? 0 : 1;
	case HEDDLE_VALUE_BUILD: return v->width;
	default: return measure_native(m, v->type, v->width);
	}
}

double measure_operation(const measurer *m, const heddle_value *v, heddle_instruction *which)
{
	switch (v->kind) {
	case HEDDLE_VALUE_UNARY:
		*which = heddle_type_is_float(v->type) ? HEDDLE_INSTRUCTION_FLOAT : HEDDLE_INSTRUCTION_INTEGER;
		return measure_native(m, v->type, v->width);
	case HEDDLE_VALUE_BINARY: return binary(m, v, which);
	case HEDDLE_VALUE_FMA: *which = arithmetic(v->type); return measure_native(m, v->type, v->width);
	case HEDDLE_VALUE_FLOOR_DIV:
	case HEDDLE_VALUE_FLOOR_MOD: *which = HEDDLE_INSTRUCTION_INTEGER; return DIVISION * measure_native(m, v->type, v->width);
	case HEDDLE_VALUE_SELECT: *which = HEDDLE_INSTRUCTION_FLOAT; return measure_native(m, v->type, v->width);
	case HEDDLE_VALUE_CAST:
		*which = HEDDLE_INSTRUCTION_CONVERT;
		return heddle_type_is_float(v->type) || heddle_type_is_float(v->arg[0]->type) ? measure_native(m, v->type, v->width) : 0;
	case HEDDLE_VALUE_CALL: return call(m, v, which);
	case HEDDLE_VALUE_SPLAT:
	case HEDDLE_VALUE_EXTRACT:
	case HEDDLE_VALUE_BUILD:
	case HEDDLE_VALUE_ZIP:
	case HEDDLE_VALUE_UNZIP: return permutation(m, v, which);
	case HEDDLE_VALUE_REDUCE:
		*which = m->simd ? HEDDLE_INSTRUCTION_PERMUTE : arithmetic(v->type);
		return m->simd ? 2 * log2(v->arg[0]->width) : v->arg[0]->width - 1;
	case HEDDLE_VALUE_SHUFFLE: *which = HEDDLE_INSTRUCTION_SHUFFLE; return v->width;
	case HEDDLE_VALUE_INT:
	case HEDDLE_VALUE_FLOAT:
	case HEDDLE_VALUE_VARIABLE:
	case HEDDLE_VALUE_BLOCK:
	case HEDDLE_VALUE_THREAD:
	case HEDDLE_VALUE_SIZE:
	case HEDDLE_VALUE_LOAD: break;
	}
	return 0;
}

const heddle_region *measure_region(const heddle_region *from, const heddle_node *node)
{
	const heddle_region *found = from->node == node ? from : NULL;
	for (int i = 0; i < from->n_child && !found; i++)
		found = measure_region(from->child[i], node);
	return found;
}

static void find_written(measurer *m, const heddle_region *region)
{
	for (int i = 0; i < region->n_access; i++)
		m->written[region->access[i].buffer->position] |= region->access[i].store;
	for (int i = 0; i < region->n_child; i++)
		find_written(m, region->child[i]);
}

bool measure_is_constant(const measurer *m, const heddle_buffer *buffer)
{
	return heddle_buffer_space(buffer) == HEDDLE_SPACE_GLOBAL && !m->written[buffer->position];
}

static double bytes_of(const heddle_buffer *buffer)
{
	double bytes = heddle_type_size(buffer->type) * buffer->width;
	for (int i = 0; i < buffer->rank; i++)
		bytes *= (double)(buffer->extent[i]->i + (i == buffer->rank - 1 ? buffer->pad : 0));
	return bytes;
}

static void add_work(const heddle_region *region, double *all, double *first)
{
	*all += (double)region->executed * (region->n_value + region->n_access);
	*first += (double)region->of_first * (region->n_value + region->n_access);
	for (int i = 0; i < region->n_child; i++)
		add_work(region->child[i], all, first);
}

/* Work of the first unit's blocks, where units take neighbours, over that of average ones. */
static double imbalance(const measurer *m)
{
	double all = 0, first = 0;
	add_work(m->regions.body, &all, &first);
	return all > 0 ? fmax(1, first / (double)m->regions.first_blocks * (double)m->regions.blocks / all) : 1;
}

bool heddle_measure(const heddle_program *program, const heddle_launch *launch, const heddle_descriptor *descriptor, const int64_t *size,
		    heddle_load *load)
{
	measurer m = {.program = program, .launch = launch, .descriptor = descriptor, .load = load,
		      .simd = descriptor->execution == HEDDLE_SIMD,
		      .vector_bytes = descriptor->vector_bytes.set ? (int)descriptor->vector_bytes.value : 16};
	*load = (heddle_load){.threads = launch->threads, .min_blocks = launch->min_blocks};
	const bool known = heddle_regions_read(&m.regions, launch, size, descriptor->units.set ? (int64_t)descriptor->units.value : 1);
	load->blocks = (double)m.regions.blocks;
	load->imbalance = 1;
	for (int i = 0; i < launch->n_shared; i++)
		load->shared_bytes += bytes_of(launch->shared[i]);
	if (known && load->blocks > 0) {
		m.written = HEDDLE_NEW_ARRAY(m.regions.reader.arena, bool, program->n_buffer + 1);
		find_written(&m, m.regions.body);
		measure_values(&m);
		load->imbalance = imbalance(&m);
		measure_memory(&m);
		measure_paths(&m);
	}
	heddle_regions_free(&m.regions);
	return known;
}
