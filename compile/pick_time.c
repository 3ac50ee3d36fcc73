/* Programs against one another on the device.
 * SPDX-License-Identifier: MIT
 */
#include "compile/pick_parts.h"

#include <stdlib.h>

enum { ROUNDS = 5 }; /* a median of fewer is at the mercy of what else the machine does */

/* A program that takes so much longer than the fastest one of the first round is not timed again. */
static const double HOPELESS = 1.5;

/* A program in the race. */
typedef struct timed {
	heddle_program *program; /* NULL: it failed, or is far slower than another one */
	double second[ROUNDS];
} timed;

static int ascending(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* One round: what fails is out.  0, or -1 with a diagnostic where nothing can be timed. */
static int time_round(timed *t, int n, int round, const heddle_pick_options *options)
{
	double least = 0;
	for (int i = 0; i < n; i++) {
		const int status = t[i].program ? options->time(t[i].program, &t[i].second[round], options->time_user) : 1;
		if (status < 0)
			return -1;
		if (status > 0)
			t[i].program = heddle_program_free(t[i].program);
		else if (least == 0 || t[i].second[round] < least)
			least = t[i].second[round];
	}
	for (int i = 0; i < n && round == 0; i++)
		if (t[i].program && t[i].second[0] > HOPELESS * least)
			t[i].program = heddle_program_free(t[i].program);
	return 0;
}

int heddle_pick_fastest(heddle_ctx *ctx, const heddle_definition *definition, const heddle_target *target, const char *const *config, int n,
			const heddle_pick_options *options)
{
	heddle_arena *arena = heddle_arena_new();
	timed *t = HEDDLE_NEW_ARRAY(arena, timed, n + 1);
	int status = 0, best = -1;
	const int diagnostics = heddle_diagnostics_count(ctx);
	for (int i = 0; i < n; i++)
		t[i].program = heddle_compile_gathered(ctx, definition, target, &(heddle_compile_options){.config = config[i], .complete = true, .unproved = true});
	heddle_diagnostics_keep(ctx, diagnostics);
	for (int round = 0; round < ROUNDS && status == 0; round++) {
		heddle_progress(ctx, "%s: timing %d configs, round %d of %d", definition->name, n, round + 1, ROUNDS);
		status = time_round(t, n, round, options);
	}
	for (int i = 0; i < n; i++) {
		qsort(t[i].second, ROUNDS, sizeof(double), ascending);
		if (t[i].program && (best < 0 || t[i].second[ROUNDS / 2] < t[best].second[ROUNDS / 2]))
			best = i;
		heddle_program_free(t[i].program);
	}
	heddle_arena_free(arena);
	if (status == 0 && best < 0)
		heddle_error(ctx, 811, &definition->location, "none of %d configs of `%s` runs on %s: there are no times", n, definition->name, target->text);
	return status < 0 ? -1 : best;
}
