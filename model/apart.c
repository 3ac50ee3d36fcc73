/* The proof in a copy of the process: when, what comes back, and what is done where nothing does.
 * SPDX-License-Identifier: MIT
 */
#include "model/apart.h"

#include "model/prove.h"

#include <isl/ctx.h>
#include <sched.h>

/* Seconds that the passes before the proof took where the proof is worth a process of its own: a copy takes about a millisecond. */
#define WORTH_A_PROCESS 0.005

static int processors(void)
{
	cpu_set_t set;
	return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

/* Says the proof's result; nothing where there is anything else to say. */
static void prove_apart(void *data, heddle_text *out)
{
	const heddle_apart *a = data;
	heddle_watchdog dog; /* threads are not copied */
	heddle_watchdog_start(&dog, a->scop->isl, a->seconds);
	const int status = heddle_pass_run(a->scop, a->config, a->pass, a->options);
	heddle_watchdog_stop(&dog);
	if (status == 0 && heddle_diagnostics_count(a->scop->ctx) == a->before && a->scop->proof)
		heddle_text_add(out, a->scop->proof);
}

bool heddle_apart_start(heddle_apart *apart, heddle_scop *scop, heddle_config *config, const heddle_pass *pass,
			const heddle_pass_options *options, const heddle_watchdog *dog)
{
	const char *why;
	if (apart->child.pid || pass->run != heddle_pass_prove || options->times || options->dump || options->stop ||
	    heddle_watchdog_used(dog) < WORTH_A_PROCESS || processors() < 2)
		return false;
	*apart = (heddle_apart){scop, config, pass, options, heddle_watchdog_left(dog), heddle_diagnostics_count(scop->ctx), {0}};
	return heddle_child_start(&apart->child, scop->arena, prove_apart, apart, &why) == 0;
}

/* The proof in this process, as the copy gave no plain verdict; then the pass after it, if that failed: what it said may have been of
 * a mapping that is wrong. */
static int run_here(const heddle_apart *a, int status)
{
	heddle_watchdog dog;
	heddle_watchdog_start(&dog, a->scop->isl, a->seconds);
	if (status < 0)
		heddle_diagnostics_keep(a->scop->ctx, a->before);
	int again = heddle_pass_run(a->scop, a->config, a->pass, a->options);
	if (again == 0 && status < 0)
		again = heddle_pass_run(a->scop, a->config, a->pass + 1, a->options);
	heddle_watchdog_stop(&dog);
	isl_ctx_resume(a->scop->isl);
	return again;
}

int heddle_apart_end(heddle_apart *apart, int status)
{
	if (!apart->child.pid)
		return status;
	heddle_scop *scop = apart->scop;
	heddle_text said = {0};
	const char *why;
	const bool proved = heddle_child_end(&apart->child, scop->arena, 0, &said, &why) == 0 && said.length > 0;
	if (proved)
		scop->proof = heddle_arena_strdup(scop->arena, heddle_text_str(&said));
	heddle_text_free(&said);
	return proved ? status : run_here(apart, status);
}
