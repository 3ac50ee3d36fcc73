/* Runners in child processes (heddle_run_isolated itself is declared in level.h).
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_ISOLATE_H
#define HEDDLE_ISOLATE_H

#include "harness/level.h"

/* runner->available in a child process: drivers may start threads, crash or hang, and a process that has started a driver
 * cannot fork a child that uses it.  1 usable, 0 not (`*why`, in `arena`, says what is missing). */
int heddle_runner_available(heddle_ctx *ctx, heddle_arena *arena, const heddle_runner *runner, const char **why);

/* The run in the child that is kept for this runner (keep.c), which is started where there is none.  1: done, the out fields and
 * results are there, or `*result` is -1 with a diagnostic; 0: this run is none for a kept child. */
int heddle_run_kept(heddle_ctx *ctx, const heddle_runner *runner, heddle_run *run, int *result);

#endif
