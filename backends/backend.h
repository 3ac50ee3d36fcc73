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
/* What is taken when no target is named, NULL-ended: for sources, for plans, for tests, and where there is no GPU to run on. */
extern const char *const heddle_usual_targets[], *const heddle_usual_plan[], *const heddle_usual_tests[], *const heddle_usual_host[];
/* Names of the dialects that can be found, sorted, NULL-ended. */
const char *const *heddle_dialect_names(heddle_ctx *ctx);

/* What the pass `simplify` must know of a language. */
typedef struct heddle_language {
	bool vector_arithmetic; /* + and exp() on vectors (OpenCL C); else vectors are only loaded, stored, taken apart */
	bool unaligned_vectors; /* a vector access needs the alignment of its element only (vload) */
	bool zips;		/* members of two vectors in turn, or every second one of them, are one operation */
	bool copies;		/* it says of how many copies of its body a loop is to be made */
	bool shuffles;		/* warp shuffles exist */
	int max_vector;		/* members of the widest vector type (8 or 16) */
	int max_bytes;		/* of the widest access; 0: any */
} heddle_language;
heddle_language heddle_dialect_language(const heddle_dialect *dialect);
/* The same for a chip: vectors are zipped by vector units alone, a thread among many has no registers for it. */
heddle_language heddle_target_language(const heddle_target *target);

/* ---- variants ------------------------------------------------------------------------------------------------------ */

/* One of several programs of a definition for one target. */
typedef struct heddle_variant {
	heddle_program *program;
	const char *why; /* it is there, in words for readers of the source; NULL: by the sizes that it is for */
} heddle_variant;

/* The programs behind one entry, which runs the first one whose conditions hold: the ranges and divisors of its sizes, and the
 * alignments that it asks of base addresses (heddle_buffer_alignments).  All have the definition's inputs, outputs and scalars,
 * and its sizes under the same names; temporaries and launches are their own. */
typedef struct heddle_variants {
	heddle_arena *arena; /* of the list; the programs have their own */
	int n;
	heddle_variant *item;
} heddle_variants;

/* One program as a list that nobody frees. */
#define HEDDLE_ONE_VARIANT(its_program) (&(const heddle_variants){.n = 1, .item = &(heddle_variant){.program = (its_program)}})

void heddle_variants_begin(heddle_variants *variants);
/* Put a program, which is given away, before the first one that is for all of its sizes and more.  A second one for the same
 * sizes is left out. */
void heddle_variants_add(heddle_variants *variants, heddle_program *program);
/* After the last: a program without vectors for those whose vectors need aligned addresses, where no other is for the same
 * sizes; launches get names of their own ("NAME_v1_0").  0, or -1 with E0950. */
int heddle_variants_finish(heddle_ctx *ctx, const heddle_target *target, heddle_variants *variants);
void heddle_variants_free(heddle_variants *variants);

/* The values of size `i` for which there may be a variant: the least and greatest, and what divides all. */
heddle_program_size heddle_variants_size(const heddle_variants *variants, int i);
/* The variant takes everything that any of them takes, by its sizes. */
bool heddle_variants_is_widest(const heddle_variants *variants, int i);
/* A size whose value extent (stride) `k` of this parameter has in every variant; -1: there is none. */
int heddle_variants_extent_size(const heddle_variants *variants, const char *buffer, bool stride, int k);
/* The variant that the entry runs for these sizes when every base address is `misalign` elements of its tensor past one that
 * any vector can have; -1: none. */
int heddle_variants_choose(const heddle_variants *variants, const heddle_target *target, const int64_t *size, int misalign);

/* ---- printing ----------------------------------------------------------------------------------------------------- */

typedef struct heddle_emit_options {
	const char *base;	     /* file name without suffix: "matmul__cuda_h200"; the header is HEADER.h */
	const char *header;	     /* "matmul" */
	const char *definition_text; /* the .tc text for the leading comment; may be NULL */
	const char *source_name;     /* "matmul.tc", for line maps; may be NULL */
} heddle_emit_options;

/* Whether no entry can have this name: C or C++ or their headers use it. */
bool heddle_entry_is_reserved(const char *name);

/* The whole source file of a definition's programs: SPDX line, definition, sizes, descriptor, config, prelude (only the parts used),
 * kernels, host entry.  0 or -1 with a diagnostic. */
int heddle_source_print(heddle_ctx *ctx, const heddle_target *target, const heddle_variants *variants,
			const heddle_emit_options *options, heddle_text *out);
/* The file that holds the host entry, for languages whose source is for the device alone; nothing for the others.  Files are
 * named `base` and heddle_dialect_suffix / heddle_dialect_host_suffix (backends/dialect.h). */
int heddle_host_print(heddle_ctx *ctx, const heddle_target *target, const heddle_variants *variants,
		      const heddle_emit_options *options, heddle_text *out);
/* The C header for all targets of a definition. */
int heddle_header_print(heddle_ctx *ctx, const heddle_variants *variants, const heddle_emit_options *options, heddle_text *out);

#endif
