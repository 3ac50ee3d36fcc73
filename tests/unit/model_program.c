/* Programs: folding, evaluation, the text form, validation.
 * SPDX-License-Identifier: MIT
 */
#include "model/program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A tiled product with shared tiles, a register tile, vector moves, guards and a shuffle reduction: one of everything. */
static const char everything[] =
	"program product target cuda:h200 warp 32\n"
	"config \"k0: tile=m:64 \\\"quoted\\\" \\\\\"\n"
	"proof \"proved\"\n"
	"size M 1..8192\n"
	"size K 64..4096 *64\n"
	"buffer input A float32 [M][K] align 16\n"
	"buffer input B float16 [K][64] align 16\n"
	"buffer output C float32 [M][64] align 16 unread\n"
	"buffer inout H int64 [8] align 8\n"
	"buffer scalar eps float32 align 4\n"
	"buffer temporary t0 float32 [M + 1][min(M, 4)] align 16 offset (M + 3) / 4 * 16\n"
	"buffer shared As float32 [16][64] pad 4 align 16 of A \"tile of A\"\n"
	"buffer shared Bs float32x4 [16][16] align 16 of B\n"
	"buffer register acc float32 [8] align 4 of C\n"
	"buffer register best int32 align 4\n"
	"workspace (M + 1) * 16\n"
	"require M % 4 == 0 || K > 64\n"
	"\n"
	"launch product_0 grid (M + 63) / 64 threads 256 min_blocks 2 args A, B, C, t0 shared As, Bs streamed C, t0 config \"k0\" {\n"
	"\t// tiles of 64 x 64 \\\\ and\\nmore\n"
	"\tlet int32 m0 = block * 64 @3\n"
	"\tlet int64 wide = int64(block) * 64 * K\n"
	"\tdeclare acc\n"
	"\tdeclare best\n"
	"\tbest[] = -1\n"
	"\tfor unroll i in 0 .. 8 {\n"
	"\t\tacc[i] = 0.0\n"
	"\t}\n"
	"\tfor serial k in 0 .. int32(K) step 16 copies 4 uniform @3 {\n"
	"\t\tif m0 + thread < int32(M) && !(thread > 63) @4 {\n"
	"\t\t\tAs[k % 16][thread : 4] = A[m0 + thread][k : 4 ahead 4096]\n"
	"\t\t} else {\n"
	"\t\t\tAs[k % 16][thread] = (thread == 0 ? 1.5 : -inf)\n"
	"\t\t}\n"
	"\t\tBs[0][thread / 16] = splat(0.25, 4)\n"
	"\t\tBs[1][thread / 16] = vector(1.0, eps[], float32(B[0][0 ahead 8]), nan)\n"
	"\t\tcopy dma int32(M) - 1 to As[k % 16][0] from A[m0][k] @4\n"
	"\t\twait dma\n"
	"\t\tbarrier\n"
	"\t\tfor hint i in 0 .. 8 {\n"
	"\t\t\tacc[i] = fma(As[i][thread % 64], extract(Bs[i][0], 2), acc[i]) @3\n"
	"\t\t\tBs[1][i] = zip(Bs[0][i], splat(0.5, 4), 1)\n"
	"\t\t\tBs[2][i] = unzip(Bs[0][i], Bs[1][i])\n"
	"\t\t\tacc[i] = max(acc[i], reduce(+, Bs[i][floor_mod(thread - 8, 16)]))\n"
	"\t\t}\n"
	"\t\tbarrier\n"
	"\t}\n"
	"\t{\n"
	"\t\tlet float32 s = acc[0] + shuffle(acc[0], 16)\n"
	"\t\tlet float64 d = float64(s) * 0.1 + 1e-12\n"
	"\t\tlet bool odd = (thread & 1) == 1\n"
	"\t\tC[wide + 3] = -(s - 2.0) - (acc[1] - (acc[2] - 1.0))\n"
	"\t\tC[m0][thread / 4] = exp(s) + call.fma(s, s, 1.0) + (odd ? float32(d) : 0.5)\n"
	"\t\tt0[0][0] = float32(floor_div(7_int64, 2_int64) + 1_int64) + float32(best[] << 3 >> 1)\n"
	"\t}\n"
	"}\n"
	"\n"
	"launch product_1 grid 1 threads 1 args C, H {\n"
	"\tH[0] = H[0] + 1\n"
	"\tfor serial j in 0_int64 .. 4_int64 {\n"
	"\t\tH[j] = (H[j] - j) % 3\n"
	"\t}\n"
	"}\n";

static char *print(const heddle_program *p)
{
	heddle_text out = {0};
	heddle_program_print(p, &out);
	return out.data;
}

static heddle_program *parse(heddle_ctx *ctx, const char *text)
{
	heddle_program *p = heddle_program_parse(ctx, "test", text);
	if (!p)
		print_message("%s", heddle_ctx_messages(ctx));
	assert_non_null(p);
	return p;
}

static void test_round_trip(void **state)
{
	(void)state;
	heddle_ctx *ctx = heddle_ctx_new();
	heddle_program *p = parse(ctx, everything);
	char *once = print(p);
	assert_string_equal(once, everything);
	heddle_program *copy = heddle_program_copy(p);
	heddle_program_free(p);
	char *twice = print(copy);
	assert_string_equal(twice, everything);
	assert_int_equal(heddle_program_validate(ctx, copy), 0);
	heddle_program_free(copy);
	free(once);
	free(twice);
	heddle_ctx_free(ctx);
}

/* The program shown in doc/ir.md is one, and is shown as it prints. */
static void test_documentation(void **state)
{
	(void)state;
	heddle_ctx *ctx = heddle_ctx_new();
	char *text = heddle_file_read(ctx, HEDDLE_SOURCE_DIR "/doc/ir.md", NULL);
	assert_non_null(text);
	char *start = strstr(text, "```\nprogram ");
	assert_non_null(start);
	start += 4;
	char *end = strstr(start, "```");
	assert_non_null(end);
	*end = '\0';
	heddle_program *p = parse(ctx, start);
	assert_int_equal(heddle_program_validate(ctx, p), 0);
	char *printed = print(p);
	assert_string_equal(printed, start);
	free(printed);
	free(text);
	heddle_program_free(p);
	heddle_ctx_free(ctx);
}

static void test_types_of_literals(void **state)
{
	(void)state;
	heddle_ctx *ctx = heddle_ctx_new();
	heddle_program *p = parse(ctx, "program q\nsize N 1..9\nbuffer output X float32 [N]\nbuffer output Y uint8 [N]\n"
				       "launch q_0 grid N threads 1 args X, Y {\n"
				       "X[block] = 1\nY[block] = 255\nX[3_int64] = float32(N + 1)\n"
				       "if 5 > 2 + 2.5 { }\n}\n");
	const heddle_node *body = p->launch[0]->body;
	assert_int_equal(body->child[3]->value[0]->arg[0]->type, HEDDLE_FLOAT32); /* as what it is compared with */
	assert_int_equal(body->child[3]->value[0]->arg[1]->arg[0]->type, HEDDLE_FLOAT32);
	assert_int_equal(body->child[0]->value[0]->kind, HEDDLE_VALUE_FLOAT);
	assert_int_equal(body->child[0]->value[0]->type, HEDDLE_FLOAT32);
	assert_int_equal(body->child[1]->value[0]->type, HEDDLE_UINT8);
	assert_int_equal(body->child[2]->value[1]->type, HEDDLE_INT64);
	assert_int_equal(body->child[2]->value[0]->arg[0]->arg[1]->type, HEDDLE_INT64);
	assert_int_equal(heddle_program_validate(ctx, p), 0);
	heddle_program_free(p);
	heddle_ctx_free(ctx);
}

static void test_bad_text(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		int line, column;
		const char *says;
	} cases[] = {
		{"", 1, 1, "expected program"},
		{"program p\nsize N 1..\n", 3, 1, "expected an integer"},
		{"program p\nbuffer input A float33 [4]\n", 2, 16, "there is no type float33"},
		{"program p\nbuffer input A int32 [N]\n", 2, 23, "there is no variable or size N"},
		{"program p\nbuffer input A int32\nbuffer input A int32\n", 3, 14, "two buffers A"},
		{"program p\nlaunch l grid 1 threads 1 {\n\tX[0] = 1\n}\n", 3, 2, "there is no buffer X"},
		{"program p\nbuffer output X int32 [4]\nlaunch l grid 1 threads 1 {\n\tX[0] = y + 1\n}\n", 4, 9,
		 "there is no variable or size y"},
		{"program p\nbuffer output X int32 [4]\nlaunch l grid 1 threads 1 {\n\tX[0] = X\n}\n", 4, 9, "X is a buffer"},
		{"program p\nlaunch l grid 1 threads 1 {\n\tbarrier\n", 2, 27, "this { has no }"},
		{"program p\nlaunch l grid 1 threads 1 {\n\tfor often i in 0 .. 4 { }\n}\n", 3, 6, "expected serial, unroll, vector or hint but found often"},
		{"program p\nbuffer output X int32 [4]\nlaunch l grid 1 threads 1 {\n\tX[0 : 4] = 1\n}\n", 4, 2,
		 "4 members of X"},
		{"program p\nconfig \"open\n", 2, 8, "the string has no end"},
		{"program p\nbuffer output X float32 [4]\nlaunch l grid 1 threads 1 {\n\tX[0] = sine(1.0)\n}\n", 4, 9,
		 "there is no function sine"},
		{"program p\nbuffer register r float32x [2]\n", 2, 19, "there is no type float32x"},
		{"program p\nbuffer register r float32x0 [2]\n", 2, 19, "a vector has 1 to 64 members"},
		{"program p\nbuffer register r float32x4294967300 [2]\n", 2, 19, "a vector has 1 to 64 members"},
		{"program p\nbuffer output X int32 [4]\nlaunch l grid 1 threads 1 {\n\tX[0] = 1 + 2.5\n}\n", 4, 9,
		 "a floating-point literal stands where the type is int32"},
		{"program p\nlaunch l grid 1 threads 1 {\n\tfor serial i in 0 .. 2.5 { }\n}\n", 3, 18,
		 "a floating-point literal stands where the type is int32"},
		{"program p\nsize N 1..9223372036854775808\n", 2, 11, "9223372036854775808 does not fit 64 bits"},
		{"program p\nrequire 1 < 99999999999999999999\n", 2, 13, "99999999999999999999 does not fit 64 bits"},
		{"program p\nrequire 1 < -9223372036854775809\n", 2, 14, "-9223372036854775809 does not fit 64 bits"},
	};
	for (size_t k = 0; k < HEDDLE_COUNT(cases); k++) {
		heddle_ctx *ctx = heddle_ctx_new();
		assert_null(heddle_program_parse(ctx, "test", cases[k].text));
		const heddle_diagnostic *d = heddle_diagnostics(ctx);
		assert_non_null(d);
		assert_null(d->next);
		if (!strstr(d->message, cases[k].says))
			fail_msg("case %zu: %s", k, d->message);
		assert_int_equal(d->code, 951);
		assert_int_equal(d->location.line, cases[k].line);
		assert_int_equal(d->location.column, cases[k].column);
		heddle_ctx_free(ctx);
	}
}

/* Nesting without end is an error, not a crash. */
static void test_depth(void **state)
{
	(void)state;
	static const char *const openings[] = {"(", "-", "!", "min(1, "};
	for (size_t k = 0; k < HEDDLE_COUNT(openings); k++) {
		heddle_ctx *ctx = heddle_ctx_new();
		heddle_text text = {0};
		heddle_text_add(&text, "program p\nrequire ");
		for (int n = 0; n < 200000; n++)
			heddle_text_add(&text, openings[k]);
		assert_null(heddle_program_parse(ctx, "test", text.data));
		assert_non_null(strstr(heddle_diagnostics(ctx)->message, "levels"));
		heddle_text_free(&text);
		heddle_ctx_free(ctx);
	}
}

#define HEAD "program p warp 32\nsize N 1..64\nbuffer input A float32 [N][4]\nbuffer output X float32 [N][4]\n" \
	     "buffer output Z int32 [N]\nbuffer shared S float32 [64]\nbuffer register r float32 [2]\n"         \
	     "buffer scalar e float32\nbuffer input G float16 [N]\n"
#define LAUNCH HEAD "launch l grid N threads 64 args A, X, Z, G shared S {\n"

static void test_validate(void **state)
{
	(void)state;
	static const struct {
		const char *text, *says;
	} cases[] = {
		{LAUNCH "X[block][thread % 4] = A[block]\n}\n", NULL},
		{LAUNCH "X[block][0][0] = 1\n}\n", "accessed by 3 subscripts"},
		{LAUNCH "A[block][0] = 1\n}\n", "a store to the input A"},
		{LAUNCH "X[block][0] = 1_int32\n}\n", "a value of int32 is stored in X"},
		{LAUNCH "X[block][0] = A[0][0] + 1.0_float64\n}\n", "the sides of +"},
		{LAUNCH "r[0] = 1\n}\n", "neither an argument"},
		{LAUNCH "{ declare r }\nr[0] = 1\n}\n", "neither an argument"},
		{LAUNCH "declare r\nr[0] = 1\n}\n", NULL},
		{LAUNCH "declare r\ndeclare r\n}\n", "already declared"},
		{LAUNCH "if thread < 3 { barrier }\n}\n", "a barrier under a condition that is not uniform"},
		{LAUNCH "if thread < 3 uniform { barrier }\n}\n", NULL},
		{LAUNCH "if block < 3 && e[] > 0.5 { barrier }\n}\n", NULL},
		{LAUNCH "if S[0] > 0.5 { barrier }\n}\n", "a barrier under"},
		{LAUNCH "let int32 t = thread * 2\nfor serial i in 0 .. t { barrier }\n}\n", "a barrier under"},
		{LAUNCH "if thread < 32 { S[thread] = shuffle(1.0, 1) }\n}\n", NULL},
		{LAUNCH "if thread < 31 { S[thread] = shuffle(1.0, 1) }\n}\n", "a shuffle under"},
		{LAUNCH "S[thread] = (thread < 5 ? shuffle(1.0, 1) : 0.0)\n}\n", "a shuffle under"},
		{LAUNCH "S[thread] = shuffle(1.0, 32)\n}\n", "a shuffle by 32"},
		{LAUNCH "for unroll i in 0 .. block { }\n}\n", "is to be unrolled"},
		{LAUNCH "for serial i in 0 .. 4 step 0 { }\n}\n", "has step 0"},
		{LAUNCH "for hint i in 0 .. 4 copies 2 { }\n}\n", "has 2 copies"},
		{LAUNCH "for serial i in 0 .. 4 copies -1 { }\n}\n", "has -1 copies"},
		{LAUNCH "for serial i in 0 .. 4 { for serial i in 0 .. 4 { } }\n}\n", "already in scope"},
		{LAUNCH "for serial i in 0 .. 4 { }\nfor serial i in 0 .. 4 { }\n}\n", NULL},
		{LAUNCH "let int32 N = 1\n}\n", "has the name of a size"},
		{LAUNCH "if 1 { }\n}\n", NULL},
		{LAUNCH "if thread { }\n}\n", "a condition is int32"},
		{LAUNCH "X[block][0 : 4] = A[block][0 : 4]\n}\n", NULL},
		{LAUNCH "X[block][0 : 3] = A[block][0 : 3]\n}\n", "width 3"},
		{LAUNCH "Z[block] = 1 << 2.0_float32\n}\n", ""},
		{LAUNCH "Z[block] = floor_div(thread, 0)\n}\n", "a floor division by 0"},
		{LAUNCH "Z[A[0][0]] = 1\n}\n", "a subscript of Z is float32"},
		{LAUNCH "X[0][0] = float32(G[0] + G[1])\n}\n", "arithmetic in float16"},
		{LAUNCH "X[0][0] = float32(G[0]) + float32(G[1])\n}\n", NULL},
		{HEAD "launch l grid N threads 0 { }\n", "0 threads"},
		{HEAD "launch l grid block threads 1 { }\n", "not over constants and sizes"},
		{HEAD "launch l grid N threads 1 { }\nlaunch l grid N threads 1 { }\n", "two of this name"},
		{HEAD "launch l grid N threads 1 args X, A { }\n", "not in program order"},
		{HEAD "launch l grid N threads 1 args S { }\n", "S cannot be an argument"},
		{"program p\nbuffer shared S int32 [0]\n", "not a positive constant"},
		{"program p\nsize N 1..4\nbuffer shared S int32 [N]\n", "not a positive constant"},
		{"program p\nbuffer temporary t int32 [1]\n", "an offset"},
		{"program p\nbuffer input t int32 [1] align 3\n", "aligned to 3"},
		{"program p\nsize N 4..1\n", "has range 4..1"},
	};
	for (size_t k = 0; k < HEDDLE_COUNT(cases); k++) {
		heddle_ctx *ctx = heddle_ctx_new();
		heddle_program *p = parse(ctx, cases[k].text);
		int result = heddle_program_validate(ctx, p);
		const heddle_diagnostic *d = heddle_diagnostics(ctx);
		if ((result < 0) != (cases[k].says != NULL) || (d != NULL) != (result < 0))
			fail_msg("case %zu gives %d: %s", k, result, d ? d->message : cases[k].text);
		if (d && (!strstr(d->message, cases[k].says) || d->code != 950))
			fail_msg("case %zu: %s", k, d->message);
		heddle_program_free(p);
		heddle_ctx_free(ctx);
	}
}

static void assert_prints(heddle_value *v, const char *text)
{
	heddle_text out = {0};
	heddle_value_print(v, &out);
	assert_string_equal(heddle_text_str(&out), text);
	heddle_text_free(&out);
}

static void test_folding(void **state)
{
	(void)state;
	heddle_program *p = heddle_program_new("p");
	heddle_value *x = heddle_value_variable(p, HEDDLE_INT32, 1, "x");
	heddle_value *y = heddle_value_variable(p, HEDDLE_INT64, 1, "y");
	heddle_value *f = heddle_value_variable(p, HEDDLE_FLOAT32, 1, "f");
#define I(n) heddle_value_int(p, HEDDLE_INT32, n)
#define B(op, a, b) heddle_value_binary(p, HEDDLE_OP_##op, a, b)
	assert_prints(B(ADD, I(2), I(3)), "5");
	assert_prints(B(ADD, B(ADD, x, I(2)), I(3)), "x + 5");
	assert_prints(B(SUB, B(ADD, x, I(2)), I(3)), "x - 1");
	assert_prints(B(ADD, B(SUB, x, I(3)), I(3)), "x");
	assert_prints(B(ADD, I(3), x), "x + 3");
	assert_prints(B(MUL, B(MUL, x, I(4)), I(8)), "x * 32");
	assert_prints(B(MUL, x, I(0)), "0");
	assert_prints(B(DIV, B(MUL, x, I(12)), I(4)), "x * 3");
	assert_prints(B(MOD, B(MUL, x, I(12)), I(4)), "0");
	assert_prints(B(DIV, B(DIV, x, I(4)), I(8)), "x / 32");
	assert_prints(B(DIV, I(-7), I(2)), "-3");
	assert_prints(B(MOD, I(-7), I(2)), "-1");
	assert_prints(B(DIV, I(7), I(0)), "0"); /* by definition */
	assert_prints(B(ADD, I(INT32_MAX), I(1)), "-2147483648");
	assert_prints(B(SUB, x, x), "0");
	assert_prints(B(LT, x, x), "false");
	assert_prints(B(AND, heddle_value_int(p, HEDDLE_BOOL, 1), B(LT, x, I(4))), "x < 4");
	assert_prints(B(ADD, x, y), "int64(x) + y");
	assert_prints(B(MUL, y, I(4)), "y * 4");
	assert_prints(B(ADD, f, heddle_value_float(p, HEDDLE_FLOAT32, 0)), "f + 0.0");
	assert_prints(heddle_value_floor(p, HEDDLE_VALUE_FLOOR_DIV, I(-7), I(2)), "-4");
	assert_prints(heddle_value_floor(p, HEDDLE_VALUE_FLOOR_MOD, I(-7), I(2)), "1");
	assert_prints(heddle_value_floor(p, HEDDLE_VALUE_FLOOR_DIV, B(ADD, B(MUL, x, I(8)), I(-3)), I(8)), "x - 1");
	assert_prints(heddle_value_floor(p, HEDDLE_VALUE_FLOOR_MOD, B(ADD, B(MUL, x, I(8)), I(-3)), I(8)), "5");
	assert_prints(heddle_value_select(p, heddle_value_int(p, HEDDLE_BOOL, 0), x, I(4)), "4");
	assert_prints(heddle_value_cast(p, HEDDLE_UINT8, I(-1)), "255");
	assert_prints(heddle_value_unary(p, HEDDLE_OP_NEG, heddle_value_unary(p, HEDDLE_OP_NEG, x)), "x");
	assert_prints(heddle_value_extract(p, heddle_value_splat(p, f, 4), 3), "f");
	assert_prints(B(ADD, heddle_value_variable(p, HEDDLE_FLOAT32, 4, "v"), f), "v + splat(f, 4)");
	assert_true(heddle_value_equal(B(ADD, x, I(1)), B(ADD, I(1), x)));
	assert_false(heddle_value_equal(B(ADD, x, I(1)), B(ADD, x, I(2))));
	assert_false(heddle_value_equal(x, heddle_value_variable(p, HEDDLE_INT32, 1, "z")));
	heddle_program_free(p);
}

static heddle_value *replace_x(heddle_value *v, void *user)
{
	return v->kind == HEDDLE_VALUE_VARIABLE && !strcmp(v->name, "x") ? user : v;
}

static void test_map_and_evaluate(void **state)
{
	(void)state;
	heddle_program *p = heddle_program_new("p");
	heddle_program_size size = {"N", 1, 100, 1};
	HEDDLE_PUSH(p->arena, p->size, p->n_size, size);
	heddle_value *x = heddle_value_variable(p, HEDDLE_INT32, 1, "x");
	heddle_value *v = B(ADD, B(MUL, x, I(4)), I(1));
	heddle_value *w = heddle_value_map(p, v, replace_x, I(5));
	assert_true(heddle_value_is_int(w, 21));
	assert_ptr_equal(heddle_value_map(p, w, replace_x, I(5)), w);

	int64_t n = 100, r = 0;
	heddle_value *N = heddle_value_size(p, 0);
	assert_int_equal(heddle_value_evaluate(B(DIV, B(ADD, N, I(63)), I(64)), &n, &r), 0);
	assert_int_equal(r, 2);
	assert_int_equal(heddle_value_evaluate(B(MIN, N, I(64)), &n, &r), 0);
	assert_int_equal(r, 64);
	assert_int_equal(heddle_value_evaluate(heddle_value_select(p, B(GT, N, I(7)), N, I(1)), &n, &r), 0);
	assert_int_equal(r, 100);
	assert_int_equal(heddle_value_evaluate(B(DIV, N, I(0)), &n, &r), -1);
	assert_int_equal(heddle_value_evaluate(x, &n, &r), -1);
	heddle_program_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),     cmocka_unit_test(test_documentation),  cmocka_unit_test(test_types_of_literals),
		cmocka_unit_test(test_bad_text), cmocka_unit_test(test_depth),       cmocka_unit_test(test_validate),
		cmocka_unit_test(test_folding),	       cmocka_unit_test(test_map_and_evaluate),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
