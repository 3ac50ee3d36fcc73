/* The cost model: completes configs, and says why.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_COST_H
#define HEDDLE_COST_H

#include "model/passes.h"

/* Splits of reductions with too little parallel work for the chip: fills config->split unless given. */
void heddle_cost_split(heddle_arena *arena, heddle_config *config, const heddle_definition *definition,
		       const heddle_descriptor *descriptor);
/* Expressions that are worth computing once and keeping near where several statements compute them: fills config->share unless given. */
void heddle_cost_share(heddle_arena *arena, heddle_config *config, const heddle_definition *definition,
		       const heddle_descriptor *descriptor);
/* Operands that large products read across their rows, where vectors have no use for that: fills config->turn unless given. */
void heddle_cost_turn(heddle_arena *arena, heddle_config *config, const heddle_definition *definition,
		      const heddle_descriptor *descriptor);
/* The simplest legal choice, for definitions that are too much for isl: every statement a kernel of its own, one element per
 * thread, nothing staged.  Fills all of the config but what layouts need the scop for. */
int heddle_cost_complete_simple(heddle_scop *scop, heddle_config *config, heddle_config_need part, void *user);
/* heddle_pass_options.complete: fills whatever part of the config is missing; parts that are given stay. */
int heddle_cost_complete(heddle_scop *scop, heddle_config *config, heddle_config_need part, void *user);
/* Bytes that threads must have asked global memory for so that it is busy: bandwidth x latency, and as much again, for what is asked for
 * at once comes at once and is used before more is.  0: the descriptor does not say. */
double heddle_cost_in_flight(const heddle_descriptor *descriptor);
/* Whatever the sizes, every row of the tensor begins at a multiple of v elements, and vectors run along it. */
bool heddle_cost_rows_aligned(const heddle_tensor *tensor, int64_t v);

#endif
