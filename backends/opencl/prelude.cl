// The functions that OpenCL C lacks, in pieces: `//: name parameters`, then its text.  A source gets those that it uses.
// SPDX-License-Identifier: 0BSD

//: double
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

//: heddle_float16
typedef ushort heddle_float16; // the bits of an IEEE half

//: heddle_bfloat16
typedef ushort heddle_bfloat16; // the upper half of a float

//: heddle_divide_{t} t/u=char/uchar,short/ushort,int/uint,long/ulong
// a / b rounded toward zero; the least integer by -1 wraps around.
static inline {t} heddle_divide_{t}({t} a, {t} b)
{
	return b == -1 ? ({t})(0u - ({u})a) : ({t})(a / b);
}

//: heddle_modulo_{t} t=char,short,int,long
// What heddle_divide_{t} leaves: it has the sign of a.
static inline {t} heddle_modulo_{t}({t} a, {t} b)
{
	return b == -1 ? ({t})0 : ({t})(a % b);
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

//: heddle_double_to_bfloat16
static inline heddle_bfloat16 heddle_double_to_bfloat16(double x)
{
	return heddle_float_to_bfloat16(heddle_odd_float(x));
}

//: heddle_i0_near_float
__constant float heddle_i0_near_float[19] = {
	3.38397637e-1f, -3.04682672e-1f, 1.71620902e-1f, -9.4901097e-2f,
	4.93052842e-2f, -2.37374148e-2f, 1.05464604e-2f, -4.32431e-3f,
	1.63947562e-3f, -5.76375575e-4f, 1.88502885e-4f, -5.75419501e-5f,
	1.64484481e-5f, -4.41673836e-6f, 1.11738754e-6f, -2.67079385e-7f,
	6.04699502e-8f, -1.30002501e-8f, 2.65982372e-9f,
};

//: heddle_i0_near_double
__constant double heddle_i0_near_double[30] = {
	3.3839763720473804e-1, -3.046826723431984e-1, 1.7162090152220878e-1, -9.4901097048047644e-2,
	4.9305284239670708e-2, -2.3737414805899469e-2, 1.0546460394594998e-2, -4.3243099950505759e-3,
	1.6394756169413358e-3, -5.7637557453858237e-4, 1.8850288509584166e-4, -5.7541950100821037e-5,
	1.6448448070728897e-5, -4.4167383584587506e-6, 1.1173875391201037e-6, -2.6707938539406117e-7,
	6.0469950225419189e-8, -1.300025009986248e-8, 2.6598237246823867e-9, -5.1897956016352629e-10,
	9.6758090353732369e-11, -1.7268262914415557e-11, 2.9550526631296398e-12, -4.8564467831119295e-13,
	7.6761854986049356e-14, -1.1685332877993452e-14, 1.715391285555133e-15, -2.4312798465479547e-16,
	3.3307945188222381e-17, -4.4153416464793394e-18,
};

//: heddle_i0_far_float
__constant float heddle_i0_far_float[7] = {
	4.02245206e-1f, 3.36911648e-3f, 6.88975835e-5f, 2.89137052e-6f,
	2.04891859e-7f, 2.26666899e-8f, 3.39623203e-9f,
};

//: heddle_i0_far_double
__constant double heddle_i0_far_double[25] = {
	4.0224520550705442e-1, 3.3691164782556941e-3, 6.889758346916824e-5, 2.8913705208347565e-6,
	2.0489185894690637e-7, 2.2666689904981781e-8, 3.3962320257083863e-9, 4.9406023882249696e-10,
	1.1889147107846438e-11, -3.1499165279632414e-11, -1.3215811840447713e-11, -1.7941785315068061e-12,
	7.1801244513836662e-13, 3.8527783827421427e-13, 1.5400862175214098e-14, -4.1505693472872221e-14,
	-9.5548466988283076e-15, 3.8116806693526224e-15, 1.7725601330565264e-15, -3.4254856196772191e-16,
	-2.8276239805165835e-16, 3.4612228676974611e-17, 4.46562142029676e-17, -4.8305044859441821e-18,
	-7.233180487874754e-18,
};

//: heddle_i1_near_float
__constant float heddle_i1_near_float[19] = {
	2.78634929e-1f, -1.71620902e-1f, 5.44932943e-2f, -9.9896906e-3f,
	-3.38788705e-3f, 4.94531948e-3f, -3.37319997e-3f, 1.76955555e-3f,
	-7.89236752e-4f, 3.11399135e-4f, -1.10989704e-4f, 3.62059865e-5f,
	-1.09088148e-5f, 3.05680143e-6f, -8.00997859e-7f, 1.97169069e-7f,
	-4.57679951e-8f, 1.00519441e-8f, -2.09497416e-9f,
};

//: heddle_i1_near_double
__constant double heddle_i1_near_double[30] = {
	2.7863492939341603e-1, -1.7162090152220878e-1, 5.4493294317377384e-2, -9.9896905995277327e-3,
	-3.387887052309795e-3, 4.9453194767478192e-3, -3.3731999689504618e-3, 1.7695555478066621e-3,
	-7.8923675207142092e-4, 3.113991353586689e-4, -1.1098970358636965e-4, 3.6205986487079262e-5,
	-1.090881482432957e-5, 3.0568014346380566e-6, -8.0099785873894988e-7, 1.9716906904360219e-7,
	-4.5767995146893361e-8, 1.0051944070687821e-8, -2.0949741571396406e-9, 4.1541594273310382e-10,
	-7.8556811771115934e-11, 1.41972592821462e-11, -2.4568958226516583e-12, 4.0785076654219017e-13,
	-6.5051482516351972e-14, 9.9841102423411224e-15, -1.4766063408898357e-15, 2.1071115905485388e-16,
	-2.9047170077866517e-17, 3.8726233943841261e-18,
};

//: heddle_i1_far_float
__constant float heddle_i1_far_float[7] = {
	3.89288118e-1f, -9.76109749e-3f, -1.10588939e-4f, -3.88256481e-6f,
	-2.51223624e-7f, -2.63146885e-8f, -3.83538039e-9f,
};

//: heddle_i1_far_double
__constant double heddle_i1_far_double[25] = {
	3.8928811750914006e-1, -9.7610974913614684e-3, -1.1058893876262372e-4, -3.8825648088776904e-6,
	-2.5122362378702089e-7, -2.6314688468895195e-8, -3.835380385964237e-9, -5.5897434621965838e-10,
	-1.8974958123505412e-11, 3.2526035830154882e-11, 1.4125807436613781e-11, 2.0356285441470895e-12,
	-7.1985517762459085e-13, -4.0835511110921973e-13, -2.1015418427726643e-14, 4.2724400167119514e-14,
	1.0420276984128803e-14, -3.8144030724370078e-15, -1.8803547755107824e-15, 3.3082023109209283e-16,
	2.9626289976459501e-16, -3.209525921993424e-17, -4.6503053684893583e-17, 4.4143483230717079e-18,
	7.5172963108421048e-18,
};

//: heddle_j0_near_float
__constant float heddle_j0_near_float[12] = {
	1.57727971e-1f, -8.72344235e-3f, 2.65178613e-1f, -3.70094994e-1f,
	1.58067102e-1f, -3.48937694e-2f, 4.81918007e-3f, -4.60626166e-4f,
	3.24603288e-5f, -1.76194691e-6f, 7.60816359e-8f, -2.67925353e-9f,
};

//: heddle_j0_near_double
__constant double heddle_j0_near_double[17] = {
	1.5772797147489012e-1, -8.7234423528522213e-3, 2.6517861320333681e-1, -3.7009499387264978e-1,
	1.5806710233209726e-1, -3.4893769411408885e-2, 4.8191800694676045e-3, -4.6062616620627505e-4,
	3.2460328821005081e-5, -1.7619469077621507e-6, 7.6081635924187819e-8, -2.6792535305576729e-9,
	7.8486963144794644e-11, -1.9438346867370166e-12, 4.1253205956343739e-14, -7.5885081254475463e-16,
	1.2218515873961411e-17,
};

//: heddle_y0_near_float
__constant float heddle_y0_near_float[12] = {
	3.64546981e-2f, -2.78323709e-1f, 2.96049999e-1f, 9.82550841e-2f,
	-1.07551553e-1f, 3.17990741e-2f, -5.16139711e-3f, 5.49852532e-4f,
	-4.19969831e-5f, 2.42903611e-6f, -1.10499698e-7f, 4.06651737e-9f,
};

//: heddle_y0_near_double
__constant double heddle_y0_near_double[17] = {
	3.6454698091160444e-2, -2.7832370940758248e-1, 2.9604999902071482e-1, 9.8255084081878641e-2,
	-1.0755155280627784e-1, 3.1799074084414515e-2, -5.1613971058107149e-3, 5.4985253200390115e-4,
	-4.1996983149420131e-5, 2.4290361107923794e-6, -1.1049969793472956e-7, 4.0665173659791105e-9,
	-1.2374148898289852e-10, 3.1685725528945944e-12, -6.9269560324310011e-14, 1.3086308625876684e-15,
	-2.1586201986914483e-17,
};

//: heddle_j1_near_float
__constant float heddle_j1_near_float[11] = {
	8.10448463e-2f, -1.48975145e-1f, 1.60999262e-1f, -8.26804918e-2f,
	2.22136397e-2f, -3.6469406e-3f, 4.05033773e-4f, -3.25555487e-5f,
	1.9858774e-6f, -9.52198476e-8f, 3.68713376e-9f,
};

//: heddle_j1_near_double
__constant double heddle_j1_near_double[16] = {
	8.1044846325658115e-2, -1.4897514506765211e-1, 1.609992623572097e-1, -8.2680491766817907e-2,
	2.2213639654966035e-2, -3.646940600769276e-3, 4.0503377283548218e-4, -3.2555548668572585e-5,
	1.9858774049915167e-6, -9.5219847567504362e-8, 3.6871337590971482e-9, -1.1780266226958848e-10,
	3.1601545803480033e-12, -7.2217552396517734e-14, 1.4232144003513942e-15, -2.4441972916190464e-17,
};

//: heddle_y1_near_float
__constant float heddle_y1_near_float[11] = {
	3.83007699e-2f, -8.18256141e-2f, -2.48677076e-2f, 4.79674528e-2f,
	-1.85258845e-2f, 3.68060769e-3f, -4.62725406e-4f, 4.06940027e-5f,
	-2.66176951e-6f, 1.35060269e-7f, -5.48352411e-9f,
};

//: heddle_y1_near_double
__constant double heddle_y1_near_double[17] = {
	3.8300769852423779e-2, -8.1825614127328264e-2, -2.4867707612196401e-2, 4.7967452752746983e-2,
	-1.8525884510898022e-2, 3.6806076878235111e-3, -4.6272540602933687e-4, 4.0694002695808699e-5,
	-2.6617695125295626e-6, 1.3506026913254338e-7, -5.4835241103362766e-9, 1.8245086841229008e-10,
	-5.0706666365911291e-12, 1.1956162517587949e-13, -2.4231624427124732e-15, 4.2681265130729624e-17,
	-6.5960609787230412e-19,
};

//: heddle_p0_float
__constant float heddle_p0_float[4] = {
	9.99460349e-1f, -5.36522047e-4f, 3.07518479e-6f, -5.17059454e-8f,
};

//: heddle_p0_double
__constant double heddle_p0_double[13] = {
	9.9946034934751867e-1, -5.3652204681321174e-4, 3.0751847875194746e-6, -5.1705945376060977e-8,
	1.6306464635151383e-9, -7.86409137723707e-11, 5.1682623873491925e-12, -4.3045788699253912e-13,
	4.3265957431549406e-14, -5.0690340959352361e-15, 6.7480722157338737e-16, -1.0011513723467786e-16,
	1.6305919233744185e-17,
};

//: heddle_q0_float
__constant float heddle_q0_float[5] = {
	-1.24446837e-1f, 5.47081595e-4f, -5.93159873e-6f, 1.43779658e-7f,
	-5.81753275e-9f,
};

//: heddle_q0_double
__constant double heddle_q0_double[16] = {
	-1.2444683684269607e-1, 5.4708159540893197e-4, -5.9315987288485178e-6, 1.4377965798375193e-7,
	-5.817532749493056e-9, 3.3760975237349908e-10, -2.5653979367973078e-11, 2.404916100281365e-12,
	-2.6690625482579416e-13, 3.4041800321963689e-14, -4.87994410531204e-15, 7.7297031762426054e-16,
	-1.3348852171502517e-16, 2.4865952389390515e-17, -4.9528926298865159e-18, 1.0473158973776097e-18,
};

//: heddle_p1_float
__constant float heddle_p1_float[4] = {
	1.00090304e0f, 8.98989833e-4f, -3.9872843e-6f, 6.17763396e-8f,
};

//: heddle_p1_double
__constant double heddle_p1_double[13] = {
	1.0009030408600137e0, 8.9898983308594086e-4, -3.9872843004889085e-6, 6.1776339606442985e-8,
	-1.8718907491063066e-9, 8.8168986595823389e-11, -5.7048636403956447e-12, 4.6991955152305424e-13,
	-4.6842237839904892e-14, 5.4526748960447172e-15, -7.2211808422740179e-16, 1.0667689114335412e-16,
	-1.7312313216116335e-17,
};

//: heddle_q1_float
__constant float heddle_q1_float[5] = {
	3.74222297e-1f, -7.70217884e-4f, 7.31089221e-6f, -1.67678251e-7f,
	6.58335466e-9f,
};

//: heddle_q1_double
__constant double heddle_q1_double[15] = {
	3.742222965562826e-1, -7.7021788393256635e-4, 7.3108922063643633e-6, -1.6767825107266738e-7,
	6.5833546621204433e-9, -3.7490909505415562e-10, 2.8121750359748865e-11, -2.6114525394623199e-12,
	2.8774212663332234e-13, -3.6490019160618378e-14, 5.2066263662267072e-15, -8.2153180254585943e-16,
	1.4141084390211833e-16, -2.6267615898385292e-17, 5.2192649196714082e-18,
};

//: heddle_rcbrt_{t} t/f=float/f,double/
static inline {t} heddle_rcbrt_{t}({t} x)
{
	return 1.0{f} / cbrt(x);
}

//: heddle_rhypot_{t} t/f=float/f,double/
static inline {t} heddle_rhypot_{t}({t} x, {t} y)
{
	return 1.0{f} / hypot(x, y);
}

//: heddle_norm3d_{t} t=float,double
static inline {t} heddle_norm3d_{t}({t} x, {t} y, {t} z)
{
	return hypot(hypot(x, y), z);
}

//: heddle_norm4d_{t} t=float,double
static inline {t} heddle_norm4d_{t}({t} x, {t} y, {t} z, {t} w)
{
	return hypot(hypot(x, y), hypot(z, w));
}

//: heddle_rnorm3d_{t} t/f=float/f,double/
static inline {t} heddle_rnorm3d_{t}({t} x, {t} y, {t} z)
{
	return 1.0{f} / heddle_norm3d_{t}(x, y, z);
}

//: heddle_rnorm4d_{t} t/f=float/f,double/
static inline {t} heddle_rnorm4d_{t}({t} x, {t} y, {t} z, {t} w)
{
	return 1.0{f} / heddle_norm4d_{t}(x, y, z, w);
}

//: heddle_erfcx_{t} t/f/far/huge=float/f/6/10,double//20/27
// exp(x^2) erfc(x).
static inline {t} heddle_erfcx_{t}({t} x)
{
	if (x > {far}.0{f}) { // 1 / (x sqrt(pi)) (1 - 1 / (2 x^2) + 3 / (2 x^2)^2 - 15 / (2 x^2)^3 + ...)
		const {t} v = 0.5{f} / x / x;
		{t} sum = 1.0{f};
		for (int k = 17; k >= 1; k -= 2)
			sum = 1.0{f} - k * v * sum;
		return 0.56418958354775628695{f} / x * sum;
	}
	if (x < -{huge}.0{f})
		return INFINITY;
	const {t} square = x * x;
	const {t} rest = fma(x, x, -square); // of the rounded square
	const {t} product = exp(square) * erfc(x);
	return isinf(product) ? product : fma(product, rest, product);
}

//: heddle_erfcinv_step_{t} t/f=float/f,double/
// One step of Halley's method for erfc(x) = y.
static inline {t} heddle_erfcinv_step_{t}({t} x, {t} y)
{
	const {t} slope = 1.12837916709551257390{f} * exp(-x * x);
	const {t} error = erfc(x) - y;
	return slope > 0.0{f} ? x + error / (slope - x * error) : x;
}

//: heddle_erfinv_{t} t/f=float/f,double/
static inline {t} heddle_erfinv_{t}({t} y)
{
	const {t} a = fabs(y);
	if (!(a < 1.0{f}))
		return a == 1.0{f} ? copysign(({t})INFINITY, y) : ({t})NAN;
	// Winitzki's formula to start with: 2 in 1000.
	const {t} l = log1p(-y * y);
	const {t} h = 4.33074{f} + 0.5{f} * l;
	{t} x = sqrt(sqrt(h * h - l / 0.147{f}) - h);
	if (a < 1e-3{f})
		x = 0.88622692545275801365{f} * a;
	for (int k = 0; k < 3; k++) {
		if (a > 0.5{f}) {
			x = heddle_erfcinv_step_{t}(x, 1.0{f} - a);
		} else {
			const {t} slope = 1.12837916709551257390{f} * exp(-x * x);
			const {t} error = erf(x) - a;
			x -= error / (slope + x * error);
		}
	}
	return copysign(x, y);
}

//: heddle_erfcinv_{t} t/f=float/f,double/
static inline {t} heddle_erfcinv_{t}({t} y)
{
	if (!(y >= 0.0{f} && y <= 2.0{f}))
		return ({t})NAN;
	if (y > 0.5{f} && y < 1.5{f})
		return heddle_erfinv_{t}(1.0{f} - y);
	const {t} tail = y < 1.0{f} ? y : 2.0{f} - y;
	if (tail == 0.0{f})
		return y < 1.0{f} ? ({t})INFINITY : -({t})INFINITY;
	// A rational function of sqrt(-2 log(tail / 2)) to start with: 3 in 1000.
	const {t} r = sqrt(-2.0{f} * (log(tail) - 0.69314718055994530942{f}));
	{t} x = 0.70710678118654752440{f} * (r - (2.30753{f} + 0.27061{f} * r) / (1.0{f} + r * (0.99229{f} + 0.04481{f} * r)));
	for (int k = 0; k < 3; k++)
		x = heddle_erfcinv_step_{t}(x, tail);
	return y < 1.0{f} ? x : -x;
}

//: heddle_normcdf_{t} t/f/low=float/f/1.21016174e-8f,double//-4.833646656726458e-17
// erfc(-x / sqrt(2)) / 2, with what the product is off by put right to first order.
static inline {t} heddle_normcdf_{t}({t} x)
{
	if (fabs(x) > 40.0{f})
		x = copysign(40.0{f}, x);
	const {t} root = 0.70710678118654752440{f};
	const {t} z = -x * root;
	const {t} off = fma(-x, root, -z) - x * {low};
	const {t} value = erfc(z);
	return 0.5{f} * (z > 0.0{f} ? value - 2.0{f} * z * off * value : value);
}

//: heddle_normcdfinv_{t} t/f=float/f,double/
static inline {t} heddle_normcdfinv_{t}({t} p)
{
	return -1.41421356237309504880{f} * heddle_erfcinv_{t}(2.0{f} * p);
}

//: heddle_chebyshev_{t} t/f=float/f,double/
// sum c[k] T[k](x), by Clenshaw's recurrence.
static inline {t} heddle_chebyshev_{t}(__constant const {t} *c, int n, {t} x)
{
	{t} b0 = 0.0{f}, b1 = 0.0{f};
	for (int k = n - 1; k > 0; k--) {
		const {t} b = fma(2.0{f} * x, b0, c[k] - b1);
		b1 = b0;
		b0 = b;
	}
	return fma(x, b0, c[0] - b1);
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
	const {t} r = x <= 8.0{f} ? heddle_chebyshev_{t}(heddle_i0_near_{t}, {near}, 0.25{f} * x - 1.0{f})
				  : heddle_chebyshev_{t}(heddle_i0_far_{t}, {far}, 16.0{f} / x - 1.0{f}) / sqrt(x);
	return isinf(x) ? x : heddle_bessel_i_{t}(x, r);
}

//: heddle_cyl_bessel_i1_{t} t/f/near/far=float/f/19/7,double//30/25
static inline {t} heddle_cyl_bessel_i1_{t}({t} x)
{
	const {t} a = fabs(x);
	const {t} r = a <= 8.0{f} ? a * heddle_chebyshev_{t}(heddle_i1_near_{t}, {near}, 0.25{f} * a - 1.0{f}) / (1.0{f} + a)
				  : heddle_chebyshev_{t}(heddle_i1_far_{t}, {far}, 16.0{f} / a - 1.0{f}) / sqrt(a);
	return isinf(x) ? x : copysign(heddle_bessel_i_{t}(a, r), x);
}

//: heddle_j0_{t} t/f/near/p/q=float/f/12/4/5,double//17/13/16
static inline {t} heddle_j0_{t}({t} x)
{
	x = fabs(x);
	if (x <= 8.0{f})
		return heddle_chebyshev_{t}(heddle_j0_near_{t}, {near}, x * x * 0.03125{f} - 1.0{f});
	if (isinf(x))
		return 0.0{f};
	const {t} u = 128.0{f} / x / x - 1.0{f}, s = sin(x), c = cos(x);
	const {t} p = heddle_chebyshev_{t}(heddle_p0_{t}, {p}, u), q = heddle_chebyshev_{t}(heddle_q0_{t}, {q}, u) / x;
	return 0.56418958354775628695{f} / sqrt(x) * (p * (s + c) - q * (s - c));
}

//: heddle_j1_{t} t/f/near/p/q=float/f/11/4/5,double//16/13/15
static inline {t} heddle_j1_{t}({t} x)
{
	const {t} a = fabs(x);
	if (a <= 8.0{f})
		return x * heddle_chebyshev_{t}(heddle_j1_near_{t}, {near}, a * a * 0.03125{f} - 1.0{f});
	if (isinf(a))
		return 0.0{f};
	const {t} u = 128.0{f} / a / a - 1.0{f}, s = sin(a), c = cos(a);
	const {t} p = heddle_chebyshev_{t}(heddle_p1_{t}, {p}, u), q = heddle_chebyshev_{t}(heddle_q1_{t}, {q}, u) / a;
	const {t} r = 0.56418958354775628695{f} / sqrt(a) * (p * (s - c) + q * (s + c));
	return x < 0.0{f} ? -r : r;
}

//: heddle_y0_{t} t/f/near/p/q=float/f/12/4/5,double//17/13/16
static inline {t} heddle_y0_{t}({t} x)
{
	if (!(x >= 0.0{f}))
		return ({t})NAN;
	if (x <= 8.0{f})
		return 0.63661977236758134308{f} * log(0.5{f} * x) * heddle_j0_{t}(x) +
		       heddle_chebyshev_{t}(heddle_y0_near_{t}, {near}, x * x * 0.03125{f} - 1.0{f});
	if (isinf(x))
		return 0.0{f};
	const {t} u = 128.0{f} / x / x - 1.0{f}, s = sin(x), c = cos(x);
	const {t} p = heddle_chebyshev_{t}(heddle_p0_{t}, {p}, u), q = heddle_chebyshev_{t}(heddle_q0_{t}, {q}, u) / x;
	return 0.56418958354775628695{f} / sqrt(x) * (p * (s - c) + q * (s + c));
}

//: heddle_y1_{t} t/f/near/p/q=float/f/11/4/5,double//17/13/15
static inline {t} heddle_y1_{t}({t} x)
{
	if (!(x > 0.0{f}))
		return x == 0.0{f} ? -({t})INFINITY : ({t})NAN;
	if (x <= 8.0{f})
		return 0.63661977236758134308{f} * (log(0.5{f} * x) * heddle_j1_{t}(x) - 1.0{f} / x) +
		       x * heddle_chebyshev_{t}(heddle_y1_near_{t}, {near}, x * x * 0.03125{f} - 1.0{f});
	if (isinf(x))
		return 0.0{f};
	const {t} u = 128.0{f} / x / x - 1.0{f}, s = sin(x), c = cos(x);
	const {t} p = heddle_chebyshev_{t}(heddle_p1_{t}, {p}, u), q = heddle_chebyshev_{t}(heddle_q1_{t}, {q}, u) / x;
	return 0.56418958354775628695{f} / sqrt(x) * (q * (s - c) - p * (s + c));
}
