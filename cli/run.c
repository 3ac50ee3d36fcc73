/* heddle run: a definition on NumPy files.
 * SPDX-License-Identifier: MIT
 */
#include "cli/kernel.h"

#include "harness/cases.h"

#include <math.h>
#include <string.h>

/* Shape, least, greatest and mean value of an output, and its first elements. */
typedef struct summary {
	int64_t count;
	double least, greatest, mean;
	int64_t n_nan;
} summary;

static summary summarise(const heddle_array *array)
{
	summary s = {.count = heddle_array_count(array), .least = INFINITY, .greatest = -INFINITY};
	long double sum = 0;
	for (int64_t i = 0; i < s.count; i++) {
		long double v = heddle_array_get(array, heddle_array_offset(array, i));
		if (isnan((double)v)) {
			s.n_nan++;
			continue;
		}
		sum += v;
		s.least = fmin(s.least, (double)v);
		s.greatest = fmax(s.greatest, (double)v);
	}
	int64_t n = s.count - s.n_nan;
	s.mean = n ? (double)(sum / (long double)n) : 0;
	return s;
}

static void add_shape(const heddle_array *array, heddle_text *out)
{
	heddle_text_add(out, "(");
	for (int d = 0; d < array->rank; d++)
		heddle_text_printf(out, "%s%lld", d ? "," : "", (long long)array->shape[d]);
	heddle_text_add(out, ")");
}

static json_t *number_json(double v)
{
	if (isfinite(v))
		return json_real(v);
	return json_string(isnan(v) ? "nan" : v > 0 ? "inf" : "-inf");
}

static json_t *output_json(const heddle_tensor *tensor, const heddle_array *array, const char *path)
{
	summary s = summarise(array);
	json_t *shape = json_array(), *first = json_array();
	for (int d = 0; d < array->rank; d++)
		json_array_append_new(shape, json_integer(array->shape[d]));
	for (int64_t i = 0; i < s.count && i < 8; i++)
		json_array_append_new(first, number_json((double)heddle_array_get(array, heddle_array_offset(array, i))));
	json_t *o = json_pack("{s:s, s:s, s:o, s:o, s:I}", "name", tensor->name, "type", heddle_type_name(tensor->type), "shape",
			      shape, "first", first, "nan", (json_int_t)s.n_nan);
	if (s.count > s.n_nan) {
		json_object_set_new(o, "min", number_json(s.least));
		json_object_set_new(o, "max", number_json(s.greatest));
		json_object_set_new(o, "mean", number_json(s.mean));
	}
	if (path)
		json_object_set_new(o, "file", heddle_cli_json_string(path));
	return o;
}

static void print_output(const heddle_tensor *tensor, const heddle_array *array, const char *path, heddle_text *out)
{
	summary s = summarise(array);
	char number[40];
	heddle_text_printf(out, "%s %s", heddle_type_name(tensor->type), tensor->name);
	add_shape(array, out);
	if (s.count > s.n_nan)
		heddle_text_printf(out, "  min %.6g  max %.6g  mean %.6g", s.least, s.greatest, s.mean);
	if (s.n_nan)
		heddle_text_printf(out, "  NaN %lld", (long long)s.n_nan);
	if (path)
		heddle_text_printf(out, "  -> %s", path);
	heddle_text_add(out, "\n ");
	for (int64_t i = 0; i < s.count && i < 6; i++) {
		float v = (float)heddle_array_get(array, heddle_array_offset(array, i));
		heddle_text_printf(out, " %s", heddle_format_float(v, number));
	}
	heddle_text_add(out, s.count > 6 ? " ...\n" : "\n");
}

/* Outputs to files (--output) and to the report. */
static int give_outputs(heddle_cli *cli, const heddle_definition *definition, heddle_array *const *array)
{
	const char *folder = heddle_cli_value(cli, HEDDLE_OPTION_OUTPUT);
	json_t *outputs = cli->result ? json_array() : NULL;
	if (folder && heddle_dir_make(cli->ctx, folder) < 0)
		return -1;
	int result = HEDDLE_EXIT_FINE;
	for (int i = definition->n_input; i < definition->n_input + definition->n_output; i++) {
		const heddle_tensor *tensor = definition->tensor[i];
		const char *path = folder ? heddle_arena_printf(cli->arena, "%s/%s.npy", folder, tensor->name) : NULL;
		int written = path ? heddle_npy_write(cli->ctx, path, array[i]) : 0;
		if (written < 0)
			result = -1;
		if (written == 1)
			heddle_text_printf(&cli->err, "%s: NumPy has no bfloat16; the file holds its bits as uint16\n", path);
		if (outputs)
			json_array_append_new(outputs, output_json(tensor, array[i], path));
		else
			print_output(tensor, array[i], path, &cli->out);
	}
	if (outputs)
		json_object_set_new(cli->result, "outputs", outputs);
	return result;
}

static int run_kernel(heddle_cli *cli, const heddle_kernel_files *kernel, const heddle_definition *definition,
		      const int64_t *size, heddle_array *const *array)
{
	double timeout;
	heddle_run run = {.repeat = 0};
	if (heddle_cli_number(cli, HEDDLE_OPTION_TIMEOUT, 60, 0.1, 86400, &timeout) < 0)
		return -1;
	const heddle_runner *runner = heddle_cli_runner(cli, kernel);
	if (!runner || heddle_cli_bind(cli, kernel, definition, size, array, &run) < 0)
		return -1;
	run.timeout = timeout;
	heddle_text_printf(&cli->err, "running %s with %s\n", kernel->target.text, runner->name);
	if (heddle_run_isolated(cli->ctx, runner, &run) < 0)
		return -1;
	if (run.verdict != HEDDLE_PASS)
		return heddle_cli_verdict(cli, kernel->target.text, &run);
	if (cli->result) {
		json_object_set_new(cli->result, "target", json_string(kernel->target.text));
		json_object_set_new(cli->result, "runner", json_string(runner->name));
	}
	return give_outputs(cli, definition, array);
}

static int run_definition(heddle_cli *cli, heddle_module *module, const heddle_target *target)
{
	const heddle_definition *definition = heddle_cli_definition(cli, module);
	int64_t *size;
	double seed;
	if (!definition || heddle_cli_fixed_sizes(cli, definition, &size) < 0 ||
	    heddle_cli_number(cli, HEDDLE_OPTION_SEED, 1, 0, 9e15, &seed) < 0)
		return -1;
	heddle_cli_say_took(cli, &(heddle_took){.n_definition = 1, .definition = &definition, .n_target = 1, .target = target});
	heddle_array **array;
	if (heddle_cli_arrays(cli, module, definition, size, (uint64_t)seed, &array) < 0)
		return -1;
	heddle_kernel_files kernel;
	int result = heddle_cli_compile(cli, module, 1, &definition, target, NULL, &kernel);
	if (result == 0)
		result = run_kernel(cli, &kernel, definition, size, array);
	heddle_kernel_files_free(&kernel);
	heddle_case_arrays_free(definition, array);
	return result;
}

/* The file under the sizes of -s, and of the inputs' shapes where -s leaves some open. */
static heddle_module *read_module(heddle_cli *cli)
{
	heddle_size_list *sizes;
	if (heddle_cli_sizes(cli, 0, &sizes) < 0)
		return NULL;
	heddle_module *module = heddle_cli_module(cli, cli->word[0], sizes);
	const heddle_definition *definition = module ? heddle_cli_definition(cli, module) : NULL;
	const int more = definition ? heddle_cli_sizes_of_inputs(cli, definition, &sizes) : -1;
	if (more != 0)
		module = heddle_module_free(module);
	return more > 0 ? heddle_cli_module(cli, cli->word[0], sizes) : module;
}

int heddle_cli_run(heddle_cli *cli)
{
	heddle_target *target;
	int n_target;
	heddle_module *module = read_module(cli);
	if (!module)
		return -1;
	int result = heddle_cli_device_targets(cli, &target, &n_target);
	if (result == 0 && n_target > 1)
		result = heddle_error(cli->ctx, 915, NULL, "'run' takes one target");
	if (result == 0)
		result = run_definition(cli, module, &target[0]);
	heddle_module_free(module);
	return result;
}
