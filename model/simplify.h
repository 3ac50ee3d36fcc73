/* The pass `simplify`: the program as `generate` makes it (scalar, every loop explicit, many-dimensional subscripts) to the
 * program that is printed: vectors, unrolled register tiles, linear indices, shared subexpressions.  Same meaning.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_SIMPLIFY_H
#define HEDDLE_SIMPLIFY_H

#include "model/program.h"

typedef struct heddle_simplify_options {
	bool vector_arithmetic; /* the language has + and exp() on vectors; else they are only loaded, stored, taken apart */
	bool unaligned_vectors; /* a vector access needs the alignment of its element only */
	bool zips;		/* a vector unit: members of two vectors in turn, or every second one of them, are one operation */
	int max_vector;		/* members of the widest vector: 1 for none */
	int max_bytes;		/* of the widest load or store of global or shared memory; 0: no limit */
	bool copies;		/* the language says of how many copies of its body a loop is to be made */
	double in_flight;	/* bytes that all threads together must have asked global memory for so that it is busy; 0: not known */
	int unroll_limit;	/* nodes (and calls, 4 for each member) that a loop may become when unrolled; 0: 1024 */
} heddle_simplify_options;

/* Bytes that a thread of so many (0: not known) is to ask for at a time: its share of `in_flight`, 64 at least and 256 at most. */
int64_t heddle_simplify_ahead(double in_flight, double threads);
/* Copies of a loop's body, of so many nodes, that asks global memory for so many bytes a round: those of `ahead` bytes (64 where there are
 * 32 rounds or fewer), eight of small ones, four where there are none, as long as they are short.  As many as there are rounds (-1: unknown)
 * if those are few; else rounds of equal length, or 1 where loops are written out in the body already. */
int64_t heddle_simplify_copies(int64_t rounds, int64_t bytes, int64_t size, bool nested, int64_t ahead);
/* Of one that computes from shared memory into registers: eight where they make whole turns of a longer loop; 0: as the others. */
int64_t heddle_simplify_near_copies(int64_t rounds, int64_t size);

/* In place; the program's nodes are all new afterwards, and numbered.  What is done, in order:
 *
 *   fold      constants, conditions that the sizes' ranges decide, empty loops, loops that run once, identity lets
 *   vectorise loops of kind VECTOR; one that cannot be becomes UNROLL or SERIAL
 *   turn      loops that gather vectors across rows read whole vectors of the rows and turn them by zips; once more after `registers`
 *   unroll    loops of kind UNROLL that index register arrays, up to 16 times the limit; others up to a 32nd of it, and
 *             longer ones become plain loops
 *   registers register arrays that are only used by whole vectors become arrays of vectors
 *   rounds    parts of arrays that a round changes under conditions are copied to registers of their own
 *   carry     what a step of a loop stores and the next one reads stays in a register
 *   linearise accesses to global buffers get one row-major subscript, INT32 where the sizes' maxima prove it enough
 *   widen     scalar loads of neighbouring elements of memory become vector loads
 *   share     loads of shared and global memory that statements in a row make twice get a name
 *   ahead     what fills the tiles of `early` buffers is loaded a step of the loop before
 *   hoist     integer subexpressions move out of loops and get names
 *   copies    loops that are left say of how many copies of their body they are to be made
 *
 * A vector loop whose iterations each store in elements of their own may run in lockstep, one that adds into one element
 * ("acc = acc op e") may be combined by a REDUCE: sums of floats are reassociated there, nowhere else.
 *
 * 0, or -1 with E0601 when a register array would be left indexed by a loop that was to be unrolled. */
int heddle_simplify(heddle_ctx *ctx, heddle_program *program, const heddle_simplify_options *options);

#endif
