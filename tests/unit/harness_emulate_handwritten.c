/* The hand-written kernels of tests/handwritten: the right ones pass, each wrong one is reported at a line that its source
 * marks "found here: KINDS".  CUDA and HIP text is emulated; OpenCL text runs under oclgrind, and on PoCL where it is right.
 * SPDX-License-Identifier: MIT
 */
#include "harness/cases.h"
#include "harness/compare.h"
#include "harness/emulate.h"
#include "harness/isolate.h"
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define FOLDER HEDDLE_SOURCE_DIR "/tests/handwritten"

static const char *path_of(heddle_arena *arena, const char *name)
{
	return heddle_arena_printf(arena, "%s/%s", FOLDER, name);
}

/* Is (line, kind) marked in the source? */
static bool is_marked(const char *source, int line, const char *kind)
{
	for (int i = 1; i < line && source; i++) {
		source = strchr(source, '\n');
		source = source ? source + 1 : NULL;
	}
	const char *end = source ? strchr(source, '\n') : NULL, *mark = source ? strstr(source, "found here: ") : NULL;
	const char *word = mark && end && mark < end ? strstr(mark, kind) : NULL;
	return word && word < end;
}

/* Every array equal to what the definition says, within its bounds? */
static void check_numbers(heddle_ctx *ctx, heddle_arena *arena, const char *name, const heddle_definition *definition,
			  const int64_t *size, heddle_array **array, heddle_array *result)
{
	heddle_reference *reference = heddle_reference_evaluate(ctx, definition, size, array, NULL);
	if (!reference)
		fail_msg("%s: %s", name, heddle_ctx_messages(ctx));
	heddle_comparison c;
	heddle_compare(arena, &reference->output[0], result, &c);
	if (!c.pass)
		fail_msg("%s: %s", name, c.message);
	heddle_reference_free(reference);
}

/* A wrong kernel: is there, whatever else there is, a finding at a marked place? */
static bool is_found(const char *source, const heddle_run *run)
{
	int n = 0;
	for (int i = 0; i < run->n_finding; i++)
		n += run->finding[i].file && !strcmp(run->finding[i].file, run->source_path) &&
		     is_marked(source, run->finding[i].line, run->finding[i].kind);
	for (int i = 0; i < run->n_finding && !n; i++)
		print_error("%s:%d: %s: %s\n", run->finding[i].file, run->finding[i].line, run->finding[i].kind,
			    run->finding[i].text);
	return run->verdict == HEDDLE_FAIL && n > 0;
}

/* Run one kernel with one runner at the definition's given sizes.  False: the runner is not here. */
static bool run_kernel(const char *name, const char *runner_name)
{
	heddle_ctx *ctx = heddle_ctx_new();
	heddle_arena *arena = heddle_arena_new();
	const heddle_runner *runner = NULL;
	char *text = heddle_file_read(ctx, path_of(arena, name), NULL), *definition_text;
	heddle_manifest *m = heddle_manifest_parse(ctx, name, text);
	if (!m)
		fail_msg("%s", heddle_ctx_messages(ctx));
	char *source = heddle_file_read(ctx, path_of(arena, m->source), NULL);
	assert_non_null(source);
	bool wrong = strstr(source, "found here: ") != NULL, found = false;
	for (int i = 0; heddle_runners[i]; i++)
		if (!strcmp(heddle_runners[i]->name, runner_name) && !strcmp(heddle_runners[i]->backend, m->backend))
			runner = heddle_runners[i];
	assert_non_null(runner);
	const char *why = NULL;
	bool here = heddle_runner_available(ctx, arena, runner, &why) == 1;
	if (!here)
		print_message("%s: skipped at %s: %s\n", name, runner->level, why);
	definition_text = heddle_file_read(ctx, path_of(arena, "softmax.tc"), NULL);
	heddle_module *module = heddle_module_parse(ctx, "softmax.tc", definition_text, NULL);
	if (!module)
		fail_msg("%s", heddle_ctx_messages(ctx));
	heddle_definition *definition = heddle_module_find(ctx, module, NULL);
	heddle_case_list list;
	heddle_case_options options = {.given_only = true};
	assert_int_equal(heddle_cases_choose(ctx, arena, module, definition, &options, &list), 0);
	assert_true(list.n >= 2);
	for (int i = 0; i < list.n && here; i++) {
		heddle_array *array[8] = {NULL};
		assert_int_equal(heddle_case_arrays(ctx, module, definition, list.item[i].size, HEDDLE_FILL_RANDOM, 7, array), 0);
		heddle_run run = {.arena = arena, .manifest = m, .source = source, .source_path = m->source,
				  .size = list.item[i].size, .argument = array, .timeout = 60, .seed = 11};
		if (heddle_run_isolated(ctx, runner, &run) < 0)
			fail_msg("%s: %s", name, heddle_ctx_messages(ctx));
		if (wrong) {
			found |= is_found(source, &run);
		} else {
			if (run.verdict != HEDDLE_PASS || run.n_finding)
				fail_msg("%s: %s", name, run.message);
			if (strcmp(runner->level, "compile"))
				check_numbers(ctx, arena, name, definition, list.item[i].size, array, array[1]);
		}
		heddle_case_arrays_free(definition, array);
	}
	if (here && found != wrong)
		fail_msg("%s: no finding at a marked line, whatever the size", name);
	free(text);
	free(source);
	free(definition_text);
	heddle_module_free(module);
	heddle_manifest_free(m);
	heddle_arena_free(arena);
	heddle_ctx_free(ctx);
	return here;
}

/* All manifests whose names begin with `prefix`. */
static void run_all(const char *prefix, const char *runner, int expected)
{
	DIR *folder = opendir(FOLDER);
	assert_non_null(folder);
	int n = 0;
	for (struct dirent *entry; (entry = readdir(folder));) {
		const char *suffix = strrchr(entry->d_name, '.');
		if (strncmp(entry->d_name, prefix, strlen(prefix)) || !suffix || strcmp(suffix, ".json"))
			continue;
		n++;
		if (!run_kernel(entry->d_name, runner)) {
			closedir(folder);
			skip();
		}
	}
	closedir(folder);
	assert_int_equal(n, expected);
}

static void test_cuda(void **state)
{
	(void)state;
	run_all("softmax_cuda", "emulator", 4);
}

static void test_hip(void **state)
{
	(void)state;
	run_all("softmax_hip", "emulator", 2);
}

static void test_opencl_checked(void **state)
{
	(void)state;
	run_all("softmax_opencl", "oclgrind", 4);
}

static void test_opencl_pocl(void **state)
{
	(void)state;
	run_all("softmax_opencl.", "pocl", 1);
}

/* The right ones are also what the vendors' compilers take. */
static void test_compilers(void **state)
{
	(void)state;
	run_all("softmax_cuda.", "nvrtc", 1);
	run_all("softmax_hip.", "clang-amd", 1);
	run_all("softmax_opencl.", "spirv", 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cuda),
		cmocka_unit_test(test_hip),
		cmocka_unit_test(test_opencl_checked),
		cmocka_unit_test(test_opencl_pocl),
		cmocka_unit_test(test_compilers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
