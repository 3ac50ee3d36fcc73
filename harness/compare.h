/* A result against the reference.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_COMPARE_H
#define HEDDLE_COMPARE_H

#include "harness/reference.h"

typedef struct heddle_comparison {
	bool pass;
	bool vacuous;	    /* the bounds are too wide to judge by: a fault of the test, not of the result */
	int64_t checked;    /* elements judged */
	int64_t unchecked;  /* elements that any value suits, since a comparison within its error decided */
	int64_t wrong;	    /* elements outside their bound, untouched ones included */
	int64_t untouched;  /* wrong elements that still hold the poison */
	int64_t worst;	    /* row-major number of the worst wrong element; -1: none */
	double ratio;	    /* greatest |got - expected| / bound over elements with a bound above 0 (how close it was) */
	double bound;	    /* greatest bound of a judged element */
	double scale;	    /* greatest finite |expected| */
	const char *message; /* one line, in the arena; NULL when it passes */
} heddle_comparison;

/* Compare `result` (shape and type as expected; guards as heddle_array_new made them) with `expected`.  NaN must meet NaN,
 * infinities must be equal, everything else must lie within its bound (bound 0: equal); bool must be 0 or 1; guard bytes must
 * be untouched.  A bound above a tenth of `scale` (above a hundredth of the weight when that is 0) makes the comparison vacuous, and so do more than a tenth
 * of the elements unchecked.  Messages go to `arena`. */
void heddle_compare(heddle_arena *arena, const heddle_expected *expected, const heddle_array *result,
		    heddle_comparison *out);
/* The same bits in two arrays of one shape (repeated runs, or inputs after a run): number of the first differing element
 * or -1. */
int64_t heddle_compare_bits(const heddle_array *a, const heddle_array *b);
/* "C[3,5]" for element `number`, into `arena`. */
const char *heddle_element_name(heddle_arena *arena, const char *name, const heddle_array *array, int64_t number);

#endif
