/* What libFuzzer feeds: every reader of text that a stranger may have written.  Built once per reader, FUZZ being its name.
 *
 * A finding is a crash, a report of a sanitizer, a leak, a text that is refused without a diagnostic or accepted with one, one
 * that takes the processor too long, and one that does not read back as it was printed.  run.py builds, collects seeds and dictionaries, and runs.
 * SPDX-License-Identifier: MIT
 */
#include "arch/reader.h"
#include "backends/dialect.h"
#include "compile/manifest.h"
#include "frontend/syntax.h"
#include "harness/tensor.h"
#include "model/config.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_SECONDS = 5 }; /* of the processor, for one text */

#define UNUSED __attribute__((unused)) /* but for one target */
#define TARGET(name) fuzz_##name
#define TARGET_OF(name) TARGET(name)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void finding(const heddle_ctx *ctx, const char *what, const char *text)
{
	fprintf(stderr, "FINDING: %s\n%s\n%s\n", what, text, heddle_ctx_messages((heddle_ctx *)ctx));
	abort();
}

/* Either a result or an error, not both, not neither. */
static bool decided(const heddle_ctx *ctx, bool accepted, const char *text)
{
	if (accepted != (heddle_error_count(ctx) == 0))
		finding(ctx, accepted ? "accepted with an error" : "refused without an error", text);
	return accepted;
}

/* What was printed, and what was printed after reading that. */
UNUSED static void same(const heddle_ctx *ctx, const heddle_text *once, const heddle_text *twice)
{
	const char *a = heddle_text_str(once), *b = heddle_text_str(twice);
	size_t line = 0, i = 0;
	for (; a[i] == b[i]; i++) {
		if (!a[i])
			return;
		if (a[i] == '\n')
			line = i + 1;
	}
	fprintf(stderr, "once:  %.*s\ntwice: %.*s\n", (int)strcspn(a + line, "\n"), a + line, (int)strcspn(b + line, "\n"), b + line);
	finding(ctx, "it does not read back as it was printed", a);
}

UNUSED static void fuzz_lexer(heddle_ctx *ctx, heddle_arena *arena, const char *text, size_t length)
{
	heddle_source source = {.name = "fuzz.tc", .text = text, .length = length};
	heddle_module module = {.arena = arena, .source = &source};
	token_list tokens = {0};
	int result = heddle_lex(ctx, arena, &module, &tokens);
	if (!tokens.n || tokens.token[tokens.n - 1].kind != TOKEN_END)
		finding(ctx, "no end among the tokens", text);
	if (result < 0)
		decided(ctx, false, text);
}

UNUSED static void fuzz_parser(heddle_ctx *ctx, heddle_arena *arena, const char *text, size_t length)
{
	(void)arena;
	(void)length;
	heddle_module *module = heddle_module_parse(ctx, "fuzz.tc", text, NULL);
	if (!decided(ctx, module != NULL, text))
		return;
	for (int i = 0; i < module->n_definition; i++) {
		heddle_text printed = {0};
		heddle_definition_print(module->definition[i], &printed);
		heddle_text_free(&printed);
	}
	heddle_module_free(module);
}

UNUSED static void fuzz_sizes(heddle_ctx *ctx, heddle_arena *arena, const char *text, size_t length)
{
	(void)length;
	const heddle_size_list *list = heddle_sizes_parse(ctx, arena, text);
	decided(ctx, list != NULL, text);
	for (int i = 0; list && i < list->n; i++)
		if (list->range[i].min < 0 || list->range[i].min > list->range[i].max || list->range[i].divisor < 1)
			finding(ctx, "a range without a value", text);
}

UNUSED static void fuzz_descriptor(heddle_ctx *ctx, heddle_arena *arena, const char *text, size_t length)
{
	heddle_source *source = HEDDLE_NEW(arena, heddle_source);
	*source = (heddle_source){.name = "fuzz.yaml", .text = text, .length = length};
	descriptor_header header;
	heddle_descriptor_peek(ctx, source, &header);
	heddle_diagnostics_clear(ctx);
	const heddle_descriptor *descriptor = heddle_descriptor_parse(ctx, source, NULL);
	if (!decided(ctx, descriptor != NULL, text))
		return;
	heddle_text shown = {0};
	heddle_descriptor_show(descriptor, &shown);
	heddle_text_free(&shown);
}

UNUSED static void fuzz_dialect(heddle_ctx *ctx, heddle_arena *arena, const char *text, size_t length)
{
	(void)arena;
	/* text of the prelude behind a line of dots; parents that exist are read once */
	static const heddle_dialect *parents[4];
	if (!parents[0]) {
		static heddle_ctx *forever;
		forever = heddle_ctx_new();
		parents[1] = heddle_dialect_find(forever, "cuda");
		parents[2] = heddle_dialect_find(forever, "hip");
		parents[0] = heddle_dialect_find(forever, "opencl");
	}
	char *copy = heddle_xstrdup(text), *dots = strstr(copy, "\n...\n");
	(void)length;
	if (dots)
		*dots = '\0';
	const heddle_dialect *dialect = heddle_dialect_read(ctx, "fuzz.yaml", copy, dots ? dots + 5 : NULL, parents);
	if (decided(ctx, dialect != NULL, text)) {
		heddle_text prelude = {0};
		heddle_prelude_print(dialect, text, &prelude);
		heddle_text_free(&prelude);
	}
	free(copy);
}

static int64_t extreme(uint64_t number)
{
	static const int64_t values[] = {0, 1, -1, 7, INT32_MAX, INT64_MAX, INT64_MIN, INT64_MIN + 1};
	return values[number % HEDDLE_COUNT(values)];
}

UNUSED static void fuzz_formula(heddle_ctx *ctx, heddle_arena *arena, const char *text, size_t length)
{
	static const heddle_manifest_size sizes[] = {{"M", 1, 4096, 1}, {"N", 0, INT32_MAX, 1}, {"K", 64, 64, 64}};
	(void)arena;
	if (heddle_formula_check(ctx, text, 3, sizes) < 0) {
		decided(ctx, false, text);
		return;
	}
	for (uint64_t i = 0; i < 16; i++) {
		const int64_t value[] = {extreme(i), extreme(i / 8 + length), extreme(i * 5 + length)};
		int64_t result;
		heddle_diagnostics_clear(ctx);
		decided(ctx, heddle_formula_evaluate(ctx, text, 3, sizes, value, &result) == 0, text);
	}
}

UNUSED static void fuzz_manifest(heddle_ctx *ctx, heddle_arena *arena, const char *text, size_t length)
{
	(void)length;
	heddle_manifest *manifest = heddle_manifest_parse(ctx, "fuzz.json", text);
	if (!decided(ctx, manifest != NULL, text))
		return;
	heddle_text once = {0}, twice = {0};
	heddle_manifest_print(manifest, &once);
	heddle_manifest *again = heddle_manifest_parse(ctx, "again.json", heddle_text_str(&once));
	if (!again)
		finding(ctx, "what was printed is refused", heddle_text_str(&once));
	heddle_manifest_print(again, &twice);
	same(ctx, &once, &twice);
	int64_t *value = HEDDLE_NEW_ARRAY(arena, int64_t, manifest->n_size + 1);
	for (int i = 0; i < manifest->n_size; i++)
		value[i] = manifest->size[i].max;
	for (int i = 0; i < manifest->n_launch; i++)
		for (int k = 0; k < 3; k++) {
			int64_t blocks;
			heddle_diagnostics_clear(ctx);
			decided(ctx, heddle_formula_evaluate(ctx, manifest->launch[i].grid[k], manifest->n_size, manifest->size, value,
							     &blocks) == 0, text);
		}
	heddle_text_free(&once);
	heddle_text_free(&twice);
	heddle_manifest_free(again);
	heddle_manifest_free(manifest);
}

UNUSED static void fuzz_config(heddle_ctx *ctx, heddle_arena *arena, const char *text, size_t length)
{
	(void)length;
	const heddle_config *config = heddle_config_parse(ctx, arena, text);
	if (!decided(ctx, config != NULL, text))
		return;
	heddle_text once = {0}, twice = {0};
	heddle_config_print(config, &once);
	config = heddle_config_parse(ctx, arena, heddle_text_str(&once));
	if (!config)
		finding(ctx, "what was printed is refused", heddle_text_str(&once));
	heddle_config_print(config, &twice);
	same(ctx, &once, &twice);
	heddle_text_free(&once);
	heddle_text_free(&twice);
}

UNUSED static void fuzz_program(heddle_ctx *ctx, heddle_arena *arena, const char *text, size_t length)
{
	(void)arena;
	(void)length;
	heddle_program *program = heddle_program_parse(ctx, "fuzz.program", text);
	if (!decided(ctx, program != NULL, text))
		return;
	heddle_text once = {0}, twice = {0};
	heddle_program_print(program, &once);
	heddle_program *again = heddle_program_parse(ctx, "again.program", heddle_text_str(&once));
	if (!again)
		finding(ctx, "what was printed is refused", heddle_text_str(&once));
	heddle_program_print(again, &twice);
	same(ctx, &once, &twice);
	heddle_program_validate(ctx, program);
	heddle_text_free(&once);
	heddle_text_free(&twice);
	heddle_program_free(again);
	heddle_program_free(program);
}

UNUSED static void fuzz_npy(heddle_ctx *ctx, heddle_arena *arena, const char *text, size_t length)
{
	(void)arena;
	heddle_array *array = heddle_npy_parse(ctx, "fuzz.npy", text, length, length % 3 ? -1 : (int)(length % HEDDLE_N_TYPE));
	decided(ctx, array != NULL, "(bytes)");
	heddle_array_free(array);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = heddle_xalloc(size + 1);
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	heddle_ctx *ctx = heddle_ctx_new();
	heddle_arena *arena = heddle_arena_new();
	clock_t start = clock();
	TARGET_OF(FUZZ)(ctx, arena, text, size);
	if ((clock() - start) / CLOCKS_PER_SEC >= MOST_SECONDS)
		finding(ctx, "it takes too long", text);
	heddle_arena_free(arena);
	heddle_ctx_free(ctx);
	free(text);
	return 0;
}
