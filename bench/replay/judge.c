/* What a group's order reaches, means over groups, bars.
 * SPDX-License-Identifier: MIT
 */
#include "bench/replay/judge.h"

#include "bench/replay/statistics.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double NEAR = 1.5; /* times the least time */

const char *const heddle_figure_name[HEDDLE_N_FIGURE] = {"first", "best4", "best8", "best32", "worst8", "all", "near", "scale"};

/* What k choices reach is told of groups with at least twice as many rows: of fewer it says little. */
static const struct {
	heddle_figure figure;
	int k;
	double (*of)(const heddle_sample *sample, int n, int k);
} choice[] = {
	{HEDDLE_FIGURE_FIRST, 1, heddle_best_of},   {HEDDLE_FIGURE_BEST4, 4, heddle_best_of},   {HEDDLE_FIGURE_BEST8, 8, heddle_best_of},
	{HEDDLE_FIGURE_BEST32, 32, heddle_best_of}, {HEDDLE_FIGURE_WORST8, 8, heddle_worst_of},
};

heddle_judged heddle_judge(const heddle_timing_group *group)
{
	heddle_sample *sample = heddle_xalloc(sizeof(*sample) * (size_t)(group->n + 1));
	double *scale = heddle_xalloc(sizeof(*scale) * (size_t)(group->n + 1));
	heddle_judged j = {.group = group};
	for (int i = 0; i < group->n; i++) {
		const heddle_timing *t = &group->timing[i];
		if (t->candidate->refused)
			continue;
		scale[j.rated] = t->candidate->rated / t->seconds;
		sample[j.rated++] = (heddle_sample){t->seconds, t->candidate->rated};
	}
	for (int i = 0; i < HEDDLE_N_FIGURE; i++)
		j.figure[i] = NAN;
	j.figure[HEDDLE_FIGURE_SCALE] = heddle_median(scale, j.rated);
	if (j.rated >= HEDDLE_LEAST_ROWS) {
		for (int c = 0; c < (int)HEDDLE_COUNT(choice); c++)
			if (j.rated >= 2 * choice[c].k)
				j.figure[choice[c].figure] = choice[c].of(sample, j.rated, choice[c].k);
		j.figure[HEDDLE_FIGURE_ALL] = heddle_rank_correlation(sample, j.rated);
		j.figure[HEDDLE_FIGURE_NEAR] = heddle_rank_correlation_near(sample, j.rated, NEAR, HEDDLE_LEAST_ROWS);
	}
	free(sample);
	free(scale);
	return j;
}

double heddle_judged_mean(const heddle_judged *judged, int n, heddle_figure figure, heddle_mean mean, heddle_cover *covers, const void *user)
{
	double *value = heddle_xalloc(sizeof(*value) * (size_t)(n + 1)), result;
	int n_value = 0;
	for (int i = 0; i < n; i++)
		if (covers(judged[i].group, user) && !isnan(judged[i].figure[figure]))
			value[n_value++] = judged[i].figure[figure];
	result = mean == HEDDLE_MEAN_GEOMETRIC ? heddle_geometric_mean(value, n_value) : heddle_median(value, n_value);
	if (mean == HEDDLE_MEAN_LEAST && n_value)
		result = value[0]; /* they are sorted */
	free(value);
	return result;
}

/* ---- bars ----------------------------------------------------------------------------------------------------------------------- */

typedef struct bar {
	char machine[64], target[64], definition[64], sizes[128], figure[16], mean[16];
	double least;
} bar;

static bool covered(const heddle_timing_group *g, const void *user)
{
	const bar *b = user;
	return !fnmatch(b->machine, g->machine, 0) && !fnmatch(b->target, g->target, 0) && !fnmatch(b->definition, g->definition, 0) &&
	       !fnmatch(b->sizes, g->sizes, 0);
}

static int position(const char *word, const char *const *name, int n)
{
	int i = 0;
	while (i < n && strcmp(word, name[i]) != 0)
		i++;
	return i;
}

/* 1: the bar is missed. */
static int check(const bar *b, heddle_figure figure, heddle_mean mean, const heddle_judged *judged, int n, double slack)
{
	const double reached = heddle_judged_mean(judged, n, figure, mean, covered, b);
	const bool missed = reached < b->least - slack;
	printf("bar\t%s %s %s %s\t%s %s\t%.3f\tof %.3f\t%s\n", b->machine, b->target, b->definition, b->sizes, b->mean, b->figure, reached, b->least,
	       isnan(reached) ? "no timings" : missed ? "MISSED" : "holds");
	return missed;
}

int heddle_bars_check(heddle_ctx *ctx, const char *path, const heddle_judged *judged, int n, double slack)
{
	static const char *const mean_name[] = {"median", "geometric", "least"};
	char *text = heddle_file_read(ctx, path, NULL);
	int line = 0, missed = text ? 0 : -1;
	for (char *next = text; next && *next && missed >= 0;) {
		bar b;
		char *end = strchr(next, '\n');
		line++;
		if (end)
			*end = '\0';
		if (*next && *next != '#') {
			const int read = sscanf(next, "%63s %63s %63s %127s %15s %15s %lf", b.machine, b.target, b.definition, b.sizes, b.figure, b.mean,
						&b.least);
			const int figure = read == 7 ? position(b.figure, heddle_figure_name, HEDDLE_N_FIGURE) : HEDDLE_N_FIGURE;
			const int mean = read == 7 ? position(b.mean, mean_name, HEDDLE_COUNT(mean_name)) : 0;
			if (figure == HEDDLE_N_FIGURE || mean == (int)HEDDLE_COUNT(mean_name))
				missed = heddle_error(ctx, 0, NULL, "%s:%d: a bar is MACHINE TARGET DEFINITION SIZES FIGURE MEAN LEAST", path, line);
			else
				missed += check(&b, (heddle_figure)figure, (heddle_mean)mean, judged, n, slack);
		}
		next = end ? end + 1 : NULL;
	}
	free(text);
	return missed;
}
