/* What the cost model completes is a config like any other: printed, read back and compiled again it gives the same program.
 * SPDX-License-Identifier: MIT
 */
#include "compile/compile.h"

#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char *printed(const heddle_program *program)
{
	heddle_text out = {0};
	heddle_program_print(program, &out);
	char *text = heddle_xstrdup(heddle_text_str(&out));
	heddle_text_free(&out);
	return text;
}

static void again(heddle_ctx *ctx, const heddle_definition *d, const heddle_target *target)
{
	heddle_program *first = heddle_compile(ctx, d, target, NULL);
	if (!first)
		fail_msg("%s %s: %s", d->name, target->text, heddle_ctx_messages(ctx));
	heddle_compile_options options = {.config = first->config};
	heddle_program *second = heddle_compile(ctx, d, target, &options);
	if (!second)
		fail_msg("%s %s: %s\n%s", d->name, target->text, first->config, heddle_ctx_messages(ctx));
	char *a = printed(first), *b = printed(second);
	if (strcmp(a, b))
		fail_msg("%s %s: two programs\n%s\n%s", d->name, target->text, a, b);
	free(a);
	free(b);
	heddle_program_free(first);
	heddle_program_free(second);
}

static void layers(void **state)
{
	static const char *const targets[] = {"h200", "rx7900xtx", "gpu", "cpu"};
	(void)state;
	glob_t files;
	assert_int_equal(glob(HEDDLE_SOURCE_DIR "/tests/programs/*.tc", 0, NULL, &files), 0);
	for (size_t f = 0; f < files.gl_pathc; f++)
		for (size_t t = 0; t < HEDDLE_COUNT(targets); t++) {
			heddle_ctx *ctx = heddle_ctx_new();
			heddle_target target;
			char *text = heddle_file_read(ctx, files.gl_pathv[f], NULL);
			heddle_module *module = heddle_module_parse(ctx, files.gl_pathv[f], text, NULL);
			assert_non_null(module);
			heddle_diagnostics_clear(ctx);
			assert_int_equal(heddle_target_parse(ctx, targets[t], &target), 0);
			/* each target another part of the definitions */
			int step = (int)HEDDLE_COUNT(targets) * (getenv("HEDDLE_TEST_FULL") ? 1 : 4);
			for (int i = (int)t; i < module->n_definition; i += step)
				again(ctx, module->definition[i], &target);
			heddle_module_free(module);
			free(text);
			heddle_ctx_free(ctx);
		}
	globfree(&files);
}

/* A part that is given stays; what is impossible is an error, not a silent change. */
static void given(void **state)
{
	(void)state;
	heddle_ctx *ctx = heddle_ctx_new();
	heddle_module *module =
		heddle_module_parse(ctx, "test", "def f(float(N, D) I) -> (O) { m(n) max=! I(n, d)  O(n, d) = I(n, d) - m(n) }", NULL);
	heddle_target target;
	assert_int_equal(heddle_target_parse(ctx, "h200", &target), 0);
	heddle_compile_options options = {.config = "fuse=0,1; k1.S1: tile=d:64 thread=d:32 vector=d:2"};
	heddle_program *p = heddle_compile(ctx, module->definition[0], &target, &options);
	assert_non_null(p);
	assert_int_equal(p->n_launch, 2);
	assert_int_equal(p->launch[1]->threads, 32);
	assert_non_null(strstr(p->config, "k1.S1: tile=d:64 thread=d:32 vector=d:2"));
	heddle_program_free(p);
	/* statements keep their numbers where a part names one */
	heddle_module *product = heddle_module_parse(
		ctx, "test", "def f(float(1024, 1024) A, float(1024, 1024) B) -> (C) { C(i, j) +=! A(k, i) * B(k, j) }", NULL);
	heddle_target cpu;
	assert_int_equal(heddle_target_parse(ctx, "opencl:cpu", &cpu), 0);
	const heddle_compile_options part = {.config = "k0.S0: tile=j:64,i:6 vector=j:16"};
	p = heddle_compile(ctx, product->definition[0], &cpu, &part);
	assert_non_null(p);
	assert_int_equal(p->n_launch, 1);
	heddle_program_free(p);
	heddle_module_free(product);
	options.config = "fuse=0,0; k0.O.0: space=shared";
	assert_null(heddle_compile(ctx, module->definition[0], &target, &options));
	assert_int_equal(heddle_diagnostics(ctx)->code, 520);
	heddle_module_free(module);
	heddle_ctx_free(ctx);
}

/* A chip of threads that has a copy: what it can move is moved by it. */
static void copied(void **state)
{
	(void)state;
	static const struct {
		const char *granularity;
		bool taken;
	} cases[] = {{"4", true}, {"16", false}};
	for (size_t k = 0; k < HEDDLE_COUNT(cases); k++) {
		char folder[512];
		heddle_ctx *ctx = heddle_ctx_new();
		assert_int_equal(heddle_dir_temporary(ctx, folder), 0);
		const char *path = heddle_arena_printf(heddle_ctx_arena(ctx), "%s/mine.yaml", folder);
		const char *chip = heddle_arena_printf(heddle_ctx_arena(ctx),
						       "name: mine\ninherits: h100\ntitle: with a copy\ncopies:\n  - name: mover\n    from: global\n    to: shared\n"
						       "    preferred: true\n    granularity: { value: %s, unit: B, source: \"invented\" }\n",
						       cases[k].granularity);
		assert_int_equal(heddle_file_write(ctx, path, chip, strlen(chip)), 0);
		heddle_module *module = heddle_module_parse(
			ctx, "test", "def f(float(32, 64, 131072) I, float(128, 64, 3) w) -> (O) { O(n, m, x) +=! I(n, c, x + k) * w(m, c, k) }", NULL);
		heddle_target target;
		assert_non_null(module);
		assert_int_equal(heddle_target_parse(ctx, "cuda:h100", &target), 0);
		target.descriptor = heddle_descriptor_read(ctx, path);
		assert_non_null(target.descriptor);
		heddle_program *p = heddle_compile(ctx, module->definition[0], &target, NULL);
		const char *tile = p ? strstr(p->config, ".I.0: space=shared") : NULL, *copy = tile ? strstr(tile, "copy=") : NULL;
		if (!tile || (copy && copy < strchr(tile, ';')) != cases[k].taken)
			fail_msg("%s: %s", cases[k].granularity, p ? p->config : heddle_ctx_messages(ctx));
		heddle_program_free(p);
		heddle_module_free(module);
		heddle_dir_remove(folder);
		heddle_ctx_free(ctx);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(layers), cmocka_unit_test(given), cmocka_unit_test(copied)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
