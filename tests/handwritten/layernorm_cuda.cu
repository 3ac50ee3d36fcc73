// Layer normalisation over rows of T, two elements at a time, the row kept as float in dynamic shared memory.
// SPDX-License-Identifier: MIT
#include <cuda_fp16.h>
#ifndef __CUDACC_RTC__
#include <cuda_runtime.h>
#endif

#define FULL_MASK 0xffffffffu

template <typename T> struct Pair;
template <> struct Pair<__half> {
	using type = __half2;
	static __device__ float2 load(const __half *p) { return __half22float2(*reinterpret_cast<const __half2 *>(p)); }
	static __device__ void store(__half *p, float2 v) { *reinterpret_cast<__half2 *>(p) = __floats2half2_rn(v.x, v.y); }
};
template <> struct Pair<float> {
	using type = float2;
	static __device__ float2 load(const float *p) { return *reinterpret_cast<const float2 *>(p); }
	static __device__ void store(float *p, float2 v) { *reinterpret_cast<float2 *>(p) = v; }
};

template <int BLOCK> __device__ float block_sum(float v, float *part)
{
	for (int offset = 16; offset > 0; offset >>= 1)
		v += __shfl_xor_sync(FULL_MASK, v, offset);
	if ((threadIdx.x & 31) == 0)
		part[threadIdx.x >> 5] = v;
	__syncthreads();
	v = 0.0f;
#pragma unroll
	for (int w = 0; w < BLOCK / 32; ++w)
		v += part[w];
	__syncthreads();
	return v;
}

// Shared memory: the row (D floats), then one float per warp.
template <typename T, int BLOCK>
__global__ void __launch_bounds__(BLOCK)
layernorm_rows(const T *__restrict__ X, const float *__restrict__ gamma, const float *__restrict__ beta, T *__restrict__ Y, int D,
	       float eps)
{
	extern __shared__ float row[];
	float *part = row + D;
	const T *x = X + (size_t)blockIdx.x * D;
	T *y = Y + (size_t)blockIdx.x * D;

	float sum = 0.0f;
	for (int d = threadIdx.x * 2; d < D; d += BLOCK * 2) {
		const float2 v = Pair<T>::load(x + d);
		row[d] = v.x;
		row[d + 1] = v.y;
		sum += v.x + v.y;
	}
	const float mean = block_sum<BLOCK>(sum, part) / D;
	float square = 0.0f;
	for (int d = threadIdx.x; d < D; d += BLOCK)
		square += (row[d] - mean) * (row[d] - mean);
	const float scale = rsqrtf(block_sum<BLOCK>(square, part) / D + eps);
	for (int d = threadIdx.x * 2; d < D; d += BLOCK * 2) {
		auto one = [&](int i) { return (row[i] - mean) * scale * __ldg(gamma + i) + __ldg(beta + i); };
		Pair<T>::store(y + d, make_float2(one(d), one(d + 1)));
	}
}

#ifndef __CUDACC_RTC__
extern "C" int layernorm(const __half *X, const float *gamma, const float *beta, __half *Y, int R, int D, float eps, cudaStream_t stream)
{
	const size_t bytes = (D + 128 / 32) * sizeof(float);
	layernorm_rows<__half, 128><<<R, 128, bytes, stream>>>(X, gamma, beta, Y, D, eps);
	return cudaGetLastError() != cudaSuccess;
}
#endif
