/* Targets: a backend and a chip, and what the passes must know of a backend's language.
 * SPDX-License-Identifier: MIT
 */
#include "backends/dialect.h"

#include <stdlib.h>
#include <string.h>

const char *const heddle_usual_targets[] = {"cuda:h100", "hip:mi300x", "opencl:cpu", NULL};
const char *const heddle_usual_plan[] = {"cuda:h100", NULL};
const char *const heddle_usual_tests[] = {"cuda:h100", "hip:mi300x", "host", NULL};
const char *const heddle_usual_host[] = {"host", NULL};

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

static bool is_in(const char *const *list, const char *name)
{
	while (*list && strcmp(*list, name) != 0)
		list++;
	return *list != NULL;
}

static bool has_alias(const heddle_descriptor *descriptor, const char *name)
{
	for (int i = 0; i < descriptor->n_alias; i++)
		if (!strcmp(descriptor->alias[i], name))
			return true;
	return false;
}

/* The name of a backend alone, which no chip has: the error says which chips there are for it. */
static bool is_backend_alone(heddle_ctx *ctx, const char *text)
{
	const char *const *chip = heddle_descriptor_names(ctx);
	if (!is_in(heddle_dialect_names(ctx), text) || is_in(chip, text))
		return false;
	heddle_text list = {0};
	bool alone = true;
	for (; *chip && alone; chip++) {
		const heddle_descriptor *d = heddle_descriptor_find(ctx, *chip);
		alone = !d || !has_alias(d, text);
		if (d && d->backend && !strcmp(d->backend, text))
			heddle_text_printf(&list, "%s%s:%s", list.length ? ", " : "", text, *chip);
	}
	if (alone) {
		heddle_error(ctx, 456, NULL, "`%s` is a backend, not a target: write BACKEND:CHIP", text);
		if (list.length)
			heddle_note(ctx, NULL, "its targets: %s", heddle_text_str(&list));
	}
	heddle_text_free(&list);
	return alone;
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
	if (!backend && is_backend_alone(ctx, text))
		return -1;
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
