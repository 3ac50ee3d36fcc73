/* harness/: sizes around tiles, index values inside their tensors, and every layer's cases through the reference: it
 * evaluates, its bounds are not vacuous, its own values pass.
 * SPDX-License-Identifier: MIT
 */
#include "harness/cases.h"
#include "harness/compare.h"

#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char matmul[] = "#: sizes M=5 N=6 K=7\n"
			     "def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }\n";

static bool has_case(const heddle_case_list *list, const char *name)
{
	for (int k = 0; k < list->n; ++k)
		if (!strcmp(list->item[k].name, name))
			return true;
	return false;
}

static void around_tiles(void **state)
{
	(void)state;
	heddle_ctx *ctx = heddle_ctx_new();
	heddle_arena *arena = heddle_arena_new();
	heddle_module *module = heddle_module_parse(ctx, "t.tc", matmul, NULL);
	const heddle_tile_hint tile[3] = {{"m", 32, 1}, {"n", 16, 1}, {"k", 8, 1}};
	heddle_case_options options = {.n_tile = 3, .tile = tile};
	heddle_case_list list;
	assert_int_equal(heddle_cases_choose(ctx, arena, module, module->definition[0], &options, &list), 0);
	assert_true(list.item[0].given);
	assert_int_equal(list.item[0].size[0] * list.item[0].size[1] * list.item[0].size[2], 5 * 6 * 7);
	assert_true(has_case(&list, "M=32 K=24 N=16"));
	assert_true(has_case(&list, "M=33 K=25 N=17"));
	assert_true(has_case(&list, "M=31 K=7 N=15"));
	assert_true(has_case(&list, "M=67 K=35 N=35"));
	assert_true(has_case(&list, "M=1 K=1 N=1"));
	assert_true(has_case(&list, "M=3 K=0 N=3"));
	options.cost = 1000;
	assert_int_equal(heddle_cases_choose(ctx, arena, NULL, module->definition[0], &options, &list), 0);
	for (int k = 0; k < list.n; ++k)
		assert_true(list.item[k].cost <= 1000);
	/* a sweep ends with cases that cost more, of tiles with all their rounds */
	const heddle_tile_hint rounds[3] = {{"m", 32, 4}, {"n", 16, 1}, {"k", 8, 1}};
	options = (heddle_case_options){.n_tile = 3, .tile = rounds, .cost = 10000, .sweep = true};
	assert_int_equal(heddle_cases_choose(ctx, arena, NULL, module->definition[0], &options, &list), 0);
	for (int k = 0; k < list.n; ++k) {
		assert_true(list.item[k].cost <= (list.item[k].dear ? 100000 : 10000));
		assert_true(k == 0 || list.item[k].dear >= list.item[k - 1].dear);
	}
	assert_true(has_case(&list, "M=128 K=9 N=16"));
	options = (heddle_case_options){.n_tile = 3, .tile = tile, .given_only = true};
	assert_int_equal(heddle_cases_choose(ctx, arena, module, module->definition[0], &options, &list), 0);
	assert_int_equal(list.n, 1);
	heddle_module_free(module);
	/* Ranges and divisors are kept. */
	heddle_size_list *sizes = heddle_sizes_parse(ctx, arena, "M=4:20,K=64*,N=5");
	module = heddle_module_parse(ctx, "t.tc", strchr(matmul, '\n') + 1, sizes);
	options = (heddle_case_options){.n_tile = 3, .tile = tile};
	assert_int_equal(heddle_cases_choose(ctx, arena, module, module->definition[0], &options, &list), 0);
	for (int k = 0; k < list.n; ++k)
		assert_int_equal(heddle_sizes_check(ctx, module->definition[0], list.item[k].size), 0);
	heddle_module_free(module);
	heddle_arena_free(arena);
	heddle_ctx_free(ctx);
}

static void bad_lines(void **state)
{
	(void)state;
	static const char *const lines[] = {"sizes M=5 N=6", "sizes M=5 N=6 K=7 Q=1", "sizes M=1:5 N=6 K=7"};
	for (size_t k = 0; k < HEDDLE_COUNT(lines); ++k) {
		heddle_ctx *ctx = heddle_ctx_new();
		heddle_arena *arena = heddle_arena_new();
		char text[300];
		snprintf(text, sizeof(text), "#: %s\n%s", lines[k], strchr(matmul, '\n') + 1);
		heddle_module *module = heddle_module_parse(ctx, "t.tc", text, NULL);
		heddle_case_list list;
		assert_int_equal(heddle_cases_choose(ctx, arena, module, module->definition[0], NULL, &list), -1);
		assert_int_equal(heddle_diagnostics(ctx)->code, 717);
		assert_int_equal(heddle_diagnostics(ctx)->location.line, 1);
		heddle_module_free(module);
		heddle_arena_free(arena);
		heddle_ctx_free(ctx);
	}
}

static void gathers_and_fills(void **state)
{
	(void)state;
	heddle_ctx *ctx = heddle_ctx_new();
	heddle_module *module = heddle_module_parse(
		ctx, "t.tc",
		"#: fill x=0.5:0.75\n"
		"def f(float(E) T, int32(N) I, int32(N) J, float(N) x, int32(N) d) -> (O) {"
		" O(n) = T(I(n)) + T(J(n) + 2) + x(n) + float(7 / d(n)) }\n",
		NULL);
	if (!module)
		fail_msg("%s", heddle_ctx_messages(ctx));
	const heddle_definition *d = module->definition[0];
	int64_t size[2];
	for (int k = 0; k < 2; ++k)
		size[k] = d->size[k]->name[0] == 'E' ? 9 : 300;
	heddle_array *array[8];
	for (int fill = 0; fill < 2; ++fill) {
		assert_int_equal(heddle_case_arrays(ctx, module, d, size, (heddle_fill)fill, 5, array), 0);
		bool low = false, high = false;
		for (int k = 0; k < 300; ++k) {
			int64_t i = heddle_array_get_int(array[1], k), j = heddle_array_get_int(array[2], k);
			assert_true(i >= 0 && i < 9 && j >= -2 && j < 7);
			assert_true(heddle_array_get_int(array[4], k) > 0);
			assert_true(heddle_array_get(array[3], k) >= 0.5L && heddle_array_get(array[3], k) <= 0.75L);
			low = low || j == -2;
			high = high || j == 6;
		}
		assert_true(low && high);
		assert_true(heddle_array_is_poison(array[5], 3));
		heddle_reference *r = heddle_reference_evaluate(ctx, d, size, array, NULL);
		assert_non_null(r);
		heddle_reference_free(r);
		heddle_case_arrays_free(d, array);
	}
	heddle_module_free(module);
	heddle_ctx_free(ctx);
}

/* The reference's values, rounded to the output's type, are what a perfect device would return. */
static void judge_itself(heddle_ctx *ctx, const heddle_module *module, const heddle_definition *d, const heddle_case *c,
			 heddle_fill fill)
{
	heddle_arena *arena = heddle_arena_new();
	heddle_array **array = HEDDLE_NEW_ARRAY(arena, heddle_array *, d->n_tensor);
	if (heddle_case_arrays(ctx, module, d, c->size, fill, 11, array) < 0)
		fail_msg("%s", heddle_ctx_messages(ctx));
	heddle_reference *r = heddle_reference_evaluate(ctx, d, c->size, array, NULL);
	if (!r)
		fail_msg("%s %s: %s", d->name, c->name, heddle_ctx_messages(ctx));
	for (int k = 0; k < r->n_output; ++k) {
		const heddle_expected *x = &r->output[k];
		heddle_array *result = array[x->tensor->position];
		for (int64_t e = 0; e < x->n; ++e)
			if (x->value)
				heddle_array_set(result, e, x->value[e]);
			else
				heddle_array_set_int(result, e, x->integer[e]);
		heddle_comparison comparison;
		heddle_compare(arena, x, result, &comparison);
		if (!comparison.pass)
			fail_msg("%s %s: %s", d->name, c->name, comparison.message);
	}
	heddle_reference_free(r);
	heddle_case_arrays_free(d, array);
	heddle_arena_free(arena);
}

static void layers(void **state)
{
	(void)state;
	int n = 0;
	DIR *folder = opendir(HEDDLE_SOURCE_DIR "/layers");
	assert_non_null(folder);
	for (struct dirent *entry; (entry = readdir(folder));) {
		const char *suffix = strrchr(entry->d_name, '.');
		if (!suffix || strcmp(suffix, ".tc"))
			continue;
		heddle_ctx *ctx = heddle_ctx_new();
		heddle_arena *arena = heddle_arena_new();
		const char *path = heddle_arena_printf(arena, HEDDLE_SOURCE_DIR "/layers/%s", entry->d_name);
		char *text = heddle_file_read(ctx, path, NULL);
		heddle_module *module = text ? heddle_module_parse(ctx, entry->d_name, text, NULL) : NULL;
		if (!module)
			fail_msg("%s", heddle_ctx_messages(ctx));
		for (int k = 0; k < module->n_definition; ++k) {
			const heddle_definition *d = module->definition[k];
			const heddle_case_options options = {.cost = 2e5};
			heddle_case_list list;
			if (heddle_cases_choose(ctx, arena, module, d, &options, &list) < 0)
				fail_msg("%s", heddle_ctx_messages(ctx));
			for (int c = 0; c < list.n; ++c) {
				judge_itself(ctx, module, d, &list.item[c], HEDDLE_FILL_RANDOM);
				if (heddle_definition_may_be_exact(d))
					judge_itself(ctx, module, d, &list.item[c], HEDDLE_FILL_INTEGERS);
				++n;
			}
		}
		free(text);
		heddle_module_free(module);
		heddle_arena_free(arena);
		heddle_ctx_free(ctx);
	}
	closedir(folder);
	print_message("%d cases\n", n);
	assert_true(n > 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(around_tiles),
		cmocka_unit_test(bad_lines),
		cmocka_unit_test(gathers_and_fills),
		cmocka_unit_test(layers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
