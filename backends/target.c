/* Targets: a backend and a chip, and what the passes must know of a backend's language.
 * SPDX-License-Identifier: MIT
 */
#include "backends/dialect.h"

#include <stdlib.h>
#include <string.h>

const char *const heddle_usual_targets[] = {"cuda:h100", "hip:mi300x", "opencl:cpu", NULL};
const char *const heddle_usual_plan[] = {"cuda:h100", NULL};
const char *const heddle_usual_host[] = {"opencl:cpu", NULL};

heddle_language heddle_dialect_language(const heddle_dialect *dialect)
{
	const char *max_vector = heddle_dialect_word(dialect, "language.max_vector"), *max_bytes = heddle_dialect_word(dialect, "vector.max_bytes");
	return (heddle_language){
		.vector_arithmetic = heddle_dialect_flag(dialect, "language.vector_arithmetic"),
		.unaligned_vectors = heddle_dialect_flag(dialect, "language.unaligned_vectors"),
		.zips = heddle_dialect_word(dialect, "vector_op.zip") && heddle_dialect_word(dialect, "vector_op.unzip"),
		.copies = heddle_dialect_word(dialect, "unroll_by"),
		.shuffles = heddle_dialect_flag(dialect, "language.shuffles"),
		.max_vector = max_vector ? atoi(max_vector) : 1,
		.max_bytes = max_bytes ? atoi(max_bytes) : 0,
	};
}

heddle_language heddle_target_language(const heddle_target *target)
{
	heddle_language language = heddle_dialect_language(target->dialect);
	language.zips = language.zips && target->descriptor->execution == HEDDLE_SIMD;
	return language;
}

/* Each chip has its own language; another writes for it when it says so, or is made from the chip's own. */
static bool writes_for(heddle_ctx *ctx, const heddle_dialect *dialect, const heddle_descriptor *descriptor)
{
	if (!descriptor->backend || heddle_dialect_flag(dialect, "language.any_chip"))
		return true;
	while (dialect && strcmp(dialect->name, descriptor->backend) != 0) {
		const char *parent = heddle_dialect_word(dialect, "inherits");
		dialect = parent ? heddle_dialect_find(ctx, parent) : NULL;
	}
	return dialect != NULL;
}

int heddle_target_parse(heddle_ctx *ctx, const char *text, heddle_target *target)
{
	heddle_arena *arena = heddle_ctx_arena(ctx);
	const char *colon = strchr(text, ':');
	const char *backend = colon ? heddle_arena_strndup(arena, text, (size_t)(colon - text)) : NULL;
	const char *chip = colon ? colon + 1 : text;
	*target = (heddle_target){0};
	if (!*chip || (backend && !*backend))
		return heddle_error(ctx, 456, NULL, "`%s` is no target: write BACKEND:CHIP, such as cuda:h200", text);
	if (backend) {
		target->dialect = heddle_dialect_find(ctx, backend);
		if (!target->dialect)
			return -1;
	}
	target->descriptor = heddle_descriptor_find(ctx, chip);
	if (!target->descriptor)
		return -1;
	if (target->descriptor->abstract)
		return heddle_error(ctx, 456, NULL, "`%s` is no chip, only a base for descriptors", chip);
	if (!backend) {
		backend = target->descriptor->backend;
		if (!backend)
			return heddle_error(ctx, 456, NULL, "the descriptor %s names no backend: write BACKEND:%s", chip, chip);
		target->dialect = heddle_dialect_find(ctx, backend);
		if (!target->dialect)
			return -1;
	}
	if (!writes_for(ctx, target->dialect, target->descriptor)) {
		heddle_error(ctx, 456, NULL, "`%s` is no target: %s does not write for %s", text, target->dialect->name,
			     target->descriptor->name);
		return heddle_note(ctx, NULL, "its own language is %s:%s", target->descriptor->backend, chip), -1;
	}
	target->backend = target->dialect->name;
	target->text = heddle_arena_printf(arena, "%s:%s", target->backend, target->descriptor->name);
	return 0;
}
