/* harness/: the reference's own special functions against published values, inverses and identities.
 * SPDX-License-Identifier: MIT
 */
#include "harness/special.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static long double f(const char *name, long double x)
{
	const heddle_special *s = heddle_special_find(name);
	assert_non_null(s);
	return heddle_special_value(s, &x);
}

static void near(long double got, long double wanted, long double relative)
{
	if (fabsl(got - wanted) > relative * fabsl(wanted))
		fail_msg("%.21Lg instead of %.21Lg", got, wanted);
}

/* 16 or more digits each, from Abramowitz and Stegun's tables. */
static void values(void **state)
{
	(void)state;
	near(f("cyl_bessel_i0", 1), 1.266065877752008335598L, 1e-18L);
	near(f("cyl_bessel_i1", 1), 0.565159103992485027208L, 1e-18L);
	near(f("cyl_bessel_i0", 5), 27.23987182360444689454L, 1e-18L);
	near(f("cyl_bessel_i1", -5), -24.33564214245052719914L, 1e-18L);
	near(f("erfinv", 0.5L), 0.476936276204469873381L, 1e-18L);
	near(f("erfcinv", 1e-10L), 4.572824967389485278742L, 1e-17L);
	near(f("normcdf", 1), 0.841344746068542948585L, 1e-18L);
	near(f("normcdfinv", 0.975L), 1.959963984540054235525L, 1e-17L);
	near(f("erfcx", 1), 0.427583576155807004411L, 1e-17L);
	near(f("erfcx", 10), 0.056140992743822585844L, 1e-17L);
	near(f("rcbrt", 27), 1 / 3.0L, 1e-18L);
	near(f("exp10", 3), 1000, 1e-18L);
}

static void inverses(void **state)
{
	(void)state;
	for (int k = -99; k < 100; ++k) {
		long double y = (long double)k / 100;
		if (k)
			near(erfl(f("erfinv", y)), y, 1e-17L);
		near(erfcl(f("erfcinv", 1 + y)), 1 + y, 1e-17L);
	}
	for (int e = -140; e < 0; e += 7)
		near(erfcl(f("erfcinv", ldexpl(1, e))), ldexpl(1, e), 1e-16L);
	assert_true(f("erfinv", 1) == INFINITY && f("erfcinv", 2) == -INFINITY && isnan(f("erfinv", 1.5L)));
	for (int k = 1; k < 80; ++k) /* both ways of erfcx agree with exp(x^2) erfc(x) */
		near(f("erfcx", (long double)k / 10), expl((long double)(k * k) / 100) * erfcl((long double)k / 10), 1e-16L);
	for (int k = -40; k < 40; ++k) {
		long double x = (long double)k / 8;
		long double s = f("sinpi", x), c = f("cospi", x);
		near(s * s + c * c, 1, 1e-18L);
		if (k % 8 == 0)
			assert_true(s == 0);
		if (k % 8 == 4 || k % 8 == -4)
			assert_true(c == 0);
		assert_true(fabsl(s - sinl(3.14159265358979323846L * x)) < 1e-17L);
	}
}

/* Every function of the notation has its row. */
static void complete(void **state)
{
	(void)state;
	int n = 0;
	for (const heddle_builtin *b = heddle_builtins; b->name; ++b, ++n) {
		if (b->integer) {
			assert_string_equal(b->name, "random_bits");
			continue;
		}
		const heddle_special *s = heddle_special_find(b->name);
		assert_non_null(s);
		assert_true(b->arity == (s->one ? 1 : s->two ? 2 : s->three ? 3 : 4));
	}
	assert_int_equal(n, 65);
}

/* Philox4x32-10 with all of its counter, as published. */
static void philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
	uint32_t c[4] = {counter[0], counter[1], counter[2], counter[3]}, k[2] = {key[0], key[1]};
	for (int round = 0; round < 10; round++) {
		const uint64_t even = UINT64_C(3528531795) * c[0], odd = UINT64_C(3449720151) * c[2];
		const uint32_t next[4] = {(uint32_t)(odd >> 32) ^ c[1] ^ k[0], (uint32_t)odd,
					  (uint32_t)(even >> 32) ^ c[3] ^ k[1], (uint32_t)even};
		for (int i = 0; i < 4; i++)
			c[i] = next[i];
		k[0] += UINT32_C(2654435769);
		k[1] += UINT32_C(3144134277);
	}
	for (int i = 0; i < 4; i++)
		out[i] = c[i];
}

/* The known answers that come with the algorithm (Random123, kat_vectors), then random_bits against it. */
static void random_bits(void **state)
{
	(void)state;
	static const struct {
		uint32_t counter[4], key[2], out[4];
	} known[] = {
		{{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
		{{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
		 {0xffffffff, 0xffffffff},
		 {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
		{{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
		 {0xa4093822, 0x299f31d0},
		 {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
	};
	uint32_t out[4];
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		philox(known[i].counter, known[i].key, out);
		assert_memory_equal(out, known[i].out, sizeof(out));
	}
	assert_int_equal(heddle_special_random_bits(0, 0), 0x6627e8d5);
	uint64_t x = 1;
	for (int i = 0; i < 10000; i++) {
		uint64_t seed = x *= UINT64_C(6364136223846793005), counter = x ^ x >> 29;
		const uint32_t c[4] = {(uint32_t)counter, (uint32_t)(counter >> 32), 0, 0};
		const uint32_t k[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
		philox(c, k, out);
		assert_int_equal(heddle_special_random_bits(seed, counter), out[0]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values),
		cmocka_unit_test(inverses),
		cmocka_unit_test(complete),
		cmocka_unit_test(random_bits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
