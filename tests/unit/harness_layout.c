/* Programs with declared strides, and programs without vectors of global memory: right where they should be, and an access
 * between the elements of a strided tensor is found.
 * SPDX-License-Identifier: MIT
 */
#include "harness/interpret.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* C = A + 1 in rows of lda and ldc elements; `%s` is the subscript that is stored to. */
static const char strided[] =
	"program p target cuda:h200 warp 32\nsize N 1..100\nsize lda 0..200\nsize ldc 0..200\n"
	"buffer input A float32 [3][N] strides [lda][1] align 4\n"
	"buffer output C float32 [3][N] strides [ldc][1] align 4\n"
	"launch p_0 grid 1 threads 32 args A, C {\n"
	"	for serial i in 0 .. 3 {\n"
	"		for serial j in thread .. int32(N) step 32 {\n"
	"			C[%s] = A[i][j] + 1.0\n"
	"		}\n	}\n}\n";

typedef struct run {
	heddle_ctx *ctx;
	heddle_arena *arena;
	heddle_program *p;
	heddle_array *array[4];
	heddle_interpret in;
} run;

static heddle_program *parse(heddle_ctx *ctx, const char *text)
{
	heddle_program *p = heddle_program_parse(ctx, "test", text);
	if (!p || heddle_program_validate(ctx, p) < 0)
		fail_msg("%s", heddle_ctx_messages(ctx));
	heddle_program_number(p);
	return p;
}

static void start(run *r, const char *store, const int64_t *size)
{
	heddle_text text = {0};
	memset(r, 0, sizeof(*r));
	r->ctx = heddle_ctx_new();
	r->arena = heddle_arena_new();
	const char *at = strstr(strided, "%s");
	heddle_text_printf(&text, "%.*s%s%s", (int)(at - strided), strided, store, at + 2);
	r->p = parse(r->ctx, heddle_text_str(&text));
	heddle_text_free(&text);
	for (int k = 0; k < 2; k++)
		r->array[k] = heddle_array_new_strided(HEDDLE_FLOAT32, 2, (const int64_t[]){3, size[0]}, (const int64_t[]){size[1 + k], 1});
	heddle_array_fill_integers(r->array[0], 7, 50);
	r->in = (heddle_interpret){.arena = r->arena, .program = r->p, .size = size, .array = r->array};
	assert_int_equal(heddle_interpret_run(r->ctx, &r->in), 0);
}

static void stop(run *r)
{
	for (int k = 0; k < 4; k++)
		heddle_array_free(r->array[k]);
	heddle_program_free(r->p);
	heddle_arena_free(r->arena);
	heddle_ctx_free(r->ctx);
}

static void right(const char *store, int64_t n, int64_t lda, int64_t ldc)
{
	run r;
	start(&r, store, (const int64_t[]){n, lda, ldc});
	assert_int_equal(r.in.n_finding, 0);
	for (int64_t k = 0; k < 3 * n; k++)
		assert_true(heddle_array_get(r.array[1], heddle_array_offset(r.array[1], k)) ==
			    heddle_array_get(r.array[0], heddle_array_offset(r.array[0], k)) + 1);
	assert_true(heddle_array_guards_intact(r.array[1], NULL));
	stop(&r);
}

static void strides(void **state)
{
	(void)state;
	right("i][j", 40, 40, 40);
	right("i][j", 40, 57, 43);
	right("i][j", 40, 0, 41); /* every row of A is the same memory */
	right("int64(i) * ldc + int64(j)", 40, 57, 43);
}

static void between(void **state)
{
	(void)state;
	static const char *const stores[] = {"int64(i) * ldc + int64(j) + 1", "int64(i) * (ldc - 1) + int64(j)", "i][j + 1"};
	for (size_t k = 0; k < HEDDLE_COUNT(stores); k++) {
		run r;
		start(&r, stores[k], (const int64_t[]){40, 57, 43});
		assert_true(r.in.n_finding > 0);
		assert_string_equal(r.in.finding[0].kind, "bounds");
		stop(&r);
	}
}

/* The text form: printed as parsed, and too few strides or strides of shared memory are refused. */
static void text_form(void **state)
{
	(void)state;
	heddle_ctx *ctx = heddle_ctx_new();
	heddle_text text = {0}, first = {0}, second = {0};
	heddle_text_printf(&text, strided, "i][j");
	heddle_program *p = parse(ctx, heddle_text_str(&text)), *copy = heddle_program_copy(p);
	heddle_program_print(p, &first);
	heddle_program_print(copy, &second);
	assert_string_equal(heddle_text_str(&first), heddle_text_str(&second));
	assert_non_null(strstr(heddle_text_str(&first), "[3][N] strides [ldc][1] align 4"));
	heddle_program *again = parse(ctx, heddle_text_str(&first));
	heddle_text_clear(&second);
	heddle_program_print(again, &second);
	assert_string_equal(heddle_text_str(&first), heddle_text_str(&second));
	assert_null(heddle_program_parse(ctx, "test", "program p\nbuffer input A float32 [3][4] strides [4] align 4\n"));
	assert_null(heddle_program_parse(ctx, "test", "program p\nbuffer input A float32 [3] strides [4][1] align 4\n"));
	heddle_diagnostics_clear(ctx);
	heddle_program *shared = heddle_program_parse(ctx, "test", "program p\nbuffer shared A float32 [3] strides [4] align 4\n");
	assert_true(!shared || heddle_program_validate(ctx, shared) < 0);
	heddle_program_free(shared);
	heddle_program_free(p);
	heddle_program_free(copy);
	heddle_program_free(again);
	heddle_text_free(&text);
	heddle_text_free(&first);
	heddle_text_free(&second);
	heddle_ctx_free(ctx);
}

/* Vectors loaded, stored, shifted in place, splat and built: the same results without them. */
static const char vectors[] =
	"program q target cuda:h200 warp 32\nsize N 4..100 *4\n"
	"buffer input A float32 [N] align 16\nbuffer inout B float32 [N] align 16\nbuffer output C float32 [2][N] align 16\n"
	"launch q_0 grid 1 threads 1 args A, B, C {\n"
	"	for serial i in 0 .. int32(N) step 4 {\n"
	"		let float32x4 a = A[i : 4]\n"
	"		C[0][i : 4] = a\n"
	"		B[i : 4] = vector(B[i + 3], B[i], B[i + 1], B[i + 2])\n"
	"		if i > 4 {\n"
	"			C[1][i : 4] = splat(extract(A[i : 4], 2), 4)\n"
	"		} else {\n"
	"			C[1][i : 4] = A[i : 4]\n"
	"		}\n	}\n}\n";

static void without_vectors(void **state)
{
	(void)state;
	heddle_ctx *ctx = heddle_ctx_new();
	heddle_arena *arena = heddle_arena_new();
	heddle_program *p = parse(ctx, vectors), *q = heddle_program_scalar(p);
	const int64_t n = 24;
	heddle_array *array[2][3];
	assert_true(heddle_program_is_wide(p));
	assert_false(heddle_program_is_wide(q));
	assert_int_equal(q->buffer[0]->align, 4);
	assert_int_equal(p->buffer[0]->align, 16);
	if (heddle_program_validate(ctx, q) < 0)
		fail_msg("%s", heddle_ctx_messages(ctx));
	for (int k = 0; k < 2; k++) {
		for (int b = 0; b < 3; b++) {
			array[k][b] = heddle_array_new(HEDDLE_FLOAT32, b == 2 ? 2 : 1, b == 2 ? (const int64_t[]){2, n} : &n);
			if (b < 2)
				heddle_array_fill_integers(array[k][b], (uint64_t)b, 90);
		}
		heddle_interpret in = {.arena = arena, .program = k ? q : p, .size = &n, .array = array[k]};
		assert_int_equal(heddle_interpret_run(ctx, &in), 0);
		assert_int_equal(in.n_finding, 0);
	}
	for (int b = 0; b < 3; b++) {
		for (int64_t k = 0; k < heddle_array_count(array[0][b]); k++)
			assert_true(heddle_array_get(array[0][b], k) == heddle_array_get(array[1][b], k));
		heddle_array_free(array[0][b]);
		heddle_array_free(array[1][b]);
	}
	heddle_program_free(p);
	heddle_program_free(q);
	heddle_arena_free(arena);
	heddle_ctx_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strides),
		cmocka_unit_test(between),
		cmocka_unit_test(text_form),
		cmocka_unit_test(without_vectors),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
