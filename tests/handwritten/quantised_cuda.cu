// Products of bytes (uchar4, char4) by one warp per result, accumulated in 32 bits, then scaled.  K is a multiple of 4.
// SPDX-License-Identifier: MIT
#include <stdint.h>
#ifndef __CUDACC_RTC__
#include <cuda_runtime.h>
#endif

#define WARPS 4
#define LANES 32

static __device__ __forceinline__ int dot4(uchar4 a, char4 b, int sum)
{
	return sum + a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}

__device__ int warp_sum(int v)
{
#if __CUDA_ARCH__ >= 800
	return __reduce_add_sync(0xffffffffu, v);
#else
	for (int offset = LANES / 2; offset > 0; offset /= 2)
		v += __shfl_down_sync(0xffffffffu, v, offset);
	return v;
#endif
}

__global__ void __launch_bounds__(LANES *WARPS)
quantised_product(const uint8_t *__restrict__ A, const int8_t *__restrict__ W, const int32_t *__restrict__ zero,
		  const float *__restrict__ scale, float *__restrict__ C, int M, int N, int K)
{
	const int n = blockIdx.x * WARPS + threadIdx.y, m = blockIdx.y;
	if (n >= N)
		return; // a whole warp
	const uchar4 *a = reinterpret_cast<const uchar4 *>(A + (size_t)m * K);
	const char4 *w = reinterpret_cast<const char4 *>(W + (size_t)n * K);
	int sum = 0;
	for (int k = threadIdx.x; k < K / 4; k += LANES)
		sum = dot4(a[k], w[k], sum);
	sum = warp_sum(sum);
	if (threadIdx.x == 0)
		C[(size_t)m * N + n] = __int2float_rn(sum - zero[n]) * scale[n];
}

#ifndef __CUDACC_RTC__
extern "C" int quantised(const uint8_t *A, const int8_t *W, const int32_t *zero, const float *scale, float *C, int M, int N, int K,
			 cudaStream_t stream)
{
	quantised_product<<<dim3((N + WARPS - 1) / WARPS, M), dim3(LANES, WARPS), 0, stream>>>(A, W, zero, scale, C, M, N, K);
	return cudaGetLastError() != cudaSuccess;
}
#endif
