/* Dialects: those that ship, inheritance, every kind of wrong file with its line, templates, the prelude's pieces.
 * SPDX-License-Identifier: MIT
 */
#include "backends/printer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void shipped(void **state)
{
	(void)state;
	heddle_ctx *ctx = heddle_ctx_new();
	const char *const *names = heddle_dialect_names(ctx);
	int n = 0;
	for (; names[n]; n++) {
		const heddle_dialect *dialect = heddle_dialect_find(ctx, names[n]);
		if (!dialect)
			fail_msg("%s: %s", names[n], heddle_ctx_messages(ctx));
		assert_string_equal(dialect->name, names[n]);
		/* Every function, for both types. */
		for (int i = 0; heddle_builtins[i].name; i++)
			for (int t = 0; t < 2; t++) {
				const char *type = t ? "float64" : "float32";
				const char *word = heddle_dialect_word(dialect, "function.%s.%s", heddle_builtins[i].name, type);
				assert_non_null(word ? word : heddle_dialect_word(dialect, "function.default.%s", type));
			}
	}
	assert_true(n >= 3);
	assert_true(heddle_dialect_language(heddle_dialect_find(ctx, "cuda")).shuffles);
	assert_false(heddle_dialect_language(heddle_dialect_find(ctx, "opencl")).shuffles);
	assert_true(heddle_dialect_language(heddle_dialect_find(ctx, "opencl")).vector_arithmetic);
	assert_int_equal(heddle_dialect_language(heddle_dialect_find(ctx, "opencl")).max_vector, 16);
	heddle_ctx_free(ctx);
}

static void inherits(void **state)
{
	(void)state;
	heddle_ctx *ctx = heddle_ctx_new();
	const heddle_dialect *cuda = heddle_dialect_find(ctx, "cuda"), *hip = heddle_dialect_find(ctx, "hip");
	assert_string_equal(heddle_dialect_word(hip, "barrier"), heddle_dialect_word(cuda, "barrier"));
	assert_string_not_equal(heddle_dialect_word(hip, "shuffle"), heddle_dialect_word(cuda, "shuffle"));
	int n;
	assert_null(heddle_dialect_list(hip, heddle_ctx_arena(ctx), "options.ieee.nvrtc", &n)); /* an empty list replaces */
	const heddle_dialect *mine = heddle_dialect_read(ctx, "mine.yaml", "name: mine\ninherits: cuda\nbarrier: 'wait();'\n",
							 "//: heddle_min\nmy own\n\n//: other_{t} t=int,float\n{t} {u}\n", NULL);
	if (!mine)
		fail_msg("%s", heddle_ctx_messages(ctx));
	assert_string_equal(heddle_dialect_word(mine, "barrier"), "wait();");
	assert_string_equal(heddle_dialect_word(mine, "thread"), heddle_dialect_word(cuda, "thread"));
	heddle_text out = {0};
	heddle_prelude_print(mine, "x = heddle_min(other_float, not_heddle_max, heddle_maximum)", &out);
	assert_string_equal(heddle_text_str(&out), "my own\n\nfloat {u}\n\n");
	heddle_text_free(&out);
	heddle_ctx_free(ctx);
}

static void wrong_files(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		int code, line;
		const char *says;
	} cases[] = {
		{"name: x\ninherits: cuda\ntype: [\n", 451, 4, "not YAML"},
		{"- a\n", 451, 1, "a dialect is a mapping"},
		{"name: x\ninherits: cuda\nbarier: 'x'\n", 452, 3, "no key `barier`"},
		{"name: x\ninherits: cuda\nshuffle: 'xor({x})'\n", 453, 3, "no placeholder {x}"},
		{"name: x\ninherits: cuda\nbarrier: '{name}'\n", 453, 3, "no placeholder {name}"},
		{"name: x\ntitle: y\n", 454, 1, "says nothing for `suffix`"},
		{"name: x\ninherits: nowhere\n", 450, 0, "no backend `nowhere`"},
	};
	for (size_t k = 0; k < HEDDLE_COUNT(cases); k++) {
		heddle_ctx *ctx = heddle_ctx_new();
		assert_null(heddle_dialect_read(ctx, "x.yaml", cases[k].text, NULL, NULL));
		const heddle_diagnostic *d = heddle_diagnostics(ctx);
		assert_non_null(d);
		if (!strstr(d->message, cases[k].says))
			fail_msg("case %zu: %s", k, d->message);
		assert_int_equal(d->code, cases[k].code);
		assert_int_equal(d->location.line, cases[k].line);
		heddle_ctx_free(ctx);
	}
	heddle_ctx *ctx = heddle_ctx_new();
	assert_null(heddle_dialect_read(ctx, "x.yaml", "name: x\ninherits: cuda\n", "//: a t=1 u=1/2 v/w=1\nx\n", NULL));
	assert_int_equal(heddle_diagnostics(ctx)->code, 455);
	heddle_ctx_free(ctx);
}

/* Few words that make many: refused before they are made. */
static void limits(void **state)
{
	(void)state;
	heddle_text nodes = {0}, pieces = {0}, bytes = {0}, many = {0};
	heddle_text_add(&nodes, "name: x\ninherits: cuda\na: &a [x]\n");
	for (char c = 'b'; c < 'h'; c++)
		heddle_text_printf(&nodes, "%c: &%c [*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c]\n", c, c, c - 1, c - 1, c - 1, c - 1, c - 1, c - 1,
				   c - 1, c - 1);
	heddle_text_add(&pieces, "//: a_{x}_{y}_{z}");
	for (char c = 'x'; c <= 'z'; c++) {
		heddle_text_printf(&pieces, " %c=0", c);
		for (int i = 1; i < 100; i++)
			heddle_text_printf(&pieces, ",%d", i);
	}
	heddle_text_add(&pieces, "\nint x;\n");
	heddle_text_add(&bytes, "//: a_{x} x=0");
	for (int i = 1; i < 1000; i++)
		heddle_text_printf(&bytes, ",%d", i);
	heddle_text_add(&bytes, "\n");
	for (int i = 0; i < 1000; i++)
		heddle_text_add(&bytes, "int x, y, z;\n");
	for (int i = 0; i < 5000; i++)
		heddle_text_printf(&many, "//: a_%d\nint a_%d;\n", i, i);
	const struct {
		const char *text, *prelude;
		int code;
		const char *says;
	} cases[] = {
		{heddle_text_str(&nodes), NULL, 451, "more words"},
		{"name: x\ninherits: cuda\n", heddle_text_str(&pieces), 455, "more pieces"},
		{"name: x\ninherits: cuda\n", heddle_text_str(&many), 455, "more pieces"},
		{"name: x\ninherits: cuda\n", heddle_text_str(&bytes), 455, "longer pieces"},
		{"name: x\ninherits: cuda\n", "//: no-name\nint x;\n", 455, "an identifier"},
	};
	for (size_t k = 0; k < HEDDLE_COUNT(cases); k++) {
		heddle_ctx *ctx = heddle_ctx_new();
		assert_null(heddle_dialect_read(ctx, "x.yaml", cases[k].text, cases[k].prelude, NULL));
		const heddle_diagnostic *d = heddle_diagnostics(ctx);
		if (d->code != cases[k].code || !strstr(d->message, cases[k].says))
			fail_msg("case %zu: %s", k, d->message);
		heddle_ctx_free(ctx);
	}
	heddle_text_free(&nodes);
	heddle_text_free(&pieces);
	heddle_text_free(&bytes);
	heddle_text_free(&many);
}

/* A parent that was read before is taken as it is. */
static void known_parents(void **state)
{
	(void)state;
	heddle_ctx *ctx = heddle_ctx_new();
	const heddle_dialect *first = heddle_dialect_read(ctx, "a.yaml", "name: first\ninherits: cuda\nbarrier: 'one();'\n", NULL, NULL);
	const heddle_dialect *known[] = {first, NULL};
	const heddle_dialect *second = heddle_dialect_read(ctx, "b.yaml", "name: second\ninherits: first\n", NULL, known);
	assert_non_null(second);
	assert_string_equal(heddle_dialect_word(second, "barrier"), "one();");
	assert_true(heddle_dialect_reserves(second, "one"));
	/* what a list replaces in it is missed, though the parent has it */
	assert_null(heddle_dialect_read(ctx, "c.yaml", "name: third\ninherits: first\ntype: []\n", NULL, known));
	assert_int_equal(heddle_diagnostics(ctx)->code, 454);
	heddle_ctx_free(ctx);
}

static void targets(void **state)
{
	(void)state;
	heddle_ctx *ctx = heddle_ctx_new();
	heddle_target target;
	assert_int_equal(heddle_target_parse(ctx, "cuda:sm_90a", &target), 0); /* an alias */
	assert_string_equal(target.text, "cuda:h200");
	assert_int_equal(heddle_target_parse(ctx, "mi300x", &target), 0);
	assert_string_equal(target.text, "hip:mi300x");
	assert_string_equal(target.backend, "hip");
	assert_int_equal(heddle_target_parse(ctx, "opencl:cpu", &target), 0);
	assert_int_equal(heddle_error_count(ctx), 0);
	static const struct {
		const char *text;
		int code;
	} wrong[] = {{"cuda:", 456}, {":h200", 456}, {"", 456}, {"cudaa:h200", 450}, {"../x:h200", 450}};
	for (size_t k = 0; k < HEDDLE_COUNT(wrong); k++) {
		heddle_diagnostics_clear(ctx);
		assert_int_equal(heddle_target_parse(ctx, wrong[k].text, &target), -1);
		assert_int_equal(heddle_diagnostics(ctx)->code, wrong[k].code);
	}
	heddle_diagnostics_clear(ctx);
	assert_int_equal(heddle_target_parse(ctx, "cuda:h2000", &target), -1);
	assert_int_equal(heddle_error_count(ctx), 1);
	heddle_ctx_free(ctx);
}

static void templates(void **state)
{
	(void)state;
	heddle_arena *arena = heddle_arena_new();
	filler sum[] = {{"a", {"x + y", LEVEL_SUM}}, {"b", {"z", LEVEL_POSTFIX}}};
	static const struct {
		const char *template, *text;
		int level;
	} cases[] = {
		{"f({a}, {b})", "f(x + y, z)", LEVEL_POSTFIX},
		{"{a}", "x + y", LEVEL_SUM},
		{"({b}){a}", "(z)(x + y)", LEVEL_UNARY},
		{"{a}.x", "(x + y).x", LEVEL_POSTFIX},
		{"{a} * {b}", "(x + y) * z", LEVEL_PRODUCT},
		{"{b} - {a}", "z - (x + y)", LEVEL_SUM},
		{"{a} - {b}", "x + y - z", LEVEL_SUM},
		{"{a} < {b}", "x + y < z", LEVEL_LESS},
		{"-{a}", "-(x + y)", LEVEL_UNARY},
		{"*g<const T *>({a}) = {a};", "*g<const T *>(x + y) = x + y;", LEVEL_UNARY},
		{"v<T, 4>{ {a} }", "v<T, 4>{ x + y }", LEVEL_POSTFIX},
		{"{c}{a", "{c}{a", LEVEL_POSTFIX},
	};
	for (size_t k = 0; k < HEDDLE_COUNT(cases); k++) {
		code got = heddle_fill(arena, cases[k].template, sum, 2);
		assert_string_equal(got.text, cases[k].text);
		assert_int_equal(got.level, cases[k].level);
	}
	heddle_arena_free(arena);
}

static void reserved(void **state)
{
	(void)state;
	heddle_ctx *ctx = heddle_ctx_new();
	const heddle_dialect *cuda = heddle_dialect_find(ctx, "cuda"), *opencl = heddle_dialect_find(ctx, "opencl");
	static const char *const both[] = {"float", "class", "exp", "expf", "heddle_max", "y0"};
	for (size_t i = 0; i < HEDDLE_COUNT(both); i++)
		assert_true(heddle_dialect_reserves(cuda, both[i]));
	assert_true(heddle_dialect_reserves(cuda, "blockIdx"));
	assert_true(heddle_dialect_reserves(opencl, "get_group_id"));
	assert_true(heddle_dialect_reserves(opencl, "barrier"));
	assert_true(heddle_dialect_reserves(opencl, "kernel") && heddle_dialect_reserves(opencl, "uint4"));
	assert_true(heddle_entry_is_reserved("main") && heddle_entry_is_reserved("expf") && heddle_entry_is_reserved("index"));
	assert_true(heddle_entry_is_reserved("size_t") && heddle_entry_is_reserved("uint8_t"));
	assert_false(heddle_entry_is_reserved("linear") || heddle_entry_is_reserved("experts"));
	static const char *const free_names[] = {"A", "C", "x", "f", "s", "name", "M", "width"};
	for (size_t i = 0; i < HEDDLE_COUNT(free_names); i++) {
		assert_false(heddle_dialect_reserves(cuda, free_names[i]));
		assert_false(heddle_dialect_reserves(opencl, free_names[i]));
	}
	heddle_ctx_free(ctx);
}

static bool has_piece(const heddle_dialect *dialect, const char *name)
{
	for (int i = 0; i < dialect->n_piece; i++)
		if (!strcmp(dialect->piece[i].name, name))
			return true;
	return false;
}

/* A conversion that takes vectors has its function for every width. */
static void vector_conversions(void **state)
{
	(void)state;
	heddle_ctx *ctx = heddle_ctx_new();
	const char *const *names = heddle_dialect_names(ctx);
	int n = 0;
	for (; *names; names++) {
		const heddle_dialect *dialect = heddle_dialect_find(ctx, *names);
		const int most = heddle_dialect_language(dialect).max_vector;
		for (int i = 0; i < dialect->n_word; i++) {
			const char *end = strstr(dialect->word[i].text, "{suffix}(");
			if (strncmp(dialect->word[i].key, "convert.", 8) != 0 || !end)
				continue;
			for (int width = 1; width <= most; width *= 2) {
				char name[100], suffix[20] = "";
				if (width > 1)
					snprintf(suffix, sizeof(suffix), "_x%d", width);
				snprintf(name, sizeof(name), "%.*s%s", (int)(end - dialect->word[i].text), dialect->word[i].text, suffix);
				if (!has_piece(dialect, name))
					fail_msg("%s: %s is missing", *names, name);
				n++;
			}
		}
	}
	assert_true(n > 20);
	heddle_ctx_free(ctx);
}

/* Read once, until the search path may hold another of that name. */
static void read_once(void **state)
{
	(void)state;
	heddle_ctx *ctx = heddle_ctx_new();
	const heddle_dialect *first = heddle_dialect_find(ctx, "cuda");
	assert_non_null(first);
	assert_ptr_equal(heddle_dialect_find(ctx, "cuda"), first);
	assert_null(heddle_dialect_find(ctx, "cudo"));
	assert_null(heddle_dialect_find(ctx, "cudo"));
	assert_int_equal(heddle_error_count(ctx), 2);
	assert_int_equal(heddle_ctx_add_path(ctx, "/nonexistent"), 0);
	assert_ptr_not_equal(heddle_dialect_find(ctx, "cuda"), first);
	heddle_ctx_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shipped), cmocka_unit_test(inherits),	cmocka_unit_test(wrong_files), cmocka_unit_test(limits), cmocka_unit_test(known_parents),
		cmocka_unit_test(targets), cmocka_unit_test(templates), cmocka_unit_test(reserved),
		cmocka_unit_test(vector_conversions), cmocka_unit_test(read_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
