// Wrong: a block reads the total of the one before it, which may not have run yet.
// SPDX-License-Identifier: MIT
#ifndef __HIPCC_RTC__
#include <hip/hip_runtime.h>
#endif

#ifndef BLOCK
#define BLOCK 256
#endif

namespace scan {

__device__ float warp_scan(float v)
{
	const int lane = threadIdx.x & (warpSize - 1);
	for (int step = 1; step < warpSize; step *= 2) {
		const float before = __shfl_up(v, step);
		if (lane >= step)
			v += before;
	}
	return v;
}

__device__ float block_scan(float v)
{
	__shared__ float ends[BLOCK / 32];
	const int lane = threadIdx.x & (warpSize - 1), warp = threadIdx.x / warpSize;
	v = warp_scan(v);
	if (lane == warpSize - 1)
		ends[warp] = v;
	__syncthreads();
	for (int w = 0; w < warp; ++w)
		v += ends[w];
	return v;
}

// blockIdx.y is the row, blockIdx.x the block in it.
__global__ void __launch_bounds__(BLOCK) within(const float *__restrict__ X, float *__restrict__ Y, float *__restrict__ totals, int N)
{
	const int n = blockIdx.x * BLOCK + threadIdx.x;
	const size_t at = (size_t)blockIdx.y * N + n;
	const float v = block_scan(n < N ? X[at] : 0.0f);
	if (n < N && blockIdx.x > 0)
		Y[at] = v + totals[blockIdx.y * gridDim.x + blockIdx.x - 1]; // found here: race, uninitialised
	else if (n < N)
		Y[at] = v;
	if (threadIdx.x == BLOCK - 1)
		totals[blockIdx.y * gridDim.x + blockIdx.x] = v; // found here: race
}

__global__ void over_totals(const float *__restrict__ totals, float *__restrict__ before, int blocks)
{
	float sum = 0.0f;
	if (threadIdx.x)
		return;
	for (int b = 0; b < blocks; ++b) {
		before[blockIdx.x * blocks + b] = sum;
		sum += totals[blockIdx.x * blocks + b];
	}
}

__global__ void __launch_bounds__(BLOCK) add_before(float *__restrict__ Y, const float *__restrict__ before, int N)
{
	const int n = blockIdx.x * BLOCK + threadIdx.x;
	if (n < N)
		Y[(size_t)blockIdx.y * N + n] += before[blockIdx.y * gridDim.x + blockIdx.x];
}

} // namespace scan

#ifndef __HIPCC_RTC__
extern "C" hipError_t scan_rows(const float *X, float *Y, float *totals, float *before, int R, int N, hipStream_t stream)
{
	const int blocks = (N + BLOCK - 1) / BLOCK;
	scan::within<<<dim3(blocks, R), BLOCK, 0, stream>>>(X, Y, totals, N);
	scan::over_totals<<<R, 64, 0, stream>>>(totals, before, blocks);
	scan::add_before<<<dim3(blocks, R), BLOCK, 0, stream>>>(Y, before, N);
	return hipGetLastError();
}
#endif
