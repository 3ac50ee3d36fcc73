/* Parts of a kernel that the config line gives: every candidate has them.
 * SPDX-License-Identifier: MIT
 */
#include "cost/outline.h"

#include <string.h>

struct heddle_given {
	bool layout, order, streams, resident;
	heddle_candidate candidate; /* the layout, order, streams and resident blocks that are given */
	const heddle_group_config *group[HEDDLE_SPACE_GROUPS]; /* NULL: not given */
};

static heddle_slot_layout layout_named(const heddle_stmt_config *config, const char *name)
{
	const int64_t rounds = heddle_named_get(&config->round, name, 1), threads = heddle_named_get(&config->thread, name, 1),
		      vector = heddle_named_get(&config->vector, name, 1);
	const int64_t tile = heddle_named_get(&config->tile, name, rounds * threads * vector);
	return (heddle_slot_layout){(int)rounds, (int)(tile / (rounds * threads * vector)), (int)threads, (int)vector};
}

/* Members may be named in any statement. */
static void take_layouts(const heddle_outline *outline, const heddle_kernel_config *config, heddle_candidate *candidate)
{
	for (int i = 0; i < config->n_stmt; i++)
		for (int s = 0; s < outline->n_stmt; s++) {
			const heddle_outline_stmt *stmt = &outline->stmt[s];
			for (int d = 0; d < stmt->n_dim && stmt->stmt->position == config->stmt[i].stmt; d++) {
				const heddle_slot_layout layout = layout_named(&config->stmt[i], stmt->stmt->dim[d].name);
				if (stmt->slot[d] >= 0 && heddle_slot_tile(&layout) > 1)
					candidate->slot[stmt->slot[d]] = layout;
			}
		}
	const int threads = heddle_candidate_threads(outline, candidate);
	candidate->lanes = config->threads > threads ? config->threads / threads : 1;
	candidate->lanes_outer = config->lanes_outer;
}

static void take_order(const heddle_outline *outline, const heddle_kernel_config *config, heddle_candidate *candidate)
{
	int n = 0;
	for (int i = 0; i < config->n_order; i++)
		for (int m = 0; m < outline->n_member; m++)
			if (!strcmp(outline->kernel->member[m].name, config->order[i]))
				candidate->order[n++] = (signed char)m;
}

void heddle_outline_give(heddle_arena *arena, heddle_outline *outline, heddle_config *config)
{
	const int k = outline->kernel->position;
	if (k >= config->n_kernel)
		return;
	const heddle_kernel_config *kernel = &config->kernel[k];
	heddle_given *given = HEDDLE_NEW(arena, heddle_given);
	heddle_candidate_begin(outline, &given->candidate);
	given->layout = kernel->n_stmt || kernel->threads;
	/* as complete lines do, layouts and `stream` give the whole: what they do not name is plain */
	const bool whole = given->layout && kernel->has_stream;
	given->order = whole || (kernel->n_order == outline->n_member && kernel->n_order);
	given->streams = kernel->has_stream;
	given->resident = whole || kernel->resident;
	given->candidate.resident = kernel->resident;
	if (given->layout)
		take_layouts(outline, kernel, &given->candidate);
	if (kernel->n_order == outline->n_member)
		take_order(outline, kernel, &given->candidate);
	for (int g = 0; g < outline->n_group; g++) {
		const heddle_tensor *tensor = outline->group[g].tensor;
		if (!outline->group[g].uses)
			continue;
		const heddle_group_config *group = heddle_config_group(config, k, tensor->name, outline->group[g].number, false);
		given->group[g] = group;
		for (int i = 0; i < kernel->n_stream; i++)
			given->candidate.streams |= (unsigned)!strcmp(kernel->stream[i], tensor->name) << g;
	}
	outline->given = given;
}

bool heddle_given_layout(const heddle_outline *outline)
{
	return outline->given && outline->given->layout;
}

void heddle_given_lay_out(const heddle_outline *outline, heddle_candidate *candidate)
{
	const heddle_given *given = outline->given;
	if (!given || !given->layout)
		return;
	candidate->lanes = given->candidate.lanes;
	candidate->lanes_outer = given->candidate.lanes_outer;
	memcpy(candidate->slot, given->candidate.slot, sizeof(candidate->slot));
}

static void apply_group(const heddle_outline *outline, const heddle_group_config *given, heddle_slot_group *to)
{
	const heddle_descriptor *descriptor = outline->descriptor;
	if (given->space >= 0)
		to->space = (signed char)given->space;
	else if (given->copy || (given->prefetch > 0 && !outline->simd)) /* only tiles have that */
		to->space = HEDDLE_SPACE_SHARED;
	to->prefetch = (signed char)(given->prefetch >= 0 ? given->prefetch : to->prefetch);
	if (to->space != HEDDLE_SPACE_SHARED)
		return;
	if (given->space == HEDDLE_SPACE_SHARED && given->prefetch >= 0) /* as complete lines do: what it does not name is plain */
		*to = (heddle_slot_group){.space = to->space, .prefetch = to->prefetch, .last = -1, .vector = 1, .phases = 1};
	to->pad = (short)(given->pad >= 0 ? given->pad : to->pad);
	to->vector = (signed char)(given->vector > 0 ? given->vector : to->vector);
	to->columns = (short)(given->columns > 0 ? given->columns : to->columns);
	to->phases = (signed char)(given->phases > 0 ? given->phases : to->phases);
	if (given->n_order)
		to->last = (signed char)given->order[given->n_order - 1];
	for (int i = 0; i < descriptor->n_copy && given->copy; i++)
		if (!strcmp(descriptor->copy[i].name, given->copy))
			to->copy = (signed char)(i + 1);
}

void heddle_given_apply(const heddle_outline *outline, heddle_candidate *candidate)
{
	const heddle_given *given = outline->given;
	if (!given)
		return;
	heddle_given_lay_out(outline, candidate);
	if (given->order)
		memcpy(candidate->order, given->candidate.order, sizeof(candidate->order));
	if (given->streams)
		candidate->streams = given->candidate.streams;
	if (given->resident)
		candidate->resident = given->candidate.resident;
	for (int g = 0; g < outline->n_group; g++)
		if (given->group[g])
			apply_group(outline, given->group[g], &candidate->group[g]);
}
