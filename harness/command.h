/* The commands that a descriptor names: a compiler and a runner of one's own (a simulator, `ssh host ..`).
 *
 * Placeholders in their words: {source} the source file, {arch} the descriptor's compile_arch, {options} alone in a word: all
 * options of the manifest, {output} for a compiler the file to write, for a runner the folder of the run.  That folder holds
 * the source, `manifest.json` with every size's value as its range, and NAME.npy for each tensor and scalar; the runner
 * writes the results over the outputs' files.  Exit code 0 is success; anything else fails with what it printed.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_COMMAND_H
#define HEDDLE_COMMAND_H

#include "harness/level.h"

/* HEDDLE_MISSING when the descriptor names no such command or its program is not there.  0, or -1 with a diagnostic. */
int heddle_command_compile(heddle_ctx *ctx, heddle_run *run);
int heddle_command_run(heddle_ctx *ctx, heddle_run *run);

#endif
