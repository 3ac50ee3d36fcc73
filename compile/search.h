/* The configs that the cost model rates best.
 *
 * Best first: the config that compile would take is rated, then what differs from the best one that has not been looked around in one
 * place: a dimension's items, rounds, threads or vector, where a tensor's tile lives, the order of blocks, which statements share a
 * kernel, how a reduction is split.  What passes or limits refuse is not rated.  Deterministic: it ends after a number of configs.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_SEARCH_H
#define HEDDLE_SEARCH_H

#include "compile/compile.h"

typedef struct heddle_choice {
	const char *config;	   /* complete */
	heddle_estimate *estimate; /* of it */
} heddle_choice;

typedef struct heddle_search_options {
	const char *config; /* what is given stays; NULL: nothing */
	int top;	    /* so many choices at most; 0: 10 */
	int budget;	    /* configs to rate; 0: 400 */
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
