/* What a launch moves, by its text: against numbers counted by hand.  tests/cost and tests/programs compare it with what programs move that run.
 * SPDX-License-Identifier: MIT
 */
#include "cost/traffic.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

typedef struct expected {
	const char *grid, *body;
	int64_t size; /* of N */
	uint64_t load, store, shared_load, shared_store; /* elements */
	bool data;
} expected;

static heddle_program *parse(heddle_ctx *ctx, const char *grid, const char *body)
{
	heddle_text text = {0};
	heddle_text_printf(&text,
			   "program p target cuda:h100 warp 32\nsize N 0..100000\n"
			   "buffer input A float32 [1000000] align 16\nbuffer input at int32 [1000000] align 16\nbuffer scalar limit int32 align 4\n"
			   "buffer output C float32 [1000000] align 16 unread\nbuffer shared s float32 [64] align 16\nbuffer register r float32 [64] align 16\n"
			   "launch k grid %s threads 32 args A, at, limit, C shared s {\n\tdeclare r\n%s\n}\n",
			   grid, body);
	heddle_program *p = heddle_program_parse(ctx, "test", heddle_text_str(&text));
	if (!p)
		fail_msg("%s%s", heddle_text_str(&text), heddle_ctx_messages(ctx));
	heddle_text_free(&text);
	return p;
}

static void by_hand(void **state)
{
	static const expected list[] = {
		/* every element once, a part of the last block: 100 of 4 * 32 */
		{"(N + 31) / 32", "let int32 i = block * 32 + thread if i < int32(N) { C[i] = A[i] }", 100, 100, 100, 0, 0, false},
		/* digits of blocks and threads: 10 x 7 of 2 x 2 tiles of 8 x 4 */
		{"4", "let int32 i = block / 2 * 8 + thread / 4 let int32 j = block % 2 * 4 + thread % 4 if i < 10 && j < 7 { C[i * 7 + j] = A[j] }", 0, 70, 70, 0, 0, false},
		/* blocks in groups of rows, the last one with fewer: 3 rows of 5, by twos */
		{"15", "let int32 first = block / 10 * 2 let int32 rows = min(2, 3 - first) let int32 i = first + block % 10 % rows let int32 j = block % 10 / rows\n"
		 "if i == 2 && j == 4 { C[thread] = A[thread] }", 0, 32, 32, 0, 0, false},
		/* vectors, and registers that are not counted */
		{"2", "r[0 : 4] = A[thread * 4 : 4] s[thread] = r[1] C[thread : 2] = r[2 : 2]", 0, 2 * 32 * 4, 2 * 32 * 2, 0, 2 * 32, false},
		/* a loop as long as a thread says: 0 + 1 + .. + 31 rounds */
		{"1", "for serial k in 0 .. thread { r[0] = A[k] }", 0, 496, 0, 0, 0, false},
		/* from each thread on in steps: 100 elements in all, of each block */
		{"3", "for serial k in thread .. int32(N) step 32 { C[k] = s[k % 64] }", 100, 0, 300, 300, 0, false},
		/* a triangle in a loop in a loop, of each of 32 threads: 0 + 1 + .. + 9 */
		{"1", "for serial i in 0 .. 10 { for serial j in 0 .. i { r[0] = A[i * 10 + j] } }", 0, 32 * 45, 0, 0, 0, false},
		/* the sides of a choice: only one is read; of no elements that are even 16 of 32 threads */
		{"1", "r[0] = (thread % 2 == 0 ? A[thread] : (thread < 8 ? A[0] + A[1] : 0.0))", 0, 16 + 2 * 4, 0, 0, 0, false},
		/* rounded down, and towards 0: of -4 .. 27 by 3 only -4 and -3 are -2 and -1, of the other kind -4 and -3 are -1, -2 .. 2 are 0 */
		{"1", "let int32 x = thread - 4 if floor_div(x, 3) == -1 { r[0] = A[0] } if x / 3 == 0 { r[0] = A[0] } if x % 3 == -1 { r[0] = A[0] } if floor_mod(x, 3) == 2 { r[0] = A[0] }",
		 0, 3 + 5 + 2 + 11, 0, 0, 0, false},
		{"1", "if (thread & 3) == 1 { r[0] = A[0] } if thread >> 2 == 1 { r[0] = A[0] } if (thread ^ 1) == 6 { r[0] = A[0] } if thread << 1 > 59 { r[0] = A[0] }", 0, 8 + 4 + 1 + 2, 0, 0, 0, false},
		{"1", "if thread == 3 || thread == 5 || !(thread < 30) { r[0] = A[0] } else { C[thread] = 1.0 }", 0, 4, 28, 0, 0, false},
		{"1", "if thread != 3 && max(thread, 8) == 8 && (thread > 6 ? 1 : 0) == 1 { r[0] = A[0] }", 0, 2, 0, 0, 0, false},
		/* a block copies once, and less at its end */
		{"4", "copy c min(32, int32(N) - block * 32) to s[0] from A[block * 32] wait c barrier r[0] = s[thread]", 100, 100, 0, 4 * 32, 100, false},
		/* a loop in steps, of which a condition inside knows: 32 + 32 + 6 of 70 elements */
		{"1", "for serial k in 0 .. 128 step 32 { if k + thread < 70 { r[0] = A[k + thread] } }", 0, 70, 0, 0, 0, false},
		/* rounded down below 0: -4 .. 27 by 8, of which -1 has four */
		{"1", "let int32 x = thread - 4 if floor_div(x, 8) == -1 { r[0] = A[0] } else { if floor_div(x, 8) == 0 { C[0] = 1.0 } }", 0, 4, 8, 0, 0, false},
		/* members that choose each for itself read both sides */
		{"1", "r[0 : 4] = (r[4 : 4] < splat(0.0, 4) ? A[thread * 4 : 4] : A[thread * 4 + 128 : 4])", 0, 2 * 32 * 4, 0, 0, 0, false},
		/* truths of integers, and what is made of truths */
		{"1", "if !bool(thread) { r[0] = A[0] } if (thread < 9 | thread > 29) && thread < 31 { r[0] = A[0] } if (thread < 9) != (thread < 5) { r[0] = A[0] }", 0, 1 + 10 + 4, 0, 0, 0, false},
		/* a mask on the left, and of what is below 0 */
		{"1", "if (3 & thread - 4) == 1 { r[0] = A[0] }", 0, 8, 0, 0, 0, false},
		/* no blocks */
		{"N", "C[thread] = A[thread]", 0, 0, 0, 0, 0, false},
		/* data decide: as if they said yes, which is said */
		{"1", "if at[thread] > 0 { r[0] = A[thread] }", 0, 64, 0, 0, 0, true},
		{"1", "if thread < limit[] && thread < 8 { r[0] = A[thread] }", 0, 8, 0, 0, 0, true},
		{"1", "if bool(at[thread]) && bool(at[thread + 3]) { r[0] = A[thread] }", 0, 3 * 32, 0, 0, 0, true},
		/* a great many threads with one number of them all */
		{"1000000", "if block * 32 + thread < limit[] { r[0] = A[thread] }", 0, 32000000, 0, 0, 0, true},
		/* what wraps is as good as data */
		{"1", "if uint8(thread - 1) < 9_uint8 { r[0] = A[thread] }", 0, 32, 0, 0, 0, true},
		{"1", "if (int64(thread) & 9223372036854775807_int64) < 5_int64 { r[0] = A[thread] }", 0, 32, 0, 0, 0, true},
		/* where they decide about nothing that moves it is not */
		{"1", "r[0] = (at[thread] > 0 ? 1.0 : 2.0) if A[thread] < 1.0 { r[1] = 0.0 }", 0, 64, 0, 0, 0, false},
		/* subscripts that data give */
		{"1", "r[0] = A[at[thread]]", 0, 64, 0, 0, 0, false},
	};
	(void)state;
	for (size_t i = 0; i < HEDDLE_COUNT(list); i++) {
		const expected *e = &list[i];
		heddle_ctx *ctx = heddle_ctx_new();
		heddle_program *p = parse(ctx, e->grid, e->body);
		heddle_traffic t;
		assert_true(heddle_launch_traffic(p->launch[0], &e->size, &t));
		if (t.load_bytes[HEDDLE_SPACE_GLOBAL] != 4 * e->load || t.store_bytes[HEDDLE_SPACE_GLOBAL] != 4 * e->store ||
		    t.load_bytes[HEDDLE_SPACE_SHARED] != 4 * e->shared_load || t.store_bytes[HEDDLE_SPACE_SHARED] != 4 * e->shared_store || t.data != e->data)
			fail_msg("%s: %llu %llu %llu %llu%s", e->body, (unsigned long long)t.load_bytes[HEDDLE_SPACE_GLOBAL] / 4,
				 (unsigned long long)t.store_bytes[HEDDLE_SPACE_GLOBAL] / 4, (unsigned long long)t.load_bytes[HEDDLE_SPACE_SHARED] / 4,
				 (unsigned long long)t.store_bytes[HEDDLE_SPACE_SHARED] / 4, t.data ? " data" : "");
		assert_int_equal(t.load_bytes[HEDDLE_SPACE_REGISTER] + t.store_bytes[HEDDLE_SPACE_REGISTER], 0);
		heddle_program_free(p);
		heddle_ctx_free(ctx);
	}
}

/* How often a loop runs that data end; what would take long, or is more than a number holds; a copy under a condition that is not plainly the same for all threads. */
static void not_known(void **state)
{
	static const char *const body[] = {
		"for serial a in 0 .. 2000000000 { for serial b in 0 .. 2000000000 { for serial c in 0 .. 2000000000 { r[0] = A[a] } } }",
		"for serial k in 0 .. at[0] { r[0] = A[k] }",
		"let int32 i = block * 32 + thread let int32 w = i % 57 let int32 h = i / 57 % 57 if w * h % 11 == 3 { r[0] = A[0] }",
		"if (thread ^ 1) < 64 uniform { copy c 8 to s[8] from A[4] wait c }",
	};
	(void)state;
	for (size_t i = 0; i < HEDDLE_COUNT(body); i++) {
		heddle_ctx *ctx = heddle_ctx_new();
		heddle_program *p = parse(ctx, "10000019", body[i]);
		heddle_traffic t;
		if (heddle_launch_traffic(p->launch[0], (const int64_t[]){1}, &t))
			fail_msg("%s: known", body[i]);
		heddle_program_free(p);
		heddle_ctx_free(ctx);
	}
}

/* Many blocks cost no more than few: what they do inside is asked once, and what lies along an edge by halves. */
static void large(void **state)
{
	(void)state;
	heddle_ctx *ctx = heddle_ctx_new();
	heddle_program *p = parse(ctx, "(N + 31) / 32 * N", "let int32 rows = int32(N) let int32 i = block % rows let int32 j = block / rows * 32 + thread if j <= i && j < rows { C[0] = A[j] }");
	heddle_traffic t;
	const int64_t n = 90001;
	assert_true(heddle_launch_traffic(p->launch[0], &n, &t));
	assert_int_equal(t.load_bytes[HEDDLE_SPACE_GLOBAL], 4 * (n * (n + 1) / 2));
	heddle_program_free(p);
	heddle_ctx_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_hand),
		cmocka_unit_test(not_known),
		cmocka_unit_test(large),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
