/* Candidates: what space offers compiles, and footprint's figures are those counted by hand.
 * SPDX-License-Identifier: MIT
 */
#include "cost/fusion.h"
#include "cost/space.h"
#include "model/passes.h"
#include "model/rewrite.h"
#include "model/simplify.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char product[] = "def product(float(M, K) A, float(K, N) B) -> (C) { C(i, j) +=! A(i, k) * B(k, j) }";
static const char columns[] = "def columns(float(N, D) x) -> (y) { y(d) +=! x(n, d) }";
static const char transpose[] = "def transpose(float(N, M) I) -> (O) { O(j, i) = I(i, j) }";

static const heddle_space_language gpu_language = {4, 16, false, false, false, true},
				   cpu_language = {16, 0, true, true, true, false};

typedef struct kernel {
	heddle_ctx *ctx;
	heddle_arena *arena;
	heddle_module *module;
	heddle_definition *definition;
	const heddle_descriptor *descriptor;
	heddle_scop *scop;
	heddle_config *config;
	heddle_outline *outline;
} kernel;

/* A definition on a chip, up to pass `stop`; its first kernel. */
static kernel kernel_of(const char *text, const char *sizes, const char *chip, const char *config, const char *stop)
{
	kernel k = {.ctx = heddle_ctx_new(), .arena = heddle_arena_new()};
	k.module = heddle_module_parse(k.ctx, "test", text, heddle_sizes_parse(k.ctx, k.arena, sizes));
	k.descriptor = heddle_descriptor_find(k.ctx, chip);
	if (!k.module || !k.descriptor)
		fail_msg("%s", heddle_ctx_messages(k.ctx));
	k.config = heddle_config_parse(k.ctx, k.arena, config);
	k.definition = heddle_definition_rewrite(k.ctx, k.arena, k.module->definition[0], k.config);
	k.scop = heddle_scop_new(k.ctx, k.arena, k.definition, k.descriptor);
	const bool simd = k.descriptor->execution == HEDDLE_SIMD;
	k.scop->shuffles = !simd;
	const heddle_pass_options options = {.stop = stop};
	if (heddle_passes_run(k.scop, k.config, &options) < 0)
		fail_msg("%s", heddle_ctx_messages(k.ctx));
	if (k.scop->n_kernel)
		k.outline = heddle_outline_new(k.arena, k.scop, k.scop->kernel[0], simd ? &cpu_language : &gpu_language, NULL);
	return k;
}

static void free_kernel(kernel *k)
{
	heddle_scop_free(k->scop);
	heddle_module_free(k->module);
	heddle_arena_free(k->arena);
	heddle_ctx_free(k->ctx);
}

static heddle_load load_of(const char *text, const char *sizes, const char *chip, const char *config)
{
	kernel k = kernel_of(text, sizes, chip, config, "place");
	heddle_candidate candidate;
	heddle_load load;
	heddle_candidate_of(k.outline, &candidate);
	assert_true(heddle_candidate_legal(k.outline, &candidate));
	heddle_footprint(k.outline, &candidate, &load);
	free_kernel(&k);
	return load;
}

static void expect(const char *what, double is, double wanted)
{
	if (is < wanted * (1 - 1e-9) || is > wanted * (1 + 1e-9))
		fail_msg("%s: %g, not %g", what, is, wanted);
}

/* 64 threads, 4 x 4 sums each, tiles of 32 x 8 and 8 x 32: 2 x 2 blocks, 8 steps. */
static void product_by_hand(void **state)
{
	(void)state;
	const heddle_load l = load_of(product, "M=64,N=64,K=64", "h100",
				      "split=none; share=none; turn=none; fuse=0; k0: stream=none; k0.S0: "
				      "tile=i:32,j:32,k:8 thread=i:8,j:8 vector=j:4; "
				      "k0.A.0: space=shared pad=4 vector=4 prefetch=0; k0.B.0: space=shared vector=4 "
				      "prefetch=0; k0.C.0: space=global");
	expect("blocks", l.blocks, 4);
	expect("fma", l.instruction[HEDDLE_INSTRUCTION_FMA], 2 * 16 * 64);
	/* of A four elements for each k, of B one vector; each thread moves one vector of both a step */
	expect("shared loads", l.instruction[HEDDLE_INSTRUCTION_SHARED_LOAD], 2 * (4 + 1) * 64);
	expect("shared stores", l.instruction[HEDDLE_INSTRUCTION_SHARED_STORE], 2 * 2 * 8);
	expect("global loads", l.instruction[HEDDLE_INSTRUCTION_GLOBAL_LOAD], 2 * 2 * 8);
	expect("global stores", l.instruction[HEDDLE_INSTRUCTION_GLOBAL_STORE], 2 * 4);
	expect("barriers", l.instruction[HEDDLE_INSTRUCTION_BARRIER], 2 * 2 * 8);
	/* rows of 32 bytes of A, of 128 bytes of B; 4 rows of a warp's stores, 4 times */
	expect("sectors", l.sectors, 8 * (32 * 1 + 8 * 4) + 32 * 4);
	/* rows of A lie in the same banks; a row of B, or of the results, in all */
	expect("cycles of the first cache", l.cache_cycles, 8 * (32 + 8) + 32);
	expect("shared bytes", l.shared_bytes, 4 * (32 * 12 + 8 * 32));
	expect("stored", l.stored, 32 * 128);
	expect("one block", l.span[0].touched.bytes, 4 * (32 * 64 + 64 * 32 + 32 * 32));
	expect("all blocks", l.span[l.n_span - 1].touched.bytes, 4 * 3 * 64 * 64);
	expect("path", l.chain[HEDDLE_INSTRUCTION_FMA], 64);
}

/* A vector of 8 columns a block: each row a line that another block needs, too. */
static void columns_by_hand(void **state)
{
	(void)state;
	const heddle_load l = load_of(columns, "N=100,D=64", "cpu-avx2",
				      "split=none; share=none; turn=none; fuse=0; k0: stream=none; k0.S0: tile=d:8 "
				      "vector=d:8; k0.x.0: space=global "
				      "prefetch=0; k0.y.0: space=global");
	expect("blocks", l.blocks, 8);
	expect("fma", l.instruction[HEDDLE_INSTRUCTION_FMA], 100);
	expect("loads", l.instruction[HEDDLE_INSTRUCTION_GLOBAL_LOAD], 100);
	expect("stores", l.instruction[HEDDLE_INSTRUCTION_GLOBAL_STORE], 1);
	expect("path", l.chain[HEDDLE_INSTRUCTION_FMA], 100);
	expect("one block", l.span[0].touched.bytes, 101 * 64);
	expect("all blocks", l.span[l.n_span - 1].touched.bytes, 4 * 100 * 64 + 4 * 64);
}

/* 32 x 32 elements by 256 threads through a padded tile. */
static void transpose_by_hand(void **state)
{
	(void)state;
	const heddle_load l = load_of(
		transpose, "N=64,M=64", "h100",
		"split=none; share=none; turn=none; fuse=0; k0: stream=none; k0.S0: tile=j:32,i:32 thread=j:8,i:32; "
		"k0.I.0: space=shared pad=1 prefetch=0; k0.O.0: space=global");
	expect("blocks", l.blocks, 4);
	expect("global loads", l.instruction[HEDDLE_INSTRUCTION_GLOBAL_LOAD], 8 * 4);
	expect("global stores", l.instruction[HEDDLE_INSTRUCTION_GLOBAL_STORE], 8 * 4);
	/* each request of a warp is one row, and one bank for each lane */
	expect("sectors", l.sectors, 2 * 32 * 4);
	expect("bank cycles", l.shared_cycles, 2 * 32);
	expect("one block", l.span[0].touched.bytes, 2 * 4 * 32 * 32);
}

/* The state of a recurrence stays in registers: of 32 columns and 16 steps only the sums are stored. */
static void carried_by_hand(void **state)
{
	(void)state;
	const heddle_load l = load_of(
		"def f(float(16, 64) x) -> (y) { h(0, c) = x(0, c)\n"
		"h(t, c) = 0.5 * h(t - 1, c) + x(t, c) where t in 1:16\ny(c) +=! h(t, c) }",
		"", "h100",
		"split=none; share=none; turn=none; fuse=0,0; k0: stream=none; k0.S0: tile=c:32 thread=c:32; k0.h.0: space=global; "
		"k0.x.0: space=global; k0.x.1: space=global; k0.y.0: space=global");
	expect("blocks", l.blocks, 2);
	expect("stored", l.stored, 32 * 4);
	expect("global stores", l.instruction[HEDDLE_INSTRUCTION_GLOBAL_STORE], 1);
}

/* ---- fusion ---- */

/* Statements share a kernel where that saves a launch or a way to memory, and not where blocks then had nothing to be cut along. */
static void fused(void **state)
{
	static const struct {
		const char *text;
		int kernel[2];
	} list[] = {
		{"def f(float(1048576) x) -> (y) { a(i) = x(i) + 1.0  y(i) = a(i) * x(i) }", {0, 0}},
		{"def f(float(4096, 4096) x) -> (y, z) { y(i) +=! x(i, j)  z(j) +=! x(i, j) }", {0, 1}},
	};
	(void)state;
	for (size_t i = 0; i < HEDDLE_COUNT(list); i++) {
		kernel k = kernel_of(list[i].text, "", "h100", "split=none; share=none; turn=none; fuse=0,1", "schedule");
		const heddle_fusion_options options = {gpu_language, {.seeds = 100, .around = 1}};
		heddle_fusion *fusion = heddle_fusion_new(k.arena, k.scop, &options);
		const int *best = heddle_fusion_best(fusion);
		if (best[0] != list[i].kernel[0] || best[1] != list[i].kernel[1])
			fail_msg("%s: %d, %d", list[i].text, best[0], best[1]);
		assert_true(heddle_fusion_seconds(fusion, best) <=
			    heddle_fusion_alone(fusion, 0) + heddle_fusion_alone(fusion, 1));
		free_kernel(&k);
	}
}

/* ---- what is offered compiles ---- */

typedef struct sampler {
	const kernel *k;
	const char *text, *sizes;
	int met, every, compiled;
} sampler;

static void compile(void *user, heddle_candidate *candidate)
{
	sampler *s = user;
	if (!heddle_candidate_legal(s->k->outline, candidate) || s->met++ % s->every)
		return;
	heddle_config *config = heddle_config_new(s->k->arena);
	heddle_text line = {0};
	config->n_fuse = s->k->config->n_fuse;
	config->fuse = s->k->config->fuse;
	heddle_candidate_config(s->k->outline, candidate, config);
	heddle_config_print(config, &line);
	heddle_scop *scop = heddle_scop_new(s->k->ctx, s->k->arena, s->k->definition, s->k->descriptor);
	scop->shuffles = s->k->scop->shuffles;
	scop->config = config;
	int status = 0;
	for (const heddle_pass *pass = heddle_passes; pass->name && status == 0; pass++)
		if (strcmp(pass->name, "prove") != 0)
			status = heddle_pass_run(scop, config, pass, &(heddle_pass_options){0});
	const heddle_simplify_options options = {.max_vector = 4, .max_bytes = 16};
	if (status < 0 || heddle_simplify(s->k->ctx, scop->program, &options) < 0)
		fail_msg("%s of %s: %s", heddle_text_str(&line), s->text, heddle_ctx_messages(s->k->ctx));
	scop->program = heddle_program_free(scop->program);
	heddle_scop_free(scop);
	heddle_text_free(&line);
	s->compiled++;
}

static void offered_compile(void **state)
{
	enum { SAMPLES = 40 };
	static const struct {
		const char *text, *sizes, *fuse;
	} list[] = {
		{product, "M=33,N=20,K=18", "0"},
		{product, "M=64,N=64,K=64", "0"},
		{columns, "N=40,D=100", "0"},
		{transpose, "N=40,M=36", "0"},
		{"def softmax(float(N, D) I) -> (O) { largest(n) max=! I(n, d) total(n) +=! exp(I(n, d) - largest(n)) "
		 "O(n, d) = exp(I(n, d) - largest(n)) / total(n) }",
		 "N=9,D=70", "0,0,0"},
		{"def conv(float(N, C, H, W) I, float(M, C, 3, 3) K) -> (O) { O(n, m, h, w) +=! I(n, c, h + kh, w + "
		 "kw) * K(m, c, kh, kw) }",
		 "N=2,C=3,H=10,W=12,M=5", "0"},
	};
	static const char *const chips[] = {"h100", "mi300x", "cpu-avx2"};
	(void)state;
	for (size_t i = 0; i < HEDDLE_COUNT(list); i++)
		for (size_t c = 0; c < HEDDLE_COUNT(chips); c++) {
			char config[64];
			snprintf(config, sizeof(config), "split=none; share=none; turn=none; fuse=%s", list[i].fuse);
			kernel k = kernel_of(list[i].text, list[i].sizes, chips[c], config, "fuse");
			sampler s = {.k = &k, .text = list[i].text, .sizes = list[i].sizes, .every = 1 << 30};
			heddle_space_seeds(k.outline, 1, compile, &s);
			s.every = s.met / SAMPLES | 1;
			s.met = 0;
			heddle_space_seeds(k.outline, 1, compile, &s);
			const heddle_space_found found = heddle_space_best(k.arena, k.outline, NULL, 4);
			s.every = 7;
			for (int b = 0; b < found.n; b++)
				heddle_space_neighbours(k.outline, &found.best[b].candidate, compile, &s);
			assert_true(s.compiled > SAMPLES / 2 && found.n > 1);
			assert_true(found.best[0].seconds <= found.best[found.n - 1].seconds);
			free_kernel(&k);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(product_by_hand),
		cmocka_unit_test(columns_by_hand),
		cmocka_unit_test(transpose_by_hand), cmocka_unit_test(carried_by_hand), cmocka_unit_test(fused),
		cmocka_unit_test(offered_compile),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
