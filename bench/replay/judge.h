/* Figures of groups of timings, and the bars that they must reach.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_REPLAY_JUDGE_H
#define HEDDLE_REPLAY_JUDGE_H

#include "bench/replay/table.h"

typedef enum heddle_figure {
	HEDDLE_FIGURE_FIRST,  /* least time over the time of the model's first choice */
	HEDDLE_FIGURE_BEST4,  /* ... over the least of its first 4, 8, 32 */
	HEDDLE_FIGURE_BEST8,
	HEDDLE_FIGURE_BEST32,
	HEDDLE_FIGURE_WORST8, /* ... over the greatest of its first 8 */
	HEDDLE_FIGURE_ALL,    /* rank correlation of all rows */
	HEDDLE_FIGURE_NEAR,   /* of those within 1.5 times of the least time */
	HEDDLE_FIGURE_SCALE,  /* median of rated over measured seconds */
	HEDDLE_N_FIGURE
} heddle_figure;

extern const char *const heddle_figure_name[HEDDLE_N_FIGURE];

typedef struct heddle_judged {
	const heddle_timing_group *group;
	int rated;			/* rows; fewer than HEDDLE_LEAST_ROWS: only the scale is told */
	double figure[HEDDLE_N_FIGURE]; /* NAN: none */
} heddle_judged;

enum { HEDDLE_LEAST_ROWS = 5 };

heddle_judged heddle_judge(const heddle_timing_group *group);

typedef enum heddle_mean { HEDDLE_MEAN_MEDIAN, HEDDLE_MEAN_GEOMETRIC, HEDDLE_MEAN_LEAST } heddle_mean;

/* Of one figure over all groups that `covers` takes and that have it; NAN: there is none. */
typedef bool heddle_cover(const heddle_timing_group *group, const void *user);
double heddle_judged_mean(const heddle_judged *judged, int n, heddle_figure figure, heddle_mean mean, heddle_cover *covers, const void *user);

/* Compare with the lines of a file: "MACHINE TARGET DEFINITION SIZES FIGURE MEAN LEAST", the first four patterns of a shell.  Each is printed with
 * what was reached.  The number of figures more than `slack` below their bar; -1 with an error where the file is wrong. */
int heddle_bars_check(heddle_ctx *ctx, const char *path, const heddle_judged *judged, int n, double slack);

#endif
