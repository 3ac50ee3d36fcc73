/* Compiling one definition for one target: config completion, passes, simplification.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_COMPILE_H
#define HEDDLE_COMPILE_H

#include "backends/backend.h"
#include "cost/explain.h"
#include "frontend/definition.h"

typedef struct heddle_compile_options {
	const char *config; /* config line, completed where it says nothing; NULL: all by the cost model */
	const char *dump;   /* print the state after this pass into `report` */
	const char *stop;   /* the last pass to run: the result is then NULL without a diagnostic */
	bool times;	    /* seconds per pass into `report` */
	bool unproved;	    /* leave out the proof: for programs that are rated and not emitted */
	bool apart;	    /* prove in a copy of this process, beside what is generated: for programs, not for libraries with threads */
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

#endif
