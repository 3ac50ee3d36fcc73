/* Choosing: candidates are rated in closed form, the best of them lowered without proof, measured and rated again.
 *
 * Kernels of one definition do not depend on each other's layouts, so that program number j has each kernel's j-th candidate; one
 * more program has the part of each kernel whose launch is rated fastest.  The result does not depend on the number of threads.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_PICK_H
#define HEDDLE_PICK_H

#include "compile/compile.h"

typedef struct heddle_pick_options {
	const char *config; /* what is given stays; NULL: nothing */
	heddle_effort effort;
	int threads;	       /* that lower candidates; 0: as there are processors */
	heddle_pick_time time; /* HEDDLE_EFFORT_MEASURED: times the programs that are rated best */
	void *time_user;
} heddle_pick_options;

typedef struct heddle_picked {
	const char *config; /* complete */
	heddle_plan *plan;
	bool usual; /* heddle_compile takes it with the given config alone */
} heddle_picked;

typedef struct heddle_pick_list {
	int n;
	heddle_picked *picked; /* the one with the least seconds first */
	int rated, refused;    /* programs that were lowered; configs that a pass or a limit of the chip refused */
} heddle_pick_list;

/* The n best programs, all of them proved, no two with the same config; of two or more, one is always the usual one, as the last
 * where the others are faster.  Nothing is timed.  The list is in the
 * arena; `definition` is as checked.  0, or -1 with the diagnostics of the usual one. */
int heddle_pick_top(heddle_ctx *ctx, heddle_arena *arena, const heddle_definition *definition, const heddle_target *target,
		    const heddle_pick_options *options, int n, heddle_pick_list *list);

#endif
