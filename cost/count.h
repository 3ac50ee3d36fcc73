/* What a mapped kernel moves, counted from layouts and subscripts alone: no code is generated, isl is not asked.
 *
 * The interpreter counts the same on the generated program (harness/interpret.h, heddle_interpret_traffic): tests/cost compares
 * them.  Counts are exact for subscripts that are affine where tiles are full; tiles at an edge count as far as is known what a text
 * makes of them, indirect subscripts with the sectors that they would need at worst.  Once there is a text, its own bytes take
 * their place (heddle_cost_settle), and those are exact everywhere.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_COUNT_H
#define HEDDLE_COUNT_H

#include "model/program.h"
#include "model/scop.h"

/* Of one space.  A request is one access of a warp; transactions are the descriptor's sectors (global) or cycles of its banks
 * (shared). */
typedef struct heddle_movement {
	double load_bytes, load_requests, load_transactions;
	double store_bytes, store_requests, store_transactions;
} heddle_movement;

typedef struct heddle_kernel_count {
	double blocks;
	heddle_movement global, shared;
	double again; /* sectors of global memory that another request of the same fill of a tile brought */
	heddle_movement *group; /* [kernel->n_group]: of global memory, by what needs it */
	bool exact;		/* full tiles, affine subscripts, no guard */
	bool cut;		/* ends that move, guards or branches leave out a part of a statement's box */
	bool moving;		/* tiles are read under conditions, or a guard is not affine: loads of shared memory are those of whole tiles */
	bool conditional;	/* data decide about a read, which counts as if it always happened */
} heddle_kernel_count;

/* How the language reads and writes. */
typedef struct heddle_count_language {
	int max_vector;	   /* members of the widest vector in memory: 1 for none */
	int max_bytes;	   /* of the widest access; 0: any */
	bool zips;	   /* rows that vectors are gathered across are read by vectors and turned */
	bool unaligned;	   /* vectors need the alignment of their elements only */
} heddle_count_language;

/* Count kernel `kernel` of a scop after pass `place`, for the sizes' values [definition->n_size].  In `arena`. */
heddle_kernel_count heddle_cost_count(heddle_arena *arena, const heddle_scop *scop, const heddle_kernel *kernel,
				      const heddle_count_language *language, const int64_t *size);
/* Bytes as the text of the kernel's launch has them, for the same sizes (cost/traffic.h); requests and transactions go with them.  False, and
 * nothing changes: data decide about some of it. */
bool heddle_cost_settle(heddle_arena *arena, heddle_kernel_count *count, const heddle_program *program, int launch,
			const heddle_definition *definition, const int64_t *size);
/* Sizes as the model takes them, [definition->n_size]: those that are fixed, else typical ones. */
int64_t *heddle_cost_sizes(heddle_arena *arena, const heddle_scop *scop);
/* Cycles of one fill of a shared tile by the threads of its block: those of the banks, and a unit's from the cache.
 * *meets: lanes of a request wait for each other at the banks. */
double heddle_cost_fill(const heddle_scop *scop, const heddle_group *group, const int64_t *size, bool *meets);

#endif
