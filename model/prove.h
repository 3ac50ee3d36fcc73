/* Inside of the pass prove: the branch of a kernel that is looked at, and the accesses of its leaves.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_PROVE_H
#define HEDDLE_PROVE_H

#include "model/nest.h"

typedef struct prover {
	heddle_scop *scop;
	heddle_kernel *kernel;
	heddle_mapped *mapped;
	const heddle_branch *branch;
	isl_set *blocks; /* { : } that may take the branch: the boundary is checked for all blocks */
	int n_leaf;	 /* of the branch, in order */
	heddle_leaf **leaf;
	bool conditional;
} prover;

/* One access of a leaf: { E[blocks, thread, loops] -> place }. */
typedef struct event {
	int at; /* position of the leaf */
	heddle_leaf *leaf;
	const void *place; /* the tensor (global) or the group (shared) */
	bool write;
	isl_map *map;
} event;

typedef struct event_list {
	int n;
	event *item;
} event_list;

/* ---- prove_values.c ---- */

int heddle_prove_violated(prover *p, const heddle_leaf *leaf, const char *what);
int heddle_prove_missing(prover *p, const heddle_stmt *stmt, const char *what);
void heddle_prove_loop_tuple(const heddle_leaf *leaf, heddle_text *out);
/* Threads side by side in a row of the tile, as the move lays them out. */
int64_t heddle_prove_copy_columns(const prover *p, const heddle_group *group);
/* Is this parameter a coordinate, not a size?  (Without a name isl has failed: the pass reports it at its end.) */
bool heddle_prove_varies(const char *parameter);
__isl_give isl_set *heddle_prove_runs(prover *p, const heddle_leaf *leaf);
__isl_give isl_map *heddle_prove_event_map(prover *p, const heddle_leaf *leaf, __isl_take isl_map *access);
/* { L[x] -> T[e] } */
__isl_give isl_map *heddle_prove_element_of(const heddle_leaf *leaf, const heddle_access *access);
/* { L[x] -> T[e] } : the first element of the tile of `group` in the round of the leaf */
__isl_give isl_multi_aff *heddle_prove_tile_start(prover *p, const heddle_leaf *leaf, const heddle_group *group);
/* { L[x] -> T[e - offset] } in a shared tile */
__isl_give isl_map *heddle_prove_place_in_tile(prover *p, const heddle_leaf *leaf, const heddle_access *access);
/* Accesses to memory that other threads can see. */
void heddle_prove_collect(prover *p, event_list *list);
/* { E[blocks, thread, x] -> S[d] } */
__isl_give isl_map *heddle_prove_instances(prover *p, const heddle_leaf *leaf);
/* Do all lanes run what one could?  Then each has its own copy of the result. */
bool heddle_prove_replicated(prover *p, const heddle_leaf *leaf);
/* { thread : its lane is 0 } as a restriction of the events of a replicated leaf. */
__isl_give isl_map *heddle_prove_first_lane(prover *p, __isl_take isl_map *map);
int heddle_prove_once(prover *p);
/* The instances in `set` that belong to the blocks of the branch. */
__isl_give isl_set *heddle_prove_in_blocks(prover *p, const heddle_stmt *stmt, __isl_take isl_set *set);
/* Every instance that belongs to the blocks of the branch runs there. */
int heddle_prove_covered(prover *p);
/* Beyond the domain only sums that nobody keeps: private accumulators whose row is not stored. */
int heddle_prove_extra(prover *p);
int heddle_prove_values(prover *p);
int heddle_prove_stores(prover *p);

/* ---- prove_sums.c ---- */

int heddle_prove_common_loops(const heddle_leaf *a, const heddle_leaf *b);
int heddle_prove_sums(prover *p);

/* ---- prove_order.c ---- */

int heddle_prove_threads(prover *p);
/* Statements that depend on each other share no loop and follow each other as written; what a store writes was complete. */
int heddle_prove_sequence(prover *p);
/* Dependences of a statement on itself run forward in time, in one thread or with a barrier (heddle_prove_races). */
int heddle_prove_order(prover *p);
bool heddle_prove_is_move(const heddle_leaf *leaf);
/* What a round copies it also waits for, before anything reads the tile. */
int heddle_prove_waits(prover *p);
int heddle_prove_races(prover *p, event_list *list);

#endif
