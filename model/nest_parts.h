/* What the files of `map` share: building the tree (nest_tree.c), the sets of its leaves (nest_sets.c), versions (nest.c).
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_NEST_PARTS_H
#define HEDDLE_NEST_PARTS_H

#include "model/nest.h"

/* Leaves in the same tile loops, around one computation. */
typedef struct heddle_region {
	heddle_leaf *compute;
	heddle_leaf *rest; /* runs the rounds that are cut, `compute` the whole ones; NULL: `compute` runs all */
	int prefix;	   /* leading loops of its leaves: the tile loops */
	int n_leaf;
	heddle_leaf **leaf;
	int part; /* 0 everything, 1 full tiles, 2 the rest; where ranges begin inside of tiles 2 those that begin before what is to run, 3 the rest; where
		   * `n_cut` dimensions may lack some of a tile those that lack some along the first one, then of the others those along the second one, ... */
	int parts; /* into how many the statement's tiles are taken apart, 0: they are not */
	int n_cut; /* 0: it does not matter which */
	int cut[HEDDLE_MAX_DIM];
} heddle_region;

typedef struct heddle_nest_builder {
	heddle_scop *scop;
	heddle_kernel *kernel;
	heddle_mapped *mapped;
	bool interior;
	__isl_keep isl_set *blocks; /* that take the branch; NULL: any */
	int first; /* number of the first leaf of the branch that is being built, */
	int moved; /* and of the first one after the moves, where rounds are outside */
	int n_region;
	heddle_region *region;
} heddle_nest_builder;

/* ---- nest_tree.c ---- */

heddle_nest *heddle_nest_new(heddle_nest_builder *b, heddle_nest_kind kind);
heddle_leaf *heddle_nest_add_leaf(heddle_nest_builder *b, heddle_nest *parent, heddle_leaf_kind kind, heddle_stmt *stmt,
				  heddle_group *group);
/* Where rounds are outside: the moves of all statements and the loops over rounds; returns what is inside them. */
heddle_nest *heddle_nest_add_rounds(heddle_nest_builder *b, heddle_nest *root);
/* Everything of one statement, appended to the sequence of its kernel; `barrier_each`: a barrier after each round. */
void heddle_nest_add_stmt(heddle_nest_builder *b, heddle_nest *root, heddle_stmt *stmt, bool barrier_each);
/* The same of n statements that go through their tiles together (join.c). */
void heddle_nest_add_joined(heddle_nest_builder *b, heddle_nest *root, heddle_stmt *const *stmt, int n);
/* Threads along a row of a shared tile while it is moved. */
int64_t heddle_nest_columns(heddle_nest_builder *b, const heddle_group *group);
bool heddle_stmt_has_lanes(const heddle_stmt *stmt);
/* Are its sums combined over lanes? */
bool heddle_nest_reduces_lanes(const heddle_stmt *stmt);

/* ---- nest_sets.c ---- */

/* Loops and sets of all leaves from number `first` on. */
void heddle_nest_sets(heddle_nest_builder *b, heddle_nest *root, int first);
/* The parameters that differ between threads of a block, taken out. */
__isl_give isl_set *heddle_nest_without_threads(heddle_nest_builder *b, __isl_take isl_set *set);
/* What of a leaf's box is inside the ranges of the dimensions that have rounds. */
__isl_give isl_set *heddle_nest_in_rounds(heddle_nest_builder *b, const heddle_leaf *leaf, __isl_take isl_set *box);
/* Can the statement run where dimension d is out of its range?  Only if all that it reads there is in filled tiles, and its sums
 * stay private. */
bool heddle_nest_harmless(heddle_nest_builder *b, heddle_stmt *stmt, int d);
/* The size that ends dimension d, where it has rounds and begins at 0; NULL: there is none. */
const heddle_size *heddle_nest_rounds_of(const heddle_stmt *stmt, int d);
/* Elements of a round of dimension d. */
int64_t heddle_nest_round_length(const heddle_stmt *stmt, int d);
/* Does the statement have dimensions with rounds? */
bool heddle_nest_has_rounds(const heddle_stmt *stmt);
/* { L[x] : instance(x) in domain } */
__isl_give isl_set *heddle_nest_in_domain(__isl_keep isl_set *domain, __isl_keep isl_multi_aff *instance);
/* "L3[x0, x1]" */
void heddle_leaf_tuple(const heddle_leaf *leaf, heddle_text *out);

#endif
