/* Choosing: candidates are rated in closed form, the best of them lowered without proof, measured and rated again.
 *
 * Kernels of one definition do not depend on each other's layouts, so that program number j has each kernel's j-th candidate, and of each
 * kernel the one whose launch is rated fastest is taken.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_PICK_H
#define HEDDLE_PICK_H

#include "compile/compile.h"

typedef struct heddle_pick_options {
	const char *config; /* what is given stays; NULL: nothing */
	heddle_effort effort;
	int threads;	    /* that lower candidates; 0: as there are processors */
} heddle_pick_options;

/* The config line, complete, in the arena; NULL with diagnostics.  `definition` is gathered. */
const char *heddle_pick(heddle_ctx *ctx, heddle_arena *arena, const heddle_definition *definition, const heddle_target *target,
			const heddle_pick_options *options);

#endif
