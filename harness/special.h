/* The 64 mathematical functions of the notation in long double, with the accuracy that generated code may be asked for.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_SPECIAL_H
#define HEDDLE_SPECIAL_H

#include "base/base.h"

/* One function.  Exactly one of one .. four is set, by arity.  `ulp` and `absolute` bound an implementation's error as
 * ulp * ulp(result) + absolute * u, u the unit roundoff: the loosest of what CUDA's programming guide and the OpenCL C
 * specification (full profile) allow.  ulp 0.5: correctly rounded; 0: exact, the result needs no rounding. */
typedef struct heddle_special {
	const char *name;
	long double (*one)(long double);
	long double (*two)(long double, long double);
	long double (*three)(long double, long double, long double);
	long double (*four)(long double, long double, long double, long double);
	double ulp;
	double absolute;
	bool step; /* has jumps: within an error of one, either side is accepted */
	bool pole; /* unbounded where the last argument is zero */
	bool nextafter; /* depends on the type: handled by the evaluator */
} heddle_special;

/* By name; NULL if there is none (a function of the notation without a row here is a fault of this table). */
const heddle_special *heddle_special_find(const char *name);
uint32_t heddle_special_random_bits(uint64_t seed, uint64_t counter);
/* Value for the arguments; not for nextafter. */
long double heddle_special_value(const heddle_special *special, const long double *argument);

#endif
