// Softmax over the rows of I, one block of 128 threads per row.
// SPDX-License-Identifier: MIT
#ifndef __CUDACC_RTC__
#include <cuda_runtime.h>
#endif

constexpr int THREADS = 128, WARPS = THREADS / 32;

__device__ float largest_of_block(float v, float *part)
{
	for (int o = 16; o > 0; o /= 2)
		v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, o));
	if (threadIdx.x % 32 == 0)
		part[threadIdx.x / 32] = v;
	__syncthreads();
	for (int w = 0; w < WARPS; w++)
		v = fmaxf(v, part[w]);
	return v;
}

__device__ float sum_of_block(float v, float *part)
{
	for (int o = 16; o > 0; o /= 2)
		v += __shfl_xor_sync(0xffffffffu, v, o);
	if (threadIdx.x % 32 == 0)
		part[threadIdx.x / 32] = v;
	__syncthreads();
	v = 0.0f;
	for (int w = 0; w < WARPS; w++)
		v += part[w];
	return v;
}

__global__ void __launch_bounds__(THREADS) softmax_rows(const float *__restrict__ I, float *__restrict__ O, int D)
{
	__shared__ float maxima[WARPS], sums[WARPS];
	const float *in = I + (size_t)blockIdx.x * D;
	float *out = O + (size_t)blockIdx.x * D;
	float largest = -__int_as_float(0x7f800000), total = 0.0f; // from minus infinity
	for (int d = threadIdx.x; d < D; d += THREADS)
		largest = fmaxf(largest, in[d]);
	largest = largest_of_block(largest, maxima);
	for (int d = threadIdx.x; d < D; d += THREADS)
		total += expf(in[d] - largest);
	total = sum_of_block(total, sums);
	for (int d = threadIdx.x; d < D; d += THREADS)
		out[d] = expf(in[d] - largest) / total;
}

#ifndef __CUDACC_RTC__
extern "C" int softmax(const float *I, float *O, int N, int D, cudaStream_t stream)
{
	softmax_rows<<<N, THREADS, 0, stream>>>(I, O, D);
	return cudaGetLastError() == cudaSuccess ? 0 : -1;
}
#endif
