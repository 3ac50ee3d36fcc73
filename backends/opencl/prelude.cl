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

//: heddle_float16_to_float{w} w=2,4,8,16
static inline float{w} heddle_float16_to_float{w}(ushort{w} h)
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

//: heddle_float_to_float16{w} w=2,4,8,16
static inline ushort{w} heddle_float_to_float16{w}(float{w} f)
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

//: heddle_double_to_float16{w} w=2,4,8,16
static inline ushort{w} heddle_double_to_float16{w}(double{w} x)
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

//: heddle_bfloat16_to_float{w} w=2,4,8,16
static inline float{w} heddle_bfloat16_to_float{w}(ushort{w} h)
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

//: heddle_float_to_bfloat16{w} w=2,4,8,16
static inline ushort{w} heddle_float_to_bfloat16{w}(float{w} f)
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
