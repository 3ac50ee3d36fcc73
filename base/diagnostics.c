/* Diagnostics: recorded in the context, printed with the source line and a caret.
 * SPDX-License-Identifier: MIT
 */
#include "base/ctx.h"

#include <string.h>

enum { LONGEST_MESSAGE = 1000 };

static void record(heddle_ctx *ctx, heddle_severity severity, int code, const heddle_location *location, const char *format,
		   va_list args) HEDDLE_PRINTF(5, 0);

static void record(heddle_ctx *ctx, heddle_severity severity, int code, const heddle_location *location, const char *format,
		   va_list args)
{
	heddle_text text = {0};
	heddle_text_vprintf(&text, format, args);
	if (text.length > LONGEST_MESSAGE) { /* names and formulas may be of any length */
		size_t n = LONGEST_MESSAGE;
		while (n && ((unsigned char)text.data[n] & 0xC0) == 0x80)
			n--;
		text.length = n;
		heddle_text_add(&text, "..");
	}
	heddle_diagnostic *d = HEDDLE_NEW(ctx->arena, heddle_diagnostic);
	d->severity = severity;
	d->code = code;
	if (location)
		d->location = *location;
	d->message = heddle_arena_strndup(ctx->arena, heddle_text_str(&text), text.length);
	heddle_text_free(&text);
	if (ctx->last)
		ctx->last->next = d;
	else
		ctx->first = d;
	ctx->last = d;
	if (severity != HEDDLE_NOTE)
		ctx->newest = d;
	if (severity == HEDDLE_ERROR)
		ctx->n_error++;
}

int heddle_error(heddle_ctx *ctx, int code, const heddle_location *location, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	record(ctx, HEDDLE_ERROR, code, location, format, args);
	va_end(args);
	return -1;
}

int heddle_warning(heddle_ctx *ctx, int code, const heddle_location *location, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	record(ctx, HEDDLE_WARNING, code, location, format, args);
	va_end(args);
	return 0;
}

int heddle_note(heddle_ctx *ctx, const heddle_location *location, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	record(ctx, HEDDLE_NOTE, 0, location, format, args);
	va_end(args);
	return 0;
}

void heddle_fixit(heddle_ctx *ctx, const char *format, ...)
{
	if (!ctx->newest)
		return;
	heddle_text text = {0};
	va_list args;
	va_start(args, format);
	heddle_text_vprintf(&text, format, args);
	va_end(args);
	ctx->newest->fixit = heddle_arena_strndup(ctx->arena, heddle_text_str(&text), text.length);
	heddle_text_free(&text);
}

const heddle_diagnostic *heddle_diagnostics(const heddle_ctx *ctx)
{
	return ctx->first;
}

int heddle_error_count(const heddle_ctx *ctx)
{
	return ctx->n_error;
}

void heddle_diagnostics_clear(heddle_ctx *ctx)
{
	ctx->first = ctx->last = ctx->newest = NULL;
	ctx->n_error = 0;
}

int heddle_diagnostics_count(const heddle_ctx *ctx)
{
	int n = 0;
	for (const heddle_diagnostic *d = ctx->first; d; d = d->next)
		n++;
	return n;
}

void heddle_diagnostics_keep(heddle_ctx *ctx, int n)
{
	heddle_diagnostic *old = ctx->first;
	heddle_diagnostics_clear(ctx);
	for (heddle_diagnostic *next; old && n > 0; old = next, n--) {
		next = old->next;
		old->next = NULL;
		if (ctx->last)
			ctx->last->next = old;
		else
			ctx->first = old;
		ctx->last = old;
		if (old->severity != HEDDLE_NOTE)
			ctx->newest = old;
		ctx->n_error += old->severity == HEDDLE_ERROR;
	}
}

/* The start of line `line` (from 1), its length without the newline; NULL past the end. */
static const char *find_line(const heddle_source *source, int line, size_t *length)
{
	const char *p = source->text, *end = source->text + source->length;
	for (int i = 1; i < line; i++) {
		p = memchr(p, '\n', (size_t)(end - p));
		if (!p)
			return NULL;
		p++;
	}
	const char *newline = memchr(p, '\n', (size_t)(end - p));
	*length = (size_t)((newline ? newline : end) - p);
	if (*length && p[*length - 1] == '\r')
		--*length;
	return p;
}

static bool continues_character(char c)
{
	return ((unsigned char)c & 0xC0) == 0x80;
}

/* Blanks as wide as the first `n` bytes of a line: tabs stay tabs, the further bytes of a UTF-8 character take no room. */
static void add_padding(heddle_text *out, const char *line, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!continues_character(line[i]))
			heddle_text_addn(out, line[i] == '\t' ? "\t" : " ", 1);
}

/* Of a long line only what is around the place, cut between characters. */
static const char *cut_line(const char *line, size_t *length, size_t *column)
{
	enum { BEFORE = 120, LONGEST = 320 };
	if (*length > LONGEST && *column > BEFORE) {
		size_t from = *column - BEFORE;
		while (from < *column && continues_character(line[from]))
			from++;
		line += from;
		*length -= from;
		*column -= from;
	}
	if (*length > LONGEST)
		for (*length = LONGEST; *length > *column && continues_character(line[*length]);)
			--*length;
	return line;
}

static void print_line(const heddle_diagnostic *d, heddle_text *out)
{
	const heddle_location *at = &d->location;
	size_t length, column = at->column > 0 ? (size_t)at->column - 1 : 0;
	const char *line = find_line(at->source, at->line, &length);
	if (!line)
		return;
	if (column > length)
		column = length;
	line = cut_line(line, &length, &column);
	size_t marked = at->length > 0 ? (size_t)at->length : 1;
	if (marked > length - column)
		marked = length - column;
	heddle_text_add(out, "    ");
	heddle_text_addn(out, line, length);
	heddle_text_add(out, "\n    ");
	add_padding(out, line, column);
	heddle_text_add(out, "^");
	for (size_t i = 1; i < marked; i++)
		if (!continues_character(line[column + i]))
			heddle_text_add(out, "~");
	heddle_text_add(out, "\n");
	if (d->fixit && !strchr(d->fixit, '\n')) {
		heddle_text_add(out, "    ");
		add_padding(out, line, column);
		heddle_text_printf(out, "%s\n", d->fixit);
	}
}

void heddle_diagnostic_print(const heddle_diagnostic *d, heddle_text *out)
{
	static const char *const names[] = {"error", "warning", "note"};
	static const char letters[] = "EWN";
	const heddle_location *at = &d->location;
	if (at->source && at->line > 0)
		heddle_text_printf(out, "%s:%d:%d: ", at->source->name, at->line, at->column);
	else if (at->source)
		heddle_text_printf(out, "%s: ", at->source->name);
	heddle_text_printf(out, "%s: %s", names[d->severity], d->message);
	if (d->code)
		heddle_text_printf(out, " [%c%04d]", letters[d->severity], d->code);
	heddle_text_add(out, "\n");
	if (at->source && at->source->text && at->line > 0)
		print_line(d, out);
	else if (d->fixit)
		heddle_text_printf(out, "    %s\n", d->fixit);
}

/* Names that are only ever given on the command line: a chip, an abstract one, a backend, a target. */
static bool is_wrong_name(int code)
{
	return code == 400 || code == 412 || code == 450 || code == 456;
}

/* Limits that are not the compiler's: a case that is too large for a test. */
static bool is_limit(int code)
{
	return (code >= 600 && code < 700) || code == 719;
}

/* What is wrong is what an option says: sizes, a definition's name, a policy, a config, a value of --sweep. */
static bool is_of_option(const heddle_diagnostic *d)
{
	static const int only_there[] = {306, 307, 309, 415}, without_place[] = {134, 304, 405};
	const char *place = d->location.source ? d->location.source->name : NULL;
	bool is = d->code >= 500 && d->code < 600;
	for (size_t i = 0; i < HEDDLE_COUNT(only_there); i++)
		is = is || d->code == only_there[i];
	for (size_t i = 0; !place && i < HEDDLE_COUNT(without_place); i++)
		is = is || d->code == without_place[i];
	return is || (place && !strncmp(place, "--", 2)); /* the text of the option itself */
}

static int exit_code_of(int code)
{
	if (is_wrong_name(code))
		return HEDDLE_EXIT_USAGE;
	if (code >= 950)
		return HEDDLE_EXIT_INTERNAL;
	if (code >= 900)
		return HEDDLE_EXIT_USAGE;
	if (code >= 800)
		return HEDDLE_EXIT_MISSING;
	if (is_limit(code))
		return HEDDLE_EXIT_LIMIT;
	return HEDDLE_EXIT_SOURCE;
}

/* The first error decides, for later ones may only follow from it; an internal one always shows. */
int heddle_exit_code(const heddle_ctx *ctx)
{
	int result = HEDDLE_EXIT_FINE;
	for (const heddle_diagnostic *d = ctx->first; d; d = d->next) {
		if (d->severity != HEDDLE_ERROR)
			continue;
		int code = is_of_option(d) ? HEDDLE_EXIT_USAGE : exit_code_of(d->code);
		if (result == HEDDLE_EXIT_FINE || code == HEDDLE_EXIT_INTERNAL)
			result = code;
	}
	return result;
}
