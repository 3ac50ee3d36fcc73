// Rotary embedding of neighbouring pairs: two pairs (a float4) per thread.  D is a multiple of 4.
// SPDX-License-Identifier: MIT
#ifndef __HIPCC_RTC__
#include <hip/hip_runtime.h>
#endif

#ifndef BLOCK
#define BLOCK 128
#endif

template <bool NEOX> __device__ __forceinline__ float4 turn(float4 x, float4 c, float4 s)
{
#if defined(ROTARY_BACKWARD)
	s.x = -s.x, s.y = -s.y, s.z = -s.z, s.w = -s.w;
#endif
	if (NEOX)
		return make_float4(x.x * c.x - x.z * s.x, x.y * c.y - x.w * s.y, x.z * c.z + x.x * s.z, x.w * c.w + x.y * s.w);
	return make_float4(x.x * c.x - x.y * s.x, x.y * c.y + x.x * s.y, x.z * c.z - x.w * s.z, x.w * c.w + x.z * s.w);
}

template <bool NEOX>
__global__ void __launch_bounds__(BLOCK)
rotary_pairs(const float *__restrict__ X, const float *__restrict__ cosine, const float *__restrict__ sine, float *__restrict__ Y, int S,
	     int H, int D)
{
	const int i = hipBlockIdx_x * hipBlockDim_x + hipThreadIdx_x, quads = D / 4;
	if (i >= S * H * quads)
		return;
	const int q = i % quads, s = i / quads / H;
	const float4 x = reinterpret_cast<const float4 *>(X)[i];
	const float4 c = reinterpret_cast<const float4 *>(cosine + (size_t)s * D)[q];
	const float4 t = reinterpret_cast<const float4 *>(sine + (size_t)s * D)[q];
	reinterpret_cast<float4 *>(Y)[i] = turn<NEOX>(x, c, t);
}

#ifndef __HIPCC_RTC__
extern "C" hipError_t rotary(const float *X, const float *cosine, const float *sine, float *Y, int S, int H, int D, hipStream_t stream)
{
	const int threads = S * H * (D / 4);
	hipLaunchKernelGGL(HIP_KERNEL_NAME(rotary_pairs<false>), dim3((threads + BLOCK - 1) / BLOCK), dim3(BLOCK), 0, stream, X, cosine,
			   sine, Y, S, H, D);
	return hipGetLastError();
}
#endif
