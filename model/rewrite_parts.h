/* What the rewrites of a definition have in common: new expressions, tensors and statements.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_REWRITE_PARTS_H
#define HEDDLE_REWRITE_PARTS_H

#include "model/rewrite.h"

typedef struct rewriter {
	heddle_ctx *ctx;
	heddle_arena *arena;
	heddle_definition *out;
} rewriter;

heddle_expr *rewrite_int(rewriter *r, int64_t i);
heddle_expr *rewrite_index(rewriter *r, heddle_index *index);
/* Folded where both are numbers, or one changes nothing. */
heddle_expr *rewrite_binary(rewriter *r, heddle_op op, heddle_expr *a, heddle_expr *b);
/* tensor(subscript..); the array of subscripts becomes the expression's own. */
heddle_expr *rewrite_read(rewriter *r, heddle_tensor *tensor, heddle_expr **subscript);
/* `expr` with each index i replaced by by[i->position] (NULL: kept). */
heddle_expr *rewrite_substitute(rewriter *r, const heddle_expr *expr, heddle_expr *const *by);
heddle_index *rewrite_new_index(rewriter *r, const char *name, heddle_expr *lower, heddle_expr *upper, bool reduction);
/* A temporary; its extents are the caller's to fill. */
heddle_tensor *rewrite_new_tensor(rewriter *r, const char *name, heddle_type type, int rank);
/* A name that no tensor and no size has. */
const char *rewrite_fresh_name(rewriter *r, const char *stem);
/* The positions of a statement and of its indices. */
void rewrite_number(heddle_statement *statement, int position);
/* The statement becomes the last one so far; its indices are numbered. */
void rewrite_push(rewriter *r, heddle_statement *statement);
/* Does the value depend on sizes alone? */
bool rewrite_over_sizes(const heddle_expr *expr);

/* The two statements that one becomes, pushed. */
int rewrite_split(rewriter *r, const heddle_statement *s, const heddle_split *how);
/* What statement `first` of the definition and later ones compute (heddle_share_find) becomes a tensor that they read: the statement
 * that fills it, which belongs before `first`.  NULL with E0529 when they have nothing in common. */
heddle_statement *rewrite_share(rewriter *r, const heddle_definition *definition, int first);
/* The statement reads a copy of the tensor's elements with rows along another index: the statement that fills it, which belongs before
 * it.  NULL with E0532 when it reads none that could be turned. */
heddle_statement *rewrite_turn(rewriter *r, heddle_statement *s, const heddle_turn *how);
/* Of all statements pushed: the first step of a recurrence becomes a branch of the one that has the others (merge.c). */
void rewrite_merge(rewriter *r);

#endif
