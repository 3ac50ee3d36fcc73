/* What a mapped config will cost, from the scop and the descriptor alone: no code is generated.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_ESTIMATE_H
#define HEDDLE_ESTIMATE_H

#include "model/scop.h"

/* One reference group of a kernel. */
typedef struct heddle_group_estimate {
	const char *name;  /* "A.0" */
	const char *space; /* "shared", "register", "global" */
	double footprint;  /* bytes that one block touches (shared: of one step) */
	double traffic;	   /* bytes between global memory and all blocks */
	const char *why;   /* one line */
} heddle_group_estimate;

typedef struct heddle_kernel_estimate {
	int n_stmt;
	const char **stmt;
	double blocks;
	int threads;
	double shared_bytes; /* per block */
	double registers;    /* 32-bit, per thread: arrays, operands and a base for addresses */
	double resident;     /* blocks per unit at the same time */
	const char *limiter; /* what keeps it from being more */
	double occupancy;    /* resident threads of those that a unit can hold */
	double waves;	     /* fills of the machine, as a fraction */
	double traffic;	     /* bytes, global memory */
	double flops;
	double memory_seconds, compute_seconds, seconds;
	const char *bound; /* "memory" or "compute" */
	int n_group;
	heddle_group_estimate *group;
} heddle_kernel_estimate;

typedef struct heddle_estimate {
	int n_kernel;
	heddle_kernel_estimate *kernel;
	double seconds; /* launches included */
} heddle_estimate;

/* Estimate all kernels of a scop after pass `place`; sizes that are open count with a typical value.  In `arena`.
 *
 * footprint of an access in a block: product over subscripts of 1 + sum |coefficient| (range of index in the block - 1),
 * capped by the tensor's extent; traffic = footprint x blocks (x steps for a staged tile).
 * time = max(traffic / bandwidth, flops / rate) / (waves / ceil(waves)) + launch overhead. */
heddle_estimate *heddle_cost_estimate(heddle_arena *arena, const heddle_scop *scop);

#endif
