/* What the cost model completes is a config like any other: printed, read back and compiled again it gives the same program.
 * SPDX-License-Identifier: MIT
 */
#include "compile/compile.h"

#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char *printed(const heddle_program *program)
{
	heddle_text out = {0};
	heddle_program_print(program, &out);
	char *text = heddle_xstrdup(heddle_text_str(&out));
	heddle_text_free(&out);
	return text;
}

static void again(heddle_ctx *ctx, const heddle_definition *d, const heddle_target *target)
{
	heddle_program *first = heddle_compile(ctx, d, target, NULL);
	if (!first)
		fail_msg("%s %s: %s", d->name, target->text, heddle_ctx_messages(ctx));
	heddle_compile_options options = {.config = first->config};
	heddle_program *second = heddle_compile(ctx, d, target, &options);
	if (!second)
		fail_msg("%s %s: %s\n%s", d->name, target->text, first->config, heddle_ctx_messages(ctx));
	char *a = printed(first), *b = printed(second);
	if (strcmp(a, b))
		fail_msg("%s %s: two programs\n%s\n%s", d->name, target->text, a, b);
	free(a);
	free(b);
	heddle_program_free(first);
	heddle_program_free(second);
}

static void layers(void **state)
{
	static const char *const targets[] = {"h200", "rx7900xtx", "gpu", "cpu"};
	(void)state;
	glob_t files;
	assert_int_equal(glob(HEDDLE_SOURCE_DIR "/tests/programs/*.tc", 0, NULL, &files), 0);
	for (size_t f = 0; f < files.gl_pathc; f++)
		for (size_t t = 0; t < HEDDLE_COUNT(targets); t++) {
			heddle_ctx *ctx = heddle_ctx_new();
			heddle_target target;
			char *text = heddle_file_read(ctx, files.gl_pathv[f], NULL);
			heddle_module *module = heddle_module_parse(ctx, files.gl_pathv[f], text, NULL);
			assert_non_null(module);
			heddle_diagnostics_clear(ctx);
			assert_int_equal(heddle_target_parse(ctx, targets[t], &target), 0);
			/* each target another part of the definitions */
			int step = (int)HEDDLE_COUNT(targets) * (getenv("HEDDLE_TEST_FULL") ? 1 : 4);
			for (int i = (int)t; i < module->n_definition; i += step)
				again(ctx, module->definition[i], &target);
			heddle_module_free(module);
			free(text);
			heddle_ctx_free(ctx);
		}
	globfree(&files);
}

/* A part that is given stays; what is impossible is an error, not a silent change. */
static void given(void **state)
{
	(void)state;
	heddle_ctx *ctx = heddle_ctx_new();
	heddle_module *module =
		heddle_module_parse(ctx, "test", "def f(float(N, D) I) -> (O) { m(n) max=! I(n, d)  O(n, d) = I(n, d) - m(n) }", NULL);
	heddle_target target;
	assert_int_equal(heddle_target_parse(ctx, "h200", &target), 0);
	heddle_compile_options options = {.config = "fuse=0,1; k1.S1: tile=d:64 thread=d:32 vector=d:2"};
	heddle_program *p = heddle_compile(ctx, module->definition[0], &target, &options);
	assert_non_null(p);
	assert_int_equal(p->n_launch, 2);
	assert_int_equal(p->launch[1]->threads, 32);
	assert_non_null(strstr(p->config, "k1.S1: tile=d:64 thread=d:32 vector=d:2"));
	heddle_program_free(p);
	/* statements keep their numbers where a part names one */
	heddle_module *product = heddle_module_parse(
		ctx, "test", "def f(float(1024, 1024) A, float(1024, 1024) B) -> (C) { C(i, j) +=! A(k, i) * B(k, j) }", NULL);
	heddle_target cpu;
	assert_int_equal(heddle_target_parse(ctx, "opencl:cpu", &cpu), 0);
	const heddle_compile_options part = {.config = "k0.S0: tile=j:64,i:6 vector=j:16"};
	p = heddle_compile(ctx, product->definition[0], &cpu, &part);
	assert_non_null(p);
	assert_int_equal(p->n_launch, 1);
	heddle_program_free(p);
	heddle_module_free(product);
	options.config = "fuse=0,0; k0.O.0: space=shared";
	assert_null(heddle_compile(ctx, module->definition[0], &target, &options));
	assert_int_equal(heddle_diagnostics(ctx)->code, 520);
	heddle_module_free(module);
	heddle_ctx_free(ctx);
}

/* What a thread of a vector unit holds between statements costs registers and text: fewer items.  32 vector registers of 16
 * floats; types that are computed in float32 have vectors of as many members as that. */
/* What the rules choose, as a part of the config: one of the candidates that compile rates. */
typedef struct choice {
	const char *definition, *config;
} choice;

static void chosen(const char *text, const choice *cases, size_t n)
{
	for (size_t k = 0; k < n; k++) {
		heddle_ctx *ctx = heddle_ctx_new();
		heddle_module *module = heddle_module_parse(ctx, "test", cases[k].definition, NULL);
		heddle_target target;
		assert_non_null(module);
		assert_int_equal(heddle_target_parse(ctx, text, &target), 0);
		heddle_program *p = heddle_compile_config(ctx, module->definition[0], &target, NULL);
		assert_non_null(p);
		if (!strstr(p->config, cases[k].config))
			fail_msg("%s: %s, not %s", cases[k].definition, p->config, cases[k].config);
		/* a program owns all that it names: the definition that splits and shares made of this one is gone */
		free(printed(p));
		heddle_program_free(p);
		heddle_module_free(module);
		heddle_ctx_free(ctx);
	}
}

/* Lanes of a warp that is only part of it at work do not meet in banks. */
static void idle_lanes(void **state)
{
	(void)state;
	static const choice cases[] = {
		{"def f(float(32, 32, 4, 56, 56) I, float(32, 4, 4, 3, 3) w) -> (O) { O(n, g, m, y, x) +=! I(n, g, c, y + p, x + q) * w(g, m, c, p, q) }",
		 "k0.w.0: space=shared order=0,2,3,4,1 pad=2 vector=4 columns=8"},
	};
	chosen("hip:mi300x", cases, HEDDLE_COUNT(cases));
}

/* Compilers give up a few registers for one block more where a descriptor says so, not where tiles are loaded ahead. */
static void yielded(void **state)
{
	(void)state;
	static const choice cases[] = {
		{"def f(float(16, 16, 258, 258) I, float(128, 16, 3, 3) w) -> (O) { O(n, m, y, x) +=! I(n, c, y + p, x + q) * w(m, c, p, q) }",
		 "k0: resident=3;"},
		{"def f(float(1024, 1024) A, float(1024, 1024) B) -> (C) { C(i, j) +=! A(i, k) * B(k, j) }", "k0: resident=3;"},
	}, never[] = {
		{"def f(float(32, 32, 4, 56, 56) I, float(32, 4, 4, 3, 3) w) -> (O) { O(n, g, m, y, x) +=! I(n, g, c, y + p, x + q) * w(g, m, c, p, q) }",
		 "k0: resident=16;"},
	};
	chosen("cuda:h100", cases, HEDDLE_COUNT(cases));
	chosen("hip:mi300x", never, HEDDLE_COUNT(never));
}

/* Steps of a reduction along which rows lie read whole sectors, 64 bytes there, where units have room for all blocks. */
static void sectors(void **state)
{
	(void)state;
	static const choice cases[] = {
		{"def f(float(1024, 1024) A, float(1024, 1024) B) -> (C) { C(i, j) +=! A(i, k) * B(k, j) }", "tile=j:64,i:64,k:16"},
		{"def f(float(1024, 1024) A, float(1024, 1024) B) -> (C) { C(i, j) +=! A(k, i) * B(k, j) }", "tile=j:64,i:64,k:16"},
		{"def f(float(1024, 48) A, float(48, 1024) B) -> (C) { C(i, j) +=! A(i, k) * B(k, j) }", ",k:8 "},
		{"def f(float(4096, 4096) A, float(4096, 4096) B) -> (C) { C(i, j) +=! A(i, k) * B(k, j) }", ",k:8 "},
	}, narrow[] = {
		{"def f(float(1024, 1024) A, float(1024, 1024) B) -> (C) { C(i, j) +=! A(i, k) * B(k, j) }", ",k:8 "},
		/* taps whose number is a size that is known are one step, and threads of a row of them meet in no bank */
		{"def f(float(32, 64, 65536) I, float(128, 64, 3) F) -> (O) { O(n, m, w) +=! I(n, c, w + k) * F(m, c, k) }",
		 "tile=w:64,m:128,c:8,k:3 thread=w:8,m:32 vector=w:4,m:4"},
	};
	chosen("hip:mi300x", cases, HEDDLE_COUNT(cases));
	chosen("cuda:h200", narrow, HEDDLE_COUNT(narrow));
}

static void items(void **state)
{
	(void)state;
	static const choice cases[] = {
		{"def f(float(T, D) x) -> (y) { y(t, d) = x(t, d) + 1.0 }", "tile=d:256 vector=d:16"},
		/* several short rows a block, where there are blocks for all units, if rows are whole vectors */
		{"def f(float(8192, 32) b, float(8192, 96) a) -> (y) { y(n, i) = a(n, i) where i in 0:96  y(n, 96 + j) = b(n, j) where j in 0:32 }",
		 "k0.S0: tile=i:96,n:8 round=n:8 vector=i:16; k1:; k1.S1: tile=j:32,n:32 round=n:32 vector=j:16"},
		{"def f(float(8192, 512) x) -> (y) { y(t, d) = x(t, d) + 1.0 }", "k0.S0: tile=d:256 vector=d:16"},
		/* nor more vectors of them than registers hold */
		{"def f(float(8192, 96) g) -> (inout float(8192, 96) p, inout float(8192, 96) m, inout float(8192, 96) v) {\n"
		 "m(n, d) = 0.9 * m(n, d) + 0.1 * g(n, d)\nv(n, d) = 0.99 * v(n, d) + 0.01 * g(n, d) * g(n, d)\n"
		 "p(n, d) += -m(n, d) / (sqrt(v(n, d)) + 0.00000001) }", "k0.S0: tile=d:32 vector=d:16"},
		{"def f(float(T, D) x) -> (y) { a(t, d) = x(t, d) + 1.0  y(t, d) = a(t, d) * a(t, d) }", "tile=d:256 vector=d:16"},
		{"def f(float(T, D) x) -> (y) { a(t, d) = x(t, d) + 1.0  b(t, d) = a(t, d) * 3.0  y(t, d) = b(t, d) - a(t, d) }",
		 "tile=d:128 vector=d:16"},
		{"def f(float(T, D) x) -> (y) { y(t, d) = x(t, d) * 2.0  y(t, d) *= x(t, d)  y(t, d) = y(t, d) + x(t, d) }",
		 "tile=d:256 vector=d:16"},
		{"def f(float(T, D) x) -> (y) { y(t, d) = x(t, d) * 2.0  y(t, d) *= x(t, d) }", "tile=d:256 vector=d:16"},
		{"def f(float(T, D) x) -> (y, z) { a(t, d) = x(t, d) + 1.0  y(t, d) = sin(a(t, d))  z(t, d) = a(t, d) }",
		 "tile=d:32 vector=d:16"},
		{"def f(float(T, D) x) -> (y, z) { y(t, d) = sin(x(t, d))  z(t, d) = cos(x(t, d)) }", "tile=d:256 vector=d:16"},
		{"def f(float16(M, K) A, float16(N, K) B) -> (C) { C(i, j) +=! A(i, k) * B(j, k) }", "vector=k:16"},
		{"def f(bfloat16(N) x) -> (y) { y(i) = x(i) * x(i) }", "vector=i:16"},
		/* six rows of four vectors in 32 registers; an eighth of the second cache for the panel; blocks enough */
		{"def f(float(M, K) A, float(K, N) B) -> (C) { C(i, j) +=! A(i, k) * B(k, j) }",
		 "tile=j:64,k:512,i:192 round=i:32 vector=j:16; k0.B.0: space=shared vector=16"},
		/* shorter steps where rows are read across, and where the panel is turned; two statements have half the sums each */
		{"def f(float(K, M) A, float(K, N) B) -> (C) { C(i, j) +=! A(k, i) * B(k, j) }", "tile=j:64,k:64,i:192 round=i:32 vector=j:16"},
		{"def f(float(M, K) A, float(N, K) B) -> (C) { C(i, j) +=! A(i, k) * B(j, k) }",
		 "tile=j:64,k:128,i:192 round=i:32 vector=j:16; k0.B.0: space=shared order=1,0"},
		{"def f(float(M, K) A, float(N, K) B, float(N) b) -> (C) { C(i, j) +=! A(i, k) * B(j, k)  C(i, j) = C(i, j) + b(j) }",
		 "tile=j:64,k:128,i:96 round=i:16 vector=j:16"},
		/* what is narrower than what is computed is multiplied as it lies; so is what few rows use */
		{"def f(int8(M, K) A, int8(N, K) B) -> (int32(M, N) C) { C(i, j) +=! int32(A(i, k)) * int32(B(j, k)) }", "vector=k:16 reduce=k:lanes"},
		{"def f(float(20, K) A, float(N, K) B) -> (C) { C(i, j) +=! A(i, k) * B(j, k) }", "vector=k:16 reduce=k:lanes"},
		{"def f(float(4, K) A, float(K, N) B) -> (C) { C(i, j) +=! A(i, k) * B(k, j) }", "tile=j:64,i:4 vector=j:16"},
		{"def f(float(96, K) A, float(K, 128) B) -> (C) { C(i, j) +=! A(i, k) * B(k, j) }", "k:128,i:24 round=i:4 vector=j:16"},
		/* known sizes: the panel has all of the reduction, and rounds go over all rows while there are blocks for all units */
		{"def f(float(1024, 1024) A, float(1024, 1024) B) -> (C) { C(i, j) +=! A(i, k) * B(k, j) }",
		 "tile=j:64,k:1024,i:1026 round=i:171 vector=j:16; k0.B.0: space=shared vector=16"},
		{"def f(float(1024, 8192) A, float(8192, 1024) B) -> (C) { C(i, j) +=! A(i, k) * B(k, j) }", "tile=j:64,k:512,i:192 round=i:32"},
		/* rows that run across the reduction are copied first, where that is little beside the product */
		{"def f(float(1024, 1024) A, float(1024, 1024) B) -> (C) { C(i, j) +=! A(k, i) * B(k, j) }", "turn=0:A:k; fuse=0,1; "},
		{"def f(float(1024, 1024) A, float(1024, 128) B) -> (C) { C(i, j) +=! A(k, i) * B(k, j) }", "split=none; fuse=0; "},
		{"def f(float(32, 1024) A, float(32, 1024) B) -> (C) { C(i, j) +=! A(k, i) * B(k, j) }", "split=none; fuse=0; "},
		/* vectors go along m: their rows are too short to be turned on the way */
		{"def f(float(1, 64, 56, 56) I, float(64, 64, 3, 3) F) -> (O) { O(n, m, h, w) +=! (w + kw - 1 >= 0 && w + kw - 1 < 56) ? I(n, c, h, w + kw - 1) * F(m, c, kh, kw) : 0 "
		 "where h in 0:56, w in 0:56, kh in 0:3, kw in 0:3 }", "turn=0:F:m; fuse=0,1; "},
		/* what stays in the second cache is not brought together, where it is known to */
		{"def f(float(256, 256) A, float(256, 256) B) -> (C) { C(i, j) +=! A(i, k) * B(k, j) }", "k0: order=i,j; k0.S0: tile=j:64,i:5 vector=j:16"},
		{"def f(float(M, 64) A, float(64, 1024) B) -> (C) { C(i, j) +=! A(i, k) * B(k, j) }", "k0: order=i,j; k0.S0: tile=j:64,i:6 vector=j:16"},
		{"def f(float(512, 512) A, float(512, 512) B) -> (C) { C(i, j) +=! A(i, k) * B(k, j) }", "k0.B.0: space=shared"},
		/* stored past the caches: what is more than they hold, in whole lines, and read by nobody meanwhile */
		{"def f(float(16777216) x, float(16777216) y) -> (z) { z(i) = x(i) + y(i) }", "k0: stream=z; k0.S0: tile=i:256 vector=i:16"},
		{"def f(float(16777216) x) -> (z) { z(i) = x(i) + 1.0  z(i) *= x(i) }", "k0: stream=z; k0.S0: "},
		{"def f(float(65536) x, float(65536) y) -> (z) { z(i) = x(i) + y(i) }", "k0:; k0.S0: "},
		{"def f(float(16777216) x) -> (inout float(16777216) z) { z(i) += x(i) }", "k0:; k0.S0: "},
		{"def f(float(8192, 4099) x) -> (z) { z(i, j) = x(i, j) + 1.0 }", "k0:; k0.S0: "},
		/* a function that two statements need of the same elements, where a thread can keep a row of it; the last one to go over the
		 * rows asks for the next ones */
		{"def f(float(4096, 1024) I) -> (O) { m(n) max=! I(n, d)  t(n) +=! exp(I(n, d) - m(n))  O(n, d) = exp(I(n, d) - m(n)) / t(n) }", "share=1; fuse=0,0,0,0; "},
		{"def f(float(4096, 1024) I) -> (O) { m(n) max=! I(n, d)  t(n) +=! exp(I(n, d) - m(n))  O(n, d) = exp(I(n, d) - m(n)) / t(n) }", "k0.t.0: space=register; k0.I.1: prefetch=1"},
		{"def f(float(4096, 1024) I) -> (O) { m(n) max=! I(n, d)  t(n) +=! exp(I(n, d) - m(n))  O(n, d) = exp(I(n, d) - m(n)) / t(n) }", "k0.t_term.0: space=register; "},
		{"def f(float(N, D) I) -> (O) { m(n) max=! I(n, d)  t(n) +=! exp(I(n, d) - m(n))  O(n, d) = exp(I(n, d) - m(n)) / t(n) }", "split=none; fuse=0,0,0; "},
		{"def f(float(8, 32768) I) -> (O) { m(n) max=! I(n, d)  t(n) +=! exp(I(n, d) - m(n))  O(n, d) = exp(I(n, d) - m(n)) / t(n) }", "split=none; fuse=0,0,0; "},
		{"def f(float(64, 64) I) -> (O) { m(n) max=! I(n, d)  t(n) +=! exp(I(n, d) - m(n))  O(n, d) = exp(I(n, d) - m(n)) / t(n) }", "k0.t.0: space=register"},
		{"def f(float(4096, 4096) x) -> (y) { y(n) +=! x(n, d) }", "reduce=d:lanes; k0.x.0: prefetch=1"},
		{"def f(float(16777216) x, float(16777216) y) -> (z) { z(i) = x(i) + y(i) }", "k0.y.0: prefetch=3; k0.x.0: prefetch=3"},
		/* windows that go over a tensor as it lies; rows whose length is calculated */
		{"def f(float(8, 64, 224, 224) I) -> (O) { O(n, c, h, w) max=! I(n, c, 2*h + kh, 2*w + kw) where h in 0:111, w in 0:111, kh in 0:3, kw in 0:3 }",
		 "k0.I.0: prefetch="},
		{"def f(float(8, 64, 225, 223) I) -> (O) { O(n, c, h, w) max=! I(n, c, 2*h + kh, 2*w + kw) where h in 0:(225 - 1) / 2, w in 0:(223 - 30) / 2, kh in 0:3, kw in 0:3 }",
		 "k0: stream=O; k0.S0: "},
		/* rows that make whole rounds; of two operands one runs along the reduction: its panel is turned */
		{"def f(float(64, K) A, float(K, 4096) B) -> (C) { C(i, j) +=! A(i, k) * B(k, j) }", "k:128,i:64 round=i:16 vector=j:16"},
		{"def f(float(K, M) A, float(N, K) B) -> (C) { C(i, j) +=! A(k, i) * B(j, k) }",
		 "k:64,i:192 round=i:32 vector=j:16; k0.B.0: space=shared order=1,0"},
		/* what the edges of a row ask is asked once an item, of vectors along another dimension, where sizes are known */
		{"def f(float(8, 64, 56, 56) I, float(64, 64, 3, 3) F) -> (O) { O(n, m, h, w) +=! (w + kw - 1 >= 0 && w + kw - 1 < 56)\n"
		 "? I(n, c, h + kh, w + kw - 1) * F(m, c, kh, kw) : 0 where h in 0:54, w in 0:56, kh in 0:3, kw in 0:3 }",
		 "m:32,h:54,w:56,kw:3,c:64,kh:3 round=n:2,h:54,w:4 vector=m:16; k1.F_turned.0: space=shared vector=16"},
		/* and what few elements are computed with is turned on its way into the panel */
		{"def f(float(1, 64, 14, 14) I, float(64, 64, 3, 3) F) -> (O) { O(n, m, h, w) +=! (w + kw - 1 >= 0 && w + kw - 1 < 14)\n"
		 "? I(n, c, h + kh, w + kw - 1) * F(m, c, kh, kw) : 0 where h in 0:12, w in 0:14, kh in 0:3, kw in 0:3 }",
		 "vector=m:16; k0.F.0: space=shared order=1,2,3,0"},
		/* few rounds do not hide the making of a great panel: parts of it that the nearest cache holds */
		{"def f(float(1, 256, 14, 14) I, float(256, 256, 3, 3) F) -> (O) { O(n, m, h, w) +=! (w + kw - 1 >= 0 && w + kw - 1 < 14)\n"
		 "? I(n, c, h + kh, w + kw - 1) * F(m, c, kh, kw) : 0 where h in 0:12, w in 0:14, kh in 0:3, kw in 0:3 }",
		 "kw:3,c:32,kh:3 round=h:12 vector=m:16; k0.F.0: space=shared order=1,2,3,0"},
		{"def f(float(2, 256, 14, 14) I, float(256, 256, 3, 3) F) -> (O) { O(n, m, h, w) +=! (w + kw - 1 >= 0 && w + kw - 1 < 14)\n"
		 "? I(n, c, h + kh, w + kw - 1) * F(m, c, kh, kw) : 0 where h in 0:12, w in 0:14, kh in 0:3, kw in 0:3 }",
		 "kw:3,c:256,kh:3 round=n:2,h:12 vector=m:16"},
		/* windows that leave elements out: the nearest cache holds what a row of them reads, sums of all rounds are kept */
		{"def f(float(8, 128, 57, 57) I, float(128, 128, 3, 3) F) -> (O) { O(n, m, h, w) +=! I(n, c, 2 * h + kh, 2 * w + kw) * F(m, c, kh, kw)\n"
		 "where h in 0:28, w in 0:28, kh in 0:3, kw in 0:3 }",
		 "m:32,h:14,w:28,c:32,kh:3,kw:3 round=h:14,w:2 vector=m:16; k0.F.0: space=shared order=1,2,3,0"},
		/* rows whose last round would have a few items only are cut into others: each item that it has not is asked for */
		{"def f(float(1, 64, 56, 56) I, float(64, 64, 3, 3) F) -> (O) { O(n, m, h, w) +=! (w - kw >= 0 && w - kw < 56)\n"
		 "? I(n, c, h + kh, w - kw) * F(m, c, kh, kw) : 0 where h in 0:54, w in 0:58, kh in 0:3, kw in 0:3 }",
		 "w:60,kw:3,c:64,kh:3 round=h:11,w:5 vector=m:16"},
		{"def f(float(N, C, H, W) I, float(M, C, 3, 3) F) -> (O) { O(n, m, h, w) +=! (w + kw - 1 >= 0 && w + kw - 1 < W)\n"
		 "? I(n, c, h + kh, w + kw - 1) * F(m, c, kh, kw) : 0 where h in 0:H-2, w in 0:W, kh in 0:3, kw in 0:3 }",
		 "tile=w:32,m:8 vector=w:16"},
		/* and where vectors along the row would not be full, of reductions whose extents are sizes, too */
		{"def f(float(2, 3, 64, 64, 64) I, float(64, 3, 3, 3, 3) F) -> (O) { O(n, m, d, h, w) +=! I(n, c, d + kd, h + kh, w + kw) * F(m, c, kd, kh, kw) }",
		 "m:64,d:13,h:62,w:66,c:3,kd:3,kh:3,kw:3 round=d:13,h:62,w:11 vector=m:16; k0.F.0: space=shared order=1,2,3,4,0"},
		/* a few elements are no vector where the target has rows */
		{"def f(float(4, 64, 128, 128) I, float(64, 3, 3) F) -> (O) { O(n, c, h, w) +=! I(n, c, h + kh, w + kw) * F(c, kh, kw) }",
		 "k0.S0: tile=w:64 vector=w:64"},
		/* a product keeps the dimension that its results lie along */
		{"def f(float(512, 128) A, float(64, 128, 128) W, float(512, 128) b) -> (y) { l(n, o, j) +=! A(n, i) * W(o, i, j)  y(n, o) +=! l(n, o, j) * b(n, j) }",
		 "fuse=0,1; "},
		/* columns are read a page at a time; rows of a step are as long as neighbours make them */
		{"def f(float(4096, 4096) x) -> (y) { y(d) +=! x(n, d) }", "tile=d:1024,n:8 round=d:64 vector=d:16"},
		{"def f(float(4, 256, 1024, 16) a, float(4, 256, 1024, 16) x) -> (y) { h(b, 0, c, s) = x(b, 0, c, s)\n"
		 "h(b, t, c, s) = a(b, t, c, s) * h(b, t - 1, c, s) + x(b, t, c, s) where t in 1:256\n y(b, t, c) +=! h(b, t, c, s) }",
		 "tile=s:16,c:64 round=c:64 vector=s:16 reduce=s:lanes"},
		/* elements of pairs come together in each round */
		{"def f(float(4096, 64, 2) x) -> (y) { y(n, d, 0) = x(n, d, 0) - x(n, d, 1)  y(n, d, 1) = x(n, d, 1) + x(n, d, 0) }",
		 "tile=d:64 round=d:4 vector=d:16"},
		/* a square whose lines are used whole, and pages where rows are pages */
		{"def f(float(4096, 4096) x) -> (y) { y(j, i) = x(i, j) }", "tile=j:1024,i:16 vector=i:16"},
		{"def f(float(4096, 4352) x) -> (y) { y(j, i) = x(i, j) }", "tile=j:544,i:16 vector=i:16"},
		{"def f(float(4096, 4099) x) -> (y) { y(j, i) = x(i, j) }", "tile=j:1024,i:16 vector=i:16"},
		/* short rows are whole, and so are those that follow them, up to two pages; all of the target's row where that is near */
		{"def f(float(64, 64, 56, 56) x) -> (y) { y(n, h, w, c) = x(n, c, h, w) }", "tile=h:28,w:56,c:16 vector=c:16"},
		{"def f(float(64, 64, 112, 112) x) -> (y) { y(n, c, h, w) = x(n, h, w, c) }", "tile=c:112,w:16 vector=w:16"},
		{"def f(float(64, 112, 112, 64) x) -> (y) { y(n, c, h, w) = x(n, h, w, c) }", "tile=c:64,w:112 vector=w:16"},
		{"def f(float(64, 14, 14, 256) x) -> (y) { y(n, c, h, w) = x(n, h, w, c) }", "tile=c:256,w:14 vector=w:2"},
		{"def f(float(32, 3, 224, 224) x) -> (y) { y(n, h, w, c) = x(n, c, h, w) }", "tile=h:8,w:224,c:3"},
		/* known rows of a few vectors: those that divide the row, or members one by one, and a few rows together */
		{"def f(float(8, 64, 56, 56) x) -> (y) { y(n, c, h, w) max=! x(n, c, 2*h + a, 2*w + b) where h in 0:28, w in 0:28, a in 0:2, b in 0:2 }",
		 "tile=w:28,h:2 vector=w:4"},
		{"def f(float(8, 64, 14, 14) x) -> (y) { y(n, c, h, w) max=! x(n, c, 2*h + a, 2*w + b) where h in 0:7, w in 0:7, a in 0:2, b in 0:2 }",
		 "tile=w:7,h:2"},
		/* long rows with others between them one after the other, a small window in one step */
		{"def f(float(8, 64, 112, 112) x) -> (y) { y(n, c, h, w) max=! x(n, c, 2*h + a, 2*w + b) where h in 0:56, w in 0:56, a in 0:2, b in 0:2 }",
		 "tile=w:56,a:2,b:2,h:28 round=h:28 vector=w:8"},
		{"def f(float(8, 64, 224, 224) x) -> (y) { y(n, c, h, w) max=! x(n, c, 2*h + a, 2*w + b) where h in 0:112, w in 0:112, a in 0:2, b in 0:2 }",
		 "tile=w:112,a:2,b:2,h:28 round=h:28 vector=w:16; k0.x.0: prefetch=4"},
		/* vectors of 8 whose members lie two apart use whole lines: these are asked for ahead, too */
		{"def f(float(16, 64, 112, 112) x) -> (y) { y(n, c, h, w) max=! x(n, c, 2*h + a, 2*w + b) where h in 0:56, w in 0:56, a in 0:2, b in 0:2 }",
		 "tile=w:56,a:2,b:2,h:28 round=h:28 vector=w:8; k0.x.0: prefetch=7"},
		{"def f(float(8, 64, 57, 112) x) -> (y) { y(n, c, h, w) max=! x(n, c, h + a, 2*w + b) where h in 0:56, w in 0:56, a in 0:2, b in 0:2 }",
		 "tile=w:56,h:2 vector=w:8"},
		{"def f(float(8, 64, 1120, 130) x) -> (y) { y(n, c, h, w) max=! x(n, c, 20*h + a, 2*w + b) where h in 0:56, w in 0:56, a in 0:20, b in 0:4 }",
		 "tile=w:56,h:2 vector=w:8"},
		{"def f(float(8, 64, 56, 56) x, float(64) g) -> (y) { y(n, c, h, w) = x(n, c, h, w) * g(c) }", "tile=w:56,h:4 vector=w:8"},
		{"def f(float(8, 64, 50, 50) x, float(64) g) -> (y) { y(n, c, h, w) = x(n, c, h, w) * g(c) }", "tile=w:64,h:2 vector=w:16"},
		{"def f(float(8, 64, 21, 21) x, float(64, 3, 3) F) -> (y) { y(n, c, h, w) +=! x(n, c, h + a, w + b) * F(c, a, b) }",
		 "tile=w:32,h:2 vector=w:16"},
		{"def f(float(8, 64, 102, 102) x, float(64, 3, 3) F) -> (y) { y(n, c, h, w) +=! x(n, c, h + a, w + b) * F(c, a, b) }",
		 "tile=w:64 vector=w:64"},
		{"def f(float(8, 64, 48, 48) x, float(64) g) -> (y) { y(n, c, h, w) = x(n, c, h, w) * g(c) }", "tile=w:48,h:4 vector=w:16"},
		{"def f(float(4, 50) x, float(50) g) -> (y) { y(n, w) = x(n, w) * g(w) }", "tile=w:32 round=w:2 vector=w:16"},
		/* rows that a recurrence goes along: as many as a cache keeps apart */
		{"def f(float(16, 64, 2048) x, float(64) a) -> (y) { y(b, c, 0) = x(b, c, 0)  y(b, c, t) = a(c) * y(b, c, t - 1) + x(b, c, t) where t in 1:2048 }",
		 "tile=c:4 vector=c:4"},
		/* terms that meet in a few results each: no vector along those is ever whole */
		{"def f(float(1000000, 8) x) -> (y) { y(4 * f + k) +=! x(f, k) }", "tile=r:4,q:16 vector=r:4"},
		{"def f(float(4, 32, 512) x, float(32, 32, 4) w) -> (y) { y(n, m, 2 * t + k) +=! x(n, c, t) * w(c, m, k) }", "tile=m:32,q:8 vector=m:16"},
		/* a little of many rows is not worth going down all of them */
		{"def f(float(100000, 64) x) -> (y, last) { y(n, d) = x(n, d) * 2  last(d) = y(99999, d) }", "fuse=0,1; "},
		/* what two statements read stays in the cache between them */
		{"def f(float(4096, 4096) x) -> (s, m) { s +=! x(i, j)  m max=! x(i, j) }", "split=0:i:16,1:i:16; "},
		/* a long text is one item; rounds are a loop */
		{"def f(float(N) g, float r) -> (inout float(N) w, inout float(N) v) { v(i) = 0.9 * v(i) + g(i)\n"
		 "w(i) = w(i) - r * sin(v(i)) * cos(v(i)) * exp(v(i)) * log(v(i)) }", "tile=i:64 round=i:4 vector=i:16"},
		{"def f(float(M, 3, 3, C) F, float(C, H, W) I) -> (O) { O(m, h, w) +=! I(c, h + kh, w + kw) * F(m, kh, kw, c)\n"
		 "where h in 0:H-2, w in 0:W-2 }",
		 "tile=w:64,c:128,kh:3,kw:3,m:192 round=m:32 vector=w:16; k0.I.0: space=shared"},
	};
	chosen("opencl:cpu", cases, HEDDLE_COUNT(cases));
}

/* Threads of a chip that runs many. */
/* Registers of half a line. */
static void half_lines(void **state)
{
	(void)state;
	static const choice cases[] = {
		/* rows whole pages apart: turned in a tile, several lines of a row at once; else a line at a time */
		{"def f(float(4096, 2048) I) -> (O) { O(j, i) = I(i, j) }",
		 "k0: stream=O; k0.S0: tile=i:64,j:1024 round=j:1024 vector=i:64; k0.I.0: space=shared order=1,0"},
		{"def f(float(4000, 2048) I) -> (O) { O(j, i) = I(i, j) }", "k0.S0: tile=j:1024,i:16 vector=i:16"},
		{"def f(float(N, M) I) -> (O) { O(j, i) = I(i, j) }", "vector=i:16"},
		{"def f(float(32, 64, 112, 112) I) -> (O) { O(n, h, w, c) = I(n, c, h, w) }", "vector=c:16"},
		{"def f(double(4096, 2048) I) -> (O) { O(j, i) = I(i, j) }", "tile=i:32,j:512 round=j:512 vector=i:32; k0.I.0: space=shared order=1,0"},
		/* short reductions: vectors along rows that have whole ones, of which a block takes all; else across them */
		{"def f(float(8, 64, 56, 56) I, float(64, 64) w) -> (O) { O(n, m, h, x) +=! I(n, c, h, x) * w(m, c) }",
		 "tile=x:64,c:64,m:64 round=m:32,x:2 vector=x:8; k0.I.0: space=shared"},
		{"def f(float(8, 1024, 14, 14) I, float(256, 1024) w) -> (O) { O(n, m, h, x) +=! I(n, c, h, x) * w(m, c) }", "vector=m:8"},
		{"def f(float(8, 64, 65538) I, float(128, 64, 3) w) -> (O) { O(n, m, x) +=! I(n, c, 3 * x + k) * w(m, c, k) where x in 0:21840 }", "vector=m:8"},
		/* windows of every second row; sums of columns */
		{"def f(float(8, 64, 224, 224) I) -> (O) { O(n, c, h, w) max=! I(n, c, 2*h + kh, 2*w + kw) where h in 0:112, w in 0:112, kh in 0:2, kw in 0:2 }", "vector=w:16"},
		{"def f(float(4096, 4096) x) -> (y) { y(d) +=! x(n, d) }", "tile=d:1024,n:8 round=d:64 vector=d:16"},
	};
	chosen("opencl:cpu-avx2", cases, HEDDLE_COUNT(cases));
}

static void threads(void **state)
{
	(void)state;
	static const choice cases[] = {
		/* a split sum: threads along the chunk, in vectors; where it does not divide the range the last chunk ends in one that is not full */
		{"def f(float(16777216) x) -> (s) { s +=! x(i) }", "split=0:i:32768; fuse=0,1; k0: threads=256 resident=8; k0.S0: tile=i:1024 thread=i:256 vector=i:4 reduce=i:lanes"},
		{"def f(float(16777213) x) -> (s) { s +=! x(i) }", "split=0:i:31744; fuse=0,1; k0: threads=256 resident=8; k0.S0: tile=i:1024 thread=i:256 vector=i:4 reduce=i:lanes"},
		/* columns: a warp along them, the block's rest along the rows, and chunks of rows for all units */
		{"def f(float(4096, 4096) x) -> (s) { s(j) +=! x(i, j) }", "split=0:i:256; fuse=0,1; k0: threads=256 resident=8 lanes=outer; k0.S0: tile=j:128,i:8 thread=j:32,i:8 vector=j:4 reduce=i:lanes"},
		/* a warp takes whole vectors of a chunk, however many units there are */
		{"def f(float(32768) x) -> (s) { s +=! x(i) }", "split=0:i:128; "},
		/* a long product of few results is cut along its reduction, and what is cut is turned as ever; tiles are loaded a step ahead */
		{"def f(float(128, 65536) A, float(65536, 128) B) -> (C) { C(i, j) +=! A(i, k) * B(k, j) }",
		 "split=0:k:512; fuse=0,1; k0: resident=2; k0.S0: tile=j:128,i:128,k:8 thread=j:16,i:8 vector=j:4,i:4; "
		 "k0.A.0: space=shared order=1,0 pad=4 vector=4 prefetch=1; k0.B.0: space=shared vector=4 prefetch=1; k1: "},
		/* statements over short rows have kernels of their own, where others of the kernel have work for more threads */
		{"def f(float(32, 32, 128) Q, float(32, 32, 4096, 128) K, float(32, 32, 4096, 128) V) -> (O) { p(b, h, s) +=! Q(b, h, d) * K(b, h, s, d)\n"
		 " m(b, h) max=! p(b, h, s)\n O(b, h, d) +=! exp(p(b, h, s) - m(b, h)) * V(b, h, s, d) }", "split=none; fuse=0,1,2; "},
		/* 128 sums a thread where there are blocks enough */
		{"def f(float(4096, 4096) A, float(4096, 4096) B) -> (C) { C(i, j) +=! A(i, k) * B(k, j) }",
		 "split=none; fuse=0; k0: resident=2; k0.S0: tile=j:128,i:128,k:8 thread=j:16,i:8 vector=j:4,i:4; "},
		/* short rows that follow one another are read by vectors, in blocks small enough for all units */
		{"def f(float(4, 1024, 16) x) -> (y) { y(b, c) +=! x(b, c, s) }", "threads=32 resident=32; k0.S0: tile=s:16,c:8 thread=s:4,c:8 vector=s:4 reduce=s:lanes"},
		/* and where results are many several a thread, which it stores at once; a last block that is cut has one each */
		{"def f(float(4, 65536, 16) x) -> (y) { y(b, c) +=! x(b, c, s) }", "tile=s:16,c:32 thread=s:4,c:8 vector=s:4,c:4 reduce=s:lanes"},
		{"def f(float(4, 65534, 16) x) -> (y) { y(b, c) +=! x(b, c, s) }", "tile=s:16,c:32 thread=s:4,c:32 vector=s:4 reduce=s:lanes"},
		{"def f(float(16, 64, 4096, 16) x, float(16, 64, 16) w) -> (y) { h(b, 0, c, s) = x(b, 0, c, s)\n"
		 " h(b, t, c, s) = h(b, t - 1, c, s) * x(b, t, c, s) where t in 1:64\n y(b, t, c) +=! h(b, t, c, s) * w(b, t, s) }",
		 "tile=s:16,c:32 thread=s:4,c:8 vector=s:4,c:4; k0.S1: tile=s:16 thread=s:4 vector=s:4 reduce=s:lanes"},
		/* results enough for all threads take no lanes */
		{"def f(float(64, 8, 65536) x) -> (s) { s(n, j) +=! x(n, i, j) }", "k0.S0: tile=j:1024 thread=j:256 vector=j:4"},
		/* what a block's threads read alike takes none either */
		{"def f(float(1024, 1024) x) -> (y) { y(n, t) +=! x(n, s) where t in 0:1024, s in 0:t+1 }", "k0.S0: tile=t:1024 thread=t:256 vector=t:4"},
		/* short rows in vectors, several to a block */
		{"def f(float(4096, 64) x) -> (y) { y(n, d) = x(n, d) + 1.0 }", "tile=d:64,n:8 thread=d:16,n:8 vector=d:4"},
		/* chunks of an outer dimension: rows stay long */
		{"def f(float(64, 8, 32, 1024) x, float(8) g) -> (y) { m(n) +=! x(n, c, h, w)\n y(n, c, h, w) = x(n, c, h, w) * m(n) * g(c) }",
		 "split=0:c:1; "},
		/* lanes along the image, not along what is read for each channel */
		{"def f(float(512, 8, 32, 1024) x, float(8) g) -> (y) { m(n) +=! x(n, c, h, w)\n y(n, c, h, w) = x(n, c, h, w) * m(n) * g(c) }",
		 "k0.S1: tile=w:1024 thread=w:256 vector=w:4"},
		/* a product keeps its tile: what makes an operand of it has a kernel of its own */
		{"def f(float(4, 64, 128, 128) x, float(128, 64) w) -> (y) { t(n, c, h, v) = tanh(x(n, c, h, v))\n y(n, m, h, v) +=! t(n, c, h, v) * w(m, c) }",
		 "fuse=0,1"},
		/* and what puts several of its results together, where its blocks would compute those in turns and be few */
		{"def f(float(64, 512) h, float(4, 512, 512) w) -> (y) { r(b, g, j) +=! h(b, i) * w(g, j, i)\n y(b, j) = r(b, 0, j) * r(b, 1, j) + r(b, 2, j) }",
		 "fuse=0,1"},
		{"def f(float(4096, 512) h, float(4, 512, 512) w) -> (y) { r(b, g, j) +=! h(b, i) * w(g, j, i)\n y(b, j) = r(b, 0, j) * r(b, 1, j) + r(b, 2, j) }",
		 "fuse=0,0"},
		/* a square's threads move vectors on both sides, where rows have whole ones and elements are as wide as a bank */
		{"def f(float(4096, 4096) I) -> (O) { O(j, i) = I(i, j) }",
		 "k0.S0: tile=i:32,j:32 thread=i:8,j:32 vector=i:4; k0.I.0: space=shared pad=1 vector=4"},
		{"def f(float(4096, 4095) I) -> (O) { O(j, i) = I(i, j) }", "tile=i:32,j:32 thread=i:8,j:32 vector=i:4; k0.I.0: space=shared pad=1"},
		{"def f(float(4095, 4096) I) -> (O) { O(j, i) = I(i, j) }", "tile=i:32,j:32 thread=i:32,j:8; k0.I.0: space=shared pad=1 vector=4"},
		{"def f(float16(4096, 4096) I) -> (O) { O(j, i) = I(i, j) }", "tile=i:32,j:32 thread=i:32,j:8; k0.I.0: space=shared pad=1"},
		/* fewer channels than a square has: a long tile */
		{"def f(float(32, 4, 64, 64) x, float(4, 4) w) -> (y) { y(n, m, h, v) +=! x(n, c, h, v) * w(m, c) }", "m:4,c:4 thread=v:16,m:2"},
		/* elements that subscripts leave out are staged with the others; threads three vectors apart meet in no bank */
		{"def f(float(64, 64, 4096) I, float(128, 64, 3) w) -> (O) { O(n, m, x) +=! I(n, c, 3 * x + 4 * k) * w(m, c, k) }",
		 "tile=x:64,m:128,c:8,k:3 thread=x:8,m:32 vector=x:4,m:4; k0.I.0: space=shared"},
		/* tiles of windows take the few elements that make their rows whole vectors, where rows of the tensor are made of those */
		{"def f(float(64, 64, 4096) I, float(128, 64, 3) w) -> (O) { O(n, m, x) +=! I(n, c, x + k) * w(m, c, k) }", "k0.I.0: space=shared vector=4"},
		{"def f(float(64, 64, 4098) I, float(128, 64, 3) w) -> (O) { O(n, m, x) +=! I(n, c, x + k) * w(m, c, k) }", "k0.I.0: space=shared pad=2 vector=2"},
		/* weights that are turned on the way keep their order, and so many threads take a row that their stores meet in no bank */
		{"def f(float(64, 128, 4096) I, float(128, 128, 3) w) -> (O) { O(n, m, x) +=! x - k >= 0 && x - k < 4096 ? I(n, c, x - k) * w(c, m, k) : 0.0 where x in 0:4098, k in 0:3 }",
		 "k0.w.0: space=shared order=0,2,1 pad=8"},
		{"def f(float(8, 64, 128, 128) I, float(64, 64, 3, 3) w) -> (O) { O(n, m, y, x) +=! y - p >= 0 && y - p < 128 && x - q >= 0 && x - q < 128 ? "
		 "I(n, c, y - p, x - q) * w(c, m, p, q) : 0.0 where y in 0:130, x in 0:130, p in 0:3, q in 0:3 }",
		 "k0.w.0: space=shared order=0,2,3,1 pad=4 columns=8"},
		/* results by whole vectors, of the block and the threads that are best, where rows have those */
		{"def f(float(128, 1024) x, float(512, 1024) w) -> (y) { y(b, h) +=! x(b, i) * w(h, i) }",
		 "split=0:i:256; fuse=0,1; k0: resident=5; k0.S0: tile=h:64,b:32,i:16 thread=h:16,b:8 vector=h:4,b:4;"},
		{"def f(float(128, 1024) x, float(511, 1024) w) -> (y) { y(b, h) +=! x(b, i) * w(h, i) }",
		 "split=0:i:256; fuse=0,1; k0: resident=5; k0.S0: tile=h:64,b:32,i:16 thread=h:16,b:8 vector=h:4,b:4;"},
		/* short rows whose lanes take elements one by one: several results a thread, which it stores at once */
		{"def f(float(32, 2048, 7, 7) x) -> (y) { y(n, c) +=! x(n, c, h, w) }", "tile=w:8,c:64 thread=w:8,c:16 vector=c:4 reduce=w:lanes"},
		{"def f(float(4, 2048, 7, 7) x) -> (y) { y(n, c) +=! x(n, c, h, w) }", "tile=w:8,c:16 thread=w:8,c:16 reduce=w:lanes"},
		/* windows that overlap: several results a thread, which reads what they share once; not where rows have no whole vectors */
		{"def f(float(32, 64, 512, 512) x) -> (y) { y(n, c, h, w) max=! 2*h + p - 1 >= 0 && 2*w + q - 1 >= 0 ? x(n, c, 2*h + p - 1, 2*w + q - 1) : -inf "
		 "where h in 0:256, w in 0:256, p in 0:3, q in 0:3 }", "tile=q:3,w:256,h:2 thread=w:64,h:2 vector=w:4"},
		{"def f(float(32, 64, 512, 512) x) -> (y) { y(n, c, h, w) max=! x(n, c, h + p, w + q) where h in 0:510, w in 0:510, p in 0:3, q in 0:3 }",
		 "tile=w:256 thread=w:256"},
		/* 16 bytes at once are 8 elements of 2 bytes */
		{"def f(float16(1024, 1024) A, float16(1024, 1024) B) -> (C) { C(i, j) +=! A(i, k) * B(k, j) }",
		 "vector=j:8,i:4; k0.A.0: space=shared order=1,0 pad=8 vector=8"},
		{"def f(float16(4194304) x) -> (y) { y(i) = x(i) * x(i) }", "tile=i:2048 thread=i:256 vector=i:8"},
		/* ranges that move end in one vector of many */
		{"def f(float(64, 512, 512) x) -> (y) { y(b, t) max=! x(b, t, s) where t in 0:512, s in 0:t+1 }", "vector=s:4 reduce=s:lanes"},
	};
	chosen("cuda:h100", cases, HEDDLE_COUNT(cases));
}

/* A chip of threads that has a copy: its rows are as they are, where it takes them; elsewhere vectors may take a few elements more. */
static void copied(void **state)
{
	(void)state;
	static const struct {
		const char *granularity, *config;
	} cases[] = {{"4", "k0.I.0: space=shared vector=2 copy=mover"},
		     {"8", "k0.I.0: space=shared vector=2 copy=mover"},
		     {"16", "k0.I.0: space=shared vector=4 columns=8 prefetch=1;"}};
	for (size_t k = 0; k < HEDDLE_COUNT(cases); k++) {
		char folder[512];
		heddle_ctx *ctx = heddle_ctx_new();
		assert_int_equal(heddle_dir_temporary(ctx, folder), 0);
		const char *path = heddle_arena_printf(heddle_ctx_arena(ctx), "%s/mine.yaml", folder);
		const char *chip = heddle_arena_printf(heddle_ctx_arena(ctx),
						       "name: mine\ninherits: h100\ntitle: with a copy\ncopies:\n  - name: mover\n    from: global\n    to: shared\n"
						       "    preferred: true\n    granularity: { value: %s, unit: B, source: \"invented\" }\n",
						       cases[k].granularity);
		assert_int_equal(heddle_file_write(ctx, path, chip, strlen(chip)), 0);
		heddle_module *module = heddle_module_parse(
			ctx, "test", "def f(float(32, 64, 131072) I, float(128, 64, 3) w) -> (O) { O(n, m, x) +=! I(n, c, x + k) * w(m, c, k) }", NULL);
		heddle_target target;
		assert_non_null(module);
		assert_int_equal(heddle_target_parse(ctx, "cuda:h100", &target), 0);
		target.descriptor = heddle_descriptor_read(ctx, path);
		assert_non_null(target.descriptor);
		heddle_program *p = heddle_compile_config(ctx, module->definition[0], &target, NULL);
		if (!p || !strstr(p->config, cases[k].config))
			fail_msg("%s: %s, not %s", cases[k].granularity, p ? p->config : heddle_ctx_messages(ctx), cases[k].config);
		heddle_program_free(p);
		heddle_module_free(module);
		heddle_dir_remove(folder);
		heddle_ctx_free(ctx);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(layers), cmocka_unit_test(given), cmocka_unit_test(items),
					   cmocka_unit_test(idle_lanes), cmocka_unit_test(yielded), cmocka_unit_test(sectors),
					   cmocka_unit_test(threads), cmocka_unit_test(half_lines), cmocka_unit_test(copied)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
