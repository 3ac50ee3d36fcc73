/* References to memory inside a tree of loops: distinct data, reuse distances, sectors and bank cycles.
 *
 * A working set in the sense of PolyDL (TACO 2020): the data of one iteration of a loop is what other references touch before an iteration comes
 * back to the same element.  Subscripts are sums of strides times loop variables, so that the data of a loop is a box, counted without isl.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_REUSE_H
#define HEDDLE_REUSE_H

#include "arch/descriptor.h"
#include "cost/load.h"

enum { HEDDLE_REFERENCE_DIGITS = 24, HEDDLE_MOST_LANES = 64 };

/* The grid's dimensions come first, the slowest first, each the parent of the next; then the loops of a block.  A parent stands before its
 * children. */
typedef struct heddle_reuse_loop {
	int parent; /* -1: none */
	bool grid;
	double trips; /* average, each time the parent's body runs once */
} heddle_reuse_loop;

/* One coordinate of an address: `extent` values, `stride` bytes apart (0: the same element again). */
typedef struct heddle_reuse_digit {
	int loop; /* whose iterations they are; -1: items, lanes and threads, within one iteration of all loops */
	double stride, extent;
} heddle_reuse_digit;

typedef struct heddle_reference {
	int loop;      /* the innermost loop around it; -1: none */
	int array;     /* equal for references to one tensor, whose data may coincide */
	double bytes;  /* of one element */
	double size;   /* of the array, in bytes; data is never more */
	double times;  /* executions in one iteration of `loop` by all threads of the block, elements counted in the digits apart: 1 */
	bool indirect; /* each element is anywhere in the array */
	bool ahead;    /* an earlier block has prefetched its lines by an instruction */
	bool streamed; /* stored past the caches: nothing waits for its lines */
	int n_digit;
	heddle_reuse_digit digit[HEDDLE_REFERENCE_DIGITS];
} heddle_reference;

/* Fill load->span, load->again and load->ahead from references to global memory (simd: to shared tiles and arrays in memory as
 * well).  `line`: bytes; `transfer`: of the first cache, whose sets lengthen distances; NULL: they do not. */
void heddle_reuse(heddle_load *load, const heddle_reuse_loop *loop, int n_loop, const heddle_reference *reference, int n_reference,
		  double line, const heddle_transfer *transfer);
/* Distinct bytes of an average block. */
double heddle_reuse_average(const heddle_reuse_loop *loop, int n_loop, const heddle_reference *reference, int n_reference, double line);

/* One request of a warp: the byte address of each lane that takes part, and the bytes that each moves. */
double heddle_request_sectors(const heddle_transfer *transfer, const int64_t *address, int n, int bytes);
double heddle_request_cache_cycles(const heddle_transfer *transfer, const int64_t *address, int n, int bytes);
double heddle_request_cycles(const heddle_transfer *transfer, const int64_t *address, int n, int bytes); /* of shared memory */

#endif
