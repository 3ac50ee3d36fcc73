/* Compiling one definition for one target: config completion, passes, simplification.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_COMPILE_H
#define HEDDLE_COMPILE_H

#include "backends/backend.h"
#include "cost/explain.h"
#include "frontend/definition.h"

/* How much work goes into the choice of a config. */
typedef enum heddle_effort {
	HEDDLE_EFFORT_USUAL,	   /* the default: the best few in closed form are lowered and measured */
	HEDDLE_EFFORT_CLOSED_FORM, /* the best in closed form */
	HEDDLE_EFFORT_WIDE,	   /* many candidates, rewrites and fusions */
	HEDDLE_EFFORT_MEASURED,	   /* the same, and the best of them are timed on the device by `time` */
} heddle_effort;

/* Times a program on the target's device: 0 with its seconds; 1 where it fails there; -1 with a diagnostic where nothing can be timed. */
typedef int (*heddle_pick_time)(const heddle_program *program, double *seconds, void *user);

typedef struct heddle_compile_options {
	const char *config; /* config line, completed where it says nothing; NULL: all by the cost model */
	bool complete;	    /* the config is: what it does not name is plain, one element a step, in global memory */
	heddle_effort effort;
	int threads;	      /* for the choice; 0: as there are processors.  The result is the same */
	heddle_pick_time time; /* HEDDLE_EFFORT_MEASURED; NULL: as HEDDLE_EFFORT_WIDE */
	void *time_user;
	const char *dump;   /* print the state after this pass into `report` */
	const char *stop;   /* the last pass to run: the result is then NULL without a diagnostic */
	bool times;	    /* seconds per pass into `report` */
	bool unproved;	    /* leave out the proof: for programs that are rated and not emitted */
	heddle_text *report;
	unsigned long max_operations; /* of isl per pass; 0: default */
	double timeout;		      /* seconds for all passes; 0: 20 */
	/* Called after the passes, successful or not, before the scop goes; NULL: not. */
	void (*examine)(const heddle_scop *scop, void *user);
	void *user;
	heddle_arena *plan_arena; /* not NULL: what the program will do, and its seconds, go into `*plan`, in this arena */
	heddle_plan **plan;
} heddle_compile_options;

/* 0 when the chip has what the definition computes in; else -1 with E0458 at the place that needs more. */
int heddle_target_takes(heddle_ctx *ctx, const heddle_definition *definition, const heddle_target *target);

/* The program of `definition` for `target`; sizes are those it was checked with.  `options` may be NULL.  Free with
 * heddle_program_free.  NULL with diagnostics, or when `stop` asked for it. */
heddle_program *heddle_compile(heddle_ctx *ctx, const heddle_definition *definition, const heddle_target *target,
			       const heddle_compile_options *options);
/* The same without a choice: parts that the config leaves out are plain, each statement a kernel of its own. */
heddle_program *heddle_compile_config(heddle_ctx *ctx, const heddle_definition *definition, const heddle_target *target,
				      const heddle_compile_options *options);
/* The same of a definition whose sums into affine left-hand sides have been solved (model/gather.c), which happens once. */
heddle_program *heddle_compile_gathered(heddle_ctx *ctx, const heddle_definition *definition, const heddle_target *target,
					const heddle_compile_options *options);

#endif
