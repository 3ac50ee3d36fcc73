/* State shared by the parts of the checker: names and types (checker.c), ranges (ranges.c), what is written
 * (coverage.c), accesses (bounds.c).
 * Heads are in head.c, layouts in layout.c.  Private to frontend/.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_CHECK_H
#define HEDDLE_CHECK_H

#include "frontend/affine.h"
#include "frontend/syntax.h"

/* The part of a tensor that one statement writes: lower <= subscript < upper in each dimension. */
typedef struct tensor_write {
	heddle_expr **lower;
	heddle_expr **upper;
	bool box; /* all of it, not a part of this box; where `step` > 1 only runs of `width` that begin so far apart in dimension `comb` */
	int comb;
	int64_t step, width;
} tensor_write;

typedef struct tensor_state {
	heddle_tensor *tensor;
	const syntax_param *param; /* of an input or output; NULL for temporaries */
	int rank;		   /* -1: not known yet */
	bool typed;
	bool defined;  /* an input, or written by an earlier statement */
	bool bad;      /* an error was reported about it: no further ones */
	bool declared; /* its extents were declared over known sizes */
	bool early;    /* read when not all of it was written yet */
	bool read_beyond; /* read where nothing was known to be written yet */
	bool hidden;   /* not the user's: nothing is said about it */
	bool zeroed;   /* a called definition leaves some elements at 0 */
	heddle_expr **lower, **upper; /* of all writes so far */
	int n_write;
	tensor_write *write;
	heddle_location first_write;
} tensor_state;

typedef struct heddle_names heddle_names;

/* A statement whose reads, or also whose writes, were checked in another form. */
typedef struct derived_statement {
	const heddle_statement *statement;
	bool writes;
} derived_statement;

typedef struct checker {
	heddle_ctx *ctx;
	heddle_arena *arena;
	heddle_arena *scratch;
	file_checker *file;
	struct checker *caller;	      /* NULL: not for a call */
	const heddle_location *call;  /* in the caller */
	int called;    /* how deep its calls go */
	int n_inlined; /* statements that calls brought, in calls of calls too; of the outermost definition */
	const syntax_definition *syntax;
	heddle_definition *def;
	int n_state;
	tensor_state *state; /* one per definition tensor */
	int n_derived;
	derived_statement *derived;
	heddle_names *names;		  /* in use, for fresh ones; NULL until needed */
	int errors;
} checker;

typedef struct scope_let {
	const char *name;
	const syntax_clause *clause;
	bool busy;
	bool used;
} scope_let;

typedef struct scope_index {
	heddle_index *index;
	bool lhs;
	const syntax_clause *range;
	bool reported; /* an error about it was reported */
} scope_index;

/* One statement while it is checked. */
typedef struct scope {
	checker *c;
	const syntax_statement *syntax;
	heddle_statement *statement;
	tensor_state *target;
	int n_index;
	scope_index *index;
	int n_let;
	scope_let *let;
	int n_exists;
	heddle_expr **exists;
	bool in_lhs;
	bool in_bound;
	bool self_untyped; /* the target's type is not known yet: reads of it have the weakest type */
	bool self_read;
	int n_node; /* expressions checked, those of `where` definitions as often as they are used */
} scope;

/* Record an error and count it.  Returns NULL so that `return fail(...)` works in expression code. */
void *heddle_check_fail(checker *c, int code, const heddle_location *where, const char *format, ...) HEDDLE_PRINTF(4, 5);
#define fail heddle_check_fail

/* The common type of two operands. */
heddle_type heddle_type_match(heddle_type a, heddle_type b);
/* The type in which values of a type are calculated with. */
heddle_type heddle_type_arithmetic(heddle_type type);
heddle_expr *heddle_expr_make(heddle_arena *arena, heddle_expr_kind kind, heddle_type type, int n_arg);
/* `e` as `type`: itself, a literal of that type, which so keeps its precision, or a CAST. */
heddle_expr *heddle_expr_convert(heddle_arena *arena, heddle_expr *e, heddle_type type);
/* `e`, or the same in int64: arithmetic on sizes that may leave 32 bits and becomes a `type` of another kind or width. */
heddle_expr *heddle_check_widen(heddle_arena *arena, heddle_expr *e, heddle_type type);
/* Warn of products of sizes in a value that are calculated in int32 and may be too large for it. */
void heddle_check_wraps(checker *c, const heddle_expr *e);
/* By name, or NULL. */
tensor_state *heddle_check_tensor(const checker *c, const char *name);
heddle_size *heddle_check_size(const checker *c, const char *name);
bool heddle_literal_fits(int64_t i, heddle_type type);
/* An integer that is 0 whatever happens. */
bool heddle_expr_is_zero(const heddle_expr *e);
/* `stem`, or it with a number, so that it is no name in the definition's text nor one given out before. */
const char *heddle_check_fresh(checker *c, const char *stem);
/* A further tensor; moves c->state. */
tensor_state *heddle_check_add_tensor(checker *c, const char *name, heddle_role role, const heddle_location *where);
/* limits.c: 0, or -1 with an error about dimensions or indices of the statement */
int heddle_check_limits(scope *s);
/* The greatest value of an index or a subscript of two digits.  Beyond the greatest size there is room for a tile: a part of it is for
 * halos, N + 2, which need no condition. */
enum { HEDDLE_LARGEST_SUBSCRIPT = INT32_MAX - 32768 };
/* Indices stay in 32 bits: an error, or a precondition. */
void heddle_check_reach(scope *s, affine_space *space);
/* An error when no steps are left: without them nothing is proved, and what is said would be about that. */
void heddle_check_steps(checker *c);
int heddle_expr_count(const heddle_expr *e); /* its operands and operators */
/* The target's state, or NULL with an error. */
tensor_state *heddle_check_target(checker *c, const syntax_statement *st);
/* One statement with its scope prepared: 0, or -1 with an error. */
int heddle_check_statement_in(scope *s);
/* `T(..) argmax=! e`, as statements that find the extreme and then its index. */
int heddle_check_arg(checker *c, const syntax_statement *syntax);
/* An expression over sizes and indices, where / and % round down, as one for values and subscripts, where they truncate. */
heddle_expr *heddle_check_as_value(checker *c, const heddle_expr *e);
/* A copy in which `map` has put each node, its operands mapped already, in order: it may change the node and return it, or
 * return another.  NULL: just a copy. */
heddle_expr *heddle_expr_rewrite(heddle_arena *arena, const heddle_expr *e, heddle_expr *(*map)(void *user, heddle_expr *copy),
				 void *user);
/* Indices that may begin below 0 are counted from there instead. */
void heddle_check_normalise(checker *c);
/* Sizes that count the taps of a filter are marked. */
void heddle_check_windows(checker *c);
/* Indices of called definitions get names of their own, temporaries the order of their first writes. */
void heddle_check_arrange(checker *c);
/* Names and types, ranges and shapes, accesses of c->syntax under the given sizes; NULL with errors. */
heddle_definition *heddle_check_all(checker *c, const heddle_size_list *sizes);
const syntax_definition *heddle_check_definition_named(const checker *c, const char *name);
/* The definition that a statement calls, or NULL when it is no call. */
const syntax_definition *heddle_check_called(const checker *c, const syntax_statement *syntax);
/* `(Y, Z) = f(A, b, N)`: the statements of `f` with these names. */
int heddle_check_call(checker *c, const syntax_statement *syntax, const syntax_definition *callee);
/* An extent in the head.  An unknown name gives NULL without an error. */
heddle_expr *heddle_check_dim(checker *c, const syntax_expr *e, const char *what, bool *unknown);
/* A warning that is not repeated for each call, nor when the text is checked again under other sizes: true when it was given. */
bool heddle_check_warn(checker *c, int code, const heddle_location *where, const char *format, ...) HEDDLE_PRINTF(4, 5);
/* All of `t` is read by a call: so far it may be incomplete. */
void heddle_check_read_whole(checker *c, tensor_state *t);
/* Sizes (narrowed by `sizes`), inputs, outputs and temporaries. */
void heddle_check_head(checker *c, const heddle_size_list *sizes);
/* The nearest name in sight, or NULL. */
const char *heddle_check_nearest(const scope *s, const char *name);

/* A row that is >= 0 in a branch of `?:`, and the part of the condition that says so. */
typedef struct branch_row {
	affine_row row;
	const heddle_expr *conjunct;
} branch_row;

/* What holds where a read happens.  To leave a branch, set `n` back to what it was. */
typedef struct branch_conditions {
	int n;
	branch_row *row;
} branch_conditions;

/* Add the affine conjuncts of a condition, or of its negation.  In the space's arena. */
void heddle_branch_enter(affine_space *space, branch_conditions *known, const heddle_expr *condition, bool negate);
/* The first row that bounds the subscript, or what it divides by a constant, on one side by sizes and constants; NULL: none. */
const branch_row *heddle_branch_bound(const affine_space *space, const branch_conditions *known, const affine_row *subscript);

/* Give every index of the statement its range and enlarge the target's written box.  0 or -1. */
int heddle_check_ranges(scope *s);
/* Warn of indices that end at the lesser of two sizes, which tensors have that are read at just this index. */
void heddle_check_lesser(scope *s, affine_space *space);
/* Dimensions that have subscripts that are two digits: E0209 where such are written and others too, or not the whole tensor. */
void heddle_check_digit_tensors(checker *c);
/* Is the subscript factor * high + low, both affine, and low in 0:factor whatever the indices and sizes are? */
bool heddle_check_digits(affine_space *space, const heddle_expr *e, heddle_digits *out);
heddle_expr *heddle_check_times(affine_space *space, heddle_expr *factor, const affine_row *row); /* as an expression */
/* The least value of a subscript and one more than the greatest, or what is certainly below and above; false: not found. */
bool heddle_check_subscript(affine_space *space, const heddle_expr *e, affine_row *lower, affine_row *upper);
/* Does the expression have a part of this kind? */
bool heddle_expr_has(const heddle_expr *e, heddle_expr_kind kind);
/* The note on limits, when the size of its numbers is why something was not found out about the expression. */
void heddle_check_note_large(checker *c, const heddle_expr *e);
/* Record what the statement, whose indices have their ranges, writes, and which tensors it reads before all is written.  0 or -1. */
int heddle_check_written(scope *s, affine_space *space);
/* Only what it writes: enlarge the target's written box.  0 or -1. */
int heddle_check_write(scope *s);
/* Least value and greatest plus one of `e` over all index values, over sizes; false when not found. */
bool heddle_check_extremes(affine_space *space, const heddle_expr *e, heddle_expr **lower, heddle_expr **upper);
/* The form of `e`, or false with an error: `code` (none when 0), or 209 for an unknown stride. */
bool heddle_check_affine(checker *c, affine_space *space, const heddle_expr *e, bool floor, int code, const char *what,
			 affine_row *out);
/* Extents of all tensors, from what is written. */
void heddle_check_shapes(checker *c);
/* Declared strides and alignments, once all extents are known. */
void heddle_check_layouts(checker *c);
/* Can a row over sizes be >= 0?  Always: true.  For some sizes only: that it is not becomes a precondition. */
bool heddle_check_violated(checker *c, affine_space *space, const affine_row *row);
void heddle_check_require(checker *c, heddle_expr *condition);
/* Every access of every statement is inside its tensor, or a precondition says when. */
void heddle_check_accesses(checker *c);


#endif
