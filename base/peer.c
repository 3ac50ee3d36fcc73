/* A command, or a copy of this process, that stays and is asked line by line.
 * SPDX-License-Identifier: MIT
 */
#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHUNK = 65536, MOST_ANSWER = 1 << 30 };

struct heddle_peer {
	pid_t owner; /* who started it: a forked child must not talk to it */
	pid_t pid;
	int in, out;  /* its standard input and output, non-blocking */
	int error;    /* its standard error: a file in memory */
	heddle_text pending; /* read behind the last answer */
};

/* The child's side: only functions that are safe after fork. */
static void child_exec(const char *const *argv, int in, int out, int error, int report, pid_t parent)
{
	heddle_process_follow(parent);
	if (dup2(in, 0) >= 0 && dup2(out, 1) >= 0 && dup2(error, 2) >= 0) {
		char *const *words;
		memcpy(&words, &argv, sizeof(words));
		execvp(argv[0], words);
	}
	int reason = errno;
	if (write(report, &reason, sizeof(reason)) < 0)
		_exit(126);
	_exit(127);
}

/* The child's side of a function.  Its answers have a descriptor of their own: what it prints is no answer. */
static void child_answer(void (*function)(void *data, FILE *in, FILE *out), void *data, int in, int out, int error, pid_t parent)
{
	heddle_process_follow(parent);
	FILE *asked = fdopen(in, "r"), *answers = fdopen(out, "w");
	if (asked && answers && dup2(error, 1) >= 0 && dup2(error, 2) >= 0)
		function(data, asked, answers);
	if (answers)
		fflush(answers);
	fflush(NULL);
	_exit(0);
}

static void close_pairs(int n, int (*pair)[2])
{
	for (int i = 0; i < n; i++) {
		close(pair[i][0]);
		close(pair[i][1]);
	}
}

static heddle_peer *peer_new(pid_t pid, int in, int out, int error)
{
	fcntl(in, F_SETFL, O_NONBLOCK);
	fcntl(out, F_SETFL, O_NONBLOCK);
	heddle_peer *peer = heddle_xalloc(sizeof(*peer));
	*peer = (heddle_peer){.owner = getpid(), .pid = pid, .in = in, .out = out, .error = error};
	return peer;
}

heddle_peer *heddle_peer_start(heddle_ctx *ctx, const char *const *argv)
{
	int pipes[3][2]; /* stdin, stdout, report of exec */
	for (int i = 0; i < 3; i++)
		if (pipe2(pipes[i], O_CLOEXEC) != 0) {
			int reason = errno;
			close_pairs(i, pipes);
			heddle_error(ctx, 801, NULL, "no pipe for %s: %s", argv[0], strerror(reason));
			return NULL;
		}
	int error = memfd_create("heddle-peer", MFD_CLOEXEC);
	const pid_t parent = getpid();
	pid_t pid = error < 0 ? -1 : fork();
	if (pid == 0)
		child_exec(argv, pipes[0][0], pipes[1][1], error, pipes[2][1], parent);
	int reason = errno;
	bool failed = pid < 0;
	close(pipes[2][1]);
	if (!failed && read(pipes[2][0], &reason, sizeof(reason)) == (ssize_t)sizeof(reason)) {
		failed = true;
		waitpid(pid, NULL, 0);
	}
	close(pipes[2][0]);
	close(pipes[0][0]);
	close(pipes[1][1]);
	if (failed) {
		close(pipes[0][1]);
		close(pipes[1][0]);
		if (error >= 0)
			close(error);
		heddle_error(ctx, 801, NULL, "cannot start %s: %s", argv[0], strerror(reason));
		return NULL;
	}
	return peer_new(pid, pipes[0][1], pipes[1][0], error);
}

heddle_peer *heddle_peer_fork(heddle_ctx *ctx, void (*function)(void *data, FILE *in, FILE *out), void *data)
{
	int pipes[2][2]; /* what it reads, what it answers */
	for (int i = 0; i < 2; i++)
		if (pipe2(pipes[i], O_CLOEXEC) != 0) {
			int reason = errno;
			close_pairs(i, pipes);
			heddle_error(ctx, 801, NULL, "no pipe: %s", strerror(reason));
			return NULL;
		}
	int error = memfd_create("heddle-peer", MFD_CLOEXEC);
	fflush(NULL);
	const pid_t parent = getpid();
	pid_t pid = error < 0 ? -1 : fork();
	int reason = errno;
	if (pid == 0) {
		close(pipes[0][1]);
		close(pipes[1][0]);
		child_answer(function, data, pipes[0][0], pipes[1][1], error, parent);
	}
	close(pipes[0][0]);
	close(pipes[1][1]);
	if (pid < 0) {
		close(pipes[0][1]);
		close(pipes[1][0]);
		if (error >= 0)
			close(error);
		heddle_error(ctx, 801, NULL, "no child process: %s", strerror(reason));
		return NULL;
	}
	return peer_new(pid, pipes[0][1], pipes[1][0], error);
}

bool heddle_peer_is_ours(const heddle_peer *peer) { return peer->owner == getpid(); }

heddle_peer *heddle_peer_free(heddle_peer *peer)
{
	if (!peer)
		return NULL;
	close(peer->in);
	close(peer->out);
	close(peer->error);
	if (heddle_peer_is_ours(peer)) {
		/* The end of its input tells it to go; one that does not is killed. */
		double end = heddle_now() + 0.5;
		pid_t got = 0;
		while ((got = waitpid(peer->pid, NULL, WNOHANG)) == 0 && heddle_now() < end)
			usleep(2000);
		kill(-peer->pid, SIGKILL);
		if (got == 0)
			while (waitpid(peer->pid, NULL, 0) < 0 && errno == EINTR)
				;
	}
	heddle_text_free(&peer->pending);
	free(peer);
	return NULL;
}

/* What it said last on its standard error, after `why`. */
static const char *reason_of(heddle_peer *peer, heddle_arena *arena, const char *why)
{
	enum { TAIL = 600 };
	char text[TAIL + 1];
	off_t end = lseek(peer->error, 0, SEEK_END);
	ssize_t n = pread(peer->error, text, TAIL, end > TAIL ? end - TAIL : 0);
	while (n > 0 && (text[n - 1] == '\n' || text[n - 1] == ' '))
		n--;
	text[n > 0 ? n : 0] = '\0';
	return *text ? heddle_arena_printf(arena, "%s; it said: %s", why, text) : why;
}

/* The first line of `pending` moved into `answer`; false: there is no whole line. */
static bool take_line(heddle_peer *peer, size_t from, heddle_text *answer)
{
	const char *data = peer->pending.data;
	const char *end = peer->pending.length > from ? memchr(data + from, '\n', peer->pending.length - from) : NULL;
	if (!end)
		return false;
	heddle_text rest = {0};
	heddle_text_addn(answer, data, (size_t)(end - data));
	heddle_text_addn(&rest, end + 1, peer->pending.length - (size_t)(end + 1 - data));
	heddle_text_free(&peer->pending);
	peer->pending = rest;
	return true;
}

/* Write and read until a line came; NULL, or what went wrong. */
static const char *exchange(heddle_peer *peer, heddle_arena *arena, const char *line, size_t length, double timeout,
			    heddle_text *answer)
{
	double end = heddle_now() + timeout;
	size_t sent = 0;
	char *chunk = heddle_arena_alloc(arena, CHUNK);
	for (;;) {
		struct pollfd set[2] = {{peer->out, POLLIN, 0}, {sent < length ? peer->in : -1, POLLOUT, 0}};
		double left = end - heddle_now();
		if (left <= 0)
			return heddle_arena_printf(arena, "no answer after %g s", timeout);
		int ready = poll(set, 2, left > 1000 ? 1000000 : (int)(left * 1000) + 1);
		if (ready < 0 && errno != EINTR)
			return heddle_arena_strdup(arena, strerror(errno));
		if (ready <= 0)
			continue;
		if (set[1].revents) {
			ssize_t n = write(peer->in, line + sent, length - sent);
			if (n > 0)
				sent += (size_t)n;
			else if (n < 0 && errno != EAGAIN && errno != EINTR && errno != EPIPE)
				return heddle_arena_strdup(arena, strerror(errno));
			else if (n < 0 && errno == EPIPE)
				sent = length; /* it may still have answered */
		}
		if (!set[0].revents)
			continue;
		ssize_t n = read(peer->out, chunk, CHUNK);
		if (n == 0)
			return "it ended without an answer";
		if (n < 0)
			continue;
		size_t before = peer->pending.length;
		heddle_text_addn(&peer->pending, chunk, (size_t)n);
		if (take_line(peer, before, answer))
			return NULL;
		if (peer->pending.length > MOST_ANSWER)
			return "an answer of more than 1 GiB";
	}
}

int heddle_peer_ask(heddle_peer *peer, heddle_arena *arena, const char *line, size_t length, double timeout,
		    heddle_text *answer, const char **why)
{
	/* A peer that does not read must not end us. */
	struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
	if (take_line(peer, 0, answer)) {
		*why = "it said more than it was asked";
		return -1;
	}
	sigaction(SIGPIPE, &ignore, &before);
	*why = exchange(peer, arena, line, length, timeout, answer);
	sigaction(SIGPIPE, &before, NULL);
	if (!*why)
		return 0;
	if (strncmp(*why, "no answer", 9) != 0) /* give a dying process the time to say why */
		usleep(20000);
	*why = reason_of(peer, arena, *why);
	return -1;
}
