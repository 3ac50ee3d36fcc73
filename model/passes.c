/* The compiler on one screen: what runs, in which order, and what each pass leaves behind.
 * SPDX-License-Identifier: MIT
 */
#include "model/passes.h"

#include "model/apart.h"
#include "model/prove.h"

#include <errno.h>
#include <isl/ctx.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const heddle_pass heddle_passes[] = {
	{"extract", HEDDLE_NEEDS_NOTHING, heddle_pass_extract, "statements become domains and access relations"},
	{"dependences", HEDDLE_NEEDS_NOTHING, heddle_pass_dependences, "pairs of instances whose order matters"},
	{"schedule", HEDDLE_NEEDS_NOTHING, heddle_pass_schedule, "a legal band for each statement"},
	{"fuse", HEDDLE_NEEDS_FUSE, heddle_pass_fuse, "statements become device kernels with common members"},
	{"tile", HEDDLE_NEEDS_LAYOUT, heddle_pass_tile, "dimensions are laid over blocks, threads, items and vectors"},
	{"place", HEDDLE_NEEDS_SPACES, heddle_pass_place, "tensors go to registers and shared tiles"},
	{"map", HEDDLE_NEEDS_NOTHING, heddle_pass_map, "leaves, moves and barriers; interior and boundary"},
	{"prove", HEDDLE_NEEDS_NOTHING, heddle_pass_prove, "every instance, order, barrier and bound is checked"},
	{"generate", HEDDLE_NEEDS_NOTHING, heddle_pass_generate, "leaves become loops, conditions and values: the program"},
	{NULL, HEDDLE_NEEDS_NOTHING, NULL, NULL},
};

/* Deterministic bound on isl's work in one pass: far above what layers need, far below a hang. */
#define DEFAULT_OPERATIONS 20000000UL

/* The bound in seconds of processor time: one pivot of a huge tableau is one operation, so operations alone do not bound it.
 * Not of wall-clock time: what a busy machine gives back would differ from what an idle one does. */
#define DEFAULT_TIMEOUT 20.0

/* Seconds that the passes before the proof took where the proof is worth a process of its own: a copy takes about a millisecond. */
#define WORTH_A_PROCESS 0.005

/* A thread that stops isl when the time is over. */
typedef struct watchdog {
	pthread_t thread;
	pthread_mutex_t mutex;
	pthread_cond_t condition;
	isl_ctx *isl;
	clockid_t clock; /* of the thread that is watched */
	double limit;	 /* what it may show */
	bool started, done;
} watchdog;

static double clock_seconds(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Wall-clock time never runs behind a thread's: so much of it must pass at least. */
static void wait_at_least(watchdog *dog, double seconds)
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
	watchdog *dog = user;
	double left;
	pthread_mutex_lock(&dog->mutex);
	while (!dog->done && (left = dog->limit - clock_seconds(dog->clock)) > 0)
		wait_at_least(dog, left + 1e-3);
	if (!dog->done)
		isl_ctx_abort(dog->isl); /* sets a flag that the next operation looks at */
	pthread_mutex_unlock(&dog->mutex);
	return NULL;
}

static void watchdog_start(watchdog *dog, isl_ctx *isl, double seconds)
{
	*dog = (watchdog){.isl = isl};
	pthread_mutex_init(&dog->mutex, NULL);
	pthread_cond_init(&dog->condition, NULL);
	if (pthread_getcpuclockid(pthread_self(), &dog->clock))
		dog->clock = CLOCK_MONOTONIC;
	dog->limit = clock_seconds(dog->clock) + seconds;
	dog->started = pthread_create(&dog->thread, NULL, watch, dog) == 0;
}

static void watchdog_stop(watchdog *dog)
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

static void print_stmt(const heddle_stmt *stmt, heddle_text *out)
{
	char *domain = isl_set_to_str(stmt->domain);
	heddle_text_printf(out, "%s: %s\n", stmt->name, domain);
	free(domain);
	for (int i = 0; i < stmt->n_dim; i++) {
		const heddle_dim *dim = &stmt->dim[i];
		heddle_text_printf(out, "\t%s:%s%s", dim->name, dim->reduction ? " reduction" : "",
				   dim->coincident ? " coincident" : "");
		if (dim->member >= 0)
			heddle_text_printf(out, " member %d", dim->member);
		if (dim->layout.tile)
			heddle_text_printf(out, " tile %lld = %lld items x %lld threads x %lld", (long long)dim->layout.tile,
					   (long long)dim->layout.items, (long long)dim->layout.threads,
					   (long long)dim->layout.vector);
		heddle_text_add(out, "\n");
	}
	for (int a = 0; a < stmt->n_access; a++) {
		char *relation = isl_map_to_str(stmt->access[a].relation);
		heddle_text_printf(out, "\t%s %s\n", stmt->access[a].write ? "writes" : "reads", relation);
		free(relation);
	}
}

void heddle_scop_print(const heddle_scop *scop, heddle_text *out)
{
	static const char *const space[] = {"global", "shared", "register"};
	for (int i = 0; i < scop->n_stmt; i++)
		print_stmt(scop->stmt[i], out);
	for (int i = 0; i < scop->n_dependence; i++) {
		if (!heddle_dependence_relation(&scop->dependence[i]))
			continue;
		char *relation = isl_map_to_str(scop->dependence[i].relation);
		heddle_text_printf(out, "%s %s\n", scop->dependence[i].input ? "input" : "dependence", relation);
		free(relation);
	}
	for (int k = 0; k < scop->n_kernel; k++) {
		const heddle_kernel *kernel = scop->kernel[k];
		heddle_text_printf(out, "kernel %d: %d threads, %lld lanes:", k, kernel->threads, (long long)kernel->lanes);
		for (int s = 0; s < kernel->n_stmt; s++)
			heddle_text_printf(out, " %s", kernel->stmt[s]->name);
		heddle_text_add(out, "\n");
		for (int g = 0; g < kernel->n_group; g++)
			heddle_text_printf(out, "\t%s.%d: %s\n", kernel->group[g]->tensor->name, kernel->group[g]->number,
					   space[kernel->group[g]->space]);
		if (kernel->mapped)
			heddle_mapped_print(kernel->mapped, out);
	}
	if (scop->program)
		heddle_program_print(scop->program, out);
}

static int run_one(heddle_scop *scop, heddle_config *config, const heddle_pass *pass, const heddle_pass_options *options)
{
	if (pass->needs != HEDDLE_NEEDS_NOTHING && options->complete &&
	    options->complete(scop, config, pass->needs, options->user) < 0)
		return -1;
	isl_ctx_reset_operations(scop->isl);
	isl_ctx_set_max_operations(scop->isl, options->max_operations ? options->max_operations : DEFAULT_OPERATIONS);
	double start = heddle_now();
	int before = heddle_diagnostics_count(scop->ctx), errors = heddle_error_count(scop->ctx);
	int status = pass->run(scop);
	if (status < 0 && heddle_scop_at_limit(scop)) {
		/* what isl refused to answer is no reason for anything that was said */
		heddle_diagnostics_keep(scop->ctx, before);
		heddle_scop_check(scop, pass->name);
	} else if (status < 0 && heddle_error_count(scop->ctx) == errors) {
		heddle_scop_check(scop, pass->name); /* what isl could not answer inside the pass */
	}
	isl_ctx_set_max_operations(scop->isl, 0);
	if (options->times && options->out)
		heddle_text_printf(options->out, "%-12s %8.3f ms\n", pass->name, (heddle_now() - start) * 1e3);
	return status;
}

/* A pass that is run apart, and what it needs there. */
typedef struct verdict {
	heddle_scop *scop;
	heddle_config *config;
	const heddle_pass *pass;
	const heddle_pass_options *options;
	double seconds;
	heddle_apart apart;
} verdict;

/* The proof's result, of a copy of the process; NULL where there is anything to say. */
static const char *prove_apart(void *user)
{
	const verdict *v = user;
	watchdog dog; /* threads are not copied */
	const int before = heddle_diagnostics_count(v->scop->ctx);
	watchdog_start(&dog, v->scop->isl, v->seconds);
	const int status = run_one(v->scop, v->config, v->pass, v->options);
	watchdog_stop(&dog);
	return status == 0 && heddle_diagnostics_count(v->scop->ctx) == before ? v->scop->proof : NULL;
}

/* The proof needs nothing of later passes and they nothing of it, so it may run beside them where it is worth a process. */
static bool start_apart(verdict *v, double used)
{
	const heddle_pass_options *options = v->options;
	if (!options->apart || v->pass->run != heddle_pass_prove || options->times || options->dump || options->stop || used < WORTH_A_PROCESS)
		return false;
	return heddle_apart_start(&v->apart, prove_apart, v);
}

/* What was run apart is over.  What it has to say, it says here: it is run again, as if it had been before the passes after it. */
static int end_apart(verdict *v, int before, int status)
{
	v->scop->proof = heddle_apart_end(&v->apart, v->scop->arena);
	if (v->scop->proof)
		return status;
	heddle_diagnostics_keep(v->scop->ctx, before);
	if (run_one(v->scop, v->config, v->pass, v->options) < 0)
		return -1;
	return status < 0 ? run_one(v->scop, v->config, v->pass + 1, v->options) : status;
}

int heddle_passes_run(heddle_scop *scop, heddle_config *config, const heddle_pass_options *options)
{
	watchdog dog;
	verdict v = {.apart = {0}};
	const double limit = options->timeout > 0 ? options->timeout : DEFAULT_TIMEOUT;
	int status = 0, before = 0;
	scop->config = config;
	watchdog_start(&dog, scop->isl, limit);
	for (const heddle_pass *pass = heddle_passes; pass->name && status == 0; pass++) {
		const double left = dog.limit - clock_seconds(dog.clock);
		if (!v.apart.child) {
			before = heddle_diagnostics_count(scop->ctx);
			v = (verdict){scop, config, pass, options, left, {0}};
			if (start_apart(&v, limit - left))
				continue;
		}
		status = run_one(scop, config, pass, options);
		if (status == 0 && options->dump && options->out && !strcmp(options->dump, pass->name))
			heddle_scop_print(scop, options->out);
		if (options->stop && !strcmp(options->stop, pass->name))
			break;
	}
	if (v.apart.child)
		status = end_apart(&v, before, status);
	watchdog_stop(&dog);
	isl_ctx_resume(scop->isl);
	return status;
}
