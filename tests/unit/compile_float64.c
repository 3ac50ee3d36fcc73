/* A chip without float64 refuses a definition that needs it, at the place that does, and no other.
 * SPDX-License-Identifier: MIT
 */
#include "compile/compile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void needs(void **state)
{
	static const struct {
		const char *text;
		int line, column; /* of what needs float64; 0: nothing does */
	} cases[] = {
		{"def f(float(N) A) -> (B) {\n\tB(i) = A(i) * 2\n}\n", 0, 0},
		{"def f(float16(N) A, bfloat16 s, int64(N) C) -> (B) {\n\tB(i) = A(i) * s + C(i)\n}\n", 0, 0},
		{"def f(float(N) A, double s) -> (B) {\n\tB(i) = A(i) + float(s)\n}\n", 1, 26},
		{"def f(float(N) A) -> (B) {\n\tB(i) = float(double(A(i)) * 2)\n}\n", 2, 0},
	};
	(void)state;
	for (size_t k = 0; k < HEDDLE_COUNT(cases); k++) {
		heddle_ctx *ctx = heddle_ctx_new();
		heddle_target gpu, cpu;
		heddle_module *module = heddle_module_parse(ctx, "f.tc", cases[k].text, NULL);
		assert_non_null(module);
		assert_int_equal(heddle_target_parse(ctx, "opencl:gpu", &gpu), 0);
		assert_int_equal(heddle_target_parse(ctx, "opencl:cpu", &cpu), 0);
		assert_int_equal(heddle_target_takes(ctx, module->definition[0], &cpu), 0);
		assert_int_equal(heddle_target_takes(ctx, module->definition[0], &gpu), cases[k].line ? -1 : 0);
		if (cases[k].line) {
			const heddle_diagnostic *d = heddle_diagnostics(ctx);
			assert_int_equal(d->code, 458);
			assert_int_equal(d->location.line, cases[k].line);
			if (cases[k].column)
				assert_int_equal(d->location.column, cases[k].column);
		}
		heddle_module_free(module);
		heddle_ctx_free(ctx);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(needs)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
