/* What a mapped config will cost, from the scop and the descriptor alone: no code is generated, and none is needed.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_ESTIMATE_H
#define HEDDLE_ESTIMATE_H

#include "cost/count.h"

/* One reference group of a kernel. */
typedef struct heddle_group_estimate {
	const char *name;  /* "A.0" */
	const char *space; /* "shared", "register", "global" */
	double footprint;  /* bytes that one block touches (shared: of one step) */
	double traffic;	   /* bytes between global memory and all blocks */
	double run;	   /* bytes of it that lie side by side */
	const char *why;   /* one line */
} heddle_group_estimate;

typedef struct heddle_kernel_estimate {
	int n_stmt;
	const char **stmt;
	double blocks;
	int threads;
	double shared_bytes; /* per block */
	double registers;    /* 32-bit, per thread: arrays, operands and a base for addresses */
	bool fits;	     /* a thread's registers are enough: nothing spills */
	double resident;     /* blocks per unit at the same time */
	const char *limiter; /* what keeps it from being more */
	double occupancy;    /* resident threads of those that a unit can hold */
	double waves;	     /* fills of the machine, as a fraction */
	double traffic;	     /* bytes, global memory */
	double flops;	     /* that the definition asks for */
	double computed;     /* those of tiles' edges, idle lanes and sums that registers do not hold with them */
	double accesses;     /* instructions that load or store, of a warp or of a thread with vectors */
	double memory_seconds, wait_seconds, near_seconds, compute_seconds, seconds;
	const char *bound; /* "memory", "waiting", "loads" or "compute" */
	int n_group;
	heddle_group_estimate *group;
} heddle_kernel_estimate;

typedef struct heddle_estimate {
	bool fits; /* all kernels do */
	int n_kernel;
	heddle_kernel_estimate *kernel;
	double seconds; /* launches included */
} heddle_estimate;

/* Estimate all kernels of a scop after pass `place`; sizes that are open count with a typical value.  `program`: what became of the scop,
 * whose text says exactly how many bytes move; NULL: it is not there yet.  In `arena`.
 *
 * footprint of an access in a block: product over subscripts of 1 + sum |coefficient| (range of index in the block - 1),
 * capped by the tensor's extent; traffic = footprint x blocks (x steps for a staged tile).
 *
 * memory:  each tensor once at the bandwidth of global memory, the rest of its traffic at that of the last cache if it fits there.
 * wait:    simd: half the latency of where it comes from for each run of bytes that lie side by side, as what fetches ahead follows a
 *	    run to the end of its page; threads of a simt chip wait while others work, except where a block begins and ends.
 * near:    simd: a vector register's bytes for each load and store, at the first cache's bandwidth; simt: cycles of the shared memory's
 *	    banks at its bandwidth, beside the sectors that go to the last cache at that one's.
 * memory of a simt chip is as fast as bytes in flight let it be: those of the threads that a unit has at once against bandwidth x latency.
 * compute: the work of whole tiles and whole vectors, at the rate of the type.
 *
 * simd: one thread issues loads, stores and arithmetic: near and compute come one after the other, as does wait.  What can overlap does
 * by four fifths.  All of it over the share of the time in which units have blocks, and launch overhead on top. */
heddle_estimate *heddle_cost_estimate(heddle_arena *arena, const heddle_scop *scop, const heddle_count_language *language,
				      const heddle_program *program);

#endif
