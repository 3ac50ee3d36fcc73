/* What the peers of generated kernels on a processor share: a clock, and tensors of numbers that are the same every time.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_BENCH_PEER_H
#define HEDDLE_BENCH_PEER_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Seconds of calls before those that are timed: threads are spread and clocks raised by then. */
#define WARM_UP 0.1

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* n numbers from -0.5 to 0.5, the caller's to free.  Ends the program with 5 where there is no memory. */
static float *filled(size_t n, unsigned seed)
{
	float *data = aligned_alloc(64, (n * sizeof(float) + 63) / 64 * 64);
	if (!data) {
		fprintf(stderr, "no memory for %zu numbers\n", n);
		exit(5);
	}
	for (size_t i = 0; i < n; i++) {
		seed = seed * 1664525u + 1013904223u;
		data[i] = (float)(seed >> 8) / 16777216.0f - 0.5f;
	}
	return data;
}

#endif
