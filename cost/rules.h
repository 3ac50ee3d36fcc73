/* Hand-written rules: the default choice, as long as the rating does not make it better on every chip.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_COST_RULES_H
#define HEDDLE_COST_RULES_H

#include "cost/rate.h"
#include "model/passes.h"

/* Splits of reductions with too little parallel work for the chip: fills config->split unless given. */
void heddle_rules_split(heddle_arena *arena, heddle_config *config, const heddle_definition *definition,
			const heddle_descriptor *descriptor);
/* Expressions that are worth computing once: fills config->share unless given. */
void heddle_rules_share(heddle_arena *arena, heddle_config *config, const heddle_definition *definition,
			const heddle_descriptor *descriptor);
/* Operands that large products read across their rows: fills config->turn unless given. */
void heddle_rules_turn(heddle_arena *arena, heddle_config *config, const heddle_definition *definition,
		       const heddle_descriptor *descriptor);
/* heddle_pass_options.complete: fills whatever part of the config is missing; parts that are given stay. */
int heddle_rules_complete(heddle_scop *scop, heddle_config *config, heddle_config_need part, void *user);
/* Whatever the sizes, every row of the tensor begins at a multiple of v elements, and vectors run along it. */
bool heddle_rules_rows_aligned(const heddle_tensor *tensor, int64_t v);

#endif
