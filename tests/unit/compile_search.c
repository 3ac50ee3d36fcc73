/* The search over configs: what it names compiles, is in order, keeps what was given, and is the same with any number of threads.
 * SPDX-License-Identifier: MIT
 */
#include "compile/search.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define PRODUCT "def f(float(512, 512) A, float(512, 512) B) -> (C) { C(i, j) +=! A(i, k) * B(k, j) }"
#define COLUMNS "def f(float(4096, 1024) x) -> (y) { y(d) +=! x(n, d) }"

#define CHAIN "def f(float(16777216) x) -> (y) { y(i) = x(i) * 2 + 1 }"

#define TWICE "def f(float(16777216) x, float(16777216) z) -> (y) { y(i) = x(i) * x(i) y(i) += z(i) }"

typedef struct setting {
	heddle_ctx *ctx;
	heddle_arena *arena;
	heddle_module *module;
	heddle_target target;
} setting;

static setting begin(const char *text, const char *target)
{
	setting s = {heddle_ctx_new(), heddle_arena_new(), NULL, {0}};
	s.module = heddle_module_parse(s.ctx, "test", text, NULL);
	assert_non_null(s.module);
	assert_int_equal(heddle_target_parse(s.ctx, target, &s.target), 0);
	return s;
}

static void end(setting *s)
{
	heddle_module_free(s->module);
	heddle_arena_free(s->arena);
	heddle_ctx_free(s->ctx);
}

static heddle_search search(setting *s, const heddle_search_options *options)
{
	heddle_search found;
	if (heddle_search_configs(s->ctx, s->arena, s->module->definition[0], &s->target, options, &found) < 0)
		fail_msg("%s", heddle_ctx_messages(s->ctx));
	assert_int_equal(heddle_error_count(s->ctx), 0);
	return found;
}

static void order(void **state)
{
	static const char *const targets[] = {"h200", "mi300x", "cpu"};
	(void)state;
	for (size_t t = 0; t < HEDDLE_COUNT(targets); t++) {
		setting s = begin(PRODUCT, targets[t]);
		const heddle_search found = search(&s, &(heddle_search_options){.top = 5, .budget = 60});
		assert_true(found.n_choice > 1 && found.n_choice <= 5);
		assert_true(found.rated + found.refused <= 60);
		heddle_program *own = heddle_compile(s.ctx, s.module->definition[0], &s.target, &(heddle_compile_options){0});
		assert_in_range(found.usual, 0, found.n_choice - 1);
		assert_string_equal(found.choice[found.usual].config, own->config);
		heddle_program_free(own);
		for (int i = 0; i < found.n_choice; i++) {
			heddle_program *p = heddle_compile(s.ctx, s.module->definition[0], &s.target,
							   &(heddle_compile_options){.config = found.choice[i].config});
			assert_non_null(p);
			assert_string_equal(p->config, found.choice[i].config); /* complete */
			heddle_program_free(p);
			assert_true(found.choice[i].plan->launch[0].rating.fits);
			if (i) /* by time */
				assert_true(found.choice[i].plan->seconds >= found.choice[i - 1].plan->seconds);
		}
		end(&s);
	}
}

static void the_same_every_time(void **state)
{
	(void)state;
	setting s = begin(COLUMNS, "cpu");
	const heddle_search_options options = {.top = 4, .budget = 40};
	heddle_search_options several = options;
	several.threads = 3;
	const heddle_search a = search(&s, &options), b = search(&s, &several);
	assert_int_equal(a.n_choice, b.n_choice);
	assert_int_equal(a.rated, b.rated);
	for (int i = 0; i < a.n_choice; i++)
		assert_string_equal(a.choice[i].config, b.choice[i].config);
	end(&s);
}

/* What is given is in every choice; what cannot be is said, as compile says it. */
static void given(void **state)
{
	(void)state;
	setting s = begin(PRODUCT, "cpu");
	const heddle_search found =
		search(&s, &(heddle_search_options){.config = "k0.S0: tile=j:32 vector=j:16; k0.B.0: space=global", .top = 6, .budget = 40});
	assert_true(found.n_choice > 1);
	for (int i = 0; i < found.n_choice; i++) {
		assert_non_null(strstr(found.choice[i].config, "j:32"));
		assert_non_null(strstr(found.choice[i].config, "vector=j:16"));
		assert_null(strstr(found.choice[i].config, "k0.B.0: space=shared"));
	}
	heddle_search none;
	const heddle_search_options bad = {.config = "k0.S0: tile=z:32"};
	assert_true(heddle_search_configs(s.ctx, s.arena, s.module->definition[0], &s.target, &bad, &none) < 0);
	assert_int_equal(heddle_diagnostics(s.ctx)->code, 513);
	end(&s);
}

static const heddle_plan *planned(setting *s, const char *config)
{
	heddle_plan *plan = NULL;
	heddle_program *p = heddle_compile(s->ctx, s->module->definition[0], &s->target,
					   &(heddle_compile_options){.config = config, .unproved = true, .plan_arena = s->arena, .plan = &plan});
	if (!p)
		fail_msg("%s: %s", config ? config : "no config", heddle_ctx_messages(s->ctx));
	heddle_program_free(p);
	return plan;
}

/* What the model knows: memory that is read in short runs is waited for; a thread has so many registers. */
static void what_the_model_knows(void **state)
{
	static const struct {
		const char *text, *target, *better, *worse;
	} pair[] = {
		{COLUMNS, "cpu", "k0.S0: tile=d:1024 vector=d:16", "k0.S0: tile=d:16 vector=d:16"},
		/* rounds along rows go through all rows of the step first: few are followed ahead */
		{COLUMNS, "cpu", "k0.S0: tile=d:512,n:8 round=d:16 vector=d:16", "k0.S0: tile=d:512,n:4096 round=d:16 vector=d:16"},
		/* lines that are written are read first, unless they are stored past the caches */
		{"def f(float(16777216) x) -> (y) { y(i) = x(i) + 1.0 }", "cpu", "k0: stream=y; k0.S0: tile=i:256 vector=i:16",
		 "k0: stream=none; k0.S0: tile=i:1024 vector=i:16"},
		/* vectors of what lies side by side, not of what lies apart */
		{PRODUCT, "cpu", "k0.S0: tile=j:64,i:6 vector=j:16", "k0.S0: tile=j:6,i:64 vector=i:16"},
		/* sums that registers hold */
		{PRODUCT, "cpu", "k0.S0: tile=j:64,i:6 vector=j:16", "k0.S0: tile=j:64,i:32 vector=j:16"},
		/* a panel that rounds read again is brought together: its rows are a power of two apart */
		{PRODUCT, "cpu", "k0.S0: tile=j:64,k:128,i:96 round=i:16 vector=j:16; k0.B.0: space=shared vector=16",
		 "k0.S0: tile=j:64,k:128,i:96 round=i:16 vector=j:16; k0.B.0: space=global"},
		/* one dimension's members make a vector, whatever others have them */
		{"def f(float(1, 64, 56, 56) I, float(64, 64) F) -> (O) { O(n, m, h, w) +=! I(n, c, h, w) * F(m, c) }", "cpu",
		 "k0.S0: tile=w:32,c:64,m:64 round=m:8 vector=w:16; k0.I.0: space=shared vector=16",
		 "k0.S0: tile=w:8,c:64,m:64,h:16 round=m:8,h:2,w:2 vector=h:8,m:8; k0.I.0: space=shared order=0,1,3,2; k0.F.0: space=shared order=1,0"},
		/* elements of short rows, which this order keeps apart, go to a line each: the nearest cache had better hold the tile */
		{"def f(float(1, 512, 9, 9) I, float(512, 512, 3, 3) F) -> (O) { O(n, m, h, w) +=! I(n, c, h + kh, w + kw) * F(m, c, kh, kw)\n"
		 "where h in 0:7, w in 0:7, kh in 0:3, kw in 0:3 }", "cpu",
		 "k0.S0: tile=m:32,h:7,w:7,c:32,kh:3,kw:3 round=h:7 vector=m:16; k0.F.0: space=shared order=2,1,3,0",
		 "k0.S0: tile=m:32,h:7,w:7,c:64,kh:3,kw:3 round=h:7 vector=m:16; k0.F.0: space=shared order=2,1,3,0"},
		/* tiles that threads share */
		{PRODUCT, "h200", "k0.S0: tile=j:128,i:64,k:8 thread=j:16,i:16 vector=j:4,i:4", "k0.S0: tile=j:16,i:16 thread=j:16,i:16"},
		/* whole warps */
		{CHAIN, "h200", "k0.S0: tile=i:256 thread=i:256", "k0.S0: tile=i:8 thread=i:8"},
		/* bytes in flight */
		{CHAIN, "h200", "k0.S0: tile=i:1024 thread=i:256 vector=i:4", "k0.S0: tile=i:131072 thread=i:32 vector=i:1"},
	};
	(void)state;
	for (size_t i = 0; i < HEDDLE_COUNT(pair); i++) {
		const char *const config[] = {pair[i].better, pair[i].worse};
		double seconds[2];
		setting s = begin(pair[i].text, pair[i].target);
		for (int c = 0; c < 2; c++) {
			seconds[c] = planned(&s, config[c])->seconds;
		}
		if (seconds[0] >= seconds[1])
			fail_msg("%s takes %g s, %s %g s", config[0], seconds[0], config[1], seconds[1]);
		end(&s);
	}
}

/* Compilers are told to leave room for as many blocks as the model counts on, or for one less where its registers are at the limit;
 * a fifth less where tiles are loaded a step ahead, which no compiler can do without. */
static void what_compilers_are_told(void **state)
{
	static const char *const targets[] = {"a100", "h100", "mi300x", "rx7900xtx"};
	(void)state;
	for (size_t t = 0; t < HEDDLE_COUNT(targets); t++) {
		heddle_plan *plan = NULL;
		setting s = begin(PRODUCT, targets[t]);
		heddle_program *program = heddle_compile(s.ctx, s.module->definition[0], &s.target,
							 &(heddle_compile_options){.plan_arena = s.arena, .plan = &plan});
		assert_non_null(program);
		const int told = program->launch[0]->min_blocks;
		const double counted = plan->launch[0].rating.resident;
		const double room = strstr(program->config, "prefetch=1") ? 1.2 : 1;
		if (told < 2 || (counted > room * told + 1 && strcmp(plan->launch[0].rating.limiter, "registers") == 0))
			fail_msg("%s: told %d blocks, %g counted on", targets[t], told, counted);
		heddle_program_free(program);
		end(&s);
	}
}

/* States stay in registers, with nothing in shared memory between the steps, and few columns are shared out to all units. */
static void recurrences(void **state)
{
	(void)state;
	static const struct {
		const char *text, *has, *has_not;
		int copies; /* of the loop's body */
	} cases[] = {
		{"def f(float(4, 256, 1024, 16) a, float(4, 256, 1024, 16) x, float(4, 256, 16) w) -> (y) {\n"
		 "h(b, 0, c, s) = x(b, 0, c, s)\n"
		 "h(b, t, c, s) = a(b, t, c, s) * h(b, t - 1, c, s) + x(b, t, c, s) where t in 1:256\n"
		 "y(b, t, c) +=! h(b, t, c, s) * w(b, t, s) }",
		 "fuse=0,0;", "space=shared", 3},
		{"def f(float(256, 65536) x, float(65536) a) -> (h) {\n"
		 "h(t, c) = t > 0 ? a(c) * h(t - 1, c) + x(t, c) : x(t, c) where t in 0:256 }",
		 "tile=c:128 thread=c:32 vector=c:4", "space=", 11},
	};
	for (size_t i = 0; i < HEDDLE_COUNT(cases); i++) {
		setting s = begin(cases[i].text, "h100");
		heddle_program *program = heddle_compile(s.ctx, s.module->definition[0], &s.target, &(heddle_compile_options){0});
		if (!program)
			fail_msg("%s", heddle_ctx_messages(s.ctx));
		const heddle_node *loop = heddle_node_find(program->launch[0]->body, HEDDLE_NODE_FOR);
		if (!strstr(program->config, cases[i].has) || strstr(program->config, cases[i].has_not) || !loop || loop->copies != cases[i].copies)
			fail_msg("%s, %d copies", program->config, loop ? loop->copies : 0);
		assert_true(heddle_value_is_int(program->workspace, 0));
		heddle_program_free(program);
		end(&s);
	}
}

/* What follows from a layout is not kept from the config that it came from: how far ahead is prefetched, what is stored past the caches. */
static void found_anew(void **state)
{
	(void)state;
	setting s = begin(TWICE, "cpu");
	const heddle_search found = search(&s, &(heddle_search_options){.top = 40, .budget = 80});
	int near = 0, far = 0;
	for (int i = 0; i < found.n_choice; i++) {
		near += strstr(found.choice[i].config, "x.0: prefetch=1") != NULL;
		far += strstr(found.choice[i].config, "x.0: prefetch=3") != NULL;
		if (strstr(found.choice[i].config, "fuse=0,0")) /* else nothing of y is read again in its own kernel */
			assert_true(strstr(found.choice[i].config, "y.0: space=register") || !strstr(found.choice[i].config, "stream=y"));
	}
	assert_true(near > 0 && far > 0);
	end(&s);
}

/* Nothing is said of a config that is refused. */
static void refused(void **state)
{
	(void)state;
	setting s = begin(PRODUCT, "cpu");
	heddle_plan *plan = NULL;
	assert_null(heddle_compile(s.ctx, s.module->definition[0], &s.target,
				   &(heddle_compile_options){.config = "k0.S0: tile=i:8,j:16384,k:64 vector=j:16 round=j:256; k0.B.0: space=shared",
							     .plan_arena = s.arena, .plan = &plan}));
	assert_null(plan);
	assert_int_equal(heddle_diagnostics(s.ctx)->code, 524);
	end(&s);
}

/* What one place reads another one need not bring from memory again: rows further on, a later pass over the same row, elements of a short row. */
static void brought_once(void **state)
{
	static const struct {
		const char *several, *one, *config;
	} pair[] = {
		{"def f(float(2050, 2048) x) -> (y) { y(i, j) = x(i, j) + x(i + 1, j) + x(i + 2, j) where i in 0:2048 }",
		 "def f(float(2050, 2048) x) -> (y) { y(i, j) = x(i, j) where i in 0:2048 }", "k0: stream=y; k0.S0: tile=j:256 vector=j:16"},
		{"def f(float(2048, 2048) x) -> (y) { s(i) +=! x(i, j)  y(i, j) = x(i, j) * s(i) }",
		 "def f(float(2048, 2048) x, float(2048) s) -> (y) { y(i, j) = x(i, j) * s(i) }", ""},
		{"def f(float(1000000, 3) a) -> (y) { y(i) = a(i, 0) + a(i, 1) + a(i, 2) }", "def f(float(1000000, 3) a) -> (y) { y(i) = a(i, 1) }",
		 "k0: stream=y; k0.S0: tile=i:64 vector=i:16"},
	};
	(void)state;
	for (size_t i = 0; i < HEDDLE_COUNT(pair); i++) {
		double seconds[2];
		for (int k = 0; k < 2; k++) {
			setting s = begin(k ? pair[i].one : pair[i].several, "cpu");
			const heddle_plan *p = planned(&s, pair[i].config);
			seconds[k] = 0;
			for (int n = 0; n < p->n_launch; n++)
				seconds[k] += p->launch[n].rating.memory;
			end(&s);
		}
		if (seconds[0] > 1.3 * seconds[1])
			fail_msg("%s: %g s, %g s where it is read once", pair[i].several, seconds[0], seconds[1]);
	}
}

/* Small products share a block. */
static void small_products(void **state)
{
	static const char *const targets[] = {"h100", "mi300x", "rx7900xtx"};
	static const char *const texts[] = {"def f(float(B, 3, 3) X, float(B, 3, 3) Y) -> (Z) { Z(b, i, j) +=! X(b, i, k) * Y(b, k, j) }",
					    "def f(float(B, 4, 4) A, float(B, 4) x) -> (y) { y(b, i) +=! A(b, i, j) * x(b, j) }"};
	(void)state;
	for (size_t t = 0; t < HEDDLE_COUNT(targets); t++)
		for (size_t k = 0; k < HEDDLE_COUNT(texts); k++) {
			setting s = begin(texts[k], targets[t]);
			heddle_program *p = heddle_compile(s.ctx, s.module->definition[0], &s.target, NULL);
			assert_non_null(p);
			assert_int_equal(p->launch[0]->threads, 128);
			assert_null(strstr(p->config, "i:16")); /* of three or four results */
			heddle_program_free(p);
			end(&s);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(order), cmocka_unit_test(the_same_every_time), cmocka_unit_test(given),
					   cmocka_unit_test(what_the_model_knows), cmocka_unit_test(what_compilers_are_told), cmocka_unit_test(refused), cmocka_unit_test(found_anew), cmocka_unit_test(recurrences),
					   cmocka_unit_test(brought_once), cmocka_unit_test(small_products)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
