/* A descriptor with one value changed: what a chip would be if.
 * SPDX-License-Identifier: MIT
 */
#include "arch/reader.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* A key as it is written here, and what it stands for. */
typedef struct place {
	const char *memory; /* NULL: of the chip itself */
	const char *rate;   /* NULL: no arithmetic rate */
	const char *key;
	unit_dimension dimension;
} place;

static const field *find_field(const field *list, const char *key)
{
	for (const field *f = list; f->key; f++)
		if (!strcmp(f->key, key))
			return f;
	return NULL;
}

static bool find_place(const heddle_descriptor *d, heddle_arena *arena, const char *key, place *out)
{
	const char *dot = strchr(key, '.');
	const int type = heddle_type_parse(key);
	*out = (place){.key = key};
	if (dot) {
		out->memory = heddle_arena_strndup(arena, key, (size_t)(dot - key));
		out->key = dot + 1;
	}
	if (dot && !heddle_descriptor_memory(d, out->memory))
		return false;
	const field *f = find_field(dot ? heddle_memory_fields : heddle_descriptor_fields, out->key);
	if (f)
		out->dimension = f->dimension;
	else if (!dot && type >= 0 && heddle_type_is_float((heddle_type)type))
		out->rate = key, out->dimension = DIMENSION_FLOPS;
	return f || out->rate;
}

static void unknown_key(heddle_ctx *ctx, const heddle_descriptor *d, const char *key)
{
	heddle_arena *arena = heddle_ctx_arena(ctx);
	const char **known = NULL;
	int n = 0;
	for (const field *f = heddle_descriptor_fields; f->key; f++)
		HEDDLE_PUSH(arena, known, n, f->key);
	for (int m = 0; m < d->n_memory; m++)
		for (const field *f = heddle_memory_fields; f->key; f++) {
			const char *name = heddle_arena_printf(arena, "%s.%s", d->memory[m].name, f->key);
			HEDDLE_PUSH(arena, known, n, name);
		}
	for (int r = 0; r < d->n_rate; r++) {
		const char *name = heddle_type_name(d->rate[r].type);
		HEDDLE_PUSH(arena, known, n, name);
	}
	const char *nearest = heddle_nearest(key, known, n);
	heddle_error(ctx, 415, NULL, "`%s` has no value `%s` that can be changed", d->name, key);
	if (nearest)
		heddle_note(ctx, NULL, "did you mean `%s`?", nearest);
	else
		heddle_note(ctx, NULL, "`heddle arch show %s` lists them; those of a memory as in l2.size", d->name);
}

/* "64K" of memory is 64 KiB, of anything else 64 thousand of the base unit. */
static const char *unit_of(heddle_arena *arena, const char *suffix, unit_dimension dimension)
{
	const char *base = "";
	for (const unit *u = heddle_units; u->name; u++)
		if (u->dimension == dimension && u->factor == 1) {
			base = u->name;
			break;
		}
	if (!*suffix)
		return base;
	if (suffix[1])
		return suffix;
	return heddle_arena_printf(arena, dimension == DIMENSION_BYTES ? "%ciB" : "%c%s", *suffix, base);
}

static const char *example(heddle_arena *arena, unit_dimension dimension)
{
	return dimension == DIMENSION_COUNT ? "64" : heddle_arena_printf(arena, "64%s", unit_of(arena, "K", dimension));
}

/* The shared memory of a block is at least what may be declared in the text, and at most its unit's: these follow. */
static const char *companions(heddle_arena *arena, const heddle_descriptor *d, const char *key, const char *written)
{
	if (strcmp(key, "shared_per_block") != 0)
		return "";
	return heddle_arena_printf(arena, "%s%s%s%s%s%s", d->shared_per_block_static.set ? "shared_per_block_static: " : "",
				   d->shared_per_block_static.set ? written : "", "\n", d->shared_per_unit.set ? "shared_per_unit: " : "",
				   d->shared_per_unit.set ? written : "", "\n");
}

const heddle_descriptor *heddle_descriptor_vary(heddle_ctx *ctx, const heddle_descriptor *descriptor, const char *key, const char *value)
{
	heddle_arena *arena = heddle_ctx_arena(ctx);
	place at;
	if (!find_place(descriptor, arena, key, &at))
		return unknown_key(ctx, descriptor, key), NULL;
	const char *suffix = value;
	while (isdigit((unsigned char)*suffix) || *suffix == '.')
		suffix++;
	if (suffix == value) {
		heddle_error(ctx, 405, NULL, "`%s=%s` has no number", key, value);
		return heddle_note(ctx, NULL, "write one with its unit, as in %s=%s", key, example(arena, at.dimension)), NULL;
	}
	const char *number = heddle_arena_strndup(arena, value, (size_t)(suffix - value));
	const char *written = heddle_arena_printf(arena, "{ value: %s, unit: %s, assumed: true }", number,
						  unit_of(arena, suffix, at.dimension));
	const char *head = heddle_arena_printf(arena, "name: varied\ninherits: %s\n", descriptor->name), *text;
	if (at.memory)
		text = heddle_arena_printf(arena, "%smemory: { %s: { %s: %s } }\n", head, at.memory, at.key, written);
	else if (at.rate)
		text = heddle_arena_printf(arena, "%srates: { %s: %s }\n", head, at.rate, written);
	else
		text = heddle_arena_printf(arena, "%s%s: %s\n%s", head, at.key, written, companions(arena, descriptor, at.key, written));
	heddle_source *source = HEDDLE_NEW(arena, heddle_source);
	*source = (heddle_source){heddle_arena_printf(arena, "--sweep %s=%s", key, value), text, strlen(text)};
	const heddle_source *own = heddle_descriptor_source(ctx, NULL, descriptor->name);
	const heddle_descriptor *varied = heddle_descriptor_parse(ctx, source, own ? heddle_descriptor_folder(ctx, own) : NULL);
	if (!varied)
		return NULL;
	heddle_descriptor *copy = HEDDLE_NEW(arena, heddle_descriptor);
	*copy = *varied;
	copy->name = descriptor->name;
	copy->title = descriptor->title;
	return copy;
}
