/* What the emulator knows of the languages that it takes, and how their text is made fit for a host C++ compiler.  The shim that
 * the text is compiled against is core.h and half.h; harness/emulate*.c runs the result.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_EMULATOR_TEXT_H
#define HEDDLE_EMULATOR_TEXT_H

#include "base/base.h"

/* Guards between shared arrays, left out when variables are listed. */
#define HEDDLE_EMULATE_GUARD "heddle_guard_"

/* X(backend): the rows of heddle_emulated. */
#define HEDDLE_EACH_EMULATED(X) \
	X(cuda)                 \
	X(hip)

/* A backend whose text the emulator takes. */
typedef struct heddle_emulated {
	const char *backend;
	const char *options; /* of the manifest: their -D, -U and -I are for the host compiler, too */
	const char *flag;    /* for the shim; NULL: none */
	const char *begin;   /* text before the source */
} heddle_emulated;

extern const heddle_emulated heddle_emulated_rows[]; /* ended by a NULL backend */
/* NULL: the emulator does not take it. */
const heddle_emulated *heddle_emulated_find(const char *backend);

/* A header that the text may name and that the shim serves: a file with `text`. */
typedef struct heddle_emulated_header {
	const char *name; /* "folder/name.h", NULL: the end */
	const char *text;
} heddle_emulated_header;

extern const heddle_emulated_header heddle_emulated_headers[];

/* The length of the vendor library's header that `text`, behind the < or " of an #include, names; 0: it is none that Heddle lacks.
 * `host`: those count that only host code includes. */
size_t heddle_foreign_header(const char *text, bool host);

/* Is it a name of the languages or of the vendors' libraries that the shim lacks (names.txt)? */
bool heddle_emulate_is_vendors(const char *name);
/* What half.h stands for: a text includes these for its 16-bit types. */
#define HEDDLE_EMULATE_HALF_HEADERS "cuda_fp16.h or cuda_bf16.h"

/* Append `source` to `out`, with as many lines: shared arrays are placed in sections of their own, dynamic shared memory is
 * bound to the emulator's, host functions that use the vendor's runtime are blanked, inline assembly becomes a name that no
 * compiler knows. */
void heddle_emulate_rewrite(const char *source, heddle_text *out);
/* The text without the host functions that use the vendor's runtime, line for line, for compilers that take device code only.
 * In `arena`. */
const char *heddle_emulate_device_text(heddle_arena *arena, const char *source);

#endif
