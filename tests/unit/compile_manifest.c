/* Manifests: made from a program, printed and read back, the shipped schema, every kind of wrong manifest; formulas.
 * SPDX-License-Identifier: MIT
 */
#include "base/process.h"
#include "compile/manifest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char text[] =
	"program two target cuda:h200 warp 32\nconfig \"k0: \\\"x\\\"\"\nproof \"proved under preconditions\"\n"
	"size M 1..8192\nsize K 64..64\nsize N 16..4096 *16\n"
	"buffer input A float32 [M][K] align 16\nbuffer input B float16 [K][N] align 16\nbuffer output C float32 [M][N] align 16\n"
	"buffer scalar eps float32 align 4\nbuffer temporary t0 float32 [M] align 16 offset 0\n"
	"buffer temporary t1 float32 [N - 1] align 16 offset floor_div(M * 4 + 15, 16) * 16\n"
	"buffer shared s float32 [64] align 4\n"
	"workspace floor_div(M * 4 + 15, 16) * 16 + N * 4\n"
	"require N % 32 == 0 || M > 64\n"
	"launch two_0 grid floor_div(M + 127, 128) threads 128 args A, B, t0 {\n"
	"t0[thread] = A[thread][0] * eps[] + float32(B[0][thread])\n}\n"
	"launch two_1 grid floor_div(M - 1, 128) + 1 threads 64 args A, C, t0, t1 shared s {\n"
	"C[block * 4 : 4] = A[block * 4 : 4]\nt1[0] = t0[int32(M) - 1]\n}\n";

static heddle_manifest *make(heddle_ctx *ctx, const char *target_text)
{
	heddle_target target;
	assert_int_equal(heddle_target_parse(ctx, target_text, &target), 0);
	heddle_program *program = heddle_program_parse(ctx, "test", text);
	if (!program)
		fail_msg("%s", heddle_ctx_messages(ctx));
	heddle_emit_options options = {.base = "two__x", .header = "two"};
	heddle_manifest *m = heddle_manifest_make(ctx, &target, HEDDLE_ONE_VARIANT(program), &options);
	heddle_program_free(program);
	if (!m)
		fail_msg("%s", heddle_ctx_messages(ctx));
	return m;
}

static bool listed(const heddle_manifest *m, const char *set, const char *word)
{
	const heddle_option_set options = heddle_manifest_option_set(m, set);
	for (int i = 0; i < options.n; i++)
		if (!strcmp(options.option[i], word))
			return true;
	return false;
}

/* The policy of a program decides the options of its manifest and what its source refuses. */
static void policies(void **state)
{
	(void)state;
	static const char *const names[] = {"cuda:h200", "hip:mi300x", "opencl:cpu"};
	static const char scalar[] = "program one policy \"relaxed\"\nbuffer output C float32 [4] align 16\n"
				     "launch one_0 grid 1 threads 1 args C {\nC[0] = 1.0\n}\n";
	for (int relaxed = 0; relaxed < 2; relaxed++) {
		for (size_t i = 0; i < HEDDLE_COUNT(names); i++) {
			heddle_ctx *ctx = heddle_ctx_new();
			heddle_target target;
			heddle_text source = {0};
			assert_int_equal(heddle_target_parse(ctx, names[i], &target), 0);
			heddle_program *p = heddle_program_parse(ctx, "test", scalar);
			if (!p)
				fail_msg("%s", heddle_ctx_messages(ctx));
			assert_int_equal(p->policy, HEDDLE_POLICY_RELAXED);
			p->policy = relaxed ? HEDDLE_POLICY_RELAXED : HEDDLE_POLICY_IEEE;
			heddle_emit_options options = {.base = "one", .header = "one"};
			heddle_manifest *m = heddle_manifest_make(ctx, &target, HEDDLE_ONE_VARIANT(p), &options);
			assert_non_null(m);
			assert_string_equal(m->policy, relaxed ? "relaxed" : "ieee");
			if (i == 0)
				assert_int_equal(listed(m, "nvrtc", "--ftz=true"), relaxed);
			if (i == 1)
				assert_int_equal(listed(m, "hipcc", "-fgpu-flush-denormals-to-zero"), relaxed);
			if (i == 2)
				assert_int_equal(strstr(heddle_manifest_option_set(m, "opencl").option[0], "-cl-denorms-are-zero") != NULL, relaxed);
			assert_int_equal(heddle_source_print(ctx, &target, HEDDLE_ONE_VARIANT(p), &options, &source), 0);
			assert_non_null(strstr(heddle_text_str(&source), "#error"));
			assert_int_equal(strstr(heddle_text_str(&source), "// policy:  relaxed") != NULL, relaxed);
			heddle_text_free(&source);
			heddle_manifest_free(m);
			heddle_program_free(p);
			heddle_ctx_free(ctx);
		}
	}
}

static int64_t value_of(heddle_ctx *ctx, const heddle_manifest *m, heddle_formula formula, const int64_t *size)
{
	int64_t result;
	assert_int_equal(heddle_formula_evaluate(ctx, formula, m->n_size, m->size, size, &result), 0);
	return result;
}

static void from_program(void **state)
{
	(void)state;
	heddle_ctx *ctx = heddle_ctx_new();
	heddle_manifest *m = make(ctx, "cuda:h200");
	const int64_t size[] = {1000, 64, 48}, none[] = {0, 64, 16};
	static const char *const names[] = {"A", "B", "C", "eps", "M", "N", "t0", "t1"};
	assert_int_equal(m->n_argument, HEDDLE_COUNT(names));
	for (int i = 0; i < m->n_argument; i++)
		assert_string_equal(m->argument[i].name, names[i]);
	assert_string_equal(m->source, "two__x.cu");
	assert_string_equal(m->arch, "h200");
	assert_int_equal(m->warp, 32);
	assert_int_equal(m->argument[0].align, 16); /* it is read by vectors */
	assert_int_equal(m->argument[1].align, 2);  /* it is not */
	assert_string_equal(m->argument[1].shape[0], "64");
	assert_int_equal(value_of(ctx, m, m->workspace_bytes, size), 4000 + 192);
	assert_int_equal(value_of(ctx, m, m->argument[7].offset, size), 4000);
	assert_int_equal(value_of(ctx, m, m->launch[0].grid[0], size), 8);
	assert_int_equal(value_of(ctx, m, m->launch[1].grid[0], size), 8);
	assert_int_equal(value_of(ctx, m, m->launch[1].grid[0], none), 0); /* rounded down, not toward zero */
	assert_int_equal(value_of(ctx, m, m->precondition[0], size), 1);
	assert_int_equal(value_of(ctx, m, m->precondition[0], (const int64_t[]){3, 64, 48}), 0);
	/* tensors, the scalar, and the sizes that are used and not fixed */
	static const char *const first[] = {"A", "B", "t0", "eps", "N"};
	assert_int_equal(m->launch[0].n_argument, HEDDLE_COUNT(first));
	for (size_t i = 0; i < HEDDLE_COUNT(first); i++) {
		assert_string_equal(m->launch[0].argument[i].name, first[i]);
		assert_int_equal(m->launch[0].argument[i].size, i == 4);
		assert_false(m->launch[0].argument[i].byte_offset);
	}
	heddle_manifest_free(m);
	m = make(ctx, "opencl:cpu");
	assert_int_equal(m->launch[0].n_argument, 8);
	assert_string_equal(m->launch[0].argument[1].name, "A");
	assert_true(m->launch[0].argument[1].byte_offset);
	assert_int_equal(m->argument[0].align, 4); /* vload needs no more */
	assert_string_equal(heddle_manifest_option_set(m, "opencl").option[0], "-cl-std=CL1.2 -w");
	heddle_manifest_free(m);
	heddle_ctx_free(ctx);
}

static void round_trip(void **state)
{
	(void)state;
	static const char *const targets[] = {"cuda:h200", "hip:mi300x", "opencl:cpu"};
	heddle_ctx *ctx = heddle_ctx_new();
	for (size_t k = 0; k < HEDDLE_COUNT(targets); k++) {
		heddle_text once = {0}, twice = {0};
		heddle_manifest *m = make(ctx, targets[k]);
		heddle_manifest_print(m, &once);
		heddle_manifest *again = heddle_manifest_parse(ctx, "m.json", heddle_text_str(&once));
		if (!again)
			fail_msg("%s", heddle_ctx_messages(ctx));
		heddle_manifest_print(again, &twice);
		assert_string_equal(heddle_text_str(&once), heddle_text_str(&twice));
		assert_string_equal(again->path, "m.json");
		assert_string_equal(again->config, "k0: \"x\"");
		heddle_manifest_free(m);
		heddle_manifest_free(again);
		heddle_text_free(&once);
		heddle_text_free(&twice);
	}
	heddle_ctx_free(ctx);
}

/* ---- reading -------------------------------------------------------------------------------------------------------------- */

#define HEAD "{\"schema\": \"heddle.manifest/1\", \"backend\": \"cuda\", \"source\": \"a.cu\""
#define LAUNCH "\"launches\": [{\"kernel\": \"k\", \"grid\": [\"(N+1)/2\"], \"block\": [32], \"arguments\": [\"x\", {\"size\": \"N\", \"type\": \"int32\"}]}]"
#define ARGUMENTS "\"arguments\": [{\"name\": \"x\", \"role\": \"inout\", \"type\": \"float32\", \"shape\": [\"N\"]}]"

static const char by_hand[] = HEAD ", \"notes\": [\"for people\"], \"defines\": {\"B\": 128, \"T\": \"unsigned char\", \"PLAIN\": \"\"}, "
				   "\"include_paths\": [\"inc\", \"/abs\"], \"sizes\": {\"N\": {\"max\": 64}, \"K\": 3}, \"arguments\": [{\"name\": \"x\", \"role\": \"inout\", "
				   "\"type\": \"float32\", \"shape\": [\"N\", 4], \"strides\": [\"N*4\", 1], \"align\": 8, \"range\": [0, \"N-1\"]}, "
				   "{\"name\": \"eps\", \"role\": \"scalar\", \"type\": \"float64\", \"value\": 0.25}], "
				   "\"launches\": [{\"kernel\": \"k\", \"grid\": [\"max(1,N/2)\", 2], \"block\": [32, 2], \"dynamic_shared_bytes\": \"K*4\", "
				   "\"arguments\": [\"x\", \"eps\", {\"size\": \"N\", \"type\": \"int32\"}, \"K\", {\"literal\": 2.5, \"type\": \"float32\"}, "
				   "{\"literal\": \"inf\", \"type\": \"float64\"}, {\"literal\": 7}, {\"local\": \"4*N\"}, {\"formula\": \"(N+1)/2\", \"type\": \"int32\"}]}]}";

static void read_by_hand(void **state)
{
	(void)state;
	heddle_ctx *ctx = heddle_ctx_new();
	heddle_manifest *m = heddle_manifest_parse(ctx, "a.json", by_hand);
	if (!m)
		fail_msg("%s", heddle_ctx_messages(ctx));
	assert_int_equal(m->n_size, 2);
	assert_int_equal(m->size[0].min, 0);
	assert_int_equal(m->size[0].max, 64);
	assert_int_equal(m->size[0].divisor, 1);
	assert_int_equal(m->size[1].min, 3);
	assert_string_equal(m->argument[0].strides[0], "N*4");
	assert_string_equal(m->workspace_bytes, "0");
	assert_int_equal(m->warp, 1);
	const heddle_manifest_launch *launch = &m->launch[0];
	assert_int_equal(launch->block[1], 2);
	assert_int_equal(launch->block[2], 1);
	assert_string_equal(launch->grid[2], "1");
	assert_int_equal(launch->n_argument, 9);
	assert_string_equal(launch->argument[8].formula, "(N+1)/2");
	assert_string_equal(launch->argument[7].local_bytes, "4*N");
	assert_string_equal(m->argument[0].high, "N-1");
	assert_string_equal(m->argument[1].value, "0.25");
	int n;
	m->path = "some/folder/a.json";
	const char **flag = heddle_manifest_flags(m->arena, m, "#include \"x.h\"", &n);
	static const char *const flags[] = {"-DB=128", "-DT=unsigned char", "-DPLAIN", "-Isome/folder/inc", "-I/abs", "-Isome/folder/"};
	assert_int_equal(n, HEDDLE_COUNT(flags));
	for (int i = 0; i < n; i++)
		assert_string_equal(flag[i], flags[i]);
	heddle_manifest_flags(m->arena, m, "", &n);
	assert_int_equal(n, 5);
	assert_true(launch->argument[2].size && launch->argument[2].type == HEDDLE_INT32);
	assert_true(launch->argument[3].size && launch->argument[3].type == HEDDLE_INT64);
	assert_true(!launch->argument[4].name && launch->argument[4].literal == 2.5 && launch->argument[4].type == HEDDLE_FLOAT32);
	assert_true(launch->argument[5].literal > 1e308);
	heddle_manifest_free(m);
	heddle_ctx_free(ctx);
}

static const struct {
	const char *json, *says;
	int code;
	bool schema; /* the schema finds it, too */
} wrong[] = {
	{"{", "not JSON", 783, false},
	{HEAD ", " HEAD "}", "not JSON", 783, false},
	{"[]", "a manifest is a JSON object", 784, true},
	{"{\"schema\": \"heddle.manifest/2\", \"backend\": \"cuda\", \"source\": \"a\", " ARGUMENTS ", " LAUNCH "}", "`schema` must be", 784, true},
	{HEAD ", \"sizes\": {\"N\": {}}, \"launch\": [], " ARGUMENTS ", " LAUNCH "}", "did you mean `launches`?", 784, true},
	{HEAD ", \"sizes\": {\"N\": {\"min\": -1}}, " ARGUMENTS ", " LAUNCH "}", "`min` must be a whole number", 784, true},
	{HEAD ", \"sizes\": {\"N\": {\"min\": 5, \"max\": 4}}, " ARGUMENTS ", " LAUNCH "}", "its minimum is above", 784, false},
	{HEAD ", \"sizes\": {\"N\": {\"divisor\": 0}}, " ARGUMENTS ", " LAUNCH "}", "`divisor` must be", 784, true},
	{HEAD ", " ARGUMENTS ", " LAUNCH "}", "a name that is no size", 785, false},
	{HEAD ", \"sizes\": {\"N\": 4}, \"arguments\": 3, " LAUNCH "}", "`arguments` must be a list", 784, true},
	{HEAD ", \"sizes\": {\"N\": 4}, " ARGUMENTS "}", "`launches` must be a list", 784, true},
	{HEAD ", \"sizes\": {\"N\": 4}, " ARGUMENTS ", \"launches\": []}", "at least one launch", 784, true},
	{HEAD ", \"sizes\": {\"N\": 4}, \"arguments\": [{\"name\": \"x\", \"role\": \"in\", \"type\": \"float32\"}], " LAUNCH "}", "the role must be", 784, true},
	{HEAD ", \"sizes\": {\"N\": 4}, \"arguments\": [{\"name\": \"x\", \"role\": \"input\", \"shape\": []}], " LAUNCH "}", "has no type", 784, true},
	{HEAD ", \"sizes\": {\"N\": 4}, \"arguments\": [{\"name\": \"x\", \"role\": \"input\", \"type\": \"real\", \"shape\": []}], " LAUNCH "}", "must be a scalar type", 784, true},
	{HEAD ", \"sizes\": {\"N\": 4}, \"arguments\": [{\"name\": \"x\", \"role\": \"input\", \"type\": \"int8\"}], " LAUNCH "}", "`shape` must be a list", 784, true},
	{HEAD ", \"sizes\": {\"N\": 4}, \"arguments\": [{\"name\": \"y\", \"role\": \"input\", \"type\": \"int8\", \"shape\": []}], " LAUNCH "}", "there is no argument `x`", 784, false},
	{HEAD ", \"sizes\": {\"N\": 4}, " ARGUMENTS ", \"launches\": [{\"kernel\": \"k\", \"grid\": [], \"block\": [1], \"arguments\": []}]}", "`grid` must be a list", 784, true},
	{HEAD ", \"sizes\": {\"N\": 4}, " ARGUMENTS ", \"launches\": [{\"kernel\": \"k\", \"grid\": [1], \"block\": [0], \"arguments\": []}]}", "`block` must be", 784, true},
	{HEAD ", \"sizes\": {\"N\": 4}, " ARGUMENTS ", \"launches\": [{\"kernel\": \"k\", \"grid\": [\"N+\"], \"block\": [1], \"arguments\": []}]}", "it ends too early", 785, false},
	{HEAD ", \"sizes\": {\"N\": 4}, \"defines\": {\"1B\": 4}, " ARGUMENTS ", " LAUNCH "}", "`1B` cannot be a macro", 784, true},
	{HEAD ", \"sizes\": {\"N\": 4}, \"defines\": {\"B\": []}, " ARGUMENTS ", " LAUNCH "}", "must stand for text or a number", 784, true},
	{HEAD ", \"sizes\": {\"N\": 4}, \"options\": {\"nvcrt\": []}, " ARGUMENTS ", " LAUNCH "}", "did you mean `nvrtc`?", 784, false},
	{HEAD ", \"sizes\": {\"N\": 4}, \"options\": {\"nvrtc\": [3]}, " ARGUMENTS ", " LAUNCH "}", "must be a list of strings", 784, true},
	{HEAD ", \"sizes\": {\"N\": 4}, \"include_paths\": \".\", " ARGUMENTS ", " LAUNCH "}", "must be a list of strings", 784, true},
	{HEAD ", \"sizes\": {\"N\": 4}, \"arguments\": [{\"name\": \"x\", \"role\": \"output\", \"type\": \"int8\", \"shape\": [], \"range\": [0, 1]}], " LAUNCH "}", "of an input", 784, false},
	{HEAD ", \"sizes\": {\"N\": 4}, \"arguments\": [{\"name\": \"x\", \"role\": \"inout\", \"type\": \"int8\", \"shape\": [], \"range\": [0]}], " LAUNCH "}", "of an input", 784, true},
	{HEAD ", \"sizes\": {\"N\": \"TODO: a range\"}, " ARGUMENTS ", " LAUNCH "}", "sizes.N is not filled in: TODO: a range", 786, true},
	{HEAD ", \"sizes\": {\"N\": 4}, \"arguments\": [{\"name\": \"x\", \"role\": \"inout\", \"type\": \"int8\", \"shape\": [\"TODO\"]}], " LAUNCH "}", "arguments[0] (x).shape[0] is not filled in", 786, true},
	{HEAD ", \"sizes\": {\"N\": 4}, \"preconditions\": [\"N = 4\"], " ARGUMENTS ", " LAUNCH "}", "an unexpected character", 785, false},
};

static void read_wrong(void **state)
{
	(void)state;
	for (size_t k = 0; k < HEDDLE_COUNT(wrong); k++) {
		heddle_ctx *ctx = heddle_ctx_new();
		heddle_manifest *m = heddle_manifest_parse(ctx, "bad.json", wrong[k].json);
		if (m)
			fail_msg("case %zu was read: %s", k, wrong[k].json);
		const heddle_diagnostic *d = heddle_diagnostics(ctx);
		assert_non_null(d);
		if (!strstr(d->message, wrong[k].says) || d->code != wrong[k].code)
			fail_msg("case %zu: %s [%d]", k, d->message, d->code);
		heddle_ctx_free(ctx);
	}
}

/* 1: valid, 0: not. */
static int by_schema(heddle_ctx *ctx, const char *json)
{
	static const char *const script =
		"import json, sys, jsonschema\n"
		"try:\n    jsonschema.validate(json.load(sys.stdin), json.load(open(sys.argv[1])))\n"
		"except jsonschema.ValidationError as e:\n    print(e.message); sys.exit(9)\n";
	const char *const argv[] = {"python3", "-W", "ignore", "-c", script, HEDDLE_SOURCE_DIR "/schema/heddle.manifest.1.json", NULL};
	heddle_process process = {.argv = argv, .input = json, .input_length = strlen(json)};
	assert_int_equal(heddle_process_run(ctx, &process), 0);
	int status = process.status;
	if (status != 0 && status != 9)
		fail_msg("%s", heddle_text_str(&process.error));
	heddle_process_free(&process);
	return status == 0;
}

static void schema(void **state)
{
	(void)state;
	heddle_ctx *ctx = heddle_ctx_new();
	const char *const probe[] = {"python3", "-c", "import jsonschema; print(1)", NULL};
	if (!heddle_process_first_line(ctx, heddle_ctx_arena(ctx), probe)) {
		heddle_ctx_free(ctx);
		skip();
	}
	assert_non_null(heddle_embedded_find("schema/heddle.manifest.1.json"));
	static const char *const targets[] = {"cuda:h200", "opencl:cpu"};
	for (size_t k = 0; k < HEDDLE_COUNT(targets); k++) {
		heddle_text out = {0};
		heddle_manifest *m = make(ctx, targets[k]);
		heddle_manifest_print(m, &out);
		assert_true(by_schema(ctx, heddle_text_str(&out)));
		heddle_manifest_free(m);
		heddle_text_free(&out);
	}
	assert_true(by_schema(ctx, by_hand));
	for (size_t k = 2; k < HEDDLE_COUNT(wrong); k++)
		if (wrong[k].schema && by_schema(ctx, wrong[k].json))
			fail_msg("case %zu: the schema takes %s", k, wrong[k].json);
	heddle_ctx_free(ctx);
}

/* ---- formulas --------------------------------------------------------------------------------------------------------------- */

static void formulas(void **state)
{
	(void)state;
	static const heddle_manifest_size size[] = {{"M", 0, 1000, 1}, {"K2", 0, 1000, 1}};
	static const int64_t value[] = {7, -3};
	static const struct {
		const char *formula;
		int64_t value;
	} good[] = {
		{"1 + 2 * 3", 7},	  {"(1+2)*3", 9},	     {"M/2", 3},	     {"-M/2", -3},	 {"-M%4", -3},
		{"10-3-2", 5},		  {"100/5/2", 10},	     {"min(M,K2)", -3},	     {"max( M , K2 )", 7}, {"min(max(1,2),3)*2", 4},
		{"M >= 7 && K2 < 0", 1},  {"M == 8 || !(M != 7)", 1}, {"M > 3 ? 10 : 20", 10}, {"M<3?1:M<8?2:3", 2}, {"--M", 7},
		{" 9223372036854775807 ", INT64_MAX},
	};
	static const struct {
		const char *formula, *says;
	} bad[] = {
		{"", "ends too early"},	 {"M+", "ends too early"},	{"M N", "unexpected character"}, {"N", "no size"},
		{"M/(M-7)", "division by zero"}, {"(M", "`)` expected"}, {"min(M)", "`,` expected"},	{"9223372036854775808", "too large"},
		{"9223372036854775807+1", "overflow"}, {"4611686018427387904*2", "overflow"}, {"M?1", "`:` expected"}, {"M;", "unexpected"},
		{"min", "no size"},
	};
	heddle_ctx *ctx = heddle_ctx_new();
	int64_t result;
	for (size_t k = 0; k < HEDDLE_COUNT(good); k++) {
		assert_int_equal(heddle_formula_evaluate(ctx, good[k].formula, 2, size, value, &result), 0);
		if (result != good[k].value)
			fail_msg("%s = %lld", good[k].formula, (long long)result);
	}
	for (size_t k = 0; k < HEDDLE_COUNT(bad); k++) {
		heddle_diagnostics_clear(ctx);
		assert_int_equal(heddle_formula_evaluate(ctx, bad[k].formula, 2, size, value, &result), -1);
		if (!strstr(heddle_diagnostics(ctx)->message, bad[k].says))
			fail_msg("%s: %s", bad[k].formula, heddle_diagnostics(ctx)->message);
	}
	char deep[200];
	memset(deep, '(', sizeof(deep));
	deep[sizeof(deep) - 1] = '\0';
	assert_int_equal(heddle_formula_evaluate(ctx, deep, 2, size, value, &result), -1);
	heddle_ctx_free(ctx);
}

/* A program and its copy without vectors: printed, read, and chosen by addresses. */
static void variants(void **state)
{
	(void)state;
	heddle_ctx *ctx = heddle_ctx_new();
	heddle_arena *arena = heddle_arena_new();
	heddle_target target;
	heddle_variants list;
	assert_int_equal(heddle_target_parse(ctx, "cuda:h200", &target), 0);
	heddle_variants_begin(&list);
	heddle_variants_add(&list, heddle_program_parse(ctx, "test", text));
	assert_int_equal(heddle_variants_finish(ctx, &target, &list), 0);
	heddle_emit_options options = {.base = "two__x", .header = "two"};
	heddle_manifest *made = heddle_manifest_make(ctx, &target, &list, &options);
	heddle_text printed = {0}, again = {0};
	heddle_manifest_print(made, &printed);
	heddle_manifest *m = heddle_manifest_parse(ctx, "test", heddle_text_str(&printed));
	if (!m)
		fail_msg("%s", heddle_ctx_messages(ctx));
	heddle_manifest_print(m, &again);
	assert_string_equal(heddle_text_str(&again), heddle_text_str(&printed));
	assert_int_equal(m->n_variant, 1);
	assert_int_equal(m->argument[0].align, heddle_type_size(m->argument[0].type));
	assert_int_equal(m->variant[0].align[0], 16);
	assert_int_equal(m->variant[0].align[1], 0);
	assert_string_equal(m->launch[1].kernel, "two_v1_1");
	const int64_t size[] = {1000, 64, 48}, out[] = {1000, 64, 49};
	size_t address[16] = {0};
	assert_int_equal(heddle_manifest_choose(m, size, NULL), 0);
	assert_int_equal(heddle_manifest_choose(m, size, address), 0);
	address[0] = 4;
	assert_int_equal(heddle_manifest_choose(m, size, address), 1);
	address[0] = 32;
	assert_int_equal(heddle_manifest_choose(m, size, address), 0);
	address[2] = 2;
	assert_int_equal(heddle_manifest_choose(m, size, address), -1); /* half an element */
	assert_int_equal(heddle_manifest_choose(m, out, NULL), -1);
	const heddle_manifest *first = heddle_manifest_variant_of(arena, m, 0), *own = heddle_manifest_variant_of(arena, m, 1);
	assert_string_equal(first->launch[1].kernel, "two_1");
	assert_int_equal(first->argument[0].align, 16);
	assert_int_equal(first->n_argument, own->n_argument);
	assert_int_equal(first->argument[7].role, HEDDLE_ARGUMENT_TEMPORARY);
	assert_int_equal(own->argument[7].role, HEDDLE_ARGUMENT_TEMPORARY);
	heddle_text_free(&printed);
	heddle_text_free(&again);
	heddle_manifest_free(m);
	heddle_manifest_free(made);
	heddle_variants_free(&list);
	heddle_arena_free(arena);
	heddle_ctx_free(ctx);
}

static void bad_variants(void **state)
{
	(void)state;
	static const struct {
		const char *arguments, *variant, *message;
	} cases[] = {
		{"", "{\"launches\": []}", "`launches` must be a list of at least one launch"},
		{"", "{\"sizes\": {\"M\": 1}, \"launches\": [L]}", "`M` is no size of this manifest"},
		{"", "{\"align\": {\"B\": 16}, \"launches\": [L]}", "`B` is no input or output of this manifest"},
		{"", "{\"temporaries\": [{\"name\": \"A\", \"role\": \"temporary\", \"type\": \"float32\", \"shape\": [1], \"offset\": 0}],"
		     " \"launches\": [L]}", "argument `A` occurs twice"},
		{"", "{\"alignment\": {}, \"launches\": [L]}", "a variant has no key `alignment`"},
		{", {\"name\": \"t\", \"role\": \"temporary\", \"type\": \"float32\", \"shape\": [1], \"offset\": 0},"
		 "{\"name\": \"C\", \"role\": \"output\", \"type\": \"float32\", \"shape\": [1]}", "{\"launches\": [L]}",
		 "temporaries must be the last arguments: `C` follows one"},
		{"", "{\"launches\": [L]}", NULL},
	};
	static const char launch[] = "{\"kernel\": \"k\", \"grid\": [1], \"block\": [1], \"arguments\": [\"A\"]}";
	for (size_t i = 0; i < HEDDLE_COUNT(cases); i++) {
		heddle_ctx *ctx = heddle_ctx_new();
		heddle_text json = {0};
		heddle_text_printf(&json,
				   "{\"schema\": \"heddle.manifest/1\", \"backend\": \"cuda\", \"source\": \"k.cu\", \"sizes\": {\"N\": {}},"
				   "\"arguments\": [{\"name\": \"A\", \"role\": \"input\", \"type\": \"float32\", \"shape\": [\"N\"]}%s],"
				   "\"launches\": [%s], \"variants\": [", cases[i].arguments, launch);
		for (const char *s = cases[i].variant; *s; s++)
			if (*s == 'L')
				heddle_text_add(&json, launch);
			else
				heddle_text_addn(&json, s, 1);
		heddle_text_add(&json, "]}");
		heddle_manifest *m = heddle_manifest_parse(ctx, "test", heddle_text_str(&json));
		if (!cases[i].message)
			assert_non_null(m);
		else if (m || !strstr(heddle_ctx_messages(ctx), cases[i].message))
			fail_msg("%s\n%s", heddle_text_str(&json), heddle_ctx_messages(ctx));
		heddle_manifest_free(m);
		heddle_text_free(&json);
		heddle_ctx_free(ctx);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(variants),	cmocka_unit_test(bad_variants), cmocka_unit_test(policies),
		cmocka_unit_test(from_program), cmocka_unit_test(round_trip), cmocka_unit_test(read_by_hand),
		cmocka_unit_test(read_wrong),	cmocka_unit_test(schema),     cmocka_unit_test(formulas),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
