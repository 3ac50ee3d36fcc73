/* One candidate of a kernel to a load, in closed form: arithmetic over an outline, edges on average.
 *
 * A statement is a list of loops (tiles of its own dimensions, rounds, terms of its reductions) around results that are
 * written out (items) and laid over threads and vectors.  Whatever varies with some dimensions only runs as often as
 * the loops up to the innermost one of those. SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_FOOTPRINT_H
#define HEDDLE_FOOTPRINT_H

#include "cost/outline.h"
#include "cost/reuse.h"

/* A tile in shared memory: the box of what a step of its statement reads, as pass `place` lays it out. */
typedef struct heddle_box {
	int64_t size[HEDDLE_MAX_RANK]; /* by tensor dimension */
	int row, run; /* the tensor's contiguous dimension; the outermost one that continues it in tensor and array
			 alike */
	int64_t run_length;                         /* elements that are contiguous in both */
	int array_row;                              /* the tensor's dimension along which rows of the array lie */
	int64_t row_length, pitch[HEDDLE_MAX_RANK]; /* elements of the array: of a row, from one value of a tensor
						       dimension to the next */
	int64_t elements;                           /* padding included */
	int columns;
} heddle_box;

/* False: the group has no such tile. */
bool heddle_box_of(const heddle_outline *outline, const heddle_candidate *candidate, int group, heddle_box *box);
/* Do rows of the box begin at multiples of `vector` elements of the tensor's rows? */
bool heddle_box_begins_at(const heddle_outline *outline, const heddle_candidate *candidate, int group,
			  const heddle_box *box, int vector);

typedef enum heddle_loop_part { HEDDLE_LOOP_TILE, HEDDLE_LOOP_ROUND, HEDDLE_LOOP_TERM } heddle_loop_part;

/* How one statement runs in a block. */
typedef struct heddle_shape {
	const heddle_outline *outline;
	const heddle_candidate *candidate;
	const heddle_outline_stmt *stmt;
	heddle_slot_layout layout[HEDDLE_MAX_DIM];
	double tiles[HEDDLE_MAX_DIM], rounds[HEDDLE_MAX_DIM],
		items[HEDDLE_MAX_DIM]; /* average trips, those at an edge included */
	int n_loop;
	struct {
		int dim;
		heddle_loop_part part;
		double trips;
		int at; /* number in the tree of loops of the kernel, -1: one trip */
	} loop[3 * HEDDLE_MAX_DIM];
	int lockstep;   /* simd: the dimension whose vectors run at once; -1: none */
	double edge;    /* simd: instructions with partial vectors, taken by element, over those without */
	double guarded; /* simd: combinations of items under conditions of their own */
	unsigned apart; /* dimensions whose items share no operand, as all are under such conditions */
	unsigned lanes; /* dimensions over the block's lanes */
} heddle_shape;

heddle_shape heddle_shape_of(const heddle_outline *outline, const heddle_candidate *candidate, int stmt);
/* How often a thread runs what varies with these dimensions; those of reductions alone are left out where `results`. */
double heddle_shape_runs(const heddle_shape *shape, unsigned mask, bool results);
/* Results of a thread that are written out, vectors not counted. */
double heddle_shape_items(const heddle_shape *shape, unsigned mask);
/* Are rounds the outermost loops of the kernel (model/tile.c)? */
bool heddle_rounds_outside(const heddle_outline *outline, const heddle_candidate *candidate);
/* The dimension whose vector runs in lockstep (model/place.c): along the target's rows, else the first one, reductions
 * last; -1: none. */
int heddle_outline_lockstep(const heddle_outline_stmt *stmt, const heddle_candidate *candidate);
double heddle_outline_blocks(const heddle_outline *outline, const heddle_candidate *candidate, int member);

/* Everything of `load`. */
void heddle_footprint(const heddle_outline *outline, const heddle_candidate *candidate, heddle_load *load);
/* Its distinct data and reuse distances. */
void heddle_footprint_reuse(const heddle_outline *outline, const heddle_candidate *candidate, heddle_shape *shape,
			    const heddle_box *box, heddle_load *load);

#endif
