/* Ranks, correlations and what first choices reach, against numbers worked out by hand.
 * SPDX-License-Identifier: MIT
 */
#include "bench/replay/statistics.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define EQUAL(a, b) assert_true(fabs((a) - (b)) < 1e-9)

static void ranks_of_ties_are_shared(void **state)
{
	const double value[] = {3, 1, 3, 2};
	double rank[4];
	(void)state;
	heddle_ranks(value, 4, rank);
	EQUAL(rank[0], 3.5);
	EQUAL(rank[1], 1);
	EQUAL(rank[2], 3.5);
	EQUAL(rank[3], 2);
}

static void correlation(void **state)
{
	/* 1 - 6 (1 + 1 + 1 + 1 + 0) / (5 (25 - 1)) */
	const heddle_sample swapped[] = {{1, 2}, {2, 1}, {3, 4}, {4, 3}, {5, 5}};
	/* deviations -3/2 -1/2 1/2 3/2 and -1 -1 1 1: 4 / sqrt(5 * 4) */
	const heddle_sample tied[] = {{1, 7}, {2, 7}, {3, 9}, {4, 9}};
	const heddle_sample equal[] = {{1, 7}, {2, 7}};
	(void)state;
	EQUAL(heddle_rank_correlation(swapped, 5), 0.8);
	EQUAL(heddle_rank_correlation(tied, 4), 4 / sqrt(20));
	EQUAL(heddle_rank_correlation(equal, 2), 0);
	assert_true(isnan(heddle_rank_correlation(equal, 1)));
}

static void correlation_near_the_best(void **state)
{
	const heddle_sample sample[] = {{1, 4}, {1.2, 3}, {1.4, 2}, {1.5, 1}, {3, 5}};
	(void)state;
	EQUAL(heddle_rank_correlation_near(sample, 5, 1.5, 4), -1);
	assert_true(isnan(heddle_rank_correlation_near(sample, 5, 1.5, 5)));
}

static void first_choices(void **state)
{
	const heddle_sample apart[] = {{4, 1}, {2, 2}, {1, 3}}, equal[] = {{4, 1}, {1, 1}, {2, 1}}, part[] = {{1, 2}, {2, 1}, {4, 2}};
	(void)state;
	EQUAL(heddle_best_of(apart, 3, 1), 0.25);
	EQUAL(heddle_best_of(apart, 3, 2), 0.5);
	EQUAL(heddle_best_of(apart, 3, 3), 1);
	EQUAL(heddle_best_of(apart, 3, 32), 1);
	/* one of three at random, then one of the three pairs */
	EQUAL(heddle_best_of(equal, 3, 1), (0.25 + 1 + 0.5) / 3);
	EQUAL(heddle_best_of(equal, 3, 2), (1 + 1 + 0.5) / 3);
	EQUAL(heddle_best_of(equal, 3, 3), 1);
	/* the first is certain, then one of two: 1, or still 1/2 */
	EQUAL(heddle_best_of(part, 3, 1), 0.5);
	EQUAL(heddle_best_of(part, 3, 2), 0.75);
}

static void worst_choices(void **state)
{
	const heddle_sample part[] = {{1, 2}, {2, 1}, {4, 2}};
	(void)state;
	EQUAL(heddle_worst_of(part, 3, 1), 0.5);
	EQUAL(heddle_worst_of(part, 3, 2), 0.25);
	EQUAL(heddle_worst_of(part, 3, 8), 0.25);
}

static void means(void **state)
{
	double odd[] = {3, 1, 2}, even[] = {4, 1, 3, 2};
	const double two[] = {1, 4};
	(void)state;
	EQUAL(heddle_median(odd, 3), 2);
	EQUAL(heddle_median(even, 4), 2.5);
	EQUAL(heddle_geometric_mean(two, 2), 2);
	assert_true(isnan(heddle_median(odd, 0)) && isnan(heddle_geometric_mean(two, 0)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranks_of_ties_are_shared), cmocka_unit_test(correlation), cmocka_unit_test(correlation_near_the_best),
		cmocka_unit_test(first_choices),	    cmocka_unit_test(worst_choices), cmocka_unit_test(means),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
