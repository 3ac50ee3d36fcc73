/* Kernels for the verbs that write, run or time them: compiled from a definition or read, bound to arrays, given a device.
 * SPDX-License-Identifier: MIT
 */
#include "cli/kernel.h"
#include "cli/lock.h"

#include "backends/driver.h"
#include "harness/cases.h"
#include "harness/command.h"
#include "harness/device.h"
#include "harness/isolate.h"
#include "harness/reference.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void heddle_kernel_files_free(heddle_kernel_files *kernel)
{
	heddle_manifest_free(kernel->manifest);
	heddle_variants_free(&kernel->variants);
	heddle_text_free(&kernel->source);
	heddle_text_free(&kernel->header);
	heddle_text_free(&kernel->host);
	*kernel = (heddle_kernel_files){0};
}

/* ---- compiling -------------------------------------------------------------------------------------------------------- */

/* The definition's text for the head of the source: as written when the file holds nothing else. */
static const char *definition_text(heddle_cli *cli, const heddle_module *module, const heddle_definition *definition)
{
	if (module->n_definition == 1)
		return module->source->text;
	heddle_text text = {0};
	heddle_definition_print(definition, &text);
	const char *copy = heddle_arena_strdup(cli->arena, heddle_text_str(&text));
	heddle_text_free(&text);
	return copy;
}

/* A name that can be part of a C identifier: other characters become underscores. */
static char *identifier(heddle_cli *cli, const char *text)
{
	char *name = heddle_arena_strdup(cli->arena, text);
	for (char *p = name; *p; p++)
		if (!isalnum((unsigned char)*p))
			*p = '_';
	return name;
}

static int check_prefix(heddle_cli *cli, const char *prefix)
{
	if (isdigit((unsigned char)prefix[0]) || strcmp(prefix, identifier(cli, prefix)) != 0)
		return heddle_error(cli->ctx, 915, NULL, "--prefix '%s' cannot begin the name of a C function", prefix);
	return 0;
}

/* --prefix goes before the names of all functions, so that several sizes of a definition can be linked together. */
static void add_prefix(heddle_program *program, const char *prefix)
{
	program->name = heddle_arena_printf(program->arena, "%s%s", prefix, program->name);
	for (int i = 0; i < program->n_launch; i++)
		program->launch[i]->name = heddle_arena_printf(program->arena, "%s%s", prefix, program->launch[i]->name);
}

heddle_program *heddle_cli_program(heddle_cli *cli, const heddle_definition *definition, const heddle_target *target,
				   const heddle_compile_options *more)
{
	heddle_compile_options options = more ? *more : (heddle_compile_options){0};
	const char *pinned = heddle_lock_config(cli, definition, target);
	heddle_cli_timer timer;
	if (heddle_cli_effort(cli, definition, target, &timer, &options) < 0)
		return NULL;
	options.config = pinned ? pinned : options.config ? options.config : heddle_cli_value(cli, HEDDLE_OPTION_CONFIG);
	if (heddle_target_takes(cli->ctx, definition, target) != 0)
		return NULL;
	heddle_program *program = heddle_compile(cli->ctx, definition, target, &options);
	heddle_cli_timer_free(&timer);
	if (program && program->config)
		heddle_lock_pin(cli, definition, target, program->config);
	if (!program && pinned)
		heddle_note(cli->ctx, NULL, "the config comes from %s: --update-lock chooses another one", heddle_lock_path(cli->lock));
	if (!program && !options.stop && !heddle_error_count(cli->ctx))
		heddle_error(cli->ctx, 950, NULL, "no program for %s, and no reason", target->text);
	return program;
}

void heddle_cli_file_names(heddle_cli *cli, const heddle_definition *definition, const heddle_target *target,
			   heddle_kernel_files *kernel)
{
	const char *prefix = heddle_cli_value(cli, HEDDLE_OPTION_PREFIX);
	kernel->header_name = heddle_arena_printf(cli->arena, "%s%s", prefix ? prefix : "", definition->name);
	kernel->base = heddle_arena_printf(cli->arena, "%s__%s_%s", kernel->header_name, target->backend,
					   identifier(cli, target->descriptor->name));
	kernel->source_name = heddle_source_file(cli->arena, target, kernel->base);
	kernel->host_name = heddle_host_file(cli->arena, target, kernel->base);
}

/* The name alone: what is emitted does not depend on the folder that it was emitted from. */
static const char *file_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

static int compile_variants(heddle_cli *cli, int n, const heddle_definition *const *definition, const heddle_target *target,
			    const char *config, heddle_variants *variants)
{
	const char *prefix = heddle_cli_value(cli, HEDDLE_OPTION_PREFIX);
	const heddle_compile_options options = {.config = config};
	heddle_variants_begin(variants);
	for (int i = 0; i < n; i++) {
		heddle_program *program = heddle_cli_program(cli, definition[i], target, &options);
		if (!program)
			return -1;
		if (prefix)
			add_prefix(program, prefix);
		heddle_variants_add(variants, program);
	}
	return heddle_variants_finish(cli->ctx, target, variants);
}

int heddle_cli_compile(heddle_cli *cli, const heddle_module *module, int n, const heddle_definition *const *definition,
		       const heddle_target *target, const char *config, heddle_kernel_files *kernel)
{
	const char *prefix = heddle_cli_value(cli, HEDDLE_OPTION_PREFIX);
	*kernel = (heddle_kernel_files){.target = *target};
	if (prefix && check_prefix(cli, prefix) < 0)
		return -1;
	if (compile_variants(cli, n, definition, target, config, &kernel->variants) < 0)
		return -1;
	heddle_cli_file_names(cli, definition[0], target, kernel);
	heddle_emit_options options = {.base = kernel->base,
				       .header = kernel->header_name,
				       .definition_text = definition_text(cli, module, definition[0]),
				       .source_name = file_of(module->source->name)};
	if (heddle_source_print(cli->ctx, target, &kernel->variants, &options, &kernel->source) < 0 ||
	    heddle_host_print(cli->ctx, target, &kernel->variants, &options, &kernel->host) < 0 ||
	    heddle_header_print(cli->ctx, &kernel->variants, &options, &kernel->header) < 0)
		return -1;
	kernel->manifest = heddle_manifest_make(cli->ctx, target, &kernel->variants, &options);
	if (!kernel->manifest)
		return -1;
	kernel->manifest->definition = heddle_arena_strdup(kernel->manifest->arena, definition[0]->name);
	return 0;
}

/* A path in the folder of another file. */
static const char *beside(heddle_cli *cli, const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');
	if (!slash || name[0] == '/')
		return name;
	return heddle_arena_printf(cli->arena, "%.*s/%s", (int)(slash - path), path, name);
}

int heddle_cli_read_impl(heddle_cli *cli, const char *path, heddle_kernel_files *kernel)
{
	*kernel = (heddle_kernel_files){.base = path, .header_name = path};
	char *text = heddle_file_read(cli->ctx, path, NULL);
	if (!text)
		return -1;
	kernel->manifest = heddle_manifest_parse(cli->ctx, path, text);
	free(text);
	if (!kernel->manifest)
		return -1;
	kernel->manifest->path = heddle_arena_strdup(kernel->manifest->arena, path);
	char *source = heddle_file_read(cli->ctx, beside(cli, path, kernel->manifest->source), NULL);
	if (!source)
		return -1;
	heddle_text_add(&kernel->source, source);
	free(source);
	const char *target = heddle_arena_printf(cli->arena, "%s:%s", kernel->manifest->backend, kernel->manifest->arch);
	return heddle_target_parse(cli->ctx, target, &kernel->target);
}

/* ---- devices ---------------------------------------------------------------------------------------------------------- */

/* `name` as a part of the device's own name, whatever the case: "h200" in "NVIDIA H200". */
static bool is_part(const char *whole, const char *name)
{
	size_t length = strlen(name);
	for (const char *p = whole; *p; p++) {
		size_t i = 0;
		while (i < length && p[i] && tolower((unsigned char)p[i]) == tolower((unsigned char)name[i]))
			i++;
		if (i == length)
			return true;
	}
	return false;
}

/* The chip whose name, the longest, is part of the device's; NULL: none. */
static const char *chip_of(heddle_cli *cli, const char *device)
{
	const char *found = NULL;
	for (const char *const *name = heddle_descriptor_names(cli->ctx); *name; name++)
		if (is_part(device, *name) && (!found || strlen(*name) > strlen(found)))
			found = *name;
	return found;
}

/* The first real device that a descriptor is known for, as a target's text; NULL: none. */
static const char *real_target(heddle_cli *cli)
{
	const char *found = NULL;
	for (const heddle_driver *const *d = heddle_drivers; *d && !found; d++) {
		heddle_text list = {0};
		const char *why;
		if (!strcmp((*d)->level, "device") && heddle_device_list(cli->arena, *d, &list, &why) == 0 && list.length) {
			const char *device = heddle_arena_strndup(cli->arena, list.data, strcspn(list.data, "\t\n"));
			const char *chip = chip_of(cli, device);
			if (chip)
				found = heddle_arena_printf(cli->arena, "%s:%s", (*d)->backend, chip);
		}
		heddle_text_free(&list);
	}
	return found;
}

int heddle_cli_device_targets(heddle_cli *cli, heddle_target **target, int *n)
{
	const char *standard[] = {heddle_usual_host[0], NULL};
	const char *level = heddle_cli_value(cli, HEDDLE_OPTION_LEVEL);
	if (!heddle_cli_flag(cli, HEDDLE_OPTION_TARGET) && (!level || strncmp(level, "opencl-cpu", 10) != 0)) {
		const char *real = real_target(cli);
		if (real)
			standard[0] = real;
	}
	return heddle_cli_targets(cli, standard, target, n);
}

/* "opencl-cpu" or, with the runner, "opencl-cpu:pocl". */
static bool names_runner(const char *level, const heddle_runner *runner)
{
	const size_t n = strlen(runner->level);
	return !strncmp(level, runner->level, n) && (!level[n] || (level[n] == ':' && !strcmp(level + n + 1, runner->name)));
}

int heddle_cli_check_run_level(heddle_cli *cli, const char *level)
{
	const bool serves = cli->verb == &heddle_verb_rows[HEDDLE_VERB_SERVE_RUN]; /* whoever is a command does not run another */
	for (const heddle_runner *const *r = heddle_runners; *r; r++)
		if (strcmp((*r)->level, "compile") != 0 && !(serves && !strcmp((*r)->backend, "*")) && names_runner(level, *r))
			return 0;
	heddle_error(cli->ctx, 915, NULL, "'%s' takes no level '%s'", cli->verb->name, level);
	heddle_note(cli->ctx, NULL, "one of emulate, opencl-cpu, device; 'heddle doctor' names the runners of each, as in opencl-cpu:pocl");
	if (!strncmp(level, "interpret", 9) || !strncmp(level, "compile", 7))
		heddle_note(cli->ctx, NULL, "interpret and compile are levels of 'heddle test'");
	return -1;
}

/* A simulator gives results, but its time says nothing of a processor: it is measured only when it is asked for by name. */
static bool cannot_time(const heddle_cli *cli, const char *level, const heddle_runner *runner)
{
	const bool times = cli->verb == &heddle_verb_rows[HEDDLE_VERB_BENCH] || heddle_cli_measures(cli);
	return runner->simulator && times && !strchr(level, ':');
}

/* Whether the runner takes the kernel: the one that a descriptor names takes the kernels of that descriptor. */
static bool takes_kernel(heddle_cli *cli, const heddle_runner *runner, const heddle_manifest *manifest)
{
	if (strcmp(runner->backend, "*") != 0)
		return !strcmp(runner->backend, manifest->backend);
	return heddle_command_named(cli->ctx, manifest, strcmp(runner->level, "compile") != 0);
}

/* The first usable runner of a level for a kernel; `*why` is what the first one lacks. */
static const heddle_runner *usable_runner(heddle_cli *cli, const char *level, const heddle_manifest *manifest, const char **why)
{
	for (const heddle_runner *const *r = heddle_runners; *r; r++) {
		if (!names_runner(level, *r) || !takes_kernel(cli, *r, manifest) || cannot_time(cli, level, *r))
			continue;
		const char *reason = NULL;
		if (heddle_runner_available(cli->ctx, cli->arena, *r, &reason) == 1)
			return *r;
		if (!*why)
			*why = reason;
	}
	return NULL;
}

/* The backends whose kernels a level takes, when the kernel's is none of them; NULL otherwise. */
static const char *other_backends(heddle_cli *cli, const char *level, const heddle_manifest *manifest)
{
	const char *list = NULL, *last = "";
	for (const heddle_runner *const *r = heddle_runners; *r; r++) {
		if (!names_runner(level, *r) || !strcmp((*r)->backend, "*") || !strcmp((*r)->backend, last))
			continue;
		last = (*r)->backend;
		if (!strcmp(last, manifest->backend))
			return NULL;
		list = list ? heddle_arena_printf(cli->arena, "%s and %s", list, last) : last;
	}
	return list;
}

/* A kernel for longer vectors than this processor has runs, but each of its vectors is several here. */
static void warn_of_vectors(heddle_cli *cli, const heddle_target *target)
{
	const heddle_descriptor *host = heddle_descriptor_find(cli->ctx, "host");
	const char *better = heddle_host_nearest(cli->ctx);
	const double wanted = target->descriptor->vector_bytes.value, there = host ? host->vector_bytes.value : 0;
	if (!host || target->descriptor->execution != HEDDLE_SIMD || wanted <= there)
		return;
	for (const heddle_diagnostic *d = heddle_diagnostics(cli->ctx); d; d = d->next)
		if (d->code == 927)
			return; /* of another kernel */
	heddle_warning(cli->ctx, 927, NULL, "%s has vectors of %.0f bits, and this processor's have %.0f", target->text, 8 * wanted, 8 * there);
	heddle_note(cli->ctx, NULL, "%s:%s, or host with this processor's cores and caches, will be faster", target->backend, better);
}

const heddle_runner *heddle_cli_runner(heddle_cli *cli, const heddle_kernel_files *kernel)
{
	const heddle_target *target = &kernel->target;
	const char *why = NULL;
	/* A simd descriptor is a processor: its OpenCL drivers are those of level opencl-cpu. */
	const char *level = heddle_cli_value(cli, HEDDLE_OPTION_LEVEL);
	if (level && heddle_cli_check_run_level(cli, level) < 0)
		return NULL;
	if (!level && target->descriptor->runner.n > 0)
		level = "device:command";
	if (!level)
		level = target->descriptor->execution == HEDDLE_SIMD ? "opencl-cpu" : "device";
	const heddle_runner *runner = usable_runner(cli, level, kernel->manifest, &why);
	if (runner && !runner->slow && !strcmp(runner->level, "opencl-cpu"))
		warn_of_vectors(cli, target);
	if (runner)
		return runner;
	heddle_error(cli->ctx, 810, NULL, "nothing here can run %s at level '%s'", target->text, level);
	const char *others = other_backends(cli, level, kernel->manifest);
	if (others)
		heddle_note(cli->ctx, NULL, "%s runs kernels of %s", level, others);
	if (why)
		heddle_note(cli->ctx, NULL, "%s", why);
	heddle_note(cli->ctx, NULL, "'heddle doctor' says what works here");
	return NULL;
}

/* ---- arrays ------------------------------------------------------------------------------------------------------------ */

static heddle_tensor *find_tensor(const heddle_definition *definition, const char *name)
{
	for (int i = 0; i < definition->n_tensor; i++)
		if (!strcmp(definition->tensor[i]->name, name))
			return definition->tensor[i];
	return NULL;
}

static bool is_given(const heddle_tensor *tensor)
{
	return tensor->role == HEDDLE_ROLE_INPUT || tensor->role == HEDDLE_ROLE_INOUT;
}

static int wrong_input(heddle_cli *cli, const heddle_definition *definition, const char *text, const char *name)
{
	const char **names = HEDDLE_NEW_ARRAY(cli->arena, const char *, definition->n_tensor + 1);
	int n = 0;
	for (int i = 0; i < definition->n_tensor; i++)
		if (is_given(definition->tensor[i]))
			names[n++] = definition->tensor[i]->name;
	heddle_error(cli->ctx, 920, NULL, "--input %s: '%s' has no input '%s'", text, definition->name, name);
	const char *nearest = heddle_nearest(name, names, n);
	if (nearest)
		heddle_note(cli->ctx, NULL, "did you mean '%s'?", nearest);
	return -1;
}

static int wrong_shape(heddle_cli *cli, const char *path, const heddle_tensor *tensor, const heddle_array *array,
		       const int64_t *shape)
{
	heddle_text text = {0};
	for (int d = 0; d < array->rank; d++)
		heddle_text_printf(&text, "%s%lld", d ? "," : "(", (long long)array->shape[d]);
	heddle_text_printf(&text, "%s but %s is ", array->rank ? ")" : "a single number", tensor->name);
	for (int d = 0; d < tensor->rank; d++)
		heddle_text_printf(&text, "%s%lld", d ? "," : "(", (long long)shape[d]);
	heddle_error(cli->ctx, 920, NULL, "'%s' is %s%s", path, heddle_text_str(&text), tensor->rank ? ")" : "a single number");
	heddle_text_free(&text);
	return -1;
}

/* The array in the tensor's declared layout; NULL when elements that share memory there differ. */
static heddle_array *in_layout(heddle_cli *cli, const heddle_tensor *tensor, const char *path, heddle_array *read,
			       const int64_t *size)
{
	int64_t stride[HEDDLE_MAX_RANK];
	if (!tensor->stride || heddle_tensor_strides(tensor, size, stride) < 0)
		return read;
	const size_t bytes = (size_t)heddle_type_size(read->type);
	heddle_array *dense = heddle_array_copy(read), *laid = heddle_array_restride(read, stride);
	bool same = true;
	for (int64_t k = 0, n = heddle_array_count(dense); k < n && same; k++)
		same = !memcmp(laid->data + (size_t)heddle_array_offset(laid, k) * bytes,
			       dense->data + (size_t)heddle_array_offset(dense, k) * bytes, bytes);
	heddle_array_free(dense);
	if (same)
		return laid;
	heddle_error(cli->ctx, 920, NULL, "'%s' has different numbers where elements of %s share memory", path, tensor->name);
	return heddle_array_free(laid);
}

/* "A=a.npy" into the place of tensor A. */
static int read_input(heddle_cli *cli, const heddle_definition *definition, const int64_t *size, const char *text,
		      heddle_array **array)
{
	const char *equals = strchr(text, '=');
	if (!equals || equals == text)
		return heddle_error(cli->ctx, 920, NULL, "--input %s: write NAME=FILE.npy", text);
	const char *name = heddle_arena_strndup(cli->arena, text, (size_t)(equals - text));
	const heddle_tensor *tensor = find_tensor(definition, name);
	if (!tensor || !is_given(tensor))
		return wrong_input(cli, definition, text, name);
	heddle_array *read = heddle_npy_read(cli->ctx, equals + 1, (int)tensor->type);
	if (!read)
		return -1;
	int64_t shape[HEDDLE_MAX_RANK];
	int result = heddle_tensor_shape(tensor, size, shape);
	bool same = result == 0 && read->rank == tensor->rank;
	for (int d = 0; same && d < tensor->rank; d++)
		same = read->shape[d] == shape[d];
	if (!same) {
		result = wrong_shape(cli, equals + 1, tensor, read, shape);
		heddle_array_free(read);
		return result;
	}
	read = in_layout(cli, tensor, equals + 1, read, size);
	if (!read)
		return -1;
	heddle_array_free(array[tensor->position]);
	array[tensor->position] = read;
	return 0;
}

/* ---- sizes of inputs ------------------------------------------------------------------------------------------------------ */

/* The only size in an extent whose value is not known; NULL: there is none, or several. */
static const heddle_size *open_size(const heddle_expr *expr, const bool *known, bool *several)
{
	const heddle_size *found = expr->kind == HEDDLE_EXPR_SIZE && !known[expr->size->position] ? expr->size : NULL;
	for (int i = 0; i < expr->n_arg; i++) {
		const heddle_size *one = open_size(expr->arg[i], known, several);
		*several = *several || (one && found && one != found);
		found = found ? found : one;
	}
	return *several ? NULL : found;
}

/* The extent is a straight line in its open size: does one value give the shape?  True when it is known now. */
static bool solve_extent(const heddle_expr *extent, int64_t wanted, int64_t *value, bool *known)
{
	bool several = false;
	const heddle_size *size = open_size(extent, known, &several);
	int64_t at_0, at_1, back;
	if (!size)
		return false;
	value[size->position] = 0;
	bool fine = heddle_expr_evaluate(extent, value, &at_0) == 0;
	value[size->position] = 1;
	fine = fine && heddle_expr_evaluate(extent, value, &at_1) == 0 && at_1 != at_0;
	value[size->position] = fine ? (wanted - at_0) / (at_1 - at_0) : 0;
	known[size->position] = fine && heddle_expr_evaluate(extent, value, &back) == 0 && back == wanted;
	return known[size->position];
}

/* The shape of one --input; false: its tensor is none, which is said later, or its file cannot be read twice. */
static bool input_shape(heddle_cli *cli, const heddle_definition *definition, const char *text, const heddle_tensor **tensor, int64_t *shape)
{
	struct stat status;
	int rank;
	const char *equals = strchr(text, '=');
	*tensor = equals ? find_tensor(definition, heddle_arena_strndup(cli->arena, text, (size_t)(equals - text))) : NULL;
	if (!*tensor || (stat(equals + 1, &status) == 0 && !S_ISREG(status.st_mode)))
		return false;
	return heddle_npy_shape(cli->ctx, equals + 1, &rank, shape) == 0 && rank == (*tensor)->rank;
}

static bool solve_inputs(heddle_cli *cli, const heddle_definition *definition, int64_t *value, bool *known)
{
	const heddle_values *inputs = &cli->option[HEDDLE_OPTION_INPUT];
	bool any = false;
	for (int i = 0; i < inputs->n; i++) {
		const heddle_tensor *tensor;
		int64_t shape[HEDDLE_MAX_RANK];
		if (input_shape(cli, definition, inputs->value[i], &tensor, shape))
			for (int d = 0; d < tensor->rank; d++)
				any = solve_extent(tensor->extent[d], shape[d], value, known) || any;
	}
	return any;
}

/* In place of what -s says of the size, which must allow it. */
static int fix_size(heddle_cli *cli, const heddle_size *size, int64_t value, heddle_size_list *list)
{
	const heddle_size_range fixed = {heddle_arena_strdup(cli->arena, size->name), value, value, 1}; /* it outlives the module */
	if (value < size->min || value > size->max || (size->divisor > 1 && value % size->divisor != 0))
		return heddle_error(cli->ctx, 918, NULL, "the inputs have %s=%lld, which -s or the definition does not allow", size->name,
				    (long long)value);
	for (int i = 0; i < list->n; i++)
		if (!strcmp(list->range[i].name, size->name)) {
			list->range[i] = fixed;
			return 0;
		}
	HEDDLE_PUSH(cli->arena, list->range, list->n, fixed);
	return 0;
}

int heddle_cli_sizes_of_inputs(heddle_cli *cli, const heddle_definition *definition, heddle_size_list **sizes)
{
	int64_t *value = HEDDLE_NEW_ARRAY(cli->arena, int64_t, definition->n_size + 1);
	bool *known = HEDDLE_NEW_ARRAY(cli->arena, bool, definition->n_size + 1);
	int n_open = 0;
	for (int i = 0; i < definition->n_size; i++) {
		value[i] = definition->size[i]->min;
		known[i] = definition->size[i]->min == definition->size[i]->max;
		n_open += !known[i];
	}
	bool any = false;
	while (n_open && solve_inputs(cli, definition, value, known))
		any = true;
	if (heddle_error_count(cli->ctx))
		return -1;
	if (any && !*sizes)
		*sizes = HEDDLE_NEW(cli->arena, heddle_size_list);
	for (int i = 0; any && i < definition->n_size; i++)
		if (known[i] && definition->size[i]->min != definition->size[i]->max && fix_size(cli, definition->size[i], value[i], *sizes) < 0)
			return -1;
	return any;
}

/* ---- all arrays ------------------------------------------------------------------------------------------------------------- */

int heddle_cli_arrays(heddle_cli *cli, const heddle_module *module, const heddle_definition *definition, const int64_t *size,
		      uint64_t seed, heddle_array ***array)
{
	*array = HEDDLE_NEW_ARRAY(cli->arena, heddle_array *, definition->n_tensor + 1);
	if (heddle_case_arrays(cli->ctx, module, definition, size, HEDDLE_FILL_RANDOM, seed, *array) < 0)
		return -1;
	for (int i = 0; i < cli->option[HEDDLE_OPTION_INPUT].n; i++)
		if (read_input(cli, definition, size, cli->option[HEDDLE_OPTION_INPUT].value[i], *array) < 0) {
			heddle_case_arrays_free(definition, *array);
			return -1;
		}
	return 0;
}

/* ---- binding ------------------------------------------------------------------------------------------------------------ */

static const heddle_size *find_size(const heddle_definition *definition, const char *name)
{
	for (int i = 0; i < definition->n_size; i++)
		if (!strcmp(definition->size[i]->name, name))
			return definition->size[i];
	return NULL;
}

static int bind_sizes(heddle_cli *cli, const heddle_manifest *m, const heddle_definition *definition, const int64_t *size,
		      heddle_run *run)
{
	int64_t *value = HEDDLE_NEW_ARRAY(cli->arena, int64_t, m->n_size + 1);
	for (int i = 0; i < m->n_size; i++) {
		const heddle_size *s = find_size(definition, m->size[i].name);
		if (!s)
			return heddle_error(cli->ctx, 921, NULL, "the kernel wants a size '%s', which '%s' does not have",
					    m->size[i].name, definition->name);
		value[i] = size[s->position];
	}
	if (heddle_manifest_choose(m, value, NULL) < 0)
		for (int i = 0; i < m->n_size; i++)
			if (value[i] < m->size[i].min || value[i] > m->size[i].max ||
			    (m->size[i].divisor > 1 && value[i] % m->size[i].divisor != 0))
				return heddle_error(cli->ctx, 918, NULL, "the kernel is not for %s=%lld", m->size[i].name,
						    (long long)value[i]);
	run->size = value;
	return 0;
}

int heddle_cli_bind(heddle_cli *cli, const heddle_kernel_files *kernel, const heddle_definition *definition,
		    const int64_t *size, heddle_array *const *array, heddle_run *run)
{
	const heddle_manifest *m = kernel->manifest;
	heddle_array **argument = HEDDLE_NEW_ARRAY(cli->arena, heddle_array *, m->n_argument + 1);
	for (int i = 0; i < m->n_argument; i++) {
		if (m->argument[i].role == HEDDLE_ARGUMENT_TEMPORARY || m->argument[i].role == HEDDLE_ARGUMENT_SIZE)
			continue;
		const heddle_tensor *tensor = find_tensor(definition, m->argument[i].name);
		if (!tensor || !array[tensor->position])
			return heddle_error(cli->ctx, 921, NULL, "the kernel wants a tensor '%s', which '%s' does not have",
					    m->argument[i].name, definition->name);
		argument[i] = array[tensor->position];
		if (argument[i]->type != m->argument[i].type || argument[i]->rank != m->argument[i].rank)
			return heddle_error(cli->ctx, 921, NULL, "'%s' has another type or rank in the kernel than in '%s'",
					    tensor->name, definition->name);
	}
	run->arena = cli->arena;
	run->manifest = m;
	run->source = heddle_text_str(&kernel->source);
	run->source_path = m->source;
	run->argument = argument;
	return bind_sizes(cli, m, definition, size, run);
}

int heddle_cli_verdict(heddle_cli *cli, const char *name, const heddle_run *run)
{
	static const char *const words[] = {"pass", "FAIL", "unsupported", "missing"};
	heddle_text_printf(&cli->err, "%s: %s%s%s\n", name, words[run->verdict], run->message ? ": " : "",
			   run->message ? run->message : "");
	for (int i = 0; i < run->n_finding; i++) {
		const heddle_finding *f = &run->finding[i];
		if (f->file && f->line)
			heddle_text_printf(&cli->err, "  %s:%d: ", f->file, f->line);
		else
			heddle_text_add(&cli->err, "  ");
		heddle_text_printf(&cli->err, "%s: %s\n", f->kind, f->text);
	}
	switch (run->verdict) {
	case HEDDLE_PASS: return HEDDLE_EXIT_FINE;
	case HEDDLE_FAIL: return HEDDLE_EXIT_FAILED;
	default: return HEDDLE_EXIT_MISSING;
	}
}
