/* The commands that a descriptor names: a compiler and a runner of one's own (a simulator, `ssh host ..`).  doc/backend.md says
 * what they are given and what they must do.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_COMMAND_H
#define HEDDLE_COMMAND_H

#include "harness/level.h"

/* HEDDLE_MISSING when the descriptor names no such command or its program is not there.  0, or -1 with a diagnostic. */
int heddle_command_compile(heddle_ctx *ctx, heddle_run *run);
int heddle_command_run(heddle_ctx *ctx, heddle_run *run);
/* The chip's descriptor; NULL, and not an error, when the manifest names a chip that is not known here. */
const heddle_descriptor *heddle_manifest_descriptor(heddle_ctx *ctx, const heddle_manifest *manifest);
/* Whether the manifest's descriptor names a command of its own: a runner, or else a compiler. */
bool heddle_command_named(heddle_ctx *ctx, const heddle_manifest *manifest, bool runner);

#endif
