/* What the closed form needs of one kernel, taken once from the scop after pass `fuse`; and a candidate: one choice of
 * its layouts and spaces.
 *
 * Subscripts become factors: bytes from one value of a dimension to the next.  Afterwards a candidate costs arithmetic
 * alone, no isl and no memory. SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_OUTLINE_H
#define HEDDLE_OUTLINE_H

#include "cost/load.h"
#include "model/scop.h"

enum {
	HEDDLE_SLOTS = 48,        /* dimensions with a layout: those of more statements keep one element a step */
	HEDDLE_SPACE_GROUPS = 32, /* reference groups: more stay in global memory */
};

/* ---- candidate ---- */

/* As in config: tile = rounds * items * threads * vector. */
typedef struct heddle_slot_layout {
	int rounds, items, threads, vector;
} heddle_slot_layout;

typedef struct heddle_slot_group {
	signed char space; /* heddle_space */
	signed char last;  /* shared: the tensor's dimension that is innermost in the array; -1: as in the tensor */
	signed char copy;  /* shared: 1 + number of the descriptor's copy that moves it; 0: threads do */
	signed char prefetch;
	signed char vector, phases;
	short pad, columns; /* columns 0: as many as a row has vectors */
} heddle_slot_group;

typedef struct heddle_candidate {
	int lanes; /* threads of a block that members do not take */
	bool lanes_outer;
	int resident;                      /* 0: the compiler decides */
	unsigned streams;                  /* bit g: the tensor of group g is stored past the caches */
	signed char order[HEDDLE_MAX_DIM]; /* members, the slowest block coordinate first */
	heddle_slot_layout slot[HEDDLE_SLOTS];
	heddle_slot_group group[HEDDLE_SPACE_GROUPS];
} heddle_candidate;

/* ---- outline ---- */

/* How the language reads and writes memory (backends' heddle_language; cost/ does not see it). */
typedef struct heddle_space_language {
	int max_vector, max_bytes; /* members, bytes of the widest access; max_bytes 0: any */
	bool zips, unaligned, vector_arithmetic, shuffles;
} heddle_space_language;

typedef struct heddle_outline_access {
	const heddle_access *access;
	int group;                       /* -1: of rank 0 */
	int rank, row;                   /* row: the dimension whose elements lie side by side; -1: none */
	bool carried;                    /* in registers, from step to step; counts as of rank 0 */
	bool affine;                     /* each subscript is a sum of products with numbers */
	bool boxed;                      /* a tile of it has a fixed box: heddle_access_is_uniform */
	bool again;                      /* an earlier read of the statement is the same */
	unsigned mask;                   /* bit d: some subscript varies with dimension d */
	int aligned;                     /* rows begin at multiples of so many elements: a power of two, 64 at most */
	double bytes, size;              /* of an element, of the tensor */
	double stride[HEDDLE_MAX_RANK];  /* bytes, by tensor dimension */
	int64_t extent[HEDDLE_MAX_RANK]; /* by tensor dimension */
	int64_t first[HEDDLE_MAX_RANK];  /* each subscript where all indices are 0 */
	int64_t factor[HEDDLE_MAX_RANK][HEDDLE_MAX_DIM]; /* [tensor dimension][statement dimension] */
	double step[HEDDLE_MAX_DIM];                     /* bytes, by statement dimension */
	unsigned unknown;                                /* bit d: step[d] depends on sizes that are open */
} heddle_outline_access;

/* An operator of the value. */
typedef struct heddle_outline_operator {
	heddle_instruction kind;
	unsigned mask; /* the dimensions that it varies with */
	bool wide;     /* of 8 bytes */
} heddle_outline_operator;

typedef struct heddle_outline_stmt {
	const heddle_stmt *stmt;
	int n_dim;
	int slot[HEDDLE_MAX_DIM]; /* -1: none left, one element a step */
	double extent[HEDDLE_MAX_DIM];
	unsigned reductions, locals, ordered, members; /* masks; ordered: steps must follow one another */
	unsigned cut;                /* mask: dimensions on which another one's range depends, or that a condition compares: a triangle */
	int known[HEDDLE_MAX_DIM];   /* the extent where it is a number and begins at 0; else 0 */
	double cuts[HEDDLE_MAX_DIM]; /* guards of a window: how many vectors along the dimension are partial, for each
					term */
	double reach[HEDDLE_MAX_DIM]; /* guards of a window: results along the dimension that some term leaves out */
	int n_comparison;            /* of its guard */
	int n_access, n_operator;
	heddle_outline_access *access; /* [0]: the target */
	heddle_outline_operator *operator;
	int depth[HEDDLE_N_INSTRUCTION]; /* operators of the value on its longest path */
	heddle_instruction sum;          /* what adds a term to it; with a result that is only set: none */
	double sum_bytes;                /* of an accumulator's element */
} heddle_outline_stmt;

typedef struct heddle_outline_group {
	const heddle_tensor *tensor;
	int number;
	int stmt, access; /* the first access; shared tiles are that statement's */
	bool written, used_after;
	bool keeps; /* it could live in registers, if layouts agree */
	int uses;   /* accesses */
} heddle_outline_group;

typedef struct heddle_outline {
	const heddle_scop *scop;
	const heddle_kernel *kernel;
	const heddle_descriptor *descriptor;
	heddle_space_language language;
	heddle_transfer transfer;
	bool simd;
	int warp;
	double line;          /* bytes, of global memory */
	double vector_bytes;  /* of a register, or of the widest access of a thread */
	int n_member, n_slot; /* members have the first slots */
	double member_extent[HEDDLE_MAX_DIM];
	int n_stmt;
	heddle_outline_stmt *stmt;
	int main; /* the statement with most work */
	int n_group;
	heddle_outline_group *group;
	struct heddle_shape *shape; /* [n_stmt]: room for the closed form's work */
	const struct heddle_given *given; /* what all candidates have; NULL: nothing */
} heddle_outline;

/* Of a kernel after pass `fuse`, in the arena.  `size`: the sizes' values [definition->n_size]; NULL: typical ones. */
heddle_outline *heddle_outline_new(heddle_arena *arena, heddle_scop *scop, heddle_kernel *kernel,
				   const heddle_space_language *language, const int64_t *size);
/* Is the distance between neighbours along the tensor's dimension e a number? */
bool heddle_stride_known(const heddle_tensor *tensor, int e);
/* The factor of each index in a sum of products with numbers, added to factor[]; false: it is none. */
bool heddle_factors(const heddle_expr *expr, int64_t by, int64_t *factor);

/* ---- given.c ---- */

typedef struct heddle_given heddle_given;

/* What the config gives of the kernel: its layouts as a whole, its order, its streams, single groups.  Both outlive the outline. */
void heddle_outline_give(heddle_arena *arena, heddle_outline *outline, heddle_config *config);
bool heddle_given_layout(const heddle_outline *outline);
/* Change the candidate to have the given layouts; to have all that is given. */
void heddle_given_lay_out(const heddle_outline *outline, heddle_candidate *candidate);
void heddle_given_apply(const heddle_outline *outline, heddle_candidate *candidate);

/* ---- candidate.c ---- */

/* Each member and dimension one element, everything in global memory. */
void heddle_candidate_begin(const heddle_outline *outline, heddle_candidate *candidate);
int heddle_candidate_threads(const heddle_outline *outline, const heddle_candidate *candidate);
static inline int heddle_slot_tile(const heddle_slot_layout *l)
{
	return l->rounds * l->items * l->threads * l->vector;
}
/* The choice that a kernel after pass `place` has. */
void heddle_candidate_of(const heddle_outline *outline, heddle_candidate *candidate);
/* Words that a thread holds of the group in registers, or bytes in an array in its memory (`array`); false: it cannot
 * live there. */
bool heddle_candidate_keeps(const heddle_outline *outline, const heddle_candidate *candidate, int group, double *words,
			    double *array);
/* Groups whose stores fill whole lines at a time, and which nothing else of the kernel touches: these may go past the caches. */
unsigned heddle_candidate_streams(const heddle_outline *outline, const heddle_candidate *candidate);
/* Does it keep to what passes and the descriptor demand? */
bool heddle_candidate_legal(const heddle_outline *outline, const heddle_candidate *candidate);
/* Write it into the config's part of the kernel, which is empty. */
void heddle_candidate_config(const heddle_outline *outline, const heddle_candidate *candidate, heddle_config *config);

#endif
