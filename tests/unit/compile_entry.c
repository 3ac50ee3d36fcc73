/* The host entries run: the OpenCL one on a CPU driver, CUDA's against a runtime of a few lines that calls the kernels as C++.
 *
 * Checked are results, every code that the entry returns, an empty grid, byte offsets and several threads at once.
 * SPDX-License-Identifier: MIT
 */
#include "backends/dialect.h"
#include "base/process.h"
#include "compile/manifest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* C(i,j) = A(i) * eps + B(j), by way of a temporary; the second launch has N blocks, which may be none. */
static const char program_text[] =
	"program outer target cuda:h200 warp 32\n"
	"size M 1..1000\nsize N 0..64 *4\n"
	"buffer input A float32 [M] align 4\nbuffer input B float32 [N] align 16\nbuffer output C float32 [M][N] align 4\n"
	"buffer scalar eps float32 align 4\nbuffer temporary unused float32 [4] align 16 offset 0\n"
	"buffer temporary t0 float32 [M] align 16 offset 16\n"
	"workspace M * 4 + 16\nrequire M > 2 || N < 50\n"
	"launch outer_0 grid floor_div(M + 31, 32) threads 32 args A, t0 {\n"
	"let int32 i = block * 32 + thread\nif i < int32(M) {\nt0[i] = A[i] * eps[]\n}\n}\n"
	"launch outer_1 grid N threads 32 args B, C, t0 {\n"
	"let float32x4 group = B[floor_div(block, 4) * 4 : 4]\n"
	"let float32 b = (floor_mod(block, 4) == 0 ? extract(group, 0) : (floor_mod(block, 4) == 1 ? extract(group, 1) : "
	"(floor_mod(block, 4) == 2 ? extract(group, 2) : extract(group, 3))))\n"
	"for serial i in thread .. int32(M) step 32 {\nC[i][block] = t0[i] + b\n}\n}\n";

/* What both hosts check; they define CALL(A, B, C, eps, M, N, workspace, bytes), filled and read arrays, CODE(name). */
static const char checks[] =
	"static int fails;\n"
	"#define EXPECT(got, wanted) do { int g = (got), w = (wanted); if (g != w) { fails++; "
	"printf(\"line %d: %d, not %d\\n\", __LINE__, g, w); } } while (0)\n"
	"static void run(int M, int N)\n{\n"
	"	for (int i = 0; i < M; i++) A[i] = (float)(i % 17);\n"
	"	for (int j = 0; j < N; j++) B[j] = (float)(j * 3);\n"
	"	for (int i = 0; i <= M * N; i++) C[i] = -1;\n"
	"	TO_DEVICE(M, N);\n"
	"	EXPECT(CALL(a, b, c, 0.5f, M, N, w, (size_t)M * 4 + 16), 0);\n"
	"	FROM_DEVICE(M, N);\n"
	"	int wrong = 0;\n"
	"	for (int i = 0; i < M; i++) for (int j = 0; j < N; j++) wrong += C[i * N + j] != (float)(i % 17) * 0.5f + (float)(j * 3);\n"
	"	EXPECT(wrong, 0);\n"
	"	EXPECT(C[M * N] == -1, 1);\n"
	"}\n"
	"static void codes(void)\n{\n"
	"	EXPECT((int)WORKSPACE(10, 8), 56);\n"
	"	EXPECT(CALL(a, b, c, 1, 0, 8, w, 4096), CODE(BAD_SIZE));\n"
	"	EXPECT(CALL(a, b, c, 1, 1001, 8, w, 4096), CODE(BAD_SIZE));\n"
	"	EXPECT(CALL(a, b, c, 1, 10, 6, w, 4096), CODE(BAD_SIZE));\n"
	"	EXPECT(CALL(a, b, c, 1, 10, -4, w, 4096), CODE(BAD_SIZE));\n"
	"	EXPECT(CALL(a, b, c, 1, 2, 52, w, 4096), CODE(PRECONDITION));\n"
	"	EXPECT(CALL(0, b, c, 1, 10, 8, w, 4096), CODE(NULL_POINTER));\n"
	"	EXPECT(CALL(a, 0, c, 1, 10, 8, w, 4096), CODE(NULL_POINTER));\n"
	"	EXPECT(CALL(a, 0, 0, 1, 10, 0, w, 4096), CODE(OK));\n"
	"	EXPECT(CALL(a, b, c, 1, 10, 8, w, 55), CODE(SMALL_WORKSPACE));\n"
	"	EXPECT(CALL(a, b, c, 1, 10, 8, 0, 4096), CODE(SMALL_WORKSPACE));\n"
	"	EXPECT(strcmp(STRERROR(CODE(BAD_SIZE)), STRERROR(0)) != 0, 1);\n"
	"}\n";

static const char cuda_runtime[] =
	"#include <stddef.h>\n#include <stdint.h>\n#include <stdio.h>\n#include <string.h>\n"
	"#define __global__\n#define __device__\n#define __restrict__ __restrict\n#define __launch_bounds__(...)\n"
	"#define __forceinline__ inline\n"
	"struct dim3 { unsigned x, y, z; dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {} };\n"
	"struct alignas(16) float4 { float x, y, z, w; };\n"
	"static dim3 blockIdx, threadIdx;\n"
	"typedef int cudaError_t;\ntypedef void *cudaStream_t;\nenum { cudaSuccess = 0 };\n"
	"static const char *cudaGetErrorString(cudaError_t) { return \"vendor\"; }\n"
	"static int n_launch;\n"
	"cudaError_t cudaLaunchKernel(const void *f, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t stream);\n";

static const char cuda_host[] =
	"cudaError_t cudaLaunchKernel(const void *f, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t stream)\n{\n"
	"	if (stream == (void *)77) return 9;\n"
	"	n_launch++;\n"
	"	if (grid.x == 0 || shared != 0) return 1;\n"
	"	for (blockIdx.x = 0; blockIdx.x < grid.x; blockIdx.x++)\n"
	"		for (threadIdx.x = 0; threadIdx.x < block.x; threadIdx.x++)\n"
	"			if (f == (const void *)outer_0)\n"
	"				outer_0(*(const float **)args[0], *(float **)args[1], *(float *)args[2], *(long long *)args[3]);\n"
	"			else\n"
	"				outer_1(*(const float **)args[0], *(float **)args[1], *(float **)args[2], *(long long *)args[3], *(long long *)args[4]);\n"
	"	return 0;\n}\n"
	"#define CALL(a, b, c, e, m, n, w, bytes) outer(a, b, c, e, m, n, w, bytes, NULL)\n"
	"#define CODE(x) OUTER_##x\n#define STRERROR outer_strerror\n#define WORKSPACE outer_workspace\n"
	"#define TO_DEVICE(M, N) (void)0\n#define FROM_DEVICE(M, N) (void)0\n"
	"#define a A\n#define b B\n#define c C\n#define w space\n"
	"alignas(16) static float A[1000], B[64], C[1000 * 64 + 1], space[1004];\n"
	"%s"
	"int main()\n{\n"
	"	run(1000, 64); run(33, 4); n_launch = 0; run(5, 0); EXPECT(n_launch, 1);\n	codes();\n"
	"	EXPECT(outer(A, B + 1, C, 1, 10, 8, space, 4096, NULL), OUTER_MISALIGNED);\n"
	"	EXPECT(outer((char *)A + 1, B, C, 1, 10, 8, space, 4096, NULL), OUTER_MISALIGNED);\n"
	"	EXPECT(outer(A, B, C, 1, 10, 8, (char *)space + 2, 4096, NULL), OUTER_MISALIGNED);\n"
	"	EXPECT(outer(A, B, C, 1, 10, 8, space, 4096, (void *)77), OUTER_VENDOR + 9);\n"
	"	EXPECT(strcmp(outer_strerror(OUTER_VENDOR + 9), \"vendor\"), 0);\n"
	"	return fails != 0;\n}\n";

static const char opencl_host[] =
	"#define CL_TARGET_OPENCL_VERSION 120\n#include <CL/cl.h>\n#include <pthread.h>\n#include <stdio.h>\n#include <string.h>\n"
	"#include \"outer.h\"\n"
	"static float A[1000], B[64], C[1000 * 64 + 1];\n"
	"static cl_context context;\nstatic cl_command_queue queue;\nstatic cl_mem a, b, c, w;\n"
	"#define SHIFT 12\n" /* every tensor starts in the middle of its buffer */
	"#define CALL(a, b, c, e, m, n, w, bytes) outer_opencl(a, SHIFT, b, SHIFT, c, SHIFT, e, m, n, w, SHIFT, bytes, queue)\n"
	"#define CODE(x) OUTER_OPENCL_##x\n#define STRERROR outer_opencl_strerror\n#define WORKSPACE outer_opencl_workspace\n"
	"#define TO_DEVICE(M, N) (clEnqueueWriteBuffer(queue, a, 1, SHIFT, (size_t)(M) * 4, A, 0, NULL, NULL), \\\n"
	"	(N) ? clEnqueueWriteBuffer(queue, b, 1, SHIFT, (size_t)(N) * 4, B, 0, NULL, NULL) : 0, \\\n"
	"	clEnqueueWriteBuffer(queue, c, 1, SHIFT, (size_t)((M) * (N) + 1) * 4, C, 0, NULL, NULL))\n"
	"#define FROM_DEVICE(M, N) clEnqueueReadBuffer(queue, c, 1, SHIFT, (size_t)((M) * (N) + 1) * 4, C, 0, NULL, NULL)\n"
	"%s"
	"static void *worker(void *room)\n{\n"
	"	int *bad = room;\n	cl_int e;\n"
	"	cl_device_id device;\n	clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof(device), &device, NULL);\n"
	"	cl_command_queue mine = clCreateCommandQueue(context, device, 0, &e);\n"
	"	cl_mem out = clCreateBuffer(context, CL_MEM_READ_WRITE, 40 * 8 * 4, NULL, &e), room_ = clCreateBuffer(context, CL_MEM_READ_WRITE, 4096, NULL, &e);\n"
	"	float got[40 * 8];\n	float eps = (float)*bad;\n	*bad = 0;\n"
	"	for (int k = 0; k < 20; k++) {\n"
	"		if (outer_opencl(a, SHIFT, b, SHIFT, out, 0, eps + (float)k, 40, 8, room_, 0, 4096, mine) != 0) ++*bad;\n"
	"		clEnqueueReadBuffer(mine, out, 1, 0, sizeof(got), got, 0, NULL, NULL);\n"
	"		for (int i = 0; i < 40; i++) for (int j = 0; j < 8; j++) *bad += got[i * 8 + j] != (float)(i % 17) * (eps + (float)k) + (float)(j * 3);\n"
	"	}\n	clReleaseMemObject(out);\n	clReleaseMemObject(room_);\n	clReleaseCommandQueue(mine);\n	return NULL;\n}\n"
	"int main(void)\n{\n"
	"	cl_platform_id platform[8];\n	cl_uint n = 0;\n	cl_device_id device = NULL;\n	cl_int e;\n"
	"	clGetPlatformIDs(8, platform, &n);\n"
	"	for (cl_uint i = 0; i < n && !device; i++) {\n"
	"		char name[200] = \"\";\n		clGetPlatformInfo(platform[i], CL_PLATFORM_NAME, sizeof(name), name, NULL);\n"
	"		if (strstr(name, \"Portable\")) clGetDeviceIDs(platform[i], CL_DEVICE_TYPE_ALL, 1, &device, NULL);\n	}\n"
	"	if (!device) return 77;\n"
	"	context = clCreateContext(NULL, 1, &device, NULL, NULL, &e);\n	queue = clCreateCommandQueue(context, device, 0, &e);\n"
	"	a = clCreateBuffer(context, CL_MEM_READ_WRITE, 5000, NULL, &e);\n	b = clCreateBuffer(context, CL_MEM_READ_WRITE, 400, NULL, &e);\n"
	"	c = clCreateBuffer(context, CL_MEM_READ_WRITE, 300000, NULL, &e);\n	w = clCreateBuffer(context, CL_MEM_READ_WRITE, 5000, NULL, &e);\n"
	"	run(1000, 64); run(33, 4); run(5, 0); codes();\n"
	"	EXPECT(outer_opencl(a, 2, b, SHIFT, c, SHIFT, 1, 10, 8, w, SHIFT, 4096, queue), OUTER_OPENCL_MISALIGNED);\n"
	"	EXPECT(outer_opencl(a, 0, b, 0, c, 0, 1, 10, 8, w, 0, 4096, NULL), OUTER_OPENCL_VENDOR - CL_INVALID_COMMAND_QUEUE);\n"
	"	run(40, 8);\n	int bad[3] = {1, 50, 100};\n	pthread_t thread[3];\n"
	"	for (int i = 0; i < 3; i++) pthread_create(&thread[i], NULL, worker, &bad[i]);\n"
	"	for (int i = 0; i < 3; i++) pthread_join(thread[i], NULL);\n"
	"	EXPECT(bad[0] + bad[1] + bad[2], 0);\n"
	"	outer_opencl_release();\n	run(7, 8);\n	outer_opencl_release();\n	return fails != 0;\n}\n";

static void write(heddle_ctx *ctx, const char *folder, const char *file, const char *text)
{
	assert_int_equal(heddle_file_write(ctx, heddle_arena_printf(heddle_ctx_arena(ctx), "%s/%s", folder, file), text, strlen(text)), 0);
}

/* Source, host part and header of the program in `folder`. */
static void emit(heddle_ctx *ctx, const char *text, const char *target_text, const char *folder, const char *source, const char *host)
{
	heddle_target target;
	heddle_text s = {0}, h = {0}, header = {0};
	assert_int_equal(heddle_target_parse(ctx, target_text, &target), 0);
	heddle_program *program = heddle_program_parse(ctx, "outer", text);
	if (!program || heddle_program_validate(ctx, program) < 0)
		fail_msg("%s", heddle_ctx_messages(ctx));
	heddle_emit_options options = {.base = "outer", .header = "outer"};
	assert_int_equal(heddle_source_print(ctx, &target, HEDDLE_ONE_VARIANT(program), &options, &s), 0);
	assert_int_equal(heddle_host_print(ctx, &target, HEDDLE_ONE_VARIANT(program), &options, &h), 0);
	assert_int_equal(heddle_header_print(ctx, HEDDLE_ONE_VARIANT(program), &options, &header), 0);
	write(ctx, folder, source, heddle_text_str(&s));
	if (host)
		write(ctx, folder, host, heddle_text_str(&h));
	write(ctx, folder, "outer.h", heddle_text_str(&header));
	heddle_text_free(&s);
	heddle_text_free(&h);
	heddle_text_free(&header);
	heddle_program_free(program);
}

/* The program for M = 64 and for every M, with their copies without vectors, behind one entry in `folder`. */
static void emit_variants(heddle_ctx *ctx, const char *folder)
{
	heddle_target target;
	heddle_text s = {0}, text = {0};
	heddle_variants variants;
	assert_int_equal(heddle_target_parse(ctx, "cuda:h200", &target), 0);
	heddle_variants_begin(&variants);
	heddle_variants_add(&variants, heddle_program_parse(ctx, "outer", program_text));
	const char *range = strstr(program_text, "1..1000");
	heddle_text_printf(&text, "%.*s64..64%s", (int)(range - program_text), program_text, range + strlen("1..1000"));
	heddle_variants_add(&variants, heddle_program_parse(ctx, "outer", heddle_text_str(&text)));
	heddle_variants_add(&variants, heddle_program_parse(ctx, "outer", program_text)); /* once is enough */
	assert_int_equal(variants.n, 2);
	assert_int_equal(variants.item[0].program->size[0].max, 64); /* the narrower one comes first */
	assert_int_equal(heddle_variants_finish(ctx, &target, &variants), 0);
	assert_int_equal(variants.n, 3);
	const int64_t small[] = {64, 8}, other[] = {63, 8}, none[] = {64, 6};
	assert_int_equal(heddle_variants_choose(&variants, &target, small, 0), 0);
	assert_int_equal(heddle_variants_choose(&variants, &target, other, 0), 1);
	assert_int_equal(heddle_variants_choose(&variants, &target, small, 1), 2);
	assert_int_equal(heddle_variants_choose(&variants, &target, none, 1), -1);
	heddle_emit_options options = {.base = "outer", .header = "outer"};
	assert_int_equal(heddle_source_print(ctx, &target, &variants, &options, &s), 0);
	write(ctx, folder, "outer.cu", heddle_text_str(&s));
	heddle_text_free(&s);
	heddle_text_free(&text);
	heddle_variants_free(&variants);
}

/* The exit code of a shell command in `folder`; what it said when that is neither 0 nor 77. */
static int shell(heddle_ctx *ctx, const char *folder, const char *command)
{
	const char *const argv[] = {"sh", "-c", command, NULL};
	heddle_process process = {.argv = argv, .folder = folder};
	assert_int_equal(heddle_process_run(ctx, &process), 0);
	int status = process.status;
	if (status != 0 && status != 77)
		fail_msg("%s\n%s%s", command, heddle_text_str(&process.output), heddle_text_str(&process.error));
	heddle_process_free(&process);
	return status;
}

/* The host with the checks in place of its %s. */
static void add_host(heddle_text *out, const char *host)
{
	const char *middle = strstr(host, "%s");
	heddle_text_addn(out, host, (size_t)(middle - host));
	heddle_text_add(out, checks);
	heddle_text_add(out, middle + 2);
}

static void cuda(void **state)
{
	(void)state;
	heddle_ctx *ctx = heddle_ctx_new();
	char folder[512];
	assert_int_equal(heddle_dir_temporary(ctx, folder), 0);
	emit(ctx, program_text, "cuda:h200", folder, "outer.cu", NULL);
	heddle_text host = {0};
	heddle_text_add(&host, "#include \"cuda_runtime_api.h\"\n#include \"outer.cu\"\n");
	add_host(&host, cuda_host);
	write(ctx, folder, "cuda_runtime_api.h", heddle_arena_printf(heddle_ctx_arena(ctx), "#pragma once\n%s", cuda_runtime));
	write(ctx, folder, "host.cpp", heddle_text_str(&host));
	shell(ctx, folder, "c++ -std=c++17 -I. -Wall -Wextra -Wno-unused-parameter -fsanitize=address,undefined host.cpp -o host && ./host");
	heddle_text_free(&host);
	heddle_dir_remove(folder);
	heddle_ctx_free(ctx);
}

static const char large_text[] =
	"program outer target cuda:h200 warp 32\nsize M 0..2147483647\nsize N 0..2147483647\nsize K 0..2147483647\n"
	"buffer output C float32 [K] align 4\nworkspace 0\n"
	"launch outer_0 grid M * N * floor_div(K + 255, 256) threads 32 args C {\nif thread < int32(K) {\nC[thread] = 0.0\n}\n}\n"
	"launch outer_1 grid M * N threads 32 args C {\nif thread < int32(K) {\nC[thread] = 1.0\n}\n}\n";

static const char large_host[] =
	"static unsigned blocks;\n"
	"cudaError_t cudaLaunchKernel(const void *f, dim3 grid, dim3, void **, size_t, cudaStream_t)\n{\n"
	"	if (f == (const void *)outer_0) blocks = grid.x;\n	return 0;\n}\n"
	"static float C[1];\n"
	"static int fails;\n"
	"static void run(int64_t M, int64_t N, int64_t K, int code, unsigned wanted)\n{\n"
	"	blocks = 0;\n"
	"	int got = outer(C, M, N, K, NULL, 0, NULL);\n"
	"	if (got != code || blocks != wanted)\n"
	"		fails++, printf(\"%lld %lld %lld: %d, %u blocks\\n\", (long long)M, (long long)N, (long long)K, got, blocks);\n}\n"
	"int main()\n{\n"
	"	const int all = 2147483647, many = OUTER_TOO_MANY_BLOCKS;\n"
	"	run(all, all, all, many, 0);\n"
	"	run(1 << 30, 1 << 30, 4096, many, 0);\n" /* 2^64 */
	"	run(all, all, 1, many, 0);\n	run(all, 1, 257, many, 0);\n"
	"	run(1, all, 0, OUTER_OK, 0);\n	run(0, all, all, OUTER_OK, 0);\n"
	"	run(all, 1, 256, OUTER_OK, 2147483647u);\n	run(3, 5, 257, OUTER_OK, 30);\n"
	"	return fails != 0;\n}\n";

/* A number of blocks beyond 64 bits is too many, and none where a size is 0. */
static void many_blocks(void **state)
{
	(void)state;
	heddle_ctx *ctx = heddle_ctx_new();
	char folder[512];
	assert_int_equal(heddle_dir_temporary(ctx, folder), 0);
	emit(ctx, large_text, "cuda:h200", folder, "outer.cu", NULL);
	write(ctx, folder, "cuda_runtime_api.h", heddle_arena_printf(heddle_ctx_arena(ctx), "#pragma once\n%s", cuda_runtime));
	write(ctx, folder, "host.cpp",
	      heddle_arena_printf(heddle_ctx_arena(ctx), "#include \"cuda_runtime_api.h\"\n#include \"outer.cu\"\n%s", large_host));
	shell(ctx, folder, "c++ -std=c++17 -I. -Wall -Wextra -Wno-unused-parameter -fsanitize=undefined -fno-sanitize-recover=all host.cpp -o host "
			   "&& ./host");
	heddle_dir_remove(folder);
	heddle_ctx_free(ctx);
}

static const char variants_host[] =
	"static char launched[100];\n"
	"cudaError_t cudaLaunchKernel(const void *f, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t stream)\n{\n"
	"	(void)shared; (void)stream;\n"
	"	bool whole = f == (const void *)outer_v1_1 || f == (const void *)outer_v2_1;\n"
	"	strcat(launched, f == (const void *)outer_0 ? \"0a\" : f == (const void *)outer_1 ? \"0b\" : f == (const void *)outer_v1_0 ? \"1a\" :\n"
	"		f == (const void *)outer_v1_1 ? \"1b\" : f == (const void *)outer_v2_0 ? \"2a\" : \"2b\");\n"
	"	for (blockIdx.x = 0; blockIdx.x < grid.x; blockIdx.x++)\n"
	"		for (threadIdx.x = 0; threadIdx.x < block.x; threadIdx.x++) {\n"
	"			const float *a = *(const float **)args[0]; float *b = *(float **)args[1], **c = (float **)args[2];\n"
	"			if (f == (const void *)outer_0) outer_0(a, b, *(float *)args[2]);\n"
	"			else if (f == (const void *)outer_1) outer_1(a, b, *c, *(long long *)args[3]);\n"
	"			else if (whole) (f == (const void *)outer_v1_1 ? outer_v1_1 : outer_v2_1)(a, b, *c, *(long long *)args[3], *(long long *)args[4]);\n"
	"			else (f == (const void *)outer_v1_0 ? outer_v1_0 : outer_v2_0)(a, b, *(float *)args[2], *(long long *)args[3]);\n"
	"		}\n	return 0;\n}\n"
	"alignas(16) static float A[1000], B[66], C[1000 * 64 + 1], space[1006];\n"
	"static int fails;\n"
	"static void run(int M, int N, int shift, int room, const char *wanted)\n{\n"
	"	launched[0] = 0;\n"
	"	for (int i = 0; i < M; i++) A[i] = (float)(i % 17);\n"
	"	for (int j = 0; j < N; j++) B[j + shift] = (float)(j * 3);\n"
	"	int code = outer(A, B + shift, C, 0.5f, M, N, space + room, outer_workspace(M, N), NULL), wrong = 0;\n"
	"	for (int i = 0; i < M; i++) for (int j = 0; j < N; j++) wrong += C[i * N + j] != (float)(i % 17) * 0.5f + (float)(j * 3);\n"
	"	if (code || wrong || strcmp(launched, wanted)) fails++, printf(\"%d %d: code %d, %d wrong, %s\\n\", M, N, code, wrong, launched);\n}\n"
	"int main()\n{\n"
	"	run(64, 8, 0, 0, \"0a0b\"); run(65, 8, 0, 0, \"1a1b\"); run(64, 8, 1, 0, \"2a2b\"); run(33, 64, 2, 0, \"2a2b\"); run(64, 0, 1, 0, \"2a\");\n"
	"	if (outer(A, (char *)B + 2, C, 1, 64, 8, space, 4096, NULL) != OUTER_MISALIGNED) fails++, puts(\"half\");\n"
	"	if (outer(A, B, C, 1, 64, 6, space, 4096, NULL) != OUTER_BAD_SIZE) fails++, puts(\"size\");\n"
	"	if (outer(A, B, C, 1, 2, 52, space, 4096, NULL) != OUTER_PRECONDITION) fails++, puts(\"precondition\");\n"
	"	if (outer(A, B, C, 1, 64, 8, space, 271, NULL) != OUTER_SMALL_WORKSPACE) fails++, puts(\"workspace\");\n"
	"	if (outer_workspace(64, 8) != 272 || outer_workspace(10, 8) != 56) fails++, puts(\"bytes\");\n"
	"	return fails != 0;\n}\n";

/* The entry takes the first program that is for its sizes and addresses, and says what is wrong where none is. */
static void variants(void **state)
{
	(void)state;
	heddle_ctx *ctx = heddle_ctx_new();
	char folder[512];
	assert_int_equal(heddle_dir_temporary(ctx, folder), 0);
	emit_variants(ctx, folder);
	heddle_text host = {0};
	heddle_text_printf(&host, "#include \"cuda_runtime_api.h\"\n#include \"outer.cu\"\n%s", variants_host);
	write(ctx, folder, "cuda_runtime_api.h", heddle_arena_printf(heddle_ctx_arena(ctx), "#pragma once\n%s\n"
				"static inline float4 make_float4(float x, float y, float z, float w) { return float4{x, y, z, w}; }\n", cuda_runtime));
	write(ctx, folder, "host.cpp", heddle_text_str(&host));
	shell(ctx, folder, "c++ -std=c++17 -I. -Wall -Wextra -Wno-unused-parameter -fsanitize=address,undefined host.cpp -o host && ./host");
	heddle_text_free(&host);
	heddle_dir_remove(folder);
	heddle_ctx_free(ctx);
}

static void opencl(void **state)
{
	(void)state;
	heddle_ctx *ctx = heddle_ctx_new();
	char folder[512];
	assert_int_equal(heddle_dir_temporary(ctx, folder), 0);
	emit(ctx, program_text, "opencl:cpu", folder, "outer.cl", "outer.c");
	heddle_text host = {0};
	add_host(&host, opencl_host);
	write(ctx, folder, "host.c", heddle_text_str(&host));
	heddle_text_free(&host);
	int status = shell(ctx, folder, "echo 'int main(void){return 0;}' > probe.c; printf '#include <CL/cl.h>\\n' | cat - probe.c > probe2.c; "
					"cc -w probe2.c -o probe -lOpenCL 2>/dev/null || exit 77; "
					"cc -std=c11 -Wall -Wextra -Wno-deprecated-declarations outer.c host.c -o host -lOpenCL -lpthread && ./host");
	heddle_dir_remove(folder);
	heddle_ctx_free(ctx);
	if (status == 77)
		skip();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cuda),
		cmocka_unit_test(opencl),
		cmocka_unit_test(variants),
		cmocka_unit_test(many_blocks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
