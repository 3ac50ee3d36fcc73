/* The compiler on one screen: what runs, in which order, and what each pass leaves behind.
 * SPDX-License-Identifier: MIT
 */
#include "model/passes.h"

#include "model/prove.h"
#include "model/watchdog.h"

#include <isl/ctx.h>
#include <string.h>

const heddle_pass heddle_passes[] = {
	{"extract", HEDDLE_NEEDS_NOTHING, heddle_pass_extract, "statements become domains and access relations"},
	{"dependences", HEDDLE_NEEDS_NOTHING, heddle_pass_dependences, "pairs of instances whose order matters"},
	{"schedule", HEDDLE_NEEDS_NOTHING, heddle_pass_schedule, "a legal band for each statement"},
	{"fuse", HEDDLE_NEEDS_FUSE, heddle_pass_fuse, "statements become device kernels with common members"},
	{"tile", HEDDLE_NEEDS_LAYOUT, heddle_pass_tile, "dimensions are laid over blocks, threads, items and vectors"},
	{"place", HEDDLE_NEEDS_NOTHING, heddle_pass_place, "tensors go to registers and shared tiles"},
	{"map", HEDDLE_NEEDS_NOTHING, heddle_pass_map, "leaves, moves and barriers; interior and boundary"},
	{"prove", HEDDLE_NEEDS_NOTHING, heddle_pass_prove, "every instance, order, barrier and bound is checked"},
	{"generate", HEDDLE_NEEDS_NOTHING, heddle_pass_generate, "leaves become loops, conditions and values: the program"},
	{NULL, HEDDLE_NEEDS_NOTHING, NULL, NULL},
};

/* Deterministic bound on isl's work in one pass: far above what layers need, far below a hang. */
#define DEFAULT_OPERATIONS 20000000UL

/* The bound in seconds of processor time: one pivot of a huge tableau is one operation, so operations alone do not bound it. */
#define DEFAULT_TIMEOUT 20.0

int heddle_pass_run(heddle_scop *scop, heddle_config *config, const heddle_pass *pass, const heddle_pass_options *options)
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

int heddle_passes_run(heddle_scop *scop, heddle_config *config, const heddle_pass_options *options)
{
	heddle_watchdog dog;
	int status = 0;
	scop->config = config;
	heddle_watchdog_start(&dog, scop->isl, options->timeout > 0 ? options->timeout : DEFAULT_TIMEOUT);
	for (const heddle_pass *pass = heddle_passes; pass->name && status == 0; pass++) {
		if (options->unproved && pass->run == heddle_pass_prove)
			continue;
		status = heddle_pass_run(scop, config, pass, options);
		if (status == 0 && options->dump && options->out && !strcmp(options->dump, pass->name))
			heddle_scop_print(scop, options->out);
		if (options->stop && !strcmp(options->stop, pass->name))
			break;
	}
	heddle_watchdog_stop(&dog);
	isl_ctx_resume(scop->isl);
	return status;
}

int heddle_passes_prove(heddle_scop *scop, double timeout, unsigned long max_operations)
{
	const heddle_pass_options options = {.max_operations = max_operations};
	heddle_watchdog dog;
	int status = 0;
	heddle_watchdog_start(&dog, scop->isl, timeout > 0 ? timeout : DEFAULT_TIMEOUT);
	for (const heddle_pass *pass = heddle_passes; pass->name && status == 0; pass++)
		if (pass->run == heddle_pass_prove)
			status = heddle_pass_run(scop, NULL, pass, &options);
	heddle_watchdog_stop(&dog);
	isl_ctx_resume(scop->isl);
	return status;
}
