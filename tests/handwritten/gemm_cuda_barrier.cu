// Wrong: the next step's tiles are stored while other threads still multiply this one's.
// SPDX-License-Identifier: MIT
#ifndef __CUDACC_RTC__
#include <cuda_runtime.h>
#endif

#ifndef TILE
#define TILE 64
#endif
#ifndef STEP
#define STEP 16
#endif
#define PER_THREAD 4
#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))

struct Identity {
	__device__ float operator()(float v) const { return v; }
};
struct Threshold {
	__device__ float operator()(float v) const { return fmaxf(v, 0.0f); }
};

template <int BM, int BN, int BK>
__device__ __forceinline__ void load_tiles(float (&a)[BK][BM + 4], float (&b)[BK][BN], const float *__restrict__ A,
					    const float *__restrict__ B, int M, int N, int K, int row, int col, int k0)
{
	constexpr int THREADS = (BM / PER_THREAD) * (BN / PER_THREAD);
	const int t = threadIdx.y * blockDim.x + threadIdx.x;
	const float4 zero = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll
	for (int i = t; i < BM * BK / 4; i += THREADS) {
		const int m = i / (BK / 4), k = i % (BK / 4) * 4;
		const bool inside = row + m < M && k0 + k < K;
		const float4 v = inside ? __ldg(reinterpret_cast<const float4 *>(&A[(size_t)(row + m) * K + k0 + k])) : zero;
		a[k + 0][m] = v.x; // found here: race
		a[k + 1][m] = v.y; // found here: race
		a[k + 2][m] = v.z; // found here: race
		a[k + 3][m] = v.w; // found here: race
	}
#pragma unroll
	for (int i = t; i < BK * BN / 4; i += THREADS) {
		const int k = i / (BN / 4), n = i % (BN / 4) * 4;
		const bool inside = k0 + k < K && col + n < N;
		const float4 v = inside ? __ldg(reinterpret_cast<const float4 *>(&B[(size_t)(k0 + k) * N + col + n])) : zero;
		*reinterpret_cast<float4 *>(&b[k][n]) = v; // found here: race
	}
}

template <int BM, int BN, int BK, typename Epilogue>
__global__ void __launch_bounds__((BM / PER_THREAD) * (BN / PER_THREAD))
gemm_bias(const float *__restrict__ A, const float *__restrict__ B, const float *__restrict__ bias, float *__restrict__ C, int M,
	  int N, int K)
{
	static_assert(BK % 4 == 0 && BN % 4 == 0, "loads of four");
	__shared__ __align__(16) float a[BK][BM + 4];
	__shared__ __align__(16) float b[BK][BN];
	const int row = blockIdx.y * BM, col = blockIdx.x * BN;
	const int m0 = threadIdx.y * PER_THREAD, n0 = threadIdx.x * PER_THREAD;
	float sum[PER_THREAD][PER_THREAD] = {};

	for (int k0 = 0; k0 < K; k0 += BK) {
		load_tiles<BM, BN, BK>(a, b, A, B, M, N, K, row, col, k0);
		__syncthreads();
#pragma unroll
		for (int k = 0; k < BK; ++k) {
			const float4 x = *reinterpret_cast<const float4 *>(&a[k][m0]); // found here: race
			const float4 y = *reinterpret_cast<const float4 *>(&b[k][n0]); // found here: race
			const float xs[PER_THREAD] = {x.x, x.y, x.z, x.w}, ys[PER_THREAD] = {y.x, y.y, y.z, y.w};
#pragma unroll
			for (int i = 0; i < PER_THREAD; ++i)
#pragma unroll
				for (int j = 0; j < PER_THREAD; ++j)
					sum[i][j] = fmaf(xs[i], ys[j], sum[i][j]);
		}
	}

	Epilogue finish;
	for (int i = 0; i < PER_THREAD; ++i) {
		const int m = row + m0 + i, n = col + n0;
		if (m >= M || n >= N)
			continue;
		const float4 add = *reinterpret_cast<const float4 *>(&bias[n]);
		*reinterpret_cast<float4 *>(&C[(size_t)m * N + n]) = make_float4(
			finish(sum[i][0] + add.x), finish(sum[i][1] + add.y), finish(sum[i][2] + add.z), finish(sum[i][3] + add.w));
	}
}

#ifndef __CUDACC_RTC__
extern "C" cudaError_t gemm(const float *A, const float *B, const float *bias, float *C, int M, int N, int K, cudaStream_t stream)
{
	const dim3 grid(CEIL_DIV(N, TILE), CEIL_DIV(M, TILE)), block(TILE / PER_THREAD, TILE / PER_THREAD);
	gemm_bias<TILE, TILE, STEP, Threshold><<<grid, block, 0, stream>>>(A, B, bias, C, M, N, K);
	return cudaGetLastError();
}
#endif
