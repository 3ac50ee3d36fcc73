/* Host tensors: poison and guards, element access, deterministic contents, 16-bit floats.
 * SPDX-License-Identifier: MIT
 */
#include "harness/tensor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GUARD 64	/* bytes before and after, a multiple of the alignment */
#define GUARD_BYTE 0xA5 /* also the poison of types that have no NaN */

/* ---- 16-bit floats --------------------------------------------------------------------------------------------------- */

/* `value` rounded to a binary float of `mantissa` stored bits and `exponent` exponent bits.  The value is split exactly into
 * fraction and exponent, scaled so that the last kept bit has weight one, and rounded once. */
static uint16_t narrow(long double value, int mantissa, int exponent)
{
	const int bias = (1 << (exponent - 1)) - 1;
	const int infinity = ((1 << exponent) - 1) << mantissa;
	int sign = signbit(value) ? 0x8000 : 0;
	if (isnan(value))
		return (uint16_t)(sign | infinity | 1 << (mantissa - 1));
	long double magnitude = fabsl(value);
	if (isinf(magnitude))
		return (uint16_t)(sign | infinity);
	if (magnitude == 0)
		return (uint16_t)sign;
	int e;
	(void)frexpl(magnitude, &e); /* magnitude = f * 2^e, 1/2 <= f < 1: the leading bit has weight 2^(e-1) */
	int lead = e - 1 < 1 - bias ? 1 - bias : e - 1;
	long double units = ldexpl(magnitude, mantissa - lead); /* exact; rint rounds to even */
	int kept = (int)(units >= 0x1p15L ? 0x8000 : (int)rintl(units));
	if (lead > bias)
		return (uint16_t)(sign | infinity);
	/* A subnormal has field 0; a carry out of the mantissa runs into the exponent as it should. */
	int bits = ((lead + bias - 1) << mantissa) + kept;
	return (uint16_t)(sign | (bits >= infinity ? infinity : bits));
}

uint16_t heddle_float16_from(long double value)
{
	return narrow(value, 10, 5);
}

uint16_t heddle_bfloat16_from(long double value)
{
	return narrow(value, 7, 8);
}

float heddle_float16_to(uint16_t bits)
{
	int exponent = bits >> 10 & 31, mantissa = bits & 1023;
	float magnitude;
	if (exponent == 31)
		magnitude = mantissa ? NAN : INFINITY;
	else if (exponent == 0)
		magnitude = ldexpf((float)mantissa, -24);
	else
		magnitude = ldexpf((float)(mantissa + 1024), exponent - 25);
	return bits & 0x8000 ? -magnitude : magnitude;
}

float heddle_bfloat16_to(uint16_t bits)
{
	uint32_t wide = (uint32_t)bits << 16;
	float value;
	memcpy(&value, &wide, sizeof(value));
	return value;
}

/* ---- arrays ---------------------------------------------------------------------------------------------------------- */

static uint64_t poison_bits(heddle_type type)
{
	switch (type) {
	case HEDDLE_FLOAT16:
		return 0x7EA5;
	case HEDDLE_BFLOAT16:
		return 0x7FE5;
	case HEDDLE_FLOAT32:
		return 0x7FE5A5A5;
	case HEDDLE_FLOAT64:
		return 0x7FFDA5A5A5A5A5A5;
	default:
		return 0xA5A5A5A5A5A5A5A5;
	}
}

int64_t heddle_array_count(const heddle_array *array)
{
	int64_t n = 1;
	for (int d = 0; d < array->rank; ++d)
		n *= array->shape[d];
	return n;
}

int64_t heddle_array_span(const heddle_array *array)
{
	int64_t last = 0;
	for (int d = 0; d < array->rank; ++d) {
		if (array->shape[d] == 0)
			return 0;
		last += (array->shape[d] - 1) * array->stride[d];
	}
	return last + 1;
}

bool heddle_array_is_dense(const heddle_array *array)
{
	int64_t step = 1;
	for (int d = array->rank - 1; d >= 0; --d) {
		if (array->shape[d] != 1 && array->stride[d] != step)
			return false;
		step *= array->shape[d];
	}
	return true;
}

void heddle_array_subscript(const heddle_array *array, int64_t number, int64_t *subscript)
{
	for (int d = array->rank - 1; d >= 0; --d) {
		int64_t extent = array->shape[d] ? array->shape[d] : 1;
		subscript[d] = number % extent;
		number /= extent;
	}
}

int64_t heddle_array_offset(const heddle_array *array, int64_t number)
{
	int64_t offset = 0;
	for (int d = array->rank - 1; d >= 0; --d) {
		int64_t extent = array->shape[d] ? array->shape[d] : 1;
		offset += number % extent * array->stride[d];
		number /= extent;
	}
	return offset;
}

heddle_array *heddle_array_new_strided(heddle_type type, int rank, const int64_t *shape, const int64_t *stride)
{
	heddle_array *array = heddle_xalloc(sizeof(*array));
	memset(array, 0, sizeof(*array));
	array->type = type;
	array->rank = rank;
	int64_t step = 1;
	for (int d = rank - 1; d >= 0; --d) {
		array->shape[d] = shape[d];
		array->stride[d] = stride ? stride[d] : step;
		step *= shape[d];
	}
	size_t used = (size_t)heddle_array_span(array) * (size_t)heddle_type_size(type);
	array->bytes = (used + GUARD - 1) / GUARD * GUARD + 2 * GUARD;
	array->memory = aligned_alloc(GUARD, array->bytes);
	if (!array->memory) {
		fprintf(stderr, "heddle: out of memory for an array of %zu bytes\n", array->bytes);
		exit(HEDDLE_EXIT_LIMIT);
	}
	array->data = (unsigned char *)array->memory + GUARD;
	memset(array->memory, GUARD_BYTE, array->bytes);
	heddle_array_poison(array);
	return array;
}

heddle_array *heddle_array_new(heddle_type type, int rank, const int64_t *shape)
{
	return heddle_array_new_strided(type, rank, shape, NULL);
}

heddle_array *heddle_array_free(heddle_array *array)
{
	if (array) {
		free(array->memory);
		free(array);
	}
	return NULL;
}

heddle_array *heddle_array_restride(heddle_array *array, const int64_t *stride)
{
	heddle_array *to = heddle_array_new_strided(array->type, array->rank, array->shape, stride);
	const size_t size = (size_t)heddle_type_size(array->type);
	for (int64_t k = 0, n = heddle_array_count(array); k < n; k++)
		memcpy(to->data + (size_t)heddle_array_offset(to, k) * size, array->data + (size_t)heddle_array_offset(array, k) * size,
		       size);
	heddle_array_free(array);
	return to;
}

heddle_array *heddle_array_copy(const heddle_array *array)
{
	heddle_array *copy = heddle_array_new_strided(array->type, array->rank, array->shape, array->stride);
	size_t before = (size_t)(array->data - (unsigned char *)array->memory);
	size_t used = (size_t)heddle_array_span(array) * (size_t)heddle_type_size(array->type);
	if (before == GUARD && copy->bytes == array->bytes)
		memcpy(copy->memory, array->memory, array->bytes);
	else
		memcpy(copy->data, array->data, used);
	return copy;
}

void heddle_array_poison(heddle_array *array)
{
	const size_t size = (size_t)heddle_type_size(array->type);
	const int64_t n = heddle_array_count(array);
	const bool dense = heddle_array_is_dense(array);
	const uint64_t bits = poison_bits(array->type);
	for (int64_t k = 0; k < n; ++k)
		memcpy(array->data + (size_t)(dense ? k : heddle_array_offset(array, k)) * size, &bits, size);
}

bool heddle_array_is_poison(const heddle_array *array, int64_t offset)
{
	const size_t size = (size_t)heddle_type_size(array->type);
	const uint64_t bits = poison_bits(array->type);
	return memcmp(array->data + (size_t)offset * size, &bits, size) == 0;
}

/* First byte of `from` .. `to` that is no guard byte any more, or NULL. */
static const unsigned char *first_changed(const unsigned char *from, const unsigned char *to)
{
	for (; from < to; ++from)
		if (*from != GUARD_BYTE)
			return from;
	return NULL;
}

bool heddle_array_guards_intact(const heddle_array *array, int64_t *distance)
{
	const size_t size = (size_t)heddle_type_size(array->type);
	const unsigned char *memory = array->memory, *end = memory + array->bytes;
	const unsigned char *used_end = array->data + (size_t)heddle_array_span(array) * size;
	const unsigned char *at = first_changed(memory, array->data);
	if (!at)
		at = first_changed(used_end, end);
	if (!at && !heddle_array_is_dense(array)) {
		/* Padding: mark the elements that exist, look at the others. */
		size_t span = (size_t)heddle_array_span(array);
		unsigned char *exists = heddle_xalloc(span ? span : 1);
		memset(exists, 0, span ? span : 1);
		for (int64_t k = 0, n = heddle_array_count(array); k < n; ++k)
			exists[heddle_array_offset(array, k)] = 1;
		for (size_t k = 0; k < span && !at; ++k)
			if (!exists[k])
				at = first_changed(array->data + k * size, array->data + (k + 1) * size);
		free(exists);
	}
	if (at && distance)
		*distance = (int64_t)(at - array->data);
	return !at;
}

/* ---- elements -------------------------------------------------------------------------------------------------------- */

#define GET(type)                                                                                                       \
	{                                                                                                               \
		type x;                                                                                                 \
		memcpy(&x, at, sizeof(x));                                                                              \
		return x;                                                                                               \
	}
#define PUT(type, value)                                                                                                \
	{                                                                                                               \
		type x = (type)(value);                                                                                 \
		memcpy(at, &x, sizeof(x));                                                                              \
		return;                                                                                                 \
	}

int64_t heddle_array_get_int(const heddle_array *array, int64_t offset)
{
	const unsigned char *at = array->data + (size_t)offset * (size_t)heddle_type_size(array->type);
	switch (array->type) {
	case HEDDLE_BOOL:
	case HEDDLE_UINT8:
		return *at;
	case HEDDLE_INT8:
		GET(int8_t)
	case HEDDLE_INT16:
		GET(int16_t)
	case HEDDLE_INT32:
		GET(int32_t)
	case HEDDLE_INT64:
	case HEDDLE_UINT64:
		GET(int64_t)
	case HEDDLE_UINT16:
		GET(uint16_t)
	case HEDDLE_UINT32:
		GET(uint32_t)
	default:
		return (int64_t)heddle_array_get(array, offset);
	}
}

long double heddle_array_get(const heddle_array *array, int64_t offset)
{
	const unsigned char *at = array->data + (size_t)offset * (size_t)heddle_type_size(array->type);
	uint16_t half;
	switch (array->type) {
	case HEDDLE_FLOAT16:
		memcpy(&half, at, sizeof(half));
		return (long double)heddle_float16_to(half);
	case HEDDLE_BFLOAT16:
		memcpy(&half, at, sizeof(half));
		return (long double)heddle_bfloat16_to(half);
	case HEDDLE_FLOAT32:
		GET(float)
	case HEDDLE_FLOAT64:
		GET(double)
	case HEDDLE_UINT64:
		return (long double)(uint64_t)heddle_array_get_int(array, offset);
	default:
		return (long double)heddle_array_get_int(array, offset);
	}
}

void heddle_array_set_int(heddle_array *array, int64_t offset, int64_t value)
{
	unsigned char *at = array->data + (size_t)offset * (size_t)heddle_type_size(array->type);
	switch (array->type) {
	case HEDDLE_BOOL:
		PUT(uint8_t, value != 0)
	case HEDDLE_INT8:
	case HEDDLE_UINT8:
		PUT(uint8_t, value)
	case HEDDLE_INT16:
	case HEDDLE_UINT16:
		PUT(uint16_t, value)
	case HEDDLE_INT32:
	case HEDDLE_UINT32:
		PUT(uint32_t, value)
	case HEDDLE_INT64:
	case HEDDLE_UINT64:
		PUT(int64_t, value)
	default:
		heddle_array_set(array, offset, (long double)value);
	}
}

void heddle_array_set(heddle_array *array, int64_t offset, long double value)
{
	unsigned char *at = array->data + (size_t)offset * (size_t)heddle_type_size(array->type);
	switch (array->type) {
	case HEDDLE_FLOAT16:
		PUT(uint16_t, heddle_float16_from(value))
	case HEDDLE_BFLOAT16:
		PUT(uint16_t, heddle_bfloat16_from(value))
	case HEDDLE_FLOAT32:
		PUT(float, value)
	case HEDDLE_FLOAT64:
		PUT(double, value)
	case HEDDLE_UINT64:
		PUT(uint64_t, value < 0 ? (uint64_t)(int64_t)value : (uint64_t)value)
	default:
		heddle_array_set_int(array, offset, (int64_t)value);
	}
}

/* ---- contents ---------------------------------------------------------------------------------------------------------- */

uint64_t heddle_random(uint64_t seed, uint64_t k)
{
	/* splitmix64: a counter through two multiplications and three shifts. */
	uint64_t z = seed * 0x9E3779B97F4A7C15u + (k + 1) * 0xD1342543DE82EF95u;
	z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
	z = (z ^ z >> 27) * 0x94D049BB133111EBu;
	return z ^ z >> 31;
}

void heddle_array_fill_uniform(heddle_array *array, uint64_t seed, double low, double high)
{
	const int64_t n = heddle_array_count(array);
	const bool dense = heddle_array_is_dense(array);
	const bool real = heddle_type_is_float(array->type);
	const uint64_t choices = real ? 0 : (uint64_t)(high - low) + 1;
	for (int64_t k = 0; k < n; ++k) {
		int64_t offset = dense ? k : heddle_array_offset(array, k);
		uint64_t r = heddle_random(seed, (uint64_t)k);
		if (real)
			heddle_array_set(array, offset, (long double)(low + (high - low) * ((double)(r >> 11) * 0x1p-53)));
		else
			heddle_array_set_int(array, offset, (int64_t)low + (int64_t)(r % choices));
	}
}

void heddle_array_fill_random(heddle_array *array, uint64_t seed)
{
	if (heddle_type_is_float(array->type))
		heddle_array_fill_uniform(array, seed, -1, 1);
	else
		heddle_array_fill_integers(array, seed, array->type == HEDDLE_BOOL ? 1 : 10);
}

void heddle_array_fill_integers(heddle_array *array, uint64_t seed, int magnitude)
{
	const int64_t n = heddle_array_count(array);
	const bool dense = heddle_array_is_dense(array);
	const bool positive = heddle_type_is_unsigned(array->type);
	if (array->type == HEDDLE_BOOL)
		magnitude = 1;
	for (int64_t k = 0; k < n; ++k) {
		uint64_t r = heddle_random(seed, (uint64_t)k);
		uint64_t choices = positive ? (uint64_t)magnitude + 1 : 2 * (uint64_t)magnitude + 1;
		int64_t value = (int64_t)(r % choices) - (positive ? 0 : magnitude);
		heddle_array_set_int(array, dense ? k : heddle_array_offset(array, k), value);
	}
}
