/* What the files of the pass `simplify` share.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_SIMPLIFY_PARTS_H
#define HEDDLE_SIMPLIFY_PARTS_H

#include "model/ranges.h"
#include "model/simplify.h"

/* The names of a launch, so that new ones are unique in it: "k_3" is base "k", number 3. */
typedef struct name_base {
	const char *base;
	int next;
} name_base;

/* A register array that is copied by whole vectors of `width` members. */
typedef struct copied_buffer {
	heddle_buffer *buffer;
	int width;
	bool begun; /* the members that take part are given values, not changed: the vector may hold nothing yet */
} copied_buffer;

typedef struct simplify {
	heddle_ctx *ctx;
	heddle_program *p;
	heddle_launch *launch;
	const heddle_simplify_options *options;
	heddle_ranges *ranges; /* of the variables in scope where the walk is */
	int n_base;
	name_base *base;
	int n_copied; /* by the step `vectorise` */
	copied_buffer *copied;
	int n_carried; /* by the step `carry`: buffers of which elements go on in registers */
	heddle_buffer **carried;
} simplify;

/* `base`, or base_1, base_2, ..., whichever is not taken. */
const char *simplify_name(simplify *s, const char *base);

/* ---- rewriting (simplify_fold.c) ---------------------------------------------------------------------------------- */

typedef struct binding {
	const char *name;
	heddle_value *value;
	struct binding *up;
} binding;

/* What a branch around says: all of the condition's conjuncts hold, or not all of them do. */
typedef struct fact {
	heddle_value *condition;
	bool holds;
	struct fact *up;
	struct linear *form; /* what is below 0 where the condition is as `holds` says, or NULL */
	struct less *less;   /* the condition, where it is a comparison: found once, asked often */
	uint64_t about;	     /* what occurs in the condition, a bit for each: conditions without any in common say nothing of each other */
} fact;

typedef struct rewriter {
	simplify *s;
	binding *env;	       /* what variables stand for */
	fact *facts;
	int addresses;	       /* > 0: in the subscripts of a load from memory */
	bool unroll;	       /* expand UNROLL loops */
	bool plain_division;   /* floor divisions of what is not negative become plain ones */
	bool inline_integers;  /* integer lets without loads are put where they are used */
	int copies;	       /* > 0: in a further copy of a body: names must be new */
	int unrolled;	       /* > 0: in a body that is being unrolled: integer lets are inlined, for they differ by constants */
	bool unique;	       /* so they must when another loop or let has them */
	int n_seen;
	const char **seen;
} rewriter;

/* Append `node`, rewritten, to the block `out`: substituted, folded, flattened.  All nodes are new. */
void simplify_emit(rewriter *r, const heddle_node *node, heddle_node *out);
heddle_value *simplify_value(rewriter *r, heddle_value *value);
/* A copy of the block `node` in which `name` stands for `value`, with new names for all that it defines. */
heddle_node *simplify_substitute(simplify *s, const heddle_node *node, const char *name, heddle_value *value);
/* The whole launch, once; `options` has the flags. */
void simplify_fold(simplify *s, rewriter options);
/* No loads, shuffles, calls or members of vectors inside: may be computed anywhere its variables are. */
bool simplify_is_pure(const heddle_value *value);
/* Tensors and temporaries: no tile, no register, no number of the caller's. */
bool simplify_is_global(const heddle_buffer *buffer);
/* Are registers declared in the block itself? */
bool simplify_declares(const heddle_node *block);
/* Does the IF `test` go into what stands in the block `out` already (simplify_join.c)?  What is left of it is to be appended. */
bool simplify_join(heddle_program *p, heddle_node *out, heddle_node *test);
/* A node of the same kind, line and flags without children and values. */
heddle_node *simplify_node_like(heddle_program *p, const heddle_node *node);
/* Where the stores, lets and comments that begin at child k of a block end: k itself when there is none. */
int simplify_straight_end(const heddle_node *block, int k);

/* ---- the steps -------------------------------------------------------------------------------------------------------- */

void simplify_vectorise(simplify *s);	/* simplify_vector.c */
void simplify_partial(simplify *s);	/* simplify_partial.c */
void simplify_registers(simplify *s);	/* simplify_registers.c */
void simplify_turn(simplify *s, bool copies); /* simplify_turn.c; `copies`: those of elements, too */
void simplify_rounds(simplify *s);	/* simplify_rounds.c */
void simplify_carry(simplify *s);	/* simplify_carry.c */
void simplify_linearise(simplify *s);	/* simplify_index.c */
void simplify_widen(simplify *s);	/* simplify_widen.c */
void simplify_share(simplify *s);	/* simplify_share.c */
void simplify_ahead(simplify *s);	/* simplify_ahead.c */
void simplify_hoist(simplify *s);	/* simplify_hoist.c */
void simplify_copies(simplify *s);	/* simplify_copies.c */

/* ---- simplify_fold.c: how much a loop becomes ---- */

/* Rounds of a loop with constant bounds; -1 for another one. */
int64_t simplify_trips(const heddle_value *lower, const heddle_value *upper, int64_t step);
/* Nodes, and calls, of what it becomes where its loops that are to be unrolled are. */
int64_t simplify_size(const heddle_node *node);
/* A call may be inlined by whoever compiles the text, once for each member. */
int64_t simplify_weight(const heddle_value *v);

/* Row-major element offset of an access to `buffer`, as INT64. */
heddle_value *simplify_offset(simplify *s, const heddle_buffer *buffer, int n, heddle_value *const *subscript);

/* int32(a / b) in 64 bits, where the operands fit 32, is a / b in 32: divisions are what costs most among indices.  Anything
 * else stays as it is. */
heddle_value *simplify_narrow(simplify *s, heddle_value *v);
/* `x`, which stands for `value`, is below the divisor that it is the remainder of, or below what the grid has of its kind; NULL: it is neither, or that
 * is a constant, which ranges know. */
heddle_value *simplify_limit(rewriter *r, heddle_value *x, heddle_value *value);

/* ---- walking with ranges ---------------------------------------------------------------------------------------------- */

/* Calls `visit` on each STORE, LET, FOR and IF of the launch (before its children), ranges of the variables in scope being
 * defined in s->ranges. */
void simplify_walk(simplify *s, heddle_node *node, void (*visit)(simplify *s, heddle_node *node, void *user), void *user);

/* ---- simplify_value.c ---- */

/* x + c and x - c: x, and c with its sign. */
heddle_value *simplify_without_constant(heddle_value *v, int64_t *c);

/* ---- simplify_guard.c ---- */

/* The value reads an element of the buffer. */
bool simplify_reads(const heddle_value *v, const heddle_buffer *buffer);

/* ---- simplify_share.c ---- */

/* Does the node, or one below it, store to the buffer? */
bool simplify_stores_to(const heddle_node *node, const heddle_buffer *buffer);

/* ---- simplify_facts.c ---- */

/* Are two integers the same sum of terms, whatever order they are in?  Also where they wrap around. */
bool simplify_same_sum(heddle_value *a, heddle_value *b);
/* v = floor(x / d) with a constant d > 0: x, and d; NULL: it is not of this kind. */
heddle_value *simplify_quotient(const rewriter *r, heddle_value *v, int64_t *d);
/* `also`, NULL or a condition, and the facts say that all conjuncts of `v` hold. */
bool simplify_is_known(const rewriter *r, heddle_value *v, heddle_value *also);
/* Of a comparison of whole numbers: what holds where it does not; NULL: v is not of this kind. */
heddle_value *simplify_opposite(heddle_program *p, heddle_value *v);
/* The condition without what is known; constant when all is. */
heddle_value *simplify_with_facts(rewriter *r, heddle_value *v);
/* A fact for what is emitted until r->facts is set back; it lives in the arena.  !(a || b) is !a and !b. */
void simplify_push_fact(rewriter *r, heddle_value *condition, bool holds);
/* What facts say of variables, now that more is known; of a conjunction that does not hold nothing is. */
void simplify_use_facts(rewriter *r);
/* Facts that follow from the last one, x < u, with what is known of u. */
void simplify_chain_facts(rewriter *r);

#endif
