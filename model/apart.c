/* A verdict from a copy of the process: isl's objects belong to one context, which one thread alone may use, but a copy of the process
 * has all of them, and the system copies only the pages that either of the two goes on to write.
 * SPDX-License-Identifier: MIT
 */
#include "model/apart.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int processors(void)
{
	cpu_set_t set;
	return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

bool heddle_apart_start(heddle_apart *apart, const char *(*work)(void *user), void *user)
{
	int end[2];
	*apart = (heddle_apart){0};
	if (processors() < 2 || pipe(end) != 0)
		return false;
	const pid_t child = fork();
	if (child == 0) {
		signal(SIGPIPE, SIG_DFL); /* nobody reads any more: this process may end */
		close(end[0]);
		const char *said = work(user);
		const size_t n = said ? strlen(said) : 0;
		/* less than a pipe holds, so all of it at once; nothing of this copy is flushed or freed */
		_exit(n > 0 && write(end[1], said, n) == (ssize_t)n ? 0 : 1);
	}
	close(end[1]);
	if (child < 0) {
		close(end[0]);
		return false;
	}
	*apart = (heddle_apart){child, end[0]};
	return true;
}

const char *heddle_apart_end(heddle_apart *apart, heddle_arena *arena)
{
	char said[256];
	size_t n = 0;
	int status = 1;
	ssize_t more;
	while ((more = read(apart->pipe, said + n, sizeof said - 1 - n)) > 0 || (more < 0 && errno == EINTR))
		n += more > 0 ? (size_t)more : 0;
	close(apart->pipe);
	while (waitpid(apart->child, &status, 0) < 0 && errno == EINTR)
		;
	*apart = (heddle_apart){0};
	said[n] = '\0';
	return n > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0 ? heddle_arena_strdup(arena, said) : NULL;
}
