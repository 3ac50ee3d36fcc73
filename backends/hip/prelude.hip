// The functions that differ from CUDA's prelude.
// SPDX-License-Identifier: 0BSD

//: heddle_float16_to_float
static __device__ __forceinline__ float heddle_float16_to_float(heddle_float16 h)
{
#if defined(__HIP_DEVICE_COMPILE__) && defined(__clang__)
	return (float)__builtin_bit_cast(_Float16, h);
#else
	const unsigned int sign = (unsigned int)(h & 0x8000u) << 16;
	const unsigned int rest = (unsigned int)(h & 0x7fffu) << 13;
	if (rest >= 0x0f800000u) // infinity, NaN
		return __int_as_float((int)(sign | 0x7f800000u | rest));
	// Scale by 2^112: the exponent's bias, and subnormal numbers become normal.
	return __int_as_float((int)(sign | (unsigned int)__float_as_int(__int_as_float((int)rest) * 5192296858534827628530496329220096.0f)));
#endif
}

//: heddle_float_to_float16
// Rounded to nearest, ties to even.
static __device__ __forceinline__ heddle_float16 heddle_float_to_float16(float f)
{
#if defined(__HIP_DEVICE_COMPILE__) && defined(__clang__)
	return __builtin_bit_cast(heddle_float16, (_Float16)f);
#else
	const unsigned int bits = (unsigned int)__float_as_int(f);
	const unsigned int sign = bits >> 16 & 0x8000u;
	unsigned int rest = bits & 0x7fffffffu;
	if (rest > 0x7f800000u) // NaN
		return (heddle_float16)(sign | 0x7e00u);
	if (rest >= 0x477ff000u) // 65520 and more round to infinity
		return (heddle_float16)(sign | 0x7c00u);
	if (rest < 0x38800000u) { // subnormal: adding 0.5 rounds at the right place
		rest = (unsigned int)__float_as_int(__int_as_float((int)rest) + 0.5f) - 0x3f000000u;
		return (heddle_float16)(sign | rest);
	}
	rest += 0xfffu + (rest >> 13 & 1u);
	return (heddle_float16)(sign | ((rest >> 13) - 0x1c000u));
#endif
}
