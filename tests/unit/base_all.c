/* base/: arenas, text, files, diagnostics, the table of codes, types, copies of the process.
 * SPDX-License-Identifier: MIT
 */
#include "base/process.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void arena(void **state)
{
	(void)state;
	heddle_arena *a = heddle_arena_new();
	int *list = NULL, n = 0;
	for (int i = 0; i < 1000; i++)
		HEDDLE_PUSH(a, list, n, i);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(list[i], i);
	unsigned char *big = heddle_arena_alloc(a, 3000000);
	for (size_t i = 0; i < 3000000; i += 1000)
		assert_int_equal(big[i], 0);
	assert_string_equal(heddle_arena_printf(a, "%d-%s", 7, "x"), "7-x");
	assert_string_equal(heddle_arena_strndup(a, "abcdef", 3), "abc");
	assert_int_equal((uintptr_t)heddle_arena_alloc(a, 1) % 16, 0);
	assert_null(heddle_arena_free(a));
}

static void name_table(void **state)
{
	(void)state;
	heddle_arena *a = heddle_arena_new();
	heddle_name_table names = {0};
	assert_int_equal(heddle_name_table_find(&names, "x0"), -1);
	for (int i = 0; i < 1000; i++)
		heddle_name_table_put(a, &names, heddle_arena_printf(a, "x%d", i), i);
	heddle_name_table_put(a, &names, "x7", 1007);
	assert_int_equal(names.n, 1000);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(heddle_name_table_find(&names, heddle_arena_printf(a, "x%d", i)), i == 7 ? 1007 : i);
	assert_int_equal(heddle_name_table_find(&names, "x1000"), -1);
	heddle_name_table_clear(&names);
	assert_int_equal(heddle_name_table_find(&names, "x7"), -1);
	heddle_arena_free(a);
}

static void text(void **state)
{
	(void)state;
	heddle_text t = {0};
	assert_string_equal(heddle_text_str(&t), "");
	for (int i = 0; i < 100; i++)
		heddle_text_printf(&t, "%d,", i % 10);
	assert_int_equal(t.length, 200);
	heddle_text_clear(&t);
	heddle_text_indent(&t, 2);
	heddle_text_add(&t, "x");
	assert_string_equal(heddle_text_str(&t), "\t\tx");
	heddle_text_free(&t);
	char b[40];
	assert_string_equal(heddle_format_double(0.1, b), "0.1");
	assert_string_equal(heddle_format_double(1e-12, b), "1e-12");
	assert_string_equal(heddle_format_double(1.0 / 3, b), "0.3333333333333333");
	assert_string_equal(heddle_format_double(-1.0 / 0.0, b), "-inf");
	assert_string_equal(heddle_format_double(10, b), "10");
	assert_string_equal(heddle_format_double(-0.0, b), "-0");
	assert_string_equal(heddle_format_double(1e30, b), "1e+30");
	assert_string_equal(heddle_format_float(0.1f, b), "0.1");
	assert_string_equal(heddle_format_float(16777216.0f, b), "16777216");
}

static void nearest(void **state)
{
	(void)state;
	static const char *const names[] = {"check", "emit", "plan", "test", "bench"};
	assert_string_equal(heddle_nearest("chekc", names, 5), "check");
	assert_string_equal(heddle_nearest("emti", names, 5), "emit");
	assert_null(heddle_nearest("deploy", names, 5));
	assert_null(heddle_nearest("x", names, 5));
	static const char *const functions[] = {"atan", "shared_per_block", "target"};
	assert_null(heddle_nearest("mean", functions, 3));
	assert_string_equal(heddle_nearest("shared_per_blok", functions, 3), "shared_per_block");
	assert_string_equal(heddle_nearest("trgt", functions, 3), "target");
}

static void messages(void **state)
{
	(void)state;
	heddle_ctx *ctx = heddle_ctx_new();
	const char *lines = "def f() {\n\t\xc3\xa4 = bad(i)\n}";
	heddle_source source = {"f.tc", lines, strlen(lines)};
	heddle_location at = {&source, 2, 7, 3};
	assert_int_equal(heddle_error(ctx, 101, &at, "no '%s'", "bad"), -1);
	heddle_fixit(ctx, "bat");
	assert_int_equal(heddle_note(ctx, NULL, "it is near"), 0);
	assert_int_equal(heddle_warning(ctx, 102, NULL, "careful"), 0);
	assert_string_equal(heddle_ctx_messages(ctx), "f.tc:2:7: error: no 'bad' [E0101]\n"
						      "    \t\xc3\xa4 = bad(i)\n"
						      "    \t    ^~~\n"
						      "    \t    bat\n"
						      "note: it is near\n"
						      "warning: careful [W0102]\n");
	assert_int_equal(heddle_error_count(ctx), 1);
	assert_int_equal(heddle_exit_code(ctx), HEDDLE_EXIT_SOURCE);
	heddle_error(ctx, 801, NULL, "x");
	assert_int_equal(heddle_exit_code(ctx), HEDDLE_EXIT_SOURCE);
	heddle_error(ctx, 950, NULL, "x");
	assert_int_equal(heddle_exit_code(ctx), HEDDLE_EXIT_INTERNAL);
	heddle_diagnostics_clear(ctx);
	assert_int_equal(heddle_exit_code(ctx), HEDDLE_EXIT_FINE);
	/* A place past the end of the text must not read beyond it. */
	at = (heddle_location){&source, 9, 1, 1};
	heddle_error(ctx, 1, &at, "end");
	at = (heddle_location){&source, 3, 40, 10};
	heddle_error(ctx, 1, &at, "end");
	assert_non_null(strstr(heddle_ctx_messages(ctx), "f.tc:3:40"));
	heddle_ctx_free(ctx);
}

static void codes(void **state)
{
	(void)state;
	int last = 0;
	for (const heddle_code *c = heddle_codes; c->code; c++) {
		if (c->code <= last)
			fail_msg("code %d is not at its place", c->code);
		if (!c->title || !*c->title || !c->explanation || !*c->explanation)
			fail_msg("code %d has no text", c->code);
		last = c->code;
	}
	assert_true(last > 900);
}

static void files(void **state)
{
	(void)state;
	heddle_ctx *ctx = heddle_ctx_new();
	char folder[512], path[600];
	assert_int_equal(heddle_dir_temporary(ctx, folder), 0);
	snprintf(path, sizeof(path), "%s/a/b//c/", folder);
	assert_int_equal(heddle_dir_make(ctx, path), 0);
	snprintf(path, sizeof(path), "%s/a/b/c/file", folder);
	assert_int_equal(heddle_file_write(ctx, path, "one", 3), 0);
	assert_int_equal(heddle_file_write(ctx, path, "three", 5), 0);
	size_t length;
	char *data = heddle_file_read(ctx, path, &length);
	assert_string_equal(data, "three");
	assert_int_equal(length, 5);
	free(data);
	assert_int_equal(heddle_dir_make(ctx, path), -1);
	assert_null(heddle_file_read(ctx, folder, NULL));
	assert_null(heddle_file_read(ctx, "/nonexistent/x", NULL));
	assert_int_equal(heddle_file_write(ctx, "/nonexistent/x", "x", 1), -1);
	assert_int_equal(heddle_file_write(ctx, "/dev/full", "x", 1), -1);
	assert_int_equal(heddle_exit_code(ctx), HEDDLE_EXIT_USAGE);
	heddle_dir_remove(folder);
	struct stat status;
	assert_int_equal(stat(folder, &status), -1);
	heddle_ctx_free(ctx);
}

static void paths(void **state)
{
	(void)state;
	setenv("HEDDLE_PATH", "x::y", 1);
	heddle_ctx *ctx = heddle_ctx_new();
	heddle_ctx_add_path(ctx, "first");
	heddle_ctx_add_path(ctx, "second");
	static const char *const expected[] = {"first", "second", "x", "y"};
	const char *const *found = heddle_ctx_paths(ctx);
	for (int i = 0; i < 4; i++)
		assert_string_equal(found[i], expected[i]);
	assert_null(found[4]);
	unsetenv("HEDDLE_PATH");
	heddle_ctx_free(ctx);
}

static void types(void **state)
{
	(void)state;
	for (int i = 0; i < HEDDLE_N_TYPE; i++)
		assert_int_equal(heddle_type_parse(heddle_type_name((heddle_type)i)), i);
	assert_int_equal(heddle_type_parse("double"), HEDDLE_FLOAT64);
	assert_int_equal(heddle_type_parse("float31"), -1);
	assert_int_equal(heddle_type_size(HEDDLE_BFLOAT16), 2);
	assert_true(heddle_type_is_unsigned(HEDDLE_BOOL));
	assert_false(heddle_type_is_signed(HEDDLE_FLOAT32));
	for (int i = 0; i < HEDDLE_N_OP; i++)
		assert_non_null(heddle_op_symbol((heddle_op)i));
}

/* Every data file of the tree is compiled in, byte for byte. */
static void embedded(void **state)
{
	(void)state;
	heddle_ctx *ctx = heddle_ctx_new();
	for (const heddle_embedded *e = heddle_embedded_files; e->path; e++) {
		char path[1024];
		snprintf(path, sizeof(path), "%s/%s", HEDDLE_SOURCE_DIR, e->path);
		size_t length;
		char *data = heddle_file_read(ctx, path, &length);
		assert_non_null(data);
		if (length != e->length || memcmp(data, e->data, length) != 0)
			fail_msg("%s differs from what was compiled in", e->path);
		free(data);
		assert_ptr_equal(heddle_embedded_find(e->path), e);
	}
	assert_null(heddle_embedded_find("no/such.yaml"));
	heddle_ctx_free(ctx);
}

static void says(void *data, heddle_text *out)
{
	const char **text = data;
	heddle_text_add(out, *text);
	*text = "changed";
}

static void dies(void *data, heddle_text *out)
{
	heddle_text_add(out, data);
	raise(SIGKILL);
}

static void stays(void *data, heddle_text *out)
{
	heddle_text_add(out, data);
	pause();
}

/* A function in a copy of the process: its text comes back, nothing else does; another end is told. */
static void copies(void **state)
{
	(void)state;
	heddle_arena *a = heddle_arena_new();
	heddle_child one, other;
	heddle_text out = {0};
	const char *text = "first", *second = "second", *why = NULL;
	char word[] = "half";
	assert_int_equal(heddle_child_start(&one, a, says, &text, &why), 0);
	assert_int_equal(heddle_child_start(&other, a, says, &second, &why), 0);
	assert_int_equal(heddle_child_end(&other, a, 0, &out, &why), 0);
	assert_int_equal(heddle_child_end(&one, a, 0, &out, &why), 0);
	assert_string_equal(heddle_text_str(&out), "secondfirst");
	assert_string_equal(text, "first"); /* the copy's memory is its own */
	assert_int_equal(one.pid, 0);
	assert_int_equal(heddle_process_call(a, 60, dies, word, &out, &why), -1);
	assert_non_null(strstr(why, "killed by signal 9"));
	assert_int_equal(heddle_process_call(a, 0.1, stays, word, &out, &why), -1);
	assert_non_null(strstr(why, "no end after"));
	heddle_text_free(&out);
	heddle_arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arena), cmocka_unit_test(name_table), cmocka_unit_test(text),  cmocka_unit_test(nearest),
		cmocka_unit_test(messages), cmocka_unit_test(codes), cmocka_unit_test(files),
		cmocka_unit_test(paths), cmocka_unit_test(types), cmocka_unit_test(embedded), cmocka_unit_test(copies),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
