/* HIP's device language on top of clang's builtins and AMD's device libraries (ocml), for compiling HIP text where no ROCm
 * is installed.  Included before the text; only for the compile level, nothing that is emitted needs it.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_CLANG_SHIM_H
#define HEDDLE_CLANG_SHIM_H

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __align__(n) __attribute__((aligned(n)))
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define HEDDLE_BOUNDS_2(threads, blocks)                                                                               \
	__attribute__((amdgpu_flat_work_group_size(1, threads), amdgpu_waves_per_eu(blocks)))
#define HEDDLE_BOUNDS_1(threads) __attribute__((amdgpu_flat_work_group_size(1, threads)))
#define HEDDLE_BOUNDS_OF(a, b, name, ...) name
#define __launch_bounds__(...) HEDDLE_BOUNDS_OF(__VA_ARGS__, HEDDLE_BOUNDS_2, HEDDLE_BOUNDS_1, 0)(__VA_ARGS__)
#define HIP_DYNAMIC_SHARED(type, name) extern __shared__ type name[]
#define HEDDLE_FN static __device__ inline __attribute__((always_inline))

/* ---- types ---- */
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long uint64_t;
typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef unsigned long uintptr_t;
typedef unsigned int uint;
typedef unsigned short ushort;
typedef unsigned char uchar;
typedef _Float16 __half;
typedef _Float16 half;
typedef __bf16 __hip_bfloat16;
typedef __bf16 hip_bfloat16;

struct dim3 {
	unsigned x, y, z;
	__host__ __device__ constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c)
	{
	}
};
#define HEDDLE_VECTOR(type, name)                                                                                      \
	typedef type name##2 __attribute__((ext_vector_type(2)));                                                      \
	struct name##3 {                                                                                               \
		type x, y, z;                                                                                          \
	};                                                                                                             \
	typedef type name##4 __attribute__((ext_vector_type(4)));                                                      \
	HEDDLE_FN name##2 make_##name##2(type x, type y)                                                               \
	{                                                                                                              \
		name##2 v = { x, y };                                                                                  \
		return v;                                                                                              \
	}                                                                                                              \
	HEDDLE_FN name##3 make_##name##3(type x, type y, type z)                                                       \
	{                                                                                                              \
		name##3 v = { x, y, z };                                                                               \
		return v;                                                                                              \
	}                                                                                                              \
	HEDDLE_FN name##4 make_##name##4(type x, type y, type z, type w)                                               \
	{                                                                                                              \
		name##4 v = { x, y, z, w };                                                                            \
		return v;                                                                                              \
	}
HEDDLE_VECTOR(char, char)
HEDDLE_VECTOR(unsigned char, uchar)
HEDDLE_VECTOR(short, short)
HEDDLE_VECTOR(unsigned short, ushort)
HEDDLE_VECTOR(int, int)
HEDDLE_VECTOR(unsigned, uint)
HEDDLE_VECTOR(long, long)
HEDDLE_VECTOR(unsigned long, ulong)
HEDDLE_VECTOR(long long, longlong)
HEDDLE_VECTOR(unsigned long long, ulonglong)
HEDDLE_VECTOR(float, float)
HEDDLE_VECTOR(double, double)
typedef _Float16 __half2 __attribute__((ext_vector_type(2)));
typedef __half2 half2;

/* What prototypes of host functions name. */
typedef int hipError_t;
typedef struct ihipStream_t *hipStream_t;

/* ---- places ---- */
#define threadIdx                                                                                                      \
	(dim3(__builtin_amdgcn_workitem_id_x(), __builtin_amdgcn_workitem_id_y(), __builtin_amdgcn_workitem_id_z()))
#define blockIdx                                                                                                       \
	(dim3(__builtin_amdgcn_workgroup_id_x(), __builtin_amdgcn_workgroup_id_y(), __builtin_amdgcn_workgroup_id_z()))
#define blockDim                                                                                                       \
	(dim3(__builtin_amdgcn_workgroup_size_x(), __builtin_amdgcn_workgroup_size_y(),                                \
	      __builtin_amdgcn_workgroup_size_z()))
#define gridDim                                                                                                        \
	(dim3(__builtin_amdgcn_grid_size_x() / __builtin_amdgcn_workgroup_size_x(),                                    \
	      __builtin_amdgcn_grid_size_y() / __builtin_amdgcn_workgroup_size_y(),                                    \
	      __builtin_amdgcn_grid_size_z() / __builtin_amdgcn_workgroup_size_z()))
#define hipThreadIdx_x ((int)threadIdx.x)
#define hipThreadIdx_y ((int)threadIdx.y)
#define hipThreadIdx_z ((int)threadIdx.z)
#define hipBlockIdx_x ((int)blockIdx.x)
#define hipBlockIdx_y ((int)blockIdx.y)
#define hipBlockIdx_z ((int)blockIdx.z)
#define hipBlockDim_x ((int)blockDim.x)
#define hipBlockDim_y ((int)blockDim.y)
#define hipBlockDim_z ((int)blockDim.z)
#define hipGridDim_x ((int)gridDim.x)
#define hipGridDim_y ((int)gridDim.y)
#define hipGridDim_z ((int)gridDim.z)
#define warpSize ((int)__builtin_amdgcn_wavefrontsize())

/* ---- synchronisation ---- */
HEDDLE_FN void __syncthreads()
{
	__builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
	__builtin_amdgcn_s_barrier();
	__builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
HEDDLE_FN void __syncwarp(unsigned long = ~0ul)
{
	__builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
	__builtin_amdgcn_wave_barrier();
	__builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}
HEDDLE_FN void __threadfence_block()
{
	__builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup");
}
HEDDLE_FN void __threadfence()
{
	__builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
}
HEDDLE_FN void __threadfence_system()
{
	__builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "");
}

/* ---- lanes ---- */
HEDDLE_FN int __lane_id()
{
	return (int)__builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u));
}
template <typename T> HEDDLE_FN T heddle_from_lane(T value, int lane)
{
	constexpr int n = (sizeof(T) + 3) / 4;
	int word[n] = {};
	__builtin_memcpy(word, &value, sizeof(T));
	for (int i = 0; i < n; i++)
		word[i] = __builtin_amdgcn_ds_bpermute(lane << 2, word[i]);
	__builtin_memcpy(&value, word, sizeof(T));
	return value;
}
template <typename T> HEDDLE_FN T __shfl(T value, int source, int width = warpSize)
{
	return heddle_from_lane(value, (source & (width - 1)) + (__lane_id() & ~(width - 1)));
}
template <typename T> HEDDLE_FN T __shfl_xor(T value, int mask, int width = warpSize)
{
	int self = __lane_id(), lane = self ^ mask;
	return heddle_from_lane(value, lane >= ((self + width) & ~(width - 1)) ? self : lane);
}
template <typename T> HEDDLE_FN T __shfl_down(T value, unsigned delta, int width = warpSize)
{
	int self = __lane_id();
	return heddle_from_lane(value, (self & (width - 1)) + (int)delta >= width ? self : self + (int)delta);
}
template <typename T> HEDDLE_FN T __shfl_up(T value, unsigned delta, int width = warpSize)
{
	int self = __lane_id();
	return heddle_from_lane(value, (self & (width - 1)) < (int)delta ? self : self - (int)delta);
}
#define __shfl_sync(mask, ...) ((void)(mask), __shfl(__VA_ARGS__))
#define __shfl_xor_sync(mask, ...) ((void)(mask), __shfl_xor(__VA_ARGS__))
#define __shfl_down_sync(mask, ...) ((void)(mask), __shfl_down(__VA_ARGS__))
#define __shfl_up_sync(mask, ...) ((void)(mask), __shfl_up(__VA_ARGS__))
HEDDLE_FN unsigned long __ballot(int predicate)
{
#if __AMDGCN_WAVEFRONT_SIZE__ == 64
	return __builtin_amdgcn_ballot_w64(predicate != 0);
#else
	return __builtin_amdgcn_ballot_w32(predicate != 0);
#endif
}
HEDDLE_FN int __any(int predicate)
{
	return __ballot(predicate) != 0;
}
HEDDLE_FN int __all(int predicate)
{
	return __ballot(!predicate) == 0;
}

/* ---- bits ---- */
#define HEDDLE_BITS(name, from, to)                                                                                    \
	HEDDLE_FN to name(from value)                                                                                  \
	{                                                                                                              \
		return __builtin_bit_cast(to, value);                                                                  \
	}
HEDDLE_BITS(__float_as_int, float, int)
HEDDLE_BITS(__float_as_uint, float, unsigned)
HEDDLE_BITS(__int_as_float, int, float)
HEDDLE_BITS(__uint_as_float, unsigned, float)
HEDDLE_BITS(__double_as_longlong, double, long long)
HEDDLE_BITS(__longlong_as_double, long long, double)
HEDDLE_BITS(__half_as_ushort, __half, unsigned short)
HEDDLE_BITS(__ushort_as_half, unsigned short, __half)
HEDDLE_BITS(__half_as_short, __half, short)
HEDDLE_BITS(__short_as_half, short, __half)
HEDDLE_FN float __half2float(__half value)
{
	return (float)value;
}
HEDDLE_FN __half __float2half(float value)
{
	return (__half)value;
}
HEDDLE_FN __half __float2half_rn(float value)
{
	return (__half)value;
}
HEDDLE_FN float __bfloat162float(__hip_bfloat16 value)
{
	return (float)value;
}
HEDDLE_FN __hip_bfloat16 __float2bfloat16(float value)
{
	return (__hip_bfloat16)value;
}
HEDDLE_FN int __popc(unsigned value)
{
	return __builtin_popcount(value);
}
HEDDLE_FN int __popcll(unsigned long long value)
{
	return __builtin_popcountll(value);
}
HEDDLE_FN int __clz(int value)
{
	return value ? __builtin_clz((unsigned)value) : 32;
}
HEDDLE_FN int __ffs(int value)
{
	return __builtin_ffs(value);
}
HEDDLE_FN unsigned __umulhi(unsigned a, unsigned b)
{
	return (unsigned)((unsigned long)a * b >> 32);
}
template <typename T> HEDDLE_FN T __ldg(const T *address)
{
	return *address;
}

HEDDLE_FN int __clzll(long long value)
{
	return value ? __builtin_clzll((unsigned long long)value) : 64;
}
HEDDLE_FN int __ffsll(long long value)
{
	return __builtin_ffsll(value);
}
HEDDLE_FN unsigned __brev(unsigned value)
{
	return __builtin_bitreverse32(value);
}
HEDDLE_FN int __mul24(int a, int b)
{
	return (a << 8 >> 8) * (b << 8 >> 8);
}
HEDDLE_FN int __mulhi(int a, int b)
{
	return (int)((long)a * b >> 32);
}
#define __ballot_sync(mask, p) ((void)(mask), __ballot(p))
#define __any_sync(mask, p) ((void)(mask), __any(p))
#define __all_sync(mask, p) ((void)(mask), __all(p))
HEDDLE_FN unsigned long __activemask()
{
	return __ballot(1);
}
HEDDLE_FN int __float2int_rn(float x)
{
	return (int)__builtin_rintf(x);
}
HEDDLE_FN int __float2int_rz(float x)
{
	return (int)x;
}
HEDDLE_FN float __int2float_rn(int x)
{
	return (float)x;
}
HEDDLE_FN float __uint2float_rn(unsigned x)
{
	return (float)x;
}
/* What a kernel prints is no part of what it computes. */
#define printf(...) 0

/* ---- pairs of 16-bit floats ---- */
HEDDLE_FN __half2 __halves2half2(__half x, __half y)
{
	__half2 v = { x, y };
	return v;
}
HEDDLE_FN __half2 __floats2half2_rn(float x, float y)
{
	__half2 v = { (__half)x, (__half)y };
	return v;
}
HEDDLE_FN __half2 __float2half2_rn(float x)
{
	return __floats2half2_rn(x, x);
}
HEDDLE_FN __half2 __half2half2(__half x)
{
	return __halves2half2(x, x);
}
HEDDLE_FN float2 __half22float2(__half2 v)
{
	return make_float2((float)v.x, (float)v.y);
}
HEDDLE_FN __half __low2half(__half2 v)
{
	return v.x;
}
HEDDLE_FN __half __high2half(__half2 v)
{
	return v.y;
}
HEDDLE_FN float __low2float(__half2 v)
{
	return (float)v.x;
}
HEDDLE_FN float __high2float(__half2 v)
{
	return (float)v.y;
}
#define HEDDLE_HALF_OPS(type, suffix)                                                                                  \
	HEDDLE_FN type __hadd##suffix(type a, type b)                                                                  \
	{                                                                                                              \
		return a + b;                                                                                          \
	}                                                                                                              \
	HEDDLE_FN type __hsub##suffix(type a, type b)                                                                  \
	{                                                                                                              \
		return a - b;                                                                                          \
	}                                                                                                              \
	HEDDLE_FN type __hmul##suffix(type a, type b)                                                                  \
	{                                                                                                              \
		return a * b;                                                                                          \
	}                                                                                                              \
	HEDDLE_FN type __hfma##suffix(type a, type b, type c)                                                          \
	{                                                                                                              \
		return __builtin_elementwise_fma(a, b, c);                                                             \
	}
HEDDLE_HALF_OPS(__half, )
HEDDLE_HALF_OPS(__half2, 2)

/* ---- atomics ---- */
template <typename T, typename U> HEDDLE_FN T atomicAdd(T *address, U value)
{
	return __hip_atomic_fetch_add(address, (T)value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
template <typename T, typename U> HEDDLE_FN T atomicSub(T *address, U value)
{
	return __hip_atomic_fetch_add(address, (T)-value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
template <typename T, typename U> HEDDLE_FN T atomicAnd(T *address, U value)
{
	return __hip_atomic_fetch_and(address, (T)value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
template <typename T, typename U> HEDDLE_FN T atomicOr(T *address, U value)
{
	return __hip_atomic_fetch_or(address, (T)value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
template <typename T, typename U> HEDDLE_FN T atomicXor(T *address, U value)
{
	return __hip_atomic_fetch_xor(address, (T)value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
template <typename T> HEDDLE_FN T atomicAdd(T *address, T value)
{
	return __hip_atomic_fetch_add(address, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
template <typename T> HEDDLE_FN T atomicMax(T *address, T value)
{
	return __hip_atomic_fetch_max(address, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
template <typename T> HEDDLE_FN T atomicMin(T *address, T value)
{
	return __hip_atomic_fetch_min(address, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
template <typename T> HEDDLE_FN T atomicExch(T *address, T value)
{
	return __hip_atomic_exchange(address, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
template <typename T> HEDDLE_FN T atomicCAS(T *address, T compare, T value)
{
	__hip_atomic_compare_exchange_strong(address, &compare, value, __ATOMIC_RELAXED, __ATOMIC_RELAXED,
					     __HIP_MEMORY_SCOPE_AGENT);
	return compare;
}

/* ---- mathematics: AMD's library, as users get it ---- */
#define HEDDLE_MATH_1(name, ocml)                                                                                      \
	extern "C" __device__ __attribute__((const)) float __ocml_##ocml##_f32(float);                                 \
	extern "C" __device__ __attribute__((const)) double __ocml_##ocml##_f64(double);                               \
	HEDDLE_FN float name##f(float x)                                                                               \
	{                                                                                                              \
		return __ocml_##ocml##_f32(x);                                                                         \
	}                                                                                                              \
	HEDDLE_FN float name(float x)                                                                                  \
	{                                                                                                              \
		return __ocml_##ocml##_f32(x);                                                                         \
	}                                                                                                              \
	HEDDLE_FN double name(double x)                                                                                \
	{                                                                                                              \
		return __ocml_##ocml##_f64(x);                                                                         \
	}
#define HEDDLE_MATH_2(name, ocml)                                                                                      \
	extern "C" __device__ __attribute__((const)) float __ocml_##ocml##_f32(float, float);                          \
	extern "C" __device__ __attribute__((const)) double __ocml_##ocml##_f64(double, double);                       \
	HEDDLE_FN float name##f(float x, float y)                                                                      \
	{                                                                                                              \
		return __ocml_##ocml##_f32(x, y);                                                                      \
	}                                                                                                              \
	HEDDLE_FN float name(float x, float y)                                                                         \
	{                                                                                                              \
		return __ocml_##ocml##_f32(x, y);                                                                      \
	}                                                                                                              \
	HEDDLE_FN double name(double x, double y)                                                                      \
	{                                                                                                              \
		return __ocml_##ocml##_f64(x, y);                                                                      \
	}
HEDDLE_MATH_1(acos, acos)
HEDDLE_MATH_1(acosh, acosh)
HEDDLE_MATH_1(asin, asin)
HEDDLE_MATH_1(asinh, asinh)
HEDDLE_MATH_1(atan, atan)
HEDDLE_MATH_1(atanh, atanh)
HEDDLE_MATH_1(cbrt, cbrt)
HEDDLE_MATH_1(rcbrt, rcbrt)
HEDDLE_MATH_1(ceil, ceil)
HEDDLE_MATH_1(cos, cos)
HEDDLE_MATH_1(cosh, cosh)
HEDDLE_MATH_1(cospi, cospi)
HEDDLE_MATH_1(erf, erf)
HEDDLE_MATH_1(erfc, erfc)
HEDDLE_MATH_1(erfcinv, erfcinv)
HEDDLE_MATH_1(erfcx, erfcx)
HEDDLE_MATH_1(erfinv, erfinv)
HEDDLE_MATH_1(exp, exp)
HEDDLE_MATH_1(exp10, exp10)
HEDDLE_MATH_1(exp2, exp2)
HEDDLE_MATH_1(expm1, expm1)
HEDDLE_MATH_1(fabs, fabs)
HEDDLE_MATH_1(floor, floor)
HEDDLE_MATH_1(cyl_bessel_i0, i0)
HEDDLE_MATH_1(cyl_bessel_i1, i1)
HEDDLE_MATH_1(j0, j0)
HEDDLE_MATH_1(j1, j1)
HEDDLE_MATH_1(y0, y0)
HEDDLE_MATH_1(y1, y1)
HEDDLE_MATH_1(lgamma, lgamma)
HEDDLE_MATH_1(log, log)
HEDDLE_MATH_1(log10, log10)
HEDDLE_MATH_1(log1p, log1p)
HEDDLE_MATH_1(log2, log2)
HEDDLE_MATH_1(logb, logb)
HEDDLE_MATH_1(nearbyint, nearbyint)
HEDDLE_MATH_1(normcdf, ncdf)
HEDDLE_MATH_1(normcdfinv, ncdfinv)
HEDDLE_MATH_1(rint, rint)
HEDDLE_MATH_1(round, round)
HEDDLE_MATH_1(rsqrt, rsqrt)
HEDDLE_MATH_1(sin, sin)
HEDDLE_MATH_1(sinh, sinh)
HEDDLE_MATH_1(sinpi, sinpi)
HEDDLE_MATH_1(sqrt, sqrt)
HEDDLE_MATH_1(tan, tan)
HEDDLE_MATH_1(tanh, tanh)
HEDDLE_MATH_1(tgamma, tgamma)
HEDDLE_MATH_1(trunc, trunc)
HEDDLE_MATH_2(atan2, atan2)
HEDDLE_MATH_2(copysign, copysign)
HEDDLE_MATH_2(fdim, fdim)
HEDDLE_MATH_2(fmax, fmax)
HEDDLE_MATH_2(fmin, fmin)
HEDDLE_MATH_2(fmod, fmod)
HEDDLE_MATH_2(hypot, hypot)
HEDDLE_MATH_2(nextafter, nextafter)
HEDDLE_MATH_2(pow, pow)
HEDDLE_MATH_2(remainder, remainder)
#define HEDDLE_NORMS(type, suffix, ocml)                                                                                \
	extern "C" __device__ __attribute__((const)) type __ocml_rhypot_##ocml(type, type);                            \
	extern "C" __device__ __attribute__((const)) type __ocml_len3_##ocml(type, type, type);                        \
	extern "C" __device__ __attribute__((const)) type __ocml_len4_##ocml(type, type, type, type);                  \
	extern "C" __device__ __attribute__((const)) type __ocml_rlen3_##ocml(type, type, type);                       \
	extern "C" __device__ __attribute__((const)) type __ocml_rlen4_##ocml(type, type, type, type);                 \
	HEDDLE_FN type rhypot##suffix(type x, type y)                                                                  \
	{                                                                                                              \
		return __ocml_rhypot_##ocml(x, y);                                                                     \
	}                                                                                                              \
	HEDDLE_FN type norm3d##suffix(type x, type y, type z)                                                          \
	{                                                                                                              \
		return __ocml_len3_##ocml(x, y, z);                                                                    \
	}                                                                                                              \
	HEDDLE_FN type norm4d##suffix(type x, type y, type z, type w)                                                  \
	{                                                                                                              \
		return __ocml_len4_##ocml(x, y, z, w);                                                                 \
	}                                                                                                              \
	HEDDLE_FN type rnorm3d##suffix(type x, type y, type z)                                                         \
	{                                                                                                              \
		return __ocml_rlen3_##ocml(x, y, z);                                                                   \
	}                                                                                                              \
	HEDDLE_FN type rnorm4d##suffix(type x, type y, type z, type w)                                                 \
	{                                                                                                              \
		return __ocml_rlen4_##ocml(x, y, z, w);                                                                \
	}
HEDDLE_NORMS(float, f, f32)
HEDDLE_NORMS(double, , f64)
HEDDLE_FN float fdividef(float x, float y)
{
	return x / y;
}
HEDDLE_FN float fmaf(float x, float y, float z)
{
	return __builtin_fmaf(x, y, z);
}
HEDDLE_FN float fma(float x, float y, float z)
{
	return __builtin_fmaf(x, y, z);
}
HEDDLE_FN double fma(double x, double y, double z)
{
	return __builtin_fma(x, y, z);
}
extern "C" __device__ __attribute__((const)) float __ocml_ldexp_f32(float, int);
extern "C" __device__ __attribute__((const)) double __ocml_ldexp_f64(double, int);
HEDDLE_FN float ldexpf(float x, int n)
{
	return __ocml_ldexp_f32(x, n);
}
HEDDLE_FN double ldexp(double x, int n)
{
	return __ocml_ldexp_f64(x, n);
}
HEDDLE_FN float __expf(float x)
{
	return __ocml_exp2_f32(x * 1.44269504088896340736f);
}
HEDDLE_FN float __fdividef(float x, float y)
{
	return x / y;
}
HEDDLE_FN float __fmaf_rn(float x, float y, float z)
{
	return __builtin_fmaf(x, y, z);
}
HEDDLE_FN float __fadd_rn(float x, float y)
{
#pragma clang fp contract(off)
	return x + y;
}
HEDDLE_FN float __fmul_rn(float x, float y)
{
#pragma clang fp contract(off)
	return x * y;
}
HEDDLE_FN float __logf(float x)
{
	return __ocml_log2_f32(x) * 0.693147180559945309f;
}
HEDDLE_FN float __log2f(float x)
{
	return __ocml_log2_f32(x);
}
HEDDLE_FN float __sinf(float x)
{
	return __ocml_sin_f32(x);
}
HEDDLE_FN float __cosf(float x)
{
	return __ocml_cos_f32(x);
}
HEDDLE_FN float __powf(float x, float y)
{
	return __ocml_pow_f32(x, y);
}
HEDDLE_FN float __frcp_rn(float x)
{
	return 1.0f / x;
}
HEDDLE_FN float __frsqrt_rn(float x)
{
	return __ocml_rsqrt_f32(x);
}
HEDDLE_FN float __fsqrt_rn(float x)
{
	return __ocml_sqrt_f32(x);
}
HEDDLE_FN float __saturatef(float x)
{
	return x > 0.0f ? x < 1.0f ? x : 1.0f : 0.0f;
}
HEDDLE_FN void sincosf(float x, float *s, float *c)
{
	*s = __ocml_sin_f32(x);
	*c = __ocml_cos_f32(x);
}
HEDDLE_FN void __sincosf(float x, float *s, float *c)
{
	sincosf(x, s, c);
}
template <typename T> HEDDLE_FN bool isnan(T x)
{
	return __builtin_isnan(x);
}
template <typename T> HEDDLE_FN bool isinf(T x)
{
	return __builtin_isinf(x);
}
template <typename T> HEDDLE_FN bool isfinite(T x)
{
	return __builtin_isfinite(x);
}
#define HEDDLE_MIN_MAX(type)                                                                                           \
	HEDDLE_FN type min(type a, type b)                                                                             \
	{                                                                                                              \
		return a < b ? a : b;                                                                                  \
	}                                                                                                              \
	HEDDLE_FN type max(type a, type b)                                                                             \
	{                                                                                                              \
		return a > b ? a : b;                                                                                  \
	}
HEDDLE_MIN_MAX(int)
HEDDLE_MIN_MAX(unsigned)
HEDDLE_MIN_MAX(long)
HEDDLE_MIN_MAX(unsigned long)
HEDDLE_MIN_MAX(long long)
HEDDLE_MIN_MAX(unsigned long long)
HEDDLE_FN float min(float a, float b)
{
	return fminf(a, b);
}
HEDDLE_FN float max(float a, float b)
{
	return fmaxf(a, b);
}
HEDDLE_FN double min(double a, double b)
{
	return fmin(a, b);
}
HEDDLE_FN double max(double a, double b)
{
	return fmax(a, b);
}
HEDDLE_FN int abs(int x)
{
	return x < 0 ? -x : x;
}
#ifndef INFINITY
#define INFINITY __builtin_huge_valf()
#endif
#ifndef NAN
#define NAN __builtin_nanf("")
#endif

#endif
