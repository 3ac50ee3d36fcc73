/* harness/: host arrays, 16-bit floats, NumPy files.
 * SPDX-License-Identifier: MIT
 */
#include "harness/tensor.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void guards_and_poison(void **state)
{
	(void)state;
	const int64_t shape[2] = {3, 5}, stride[2] = {8, 1};
	int64_t distance = 0;
	heddle_array *a = heddle_array_new_strided(HEDDLE_FLOAT32, 2, shape, stride);
	assert_int_equal(heddle_array_count(a), 15);
	assert_int_equal(heddle_array_span(a), 21);
	assert_false(heddle_array_is_dense(a));
	assert_true(heddle_array_is_poison(a, heddle_array_offset(a, 7)));
	assert_int_equal(heddle_array_offset(a, 7), 10);
	heddle_array_fill_random(a, 3);
	assert_true(heddle_array_guards_intact(a, &distance));
	assert_false(heddle_array_is_poison(a, 10));
	heddle_array_set(a, 6, 1); /* padding of row 0 */
	assert_false(heddle_array_guards_intact(a, &distance));
	assert_int_equal(distance, 24);
	a = heddle_array_free(a);
	a = heddle_array_new(HEDDLE_INT8, 2, shape);
	heddle_array_fill_random(a, 3);
	a->data[15] = 0;
	assert_false(heddle_array_guards_intact(a, &distance));
	assert_int_equal(distance, 15);
	a->data[15] = 0xA5;
	a->data[-1] = 0;
	assert_false(heddle_array_guards_intact(a, &distance));
	assert_int_equal(distance, -1);
	heddle_array_free(a);
	const int64_t empty[1] = {0};
	a = heddle_array_new(HEDDLE_FLOAT64, 1, empty);
	assert_int_equal(heddle_array_span(a), 0);
	assert_true(heddle_array_guards_intact(a, &distance));
	heddle_array_free(a);
}

static void half_round_trip(void **state)
{
	(void)state;
	for (uint32_t bits = 0; bits < 65536; ++bits) {
		float h = heddle_float16_to((uint16_t)bits), b = heddle_bfloat16_to((uint16_t)bits);
		if (isnan(h))
			assert_true(isnan(heddle_float16_to(heddle_float16_from((long double)h))));
		else
			assert_int_equal(heddle_float16_from((long double)h), bits);
		if (isnan(b))
			assert_true(isnan(heddle_bfloat16_to(heddle_bfloat16_from((long double)b))));
		else
			assert_int_equal(heddle_bfloat16_from((long double)b), bits);
	}
}

/* Between two neighbours the nearer wins, the middle goes to the even one: checked at every finite pair. */
static void half_rounding(void **state)
{
	(void)state;
	for (uint16_t bits = 0; bits < 0x7BFF; ++bits) {
		long double low = (long double)heddle_float16_to(bits), high = (long double)heddle_float16_to((uint16_t)(bits + 1));
		long double middle = (low + high) / 2, little = (high - low) / 1024;
		assert_int_equal(heddle_float16_from(middle), bits & 1 ? bits + 1 : bits);
		assert_int_equal(heddle_float16_from(middle - little), bits);
		assert_int_equal(heddle_float16_from(-middle - little), (bits + 1) | 0x8000);
	}
	for (uint16_t bits = 0; bits < 0x7F7F; ++bits) {
		long double low = (long double)heddle_bfloat16_to(bits), high = (long double)heddle_bfloat16_to((uint16_t)(bits + 1));
		assert_int_equal(heddle_bfloat16_from((low + high) / 2), bits & 1 ? bits + 1 : bits);
	}
	assert_int_equal(heddle_float16_from(65519), 0x7BFF);
	assert_int_equal(heddle_float16_from(65520), 0x7C00);
	assert_int_equal(heddle_float16_from(1e300L), 0x7C00);
	assert_int_equal(heddle_float16_from(-INFINITY), 0xFC00);
	assert_int_equal(heddle_float16_from(0x1p-25L), 0);
	assert_int_equal(heddle_float16_from(0x1.001p-25L), 1);
	assert_int_equal(heddle_bfloat16_from(3.4e38L), 0x7F80);
}

static void every_type_holds_its_values(void **state)
{
	(void)state;
	const int64_t shape[1] = {4};
	for (int t = 0; t < HEDDLE_N_TYPE; ++t) {
		heddle_array *a = heddle_array_new((heddle_type)t, 1, shape);
		heddle_array_set(a, 1, 1);
		assert_true(heddle_array_get(a, 1) == 1);
		assert_int_equal(heddle_array_get_int(a, 1), 1);
		heddle_array_fill_integers(a, 9, 3);
		for (int k = 0; k < 4; ++k)
			assert_true(fabsl(heddle_array_get(a, k)) <= 3);
		heddle_array_free(a);
	}
	heddle_array *a = heddle_array_new(HEDDLE_UINT64, 1, shape);
	heddle_array_set(a, 0, 18446744073709551615.0L);
	assert_true(heddle_array_get(a, 0) == 18446744073709551615.0L);
	heddle_array_free(a);
	a = heddle_array_new(HEDDLE_INT8, 1, shape);
	heddle_array_set_int(a, 0, 300);
	assert_int_equal(heddle_array_get_int(a, 0), 44);
	heddle_array_free(a);
}

static void npy_round_trip(void **state)
{
	(void)state;
	heddle_ctx *ctx = heddle_ctx_new();
	char folder[512], path[600];
	assert_int_equal(heddle_dir_temporary(ctx, folder), 0);
	snprintf(path, sizeof(path), "%s/a.npy", folder);
	const int64_t shape[3] = {2, 3, 5}, stride[3] = {32, 8, 1};
	for (int t = 0; t < HEDDLE_N_TYPE; ++t)
		for (int rank = 0; rank <= 3; ++rank) {
			heddle_array *a = heddle_array_new_strided((heddle_type)t, rank, shape, rank == 3 ? stride : NULL);
			heddle_array_fill_random(a, 5);
			assert_int_equal(heddle_npy_write(ctx, path, a), t == HEDDLE_BFLOAT16);
			heddle_array *b = heddle_npy_read(ctx, path, t);
			assert_non_null(b);
			assert_int_equal(b->rank, rank);
			for (int64_t k = 0; k < heddle_array_count(a); ++k)
				assert_true(heddle_array_get(a, heddle_array_offset(a, k)) == heddle_array_get(b, k));
			heddle_array_free(a);
			heddle_array_free(b);
		}
	heddle_dir_remove(folder);
	assert_null(heddle_npy_read(ctx, path, -1));
	heddle_ctx_free(ctx);
}

/* A file with this header text and data. */
static heddle_array *parse(heddle_ctx *ctx, const char *text, const void *data, size_t n, int wanted)
{
	char file[512];
	size_t length = strlen(text);
	memcpy(file, "\x93NUMPY\x01\x00", 8);
	file[8] = (char)length;
	file[9] = 0;
	memcpy(file + 10, text, length);
	memcpy(file + 10 + length, data, n);
	return heddle_npy_parse(ctx, "x.npy", file, 10 + length + n, wanted);
}

static void npy_orders(void **state)
{
	(void)state;
	heddle_ctx *ctx = heddle_ctx_new();
	const unsigned char data[12] = {0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6};
	heddle_array *a = parse(ctx, "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }\n", data, 12, -1);
	assert_non_null(a);
	const int expected[6] = {1, 3, 5, 2, 4, 6};
	for (int k = 0; k < 6; ++k)
		assert_int_equal(heddle_array_get_int(a, k), expected[k]);
	heddle_array_free(a);
	a = parse(ctx, "{\"shape\": (6,), 'fortran_order':False,'descr':'<u2'}", data, 12, HEDDLE_BFLOAT16);
	assert_non_null(a);
	assert_int_equal(a->type, HEDDLE_BFLOAT16);
	heddle_array_free(a);
	heddle_ctx_free(ctx);
}

static void npy_faults(void **state)
{
	(void)state;
	static const struct {
		const char *header;
		int wanted, code;
	} bad[] = {
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", HEDDLE_INT32, 702},
		{"{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }", -1, 702},
		{"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }", -1, 702},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", -1, 703},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", -1, 703},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,2), }", -1, 701},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }", -1, 701},
		{"{'descr': '<f4', 'fortran_order': Maybe, 'shape': (2,), }", -1, 701},
		{"{'descr': '<f4', 'fortran_order': False, }", -1, 701},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'more': 1}", -1, 701},
		{"{'descr': '<f4", -1, 701},
		{"", -1, 701},
	};
	for (size_t k = 0; k < HEDDLE_COUNT(bad); ++k) {
		heddle_ctx *ctx = heddle_ctx_new();
		const double data = 0;
		assert_null(parse(ctx, bad[k].header, &data, 8, bad[k].wanted));
		assert_int_equal(heddle_error_count(ctx), 1);
		assert_int_equal(heddle_diagnostics(ctx)->code, bad[k].code);
		heddle_ctx_free(ctx);
	}
	heddle_ctx *ctx = heddle_ctx_new();
	assert_null(heddle_npy_parse(ctx, "x", "\x93NUMPY\x01\x00\xff\x00{", 11, -1));
	assert_null(heddle_npy_parse(ctx, "x", "PK", 2, -1));
	assert_null(heddle_npy_parse(ctx, "x", "\x93NUMPY\x07\x00\x01\x00{", 11, -1));
	assert_int_equal(heddle_error_count(ctx), 3);
	heddle_ctx_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(guards_and_poison), cmocka_unit_test(half_round_trip),
		cmocka_unit_test(half_rounding),     cmocka_unit_test(every_type_holds_its_values),
		cmocka_unit_test(npy_round_trip),    cmocka_unit_test(npy_orders),
		cmocka_unit_test(npy_faults),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
