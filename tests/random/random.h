/* Random definitions in the notation: made, printed, and cut down to the smallest that still fails.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_TESTS_RANDOM_H
#define HEDDLE_TESTS_RANDOM_H

#include "base/base.h"

#define RANDOM_MAX_TENSOR 16
#define RANDOM_MAX_STMT 8
#define RANDOM_MAX_DIM 5
#define RANDOM_N_SIZE 4

extern const char *const random_sizes[RANDOM_N_SIZE]; /* names of sizes in definitions */

typedef struct random_stream {
	uint64_t state;
} random_stream;

uint64_t random_next(random_stream *r);
int random_below(random_stream *r, int n);	    /* 0 <= x < n */
bool random_percent(random_stream *r, int percent); /* true in so many of a hundred */

typedef enum random_kind {
	RANDOM_TEXT,   /* text */
	RANDOM_READ,   /* tensor, subscript */
	RANDOM_BINARY, /* text is the operator */
	RANDOM_SELECT, /* arg[0] ? arg[1] : arg[2] */
	RANDOM_CALL,   /* text is a function or a type */
} random_kind;

typedef struct random_expr {
	random_kind kind;
	const char *text;
	int tensor;
	const char *subscript[RANDOM_MAX_DIM];
	int n_arg;
	struct random_expr *arg[3];
} random_expr;

typedef struct random_tensor {
	const char *name;
	heddle_type type;
	int rank;
	const char *extent[RANDOM_MAX_DIM];
	bool input, output, inout;
	bool declared; /* its extents stand in the list of outputs */
	const char *layout; /* " strides (M + 1, 1) align 8", or NULL */
} random_tensor;

typedef struct random_stmt {
	int target; /* of a call: the first result */
	bool typed; /* declares the target's type */
	const char *lhs[RANDOM_MAX_DIM];
	const char *assign;
	random_expr *value;
	int n_let;
	random_expr *let[2]; /* `where v0 = ..` */
	random_expr *exists; /* a read for its ranges alone, or NULL */
	bool library;	     /* `<=> library(..)` */
	int n_where;
	const char *where[8];
	/* a call of the definition's callee instead of a value */
	bool call;
	int passed[RANDOM_MAX_TENSOR];		     /* by tensor of the callee: the one that is passed or that takes the result */
	const char *scalar[RANDOM_MAX_TENSOR];	     /* by tensor of the callee: an expression for an input without dimensions */
	const char *size_argument[RANDOM_N_SIZE]; /* for the callee's `size` parameters; NULL: the size itself */
} random_stmt;

typedef struct random_definition {
	int n_tensor;
	random_tensor tensor[RANDOM_MAX_TENSOR];
	int n_stmt;
	random_stmt stmt[RANDOM_MAX_STMT];
	const char *name;
	struct random_definition *callee; /* that a statement calls, or NULL */
	bool callee_last;		  /* its own callee stands before it */
} random_definition;

/* Forms of the notation that a definition was made with, for statistics. */
typedef enum random_form {
	RANDOM_FORM_CONTRACTION,
	RANDOM_FORM_REDUCTION,
	RANDOM_FORM_SCALAR,
	RANDOM_FORM_ELEMENT,
	RANDOM_FORM_GUARD,
	RANDOM_FORM_CLAMP,
	RANDOM_FORM_WINDOW,
	RANDOM_FORM_STRIDE,
	RANDOM_FORM_TRIANGLE,
	RANDOM_FORM_BAND,
	RANDOM_FORM_PART,
	RANDOM_FORM_AFFINE_TARGET,
	RANDOM_FORM_MEET, /* instances of different left-hand indices, in one element */
	RANDOM_FORM_CONCATENATION,
	RANDOM_FORM_IN_PLACE,
	RANDOM_FORM_RECURRENCE,
	RANDOM_FORM_INOUT,
	RANDOM_FORM_GATHER,
	RANDOM_FORM_CONSTANT_EXTENT,
	RANDOM_FORM_INTEGER,
	RANDOM_FORM_NARROW,
	RANDOM_FORM_DOUBLE,
	RANDOM_FORM_TEMPORARY,
	RANDOM_FORM_SEVERAL_OUTPUTS,
	RANDOM_FORM_CHOICE,
	RANDOM_FORM_FUNCTION,
	RANDOM_FORM_INDEX_VALUE,
	RANDOM_FORM_SIZE_VALUE,
	RANDOM_FORM_PREFIX,
	RANDOM_FORM_ARGMAX,
	RANDOM_FORM_LET,
	RANDOM_FORM_EXISTS,
	RANDOM_FORM_LIBRARY,
	RANDOM_FORM_LOGIC,
	RANDOM_FORM_CAST,
	RANDOM_FORM_INTEGER_DIVISION,
	RANDOM_FORM_SHIFT,
	RANDOM_FORM_BITS,
	RANDOM_FORM_NEGATION,
	RANDOM_FORM_DIVISION,
	RANDOM_FORM_BOOL,
	RANDOM_FORM_BFLOAT16,
	RANDOM_FORM_WIDE,
	RANDOM_FORM_SCALAR_INPUT,
	RANDOM_FORM_DILATION,
	RANDOM_FORM_QUOTIENT,
	RANDOM_FORM_DECLARED,
	RANDOM_FORM_SIZE_RANGE,
	RANDOM_FORM_NESTED_GATHER,
	RANDOM_FORM_PRODUCT,
	RANDOM_FORM_EXTREMUM,
	RANDOM_FORM_SIGNED_QUOTIENT_EXTENT,
	RANDOM_FORM_SIGNED_QUOTIENT_BOUND,
	RANDOM_FORM_CALL,
	RANDOM_FORM_NESTED_CALL,
	RANDOM_FORM_STRIDES,
	RANDOM_FORM_PERMUTED_STRIDES,
	RANDOM_FORM_NAMED_STRIDE,
	RANDOM_FORM_ALIGNMENT,
	RANDOM_FORM_RANDOM,
	RANDOM_N_FORM
} random_form;

extern const char *const random_form_names[RANDOM_N_FORM];

/* A definition called `f`; bits of the forms used go to `*forms`.  In `arena`. */
random_definition *random_make(heddle_arena *arena, random_stream *r, uint64_t *forms);
/* Its text and that of its callees; inputs that nothing reads are left out. */
void random_print(const random_definition *definition, heddle_text *out);

/* The `number`th way of making `definition` smaller, in `arena`; NULL: there are no more. */
random_definition *random_smaller(heddle_arena *arena, const random_definition *definition, int number);

#endif
