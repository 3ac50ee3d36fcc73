/* The scop and everything that the passes add to it, from domains and accesses to the mapped tree.
 *
 * Life of a compile: a definition is taken apart into statements (extract), their order constraints are found
 * (dependences), statements are grouped into device kernels (fuse) and each gets a band (schedule).  The config then says
 * how each dimension is laid over blocks, threads, registers and vectors; tile and map rewrite instances into tile
 * coordinates, place moves tensors into shared memory and registers, sync adds barriers, bound splits interior from
 * boundary.  `generate` reads loops, bounds and conditions off the sets of the tree's leaves: the program.
 *
 * Tile coordinates.  Every dimension d of a statement is written
 *     d = T * outer + round * (items * threads * vector) + item * (threads * vector) + thread * vector + vec
 * with T = rounds * items * threads * vector.  `outer` is the block coordinate of a kernel dimension, else a sequential tile
 * loop.  What a thread has in registers at a time are items and vectors; a block goes over its tile in rounds, so
 * that a tile in shared memory serves more of them than registers hold.
 * So mapped instances are plain affine images of the original ones: no division reaches isl.
 *
 * All isl objects belong to one isl_ctx, owned by the scop.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_SCOP_H
#define HEDDLE_SCOP_H

#include "arch/descriptor.h"
#include "frontend/definition.h"
#include "model/config.h"
#include "model/program.h"

#include <isl/aff.h>
#include <isl/ctx.h>
#include <isl/map.h>
#include <isl/schedule.h>
#include <isl/set.h>
#include <isl/union_map.h>
#include <isl/union_set.h>

#define HEDDLE_MAX_DIM HEDDLE_MAX_INDICES
/* What a thread may keep of other rounds: it is memory, on the stack of a processor's thread or local to a chip's. */
#define HEDDLE_MAX_ARRAY_BYTES 65536

typedef struct heddle_stmt heddle_stmt;
typedef struct heddle_kernel heddle_kernel;
typedef struct heddle_leaf heddle_leaf;
typedef struct heddle_group heddle_group;

/* One access of a statement. */
typedef struct heddle_access {
	heddle_tensor *tensor;
	const heddle_expr *expr; /* the READ node; NULL for the target */
	isl_map *relation;	 /* { S[d] -> T[e] }; an over-approximation when !affine (indirect subscripts) */
	isl_multi_pw_aff *index; /* { S[d] -> T[e] } as a function, where `?:` chooses it; NULL when !affine */
	bool affine;
	bool write;
	heddle_group *group; /* where this access goes (place) */
} heddle_access;

/* How one dimension is laid out; see the formula above. */
typedef struct heddle_layout {
	int64_t rounds;
	int64_t items;
	int64_t threads;
	int64_t vector;
	int64_t tile; /* rounds * items * threads * vector */
} heddle_layout;

typedef struct heddle_dim {
	const char *name;
	bool reduction;	 /* summed over; independent up to reassociation */
	bool coincident; /* carries no dependence of the statement on itself */
	int member;	 /* kernel dimension that this one is aligned with, or -1 */
	heddle_layout layout;
	heddle_reduce reduce; /* reductions: how */
	bool single_tile;     /* tile >= extent: no tile loop */
} heddle_dim;

/* Which part of a dimension's layout a coordinate of a register array or a loop stands for. */
typedef enum heddle_part { HEDDLE_PART_TILE, HEDDLE_PART_ROUND, HEDDLE_PART_ITEM, HEDDLE_PART_VEC, HEDDLE_PARTS } heddle_part;

/* A register array: one dimension per part of a dimension that a thread holds several of. */
typedef struct heddle_registers {
	const char *name;
	heddle_type type;
	int n;
	struct {
		int dim; /* of the tensor (groups) or of the statement (accumulators) */
		heddle_part part;
		int64_t extent;
	} c[HEDDLE_MAX_DIM];
	heddle_buffer *buffer; /* of the version that is being generated */
} heddle_registers;

/* One statement of the (rewritten) definition. */
struct heddle_stmt {
	int position;
	const char *name; /* "S0" in configs and dumps */
	heddle_statement *source;
	isl_set *lhs;		  /* the ranges of the left-hand dimensions alone: what is initialised and finished */
	isl_set *inner;		  /* the ranges of the dimensions that are not members, without the guard (tile) */
	const heddle_expr *value; /* right-hand side without the guard that went into the domain */
	int n_dim;
	heddle_dim dim[HEDDLE_MAX_DIM];
	isl_set *domain;	  /* { S0[d] } of the accumulations or assignments */
	isl_set *all;		  /* without the guard: what is initialised, before projecting the reductions out */
	bool reduction;		  /* accumulates and has reduction dimensions, or accumulates into old contents */
	bool initialise;	  /* a separate initialisation is needed */
	int n_access;
	heddle_access *access;	  /* [0] is the target */
	heddle_kernel *kernel;
	isl_schedule *schedule;	  /* isl's schedule of this statement alone */
	heddle_registers accumulator; /* reductions: what each thread sums into */
	heddle_registers total;	      /* `partial`: the accumulator with its vector members combined */
	bool partial;		      /* the accumulator keeps one sum per vector member */
	bool in_group;		      /* the result of the reduction is the target's register group itself */
};

/* { source[..] -> sink[..] }, memory-based: every pair of instances that touch one element, at least one writing it. */
typedef struct heddle_dependence {
	heddle_stmt *source, *sink;
	heddle_tensor *tensor;
	isl_map *relation; /* of `input`: NULL until heddle_dependence_relation is asked for it */
	int from, to;	   /* the accesses */
	bool input;	   /* both only read: never a constraint, used to align statements */
	bool empty;	   /* `input`: no element is read by both */
	signed char *aligned; /* [i * HEDDLE_MAX_DIM + j]: 0 not asked yet, else what heddle_dependence_aligned said, 1 or -1 */
} heddle_dependence;

/* A dimension shared by all statements of a kernel: blocks are cut along it. */
typedef struct heddle_member {
	const char *name;
	heddle_layout layout;
	int64_t thread_stride;	  /* of its thread coordinate in the linear thread id */
} heddle_member;

/* A reference group: accesses of one tensor placed together.
 * shared:   the box { e : offset <= e < offset + size } of a tile, moved in before each step of one statement
 * register: each thread holds the elements of its own items and vectors, for the whole kernel */
struct heddle_group {
	heddle_tensor *tensor;
	heddle_kernel *kernel;
	heddle_stmt *stmt; /* staged for this statement only; NULL: for the whole kernel */
	int number;	   /* "A.0" */
	heddle_space space;
	bool live_out; /* register: to be stored at the end */
	int64_t ahead; /* global: elements from those that are read to those of a later block that are asked for meanwhile; 0: none are */
	/* shared */
	heddle_access *access;		/* the access it was made for */
	int64_t size[HEDDLE_MAX_DIM];	/* of the box, by tensor dimension */
	int order[HEDDLE_MAX_DIM];	/* tensor dimension at each position of the array */
	int run;			/* tensor dimension from which on elements lie side by side, in the tensor and in the tile: they are moved as
					 * one row, and are one dimension of the array */
	isl_multi_aff *offset;		/* { [tile loops] -> T[e] } with block coordinates as parameters */
	int pad;
	int vector; /* elements moved at once */
	int columns; /* threads along a row while they move it: a power of two */
	int phases;  /* elements of a row with the same number modulo this one lie side by side, those of each remainder in a row of the array */
	bool early;  /* what the next step puts there is loaded while this one's is used */
	const heddle_copy *copy; /* moved by it, row by row; NULL: by the threads */
	heddle_buffer *shared;
	/* register */
	heddle_registers registers;
	heddle_stmt *first_writer; /* writes every element that the kernel touches */
	heddle_stmt *last_writer;
};

struct heddle_kernel {
	int position;
	int n_stmt;
	heddle_stmt **stmt;
	int n_member;
	heddle_member member[HEDDLE_MAX_DIM];
	int member_order[HEDDLE_MAX_DIM]; /* block coordinates: slowest first */
	int threads;
	int64_t lanes;	     /* threads not taken by members: they share local and reduction dimensions */
	int64_t lane_stride; /* 1: neighbours; else members are faster */
	bool rounds_outside; /* a thread goes through all statements in each round: what lives across rounds is in tiles only */
	int n_group;
	heddle_group **group;
	const heddle_kernel_config *config;
	struct heddle_mapped *mapped; /* leaves and branches (map) */
};

typedef struct heddle_scop {
	heddle_ctx *ctx;
	heddle_arena *arena; /* caller's */
	isl_ctx *isl;
	const heddle_definition *definition; /* rewritten: splits and fills are statements of it */
	const heddle_descriptor *descriptor;
	const heddle_config *config; /* NULL until completed */
	bool shuffles;
	int n_param;	     /* sizes that are not fixed */
	heddle_size **param;
	isl_set *context;    /* { : } over the parameters */
	int n_stmt;
	heddle_stmt **stmt;
	int n_dependence;
	heddle_dependence *dependence;
	int *first_dependence; /* by source * n_stmt + sink, one more at the end: those of two statements stand together */
	int n_kernel;
	heddle_kernel **kernel;
	heddle_program *program;
	const char *proof; /* "proved", "proved under preconditions", "not proved: LIMIT" */
} heddle_scop;

heddle_scop *heddle_scop_new(heddle_ctx *ctx, heddle_arena *arena, const heddle_definition *definition,
			     const heddle_descriptor *descriptor);
heddle_scop *heddle_scop_free(heddle_scop *scop);

/* Parameter of a size in isl ("N_M"), or NULL when the size is fixed. */
const char *heddle_scop_param(const heddle_scop *scop, const heddle_size *size);
/* "[N_M, N_K] -> " or with more parameters appended ("extra" = "a, b"). */
const char *heddle_scop_params(const heddle_scop *scop, const char *extra);
/* An expression over indices and sizes as a function on the statement's space; NULL (no error) when not quasi-affine. */
__isl_give isl_pw_aff *heddle_scop_pw_aff(heddle_scop *scop, const heddle_stmt *stmt, const heddle_expr *expr);
/* The same for an extent or a bound of an index: there / and % round down, as the entry computes them. */
__isl_give isl_pw_aff *heddle_scop_bound(heddle_scop *scop, const heddle_stmt *stmt, const heddle_expr *expr);
/* { T[e] : 0 <= e < extent } in the space. */
__isl_give isl_set *heddle_scop_tensor_box(heddle_scop *scop, const heddle_tensor *tensor, __isl_take isl_space *space);
/* A condition as a set; NULL (no error) when not affine.  Preconditions are made of extents and bounds. */
__isl_give isl_set *heddle_scop_condition(heddle_scop *scop, const heddle_stmt *stmt, const heddle_expr *expr);
__isl_give isl_set *heddle_scop_precondition(heddle_scop *scop, const heddle_stmt *stmt, const heddle_expr *expr);
/* `set`, or NULL (no error) when it has too many pieces to be worked with; the same for its complement. */
__isl_give isl_set *heddle_few_pieces(__isl_take isl_set *set);
__isl_give isl_set *heddle_complement(__isl_take isl_set *set);
/* Is there an index in the expression? */
bool heddle_expr_has_index(const heddle_expr *expr);
/* Did nobody say how great the size may become? */
bool heddle_scop_is_open(const heddle_size *size);
/* One convex set that holds `set`, made of the bounds of its pieces; how great open sizes may become is not among them, as what
 * differs by that bounds nothing that is met. */
__isl_give isl_set *heddle_scop_hull(const heddle_scop *scop, __isl_take isl_set *set);
/* An estimate of an extent for choices only: sizes at a typical value (given ones exactly); what would be below 0 is 0. */
int64_t heddle_scop_estimate(const heddle_scop *scop, const heddle_expr *expr);
int64_t heddle_scop_dim_extent(const heddle_scop *scop, const heddle_stmt *stmt, int dim);
/* The relation's image and such are checked once per pass: -1 with E0600 (limit) or E0960 (internal). */
int heddle_scop_check(heddle_scop *scop, const char *pass);
/* Has isl failed because of its bound on operations or time?  (Its last error may be another one, a consequence.) */
bool heddle_scop_at_limit(const heddle_scop *scop);

/* How many values the coordinate of a part has; of tiles there are as many as the sizes say: 0. */
int64_t heddle_layout_extent(const heddle_layout *layout, heddle_part part);

bool heddle_same_layout(const heddle_layout *a, const heddle_layout *b);

/* The passes, in order (passes.c is the table). */
int heddle_pass_extract(heddle_scop *scop);
/* { S[d] : lower <= d_dim < upper }, NULL with a diagnostic when not affine. */
__isl_give isl_set *heddle_stmt_range(heddle_scop *scop, heddle_stmt *stmt, int dim);
/* { S[d] : the left-hand dimensions are in their ranges }.  Where one depends on a reduction, that is in its range, too;
 * `project`: for some value of that (those dimensions are left open). */
__isl_give isl_set *heddle_stmt_left_ranges(heddle_scop *scop, heddle_stmt *stmt, bool project);
int heddle_pass_dependences(heddle_scop *scop);
/* Its pairs; NULL (no error) when there are none. */
__isl_keep isl_map *heddle_dependence_relation(heddle_dependence *dependence);
/* Do all pairs of the dependence agree in dimension i of the source and j of the sink? */
bool heddle_dependence_aligned(heddle_dependence *dependence, int i, int j);
/* Does an order constraint lead from one statement to the other? */
bool heddle_stmt_constrains(const heddle_scop *scop, const heddle_stmt *source, const heddle_stmt *sink);
int heddle_pass_fuse(heddle_scop *scop);
/* Recompute the members of a kernel from its statements. */
void heddle_kernel_align(const heddle_scop *scop, heddle_kernel *kernel);
/* Do kernels in order respect all dependences among the first n statements? */
bool heddle_fuse_legal(const heddle_scop *scop, const int *kernel_of, int n);
int heddle_pass_schedule(heddle_scop *scop);
int heddle_pass_tile(heddle_scop *scop);
int heddle_pass_place(heddle_scop *scop);
/* The value of an extent that is a number or a given size; 0: it is open, or has to be calculated. */
int64_t heddle_fixed_extent(const heddle_expr *extent);
/* Is the value of an extent or stride, over sizes, always a multiple of `unit`? */
bool heddle_extent_multiple(const heddle_expr *extent, int64_t unit);
/* Elements from the group's part of its tensor in one block to that in the next one, where the kernel only reads it; 0: not known. */
int64_t heddle_block_distance(const heddle_group *group);
/* What a thread sums a reduction into: with, and without, the sums of vector members.  False: it has more parts than arrays have. */
bool heddle_stmt_sums(const heddle_stmt *stmt, heddle_registers *sums, heddle_registers *total);
/* Bytes of an array that holds the elements of several tiles or rounds, and so is in memory; 0: it does not. */
int64_t heddle_array_bytes(const heddle_registers *registers);
/* Is the tensor an output, or read in a later kernel? */
bool heddle_used_after(const heddle_scop *scop, const heddle_kernel *kernel, const heddle_tensor *tensor);
/* Can `tensor`, written in `kernel`, live in registers?  On success fills `registers` (may be NULL). */
bool heddle_register_legal(heddle_scop *scop, heddle_kernel *kernel, heddle_tensor *tensor, heddle_registers *registers);
bool heddle_kernel_writes(const heddle_kernel *kernel, const heddle_tensor *tensor);
/* Does the first statement that writes the tensor write without reading, all that later ones touch of it? */
bool heddle_starts_fresh(heddle_scop *scop, const heddle_kernel *kernel, const heddle_tensor *tensor);
/* The statement dimension that is subscript `e` of an access, or -1 when it is not a plain index. */
int heddle_access_dim(const heddle_stmt *stmt, const heddle_access *access, int e);
/* What one step of the statement's dimension adds to subscript `e` of an access that is affine; 0 where it is not always the same, either. */
int64_t heddle_access_step(const heddle_access *access, int e, int dim);
/* Is the access affine, with no subscript piecewise, like one that adds the greatest of two sizes?  Tiles of those have no fixed box. */
bool heddle_access_is_uniform(const heddle_access *access);
/* The reduction `d` is a window that slides along the rows of a tile, or of a tensor that is only read: its neighbours read again what the
 * thread's other results take.  Written out, inside all other reductions, each element is read once. */
bool heddle_is_window(const heddle_stmt *stmt, int d);
/* The statement dimension that moves through neighbouring elements of the access, or -1. */
int heddle_row_dim(const heddle_stmt *stmt, const heddle_access *access);
/* The statement dimension whose vector runs in lockstep, where there are several: the one along the target's rows, else the first one;
 * reductions last.  `among` says of each dimension whether it counts; NULL: all do.  -1: there is no vector. */
int heddle_lockstep_dim(const heddle_stmt *stmt, const bool *among);
/* The dimension whose elements lie side by side: the last one, or with declared strides that whose stride is 1.  -1: none. */
int heddle_tensor_inner(const heddle_tensor *tensor);
/* Access groups of a kernel, before their spaces are chosen (called once, after tile). */
int heddle_make_groups(heddle_scop *scop, heddle_kernel *kernel);
/* Box of what one step of a block reads: fills group->size and ->offset; false when there is none of fixed size. */
bool heddle_tile_box(heddle_scop *scop, const heddle_stmt *stmt, const heddle_access *access, heddle_group *group);
/* Do lanes exchange partial results by shuffles, and only warps through shared memory?  Else all of them do. */
bool heddle_lanes_shuffle(const heddle_scop *scop, const heddle_kernel *kernel);
/* Shared memory that the lanes of a kernel exchange their partial results in. */
int64_t heddle_lanes_bytes(const heddle_scop *scop, const heddle_kernel *kernel);
/* Can the group, its box and order known, be moved by this copy? */
/* Sets group->run, from its size, offset, order and copy. */
void heddle_tile_run(heddle_group *group);
/* The dimension of the tensor along which rows of a tile run; with those from group->run up to it they are one row of that many elements. */
int heddle_tile_row(const heddle_group *group);
bool heddle_tile_in_run(const heddle_group *group, int e);
int64_t heddle_tile_run_length(const heddle_group *group);
/* Of what multiple of elements the run's first dimension must be, for what follows it to make multiples of `unit`, a power of two. */
int64_t heddle_tile_run_unit(const heddle_group *group, int64_t unit);
/* Do rows of the tile begin at multiples of `unit` elements, a power of two, of the tensor's rows in every step? */
bool heddle_tile_begins_at(const heddle_group *group, int64_t unit);
/* Rows of the tile that begin where vectors of the tensor's rows do end where those do: what they bring beside what is read lies in lines
 * that are read.  Enters with its run. */
void heddle_tile_whole_vectors(heddle_group *group, int64_t vector);
/* Threads along a row, as many as it has vectors for. */
int heddle_tile_most_columns(const heddle_group *group);
/* Elements of the tile's array along the dimension that begins at a position of the order; 0: that belongs to the one before it. */
int64_t heddle_tile_extent(const heddle_group *group, int at);
/* The dimension of the tensor along which the array's rows lie, with its run: dimensions of one element are left out of it. */
int heddle_tile_array_row(const heddle_group *group);
/* Elements of one of the array's rows, without its padding: of one phase, where they are taken apart. */
int64_t heddle_tile_row_length(const heddle_group *group);
/* Elements of the array, padding included. */
int64_t heddle_tile_elements(const heddle_group *group);
bool heddle_copy_fits(const heddle_group *group, const heddle_copy *copy);
/* { [tile loops] -> S[d] } of one step of a block. */
__isl_give isl_map *heddle_step_instances(heddle_scop *scop, const heddle_stmt *stmt);
/* Which statements of the kernel go through their tiles in the loops of the one before them (join.c): [n_stmt + 1], in the arena. */
bool *heddle_joins(heddle_arena *arena, const heddle_scop *scop, const heddle_kernel *kernel);
/* Does the sum begin anew, and end, in each step of its loops over tiles? */
bool heddle_ends_in_step(const heddle_stmt *stmt);
/* The dimension of the innermost of these loops; -1: it has none. */
int heddle_innermost_loop(const heddle_stmt *stmt);
/* Has it steps that must follow one another? */
bool heddle_goes_in_order(const heddle_stmt *stmt);
int heddle_pass_map(heddle_scop *scop);
int heddle_pass_prove(heddle_scop *scop);
int heddle_pass_generate(heddle_scop *scop);

#endif
