/* Inside the printer: what its parts share.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_PRINTER_PARTS_H
#define HEDDLE_PRINTER_PARTS_H

#include "backends/printer.h"

/* What is known of a LET or loop variable. */
typedef struct printer_local {
	const char *name;    /* in the program */
	const char *printed; /* in the source */
	bool let;
	bool great; /* LET: of a product that no subscript has */
	bool data;  /* holds data, or is used as such */
	bool nonnegative;
	bool moves; /* changes from round to round of a loop around it */
} printer_local;

typedef struct printer {
	heddle_ctx *ctx;
	heddle_arena *arena; /* of `scratch` */
	heddle_program *scratch;
	const heddle_target *target;
	const heddle_dialect *dialect;
	const heddle_program *program;
	const heddle_launch *launch;
	const char *source_name;
	heddle_text *out;
	int depth;
	int last_line;
	int n_variable;
	printer_local *variable;
	heddle_name_table variables; /* their numbers */
	heddle_name_table taken;	/* printed names */
	const char **buffer_name; /* by position */
	const char **size_name;	  /* by position */
	const char *block_name, *thread_name, *shared_name;
	bool *stored_by_open_loop; /* by position: a loop of unknown length stores to places that go with its iterator */
	const char *event; /* of the copies under way; NULL: none */
	bool uses_block, uses_thread;
	bool changed; /* by the pass over variables */
	bool failed;
} printer;

/* ---- values.c --------------------------------------------------------------------------------------------------------- */

/* `data`: signed arithmetic must wrap around. */
code heddle_print_value(printer *p, const heddle_value *v, bool data);
/* A condition whose parts are all evaluated, joined by & and | where that cannot fault: one jump. */
code heddle_print_joint(printer *p, const heddle_value *v);
/* a * b. */
code heddle_print_product(printer *p, const heddle_value *a, const heddle_value *b);
/* buffer[subscripts], an lvalue. */
code heddle_print_element(printer *p, const heddle_buffer *buffer, int n, heddle_value *const *subscript);
/* The types in memory, of a vector in memory, and of a variable. */
const char *heddle_storage_type(const printer *p, heddle_type type);
const char *heddle_memory_vector(printer *p, heddle_type type, int width);
const char *heddle_local_type(printer *p, heddle_type type, int width);
const char *heddle_stem(const printer *p, heddle_type type);

printer_local *heddle_find_local(printer *p, const char *name); /* NULL: not in scope */
bool heddle_holds_data(printer *p, const heddle_value *v);
bool heddle_is_nonnegative(printer *p, const heddle_value *v);
/* Is it another value in each round of a loop? */
bool heddle_moves(printer *p, const heddle_value *v);
bool heddle_is_global(const heddle_buffer *buffer);
bool heddle_is_half(heddle_type type);
bool heddle_is_compare(heddle_op op);
bool heddle_needs_vector_arithmetic(const printer *p, const heddle_value *v);

/* ---- lines.c ---------------------------------------------------------------------------------------------------------- */

/* The text, on as many lines as it needs; `end` closes the last. */
void heddle_print_text(printer *p, const char *text, const char *end);
void heddle_print_line(printer *p, const char *format, ...) HEDDLE_PRINTF(2, 3);
/* head(list), the list on lines of its own where it is long. */
void heddle_print_list(printer *p, const char *head, const char *list);
/* A line that says where it comes from, when that changed. */
void heddle_print_mapped(printer *p, int source_line, const char *text);
/* Lines of comment, broken between words where they are long; `text` may be NULL. */
void heddle_print_comment(printer *p, const char *text);

/* ---- statements.c ------------------------------------------------------------------------------------------------------ */

void heddle_print_node(printer *p, const heddle_node *node);
/* The body of a loop or branch, one deeper. */
void heddle_print_body(printer *p, const heddle_node *body);
/* "[4][8]": the array has `least` bytes or more: the first dimension grows, so no subscript changes. */
const char *heddle_dimensions(printer *p, const heddle_buffer *buffer, int64_t least);
/* " // tile of A", or nothing. */
const char *heddle_buffer_comment(printer *p, const heddle_buffer *buffer);
/* A name for a value. */
const char *heddle_let_text(printer *p, const char *type, const char *name, code value);
/* Finds buffers that loops whose length is not known here store to. */
void heddle_mark_open_loops(printer *p, const heddle_node *node);

/* ---- branches.c -------------------------------------------------------------------------------------------------------- */

void heddle_print_if(printer *p, const heddle_node *node);
void heddle_print_barrier(printer *p);
/* Must a barrier stand where ways with and without one meet? */
bool heddle_meets_at_barrier(const printer *p, const heddle_node *node);

/* ---- printer.c --------------------------------------------------------------------------------------------------------- */

/* A name that is not taken; it is then. */
const char *heddle_fresh_name(printer *p, const char *wanted);

/* Text that binds tightest. */
static inline code printer_atom(const char *text) { return (code){text, LEVEL_POSTFIX}; }
/* A number in the printer's arena. */
static inline const char *printer_number(printer *p, int64_t i) { return heddle_arena_printf(p->arena, "%lld", (long long)i); }

#endif
