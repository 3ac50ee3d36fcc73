/* What a definition is compiled for, drawn: targets and configs.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_TESTS_DRAW_H
#define HEDDLE_TESTS_DRAW_H

#include "backends/backend.h"
#include "tests/random/random.h"

/* "cuda:h200", or "cuda:h200+" with limits of its own, drawn.  In `arena` and the context's.  0, or -1 with a diagnostic. */
int random_target(heddle_ctx *ctx, heddle_arena *arena, random_stream *r, const char *name, heddle_target *target);
/* The limits that may have been drawn, in words.  In `arena`. */
char *random_limits(heddle_arena *arena, const heddle_target *target);
/* The config of a program, changed in a few places; it may be refused. */
char *random_config(heddle_arena *arena, random_stream *r, const heddle_program *program);
/* The key of the number or list item at `at` of a config line: points to "tile=..", "thread=.." */
const char *random_config_key(const char *line, const char *at);

#endif
