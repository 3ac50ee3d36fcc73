/* Sources that must be rejected, each with exactly the code that it names; examples of the documentation; explanations.
 *
 * tests/bad/(name).tc has a line `#: error E0123`.  doc/language.md has fenced blocks: ```tc must check, ```tc error=E0123
 * must be rejected so, ```tc warning=W0123 must check with that warning.
 * SPDX-License-Identifier: MIT
 */
#include "frontend/definition.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static bool has(heddle_ctx *ctx, heddle_severity severity, int code)
{
	for (const heddle_diagnostic *d = heddle_diagnostics(ctx); d; d = d->next)
		if (d->severity == severity && d->code == code)
			return true;
	return false;
}

/* All errors have this code, and there is one. */
static void assert_error(const char *name, const char *text, int code)
{
	heddle_ctx *ctx = heddle_ctx_new();
	heddle_module *m = heddle_module_parse(ctx, name, text, NULL);
	int n = 0;
	for (const heddle_diagnostic *d = heddle_diagnostics(ctx); d; d = d->next) {
		if (d->severity != HEDDLE_ERROR)
			continue;
		if (d->code != code)
			fail_msg("expected only E%04d:\n%s", code, heddle_ctx_messages(ctx));
		n++;
	}
	if (m || !n)
		fail_msg("%s: expected E%04d but it was accepted:\n%s", name, code, text);
	assert_int_equal(heddle_exit_code(ctx), HEDDLE_EXIT_SOURCE);
	heddle_ctx_free(ctx);
}

static void assert_fine(const char *name, const char *text, int warning)
{
	heddle_ctx *ctx = heddle_ctx_new();
	heddle_module *m = heddle_module_parse(ctx, name, text, NULL);
	if (!m)
		fail_msg("%s", heddle_ctx_messages(ctx));
	if (warning ? !has(ctx, HEDDLE_WARNING, warning) : heddle_diagnostics(ctx) != NULL)
		fail_msg("%s: expected %s:\n%s\n%s", name, warning ? "a warning" : "no warnings", text, heddle_ctx_messages(ctx));
	heddle_module_free(m);
	heddle_ctx_free(ctx);
}

static void test_bad(void **state)
{
	(void)state;
	bool seen[1000] = {false};
	DIR *dir = opendir(HEDDLE_SOURCE_DIR "/tests/bad");
	assert_non_null(dir);
	for (struct dirent *entry; (entry = readdir(dir));) {
		size_t length = strlen(entry->d_name);
		if (length < 4 || strcmp(entry->d_name + length - 3, ".tc"))
			continue;
		heddle_ctx *ctx = heddle_ctx_new();
		heddle_text path = {0};
		heddle_text_printf(&path, "%s/tests/bad/%s", HEDDLE_SOURCE_DIR, entry->d_name);
		char *text = heddle_file_read(ctx, heddle_text_str(&path), NULL);
		assert_non_null(text);
		const char *line = strstr(text, "#: error E");
		if (!line)
			fail_msg("%s names no code", entry->d_name);
		int code = atoi(line + strlen("#: error E"));
		/* Other parts of the compiler may keep their rejected sources here too. */
		if (code < 400) {
			assert_error(entry->d_name, text, code);
			seen[code] = true;
		}
		free(text);
		heddle_text_free(&path);
		heddle_ctx_free(ctx);
	}
	closedir(dir);
	/* Every code of the notation has its file, but for warnings and what only callers can do wrong. */
	static const int elsewhere[] = {110, 126, 204, 212, 213, 214, 215, 217, 218, 219, 306, 307, 309};
	for (const heddle_code *c = heddle_codes; c->code && c->code < 400; c++) {
		bool excused = false;
		for (size_t i = 0; i < HEDDLE_COUNT(elsewhere); i++)
			excused |= elsewhere[i] == c->code;
		if (!seen[c->code] && !excused)
			fail_msg("no file of tests/bad has E%04d", c->code);
	}
	for (int code = 0; code < 400; code++) {
		bool explained = !seen[code];
		for (const heddle_code *c = heddle_codes; c->code; c++)
			explained |= c->code == code;
		if (!explained)
			fail_msg("E%04d has no explanation", code);
	}
}

static void test_warnings(void **state)
{
	(void)state;
	assert_fine("w", "def f(float(N) A) -> (O) { O(i) += A(i) }", 110);
	assert_fine("w", "def f(float(N) A) -> (inout float(N) O) { O(i) += A(i) }", 0);
	assert_fine("w", "def f(float(N) A) -> (O) { O(i) = A(i) where x = 2 }", 126);
	assert_fine("w", "def f(float(N) A) -> (O) { O(i) = A(i-1) }", 204);
	assert_fine("w", "def f(float(N) A) -> (O) { O(i) +=! A(i) where r in 0:4 }", 212);
	assert_fine("w", "def f(float(N) A) -> (O) { O(i) = A(i) + A(i + N) }", 214);
	assert_fine("w", "def f(float(N) A) -> (O) { O(i) = A(i) where i in 0:3, i in 5:9 }", 214);
	assert_fine("w", "def f(int32(N) A, size M) -> (O) { O(i) = A(i) + N * M }", 218);
	assert_fine("w", "def f(int32(N) A, size M) -> (O) { O(i) = i < N * M ? A(i) : 0 }", 218);
	assert_fine("w", "def f(int32(N) A, size M) -> (O) sizes N=1:46340, M=1:46340 { O(i) = A(i) + N * M }", 0);
	assert_fine("w", "def f(int32(N) A, size M) -> (O) { O(i) = A(i) + int64(N * M) }", 0);
	assert_fine("w", "def f(float(N) A, float(M) B) -> (O) { O(i) = A(i) + B(i) }", 217);
	assert_fine("w", "def f(float(N, K) A, float(L) B) -> (O) { O(i) +=! A(i, k) * B(k) }", 217);
	assert_fine("w", "def f(float(N) A, float(M) B) -> (O) { t(i) = A(i) * 2\nO(i) = t(i) + B(i) }", 217);
	assert_fine("w", "def f(float(N) A, float(N) B) -> (O) { O(i) = A(i) + B(i) }", 0);
	assert_fine("w", "def f(float(N) A, float(M) B) -> (O) { O(i) = A(i) + B(i) where i in 0:min(N, M) }", 0);
	assert_fine("w", "def f(float(N) A, float(M) B) -> (O) sizes N=1:8, M=8:9 { O(i) = A(i) + B(i) }", 0);
	assert_fine("w", "def f(float(N) A, float(K) w) -> (O) { O(i) +=! A(i + k) * w(k) }", 0);
	assert_fine("w", "def f(float(N) A, float(8) B) -> (O) { O(i) = A(i) + B(i) }", 0);
	assert_fine("w", "def f(float(N) A, float(M) B) -> (O) { O(i, j) = A(i) + B(j) }", 0);
	assert_fine("w", "def f(float(2 * N) A) -> (O) { O(i) = A(i) + A(i + N) where i in 0:N }", 0);
}

static void test_documentation(void **state)
{
	(void)state;
	heddle_ctx *ctx = heddle_ctx_new();
	char *text = heddle_file_read(ctx, HEDDLE_SOURCE_DIR "/doc/language.md", NULL);
	assert_non_null(text);
	int n = 0, line = 1;
	const char *seen = text;
	for (char *block = strstr(text, "\n```tc"); block; block = strstr(block, "\n```tc")) {
		for (; seen <= block; seen++)
			line += *seen == '\n';
		char *head = block + strlen("\n```tc"), *body = strchr(head, '\n'), *end = body ? strstr(body, "\n```") : NULL;
		assert_non_null(end);
		*body++ = 0;
		end[1] = 0;
		char name[64];
		snprintf(name, sizeof(name), "language.md:%d", line);
		const char *error = strstr(head, "error=E"), *warning = strstr(head, "warning=W");
		if (error)
			assert_error(name, body, atoi(error + strlen("error=E")));
		else
			assert_fine(name, body, warning ? atoi(warning + strlen("warning=W")) : 0);
		n++;
		line += 2;
		for (char *c = body; c < end; c++)
			line += *c == '\n';
		block = end + 2;
		seen = block;
	}
	assert_true(n >= 20);
	free(text);
	heddle_ctx_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_warnings),
		cmocka_unit_test(test_documentation),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
