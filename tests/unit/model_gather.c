/* W0215: sums into left-hand sides whose terms no index says, once, where they are; not others.
 * SPDX-License-Identifier: MIT
 */
#include "model/rewrite.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* How often it is given for all definitions of the text; `column`: of the last one. */
static int warnings(const char *text, int *column)
{
	heddle_ctx *ctx = heddle_ctx_new();
	heddle_module *module = heddle_module_parse(ctx, "test", text, NULL);
	int n = 0;
	if (!module)
		fail_msg("%s", heddle_ctx_messages(ctx));
	for (int i = 0; i < module->n_definition; i++)
		heddle_definition_warn_scatters(ctx, module->definition[i]);
	for (const heddle_diagnostic *d = heddle_diagnostics(ctx); d; d = d->next)
		if (d->severity == HEDDLE_WARNING && d->code == 215) {
			n++;
			*column = d->location.column;
		}
	heddle_module_free(module);
	heddle_ctx_free(ctx);
	return n;
}

static void costly(void **state)
{
	static const char three[] = "def f(float(W) x, float(3) v, float(3) w) -> (y) { y(2 * u + k + l) +=! x(u) * v(k) * w(l) }";
	int column = 0;
	(void)state;
	assert_int_equal(warnings(three, &column), 1);
	assert_int_equal(column, strstr(three, "2 * u") - three + 1);
	assert_int_equal(warnings("def f(float(W, W) x, float(3) w) -> (y) { y(2 * i + k, 2 * j + k) +=! x(i, j) * w(k) }", &column), 1);
	assert_int_equal(warnings("def f(float(W, W) x) -> (y) { y(i + j, i - j + W) +=! x(i, j) }", &column), 1);
	/* a definition that calls it says nothing more */
	assert_int_equal(warnings("def f(float(W) x, float(3) w) -> (y) { y(2 * u + k + l) +=! x(u) * w(k) * w(l) }"
				  "def g(float(W) x, float(3) w) -> (y) { y = f(x, w) }", &column), 1);
}

static void cheap(void **state)
{
	static const char *const texts[] = {
		"def f(float(N, D) A, float(M, D) B) -> (O) { O(i, d) = A(i, d)  O(i + N, d) = B(i, d) }",
		"def f(float(N, D) A, float(M, D) B) -> (O) { O(i, d) +=! A(i, d)  O(i + N, d) += B(i, d) }",
		"def f(float(N, D) A) -> (O) { O(2 * i) +=! A(i, d) }",
		"def f(float(F, 8) x) -> (y) { y(4 * f + k) +=! x(f, k) }",
		"def f(float(N) a, float(M) b) -> (y) { y(i + j) +=! a(i) * b(j) }",
		"def f(float(N) a) -> (y) { y(i / 2) max=! a(i) }",
		"def f(float(N, N) a) -> (y) { y(i - j + N - 1) +=! a(i, j) }",
		"def f(float(N, C, W) x, float(C, M, K) w) -> (y) { y(n, m, 3 * u + 2 * k) +=! x(n, c, u) * w(c, m, k) }",
		"def f(float(H, W) x, float(3, 3) w) -> (y) { y(h + k, v + l) +=! x(h, v) * w(k, l) }",
		"def f(float(4, C, W) x, float(4, C, 3) w) -> (y) { y(4 * c + g, 2 * u + k) +=! x(g, c, u) * w(g, c, k) }",
		/* in order, as written: there is nothing to solve */
		"def f(float(W) x) -> (inout float(3 * W) y) { y(2 * u + k + l) += y(u) * x(u) where u in 0:W, k in 0:3, l in 0:2 }",
	};
	int column = 0;
	(void)state;
	for (size_t i = 0; i < HEDDLE_COUNT(texts); i++)
		if (warnings(texts[i], &column))
			fail_msg("%s", texts[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(costly), cmocka_unit_test(cheap)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
