/* Splits, shares, turns and zero fills rewrite a definition into another one with the same meaning: the reference evaluates both.
 * SPDX-License-Identifier: MIT
 */
#include "model/rewrite.h"

#include "harness/cases.h"
#include "harness/compare.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* `more`: statements than before. */
static void same_with(const char *text, const char *config, const char *sizes, int more)
{
	heddle_ctx *ctx = heddle_ctx_new();
	heddle_arena *arena = heddle_arena_new();
	heddle_module *module = heddle_module_parse(ctx, "test", text, NULL);
	heddle_config *c = heddle_config_parse(ctx, arena, config);
	heddle_size_list *list = heddle_sizes_parse(ctx, arena, sizes);
	assert_true(module && c && list);
	heddle_diagnostics_clear(ctx);
	const heddle_definition *before = module->definition[0];
	heddle_definition *after = heddle_definition_rewrite(ctx, arena, before, c);
	if (!after)
		fail_msg("%s", heddle_ctx_messages(ctx));
	if ((after->n_statement > before->n_statement) - (after->n_statement < before->n_statement) != more)
		fail_msg("%s has %d statements then", text, after->n_statement);
	int64_t size[8] = {0};
	for (int i = 0; i < list->n; i++)
		for (int k = 0; k < before->n_size; k++)
			if (!strcmp(before->size[k]->name, list->range[i].name))
				size[k] = list->range[i].min;
	heddle_array *array[32] = {0};
	assert_int_equal(heddle_case_arrays(ctx, module, before, size, HEDDLE_FILL_INTEGERS, 5, array), 0);
	heddle_reference_options options = {0};
	heddle_reference *a = heddle_reference_evaluate(ctx, before, size, array, &options);
	heddle_reference *b = heddle_reference_evaluate(ctx, after, size, array, &options);
	if (!a || !b)
		fail_msg("%s", heddle_ctx_messages(ctx));
	assert_int_equal(a->n_output, b->n_output);
	for (int o = 0; o < a->n_output; o++) {
		assert_int_equal(a->output[o].n, b->output[o].n);
		for (int64_t i = 0; i < a->output[o].n; i++) {
			if (a->output[o].integer) {
				assert_int_equal(a->output[o].integer[i], b->output[o].integer[i]);
				continue;
			}
			long double x = a->output[o].value[i], y = b->output[o].value[i];
			if (!(x == y || fabsl(x - y) <= (long double)(a->output[o].error[i] + b->output[o].error[i])))
				fail_msg("%s: %s(%lld) is %Lg, not %Lg", config, a->output[o].tensor->name, (long long)i, y, x);
		}
	}
	heddle_reference_free(a);
	heddle_reference_free(b);
	heddle_case_arrays_free(before, array);
	heddle_module_free(module);
	heddle_arena_free(arena);
	heddle_ctx_free(ctx);
}

static void same(const char *text, const char *config, const char *sizes)
{
	same_with(text, config, sizes, 1);
}

static void splits(void **state)
{
	static const char *const sizes[] = {"N=3,M=0", "N=3,M=1", "N=2,M=7", "N=2,M=8", "N=3,M=9", "N=1,M=25", "N=0,M=9"};
	(void)state;
	for (size_t i = 0; i < HEDDLE_COUNT(sizes); i++) {
		same("def f(float(N, M) A) -> (s) { s(n) +=! A(n, m) }", "split=0:m:8", sizes[i]);
		same("def f(float(N, M) A) -> (s) { s +=! A(n, m) }", "split=0:m:8", sizes[i]);
		same("def f(float(N, M) A) -> (s) { s +=! A(n, m) }", "split=0:n:2", sizes[i]);
		same("def f(float(N, M) A) -> (s, p) { s(n) max=! A(n, m)  p(n) min=! A(n, m) }", "split=0:m:8,1:m:3", sizes[i]);
		same("def f(float16(N, M) A) -> (s) { s(n) +=! A(n, m) }", "split=0:m:4", sizes[i]);
		same("def f(int8(N, M) A) -> (s) { s(n) +=! A(n, m) }", "split=0:m:4", sizes[i]);
		same("def f(float(N, M) A) -> (inout float(N) s) { s(n) += A(n, m) }", "split=0:m:8", sizes[i]);
		same("def f(float(N, M) A, float(M) b) -> (s) { s(m) +=! A(n, m) * b(m) }", "split=0:n:1", sizes[i]);
		same("def f(float(N, M) A) -> (s) { t(n) +=! A(n, m)  s(n) = t(n) * 2.0 }", "split=0:m:5", sizes[i]);
	}
	same("def f(float(N, M) A) -> (s) { s(n) +=! A(n, m) where m in 2:M }", "split=0:m:4", "N=3,M=11");
}

static void fills(void **state)
{
	(void)state;
	same("def f(float(N) A) -> (O) { O(i) = A(i - 1) }", "", "N=7");
	same("def f(float(N, M) A) -> (O) { O(i, j) = A(i, j) where j in 0:min(i + 1, M) }", "", "N=7,M=5");
}

static void shares(void **state)
{
	static const char *const sizes[] = {"N=3,M=0", "N=3,M=1", "N=2,M=7", "N=0,M=9"};
	(void)state;
	for (size_t i = 0; i < HEDDLE_COUNT(sizes); i++) {
		same("def f(float(N, M) A) -> (O) { t(n) +=! exp(A(n, m))  O(n, m) = exp(A(n, m)) / t(n) }", "share=0", sizes[i]);
		/* other names, another order of indices, twice in one statement */
		same("def f(float(N, M) A) -> (O) { t(j) +=! exp(A(j, k))  O(m, n) = exp(A(n, m)) / t(n) + exp(A(n, m)) }", "share=0", sizes[i]);
		same("def f(float(N, M) A) -> (O) { t(m) +=! exp(A(n, m)) * A(n, m)  O(n, m) = t(m) * exp(A(n, m)) }", "share=0", sizes[i]);
		/* three statements; the second one cut into chunks */
		same("def f(float(N, M) A) -> (O) { t(n) +=! exp(A(n, m))  u(n) max=! exp(A(n, m))  O(n, m) = exp(A(n, m)) / t(n) + u(n) }",
		     "share=0; split=1:m:4", sizes[i]);
		same("def f(float(N, M) A) -> (O) { t(n) +=! exp(A(n, m))  u(n) max=! exp(A(n, m))  O(n, m) = exp(A(n, m)) / t(n) + u(n) }",
		     "share=0; split=0:m:4", sizes[i]);
		/* what a later statement computes where a condition holds may be read there */
		same("def f(float(N, M) A) -> (O) { t(n) +=! exp(A(n, m))  O(n, m) = A(n, m) > 0 ? exp(A(n, m)) : t(n) }", "share=0", sizes[i]);
		same("def f(float16(N, M) A) -> (O) { t(n) +=! exp(A(n, m))  O(n, m) = exp(A(n, m)) / t(n) }", "share=0", sizes[i]);
	}
}

static void recurrences(void **state)
{
	static const char *const sizes[] = {"N=1,M=1", "N=3,M=1", "N=1,M=7", "N=6,M=5"};
	(void)state;
	for (size_t i = 0; i < HEDDLE_COUNT(sizes); i++) {
		same_with("def f(float(N, M) A) -> (h) { h(0, j) = A(0, j)  h(t, j) = A(t, j) + 2 * h(t - 1, j) where t in 1:N }", "", sizes[i], -1);
		/* other names of the indices, the steps along rows, a temporary, types that are not the same */
		same_with("def f(float(N, M) A) -> (o) { h(j, 0) = A(j, 0)  h(i, t) = h(i, t - 1) - A(i, t) where t in 1:M  o(i, t) = h(i, t) }", "", sizes[i], -1);
		same_with("def f(float16(N, M) A) -> (float(N, M) h) { h(0, j) = A(0, j) * 2.0  h(t, j) = h(t - 1, j) + A(t, j) where t in 1:N }", "", sizes[i], -1);
		/* two of them, and steps from another number on */
		same_with("def f(float(N, M) A) -> (h, g) { h(0, j) = A(0, j)  h(t, j) = A(t, j) + h(t - 1, j) where t in 1:N  "
			  "g(0, j) = h(0, j) + A(0, j)  g(t, j) = g(t - 1, j) - h(t, j) where t in 1:N }", "", sizes[i], -1);
		same_with("def f(float(N, M) A) -> (h) { h(0, j) = A(0, j)  h(t, j) = A(t, j) + h(t - 1, j) where t in 1:N  h(0, j) += 1.0 where j in 0:M }", "", sizes[i], -1);
		/* the first step's other elements are read: they are there before */
		same_with("def f(float(N, M) A) -> (inout float(N, M) h) { h(0, j) = A(0, j)  h(t, j) = h(t - 1, j) + h(0, j) * A(t, j) where t in 1:N }", "", sizes[i], 0);
		/* what is no recurrence, has something between, may have no first step, or a first step that is another */
		same_with("def f(float(N, M) A) -> (h) { h(0, j) = A(0, j)  h(t, j) = 2 * A(t, j) where t in 1:N }", "", sizes[i], 0);
		same_with("def f(float(N, M) A) -> (h, s) { h(0, j) = A(0, j)  s(j) = h(0, j)  h(t, j) = h(t - 1, j) + s(j) where t in 1:N }", "", sizes[i], 0);
		same_with("def f(float(N, M) A) -> (h) { h(0, j) = 1.0 where j in 0:M  h(t, j) = h(t - 1, j) + A(t, j) where t in 1:N }", "", sizes[i], 0);
		same_with("def f(float(N, M) A) -> (h) { h(0, j) = A(0, j)  h(t, j) = h(t - 1, j) + A(t, j) where t in 1:N, j in 0:1 }", "", sizes[i], 1); /* zeros */
		same_with("def f(float(N, M) A) -> (h) { h(0, j) = A(0, j)  h(t, j) += h(t - 1, j) + A(t, j) where t in 1:N }", "", sizes[i], 1);
	}
	/* none at all where there is one step less than it needs */
	same_with("def f(float(N, M) A) -> (h) { h(0, j) = 1.0 where j in 0:M  h(t, j) = h(t - 1, j) + A(t, j) where t in 1:N }", "", "N=0,M=3", 0);
	same_with("def f(float(4, M) A) -> (h) { h(0, j) = 1.0 where j in 0:M  h(t, j) = h(t - 1, j) + A(t, j) where t in 1:4 }", "", "M=3", -1);
}

static void turns(void **state)
{
	static const char *const sizes[] = {"N=3,M=4,K=5", "N=1,M=7,K=1", "N=3,M=2,K=0", "N=0,M=2,K=3"};
	(void)state;
	for (size_t i = 0; i < HEDDLE_COUNT(sizes); i++) {
		same("def f(float(K, M) A, float(K, N) B) -> (C) { C(i, j) +=! A(k, i) * B(k, j) }", "turn=0:A:k", sizes[i]);
		same("def f(float(K, M) A, float(K, N) B) -> (C) { C(i, j) +=! A(k, i) * B(k, j) }", "turn=0:A:k,0:B:k", sizes[i]);
		same("def f(float(K, M) A, float(K, N) B) -> (C) { C(i, j) +=! A(k, i) * B(k, j) }", "turn=0:B:k; split=0:k:2", sizes[i]);
		/* three dimensions, two of them reduced; read twice alike, and once in another way */
		same("def f(float(K, M, N) A) -> (s) { s(n) +=! A(k, m, n) }", "turn=0:A:k", sizes[i]);
		same("def f(float(K, M, N) A) -> (s) { s(n) +=! A(k, m, n) }", "turn=0:A:m", sizes[i]);
		/* a subscript of two digits: the dimension is copied whole */
		same("def f(float(4, K, M) A) -> (s) { s(k, r) +=! A(2 * t + r, k, m) where r in 0:2, t in 0:2 }", "turn=0:A:k", sizes[i]);
		same("def f(float(3, K, M) A) -> (s) { s(k, r) +=! A(2 * t + r, k, m) where r in 0:2, t in 0:(4 - r) / 2 }", "turn=0:A:k", sizes[i]);
		same("def f(float(K, M, N) A) -> (B) { B(n, m, k) = A(k, m, n) }", "turn=0:A:k", sizes[i]);
		/* what a condition chooses is inside of the tensor */
		same("def f(float(K, M) A, float(K) b) -> (s) { s(m) +=! b(k) > 0 ? A(k, m) : 0.0 where k in 0:K, m in 0:M }", "turn=0:A:k", sizes[i]);
		same("def f(float16(K, M) A) -> (s) { s(m) +=! float(A(k, m)) * float(A(k, m)) }", "turn=0:A:k", sizes[i]);
		same("def f(float(K, M) A, float(M, M) B) -> (s) { s(m) +=! A(k, m) * A(k, l) * B(m, l) }", "turn=0:A:k", sizes[i]);
		/* a tensor that an earlier statement writes; a shared expression that still reads it */
		same("def f(float(K, M) A) -> (s) { t(k, m) = A(k, m) + 1.0  s(m) +=! t(k, m) }", "turn=1:t:k", sizes[i]);
		same("def f(float(K, M) A) -> (s, B) { s(m) +=! exp(A(k, m)) * A(k, m)  B(k, m) = exp(A(k, m)) }", "share=0; turn=0:A:k", sizes[i]);
	}
}

static void refused(void **state)
{
	static const struct {
		const char *text, *config;
		int code;
	} bad[] = {
		{"def f(float(N) A) -> (O) { O(i) = A(i) }", "split=0:i:4", 510},
		{"def f(float(N, M) A) -> (O) { O(i) +=! A(i, j) }", "split=0:i:4", 510},
		{"def f(float(N, M) A) -> (O) { O(i) +=! A(i, j) }", "split=0:k:4", 510},
		{"def f(float(N, M) A) -> (O) { O(i) +=! A(i, j) }", "split=1:j:4", 510},
		{"def f(float(N, M) A) -> (O) { O(2 * i) +=! A(i, j) }", "split=0:j:4", 510},
		{"def f(float(N, M) A) -> (O) { O(i) +=! A(i, j) where j in 0:M, i in 0:min(N, j + 1) }", "split=0:j:4", 510},
		/* nothing in common; nothing that is computed; no such statement; twice */
		{"def f(float(N) A) -> (O) { O(i) = exp(A(i)) }", "share=0", 529},
		{"def f(float(N) A) -> (O, P) { O(i) = exp(A(i))  P(i) = A(i) }", "share=0", 529},
		{"def f(float(N) A) -> (O, P) { O(i) = exp(A(i))  P(i) = exp(A(i)) }", "share=1", 529},
		{"def f(float(N) A) -> (O, P) { O(i) = exp(A(i))  P(i) = exp(A(i)) }", "share=2", 529},
		{"def f(float(N) A) -> (O, P) { O(i) = exp(A(i))  P(i) = exp(A(i)) }", "share=0,0", 529},
		{"def f(float(N) A) -> (O, P) { O(i) = exp(A(i))  P(i) = exp(A(i)) }", "share=100000", 529},
		/* other ranges; a tensor that is written in between; what only one of two branches computes */
		{"def f(float(N) A) -> (O, P) { O(i) = exp(A(i))  P(i) = exp(A(i)) where i in 1:N }", "share=0", 529},
		{"def f(float(N) A) -> (P) { t(i) = A(i)  u(i) = exp(t(i))  t(i) = 2 * A(i)  P(i) = exp(t(i)) + u(i) }", "share=1", 529},
		{"def f(float(N) A) -> (O, P) { O(i) = A(i) > 0 ? exp(A(i)) : 0.0  P(i) = exp(A(i)) }", "share=0", 529},
		{"def f(float(N, N) A) -> (O, P) { O(i, j) = exp(A(i, j))  P(i, j) = exp(A(i, i)) + A(j, i) }", "share=0", 529},
		/* rows that run along it; no such dimension, tensor or statement; the target; twice */
		{"def f(float(N, M) A) -> (O) { O(i) +=! A(i, j) }", "turn=0:A:j", 532},
		{"def f(float(N, M) A) -> (O) { O(j) +=! A(i, j) }", "turn=0:A:k", 532},
		{"def f(float(N, M) A) -> (O) { O(j) +=! A(i, j) }", "turn=0:B:i", 532},
		{"def f(float(N, M) A) -> (O) { O(j) +=! A(i, j) }", "turn=1:A:i", 532},
		{"def f(float(N, M) A) -> (inout float(N, M) O) { O(i, j) = O(i, j) + A(i, j) }", "turn=0:O:i", 532},
		{"def f(float(N, M) A) -> (O) { O(j) +=! A(i, j) }", "turn=0:A:i,0:A:i", 532},
		/* subscripts that are no indices, or one of them twice, or not from 0; what a condition chooses; strides */
		{"def f(float(N, M) A) -> (O) { O(j) +=! A(i, j + 1) where j in 0:M-1 }", "turn=0:A:i", 532},
		{"def f(float(N, N) A) -> (O) { O(i) +=! A(i, i) * A(j, j) }", "turn=0:A:i", 532},
		{"def f(float(N, N) A, float(N) B) -> (O) { O(i) +=! A(k, i) * B(k) where i in 1:N }", "turn=0:A:k", 532},
		{"def f(float(N, 8) A, float(N) b) -> (O) { O(j) +=! j < 8 && b(i) > 0 ? A(i, j) : 0.0 where j in 0:9, i in 0:N }", "turn=0:A:i", 532},
		{"def f(float(N, M) A strides (2 * M, 1)) -> (O) { O(j) +=! A(i, j) }", "turn=0:A:i", 532},
	};
	(void)state;
	for (size_t i = 0; i < HEDDLE_COUNT(bad); i++) {
		heddle_ctx *ctx = heddle_ctx_new();
		heddle_arena *arena = heddle_arena_new();
		heddle_module *module = heddle_module_parse(ctx, "test", bad[i].text, NULL);
		heddle_diagnostics_clear(ctx);
		heddle_config *c = heddle_config_parse(ctx, arena, bad[i].config);
		assert_true(module && c);
		assert_null(heddle_definition_rewrite(ctx, arena, module->definition[0], c));
		assert_int_equal(heddle_diagnostics(ctx)->code, bad[i].code);
		heddle_module_free(module);
		heddle_arena_free(arena);
		heddle_ctx_free(ctx);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(splits), cmocka_unit_test(fills), cmocka_unit_test(shares), cmocka_unit_test(recurrences), cmocka_unit_test(turns), cmocka_unit_test(refused)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
