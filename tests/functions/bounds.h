/* What error each function may have on each backend, and why where that is more than 4 ulp.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_TEST_BOUNDS_H
#define HEDDLE_TEST_BOUNDS_H

#include "base/base.h"

typedef struct function_bound {
	double ulp;
	double documented;	   /* by the vendor, from the correctly rounded result; -1: nothing is known */
	double absolute, from, to; /* an error of this much is right, too, where heddle_bound_absolute says so */
	const char *why;
	bool any_zero;	 /* the sign of a zero is not looked at */
	bool flushes;	 /* nor are subnormal numbers */
	const char *backend, *driver, *function;
} function_bound;

function_bound heddle_bound_of(const char *backend, const char *driver, const char *function, heddle_type type);
bool heddle_bound_absolute(const function_bound *bound, const double *x);
/* Why a point is not counted; NULL where it is. */
const char *heddle_bound_excuses(const function_bound *bound, heddle_type type, int arity, const double *x, long double wanted,
				 double got);

#endif
