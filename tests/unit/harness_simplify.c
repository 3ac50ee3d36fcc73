/* The pass `simplify` keeps the meaning: programs, hand-made and random, are interpreted before and after, and give equal
 * results without findings.
 * SPDX-License-Identifier: MIT
 */
#include "harness/interpret.h"
#include "model/simplify.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static const heddle_simplify_options languages[] = {
	{.vector_arithmetic = false, .unaligned_vectors = false, .max_vector = 4, .max_bytes = 16},
	{.vector_arithmetic = true, .unaligned_vectors = true, .max_vector = 16},
	{.vector_arithmetic = true, .unaligned_vectors = true, .zips = true, .max_vector = 16},
	{.vector_arithmetic = true, .unaligned_vectors = true, .zips = true, .max_vector = 4},
	{.vector_arithmetic = true, .unaligned_vectors = false, .max_vector = 8, .unroll_limit = 100},
	{.vector_arithmetic = false, .unaligned_vectors = true, .max_vector = 2, .unroll_limit = 100},
	{.vector_arithmetic = false, .unaligned_vectors = false, .max_vector = 1},
};

typedef struct result {
	heddle_array *array[16];
} result;

/* Run `p`; its arrays come back. */
static result interpret(heddle_ctx *ctx, heddle_program *p, const int64_t *size, bool unaligned, const char *what)
{
	heddle_arena *arena = heddle_arena_new();
	result r = {{0}};
	heddle_program_number(p);
	for (int k = 0; k < p->n_buffer && k < 16; k++) {
		const heddle_buffer *b = p->buffer[k];
		int64_t shape[HEDDLE_MAX_RANK];
		if (b->role == HEDDLE_BUFFER_TEMPORARY || b->role == HEDDLE_BUFFER_SHARED || b->role == HEDDLE_BUFFER_REGISTER)
			continue;
		for (int d = 0; d < b->rank; d++)
			assert_int_equal(heddle_value_evaluate(b->extent[d], size, &shape[d]), 0);
		r.array[k] = heddle_array_new(b->type, b->rank, shape);
		if (b->role == HEDDLE_BUFFER_OUTPUT)
			heddle_array_poison(r.array[k]);
		else
			heddle_array_fill_integers(r.array[k], (uint64_t)k, 4);
	}
	heddle_interpret in = {.arena = arena, .program = p, .size = size, .array = r.array, .seed = 3,
			       .unaligned_vectors = unaligned};
	if (heddle_interpret_run(ctx, &in) < 0)
		fail_msg("%s: %s", what, heddle_ctx_messages(ctx));
	if (in.n_finding) {
		heddle_text text = {0};
		heddle_program_print(p, &text);
		fail_msg("%s: %s: %s\n%s", what, in.finding[0].kind, in.finding[0].text, heddle_text_str(&text));
	}
	heddle_arena_free(arena);
	return r;
}

static void result_free(result *r)
{
	for (int k = 0; k < 16; k++)
		heddle_array_free(r->array[k]);
}

static void assert_equal(const result *a, const result *b, const heddle_program *p, const char *what)
{
	for (int k = 0; k < 16; k++) {
		if (!a->array[k])
			continue;
		for (int64_t e = 0; e < heddle_array_count(a->array[k]); e++) {
			long double x = heddle_array_get(a->array[k], e), y = heddle_array_get(b->array[k], e);
			if (x == y || (x != x && y != y))
				continue;
			heddle_text text = {0};
			heddle_program_print(p, &text);
			fail_msg("%s: %s element %d is %Lg, was %Lg\n%s", what, p->buffer[k]->name, (int)e, y, x,
				 heddle_text_str(&text));
		}
	}
}

/* The program simplified for every language, run at the sizes, against what it gave before. */
static void check(const char *text, const int64_t *size)
{
	heddle_ctx *ctx = heddle_ctx_new();
	heddle_program *p = heddle_program_parse(ctx, "test", text);
	if (!p || heddle_program_validate(ctx, p) < 0)
		fail_msg("%s\n%s", heddle_ctx_messages(ctx), text);
	result before = interpret(ctx, p, size, true, "before");
	for (size_t l = 0; l < HEDDLE_COUNT(languages); l++) {
		heddle_program *q = heddle_program_copy(p);
		char what[40];
		snprintf(what, sizeof(what), "language %d", (int)l);
		if (heddle_simplify(ctx, q, &languages[l]) < 0 || heddle_program_validate(ctx, q) < 0) {
			heddle_text shown = {0};
			heddle_program_print(q, &shown);
			fail_msg("%s: %s\n%s", what, heddle_ctx_messages(ctx), heddle_text_str(&shown));
		}
		result after = interpret(ctx, q, size, languages[l].unaligned_vectors, what);
		assert_equal(&before, &after, q, what);
		result_free(&after);
		heddle_program_free(q);
	}
	result_free(&before);
	heddle_program_free(p);
	heddle_ctx_free(ctx);
}

/* ---- hand-made -------------------------------------------------------------------------------------------------------- */

/* A tiled product: moves to shared memory by vectors, a register tile, guards that the divisors settle. */
static const char tiled[] =
	"program mm target cuda:h200\n"
	"size M 0..8192 *16\nsize N 0..8192 *16\n"
	"buffer input A float32 [M][32] align 16\n"
	"buffer input B float32 [32][N] align 16\n"
	"buffer output C float32 [M][N] align 16 unread\n"
	"buffer shared As float32 [16][16] pad 4 align 16 of A\n"
	"buffer shared Bs float32 [16][16] align 16 of B\n"
	"buffer register acc float32 [2][4] of C\n"
	"launch mm_0 grid floor_div(M, 16) * floor_div(N, 16) threads 32 args A, B, C shared As, Bs {\n"
	"	let int32 bi = int32(floor_div(int64(block), floor_div(N, 16)))\n"
	"	let int32 bj = int32(floor_mod(int64(block), floor_div(N, 16)))\n"
	"	declare acc\n"
	"	for unroll i in 0 .. 2 {\n		for vector j in 0 .. 4 {\n			acc[i][j] = 0.0\n		}\n	}\n"
	"	for serial k in 0 .. 32 step 16 {\n"
	"		for unroll r in 0 .. 2 {\n"
	"			for vector v in 0 .. 4 {\n"
	"				As[floor_mod(4 * thread + v, 16)][8 * r + floor_div(4 * thread + v, 16)] = "
	"A[16 * bi + 8 * r + floor_div(4 * thread + v, 16)][k + floor_mod(4 * thread + v, 16)]\n"
	"			}\n"
	"			for vector v in 0 .. 4 {\n"
	"				Bs[8 * r + floor_div(4 * thread + v, 16)][floor_mod(4 * thread + v, 16)] = "
	"B[k + 8 * r + floor_div(4 * thread + v, 16)][16 * bj + floor_mod(4 * thread + v, 16)]\n"
	"			}\n"
	"		}\n"
	"		barrier\n"
	"		for unroll q in 0 .. 16 {\n			for unroll i in 0 .. 2 {\n				for vector j in 0 .. 4 {\n"
	"					acc[i][j] = acc[i][j] + As[q][2 * floor_div(thread, 4) + i] * Bs[q][4 * floor_mod(thread, 4) + j]\n"
	"				}\n			}\n		}\n"
	"		barrier\n"
	"	}\n"
	"	for unroll i in 0 .. 2 {\n		for vector j in 0 .. 4 {\n"
	"			if 16 * bi + 2 * floor_div(thread, 4) + i < int32(M) && 16 * bj + 4 * floor_mod(thread, 4) + j < int32(N) {\n"
	"				C[16 * bi + 2 * floor_div(thread, 4) + i][16 * bj + 4 * floor_mod(thread, 4) + j] = acc[i][j]\n"
	"			}\n		}\n	}\n"
	"}\n";

static void test_tiled(void **state)
{
	(void)state;
	static const int64_t sizes[][2] = {{16, 16}, {32, 48}, {0, 16}};
	for (size_t k = 0; k < HEDDLE_COUNT(sizes); k++)
		check(tiled, sizes[k]);
}

/* One thread with vectors, sizes that nothing divides: masks at the edge. */
static const char edges[] =
	"program mm target opencl:cpu\n"
	"size M 1..8192\nsize N 1..8192\n"
	"buffer input A float32 [M][5] align 16\n"
	"buffer input B float32 [5][N] align 16\n"
	"buffer output C float32 [M][N] align 16 unread\n"
	"buffer register acc float32 [2][32] of C\n"
	"launch mm_0 grid floor_div(M + 1, 2) * floor_div(N + 31, 32) threads 1 args A, B, C {\n"
	"	let int32 bi = int32(floor_div(int64(block), floor_div(N + 31, 32)))\n"
	"	let int32 bj = int32(floor_mod(int64(block), floor_div(N + 31, 32)))\n"
	"	declare acc\n"
	"	for unroll i in 0 .. 2 {\n		for vector j in 0 .. 32 {\n"
	"			if 2 * bi + i < int32(M) && 32 * bj + j < int32(N) {\n				acc[i][j] = 1.0\n			}\n"
	"		}\n	}\n"
	"	for serial k in 0 .. 5 {\n		for unroll i in 0 .. 2 {\n			for vector j in 0 .. 32 {\n"
	"				if 2 * bi + i < int32(M) && 32 * bj + j < int32(N) {\n"
	"					acc[i][j] = fma(A[2 * bi + i][k], B[k][32 * bj + j], acc[i][j])\n"
	"				}\n			}\n		}\n	}\n"
	"	for unroll i in 0 .. 2 {\n		for vector j in 0 .. 32 {\n"
	"			if 2 * bi + i < int32(M) && 32 * bj + j < int32(N) {\n"
	"				C[2 * bi + i][32 * bj + j] = (acc[i][j] > 0.0 ? acc[i][j] : 0.5 * acc[i][j])\n"
	"			}\n		}\n	}\n"
	"}\n";

static void test_edges(void **state)
{
	(void)state;
	static const int64_t sizes[][2] = {{1, 1}, {2, 32}, {3, 33}, {5, 63}};
	for (size_t k = 0; k < HEDDLE_COUNT(sizes); k++)
		check(edges, sizes[k]);
}

/* Copies across rows by vectors and by elements, one with a sum beside it, one that nothing divides. */
static const char across[] =
	"program across target opencl:cpu\n"
	"size M 1..64\nsize N 1..64\n"
	"buffer input A float32 [32][48] align 16\n"
	"buffer input B float32 [48] align 16\n"
	"buffer output C float32 [48][32] align 16\n"
	"buffer output D float32 [48][32] align 16\n"
	"buffer output E float32 [47][32] align 16\n"
	"buffer output H float32 [32][32] align 16\n"
	"buffer shared T float32 [32][32] pad 4 align 16 of A\n"
	"launch across_0 grid 2 threads 1 args A, B, C, D, E, H shared T streamed C {\n"
	"	for serial j in 0 .. 48 {\n		for vector i in 0 .. 16 {\n"
	"			C[j][16 * block + i] = A[16 * block + i][j] * B[j] + float32(j)\n		}\n	}\n"
	"	for serial i in 0 .. 32 {\n		for serial j in 0 .. 32 {\n			T[j][i] = A[i][j + 16 * block]\n		}\n	}\n"
	"	for serial i in 0 .. 32 {\n		for serial j in 0 .. 16 {\n"
	"			T[j][i] = (j + 2 * block < int32(M) && int32(N) > i + 1 ? A[i][j + 16 * block] : 0.5)\n		}\n	}\n"
	"	for serial i in 0 .. 16 {\n		for serial j in 0 .. 16 {\n			T[j][i] = (j < 24 && i < 12 ? A[i][j] : 0.25)\n		}\n	}\n"
	"	for serial i in 0 .. 32 {\n		for vector j in 0 .. 16 {\n			H[i][16 * block + j] = A[i][2 * j + block]\n		}\n	}\n"
	"	if block == 1 {\n"
	"		for serial j in 0 .. 48 {\n			for serial i in 0 .. 32 {\n				D[j][i] = T[floor_mod(j, 32)][i]\n			}\n		}\n"
	"		for serial j in 0 .. 47 {\n			for vector i in 0 .. 32 {\n				E[j][i] = A[i][j + 1]\n			}\n		}\n"
	"	}\n"
	"}\n";

static void test_across(void **state)
{
	(void)state;
	static const int64_t sizes[][2] = {{1, 1}, {16, 64}, {17, 33}, {18, 32}, {64, 64}};
	for (size_t k = 0; k < HEDDLE_COUNT(sizes); k++)
		check(across, sizes[k]);
}

/* Padding by a selection, a gather, a transposed store, a running maximum, a sum over the vector, doubles, 16-bit floats. */
static const char mixture[] =
	"program mixture\n"
	"size N 16..4096 *16\n"
	"buffer input X float32 [N] align 16\n"
	"buffer input Y float64 [N] align 16\n"
	"buffer input H float16 [N] align 16\n"
	"buffer input I int32 [N] align 16\n"
	"buffer output P float32 [N] align 16 unread\n"
	"buffer output Q float32 [N] align 16 unread\n"
	"buffer output T float32 [16][N / 16] align 16 unread\n"
	"buffer output S float64 [N / 16] align 16 unread\n"
	"buffer output Z float64 [N] align 16 unread\n"
	"buffer output G float16 [N] align 16 unread\n"
	"buffer output L int32 [N / 16] align 16 unread\n"
	"buffer register s float64\n"
	"buffer register most int32\n"
	"launch mixture_0 grid N / 16 threads 1 args X, Y, H, I, P, Q, T, S, Z, G, L {\n"
	"	let int32 b = 16 * block\n"
	"	for vector v in 0 .. 16 {\n"
	"		P[b + v] = (b + v >= 1 && b + v < int32(N) - 1 ? X[b + v - 1] + X[b + v + 1] : X[b + v])\n	}\n"
	"	for vector v in 0 .. 16 {\n		Q[b + v] = X[(I[b + v] + int32(N)) % int32(N)] * float32(v)\n	}\n"
	"	for vector v in 0 .. 16 {\n		T[v][block] = X[b + v]\n	}\n"
	"	declare s\n	s[] = 0.0\n"
	"	for vector v in 0 .. 16 {\n		s[] = s[] + Y[b + v] * float64(X[b + v])\n	}\n"
	"	S[block] = s[]\n"
	"	declare most\n	most[] = -100\n"
	"	for vector v in 0 .. 16 {\n		most[] = max(I[b + v], most[])\n	}\n"
	"	L[block] = most[]\n"
	"	for vector v in 0 .. 16 {\n		Z[b + v] = (Y[b + v] < 0.0 ? -Y[b + v] : Y[b + v] * Y[b + v])\n	}\n"
	"	for vector v in 0 .. 16 {\n		G[b + v] = float16(float32(H[b + v]) * 2.0 + max(float32(H[b + v]), 0.0))\n	}\n"
	"}\n";

static void test_mixture(void **state)
{
	(void)state;
	static const int64_t sizes[] = {16, 48};
	for (size_t k = 0; k < HEDDLE_COUNT(sizes); k++)
		check(mixture, &sizes[k]);
}

/* Loops that must not run in lockstep: a recurrence, two stores of one element, a read of what another iteration writes. */
static const char serial_ones[] =
	"program serial_ones\n"
	"size N 16..4096 *16\n"
	"buffer inout X float32 [N] align 16\n"
	"buffer output Y float32 [N] align 16 unread\n"
	"buffer output Z float32 [2] align 16\n"
	"launch serial_0 grid 1 threads 1 args X, Y, Z {\n"
	"	for serial i in 0 .. int32(N) step 8 {\n"
	"		for vector v in 0 .. 8 {\n			if i + v >= 1 {\n				X[i + v] = X[i + v] + X[i + v - 1]\n			}\n		}\n"
	"		for vector v in 0 .. 8 {\n			Y[i + v] = 1.0\n			if i + v + 1 < int32(N) {\n"
	"				Y[i + v + 1] = 2.0\n			}\n		}\n"
	"		for vector v in 0 .. 8 {\n			Z[0] = X[i + v]\n		}\n"
	"	}\n"
	"	Z[1] = 3.0\n"
	"	for vector v in 0 .. 4 {\n		X[2 * v] = X[v] + 1.0\n	}\n"
	"}\n";

static void test_serial_ones(void **state)
{
	(void)state;
	static const int64_t size[] = {16};
	check(serial_ones, size);
}

/* ---- random ------------------------------------------------------------------------------------------------------------- */

typedef struct generator {
	uint64_t seed, n;
	heddle_text out;
} generator;

static int pick(generator *g, int n)
{
	return (int)(heddle_random(g->seed, g->n++) % (uint64_t)n);
}

/* An index expression below 16 for v < 8 and i < 2; often with the vector iterator last. */
static const char *index_text(generator *g)
{
	static const char *const texts[] = {"v", "v", "8 * i + v", "v + 1", "7 - v", "2 * v + i", "i", "3", "floor_mod(8 * i + v, 8)",
					    "floor_div(8 * i + v, 8)", "min(v, 5)", "v + t % 2", "floor_mod(v + i, 4)", "floor_div(v + 3, 4)",
					    "(v + i) / 3", "(3 * v + i) % 5", "floor_mod(2 * v + 3, 4)"};
	return texts[pick(g, (int)HEDDLE_COUNT(texts))];
}

static void expression(generator *g, int depth)
{
	static const char *const operators[] = {" + ", " - ", " * "};
	switch (pick(g, depth ? 9 : 4)) {
	case 0:
	case 1: {
		const char *row = pick(g, 2) ? "t" : "i";
		heddle_text_printf(&g->out, "A[%s][%s]", row, index_text(g));
		break;
	}
	case 2:
		heddle_text_printf(&g->out, "r[%s]", pick(g, 3) ? "v" : "7 - v");
		break;
	case 3:
		heddle_text_printf(&g->out, "%d.0", pick(g, 5));
		break;
	case 4:
		heddle_text_add(&g->out, "float32(v + i)");
		break;
	case 5:
		heddle_text_printf(&g->out, "(%s < %d ? ", index_text(g), pick(g, 10));
		expression(g, depth - 1);
		heddle_text_add(&g->out, " : ");
		expression(g, depth - 1);
		heddle_text_add(&g->out, ")");
		break;
	case 6:
		heddle_text_add(&g->out, pick(g, 2) ? "max(" : "fabs(");
		if (g->out.data[g->out.length - 2] == 'x') {
			expression(g, depth - 1);
			heddle_text_add(&g->out, ", ");
		}
		expression(g, depth - 1);
		heddle_text_add(&g->out, ")");
		break;
	default:
		heddle_text_add(&g->out, "(");
		expression(g, depth - 1);
		heddle_text_add(&g->out, operators[pick(g, 3)]);
		expression(g, depth - 1);
		heddle_text_add(&g->out, ")");
	}
}

static void statement(generator *g)
{
	static const char *const targets[] = {"r[v]", "r[v]", "C[t][8 * i + v]", "C[t][v]", "C[t][2 * v + i]", "C[t][15 - v]", "S[t][v]"};
	const char *target = targets[pick(g, (int)HEDDLE_COUNT(targets))];
	bool guarded = !pick(g, 3);
	if (guarded)
		heddle_text_printf(&g->out, "if %s < %d {\n", index_text(g), pick(g, 12));
	if (!pick(g, 6)) {
		static const char *const forms[] = {"sum[] = sum[] + ", "sum[] = sum[] - ", "C[t][0] = C[t][0] + ", "C[t][0] = "};
		heddle_text_add(&g->out, forms[pick(g, 4)]);
	} else {
		heddle_text_printf(&g->out, "%s = ", target);
	}
	expression(g, 2);
	heddle_text_add(&g->out, guarded ? "\n}\n" : "\n");
}

/* Threads write rows of their own, so any program is free of races; values are whole numbers, so any order gives the same. */
static void random_program(generator *g)
{
	static const char *const kinds[] = {"serial", "unroll", "vector"};
	heddle_text_add(&g->out, "program random\nbuffer input A float32 [8][20] align 16\nbuffer inout C float32 [4][20] align 16\n"
				 "buffer shared S float32 [4][8] pad 4 align 16\nbuffer register r float32 [8]\nbuffer register sum float32\n"
				 "launch random_0 grid 1 threads 4 args A, C shared S {\n"
				 "let int32 t = thread\ndeclare r\ndeclare sum\nsum[] = 0.0\n"
				 "for vector v in 0 .. 8 {\nr[v] = float32(v)\nS[t][v] = 0.0\n}\n");
	int loops = 1 + pick(g, 3);
	for (int k = 0; k < loops; k++) {
		heddle_text_printf(&g->out, "for %s i in 0 .. 2 {\nfor vector v in 0 .. 8 {\n", kinds[pick(g, 2)]);
		int n = 1 + pick(g, 2);
		if (!pick(g, 4)) {
			heddle_text_add(&g->out, "for serial w in 0 .. 2 {\n");
			statement(g);
			heddle_text_add(&g->out, "}\n");
		}
		for (int s = 0; s < n; s++)
			statement(g);
		heddle_text_add(&g->out, "}\n}\n");
	}
	heddle_text_add(&g->out, "for vector v in 0 .. 8 {\nC[t][8 + v] = C[t][8 + v] + r[v] + S[t][v]\n}\nC[t][16] = sum[]\n}\n");
}

static void test_random(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 300; seed++) {
		generator g = {.seed = seed + 1};
		random_program(&g);
		check(heddle_text_str(&g.out), NULL);
		heddle_text_free(&g.out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tiled),	     cmocka_unit_test(test_edges), cmocka_unit_test(test_across),  cmocka_unit_test(test_mixture),
		cmocka_unit_test(test_serial_ones), cmocka_unit_test(test_random),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
