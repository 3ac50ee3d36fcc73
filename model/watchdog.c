/* Stopping isl when its time is over.
 * SPDX-License-Identifier: MIT
 */
#include "model/watchdog.h"

#include <errno.h>
#include <time.h>

static double clock_seconds(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Wall-clock time never runs behind a thread's: so much of it must pass at least. */
static void wait_at_least(heddle_watchdog *dog, double seconds)
{
	struct timespec until;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += (time_t)seconds;
	until.tv_nsec += (long)((seconds - (double)(time_t)seconds) * 1e9);
	if (until.tv_nsec >= 1000000000L) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000L;
	}
	while (!dog->done && pthread_cond_timedwait(&dog->condition, &dog->mutex, &until) != ETIMEDOUT)
		;
}

static void *watch(void *user)
{
	heddle_watchdog *dog = user;
	double left;
	pthread_mutex_lock(&dog->mutex);
	while (!dog->done && (left = dog->limit - clock_seconds(dog->clock)) > 0)
		wait_at_least(dog, left + 1e-3);
	if (!dog->done)
		isl_ctx_abort(dog->isl); /* sets a flag that the next operation looks at */
	pthread_mutex_unlock(&dog->mutex);
	return NULL;
}

void heddle_watchdog_start(heddle_watchdog *dog, isl_ctx *isl, double seconds)
{
	*dog = (heddle_watchdog){.isl = isl};
	pthread_mutex_init(&dog->mutex, NULL);
	pthread_cond_init(&dog->condition, NULL);
	if (pthread_getcpuclockid(pthread_self(), &dog->clock))
		dog->clock = CLOCK_MONOTONIC;
	dog->begin = clock_seconds(dog->clock);
	dog->limit = dog->begin + seconds;
	dog->started = pthread_create(&dog->thread, NULL, watch, dog) == 0;
}

void heddle_watchdog_stop(heddle_watchdog *dog)
{
	pthread_mutex_lock(&dog->mutex);
	dog->done = true;
	pthread_cond_signal(&dog->condition);
	pthread_mutex_unlock(&dog->mutex);
	if (dog->started)
		pthread_join(dog->thread, NULL);
	pthread_mutex_destroy(&dog->mutex);
	pthread_cond_destroy(&dog->condition);
}
