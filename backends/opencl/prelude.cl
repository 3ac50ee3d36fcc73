// The functions that OpenCL C lacks, in pieces: `//: name parameters`, then its text.  A source gets those that it uses.
// SPDX-License-Identifier: 0BSD

//: double
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

//: heddle_float16
typedef ushort heddle_float16; // the bits of an IEEE half

//: heddle_bfloat16
typedef ushort heddle_bfloat16; // the upper half of a float

//: heddle_stream_{t}{w} t=char,uchar,short,ushort,int,uint,long,ulong,float,double w=2,4,8,16
// A store past the caches, where the compiler has it and the address is a multiple of the vector's size: what nothing reads again
// need not be read before it is written.  Such stores wait for no one; the end of a work-group, an atomic operation, waits for them.
static inline void heddle_stream_{t}{w}({t}{w} x, __global {t} *to)
{
#ifdef __has_builtin
#if __has_builtin(__builtin_nontemporal_store)
	if (((size_t)to & (sizeof({t}{w}) - 1)) == 0) {
		__builtin_nontemporal_store(x, (__global {t}{w} *)to);
		return;
	}
#endif
#endif
	vstore{w}(x, 0, to);
}

//: heddle_load_ahead_{t}{w} t=char,uchar,short,ushort,int,uint,long,ulong,float,double w=2,4,8,16
// A vector, and the line `ahead` elements further on is asked for: it comes while this block computes, and the next one finds it near.
// There need not be such elements.  Only compilers for a processor's own instructions know the word.
static inline {t}{w} heddle_load_ahead_{t}{w}(__global const {t} *from, long ahead)
{
#if defined(__has_builtin) && !defined(__SPIR__) && !defined(__SPIRV__)
#if __has_builtin(__builtin_prefetch)
	__builtin_prefetch((__global const void *)(from + ahead));
#endif
#endif
	return vload{w}(0, from);
}

//: heddle_quotient_{t}{w} t=float,double w=2,4,8,16
// x / y for one y: a product with its inverse, which loops compute once, and a step that takes its error away.  That step is left out
// where it would be infinity less infinity; and where y is so small or so large that it would lose digits, and without a fast fma,
// it is a division.
static inline {t}{w} heddle_quotient_{t}{w}({t}{w} x, {t} y)
{
#if defined(FP_FAST_FMAF) || defined(__FMA__) || defined(__ARM_FEATURE_FMA)
	if (fabs(y) > 0x1p-100f && fabs(y) < 0x1p100f) {
		const {t} inverse = 1 / y;
		const {t}{w} near = x * inverse;
		const {t}{w} rest = fma(-near, ({t}{w})(y), x);
		return fabs(rest) < ({t}{w})(INFINITY) ? fma(rest, ({t}{w})(inverse), near) : near;
	}
#endif
	return x / ({t}{w})(y);
}

//: heddle_zip_{h}_{t}2 t=char,uchar,short,ushort,int,uint,long,ulong,float,double h/a=lo/0,hi/1
// The members of both vectors' halves in turn.  Members one by one: compilers see one shuffle in it.
static inline {t}2 heddle_zip_{h}_{t}2({t}2 x, {t}2 y)
{
	return ({t}2)(x.s{a}, y.s{a});
}

//: heddle_zip_{h}_{t}4 t=char,uchar,short,ushort,int,uint,long,ulong,float,double h/a/b=lo/0/1,hi/2/3
static inline {t}4 heddle_zip_{h}_{t}4({t}4 x, {t}4 y)
{
	return ({t}4)(x.s{a}, y.s{a}, x.s{b}, y.s{b});
}

//: heddle_zip_{h}_{t}8 t=char,uchar,short,ushort,int,uint,long,ulong,float,double h/a/b/c/d=lo/0/1/2/3,hi/4/5/6/7
static inline {t}8 heddle_zip_{h}_{t}8({t}8 x, {t}8 y)
{
	return ({t}8)(x.s{a}, y.s{a}, x.s{b}, y.s{b}, x.s{c}, y.s{c}, x.s{d}, y.s{d});
}

//: heddle_zip_{h}_{t}16 t=char,uchar,short,ushort,int,uint,long,ulong,float,double h/a/b/c/d/e/f/g/k=lo/0/1/2/3/4/5/6/7,hi/8/9/a/b/c/d/e/f
static inline {t}16 heddle_zip_{h}_{t}16({t}16 x, {t}16 y)
{
	return ({t}16)(x.s{a}, y.s{a}, x.s{b}, y.s{b}, x.s{c}, y.s{c}, x.s{d}, y.s{d},
		x.s{e}, y.s{e}, x.s{f}, y.s{f}, x.s{g}, y.s{g}, x.s{k}, y.s{k});
}

//: heddle_unzip_{t}2 t=char,uchar,short,ushort,int,uint,long,ulong,float,double
// Every second member of both vectors, from the first one of x to the last one of y.
static inline {t}2 heddle_unzip_{t}2({t}2 x, {t}2 y)
{
	return ({t}2)(x.s0, y.s1);
}

//: heddle_unzip_{t}4 t=char,uchar,short,ushort,int,uint,long,ulong,float,double
static inline {t}4 heddle_unzip_{t}4({t}4 x, {t}4 y)
{
	return ({t}4)(x.s0, x.s2, y.s1, y.s3);
}

//: heddle_unzip_{t}8 t=char,uchar,short,ushort,int,uint,long,ulong,float,double
static inline {t}8 heddle_unzip_{t}8({t}8 x, {t}8 y)
{
	return ({t}8)(x.s0, x.s2, x.s4, x.s6, y.s1, y.s3, y.s5, y.s7);
}

//: heddle_unzip_{t}16 t=char,uchar,short,ushort,int,uint,long,ulong,float,double
static inline {t}16 heddle_unzip_{t}16({t}16 x, {t}16 y)
{
	return ({t}16)(x.s0, x.s2, x.s4, x.s6, x.s8, x.sa, x.sc, x.se,
		y.s1, y.s3, y.s5, y.s7, y.s9, y.sb, y.sd, y.sf);
}

//: heddle_divide_{t} t/u=char/uchar,short/ushort,int/uint,long/ulong
// a / b rounded toward zero; the least integer by -1 wraps around, and a / 0 is 0.
static inline {t} heddle_divide_{t}({t} a, {t} b)
{
	if (b == 0)
		return 0;
	return b == -1 ? ({t})(0u - ({u})a) : ({t})(a / b);
}

//: heddle_modulo_{t} t=char,short,int,long
// What heddle_divide_{t} leaves: it has the sign of a, and is a where b is 0.
static inline {t} heddle_modulo_{t}({t} a, {t} b)
{
	if (b == 0)
		return a;
	return b == -1 ? ({t})0 : ({t})(a % b);
}

//: heddle_divide_{t} t=uchar,ushort,uint,ulong
static inline {t} heddle_divide_{t}({t} a, {t} b)
{
	return b == 0 ? ({t})0 : ({t})(a / b);
}

//: heddle_modulo_{t} t=uchar,ushort,uint,ulong
static inline {t} heddle_modulo_{t}({t} a, {t} b)
{
	return b == 0 ? a : ({t})(a % b);
}

//: heddle_truncate_{f}_{t} f=float,double t=char,uchar
// Towards zero, the nearest integer beyond the range, 0 for NaN; by way of int, for some drivers crash on one step.
static inline {t} heddle_truncate_{f}_{t}({f} x)
{
	return x == x ? convert_{t}_sat(convert_int_sat(x)) : ({t})0;
}

//: heddle_truncate_{f}_{t} f=float,double t=short,ushort,int,uint,long,ulong
// Towards zero, the nearest integer beyond the range, 0 for NaN.
static inline {t} heddle_truncate_{f}_{t}({f} x)
{
	return x == x ? convert_{t}_sat(x) : ({t})0;
}

//: heddle_truncate_{f}{w}_{t}{w} f=float,double t=char,uchar w=2,4,8,16
static inline {t}{w} heddle_truncate_{f}{w}_{t}{w}({f}{w} x)
{
	return convert_{t}{w}_sat(convert_int{w}_sat(select(x, ({f}{w})0, x != x)));
}

//: heddle_truncate_{f}{w}_{t}{w} f=float,double t=short,ushort,int,uint,long,ulong w=2,4,8,16
static inline {t}{w} heddle_truncate_{f}{w}_{t}{w}({f}{w} x)
{
	return convert_{t}{w}_sat(select(x, ({f}{w})0, x != x));
}

//: heddle_floor_div_{t} t=char,short,int,long
// a / b rounded down, b > 0.
static inline {t} heddle_floor_div_{t}({t} a, {t} b)
{
	return a >= 0 ? a / b : -((-a + b - 1) / b);
}

//: heddle_floor_mod_{t} t=char,short,int,long
// What heddle_floor_div_{t} leaves: 0 <= r < b.
static inline {t} heddle_floor_mod_{t}({t} a, {t} b)
{
	const {t} r = a % b;
	return r < 0 ? r + b : r;
}

//: heddle_min_{t} t=float,float2,float4,float8,float16,double,double2,double4,double8,double16
// The lesser, or NaN when either is one.
static inline {t} heddle_min_{t}({t} a, {t} b)
{
	return ((a < b) | (a != a)) ? a : b;
}

//: heddle_max_{t} t=float,float2,float4,float8,float16,double,double2,double4,double8,double16
// The greater, or NaN when either is one.
static inline {t} heddle_max_{t}({t} a, {t} b)
{
	return ((a > b) | (a != a)) ? a : b;
}

//: heddle_sum_{t}2 t=float,double,uint,ulong,uchar,ushort,int,long,char,short
static inline {t} heddle_sum_{t}2({t}2 x)
{
	return x.lo + x.hi;
}

//: heddle_sum_{t}{w} t=float,double,uint,ulong,uchar,ushort,int,long,char,short w/h=4/2,8/4,16/8
static inline {t} heddle_sum_{t}{w}({t}{w} x)
{
	return heddle_sum_{t}{h}(x.lo + x.hi);
}

//: heddle_product_{t}2 t=float,double,uint,ulong,uchar,ushort,int,long,char,short
static inline {t} heddle_product_{t}2({t}2 x)
{
	return x.lo * x.hi;
}

//: heddle_product_{t}{w} t=float,double,uint,ulong,uchar,ushort,int,long,char,short w/h=4/2,8/4,16/8
static inline {t} heddle_product_{t}{w}({t}{w} x)
{
	return heddle_product_{t}{h}(x.lo * x.hi);
}

//: heddle_least_{t}2 t=float,double
static inline {t} heddle_least_{t}2({t}2 x)
{
	return heddle_min_{t}(x.lo, x.hi);
}

//: heddle_least_{t}{w} t=float,double w/h=4/2,8/4,16/8
static inline {t} heddle_least_{t}{w}({t}{w} x)
{
	return heddle_least_{t}{h}(heddle_min_{t}{h}(x.lo, x.hi));
}

//: heddle_greatest_{t}2 t=float,double
static inline {t} heddle_greatest_{t}2({t}2 x)
{
	return heddle_max_{t}(x.lo, x.hi);
}

//: heddle_greatest_{t}{w} t=float,double w/h=4/2,8/4,16/8
static inline {t} heddle_greatest_{t}{w}({t}{w} x)
{
	return heddle_greatest_{t}{h}(heddle_max_{t}{h}(x.lo, x.hi));
}

//: heddle_least_{t}2 t=uint,ulong,uchar,ushort,int,long,char,short
static inline {t} heddle_least_{t}2({t}2 x)
{
	return min(x.lo, x.hi);
}

//: heddle_least_{t}{w} t=uint,ulong,uchar,ushort,int,long,char,short w/h=4/2,8/4,16/8
static inline {t} heddle_least_{t}{w}({t}{w} x)
{
	return heddle_least_{t}{h}(min(x.lo, x.hi));
}

//: heddle_greatest_{t}2 t=uint,ulong,uchar,ushort,int,long,char,short
static inline {t} heddle_greatest_{t}2({t}2 x)
{
	return max(x.lo, x.hi);
}

//: heddle_greatest_{t}{w} t=uint,ulong,uchar,ushort,int,long,char,short w/h=4/2,8/4,16/8
static inline {t} heddle_greatest_{t}{w}({t}{w} x)
{
	return heddle_greatest_{t}{h}(max(x.lo, x.hi));
}

//: heddle_float16_to_float
static inline float heddle_float16_to_float(heddle_float16 h)
{
	return vload_half(0, (const half *)&h);
}

//: heddle_float16_to_float_x{w} w=2,4,8,16
static inline float{w} heddle_float16_to_float_x{w}(ushort{w} h)
{
	return vload_half{w}(0, (const half *)&h);
}

//: heddle_float_to_float16
// Rounded to nearest, ties to even.
static inline heddle_float16 heddle_float_to_float16(float f)
{
	heddle_float16 h;
	vstore_half_rte(f, 0, (half *)&h);
	return h;
}

//: heddle_float_to_float16_x{w} w=2,4,8,16
static inline ushort{w} heddle_float_to_float16_x{w}(float{w} f)
{
	ushort{w} h;
	vstore_half{w}_rte(f, 0, (half *)&h);
	return h;
}

//: heddle_double_to_float16
static inline heddle_float16 heddle_double_to_float16(double x)
{
	heddle_float16 h;
	vstore_half_rte(x, 0, (half *)&h);
	return h;
}

//: heddle_double_to_float16_x{w} w=2,4,8,16
static inline ushort{w} heddle_double_to_float16_x{w}(double{w} x)
{
	ushort{w} h;
	vstore_half{w}_rte(x, 0, (half *)&h);
	return h;
}

//: heddle_bfloat16_to_float
static inline float heddle_bfloat16_to_float(heddle_bfloat16 h)
{
	return as_float((uint)h << 16);
}

//: heddle_bfloat16_to_float_x{w} w=2,4,8,16
static inline float{w} heddle_bfloat16_to_float_x{w}(ushort{w} h)
{
	return as_float{w}(convert_uint{w}(h) << 16);
}

//: heddle_float_to_bfloat16
// Rounded to nearest, ties to even.
static inline heddle_bfloat16 heddle_float_to_bfloat16(float f)
{
	const uint bits = as_uint(f);
	return f != f ? (heddle_bfloat16)(bits >> 16 | 0x40u) : (heddle_bfloat16)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

//: heddle_float_to_bfloat16_x{w} w=2,4,8,16
static inline ushort{w} heddle_float_to_bfloat16_x{w}(float{w} f)
{
	const uint{w} bits = as_uint{w}(f);
	const uint{w} rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
	return convert_ushort{w}(f != f ? bits >> 16 | 0x40u : rounded);
}

//: heddle_odd_float
// double to float, inexact results made odd, so that rounding once more is right.
static inline float heddle_odd_float(double x)
{
	const float f = (float)x;
	const double back = (double)f;
	if (back == x || x != x || isinf(f))
		return f;
	const uint bits = as_uint(f);
	return as_float(((back > x) == (x > 0.0) ? bits - 1u : bits) | 1u);
}

//: heddle_odd_float_x{w} w=2,4,8,16
static inline float{w} heddle_odd_float_x{w}(double{w} x)
{
	const float{w} f = convert_float{w}(x);
	const double{w} back = convert_double{w}(f);
	const uint{w} bits = as_uint{w}(f);
	const int{w} whole = convert_int{w}((back == x) | (x != x)) | isinf(f);
	const int{w} beyond = convert_int{w}((back > x) == (x > 0.0));
	return as_float{w}(select(select(bits, bits - 1u, beyond) | 1u, bits, whole));
}

//: heddle_double_to_bfloat16
static inline heddle_bfloat16 heddle_double_to_bfloat16(double x)
{
	return heddle_float_to_bfloat16(heddle_odd_float(x));
}

//: heddle_double_to_bfloat16_x{w} w=2,4,8,16
static inline ushort{w} heddle_double_to_bfloat16_x{w}(double{w} x)
{
	return heddle_float_to_bfloat16_x{w}(heddle_odd_float_x{w}(x));
}

//: heddle_exp_table_float
__constant float heddle_exp_table_float[7] = {
	5.0e-1f, 1.666667e-1f, 4.16666744e-2f, 8.33277254e-3f,
	1.38880883e-3f, 2.00742755e-4f, 2.5067747e-5f,
};

//: heddle_exp_table_double
__constant double heddle_exp_table_double[13] = {
	5.0e-1, 1.6666666666666664e-1, 4.166666666666666e-2, 8.3333333333350835e-3,
	1.3888888888891244e-3, 1.9841269838356349e-4, 2.4801587298646746e-5, 2.7557321302348928e-6,
	2.7557320972078361e-7, 2.5051387840094841e-8, 2.0876223651021849e-9, 1.6178879045243213e-10,
	1.1551387589559027e-11,
};

//: heddle_erf_table_float
__constant float heddle_erf_table_float[6] = {
	1.03095282e0f, -8.96037673e-2f, 7.31445887e-3f, -4.80871057e-4f,
	2.60619113e-5f, -1.18940971e-6f,
};

//: heddle_erf_table_double
__constant double heddle_erf_table_double[11] = {
	1.0309528156012641e0, -8.9603767109099903e-2, 7.3144852345782113e-3, -4.8087247803145202e-4,
	2.5991645175700739e-5, -1.1865684221472146e-6, 4.6785583311377528e-8, -1.6217928017083982e-9,
	5.0129514529761172e-11, -1.3998947900109277e-12, 3.5533485586645973e-14,
};

//: heddle_erfcx_table_float
__constant float heddle_erfcx_table_float[13] = {
	1.23299512e0f, -1.39621086e-1f, 1.53797687e-2f, 6.80961749e-2f,
	-1.01040941e-1f, 9.37402055e-2f, -6.63190441e-2f, 3.71404587e-2f,
	-1.6230392e-2f, 5.08226958e-3f, -7.09132787e-4f, -2.4843673e-4f,
	1.14208173e-4f,
};

//: heddle_erfcx_table_double
__constant double heddle_erfcx_table_double[26] = {
	1.2329951186255525e0, -1.396211168405625e-1, 1.5379652102619604e-2, 6.8097054254690391e-2,
	-1.0103906603630055e-1, 9.3732834998438267e-2, -6.6330365812186977e-2, 3.7167515535929115e-2,
	-1.6197734059799266e-2, 5.0319699926699334e-3, -7.5777326137309563e-4, -1.992567757633648e-4,
	1.5062149001240472e-4, -2.4398944545280834e-5, -1.1221287012353485e-5, 5.7092060530721829e-6,
	2.9197333779630121e-7, -8.2491984275083543e-7, 7.7469927270179419e-8, 1.1009737295274889e-7,
	-2.0560649275699202e-8, -1.4709550868669279e-8, 3.1695881915648172e-9, 1.7903326159489846e-9,
	-2.6595996902426894e-10, -1.3746529890011638e-10,
};

//: heddle_erfcx_near_table_float
__constant float heddle_erfcx_near_table_float[8] = {
	7.70346546e-1f, -1.85801472e-1f, 3.65341269e-2f, -6.21948736e-3f,
	9.47033022e-4f, -1.3176013e-4f, 1.74644307e-5f, -2.10790946e-6f,
};

//: heddle_erfcx_near_table_double
__constant double heddle_erfcx_near_table_double[15] = {
	7.7034654773099674e-1, -1.8580147330750357e-1, 3.653406715146833e-2, -6.2194752565008713e-3,
	9.473309967175951e-4, -1.3180360650103036e-4, 1.6990153963934394e-5, -2.0502401931598121e-6,
	2.334361484360231e-7, -2.5233464615741174e-8, 2.6025424930912118e-9, -2.5707122766063381e-10,
	2.4421504217927797e-11, -2.3025901122472467e-12, 2.0390042474930346e-13,
};

//: heddle_normcdf_tail_table_float
__constant float heddle_normcdf_tail_table_float[14] = {
	4.534552e-1f, -8.50253608e-2f, 3.9811405e-2f, -4.37344312e-3f,
	-1.61411928e-2f, 2.25930777e-2f, -1.97685288e-2f, 1.32439429e-2f,
	-7.05351098e-3f, 2.94284419e-3f, -8.79405803e-4f, 1.09982191e-4f,
	4.71729069e-5f, -1.99029252e-5f,
};

//: heddle_normcdf_tail_table_double
__constant double heddle_normcdf_tail_table_double[26] = {
	4.5345520027112795e-1, -8.5025362305770698e-2, 3.981142456242952e-2, -4.3733867795959431e-3,
	-1.6141517332177098e-2, 2.2592467062875386e-2, -1.9766479220487222e-2, 1.3246864152514435e-2,
	-7.0598194143933522e-3, 2.9356555320208676e-3, -8.6899471563358187e-4, 1.1948957018278191e-4,
	3.7795134908269739e-5, -2.6353041813322221e-5, 4.4117072938493118e-6, 1.7828133868647034e-6,
	-9.9826032442100072e-7, 1.5035220119303522e-9, 1.3083300821995656e-7, -2.2476534956105689e-8,
	-1.4728247327099548e-8, 4.7986167920271045e-9, 1.4592114620754211e-9, -6.8340570668557254e-10,
	-9.599992591079198e-11, 5.4717826206919211e-11,
};

//: heddle_normcdf_table_float
__constant float heddle_normcdf_table_float[6] = {
	3.68048993e-1f, -2.86762164e-2f, 2.08862257e-3f, -1.22311262e-4f,
	5.89693487e-6f, -2.39456521e-7f,
};

//: heddle_normcdf_table_double
__constant double heddle_normcdf_table_double[11] = {
	3.6804899320837462e-1, -2.8676216415723439e-2, 2.0886272882345944e-3, -1.2231148823231228e-4,
	5.8843489555902578e-6, -2.3900389774606444e-7, 8.3823160797347664e-9, -2.584150556263454e-10,
	7.1029488749385992e-12, -1.7631181413654878e-13, 3.9792292470432446e-15,
};

//: heddle_erfinv_table_float
__constant float heddle_erfinv_table_float[11] = {
	9.64021637e-1f, 9.34678225e-2f, 1.96911704e-2f, 5.17278318e-3f,
	1.50956102e-3f, 4.69808497e-4f, 1.52069176e-4f, 4.75598826e-5f,
	1.58427866e-5f, 8.46044053e-6f, 3.08015256e-6f,
};

//: heddle_erfinv_table_double
__constant double heddle_erfinv_table_double[23] = {
	9.6402163762382704e-1, 9.3467810828723124e-2, 1.9691156241499961e-2, 5.1730134143669813e-3,
	1.5097228866488097e-3, 4.685490797665593e-4, 1.5139579317223368e-4, 5.0329138992760114e-5,
	1.708827086911536e-5, 5.8973697071062485e-6, 2.0618076340887851e-6, 7.2844100875375062e-7,
	2.5962888689614268e-7, 9.3334984754643646e-8, 3.3741682079322621e-8, 1.2069526819271782e-8,
	4.3865668074822446e-9, 1.8195083967474337e-9, 6.838709701559696e-10, 1.0403024012917805e-10,
	3.2451168422992749e-11, 7.1417855815870315e-11, 2.768219840342242e-11,
};

//: heddle_erfcinv_near_table_float
__constant float heddle_erfcinv_near_table_float[10] = {
	8.01899274e-1f, -1.17310461e-1f, 3.6580255e-3f, 3.20679935e-3f,
	-1.01589224e-3f, 1.84707543e-4f, -2.65388411e-5f, 5.51248377e-6f,
	-3.07582096e-6f, 1.18980085e-6f,
};

//: heddle_erfcinv_near_table_double
__constant double heddle_erfcinv_near_table_double[22] = {
	8.0189927511079017e-1, -1.1731046291584512e-1, 3.6579845563278447e-3, 3.2068323726273566e-3,
	-1.0155718410444362e-3, 1.8452719184778131e-4, -2.740388630179618e-5, 5.9081394265620915e-6,
	-2.1561709555491807e-6, 8.251736736782119e-7, -2.9307614347531822e-7, 1.0228370061775364e-7,
	-3.6764207456414585e-8, 1.3602258021658476e-8, -4.9773194861492383e-9, 1.8742560215132697e-9,
	-8.8955392405379507e-10, 3.6500187852019322e-10, -2.0988084251496836e-11, 1.1528866119438547e-12,
	-5.2731979404212961e-11, 2.3002196076901394e-11,
};

//: heddle_erfcinv_far_table_float
__constant float heddle_erfcinv_far_table_float[12] = {
	9.6639983e-1f, -4.18115445e-2f, -7.9621837e-3f, 2.14345626e-3f,
	-4.40000789e-4f, 1.31862962e-4f, -6.24895465e-5f, 3.26382671e-5f,
	1.53447459e-6f, -5.15131337e-6f, -1.27395914e-5f, 8.83387905e-6f,
};

//: heddle_erfcinv_far_table_double
__constant double heddle_erfcinv_far_table_double[35] = {
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

//: heddle_gamma_table_float
__constant float heddle_gamma_table_float[9] = {
	1.32934039e0f, 4.67367261e-1f, 1.63639638e-1f, 3.17339022e-2f,
	6.85462756e-3f, 8.86284547e-4f, 1.62241245e-4f, 1.25521823e-5f,
	3.10459638e-6f,
};

//: heddle_gamma_table_double
__constant double heddle_gamma_table_double[17] = {
	1.329340388179137e0, 4.6736726081304293e-1, 1.6363964449533403e-1, 3.173390585513507e-2,
	6.8545771251391703e-3, 8.8627439369736691e-4, 1.6238130348726053e-4, 1.2557815608709449e-5,
	2.9471647834193525e-6, 7.7010494070665623e-9, 5.9891928733425729e-8, -6.2550185536689061e-9,
	1.7720185652489462e-9, -3.0807023783323131e-10, 6.5029011676130344e-11, -1.5444682359166837e-11,
	3.1427821210013468e-12,
};

//: heddle_lgamma1_table_float
__constant float heddle_lgamma1_table_float[14] = {
	-5.77215666e-1f, 4.11233521e-1f, -1.00171289e-1f, 3.3822431e-2f,
	-1.29634656e-2f, 5.30045188e-3f, -2.23993212e-3f, 9.72312927e-4f,
	-4.64417451e-4f, 2.14616746e-4f, -4.88579053e-5f, 1.77122457e-5f,
	-4.35509435e-5f, 2.16587391e-5f,
};

//: heddle_lgamma1_table_double
__constant double heddle_lgamma1_table_double[29] = {
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
__constant float heddle_lgamma2_table_float[9] = {
	4.22784335e-1f, 1.61233509e-1f, -1.68380703e-2f, 2.57270383e-3f,
	-4.61636102e-4f, 8.99633409e-5f, -1.8528714e-5f, 4.45583532e-6f,
	-9.91647838e-7f,
};

//: heddle_lgamma2_table_double
__constant double heddle_lgamma2_table_double[19] = {
	4.2278433509846714e-1, 1.6123351671205662e-1, -1.6838075263299535e-2, 2.5726010534725419e-3,
	-4.6159693929175601e-4, 9.0328447844899129e-5, -1.8636779875052926e-5, 3.9817930886596665e-6,
	-8.7169824490811339e-7, 1.9425327031438992e-7, -4.3873390300491619e-8, 1.001249236957858e-8,
	-2.3043102744274225e-9, 5.3524559714714045e-10, -1.2481294697143872e-10, 2.8075860826633895e-11,
	-6.5662150466258726e-12, 2.1270762170785404e-12, -5.1176844538117446e-13,
};

//: heddle_i0_near_float
__constant float heddle_i0_near_float[19] = {
	2.07001921e-1f, -1.13004336e-1f, 9.45156472e-2f, -8.90428754e-2f,
	8.73428052e-2f, -8.4973244e-2f, 7.92829728e-2f, -6.94632888e-2f,
	5.67272883e-2f, -4.3317893e-2f, 3.03606371e-2f, -1.88573548e-2f,
	1.15540656e-2f, -8.01823678e-3f, 4.16927366e-3f, -7.5489499e-4f,
	4.1265146e-4f, -8.51984391e-4f, 3.48628415e-4f,
};

//: heddle_i0_near_double
__constant double heddle_i0_near_double[30] = {
	2.070019212239867e-1, -1.1300432688620549e-1, 9.4515628539951029e-2, -8.9043441360759622e-2,
	8.7343416175523125e-2, -8.4963380916163049e-2, 7.9275225907163468e-2, -6.9541195617193806e-2,
	5.677703201991695e-2, -4.2985949454796117e-2, 3.0177912022978356e-2, -1.9682654690592339e-2,
	1.1960077907026221e-2, -6.7923998730731696e-3, 3.617126448897043e-3, -1.8118867939377239e-3,
	8.5631527482723059e-4, -3.8290209550065977e-4, 1.6240542162878107e-4, -6.5508613896208514e-5,
	2.520232727107692e-5, -9.2516805844326543e-6, 3.2293390826404928e-6, -1.0883393970072518e-6,
	3.6758429265554293e-7, -1.1384114641747256e-7, 2.6265363151970111e-8, -7.7230945568463322e-9,
	4.4705167275117403e-9, -1.1852342482684723e-9,
};

//: heddle_i0_far_float
__constant float heddle_i0_far_float[7] = {
	4.02176509e-1f, 3.3605557e-3f, 1.36217164e-4f, 1.11121483e-5f,
	1.47611573e-6f, 3.62667038e-7f, 1.08679425e-7f,
};

//: heddle_i0_far_double
__constant double heddle_i0_far_double[25] = {
	4.0217650944500808e-1, 3.3605519836678616e-3, 1.3621607439193051e-4, 1.1143033790932038e-5,
	1.4838475658279248e-6, 2.9735985885673924e-7, 8.8722197379040538e-8, 3.9325843345529518e-8,
	2.1548377974791597e-8, 7.5546918812488083e-9, -6.747657956107524e-9, -1.340891754008974e-8,
	-5.404771567579958e-9, 7.5525830621233848e-9, 7.4304646503254259e-9, -3.5059665308793318e-9,
	-5.9535694382648908e-9, 1.5200816953924231e-9, 3.6379546359011145e-9, -5.7158438642027086e-10,
	-1.6189806836246819e-9, 1.5279202694981568e-10, 4.5770876316436229e-10, -2.0260604287413627e-11,
	-6.0676315706030064e-11,
};

//: heddle_i1_near_float
__constant float heddle_i1_near_float[19] = {
	2.23438549e-1f, -1.26870843e-1f, 9.57906323e-2f, -7.01830839e-2f,
	4.49070893e-2f, -2.13226979e-2f, 2.24642466e-3f, 1.02792647e-2f,
	-1.62150143e-2f, 1.71526274e-2f, -1.4513489e-2f, 1.00043006e-2f,
	-6.78064211e-3f, 5.30614986e-3f, -2.87974562e-3f, 4.30670149e-4f,
	-2.64059628e-4f, 6.58764207e-4f, -2.74592453e-4f,
};

//: heddle_i1_near_double
__constant double heddle_i1_near_double[30] = {
	2.2343854937804416e-1, -1.2687085064589613e-1, 9.5790647428893145e-2, -7.018263139108133e-2,
	4.4906593743710353e-2, -2.1330581281613669e-2, 2.2527061987688003e-3, 1.0341512885115143e-2,
	-1.625533730186514e-2, 1.6887521550261776e-2, -1.4365426172891515e-2, 1.0663009784877335e-2,
	-7.1094595471976044e-3, 4.3286749315608597e-3, -2.432935625967106e-3, 1.2721754331591823e-3,
	-6.2260010296990121e-4, 2.8655291800309698e-4, -1.2452184310003616e-4, 5.1274954734856684e-5,
	-2.008128376793675e-5, 7.4861610636053575e-6, -2.647318914535916e-6, 9.0298255691730986e-7,
	-3.089207839359041e-7, 9.6550998487267939e-8, -2.2256170847391023e-8, 6.60385317208322e-9,
	-3.898645172680827e-9, 1.0395494267877707e-9,
};

//: heddle_i1_far_float
__constant float heddle_i1_far_float[7] = {
	3.89398459e-1f, -9.74958137e-3f, -2.19237125e-4f, -1.50039655e-5f,
	-1.82569073e-6f, -4.21035016e-7f, -1.22732172e-7f,
};

//: heddle_i1_far_double
__constant double heddle_i1_far_double[25] = {
	3.8939845902587233e-1, -9.7495771932357362e-3, -2.1923576383388928e-4, -1.5038547200567217e-5,
	-1.8349101326980947e-6, -3.4838557610442947e-7, -1.0001288294864884e-7, -4.3129177291783492e-8,
	-2.3373928208142639e-8, -8.4277660937351841e-9, 6.734464815301592e-9, 1.4034238782067183e-8,
	5.9744376080402639e-9, -7.6423941343635612e-9, -7.8883515078620772e-9, 3.4262341490077959e-9,
	6.2427412197864452e-9, -1.4387250533041014e-9, -3.7946708962083394e-9, 5.2956254411612611e-10,
	1.6848984479705146e-9, -1.4011625179770627e-10, -4.7588188387038535e-10, 1.8515118828852957e-11,
	6.3059651971500567e-11,
};

//: heddle_j0_near_float
__constant float heddle_j0_near_float[12] = {
	4.58296648e-2f, 9.30301247e-1f, -6.48469277e-1f, -8.08088808e-1f,
	1.0383794e0f, -5.0746804e-1f, 1.45989129e-1f, -2.8472738e-2f,
	4.0575376e-3f, -4.4351363e-4f, 3.89537976e-5f, -2.74355562e-6f,
};

//: heddle_j0_near_double
__constant double heddle_j0_near_double[17] = {
	4.582966485981377e-2, 9.3030124729585712e-1, -6.4846928308718364e-1, -8.0808880766968721e-1,
	1.0383794611437211e0, -5.0746804584710004e-1, 1.4598884856759264e-1, -2.8472718610882046e-2,
	4.0580789891409909e-3, -4.4354592243115029e-4, 3.8473197855944363e-5, -2.717749223632098e-6,
	1.5956109104549217e-7, -7.9153230829520701e-9, 3.3634475788173604e-10, -1.243301171273326e-11,
	4.0037632815796752e-13,
};

//: heddle_y0_near_float
__constant float heddle_y0_near_float[12] = {
	-3.62027343e-1f, -4.17920742e-1f, 1.36094565e0f, -2.12459993e-1f,
	-6.19340679e-1f, 4.48246035e-1f, -1.54537239e-1f, 3.38028886e-2f,
	-5.23417423e-3f, 6.10381931e-4f, -5.65758453e-5f, 4.16411378e-6f,
};

//: heddle_y0_near_double
__constant double heddle_y0_near_double[17] = {
	-3.6202734323714522e-1, -4.1792074232069522e-1, 1.3609456599655457e0, -2.1245999442065943e-1,
	-6.1934078263033579e-1, 4.4824604463563141e-1, -1.5453679652310554e-1, 3.3802856963996061e-2,
	-5.2350276707989935e-3, 6.1043456437991939e-4, -5.5818304627065165e-5, 4.1220543483587724e-6,
	-2.5144107029169116e-7, 1.2898070896458872e-8, -5.6462689150991875e-10, 2.1440608052636359e-11,
	-7.0733666670721379e-13,
};

//: heddle_j1_near_float
__constant float heddle_j1_near_float[11] = {
	-5.8143828e-2f, 8.10586591e-2f, 1.51516652e-1f, -2.59594839e-1f,
	1.58583762e-1f, -5.47459631e-2f, 1.24568257e-2f, -2.02870848e-3f,
	2.49472777e-4f, -2.4376281e-5f, 1.88781248e-6f,
};

//: heddle_j1_near_double
__constant double heddle_j1_near_double[16] = {
	-5.814382795599107e-2, 8.1058660385897955e-2, 1.5151665143806637e-1, -2.5959486528593027e-1,
	1.5858376432721839e-1, -5.4745818212847219e-2, 1.2456814392263375e-2, -2.0290394945705998e-3,
	2.4949458135972608e-4, -2.404574865968694e-5, 1.8684526037206012e-6, -1.1967081867878012e-7,
	6.4311901772658356e-9, -2.943013798001659e-10, 1.1658972367678622e-11, -4.0045728425886456e-13,
};

//: heddle_y1_near_float
__constant float heddle_y1_near_float[11] = {
	4.51026621e-2f, -2.07608576e-1f, 9.0227506e-2f, 1.20520314e-1f,
	-1.26419946e-1f, 5.43903407e-2f, -1.41319415e-2f, 2.52662146e-3f,
	-3.33687587e-4f, 3.45754289e-5f, -2.80756434e-6f,
};

//: heddle_y1_near_double
__constant double heddle_y1_near_double[17] = {
	4.5102662068694831e-2, -2.0760857842830602e-1, 9.0227506367309354e-2, 1.2052035426888161e-1,
	-1.2641995056569883e-1, 5.4390116307946294e-2, -1.4131923394248491e-2, 2.5271340466828154e-3,
	-3.3372257011146276e-4, 3.4063633753163958e-5, -2.7765055805562498e-6, 1.8524201840523818e-7,
	-1.0315388849003178e-8, 4.8710207979077036e-10, -1.9764090840240262e-11, 6.9928984790187415e-13,
	-2.1613972615079662e-14,
};

//: heddle_p0_float
__constant float heddle_p0_float[4] = {
	9.99457274e-1f, -5.36366929e-4f, 6.15036958e-6f, -2.06823782e-7f,
};

//: heddle_p0_double
__constant double heddle_p0_double[13] = {
	9.9945727578825195e-1, -5.3636731921296725e-4, 6.1374160801094975e-6, -2.0527448261170676e-7,
	1.280376144080092e-8, -1.2121098178951377e-9, 1.5500565496632597e-10, -2.4911465354716661e-11,
	4.7869958213680279e-12, -1.0157485021065676e-12, 2.4531772967345006e-13, -1.0251790052831013e-13,
	3.339452259070809e-14,
};

//: heddle_q0_float
__constant float heddle_q0_float[5] = {
	-1.24440911e-1f, 5.46650256e-4f, -1.18166572e-5f, 5.75118632e-7f,
	-4.6540262e-8f,
};

//: heddle_q0_double
__constant double heddle_q0_double[16] = {
	-1.2444091103610815e-1, 5.4665192794751095e-4, -1.1817110661200975e-5, 5.6849718876187499e-7,
	-4.5349728373634339e-8, 5.1462252685390581e-9, -7.5763304988972e-10, 1.36265138876175e-10,
	-2.8707211071105146e-11, 6.8780548765768612e-12, -1.8736407435432958e-12, 5.5702668014199676e-13,
	-1.3137515498826536e-13, 3.750385225206321e-14, -4.0574096424030339e-14, 1.7159223662634758e-14,
};

//: heddle_p1_float
__constant float heddle_p1_float[4] = {
	1.00090703e0f, 8.98804504e-4f, -7.9745686e-6f, 2.47105358e-7f,
};

//: heddle_p1_double
__constant double heddle_p1_double[13] = {
	1.0009070262780822e0, 8.9880494167051827e-4, -7.9596946984383005e-6, 2.4536766333666929e-7,
	-1.4708512991275257e-8, 1.3602969253877949e-9, -1.7131074852941311e-10, 2.7234512682813399e-11,
	-5.191158004646548e-12, 1.0954826479277624e-12, -2.6335760672461096e-13, 1.0923713653079462e-13,
	-3.5455617466606254e-14,
};

//: heddle_q1_float
__constant float heddle_q1_float[5] = {
	3.74214992e-1f, -7.69714849e-4f, 1.45691176e-5f, -6.70713004e-7f,
	5.26668373e-8f,
};

//: heddle_q1_double
__constant double heddle_q1_double[15] = {
	3.7421499221959182e-1, -7.6971670576437064e-4, 1.4569614809851412e-5, -6.633568561050814e-7,
	5.1361059970711926e-8, -5.7208908888408568e-9, 8.3160773500382614e-10, -1.4816588916791195e-10,
	3.1003648372305748e-11, -7.4651044776982958e-12, 2.0027287747665846e-12, -4.9157406296765505e-13,
	1.3996264453471973e-13, -1.0759215471978615e-13, 4.2756218221948176e-14,
};

//: heddle_rcbrt_{t} t/f=float/f,double/
static inline {t} heddle_rcbrt_{t}({t} x)
{
	return 1.0{f} / cbrt(x);
}

//: heddle_exponent_{t} t=float,double
// The exponent by which the arguments of a norm are scaled: that of the greatest.
static inline int heddle_exponent_{t}({t} x, {t} y, {t} z, {t} w)
{
	const {t} most = fmax(fmax(fabs(x), fabs(y)), fmax(fabs(z), fabs(w)));
	return most > 0 && !isinf(most) ? ilogb(most) : 0;
}

//: heddle_norm4d_{t} t=float,double
static inline {t} heddle_norm4d_{t}({t} x, {t} y, {t} z, {t} w)
{
	if (isinf(x) || isinf(y) || isinf(z) || isinf(w))
		return ({t})INFINITY;
	const int e = heddle_exponent_{t}(x, y, z, w);
	x = ldexp(x, -e);
	y = ldexp(y, -e);
	z = ldexp(z, -e);
	w = ldexp(w, -e);
	return ldexp(sqrt(fma(x, x, fma(y, y, fma(z, z, w * w)))), e);
}

//: heddle_norm3d_{t} t/f=float/f,double/
static inline {t} heddle_norm3d_{t}({t} x, {t} y, {t} z)
{
	return heddle_norm4d_{t}(x, y, z, 0.0{f});
}

//: heddle_rnorm4d_{t} t/f=float/f,double/
static inline {t} heddle_rnorm4d_{t}({t} x, {t} y, {t} z, {t} w)
{
	if (isinf(x) || isinf(y) || isinf(z) || isinf(w))
		return 0.0{f};
	const int e = heddle_exponent_{t}(x, y, z, w);
	x = ldexp(x, -e);
	y = ldexp(y, -e);
	z = ldexp(z, -e);
	w = ldexp(w, -e);
	return ldexp(rsqrt(fma(x, x, fma(y, y, fma(z, z, w * w)))), -e);
}

//: heddle_rnorm3d_{t} t/f=float/f,double/
static inline {t} heddle_rnorm3d_{t}({t} x, {t} y, {t} z)
{
	return heddle_rnorm4d_{t}(x, y, z, 0.0{f});
}

//: heddle_rhypot_{t} t/f=float/f,double/
static inline {t} heddle_rhypot_{t}({t} x, {t} y)
{
	return heddle_rnorm4d_{t}(x, y, 0.0{f}, 0.0{f});
}

//: heddle_polynomial_{t} t=float,double
// sum c[k] x^k
static inline {t} heddle_polynomial_{t}(__constant const {t} *c, int n, {t} x)
{
	{t} sum = c[n - 1];
	for (int k = n - 2; k >= 0; k--)
		sum = fma(sum, x, c[k]);
	return sum;
}

//: heddle_erfcx_right_{t} t/f/near/n/far=float/f/8/13/1e4,double//15/26/1e9
// exp(x^2) erfc(x) of x >= 0.
static inline {t} heddle_erfcx_right_{t}({t} x)
{
	if (x > {far}{f})
		return 0.56418958354775628695{f} / x;
	if (x <= 0.5{f})
		return heddle_polynomial_{t}(heddle_erfcx_near_table_{t}, {near}, fma(4.0{f}, x, -1.0{f}));
	return heddle_polynomial_{t}(heddle_erfcx_table_{t}, {n}, (x - 4.0{f}) / (x + 4.0{f})) / fma(2.0{f}, x, 1.0{f});
}

//: heddle_erfc_right_{t} t/f=float/f,double/
// erfc of x >= 1/2: exp(-x^2) erfcx(x).
static inline {t} heddle_erfc_right_{t}({t} x)
{
	const {t} a = fmin(x, 30.0{f}), square = a * a, power = exp(-square);
	return isnan(x) ? x : fma(power, -fma(a, a, -square), power) * heddle_erfcx_right_{t}(a);
}

//: heddle_erf_{t} t/f/n=float/f/6,double//11
static inline {t} heddle_erf_{t}({t} x)
{
	if (fabs(x) <= 0.75{f})
		return x * heddle_polynomial_{t}(heddle_erf_table_{t}, {n}, fma(3.55555555555555555556{f} * x, x, -1.0{f}));
	return copysign(1.0{f} - heddle_erfc_right_{t}(fabs(x)), x);
}

//: heddle_erfc_{t} t/f=float/f,double/
static inline {t} heddle_erfc_{t}({t} x)
{
	if (x >= 0.5{f})
		return heddle_erfc_right_{t}(x);
	return x > -0.75{f} ? 1.0{f} - heddle_erf_{t}(x) : 2.0{f} - heddle_erfc_right_{t}(-x);
}

//: heddle_{f}_{t}_x{w} f=sin,cos,tan t/i=float/int,double/long w=2,4,8,16
// The members beyond 10,000 by themselves.  PoCL 3.1's functions of float vectors are wrong where 1e10 stands beside 1e-3, whose sine is
// 0.0166 there: tests/layers/driver_faults/pocl_vector_sine.cl.
static inline {t}{w} heddle_{f}_{t}_x{w}({t}{w} x)
{
	const {i}{w} far = !(fabs(x) < ({t}{w})(10000));
	const {t}{w} near = {f}(far ? ({t}{w})(0) : x);
	return any(far) ? (far ? {f}(far ? x : ({t}{w})(1e10f)) : near) : near;
}

//: heddle_polynomial_{t}{w} t=float,double w=2,4,8,16
static inline {t}{w} heddle_polynomial_{t}{w}(__constant const {t} *c, int n, {t}{w} x)
{
	{t}{w} sum = ({t}{w})(c[n - 1]);
#pragma unroll
	for (int k = n - 2; k >= 0; k--)
		sum = fma(sum, x, ({t}{w})(c[k]));
	return sum;
}

//: heddle_exp_{t}_x{w} t/i/terms/least/most/scale/shift/high/rest/bits=float/int/7/-104.0f/90.0f/0.72134752f/12583039.0f/1.38629436f/3.8093086e-9f/23,double/long/13/-746.0/711.0/0.72134752044448170/6755399441056767.0/1.3862943611198906/-4.6380936276925992e-17/52 w=2,4,8,16
// e^x as p 2^n 2^n: n is the integer nearest to x / log 4, in the low bits of a sum with a large number, and p = e^(x - n log 4) a
// polynomial.  Two powers of 2, so that neither overflows and only the last product rounds to a subnormal number.  That is faster than
// the library of a processor that has fma; elsewhere, as on GPUs, the driver's own is used.
static inline {t}{w} heddle_exp_{t}_x{w}({t}{w} x)
{
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
	x = x < ({t}{w})({least}) ? ({t}{w})({least}) : x;
	x = x > ({t}{w})({most}) ? ({t}{w})({most}) : x;
	const {t}{w} shifted = fma(x, ({t}{w})({scale}), ({t}{w})({shift})), n = shifted - {shift};
	const {t}{w} r = fma(n, ({t}{w})({rest}), fma(n, ({t}{w})(-{high}), x)), one = ({t}{w})(1);
	{t}{w} p = ({t}{w})(heddle_exp_table_{t}[{terms} - 1]);
#pragma unroll
	for (int k = {terms} - 2; k >= 0; k--)
		p = fma(p, r, ({t}{w})(heddle_exp_table_{t}[k]));
	p = fma(fma(p, r, one), r, one);
	const {t}{w} power = as_{t}{w}(as_{i}{w}(shifted) << {bits});
	return p * power * power;
#else
	return exp(x);
#endif
}

//: heddle_erf_parts_{t}{w} t/f/near/n=float/f/6/13,double//11/26 w=2,4,8,16
// erf of |x| <= 3/4; *right: erfc of |x| >= 1/2.  Members are on both sides: both are computed.
static inline {t}{w} heddle_erf_parts_{t}{w}({t}{w} x, {t}{w} *right)
{
	const {t}{w} a = fmin(fabs(x), ({t}{w})(30.0{f})), square = a * a, power = exp(-square);
	const {t}{w} sum = heddle_polynomial_{t}{w}(heddle_erfcx_table_{t}, {n}, (a - 4.0{f}) / (a + 4.0{f}));
	*right = fma(power, -fma(a, a, -square), power) * (sum / fma(({t}{w})(2.0{f}), a, ({t}{w})(1.0{f})));
	return x * heddle_polynomial_{t}{w}(heddle_erf_table_{t}, {near}, fma(3.55555555555555555556{f} * x, x, ({t}{w})(-1.0{f})));
}

//: heddle_erf_{t}_x{w} t/f=float/f,double/ w=2,4,8,16
static inline {t}{w} heddle_erf_{t}_x{w}({t}{w} x)
{
	{t}{w} right;
	const {t}{w} near = heddle_erf_parts_{t}{w}(x, &right);
	return ((fabs(x) <= ({t}{w})(0.75{f})) | (x != x)) ? near : copysign(1.0{f} - right, x);
}

//: heddle_erfc_{t}_x{w} t/f=float/f,double/ w=2,4,8,16
static inline {t}{w} heddle_erfc_{t}_x{w}({t}{w} x)
{
	{t}{w} right;
	const {t}{w} near = heddle_erf_parts_{t}{w}(x, &right);
	return x >= ({t}{w})(0.5{f}) ? right : x <= ({t}{w})(-0.75{f}) ? 2.0{f} - right : 1.0{f} - near;
}

//: heddle_erfcx_{t} t/f/huge=float/f/10,double//27
// exp(x^2) erfc(x): of x < 0 it is 2 exp(x^2) less that of -x.
static inline {t} heddle_erfcx_{t}({t} x)
{
	if (x < -{huge}.0{f})
		return INFINITY;
	const {t} right = heddle_erfcx_right_{t}(fabs(x));
	if (!(x < 0.0{f}))
		return isnan(x) ? x : right;
	const {t} square = x * x;
	const {t} power = 2.0{f} * exp(square);
	return isinf(power) ? power : fma(power, fma(x, x, -square), power) - right;
}

//: heddle_normcdf_{t} t/f/near/n=float/f/6/14,double//11/26
// Near 0 a polynomial; on the left exp(-x^2 / 2) erfcx(-x / sqrt(2)) / 2.
static inline {t} heddle_normcdf_{t}({t} x)
{
	if (fabs(x) < 1.0{f})
		return fma(x, heddle_polynomial_{t}(heddle_normcdf_table_{t}, {near}, fma(2.0{f} * x, x, -1.0{f})), 0.5{f});
	const {t} a = fmin(fabs(x), 40.0{f}), half_a = 0.5{f} * a, square = half_a * a;
	const {t} near = exp(-square), power = fma(near, -fma(half_a, a, -square), near);
	// What rounding took from the square above, from 1 + a and from the quotient is put back.
	const {t} sum = heddle_polynomial_{t}(heddle_normcdf_tail_table_{t}, {n}, (a - 6.0{f}) / (a + 6.0{f}));
	const {t} below = a + 1.0{f}, quotient = sum / below;
	const {t} rest = (fma(-quotient, below, sum) - quotient * (1.0{f} - (below - a))) / below;
	const {t} tail = fma(power, quotient, power * rest);
	return isnan(x) ? x : x > 0.0{f} ? 1.0{f} - tail : tail;
}

//: heddle_erfcinv_tail_{t} t/f/near/far=float/f/10/12,double//22/35
// Of 0 <= y < 1/4, times the root of `factor`, 1 or 2: under the root it costs no rounding.
static inline {t} heddle_erfcinv_tail_{t}({t} y, {t} factor)
{
	if (y == 0.0{f})
		return ({t})INFINITY;
	const {t} s = sqrt(-factor * log(y));
	const {t} v = (factor == 1.0{f} ? 1.0{f} : 1.41421356237309504880{f}) / s;
	return s * (v > 0.3{f} ? heddle_polynomial_{t}(heddle_erfcinv_near_table_{t}, {near}, (v - 0.575{f}) / 0.275{f})
			       : heddle_polynomial_{t}(heddle_erfcinv_far_table_{t}, {far}, (v - 0.1682{f}) / 0.1318{f}));
}

//: heddle_erfinv_{t} t/f/n=float/f/11,double//23
static inline {t} heddle_erfinv_{t}({t} y)
{
	const {t} a = fabs(y);
	if (!(a <= 1.0{f}))
		return ({t})NAN;
	if (a <= 0.75{f})
		return y * heddle_polynomial_{t}(heddle_erfinv_table_{t}, {n}, fma(3.55555555555555555556{f} * a, a, -1.0{f}));
	return copysign(heddle_erfcinv_tail_{t}(1.0{f} - a, 1.0{f}), y);
}

//: heddle_erfcinv_{t} t/f=float/f,double/
static inline {t} heddle_erfcinv_{t}({t} y)
{
	if (!(y >= 0.0{f} && y <= 2.0{f}))
		return ({t})NAN;
	if (y >= 0.25{f} && y <= 1.75{f})
		return heddle_erfinv_{t}(1.0{f} - y);
	return y < 1.0{f} ? heddle_erfcinv_tail_{t}(y, 1.0{f}) : -heddle_erfcinv_tail_{t}(2.0{f} - y, 1.0{f});
}

//: heddle_normcdfinv_{t} t/f=float/f,double/
static inline {t} heddle_normcdfinv_{t}({t} p)
{
	const {t} y = 2.0{f} * p;
	if (!(y >= 0.0{f} && y <= 2.0{f}))
		return ({t})NAN;
	if (y >= 0.25{f} && y <= 1.75{f})
		return p == 0.5{f} ? 0.0{f} : -1.41421356237309504880{f} * heddle_erfinv_{t}(1.0{f} - y);
	return y < 1.0{f} ? -heddle_erfcinv_tail_{t}(y, 2.0{f}) : heddle_erfcinv_tail_{t}(2.0{f} - y, 2.0{f});
}

//: heddle_times_{t} t=float,double
// (a + b) (c + d), the sum of two numbers each, as the sum of two.
static inline {t}2 heddle_times_{t}({t}2 a, {t}2 b)
{
#pragma OPENCL FP_CONTRACT OFF
	const {t} product = a.x * b.x;
	const {t} rest = fma(a.x, b.x, -product) + (a.x * b.y + a.y * b.x);
	const {t} high = product + rest;
	return ({t}2)(high, rest - (high - product));
}

//: heddle_over_{t} t=float,double
// (a + b) / (c + d), likewise.
static inline {t}2 heddle_over_{t}({t}2 a, {t}2 b)
{
#pragma OPENCL FP_CONTRACT OFF
	const {t} quotient = a.x / b.x;
	const {t} rest = (fma(-quotient, b.x, a.x) + (a.y - quotient * b.y)) / b.x;
	return ({t}2)(quotient, rest);
}

//: heddle_plus_{t} t=float,double
// a + b, exactly.
static inline {t}2 heddle_plus_{t}({t} a, {t} b)
{
#pragma OPENCL FP_CONTRACT OFF
	const {t} sum = a + b, other = sum - a;
	return ({t}2)(sum, (a - (sum - other)) + (b - other));
}

//: heddle_gamma_{t} t/f/n/half=float/f/9/20,double//17/90
// Gamma(x) as the sum of two numbers, the first infinite or NaN beyond the range; not for poles and what lies far outside.
// Gamma(2 + z), 0 <= z <= 1, times (x - 1) (x - 2) .. or divided by x (x + 1) ..: in two parts, which do not overflow.
static inline {t}2 heddle_gamma_{t}({t} x)
{
	const {t} whole = floor(x);
	const int n = (int)whole - 2;
	const {t}2 z = heddle_plus_{t}(x, -whole);
	const {t} slope = fma(1.42278434{f}, z.x, 0.42278434{f});
	{t}2 first = ({t}2)(1.0{f}, 0.0{f}), second = first;
	{t}2 value = ({t}2)(heddle_polynomial_{t}(heddle_gamma_table_{t}, {n}, 2.0{f} * z.x - 1.0{f}), slope * z.y);
	for (int k = 0; k < (n < 0 ? -n : n); k++) {
		const {t}2 factor = n < 0 ? heddle_plus_{t}(x, ({t})k) : ({t}2)(x - ({t})(k + 1), 0.0{f});
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
static inline {t} heddle_tgamma_{t}({t} x)
{
	if (isnan(x) || (x < 0.0{f} && x == floor(x)))
		return ({t})NAN;
	if (x == 0.0{f})
		return copysign(({t})INFINITY, x);
	if (x > {most}.0{f})
		return ({t})INFINITY;
	if (x < {least}.0{f})
		return fmod(floor(x), 2.0{f}) == 0.0{f} ? 0.0{f} : -0.0{f};
	const {t}2 y = heddle_gamma_{t}(x);
	return isinf(y.x) ? y.x : isnan(y.x) ? ({t})INFINITY : y.x + y.y;
}

//: heddle_stirling_{t} t/f=float/f,double/
// log Gamma(x) of large x, by Stirling's series.
static inline {t} heddle_stirling_{t}({t} x)
{
	const {t} r = 1.0{f} / x, q = r * r;
	{t} sum = fma(q, -1.9175269175269175269e-3{f}, 8.4175084175084175084e-4{f});
	sum = fma(q, sum, -5.9523809523809523810e-4{f});
	sum = fma(q, sum, 7.9365079365079365079e-4{f});
	sum = fma(q, sum, -2.7777777777777777778e-3{f});
	sum = fma(q, sum, 8.3333333333333333333e-2{f});
	return fma(x - 0.5{f}, log(x) - 1.0{f}, fma(r, sum, 0.41893853320467274178{f}));
}

//: heddle_lgamma_{t} t/f/one/two/far/least=float/f/14/9/34/-33,double//29/19/20/-168
// Near 1 and 2, where it is 0, a polynomial; elsewhere the logarithm of Gamma, known to more digits than has {t}.
static inline {t} heddle_lgamma_{t}({t} x)
{
	if (isnan(x) || isinf(x))
		return isnan(x) ? x : ({t})INFINITY;
	if (x <= 0.0{f} && x == floor(x))
		return ({t})INFINITY;
	if (x == 1.0{f} || x == 2.0{f})
		return 0.0{f};
	if (fabs(x) < 0.5{f})
		return x * heddle_polynomial_{t}(heddle_lgamma1_table_{t}, {one}, 2.0{f} * x) - log(fabs(x));
	if (x >= 0.5{f} && x <= 1.5{f})
		return (x - 1.0{f}) * heddle_polynomial_{t}(heddle_lgamma1_table_{t}, {one}, 2.0{f} * (x - 1.0{f}));
	if (x > 1.5{f} && x <= 2.5{f})
		return (x - 2.0{f}) * heddle_polynomial_{t}(heddle_lgamma2_table_{t}, {two}, 2.0{f} * (x - 2.0{f}));
	if (x > 2.5{f} && x <= 3.5{f})
		return log(x - 1.0{f}) + (x - 3.0{f}) * heddle_polynomial_{t}(heddle_lgamma2_table_{t}, {two}, 2.0{f} * (x - 3.0{f}));
	if (x >= {far}.0{f})
		return heddle_stirling_{t}(x);
	if (x < {least}.0{f}) // log(pi / |x sin(pi x)|) - log Gamma(-x)
		return log(3.14159265358979323846{f} / fabs(x * sinpi(x - 2.0{f} * floor(0.5{f} * x)))) - heddle_stirling_{t}(-x);
	const {t}2 y = heddle_gamma_{t}(x);
	return log(fabs(y.x)) + y.y / y.x;
}

//: heddle_bessel_i_{t} t/f=float/f,double/
// e^x r without an early overflow.
static inline {t} heddle_bessel_i_{t}({t} x, {t} r)
{
	const {t} half_power = exp(0.5{f} * x);
	return x > 80.0{f} ? half_power * r * half_power : exp(x) * r;
}

//: heddle_cyl_bessel_i0_{t} t/f/near/far=float/f/19/7,double//30/25
static inline {t} heddle_cyl_bessel_i0_{t}({t} x)
{
	x = fabs(x);
	const {t} r = x <= 8.0{f} ? heddle_polynomial_{t}(heddle_i0_near_{t}, {near}, 0.25{f} * x - 1.0{f})
				  : heddle_polynomial_{t}(heddle_i0_far_{t}, {far}, 16.0{f} / x - 1.0{f}) / sqrt(x);
	return isinf(x) ? x : heddle_bessel_i_{t}(x, r);
}

//: heddle_cyl_bessel_i1_{t} t/f/near/far=float/f/19/7,double//30/25
static inline {t} heddle_cyl_bessel_i1_{t}({t} x)
{
	const {t} a = fabs(x);
	const {t} r = a <= 8.0{f} ? a * heddle_polynomial_{t}(heddle_i1_near_{t}, {near}, 0.25{f} * a - 1.0{f}) / (1.0{f} + a)
				  : heddle_polynomial_{t}(heddle_i1_far_{t}, {far}, 16.0{f} / a - 1.0{f}) / sqrt(a);
	return isinf(x) ? x : copysign(heddle_bessel_i_{t}(a, r), x);
}

//: heddle_j0_{t} t/f/near/p/q=float/f/12/4/5,double//17/13/16
static inline {t} heddle_j0_{t}({t} x)
{
	x = fabs(x);
	if (x <= 8.0{f})
		return heddle_polynomial_{t}(heddle_j0_near_{t}, {near}, x * x * 0.03125{f} - 1.0{f});
	if (isinf(x))
		return 0.0{f};
	const {t} u = 128.0{f} / x / x - 1.0{f}, s = sin(x), c = cos(x);
	const {t} p = heddle_polynomial_{t}(heddle_p0_{t}, {p}, u), q = heddle_polynomial_{t}(heddle_q0_{t}, {q}, u) / x;
	return 0.56418958354775628695{f} / sqrt(x) * (p * (s + c) - q * (s - c));
}

//: heddle_j1_{t} t/f/near/p/q=float/f/11/4/5,double//16/13/15
static inline {t} heddle_j1_{t}({t} x)
{
	const {t} a = fabs(x);
	if (a <= 8.0{f})
		return x * heddle_polynomial_{t}(heddle_j1_near_{t}, {near}, a * a * 0.03125{f} - 1.0{f});
	if (isinf(a))
		return 0.0{f};
	const {t} u = 128.0{f} / a / a - 1.0{f}, s = sin(a), c = cos(a);
	const {t} p = heddle_polynomial_{t}(heddle_p1_{t}, {p}, u), q = heddle_polynomial_{t}(heddle_q1_{t}, {q}, u) / a;
	const {t} r = 0.56418958354775628695{f} / sqrt(a) * (p * (s - c) + q * (s + c));
	return x < 0.0{f} ? -r : r;
}

//: heddle_y0_{t} t/f/near/p/q=float/f/12/4/5,double//17/13/16
static inline {t} heddle_y0_{t}({t} x)
{
	if (!(x >= 0.0{f}))
		return ({t})NAN;
	if (x < 1e-6{f}) // 2/pi (log(x / 2) + Euler's constant)
		return 0.63661977236758134308{f} * (log(x) - 0.11593151565841244882{f});
	if (x <= 8.0{f})
		return 0.63661977236758134308{f} * log(0.5{f} * x) * heddle_j0_{t}(x) +
		       heddle_polynomial_{t}(heddle_y0_near_{t}, {near}, x * x * 0.03125{f} - 1.0{f});
	if (isinf(x))
		return 0.0{f};
	const {t} u = 128.0{f} / x / x - 1.0{f}, s = sin(x), c = cos(x);
	const {t} p = heddle_polynomial_{t}(heddle_p0_{t}, {p}, u), q = heddle_polynomial_{t}(heddle_q0_{t}, {q}, u) / x;
	return 0.56418958354775628695{f} / sqrt(x) * (p * (s - c) + q * (s + c));
}

//: heddle_y1_{t} t/f/near/p/q=float/f/11/4/5,double//17/13/15
static inline {t} heddle_y1_{t}({t} x)
{
	if (!(x > 0.0{f}))
		return x == 0.0{f} ? -({t})INFINITY : ({t})NAN;
	if (x < 1e-10{f})
		return -0.63661977236758134308{f} / x;
	if (x <= 8.0{f})
		return 0.63661977236758134308{f} * (log(0.5{f} * x) * heddle_j1_{t}(x) - 1.0{f} / x) +
		       x * heddle_polynomial_{t}(heddle_y1_near_{t}, {near}, x * x * 0.03125{f} - 1.0{f});
	if (isinf(x))
		return 0.0{f};
	const {t} u = 128.0{f} / x / x - 1.0{f}, s = sin(x), c = cos(x);
	const {t} p = heddle_polynomial_{t}(heddle_p1_{t}, {p}, u), q = heddle_polynomial_{t}(heddle_q1_{t}, {q}, u) / x;
	return 0.56418958354775628695{f} / sqrt(x) * (q * (s - c) - p * (s + c));
}

//: heddle_random_bits
// Random bits that depend on nothing but a seed and a counter: the first word of Philox4x32-10.
static inline uint heddle_random_bits(ulong seed, ulong counter)
{
	uint x0 = (uint)counter, x1 = (uint)(counter >> 32), x2 = 0, x3 = 0;
	uint k0 = (uint)seed, k1 = (uint)(seed >> 32);
	for (int round = 0; round < 10; round++) {
		const uint h = mul_hi(0xD2511F53u, x0), l = 0xD2511F53u * x0;
		x0 = mul_hi(0xCD9E8D57u, x2) ^ x1 ^ k0;
		x1 = 0xCD9E8D57u * x2;
		x2 = h ^ x3 ^ k1;
		x3 = l;
		k0 += 0x9E3779B9u;
		k1 += 0xBB67AE85u;
	}
	return x0;
}
