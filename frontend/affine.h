/* Affine forms over indices, sizes and quasi-affine atoms, and a decision procedure for conjunctions of them.
 *
 * Everything here errs on one side: a set of constraints called infeasible has no integer point; one called feasible may
 * have none (rational relaxation with integer tightening).  Private to frontend/.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_AFFINE_H
#define HEDDLE_AFFINE_H

#include "frontend/definition.h"

enum { AFFINE_VARIABLES = 64 };
/* Of constants and coefficients: so that one may be added to another without overflow.  What is larger is not affine. */
#define AFFINE_LARGEST ((int64_t)1 << 61)

/* k + sum of c[v] * variable v.  As a constraint: it is >= 0. */
typedef struct affine_row {
	int64_t k;
	int64_t c[AFFINE_VARIABLES];
} affine_row;

/* Conjunction of rows, and a disjunction of conjunctions (no term: false; a term without rows: true). */
typedef struct affine_and {
	int n;
	affine_row *row;
} affine_and;

typedef struct affine_or {
	int n;
	affine_and *term;
} affine_or;

typedef enum affine_kind {
	AFFINE_INDEX,
	AFFINE_SIZE,
	AFFINE_FLOOR,	/* a / d rounded down, d > 0 */
	AFFINE_TRUNC,	/* a / d rounded towards 0, d > 0 */
	AFFINE_MIN,	/* of a and b */
	AFFINE_MAX,	/* of a and b */
	AFFINE_PRODUCT, /* a * b */
	AFFINE_SELECT,	/* one of `alternative`, whose rows speak about this variable */
	AFFINE_MULTIPLE, /* of a size by its divisor */
} affine_kind;

typedef struct affine_variable {
	affine_kind kind;
	heddle_index *index;
	heddle_size *size;
	const affine_row *a, *b;
	int64_t d;
	affine_or *alternative;
	bool size_only; /* no index in it */
	heddle_expr *expr;
} affine_variable;

typedef struct affine_space {
	heddle_arena *arena;   /* of rows: of what is asked just now, */
	heddle_arena *kept;    /* and of the variables */
	heddle_arena *results; /* of expressions made from rows */
	int64_t *steps;	       /* that decisions may still take; without any left nothing is proved */
	int n;
	affine_variable variable[AFFINE_VARIABLES];
} affine_space;

affine_space *affine_space_new(heddle_arena *arena, heddle_arena *results, int64_t *steps);

/* The form of an integer expression.  `floor`: division rounds down (shapes and bounds), else towards 0 (values and
 * subscripts).  False when it is not quasi-affine (reads, products of indices, ...). */
bool affine_from_expr(affine_space *space, const heddle_expr *e, bool floor, affine_row *out);
/* The expression of a row, for shapes and bounds: its divisions round down. */
heddle_expr *affine_to_expr(affine_space *space, const affine_row *row);
/* row < 0 as a readable comparison. */
heddle_expr *affine_negative_expr(affine_space *space, const affine_row *row);

/* to += factor * row; false on overflow. */
bool affine_add(affine_row *to, const affine_row *row, int64_t factor);
affine_row affine_constant(int64_t k);
affine_row affine_variable_row(int v);
bool affine_is_constant(const affine_row *row);
int affine_index_variable(affine_space *space, heddle_index *index); /* -1: too many */
bool affine_size_only(const affine_space *space, const affine_row *row);
bool affine_floor(affine_space *space, const affine_row *a, int64_t d, affine_row *out);
/* The least or greatest of `n` > 0 rows, after dropping those that can never decide it. */
bool affine_extremum(affine_space *space, affine_kind kind, int n, const affine_row *row, affine_row *out);

/* Rows whose maximum is a lower bound (want_max false) or whose minimum is an upper bound (true) of `row`, over all values
 * of the indices that have a range; indices without one stay.  At most `capacity`; 0 when there is none. */
int affine_bounds(affine_space *space, const affine_row *row, bool want_max, affine_row *out, int capacity);

/* When `e` holds (or, negated, does not).  Parts that are not affine count as true either way. */
affine_or *affine_condition(affine_space *space, const heddle_expr *e, bool negate);

/* A set of integer points: rows, alternatives, and whatever is known of the variables in them (ranges of indices and sizes). */
typedef struct affine_problem {
	affine_space *space;
	affine_and all;
	int n_alternative;
	affine_or **alternative;
} affine_problem;

affine_problem *affine_problem_new(affine_space *space);
affine_problem *affine_problem_copy(const affine_problem *problem);
void affine_require(affine_problem *problem, const affine_row *row);		 /* row >= 0 */
void affine_require_negative(affine_problem *problem, const affine_row *row); /* row < 0 */
void affine_require_or(affine_problem *problem, affine_or *alternatives);
bool affine_infeasible(const affine_problem *problem);
/* Conditions on sizes that the points' existence implies; no term: there are no points; a term without rows: for some
 * choice nothing is known that would exclude points. */
affine_or *affine_project(const affine_problem *problem);

bool affine_prove(affine_space *space, const affine_row *row); /* row >= 0 for all sizes and indices in range */
bool affine_implies(const affine_problem *problem, const affine_row *row); /* row >= 0 for all points of the problem */

/* ---- affine.c ---- */

bool affine_add_product(int64_t *to, int64_t a, int64_t b); /* *to += a * b; false on overflow */
int64_t affine_floor_div(int64_t a, int64_t b);
int64_t affine_gcd(int64_t a, int64_t b);
/* The variable that is the same, or a new one with copies of the rows; -1: there is no place for it. */
int affine_intern(affine_space *space, const affine_variable *new);
void affine_and_push(affine_space *space, affine_and *list, const affine_row *row);
void affine_or_push(affine_space *space, affine_or *list, const affine_and *term);
/* The rows whose maximum (lower) or minimum (upper) an index bound is. */
int affine_bound_rows(affine_space *space, const heddle_expr *e, heddle_op op, affine_row *out, int capacity);

#endif
