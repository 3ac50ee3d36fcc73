/* CUDA's and HIP's device language for a host C++ compiler: words, vectors, warps, atomics, mathematics, access hooks.
 *
 * Compiled together with the source under test, with -DHEDDLE_WARP=N and, for HIP, -DHEDDLE_HIP.  The text runs as it is;
 * what it does to memory arrives in the hooks at the end, where the emulator watches.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_EMULATOR_CORE_H
#define HEDDLE_EMULATOR_CORE_H

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "abi.h"

#define HEDDLE_EMULATE 1

/* ---- words --------------------------------------------------------------------------------------------------------- */

#if defined(__clang__) /* noinline: clang would inline it into code with hooks and give it some */
#define HEDDLE_RAW __attribute__((noinline, disable_sanitizer_instrumentation, no_sanitize("alignment"), no_sanitize("bounds")))
#else
#define HEDDLE_RAW __attribute__((no_sanitize("thread"), no_sanitize("alignment"), no_sanitize("bounds")))
#endif
#define HEDDLE_APART HEDDLE_RAW __attribute__((noinline, unused))
#define HEDDLE_NOINLINE __attribute__((noinline))

#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __maxnreg__(...)
#define __align__(n) __attribute__((aligned(n)))
/* The emulator rewrites declarations with __shared__ before compiling; this is for those hidden in macros. */
#define __shared__ static __attribute__((section("heddle_shared.0")))
#define HIP_DYNAMIC_SHARED(type, name) type *const name = heddle_emu_shared{};
#define HIP_DYNAMIC_SHARED_ATTRIBUTE
#define __builtin_assume(x) ((void)0)
#define __assume(x) ((void)0)

#ifdef HEDDLE_HIP
#define __HIP__ 1
#define __HIPCC__ 1
#define __HIPCC_RTC__ 1
#define __HIP_PLATFORM_AMD__ 1
#define __HIP_DEVICE_COMPILE__ 1
#define __AMD__ 1
#define __AMDGPU__ 1
#define __AMDGCN__ 1
#define __AMDGCN_WAVEFRONT_SIZE HEDDLE_WARP
#define __AMDGCN_WAVEFRONT_SIZE__ HEDDLE_WARP
#else
#define __CUDACC__ 1
#define __CUDACC_RTC__ 1
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 0
#ifndef __CUDA_ARCH__ /* a chip whose descriptor does not say */
#define __CUDA_ARCH__ 900
#endif
#endif

#define HEDDLE_PLACE const char *heddle_emu_file = __builtin_FILE(), int heddle_emu_line = __builtin_LINE()

/* ---- the running thread -------------------------------------------------------------------------------------------- */

static const heddle_emu_device *heddle_emu;

HEDDLE_RAW static inline void heddle_emu_unsupported(const char *what, const char *file, int line)
{
	heddle_emu->fault(heddle_emu->state, "unsupported", file, line, __builtin_return_address(0), 1, what);
}

/* ---- vectors ------------------------------------------------------------------------------------------------------- */

#ifdef HEDDLE_HIP /* HIP's vectors, unlike CUDA's, are made of their elements, or of one for all */
#define HEDDLE_MADE_1(V, T) V() = default; V(T a) : x(a) {}
#define HEDDLE_MADE_2(V, T) V() = default; V(T a, T b) : x(a), y(b) {} explicit V(T a) : V(a, a) {}
#define HEDDLE_MADE_3(V, T) V() = default; V(T a, T b, T c) : x(a), y(b), z(c) {} explicit V(T a) : V(a, a, a) {}
#define HEDDLE_MADE_4(V, T) V() = default; V(T a, T b, T c, T d) : x(a), y(b), z(c), w(d) {} explicit V(T a) : V(a, a, a, a) {}
#else
#define HEDDLE_MADE_1(V, T)
#define HEDDLE_MADE_2(V, T)
#define HEDDLE_MADE_3(V, T)
#define HEDDLE_MADE_4(V, T)
#endif
#define HEDDLE_VECTORS(name, T, a2, a4)                                                                                \
	struct name##1 { T x; HEDDLE_MADE_1(name##1, T) };                                                             \
	struct __attribute__((aligned(a2))) name##2 { T x, y; HEDDLE_MADE_2(name##2, T) };                            \
	struct name##3 { T x, y, z; HEDDLE_MADE_3(name##3, T) };                                                       \
	struct __attribute__((aligned(a4))) name##4 { T x, y, z, w; HEDDLE_MADE_4(name##4, T) };                      \
	static inline name##1 make_##name##1(T x) { return name##1{x}; }                                               \
	static inline name##2 make_##name##2(T x, T y) { return name##2{x, y}; }                                       \
	static inline name##3 make_##name##3(T x, T y, T z) { return name##3{x, y, z}; }                               \
	static inline name##4 make_##name##4(T x, T y, T z, T w) { return name##4{x, y, z, w}; }

HEDDLE_VECTORS(char, signed char, 2, 4)
HEDDLE_VECTORS(uchar, unsigned char, 2, 4)
HEDDLE_VECTORS(short, short, 4, 8)
HEDDLE_VECTORS(ushort, unsigned short, 4, 8)
HEDDLE_VECTORS(int, int, 8, 16)
HEDDLE_VECTORS(uint, unsigned, 8, 16)
HEDDLE_VECTORS(long, long, 16, 16)
HEDDLE_VECTORS(ulong, unsigned long, 16, 16)
HEDDLE_VECTORS(longlong, long long, 16, 16)
HEDDLE_VECTORS(ulonglong, unsigned long long, 16, 16)
HEDDLE_VECTORS(float, float, 8, 16)
HEDDLE_VECTORS(double, double, 16, 16)

#ifdef HEDDLE_HIP
/* HIP's vectors, unlike CUDA's, have arithmetic. */
#define HEDDLE_VECTOR_OP(V, T, op)                                                                                     \
	static inline V##2 operator op(V##2 a, V##2 b) { return V##2{(T)(a.x op b.x), (T)(a.y op b.y)}; }              \
	static inline V##3 operator op(V##3 a, V##3 b) { return V##3{(T)(a.x op b.x), (T)(a.y op b.y), (T)(a.z op b.z)}; } \
	static inline V##4 operator op(V##4 a, V##4 b)                                                                 \
	{ return V##4{(T)(a.x op b.x), (T)(a.y op b.y), (T)(a.z op b.z), (T)(a.w op b.w)}; }                           \
	static inline V##2 operator op(V##2 a, T b) { return V##2{(T)(a.x op b), (T)(a.y op b)}; }                     \
	static inline V##4 operator op(V##4 a, T b)                                                                    \
	{ return V##4{(T)(a.x op b), (T)(a.y op b), (T)(a.z op b), (T)(a.w op b)}; }                                   \
	static inline V##2 &operator op##=(V##2 &a, V##2 b) { a = a op b; return a; }                                  \
	static inline V##4 &operator op##=(V##4 &a, V##4 b) { a = a op b; return a; }
#define HEDDLE_VECTOR_OPS(V, T)                                                                                        \
	HEDDLE_VECTOR_OP(V, T, +) HEDDLE_VECTOR_OP(V, T, -) HEDDLE_VECTOR_OP(V, T, *) HEDDLE_VECTOR_OP(V, T, /)
HEDDLE_VECTOR_OPS(float, float)
HEDDLE_VECTOR_OPS(double, double)
HEDDLE_VECTOR_OPS(int, int)
HEDDLE_VECTOR_OPS(uint, unsigned)
#endif

struct dim3 {
	unsigned x, y, z;
	dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
	dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
	operator uint3() const { return uint3{x, y, z}; }
};

/* Constant for one thread: a thread never sees another's. */
HEDDLE_APART __attribute__((const)) static uint3 heddle_emu_thread_index()
{
	const unsigned *v = heddle_emu->index->thread;
	return uint3{v[0], v[1], v[2]};
}
HEDDLE_APART __attribute__((const)) static uint3 heddle_emu_block_index()
{
	const unsigned *v = heddle_emu->index->block;
	return uint3{v[0], v[1], v[2]};
}
HEDDLE_APART __attribute__((const)) static uint3 heddle_emu_block_dim()
{
	const unsigned *v = heddle_emu->index->block_dim;
	return uint3{v[0], v[1], v[2]};
}
HEDDLE_APART __attribute__((const)) static uint3 heddle_emu_grid_dim()
{
	const unsigned *v = heddle_emu->index->grid_dim;
	return uint3{v[0], v[1], v[2]};
}
HEDDLE_APART __attribute__((const)) static int heddle_emu_lane() { return heddle_emu->index->lane; }

#define threadIdx (heddle_emu_thread_index())
#define blockIdx (heddle_emu_block_index())
#define blockDim (heddle_emu_block_dim())
#define gridDim (heddle_emu_grid_dim())
#define warpSize HEDDLE_WARP
#define hipThreadIdx_x (threadIdx.x)
#define hipThreadIdx_y (threadIdx.y)
#define hipThreadIdx_z (threadIdx.z)
#define hipBlockIdx_x (blockIdx.x)
#define hipBlockIdx_y (blockIdx.y)
#define hipBlockIdx_z (blockIdx.z)
#define hipBlockDim_x (blockDim.x)
#define hipBlockDim_y (blockDim.y)
#define hipBlockDim_z (blockDim.z)
#define hipGridDim_x (gridDim.x)
#define hipGridDim_y (gridDim.y)
#define hipGridDim_z (gridDim.z)
static inline unsigned __lane_id() { return (unsigned)heddle_emu_lane(); }

/* Names that host declarations use, so that such declarations compile; nothing here can be called. */
typedef struct CUstream_st *cudaStream_t;
typedef struct ihipStream_t *hipStream_t;
typedef int cudaError_t;
typedef int hipError_t;

/* ---- barriers and warps --------------------------------------------------------------------------------------------- */

HEDDLE_RAW static inline void __syncthreads(HEDDLE_PLACE)
{
	heddle_emu->barrier(heddle_emu->state, HEDDLE_EMU_NONE, 0, heddle_emu_file, heddle_emu_line);
}
HEDDLE_RAW static inline int __syncthreads_or(int p, HEDDLE_PLACE)
{
	return heddle_emu->barrier(heddle_emu->state, HEDDLE_EMU_OR, p, heddle_emu_file, heddle_emu_line);
}
HEDDLE_RAW static inline int __syncthreads_and(int p, HEDDLE_PLACE)
{
	return heddle_emu->barrier(heddle_emu->state, HEDDLE_EMU_AND, p, heddle_emu_file, heddle_emu_line);
}
HEDDLE_RAW static inline int __syncthreads_count(int p, HEDDLE_PLACE)
{
	return heddle_emu->barrier(heddle_emu->state, HEDDLE_EMU_COUNT, p, heddle_emu_file, heddle_emu_line);
}
HEDDLE_RAW static inline void __threadfence() { heddle_emu->fence(heddle_emu->state); }
HEDDLE_RAW static inline void __threadfence_system() { heddle_emu->fence(heddle_emu->state); }
static inline void __threadfence_block() {}

HEDDLE_RAW static inline heddle_emu_warp heddle_emu_warp_run(heddle_emu_warp_kind kind, const char *name, bool masked,
							 unsigned long long mask, int source, unsigned long long v0,
							 unsigned long long v1, const char *file, int line)
{
	heddle_emu_warp w = {kind, masked, mask, source, {v0, v1}, 0, 0, name, file, line};
	heddle_emu->warp(heddle_emu->state, &w);
	return w;
}

HEDDLE_RAW static inline void __syncwarp(unsigned long long mask = ~0ull, HEDDLE_PLACE)
{
	heddle_emu_warp_run(HEDDLE_EMU_SYNC, "__syncwarp", true, mask, 0, 0, 0, heddle_emu_file, heddle_emu_line);
}
HEDDLE_RAW static inline void __builtin_amdgcn_wave_barrier(HEDDLE_PLACE)
{
	heddle_emu_warp_run(HEDDLE_EMU_SYNC, "wave barrier", false, 0, 0, 0, 0, heddle_emu_file, heddle_emu_line);
}

template <class T>
HEDDLE_RAW static inline T heddle_emu_shuffle(const char *name, bool masked, unsigned long long mask, T v, int source,
					  const char *file, int line)
{
	static_assert(sizeof(T) <= 16, "shuffles move up to 16 bytes");
	unsigned long long in[2] = {0, 0};
	__builtin_memcpy(in, &v, sizeof(T));
	heddle_emu_warp w = heddle_emu_warp_run(HEDDLE_EMU_SHUFFLE, name, masked, mask, source, in[0], in[1], file, line);
	T out;
	__builtin_memcpy(&out, w.value, sizeof(T));
	return out;
}

static inline int heddle_emu_source_index(int lane, int width, int source)
{
	return (lane & ~(width - 1)) + (source & (width - 1));
}
static inline int heddle_emu_source_up(int lane, int width, int delta)
{
	return (lane & (width - 1)) - delta < 0 ? lane : lane - delta;
}
static inline int heddle_emu_source_down(int lane, int width, int delta)
{
	return (lane & (width - 1)) + delta >= width ? lane : lane + delta;
}
static inline int heddle_emu_source_xor(int lane, int width, int mask)
{
	return (lane ^ mask) >= (lane & ~(width - 1)) + width ? lane : lane ^ mask;
}

/* Without masks: HIP has them, CUDA from 7.0 on has not. */
#if defined(HEDDLE_HIP) || __CUDA_ARCH__ < 700
#define HEDDLE_UNMASKED
#else
#define HEDDLE_UNMASKED __attribute__((unavailable("CUDA has none from compute capability 7.0 on: the one that ends in _sync takes a mask")))
#endif
#define HEDDLE_SHUFFLE(suffix, how)                                                                                    \
	template <class T>                                                                                             \
	HEDDLE_RAW static inline T __shfl##suffix##_sync(unsigned long long mask, T v, int n, int width = HEDDLE_WARP,  \
							 HEDDLE_PLACE)                                                 \
	{                                                                                                              \
		return heddle_emu_shuffle("__shfl" #suffix "_sync", true, mask, v,                                         \
				      heddle_emu_source_##how(heddle_emu_lane(), width, n), heddle_emu_file, heddle_emu_line);         \
	}                                                                                                              \
	template <class T> HEDDLE_UNMASKED                                                                             \
	HEDDLE_RAW static inline T __shfl##suffix(T v, int n, int width = HEDDLE_WARP, HEDDLE_PLACE)                   \
	{                                                                                                              \
		return heddle_emu_shuffle("__shfl" #suffix, false, 0, v, heddle_emu_source_##how(heddle_emu_lane(), width, n),     \
				      heddle_emu_file, heddle_emu_line);                                                       \
	}
HEDDLE_SHUFFLE(, index)
HEDDLE_SHUFFLE(_up, up)
HEDDLE_SHUFFLE(_down, down)
HEDDLE_SHUFFLE(_xor, xor)

#ifdef HEDDLE_HIP
typedef unsigned long long heddle_emu_ballot_type;
#else
typedef unsigned heddle_emu_ballot_type;
#endif
#define HEDDLE_VOTE(name, masked, mask, p)                                                                             \
	heddle_emu_warp_run(HEDDLE_EMU_VOTE, name, masked, mask, 0, (p) != 0, 0, heddle_emu_file, heddle_emu_line)
HEDDLE_RAW static inline heddle_emu_ballot_type __ballot_sync(unsigned long long mask, int p, HEDDLE_PLACE)
{
	return (heddle_emu_ballot_type)HEDDLE_VOTE("__ballot_sync", true, mask, p).vote;
}
HEDDLE_RAW static inline int __any_sync(unsigned long long mask, int p, HEDDLE_PLACE)
{
	return HEDDLE_VOTE("__any_sync", true, mask, p).vote != 0;
}
HEDDLE_RAW static inline int __all_sync(unsigned long long mask, int p, HEDDLE_PLACE)
{
	heddle_emu_warp w = HEDDLE_VOTE("__all_sync", true, mask, p);
	return w.vote == w.active;
}
HEDDLE_UNMASKED HEDDLE_RAW static inline heddle_emu_ballot_type __ballot(int p, HEDDLE_PLACE)
{
	return (heddle_emu_ballot_type)HEDDLE_VOTE("__ballot", false, 0, p).vote;
}
HEDDLE_UNMASKED HEDDLE_RAW static inline int __any(int p, HEDDLE_PLACE) { return HEDDLE_VOTE("__any", false, 0, p).vote != 0; }
HEDDLE_UNMASKED HEDDLE_RAW static inline int __all(int p, HEDDLE_PLACE)
{
	heddle_emu_warp w = HEDDLE_VOTE("__all", false, 0, p);
	return w.vote == w.active;
}
HEDDLE_RAW static inline heddle_emu_ballot_type __activemask(HEDDLE_PLACE)
{
	return (heddle_emu_ballot_type)HEDDLE_VOTE("__activemask", false, 0, 1).active;
}
template <class T> HEDDLE_RAW static inline heddle_emu_ballot_type __match_any_sync(unsigned long long mask, T v, HEDDLE_PLACE)
{
	unsigned long long in = 0;
	__builtin_memcpy(&in, &v, sizeof(T));
	return (heddle_emu_ballot_type)heddle_emu_warp_run(HEDDLE_EMU_MATCH, "__match_any_sync", true, mask, 0, in, 0, heddle_emu_file,
						   heddle_emu_line).vote;
}
#define HEDDLE_REDUCE(name, T, combine)                                                                                \
	HEDDLE_RAW static inline T name(unsigned long long mask, T v, HEDDLE_PLACE)                                    \
	{                                                                                                              \
		heddle_emu_warp w = heddle_emu_warp_run(HEDDLE_EMU_VOTE, #name, true, mask, 0, 1, 0, heddle_emu_file,           \
						    heddle_emu_line);                                                      \
		bool first = true;                                                                                     \
		T all = v;                                                                                             \
		for (int lane = 0; lane < HEDDLE_WARP; lane++) {                                                       \
			if (!(w.active >> lane & 1))                                                                   \
				continue;                                                                              \
			T b = heddle_emu_shuffle(#name, true, mask, v, lane, heddle_emu_file, heddle_emu_line), a = all;           \
			all = first ? b : combine;                                                                     \
			first = false;                                                                                 \
		}                                                                                                      \
		return all;                                                                                            \
	}
HEDDLE_REDUCE(__reduce_add_sync, unsigned, a + b)
HEDDLE_REDUCE(__reduce_add_sync, int, (int)((unsigned)a + (unsigned)b))
HEDDLE_REDUCE(__reduce_min_sync, unsigned, a < b ? a : b)
HEDDLE_REDUCE(__reduce_min_sync, int, a < b ? a : b)
HEDDLE_REDUCE(__reduce_max_sync, unsigned, a > b ? a : b)
HEDDLE_REDUCE(__reduce_max_sync, int, a > b ? a : b)
HEDDLE_REDUCE(__reduce_and_sync, unsigned, a & b)
HEDDLE_REDUCE(__reduce_or_sync, unsigned, a | b)
HEDDLE_REDUCE(__reduce_xor_sync, unsigned, a ^ b)

static inline void __nanosleep(unsigned) {}
static inline long long clock64() { return 0; }
static inline long long wall_clock64() { return 0; }
HEDDLE_RAW static inline void heddle_emu_trap(const char *what, HEDDLE_PLACE)
{
	heddle_emu->fault(heddle_emu->state, "crash", heddle_emu_file, heddle_emu_line, __builtin_return_address(0), 1, what);
}
#define __trap() heddle_emu_trap("__trap()")

/* ---- atomics --------------------------------------------------------------------------------------------------------- */

#define HEDDLE_TOUCH(p)                                                                                                \
	heddle_emu->access(heddle_emu->state, (p), sizeof(*(p)), HEDDLE_EMU_READ | HEDDLE_EMU_WRITE | HEDDLE_EMU_ATOMIC, \
			   __builtin_return_address(0))
#define HEDDLE_ATOMIC_ONE(name, T, result)                                                                             \
	HEDDLE_APART static T name(T *p, T v)                                                                          \
	{                                                                                                              \
		HEDDLE_TOUCH(p);                                                                                       \
		T old = *p;                                                                                            \
		*p = result;                                                                                           \
		return old;                                                                                            \
	}
#define HEDDLE_ATOMIC(name, T, result)                                                                                 \
	HEDDLE_ATOMIC_ONE(name, T, result)                                                                             \
	HEDDLE_ATOMIC_ONE(name##_block, T, result)                                                                     \
	HEDDLE_ATOMIC_ONE(name##_system, T, result)
#define HEDDLE_ATOMIC_INTEGER(T, U)                                                                                    \
	HEDDLE_ATOMIC(atomicAdd, T, (T)((U)old + (U)v))                                                                \
	HEDDLE_ATOMIC(atomicSub, T, (T)((U)old - (U)v))                                                                \
	HEDDLE_ATOMIC(atomicMin, T, old < v ? old : v)                                                                 \
	HEDDLE_ATOMIC(atomicMax, T, old > v ? old : v)                                                                 \
	HEDDLE_ATOMIC(atomicAnd, T, old & v)                                                                           \
	HEDDLE_ATOMIC(atomicOr, T, old | v)                                                                            \
	HEDDLE_ATOMIC(atomicXor, T, old ^ v)                                                                           \
	HEDDLE_ATOMIC(atomicExch, T, v)                                                                                \
	HEDDLE_ATOMIC_CAS(T)
#define HEDDLE_ATOMIC_CAS(T)                                                                                           \
	HEDDLE_APART static T atomicCAS(T *p, T compare, T v)                                                          \
	{                                                                                                              \
		HEDDLE_TOUCH(p);                                                                                       \
		T old = *p;                                                                                            \
		if (old == compare)                                                                                    \
			*p = v;                                                                                        \
		return old;                                                                                            \
	}
HEDDLE_ATOMIC_INTEGER(int, unsigned)
HEDDLE_ATOMIC_INTEGER(unsigned, unsigned)
HEDDLE_ATOMIC_INTEGER(unsigned long long, unsigned long long)
HEDDLE_ATOMIC_INTEGER(long long, unsigned long long)
HEDDLE_ATOMIC_INTEGER(unsigned long, unsigned long)
HEDDLE_ATOMIC_CAS(unsigned short)
HEDDLE_ATOMIC(atomicInc, unsigned, old >= v ? 0 : old + 1)
HEDDLE_ATOMIC(atomicDec, unsigned, old == 0 || old > v ? v : old - 1)
HEDDLE_ATOMIC(atomicAdd, float, old + v)
HEDDLE_ATOMIC(atomicAdd, double, old + v)
HEDDLE_ATOMIC(atomicExch, float, v)
HEDDLE_ATOMIC(unsafeAtomicAdd, float, old + v)
HEDDLE_ATOMIC(unsafeAtomicAdd, double, old + v)
HEDDLE_ATOMIC(atomicMin, float, fminf(old, v))
HEDDLE_ATOMIC(atomicMax, float, fmaxf(old, v))

/* ---- loads, bits, conversions ------------------------------------------------------------------------------------------ */

#define HEDDLE_LOAD(name) template <class T> static inline T name(const T *p) { return *p; }
HEDDLE_LOAD(__ldg)
HEDDLE_LOAD(__ldca)
HEDDLE_LOAD(__ldcg)
HEDDLE_LOAD(__ldcs)
HEDDLE_LOAD(__ldlu)
HEDDLE_LOAD(__ldcv)
#define HEDDLE_STORE(name) template <class T> static inline void name(T *p, T v) { *p = v; }
HEDDLE_STORE(__stwb)
HEDDLE_STORE(__stcg)
HEDDLE_STORE(__stcs)
HEDDLE_STORE(__stwt)

template <class To, class From> static inline To heddle_emu_bits(From v)
{
	static_assert(sizeof(To) == sizeof(From), "same size");
	To out;
	__builtin_memcpy(&out, &v, sizeof(To));
	return out;
}
static inline int __float_as_int(float v) { return heddle_emu_bits<int>(v); }
static inline unsigned __float_as_uint(float v) { return heddle_emu_bits<unsigned>(v); }
static inline float __int_as_float(int v) { return heddle_emu_bits<float>(v); }
static inline float __uint_as_float(unsigned v) { return heddle_emu_bits<float>(v); }
static inline long long __double_as_longlong(double v) { return heddle_emu_bits<long long>(v); }
static inline double __longlong_as_double(long long v) { return heddle_emu_bits<double>(v); }
static inline int __double2hiint(double v) { return (int)(heddle_emu_bits<unsigned long long>(v) >> 32); }
static inline int __double2loint(double v) { return (int)heddle_emu_bits<unsigned long long>(v); }
static inline double __hiloint2double(int hi, int lo)
{
	return heddle_emu_bits<double>((unsigned long long)(unsigned)hi << 32 | (unsigned)lo);
}

static inline int __popc(unsigned v) { return __builtin_popcount(v); }
static inline int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
static inline int __clz(int v) { return v ? __builtin_clz((unsigned)v) : 32; }
static inline int __clzll(long long v) { return v ? __builtin_clzll((unsigned long long)v) : 64; }
static inline int __ffs(int v) { return __builtin_ffs(v); }
static inline int __ffsll(long long v) { return __builtin_ffsll(v); }
static inline unsigned __brev(unsigned v)
{
	unsigned r = 0;
	for (int i = 0; i < 32; i++)
		r |= (v >> i & 1u) << (31 - i);
	return r;
}
static inline unsigned long long __brevll(unsigned long long v)
{
	return (unsigned long long)__brev((unsigned)v) << 32 | __brev((unsigned)(v >> 32));
}
static inline int __mul24(int a, int b) { return (int)((unsigned)(a << 8 >> 8) * (unsigned)(b << 8 >> 8)); }
static inline unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffffu) * (b & 0xffffffu); }
static inline int __mulhi(int a, int b) { return (int)((long long)a * b >> 32); }
static inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((unsigned long long)a * b >> 32); }
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b)
{
	return (unsigned long long)((unsigned __int128)a * b >> 64);
}
static inline long long __mul64hi(long long a, long long b) { return (long long)((__int128)a * b >> 64); }
static inline unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned n)
{
	return (unsigned)(((unsigned long long)hi << 32 | lo) << (n & 31) >> 32);
}
static inline unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned n)
{
	return (unsigned)(((unsigned long long)hi << 32 | lo) >> (n & 31));
}
static inline unsigned __byte_perm(unsigned a, unsigned b, unsigned s)
{
	unsigned long long v = (unsigned long long)b << 32 | a;
	unsigned r = 0;
	for (int i = 0; i < 4; i++) {
		unsigned k = s >> (4 * i) & 0xf, byte = (unsigned)(v >> (8 * (k & 7))) & 0xff;
		r |= (k & 8 ? (byte & 0x80 ? 0xffu : 0u) : byte) << (8 * i);
	}
	return r;
}
static inline unsigned __sad(int a, int b, unsigned c) { return c + (a > b ? (unsigned)a - (unsigned)b : (unsigned)b - (unsigned)a); }
static inline unsigned __dp4a(unsigned a, unsigned b, unsigned c)
{
	for (int i = 0; i < 4; i++)
		c += (a >> (8 * i) & 0xffu) * (b >> (8 * i) & 0xffu);
	return c;
}
static inline int __dp4a(char4 a, char4 b, int c) { return c + a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }
static inline unsigned __dp4a(uchar4 a, uchar4 b, unsigned c)
{
	return c + (unsigned)a.x * b.x + (unsigned)a.y * b.y + (unsigned)a.z * b.z + (unsigned)a.w * b.w;
}
#if !defined(__clang__)
#define __builtin_nontemporal_load(p) (*(p))
#define __builtin_nontemporal_store(v, p) ((void)(*(p) = (v)))
#endif
static inline int __dp4a(int a, int b, int c)
{
	for (int i = 0; i < 4; i++)
		c += (int)(signed char)(a >> (8 * i)) * (int)(signed char)(b >> (8 * i));
	return c;
}

/* Conversions saturate and send NaN to 0, as the hardware does. */
template <class I> static inline I heddle_emu_to_integer(double v)
{
	const bool is_signed = (I)-1 < (I)0;
	const double top = (double)(1ull << (sizeof(I) * 8 - 1)) * (is_signed ? 1.0 : 2.0);
	const I least = is_signed ? (I)(1ull << (sizeof(I) * 8 - 1)) : (I)0;
	return v != v ? (I)0 : v >= top ? (I)~least : v <= (is_signed ? -top : 0.0) ? least : (I)v;
}
#define HEDDLE_CONVERT(from, F, to, I)                                                                                 \
	static inline I __##from##2##to##_rn(F v) { return heddle_emu_to_integer<I>(nearbyint((double)v)); }               \
	static inline I __##from##2##to##_rz(F v) { return heddle_emu_to_integer<I>(trunc((double)v)); }                   \
	static inline I __##from##2##to##_rd(F v) { return heddle_emu_to_integer<I>(floor((double)v)); }                   \
	static inline I __##from##2##to##_ru(F v) { return heddle_emu_to_integer<I>(ceil((double)v)); }
HEDDLE_CONVERT(float, float, int, int)
HEDDLE_CONVERT(float, float, uint, unsigned)
HEDDLE_CONVERT(float, float, ll, long long)
HEDDLE_CONVERT(float, float, ull, unsigned long long)
HEDDLE_CONVERT(double, double, int, int)
HEDDLE_CONVERT(double, double, uint, unsigned)
HEDDLE_CONVERT(double, double, ll, long long)
HEDDLE_CONVERT(double, double, ull, unsigned long long)
static inline float __int2float_rn(int v) { return (float)v; }
static inline float __uint2float_rn(unsigned v) { return (float)v; }
static inline float __ll2float_rn(long long v) { return (float)v; }
static inline float __ull2float_rn(unsigned long long v) { return (float)v; }
static inline double __int2double_rn(int v) { return v; }
static inline double __ll2double_rn(long long v) { return (double)v; }
static inline float __double2float_rn(double v) { return (float)v; }

/* ---- mathematics --------------------------------------------------------------------------------------------------------- */

/* CUDA's min and max: fmin and fmax for floats, the usual conversions for mixed integers. */
static inline float min(float a, float b) { return fminf(a, b); }
static inline float max(float a, float b) { return fmaxf(a, b); }
static inline double min(double a, double b) { return fmin(a, b); }
static inline double max(double a, double b) { return fmax(a, b); }
static inline double min(float a, double b) { return fmin(a, b); }
static inline double max(float a, double b) { return fmax(a, b); }
static inline double min(double a, float b) { return fmin(a, b); }
static inline double max(double a, float b) { return fmax(a, b); }
template <class A, class B> static inline auto min(A a, B b) -> decltype(true ? a : b) { return b < a ? b : a; }
template <class A, class B> static inline auto max(A a, B b) -> decltype(true ? a : b) { return a < b ? b : a; }
static inline int umin(unsigned a, unsigned b) { return (int)(a < b ? a : b); }

/* math_constants.h */
#define CUDART_INF_F INFINITY
#define CUDART_NAN_F NAN
#define CUDART_INF ((double)INFINITY)
#define CUDART_NAN ((double)NAN)
#define CUDART_PI_F 3.141592654f
#define CUDART_PI 3.1415926535897931e+0
#define CUDART_PIO2_F 1.570796327f
#define CUDART_LOG2E_F 1.442695041f
#define CUDART_L2E_F 1.442695041f
#define CUDART_LN2_F 0.693147181f
#define CUDART_SQRT_TWO_F 1.414213562f
#define CUDART_SQRT_HALF_F 0.707106781f
#define CUDART_MAX_NORMAL_F 3.402823466e38f
#define CUDART_MIN_DENORM_F 1.401298464e-45f
#define HEDDLE_PI 3.141592653589793238462643383279502884L
static inline long double heddle_emu_sinpi(long double x)
{
	x = fmodl(x, 2);
	long double n = rintl(2 * x), r = (x - n / 2) * HEDDLE_PI;
	switch ((int)n & 3) {
	case 0: return sinl(r);
	case 1: return cosl(r);
	case 2: return -sinl(r);
	default: return -cosl(r);
	}
}
static inline long double heddle_emu_cospi(long double x)
{
	return heddle_emu_sinpi(fmodl(fabsl(x), 2) + 0.5L);
}
/* The inverse of the normal distribution for 0 < p <= 1/2: a rough start by the tail, then Halley steps. */
static inline long double heddle_emu_normcdfinv(long double p)
{
	if (!(p > 0) || !(p < 1))
		return p == 0 ? -(long double)INFINITY : p == 1 ? (long double)INFINITY : (long double)NAN;
	if (p > 0.5L)
		return -heddle_emu_normcdfinv(1 - p);
	long double t = sqrtl(-2 * logl(p));
	long double x = -(t - (2.30753L + 0.27061L * t) / (1 + 0.99229L * t + 0.04481L * t * t));
	for (int i = 0; i < 8; i++) {
		long double e = 0.5L * erfcl(-x / sqrtl(2.0L)) - p;
		long double u = e * sqrtl(2 * HEDDLE_PI) * expl(x * x / 2);
		long double step = u / (1 + x * u / 2);
		x -= step;
		if (fabsl(step) <= 1e-18L * fabsl(x))
			break;
	}
	return x;
}
/* From the tail probability q = erfc(x), without losing small q; from the centre by Newton on erf. */
static inline long double heddle_emu_erfcinv(long double q)
{
	if (q > 1)
		return -heddle_emu_erfcinv(2 - q);
	return -heddle_emu_normcdfinv(q / 2) / sqrtl(2.0L);
}
static inline long double heddle_emu_erfinv(long double y)
{
	long double a = fabsl(y);
	if (!(a < 0.5L))
		return a > 1 || y != y ? (long double)NAN : copysignl(heddle_emu_erfcinv(1 - a), y);
	long double x = y * sqrtl(HEDDLE_PI) / 2;
	for (int i = 0; i < 8; i++)
		x -= (erfl(x) - y) * sqrtl(HEDDLE_PI) / 2 * expl(x * x);
	return x;
}
static inline long double heddle_emu_erfcx(long double x)
{
	if (x < 50)
		return expl(x * x) * erfcl(x);
	long double s = 1, t = 1;
	for (int k = 1; k < 10; k++)
		s += t *= -(2 * k - 1) / (2 * x * x);
	return s / (x * sqrtl(HEDDLE_PI));
}
static inline long double heddle_emu_bessel_i(int order, long double x)
{
	long double a = fabsl(x), s = 0;
	if (a < 40) {
		long double t = order ? a / 2 : 1;
		for (int k = 1; k < 400 && t > 1e-22L * s; k++) {
			s += t;
			t *= a * a / 4 / k / (k + order);
		}
	} else {
		long double t = 1;
		for (int k = 1; k < 40 && fabsl(t) > 1e-22L; k++) {
			s += t;
			t *= -(4.0L * order * order - (2 * k - 1) * (2 * k - 1)) / (8 * k * a);
		}
		s *= expl(a) / sqrtl(2 * HEDDLE_PI * a);
	}
	return order && x < 0 ? -s : s;
}
static inline long double heddle_emu_norm(long double a, long double b, long double c = 0, long double d = 0)
{
	return isinf(a) || isinf(b) || isinf(c) || isinf(d) ? (long double)INFINITY : sqrtl(a * a + b * b + c * c + d * d);
}

/* A function under CUDA's name for double, with f for float, and overloaded for float. */
#define HEDDLE_MATH_1(name, result)                                                                                    \
	static inline double name(double x) { return (double)(result); }                                               \
	static inline float name##f(float x) { return (float)(result); }                                               \
	static inline float name(float x) { return name##f(x); }                                                       \
	static inline double name(int x) { return name((double)x); }
#define HEDDLE_MATH_2(name, result)                                                                                    \
	static inline double name(double x, double y) { return (double)(result); }                                     \
	static inline float name##f(float x, float y) { return (float)(result); }                                      \
	static inline float name(float x, float y) { return name##f(x, y); }
#define HEDDLE_MATH_3(name, result)                                                                                    \
	static inline double name(double x, double y, double z) { return (double)(result); }                           \
	static inline float name##f(float x, float y, float z) { return (float)(result); }                             \
	static inline float name(float x, float y, float z) { return name##f(x, y, z); }
#define HEDDLE_MATH_4(name, result)                                                                                    \
	static inline double name(double x, double y, double z, double w) { return (double)(result); }                 \
	static inline float name##f(float x, float y, float z, float w) { return (float)(result); }                    \
	static inline float name(float x, float y, float z, float w) { return name##f(x, y, z, w); }
HEDDLE_MATH_1(rsqrt, 1 / sqrtl(x))
HEDDLE_MATH_1(rcbrt, 1 / cbrtl(x))
HEDDLE_MATH_1(sinpi, heddle_emu_sinpi(x))
HEDDLE_MATH_1(cospi, heddle_emu_cospi(x))
HEDDLE_MATH_1(erfinv, heddle_emu_erfinv(x))
HEDDLE_MATH_1(erfcinv, heddle_emu_erfcinv(x))
HEDDLE_MATH_1(erfcx, heddle_emu_erfcx(x))
HEDDLE_MATH_1(normcdf, 0.5L * erfcl(-(long double)x / sqrtl(2.0L)))
HEDDLE_MATH_1(normcdfinv, heddle_emu_normcdfinv(x))
HEDDLE_MATH_1(cyl_bessel_i0, heddle_emu_bessel_i(0, x))
HEDDLE_MATH_1(cyl_bessel_i1, heddle_emu_bessel_i(1, x))
HEDDLE_MATH_2(fdivide, x / y)
HEDDLE_MATH_2(rhypot, 1 / hypotl(x, y))
HEDDLE_MATH_3(norm3d, heddle_emu_norm(x, y, z))
HEDDLE_MATH_3(rnorm3d, 1 / heddle_emu_norm(x, y, z))
HEDDLE_MATH_4(norm4d, heddle_emu_norm(x, y, z, w))
HEDDLE_MATH_4(rnorm4d, 1 / heddle_emu_norm(x, y, z, w))
static inline float exp10(float x) { return exp10f(x); }
static inline float j0(float x) { return j0f(x); }
static inline float j1(float x) { return j1f(x); }
static inline float y0(float x) { return y0f(x); }
static inline float y1(float x) { return y1f(x); }
static inline void sincospi(double x, double *s, double *c) { *s = sinpi(x), *c = cospi(x); }
static inline void sincospif(float x, float *s, float *c) { *s = sinpif(x), *c = cospif(x); }
static inline float __saturatef(float x) { return x > 0 ? x < 1 ? x : 1 : 0; }

/* glibc declares these names for itself. */
#define __expf heddle_emu_expf
#define __exp10f heddle_emu_exp10f
#define __exp2f heddle_emu_exp2f
#define __logf heddle_emu_logf
#define __log2f heddle_emu_log2f
#define __log10f heddle_emu_log10f
#define __sinf heddle_emu_sinf
#define __cosf heddle_emu_cosf
#define __tanf heddle_emu_tanf
#define __powf heddle_emu_powf
#define __sincosf heddle_emu_sincosf
#define HEDDLE_FAST_1(name, result) static inline float name(float x) { return result; }
#define HEDDLE_FAST_2(name, result) static inline float name(float x, float y) { return result; }
HEDDLE_FAST_1(__expf, expf(x))
HEDDLE_FAST_1(__exp10f, exp10f(x))
HEDDLE_FAST_1(__exp2f, exp2f(x))
HEDDLE_FAST_1(__logf, logf(x))
HEDDLE_FAST_1(__log2f, log2f(x))
HEDDLE_FAST_1(__log10f, log10f(x))
HEDDLE_FAST_1(__sinf, sinf(x))
HEDDLE_FAST_1(__cosf, cosf(x))
HEDDLE_FAST_1(__tanf, tanf(x))
HEDDLE_FAST_1(__frcp_rn, 1 / x)
HEDDLE_FAST_1(__fsqrt_rn, sqrtf(x))
HEDDLE_FAST_1(__frsqrt_rn, rsqrtf(x))
HEDDLE_FAST_2(__powf, powf(x, y))
HEDDLE_FAST_2(__fdividef, x / y)
HEDDLE_FAST_2(__fadd_rn, x + y)
HEDDLE_FAST_2(__fsub_rn, x - y)
HEDDLE_FAST_2(__fmul_rn, x *y)
HEDDLE_FAST_2(__fdiv_rn, x / y)
static inline float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
static inline double __dadd_rn(double x, double y) { return x + y; }
static inline double __dsub_rn(double x, double y) { return x - y; }
static inline double __drcp_rn(double x) { return 1 / x; }
static inline double __dmul_rn(double x, double y) { return x * y; }
static inline double __ddiv_rn(double x, double y) { return x / y; }
static inline double __dsqrt_rn(double x) { return sqrt(x); }
static inline double __fma_rn(double x, double y, double z) { return fma(x, y, z); }
static inline void __sincosf(float x, float *s, float *c) { sincosf(x, s, c); }

/* ---- hooks ------------------------------------------------------------------------------------------------------------------ */

extern "C" {
/* clang does not check the alignment of structures that it copies, but takes a plain hook only where it is a multiple of
 * min(size, 8) by the type. */
HEDDLE_APART static void heddle_emu_misaligned(unsigned long align, const void *pc)
{
	heddle_emu->fault(heddle_emu->state, "bounds", 0, 0, pc, 1,
			  align == 8 ? "an access that needs an address that is a multiple of 8" :
			  align == 4 ? "an access that needs an address that is a multiple of 4" :
				       "an access that needs an address that is a multiple of 2");
}
#define HEDDLE_HOOK(name, size, align, how)                                                                            \
	HEDDLE_APART void __tsan_##name(void *p)                                                                       \
	{                                                                                                              \
		if (heddle_emu) {                                                                                      \
			if ((size_t)p & (align - 1))                                                                   \
				heddle_emu_misaligned(align, __builtin_return_address(0));                             \
			heddle_emu->access(heddle_emu->state, p, size, how, __builtin_return_address(0));              \
		}                                                                                                      \
	}
#define HEDDLE_HOOKS(prefix, size, align)                                                                              \
	HEDDLE_HOOK(prefix##read##size, size, align, HEDDLE_EMU_READ)                                                  \
	HEDDLE_HOOK(prefix##write##size, size, align, HEDDLE_EMU_WRITE)                                                \
	HEDDLE_HOOK(prefix##read_write##size, size, align, HEDDLE_EMU_READ | HEDDLE_EMU_WRITE)
HEDDLE_HOOKS(, 1, 1)
HEDDLE_HOOKS(, 2, 2)
HEDDLE_HOOKS(, 4, 4)
HEDDLE_HOOKS(, 8, 8)
HEDDLE_HOOKS(, 16, 8)
HEDDLE_HOOKS(unaligned_, 2, 1)
HEDDLE_HOOKS(unaligned_, 4, 1)
HEDDLE_HOOKS(unaligned_, 8, 1)
HEDDLE_HOOKS(unaligned_, 16, 1)
HEDDLE_APART void __tsan_read_range(void *p, unsigned long n)
{
	if (heddle_emu)
		heddle_emu->access(heddle_emu->state, p, n, HEDDLE_EMU_READ, __builtin_return_address(0));
}
HEDDLE_APART void __tsan_write_range(void *p, unsigned long n)
{
	if (heddle_emu)
		heddle_emu->access(heddle_emu->state, p, n, HEDDLE_EMU_WRITE, __builtin_return_address(0));
}
HEDDLE_APART void __tsan_init() {}
HEDDLE_APART void __tsan_func_entry(void *) {}
HEDDLE_APART void __tsan_func_exit(void *) {}
HEDDLE_APART void __tsan_vptr_update(void **, void *) {}
HEDDLE_APART void __tsan_vptr_read(void **) {}

/* Compilers copy structures through these without an access hook, some under the names with __tsan_. */
HEDDLE_APART static void *heddle_emu_copy(void *to, const void *from, size_t n, const void *pc)
{
	if (heddle_emu) {
		heddle_emu->access(heddle_emu->state, from, n, HEDDLE_EMU_READ, pc);
		heddle_emu->access(heddle_emu->state, to, n, HEDDLE_EMU_WRITE, pc);
	}
	bool up = (size_t)to < (size_t)from; /* overlapping memory, too */
	for (size_t i = 0; i < n; i++) {
		size_t k = up ? i : n - 1 - i;
		((volatile char *)to)[k] = ((const volatile char *)from)[k];
	}
	return to;
}
HEDDLE_APART static void *heddle_emu_fill(void *to, int value, size_t n, const void *pc)
{
	if (heddle_emu)
		heddle_emu->access(heddle_emu->state, to, n, HEDDLE_EMU_WRITE, pc);
	for (size_t i = 0; i < n; i++)
		((volatile char *)to)[i] = (char)value;
	return to;
}
#define HEDDLE_COPY(name, how)                                                                                         \
	HEDDLE_APART void *name(void *to, const void *from, size_t n) how                                              \
	{                                                                                                              \
		return heddle_emu_copy(to, from, n, __builtin_return_address(0));                                      \
	}
#define HEDDLE_FILL(name, how)                                                                                         \
	HEDDLE_APART void *name(void *to, int value, size_t n) how                                                     \
	{                                                                                                              \
		return heddle_emu_fill(to, value, n, __builtin_return_address(0));                                     \
	}
HEDDLE_COPY(memcpy, noexcept)
HEDDLE_COPY(memmove, noexcept)
HEDDLE_COPY(__tsan_memcpy, )
HEDDLE_COPY(__tsan_memmove, )
HEDDLE_FILL(memset, noexcept)
HEDDLE_FILL(__tsan_memset, )

/* What -fsanitize=alignment, bounds and integer-divide-by-zero call. */
struct heddle_emu_ub_place {
	const char *file;
	unsigned line, column;
};
struct heddle_emu_ub_type {
	unsigned short kind, info;
	char name[1];
};
struct heddle_emu_ub_mismatch {
	heddle_emu_ub_place place;
	const heddle_emu_ub_type *type;
	unsigned char log_alignment, check;
};
struct heddle_emu_ub_bounds {
	heddle_emu_ub_place place;
	const heddle_emu_ub_type *array, *index;
};
struct heddle_emu_ub_overflow {
	heddle_emu_ub_place place;
	const heddle_emu_ub_type *type;
};
HEDDLE_APART static char *heddle_emu_text(char *to, const char *s)
{
	for (int n = 0; *s && n < 200; n++)
		*to++ = *s++;
	*to = 0;
	return to;
}
HEDDLE_APART static char *heddle_emu_number(char *to, long long v)
{
	char digit[24];
	int n = 0;
	unsigned long long u = v < 0 ? 0ull - (unsigned long long)v : (unsigned long long)v;
	if (v < 0)
		*to++ = '-';
	do
		digit[n++] = (char)('0' + u % 10);
	while (u /= 10);
	while (n)
		*to++ = digit[--n];
	*to = 0;
	return to;
}
/* None of them goes on: the host's instructions may trap where the device's do. */
HEDDLE_APART static void heddle_emu_ub_fault(const char *kind, heddle_emu_ub_place place, const void *pc, const char *text)
{
	heddle_emu->fault(heddle_emu->state, kind, place.file, (int)place.line, pc, 1, text);
}
HEDDLE_APART void __ubsan_handle_type_mismatch_v1(heddle_emu_ub_mismatch *data, void *pointer)
{
	char text[512], *end = heddle_emu_text(text, "an access of type ");
	end = heddle_emu_text(end, data->type->name);
	end = heddle_emu_text(end, " needs an address that is a multiple of ");
	end = heddle_emu_number(end, 1ll << data->log_alignment);
	end = heddle_emu_text(end, "; this one is ");
	end = heddle_emu_number(end, (long long)((size_t)pointer & (((size_t)1 << data->log_alignment) - 1)));
	heddle_emu_text(end, " bytes past one");
	heddle_emu_ub_fault("bounds", data->place, __builtin_return_address(0), text);
}
HEDDLE_APART void __ubsan_handle_out_of_bounds(heddle_emu_ub_bounds *data, unsigned long index)
{
	char text[512], *end = heddle_emu_text(text, "subscript ");
	bool is_signed = data->index->info & 1;
	int bits = 1 << (data->index->info >> 1);
	end = heddle_emu_number(end, is_signed && bits <= 32 ? (int)index : (long long)index);
	end = heddle_emu_text(end, " is outside an array of type ");
	end = heddle_emu_text(end, data->array->name);
	heddle_emu_ub_fault("bounds", data->place, __builtin_return_address(0), text);
}
HEDDLE_APART void __ubsan_handle_divrem_overflow(heddle_emu_ub_overflow *data, unsigned long, unsigned long divisor)
{
	heddle_emu_ub_fault("crash", data->place, __builtin_return_address(0),
			    divisor ? "the quotient does not fit its type" : "integer division by zero");
}

/* What assert() of the C library calls, in the text's own headers, too; the process goes on. */
HEDDLE_APART __attribute__((noreturn)) void __assert_fail(const char *condition, const char *file, unsigned line,
							  const char *) noexcept
{
	char text[512], *end = heddle_emu_text(text, "the assertion ");
	end = heddle_emu_text(end, condition);
	heddle_emu_text(end, " does not hold");
	heddle_emu->fault(heddle_emu->state, "crash", file, (int)line, __builtin_return_address(0), 1, text);
	__builtin_trap();
}
HEDDLE_APART __attribute__((noreturn)) void abort() noexcept
{
	heddle_emu->fault(heddle_emu->state, "crash", 0, 0, __builtin_return_address(0), 1, "abort()");
	__builtin_trap();
}

__attribute__((aligned(1024))) unsigned char heddle_dynamic_shared[256 * 1024];
}
/* What a declaration of dynamic shared memory is bound to, whatever its type. */
struct heddle_emu_shared {
	template <class T> constexpr operator T *() const { return (T *)(void *)heddle_dynamic_shared; }
};

/* ---- launching --------------------------------------------------------------------------------------------------------------- */

template <class T> struct heddle_emu_kind { static constexpr char value = '?'; };
template <class T> struct heddle_emu_kind<T *> { static constexpr char value = 'p'; };
#define HEDDLE_KIND(T, k) template <> struct heddle_emu_kind<T> { static constexpr char value = k; };
HEDDLE_KIND(float, 'f')
HEDDLE_KIND(double, 'f')
HEDDLE_KIND(bool, 'u')
HEDDLE_KIND(char, 'i')
HEDDLE_KIND(signed char, 'i')
HEDDLE_KIND(short, 'i')
HEDDLE_KIND(int, 'i')
HEDDLE_KIND(long, 'i')
HEDDLE_KIND(long long, 'i')
HEDDLE_KIND(unsigned char, 'u')
HEDDLE_KIND(unsigned short, 'u')
HEDDLE_KIND(unsigned, 'u')
HEDDLE_KIND(unsigned long, 'u')
HEDDLE_KIND(unsigned long long, 'u')

template <int... I> struct heddle_emu_list {};
template <int N, int... I> struct heddle_emu_count : heddle_emu_count<N - 1, N - 1, I...> {};
template <int... I> struct heddle_emu_count<0, I...> { typedef heddle_emu_list<I...> type; };

template <class... A> struct heddle_emu_bind {
	static constexpr heddle_emu_parameter parameter[sizeof...(A) + 1] = {
		{heddle_emu_kind<A>::value, (unsigned char)(sizeof(A) < 256 ? sizeof(A) : 255)}..., {0, 0}};
	template <int... I> HEDDLE_RAW static void spread(void (*f)(A...), void *const *argument, heddle_emu_list<I...>)
	{
		f(*(A *)argument[I]...);
	}
	HEDDLE_RAW static void call(void (*f)(), void *const *argument)
	{
		spread((void (*)(A...))f, argument, typename heddle_emu_count<sizeof...(A)>::type());
	}
};
template <class... A> constexpr heddle_emu_parameter heddle_emu_bind<A...>::parameter[];

template <class... A> HEDDLE_RAW static heddle_emu_kernel heddle_emu_bound(const char *name, void (*f)(A...))
{
	return heddle_emu_kernel{name, (void (*)())f, heddle_emu_bind<A...>::call, (int)sizeof...(A), heddle_emu_bind<A...>::parameter};
}

#endif
