/* What the cost model says of every timing.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_REPLAY_RATING_H
#define HEDDLE_REPLAY_RATING_H

#include "bench/replay/table.h"

/* Of the columns in heddle_timed_config.figures, separated by tabs. */
extern const char heddle_figure_names[];

/* Fill `rated` or `refused` of every candidate, and `figures` if they are wanted, on so many threads.  Strings in `arena`.  Files are read from the
 * working directory. */
void heddle_timings_rate(heddle_arena *arena, const heddle_timings *timings, bool figures, bool footprint, int threads);

#endif
