/* The program: what backends print, the interpreter runs and the counters count.
 *
 * A program is a list of buffers and a list of launches.  A launch is a grid of blocks of threads and a typed tree that each
 * thread runs.  Everything lives in the program's arena.  Text form: `heddle_program_print` / `heddle_program_parse`.
 *
 * Values are scalars or vectors: `type` and `width` (a power of two up to HEDDLE_MAX_VECTOR).  Subscript arithmetic is
 * HEDDLE_INT32 or HEDDLE_INT64; sizes, grid expressions and shapes are HEDDLE_INT64.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_PROGRAM_H
#define HEDDLE_PROGRAM_H

#include "base/base.h"

enum { HEDDLE_MAX_VECTOR = 64 }; /* members */

typedef struct heddle_node heddle_node;
typedef struct heddle_value heddle_value;

/* Where data lives: one device, one block, one thread. */
typedef enum heddle_space {
	HEDDLE_SPACE_GLOBAL,
	HEDDLE_SPACE_SHARED,
	HEDDLE_SPACE_REGISTER,
	HEDDLE_N_SPACE
} heddle_space;

/* ---- buffers ------------------------------------------------------------------------------------------------------- */

typedef enum heddle_buffer_role {
	HEDDLE_BUFFER_INPUT,
	HEDDLE_BUFFER_OUTPUT,
	HEDDLE_BUFFER_INOUT,
	HEDDLE_BUFFER_TEMPORARY, /* global memory in the workspace */
	HEDDLE_BUFFER_SHARED,	 /* one per block; declared at the top of the launch that uses it */
	HEDDLE_BUFFER_REGISTER,	 /* one per thread; declared by a DECLARE node */
	HEDDLE_BUFFER_SCALAR,	 /* rank-0 input, passed by value; read by LOAD without subscripts */
} heddle_buffer_role;

typedef struct heddle_buffer {
	const char *name; /* a C identifier, unique in the program */
	heddle_buffer_role role;
	heddle_type type;
	int width;		 /* elements are vectors of this width (register and shared arrays); else 1 */
	int rank;		 /* of `extent`; a rank-0 register buffer is a plain variable */
	heddle_value **extent;	 /* [rank]; constants for shared and register buffers, else over constants and sizes */
	heddle_value **stride;	 /* [rank] input, output, inout: elements from one subscript to the next, over constants and
				  * sizes, not negative; NULL: dense, row-major */
	int pad;		 /* shared: unused elements at the end of the innermost dimension (extent excludes them) */
	int align;		 /* bytes that the base address is a multiple of */
	heddle_value *offset;	 /* temporary: byte offset in the workspace, over constants and sizes */
	const char *of;		 /* shared and register: name of the tensor it holds a tile of, or NULL */
	const char *comment;	 /* one line for readers: what the tile holds; or NULL */
	bool early;		 /* shared: what the next step of a loop puts there is loaded while this one's is used.  `simplify`
				  * does it, and none is early afterwards */
	bool unread;		 /* output whose first access is a store that covers it (not read before written) */
	int position;		 /* in heddle_program.buffer */
} heddle_buffer;

/* ---- values -------------------------------------------------------------------------------------------------------- */

typedef enum heddle_value_kind {
	HEDDLE_VALUE_INT,	/* i */
	HEDDLE_VALUE_FLOAT,	/* f; infinities and NaN allowed */
	HEDDLE_VALUE_VARIABLE,	/* a loop iterator or LET / ASSIGN variable */
	HEDDLE_VALUE_BLOCK,	/* linear block id, INT32 (grids are one-dimensional; see `launch.grid`) */
	HEDDLE_VALUE_THREAD,	/* linear thread id in the block, INT32 */
	HEDDLE_VALUE_SIZE,	/* size symbol: `i` is its position in heddle_program.size */
	HEDDLE_VALUE_LOAD,	/* buffer, arg[0 .. n_arg) subscripts; width > 1: that many consecutive elements of the last
				 * dimension (of a buffer of width 1), or one vector element (buffer of that width).  `i`:
				 * elements from there to the line that is asked for meanwhile, 0: none is; it need not exist */
	HEDDLE_VALUE_UNARY,	/* op, arg[0] */
	HEDDLE_VALUE_BINARY,	/* op, arg[0], arg[1]; both of the same type and width; comparisons give BOOL */
	HEDDLE_VALUE_FLOOR_DIV, /* arg[0] / arg[1] rounded down (arg[1] > 0); DIV and MOD ops truncate */
	HEDDLE_VALUE_FLOOR_MOD, /* the matching remainder, 0 <= r < arg[1] */
	HEDDLE_VALUE_SELECT,	/* arg[0] ? arg[1] : arg[2]; only the chosen side is evaluated */
	HEDDLE_VALUE_CAST,	/* arg[0] to `type`, same width */
	HEDDLE_VALUE_CALL,	/* heddle_builtins[i](arg...) */
	HEDDLE_VALUE_FMA,	/* arg[0] * arg[1] + arg[2], contraction allowed but not required */
	HEDDLE_VALUE_SPLAT,	/* scalar arg[0] to all members of a vector */
	HEDDLE_VALUE_EXTRACT,	/* member `i` of vector arg[0] */
	HEDDLE_VALUE_BUILD,	/* vector of `width` scalars arg[0 .. width) */
	HEDDLE_VALUE_ZIP,	/* members of the vectors arg[0] and arg[1] in turn, of their halves `i` (0: first, 1: second) */
	HEDDLE_VALUE_UNZIP,	/* every second member of the vectors arg[0] and arg[1]: from arg[0]'s first on, up to arg[1]'s last */
	HEDDLE_VALUE_REDUCE,	/* all members of vector arg[0] combined with op (ADD, MUL, MIN, MAX) into a scalar, by halves */
	HEDDLE_VALUE_SHUFFLE,	/* arg[0] as held by thread (lane ^ i) of the warp; all lanes of the warp must take part */
} heddle_value_kind;

struct heddle_value {
	heddle_value_kind kind;
	heddle_type type;
	int width;
	heddle_op op;
	int64_t i;
	double f;
	const char *name;	/* VARIABLE: unique within the launch */
	heddle_buffer *buffer;	/* LOAD */
	int n_arg;
	heddle_value **arg;
};

/* ---- nodes --------------------------------------------------------------------------------------------------------- */

typedef enum heddle_node_kind {
	HEDDLE_NODE_BLOCK,   /* child[0 .. n_child) in order; a scope for LET and DECLARE */
	HEDDLE_NODE_FOR,     /* name from value[0] while < value[1], step `i` > 0; child[0] body */
	HEDDLE_NODE_IF,	     /* value[0]; child[0] then, child[1] else when n_child == 2 */
	HEDDLE_NODE_LET,     /* constant `name` of type and width of value[0], visible to the end of the enclosing BLOCK */
	HEDDLE_NODE_DECLARE, /* buffer (register), uninitialised, visible to the end of the enclosing BLOCK */
	HEDDLE_NODE_STORE,   /* buffer[value[1 .. n_value)] = value[0]; width as in LOAD */
	HEDDLE_NODE_BARRIER, /* all threads of the block; shared and global memory of the block become visible */
	HEDDLE_NODE_COPY,    /* the block starts the asynchronous copy `name` of value[0] consecutive elements of the last
			      * dimension, from source[value[1 + i] ..] in global memory to buffer[value[1] .. value[i]] in shared
			      * memory.  All threads come here with the same values */
	HEDDLE_NODE_WAIT,    /* for all copies `name` that the enclosing BLOCK has started: then all threads see them */
	HEDDLE_NODE_COMMENT, /* text */
} heddle_node_kind;

typedef enum heddle_loop_kind {
	HEDDLE_LOOP_SERIAL,
	HEDDLE_LOOP_UNROLL, /* constant bounds; `simplify` has either unrolled it or it prints with an unroll pragma */
	HEDDLE_LOOP_WINDOW, /* as UNROLL, and long ones are unrolled too: what its rounds read side by side is read once */
	HEDDLE_LOOP_VECTOR, /* constant bounds; gone after `simplify` */
	HEDDLE_LOOP_HINT,   /* constant bounds; as SERIAL, and prints with an unroll pragma */
} heddle_loop_kind;

struct heddle_node {
	heddle_node_kind kind;
	heddle_loop_kind loop;
	bool uniform;	  /* IF: proved the same for all threads of a block; FOR: bounds proved so */
	const char *name; /* FOR, LET; COPY, WAIT: of the copy (descriptor); COMMENT: the text */
	int64_t i;	  /* FOR: step; COPY: subscripts of `buffer` */
	int copies;	  /* FOR, serial: of its body that stand in a row in what a compiler makes of it; 0: as it likes */
	heddle_buffer *buffer;
	heddle_buffer *source; /* COPY */
	int n_value;
	heddle_value **value;
	int n_child;
	heddle_node **child;
	int line;    /* of the definition's source that this comes from; 0: none */
	int id;	     /* position in a preorder walk of the launch, set by heddle_program_number: for coverage and mutation */
};

/* ---- launches ------------------------------------------------------------------------------------------------------ */

typedef struct heddle_launch {
	const char *name;	/* of the device kernel */
	heddle_value *grid;	/* number of blocks, over constants and sizes, INT64; a launch with 0 blocks is skipped */
	int threads;		/* per block */
	int min_blocks;		/* resident blocks per unit that the register budget was chosen for; 0: no wish */
	int n_buffer;		/* arguments: global buffers in program order */
	heddle_buffer **buffer;
	int n_shared;
	heddle_buffer **shared;
	int n_streamed;		/* global buffers whose vectors are stored past the caches, where the language has such stores */
	heddle_buffer **streamed;
	heddle_node *body;
	const char *config;	/* this kernel's part of the config line */
} heddle_launch;

typedef struct heddle_program_size {
	const char *name;
	int64_t min, max, divisor;
} heddle_program_size;

typedef struct heddle_program {
	heddle_arena *arena;
	const char *name;   /* of the definition */
	const char *target; /* "cuda:h200" */
	const char *config; /* the whole config line */
	const char *proof;  /* "proved", "proved under preconditions", "not proved: LIMIT" */
	heddle_policy policy;
	int warp;	    /* threads that SHUFFLE spans; 1 when there is none */
	int n_size;
	heddle_program_size *size;
	int n_buffer;
	heddle_buffer **buffer; /* inputs, outputs, scalars, temporaries; then shared and register ones */
	int n_launch;
	heddle_launch **launch;
	heddle_value *workspace; /* bytes, over constants and sizes, INT64 */
	int n_precondition;
	heddle_value **precondition; /* over sizes, BOOL */
} heddle_program;

/* ---- construction (program.c) --------------------------------------------------------------------------------------- */

heddle_program *heddle_program_new(const char *name);
heddle_program *heddle_program_free(heddle_program *program);

/* Values.  Integer arithmetic on constants is folded, x+0, x*1, x*0, nested constant sums and exact divisions are
 * simplified; floating-point arithmetic is left alone. */
heddle_value *heddle_value_int(heddle_program *p, heddle_type type, int64_t i);
heddle_value *heddle_value_float(heddle_program *p, heddle_type type, double f);
heddle_value *heddle_value_variable(heddle_program *p, heddle_type type, int width, const char *name);
heddle_value *heddle_value_size(heddle_program *p, int position);
heddle_value *heddle_value_block(heddle_program *p);
heddle_value *heddle_value_thread(heddle_program *p);
heddle_value *heddle_value_load(heddle_program *p, heddle_buffer *buffer, int width, int n, heddle_value **subscript);
/* ... and the line that lies `ahead` elements further on is asked for; 0: none is. */
heddle_value *heddle_value_load_ahead(heddle_program *p, heddle_buffer *buffer, int width, int n, heddle_value **subscript, int64_t ahead);
heddle_value *heddle_value_unary(heddle_program *p, heddle_op op, heddle_value *a);
heddle_value *heddle_value_binary(heddle_program *p, heddle_op op, heddle_value *a, heddle_value *b);
heddle_value *heddle_value_floor(heddle_program *p, heddle_value_kind kind, heddle_value *a, heddle_value *b);
heddle_value *heddle_value_select(heddle_program *p, heddle_value *c, heddle_value *a, heddle_value *b);
heddle_value *heddle_value_cast(heddle_program *p, heddle_type type, heddle_value *a);
heddle_value *heddle_value_call(heddle_program *p, int builtin, heddle_type type, int n, heddle_value **arg);
heddle_value *heddle_value_fma(heddle_program *p, heddle_value *a, heddle_value *b, heddle_value *c);
heddle_value *heddle_value_splat(heddle_program *p, heddle_value *a, int width);
heddle_value *heddle_value_extract(heddle_program *p, heddle_value *a, int member);
heddle_value *heddle_value_build(heddle_program *p, int width, heddle_value **arg);
heddle_value *heddle_value_zip(heddle_program *p, heddle_value *a, heddle_value *b, int half);
heddle_value *heddle_value_unzip(heddle_program *p, heddle_value *a, heddle_value *b);
heddle_value *heddle_value_reduce(heddle_program *p, heddle_op op, heddle_value *a);
heddle_value *heddle_value_shuffle(heddle_program *p, heddle_value *a, int mask);
bool heddle_value_is_int(const heddle_value *v, int64_t i); /* the constant i */
bool heddle_value_equal(const heddle_value *a, const heddle_value *b);
/* Integer value under the sizes' values; 0, or -1 when it is not over constants and sizes. */
int heddle_value_evaluate(const heddle_value *v, const int64_t *size, int64_t *result);
/* A copy in which `rename(value, user)` may stand in for any sub-value (called bottom-up; return its argument to keep). */
heddle_value *heddle_value_map(heddle_program *p, heddle_value *v, heddle_value *(*rename)(heddle_value *, void *), void *user);
/* The same; `within` is told when the parts of a value begin (true) and end. */
heddle_value *heddle_value_map_within(heddle_program *p, heddle_value *v, heddle_value *(*rename)(heddle_value *, void *),
				      void (*within)(const heddle_value *, bool, void *), void *user);

/* Of truths the sum and the greatest are their OR, which bytes would count, the product and the least their AND; other
 * operations stay. */
heddle_op heddle_op_of_truths(heddle_op op);

/* Nodes. */
heddle_node *heddle_node_block(heddle_program *p);
void heddle_node_append(heddle_program *p, heddle_node *block, heddle_node *child);
heddle_node *heddle_node_for(heddle_program *p, heddle_loop_kind loop, const char *name, heddle_value *lower,
			     heddle_value *upper, int64_t step, heddle_node *body);
heddle_node *heddle_node_if(heddle_program *p, heddle_value *condition, heddle_node *then, heddle_node *otherwise);
heddle_node *heddle_node_let(heddle_program *p, const char *name, heddle_value *value);
heddle_node *heddle_node_declare(heddle_program *p, heddle_buffer *buffer);
heddle_node *heddle_node_store(heddle_program *p, heddle_buffer *buffer, int n, heddle_value **subscript, heddle_value *value);
heddle_node *heddle_node_barrier(heddle_program *p);
/* n_to and n_from subscripts; `count` elements. */
heddle_node *heddle_node_copy(heddle_program *p, const char *name, heddle_value *count, heddle_buffer *to, int n_to,
			      heddle_value **to_subscript, heddle_buffer *from, int n_from, heddle_value **from_subscript);
heddle_node *heddle_node_wait(heddle_program *p, const char *name);
/* The node, or the first one below it in the order of the text, that is of this kind; NULL: there is none. */
const heddle_node *heddle_node_find(const heddle_node *node, heddle_node_kind kind);
/* Is a copy of this name still under way after the node, for all that the text says?  A wait further down in a block, under a
 * condition or not, ends what the block has started; the interpreter sees whether the condition is the right one. */
bool heddle_node_under_way(const heddle_node *node, const char *name);
heddle_node *heddle_node_comment(heddle_program *p, const char *text);

heddle_buffer *heddle_buffer_new(heddle_program *p, const char *name, heddle_buffer_role role, heddle_type type, int rank);

/* Bytes of a temporary's part of the workspace, rounded up to 256: each begins aligned for any vector. */
heddle_value *heddle_program_slot(heddle_program *p, const heddle_buffer *buffer);
/* Where temporaries have gone that were laid out: those that are left move up; ones with the same offset share it still. */
void heddle_program_lay_out(heddle_program *p);

/* Give every node of every launch its id (preorder, per launch, from 0) and return the greatest number of nodes. */
int heddle_program_number(heddle_program *p);

/* ---- text (program_text.c) -------------------------------------------------------------------------------------------- */

void heddle_program_print(const heddle_program *p, heddle_text *out);
void heddle_value_print(const heddle_value *v, heddle_text *out);
/* The printed text back; NULL with a diagnostic.  print(parse(print(p))) == print(p). */
heddle_program *heddle_program_parse(heddle_ctx *ctx, const char *name, const char *text);
heddle_program *heddle_program_copy(const heddle_program *p);

/* ---- without vectors in global memory (program_scalar.c) --------------------------------------------------------------- */

/* Some global buffer is read or written by vectors. */
bool heddle_program_is_wide(const heddle_program *p);
/* A copy in which every vector of global memory is read and written member by member, so that base addresses need the
 * alignment of their elements alone.  Shared and register memory keep their vectors.  Numbered. */
heddle_program *heddle_program_scalar(const heddle_program *p);

/* ---- rules ---------------------------------------------------------------------------------------------------------------- */

/* Every rule of this header that can be checked without running: types and widths match, names are in scope, subscripts
 * have the buffer's rank, constant bounds where asked, barriers and shuffles not under a condition that is not uniform.
 * 0, or -1 with E0950 (an internal error). */
int heddle_program_validate(heddle_ctx *ctx, const heddle_program *p);

#endif
