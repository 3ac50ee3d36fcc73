/* Heddle: layers in tensor notation to CUDA, HIP and OpenCL C kernels.  The whole public C API.
 *
 * Thread safety: one heddle_ctx per thread; no global state.  Strings are UTF-8.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_HEDDLE_H
#define HEDDLE_HEDDLE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HEDDLE_VERSION "0.1.0"

/* Everything that one user of the library owns: diagnostics, descriptors found, search paths. */
typedef struct heddle_ctx heddle_ctx;

/* A new context, NULL without memory; free with heddle_ctx_free (which takes NULL and returns NULL). */
heddle_ctx *heddle_ctx_new(void);
heddle_ctx *heddle_ctx_free(heddle_ctx *ctx);
/* Search `folder` for descriptors and dialects before those compiled in.  Copied.  0 or negative. */
int heddle_ctx_add_path(heddle_ctx *ctx, const char *folder);
/* The numeric policy of all definitions, "ieee" or "relaxed", whatever they say themselves; NULL: what they say.  0, or negative
 * with a message. */
int heddle_ctx_set_policy(heddle_ctx *ctx, const char *policy);
/* All diagnostics so far as text, oldest first; valid until the next call on `ctx`. */
const char *heddle_ctx_messages(heddle_ctx *ctx);
/* Lines about work that takes long ("12/40 cases"), as it goes: `line` is called with each, without a newline, until set to
 * NULL. */
void heddle_ctx_set_progress(heddle_ctx *ctx, void (*line)(void *user, const char *text), void *user);
const char *heddle_version(void);

/* Run one verb exactly as the program does: argv[0] is the verb ("emit"), results go to `*out` and reports to `*err`, both
 * malloc'ed strings to be freed with heddle_string_free (either may be NULL: not wanted).  With "--json" among the
 * arguments `*out` is one JSON document.  Returns the exit code: 0 fine, 1 a test or bench failed, 2 usage, 3 source error,
 * 4 a tool, driver or required level is missing, 5 a limit or timeout, 70 internal error, 77 everything skipped. */
int heddle_verb(heddle_ctx *ctx, int argc, const char *const *argv, char **out, char **err);
void heddle_string_free(char *string);

#ifdef __cplusplus
}
#endif
#endif
