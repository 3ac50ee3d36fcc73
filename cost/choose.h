/* Inside of the choices that complete a config: one file for kernels, layouts, products and spaces each.
 *
 * The rules see only dimensions, subscripts and the descriptor: which dimension is contiguous in which access, which access does not
 * depend on a dimension (reuse), how many blocks there are for how many units.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_COST_CHOOSE_H
#define HEDDLE_COST_CHOOSE_H

#include "model/scop.h"

/* Bytes after which what fetches ahead stops. */
enum { CHOOSE_PAGE = 4096 };
/* Threads of a block whose size is free. */
enum { CHOOSE_BLOCK = 128 };

/* The kernel whose layout is being chosen. */
typedef struct chooser {
	heddle_scop *scop;
	heddle_config *config;
	heddle_kernel *kernel;
	heddle_stmt *main; /* the dominant statement */
	int k;
	int64_t units, vector; /* elements of the main type in the widest vector */
	bool simd;
} chooser;

/* ---- choose.c ---- */

int64_t choose_quantity(const heddle_quantity *q, int64_t otherwise);
bool choose_mentions(const heddle_expr *expr, int dim);
heddle_expr *const *choose_subscripts(const heddle_stmt *stmt, const heddle_access *access);
bool choose_depends_on(const heddle_stmt *stmt, const heddle_access *access, int dim);
int64_t choose_extent(const heddle_scop *scop, const heddle_stmt *stmt, int dim);
/* What an instance takes, in additions: divisions and roots are several, functions are polynomials and what surrounds them. */
double choose_effort(const heddle_expr *expr);
/* Instances of the statement. */
double choose_volume(const heddle_scop *scop, const heddle_stmt *stmt);
/* Of the whole tensor, at typical sizes where they are open. */
double choose_tensor_bytes(const heddle_scop *scop, const heddle_tensor *tensor);
/* Are elements as wide as a bank of shared memory?  Threads that go through a tile by rows and by columns use different banks then, with
 * one element free at the end of each row, also where each has several neighbours. */
bool choose_fills_bank(const heddle_scop *scop, heddle_type type);
/* The statement that does most of the kernel's work decides its layout. */
heddle_stmt *choose_dominant(const heddle_scop *scop, const heddle_kernel *kernel);
/* Powers of two. */
int64_t choose_power_below(int64_t n);
int64_t choose_power_above(int64_t n);
int64_t choose_least(int64_t a, int64_t b);
/* Is every value of the dimension's extent a multiple of n? */
bool choose_divisible(const heddle_stmt *stmt, int dim, int64_t n);
/* Is the dimension missing from an operand? */
bool choose_has_reuse(const heddle_stmt *stmt, int dim);
/* Threads that a block may have, 256 at most: more give little and cost occupancy. */
int64_t choose_most_threads(const chooser *c);
/* Write a dimension's numbers into the config; ones are left out. */
void choose_set_rounds(chooser *c, const heddle_stmt *stmt, int dim, int64_t rounds, int64_t items, int64_t threads, int64_t vector);
void choose_set_layout(chooser *c, const heddle_stmt *stmt, int dim, int64_t items, int64_t threads, int64_t vector);
/* Elements along subscript e from one value of the dimension to the next; 0: none, or it is no sum of products with numbers. */
int64_t choose_stride(const heddle_stmt *stmt, const heddle_access *access, int e, int dim);
/* Are rows of the tensor left out between those of one value of dimension y and of the next, so that what fetches ahead does not follow
 * from one to the other?  Short rows are near enough. */
bool choose_leaves_rows_out(const heddle_scop *scop, const heddle_stmt *stmt, const heddle_access *access, int y);
/* The dimension whose neighbours lie side by side in the access: its subscript, or of one like d * 64 + e or w + k the longest that
 * takes steps of one element; -1: none. */
int choose_row_dim(const chooser *c, const heddle_stmt *stmt, const heddle_access *access);
/* The member that is contiguous in the target, or in the first read where the target has none; -1: there is no member. */
int choose_fast_member_dim(const heddle_stmt *stmt);
/* The dimension that the statement's results lie along, with or without a step: of y(2 * q + r) q.  -1: there is none. */
int choose_results_along(const heddle_stmt *stmt);
/* The longest member beside dimensions x and y; -1: there is none. */
int choose_longest_member(const chooser *c, const heddle_stmt *stmt, int x, int y);
/* A block of `threads` along x and y is made one of CHOOSE_BLOCK or of `most`, by results along the longest other member.  Returns its threads. */
int64_t choose_fill_block(chooser *c, const heddle_stmt *stmt, int x, int y, int64_t threads, int64_t most);
/* Results along `dim` that one term of a guarded sum adds to at most, `0 <= e - 2 * t && e - 2 * t < 4`: 4; INT64_MAX: that is not seen. */
int64_t choose_results_at_once(const heddle_stmt *stmt, int dim);
/* Elements that a thread of many moves at once: of the chip's widest access, 8 at most, for more make the text long. */
int64_t choose_wide(const heddle_scop *scop, heddle_type type);
/* The extent of a reduction that is known to have at most `most` values; else 0. */
int64_t choose_whole_step(const heddle_stmt *stmt, int d, int64_t most);
/* Blocks of the kernel with tiles of tx along x and ty along y (-1: none), of one element along other members. */
double choose_blocks_with(const chooser *c, int x, int64_t tx, int y, int64_t ty);

/* ---- kernels.c, layouts.c, spaces.c: parts of the config that are not given.  0 or -1 ---- */

int choose_kernels(heddle_scop *scop, heddle_config *config);
int choose_layouts(heddle_scop *scop, heddle_config *config);
/* Do threads share what is inside of the members, x being the contiguous one of the dominant statement (-1: none)?  The largest read
 * decides: a contiguous local dimension makes lanes worth it, a contiguous member does not need them. */
bool choose_wants_lanes(const chooser *c, int x);
int choose_spaces(heddle_scop *scop, heddle_config *config);
/* Can rows of tiles whose results read so many elements apart be taken apart by that? */
bool choose_takes_apart(int64_t step);

/* ---- registers.c ---- */

/* 32-bit words of an array that a thread of a chip with many has in registers. */
double choose_register_words(const heddle_registers *registers);
/* Those of a register group: none where a reduction's sums are that array. */
double choose_kept_words(const heddle_kernel *kernel, const heddle_tensor *tensor, const heddle_registers *registers);
/* Registers of a thread: what it keeps between statements (`kept` words), sums, operands, addresses; `patient`: as few as there are when
 * nothing is read of tiles long before it is used. */
double choose_registers(const heddle_scop *scop, const heddle_kernel *kernel, double kept, bool patient);
/* 32-bit words that a thread asks global memory for at a time: of all copies of a loop's body. */
double choose_loaded_words(const heddle_scop *scop, const heddle_kernel *kernel, const heddle_stmt *stmt);
/* Bytes of them that loops are copied for: more where the threads of a grid are few. */
int64_t choose_asked(const heddle_scop *scop, const heddle_kernel *kernel);
/* Blocks that a unit's registers are enough for: each scheduler gives warps its own. */
double choose_register_blocks(const heddle_descriptor *descriptor, int threads, double registers);
/* Are the tiles of a reduction worth loading a step ahead, and are there registers for it?  Marks their groups then, and gives the blocks
 * for which registers are to be shared out, as choose_resident does. */
bool choose_early(const heddle_scop *scop, heddle_kernel *kernel, const heddle_stmt *stmt, double kept, int *resident);
/* Blocks for which a unit's registers are shared out, where each thread keeps so many words; 0: the compiler decides. */
int choose_resident(const heddle_scop *scop, const heddle_kernel *kernel, double kept);

/* ---- fill.c ---- */

/* Cycles of one fill of a shared tile by the threads of its block: those of the banks, and a unit's from the cache.
 * *meets: lanes of a request that could be served together wait for each other at the banks. */
double choose_fill_cycles(const heddle_scop *scop, const heddle_group *group, bool *meets);

/* ---- lines.c: what kernel k stores past the caches and asks for ahead, where its spaces are chosen ---- */

void choose_lines(const heddle_scop *scop, heddle_config *config, int k);

/* ---- products.c ---- */

/* A reduction in which two members are each missing from an operand: register tiles pay. */
bool choose_is_contraction(const chooser *c, int *x, int *y);
void choose_contraction_threads(chooser *c, int x, int y);
void choose_contraction_vectors(chooser *c, int x, int y);

#endif
