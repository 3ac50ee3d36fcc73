/* Tables of measured times: those of Heddle's configs, and those of kernels that it did not write.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_REPLAY_TABLE_H
#define HEDDLE_REPLAY_TABLE_H

#include "arch/descriptor.h"
#include "cost/load.h"

/* What is rated, and the rating. */
typedef struct heddle_timed_config {
	const char *config;   /* complete config line; NULL: a row of a public table */
	const int *parameter; /* of a public table: the columns before the chips */
	bool done;
	double rated;	      /* seconds, by the model */
	const char *refused;  /* why it is not rated; NULL: it is */
	const char *figures;  /* where they are wanted: what was found of its load, as columns; NULL: nothing */
} heddle_timed_config;

typedef struct heddle_timing {
	double seconds; /* measured */
	heddle_timed_config *candidate;
} heddle_timing;

typedef bool heddle_adapter(const heddle_descriptor *descriptor, const int *parameter, heddle_load *load);

/* A public table's form: its columns before the chips, and what makes a load of them. */
typedef struct heddle_public_form {
	const char *name, *columns;
	int n_parameter;
	const char *split;  /* the column whose values make tables of their own; NULL: none */
	int split_at;	    /* its position */
	heddle_adapter *adapter;
} heddle_public_form;
extern const heddle_public_form heddle_public_forms[]; /* ended by name NULL */

/* Timings that can be compared with each other: a layer at given sizes, on one machine, in one run. */
typedef struct heddle_timing_group {
	const char *run, *machine; /* "zen4/2026-11-27.0126", "zen4"; of a public table both are the chip's descriptor */
	const char *target;	   /* "opencl:cpu"; "public" */
	const char *file, *definition, *sizes;
	const heddle_public_form *form; /* NULL: Heddle's own */
	int list;			/* groups with the same number have candidates in common */
	int n;
	heddle_timing *timing;
} heddle_timing_group;

typedef struct heddle_timings {
	int n, n_list;
	heddle_timing_group *group;
} heddle_timings;

/* Append what a file has, in `arena`.  0, or -1 with an error at the line that is wrong. */
int heddle_timings_read(heddle_ctx *ctx, heddle_arena *arena, const char *path, heddle_timings *out);
int heddle_timings_parse(heddle_ctx *ctx, heddle_arena *arena, const char *path, const char *text, heddle_timings *out);

#endif
