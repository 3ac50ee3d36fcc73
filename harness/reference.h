/* The reference evaluator (oracle): what a definition means, in long double, with a bound on what rounding may change.
 *
 * Sees only frontend/ and base/: it shares no code with what it judges.  Each element is a pair (value, error); the error
 * is first order: an operation adds u |v| (nothing where the exact result is representable) and passes its inputs' errors
 * on, by secants through functions; a sum of K terms adds min(K, 4 sqrt S) u sum |terms| (nothing for whole numbers whose
 * absolute sum is representable); S, the sum over the different terms of how often each occurs squared, is K where all differ.
 * Where a part of a product, in whatever order, can overflow or become subnormal, its bound is infinite.
 * u is that of the arithmetic: float32 for 16-bit types, whose stores add their own rounding.  Integers are exact and wrap.  Where a comparison lies within its error either outcome is accepted: the
 * element's error covers both and it is marked.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_REFERENCE_H
#define HEDDLE_REFERENCE_H

#include "frontend/definition.h"
#include "harness/tensor.h"

/* Expected contents of one output. */
typedef struct heddle_expected {
	const heddle_tensor *tensor;
	int64_t count;	  /* elements of the tensor */
	int64_t n;	  /* elements computed */
	int64_t *element; /* [n] row-major numbers, ascending, of a sample; NULL: all elements in order */
	long double *value; /* [n] of a floating-point tensor, else NULL */
	int64_t *integer;   /* [n] of an integer or bool tensor (uint64: its bits), else NULL */
	double *error;	    /* [n] absolute bound; infinity: anything is right (see `branch`) */
	double weight;	    /* greatest sum of the magnitudes that cancelled in an element that is 0; 0: none */
	unsigned char *branch; /* [n] 1: a comparison within its error decided; both outcomes lie within the bound */
} heddle_expected;

typedef struct heddle_reference_options {
	double budget;	 /* statement instances above which outputs are sampled where they can be; 0: never */
	int64_t sample;	 /* elements per sampled output; 0: 512 */
	uint64_t seed;	 /* of the sample */
} heddle_reference_options;

typedef struct heddle_reference {
	heddle_arena *arena; /* owns everything below */
	int n_output;
	heddle_expected *output; /* in the definition's order */
	double instances;	 /* statement instances evaluated */
	bool sampled;		 /* at least one output is a sample */
	bool exact;		 /* every error is zero: results can be compared by equality */
	int64_t n_branch;	 /* elements of outputs that are marked */
} heddle_reference;

/* Evaluate `definition` for the values `size` [n_size].  `array` [n_tensor], by position: all inputs, and the initial
 * contents of outputs with role INOUT; the others may be NULL.  Shapes and types must be the definition's, strides may be
 * anything.  NULL with a diagnostic: E0710 a subscript out of range, E0711 an element read before it is written, E0712 a
 * precondition that does not hold, E0713 integer division by zero or a bad shift, E0714 wrong arrays, E0715 an output
 * element that no statement writes. */
heddle_reference *heddle_reference_evaluate(heddle_ctx *ctx, const heddle_definition *definition, const int64_t *size,
					    heddle_array *const *array, const heddle_reference_options *options);
heddle_reference *heddle_reference_free(heddle_reference *reference);

/* Statement instances of a full evaluation (dependent ranges counted by their hull), without sampling. */
double heddle_reference_cost(const heddle_definition *definition, const int64_t *size);
/* Extents of a tensor under the sizes into shape [rank]; 0, or -1 (negative or not computable; no diagnostic). */
int heddle_tensor_shape(const heddle_tensor *tensor, const int64_t *size, int64_t *shape);
/* Its strides in elements into stride [rank]: the declared ones, else dense and row-major.  0, or -1 likewise. */
int heddle_tensor_strides(const heddle_tensor *tensor, const int64_t *size, int64_t *stride);
/* An array in the declared layout, every byte poisoned; NULL: it has none under these sizes (no diagnostic). */
heddle_array *heddle_tensor_array(const heddle_tensor *tensor, const int64_t *size);
/* Least and greatest value that an index takes over all instances (a hull); an empty range has high < low.  0 or -1. */
int heddle_index_hull(const heddle_index *index, const int64_t *size, int64_t *low, int64_t *high);
/* The same for an integer expression over sizes and indices (floor division); 0, or -1 if it holds anything else. */
int heddle_expr_hull(const heddle_expr *expr, const int64_t *size, int64_t *low, int64_t *high);

#endif
