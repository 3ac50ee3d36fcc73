/* heddle serve-run: run what others send, line by line.
 * SPDX-License-Identifier: MIT
 */
#include "cli/kernel.h"

#include "harness/serve.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

int heddle_cli_serve_run(heddle_cli *cli)
{
	const char *level = heddle_cli_value(cli, HEDDLE_OPTION_LEVEL);
	if (level && heddle_cli_check_run_level(cli, level) < 0)
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
