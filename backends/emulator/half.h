/* 16-bit floating types of CUDA and HIP for a host compiler: storage, conversions, and arithmetic rounded once.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_EMULATOR_HALF_H
#define HEDDLE_EMULATOR_HALF_H

#include "core.h"

/* Round to nearest even, from the double so that nothing is rounded twice. */
static inline unsigned short heddle_emu_half_from(double v)
{
	unsigned long long u = heddle_emu_bits<unsigned long long>(v);
	unsigned short sign = (unsigned short)(u >> 48 & 0x8000);
	if (v != v)
		return (unsigned short)(sign | 0x7e00);
	double a = fabs(v);
	if (a >= 65520.0)
		return (unsigned short)(sign | 0x7c00);
	if (a < 6.103515625e-05) /* 2^-14: subnormal, in units of 2^-24 */
		return (unsigned short)(sign | (unsigned short)nearbyint(a * 16777216.0));
	int e;
	double m = frexp(a, &e); /* a = m 2^e, 1/2 <= m < 1 */
	unsigned r = (unsigned)nearbyint(m * 2048.0);
	return (unsigned short)(sign | (unsigned short)(((unsigned)(e + 13) << 10) + r));
}
static inline float heddle_emu_half_to(unsigned short h)
{
	unsigned e = h >> 10 & 31, m = h & 1023;
	float v = e == 31 ? (m ? NAN : INFINITY) : e ? ldexpf((float)(m | 1024), (int)e - 25) : ldexpf((float)m, -24);
	return h & 0x8000 ? -v : v;
}
static inline unsigned short heddle_emu_bf16_from(float v)
{
	unsigned u = heddle_emu_bits<unsigned>(v);
	if (v != v)
		return (unsigned short)(u >> 16 | 0x40);
	return (unsigned short)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}
static inline float heddle_emu_bf16_to(unsigned short h) { return heddle_emu_bits<float>((unsigned)h << 16); }

/* One type: implicit to and from float as the vendors' classes are, arithmetic in float. */
#define HEDDLE_HALF(H, from, to, raw)                                                                                  \
	struct __attribute__((aligned(2))) H {                                                                         \
		unsigned short raw;                                                                                    \
		H() = default;                                                                                         \
		H(float v) : raw(from(v)) {}                                                                           \
		H(double v) : raw(from(v)) {}                                                                          \
		H(int v) : raw(from((double)v)) {}                                                                     \
		H(unsigned v) : raw(from((double)v)) {}                                                                \
		H(long v) : raw(from((double)v)) {}                                                                    \
		H(unsigned long v) : raw(from((double)v)) {}                                                           \
		H(long long v) : raw(from((double)v)) {}                                                               \
		H(unsigned long long v) : raw(from((double)v)) {}                                                      \
		operator float() const { return to(raw); }                                                             \
		H operator-() const { return heddle_emu_bits<H>((unsigned short)(raw ^ 0x8000)); }                         \
	};                                                                                                             \
	static inline H operator+(H a, H b) { return H((float)a + (float)b); }                                         \
	static inline H operator-(H a, H b) { return H((float)a - (float)b); }                                         \
	static inline H operator*(H a, H b) { return H((float)a * (float)b); }                                         \
	static inline H operator/(H a, H b) { return H((float)a / (float)b); }                                         \
	static inline H &operator+=(H &a, H b) { return a = a + b; }                                                   \
	static inline H &operator-=(H &a, H b) { return a = a - b; }                                                   \
	static inline H &operator*=(H &a, H b) { return a = a * b; }                                                   \
	static inline H &operator/=(H &a, H b) { return a = a / b; }                                                   \
	static inline bool operator==(H a, H b) { return (float)a == (float)b; }                                       \
	static inline bool operator!=(H a, H b) { return (float)a != (float)b; }                                       \
	static inline bool operator<(H a, H b) { return (float)a < (float)b; }                                         \
	static inline bool operator<=(H a, H b) { return (float)a <= (float)b; }                                       \
	static inline bool operator>(H a, H b) { return (float)a > (float)b; }                                         \
	static inline bool operator>=(H a, H b) { return (float)a >= (float)b; }                                       \
	template <> struct heddle_emu_kind<H> { static constexpr char value = 'f'; };

HEDDLE_HALF(__half, heddle_emu_half_from, heddle_emu_half_to, __x)
static inline unsigned short heddle_emu_bf16_from_double(double v)
{
	/* Round to odd in float first, so that the second rounding is right. */
	float f = (float)v;
	unsigned u = heddle_emu_bits<unsigned>(f);
	if (f == f && (double)f != v) {
		if (fabs((double)f) > fabs(v))
			u--;
		u |= 1;
	}
	return heddle_emu_bf16_from(heddle_emu_bits<float>(u));
}
HEDDLE_HALF(__nv_bfloat16, heddle_emu_bf16_from_double, heddle_emu_bf16_to, __x)

typedef __half half;
typedef unsigned short heddle_emu_raw_half;
#define HEDDLE_HALF2(H2, H)                                                                                            \
	struct __attribute__((aligned(4))) H2 {                                                                        \
		H x, y;                                                                                                \
		H2() = default;                                                                                        \
		H2(H a, H b) : x(a), y(b) {}                                                                           \
	};
HEDDLE_HALF2(__half2, __half)
HEDDLE_HALF2(__nv_bfloat162, __nv_bfloat16)
typedef __half2 half2;
typedef __half nv_half;
typedef __half2 nv_half2;
struct __half_raw { unsigned short x; };
struct __nv_bfloat16_raw { unsigned short x; };
#ifdef HEDDLE_HIP
typedef __nv_bfloat16 __hip_bfloat16;
typedef __nv_bfloat16 hip_bfloat16;
typedef __nv_bfloat162 __hip_bfloat162;
#else
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
#endif
#if !defined(__STDCPP_FLOAT16_T__)
#define _Float16 __half
#define __fp16 __half
#endif

static inline float __half2float(__half v) { return v; }
static inline __half __float2half(float v) { return __half(v); }
static inline __half __float2half_rn(float v) { return __half(v); }
static inline __half __double2half(double v) { return __half(v); }
static inline __half __int2half_rn(int v) { return __half(v); }
static inline __half __ushort_as_half(unsigned short v) { return heddle_emu_bits<__half>(v); }
static inline __half __short_as_half(short v) { return heddle_emu_bits<__half>(v); }
static inline unsigned short __half_as_ushort(__half v) { return heddle_emu_bits<unsigned short>(v); }
static inline short __half_as_short(__half v) { return heddle_emu_bits<short>(v); }
static inline __half2 __halves2half2(__half a, __half b) { return __half2{a, b}; }
static inline __half2 make_half2(__half a, __half b) { return __half2{a, b}; }
static inline __half2 __floats2half2_rn(float a, float b) { return __half2{__half(a), __half(b)}; }
static inline __half2 __float22half2_rn(float2 v) { return __half2{__half(v.x), __half(v.y)}; }
static inline __half2 __float2half2_rn(float v) { return __half2{__half(v), __half(v)}; }
static inline __half2 __half2half2(__half v) { return __half2{v, v}; }
static inline float2 __half22float2(__half2 v) { return float2{v.x, v.y}; }
static inline __half __low2half(__half2 v) { return v.x; }
static inline __half __high2half(__half2 v) { return v.y; }
static inline float __low2float(__half2 v) { return v.x; }
static inline float __high2float(__half2 v) { return v.y; }

static inline float __bfloat162float(__nv_bfloat16 v) { return v; }
static inline __nv_bfloat16 __float2bfloat16(float v) { return __nv_bfloat16(v); }
static inline __nv_bfloat16 __float2bfloat16_rn(float v) { return __nv_bfloat16(v); }
static inline __nv_bfloat16 __double2bfloat16(double v) { return __nv_bfloat16(v); }
static inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short v) { return heddle_emu_bits<__nv_bfloat16>(v); }
static inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 v) { return heddle_emu_bits<unsigned short>(v); }
static inline __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat162{a, b}; }
static inline __nv_bfloat162 __floats2bfloat162_rn(float a, float b) { return __nv_bfloat162{__nv_bfloat16(a), __nv_bfloat16(b)}; }
static inline __nv_bfloat162 __float22bfloat162_rn(float2 v) { return __floats2bfloat162_rn(v.x, v.y); }
static inline float2 __bfloat1622float2(__nv_bfloat162 v) { return float2{v.x, v.y}; }
static inline float __low2float(__nv_bfloat162 v) { return v.x; }
static inline float __high2float(__nv_bfloat162 v) { return v.y; }

#define HEDDLE_HALF_MATH(H)                                                                                            \
	static inline H __hadd(H a, H b) { return a + b; }                                                             \
	static inline H __hsub(H a, H b) { return a - b; }                                                             \
	static inline H __hmul(H a, H b) { return a * b; }                                                             \
	static inline H __hdiv(H a, H b) { return a / b; }                                                             \
	static inline H __hneg(H a) { return -a; }                                                                     \
	static inline H __habs(H a) { return H(fabsf(a)); }                                                            \
	static inline H __hfma(H a, H b, H c) { return H((double)(float)a * (float)b + (float)c); }                    \
	static inline H __hmax(H a, H b) { return H(fmaxf(a, b)); }                                                    \
	static inline H __hmin(H a, H b) { return H(fminf(a, b)); }                                                    \
	static inline bool __hgt(H a, H b) { return a > b; }                                                           \
	static inline bool __hge(H a, H b) { return a >= b; }                                                          \
	static inline bool __hlt(H a, H b) { return a < b; }                                                           \
	static inline bool __hle(H a, H b) { return a <= b; }                                                          \
	static inline bool __heq(H a, H b) { return a == b; }                                                          \
	static inline bool __hne(H a, H b) { return a != b; }                                                          \
	static inline bool __hisnan(H a) { return (float)a != (float)a; }                                              \
	static inline H hexp(H a) { return H(exp((double)(float)a)); }                                                 \
	static inline H hlog(H a) { return H(log((double)(float)a)); }                                                 \
	static inline H hsqrt(H a) { return H(sqrt((double)(float)a)); }                                               \
	static inline H hrsqrt(H a) { return H(rsqrt((double)(float)a)); }                                             \
	static inline H hrcp(H a) { return H(1.0 / (float)a); }
HEDDLE_HALF_MATH(__half)
HEDDLE_HALF_MATH(__nv_bfloat16)
static inline __half hceil(__half a) { return __half(ceilf(a)); }
static inline __half hfloor(__half a) { return __half(floorf(a)); }
static inline __half hrint(__half a) { return __half(rintf(a)); }
static inline __half htrunc(__half a) { return __half(truncf(a)); }
static inline __half hsin(__half a) { return __half(sin((double)(float)a)); }
static inline __half hcos(__half a) { return __half(cos((double)(float)a)); }
static inline __half htanh(__half a) { return __half(tanh((double)(float)a)); }
static inline __half hexp2(__half a) { return __half(exp2((double)(float)a)); }
static inline __half hlog2(__half a) { return __half(log2((double)(float)a)); }
static inline __half __float2half_rz(float v)
{
	__half h(v);
	return fabsf(h) > fabsf(v) ? heddle_emu_bits<__half>((unsigned short)(h.__x - 1)) : h;
}
static inline int __half2int_rn(__half v) { return (int)rintf(v); }
static inline int __half2int_rz(__half v) { return (int)(float)v; }
static inline __half __uint2half_rn(unsigned v) { return __half((double)v); }
static inline __half2 __low2half2(__half2 v) { return __half2{v.x, v.x}; }
static inline __half2 __high2half2(__half2 v) { return __half2{v.y, v.y}; }
static inline __half2 __lowhigh2highlow(__half2 v) { return __half2{v.y, v.x}; }
static inline __half2 __lows2half2(__half2 a, __half2 b) { return __half2{a.x, b.x}; }
static inline __half2 __highs2half2(__half2 a, __half2 b) { return __half2{a.y, b.y}; }
static inline __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 v) { return __nv_bfloat162{v, v}; }
static inline __nv_bfloat162 __float2bfloat162_rn(float v) { return __nv_bfloat162{__nv_bfloat16(v), __nv_bfloat16(v)}; }
static inline __nv_bfloat162 make_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat162{a, b}; }
static inline __nv_bfloat16 __low2bfloat16(__nv_bfloat162 v) { return v.x; }
static inline __nv_bfloat16 __high2bfloat16(__nv_bfloat162 v) { return v.y; }
#define HEDDLE_HALF2_MATH(H2)                                                                                          \
	static inline H2 __hadd2(H2 a, H2 b) { return H2{a.x + b.x, a.y + b.y}; }                                      \
	static inline H2 __hsub2(H2 a, H2 b) { return H2{a.x - b.x, a.y - b.y}; }                                      \
	static inline H2 __hmul2(H2 a, H2 b) { return H2{a.x * b.x, a.y * b.y}; }                                      \
	static inline H2 __hfma2(H2 a, H2 b, H2 c) { return H2{__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)}; }        \
	static inline H2 operator+(H2 a, H2 b) { return H2{a.x + b.x, a.y + b.y}; }                                    \
	static inline H2 operator-(H2 a, H2 b) { return H2{a.x - b.x, a.y - b.y}; }                                    \
	static inline H2 operator*(H2 a, H2 b) { return H2{a.x * b.x, a.y * b.y}; }                                    \
	static inline H2 operator/(H2 a, H2 b) { return H2{a.x / b.x, a.y / b.y}; }                                    \
	static inline H2 operator-(H2 a) { return H2{-a.x, -a.y}; }                                                    \
	static inline H2 &operator+=(H2 &a, H2 b) { return a = a + b; }                                                \
	static inline H2 &operator-=(H2 &a, H2 b) { return a = a - b; }                                                \
	static inline H2 &operator*=(H2 &a, H2 b) { return a = a * b; }                                                \
	static inline bool operator==(H2 a, H2 b) { return a.x == b.x && a.y == b.y; }                                 \
	static inline H2 __hneg2(H2 a) { return -a; }                                                                  \
	static inline H2 __habs2(H2 a) { return H2{__habs(a.x), __habs(a.y)}; }                                        \
	static inline H2 __h2div(H2 a, H2 b) { return a / b; }                                                         \
	static inline H2 h2exp(H2 a) { return H2{hexp(a.x), hexp(a.y)}; }                                              \
	static inline H2 h2log(H2 a) { return H2{hlog(a.x), hlog(a.y)}; }                                              \
	static inline H2 h2sqrt(H2 a) { return H2{hsqrt(a.x), hsqrt(a.y)}; }                                           \
	static inline H2 h2rsqrt(H2 a) { return H2{hrsqrt(a.x), hrsqrt(a.y)}; }                                        \
	HEDDLE_ATOMIC(atomicAdd, H2, old + v)                                                                          \
	static inline H2 __hmax2(H2 a, H2 b) { return H2{__hmax(a.x, b.x), __hmax(a.y, b.y)}; }                        \
	static inline H2 __hmin2(H2 a, H2 b) { return H2{__hmin(a.x, b.x), __hmin(a.y, b.y)}; }
HEDDLE_ATOMIC(atomicAdd, __half, old + v)
HEDDLE_ATOMIC(atomicAdd, __nv_bfloat16, old + v)
HEDDLE_HALF2_MATH(__half2)
HEDDLE_HALF2_MATH(__nv_bfloat162)

#endif
