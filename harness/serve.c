/* Heddle as a runner: `heddle serve-run`, as at the other end of `ssh host heddle serve-run`.
 * SPDX-License-Identifier: MIT
 */
#include "harness/serve.h"

#include "harness/isolate.h"
#include "harness/wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef struct server {
	heddle_ctx *ctx;
	const char *level;
	int n_runner;
	int *available; /* by position in heddle_runners: -1 not looked for yet */
	const char **why;
} server;

static bool may_run(const server *s, const heddle_runner *runner, const char *level, const char *backend)
{
	size_t n = strlen(runner->level);
	if (strcmp(runner->backend, backend) || !strcmp(runner->level, "compile") || strncmp(level, runner->level, n))
		return false;
	if (!s->level && runner->simulator)
		return false;
	return !level[n] || (level[n] == ':' && !strcmp(level + n + 1, runner->name));
}

static const heddle_runner *usable(server *s, const char *level, const char *backend, const char **why)
{
	for (int k = 0; heddle_runners[k]; k++) {
		if (!may_run(s, heddle_runners[k], level, backend))
			continue;
		if (s->available[k] < 0)
			s->available[k] = heddle_runner_available(s->ctx, heddle_ctx_arena(s->ctx), heddle_runners[k], &s->why[k]);
		if (s->available[k] == 1)
			return heddle_runners[k];
		if (!*why)
			*why = s->why[k];
	}
	return NULL;
}

static const heddle_runner *runner_for(server *s, const heddle_manifest *manifest, const char **why)
{
	*why = NULL;
	const heddle_runner *runner = usable(s, s->level ? s->level : "device", manifest->backend, why);
	return runner || s->level ? runner : usable(s, "opencl-cpu", manifest->backend, why);
}

static void answer(void *data, heddle_arena *arena, const char *line, size_t length, heddle_text *out)
{
	server *s = data;
	heddle_wire_asked asked;
	const char *why = NULL;
	if (heddle_wire_read_request(s->ctx, arena, line, length, &asked) < 0) {
		heddle_wire_refuse(asked.number, heddle_wire_take_error(s->ctx, arena), out);
		return;
	}
	if (asked.hello) {
		heddle_wire_greet(heddle_arena_printf(arena, "heddle %s", heddle_version()), out);
		return;
	}
	const heddle_runner *runner = runner_for(s, asked.manifest, &why);
	if (!runner) {
		asked.run.verdict = HEDDLE_MISSING;
		asked.run.message = heddle_arena_printf(arena, "nothing here runs %s text%s%s", asked.manifest->backend, why ? ": " : "",
							why ? why : "");
		heddle_wire_answer(&asked, out);
	} else if (heddle_run_isolated(s->ctx, runner, &asked.run) < 0) {
		heddle_wire_refuse(asked.number, heddle_wire_take_error(s->ctx, arena), out);
	} else {
		heddle_wire_answer(&asked, out);
	}
	heddle_wire_asked_free(&asked);
	heddle_diagnostics_clear(s->ctx);
}

int heddle_serve(heddle_ctx *ctx, FILE *in, FILE *out, const char *level)
{
	server s = {.ctx = ctx, .level = level};
	while (heddle_runners[s.n_runner])
		s.n_runner++;
	s.available = HEDDLE_NEW_ARRAY(heddle_ctx_arena(ctx), int, s.n_runner);
	s.why = HEDDLE_NEW_ARRAY(heddle_ctx_arena(ctx), const char *, s.n_runner);
	for (int k = 0; k < s.n_runner; k++)
		s.available[k] = -1;
	return heddle_wire_serve(in, out, answer, &s) == 0 ? 0 : heddle_error(ctx, 902, NULL, "cannot write an answer: %s", strerror(errno));
}
