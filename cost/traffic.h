/* What a program moves, counted from its text for any sizes: exact, and nothing is run.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_TRAFFIC_H
#define HEDDLE_TRAFFIC_H

#include "model/program.h"

/* Of all blocks of a launch, in bytes that threads ask for; registers and scalars are not memory, and have 0. */
typedef struct heddle_traffic {
	uint64_t load_bytes[HEDDLE_N_SPACE], store_bytes[HEDDLE_N_SPACE];
	bool data; /* data decide about some of it, which counts as if they always said yes */
} heddle_traffic;

/* For the sizes' values [program->n_size].  False: data decide how often a loop runs, or it would take
 * longer than a moment, or be more than a number holds; nothing is known then. */
bool heddle_launch_traffic(const heddle_launch *launch, const int64_t *size, heddle_traffic *traffic);

#endif
