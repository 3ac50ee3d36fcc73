/* The interpreter: programs that are right give the right numbers and no finding; each fault gives its finding.
 * SPDX-License-Identifier: MIT
 */
#include "harness/interpret.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char product[] =
	"program product target cuda:h200 warp 32\n"
	"size M 1..256\nsize N 1..256\nsize K 0..256\n"
	"buffer input A float32 [M][K] align 16\n"
	"buffer input B float32 [K][N] align 16\n"
	"buffer output C float32 [M][N] align 16 unread\n"
	"buffer shared As float32 [16][16] pad 1 align 16 of A\n"
	"buffer shared Bs float32 [16][16] align 16 of B\n"
	"buffer register acc float32 of C\n"
	"launch product_0 grid (M + 15) / 16 * ((N + 15) / 16) threads 256 args A, B, C shared As, Bs {\n"
	"	let int32 across = int32((N + 15) / 16)\n"
	"	let int32 i0 = block / across * 16\n"
	"	let int32 j0 = block % across * 16\n"
	"	let int32 ti = thread / 16\n"
	"	let int32 tj = thread % 16\n"
	"	declare acc\n"
	"	acc[] = 0.0 @2\n"
	"	for serial k in 0 .. int32(K) step 16 {\n"
	"		As[ti][tj] = (i0 + ti < int32(M) && k + tj < int32(K) ? A[i0 + ti][k + tj] : 0.0)\n"
	"		Bs[ti][tj] = (k + ti < int32(K) && j0 + tj < int32(N) ? B[k + ti][j0 + tj] : 0.0)\n"
	"		barrier # first\n"
	"		for unroll q in 0 .. 16 {\n"
	"			acc[] = fma(As[ti][q], Bs[q][tj], acc[]) @3\n"
	"		}\n"
	"		barrier # second\n"
	"	}\n"
	"	if i0 + ti < int32(M) && j0 + tj < int32(N) {\n"
	"		C[i0 + ti][j0 + tj] = acc[] @3\n"
	"	}\n"
	"}\n";

typedef struct setting {
	heddle_ctx *ctx;
	heddle_arena *arena;
	heddle_program *p;
	heddle_array *array[16];
	int64_t size[8];
	heddle_interpret in;
} setting;

/* Parse, check, make arrays of whole numbers for the arguments. */
static void prepare(setting *s, const char *text, int n_size, const int64_t *size)
{
	memset(s, 0, sizeof(*s));
	s->ctx = heddle_ctx_new();
	s->arena = heddle_arena_new();
	s->p = heddle_program_parse(s->ctx, "test", text);
	if (!s->p || heddle_program_validate(s->ctx, s->p) < 0)
		fail_msg("%s", heddle_ctx_messages(s->ctx));
	assert_int_equal(s->p->n_size, n_size);
	for (int k = 0; k < n_size; k++)
		s->size[k] = size[k];
	for (int k = 0; k < s->p->n_buffer; k++) {
		const heddle_buffer *b = s->p->buffer[k];
		int64_t shape[HEDDLE_MAX_RANK];
		if (b->role == HEDDLE_BUFFER_TEMPORARY || b->role == HEDDLE_BUFFER_SHARED || b->role == HEDDLE_BUFFER_REGISTER)
			continue;
		for (int d = 0; d < b->rank; d++)
			assert_int_equal(heddle_value_evaluate(b->extent[d], size, &shape[d]), 0);
		s->array[k] = heddle_array_new(b->type, b->rank, shape);
		if (b->role == HEDDLE_BUFFER_OUTPUT)
			heddle_array_poison(s->array[k]);
		else
			heddle_array_fill_integers(s->array[k], (uint64_t)k, 5);
	}
	s->in = (heddle_interpret){.arena = s->arena, .program = s->p, .size = s->size, .array = s->array, .seed = 7};
}

static void finish(setting *s)
{
	for (int k = 0; k < s->p->n_buffer; k++)
		heddle_array_free(s->array[k]);
	heddle_program_free(s->p);
	heddle_arena_free(s->arena);
	heddle_ctx_free(s->ctx);
}

static void assert_clean(const setting *s)
{
	for (int k = 0; k < s->in.n_finding; k++)
		print_message("%s: %s\n", s->in.finding[k].kind, s->in.finding[k].text);
	assert_int_equal(s->in.n_finding, 0);
}

/* The text with `from` (which must occur once) changed. */
static char *changed(const char *text, const char *from, const char *to)
{
	const char *at = strstr(text, from);
	assert_non_null(at);
	assert_null(strstr(at + 1, from));
	heddle_text out = {0};
	heddle_text_addn(&out, text, (size_t)(at - text));
	heddle_text_add(&out, to);
	heddle_text_add(&out, at + strlen(from));
	return out.data;
}

static long double at(const heddle_array *a, int64_t i, int64_t j)
{
	return heddle_array_get(a, i * a->stride[0] + j * a->stride[1]);
}

static void check_product(const setting *s)
{
	const heddle_array *A = s->array[0], *B = s->array[1], *C = s->array[2];
	for (int64_t i = 0; i < s->size[0]; i++)
		for (int64_t j = 0; j < s->size[1]; j++) {
			long double sum = 0;
			for (int64_t k = 0; k < s->size[2]; k++)
				sum += at(A, i, k) * at(B, k, j);
			if (sum != at(C, i, j))
				fail_msg("C[%d][%d] is %Lg, not %Lg", (int)i, (int)j, at(C, i, j), sum);
		}
}

static void test_product(void **state)
{
	(void)state;
	static const int64_t sizes[][3] = {{16, 16, 16}, {1, 1, 1}, {17, 33, 40}, {64, 48, 0}, {15, 31, 16}};
	for (size_t k = 0; k < HEDDLE_COUNT(sizes); k++) {
		setting s;
		prepare(&s, product, 3, sizes[k]);
		assert_int_equal(heddle_interpret_run(s.ctx, &s.in), 0);
		assert_clean(&s);
		check_product(&s);
		assert_int_equal(s.in.unwritten[2], 0);
		finish(&s);
	}
}

static void test_strided(void **state)
{
	(void)state;
	const int64_t size[] = {20, 20, 20}, stride[] = {25, 1};
	setting s;
	prepare(&s, product, 3, size);
	for (int k = 0; k < 3; k++) {
		heddle_array *strided = heddle_array_new_strided(HEDDLE_FLOAT32, 2, s.array[k]->shape, stride);
		heddle_array_free(s.array[k]);
		s.array[k] = strided;
		if (k < 2)
			heddle_array_fill_integers(strided, (uint64_t)k, 4);
	}
	assert_int_equal(heddle_interpret_run(s.ctx, &s.in), 0);
	assert_clean(&s);
	check_product(&s);
	int64_t distance;
	assert_true(heddle_array_guards_intact(s.array[2], &distance));
	finish(&s);
}

/* Counts are exact: 2 x 3 tiles, 3 steps each. */
static void test_counts(void **state)
{
	(void)state;
	const int64_t size[] = {32, 48, 48};
	setting s;
	prepare(&s, product, 3, size);
	s.in.transfer = (heddle_transfer){.sector = 32, .banks = 32, .bank_width = 4};
	assert_int_equal(heddle_interpret_run(s.ctx, &s.in), 0);
	assert_clean(&s);
	const heddle_interpret_launch *l = &s.in.launch[0];
	const heddle_interpret_traffic *global = &l->space[HEDDLE_SPACE_GLOBAL], *shared = &l->space[HEDDLE_SPACE_SHARED];
	assert_int_equal(l->blocks, 6);
	assert_int_equal(l->barriers, 6 * 3 * 2);
	assert_int_equal(global->load_elements, 6 * 3 * 512);
	assert_int_equal(global->load_bytes, 4 * 6 * 3 * 512);
	assert_int_equal(global->store_elements, 32 * 48);
	assert_int_equal(l->buffer[0].load_elements, 6 * 3 * 256);
	assert_int_equal(shared->store_elements, 6 * 3 * 512);
	assert_int_equal(shared->load_elements, 6 * 3 * 256 * 16 * 2);
	assert_int_equal(l->float_operations, 2 * 32 * 48 * 48);
	/* a warp loads two rows of 16 floats: 4 sectors; stores its tile rows the same way */
	assert_int_equal(global->load_requests, 6 * 3 * 2 * 8);
	assert_int_equal(global->load_transactions, 6 * 3 * 2 * 8 * 4);
	/* As[ti][q]: two rows, 17 apart, so two banks; Bs[q][tj]: 16 words: no conflicts */
	assert_int_equal(shared->load_transactions, shared->load_requests);
	finish(&s);
}

/* One fault each: what is changed, the sizes, and the first finding. */
static void test_faults(void **state)
{
	(void)state;
	static const struct {
		const char *from, *to;
		int64_t size[3];
		const char *kind, *says;
		int line;
	} cases[] = {
		{"barrier # first\n", "", {16, 16, 32}, "race", "As is read here and written by thread", 3},
		{"barrier # second\n", "", {16, 16, 32}, "race", "As is written here and read by", 0},
		{"k + tj < int32(K) ?", "k + tj <= int32(K) ?", {16, 16, 20}, "bounds", "reads A[0][20] outside 16 x 20", 0},
		{"int32(M) && k", "256 && k", {20, 16, 16}, "bounds", "reads A[20][0] outside 20 x 16", 0},
		{"	acc[] = 0.0 @2\n", "", {16, 16, 16}, "uninitialised", "element 0 of acc is read and was never", 3},
		{"Bs[ti][tj] = ", "Bs[ti][15] = ", {16, 16, 16}, "race", "Bs is written here and by thread", 0},
		{"acc[] = fma(As[ti][q]", "acc[] = fma(As[ti][q + 1]", {16, 16, 16}, "bounds", "reads As[0][16]", 3},
		{"barrier # first\n", "if ti < 3 uniform {\nbarrier\n}\n", {16, 16, 16}, "barrier", "48 of 256 threads", 0},
		{"C[i0 + ti]", "C[ti]", {32, 16, 16}, "race", "another block of the launch", 3},
		{"	if i0 + ti < int32(M) &&", "	if ", {17, 16, 16}, "bounds", "writes C[17][0] outside 17 x 16", 3},
		{"= acc[] @3", "= acc[] + C[i0 + ti][j0 + tj] @3", {16, 16, 16}, "uninitialised", "C is read and was never", 3},
		{"= acc[] @3", "= acc[] / float32(floor_div(thread, int32(K - 16))) @3", {16, 16, 16}, "arithmetic",
		 "a floor division by 0", 3},
		{"if i0 + ti", "if shuffle(i0, 1) + ti", {16, 16, 16}, NULL, NULL, 0},
		{"C[i0 + ti][j0 + tj] = acc[]", "C[i0 + ti][j0 + tj] = shuffle(acc[], 1)", {16, 15, 16}, "shuffle",
		 "30 of 32 threads of the warp", 3},
		{"for serial k in 0 .. int32(K) step 16", "for serial k in 0 .. 2000000000", {16, 16, 16}, "timeout",
		 "the limit on operations", 0},
	};
	for (size_t k = 0; k < HEDDLE_COUNT(cases); k++) {
		setting s;
		char *text = changed(product, cases[k].from, cases[k].to);
		/* the validator refuses a shuffle under this condition unless it is told that it is uniform: a lie, found here */
		if (cases[k].kind && !strcmp(cases[k].kind, "shuffle")) {
			char *uniform = changed(text, "< int32(N) {", "< int32(N) uniform {");
			free(text);
			text = uniform;
		}
		prepare(&s, text, 3, cases[k].size);
		s.in.max_operations = 20000000;
		assert_int_equal(heddle_interpret_run(s.ctx, &s.in), 0);
		if (!cases[k].kind) {
			assert_clean(&s);
		} else {
			if (!s.in.n_finding)
				fail_msg("case %zu: no finding", k);
			const heddle_interpret_finding *f = &s.in.finding[0];
			if (strcmp(f->kind, cases[k].kind) || !strstr(f->text, cases[k].says) || f->line != cases[k].line)
				fail_msg("case %zu: %s: %s (line %d)", k, f->kind, f->text, f->line);
			assert_int_equal(f->launch, 0);
		}
		free(text);
		finish(&s);
	}
}

/* One block or thread id per element: what a program computes, against numbers written here. */
static const char copied[] =
	"program rows target opencl:gpu warp 32\n"
	"size N 1..64\n"
	"buffer input A float32 [N][40] align 16\n"
	"buffer output C float32 [N][40] align 16 unread\n"
	"buffer shared As float32 [40] align 16 of A\n"
	"launch rows_0 grid N threads 8 args A, C shared As {\n"
	"	for serial half in 0 .. 2 {\n"
	"		copy dma 20 to As[half * 20] from A[block][half * 20] @2\n"
	"	}\n"
	"	wait dma\n"
	"	barrier\n"
	"	for serial k in 0 .. 40 step 8 {\n"
	"		C[block][k + thread] = As[39 - k - thread] @3\n"
	"	}\n"
	"}\n";

/* Copies arrive when they are waited for; each way of getting them wrong is found. */
static void test_copies(void **state)
{
	static const struct {
		const char *from, *to, *kind;
	} fault[] = {
		{"	wait dma\n	barrier\n", "	barrier\n	wait dma\n", NULL}, /* the wait is enough for what was copied */
		{"	wait dma\n	barrier\n", "	wait dma\n", NULL},
		{"dma 20 to As[half * 20]", "dma 21 to As[half * 20]", "bounds"},
		{"from A[block][half * 20]", "from A[block][half * 20 + 1]", "bounds"},
		{"dma 20 to", "dma 19 to", "uninitialised"},
		{"	wait dma\n	barrier\n", "	barrier\n", "race"},
		{"	for serial half", "	As[thread] = 0.0\n	for serial half", "race"},
		{"	wait dma\n", "	As[thread] = 0.0\n	wait dma\n", "race"},
		{"	wait dma\n", "	if thread < 4 uniform {\n		wait dma\n	}\n", "barrier"},
	};
	const int64_t size[] = {3};
	setting s;
	(void)state;
	prepare(&s, copied, 1, size);
	assert_int_equal(heddle_interpret_run(s.ctx, &s.in), 0);
	assert_clean(&s);
	for (int64_t k = 0; k < 120; k++)
		assert_true(heddle_array_get(s.array[1], k) == heddle_array_get(s.array[0], k / 40 * 40 + 39 - k % 40));
	finish(&s);
	for (size_t k = 0; k < HEDDLE_COUNT(fault); k++) {
		char *text = changed(copied, fault[k].from, fault[k].to);
		bool removed = !strstr(text, "wait");
		if (removed) { /* the text alone shows it */
			heddle_ctx *ctx = heddle_ctx_new();
			heddle_program *p = heddle_program_parse(ctx, "test", text);
			assert_non_null(p);
			assert_true(heddle_program_validate(ctx, p) < 0);
			heddle_program_free(p);
			heddle_ctx_free(ctx);
			free(text);
			continue;
		}
		prepare(&s, text, 1, size);
		assert_int_equal(heddle_interpret_run(s.ctx, &s.in), 0);
		if (!fault[k].kind)
			assert_clean(&s);
		else if (!s.in.n_finding || strcmp(s.in.finding[0].kind, fault[k].kind))
			fail_msg("%s: %s", fault[k].to, s.in.n_finding ? s.in.finding[0].text : "nothing was found");
		finish(&s);
		free(text);
	}
}

static void check_values(const char *head, const char *body, int n, const double *expected)
{
	heddle_text text = {0};
	heddle_text_printf(&text, "program p warp 4\nsize N 0..64\n%s\nlaunch l grid 1 threads %d args X {\n%s\n}\n", head, n,
			   body);
	const int64_t size[] = {5};
	setting s;
	prepare(&s, text.data, 1, size);
	assert_int_equal(heddle_interpret_run(s.ctx, &s.in), 0);
	assert_clean(&s);
	for (int k = 0; k < n; k++) {
		double got = (double)heddle_array_get(s.array[0], k);
		if (got != expected[k] && !(isnan(got) && isnan(expected[k])))
			fail_msg("%s: X[%d] is %.17g, not %.17g", body, k, got, expected[k]);
	}
	finish(&s);
	heddle_text_free(&text);
}

#define X_OF(type) "buffer output X " type " [4]"
#define CHECK(type, body, ...) check_values(X_OF(type), body, 4, (const double[]){__VA_ARGS__})

static void test_arithmetic(void **state)
{
	(void)state;
	CHECK("int32", "X[thread] = (thread - 2) / 2 * 10 + (thread - 3) % 2", -11, 0, -1, 0);
	CHECK("int32", "X[thread] = floor_div(thread - 3, 2) * 10 + floor_mod(thread - 3, 2)", -19, -10, -9, 0);
	CHECK("int32", "X[thread] = 2147483647 + thread", 2147483647, -2147483648.0, -2147483647.0, -2147483646.0);
	CHECK("int8", "X[thread] = int8(thread * 100) + 27", 27, 127, -29, 71);
	CHECK("uint8", "X[thread] = uint8(thread) - 1", 255, 0, 1, 2);
	CHECK("uint32", "X[thread] = uint32(thread - 1) >> 4", 268435455, 0, 0, 0);
	CHECK("int32", "X[thread] = (thread - 2) >> 1", -1, -1, 0, 0);
	CHECK("int32", "X[thread] = int32(uint64(thread - 1) > 5)", 1, 0, 0, 0);
	CHECK("int32", "X[thread] = int32(float32(thread) * 1.5 - 2.6)", -2, -1, 0, 1);
	CHECK("int32", "X[thread] = int32(exp(float32(thread) * 20.0))", 1, 485165184, 2147483647, 2147483647);
	CHECK("float32", "X[thread] = 16777216.0 + float32(thread)", 16777216, 16777216, 16777218, 16777220);
	CHECK("float64", "X[thread] = 16777216.0 + float64(thread)", 16777216, 16777217, 16777218, 16777219);
	CHECK("float32", "X[thread] = max(float32(thread), (thread == 1 ? nan : 2.0))", 2, (double)NAN, 2, 3);
	CHECK("float16", "X[thread] = float16(2048.0 + float32(thread))", 2048, 2048, 2050, 2052);
	CHECK("bfloat16", "X[thread] = bfloat16(256.0 + float32(thread))", 256, 256, 258, 260);
	CHECK("float16", "X[thread] = float16((thread == 0 ? 70000.0 : float32(thread) * 0.00000003))", (double)INFINITY, 0x1p-24 * 1,
	      0x1p-24 * 1, 0x1p-24 * 2);
	CHECK("float32", "X[thread] = shuffle(float32(thread), 1)", 1, 0, 3, 2);
	CHECK("float32", "X[thread] = sqrt(float32(thread * thread)) + call.fma(2.0, float32(thread), 1.0)", 1, 4, 7, 10);
	CHECK("float32", "X[thread] = reduce(+, vector(float32(thread), 1.0, 2.0, 3.0))", 6, 7, 8, 9);
	CHECK("float32", "let float32x4 v = vector(float32(thread), 1.0, 2.0, 3.0)\nlet float32 a = reduce(max, v)\n"
			 "X[thread] = reduce(min, v) * 10.0 + a + extract(v * splat(2.0, 4), 3)", 9, 19, 19, 19);
	CHECK("int32", "let int32 n = int32(N)\nX[thread] = (thread < 2 ? n : (thread == 2 ? n * 2 : -n))", 5, 5, 10, -5);
	/* a loop whose bounds differ between threads */
	CHECK("int32", "X[thread] = 0\nfor serial i in thread .. 3 {\nX[thread] = X[thread] + i\n}", 3, 3, 2, 0);
	CHECK("int32", "if thread % 2 == 0 {\nX[thread] = 7\n} else {\nX[thread] = (thread > 1 ? 100 / (thread - 1) : 9)\n}", 7, 9, 7,
	      50);
}

static void test_registers(void **state)
{
	(void)state;
	static const char head[] = "buffer output X float32 [4]\nbuffer register r float32 [4] align 16\n"
				   "buffer register h float16 [2]\nbuffer register v float32x4 [2]\nbuffer shared S float32x2 [4] align 8";
	/* subscripts that differ between threads, vectors, rounding at the store */
	const double one[] = {10, 11, 12, 13};
	heddle_text text = {0};
	heddle_text_printf(&text, "program p warp 1\nsize N 0..64\n%s\nlaunch l grid 1 threads 4 args X shared S {\n%s\n}\n", head,
			   "declare r\ndeclare h\ndeclare v\n"
			   "for unroll i in 0 .. 4 {\nr[i] = float32(i)\n}\n"
			   "v[1] = r[0 : 4] + splat(10.0, 4)\n"
			   "h[0] = float16(2049.0)\n"
			   "S[thread] = vector(float32(thread), float32(h[0]))\n"
			   "barrier\n"
			   "r[thread] = extract(S[3 - thread], 0)\n"
			   "X[thread] = extract(v[1], 3) - r[thread] + extract(S[0], 1) - 2048.0\n");
	const int64_t size[] = {1};
	setting s;
	prepare(&s, text.data, 1, size);
	assert_int_equal(heddle_interpret_run(s.ctx, &s.in), 0);
	assert_clean(&s);
	for (int k = 0; k < 4; k++)
		assert_true((double)heddle_array_get(s.array[0], k) == one[k]);
	finish(&s);
	heddle_text_free(&text);
}

/* Temporaries share the workspace where their lives are apart; where they are not, the loss shows. */
static void test_workspace(void **state)
{
	(void)state;
	static const char text[] =
		"program p\nsize N 1..64\nbuffer input A float32 [N]\nbuffer output X float32 [N]\n"
		"buffer temporary s float32 [N] align 16 offset 0\n"
		"buffer temporary t float64 [N] align 16 offset (N + 3) / 4 * 16\n"
		"workspace (N + 3) / 4 * 16 + N * 8\n"
		"launch l0 grid N threads 1 args A, s, t {\ns[block] = A[block] @1\nt[block] = float64(s[block]) * 2.0 @2\n}\n"
		"launch l1 grid N threads 1 args X, s, t {\nX[block] = float32(t[int32(N) - 1 - block]) + s[block] @3\n}\n";
	const int64_t size[] = {9};
	setting s;
	prepare(&s, text, 1, size);
	assert_int_equal(heddle_interpret_run(s.ctx, &s.in), 0);
	assert_clean(&s);
	for (int k = 0; k < 9; k++)
		assert_true(heddle_array_get(s.array[1], k) ==
			    2 * heddle_array_get(s.array[0], 8 - k) + heddle_array_get(s.array[0], k));
	finish(&s);

	char *overlap = changed(text, "offset (N + 3) / 4 * 16", "offset 16");
	prepare(&s, overlap, 1, size);
	assert_int_equal(heddle_interpret_run(s.ctx, &s.in), 0);
	assert_true(s.in.n_finding > 0);
	bool found = false;
	for (int k = 0; k < s.in.n_finding; k++)
		found |= !strcmp(s.in.finding[k].kind, "uninitialised") && strstr(s.in.finding[k].text, "another temporary");
	assert_true(found);
	finish(&s);
	free(overlap);

	char *outside = changed(text, "workspace (N + 3) / 4 * 16 + N * 8", "workspace 16");
	prepare(&s, outside, 1, size);
	assert_int_equal(heddle_interpret_run(s.ctx, &s.in), 0);
	assert_string_equal(s.in.finding[0].kind, "workspace");
	finish(&s);
	free(outside);

	char *read_first = changed(text, "s[block] = A[block] @1\n", "");
	prepare(&s, read_first, 1, size);
	assert_int_equal(heddle_interpret_run(s.ctx, &s.in), 0);
	assert_string_equal(s.in.finding[0].kind, "uninitialised");
	assert_int_equal(s.in.finding[0].line, 2);
	finish(&s);
	free(read_first);
}

static void test_blocks(void **state)
{
	(void)state;
	static const struct {
		const char *body, *kind;
	} cases[] = {
		/* another block's element is read in the launch that writes it: a race whichever block came first */
		{"X[block] = 1\nY[block] = X[(block + 1) % 8]", "race"},
		{"Y[block] = H[(block + 1) % 8]\nH[block] = 2", "race"},
		{"Y[block] = H[block]\nH[block] = Y[block] + 1", NULL},
		{"Y[0] = 1\nX[block] = 1", "race"},
		{"X[block] = H[3]\nY[block] = H[3]", NULL},
		{"X[block] = 1", NULL},
	};
	for (size_t k = 0; k < HEDDLE_COUNT(cases); k++)
		for (uint64_t seed = 0; seed < 4; seed++) {
			heddle_text text = {0};
			heddle_text_printf(&text, "program p\nbuffer output X int32 [8]\nbuffer output Y int32 [8]\nbuffer inout H int32 [8]\n"
						  "launch l grid 8 threads 1 args X, Y, H {\n%s\n}\n", cases[k].body);
			setting s;
			prepare(&s, text.data, 0, NULL);
			s.in.seed = seed;
			assert_int_equal(heddle_interpret_run(s.ctx, &s.in), 0);
			bool found = false;
			for (int n = 0; n < s.in.n_finding; n++)
				found |= cases[k].kind && !strcmp(s.in.finding[n].kind, cases[k].kind);
			if (found != (cases[k].kind != NULL))
				fail_msg("case %zu, seed %d: %s", k, (int)seed, s.in.n_finding ? s.in.finding[0].text : "nothing");
			if (!cases[k].kind)
				assert_int_equal(s.in.n_finding, 0);
			if (k == 5)
				assert_int_equal(s.in.unwritten[1], 8);
			finish(&s);
			heddle_text_free(&text);
		}
}

static void test_vectors(void **state)
{
	(void)state;
	static const struct {
		const char *head, *body, *kind, *says;
	} cases[] = {
		{"buffer input A float32 [N][8] align 16", "X[thread][0 : 4] = A[thread][4 : 4]", NULL, NULL},
		{"buffer input A float32 [N][8] align 16", "X[thread][0 : 4] = A[thread][2 : 4]", "alignment", "at byte 8 of A"},
		{"buffer input A float32 [N][8] align 4", "X[thread][0 : 4] = A[thread][4 : 4]", "alignment", "aligned to 4"},
		{"buffer input A float32 [N][8] align 16", "X[thread][0 : 4] = A[thread][5 : 4]", "bounds", "reads A[0][5 : 4]"},
		{"buffer input A float32 [N][8] align 16", "X[thread][0 : 4] = A[thread * 8 + 4 : 4]", NULL, NULL},
		{"buffer input A float32 [N][8] align 16", "X[thread][0 : 4] = A[thread * 8 + 8 : 4]", "bounds", "its 32 elements"},
		{"buffer input A float32 [N][6] align 16", "X[thread][0 : 4] = A[thread][0 : 4]", "alignment", "at byte 24"},
	};
	for (size_t k = 0; k < HEDDLE_COUNT(cases); k++) {
		heddle_text text = {0};
		heddle_text_printf(&text, "program p\nsize N 0..64\n%s\nbuffer output X float32 [N][4] align 16\n"
					  "launch l grid 1 threads 4 args A, X {\n%s\n}\n", cases[k].head, cases[k].body);
		const int64_t size[] = {4};
		setting s;
		prepare(&s, text.data, 1, size);
		assert_int_equal(heddle_interpret_run(s.ctx, &s.in), 0);
		if (!cases[k].kind)
			assert_clean(&s);
		else if (!s.in.n_finding || strcmp(s.in.finding[0].kind, cases[k].kind) ||
			 !strstr(s.in.finding[0].text, cases[k].says))
			fail_msg("case %zu: %s", k, s.in.n_finding ? s.in.finding[0].text : "no finding");
		finish(&s);
		heddle_text_free(&text);
	}
}

static void test_arguments(void **state)
{
	(void)state;
	const int64_t size[] = {16, 16, 16}, wrong[] = {16, 15};
	setting s;
	prepare(&s, product, 3, size);
	heddle_array_free(s.array[0]);
	s.array[0] = heddle_array_new(HEDDLE_FLOAT32, 2, wrong);
	assert_int_equal(heddle_interpret_run(s.ctx, &s.in), -1);
	assert_int_equal(heddle_diagnostics(s.ctx)->code, 771);
	finish(&s);

	char *guarded = changed(product, "buffer shared As", "require M % 4 == 0\nbuffer shared As");
	const int64_t odd[] = {17, 16, 16};
	prepare(&s, guarded, 3, odd);
	assert_int_equal(heddle_interpret_run(s.ctx, &s.in), 0);
	assert_string_equal(s.in.finding[0].kind, "precondition");
	finish(&s);
	free(guarded);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_product),	  cmocka_unit_test(test_strided),   cmocka_unit_test(test_counts),
		cmocka_unit_test(test_faults),	  cmocka_unit_test(test_arithmetic), cmocka_unit_test(test_registers),
		cmocka_unit_test(test_workspace), cmocka_unit_test(test_blocks),    cmocka_unit_test(test_vectors),
		cmocka_unit_test(test_arguments), cmocka_unit_test(test_copies),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
