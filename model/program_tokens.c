/* The readable text form of a program: its tokens.
 * SPDX-License-Identifier: MIT
 */
#include "model/program_parse.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The first error counts: it is recorded, and the rest of the text is skipped. */
void program_fail(parser *ps, const token *where, const char *format, ...)
{
	if (ps->failed)
		return;
	heddle_text message = {0};
	heddle_location location = {ps->source, where->line, where->column, where->length > 0 ? where->length : 1};
	va_list args;
	va_start(args, format);
	heddle_text_vprintf(&message, format, args);
	va_end(args);
	heddle_error(ps->ctx, BAD_TEXT, &location, "%s", heddle_text_str(&message));
	heddle_text_free(&message);
	ps->failed = true;
	ps->now.kind = END;
	ps->now.text = "";
}

static void skip_blank(parser *ps)
{
	for (;; ps->at++) {
		if (*ps->at == '#')
			ps->at += strcspn(ps->at, "\n");
		if (*ps->at == '\n') {
			ps->line++;
			ps->line_start = ps->at + 1;
		} else if (*ps->at != ' ' && *ps->at != '\t' && *ps->at != '\r') {
			return;
		}
	}
}

static size_t name_length(const char *s)
{
	size_t n = 0;
	while (isalnum((unsigned char)s[n]) || s[n] == '_')
		n++;
	return n;
}

/* A literal's type suffix "_float64"; its length, 0 when there is none. */
static size_t lex_suffix(parser *ps, const char *s, heddle_type *type)
{
	*type = UNKNOWN;
	if (*s != '_')
		return 0;
	size_t n = name_length(s + 1);
	int found = heddle_type_parse(heddle_arena_strndup(ps->p->arena, s + 1, n));
	if (found < 0)
		return 0;
	*type = (heddle_type)found;
	return n + 1;
}

static size_t lex_number(parser *ps, token *t)
{
	const char *s = ps->at;
	size_t n = 0;
	t->kind = INTEGER;
	while (isdigit((unsigned char)s[n]))
		n++;
	if (s[n] == '.' && isdigit((unsigned char)s[n + 1])) {
		t->kind = FLOATING;
		for (n++; isdigit((unsigned char)s[n]);)
			n++;
	}
	size_t sign = s[n] == 'e' && (s[n + 1] == '-' || s[n + 1] == '+');
	if (s[n] == 'e' && isdigit((unsigned char)s[n + 1 + sign])) {
		t->kind = FLOATING;
		for (n += 1 + sign; isdigit((unsigned char)s[n]);)
			n++;
	}
	t->text = heddle_arena_strndup(ps->p->arena, s, n);
	return n + lex_suffix(ps, s + n, &t->type);
}

/* inf and nan, with or without a type. */
static bool lex_special(parser *ps, token *t, size_t n)
{
	if (n < 3 || (strncmp(ps->at, "inf", 3) != 0 && strncmp(ps->at, "nan", 3) != 0))
		return false;
	heddle_type type;
	if (3 + lex_suffix(ps, ps->at + 3, &type) != n)
		return false;
	t->kind = FLOATING;
	t->text = heddle_arena_strndup(ps->p->arena, ps->at, 3);
	t->type = type;
	return true;
}

static size_t lex_string(parser *ps, token *t, char end)
{
	const char *s = ps->at;
	size_t n = end == '"' ? 1 : 2;
	if (end == '\n' && s[n] == ' ')
		n++;
	char *text = heddle_arena_alloc(ps->p->arena, strcspn(s + n, "\n") + 1);
	size_t length = 0;
	for (; s[n] && s[n] != end && s[n] != '\n'; n++) {
		if (s[n] == '\\' && s[n + 1] && s[n + 1] != '\n') {
			n++;
			text[length++] = s[n] == 'n' ? '\n' : s[n];
		} else {
			text[length++] = s[n];
		}
	}
	t->text = text;
	if (end == '"' && s[n] == '"')
		return n + 1;
	if (end == '"') {
		t->length = (int)n;
		program_fail(ps, t, "the string has no end on its line");
	}
	return n;
}

void program_next(parser *ps)
{
	if (ps->failed)
		return;
	skip_blank(ps);
	token *t = &ps->now;
	*t = (token){.start = ps->at, .line = ps->line, .column = (int)(ps->at - ps->line_start) + 1, .type = UNKNOWN};
	const char *s = ps->at;
	size_t n = 1;
	if (!*s) {
		t->kind = END;
		t->text = "";
		return;
	}
	if (isdigit((unsigned char)*s)) {
		n = lex_number(ps, t);
	} else if (isalpha((unsigned char)*s) || *s == '_' || *s == '$') {
		n = *s == '$' ? name_length(s + 1) + 1 : name_length(s);
		t->kind = NAME;
		if (!lex_special(ps, t, n))
			t->text = heddle_arena_strndup(ps->p->arena, s, n);
	} else if (*s == '"') {
		t->kind = STRING;
		n = lex_string(ps, t, '"');
	} else if (s[0] == '/' && s[1] == '/') {
		t->kind = REMARK;
		n = lex_string(ps, t, '\n');
	} else {
		static const char *const two[] = {"..", "<=", ">=", "==", "!=", "&&", "||", "<<", ">>"};
		t->kind = PUNCTUATION;
		for (size_t k = 0; k < HEDDLE_COUNT(two); k++)
			if (!strncmp(s, two[k], 2))
				n = 2;
		t->text = heddle_arena_strndup(ps->p->arena, s, n);
	}
	if (ps->failed)
		return;
	t->length = (int)n;
	ps->at += n;
}

bool program_is(const parser *ps, const char *text)
{
	return (ps->now.kind == PUNCTUATION || ps->now.kind == NAME) && !strcmp(ps->now.text, text);
}

bool program_accept(parser *ps, const char *text)
{
	if (!program_is(ps, text))
		return false;
	program_next(ps);
	return true;
}

const char *program_describe(const parser *ps)
{
	return ps->now.kind == END ? "the end of the text" : ps->now.text;
}

void program_expect(parser *ps, const char *text)
{
	if (!program_accept(ps, text))
		program_fail(ps, &ps->now, "expected %s but found %s", text, program_describe(ps));
}

const char *program_expect_name(parser *ps, const char *what)
{
	const char *name = ps->now.text;
	if (ps->now.kind != NAME) {
		program_fail(ps, &ps->now, "expected %s but found %s", what, program_describe(ps));
		return "";
	}
	program_next(ps);
	return name;
}

const char *program_expect_string(parser *ps)
{
	const char *text = ps->now.text;
	if (ps->now.kind != STRING) {
		program_fail(ps, &ps->now, "expected a string in quotes but found %s", program_describe(ps));
		return "";
	}
	program_next(ps);
	return text;
}

/* The number of an INTEGER, which fits 64 bits with its sign. */
int64_t program_integer_of(parser *ps, const token *t, bool negative)
{
	errno = 0;
	uint64_t i = strtoull(t->text, NULL, 10);
	if (errno || i > (uint64_t)INT64_MAX + negative)
		program_fail(ps, t, "%s%s does not fit 64 bits", negative ? "-" : "", t->text);
	return (int64_t)(negative ? 0 - i : i);
}

int64_t program_expect_integer(parser *ps)
{
	bool negative = program_accept(ps, "-");
	int64_t i = 0;
	if (ps->now.kind != INTEGER)
		program_fail(ps, &ps->now, "expected an integer but found %s", program_describe(ps));
	else
		i = program_integer_of(ps, &ps->now, negative);
	program_next(ps);
	return i;
}

int program_expect_int(parser *ps, int min)
{
	token where = ps->now;
	int64_t i = program_expect_integer(ps);
	if (i < min || i > INT32_MAX)
		program_fail(ps, &where, "expected an integer from %d to %d", min, INT32_MAX);
	return ps->failed ? min : (int)i;
}
