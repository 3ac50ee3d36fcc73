/* Runners in child processes (heddle_run_isolated itself is declared in level.h).
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_ISOLATE_H
#define HEDDLE_ISOLATE_H

#include "harness/level.h"

/* runner->available in a child process: drivers may start threads, crash or hang, and a process that has started a driver
 * cannot fork a child that uses it.  1 usable, 0 not (`*why`, in `arena`, says what is missing). */
int heddle_runner_available(heddle_ctx *ctx, heddle_arena *arena, const heddle_runner *runner, const char **why);

#endif
