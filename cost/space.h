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
	uint64_t kind; /* candidates of one have threads, vectors and rounds along the same dimensions, and the same spaces */
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

/* ---- space_complete.c ---- */

/* What follows from the layout of members and of the main statement: the layouts of other statements, tiles' arrays,
 * what stays in registers. */
void heddle_space_complete(const heddle_outline *outline, heddle_candidate *candidate);
/* Let blocks prefetch for later ones what they read once, where those go over the tensor as it lies. */
void heddle_space_prefetch(const heddle_outline *outline, heddle_candidate *candidate);
/* Do neighbours along the statement's dimension lie side by side in the access; in any access? */
bool heddle_space_runs_along(const heddle_outline_access *a, int d);
bool heddle_space_any_runs_along(const heddle_outline_stmt *s, int d);
/* Elements of the widest vector along the dimension. */
int heddle_space_vector_along(const heddle_outline *o, const heddle_outline_stmt *s, int d);

/* ---- space_moves.c ---- */

/* Calls `visit` for each candidate that differs in one place. */
void heddle_space_neighbours(const heddle_outline *outline, const heddle_candidate *candidate,
			     heddle_space_visit *visit, void *user);

/* ---- space_alternatives.c ---- */

enum { HEDDLE_ALTERNATIVE_PARTS = 8 };

/* One rewrite of the definition: parts of a config before `fuse`. */
typedef struct heddle_alternative {
	heddle_split split[HEDDLE_ALTERNATIVE_PARTS];
	int share[HEDDLE_ALTERNATIVE_PARTS];
	heddle_turn turn[HEDDLE_ALTERNATIVE_PARTS];
	int n_split, n_share, n_turn;
} heddle_alternative;

/* Those worth rating: nothing, and each split, share and transposed operand, alone; in the arena. */
heddle_alternative *heddle_space_alternatives(heddle_arena *arena, const heddle_definition *definition,
					      const heddle_descriptor *descriptor, const int64_t *size, int *n);
/* Do both; false: there is no room. */
bool heddle_alternative_add(heddle_alternative *to, const heddle_alternative *other);
void heddle_alternative_config(const heddle_alternative *alternative, heddle_config *config);

#endif
