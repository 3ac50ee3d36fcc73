/* Arithmetic of the interpreter: one operation over a run of lanes, conversions, functions, shuffles.
 * SPDX-License-Identifier: MIT
 */
#include "harness/interpret_machine.h"

#include <math.h>
#include <string.h>

/* ---- arithmetic over lanes ------------------------------------------------------------------------------------------------ */

/* Loops of one operation.  Lanes lo .. hi are computed, wanted or not: nothing here can fail. */
#define LANES(expression)                                                                                              \
	for (int l = lo; l < hi; l++)                                                                                  \
		d[l] = (expression);                                                                                   \
	break

static void wrap_lanes(heddle_type type, int64_t *d, int lo, int hi)
{
	switch (type) {
	case HEDDLE_BOOL: LANES(d[l] != 0);
	case HEDDLE_INT8: LANES((int8_t)d[l]);
	case HEDDLE_INT16: LANES((int16_t)d[l]);
	case HEDDLE_INT32: LANES((int32_t)d[l]);
	case HEDDLE_UINT8: LANES((uint8_t)d[l]);
	case HEDDLE_UINT16: LANES((uint16_t)d[l]);
	case HEDDLE_UINT32: LANES((uint32_t)d[l]);
	default: break;
	}
}

static int bits_of(heddle_type type)
{
	return type == HEDDLE_BOOL ? 1 : 8 * heddle_type_size(type);
}

static int64_t divide(heddle_op operator, bool wide_unsigned, int64_t a, int64_t b)
{
	bool div = operator == HEDDLE_OP_DIV;
	if (b == 0)
		return div ? 0 : a;
	if (wide_unsigned)
		return (int64_t)(div ? (uint64_t)a / (uint64_t)b : (uint64_t)a % (uint64_t)b);
	if (b == -1)
		return div ? (int64_t)(0 - (uint64_t)a) : 0;
	return div ? a / b : a % b;
}

static void binary_int(const op *o, int64_t *d, const int64_t *a, const int64_t *b, int lo, int hi)
{
	bool u = o->type == HEDDLE_UINT64;
	const uint64_t *ua = (const uint64_t *)a, *ub = (const uint64_t *)b;
	int bits = bits_of(o->type);

	switch (o->operator) {
	case HEDDLE_OP_ADD: LANES((int64_t)(ua[l] + ub[l]));
	case HEDDLE_OP_SUB: LANES((int64_t)(ua[l] - ub[l]));
	case HEDDLE_OP_MUL: LANES((int64_t)(ua[l] * ub[l]));
	case HEDDLE_OP_DIV:
	case HEDDLE_OP_MOD: LANES(divide(o->operator, u, a[l], b[l]));
	case HEDDLE_OP_MIN: LANES((u ? ua[l] < ub[l] : a[l] < b[l]) ? a[l] : b[l]);
	case HEDDLE_OP_MAX: LANES((u ? ua[l] > ub[l] : a[l] > b[l]) ? a[l] : b[l]);
	case HEDDLE_OP_LT: LANES(u ? ua[l] < ub[l] : a[l] < b[l]);
	case HEDDLE_OP_LE: LANES(u ? ua[l] <= ub[l] : a[l] <= b[l]);
	case HEDDLE_OP_GT: LANES(u ? ua[l] > ub[l] : a[l] > b[l]);
	case HEDDLE_OP_GE: LANES(u ? ua[l] >= ub[l] : a[l] >= b[l]);
	case HEDDLE_OP_EQ: LANES(a[l] == b[l]);
	case HEDDLE_OP_NE: LANES(a[l] != b[l]);
	case HEDDLE_OP_AND: LANES(a[l] && b[l]);
	case HEDDLE_OP_OR: LANES(a[l] || b[l]);
	case HEDDLE_OP_BITAND: LANES(a[l] & b[l]);
	case HEDDLE_OP_BITOR: LANES(a[l] | b[l]);
	case HEDDLE_OP_BITXOR: LANES(a[l] ^ b[l]);
	case HEDDLE_OP_SHL: LANES((int64_t)(ua[l] << (ub[l] & (uint64_t)(bits - 1))));
	case HEDDLE_OP_SHR:
		LANES(u ? (int64_t)(ua[l] >> (ub[l] & (uint64_t)(bits - 1))) : a[l] >> (ub[l] & (uint64_t)(bits - 1)));
	default: break;
	}
	if (o->operator <= HEDDLE_OP_MOD || o->operator == HEDDLE_OP_SHL || o->operator == HEDDLE_OP_BITXOR)
		wrap_lanes(o->type, d, lo, hi);
}

/* The same text for float and double; comparisons give integers. */
#define BINARY_FLOATING(name, real, modulo)                                                                            \
	static void name(const op *o, void *result, const real *a, const real *b, int lo, int hi)                     \
	{                                                                                                              \
		real *d = result;                                                                                      \
		switch (o->operator) {                                                                                 \
		case HEDDLE_OP_ADD: LANES(a[l] + b[l]);                                                                \
		case HEDDLE_OP_SUB: LANES(a[l] - b[l]);                                                                \
		case HEDDLE_OP_MUL: LANES(a[l] * b[l]);                                                                \
		case HEDDLE_OP_DIV: LANES(a[l] / b[l]);                                                                \
		case HEDDLE_OP_MOD: LANES(modulo(a[l], b[l]));                                                         \
		case HEDDLE_OP_MIN: LANES(a[l] < b[l] || isnan(a[l]) ? a[l] : b[l]);                                   \
		case HEDDLE_OP_MAX: LANES(a[l] > b[l] || isnan(a[l]) ? a[l] : b[l]);                                   \
		default: break;                                                                                        \
		}                                                                                                      \
	}                                                                                                              \
	static void name##_compare(const op *o, int64_t *d, const real *a, const real *b, int lo, int hi)             \
	{                                                                                                              \
		switch (o->operator) {                                                                                 \
		case HEDDLE_OP_LT: LANES(a[l] < b[l]);                                                                 \
		case HEDDLE_OP_LE: LANES(a[l] <= b[l]);                                                                \
		case HEDDLE_OP_GT: LANES(a[l] > b[l]);                                                                 \
		case HEDDLE_OP_GE: LANES(a[l] >= b[l]);                                                                \
		case HEDDLE_OP_EQ: LANES(a[l] == b[l]);                                                                \
		case HEDDLE_OP_NE: LANES(a[l] != b[l]);                                                                \
		case HEDDLE_OP_AND: LANES(a[l] != 0 && b[l] != 0);                                                     \
		case HEDDLE_OP_OR: LANES(a[l] != 0 || b[l] != 0);                                                      \
		default: break;                                                                                        \
		}                                                                                                      \
	}

BINARY_FLOATING(binary_float, float, fmodf)
BINARY_FLOATING(binary_double, double, fmod)

void heddle_machine_binary(const machine *m, const op *o, int lo, int hi)
{
	bool compares = o->operator >= HEDDLE_OP_LT && o->operator <= HEDDLE_OP_OR;
	for (int j = 0; j < o->width; j++) {
		int at = j * o->a_stride;
		void *d = cells(m, o->d + at);
		/* constants have one member */
		const void *a = cells(m, o->a < 0 ? o->a : o->a + at), *b = cells(m, o->b < 0 ? o->b : o->b + at);
		if (o->class == CLASS_INT)
			binary_int(o, d, a, b, lo, hi);
		else if (o->class == CLASS_FLOAT && compares)
			binary_float_compare(o, d, a, b, lo, hi);
		else if (o->class == CLASS_FLOAT)
			binary_float(o, d, a, b, lo, hi);
		else if (compares)
			binary_double_compare(o, d, a, b, lo, hi);
		else
			binary_double(o, d, a, b, lo, hi);
	}
}

uint16_t heddle_machine_float16_from(float f)
{
	uint32_t bits;
	memcpy(&bits, &f, sizeof(bits));
	uint32_t magnitude = bits & 0x7FFFFFFF;
	if (magnitude < 0x38800000 || magnitude >= 0x477FF000)
		return heddle_float16_from((long double)f); /* subnormal, overflow, not a number */
	magnitude += 0xFFF + (magnitude >> 13 & 1);
	return (uint16_t)((bits >> 16 & 0x8000) | ((magnitude - 0x38000000) >> 13));
}

uint16_t heddle_machine_bfloat16_from(float f)
{
	uint32_t bits;
	memcpy(&bits, &f, sizeof(bits));
	if ((bits & 0x7F800000) == 0x7F800000)
		return heddle_bfloat16_from((long double)f);
	return (uint16_t)((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

float heddle_machine_round_float(const machine *m, heddle_type type, float f)
{
	if (type == HEDDLE_FLOAT16)
		return m->half[heddle_machine_float16_from(f)];
	if (type == HEDDLE_BFLOAT16)
		return heddle_bfloat16_to(heddle_machine_bfloat16_from(f));
	return f;
}

/* Floating to integer: towards zero, the nearest representable value beyond the range, 0 for NaN. */
static int64_t truncate_to(heddle_type type, double f)
{
	int bits = bits_of(type);
	bool is_unsigned = heddle_type_is_unsigned(type);
	if (type == HEDDLE_BOOL)
		return f != 0;
	if (isnan(f))
		return 0;
	double most = ldexp(1, is_unsigned ? bits : bits - 1), least = is_unsigned ? 0 : -most;
	f = trunc(f);
	if (f >= most)
		return (int64_t)(is_unsigned ? UINT64_MAX >> (64 - bits) : UINT64_MAX >> (65 - bits));
	if (f < least)
		f = least;
	return is_unsigned ? (int64_t)(uint64_t)f : (int64_t)f;
}

void heddle_machine_cast_lanes(const machine *m, const op *o, void *result, const void *argument, int lo, int hi)
{
	const int64_t *i = argument;
	const float *f = argument;
	const double *g = argument;
	bool u = o->from == HEDDLE_UINT64;

	if (class_of(o->type) == CLASS_INT) {
		int64_t *d = result;
		for (int l = lo; l < hi; l++)
			d[l] = o->class == CLASS_INT ? i[l]
						     : truncate_to(o->type, o->class == CLASS_FLOAT ? (double)f[l] : g[l]);
		wrap_lanes(o->type, d, lo, hi);
	} else if (class_of(o->type) == CLASS_DOUBLE) {
		double *d = result;
		for (int l = lo; l < hi; l++)
			d[l] = o->class == CLASS_DOUBLE	 ? g[l]
			       : o->class == CLASS_FLOAT ? (double)f[l]
			       : u			 ? (double)(uint64_t)i[l]
							 : (double)i[l];
	} else {
		float *d = result;
		for (int l = lo; l < hi; l++) {
			d[l] = o->class == CLASS_DOUBLE	 ? (float)g[l]
			       : o->class == CLASS_FLOAT ? f[l]
			       : u			 ? (float)(uint64_t)i[l]
							 : (float)i[l];
			d[l] = heddle_machine_round_float(m, o->type, d[l]);
		}
	}
}

static double lane_double(lane_class class, const void *run, int l)
{
	if (class == CLASS_FLOAT)
		return (double)((const float *)run)[l];
	return class == CLASS_DOUBLE ? ((const double *)run)[l] : (double)((const int64_t *)run)[l];
}

static double call_one(const op *o, const void *const *run, int l)
{
	long double x[4];
	if (o->one)
		return o->one(lane_double(o->class, run[0], l));
	if (o->two)
		return o->two(lane_double(o->class, run[0], l), lane_double(o->class, run[1], l));
	if (o->i && o->class == CLASS_FLOAT) /* nextafter */
		return (double)nextafterf(((const float *)run[0])[l], ((const float *)run[1])[l]);
	if (o->i)
		return nextafter(lane_double(o->class, run[0], l), lane_double(o->class, run[1], l));
	for (int k = 0; k < 4; k++)
		x[k] = run[k] ? (long double)lane_double(o->class, run[k], l) : 0;
	return (double)heddle_special_value(o->special, x);
}

/* random_bits: 64-bit integers to 32-bit ones. */
static void random_lanes(const machine *m, const op *o, const mask *k, int lo, int hi)
{
	for (int j = 0; j < o->width; j++) {
		const int64_t *seed = cells(m, o->a < 0 ? o->a : o->a + j * o->a_stride);
		const int64_t *counter = cells(m, o->b < 0 ? o->b : o->b + j * o->a_stride);
		int64_t *d = cells(m, o->d + j * o->a_stride);
		for (int l = lo; l < hi; l++)
			if (o->scalar || active(k, l))
				d[l] = (int64_t)heddle_special_random_bits((uint64_t)seed[l], (uint64_t)counter[l]);
	}
}

void heddle_machine_call_lanes(const machine *m, const op *o, const mask *k, int lo, int hi)
{
	if (o->random) {
		random_lanes(m, o, k, lo, hi);
		return;
	}
	int arity = o->one ? 1 : o->two || o->i ? 2 : 4;
	if (o->special)
		arity = o->special->one ? 1 : o->special->two ? 2 : o->special->three ? 3 : 4;
	for (int j = 0; j < o->width; j++) {
		int at[4] = {o->a, o->b, o->c, o->e};
		const void *run[4] = {NULL, NULL, NULL, NULL};
		for (int n = 0; n < arity; n++)
			run[n] = cells(m, at[n] < 0 ? at[n] : at[n] + j * o->a_stride);
		void *d = cells(m, o->d + j * o->a_stride);
		for (int l = lo; l < hi; l++) {
			if (!o->scalar && !active(k, l))
				continue;
			double y = call_one(o, run, l);
			if (class_of(o->type) == CLASS_FLOAT)
				((float *)d)[l] = (float)y;
			else if (class_of(o->type) == CLASS_DOUBLE)
				((double *)d)[l] = y;
			else
				((int64_t *)d)[l] = truncate_to(o->type, y);
		}
	}
}

void heddle_machine_fma_lanes(const op *o, void *result, const void *a, const void *b, const void *c, int lo, int hi)
{
	if (o->class == CLASS_FLOAT) {
		const float *x = a, *y = b, *z = c;
		float *d = result;
		/* the product of two floats is exact in double, and so is the sum but for a rounding far below float's */
		for (int l = lo; l < hi; l++)
			d[l] = fmaf(x[l], y[l], z[l]);
	} else {
		const double *x = a, *y = b, *z = c;
		double *d = result;
		for (int l = lo; l < hi; l++)
			d[l] = fma(x[l], y[l], z[l]);
	}
}

void heddle_machine_negate_lanes(const op *o, void *result, const void *argument, int lo, int hi)
{
	if (o->class == CLASS_INT) {
		int64_t *d = result;
		const int64_t *a = argument;
		for (int l = lo; l < hi; l++)
			d[l] = (int64_t)(0 - (uint64_t)a[l]);
		wrap_lanes(o->type, d, lo, hi);
	} else if (o->class == CLASS_FLOAT) {
		float *d = result;
		const float *a = argument;
		for (int l = lo; l < hi; l++)
			d[l] = -a[l];
	} else {
		double *d = result;
		const double *a = argument;
		for (int l = lo; l < hi; l++)
			d[l] = -a[l];
	}
}

void heddle_machine_copy_lanes(lane_class class, void *result, const void *argument, const mask *k, int lo, int hi)
{
	size_t size = class == CLASS_FLOAT ? sizeof(float) : sizeof(int64_t);
	char *d = result;
	const char *a = argument;
	if (!k || k->dense) {
		memmove(d + size * (size_t)lo, a + size * (size_t)lo, size * (size_t)(hi - lo));
		return;
	}
	for (int l = lo; l < hi; l++)
		if (k->lane[l])
			memmove(d + size * (size_t)l, a + size * (size_t)l, size);
}

/* One number to lanes lo .. hi: `argument` points at it. */
void heddle_machine_spread(lane_class class, void *result, const void *argument, int lo, int hi)
{
	if (class == CLASS_FLOAT) {
		float *d = result, value = *(const float *)argument;
		for (int l = lo; l < hi; l++)
			d[l] = value;
	} else {
		uint64_t *d = result, value;
		memcpy(&value, argument, sizeof(value));
		for (int l = lo; l < hi; l++)
			d[l] = value;
	}
}

void heddle_machine_blend_lanes(lane_class class, void *result, const int64_t *c, const void *a, const void *b, int lo, int hi)
{
	if (class == CLASS_FLOAT) {
		float *d = result;
		const float *x = a, *y = b;
		for (int l = lo; l < hi; l++)
			d[l] = c[l] ? x[l] : y[l];
	} else {
		uint64_t *d = result;
		const uint64_t *x = a, *y = b;
		for (int l = lo; l < hi; l++)
			d[l] = c[l] ? x[l] : y[l];
	}
}

void heddle_machine_floor_lanes(const op *o, int64_t *d, const int64_t *a, const int64_t *b, int lo, int hi)
{
	for (int l = lo; l < hi; l++) {
		int64_t n = b[l] > 0 ? b[l] : 1;
		int64_t q = a[l] / n - (a[l] % n < 0);
		d[l] = o->code == OP_FLOOR_DIV ? q : a[l] - n * q;
	}
}

/* Halves are combined until one member is left; the operand's cells are scratch by then. */
void heddle_machine_reduce(const machine *m, const op *o, int lo, int hi)
{
	op pair = *o;
	pair.code = OP_BINARY;
	pair.width = 1;
	for (int half = o->width / 2; half >= 1; half /= 2)
		for (int j = 0; j < half; j++) {
			pair.a = o->a + j * o->a_stride;
			pair.b = o->a + (j + half) * o->a_stride;
			pair.d = half == 1 ? o->d : pair.a;
			heddle_machine_binary(m, &pair, lo, hi);
		}
}

/* ---- what can go wrong in arithmetic ---------------------------------------------------------------------------------------- */

void heddle_machine_check_divisor(machine *m, const op *o, const mask *k, int lo, int hi)
{
	bool is_floor = o->code == OP_FLOOR_DIV || o->code == OP_FLOOR_MOD;
	if (o->class != CLASS_INT || !is_floor)
		return;
	for (int j = 0; j < o->width; j++) {
		const int64_t *b = cells(m, o->b < 0 ? o->b : o->b + j * o->a_stride);
		for (int l = lo; l < hi; l++) {
			if (!o->scalar && !active(k, l))
				continue;
			int lane = o->scalar ? first_lane(k) : l;
			if (b[l] <= 0)
				heddle_machine_find(m, "arithmetic", o->node, o->line, lane, "a floor division by %lld",
						    (long long)b[l]);
		}
	}
}

/* ---- shuffles ---------------------------------------------------------------------------------------------------------------- */

/* Finds the first warp of which only a part takes part. */
static void check_warps(machine *m, const op *o, const mask *k)
{
	int warp = m->p->warp;
	for (int first = k->lo / warp * warp; first < k->hi; first += warp) {
		int n = 0;
		for (int l = first; l < first + warp; l++)
			n += l >= k->lo && l < k->hi && active(k, l);
		if (n && n < warp)
			heddle_machine_find(m, "shuffle", o->node, o->line, first_lane(k),
					    "%d of %d threads of the warp reach the shuffle", n, warp);
	}
}

void heddle_machine_shuffle(machine *m, const op *o, const mask *k)
{
	check_warps(m, o, k);
	for (int l = k->lo; l < k->hi; l++) {
		if (!active(k, l))
			continue;
		int first = l / m->p->warp * m->p->warp;
		int partner = (int)((l % m->p->warp) ^ o->i) + first;
		if (partner >= m->lanes)
			partner = l;
		for (int j = 0; j < o->width; j++) {
			void *d = cells(m, o->d + j * o->a_stride);
			const void *a = cells(m, o->a < 0 ? o->a : o->a + j * o->a_stride);
			if (o->class == CLASS_FLOAT)
				((float *)d)[l] = ((const float *)a)[partner];
			else
				((uint64_t *)d)[l] = ((const uint64_t *)a)[partner];
		}
	}
	m->count->shuffles += (uint64_t)k->count;
}
