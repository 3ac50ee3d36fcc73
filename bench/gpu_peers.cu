/* What this GPU's own software reaches: device-to-device copies and cuBLAS, as one JSON document on standard output.
 *
 *	nvcc -O2 -o gpu_peers bench/gpu_peers.cu -lcublas && ./gpu_peers
 *
 * Times are medians of single runs between two events, one after the other on the same operands: small ones are in the L2
 * cache.  Exit code 4 without a GPU.
 * SPDX-License-Identifier: MIT
 */
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WARM_UP = 3, RUNS = 30, MISSING = 4 };

static void check(cudaError_t error, const char *what)
{
	if (error == cudaSuccess)
		return;
	fprintf(stderr, "gpu_peers: %s: %s\n", what, cudaGetErrorString(error));
	exit(1);
}

static void check_blas(cublasStatus_t status, const char *what)
{
	if (status == CUBLAS_STATUS_SUCCESS)
		return;
	fprintf(stderr, "gpu_peers: %s: cuBLAS status %d\n", what, (int)status);
	exit(1);
}

/* Values in [-1, 1) from a hash of the position: timing of matrix units depends on the data. */
__global__ void fill(unsigned short *data, size_t n, int bytes)
{
	size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
	if (i >= n)
		return;
	unsigned h = (unsigned)i * 2654435761u;
	h ^= h >> 15;
	h *= 2246822519u;
	float value = (float)(h >> 8) / 8388608.0f - 1.0f;
	if (bytes == 4)
		((float *)data)[i] = value;
	else /* float16 of about the same value: sign, exponent 13..14, random mantissa */
		data[i] = (unsigned short)((h & 0x8000u) | (13u + (h >> 31)) << 10 | (h >> 16 & 0x3ffu));
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

struct timer {
	cudaEvent_t start, stop;
};

static double median(double *seconds, int n)
{
	qsort(seconds, (size_t)n, sizeof(*seconds), ascending);
	return n % 2 ? seconds[n / 2] : 0.5 * (seconds[n / 2 - 1] + seconds[n / 2]);
}

static double stop(struct timer *timer)
{
	float milliseconds;
	check(cudaEventRecord(timer->stop), "event");
	check(cudaEventSynchronize(timer->stop), "event");
	check(cudaEventElapsedTime(&milliseconds, timer->start, timer->stop), "event");
	return milliseconds * 1e-3;
}

static void time_copy(struct timer *timer, size_t bytes, int last)
{
	void *from, *to;
	double seconds[RUNS];
	check(cudaMalloc(&from, bytes), "allocation");
	check(cudaMalloc(&to, bytes), "allocation");
	check(cudaMemset(from, 1, bytes), "memset");
	for (int i = -WARM_UP; i < RUNS; i++) {
		check(cudaEventRecord(timer->start), "event");
		check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice), "copy");
		double s = stop(timer);
		if (i >= 0)
			seconds[i] = s;
	}
	double s = median(seconds, RUNS);
	printf("    {\"bytes\": %zu, \"seconds\": %.9g, \"bytes_per_second\": %.6g}%s\n", bytes, s, 2.0 * (double)bytes / s,
	       last ? "" : ",");
	cudaFree(from);
	cudaFree(to);
}

struct gemm {
	const char *name;
	int half;	/* operands and result in float16, else float32 */
	cublasComputeType_t compute;
};

static const struct gemm gemms[] = {
	{"float32", 0, CUBLAS_COMPUTE_32F_PEDANTIC},
	{"tf32", 0, CUBLAS_COMPUTE_32F_FAST_TF32},
	{"float16", 1, CUBLAS_COMPUTE_32F},
};

/* Row-major C(M,N) = A(M,K) B(K,N) is column-major C' = B' A'. */
static void time_gemm(cublasHandle_t blas, struct timer *timer, const struct gemm *g, int m, int n, int k, int last)
{
	size_t bytes = g->half ? 2 : 4;
	size_t na = (size_t)m * k, nb = (size_t)k * n, nc = (size_t)m * n;
	unsigned short *a, *b, *c;
	double seconds[RUNS];
	float one = 1, zero = 0;
	cudaDataType type = g->half ? CUDA_R_16F : CUDA_R_32F;
	check(cudaMalloc((void **)&a, na * bytes), "allocation");
	check(cudaMalloc((void **)&b, nb * bytes), "allocation");
	check(cudaMalloc((void **)&c, nc * bytes), "allocation");
	fill<<<(unsigned)((na + 255) / 256), 256>>>(a, na, (int)bytes);
	fill<<<(unsigned)((nb + 255) / 256), 256>>>(b, nb, (int)bytes);
	check(cudaGetLastError(), "fill");
	for (int i = -WARM_UP; i < RUNS; i++) {
		check(cudaEventRecord(timer->start), "event");
		check_blas(cublasGemmEx(blas, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, b, type, n, a, type, k, &zero, c, type, n,
					g->compute, CUBLAS_GEMM_DEFAULT),
			   g->name);
		double s = stop(timer);
		if (i >= 0)
			seconds[i] = s;
	}
	double s = median(seconds, RUNS);
	printf("    {\"type\": \"%s\", \"M\": %d, \"N\": %d, \"K\": %d, \"seconds\": %.9g, \"flops_per_second\": %.6g}%s\n", g->name, m,
	       n, k, s, 2.0 * m * n * (double)k / s, last ? "" : ",");
	cudaFree(a);
	cudaFree(b);
	cudaFree(c);
}

int main(void)
{
	static const size_t copies[] = {(size_t)1 << 20, (size_t)64 << 20, (size_t)1 << 30};
	static const int shapes[][3] = {{512, 512, 512},    {1024, 1024, 1024}, {2048, 2048, 2048}, {4096, 4096, 4096},
					{8192, 8192, 8192}, {16, 4096, 4096},	{1, 4096, 4096},    {128, 128, 65536}};
	int n_device = 0;
	if (cudaGetDeviceCount(&n_device) != cudaSuccess || n_device == 0) {
		fprintf(stderr, "gpu_peers: no GPU here\n");
		return MISSING;
	}
	cudaDeviceProp properties;
	int runtime = 0, driver = 0, version = 0;
	check(cudaGetDeviceProperties(&properties, 0), "device");
	cudaRuntimeGetVersion(&runtime);
	cudaDriverGetVersion(&driver);
	cublasHandle_t blas;
	check_blas(cublasCreate(&blas), "create");
	cublasGetVersion(blas, &version);
	struct timer timer;
	check(cudaEventCreate(&timer.start), "event");
	check(cudaEventCreate(&timer.stop), "event");
	printf("{\n  \"card\": \"%s\", \"runtime\": %d, \"driver\": %d, \"cublas\": %d, \"runs\": %d,\n", properties.name, runtime,
	       driver, version, RUNS);
	printf("  \"copies\": [\n");
	size_t n_copy = sizeof(copies) / sizeof(copies[0]);
	for (size_t i = 0; i < n_copy; i++)
		time_copy(&timer, copies[i], i + 1 == n_copy);
	printf("  ],\n  \"gemm\": [\n");
	size_t n_gemm = sizeof(gemms) / sizeof(gemms[0]), n_shape = sizeof(shapes) / sizeof(shapes[0]);
	for (size_t g = 0; g < n_gemm; g++)
		for (size_t i = 0; i < n_shape; i++)
			time_gemm(blas, &timer, &gemms[g], shapes[i][0], shapes[i][1], shapes[i][2],
				  g + 1 == n_gemm && i + 1 == n_shape);
	printf("  ]\n}\n");
	cublasDestroy(blas);
	return 0;
}
