/* Which statements share a kernel, by rating in closed form.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_FUSION_H
#define HEDDLE_FUSION_H

#include "cost/space.h"

typedef struct heddle_fusion_options {
	heddle_space_language language;
	heddle_space_options space;
} heddle_fusion_options;

/* Rates kernels of the scop's statements after pass `schedule`, each once. */
typedef struct heddle_fusion heddle_fusion;

/* In the arena.  `how` outlives it. */
heddle_fusion *heddle_fusion_new(heddle_arena *arena, heddle_scop *scop, const heddle_fusion_options *how);
/* Seconds of the statement in a kernel of its own. */
double heddle_fusion_alone(heddle_fusion *fusion, int stmt);
/* Seconds that it takes at least in a kernel of its own, whatever is rewritten: each byte is moved once.  0: not known. */
double heddle_fusion_least(heddle_fusion *fusion, int stmt);
/* Seconds of all kernels; kernel_of[scop->n_stmt] is legal. */
double heddle_fusion_seconds(heddle_fusion *fusion, const int *kernel_of);
/* The kernel of each statement: statement after statement joins the kernel with which it is rated faster than alone. */
int *heddle_fusion_best(heddle_fusion *fusion);
/* Others that are legal: all statements that may share a kernel do; one cut of that; each alone.  A list of `*n` in the arena. */
int **heddle_fusion_others(heddle_fusion *fusion, int *n);

#endif
