/* Places in the text of one block that read, and the conditions around them: what is read under one is shared by all that stand inside of it.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_COUNT_TREE_H
#define HEDDLE_COUNT_TREE_H

#include "cost/count_parts.h"

/* Places are told apart up to so many. */
enum { MOST_ELEMENTS = 1024 };

/* One coordinate of a place in the text: an item of a dimension, of the vectors' dimension a vector, or a member of a vector. */
typedef struct place_part {
	int dim;
	int64_t n, step; /* so many, so many of a thread's values of the dimension apart */
	int64_t apart;   /* and so many of the dimension's own */
	bool several;    /* stand in the text, whatever their number in this block */
	bool asked;      /* those after the first are under a condition of their own */
} place_part;

/* A vector's members, gone through by themselves where some are missing: what only one place asks for is read for each. */
typedef struct left_members {
	int64_t n;    /* 0: it is whole */
	bool named;   /* what stands outside of all conditions has a name, of the vectors before */
	bool several; /* there may be more vectors, for which it has one */
	bool empty;   /* nothing may be left of it: under a condition its members share nothing */
	bool branch;  /* the access goes along it, and stands inside of the question whether it is whole */
	const int64_t *last; /* [n_dim] results beside it which all blocks that have them lack some of the vector, so that none asks whether it is whole */
} left_members;

/* May results along d be left out in some block?  Where one tile holds all that there are it is known which. */
bool count_is_left_out(const heddle_stmt *stmt, int d);
/* Are they asked for then?  Not where sums run over. */
bool count_is_asked(const shape *s, int d);
/* Does a loop inside of blocks go over the results? */
bool count_is_inner(const heddle_stmt *stmt, int d);
/* Parts that are asked for first, of them those of dimension `outside` (-1: of none): then what stands around comes before what is inside of it. */
void count_order_parts(place_part *part, int n, int outside);
/* Reads of one step: conditions on results stand inside of each other, dimension by dimension, in the order of `part`.  What is read under one is
 * shared by all that stand inside of it, and nothing of it by others.  `left`: of a vector along which the access does not go; NULL: of none.
 * `alone`: each place that the access depends on has its own element, whatever its subscripts are.  -1: too many. */
double count_reads_of_tree(const movement *m, const place_part *part, int n, const int64_t *there, const left_members *left, bool alone);
/* Reads of a vector of which so many members are left, at all places, each gone through by itself. */
double count_reads_of_left(const place_part *part, int n, const int64_t *there, int64_t left);
/* Those of a statement of one thread, from the outside in, without its vectors in lockstep; their number.  `values`: of each dimension, in this
 * block.  `whole`: it has all of its results, and what the last tile of a loop inside of it lacks is all that is asked. */
int count_parts_of_place(const shape *s, int lockstep, const int64_t *values, bool whole, place_part part[2 * HEDDLE_MAX_DIM]);
/* As count_under_conditions; `whole`: as count_parts_of_place has it. */
double count_block_reads(const counter *c, const movement *m, int lockstep, const int64_t *values, bool whole, int outside, int alone);
/* Elements that one thread reads in a block at an edge for one step of the sums of all its results, of which it has so many `values` of each
 * dimension.  Results after the first along a dimension are under a condition, and a vector of dimension `lockstep` (-1: there is none) of which some
 * may be missing is whole or not around all of them.  Conditions on dimension `outside` (-1: none) stand around the others', and of
 * dimension `alone` there are no results beside those of the step.  -1: too many. */
double count_under_conditions(const counter *c, const movement *m, int lockstep, const int64_t *values, int outside, int alone);

#endif
