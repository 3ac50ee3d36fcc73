/* The commands that a descriptor names.
 * SPDX-License-Identifier: MIT
 */
#include "harness/command.h"

#include "base/process.h"
#include "harness/compile_level.h"
#include "harness/device.h"

#include <string.h>

typedef struct placeholders {
	const char *source, *output, *arch;
	const char *const *option;
} placeholders;

/* One word of a command with what stands for its placeholders; NULL with a diagnostic. */
static const char *fill_in(heddle_ctx *ctx, heddle_arena *arena, const char *word, const placeholders *p)
{
	const struct {
		const char *name, *value;
	} table[] = { { "{source}", p->source }, { "{output}", p->output }, { "{arch}", p->arch } };
	const char *out = "";
	while (*word) {
		size_t plain = strcspn(word, "{");
		out = heddle_arena_printf(arena, "%s%.*s", out, (int)plain, word);
		word += plain;
		if (!*word)
			break;
		bool known = false;
		for (size_t i = 0; i < HEDDLE_COUNT(table) && !known; i++)
			if (strncmp(word, table[i].name, strlen(table[i].name)) == 0) {
				out = heddle_arena_printf(arena, "%s%s", out, table[i].value);
				word += strlen(table[i].name);
				known = true;
			}
		if (!known) {
			heddle_error(ctx, 803, NULL, "unknown placeholder in a command: %s", word);
			return NULL;
		}
	}
	return out;
}

/* The command line; {options} alone in a word stands for all options. */
static const char *const *command_line(heddle_ctx *ctx, heddle_arena *arena, const heddle_command *command,
				       const placeholders *p)
{
	const char **argv = NULL;
	int n = 0;
	for (int i = 0; i < command->n; i++) {
		if (strcmp(command->argv[i], "{options}") == 0) {
			for (const char *const *o = p->option; *o; o++)
				HEDDLE_PUSH(arena, argv, n, *o);
			continue;
		}
		const char *word = fill_in(ctx, arena, command->argv[i], p);
		if (!word)
			return NULL;
		HEDDLE_PUSH(arena, argv, n, word);
	}
	HEDDLE_PUSH(arena, argv, n, NULL);
	return argv;
}

/* The manifest keeps options per compiler; a private one gets those of its dialect. */
static const char *const *options_of_backend(heddle_arena *arena, const heddle_manifest *manifest)
{
	for (const heddle_compiler *const *c = heddle_compilers; *c; c++)
		if (strcmp((*c)->backend, manifest->backend) == 0)
			return heddle_manifest_options(arena, manifest, (*c)->options, NULL);
	return HEDDLE_NEW(arena, const char *);
}

/* What the command printed, as findings. */
static void blame(heddle_run *run, const char *kind, const heddle_process *process)
{
	heddle_text log = { 0 };
	heddle_faults faults = { 0 };
	heddle_text_printf(&log, "%s%s", heddle_text_str(&process->error), heddle_text_str(&process->output));
	if (!log.length)
		heddle_process_describe(process, &log);
	heddle_log_errors(run->arena, heddle_text_str(&log), run->source, run->source_path, &faults);
	for (int i = 0; i < faults.n; i++)
		heddle_run_finding(run, kind, faults.fault[i].file, faults.fault[i].line, faults.fault[i].text);
	run->verdict = HEDDLE_FAIL;
	heddle_text_free(&log);
}

/* Run one of the descriptor's commands over the source in `work`.  *ran says whether it ended well. */
static int command_in(heddle_ctx *ctx, heddle_run *run, const heddle_descriptor *descriptor, const heddle_command *command,
		      const char *work, const char *output, const char *kind, bool *ran)
{
	const char *dot = run->manifest->source ? strrchr(run->manifest->source, '.') : NULL;
	const placeholders p = {
		.source = heddle_arena_printf(run->arena, "%s/kernel%s", work, dot ? dot : ""),
		.output = output,
		.arch = descriptor->compile_arch ? descriptor->compile_arch : "",
		.option = options_of_backend(run->arena, run->manifest),
	};
	*ran = false;
	const char *const *argv = command_line(ctx, run->arena, command, &p);
	if (!argv || heddle_file_write(ctx, p.source, run->source, strlen(run->source)) != 0)
		return -1;
	if (!argv[0] || !heddle_process_find(run->arena, argv[0])) {
		run->verdict = HEDDLE_MISSING;
		run->message = heddle_arena_printf(run->arena, "%s, a command of the descriptor %s, is not there",
						   argv[0] ? argv[0] : "nothing", descriptor->name);
		return 0;
	}
	heddle_process process = { .argv = argv, .timeout = run->timeout > 0 ? run->timeout : 60 };
	int status = heddle_process_run(ctx, &process);
	if (status == 0 && process.status != 0)
		blame(run, process.timed_out ? "timeout" : process.signal ? "crash" : kind, &process);
	*ran = status == 0 && process.status == 0;
	if (status == 0)
		heddle_compile_summarise(run, argv[0], p.arch);
	heddle_process_free(&process);
	return status;
}

static const heddle_descriptor *descriptor_of(heddle_ctx *ctx, const heddle_run *run)
{
	return run->manifest->arch ? heddle_descriptor_find(ctx, run->manifest->arch) : NULL;
}

static void none(heddle_run *run, const char *key)
{
	run->verdict = HEDDLE_MISSING;
	run->message = heddle_arena_printf(run->arena, "the descriptor %s names no command of its own: the key `%s` adds one",
					   run->manifest->arch ? run->manifest->arch : "(none)", key);
}

int heddle_command_compile(heddle_ctx *ctx, heddle_run *run)
{
	char work[512];
	bool ran;
	const heddle_descriptor *descriptor = descriptor_of(ctx, run);
	heddle_run_begin(run);
	if (!descriptor || descriptor->compiler.n == 0) {
		none(run, "compiler");
		return 0;
	}
	if (heddle_dir_temporary(ctx, work) != 0)
		return -1;
	int status = command_in(ctx, run, descriptor, &descriptor->compiler, work,
				heddle_arena_printf(run->arena, "%s/kernel.out", work), "compile", &ran);
	heddle_dir_remove(work);
	return status;
}

/* ---- the runner ------------------------------------------------------------------------------------------------------------ */

static const char *array_path(const heddle_run *run, int i, const char *work)
{
	return heddle_arena_printf(run->arena, "%s/%s.npy", work, run->manifest->argument[i].name);
}

/* The manifest with the sizes of this run, and every array. */
static int write_run(heddle_ctx *ctx, heddle_run *run, const char *work)
{
	heddle_manifest manifest = *run->manifest;
	heddle_text json = { 0 };
	manifest.size = HEDDLE_NEW_ARRAY(run->arena, heddle_manifest_size, manifest.n_size + 1);
	for (int i = 0; i < manifest.n_size; i++) {
		manifest.size[i] = run->manifest->size[i];
		manifest.size[i].min = manifest.size[i].max = run->size[i];
	}
	heddle_manifest_print(&manifest, &json);
	int status = heddle_file_write(ctx, heddle_arena_printf(run->arena, "%s/manifest.json", work), heddle_text_str(&json),
				       json.length);
	heddle_text_free(&json);
	for (int i = 0; i < manifest.n_argument && status == 0; i++)
		if (run->argument[i] && heddle_npy_write(ctx, array_path(run, i, work), run->argument[i]) < 0)
			status = -1;
	return status;
}

static bool same_shape(const heddle_array *a, const heddle_array *b)
{
	bool same = a->rank == b->rank;
	for (int d = 0; d < a->rank && same; d++)
		same = a->shape[d] == b->shape[d];
	return same;
}

/* The results from their files into the run's arrays, which may have strides. */
static int read_results(heddle_ctx *ctx, heddle_run *run, const char *work)
{
	for (int i = 0; i < run->manifest->n_argument; i++) {
		const heddle_argument *a = &run->manifest->argument[i];
		heddle_array *to = run->argument[i];
		if (!to || (a->role != HEDDLE_ARGUMENT_OUTPUT && a->role != HEDDLE_ARGUMENT_INOUT))
			continue;
		heddle_array *from = heddle_npy_read(ctx, array_path(run, i, work), (int)to->type);
		if (!from)
			return -1;
		size_t element = (size_t)heddle_type_size(to->type);
		bool same = same_shape(from, to);
		for (int64_t n = 0; same && n < heddle_array_count(to); n++)
			memcpy(to->data + (size_t)heddle_array_offset(to, n) * element,
			       from->data + (size_t)heddle_array_offset(from, n) * element, element);
		heddle_array_free(from);
		if (!same)
			return heddle_error(ctx, 802, NULL, "the runner left %s in another shape", a->name);
	}
	return 0;
}

int heddle_command_run(heddle_ctx *ctx, heddle_run *run)
{
	char work[512];
	bool ran = false;
	const heddle_descriptor *descriptor = descriptor_of(ctx, run);
	heddle_run_begin(run);
	if (!descriptor || descriptor->runner.n == 0) {
		none(run, "runner");
		return 0;
	}
	if (run->misalign) {
		run->verdict = HEDDLE_UNSUPPORTED;
		run->message = "a runner command places its arrays itself";
		return 0;
	}
	if (heddle_dir_temporary(ctx, work) != 0)
		return -1;
	int status = write_run(ctx, run, work);
	if (status == 0)
		status = command_in(ctx, run, descriptor, &descriptor->runner, work, work, "crash", &ran);
	if (status == 0 && ran)
		status = read_results(ctx, run, work);
	heddle_dir_remove(work);
	return status;
}
