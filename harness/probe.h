/* Micro-benchmarks: what a device's bandwidths, latencies and rates are, through any driver.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_PROBE_H
#define HEDDLE_PROBE_H

#include "backends/driver.h"

typedef struct heddle_probe_figure {
	const char *key;  /* of a descriptor, "memory.global.bandwidth"; "sweep.bandwidth" and "sweep.latency" belong to `bytes` */
	const char *unit; /* base unit */
	double value;
	double spread; /* (median - least) / least of the repetitions' times; below 0: the driver's word, not measured */
	double bytes;  /* working set of a sweep */
} heddle_probe_figure;

typedef struct heddle_probe {
	const char *device, *version, *backend;
	int n;
	heddle_probe_figure *figure;
} heddle_probe;

/* Probe the driver's first device, in a child process.  Strings in `arena`.  0, or -1 with `*why`. */
int heddle_probe_run(heddle_arena *arena, const heddle_driver *driver, heddle_probe *probe, const char **why);

#endif
