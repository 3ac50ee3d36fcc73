/* The level `compile`.
 * SPDX-License-Identifier: MIT
 */
#include "harness/compile_level.h"

#include "base/process.h"
#include "harness/device.h"

#include <stdlib.h>
#include <string.h>

static void start(heddle_run *run)
{
	run->registers = run->spill_bytes = run->stack_bytes = run->shared_bytes = -1;
	run->n_finding = 0;
	run->finding = NULL;
	run->seconds = NULL;
	run->verdict = HEDDLE_PASS;
	run->message = "";
}

static void keep_greatest(int *kept, int value)
{
	if (value > *kept)
		*kept = value;
}

static void finding(heddle_run *run, const char *kind, const char *text)
{
	heddle_run_finding(run, kind, run->source_path, 0, text);
	run->verdict = HEDDLE_FAIL;
}

/* A kernel whose registers do not suffice is no good kernel, whatever it computes. */
static void judge(heddle_run *run, const char *arch, const heddle_kernel_resources *k)
{
	keep_greatest(&run->registers, k->registers);
	keep_greatest(&run->spill_bytes, k->spill_bytes);
	keep_greatest(&run->stack_bytes, k->stack_bytes);
	keep_greatest(&run->shared_bytes, k->shared_bytes);
	if (k->spill_bytes > 0)
		finding(run, "spill",
			heddle_arena_printf(run->arena, "%s on %s spills %d bytes of registers", k->kernel, arch, k->spill_bytes));
	if (k->stack_bytes > k->library_stack)
		finding(run, "spill",
			heddle_arena_printf(run->arena, "%s on %s needs a stack frame of %d bytes", k->kernel, arch,
					    k->stack_bytes));
}

static int compile_for(heddle_ctx *ctx, const heddle_compiler *compiler, heddle_run *run, const char *arch)
{
	heddle_compiled out = { 0 };
	const heddle_source_build build = {
		.source = run->source,
		.name = run->source_path ? run->source_path : "kernel",
		.arch = arch,
		.warp = run->manifest->warp,
		.option = heddle_manifest_options(run->arena, run->manifest, compiler->options),
		.kernel = heddle_manifest_kernels(run->arena, run->manifest),
	};
	int status = compiler->compile(compiler, ctx, run->arena, &build, &out);
	if (status == 0 && !out.fine) {
		heddle_faults faults = { 0 };
		heddle_log_errors(run->arena, heddle_text_str(&out.log), run->source, run->source_path, &faults);
		for (int i = 0; i < faults.n; i++)
			heddle_run_finding(run, faults.fault[i].kind, faults.fault[i].file, faults.fault[i].line,
					   faults.fault[i].text);
		run->verdict = HEDDLE_FAIL;
	}
	for (int i = 0; status == 0 && i < out.n_kernel; i++)
		judge(run, *arch ? arch : compiler->name, &out.kernel[i]);
	heddle_compiled_free(&out);
	return status;
}

/* The next name of a list with commas; NULL at its end. */
static const char *next_name(heddle_arena *arena, const char **list)
{
	*list += strspn(*list, ", ");
	size_t n = strcspn(*list, ", ");
	const char *name = n ? heddle_arena_strndup(arena, *list, n) : NULL;
	*list += n;
	return name;
}

static void summarise(heddle_run *run, const char *version, const char *arches)
{
	heddle_text text = { 0 };
	heddle_text_printf(&text, "%s%s%s", version, *arches ? " for " : "", arches);
	if (run->registers >= 0)
		heddle_text_printf(&text, ": %d registers, %d bytes of spills, %d bytes of stack, %d bytes of shared memory",
				   run->registers, run->spill_bytes, run->stack_bytes, run->shared_bytes);
	if (run->verdict == HEDDLE_FAIL && run->n_finding > 0) {
		heddle_text_clear(&text);
		heddle_text_printf(&text, "%s: %.*s", version, (int)strcspn(run->finding[0].text, "\n"), run->finding[0].text);
	}
	run->message = heddle_arena_strdup(run->arena, heddle_text_str(&text));
	heddle_text_free(&text);
}

int heddle_compile_run(heddle_ctx *ctx, const heddle_compiler *compiler, heddle_run *run)
{
	const char *version = NULL, *why = NULL;
	start(run);
	if (compiler->find(compiler, ctx, run->arena, &version, &why) != 0) {
		run->verdict = HEDDLE_MISSING;
		run->message = why;
		return 0;
	}
	const char *list = run->device ? run->device : getenv("HEDDLE_COMPILE_ARCH"), *arch;
	if (!compiler->sample_arch)
		list = "";
	else if (!list || !*list)
		list = heddle_manifest_arch(ctx, run->manifest);
	const char *wanted = list;
	heddle_text taken = { 0 };
	int n = 0, status = 0;
	if (!compiler->sample_arch) {
		status = compile_for(ctx, compiler, run, "");
		n++;
	}
	while (status == 0 && (arch = next_name(run->arena, &list))) {
		if (!compiler->takes(compiler, arch))
			continue;
		heddle_text_printf(&taken, "%s%s", n++ ? ", " : "", arch);
		status = compile_for(ctx, compiler, run, arch);
	}
	if (n == 0) {
		run->verdict = HEDDLE_UNSUPPORTED;
		run->message = heddle_arena_printf(run->arena, "%s does not know %s", version,
						   *wanted ? wanted : "the manifest's arch: its descriptor names no compile_arch");
	} else if (status == 0) {
		summarise(run, version, heddle_text_str(&taken));
	}
	heddle_text_free(&taken);
	return status;
}

int heddle_compile_available(heddle_ctx *ctx, const heddle_compiler *compiler, const char **why)
{
	const char *version;
	if (compiler->find(compiler, ctx, heddle_ctx_arena(ctx), &version, why) != 0)
		return 0;
	*why = version;
	return 1;
}

/* ---- a descriptor's command -------------------------------------------------------------------------------------------- */

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
			heddle_error(ctx, 803, NULL, "unknown placeholder in the compiler command: %s", word);
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
			return heddle_manifest_options(arena, manifest, (*c)->options);
	return HEDDLE_NEW(arena, const char *);
}

static int run_command_in(heddle_ctx *ctx, heddle_run *run, const heddle_descriptor *descriptor, const char *work)
{
	const char *dot = run->manifest->source ? strrchr(run->manifest->source, '.') : NULL;
	const placeholders p = {
		.source = heddle_arena_printf(run->arena, "%s/kernel%s", work, dot ? dot : ""),
		.output = heddle_arena_printf(run->arena, "%s/kernel.out", work),
		.arch = descriptor->compile_arch ? descriptor->compile_arch : "",
		.option = options_of_backend(run->arena, run->manifest),
	};
	const char *const *argv = command_line(ctx, run->arena, &descriptor->compiler, &p);
	if (!argv || heddle_file_write(ctx, p.source, run->source, strlen(run->source)) != 0)
		return -1;
	if (!argv[0] || !heddle_process_find(run->arena, argv[0])) {
		run->verdict = HEDDLE_MISSING;
		run->message = heddle_arena_printf(run->arena, "%s, named as compiler by the descriptor %s, is not there",
						   argv[0] ? argv[0] : "a command", descriptor->name);
		return 0;
	}
	heddle_process process = { .argv = argv, .timeout = run->timeout > 0 ? run->timeout : 60 };
	int status = heddle_process_run(ctx, &process);
	if (status == 0 && process.status != 0) {
		heddle_text log = { 0 };
		heddle_faults faults = { 0 };
		heddle_text_printf(&log, "%s%s", heddle_text_str(&process.error), heddle_text_str(&process.output));
		if (!log.length)
			heddle_process_describe(&process, &log);
		heddle_log_errors(run->arena, heddle_text_str(&log), run->source, run->source_path, &faults);
		for (int i = 0; i < faults.n; i++)
			heddle_run_finding(run, faults.fault[i].kind, faults.fault[i].file, faults.fault[i].line,
					   faults.fault[i].text);
		run->verdict = HEDDLE_FAIL;
		heddle_text_free(&log);
	}
	if (status == 0)
		summarise(run, argv[0], p.arch);
	heddle_process_free(&process);
	return status;
}

int heddle_compile_run_command(heddle_ctx *ctx, heddle_run *run)
{
	char work[512];
	const heddle_descriptor *descriptor = run->manifest->arch ? heddle_descriptor_find(ctx, run->manifest->arch) : NULL;
	start(run);
	if (!descriptor || descriptor->compiler.n == 0) {
		run->verdict = HEDDLE_MISSING;
		run->message = heddle_arena_printf(run->arena, "the descriptor %s names no compiler command: add the key `compiler`",
						   run->manifest->arch ? run->manifest->arch : "(none)");
		return 0;
	}
	if (heddle_dir_temporary(ctx, work) != 0)
		return -1;
	int status = run_command_in(ctx, run, descriptor, work);
	heddle_dir_remove(work);
	return status;
}
