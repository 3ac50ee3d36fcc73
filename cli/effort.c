/* --effort: how much work goes into the choice of a config; with 3 programs are timed on the target's device.
 * SPDX-License-Identifier: MIT
 */
#include "cli/kernel.h"

#include "harness/cases.h"
#include "model/scop.h"

#include <stdlib.h>
#include <string.h>

enum { REPEAT = 5 }; /* runs of a program, of which the median counts */

/* Of one program, with the time that the driver takes to compile it. */
static const double MOST_SECONDS = 60;

static const heddle_effort efforts[] = {HEDDLE_EFFORT_CLOSED_FORM, HEDDLE_EFFORT_USUAL, HEDDLE_EFFORT_WIDE, HEDDLE_EFFORT_MEASURED};

bool heddle_cli_measures(const heddle_cli *cli)
{
	const char *value = heddle_cli_value(cli, HEDDLE_OPTION_EFFORT);
	return value && !strcmp(value, "3");
}

/* Arrays of random numbers; sizes that are open have the values that ratings count on. */
static int prepare(heddle_cli_timer *t)
{
	const heddle_definition *d = t->definition;
	heddle_arena *arena = t->cli->arena;
	heddle_array **array = HEDDLE_NEW_ARRAY(arena, heddle_array *, d->n_tensor + 1);
	t->size = HEDDLE_NEW_ARRAY(arena, int64_t, d->n_size + 1);
	t->before = HEDDLE_NEW_ARRAY(arena, heddle_array *, d->n_tensor + 1);
	for (int i = 0; i < d->n_size; i++)
		t->size[i] = heddle_scop_estimate(NULL, &(heddle_expr){.kind = HEDDLE_EXPR_SIZE, .size = d->size[i]});
	if (heddle_case_arrays(t->cli->ctx, NULL, d, t->size, HEDDLE_FILL_RANDOM, 1, array) < 0)
		return -1;
	t->array = array;
	for (int i = 0; i < d->n_tensor; i++)
		if (array[i] && d->tensor[i]->role == HEDDLE_ROLE_INOUT)
			t->before[i] = heddle_array_copy(array[i]);
	return 0;
}

static int ascending(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* Of what is in the kernel's files: as heddle_pick_time. */
static int time_kernel(heddle_cli_timer *t, const heddle_kernel_files *kernel, double *seconds)
{
	heddle_cli *cli = t->cli;
	heddle_run run = {.repeat = REPEAT, .timeout = MOST_SECONDS};
	if (!t->runner)
		t->runner = heddle_cli_runner(cli, kernel);
	if (!t->runner || (!t->array && prepare(t) < 0) || heddle_cli_bind(cli, kernel, t->definition, t->size, t->array, &run) < 0)
		return -1;
	for (int i = 0; i < t->definition->n_tensor; i++)
		if (t->before[i])
			memcpy(t->array[i]->memory, t->before[i]->memory, t->before[i]->bytes);
	if (heddle_run_isolated(cli->ctx, t->runner, &run) < 0)
		return -1;
	if (run.verdict == HEDDLE_PASS && !run.seconds)
		return heddle_error(cli->ctx, 811, NULL, "'%s' gives no times", t->runner->name);
	if (run.verdict != HEDDLE_PASS)
		return 1;
	qsort(run.seconds, (size_t)run.repeat, sizeof(double), ascending);
	*seconds = run.seconds[run.repeat / 2];
	return 0;
}

static int time_program(const heddle_program *program, double *seconds, void *user)
{
	heddle_cli_timer *t = user;
	heddle_ctx *ctx = t->cli->ctx;
	heddle_kernel_files kernel = {.target = *t->target};
	heddle_variants one = {0};
	heddle_cli_file_names(t->cli, t->definition, t->target, &kernel);
	const heddle_emit_options options = {.base = kernel.base, .header = kernel.header_name};
	heddle_variants_begin(&one);
	heddle_variants_add(&one, heddle_program_copy(program));
	int status = heddle_variants_finish(ctx, t->target, &one);
	if (status == 0)
		status = heddle_source_print(ctx, t->target, &one, &options, &kernel.source);
	kernel.manifest = status == 0 ? heddle_manifest_make(ctx, t->target, &one, &options) : NULL;
	status = kernel.manifest ? time_kernel(t, &kernel, seconds) : -1;
	heddle_variants_free(&one);
	heddle_kernel_files_free(&kernel);
	return status;
}

int heddle_cli_effort(heddle_cli *cli, const heddle_definition *definition, const heddle_target *target, heddle_cli_timer *timer,
		      heddle_compile_options *options)
{
	const char *value = heddle_cli_value(cli, HEDDLE_OPTION_EFFORT);
	*timer = (heddle_cli_timer){.cli = cli, .definition = definition, .target = target};
	if (!value)
		return 0;
	if (value[0] < '0' || value[0] > '3' || value[1])
		return heddle_error(cli->ctx, 915, NULL, "option '--effort': '%s' is not a whole number from 0 to 3", value);
	options->effort = efforts[value[0] - '0'];
	options->time = time_program;
	options->time_user = timer;
	return 0;
}

void heddle_cli_timer_free(heddle_cli_timer *timer)
{
	for (int i = 0; timer->before && i < timer->definition->n_tensor; i++)
		heddle_array_free(timer->before[i]);
	if (timer->array)
		heddle_case_arrays_free(timer->definition, timer->array);
}
