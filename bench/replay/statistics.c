/* Rank correlation, and what the first choices of a predicted order reach.
 * SPDX-License-Identifier: MIT
 */
#include "bench/replay/statistics.h"

#include "base/base.h"

#include <math.h>
#include <stdlib.h>

typedef struct place {
	double value;
	int at;
} place;

static int by_value(const void *a, const void *b)
{
	const place *x = a, *y = b;
	return x->value < y->value ? -1 : x->value > y->value;
}

void heddle_ranks(const double *value, int n, double *rank)
{
	place *order = heddle_xalloc(sizeof(*order) * (size_t)(n + 1));
	for (int i = 0; i < n; i++)
		order[i] = (place){value[i], i};
	qsort(order, (size_t)n, sizeof(*order), by_value);
	for (int first = 0, last; first < n; first = last) {
		for (last = first; last < n && !(order[last].value > order[first].value); last++)
			;
		for (int i = first; i < last; i++)
			rank[order[i].at] = 0.5 * (first + 1 + last);
	}
	free(order);
}

double heddle_rank_correlation(const heddle_sample *sample, int n)
{
	if (n < 2)
		return NAN;
	double *value = heddle_xalloc(sizeof(*value) * (size_t)n * 3), *measured = value + n, *predicted = value + 2 * n;
	for (int i = 0; i < n; i++)
		value[i] = sample[i].seconds;
	heddle_ranks(value, n, measured);
	for (int i = 0; i < n; i++)
		value[i] = sample[i].rated;
	heddle_ranks(value, n, predicted);
	double xx = 0, yy = 0, xy = 0;
	for (int i = 0; i < n; i++) {
		const double x = measured[i] - 0.5 * (n + 1), y = predicted[i] - 0.5 * (n + 1);
		xx += x * x;
		yy += y * y;
		xy += x * y;
	}
	free(value);
	return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : 0;
}

static double least_seconds(const heddle_sample *sample, int n)
{
	double least = INFINITY;
	for (int i = 0; i < n; i++)
		least = fmin(least, sample[i].seconds);
	return least;
}

double heddle_rank_correlation_near(const heddle_sample *sample, int n, double factor, int least)
{
	const double most = factor * least_seconds(sample, n);
	heddle_sample *near = heddle_xalloc(sizeof(*near) * (size_t)(n + 1));
	int n_near = 0;
	for (int i = 0; i < n; i++)
		if (sample[i].seconds <= most)
			near[n_near++] = sample[i];
	const double correlation = n_near < least ? NAN : heddle_rank_correlation(near, n_near);
	free(near);
	return correlation;
}

/* The least prediction first; of equal ones the least time. */
static int by_prediction(const void *a, const void *b)
{
	const heddle_sample *x = a, *y = b;
	if (x->rated < y->rated || x->rated > y->rated)
		return x->rated < y->rated ? -1 : 1;
	return x->seconds < y->seconds ? -1 : x->seconds > y->seconds;
}

static heddle_sample *predicted_order(const heddle_sample *sample, int n)
{
	heddle_sample *order = heddle_xalloc(sizeof(*order) * (size_t)(n + 1));
	for (int i = 0; i < n; i++)
		order[i] = sample[i];
	qsort(order, (size_t)n, sizeof(*order), by_prediction);
	return order;
}

/* The end of the samples whose prediction equals that of order[first]. */
static int end_of_equals(const heddle_sample *order, int n, int first)
{
	int last = first;
	while (last < n && !(order[last].rated > order[first].rated))
		last++;
	return last;
}

double heddle_best_of(const heddle_sample *sample, int n, int k)
{
	heddle_sample *order = predicted_order(sample, n);
	const double best = least_seconds(sample, n);
	double reached = 0;
	for (int first = 0, last; first < n && first < k; first = last) {
		last = end_of_equals(order, n, first);
		/* k - first of them are drawn; with chance `none` it is not one of those before i, the faster ones */
		double expected = 0, none = 1;
		for (int i = first; i < last; i++) {
			const double chosen = fmin(1, (double)(k - first) / (last - i));
			expected += none * chosen * fmax(reached, best / order[i].seconds);
			none *= 1 - chosen;
		}
		reached = expected;
	}
	free(order);
	return reached;
}

double heddle_worst_of(const heddle_sample *sample, int n, int k)
{
	heddle_sample *order = predicted_order(sample, n);
	double most = 0;
	for (int i = 0; i < n && (i < k || !(order[i].rated > order[k - 1].rated)); i++)
		most = fmax(most, order[i].seconds);
	free(order);
	return n > 0 ? least_seconds(sample, n) / most : 0;
}

static int by_size(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

double heddle_median(double *value, int n)
{
	qsort(value, (size_t)n, sizeof(*value), by_size);
	return n ? 0.5 * (value[(n - 1) / 2] + value[n / 2]) : NAN;
}

double heddle_geometric_mean(const double *value, int n)
{
	double sum = 0;
	for (int i = 0; i < n; i++)
		sum += log(value[i]);
	return n ? exp(sum / n) : NAN;
}
