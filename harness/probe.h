/* Micro-benchmarks: what a device's bandwidths, latencies and rates are, through any driver.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_PROBE_H
#define HEDDLE_PROBE_H

#include "arch/descriptor.h"
#include "backends/driver.h"
#include "compile/manifest.h"

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

/* Probe the driver's first device, in a child process, with kernels for a processor or a GPU as the descriptor is one.  `chip`: what the
 * device must be as far as it tells, NULL: any.  Strings in `arena`.  0, or -1 with `*why`. */
int heddle_probe_run(heddle_ctx *ctx, heddle_arena *arena, const heddle_driver *driver, const heddle_descriptor *descriptor,
		     const heddle_descriptor *chip, heddle_probe *probe, const char **why);

/* The kernels in a backend's language, in `arena`, and how they are launched (to be freed).  NULL with a diagnostic. */
const char *heddle_probe_source(heddle_ctx *ctx, heddle_arena *arena, const char *backend, const heddle_descriptor *descriptor,
				heddle_manifest **manifest);

#endif
