/* Special functions in long double that libm lacks, and the accuracy table of all functions of the notation.
 * SPDX-License-Identifier: MIT
 */
#include "harness/special.h"

#include <math.h>
#include <string.h>

#define PI 3.141592653589793238462643383279502884L
#define SQRT_PI 1.772453850905516027298167483341145183L
#define SQRT_HALF 0.707106781186547524400844362104849039L

/* cos(pi x): the argument is reduced exactly, then to an eighth of the period, so that no zero is missed. */
static long double cospi_(long double x)
{
	if (!isfinite(x))
		return NAN;
	long double r = fmodl(fabsl(x), 2);
	if (r == 0.5L || r == 1.5L)
		return 0;
	if (r <= 0.25L)
		return cosl(PI * r);
	if (r < 0.75L)
		return sinl(PI * (0.5L - r));
	if (r <= 1.25L)
		return -cosl(PI * (r - 1));
	if (r < 1.75L)
		return sinl(PI * (r - 1.5L));
	return cosl(PI * (2 - r));
}

static long double sinpi_(long double x)
{
	if (!isfinite(x))
		return NAN;
	long double r = fmodl(fabsl(x), 2), s;
	if (r == 0 || r == 1)
		s = 0;
	else if (r <= 0.25L)
		s = sinl(PI * r);
	else if (r < 0.75L)
		s = cosl(PI * (r - 0.5L));
	else if (r <= 1.25L)
		s = sinl(PI * (1 - r));
	else if (r < 1.75L)
		s = -cosl(PI * (r - 1.5L));
	else
		s = sinl(PI * (r - 2));
	return signbit(x) ? -s : s;
}

/* I0(x) = sum_k (x^2/4)^k / (k!)^2: all terms positive, so the series loses nothing. */
static long double bessel_i0(long double x)
{
	if (isnan(x))
		return x;
	if (fabsl(x) > 12000)
		return INFINITY;
	long double q = x * x / 4, term = 1, sum = 1;
	for (int k = 1; term > sum * 1e-21L; ++k) {
		term *= q / ((long double)k * (long double)k);
		sum += term;
	}
	return sum;
}

/* I1(x) = x/2 sum_k (x^2/4)^k / (k! (k+1)!). */
static long double bessel_i1(long double x)
{
	if (isnan(x))
		return x;
	if (fabsl(x) > 12000)
		return x < 0 ? -INFINITY : INFINITY;
	long double q = x * x / 4, term = 1, sum = 1;
	for (int k = 1; term > sum * 1e-21L; ++k) {
		term *= q / ((long double)k * (long double)(k + 1));
		sum += term;
	}
	return x / 2 * sum;
}

/* exp(a) for a square or its like whose rounding `rest` is known. */
static long double exp_with(long double a, long double rest)
{
	return expl(a) * (1 + rest);
}

/* exp(x^2) erfc(x).  From 4 on the continued fraction 1/sqrt(pi) / (x + 1/2/(x + 1/(x + 3/2/(x + ...)))), from its tail. */
static long double erfcx_(long double x)
{
	if (isnan(x))
		return x;
	if (x < 4)
		return x < -110 ? INFINITY : exp_with(x * x, fmal(x, x, -x * x)) * erfcl(x);
	if (isinf(x))
		return 0;
	long double tail = x;
	for (int k = 120; k > 0; --k)
		tail = x + (long double)k / 2 / tail;
	return 1 / (SQRT_PI * tail);
}

/* erfc(x) = p.  Below 1/2 Newton on log erfc, which is concave, so that it converges from any start; near 1 on erf. */
static long double erfcinv_(long double p)
{
	if (!(p >= 0 && p <= 2))
		return NAN;
	if (p == 0 || p == 2)
		return p == 0 ? INFINITY : -INFINITY;
	if (p > 1)
		return -erfcinv_(2 - p);
	long double x = 0;
	if (p >= 0.5L) {
		for (int k = 0; k < 12; ++k)
			x -= (erfl(x) - (1 - p)) * SQRT_PI / 2 * expl(x * x);
		return x;
	}
	long double wanted = logl(p);
	x = sqrtl(-wanted);
	for (int k = 0; k < 60; ++k) {
		long double tail = erfcl(x);
		long double step = (logl(tail) - wanted) * tail * SQRT_PI / 2 * expl(x * x);
		x += step;
		if (fabsl(step) < 1e-19L * x)
			break;
	}
	return x;
}

static long double erfinv_(long double y)
{
	if (!(y >= -1 && y <= 1))
		return NAN;
	if (y < 0)
		return -erfinv_(-y);
	if (y > 0.5L)
		return erfcinv_(1 - y);
	long double x = y * SQRT_PI / 2;
	for (int k = 0; k < 12; ++k)
		x -= (erfl(x) - y) * SQRT_PI / 2 * expl(x * x);
	return x;
}

/* erfc(z) / 2 at z = -x / sqrt(2).  The derivative of erfc is -2 z erfc(z) where z is large, so what z was rounded by counts. */
static long double normcdf_(long double x)
{
	const long double root_rest = 1.8950325588932570797e-20L; /* 1 / sqrt(2) less SQRT_HALF as it is represented */
	long double z = -x * SQRT_HALF;
	if (z < 1 || isinf(z))
		return erfcl(z) / 2;
	long double rest = fmal(-x, SQRT_HALF, -z) - x * root_rest;
	return (erfcl(z) - 2 / SQRT_PI * exp_with(-z * z, -fmal(z, z, -z * z)) * rest) / 2;
}

static long double normcdfinv_(long double p)
{
	return 0 - erfcinv_(2 * p) / SQRT_HALF;
}

static long double lgamma_(long double x)
{
	int sign;
	return lgammal_r(x, &sign);
}

static long double rcbrt_(long double x)
{
	return 1 / cbrtl(x);
}

static long double rsqrt_(long double x)
{
	return 1 / sqrtl(x);
}

static long double exp10_(long double x)
{
	return powl(10, x);
}

static long double divide(long double a, long double b)
{
	return a / b;
}

static long double rhypot_(long double a, long double b)
{
	return 1 / hypotl(a, b);
}

/* Infinity wins over NaN, as in hypot. */
static long double norm4d_(long double a, long double b, long double c, long double d)
{
	if (isinf(a) || isinf(b) || isinf(c) || isinf(d))
		return INFINITY;
	return sqrtl(a * a + b * b + c * c + d * d);
}

static long double rnorm4d_(long double a, long double b, long double c, long double d)
{
	return 1 / norm4d_(a, b, c, d);
}

static long double norm3d_(long double a, long double b, long double c)
{
	return norm4d_(a, b, c, 0);
}

static long double rnorm3d_(long double a, long double b, long double c)
{
	return 1 / norm3d_(a, b, c);
}

static const heddle_special table[] = {
	{ "acos", .one = acosl, .ulp = 4, .absolute = 1 },
	{ "acosh", .one = acoshl, .ulp = 4 },
	{ "asin", .one = asinl, .ulp = 4 },
	{ "asinh", .one = asinhl, .ulp = 4 },
	{ "atan", .one = atanl, .ulp = 5 },
	{ "atanh", .one = atanhl, .ulp = 5 },
	{ "cbrt", .one = cbrtl, .ulp = 2 },
	{ "ceil", .one = ceill, .step = true },
	{ "cos", .one = cosl, .ulp = 4, .absolute = 1 },
	{ "cosh", .one = coshl, .ulp = 4 },
	{ "cospi", .one = cospi_, .ulp = 4, .absolute = 1 },
	{ "cyl_bessel_i0", .one = bessel_i0, .ulp = 8 },
	{ "cyl_bessel_i1", .one = bessel_i1, .ulp = 8 },
	{ "erf", .one = erfl, .ulp = 16 },
	{ "erfc", .one = erfcl, .ulp = 16 },
	{ "erfcinv", .one = erfcinv_, .ulp = 8, .absolute = 2 },
	{ "erfcx", .one = erfcx_, .ulp = 8 },
	{ "erfinv", .one = erfinv_, .ulp = 8 },
	{ "exp", .one = expl, .ulp = 3 },
	{ "exp10", .one = exp10_, .ulp = 3 },
	{ "exp2", .one = exp2l, .ulp = 3 },
	{ "expm1", .one = expm1l, .ulp = 3 },
	{ "fabs", .one = fabsl },
	{ "floor", .one = floorl, .step = true },
	{ "j0", .one = j0l, .ulp = 9, .absolute = 37 },
	{ "j1", .one = j1l, .ulp = 9, .absolute = 37 },
	{ "lgamma", .one = lgamma_, .ulp = 8, .absolute = 16 },
	{ "log", .pole = true, .one = logl, .ulp = 3, .absolute = 1 },
	{ "log10", .pole = true, .one = log10l, .ulp = 3, .absolute = 1 },
	{ "log1p", .one = log1pl, .ulp = 2 },
	{ "log2", .pole = true, .one = log2l, .ulp = 3, .absolute = 1 },
	{ "logb", .one = logbl, .step = true },
	{ "normcdf", .one = normcdf_, .ulp = 16 },
	{ "normcdfinv", .one = normcdfinv_, .ulp = 8, .absolute = 4 },
	{ "rcbrt", .pole = true, .one = rcbrt_, .ulp = 4 },
	{ "round", .one = roundl, .step = true },
	{ "rsqrt", .one = rsqrt_, .ulp = 2 },
	{ "sin", .one = sinl, .ulp = 4, .absolute = 1 },
	{ "sinh", .one = sinhl, .ulp = 4 },
	{ "sinpi", .one = sinpi_, .ulp = 4, .absolute = 1 },
	{ "sqrt", .one = sqrtl, .ulp = 3 },
	{ "tan", .one = tanl, .ulp = 5, .absolute = 1 },
	{ "tanh", .one = tanhl, .ulp = 5 },
	{ "tgamma", .one = tgammal, .ulp = 16 },
	{ "trunc", .one = truncl, .step = true },
	{ "y0", .pole = true, .one = y0l, .ulp = 9, .absolute = 37 },
	{ "y1", .pole = true, .one = y1l, .ulp = 9, .absolute = 37 },
	{ "atan2", .two = atan2l, .ulp = 6 },
	{ "copysign", .two = copysignl, .step = true },
	{ "fdim", .two = fdiml, .ulp = 0.5 },
	{ "fdivide", .pole = true, .two = divide, .ulp = 3 },
	{ "fmax", .two = fmaxl },
	{ "fmin", .two = fminl },
	{ "fmod", .two = fmodl, .step = true },
	{ "hypot", .two = hypotl, .ulp = 4 },
	{ "nextafter", .two = nextafterl, .nextafter = true },
	{ "pow", .two = powl, .ulp = 16 },
	{ "remainder", .two = remainderl, .step = true },
	{ "rhypot", .two = rhypot_, .ulp = 5 },
	{ "fma", .three = fmal, .ulp = 0.5 },
	{ "norm3d", .three = norm3d_, .ulp = 4 },
	{ "rnorm3d", .three = rnorm3d_, .ulp = 5 },
	{ "norm4d", .four = norm4d_, .ulp = 4 },
	{ "rnorm4d", .four = rnorm4d_, .ulp = 5 },
};

const heddle_special *heddle_special_find(const char *name)
{
	for (size_t k = 0; k < HEDDLE_COUNT(table); ++k)
		if (!strcmp(table[k].name, name))
			return &table[k];
	return NULL;
}

long double heddle_special_value(const heddle_special *s, const long double *a)
{
	return s->one	  ? s->one(a[0])
	       : s->two	  ? s->two(a[0], a[1])
	       : s->three ? s->three(a[0], a[1], a[2])
			  : s->four(a[0], a[1], a[2], a[3]);
}
