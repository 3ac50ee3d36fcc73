/* Chips with little shared memory: what the cost model completes keeps to their limits, with tiles beside the exchange of lanes.
 * SPDX-License-Identifier: MIT
 */
#include "compile/compile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void little_shared_memory(void **state)
{
	static const char *const text[] = {
		"def f(float32(1, 33) A, int32(33, 2, K) B) -> (t, u) sizes K=2:8*2 {\n"
		"\tfloat64 t(i, j) +=! A(i, p) where j in 1:33\n"
		"\tu(i, j) max=! B(j, 2 * p + 1, q) where i in 0:33, p in 0:1\n}\n",
		"def f(double(M, K) A, double(K, N) B) -> (C) {\n\tC(i, j) +=! A(i, k) * B(k, j)\n}\n",
		"def f(float(N, D) A) -> (m, s) {\n\tm(n) max=! A(n, d)\n\ts(n) +=! exp(A(n, d) - m(n))\n}\n",
		"def f(double(N, D) A) -> (m, s, t) {\n\tm(n) max=! A(n, d)\n\ts(n) +=! A(n, d) - m(n)\n\tt(n) +=! A(n, d) * s(n)\n}\n",
	};
	static const double bytes[] = {256, 512, 1024, 2048, 16384};
	(void)state;
	for (size_t k = 0; k < HEDDLE_COUNT(text); k++)
		for (size_t i = 0; i < 2 * HEDDLE_COUNT(bytes); i++) {
			heddle_ctx *ctx = heddle_ctx_new();
			heddle_target target;
			heddle_module *module = heddle_module_parse(ctx, "f.tc", text[k], NULL);
			assert_non_null(module);
			assert_int_equal(heddle_target_parse(ctx, "opencl:a770", &target), 0);
			heddle_descriptor d = *target.descriptor;
			d.shared_per_block.value = d.shared_per_block_static.value = bytes[i / 2];
			d.shuffles = d.shuffles && i % 2;
			d.threads_per_block.value = 512;
			d.units.value = 101;
			target.descriptor = &d;
			heddle_program *program = heddle_compile(ctx, module->definition[0], &target, NULL);
			if (!program)
				print_error("text %zu, %.0f bytes: %s", k, bytes[i / 2], heddle_ctx_messages(ctx));
			assert_non_null(program);
			heddle_program_free(program);
			heddle_module_free(module);
			heddle_ctx_free(ctx);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(little_shared_memory)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
