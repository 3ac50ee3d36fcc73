/* The dialect: how a C-like language writes things, as a table of words read from backends/<name>/dialect.yaml, and its
 * prelude, the functions that the language lacks, in pieces of which a source gets those that it uses.
 *
 * A word is a template: {name} stands for a value, any other brace for itself.  Where a value is put between ( or , and ) or ,
 * it stands bare, elsewhere it gets the parentheses that it needs.  Keys are dotted paths ("type.float32.name"); a dialect
 * that inherits another gets its words and pieces and overrides them one by one.  doc/dialects.md describes every key.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_DIALECT_H
#define HEDDLE_DIALECT_H

#include "backends/backend.h"

typedef struct dialect_word {
	const char *key;
	const char *text;
	const char *file; /* that gave it */
	int line;
} dialect_word;

/* A piece of the prelude: the text after a line `//: name [parameter=value,value...]`, one per combination of parameter
 * values.  A source gets it when `name` occurs in its kernels or in another piece that it gets. */
typedef struct dialect_piece {
	const char *name;
	const char *text;
} dialect_piece;

struct heddle_dialect {
	const char *name;
	int n_word;
	dialect_word *word; /* sorted by key */
	int n_piece;
	dialect_piece *piece; /* in the order in which they are printed */
	heddle_name_table piece_at; /* their places by name */
	int n_reserved;
	const char **reserved; /* identifiers that a program may not use for its own things; sorted */
};

/* By name, in the context's arena; read once for as long as the search path stays as it is.  NULL with a diagnostic. */
const heddle_dialect *heddle_dialect_find(heddle_ctx *ctx, const char *name);
/* From text, as if it were the file `file`.  `prelude` is the text of its prelude or NULL.  A parent is the one of that name
 * among `known` (ended by NULL, or NULL), which must live as long as the result, or else is searched by name. */
const heddle_dialect *heddle_dialect_read(heddle_ctx *ctx, const char *file, const char *text, const char *prelude,
					  const heddle_dialect *const *known);

/* A word by its key, given as printf does; NULL: the dialect has none. */
const char *heddle_dialect_word(const heddle_dialect *dialect, const char *format, ...) HEDDLE_PRINTF(2, 3);
bool heddle_dialect_flag(const heddle_dialect *dialect, const char *key); /* the word is "true" */
bool heddle_dialect_reserves(const heddle_dialect *dialect, const char *identifier);
/* Words key.0, key.1, ... in the arena; the count in `*n`. */
const char **heddle_dialect_list(const heddle_dialect *dialect, heddle_arena *arena, const char *key, int *n);

/* The pieces of the prelude that `text` uses, appended to `out`. */
void heddle_prelude_print(const heddle_dialect *dialect, const char *text, heddle_text *out);

/* ".cu": of the source; of the file that holds the host entry, NULL when that is the source. */
const char *heddle_dialect_suffix(const heddle_dialect *dialect);
const char *heddle_dialect_host_suffix(const heddle_dialect *dialect);
/* Whether it says how the host calls kernels: else sources have no entry. */
bool heddle_dialect_has_host(const heddle_dialect *dialect);

#endif
