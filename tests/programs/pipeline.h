/* Tests of the whole way: definition -> program -> interpreter, against the reference.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_TESTS_PIPELINE_H
#define HEDDLE_TESTS_PIPELINE_H

#include "backends/backend.h"
#include "harness/cases.h"
#include "harness/interpret.h"
#include "harness/level.h"
#include "harness/reference.h"

/* Inputs and what should come out, for one choice of sizes. */
typedef struct pipeline_case {
	const heddle_definition *definition;
	const char *name;
	int64_t *size;
	heddle_array **initial; /* [n_tensor] */
	heddle_reference *reference;
	int judged; /* runs whose outputs could all be judged: bounds not too wide */
} pipeline_case;

typedef struct pipeline_cases {
	int n;
	pipeline_case *item;
} pipeline_cases;

/* Cases that cases.h chooses for at most `cost` instances, and the edges: each size 0 alone, all 1, all 0, where the
 * definition allows them.  In `arena`.  -1 with a message on stdout. */
int pipeline_cases_make(heddle_ctx *ctx, heddle_arena *arena, const heddle_module *module,
			const heddle_definition *definition, const heddle_case_options *options, bool edges,
			pipeline_cases *cases);
/* One more, "M=5,N=14". */
int pipeline_cases_add(heddle_ctx *ctx, heddle_arena *arena, const heddle_module *module,
		       const heddle_definition *definition, const char *text, pipeline_cases *cases);
void pipeline_cases_free(pipeline_cases *cases);
/* Nodes of each launch that ran in some case, by their numbers. */
typedef struct pipeline_coverage {
	bool *ran[64];
	int n[64];
} pipeline_coverage;

/* Infinities among the elements of an input that `choose` picks by number; the case is evaluated anew.  0 or -1. */
int pipeline_case_infinite(heddle_ctx *ctx, pipeline_case *c, const char *tensor, bool (*choose)(int64_t number));
/* Run `program` on the case, adding to `coverage` unless NULL.  NULL: right; else what is wrong, in `arena`. */
const char *pipeline_run(heddle_ctx *ctx, heddle_arena *arena, const heddle_program *program, const heddle_target *target,
			 pipeline_case *c, uint64_t seed, uint64_t max_operations, pipeline_coverage *coverage);

/* The same through the program's text and manifest, by a runner of a level above.  `*missing`: the runner is not there, or
 * does not take this text (the result says what). */
const char *pipeline_run_text(heddle_ctx *ctx, heddle_arena *arena, heddle_program *program, const heddle_target *target,
			      pipeline_case *c, uint64_t seed, const heddle_runner *runner, bool *missing);

#endif
