/* Where descriptors are found: the folders of --path and HEDDLE_PATH, then the files compiled in, then `host`.
 * SPDX-License-Identifier: MIT
 */
#include "arch/reader.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A name becomes part of a path, so it is no path itself. */
static bool is_plain_name(const char *name)
{
	if (!*name || *name == '.')
		return false;
	for (const char *p = name; *p; p++)
		if (!(*p >= 'a' && *p <= 'z') && !(*p >= 'A' && *p <= 'Z') && !(*p >= '0' && *p <= '9') && !strchr("_-.+", *p))
			return false;
	return true;
}

static const heddle_source *source_from_file(heddle_ctx *ctx, const char *path)
{
	heddle_arena *arena = heddle_ctx_arena(ctx);
	size_t length;
	char *text = heddle_file_read(ctx, path, &length);
	if (!text)
		return NULL;
	heddle_source *source = HEDDLE_NEW(arena, heddle_source);
	source->name = heddle_arena_strdup(arena, path);
	source->text = heddle_arena_strndup(arena, text, length);
	source->length = strlen(source->text);
	free(text);
	return source;
}

static const heddle_source *source_from_embedded(heddle_ctx *ctx, const heddle_embedded *file)
{
	heddle_source *source = HEDDLE_NEW(heddle_ctx_arena(ctx), heddle_source);
	*source = (heddle_source){file->path, file->data, file->length};
	return source;
}

const char heddle_shipped[] = "<shipped>";

/* Where a file of this name lies in `folder` or one of the user's; NULL: nowhere. */
static const char *path_of(heddle_ctx *ctx, const char *folder, const char *name)
{
	heddle_arena *arena = heddle_ctx_arena(ctx);
	const char *path = folder ? heddle_arena_printf(arena, "%s/%s.yaml", folder, name) : NULL;
	if (path && !access(path, F_OK))
		return path;
	for (const char *const *p = heddle_ctx_paths(ctx); *p; p++) {
		path = heddle_arena_printf(arena, "%s/%s.yaml", *p, name);
		if (!access(path, F_OK))
			return path;
		path = heddle_arena_printf(arena, "%s/arch/%s.yaml", *p, name);
		if (!access(path, F_OK))
			return path;
	}
	return NULL;
}

const heddle_source *heddle_descriptor_source(heddle_ctx *ctx, const char *folder, const char *name)
{
	if (!is_plain_name(name))
		return NULL;
	const char *path = folder && !strcmp(folder, heddle_shipped) ? NULL : path_of(ctx, folder, name);
	if (path)
		return source_from_file(ctx, path);
	const heddle_embedded *file = heddle_embedded_find(heddle_arena_printf(heddle_ctx_arena(ctx), "arch/%s.yaml", name));
	if (file)
		return source_from_embedded(ctx, file);
	const heddle_source *own = heddle_host_source(ctx, name, &path);
	return path ? source_from_file(ctx, path) : own;
}

/* ---- all files ------------------------------------------------------------------------------------------------------- */

/* The stems of all files that may be descriptors, each once, in the order of the search. */
typedef struct stems {
	int n;
	const char **name;
} stems;

static void stems_add(heddle_arena *arena, stems *list, const char *file, size_t length)
{
	static const char suffix[] = ".yaml";
	size_t tail = sizeof(suffix) - 1;
	if (length <= tail || strcmp(file + length - tail, suffix) != 0)
		return;
	const char *stem = heddle_arena_strndup(arena, file, length - tail);
	for (int i = 0; i < list->n; i++)
		if (!strcmp(list->name[i], stem))
			return;
	if (is_plain_name(stem))
		HEDDLE_PUSH(arena, list->name, list->n, stem);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void stems_of_folder(heddle_arena *arena, stems *list, const char *folder)
{
	int first = list->n;
	struct dirent *entry;
	DIR *dir = opendir(folder);
	if (!dir)
		return;
	while ((entry = readdir(dir)))
		stems_add(arena, list, entry->d_name, strlen(entry->d_name));
	closedir(dir);
	/* Folders list files in any order; the search has one. */
	if (list->n > first)
		qsort(list->name + first, (size_t)(list->n - first), sizeof(*list->name), by_name);
}

static stems all_stems(heddle_ctx *ctx)
{
	static const char inside[] = "arch/";
	heddle_arena *arena = heddle_ctx_arena(ctx);
	stems list = {0};
	for (const char *const *p = heddle_ctx_paths(ctx); *p; p++) {
		stems_of_folder(arena, &list, *p);
		stems_of_folder(arena, &list, heddle_arena_printf(arena, "%s/arch", *p));
	}
	for (const heddle_embedded *e = heddle_embedded_files; e->path; e++)
		if (!strncmp(e->path, inside, sizeof(inside) - 1))
			stems_add(arena, &list, e->path + sizeof(inside) - 1, strlen(e->path) - (sizeof(inside) - 1));
	stems_add(arena, &list, "host.yaml", strlen("host.yaml"));
	return list;
}

/* Header of the descriptor with this stem; false when the file is none (or cannot be read: naming it tells why). */
static bool header_of(heddle_ctx *ctx, const char *stem, descriptor_header *header, const heddle_source **source)
{
	*source = heddle_descriptor_source(ctx, NULL, stem);
	return *source && !heddle_descriptor_peek(ctx, *source, header);
}

/* ---- by name ----------------------------------------------------------------------------------------------------------- */

const char *heddle_descriptor_folder(heddle_ctx *ctx, const heddle_source *source)
{
	const heddle_embedded *e = heddle_embedded_find(source->name);
	if (heddle_host_is_source(source))
		return heddle_shipped;
	if (e && e->data == source->text)
		return NULL;
	const char *slash = strrchr(source->name, '/');
	return slash ? heddle_arena_strndup(heddle_ctx_arena(ctx), source->name, (size_t)(slash - source->name)) : ".";
}

/* A descriptor that is called as its file is. */
static const heddle_descriptor *checked(heddle_ctx *ctx, const heddle_source *source)
{
	const heddle_descriptor *d = heddle_descriptor_parse(ctx, source, heddle_descriptor_folder(ctx, source));
	const char *slash = strrchr(source->name, '/'), *file = slash ? slash + 1 : source->name;
	if (!d || !strcmp(file, heddle_arena_printf(heddle_ctx_arena(ctx), "%s.yaml", d->name)))
		return d;
	heddle_error(ctx, 414, &d->name_at, "the file %s calls its descriptor `%s`", file, d->name);
	return NULL;
}

static void abstract_error(heddle_ctx *ctx, const char *name)
{
	heddle_text list = {0};
	for (const char *const *p = heddle_descriptor_names(ctx); *p; p++) {
		const heddle_source *source = heddle_descriptor_source(ctx, NULL, *p);
		const heddle_descriptor *d = source ? heddle_descriptor_parse(ctx, source, heddle_descriptor_folder(ctx, source)) : NULL;
		if (d && d->inherits && !strcmp(d->inherits, name))
			heddle_text_printf(&list, "%s%s", list.length ? ", " : "", d->name);
	}
	heddle_error(ctx, 412, NULL, "`%s` is abstract: it is there to be inherited from, not to be a target", name);
	if (list.length)
		heddle_note(ctx, NULL, "chips that inherit from it: %s", heddle_text_str(&list));
	heddle_text_free(&list);
}

static void unknown_error(heddle_ctx *ctx, const char *name, const stems *list)
{
	heddle_arena *arena = heddle_ctx_arena(ctx);
	const char **known = NULL;
	int n = 0;
	heddle_text shown = {0};
	for (int i = 0; i < list->n; i++) {
		descriptor_header h;
		const heddle_source *source;
		if (!header_of(ctx, list->name[i], &h, &source) || h.abstract)
			continue;
		heddle_text_printf(&shown, "%s%s", n ? ", " : "", list->name[i]);
		HEDDLE_PUSH(arena, known, n, list->name[i]);
		for (int k = 0; k < h.n_alias; k++)
			HEDDLE_PUSH(arena, known, n, h.alias[k]);
	}
	const char *nearest = heddle_nearest(name, known, n);
	heddle_error(ctx, 400, NULL, "unknown chip `%s`", name);
	if (nearest)
		heddle_note(ctx, NULL, "did you mean `%s`?", nearest);
	else
		heddle_note(ctx, NULL, "known chips: %s", heddle_text_str(&shown));
	heddle_text_free(&shown);
}

/* The chip that goes by this alias. */
static const heddle_source *source_by_alias(heddle_ctx *ctx, const stems *list, const char *alias)
{
	for (int i = 0; i < list->n; i++) {
		descriptor_header h;
		const heddle_source *source;
		if (!header_of(ctx, list->name[i], &h, &source) || h.abstract)
			continue;
		for (int k = 0; k < h.n_alias; k++)
			if (!strcmp(h.alias[k], alias))
				return source;
	}
	return NULL;
}

/* An abstract base may have the name that a chip has as its alias (`gfx942`): as a target, that name is the chip. */
const heddle_descriptor *heddle_descriptor_find(heddle_ctx *ctx, const char *name)
{
	int errors = heddle_error_count(ctx);
	descriptor_header h;
	const heddle_source *named = heddle_descriptor_source(ctx, NULL, name), *source;
	if (heddle_error_count(ctx) != errors)
		return NULL;
	if (named && (heddle_descriptor_peek(ctx, named, &h) < 0 || !h.abstract))
		return checked(ctx, named);
	stems list = all_stems(ctx);
	source = source_by_alias(ctx, &list, name);
	if (source)
		return checked(ctx, source);
	if (named)
		abstract_error(ctx, name);
	else
		unknown_error(ctx, name, &list);
	return NULL;
}

const heddle_descriptor *heddle_descriptor_read(heddle_ctx *ctx, const char *path)
{
	const heddle_source *source = source_from_file(ctx, path);
	return source ? checked(ctx, source) : NULL;
}

const char *const *heddle_descriptor_names(heddle_ctx *ctx)
{
	heddle_arena *arena = heddle_ctx_arena(ctx);
	stems list = all_stems(ctx), kept = {0};
	for (int i = 0; i < list.n; i++) {
		descriptor_header h;
		const heddle_source *source;
		if (header_of(ctx, list.name[i], &h, &source) && !h.abstract)
			HEDDLE_PUSH(arena, kept.name, kept.n, list.name[i]);
	}
	if (kept.n)
		qsort(kept.name, (size_t)kept.n, sizeof(*kept.name), by_name);
	HEDDLE_PUSH(arena, kept.name, kept.n, NULL);
	return (const char *const *)kept.name;
}
