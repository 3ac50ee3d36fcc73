/* The mathematical functions of the notation: name and number of arguments.
 * SPDX-License-Identifier: MIT
 */
#include "base/base.h"

#include <string.h>

const heddle_builtin heddle_builtins[] = {
	{"acos", 1},	   {"acosh", 1},      {"asin", 1},     {"asinh", 1},  {"atan", 1},   {"atanh", 1},
	{"cbrt", 1},	   {"ceil", 1},	      {"cos", 1},      {"cosh", 1},   {"cospi", 1},  {"cyl_bessel_i0", 1},
	{"cyl_bessel_i1", 1}, {"erf", 1},     {"erfc", 1},     {"erfcinv", 1}, {"erfcx", 1}, {"erfinv", 1},
	{"exp", 1},	   {"exp10", 1},      {"exp2", 1},     {"expm1", 1},  {"fabs", 1},   {"floor", 1},
	{"j0", 1},	   {"j1", 1},	      {"lgamma", 1},   {"log", 1},    {"log10", 1},  {"log1p", 1},
	{"log2", 1},	   {"logb", 1},	      {"normcdf", 1},  {"normcdfinv", 1}, {"rcbrt", 1}, {"round", 1},
	{"rsqrt", 1},	   {"sin", 1},	      {"sinh", 1},     {"sinpi", 1},  {"sqrt", 1},   {"tan", 1},
	{"tanh", 1},	   {"tgamma", 1},     {"trunc", 1},    {"y0", 1},     {"y1", 1},

	{"atan2", 2},	   {"copysign", 2},   {"fdim", 2},     {"fdivide", 2}, {"fmax", 2},  {"fmin", 2},
	{"fmod", 2},	   {"hypot", 2},      {"nextafter", 2}, {"pow", 2},   {"remainder", 2}, {"rhypot", 2},

	{"fma", 3},	   {"norm3d", 3},     {"rnorm3d", 3},

	{"norm4d", 4},	   {"rnorm4d", 4},

	{NULL, 0},
};
/* 47 + 12 + 3 + 2 functions and the end. */
_Static_assert(HEDDLE_COUNT(heddle_builtins) == 64 + 1, "TC has 64 functions");

int heddle_builtin_find(const char *name)
{
	for (int i = 0; heddle_builtins[i].name; i++)
		if (!strcmp(heddle_builtins[i].name, name))
			return i;
	return -1;
}
