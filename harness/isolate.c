/* A runner in a child process with a time limit: crashes and hangs become findings.
 *
 * The arrays come back through one shared anonymous mapping, the other results through a pipe, standard output and error
 * through files in memory: what kernels print, and what is shown when the child dies.
 * SPDX-License-Identifier: MIT
 */
#include "harness/isolate.h"

#include "base/process.h"

#include <errno.h>
#include <signal.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define END_MARK 0x48656464 /* a record without it was cut short */

/* ---- records: what the child sends ------------------------------------------------------------------------------------------ */

static void put(heddle_text *out, const void *data, size_t n)
{
	heddle_text_addn(out, data, n);
}

static void put_int(heddle_text *out, int64_t value)
{
	put(out, &value, sizeof(value));
}

static void put_string(heddle_text *out, const char *s)
{
	put_int(out, s ? (int64_t)strlen(s) : -1);
	if (s)
		put(out, s, strlen(s));
}

typedef struct reader {
	const char *at;
	size_t left;
	bool bad;
	heddle_arena *arena;
} reader;

static void get(reader *r, void *data, size_t n)
{
	if (r->bad || r->left < n) {
		r->bad = true;
		memset(data, 0, n);
		return;
	}
	memcpy(data, r->at, n);
	r->at += n;
	r->left -= n;
}

static int64_t get_int(reader *r)
{
	int64_t value;
	get(r, &value, sizeof(value));
	return value;
}

static const char *get_string(reader *r)
{
	int64_t n = get_int(r);
	if (n < 0 || r->bad || (size_t)n > r->left) {
		r->bad = r->bad || n >= 0;
		return NULL;
	}
	char *s = heddle_arena_strndup(r->arena, r->at, (size_t)n);
	r->at += n;
	r->left -= (size_t)n;
	return s;
}

/* ---- the child --------------------------------------------------------------------------------------------------------------- */

typedef struct task {
	heddle_ctx *ctx;
	const heddle_runner *runner;
	heddle_run *run;
	int output, log; /* the child's standard output and error: files in memory */
	unsigned char *shared;
	size_t shared_bytes;
} task;

static size_t round_up(size_t n)
{
	return (n + 63) / 64 * 64;
}

/* The outcome and the first diagnostic of the child. */
static void put_outcome(heddle_ctx *ctx, heddle_text *out, int rc)
{
	const heddle_diagnostic *d = heddle_diagnostics(ctx);
	while (d && d->severity != HEDDLE_ERROR)
		d = d->next;
	put_int(out, rc);
	put_int(out, d ? d->code : 0);
	put_string(out, d ? d->message : NULL);
}

static void child_run(void *data, heddle_text *out)
{
	task *t = data;
	heddle_run *run = t->run;
	dup2(t->output, STDOUT_FILENO);
	dup2(t->log, STDERR_FILENO);
	__fpurge(stdout); /* what the parent was about to write */
	setvbuf(stdout, NULL, _IOLBF, 0);
	heddle_diagnostics_clear(t->ctx);
	int rc = t->runner->run(t->ctx, run);
	fflush(stdout);
	size_t at = 0;
	for (int k = 0; k < run->manifest->n_argument; ++k) {
		const heddle_array *a = run->argument[k];
		if (!a)
			continue;
		memcpy(t->shared + at, a->memory, a->bytes);
		at += round_up(a->bytes);
	}
	put_outcome(t->ctx, out, rc);
	put_int(out, run->verdict);
	put_string(out, run->message);
	put_int(out, run->n_finding);
	for (int k = 0; k < run->n_finding; ++k) {
		put_string(out, run->finding[k].kind);
		put_string(out, run->finding[k].file);
		put_int(out, run->finding[k].line);
		put_string(out, run->finding[k].text);
	}
	const int n = run->seconds && run->repeat > 0 ? run->repeat : 0;
	put_int(out, n);
	if (n)
		put(out, run->seconds, sizeof(double) * (size_t)n);
	put_int(out, run->registers);
	put_int(out, run->spill_bytes);
	put_int(out, run->stack_bytes);
	put_int(out, run->shared_bytes);
	put_int(out, END_MARK);
}

/* ---- the parent --------------------------------------------------------------------------------------------------------------- */

/* At most `wanted` bytes of a file in memory from `from` on, without the last line's end, in `arena`; "" for none. */
static const char *file_part(heddle_arena *arena, int file, off_t from, off_t wanted)
{
	char *text = heddle_arena_alloc(arena, (size_t)wanted + 1);
	ssize_t n = pread(file, text, (size_t)wanted, from);
	text[n > 0 ? n : 0] = 0;
	while (n > 0 && (text[n - 1] == '\n' || text[n - 1] == ' '))
		text[--n] = 0;
	return text;
}

/* The last lines that the child wrote to its standard error. */
static const char *last_words(const task *t)
{
	const off_t wanted = 600, end = lseek(t->log, 0, SEEK_END);
	return file_part(t->run->arena, t->log, end > wanted ? end - wanted : 0, wanted);
}

/* What the kernels printed, the first of it; NULL: nothing. */
static const char *printed_by(const task *t)
{
	const off_t most = 64 * 1024, end = lseek(t->output, 0, SEEK_END);
	if (end <= 0)
		return NULL;
	const char *text = file_part(t->run->arena, t->output, 0, end < most ? end : most);
	return end <= most ? text : heddle_arena_printf(t->run->arena, "%s\n(%lld bytes more)", text, (long long)(end - most));
}

static void dead(const task *t, const char *what)
{
	heddle_run *run = t->run;
	const char *tail = last_words(t);
	const char *last = strrchr(tail, '\n');
	last = last ? last + 1 : tail;
	heddle_finding *finding = HEDDLE_NEW(run->arena, heddle_finding);
	finding->kind = strncmp(what, "no end", 6) ? "crash" : "timeout";
	finding->text = *tail ? heddle_arena_printf(run->arena, "%s; it said:\n%s", what, tail) : what;
	run->verdict = HEDDLE_FAIL;
	run->n_finding = 1;
	run->finding = finding;
	run->message = *last ? heddle_arena_printf(run->arena, "%s: %s", what, last) : what;
}

/* Relay the child's diagnostic. */
static int get_outcome(heddle_ctx *ctx, reader *r, const char *who)
{
	int rc = (int)get_int(r);
	int code = (int)get_int(r);
	const char *message = get_string(r);
	if (rc < 0)
		heddle_error(ctx, code ? code : 950, NULL, "%s: %s", who, message ? message : "failed without saying why");
	return rc;
}

static int parse_results(heddle_ctx *ctx, const heddle_runner *runner, heddle_run *run, reader *r)
{
	int rc = get_outcome(ctx, r, runner->name);
	run->verdict = (heddle_verdict)get_int(r);
	run->message = get_string(r);
	run->n_finding = (int)get_int(r);
	if (run->n_finding < 0 || (size_t)run->n_finding > r->left)
		r->bad = true;
	run->finding = r->bad ? NULL : HEDDLE_NEW_ARRAY(run->arena, heddle_finding, run->n_finding);
	for (int k = 0; k < run->n_finding && !r->bad; ++k) {
		run->finding[k].kind = get_string(r);
		run->finding[k].file = get_string(r);
		run->finding[k].line = (int)get_int(r);
		run->finding[k].text = get_string(r);
	}
	int64_t n = get_int(r);
	run->seconds = NULL;
	if (n > 0 && !r->bad && (size_t)n <= r->left / sizeof(double)) {
		run->seconds = HEDDLE_NEW_ARRAY(run->arena, double, n);
		get(r, run->seconds, sizeof(double) * (size_t)n);
	}
	run->registers = (int)get_int(r);
	run->spill_bytes = (int)get_int(r);
	run->stack_bytes = (int)get_int(r);
	run->shared_bytes = (int)get_int(r);
	if (get_int(r) != END_MARK)
		r->bad = true;
	return rc;
}

static void copy_arrays_back(const heddle_run *run, const unsigned char *shared)
{
	size_t at = 0;
	for (int k = 0; k < run->manifest->n_argument; ++k) {
		heddle_array *a = run->argument[k];
		if (!a)
			continue;
		memcpy(a->memory, shared + at, a->bytes);
		at += round_up(a->bytes);
	}
}

int heddle_run_isolated(heddle_ctx *ctx, const heddle_runner *runner, heddle_run *run)
{
	if (runner->other_process)
		return runner->run(ctx, run);
	int rc = 0;
	if (heddle_run_kept(ctx, runner, run, &rc))
		return rc;
	size_t bytes = 64;
	for (int k = 0; k < run->manifest->n_argument; ++k)
		bytes += run->argument[k] ? round_up(run->argument[k]->bytes) : 0;
	task t = {.ctx = ctx, .runner = runner, .run = run, .shared_bytes = bytes,
		  .output = memfd_create("heddle-output", MFD_CLOEXEC), .log = memfd_create("heddle-run", MFD_CLOEXEC)};
	if (t.output < 0 || t.log < 0) {
		close(t.output);
		return heddle_error(ctx, 720, NULL, "cannot make a file in memory: %s", strerror(errno));
	}
	t.shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (t.shared == MAP_FAILED) {
		close(t.output);
		close(t.log);
		return heddle_error(ctx, 720, NULL, "cannot share %zu bytes: %s", bytes, strerror(errno));
	}
	heddle_text out = { 0 };
	const char *why = NULL;
	const double limit = (run->timeout > 0 ? run->timeout : 60) + runner->grace;
	if (heddle_process_call(run->arena, limit, child_run, &t, &out, &why) < 0) {
		dead(&t, why);
	} else {
		reader r = { out.data, out.length, false, run->arena };
		rc = parse_results(ctx, runner, run, &r);
		if (r.bad) {
			rc = 0;
			dead(&t, "ended with no result");
		} else {
			copy_arrays_back(run, t.shared);
		}
	}
	run->printed = printed_by(&t);
	heddle_text_free(&out);
	close(t.output);
	close(t.log);
	munmap(t.shared, bytes);
	return rc;
}

static void child_available(void *data, heddle_text *out)
{
	task *t = data;
	const char *why = NULL;
	heddle_diagnostics_clear(t->ctx);
	put_int(out, t->runner->available(t->ctx, &why));
	put_string(out, why);
}

int heddle_runner_available(heddle_ctx *ctx, heddle_arena *arena, const heddle_runner *runner, const char **why)
{
	task t = { .ctx = ctx, .runner = runner };
	heddle_text out = { 0 };
	int usable = 0;
	const char *died = NULL;
	*why = NULL;
	if (heddle_process_call(arena, 60, child_available, &t, &out, &died) < 0) {
		*why = heddle_arena_printf(arena, "looking for it failed: %s", died);
	} else {
		reader r = { out.data, out.length, false, arena };
		usable = (int)get_int(&r) > 0;
		*why = get_string(&r);
	}
	heddle_text_free(&out);
	return usable;
}
