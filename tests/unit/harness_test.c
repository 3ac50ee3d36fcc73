/* harness/: the engine of `heddle test` on hand-made programs and kernels: what is right passes, each fault is reported as
 * what it is, and the exit code follows.
 * SPDX-License-Identifier: MIT
 */
#include "harness/test.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char layer[] = "#: sizes N=70\n"
			    "#: expect launches=1 barriers=0\n"
			    "def twice(float(N) A) -> (C) { C(i) = A(i) * 2 }\n";

#define HEAD                                                                                                            \
	"program twice target opencl:cpu warp 1\nsize N 0..2147483647\nbuffer input A float32 [N] align 4\n"            \
	"buffer output C float32 [N] align 4 unread\n"                                                                  \
	"launch twice_0 grid (N + 63) / 64 threads 64 args A, C {\n	let int32 i = block * 64 + thread\n"
#define GUARDED(value) HEAD "	if i < int32(N) {\n		C[i] = " value " @3\n	}\n}\n"

typedef struct bench {
	heddle_ctx *ctx;
	char folder[512];
	heddle_target target;
	heddle_test_options options;
	heddle_test_report *report;
} bench;

/* "Compiles" by parsing the program that `user` holds. */
static heddle_program *fake(heddle_ctx *ctx, const heddle_definition *definition, const heddle_target *target, const char *config,
			    bool small, void *user)
{
	(void)definition;
	(void)target;
	(void)config;
	(void)small;
	if (!user) {
		heddle_error(ctx, 601, NULL, "no program today");
		return NULL;
	}
	return heddle_program_parse(ctx, "fake", user);
}

static const char *path_of(bench *b, const char *name)
{
	return heddle_arena_printf(b->report->arena, "%s/%s", b->folder, name);
}

static void write_text(bench *b, const char *name, const char *text)
{
	assert_int_equal(heddle_file_write(b->ctx, path_of(b, name), text, strlen(text)), 0);
}

static void begin(bench *b, const char *text, const char *program, const char *const *level, int n_level)
{
	memset(b, 0, sizeof(*b));
	b->ctx = heddle_ctx_new();
	b->report = heddle_test_report_new();
	assert_int_equal(heddle_dir_temporary(b->ctx, b->folder), 0);
	assert_int_equal(heddle_target_parse(b->ctx, "opencl:cpu", &b->target), 0);
	union {
		const char *in;
		void *out;
	} user = {program};
	b->options = (heddle_test_options){.n_target = 1, .target = &b->target, .n_level = n_level, .level = level, .compile = fake,
					   .user = user.out, .timeout = 30};
	write_text(b, "twice.tc", text);
}

static int finish(bench *b)
{
	int code = heddle_test_exit_code(b->report, &b->options);
	heddle_dir_remove(b->folder);
	heddle_test_report_free(b->report);
	heddle_ctx_free(b->ctx);
	return code;
}

static const char *const interpret[] = {"interpret"};

static const heddle_test_row *find_row(const bench *b, const char *test, const char *level, heddle_test_verdict verdict)
{
	for (int k = 0; k < b->report->n_row; ++k) {
		const heddle_test_row *row = &b->report->row[k];
		if (row->verdict == verdict && !strncmp(row->test, test, strlen(test)) &&
		    !strncmp(row->level, level, strlen(level)))
			return row;
	}
	heddle_text text = {0};
	heddle_test_print(b->report, &text);
	fail_msg("no such row: %s %s\n%s", test, level, heddle_text_str(&text));
	return NULL;
}

static void right_program(void **state)
{
	(void)state;
	bench b;
	begin(&b, layer, GUARDED("A[i] * 2.0"), interpret, 1);
	assert_int_equal(heddle_test_path(b.ctx, b.report, b.folder, &b.options), 0);
	assert_int_equal(b.report->count[HEDDLE_TEST_FAIL] + b.report->count[HEDDLE_TEST_FAULT], 0);
	find_row(&b, "N=70", "interpret", HEDDLE_TEST_PASS);
	find_row(&b, "N=70, whole numbers", "interpret", HEDDLE_TEST_PASS);
	find_row(&b, "N=1", "interpret", HEDDLE_TEST_PASS);
	find_row(&b, "coverage", "interpret", HEDDLE_TEST_PASS);
	find_row(&b, "expect launches=1", "generate", HEDDLE_TEST_PASS);
	/* Reports: every row once, and well-formed. */
	json_t *json = heddle_test_json(b.report);
	assert_int_equal(json_array_size(json_object_get(json, "rows")), b.report->n_row);
	json_decref(json);
	heddle_text junit = {0};
	heddle_test_junit(b.report, &junit);
	int cases = 0;
	for (const char *at = heddle_text_str(&junit); (at = strstr(at, "<testcase")); ++at)
		++cases;
	assert_int_equal(cases, b.report->n_row);
	heddle_text_free(&junit);
	assert_int_equal(finish(&b), HEDDLE_EXIT_FINE);
}

static void faults_are_found(void **state)
{
	(void)state;
	static const struct {
		const char *program, *test, *level, *message;
	} cases[] = {
		{GUARDED("A[i] * 3.0"), "N=70", "interpret", "expected"},
		{GUARDED("A[i] + 1.0"), "N=70, whole numbers", "interpret", "expected"},
		{HEAD "	C[i] = A[i] * 2.0 @3\n}\n", "N=70", "interpret", "bounds"},
		{HEAD "	if i < int32(N) - 1 {\n		C[i] = A[i] * 2.0\n	}\n}\n", "N=70", "interpret", "never written"},
		{HEAD "	if i < int32(N) {\n		if i < 0 {\n			C[0_int32] = 1.0\n		}\n		C[i] = A[i] * 2.0\n	}\n}\n",
		 "coverage", "interpret", "ran in no case"},
		{NULL, "", "generate", "no program today [E0601]"},
	};
	for (size_t k = 0; k < HEDDLE_COUNT(cases); ++k) {
		bench b;
		begin(&b, layer, cases[k].program, interpret, 1);
		assert_int_equal(heddle_test_path(b.ctx, b.report, path_of(&b, "twice.tc"), &b.options), 0);
		const heddle_test_row *row = find_row(&b, cases[k].test, cases[k].level, HEDDLE_TEST_FAIL);
		if (!row->message || !strstr(row->message, cases[k].message))
			fail_msg("%d: %s", (int)k, row->message);
		assert_int_equal(finish(&b), HEDDLE_EXIT_FAILED);
	}
}

static void faults_of_the_test(void **state)
{
	(void)state;
	bench b;
	/* Cancellation to nothing, in all cases: a kernel that computes nothing passes each. */
	begin(&b, "#: sizes N=70\ndef twice(float(N) A) -> (C) { t(i) = A(i) * 100001 / 3\n C(i) = t(i) - A(i) * 100001 / 3 }\n", GUARDED("0.0"), interpret,
	      1);
	assert_int_equal(heddle_test_path(b.ctx, b.report, path_of(&b, "twice.tc"), &b.options), 0);
	find_row(&b, "N=70", "interpret", HEDDLE_TEST_PASS);
	find_row(&b, "C", "reference", HEDDLE_TEST_FAULT);
	assert_int_equal(finish(&b), HEDDLE_EXIT_FAILED);
	/* A wrong expectation, and one that is unknown. */
	begin(&b, "#: sizes N=70\n#: expect launches=2 kernels=1\ndef twice(float(N) A) -> (C) { C(i) = A(i) * 2 }\n",
	      GUARDED("A[i] * 2.0"), interpret, 1);
	assert_int_equal(heddle_test_path(b.ctx, b.report, path_of(&b, "twice.tc"), &b.options), 0);
	find_row(&b, "expect launches=2", "generate", HEDDLE_TEST_FAIL);
	find_row(&b, "expect kernels=1", "generate", HEDDLE_TEST_FAULT);
	assert_int_equal(finish(&b), HEDDLE_EXIT_FAILED);
}

/* `#: allow zero`: an output that cancels in all cases is meant; one that does not, and names that are no output, are faults. */
static void declared_zero(void **state)
{
	(void)state;
	static const char cancelling[] = "t(i) = A(i) * 100001 / 3\n C(i) = t(i) - A(i) * 100001 / 3", doubling[] = "C(i) = A(i) * 2";
	static const struct {
		const char *line, *value, *program, *fault, *message;
	} cases[] = {
		{"allow zero C", cancelling, GUARDED("0.0"), NULL, NULL},
		{"allow zero C", doubling, GUARDED("A[i] * 2.0"), "C", "'#: allow zero C' does not hold: C[0] is "},
		{"allow zero D", cancelling, GUARDED("0.0"), "allow", "'D' is no output of 'twice' [E0717]"},
		{"allow zero A", cancelling, GUARDED("0.0"), "allow", "'A' is no output of 'twice' [E0717]"},
		{"allow zero", cancelling, GUARDED("0.0"), "allow", "needs the name of an output [E0717]"},
		{"allow nought C", cancelling, GUARDED("0.0"), "allow", "'nought' cannot be allowed"},
	};
	for (size_t k = 0; k < HEDDLE_COUNT(cases); ++k) {
		bench b;
		char text[300];
		snprintf(text, sizeof(text), "#: sizes N=70\n#: %s\ndef twice(float(N) A) -> (C) { %s }\n", cases[k].line, cases[k].value);
		begin(&b, text, cases[k].program, interpret, 1);
		assert_int_equal(heddle_test_path(b.ctx, b.report, path_of(&b, "twice.tc"), &b.options), 0);
		assert_int_equal(b.report->count[HEDDLE_TEST_FAULT], cases[k].fault ? 1 : 0);
		const heddle_test_row *row = cases[k].fault ? find_row(&b, cases[k].fault, "reference", HEDDLE_TEST_FAULT) : NULL;
		if (row && !strstr(row->message, cases[k].message))
			fail_msg("%s", row->message);
		assert_int_equal(finish(&b), cases[k].fault ? HEDDLE_EXIT_FAILED : HEDDLE_EXIT_FINE);
	}
}

static void sources(void **state)
{
	(void)state;
	bench b;
	begin(&b, "def twice(float(N) A) -> (C) { C(i) = B(i) }\n", GUARDED("A[i]"), interpret, 1);
	assert_int_equal(heddle_test_path(b.ctx, b.report, path_of(&b, "twice.tc"), &b.options), -1);
	int code = heddle_diagnostics(b.ctx)->code;
	assert_int_equal(finish(&b), HEDDLE_EXIT_SOURCE);
	/* A file that must be refused: with this code it passes, with another it fails. */
	for (int wrong = 0; wrong < 2; ++wrong) {
		char text[200];
		snprintf(text, sizeof(text), "#: error E%04d\ndef twice(float(N) A) -> (C) { C(i) = B(i) }\n", code + wrong);
		begin(&b, text, GUARDED("A[i]"), interpret, 1);
		b.options.n_level = 0;
		assert_int_equal(heddle_test_path(b.ctx, b.report, path_of(&b, "twice.tc"), &b.options), 0);
		find_row(&b, "error", "check", wrong ? HEDDLE_TEST_FAIL : HEDDLE_TEST_PASS);
		assert_int_equal(finish(&b), wrong ? HEDDLE_EXIT_FAILED : HEDDLE_EXIT_FINE);
	}
	/* ... and one that should be refused but is not. */
	begin(&b, "#: error E0101\ndef twice(float(N) A) -> (C) { C(i) = A(i) }\n", GUARDED("A[i]"), interpret, 1);
	assert_int_equal(heddle_test_path(b.ctx, b.report, path_of(&b, "twice.tc"), &b.options), 0);
	assert_int_equal(finish(&b), HEDDLE_EXIT_FAILED);
}

static void required_levels(void **state)
{
	(void)state;
	/* No runner of this name takes an OpenCL program: asked for by name, that is an error, not a pass. */
	static const char *const level[] = {"interpret", "emulate"};
	bench b;
	begin(&b, layer, GUARDED("A[i] * 2.0"), level, 2);
	assert_int_equal(heddle_test_path(b.ctx, b.report, path_of(&b, "twice.tc"), &b.options), 0);
	assert_int_equal(finish(&b), HEDDLE_EXIT_MISSING);
}

static const char kernel[] = "extern \"C\" __global__ void twice(const float *A, float *C, long long N)\n{\n"
			     "	long long i = blockIdx.x * 64 + threadIdx.x;\n	if (i < N)\n		C[i] = %s;\n}\n";
static const char manifest[] =
	"{\"schema\": \"heddle.manifest/1\", \"definition\": \"twice\", \"backend\": \"cuda\", \"arch\": \"h100\","
	" \"source\": \"twice.cu\", \"warp\": 32, \"workspace_bytes\": 0, \"sizes\": {\"N\": {\"min\": 1, \"max\": 100000}},\n"
	" \"arguments\": [{\"name\": \"A\", \"role\": \"input\", \"type\": \"float32\", \"shape\": [\"N\"], \"align\": 4},\n"
	" {\"name\": \"C\", \"role\": \"output\", \"type\": \"float32\", \"shape\": [\"N\"], \"align\": 4},\n"
	" {\"name\": \"N\", \"role\": \"size\", \"type\": \"int64\"}],\n"
	" \"launches\": [{\"kernel\": \"twice\", \"grid\": [\"(N+63)/64\", 1, 1], \"block\": [64, 1, 1],"
	" \"dynamic_shared_bytes\": 0, \"arguments\": [\"A\", \"C\", {\"size\": \"N\"}]}]}\n";

static void hand_written(void **state)
{
	(void)state;
	static const char *const level[] = {"emulate"};
	static const struct {
		const char *value, *message;
	} cases[] = {{"A[i] * 2", NULL}, {"A[i] * 2.5f", "expected"}, {"A[i + 1] * 2", "past the end"}};
	for (size_t k = 0; k < HEDDLE_COUNT(cases); ++k) {
		bench b;
		char text[400];
		begin(&b, layer, NULL, level, 1);
		snprintf(text, sizeof(text), kernel, cases[k].value);
		write_text(&b, "twice.cu", text);
		write_text(&b, "twice.json", manifest);
		const char *impl = path_of(&b, "twice.json");
		b.options.n_impl = 1;
		b.options.impl = &impl;
		if (heddle_test_path(b.ctx, b.report, path_of(&b, "twice.tc"), &b.options) < 0)
			fail_msg("%s", heddle_ctx_messages(b.ctx));
		if (!b.report->n_row && b.report->n_missing) {
			finish(&b);
			skip(); /* no host compiler */
		}
		const heddle_test_row *row = find_row(&b, "N=70", "emulate", cases[k].message ? HEDDLE_TEST_FAIL : HEDDLE_TEST_PASS);
		if (cases[k].message && (!row->message || !strstr(row->message, cases[k].message)))
			fail_msg("%s", row->message);
		if (!cases[k].message) {
			find_row(&b, "N=70, misaligned", "emulate", HEDDLE_TEST_PASS);
			for (int r = 0; r < b.report->n_row; ++r) /* the manifest is for N >= 1 */
				assert_null(strstr(b.report->row[r].test, "N=0"));
		}
		assert_int_equal(finish(&b), cases[k].message ? HEDDLE_EXIT_FAILED : HEDDLE_EXIT_FINE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(right_program),      cmocka_unit_test(faults_are_found),
		cmocka_unit_test(faults_of_the_test), cmocka_unit_test(declared_zero), cmocka_unit_test(sources),
		cmocka_unit_test(required_levels),    cmocka_unit_test(hand_written),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
