/* Golden sources: tests/golden/NAME.program printed for some targets is, byte for byte, what stands beside it.
 *
 * After a change that is meant:  HEDDLE_UPDATE_GOLDEN=1 build/tests/test_compile_golden   rewrites them; review the
 * difference like code.  The texts are also given to the compilers that are here.
 * SPDX-License-Identifier: MIT
 */
#include "backends/dialect.h"
#include "base/process.h"
#include "compile/manifest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define FOLDER HEDDLE_SOURCE_DIR "/tests/golden"

static const struct {
	const char *name, *target, *base;
	bool kept; /* its text is compared; the others are for the compilers */
} cases[] = {
	{"product", "cuda:h200", "product__cuda_h200", true},
	{"product", "hip:mi300x", "product__hip_mi300x", true},
	{"product", "opencl:cpu", "product__opencl_cpu", true},
	{"kinds", "cuda:h200", "kinds__cuda_h200", true},
	{"kinds", "hip:mi300x", "kinds__hip_mi300x", false},
	{"vectors", "opencl:cpu", "vectors__opencl_cpu", true},
	{"functions", "cuda:h200", "functions__cuda_h200", false},
	{"functions", "opencl:cpu", "functions__opencl_cpu", false},
	{"functions64", "hip:mi300x", "functions64__hip_mi300x", false},
	{"functions64", "opencl:cpu", "functions64__opencl_cpu", false},
};

typedef struct printed {
	heddle_text source, host, header, manifest;
	const char *source_file, *host_file; /* in the context's arena */
} printed;

static void print_case(heddle_ctx *ctx, size_t k, printed *p)
{
	heddle_arena *arena = heddle_ctx_arena(ctx);
	heddle_target target;
	char *text = heddle_file_read(ctx, heddle_arena_printf(arena, FOLDER "/%s.program", cases[k].name), NULL);
	heddle_program *program = text ? heddle_program_parse(ctx, cases[k].name, text) : NULL;
	heddle_emit_options options = {cases[k].base, cases[k].name, "def by_hand() # the text of a definition\n{\n}\n", "hand.tc"};
	*p = (printed){0};
	if (!program || heddle_program_validate(ctx, program) < 0 || heddle_target_parse(ctx, cases[k].target, &target) < 0 ||
	    heddle_source_print(ctx, &target, HEDDLE_ONE_VARIANT(program), &options, &p->source) < 0 ||
	    heddle_host_print(ctx, &target, HEDDLE_ONE_VARIANT(program), &options, &p->host) < 0 ||
	    heddle_header_print(ctx, HEDDLE_ONE_VARIANT(program), &options, &p->header) < 0)
		fail_msg("%s: %s", cases[k].base, heddle_ctx_messages(ctx));
	heddle_manifest *manifest = heddle_manifest_make(ctx, &target, HEDDLE_ONE_VARIANT(program), &options);
	assert_non_null(manifest);
	heddle_manifest_print(manifest, &p->manifest);
	heddle_manifest_free(manifest);
	p->source_file = heddle_source_file(arena, &target, cases[k].base);
	p->host_file = heddle_host_file(arena, &target, cases[k].base);
	heddle_program_free(program);
	free(text);
}

static void free_printed(printed *p)
{
	heddle_text_free(&p->source);
	heddle_text_free(&p->host);
	heddle_text_free(&p->header);
	heddle_text_free(&p->manifest);
}

static void compare(heddle_ctx *ctx, const char *file, const heddle_text *got)
{
	const char *path = heddle_arena_printf(heddle_ctx_arena(ctx), FOLDER "/%s", file);
	if (getenv("HEDDLE_UPDATE_GOLDEN")) {
		assert_int_equal(heddle_file_write(ctx, path, heddle_text_str(got), got->length), 0);
		return;
	}
	char *wanted = heddle_file_read(ctx, path, NULL);
	if (!wanted)
		fail_msg("%s", heddle_ctx_messages(ctx));
	const char *a = wanted, *b = heddle_text_str(got);
	for (int line = 1; strcmp(wanted, heddle_text_str(got)) != 0; line++) {
		size_t n = strcspn(a, "\n"), m = strcspn(b, "\n");
		if (n != m || strncmp(a, b, n) != 0)
			fail_msg("%s:%d: should be `%.*s`, is `%.*s`; see the head of tests/unit/compile_golden.c", file, line, (int)n, a,
				 (int)m, b);
		a += n + (a[n] == '\n');
		b += m + (b[m] == '\n');
	}
	free(wanted);
}

static void golden(void **state)
{
	(void)state;
	heddle_ctx *ctx = heddle_ctx_new();
	heddle_arena *arena = heddle_ctx_arena(ctx);
	for (size_t k = 0; k < HEDDLE_COUNT(cases); k++) {
		if (!cases[k].kept)
			continue;
		printed p, again;
		print_case(ctx, k, &p);
		print_case(ctx, k, &again); /* the same input gives the same bytes */
		assert_string_equal(heddle_text_str(&p.source), heddle_text_str(&again.source));
		free_printed(&again);
		compare(ctx, p.source_file, &p.source);
		if (p.host_file)
			compare(ctx, p.host_file, &p.host);
		compare(ctx, heddle_arena_printf(arena, "%s.h", cases[k].name), &p.header);
		compare(ctx, heddle_arena_printf(arena, "%s.json", cases[k].base), &p.manifest);
		free_printed(&p);
	}
	heddle_ctx_free(ctx);
}

/* ---- compilers ---------------------------------------------------------------------------------------------------------------- */

/* Run a command line in `folder`, where {} stands for `file`; it must succeed without a word about warnings. */
static void compile(heddle_ctx *ctx, const char *folder, const char *command, const char *file)
{
	heddle_text line = {0};
	for (const char *s = command; *s; s++)
		if (strncmp(s, "{}", 2) == 0) {
			heddle_text_add(&line, file);
			s++;
		} else {
			heddle_text_addn(&line, s, 1);
		}
	const char *const argv[] = {"sh", "-c", heddle_text_str(&line), NULL};
	heddle_process process = {.argv = argv, .folder = folder, .timeout = 200};
	assert_int_equal(heddle_process_run(ctx, &process), 0);
	if (process.status != 0 || strstr(heddle_text_str(&process.error), "warning"))
		fail_msg("%s\n%s%s", heddle_text_str(&line), heddle_text_str(&process.output), heddle_text_str(&process.error));
	heddle_process_free(&process);
	heddle_text_free(&line);
}

/* Compile everything that `suffix` ends with, where `tool` is here. */
static void compile_all(const char *tool, const char *suffix, const char *command)
{
	heddle_ctx *ctx = heddle_ctx_new();
	heddle_arena *arena = heddle_ctx_arena(ctx);
	char folder[512];
	if (!heddle_process_find(arena, tool)) {
		heddle_ctx_free(ctx);
		skip();
	}
	assert_int_equal(heddle_dir_temporary(ctx, folder), 0);
	for (size_t k = 0; k < HEDDLE_COUNT(cases); k++) {
		printed p;
		print_case(ctx, k, &p);
		const struct {
			const char *file;
			const heddle_text *text;
		} files[] = {{p.source_file, &p.source}, {p.host_file, &p.host}, {heddle_arena_printf(arena, "%s.h", cases[k].name), &p.header}};
		for (size_t i = 0; i < HEDDLE_COUNT(files); i++) {
			const char *dot = files[i].file ? strrchr(files[i].file, '.') : NULL;
			if (!dot || strcmp(dot, suffix) != 0)
				continue;
			assert_int_equal(heddle_file_write(ctx, heddle_arena_printf(arena, "%s/%s", folder, files[i].file), files[i].text->data,
							   files[i].text->length), 0);
			compile(ctx, folder, command, files[i].file);
		}
		free_printed(&p);
	}
	heddle_dir_remove(folder);
	heddle_ctx_free(ctx);
}

static void headers(void **state)
{
	(void)state;
	compile_all("cc", ".h", "cc -std=c99 -Wall -Wextra -Werror -x c -fsyntax-only {} && c++ -Wall -Wextra -Werror -x c++ -fsyntax-only {}");
}

static void opencl_entry(void **state)
{
	(void)state;
	compile_all("cc", ".c", "printf '#include <CL/cl.h>' | cc -x c -fsyntax-only - 2>/dev/null || exit 0; "
				"cc -std=c11 -Wall -Wextra -Wno-overlength-strings -Werror -fsyntax-only {}");
}

static void opencl_c(void **state)
{
	(void)state;
	compile_all("clang-15", ".cl", "clang-15 -cl-std=CL1.2 -target spir64-unknown-unknown -Wall -Werror -Xclang -finclude-default-header "
				       "-fsyntax-only {}");
}

static void cuda(void **state)
{
	(void)state;
	compile_all("nvcc", ".cu", "nvcc -std=c++17 -arch=sm_90a -c {} -o out.o");
}

static void hip(void **state)
{
	(void)state;
	compile_all("hipcc", ".hip", "hipcc -std=c++17 -Wall --offload-arch=gfx90a -c {} -o out.o");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(golden), cmocka_unit_test(headers), cmocka_unit_test(opencl_entry),
		cmocka_unit_test(opencl_c), cmocka_unit_test(cuda),    cmocka_unit_test(hip),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
