/* heddle bench: how long kernels take, beside what the chip could do; theirs (--impl) against ours, configs against one another,
 * taking turns.
 * SPDX-License-Identifier: MIT
 */
#include "cli/kernel.h"

#include "harness/cases.h"
#include "harness/compare.h"
#include "harness/reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One kernel in the race. */
typedef struct entrant {
	const char *name;   /* "cuda:h200", with a number where there are several configs, or the manifest's path */
	const char *config; /* as given; NULL: none */
	heddle_kernel_files kernel;
	const heddle_runner *runner;
	heddle_run run;
	int failed; /* 0, or the exit code for what it did wrong: it is out of the race */
	int n_second;
	double *second; /* all rounds, sorted at the end */
} entrant;

/* What all kernels get, and what must come of it. */
typedef struct course {
	const heddle_definition *definition;
	const int64_t *size;
	heddle_array **array;  /* one for each tensor */
	heddle_array **before; /* of `inout` tensors: their contents before any kernel; NULL for others */
	heddle_reference *reference;
} course;

/* What the definition asks for, whoever computes it. */
typedef struct work {
	double bytes; /* inputs read once, outputs written once */
	double flops; /* operators and functions of all statement instances */
	heddle_type type; /* of the arithmetic: that of the first output */
} work;

/* ---- work ------------------------------------------------------------------------------------------------------------- */

/* Subscripts are not the user's arithmetic, nor are conditions, nor indices where the result is floating point. */
static double expr_operations(const heddle_expr *expr, bool floats)
{
	double n = 0;
	if (expr->kind == HEDDLE_EXPR_READ || expr->type == HEDDLE_BOOL)
		return 0;
	for (int i = 0; i < expr->n_arg; i++)
		n += expr_operations(expr->arg[i], floats);
	if (expr->kind == HEDDLE_EXPR_UNARY || expr->kind == HEDDLE_EXPR_BINARY || expr->kind == HEDDLE_EXPR_CALL)
		n += heddle_type_is_float(expr->type) || !floats;
	return n;
}

/* Instances by the hull of each index: exact for boxes, at most twice too many for a triangle. */
static double statement_instances(const heddle_statement *statement, const int64_t *size)
{
	double n = 1;
	for (int i = 0; i < statement->n_index; i++) {
		int64_t low, high;
		if (heddle_index_hull(statement->index[i], size, &low, &high) < 0)
			return 0;
		n *= high < low ? 0 : (double)(high - low + 1);
	}
	return n;
}

static work work_of(const heddle_definition *definition, const int64_t *size, heddle_array *const *array)
{
	work w = {.type = definition->tensor[definition->n_input]->type};
	for (int i = 0; i < definition->n_tensor; i++) {
		const heddle_tensor *t = definition->tensor[i];
		if (array[i])
			w.bytes += (double)heddle_array_count(array[i]) * heddle_type_size(t->type) *
				   (t->role == HEDDLE_ROLE_INOUT ? 2 : 1);
	}
	for (int i = 0; i < definition->n_statement; i++) {
		const heddle_statement *s = definition->statement[i];
		double each = expr_operations(s->value, heddle_type_is_float(s->target->type)) + (s->assign != HEDDLE_ASSIGN_SET);
		w.flops += each * statement_instances(s, size);
	}
	return w;
}

/* The least time that the chip's memory and arithmetic allow; 0: the descriptor does not say. */
static double least_seconds(const heddle_descriptor *descriptor, const work *w)
{
	const heddle_memory *memory = heddle_descriptor_memory(descriptor, "global");
	double rate = heddle_descriptor_rate(descriptor, w->type), least = 0;
	if (memory && memory->bandwidth.set)
		least = w->bytes / memory->bandwidth.value;
	if (rate > 0)
		least = fmax(least, w->flops / rate);
	return least;
}

/* ---- running -------------------------------------------------------------------------------------------------------------- */

/* The definition's own results, of the arrays as they are now.  0 or -1. */
static int lay_course(heddle_cli *cli, course *c)
{
	const heddle_reference_options options = {.budget = 2e7, .sample = 256, .seed = 1};
	c->before = HEDDLE_NEW_ARRAY(cli->arena, heddle_array *, c->definition->n_tensor + 1);
	for (int i = 0; i < c->definition->n_tensor; i++)
		if (c->array[i] && c->definition->tensor[i]->role == HEDDLE_ROLE_INOUT)
			c->before[i] = heddle_array_copy(c->array[i]);
	c->reference = heddle_reference_evaluate(cli->ctx, c->definition, c->size, c->array, &options);
	return c->reference ? 0 : -1;
}

static void clear_course(course *c)
{
	for (int i = 0; c->before && i < c->definition->n_tensor; i++)
		heddle_array_free(c->before[i]);
	heddle_reference_free(c->reference);
}

/* The times of the run that just ended.  0, or -1 where its runner gives none. */
static int take_times(heddle_cli *cli, entrant *e)
{
	if (!e->run.seconds)
		return heddle_error(cli->ctx, 811, NULL, "'%s' gives no times", e->runner->name);
	for (int i = 0; i < e->run.repeat; i++)
		HEDDLE_PUSH(cli->arena, e->second, e->n_second, e->run.seconds[i]);
	return 0;
}

/* The first round: its results are compared with the definition, and only where they agree do its times count.
 * 0, an exit code after a report, or -1. */
static int verify(heddle_cli *cli, const course *c, entrant *e)
{
	for (int i = 0; i < c->definition->n_tensor; i++) {
		if (c->definition->tensor[i]->role == HEDDLE_ROLE_OUTPUT)
			heddle_array_poison(c->array[i]);
		if (c->before[i])
			memcpy(c->array[i]->memory, c->before[i]->memory, c->before[i]->bytes);
	}
	int result = heddle_run_isolated(cli->ctx, e->runner, &e->run);
	if (result == 0 && e->run.verdict != HEDDLE_PASS)
		result = heddle_cli_verdict(cli, e->name, &e->run);
	for (int i = 0; result == 0 && i < c->reference->n_output; i++) {
		const heddle_expected *output = &c->reference->output[i];
		heddle_comparison comparison;
		heddle_compare(cli->arena, output, c->array[output->tensor->position], &comparison);
		if (!comparison.pass) {
			heddle_text_printf(&cli->err, "%s: FAIL: %s\n", e->name, comparison.message);
			result = HEDDLE_EXIT_FAILED;
		}
	}
	return result == 0 ? take_times(cli, e) : result;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static int time_round(heddle_cli *cli, entrant *e)
{
	if (heddle_run_isolated(cli->ctx, e->runner, &e->run) < 0)
		return -1;
	if (e->run.verdict != HEDDLE_PASS)
		return heddle_cli_verdict(cli, e->name, &e->run);
	return take_times(cli, e);
}

static double median(const entrant *e)
{
	int n = e->n_second;
	return n % 2 ? e->second[n / 2] : 0.5 * (e->second[n / 2 - 1] + e->second[n / 2]);
}

/* ---- report ----------------------------------------------------------------------------------------------------------------- */

static void add_row(heddle_text *rows, const entrant *e, const work *w)
{
	char middle[32], least[32];
	if (e->failed) {
		heddle_text_printf(rows, "%s\t%s\tfailed\t-\t-\t-\t-\n", e->name, e->runner->name);
		return;
	}
	double seconds = median(e), roof = least_seconds(e->kernel.target.descriptor, w);
	heddle_text_printf(rows, "%s\t%s\t%s\t%s\t%.4g\t%.4g\t", e->name, e->runner->name, heddle_cli_seconds(seconds, middle),
			   heddle_cli_seconds(e->second[0], least), 1e-9 * w->bytes / seconds, 1e-9 * w->flops / seconds);
	if (roof > 0)
		heddle_text_printf(rows, "%.1f %%\n", 100 * roof / seconds);
	else
		heddle_text_add(rows, "-\n");
}

static json_t *entrant_json(const entrant *e, const work *w)
{
	if (e->failed) {
		json_t *failed = json_pack("{s:s, s:s, s:s, s:b}", "name", e->name, "target", e->kernel.target.text, "runner",
					   e->runner->name, "failed", 1);
		if (e->kernel.manifest->config)
			json_object_set_new(failed, "config", json_string(e->kernel.manifest->config));
		return failed;
	}
	double seconds = median(e), roof = least_seconds(e->kernel.target.descriptor, w);
	json_t *all = json_array();
	for (int i = 0; i < e->n_second; i++)
		json_array_append_new(all, json_real(e->second[i]));
	json_t *o = json_pack("{s:s, s:s, s:s, s:f, s:f, s:f, s:f, s:o}", "name", e->name, "target", e->kernel.target.text, "runner",
			      e->runner->name, "seconds", seconds, "least", e->second[0], "bytes_per_second", w->bytes / seconds,
			      "flops_per_second", w->flops / seconds, "all", all);
	if (roof > 0)
		json_object_set_new(o, "roofline", json_real(roof / seconds));
	if (e->kernel.manifest->config)
		json_object_set_new(o, "config", json_string(e->kernel.manifest->config));
	return o;
}

static void report(heddle_cli *cli, const heddle_definition *definition, const int64_t *size, const work *w, entrant *e, int n)
{
	heddle_text rows = {0}, sizes = {0};
	for (int i = 0; i < definition->n_size; i++)
		heddle_text_printf(&sizes, "%s%s=%lld", i ? " " : "", definition->size[i]->name, (long long)size[i]);
	heddle_text_add(&rows, "kernel\trunner\tmedian\tleast\tGB/s\tGFLOP/s\troofline\n");
	json_t *list = json_array();
	for (int i = 0; i < n; i++) {
		add_row(&rows, &e[i], w);
		json_array_append_new(list, entrant_json(&e[i], w));
	}
	if (cli->result) {
		json_t *cases = json_object_get(cli->result, "cases");
		json_array_append_new(cases, json_pack("{s:s, s:s, s:f, s:f, s:O}", "definition", definition->name, "sizes",
						       heddle_text_str(&sizes), "bytes", w->bytes, "flops", w->flops, "kernels",
						       list));
	} else {
		char bytes[32];
		heddle_text_printf(&cli->out, "%s %s: %s, %.4g Mflop\n", definition->name, heddle_text_str(&sizes),
				   heddle_cli_bytes(w->bytes, bytes), 1e-6 * w->flops);
		heddle_cli_table(heddle_text_str(&rows), &cli->out);
		for (int i = 0; i < n; i++)
			if (e[i].config)
				heddle_text_printf(&cli->out, "%s: %s\n", e[i].name, e[i].kernel.manifest->config);
	}
	json_decref(list);
	heddle_text_free(&rows);
	heddle_text_free(&sizes);
}

/* ---- cases ----------------------------------------------------------------------------------------------------------------- */

/* The kernels of all targets, with each config that is given, and of --impl; `*n` counts those that must be freed. */
static int gather(heddle_cli *cli, const heddle_module *module, const heddle_definition *definition,
		  const heddle_target *target, int n_target, entrant *e, int *n)
{
	const heddle_values *impl = &cli->option[HEDDLE_OPTION_IMPL], *config = &cli->option[HEDDLE_OPTION_CONFIG];
	*n = 0;
	for (int i = 0; i < n_target; i++)
		for (int k = 0; k < config->n || k == 0; k++) {
			entrant *one = &e[(*n)++];
			one->name = target[i].text;
			if (config->n > 1) {
				one->config = config->value[k];
				one->name = heddle_arena_printf(cli->arena, "%s %d", target[i].text, k + 1);
			}
			const char *with = config->n ? config->value[k] : NULL;
			if (heddle_cli_compile(cli, module, 1, &definition, &target[i], with, &one->kernel) < 0)
				return -1;
		}
	for (int i = 0; i < impl->n; i++) {
		entrant *one = &e[(*n)++];
		one->name = impl->value[i];
		if (heddle_cli_read_impl(cli, impl->value[i], &one->kernel) < 0)
			return -1;
	}
	return 0;
}

/* What fails is out, and the others go on: 0, or the first one's exit code; -1 with diagnostics. */
static int race(heddle_cli *cli, const course *c, entrant *e, int n, int repeat, int rounds, double timeout)
{
	int result = 0;
	if (rounds > repeat)
		rounds = repeat;
	for (int i = 0; i < n; i++) {
		e[i].runner = heddle_cli_runner(cli, &e[i].kernel);
		if (!e[i].runner || heddle_cli_bind(cli, &e[i].kernel, c->definition, c->size, c->array, &e[i].run) < 0)
			return -1;
	}
	for (int round = 0; round < rounds; round++)
		for (int i = 0; i < n; i++) {
			if (e[i].failed)
				continue;
			e[i].run.timeout = timeout;
			e[i].run.repeat = (repeat + rounds - 1) / rounds;
			heddle_progress(cli->ctx, "%s: %s %s, round %d of %d", c->definition->name,
					round ? "timing" : "checking and timing", e[i].name, round + 1, rounds);
			e[i].failed = round ? time_round(cli, &e[i]) : verify(cli, c, &e[i]);
			if (e[i].failed < 0)
				return -1;
			result = result ? result : e[i].failed;
		}
	for (int i = 0; i < n; i++)
		if (e[i].n_second)
			qsort(e[i].second, (size_t)e[i].n_second, sizeof(double), ascending);
	return result;
}

static int bench_definition(heddle_cli *cli, const heddle_module *module, const heddle_definition *definition,
			    const heddle_target *target, int n_target)
{
	int64_t *size;
	double seed, repeat, rounds, timeout;
	if (heddle_cli_fixed_sizes(cli, definition, &size) < 0 ||
	    heddle_cli_number(cli, HEDDLE_OPTION_SEED, 1, 0, 9e15, &seed) < 0 ||
	    heddle_cli_number(cli, HEDDLE_OPTION_REPEAT, 20, 1, 1e6, &repeat) < 0 ||
	    heddle_cli_number(cli, HEDDLE_OPTION_ROUNDS, 4, 1, 1e6, &rounds) < 0 ||
	    heddle_cli_number(cli, HEDDLE_OPTION_TIMEOUT, 60, 0.1, 86400, &timeout) < 0)
		return -1;
	heddle_cli_say_took(cli, &(heddle_took){.n_definition = 1, .definition = &definition, .n_target = n_target, .target = target});
	course c = {.definition = definition, .size = size};
	if (heddle_cli_arrays(cli, module, definition, size, (uint64_t)seed, &c.array) < 0)
		return -1;
	const int n_config = cli->option[HEDDLE_OPTION_CONFIG].n;
	int n, most = n_target * (n_config ? n_config : 1) + cli->option[HEDDLE_OPTION_IMPL].n;
	entrant *e = HEDDLE_NEW_ARRAY(cli->arena, entrant, most + 1);
	int result = gather(cli, module, definition, target, n_target, e, &n);
	if (result == 0)
		result = lay_course(cli, &c);
	if (result == 0) {
		result = race(cli, &c, e, n, (int)repeat, (int)rounds, timeout);
		work w = work_of(definition, size, c.array);
		bool any = false;
		for (int i = 0; i < n; i++)
			any = any || !e[i].failed;
		if (result >= 0 && any)
			report(cli, definition, size, &w, e, n);
	}
	for (int i = 0; i < n; i++)
		heddle_kernel_files_free(&e[i].kernel);
	clear_course(&c);
	heddle_case_arrays_free(definition, c.array);
	return result;
}

/* One case: the file under these sizes, one definition. */
static int bench_case(heddle_cli *cli, const char *name, const heddle_size_list *sizes, const heddle_target *target,
		      int n_target)
{
	heddle_module *module = heddle_cli_module_for(cli, cli->word[0], sizes, name);
	if (!module)
		return -1;
	const heddle_definition *definition = name ? heddle_module_find(cli->ctx, module, name) : heddle_cli_definition(cli, module);
	int result = definition ? bench_definition(cli, module, definition, target, n_target) : -1;
	heddle_module_free(module);
	return result;
}

typedef struct bench_line {
	const char *definition, *sizes;
} bench_line;

/* The file's own cases: `#: bench` lines, or without one the last `#: sizes` line of each definition. */
static int own_cases(heddle_cli *cli, bench_line **line, int *n)
{
	heddle_module *module = heddle_cli_module(cli, cli->word[0], NULL);
	const char *only = heddle_cli_value(cli, HEDDLE_OPTION_DEF);
	*line = NULL;
	*n = 0;
	if (!module)
		return -1;
	if (only && !heddle_module_find(cli->ctx, module, only)) {
		heddle_module_free(module);
		return -1;
	}
	for (int d = 0; d < module->n_definition; d++) {
		bench_line last = {0};
		int before = *n;
		const char *name = heddle_arena_strdup(cli->arena, module->definition[d]->name);
		for (int i = 0; i < module->n_pragma && (!only || !strcmp(only, name)); i++) {
			const heddle_pragma *p = &module->pragma[i];
			bench_line one = {name, heddle_arena_strdup(cli->arena, p->text)};
			if (p->definition == d && !strcmp(p->key, "bench"))
				HEDDLE_PUSH(cli->arena, *line, *n, one);
			else if (p->definition == d && !strcmp(p->key, "sizes"))
				last = one;
		}
		if (*n == before && last.sizes)
			HEDDLE_PUSH(cli->arena, *line, *n, last);
		else if (*n == before && !module->definition[d]->n_size && (!only || !strcmp(only, name)))
			HEDDLE_PUSH(cli->arena, *line, *n, ((bench_line){name, NULL}));
	}
	heddle_module_free(module);
	if (!*n)
		return heddle_error(cli->ctx, 918, NULL, "'%s' has no '#: bench' line: give the sizes with -s", cli->word[0]);
	return 0;
}

int heddle_cli_bench(heddle_cli *cli)
{
	heddle_target *target;
	int n_target, n_line = 0;
	heddle_size_list *sizes;
	bench_line *line = NULL;
	if (heddle_cli_sizes(cli, 0, &sizes) < 0 || (!sizes && own_cases(cli, &line, &n_line) < 0) ||
	    heddle_cli_device_targets(cli, &target, &n_target) < 0)
		return -1;
	if (cli->result)
		json_object_set_new(cli->result, "cases", json_array());
	if (sizes)
		return bench_case(cli, heddle_cli_value(cli, HEDDLE_OPTION_DEF), sizes, target, n_target);
	int result = 0;
	for (int i = 0; i < n_line; i++) {
		heddle_size_list *own = line[i].sizes ? heddle_sizes_parse(cli->ctx, cli->arena, line[i].sizes) : NULL;
		int one = line[i].sizes && !own ? -1 : bench_case(cli, line[i].definition, own, target, n_target);
		result = result ? result : one;
	}
	return result;
}
