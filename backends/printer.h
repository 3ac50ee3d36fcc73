/* Inside backends/: the printer of values, nodes and kernels, and what source.c and entry.c need of it.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_PRINTER_H
#define HEDDLE_PRINTER_H

#include "backends/dialect.h"

/* Text of an expression and how tightly its outermost operator binds. */
typedef struct code {
	const char *text;
	int level;
} code;

/* A C-like language's precedences, loosest first.  ANY: no parentheses needed. */
enum {
	LEVEL_ANY,
	LEVEL_SELECT,
	LEVEL_OR,
	LEVEL_AND,
	LEVEL_BITOR,
	LEVEL_BITXOR,
	LEVEL_BITAND,
	LEVEL_EQUAL,
	LEVEL_LESS,
	LEVEL_SHIFT,
	LEVEL_SUM,
	LEVEL_PRODUCT,
	LEVEL_UNARY,
	LEVEL_POSTFIX,
};

/* One placeholder's value. */
typedef struct filler {
	const char *name;
	code value;
} filler;

/* The arguments of a device kernel, in order: global buffers, then scalars, then sizes that it uses and that are not fixed. */
typedef struct kernel_arguments {
	int n_tensor, n_scalar, n_size;
	heddle_buffer **tensor;
	heddle_buffer **scalar;
	int *size; /* positions */
} kernel_arguments;

/* What one kernel needs from its launch. */
typedef struct kernel_memory {
	bool dynamic;	 /* the shared buffers are views of dynamic shared memory */
	int64_t bytes;	 /* of all shared buffers */
	int64_t *offset; /* [n_shared], when dynamic */
} kernel_memory;

/* X_offset or X_buffer where the program has a tensor X and the dialect passes tensors as buffer and offset. */
bool heddle_is_companion(const heddle_dialect *dialect, const heddle_program *program, const char *name);

void heddle_kernel_arguments(heddle_arena *arena, const heddle_program *program, const heddle_launch *launch,
			     kernel_arguments *arguments);
void heddle_kernel_memory(heddle_arena *arena, const heddle_target *target, const heddle_launch *launch, kernel_memory *memory);
/* [n_buffer] Bytes that each buffer's base address must be a multiple of: of the widest vector where the language wants that, else
 * of an element. */
int *heddle_buffer_alignments(heddle_arena *arena, const heddle_target *target, const heddle_program *program);

/* One device kernel.  0 or -1 with a diagnostic. */
int heddle_kernel_print(heddle_ctx *ctx, const heddle_target *target, const heddle_program *program,
			const heddle_launch *launch, const heddle_emit_options *options, heddle_text *out);

/* A value over constants and sizes in the manifest's formula language.  The host's C is the same with `prefix` before min
 * and max. */
const char *heddle_formula_text(heddle_arena *arena, const heddle_program *program, const heddle_value *value,
				const char *prefix);

/* A template with its placeholders filled.  NULL template: an internal error, reported. */
code heddle_fill(heddle_arena *arena, const char *template, const filler *filler, int n);
/* In parentheses when it binds looser than `level`. */
const char *heddle_bind(heddle_arena *arena, code value, int level);

/* The level of the operator with its spaces at `s` (" + "), 0 when there is none. */
int heddle_operator_level(const char *s);
/* The level of a template's text: its loosest operator outside brackets, else whether it is unary. */
int heddle_template_level(const char *s);

/* The C entry points (a part of the source, or a file of their own).  `source` is the text of the device code. */
int heddle_entry_print(heddle_ctx *ctx, const heddle_target *target, const heddle_variants *variants,
		       const heddle_emit_options *options, const char *source, heddle_text *out);

#endif
