/* heddle plan --top, --sweep: what else could be chosen, and what a chip's values are worth.
 * SPDX-License-Identifier: MIT
 */
#include "cli/kernel.h"

#include "compile/pick.h"

#include <math.h>
#include <string.h>

enum { MOST_TOP = 1000 };

static const char *seconds_text(double seconds, char buffer[32])
{
	return isnan(seconds) ? "not known" : heddle_cli_seconds(seconds, buffer);
}

/* What takes the time of the launches together; occupancy and waves are those of the longest. */
static const char *reasons(heddle_cli *cli, const heddle_plan *plan)
{
	char buffer[6][32];
	double part[6] = {0};
	const heddle_rating *longest = NULL;
	for (int k = 0; k < plan->n_launch; k++) {
		const heddle_rating *r = &plan->launch[k].rating;
		const double own[] = {r->issue, r->shared, r->cache, r->memory, r->latency, r->spill};
		for (size_t i = 0; i < HEDDLE_COUNT(own); i++)
			part[i] += own[i];
		longest = !longest || r->seconds > longest->seconds ? r : longest;
	}
	if (isnan(plan->seconds) || !longest)
		return "-\t-\t-\t-\t-\t-\t-\t-\t-";
	return heddle_arena_printf(cli->arena, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%.1f\t%.0f %%, %s", longest->bound, heddle_cli_seconds(part[0], buffer[0]),
				   heddle_cli_seconds(part[1], buffer[1]), heddle_cli_seconds(part[2], buffer[2]), heddle_cli_seconds(part[3], buffer[3]),
				   heddle_cli_seconds(part[4], buffer[4]), heddle_cli_seconds(part[5], buffer[5]), longest->waves,
				   100 * longest->occupancy, longest->limiter);
}

#define COLUMNS "\ttime\tbound by\tissue\tshared\tcache\tmemory\tlatency\tspill\twaves\toccupancy"

static json_t *launch_json(const heddle_plan_launch *l)
{
	const heddle_rating *r = &l->rating;
	if (!l->known)
		return json_pack("{s:n}", "seconds");
	return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:s, s:f, s:f, s:f, s:s, s:f}", "seconds", r->seconds, "issue_seconds", r->issue, "shared_seconds",
			 r->shared, "cache_seconds", r->cache, "memory_seconds", r->memory, "latency_seconds", r->latency, "spill_seconds", r->spill,
			 "bound", r->bound, "tail", r->tail, "waves", r->waves, "occupancy", r->occupancy, "limiter", r->limiter, "traffic", r->traffic);
}

static json_t *choice_json(const heddle_plan *plan, const char *config)
{
	json_t *kernels = json_array();
	for (int k = 0; k < plan->n_launch; k++)
		json_array_append_new(kernels, launch_json(&plan->launch[k]));
	return json_pack("{s:s, s:o, s:o}", "config", config, "seconds", isnan(plan->seconds) ? json_null() : json_real(plan->seconds), "kernels", kernels);
}

static void print_top(heddle_cli *cli, const heddle_definition *definition, const heddle_target *target, const heddle_pick_list *found)
{
	heddle_text rows = {0};
	char seconds[32];
	bool usual = false;
	heddle_text_printf(&cli->out, "%s on %s: %d configs rated, %d refused\n", definition->name, target->text, found->rated, found->refused);
	heddle_text_add(&rows, COLUMNS "\n");
	for (int i = 0; i < found->n; i++) {
		const heddle_picked *one = &found->picked[i];
		usual = usual || one->usual;
		heddle_text_printf(&rows, "%d%s\t%s\t%s\n", i + 1, one->usual ? "*" : "", seconds_text(one->plan->seconds, seconds), reasons(cli, one->plan));
	}
	heddle_cli_table(heddle_text_str(&rows), &cli->out);
	heddle_text_free(&rows);
	heddle_text_add(&cli->out, "\n");
	for (int i = 0; i < found->n; i++)
		heddle_text_printf(&cli->out, "%3d%s %s\n", i + 1, found->picked[i].usual ? "*" : " ", found->picked[i].config);
	heddle_text_printf(&cli->out, "%s\n", usual ? "* is what is compiled without --config." : "What is compiled without --config is none of these.");
}

static json_t *top_json(const heddle_target *target, const heddle_pick_list *found)
{
	json_t *choices = json_array();
	int usual = -1;
	for (int i = 0; i < found->n; i++) {
		json_array_append_new(choices, choice_json(found->picked[i].plan, found->picked[i].config));
		usual = found->picked[i].usual ? i : usual;
	}
	return json_pack("{s:s, s:i, s:i, s:i, s:o}", "target", target->text, "rated", found->rated, "refused", found->refused, "usual", usual, "choices",
			 choices);
}

static int top_of(heddle_cli *cli, const heddle_definition *definition, const heddle_target *target, int top, json_t *all)
{
	heddle_pick_list found;
	heddle_compile_options options = {.effort = HEDDLE_EFFORT_WIDE};
	heddle_cli_timer none;
	if (heddle_cli_effort(cli, definition, target, &none, &options) < 0 || heddle_target_takes(cli->ctx, definition, target) < 0)
		return -1;
	const heddle_pick_options pick = {.config = heddle_cli_value(cli, HEDDLE_OPTION_CONFIG), .effort = options.effort};
	if (heddle_pick_top(cli->ctx, cli->arena, definition, target, &pick, top, &found) < 0)
		return -1;
	if (all)
		json_array_append_new(all, top_json(target, &found));
	else
		print_top(cli, definition, target, &found);
	return 0;
}

int heddle_cli_show_top(heddle_cli *cli, const heddle_definition *definition, const heddle_target *target, int n_target)
{
	double top;
	if (heddle_cli_number(cli, HEDDLE_OPTION_TOP, 10, 1, MOST_TOP, &top) < 0)
		return -1;
	if (heddle_cli_measures(cli))
		return heddle_error(cli->ctx, 915, NULL, "--top lists configs by their rating: give it an --effort from 0 to 2");
	json_t *all = cli->result ? json_array() : NULL;
	int result = 0;
	for (int t = 0; t < n_target && result == 0; t++)
		result = top_of(cli, definition, &target[t], (int)top, all);
	if (all) {
		json_object_set_new(cli->result, "definition", json_string(definition->name));
		json_object_set_new(cli->result, "top", all);
	}
	return result;
}

/* ---- sweep -------------------------------------------------------------------------------------------------------------------- */

/* One value of the chip: the config that compile takes then, and its time. */
static int sweep_one(heddle_cli *cli, const heddle_definition *definition, const heddle_target *target, const char *key, const char *value,
		     heddle_text *rows, heddle_text *lines, json_t *all)
{
	heddle_target varied = *target;
	heddle_plan *plan = NULL;
	char seconds[32], bytes[32];
	varied.descriptor = heddle_descriptor_vary(cli->ctx, target->descriptor, key, value);
	if (!varied.descriptor)
		return -1;
	heddle_program *program = heddle_cli_program(cli, definition, &varied,
						     &(heddle_compile_options){.plan_arena = cli->arena, .plan = &plan});
	if (!program)
		return -1;
	if (all) {
		json_t *one = choice_json(plan, program->config);
		json_object_set_new(one, "value", json_string(value));
		json_array_append_new(all, one);
	} else {
		double traffic = 0;
		for (int k = 0; k < plan->n_launch; k++)
			traffic += plan->launch[k].rating.traffic;
		heddle_text_printf(rows, "%s\t%s\t%s\t%s\n", value, seconds_text(plan->seconds, seconds),
				   reasons(cli, plan), heddle_cli_bytes(traffic, bytes));
		heddle_text_printf(lines, "  %s: %s\n", value, program->config);
	}
	heddle_program_free(program);
	return 0;
}

int heddle_cli_show_sweep(heddle_cli *cli, const heddle_definition *definition, const heddle_target *target, int n_target)
{
	const char *given = heddle_cli_value(cli, HEDDLE_OPTION_SWEEP), *equals = strchr(given, '=');
	if (cli->option[HEDDLE_OPTION_SWEEP].n > 1)
		return heddle_error(cli->ctx, 915, NULL, "option '--sweep' was given %d times: one value of the chip is changed at a time",
				    cli->option[HEDDLE_OPTION_SWEEP].n);
	if (!equals || equals == given || !equals[1])
		return heddle_error(cli->ctx, 915, NULL, "option '--sweep': '%s' is not KEY=VALUE,VALUE", given);
	const char *key = heddle_arena_strndup(cli->arena, given, (size_t)(equals - given));
	json_t *sweeps = cli->result ? json_array() : NULL;
	int result = 0;
	for (int t = 0; t < n_target && result == 0; t++) {
		json_t *all = sweeps ? json_array() : NULL;
		heddle_text rows = {0}, lines = {0};
		heddle_text_printf(&rows, "%s" COLUMNS "\ttraffic\n", key);
		for (const char *at = equals + 1; *at && result == 0;) {
			const size_t length = strcspn(at, ",");
			result = sweep_one(cli, definition, &target[t], key, heddle_arena_strndup(cli->arena, at, length), &rows, &lines, all);
			at += length + (at[length] == ',');
		}
		if (all) {
			json_array_append_new(sweeps, json_pack("{s:s, s:s, s:o}", "target", target[t].text, "key", key, "values", all));
		} else if (result == 0) {
			heddle_text_printf(&cli->out, "%s on %s\n", definition->name, target[t].text);
			heddle_cli_table(heddle_text_str(&rows), &cli->out);
			heddle_text_printf(&cli->out, "\n%s", heddle_text_str(&lines));
		}
		heddle_text_free(&rows);
		heddle_text_free(&lines);
	}
	if (sweeps) {
		json_object_set_new(cli->result, "definition", json_string(definition->name));
		json_object_set_new(cli->result, "sweeps", sweeps);
	}
	return result;
}
