/* Running commands, and running a function in a child process: capture, time limit, environment.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_PROCESS_H
#define HEDDLE_PROCESS_H

#include "base/base.h"

#include <stdio.h>

/* One command and what came of it.  Zero it, fill the first part, run it, free it. */
typedef struct heddle_process {
	/* in */
	const char *const *argv;	/* NULL-ended; argv[0] is looked up in PATH */
	const char *folder;		/* to run in; NULL: here */
	const char *const *environment; /* "NAME=value" added to ours, "NAME" taken away, NULL-ended; NULL: ours */
	const void *input;		/* for its stdin; NULL: empty */
	size_t input_length;
	double timeout; /* seconds; 0: 60.  Then it and its children are killed */
	size_t limit;	/* bytes kept of each output; 0: 16 MiB */
	/* out */
	int status;	/* exit code; -1: ended by a signal */
	int signal;	/* that signal, or 0 */
	bool timed_out; /* signal is SIGKILL then */
	double seconds;
	heddle_text output, error;
} heddle_process;

/* Run and wait.  0 when it ran, whatever its exit code; -1 with E0801 when it could not be started. */
int heddle_process_run(heddle_ctx *ctx, heddle_process *process);
void heddle_process_free(heddle_process *process);
/* "exit code 3", "killed by signal 11 (Segmentation fault)", "no end after 60 s": what to say of a command that failed. */
void heddle_process_describe(const heddle_process *process, heddle_text *out);
/* The full path of a command that PATH (or the path itself, when it has a slash) finds; NULL: none. */
const char *heddle_process_find(heddle_arena *arena, const char *name);
/* First line of the command's output or error, in `arena`; NULL when it cannot run or fails. */
const char *heddle_process_first_line(heddle_ctx *ctx, heddle_arena *arena, const char *const *argv);

/* For a new child, safe after fork: a process group of its own, and an end with its parent, also where that is killed. */
void heddle_process_follow(int parent);

/* ---- a command or a copy of this process that stays and is asked line by line (peer.c) ---- */

typedef struct heddle_peer heddle_peer;

/* NULL with E0801 when it cannot be started. */
heddle_peer *heddle_peer_start(heddle_ctx *ctx, const char *const *argv);
/* The same with a function in a copy of this process in place of a command: it reads lines from `in` and answers to `out`, and the
 * copy ends where it returns.  Other threads of this process do not exist in the copy. */
heddle_peer *heddle_peer_fork(heddle_ctx *ctx, void (*function)(void *data, FILE *in, FILE *out), void *data);
/* Closes its input and ends it. */
heddle_peer *heddle_peer_free(heddle_peer *peer);
/* False in a child of the process that started it, which must not use it. */
bool heddle_peer_is_ours(const heddle_peer *peer);
/* Send `line` (with its newline), wait for one line and append it, without its newline.  0; -1 with `*why` in `arena` when it
 * ended, or no answer came in `timeout` seconds: the peer is of no use any more then. */
int heddle_peer_ask(heddle_peer *peer, heddle_arena *arena, const char *line, size_t length, double timeout,
		    heddle_text *answer, const char **why);

/* ---- a function in a copy of this process ---- */

typedef struct heddle_child {
	int pid; /* 0: nothing was started */
	int pipe; /* what it says comes out here */
} heddle_child;

/* Call `function` in a copy of this process, which shares nothing with it afterwards: neither memory nor diagnostics, nor standard
 * output.  Other threads of this process do not exist in the copy: they must not hold locks that `function` needs.
 * 0; -1 when the system refuses: `*why` (in `arena`) says what. */
int heddle_child_start(heddle_child *child, heddle_arena *arena, void (*function)(void *data, heddle_text *out), void *data,
		       const char **why);

/* Wait for it, at most `timeout` seconds (0: until it ends), and append its text.  0; -1 where it came to any other end than
 * `function`'s: `*why` (in `arena`) says which signal, or that the time was over. */
int heddle_child_end(heddle_child *child, heddle_arena *arena, double timeout, heddle_text *out, const char **why);

/* Both at once: for drivers that change the process they are loaded into. */
int heddle_process_call(heddle_arena *arena, double timeout, void (*function)(void *data, heddle_text *out), void *data,
			heddle_text *out, const char **why);

#endif
