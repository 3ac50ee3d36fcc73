/* The mathematical functions of the notation: name and number of arguments.
 * SPDX-License-Identifier: MIT
 */
#include "base/base.h"

#include <string.h>

const heddle_builtin heddle_builtins[] = {
	{"acos", 1, false},	   {"acosh", 1, false},      {"asin", 1, false},     {"asinh", 1, false},  {"atan", 1, false},   {"atanh", 1, false},
	{"cbrt", 1, false},	   {"ceil", 1, false},	      {"cos", 1, false},      {"cosh", 1, false},   {"cospi", 1, false},  {"cyl_bessel_i0", 1, false},
	{"cyl_bessel_i1", 1, false}, {"erf", 1, false},     {"erfc", 1, false},     {"erfcinv", 1, false}, {"erfcx", 1, false}, {"erfinv", 1, false},
	{"exp", 1, false},	   {"exp10", 1, false},      {"exp2", 1, false},     {"expm1", 1, false},  {"fabs", 1, false},   {"floor", 1, false},
	{"j0", 1, false},	   {"j1", 1, false},	      {"lgamma", 1, false},   {"log", 1, false},    {"log10", 1, false},  {"log1p", 1, false},
	{"log2", 1, false},	   {"logb", 1, false},	      {"normcdf", 1, false},  {"normcdfinv", 1, false}, {"rcbrt", 1, false}, {"round", 1, false},
	{"rsqrt", 1, false},	   {"sin", 1, false},	      {"sinh", 1, false},     {"sinpi", 1, false},  {"sqrt", 1, false},   {"tan", 1, false},
	{"tanh", 1, false},	   {"tgamma", 1, false},     {"trunc", 1, false},    {"y0", 1, false},     {"y1", 1, false},

	{"atan2", 2, false},	   {"copysign", 2, false},   {"fdim", 2, false},     {"fdivide", 2, false}, {"fmax", 2, false},  {"fmin", 2, false},
	{"fmod", 2, false},	   {"hypot", 2, false},      {"nextafter", 2, false}, {"pow", 2, false},   {"remainder", 2, false}, {"rhypot", 2, false},

	{"fma", 3, false},	   {"norm3d", 3, false},     {"rnorm3d", 3, false},

	{"norm4d", 4, false},	   {"rnorm4d", 4, false},

	{"random_bits", 2, true},

	{NULL, 0, false},
};
/* 47 + 12 + 3 + 2 functions, random_bits and the end. */
_Static_assert(HEDDLE_COUNT(heddle_builtins) == 64 + 2, "TC has 64 functions");

int heddle_builtin_find(const char *name)
{
	for (int i = 0; heddle_builtins[i].name; i++)
		if (!strcmp(heddle_builtins[i].name, name))
			return i;
	return -1;
}
