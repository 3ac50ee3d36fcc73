/* Inside of the closed form: what is counted of accesses, and of all else.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_FOOTPRINT_PARTS_H
#define HEDDLE_FOOTPRINT_PARTS_H

#include "cost/footprint.h"

/* Iterations of a loop whose loads compilers issue before the first is used (measured on generated PTX and on what PoCL
 * makes: 4). */
enum { FOOTPRINT_UNROLLED = 4 };

/* Words of a simt thread: an address; what is loaded or computed together where nothing else uses it. */
enum { FOOTPRINT_ADDRESS = 2, FOOTPRINT_UNDER_WAY = 8 };

typedef struct footprint_counter {
	const heddle_outline *o;
	const heddle_candidate *c;
	heddle_load *load;
	heddle_shape *shape;
	heddle_box box[HEDDLE_SPACE_GROUPS];
	int threads, warps, n_lane;                    /* n_lane: of the first warp */
	bool outside;                                  /* rounds are */
	int64_t at[HEDDLE_MAX_DIM][HEDDLE_MOST_LANES]; /* a member's thread coordinate in each lane */
	int64_t lane[HEDDLE_MOST_LANES];
	/* registers, in words or vectors of one thread */
	double kept, most; /* of the whole kernel; of the statement that takes most */
	double loaded;     /* of the statement at hand: what it reads */
	double sums;       /* ... what it sums into, or computes together */
	/* simt */
	double indexed;                    /* ... its addresses, and what it prefetches */
	double moved;                      /* ... what it loads for shared memory before it stores that */
	double group[HEDDLE_SPACE_GROUPS]; /* of groups that are held in registers */
	double results;                    /* addresses of what the statement stores, computed after its loops */
} footprint_counter;

/* How a thread makes an access: instructions for what is written out, of how many bytes; elements that are gathered one
 * by one. */
typedef struct footprint_request {
	double n, bytes, gathered;
	double words;                /* registers for all of it */
	double addresses;            /* simt: those whose distance from each other is no number */
	double step[HEDDLE_MAX_DIM]; /* bytes in the space where it goes */
} footprint_request;

/* ---- footprint_access.c ---- */

void footprint_threads(footprint_counter *k); /* places them */
heddle_space footprint_space(const footprint_counter *k, const heddle_outline_access *a);
/* So many instructions of each warp of a block. */
void footprint_count(footprint_counter *k, heddle_instruction kind, double n);
footprint_request footprint_request_of(const footprint_counter *k, const heddle_shape *s,
				       const heddle_outline_access *a);
/* `times` executions of an access of memory by each thread. */
void footprint_access(footprint_counter *k, const heddle_shape *s, const heddle_outline_access *a,
		      const footprint_request *r, double times, bool store);
/* What the statement reads.  Returns the iterations in which that is global memory. */
double footprint_reads(footprint_counter *k, const heddle_shape *s);
/* The tiles that are filled for it. */
void footprint_tiles(footprint_counter *k, const heddle_shape *s, int stmt);

#endif
