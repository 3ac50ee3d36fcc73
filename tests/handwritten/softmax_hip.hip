// Softmax over the rows of I, one block of 128 threads per row.
// SPDX-License-Identifier: MIT
#ifndef __HIPCC_RTC__
#include <hip/hip_runtime.h>
#endif

constexpr int THREADS = 128;

__device__ float largest_of_block(float v, float *part)
{
	for (int o = warpSize / 2; o > 0; o /= 2)
		v = fmaxf(v, __shfl_xor(v, o));
	if (threadIdx.x % warpSize == 0)
		part[threadIdx.x / warpSize] = v;
	__syncthreads();
	for (int w = 0; w < THREADS / warpSize; w++)
		v = fmaxf(v, part[w]);
	return v;
}

__device__ float sum_of_block(float v, float *part)
{
	for (int o = warpSize / 2; o > 0; o /= 2)
		v += __shfl_xor(v, o);
	if (threadIdx.x % warpSize == 0)
		part[threadIdx.x / warpSize] = v;
	__syncthreads();
	v = 0.0f;
	for (int w = 0; w < THREADS / warpSize; w++)
		v += part[w];
	return v;
}

__global__ void __launch_bounds__(THREADS) softmax_rows(const float *__restrict__ I, float *__restrict__ O, int D)
{
	__shared__ float maxima[THREADS / 32], sums[THREADS / 32];
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

#ifndef __HIPCC_RTC__
extern "C" int softmax(const float *I, float *O, int N, int D, hipStream_t stream)
{
	hipLaunchKernelGGL(softmax_rows, dim3(N), dim3(THREADS), 0, stream, I, O, D);
	return hipGetLastError() == hipSuccess ? 0 : -1;
}
#endif
