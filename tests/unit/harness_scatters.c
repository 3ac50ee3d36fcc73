/* Sums into affine left-hand sides run through hardly more terms than there are: transposed convolutions as they are written, of one to three
 * dimensions, with strides, dilations and padding, counted by the interpreter.
 * SPDX-License-Identifier: MIT
 */
#include "compile/compile.h"
#include "harness/cases.h"
#include "harness/interpret.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* Terms run through for each that there is: what the ends of x and of tiles cost. */
#define MOST 1.15
#define MOST_CHOSEN 3 /* the rating decides: a thread may take residues of a stride with the terms of the longest, where that is no slower */

static int products(const heddle_value *v)
{
	int n = heddle_type_is_float(v->type) && (v->kind == HEDDLE_VALUE_FMA || (v->kind == HEDDLE_VALUE_BINARY && v->op == HEDDLE_OP_MUL)) ? v->width : 0;
	for (int i = 0; i < v->n_arg; i++)
		n += products(v->arg[i]);
	return n;
}

/* Products of sums that were come to, under conditions that did not hold too: as often as the outermost condition in the innermost loop was
 * tested, `tested`.  A condition with an `else` chooses, and leaves nothing out. */
static double come_to(const heddle_node *node, const heddle_node *tested, const heddle_interpret_launch *count)
{
	double n = 0;
	if (node->kind == HEDDLE_NODE_FOR)
		return come_to(node->child[0], NULL, count);
	if (node->kind == HEDDLE_NODE_IF && node->n_child == 1 && !tested)
		tested = node;
	if (node->kind == HEDDLE_NODE_STORE || node->kind == HEDDLE_NODE_LET)
		n = products(node->value[0]) * (double)count->lanes[(tested ? tested : node)->id];
	for (int i = 0; i < node->n_child; i++)
		n += come_to(node->child[i], tested, count);
	return n;
}

static double terms(heddle_ctx *ctx, const char *text, const char *target, const char *config)
{
	heddle_arena *arena = heddle_arena_new();
	heddle_module *module = heddle_module_parse(ctx, "test", text, NULL);
	heddle_target t;
	assert_true(module && heddle_target_parse(ctx, target, &t) == 0);
	const int64_t size[1] = {0};
	const heddle_definition *d = module->definition[0];
	heddle_program *program = heddle_compile(ctx, d, &t, &(heddle_compile_options){.config = config});
	heddle_array *array[64] = {0}, *held[64] = {0};
	if (!program)
		fail_msg("%s", heddle_ctx_messages(ctx));
	assert_string_equal(program->proof, "proved");
	heddle_program_number(program);
	assert_int_equal(heddle_case_arrays(ctx, module, d, size, HEDDLE_FILL_INTEGERS, 5, array), 0);
	for (int i = 0; i < program->n_buffer; i++)
		for (int k = 0; k < d->n_tensor; k++)
			if (!strcmp(program->buffer[i]->name, d->tensor[k]->name))
				held[i] = array[k];
	heddle_interpret interpret = {.arena = arena, .program = program, .size = size, .array = held, .timeout = 600, .unaligned_vectors = true};
	if (heddle_interpret_run(ctx, &interpret) < 0)
		fail_msg("%s", heddle_ctx_messages(ctx));
	if (interpret.n_finding)
		fail_msg("%s: %s", interpret.finding[0].kind, interpret.finding[0].text);
	double n = 0;
	for (int l = 0; l < program->n_launch; l++)
		n += come_to(program->launch[l]->body, NULL, &interpret.launch[l]);
	heddle_case_arrays_free(d, array);
	heddle_program_free(program);
	heddle_module_free(module);
	heddle_arena_free(arena);
	return n;
}

/* x(.., 64 or `extent`) and w(.., K) into y(.., s * u + d * k). */
static void at_most(int dims, int extent, int s, int d, int k, const char *target, const char *config, double most)
{
	static const char *const source[] = {"u", "v", "z"}, *const tap[] = {"k", "l", "i"};
	heddle_ctx *ctx = heddle_ctx_new();
	heddle_text text = {0};
	const int channels = dims == 3 ? 1 : 2, results = extent > 64 ? 64 : dims == 3 ? 1 : 8;
	double all = channels * results;
	heddle_text_printf(&text, "def f(float(1, %d", channels);
	for (int i = 0; i < dims; i++)
		heddle_text_printf(&text, ", %d", extent);
	heddle_text_printf(&text, ") x, float(%d, %d", channels, results);
	for (int i = 0; i < dims; i++)
		heddle_text_printf(&text, ", %d", k);
	heddle_text_add(&text, ") w) -> (y) { y(n, m");
	for (int i = 0; i < dims; i++)
		heddle_text_printf(&text, ", %d * %s + %d * %s", s, source[i], d, tap[i]);
	heddle_text_add(&text, ") +=! x(n, c");
	for (int i = 0; i < dims; i++)
		heddle_text_printf(&text, ", %s", source[i]);
	heddle_text_add(&text, ") * w(c, m");
	for (int i = 0; i < dims; i++) {
		heddle_text_printf(&text, ", %s", tap[i]);
		all *= (double)extent * k;
	}
	heddle_text_add(&text, ") }");
	const double n = terms(ctx, heddle_text_str(&text), target, config);
	if (n < all || n > most * all)
		fail_msg("%s for %s: %.3f times the terms", heddle_text_str(&text), target, n / all);
	heddle_text_free(&text);
	heddle_ctx_free(ctx);
}

/* Without tiles, whose ends are another matter: what the statement itself runs through.  Of strides and dilations with a common divisor, others
 * than the statement fill the gaps. */
static const char *without_tiles(int s, int d)
{
	return s % d == 0 && d > 1 ? "turn=none; fuse=0,1; k1.S1: tile=n:1" : "turn=none; fuse=0; k0.S0: tile=n:1";
}

static void statements(void **state)
{
	(void)state;
	for (int dims = 1; dims <= 2; dims++)
		for (int s = 1; s <= 3; s++)
			for (int d = 1; d <= 2; d++)
				for (int k = 3; k <= 4; k++)
					at_most(dims, 64, s, d, k, "opencl:cpu", without_tiles(s, d), MOST);
}

static void volumes(void **state)
{
	(void)state;
	at_most(3, 64, 1, 2, 2, "opencl:cpu", without_tiles(1, 2), MOST);
	at_most(3, 64, 2, 1, 3, "opencl:cpu", without_tiles(2, 1), MOST);
}

/* What is chosen, tiles included, of rows that are many tiles. */
static void chosen(void **state)
{
	static const char *const targets[] = {"opencl:cpu", "opencl:cpu-avx2", "opencl:gpu", "cuda:h200", "hip:mi300x"};
	(void)state;
	for (size_t t = 0; t < HEDDLE_COUNT(targets); t++)
		for (int s = 1; s <= 3; s++)
			for (int d = 1; d <= 2; d++)
				for (int k = 3; k <= 4; k++)
					at_most(1, 2048, s, d, k, targets[t], "", MOST_CHOSEN);
}

/* Padding is cropped by ranges: terms that are outside are not there. */
static void padded(void **state)
{
	static const char text[] =
		"def f(float(1, 2, 64) x, float(2, 8, 4) w) -> (float(1, 8, 128) y) {"
		" y(n, m, 2 * u + k - 1) +=! x(n, c, u) * w(c, m, k) where u in 0:64, k in max(0, 1 - 2 * u):min(4, 129 - 2 * u) }";
	heddle_ctx *ctx = heddle_ctx_new();
	(void)state;
	assert_true(terms(ctx, text, "opencl:cpu", without_tiles(2, 1)) == 2.0 * 8 * (64 * 4 - 2));
	heddle_ctx_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(statements), cmocka_unit_test(volumes), cmocka_unit_test(chosen), cmocka_unit_test(padded)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
