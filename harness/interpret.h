/* The level `interpret`: a program run on host arrays, its memory accesses watched (DESIGN section 8).
 *
 * All threads of a block run in lockstep under masks, blocks one after another in an order shuffled by `seed`.  Found are:
 *   bounds         a subscript outside its dimension (a linearised access: outside the buffer); ends the run
 *   race           two threads of a block touch one element of shared or global memory with no barrier between, or two blocks
 *                  of a launch touch one element of global memory; one of the two writes
 *   uninitialised  shared, register, temporary or output memory read before it is written
 *   barrier        a barrier that some threads of the block do not reach; ends the run
 *   shuffle        a shuffle that some threads of the warp do not reach
 *   alignment      a vector access whose address need not be a multiple of its size
 *   arithmetic     integer division by zero, a floor division by a divisor below 1, a shift by the width or more
 *   workspace      a temporary that does not lie inside the workspace
 *   precondition   the sizes break a precondition of the program; nothing runs
 *   timeout        the limit on operations or seconds is reached; ends the run
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_INTERPRET_H
#define HEDDLE_INTERPRET_H

#include "arch/descriptor.h"
#include "harness/tensor.h"
#include "model/program.h"

typedef struct heddle_interpret_finding {
	const char *kind;
	int launch; /* position in the program; -1: before the first launch */
	int node;   /* id in the launch (heddle_program_number); -1: none */
	int line;   /* of the definition's source; 0: unknown */
	int64_t block;
	int thread;
	const char *text;
} heddle_interpret_finding;

/* What active threads did; a vector access counts each of its elements.  Scalars and sizes are not memory. */
typedef struct heddle_interpret_traffic {
	uint64_t load_elements, load_bytes;
	uint64_t store_elements, store_bytes;
	uint64_t load_accesses, store_accesses; /* a vector access counts once per thread */
	/* Requests of a warp (`interpret.warp` threads with one access): global memory in sectors, shared memory in
	 * cycles of its banks (1 per request without conflict, wide vectors in parts).  Zero for registers. */
	uint64_t load_requests, load_transactions;
	uint64_t store_requests, store_transactions;
} heddle_interpret_traffic;

typedef struct heddle_interpret_launch {
	int n_node;
	uint64_t *runs;	 /* [n_node] times a node ran in a block with at least one thread */
	uint64_t *lanes; /* [n_node] the same, counted in threads */
	uint64_t blocks;
	uint64_t barriers; /* per block */
	uint64_t shuffles; /* per thread */
	uint64_t float_operations; /* per thread and vector member; an fma counts two, a function one */
	heddle_interpret_traffic space[HEDDLE_N_SPACE];
	heddle_interpret_traffic *buffer; /* [program->n_buffer] */
} heddle_interpret_launch;

typedef struct heddle_interpret {
	heddle_arena *arena; /* the caller's: everything that comes out lives there */
	/* in */
	const heddle_program *program; /* valid (heddle_program_validate) and numbered (heddle_program_number) */
	const int64_t *size;	       /* [program->n_size] */
	heddle_array *const *array;    /* [program->n_buffer]: inputs, outputs, inouts and scalars (rank 0) with the shapes that
					* the sizes give, in any strides; NULL for all others */
	uint64_t seed;
	uint64_t max_operations; /* lane operations; 0: 2e10 */
	double timeout;		 /* seconds; 0: 60 */
	int max_findings;	 /* 0: 16; one per launch, node and kind */
	int warp;		 /* threads of a request; 0: program->warp, or 32 when that is 1 and blocks have more threads */
	bool unaligned_vectors;	 /* the language takes vectors at the alignment of their elements */
	heddle_transfer transfer; /* to count requests and transactions by (slower); sector 0: they are not counted */
	/* out */
	int n_finding;
	heddle_interpret_finding *finding;
	heddle_interpret_launch *launch; /* [program->n_launch] */
	int64_t *unwritten;		 /* [program->n_buffer]: elements of an output that nothing wrote */
	uint64_t operations;		 /* lane operations of the interpreter */
} heddle_interpret;

/* Run all launches in order.  0 when it ran, with or without findings; -1 with a diagnostic when it could not start: E0950 (the
 * program is not valid), E0771 (an array is missing or of another type or shape). */
int heddle_interpret_run(heddle_ctx *ctx, heddle_interpret *interpret);

#endif
