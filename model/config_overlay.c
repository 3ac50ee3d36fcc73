/* What a config gives, laid over another one.
 * SPDX-License-Identifier: MIT
 */
#include "model/config.h"

#include <string.h>

static void overlay_list(heddle_config *config, heddle_named_list *list, const heddle_named_list *given)
{
	for (int i = 0; i < given->n; i++)
		heddle_named_set(config, list, given->item[i].name, given->item[i].value);
}

static void overlay_stmt(heddle_config *config, heddle_stmt_config *to, const heddle_stmt_config *given)
{
	overlay_list(config, &to->tile, &given->tile);
	overlay_list(config, &to->round, &given->round);
	overlay_list(config, &to->thread, &given->thread);
	overlay_list(config, &to->vector, &given->vector);
	overlay_list(config, &to->reduce, &given->reduce);
}

static void overlay_group(heddle_group_config *to, const heddle_group_config *given)
{
	if (given->space >= 0 && given->space != to->space) { /* what was said of the other space says nothing of this one */
		*to = *given;
		return;
	}
	to->pad = given->pad >= 0 ? given->pad : to->pad;
	to->vector = given->vector > 0 ? given->vector : to->vector;
	to->columns = given->columns > 0 ? given->columns : to->columns;
	to->phases = given->phases > 0 ? given->phases : to->phases;
	to->prefetch = given->prefetch >= 0 ? given->prefetch : to->prefetch;
	to->copy = given->copy ? given->copy : to->copy;
	to->n_order = given->n_order ? given->n_order : to->n_order;
	if (given->n_order)
		memcpy(to->order, given->order, sizeof(to->order));
}

void heddle_config_overlay(heddle_config *config, const heddle_config *given)
{
	for (int k = 0; k < given->n_kernel; k++) {
		const heddle_kernel_config *from = &given->kernel[k];
		heddle_kernel_config *to = heddle_config_kernel(config, k);
		to->threads = from->threads ? from->threads : to->threads;
		to->resident = from->resident ? from->resident : to->resident;
		to->lanes_outer = from->lanes_outer ? from->lanes_outer : to->lanes_outer;
		if (from->n_order) {
			to->n_order = from->n_order;
			to->order = from->order;
		}
		if (from->has_stream) {
			to->has_stream = true;
			to->n_stream = from->n_stream;
			to->stream = from->stream;
		}
		for (int s = 0; s < from->n_stmt; s++)
			overlay_stmt(config, heddle_config_stmt(config, k, from->stmt[s].stmt), &from->stmt[s]);
		for (int g = 0; g < from->n_group; g++)
			overlay_group(heddle_config_group(config, k, from->group[g].tensor, from->group[g].number, true), &from->group[g]);
	}
}
