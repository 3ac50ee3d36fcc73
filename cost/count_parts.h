/* What counting shares (count.c, count_fill.c).
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_COUNT_PARTS_H
#define HEDDLE_COUNT_PARTS_H

#include "cost/choose.h"
#include "cost/count.h"

enum { SECTOR = 32, BANKS = 32, BANK_WIDTH = 4, MOST_DISTINCT = 4096, MOST_WARP = 64, MOST_UNROLLED = 32, MOST_PLACES = 64 };

/* An integer expression of the statement's dimensions: constant + sum coefficient d; where that is not all of it, `within` says which
 * dimensions the rest depends on. */
typedef struct linear {
	bool affine;
	int64_t constant;
	int64_t multiple; /* power of two that the constant is known to be a multiple of before the sizes are; 0: it is 0 */
	int64_t coefficient[HEDDLE_MAX_DIM];
	bool within[HEDDLE_MAX_DIM];
} linear;

/* One statement's dimensions under the sizes. */
typedef struct shape {
	const heddle_stmt *stmt;
	bool rectangular; /* no bound moves with another dimension, no guard */
	struct {
		int64_t extent;
		int64_t items; /* of a thread; no more than a reduction of known length needs */
		double outer; /* blocks, or rounds of the tile loop */
		double share; /* of the instances of all tiles that exist */
		double busy;  /* share of (outer, thread) pairs that have any */
		bool unrolled; /* its items */
		double parts;  /* language's vectors, or members, of one of the layout's, where they are a loop; else 1 */
	} d[HEDDLE_MAX_DIM];
} shape;

typedef struct counter {
	heddle_arena *arena;
	const heddle_scop *scop;
	const heddle_kernel *kernel;
	const heddle_count_language *language;
	const int64_t *size;
	int warp;
	heddle_kernel_count *out;
} counter;

/* One access of all threads of a block: threads that take part, requests, transactions, and those that banks would need if no lanes met. */
typedef struct round_of {
	double threads, requests, transactions, together;
} round_of;

/* ---- count.c ---- */

/* The expression under the sizes; `otherwise` where it is not known. */
int64_t count_value(const counter *c, const heddle_expr *expr, int64_t otherwise);
/* Elements of memory from one index of dimension e to the next. */
int64_t count_stride(const counter *c, const heddle_tensor *tensor, int e);
/* The subscripts of an access, [rank], in the counter's arena. */
linear *count_subscripts(const counter *c, const heddle_stmt *stmt, const heddle_access *access);
/* Elements of the array from one of tensor dimension order[i] to the next, where `inner` are those from one of order[i + 1]. */
int64_t count_tile_pitch(const heddle_group *tile, int i, int64_t inner);
/* Where an element of a row lies in the array's rows, whose phases are taken apart. */
int64_t count_row_offset(const heddle_group *tile, int64_t value);
/* Sectors of memory that n accesses of so many bytes touch. */
double count_sectors(const int64_t *at, int n, int64_t bytes);
/* Cycles of the banks that n accesses take: most different words that one bank gives. */
double count_bank_cycles(const int64_t *at, int n, int64_t bytes);
/* Lanes whose accesses of so many bytes the banks serve at once: of a warp of more the next ones come later. */
int count_lanes_at_once(const counter *c, int64_t bytes);
/* Shares of the accesses that begin so many bytes into a sector, after n rounds of each that go on by so many bytes. */
void count_go_on(double begin[SECTOR], double n, int64_t bytes);
/* Threads whose accesses are one request. */
int count_warp(const heddle_scop *scop);

/* ---- count_fill.c ---- */

/* Adds what the filling of a shared tile moves, in all steps of its statement. */
void count_fills(counter *c, const shape *s, const heddle_group *group);

#endif
