/* What counting shares (count*.c).
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_COUNT_PARTS_H
#define HEDDLE_COUNT_PARTS_H

#include "cost/choose.h"
#include "cost/count.h"

enum { MOST_DISTINCT = 4096, MOST_WARP = 64, MOST_UNROLLED = 32, MOST_PLACES = 64 };

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
	bool alone;       /* one thread a block */
	int inner;        /* dimension that has the vectors, inside of the loop of the lockstep's, which has none; -1: it is as usual */
	int64_t width;    /* members that a vector of the text has, 1: none is one, each member stands by itself; 0: nothing has vectors */
	double guarded;   /* share of the instances where its guard holds; 1: it has none; -1: it is not known */
	struct {
		int64_t extent;
		int64_t items;   /* of a thread; no more than a known length needs */
		int64_t members; /* of its vectors, in the same way; of one thread, and where others do no harm, all */
		int64_t at_once; /* of those so many are one access where they lie side by side, of one thread */
		double outer;    /* blocks, or rounds of the tile loop */
		double share;    /* of the instances of all tiles that exist */
		double busy;     /* share of (outer, thread) pairs that have any */
		bool unrolled;   /* its items */
		bool copied;     /* and in blocks at an edge, where conditions make the body longer */
		bool harmless;   /* what its tiles hold for instances that do not exist is added, and stored nowhere */
		double parts; /* language's vectors, or members, of one of the layout's, where they are a loop; else 1 */
		double parts_at_edges; /* the same in blocks, and steps, at an edge */
	} d[HEDDLE_MAX_DIM];
} shape;

/* Blocks that have one value of a member each: those of one of them. */
typedef struct count_held {
	int member;
	int64_t at;
} count_held;

typedef struct counter {
	heddle_arena *arena;
	const heddle_scop *scop;
	const heddle_kernel *kernel;
	const heddle_count_language *language;
	const int64_t *size;
	int warp;
	heddle_transfer transfer; /* of the descriptor */
	heddle_kernel_count *out;
	shape *shapes; /* [kernel->n_stmt], of those that were asked for, others have no `stmt`; NULL: they are not kept */
	const bool *joins; /* [kernel->n_stmt]: which go on in the loops of the one before */
	const count_held *held; /* NULL: all blocks are counted */
} counter;

/* One access of all threads of a block: threads that take part, requests, transactions; of banks, those if no lanes met, and those if the
 * lanes of a warp that are at work stood together. */
typedef struct round_of {
	double threads, requests, transactions, together, packed;
} round_of;

enum { MOST_BESIDE = 15 };

/* What a leaf does to one tensor. */
typedef struct movement {
	const shape *shape;
	const linear *subscript; /* [rank] */
	const heddle_access *access; /* whose subscripts they are; NULL: it does not matter */
	const heddle_tensor *tensor;
	const heddle_group *tile; /* in this shared tile; NULL: global memory */
	bool dims[HEDDLE_MAX_DIM]; /* which dimensions the leaf runs over */
	bool write;
	bool once;  /* by the first lane only, where lanes have the same */
	bool whole; /* runs for instances that do not exist, too */
	bool apart; /* each member has a guard of its own */
	double share; /* of the instances that make it */
	int64_t beside[MOST_BESIDE]; /* other accesses of the statement: elements of the row from this one */
	int n_beside;
} movement;

/* Shares of the accesses whose first thread's begins so many bytes into a sector. */
typedef struct count_begins {
	double at[HEDDLE_MOST_SECTOR];
} count_begins;

/* ---- count_shape.c ---- */

/* The expression under the sizes; `otherwise` where it is not known. */
int64_t count_value(const counter *c, const heddle_expr *expr, int64_t otherwise);
/* The same counter where each size is another one, by another amount: what is equal there is what the text knows.  In the counter's arena. */
counter count_at_other_sizes(const counter *c);
/* The expression in the statement's dimensions. */
linear count_linear(const counter *c, const heddle_expr *expr);
/* a + factor b. */
linear count_add(linear a, linear b, int64_t factor);
/* Is there no dimension in it? */
bool count_is_constant(const linear *a);
/* Subscript e of an access; of the first one, the target. */
const heddle_expr *count_subscript(const heddle_stmt *stmt, const heddle_access *access, int e);
/* Are all of its subscripts affine? */
bool count_is_affine(const movement *m);
/* Does the access go along dimension d? */
bool count_depends(const movement *m, int d);
/* Elements of memory from one index of dimension e to the next. */
int64_t count_stride(const counter *c, const heddle_tensor *tensor, int e);
/* The dimension whose vector loop runs in lockstep; -1: there is none. */
int count_lockstep(const movement *m);
/* Where the rows along `inner` begin that an access of a tile reads, but for multiples of w elements; -1: not all
 * alike.  `member`: which of those along each dimension that stand in the text it is, NULL or -1: any. */
int64_t count_tile_begin(const movement *m, int inner, int64_t w, const int64_t *member);
/* The dimension whose vectors the statement has; -1: none. */
int count_vectors_dim(const shape *s);
/* Values of dimension d that a thread has in a row and that stand in the text. */
int64_t count_side_by_side(const counter *c, const movement *m, int d);
/* Where the rows that the access reads begin, but for multiples of w elements, a power of two; -1: not all alike.  `member`: as count_member_width has
 * it. */
int64_t count_rows_begin(const movement *m, int inner, int64_t w, const int64_t *member);
/* Elements of one access; `member`: which of the values that stand in the text it is of each dimension, NULL or -1: any. */
int64_t count_member_width(const counter *c, const movement *m, const int64_t *member);
/* The same of any member. */
int64_t count_access_width(const counter *c, const movement *m);
/* Has a kernel with lanes results beside those of its members?  Such kernels have conditions in all blocks. */
bool count_own_results(const heddle_kernel *kernel);
/* Do the statement's registers differ from one index of d to another? */
bool count_indexes_registers(const counter *c, const heddle_stmt *stmt, int d);
/* Do results beside each other along d lie in one row? */
bool count_along_target(const counter *c, const heddle_stmt *stmt, int d);
/* Are the members of a vector stored one by one, each under a guard of its own? */
bool count_lanes_apart(const counter *c, const shape *s);
/* Do rounds that lack some stand apart, each result by itself, with nothing asked of others?  Where other results ask they do not. */
bool count_splits_rounds(const shape *s);
/* Are there blocks that have all of their results?  Loops end where a dimension of known length does, but neither threads nor vectors. */
bool count_any_whole(const shape *s);
/* A statement's dimensions under the sizes. */
shape count_shape(const counter *c, const heddle_stmt *stmt);
/* The same in the last tile of a loop inside of a block that lacks nothing else: `asked` says which dimensions there are conditions on; of `single`
 * (-1: none), of two, there is one. */
shape count_shape_inside(const counter *c, const shape *s, const bool *asked, int single);

/* ---- count_access.c ---- */

/* Elements of the array from one of tensor dimension order[i] to the next, where `inner` are those from one of order[i + 1]. */
int64_t count_tile_pitch(const heddle_group *tile, int i, int64_t inner);
/* Where an element of a row lies in the array's rows, whose phases are taken apart. */
int64_t count_row_offset(const heddle_group *tile, int64_t value);
/* Sectors of memory that n accesses of so many bytes touch. */
double count_sectors(const counter *c, const int64_t *at, int n, int64_t bytes);
/* Cycles of the banks that n accesses take: most different words that one bank gives. */
double count_bank_cycles(const counter *c, const int64_t *at, int n, int64_t bytes);
/* Shares of the accesses that begin so many bytes into a sector, after n rounds of each that go on by so many bytes. */
void count_go_on(const counter *c, double begin[HEDDLE_MOST_SECTOR], double n, int64_t bytes);
/* Do items of dimension o stand inside of those of d?  One thread takes the items of vectors inside of the others'. */
bool count_stands_inside(const counter *c, const heddle_stmt *stmt, int o, int d);
/* Is there a loop inside of the copies that items of d are?  Then the access stands in each copy. */
bool count_has_loop_inside(const counter *c, const movement *m, int d);
/* Vectors for each vector of results, or terms, of an access whose elements lie two apart, on average; 1: it is another. */
double count_strided(const counter *c, const movement *m);
/* Is there a loop of another reduction inside of the copies that items of reduction d are?  Windows are inside of the others. */
bool count_has_sum_inside(const movement *m, int d);
/* Elements that one thread touches in the unrolled part. */
double count_elements(const movement *m);
/* How often all threads make the access that stands in the text: tiles, rounds, items that are a loop. */
double count_repeats(const counter *c, const movement *m);
/* Of what one result of many threads reads at once, the share of elements that have neighbours with which they are one vector. */
double count_wide_share(const counter *c, const movement *m);
/* Terms of a window of which any step may have fewer, for all that is known before the sizes are, stand each under a condition of its own, but for
 * the first: they share what that one reads, and vectors, where the condition of one term is that of those before it, too.  Those of a tile are counted
 * term after term. */
bool count_asks_terms(const counter *c, const movement *m, int d);
/* Adds so many rounds of an access of all threads, `width` elements each; b: where they begin, NULL: it does not matter. */
void count_add_accesses(counter *c, const movement *m, const heddle_group *group, int64_t width, double rounds, const count_begins *b);
/* Adds what a movement takes. */
void count_movement(counter *c, const movement *m, const heddle_group *group);

/* ---- count.c ---- */

/* The subscripts of an access, [rank], in the counter's arena. */
linear *count_subscripts(const counter *c, const heddle_stmt *stmt, const heddle_access *access);
/* A subscript over the kernel's members instead of the statement's dimensions; those of `joined` statements that are none are the same ones. */
linear count_over_members(const heddle_stmt *stmt, linear a, bool joined);
/* Are accesses a of s and b of t to the same elements? */
bool count_the_same(const counter *c, const heddle_stmt *s, int a, const heddle_stmt *t, int b, bool joined);
/* Everything of the statement is unrolled, but for rounds that those in a row go through together: they are one stretch of code.  So is a
 * step of `joined` ones. */
bool count_is_straight(const counter *c, const heddle_stmt *stmt, bool joined);
/* Lanes whose accesses of so many bytes the banks serve at once: of a warp of more the next ones come later. */
int count_lanes_at_once(const counter *c, int64_t bytes);
/* Threads whose accesses are one request. */
int count_warp(const heddle_scop *scop);

/* ---- count_carry.c ---- */

/* Does the access read what the step before has stored, which is in a register?  Then `*share`, of the steps that have the read, becomes the
 * share of those that ask memory: the first one, or none. */
bool count_first_share(counter *c, const shape *s, const heddle_access *access, double *share);
/* Share of the reads of an access that ask memory: none of what another statement has stored in the same step and carries to the next, but
 * in blocks that carry nothing; all of the others. */
double count_asked(counter *c, const shape *s, const heddle_access *access);
/* Does what statement `at` stores stay in registers, all of it? */
bool count_stays(counter *c, int at);

/* ---- count_edges.c ---- */

/* Does it read global memory itself, which instances that do not exist must not? */
bool count_reads_memory(const heddle_stmt *stmt);
/* Share of the results in blocks in which the guards of the kernel's other statements hold for all that they do: others are blocks at an edge.  What
 * the statement's own leaves is counted elsewhere.  `whole`: of those results that are in blocks which lack none. */
double count_within_guards(const counter *c, const heddle_stmt *own, bool whole);
/* How many times as often a read is made as if each step asked once for what its places in the text share. */
double count_again(const counter *c, const movement *m);
/* Where all taps of a window stand in the text as lanes of vectors, of which the last one is not filled: what they read of all results together, to
 * what is counted of it; else 1. */
double count_shared_taps(const counter *c, const movement *m);
/* The sum whose terms are lanes of vectors; -1: there is none. */
int count_lanes(const heddle_stmt *stmt);
/* Does it go on with a value that is there, as sums do?  In a register, as those in memory are read by themselves. */
bool count_goes_on(const heddle_stmt *stmt);

/* Blocks that are whole or cut in the same way. */
typedef struct count_kind {
	int64_t values[HEDDLE_MAX_DIM]; /* of each dimension that a block has */
	double once;                    /* elements of a step where all that its results need is read once */
	bool whole, full;               /* blocks lack nothing; steps of loops inside of them */
} count_kind;

/* How many kinds of blocks there are, whole or cut along each dimension but `other` (-1: none). */
int count_kinds(const movement *m, int other);
/* Blocks of number `kind` of them: that is cut along the dimensions whose bits are set. */
double count_blocks(const movement *m, int kind, int other, count_kind *k);

/* Do subscripts that go along d go along nothing else?  Then its terms share nothing. */
bool count_is_alone(const movement *m, int d);
/* Do some threads have fewer results along d than others, or none, in any block? */
bool count_has_idle_threads(const heddle_stmt *stmt, int d);
/* The last tile of a window may have fewer terms, whose reads results share less: what it reads by the share of its terms, but where those are counted
 * one after another. */
double count_rest(const counter *c, const movement *m);
/* Reads of blocks at an edge whose copies have names for what they share, or of all blocks where none is whole, by what they would read of all elements on average: those that lack results along
 * a dimension that one thread has all of need less of a window.  0: not known. */
double count_names_at_edges(const movement *m);

/* ---- count_plain.c ---- */

/* Of threads that sum up nothing: so many times as if each step asked once for what its places in the text share; 0: it is another statement. */
double count_plain(const counter *c, const movement *m);

/* ---- count_threads.c ---- */

/* Of a sum of many threads that reads vectors of results: so many times as often as if all were shared that is so in whole blocks; 0: it is another
 * sum. */
double count_sums_of_vectors(const counter *c, const movement *m);
/* The same of a statement of many threads that sums up nothing, and reads along its vectors what members of another dimension share. */
double count_members_beside(const counter *c, const movement *m);
/* The same of a sum of many threads whose terms are lanes, of what does not depend on them. */
double count_beside_lanes(const counter *c, const movement *m);
/* Of what an access of a tile reads along a vector: elements that are in no vector, by all.  Vectors are read under one
 * condition, for all items. */
double count_single_elements(const counter *c, const movement *m, int lockstep);
/* How often many threads make a read for each time that it is counted, in blocks at an edge where each item asks for its result and all. */
double count_items(const counter *c, const movement *m);

/* Are all of the kernel's threads the statement's, and none lanes of another one's sum? */
bool count_has_all_threads(const counter *c, const heddle_stmt *stmt);
/* Does the sum read vectors along d, of results or of terms? */
bool count_reads_vectors(const counter *c, const shape *s, int d);

/* ---- count_walk.c ---- */

/* Elements that all threads read for the results of a guarded sum, of which each place in the text is under conditions at an edge; -1: it is another. */
double count_walk(const counter *c, const movement *m);

/* ---- count_left.c ---- */

/* How often something is read for each time that it would be read if what is left of vectors, terms, rounds and tiles were whole; `edges`: the same of
 * blocks at an edge, which terms share. */
double count_left(const counter *c, const movement *m, double edges);

/* ---- count_ends.c ---- */

/* Of all instances, as so many values of dimension d, those of its first n: ranges of others may move with it. */
double count_of_first(const counter *c, const shape *s, int d, int64_t n);
/* Of a sum of many threads whose ends move with results: a thread's results of a whole block share what the one that goes furthest reads, others
 * read their own terms.  So many times as if there were as many steps as terms, in blocks at an edge, too; 0: it is another sum. */
double count_ends_of_threads(const counter *c, const movement *m);
/* The same of sums whose ends move with results. */
double count_at_ends(const counter *c, const movement *m);
/* How often a sum of one thread, of which one end moves with its results along one dimension, reads for each time that it is counted, blocks and steps
 * that lack some and all; 0: it is another. */
double count_moving_sums(const counter *c, const movement *m);

/* ---- count_guards.c ---- */

/* Of the taps that stand in the text the share at which the statement reads a shared tile by vectors along d: what all of a vector's results ask is
 * asked around them there. */
double count_tile_vectors(const counter *c, const shape *s, int d);
/* Share of the accesses that a guard leaves, of so many that each thread makes without it; those of whole vectors count `wide` times. */
double count_guarded_share(const counter *c, const movement *m, double accesses, double wide);

/* ---- count_ranges.c ---- */

/* First value, and the one after the last. */
typedef struct count_ends {
	int64_t lower, upper;
} count_ends;

/* Do the ends of dimension d move with others? */
bool count_moves(const counter *c, const heddle_stmt *stmt, int d);
/* Do they move with dimension o, or does the guard that instances have ask for both together? */
bool count_is_tied(const counter *c, const heddle_stmt *stmt, int d, int o);
/* The furthest ends that dimension d has. */
count_ends count_box(const counter *c, const heddle_stmt *stmt, int d);
/* Values of dimension d, on average over those that its ends move with. */
double count_mean(const counter *c, const heddle_stmt *stmt, int d);
/* Rounds of its tile loop, on average over their tiles; those that are `known` (NULL: none) are in tile at[...]. */
double count_rounds(const counter *c, const heddle_stmt *stmt, int d, const bool *known, const int64_t *at);
/* Share of its tile loops that run tile at[d], where the others that its ends and the guard tie it to are in their tiles at[...], or, where those
 * are not known, in any. */
double count_runs(const counter *c, const heddle_stmt *stmt, int d, const bool *known, const int64_t *at);

/* ---- count_conditions.c ---- */

/* The affine expression of which this is the quotient, rounded down, by `*divisor`; 1: itself. */
linear count_quotient(const counter *c, const heddle_expr *expr, int64_t *divisor);
/* Does the statement read that element whatever conditions are in its value? */
bool count_is_read_anyway(const heddle_stmt *stmt, const heddle_expr *read);
/* Is the element read under a condition on dimension d? */
bool count_read_asks(const heddle_stmt *stmt, const heddle_expr *read, int d);
/* The dimension of a sum whose terms begin at a later one from one value of d to the next, where that is all that the guard asks of d; -1: it is
 * not. */
int count_guard_begins(const counter *c, const heddle_stmt *stmt, int d);
/* Does the guard depend on dimension d, and hold for all of a vector's members where it does for the first and the last?  Such vectors are whole or
 * not around all results. */
bool count_guard_parts(const counter *c, const heddle_stmt *stmt, int d);
/* What the guard asks for: sums that are not negative, of the statement's dimensions; their number, 0: there is no guard, -1: it is of another kind or
 * asks for more. */
int count_conjuncts(const counter *c, const heddle_stmt *stmt, linear *all, int most);
/* Does the guard depend on dimension d? */
bool count_guards(const heddle_stmt *stmt, int d);
/* The dimension that the statement's guard `d <= other`, or the other way around, compares d with; -1: it is another guard, or none. */
int count_guard_beside(const heddle_stmt *stmt, int d);
/* Does such a guard hold from a value of d on? */
bool count_guard_rises(const counter *c, const heddle_stmt *stmt, int d);

/* ---- count_shares.c ---- */

/* Share of the instances where the guard holds that went into the domain, of a statement without one 1; -1: not known.  Where
 * `group` is given, of those that are in whole groups of group[d] values along d for all of which it holds; a negative one: for any of which. */
double count_guarded(const counter *c, const heddle_stmt *stmt, const int64_t *group);
/* The same of whole blocks, `block` values along each dimension, which go through the last tile of a reduction apart where it has fewer terms: what
 * there is of it is with those blocks in whose other tiles the guard holds everywhere.  `results`: the share of the results that are in such blocks. */
double count_inside(const counter *c, const heddle_stmt *stmt, const int64_t *block, bool results);
/* Share of the instances that the moving ends of dimension d leave that are in whole groups of group[o] values along each dimension o; -1: not
 * known. */
double count_whole(const counter *c, const heddle_stmt *stmt, int d, const int64_t *group);
/* Share of the groups of group[o] values along each dimension o that have some which the moving ends of dimension d leave; -1: not known. */
double count_begun(const counter *c, const heddle_stmt *stmt, int d, const int64_t *group);
/* The one dimension that moves dimension d's end, to an earlier one from one of its values to the next, where nothing else moves; -1: it is not so. */
int count_ends_earlier(const counter *c, const heddle_stmt *stmt, int d);
/* Share of the blocks with instances where the guard holds, as far as it is one of members only. */
double count_busy(const counter *c, const heddle_stmt *stmt);
/* Share of the instances that read an element of the statement's value, where each part of it that reads it in another branch reads it
 * again; -1: data decide. */
double count_read_share(const counter *c, const heddle_stmt *stmt, const heddle_expr *read);
/* The same of those instances that are in vectors of so many members along d each of which reads. */
double count_read_vectors(const counter *c, const heddle_stmt *stmt, const heddle_expr *read, int d, int64_t members);
/* Share of the groups of group[d] values along d in which the guard holds for some, each conjunct by itself; without one it does in all. */
double count_any(const counter *c, const heddle_stmt *stmt, const int64_t *group);

/* ---- count_branches.c ---- */

/* Reads of one thread whose guard asks for multiples, where all that it asks about stands in the text; -1: it is another statement. */
double count_branches(const counter *c, const movement *m);

/* ---- count_fill.c ---- */

/* Adds what the filling of a shared tile moves, in all steps of its statement. */
void count_fills(counter *c, const shape *s, const heddle_group *group);
/* Does the filling of one of the statement's tiles stand before it under a condition, as not all threads take part in it?  Then the sum goes on after
 * it, and results ask each for themselves.  Inside of a loop nothing of it stands before. */
bool count_fills_before(const counter *c, const shape *s);

#endif
