/* The mapped schedule of a kernel: leaves (mapped statements) in a tree of sequences and loops.
 *
 * A leaf's instances are L[x0, x1, ..]: its enclosing loops from outside in.  Block, thread and lane coordinates are isl
 * parameters ("c_i_block", "c_i_thread", "c_lane"; sizes are "N_M"), so everything stays affine.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_NEST_H
#define HEDDLE_NEST_H

#include "model/scop.h"

typedef enum heddle_leaf_kind {
	HEDDLE_LEAF_INITIALISE, /* accumulator = identity */
	HEDDLE_LEAF_COMPUTE,	/* the statement itself */
	HEDDLE_LEAF_COMBINE,	/* accumulators of a thread's vector members and of the lanes become one value, in every lane */
	HEDDLE_LEAF_FINISH,	/* target = accumulator */
	HEDDLE_LEAF_STORE,	/* global tensor = register group */
	HEDDLE_LEAF_MOVE,	/* shared tile = global tensor; with `fill`: the zeros only */
	HEDDLE_LEAF_COPY,	/* an asynchronous copy of the tile's elements that exist; its last loop is over a row's elements */
	HEDDLE_LEAF_WAIT,	/* for the copies */
	HEDDLE_LEAF_BARRIER,
} heddle_leaf_kind;

struct heddle_leaf {
	heddle_leaf_kind kind;
	int number;
	const char *name; /* "L3" */
	heddle_stmt *stmt;
	heddle_group *group;
	int n_loop;
	struct heddle_nest *loop[2 * HEDDLE_MAX_DIM];
	isl_set *domain;	 /* { L3[x] } that run */
	isl_set *spread;	 /* what is scheduled: with a guard of members as a condition inside, not in loop bounds */
	isl_set *box;		 /* without the guards of members: what an interior block runs */
	isl_multi_aff *instance; /* { L3[x] -> S[d] }; FINISH: reduction dimensions are at 0 */
	isl_multi_aff *element;	 /* MOVE: { L3[x] -> T[e] } */
	isl_multi_aff *position; /* MOVE: { L3[x] -> T[e - offset] } */
	isl_set *valid;		 /* MOVE, COPY: elements inside the tensor; others are filled with 0 */
	bool fill;		 /* MOVE: of a group that is copied: only what the copy leaves out */
};

typedef enum heddle_nest_kind { HEDDLE_NEST_SEQUENCE, HEDDLE_NEST_LOOP, HEDDLE_NEST_LEAF } heddle_nest_kind;

/* Loops of a move: over rows, columns and vectors; HEDDLE_MOVE_ROWS - e over rows along dimension e of the tensor only. */
enum { HEDDLE_MOVE_ROW = -1, HEDDLE_MOVE_COLUMN = -2, HEDDLE_MOVE_VEC = -3, HEDDLE_MOVE_ROWS = -4 };

typedef struct heddle_nest {
	heddle_nest_kind kind;
	int n_child;
	struct heddle_nest **child;
	const char *name; /* LOOP: as printed */
	heddle_loop_kind loop;
	heddle_part part;
	int dim;	 /* of the statement, or HEDDLE_MOVE_... of a move or copy */
	int64_t extent;	 /* ROUND, ITEM and VEC parts; 0: unbounded (tile loops) */
	heddle_leaf *leaf;
} heddle_nest;

/* One of at most two versions of a kernel: all blocks, or interior and boundary. */
typedef struct heddle_branch {
	bool interior;	 /* members' guards are known to hold */
	isl_set *blocks; /* parameters only: which blocks take it */
	heddle_nest *nest;
} heddle_branch;

/* Whole rounds of an open size, as a parameter of isl's sets: without quotients in them they stay small. */
typedef struct heddle_quotient {
	const heddle_size *size;
	int64_t by;
	const char *param; /* by * param <= size < by * (param + 1) */
} heddle_quotient;

typedef struct heddle_mapped {
	heddle_scop *scop;
	heddle_kernel *kernel;
	isl_set *context; /* bounds of sizes and coordinates */
	const char *params;
	int n_branch;
	heddle_branch branch[2];
	int n_leaf;
	heddle_leaf **leaf;
	/* copy coordinates by their number of columns: "c_row16", "c_column16" with thread = row * columns + column */
	int n_columns;
	int64_t columns[HEDDLE_MAX_DIM];
	int n_quotient;
	heddle_quotient quotient[HEDDLE_MAX_DIM];
} heddle_mapped;

/* The number of the loop over a part of a statement's dimension around the leaf; -1: there is none. */
int heddle_leaf_loop(const heddle_leaf *leaf, int dim, heddle_part part);

/* Is there something in it that all threads of the block do together: a barrier, a combination over the lanes, a wait for copies? */
bool heddle_nest_threads_meet(const heddle_nest *nest);

/* map, sync and bound: kernel -> leaves, barriers, versions.  NULL with a diagnostic. */
heddle_mapped *heddle_map_kernel(heddle_scop *scop, heddle_kernel *kernel);
heddle_mapped *heddle_mapped_free(heddle_mapped *mapped);
void heddle_mapped_print(const heddle_mapped *mapped, heddle_text *out);

/* Name of the isl parameter of a member's block or thread coordinate. */
const char *heddle_block_param(heddle_scop *scop, const heddle_member *member);
const char *heddle_thread_param(heddle_scop *scop, const heddle_member *member);
/* Name of the loop over a part of a statement's dimension. */
const char *heddle_loop_name(heddle_scop *scop, const heddle_stmt *stmt, int dim, heddle_part part);

#endif
