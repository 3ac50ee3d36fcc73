/* Mutants of a tiled product: each differs from it, is valid, and is killed by the interpreter or by its numbers.
 * SPDX-License-Identifier: MIT
 */
#include "harness/interpret.h"
#include "harness/mutate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char product[] =
	"program product warp 4\n"
	"size M 1..256\nsize K 1..256\n"
	"buffer input A float32 [M][K]\n"
	"buffer output C float32 [M] unread\n"
	"buffer output D float32 [M] unread\n"
	"buffer shared S float32 [8]\n"
	"buffer register acc float32\n"
	"launch rows grid (M + 1) / 2 threads 8 args A, C, D shared S {\n"
	"	let int32 i = block * 2 + thread / 4\n"
	"	let int32 t = thread % 4\n"
	"	declare acc\n"
	"	acc[] = 0.0\n"
	"	for serial k in 0 .. int32(K) step 4 {\n"
	"		S[thread] = (i < int32(M) && k + t < int32(K) ? A[i][k + t] : 0.0)\n"
	"		barrier\n"
	"		acc[] = acc[] + S[thread / 4 * 4 + (t + 1) % 4] * float32(t + k + 1)\n"
	"		barrier\n"
	"	}\n"
	"	let float32 two = acc[] + shuffle(acc[], 1)\n"
	"	let float32 four = two + shuffle(two, 2)\n"
	"	if t == 0 && i < int32(M) {\n"
	"		C[i] = four\n"
	"	}\n"
	"	if t == 1 && i < int32(M) {\n"
	"		D[i] = max(four, 0.0)\n"
	"	}\n"
	"}\n";

static heddle_program *parse(heddle_ctx *ctx)
{
	heddle_program *p = heddle_program_parse(ctx, "test", product);
	if (!p || heddle_program_validate(ctx, p) < 0)
		fail_msg("%s", heddle_ctx_messages(ctx));
	return p;
}

/* Runs `p`; findings, and the outputs' values into result [2 * M]. */
static int run(heddle_ctx *ctx, const heddle_program *p, const int64_t *size, float *result)
{
	heddle_arena *arena = heddle_arena_new();
	heddle_array *array[5] = {heddle_array_new(HEDDLE_FLOAT32, 2, size), heddle_array_new(HEDDLE_FLOAT32, 1, size),
				  heddle_array_new(HEDDLE_FLOAT32, 1, size), NULL, NULL};
	heddle_array_fill_integers(array[0], 3, 9);
	heddle_interpret in = {.arena = arena, .program = p, .size = size, .array = array, .max_operations = 1000000};
	assert_int_equal(heddle_interpret_run(ctx, &in), 0);
	for (int64_t k = 0; k < size[0]; k++) {
		result[k] = (float)heddle_array_get(array[1], k);
		result[size[0] + k] = (float)heddle_array_get(array[2], k);
	}
	for (int k = 0; k < 3; k++)
		heddle_array_free(array[k]);
	int n = in.n_finding;
	heddle_arena_free(arena);
	return n;
}

static void test_all_killed(void **state)
{
	(void)state;
	static const int64_t sizes[][2] = {{5, 10}, {4, 9}, {2, 4}};
	/* means the same: one more step, which adds zeros */
	static const char same[] = "the upper bound of the loop over k + 1";
	heddle_ctx *ctx = heddle_ctx_new();
	heddle_program *p = parse(ctx);
	float right[3][16], got[16];
	for (int s = 0; s < 3; s++)
		assert_int_equal(run(ctx, p, sizes[s], right[s]), 0);
	heddle_text original = {0}, text = {0}, what = {0};
	heddle_program_print(p, &original);
	int n = heddle_mutant_count(p), wrong = 0;
	assert_true(n > 30);
	for (int k = 0; k < n; k++) {
		heddle_text_clear(&text);
		heddle_text_clear(&what);
		heddle_program *mutant = heddle_mutant(p, k, &what);
		assert_non_null(mutant);
		assert_true(what.length > 0);
		if (heddle_program_validate(ctx, mutant) < 0)
			fail_msg("%s: %s", what.data, heddle_ctx_messages(ctx));
		heddle_program_print(mutant, &text);
		if (!strcmp(text.data, original.data))
			fail_msg("%s: nothing has changed", what.data);
		bool killed = false;
		for (int s = 0; s < 3; s++) {
			killed |= run(ctx, mutant, sizes[s], got) > 0;
			killed |= memcmp(got, right[s], sizeof(float) * 2 * (size_t)sizes[s][0]) != 0;
		}
		if (killed == (strstr(what.data, same) != NULL)) {
			print_message("%s: %s\n", killed ? "killed" : "alive", what.data);
			wrong++;
		}
		heddle_program_free(mutant);
	}
	assert_int_equal(wrong, 0);
	assert_null(heddle_mutant(p, n, NULL));
	assert_null(heddle_mutant(p, -1, NULL));
	heddle_text_free(&original);
	heddle_text_free(&text);
	heddle_text_free(&what);
	heddle_program_free(p);
	heddle_ctx_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_killed)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
