/* The level `compile`: a source is given to the vendors' compilers, or to the command that a descriptor names.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_COMPILE_LEVEL_H
#define HEDDLE_COMPILE_LEVEL_H

#include "backends/driver.h"
#include "harness/level.h"

/* Compile for the manifest's chip; for others instead when run->device or the environment variable HEDDLE_COMPILE_ARCH
 * names them ("sm_75,sm_90a").  Fails on errors, and on spills and stack frames above run->max_spill.  The out fields hold the greatest of all kernels and
 * arches.  0, or -1 with a diagnostic when the compiler itself failed. */
int heddle_compile_run(heddle_ctx *ctx, const heddle_compiler *compiler, heddle_run *run);
/* 1 when the compiler is here, `*why` is its version then; 0 with what is missing. */
int heddle_compile_available(heddle_ctx *ctx, const heddle_compiler *compiler, const char **why);
/* Empty out fields, as a run begins. */
void heddle_run_begin(heddle_run *run);
/* Add what one kernel takes; one that spills registers is a finding, and a failure above run->max_spill. */
void heddle_compile_judge(heddle_run *run, const char *arch, const heddle_kernel_resources *k);
/* run->message from what was found: "VERSION for ARCHES: 12 registers, ..", or the first finding. */
void heddle_compile_summarise(heddle_run *run, const char *version, const char *arches);

#endif
