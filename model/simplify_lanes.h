/* What the files of the step `vectorise` share: a loop over v in lockstep.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_SIMPLIFY_LANES_H
#define HEDDLE_SIMPLIFY_LANES_H

#include "model/simplify_parts.h"

enum { MOST_WIDE = 32 };

typedef struct wide {
	heddle_value *load;	/* as it stands in the statement, depending on v */
	heddle_value *vector;	/* the wide load */
	heddle_value *variable; /* the let that holds it; NULL: none yet */
	int count;
	heddle_value *guard; /* elements are loaded where this holds, which does not depend on v; NULL: for sure */
} wide;

typedef struct lanes {
	simplify *s;
	heddle_program *p;
	const char *name; /* v */
	heddle_type type;
	int width;
	bool arithmetic;
	bool any; /* an access was made wide */
	/* of the statement in hand */
	const heddle_node *statement;
	int n_wide;
	wide wide[MOST_WIDE];
	heddle_node *out;
	int line;
} lanes;

/* ---- simplify_vector.c ------------------------------------------------------------------------------------------------ */

bool lanes_depends(const lanes *l, const heddle_value *v);
bool lanes_has_load(const heddle_value *v);
/* The value at v = i. */
heddle_value *lanes_at(lanes *l, heddle_value *v, int64_t i);
bool lanes_touch_registers(const lanes *l, const heddle_node *node);
bool lanes_store_in_one_element(const lanes *l, const heddle_node *node);
/* The node in a loop over v, as it was. */
void lanes_append_scalar_loop(lanes *l, const heddle_node *node, bool unroll, heddle_node *out);
/* The statements of a block in lockstep; a store without conditions over v. */
void lanes_emit_children(lanes *l, const heddle_node *block, heddle_node *out);
void lanes_emit_plain_store(lanes *l, const heddle_node *node, heddle_node *out);

/* ---- simplify_vector_value.c ------------------------------------------------------------------------------------------ */

/* Subscripts at v = 0 when the members of v are consecutive elements; NULL when they are not. */
heddle_value **lanes_consecutive(lanes *l, const heddle_buffer *buffer, int n, heddle_value *const *subscript);
/* Is the address of the first member, of these subscripts, a multiple of the whole vector? */
bool lanes_is_aligned(lanes *l, heddle_buffer *buffer, int n, heddle_value *const *first);
/* Adds what of the value, the statement's, is loaded by vectors to those of the statement, before it is asked for. */
void lanes_collect_wide(lanes *l, heddle_value *v);
/* The value of member m. */
heddle_value *lanes_member(lanes *l, heddle_value *v, int m);
/* A vector of members, [width]. */
heddle_value *lanes_build(lanes *l, heddle_value **m);
/* The value of all members: of one that does not depend on v it is one element. */
heddle_value *lanes_vector(lanes *l, heddle_value *v);
/* The same as a vector of the whole width. */
heddle_value *lanes_full(lanes *l, heddle_value *v);

/* ---- simplify_guard.c ------------------------------------------------------------------------------------------------- */

/* An IF, or a store with selections over v: whole vectors where all members take part, else those that do. */
void lanes_emit_if(lanes *l, const heddle_node *node, heddle_node *out);
void lanes_emit_store(lanes *l, const heddle_node *node, heddle_node *out);
/* Register arrays that are copied whole, though not all of their members may have been stored, start as zeros. */
void lanes_clear_copied(simplify *s);

#endif
