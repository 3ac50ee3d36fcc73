/* A bound on the processor time that isl may take, of the thread that starts it.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_WATCHDOG_H
#define HEDDLE_WATCHDOG_H

#include <isl/ctx.h>
#include <pthread.h>
#include <stdbool.h>

/* A thread that stops isl when the time is over. */
typedef struct heddle_watchdog {
	pthread_t thread;
	pthread_mutex_t mutex;
	pthread_cond_t condition;
	isl_ctx *isl;
	clockid_t clock; /* of the thread that is watched */
	double begin, limit; /* what it showed, and what it may show */
	bool started, done;
} heddle_watchdog;

/* From now on isl may take `seconds` of this thread's processor time; then its next operation fails, until isl_ctx_resume.
 * Not of wall-clock time: what a busy machine gives back would differ from what an idle one does. */
void heddle_watchdog_start(heddle_watchdog *dog, isl_ctx *isl, double seconds);
void heddle_watchdog_stop(heddle_watchdog *dog);

#endif
