// The functions that CUDA C++ lacks, in pieces: `//: name`, then its text.  A source gets those that it uses.
// 16-bit floats are their bits wherever they are only moved; no header is needed but cuda_fp16.h, and that only for float16.
// SPDX-License-Identifier: 0BSD

//: heddle_float16
typedef unsigned short heddle_float16; // the bits of an IEEE half

//: heddle_bfloat16
typedef unsigned short heddle_bfloat16; // the upper half of a float

//: heddle_vector
// N elements that are moved at once.
template <typename T, int N> struct alignas(sizeof(T) * N < 16 ? sizeof(T) * N : 16) heddle_vector { T s[N]; };

//: heddle_min
template <typename T> static __device__ __forceinline__ T heddle_min(T a, T b)
{
	return b < a ? b : a;
}

//: heddle_max
template <typename T> static __device__ __forceinline__ T heddle_max(T a, T b)
{
	return a < b ? b : a;
}

//: heddle_divide
// a / b rounded toward zero; the least integer by -1 wraps around, and a / 0 is 0.
template <typename T> static __device__ __forceinline__ T heddle_divide(T a, T b)
{
	if (b == 0)
		return 0;
	return b == (T)-1 ? (T)(0ull - (unsigned long long)a) : (T)(a / b);
}

//: heddle_modulo
// What heddle_divide leaves: it has the sign of a, and is a where b is 0.
template <typename T> static __device__ __forceinline__ T heddle_modulo(T a, T b)
{
	if (b == 0)
		return a;
	return b == (T)-1 ? (T)0 : (T)(a % b);
}

//: heddle_truncate
// Towards zero, the nearest integer beyond the range, 0 for NaN.
template <typename T, typename F> static __device__ __forceinline__ T heddle_truncate(F x)
{
	const T most = (T)-1 > (T)0 ? (T)-1 : (T)((1ull << (8 * sizeof(T) - 1)) - 1);
	const T least = (T)-1 > (T)0 ? (T)0 : (T)(-most - 1);
	return x >= (F)most ? most : x > (F)least ? (T)x : x == x ? least : (T)0;
}

//: heddle_floor_div
// a / b rounded down, b > 0.
template <typename T> static __device__ __forceinline__ T heddle_floor_div(T a, T b)
{
	return a >= 0 ? a / b : -((-a + b - 1) / b);
}

//: heddle_floor_mod
// What heddle_floor_div leaves: 0 <= r < b.
template <typename T> static __device__ __forceinline__ T heddle_floor_mod(T a, T b)
{
	const T r = a % b;
	return r < 0 ? r + b : r;
}

//: heddle_min_nan
// The lesser, or NaN when either is one.
template <typename T> static __device__ __forceinline__ T heddle_min_nan(T a, T b)
{
	return a < b || a != a ? a : b;
}

//: heddle_max_nan
// The greater, or NaN when either is one.
template <typename T> static __device__ __forceinline__ T heddle_max_nan(T a, T b)
{
	return a > b || a != a ? a : b;
}

//: __half
#include <cuda_fp16.h>

//: heddle_float16_to_float
static __device__ __forceinline__ float heddle_float16_to_float(heddle_float16 h)
{
	const __half value = __ushort_as_half(h);
	return __half2float(value);
}

//: heddle_float_to_float16
// Rounded to nearest, ties to even.
static __device__ __forceinline__ heddle_float16 heddle_float_to_float16(float f)
{
	const __half value = __float2half_rn(f);
	return __half_as_ushort(value);
}

//: heddle_odd_float
// double to float, inexact results made odd, so that rounding once more is right.
static __device__ __forceinline__ float heddle_odd_float(double x)
{
	const float f = (float)x;
	const double back = (double)f;
	if (back == x || x != x || f - f != 0.0f)
		return f;
	int bits = __float_as_int(f);
	if ((back > x) == (x > 0.0)) // rounded away from zero: take it back
		bits -= 1;
	return __int_as_float(bits | 1);
}

//: heddle_double_to_float16
static __device__ __forceinline__ heddle_float16 heddle_double_to_float16(double x)
{
	return heddle_float_to_float16(heddle_odd_float(x));
}

//: heddle_bfloat16_to_float
static __device__ __forceinline__ float heddle_bfloat16_to_float(heddle_bfloat16 h)
{
	return __int_as_float((int)((unsigned int)h << 16));
}

//: heddle_float_to_bfloat16
// Rounded to nearest, ties to even.
static __device__ __forceinline__ heddle_bfloat16 heddle_float_to_bfloat16(float f)
{
	const unsigned int bits = (unsigned int)__float_as_int(f);
	if ((bits & 0x7fffffffu) > 0x7f800000u) // NaN
		return (heddle_bfloat16)(bits >> 16 | 0x40u);
	return (heddle_bfloat16)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

//: heddle_double_to_bfloat16
static __device__ __forceinline__ heddle_bfloat16 heddle_double_to_bfloat16(double x)
{
	return heddle_float_to_bfloat16(heddle_odd_float(x));
}

//: heddle_two_over_pi
// 32 bits each: those before the point, then the digits.
static __constant__ const unsigned int heddle_two_over_pi[] = {0u, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u,
	0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu};

//: heddle_quarter_turn
// What x leaves of the nearest multiple of pi / 2, and which multiple that is, modulo 4.  The library's way with large arguments needs
// an array in memory; this one needs none.
static __device__ __forceinline__ float heddle_quarter_turn(float x, int *multiple)
{
	if (fabsf(x) < 65536.0f) {
		// the lower bits of the sum are the multiple; pi / 2 is three floats, none negative, that -0 stays what it is
		const float shifted = fmaf(x, 0x1.45f306p-1f, 12582912.0f), n = shifted - 12582912.0f;
		*multiple = __float_as_int(shifted);
		return fmaf(n, -0x1.84698ap-48f, fmaf(n, -0x1.4442dp-24f, fmaf(n, -0x1.921fb4p+0f, x)));
	}
	*multiple = 0;
	if (!(fabsf(x) < __int_as_float(0x7f800000)))
		return x - x;
	// x is an integer times a power of two: digits of 2 / pi before the first of these three words give multiples of 4
	const unsigned int bits = __float_as_uint(x), integer = (bits & 0x7fffffu) | 0x800000u;
	const unsigned int at = (bits >> 23 & 255u) - 120u, *const word = &heddle_two_over_pi[at / 32u];
	const unsigned int a = (unsigned int)(((unsigned long long)word[0] << 32 | word[1]) << at % 32u >> 32);
	const unsigned int b = (unsigned int)(((unsigned long long)word[1] << 32 | word[2]) << at % 32u >> 32);
	const unsigned int c = (unsigned int)(((unsigned long long)word[2] << 32 | word[3]) << at % 32u >> 32);
	const unsigned long long turns = ((unsigned long long)(integer * a) << 32) + (unsigned long long)integer * b +
		((unsigned long long)integer * c >> 32); // 2^64 are four
	const long long rest = (long long)(turns << 2);
	const int n = (int)(turns >> 62) + (rest < 0);
	const float r = (float)((double)rest * 0x1.921fb54442d18p-64); // pi / 2 of it
	*multiple = x < 0.0f ? -n : n;
	return x < 0.0f ? -r : r;
}

//: heddle_sin_turned
// sin(r + n pi / 2) of |r| <= pi / 4.
static __device__ __forceinline__ float heddle_sin_turned(float r, int n)
{
	const bool cosine = n & 1;
	const float s = r * r, first = cosine ? 1.0f : r;
	float y = cosine ? 0x1.99e86cp-16f : 0x1.6ccf5ep-19f;
	y = fmaf(y, s, cosine ? -0x1.6c0c28p-10f : -0x1.a00f74p-13f);
	y = fmaf(y, s, cosine ? 0x1.55554ap-5f : 0x1.111108p-7f);
	y = fmaf(y, s, cosine ? -0.5f : -0x1.555556p-3f);
	y = s == 0.0f ? first : fmaf(y, s * first, first); // 0 keeps its sign
	return n & 2 ? -y : y;
}

//: heddle_sin
static __device__ __forceinline__ float heddle_sin(float x)
{
	int n;
	const float r = heddle_quarter_turn(x, &n);
	return heddle_sin_turned(r, n);
}

//: heddle_cos
static __device__ __forceinline__ float heddle_cos(float x)
{
	int n;
	const float r = heddle_quarter_turn(x, &n);
	return heddle_sin_turned(r, n + 1);
}

//: heddle_tan
static __device__ __forceinline__ float heddle_tan(float x)
{
	int n;
	const float r = heddle_quarter_turn(x, &n), sine = heddle_sin_turned(r, 0), cosine = heddle_sin_turned(r, 1);
	return n & 1 ? -cosine / sine : sine / cosine;
}

//: heddle_random_bits
// Random bits that depend on nothing but a seed and a counter: the first word of Philox4x32-10.
static __device__ __forceinline__ unsigned int heddle_random_bits(unsigned long long seed, unsigned long long counter)
{
	unsigned int x0 = (unsigned int)counter, x1 = (unsigned int)(counter >> 32), x2 = 0, x3 = 0;
	unsigned int k0 = (unsigned int)seed, k1 = (unsigned int)(seed >> 32);
#pragma unroll
	for (int round = 0; round < 10; round++) {
		const unsigned int h = __umulhi(0xD2511F53u, x0), l = 0xD2511F53u * x0;
		x0 = __umulhi(0xCD9E8D57u, x2) ^ x1 ^ k0;
		x1 = 0xCD9E8D57u * x2;
		x2 = h ^ x3 ^ k1;
		x3 = l;
		k0 += 0x9E3779B9u;
		k1 += 0xBB67AE85u;
	}
	return x0;
}
