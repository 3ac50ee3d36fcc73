/* The accuracy bench of the notation's functions: points to measure at, and ways to evaluate emitted text.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_TEST_FUNCTIONS_H
#define HEDDLE_TEST_FUNCTIONS_H

#include "harness/level.h"

/* One function: where its interesting arguments lie. */
typedef struct function_points {
	const char *name;
	double low[3], high[3]; /* intervals, ended by low = high: half of the points */
	enum {
		NEAR_NOTHING,
		NEAR_QUARTER_TURNS, /* close to multiples of pi / 2, also huge ones */
		NEAR_HALVES,	    /* close to integers and to halves */
		NEAR_ONE,	    /* 1 + 2^-k */
	} near;
} function_points;

/* Arguments of point i (the same on every machine) into x [arity]; exact values of float32 or float64. */
void heddle_function_point(int builtin, heddle_type type, uint64_t i, double *x);
/* Points of the grid of special values that precede the others. */
uint64_t heddle_function_specials(int builtin);

/* The vendors' texts compiled for this machine: a shared object whose kernels take (block, thread, arguments...). */
typedef struct host_kernel {
	void *library;
	void (*call)(int block, int thread, void *const *argument);
} host_kernel;

#endif
