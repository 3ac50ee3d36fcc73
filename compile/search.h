/* The configs that the cost model rates best.
 *
 * Best first: the config that compile would take is rated, then what differs in one place from the best one whose neighbours have not been
 * rated: a dimension's items, rounds, threads or vector, where a tensor's tile is, the order of blocks, which statements share a kernel,
 * how a reduction is split.  Each is compiled without proof and its program is rated.  Deterministic: it ends after a number of configs.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_SEARCH_H
#define HEDDLE_SEARCH_H

#include "compile/compile.h"

typedef struct heddle_choice {
	const char *config; /* complete */
	heddle_plan *plan;  /* of it */
} heddle_choice;

typedef struct heddle_search_options {
	const char *config; /* what is given stays; NULL: nothing */
	int top;	    /* so many choices at most; 0: 10 */
	int budget;	    /* configs to rate; 0: 160 */
	int threads;	    /* that rate at the same time; 0: 1.  The result is the same */
} heddle_search_options;

typedef struct heddle_search {
	int n_choice;
	heddle_choice *choice; /* the best one first; all of them compile */
	int usual;	       /* which of them compile takes by itself: of two or more always one; -1: none of these */
	int rated, refused;
} heddle_search;

/* Rate configs of `definition` for `target`.  Results in `arena`.  0, or -1 with the diagnostics of the first config. */
int heddle_search_configs(heddle_ctx *ctx, heddle_arena *arena, const heddle_definition *definition, const heddle_target *target,
			  const heddle_search_options *options, heddle_search *out);

#endif
