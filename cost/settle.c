/* The counts of a kernel, once its text is known.
 * SPDX-License-Identifier: MIT
 */
#include "cost/count.h"
#include "cost/traffic.h"

#include <string.h>

/* Requests and transactions go with the bytes that they move. */
static void settle(double *bytes, double *requests, double *transactions, uint64_t text)
{
	const double times = *bytes > 0 ? (double)text / *bytes : 1;
	*bytes = (double)text;
	*requests *= times;
	*transactions *= times;
}

static void settle_space(heddle_movement *m, const heddle_traffic *text, heddle_space space)
{
	settle(&m->load_bytes, &m->load_requests, &m->load_transactions, text->load_bytes[space]);
	settle(&m->store_bytes, &m->store_requests, &m->store_transactions, text->store_bytes[space]);
}

/* The program's sizes among the definition's, which are more where some are fixed. */
static const int64_t *sizes_of(heddle_arena *arena, const heddle_program *program, const heddle_definition *definition, const int64_t *size)
{
	int64_t *own = HEDDLE_NEW_ARRAY(arena, int64_t, program->n_size + 1);
	for (int i = 0; i < program->n_size; i++)
		for (int k = 0; k < definition->n_size; k++)
			if (!strcmp(program->size[i].name, definition->size[k]->name))
				own[i] = size[k];
	return own;
}

bool heddle_cost_settle(heddle_arena *arena, heddle_kernel_count *count, const heddle_program *program, int launch,
			const heddle_definition *definition, const int64_t *size)
{
	heddle_traffic text;
	if (!heddle_launch_traffic(program->launch[launch], sizes_of(arena, program, definition, size), &text) || text.data)
		return false;
	settle_space(&count->global, &text, HEDDLE_SPACE_GLOBAL);
	settle_space(&count->shared, &text, HEDDLE_SPACE_SHARED);
	count->moving = false;
	return true;
}
