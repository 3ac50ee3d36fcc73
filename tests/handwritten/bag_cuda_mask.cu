// Wrong: lanes without a column have left before the shuffle whose mask names them, and hand nothing round.
// SPDX-License-Identifier: MIT
#ifndef __CUDACC_RTC__
#include <cuda_runtime.h>
#endif

typedef int index_t;

__global__ void __launch_bounds__(32)
bag_sum(const float *__restrict__ table, const index_t *__restrict__ member, const float *__restrict__ weight, float *__restrict__ Y,
	int L, int D)
{
	const int lane = threadIdx.x, d = blockIdx.y * warpSize + lane, bag = blockIdx.x;
	float sum = 0.0f;
	for (int l0 = 0; l0 < L; l0 += warpSize) {
		const int here = min(warpSize, L - l0);
		const index_t mine = lane < here ? __ldg(&member[bag * L + l0 + lane]) : 0;
		const float factor = lane < here ? __ldg(&weight[bag * L + l0 + lane]) : 0.0f;
		for (int l = 0; l < here && d < D; ++l) {
			const index_t row = __shfl_sync(0xffffffffu, mine, l); // found here: uninitialised
			const float times = __shfl_sync(0xffffffffu, factor, l); // found here: uninitialised
			if (d < D)
				sum = fmaf(table[(size_t)row * D + d], times, sum);
		}
	}
	if (d < D)
		Y[(size_t)bag * D + d] = sum;
}

#ifndef __CUDACC_RTC__
extern "C" int bag(const float *table, const int *member, const float *weight, float *Y, int B, int L, int D, cudaStream_t stream)
{
	bag_sum<<<dim3(B, (D + 31) / 32), 32, 0, stream>>>(table, member, weight, Y, L, D);
	return cudaGetLastError() != cudaSuccess;
}
#endif
