/* The printer: what single statements of a program become in each language, and what a language refuses.
 * SPDX-License-Identifier: MIT
 */
#include "backends/printer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A program with buffers of all sorts and these statements as its kernel. */
static const char frame[] =
	"program t target cuda:h200 warp 32\n"
	"size N 0..1000000\nsize P 8..8\nsize Z 0..2000000000\n"
	"buffer input x float32 [N] align 16\nbuffer input d float64 [N] align 16\nbuffer input h float16 [N] align 16\n"
	"buffer input n int32 [N] align 4\nbuffer input l int64 [N] align 8\nbuffer input b int8 [N] align 1\n"
	"buffer input w uint16 [N] align 2\nbuffer input u uint32 [N] align 4\nbuffer input f bool [N] align 1\n"
	"buffer input m float32 [N][P] align 16\nbuffer input k float32 [4][8][2] align 16\n"
	"buffer output y float32 [N] align 16\nbuffer output yn int32 [N] align 4\nbuffer output yl int64 [N] align 8\n"
	"buffer output yb int8 [N] align 1\nbuffer output yw uint16 [N] align 2\nbuffer output yu uint32 [N] align 4\n"
	"buffer output yf bool [N] align 1\nbuffer output yh float16 [N] align 16\nbuffer output yd float64 [N] align 8\n"
	"buffer input z float32 [Z] align 16\nbuffer scalar e float32 align 4\n"
	"buffer shared s float32 [64] align 16\n"
	"buffer register r float32 [4]\nbuffer register g float32 [3][2]\nbuffer register v float32x4 [2]\nbuffer register c int8\n"
	"launch t_0 grid 1 threads 64 args x, d, h, n, l, b, w, u, f, m, k, y, yn, yl, yb, yw, yu, yf, yh, yd, z shared s {\n"
	"let int32 i = block * 64 + thread\n%s\n}\n";

static char *print_statement(heddle_ctx *ctx, const char *target_text, const char *statement)
{
	heddle_text source = {0}, out = {0};
	heddle_target target;
	heddle_text_printf(&source, frame, statement);
	assert_int_equal(heddle_target_parse(ctx, target_text, &target), 0);
	heddle_program *program = heddle_program_parse(ctx, "test", heddle_text_str(&source));
	if (!program)
		fail_msg("%s: %s", statement, heddle_ctx_messages(ctx));
	int result = heddle_kernel_print(ctx, &target, program, program->launch[0], NULL, &out);
	heddle_program_free(program);
	heddle_text_free(&source);
	if (result < 0) {
		heddle_text_free(&out);
		return NULL;
	}
	char *text = heddle_xstrdup(heddle_text_str(&out));
	heddle_text_free(&out);
	return text;
}

static const struct {
	const char *target, *statement, *line;
} cases[] = {
	/* parentheses: those that C needs and no more */
	{"cuda:h200", "y[i] = x[0] - (x[1] - x[2])", "y[i] = x[0] - (x[1] - x[2]);"},
	{"cuda:h200", "y[i] = x[0] - x[1] - x[2]", "y[i] = x[0] - x[1] - x[2];"},
	{"cuda:h200", "y[i] = (x[0] + x[1]) * x[2] / (x[3] * x[4])", "y[i] = (x[0] + x[1]) * x[2] / (x[3] * x[4]);"},
	{"cuda:h200", "y[i] = -(-x[0])", "y[i] = -(-x[0]);"},
	{"cuda:h200", "yf[i] = f[0] && f[1] || !f[2]", "yf[i] = (f[0] && f[1]) || !f[2];"},
	{"cuda:h200", "yf[i] = !(x[0] < x[1])", "yf[i] = !(x[0] < x[1]);"},
	{"cuda:h200", "y[i] = (f[0] ? (f[1] ? x[0] : x[1]) : x[2])", "y[i] = f[0] ? (f[1] ? x[0] : x[1]) : x[2];"},
	/* compound assignment */
	{"cuda:h200", "y[i] = y[i] + x[0] * x[1]", "y[i] += x[0] * x[1];"},
	{"cuda:h200", "y[i] = fma(x[0], x[1], y[i])", "y[i] += x[0] * x[1];"},
	{"cuda:h200", "y[i] = x[0] - y[i]", "y[i] = x[0] - y[i];"},
	{"cuda:h200", "y[i] = y[i + 1] + x[0]", "y[i] = y[i + 1] + x[0];"},
	/* data wraps around, subscripts stay plain */
	{"cuda:h200", "yn[i + 1] = n[i * 2] + 1", "yn[i + 1] = (int)((unsigned int)n[i * 2] + 1u);"},
	{"cuda:h200", "yn[i] = yn[i] + n[i]", "yn[i] = (int)((unsigned int)yn[i] + (unsigned int)n[i]);"},
	{"cuda:h200", "yu[i] = u[i] * u[i] + 3", "yu[i] = u[i] * u[i] + 3u;"},
	{"cuda:h200", "yb[i] = b[i] * b[i]", "yb[i] = (signed char)(b[i] * b[i]);"},
	{"cuda:h200", "yw[i] = w[i] * w[i]", "yw[i] = (unsigned short)((unsigned int)w[i] * w[i]);"},
	{"cuda:h200", "yn[i] = n[i] / n[i + 1]", "yn[i] = heddle_divide(n[i], n[i + 1]);"},
	{"cuda:h200", "yn[i] = n[i] % 8", "yn[i] = n[i] % 8;"},
	{"opencl:cpu", "yl[i] = l[i] % l[i + 1]", "yl[i] = heddle_modulo_long(l[i], l[i + 1]);"},
	/* floor only where the dividend may be negative */
	{"cuda:h200", "y[floor_div(i, 4)] = x[floor_mod(i - 1, 4)]", "y[i / 4] = x[heddle_floor_mod(i - 1, 4)];"},
	{"opencl:cpu", "y[floor_div(i, 4)] = x[floor_mod(i - 1, 4)]", "y[i / 4] = x[heddle_floor_mod_int(i - 1, 4)];"},
	/* subscripts */
	{"cuda:h200", "y[thread * (i / 3)] = x[0]", "y[thread * (i / 3)] = x[0];"},
	{"cuda:h200", "y[thread * (i % 3)] = x[i * 4 % 3]", "y[thread * (i % 3)] = x[i * 4 % 3];"},
	{"cuda:h200", "y[thread * int32(int64(i) * int64(i / 3) + N * int64(i / 3 * 2) + N * int64(i * 3))] = x[0]",
	 "y[thread * (int)((long long)i * (long long)(i / 3) + N * (i / 3 * 2) + N * i * 3)] = x[0];"},
	{"cuda:h200", "y[i] = m[i][thread] + k[1][2][1]", "y[i] = m[(long long)i * 8 + thread] + k[21];"},
	{"opencl:cpu", "y[i] = k[thread][block][1]", "y[i] = k[(thread * 8 + block) * 2 + 1];"},
	{"cuda:h200", "y[i] = e[] * float32(P)", "y[i] = e * 8.0f;"},
	/* literals */
	{"cuda:h200", "y[i] = 0.1 + 1e30 - inf", "y[i] = 0.1f + 1e+30f - __int_as_float(0x7f800000);"},
	{"opencl:cpu", "y[i] = nan", "y[i] = NAN;"},
	{"cuda:h200", "yd[i] = 0.1", "yd[i] = 0.1;"},
	{"cuda:h200", "yn[i] = -2147483648", "yn[i] = -2147483647 - 1;"},
	{"cuda:h200", "yl[i] = min(l[i], 3)", "yl[i] = heddle_min(l[i], 3ll);"},
	{"opencl:cpu", "yl[i] = min(l[i], 3)", "yl[i] = min(l[i], 3l);"},
	{"cuda:h200", "yh[i] = 65504.0", "yh[i] = 0x7bff;"},
	{"cuda:h200", "yh[i] = 65520.0", "yh[i] = 0x7c00;"},
	{"cuda:h200", "yh[i] = 1e-7", "yh[i] = 0x0002;"},
	/* 16-bit floats are converted, never computed with */
	{"cuda:h200", "y[i] = float32(h[i])", "y[i] = heddle_float16_to_float(h[i]);"},
	{"opencl:cpu", "yh[i : 4] = float16(x[i : 4])", "vstore4(heddle_float_to_float16_x4(vload4(0, &x[i])), 0, &yh[i]);"},
	{"cuda:h200", "yh[i : 4] = h[i : 4]",
	 "*reinterpret_cast<ushort4 *>(&yh[i]) = *reinterpret_cast<const ushort4 *>(&h[i]);"},
	{"cuda:h200", "yh[i : 8] = h[i : 8]",
	 "*reinterpret_cast<heddle_vector<heddle_float16, 8> *>(&yh[i]) ="},
	/* vectors */
	{"cuda:h200", "y[i] = extract(x[i : 4], 2)", "y[i] = (*reinterpret_cast<const float4 *>(&x[i])).z;"},
	{"cuda:h200", "y[i : 2] = splat(0.5, 2)", "*reinterpret_cast<float2 *>(&y[i]) = make_float2(0.5f, 0.5f);"},
	{"opencl:cpu", "y[i : 8] = exp(x[i : 8]) * splat(e[], 8)", "vstore8(heddle_exp_float_x8(vload8(0, &x[i])) * (float8)(e), 0, &y[i]);"},
	{"opencl:cpu", "y[i] = reduce(max, x[i : 4])", "y[i] = heddle_greatest_float4(vload4(0, &x[i]));"},
	{"cuda:h200", "let float32x2 v = x[i : 2]\ny[i] = reduce(+, v)", "y[i] = v.x + v.y;"},
	{"opencl:cpu", "y[i : 4] = zip(x[i : 4], x[i + 4 : 4], 0)", "vstore4(heddle_zip_lo_float4(vload4(0, &x[i]), vload4(0, &x[i + 4])), 0, &y[i]);"},
	{"opencl:cpu", "y[i : 4] = unzip(x[i : 4], x[i + 3 : 4])", "vstore4(heddle_unzip_float4(vload4(0, &x[i]), vload4(0, &x[i + 3])), 0, &y[i]);"},
	{"opencl:cpu", "yh[i : 8] = zip(h[i : 8], h[i + 8 : 8], 1)", "heddle_zip_hi_ushort8(vload8("},
	{"opencl:cpu", "let boolx4 v = f[i : 4]\ny[i] = float32(extract(v, 1))", "y[i] = (float)(v.s1 != 0);"},
	{"opencl:cpu", "yf[i : 2] = vector(f[0], x[0] < x[1]) || f[i : 2]",
	 "vstore2(convert_uchar2(((int2)(f[0] ? -1 : 0, x[0] < x[1] ? -1 : 0) ||"},
	/* functions and exchange */
	{"cuda:h200", "y[i] = call.fma(x[0], x[1], x[2])", "y[i] = fmaf(x[0], x[1], x[2]);"},
	{"opencl:cpu", "y[i] = fdivide(x[0] + x[1], x[2])", "y[i] = (x[0] + x[1]) / x[2];"},
	{"cuda:h200", "y[i] = max(x[0], 0.0)", "y[i] = heddle_max_nan(x[0], 0.0f);"},
	{"cuda:h200", "y[i] = shuffle(x[i], 4)", "y[i] = __shfl_xor_sync(0xffffffffu, x[i], 4);"},
	{"hip:mi300x", "y[i] = shuffle(x[i], 4)", "y[i] = __shfl_xor(x[i], 4);"},
	{"cuda:h200", "yh[i] = shuffle(h[i], 4)", "yh[i] = (heddle_float16)__shfl_xor_sync(0xffffffffu, h[i], 4);"},
	/* an unsigned offset of 32 bits in a loop where the dialect has such: not where bytes may not fit it, where it may be negative
	 * and where data says so */
	{"hip:mi300x", "for serial k in 0 .. 4 {\ny[i + k] = x[i + k * 64 + 3]\n}", "\t\theddle_at(y, i + k) = heddle_at(x + 3, i + k * 64);"},
	{"hip:mi300x", "for serial k in 0 .. 4 {\nlet int32 o = i + k\nlet float32x4 q = x[o + 4 : 4]\ny[o : 4] = q\n}",
	 "\t\tconst float4 q = *reinterpret_cast<const float4 *>(&heddle_at(x + 4, o));\n\t\t*reinterpret_cast<float4 *>(&heddle_at(y, o)) = q;"},
	{"hip:mi300x", "for serial k in 0 .. 4 {\ny[i] = x[i + k - 3]\n}", "\t\ty[i] = x[i + k - 3];"},
	{"hip:mi300x", "for serial k in 0 .. 4 {\ny[i] = x[i - k + 3]\n}", "\t\ty[i] = x[i - k + 3];"},
	{"hip:mi300x", "for serial k in 0 .. 4 {\ny[i] = z[i + k]\n}", "\t\ty[i] = z[i + k];"},
	{"hip:mi300x", "for serial k in 0 .. 4 {\ny[i] = x[n[k + 1]]\n}", "\t\ty[i] = x[heddle_at(n + 1, k)];"},
	{"cuda:h200", "for serial k in 0 .. 4 {\ny[i + k] = x[i + k * 64 + 3]\n}", "\t\ty[i + k] = x[i + k * 64 + 3];"},
	/* one jump around a barrier where the dialect asks for it, unless that reads what must not be read */
	{"opencl:gpu", "if N > 3 && block < 5 {\nbarrier\n} else {\ny[i] = 0.0\n}", "if ((N > 3) & (block < 5)) {"},
	{"opencl:gpu", "if N > 3 && block < 5 {\ny[i] = 0.0\n}", "if (N > 3 && block < 5) {"},
	{"opencl:gpu", "if N > 3 && n[3] < 5 {\ny[0] = 0.0\nbarrier\ny[i] = 0.0\n}", "if (N > 3 && n[3] < 5) {"},
	{"cuda:h200", "if N > 3 && block < 5 {\nbarrier\n}", "if (N > 3 && block < 5) {"},
	/* where the dialect asks for it no way leads around a barrier: they stand between parts of an `if` where those can be told,
	 * else ways meet at one; an else ends with one more than its if */
	{"opencl:gpu", "if N > 3 {\nlet int32 j = i + 1\ny[i] = 0.0\nbarrier\ny[j] = 0.0\n}\ny[0] = 0.0",
	 "\tif (N > 3) {\n\t\tconst int j = i + 1;\n\t\ty[i] = 0.0f;\n\t}\n\tbarrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);\n"
	 "\tif (N > 3) {\n\t\tconst int j = i + 1;\n\t\ty[j] = 0.0f;\n\t}\n"
	 "\tbarrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);\n\ty[0] = 0.0f;"},
	{"opencl:gpu", "if n[3] < 5 {\ny[i] = 0.0\nbarrier\ny[0] = 0.0\n}\ny[0] = 0.0",
	 "\t\ty[0] = 0.0f;\n\t}\n\tbarrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);\n\ty[0] = 0.0f;"},
	{"opencl:gpu", "if N > 3 {\nbarrier\ny[i] = 0.0\nbarrier\n}\ny[0] = 0.0",
	 "\tbarrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);\n\tif (N > 3) {\n\t\ty[i] = 0.0f;\n\t}\n"
	 "\tbarrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);\n\ty[0] = 0.0f;"},
	{"opencl:gpu", "y[i] = 0.0\nif N > 3 {\nbarrier\n}\ny[0] = 0.0",
	 "\ty[i] = 0.0f;\n\tbarrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);\n\ty[0] = 0.0f;"},
	/* not where a copy is under way at the barrier: its event is named in one part */
	{"opencl:gpu", "if N > 3 {\ncopy async_work_group_copy 64 to s[0] from x[0]\nbarrier\nwait async_work_group_copy\ny[i] = s[thread]\n}\ny[0] = 0.0",
	 "\t\tbarrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);\n\t\twait_group_events(1, &copies);\n"},
	{"opencl:gpu", "if N > 3 {\ncopy async_work_group_copy 64 to s[0] from x[0]\nwait async_work_group_copy\nbarrier\ny[i] = s[thread]\n}\ny[0] = 0.0",
	 "\t\twait_group_events(1, &copies);\n\t}\n\tbarrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);\n\tif (N > 3) {\n"},
	{"opencl:gpu", "if N > 3 {\nbarrier\ny[i] = 0.0\n} else {\ny[0] = 0.0\n}",
	 "\t\ty[0] = 0.0f;\n\t\t// one barrier more than the branch above, so that their ends are not merged\n"
	 "\t\tbarrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);\n\t}\n}"},
	{"opencl:gpu", "if N > 3 {\ny[i] = 0.0\nbarrier\n} else {\ny[0] = 0.0\n}",
	 "\t\ty[0] = 0.0f;\n\t\t// one barrier more than the branch above, so that their ends are not merged\n\t\tbarrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);\n"
	 "\t\tbarrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);\n\t}\n}"},
	{"opencl:gpu", "if N > 3 {\ny[0] = 0.0\nbarrier\ny[i] = 0.0\n}", "\tif (N > 3) {\n\t\ty[i] = 0.0f;\n\t}\n}"},
	{"cuda:h200", "if N > 3 {\nbarrier\ny[i] = 0.0\n} else {\ny[0] = 0.0\n}\ny[i] = 0.0", "\t\ty[0] = 0.0f;\n\t}\n\ty[i] = 0.0f;"},
	{"cuda:h200", "if N > 3 {\nbarrier\ny[i] = 0.0\n}\ny[i] = 0.0", "\tif (N > 3) {\n\t\t__syncthreads();\n\t\ty[i] = 0.0f;\n\t}\n\ty[i]"},
	/* a hint is a loop that the compiler is asked to unroll; a serial one is left to it */
	{"cuda:h200", "for hint k in 0 .. 4 {\ny[k] = 0.0\n}", "\t#pragma unroll\n\tfor (int k = 0; k < 4; k++) {\n\t\ty[k] = 0.0f;"},
	{"cuda:h200", "for serial k in 0 .. 4 copies 2 {\ny[k] = 0.0\n}", "\t#pragma unroll 2\n\tfor (int k = 0; k < 4; k++) {\n\t\ty[k] = 0.0f;"},
	{"cuda:h200", "let int32 o = i\nfor serial k in 0 .. 4 {\ny[k] = 0.0\n}", "const int o = i;\n\tfor (int k = 0; k < 4; k++) {"},
	/* an array that a loop of unknown length stores to has a vector's size where the dialect asks for it, and no other has */
	{"opencl:cpu", "declare r\nfor serial k in 0 .. i % 4 {\nr[k] = 0.0\n}", "float r[16];"},
	{"opencl:cpu", "declare g\nfor serial k in 0 .. i % 3 {\nlet int32 o = k + 1\ng[o - 1][1] = 0.0\n}", "float g[8][2];"},
	{"opencl:cpu", "declare v\nfor serial k in i % 2 .. 2 {\nv[k] = splat(0.0, 4)\n}", "float4 v[4];"},
	{"opencl:cpu", "declare r\nfor serial k in 0 .. 4 {\nr[k] = 0.0\n}", "float r[4];"},
	{"opencl:cpu", "declare r\nfor serial k in 0 .. i % 4 {\nfor serial o in 0 .. 4 {\nr[o] = x[k]\n}\n}", "float r[4];"},
	{"opencl:cpu", "declare r\nr[0] = 0.0\nfor serial k in 0 .. i % 4 {\ny[k] = r[k]\n}", "float r[4];"},
	{"opencl:cpu", "declare c\nfor serial k in 0 .. i % 4 {\nc[] = b[k]\n}", "char c;"},
	{"cuda:h200", "declare r\nfor serial k in 0 .. i % 4 {\nr[k] = 0.0\n}", "float r[4];"},
	/* names that the language owns */
	{"cuda:h200", "let float32 double = x[i]\ny[i] = double", "y[i] = double_;"},
	{"opencl:cpu", "let float32 barrier = x[i]\nlet float32 thread_ = x[i]\ny[i] = barrier + thread_", "y[i] = barrier_ + thread_;"},
};

static void statements(void **state)
{
	(void)state;
	heddle_ctx *ctx = heddle_ctx_new();
	for (size_t k = 0; k < HEDDLE_COUNT(cases); k++) {
		char *text = print_statement(ctx, cases[k].target, cases[k].statement);
		if (!text || !strstr(text, cases[k].line))
			fail_msg("%s, %s: not `%s` in\n%s%s", cases[k].target, cases[k].statement, cases[k].line, text ? text : "",
				 heddle_ctx_messages(ctx));
		free(text);
	}
	heddle_ctx_free(ctx);
}

static void refused(void **state)
{
	(void)state;
	static const struct {
		const char *target, *statement;
	} wrong[] = {
		{"opencl:cpu", "y[i] = shuffle(x[i], 1)"},
		{"cuda:h200", "y[i : 4] = x[i : 4] + x[i : 4]"},
		{"cuda:h200", "y[i : 4] = exp(x[i : 4])"},
		{"cuda:h200", "yh[i] = h[i] + h[i]"},
		{"cuda:h200", "y[i : 4] = zip(x[i : 4], x[i + 4 : 4], 0)"},
	};
	for (size_t k = 0; k < HEDDLE_COUNT(wrong); k++) {
		heddle_ctx *ctx = heddle_ctx_new();
		char *text = print_statement(ctx, wrong[k].target, wrong[k].statement);
		if (text)
			fail_msg("%s was printed:\n%s", wrong[k].statement, text);
		assert_int_equal(heddle_diagnostics(ctx)->code, 457);
		assert_int_equal(heddle_error_count(ctx), 1);
		heddle_ctx_free(ctx);
	}
}

/* Shared memory beyond what may be declared becomes a view of dynamic shared memory. */
static void dynamic_shared(void **state)
{
	(void)state;
	heddle_ctx *ctx = heddle_ctx_new();
	heddle_target target;
	assert_int_equal(heddle_target_parse(ctx, "cuda:h200", &target), 0);
	heddle_program *program = heddle_program_parse(ctx, "test",
						       "program t target cuda:h200\nbuffer output y float32 [8] align 4\n"
						       "buffer shared a float32 [64][65] align 16\nbuffer shared b float32 [128][128] align 16\n"
						       "launch t_0 grid 1 threads 64 args y shared a, b {\ny[thread] = a[0][1] + b[2][3]\n}\n");
	assert_non_null(program);
	heddle_text out = {0};
	assert_int_equal(heddle_kernel_print(ctx, &target, program, program->launch[0], NULL, &out), 0);
	assert_non_null(strstr(out.data, "extern __shared__ __align__(16) unsigned char shared_memory[];"));
	assert_non_null(strstr(out.data, "float (&b)[128][128] = *reinterpret_cast<float (*)[128][128]>(shared_memory + 16640);"));
	kernel_memory memory;
	heddle_kernel_memory(program->arena, &target, program->launch[0], &memory);
	assert_true(memory.dynamic);
	assert_int_equal(memory.bytes, 64 * 65 * 4 + 128 * 128 * 4);
	heddle_text_free(&out);
	heddle_program_free(program);
	heddle_ctx_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(statements),
		cmocka_unit_test(refused),
		cmocka_unit_test(dynamic_shared),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
