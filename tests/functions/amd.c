/* The instructions that AMD's device libraries name, for this machine.
 *
 * Exact ones: class, fract, frexp, ldexp, fma.  Approximate ones are off by what AMD's documents of the instruction sets allow:
 * V_EXP_F32, V_LOG_F32, V_RCP_F32, V_RSQ_F32, V_SQRT_F32 1 ulp, subnormal arguments and results flushed to zero; V_RCP_F64,
 * V_RSQ_F64, V_SQRT_F64 2^29 ulp of float64.  A division in the IR is exact: the compiler expands it so where subnormal
 * numbers are kept.
 * SPDX-License-Identifier: MIT
 */
#include "model.h"

#include <stdbool.h>

int heddle_amdgcn_workitem_id_x(void) { return heddle_thread; }
int heddle_amdgcn_workgroup_id_x(void) { return heddle_block; }

/* Bits: signalling NaN, quiet NaN, -inf, -normal, -subnormal, -0, +0, +subnormal, +normal, +inf. */
static int class_bit(double x, bool subnormal)
{
	if (isnan(x))
		return 2;
	int k = isinf(x) ? 9 : x == 0 ? 6 : subnormal ? 7 : 8;
	return 1 << (signbit(x) ? 11 - k : k);
}

_Bool heddle_amdgcn_class_f32(float x, int mask)
{
	return (class_bit((double)x, fabsf(x) < 0x1p-126f) & (mask & 1 ? mask | 2 : mask)) != 0;
}

_Bool heddle_amdgcn_class_f64(double x, int mask)
{
	return (class_bit(x, fabs(x) < 0x1p-1022) & (mask & 1 ? mask | 2 : mask)) != 0;
}

float heddle_amdgcn_fract_f32(float x) { return fminf(x - floorf(x), 0x1.fffffep-1f); }
double heddle_amdgcn_fract_f64(double x) { return fmin(x - floor(x), 0x1.fffffffffffffp-1); }

int heddle_amdgcn_frexp_exp_i32_f32(float x)
{
	int e = 0;
	(void)frexpf(x, &e);
	return isfinite(x) ? e : 0;
}

int heddle_amdgcn_frexp_exp_i32_f64(double x)
{
	int e = 0;
	(void)frexp(x, &e);
	return isfinite(x) ? e : 0;
}

float heddle_amdgcn_frexp_mant_f32(float x)
{
	int e;
	return isfinite(x) ? frexpf(x, &e) : x;
}

double heddle_amdgcn_frexp_mant_f64(double x)
{
	int e;
	return isfinite(x) ? frexp(x, &e) : x;
}

float heddle_amdgcn_ldexp_f32(float x, int e) { return ldexpf(x, e); }
double heddle_amdgcn_ldexp_f64(double x, int e) { return ldexp(x, e); }
float heddle_amdgcn_fmed3_f32(float a, float b, float c) { return fmaxf(fminf(a, b), fminf(fmaxf(a, b), c)); }

float heddle_amdgcn_rcp_f32(float x) { return flush(off_by_ulp(1 / (long double)flush(x), x, 0)); }
float heddle_amdgcn_rsq_f32(float x) { return flush(off_by_ulp(1 / sqrtl((long double)flush(x)), x, 0)); }
float heddle_amdgcn_sqrt(float x) { return flush(off_by_ulp(sqrtl((long double)flush(x)), x, 0)); }
float heddle_amdgcn_exp2(float x) { return flush(off_by_ulp(exp2l((long double)flush(x)), x, 0)); }
float heddle_amdgcn_log2(float x) { return flush(off_by_ulp(log2l((long double)flush(x)), x, 0)); }
double heddle_amdgcn_rcp_f64(double x) { return (double)off_by(1 / (long double)x, bits_of_double(x), 0x1p-23); }
double heddle_amdgcn_rsq_f64(double x) { return (double)off_by(1 / sqrtl((long double)x), bits_of_double(x), 0x1p-23); }

/* 2 / pi after the point, 1216 bits of it. */
static const uint64_t two_over_pi[] = {
	0xa2f9836e4e441529u, 0xfc2757d1f534ddc0u, 0xdb6295993c439041u, 0xfe5163abdebbc561u,
	0xb7246e3a424dd2e0u, 0x06492eea09d1921cu, 0xfe1deb1cb129a73eu, 0xe88235f52ebb4484u,
	0xe99c7026b45f7e41u, 0x3991d639835339f4u, 0x9c845f8bbdf9283bu, 0x1ff897ffde05980fu,
	0xef2f118b5a0a6d1fu, 0x6d367ecf27cb09b7u, 0x4f463f669e5fea2du, 0x7527bac7ebe5f17bu,
	0x3d0739f78a5292eau, 0x6bfb5fb11f8d5d08u, 0x56033046fc7b6babu,
};

static uint64_t bits_at(int at)
{
	int word = at / 64, shift = at % 64;
	uint64_t high = word < 19 ? two_over_pi[word] : 0, low = word < 18 ? two_over_pi[word + 1] : 0;
	return (shift ? high << shift | low >> (64 - shift) : high) >> 11;
}

/* V_TRIG_PREOP_F64: 53 bits of 2 / pi for the reduction of x. */
double heddle_amdgcn_trig_preop_f64(double x, int segment)
{
	int exponent = (int)(bits_of_double(x) >> 52 & 0x7ff), shift = (segment & 31) * 53;
	if (exponent > 1077)
		shift += exponent - 1077;
	return ldexp((double)bits_at(shift), -53 - shift + (exponent >= 1968 ? 128 : 0));
}
