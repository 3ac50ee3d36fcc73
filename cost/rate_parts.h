/* What rate.c and rate_memory.c share.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_RATE_PARTS_H
#define HEDDLE_RATE_PARTS_H

#include "cost/rate.h"

enum { HEDDLE_RATE_LEVELS = 4 };

typedef struct heddle_rate_level {
	double size, latency;
	double bandwidth, of_unit; /* bytes a second of all units, and of one alone; 0: not known */
	bool shared;                     /* by all units */
	heddle_touch missed;             /* of the whole grid: what comes from the next level */
} heddle_rate_level;

typedef struct heddle_rater {
	const heddle_load *load;
	const heddle_descriptor *d;
	heddle_rating *out;
	double clock, units, warp, lanes, overlap;
	double warps;   /* of a block */
	double at_once; /* blocks on all units at the same time */
	double on_unit; /* blocks on the unit that has most */
	int n_level;    /* caches, then memory */
	heddle_rate_level level[HEDDLE_RATE_LEVELS];
} heddle_rater;

static inline double heddle_rate_quantity(const heddle_quantity *q, double otherwise)
{
	return q->set && q->value > 0 ? q->value : otherwise;
}

/* ---- rate_memory.c; residency is known before ---- */

/* Caches and memory, and the bytes that each lets through: rater.level, rating.traffic. */
void heddle_rate_traffic(heddle_rater *r);
double heddle_rate_memory_seconds(const heddle_rater *r); /* in which memory moves them */
double heddle_rate_cache_seconds(const heddle_rater *r);  /* in which caches that all units share do */
double heddle_rate_load_latency(const heddle_rater *r);	  /* cycles of a load */
double heddle_rate_run_cycles(const heddle_rater *r);	  /* in which a block waits for lines that prefetchers do not bring */

#endif
