/* Host tensors (poisoned, guarded, strided), conversions of 16-bit floats, and NumPy files.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_TENSOR_H
#define HEDDLE_TENSOR_H

#include "base/base.h"

/* A dense or strided tensor in host memory; owns `memory`.  Between the start of `memory` and `data`, and after the last
 * element, lie at least 64 guard bytes; elements that `shape` does not reach (padding of strides) are guards too. */
typedef struct heddle_array {
	heddle_type type;
	int rank;
	int64_t shape[HEDDLE_MAX_RANK];
	int64_t stride[HEDDLE_MAX_RANK]; /* in elements */
	unsigned char *data;		 /* element 0; inside `memory` */
	void *memory;
	size_t bytes; /* of the allocation */
} heddle_array;

/* ---- arrays (tensor.c) ---------------------------------------------------------------------------------------------- */

/* A dense row-major array of `shape` [rank], every byte poisoned.  `data` is 64-byte aligned. */
heddle_array *heddle_array_new(heddle_type type, int rank, const int64_t *shape);
/* The same with strides [rank] in elements (NULL: dense), all >= 0. */
heddle_array *heddle_array_new_strided(heddle_type type, int rank, const int64_t *shape, const int64_t *stride);
heddle_array *heddle_array_free(heddle_array *array);
/* The same elements with other strides, every byte between them poisoned; frees `array`. */
heddle_array *heddle_array_restride(heddle_array *array, const int64_t *stride);
/* A copy with the same strides and the same bytes, padding and guards included. */
heddle_array *heddle_array_copy(const heddle_array *array);

int64_t heddle_array_count(const heddle_array *array); /* elements: the product of the shape */
int64_t heddle_array_span(const heddle_array *array);  /* elements from element 0 to the last one, both included */
bool heddle_array_is_dense(const heddle_array *array);
/* Offset in elements of the element with row-major number `number`. */
int64_t heddle_array_offset(const heddle_array *array, int64_t number);
/* Subscripts of the element with row-major number `number` into subscript [rank]. */
void heddle_array_subscript(const heddle_array *array, int64_t number, int64_t *subscript);

/* The element at `offset` elements from element 0.  Every type's values fit a long double exactly. */
long double heddle_array_get(const heddle_array *array, int64_t offset);
int64_t heddle_array_get_int(const heddle_array *array, int64_t offset); /* integers and bool; uint64: its bits */
/* Store, rounded to nearest even for floats, wrapped for integers. */
void heddle_array_set(heddle_array *array, int64_t offset, long double value);
void heddle_array_set_int(heddle_array *array, int64_t offset, int64_t value);

/* Poison: a quiet NaN of its own bit pattern for floats, 0xA5 in every byte for the others. */
void heddle_array_poison(heddle_array *array);
bool heddle_array_is_poison(const heddle_array *array, int64_t offset);
/* Are all guard bytes as they were?  Else false, and `*distance` is how many bytes before element 0 (negative) or from it
 * (padding, or past the end) the first changed byte lies. */
bool heddle_array_guards_intact(const heddle_array *array, int64_t *distance);

/* ---- contents ---------------------------------------------------------------------------------------------------- */

/* The k-th number of the stream `seed`: the same on every machine. */
uint64_t heddle_random(uint64_t seed, uint64_t k);
/* Uniform in [low, high): floats rounded to the type; integers: whole numbers low <= x <= high. */
void heddle_array_fill_uniform(heddle_array *array, uint64_t seed, double low, double high);
/* The range that suits the type: floats [-1, 1), signed [-10, 10], unsigned [0, 10], bool {0, 1}. */
void heddle_array_fill_random(heddle_array *array, uint64_t seed);
/* Whole numbers with |x| <= magnitude (0 <= x for unsigned types). */
void heddle_array_fill_integers(heddle_array *array, uint64_t seed, int magnitude);

/* ---- 16-bit floats ------------------------------------------------------------------------------------------------- */

/* Rounded to nearest even, overflow to infinity, NaN stays a (quiet) NaN. */
uint16_t heddle_float16_from(long double value);
uint16_t heddle_bfloat16_from(long double value);
float heddle_float16_to(uint16_t bits);
float heddle_bfloat16_to(uint16_t bits);

/* ---- NumPy files (npy.c) ------------------------------------------------------------------------------------------ */

/* An .npy file (format 1, 2, 3; either byte order; C or Fortran order) as a dense row-major array.  `wanted` is a
 * heddle_type, or -1 for whatever the file holds; another type in the file is an error.  float16 is NumPy's f2.  NumPy has no
 * bfloat16: its bits are read from u2 or V2 where bfloat16 is wanted.  NULL with E0701 (header), E0702 (type), E0703
 * (length), E0901 (file). */
heddle_array *heddle_npy_read(heddle_ctx *ctx, const char *path, int wanted);
/* The same from memory; `name` is for messages. */
heddle_array *heddle_npy_parse(heddle_ctx *ctx, const char *name, const void *data, size_t length, int wanted);
/* The shape alone, of at most HEDDLE_MAX_RANK dimensions: what lies behind the header is not read.  0, or -1 as above. */
int heddle_npy_shape(heddle_ctx *ctx, const char *path, int *rank, int64_t *shape);
/* Write `array` in format 1.0, little-endian, C order.  0; 1 when written as raw uint16 bits (bfloat16): tell the user;
 * -1 with a diagnostic. */
int heddle_npy_write(heddle_ctx *ctx, const char *path, const heddle_array *array);

#endif
