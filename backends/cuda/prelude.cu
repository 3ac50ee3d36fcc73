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
