/* The checked definition: what the user wrote, with types, ranges and shapes resolved.
 *
 * Everything lives in the arena of its heddle_module.  The reference evaluator and `extract` read this and nothing else.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_DEFINITION_H
#define HEDDLE_DEFINITION_H

#include "base/base.h"

/* 2^31 - 65536, the greatest value of a size: coordinates of tiles pass a size by less than a tile and must fit 32 bits. */
#define HEDDLE_MAX_SIZE 2147418112

typedef struct heddle_expr heddle_expr;

/* A size symbol (N, K, ...) with its allowed values: min <= value <= max, and value % divisor == 0.
 * A given size has min == max. */
typedef struct heddle_size {
	const char *name;
	int64_t min;	 /* 0 unless told otherwise */
	int64_t max;	 /* HEDDLE_MAX_SIZE unless told otherwise */
	int64_t divisor; /* 1 unless told otherwise */
	bool window;	 /* of the taps of a filter: where it is open, a few are usual */
	int position;	 /* in heddle_definition.size */
	heddle_location location;
} heddle_size;

typedef enum heddle_role {
	HEDDLE_ROLE_INPUT,
	HEDDLE_ROLE_OUTPUT,
	HEDDLE_ROLE_INOUT, /* an output whose first statement accumulates into what the caller put there, or `inout` */
	HEDDLE_ROLE_TEMPORARY,
} heddle_role;

typedef struct heddle_tensor {
	const char *name;
	heddle_type type;
	heddle_role role;
	int rank;
	heddle_expr **extent; /* [rank], non-negative, over constants and sizes with + - * / (floor) min max */
	heddle_expr **stride; /* [rank] in elements, over constants and sizes; NULL: dense, row-major */
	int64_t align;	      /* bytes that the base address is a multiple of when the fast variant runs; 0: the default, 16 */
	bool zero_fill;	      /* some elements are never written: they must read as 0 (a range that starts above 0) */
	/* Of a rewritten definition (model/unflatten.c): the tensor that this one stands for; NULL: it is one of the definition's own. */
	const struct heddle_tensor *flat;
	heddle_expr **factor; /* [rank] NULL, or dimension d and the next one are one of `flat`: factor * d + next */
	int position;	      /* in heddle_definition.tensor */
	heddle_location location;
} heddle_tensor;

/* An index variable of one statement.  Its range is lower <= i < upper; both are over constants, sizes and indices of the
 * same statement that come earlier in `heddle_statement.index` or, for a `where` bound, any that do not form a cycle. */
typedef struct heddle_index {
	const char *name;
	heddle_expr *lower;
	heddle_expr *upper;
	heddle_expr *written_lower, *written_upper; /* as the text counts it, which may begin below 0 */
	bool reduction;
	int position; /* in heddle_statement.index */
	heddle_location location;
} heddle_index;

typedef enum heddle_expr_kind {
	HEDDLE_EXPR_INT,    /* integer (value in i) */
	HEDDLE_EXPR_FLOAT,  /* floating literal (value in f, at full precision; the type says how it rounds) */
	HEDDLE_EXPR_INDEX,  /* index variable */
	HEDDLE_EXPR_SIZE,   /* size symbol */
	HEDDLE_EXPR_READ,   /* tensor read, arg[0 .. rank) are subscripts; rank 0 has none */
	HEDDLE_EXPR_UNARY,  /* op, arg[0] */
	HEDDLE_EXPR_BINARY, /* op, arg[0], arg[1] */
	HEDDLE_EXPR_SELECT, /* arg[0] ? arg[1] : arg[2]; only the chosen branch's reads happen */
	HEDDLE_EXPR_CAST,   /* to `type`, arg[0]; truncating float to integer */
	HEDDLE_EXPR_CALL,   /* heddle_builtins[builtin], arg[0 .. arity) */
} heddle_expr_kind;

struct heddle_expr {
	heddle_expr_kind kind;
	heddle_type type; /* of the result; operands are converted to the matched type by explicit CASTs from the checker */
	heddle_op op;
	int builtin;
	int n_arg;
	heddle_expr **arg;
	int64_t i;
	double f;
	heddle_index *index;
	heddle_size *size;
	heddle_tensor *tensor;
	bool implicit; /* CAST: from the rules of types, not written: printing leaves it out */
	heddle_location location;
};

typedef enum heddle_assign {
	HEDDLE_ASSIGN_SET, /* =  */
	HEDDLE_ASSIGN_ADD, /* += */
	HEDDLE_ASSIGN_MUL, /* *= */
	HEDDLE_ASSIGN_MIN, /* min= */
	HEDDLE_ASSIGN_MAX, /* max= */
} heddle_assign;

/* One statement.  Meaning: if `initialise`, every element of the image of the left-hand indices gets the identity of
 * `assign` first (0, 1, the type's greatest / least value, +-infinity for floats); then for all index values, in
 * lexicographic order of `index`, target[lhs] assign= value.  Order inside a reduction is free, except that a statement
 * that reads its own target at another element is run in exactly this order. */
typedef struct heddle_statement {
	heddle_tensor *target;
	int n_lhs;
	heddle_expr **lhs; /* [n_lhs] subscripts of the target: INDEX, or quasi-affine over indices and sizes */
	heddle_assign assign;
	bool initialise;
	heddle_expr *value; /* lets are already inlined */
	int n_index;
	heddle_index **index; /* left-hand indices in their order, then reduction indices by first appearance */
	int position;	      /* in heddle_definition.statement */
	bool apart;	      /* different left-hand indices are known to write different elements (model/gather.c) */
	bool whole;	      /* and together all of the target */
	heddle_location location;
} heddle_statement;

typedef struct heddle_definition {
	const char *name;
	heddle_policy policy;
	int n_size;
	heddle_size **size;
	int n_tensor;
	heddle_tensor **tensor; /* inputs in order, then outputs in order of the return list, then temporaries */
	int n_input;
	int n_output;
	int n_statement;
	heddle_statement **statement;
	/* Conditions on sizes, and on elements of index tensors, that hold only for some inputs: boolean expressions over
	 * sizes (checked by the entry) or containing READs (gather subscripts: checked where code is interpreted). */
	int n_precondition;
	heddle_expr **precondition;
	heddle_location location;
} heddle_definition;

/* One `#:` line of a file, as written: key "sizes", text "M=64 N=64 K=64". `definition` is the position of the def that
 * the line belongs to (the next one after it, or the one that it stands in). */
typedef struct heddle_pragma {
	const char *key;
	const char *text;
	int definition;
	heddle_location location;
} heddle_pragma;

typedef struct heddle_module {
	heddle_arena *arena;
	heddle_source *source;
	int n_definition;
	heddle_definition **definition;
	int n_pragma;
	heddle_pragma *pragma;
} heddle_module;

/* What the user gave for one size with -s: "M=1024", "M=1:8192", "K=64*", "K=64:4096*64" (range and divisor). */
typedef struct heddle_size_range {
	const char *name;
	int64_t min, max, divisor;
} heddle_size_range;

typedef struct heddle_size_list {
	int n;
	heddle_size_range *range;
} heddle_size_list;

/* Parse "M=1:8192,K=64*,N=4096" (also with spaces between).  In `arena`.  NULL with a diagnostic E03xx. */
heddle_size_list *heddle_sizes_parse(heddle_ctx *ctx, heddle_arena *arena, const char *text);
/* `name`, which is kept: what diagnostics call the text, for which the others say "sizes". */
heddle_size_list *heddle_sizes_parse_from(heddle_ctx *ctx, heddle_arena *arena, const char *name, const char *text);

/* Parse and check a whole file under the given sizes (NULL: all symbolic).  All errors of the file are reported; NULL if
 * there was any.  `text` is copied.  Free with heddle_module_free. */
heddle_module *heddle_module_parse(heddle_ctx *ctx, const char *name, const char *text, const heddle_size_list *sizes);
/* The same with sizes for the definition `only` alone: the others, which it may call, stay symbolic.  NULL: for all. */
heddle_module *heddle_module_parse_for(heddle_ctx *ctx, const char *name, const char *text, const heddle_size_list *sizes,
				       const char *only);
heddle_module *heddle_module_free(heddle_module *module);
/* By name; NULL name: the last one, which a program may take where there is only one.  NULL with a diagnostic (did-you-mean). */
heddle_definition *heddle_module_find(heddle_ctx *ctx, heddle_module *module, const char *name);

/* Print in the notation: parses back to the same definition. */
void heddle_definition_print(const heddle_definition *definition, heddle_text *out);
void heddle_expr_print(const heddle_expr *expr, heddle_text *out);

/* Value of an expression over constants and sizes.  `size` [n_size] are the sizes' values; NULL: those that are given.
 * Division is floor when used in shapes.  0, or -1 (no diagnostic) if it contains anything else, an open size where there
 * are no values, or divides by 0. */
int heddle_expr_evaluate(const heddle_expr *expr, const int64_t *size, int64_t *value);
/* The same at one instance: `index` are the values of its statement's index variables, by position. */
int heddle_expr_evaluate_at(const heddle_expr *expr, const int64_t *size, const int64_t *index, int64_t *value);
/* The same operation, constant, size, index or tensor, whatever the operands are. */
bool heddle_expr_same_node(const heddle_expr *a, const heddle_expr *b);
/* The same expression, over the same index variables. */
bool heddle_expr_equal(const heddle_expr *a, const heddle_expr *b);
/* A subscript factor * high + low: the factor over sizes that have not all one value, high an index, low anything. */
typedef struct heddle_digits {
	heddle_expr *factor, *high, *low;
} heddle_digits;
/* As it is written: nothing is said about the range of low.  New nodes are in `arena`. */
bool heddle_expr_digits(heddle_arena *arena, const heddle_expr *expr, heddle_digits *out);
/* The factor, if dimension `d` of the tensor has subscripts that are two digits; NULL: it has none.  Returns one that is not two digits
 * with this factor; NULL: there is none. */
const heddle_expr *heddle_digits_factor(heddle_arena *arena, const heddle_definition *definition, const heddle_tensor *tensor, int d,
					heddle_expr **factor);
/* Does the expression read an element of the tensor? */
bool heddle_expr_reads(const heddle_expr *expr, const heddle_tensor *tensor);

/* Every given size respects its range and divisor; 0 or -1 with a diagnostic. */
int heddle_sizes_check(heddle_ctx *ctx, const heddle_definition *definition, const int64_t *size);

#endif
