/* Ranges: every value that an expression takes lies in the range that is said of it, on random expressions run through all
 * values of their variables; and ranges are as sharp as the passes need.
 * SPDX-License-Identifier: MIT
 */
#include "model/ranges.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static heddle_program *program_of(heddle_ctx *ctx, const char *text)
{
	heddle_program *p = heddle_program_parse(ctx, "t", text);
	if (!p)
		fail_msg("%s", heddle_ctx_messages(ctx));
	return p;
}

static unsigned next(unsigned *seed, unsigned n)
{
	*seed = *seed * 1103515245u + 12345u;
	return (*seed >> 16) % n;
}

/* Over the sizes K (6..30, multiples of 6) and L (0..5), constants, and all operators that ranges know. */
static heddle_value *random_value(heddle_program *p, unsigned *seed, int depth)
{
	heddle_value *a, *b, *c;
	if (depth == 0 || !next(seed, 5))
		switch (next(seed, 3)) {
		case 0: return heddle_value_size(p, 0);
		case 1: return heddle_value_size(p, 1);
		default: return heddle_value_int(p, HEDDLE_INT64, (int64_t)next(seed, 13) - 6);
		}
	a = random_value(p, seed, depth - 1);
	b = random_value(p, seed, depth - 1);
	c = heddle_value_int(p, HEDDLE_INT64, 1 + next(seed, 7));
	switch (next(seed, 10)) {
	case 0: return heddle_value_binary(p, HEDDLE_OP_ADD, a, b);
	case 1: return heddle_value_binary(p, HEDDLE_OP_SUB, a, b);
	case 2: return heddle_value_binary(p, HEDDLE_OP_MUL, a, b);
	case 3: return heddle_value_binary(p, HEDDLE_OP_DIV, a, c);
	case 4: return heddle_value_binary(p, HEDDLE_OP_MOD, a, c);
	case 5: return heddle_value_floor(p, HEDDLE_VALUE_FLOOR_DIV, a, c);
	case 6: return heddle_value_floor(p, HEDDLE_VALUE_FLOOR_MOD, a, c);
	case 7: return heddle_value_binary(p, next(seed, 2) ? HEDDLE_OP_MIN : HEDDLE_OP_MAX, a, b);
	case 8: return heddle_value_select(p, heddle_value_binary(p, HEDDLE_OP_LT, a, b), b, c);
	default: return heddle_value_unary(p, HEDDLE_OP_NEG, a);
	}
}

static void contains_all_values(void **state)
{
	(void)state;
	heddle_ctx *ctx = heddle_ctx_new();
	heddle_program *p = program_of(ctx, "program t\nsize K 6..30 *6\nsize L 0..5\n");
	heddle_ranges *ranges = heddle_ranges_new(p, NULL);
	unsigned seed = 1;
	int decided = 0, sharp = 0;
	for (int n = 0; n < 20000; n++) {
		heddle_value *v = random_value(p, &seed, 3), *w = random_value(p, &seed, 2);
		heddle_value *less = heddle_value_binary(p, (heddle_op)(HEDDLE_OP_LT + next(&seed, 6)), v, w);
		heddle_range r = heddle_ranges_of(ranges, v);
		int known = heddle_ranges_decide(ranges, less);
		decided += known >= 0;
		sharp += r.modulus > 1;
		for (int64_t K = 6; K <= 30; K += 6)
			for (int64_t L = 0; L <= 5; L++) {
				int64_t sizes[2] = {K, L}, x, truth;
				if (heddle_value_evaluate(v, sizes, &x) < 0)
					continue;
				bool in = x >= r.lo && x <= r.hi && (r.modulus ? ((x - r.residue) % r.modulus) == 0 : x == r.residue);
				if (heddle_value_evaluate(less, sizes, &truth) == 0)
					in &= known < 0 || known == truth;
				if (in)
					continue;
				heddle_text text = {0};
				heddle_value_print(less, &text);
				fail_msg("%s: K=%d L=%d gives %d, said [%d, %d] = %d (mod %d), %d", heddle_text_str(&text), (int)K, (int)L,
					 (int)x, (int)r.lo, (int)r.hi, (int)r.residue, (int)r.modulus, known);
			}
	}
	assert_true(decided > 3000 && sharp > 3000);
	heddle_ranges_free(ranges);
	heddle_program_free(p);
	heddle_ctx_free(ctx);
}

static void sharp_enough(void **state)
{
	(void)state;
	heddle_ctx *ctx = heddle_ctx_new();
	heddle_program *p = program_of(ctx, "program t\nsize D 0..4096 *64\nsize L 0..2147418112\nbuffer input A int32 [8]\n"
					    "launch t_0 grid D / 64 threads 128 args A {\n"
					    "let int32 x = 4 * (thread % 16) + 64 * block\nlet int32 y = (3 * thread + 7) / 5\n"
					    "let int64 z = int64(thread) * D + 32\nlet int32 q = A[0]\n"
					    "for serial k in 8 .. int32(D) step 16 {\nlet int32 w = k + 8\n}\n"
					    "let int32 u = int32(L) * 12 - 3 * (int32(D) / 2)\nlet int32 s = u * 6 + thread * 2\n"
					    "let int8 t = int8(thread * 4)\n}\n");
	const heddle_node *body = p->launch[0]->body;
	heddle_ranges *ranges = heddle_ranges_new(p, p->launch[0]);
	heddle_range r = heddle_ranges_of(ranges, body->child[0]->value[0]);
	assert_true(r.lo == 0 && r.hi == 60 + 64 * 63 && heddle_range_residue(r, 4) == 0 && heddle_range_residue(r, 8) == -1);
	r = heddle_ranges_of(ranges, body->child[1]->value[0]);
	assert_true(r.lo == 1 && r.hi == (3 * 127 + 7) / 5);
	r = heddle_ranges_of(ranges, body->child[2]->value[0]);
	assert_true(heddle_range_residue(r, 64) == 32 && heddle_range_residue(r, 32) == 0 && r.hi == 127 * 4096 + 32);
	r = heddle_ranges_of(ranges, body->child[3]->value[0]);
	assert_true(r.lo == INT32_MIN && r.hi == INT32_MAX);
	r = heddle_ranges_loop(ranges, body->child[4]);
	assert_true(r.lo == 8 && r.hi <= 4095 && heddle_range_residue(r, 8) == 0 && heddle_range_residue(r, 16) == 8);
	heddle_ranges_define(ranges, "k", r);
	r = heddle_ranges_of(ranges, body->child[4]->child[0]->child[0]->value[0]);
	assert_int_equal(heddle_range_residue(r, 16), 0);
	/* what divides a value that may wrap around */
	static const int64_t step[] = {4, 2, 1};
	for (int i = 0; i < 3; i++) {
		const heddle_node *let = body->child[5 + i];
		assert_int_equal(heddle_ranges_step(ranges, let->value[0]), step[i]);
		heddle_ranges_let(ranges, let->name, let->value[0]);
		assert_int_equal(heddle_ranges_step(ranges, heddle_value_variable(p, let->value[0]->type, 1, let->name)), step[i]);
	}
	r = heddle_range_difference(heddle_range_between(2, 5), heddle_range_between(-1, 7));
	assert_true(r.lo == -5 && r.hi == 6);
	heddle_ranges_free(ranges);
	heddle_program_free(p);
	heddle_ctx_free(ctx);
}

/* A value that has been asked about is asked about again where its variable is another one, or none. */
static void scopes(void **state)
{
	(void)state;
	heddle_ctx *ctx = heddle_ctx_new();
	heddle_program *p = program_of(ctx, "program t\nsize K 1..9\n");
	heddle_ranges *ranges = heddle_ranges_new(p, NULL);
	heddle_value *x = heddle_value_variable(p, HEDDLE_INT32, 1, "x"), *ten = heddle_value_int(p, HEDDLE_INT32, 10);
	heddle_value *scaled = heddle_value_binary(p, HEDDLE_OP_MUL, x, ten), *v = heddle_value_binary(p, HEDDLE_OP_ADD, scaled, x);
	assert_int_equal(heddle_ranges_of(ranges, v).hi, INT32_MAX);
	const int outside = heddle_ranges_mark(ranges);
	heddle_ranges_define(ranges, "x", heddle_range_between(1, 2));
	assert_int_equal(heddle_ranges_of(ranges, v).hi, 22);
	const int mark = heddle_ranges_mark(ranges);
	heddle_ranges_define(ranges, "x", heddle_range_between(3, 4));
	assert_int_equal(heddle_ranges_of(ranges, v).lo, 33);
	heddle_ranges_unwind(ranges, mark);
	heddle_ranges_define(ranges, "x", heddle_range_between(5, 6)); /* as deep as the one before */
	assert_int_equal(heddle_ranges_of(ranges, v).lo, 55);
	assert_int_equal(heddle_ranges_of(ranges, scaled).lo, 50);
	heddle_ranges_unwind(ranges, mark);
	assert_int_equal(heddle_ranges_of(ranges, v).hi, 22);
	heddle_ranges_unwind(ranges, outside);
	assert_int_equal(heddle_ranges_of(ranges, v).hi, INT32_MAX);
	heddle_ranges_free(ranges);
	heddle_program_free(p);
	heddle_ctx_free(ctx);
}

static void coefficients(void **state)
{
	(void)state;
	heddle_ctx *ctx = heddle_ctx_new();
	heddle_program *p = program_of(ctx, "program t\n");
	heddle_value *v = heddle_value_variable(p, HEDDLE_INT32, 1, "v"), *t = heddle_value_thread(p);
	heddle_value *four = heddle_value_int(p, HEDDLE_INT32, 4);
	heddle_value *x = heddle_value_binary(p, HEDDLE_OP_MUL, heddle_value_binary(p, HEDDLE_OP_SUB, t, v), four);
	int64_t a;
	assert_true(heddle_value_coefficient(x, "v", &a) && a == -4);
	assert_true(heddle_value_coefficient(heddle_value_cast(p, HEDDLE_INT64, x), "v", &a) && a == -4);
	assert_true(heddle_value_coefficient(x, "w", &a) && a == 0);
	assert_false(heddle_value_coefficient(heddle_value_binary(p, HEDDLE_OP_MUL, v, t), "v", &a));
	assert_false(heddle_value_coefficient(heddle_value_floor(p, HEDDLE_VALUE_FLOOR_DIV, v, four), "v", &a));
	heddle_program_free(p);
	heddle_ctx_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(contains_all_values),
		cmocka_unit_test(sharp_enough),
		cmocka_unit_test(scopes),
		cmocka_unit_test(coefficients),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
