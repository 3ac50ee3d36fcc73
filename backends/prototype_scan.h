/* Inside of the prototypes' scanner: the tokens of a source, their brackets, and what is known of names.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_PROTOTYPE_SCAN_H
#define HEDDLE_PROTOTYPE_SCAN_H

#include "backends/prototype.h"

#include <string.h>

typedef struct constant {
	const char *name;
	int64_t value;
} constant;

/* `typedef A B;`, `using B = A;`, and type parameters of the instance. */
typedef struct alias {
	const char *name;
	int begin, end; /* tokens */
	const heddle_token *t;
} alias;

typedef struct scanner {
	heddle_ctx *ctx;
	heddle_arena *arena;
	const char *backend;
	const heddle_token *t;
	int n;
	int *partner; /* [n] of each bracket; n or -1: it has none */
	int n_function, *function; /* names of functions with a body */
	int n_launch, *launch;	   /* where host launches and instantiations may be */
	int64_t *work;		   /* tokens of bodies that may still be looked at */
	int n_constant;
	constant *constant;
	int n_alias;
	alias *alias;
	heddle_prototype_list *out;
} scanner;

static inline bool is(const scanner *s, int i, const char *text)
{
	return i >= 0 && i < s->n && strcmp(s->t[i].text, text) == 0;
}

static inline bool is_word(const scanner *s, int i)
{
	return i >= 0 && i < s->n && s->t[i].kind == HEDDLE_TOKEN_WORD;
}

static inline bool is_number(const scanner *s, int i)
{
	return i >= 0 && i < s->n && s->t[i].kind == HEDDLE_TOKEN_NUMBER;
}

static inline bool among(const char *text, const char *const *list)
{
	while (*list && strcmp(*list, text) != 0)
		list++;
	return *list != NULL;
}

/* The token that closes the bracket at `open`; n when none does. */
static inline int closing(const scanner *s, int open)
{
	return open >= 0 && open < s->n ? s->partner[open] : s->n;
}

static inline int opening(const scanner *s, int close)
{
	return close >= 0 && close < s->n ? s->partner[close] : -1;
}

/* ---- prototype_scan.c ---- */

/* Brackets of all kinds count alike: what does not fit is for compilers to say. */
void heddle_scan_partners(scanner *s);
/* The `>` of the template arguments that begin at `open`; -1: it is no such bracket. */
int heddle_scan_closing_angle(const scanner *s, int open);
int heddle_scan_opening_angle(const scanner *s, int close);
const char *heddle_scan_words(const scanner *s, int begin, int end);
/* The end of the part that begins at `i`: a comma of its own depth, or `end`. */
int heddle_scan_part_end(const scanner *s, int i, int end);
bool heddle_scan_look_up(void *user, const char *name, int64_t *value);
bool heddle_scan_evaluate(scanner *s, int begin, int end, int64_t *value);
void heddle_scan_add_constant(scanner *s, const char *name, int64_t value);
/* `constexpr int A = 4, B = A * 2;` and `const unsigned C = 32;` at any depth: a later one of the name wins. */
void heddle_scan_constants(scanner *s);
void heddle_scan_aliases(scanner *s);

/* ---- prototype_types.c ---- */

extern const char *const heddle_scan_qualifiers[]; /* of types, NULL-ended */
int heddle_scan_scalar_type(const char *name);
/* The type that tokens name; -1 with `*what`.  `*pointers` counts stars in aliases. */
int heddle_scan_type_of(const scanner *s, const heddle_token *t, int n, int depth, int *members, int *pointers,
			const char **what);
void heddle_scan_parameter(scanner *s, int begin, int end, heddle_prototype *p);
/* A function of the text: its parameters and body. */
bool heddle_scan_find_function(const scanner *s, const char *name, int *open, int *body);
int heddle_scan_use(const scanner *s, const char *name, int begin, int end, int depth);

/* ---- prototype_host.c ---- */

bool heddle_scan_names(const heddle_prototype *p, const char *name);
void heddle_scan_host_launches(scanner *s, heddle_prototype *p);

#endif
