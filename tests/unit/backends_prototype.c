/* Tokens and prototypes of hand-written sources: constant expressions, our own preprocessor against a compiler's, kernels.
 * SPDX-License-Identifier: MIT
 */
#include "backends/prototype.h"
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define FOLDER HEDDLE_SOURCE_DIR "/tests/handwritten"

static heddle_token_list tokens_of(heddle_ctx *ctx, heddle_arena *arena, const char *text, const char *backend, bool own)
{
	static const char *const flags[] = {"-DFROM_OUTSIDE=3", "-DPLAIN"};
	heddle_token_list list = {.arena = arena};
	const heddle_preprocess_options options = {.path = FOLDER "/x.cu", .backend = backend, .n_flag = 2, .flag = flags, .own = own};
	assert_int_equal(heddle_preprocess(ctx, text, &options, &list), 0);
	return list;
}

static bool look_up(void *user, const char *name, int64_t *value)
{
	(void)user;
	*value = 5;
	return strcmp(name, "five") == 0;
}

static void expressions(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		int64_t value;
	} good[] = {{"1 + 2 * 3", 7},	      {"(1 << 4) | 1", 17}, {"7 / 2 - -1", 4},	   {"0x10u + 0b11 + 010", 27}, {"five % 3 == 2", 1},
		    {"1 ? 2 : 3 ? 4 : 5", 2}, {"!0 && ~0 == -1", 1}, {"3 >= 4 || 2 != 1", 1}, {"10 - 3 - 2", 5},	   {"1'000", 1000},
		    {"100 >> 2 << 1", 50},    {"'A'", 65},	    {"6 & 3 ^ 1", 3},	   {"true + false", 1}};
	static const char *const bad[] = {"", "1 +", "1 / 0", "unknown", "1 2", "(1", "1.5", "five five", "sizeof(int)"};
	heddle_ctx *ctx = heddle_ctx_new();
	heddle_arena *arena = heddle_arena_new();
	int64_t value;
	for (size_t i = 0; i < HEDDLE_COUNT(good); i++) {
		heddle_token_list list = tokens_of(ctx, arena, good[i].text, "cuda", true);
		if (!heddle_tokens_evaluate(list.t, list.t + list.n, look_up, NULL, &value) || value != good[i].value)
			fail_msg("%s: %lld", good[i].text, (long long)value);
	}
	for (size_t i = 0; i < HEDDLE_COUNT(bad); i++) {
		heddle_token_list list = tokens_of(ctx, arena, bad[i], "cuda", true);
		if (heddle_tokens_evaluate(list.t, list.t + list.n, look_up, NULL, &value))
			fail_msg("'%s' has the value %lld", bad[i], (long long)value);
	}
	heddle_arena_free(arena);
	heddle_ctx_free(ctx);
}

/* All tokens with their lines in one string. */
static const char *all(heddle_arena *arena, const heddle_token_list *list)
{
	heddle_text text = {0};
	for (int i = 0; i < list->n; i++)
		heddle_text_printf(&text, "%d:%s ", list->t[i].line, list->t[i].text);
	const char *out = heddle_arena_strdup(arena, heddle_text_str(&text));
	heddle_text_free(&text);
	return out;
}

static const char conditionals[] =
	"#define ONE 1\n#define ADD(a, b) ((a) + (b))\n#define SELF SELF + ONE\n#define EMPTY\n"
	"#if defined(ONE) && ADD(ONE, 1) == 2 && !defined TWO\nint a = ADD(ONE, ADD(2, SELF)); /* over\n lines */ int b;\n"
	"#elif 1\nint never;\n#else\nint neither;\n#endif\n"
	"#ifdef PLAIN\n#  ifndef __CUDACC__\nint x;\n#  else\nint FROM_OUTSIDE_c = FROM_OUTSIDE EMPTY; // rest\n#  endif\n#endif\n"
	"#undef ONE\n#ifdef ONE\nint y;\n#endif\n#if 0\n#if 1\nint z;\n#endif\n#elif FROM_OUTSIDE > 2\nint ONE;\n#endif\n"
	"#define LONG a \\\n b\nLONG ADD (1, (2, 3)) ADD\n";

static void preprocessors(void **state)
{
	(void)state;
	heddle_ctx *ctx = heddle_ctx_new();
	heddle_arena *arena = heddle_arena_new();
	heddle_token_list own = tokens_of(ctx, arena, conditionals, "cuda", true), other = tokens_of(ctx, arena, conditionals, "cuda", false);
	assert_string_equal(all(arena, &own), all(arena, &other));
	assert_non_null(strstr(all(arena, &own), "6:int 6:a"));
	assert_null(strstr(all(arena, &own), "never"));
	/* and on real sources */
	DIR *folder = opendir(FOLDER);
	assert_non_null(folder);
	int n = 0;
	for (struct dirent *entry; (entry = readdir(folder));) {
		const char *end = strrchr(entry->d_name, '.');
		const char *backend = !end ? NULL : !strcmp(end, ".cu") ? "cuda" : !strcmp(end, ".hip") ? "hip" : !strcmp(end, ".cl") ? "opencl" : NULL;
		if (!backend)
			continue;
		char *text = heddle_file_read(ctx, heddle_arena_printf(arena, "%s/%s", FOLDER, entry->d_name), NULL);
		own = tokens_of(ctx, arena, text, backend, true);
		other = tokens_of(ctx, arena, text, backend, false);
		if (strcmp(all(arena, &own), all(arena, &other)) != 0)
			fail_msg("%s: the two preprocessors differ", entry->d_name);
		free(text);
		n++;
	}
	closedir(folder);
	assert_true(n >= 20);
	assert_int_equal(heddle_error_count(ctx), 0);
	heddle_arena_free(arena);
	heddle_ctx_free(ctx);
}

static const char uses[] =
	"typedef float real;\nusing vec = float4;\n"
	"__device__ void put(real *to, int v) { *to = v; }\n"
	"__global__ void k(const real *a, vec *b, real *c, real *d, real *e, int *f, real *g, void *h, unsigned long long n, bool flag,\n"
	"	const uchar4 i[], signed char j)\n{\n"
	"	b[0].x = a[0];\n	c[n] += 1;\n	real *p = d + n;\n	p[1] = a[1] + e[0];\n	atomicAdd(&f[0], 1);\n	put(g + 3, 1);\n"
	"	real v = reinterpret_cast<const real *>(h)[0];\n}\n";

static void pointers(void **state)
{
	(void)state;
	enum { R = HEDDLE_USE_READ, W = HEDDLE_USE_WRITE };
	static const struct {
		const char *name;
		int use, element, members;
		bool pointer;
	} expected[] = {{"a", R, HEDDLE_FLOAT32, 1, true}, {"b", W, HEDDLE_FLOAT32, 4, true},	 {"c", R | W, HEDDLE_FLOAT32, 1, true},
			{"d", W, HEDDLE_FLOAT32, 1, true}, {"e", R, HEDDLE_FLOAT32, 1, true},	 {"f", R | W, HEDDLE_INT32, 1, true},
			{"g", W, HEDDLE_FLOAT32, 1, true}, {"h", R, -1, 1, true},		 {"n", 0, HEDDLE_UINT64, 1, false},
			{"flag", 0, HEDDLE_BOOL, 1, false}, {"i", 0, HEDDLE_UINT8, 4, true}, {"j", 0, HEDDLE_INT8, 1, false}};
	for (int own = 0; own < 2; own++) {
		heddle_ctx *ctx = heddle_ctx_new();
		heddle_prototype_list list = {.arena = heddle_arena_new()};
		heddle_token_list tokens = tokens_of(ctx, list.arena, uses, "cuda", own);
		assert_int_equal(heddle_prototypes_find(ctx, &tokens, "cuda", 0, NULL, &list), 0);
		assert_int_equal(list.n, 1);
		assert_int_equal(list.item[0].n_parameter, HEDDLE_COUNT(expected));
		for (size_t i = 0; i < HEDDLE_COUNT(expected); i++) {
			const heddle_parameter *p = &list.item[0].parameter[i];
			assert_string_equal(p->name, expected[i].name);
			if (p->use != expected[i].use || p->element != expected[i].element || p->members != expected[i].members ||
			    p->pointer != expected[i].pointer)
				fail_msg("%s: use %d, element %d, members %d, pointer %d", p->name, p->use, p->element, p->members, p->pointer);
		}
		heddle_arena_free(list.arena);
		heddle_ctx_free(ctx);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(expressions), cmocka_unit_test(preprocessors), cmocka_unit_test(pointers)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
