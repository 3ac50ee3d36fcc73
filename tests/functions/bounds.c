/* The bounds: 4 ulp, or what the vendor documents for its own function.  A function that Heddle writes itself has no more: OpenCL
 * C would allow 16 for erf, erfc, tgamma and pow, 5 or 6 for tan, tanh, atan2, and none is asked of lgamma.
 * SPDX-License-Identifier: MIT
 */
#include "bounds.h"

#include <math.h>
#include <string.h>

/* NVIDIA's tables: CUDA C++ Programming Guide 13.0, 17.1 Standard Functions, tables 17 and 18.  They count from the correctly
 * rounded result, so an error of up to half an ulp more than this is within them.  Not here: what is exact by its nature. */
static const struct {
	const char *function;
	double ulp[2];	/* float32, float64 */
	double instructions; /* float32: what the PTX ISA lets the instructions be off by may add this (nvidia.c) */
} guide[] = {
	{"acos", {2, 2}, 0}, {"acosh", {4, 3}, 0}, {"asin", {2, 2}, 0}, {"asinh", {3, 3}, 0}, {"atan", {2, 2}, 0},
	{"atan2", {3, 2}, 0}, {"atanh", {3, 2}, 0}, {"cbrt", {1, 1}, 0}, {"ceil", {0, 0}, 0}, {"cos", {2, 2}, 0},
	{"cosh", {2, 1}, 0}, {"cospi", {1, 2}, 0}, {"cyl_bessel_i0", {6, 6}, 0}, {"cyl_bessel_i1", {6, 6}, 0},
	{"erf", {2, 2}, 0}, {"erfc", {4, 5}, 2.5}, {"erfcinv", {4, 6}, 1}, {"erfcx", {4, 4}, 1.5},
	{"erfinv", {2, 5}, 0.5}, {"exp", {2, 1}, 0}, {"exp10", {2, 1}, 0}, {"exp2", {2, 1}, 0}, {"expm1", {1, 1}, 0},
	{"fdim", {0, 0}, 0}, {"floor", {0, 0}, 0}, {"fma", {0, 0}, 0}, {"fmod", {0, 0}, 0}, {"hypot", {3, 2}, 0},
	{"j0", {9, 7}, 0}, {"j1", {9, 7}, 0}, {"lgamma", {6, 4}, 0}, {"log", {1, 1}, 0}, {"log10", {2, 1}, 0},
	{"log1p", {1, 1}, 0}, {"log2", {1, 1}, 0}, {"logb", {0, 0}, 0}, {"norm3d", {3, 2}, 0}, {"norm4d", {3, 2}, 0},
	{"normcdf", {5, 5}, 1.5}, {"normcdfinv", {5, 8}, 1.5}, {"pow", {4, 2}, 0}, {"rcbrt", {1, 1}, 0},
	{"remainder", {0, 0}, 0}, {"rhypot", {2, 1}, 0}, {"rnorm3d", {2, 1}, 0}, {"rnorm4d", {2, 1}, 0},
	{"round", {0, 0}, 0}, {"rsqrt", {2, 1}, 0}, {"sin", {2, 2}, 0}, {"sinh", {3, 2}, 1}, {"sinpi", {1, 2}, 0},
	{"sqrt", {0, 0}, 0}, {"tan", {4, 2}, 0}, {"tanh", {2, 1}, 0}, {"tgamma", {5, 10}, 1}, {"trunc", {0, 0}, 0},
	{"y0", {9, 7}, 0}, {"y1", {9, 7}, 0},
};

/* Where something else holds.  An absolute error is right, too, where from <= x < to, of Bessel's functions |x|. */
static const struct {
	const char *backend, *function;
	heddle_type type; /* HEDDLE_BOOL: both */
	double ulp; /* 0: as elsewhere */
	double absolute, from, to;
	const char *why;
} table[] = {
	{"cuda:exact", "erfinv", HEDDLE_FLOAT32, 2.75, 0, 0, 0, "the guide says 2, and 3 were met at one point in a million"},
	{"cuda", "lgamma", HEDDLE_FLOAT32, 0, 4e-6, -10.001, -2.264, "the guide: larger there, without a figure"},
	{"cuda", "lgamma", HEDDLE_FLOAT64, 0, 2e-14, -23.0001, -2.2637, "the guide: larger there, without a figure"},
	/* Heddle's own passes through 0 with the error of a logarithm near 1. */
	{"hip", "lgamma", HEDDLE_FLOAT32, 0, 0x1p-22, -25, -2.26, "where it passes through 0"},
	{"hip", "lgamma", HEDDLE_FLOAT64, 0, 0x1p-51, -25, -2.26, "where it passes through 0"},
	{"opencl", "lgamma", HEDDLE_FLOAT32, 0, 0x1p-22, -25, -2.26, "where it passes through 0"},
	{"opencl", "lgamma", HEDDLE_FLOAT64, 0, 0x1p-51, -25, -2.26, "where it passes through 0"},
	/* AMD's HIP math API has no figures for these; OpenCL C has no such functions. */
	{"hip", "cyl_bessel_i0", HEDDLE_BOOL, 6, 0, 0, 0, "Bessel function"},
	{"hip", "cyl_bessel_i1", HEDDLE_BOOL, 6, 0, 0, 0, "Bessel function"},
	{"opencl", "cyl_bessel_i0", HEDDLE_BOOL, 6, 0, 0, 0, "Bessel function"},
	{"opencl", "cyl_bessel_i1", HEDDLE_BOOL, 6, 0, 0, 0, "Bessel function"},
	{"cuda", "j0", HEDDLE_FLOAT32, 0, 2.2e-6, 8, INFINITY, "the guide"},
	{"cuda", "j1", HEDDLE_FLOAT32, 0, 2.2e-6, 8, INFINITY, "the guide"},
	{"cuda", "y0", HEDDLE_FLOAT32, 0, 2.2e-6, 8, INFINITY, "the guide"},
	{"cuda", "y1", HEDDLE_FLOAT32, 0, 2.2e-6, 8, INFINITY, "the guide"},
	{"cuda", "j0", HEDDLE_FLOAT64, 0, 5e-12, 8, INFINITY, "the guide"},
	{"cuda", "j1", HEDDLE_FLOAT64, 0, 5e-12, 8, INFINITY, "the guide"},
	{"cuda", "y0", HEDDLE_FLOAT64, 0, 5e-12, 8, INFINITY, "the guide"},
	{"cuda", "y1", HEDDLE_FLOAT64, 0, 5e-12, 8, INFINITY, "the guide"},
	{"*", "j0", HEDDLE_FLOAT32, 16, 2.2e-6, 0, INFINITY, "Bessel function: absolute"},
	{"*", "j1", HEDDLE_FLOAT32, 16, 2.2e-6, 0, INFINITY, "Bessel function: absolute"},
	{"*", "y0", HEDDLE_FLOAT32, 16, 2.2e-6, 0, INFINITY, "Bessel function: absolute"},
	{"*", "y1", HEDDLE_FLOAT32, 16, 2.2e-6, 0, INFINITY, "Bessel function: absolute"},
	{"*", "j0", HEDDLE_FLOAT64, 7, 5e-12, 0, INFINITY, "Bessel function: absolute"},
	{"*", "j1", HEDDLE_FLOAT64, 7, 5e-12, 0, INFINITY, "Bessel function: absolute"},
	{"*", "y0", HEDDLE_FLOAT64, 7, 5e-12, 0, INFINITY, "Bessel function: absolute"},
	{"*", "y1", HEDDLE_FLOAT64, 7, 5e-12, 0, INFINITY, "Bessel function: absolute"},
};

/* Functions of the vendors whose zero may have another sign than IEEE 754 and C say.  Heddle's own have the right one. */
static const struct {
	const char *backend, *function;
} sign_of_zero[] = {
	{"*", "fmin"}, {"*", "fmax"}, /* C leaves it open */
	{"*", "j1"}, {"*", "sinpi"}, {"*", "cospi"}, {"hip", "expm1"}, {"hip", "log1p"}, {"hip", "nextafter"},
};

static bool named(const char *row, const char *backend, const char *driver)
{
	const size_t n = strcspn(row, ":");
	return strcmp(row, "*") == 0 || (strlen(backend) == n && strncmp(row, backend, n) == 0 && (!row[n] || strcmp(row + n + 1, driver) == 0));
}

function_bound heddle_bound_of(const char *backend, const char *driver, const char *function, heddle_type type)
{
	function_bound bound = {.ulp = 4, .documented = -1, .backend = backend, .driver = driver, .function = function};
	const bool exact = strcmp(driver, "exact") == 0;
	for (size_t k = 0; strcmp(backend, "cuda") == 0 && k < HEDDLE_COUNT(guide); k++)
		if (strcmp(guide[k].function, function) == 0) {
			bound.documented = guide[k].ulp[type == HEDDLE_FLOAT64];
			bound.ulp = exact ? bound.documented + 0.5 : fmax(4, bound.documented + 0.5);
			if (!exact && type == HEDDLE_FLOAT32)
				bound.ulp += guide[k].instructions;
		}
	for (size_t k = 0; k < HEDDLE_COUNT(table); k++)
		if (named(table[k].backend, backend, driver) && strcmp(table[k].function, function) == 0 &&
		    (table[k].type == HEDDLE_BOOL || table[k].type == type)) {
			bound.ulp = table[k].ulp > 0 ? table[k].ulp : bound.ulp;
			bound.absolute = table[k].absolute;
			bound.from = table[k].from;
			bound.to = table[k].to;
			bound.why = table[k].why;
			break;
		}
	for (size_t k = 0; k < HEDDLE_COUNT(sign_of_zero); k++)
		if (named(sign_of_zero[k].backend, backend, driver) && strcmp(sign_of_zero[k].function, function) == 0)
			bound.any_zero = true;
	/* Its device reports no CL_FP_DENORM; then OpenCL C lets functions take and give 0 for subnormal numbers. */
	bound.flushes = strcmp(driver, "rusticl") == 0;
	return bound;
}

bool heddle_bound_absolute(const function_bound *bound, const double *x)
{
	const double at = bound->from >= 0 ? fabs(x[0]) : x[0];
	return bound->absolute > 0 && at >= bound->from && at < bound->to;
}

const char *heddle_bound_excuses(const function_bound *bound, heddle_type type, int arity, const double *x, long double wanted,
				 double got)
{
	double least = type == HEDDLE_FLOAT32 ? 0x1p-126 : 0x1p-1022;
	if (bound->any_zero && wanted == 0 && got == 0)
		return "the sign of a zero";
	if (bound->flushes) {
		/* twice the least: a result that is rounded up to it, a quotient that is halved on the way */
		if (wanted != 0 && fabsl(wanted) < 2 * (long double)least)
			return "subnormal numbers, which the driver does not keep";
		for (int i = 0; i < arity; i++)
			if (x[i] != 0 && fabs(x[i]) < 2 * least)
				return "subnormal numbers, which the driver does not keep";
		if (wanted == 0 && got == 0)
			return "the sign of a zero";
	}
	return NULL;
}
