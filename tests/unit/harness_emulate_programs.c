/* Printed programs under the emulator: what the printers write for CUDA and HIP computes what the interpreter computes, and
 * uses nothing that the shim lacks.
 * SPDX-License-Identifier: MIT
 */
#include "harness/emulate.h"
#include "harness/interpret.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const heddle_runner *emulator(const char *backend)
{
	for (const heddle_runner *const *r = heddle_runners; *r; r++)
		if (!strcmp((*r)->level, "emulate") && !strcmp((*r)->backend, backend))
			return *r;
	fail_msg("no emulator for %s", backend);
	return NULL;
}

#define FOLDER HEDDLE_SOURCE_DIR "/tests/golden/"

/* Sizes as the program's ranges allow: a few tiles and a remainder. */
static void choose_sizes(const heddle_program *p, int64_t *size)
{
	for (int i = 0; i < p->n_size; i++) {
		int64_t divisor = p->size[i].divisor > 0 ? p->size[i].divisor : 1, want = 70 / divisor * divisor;
		want = want < divisor ? divisor : want;
		size[i] = want < p->size[i].min ? p->size[i].min : want > p->size[i].max ? p->size[i].max : want;
	}
}

static heddle_array *make_array(const heddle_program *p, const heddle_buffer *b, const int64_t *size, bool fill)
{
	int64_t shape[HEDDLE_MAX_RANK];
	(void)p;
	for (int d = 0; d < b->rank; d++)
		assert_int_equal(heddle_value_evaluate(b->extent[d], size, &shape[d]), 0);
	heddle_array *a = heddle_array_new(b->type, b->rank, shape);
	if (fill)
		heddle_array_fill_uniform(a, (uint64_t)b->position + 5, 0.25, b->type == HEDDLE_BOOL ? 1.0 : 3.0);
	return a;
}

static bool is_argument(const heddle_buffer *b)
{
	return b->role == HEDDLE_BUFFER_INPUT || b->role == HEDDLE_BUFFER_OUTPUT || b->role == HEDDLE_BUFFER_INOUT ||
	       b->role == HEDDLE_BUFFER_SCALAR;
}

static void compare(const char *name, const char *target, const heddle_buffer *b, const heddle_array *want,
		    const heddle_array *got)
{
	for (int64_t i = 0; i < heddle_array_count(want); i++) {
		long double x = heddle_array_get(want, i), y = heddle_array_get(got, i);
		long double bound = !heddle_type_is_float(b->type) ? 0 :
				    heddle_type_size(b->type) == 2 ? 1e-2L : b->type == HEDDLE_FLOAT32 ? 1e-4L : 1e-10L;
		bool equal = x == y || (x != x && y != y) || fabsl(x - y) <= bound * (1 + fabsl(x));
		if (!equal)
			fail_msg("%s on %s: %s[%lld] is %Lg, not %Lg", name, target, b->name, (long long)i, y, x);
	}
}

static void run_program(const char *file, const char *target_name)
{
	heddle_ctx *ctx = heddle_ctx_new();
	heddle_arena *arena = heddle_arena_new();
	char *text = heddle_file_read(ctx, heddle_arena_printf(arena, FOLDER "%s", file), NULL);
	heddle_program *p = text ? heddle_program_parse(ctx, file, text) : NULL;
	heddle_target target;
	if (!p || heddle_target_parse(ctx, target_name, &target) < 0)
		fail_msg("%s", heddle_ctx_messages(ctx));
	heddle_program_number(p);
	int64_t size[32];
	choose_sizes(p, size);
	heddle_array *array[64] = {NULL}, *wanted[64] = {NULL};
	for (int i = 0; i < p->n_buffer; i++)
		if (is_argument(p->buffer[i])) {
			array[i] = make_array(p, p->buffer[i], size, p->buffer[i]->role != HEDDLE_BUFFER_OUTPUT);
			wanted[i] = heddle_array_copy(array[i]);
		}
	heddle_interpret interpret = {.arena = arena, .program = p, .size = size, .array = wanted};
	if (heddle_interpret_run(ctx, &interpret) < 0)
		fail_msg("%s", heddle_ctx_messages(ctx));
	heddle_emit_options options = {.base = "program", .header = p->name};
	heddle_text source = {0};
	heddle_manifest *m = heddle_manifest_make(ctx, &target, HEDDLE_ONE_VARIANT(p), &options);
	if (!m || heddle_source_print(ctx, &target, HEDDLE_ONE_VARIANT(p), &options, &source) < 0)
		fail_msg("%s", heddle_ctx_messages(ctx));
	heddle_array *argument[64] = {NULL};
	for (int k = 0; k < m->n_argument; k++)
		for (int i = 0; i < p->n_buffer; i++)
			if (!strcmp(m->argument[k].name, p->buffer[i]->name))
				argument[k] = array[i];
	int64_t value[32] = {0};
	for (int k = 0; k < m->n_size; k++)
		for (int i = 0; i < p->n_size; i++)
			if (!strcmp(m->size[k].name, p->size[i].name))
				value[k] = size[i];
	heddle_run run = {.arena = arena, .manifest = m, .source = heddle_text_str(&source), .source_path = "program",
			  .size = value, .argument = argument, .seed = 3};
	const heddle_runner *runner = emulator(m->backend);
	if (runner->run(ctx, &run) < 0)
		fail_msg("%s", heddle_ctx_messages(ctx));
	if (run.verdict == HEDDLE_UNSUPPORTED || (run.verdict != HEDDLE_PASS) != (interpret.n_finding > 0))
		fail_msg("%s on %s: %s; the interpreter has %d findings\n%s", file, target_name, run.message, interpret.n_finding,
			 interpret.n_finding ? interpret.finding[0].text : "");
	for (int i = 0; i < p->n_buffer; i++) {
		if (array[i] && !interpret.n_finding)
			compare(file, target_name, p->buffer[i], wanted[i], array[i]);
		if (array[i]) {
			heddle_array_free(array[i]);
			heddle_array_free(wanted[i]);
		}
	}
	free(text);
	heddle_text_free(&source);
	heddle_manifest_free(m);
	heddle_program_free(p);
	heddle_arena_free(arena);
	heddle_ctx_free(ctx);
}

static void test_programs(void **state)
{
	(void)state;
	static const char *const file[] = {"product.program", "kinds.program", "functions.program",
					   "functions64.program"};
	for (size_t i = 0; i < HEDDLE_COUNT(file); i++) {
		run_program(file[i], "cuda:h100");
		run_program(file[i], "hip:mi300x");
	}
}

int main(void)
{
	heddle_ctx *ctx = heddle_ctx_new();
	const char *why = NULL;
	int here = heddle_emulate_available(ctx, &why);
	if (!here)
		fprintf(stderr, "skipped: %s\n", why);
	heddle_ctx_free(ctx);
	if (!here)
		return 77;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_programs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
