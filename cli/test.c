/* heddle test: the matrix of cases, targets and levels.
 * SPDX-License-Identifier: MIT
 */
#include "cli/cli.h"
#include "cli/sarif.h"

#include "cli/kernel.h"
#include "harness/test.h"

#include <string.h>

/* Levels are "emulate" or "opencl-cpu:pocl"; a misspelt one must not look like one that is missing. */
static int check_level(heddle_cli *cli, const char *level)
{
	static const char *const names[] = {"interpret", "emulate", "opencl-cpu", "compile", "device"};
	const char *name = heddle_arena_strndup(cli->arena, level, strcspn(level, ":"));
	const char *runner = level[strlen(name)] ? level + strlen(name) + 1 : NULL;
	bool known = !runner && !strcmp(name, names[0]);
	for (const heddle_runner *const *r = heddle_runners; *r && !known; r++)
		known = !strcmp((*r)->level, name) && (!runner || !strcmp((*r)->name, runner));
	if (known)
		return 0;
	heddle_error(cli->ctx, 915, NULL, "no level '%s'", level);
	const char *nearest = heddle_nearest(name, names, (int)HEDDLE_COUNT(names));
	if (nearest && strcmp(nearest, name) != 0)
		heddle_note(cli->ctx, NULL, "did you mean '%s'?", nearest);
	else
		heddle_note(cli->ctx, NULL, "levels: interpret, emulate, opencl-cpu, compile, device; 'heddle doctor' names the "
					    "runners of each, as in opencl-cpu:pocl");
	return -1;
}

static int write_reports(heddle_cli *cli, const heddle_test_report *report)
{
	const char *junit = heddle_cli_value(cli, HEDDLE_OPTION_JUNIT), *sarif = heddle_cli_value(cli, HEDDLE_OPTION_SARIF);
	int result = 0;
	heddle_text text = {0};
	if (junit) {
		heddle_test_junit(report, &text);
		result = heddle_file_write(cli->ctx, junit, heddle_text_str(&text), text.length);
	}
	heddle_text_free(&text);
	if (sarif && heddle_cli_sarif_test(cli, sarif, report) < 0)
		result = -1;
	return result;
}

/* What goes with --impl and without a definition, and nowhere else; the sizes of each -s are a case there. */
static int check_kernel_options(heddle_cli *cli, heddle_test_options *options)
{
	static const heddle_option_id only[] = {HEDDLE_OPTION_EXPECT, HEDDLE_OPTION_ORACLE, HEDDLE_OPTION_RTOL, HEDDLE_OPTION_ATOL};
	if (!cli->n_word && !options->n_impl) {
		heddle_error(cli->ctx, 913, NULL, "'test' needs an argument");
		return heddle_note(cli->ctx, NULL, "usage: heddle test %s", cli->verb->form), -1;
	}
	for (size_t i = 0; i < HEDDLE_COUNT(only); i++)
		if (heddle_cli_flag(cli, only[i]) && (cli->n_word || !options->n_impl))
			return heddle_error(cli->ctx, 915, NULL, "%s stands in for a definition: it goes with --impl and no file",
					    heddle_option_rows[only[i]].name);
	if (options->expect && options->oracle)
		return heddle_error(cli->ctx, 915, NULL, "--expect and --oracle: one of them can say what is right");
	if ((heddle_cli_flag(cli, HEDDLE_OPTION_RTOL) || heddle_cli_flag(cli, HEDDLE_OPTION_ATOL)) && !options->expect && !options->oracle)
		return heddle_error(cli->ctx, 915, NULL, "--rtol and --atol go with --expect or --oracle");
	const heddle_size_list **list = NULL;
	for (int i = 0; i < cli->option[HEDDLE_OPTION_SIZES].n && !cli->n_word; i++) {
		heddle_size_list *sizes;
		if (heddle_cli_sizes(cli, i, &sizes) < 0)
			return -1;
		HEDDLE_PUSH(cli->arena, list, options->n_case, sizes);
	}
	options->case_sizes = list;
	return 0;
}

/* With a definition, several -s are programs behind one entry. */
static int check_entry_sizes(heddle_cli *cli, heddle_test_options *options)
{
	const heddle_size_list **list = NULL;
	for (int i = 0; i < cli->option[HEDDLE_OPTION_SIZES].n && cli->n_word && cli->option[HEDDLE_OPTION_SIZES].n > 1; i++) {
		heddle_size_list *sizes;
		if (heddle_cli_sizes(cli, i, &sizes) < 0)
			return -1;
		HEDDLE_PUSH(cli->arena, list, options->n_entry, sizes);
	}
	if (options->n_entry && options->n_impl)
		return heddle_error(cli->ctx, 915, NULL, "--impl takes one --sizes: its manifest says what it is for");
	options->entry_sizes = list;
	return 0;
}

static int fill_options(heddle_cli *cli, heddle_test_options *options, heddle_target **target)
{
	heddle_size_list *sizes;
	double seed, spill;
	if (heddle_cli_targets(cli, heddle_usual_tests, target, &options->n_target) < 0 || heddle_cli_sizes(cli, 0, &sizes) < 0 ||
	    heddle_cli_number(cli, HEDDLE_OPTION_SEED, 1, 0, 9e15, &seed) < 0 ||
	    heddle_cli_number(cli, HEDDLE_OPTION_TIMEOUT, 60, 0.1, 86400, &options->timeout) < 0 ||
	    heddle_cli_number(cli, HEDDLE_OPTION_MAX_SPILL, -1, 0, 1e9, &spill) < 0)
		return -1;
	options->max_spill = (int)spill;
	const char **level;
	heddle_cli_split(cli, HEDDLE_OPTION_LEVEL, &level, &options->n_level);
	for (int i = 0; i < options->n_level; i++)
		if (check_level(cli, level[i]) < 0)
			return -1;
	options->target = *target;
	options->targets_required = heddle_cli_flag(cli, HEDDLE_OPTION_TARGET);
	options->level = level;
	options->definition = heddle_cli_value(cli, HEDDLE_OPTION_DEF);
	options->sizes = sizes;
	options->config = heddle_cli_value(cli, HEDDLE_OPTION_CONFIG);
	heddle_compile_options compile = {0};
	heddle_cli_timer none;
	if (heddle_cli_effort(cli, NULL, NULL, &none, &compile) < 0)
		return -1;
	if (compile.effort == HEDDLE_EFFORT_MEASURED)
		return heddle_error(cli->ctx, 915, NULL, "test times nothing: give it an --effort from 0 to 2");
	options->effort = compile.effort;
	options->n_impl = cli->option[HEDDLE_OPTION_IMPL].n;
	options->impl = cli->option[HEDDLE_OPTION_IMPL].value;
	options->expect = heddle_cli_value(cli, HEDDLE_OPTION_EXPECT);
	options->oracle = heddle_cli_value(cli, HEDDLE_OPTION_ORACLE);
	if (heddle_cli_number(cli, HEDDLE_OPTION_RTOL, -1, 0, 1e30, &options->rtol) < 0 ||
	    heddle_cli_number(cli, HEDDLE_OPTION_ATOL, -1, 0, 1e300, &options->atol) < 0 || check_kernel_options(cli, options) < 0 ||
	    check_entry_sizes(cli, options) < 0)
		return -1;
	options->seed = (uint64_t)seed;
	options->thorough = heddle_cli_flag(cli, HEDDLE_OPTION_THOROUGH);
	const char *cases = heddle_cli_value(cli, HEDDLE_OPTION_CASES);
	if (cases && strcmp(cases, "given") != 0 && strcmp(cases, "all") != 0)
		return heddle_error(cli->ctx, 915, NULL, "--cases '%s': it takes 'given' or 'all'", cases);
	const char *annotate = heddle_cli_value(cli, HEDDLE_OPTION_ANNOTATE);
	if (annotate && strcmp(annotate, "github") != 0 && strcmp(annotate, "plain") != 0)
		return heddle_error(cli->ctx, 915, NULL, "--annotate '%s': it takes 'github' or 'plain'", annotate);
	options->quick = heddle_cli_flag(cli, HEDDLE_OPTION_QUICK);
	options->given = options->quick || (cases && !strcmp(cases, "given"));
	return 0;
}

/* A manifest of --impl says all of it itself. */
static void say_took(heddle_cli *cli, const heddle_test_options *options, const heddle_target *target)
{
	const bool definition = heddle_cli_flag(cli, HEDDLE_OPTION_DEF), sizes = heddle_cli_flag(cli, HEDDLE_OPTION_SIZES);
	const char *own = sizes ? "" : options->given ? "at the sizes of its '#: sizes' lines" : "at the sizes of its '#: sizes' lines and at others";
	heddle_took took = {.n_target = options->n_target, .target = target, .sizes_are_told = definition && sizes};
	took.sizes = heddle_arena_printf(cli->arena, "%s%s%s", definition ? "the definition" : "every definition", sizes ? "" : " ", own);
	if (!options->n_impl)
		heddle_cli_say_took(cli, &took);
}

int heddle_cli_test(heddle_cli *cli)
{
	heddle_target *target;
	heddle_test_options options = {0};
	if (fill_options(cli, &options, &target) < 0)
		return -1;
	say_took(cli, &options, target);
	heddle_steps steps = heddle_steps_new(options.n_impl);
	for (int i = 0; i < cli->n_word; i++)
		steps.total += heddle_test_count(cli->ctx, cli->word[i], &options);
	options.steps = &steps;
	heddle_test_report *report = heddle_test_report_new();
	int result = 0;
	for (int i = 0; i < cli->n_word; i++)
		if (heddle_test_path(cli->ctx, report, cli->word[i], &options) < 0)
			result = -1;
	for (int i = 0; !cli->n_word && i < options.n_impl; i++)
		if (heddle_test_kernel(cli->ctx, report, options.impl[i], &options) < 0)
			result = -1;
	for (int i = 0; cli->n_word && options.n_impl > 1 && result == 0 && i < options.n_impl; i++) {
		bool seen = false;
		for (int k = 0; k < report->n_impl_seen; k++)
			seen = seen || strcmp(report->impl_seen[k], options.impl[i]) == 0;
		if (!seen)
			result = heddle_error(cli->ctx, 916, NULL, "no file has the definition that '%s' implements", options.impl[i]);
	}
	heddle_test_explain(report, &options);
	int code = heddle_test_exit_code(report, &options);
	if (cli->result)
		json_object_set_new(cli->result, "report", heddle_test_json(report));
	else
		heddle_test_print(report, &cli->out);
	const char *annotate = heddle_cli_value(cli, HEDDLE_OPTION_ANNOTATE);
	if (annotate)
		heddle_test_annotate(report, !strcmp(annotate, "github"), cli->result ? &cli->err : &cli->out);
	if (write_reports(cli, report) < 0)
		result = -1;
	heddle_test_report_free(report);
	/* A path that cannot be read outweighs what the others gave. */
	return result < 0 ? heddle_exit_code(cli->ctx) : code;
}
