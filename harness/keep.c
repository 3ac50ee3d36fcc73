/* Runs in a child that stays: for runners that take long to start.
 *
 * The child holds the runner's driver and is asked in lines (harness/wire.h).  It is ended after the first run that does not pass,
 * since a GPU's context is of no use after a fault, and what came of it must not be the next run's.
 * SPDX-License-Identifier: MIT
 */
#include "harness/isolate.h"

#include "base/process.h"
#include "harness/compile_level.h"
#include "harness/device.h"
#include "harness/wire.h"

#include <string.h>

/* Lines hold arrays as text: larger ones go through shared memory, in a child of their own. */
enum { MOST_BYTES = 4 << 20 };
/* Seconds for the driver to start, and beyond a run's own limit for its answer. */
enum { START_TIMEOUT = 60, GRACE = 3 };

typedef struct kept {
	const heddle_runner *runner;
	heddle_peer *peer; /* NULL: ended, or not started yet */
	int64_t requests;
	struct kept *next;
} kept;

typedef struct keeper {
	kept *first;
} keeper;

typedef struct duty {
	heddle_ctx *ctx;
	const heddle_runner *runner;
} duty;

/* ---- the child ---------------------------------------------------------------------------------------------------------------- */

static void answer(void *data, heddle_arena *arena, const char *line, size_t length, heddle_text *out)
{
	const duty *d = data;
	heddle_wire_asked asked;
	heddle_diagnostics_clear(d->ctx);
	if (heddle_wire_read_request(d->ctx, arena, line, length, &asked) < 0) {
		heddle_wire_refuse(asked.number, heddle_wire_take_error(d->ctx, arena), out);
		return;
	}
	if (asked.manifest)
		asked.manifest->path = NULL; /* a text of ours, in no file */
	if (asked.hello && d->runner->hold(d->ctx) < 0)
		heddle_wire_refuse(0, "no device", out);
	else if (asked.hello)
		heddle_wire_greet(d->runner->name, out);
	else if (d->runner->run(d->ctx, &asked.run) < 0)
		heddle_wire_refuse(asked.number, heddle_wire_take_error(d->ctx, arena), out);
	else
		heddle_wire_answer(&asked, out);
	heddle_wire_asked_free(&asked);
}

static void serve(void *data, FILE *in, FILE *out)
{
	heddle_wire_serve(in, out, answer, data); /* whoever reads no answer is gone */
}

/* ---- the parent --------------------------------------------------------------------------------------------------------------- */

static void end_all(void *data)
{
	for (kept *k = ((keeper *)data)->first; k; k = k->next)
		k->peer = heddle_peer_free(k->peer);
}

static kept *kept_of(heddle_ctx *ctx, const heddle_runner *runner)
{
	heddle_arena *arena = heddle_ctx_arena(ctx);
	keeper *all = heddle_ctx_attached(ctx, "kept");
	if (!all) {
		all = HEDDLE_NEW(arena, keeper);
		heddle_ctx_attach(ctx, "kept", all, end_all);
	}
	for (kept *k = all->first; k; k = k->next)
		if (k->runner == runner)
			return k;
	kept *k = HEDDLE_NEW(arena, kept);
	*k = (kept){.runner = runner, .next = all->first};
	return all->first = k;
}

/* True: it is there and holds its driver. */
static bool make_ready(heddle_ctx *ctx, heddle_run *run, kept *k)
{
	if (k->peer && !heddle_peer_is_ours(k->peer))
		k->peer = NULL; /* the parent's: it goes on with it */
	if (k->peer)
		return true;
	heddle_text line = {0}, said = {0};
	const char *why = NULL;
	duty d = {ctx, k->runner};
	k->peer = heddle_peer_fork(ctx, serve, &d);
	if (!k->peer) {
		heddle_diagnostics_clear(ctx);
		return false;
	}
	heddle_wire_hello(&line);
	bool fine = heddle_peer_ask(k->peer, run->arena, heddle_text_str(&line), line.length, START_TIMEOUT, &said, &why) == 0 &&
		    heddle_wire_read_greeting(run->arena, heddle_text_str(&said), said.length, &why);
	heddle_text_free(&line);
	heddle_text_free(&said);
	if (!fine)
		k->peer = heddle_peer_free(k->peer);
	return fine;
}

static bool takes(const heddle_runner *runner, const heddle_run *run)
{
	size_t bytes = 0;
	for (int i = 0; i < run->manifest->n_argument; i++)
		bytes += run->argument[i] ? run->argument[i]->bytes : 0;
	/* Lines name no device, and texts of others come with files of theirs. */
	return runner->hold && !run->device && !run->manifest->path && bytes <= MOST_BYTES;
}

int heddle_run_kept(heddle_ctx *ctx, const heddle_runner *runner, heddle_run *run, int *result)
{
	if (!takes(runner, run))
		return 0;
	kept *k = kept_of(ctx, runner);
	if (!make_ready(ctx, run, k))
		return 0; /* a child of its own says why */
	heddle_text line = {0}, said = {0};
	const char *why = NULL;
	const double timeout = run->timeout > 0 ? run->timeout : 60;
	const int64_t number = ++k->requests;
	bool goes_on = false;
	*result = 0;
	heddle_run_begin(run);
	heddle_wire_request(run, number, &line);
	if (heddle_peer_ask(k->peer, run->arena, heddle_text_str(&line), line.length, timeout + GRACE, &said, &why) != 0) {
		heddle_run_finding(run, strncmp(why, "no answer", 9) ? "crash" : "timeout", run->source_path, 0, why);
		run->verdict = HEDDLE_FAIL;
		run->message = why;
	} else if (heddle_wire_read_answer(run, number, heddle_text_str(&said), said.length, true, &why) != 0) {
		*result = heddle_error(ctx, 802, NULL, "%s", why);
	} else {
		goes_on = run->verdict == HEDDLE_PASS;
	}
	if (!goes_on)
		k->peer = heddle_peer_free(k->peer);
	heddle_text_free(&line);
	heddle_text_free(&said);
	return 1;
}
