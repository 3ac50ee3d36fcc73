/* A load and a descriptor to seconds, with the reasons.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_RATE_H
#define HEDDLE_RATE_H

#include "arch/descriptor.h"
#include "cost/load.h"

/* Where the time of a launch goes.  The parts overlap; `seconds` is not their sum. */
typedef struct heddle_rating {
	double seconds; /* of the launch, its overhead included */
	/* seconds that each would take alone, on all units */
	double issue, shared, cache, memory, latency, spill, launch;
	double tail;	       /* share of unit time without a block: 0 to 1 */
	double resident;       /* blocks of a unit at the same time */
	const char *limiter;   /* what keeps that from being more: "registers" */
	double occupancy;      /* resident threads of those that a unit can hold */
	double waves;
	double registers;      /* 32-bit, of a thread, as granted (simd: vector registers) */
	double spilled;	       /* registers more than that */
	double most;	       /* the upper limit of `registers`, for the block's threads and the load's `min_blocks` */
	double traffic;	       /* bytes from and to global memory */
	bool fits;	       /* limits of the block hold: shared memory, threads */
	const char *bound;     /* the greatest part: "memory", "issue", ... */
} heddle_rating;

heddle_rating heddle_rate(const heddle_load *load, const heddle_descriptor *descriptor);
/* Bytes that must be in flight to saturate global memory (Little's law), twice: what is read together arrives together, and is used
 * before more is read.  0: the descriptor does not say. */
double heddle_in_flight(const heddle_descriptor *descriptor);

#endif
