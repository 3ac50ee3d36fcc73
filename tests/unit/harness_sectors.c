/* Sectors and banks are the descriptor's, in the cost model and in the interpreter: patterns in which 32- and 64-byte sectors differ, with
 * the counts worked out by hand.
 * SPDX-License-Identifier: MIT
 */
#include "compile/compile.h"
#include "cost/measure.h"
#include "harness/cases.h"
#include "harness/interpret.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { N = 1024 };

typedef struct expected {
	double loads, stores; /* transactions */
} expected;

/* Transactions of the one launch, as the model and the interpreter count them.  `key`: a value of the descriptor that is changed, NULL: none. */
static void takes(const char *chip, const char *key, const char *value, const char *text, const char *config, heddle_space space,
		  expected want)
{
	heddle_ctx *ctx = heddle_ctx_new();
	heddle_arena *arena = heddle_arena_new();
	heddle_target target;
	assert_int_equal(heddle_target_parse(ctx, chip, &target), 0);
	if (key)
		target.descriptor = heddle_descriptor_vary(ctx, target.descriptor, key, value);
	assert_non_null(target.descriptor);
	heddle_module *module = heddle_module_parse(ctx, "sectors.tc", text, NULL);
	if (!module)
		fail_msg("%s", heddle_ctx_messages(ctx));
	const heddle_definition *d = module->definition[0];
	heddle_program *p = heddle_compile(ctx, d, &target, &(heddle_compile_options){.config = config});
	if (!p)
		fail_msg("%s: %s", chip, heddle_ctx_messages(ctx));
	assert_int_equal(p->n_launch, 1);
	heddle_program_number(p);
	const int64_t none = 0;
	heddle_array **array = HEDDLE_NEW_ARRAY(arena, heddle_array *, d->n_tensor), **buffer = HEDDLE_NEW_ARRAY(arena, heddle_array *, p->n_buffer);
	assert_int_equal(heddle_case_arrays(ctx, module, d, &none, HEDDLE_FILL_INTEGERS, 1, array), 0);
	for (int k = 0; k < p->n_buffer; k++)
		for (int j = 0; j < d->n_tensor; j++)
			if (p->buffer[k]->role <= HEDDLE_BUFFER_INOUT && !strcmp(d->tensor[j]->name, p->buffer[k]->name))
				buffer[k] = array[j];
	heddle_interpret run = {.arena = arena, .program = p, .size = &none, .array = buffer, .unaligned_vectors = true,
				.transfer = heddle_descriptor_transfer(target.descriptor)};
	assert_int_equal(heddle_interpret_run(ctx, &run), 0);
	assert_int_equal(run.n_finding, 0);
	const heddle_interpret_traffic *ran = &run.launch[0].space[space];
	heddle_load load;
	assert_true(heddle_measure(p, p->launch[0], target.descriptor, &none, &load));
	const double rated = load.blocks * (space == HEDDLE_SPACE_GLOBAL ? load.sectors : load.shared_cycles);
	if ((double)ran->load_transactions != want.loads || (double)ran->store_transactions != want.stores)
		fail_msg("%s, %s: the interpreter counts %llu and %llu transactions, not %.0f and %.0f", chip, text, (unsigned long long)ran->load_transactions,
			 (unsigned long long)ran->store_transactions, want.loads, want.stores);
	if (rated != want.loads + want.stores)
		fail_msg("%s, %s: the model has %g transactions, not %.0f", chip, text, rated, want.loads + want.stores);
	heddle_case_arrays_free(d, array);
	heddle_program_free(p);
	heddle_module_free(module);
	heddle_arena_free(arena);
	heddle_ctx_free(ctx);
}

static const char apart[] = "def f(float(8192) x) -> (y) { y(i) = x(8 * i) where i in 0:1024 }";
static const char moved[] = "def f(float(1032) x) -> (y) { y(i) = x(i + 8) where i in 0:1024 }";
static const char one_each[] = "k0.S0: tile=i:256 thread=i:256";

/* Elements 32 bytes apart: two of them to a sector of 64 bytes, one to a sector of 32.  Stores are 4 N bytes without gaps. */
static void strided(void **state)
{
	(void)state;
	takes("hip:mi300x", NULL, NULL, apart, one_each, HEDDLE_SPACE_GLOBAL, (expected){N / 2, 4 * N / 64});
	takes("cuda:h200", NULL, NULL, apart, one_each, HEDDLE_SPACE_GLOBAL, (expected){N, 4 * N / 32});
	takes("hip:mi300x", "global.sector", "128 B", apart, one_each, HEDDLE_SPACE_GLOBAL, (expected){N / 4, 4 * N / 128});
}

/* Rows that begin 32 bytes into a sector of 64: the 256 bytes of 64 lanes lie in 5 of them.  They begin with a sector of 32: the 128 bytes of 32
 * lanes are 4. */
static void shifted(void **state)
{
	(void)state;
	takes("hip:mi300x", NULL, NULL, moved, one_each, HEDDLE_SPACE_GLOBAL, (expected){N / 64 * 5, N / 64 * 4});
	takes("cuda:h200", NULL, NULL, moved, one_each, HEDDLE_SPACE_GLOBAL, (expected){N / 32 * 4, N / 32 * 4});
}

/* 64 lanes that each read a column of a shared tile, 8 words apart.  Of 32 banks they meet in 4: 8 cycles for each half of the lanes, 16 for
 * the 8 reads each.  Of 64 banks all lanes meet in 8: 8 cycles.  Of 32 banks of 8 bytes half of the lanes meet in 8: 4 cycles.  The tile's 512 words are stored
 * without gaps, by as many lanes a cycle as there are banks. */
static void banks(void **state)
{
	(void)state;
	static const char rows[] = "def f(float(64, 8) x) -> (y) { y(i) +=! x(i, k) }";
	static const char tiled[] = "k0.S0: tile=i:64,k:8 thread=i:64; k0.x.0: space=shared order=0,1 pad=0 vector=1";
	takes("hip:mi300x", NULL, NULL, rows, tiled, HEDDLE_SPACE_SHARED, (expected){8 * 16, 512 / 32});
	takes("hip:mi300x", "shared.banks", "64", rows, tiled, HEDDLE_SPACE_SHARED, (expected){8 * 8, 512 / 64});
	takes("hip:mi300x", "shared.bank_width", "8 B", rows, tiled, HEDDLE_SPACE_SHARED, (expected){8 * 2 * 4, 512 / 32});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strided),
		cmocka_unit_test(shifted),
		cmocka_unit_test(banks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
