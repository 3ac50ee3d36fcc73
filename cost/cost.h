/* The cost model in closed form: which statements share a kernel, and completing a config.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_COST_H
#define HEDDLE_COST_H

#include "cost/space.h"
#include "model/passes.h"

typedef struct heddle_completion {
	heddle_space_language language;
	heddle_space_options space;
} heddle_completion;

/* heddle_pass_options.complete, `user` being a heddle_completion: what is missing of the config, in closed form; parts that are given stay. */
int heddle_cost_complete(heddle_scop *scop, heddle_config *config, heddle_config_need part, void *user);
/* The same with the simplest legal choice, for definitions that are too much for isl: every statement a kernel of its own, one element
 * per thread, nothing staged. */
int heddle_cost_complete_simple(heddle_scop *scop, heddle_config *config, heddle_config_need part, void *user);

/* ---- fusion.c ---- */

/* Rates kernels of the scop's statements after pass `schedule`, each once. */
typedef struct heddle_fusion heddle_fusion;

/* In the arena.  `how` outlives it. */
heddle_fusion *heddle_fusion_new(heddle_arena *arena, heddle_scop *scop, const heddle_completion *how);
/* Seconds of the statement in a kernel of its own. */
double heddle_fusion_alone(heddle_fusion *fusion, int stmt);
/* Seconds of all kernels; kernel_of[scop->n_stmt] is legal. */
double heddle_fusion_seconds(heddle_fusion *fusion, const int *kernel_of);
/* The kernel of each statement: statement after statement joins the kernel with which it is rated faster than alone. */
int *heddle_fusion_best(heddle_fusion *fusion);
/* Others that are legal: all statements that may share a kernel do; one cut of that; each alone.  A list of `*n` in the arena. */
int **heddle_fusion_others(heddle_fusion *fusion, int *n);

#endif
