/* The proof in a copy of the process: what it finds there, and that nothing else changes.
 * SPDX-License-Identifier: MIT
 */
#include "compile/compile.h"
#include "model/apart.h"
#include "model/passes.h"

#include <isl/map.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include <cmocka.h>

typedef struct plan {
	bool fault;
	int parts; /* that were asked for */
} plan;

/* The config is whole.  A fault that only the proof can see: whoever read what another statement wrote now wrote it. */
static int plant(heddle_scop *scop, heddle_config *config, heddle_config_need part, void *user)
{
	plan *p = user;
	(void)config;
	p->parts++;
	if (part != HEDDLE_NEEDS_SPACES)
		return 0;
	for (clock_t begin = clock(); clock() - begin < CLOCKS_PER_SEC / 50;)
		; /* long enough for the proof to be worth a process */
	for (int k = 0; k < scop->n_dependence && p->fault; k++) {
		heddle_dependence *d = &scop->dependence[k];
		if (d->input || d->source == d->sink || !heddle_dependence_relation(d))
			continue;
		heddle_stmt *source = d->source;
		d->relation = isl_map_reverse(d->relation);
		d->source = d->sink;
		d->sink = source;
	}
	return 0;
}

/* What the passes say of a mapping, and whether they refuse it. */
static int passed(heddle_arena *arena, bool apart, bool fault, const char **said)
{
	heddle_ctx *ctx = heddle_ctx_new();
	plan p = {fault, 0};
	heddle_module *module = heddle_module_parse(
		ctx, "test", "def f(float(64, 64) A) -> (B, C) { B(i, j) = A(i, j) * 2 C(i, j) = B(i, j) + 1 }", NULL);
	heddle_config *config = heddle_config_parse(ctx, arena, "fuse=0,0; k0.S0: tile=i:8,j:8 thread=i:8,j:8; k0.S1: tile=i:8,j:8 thread=i:8,j:8");
	assert_non_null(module);
	assert_non_null(config);
	heddle_scop *scop = heddle_scop_new(ctx, arena, module->definition[0], heddle_descriptor_find(ctx, "gpu"));
	heddle_apart copy = {0};
	const heddle_pass_options options = {.complete = plant, .user = &p, .apart = apart ? &copy : NULL};
	const int status = heddle_apart_end(&copy, heddle_passes_run(scop, config, &options));
	assert_int_equal(p.parts, 3);
	assert_int_equal(status == 0, heddle_error_count(ctx) == 0);
	if (status == 0)
		assert_string_equal(scop->proof, "proved");
	*said = heddle_arena_strdup(arena, heddle_ctx_messages(ctx));
	scop->program = heddle_program_free(scop->program);
	heddle_scop_free(scop);
	heddle_module_free(module);
	heddle_ctx_free(ctx);
	return status;
}

/* Pages that ended children of this process have touched. */
static long pages_of_children(void)
{
	struct rusage usage;
	assert_int_equal(getrusage(RUSAGE_CHILDREN, &usage), 0);
	return usage.ru_minflt;
}

static void a_wrong_mapping(void **state)
{
	(void)state;
	cpu_set_t processors;
	if (sched_getaffinity(0, sizeof processors, &processors) || CPU_COUNT(&processors) < 2)
		skip(); /* nothing is run apart there */
	heddle_arena *arena = heddle_arena_new();
	const char *said[2];
	const long none = pages_of_children();
	assert_int_equal(passed(arena, false, true, &said[0]), -1);
	assert_int_equal(pages_of_children(), none);
	assert_int_equal(passed(arena, true, false, &said[1]), 0);
	const long one = pages_of_children();
	assert_true(one > none); /* there was a copy */
	assert_int_equal(passed(arena, true, true, &said[1]), -1);
	assert_true(pages_of_children() > one);
	assert_non_null(strstr(said[0], "E0970"));
	assert_string_equal(said[0], said[1]);
	heddle_arena_free(arena);
}

/* Sizes are open, so that the passes before the proof take long enough for it to be run apart.  Text and proof of what is compiled; NULL where nothing is. */
static const char *compiled(heddle_arena *arena, bool apart, unsigned long operations, int *errors)
{
	heddle_ctx *ctx = heddle_ctx_new();
	heddle_target target;
	heddle_module *module = heddle_module_parse(
		ctx, "test", "def f(float(M, K) A, float(K, N) B) -> (C) { C(i, j) +=! A(i, k) * B(k, j) C(i, j) = fmax(C(i, j), 0) }", NULL);
	assert_non_null(module);
	assert_int_equal(heddle_target_parse(ctx, "h100", &target), 0);
	heddle_program *p = heddle_compile(ctx, module->definition[0], &target,
					   &(heddle_compile_options){.apart = apart, .max_operations = operations});
	heddle_text text = {0};
	if (p)
		heddle_program_print(p, &text);
	const char *all = p ? heddle_arena_strdup(arena, heddle_text_str(&text)) : NULL;
	*errors = heddle_error_count(ctx);
	heddle_text_free(&text);
	heddle_program_free(p);
	heddle_module_free(module);
	heddle_ctx_free(ctx);
	return all;
}

/* What the proof found out of sets that generate asks, generate does not compute again: with the proof apart it needs a few operations
 * more, or less, and a bound between the two is reached in one of them only. */
static void the_same_program(void **state)
{
	enum { BETWEEN = 2 };
	(void)state;
	heddle_arena *arena = heddle_arena_new();
	int proved = 0, unproved = 0, refused = 0, differ = 0;
	for (unsigned long bound = 15000; bound < 600000; bound = bound * 6 / 5) { /* one pass or another reaches the lower ones */
		int errors[2];
		const char *one = compiled(arena, false, bound, &errors[0]), *other = compiled(arena, true, bound, &errors[1]);
		if (errors[0] != errors[1] || !one != !other || (one && strcmp(one, other))) {
			differ++;
			continue;
		}
		refused += !one;
		unproved += one && strstr(one, "\"not proved: limit");
		proved += one && strstr(one, "\"proved\"");
	}
	assert_true(proved > 0 && unproved > BETWEEN && refused > 0);
	assert_in_range(differ, 0, BETWEEN);
	heddle_arena_free(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(a_wrong_mapping), cmocka_unit_test(the_same_program)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
