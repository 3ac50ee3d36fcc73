/* The notation: tokens, grammar, names, types, recovery after errors, sizes, and printing that parses back.
 * SPDX-License-Identifier: MIT
 */
#include "frontend/definition.h"

#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static heddle_module *parse(heddle_ctx *ctx, const char *text)
{
	heddle_module *m = heddle_module_parse(ctx, "test.tc", text, NULL);
	if (!m)
		fail_msg("%s\n%s", text, heddle_ctx_messages(ctx));
	return m;
}

/* The right-hand side of `O(..) = TEXT` as checked, in the notation. */
static void assert_value(const char *params, const char *statement, const char *expected)
{
	heddle_ctx *ctx = heddle_ctx_new();
	heddle_text text = {0};
	heddle_text_printf(&text, "def f(%s) -> (O) { %s }", params, statement);
	heddle_module *m = parse(ctx, heddle_text_str(&text));
	heddle_text_clear(&text);
	heddle_expr_print(m->definition[0]->statement[0]->value, &text);
	assert_string_equal(heddle_text_str(&text), expected);
	heddle_text_free(&text);
	heddle_module_free(m);
	heddle_ctx_free(ctx);
}

static int count(heddle_ctx *ctx, heddle_severity severity, int code)
{
	int n = 0;
	for (const heddle_diagnostic *d = heddle_diagnostics(ctx); d; d = d->next)
		n += d->severity == severity && d->code == code;
	return n;
}

/* ---- tokens -------------------------------------------------------------------------------------------------------------- */

static void test_literals(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		heddle_type type;
		double value;
	} cases[] = {
		{"1", HEDDLE_INT32, 1},		     {"010", HEDDLE_INT32, 10},	      {"0x1F", HEDDLE_INT32, 31},
		{"0x1e", HEDDLE_INT32, 30},	     {"1.", HEDDLE_FLOAT32, 1},	      {".5", HEDDLE_FLOAT32, 0.5},
		{"1e-3", HEDDLE_FLOAT32, 1e-3},	     {"1E5", HEDDLE_FLOAT32, 1e5},    {"3E-5", HEDDLE_FLOAT32, 3e-5},
		{"1e-12", HEDDLE_FLOAT32, 1e-12},    {"0x1p3", HEDDLE_FLOAT32, 8},    {"2147483647", HEDDLE_INT32, 2147483647},
		{"2147483648", HEDDLE_INT64, 2147483648.0}, {"inf", HEDDLE_FLOAT32, (double)INFINITY},
		{"0.1", HEDDLE_FLOAT32, 0.1},
	};
	for (size_t i = 0; i < HEDDLE_COUNT(cases); i++) {
		heddle_ctx *ctx = heddle_ctx_new();
		heddle_text text = {0};
		heddle_text_printf(&text, "def f(float(N) A) -> (O) { O = %s }", cases[i].text);
		heddle_module *m = parse(ctx, heddle_text_str(&text));
		const heddle_expr *e = m->definition[0]->statement[0]->value;
		assert_int_equal(e->type, cases[i].type);
		double got = heddle_type_is_float(e->type) ? e->f : (double)e->i;
		assert_memory_equal(&got, &cases[i].value, sizeof(got));
		heddle_text_free(&text);
		heddle_module_free(m);
		heddle_ctx_free(ctx);
	}
	/* A literal has the precision of the type it is used with. */
	assert_value("double(N) A", "O(i) = A(i) * 0.1", "A(i) * float64(0.1)");
	assert_value("double(N) A", "O(i) = A(i) * double(1e-300)", "A(i) * float64(1e-300)");
	/* Names may begin with inf and nan. */
	assert_value("float(N) info, float(N) nano", "O(infeat) = info(infeat) + nano(infeat)",
		     "info(infeat) + nano(infeat)");
}

static void test_grammar(void **state)
{
	(void)state;
	assert_value("int32(N) A", "O(i) = A(i) + 2 * 3 - -4 % 5", "A(i) + 2 * 3 - -4 % 5");
	assert_value("int32(N) A", "O(i) = A(i) - (2 - 3)", "A(i) - (2 - 3)");
	assert_value("int32(N) A", "O(i) = 1 | 2 ^ 3 & 4 << 5 + A(i)", "1 | 2 ^ 3 & 4 << 5 + A(i)");
	assert_value("int32(N) A", "O(i) = ((1 | 2) ^ 3) & (4 << 5) >> A(i)", "((1 | 2) ^ 3) & 4 << 5 >> A(i)");
	assert_value("int32(N) A", "O(i) = A(i) > 0 && A(i) < 3 || !(A(i) == 1) ? 1 : A(i) != 2 ? 2 : 3",
		     "A(i) > 0 && A(i) < 3 || !(A(i) == 1) ? 1 : (A(i) != 2 ? 2 : 3)");
	assert_value("float(N) A", "O(i) = min(A(i), max(A(i), 0.5)) <=> library(A, 3)", "min(A(i), max(A(i), 0.5))");
	assert_value("float(N) A", "O(i) = twice + A(j) where i in 0:N, j = i, twice = 2 * i", "float32(2 * i) + A(i)");
	/* An unset sum, a scalar with and without parentheses, comments. */
	heddle_ctx *ctx = heddle_ctx_new();
	heddle_module *m = parse(ctx, "def f(float(N) A) -> (v, r) {\n v min=! A(i) # least\n r min=! (A(i) == v) ? i : N\n}\n"
				      "def g(float(N) A) -> (v, r) {\n v() min=! A(i)\n r min=! (A(i) == v()) ? i : N\n}\n");
	assert_int_equal(m->n_definition, 2);
	assert_int_equal(m->definition[0]->tensor[2]->type, HEDDLE_INT32);
	heddle_module_free(m);
	heddle_ctx_free(ctx);
}

/* ---- types ------------------------------------------------------------------------------------------------------------------ */

static void test_types(void **state)
{
	(void)state;
	static const struct {
		const char *params, *statement;
		heddle_type type;
		const char *value;
	} cases[] = {
		{"float(N) A", "O(i) = A(i) + 1", HEDDLE_FLOAT32, "A(i) + 1.0"},
		{"float(N) A, double(N) B", "O(i) = A(i) * B(i)", HEDDLE_FLOAT64, "float64(A(i)) * B(i)"},
		{"float16(N) A", "O(i) = A(i)", HEDDLE_FLOAT16, "A(i)"},
		{"float16(N) A", "O(i) = A(i) * A(i)", HEDDLE_FLOAT16, "float16(float32(A(i)) * float32(A(i)))"},
		{"float16(N) A", "O(i) = A(i) * 0.5", HEDDLE_FLOAT16, "float16(float32(A(i)) * 0.5)"},
		{"float16(N,K) A", "O(i) +=! A(i,k)", HEDDLE_FLOAT16, "float32(A(i, k))"},
		{"bfloat16(N) A", "O(i) = exp(A(i))", HEDDLE_FLOAT32, "exp(float32(A(i)))"},
		{"bfloat16(N) A, float16(N) B", "O(i) = A(i) + B(i)", HEDDLE_FLOAT32, "float32(A(i)) + float32(B(i))"},
		{"int8(N) A, int8(N) B", "O(i) = A(i) + B(i)", HEDDLE_INT8, "int8(int32(A(i)) + int32(B(i)))"},
		{"uint32(N) A, int8(N) B", "O(i) = A(i) + B(i)", HEDDLE_INT32, "int32(A(i)) + int32(B(i))"},
		{"bool(N) A, int8(N) B", "O(i) = A(i) + B(i)", HEDDLE_INT8, "int8(int32(A(i)) + int32(B(i)))"},
		{"uint8(N) A, uint16(N) B", "O(i) = A(i) + B(i)", HEDDLE_UINT16, "uint16(int32(A(i)) + int32(B(i)))"},
		{"int64(N) A, float(N) B", "O(i) = A(i) + B(i)", HEDDLE_FLOAT32, "float32(A(i)) + B(i)"},
		{"float(N) A", "O(i) = A(i) > 0", HEDDLE_BOOL, "A(i) > 0.0"},
		{"float(N) A", "O(i) = fmax(A(i), 0)", HEDDLE_FLOAT32, "fmax(A(i), 0.0)"},
		{"double(N) A", "O(i) = pow(A(i), 2)", HEDDLE_FLOAT64, "pow(A(i), float64(2.0))"},
		{"float16(N) A", "O(i) = A(i) > 0 ? A(i) : 0", HEDDLE_FLOAT16,
		 "float16(float32(A(i)) > 0.0 ? float32(A(i)) : 0.0)"},
		{"float16(N) A, float16(N) B", "O(i) = i > 2 ? A(i) : B(i)", HEDDLE_FLOAT16, "i > 2 ? A(i) : B(i)"},
		{"float(N) A", "O(i) = int32(A(i)) % 2", HEDDLE_INT32, "int32(A(i)) % 2"},
		{"float(N) A", "O(i) = A(i) * N * i", HEDDLE_FLOAT32, "A(i) * float32(N) * float32(i)"},
		/* arithmetic on sizes that may be too large for int32 is in int64 where it becomes a float or an integer of 64 bits */
		{"float(N) A, size D", "O(i) = A(i) / (N * D)", HEDDLE_FLOAT32, "A(i) / float32(int64(N) * int64(D))"},
		{"float(N) A, size D", "O(i) = A(i) / float(N * D - 1)", HEDDLE_FLOAT32, "A(i) / float32(int64(N) * int64(D) - int64(1))"},
		{"int64(N) A, size D", "O(i) = A(i) + max(N, -2 * D) % 3", HEDDLE_INT64,
		 "A(i) + max(int64(N), -int64(2) * int64(D)) % int64(3)"},
		{"float(N) A", "O(i) = A(i) / max(N - 1, 1)", HEDDLE_FLOAT32, "A(i) / float32(max(N - 1, 1))"},
		{"int32(N) A, size D", "O(i) = int64(N * D) + A(i)", HEDDLE_INT64, "int64(int64(N) * int64(D)) + int64(A(i))"},
		{"float(N) A, size D", "O(i) = A(i) > 0 ? N * D : 0", HEDDLE_INT32, "A(i) > 0.0 ? N * D : 0"},
		{"float(N) A, size D", "O(i) = A(i) * float(i * N)", HEDDLE_FLOAT32, "A(i) * float32(i * N)"},
		{"int8(N) A", "O(i) = A(i) << 2", HEDDLE_INT8, "int8(int32(A(i)) << 2)"},
	};
	for (size_t i = 0; i < HEDDLE_COUNT(cases); i++) {
		heddle_ctx *ctx = heddle_ctx_new();
		heddle_text text = {0};
		heddle_text_printf(&text, "def f(%s) -> (O) { %s }", cases[i].params, cases[i].statement);
		heddle_module *m = parse(ctx, heddle_text_str(&text));
		const heddle_definition *d = m->definition[0];
		if (d->tensor[d->n_input]->type != cases[i].type)
			fail_msg("%s: type %s", cases[i].statement, heddle_type_name(d->tensor[d->n_input]->type));
		assert_value(cases[i].params, cases[i].statement, cases[i].value);
		heddle_text_free(&text);
		heddle_module_free(m);
		heddle_ctx_free(ctx);
	}
}

static void test_roles(void **state)
{
	(void)state;
	heddle_ctx *ctx = heddle_ctx_new();
	heddle_module *m = parse(ctx, "def f(float(N,K) A, size S) -> (acc, inout float(N) x, O) {\n"
				      " acc(i) += A(i,k)\n"
				      " t(i) +=! A(i,k) * S\n"
				      " x(i) = x(i) + t(i)\n"
				      " O(i) = x(i)\n}");
	const heddle_definition *d = m->definition[0];
	assert_int_equal(d->n_input, 1);
	assert_int_equal(d->n_output, 3);
	assert_int_equal(d->n_tensor, 5);
	assert_int_equal(d->n_size, 3);
	assert_int_equal(d->tensor[1]->role, HEDDLE_ROLE_INOUT);
	assert_int_equal(d->tensor[2]->role, HEDDLE_ROLE_INOUT);
	assert_int_equal(d->tensor[3]->role, HEDDLE_ROLE_OUTPUT);
	assert_int_equal(d->tensor[4]->role, HEDDLE_ROLE_TEMPORARY);
	assert_string_equal(d->tensor[4]->name, "t");
	assert_int_equal(count(ctx, HEDDLE_WARNING, 110), 1);
	for (int i = 0; i < d->n_tensor; i++)
		assert_int_equal(d->tensor[i]->position, i);
	/* Left-hand indices first, reductions by first appearance. */
	assert_string_equal(d->statement[1]->index[0]->name, "i");
	assert_string_equal(d->statement[1]->index[1]->name, "k");
	assert_false(d->statement[1]->index[0]->reduction);
	assert_true(d->statement[1]->index[1]->reduction);
	heddle_module_free(m);
	heddle_ctx_free(ctx);
}

/* ---- errors ------------------------------------------------------------------------------------------------------------------- */

/* All errors of a file at once, none of them an echo of another. */
static void test_recovery(void **state)
{
	(void)state;
	heddle_ctx *ctx = heddle_ctx_new();
	assert_null(heddle_module_parse(ctx, "many.tc",
					"def f(float(N) A) -> (O, P, Q) {\n"
					"	O(i) = A(i) +\n"
					"	P(i) = A(i) * B(i)\n"
					"	Q(i) = P(i) + O(i)\n"
					"}\n"
					"def g(float(N) A -> (O) {\n"
					"	O(i) = A(i)\n"
					"}\n"
					"def h(float(N) A) -> (O) {\n"
					"	O(i) = A(i) * scal\n"
					"}\n",
					NULL));
	assert_int_equal(count(ctx, HEDDLE_ERROR, 5) + count(ctx, HEDDLE_ERROR, 6), 1);
	assert_int_equal(count(ctx, HEDDLE_ERROR, 3), 1);
	assert_int_equal(count(ctx, HEDDLE_ERROR, 101), 2);
	assert_int_equal(heddle_error_count(ctx), 4);
	heddle_ctx_free(ctx);
}

static void test_did_you_mean(void **state)
{
	(void)state;
	static const struct {
		const char *text, *suggestion;
	} cases[] = {
		{"def f(float(N) input, float alpha) -> (O) { O(i) = input(i) * alpa }", "alpha"},
		{"def f(float(N) input) -> (O) { O(i) = inptu(i) }", "input"},
		{"def f(float(N) input) -> (O) { O(i) = sqtr(input(i)) }", "sqrt"},
		{"def f(float(N) input) -> (output) { outptu(i) = input(i) }", "outptu"},
	};
	for (size_t i = 0; i < HEDDLE_COUNT(cases); i++) {
		heddle_ctx *ctx = heddle_ctx_new();
		heddle_text want = {0};
		assert_null(heddle_module_parse(ctx, "typo.tc", cases[i].text, NULL));
		heddle_text_printf(&want, "did you mean `%s`?", cases[i].suggestion);
		if (!strstr(heddle_ctx_messages(ctx), heddle_text_str(&want)))
			fail_msg("%s: %s", cases[i].text, heddle_ctx_messages(ctx));
		heddle_text_free(&want);
		heddle_ctx_free(ctx);
	}
}

/* What is said to writers of other languages: one error each, with this in its message, notes or fix-it. */
static void test_hints(void **state)
{
	(void)state;
	static const struct {
		const char *text, *says;
	} cases[] = {
		{"def f(flaot(N) A) -> (O) { O(i) = A(i) }", "unknown type `flaot`, did you mean `float`?"},
		{"def f(float(N) A) -> (flaot(N) O) { O(i) = A(i) }", "unknown type `flaot`, did you mean `float`?"},
		{"def f(float(N) A, int n) -> (O) { O(i) = A(i) }", "unknown type `int`, did you mean `int32`?"},
		{"def f(tensor(N) A) -> (O) { O(i) = A(i) }", "types are bool, int8"},
		{"def f(float(N) A) -> (O) { flaot t(i) = A(i)\n O(i) = t(i) }", "unknown type `flaot`, did you mean `float`?"},
		{"def f(float(N) A) -> (O) { O(i) = flaot(i) + A(i) }", "did you mean `float`?"},
		{"def f(float(N, K) A) -> (O) { O(i) = sum(A(i, k)) }", "a sum is `+=!`: O(i) +=! A(i, k)"},
		{"def f(float(N, K) A) -> (O) { O(i) = mean(A(i, k)) }", "O(i) +=! A(i, k) / K"},
		{"def f(float(N) A) -> (O) { O(i) = A(i) wher i in 0:N }", "where\n"},
		{"def f(float(N) A) -> (O) {\n O(i) = A(i)\n wher i in 0:N }", "where\n"},
		{"def f(float(N) A) -> (O) { O(i) = A(i) if A(i) > 0 else 0.0 }", "`condition ? a : b`"},
		{"def f(float(N) A) -> (O) { O(i) = if A(i) > 0 then A(i) else 0.0 }", "`condition ? a : b`"},
		{"def f(float(N) A) -> (O) { O(i) = A(i) > 0 and A(i) < 1 ? 1 : 0 }", "`&&` is and"},
		{"def f(float(N) A) -> (O) { O(i) = A(i) ** 2 }", "a power is `x * x`, or `pow(x, y)`"},
		{"def f(float(N) A) -> (O) { O(i) = A(i) ^ 2 }", "a power is `x * x`, or `pow(x, y)`"},
		{"def f(float(N) A) -> (O) { O(i) = A[i] }", "in parentheses: `A(i)`"},
		{"def f(float(N) A) -> (O) { O[i] = A(i) }", "in parentheses: `A(i)`"},
		{"def f(float[N] A) -> (O) { O(i) = A(i) }", "in parentheses: `A(i)`"},
		{"def f(float(N) A, float(N) B) -> (O) { O = A @ B }", "write the product with indices"},
		{"def f(float(N) \xCE\xB1) -> (O) { O(i) = \xCE\xB1(i) + \xCE\xB1(i) }", "unexpected character `\xCE\xB1`"},
		{"def f(float(N) gr\xC3\xB6\xC3\x9F" "e) -> (O) { O(i) = 1.0 }", "names have ASCII letters"},
		{"def f(float(N) A) -> (O) { O(i) = A(i) \xC3\x97 2 }", "                                           *\n"},
		{"def f(float(N) A) -> (O) { O(i) = A(i) + \xFF 2 }", "unexpected byte 0xff"},
	};
	for (size_t i = 0; i < HEDDLE_COUNT(cases); i++) {
		heddle_ctx *ctx = heddle_ctx_new();
		assert_null(heddle_module_parse(ctx, "hint.tc", cases[i].text, NULL));
		const char *messages = heddle_ctx_messages(ctx);
		if (!strstr(messages, cases[i].says) || heddle_error_count(ctx) != 1)
			fail_msg("%s: one error with %s:\n%s", cases[i].text, cases[i].says, messages);
		heddle_ctx_free(ctx);
	}
	/* A name that has nothing in common with any other gets no suggestion. */
	heddle_ctx *ctx = heddle_ctx_new();
	assert_null(heddle_module_parse(ctx, "hint.tc", "def f(float(N) A) -> (O) { O(i) = bean(A(i)) }", NULL));
	assert_null(strstr(heddle_ctx_messages(ctx), "did you mean"));
	heddle_ctx_free(ctx);
}

static void test_arrow_fixit(void **state)
{
	(void)state;
	heddle_ctx *ctx = heddle_ctx_new();
	assert_null(heddle_module_parse(ctx, "arrow.tc", "def f(float(N) A) -> O {\n O(i) = A(i)\n}\n", NULL));
	assert_int_equal(heddle_error_count(ctx), 1);
	const heddle_diagnostic *d = heddle_diagnostics(ctx);
	assert_int_equal(d->code, 4);
	assert_int_equal(d->location.line, 1);
	assert_int_equal(d->location.column, 22);
	assert_string_equal(d->fixit, "(O)");
	heddle_ctx_free(ctx);
}

/* Text that is not a program must give errors, not faults: pieces and mutations of one. */
static void test_garbage(void **state)
{
	(void)state;
	static const char program[] =
		"def f(float(N,K) A, int32(N) I, size S) -> (inout float(N) x, O) sizes N=1:64*4, K=8 {\n"
		" float16 t(i) +=! fmax(A(I(i), k + S), 1e-3) where k in 0:i+1, q = 2 * i, exists A(i, 0)\n"
		" O(i+1, j) = (i % 2 == 0 && j != 3) ? t(i) : -x(j) <=> lib(A, 2)\n}\n";
	char text[sizeof(program)];
	uint32_t x = 1;
	for (int round = 0; round < 3000; round++) {
		memcpy(text, program, sizeof(program));
		size_t length = sizeof(program) - 1;
		for (int i = 0; i < 1 + round % 4; i++) {
			x = x * 1664525u + 1013904223u;
			size_t at = (x >> 8) % length;
			x = x * 1664525u + 1013904223u;
			if (round % 3 == 0)
				text[at] = program[(x >> 8) % length];
			else if (round % 3 == 1)
				text[at] = (char)(1 + (x >> 8) % 255);
			else
				memmove(text + at, text + at + 1, length - at);
		}
		if (round % 5 == 0)
			text[(x >> 4) % length] = 0;
		heddle_ctx *ctx = heddle_ctx_new();
		heddle_module *m = heddle_module_parse(ctx, "garbage.tc", text, NULL);
		if (!m)
			assert_true(heddle_error_count(ctx) > 0);
		heddle_ctx_messages(ctx);
		heddle_module_free(m);
		heddle_ctx_free(ctx);
	}
	/* Deep nesting is an error, not a stack overflow. */
	heddle_text deep = {0};
	heddle_text_add(&deep, "def f(float(N) A) -> (O) { O(i) = ");
	for (int i = 0; i < 100000; i++)
		heddle_text_add(&deep, i % 2 ? "(" : "-");
	heddle_ctx *ctx = heddle_ctx_new();
	assert_null(heddle_module_parse(ctx, "deep.tc", heddle_text_str(&deep), NULL));
	assert_int_equal(count(ctx, HEDDLE_ERROR, 10), 1);
	heddle_text_free(&deep);
	heddle_ctx_free(ctx);
}

/* ---- sizes ----------------------------------------------------------------------------------------------------------------------- */

static void test_sizes(void **state)
{
	(void)state;
	heddle_ctx *ctx = heddle_ctx_new();
	heddle_arena *arena = heddle_arena_new();
	heddle_size_list *list = heddle_sizes_parse(ctx, arena, "M=1:8192,K=64*,N=4096 Q=64:4096*64 Z=5:70*8");
	static const heddle_size_range want[] = {
		{"M", 1, 8192, 1}, {"K", 0, 2147418112, 64}, {"N", 4096, 4096, 1}, {"Q", 64, 4096, 64}, {"Z", 8, 64, 8},
	};
	assert_non_null(list);
	assert_int_equal(list->n, HEDDLE_COUNT(want));
	for (int i = 0; i < list->n; i++) {
		assert_string_equal(list->range[i].name, want[i].name);
		assert_int_equal(list->range[i].min, want[i].min);
		assert_int_equal(list->range[i].max, want[i].max);
		assert_int_equal(list->range[i].divisor, want[i].divisor);
	}
	static const struct {
		const char *text;
		int code;
	} wrong[] = {
		{"M", 301},	    {"M=", 301},      {"=5", 301},    {"M=x", 301},    {"M=1:", 301},  {"M=5:3", 302},
		{"M=4294967296", 302}, {"M=0*", 303}, {"M=1:9*0", 303}, {"M=1:3*5", 305}, {"M=1,M=2", 308}, {"M=-1", 301},
	};
	for (size_t i = 0; i < HEDDLE_COUNT(wrong); i++) {
		heddle_diagnostics_clear(ctx);
		assert_null(heddle_sizes_parse(ctx, arena, wrong[i].text));
		if (!count(ctx, HEDDLE_ERROR, wrong[i].code))
			fail_msg("%s: %s", wrong[i].text, heddle_ctx_messages(ctx));
	}
	heddle_diagnostics_clear(ctx);

	const char *text = "def f(float(M,K) A) -> (O) sizes M=2:100, K=8* { O(i) +=! A(i,k) }";
	heddle_module *m = heddle_module_parse(ctx, "s.tc", text, heddle_sizes_parse(ctx, arena, "M=50:200*3"));
	assert_non_null(m);
	const heddle_size *size = m->definition[0]->size[0];
	assert_int_equal(size->min, 51);
	assert_int_equal(size->max, 99);
	assert_int_equal(size->divisor, 3);
	assert_int_equal(heddle_sizes_check(ctx, m->definition[0], (int64_t[]){51, 16}), 0);
	assert_int_equal(heddle_sizes_check(ctx, m->definition[0], (int64_t[]){101, 16}), -1);
	assert_int_equal(heddle_sizes_check(ctx, m->definition[0], (int64_t[]){51, 15}), -1);
	assert_int_equal(count(ctx, HEDDLE_ERROR, 306), 1);
	assert_int_equal(count(ctx, HEDDLE_ERROR, 307), 1);
	heddle_module_free(m);
	heddle_diagnostics_clear(ctx);
	assert_null(heddle_module_parse(ctx, "s.tc", text, heddle_sizes_parse(ctx, arena, "M=101")));
	assert_int_equal(count(ctx, HEDDLE_ERROR, 305), 1);
	heddle_diagnostics_clear(ctx);
	assert_null(heddle_module_parse(ctx, "s.tc", text, heddle_sizes_parse(ctx, arena, "Q=101")));
	assert_int_equal(count(ctx, HEDDLE_ERROR, 304), 1);
	heddle_arena_free(arena);
	heddle_ctx_free(ctx);
}

static void test_pragmas(void **state)
{
	(void)state;
	heddle_ctx *ctx = heddle_ctx_new();
	heddle_module *m = parse(ctx, "#: sizes N=1\n"
				      "def f(float(N) A) -> (O) {\n#: expect launches=1\n O(i) = A(i) # no: pragma\n}\n"
				      "#:sizes   N=2 M=3  \n"
				      "def g(float(N) A) -> (O) { O(i) = A(i) }\n#: last\n");
	static const heddle_pragma want[] = {
		{"sizes", "N=1", 0, {0}}, {"expect", "launches=1", 0, {0}}, {"sizes", "N=2 M=3", 1, {0}}, {"last", "", 1, {0}},
	};
	assert_int_equal(m->n_pragma, HEDDLE_COUNT(want));
	for (int i = 0; i < m->n_pragma; i++) {
		assert_string_equal(m->pragma[i].key, want[i].key);
		assert_string_equal(m->pragma[i].text, want[i].text);
		assert_int_equal(m->pragma[i].definition, want[i].definition);
	}
	assert_non_null(heddle_module_find(ctx, m, "f"));
	assert_string_equal(heddle_module_find(ctx, m, NULL)->name, "g");
	assert_null(heddle_module_find(ctx, m, "ff"));
	assert_int_equal(count(ctx, HEDDLE_ERROR, 309), 1);
	heddle_module_free(m);
	heddle_ctx_free(ctx);
}

/* ---- calls ------------------------------------------------------------------------------------------------------------------------ */

/* The first definition of the text, printed. */
static void assert_printed(const char *text, const char *expected)
{
	heddle_ctx *ctx = heddle_ctx_new();
	heddle_text out = {0};
	heddle_module *m = parse(ctx, text);
	heddle_definition_print(m->definition[0], &out);
	assert_string_equal(heddle_text_str(&out), expected);
	heddle_text_free(&out);
	heddle_module_free(m);
	heddle_ctx_free(ctx);
}

static void test_calls(void **state)
{
	(void)state;
	assert_printed("def f(float(P,Q) X, float(Q) b, float(P) k) -> (Y) { t = g(X, b, 0.5)\n Y(i) = t(i) + k(i) }\n"
		       "def g(float(M,K) A, float(K) x, float s) -> (y) { u(i) +=! A(i,k) * x(k)\n y(i) = s * u(i) }",
		       "def f(float32(P, Q) X, float32(Q) b, float32(P) k) -> (float32(P) Y) {\n"
		       "\tfloat32 g_u(i) +=! X(i, k_2) * b(k_2) where i in 0:P, k_2 in 0:Q\n"
		       "\tfloat32 t(i) = 0.5 * g_u(i) where i in 0:P\n"
		       "\tY(i) = t(i) + k(i) where i in 0:P\n}\n");
	/* sizes by extents, by expression and by solving; what is required; a quotient that is a value rounds down */
	assert_printed("def f(float(P) x, float(P) z) -> (Y) { Y = g(x, z, (P - 3) / 2) }\n"
		       "def g(float(N + 1) A, float(N + 1) B, size K) -> (y) sizes K=0:100 { y(i) = A(i) * B(i) * K where i in 0:N }",
		       "def f(float32(P) x, float32(P) z) -> (float32(P - 1) Y) {\n"
		       "\t# requires 2 <= (P + 1) / 2\n"
		       "\t# requires 1 <= P\n"
		       "\t# requires (P + 1) / 2 - 2 <= 100\n"
		       "\tY(i) = x(i) * z(i) * ((P + 1) / 2 - 2) where i in 0:P - 1\n}\n");
	assert_printed("def f(float(P) x, float(Q) z) -> (Y) { Y = g(x, z) }\n"
		       "def g(float(N) A, float(N) B) -> (y) { y(i) = A(i) * B(i) }",
		       "def f(float32(P) x, float32(Q) z) -> (float32(P) Y) {\n"
		       "\t# requires P == Q\n"
		       "\tY(i) = x(i) * z(i) where i in 0:P\n}\n");
	/* what an element or another expression gives is calculated first */
	assert_printed("def f(float(P) x) -> (Y, float(3) Z) { m max=! x(i)\n (Y, Z) = g(x, m * 2.0) }\n"
		       "def g(float(N) A, float s) -> (y, z) { y(i) = A(i) * s\n z(i) = s where i in 0:3 }",
		       "def f(float32(P) x) -> (float32(P) Y, float32(3) Z) {\n"
		       "\tfloat32 m max=! x(i) where i in 0:P\n"
		       "\tfloat32 g_s = m() * 2.0\n"
		       "\tY(i) = x(i) * g_s() where i in 0:P\n"
		       "\tZ(i) = g_s() where i in 0:3\n}\n");
	/* strides by size: open by itself, known in the call */
	assert_printed("def f(float(P) x) -> (Y) { Y = g(x, 2) }\n def g(float(N) A, size S) -> (y) { y(i) = A(S * i) }",
		       "def f(float32(P) x) -> (float32((P + 1) / 2) Y) {\n"
		       "\tY(i) = x(2 * i) where i in 0:(P + 1) / 2\n}\n");
	/* cases stay with their definitions when one is only for calls */
	heddle_ctx *ctx = heddle_ctx_new();
	heddle_module *m = parse(ctx, "#: sizes N=1\ndef a(float(N) x) -> (y) { y = g(x, 2) }\n#: sizes N=2\n"
				      "def g(float(N) A, size S) -> (y) { y(i) = A(S * i) }\n#: sizes N=3\n"
				      "def b(float(N) x) -> (y) { y = g(x, 3) }\n#: sizes N=4\n");
	assert_int_equal(m->n_definition, 2);
	assert_int_equal(m->n_pragma, 3);
	static const char *const cases[] = {"N=1", "N=3", "N=4"};
	for (int i = 0; i < 3; i++) {
		assert_string_equal(m->pragma[i].text, cases[i]);
		assert_int_equal(m->pragma[i].definition, i > 0);
	}
	heddle_module_free(m);
	heddle_ctx_free(ctx);
	/* several levels; strides that the callee names are those of what is passed to it, and g declares A dense */
	assert_printed("def f(float(P, 4) x strides (s, 1)) -> (Y) { Y = g(x) }\n"
		       "def g(float(N, K) A) -> (y) { t = h(A)\n y(i) = t(i) + 1 }\n"
		       "def h(float(N, K) A strides (lda, 1)) -> (y) { y(i) +=! A(i, k) * lda }",
		       "def f(float32(P, 4) x strides (s, 1)) -> (float32(P) Y) {\n"
		       "\tfloat32 g_t(i) +=! x(i, k) * 4 where i in 0:P, k in 0:4\n"
		       "\tY(i) = g_t(i) + 1.0 where i in 0:P\n}\n");
}

/* ---- layouts ---------------------------------------------------------------------------------------------------------------------- */

static void assert_layout(const char *text, const char *sizes, const char *preconditions)
{
	heddle_ctx *ctx = heddle_ctx_new();
	heddle_text out = {0};
	heddle_module *m = parse(ctx, text);
	const heddle_definition *d = m->definition[0];
	for (int i = 0; i < d->n_size; i++)
		heddle_text_printf(&out, "%s%s", i ? " " : "", d->size[i]->name);
	assert_string_equal(heddle_text_str(&out), sizes);
	heddle_text_clear(&out);
	for (int i = 0; i < d->n_precondition; i++) {
		heddle_text_add(&out, i ? "; " : "");
		heddle_expr_print(d->precondition[i], &out);
	}
	assert_string_equal(heddle_text_str(&out), preconditions);
	heddle_text_free(&out);
	heddle_module_free(m);
	heddle_ctx_free(ctx);
}

/* Strides bring sizes in the order in which they stand; what is written must have a place per element. */
static void test_layouts(void **state)
{
	(void)state;
	heddle_ctx *ctx = heddle_ctx_new();
	heddle_module *m = parse(ctx, "def f(float16(M, K) A strides (lda, 1) align 32, float x) -> (float16(M, K) C strides (2 * K, 1))\n"
				      "{ C(i, j) = A(i, j) * x }");
	const heddle_tensor *a = m->definition[0]->tensor[0], *c = m->definition[0]->tensor[2];
	assert_int_equal(a->align, 32);
	assert_int_equal(c->align, 0);
	assert_null(m->definition[0]->tensor[1]->stride);
	assert_string_equal(a->stride[0]->size->name, "lda");
	assert_int_equal(a->stride[1]->i, 1);
	int64_t sizes[] = {3, 5, 8}, value;
	assert_int_equal(heddle_expr_evaluate(c->stride[0], sizes, &value), 0);
	assert_int_equal(value, 10);
	heddle_module_free(m);
	heddle_ctx_free(ctx);

	assert_layout("def f(float(M, K) A strides (lda, 1), size S, float(K, N) B strides (ldb, 1)) -> (float(M, N) C strides (ldc, 1))\n"
		      "{ C(i, j) +=! A(i, k) * B(k, j) }",
		      "M K lda S N ldb ldc", "N <= ldc");
	assert_layout("def f(float(M, N) A) -> (float(M, N) C strides (1, ldc)) { C(i, j) = A(i, j) }", "M N ldc", "M <= ldc");
	assert_layout("def f(float(M, N) A) -> (float(M, N) C strides (s, t)) { C(i, j) = A(i, j) }", "M N s t",
		      "1 <= s; 1 <= t; s >= t * N || t >= s * M");
	assert_layout("def f(float(M, N) A) -> (float(X, Y) C strides (N, 1)) { C(i, j) = A(i, j) }", "M N", "");
	assert_layout("def f(float(M, N) A) -> (float(M, N) C strides (1, 1)) { C(i, j) = A(i, j) }", "M N", "1 >= N || 1 >= M");
	assert_layout("def f(float(4, 5) A) -> (float(4, 5) C strides (6, 1)) { C(i, j) = A(i, j) }", "", "");
	assert_layout("def f(float(4, 5) A) -> (float(4, 5) C strides (1, 4)) { C(i, j) = A(i, j) }", "", "");
	/* Inputs may repeat elements; only below 0 nothing lies. */
	assert_layout("def f(float(M, N) A strides (0, s - 1)) -> (C) { C(i, j) = A(i, j) }", "M N s", "1 <= s");
}

/* ---- printing ---------------------------------------------------------------------------------------------------------------------- */

static void assert_same_definition(const heddle_definition *a, const heddle_definition *b)
{
	assert_int_equal(a->n_size, b->n_size);
	for (int i = 0; i < a->n_size; i++)
		assert_string_equal(a->size[i]->name, b->size[i]->name);
	assert_int_equal(a->n_tensor, b->n_tensor);
	assert_int_equal(a->policy, b->policy);
	assert_int_equal(a->n_statement, b->n_statement);
	for (int i = 0; i < a->n_tensor; i++) {
		const heddle_tensor *x = a->tensor[i], *y = b->tensor[i];
		assert_string_equal(x->name, y->name);
		assert_int_equal(x->type, y->type);
		assert_int_equal(x->role, y->role);
		assert_int_equal(x->rank, y->rank);
		assert_int_equal(x->zero_fill, y->zero_fill);
		assert_int_equal(x->align, y->align);
		assert_int_equal(x->stride == NULL, y->stride == NULL);
		for (int d = 0; d < x->rank; d++) {
			for (int round = 0; round < 20; round++) {
				int64_t size[32], other[32], p, q;
				for (int s = 0; s < a->n_size; s++)
					size[s] = (round * 7 + s * 5 + round * s) % 37;
				for (int s = 0; s < b->n_size; s++)
					for (int t = 0; t < a->n_size; t++)
						if (!strcmp(b->size[s]->name, a->size[t]->name))
							other[s] = size[t];
				assert_int_equal(heddle_expr_evaluate(x->extent[d], size, &p), 0);
				assert_int_equal(heddle_expr_evaluate(y->extent[d], other, &q), 0);
				assert_int_equal(p, q);
			}
		}
	}
}

static void assert_round_trip(const char *name, const char *text)
{
	heddle_ctx *ctx = heddle_ctx_new();
	heddle_text first = {0}, second = {0};
	heddle_module *m = heddle_module_parse(ctx, name, text, NULL);
	if (!m)
		fail_msg("%s", heddle_ctx_messages(ctx));
	for (int i = 0; i < m->n_definition; i++) {
		heddle_text_clear(&first);
		heddle_text_clear(&second);
		heddle_definition_print(m->definition[i], &first);
		heddle_module *again = heddle_module_parse(ctx, "printed.tc", heddle_text_str(&first), NULL);
		if (!again)
			fail_msg("%s\n%s", heddle_text_str(&first), heddle_ctx_messages(ctx));
		assert_same_definition(m->definition[i], again->definition[0]);
		heddle_definition_print(again->definition[0], &second);
		assert_string_equal(heddle_text_str(&first), heddle_text_str(&second));
		heddle_module_free(again);
	}
	heddle_text_free(&first);
	heddle_text_free(&second);
	heddle_module_free(m);
	heddle_ctx_free(ctx);
}

static void test_round_trip(void **state)
{
	(void)state;
	static const char *const programs[] = {
		"def f(float16(M,K) A, float16(K,N) B) -> (C) {\n t(i,j) +=! A(i,k)*B(k,j)\n C(i,j) = t(i,j) * 0.1 }",
		"def f(double(N) A) -> (O) { O(i) = A(i) > 1e-300 ? log(A(i)) : -inf }",
		"def f(int8(N) A, bool(N) m) -> (O, int32 n) sizes N=8:800*8 {\n O(i) = m(i) ? A(i) : 0\n n +=! int32(m(i)) }",
		"def f(float(N) I) -> (O) { O(i) = I(i-1) }",
		"def f(float(H,W) I, float(KH,KW) K) -> (O) { O(h,w) +=! I(2*h+kh,3*w+kw)*K(kh,kw) }",
		"def f(float(N,M) I) -> (O) { O(i,j) = I(10+i-j,i+j) where i in 0:10 }",
		"def f(float(N) x, size S) -> (inout float(N) y) { y(i) = y(i) + x(i) * S }",
		"def f(float(N) A, float(M) B) -> (O) {\nO(i) = A(i)\nO(i+N) = B(i) }",
		"def f(uint64(N) A) -> (O) { O(i) = A(i) ^ uint64(12345) << (A(i) & 7) }",
		"def f(float(M,N) A strides (lda,1) align 64, float b) -> (inout float(M,N) C strides (2*ldc,1), D align 8)\n"
		" { C(i,j) += b*A(i,j)\n D(i) +=! double(A(i,j)) }",
		"def f(float16(N,M) x, uint8(N) q) -> (int64(N) at, g, h) {\n at(n) argmax=! x(n,i) * 2.0 where i in 0:M-1\n"
		" int64 g argmin=! x(n,i)\n t(n) argmax=! q(n+k) where k in 0:2\n h(n) = t(n) + 1 }",
		"def f(float(N) x) -> (y) { y(k+3) = x(k+3) * k where k in -3:N-3 }",
		"def f(float(N) x, uint8 s) -> (y, z) { y(i) = random(s, i) * x(i)\n z(i) = random_bits(-1, i + y(i) > 0 ? 1 : N) }",
		"def f(float(N) x) -> (y) policy relaxed sizes N=4:8 { y(i) = x(i) }",
		"def f(float(N) x, size policy) -> (y) sizes policy=3 policy relaxed { y(i) = x(i) * policy }",
		"def f(uint16(N) A) -> (O, P) { uint16 x(i) = i == 0 ? uint16(0) : i == 1 ? A(i) * uint16(5462) : A(i)\n"
		" O(i) = x(i) * int8(3) + uint8(7)\n P(i) = float16(0.1) + bfloat16(0.7) * float16(A(i)) }",
		/* narrow integers: what the rules of types convert is not written */
		"def f(uint8(N,M) B, uint8(N,M) C, double(N) D, int8(N) e, uint64(N) u) -> (O, P, Q, int64(N) R, h) {\n"
		" largest(n) max=! B(n,m)\n O(n,m) = B(n,m) + C(n,m)\n Q(n) = D(n) * float(0.1)\n R(n) = int8(u(n)) - 1\n"
		" P(n) +=! int32(B(n,m) * C(n,m)) / u(n) + int32(largest(n) - e(n)) / u(n)\n h(n) = B(n, 0) > 1 ? e(n) : -e(n) }",
		/* the order of the sizes stays */
		"def f(size P, float(N) A, size Q, size L, float(L, K) B strides (Q, s), size R) -> (float(K) O strides (t))\n"
		" sizes s=1:8 { O(i) +=! B(j, i) * A(l) * (P + Q + R) }",
		"def f(size K, size N, float(N, K) A) -> (float(N, K) O strides (u, v)) { O(i,j) = A(i,j) }",
		"def f(size v, float(N, K) A) -> (float(N, K) O strides (u, v)) { O(i,j) = A(i,j) }",
		"def f(float(N) A) -> (O) { O(i) = (i > 3 ? i < 5 : i == 9) ? A(i) : (A(i) > 0 ? 1.5 : nan) }",
	};
	for (size_t i = 0; i < HEDDLE_COUNT(programs); i++)
		assert_round_trip("program.tc", programs[i]);
}

/* Every layer that ships checks without warnings, prints and parses back; and it checks at the sizes of its cases. */
static void test_layers(void **state)
{
	(void)state;
	DIR *dir = opendir(HEDDLE_SOURCE_DIR "/layers");
	assert_non_null(dir);
	int n = 0;
	for (struct dirent *entry; (entry = readdir(dir));) {
		size_t length = strlen(entry->d_name);
		if (length < 4 || strcmp(entry->d_name + length - 3, ".tc"))
			continue;
		heddle_ctx *ctx = heddle_ctx_new();
		heddle_text path = {0};
		heddle_text_printf(&path, "%s/layers/%s", HEDDLE_SOURCE_DIR, entry->d_name);
		char *text = heddle_file_read(ctx, heddle_text_str(&path), NULL);
		assert_non_null(text);
		assert_round_trip(entry->d_name, text);
		heddle_module *m = heddle_module_parse(ctx, entry->d_name, text, NULL);
		assert_non_null(m);
		for (int i = 0; i < m->n_pragma; i++) {
			if (strcmp(m->pragma[i].key, "sizes"))
				continue;
			heddle_size_list *list = heddle_sizes_parse(ctx, heddle_ctx_arena(ctx), m->pragma[i].text);
			const heddle_definition *of = m->definition[m->pragma[i].definition];
			heddle_module *sized = list ? heddle_module_parse_for(ctx, entry->d_name, text, list, of->name) : NULL;
			if (!sized)
				fail_msg("%s: %s: %s", entry->d_name, m->pragma[i].text, heddle_ctx_messages(ctx));
			heddle_module_free(sized);
		}
		free(text);
		heddle_text_free(&path);
		heddle_module_free(m);
		heddle_ctx_free(ctx);
		n++;
	}
	closedir(dir);
	assert_true(n >= 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_literals),     cmocka_unit_test(test_grammar),	   cmocka_unit_test(test_types),
		cmocka_unit_test(test_roles),	     cmocka_unit_test(test_recovery),	   cmocka_unit_test(test_did_you_mean),
		cmocka_unit_test(test_hints),
		cmocka_unit_test(test_arrow_fixit),  cmocka_unit_test(test_garbage),	   cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_pragmas),	     cmocka_unit_test(test_round_trip),	   cmocka_unit_test(test_layers),
		cmocka_unit_test(test_layouts),	     cmocka_unit_test(test_calls),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
