/* Heddle as a runner: requests as lines from one stream, answers as lines to another (harness/wire.h).
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_SERVE_H
#define HEDDLE_SERVE_H

#include "base/base.h"

#include <stdio.h>

/* Answer requests until the input ends.  `level` is "device", "opencl-cpu:pocl" and so on: what to run on; NULL: the first
 * device of the request's backend, else of an OpenCL driver for processors.  0, or -1 with a diagnostic when an answer cannot
 * be written; what is wrong with a request is told in its answer. */
int heddle_serve(heddle_ctx *ctx, FILE *in, FILE *out, const char *level);

#endif
