/* Context, arenas, text buffers and diagnostics: what every other folder stands on.
 *
 * Errors: a function that can fail returns int, 0 or negative, or a pointer, NULL on failure; the reason is a diagnostic
 * in the context.  Ownership: whatever lives in an arena is freed with it; a _free function returns NULL.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_BASE_H
#define HEDDLE_BASE_H

#include <heddle/heddle.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#if defined(__GNUC__)
#define HEDDLE_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define HEDDLE_PRINTF(f, a)
#endif

#define HEDDLE_COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- arena: memory that is freed all at once --------------------------------------------------------------------- */

typedef struct heddle_arena heddle_arena;

/* A new, empty arena; NULL without memory.  An arena belongs to its creator. */
heddle_arena *heddle_arena_new(void);
heddle_arena *heddle_arena_free(heddle_arena *arena);
/* `size` zeroed bytes, aligned for any type.  Never NULL: without memory the program ends with exit code 5. */
void *heddle_arena_alloc(heddle_arena *arena, size_t size);
/* Bytes that were taken from it. */
size_t heddle_arena_bytes(const heddle_arena *arena);
char *heddle_arena_strdup(heddle_arena *arena, const char *s);
char *heddle_arena_strndup(heddle_arena *arena, const char *s, size_t n);
char *heddle_arena_printf(heddle_arena *arena, const char *format, ...) HEDDLE_PRINTF(2, 3);
/* The array grown by one: for small arrays that grow while parsing.  Copies when `n` is a power of two (or 0). */
void *heddle_arena_grow(heddle_arena *arena, void *array, size_t n, size_t element_size);

#define HEDDLE_NEW(arena, type) ((type *)heddle_arena_alloc((arena), sizeof(type)))
#define HEDDLE_NEW_ARRAY(arena, type, n) ((type *)heddle_arena_alloc((arena), sizeof(type) * (size_t)(n)))
/* Append to an arena array: HEDDLE_PUSH(arena, list->item, list->n_item, value). */
#define HEDDLE_PUSH(arena, array, n, value)                                                                            \
	((array) = heddle_arena_grow((arena), (array), (size_t)(n), sizeof(*(array))), (array)[(n)++] = (value))

/* Memory that never comes back NULL (exit code 5 instead); freed with free(). */
void *heddle_xalloc(size_t size);
void *heddle_xrealloc(void *old, size_t size);
char *heddle_xstrdup(const char *s);

/* ---- names: strings with a number each, found by hashing --------------------------------------------------------- */

typedef struct heddle_name_slot {
	const char *name; /* NULL: a free place */
	int number;
} heddle_name_slot;

/* Empty when zeroed; its memory, but not the strings, is in the arena that is given to _put. */
typedef struct heddle_name_table {
	size_t n, n_slot; /* slots are a power of two, at most half of them taken */
	heddle_name_slot *slot;
} heddle_name_table;

/* The number of a name; -1: it is not there. */
int heddle_name_table_find(const heddle_name_table *names, const char *name);
/* From now on the name has this number (0 or more). */
void heddle_name_table_put(heddle_arena *arena, heddle_name_table *names, const char *name, int number);
void heddle_name_table_clear(heddle_name_table *names);

/* ---- text: a growing string -------------------------------------------------------------------------------------- */

typedef struct heddle_text {
	char *data; /* NUL-terminated once anything was added; NULL before */
	size_t length;
	size_t capacity;
} heddle_text;

void heddle_text_clear(heddle_text *text); /* empty, memory kept */
void heddle_text_free(heddle_text *text);  /* empty, memory given back */
void heddle_text_add(heddle_text *text, const char *s);
void heddle_text_addn(heddle_text *text, const char *s, size_t n);
void heddle_text_printf(heddle_text *text, const char *format, ...) HEDDLE_PRINTF(2, 3);
void heddle_text_vprintf(heddle_text *text, const char *format, va_list args);
void heddle_text_indent(heddle_text *text, int depth); /* one tab per depth */
/* The string, "" when empty; owned by `text`. */
const char *heddle_text_str(const heddle_text *text);
/* The shortest decimal that reads back as the same double ("0.1", "1e-12", "inf", "nan"); into `buffer`. */
const char *heddle_format_double(double value, char buffer[40]);
/* The same for float32. */
const char *heddle_format_float(float value, char buffer[40]);

/* ---- files -------------------------------------------------------------------------------------------------------- */

/* The whole file as a NUL-terminated malloc'ed string (free it), its length in `*length` when not NULL; NULL with a
 * diagnostic E0901 (not found, unreadable, a directory, larger than 64 MiB). */
char *heddle_file_read(heddle_ctx *ctx, const char *path, size_t *length);
/* fopen(path, "rb"), but a pipe to which nothing comes for 3 seconds is an error (ETIMEDOUT). */
FILE *heddle_stream_open(const char *path);
/* Write whole or not at all: a temporary beside `path`, fsync'ed and renamed.  0, or -1 with a diagnostic E0902. */
int heddle_file_write(heddle_ctx *ctx, const char *path, const void *data, size_t length);
/* The paths that heddle_file_read has read through this context, each once, in order; NULL-ended. */
const char *const *heddle_files_read(const heddle_ctx *ctx);
/* Make `path` and its parents; 0, or -1 with a diagnostic. */
int heddle_dir_make(heddle_ctx *ctx, const char *path);
/* A fresh private directory under $TMPDIR or /tmp, into `buffer`; 0, or -1 with a diagnostic.  The caller removes it. */
int heddle_dir_temporary(heddle_ctx *ctx, char buffer[512]);
/* Wait until no other process of this user on this machine holds the lock of this name, and take it.  It ends with
 * heddle_lock_drop or with the process.  -1, which drop takes as well: no lock can be had, and one goes on without. */
int heddle_lock_take(const char *name);
void heddle_lock_drop(int lock);
void heddle_dir_remove(const char *path); /* with everything in it */

/* ---- sources and diagnostics --------------------------------------------------------------------------------------- */

typedef struct heddle_source {
	const char *name; /* as shown in messages: the path the user gave */
	const char *text; /* NUL-terminated */
	size_t length;
} heddle_source;

/* A stretch of one line of a source.  line and column count from 1; line 0 means no place. */
typedef struct heddle_location {
	const heddle_source *source;
	int line;
	int column;
	int length; /* in bytes, at least 1 */
} heddle_location;

typedef enum heddle_severity { HEDDLE_ERROR, HEDDLE_WARNING, HEDDLE_NOTE } heddle_severity;

typedef struct heddle_diagnostic {
	heddle_severity severity;
	int code;		  /* 123 prints as E0123 (W0123 for a warning); 0: none (notes) */
	heddle_location location; /* source NULL: no place */
	const char *message;
	const char *fixit; /* NULL, or the text that should stand at `location` instead */
	struct heddle_diagnostic *next;
} heddle_diagnostic;

/* Record an error (returns -1, so `return heddle_error(...)` reads well), a warning (returns 0), a note on the diagnostic
 * before it (returns 0).  `location` may be NULL. Messages: lower case, no full stop, what is wrong; notes say why or what
 * to write instead. */
int heddle_error(heddle_ctx *ctx, int code, const heddle_location *location, const char *format, ...) HEDDLE_PRINTF(4, 5);
int heddle_warning(heddle_ctx *ctx, int code, const heddle_location *location, const char *format, ...)
	HEDDLE_PRINTF(4, 5);
int heddle_note(heddle_ctx *ctx, const heddle_location *location, const char *format, ...) HEDDLE_PRINTF(3, 4);
/* Attach a fix-it to the newest error or warning. */
void heddle_fixit(heddle_ctx *ctx, const char *format, ...) HEDDLE_PRINTF(2, 3);

const heddle_diagnostic *heddle_diagnostics(const heddle_ctx *ctx); /* oldest first */
int heddle_error_count(const heddle_ctx *ctx);
void heddle_diagnostics_clear(heddle_ctx *ctx);
/* Keep the oldest `n` of all severities: what was said since is not so. */
void heddle_diagnostics_keep(heddle_ctx *ctx, int n);
int heddle_diagnostics_count(const heddle_ctx *ctx);
/* "file:line:col: error: message [E0123]", the line, a caret line, notes, a fix-it. */
void heddle_diagnostic_print(const heddle_diagnostic *diagnostic, heddle_text *out);

/* Code ranges: 0001-0099 lexer and parser, 0100-0199 names and types, 0200-0299 ranges, 0300-0399 sizes and shapes,
 * 0400-0499 descriptors and dialects, 0500-0599 config, 0600-0699 passes and limits, 0700-0799 harness and input data,
 * 0800-0899 tools and drivers, 0900-0949 files and usage, 0950-0999 internal.  `base/codes.c` is the table. */
typedef struct heddle_code {
	int code;
	const char *title;	 /* one line */
	const char *explanation; /* what it means, an example that is wrong and the right one */
} heddle_code;
extern const heddle_code heddle_codes[]; /* sorted, ended by code 0 */

/* Exit codes of DESIGN section 9, also what every public verb returns. */
enum {
	HEDDLE_EXIT_FINE = 0,
	HEDDLE_EXIT_FAILED = 1,
	HEDDLE_EXIT_USAGE = 2,
	HEDDLE_EXIT_SOURCE = 3,
	HEDDLE_EXIT_MISSING = 4,
	HEDDLE_EXIT_LIMIT = 5,
	HEDDLE_EXIT_INTERNAL = 70,
	HEDDLE_EXIT_SKIPPED = 77,
};
/* The exit code that the recorded errors ask for (by code range: 0001-0699 -> 3 except E06xx limits -> 5 ...). */
int heddle_exit_code(const heddle_ctx *ctx);

/* The nearest of `n` names by edit distance, or NULL when none is near: at most a third of the longer one may differ. */
const char *heddle_nearest(const char *name, const char *const *names, int n);

/* ---- context -------------------------------------------------------------------------------------------------------- */

/* Memory that lives as long as the context (sources, diagnostics, descriptors). */
heddle_arena *heddle_ctx_arena(heddle_ctx *ctx);
/* Folders of --path and HEDDLE_PATH, in order; NULL-ended. */
const char *const *heddle_ctx_paths(const heddle_ctx *ctx);

/* Something that lives as long as the context, by name: NULL when nothing was attached.  Attaching again frees what was there. */
void *heddle_ctx_attached(const heddle_ctx *ctx, const char *name);
void heddle_ctx_attach(heddle_ctx *ctx, const char *name, void *data, void (*release)(void *data));

/* Say how far long work has come; a no-op unless the user asked with heddle_ctx_set_progress. */
void heddle_progress(heddle_ctx *ctx, const char *format, ...) HEDDLE_PRINTF(2, 3);

/* Work in steps that are counted before it begins. */
typedef struct heddle_steps {
	int done, total;
	double start; /* heddle_now() when it began */
} heddle_steps;
heddle_steps heddle_steps_new(int total);
/* By heddle_progress: "3 of 12, about 40 s left: TEXT".  The rest is taken to last as long per step as what is done. */
void heddle_steps_say(heddle_ctx *ctx, const heddle_steps *steps, const char *format, ...) HEDDLE_PRINTF(3, 4);

/* Data files compiled into the binary (descriptors, dialects, preludes, shims): path as in the source tree
 * ("arch/h200.yaml").  The table is generated at build time from cmake/embed.cmake. */
typedef struct heddle_embedded {
	const char *path;
	const char *data; /* NUL-terminated */
	size_t length;
} heddle_embedded;
extern const heddle_embedded heddle_embedded_files[]; /* ended by path NULL */
const heddle_embedded *heddle_embedded_find(const char *path);

/* Monotonic time in seconds. */
double heddle_now(void);

#define HEDDLE_MAX_RANK 8     /* dimensions of a tensor */
#define HEDDLE_MAX_INDICES 16 /* of a statement */

/* ---- scalar types ----------------------------------------------------------------------------------------------------- */

typedef enum heddle_type {
	HEDDLE_BOOL,
	HEDDLE_INT8,
	HEDDLE_INT16,
	HEDDLE_INT32,
	HEDDLE_INT64,
	HEDDLE_UINT8,
	HEDDLE_UINT16,
	HEDDLE_UINT32,
	HEDDLE_UINT64,
	HEDDLE_FLOAT16,
	HEDDLE_BFLOAT16,
	HEDDLE_FLOAT32,
	HEDDLE_FLOAT64,
	HEDDLE_N_TYPE
} heddle_type;

const char *heddle_type_name(heddle_type type); /* "float32" */
int heddle_type_parse(const char *name);	/* also float, double; -1 if none */
int heddle_type_size(heddle_type type);		/* bytes in memory; bool is 1 */
bool heddle_type_is_float(heddle_type type);
heddle_type heddle_type_computed(heddle_type type); /* in which values of this type are computed and sums of them kept */
bool heddle_type_is_signed(heddle_type type); /* signed integers only */
bool heddle_type_is_unsigned(heddle_type type); /* bool included */

/* ---- numeric policies ------------------------------------------------------------------------------------------------- */

typedef enum heddle_policy {
	HEDDLE_POLICY_IEEE,    /* IEEE 754 arithmetic; products and sums may be contracted */
	HEDDLE_POLICY_RELAXED, /* also: subnormal numbers may be 0, division and square root within 2 ulp, functions twice their bound */
	HEDDLE_N_POLICY
} heddle_policy;

const char *heddle_policy_name(heddle_policy policy); /* "ieee" */
int heddle_policy_parse(const char *name);	      /* -1 if none */
/* What heddle_ctx_set_policy asked for; -1: nothing, each definition has its own. */
int heddle_ctx_policy(const heddle_ctx *ctx);

/* Operators and functions shared by definitions and programs. */
typedef enum heddle_op {
	HEDDLE_OP_ADD,
	HEDDLE_OP_SUB,
	HEDDLE_OP_MUL,
	HEDDLE_OP_DIV, /* integers: truncating, as in C */
	HEDDLE_OP_MOD, /* integers: sign of the dividend, as in C; floats: fmod */
	HEDDLE_OP_MIN, /* propagates NaN */
	HEDDLE_OP_MAX, /* propagates NaN */
	HEDDLE_OP_LT,
	HEDDLE_OP_LE,
	HEDDLE_OP_GT,
	HEDDLE_OP_GE,
	HEDDLE_OP_EQ,
	HEDDLE_OP_NE,
	HEDDLE_OP_AND, /* logical, both sides may be evaluated (no side effects; loads are guarded by ?: only) */
	HEDDLE_OP_OR,
	HEDDLE_OP_BITAND,
	HEDDLE_OP_BITOR,
	HEDDLE_OP_BITXOR,
	HEDDLE_OP_SHL,
	HEDDLE_OP_SHR,
	HEDDLE_OP_NEG, /* unary */
	HEDDLE_OP_NOT, /* unary, logical */
	HEDDLE_N_OP
} heddle_op;

const char *heddle_op_symbol(heddle_op op); /* "+", "min", "<=" */

/* Mathematical functions of the notation ("exp", "fmax", ...): frontend/builtins.c is the table. */
typedef struct heddle_builtin {
	const char *name;
	int arity;
	bool integer; /* its arguments are uint64 and its result is uint32; else all are float32 or float64 */
	bool plain;   /* an instruction or two wherever there is floating point: no polynomial, no table */
} heddle_builtin;
/* TC's 64 and random_bits, ended by name NULL; a builtin is named by its position. */
extern const heddle_builtin heddle_builtins[];
int heddle_builtin_find(const char *name); /* position or -1 */

#endif
