/* The context: everything that one user of the library owns.
 * SPDX-License-Identifier: MIT
 */
#include "base/ctx.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static void insert_path(heddle_ctx *ctx, int at, const char *folder, size_t length)
{
	const char **path = HEDDLE_NEW_ARRAY(ctx->arena, const char *, ctx->n_path + 2);
	for (int i = 0; i < at; i++)
		path[i] = ctx->path[i];
	path[at] = heddle_arena_strndup(ctx->arena, folder, length);
	for (int i = at; i < ctx->n_path; i++)
		path[i + 1] = ctx->path[i];
	ctx->path = path;
	ctx->n_path++;
}

heddle_ctx *heddle_ctx_new(void)
{
	heddle_ctx *ctx = calloc(1, sizeof(*ctx));
	if (!ctx)
		return NULL;
	ctx->arena = heddle_arena_new();
	if (!ctx->arena) {
		free(ctx);
		return NULL;
	}
	ctx->path = HEDDLE_NEW_ARRAY(ctx->arena, const char *, 1);
	for (const char *p = getenv("HEDDLE_PATH"); p && *p;) {
		size_t length = strcspn(p, ":");
		if (length)
			insert_path(ctx, ctx->n_path, p, length);
		p += length + (p[length] == ':');
	}
	return ctx;
}

heddle_ctx *heddle_ctx_free(heddle_ctx *ctx)
{
	if (!ctx)
		return NULL;
	for (heddle_attachment *a = ctx->attachment; a; a = a->next)
		if (a->data)
			a->release(a->data);
	heddle_text_free(&ctx->messages);
	heddle_arena_free(ctx->arena);
	free(ctx);
	return NULL;
}

int heddle_ctx_set_policy(heddle_ctx *ctx, const char *name)
{
	int policy = name ? heddle_policy_parse(name) : -1;
	if (name && policy < 0)
		return heddle_error(ctx, 134, NULL, "there is no numeric policy `%s`: %s", name,
				    !strcmp(name, "tf32") ? "no target has matrix instructions for it yet"
							  : "they are ieee and relaxed");
	ctx->policy = policy + 1;
	return 0;
}

int heddle_ctx_policy(const heddle_ctx *ctx)
{
	return ctx->policy - 1;
}

int heddle_ctx_add_path(heddle_ctx *ctx, const char *folder)
{
	insert_path(ctx, ctx->n_added++, folder, strlen(folder));
	return 0;
}

const char *heddle_ctx_messages(heddle_ctx *ctx)
{
	heddle_text_clear(&ctx->messages);
	for (const heddle_diagnostic *d = ctx->first; d; d = d->next)
		heddle_diagnostic_print(d, &ctx->messages);
	return heddle_text_str(&ctx->messages);
}

heddle_arena *heddle_ctx_arena(heddle_ctx *ctx)
{
	return ctx->arena;
}

const char *const *heddle_ctx_paths(const heddle_ctx *ctx)
{
	return ctx->path;
}

static heddle_attachment *attachment_of(const heddle_ctx *ctx, const char *name)
{
	heddle_attachment *a = ctx->attachment;
	while (a && strcmp(a->name, name))
		a = a->next;
	return a;
}

void *heddle_ctx_attached(const heddle_ctx *ctx, const char *name)
{
	const heddle_attachment *a = attachment_of(ctx, name);
	return a ? a->data : NULL;
}

void heddle_ctx_attach(heddle_ctx *ctx, const char *name, void *data, void (*release)(void *data))
{
	heddle_attachment *a = attachment_of(ctx, name);
	if (a) {
		if (a->data)
			a->release(a->data);
	} else {
		a = HEDDLE_NEW(ctx->arena, heddle_attachment);
		a->name = heddle_arena_strdup(ctx->arena, name);
		a->next = ctx->attachment;
		ctx->attachment = a;
	}
	a->data = data;
	a->release = release;
}

void heddle_ctx_set_progress(heddle_ctx *ctx, void (*line)(void *user, const char *text), void *user)
{
	ctx->progress = line;
	ctx->progress_user = user;
}

void heddle_progress(heddle_ctx *ctx, const char *format, ...)
{
	if (!ctx->progress)
		return;
	heddle_text text = {0};
	va_list args;
	va_start(args, format);
	heddle_text_vprintf(&text, format, args);
	va_end(args);
	ctx->progress(ctx->progress_user, heddle_text_str(&text));
	heddle_text_free(&text);
}

heddle_steps heddle_steps_new(int total)
{
	return (heddle_steps){.total = total, .start = heddle_now()};
}

/* Seconds as someone who waits says them; "" when too little is done to tell. */
static const char *left_text(const heddle_steps *steps, char buffer[40])
{
	const double elapsed = heddle_now() - steps->start, soon = 90;
	const double left = steps->done > 0 ? elapsed / steps->done * (steps->total - steps->done) : -1;
	*buffer = 0;
	if (left >= 0 && elapsed >= 1)
		snprintf(buffer, 40, ", about %.0f %s left", left < soon ? left : left < 60 * soon ? left / 60 : left / 3600,
			 left < soon ? "s" : left < 60 * soon ? "min" : "h");
	return buffer;
}

void heddle_steps_say(heddle_ctx *ctx, const heddle_steps *steps, const char *format, ...)
{
	if (!ctx->progress)
		return;
	heddle_text text = {0};
	char left[40];
	va_list args;
	va_start(args, format);
	heddle_text_vprintf(&text, format, args);
	va_end(args);
	heddle_progress(ctx, "%d of %d%s: %s", steps->done, steps->total, left_text(steps, left), heddle_text_str(&text));
	heddle_text_free(&text);
}

const char *heddle_version(void)
{
	return HEDDLE_VERSION;
}

void heddle_string_free(char *string)
{
	free(string);
}

const heddle_embedded *heddle_embedded_find(const char *path)
{
	for (const heddle_embedded *e = heddle_embedded_files; e->path; e++)
		if (!strcmp(e->path, path))
			return e;
	return NULL;
}

double heddle_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
