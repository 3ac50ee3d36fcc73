/* What drivers and compilers share: the lists, opening libraries, reading compilers' logs.
 * SPDX-License-Identifier: MIT
 */
#include "backends/driver.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *heddle_path_expand(heddle_arena *arena, const char *path)
{
	if (path[0] != '$')
		return heddle_arena_strdup(arena, path);
	size_t n = strcspn(path, "/");
	const char *value = getenv(heddle_arena_strndup(arena, path + 1, n - 1));
	return value && *value ? heddle_arena_printf(arena, "%s%s", value, path + n) : NULL;
}

void *heddle_library_open(const char *const *names)
{
	void *library = NULL;
	heddle_arena *arena = heddle_arena_new();
	for (; *names && !library && arena; names++) {
		const char *name = heddle_path_expand(arena, *names);
		if (name)
			library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	}
	heddle_arena_free(arena);
	return library;
}

void heddle_compiled_free(heddle_compiled *compiled)
{
	heddle_text_free(&compiled->log);
	free(compiled->binary);
	compiled->binary = NULL;
}

void heddle_fault_add(heddle_arena *arena, heddle_faults *faults, const char *kind, const char *file, int line,
		      const char *text)
{
	heddle_fault fault = { .kind = kind,
			       .file = file ? heddle_arena_strdup(arena, file) : NULL,
			       .line = line,
			       .text = heddle_arena_strdup(arena, text) };
	HEDDLE_PUSH(arena, faults->fault, faults->n, fault);
}

/* True when a #line or line marker of the source names this file. */
static bool source_names(const char *source, const char *file)
{
	size_t n = strlen(file);
	for (const char *at = strstr(source, file); at; at = strstr(at + 1, file))
		if (at > source && at[-1] == '"' && at[n] == '"') {
			const char *line = at;
			while (line > source && line[-1] != '\n')
				line--;
			line += strspn(line, " \t");
			if (*line == '#')
				return true;
		}
	return false;
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/* Is it a file that the source includes, itself or through another header?  A name of the source itself, which compilers see under
 * names of their own, is not. */
static bool is_included(const char *source, const char *file)
{
	static const char *const header[] = { ".h", ".hpp", ".cuh", ".hh", ".clh", ".inl", ".inc" };
	const char *base = base_of(file), *suffix = strrchr(base, '.');
	if (access(file, R_OK) != 0)
		return false;
	for (size_t i = 0; suffix && i < HEDDLE_COUNT(header); i++)
		if (strcmp(suffix, header[i]) == 0)
			return true;
	for (const char *at = source; (at = strstr(at, "include")); at++) {
		const char *open = at + strlen("include") + strspn(at + strlen("include"), " \t");
		size_t n = *open == '"' || *open == '<' ? strcspn(open + 1, "\">\n") : 0, length = strlen(base);
		if (n >= length && strncmp(open + 1 + n - length, base, length) == 0 && (n == length || open[n - length] == '/'))
			return true;
	}
	return false;
}

/* A line's place before its "error:": "FILE:12:3: " or "FILE(12): "; false when there is none. */
static bool place_of(const char *line, const char *end, const char **file_end, int *number)
{
	for (const char *p = line + 1; p < end; p++) {
		if ((*p != ':' && *p != '(') || !isdigit((unsigned char)p[1]))
			continue;
		char *after;
		long value = strtol(p + 1, &after, 10);
		if ((*p == ':' && *after == ':') || (*p == '(' && *after == ')')) {
			*file_end = p;
			*number = (int)value;
			return true;
		}
	}
	return false;
}

static bool is_error(const char *line, const char *end, const char **at)
{
	static const char *const words[] = { "error:", "fatal error:", "Error:", "fatal   :", "error   :" };
	for (const char *p = line; p < end; p++)
		for (size_t i = 0; i < HEDDLE_COUNT(words); i++)
			if (strncmp(p, words[i], strlen(words[i])) == 0) {
				*at = p;
				return true;
			}
	/* "file(3): error #20: text" has a number in between. */
	const char *numbered = strstr(line, "): error");
	if (numbered && numbered < end) {
		*at = numbered + 3;
		return true;
	}
	return false;
}

void heddle_log_errors(heddle_arena *arena, const char *log, const char *source, const char *source_path,
		       heddle_faults *out)
{
	enum { MOST = 50 };
	int before = out->n;
	for (const char *line = log; *line && out->n - before < MOST;) {
		const char *end = line + strcspn(line, "\n"), *message, *file_end = NULL;
		int number = 0;
		if (is_error(line, end, &message)) {
			const char *file = source_path;
			/* "FILE:1:2: error: text", or "error: FILE:1:2: text". */
			const char *after = message + strcspn(message, ":") + 1, *begin = line;
			bool found = place_of(line, message, &file_end, &number);
			if (!found && after < end) {
				begin = after + strspn(after, " ");
				found = place_of(begin, end, &file_end, &number);
			}
			if (found) {
				const char *named = heddle_arena_strndup(arena, begin, (size_t)(file_end - begin));
				if (source_names(source, named) || is_included(source, named))
					file = named + (strncmp(named, "./", 2) == 0 ? 2 : 0);
			}
			const char *text = heddle_arena_strndup(arena, message, (size_t)(end - message));
			heddle_fault_add(arena, out, "compile", file, number, text);
		}
		line = end + (*end == '\n');
	}
	if (out->n == before) {
		size_t n = strlen(log);
		const char *head = n ? heddle_arena_strndup(arena, log, n < 2000 ? n : 2000) : "the compiler gave no message";
		heddle_fault_add(arena, out, "compile", source_path, 0, head);
	}
}
