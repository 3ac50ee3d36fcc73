/* Tables of timings are read as they are written, and a row that is wrong is named by file and line.
 * SPDX-License-Identifier: MIT
 */
#include "bench/replay/table.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define HEAD "@ opencl:cpu layers/products.tc matmul M=8,N=8,K=8 zen/2026-11-24,zen4/2026-11-26\n"
#define CONVOLUTION "block_x,block_y,tile_x,tile_y,read_only,padding,shared,constant,A100_us,RTX_2080_Ti_us\n"

static void read_back(void **state)
{
	heddle_ctx *ctx = heddle_ctx_new();
	heddle_arena *arena = heddle_arena_new();
	heddle_timings t = {0};
	(void)state;
	assert_int_equal(heddle_timings_parse(ctx, arena, "a.tsv", "# note\n" HEAD "1e-3,2e-3\tfuse=0\n,4e-3\tfuse=1\n", &t), 0);
	assert_int_equal(heddle_timings_parse(ctx, arena, "b.csv", CONVOLUTION "32,4,1,2,0,0,0,1,10,\n32,4,1,2,1,0,0,1,20,30\n", &t), 0);
	assert_int_equal(t.n, 5);
	assert_string_equal(t.group[1].machine, "zen4");
	assert_int_equal(t.group[0].n, 1);
	assert_int_equal(t.group[1].n, 2);
	assert_ptr_equal(t.group[0].timing[0].candidate, t.group[1].timing[0].candidate);
	assert_string_equal(t.group[1].timing[1].candidate->config, "fuse=1");
	assert_true(fabs(t.group[1].timing[1].seconds - 4e-3) < 1e-12);
	assert_string_equal(t.group[2].sizes, "read_only=0");
	assert_string_equal(t.group[3].sizes, "read_only=1");
	assert_int_equal(t.group[3].list, t.group[2].list);
	assert_string_equal(t.group[4].machine, "rtx2080ti");
	assert_true(fabs(t.group[4].timing[0].seconds - 30e-6) < 1e-12);
	assert_int_equal(t.group[4].timing[0].candidate->parameter[4], 1);
	heddle_arena_free(arena);
	heddle_ctx_free(ctx);
}

static void wrong_rows(void **state)
{
	static const struct {
		const char *text, *message;
	} wrong[] = {
		{"1e-3\tfuse=0\n", "t:1:1: error: a row before"},
		{"@ opencl:cpu layers/products.tc matmul zen\n", "t:1:1: error: a list of rows begins with"},
		{HEAD "1e-3,2e-3\tfuse=0\n1e-3\tfuse=1\n", "t:3:1: error: a row is one time for each run"},
		{HEAD "1e-3,2e-3 fuse=0\n", "t:2:1: error: a row is one time for each run"},
		{HEAD "1e-3,fast\tfuse=0\n", "t:2:1: error: a time that is no positive number"},
		{HEAD "1e-3,-1\tfuse=0\n", "t:2:1: error: a time that is no positive number"},
		{"# note\nblock_x,block_y,A100_us\n", "t:2:1: error: neither a row"},
		{"block_x,block_y,tile_x,tile_y,read_only,padding,shared,constant,A100\n", "t:1:1: error: a chip's column"},
		{CONVOLUTION "32,4,1,2,0,0,0,1,10\n", "t:2:1: error: a row of more or fewer columns"},
		{CONVOLUTION "32,4,1,2,0,0,0,1,10,20,30\n", "t:2:1: error: a row of more or fewer columns"},
		{CONVOLUTION "32,4,1.5,2,0,0,0,1,10,20\n", "t:2:1: error: a parameter that is no whole number"},
		{CONVOLUTION "32,4,1,2,0,0,0,1,10,0\n", "t:2:1: error: a time that is no positive number"},
	};
	(void)state;
	for (size_t i = 0; i < HEDDLE_COUNT(wrong); i++) {
		heddle_ctx *ctx = heddle_ctx_new();
		heddle_arena *arena = heddle_arena_new();
		heddle_timings t = {0};
		assert_int_equal(heddle_timings_parse(ctx, arena, "t", wrong[i].text, &t), -1);
		if (strncmp(heddle_ctx_messages(ctx), wrong[i].message, strlen(wrong[i].message)) != 0)
			fail_msg("%s is not: %s", heddle_ctx_messages(ctx), wrong[i].message);
		heddle_arena_free(arena);
		heddle_ctx_free(ctx);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(read_back), cmocka_unit_test(wrong_rows)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
