/* A launch of a program to a load: bytes exactly, the rest from the tree of the program.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_MEASURE_H
#define HEDDLE_MEASURE_H

#include "arch/descriptor.h"
#include "cost/load.h"
#include "model/program.h"

/* For the sizes' values [program->n_size], after `simplify`.  False: data decide how often a loop runs, or a bound on work is reached. */
bool heddle_measure(const heddle_program *program, const heddle_launch *launch, const heddle_descriptor *descriptor, const int64_t *size,
		    heddle_load *load);

#endif
