/* Rewriting a definition before it becomes a scop: splits of reductions, zero fills.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_SPLIT_H
#define HEDDLE_SPLIT_H

#include "frontend/definition.h"
#include "model/config.h"

/* The definition with every split of the config made explicit: `s op= e(k)` becomes `P(c) op=! e(c*chunk + k')` and
 * `s op= P(c)`; tensors with elements that no statement writes get a statement that fills them with zero first.  In
 * `arena`; the original is not changed.  NULL with E0510 when a split does not fit the statement. */
heddle_definition *heddle_definition_rewrite(heddle_ctx *ctx, heddle_arena *arena, const heddle_definition *definition,
					     const heddle_config *config);

#endif
