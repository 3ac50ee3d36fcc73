// Wrong: the number of partial results is that of wavefronts of 32 lanes; here they have 64.
// SPDX-License-Identifier: MIT
#ifndef __HIPCC_RTC__
#include <hip/hip_runtime.h>
#endif

#ifndef BLOCK
#define BLOCK 256
#endif
constexpr int LEAST_WARP = 32;

struct Sum {
	static __device__ float identity() { return 0.0f; }
	static __device__ float combine(float a, float b) { return a + b; }
};
struct Peak {
	static __device__ float identity() { return 0.0f; }
	static __device__ float combine(float a, float b) { return fmaxf(a, b); }
};

template <typename Op> __device__ float warp_reduce(float v)
{
	for (int offset = warpSize / 2; offset > 0; offset >>= 1)
		v = Op::combine(v, __shfl_down(v, offset));
	return v;
}

template <typename Op> __device__ float block_reduce(float v)
{
	__shared__ float part[BLOCK / LEAST_WARP];
	const int lane = threadIdx.x % warpSize, warp = threadIdx.x / warpSize;
	const int warps = blockDim.x / 32;
	v = warp_reduce<Op>(v);
	if (lane == 0)
		part[warp] = v;
	__syncthreads();
	if (warp == 0) {
		v = lane < warps ? part[lane] : Op::identity(); // found here: uninitialised
		v = warp_reduce<Op>(v);
	}
	__syncthreads();
	return v;
}

extern "C" __global__ void __launch_bounds__(BLOCK)
reduce_rows(const float *__restrict__ X, float *__restrict__ total, float *__restrict__ peak, int N)
{
	const float *row = X + static_cast<size_t>(hipBlockIdx_x) * N;
	float sum = Sum::identity(), most = Peak::identity();
	for (int n = hipThreadIdx_x; n < N; n += BLOCK) {
		const float v = row[n];
		sum = Sum::combine(sum, v);
		most = Peak::combine(most, fabsf(v));
	}
	sum = block_reduce<Sum>(sum);
	most = block_reduce<Peak>(most);
	if (threadIdx.x == 0) {
		total[blockIdx.x] = sum;
		peak[blockIdx.x] = most;
	}
}

#ifndef __HIPCC_RTC__
extern "C" hipError_t reduce(const float *X, float *total, float *peak, int R, int N, hipStream_t stream)
{
	reduce_rows<<<R, BLOCK, 0, stream>>>(X, total, peak, N);
	return hipGetLastError();
}
#endif
