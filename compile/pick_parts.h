/* The two ends of a choice: configs that are worth lowering, and programs that are timed.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_PICK_PARTS_H
#define HEDDLE_PICK_PARTS_H

#include "compile/pick.h"
#include "cost/fusion.h"
#include "model/config.h"

/* ---- pick_candidates.c ---- */

/* What candidates are searched for, and how far. */
typedef struct heddle_pick_search {
	heddle_ctx *ctx;
	heddle_arena *arena;
	const heddle_definition *definition;
	const heddle_target *target;
	const char *given; /* config line: its parts stay */
	heddle_space_options space; /* how far candidates of each kernel are searched for */
	int most;		    /* candidates of each variant */
	int variants;		    /* rewrites and fusions of which candidates are wanted */
	bool wide;		    /* fusions other than the usual one are rated, too */
} heddle_pick_search;

/* A candidate of each kernel. */
typedef struct heddle_pick_candidate {
	int variant; /* those of one have the same rewrites and fusion: they differ in the kernels' parts alone */
	uint64_t kind; /* of the kernel that takes most of the time, see cost/space.h */
	const char *config;
	double expected; /* seconds, in closed form */
	double compared; /* by which they are sorted: more where something is rewritten */
} heddle_pick_candidate;

typedef struct heddle_pick_candidates {
	int n, n_variant;
	heddle_pick_candidate *item; /* the least compared first, no two alike */
} heddle_pick_candidates;

/* In the arena.  0, or -1 with diagnostics. */
int heddle_pick_search_candidates(const heddle_pick_search *search, heddle_pick_candidates *found);
/* Do two lines whose rewrites are complete say the same?  One that names no share has none: `share=none` or nothing. */
bool heddle_pick_same(const char *a, const char *b);
/* The config as text, in the arena. */
const char *heddle_pick_line(heddle_arena *arena, const heddle_config *config);

/* ---- compile.c ---- */

/* A program, and what it was made from: in `arena`. */
typedef struct heddle_lowered {
	heddle_arena *arena;
	heddle_scop *scop;
	heddle_program *program;
} heddle_lowered;

/* Runs all passes with the config in the options.  NULL with diagnostics, or when `stop` ends them earlier. */
heddle_lowered *heddle_lower(heddle_ctx *ctx, const heddle_definition *gathered, const heddle_target *target,
			     const heddle_compile_options *options);
heddle_lowered *heddle_lowered_free(heddle_lowered *lowered);

heddle_space_language heddle_target_space_language(const heddle_target *target);

/* ---- pick.c ---- */

typedef struct heddle_pick_result {
	const char *config; /* line, in the arena */
	bool complete;	    /* it says all; else nothing is legal, and the rest of it is to be plain, so that passes say why */
	heddle_lowered *lowered; /* not NULL: of that config, without its proof; belongs to the caller */
} heddle_pick_result;

/* 0, or -1 with diagnostics. */
int heddle_pick(heddle_ctx *ctx, heddle_arena *arena, const heddle_definition *gathered, const heddle_target *target,
		const heddle_pick_options *options, heddle_pick_result *picked);

/* ---- pick_time.c ---- */

/* Which of the n configs is fastest on the device by the median of several rounds, in which they take turns; those that are refused
 * or fail there are left out.  -1 with a diagnostic: nothing can be timed, or none ran. */
int heddle_pick_fastest(heddle_ctx *ctx, const heddle_definition *definition, const heddle_target *target, const char *const *config, int n,
			const heddle_pick_options *options);

#endif
