/* The choice among candidates: what is listed compiles, is in order, keeps what was given, and is the same with any number of
 * threads; what is timed is chosen by its times; what the ratings know.
 * SPDX-License-Identifier: MIT
 */
#include "compile/pick_parts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define PRODUCT "def f(float(512, 512) A, float(512, 512) B) -> (C) { C(i, j) +=! A(i, k) * B(k, j) }"
#define COLUMNS "def f(float(4096, 1024) x) -> (y) { y(d) +=! x(n, d) }"

#define CHAIN "def f(float(16777216) x) -> (y) { y(i) = x(i) * 2 + 1 }"

#define TWO "def f(float(512, 512) A, float(512, 512) B) -> (C, s) { C(i, j) +=! A(i, k) * B(k, j)  s(i) +=! C(i, j) }"

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

static heddle_pick_list top_of(setting *s, const heddle_pick_options *options, int n)
{
	heddle_pick_list list;
	if (heddle_pick_top(s->ctx, s->arena, s->module->definition[0], &s->target, options, n, &list) < 0)
		fail_msg("%s", heddle_ctx_messages(s->ctx));
	assert_int_equal(heddle_diagnostics_count(s->ctx), 0); /* nothing is said of what was refused */
	return list;
}

static int usual_of(const heddle_pick_list *list)
{
	int usual = -1;
	for (int i = 0; i < list->n; i++) {
		assert_true(usual < 0 || !list->picked[i].usual);
		usual = list->picked[i].usual ? i : usual;
	}
	return usual;
}

static void order(void **state)
{
	static const char *const targets[] = {"h200", "mi300x", "cpu"};
	(void)state;
	for (size_t t = 0; t < HEDDLE_COUNT(targets); t++) {
		setting s = begin(PRODUCT, targets[t]);
		const heddle_pick_list list = top_of(&s, &(heddle_pick_options){0}, 5);
		const int usual = usual_of(&list);
		assert_int_equal(list.n, 5);
		assert_true(list.rated >= 5);
		assert_in_range(usual, 0, list.n - 1);
		heddle_program *own = heddle_compile(s.ctx, s.module->definition[0], &s.target, &(heddle_compile_options){0});
		assert_string_equal(list.picked[usual].config, own->config);
		heddle_program_free(own);
		for (int i = 0; i < list.n; i++) {
			heddle_program *p = heddle_compile(s.ctx, s.module->definition[0], &s.target,
							   &(heddle_compile_options){.config = list.picked[i].config});
			assert_non_null(p);
			assert_string_equal(p->proof, "proved");
			assert_string_equal(p->config, list.picked[i].config); /* complete */
			heddle_program_free(p);
			assert_true(list.picked[i].plan->launch[0].rating.fits);
			for (int j = 0; j < i; j++)
				assert_false(heddle_pick_same(list.picked[i].config, list.picked[j].config));
			if (i) /* by time */
				assert_true(list.picked[i].plan->seconds >= list.picked[i - 1].plan->seconds);
		}
		end(&s);
	}
}

static double seconds_of(setting *s, heddle_effort effort)
{
	heddle_plan *plan = NULL;
	const heddle_compile_options options = {.effort = effort, .plan_arena = s->arena, .plan = &plan};
	heddle_program *p = heddle_compile(s->ctx, s->module->definition[0], &s->target, &options);
	assert_non_null(p);
	heddle_program_free(p);
	return plan->seconds;
}

/* An effort never takes what is rated slower than a lesser one's choice, or much slower than the best that it has seen.  A wide search has other
 * seeds than the usual one, and may end by a little elsewhere. */
static void never_slower(void **state)
{
	static const char *const targets[] = {"h200", "mi300x", "cpu", "cpu-avx2"};
	static const char *const texts[] = {PRODUCT, COLUMNS, TWO};
	(void)state;
	for (size_t t = 0; t < HEDDLE_COUNT(targets); t++)
		for (size_t k = 0; k < HEDDLE_COUNT(texts); k++) {
			setting s = begin(texts[k], targets[t]);
			const double usual = seconds_of(&s, HEDDLE_EFFORT_USUAL), wide = seconds_of(&s, HEDDLE_EFFORT_WIDE);
			const heddle_pick_list list = top_of(&s, &(heddle_pick_options){.effort = HEDDLE_EFFORT_WIDE}, 2);
			const double closed = seconds_of(&s, HEDDLE_EFFORT_CLOSED_FORM);
			if (usual > 1.01 * closed || wide > 1.03 * usual)
				fail_msg("%s on %s: %g s, %g s, %g s", texts[k], targets[t], closed, usual, wide);
			assert_true(0.8 * wide <= list.picked[0].plan->seconds);
			end(&s);
		}
}

static void same(void **state)
{
	(void)state;
	assert_true(heddle_pick_same("split=none; fuse=0; k0: stream=none", "split=none; share=none; turn=none; fuse=0; k0: stream=none"));
	assert_true(heddle_pick_same("split=0:k:4; fuse=0", "split=0:k:4; turn=none; fuse=0"));
	assert_false(heddle_pick_same("split=0:k:4; fuse=0", "split=none; fuse=0"));
	assert_false(heddle_pick_same("fuse=0; k0: stream=none", "fuse=0"));
	assert_false(heddle_pick_same("fuse=0", "fuse=0,1"));
}

/* Of any number of threads and any effort; several kernels, of which each may come from another candidate. */
static void the_same_every_time(void **state)
{
	static const heddle_effort efforts[] = {HEDDLE_EFFORT_USUAL, HEDDLE_EFFORT_WIDE};
	static const char *const texts[] = {COLUMNS, TWO};
	(void)state;
	for (size_t i = 0; i < HEDDLE_COUNT(texts); i++) {
		setting s = begin(texts[i], "cpu");
		for (size_t e = 0; e < HEDDLE_COUNT(efforts); e++) {
			const heddle_pick_options one = {.effort = efforts[e], .threads = 1}, several = {.effort = efforts[e], .threads = 4};
			const heddle_pick_list a = top_of(&s, &one, 4), b = top_of(&s, &several, 4);
			assert_int_equal(a.n, b.n);
			assert_int_equal(a.rated, b.rated);
			for (int k = 0; k < a.n; k++)
				assert_string_equal(a.picked[k].config, b.picked[k].config);
			heddle_pick_result x = {0}, y = {0};
			assert_int_equal(heddle_pick(s.ctx, s.arena, s.module->definition[0], &s.target, &one, &x), 0);
			assert_int_equal(heddle_pick(s.ctx, s.arena, s.module->definition[0], &s.target, &several, &y), 0);
			assert_string_equal(x.config, y.config);
			assert_true(x.complete && x.lowered && y.lowered);
			assert_string_equal(x.lowered->program->config, x.config);
			heddle_lowered_free(x.lowered);
			heddle_lowered_free(y.lowered);
		}
		end(&s);
	}
}

/* What is given is in every choice; what cannot be is said, as compile says it. */
static void given(void **state)
{
	(void)state;
	setting s = begin(PRODUCT, "cpu");
	const heddle_pick_list list =
		top_of(&s, &(heddle_pick_options){.config = "k0.S0: tile=j:32 vector=j:16; k0.B.0: space=global"}, 6);
	assert_true(list.n > 1);
	for (int i = 0; i < list.n; i++) {
		assert_non_null(strstr(list.picked[i].config, "j:32"));
		const char *vector = strstr(list.picked[i].config, "vector=");
		assert_non_null(vector);
		assert_non_null(strstr(vector, "j:16"));
		assert_null(strstr(list.picked[i].config, "k0.B.0: space=shared"));
	}
	heddle_pick_list none;
	const heddle_pick_options bad = {.config = "k0.S0: tile=z:32"};
	assert_true(heddle_pick_top(s.ctx, s.arena, s.module->definition[0], &s.target, &bad, 5, &none) < 0);
	assert_int_equal(heddle_diagnostics(s.ctx)->code, 513);
	end(&s);
}

/* A device of the test's own. */
typedef struct device {
	const char *fast; /* a part of the configs that it likes */
	int n_call, n_fail;
	bool missing;
} device;

#define FAILS "order=j,i"

/* What it likes takes 1 ms, with a disturbed run now and then; other programs 1.2 ms; those with blocks in another order fail. */
static int time_here(const heddle_program *program, double *seconds, void *user)
{
	device *d = user;
	d->n_call++;
	if (d->missing)
		return -1;
	if (strstr(program->config, FAILS)) {
		d->n_fail++;
		return 1;
	}
	*seconds = strstr(program->config, d->fast) ? (d->n_call % 5 == 4 ? 5e-3 : 1e-3) : 1.2e-3;
	return 0;
}

static void measured(void **state)
{
	(void)state;
	setting s = begin(PRODUCT, "cpu");
	const heddle_pick_list list = top_of(&s, &(heddle_pick_options){.effort = HEDDLE_EFFORT_MEASURED}, 12);
	const char *last = NULL; /* of those that run there */
	for (int i = 0; i < list.n; i++)
		last = list.picked[i].usual || strstr(list.picked[i].config, FAILS) ? last : list.picked[i].config;
	assert_non_null(last);
	device d = {.fast = strstr(last, "k0.S0")};
	heddle_compile_options options = {.effort = HEDDLE_EFFORT_MEASURED, .time = time_here, .time_user = &d};
	heddle_program *p = heddle_compile(s.ctx, s.module->definition[0], &s.target, &options);
	assert_non_null(p);
	assert_string_equal(p->proof, "proved");
	assert_non_null(strstr(p->config, d.fast));
	assert_true(d.n_call > 24); /* several rounds */
	heddle_program_free(p);
	/* a config that is complete is not chosen anew */
	d.n_call = 0;
	options.config = last;
	heddle_program_free(heddle_compile(s.ctx, s.module->definition[0], &s.target, &options));
	assert_int_equal(d.n_call, 0);
	/* without a device there is no program */
	options.config = NULL;
	d.missing = true;
	assert_null(heddle_compile(s.ctx, s.module->definition[0], &s.target, &options));
	assert_int_equal(d.n_call, 1);
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

/* Sizes that are open: of a window few, of others many. */
static void windows(void **state)
{
	static const struct {
		const char *text;
		int window; /* bit k: size k is one */
	} list[] = {
		{"def f(float(N, W) I, float(K) F) -> (O) { O(n, w) +=! I(n, w + k) * F(k) }", 1 << 2},
		{"def f(float(N, W) I, float(K) F) -> (O) { O(n, w) +=! I(n, 2 * w + 3 * k) * F(k) }", 1 << 2},
		{"def f(float(M, K) A, float(K, N) B) -> (C) { C(i, j) +=! A(i, k) * B(k, j) }", 0},
		{"def f(float(N, W) I, float(V) D) -> (O) { O(n, w) = I(n, w) + D(w) }", 0},
	};
	(void)state;
	for (size_t i = 0; i < HEDDLE_COUNT(list); i++) {
		setting s = begin(list[i].text, "cpu");
		const heddle_definition *d = s.module->definition[0];
		for (int k = 0; k < d->n_size; k++)
			if (d->size[k]->window != (list[i].window >> k & 1))
				fail_msg("%s: %s", list[i].text, d->size[k]->name);
		end(&s);
	}
}

/* What the model knows: memory that is read in short runs is waited for; a thread has so many registers. */
static void what_the_model_knows(void **state)
{
	static const struct {
		const char *text, *target, *better, *worse;
	} pair[] = {
		{COLUMNS, "cpu", "k0.S0: tile=d:256 vector=d:16", "k0.S0: tile=d:16 vector=d:16"},
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
		if (told < 1 || (counted > room * told + 1 && strcmp(plan->launch[0].rating.limiter, "registers") == 0))
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
		int copies; /* of the loop's body, at least: loads of several steps are under way */
	} cases[] = {
		{"def f(float(4, 256, 1024, 16) a, float(4, 256, 1024, 16) x, float(4, 256, 16) w) -> (y) {\n"
		 "h(b, 0, c, s) = x(b, 0, c, s)\n"
		 "h(b, t, c, s) = a(b, t, c, s) * h(b, t - 1, c, s) + x(b, t, c, s) where t in 1:256\n"
		 "y(b, t, c) +=! h(b, t, c, s) * w(b, t, s) }",
		 "fuse=0,0;", "space=shared", 3},
		{"def f(float(256, 65536) x, float(65536) a) -> (h) {\n"
		 "h(t, c) = t > 0 ? a(c) * h(t - 1, c) + x(t, c) : x(t, c) where t in 0:256 }",
		 "thread=c:", "space=shared", 4},
	};
	for (size_t i = 0; i < HEDDLE_COUNT(cases); i++) {
		setting s = begin(cases[i].text, "h100");
		heddle_program *program = heddle_compile(s.ctx, s.module->definition[0], &s.target, &(heddle_compile_options){0});
		if (!program)
			fail_msg("%s", heddle_ctx_messages(s.ctx));
		const heddle_node *loop = heddle_node_find(program->launch[0]->body, HEDDLE_NODE_FOR);
		if (!strstr(program->config, cases[i].has) || strstr(program->config, cases[i].has_not) || !loop || loop->copies < cases[i].copies)
			fail_msg("%s, %d copies", program->config, loop ? loop->copies : 0);
		assert_true(heddle_value_is_int(program->workspace, 0));
		heddle_program_free(program);
		end(&s);
	}
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
	static const char *const texts[] = {
		"def f(float(1048576, 3, 3) X, float(1048576, 3, 3) Y) -> (Z) { Z(b, i, j) +=! X(b, i, k) * Y(b, k, j) }",
		"def f(float(1048576, 4, 4) A, float(1048576, 4) x) -> (y) { y(b, i) +=! A(b, i, j) * x(b, j) }"};
	(void)state;
	for (size_t t = 0; t < HEDDLE_COUNT(targets); t++)
		for (size_t k = 0; k < HEDDLE_COUNT(texts); k++) {
			setting s = begin(texts[k], targets[t]);
			heddle_program *p = heddle_compile(s.ctx, s.module->definition[0], &s.target, NULL);
			assert_non_null(p);
			if (p->launch[0]->threads < 32)
				fail_msg("%s: %s", targets[t], p->config);
			heddle_program_free(p);
			end(&s);
		}
}

/* Of candidates that are rated alike the simple one: memory bounds this, whatever number of rows a block takes. */
static void simple(void **state)
{
	(void)state;
	setting s = begin("def f(float(4096, 1024) y, float(4096, 1024) d_y) -> (d_x) { dot(n) +=! y(n, d) * d_y(n, d)  d_x(n, d) = y(n, d) * (d_y(n, d) - dot(n)) }",
			  "cpu");
	heddle_program *p = heddle_compile(s.ctx, s.module->definition[0], &s.target, &(heddle_compile_options){.effort = HEDDLE_EFFORT_CLOSED_FORM});
	if (!p)
		fail_msg("%s", heddle_ctx_messages(s.ctx));
	if (strstr(p->config, "tile=n:"))
		fail_msg("%s", p->config);
	heddle_program_free(p);
	end(&s);
}

/* Two sums over everything read one tensor in one launch: splitting one of them gains nothing, splitting both does. */
static void split_together(void **state)
{
	static const char *const targets[] = {"h100", "mi300x", "cpu"};
	static const heddle_effort efforts[] = {HEDDLE_EFFORT_USUAL, HEDDLE_EFFORT_CLOSED_FORM};
	(void)state;
	for (size_t t = 0; t < HEDDLE_COUNT(targets); t++)
		for (size_t e = 0; e < HEDDLE_COUNT(efforts); e++) {
			setting s = begin("def f(float(4096, 4096) A) -> (t, m) { t +=! A(i, j)  m max=! A(i, j) }", targets[t]);
			const heddle_compile_options options = {.effort = efforts[e]};
			heddle_program *p = heddle_compile(s.ctx, s.module->definition[0], &s.target, &options);
			if (!p)
				fail_msg("%s: %s", targets[t], heddle_ctx_messages(s.ctx));
			const char *first = strstr(p->config, "split=0:");
			if (!first || !memchr(first, ',', strcspn(first, ";")))
				fail_msg("%s: %s", targets[t], p->config);
			heddle_program_free(p);
			end(&s);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(order), cmocka_unit_test(never_slower), cmocka_unit_test(same), cmocka_unit_test(the_same_every_time), cmocka_unit_test(given), cmocka_unit_test(measured),
					   cmocka_unit_test(windows), cmocka_unit_test(what_the_model_knows), cmocka_unit_test(what_compilers_are_told), cmocka_unit_test(refused), cmocka_unit_test(recurrences),
					   cmocka_unit_test(brought_once), cmocka_unit_test(small_products), cmocka_unit_test(simple), cmocka_unit_test(split_together)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
