/* The candidates of a kernel: enumerated in powers of two, rated in closed form, and the best looked around in.
 *
 * What is enumerated follows from which dimensions occur in which accesses: along which one elements are contiguous,
 * which one an operand does not depend on.  Nothing depends on the operator. SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_COST_SPACE_H
#define HEDDLE_COST_SPACE_H

#include "cost/footprint.h"
#include "cost/rate.h"

typedef struct heddle_ranked {
	heddle_candidate candidate;
	double seconds;
} heddle_ranked;

typedef struct heddle_space_options {
	int seeds;  /* candidates that are enumerated at most, spread evenly over all; 0: 1500 */
	int around; /* of how many of the best of their kind neighbours are rated; 0: 4 */
} heddle_space_options;

typedef struct heddle_space_found {
	int n;               /* of `best` */
	int rated;           /* candidates */
	heddle_ranked *best; /* the fastest first; no two alike in tiles, vectors and spaces */
} heddle_space_found;

/* The k best candidates, in the arena.  There is at least one: each element on its own. */
heddle_space_found heddle_space_best(heddle_arena *arena, const heddle_outline *outline,
				     const heddle_space_options *options, int k);

/* ---- space_seeds.c: candidates from which others are found ---- */

typedef void heddle_space_visit(void *user, heddle_candidate *candidate);

/* Calls `visit` for each `every`-th, completed; NULL: for none.  Returns how many there are. */
int heddle_space_seeds(const heddle_outline *outline, int every, heddle_space_visit *visit, void *user);
/* What follows from the layout of members and of the main statement: the layouts of other statements, tiles' arrays,
 * what stays in registers. */
void heddle_space_complete(const heddle_outline *outline, heddle_candidate *candidate);

/* ---- space_moves.c ---- */

/* Calls `visit` for each candidate that differs in one place. */
void heddle_space_neighbours(const heddle_outline *outline, const heddle_candidate *candidate,
			     heddle_space_visit *visit, void *user);

/* ---- space_alternatives.c ---- */

/* One rewrite of the definition: parts of a config before `fuse`. */
typedef struct heddle_alternative {
	heddle_split split[4];
	int share[4];
	heddle_turn turn[4];
	int n_split, n_share, n_turn;
} heddle_alternative;

/* Those worth rating: nothing, and each split, share and transposed operand, alone; in the arena. */
heddle_alternative *heddle_space_alternatives(heddle_arena *arena, const heddle_definition *definition,
					      const heddle_descriptor *descriptor, const int64_t *size, int *n);
void heddle_alternative_config(const heddle_alternative *alternative, heddle_config *config);
/* Kernels of each statement [scop->n_stmt] that are legal and worth rating, after pass `schedule`: from one kernel for
 * all that may share one, to one for each; a list of `*n` such lists. */
int **heddle_space_fusions(heddle_arena *arena, heddle_scop *scop, int *n);

#endif
