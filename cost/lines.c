/* Choosing how lines of memory move where a kernel goes over more than the last cache holds: stored past the caches, asked for ahead.
 * SPDX-License-Identifier: MIT
 */
#include "cost/choose.h"
#include "cost/rules.h"

#include <string.h>

/* Bytes of all tensors that the kernel has in global memory. */
static double global_bytes(const heddle_scop *scop, const heddle_kernel *kernel)
{
	double bytes = 0;
	for (int g = 0; g < kernel->n_group; g++) {
		bool first = true;
		for (int h = 0; h < g; h++)
			first = first && kernel->group[h]->tensor != kernel->group[g]->tensor;
		bytes += first ? choose_tensor_bytes(scop, kernel->group[g]->tensor) : 0;
	}
	return bytes;
}

static double last_cache_bytes(const heddle_descriptor *descriptor)
{
	static const char *const cache[] = {"l3", "l2", "l1"};
	for (size_t i = 0; i < HEDDLE_COUNT(cache); i++) {
		const heddle_memory *m = heddle_descriptor_memory(descriptor, cache[i]);
		if (m && m->size.set)
			return m->size.value;
	}
	return 0;
}

static bool in_registers(heddle_config *config, const heddle_kernel *kernel, const heddle_access *access)
{
	const int number = access->group ? access->group->number : 0;
	const heddle_group_config *choice = heddle_config_group(config, kernel->position, access->tensor->name, number, false);
	return choice && choice->space == HEDDLE_SPACE_REGISTER;
}

static int64_t line_elements(const heddle_descriptor *descriptor, const heddle_tensor *tensor)
{
	const heddle_memory *global = heddle_descriptor_memory(descriptor, "global");
	return (global ? choose_quantity(&global->line, 64) : 64) / heddle_type_size(tensor->type);
}

/* Does the statement write whole lines of its target, and nothing of the kernel read them in global memory? */
static bool writes_lines_once(const heddle_scop *scop, heddle_config *config, const heddle_kernel *kernel, const heddle_stmt *stmt)
{
	const heddle_tensor *tensor = stmt->access[0].tensor;
	const int64_t line = line_elements(scop->descriptor, tensor);
	const int row = heddle_row_dim(stmt, &stmt->access[0]);
	if (row < 0 || stmt->dim[row].layout.vector < line || !heddle_rules_rows_aligned(tensor, line))
		return false;
	if (in_registers(config, kernel, &stmt->access[0]) && !heddle_used_after(scop, kernel, tensor))
		return false; /* nothing of it is in memory */
	for (int s = 0; s < kernel->n_stmt; s++)
		for (int a = 0; a < kernel->stmt[s]->n_access; a++) {
			const heddle_access *access = &kernel->stmt[s]->access[a];
			const bool reads = a > 0 || (kernel->stmt[s]->source->assign != HEDDLE_ASSIGN_SET && !kernel->stmt[s]->source->initialise);
			if (access->tensor != tensor || (!reads && kernel->stmt[s] == stmt))
				continue;
			if (!in_registers(config, kernel, access))
				return false;
		}
	return true;
}

/* What the kernel writes is gone from the caches before anyone reads it. */
static void choose_streams(const heddle_scop *scop, heddle_config *config, int k)
{
	const heddle_kernel *kernel = scop->kernel[k];
	heddle_kernel_config *choice = heddle_config_kernel(config, k);
	if (!scop->descriptor->streaming_stores || choice->has_stream)
		return;
	for (int s = 0; s < kernel->n_stmt; s++) {
		const heddle_stmt *stmt = kernel->stmt[s];
		bool listed = false;
		for (int i = 0; i < choice->n_stream; i++)
			listed = listed || !strcmp(choice->stream[i], stmt->access[0].tensor->name);
		if (!listed && writes_lines_once(scop, config, kernel, stmt))
			HEDDLE_PUSH(config->arena, choice->stream, choice->n_stream, stmt->access[0].tensor->name);
	}
	choice->has_stream = choice->n_stream > 0;
}

static int place_in_order(const heddle_kernel *kernel, int member)
{
	for (int i = 0; i < kernel->n_member; i++)
		if (kernel->member_order[i] == member)
			return i;
	return -1;
}

/* Does the group's statement read each of its elements once, in whole lines? */
static bool reads_lines_once(const heddle_scop *scop, const heddle_group *group)
{
	const heddle_stmt *stmt = group->stmt;
	const heddle_expr *row = choose_subscripts(stmt, group->access)[group->tensor->rank - 1];
	bool lines = false;
	for (int d = 0; d < stmt->n_dim; d++) {
		if (!choose_depends_on(stmt, group->access, d) && choose_extent(scop, stmt, d) > 1)
			return false;
		const int64_t stride = choose_stride(stmt, group->access, group->tensor->rank - 1, d); /* 0: not known */
		lines = lines || (choose_mentions(row, d) &&
				  (stride ? stride : 1) * stmt->dim[d].layout.vector >= line_elements(scop->descriptor, group->tensor));
	}
	return lines;
}

/* Do blocks, one after the other, go over the tensor as it lies?  Its last dimensions are a block's own, those before them members of
 * the kernel in their order, with windows of a few elements.  Blocks whose parts interleave have lines of many rows under way as it is. */
static bool reads_on(const heddle_scop *scop, const heddle_group *group)
{
	enum { WINDOW = 8 };
	const heddle_stmt *stmt = group->stmt;
	double part = 1;
	int last = group->kernel->n_member;
	bool in_order = true;
	for (int e = group->tensor->rank - 1; e >= 0; e--) {
		int member = -1;
		double own = 1;
		for (int d = 0; d < stmt->n_dim; d++) {
			if (!choose_mentions(choose_subscripts(stmt, group->access)[e], d))
				continue;
			if (stmt->dim[d].member < 0)
				own *= (double)choose_extent(scop, stmt, d);
			else
				member = place_in_order(group->kernel, stmt->dim[d].member);
			part *= (double)(stmt->dim[d].member < 0 ? choose_extent(scop, stmt, d) : stmt->dim[d].layout.tile);
		}
		in_order = in_order && (member < 0 ? last == group->kernel->n_member || own == 1 : member < last && own <= WINDOW);
		last = member < 0 ? last : member;
	}
	return in_order || part <= (double)heddle_block_distance(group);
}

/* What a block reads of memory is asked for while an earlier one still computes: by the last statement that goes over the tensor, as
 * the others wait for memory themselves.  Not further ahead than the second cache has room for. */
static void choose_ahead(const heddle_scop *scop, heddle_config *config, int k)
{
	enum { LEAST = 3072, PART = 8 }; /* bytes that hide memory's latency; of the second cache */
	const heddle_kernel *kernel = scop->kernel[k];
	const heddle_memory *second = heddle_descriptor_memory(scop->descriptor, "l2");
	const double near = second ? (double)choose_quantity(&second->size, 0) : 0;
	for (int g = kernel->n_group - 1; g >= 0 && scop->descriptor->prefetches; g--) {
		const heddle_group *group = kernel->group[g];
		const heddle_tensor *tensor = group->tensor;
		bool last = group->stmt != NULL;
		for (int h = g + 1; h < kernel->n_group; h++)
			last = last && kernel->group[h]->tensor != tensor;
		if (!last || !tensor->rank || choose_tensor_bytes(scop, tensor) <= near || !reads_lines_once(scop, group) ||
		    !reads_on(scop, group))
			continue;
		const int64_t bytes = heddle_block_distance(group) * heddle_type_size(tensor->type);
		const heddle_group_config *given = heddle_config_group(config, k, tensor->name, group->number, false);
		if (bytes < 1 || (double)bytes * PART > near || (given && (given->prefetch >= 0 || given->space > HEDDLE_SPACE_GLOBAL)))
			continue;
		heddle_config_group(config, k, tensor->name, group->number, true)->prefetch = (int)((LEAST + bytes - 1) / bytes);
	}
}

void choose_lines(const heddle_scop *scop, heddle_config *config, int k)
{
	if (global_bytes(scop, scop->kernel[k]) <= last_cache_bytes(scop->descriptor))
		return;
	choose_streams(scop, config, k);
	choose_ahead(scop, config, k);
}
