#include <hip/hip_runtime.h>

#ifndef BLOCK
#define BLOCK 128
#endif

template <int THREADS>
__global__ void __launch_bounds__(THREADS)
rms_norm_rows(const float *__restrict__ x, const float *__restrict__ g, float *__restrict__ y, int D, float eps)
{
	__shared__ float part[THREADS / 32];
	const float *in = x + (size_t)blockIdx.x * D;
	float *out = y + (size_t)blockIdx.x * D;
	float sum = 0.0f;
	for (int d = threadIdx.x; d < D; d += THREADS)
		sum += in[d] * in[d];
	for (int o = warpSize / 2; o > 0; o /= 2)
		sum += __shfl_xor(sum, o);
	if (threadIdx.x % warpSize == 0)
		part[threadIdx.x / warpSize] = sum;
	__syncthreads();
	sum = 0.0f;
	for (int w = 0; w < THREADS / warpSize; w++)
		sum += part[w];
	const float scale = rsqrtf(sum / D + eps);
	for (int d = threadIdx.x; d < D; d += THREADS)
		out[d] = in[d] * scale * g[d];
}

hipError_t rms_norm(const float *x, const float *g, float *y, int N, int D, float eps, hipStream_t stream)
{
	rms_norm_rows<BLOCK><<<N, BLOCK, 0, stream>>>(x, g, y, D, eps);
	return hipGetLastError();
}
