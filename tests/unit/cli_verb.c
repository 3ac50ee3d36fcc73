/* cli/: the public entry as a library user meets it; tables.
 * SPDX-License-Identifier: MIT
 */
#include "cli/cli.h"

#include <locale.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int verb(const char *const *argv, char **out, char **err)
{
	int argc = 0;
	while (argv[argc])
		argc++;
	heddle_ctx *ctx = heddle_ctx_new();
	int code = heddle_verb(ctx, argc, argv, out, err);
	heddle_ctx_free(ctx);
	return code;
}

/* Either output may be unwanted; the codes are those of the program. */
static void outputs(void **state)
{
	(void)state;
	char *out = NULL, *err = NULL;
	assert_int_equal(verb((const char *const[]){"explain", "E0901", NULL}, &out, &err), HEDDLE_EXIT_FINE);
	assert_non_null(strstr(out, "E0901"));
	assert_string_equal(err, "");
	heddle_string_free(out);
	heddle_string_free(err);
	assert_int_equal(verb((const char *const[]){"explain", NULL}, NULL, NULL), HEDDLE_EXIT_FINE);
	assert_int_equal(verb((const char *const[]){"nonsense", NULL}, NULL, &err), HEDDLE_EXIT_USAGE);
	assert_non_null(strstr(err, "E0910"));
	heddle_string_free(err);
}

/* One context may run several verbs; what one reports does not come back in the next one's answer. */
static void again(void **state)
{
	(void)state;
	heddle_ctx *ctx = heddle_ctx_new();
	char *err = NULL;
	assert_int_equal(heddle_verb(ctx, 1, (const char *const[]){"nonsense"}, NULL, NULL), HEDDLE_EXIT_USAGE);
	assert_int_equal(heddle_verb(ctx, 2, (const char *const[]){"explain", "E0901"}, NULL, &err), HEDDLE_EXIT_FINE);
	assert_string_equal(err, "");
	heddle_string_free(err);
	heddle_ctx_free(ctx);
}

/* Numbers keep their point in a process with another locale, and the locale is as it was afterwards. */
static void locale(void **state)
{
	(void)state;
	static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE.utf8"};
	const char *set = NULL;
	for (size_t i = 0; i < HEDDLE_COUNT(names) && !set; i++)
		set = setlocale(LC_ALL, names[i]);
	if (!set)
		skip();
	char number[16], *out = NULL;
	assert_int_equal(verb((const char *const[]){"arch", "show", "h200", NULL}, &out, NULL), HEDDLE_EXIT_FINE);
	assert_non_null(strstr(out, "4.8 TB/s"));
	heddle_string_free(out);
	snprintf(number, sizeof(number), "%.1f", 0.5);
	assert_string_equal(number, "0,5");
	setlocale(LC_ALL, "C");
}

static void *in_thread(void *argument)
{
	char *out = NULL;
	for (int i = 0; i < 20; i++) {
		heddle_string_free(out);
		if (verb((const char *const[]){"arch", "list", "--json", NULL}, &out, NULL) != HEDDLE_EXIT_FINE)
			return NULL;
	}
	*(char **)argument = out;
	return out;
}

/* Contexts share nothing. */
static void threads(void **state)
{
	(void)state;
	pthread_t thread[2];
	char *out[2] = {NULL, NULL};
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, in_thread, &out[i]), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_join(thread[i], NULL), 0);
	assert_non_null(out[0]);
	assert_non_null(out[1]);
	assert_string_equal(out[0], out[1]);
	heddle_string_free(out[0]);
	heddle_string_free(out[1]);
}

static void progress_line(void *user, const char *text)
{
	snprintf(user, 64, "%s", text);
}

static void progress(void **state)
{
	(void)state;
	char line[64] = "";
	heddle_ctx *ctx = heddle_ctx_new();
	heddle_progress(ctx, "nobody hears this");
	heddle_ctx_set_progress(ctx, progress_line, line);
	heddle_progress(ctx, "%d of %d", 1, 2);
	/* What is left lasts as long per step as what is done. */
	static const struct {
		int done;
		double elapsed;
		const char *says;
	} cases[] = {{0, 100, "0 of 30: this"}, {3, 0.5, "3 of 30: this"}, {3, 5, "3 of 30, about 45 s left: this"},
		     {10, 300, "10 of 30, about 10 min left: this"}, {1, 600, "1 of 30, about 5 h left: this"}, {30, 60, "30 of 30, about 0 s left: this"}};
	for (size_t k = 0; k < HEDDLE_COUNT(cases); k++) {
		heddle_steps steps = heddle_steps_new(30);
		char last[sizeof(line)];
		steps.done = cases[k].done;
		steps.start -= cases[k].elapsed;
		heddle_ctx_set_progress(ctx, progress_line, last);
		heddle_steps_say(ctx, &steps, "%s", "this");
		assert_string_equal(last, cases[k].says);
	}
	assert_string_equal(line, "1 of 2");
	heddle_ctx_free(ctx);
}

static void tables(void **state)
{
	(void)state;
	heddle_text out = {0};
	heddle_cli_table("name\tvalue\na\t1\nlong\t20\n\xc3\xa4\t-3\n", &out);
	assert_string_equal(heddle_text_str(&out), "name  value\na         1\nlong     20\n\xc3\xa4        -3\n");
	heddle_text_free(&out);
	char buffer[32];
	assert_string_equal(heddle_cli_seconds(0.00123, buffer), "1.23 ms");
	assert_string_equal(heddle_cli_seconds(3e-9, buffer), "3 ns");
	assert_string_equal(heddle_cli_bytes(1536, buffer), "1.5 KiB");
}

/* Each verb and option can be told apart, and has something to say. */
static void rows(void **state)
{
	(void)state;
	for (int i = 0; i < HEDDLE_N_OPTION; i++) {
		const heddle_option_row *a = &heddle_option_rows[i];
		assert_true(!strncmp(a->name, "--", 2) && *a->help && a->verbs);
		for (int j = 0; j < i; j++) {
			const heddle_option_row *b = &heddle_option_rows[j];
			assert_string_not_equal(a->name, b->name);
			if (a->shorthand && b->shorthand)
				assert_string_not_equal(a->shorthand, b->shorthand);
		}
	}
	for (int i = 0; i < HEDDLE_N_VERB; i++)
		assert_true(heddle_verb_rows[i].run && *heddle_verb_rows[i].summary);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(outputs), cmocka_unit_test(again),  cmocka_unit_test(locale), cmocka_unit_test(threads),
		cmocka_unit_test(progress), cmocka_unit_test(tables), cmocka_unit_test(rows),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
