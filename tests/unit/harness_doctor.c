/* The report of what is here: every level once found or with the way to add it.
 * SPDX-License-Identifier: MIT
 */
#include "harness/doctor.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void test_json(void **state)
{
	(void)state;
	heddle_ctx *ctx = heddle_ctx_new();
	heddle_text out = { 0 };
	heddle_doctor(ctx, true, &out);
	json_t *top = json_loads(heddle_text_str(&out), 0, NULL), *entry;
	assert_non_null(top);
	assert_string_equal(json_string_value(json_object_get(top, "schema")), "heddle.doctor/1");
	size_t i;
	int levels = 0;
	const char *before = "";
	json_array_foreach(json_object_get(top, "levels"), i, entry)
	{
		const char *level = json_string_value(json_object_get(entry, "level"));
		levels += strcmp(level, before) != 0;
		before = level;
		const char *add = json_string_value(json_object_get(entry, "add"));
		if (json_is_true(json_object_get(entry, "available")))
			assert_true(json_string_value(json_object_get(entry, "version")) ||
				    json_array_size(json_object_get(entry, "devices")) > 0);
		else
			assert_true(add && strlen(add) > 10);
		/* The command is the part of the reason that can be copied; only a device has none. */
		const char *command = json_string_value(json_object_get(entry, "command"));
		if (json_is_true(json_object_get(entry, "available")))
			assert_null(command);
		else if (strcmp(level, "device") && strcmp(json_string_value(json_object_get(entry, "name")), "command"))
			assert_true(command && strstr(add, command) && strstr(command, "install"));
	}
	assert_int_equal(levels, 5);
	json_decref(top);
	heddle_text_free(&out);
	heddle_ctx_free(ctx);
}

static void test_text(void **state)
{
	(void)state;
	heddle_ctx *ctx = heddle_ctx_new();
	heddle_text out = { 0 };
	heddle_doctor(ctx, false, &out);
	const char *const words[] = { "interpret", "emulate", "opencl-cpu", "compile", "device" };
	for (size_t i = 0; i < HEDDLE_COUNT(words); i++)
		assert_non_null(strstr(heddle_text_str(&out), words[i]));
	heddle_text_free(&out);
	heddle_ctx_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_json), cmocka_unit_test(test_text) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
