/* Compiling OpenCL C to SPIR-V and validating that, without any driver.
 * SPDX-License-Identifier: MIT
 */
#include "backends/driver.h"
#include "base/process.h"

#include <string.h>

static const char *const versions[] = { "15", "16", "17", "18", "19", "14" };

/* The version whose clang and translator are both there: they must agree on the bitcode. */
static const char *version_here(heddle_arena *arena)
{
	for (size_t i = 0; i < HEDDLE_COUNT(versions); i++)
		if (heddle_process_find(arena, heddle_arena_printf(arena, "clang-%s", versions[i])) &&
		    heddle_process_find(arena, heddle_arena_printf(arena, "llvm-spirv-%s", versions[i])))
			return versions[i];
	return NULL;
}

static int find(const heddle_compiler *compiler, heddle_ctx *ctx, heddle_arena *arena, const char **version,
		const char **why)
{
	const char *v = version_here(arena);
	if (!v || !heddle_process_find(arena, "spirv-val")) {
		*why = heddle_arena_printf(arena, "%s not found: %s", v ? "spirv-val" : "clang with llvm-spirv of its version",
					   compiler->install);
		return -1;
	}
	const char *val = heddle_process_first_line(ctx, arena, (const char *const[]){ "spirv-val", "--version", NULL });
	/* "SPIRV-Tools v2023.1 unknown hash, date" */
	const char *space = val ? strchr(val, ' ') : NULL;
	int n = space ? (int)(space + 1 + strcspn(space + 1, " ") - val) : 0;
	*version = heddle_arena_printf(arena, "clang-%s, llvm-spirv-%s, %.*s", v, v, n ? n : 9, n ? val : "spirv-val");
	return 0;
}

static int takes(const heddle_compiler *compiler, const char *arch)
{
	(void)compiler;
	return arch[0] == '\0';
}

/* Run one tool; true when it succeeded.  Its messages go to the log, an anonymous failure gets a line of its own. */
static int step(heddle_ctx *ctx, const char *const *argv, heddle_compiled *out)
{
	heddle_process process = { .argv = argv, .timeout = 120 };
	int status = heddle_process_run(ctx, &process);
	if (status == 0) {
		out->fine = process.status == 0;
		bool silent = process.error.length == 0 && process.output.length == 0;
		/* spirv-val prefixes its messages, the translator does not. */
		if (!out->fine && (silent || !strstr(heddle_text_str(&process.error), "error")))
			heddle_text_printf(&out->log, "error: %s: ", argv[0]);
		if (!out->fine && silent)
			heddle_process_describe(&process, &out->log);
		heddle_text_add(&out->log, heddle_text_str(&process.error));
		heddle_text_add(&out->log, heddle_text_str(&process.output));
	}
	heddle_process_free(&process);
	return status;
}

/* One word per option, however the manifest groups them. */
static void add_words(heddle_arena *arena, const char *text, const char ***argv, int *n)
{
	while (*(text += strspn(text, " "))) {
		size_t length = strcspn(text, " ");
		HEDDLE_PUSH(arena, *argv, *n, heddle_arena_strndup(arena, text, length));
		text += length;
	}
}

/* Without optimisation, for the translator does not know all instructions that it brings in (freeze); without guessing at
 * misspelt names, which takes minutes over OpenCL's thousands of functions. */
static int compile_in(heddle_ctx *ctx, heddle_arena *arena, const heddle_source_build *build, const char *work,
		      heddle_compiled *out)
{
	const char *v = version_here(arena), **argv = NULL;
	bool has_standard = false, second = false;
	int n = 0;
	const char *source = heddle_arena_printf(arena, "%s/kernel.cl", work), *bitcode = heddle_arena_printf(arena, "%s/k.bc", work);
	const char *spirv = heddle_arena_printf(arena, "%s/k.spv", work);
	if (!v)
		return heddle_error(ctx, 802, NULL, "spirv: clang and llvm-spirv of one version are not there");
	if (heddle_file_write(ctx, source, build->source, strlen(build->source)) != 0)
		return -1;
	const char *const fixed[] = { heddle_arena_printf(arena, "clang-%s", v), "-target", "spir64-unknown-unknown", "-O0",
				      "-fno-spell-checking", "-x", "cl", "-Xclang", "-finclude-default-header", "-emit-llvm", "-c" };
	for (size_t i = 0; i < HEDDLE_COUNT(fixed); i++)
		HEDDLE_PUSH(arena, argv, n, fixed[i]);
	for (const char *const *o = build->option; o && *o; o++) {
		has_standard = has_standard || strstr(*o, "-cl-std=");
		second = second || strstr(*o, "-cl-std=CL2") || strstr(*o, "-cl-std=CL3");
		add_words(arena, *o, &argv, &n);
	}
	if (!has_standard)
		HEDDLE_PUSH(arena, argv, n, "-cl-std=CL1.2");
	/* clang hands wait_group_events a generic pointer also in OpenCL C 1.2, where SPIR-V has none */
	second = second || strstr(build->source, "wait_group_events");
	const char *const rest[] = { source, "-o", bitcode, NULL };
	for (size_t i = 0; i < HEDDLE_COUNT(rest); i++)
		HEDDLE_PUSH(arena, argv, n, rest[i]);
	int status = step(ctx, argv, out);
	if (status == 0 && out->fine)
		status = step(ctx,
			      (const char *const[]){ heddle_arena_printf(arena, "llvm-spirv-%s", v),
						     second ? "--spirv-max-version=1.2" : "--spirv-max-version=1.0", bitcode, "-o",
						     spirv, NULL },
			      out);
	if (status == 0 && out->fine)
		status = step(ctx,
			      (const char *const[]){ "spirv-val", "--target-env", second ? "opencl2.2" : "opencl1.2", spirv, NULL },
			      out);
	return status;
}

static int compile(const heddle_compiler *compiler, heddle_ctx *ctx, heddle_arena *arena,
		   const heddle_source_build *build, heddle_compiled *out)
{
	(void)compiler;
	char work[512];
	if (heddle_dir_temporary(ctx, work) != 0)
		return -1;
	int status = compile_in(ctx, arena, build, work, out);
	heddle_dir_remove(work);
	return status;
}

const heddle_compiler heddle_compiler_spirv = {
	.name = "spirv",
	.backend = "opencl",
	.options = "opencl",
	.install = "install it: `apt-get install -y clang-15 llvm-spirv-15 spirv-tools`",
	.find = find,
	.takes = takes,
	.compile = compile,
};
