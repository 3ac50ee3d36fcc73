/* The levels opencl-cpu, compile and device on hand-written manifests: right kernels pass, each faulty one is found as what
 * it is.  Drivers and compilers that are not here are skipped by name.
 * SPDX-License-Identifier: MIT
 */
#include "backends/drivers.h"
#include "harness/probe.h"
#include "heddle/heddle.h"
#include "base/process.h"
#include "harness/device.h"
#include "harness/level.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- a case: kernels over A, B -> C of N floats, T a temporary ------------------------------------------------------------ */

enum { N = 100, N_ARGUMENT = 5 };

typedef struct fixture {
	heddle_ctx *ctx;
	heddle_arena *arena;
	heddle_manifest manifest;
	heddle_argument argument[N_ARGUMENT];
	heddle_array array[N_ARGUMENT];
	heddle_array *data[N_ARGUMENT];
	heddle_manifest_size size;
	heddle_manifest_launch launch[2];
	int64_t n;
	float a[N], b[N], c[N], factor;
	heddle_formula shape[1];
	heddle_run run;
} fixture;

static void vector(fixture *f, int i, const char *name, heddle_argument_role role, float *data)
{
	f->argument[i] = (heddle_argument){ .name = name, .role = role, .type = HEDDLE_FLOAT32, .rank = 1, .shape = f->shape, .align = 4 };
	f->array[i] = (heddle_array){ .type = HEDDLE_FLOAT32, .rank = 1, .shape = { N }, .stride = { 1 },
				      .data = (unsigned char *)data, .bytes = N * sizeof(float) };
	f->data[i] = &f->array[i];
}

static fixture *fixture_new(const char *backend, const char *arch, const char *source)
{
	/* Shared with the child that runs the level: results come back. */
	fixture *f = mmap(NULL, sizeof(*f), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(f != MAP_FAILED);
	f->ctx = heddle_ctx_new();
	f->arena = heddle_arena_new();
	f->n = N;
	f->factor = 3;
	for (int i = 0; i < N; i++) {
		f->a[i] = (float)i;
		f->b[i] = (float)(2 * i);
	}
	memset(f->c, 0xff, sizeof(f->c));
	f->shape[0] = "N";
	f->size = (heddle_manifest_size){ "N", 1, 1000, 1 };
	vector(f, 0, "A", HEDDLE_ARGUMENT_INPUT, f->a);
	vector(f, 1, "B", HEDDLE_ARGUMENT_INPUT, f->b);
	vector(f, 2, "C", HEDDLE_ARGUMENT_OUTPUT, f->c);
	f->argument[3] = (heddle_argument){ .name = "T", .role = HEDDLE_ARGUMENT_TEMPORARY, .type = HEDDLE_FLOAT32, .rank = 1,
					    .shape = f->shape, .offset = "256" };
	f->argument[4] = (heddle_argument){ .name = "factor", .role = HEDDLE_ARGUMENT_SCALAR, .type = HEDDLE_FLOAT32 };
	f->array[4] = (heddle_array){ .type = HEDDLE_FLOAT32, .data = (unsigned char *)&f->factor, .bytes = 4 };
	f->data[4] = &f->array[4];
	f->manifest = (heddle_manifest){ .definition = "test", .backend = backend, .arch = arch, .source = "test.cl", .warp = 0,
					 .n_size = 1, .size = &f->size, .workspace_bytes = "256 + 4 * N",
					 .n_argument = N_ARGUMENT, .argument = f->argument, .launch = f->launch };
	f->run = (heddle_run){ .arena = f->arena, .manifest = &f->manifest, .source = source, .source_path = "test.cl",
			       .size = &f->n, .argument = f->data, .timeout = 60 };
	return f;
}

static void fixture_free(fixture *f)
{
	heddle_arena_free(f->arena);
	heddle_ctx_free(f->ctx);
	munmap(f, sizeof(*f));
}

/* A launch of ceil(N / 32) blocks of 32 threads; names ended by NULL, sizes begin with '#', offsets with '@'. */
static void add_launch(fixture *f, const char *kernel, ...)
{
	heddle_manifest_launch *l = &f->launch[f->manifest.n_launch++];
	va_list names;
	*l = (heddle_manifest_launch){ .kernel = kernel, .grid = { "(N + 31) / 32", "1", "1" }, .block = { 32, 1, 1 },
				       .dynamic_shared_bytes = "0" };
	va_start(names, kernel);
	for (const char *name = va_arg(names, const char *); name; name = va_arg(names, const char *)) {
		heddle_kernel_argument a = { .name = name, .type = HEDDLE_INT64 };
		if (*name == '#')
			a = (heddle_kernel_argument){ .name = name + 1, .size = true, .type = HEDDLE_INT32 };
		if (*name == '@')
			a = (heddle_kernel_argument){ .name = name + 1, .byte_offset = true, .type = HEDDLE_UINT64 };
		HEDDLE_PUSH(f->arena, l->argument, l->n_argument, a);
	}
	va_end(names);
}

/* What comes back from the child as text: "verdict\tmessage\nkind\tline\ttext..." */
typedef struct outcome {
	int verdict;
	heddle_text all;
} outcome;

typedef struct in_child {
	const heddle_runner *runner;
	fixture *f;
} in_child;

static void run_in_child(void *data, heddle_text *out)
{
	in_child *c = data;
	int status = c->runner->run(c->f->ctx, &c->f->run);
	heddle_text_printf(out, "%d\t%s\n", status == 0 ? (int)c->f->run.verdict : -1,
			   status == 0 && c->f->run.message ? c->f->run.message : heddle_ctx_messages(c->f->ctx));
	for (int i = 0; status == 0 && i < c->f->run.n_finding; i++)
		heddle_text_printf(out, "[%s] line %d: %s\n", c->f->run.finding[i].kind, c->f->run.finding[i].line,
				   c->f->run.finding[i].text);
	heddle_text_printf(out, "resources %d %d %d %d\n", c->f->run.registers, c->f->run.spill_bytes, c->f->run.stack_bytes,
			   c->f->run.shared_bytes);
	for (int i = 0; c->f->run.seconds && i < c->f->run.repeat; i++)
		heddle_text_printf(out, "seconds %d\n", c->f->run.seconds[i] > 0);
}

static const heddle_runner *runner(const char *level, const char *name)
{
	for (const heddle_runner *const *r = heddle_runners; *r; r++)
		if (strcmp((*r)->level, level) == 0 && strcmp((*r)->name, name) == 0)
			return *r;
	fail_msg("no runner %s:%s", level, name);
	return NULL;
}

static outcome go(fixture *f, const heddle_runner *r)
{
	outcome o = { 0 };
	const char *why = "";
	in_child c = { r, f };
	if (heddle_process_call(f->arena, 120, run_in_child, &c, &o.all, &why) != 0)
		heddle_text_printf(&o.all, "99\t%s", why);
	o.verdict = atoi(heddle_text_str(&o.all));
	if (getenv("HEDDLE_TEST_SHOW"))
		print_message("%s: %s\n", r->name, heddle_text_str(&o.all));
	return o;
}

static void expect(outcome *o, int verdict, const char *text)
{
	if (o->verdict != verdict || (text && !strstr(heddle_text_str(&o->all), text)))
		fail_msg("expected %d and '%s', got: %s", verdict, text ? text : "", heddle_text_str(&o->all));
	heddle_text_free(&o->all);
}

static bool here(const heddle_runner *r)
{
	heddle_ctx *ctx = heddle_ctx_new();
	const char *why = "";
	int yes = r->available(ctx, &why);
	if (!yes)
		print_message("skipped %s:%s: %s\n", r->level, r->name, why);
	heddle_ctx_free(ctx);
	return yes;
}

/* ---- sources ---------------------------------------------------------------------------------------------------------------- */

static const char right[] =
	"__kernel void scale(__global const float *A, __global float *T, float factor, int n)\n"
	"{ size_t i = get_global_id(0); if (i < n) T[i] = A[i] * factor; }\n"
	"__kernel void add(__global const float *T, __global const float *B, __global float *C, int n)\n"
	"{ size_t i = get_global_id(0); if (i < n) C[i] = T[i] + B[i]; }\n";

static const char with_offsets[] =
	"__kernel void scale(__global const float *A, ulong a, __global float *T, ulong t, float factor, int n)\n"
	"{ size_t i = get_global_id(0); if (i >= n) return;\n"
	"((__global float *)((__global char *)T + t))[i] = ((__global const float *)((__global const char *)A + a))[i] * factor; }\n"
	"__kernel void add(__global const float *T, ulong t, __global const float *B, ulong b, __global float *C, ulong c, int n)\n"
	"{ size_t i = get_global_id(0); if (i >= n) return;\n"
	"((__global float *)((__global char *)C + c))[i] = ((__global const float *)((__global const char *)T + t))[i] +\n"
	"  ((__global const float *)((__global const char *)B + b))[i]; }\n";

static fixture *two_launches(const char *source)
{
	fixture *f = fixture_new("opencl", "cpu", source);
	add_launch(f, "scale", "A", "T", "factor", "#N", NULL);
	add_launch(f, "add", "T", "B", "C", "#N", NULL);
	return f;
}

static fixture *two_launches_with_offsets(void)
{
	fixture *f = fixture_new("opencl", "cpu", with_offsets);
	add_launch(f, "scale", "A", "@A", "T", "@T", "factor", "#N", NULL);
	add_launch(f, "add", "T", "@T", "B", "@B", "C", "@C", "#N", NULL);
	return f;
}

static const char *const cpu_names[] = { "pocl", "rusticl", "oclgrind" };

static void check_sum(const fixture *f)
{
	for (int i = 0; i < N; i++)
		assert_true(f->c[i] == (float)(3 * i + 2 * i));
}

static void test_right(void **state)
{
	(void)state;
	for (size_t i = 0; i < HEDDLE_COUNT(cpu_names); i++) {
		const heddle_runner *r = runner("opencl-cpu", cpu_names[i]);
		if (!here(r))
			continue;
		for (int variant = 0; variant < 3; variant++) {
			fixture *f = variant == 0 ? two_launches(right) : two_launches_with_offsets();
			f->run.misalign = variant == 2;
			f->run.repeat = variant == 1 ? 2 : 0;
			outcome o = go(f, r);
			expect(&o, HEDDLE_PASS, variant == 1 ? "seconds 1\nseconds 1\n" : "ran on");
			check_sum(f);
			fixture_free(f);
		}
	}
}

/* Without offset arguments a base cannot be moved by one element: said, not passed. */
static void test_misalign_without_offsets(void **state)
{
	(void)state;
	const heddle_runner *r = runner("opencl-cpu", "pocl");
	if (!here(r))
		return;
	fixture *f = two_launches(right);
	f->run.misalign = 1;
	outcome o = go(f, r);
	expect(&o, HEDDLE_UNSUPPORTED, "without byte offsets");
	fixture_free(f);
}

/* One kernel over A -> C; what it does wrong and what must be said of it. */
static const struct wrong {
	const char *driver, *source, *found;
} wrong[] = {
	{ "pocl", "__kernel void k(__global const float *A, __global float *C, int n) {\n  C[get_global_id(0)] = 1; }",
	  "[bounds] line 0: a write 0 bytes after the last element of C" },
	{ "pocl", "__kernel void k(__global const float *A, __global float *C, int n) {\n  if (get_global_id(0) < n) C[(int)get_global_id(0) - 1] = 1; }",
	  "[bounds] line 0: a write 4 bytes before C" },
	{ "pocl", "__kernel void k(__global float *A, __global float *C, int n) {\n  if (get_global_id(0) < n) A[get_global_id(0)] = 7; }",
	  "the input A was written to" },
	{ "pocl", "__kernel void k(__global const float *A, __global float *C, int n) {\n  C[0] = nothing; }", "[compile] line 2: error:" },
	{ "rusticl", "__kernel void k(__global const float *A, __global float *C, int n) {\n  C[0] = nothing; }", "[compile]" },
	{ "oclgrind", "__kernel void k(__global const float *A, __global float *C, int n) {\n  C[0] = nothing; }", "[compile] line 2: error:" },
	{ "pocl", "__kernel void other(__global const float *A, __global float *C, int n) { C[0] = 1; }", "clCreateKernel(\"k\")" },
	{ "pocl", "__kernel void k(__global const float *A, __global float *C) { C[0] = 1; }", "takes 2 arguments" },
	{ "oclgrind", "__kernel void k(__global const float *A, __global float *C, int n) {\n\n  C[get_global_id(0)] = 1; }", "[bounds] line 3:" },
	{ "oclgrind", "__kernel void k(__global const float *A, __global float *C, int n) {\n  if (get_global_id(0) < n)\n  C[get_global_id(0)] = A[get_global_id(0) + 1]; }",
	  "[bounds] line 3:" },
	{ "oclgrind",
	  "__kernel void k(__global const float *A, __global float *C, int n) {\n  __local float s[32];\n  int l = get_local_id(0);\n"
	  "  s[l] = A[l];\n  C[l] = s[31 - l]; }",
	  "[race] line" },
	{ "oclgrind", "__kernel void k(__global const float *A, __global float *C, int n) {\n  C[0] = get_global_id(0); }", "[race] line 2:" },
	{ "oclgrind",
	  "__kernel void k(__global const float *A, __global float *C, int n) {\n  __local float s[32];\n  int l = get_local_id(0);\n"
	  "  if (l != 5) s[l] = A[l];\n  barrier(CLK_LOCAL_MEM_FENCE);\n  if (get_group_id(0) == 0) C[l] = s[31 - l] > 2 ? 1 : 2; }",
	  "[uninitialised] line 6:" },
	{ "oclgrind",
	  "__kernel void k(__global const float *A, __global float *C, __global const float *T, int n) {\n"
	  "  if (get_global_id(0) < n)\n    C[get_global_id(0)] = T[get_global_id(0)]; }",
	  "[uninitialised] line 3:" },
	{ "oclgrind",
	  "__kernel void k(__global const float *A, __global float *C, int n) {\n  int l = get_local_id(0);\n"
	  "  if (l < 16)\n    barrier(CLK_LOCAL_MEM_FENCE);\n  if (get_group_id(0) == 0) C[l] = 1; }",
	  "[barrier]" },
};

static void test_wrong(void **state)
{
	(void)state;
	for (size_t i = 0; i < HEDDLE_COUNT(wrong); i++) {
		const heddle_runner *r = runner("opencl-cpu", wrong[i].driver);
		if (!here(r))
			continue;
		fixture *f = fixture_new("opencl", "cpu", wrong[i].source);
		if (strstr(wrong[i].source, "*T"))
			add_launch(f, "k", "A", "C", "T", "#N", NULL);
		else
			add_launch(f, "k", "A", "C", "#N", NULL);
		outcome o = go(f, r);
		expect(&o, HEDDLE_FAIL, wrong[i].found);
		fixture_free(f);
	}
}

/* The same kernel with its barrier is right: the checker's findings above are no habit. */
static void test_barrier_is_right(void **state)
{
	(void)state;
	for (size_t i = 0; i < HEDDLE_COUNT(cpu_names); i++) {
		const heddle_runner *r = runner("opencl-cpu", cpu_names[i]);
		if (!here(r))
			continue;
		fixture *f = fixture_new("opencl", "cpu",
					 "__kernel void k(__global const float *A, __global float *C, int n) {\n"
					 "  __local float s[32]; int l = get_local_id(0); int i = get_global_id(0);\n"
					 "  s[l] = i < n ? A[i] : 0.0f; barrier(CLK_LOCAL_MEM_FENCE);\n"
					 "  if (i < n) C[i] = s[31 - l]; }");
		add_launch(f, "k", "A", "C", "#N", NULL);
		outcome o = go(f, r);
		expect(&o, HEDDLE_PASS, NULL);
		assert_true(f->c[0] == 31 && f->c[31] == 0 && f->c[40] == 55 && f->c[99] == 0);
		fixture_free(f);
	}
}

/* A device without float64 cannot take the text; that says nothing against it. */
static void test_float64(void **state)
{
	(void)state;
	const heddle_runner *r = runner("opencl-cpu", "rusticl");
	if (!here(r))
		return;
	fixture *f = fixture_new("opencl", "cpu",
				 "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
				 "__kernel void k(__global const float *A, __global float *C, int n) { double x = A[0]; C[0] = x; }");
	add_launch(f, "k", "A", "C", "#N", NULL);
	outcome o = go(f, r);
	expect(&o, HEDDLE_UNSUPPORTED, "needs float64");
	fixture_free(f);
}

static void test_limits(void **state)
{
	(void)state;
	const heddle_runner *r = runner("opencl-cpu", "pocl");
	if (!here(r))
		return;
	fixture *f = fixture_new("opencl", "cpu", "__kernel void k(__global const float *A, __global float *C, int n) {}");
	add_launch(f, "k", "A", "C", "#N", NULL);
	f->launch[0].block[0] = 1 << 20;
	outcome o = go(f, r);
	expect(&o, HEDDLE_FAIL, "[limit]");
	f->launch[0].block[0] = 32;
	f->launch[0].grid[0] = "0"; /* an empty launch does nothing */
	f->manifest.n_launch = 1;
	o = go(f, r);
	expect(&o, HEDDLE_PASS, NULL);
	f->run.device = "no such device";
	o = go(f, r);
	expect(&o, HEDDLE_MISSING, "no such device");
	fixture_free(f);
}

/* ---- compile ------------------------------------------------------------------------------------------------------------------ */

static const char cuda_right[] = "extern \"C\" __global__ void k(const float *A, float *C, int n)\n"
				 "{ __shared__ float s[64]; s[threadIdx.x] = A[threadIdx.x]; __syncthreads();\n"
				 "  if (threadIdx.x < n) C[threadIdx.x] = expf(s[31 - threadIdx.x]); }\n";
/* A subscript that is not constant keeps an array in memory. */
static const char cuda_stack[] = "extern \"C\" __global__ void k(const float *A, float *C, int n)\n"
				 "{ float r[999]; for (int i = 0; i < n; i++) r[i] = A[i * n]; C[threadIdx.x] = r[n & 63]; }\n";
static const char cuda_trigonometry[] = "extern \"C\" __global__ void k(const float *A, float *C, int n)\n"
					"{ C[threadIdx.x] = (float)sin((double)A[threadIdx.x]) + j0f(A[threadIdx.x]); }\n";
static const char cuda_error[] = "extern \"C\" __global__ void k(const float *A, float *C, int n)\n"
				 "{\n  C[0] = nothing; }\n";

static void compile_case(const char *name, const char *backend, const char *source, const char *arch, int verdict,
			 const char *text)
{
	const heddle_runner *r = runner("compile", name);
	if (!here(r))
		return;
	fixture *f = fixture_new(backend, NULL, source);
	add_launch(f, "k", "A", "C", "#N", NULL);
	f->run.device = arch;
	outcome o = go(f, r);
	expect(&o, verdict, text);
	fixture_free(f);
}

static void test_compile_cuda(void **state)
{
	(void)state;
	compile_case("nvrtc", "cuda", cuda_right, "sm_75,sm_80,sm_90a,sm_120", HEDDLE_PASS, "for sm_75, sm_80, sm_90a, sm_120: ");
	compile_case("nvrtc", "cuda", cuda_stack, "sm_90", HEDDLE_FAIL, "stack frame");
	compile_case("nvrtc", "cuda", cuda_trigonometry, "sm_75,sm_90", HEDDLE_PASS, " bytes of stack");
	compile_case("nvrtc", "cuda", cuda_error, "sm_90", HEDDLE_FAIL, "[compile] line 3: error");
	compile_case("nvrtc", "cuda", cuda_right, "gfx942", HEDDLE_UNSUPPORTED, "does not know gfx942");
	compile_case("nvrtc", "cuda", "template <int V> __global__ void f(float *C) { C[0] = V; }\n", "sm_90", HEDDLE_FAIL,
		     "[compile]"); /* there is no k */
}

static void test_compile_hip(void **state)
{
	(void)state;
	compile_case("clang-amd", "hip", cuda_right, "gfx90a,gfx942,gfx1100,gfx1201", HEDDLE_PASS, "256 bytes of shared memory");
	compile_case("clang-amd", "hip", cuda_stack, "gfx942", HEDDLE_FAIL, "stack frame");
	compile_case("clang-amd", "hip", cuda_error, "gfx942", HEDDLE_FAIL, "[compile] line 3: error");
	compile_case("hiprtc", "hip", cuda_right, "gfx90a", HEDDLE_PASS, "256 bytes of shared memory");
	compile_case("hiprtc", "hip", cuda_stack, "gfx90a", HEDDLE_FAIL, "stack frame");
	compile_case("hiprtc", "hip", cuda_error, "gfx90a", HEDDLE_FAIL, "[compile] line 3: error");
}

static void test_compile_opencl(void **state)
{
	(void)state;
	compile_case("spirv", "opencl", right, NULL, HEDDLE_PASS, NULL);
	compile_case("spirv", "opencl", "__kernel void k(__global float *C)\n{\n  C[0] = nothing; }\n", NULL, HEDDLE_FAIL,
		     "[compile] line 3: error");
}

/* A device that is not there is missing, never passed. */
static void test_device(void **state)
{
	(void)state;
	const char *names[] = { "cuda", "hip", "opencl" };
	for (size_t i = 0; i < HEDDLE_COUNT(names); i++) {
		const heddle_runner *r = runner("device", names[i]);
		if (here(r))
			continue;
		fixture *f = fixture_new(names[i], NULL, cuda_right);
		add_launch(f, "k", "A", "C", "#N", NULL);
		outcome o = go(f, r);
		expect(&o, HEDDLE_MISSING, NULL);
		fixture_free(f);
	}
}

/* The driver code against a stand-in for the driver: order of calls, arguments, guards, errors, dynamic shared memory. */
static const char cuda_launches[] =
	"extern \"C\" __global__ void scale(const float *A, float *T, float factor, int n) {}\n"
	"extern \"C\" __global__ void add(const float *T, const float *B, float *C, int n) {}\n"
	"extern \"C\" __global__ void outside(const float *A, float *C, int n) {}\n"
	"extern \"C\" __global__ void fault(const float *A, float *C, int n) {}\n"
	"extern \"C\" __global__ void big(const float *A, float *C, int n) {}\n"
	"extern \"C\" __global__ void lost(const float *A, float *C, int n) {}\n";

static void stand_in_case(const char *kernel, const char *shared, int verdict, const char *text)
{
	fixture *f = fixture_new("cuda", NULL, cuda_launches);
	if (kernel) {
		add_launch(f, kernel, "A", "C", "#N", NULL);
		f->launch[0].dynamic_shared_bytes = shared;
	} else {
		add_launch(f, "scale", "A", "T", "factor", "#N", NULL);
		add_launch(f, "add", "T", "B", "C", "#N", NULL);
		f->run.repeat = 2;
		f->run.misalign = 1;
	}
	outcome o = go(f, runner("device", "cuda"));
	expect(&o, verdict, text);
	if (!kernel)
		check_sum(f);
	fixture_free(f);
}

static void test_driver_calls(void **state)
{
	(void)state;
	heddle_ctx *ctx = heddle_ctx_new();
	char folder[512], library[600];
	assert_int_equal(heddle_dir_temporary(ctx, folder), 0);
	snprintf(library, sizeof(library), "%s/libcuda.so", folder);
	heddle_process cc = { .argv = (const char *const[]){ "cc", "-shared", "-fPIC", "-o", library,
							     HEDDLE_SOURCE_DIR "/tests/fake/cuda_driver.c", NULL } };
	if (!here(runner("compile", "nvrtc")))
		skip();
	assert_int_equal(heddle_process_run(ctx, &cc), 0);
	if (cc.status != 0)
		fail_msg("%s", heddle_text_str(&cc.error));
	heddle_process_free(&cc);
	setenv("HEDDLE_LIBCUDA", library, 1);
	assert_true(here(runner("device", "cuda")));
	stand_in_case(NULL, NULL, HEDDLE_PASS, "ran on Stand-in (driver 13000)\nresources -1 -1 -1 -1\nseconds 1\nseconds 1\n");
	stand_in_case("outside", "0", HEDDLE_FAIL, "[bounds] line 0: a write 0 bytes after the last element of C");
	stand_in_case("fault", "0", HEDDLE_FAIL, "[bounds] line 0: cuCtxSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS (700)");
	stand_in_case("big", "64 * 1024", HEDDLE_PASS, NULL);
	stand_in_case("big", "228 * 1024", HEDDLE_FAIL, "[limit]");
	stand_in_case("lost", "0", -1, "cuModuleGetFunction(\"lost\")");
	unsetenv("HEDDLE_LIBCUDA");
	heddle_dir_remove(folder);
	heddle_ctx_free(ctx);
}

/* ---- a descriptor's own commands ------------------------------------------------------------------------------------------------ */

/* The simulator of the test: C = A, if the sizes are those of the run. */
static const char simulator[] =
	"#!/bin/sh\n"
	"grep -q '\"N\": *100' \"$2/manifest.json\" || { echo \"error: sizes\"; exit 1; }\n"
	"grep -q 'broken' \"$1\" && { echo \"$1:7:1: error: broken\"; exit 1; }\n"
	"grep -q 'hang' \"$1\" && sleep 30\n"
	"cp \"$2/A.npy\" \"$2/C.npy\"\n";

static void command_case(const char *folder, const char *level, const char *source, int verdict, const char *text)
{
	fixture *f = fixture_new("opencl", "mychip", source);
	heddle_ctx_add_path(f->ctx, folder);
	add_launch(f, "k", "A", "C", "#N", NULL);
	f->run.timeout = 2;
	outcome o = go(f, runner(level, "command"));
	expect(&o, verdict, text);
	if (verdict == HEDDLE_PASS && strcmp(level, "device") == 0)
		assert_true(f->c[0] == 0 && f->c[99] == 99);
	fixture_free(f);
}

static void test_commands(void **state)
{
	(void)state;
	heddle_ctx *ctx = heddle_ctx_new();
	char folder[512], path[600], text[3000];
	assert_int_equal(heddle_dir_temporary(ctx, folder), 0);
	snprintf(path, sizeof(path), "%s/simulate", folder);
	assert_int_equal(heddle_file_write(ctx, path, simulator, strlen(simulator)), 0);
	int n = snprintf(text, sizeof(text),
			 "name: mychip\ninherits: cpu\ntitle: My chip\n"
			 "compiler: [cc, -x, c, -fsyntax-only, \"-D__kernel=\", \"-D__global=\", \"{source}\"]\n"
			 "runner: [sh, %s, \"{source}\", \"{output}\"]\n",
			 path);
	snprintf(path, sizeof(path), "%s/mychip.yaml", folder);
	assert_int_equal(heddle_file_write(ctx, path, text, (size_t)n), 0);
	command_case(folder, "compile", "__kernel void k(__global float *C) { C[0] = 1; }\n", HEDDLE_PASS, "cc");
	command_case(folder, "compile", "__kernel void k(__global float *C)\n{ C[0] = nothing; }\n", HEDDLE_FAIL,
		     "[compile] line 2: error:");
	command_case(folder, "device", "right", HEDDLE_PASS, NULL);
	command_case(folder, "device", "broken", HEDDLE_FAIL, "[crash] line 7: error: broken");
	command_case(folder, "device", "hang", HEDDLE_FAIL, "[timeout]");

	fixture *f = fixture_new("opencl", "cpu", "x");
	outcome o = go(f, runner("device", "command"));
	expect(&o, HEDDLE_MISSING, "names no command of its own");
	fixture_free(f);
	heddle_dir_remove(folder);
	heddle_ctx_free(ctx);
}

/* ---- processes ------------------------------------------------------------------------------------------------------------------ */

static void test_process(void **state)
{
	(void)state;
	heddle_ctx *ctx = heddle_ctx_new();
	heddle_process p = { .argv = (const char *const[]){ "sh", "-c", "cat; echo $WORD; echo oops >&2; exit 3", NULL },
			     .environment = (const char *const[]){ "WORD=hello", NULL },
			     .input = "in ",
			     .input_length = 3 };
	assert_int_equal(heddle_process_run(ctx, &p), 0);
	assert_string_equal(heddle_text_str(&p.output), "in hello\n");
	assert_string_equal(heddle_text_str(&p.error), "oops\n");
	assert_int_equal(p.status, 3);
	heddle_process_free(&p);

	heddle_process slow = { .argv = (const char *const[]){ "sh", "-c", "sleep 20 & sleep 20", NULL }, .timeout = 0.2 };
	double begin = heddle_now();
	assert_int_equal(heddle_process_run(ctx, &slow), 0);
	assert_true(slow.timed_out && heddle_now() - begin < 5);
	heddle_process_free(&slow);

	heddle_process crash = { .argv = (const char *const[]){ "sh", "-c", "kill -SEGV $$", NULL } };
	assert_int_equal(heddle_process_run(ctx, &crash), 0);
	assert_int_equal(crash.signal, 11);
	heddle_process_free(&crash);

	heddle_process none = { .argv = (const char *const[]){ "heddle-no-such-command", NULL } };
	assert_int_equal(heddle_process_run(ctx, &none), -1);
	assert_int_equal(heddle_diagnostics(ctx)->code, 801);
	heddle_process_free(&none);
	heddle_ctx_free(ctx);
}

/* The rows of drivers.h say of each driver and compiler what it says itself. */
static void rows(void **state)
{
	(void)state;
	for (const heddle_driver *const *d = heddle_drivers; *d; d++) {
		const heddle_runner *found = NULL;
		for (const heddle_runner *const *r = heddle_runners; *r; r++)
			if (!strcmp((*r)->level, (*d)->level) && !strcmp((*r)->name, (*d)->name))
				found = *r;
		assert_non_null(found);
		assert_string_equal(found->backend, (*d)->backend);
		assert_int_equal(found->simulator, (*d)->simulator);
		assert_true(found->slow || !found->simulator);
	}
	for (const heddle_compiler *const *c = heddle_compilers; *c; c++) {
		const heddle_runner *found = runner("compile", (*c)->name);
		assert_non_null(found);
		assert_string_equal(found->backend, (*c)->backend);
	}
}

/* The micro-benchmarks in the language of every driver, and of a dialect that has none: all four kernels, as the compilers that
 * are here take them. */
static void probes(void **state)
{
	(void)state;
	static const char *const kernels[] = {"probe_launch", "probe_fma", "probe_read", "probe_chase"};
	heddle_ctx *ctx = heddle_ctx_new();
	heddle_arena *arena = heddle_arena_new();
	heddle_ctx_add_path(ctx, HEDDLE_SOURCE_DIR "/tests/accelerator");
	const char *const *names = heddle_dialect_names(ctx);
	int n = 0;
	for (; names[n]; n++)
		for (int processor = 0; processor < 2; processor++) {
			const heddle_descriptor *descriptor = heddle_descriptor_find(ctx, processor ? "cpu" : "gpu");
			heddle_manifest *m;
			const char *source = heddle_probe_source(ctx, arena, names[n], descriptor, &m);
			if (!source)
				fail_msg("%s: %s", names[n], heddle_ctx_messages(ctx));
			assert_int_equal(m->n_launch, HEDDLE_COUNT(kernels));
			for (size_t k = 0; k < HEDDLE_COUNT(kernels); k++) {
				assert_string_equal(m->launch[k].kernel, kernels[k]);
				assert_non_null(strstr(source, kernels[k]));
			}
			for (const heddle_runner *const *r = heddle_runners; *r; r++) {
				if (strcmp((*r)->level, "compile") || strcmp((*r)->backend, names[n]) || !here(*r))
					continue;
				heddle_run run = {.arena = arena, .manifest = m, .source = source, .source_path = "probe"};
				assert_int_equal((*r)->run(ctx, &run), 0);
				if (run.verdict == HEDDLE_FAIL)
					fail_msg("%s: %s\n%s", (*r)->name, run.message, source);
			}
			heddle_manifest_free(m);
		}
	assert_true(n >= 4);
	heddle_arena_free(arena);
	heddle_ctx_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows),
		cmocka_unit_test(probes),
		cmocka_unit_test(test_process),
		cmocka_unit_test(test_right),
		cmocka_unit_test(test_misalign_without_offsets),
		cmocka_unit_test(test_barrier_is_right),
		cmocka_unit_test(test_wrong),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_float64),
		cmocka_unit_test(test_compile_opencl),
		cmocka_unit_test(test_compile_hip),
		cmocka_unit_test(test_compile_cuda),
		cmocka_unit_test(test_device),
		cmocka_unit_test(test_driver_calls),
		cmocka_unit_test(test_commands),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
