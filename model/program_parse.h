/* Inside of the parser of the program's text form: tokens, and the program so far.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_PROGRAM_PARSE_H
#define HEDDLE_PROGRAM_PARSE_H

#include "model/program_words.h"

enum { BAD_TEXT = 951, MAX_DEPTH = 500 };

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

/* ---- program_tokens.c ---- */

/* The first error counts: it is recorded, and the rest of the text is skipped. */
void program_fail(parser *ps, const token *where, const char *format, ...) HEDDLE_PRINTF(3, 4);
void program_next(parser *ps);
bool program_is(const parser *ps, const char *text);
bool program_accept(parser *ps, const char *text);
const char *program_describe(const parser *ps);
void program_expect(parser *ps, const char *text);
const char *program_expect_name(parser *ps, const char *what);
const char *program_expect_string(parser *ps);
/* The number of an INTEGER, which fits 64 bits with its sign. */
int64_t program_integer_of(parser *ps, const token *t, bool negative);
int64_t program_expect_integer(parser *ps);
int program_expect_int(parser *ps, int min);

/* ---- program_parse_value.c ---- */

/* Give literals the type that their place asks for, and every value its type and width. */
void program_resolve(parser *ps, heddle_value *v, heddle_type expected);
heddle_buffer *program_find_buffer(const heddle_program *p, const char *name);
heddle_buffer *program_expect_buffer(parser *ps);
heddle_value *program_parse_load(parser *ps, const token *where, const char *name);
heddle_value *program_parse_expression(parser *ps, int precedence);
heddle_value *program_parse_value(parser *ps, heddle_type expected);

#endif
