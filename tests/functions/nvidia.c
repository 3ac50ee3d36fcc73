/* The instructions that libdevice names, for this machine.
 *
 * Exact ones are what their names say.  Approximate ones are off by as much as the PTX ISA 9.0 says in the section of each:
 * ex2.approx.f32 2 ulp from the correctly rounded result; lg2.approx.f32 2^-22, absolute for arguments in (1/2, 2), relative
 * elsewhere; rsqrt.approx.f32 2^-22.9 and sqrt.approx.f32 2^-23, relative; rcp.approx.f32 1 ulp; div.approx.f32 2 ulp.
 * rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 work on the upper word of the argument and give an upper word; by how much that may
 * be off is not said: 2^-21 is added here.
 * SPDX-License-Identifier: MIT
 */
#include "model.h"

int heddle_nvvm_read_ptx_sreg_tid_x(void) { return heddle_thread; }
int heddle_nvvm_read_ptx_sreg_ctaid_x(void) { return heddle_block; }

/* How the compiler is set: IEEE division and square roots, subnormal numbers kept, compute capability 9.0. */
int __nvvm_reflect(const char *what)
{
	return strcmp(what, "__CUDA_ARCH") == 0 ? 900 : strcmp(what, "__CUDA_FTZ") != 0;
}

/* Both forms of an instruction: .ftz takes and gives no subnormal numbers. */
#define F32_1(name, expression)                                                                                         \
	float heddle_nvvm_##name##_f(float x) { return (expression); }                                                  \
	float heddle_nvvm_##name##_ftz_f(float y) { float x = flush(y); return flush(expression); }
#define F32_2(name, expression)                                                                                         \
	float heddle_nvvm_##name##_f(float x, float y) { return (expression); }                                         \
	float heddle_nvvm_##name##_ftz_f(float a, float b) { float x = flush(a), y = flush(b); return flush(expression); }
#define F32_3(name, expression)                                                                                         \
	float heddle_nvvm_##name##_f(float x, float y, float z) { return (expression); }                                \
	float heddle_nvvm_##name##_ftz_f(float a, float b, float c)                                                     \
	{                                                                                                               \
		float x = flush(a), y = flush(b), z = flush(c);                                                         \
		return flush(expression);                                                                               \
	}
F32_1(fabs, fabsf(x))
F32_1(floor, floorf(x))
F32_1(ceil, ceilf(x))
F32_1(saturate, x > 0 ? x < 1 ? x : 1 : 0)
F32_1(sqrt_rn, sqrtf(x))
F32_1(rcp_rn, 1 / x)
F32_1(ex2_approx, off_by_ulp(exp2l((long double)x), x, 1))
F32_1(rsqrt_approx, (float)off_by(1 / sqrtl((long double)x), bits_of(x), 0x1.12p-23))
F32_1(sqrt_approx, (float)off_by(sqrtl((long double)x), bits_of(x), 0x1p-23))
F32_1(rcp_approx, off_by_ulp(1 / (long double)x, x, 0))
F32_2(add_rn, x + y)
F32_2(sub_rn, x - y)
F32_2(mul_rn, x * y)
F32_2(div_rn, x / y)
F32_2(fmin, fminf(x, y))
F32_2(fmax, fmaxf(x, y))
F32_2(div_approx, fabsf(y) > 0x1p126f && !isinf(x) ? copysignf(0, x) * copysignf(1, y) : off_by_ulp((long double)x / (long double)y, x, 1))
F32_3(fma_rn, fmaf(x, y, z))

/* The sum is rounded to long double first: where that is a tie of float, the direction is lost, and that is 2^-40 of all. */
static float toward(long double exact, int direction)
{
	float near = (float)exact;
	if (direction < 0 && (long double)near > exact)
		return nextafterf(near, -INFINITY);
	if (direction > 0 && (long double)near < exact)
		return nextafterf(near, INFINITY);
	return near;
}

static int to_zero(long double exact) { return exact > 0 ? -1 : 1; }

F32_2(add_rz, toward((long double)x + (long double)y, to_zero((long double)x + (long double)y)))
F32_2(mul_rz, toward((long double)x *(long double)y, to_zero((long double)x *(long double)y)))
F32_3(fma_rm, toward((long double)x *(long double)y + (long double)z, -1))
F32_3(fma_rp, toward((long double)x *(long double)y + (long double)z, 1))
F32_3(fma_rz, toward((long double)x *(long double)y + (long double)z, to_zero((long double)x *(long double)y + (long double)z)))

static float lg2(float x)
{
	long double exact = log2l((long double)x);
	return (float)(x > 0.5f && x < 2 && exact != 0 ? exact + off_by(1, bits_of(x), 0x1p-22) - 1 : off_by(exact, bits_of(x), 0x1p-22));
}
F32_1(lg2_approx, lg2(x))

float heddle_nvvm_round_f(float x) { return rintf(x); }
float heddle_nvvm_trunc_f(float x) { return truncf(x); }

/* Saturating, NaN to 0. */
static int to_int(double x) { return isnan(x) ? 0 : x >= 2147483647.0 ? INT32_MAX : x <= -2147483648.0 ? INT32_MIN : (int)x; }
int heddle_nvvm_f2i_rn(float x) { return to_int(rint((double)x)); }
int heddle_nvvm_f2i_rn_ftz(float x) { return to_int(rint((double)flush(x))); }
int heddle_nvvm_f2i_rz(float x) { return to_int(trunc((double)x)); }
int heddle_nvvm_f2i_rz_ftz(float x) { return to_int(trunc((double)flush(x))); }
int heddle_nvvm_mulhi_i(int a, int b) { return (int)(((int64_t)a * b) >> 32); }
uint32_t heddle_nvvm_mulhi_ui(uint32_t a, uint32_t b) { return (uint32_t)(((uint64_t)a * b) >> 32); }
uint64_t heddle_nvvm_mulhi_ull(uint64_t a, uint64_t b) { return (uint64_t)(((unsigned __int128)a * b) >> 64); }

uint32_t heddle_nvvm_bfind_shiftamt(uint32_t x) { return x ? (uint32_t)__builtin_clz(x) : UINT32_MAX; }

/* ---- float64 ---- */
double heddle_nvvm_fabs_d(double x) { return fabs(x); }
double heddle_nvvm_floor_d(double x) { return floor(x); }
double heddle_nvvm_ceil_d(double x) { return ceil(x); }
double heddle_nvvm_trunc_d(double x) { return trunc(x); }
double heddle_nvvm_round_d(double x) { return rint(x); }
double heddle_nvvm_sqrt_rn_d(double x) { return sqrt(x); }
double heddle_nvvm_rcp_rn_d(double x) { return 1 / x; }
double heddle_nvvm_add_rn_d(double x, double y) { return x + y; }
/* Rounded to zero: one down where rounding to nearest went up. */
double heddle_nvvm_add_rz_d(double x, double y)
{
	double sum = x + y, other = sum - x, rest = (x - (sum - other)) + (y - other);
	if (!isfinite(sum))
		return isinf(sum) && isfinite(x) && isfinite(y) ? copysign(0x1.fffffffffffffp1023, sum) : sum;
	return rest != 0 && !signbit(rest) != !signbit(sum) ? nextafter(sum, 0) : sum;
}

double heddle_nvvm_sub_rn_d(double x, double y) { return x - y; }
double heddle_nvvm_mul_rn_d(double x, double y) { return x * y; }
double heddle_nvvm_div_rn_d(double x, double y) { return x / y; }
double heddle_nvvm_fma_rn_d(double x, double y, double z) { return fma(x, y, z); }
double heddle_nvvm_fmin_d(double x, double y) { return fmin(x, y); }
double heddle_nvvm_fmax_d(double x, double y) { return fmax(x, y); }
int heddle_nvvm_d2i_hi(double x) { return (int)(bits_of_double(x) >> 32); }
int heddle_nvvm_d2i_lo(double x) { return (int)(uint32_t)bits_of_double(x); }
int heddle_nvvm_d2i_rn(double x) { return to_int(rint(x)); }
int heddle_nvvm_d2i_rz(double x) { return to_int(trunc(x)); }
double heddle_nvvm_i2d_rn(int x) { return (double)x; }
float heddle_nvvm_d2f_rn(double x) { return (float)x; }

int64_t heddle_nvvm_d2ll_rn(double x)
{
	x = rint(x);
	return isnan(x) || x <= -0x1p63 ? INT64_MIN : x >= 0x1p63 ? INT64_MAX : (int64_t)x;
}

double heddle_nvvm_lohi_i2d(int low, int high)
{
	uint64_t bits = (uint64_t)(uint32_t)high << 32 | (uint32_t)low;
	double x;
	memcpy(&x, &bits, sizeof(x));
	return x;
}

/* Subnormal numbers are zero, the lower half of the result is zero. */
static double upper_half(long double x)
{
	double d = (double)x;
	return heddle_nvvm_lohi_i2d(0, heddle_nvvm_d2i_hi(fabs(d) < 0x1p-1022 ? copysign(0, d) : d));
}

double heddle_nvvm_rcp_approx_ftz_d(double x)
{
	double y = fabs(x) < 0x1p-1022 ? copysign(0, x) : x;
	return isfinite(1 / y) ? upper_half(off_by(1 / (long double)y, bits_of_double(x), 0x1p-21)) : 1 / y;
}

/* rsqrt.approx.f64 is accurate to 1 ulp or so; with .ftz it is not. */
double heddle_nvvm_rsqrt_approx_d(double x) { return (double)off_by(1 / sqrtl((long double)x), bits_of_double(x), 0x1p-54); }

double heddle_nvvm_rsqrt_gross_d(double x)
{
	double y = fabs(x) < 0x1p-1022 ? copysign(0, x) : x, r = 1 / sqrt(y);
	return isfinite(r) ? upper_half(off_by(1 / sqrtl((long double)y), bits_of_double(x), 0x1p-21)) : r;
}
