/* What one launch requires of the machine: the only input of `rate`, whoever fills it.
 *
 * footprint.c fills it in closed form from a scop and a config, measure.c from a program, bench/replay from the parameters of kernels that
 * Heddle did not write.  All counts are of average blocks at the given sizes; a fraction is fine.  Zero is the value of what does not occur.
 *
 * Instructions are those of a warp (simt), or of one thread on registers of `vector_bytes` (simd): a vector of 64 bytes is two instructions on a
 * chip with 32-byte registers.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_LOAD_H
#define HEDDLE_LOAD_H

#include "base/base.h"

typedef enum heddle_instruction {
	HEDDLE_INSTRUCTION_FMA,	   /* float32 (and narrower) add, multiply, multiply-add */
	HEDDLE_INSTRUCTION_FMA64,  /* the same in float64 */
	HEDDLE_INSTRUCTION_FLOAT,  /* comparison, minimum, select, sign */
	HEDDLE_INSTRUCTION_INTEGER,
	HEDDLE_INSTRUCTION_SPECIAL, /* division, root, exp, log, sine: one call */
	HEDDLE_INSTRUCTION_CONVERT,
	HEDDLE_INSTRUCTION_PERMUTE, /* moves lanes of a vector: splat, extract, build, zip (simd) */
	HEDDLE_INSTRUCTION_SHUFFLE, /* between threads */
	HEDDLE_INSTRUCTION_SHARED_LOAD,
	HEDDLE_INSTRUCTION_SHARED_STORE,
	HEDDLE_INSTRUCTION_GLOBAL_LOAD,
	HEDDLE_INSTRUCTION_GLOBAL_STORE,
	HEDDLE_INSTRUCTION_STACK,  /* load or store of a private array that is in memory */
	HEDDLE_INSTRUCTION_BRANCH, /* the overhead of one loop iteration or condition */
	HEDDLE_INSTRUCTION_BARRIER,
	HEDDLE_INSTRUCTION_MATRIX,
	HEDDLE_N_INSTRUCTION
} heddle_instruction;

/* Distinct data: lines of memory, and how many separate contiguous runs they form (prefetchers follow a run, not a jump). */
typedef struct heddle_touch {
	double bytes; /* whole lines */
	double runs;
} heddle_touch;

enum {
	HEDDLE_LOAD_DISTANCES = 48, /* powers of two of bytes */
	HEDDLE_LOAD_SPANS = 12,
};

/* Distinct data of so many consecutive blocks. */
typedef struct heddle_span {
	double blocks;
	heddle_touch touched; /* global memory, read or written */
} heddle_span;

typedef struct heddle_load {
	double blocks;
	int threads; /* of a block */
	double imbalance; /* work of the first unit's blocks over that of average ones, where each unit takes neighbours; 0, 1: none */

	/* One block, all its warps together. */
	double instruction[HEDDLE_N_INSTRUCTION];
	double shared_cycles; /* in which shared memory serves one word of every bank: conflicts included */
	double sectors;	      /* of global memory that its warps request, before any cache */
	double cache_cycles;  /* in which the first cache looks up the lines of those requests and reads its banks: simt */
	double stored;	      /* bytes of lines that it writes to global memory */
	double updated;	      /* of them those of arrays that it reads as well */
	double streamed;      /* of them those stored past the caches */
	double ahead;	      /* bytes of lines that an earlier block has prefetched by an instruction */
	/* again[i]: data of global memory that the block touches again after it has touched 2^i to 2^(i+1) other bytes (shared tiles and arrays
	 * in memory included where the descriptor keeps those in the same caches: simd) */
	heddle_touch again[HEDDLE_LOAD_DISTANCES];
	double common; /* bytes of global memory that a block touches and all others touch as well */
	/* The first entry is one block, the last the whole grid; between them each grid dimension, the fastest first.  Data of a part of a
	 * dimension is interpolated between two entries. */
	int n_span;
	heddle_span span[HEDDLE_LOAD_SPANS];

	/* One warp. */
	double chain[HEDDLE_N_INSTRUCTION]; /* instructions on its longest dependent path, from the start of a block to its end */
	double prefetched;		    /* of chain[GLOBAL_LOAD]: waits whose latency a whole step of other work overlaps */
	double flight;			    /* bytes of global memory that a thread has requested when it first waits */

	/* One thread. */
	double registers;  /* 32-bit words live at most (simd: vector registers) */
	double peak_runs;  /* how often it runs through the code where that many are live */

	double shared_bytes; /* of a block */
	int min_blocks;	     /* resident blocks that the register budget was chosen for; 0: none */
} heddle_load;

#endif
