/* A verdict from a copy of the process, and the proof that is run so: what comes back, and what does not.
 * SPDX-License-Identifier: MIT
 */
#include "compile/compile.h"
#include "model/apart.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const char *says(void *user)
{
	const char **text = user, *was = *text;
	*text = "changed";
	return was;
}

static const char *dies(void *user)
{
	raise(SIGKILL);
	return user;
}

static void verdicts(void **state)
{
	(void)state;
	heddle_arena *arena = heddle_arena_new();
	heddle_apart apart;
	const char *text = "proved", *nothing = NULL;
	if (!heddle_apart_start(&apart, says, &text))
		skip(); /* one processor */
	assert_string_equal(heddle_apart_end(&apart, arena), "proved");
	assert_string_equal(text, "proved"); /* the copy's memory is its own */
	assert_int_equal(apart.child, 0);
	assert_true(heddle_apart_start(&apart, says, &nothing));
	assert_null(heddle_apart_end(&apart, arena));
	assert_true(heddle_apart_start(&apart, dies, "proved"));
	assert_null(heddle_apart_end(&apart, arena));
	heddle_arena_free(arena);
}

/* Sizes are open, so that the passes before the proof take long enough for it to be run apart.  Text and proof of what is compiled; NULL where nothing is. */
static const char *compiled(heddle_arena *arena, bool apart, unsigned long operations, int *errors)
{
	heddle_ctx *ctx = heddle_ctx_new();
	heddle_target target;
	heddle_module *module = heddle_module_parse(
		ctx, "test", "def f(float(M, K) A, float(K, N) B) -> (C) { C(i, j) +=! A(i, k) * B(k, j) C(i, j) = fmax(C(i, j), 0) }", NULL);
	assert_non_null(module);
	assert_int_equal(heddle_target_parse(ctx, "h100", &target), 0);
	heddle_program *p = heddle_compile(ctx, module->definition[0], &target,
					   &(heddle_compile_options){.apart = apart, .max_operations = operations});
	heddle_text text = {0};
	if (p)
		heddle_program_print(p, &text);
	const char *all = p ? heddle_arena_strdup(arena, heddle_text_str(&text)) : NULL;
	*errors = heddle_error_count(ctx);
	heddle_text_free(&text);
	heddle_program_free(p);
	heddle_module_free(module);
	heddle_ctx_free(ctx);
	return all;
}

static void the_same_program(void **state)
{
	(void)state;
	heddle_arena *arena = heddle_arena_new();
	int proved = 0, unproved = 0, refused = 0;
	for (unsigned long bound = 15000; bound < 600000; bound = bound * 5 / 4) { /* one pass or another reaches the lower ones */
		int errors[2];
		const char *one = compiled(arena, false, bound, &errors[0]), *other = compiled(arena, true, bound, &errors[1]);
		assert_int_equal(errors[0], errors[1]);
		assert_int_equal(one == NULL, other == NULL);
		if (one)
			assert_string_equal(one, other);
		refused += !one;
		unproved += one && strstr(one, "\"not proved: limit");
		proved += one && strstr(one, "\"proved\"");
	}
	assert_true(proved > 0 && unproved > 0 && refused > 0);
	heddle_arena_free(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(verdicts), cmocka_unit_test(the_same_program)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
