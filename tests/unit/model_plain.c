/* What model/plain.c sees of sets is so, as isl confirms for sets drawn at random, and it sees what mapped kernels ask for.
 * SPDX-License-Identifier: MIT
 */
#include "model/plain.h"

#include <isl/ctx.h>
#include <isl/options.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static isl_set *read_set(isl_ctx *isl, const char *text)
{
	isl_set *set = isl_set_read_from_str(isl, text);
	assert_non_null(set);
	return set;
}

static bool inside(isl_ctx *isl, const char *a, const char *b)
{
	isl_set *first = read_set(isl, a), *second = read_set(isl, b);
	const bool plain = heddle_plainly_inside(first, second);
	if (plain)
		assert_int_equal(isl_set_is_subset(first, second), isl_bool_true);
	isl_set_free(first);
	isl_set_free(second);
	return plain;
}

static isl_ctx *begin(void)
{
	isl_ctx *isl = isl_ctx_alloc();
	isl_options_set_on_error(isl, ISL_ON_ERROR_ABORT);
	return isl;
}

static void seen(void **state)
{
	(void)state;
	isl_ctx *isl = begin();
	/* a bound, word for word and sharper; one condition and bounds; two conditions; a bound that is rounded; quotients; pieces */
	assert_true(inside(isl, "{ [x] : 0 <= x < 8 }", "{ [x] : 0 <= x < 8 }"));
	assert_true(inside(isl, "{ [x] : 1 <= x < 8 }", "{ [x] : 0 <= x < 9 }"));
	assert_true(inside(isl, "[N] -> { [b, x] : 0 <= x < 8 and 8 b <= N - 8 }", "[N] -> { [b, x] : 8 b + x < N }"));
	assert_true(inside(isl, "[N] -> { [b, x] : 0 <= x < N - 8 b and 8 b >= N - 7 }", "[N] -> { [b, x] : x <= 6 }"));
	assert_true(inside(isl, "[N] -> { [b] : 8 b >= N - 7 and N >= 0 }", "[N] -> { [b] : b >= 0 }"));
	assert_true(inside(isl, "[N] -> { [b] : 8 b <= N - 12 and N <= 3 }", "[N] -> { [b] : b <= -2 }"));
	assert_true(inside(isl, "{ [x] : x mod 4 = 1 and 0 <= x < 8 }", "{ [x] : x >= 0 }"));
	assert_true(inside(isl, "{ [x] : x mod 4 = 1 and 0 <= x < 8 }", "{ [x] : x mod 4 = 1 }"));
	assert_true(inside(isl, "{ [x] : 0 <= x < 4 or 6 <= x < 8 }", "{ [x] : 5 < x < 9 or 0 <= x < 5 }"));
	assert_true(inside(isl, "[N, M] -> { [x] : N <= x < M }", "[M] -> { [x] : x < M }")); /* parameters in another order */
	assert_false(inside(isl, "{ [x] : 0 <= x < 9 }", "{ [x] : 0 <= x < 8 }"));
	assert_false(inside(isl, "{ [x, y] : 0 <= x < 8 }", "{ [x, y] : 0 <= y < 8 }"));
	assert_false(inside(isl, "{ [x] : x mod 4 = 1 }", "{ [x] : x mod 4 = 2 }"));
	assert_false(inside(isl, "{ [x] : x mod 4 = 1 }", "{ [x] : x mod 8 = 1 }"));
	isl_ctx_free(isl);
}

static bool box_of(isl_ctx *isl, const char *set, const char *known, int64_t extent)
{
	isl_set *first = read_set(isl, set), *second = read_set(isl, known);
	const bool box = heddle_plainly_box(first, second, extent);
	isl_set_free(first);
	isl_set_free(second);
	return box;
}

static void boxes(void **state)
{
	(void)state;
	isl_ctx *isl = begin();
	static const char known[] = "[N] -> { [x, y] : 0 <= x < N }";
	assert_true(box_of(isl, "[N] -> { [x, y] : 0 <= x < N and 0 <= y < 8 }", known, 8));
	assert_true(box_of(isl, "[N] -> { [x, y] : 0 <= y < 8 and x + y >= 0 }", known, 8));
	assert_false(box_of(isl, "[N] -> { [x, y] : 0 <= x < N and 0 <= y < 8 }", known, 7));
	assert_false(box_of(isl, "[N] -> { [x, y] : 0 <= x < N and 0 <= y < 8 }", known, 9));
	assert_false(box_of(isl, "[N] -> { [x, y] : 0 <= x < N and -1 <= y < 8 }", known, 8));
	assert_false(box_of(isl, "[N] -> { [x, y] : 1 <= x < N and 0 <= y < 8 }", known, 8));
	assert_false(box_of(isl, "[N] -> { [x, y] : 0 <= y < 8 and x + y < N }", known, 8));
	isl_ctx_free(isl);
}

/* A set of [x, y, z] in a box of one parameter, with some conditions more. */
static const char *draw(unsigned *seed, char *text, size_t size)
{
	size_t n = (size_t)snprintf(text, size, "[N] -> { [x, y, z] : 0 <= N < 9");
	static const char *const name[] = {"N", "x", "y", "z"};
	for (int i = 0, rows = 2 + (int)(*seed >> 20) % 5; i < rows; i++) {
		n += (size_t)snprintf(text + n, size - n, " and 0");
		for (int k = 0; k < 4; k++) {
			*seed = *seed * 1664525u + 1013904223u;
			const int c = (int)(*seed >> 24) % 9 - 4;
			if ((*seed >> 16) % 3 == 0 || i < 2) /* some are bounds */
				n += (size_t)snprintf(text + n, size - n, " + %d %s", i < 2 && k != 1 + i ? 0 : c, name[k]);
		}
		*seed = *seed * 1664525u + 1013904223u;
		n += (size_t)snprintf(text + n, size - n, " %s %d", (*seed >> 13) % 8 ? "<=" : "=", (int)(*seed >> 26) - 8);
	}
	snprintf(text + n, size - n, " }");
	return text;
}

static void confirmed(void **state)
{
	(void)state;
	isl_ctx *isl = begin();
	char a[400], b[400];
	unsigned seed = 1;
	int plain = 0, boxes = 0;
	for (int i = 0; i < 4000; i++) {
		isl_set *first = read_set(isl, draw(&seed, a, sizeof(a))), *second = read_set(isl, draw(&seed, b, sizeof(b)));
		isl_set *both = isl_set_intersect(isl_set_copy(first), isl_set_copy(second));
		isl_set *plain_both = heddle_plainly_intersect(isl_set_copy(first), isl_set_copy(second));
		assert_int_equal(isl_set_is_equal(plain_both, both), isl_bool_true);
		isl_set_free(plain_both);
		if (heddle_plainly_inside(first, second)) {
			plain++;
			assert_int_equal(isl_set_is_subset(first, second), isl_bool_true);
		}
		if (heddle_plainly_inside(both, second)) {
			plain++;
			assert_int_equal(isl_set_is_subset(both, second), isl_bool_true);
		}
		/* { [x, y, z] in known : 0 <= z < 5 }, and one condition more */
		isl_set *known = isl_set_remove_divs(isl_set_eliminate(first, isl_dim_set, 2, 1)), *box = isl_set_copy(known);
		box = isl_set_upper_bound_si(isl_set_lower_bound_si(box, isl_dim_set, 2, 0), isl_dim_set, 2, 4);
		isl_set *set = isl_set_intersect(isl_set_copy(box), second);
		if (heddle_plainly_box(set, known, 5)) {
			boxes++;
			assert_int_equal(isl_set_is_equal(set, box), isl_bool_true);
		}
		if (isl_set_n_basic_set(box) == 1 && isl_set_is_empty(box) == isl_bool_false)
			assert_true(heddle_plainly_box(box, known, 5));
		isl_set_free(both);
		isl_set_free(known);
		isl_set_free(box);
		isl_set_free(set);
	}
	isl_ctx_free(isl);
	assert_true(plain > 1000);
	assert_true(boxes > 10);
}

/* Also where the parameters are not the same ones, and where there are several pieces. */
static void of_parameters(void **state)
{
	(void)state;
	isl_ctx *isl = begin();
	static const char *const sets[] = {"[N] -> { A[x] : 0 <= x < N }", "[N, M] -> { A[x] : 0 <= x < N + M }", "{ A[x] : x = 3 or x > 7 }",
					   "[M, N] -> { A[x] : 2x = N }"};
	static const char *const params[] = {"[N] -> { : N > 4 }", "[M, N] -> { : N = 2 * M }", "[N] -> { : N < 3 or N > 5 }", "[N] -> { : N < 0 }"};
	for (size_t i = 0; i < sizeof(sets) / sizeof(*sets); i++)
		for (size_t k = 0; k < sizeof(params) / sizeof(*params); k++) {
			isl_set *set = read_set(isl, sets[i]), *of = read_set(isl, params[k]);
			isl_set *expected = isl_set_intersect_params(isl_set_copy(set), isl_set_copy(of));
			set = heddle_plainly_intersect_params(set, of);
			assert_int_equal(isl_set_is_equal(set, expected), isl_bool_true);
			isl_set_free(set);
			isl_set_free(expected);
		}
	for (size_t i = 0; i < sizeof(sets) / sizeof(*sets); i++)
		for (size_t k = 0; k < sizeof(sets) / sizeof(*sets); k++) {
			isl_set *a = read_set(isl, sets[i]), *b = read_set(isl, sets[k]);
			isl_set *expected = isl_set_intersect(isl_set_copy(a), isl_set_copy(b));
			a = heddle_plainly_intersect(a, b);
			assert_int_equal(isl_set_is_equal(a, expected), isl_bool_true);
			isl_set_free(a);
			isl_set_free(expected);
		}
	isl_ctx_free(isl);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(seen), cmocka_unit_test(boxes), cmocka_unit_test(confirmed),
					   cmocka_unit_test(of_parameters)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
