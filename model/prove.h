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
	isl_set **run;	 /* by the number of a leaf: runs(), NULL until it is asked for */
	signed char *always; /* by the numbers of a barrier and a leaf: 0 not asked yet, else what always_with() said, 1 or -1 */
	isl_set **shape; /* by the position of a tensor: { T[e] : 0 <= e < extent }, likewise */
} prover;

/* One access of a leaf, { L[x] -> place }.  In coordinates it is { [blocks, threads, x] -> place }, by number
 * { E[blocks, thread, x] -> place } with one number for the thread: the threads of moves have other coordinates than those of
 * statements. */
typedef struct event {
	int at; /* position of the leaf */
	heddle_leaf *leaf;
	const void *place; /* the tensor (global) or the group (shared) */
	const heddle_access *of; /* of the statement; NULL: a move's */
	bool write;
	isl_map *access;
	isl_map *coordinates, *numbered; /* NULL until they are asked for */
} event;

typedef struct event_list {
	int n;
	event *item;
} event_list;

/* ---- prove_coordinates.c ---- */

int heddle_prove_violated(prover *p, const heddle_leaf *leaf, const char *what);
int heddle_prove_missing(prover *p, const heddle_stmt *stmt, const char *what);
/* Does the parameter say where a thread is, other than by the coordinates that the leaf is laid out with? */
bool heddle_prove_foreign(const prover *p, const heddle_leaf *leaf, const char *name);
__isl_give isl_set *heddle_prove_without_foreign(const prover *p, const heddle_leaf *leaf, __isl_take isl_set *set);
/* For some thread. */
__isl_give isl_map *heddle_prove_without_threads(__isl_take isl_map *map);
__isl_give isl_set *heddle_prove_range_of_threads(__isl_take isl_map *map);
/* A copy of its own: isl simplifies shared sets in place, and what is generated must not depend on what was asked here. */
__isl_give isl_set *heddle_prove_own_copy(__isl_keep isl_set *set);
/* { L[x] } that run in the blocks of the branch; only the leaf's own coordinates bound it (heddle_prove_threads). */
__isl_give isl_set *heddle_prove_runs(prover *p, const heddle_leaf *leaf);
/* { L[x] -> .. } where it runs */
__isl_give isl_map *heddle_prove_where_it_runs(prover *p, const heddle_leaf *leaf, __isl_take isl_map *access);
/* Coordinates of a thread: of the members, then the lane. */
int heddle_prove_n_coordinate(const prover *p);
/* { L[x] -> .. } becomes { [blocks, first `after` of x, threads, rest of x] -> .. } */
__isl_give isl_map *heddle_prove_with_coordinates(prover *p, __isl_take isl_map *map, int after);
/* { L[x] -> .. } becomes { E[blocks, thread, x] -> .. } with the number of the thread, whatever its coordinates. */
__isl_give isl_map *heddle_prove_with_number(prover *p, const heddle_leaf *leaf, __isl_take isl_map *map);
/* Two sets of coordinates of members and the lane are two threads: from the smallest stride up, each coordinate counts whole
 * rounds of those before it. */
int heddle_prove_coordinates(prover *p);
bool heddle_prove_subset(__isl_take isl_map *a, __isl_take isl_map *b);
bool heddle_prove_inside(__isl_take isl_set *a, __isl_take isl_set *b);
/* Is all of { [x] -> v } in { [first of x] -> v }, the other dimensions of x being anything? */
bool heddle_prove_subset_beyond(__isl_take isl_map *a, __isl_take isl_map *b);
/* { L[x] -> v } becomes { [first `keep` of x] -> v } */
__isl_give isl_map *heddle_prove_first_loops(__isl_take isl_map *map, int keep);
__isl_give isl_multi_pw_aff *heddle_prove_index_of(const heddle_leaf *leaf, const heddle_access *access);
/* { L[x] -> T[e] } */
__isl_give isl_map *heddle_prove_element_of(const heddle_leaf *leaf, const heddle_access *access);
/* { L[x] -> T[e] } : the first element of the tile of `group` in the round of the leaf */
__isl_give isl_multi_aff *heddle_prove_tile_start(const heddle_leaf *leaf, const heddle_group *group);
/* { L[x] -> T[e - offset] } in a shared tile */
__isl_give isl_multi_pw_aff *heddle_prove_place_in_tile(const heddle_leaf *leaf, const heddle_access *access);

/* { L[x] -> L'[y] } from each instance of a leaf to the one of another that has the same place in the loops over the same parts of
 * the same dimensions, and 0 in others. */
__isl_give isl_multi_aff *heddle_prove_alike(const heddle_leaf *leaf, const heddle_leaf *other);
/* Does the other leaf run, in the same thread, where { L[x] -> L'[y] } takes these instances? */
bool heddle_prove_runs_at(prover *p, __isl_take isl_set *some, const heddle_leaf *other, __isl_take isl_multi_aff *there);

/* ---- prove_values.c ---- */

/* Accesses to memory that other threads can see. */
void heddle_prove_collect(prover *p, event_list *list);
/* { L[x] -> S[d] } */
__isl_give isl_map *heddle_prove_instances(prover *p, const heddle_leaf *leaf);
/* { L[x] : its instance is in `set` } */
__isl_give isl_set *heddle_prove_that_are_in(const heddle_leaf *leaf, __isl_keep isl_set *set);
/* Do all lanes run what one could?  Then each has its own copy of the result. */
bool heddle_prove_replicated(prover *p, const heddle_leaf *leaf);
/* What lane 0 of all lanes has. */
__isl_give isl_map *heddle_prove_first_lane(__isl_take isl_map *map);
/* { L[x] -> v }: does v tell all variables of the leaf?  A sufficient condition, by arithmetic. */
bool heddle_prove_tells_all(prover *p, const heddle_leaf *leaf, __isl_keep isl_multi_aff *f, bool one_lane);
/* Does the place in the tile tell which thread of a block moves what is there, where the first `level` loops are the same?  A
 * sufficient condition, by arithmetic. */
bool heddle_prove_tells_mover(prover *p, const heddle_leaf *move, int level);
/* Does no instance run twice, in lane 0 or in all lanes? */
bool heddle_prove_single(prover *p, const heddle_leaf *leaf, bool one_lane);
int heddle_prove_once(prover *p);
/* The instances in `set` that belong to the block. */
__isl_give isl_set *heddle_prove_in_block(prover *p, const heddle_stmt *stmt, __isl_take isl_set *set);
/* ... for each block of the branch */
__isl_give isl_set *heddle_prove_in_blocks(prover *p, const heddle_stmt *stmt, __isl_take isl_set *set);
/* Every instance that belongs to a block of the branch runs there. */
int heddle_prove_covered(prover *p);
/* Beyond the domain only sums that nobody keeps: private accumulators whose row is not stored.  And in no other block than the
 * instance's own. */
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
