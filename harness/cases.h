/* Test cases of a definition: sizes and input contents.
 *
 * Sizes come from the `#: sizes` lines of the file and from tile sizes: with tile t an index gets the extents t-1, t, t+1
 * and 2t+3 (reductions: up to 4t+3, so that at least three steps run), in combinations, and once 1 everywhere.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_CASES_H
#define HEDDLE_CASES_H

#include "frontend/definition.h"
#include "harness/tensor.h"

/* A tile size of the config, by the name of the index: what threads do at a time, and how often a block repeats it (0: once). */
typedef struct heddle_tile_hint {
	const char *index;
	int64_t tile;
	int64_t rounds;
} heddle_tile_hint;

typedef struct heddle_case {
	const char *name; /* "M=64 N=64 K=64"; "" without sizes */
	int64_t *size;	  /* [definition->n_size] */
	bool given;	  /* from a line of the file: `#: sizes`, `#: reach` */
	bool dear;	  /* of a sweep: for what all others have not reached */
	double cost;	  /* statement instances */
} heddle_case;

typedef struct heddle_case_list {
	int n;
	heddle_case *item;
	bool limited; /* some picked sizes were lowered to keep the cost: tiles may not be exceeded as meant */
} heddle_case_list;

typedef struct heddle_case_options {
	int n_tile;
	const heddle_tile_hint *tile;
	const int64_t *block; /* [n_size] values that a block takes of each size, 0 unknown, when tiles are not known; NULL: none is */
	double cost;	   /* greatest number of statement instances of a picked case; 0: 2e7 */
	bool sweep;	   /* instead, to be tried in order until each guard was met both ways: whole tiles; each tiled index in
			    * turn in steps of a sixteenth of its tile, the others small; all in drawn combinations; each in turn
			    * in steps of a 64th; dear ones, and many more draws.  Which of them reach something new can be told
			    * without running them (test_interpret.c) */
	bool narrowed;	   /* the sizes' ranges come from outside: lines of the file for other sizes do not apply */
	bool given_only;   /* no sizes of our own, unless the file gives none */
	/* Whether the kernels under test take the sizes [n_size]; NULL: they take all.  Cases for others are left out. */
	bool (*takes)(void *user, const int64_t *size);
	void *user;
} heddle_case_options;

/* Choose the cases of `definition` (position `position` in `module`, NULL module: no pragmas), given ones first.  In `arena`.
 * 0, or -1 with a diagnostic: E0716 no sizes can be found, E0717 a bad `#:` line, E0719 the given ones are too many. */
int heddle_cases_choose(heddle_ctx *ctx, heddle_arena *arena, const heddle_module *module, const heddle_definition *definition,
			const heddle_case_options *options, heddle_case_list *list);

/* "M=64 N=64 K=64" in `arena`; "" without sizes. */
const char *heddle_case_name(heddle_arena *arena, const heddle_definition *definition, const int64_t *size);

typedef enum heddle_fill {
	HEDDLE_FILL_RANDOM,   /* floats in ranges that suit where they are used */
	HEDDLE_FILL_INTEGERS, /* small whole numbers: sums of products stay exact */
} heddle_fill;

/* Arrays for all inputs, outputs and inouts into array [n_tensor] (NULL for temporaries): inputs and inouts filled, outputs
 * poisoned.  Index tensors of gathers get values that keep every subscript inside; divisors are not zero; arguments of
 * logarithms and roots are positive.  `#: fill A=0.5:2 B=integers` overrules.  0, or -1 with a diagnostic, also where the tensors
 * are larger than the machine's memory (nothing is left allocated). */
int heddle_case_arrays(heddle_ctx *ctx, const heddle_module *module, const heddle_definition *definition,
		       const int64_t *size, heddle_fill fill, uint64_t seed, heddle_array **array);
void heddle_case_arrays_free(const heddle_definition *definition, heddle_array **array);

/* Can the indices that gathers read keep every subscript inside its tensor with these sizes?  Not where a row of a table has no columns. */
bool heddle_case_gathers_fit(const heddle_definition *definition, const int64_t *size);

/* May the definition be exact on whole numbers (no division, root, exponential)?  The reference has the last word. */
bool heddle_definition_may_be_exact(const heddle_definition *definition);

/* The text of the pragmas with this key that belong to `definition`, one after another: start with *at = 0; NULL: no more. */
const heddle_pragma *heddle_pragma_next(const heddle_module *module, const heddle_definition *definition, const char *key,
					int *at);

#endif
