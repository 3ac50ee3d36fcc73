/* Runs and their results as lines of JSON: how Heddle speaks with a runner in another process or on another machine.
 * doc/backend.md describes them for those who write such a runner.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_WIRE_H
#define HEDDLE_WIRE_H

#include "harness/level.h"

#include <stdio.h>

enum { HEDDLE_WIRE_VERSION = 1 };

/* The line (with its newline) that asks for `run`. */
void heddle_wire_request(const heddle_run *run, int64_t number, heddle_text *out);
/* The first line of a conversation. */
void heddle_wire_hello(heddle_text *out);

/* What such a line says.  The arrays are the request's own. */
typedef struct heddle_wire_asked {
	int64_t number;
	bool hello;
	heddle_run run; /* arguments and manifest belong to the request; `arena` is the caller's */
	heddle_manifest *manifest;
} heddle_wire_asked;
/* 0 (free it with heddle_wire_asked_free), or -1 with a diagnostic that says what is wrong with the line. */
int heddle_wire_read_request(heddle_ctx *ctx, heddle_arena *arena, const char *line, size_t length, heddle_wire_asked *asked);
void heddle_wire_asked_free(heddle_wire_asked *asked);

/* The line that answers `asked`: its verdict, findings, times and results. */
void heddle_wire_answer(const heddle_wire_asked *asked, heddle_text *out);
/* `error` in place of a verdict: the request could not be understood, or the runner itself failed. */
void heddle_wire_refuse(int64_t number, const char *error, heddle_text *out);
/* The answer to hello. */
void heddle_wire_greet(const char *name, heddle_text *out);
/* The name in the answer to hello, in `arena`; NULL with `*why`. */
const char *heddle_wire_read_greeting(heddle_arena *arena, const char *line, size_t length, const char **why);

/* Call `answer` with each line until the input ends, and write what it appends.  0, or -1 when that cannot be written (errno). */
int heddle_wire_serve(FILE *in, FILE *out, void (*answer)(void *data, heddle_arena *arena, const char *line, size_t length, heddle_text *out),
		      void *data);
/* The newest error as a text in `arena`; the diagnostics are used up. */
const char *heddle_wire_take_error(heddle_ctx *ctx, heddle_arena *arena);

/* Fill the out fields and the result arrays of `run` from the answer to request `number`.  `need_results`: a pass without
 * its results is an error.  0; -1 with `*why` in run->arena: the answer breaks the protocol. */
int heddle_wire_read_answer(heddle_run *run, int64_t number, const char *line, size_t length, bool need_results,
			    const char **why);

#endif
