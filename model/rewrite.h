/* Rewriting a definition before it becomes a scop: splits of reductions, shared expressions, turned operands, zero fills.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_REWRITE_H
#define HEDDLE_REWRITE_H

#include "frontend/definition.h"
#include "model/config.h"

/* The definition with every split, share and turn of the config made explicit.  A split: `s op= e(k)` becomes `P(c) op=! e(c*chunk + k')`
 * and `s op= P(c)`.  A share: what statement n and later ones compute is computed once, `T(i) = e(i)` before n, and read.  A turn: a
 * tensor that statement n reads across its rows is copied, `T(i, k) = A(k, i)` before n, and read along them.  Tensors with elements
 * that no statement writes get a statement that fills them with zero first.  In `arena`; the original is not changed.  NULL with E0510
 * when a split does not fit the statement, E0529 when a share does not, E0532 when a turn does not. */
heddle_definition *heddle_definition_rewrite(heddle_ctx *ctx, heddle_arena *arena, const heddle_definition *definition,
					     const heddle_config *config);

/* The definition in which each accumulation whose left-hand indices meet in an element, `y(4 * f + k) +=! x(f, k)`, is a sum over what meets
 * there (gather.c); the given one where there is none.  Before rewrites by a config: statements are numbered anew.  In `arena`. */
const heddle_definition *heddle_definition_gather(heddle_ctx *ctx, heddle_arena *arena, const heddle_definition *definition);
/* Tensors whose subscripts are factor * high + low, the factor a size that is not known, with a dimension for each of the two
 * (unflatten.c); the given definition where there are none.  Before all other rewrites.  In `arena`. */
const heddle_definition *heddle_definition_unflatten(heddle_ctx *ctx, heddle_arena *arena, const heddle_definition *definition);

/* W0215 for each accumulation whose elements may go through many more terms than meet in them, since no index of a left-hand subscript
 * says which these are. */
void heddle_definition_warn_scatters(heddle_ctx *ctx, const heddle_definition *definition);

/* The largest expression that statement `first` computes, whatever its values are, and a later one computes again: of floats, over
 * indices whose ranges are the same in both, of tensors that no statement in between writes.  NULL: there is none. */
const heddle_expr *heddle_share_find(const heddle_definition *definition, int first);

/* The `skip`-th read that a turn could replace, of the tensor and along the index of these names (NULL: of any, any): by different indices,
 * all that their ranges have, that index among them but not the last one.  Other subscripts may have two indices, c * t + r with r in 0:c.
 * NULL: there is none. */
const heddle_expr *heddle_turn_find(const heddle_statement *statement, const char *tensor, const char *index, int skip);
/* The index of such a read's subscript e, of c * t + r the first one, and how many elements of the dimension are copied. */
const heddle_index *heddle_turn_index(const heddle_expr *read, int e);
const heddle_expr *heddle_turn_extent(const heddle_expr *read, int e);

#endif
