/* What a definition is compiled for: targets, some with limits of our own, and changes of a config line.
 * SPDX-License-Identifier: MIT
 */
#include "tests/random/draw.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- targets --------------------------------------------------------------------------------------------------------------- */

int random_target(heddle_ctx *ctx, heddle_arena *arena, random_stream *r, const char *name, heddle_target *target)
{
	const char *colon = strchr(name, '+');
	char *plain = heddle_arena_strndup(arena, name, colon ? (size_t)(colon - name) : strlen(name));
	if (heddle_target_parse(ctx, plain, target) < 0)
		return -1;
	if (!colon)
		return 0;
	heddle_descriptor *d = HEDDLE_NEW(arena, heddle_descriptor);
	*d = *target->descriptor;
	static const double shared[] = {1024, 4096, 16384, 65536}, threads[] = {32, 64, 128, 256, 512}, bytes[] = {4, 8, 16, 32};
	static const double registers[] = {32, 64, 128, 255};
	if (d->execution == HEDDLE_SIMT) {
		d->threads_per_block.value = threads[random_below(r, 5)];
		if (d->threads_per_block.value < d->warp.value)
			d->threads_per_block.value = d->warp.value;
		d->registers_per_thread.value = registers[random_below(r, 4)];
	}
	if (d->shared_per_block.set)
		d->shared_per_block.value = d->shared_per_block_static.value = shared[random_below(r, 4)];
	d->vector_bytes.value = bytes[random_below(r, 4)];
	d->units.value = 1 + random_below(r, 200);
	d->shuffles = d->shuffles && random_percent(r, 70);
	target->descriptor = d;
	return 0;
}

char *random_limits(heddle_arena *arena, const heddle_target *target)
{
	const heddle_descriptor *d = target->descriptor;
	return heddle_arena_printf(arena, "%d threads, %d registers, %d bytes shared, vectors of %d bytes, %d units, shuffles %s",
				   (int)d->threads_per_block.value, (int)d->registers_per_thread.value, (int)d->shared_per_block.value,
				   (int)d->vector_bytes.value, (int)d->units.value, d->shuffles ? "yes" : "no");
}

/* ---- configs --------------------------------------------------------------------------------------------------------------- */

const char *random_config_key(const char *line, const char *at)
{
	while (at > line && *at != '=')
		at--;
	while (at > line && isalpha((unsigned char)at[-1]))
		at--;
	return at;
}

/* Every tile, thread and vector number made smaller by powers of two, tiles kept multiples; rounds as tiles. */
static char *shrink(heddle_arena *arena, const char *line, int tile, int thread, int vector)
{
	heddle_text text = {0};
	for (const char *at = line; *at;) {
		bool number = isdigit((unsigned char)*at) && at > line && (at[-1] == ':' || at[-1] == '=');
		const char *key = number ? random_config_key(line, at) : "";
		bool threads = !strncmp(key, "thread=", 7) || !strncmp(key, "threads=", 8);
		bool rounds = !strncmp(key, "round=", 6);
		if (!number || (!threads && !rounds && strncmp(key, "tile=", 5) && strncmp(key, "vector=", 7))) {
			heddle_text_addn(&text, at++, 1);
			continue;
		}
		char *end;
		long value = strtol(at, &end, 10);
		value >>= threads ? thread : rounds || *key == 't' ? tile : vector;
		heddle_text_printf(&text, "%ld", value < 1 ? 1 : value);
		at = end;
	}
	char *result = heddle_arena_strdup(arena, heddle_text_str(&text));
	heddle_text_free(&text);
	return result;
}

static char *replaced(heddle_arena *arena, const char *line, const char *from, const char *to, const char *with)
{
	return heddle_arena_printf(arena, "%.*s%s%s", (int)(from - line), line, with, to);
}

/* `key=value` in the part of the line that begins at `at`, in place of the value that is given there. */
static char *with_key(heddle_arena *arena, const char *line, const char *at, const char *key)
{
	const size_t length = strcspn(key, "=") + 1, part = strcspn(at, ";");
	for (const char *old = at; (size_t)(old - at) + length <= part; old++)
		if (old[-1] == ' ' && !strncmp(old, key, length))
			return replaced(arena, line, old, old + strcspn(old, " ;"), key);
	return replaced(arena, line, at, at, heddle_arena_printf(arena, " %s", key));
}

/* One small change somewhere. */
static char *change(heddle_arena *arena, random_stream *r, char *line)
{
	static const char *const numbers[] = {"1", "2", "4", "8", "16", "32", "64", "3", "128"};
	static const char *const spaces[] = {"register", "shared", "global"};
	int how = random_below(r, 100), n = 0;
	const char *place[200];
	if (how < 45) { /* a number */
		for (const char *at = line; *at && n < 200; at++)
			if (isdigit((unsigned char)*at) && at > line &&
			    (at[-1] == ':' || (at[-1] == '=' && !strncmp(random_config_key(line, at), "threads=", 8))))
				place[n++] = at;
		if (!n)
			return line;
		const char *at = place[random_below(r, n)], *end = at;
		while (isdigit((unsigned char)*end))
			end++;
		return replaced(arena, line, at, end, numbers[random_below(r, 9)]);
	}
	if (how < 60) { /* where a group lives */
		for (const char *at = line; (at = strstr(at, "space=")) && n < 200; at += 6)
			place[n++] = at + 6;
		if (!n)
			return line;
		const char *at = place[random_below(r, n)], *end = at;
		while (isalpha((unsigned char)*end))
			end++;
		return replaced(arena, line, at, end, spaces[random_below(r, 3)]);
	}
	if (how < 75) { /* a part left to the cost model */
		for (const char *at = line; (at = strstr(at, "; ")) && n < 200; at += 2)
			place[n++] = at;
		if (!n)
			return line;
		const char *at = place[random_below(r, n)], *end = strstr(at + 1, "; ");
		return replaced(arena, line, at, end ? end : at + strlen(at), "");
	}
	if (how < 80) { /* a reduction by lanes or not */
		for (const char *at = line; (at = strstr(at, "reduce=")) && n < 200; at += 7)
			place[n++] = at;
		if (n) {
			const char *at = place[random_below(r, n)], *end = at;
			while (*end && *end != ' ' && *end != ';')
				end++;
			return replaced(arena, line, at, end, "");
		}
		return line;
	}
	if (how < 86) { /* the grouping: the rest is completed */
		const char *fuse = strstr(line, "fuse=");
		int kernel = 0;
		heddle_text text = {0};
		if (!fuse)
			return line;
		for (const char *at = fuse + 5; *at && *at != ';'; at++)
			if (isdigit((unsigned char)*at) && !isdigit((unsigned char)at[1])) {
				heddle_text_printf(&text, "%s%d", text.length ? "," : "fuse=", kernel);
				kernel += random_percent(r, 50);
			}
		char *result = heddle_arena_strdup(arena, heddle_text_str(&text));
		heddle_text_free(&text);
		return result;
	}
	if (how < 90) { /* a tile gone over in rounds */
		for (const char *at = line; (at = strstr(at, "tile=")) && n < 200; at += 5)
			place[n++] = at;
		if (!n)
			return line;
		const char *at = place[random_below(r, n)], *colon = strchr(at, ':'), *round = strstr(at, "round=");
		const bool given = round && (size_t)(round - at) < strcspn(at, ";");
		return colon && !given ? replaced(arena, line, at, at, heddle_arena_printf(arena, "round=%.*s:%s ", (int)(colon - at - 5), at + 5,
										 numbers[1 + random_below(r, 3)]))
			     : line;
	}
	if (how < 97) { /* the lanes beside the members, or the members in another order of blocks */
		const char *at = strstr(line, "k0:");
		if (!at)
			return line;
		static const char *const more[] = {"lanes=outer", "lanes=inner", "order=j", "order=i", "order=p"};
		return with_key(arena, line, at + 3, more[random_below(r, 5)]);
	}
	return heddle_arena_printf(arena, "split=%d:%c:%d", random_below(r, 3), "ijpqu"[random_below(r, 5)], 1 << random_below(r, 5));
}

char *random_config(heddle_arena *arena, random_stream *r, const heddle_program *program)
{
	char *line = heddle_arena_strdup(arena, program->config);
	/* groups that live in global memory are not in the line */
	if (random_percent(r, 40)) {
		const heddle_buffer *buffer = program->buffer[random_below(r, program->n_buffer)];
		if (buffer->role == HEDDLE_BUFFER_INPUT && !strstr(line, heddle_arena_printf(arena, "; k0.%s.0:", buffer->name)))
			line = heddle_arena_printf(arena, "%s; k0.%s.0: space=shared%s", line, buffer->name,
						   random_percent(r, 30) ? " pad=1" : "");
	}
	if (random_percent(r, 75)) {
		int tile = random_below(r, 7), thread = random_below(r, tile + 1), vector = random_below(r, 3);
		line = shrink(arena, line, tile, thread, vector);
		if (random_percent(r, 50))
			return line;
	}
	for (int n = 1 + random_below(r, 3); n; n--)
		line = change(arena, r, line);
	return line;
}
