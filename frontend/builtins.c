/* The mathematical functions of the notation: name and number of arguments.
 * SPDX-License-Identifier: MIT
 */
#include "base/base.h"

#include <string.h>

const heddle_builtin heddle_builtins[] = {
	{"acos", 1, false, false},	   {"acosh", 1, false, false},      {"asin", 1, false, false},     {"asinh", 1, false, false},  {"atan", 1, false, false},   {"atanh", 1, false, false},
	{"cbrt", 1, false, false},	   {"ceil", 1, false, true},	      {"cos", 1, false, false},      {"cosh", 1, false, false},   {"cospi", 1, false, false},  {"cyl_bessel_i0", 1, false, false},
	{"cyl_bessel_i1", 1, false, false}, {"erf", 1, false, false},     {"erfc", 1, false, false},     {"erfcinv", 1, false, false}, {"erfcx", 1, false, false}, {"erfinv", 1, false, false},
	{"exp", 1, false, false},	   {"exp10", 1, false, false},      {"exp2", 1, false, false},     {"expm1", 1, false, false},  {"fabs", 1, false, true},   {"floor", 1, false, true},
	{"j0", 1, false, false},	   {"j1", 1, false, false},	      {"lgamma", 1, false, false},   {"log", 1, false, false},    {"log10", 1, false, false},  {"log1p", 1, false, false},
	{"log2", 1, false, false},	   {"logb", 1, false, false},	      {"normcdf", 1, false, false},  {"normcdfinv", 1, false, false}, {"rcbrt", 1, false, false}, {"round", 1, false, true},
	{"rsqrt", 1, false, false},	   {"sin", 1, false, false},	      {"sinh", 1, false, false},     {"sinpi", 1, false, false},  {"sqrt", 1, false, false},   {"tan", 1, false, false},
	{"tanh", 1, false, false},	   {"tgamma", 1, false, false},     {"trunc", 1, false, true},    {"y0", 1, false, false},     {"y1", 1, false, false},

	{"atan2", 2, false, false},	   {"copysign", 2, false, true},   {"fdim", 2, false, true},     {"fdivide", 2, false, false}, {"fmax", 2, false, true},  {"fmin", 2, false, true},
	{"fmod", 2, false, false},	   {"hypot", 2, false, false},      {"nextafter", 2, false, false}, {"pow", 2, false, false},   {"remainder", 2, false, false}, {"rhypot", 2, false, false},

	{"fma", 3, false, true},	   {"norm3d", 3, false, false},     {"rnorm3d", 3, false, false},

	{"norm4d", 4, false, false},	   {"rnorm4d", 4, false, false},

	{"random_bits", 2, true, false},

	{NULL, 0, false, false},
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
