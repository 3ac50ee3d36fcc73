/* The bounds: 4 ulp, or what the vendor documents for its own function.  A function that Heddle writes itself has no more.
 * SPDX-License-Identifier: MIT
 */
#include "bounds.h"

#include <math.h>
#include <string.h>

#define GUIDE "CUDA C++ Programming Guide, table of maximum errors"
#define MODEL "; what the instructions may be off by is added to it"

static const struct {
	const char *backend, *function;
	heddle_type type; /* HEDDLE_BOOL: both */
	double ulp;
	double absolute;
	const char *why;
} table[] = {
	{"cuda", "erfc", HEDDLE_FLOAT32, 5, 0, GUIDE ": 4" MODEL},
	{"cuda", "erfinv", HEDDLE_FLOAT32, 5, 0, GUIDE ": 2" MODEL},
	{"cuda", "erfcinv", HEDDLE_FLOAT32, 6, 0, GUIDE ": 4" MODEL},
	{"cuda", "normcdf", HEDDLE_BOOL, 5, 0, GUIDE ": 5"},
	{"cuda", "normcdfinv", HEDDLE_FLOAT32, 6, 0, GUIDE ": 5" MODEL},
	{"cuda", "tgamma", HEDDLE_FLOAT32, 6, 0, GUIDE ": 5" MODEL},
	{"cuda", "lgamma", HEDDLE_FLOAT32, 6, 4e-6, GUIDE ": 6, more between -10.001 and -2.264"},
	{"cuda", "lgamma", HEDDLE_FLOAT64, 4, 2e-14, GUIDE ": 4, more between -11.0001 and -2.2637; measured so down to -25"},
	{"cuda", "erfc", HEDDLE_FLOAT64, 5, 0, GUIDE ": 5"},
	{"cuda", "erfinv", HEDDLE_FLOAT64, 5, 0, GUIDE ": 5"},
	{"cuda", "erfcinv", HEDDLE_FLOAT64, 6, 0, GUIDE ": 6"},
	{"cuda", "normcdfinv", HEDDLE_FLOAT64, 8, 0, GUIDE ": 8"},
	{"cuda", "tgamma", HEDDLE_FLOAT64, 10, 0, GUIDE ": 10"},
	{"cuda", "cyl_bessel_i0", HEDDLE_BOOL, 8, 0, GUIDE ": 6" MODEL},
	{"cuda", "cyl_bessel_i1", HEDDLE_BOOL, 8, 0, GUIDE ": 6" MODEL},
	
	{"hip", "lgamma", HEDDLE_FLOAT32, 4, 0x1p-22, "where it passes through 0, below -2.26, absolute"},
	{"hip", "lgamma", HEDDLE_FLOAT64, 4, 0x1p-51, "where it passes through 0, below -2.26, absolute"},
	{"hip", "erfcx", HEDDLE_FLOAT64, 8, 0, "AMD documents what was seen in test ranges only"},
	{"hip", "cyl_bessel_i0", HEDDLE_BOOL, 6, 0, "AMD documents what was seen in test ranges only"},
	{"hip", "cyl_bessel_i1", HEDDLE_BOOL, 6, 0, "AMD documents what was seen in test ranges only"},
	{"hip", "normcdf", HEDDLE_FLOAT32, 5, 0, "AMD documents what was seen in test ranges only" MODEL},
	{"hip", "normcdfinv", HEDDLE_BOOL, 5, 0, "AMD documents what was seen in test ranges only" MODEL},
	{"opencl", "cyl_bessel_i0", HEDDLE_BOOL, 6, 0, "Bessel function"},
	{"opencl", "cyl_bessel_i1", HEDDLE_BOOL, 6, 0, "Bessel function"},
	{"opencl", "lgamma", HEDDLE_FLOAT32, 4, 0x1p-22, "where it passes through 0, below -2.26, absolute"},
	{"opencl", "lgamma", HEDDLE_FLOAT64, 4, 0x1p-51, "where it passes through 0, below -2.26, absolute"},
	{"*", "j0", HEDDLE_FLOAT32, 16, 2.2e-6, "Bessel function: absolute"},
	{"*", "j1", HEDDLE_FLOAT32, 16, 2.2e-6, "Bessel function: absolute"},
	{"*", "y0", HEDDLE_FLOAT32, 16, 2.2e-6, "Bessel function: absolute"},
	{"*", "y1", HEDDLE_FLOAT32, 16, 2.2e-6, "Bessel function: absolute"},
	{"*", "j0", HEDDLE_FLOAT64, 7, 5e-12, "Bessel function: absolute"},
	{"*", "j1", HEDDLE_FLOAT64, 7, 5e-12, "Bessel function: absolute"},
	{"*", "y0", HEDDLE_FLOAT64, 7, 5e-12, "Bessel function: absolute"},
	{"*", "y1", HEDDLE_FLOAT64, 7, 5e-12, "Bessel function: absolute"},
};

/* Functions of the vendors whose zero may have another sign than IEEE 754 and C say.  Heddle's own have the right one. */
static const struct {
	const char *backend, *function;
} sign_of_zero[] = {
	{"*", "fmin"}, {"*", "fmax"}, /* C leaves it open */
	{"*", "j1"}, {"*", "sinpi"}, {"*", "cospi"}, {"hip", "normcdfinv"}, {"hip", "expm1"}, {"hip", "log1p"}, {"hip", "nextafter"},
};

static bool named(const char *row, const char *name)
{
	return strcmp(row, "*") == 0 || strcmp(row, name) == 0;
}

function_bound heddle_bound_of(const char *backend, const char *driver, const char *function, heddle_type type)
{
	function_bound bound = {.ulp = 4, .backend = backend, .driver = driver, .function = function};
	for (size_t k = 0; k < HEDDLE_COUNT(table); k++)
		if (named(table[k].backend, backend) && strcmp(table[k].function, function) == 0 &&
		    (table[k].type == HEDDLE_BOOL || table[k].type == type)) {
			bound.ulp = table[k].ulp;
			bound.absolute = table[k].absolute;
			bound.why = table[k].why;
			break;
		}
	for (size_t k = 0; k < HEDDLE_COUNT(sign_of_zero); k++)
		if (named(sign_of_zero[k].backend, backend) && strcmp(sign_of_zero[k].function, function) == 0)
			bound.any_zero = true;
	/* Its device reports no CL_FP_DENORM; then OpenCL C lets functions take and give 0 for subnormal numbers. */
	bound.flushes = strcmp(driver, "rusticl") == 0;
	return bound;
}

/* An absolute error counts where the function passes through zero between points that the type can tell apart: lgamma between
 * its poles, Bessel's functions everywhere. */
bool heddle_bound_absolute(const function_bound *bound, const double *x)
{
	return bound->absolute > 0 && (strcmp(bound->function, "lgamma") != 0 || (x[0] > -25 && x[0] < -2.26));
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
