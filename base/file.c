/* Files: read whole, written whole or not at all, private temporary folders.
 * SPDX-License-Identifier: MIT
 */
#include "base/ctx.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LARGEST_FILE = 64 << 20, PIPE_WAIT_MS = 3000 };

static char *read_stream(heddle_ctx *ctx, const char *path, FILE *stream, size_t *length)
{
	heddle_text text = {0};
	char buffer[16384];
	size_t n;
	errno = 0;
	while ((n = fread(buffer, 1, sizeof(buffer), stream)) > 0) {
		heddle_text_addn(&text, buffer, n);
		if (text.length > LARGEST_FILE) {
			heddle_error(ctx, 901, NULL, "cannot read '%s': larger than 64 MiB", path);
			heddle_text_free(&text);
			return NULL;
		}
	}
	if (ferror(stream)) {
		heddle_error(ctx, 901, NULL, "cannot read '%s': %s", path, strerror(errno));
		heddle_text_free(&text);
		return NULL;
	}
	heddle_text_addn(&text, "", 0);
	if (length)
		*length = text.length;
	return text.data;
}

static void remember(heddle_ctx *ctx, const char *path)
{
	for (int i = 0; i < ctx->n_read; i++)
		if (!strcmp(ctx->read[i], path))
			return;
	HEDDLE_PUSH(ctx->arena, ctx->read, ctx->n_read, (const char *)heddle_arena_strdup(ctx->arena, path));
}

const char *const *heddle_files_read(const heddle_ctx *ctx)
{
	const char **list = HEDDLE_NEW_ARRAY(ctx->arena, const char *, ctx->n_read + 1);
	for (int i = 0; i < ctx->n_read; i++)
		list[i] = ctx->read[i];
	return list;
}

FILE *heddle_stream_open(const char *path)
{
	struct stat what;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return NULL;
	/* a pipe whose other end nobody opens would be waited for without end */
	struct pollfd ready = {.fd = fd, .events = POLLIN};
	if (fstat(fd, &what) == 0 && S_ISFIFO(what.st_mode) && poll(&ready, 1, PIPE_WAIT_MS) == 0) {
		close(fd);
		errno = ETIMEDOUT;
		return NULL;
	}
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
	FILE *stream = fdopen(fd, "rb");
	if (!stream)
		close(fd);
	return stream;
}

char *heddle_file_read(heddle_ctx *ctx, const char *path, size_t *length)
{
	FILE *stream = heddle_stream_open(path);
	if (!stream) {
		heddle_error(ctx, 901, NULL, "cannot read '%s': %s", path, strerror(errno));
		return NULL;
	}
	size_t n = 0;
	remember(ctx, path);
	char *data = read_stream(ctx, path, stream, &n);
	fclose(stream);
	if (length)
		*length = n;
	else if (data && strlen(data) < n) {
		int line = 1;
		for (const char *s = data; *s; s++)
			line += *s == '\n';
		heddle_error(ctx, 1, NULL, "%s:%d: byte 0x00: this is no text", path, line);
		free(data);
		data = NULL;
	}
	return data;
}

static int write_all(int fd, const char *data, size_t length)
{
	while (length) {
		ssize_t n = write(fd, data, length);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		data += n;
		length -= (size_t)n;
	}
	return 0;
}

/* Devices, pipes and the like are written in place: a rename would replace them. */
static int write_in_place(const char *path, const void *data, size_t length)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	int result = write_all(fd, data, length);
	int why = errno;
	if (close(fd) < 0 && result == 0)
		return -1;
	errno = why;
	return result;
}

static int write_and_rename(const char *path, const void *data, size_t length)
{
	heddle_text name = {0};
	int fd = -1;
	for (int i = 0; i < 100 && fd < 0; i++) {
		heddle_text_clear(&name);
		heddle_text_printf(&name, "%s.%ld.%d.tmp", path, (long)getpid(), i);
		fd = open(name.data, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (fd < 0 && errno != EEXIST)
			break;
	}
	int result = fd < 0 ? -1 : 0, why = errno;
	if (fd >= 0) {
		if (write_all(fd, data, length) < 0 || fsync(fd) < 0)
			result = -1, why = errno;
		if (close(fd) < 0 && result == 0)
			result = -1, why = errno;
		if (result == 0 && rename(name.data, path) < 0)
			result = -1, why = errno;
		if (result < 0)
			unlink(name.data);
	}
	heddle_text_free(&name);
	errno = why;
	return result;
}

int heddle_file_write(heddle_ctx *ctx, const char *path, const void *data, size_t length)
{
	struct stat status;
	int result;
	if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
		result = write_in_place(path, data, length);
	} else {
		/* Through a symbolic link to the file that it names, so that the link stays. */
		char *real = realpath(path, NULL);
		result = write_and_rename(real ? real : path, data, length);
		int why = errno;
		free(real);
		errno = why;
	}
	if (result < 0)
		return heddle_error(ctx, 902, NULL, "cannot write '%s': %s", path, strerror(errno));
	return 0;
}

int heddle_dir_make(heddle_ctx *ctx, const char *path)
{
	char *copy = heddle_xstrdup(path);
	int result = 0;
	for (char *p = copy + (*copy == '/'); result == 0; p++) {
		if (*p && *p != '/')
			continue;
		char end = *p;
		*p = '\0';
		struct stat status;
		if (*copy && mkdir(copy, 0777) < 0 && !(errno == EEXIST && stat(copy, &status) == 0 && S_ISDIR(status.st_mode)))
			result = heddle_error(ctx, 902, NULL, "cannot make the folder '%s': %s", copy,
					      errno == EEXIST ? "a file of this name exists" : strerror(errno));
		*p = end;
		if (!end)
			break;
	}
	free(copy);
	return result;
}

int heddle_dir_temporary(heddle_ctx *ctx, char buffer[512])
{
	const char *base = getenv("TMPDIR");
	if (!base || !*base)
		base = "/tmp";
	int n = snprintf(buffer, 512, "%s/heddle-XXXXXX", base);
	if (n < 0 || n >= 512)
		return heddle_error(ctx, 902, NULL, "cannot make a temporary folder: the name in TMPDIR is too long");
	if (!mkdtemp(buffer))
		return heddle_error(ctx, 902, NULL, "cannot make a temporary folder '%s': %s", buffer, strerror(errno));
	return 0;
}

int heddle_lock_take(const char *name)
{
	const char *base = getenv("TMPDIR");
	char path[512];
	int n = snprintf(path, sizeof(path), "%s/heddle-%s-%ld.lock", base && *base ? base : "/tmp", name, (long)getuid());
	int lock = n < 0 || (size_t)n >= sizeof(path) ? -1 : open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	while (lock >= 0 && flock(lock, LOCK_EX) != 0)
		if (errno != EINTR) {
			close(lock);
			return -1;
		}
	return lock;
}

void heddle_lock_drop(int lock)
{
	if (lock >= 0)
		close(lock);
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
	(void)status;
	(void)kind;
	(void)walk;
	remove(path);
	return 0;
}

void heddle_dir_remove(const char *path)
{
	nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}
