/* heddle serve-run: run what others send, line by line.
 * SPDX-License-Identifier: MIT
 */
#include "cli/cli.h"

#include "harness/level.h"
#include "harness/serve.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* "device" or "opencl-cpu:pocl": what can run, and not only compile. */
static int check_level(heddle_cli *cli, const char *level)
{
	for (const heddle_runner *const *r = heddle_runners; level && *r; r++) {
		const size_t n = strlen((*r)->level);
		if (strcmp((*r)->level, "compile") && strcmp((*r)->backend, "*") && !strncmp(level, (*r)->level, n) &&
		    (!level[n] || (level[n] == ':' && !strcmp(level + n + 1, (*r)->name))))
			return 0;
	}
	if (!level)
		return 0;
	heddle_error(cli->ctx, 915, NULL, "nothing runs at a level '%s'", level);
	return heddle_note(cli->ctx, NULL, "emulate, opencl-cpu or device; 'heddle doctor' names the runners of each, as in opencl-cpu:pocl"), -1;
}

int heddle_cli_serve_run(heddle_cli *cli)
{
	const char *level = heddle_cli_value(cli, HEDDLE_OPTION_LEVEL);
	if (check_level(cli, level) < 0)
		return -1;
	/* Answers alone go to standard output, whatever a driver prints there. */
	int answers = dup(STDOUT_FILENO);
	FILE *out = answers >= 0 ? fdopen(answers, "w") : NULL;
	if (!out || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
		int reason = errno;
		if (out)
			fclose(out);
		return heddle_error(cli->ctx, 902, NULL, "cannot write to standard output: %s", strerror(reason));
	}
	int result = heddle_serve(cli->ctx, stdin, out, level);
	dup2(answers, STDOUT_FILENO);
	fclose(out);
	return result;
}
