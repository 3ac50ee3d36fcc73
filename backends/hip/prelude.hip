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

//: heddle_gamma_table_float
static __device__ const float heddle_gamma_table_float[9] = {
	1.32934039e0f, 4.67367261e-1f, 1.63639638e-1f, 3.17339022e-2f,
	6.85462756e-3f, 8.86284547e-4f, 1.62241245e-4f, 1.25521823e-5f,
	3.10459638e-6f,
};

//: heddle_gamma_table_double
static __device__ const double heddle_gamma_table_double[17] = {
	1.329340388179137e0, 4.6736726081304293e-1, 1.6363964449533403e-1, 3.173390585513507e-2,
	6.8545771251391703e-3, 8.8627439369736691e-4, 1.6238130348726053e-4, 1.2557815608709449e-5,
	2.9471647834193525e-6, 7.7010494070665623e-9, 5.9891928733425729e-8, -6.2550185536689061e-9,
	1.7720185652489462e-9, -3.0807023783323131e-10, 6.5029011676130344e-11, -1.5444682359166837e-11,
	3.1427821210013468e-12,
};

//: heddle_lgamma1_table_float
static __device__ const float heddle_lgamma1_table_float[14] = {
	-5.77215666e-1f, 4.11233521e-1f, -1.00171289e-1f, 3.3822431e-2f,
	-1.29634656e-2f, 5.30045188e-3f, -2.23993212e-3f, 9.72312927e-4f,
	-4.64417451e-4f, 2.14616746e-4f, -4.88579053e-5f, 1.77122457e-5f,
	-4.35509435e-5f, 2.16587391e-5f,
};

//: heddle_lgamma1_table_double
static __device__ const double heddle_lgamma1_table_double[29] = {
	-5.7721566490153286e-1, 4.1123351671205656e-1, -1.0017140859663267e-1, 3.3822601053479577e-2,
	-1.2961596939306022e-2, 5.2986617809012256e-3, -2.250779636608288e-3, 9.8054429829905723e-4,
	-4.3489948221950565e-4, 1.9550669728001717e-4, -8.8822225956528441e-5, 4.0700495403300448e-5,
	-1.8782688400384684e-5, 8.7181343454219049e-6, -4.0677702934734588e-6, 1.9127014915305183e-6,
	-9.014793572649296e-7, 4.121921067571674e-7, -1.9284675279470471e-7, 1.1339892029827825e-7,
	-5.6907745470526581e-8, 2.2503569604917575e-9, 1.3416285834333463e-9, 1.9048640112066067e-8,
	-1.0457694646983121e-8, -5.2117051882976458e-9, 2.9300069217588621e-9, 1.7378792315914401e-9,
	-8.9908090434244787e-10,
};

//: heddle_lgamma2_table_float
static __device__ const float heddle_lgamma2_table_float[9] = {
	4.22784335e-1f, 1.61233509e-1f, -1.68380703e-2f, 2.57270383e-3f,
	-4.61636102e-4f, 8.99633409e-5f, -1.8528714e-5f, 4.45583532e-6f,
	-9.91647838e-7f,
};

//: heddle_lgamma2_table_double
static __device__ const double heddle_lgamma2_table_double[19] = {
	4.2278433509846714e-1, 1.6123351671205662e-1, -1.6838075263299535e-2, 2.5726010534725419e-3,
	-4.6159693929175601e-4, 9.0328447844899129e-5, -1.8636779875052926e-5, 3.9817930886596665e-6,
	-8.7169824490811339e-7, 1.9425327031438992e-7, -4.3873390300491619e-8, 1.001249236957858e-8,
	-2.3043102744274225e-9, 5.3524559714714045e-10, -1.2481294697143872e-10, 2.8075860826633895e-11,
	-6.5662150466258726e-12, 2.1270762170785404e-12, -5.1176844538117446e-13,
};

//: heddle_polynomial_{t} t/f=float/f,double/
// sum c[k] x^k
static __device__ __forceinline__ {t} heddle_polynomial_{t}(const {t} *c, int n, {t} x)
{
	{t} sum = c[n - 1];
	for (int k = n - 2; k >= 0; k--)
		sum = fma{f}(sum, x, c[k]);
	return sum;
}

//: heddle_times_{t} t/f=float/f,double/
// (a + b) (c + d), the sum of two numbers each, as the sum of two.
static __device__ __forceinline__ {t}2 heddle_times_{t}({t}2 a, {t}2 b)
{
#ifdef __clang__
#pragma clang fp contract(off)
#endif
	const {t} product = a.x * b.x;
	const {t} rest = fma{f}(a.x, b.x, -product) + (a.x * b.y + a.y * b.x);
	const {t} high = product + rest;
	return make_{t}2(high, rest - (high - product));
}

//: heddle_over_{t} t/f=float/f,double/
// (a + b) / (c + d), likewise.
static __device__ __forceinline__ {t}2 heddle_over_{t}({t}2 a, {t}2 b)
{
#ifdef __clang__
#pragma clang fp contract(off)
#endif
	const {t} quotient = a.x / b.x;
	const {t} rest = (fma{f}(-quotient, b.x, a.x) + (a.y - quotient * b.y)) / b.x;
	return make_{t}2(quotient, rest);
}

//: heddle_plus_{t} t=float,double
// a + b, exactly.
static __device__ __forceinline__ {t}2 heddle_plus_{t}({t} a, {t} b)
{
#ifdef __clang__
#pragma clang fp contract(off)
#endif
	const {t} sum = a + b, other = sum - a;
	return make_{t}2(sum, (a - (sum - other)) + (b - other));
}

//: heddle_gamma_{t} t/f/n/half=float/f/9/20,double//17/90
// Gamma(x) as the sum of two numbers, the first infinite or NaN beyond the range; not for poles and what lies far outside.
// Gamma(2 + z), 0 <= z <= 1, times (x - 1) (x - 2) .. or divided by x (x + 1) ..: in two parts, which do not overflow.
static __device__ __forceinline__ {t}2 heddle_gamma_{t}({t} x)
{
	const {t} whole = floor{f}(x);
	const int n = (int)whole - 2;
	const {t}2 z = heddle_plus_{t}(x, -whole);
	const {t} slope = fma{f}(1.42278434{f}, z.x, 0.42278434{f});
	{t}2 first = make_{t}2(1.0{f}, 0.0{f}), second = first;
	{t}2 value = make_{t}2(heddle_polynomial_{t}(heddle_gamma_table_{t}, {n}, 2.0{f} * z.x - 1.0{f}), slope * z.y);
	for (int k = 0; k < (n < 0 ? -n : n); k++) {
		const {t}2 factor = n < 0 ? heddle_plus_{t}(x, ({t})k) : make_{t}2(x - ({t})(k + 1), 0.0{f});
		if (k < {half})
			first = heddle_times_{t}(first, factor);
		else
			second = heddle_times_{t}(second, factor);
	}
	if (n < 0)
		return heddle_over_{t}(heddle_over_{t}(value, first), second);
	return heddle_times_{t}(heddle_times_{t}(value, first), second);
}

//: heddle_tgamma_{t} t/f/most/least=float/f/36/-45,double//172/-186
static __device__ __forceinline__ {t} heddle_tgamma_{t}({t} x)
{
	if (__builtin_isnan(x) || (x < 0.0{f} && x == floor{f}(x)))
		return ({t})__int_as_float(0x7fc00000);
	if (x == 0.0{f})
		return copysign{f}(({t})__int_as_float(0x7f800000), x);
	if (x > {most}.0{f})
		return ({t})__int_as_float(0x7f800000);
	if (x < {least}.0{f})
		return fmod{f}(floor{f}(x), 2.0{f}) == 0.0{f} ? 0.0{f} : -0.0{f};
	const {t}2 y = heddle_gamma_{t}(x);
	return __builtin_isinf(y.x) ? y.x : __builtin_isnan(y.x) ? ({t})__int_as_float(0x7f800000) : y.x + y.y;
}

//: heddle_stirling_{t} t/f=float/f,double/
// log Gamma(x) of large x, by Stirling's series.
static __device__ __forceinline__ {t} heddle_stirling_{t}({t} x)
{
	const {t} r = 1.0{f} / x, q = r * r;
	{t} sum = fma{f}(q, -1.9175269175269175269e-3{f}, 8.4175084175084175084e-4{f});
	sum = fma{f}(q, sum, -5.9523809523809523810e-4{f});
	sum = fma{f}(q, sum, 7.9365079365079365079e-4{f});
	sum = fma{f}(q, sum, -2.7777777777777777778e-3{f});
	sum = fma{f}(q, sum, 8.3333333333333333333e-2{f});
	return fma{f}(x - 0.5{f}, log{f}(x) - 1.0{f}, fma{f}(r, sum, 0.41893853320467274178{f}));
}

//: heddle_lgamma_{t} t/f/one/two/far/least=float/f/14/9/34/-33,double//29/19/20/-168
// Near 1 and 2, where it is 0, a polynomial; elsewhere the logarithm of Gamma, known to more digits than has {t}.
static __device__ __forceinline__ {t} heddle_lgamma_{t}({t} x)
{
	if (__builtin_isnan(x) || __builtin_isinf(x))
		return __builtin_isnan(x) ? x : ({t})__int_as_float(0x7f800000);
	if (x <= 0.0{f} && x == floor{f}(x))
		return ({t})__int_as_float(0x7f800000);
	if (x == 1.0{f} || x == 2.0{f})
		return 0.0{f};
	if (fabs{f}(x) < 0.5{f})
		return x * heddle_polynomial_{t}(heddle_lgamma1_table_{t}, {one}, 2.0{f} * x) - log{f}(fabs{f}(x));
	if (x >= 0.5{f} && x <= 1.5{f})
		return (x - 1.0{f}) * heddle_polynomial_{t}(heddle_lgamma1_table_{t}, {one}, 2.0{f} * (x - 1.0{f}));
	if (x > 1.5{f} && x <= 2.5{f})
		return (x - 2.0{f}) * heddle_polynomial_{t}(heddle_lgamma2_table_{t}, {two}, 2.0{f} * (x - 2.0{f}));
	if (x > 2.5{f} && x <= 3.5{f})
		return log{f}(x - 1.0{f}) + (x - 3.0{f}) * heddle_polynomial_{t}(heddle_lgamma2_table_{t}, {two}, 2.0{f} * (x - 3.0{f}));
	if (x >= {far}.0{f})
		return heddle_stirling_{t}(x);
	if (x < {least}.0{f}) // log(pi / |x sin(pi x)|) - log Gamma(-x)
		return log{f}(3.14159265358979323846{f} / fabs{f}(x * sinpi{f}(x - 2.0{f} * floor{f}(0.5{f} * x)))) - heddle_stirling_{t}(-x);
	const {t}2 y = heddle_gamma_{t}(x);
	return log{f}(fabs{f}(y.x)) + y.y / y.x;
}
