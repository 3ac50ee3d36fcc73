/* The emulator: right kernels pass with the right numbers, each fault is found at its line.
 * SPDX-License-Identifier: MIT
 */
#include "harness/emulate.h"
#include "harness/tensor.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const heddle_runner *emulator(const char *backend)
{
	for (const heddle_runner *const *r = heddle_runners; *r; r++)
		if (!strcmp((*r)->level, "emulate") && !strcmp((*r)->backend, backend))
			return *r;
	fail_msg("no emulator for %s", backend);
	return NULL;
}

/* One case: a kernel `k` over A (float32[N], input), C (float32[M], output), optionally t (float32[N], temporary). */
typedef struct emu_case {
	const char *name, *backend;
	int warp, block;
	const char *grid;
	int64_t n, m;
	bool temporary;
	bool gcc; /* g++ only: clang++ does not check the alignment of structures that it copies */
	const char *kernel, *define; /* NULL: "k", none */
	const char *second; /* a second launch of this kernel, same arguments; NULL: none */
	const char *dynamic; /* bytes; NULL: 0 */
	const char *source;
	heddle_verdict verdict;
	const char *kind; /* of a finding that must be there; NULL: none may be */
	int line;
	int other; /* or at this line: a race may show at either end; 0: none */
	const char *text; /* part of its text, or of the message when unsupported */
	float (*expect)(const float *a, int64_t n, int64_t i); /* C[i], when it passes */
} emu_case;

static float twice(const float *a, int64_t n, int64_t i)
{
	(void)n;
	return 2 * a[i];
}

static float same(const float *a, int64_t n, int64_t i)
{
	(void)n;
	return a[i];
}

static float reversed(const float *a, int64_t n, int64_t i)
{
	return a[n - 1 - i];
}

static float sum_of_256(const float *a, int64_t n, int64_t i)
{
	float sum = 0;
	for (int64_t k = 256 * i; k < 256 * (i + 1) && k < n; k++)
		sum += a[k];
	return sum;
}

static float sum_of_all(const float *a, int64_t n, int64_t i)
{
	(void)i;
	float sum = 0;
	for (int64_t k = 0; k < n; k++)
		sum += a[k];
	return sum;
}

#define SIGNATURE "extern \"C\" __global__ void k(const float *__restrict__ A, float *__restrict__ C, int N)\n" /* line 1 */

#define REDUCE(shuffle)                                                                                                \
	SIGNATURE "{\n"                                                                                                \
		  "	__shared__ float part[256 / warpSize];\n"                                                      \
		  "	int i = blockIdx.x * blockDim.x + threadIdx.x;\n"                                              \
		  "	float v = i < N ? A[i] : 0.f;\n"                                                               \
		  "	for (int o = warpSize / 2; o > 0; o /= 2)\n"                                                   \
		  "		v += " shuffle ";\n"                                                                   \
		  "	if (threadIdx.x % warpSize == 0) part[threadIdx.x / warpSize] = v;\n"                          \
		  "	__syncthreads();\n"                                                                            \
		  "	if (threadIdx.x == 0) {\n"                                                                     \
		  "		float s = 0.f;\n"                                                                      \
		  "		for (int w = 0; w < 256 / warpSize; w++) s += part[w];\n"                              \
		  "		C[blockIdx.x] = s;\n"                                                                  \
		  "	}\n"                                                                                           \
		  "}\n"

static const emu_case cases[] = {
	{.name = "vector", .backend = "cuda", .warp = 32, .block = 64, .grid = "(N+63)/64", .n = 200, .m = 200, .expect = twice,
	 .source = "#include <cuda_runtime.h>\n" SIGNATURE
		   "{\n	int i = blockIdx.x * blockDim.x + threadIdx.x;\n	if (i < N)\n		C[i] = 2.f * A[i];\n}\n"
		   "#ifndef __CUDACC_RTC__\nint host() { k<<<1, 64>>>(0, 0, 0); asm(\"nonsense\"); return 0; }\n#endif\n"},
	{.name = "host part", .backend = "cuda", .warp = 32, .block = 64, .grid = "(N+63)/64", .n = 100, .m = 100, .expect = twice,
	 .source = SIGNATURE "{\n	int i = blockIdx.x * blockDim.x + threadIdx.x;\n	if (i < N)\n		C[i] = 2.f * A[i];\n}\n"
		   "static void check(cudaError_t e) { if (e) throw cudaGetErrorString(e); }\n"
		   "int main()\n{\n	k<<<dim3(4), 64>>>(0, 0, 0);\n	check(cudaDeviceSynchronize());\n}\n"},
	{.name = "shuffles at 32", .backend = "cuda", .warp = 32, .block = 256, .grid = "(N+255)/256", .n = 700, .m = 3,
	 .expect = sum_of_256, .source = REDUCE("__shfl_down_sync(0xffffffffu, v, o)")},
	{.name = "shuffles at 64", .backend = "hip", .warp = 64, .block = 256, .grid = "(N+255)/256", .n = 700, .m = 3,
	 .expect = sum_of_256, .source = "#include <hip/hip_runtime.h>\n" REDUCE("__shfl_xor(v, o)")},
	{.name = "hip at 32", .backend = "hip", .warp = 32, .block = 256, .grid = "(N+255)/256", .n = 512, .m = 2,
	 .expect = sum_of_256, .source = REDUCE("__shfl_down(v, o)")},
	{.name = "dynamic shared", .backend = "cuda", .warp = 32, .block = 128, .grid = "1", .n = 128, .m = 128, .dynamic = "4*N",
	 .expect = reversed,
	 .source = SIGNATURE "{\n	extern __shared__ __align__(16) float s[];\n	s[threadIdx.x] = A[threadIdx.x];\n"
			     "	__syncthreads();\n	C[threadIdx.x] = s[N - 1 - threadIdx.x];\n}\n"},
	{.name = "template and vectors", .backend = "cuda", .warp = 32, .block = 32, .grid = "1", .n = 128, .m = 128, .expect = twice,
	 .source = "template <int V> __device__ __forceinline__ void move(const float *a, float *c)\n{\n"
		   "	__shared__ float4 s[32];\n"
		   "	s[threadIdx.x] = *reinterpret_cast<const float4 *>(a + V * threadIdx.x);\n	__syncthreads();\n"
		   "	float4 v = s[threadIdx.x];\n	v.x *= 2, v.y *= 2, v.z *= 2, v.w *= 2;\n"
		   "	*reinterpret_cast<float4 *>(c + V * threadIdx.x) = v;\n}\n" SIGNATURE "{ move<4>(A, C); }\n"},
	{.name = "template instance", .backend = "cuda", .warp = 32, .block = 32, .grid = "1", .n = 32, .m = 32, .expect = twice,
	 .kernel = "mine::k<float, 1>", .define = "-DFACTOR=2",
	 .source = "namespace mine {\ntemplate <class T, int F> __global__ void k(const T *A, T *C, int N)\n{\n"
		   "	__shared__ T s[32];\n	s[threadIdx.x] = A[threadIdx.x];\n	C[threadIdx.x] = F * FACTOR * s[threadIdx.x];\n}\n}\n"},
	{.name = "half", .backend = "cuda", .warp = 32, .block = 64, .grid = "1", .n = 64, .m = 64, .expect = twice,
	 .source = "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n" SIGNATURE
		   "{\n	__shared__ __half s[64];\n	s[threadIdx.x] = __float2half(A[threadIdx.x]);\n	__syncthreads();\n"
		   "	C[threadIdx.x] = __half2float(__hadd(s[threadIdx.x], s[threadIdx.x]));\n"
		   "	if (__bfloat162float(__float2bfloat16(1.00390625f)) != 1.f || __half2float(65519.9f) != 65504.f) C[0] = 7;\n}\n"},
	{.name = "constructors of pairs", .backend = "cuda", .warp = 32, .block = 64, .grid = "1", .n = 64, .m = 64, .expect = same,
	 .source = "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n" SIGNATURE
		   "{\n	__shared__ half2 s[64];\n	half2 h = half2(1.0f, 2.0f), g = __half2(h.y, h.x), e;\n"
		   "	e = s[threadIdx.x] = {h.x, g.x};\n	nv_bfloat162 b(__float2bfloat16(3.f), __float2bfloat16(4.f));\n"
		   "	bool fine = (float)h.y == 2 && (float)g.x == 2 && (float)e.x == 1 && (float)e.y == 2 && (float)b.y == 4;\n"
		   "	C[threadIdx.x] = fine ? A[threadIdx.x] : -1.f;\n}\n"},
	{.name = "constructors of vectors", .backend = "hip", .warp = 64, .block = 64, .grid = "1", .n = 64, .m = 64, .expect = same,
	 .source = "#include <hip/hip_runtime.h>\n#include <hip/hip_fp16.h>\n" SIGNATURE
		   "{\n	__shared__ float4 s[64];\n	float4 f = float4(1, 2, 3, 4), g = {1, 2, 3, 4};\n	float2 q(1, 2), z(3.f);\n"
		   "	union { float4 v; float f[4]; } u;\n	s[threadIdx.x] = f;\n	u.v = (float4){5, 6, 7, 8};\n	half2 h(q.x, q.y);\n"
		   "	bool fine = s[threadIdx.x].w == 4 && u.f[3] == 8 && z.y == 3 && (q + z).x == 4 && g.z == 3 && (float)h.y == 2;\n"
		   "	C[threadIdx.x] = fine ? A[threadIdx.x] : -1.f;\n}\n"},
	{.name = "atomics", .backend = "cuda", .warp = 32, .block = 64, .grid = "(N+63)/64", .n = 256, .m = 1, .second = "zero",
	 .expect = sum_of_all,
	 .source = SIGNATURE "{\n	__shared__ float s;\n	if (threadIdx.x == 0) s = 0;\n	__syncthreads();\n"
			     "	atomicAdd(&s, A[blockIdx.x * 64 + threadIdx.x]);\n	__syncthreads();\n"
			     "	if (threadIdx.x == 0) atomicAdd(C, s);\n}\n"
			     "__global__ void zero(const float *A, float *C, int N) { if (blockIdx.x + threadIdx.x == 0) *C = 0; }\n"},
	{.name = "last block", .backend = "cuda", .warp = 32, .block = 64, .grid = "(N+63)/64", .n = 256, .m = 1, .temporary = true,
	 .expect = sum_of_all,
	 .source = "__device__ unsigned arrived;\n"
		   "extern \"C\" __global__ void k(const float *A, float *C, float *t, int N)\n{\n	__shared__ bool last;\n"
		   "	__shared__ float s;\n	if (threadIdx.x == 0) s = 0;\n	__syncthreads();\n"
		   "	atomicAdd(&s, A[blockIdx.x * 64 + threadIdx.x]);\n	__syncthreads();\n	if (threadIdx.x == 0) {\n"
		   "		t[blockIdx.x] = s;\n		__threadfence();\n"
		   "		last = atomicAdd(&arrived, 1u) == gridDim.x - 1;\n	}\n	__syncthreads();\n"
		   "	if (last && threadIdx.x == 0) {\n		float v = 0;\n"
		   "		for (unsigned b = 0; b < gridDim.x; b++) v += t[b];\n		*C = v;\n	}\n}\n"},
	{.name = "votes", .backend = "cuda", .warp = 32, .block = 40, .grid = "1", .n = 40, .m = 40, .expect = same,
	 .source = SIGNATURE
		   "{\n	int t = threadIdx.x;\n	unsigned odd = __ballot_sync(0xffffffffu, t & 1);\n"
		   "	bool fine = odd == (t < 32 ? 0xaaaaaaaau : 0xaau);\n"
		   "	fine &= __any_sync(~0u, t == 3 || t == 35) && !__all_sync(~0u, t == 3);\n"
		   "	if (t & 1) fine &= __activemask() == odd;\n"
		   "	fine &= __syncthreads_count(t < 7) == 7 && __syncthreads_or(t == 39) && !__syncthreads_and(t);\n"
		   "	fine &= __shfl_sync(~0u, t, 1, 8) == t / 8 * 8 + 1 && __shfl_up_sync(~0u, t, 1) == (t % 32 ? t - 1 : t);\n"
		   "	C[t] = fine ? A[t] : -1.f;\n}\n"},
	{.name = "warp order", .backend = "cuda", .warp = 32, .block = 32, .grid = "1", .n = 32, .m = 32, .expect = reversed,
	 .source = SIGNATURE "{\n	__shared__ float s[32];\n	s[threadIdx.x] = A[threadIdx.x];\n	__syncwarp();\n"
			     "	C[threadIdx.x] = s[31 - threadIdx.x];\n}\n"},
	{.name = "mathematics", .backend = "cuda", .warp = 32, .block = 1, .grid = "1", .n = 1, .m = 1, .expect = same,
	 .source = SIGNATURE
		   "{\n	bool fine = true;\n#define NEAR(a, b) fine &= fabs((double)(a) - (double)(b)) <= 1e-12 * fabs((double)(b))\n"
		   "	NEAR(erfinv(0.5), 0.476936276204469873381); NEAR(erfcinv(1e-20), 6.60158062235514256);\n"
		   "	NEAR(erfinv(-0.1), -0.0888559904942576589); NEAR(normcdfinv(0.975), 1.959963984540054235525);\n"
		   "	NEAR(normcdf(1.0), 0.841344746068542949); NEAR(erfcx(10.0), 0.05614099274382258586);\n"
		   "	NEAR(erfcx(60.0), 0.009401854275176388588); NEAR(cyl_bessel_i0(2.0), 2.27958530233606727);\n"
		   "	NEAR(cyl_bessel_i1(-2.0), -1.59063685463732907); NEAR(cyl_bessel_i0(50.0), 2.932553783849336326654675e20);\n"
		   "	NEAR(rsqrt(4.0), 0.5); NEAR(rcbrt(8.0), 0.5); NEAR(sinpi(0.25), 0.707106781186547524);\n"
		   "	NEAR(cospi(1.0), -1.0); NEAR(cospi(7.25), -0.707106781186547524); NEAR(norm3d(1.0, 2.0, 2.0), 3.0);\n"
		   "	NEAR(rnorm4d(1.0, 1.0, 1.0, 1.0), 0.5); NEAR(rhypot(3.0, 4.0), 0.2); NEAR(fdividef(1.f, 4.f), 0.25);\n"
		   "	NEAR(__expf(1.f), expf(1.f)); NEAR(exp10f(2.f), 100); NEAR(fmaxf(1.f, NAN), 1.f); fine &= sinpi(3.0) == 0.0;\n"
		   "	fine &= __float2int_rn(2.5f) == 2 && __float2int_rz(-2.7f) == -2 && __float2int_rn(1e20f) == 2147483647;\n"
		   "	fine &= __popc(255u) == 8 && __clz(1) == 31 && __brev(1u) == 0x80000000u && __umulhi(1u << 31, 4u) == 2u;\n"
		   "	C[0] = fine ? A[0] : -1.f;\n}\n"},
	{.name = "declarations", .backend = "cuda", .warp = 32, .block = 64, .grid = "2", .n = 64, .m = 128, .expect = NULL,
	 .source = "#include <stdint.h>\n#include <stdio.h>\n#include <assert.h>\nnamespace mine {\n"
		   "__constant__ float weight[2] = {1.f, 2.f};\n__device__ int counter[4];\n"
		   "struct __align__(8) pair { float a; int b; };\n"
		   "static __device__ inline float exchange(float v)\n{\n	__shared__ struct { float x[64]; int y; } s;\n"
		   "	static __shared__ __align__(16) float z[8][8];\n	__shared__ pair q[64];\n	s.x[threadIdx.x] = v;\n"
		   "	z[threadIdx.x / 8][threadIdx.x % 8] = v;\n	q[threadIdx.x] = pair{v, 1};\n	__syncthreads();\n"
		   "	assert(z[threadIdx.x % 8][threadIdx.x / 8] >= -100.f);\n"
		   "	return s.x[63 - threadIdx.x] * q[63 - threadIdx.x].b;\n}\n"
		   "static __host__ __device__ __noinline__ float square(float v) { return v * v; }\n"
		   "void host(cudaStream_t s) { cudaStreamSynchronize(s); }\n}\n"
		   SIGNATURE "{\n	const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;\n"
		   "	uint3 t = threadIdx;\n	dim3 d = blockDim;\n	if (t.x == 0) atomicAdd(&mine::counter[blockIdx.x], 1);\n"
		   "	if (N < 0) printf(\"never seen\");\n	float local[4];\n	for (int k = 0; k < 4; k++) local[k] = k;\n"
		   "	C[i] = mine::exchange(A[t.x]) * mine::weight[blockIdx.x] * mine::square(1.f) + 0 * d.y * local[t.x & 3];\n}\n"},
	{.name = "cooperation between warps", .backend = "hip", .warp = 64, .block = 128, .grid = "1", .n = 128, .m = 128,
	 .expect = same,
	 .source = SIGNATURE "{\n	float v = A[threadIdx.x];\n	if (threadIdx.x % 64 < 20) {\n"
			     "		if (__popcll(__ballot(1)) != 20) v = -1;\n		v = __shfl(v, threadIdx.x % 64);\n	}\n"
			     "	if (__popcll(__ballot(1)) != 64) v = -2;\n	C[threadIdx.x] = v;\n}\n"},
	/* ---- faults ---- */
	{.name = "race", .backend = "cuda", .warp = 32, .block = 128, .grid = "1", .n = 128, .m = 128, .verdict = HEDDLE_FAIL,
	 .kind = "race", .line = 5, .other = 4, .text = "no barrier between, at my.cu:",
	 .source = SIGNATURE "{\n	__shared__ float s[128];\n	s[threadIdx.x] = A[threadIdx.x];\n"
			     "	C[threadIdx.x] = s[127 - threadIdx.x];\n}\n"},
	{.name = "race of a warp", .backend = "cuda", .warp = 32, .block = 32, .grid = "1", .n = 32, .m = 32,
	 .verdict = HEDDLE_FAIL, .kind = "race", .line = 5, .other = 4, .text = "shared s",
	 .source = SIGNATURE "{\n	__shared__ float s[32];\n	s[threadIdx.x] = A[threadIdx.x];\n"
			     "	C[threadIdx.x] = s[threadIdx.x ^ 1];\n}\n"},
	{.name = "race after reading", .backend = "cuda", .warp = 32, .block = 64, .grid = "1", .n = 64, .m = 64,
	 .verdict = HEDDLE_FAIL, .kind = "race", .line = 7, .other = 6, .text = "my.cu:",
	 .source = SIGNATURE "{\n	__shared__ float s[64];\n	s[threadIdx.x] = A[threadIdx.x];\n	__syncthreads();\n"
			     "	float v = s[63 - threadIdx.x];\n	s[threadIdx.x] = v;\n	C[threadIdx.x] = v;\n}\n"},
	{.name = "race between blocks", .backend = "cuda", .warp = 32, .block = 32, .grid = "4", .n = 32, .m = 32,
	 .verdict = HEDDLE_FAIL, .kind = "race", .line = 3, .text = "in the same launch",
	 .source = SIGNATURE "{\n	C[threadIdx.x] = A[threadIdx.x] + blockIdx.x;\n}\n"},
	{.name = "past the end", .backend = "cuda", .warp = 32, .block = 64, .grid = "(N+63)/64", .n = 100, .m = 100,
	 .verdict = HEDDLE_FAIL, .kind = "bounds", .line = 5, .text = "4 past the end of C",
	 .source = SIGNATURE "{\n	int i = blockIdx.x * blockDim.x + threadIdx.x;\n	if (i <= N)\n"
			     "		C[i] = 2.f;\n}\n"},
	{.name = "before the start", .backend = "cuda", .warp = 32, .block = 64, .grid = "1", .n = 64, .m = 64,
	 .verdict = HEDDLE_FAIL, .kind = "bounds", .line = 3, .text = "before the start of A",
	 .source = SIGNATURE "{\n	C[threadIdx.x] = A[(int)threadIdx.x - 1];\n}\n"},
	{.name = "far away", .backend = "cuda", .warp = 32, .block = 64, .grid = "1", .n = 64, .m = 64,
	 .verdict = HEDDLE_FAIL, .kind = "bounds", .line = 3, .text = "far from every array",
	 .source = SIGNATURE "{\n	C[threadIdx.x] = A[threadIdx.x * 1000000000000ll];\n}\n"},
	{.name = "shared bounds", .backend = "cuda", .warp = 32, .block = 64, .grid = "1", .n = 64, .m = 64,
	 .verdict = HEDDLE_FAIL, .kind = "bounds", .line = 5, .text = "past the end of shared s",
	 .source = SIGNATURE "{\n	__shared__ float s[64]; __shared__ float u[8];\n	float *p = s;\n	p[threadIdx.x + 1] = 1.f;\n"
			     "	if (threadIdx.x < 8) u[threadIdx.x] = 0;\n	__syncthreads();\n"
			     "	C[threadIdx.x] = A[threadIdx.x] + p[threadIdx.x / 2 + 1] + u[threadIdx.x & 7];\n}\n"},
	{.name = "subscript", .backend = "cuda", .warp = 32, .block = 64, .grid = "1", .n = 64, .m = 64,
	 .verdict = HEDDLE_FAIL, .kind = "bounds", .line = 5, .text = "subscript 8",
	 .source = SIGNATURE "{\n	float r[8];\n	for (int i = 0; i <= N / 8; i++)\n		r[i] = A[i];\n"
			     "	C[threadIdx.x] = r[threadIdx.x & 7];\n}\n"},
	{.name = "writes an input", .backend = "cuda", .warp = 32, .block = 64, .grid = "1", .n = 64, .m = 64,
	 .verdict = HEDDLE_FAIL, .kind = "bounds", .line = 3, .text = "which is an input",
	 .source = SIGNATURE "{\n	((float *)A)[threadIdx.x] = 0;\n	C[threadIdx.x] = 0;\n}\n"},
	{.name = "alignment", .gcc = true, .backend = "cuda", .warp = 32, .block = 8, .grid = "1", .n = 64, .m = 64,
	 .verdict = HEDDLE_FAIL, .kind = "bounds", .line = 3, .text = "multiple of 16",
	 .source = SIGNATURE "{\n	float4 v = *reinterpret_cast<const float4 *>(A + 1 + 4 * threadIdx.x);\n"
			     "	C[threadIdx.x] = v.x + v.w;\n}\n"},
	{.name = "alignment of a copy", .gcc = true, .backend = "cuda", .warp = 32, .block = 8, .grid = "1", .n = 64, .m = 64,
	 .verdict = HEDDLE_FAIL, .kind = "bounds", .line = 3, .text = "multiple of 16", /* g++ copies by an instruction that traps */
	 .source = SIGNATURE "{\n	reinterpret_cast<float4 *>(C)[threadIdx.x] = *reinterpret_cast<const float4 *>(A + 1 + 4 * threadIdx.x);\n"
			     "}\n"},
	{.name = "alignment of a pair", .backend = "cuda", .warp = 32, .block = 8, .grid = "1", .n = 64, .m = 64,
	 .verdict = HEDDLE_FAIL, .kind = "bounds", .line = 3, .text = "multiple of 8",
	 .source = SIGNATURE "{\n	reinterpret_cast<float2 *>(C)[threadIdx.x] = *reinterpret_cast<const float2 *>(A + 1 + 2 * threadIdx.x);\n"
			     "}\n"},
	{.name = "alignment of a load", .gcc = true, .backend = "cuda", .warp = 32, .block = 8, .grid = "1", .n = 64, .m = 64,
	 .verdict = HEDDLE_FAIL, .kind = "bounds", .line = 3, .text = "multiple of 16", /* in a function of the shim */
	 .source = SIGNATURE "{\n	uint4 v = __ldg(reinterpret_cast<const uint4 *>(A + 1) + threadIdx.x);\n"
			     "	C[threadIdx.x] = v.x + v.w;\n}\n"},
	{.name = "deep recursion", .backend = "cuda", .warp = 32, .block = 8, .grid = "1", .n = 8, .m = 8,
	 .verdict = HEDDLE_FAIL, .kind = "crash", .line = 2, .other = 3, .text = "its stack of 256 KiB is full",
	 .source = "__device__ __noinline__ int deep(int n)\n{\n	volatile int big[1000]; big[n & 511] = n;\n"
		   "	return n ? deep(n - 1) + big[n & 511] : 0;\n}\n" SIGNATURE "{\n	C[threadIdx.x] = A[threadIdx.x] + deep(1000);\n}\n"},
	{.name = "abort", .backend = "hip", .warp = 64, .block = 8, .grid = "1", .n = 8, .m = 8,
	 .verdict = HEDDLE_FAIL, .kind = "crash", .line = 4, .text = "abort()",
	 .source = SIGNATURE "{\n	if (threadIdx.x == 5)\n		abort();\n	C[threadIdx.x] = A[threadIdx.x];\n}\n"},
	{.name = "a trap in a condition", .backend = "hip", .warp = 64, .block = 8, .grid = "1", .n = 8, .m = 8,
	 .verdict = HEDDLE_FAIL, .kind = "crash", .line = 3, .text = "__trap()",
	 .source = SIGNATURE "{\n	threadIdx.x == 5 ? ::__trap() : (void)0;\n	C[threadIdx.x] = A[threadIdx.x];\n}\n"},
	{.name = "a trap of the compiler", .backend = "cuda", .warp = 32, .block = 8, .grid = "1", .n = 8, .m = 8,
	 .verdict = HEDDLE_FAIL, .kind = "crash", .line = 4, .text = "thread 5 of block 0",
	 .source = SIGNATURE "{\n	if (threadIdx.x == 5)\n		__builtin_trap();\n	C[threadIdx.x] = A[threadIdx.x];\n}\n"},
	{.name = "uninitialised shared", .backend = "cuda", .warp = 32, .block = 64, .grid = "2", .n = 64, .m = 128,
	 .verdict = HEDDLE_FAIL, .kind = "uninitialised", .line = 7, .text = "shared s",
	 .source = SIGNATURE "{\n	__shared__ float s[64];\n	int t = threadIdx.x;\n	if (t < 63 || blockIdx.x == 0)\n"
			     "		s[t] = A[t];\n	C[64 * blockIdx.x + t] = s[t];\n}\n"},
	{.name = "uninitialised output", .backend = "hip", .warp = 64, .block = 64, .grid = "1", .n = 64, .m = 64,
	 .verdict = HEDDLE_FAIL, .kind = "uninitialised", .line = 3, .text = "C[",
	 .source = SIGNATURE "{\n	C[threadIdx.x] += A[threadIdx.x];\n}\n"},
	{.name = "uninitialised workspace", .backend = "cuda", .warp = 32, .block = 64, .grid = "1", .n = 64, .m = 64,
	 .temporary = true, .verdict = HEDDLE_FAIL, .kind = "uninitialised", .line = 3, .text = "of t",
	 .source = "extern \"C\" __global__ void k(const float *A, float *C, float *t, int N)\n{\n"
		   "	C[threadIdx.x] = A[threadIdx.x] + t[threadIdx.x];\n}\n"},
	{.name = "some leave", .backend = "cuda", .warp = 32, .block = 64, .grid = "1", .n = 40, .m = 40,
	 .verdict = HEDDLE_FAIL, .kind = "barrier", .line = 5, .text = "has left the kernel",
	 .source = SIGNATURE "{\n	if (threadIdx.x >= N) return;\n	C[threadIdx.x] = A[threadIdx.x];\n"
			     "	__syncthreads();\n}\n"},
	{.name = "two barriers", .backend = "cuda", .warp = 32, .block = 64, .grid = "1", .n = 64, .m = 64,
	 .verdict = HEDDLE_FAIL, .kind = "barrier", .line = 4, .text = "waits at line 6",
	 .source = SIGNATURE "{\n	if (threadIdx.x < 32)\n		__syncthreads();\n	else\n		__syncthreads();\n"
			     "	C[threadIdx.x] = A[threadIdx.x];\n}\n"},
	{.name = "warp waits", .backend = "cuda", .warp = 32, .block = 32, .grid = "1", .n = 32, .m = 32,
	 .verdict = HEDDLE_FAIL, .kind = "barrier", .line = 5, .text = "__shfl_sync",
	 .source = SIGNATURE "{\n	float v = A[threadIdx.x];\n	if (threadIdx.x < 16)\n"
			     "		v = __shfl_sync(0xffffffffu, v, 0);\n	__syncthreads();\n	C[threadIdx.x] = v;\n}\n"},
	{.name = "lane without part", .backend = "hip", .warp = 64, .block = 64, .grid = "1", .n = 64, .m = 64,
	 .verdict = HEDDLE_FAIL, .kind = "uninitialised", .line = 5, .text = "does not take part",
	 .source = SIGNATURE "{\n	float v = A[threadIdx.x];\n	if (threadIdx.x < 16)\n		v = __shfl(v, 20);\n"
			     "	C[threadIdx.x] = v;\n}\n"},
	{.name = "mask of 32 at 64", .backend = "hip", .warp = 64, .block = 64, .grid = "1", .n = 64, .m = 64,
	 .verdict = HEDDLE_FAIL, .kind = "barrier", .line = 3, .text = "leaves it out",
	 .source = SIGNATURE "{\n	C[threadIdx.x] = __shfl_sync(0xffffffffu, A[threadIdx.x], 0);\n}\n"},
	{.name = "divided by zero", .backend = "cuda", .warp = 32, .block = 32, .grid = "1", .n = 32, .m = 32,
	 .verdict = HEDDLE_FAIL, .kind = "crash", .line = 3, .text = "division by zero",
	 .source = SIGNATURE "{\n	C[threadIdx.x] = A[7 / (N - 32)];\n}\n"},
	{.name = "assertion", .backend = "cuda", .warp = 32, .block = 32, .grid = "1", .n = 32, .m = 32,
	 .verdict = HEDDLE_FAIL, .kind = "crash", .line = 3, .text = "N > 32",
	 .source = SIGNATURE "{\n	assert(N > 32);\n	C[threadIdx.x] = A[threadIdx.x];\n}\n"},
	{.name = "parameter types", .backend = "cuda", .warp = 32, .block = 32, .grid = "1", .n = 32, .m = 32,
	 .verdict = HEDDLE_FAIL, .kind = "compile", .line = 0, .text = "parameter 3 of k is an integer of 8 bytes",
	 .source = "extern \"C\" __global__ void k(const float *A, float *C, long long N)\n{\n}\n"},
	{.name = "no such kernel", .backend = "cuda", .warp = 32, .block = 32, .grid = "1", .n = 32, .m = 32,
	 .verdict = HEDDLE_FAIL, .kind = "compile", .line = 0, .text = "launches 'k', which is not in the source",
	 .source = "extern \"C\" __global__ void kk(const float *A, float *C, long long N)\n{\n}\n"},
	{.name = "syntax", .backend = "cuda", .warp = 32, .block = 32, .grid = "1", .n = 32, .m = 32,
	 .verdict = HEDDLE_FAIL, .kind = "compile", .line = 3, .text = "expected",
	 .source = SIGNATURE "{\n	C[threadIdx.x] = A[threadIdx.x;\n}\n"},
	{.name = "assembly", .backend = "cuda", .warp = 32, .block = 32, .grid = "1", .n = 32, .m = 32,
	 .verdict = HEDDLE_UNSUPPORTED, .text = "inline assembly at my.cu:3",
	 .source = SIGNATURE "{\n	asm volatile(\"bar.sync 0;\");\n	C[threadIdx.x] = A[threadIdx.x];\n}\n"},
	{.name = "unknown header", .backend = "cuda", .warp = 32, .block = 32, .grid = "1", .n = 32, .m = 32,
	 .verdict = HEDDLE_UNSUPPORTED, .text = "header cub/cub.cuh at my.cu:1",
	 .source = "#include <cub/cub.cuh>\n" SIGNATURE "{\n}\n"},
	{.name = "unknown intrinsic", .backend = "cuda", .warp = 32, .block = 32, .grid = "1", .n = 32, .m = 32,
	 .verdict = HEDDLE_UNSUPPORTED, .text = "__vabsdiffu4 at my.cu:3",
	 .source = SIGNATURE "{\n	C[0] = __vabsdiffu4(1, 2);\n}\n"},
};

static const char *manifest_text(heddle_arena *arena, const emu_case *c)
{
	const char *arguments = c->temporary ? "[\"A\",\"C\",\"t\",{\"size\":\"N\",\"type\":\"int32\"}]"
					     : "[\"A\",\"C\",{\"size\":\"N\",\"type\":\"int32\"}]";
	heddle_text t = {0};
	heddle_text_printf(&t,
		"{\"schema\":\"heddle.manifest/1\",\"definition\":\"d\",\"backend\":\"%s\",\"arch\":\"any\",\"source\":\"my.cu\","
		"\"options\":{\"nvrtc\":[\"%s\"]},\"sizes\":{\"N\":%lld,\"M\":%lld},\"warp\":%d,\"workspace_bytes\":\"4*N\",\"arguments\":["
		"{\"name\":\"A\",\"type\":\"float32\",\"shape\":[\"N\"],\"align\":4,\"role\":\"input\"},"
		"{\"name\":\"C\",\"type\":\"float32\",\"shape\":[\"M\"],\"align\":4,\"role\":\"output\"}%s],\"launches\":[",
		c->backend, c->define ? c->define : "--fmad=true", (long long)c->n, (long long)c->m, c->warp,
		c->temporary ? ",{\"name\":\"t\",\"type\":\"float32\",\"shape\":[\"N\"],\"align\":4,\"role\":\"temporary\",\"offset\":0}"
			     : "");
	if (c->second)
		heddle_text_printf(&t, "{\"kernel\":\"%s\",\"grid\":[\"%s\",1,1],\"block\":[%d,1,1],\"dynamic_shared_bytes\":0,"
			"\"arguments\":%s},", c->second, c->grid, c->block, arguments);
	heddle_text_printf(&t, "{\"kernel\":\"%s\",\"grid\":[\"%s\",1,1],\"block\":[%d,1,1],\"dynamic_shared_bytes\":\"%s\","
		"\"arguments\":%s}]}\n", c->kernel ? c->kernel : "k", c->grid, c->block, c->dynamic ? c->dynamic : "0", arguments);
	const char *text = heddle_arena_strdup(arena, heddle_text_str(&t));
	heddle_text_free(&t);
	return text;
}

static void check_verdict(const emu_case *c, const heddle_run *run)
{
	if (run->verdict != c->verdict)
		fail_msg("%s: verdict %d, not %d: %s", c->name, run->verdict, c->verdict, run->message);
	if (c->verdict == HEDDLE_UNSUPPORTED) {
		if (!strstr(run->message, c->text))
			fail_msg("%s: message '%s'", c->name, run->message);
		assert_int_equal(run->n_finding, 0);
	}
	bool found = !c->kind;
	for (int i = 0; i < run->n_finding; i++) {
		const heddle_finding *f = &run->finding[i];
		found |= c->kind && !strcmp(f->kind, c->kind) && (f->line == c->line || (c->other && f->line == c->other)) && f->file && !strcmp(f->file, "my.cu") &&
			 strstr(f->text, c->text);
	}
	for (int i = 0; i < run->n_finding && !found; i++)
		print_error("%s:%d: %s: %s\n", run->finding[i].file, run->finding[i].line, run->finding[i].kind,
			    run->finding[i].text);
	if (!found)
		fail_msg("%s: no finding '%s' at line %d", c->name, c->kind, c->line);
}

static void run_case(const emu_case *c, int misalign, uint64_t seed)
{
	heddle_ctx *ctx = heddle_ctx_new();
	heddle_arena *arena = heddle_arena_new();
	if (c->gcc && strstr(heddle_emulate_compiler(arena), "clang")) {
		heddle_arena_free(arena);
		heddle_ctx_free(ctx);
		return;
	}
	const char *text = manifest_text(arena, c);
	heddle_manifest *m = heddle_manifest_parse(ctx, "test", text);
	if (!m)
		fail_msg("%s: %s%s", c->name, heddle_ctx_messages(ctx), text);
	heddle_array *a = heddle_array_new(HEDDLE_FLOAT32, 1, &c->n), *out = heddle_array_new(HEDDLE_FLOAT32, 1, &c->m);
	for (int64_t i = 0; i < c->n; i++)
		heddle_array_set(a, i, (long double)(i % 17 - 5));
	heddle_array *argument[3] = {a, out, NULL};
	heddle_run run = {.arena = arena, .manifest = m, .source = c->source, .source_path = "my.cu",
			  .size = (int64_t[]){c->n, c->m}, .argument = argument, .misalign = misalign, .seed = seed};
	const heddle_runner *runner = emulator(c->backend);
	if (runner->run(ctx, &run) < 0)
		fail_msg("%s: %s", c->name, heddle_ctx_messages(ctx));
	check_verdict(c, &run);
	for (int64_t i = 0; i < c->m && c->expect; i++) {
		float want = c->expect((const float *)(const void *)a->data, c->n, i), got = (float)heddle_array_get(out, i);
		if (memcmp(&want, &got, sizeof(want)))
			fail_msg("%s: C[%d] is %g, not %g", c->name, (int)i, (double)got, (double)want);
	}
	heddle_array_free(a);
	heddle_array_free(out);
	heddle_manifest_free(m);
	heddle_arena_free(arena);
	heddle_ctx_free(ctx);
}

static void test_cases(void **state)
{
	(void)state;
	const char *only = getenv("CASE");
	for (size_t i = 0; i < HEDDLE_COUNT(cases); i++)
		if (!only || !strcmp(only, cases[i].name))
			run_case(&cases[i], 0, i);
}

/* Other orders, and other addresses: the same verdicts. */
static void test_orders(void **state)
{
	(void)state;
	for (size_t i = 0; i < HEDDLE_COUNT(cases); i++)
		for (uint64_t seed = 100; seed < 103; seed++)
			if (strcmp(cases[i].name, "template and vectors"))
				run_case(&cases[i], (int)seed - 100, seed);
}

static void test_rewrite(void **state)
{
	(void)state;
	heddle_text out = {0};
	heddle_emulate_rewrite("/* __shared__ */ \"__shared__\"\n__global__ void k() { extern __shared__ float s[]; }\n"
			       "void host()\n{\n	k<<<1, 1>>>();\n}\nvoid kept() { f(1); }\n", &out);
	assert_string_equal(heddle_text_str(&out),
			    "/* __shared__ */ \"__shared__\"\n__global__ void k() {                   float  (*const s) "
			    "= heddle_emu_shared{}; }\n           \n \n               \n \nvoid kept() { f(1); }\n");
	heddle_text_free(&out);
}

int main(void)
{
	char cache[512];
	heddle_ctx *ctx = heddle_ctx_new();
	const char *why = NULL;
	if (!heddle_emulate_available(ctx, &why)) {
		fprintf(stderr, "skipped: %s\n", why);
		heddle_ctx_free(ctx);
		return 77;
	}
	/* An empty cache of our own: compiled in the first round, found in the second. */
	if (heddle_dir_temporary(ctx, cache) < 0)
		return 1;
	setenv("XDG_CACHE_HOME", cache, 1);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rewrite),
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_orders),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	heddle_dir_remove(cache);
	heddle_ctx_free(ctx);
	return failed;
}
