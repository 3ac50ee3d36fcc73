/* Text to tokens.
 * SPDX-License-Identifier: MIT
 */
#include "frontend/syntax.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct lexer {
	heddle_ctx *ctx;
	heddle_arena *scratch;
	heddle_module *module;
	token_list *out;
	const char *p;
	int line;
	const char *line_begin;
	int last_line; /* of the last token */
	int n_def;
	bool in_def; /* between `def` and its `}` */
	bool unreadable; /* characters were left out */
	int n_seen;
	const char **seen; /* characters that are not ASCII, reported already */
} lexer;

static const struct {
	const char *text;
	int kind;
} keywords[] = {
	{"def", TOKEN_DEF},	{"where", TOKEN_WHERE}, {"in", TOKEN_IN},
	{"exists", TOKEN_EXISTS}, {"min", TOKEN_MIN},	{"max", TOKEN_MAX},
};

/* Longest first. */
static const struct {
	const char *text;
	int kind;
} operators[] = {
	{"min=!", TOKEN_NEW_MIN}, {"max=!", TOKEN_NEW_MAX}, {"min=", TOKEN_SET_MIN}, {"max=", TOKEN_SET_MAX},
	{"+=!", TOKEN_NEW_ADD},	  {"*=!", TOKEN_NEW_MUL},   {"<=>", TOKEN_EQUIVALENT}, {"->", TOKEN_ARROW},
	{"+=", TOKEN_SET_ADD},	  {"*=", TOKEN_SET_MUL},    {"<=", TOKEN_LE},	     {">=", TOKEN_GE},
	{"==", TOKEN_EQ},	  {"!=", TOKEN_NE},	    {"&&", TOKEN_AND},	     {"||", TOKEN_OR},
	{"<<", TOKEN_SHL},	  {">>", TOKEN_SHR},
};

static heddle_location place(const lexer *l, const char *begin, size_t length)
{
	return (heddle_location){
		.source = l->module->source,
		.line = l->line,
		.column = (int)(begin - l->line_begin) + 1,
		.length = length ? (int)length : 1,
	};
}

static token *push(lexer *l, int kind, const char *begin, size_t length)
{
	token t = {
		.kind = kind,
		.text = heddle_arena_strndup(l->scratch, begin, length),
		.location = place(l, begin, length),
		.line_start = l->line != l->last_line,
	};
	HEDDLE_PUSH(l->scratch, l->out->token, l->out->n, t);
	l->last_line = l->line;
	return &l->out->token[l->out->n - 1];
}

static bool name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static void pragma(lexer *l, const char *begin, const char *end)
{
	const char *key = begin, *key_end;
	while (key < end && isspace((unsigned char)*key))
		key++;
	for (key_end = key; key_end < end && !isspace((unsigned char)*key_end);)
		key_end++;
	const char *text = key_end;
	while (text < end && isspace((unsigned char)*text))
		text++;
	while (end > text && isspace((unsigned char)end[-1]))
		end--;
	heddle_pragma new = {
		.key = heddle_arena_strndup(l->module->arena, key, (size_t)(key_end - key)),
		.text = heddle_arena_strndup(l->module->arena, text, (size_t)(end - text)),
		.definition = l->n_def - l->in_def,
		.location = place(l, key, (size_t)(key_end - key)),
	};
	HEDDLE_PUSH(l->module->arena, l->module->pragma, l->module->n_pragma, new);
}

static void comment(lexer *l)
{
	const char *begin = l->p, *end = begin + strcspn(begin, "\n");
	if (begin[1] == ':')
		pragma(l, begin + 2, end);
	l->p = end;
}

static size_t digits(const char *p)
{
	size_t n = 0;
	while (isdigit((unsigned char)p[n]))
		n++;
	return n;
}

static size_t exponent(const char *p, char lower)
{
	if (tolower((unsigned char)*p) != lower)
		return 0;
	size_t sign = p[1] == '+' || p[1] == '-', n = digits(p + 1 + sign);
	return n ? 1 + sign + n : 0;
}

static size_t hex_digits(const char *p)
{
	size_t n = 0;
	while (isxdigit((unsigned char)p[n]))
		n++;
	return n;
}

/* Length of the number at `p`; `*is_float` when it has a point or an exponent. */
static size_t number_length(const char *p, bool *is_float)
{
	size_t n, more;
	*is_float = false;
	if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X') && isxdigit((unsigned char)p[2])) {
		n = 2 + hex_digits(p + 2);
		size_t point = p[n] == '.' ? 1 + hex_digits(p + n + 1) : 0;
		if ((more = exponent(p + n + point, 'p'))) {
			*is_float = true;
			n += point + more;
		}
		return n;
	}
	n = digits(p);
	if (p[n] == '.') {
		*is_float = true;
		n += 1 + digits(p + n + 1);
	}
	if ((more = exponent(p + n, 'e'))) {
		*is_float = true;
		n += more;
	}
	return n;
}

static void number(lexer *l)
{
	bool is_float;
	size_t n = number_length(l->p, &is_float);
	token *t = push(l, TOKEN_NUMBER, l->p, n);
	t->is_float = is_float;
	errno = 0;
	t->f = strtod(t->text, NULL);
	if (!is_float) {
		errno = 0;
		/* TC has no octal numbers: 010 is ten. */
		bool hex = t->text[0] == '0' && (t->text[1] == 'x' || t->text[1] == 'X');
		long long value = strtoll(t->text, NULL, hex ? 16 : 10);
		t->i = value;
		if (errno == ERANGE) {
			heddle_error(l->ctx, 2, &t->location, "integer `%s` does not fit 64 bits", t->text);
			heddle_fixit(l->ctx, "%s.0", t->text);
		}
	} else if (isinf(t->f)) {
		heddle_error(l->ctx, 2, &t->location, "number `%s` is too large for a double; write `inf` for infinity",
			     t->text);
	}
	l->p += n;
	if (name_char(*l->p)) {
		size_t extra = 0;
		while (name_char(l->p[extra]))
			extra++;
		heddle_location where = place(l, l->p - n, n + extra);
		heddle_error(l->ctx, 2, &where, "malformed number `%.*s`", (int)(n + extra), l->p - n);
		if (isalpha((unsigned char)*l->p) && extra == 1 && strchr("fFdDlLuU", *l->p)) {
			heddle_note(l->ctx, NULL, "numbers have no suffixes; a cast gives the type: `double(1.5)`");
			heddle_fixit(l->ctx, "%.*s", (int)n, l->p - n);
		} else {
			heddle_note(l->ctx, NULL, "a product needs `*`, and names cannot start with a digit");
			heddle_fixit(l->ctx, "%.*s * %.*s", (int)n, l->p - n, (int)extra, l->p);
		}
		l->p += extra;
	}
}

static void name(lexer *l)
{
	size_t n = 0;
	while (name_char(l->p[n]))
		n++;
	token *t = push(l, TOKEN_NAME, l->p, n);
	l->p += n;
	for (size_t i = 0; i < HEDDLE_COUNT(keywords); i++)
		if (!strcmp(t->text, keywords[i].text))
			t->kind = keywords[i].kind;
	if (t->kind == TOKEN_DEF) {
		l->n_def++;
		l->in_def = true;
	}
	int type = heddle_type_parse(t->text);
	if (type >= 0) {
		t->kind = TOKEN_TYPE;
		t->type = (heddle_type)type;
	}
	if (!strcmp(t->text, "inf") || !strcmp(t->text, "infinity") || !strcmp(t->text, "nan")) {
		t->kind = TOKEN_NUMBER;
		t->is_float = true;
		t->f = t->text[0] == 'n' ? (double)NAN : (double)INFINITY;
	}
}

static bool operator(lexer *l)
{
	for (size_t i = 0; i < HEDDLE_COUNT(operators); i++) {
		size_t n = strlen(operators[i].text);
		if (!strncmp(l->p, operators[i].text, n)) {
			push(l, operators[i].kind, l->p, n);
			l->p += n;
			return true;
		}
	}
	return false;
}

/* Bytes of the UTF-8 character at `p`; 0: it is none. */
static size_t utf8_length(const char *p)
{
	const unsigned char c = (unsigned char)*p;
	const size_t n = c >= 0xF0 && c < 0xF8 ? 4 : c >= 0xE0 && c < 0xF0 ? 3 : c >= 0xC2 && c < 0xE0 ? 2 : 0;
	for (size_t i = 1; i < n; i++)
		if (((unsigned char)p[i] & 0xC0) != 0x80)
			return 0;
	return n;
}

static bool is_ascii(char c)
{
	return (unsigned char)c < 0x80;
}

/* Report a character of `n` bytes, and skip it with the rest of its word unless it is a sign.  Each character is reported once. */
static void unexpected_character(lexer *l, size_t n)
{
	const heddle_location where = place(l, l->p, n);
	const char *text = heddle_arena_strndup(l->scratch, l->p, n), *sign = heddle_hint_character(text);
	bool seen = false;
	l->unreadable = true;
	for (l->p += n; !sign && (!is_ascii(*l->p) || name_char(*l->p));)
		l->p++;
	for (int i = 0; i < l->n_seen; i++)
		seen = seen || !strcmp(l->seen[i], text);
	if (seen)
		return;
	HEDDLE_PUSH(l->scratch, l->seen, l->n_seen, text);
	heddle_error(l->ctx, 1, &where, "unexpected character `%s`", text);
	if (sign)
		heddle_fixit(l->ctx, "%s", sign);
	else
		heddle_note(l->ctx, NULL, "names have ASCII letters, digits and `_`");
}

static void unexpected(lexer *l)
{
	size_t n = utf8_length(l->p);
	if (n) {
		unexpected_character(l, n);
		return;
	}
	heddle_location where = place(l, l->p, 1);
	if (isprint((unsigned char)*l->p))
		heddle_error(l->ctx, 1, &where, "unexpected character `%c`", *l->p);
	else
		heddle_error(l->ctx, 1, &where, "unexpected byte 0x%02x", (unsigned)(unsigned char)*l->p);
	if (*l->p == '.')
		heddle_note(l->ctx, NULL, "a dimension is named by its size symbol, not by a number after a point");
	if (*l->p == '@')
		heddle_note(l->ctx, NULL, "%s", heddle_hint_call("matmul"));
	if (*l->p == ';')
		heddle_fixit(l->ctx, " ");
	else
		l->unreadable = true;
	for (l->p++; ((unsigned char)*l->p & 0xC0) == 0x80;)
		l->p++;
}

int heddle_lex(heddle_ctx *ctx, heddle_arena *scratch, heddle_module *module, token_list *out)
{
	lexer l = {
		.ctx = ctx,
		.scratch = scratch,
		.module = module,
		.out = out,
		.p = module->source->text,
		.line = 1,
		.line_begin = module->source->text,
	};
	const char *end = module->source->text + module->source->length;
	int before = heddle_error_count(ctx);
	while (l.p < end) {
		if (heddle_error_count(ctx) - before >= MAX_ERRORS) {
			l.unreadable = true;
			break;
		}
		char c = *l.p;
		if (c == '\n') {
			l.p++;
			l.line++;
			l.line_begin = l.p;
		} else if (isspace((unsigned char)c)) {
			l.p++;
		} else if (c == '#') {
			comment(&l);
		} else if (isdigit((unsigned char)c) || (c == '.' && isdigit((unsigned char)l.p[1]))) {
			number(&l);
		} else if (operator(&l)) {
			continue;
		} else if (isalpha((unsigned char)c) || c == '_') {
			name(&l);
		} else if (c && strchr("+-*/%()[]?:,={}<>!&|^", c)) {
			push(&l, c, l.p, 1);
			l.in_def = l.in_def && c != '}';
			l.p++;
		} else {
			unexpected(&l);
		}
	}
	push(&l, TOKEN_END, l.p, 0);
	return l.unreadable ? -1 : 0;
}
