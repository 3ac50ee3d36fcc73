/* Descriptors: the shipped ones read, their values and provenance, and every kind of wrong file, each with its line.
 * SPDX-License-Identifier: MIT
 */
#include "arch/descriptor.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static heddle_ctx *ctx_new(void)
{
	heddle_ctx *ctx = heddle_ctx_new();
	assert_non_null(ctx);
	return ctx;
}

/* ---- shipped descriptors ------------------------------------------------------------------------------------------- */

static void shipped_all_read(void **state)
{
	(void)state;
	heddle_ctx *ctx = ctx_new();
	int n = 0;
	for (const char *const *name = heddle_descriptor_names(ctx); *name; name++, n++) {
		const heddle_descriptor *d = heddle_descriptor_find(ctx, *name);
		if (!d)
			fail_msg("%s: %s", *name, heddle_ctx_messages(ctx));
		assert_string_equal(d->name, *name);
		assert_non_null(heddle_descriptor_memory(d, "global"));
		assert_true(heddle_descriptor_rate(d, HEDDLE_FLOAT32) > 0);
	}
	assert_true(n >= 10);
	assert_int_equal(heddle_error_count(ctx), 0);
	heddle_ctx_free(ctx);
}

static void shipped_values(void **state)
{
	(void)state;
	heddle_ctx *ctx = ctx_new();
	const heddle_descriptor *d = heddle_descriptor_find(ctx, "h200");
	assert_non_null(d);
	assert_string_equal(d->backend, "cuda");
	assert_string_equal(d->compile_arch, "sm_90a");
	assert_int_equal(d->execution, HEDDLE_SIMT);
	assert_true(d->shuffles);
	assert_false(d->abstract);
	assert_true(d->shared_per_block.value == 227 * 1024);
	assert_string_equal(d->shared_per_block.from, "sm_90");
	assert_string_equal(d->shared_per_block.unit, "KiB");
	assert_true(d->warp.value == 32);
	assert_string_equal(d->warp.from, "nvidia");
	assert_true(d->units.value == 132);
	assert_string_equal(d->units.from, "h200");
	assert_false(d->vector_registers.set);
	assert_true(d->vector_registers.value == 0);
	const heddle_memory *global = heddle_descriptor_memory(d, "global");
	assert_true(global->bandwidth.value == 4.8e12);
	assert_true(global->sector.value == 32);
	assert_string_equal(global->sector.from, "nvidia");
	assert_null(heddle_descriptor_memory(d, "l3"));
	/* From register outward. */
	assert_string_equal(d->memory[0].name, "register");
	assert_string_equal(d->memory[d->n_memory - 1].name, "global");
	assert_true(heddle_descriptor_rate(d, HEDDLE_FLOAT64) == 34e12);
	assert_true(heddle_descriptor_rate(d, HEDDLE_INT8) == 67e12);
	assert_true(d->n_matrix > 0);
	heddle_ctx_free(ctx);
}

static void aliases_and_abstract(void **state)
{
	(void)state;
	static const char *const pairs[][2] = {{"sm_90a", "h200"}, {"sm_90", "h100"},   {"sm_75", "t4"},
					       {"gfx942", "mi300x"}, {"gfx90a", "mi250x"}, {"gfx1100", "rx7900xtx"},
					       {"gfx1201", "rx9070xt"}, {"sm_89", "rtx4090"}};
	heddle_ctx *ctx = ctx_new();
	for (size_t i = 0; i < HEDDLE_COUNT(pairs); i++) {
		const heddle_descriptor *d = heddle_descriptor_find(ctx, pairs[i][0]);
		assert_non_null(d);
		assert_string_equal(d->name, pairs[i][1]);
	}
	assert_null(heddle_descriptor_find(ctx, "nvidia"));
	assert_non_null(strstr(heddle_ctx_messages(ctx), "[E0412]"));
	heddle_diagnostics_clear(ctx);
	assert_null(heddle_descriptor_find(ctx, "h2000"));
	assert_non_null(strstr(heddle_ctx_messages(ctx), "[E0400]"));
	assert_non_null(strstr(heddle_ctx_messages(ctx), "did you mean `h200`?"));
	heddle_diagnostics_clear(ctx);
	assert_null(heddle_descriptor_find(ctx, "../arch/h200"));
	assert_non_null(strstr(heddle_ctx_messages(ctx), "[E0400]"));
	heddle_ctx_free(ctx);
}

static void simd_is_one_thread(void **state)
{
	(void)state;
	heddle_ctx *ctx = ctx_new();
	const heddle_descriptor *d = heddle_descriptor_find(ctx, "cpu"), *e = heddle_descriptor_find(ctx, "cpu-avx2");
	assert_non_null(d);
	assert_non_null(e);
	assert_int_equal(d->execution, HEDDLE_SIMD);
	assert_int_equal(e->execution, HEDDLE_SIMD);
	assert_true(d->warp.value == 1 && d->threads_per_block.value == 1);
	assert_true(d->vector_bytes.value == 64 && e->vector_bytes.value == 32);
	assert_true(d->units.assumed);
	heddle_ctx_free(ctx);
}

static void reports(void **state)
{
	(void)state;
	heddle_ctx *ctx = ctx_new();
	const heddle_descriptor *d = heddle_descriptor_find(ctx, "mi300x");
	json_t *j = heddle_descriptor_json(d), *q = json_object_get(j, "shared_per_block");
	heddle_text text = {0};
	assert_int_equal(json_integer_value(json_object_get(q, "value")), 65536);
	assert_string_equal(json_string_value(json_object_get(q, "unit")), "B");
	assert_string_equal(json_string_value(json_object_get(q, "from")), "amd");
	assert_null(json_object_get(j, "vector_registers"));
	assert_non_null(json_object_get(json_object_get(json_object_get(j, "memory"), "l3"), "bandwidth"));
	json_decref(j);
	heddle_descriptor_show(d, &text);
	assert_non_null(strstr(heddle_text_str(&text), "AMD Instinct MI300X"));
	assert_non_null(strstr(heddle_text_str(&text), "shared_per_block           64 KiB"));
	assert_non_null(strstr(heddle_text_str(&text), "-- cdna"));
	heddle_text_free(&text);
	heddle_ctx_free(ctx);
}

/* ---- files of one's own --------------------------------------------------------------------------------------------- */

typedef struct folder {
	heddle_ctx *ctx;
	char path[512];
} folder;

static folder folder_new(void)
{
	folder f = {.ctx = ctx_new()};
	assert_int_equal(heddle_dir_temporary(f.ctx, f.path), 0);
	return f;
}

static void folder_free(folder *f)
{
	heddle_dir_remove(f->path);
	heddle_ctx_free(f->ctx);
}

static const char *folder_put(folder *f, const char *name, const char *text)
{
	const char *path = heddle_arena_printf(heddle_ctx_arena(f->ctx), "%s/%s.yaml", f->path, name);
	assert_int_equal(heddle_file_write(f->ctx, path, text, strlen(text)), 0);
	return path;
}

/* A complete descriptor, on nine lines. */
#define WHOLE                                                                                                          \
	"name: own\n"                                                                                                  \
	"backend: opencl\n"                                                                                            \
	"execution: simt\n"                                                                                            \
	"units: { value: 4, unit: count, source: \"x\" }\n"                                                            \
	"warp: { value: 16, unit: count, assumed: true }\n"                                                            \
	"threads_per_block: { value: 128, unit: count, source: \"x\" }\n"                                              \
	"shared_per_block: { value: 32, unit: KiB, source: \"x\" }\n"                                                  \
	"shared_per_unit: { value: 64, unit: KiB, source: \"x\" }\n"                                                   \
	"vector_bytes: { value: 16, unit: B, source: \"x\" }\n"

typedef struct wrong {
	const char *text;
	int code;
	int line;
	const char *said;
} wrong;

static void wrong_files(void **state)
{
	(void)state;
	static const wrong cases[] = {
		{WHOLE "shared_per_blok: { value: 1, unit: KiB, source: \"x\" }\n", 403, 10, "did you mean `shared_per_block`"},
		{WHOLE "clock: { value: 1, unti: GHz, source: \"x\" }\n", 403, 10, "did you mean `unit`"},
		{WHOLE "clock: { value: 1, source: \"x\" }\n", 406, 10, "Hz, kHz, MHz, GHz"},
		{WHOLE "clock: 1000\n", 406, 10, "{ value: NUMBER, unit: UNIT"},
		{WHOLE "clock: { value: 1, unit: KiB, source: \"x\" }\n", 407, 10, "KiB is the unit of an amount of memory"},
		{WHOLE "clock: { value: 1, unit: gigahertz, source: \"x\" }\n", 407, 10, "unknown unit `gigahertz`"},
		{WHOLE "clock: { value: 1, unit: GHz }\n", 409, 10, "assumed: true"},
		{WHOLE "clock: { value: 1, unit: GHz, assumed: false }\n", 409, 10, "assumed: true"},
		{WHOLE "clock: { value: fast, unit: GHz, source: \"x\" }\n", 405, 10, "a number"},
		{WHOLE "clock: { value: 1e, unit: GHz, source: \"x\" }\n", 405, 10, "a number"},
		{WHOLE "clock: [1, GHz]\n", 405, 10, "clock"},
		{WHOLE "clock: { value: -1, unit: GHz, source: \"x\" }\n", 408, 10, "more than 0"},
		{WHOLE "clock: { value: 1e9, unit: GHz, source: \"x\" }\n", 408, 10, "is the unit right"},
		{WHOLE "registers_per_unit: { value: 10.5, unit: count, source: \"x\" }\n", 408, 10, "whole number"},
		{WHOLE "vector_registers: { value: 0, unit: count, source: \"x\" }\n", 408, 10, "more than 0"},
		{WHOLE "units: { value: 5, unit: count, source: \"x\" }\n", 404, 10, "given twice"},
		{WHOLE "blocks_per_unit: { value: 16, unit: count, source: \"x\" }\n"
		       "threads_per_unit: { value: 8, unit: count, source: \"x\" }\n",
		 408, 6, "greater than `threads_per_unit`"},
		{WHOLE "shared_per_block_static: { value: 40, unit: KiB, source: \"x\" }\n", 408, 10, "shared_per_block"},
		{WHOLE "aliases: other\n", 405, 10, "a list"},
		{WHOLE "shuffles: maybe\n", 405, 10, "true or false"},
		{WHOLE "memory:\n  l9: { size: { value: 1, unit: MiB, source: \"x\" } }\n", 403, 11, "unknown key `l9`"},
		{WHOLE "memory:\n  l2:\n    sise: { value: 1, unit: MiB, source: \"x\" }\n", 403, 12, "did you mean `size`"},
		{WHOLE "memory:\n  l2:\n    scope: world\n", 405, 12, "thread, block, unit or device"},
		{WHOLE "rates:\n  float33: { value: 1, unit: GFLOP/s, source: \"x\" }\n", 405, 11, "names of types"},
		{WHOLE "rates:\n  float32: { value: 1, unit: GB/s, source: \"x\" }\n", 407, 11, "a bandwidth"},
		{WHOLE "matrix:\n  - { name: x, m: 16, n: 8, k: 16, a: float16, b: float16, c: float32 }\n", 413, 11, "`lanes`"},
		{WHOLE "matrix: mma\n", 405, 10, "a list of matrix instructions"},
		{WHOLE "copies: dma\n", 405, 10, "a list of copies"},
		{WHOLE "copies:\n  - dma\n", 405, 11, "mappings"},
		{WHOLE "copies:\n  - { name: dma, from: global }\n", 413, 11, "`to`"},
		{WHOLE "copies:\n  - { name: dma, from: shared, to: shared }\n", 405, 11, "global"},
		{WHOLE "copies:\n  - { name: dma, from: global, to: shared, dimensions: 2 }\n", 405, 11, "consecutive"},
		{WHOLE "inherits: nobody\n", 410, 10, "nobody.yaml"},
		{WHOLE "inherits: own\n", 411, 10, "own -> own"},
		{WHOLE "title: \"open\nx: [\n", 402, 0, "not YAML"},
		{"", 405, 1, "a mapping"},
		{"- a\n", 405, 1, "a mapping"},
		{"execution: simt\n", 413, 1, "without `name`"},
		{"name: own\nbackend: cuda\nexecution: simt\n", 413, 1, "`units`"},
		{"name: own\nabstract: true\n", 413, 1, "`execution`"},
		{"name: own\nexecution: vliw\n", 405, 2, "simt or simd"},
		{"name: own\nexecution: simd\nabstract: true\nwarp: { value: 2, unit: count, source: \"x\" }\n", 408, 4, "warp 1"},
		{"name: own\nexecution: simt\nabstract: true\nwarp: { value: 24, unit: count, source: \"x\" }\n", 408, 4,
		 "power of two"},
		{"name: own\nexecution: simt\nabstract: true\nwarp: { value: 0, unit: count, source: \"x\" }\n", 408, 4,
		 "more than 0"},
		{"name: own\nexecution: simt\nabstract: true\nshared_per_unit: { value: 1, unit: KiB, source: \"x\" }\n"
		 "shared_per_block: { value: 2, unit: KiB, source: \"x\" }\n",
		 408, 5, "greater than `shared_per_unit`"},
	};
	for (size_t i = 0; i < HEDDLE_COUNT(cases); i++) {
		folder f = folder_new();
		const char *path = folder_put(&f, "own", cases[i].text);
		bool found = false;
		if (heddle_descriptor_read(f.ctx, path))
			fail_msg("case %zu was taken:\n%s", i, cases[i].text);
		for (const heddle_diagnostic *d = heddle_diagnostics(f.ctx); d; d = d->next)
			found |= d->code == cases[i].code && (!cases[i].line || d->location.line == cases[i].line) &&
				 d->location.source && !strcmp(d->location.source->name, path);
		if (!found || !strstr(heddle_ctx_messages(f.ctx), cases[i].said))
			fail_msg("case %zu wants E%04d at line %d and \"%s\", got:\n%s", i, cases[i].code, cases[i].line,
				 cases[i].said, heddle_ctx_messages(f.ctx));
		folder_free(&f);
	}
}

static void right_file(void **state)
{
	(void)state;
	folder f = folder_new();
	const heddle_descriptor *d =
		heddle_descriptor_read(f.ctx, folder_put(&f, "own",
							 WHOLE "clock: { value: 1.5e3, unit: MHz, assumed: true, source: \"why\" }\n"
							       "launch_overhead: { value: .5, unit: us, source: \"x\" }\n"
							       "compiler: [cc, \"{source}\", -o, \"{output}\"]\n"
							       "memory:\n"
							       "  global: { scope: device, size: { value: 1, unit: GB, source: \"x\" } }\n"
							       "  l1: { line: { value: 64, unit: B, source: \"x\" } }\n"));
	if (!d)
		fail_msg("%s", heddle_ctx_messages(f.ctx));
	assert_true(d->clock.value == 1.5e9 && d->clock.assumed);
	assert_string_equal(d->clock.source, "why");
	assert_true(d->launch_overhead.value > 4.99e-7 && d->launch_overhead.value < 5.01e-7);
	assert_true(d->warp.assumed && !d->warp.source);
	assert_int_equal(d->compiler.n, 4);
	assert_string_equal(d->compiler.argv[1], "{source}");
	assert_null(d->compiler.argv[4]);
	assert_string_equal(d->memory[0].name, "l1");
	assert_string_equal(d->memory[1].name, "global");
	assert_true(d->memory[1].size.value == 1e9);
	folder_free(&f);
}

static void private_folder(void **state)
{
	(void)state;
	folder f = folder_new();
	folder_put(&f, "own", "name: own\ninherits: h200\naliases: [mine]\nunits: { value: 7, unit: count, source: \"x\" }\n"
			      "memory:\n  l2: { size: { value: 1, unit: MiB, source: \"x\" } }\n"
			      "rates:\n  float64: { value: 1, unit: TFLOP/s, source: \"x\" }\n");
	folder_put(&f, "cpu", WHOLE);
	folder_put(&f, "words", "dialect: x\nname: words\n");
	assert_int_equal(heddle_ctx_add_path(f.ctx, f.path), 0);
	const heddle_descriptor *d = heddle_descriptor_find(f.ctx, "mine");
	if (!d)
		fail_msg("%s", heddle_ctx_messages(f.ctx));
	assert_string_equal(d->name, "own");
	assert_string_equal(d->inherits, "h200");
	assert_true(d->units.value == 7);
	assert_true(d->shared_per_block.value == 227 * 1024);
	const heddle_memory *l2 = heddle_descriptor_memory(d, "l2");
	assert_true(l2->size.value == 1048576 && l2->bandwidth.value == 5.5e12);
	assert_true(heddle_descriptor_rate(d, HEDDLE_FLOAT64) == 1e12);
	assert_true(heddle_descriptor_rate(d, HEDDLE_FLOAT32) == 67e12);
	/* The parent is as it was. */
	assert_true(heddle_descriptor_rate(heddle_descriptor_find(f.ctx, "h200"), HEDDLE_FLOAT64) == 34e12);
	bool own = false, words = false;
	for (const char *const *name = heddle_descriptor_names(f.ctx); *name; name++) {
		own |= !strcmp(*name, "own");
		words |= !strcmp(*name, "words");
	}
	assert_true(own && !words);
	/* A private file comes before the one compiled in, and its name must be its own. */
	assert_null(heddle_descriptor_find(f.ctx, "cpu"));
	assert_non_null(strstr(heddle_ctx_messages(f.ctx), "[E0414]"));
	folder_free(&f);
}

static void longer_cycle(void **state)
{
	(void)state;
	folder f = folder_new();
	folder_put(&f, "a", "name: a\ninherits: b\n");
	folder_put(&f, "b", "name: b\ninherits: c\n");
	const char *path = folder_put(&f, "c", "name: c\ninherits: a\n");
	assert_null(heddle_descriptor_read(f.ctx, path));
	assert_non_null(strstr(heddle_ctx_messages(f.ctx), "[E0411]"));
	assert_non_null(strstr(heddle_ctx_messages(f.ctx), "`c` inherits from itself: c -> a -> b -> c"));
	folder_free(&f);
}

/* One value changed, checked as a file's is; the chip itself stays. */
static void varied(void **state)
{
	static const struct {
		const char *key, *value;
		int code;
	} bad[] = {{"l2.sizee", "1M", 415}, {"warp", "33", 408}, {"clock", "3KiB", 407}, {"units", "many", 405}, {"l9.size", "1M", 415},
		   {"shared_per_block", "", 405}};
	(void)state;
	heddle_ctx *ctx = ctx_new();
	const heddle_descriptor *d = heddle_descriptor_find(ctx, "h200"), *v = heddle_descriptor_vary(ctx, d, "shared_per_block", "64K");
	assert_non_null(v);
	assert_true(v->shared_per_block.value == 65536 && v->shared_per_block_static.value == 65536);
	assert_true(v->units.value == d->units.value);
	assert_string_equal(v->name, "h200");
	assert_true(d->shared_per_block.value == 227 * 1024);
	v = heddle_descriptor_vary(ctx, d, "l2.size", "1.5MiB");
	assert_true(v && heddle_descriptor_memory(v, "l2")->size.value == 1.5 * 1024 * 1024);
	assert_true(heddle_descriptor_memory(v, "l2")->bandwidth.value == heddle_descriptor_memory(d, "l2")->bandwidth.value);
	v = heddle_descriptor_vary(ctx, d, "float32", "100T");
	assert_true(v && heddle_descriptor_rate(v, HEDDLE_FLOAT32) == 100e12);
	v = heddle_descriptor_vary(ctx, d, "clock", "1G");
	assert_true(v && v->clock.value == 1e9);
	assert_int_equal(heddle_error_count(ctx), 0);
	for (size_t i = 0; i < HEDDLE_COUNT(bad); i++) {
		assert_null(heddle_descriptor_vary(ctx, d, bad[i].key, bad[i].value));
		if (heddle_diagnostics(ctx)->code != bad[i].code)
			fail_msg("%s=%s: %s", bad[i].key, bad[i].value, heddle_ctx_messages(ctx));
		heddle_diagnostics_clear(ctx);
	}
	heddle_ctx_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(varied), cmocka_unit_test(shipped_all_read), cmocka_unit_test(shipped_values),
		cmocka_unit_test(aliases_and_abstract), cmocka_unit_test(simd_is_one_thread),
		cmocka_unit_test(reports),	    cmocka_unit_test(wrong_files),
		cmocka_unit_test(right_file),	    cmocka_unit_test(private_folder),
		cmocka_unit_test(longer_cycle),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
