/* What the host compiler says about the text, judged: an error of the text, or something that the emulator lacks.
 *
 * The text is compiled against a shim that has most of the languages, so an undeclared name can be either.  A name of the
 * languages (backends/emulator/names.txt) is unsupported; so is another that is reserved for compilers, unless the compiler
 * suggests a similar one.  All else is what the vendor's compiler would reject, too.
 * SPDX-License-Identifier: MIT
 */
#include "harness/emulate.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* One error of the compiler's output. */
typedef struct complaint {
	const char *file;
	int line;
	const char *message;
} complaint;

/* The text between the first pair of quotes (') after `from`. */
static const char *quoted(heddle_arena *arena, const char *from)
{
	const char *begin = strchr(from, '\'');
	const char *end = begin ? strchr(begin + 1, '\'') : NULL;
	return end ? heddle_arena_strndup(arena, begin + 1, (size_t)(end - begin - 1)) : NULL;
}

/* The name that is not declared; NULL: something else is wrong. */
static const char *undeclared(heddle_arena *arena, const char *message)
{
	static const char *const ways[] = {
		"was not declared", "does not name a type", "has not been declared", "is not a member", "undeclared identifier",
		"unknown type name", "no member named", "no template named", "is not a template", "no arguments to", "is not a class",
		"is not a namespace-name",
	};
	for (size_t i = 0; i < HEDDLE_COUNT(ways); i++)
		if (strstr(message, ways[i]))
			return quoted(arena, message);
	return NULL;
}

static size_t word_length(const char *text)
{
	size_t n = 0;
	while (isalnum((unsigned char)text[n]) || text[n] == '_')
		n++;
	return n;
}

/* Does this file of the shim define a function `name`: is it followed by `(`, or the first argument of a macro? */
static bool is_function_of(const char *path, const char *name)
{
	const heddle_embedded *file = heddle_embedded_find(path);
	const size_t length = strlen(name);
	char before = ' ';
	for (const char *at = file ? file->data : ""; *at;) {
		const size_t n = word_length(at);
		if (n == length && !strncmp(at, name, n) && (at[n] == '(' || (before == '(' && at[n] == ',' && n > 3)))
			return true;
		before = *at;
		at += n ? n : 1;
	}
	return false;
}

/* Is it declared by the headers of 16-bit types, which a text includes if it uses them? */
static bool is_in_half(const char *name)
{
	return *name && is_function_of("backends/emulator/half.h", name);
}

static bool is_foreign(heddle_arena *arena, const char *message, const char *name)
{
	if (heddle_emulate_is_vendors(name))
		return true;
	if (is_in_half(name))
		return false;
	const char *suggestion = strstr(message, "did you mean ");
	suggestion = suggestion ? quoted(arena, suggestion) : NULL;
	return !strncmp(name, "__", 2) && !(suggestion && heddle_nearest(name, &suggestion, 1));
}

/* "inline assembly" of HEDDLE_UNSUPPORTED_inline_assembly; NULL: there is no such mark. */
static const char *marked(heddle_arena *arena, const char *message)
{
	const char *mark = strstr(message, "HEDDLE_UNSUPPORTED_");
	if (!mark)
		return NULL;
	size_t n = 0;
	mark += strlen("HEDDLE_UNSUPPORTED_");
	while (isalpha((unsigned char)mark[n]) || mark[n] == '_')
		n++;
	char *what = heddle_arena_strndup(arena, mark, n);
	for (char *p = what; *p; p++)
		*p = *p == '_' ? ' ' : *p;
	return strcmp(what, "header") ? what : heddle_arena_printf(arena, "header%.*s", (int)strcspn(mark + n, "\"\n"), mark + n);
}

/* The header that is not there; NULL: it is not about one. */
static const char *missing_header(heddle_arena *arena, const char *message)
{
	const char *end = strstr(message, ": No such file");
	if (!end)
		return strstr(message, "file not found") ? quoted(arena, message) : NULL;
	const char *begin = end;
	while (begin > message && begin[-1] != ' ')
		begin--;
	return heddle_arena_strndup(arena, begin, (size_t)(end - begin));
}

/* Is the header on this line of the source included as the text's own, in "quotes"? */
static bool is_own_header(const heddle_run *run, const complaint *c)
{
	const char *line = run->source;
	for (int i = 1; i < c->line && line; i++) {
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	return line && c->file == run->source_path && strcspn(line, "\"") < strcspn(line, "<\n");
}

static bool is_function_of_shim(const char *name)
{
	return *name && (is_function_of("backends/emulator/core.h", name) || is_in_half(name));
}

bool heddle_emulate_is_language(const char *name)
{
	static const char *const families[] = {"__", "atomic", "make_"}; /* many of the shim's are made by macros */
	for (size_t i = 0; i < HEDDLE_COUNT(families); i++)
		if (!strncmp(name, families[i], strlen(families[i])))
			return true;
	return heddle_emulate_is_vendors(name) || is_function_of_shim(name);
}

/* A function of the shim that takes other arguments than these; NULL: it is not about one. */
static const char *other_arguments(heddle_arena *arena, const char *message)
{
	const char *call = strstr(message, "call to '");
	if (!strstr(message, "no matching function") || !call)
		return NULL;
	call += strlen("call to '");
	const char *name = heddle_arena_strndup(arena, call, word_length(call));
	return is_function_of_shim(name) ? heddle_arena_printf(arena, "%s for these arguments", name) : NULL;
}

/* What the emulator lacks, rather than what is wrong with the text; NULL: the text is wrong. */
static const char *lacking(heddle_arena *arena, const heddle_run *run, const complaint *c)
{
	const char *what = marked(arena, c->message);
	if (what)
		return what;
	const char *header = missing_header(arena, c->message);
	if (header)
		return !is_own_header(run, c) && (heddle_foreign_header(header, true) || heddle_emulate_is_vendors(header)) ?
			heddle_arena_printf(arena, "header %s", header) : NULL;
	const char *name = undeclared(arena, c->message);
	if (name)
		return is_foreign(arena, c->message, name) ? name : NULL;
	return other_arguments(arena, c->message);
}

/* FILE:LINE.. at the start of a line of the output, or false. */
static bool read_place(heddle_arena *arena, const heddle_run *run, const char *text, complaint *c)
{
	const char *colon = strchr(text, ':');
	c->line = colon ? atoi(colon + 1) : 0;
	if (!colon || c->line <= 0)
		return false;
	c->file = heddle_emulate_file(arena, heddle_arena_strndup(arena, text, (size_t)(colon - text)), run->source_path);
	return true;
}

/* The first error of the output.  One inside of the shim is told at the place of the text that needs it, which g++ names before
 * it ("required from here") and clang after it. */
static bool first_error(heddle_arena *arena, const heddle_run *run, const char *output, complaint *c)
{
	complaint needed = {0};
	bool found = false;
	for (const char *line = output; *line && !(found && needed.line);) {
		size_t n = strcspn(line, "\n");
		char *text = heddle_arena_strndup(arena, line, n);
		line += n + (line[n] == '\n');
		const char *error = strstr(text, ": error: "), *fatal = strstr(text, ": fatal error: ");
		complaint here = {0};
		if ((strstr(text, "required from") || strstr(text, "requested here")) && read_place(arena, run, text, &here) &&
		    !heddle_emulate_is_shim(here.file))
			needed = here;
		if (found || (!error && !fatal) || !read_place(arena, run, text, c))
			continue;
		found = true;
		c->message = error ? error + strlen(": error: ") : fatal + strlen(": fatal error: ");
		if (!heddle_emulate_is_shim(c->file))
			break;
	}
	if (found && needed.line && heddle_emulate_is_shim(c->file))
		*c = (complaint){needed.file, needed.line, c->message};
	return found;
}

void heddle_emulate_judge(heddle_arena *arena, const heddle_run *run, const char *output, heddle_emulate_build *build)
{
	complaint c = {0};
	build->verdict = HEDDLE_FAIL;
	build->finding = (heddle_finding){.kind = "compile", .text = "the host compiler rejects the text"};
	if (!first_error(arena, run, output, &c)) {
		size_t n = strcspn(output, "\n");
		build->message = n ? heddle_arena_strndup(arena, output, n) : "the host compiler failed and does not say why";
		return;
	}
	if (strstr(c.file, HEDDLE_EMULATE_LAUNCHER)) {
		const char *name = undeclared(arena, c.message);
		build->finding.file = run->source_path;
		build->finding.text = name ? heddle_arena_printf(arena, "the manifest launches '%s', which is not in the source", name) :
					     heddle_arena_printf(arena, "the manifest's kernel cannot be called: %s", c.message);
		build->message = build->finding.text;
		return;
	}
	const char *lack = lacking(arena, run, &c);
	build->finding.file = c.file;
	build->finding.line = c.line;
	const char *name = undeclared(arena, c.message), *hint = "";
	if (missing_header(arena, c.message))
		hint = "; `include_paths` of the manifest names folders of headers";
	else if (name && is_in_half(name))
		hint = "; it comes with " HEDDLE_EMULATE_HALF_HEADERS;
	build->finding.text = heddle_arena_printf(arena, "%s%s", c.message, hint);
	if (lack) {
		build->verdict = HEDDLE_UNSUPPORTED;
		build->message = heddle_arena_printf(arena, "%s at %s:%d", lack, c.file, c.line);
	} else {
		build->message = heddle_arena_printf(arena, "%s:%d: %s", c.file, c.line, build->finding.text);
	}
}
