/* Where the functions are measured: a grid of special values, then pseudo-random points that favour each function's hard cases.
 * SPDX-License-Identifier: MIT
 */
#include "functions.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const function_points table[] = {
	{"acos", {-1, -1e-3}, {1, 1e-3}, NEAR_ONE},
	{"acosh", {1, 1}, {3, 1e6}, NEAR_ONE},
	{"asin", {-1, -1e-3}, {1, 1e-3}, NEAR_ONE},
	{"asinh", {-4, -1e6}, {4, 1e6}, NEAR_ONE},
	{"atan", {-4, -100}, {4, 100}, NEAR_ONE},
	{"atanh", {-1, -0.1}, {1, 0.1}, NEAR_ONE},
	{"cbrt", {-10}, {10}, NEAR_ONE},
	{"ceil", {-10, -1e7}, {10, 1e7}, NEAR_HALVES},
	{"cos", {-7, -1000, -1e6}, {7, 1000, 1e6}, NEAR_QUARTER_TURNS},
	{"cosh", {-2, -90, -711}, {2, 90, 711}, NEAR_NOTHING},
	{"cospi", {-4, -1e5}, {4, 1e5}, NEAR_HALVES},
	{"cyl_bessel_i0", {-10, -90}, {10, 90}, NEAR_NOTHING},
	{"cyl_bessel_i1", {-10, -90}, {10, 90}, NEAR_NOTHING},
	{"erf", {-1, -5}, {1, 5}, NEAR_NOTHING},
	{"erfc", {-1, -5, 5}, {1, 5, 28}, NEAR_NOTHING},
	{"erfcinv", {0, 0.5, 0}, {2, 1.5, 1e-3}, NEAR_ONE},
	{"erfcx", {-10, -27, 5}, {5, 10, 100}, NEAR_NOTHING},
	{"erfinv", {-1, -0.1}, {1, 0.1}, NEAR_ONE},
	{"exp", {-1, -105, -746}, {1, 90, 711}, NEAR_NOTHING},
	{"exp10", {-1, -46, -325}, {1, 40, 310}, NEAR_HALVES},
	{"exp2", {-1, -150, -1080}, {1, 130, 1030}, NEAR_HALVES},
	{"expm1", {-1, -20, 0}, {1, 90, 711}, NEAR_NOTHING},
	{"fabs", {-10}, {10}, NEAR_NOTHING},
	{"floor", {-10, -1e7}, {10, 1e7}, NEAR_HALVES},
	{"j0", {-10, -100}, {10, 100}, NEAR_NOTHING},
	{"j1", {-10, -100}, {10, 100}, NEAR_NOTHING},
	{"lgamma", {-5, 0, -200}, {5, 100, 0}, NEAR_HALVES},
	{"log", {0, 0.9}, {10, 1.1}, NEAR_ONE},
	{"log10", {0, 0.9}, {10, 1.1}, NEAR_ONE},
	{"log1p", {-1, -0.1}, {10, 0.1}, NEAR_ONE},
	{"log2", {0, 0.9}, {10, 1.1}, NEAR_ONE},
	{"logb", {-10}, {10}, NEAR_ONE},
	{"normcdf", {-1, -15, -39}, {1, 10, 10}, NEAR_NOTHING},
	{"normcdfinv", {0, 0.25, 0}, {1, 0.75, 1e-3}, NEAR_ONE},
	{"rcbrt", {-10}, {10}, NEAR_ONE},
	{"round", {-10, -1e7}, {10, 1e7}, NEAR_HALVES},
	{"rsqrt", {0}, {10}, NEAR_ONE},
	{"sin", {-7, -1000, -1e6}, {7, 1000, 1e6}, NEAR_QUARTER_TURNS},
	{"sinh", {-2, -90, -711}, {2, 90, 711}, NEAR_NOTHING},
	{"sinpi", {-4, -1e5}, {4, 1e5}, NEAR_HALVES},
	{"sqrt", {0}, {10}, NEAR_ONE},
	{"tan", {-7, -1000, -1e6}, {7, 1000, 1e6}, NEAR_QUARTER_TURNS},
	{"tanh", {-1, -20}, {1, 20}, NEAR_NOTHING},
	{"tgamma", {-5, 0, -45}, {5, 36, 172}, NEAR_HALVES},
	{"trunc", {-10, -1e7}, {10, 1e7}, NEAR_HALVES},
	{"y0", {0, 0}, {10, 100}, NEAR_NOTHING},
	{"y1", {0, 0}, {10, 100}, NEAR_NOTHING},
	{"atan2", {-10}, {10}, NEAR_ONE},
	{"copysign", {-10}, {10}, NEAR_NOTHING},
	{"fdim", {-10}, {10}, NEAR_ONE},
	{"fdivide", {-10}, {10}, NEAR_ONE},
	{"fmax", {-10}, {10}, NEAR_ONE},
	{"fmin", {-10}, {10}, NEAR_ONE},
	{"fmod", {-10, -1e6}, {10, 1e6}, NEAR_HALVES},
	{"hypot", {-10}, {10}, NEAR_ONE},
	{"nextafter", {-10}, {10}, NEAR_ONE},
	{"pow", {0, -40, 0.9}, {40, 40, 1.1}, NEAR_HALVES},
	{"remainder", {-10, -1e6}, {10, 1e6}, NEAR_HALVES},
	{"rhypot", {-10}, {10}, NEAR_ONE},
	{"fma", {-10}, {10}, NEAR_ONE},
	{"norm3d", {-10}, {10}, NEAR_ONE},
	{"rnorm3d", {-10}, {10}, NEAR_ONE},
	{"norm4d", {-10}, {10}, NEAR_ONE},
	{"rnorm4d", {-10}, {10}, NEAR_ONE},
};

/* In both types: what the others are made from.  Overflow and underflow have their ends in float32, too. */
static const double special[] = {
	0.0, -0.0, 1, -1, INFINITY, -INFINITY, NAN, 0.5, -0.5, 2, -2, 1.5, -1.5, 2.5, 3, -3, 4, 10, -10, 100, -100,
	0x1p-149, -0x1p-149, 0x1.fffffcp-127, -0x1.fffffcp-127, 0x1p-126, -0x1p-126, 0x1.fffffep127, -0x1.fffffep127,
	0x1p-24, -0x1p-24, 0x1p-12, 0x1.fffffep-1, -0x1.fffffep-1, 0x1.000002p0, -0x1.000002p0, 0x1p23, -0x1p23,
	8388607.5, 8388606.5, 0x1p24, 16777215, 0x1p31, 0x1p32, 0x1p63, 0x1p64, 0x1p100, 0x1p-100, 88.72283, 88.72284,
	-87.33655, -103.97207, -103.97209, 89.41598, 128, 127.99999, -149, -150, -126, 38.531839, 38.53184, -45.15,
	0.70710678, 1.5707963, 3.1415927, 0.78539816, 2.7182818, -0.75, 0.25, 0.75, 0x1p-140, -0x1p-140,
};
enum { N_SPECIAL = (int)HEDDLE_COUNT(special), GRID_3 = 8, GRID_4 = 6 };

static const function_points *find(int builtin)
{
	for (size_t k = 0; k < HEDDLE_COUNT(table); k++)
		if (strcmp(table[k].name, heddle_builtins[builtin].name) == 0)
			return &table[k];
	return NULL;
}

uint64_t heddle_function_specials(int builtin)
{
	static const uint64_t count[] = {0, N_SPECIAL, N_SPECIAL * N_SPECIAL, GRID_3 * GRID_3 * GRID_3,
					 GRID_4 * GRID_4 * GRID_4 * GRID_4};
	return count[heddle_builtins[builtin].arity];
}

static double unit(uint64_t bits)
{
	return (double)(bits >> 11) * 0x1p-53;
}

static double round_to(heddle_type type, double x)
{
	return type == HEDDLE_FLOAT32 ? (double)(float)x : x;
}

/* Every bit pattern of the type may come. */
static double any_bits(heddle_type type, uint64_t bits)
{
	if (type == HEDDLE_FLOAT32) {
		uint32_t word = (uint32_t)(bits >> 17);
		float f;
		memcpy(&f, &word, sizeof(f));
		return (double)f;
	}
	double d;
	memcpy(&d, &bits, sizeof(d));
	return d;
}

/* x moved by up to 4 units in the last place. */
static double shake(heddle_type type, double x, uint64_t bits)
{
	x = round_to(type, x);
	for (uint64_t n = bits % 5; n > 0; n--) {
		double to = bits & 64 ? INFINITY : -INFINITY;
		x = type == HEDDLE_FLOAT32 ? (double)nextafterf((float)x, (float)to) : nextafter(x, to);
	}
	return x;
}

static double hard_case(const function_points *p, heddle_type type, uint64_t a, uint64_t b)
{
	int digits = type == HEDDLE_FLOAT32 ? 24 : 53;
	switch (p->near) {
	case NEAR_QUARTER_TURNS: {
		/* k pi / 2 for k up to 2^(1 .. 40), rounded: the closer, the worse for the reduction of the argument */
		long double k = (long double)(a >> (24 + b % 39));
		long double x = k * 1.57079632679489661923132169163975144L;
		return shake(type, (double)(a & 1 ? -x : x), b >> 8);
	}
	case NEAR_HALVES: {
		double k = floor(unit(a) * (b & 1 ? 20 : 400)) / 2;
		return shake(type, b & 2 ? -k : k, b >> 8);
	}
	case NEAR_ONE: {
		double x = 1 + ldexp(unit(a) - 0.5, -(int)(b % (uint64_t)digits));
		return round_to(type, b & 0x400 ? -x : x);
	}
	default: {
		double x = ldexp(0.5 + unit(a) / 2, (int)(b % 60) - 50);
		return round_to(type, b & 0x400 ? -x : x);
	}
	}
}

static double draw(const function_points *p, heddle_type type, uint64_t seed, uint64_t i)
{
	uint64_t a = heddle_random(seed, 2 * i), b = heddle_random(seed, 2 * i + 1);
	int n = 0;
	while (n < 3 && p->low[n] < p->high[n])
		n++;
	switch (b & 15) {
	case 0:
		return special[a % N_SPECIAL];
	case 1:
	case 2:
	case 3:
		return any_bits(type, a);
	case 4:
	case 5:
	case 6:
	case 7:
		return hard_case(p, type, a, b >> 4);
	default: {
		int k = (int)((b >> 4) % (uint64_t)n);
		return round_to(type, p->low[k] + (p->high[k] - p->low[k]) * unit(a));
	}
	}
}

void heddle_function_point(int builtin, heddle_type type, uint64_t i, double *x)
{
	const function_points *p = find(builtin);
	int arity = heddle_builtins[builtin].arity;
	uint64_t n_special = heddle_function_specials(builtin);
	uint64_t base = arity <= 2 ? (uint64_t)N_SPECIAL : arity == 3 ? (uint64_t)GRID_3 : (uint64_t)GRID_4;
	if (i < n_special) {
		for (int k = 0; k < arity; k++, i /= base)
			x[k] = round_to(type, special[i % base]);
		return;
	}
	for (int k = 0; k < arity; k++)
		x[k] = round_to(type, draw(p, type, (uint64_t)(builtin * 8 + k + 1), i));
	if (arity < 2)
		return;
	uint64_t b = heddle_random((uint64_t)builtin + 1000, i);
	if (b % 4 == 0) { /* arguments of like size, where sums cancel and squares add up */
		for (int k = 1; k < arity; k++)
			x[k] = round_to(type, x[0] * (0.5 + unit(heddle_random((uint64_t)(builtin + 2000 + k), i))) * (b >> (6 + k) & 1 ? -1 : 1));
	} else if (b % 8 == 1 && strcmp(p->name, "pow") == 0) { /* the result stays finite: |y log x| < 90 */
		x[0] = round_to(type, fabs(any_bits(type, heddle_random(7, i))));
		double l = log(x[0]);
		if (isfinite(l) && l != 0)
			x[1] = round_to(type, (unit(b) * 2 - 1) * (type == HEDDLE_FLOAT32 ? 90 : 720) / l);
	} else if (b % 8 == 5 && isfinite(x[0]) && isfinite(x[1])) { /* integers, as exponents and divisors */
		x[1] = round_to(type, rint(x[1]));
	}
}
