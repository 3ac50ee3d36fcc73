/* The program heddle: a verb of the library on a terminal.
 * SPDX-License-Identifier: MIT
 */
#include <heddle/heddle.h>

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { UNWRITABLE = 2, LIMIT = 5 };

enum { PLAIN_INTERVAL = 10 };

/* On a terminal one line that overwrites itself; elsewhere a plain line every few seconds. */
struct progress {
	bool terminal;
	bool shown;
	time_t last;
};

/* A bar before a text that begins with "3 of 12"; "" before others. */
static const char *bar_of(const char *text, char buffer[64])
{
	enum { WIDTH = 20 };
	int done = 0, total = 0;
	*buffer = 0;
	if (sscanf(text, "%d of %d", &done, &total) != 2 || total <= 0 || done < 0 || done > total)
		return buffer;
	const int full = (int)((long long)WIDTH * done / total);
	snprintf(buffer, 64, "[%.*s%.*s] ", full, "####################", WIDTH - full, "....................");
	return buffer;
}

static void show_progress(void *user, const char *text)
{
	struct progress *progress = user;
	time_t now = time(NULL);
	if (progress->terminal) {
		char bar[64];
		fprintf(stderr, "\r\033[K%s%.100s", bar_of(text, bar), text);
	} else if (now - progress->last >= PLAIN_INTERVAL) {
		fprintf(stderr, "%s\n", text);
		progress->last = now;
	}
	fflush(stderr);
	progress->shown = true;
}

static bool wants_colour(void)
{
	const char *no = getenv("NO_COLOR"), *terminal = getenv("TERM");
	return isatty(STDERR_FILENO) && !(no && *no) && terminal && strcmp(terminal, "dumb") != 0;
}

int main(int argc, char **argv)
{
	/* A file that grows beyond its limit shall be an error to report, as a full disk is. */
	signal(SIGXFSZ, SIG_IGN);
	heddle_ctx *ctx = heddle_ctx_new();
	const char **words = calloc((size_t)argc + 2, sizeof(*words));
	if (!ctx || !words) {
		fputs("heddle: out of memory\n", stderr);
		return LIMIT;
	}
	int n = 0;
	if (wants_colour())
		words[n++] = "--colour"; /* before the verb: for all of them */
	for (int i = 1; i < argc; i++)
		words[n++] = argv[i];

	struct progress progress = {.terminal = isatty(STDERR_FILENO) == 1, .last = time(NULL)};
	heddle_ctx_set_progress(ctx, show_progress, &progress);
	char *out = NULL, *err = NULL;
	int code = heddle_verb(ctx, n, words, &out, &err);
	if (progress.terminal && progress.shown)
		fputs("\r\033[K", stderr);
	if (err)
		fputs(err, stderr);
	if (out)
		fputs(out, stdout);
	if (fflush(stdout) != 0 || ferror(stdout)) {
		perror("heddle: cannot write the output");
		code = code ? code : UNWRITABLE;
	}
	heddle_string_free(out);
	heddle_string_free(err);
	heddle_ctx_free(ctx);
	free(words);
	return code;
}
