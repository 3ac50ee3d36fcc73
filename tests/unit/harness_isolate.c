/* harness/: runners in child processes: results come back, crashes and hangs become findings.
 * SPDX-License-Identifier: MIT
 */
#include "harness/isolate.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static int fine(heddle_ctx *ctx, heddle_run *run)
{
	(void)ctx;
	printf("words on standard output\n");
	heddle_array_set(run->argument[1], 2, 42);
	run->verdict = HEDDLE_PASS;
	run->message = heddle_arena_printf(run->arena, "seed %d", (int)run->seed);
	run->n_finding = 2;
	run->finding = HEDDLE_NEW_ARRAY(run->arena, heddle_finding, 2);
	run->finding[0] = (heddle_finding){"race", "k.cu", 12, "two threads"};
	run->finding[1] = (heddle_finding){"bounds", NULL, 0, ""};
	run->seconds = HEDDLE_NEW_ARRAY(run->arena, double, run->repeat);
	run->seconds[1] = 0.25;
	run->registers = 33;
	return 0;
}

static int crash(heddle_ctx *ctx, heddle_run *run)
{
	(void)ctx;
	(void)run;
	fprintf(stderr, "about to die\n");
	fflush(stderr);
	raise(SIGKILL);
	return 0;
}

static int leave(heddle_ctx *ctx, heddle_run *run)
{
	(void)ctx;
	(void)run;
	_exit(3);
}

static int hang(heddle_ctx *ctx, heddle_run *run)
{
	(void)ctx;
	(void)run;
	while (pause())
		;
	return 0;
}

static int fault(heddle_ctx *ctx, heddle_run *run)
{
	(void)run;
	return heddle_error(ctx, 720, NULL, "no such thing");
}

static int missing(heddle_ctx *ctx, const char **why)
{
	(void)ctx;
	*why = "apt install it";
	return 0;
}

static int dies(heddle_ctx *ctx, const char **why)
{
	(void)ctx;
	(void)why;
	abort();
}

typedef struct bench {
	heddle_ctx *ctx;
	heddle_array *array[2];
	heddle_manifest manifest;
	heddle_run run;
} bench;

static int isolated(bench *b, int (*function)(heddle_ctx *, heddle_run *), double timeout)
{
	const int64_t shape[1] = {4};
	const heddle_runner runner = {"emulate", "test", "cuda", missing, function, false, false, false, NULL, 0};
	memset(b, 0, sizeof(*b));
	b->ctx = heddle_ctx_new();
	b->array[0] = heddle_array_new(HEDDLE_FLOAT32, 1, shape);
	b->array[1] = heddle_array_new(HEDDLE_INT32, 1, shape);
	b->manifest.n_argument = 2;
	b->run = (heddle_run){.arena = heddle_arena_new(), .manifest = &b->manifest, .argument = b->array, .timeout = timeout,
			      .seed = 7, .repeat = 2};
	return heddle_run_isolated(b->ctx, &runner, &b->run);
}

static void finish(bench *b)
{
	heddle_arena_free(b->run.arena);
	heddle_array_free(b->array[0]);
	heddle_array_free(b->array[1]);
	heddle_ctx_free(b->ctx);
}

static void results_come_back(void **state)
{
	(void)state;
	bench b;
	assert_int_equal(isolated(&b, fine, 0), 0);
	assert_int_equal(heddle_array_get_int(b.array[1], 2), 42);
	assert_true(heddle_array_is_poison(b.array[1], 1));
	assert_true(heddle_array_guards_intact(b.array[1], NULL));
	assert_int_equal(b.run.verdict, HEDDLE_PASS);
	assert_string_equal(b.run.message, "seed 7");
	assert_int_equal(b.run.n_finding, 2);
	assert_string_equal(b.run.finding[0].file, "k.cu");
	assert_int_equal(b.run.finding[0].line, 12);
	assert_null(b.run.finding[1].file);
	assert_true(b.run.seconds[1] == 0.25);
	assert_int_equal(b.run.registers, 33);
	finish(&b);
}

static void deaths(void **state)
{
	(void)state;
	bench b;
	assert_int_equal(isolated(&b, crash, 0), 0);
	assert_int_equal(b.run.verdict, HEDDLE_FAIL);
	assert_int_equal(b.run.n_finding, 1);
	assert_string_equal(b.run.finding[0].kind, "crash");
	assert_non_null(strstr(b.run.finding[0].text, "signal 9"));
	assert_non_null(strstr(b.run.finding[0].text, "about to die"));
	assert_non_null(strstr(b.run.message, "about to die"));
	finish(&b);
	assert_int_equal(isolated(&b, leave, 0), 0);
	assert_int_equal(b.run.verdict, HEDDLE_FAIL);
	finish(&b);
	double start = heddle_now();
	assert_int_equal(isolated(&b, hang, 0.3), 0);
	assert_true(heddle_now() - start < 5);
	assert_int_equal(b.run.verdict, HEDDLE_FAIL);
	assert_string_equal(b.run.finding[0].kind, "timeout");
	finish(&b);
	assert_int_equal(isolated(&b, fault, 0), -1);
	assert_int_equal(heddle_diagnostics(b.ctx)->code, 720);
	assert_non_null(strstr(heddle_diagnostics(b.ctx)->message, "no such thing"));
	finish(&b);
}

static void availability(void **state)
{
	(void)state;
	heddle_ctx *ctx = heddle_ctx_new();
	heddle_arena *arena = heddle_arena_new();
	const char *why;
	const heddle_runner absent = {"emulate", "test", "cuda", missing, fine, false, false, false, NULL, 0};
	const heddle_runner broken = {"emulate", "test", "cuda", dies, fine, false, false, false, NULL, 0};
	assert_int_equal(heddle_runner_available(ctx, arena, &absent, &why), 0);
	assert_string_equal(why, "apt install it");
	assert_int_equal(heddle_runner_available(ctx, arena, &broken, &why), 0);
	assert_non_null(strstr(why, "signal 6"));
	heddle_arena_free(arena);
	heddle_ctx_free(ctx);
}

/* ---- a child that stays ---------------------------------------------------------------------------------------------------- */

static int held; /* in the child: how often it took hold */

static int hold(heddle_ctx *ctx)
{
	(void)ctx;
	held++;
	return 0;
}

static int refuse(heddle_ctx *ctx)
{
	(void)ctx;
	return -1;
}

static int nothing(heddle_ctx *ctx, heddle_run *run)
{
	(void)ctx;
	run->verdict = HEDDLE_PASS;
	run->message = "";
	run->repeat = 0;
	return 0;
}

/* What the seed says: 0 pass, 1 fail, 2 crash, 3 hang, 4 a fault of ours, 5 pass with nothing done.  C[0] is the process, C[1] how often it took hold. */
static int by_seed(heddle_ctx *ctx, heddle_run *run)
{
	static int (*const ends[])(heddle_ctx *, heddle_run *) = {[2] = crash, [3] = hang, [4] = fault, [5] = nothing};
	printf("words on standard output\n");
	if (run->seed >= 2)
		return ends[run->seed](ctx, run);
	heddle_array_set(run->argument[1], 0, getpid());
	heddle_array_set(run->argument[1], 1, held);
	heddle_array_set(run->argument[1], 2, heddle_array_get_int(run->argument[0], 3));
	run->verdict = run->seed ? HEDDLE_FAIL : HEDDLE_PASS;
	run->message = "so it says";
	if (run->repeat > 0) {
		run->seconds = HEDDLE_NEW_ARRAY(run->arena, double, run->repeat);
		for (int i = 0; i < run->repeat; i++)
			run->seconds[i] = 0.25;
	}
	return 0;
}

static const char kept_manifest[] =
	"{\"schema\":\"heddle.manifest/1\",\"definition\":\"d\",\"backend\":\"cuda\",\"arch\":\"any\",\"source\":\"my.cu\",\"sizes\":{\"N\":4},"
	"\"arguments\":[{\"name\":\"A\",\"type\":\"int32\",\"shape\":[\"N\"],\"align\":4,\"role\":\"input\"},"
	"{\"name\":\"C\",\"type\":\"int32\",\"shape\":[\"N\"],\"align\":4,\"role\":\"output\"}],\"launches\":[{\"kernel\":\"k\","
	"\"grid\":[1,1,1],\"block\":[1,1,1],\"dynamic_shared_bytes\":0,\"arguments\":[\"A\",\"C\"]}]}\n";

static const char empty_manifest[] =
	"{\"schema\":\"heddle.manifest/1\",\"definition\":\"d\",\"backend\":\"cuda\",\"arch\":\"any\",\"source\":\"my.cu\",\"sizes\":{\"N\":4},"
	"\"arguments\":[{\"name\":\"A\",\"type\":\"int32\",\"shape\":[3,0],\"align\":4,\"role\":\"input\"},"
	"{\"name\":\"C\",\"type\":\"int32\",\"shape\":[3,0],\"align\":4,\"role\":\"output\"}],\"launches\":[{\"kernel\":\"k\","
	"\"grid\":[1,1,1],\"block\":[1,1,1],\"dynamic_shared_bytes\":0,\"arguments\":[\"A\",\"C\"]}]}\n";

typedef struct stay {
	heddle_ctx *ctx;
	heddle_arena *arena;
	heddle_manifest *manifest;
	heddle_array *array[2];
	heddle_run run;
} stay;

static const int64_t size_of_n[1] = {4};

static void again(stay *s, const heddle_runner *runner, uint64_t seed, int verdict)
{
	s->run = (heddle_run){.arena = s->arena, .manifest = s->manifest, .source = "", .source_path = "my.cu", .size = size_of_n,
			      .argument = s->array, .timeout = 0.3, .seed = seed, .repeat = 2};
	heddle_array_poison(s->array[1]);
	if (heddle_run_isolated(s->ctx, runner, &s->run) < 0)
		fail_msg("seed %d: %s", (int)seed, heddle_ctx_messages(s->ctx));
	if ((int)s->run.verdict != verdict)
		fail_msg("seed %d: %s", (int)seed, s->run.message);
}

static void stays(void **state)
{
	(void)state;
	const int64_t shape[1] = {4};
	const heddle_runner runner = {"device", "test", "cuda", missing, by_seed, false, false, false, hold, 0};
	const heddle_runner without = {"device", "test", "cuda", missing, by_seed, false, false, false, refuse, 0};
	stay s = {.ctx = heddle_ctx_new(), .arena = heddle_arena_new()};
	s.manifest = heddle_manifest_parse(s.ctx, "f.json", kept_manifest);
	if (!s.manifest)
		fail_msg("%s", heddle_diagnostics(s.ctx)->message);
	s.manifest->path = NULL; /* as of a text that Heddle wrote */
	for (int i = 0; i < 2; i++)
		s.array[i] = heddle_array_new(HEDDLE_INT32, 1, shape);
	for (int i = 0; i < 4; i++)
		heddle_array_set(s.array[0], i, 5 * i);
	again(&s, &runner, 0, HEDDLE_PASS);
	const int64_t first = heddle_array_get_int(s.array[1], 0);
	assert_int_not_equal(first, getpid());
	assert_int_equal(heddle_array_get_int(s.array[1], 1), 1);
	assert_int_equal(heddle_array_get_int(s.array[1], 2), 15);
	assert_true(s.run.seconds[1] == 0.25);
	again(&s, &runner, 0, HEDDLE_PASS); /* the same child */
	assert_int_equal(heddle_array_get_int(s.array[1], 0), first);
	again(&s, &runner, 1, HEDDLE_FAIL); /* its last run */
	assert_string_equal(s.run.message, "so it says");
	again(&s, &runner, 0, HEDDLE_PASS);
	const int64_t second = heddle_array_get_int(s.array[1], 0);
	assert_int_not_equal(second, first);
	again(&s, &runner, 2, HEDDLE_FAIL);
	assert_string_equal(s.run.finding[0].kind, "crash");
	assert_non_null(strstr(s.run.finding[0].text, "about to die"));
	again(&s, &runner, 3, HEDDLE_FAIL);
	assert_string_equal(s.run.finding[0].kind, "timeout");
	s.run.seed = 4;
	assert_int_equal(heddle_run_isolated(s.ctx, &runner, &s.run), -1);
	if (!strstr(heddle_ctx_messages(s.ctx), "no such thing"))
		fail_msg("%s", heddle_ctx_messages(s.ctx));
	again(&s, &runner, 0, HEDDLE_PASS);
	assert_int_not_equal(heddle_array_get_int(s.array[1], 0), second);
	/* Arrays of no elements, one of whose dimensions has some. */
	for (int i = 0; i < 2; i++) {
		heddle_array_free(s.array[i]);
		s.array[i] = heddle_array_new(HEDDLE_INT32, 2, (const int64_t[]){3, 0});
	}
	heddle_manifest_free(s.manifest);
	s.manifest = heddle_manifest_parse(s.ctx, "f.json", empty_manifest);
	if (!s.manifest)
		fail_msg("%s", heddle_diagnostics(s.ctx)->message);
	s.manifest->path = NULL;
	again(&s, &runner, 5, HEDDLE_PASS);
	for (int i = 0; i < 2; i++) {
		heddle_array_free(s.array[i]);
		s.array[i] = heddle_array_new(HEDDLE_INT32, 1, shape);
	}
	heddle_manifest_free(s.manifest);
	s.manifest = heddle_manifest_parse(s.ctx, "f.json", kept_manifest);
	s.manifest->path = NULL;
	/* What cannot be held runs in a child of its own. */
	again(&s, &without, 0, HEDDLE_PASS);
	assert_int_equal(heddle_array_get_int(s.array[1], 1), 0);
	for (int i = 0; i < 2; i++)
		heddle_array_free(s.array[i]);
	heddle_manifest_free(s.manifest);
	heddle_arena_free(s.arena);
	heddle_ctx_free(s.ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(results_come_back),
		cmocka_unit_test(deaths),
		cmocka_unit_test(availability),
		cmocka_unit_test(stays),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
