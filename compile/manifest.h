/* The manifest: what anyone needs to compile and launch a source (DESIGN section 10), as a struct and as JSON.
 *
 * The harness levels emulate, opencl-cpu, compile and device take a manifest and its source and nothing else, so a
 * hand-written kernel is tested like a generated one.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_MANIFEST_H
#define HEDDLE_MANIFEST_H

#include "backends/backend.h"
#include "base/base.h"

/* Integer formula over sizes: + - * / % min(,) max(,) and parentheses; / rounds toward zero.  Kept as text. */
typedef const char *heddle_formula;

typedef enum heddle_argument_role {
	HEDDLE_ARGUMENT_INPUT,
	HEDDLE_ARGUMENT_OUTPUT,
	HEDDLE_ARGUMENT_INOUT,
	HEDDLE_ARGUMENT_TEMPORARY, /* part of the workspace at `offset` */
	HEDDLE_ARGUMENT_SCALAR,	   /* by value */
	HEDDLE_ARGUMENT_SIZE,	   /* by value */
} heddle_argument_role;

typedef struct heddle_argument {
	const char *name;
	heddle_argument_role role;
	heddle_type type;
	int rank;
	heddle_formula *shape;	 /* [rank] */
	heddle_formula *strides; /* [rank] in elements; NULL: dense, row-major */
	int align;		 /* bytes */
	heddle_formula offset;	 /* temporary: bytes into the workspace */
	const char *low, *high;	 /* contents of a test's input: numbers, or formulas over the sizes; NULL: what suits the type */
	const char *value;	 /* scalar: the number that a test passes where no definition gives one; NULL: drawn */
} heddle_argument;

/* One kernel argument: a tensor, scalar or size of the list above by name, or a literal. */
typedef struct heddle_kernel_argument {
	const char *name;      /* of an argument or size; NULL: literal */
	bool size;	       /* it is a size (passed as `type`) */
	heddle_type type;      /* sizes and literals: how it is passed (int64 unless said) */
	double literal;
	int64_t offset;	       /* tensors: bytes that the caller adds to the buffer's start (0 from the reader) */
	bool byte_offset;      /* this argument is the byte offset of tensor `name`, a uint64 (OpenCL: a cl_mem cannot be
				* moved).  JSON: {"offset": "A"}.  Where a kernel takes it, it follows its tensor. */
	heddle_formula local_bytes; /* not NULL: shared memory of that size, allocated by the launch (a __local pointer).
				     * JSON: {"local": "4*N"} */
	heddle_formula formula;	    /* not NULL: a number over the sizes, passed as `type`.  JSON: {"formula": "(N+255)/256"} */
} heddle_kernel_argument;

typedef struct heddle_manifest_launch {
	const char *kernel;
	heddle_formula grid[3];	 /* blocks, for every backend */
	int block[3];		 /* threads */
	heddle_formula dynamic_shared_bytes;
	int n_argument;
	heddle_kernel_argument *argument;
} heddle_manifest_launch;

typedef struct heddle_manifest_size {
	const char *name;
	int64_t min, max, divisor;
} heddle_manifest_size;

/* A macro that is defined for the source; `value` "" for a plain -DNAME. */
typedef struct heddle_manifest_define {
	const char *name, *value;
} heddle_manifest_define;

/* Compiler options under the name by which a driver or compiler takes them (heddle_driver.options); "host": what builds the
 * file with the entry. */
typedef struct heddle_option_set {
	const char *name;
	bool text; /* JSON: one string, which is option[0], not a list */
	int n;
	const char **option;
} heddle_option_set;

/* Launches that take the place of the manifest's own for some sizes and base addresses. */
typedef struct heddle_manifest_variant {
	const char *config, *proof;
	heddle_manifest_size *size; /* [n_size] the values for which it runs */
	int n_precondition;
	const char **precondition;
	int *align; /* [n_argument] bytes that the address must be a multiple of; 0: what the argument says */
	heddle_formula workspace_bytes;
	int n_temporary;
	heddle_argument *temporary;
	int n_launch;
	heddle_manifest_launch *launch;
} heddle_manifest_variant;

/* The entry runs the first of `variant` that is for its sizes and addresses, else the manifest's own launches, which `size`,
 * `align` and the rest describe.  With variants the temporaries stand at the end of `argument`. */
typedef struct heddle_manifest {
	heddle_arena *arena; /* owns everything below */
	const char *definition, *backend, *arch, *source, *config, *policy, *proof;
	const char *note; /* for people, when it is written; NULL: none */
	int warp;
	int n_size;
	heddle_manifest_size *size;
	int n_precondition;
	const char **precondition; /* over sizes */
	heddle_formula workspace_bytes;
	int n_option_set;
	heddle_option_set *option_set;
	bool global_threads; /* hosts count threads, not blocks: launches say `global`, too */
	int n_define;
	heddle_manifest_define *define; /* for every compiler, before the options above */
	int n_include;
	const char **include; /* folders, relative to the manifest's */
	heddle_formula temporaries; /* bytes that those without an offset of their own take together; NULL: none */
	int n_argument;
	heddle_argument *argument; /* in the entry's order */
	int n_launch;
	heddle_manifest_launch *launch;
	int n_variant;
	heddle_manifest_variant *variant;
	const char *path; /* where it was read; NULL when made from a program.  `source` is relative to its folder */
} heddle_manifest;

heddle_manifest *heddle_manifest_make(heddle_ctx *ctx, const heddle_target *target, const heddle_variants *variants,
				      const heddle_emit_options *options);
heddle_manifest *heddle_manifest_free(heddle_manifest *manifest);

/* ---- variants (manifest_variants.c) ----- */

/* Of variant `i`, or of the manifest's own launches with i == n_variant, as a manifest without variants, in `arena`.  Arguments
 * other than temporaries keep their positions. */
const heddle_manifest *heddle_manifest_variant_of(heddle_arena *arena, const heddle_manifest *manifest, int i);
/* Which of them is for these sizes when argument k lies `address[k]` bytes past an address that suits any vector (NULL: all lie
 * there); -1: none. */
int heddle_manifest_choose(const heddle_manifest *manifest, const int64_t *size, const size_t *address);
/* The values of size `k` that some variant takes: the least and the greatest. */
heddle_manifest_size heddle_manifest_size_of_all(const heddle_manifest *manifest, int k);

/* `base` and the backend's suffix: the name of the source file; of the file with the host entry, NULL when that is the
 * source.  In `arena`. */
const char *heddle_source_file(heddle_arena *arena, const heddle_target *target, const char *base);
const char *heddle_host_file(heddle_arena *arena, const heddle_target *target, const char *base);
/* The options of this name; one without any when there is none. */
heddle_option_set heddle_manifest_option_set(const heddle_manifest *manifest, const char *name);
/* What defines and include paths are to a compiler: "-DB=128", "-Isome/folder"; the source's own folder comes last when its
 * text includes files of its own.  In `arena`. */
const char **heddle_manifest_flags(heddle_arena *arena, const heddle_manifest *manifest, const char *source, int *n);
/* JSON text, keys in a fixed order, ended by a newline. */
void heddle_manifest_print(const heddle_manifest *manifest, heddle_text *out);
/* Read and check JSON text against the schema's rules.  NULL with diagnostics E07xx naming the key. */
heddle_manifest *heddle_manifest_parse(heddle_ctx *ctx, const char *name, const char *text);
/* The formula is well formed and names only these sizes; 0, or -1 with a diagnostic. */
int heddle_formula_check(heddle_ctx *ctx, heddle_formula formula, int n_size, const heddle_manifest_size *size);
/* Value of a formula under sizes by name; 0, or -1 with a diagnostic. */
int heddle_formula_evaluate(heddle_ctx *ctx, heddle_formula formula, int n_size, const heddle_manifest_size *size,
			    const int64_t *value, int64_t *result);

#endif
