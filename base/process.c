/* Running commands and functions in child processes.
 * SPDX-License-Identifier: MIT
 */
#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { DEFAULT_LIMIT = 16 << 20, CHUNK = 65536 };

static bool names(const char *entry, const char *name, size_t length)
{
	return strncmp(entry, name, length) == 0 && entry[length] == '=';
}

/* Our environment with `change` applied; malloc'ed array of borrowed strings. */
static char **environment_with(const char *const *change)
{
	size_t n = 0, n_change = 0, n_out = 0;
	while (environ[n])
		n++;
	while (change && change[n_change])
		n_change++;
	char **out = heddle_xalloc((n + n_change + 1) * sizeof(*out));
	for (size_t i = 0; i < n; i++) {
		bool replaced = false;
		for (size_t j = 0; j < n_change; j++)
			replaced = replaced || names(environ[i], change[j], strcspn(change[j], "="));
		if (!replaced)
			out[n_out++] = environ[i];
	}
	for (size_t j = 0; j < n_change; j++)
		if (strchr(change[j], '='))
			memcpy(&out[n_out++], &change[j], sizeof(char *));
	out[n_out] = NULL;
	return out;
}

void heddle_process_follow(int parent)
{
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent) /* it was killed before */
		_exit(127);
}

/* The child's side: only functions that are safe after fork.  Writes errno to `report` when it fails. */
static void child_exec(const heddle_process *process, char **environment, const int in[2], const int out[2],
		       const int err[2], int report, pid_t parent)
{
	heddle_process_follow(parent);
	bool fine = dup2(in[0], 0) >= 0 && dup2(out[1], 1) >= 0 && dup2(err[1], 2) >= 0;
	if (fine && (!process->folder || chdir(process->folder) == 0)) {
		char *const *argv;
		memcpy(&argv, &process->argv, sizeof(argv));
		execvpe(process->argv[0], argv, environment);
	}
	int code = errno;
	if (write(report, &code, sizeof(code)) < 0)
		_exit(126);
	_exit(127);
}

/* Move what is readable into `text`; false at the end of file. */
static bool drain(int fd, heddle_text *text, size_t limit)
{
	char chunk[CHUNK];
	ssize_t n = read(fd, chunk, sizeof(chunk));
	if (n < 0)
		return errno == EINTR || errno == EAGAIN;
	if (n == 0)
		return false;
	if (text->length < limit)
		heddle_text_addn(text, chunk, (size_t)n < limit - text->length ? (size_t)n : limit - text->length);
	return true;
}

/* Feed stdin and read both outputs until they close or time is over; false: time is over. */
static bool pump(heddle_process *process, int in, int out, int err, double end)
{
	size_t limit = process->limit ? process->limit : (size_t)DEFAULT_LIMIT, sent = 0;
	if (!process->input || process->input_length == 0) {
		close(in);
		in = -1;
	}
	bool in_time = true;
	while (in >= 0 || out >= 0 || err >= 0) {
		struct pollfd poll_set[3] = { { in, POLLOUT, 0 }, { out, POLLIN, 0 }, { err, POLLIN, 0 } };
		double left = end - heddle_now();
		if (left <= 0) {
			in_time = false;
			break;
		}
		int ready = poll(poll_set, 3, left > 1000 ? 1000000 : (int)(left * 1000) + 1);
		if (ready < 0 && errno != EINTR)
			break;
		if (ready <= 0)
			continue;
		if (in >= 0 && poll_set[0].revents) {
			ssize_t n = write(in, (const char *)process->input + sent, process->input_length - sent);
			if (n > 0)
				sent += (size_t)n;
			if ((n < 0 && errno != EAGAIN && errno != EINTR) || sent == process->input_length) {
				close(in);
				in = -1;
			}
		}
		if (out >= 0 && poll_set[1].revents && !drain(out, &process->output, limit)) {
			close(out);
			out = -1;
		}
		if (err >= 0 && poll_set[2].revents && !drain(err, &process->error, limit)) {
			close(err);
			err = -1;
		}
	}
	const int open_fd[3] = { in, out, err };
	for (int i = 0; i < 3; i++)
		if (open_fd[i] >= 0)
			close(open_fd[i]);
	return in_time;
}

/* Wait for `pid` until `end`, then kill its group; true when it ended by itself. */
static bool wait_until(pid_t pid, double end, bool in_time, int *status)
{
	for (useconds_t nap = 200; in_time; nap = nap < 20000 ? nap * 2 : nap) {
		pid_t got = waitpid(pid, status, WNOHANG);
		if (got == pid)
			return true;
		if (got < 0 && errno != EINTR)
			return true;
		if (heddle_now() > end)
			break;
		usleep(nap);
	}
	kill(-pid, SIGKILL);
	kill(pid, SIGKILL);
	while (waitpid(pid, status, 0) < 0 && errno == EINTR)
		;
	return false;
}

static void close_all(int n, int (*pipes)[2])
{
	for (int i = 0; i < n; i++) {
		close(pipes[i][0]);
		close(pipes[i][1]);
	}
}

int heddle_process_run(heddle_ctx *ctx, heddle_process *process)
{
	int pipes[4][2]; /* stdin, stdout, stderr, report of exec */
	for (int i = 0; i < 4; i++)
		if (pipe2(pipes[i], O_CLOEXEC) != 0) {
			int reason = errno;
			close_all(i, pipes);
			return heddle_error(ctx, 801, NULL, "no pipe for %s: %s", process->argv[0], strerror(reason));
		}
	char **environment = environment_with(process->environment);
	double start = heddle_now(), end = start + (process->timeout > 0 ? process->timeout : 60);
	const pid_t parent = getpid();
	pid_t pid = fork();
	if (pid == 0)
		child_exec(process, environment, pipes[0], pipes[1], pipes[2], pipes[3][1], parent);
	int fork_reason = errno;
	free(environment);
	if (pid < 0) {
		close_all(4, pipes);
		return heddle_error(ctx, 801, NULL, "cannot start %s: %s", process->argv[0], strerror(fork_reason));
	}
	close(pipes[0][0]);
	close(pipes[1][1]);
	close(pipes[2][1]);
	close(pipes[3][1]);
	fcntl(pipes[0][1], F_SETFL, O_NONBLOCK);
	/* A child that does not read must not end us. */
	struct sigaction ignore = { .sa_handler = SIG_IGN }, before;
	sigaction(SIGPIPE, &ignore, &before);
	int reason = 0;
	bool failed = read(pipes[3][0], &reason, sizeof(reason)) == (ssize_t)sizeof(reason);
	close(pipes[3][0]);
	bool in_time = pump(process, pipes[0][1], pipes[1][0], pipes[2][0], end);
	int status = 0;
	process->timed_out = !wait_until(pid, end, in_time, &status);
	sigaction(SIGPIPE, &before, NULL);
	process->seconds = heddle_now() - start;
	process->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	process->status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	if (failed)
		return heddle_error(ctx, 801, NULL, "cannot start %s: %s", process->argv[0], strerror(reason));
	return 0;
}

void heddle_process_free(heddle_process *process)
{
	heddle_text_free(&process->output);
	heddle_text_free(&process->error);
}

void heddle_process_describe(const heddle_process *process, heddle_text *out)
{
	if (process->timed_out)
		heddle_text_printf(out, "no end after %.0f s", process->timeout > 0 ? process->timeout : 60.0);
	else if (process->signal)
		heddle_text_printf(out, "killed by signal %d (%s)", process->signal, strsignal(process->signal));
	else
		heddle_text_printf(out, "exit code %d", process->status);
}

static bool executable(const char *path)
{
	struct stat info;
	return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0;
}

const char *heddle_process_find(heddle_arena *arena, const char *name)
{
	if (strchr(name, '/'))
		return executable(name) ? heddle_arena_strdup(arena, name) : NULL;
	const char *path = getenv("PATH");
	for (const char *p = path ? path : "/usr/bin:/bin"; *p;) {
		size_t n = strcspn(p, ":");
		const char *full = heddle_arena_printf(arena, "%.*s/%s", n ? (int)n : 1, n ? p : ".", name);
		if (executable(full))
			return full;
		p += n + (p[n] == ':');
	}
	return NULL;
}

const char *heddle_process_first_line(heddle_ctx *ctx, heddle_arena *arena, const char *const *argv)
{
	if (!heddle_process_find(arena, argv[0]))
		return NULL;
	heddle_process process = { .argv = argv, .timeout = 20 };
	const char *line = NULL;
	if (heddle_process_run(ctx, &process) == 0 && process.status == 0) {
		const char *text = process.output.length ? heddle_text_str(&process.output) : heddle_text_str(&process.error);
		text += strspn(text, "\n ");
		line = heddle_arena_strndup(arena, text, strcspn(text, "\n"));
	}
	heddle_process_free(&process);
	return line;
}

/* What the copy does: no output but the pipe, no exit handlers of drivers. */
static void child_call(void (*function)(void *data, heddle_text *out), void *data, int fd, pid_t parent)
{
	heddle_process_follow(parent);
	int nowhere = open("/dev/null", O_RDWR);
	if (nowhere >= 0) {
		dup2(nowhere, 0);
		dup2(nowhere, 1);
		dup2(nowhere, 2);
	}
	heddle_text text = { 0 };
	function(data, &text);
	for (size_t sent = 0; sent < text.length;) {
		ssize_t n = write(fd, text.data + sent, text.length - sent);
		if (n < 0 && errno != EINTR)
			_exit(1);
		if (n > 0)
			sent += (size_t)n;
	}
	_exit(0);
}

int heddle_child_start(heddle_child *child, heddle_arena *arena, void (*function)(void *data, heddle_text *out), void *data,
		       const char **why)
{
	int fd[2];
	*child = (heddle_child){ 0 };
	if (pipe2(fd, O_CLOEXEC) != 0) {
		*why = heddle_arena_printf(arena, "no pipe: %s", strerror(errno));
		return -1;
	}
	fflush(NULL);
	const pid_t parent = getpid();
	pid_t pid = fork();
	if (pid == 0)
		child_call(function, data, fd[1], parent);
	close(fd[1]);
	if (pid < 0) {
		*why = heddle_arena_printf(arena, "no child process: %s", strerror(errno));
		close(fd[0]);
		return -1;
	}
	*child = (heddle_child){ pid, fd[0] };
	return 0;
}

int heddle_child_end(heddle_child *child, heddle_arena *arena, double timeout, heddle_text *out, const char **why)
{
	const double end = timeout > 0 ? heddle_now() + timeout : HUGE_VAL;
	heddle_process reader = { .argv = NULL };
	int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC), status = 0;
	bool in_time = pump(&reader, nothing, child->pipe, -1, end);
	heddle_text_addn(out, heddle_text_str(&reader.output), reader.output.length);
	heddle_process_free(&reader);
	in_time = wait_until(child->pid, end, in_time, &status);
	*child = (heddle_child){ 0 };
	if (!in_time)
		*why = heddle_arena_printf(arena, "no end after %.0f s", timeout);
	else if (WIFSIGNALED(status))
		*why = heddle_arena_printf(arena, "killed by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status) != 0)
		*why = heddle_arena_printf(arena, "exit code %d", WEXITSTATUS(status));
	else
		return 0;
	return -1;
}

int heddle_process_call(heddle_arena *arena, double timeout, void (*function)(void *data, heddle_text *out), void *data,
			heddle_text *out, const char **why)
{
	heddle_child child;
	return heddle_child_start(&child, arena, function, data, why) == 0 ?
		       heddle_child_end(&child, arena, timeout, out, why) : -1;
}
