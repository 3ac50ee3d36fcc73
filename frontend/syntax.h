/* What the parser hands to the checker: the text as a tree, names unresolved.  Private to frontend/.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_SYNTAX_H
#define HEDDLE_SYNTAX_H

#include "frontend/definition.h"

/* What a file may have, so that no text takes long to be refused. */
enum {
	MAX_FILE_BYTES = 2 << 20,
	MAX_DEFINITIONS = 1000,
	MAX_PARAMS = 500,     /* inputs, or outputs, of a definition */
	MAX_STATEMENTS = 500, /* of a definition */
	MAX_NODES = 10000,    /* of the expressions of a statement */
	MAX_ALL_NODES = 40000, /* of a definition, with what `where` and calls put in: what compiling has operations for */
	MAX_ERRORS = 100,     /* then reading stops */
	MAX_STEPS = 20000000, /* of decisions about subscripts and ranges, in the whole file */
	MAX_BROUGHT = 500000, /* operands and operators that calls of definitions bring, in the whole file */
};

typedef enum token_kind {
	TOKEN_END,
	/* one character: its code */
	TOKEN_NUMBER = 256,
	TOKEN_NAME,
	TOKEN_TYPE,
	TOKEN_DEF,
	TOKEN_WHERE,
	TOKEN_IN,
	TOKEN_EXISTS,
	TOKEN_MIN,
	TOKEN_MAX,
	TOKEN_ARROW,
	TOKEN_EQUIVALENT,
	TOKEN_SET_ADD,
	TOKEN_SET_MUL,
	TOKEN_SET_MIN,
	TOKEN_SET_MAX,
	TOKEN_NEW_ADD,
	TOKEN_NEW_MUL,
	TOKEN_NEW_MIN,
	TOKEN_NEW_MAX,
	TOKEN_GE,
	TOKEN_LE,
	TOKEN_EQ,
	TOKEN_NE,
	TOKEN_AND,
	TOKEN_OR,
	TOKEN_SHL,
	TOKEN_SHR,
} token_kind;

typedef struct token {
	int kind;
	const char *text; /* NUL-terminated copy */
	heddle_location location;
	bool is_float; /* NUMBER */
	double f;
	int64_t i;
	heddle_type type; /* TYPE */
	bool line_start;  /* the first token of its line */
} token;

/* All tokens of the source, ended by TOKEN_END; pragmas go to `module`.  -1 when characters had to be left out, so that the
 * tokens make little sense. */
typedef struct token_list {
	int n;
	token *token;
} token_list;
int heddle_lex(heddle_ctx *ctx, heddle_arena *scratch, heddle_module *module, token_list *out);

typedef enum syntax_kind {
	SYNTAX_NUMBER, /* is_float, f, i */
	SYNTAX_NAME,   /* name, arg when has_arg */
	SYNTAX_UNARY,
	SYNTAX_BINARY,
	SYNTAX_SELECT,
	SYNTAX_CAST, /* type, arg[0] */
} syntax_kind;

typedef struct syntax_expr {
	syntax_kind kind;
	heddle_op op;
	heddle_type type;
	const char *name;
	bool has_arg; /* name was followed by parentheses */
	int n_arg;
	struct syntax_expr **arg;
	bool is_float;
	double f;
	int64_t i;
	heddle_location location;
} syntax_expr;

typedef struct syntax_param {
	const char *name;
	bool has_type;
	bool is_size;  /* `size S` */
	bool is_inout; /* `inout` before it */
	heddle_type type;
	int n_dim;
	syntax_expr **dim;
	bool has_strides;
	int n_stride;
	syntax_expr **stride;
	heddle_location stride_location; /* of the list with its parentheses */
	bool has_align;
	int64_t align;
	heddle_location align_location; /* of the number */
	heddle_location location;
} syntax_param;

typedef enum syntax_clause_kind { CLAUSE_RANGE, CLAUSE_LET, CLAUSE_EXISTS } syntax_clause_kind;

typedef struct syntax_clause {
	syntax_clause_kind kind;
	const char *name;
	syntax_expr *a, *b; /* lower and upper; value; expression */
	heddle_location location;
} syntax_clause;

typedef struct syntax_statement {
	const char *name; /* of the target; the first of several */
	int n_output;	  /* `(Y, Z) = f(..)`: all of them, else 0 */
	const char **output;
	heddle_location *output_location;
	bool has_type; /* `float16 t(i) = ..` */
	heddle_type type;
	int n_lhs;
	syntax_expr **lhs;
	heddle_assign assign;
	bool initialise;
	bool arg; /* argmin=! or argmax=! (assign says which): the index of the extreme */
	syntax_expr *value;
	int n_clause;
	syntax_clause *clause;
	heddle_location location; /* of the name */
	heddle_location whole;	  /* of all of it when it stands on one line, else line 0 */
	bool broken;		  /* it could not be parsed: only `name` is known */
} syntax_statement;

typedef struct syntax_definition {
	const char *name;
	int n_param;
	syntax_param *param;
	int n_return;
	syntax_param *ret;
	bool has_policy;
	heddle_policy policy; /* the `policy` clause */
	heddle_size_list sizes; /* the `sizes` clause */
	heddle_location *size_location;
	int n_statement;
	syntax_statement *statement;
	bool broken; /* the head could not be parsed */
	heddle_location location;
} syntax_definition;

typedef struct syntax_file {
	int n_definition;
	syntax_definition *definition;
} syntax_file;

/* Parse everything; errors are recorded and skipped over, so `out` holds whatever could be read. */
void heddle_parse(heddle_ctx *ctx, heddle_arena *scratch, const token_list *tokens, syntax_file *out);

/* What was meant, for a note under an error; NULL: no idea.  hints.c: */
const char *heddle_hint_token(const token *t);		  /* a word or sign that cannot stand there */
bool heddle_hint_where(const token *t);			  /* a misspelt `where` */
const char *heddle_hint_type(const char *name);		  /* the type of another language, or the nearest */
const char *heddle_hint_call(const char *name);		  /* a function that is an operator or formula here */
const char *heddle_hint_character(const char *character); /* the ASCII sign for one in UTF-8 */

/* The definitions of a file while they are checked: each once, or when another calls it. */
typedef struct file_checker {
	heddle_ctx *ctx;
	heddle_arena *arena;
	heddle_arena *scratch;
	const syntax_file *file;
	const heddle_size_list *sizes;	/* NULL: none were given */
	const char *only;		/* the definition that they are for; NULL: all */
	/* [file->n_definition]; open: other definitions call it, and by itself it has strides that are not known */
	enum { CHECK_NEW, CHECK_BUSY, CHECK_DONE, CHECK_OPEN } *status;
	heddle_definition **definition; /* [file->n_definition]; NULL: not done, or with errors */
	int n_instance;
	struct call_instance *instance; /* called definitions, each for the sizes that it was called with */
	int n_brought;
	int64_t steps; /* left for decisions about subscripts and ranges */
	bool slow;     /* it was said that there are none */
} file_checker;

/* Names, types, ranges and shapes of one definition; NULL with diagnostics. */
heddle_definition *heddle_check_definition(file_checker *file, int i);

/* Narrow the ranges of a definition's sizes by those of the list that it has; 0, or -1 with a diagnostic. */
int heddle_sizes_apply(heddle_ctx *ctx, heddle_definition *definition, const heddle_size_list *list);

#endif
