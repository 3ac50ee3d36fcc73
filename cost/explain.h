/* What the launches of a program will do, how long they take, and why: what `plan` prints.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_EXPLAIN_H
#define HEDDLE_EXPLAIN_H

#include "cost/load.h"
#include "cost/rate.h"
#include "model/program.h"
#include "model/scop.h"

/* One reference group of a kernel. */
typedef struct heddle_plan_group {
	const char *name;  /* "A.0" */
	const char *space; /* "shared", "register", "global" */
	double footprint;  /* bytes that one block touches (shared: of one step) */
	double traffic;	   /* bytes that all blocks move between it and global memory, before any cache */
	const char *why;
} heddle_plan_group;

typedef struct heddle_plan_launch {
	const char *name;
	bool known; /* false: data decide how often a loop runs; load and rating say nothing then */
	heddle_load load;
	heddle_rating rating;
	double flops; /* floating-point operations of the definition */
	int n_group;
	heddle_plan_group *group;
} heddle_plan_launch;

typedef struct heddle_reason {
	double seconds; /* that would be saved without it; reasons overlap, so that these do not add up */
	const char *text;
} heddle_reason;

typedef struct heddle_plan {
	int n_launch;
	heddle_plan_launch *launch;
	double seconds;	      /* of all launches; NAN: not known */
	double least_traffic; /* bytes: inputs and outputs once */
	double flops;
	double roofline;      /* seconds: the least traffic at full bandwidth, or the operations at the peak rate */
	int n_reason;
	heddle_reason *reason; /* why `seconds` is more than `roofline`, the greatest first */
} heddle_plan;

/* Measure and rate every launch of `program`, which was made from `scop`; open sizes have typical values.  In `arena`. */
heddle_plan *heddle_explain(heddle_arena *arena, const heddle_scop *scop, const heddle_program *program);

#endif
