/* How well an order that was predicted agrees with measured times.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_REPLAY_STATISTICS_H
#define HEDDLE_REPLAY_STATISTICS_H

/* One config: its measured time, and the one that is predicted. */
typedef struct heddle_sample {
	double seconds, rated;
} heddle_sample;

/* rank[i]: the place of value[i] from 1, the least first; equal values share the mean of their places. */
void heddle_ranks(const double *value, int n, double *rank);
/* Spearman's rank correlation of measured and predicted times; 0 where either are all equal, NAN for fewer than 2 samples. */
double heddle_rank_correlation(const heddle_sample *sample, int n);
/* The same over the samples whose time is at most `factor` times the least; NAN where they are fewer than `least`. */
double heddle_rank_correlation_near(const heddle_sample *sample, int n, double factor, int least);
/* The least time of all over the least time of those k with the least predicted times, 0 to 1.  Of equal predictions, which of them are among
 * the k is drawn at random: the expected value. */
double heddle_best_of(const heddle_sample *sample, int n, int k);
/* The least time of all over the greatest time of any sample that can be among those k. */
double heddle_worst_of(const heddle_sample *sample, int n, int k);

/* Of n positive values; NAN for none.  The median sorts them. */
double heddle_median(double *value, int n);
double heddle_geometric_mean(const double *value, int n);

#endif
