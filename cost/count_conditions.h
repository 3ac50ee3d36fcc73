/* What guards ask for, and samples of what they and moving ends tie together.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_COUNT_CONDITIONS_H
#define HEDDLE_COUNT_CONDITIONS_H

#include "cost/count_parts.h"

enum { MOST_CONJUNCTS = 16 };

/* What a guard asks for: affine expressions that are not negative, and others that are multiples of a divisor. */
typedef struct conjuncts {
	int n, n_multiple;
	linear of[MOST_CONJUNCTS];
	struct {
		linear of;
		int64_t divisor;
	} multiple[MOST_CONJUNCTS];
} conjuncts;

/* The product, or a number that is large enough for samples to be taken. */
static inline int64_t count_times(int64_t a, int64_t b)
{
	const int64_t enough = INT64_MAX / 4;
	int64_t product;
	return __builtin_mul_overflow(a, b, &product) || product > enough ? enough : product;
}

/* ---- count_conditions.c ---- */

/* Adds greater - less >= apart; false: it is something else. */
bool count_add_conjunct(const counter *c, conjuncts *all, const heddle_expr *greater, const heddle_expr *less, int64_t apart);
/* Adds what the guard asks for; false: it is something else. */
bool count_take_conjuncts(const counter *c, const heddle_expr *guard, conjuncts *all);
/* The guard that went into the statement's domain, NULL: there is none.  `*otherwise`: instances are where it does not hold. */
const heddle_expr *count_guard_of(const heddle_stmt *stmt, bool *otherwise);
/* The conjuncts of the guard that holds wherever there is an instance; false: there is no guard, or it is something else. */
bool count_take_guard(const counter *c, const heddle_stmt *stmt, conjuncts *all);

/* ---- count_ranges.c ---- */

/* Combinations of positions of n dimensions: all, or samples. */
typedef struct sampling {
	int n;
	bool every;
	int64_t all, positions[HEDDLE_MAX_DIM];
	double step[HEDDLE_MAX_DIM]; /* from one sample to the next, as a share of the positions */
} sampling;

/* Once `n` and `positions` are known: at most so many. */
void count_begin_sampling(sampling *s, int64_t most);
/* Number `number` of them: `at` of each dimension. */
void count_take_sample(const sampling *s, int64_t number, int64_t *at);

#endif
