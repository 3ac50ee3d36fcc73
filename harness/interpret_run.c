/* One block of a launch, all its threads in lockstep: operations over lanes, watched memory accesses, control flow by masks.
 * SPDX-License-Identifier: MIT
 */
#include "harness/interpret_machine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- cells and masks ---------------------------------------------------------------------------------------------------- */

static void *cells(const machine *m, int at)
{
	return at >= 0 ? (void *)(m->cell + at) : (void *)(m->pool - 1 - at);
}

static bool active(const mask *k, int lane)
{
	return k->dense || k->lane[lane];
}

static int first_lane(const mask *k)
{
	int l = k->lo;
	while (!active(k, l))
		l++;
	return l;
}

/* lo, hi and count of a mask whose bytes are set between lo and hi. */
static mask measure(const uint8_t *lane, int lo, int hi)
{
	mask k = {lane, hi, lo, 0, false};
	for (int l = lo; l < hi; l++)
		if (lane[l]) {
			k.lo = l < k.lo ? l : k.lo;
			k.hi = l + 1;
			k.count++;
		}
	k.dense = k.count == k.hi - k.lo;
	return k;
}

static uint8_t *mask_bytes(const machine *m, int number)
{
	return m->masks + (size_t)number * (size_t)m->lanes;
}

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

static void binary(const machine *m, const op *o, int lo, int hi)
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

static uint16_t float16_from(float f)
{
	uint32_t bits;
	memcpy(&bits, &f, sizeof(bits));
	uint32_t magnitude = bits & 0x7FFFFFFF;
	if (magnitude < 0x38800000 || magnitude >= 0x477FF000)
		return heddle_float16_from((long double)f); /* subnormal, overflow, not a number */
	magnitude += 0xFFF + (magnitude >> 13 & 1);
	return (uint16_t)((bits >> 16 & 0x8000) | ((magnitude - 0x38000000) >> 13));
}

static uint16_t bfloat16_from(float f)
{
	uint32_t bits;
	memcpy(&bits, &f, sizeof(bits));
	if ((bits & 0x7F800000) == 0x7F800000)
		return heddle_bfloat16_from((long double)f);
	return (uint16_t)((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

static float round_float(const machine *m, heddle_type type, float f)
{
	if (type == HEDDLE_FLOAT16)
		return m->half[float16_from(f)];
	if (type == HEDDLE_BFLOAT16)
		return heddle_bfloat16_to(bfloat16_from(f));
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

static void cast_lanes(const machine *m, const op *o, void *result, const void *argument, int lo, int hi)
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
			d[l] = round_float(m, o->type, d[l]);
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

static void call_lanes(const machine *m, const op *o, const mask *k, int lo, int hi)
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

static void fma_lanes(const op *o, void *result, const void *a, const void *b, const void *c, int lo, int hi)
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

static void negate_lanes(const op *o, void *result, const void *argument, int lo, int hi)
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

static void copy_lanes(lane_class class, void *result, const void *argument, const mask *k, int lo, int hi)
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
static void spread(lane_class class, void *result, const void *argument, int lo, int hi)
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

static void blend_lanes(lane_class class, void *result, const int64_t *c, const void *a, const void *b, int lo, int hi)
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

static void floor_lanes(const op *o, int64_t *d, const int64_t *a, const int64_t *b, int lo, int hi)
{
	for (int l = lo; l < hi; l++) {
		int64_t n = b[l] > 0 ? b[l] : 1;
		int64_t q = a[l] / n - (a[l] % n < 0);
		d[l] = o->code == OP_FLOOR_DIV ? q : a[l] - n * q;
	}
}

/* Halves are combined until one member is left; the operand's cells are scratch by then. */
static void reduce(const machine *m, const op *o, int lo, int hi)
{
	op pair = *o;
	pair.code = OP_BINARY;
	pair.width = 1;
	for (int half = o->width / 2; half >= 1; half /= 2)
		for (int j = 0; j < half; j++) {
			pair.a = o->a + j * o->a_stride;
			pair.b = o->a + (j + half) * o->a_stride;
			pair.d = half == 1 ? o->d : pair.a;
			binary(m, &pair, lo, hi);
		}
}

/* ---- what can go wrong in arithmetic ---------------------------------------------------------------------------------------- */

static void check_divisor(machine *m, const op *o, const mask *k, int lo, int hi)
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

static void shuffle(machine *m, const op *o, const mask *k)
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

/* ---- addresses ----------------------------------------------------------------------------------------------------------------- */

static int64_t subscript_value(const machine *m, const access *x, int n, int lane)
{
	const int64_t *run = cells(m, x->subscript[n].at);
	return run[x->subscript[n].scalar && !x->subscript[n].constant ? 0 : lane];
}

static void find_bounds(machine *m, const access *x, int lane, const char *verb)
{
	heddle_text text = {0};
	const memory *mem = x->memory;
	heddle_text_printf(&text, "%s %s", verb, mem->buffer->name);
	for (int n = 0; n < x->n; n++) {
		bool last = n == x->n - 1 && x->width > mem->buffer->width;
		heddle_text_printf(&text, "[%lld", (long long)subscript_value(m, x, n, lane));
		heddle_text_printf(&text, last ? " : %d]" : "]", x->width);
	}
	heddle_text_add(&text, " outside");
	if (x->n != mem->buffer->rank) {
		heddle_text_printf(&text, mem->hole ? " its %lld elements, or between them" : " its %lld elements",
				   (long long)mem->total);
	} else {
		for (int n = 0; n < x->n; n++)
			heddle_text_printf(&text, " %s%lld", n ? "x " : "", (long long)mem->extent[n]);
	}
	heddle_machine_find(m, "bounds", x->node, x->line, lane, "%s", heddle_text_str(&text));
	heddle_text_free(&text);
	m->stop = true;
}

/* One of `n` elements from `offset` on lies between those of declared strides. */
static bool in_hole(const memory *mem, int64_t offset, int n)
{
	for (int j = 0; j < n; j++)
		if (mem->hole[offset + j])
			return true;
	return false;
}

/* Member numbers of the accesses of lanes lo .. hi into m->offset; false after a finding. */
static bool locate(machine *m, const access *x, const mask *k, int lo, int hi, const char *verb)
{
	const memory *mem = x->memory;
	bool linear = x->n != mem->buffer->rank;
	int width = mem->buffer->width;
	int reach = x->width / width; /* elements of the last dimension that one access covers */
	int64_t *offset = m->offset;
	uint8_t any = 0;

	for (int l = lo; l < hi; l++)
		offset[l] = 0;
	for (int n = 0; n < x->n; n++) {
		const int64_t *run = cells(m, x->subscript[n].at);
		int64_t limit = linear ? mem->total : mem->extent[n], stride = linear ? 1 : mem->stride[n];
		uint64_t end = (uint64_t)(n == x->n - 1 ? limit - reach + 1 : limit);
		if ((int64_t)end < 0)
			end = 0;
		if (x->subscript[n].scalar && !x->subscript[n].constant) {
			int64_t i = run[0], all = (uint64_t)i < end ? i * stride : 0;
			any |= (uint64_t)i >= end;
			for (int l = lo; l < hi; l++)
				offset[l] += all;
		} else {
			for (int l = lo; l < hi; l++) {
				bool bad = (uint64_t)run[l] >= end;
				any |= bad;
				offset[l] += bad ? 0 : run[l] * stride;
			}
		}
	}
	if (width > 1)
		for (int l = lo; l < hi; l++)
			offset[l] *= width;
	for (int l = lo; l < hi && mem->hole && !any; l++)
		if (active(k, l) && in_hole(mem, offset[l], reach)) {
			find_bounds(m, x, l, verb);
			return false;
		}
	if (!any)
		return true;
	/* a lane that is off may be one that takes no part */
	for (int l = lo; l < hi; l++) {
		if (!active(k, l))
			continue;
		for (int n = 0; n < x->n; n++) {
			int64_t limit = linear ? mem->total : mem->extent[n];
			int64_t i = subscript_value(m, x, n, l);
			if (i < 0 || i > limit - (n == x->n - 1 ? reach : 1)) {
				find_bounds(m, x, l, verb);
				return false;
			}
		}
	}
	return true;
}

static void check_alignment(machine *m, const access *x, const mask *k, int lo, int hi)
{
	const memory *mem = x->memory;
	int64_t bytes = (int64_t)x->width * mem->size;
	if (x->width == 1 || m->in->unaligned_vectors || mem->space == HEDDLE_SPACE_REGISTER)
		return;
	if (mem->buffer->align % bytes) {
		heddle_machine_find(m, "alignment", x->node, x->line, first_lane(k),
				    "a vector of %lld bytes in %s, which is aligned to %d", (long long)bytes,
				    mem->buffer->name, mem->buffer->align);
		return;
	}
	for (int l = lo; l < hi; l++)
		if (active(k, l) && m->offset[l] * mem->size % bytes) {
			heddle_machine_find(m, "alignment", x->node, x->line, l,
					    "a vector of %lld bytes at byte %lld of %s", (long long)bytes,
					    (long long)(m->offset[l] * mem->size), mem->buffer->name);
			return;
		}
}

/* ---- shadow memory --------------------------------------------------------------------------------------------------------------- */

static void find_race(machine *m, const access *x, int lane, int64_t member, const char *what, int other)
{
	heddle_machine_find(m, "race", x->node, x->line, lane,
			    "element %lld of %s is %s thread %d with no barrier between", (long long)member,
			    x->memory->buffer->name, what, other);
}

static void find_block_race(machine *m, const access *x, int lane, int64_t member, const char *what)
{
	heddle_machine_find(m, "race", x->node, x->line, lane, "element %lld of %s is %s another block of the launch",
			    (long long)member, x->memory->buffer->name, what);
}

static void find_uninitialised(machine *m, const access *x, int lane, int64_t member, const char *why)
{
	heddle_machine_find(m, "uninitialised", x->node, x->line, lane, "element %lld of %s is read %s", (long long)member,
			    x->memory->buffer->name, why);
}

static void find_copying(machine *m, const access *x, int lane, int64_t member, const char *what)
{
	heddle_machine_find(m, "race", x->node, x->line, lane < m->lanes ? lane : 0,
			    "element %lld of %s is %s while a copy to it is under way: it was not waited for", (long long)member,
			    x->memory->buffer->name, what);
}

/* The epochs that matter for a space: written since `valid` counts as initialised; from `launch` to the block's start are other
 * blocks of this launch. */
typedef struct era {
	uint32_t valid, launch, block, now;
} era;

static era era_of(const machine *m, const memory *mem)
{
	bool shared = mem->space == HEDDLE_SPACE_SHARED;
	return (era){shared ? m->block_start : 1, shared ? m->block_start : m->launch_start, m->block_start, m->now};
}

static bool by_other_block(const era *e, uint32_t epoch)
{
	return epoch >= e->launch && epoch < e->block;
}

static void shadow_read(machine *m, const access *x, const era *e, shadow *s, int lane, int64_t member)
{
	if (s->writer == COPYING) {
		find_copying(m, x, lane, member, "read");
	} else if (s->write_epoch == e->now) {
		if (s->writer != lane && s->writer != COPIED)
			find_race(m, x, lane, member, "read here and written by", s->writer);
	} else if (s->write_epoch < e->valid) {
		find_uninitialised(m, x, lane, member, "and was never written");
	} else if (by_other_block(e, s->write_epoch)) {
		find_block_race(m, x, lane, member, "read here and written by");
	}
	if (s->read_epoch == e->now) {
		if (s->reader != lane)
			s->reader = MANY_READERS;
		return;
	}
	if (by_other_block(e, s->read_epoch))
		s->other_epoch = s->read_epoch;
	s->read_epoch = e->now;
	s->reader = (uint16_t)lane;
}

static void shadow_write(machine *m, const access *x, const era *e, shadow *s, int lane, int64_t member)
{
	if (s->writer == COPYING)
		find_copying(m, x, lane, member, "written");
	if (s->write_epoch == e->now) {
		if (s->writer != lane && s->writer < COPIER)
			find_race(m, x, lane, member, "written here and by", s->writer);
	} else if (by_other_block(e, s->write_epoch)) {
		find_block_race(m, x, lane, member, "written here and by");
	}
	if (s->read_epoch == e->now && s->reader != lane) {
		if (s->reader == MANY_READERS)
			heddle_machine_find(m, "race", x->node, x->line, lane,
					    "element %lld of %s is written here and read by several threads with no barrier "
					    "between", (long long)member, x->memory->buffer->name);
		else
			find_race(m, x, lane, member, "written here and read by", s->reader);
	} else if (by_other_block(e, s->read_epoch) || by_other_block(e, s->other_epoch)) {
		find_block_race(m, x, lane, member, "written here and read by");
	}
	s->write_epoch = e->now;
	s->writer = (uint16_t)lane;
}

/* Workspace: several granules may make one member, and another temporary may have lived there. */
static void watch_granules(machine *m, const access *x, const era *e, int lane, int64_t member, bool write)
{
	memory *mem = x->memory;
	uint16_t id = (uint16_t)(mem->buffer->position + 1);
	for (int g = 0; g < mem->granules; g++) {
		int64_t at = member * mem->granules + g;
		if (write) {
			shadow_write(m, x, e, &mem->shadow[at], lane, member);
			mem->owner[at] = id;
		} else {
			if (mem->owner[at] && mem->owner[at] != id)
				find_uninitialised(m, x, lane, member, "after another temporary wrote over it");
			shadow_read(m, x, e, &mem->shadow[at], lane, member);
		}
	}
}

static void watch(machine *m, const access *x, const mask *k, bool write)
{
	memory *mem = x->memory;
	era e = era_of(m, mem);
	if (!mem->shadow)
		return;
	for (int l = k->lo; l < k->hi; l++) {
		if (!active(k, l))
			continue;
		for (int j = 0; j < x->width; j++) {
			int64_t member = m->offset[l] + j;
			if (mem->owner)
				watch_granules(m, x, &e, l, member, write);
			else if (write)
				shadow_write(m, x, &e, &mem->shadow[member], l, member);
			else
				shadow_read(m, x, &e, &mem->shadow[member], l, member);
		}
	}
}

/* ---- traffic ----------------------------------------------------------------------------------------------------------------------- */

enum { SECTOR = 32, BANKS = 32, BANK_WIDTH = 4 };

/* 32-byte sectors that the lanes first .. last touch. */
static uint64_t count_sectors(const machine *m, const access *x, const mask *k, int first, int last)
{
	int64_t seen[256];
	int n = 0;
	for (int l = first; l < last; l++) {
		if (!active(k, l))
			continue;
		int64_t from = m->offset[l] * x->memory->size / SECTOR;
		int64_t to = ((m->offset[l] + x->width) * x->memory->size - 1) / SECTOR;
		for (int64_t s = from; s <= to; s++) {
			int j = n - 1;
			while (j >= 0 && seen[j] != s)
				j--;
			if (j < 0 && n < (int)HEDDLE_COUNT(seen))
				seen[n++] = s;
		}
	}
	return (uint64_t)n;
}

/* Greatest number of different words that one bank must give to the lanes first .. last. */
static uint64_t count_bank_cycles(const machine *m, const access *x, const mask *k, int first, int last)
{
	int64_t word[BANKS][64];
	int n[BANKS] = {0}, most = 0;
	for (int l = first; l < last; l++) {
		if (!active(k, l))
			continue;
		int64_t from = m->offset[l] * x->memory->size / BANK_WIDTH;
		int64_t to = ((m->offset[l] + x->width) * x->memory->size - 1) / BANK_WIDTH;
		for (int64_t w = from; w <= to; w++) {
			int bank = (int)(w % BANKS), j = n[bank] - 1;
			while (j >= 0 && word[bank][j] != w)
				j--;
			if (j < 0 && n[bank] < 64)
				word[bank][n[bank]++] = w;
			most = n[bank] > most ? n[bank] : most;
		}
	}
	return (uint64_t)most;
}

static void count_transactions(const machine *m, const access *x, const mask *k, uint64_t *requests, uint64_t *transactions)
{
	/* shared: a request moves at most one word per bank and cycle, so wide vectors go in parts of the warp */
	int bytes = x->width * x->memory->size;
	bool shared = x->memory->space == HEDDLE_SPACE_SHARED;
	int part = shared && bytes > BANK_WIDTH ? m->warp * BANK_WIDTH / bytes : m->warp;
	part = part < 1 ? 1 : part;
	for (int first = k->lo / m->warp * m->warp; first < k->hi; first += m->warp) {
		bool any = false;
		for (int at = first; at < first + m->warp && at < k->hi; at += part) {
			int from = at < k->lo ? k->lo : at, to = at + part < k->hi ? at + part : k->hi;
			uint64_t n = shared ? count_bank_cycles(m, x, k, from, to) : count_sectors(m, x, k, from, to);
			*transactions += n;
			any |= n > 0;
		}
		*requests += any;
	}
}

static void add_traffic(const machine *m, const access *x, const mask *k, bool write, heddle_interpret_traffic *t)
{
	uint64_t accesses = (uint64_t)k->count, elements = accesses * (uint64_t)x->width;
	uint64_t bytes = elements * (uint64_t)x->memory->size;
	if (write) {
		t->store_accesses += accesses;
		t->store_elements += elements;
		t->store_bytes += bytes;
	} else {
		t->load_accesses += accesses;
		t->load_elements += elements;
		t->load_bytes += bytes;
	}
	if (m->in->transactions && x->memory->space != HEDDLE_SPACE_REGISTER)
		count_transactions(m, x, k, write ? &t->store_requests : &t->load_requests,
				   write ? &t->store_transactions : &t->load_transactions);
}

static void count_access(const machine *m, const access *x, const mask *k, bool write)
{
	heddle_interpret_traffic before = *x->memory->traffic, *t = x->memory->traffic;
	heddle_interpret_traffic *total = &m->count->space[x->memory->space];
	add_traffic(m, x, k, write, t);
	if (write) {
		total->store_accesses += t->store_accesses - before.store_accesses;
		total->store_elements += t->store_elements - before.store_elements;
		total->store_bytes += t->store_bytes - before.store_bytes;
		total->store_requests += t->store_requests - before.store_requests;
		total->store_transactions += t->store_transactions - before.store_transactions;
	} else {
		total->load_accesses += t->load_accesses - before.load_accesses;
		total->load_elements += t->load_elements - before.load_elements;
		total->load_bytes += t->load_bytes - before.load_bytes;
		total->load_requests += t->load_requests - before.load_requests;
		total->load_transactions += t->load_transactions - before.load_transactions;
	}
}

/* ---- moving data ------------------------------------------------------------------------------------------------------------------------ */

/* Lanes lo .. hi of member j from memory; lanes that take no part read some element inside the buffer. */
#define FETCH(stored, lane, expression)                                                                                \
	{                                                                                                              \
		const stored *s = (const stored *)mem->data;                                                           \
		lane *d = result;                                                                                      \
		for (int l = lo; l < hi; l++) {                                                                        \
			stored x = s[m->offset[l] + j];                                                                \
			d[l] = (expression);                                                                           \
		}                                                                                                      \
		break;                                                                                                 \
	}

static void fetch(const machine *m, const memory *mem, void *result, int j, int lo, int hi)
{
	switch (mem->buffer->type) {
	case HEDDLE_BOOL: FETCH(uint8_t, int64_t, x != 0)
	case HEDDLE_INT8: FETCH(int8_t, int64_t, x)
	case HEDDLE_INT16: FETCH(int16_t, int64_t, x)
	case HEDDLE_INT32: FETCH(int32_t, int64_t, x)
	case HEDDLE_INT64: FETCH(int64_t, int64_t, x)
	case HEDDLE_UINT8: FETCH(uint8_t, int64_t, x)
	case HEDDLE_UINT16: FETCH(uint16_t, int64_t, x)
	case HEDDLE_UINT32: FETCH(uint32_t, int64_t, x)
	case HEDDLE_UINT64: FETCH(uint64_t, int64_t, (int64_t)x)
	case HEDDLE_FLOAT16: FETCH(uint16_t, float, m->half[x])
	case HEDDLE_BFLOAT16: FETCH(uint16_t, float, heddle_bfloat16_to(x))
	case HEDDLE_FLOAT32: FETCH(float, float, x)
	case HEDDLE_FLOAT64: FETCH(double, double, x)
	default: break;
	}
}

#define PUT(stored, lane, expression)                                                                                  \
	{                                                                                                              \
		stored *s = (stored *)mem->data;                                                                       \
		const lane *d = value;                                                                                 \
		for (int l = k->lo; l < k->hi; l++) {                                                                  \
			if (!active(k, l))                                                                             \
				continue;                                                                              \
			lane x = d[l];                                                                                 \
			s[m->offset[l] + j] = (stored)(expression);                                                    \
		}                                                                                                      \
		break;                                                                                                 \
	}

static void put(const machine *m, const memory *mem, const void *value, int j, const mask *k)
{
	switch (mem->buffer->type) {
	case HEDDLE_BOOL: PUT(uint8_t, int64_t, x != 0)
	case HEDDLE_INT8: PUT(int8_t, int64_t, x)
	case HEDDLE_INT16: PUT(int16_t, int64_t, x)
	case HEDDLE_INT32: PUT(int32_t, int64_t, x)
	case HEDDLE_INT64: PUT(int64_t, int64_t, x)
	case HEDDLE_UINT8: PUT(uint8_t, int64_t, x)
	case HEDDLE_UINT16: PUT(uint16_t, int64_t, x)
	case HEDDLE_UINT32: PUT(uint32_t, int64_t, x)
	case HEDDLE_UINT64: PUT(uint64_t, int64_t, x)
	case HEDDLE_FLOAT16: PUT(uint16_t, float, float16_from(x))
	case HEDDLE_BFLOAT16: PUT(uint16_t, float, bfloat16_from(x))
	case HEDDLE_FLOAT32: PUT(float, float, x)
	case HEDDLE_FLOAT64: PUT(double, double, x)
	default: break;
	}
}

/* Cells of one member of a register buffer: one per lane. */
static uint64_t *register_run(const machine *m, const memory *mem, int64_t member)
{
	return (uint64_t *)(void *)mem->data + (size_t)member * (size_t)m->lanes;
}

static unsigned char *register_written(const machine *m, const memory *mem, int64_t member)
{
	return mem->written + (size_t)member * (size_t)m->lanes;
}

static void check_register_written(machine *m, const access *x, const mask *k)
{
	for (int j = 0; j < x->width; j++)
		for (int l = k->lo; l < k->hi; l++)
			if (active(k, l) && !register_written(m, x->memory, m->offset[l] + j)[l]) {
				find_uninitialised(m, x, l, m->offset[l] + j, "and was never written");
				return;
			}
}

/* The same register in all lanes: whole runs are copied. */
static void load_register_run(machine *m, const access *x, int64_t member, void *result, const mask *k)
{
	const memory *mem = x->memory;
	const unsigned char *written = register_written(m, mem, member);
	if (memchr(written + k->lo, 0, (size_t)(k->hi - k->lo)))
		for (int l = k->lo; l < k->hi; l++)
			if (active(k, l) && !written[l]) {
				find_uninitialised(m, x, l, member, "and was never written");
				break;
			}
	copy_lanes(mem->class, result, register_run(m, mem, member), NULL, k->lo, k->hi);
}

static void load_register(machine *m, const op *o, const access *x, const mask *k)
{
	const memory *mem = x->memory;
	if (x->scalar) {
		if (!locate(m, x, k, k->lo, k->lo + 1, "reads"))
			return;
		int64_t first = m->offset[k->lo];
		for (int j = 0; j < x->width; j++)
			load_register_run(m, x, first + j, cells(m, o->d + j * o->a_stride), k);
		return;
	}
	if (!locate(m, x, k, k->lo, k->hi, "reads"))
		return;
	check_register_written(m, x, k);
	for (int j = 0; j < x->width; j++) {
		void *d = cells(m, o->d + j * o->a_stride);
		for (int l = k->lo; l < k->hi; l++) {
			const uint64_t *run = register_run(m, mem, m->offset[l] + j);
			if (mem->class == CLASS_FLOAT)
				((float *)d)[l] = ((const float *)(const void *)run)[l];
			else
				((uint64_t *)d)[l] = run[l];
		}
	}
}

static void store_register(machine *m, const step *s, const mask *k)
{
	const access *x = s->access;
	const memory *mem = x->memory;
	heddle_type type = mem->buffer->type;
	int at = s->value[0].at;
	if (!locate(m, x, k, k->lo, x->scalar ? k->lo + 1 : k->hi, "writes"))
		return;
	for (int j = 0; j < x->width; j++) {
		const void *value = cells(m, at < 0 ? at : at + j * m->lanes);
		if (x->scalar && k->dense && type != HEDDLE_FLOAT16 && type != HEDDLE_BFLOAT16) {
			int64_t member = m->offset[k->lo] + j;
			copy_lanes(mem->class, register_run(m, mem, member), value, NULL, k->lo, k->hi);
			memset(register_written(m, mem, member) + k->lo, 1, (size_t)(k->hi - k->lo));
			continue;
		}
		for (int l = k->lo; l < k->hi; l++) {
			if (!active(k, l))
				continue;
			int64_t member = m->offset[x->scalar ? k->lo : l] + j;
			uint64_t *run = register_run(m, mem, member);
			if (mem->class == CLASS_FLOAT)
				((float *)(void *)run)[l] = round_float(m, type, ((const float *)value)[l]);
			else
				run[l] = ((const uint64_t *)value)[l];
			register_written(m, mem, member)[l] = 1;
		}
	}
}

static void load(machine *m, const op *o, const mask *k)
{
	const access *x = o->access;
	if (x->memory->space == HEDDLE_SPACE_REGISTER) {
		load_register(m, o, x, k);
		count_access(m, x, k, false);
		return;
	}
	mask one = {k->lane, 0, 1, 1, true};
	const mask *lanes = o->scalar ? &one : k;
	if (!locate(m, x, lanes, lanes->lo, lanes->hi, "reads"))
		return;
	check_alignment(m, x, lanes, lanes->lo, lanes->hi);
	watch(m, x, lanes, false);
	for (int j = 0; j < x->width; j++)
		fetch(m, x->memory, cells(m, o->d + j * o->a_stride), j, lanes->lo, lanes->hi);
	if (o->scalar)
		for (int l = k->lo; l < k->hi; l++)
			m->offset[l] = m->offset[0];
	count_access(m, x, k, false);
}

static void store(machine *m, const step *s, const mask *k)
{
	const access *x = s->access;
	int at = s->value[0].at;
	if (x->memory->space == HEDDLE_SPACE_REGISTER) {
		store_register(m, s, k);
		count_access(m, x, k, true);
		return;
	}
	if (!locate(m, x, k, k->lo, k->hi, "writes"))
		return;
	check_alignment(m, x, k, k->lo, k->hi);
	watch(m, x, k, true);
	for (int j = 0; j < x->width; j++)
		put(m, x->memory, cells(m, at < 0 ? at : at + j * m->lanes), j, k);
	count_access(m, x, k, true);
}

/* ---- operations ------------------------------------------------------------------------------------------------------------------------------ */

static void run_ops(machine *m, int from, int to, const mask *k);

static void select_side(machine *m, const op *o, int at, const mask *k)
{
	const int64_t *condition = cells(m, o->a);
	int then = at + 1, otherwise = then + o->then, end = otherwise + o->otherwise;
	if (o->scalar) {
		if (condition[0])
			run_ops(m, then, otherwise, k);
		else
			run_ops(m, otherwise, end, k);
		return;
	}
	for (int side = 0; side < 2; side++) {
		uint8_t *bytes = mask_bytes(m, o->mask + side);
		for (int l = k->lo; l < k->hi; l++)
			bytes[l] = active(k, l) && (condition[l] != 0) == (side == 0);
		mask part = measure(bytes, k->lo, k->hi);
		if (part.count)
			run_ops(m, side ? otherwise : then, side ? end : otherwise, &part);
	}
}

/* Operations of up to three operands that go member by member. */
static void run_member(machine *m, const op *o, int j, const mask *k, int lo, int hi)
{
	int at = j * o->a_stride;
	void *d = cells(m, o->d + at);
	const void *a = cells(m, o->a < 0 ? o->a : o->a + at);
	const void *b = cells(m, o->b < 0 ? o->b : o->b + at), *c = cells(m, o->c < 0 ? o->c : o->c + at);

	switch (o->code) {
	case OP_COPY: copy_lanes(o->class, d, a, o->scalar ? NULL : k, lo, hi); break;
	case OP_BROADCAST: spread(o->class, d, cells(m, o->a + j), lo, hi); break;
	case OP_NEGATE: negate_lanes(o, d, a, lo, hi); break;
	case OP_NOT:
		for (int l = lo; l < hi; l++)
			((int64_t *)d)[l] = !((const int64_t *)a)[l];
		break;
	case OP_FLOOR_DIV:
	case OP_FLOOR_MOD: floor_lanes(o, d, a, b, lo, hi); break;
	case OP_BLEND: blend_lanes(o->class, d, o->wide_condition ? a : cells(m, o->a), b, c, lo, hi); break;
	case OP_CAST: cast_lanes(m, o, d, a, lo, hi); break;
	case OP_FMA: fma_lanes(o, d, a, b, c, lo, hi); break;
	case OP_SPLAT: copy_lanes(o->class, d, cells(m, o->a), NULL, lo, hi); break;
	default: break;
	}
}

static void run_op(machine *m, const op *o, const mask *k)
{
	int lo = o->scalar ? 0 : k->lo, hi = o->scalar ? 1 : k->hi;
	check_divisor(m, o, k, lo, hi);
	m->count->float_operations += (uint64_t)(o->flops * o->width) * (uint64_t)k->count;
	switch (o->code) {
	case OP_BINARY: binary(m, o, lo, hi); break;
	case OP_CALL: call_lanes(m, o, k, lo, hi); break;
	case OP_REDUCE: reduce(m, o, lo, hi); break;
	case OP_SHUFFLE: shuffle(m, o, k); break;
	case OP_LOAD: load(m, o, k); break;
	default:
		for (int j = 0; j < o->width; j++)
			run_member(m, o, j, k, lo, hi);
	}
}

static void run_ops(machine *m, int from, int to, const mask *k)
{
	for (int at = from; at < to && !m->stop; at++) {
		const op *o = &m->op[at];
		m->in->operations += (uint64_t)((o->scalar ? 1 : k->hi - k->lo) * o->width);
		if (o->code == OP_SELECT) {
			select_side(m, o, at, k);
			at += o->then + o->otherwise;
		} else {
			run_op(m, o, k);
		}
	}
}

/* ---- nodes ---------------------------------------------------------------------------------------------------------------------------------------- */

static void run_step(machine *m, const step *s, const mask *k);

static void check_limits(machine *m, const step *s, const mask *k)
{
	heddle_interpret *in = m->in;
	bool late = false;
	in->operations++;
	if (in->operations >= m->next_look) {
		m->next_look = in->operations + 4000000;
		late = heddle_now() > m->deadline;
	}
	if (late || in->operations > in->max_operations) {
		heddle_machine_find(m, "timeout", s->node->id, s->node->line, first_lane(k),
				    late ? "the time limit is reached" : "the limit on operations is reached");
		m->stop = true;
	}
}

static int64_t wrap_iterator(heddle_type type, int64_t i)
{
	return type == HEDDLE_INT32 ? (int32_t)i : i;
}

static void run_scalar_for(machine *m, const step *s, const mask *k)
{
	int64_t i = *(int64_t *)cells(m, s->value[0].at), upper = *(int64_t *)cells(m, s->value[1].at);
	int64_t *iterator = cells(m, s->variable);
	while (i < upper && !m->stop) {
		*iterator = i;
		run_step(m, s->child[0], k);
		check_limits(m, s, k);
		i = wrap_iterator(s->type, (int64_t)((uint64_t)i + (uint64_t)s->node->i));
	}
}

static void run_for(machine *m, const step *s, const mask *k)
{
	const int64_t *lower = cells(m, s->value[0].at), *upper = cells(m, s->value[1].at);
	int64_t *iterator = cells(m, s->variable);
	uint8_t *bytes = mask_bytes(m, s->mask);
	for (int l = k->lo; l < k->hi; l++) {
		iterator[l] = lower[l];
		bytes[l] = active(k, l);
	}
	while (!m->stop) {
		for (int l = k->lo; l < k->hi; l++)
			bytes[l] = bytes[l] && iterator[l] < upper[l];
		mask part = measure(bytes, k->lo, k->hi);
		if (!part.count)
			return;
		run_step(m, s->child[0], &part);
		check_limits(m, s, &part);
		for (int l = k->lo; l < k->hi; l++)
			iterator[l] = wrap_iterator(s->type, (int64_t)((uint64_t)iterator[l] + (uint64_t)s->node->i));
	}
}

static void run_if(machine *m, const step *s, const mask *k)
{
	const int64_t *condition = cells(m, s->value[0].at);
	if (s->scalar) {
		if (condition[0])
			run_step(m, s->child[0], k);
		else if (s->n_child > 1)
			run_step(m, s->child[1], k);
		return;
	}
	uint8_t *bytes[2] = {mask_bytes(m, s->mask), mask_bytes(m, s->mask + 1)};
	for (int l = k->lo; l < k->hi; l++) {
		bytes[0][l] = active(k, l) && condition[l];
		bytes[1][l] = active(k, l) && !condition[l];
	}
	for (int side = 0; side < s->n_child; side++) {
		mask part = measure(bytes[side], k->lo, k->hi);
		if (part.count && !m->stop)
			run_step(m, s->child[side], &part);
	}
}

static void run_barrier(machine *m, const step *s, const mask *k)
{
	if (k->count != m->lanes) {
		heddle_machine_find(m, "barrier", s->node->id, s->node->line, first_lane(k),
				    "%d of %d threads of the block reach the barrier", k->count, m->lanes);
		m->stop = true;
	}
	m->count->barriers++;
	m->now++;
}

/* ---- asynchronous copies --------------------------------------------------------------------------------------------------- */

static bool same_in_all(const machine *m, const operand *o)
{
	const int64_t *run = cells(m, o->at);
	for (int l = 1; !o->scalar && l < m->lanes; l++)
		if (run[l] != run[0])
			return false;
	return true;
}

static bool all_the_same(const machine *m, const step *s)
{
	bool same = same_in_all(m, &s->value[0]);
	for (int n = 0; n < s->access->n; n++)
		same = same && same_in_all(m, &s->access->subscript[n]);
	for (int n = 0; n < s->source->n; n++)
		same = same && same_in_all(m, &s->source->subscript[n]);
	return same;
}

/* The first of `count` members that one side of a copy touches, -1 after a finding; their shadow is told. */
static int64_t copied_from(machine *m, const access *side, int64_t count, const mask *k, bool write)
{
	access x = *side;
	mask one = {k->lane, 0, 1, 1, true};
	x.width = (int)count;
	if (!locate(m, &x, &one, 0, 1, write ? "copies to" : "copies from"))
		return -1;
	int64_t first = m->offset[0];
	era e = era_of(m, x.memory);
	const int lane = COPIER;
	for (int64_t j = first; x.memory->shadow && j < first + count; j++) {
		if (x.memory->owner)
			watch_granules(m, &x, &e, lane, j, write);
		else if (write)
			shadow_write(m, &x, &e, &x.memory->shadow[j], lane, j);
		else
			shadow_read(m, &x, &e, &x.memory->shadow[j], lane, j);
	}
	m->offset[0] = first;
	count_access(m, &x, &one, write);
	return first;
}

/* What is copied is taken at once and arrives when it is waited for; until then the tile holds nothing that may be read. */
static void run_copy(machine *m, const step *s, const mask *k)
{
	int64_t count = ((const int64_t *)cells(m, s->value[0].at))[0];
	if (k->count != m->lanes || !all_the_same(m, s)) {
		heddle_machine_find(m, "barrier", s->node->id, s->node->line, first_lane(k),
				    k->count != m->lanes ? "%d of %d threads of the block reach the copy"
							 : "%d of %d threads reach the copy, not all with the same places",
				    k->count, m->lanes);
		m->stop = true;
		return;
	}
	if (count <= 0) {
		if (count < 0)
			heddle_machine_find(m, "bounds", s->node->id, s->node->line, 0, "a copy of %lld elements", (long long)count);
		return;
	}
	int64_t from = copied_from(m, s->source, count, k, false), to = from < 0 ? -1 : copied_from(m, s->access, count, k, true);
	if (to < 0)
		return;
	memory *into = s->access->memory;
	size_t size = (size_t)into->size, bytes = size * (size_t)count;
	if (m->n_pending == m->pending_capacity) {
		m->pending_capacity = m->pending_capacity ? 2 * m->pending_capacity : 16;
		m->pending = heddle_xrealloc(m->pending, sizeof(*m->pending) * (size_t)m->pending_capacity);
	}
	pending_copy *new = &m->pending[m->n_pending++];
	*new = (pending_copy){s->node->name, into, to, count, heddle_xalloc(bytes)};
	memcpy(new->data, s->source->memory->data + (size_t)from * size, bytes);
	memset(into->data + (size_t)to * size, 0xA5, bytes);
	for (int64_t j = to; into->shadow && j < to + count; j++)
		into->shadow[j].writer = COPYING;
}

static void arrive(machine *m, pending_copy *copy, bool in_time)
{
	size_t size = (size_t)copy->memory->size;
	if (in_time)
		memcpy(copy->memory->data + (size_t)copy->first * size, copy->data, size * (size_t)copy->count);
	for (int64_t j = copy->first; copy->memory->shadow && j < copy->first + copy->count; j++) {
		copy->memory->shadow[j].writer = COPIED;
		copy->memory->shadow[j].write_epoch = m->now;
	}
	free(copy->data);
}

static void run_wait(machine *m, const step *s, const mask *k)
{
	int n = 0;
	if (k->count != m->lanes) {
		heddle_machine_find(m, "barrier", s->node->id, s->node->line, first_lane(k),
				    "%d of %d threads of the block reach the wait", k->count, m->lanes);
		m->stop = true;
	}
	for (int c = 0; c < m->n_pending; c++) {
		if (strcmp(m->pending[c].name, s->node->name))
			m->pending[n++] = m->pending[c];
		else
			arrive(m, &m->pending[c], true);
	}
	m->n_pending = n;
}

/* At the end of a block nothing may be under way. */
static void end_copies(machine *m)
{
	if (m->n_pending && !m->stop)
		heddle_machine_find(m, "race", m->body->node->id, m->body->node->line, 0, "the block ends while a copy to %s is under way",
				    m->pending[0].memory->buffer->name);
	for (int c = 0; c < m->n_pending; c++)
		arrive(m, &m->pending[c], false);
	m->n_pending = 0;
}

static void run_declare(machine *m, const step *s, const mask *k)
{
	for (int64_t n = 0; n < s->memory->members; n++) {
		unsigned char *written = register_written(m, s->memory, n);
		if (k->dense)
			memset(written + k->lo, 0, (size_t)(k->hi - k->lo));
		else
			for (int l = k->lo; l < k->hi; l++)
				written[l] = k->lane[l] ? 0 : written[l];
	}
}

static void run_step(machine *m, const step *s, const mask *k)
{
	m->count->runs[s->node->id]++;
	m->count->lanes[s->node->id] += (uint64_t)k->count;
	if (s->to > s->from)
		run_ops(m, s->from, s->to, k);
	if (m->stop)
		return;
	switch (s->node->kind) {
	case HEDDLE_NODE_BLOCK:
		for (int n = 0; n < s->n_child && !m->stop; n++)
			run_step(m, s->child[n], k);
		break;
	case HEDDLE_NODE_FOR:
		if (s->scalar)
			run_scalar_for(m, s, k);
		else
			run_for(m, s, k);
		break;
	case HEDDLE_NODE_IF: run_if(m, s, k); break;
	case HEDDLE_NODE_STORE: store(m, s, k); break;
	case HEDDLE_NODE_BARRIER: run_barrier(m, s, k); break;
	case HEDDLE_NODE_COPY: run_copy(m, s, k); break;
	case HEDDLE_NODE_WAIT: run_wait(m, s, k); break;
	case HEDDLE_NODE_DECLARE: run_declare(m, s, k); break;
	case HEDDLE_NODE_LET:
	case HEDDLE_NODE_COMMENT: break;
	}
}

void heddle_machine_block(machine *m)
{
	mask all = {m->masks, 0, m->lanes, m->lanes, true};
	m->now++;
	m->block_start = m->now;
	m->cell[m->block_cell] = (uint64_t)m->block;
	m->count->blocks++;
	run_step(m, m->body, &all);
	end_copies(m);
	if (!m->stop)
		check_limits(m, m->body, &all);
}
