/* The config: the complete choice of how a definition is mapped, one line of text.
 *
 *   split=0:i:64; share=1; turn=0:A:k; fuse=0,0,1; k0: order=j,i threads=256 lanes=inner stream=C; k0.S0: tile=i:128,j:128,k:8 round=i:2 thread=i:16,j:16
 *   vector=j:4 reduce=k:sequential; k0.A.0: space=shared order=1,0 pad=4 vector=4; k0.B.0: space=shared
 *   copy=NAME; k0.C.0: space=register
 *
 * Dimensions by name, statements by number (after `fuse=`, of the rewritten definition: a split adds its combine statement
 * right after, a share or a turn its own right before),
 * groups by tensor.index.  Unknown keys are errors.  A part left out is completed by the cost model.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_CONFIG_H
#define HEDDLE_CONFIG_H

#include "base/base.h"

typedef enum heddle_reduce {
	HEDDLE_REDUCE_SEQUENTIAL, /* one thread, one accumulator */
	HEDDLE_REDUCE_LANES,	  /* the kernel's lanes share it; a combine follows */
} heddle_reduce;

typedef struct heddle_named_value {
	const char *name;
	int64_t value;
} heddle_named_value;

typedef struct heddle_named_list {
	int n;
	heddle_named_value *item;
} heddle_named_list;

/* `k0.S1:` how the dimensions of one statement are laid out. */
typedef struct heddle_stmt_config {
	int stmt;
	heddle_named_list tile;	  /* elements per block (kernel dimensions) or per step (others) */
	heddle_named_list round;  /* how often a block's threads go over its elements along a dimension */
	heddle_named_list thread; /* threads along a dimension */
	heddle_named_list vector; /* consecutive elements per thread, handled together */
	heddle_named_list reduce; /* heddle_reduce by dimension */
} heddle_stmt_config;

/* `k0.A.0:` where a reference group lives. */
typedef struct heddle_group_config {
	const char *tensor;
	int number;
	int space; /* heddle_space; -1: not given */
	int pad;   /* -1: not given */
	int vector;
	int columns;  /* shared: threads along a row while tiles are moved; 0: not given */
	int phases;   /* shared: elements of a row that are so far apart lie side by side; 0: not given */
	int prefetch; /* global: blocks from this one to the one whose lines are asked for where its own are read; shared: 1: the next
		       * step's elements are loaded while this one's are used; -1: not given */
	const char *copy; /* shared: moved by this copy of the descriptor; NULL: by the threads */
	int n_order;
	int order[16];
} heddle_group_config;

typedef struct heddle_kernel_config {
	int threads; /* 0: not given */
	int resident; /* blocks of a unit at the same time, among which its registers are shared out; 0: not given */
	int lanes_outer; /* 0 inner, 1 outer */
	int n_order;
	const char **order; /* kernel dimensions, slowest block coordinate first */
	bool has_stream;
	int n_stream;
	const char **stream; /* tensors whose stores go past the caches */
	int n_stmt;
	heddle_stmt_config *stmt;
	int n_group;
	heddle_group_config *group;
} heddle_kernel_config;

/* `split=STATEMENT:DIM:CHUNK`: a reduction cut into chunks that are summed by a further statement. */
typedef struct heddle_split {
	int stmt;
	const char *dim;
	int64_t chunk;
} heddle_split;

/* `turn=STATEMENT:TENSOR:DIM`: what the statement reads of the tensor is copied first, so that its rows run along the dimension. */
typedef struct heddle_turn {
	int stmt;
	const char *tensor, *index;
} heddle_turn;

typedef struct heddle_config {
	heddle_arena *arena;
	bool has_split, has_share, has_turn, has_fuse;
	int n_split;
	heddle_split *split;
	int n_share;
	int *share; /* statements whose largest expression that later ones compute, too, becomes a tensor */
	int n_turn;
	heddle_turn *turn;
	int n_fuse;
	int *fuse; /* kernel of each statement */
	int n_kernel;
	heddle_kernel_config *kernel;
} heddle_config;

/* An empty config in `arena`. */
heddle_config *heddle_config_new(heddle_arena *arena);
/* NULL with E05xx for anything malformed or unknown.  `text` NULL or "" gives an empty config. */
heddle_config *heddle_config_parse(heddle_ctx *ctx, heddle_arena *arena, const char *text);
void heddle_config_print(const heddle_config *config, heddle_text *out);
/* The part that belongs to kernel `k`. */
void heddle_config_print_kernel(const heddle_config *config, int k, heddle_text *out);

/* Kernel `k`, grown when needed. */
heddle_kernel_config *heddle_config_kernel(heddle_config *config, int k);
heddle_stmt_config *heddle_config_stmt(heddle_config *config, int k, int stmt);
heddle_group_config *heddle_config_group(heddle_config *config, int k, const char *tensor, int number, bool create);
/* What `given` says of kernels replaces what the config says: values of single dimensions, single values of groups. */
void heddle_config_overlay(heddle_config *config, const heddle_config *given);
/* The value of `name`, or `otherwise`. */
int64_t heddle_named_get(const heddle_named_list *list, const char *name, int64_t otherwise);
void heddle_named_set(heddle_config *config, heddle_named_list *list, const char *name, int64_t value);

#endif
