/* Backends: dialects (how a language writes things, read from YAML), the one C-like printer, and the list of drivers.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_BACKEND_H
#define HEDDLE_BACKEND_H

#include "arch/descriptor.h"
#include "base/base.h"
#include "model/program.h"

typedef struct heddle_dialect heddle_dialect; /* the table of words: backends/dialect.h */

/* A backend and a chip: "cuda:h200".  Resolved by heddle_target_parse. */
typedef struct heddle_target {
	const char *text;    /* normalised: "cuda:h200" */
	const char *backend; /* "cuda" */
	const heddle_dialect *dialect;
	const heddle_descriptor *descriptor;
} heddle_target;

/* "BACKEND:CHIP" or "CHIP" with any alias.  In the context's arena.  0, or -1 with E0401.. (did-you-mean). */
int heddle_target_parse(heddle_ctx *ctx, const char *text, heddle_target *target);
/* Names of the dialects that can be found, sorted, NULL-ended. */
const char *const *heddle_dialect_names(heddle_ctx *ctx);

/* What the pass `simplify` must know of a language. */
typedef struct heddle_language {
	bool vector_arithmetic; /* + and exp() on vectors (OpenCL C); else vectors are only loaded, stored, taken apart */
	bool unaligned_vectors; /* a vector access needs the alignment of its element only (vload) */
	bool shuffles;		/* warp shuffles exist */
	int max_vector;		/* members of the widest vector type (4 or 16) */
} heddle_language;
heddle_language heddle_dialect_language(const heddle_dialect *dialect);

/* ---- printing ----------------------------------------------------------------------------------------------------- */

typedef struct heddle_emit_options {
	const char *base;	     /* file name without suffix: "matmul__cuda_h200"; the header is HEADER.h */
	const char *header;	     /* "matmul" */
	const char *definition_text; /* the .tc text for the leading comment; may be NULL */
	const char *source_name;     /* "matmul.tc", for line maps; may be NULL */
} heddle_emit_options;

/* Whether no entry can have this name: C or C++ or their headers use it. */
bool heddle_entry_is_reserved(const char *name);

/* The whole source file for a program: SPDX line, definition, sizes, descriptor, config, prelude (only the parts used),
 * kernels, host entry.  0 or -1 with a diagnostic. */
int heddle_source_print(heddle_ctx *ctx, const heddle_target *target, const heddle_program *program,
			const heddle_emit_options *options, heddle_text *out);
/* The file that holds the host entry, for languages whose source is for the device alone; nothing for the others.  Files are
 * named `base` and heddle_dialect_suffix / heddle_dialect_host_suffix (backends/dialect.h). */
int heddle_host_print(heddle_ctx *ctx, const heddle_target *target, const heddle_program *program,
		      const heddle_emit_options *options, heddle_text *out);
/* The C header for all targets of a definition. */
int heddle_header_print(heddle_ctx *ctx, const heddle_program *program, const heddle_emit_options *options, heddle_text *out);

#endif
