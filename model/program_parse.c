/* The readable text form of a program: the parser.  doc/ir.md describes it.
 * SPDX-License-Identifier: MIT
 */
#include "model/program_words.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BAD_TEXT = 951, MAX_DEPTH = 500 };

/* ---- tokens ------------------------------------------------------------------------------------------------------------- */

typedef enum token_kind { END, NAME, INTEGER, FLOATING, STRING, REMARK, PUNCTUATION } token_kind;

typedef struct token {
	token_kind kind;
	const char *start;
	const char *text; /* in the arena: the name, string without quotes and escapes, or characters */
	int line, column, length;
	heddle_type type; /* of a literal: UNKNOWN when it has no suffix */
} token;

typedef struct variable {
	const char *name;
	heddle_type type;
	int width;
} variable;

typedef struct parser {
	heddle_ctx *ctx;
	heddle_program *p;
	const heddle_source *source;
	const char *at, *line_start;
	int line;
	token now;
	bool failed;
	int depth; /* of parentheses and braces */
	token value; /* the first of the value that is resolved */
	int n_variable;
	variable *variable;
} parser;

/* The first error counts: it is recorded, and the rest of the text is skipped. */
static void fail(parser *ps, const token *where, const char *format, ...) HEDDLE_PRINTF(3, 4);
static void fail(parser *ps, const token *where, const char *format, ...)
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
		fail(ps, t, "the string has no end on its line");
	}
	return n;
}

static void next(parser *ps)
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

static bool is(const parser *ps, const char *text)
{
	return (ps->now.kind == PUNCTUATION || ps->now.kind == NAME) && !strcmp(ps->now.text, text);
}

static bool accept(parser *ps, const char *text)
{
	if (!is(ps, text))
		return false;
	next(ps);
	return true;
}

static const char *describe(const parser *ps)
{
	return ps->now.kind == END ? "the end of the text" : ps->now.text;
}

static void expect(parser *ps, const char *text)
{
	if (!accept(ps, text))
		fail(ps, &ps->now, "expected %s but found %s", text, describe(ps));
}

static const char *expect_name(parser *ps, const char *what)
{
	const char *name = ps->now.text;
	if (ps->now.kind != NAME) {
		fail(ps, &ps->now, "expected %s but found %s", what, describe(ps));
		return "";
	}
	next(ps);
	return name;
}

static const char *expect_string(parser *ps)
{
	const char *text = ps->now.text;
	if (ps->now.kind != STRING) {
		fail(ps, &ps->now, "expected a string in quotes but found %s", describe(ps));
		return "";
	}
	next(ps);
	return text;
}

/* The number of an INTEGER, which fits 64 bits with its sign. */
static int64_t integer_of(parser *ps, const token *t, bool negative)
{
	errno = 0;
	uint64_t i = strtoull(t->text, NULL, 10);
	if (errno || i > (uint64_t)INT64_MAX + negative)
		fail(ps, t, "%s%s does not fit 64 bits", negative ? "-" : "", t->text);
	return (int64_t)(negative ? 0 - i : i);
}

static int64_t expect_integer(parser *ps)
{
	bool negative = accept(ps, "-");
	int64_t i = 0;
	if (ps->now.kind != INTEGER)
		fail(ps, &ps->now, "expected an integer but found %s", describe(ps));
	else
		i = integer_of(ps, &ps->now, negative);
	next(ps);
	return i;
}

static int expect_int(parser *ps, int min)
{
	token where = ps->now;
	int64_t i = expect_integer(ps);
	if (i < min || i > INT32_MAX)
		fail(ps, &where, "expected an integer from %d to %d", min, INT32_MAX);
	return ps->failed ? min : (int)i;
}

/* ---- parsing values: types ------------------------------------------------------------------------------------------------ */

static void resolve(parser *ps, heddle_value *v, heddle_type expected);

static void resolve_range(parser *ps, heddle_value *v, int from, int to, heddle_type expected)
{
	for (int k = from; k < to; k++)
		resolve(ps, v->arg[k], expected);
}

/* Is a floating-point literal without a type among what takes its type from what stands around it? */
static bool has_float(const heddle_value *v)
{
	switch (v->kind) {
	case HEDDLE_VALUE_FLOAT: return v->type == UNKNOWN;
	case HEDDLE_VALUE_BINARY:
		if (heddle_op_is_truth(v->op) || heddle_op_is_comparison(v->op))
			return false;
		break;
	case HEDDLE_VALUE_UNARY:
		if (v->op == HEDDLE_OP_NOT)
			return false;
		break;
	case HEDDLE_VALUE_SELECT: return has_float(v->arg[1]) || has_float(v->arg[2]);
	case HEDDLE_VALUE_FLOOR_DIV:
	case HEDDLE_VALUE_FLOOR_MOD:
	case HEDDLE_VALUE_FMA:
	case HEDDLE_VALUE_SPLAT:
	case HEDDLE_VALUE_EXTRACT:
	case HEDDLE_VALUE_BUILD:
	case HEDDLE_VALUE_REDUCE:
	case HEDDLE_VALUE_SHUFFLE: break;
	default: return false;
	}
	for (int k = 0; k < v->n_arg; k++)
		if (has_float(v->arg[k]))
			return true;
	return false;
}

/* The type that arguments from .. to share, or else `expected`; then every one of them resolved to it. */
static heddle_type resolve_together(parser *ps, heddle_value *v, int from, int to, heddle_type expected)
{
	heddle_type type = heddle_value_first_type(v, from, to, true);
	if (type == UNKNOWN)
		type = expected;
	for (int k = from; k < to && type == UNKNOWN; k++)
		type = has_float(v->arg[k]) ? HEDDLE_FLOAT32 : UNKNOWN;
	resolve_range(ps, v, from, to, type);
	return v->arg[from]->type;
}

static void resolve_literal(parser *ps, heddle_value *v, heddle_type expected)
{
	if (v->kind == HEDDLE_VALUE_INT && v->type == UNKNOWN) {
		if (expected != UNKNOWN && heddle_type_is_float(expected)) {
			v->kind = HEDDLE_VALUE_FLOAT;
			v->f = (double)v->i;
			v->i = 0;
		} else {
			v->type = expected == UNKNOWN ? HEDDLE_INT32 : expected;
		}
	}
	if (v->kind == HEDDLE_VALUE_FLOAT) {
		if (v->type == UNKNOWN && expected != UNKNOWN && !heddle_type_is_float(expected))
			fail(ps, &ps->value, "a floating-point literal stands where the type is %s", heddle_type_name(expected));
		if (v->type == UNKNOWN)
			v->type = expected != UNKNOWN && heddle_type_is_float(expected) ? expected : HEDDLE_FLOAT32;
		if (v->type != HEDDLE_FLOAT64)
			v->f = (double)(float)v->f;
	}
}

/* Give literals the type that their place asks for, and every value its type and width. */
static void resolve(parser *ps, heddle_value *v, heddle_type expected)
{
	switch (v->kind) {
	case HEDDLE_VALUE_INT:
	case HEDDLE_VALUE_FLOAT: resolve_literal(ps, v, expected); return;
	case HEDDLE_VALUE_VARIABLE:
	case HEDDLE_VALUE_BLOCK:
	case HEDDLE_VALUE_THREAD:
	case HEDDLE_VALUE_SIZE:
	case HEDDLE_VALUE_LOAD: return;
	case HEDDLE_VALUE_UNARY:
		resolve(ps, v->arg[0], v->op == HEDDLE_OP_NOT ? HEDDLE_BOOL : expected);
		v->type = v->arg[0]->type;
		break;
	case HEDDLE_VALUE_BINARY:
		if (heddle_op_is_truth(v->op)) {
			resolve_range(ps, v, 0, 2, HEDDLE_BOOL);
			v->type = HEDDLE_BOOL;
		} else if (heddle_op_is_comparison(v->op)) {
			resolve_together(ps, v, 0, 2, UNKNOWN);
			v->type = HEDDLE_BOOL;
		} else {
			v->type = resolve_together(ps, v, 0, 2, expected);
		}
		break;
	case HEDDLE_VALUE_SELECT:
		resolve(ps, v->arg[0], HEDDLE_BOOL);
		v->type = resolve_together(ps, v, 1, 3, expected);
		v->width = v->arg[1]->width;
		return;
	case HEDDLE_VALUE_CAST: resolve(ps, v->arg[0], UNKNOWN); break;
	case HEDDLE_VALUE_CALL: resolve_together(ps, v, 0, v->n_arg, v->type); break;
	case HEDDLE_VALUE_SPLAT:
	case HEDDLE_VALUE_BUILD: v->type = resolve_together(ps, v, 0, v->n_arg, expected); return;
	case HEDDLE_VALUE_EXTRACT:
	case HEDDLE_VALUE_REDUCE:
		v->type = resolve_together(ps, v, 0, 1, expected);
		v->width = 1;
		return;
	default: v->type = resolve_together(ps, v, 0, v->n_arg, expected); break;
	}
	v->width = v->n_arg ? v->arg[0]->width : 1;
}

/* ---- parsing values: grammar ------------------------------------------------------------------------------------------------ */

static heddle_value *parse_expression(parser *ps, int precedence);
static heddle_value *parse_value(parser *ps, heddle_type expected);

static heddle_value *value_new(parser *ps, heddle_value_kind kind, heddle_type type)
{
	heddle_value *v = HEDDLE_NEW(ps->p->arena, heddle_value);
	v->kind = kind;
	v->type = type;
	v->width = 1;
	return v;
}

static void add_argument(parser *ps, heddle_value *v, heddle_value *argument)
{
	HEDDLE_PUSH(ps->p->arena, v->arg, v->n_arg, argument);
}

static heddle_value *parse_literal(parser *ps, bool negative)
{
	const token *t = &ps->now;
	heddle_value *v = value_new(ps, t->kind == INTEGER ? HEDDLE_VALUE_INT : HEDDLE_VALUE_FLOAT, t->type);
	if (t->kind == FLOATING || (t->type != UNKNOWN && heddle_type_is_float(t->type))) {
		v->kind = HEDDLE_VALUE_FLOAT;
		v->f = strtod(t->text, NULL);
		v->f = negative ? -v->f : v->f;
	} else {
		v->i = integer_of(ps, t, negative);
	}
	if (t->kind == FLOATING && t->type != UNKNOWN && !heddle_type_is_float(t->type))
		fail(ps, t, "a floating-point literal cannot be %s", heddle_type_name(t->type));
	next(ps);
	return v;
}

static heddle_buffer *find_buffer(const heddle_program *p, const char *name)
{
	for (int k = 0; k < p->n_buffer; k++)
		if (!strcmp(p->buffer[k]->name, name))
			return p->buffer[k];
	return NULL;
}

static heddle_buffer *expect_buffer(parser *ps)
{
	token where = ps->now;
	const char *name = expect_name(ps, "a buffer");
	heddle_buffer *buffer = find_buffer(ps->p, name);
	if (!buffer)
		fail(ps, &where, "there is no buffer %s", name);
	return buffer;
}

/* [a][b][c : 4], appended to v's arguments; the width after the colon, 1 without. */
static int parse_subscripts(parser *ps, heddle_value *v)
{
	int width = 1;
	while (width == 1 && accept(ps, "[")) {
		if (accept(ps, "]"))
			break;
		add_argument(ps, v, parse_value(ps, HEDDLE_INT32));
		if (accept(ps, ":"))
			width = expect_int(ps, 1);
		expect(ps, "]");
	}
	return width;
}

static heddle_value *parse_load(parser *ps, const token *where, const char *name)
{
	heddle_value *v = value_new(ps, HEDDLE_VALUE_LOAD, HEDDLE_INT32);
	v->buffer = find_buffer(ps->p, name);
	v->width = parse_subscripts(ps, v);
	if (!v->buffer) {
		fail(ps, where, "there is no buffer %s", name);
		return v;
	}
	v->type = v->buffer->type;
	if (v->buffer->width > 1 && v->width == 1)
		v->width = v->buffer->width;
	return v;
}

static heddle_value *parse_name(parser *ps, const token *where, const char *name)
{
	for (int k = ps->n_variable - 1; k >= 0; k--)
		if (!strcmp(ps->variable[k].name, name)) {
			heddle_value *v = value_new(ps, HEDDLE_VALUE_VARIABLE, ps->variable[k].type);
			v->width = ps->variable[k].width;
			v->name = name;
			return v;
		}
	for (int k = 0; k < ps->p->n_size; k++)
		if (!strcmp(ps->p->size[k].name, name))
			return heddle_value_size(ps->p, k);
	if (!strcmp(name, "block") || !strcmp(name, "$block"))
		return heddle_value_block(ps->p);
	if (!strcmp(name, "thread") || !strcmp(name, "$thread"))
		return heddle_value_thread(ps->p);
	const char *word = name + (*name == '$');
	if (!strcmp(word, "true") || !strcmp(word, "false"))
		return heddle_value_int(ps->p, HEDDLE_BOOL, !strcmp(word, "true"));
	if (find_buffer(ps->p, name))
		fail(ps, where, "%s is a buffer: its elements are read by %s[..], a scalar by %s[]", name, name, name);
	else
		fail(ps, where, "there is no variable or size %s here", name);
	return value_new(ps, HEDDLE_VALUE_INT, HEDDLE_INT32);
}

static void parse_arguments(parser *ps, heddle_value *v, int n)
{
	for (int k = 0; k < n; k++) {
		if (k)
			expect(ps, ",");
		add_argument(ps, v, parse_expression(ps, 0));
	}
}

/* n arguments, then a comma and an integer. */
static heddle_value *parse_with_integer(parser *ps, heddle_value_kind kind, int *integer)
{
	heddle_value *v = value_new(ps, kind, UNKNOWN);
	parse_arguments(ps, v, 1);
	expect(ps, ",");
	*integer = expect_int(ps, 0);
	return v;
}

static heddle_value *parse_reduce(parser *ps)
{
	static const heddle_op ops[] = {HEDDLE_OP_ADD, HEDDLE_OP_MUL, HEDDLE_OP_MIN, HEDDLE_OP_MAX};
	heddle_value *v = value_new(ps, HEDDLE_VALUE_REDUCE, UNKNOWN);
	size_t k = 0;
	while (k < HEDDLE_COUNT(ops) && !is(ps, heddle_op_symbol(ops[k])))
		k++;
	if (k == HEDDLE_COUNT(ops))
		fail(ps, &ps->now, "expected +, *, min or max but found %s", describe(ps));
	else
		v->op = ops[k];
	next(ps);
	expect(ps, ",");
	parse_arguments(ps, v, 1);
	return v;
}

/* An intrinsic or conversion after its "(", without the ")"; NULL when `name` is neither. */
static heddle_value *parse_intrinsic(parser *ps, const char *name)
{
	heddle_value *v;
	int integer, type = heddle_type_parse(name);

	if (type >= 0) {
		v = value_new(ps, HEDDLE_VALUE_CAST, (heddle_type)type);
		parse_arguments(ps, v, 1);
		return v;
	}
	if (!strcmp(name, "min") || !strcmp(name, "max")) {
		v = value_new(ps, HEDDLE_VALUE_BINARY, UNKNOWN);
		v->op = name[1] == 'i' ? HEDDLE_OP_MIN : HEDDLE_OP_MAX;
		parse_arguments(ps, v, 2);
		return v;
	}
	if (!strcmp(name, "floor_div") || !strcmp(name, "floor_mod")) {
		v = value_new(ps, name[6] == 'd' ? HEDDLE_VALUE_FLOOR_DIV : HEDDLE_VALUE_FLOOR_MOD, UNKNOWN);
		parse_arguments(ps, v, 2);
		return v;
	}
	if (!strcmp(name, "fma")) {
		v = value_new(ps, HEDDLE_VALUE_FMA, UNKNOWN);
		parse_arguments(ps, v, 3);
		return v;
	}
	if (!strcmp(name, "splat")) {
		v = parse_with_integer(ps, HEDDLE_VALUE_SPLAT, &integer);
		v->width = integer;
		return v;
	}
	if (!strcmp(name, "extract") || !strcmp(name, "shuffle")) {
		v = parse_with_integer(ps, name[0] == 'e' ? HEDDLE_VALUE_EXTRACT : HEDDLE_VALUE_SHUFFLE, &integer);
		v->i = integer;
		return v;
	}
	if (!strcmp(name, "vector")) {
		v = value_new(ps, HEDDLE_VALUE_BUILD, UNKNOWN);
		do
			add_argument(ps, v, parse_expression(ps, 0));
		while (accept(ps, ","));
		v->width = v->n_arg;
		return v;
	}
	return strcmp(name, "reduce") ? NULL : parse_reduce(ps);
}

/* exp(x), exp.float64(x), call.fma(x, y, z): `name` is read, "(" or "." is next. */
static heddle_value *parse_call(parser *ps, const token *where, const char *name)
{
	bool forced = !strcmp(name, "call") && accept(ps, ".");
	if (forced)
		name = expect_name(ps, "a function");
	int type = UNKNOWN;
	if (accept(ps, ".")) {
		type = heddle_type_parse(expect_name(ps, "a type"));
		if (type < 0) {
			fail(ps, where, "%s. is followed by the type of its result", name);
			type = HEDDLE_FLOAT32;
		}
	}
	expect(ps, "(");
	heddle_value *v = forced ? NULL : parse_intrinsic(ps, name);
	if (!v) {
		int builtin = heddle_builtin_find(name);
		v = value_new(ps, HEDDLE_VALUE_CALL, (heddle_type)type);
		if (builtin < 0) {
			fail(ps, where, "there is no function %s", name);
			return v;
		}
		v->i = builtin;
		parse_arguments(ps, v, heddle_builtins[builtin].arity);
		if (type == UNKNOWN)
			v->type = heddle_value_first_type(v, 0, v->n_arg, true);
		if (v->type == UNKNOWN)
			v->type = HEDDLE_FLOAT32;
	}
	expect(ps, ")");
	return v;
}

static heddle_value *parse_primary(parser *ps);

/* - and !, any number of them; a minus right before a number belongs to it. */
static heddle_value *parse_unary(parser *ps, const token *where)
{
	heddle_op op = accept(ps, "!") ? HEDDLE_OP_NOT : HEDDLE_OP_NEG;
	bool literal = op == HEDDLE_OP_NEG && accept(ps, "-") &&
		       (ps->now.kind == INTEGER || ps->now.kind == FLOATING) && ps->now.start == where->start + 1;
	if (literal)
		return parse_literal(ps, true);
	heddle_value *v = value_new(ps, HEDDLE_VALUE_UNARY, op == HEDDLE_OP_NOT ? HEDDLE_BOOL : UNKNOWN);
	v->op = op;
	if (++ps->depth > MAX_DEPTH)
		fail(ps, &ps->now, "more than %d levels of parentheses and braces", MAX_DEPTH);
	add_argument(ps, v, parse_primary(ps));
	ps->depth--;
	return v;
}

static heddle_value *parse_primary(parser *ps)
{
	token where = ps->now;

	if (where.kind == INTEGER || where.kind == FLOATING)
		return parse_literal(ps, false);
	if (accept(ps, "(")) {
		heddle_value *v = parse_expression(ps, 0);
		expect(ps, ")");
		return v;
	}
	if (is(ps, "-") || is(ps, "!"))
		return parse_unary(ps, &where);
	const char *name = expect_name(ps, "a value");
	if (ps->failed)
		return value_new(ps, HEDDLE_VALUE_INT, HEDDLE_INT32);
	if (is(ps, "["))
		return parse_load(ps, &where, name);
	if (is(ps, "(") || is(ps, "."))
		return parse_call(ps, &where, name);
	return parse_name(ps, &where, name);
}

static int infix_precedence(const parser *ps, heddle_op *op)
{
	if (ps->now.kind != PUNCTUATION)
		return 0;
	for (size_t k = 0; k < (size_t)HEDDLE_N_INFIX; k++)
		if (!strcmp(ps->now.text, heddle_op_symbol(heddle_infix[k].op))) {
			*op = heddle_infix[k].op;
			return heddle_infix[k].precedence;
		}
	return 0;
}

/* Operators that bind at least as tightly as `precedence`; 0 takes c ? a : b too. */
static heddle_value *parse_expression(parser *ps, int precedence)
{
	if (++ps->depth > MAX_DEPTH)
		fail(ps, &ps->now, "more than %d levels of parentheses and braces", MAX_DEPTH);
	heddle_value *left = parse_primary(ps);
	heddle_op op = HEDDLE_OP_ADD;
	int own;

	while ((own = infix_precedence(ps, &op)) > 0 && own >= precedence) {
		next(ps);
		heddle_value *v = value_new(ps, HEDDLE_VALUE_BINARY, UNKNOWN);
		v->op = op;
		add_argument(ps, v, left);
		add_argument(ps, v, parse_expression(ps, own + 1));
		left = v;
	}
	ps->depth--;
	if (precedence == 0 && accept(ps, "?")) {
		heddle_value *v = value_new(ps, HEDDLE_VALUE_SELECT, UNKNOWN);
		add_argument(ps, v, left);
		add_argument(ps, v, parse_expression(ps, 0));
		expect(ps, ":");
		add_argument(ps, v, parse_expression(ps, 0));
		return v;
	}
	return left;
}

static heddle_value *parse_value(parser *ps, heddle_type expected)
{
	token first = ps->now;
	heddle_value *v = parse_expression(ps, 0);
	ps->value = first;
	if (!ps->failed)
		resolve(ps, v, expected);
	return v;
}

/* ---- parsing nodes ---------------------------------------------------------------------------------------------------------- */

/* float32 or float32x4 */
static heddle_type parse_type(parser *ps, int *width)
{
	token where = ps->now;
	const char *word = expect_name(ps, "a type");
	size_t n = strlen(word);
	while (n > 0 && isdigit((unsigned char)word[n - 1]))
		n--;
	*width = 1;
	int type = heddle_type_parse(word);
	if (type < 0 && n > 1 && word[n - 1] == 'x' && word[n]) {
		long members = strtol(word + n, NULL, 10);
		type = heddle_type_parse(heddle_arena_strndup(ps->p->arena, word, n - 1));
		if (members < 1 || members > HEDDLE_MAX_VECTOR)
			fail(ps, &where, "a vector has 1 to %d members, %s does not", HEDDLE_MAX_VECTOR, word);
		else
			*width = (int)members;
	}
	if (type < 0)
		fail(ps, &where, "there is no type %s", word);
	return type < 0 ? HEDDLE_INT32 : (heddle_type)type;
}

static void add_variable(parser *ps, const char *name, heddle_type type, int width)
{
	variable v = {name, type, width};
	HEDDLE_PUSH(ps->p->arena, ps->variable, ps->n_variable, v);
}

static int parse_line(parser *ps)
{
	return accept(ps, "@") ? expect_int(ps, 0) : 0;
}

static heddle_node *parse_node(parser *ps);

static heddle_node *parse_block(parser *ps)
{
	heddle_node *block = heddle_node_block(ps->p);
	int outer = ps->n_variable;
	token open = ps->now;
	if (++ps->depth > MAX_DEPTH)
		fail(ps, &open, "more than %d levels of parentheses and braces", MAX_DEPTH);
	expect(ps, "{");
	block->line = parse_line(ps);
	while (!ps->failed && !is(ps, "}")) {
		if (ps->now.kind == END)
			fail(ps, &open, "this { has no }");
		else
			heddle_node_append(ps->p, block, parse_node(ps));
	}
	expect(ps, "}");
	ps->n_variable = outer;
	ps->depth--;
	return block;
}

static heddle_node *node_new(parser *ps, heddle_node_kind kind)
{
	heddle_node *node = HEDDLE_NEW(ps->p->arena, heddle_node);
	node->kind = kind;
	return node;
}

static void add_value(parser *ps, heddle_node *node, heddle_value *v)
{
	HEDDLE_PUSH(ps->p->arena, node->value, node->n_value, v);
}

static heddle_node *parse_for(parser *ps)
{
	heddle_node *node = node_new(ps, HEDDLE_NODE_FOR);
	size_t k = 0;
	while (k < (size_t)HEDDLE_N_LOOP_WORD && !is(ps, heddle_loop_words[k]))
		k++;
	if (k == (size_t)HEDDLE_N_LOOP_WORD)
		fail(ps, &ps->now, "expected serial, unroll or vector but found %s", describe(ps));
	node->loop = (heddle_loop_kind)k;
	next(ps);
	node->name = expect_name(ps, "an iterator");
	expect(ps, "in");
	token first = ps->now;
	add_value(ps, node, parse_expression(ps, 1));
	expect(ps, "..");
	add_value(ps, node, parse_expression(ps, 1));
	if (ps->failed)
		return node;
	heddle_type type = heddle_value_own_type(node->value[0], true);
	if (type == UNKNOWN)
		type = heddle_value_own_type(node->value[1], true);
	if (type == UNKNOWN)
		type = HEDDLE_INT32;
	ps->value = first;
	resolve(ps, node->value[0], type);
	resolve(ps, node->value[1], type);
	node->i = accept(ps, "step") ? expect_integer(ps) : 1;
	node->uniform = accept(ps, "uniform");
	node->line = parse_line(ps);
	add_variable(ps, node->name, node->value[0]->type, 1);
	HEDDLE_PUSH(ps->p->arena, node->child, node->n_child, parse_block(ps));
	ps->n_variable--;
	return node;
}

static heddle_node *parse_if(parser *ps)
{
	heddle_node *node = node_new(ps, HEDDLE_NODE_IF);
	add_value(ps, node, parse_value(ps, HEDDLE_BOOL));
	node->uniform = accept(ps, "uniform");
	node->line = parse_line(ps);
	HEDDLE_PUSH(ps->p->arena, node->child, node->n_child, parse_block(ps));
	if (accept(ps, "else"))
		HEDDLE_PUSH(ps->p->arena, node->child, node->n_child, parse_block(ps));
	return node;
}

static heddle_node *parse_let(parser *ps)
{
	int width;
	heddle_node *node = node_new(ps, HEDDLE_NODE_LET);
	heddle_type type = parse_type(ps, &width);
	token where = ps->now;
	node->name = expect_name(ps, "a variable");
	expect(ps, "=");
	add_value(ps, node, parse_value(ps, type));
	if (node->value[0]->type != type || node->value[0]->width != width)
		fail(ps, &where, "the value of %s is not of the type it is given", node->name);
	add_variable(ps, node->name, type, width);
	node->line = parse_line(ps);
	return node;
}

static heddle_node *parse_store(parser *ps, const token *where, const char *name)
{
	heddle_node *node = node_new(ps, HEDDLE_NODE_STORE);
	heddle_value *place = parse_load(ps, where, name);
	expect(ps, "=");
	node->buffer = place->buffer;
	add_value(ps, node, parse_value(ps, place->type));
	for (int k = 0; k < place->n_arg; k++)
		add_value(ps, node, place->arg[k]);
	if (node->value[0]->width != place->width)
		fail(ps, where, "%d members of %s are stored from a value of width %d", place->width, name,
		     node->value[0]->width);
	node->line = parse_line(ps);
	return node;
}

static heddle_node *parse_copy(parser *ps, bool wait)
{
	heddle_node *node = node_new(ps, wait ? HEDDLE_NODE_WAIT : HEDDLE_NODE_COPY);
	node->name = expect_name(ps, "the name of a copy");
	if (!wait) {
		add_value(ps, node, parse_value(ps, HEDDLE_INT32));
		for (int side = 0; side < 2; side++) {
			expect(ps, side ? "from" : "to");
			token where = ps->now;
			heddle_value *place = parse_load(ps, &where, expect_name(ps, "a buffer"));
			*(side ? &node->source : &node->buffer) = place->buffer;
			node->i = side ? node->i : place->n_arg;
			for (int k = 0; k < place->n_arg; k++)
				add_value(ps, node, place->arg[k]);
		}
	}
	node->line = parse_line(ps);
	return node;
}

static heddle_node *parse_node(parser *ps)
{
	token where = ps->now;

	if (is(ps, "{"))
		return parse_block(ps);
	if (where.kind == REMARK) {
		heddle_node *node = node_new(ps, HEDDLE_NODE_COMMENT);
		node->name = where.text;
		next(ps);
		return node;
	}
	const char *word = expect_name(ps, "a statement");
	if (is(ps, "["))
		return parse_store(ps, &where, word);
	if (!strcmp(word, "for"))
		return parse_for(ps);
	if (!strcmp(word, "if"))
		return parse_if(ps);
	if (!strcmp(word, "let"))
		return parse_let(ps);
	if (!strcmp(word, "copy") || !strcmp(word, "wait"))
		return parse_copy(ps, word[0] == 'w');
	if (!strcmp(word, "barrier") || !strcmp(word, "declare")) {
		heddle_node *node = node_new(ps, word[0] == 'b' ? HEDDLE_NODE_BARRIER : HEDDLE_NODE_DECLARE);
		if (node->kind == HEDDLE_NODE_DECLARE)
			node->buffer = expect_buffer(ps);
		node->line = parse_line(ps);
		return node;
	}
	fail(ps, &where, "expected a statement but found %s", word);
	return node_new(ps, HEDDLE_NODE_BARRIER);
}

/* ---- parsing the rest --------------------------------------------------------------------------------------------------------- */

/* "cuda:h200": characters up to white space, which the tokens would break apart. */
static const char *parse_target(parser *ps)
{
	const char *start = ps->now.start;
	size_t n = strcspn(start, " \t\r\n");
	ps->at = start + n;
	next(ps);
	return heddle_arena_strndup(ps->p->arena, start, n);
}

static void parse_head(parser *ps)
{
	expect(ps, "program");
	ps->p->name = expect_name(ps, "the name of the program");
	while (!ps->failed) {
		if (is(ps, "target")) {
			next(ps);
			ps->p->target = parse_target(ps);
		} else if (accept(ps, "warp")) {
			ps->p->warp = expect_int(ps, 1);
		} else {
			return;
		}
	}
}

static void parse_size(parser *ps)
{
	heddle_program_size size = {.divisor = 1};
	size.name = expect_name(ps, "a size");
	size.min = expect_integer(ps);
	expect(ps, "..");
	size.max = expect_integer(ps);
	if (accept(ps, "*"))
		size.divisor = expect_integer(ps);
	HEDDLE_PUSH(ps->p->arena, ps->p->size, ps->p->n_size, size);
}

/* strides [s][t]..: one per extent. */
static void parse_strides(parser *ps, heddle_buffer *buffer)
{
	int n = 0;
	while (accept(ps, "[")) {
		token where = ps->now;
		HEDDLE_PUSH(ps->p->arena, buffer->stride, n, parse_value(ps, HEDDLE_INT64));
		if (n > buffer->rank)
			fail(ps, &where, "more strides than extents");
		expect(ps, "]");
	}
	if (n < buffer->rank)
		fail(ps, &ps->now, "expected a stride for each of %d extents", buffer->rank);
}

static void parse_buffer(parser *ps)
{
	int role = -1, width;
	for (size_t k = 0; k < (size_t)HEDDLE_N_ROLE_WORD; k++)
		if (is(ps, heddle_role_words[k]))
			role = (int)k;
	if (role < 0)
		fail(ps, &ps->now, "expected what the buffer is (input, output, shared, ..) but found %s", describe(ps));
	next(ps);
	token where = ps->now;
	const char *name = expect_name(ps, "the name of the buffer");
	if (find_buffer(ps->p, name))
		fail(ps, &where, "there are two buffers %s", name);
	heddle_type type = parse_type(ps, &width);
	if (ps->failed)
		return;
	heddle_buffer *buffer = heddle_buffer_new(ps->p, name, (heddle_buffer_role)role, type, 0);
	buffer->width = width;
	buffer->align = heddle_type_size(type) * width;
	while (accept(ps, "[")) {
		HEDDLE_PUSH(ps->p->arena, buffer->extent, buffer->rank, parse_value(ps, HEDDLE_INT64));
		expect(ps, "]");
	}
	for (;;) {
		if (accept(ps, "pad"))
			buffer->pad = expect_int(ps, 0);
		else if (accept(ps, "strides"))
			parse_strides(ps, buffer);
		else if (accept(ps, "align"))
			buffer->align = expect_int(ps, 1);
		else if (accept(ps, "offset"))
			buffer->offset = parse_value(ps, HEDDLE_INT64);
		else if (accept(ps, "of"))
			buffer->of = expect_name(ps, "the tensor");
		else if (accept(ps, "unread"))
			buffer->unread = true;
		else if (ps->now.kind == STRING)
			buffer->comment = expect_string(ps);
		else
			return;
	}
}

static void parse_launch(parser *ps)
{
	heddle_launch *launch = HEDDLE_NEW(ps->p->arena, heddle_launch);
	launch->name = expect_name(ps, "the name of the launch");
	expect(ps, "grid");
	launch->grid = parse_value(ps, HEDDLE_INT64);
	expect(ps, "threads");
	launch->threads = expect_int(ps, 0);
	while (!ps->failed && !is(ps, "{")) {
		if (accept(ps, "min_blocks")) {
			launch->min_blocks = expect_int(ps, 0);
		} else if (accept(ps, "args")) {
			do
				HEDDLE_PUSH(ps->p->arena, launch->buffer, launch->n_buffer, expect_buffer(ps));
			while (accept(ps, ","));
		} else if (accept(ps, "shared")) {
			do
				HEDDLE_PUSH(ps->p->arena, launch->shared, launch->n_shared, expect_buffer(ps));
			while (accept(ps, ","));
		} else if (accept(ps, "config")) {
			launch->config = expect_string(ps);
		} else {
			fail(ps, &ps->now, "expected { or a property of the launch but found %s", describe(ps));
		}
	}
	launch->body = parse_block(ps);
	HEDDLE_PUSH(ps->p->arena, ps->p->launch, ps->p->n_launch, launch);
}

static void parse_policy(parser *ps)
{
	token where = ps->now;
	int policy = heddle_policy_parse(expect_string(ps));
	if (policy < 0)
		fail(ps, &where, "there is no such policy");
	else
		ps->p->policy = (heddle_policy)policy;
}

static void parse_program(parser *ps)
{
	heddle_program *p = ps->p;
	parse_head(ps);
	while (!ps->failed && ps->now.kind != END) {
		if (accept(ps, "config"))
			p->config = expect_string(ps);
		else if (accept(ps, "proof"))
			p->proof = expect_string(ps);
		else if (accept(ps, "policy"))
			parse_policy(ps);
		else if (accept(ps, "size"))
			parse_size(ps);
		else if (accept(ps, "buffer"))
			parse_buffer(ps);
		else if (accept(ps, "workspace"))
			p->workspace = parse_value(ps, HEDDLE_INT64);
		else if (accept(ps, "require"))
			HEDDLE_PUSH(p->arena, p->precondition, p->n_precondition, parse_value(ps, HEDDLE_BOOL));
		else if (accept(ps, "launch"))
			parse_launch(ps);
		else
			fail(ps, &ps->now, "expected size, buffer, launch, .. but found %s", describe(ps));
	}
}

heddle_program *heddle_program_parse(heddle_ctx *ctx, const char *name, const char *text)
{
	heddle_arena *arena = heddle_ctx_arena(ctx);
	heddle_source *source = HEDDLE_NEW(arena, heddle_source);
	source->name = heddle_arena_strdup(arena, name);
	source->text = heddle_arena_strdup(arena, text);
	source->length = strlen(text);

	parser ps = {.ctx = ctx, .p = heddle_program_new(""), .source = source, .line = 1};
	ps.at = ps.line_start = source->text;
	next(&ps);
	parse_program(&ps);
	if (ps.failed)
		return heddle_program_free(ps.p);
	heddle_program_number(ps.p);
	return ps.p;
}
