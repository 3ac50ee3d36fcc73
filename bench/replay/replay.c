/* Rates every timing on disk again and says how well the ratings order them.  See bench/README.md.
 *
 *   replay [--summary | --rows] [--footprint] [--only WORD] [--half 0|1] [--bars FILE] [--threads N] FILE...
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench/replay/judge.h"
#include "bench/replay/rating.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A figure may be so far below its bar: one measured run predicts the next no better. */
static const double SLACK = 0.02;

typedef struct options {
	bool summary, rows, footprint;
	int half; /* -1: both */
	int threads;
	const char *only, *bars;
} options;

/* ---- selection ------------------------------------------------------------------------------------------------------------------ */

/* Halves for fitting and for judging: by the definition, of public tables by the chip, so that new rows change no other row's half.  This bit of the
 * hash makes halves of the same size, each with a chip of every vendor and both kernels. */
enum { HALF_BIT = 53 };

static int half_of(const heddle_timing_group *g)
{
	uint64_t hash = UINT64_C(14695981039346656037); /* FNV-1a */
	for (const char *p = g->form ? g->machine : g->definition; *p; p++)
		hash = (hash ^ (unsigned char)*p) * UINT64_C(1099511628211);
	return (int)(hash >> HALF_BIT & 1);
}

static const char *name_of(const heddle_timing_group *g, char name[256])
{
	snprintf(name, 256, "%s %s %s %s", g->run, g->target, g->definition, g->sizes);
	return name;
}

static void select_groups(heddle_timings *timings, const options *o)
{
	char name[256];
	int n = 0;
	for (int i = 0; i < timings->n; i++)
		if ((o->half < 0 || half_of(&timings->group[i]) == o->half) && (!o->only || strstr(name_of(&timings->group[i], name), o->only)))
			timings->group[n++] = timings->group[i];
	timings->n = n;
}

/* ---- printing ------------------------------------------------------------------------------------------------------------------- */

static void print_rows(const heddle_timings *timings)
{
	printf("run\ttarget\tdefinition\tsizes\tseconds\trated\tconfig\t%s\n", heddle_figure_names);
	for (int g = 0; g < timings->n; g++)
		for (int i = 0; i < timings->group[g].n; i++) {
			const heddle_timing_group *group = &timings->group[g];
			const heddle_timing *t = &group->timing[i];
			const heddle_timed_config *c = t->candidate;
			if (c->refused)
				continue;
			printf("%s\t%s\t%s\t%s\t%.5g\t%.5g\t", group->run, group->target, group->definition, group->sizes, t->seconds, c->rated);
			for (int p = 0; group->form && p < group->form->n_parameter; p++)
				printf("%s%d", p ? "," : "", c->parameter[p]);
			printf("%s\t%s\n", c->config ? c->config : "", c->figures ? c->figures : "");
		}
}

static void print_figures(const double *figure)
{
	for (int f = 0; f < HEDDLE_N_FIGURE; f++)
		printf(isnan(figure[f]) ? "      -" : " %6.3f", figure[f]);
}

static void print_names(const char *first)
{
	printf("%-72s %6s", first, "rows");
	for (int f = 0; f < HEDDLE_N_FIGURE; f++)
		printf(" %6s", heddle_figure_name[f]);
}

static void print_groups(const heddle_judged *judged, int n)
{
	char name[256];
	print_names("run target layer sizes");
	printf("\n");
	for (int i = 0; i < n; i++) {
		if (judged[i].rated < HEDDLE_LEAST_ROWS)
			continue;
		printf("%-72s %6d", name_of(judged[i].group, name), judged[i].rated);
		print_figures(judged[i].figure);
		printf("\n");
	}
}

static void print_refused(const heddle_timings *timings)
{
	char name[256];
	for (int g = 0; g < timings->n; g++) {
		const heddle_timing_group *group = &timings->group[g];
		const heddle_timed_config *first = NULL;
		int n = 0;
		for (int i = group->n - 1; i >= 0; i--)
			if (group->timing[i].candidate->refused) {
				first = group->timing[i].candidate;
				n++;
			}
		if (n)
			printf("not rated: %d of %d of %s: %s\n", n, group->n, name_of(group, name), first->refused);
	}
}

static bool of_machine(const heddle_timing_group *g, const void *user)
{
	const heddle_timing_group *one = user;
	return !strcmp(g->machine, one->machine) && !strcmp(g->target, one->target);
}

static bool of_target(const heddle_timing_group *g, const void *user)
{
	const heddle_timing_group *one = user;
	return !strcmp(g->target, one->target);
}

/* One line over all groups that are covered: correlations and the scale by their medians, all else by geometric means; `medians`: all of it. */
static void print_summary(const char *name, const heddle_judged *judged, int n, bool medians, heddle_cover *covers, const heddle_timing_group *one)
{
	double figure[HEDDLE_N_FIGURE];
	int layers = 0, rows = 0;
	for (int i = 0; i < n; i++)
		if (covers(judged[i].group, one) && judged[i].rated >= HEDDLE_LEAST_ROWS) {
			layers++;
			rows += judged[i].rated;
		}
	for (heddle_figure f = 0; f < HEDDLE_N_FIGURE; f++)
		figure[f] = heddle_judged_mean(judged, n, f, medians || f >= HEDDLE_FIGURE_ALL ? HEDDLE_MEAN_MEDIAN : HEDDLE_MEAN_GEOMETRIC, covers, one);
	printf("%-72s %6d", name, rows);
	print_figures(figure);
	printf(" %6d %6.3f %6.3f\n", layers, heddle_judged_mean(judged, n, HEDDLE_FIGURE_FIRST, HEDDLE_MEAN_LEAST, covers, one),
	       heddle_judged_mean(judged, n, HEDDLE_FIGURE_BEST8, HEDDLE_MEAN_LEAST, covers, one));
}

static void print_summaries(const heddle_judged *judged, int n)
{
	char name[256];
	const heddle_judged *public = NULL;
	print_names("summary");
	printf(" %6s %6s %6s\n", "layers", "least1", "least8");
	for (int i = 0; i < n; i++) {
		bool before = false;
		for (int b = 0; b < i && !before; b++)
			before = of_machine(judged[b].group, judged[i].group);
		public = judged[i].group->form ? &judged[i] : public;
		snprintf(name, sizeof(name), "%s %s", judged[i].group->machine, judged[i].group->target);
		if (!before)
			print_summary(name, judged, n, false, of_machine, judged[i].group);
	}
	if (public)
		print_summary("median of public tables", judged, n, true, of_target, public->group);
}

/* ---- command line --------------------------------------------------------------------------------------------------------------- */

static int usage(void)
{
	fprintf(stderr, "usage: replay [--summary | --rows] [--footprint] [--only WORD] [--half 0|1] [--bars FILE] [--threads N] FILE...\n");
	return HEDDLE_EXIT_USAGE;
}

/* The position of the first word that is no option; 0: an option is wrong. */
static int read_options(int argc, char **argv, options *o)
{
	int i = 1;
	for (; i < argc && !strncmp(argv[i], "--", 2); i++) {
		const char *value = i + 1 < argc ? argv[i + 1] : NULL;
		if (!strcmp(argv[i], "--summary"))
			o->summary = true;
		else if (!strcmp(argv[i], "--rows"))
			o->rows = true;
		else if (!strcmp(argv[i], "--footprint"))
			o->footprint = true;
		else if (value && !strcmp(argv[i], "--only"))
			o->only = argv[++i];
		else if (value && !strcmp(argv[i], "--bars"))
			o->bars = argv[++i];
		else if (value && !strcmp(argv[i], "--half") && (!strcmp(value, "0") || !strcmp(value, "1")))
			o->half = atoi(argv[++i]);
		else if (value && !strcmp(argv[i], "--threads") && atoi(value) > 0)
			o->threads = atoi(argv[++i]);
		else
			return 0;
	}
	return i < argc ? i : 0;
}

/* 0, or the exit code. */
static int replay(heddle_ctx *ctx, heddle_arena *arena, heddle_timings *timings, const options *o)
{
	const double begin = heddle_now();
	int missed = 0;
	select_groups(timings, o);
	heddle_timings_rate(arena, timings, o->rows, o->footprint, o->threads);
	if (o->rows) {
		print_rows(timings);
		return HEDDLE_EXIT_FINE;
	}
	heddle_judged *judged = HEDDLE_NEW_ARRAY(arena, heddle_judged, timings->n + 1);
	for (int i = 0; i < timings->n; i++)
		judged[i] = heddle_judge(&timings->group[i]);
	if (!o->summary)
		print_groups(judged, timings->n);
	print_refused(timings);
	print_summaries(judged, timings->n);
	if (o->bars)
		missed = heddle_bars_check(ctx, o->bars, judged, timings->n, SLACK);
	fprintf(stderr, "%.1f s\n", heddle_now() - begin);
	return missed < 0 ? HEDDLE_EXIT_USAGE : missed ? HEDDLE_EXIT_FAILED : HEDDLE_EXIT_FINE;
}

int main(int argc, char **argv)
{
	options o = {.half = -1, .threads = 2};
	heddle_timings timings = {0};
	const int first = read_options(argc, argv, &o);
	if (!first)
		return usage();
	heddle_ctx *ctx = heddle_ctx_new();
	heddle_arena *arena = heddle_arena_new();
	int code = HEDDLE_EXIT_FINE;
	for (int i = first; i < argc && code == HEDDLE_EXIT_FINE; i++)
		if (heddle_timings_read(ctx, arena, argv[i], &timings) < 0)
			code = HEDDLE_EXIT_USAGE;
	if (code == HEDDLE_EXIT_FINE)
		code = replay(ctx, arena, &timings, &o);
	fputs(heddle_ctx_messages(ctx), stderr);
	heddle_arena_free(arena);
	heddle_ctx_free(ctx);
	return code;
}
