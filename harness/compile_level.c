/* The level `compile`.
 * SPDX-License-Identifier: MIT
 */
#include "harness/compile_level.h"

#include "harness/device.h"
#include "harness/emulate.h"

#include <stdlib.h>
#include <string.h>

void heddle_run_begin(heddle_run *run)
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

static void spill(heddle_run *run, int bytes, const char *text)
{
	heddle_run_finding(run, "spill", run->source_path, 0, text);
	if (run->max_spill >= 0 && bytes > run->max_spill)
		run->verdict = HEDDLE_FAIL;
}

void heddle_compile_judge(heddle_run *run, const char *arch, const heddle_kernel_resources *k)
{
	keep_greatest(&run->registers, k->registers);
	keep_greatest(&run->spill_bytes, k->spill_bytes);
	keep_greatest(&run->stack_bytes, k->stack_bytes);
	keep_greatest(&run->shared_bytes, k->shared_bytes);
	if (k->spill_bytes > 0)
		spill(run, k->spill_bytes,
		      heddle_arena_printf(run->arena, "%s on %s spills %d bytes of registers", k->kernel, arch, k->spill_bytes));
	if (k->stack_bytes > k->library_stack)
		spill(run, k->stack_bytes,
		      heddle_arena_printf(run->arena, "%s on %s needs a stack frame of %d bytes", k->kernel, arch, k->stack_bytes));
}

/* What the machine lacks rather than what is wrong with the text: a header; where our own headers stand in for the vendor's, a
 * name too.  NULL: neither. */
static const char *lacking(heddle_arena *arena, const heddle_compiler *compiler, bool foreign, const char *message)
{
	static const char *const header[] = { "file not found", "cannot open source file", "could not open source file",
					      "No such file or directory" };
	static const char *const name[] = { "undeclared identifier", "unknown type name", "no template named",
					    "no member named" };
	const char *begin = strpbrk(message, "'\"");
	const char *end = begin ? strpbrk(begin + 1, "'\"") : NULL;
	if (!end)
		return NULL;
	const char *what = heddle_arena_strndup(arena, begin + 1, (size_t)(end - begin - 1));
	for (size_t i = 0; i < HEDDLE_COUNT(header); i++)
		if (strstr(message, header[i]))
			return heddle_arena_printf(arena, "header %s", what);
	/* a name that is unknown in a text of ours is a mistake of ours, one that the language has not is the text's */
	for (size_t i = 0; foreign && compiler->own_headers && i < HEDDLE_COUNT(name); i++)
		if (strstr(message, name[i]) && heddle_emulate_is_language(what))
			return what;
	return NULL;
}

/* *known becomes false when the compiler is too old or too new for the arch: that is no word about the source. */
static int compile_for(heddle_ctx *ctx, const heddle_compiler *compiler, heddle_run *run, const char *arch, bool *known)
{
	heddle_compiled out = { 0 };
	const heddle_source_build build = {
		.source = compiler->device_only ? heddle_emulate_device_text(run->arena, run->source) : run->source,
		.foreign = run->manifest->path != NULL,
		.name = run->source_path ? run->source_path : "kernel",
		.arch = arch,
		.warp = run->manifest->warp,
		.option = heddle_manifest_options(run->arena, run->manifest, compiler->options, run->source),
		.kernel = heddle_manifest_kernels(run->arena, run->manifest),
	};
	int status = compiler->compile(compiler, ctx, run->arena, &build, &out);
	*known = status != 0 || out.fine || !compiler->unknown_arch || !strstr(heddle_text_str(&out.log), compiler->unknown_arch);
	if (status == 0 && !out.fine && *known) {
		heddle_faults faults = { 0 };
		heddle_log_errors(run->arena, heddle_text_str(&out.log), run->source, run->source_path, &faults);
		const heddle_fault *f = faults.n ? &faults.fault[0] : NULL;
		const char *lack = f ? lacking(run->arena, compiler, build.foreign, f->text) : NULL;
		if (lack) {
			run->verdict = HEDDLE_UNSUPPORTED;
			run->message = heddle_arena_printf(run->arena, "%s at %s:%d", lack, f->file ? f->file : "?", f->line);
			heddle_compiled_free(&out);
			return 0;
		}
		for (int i = 0; i < faults.n; i++)
			heddle_run_finding(run, faults.fault[i].kind, faults.fault[i].file, faults.fault[i].line,
					   faults.fault[i].text);
		run->verdict = HEDDLE_FAIL;
	}
	for (int i = 0; status == 0 && i < out.n_kernel; i++)
		heddle_compile_judge(run, *arch ? arch : compiler->name, &out.kernel[i]);
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

void heddle_compile_summarise(heddle_run *run, const char *version, const char *arches)
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
	heddle_run_begin(run);
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
		bool known;
		status = compile_for(ctx, compiler, run, "", &known);
		n++;
	}
	while (status == 0 && (arch = next_name(run->arena, &list))) {
		if (!compiler->takes(compiler, arch))
			continue;
		bool known;
		status = compile_for(ctx, compiler, run, arch, &known);
		if (known)
			heddle_text_printf(&taken, "%s%s", n++ ? ", " : "", arch);
	}
	if (n == 0) {
		run->verdict = HEDDLE_UNSUPPORTED;
		run->message = heddle_arena_printf(run->arena, "%s does not know %s", version,
						   *wanted ? wanted : "the manifest's arch: its descriptor names no compile_arch");
	} else if (status == 0 && run->verdict != HEDDLE_UNSUPPORTED) {
		heddle_compile_summarise(run, version, heddle_text_str(&taken));
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
