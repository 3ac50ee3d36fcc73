// The functions that differ from CUDA's prelude.
// SPDX-License-Identifier: 0BSD

//: heddle_at
// base[n], less than 2^32 bytes from there.
template <typename T> static __device__ __forceinline__ T &heddle_at(T *base, unsigned int n)
{
	return *(T *)((char *)base + n * (unsigned int)sizeof(T));
}

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

//: heddle_erfcx_near_table_double
static __device__ const double heddle_erfcx_near_table_double[15] = {
	7.7034654773099674e-1, -1.8580147330750357e-1, 3.653406715146833e-2, -6.2194752565008713e-3,
	9.473309967175951e-4, -1.3180360650103036e-4, 1.6990153963934394e-5, -2.0502401931598121e-6,
	2.334361484360231e-7, -2.5233464615741174e-8, 2.6025424930912118e-9, -2.5707122766063381e-10,
	2.4421504217927797e-11, -2.3025901122472467e-12, 2.0390042474930346e-13,
};

//: heddle_erfcx_table_double
static __device__ const double heddle_erfcx_table_double[26] = {
	1.2329951186255525e0, -1.396211168405625e-1, 1.5379652102619604e-2, 6.8097054254690391e-2,
	-1.0103906603630055e-1, 9.3732834998438267e-2, -6.6330365812186977e-2, 3.7167515535929115e-2,
	-1.6197734059799266e-2, 5.0319699926699334e-3, -7.5777326137309563e-4, -1.992567757633648e-4,
	1.5062149001240472e-4, -2.4398944545280834e-5, -1.1221287012353485e-5, 5.7092060530721829e-6,
	2.9197333779630121e-7, -8.2491984275083543e-7, 7.7469927270179419e-8, 1.1009737295274889e-7,
	-2.0560649275699202e-8, -1.4709550868669279e-8, 3.1695881915648172e-9, 1.7903326159489846e-9,
	-2.6595996902426894e-10, -1.3746529890011638e-10,
};

//: heddle_normcdf_tail_table_float
static __device__ const float heddle_normcdf_tail_table_float[14] = {
	4.534552e-1f, -8.50253608e-2f, 3.9811405e-2f, -4.37344312e-3f,
	-1.61411928e-2f, 2.25930777e-2f, -1.97685288e-2f, 1.32439429e-2f,
	-7.05351098e-3f, 2.94284419e-3f, -8.79405803e-4f, 1.09982191e-4f,
	4.71729069e-5f, -1.99029252e-5f,
};

//: heddle_normcdf_tail_table_double
static __device__ const double heddle_normcdf_tail_table_double[26] = {
	4.5345520027112795e-1, -8.5025362305770698e-2, 3.981142456242952e-2, -4.3733867795959431e-3,
	-1.6141517332177098e-2, 2.2592467062875386e-2, -1.9766479220487222e-2, 1.3246864152514435e-2,
	-7.0598194143933522e-3, 2.9356555320208676e-3, -8.6899471563358187e-4, 1.1948957018278191e-4,
	3.7795134908269739e-5, -2.6353041813322221e-5, 4.4117072938493118e-6, 1.7828133868647034e-6,
	-9.9826032442100072e-7, 1.5035220119303522e-9, 1.3083300821995656e-7, -2.2476534956105689e-8,
	-1.4728247327099548e-8, 4.7986167920271045e-9, 1.4592114620754211e-9, -6.8340570668557254e-10,
	-9.599992591079198e-11, 5.4717826206919211e-11,
};

//: heddle_normcdf_table_float
static __device__ const float heddle_normcdf_table_float[6] = {
	3.68048993e-1f, -2.86762164e-2f, 2.08862257e-3f, -1.22311262e-4f,
	5.89693487e-6f, -2.39456521e-7f,
};

//: heddle_normcdf_table_double
static __device__ const double heddle_normcdf_table_double[11] = {
	3.6804899320837462e-1, -2.8676216415723439e-2, 2.0886272882345944e-3, -1.2231148823231228e-4,
	5.8843489555902578e-6, -2.3900389774606444e-7, 8.3823160797347664e-9, -2.584150556263454e-10,
	7.1029488749385992e-12, -1.7631181413654878e-13, 3.9792292470432446e-15,
};

//: heddle_erfinv_table_float
static __device__ const float heddle_erfinv_table_float[11] = {
	9.64021637e-1f, 9.34678225e-2f, 1.96911704e-2f, 5.17278318e-3f,
	1.50956102e-3f, 4.69808497e-4f, 1.52069176e-4f, 4.75598826e-5f,
	1.58427866e-5f, 8.46044053e-6f, 3.08015256e-6f,
};

//: heddle_erfinv_table_double
static __device__ const double heddle_erfinv_table_double[23] = {
	9.6402163762382704e-1, 9.3467810828723124e-2, 1.9691156241499961e-2, 5.1730134143669813e-3,
	1.5097228866488097e-3, 4.685490797665593e-4, 1.5139579317223368e-4, 5.0329138992760114e-5,
	1.708827086911536e-5, 5.8973697071062485e-6, 2.0618076340887851e-6, 7.2844100875375062e-7,
	2.5962888689614268e-7, 9.3334984754643646e-8, 3.3741682079322621e-8, 1.2069526819271782e-8,
	4.3865668074822446e-9, 1.8195083967474337e-9, 6.838709701559696e-10, 1.0403024012917805e-10,
	3.2451168422992749e-11, 7.1417855815870315e-11, 2.768219840342242e-11,
};

//: heddle_erfcinv_near_table_float
static __device__ const float heddle_erfcinv_near_table_float[10] = {
	8.01899274e-1f, -1.17310461e-1f, 3.6580255e-3f, 3.20679935e-3f,
	-1.01589224e-3f, 1.84707543e-4f, -2.65388411e-5f, 5.51248377e-6f,
	-3.07582096e-6f, 1.18980085e-6f,
};

//: heddle_erfcinv_near_table_double
static __device__ const double heddle_erfcinv_near_table_double[22] = {
	8.0189927511079017e-1, -1.1731046291584512e-1, 3.6579845563278447e-3, 3.2068323726273566e-3,
	-1.0155718410444362e-3, 1.8452719184778131e-4, -2.740388630179618e-5, 5.9081394265620915e-6,
	-2.1561709555491807e-6, 8.251736736782119e-7, -2.9307614347531822e-7, 1.0228370061775364e-7,
	-3.6764207456414585e-8, 1.3602258021658476e-8, -4.9773194861492383e-9, 1.8742560215132697e-9,
	-8.8955392405379507e-10, 3.6500187852019322e-10, -2.0988084251496836e-11, 1.1528866119438547e-12,
	-5.2731979404212961e-11, 2.3002196076901394e-11,
};

//: heddle_erfcinv_far_table_float
static __device__ const float heddle_erfcinv_far_table_float[12] = {
	9.6639983e-1f, -4.18115445e-2f, -7.9621837e-3f, 2.14345626e-3f,
	-4.40000789e-4f, 1.31862962e-4f, -6.24895465e-5f, 3.26382671e-5f,
	1.53447459e-6f, -5.15131337e-6f, -1.27395914e-5f, 8.83387905e-6f,
};

//: heddle_erfcinv_far_table_double
static __device__ const double heddle_erfcinv_far_table_double[35] = {
	9.6639982698144545e-1, -4.1811531779448449e-2, -7.9619962821661658e-3, 2.1431172768488809e-3,
	-4.4206289805490628e-4, 1.3440741273522887e-4, -5.4404592180042574e-5, 2.4680280788503704e-5,
	-1.2083637602663545e-5, 6.2999735589175797e-6, -3.4516388475247322e-6, 1.9562457794603585e-6,
	-1.1397704168771937e-6, 7.494358943499416e-7, -5.115814105305576e-7, 4.5915388299851064e-9,
	1.9865805124122373e-7, 1.0335243226113815e-6, -1.2675848018374511e-6, -2.3431029147930905e-6,
	2.8583715991525809e-6, 4.6209235845245674e-6, -5.2507155129163349e-6, -6.5565409958758661e-6,
	7.0806419493972266e-6, 6.8732565058690501e-6, -7.0711665820088683e-6, -5.1224407306346124e-6,
	5.0484573673252514e-6, 2.5908172162817778e-6, -2.4533744047549633e-6, -7.9780110329499947e-7,
	7.2815303926964187e-7, 1.1484728012119784e-7, -1.0106556220450761e-7,
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

//: heddle_erfcx_right_{t} t/f/near/n/far=double//15/26/1e9
// exp(x^2) erfc(x) of x >= 0.
static __device__ __forceinline__ {t} heddle_erfcx_right_{t}({t} x)
{
	if (x > {far}{f})
		return 0.56418958354775628695{f} / x;
	if (x <= 0.5{f})
		return heddle_polynomial_{t}(heddle_erfcx_near_table_{t}, {near}, fma{f}(4.0{f}, x, -1.0{f}));
	return heddle_polynomial_{t}(heddle_erfcx_table_{t}, {n}, (x - 4.0{f}) / (x + 4.0{f})) / fma{f}(2.0{f}, x, 1.0{f});
}

//: heddle_erfcx_{t} t/f/huge=double//27
// exp(x^2) erfc(x): of x < 0 it is 2 exp(x^2) less that of -x.
static __device__ __forceinline__ {t} heddle_erfcx_{t}({t} x)
{
	if (x < -{huge}.0{f})
		return ({t})__int_as_float(0x7f800000);
	const {t} right = heddle_erfcx_right_{t}(fabs{f}(x));
	if (!(x < 0.0{f}))
		return __builtin_isnan(x) ? x : right;
	const {t} square = x * x;
	const {t} power = 2.0{f} * exp{f}(square);
	return __builtin_isinf(power) ? power : fma{f}(power, fma{f}(x, x, -square), power) - right;
}

//: heddle_normcdf_{t} t/f/near/n=float/f/6/14,double//11/26
// Near 0 a polynomial; on the left exp(-x^2 / 2) erfcx(-x / sqrt(2)) / 2.
static __device__ __forceinline__ {t} heddle_normcdf_{t}({t} x)
{
	if (fabs{f}(x) < 1.0{f})
		return fma{f}(x, heddle_polynomial_{t}(heddle_normcdf_table_{t}, {near}, fma{f}(2.0{f} * x, x, -1.0{f})), 0.5{f});
	const {t} a = fmin{f}(fabs{f}(x), 40.0{f}), half_a = 0.5{f} * a, square = half_a * a;
	const {t} near = exp{f}(-square), power = fma{f}(near, -fma{f}(half_a, a, -square), near);
	// What rounding took from the square above, from 1 + a and from the quotient is put back.
	const {t} sum = heddle_polynomial_{t}(heddle_normcdf_tail_table_{t}, {n}, (a - 6.0{f}) / (a + 6.0{f}));
	const {t} below = a + 1.0{f}, quotient = sum / below;
	const {t} rest = (fma{f}(-quotient, below, sum) - quotient * (1.0{f} - (below - a))) / below;
	const {t} tail = fma{f}(power, quotient, power * rest);
	return __builtin_isnan(x) ? x : x > 0.0{f} ? 1.0{f} - tail : tail;
}

//: heddle_erfcinv_tail_{t} t/f/near/far=float/f/10/12,double//22/35
// Of 0 <= y < 1/4, times the root of `factor`, 1 or 2: under the root it costs no rounding.
static __device__ __forceinline__ {t} heddle_erfcinv_tail_{t}({t} y, {t} factor)
{
	if (y == 0.0{f})
		return ({t})__int_as_float(0x7f800000);
	const {t} s = sqrt{f}(-factor * log{f}(y));
	const {t} v = (factor == 1.0{f} ? 1.0{f} : 1.41421356237309504880{f}) / s;
	return s * (v > 0.3{f} ? heddle_polynomial_{t}(heddle_erfcinv_near_table_{t}, {near}, (v - 0.575{f}) / 0.275{f})
			       : heddle_polynomial_{t}(heddle_erfcinv_far_table_{t}, {far}, (v - 0.1682{f}) / 0.1318{f}));
}

//: heddle_erfinv_{t} t/f/n=float/f/11,double//23
static __device__ __forceinline__ {t} heddle_erfinv_{t}({t} y)
{
	const {t} a = fabs{f}(y);
	if (!(a <= 1.0{f}))
		return ({t})__int_as_float(0x7fc00000);
	if (a <= 0.75{f})
		return y * heddle_polynomial_{t}(heddle_erfinv_table_{t}, {n}, fma{f}(3.55555555555555555556{f} * a, a, -1.0{f}));
	return copysign{f}(heddle_erfcinv_tail_{t}(1.0{f} - a, 1.0{f}), y);
}

//: heddle_normcdfinv_{t} t/f=float/f,double/
static __device__ __forceinline__ {t} heddle_normcdfinv_{t}({t} p)
{
	const {t} y = 2.0{f} * p;
	if (!(y >= 0.0{f} && y <= 2.0{f}))
		return ({t})__int_as_float(0x7fc00000);
	if (y >= 0.25{f} && y <= 1.75{f})
		return p == 0.5{f} ? 0.0{f} : -1.41421356237309504880{f} * heddle_erfinv_{t}(1.0{f} - y);
	return y < 1.0{f} ? -heddle_erfcinv_tail_{t}(y, 2.0{f}) : heddle_erfcinv_tail_{t}(2.0{f} - y, 2.0{f});
}
