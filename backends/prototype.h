/* What the text of a hand-written source says of its kernels: names, templates, parameters, block sizes, shared memory.
 *
 *   preprocess.c  text -> tokens with their places, conditionals decided, macros expanded
 *   prototype.c   tokens -> prototypes, with prototype_scan.c, prototype_types.c and prototype_host.c
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_PROTOTYPE_H
#define HEDDLE_PROTOTYPE_H

#include "base/base.h"

/* ---- preprocess.c ----------------------------------------------------------------------------------------------------- */

typedef enum heddle_token_kind {
	HEDDLE_TOKEN_WORD,
	HEDDLE_TOKEN_NUMBER,
	HEDDLE_TOKEN_TEXT, /* string or character literal, quotes included */
	HEDDLE_TOKEN_MARK, /* one character */
} heddle_token_kind;

typedef struct heddle_token {
	heddle_token_kind kind;
	const char *text;
	const char *file;
	int line;
	bool joined; /* nothing stands between it and the token before */
	bool fixed;  /* the name of a macro inside of its own text: never expanded */
} heddle_token;

typedef struct heddle_token_list {
	heddle_arena *arena;
	int n;
	heddle_token *t;
} heddle_token_list;

typedef struct heddle_preprocess_options {
	const char *path;    /* of the source */
	const char *backend; /* "cuda", "hip", "opencl": which macros are predefined */
	int n_flag;
	const char *const *flag; /* -DNAME=VALUE, -UNAME, -IDIR */
	bool own;		 /* do not ask a compiler's preprocessor even where there is one */
} heddle_preprocess_options;

/* Tokens of `text` as the compiler of its language sees them.  Headers in <> are left out.  A C preprocessor does it where
 * there is one ($CXX, g++, clang++, cpp); else our own, which has no ## and says so where the text needs it (W0788).  0, or -1
 * with a diagnostic. */
int heddle_preprocess(heddle_ctx *ctx, const char *text, const heddle_preprocess_options *options, heddle_token_list *out);

/* The value of an integer constant expression [begin, end) of C.  `lookup` gives the value of a name (it may refuse).  False: it
 * is none. */
typedef bool (*heddle_token_lookup)(void *user, const char *name, int64_t *value);
bool heddle_tokens_evaluate(const heddle_token *begin, const heddle_token *end, heddle_token_lookup lookup, void *user,
			    int64_t *value);
/* [begin, end) as text, blanks where the source has them. */
const char *heddle_tokens_text(heddle_arena *arena, const heddle_token *begin, const heddle_token *end);

/* ---- prototype.c ------------------------------------------------------------------------------------------------------- */

/* How the body uses what a pointer points at. */
enum { HEDDLE_USE_READ = 1, HEDDLE_USE_WRITE = 2, HEDDLE_USE_PASSED = 4 /* on to code that is not followed */ };

typedef struct heddle_parameter {
	const char *name; /* "" when it has none */
	const char *type; /* as written, without the name */
	int line;
	bool pointer, constant;
	bool local;	   /* pointer to shared memory that the launch allocates */
	int element;	   /* heddle_type of the value, or of what it points at; -1: unknown */
	const char *what;  /* element < 0: the name that is not understood */
	int members;	   /* 4 for float4; 1 for scalars */
	int align;	   /* bytes, of what it points at */
	int use;	   /* of a pointer */
	const char *unsupported; /* why no launch can pass it; NULL: it can */
} heddle_parameter;

typedef struct heddle_template_parameter {
	const char *name, *value; /* default; NULL: none */
	bool type;
} heddle_template_parameter;

/* One `k<T, 128><<<grid, block, shared>>>(..)` of the host code.  Formulas are over the names of the kernel's parameters, and
 * "$N" is a variable N of the host; NULL: not understood. */
typedef struct heddle_host_launch {
	int line;
	const char *instance; /* "k<float, 128>" or "k" */
	const char *text;     /* "<<<(n + 127) / 128, 128>>>" */
	const char *grid[3];
	int block[3];	    /* 0: not understood */
	const char *shared; /* bytes; "0" when not given */
	int n_argument;
	const char **argument; /* as formulas over variables of the host; NULL: not understood */
} heddle_host_launch;

typedef struct heddle_prototype {
	const char *name; /* with its namespaces */
	const char *file;
	int line;
	int n_template;
	heddle_template_parameter *template_parameter;
	int n_instance; /* explicit instantiations and host launches: "k<float, 128>", each once */
	const char **instance;
	int n_parameter;
	heddle_parameter *parameter;
	int block[3];	   /* 0: the text does not say */
	bool block_exact;  /* else the greatest number of threads */
	int block_line;
	const char *dynamic_shared; /* "float s[]", NULL: none */
	int dynamic_line;
	int n_host;
	heddle_host_launch *host;
} heddle_prototype;

typedef struct heddle_text_feature {
	const char *what; /* "inline assembly", "header cub/cub.cuh" */
	const char *file;
	int line;
} heddle_text_feature;

typedef struct heddle_prototype_list {
	heddle_arena *arena;
	int n;
	heddle_prototype *item;
	int n_feature; /* what levels may not take */
	heddle_text_feature *feature;
} heddle_prototype_list;

/* Find the kernels in tokens of a language.  `instance` is "k<float, 128>" or NULL: it decides the types of k's parameters.
 * 0, or -1 with a diagnostic. */
int heddle_prototypes_find(heddle_ctx *ctx, const heddle_token_list *tokens, const char *backend, int n_instance,
			   const char *const *instance, heddle_prototype_list *out);

#endif
