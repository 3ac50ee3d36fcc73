/* The reference's functions against MPFR at 200 bits, at the points where the accuracy of emitted text is measured: what is
 * called a measured error must not be the measure's own.
 *
 *     test_functions_exact [POINTS]
 * SPDX-License-Identifier: MIT
 */
#include "functions.h"
#include "harness/special.h"

#include <math.h>
#include <mpfr.h>
#include <stdlib.h>
#include <string.h>

enum { BITS = 200 };

typedef int (*one)(mpfr_t, const mpfr_t, mpfr_rnd_t);
typedef int (*two)(mpfr_t, const mpfr_t, const mpfr_t, mpfr_rnd_t);

static int lgamma_of(mpfr_t y, const mpfr_t x, mpfr_rnd_t r)
{
	int sign;
	return mpfr_lgamma(y, &sign, x, r);
}

/* fmod and remainder of float64 need more bits than the quotient has. */
static int fmod_of(mpfr_t y, const mpfr_t a, const mpfr_t b, mpfr_rnd_t r) { return mpfr_fmod(y, a, b, r); }
static int remainder_of(mpfr_t y, const mpfr_t a, const mpfr_t b, mpfr_rnd_t r) { return mpfr_remainder(y, a, b, r); }

static const struct {
	const char *name;
	one f;
	two g;
} table[] = {
	{"acos", mpfr_acos, NULL}, {"acosh", mpfr_acosh, NULL}, {"asin", mpfr_asin, NULL}, {"asinh", mpfr_asinh, NULL},
	{"atan", mpfr_atan, NULL}, {"atanh", mpfr_atanh, NULL}, {"cbrt", mpfr_cbrt, NULL}, {"cos", mpfr_cos, NULL},
	{"cosh", mpfr_cosh, NULL}, {"cospi", mpfr_cospi, NULL}, {"erf", mpfr_erf, NULL}, {"erfc", mpfr_erfc, NULL},
	{"exp", mpfr_exp, NULL}, {"exp10", mpfr_exp10, NULL}, {"exp2", mpfr_exp2, NULL}, {"expm1", mpfr_expm1, NULL},
	{"lgamma", lgamma_of, NULL}, {"log", mpfr_log, NULL}, {"log10", mpfr_log10, NULL}, {"log1p", mpfr_log1p, NULL},
	{"log2", mpfr_log2, NULL}, {"sin", mpfr_sin, NULL}, {"sinh", mpfr_sinh, NULL}, {"sinpi", mpfr_sinpi, NULL},
	{"sqrt", mpfr_sqrt, NULL}, {"rsqrt", mpfr_rec_sqrt, NULL}, {"tan", mpfr_tan, NULL}, {"tanh", mpfr_tanh, NULL},
	{"tgamma", mpfr_gamma, NULL}, {"atan2", NULL, mpfr_atan2}, {"hypot", NULL, mpfr_hypot}, {"pow", NULL, mpfr_pow},
	{"fmod", NULL, fmod_of}, {"remainder", NULL, remainder_of}, {"fdivide", NULL, mpfr_div},
};

/* The functions that MPFR lacks, from those that it has; x exact. */
static void normcdf(mpfr_t y, const mpfr_t x)
{
	mpfr_t root;
	mpfr_init2(root, BITS);
	mpfr_sqrt_ui(root, 2, MPFR_RNDN);
	mpfr_div(y, x, root, MPFR_RNDN);
	mpfr_neg(y, y, MPFR_RNDN);
	mpfr_erfc(y, y, MPFR_RNDN);
	mpfr_div_ui(y, y, 2, MPFR_RNDN);
	mpfr_clear(root);
}

static void erfcx(mpfr_t y, const mpfr_t x)
{
	mpfr_t square;
	mpfr_init2(square, BITS);
	mpfr_sqr(square, x, MPFR_RNDN);
	mpfr_exp(square, square, MPFR_RNDN);
	mpfr_erfc(y, x, MPFR_RNDN);
	mpfr_mul(y, y, square, MPFR_RNDN);
	mpfr_clear(square);
}

/* How far the inverse x of p is off, in x: (f(x) - p) / f'(x) by a small difference. */
static long double inverse_error(const char *name, long double x, double p)
{
	mpfr_t a, b, fa, fb;
	mpfr_inits2(BITS, a, b, fa, fb, (mpfr_ptr)0);
	mpfr_set_ld(a, x, MPFR_RNDN);
	mpfr_set_ld(b, fabsl(x) * 0x1p-50L + 0x1p-1100L, MPFR_RNDN);
	mpfr_add(b, a, b, MPFR_RNDN);
	if (strcmp(name, "normcdfinv") == 0) {
		normcdf(fa, a);
		normcdf(fb, b);
	} else if (strcmp(name, "erfinv") == 0) {
		mpfr_erf(fa, a, MPFR_RNDN);
		mpfr_erf(fb, b, MPFR_RNDN);
	} else {
		mpfr_erfc(fa, a, MPFR_RNDN);
		mpfr_erfc(fb, b, MPFR_RNDN);
	}
	mpfr_sub(fb, fb, fa, MPFR_RNDN);
	mpfr_sub_d(fa, fa, p, MPFR_RNDN);
	mpfr_sub(b, b, a, MPFR_RNDN);
	mpfr_mul(fa, fa, b, MPFR_RNDN);
	mpfr_div(fa, fa, fb, MPFR_RNDN);
	long double error = mpfr_get_ld(fa, MPFR_RNDN);
	mpfr_clears(a, b, fa, fb, (mpfr_ptr)0);
	return error;
}

/* The error of the reference, in units of 2^-53 of the value (an ulp of float64 or a little less). */
static double error_at(int builtin, heddle_type type, uint64_t i)
{
	const char *name = heddle_builtins[builtin].name;
	double x[4] = {0};
	heddle_function_point(builtin, type, i, x);
	const long double a[4] = {(long double)x[0], (long double)x[1], (long double)x[2], (long double)x[3]};
	long double got = heddle_special_value(heddle_special_find(name), a);
	if (strcmp(name + strlen(name) - 3, "inv") == 0)
		return !isfinite(got) || got == 0 ? 0 : (double)fabsl(inverse_error(name, got, x[0]) / got) * 0x1p53;
	/* no room for the exponential in the formula below; MPFR takes the root of -0 for +0 */
	if ((strcmp(name, "erfcx") == 0 && fabs(x[0]) > 1e4) || (strcmp(name, "rsqrt") == 0 && x[0] == 0))
		return 0;
	size_t k = 0;
	while (k < HEDDLE_COUNT(table) && strcmp(table[k].name, name) != 0)
		k++;
	mpfr_t p, q, y;
	mpfr_inits2(BITS, p, q, y, (mpfr_ptr)0);
	mpfr_set_d(p, x[0], MPFR_RNDN);
	mpfr_set_d(q, x[1], MPFR_RNDN);
	if (k < HEDDLE_COUNT(table) && table[k].f)
		table[k].f(y, p, MPFR_RNDN);
	else if (k < HEDDLE_COUNT(table))
		table[k].g(y, p, q, MPFR_RNDN);
	else if (strcmp(name, "normcdf") == 0)
		normcdf(y, p);
	else
		erfcx(y, p);
	double error = 0;
	if (isnan(got) || mpfr_nan_p(y)) {
		error = !isnan(got) != !mpfr_nan_p(y) ? INFINITY : 0;
	} else if (isinf(got) || mpfr_inf_p(y) || fabsl(got) >= 0x1p1024L || mpfr_cmpabs_ui(y, 0) == 0 || fabsl(got) < 0x1p-1080L) {
		/* beyond float64 both ways it does not matter which; else the two must agree */
		error = fabsl(got - mpfr_get_ld(y, MPFR_RNDN)) > 0x1p-1080L && !(fabsl(got) >= 0x1p1024L && mpfr_get_d(y, MPFR_RNDN) == (double)got)
				? INFINITY
				: 0;
	} else {
		mpfr_set_ld(p, got, MPFR_RNDN);
		mpfr_sub(p, p, y, MPFR_RNDN);
		mpfr_div(p, p, y, MPFR_RNDN);
		error = fabs(mpfr_get_d(p, MPFR_RNDN)) * 0x1p53;
	}
	mpfr_clears(p, q, y, (mpfr_ptr)0);
	return error;
}

static bool covered(const char *name)
{
	static const char *const more[] = {"normcdf", "erfcx", "normcdfinv", "erfinv", "erfcinv"};
	for (size_t k = 0; k < HEDDLE_COUNT(table); k++)
		if (strcmp(table[k].name, name) == 0)
			return true;
	for (size_t k = 0; k < HEDDLE_COUNT(more); k++)
		if (strcmp(more[k], name) == 0)
			return true;
	return false;
}

int main(int argc, char **argv)
{
	uint64_t points = argc > 1 ? strtoull(argv[1], NULL, 10) : getenv("HEDDLE_TEST_FULL") ? 100000 : 1500;
	int bad = 0;
	for (int k = 0; heddle_builtins[k].name; k++) {
		if (!covered(heddle_builtins[k].name))
			continue;
		for (int t = 0; t < 2; t++) {
			heddle_type type = t ? HEDDLE_FLOAT64 : HEDDLE_FLOAT32;
			/* half a hundredth of an ulp of float32; a tenth of one of float64 */
			double limit = t ? 0.1 : 0.005 * 0x1p29, most = 0;
			uint64_t at = 0;
			for (uint64_t i = 0; i < points; i++) {
				double e = error_at(k, type, i);
				if (!(e <= most)) {
					most = e;
					at = i;
				}
			}
			double x[4] = {0};
			heddle_function_point(k, type, at, x);
			printf("%-12s %s: %.3g of 2^-53 at (%.17g, %.17g)%s\n", heddle_builtins[k].name, heddle_type_name(type), most, x[0], x[1],
			       most <= limit ? "" : " WRONG");
			bad |= !(most <= limit);
		}
	}
	mpfr_free_cache();
	return bad;
}
