/* Running a manifest and its source on a driver, real device or simulated: the same steps for all of them.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_DEVICE_H
#define HEDDLE_DEVICE_H

#include "backends/driver.h"
#include "harness/level.h"

/* Fill the out fields of `run`: build, allocate with guards on both sides, launch all in order, look at guards, inputs and
 * the driver's own findings, bring outputs back, time.  0, or -1 with a diagnostic when Heddle itself failed. */
int heddle_device_run(heddle_ctx *ctx, const heddle_driver *driver, heddle_run *run);
/* Open the driver's first device for as long as this process lives: what opening it costs is spent once.  0, or -1. */
int heddle_device_hold(heddle_ctx *ctx, const heddle_driver *driver);
/* 1 when the driver has a device here; asked in a child process, for drivers change the process they are loaded into.  It
 * takes a while (0.1 s to 1 s): ask once.  `*why`, in the context's arena, is what is missing, or the first device's name. */
int heddle_device_available(heddle_ctx *ctx, const heddle_driver *driver, const char **why);
/* Its devices as lines "name\tversion", asked in a child process; 0, or -1 with `*why`. */
int heddle_device_list(heddle_arena *arena, const heddle_driver *driver, heddle_text *out, const char **why);
/* Adds the options of a set, a word each: those that a driver takes as one text are parted at blanks. */
void heddle_option_words(heddle_arena *arena, const heddle_option_set *set, const char ***list, int *n);
/* Defines, include paths and the options that a manifest holds under the name `which`; NULL-ended, in `arena`. */
const char *const *heddle_manifest_options(heddle_arena *arena, const heddle_manifest *manifest, const char *which,
					   const char *source);
/* What the compilers of its backend call the manifest's chip; "" when the descriptor does not say. */
const char *heddle_manifest_arch(heddle_ctx *ctx, const heddle_manifest *manifest);
/* Names of its kernels, those of all variants, each once, NULL-ended. */
const char *const *heddle_manifest_kernels(heddle_arena *arena, const heddle_manifest *manifest);
/* The least distance in bytes that moves a tensor from its natural base by at least run->misalign elements and keeps what the
 * whole manifest asks of its address. */
size_t heddle_run_moved(const heddle_run *run, const heddle_argument *argument);
/* The variant that the entry would take for the run's sizes and such addresses, as a manifest of its own in run->arena; its
 * position in `*which` (n_variant: the manifest's own launches) when not NULL. */
const heddle_manifest *heddle_run_variant(const heddle_run *run, int *which);
/* Add a finding of kind `kind`; the texts are copied into run->arena. */
void heddle_run_finding(heddle_run *run, const char *kind, const char *file, int line, const char *text);

#endif
