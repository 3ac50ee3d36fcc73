/* The load of one launch, measured from its program: against numbers worked out by hand.
 * SPDX-License-Identifier: MIT
 */
#include "cost/measure.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

typedef struct expected {
	const char *chip, *grid;
	int threads;
	const char *body;
	heddle_load load; /* of it what `compare` looks at; the last span is the whole grid's */
} expected;

enum { H100 = 12 }; /* registers of any kernel there (registers_base) */

#define I(name) [HEDDLE_INSTRUCTION_##name]

static const expected list[] = {
	/* two warps add 1 to an element a thread (nothing waits for a store, which is in no path): each warp's 128 bytes are 4 sectors, loaded and stored; a block touches 256 bytes of each array */
	{"h100", "4", 64, "C[block * 64 + thread] = A[block * 64 + thread] + 1.0",
	 {.blocks = 4, .instruction = {I(FMA) = 2, I(GLOBAL_LOAD) = 2, I(GLOBAL_STORE) = 2}, .sectors = 16, .stored = 256, .flight = 4, .registers = H100 + 1,
	  .chain = {I(FMA) = 1, I(GLOBAL_LOAD) = 1}, .n_span = 2, .span = {{1, {512, 2}}, {4, {2048, 2}}}}},
	/* a name holds a register between the load and the last use; an operation of a product and a sum is one */
	{"h100", "1", 32, "let float32 v = A[thread] let float32 w = A[thread + 32] C[thread] = v * w + v",
	 {.blocks = 1, .instruction = {I(FMA) = 1, I(GLOBAL_LOAD) = 2, I(GLOBAL_STORE) = 1}, .sectors = 12, .stored = 128, .flight = 8, .registers = H100 + 2,
	  .chain = {I(FMA) = 2, I(GLOBAL_LOAD) = 1}, .n_span = 1, .span = {{1, {384, 2}}}}},
	/* a sum over 8 rows: each iteration waits for its load, then adds; the sum, k, two words of address and the load live */
	{"h100", "1", 32, "r[0] = 0.0 for serial k in 0 .. 8 { r[0] = r[0] + A[k * 32 + thread] } C[thread] = r[0]",
	 {.blocks = 1, .instruction = {I(FMA) = 8, I(GLOBAL_LOAD) = 8, I(GLOBAL_STORE) = 1, I(BRANCH) = 8}, .sectors = 36, .stored = 128, .flight = 4,
	  .registers = H100 + 5, .chain = {I(FMA) = 8, I(GLOBAL_LOAD) = 8}, .n_span = 1, .span = {{1, {1024 + 128, 2}}}}},
	/* unrolled by 4, four loads are under way at the same time; the additions still follow each other */
	{"h100", "1", 32, "r[0] = 0.0 for serial k in 0 .. 8 copies 4 { r[0] = r[0] + A[k * 32 + thread] } C[thread] = r[0]",
	 {.blocks = 1, .instruction = {I(FMA) = 8, I(GLOBAL_LOAD) = 8, I(GLOBAL_STORE) = 1, I(BRANCH) = 8}, .sectors = 36, .stored = 128, .flight = 16,
	  .registers = H100 + 8, .chain = {I(FMA) = 8, I(GLOBAL_LOAD) = 2}, .n_span = 1, .span = {{1, {1024 + 128, 2}}}}},
	/* lanes two words apart meet in 16 of 32 banks: two cycles; without gaps one */
	{"h100", "1", 32, "s[thread] = A[thread] barrier C[thread] = s[thread * 2]",
	 {.blocks = 1, .instruction = {I(SHARED_LOAD) = 1, I(SHARED_STORE) = 1, I(GLOBAL_LOAD) = 1, I(GLOBAL_STORE) = 1, I(BARRIER) = 1}, .shared_cycles = 3,
	  .sectors = 8, .stored = 128, .flight = 4, .registers = H100 + 1, .shared_bytes = 256,
	  .chain = {I(SHARED_LOAD) = 1, I(GLOBAL_LOAD) = 1, I(BARRIER) = 1}, .n_span = 1, .span = {{1, {256, 2}}}}},
	/* lanes 32 words apart: 32 lines, whose words lie in one bank of the first cache; 33 words apart: four of 32 lines at a time */
	{"h100", "1", 32, "C[thread] = A[thread * 32]",
	 {.blocks = 1, .instruction = {I(GLOBAL_LOAD) = 1, I(GLOBAL_STORE) = 1}, .sectors = 36, .cache_cycles = 33, .stored = 128, .flight = 4, .registers = H100 + 1,
	  .chain = {I(GLOBAL_LOAD) = 1}, .n_span = 1, .span = {{1, {1024 + 128, 33}}}}},
	{"h100", "1", 32, "C[thread] = A[thread * 33]",
	 {.blocks = 1, .instruction = {I(GLOBAL_LOAD) = 1, I(GLOBAL_STORE) = 1}, .sectors = 36, .cache_cycles = 9, .stored = 128, .flight = 4, .registers = H100 + 1,
	  .chain = {I(GLOBAL_LOAD) = 1}, .n_span = 1, .span = {{1, {1024 + 128, 33}}}}},
	/* the tile of the next of 8 iterations is loaded while this one's is used: the first load is waited for, those of iterations overlap.
	 * The second reference begins where the first one's data end: they share nothing */
	{"h100", "1", 32,
	 "r[0] = A[thread] for serial k in 0 .. 8 { s[thread] = r[0] barrier r[0] = A[k * 32 + thread + 32] C[k * 32 + thread] = s[31 - thread] * 2.0 barrier }",
	 {.blocks = 1,
	  .instruction = {I(FMA) = 8, I(SHARED_LOAD) = 8, I(SHARED_STORE) = 8, I(GLOBAL_LOAD) = 9, I(GLOBAL_STORE) = 8, I(BARRIER) = 16, I(BRANCH) = 8},
	  .shared_cycles = 16, .sectors = 68, .stored = 1024, .flight = 4, .registers = H100 + 7, .shared_bytes = 256, .prefetched = 8,
	  .chain = {I(FMA) = 8, I(SHARED_LOAD) = 8, I(GLOBAL_LOAD) = 9, I(BARRIER) = 16},
	  .n_span = 1, .span = {{1, {9 * 128 + 1024, 3}}}}},
	/* half of the blocks do nothing: of average blocks half a warp stores */
	{"h100", "8", 32, "if block < 4 { C[block * 32 + thread] = 1.0 }",
	 {.blocks = 8, .instruction = {I(GLOBAL_STORE) = 0.5, I(INTEGER) = 1, I(BRANCH) = 1}, .sectors = 2, .stored = 64, .registers = H100, .n_span = 2,
	  .span = {{1, {128, 1}}, {8, {1024, 1}}}}},
	/* vectors of 128 bytes are two of the processor's; each lane of one is added in one instruction; two runs of A go on side by side */
	{"cpu", "2", 1, "C[block * 32 : 32] = A[block * 32 : 32] + A[block * 32 + 64 : 32]",
	 {.blocks = 2, .instruction = {I(FMA) = 2, I(GLOBAL_LOAD) = 4, I(GLOBAL_STORE) = 2}, .stored = 128, .flight = 256,
	  .chain = {I(FMA) = 1, I(GLOBAL_LOAD) = 1}, .n_span = 2, .span = {{1, {384, 3}}, {2, {768, 3}}}}},
	/* 64 vectors, four times: the next iteration of the outer loop comes back to 4 KiB after it has touched 4 KiB */
	{"cpu", "1", 1, "for serial j in 0 .. 4 { for serial i in 0 .. 64 { q[0 : 16] = q[0 : 16] + A[i * 16 : 16] } } C[0 : 16] = q[0 : 16]",
	 {.blocks = 1, .instruction = {I(FMA) = 256, I(GLOBAL_LOAD) = 256, I(GLOBAL_STORE) = 1, I(BRANCH) = 4 + 256}, .stored = 64, .registers = 1, .n_span = 1,
	  .span = {{1, {4096 + 64, 2}}}, .again = {[12] = {3 * 4096, 3}}}},
};

static void same(heddle_text *wrong, const char *what, double is, double should)
{
	if (is < should - 1e-6 || is > should + 1e-6)
		heddle_text_printf(wrong, "  %s: %g, by hand %g\n", what, is, should);
}

static void compare(const expected *e, const heddle_load *l, heddle_text *wrong)
{
	static const char *const name[] = {"fma", "fma64", "float", "integer", "special", "convert", "permute", "shuffle", "shared load", "shared store",
					   "global load", "global store", "stack", "branch", "barrier", "matrix"};
	const heddle_load *x = &e->load;
	_Static_assert(HEDDLE_COUNT(name) == HEDDLE_N_INSTRUCTION, "every class has a name");
	same(wrong, "blocks", l->blocks, x->blocks);
	for (int i = 0; i < HEDDLE_N_INSTRUCTION; i++)
		same(wrong, name[i], l->instruction[i], x->instruction[i]);
	for (int i = 0; i < HEDDLE_N_INSTRUCTION && x->flight > 0; i++) { /* where it is no matter of the processor's window */
		char chain[32];
		snprintf(chain, sizeof(chain), "chain: %s", name[i]);
		same(wrong, chain, l->chain[i], x->chain[i]);
	}
	same(wrong, "bank cycles", l->shared_cycles, x->shared_cycles);
	same(wrong, "sectors", l->sectors, x->sectors);
	if (x->flight > 0 && x->sectors > 0) /* four sectors of a line in one */
		same(wrong, "cycles of the first cache", l->cache_cycles, x->cache_cycles > 0 ? x->cache_cycles : x->sectors / 4);
	same(wrong, "stored", l->stored, x->stored);
	same(wrong, "prefetched", l->prefetched, x->prefetched);
	same(wrong, "registers", l->registers, x->registers);
	same(wrong, "shared bytes", l->shared_bytes, x->shared_bytes);
	if (x->flight > 0)
		same(wrong, "flight", l->flight, x->flight);
	same(wrong, "spans", l->n_span, x->n_span);
	for (int i = 0; i < x->n_span; i++) {
		same(wrong, "blocks of a span", l->span[i].blocks, x->span[i].blocks);
		same(wrong, "bytes of a span", l->span[i].touched.bytes, x->span[i].touched.bytes);
		same(wrong, "runs of a span", l->span[i].touched.runs, x->span[i].touched.runs);
	}
	for (int i = 0; i < HEDDLE_LOAD_DISTANCES; i++) {
		char distance[64];
		snprintf(distance, sizeof(distance), "bytes again after 2^%d", i);
		same(wrong, distance, l->again[i].bytes, x->again[i].bytes);
	}
}

static heddle_program *parse(heddle_ctx *ctx, const expected *e)
{
	heddle_text text = {0};
	heddle_text_printf(&text,
			   "program p target cuda:h100 warp 32\n"
			   "buffer input A float32 [1000000] align 64\nbuffer input at int32 [1000000] align 64\nbuffer output C float32 [1000000] align 64 unread\n"
			   "buffer shared s float32 [64] align 16\nbuffer register r float32 [64] align 16\nbuffer register q float32 [16] align 64\n"
			   "launch k grid %s threads %d args A, at, C%s {\n\tdeclare r declare q\n%s\n}\n",
			   e->grid, e->threads, strstr(e->body, "s[") ? " shared s" : "", e->body);
	heddle_program *p = heddle_program_parse(ctx, "test", heddle_text_str(&text));
	if (!p)
		fail_msg("%s%s", heddle_text_str(&text), heddle_ctx_messages(ctx));
	heddle_text_free(&text);
	return p;
}

static void by_hand(void **state)
{
	(void)state;
	heddle_text wrong = {0};
	for (size_t i = 0; i < HEDDLE_COUNT(list); i++) {
		const int64_t none = 0;
		heddle_ctx *ctx = heddle_ctx_new();
		heddle_program *p = parse(ctx, &list[i]);
		heddle_load load;
		assert_true(heddle_measure(p, p->launch[0], heddle_descriptor_find(ctx, list[i].chip), &none, &load));
		const size_t before = wrong.length;
		compare(&list[i], &load, &wrong);
		if (wrong.length > before)
			heddle_text_printf(&wrong, "of %s\n", list[i].body);
		heddle_program_free(p);
		heddle_ctx_free(ctx);
	}
	if (wrong.length)
		fail_msg("%s", wrong.data);
	heddle_text_free(&wrong);
}

/* Data decide how often a loop runs. */
static void not_known(void **state)
{
	(void)state;
	static const expected e = {"h100", "1", 32, "for serial k in 0 .. at[0] { r[0] = r[0] + A[k] } C[thread] = r[0]", {.blocks = 1}};
	const int64_t none = 0;
	heddle_ctx *ctx = heddle_ctx_new();
	heddle_program *p = parse(ctx, &e);
	heddle_load load;
	assert_false(heddle_measure(p, p->launch[0], heddle_descriptor_find(ctx, e.chip), &none, &load));
	heddle_program_free(p);
	heddle_ctx_free(ctx);
}

static heddle_load measured(const char *body)
{
	const expected e = {"cpu", "1", 1, body, {.blocks = 1}};
	const int64_t none = 0;
	heddle_ctx *ctx = heddle_ctx_new();
	heddle_program *p = parse(ctx, &e);
	heddle_load load;
	assert_true(heddle_measure(p, p->launch[0], heddle_descriptor_find(ctx, e.chip), &none, &load));
	heddle_program_free(p);
	heddle_ctx_free(ctx);
	return load;
}

/* Under two conditions sums are in registers while i runs, under three in memory: a load and a store each time. */
static void sums_under_conditions(void **state)
{
#define SUM(least) "if j < " least " { r[j * 16 : 16] = r[j * 16 : 16] + A[i * 16 : 16] } "
#define LOOPS(sums) "for serial j in 0 .. 4 { for serial i in 0 .. 64 { " sums "} } C[0 : 16] = r[0 : 16]"
	(void)state;
	assert_true(measured(LOOPS(SUM("3") SUM("2"))).instruction[HEDDLE_INSTRUCTION_STACK] <= 2 * 2 * 4);
	assert_true(measured(LOOPS(SUM("3") SUM("2") SUM("1"))).instruction[HEDDLE_INSTRUCTION_STACK] == 2 * 64 * (3 + 2 + 1));
#undef LOOPS
#undef SUM
}

/* 240 accesses that differ by constants: 96 of each 128 bytes. */
static void many_constants(void **state)
{
	(void)state;
	heddle_text body = {0};
	for (int i = 0; i < 120; i++)
		heddle_text_printf(&body, "q[0 : 16] = q[0 : 16] + A[%d : 16] q[0 : 16] = q[0 : 16] + A[%d : 16]\n", 32 * i, 32 * i + 8);
	heddle_text_add(&body, "C[0 : 16] = q[0 : 16]");
	const heddle_load load = measured(heddle_text_str(&body));
	if (load.span[0].touched.bytes != 120 * 96 + 64)
		fail_msg("%g bytes", load.span[0].touched.bytes);
	heddle_text_free(&body);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(by_hand), cmocka_unit_test(not_known), cmocka_unit_test(sums_under_conditions),
					   cmocka_unit_test(many_constants)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
