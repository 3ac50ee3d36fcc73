/* Choosing what becomes a kernel: reductions that are split, expressions that are computed once, statements that share one.
 * SPDX-License-Identifier: MIT
 */
#include "cost/choose.h"
#include "cost/rules.h"

#include "model/rewrite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- splits ---------------------------------------------------------------------------------------------------------------- */

static int64_t plain_extent(const heddle_expr *upper)
{
	heddle_scop none = {0};
	return heddle_scop_estimate(&none, upper);
}

/* Does another statement read what this one reads?  Then they share a kernel, and go over it one after the other. */
static bool shares_reads(const heddle_definition *definition, const heddle_statement *s)
{
	for (int i = 0; i < definition->n_statement; i++)
		for (int t = 0; t < definition->n_tensor; t++)
			if (definition->statement[i] != s && definition->tensor[t]->rank && heddle_expr_reads(s->value, definition->tensor[t]) &&
			    heddle_expr_reads(definition->statement[i]->value, definition->tensor[t]))
				return true;
	return false;
}

/* Values of the longest reduction with which what others read again stays in a unit's own cache. */
static int64_t cached_chunk(const heddle_definition *definition, const heddle_statement *s, const heddle_descriptor *descriptor,
			    double bytes_each)
{
	const heddle_memory *cache = heddle_descriptor_memory(descriptor, "l2");
	if (!cache || !cache->size.set || strcmp(cache->scope, "unit") != 0 || !shares_reads(definition, s))
		return INT64_MAX;
	const double n = cache->size.value / 4 / bytes_each;
	return n < 1 ? 1 : choose_power_below((int64_t)n);
}

/* The read of most subscripts. */
static const heddle_expr *largest_read(const heddle_expr *expr)
{
	const heddle_expr *best = expr->kind == HEDDLE_EXPR_READ ? expr : NULL;
	for (int i = 0; i < expr->n_arg; i++) {
		const heddle_expr *read = largest_read(expr->arg[i]);
		if (read && (!best || read->n_arg > best->n_arg))
			best = read;
	}
	return best;
}

/* A reduction this long is worth a second launch, where units take turns all that one of them sums. */
#define SPLIT_LENGTH 16384

/* Blocks of threads that one result has, as layouts have them: those threads for which rows have work, or in a reduction of columns
 * as many as a block has beside those that lie along the columns.  1 where a block is one thread, or rows are not known. */
static double blocks_of_result(const heddle_statement *s, const heddle_descriptor *descriptor)
{
	enum { VECTOR = 4, BLOCK = 256 };
	const heddle_expr *read = largest_read(s->value), *along = read && read->n_arg ? read->arg[read->n_arg - 1] : NULL;
	if (descriptor->execution == HEDDLE_SIMD || !along || along->kind != HEDDLE_EXPR_INDEX)
		return 1;
	const int64_t extent = plain_extent(along->index->upper);
	if (along->index->reduction)
		return (double)choose_least(BLOCK, choose_power_above((extent + VECTOR - 1) / VECTOR)) / BLOCK;
	return 1 / (double)choose_least(VECTOR * choose_quantity(&descriptor->warp, 1), extent);
}

/* Results of a tile that register tiles make, at least where chips are short of blocks. */
#define FEW_RESULTS (32 * 32)

/* Is no operand as large as all results together: is each used again for other results, as in products of matrices? */
static bool is_product(const heddle_statement *s, const heddle_expr *expr, int *n_read)
{
	if (expr->kind == HEDDLE_EXPR_READ && expr->n_arg) {
		bool again = false;
		for (int d = 0; d < s->n_index; d++)
			again = again || (!s->index[d]->reduction && plain_extent(s->index[d]->upper) > 1 && !choose_mentions(expr, d));
		++*n_read;
		return again;
	}
	for (int i = 0; i < expr->n_arg; i++)
		if (!is_product(s, expr->arg[i], n_read))
			return false;
	return true;
}

/* Values that a warp takes at once, by vectors, of a reduction along the rows that are read: rows of fewer share a block, and leave no more
 * blocks than these. */
static int64_t warp_chunk(const heddle_statement *s, const heddle_index *index, const heddle_descriptor *descriptor)
{
	enum { VECTOR = 4 };
	const heddle_expr *read = largest_read(s->value), *along = read && read->n_arg ? read->arg[read->n_arg - 1] : NULL;
	const bool rows = descriptor->execution != HEDDLE_SIMD && along && along->kind == HEDDLE_EXPR_INDEX && along->index == index;
	return rows ? VECTOR * choose_quantity(&descriptor->warp, 1) : 1;
}

/* About so many values, so that they divide the reduction's, where that is given and has such a part. */
static int64_t whole_chunk(const heddle_expr *upper, int64_t chunk)
{
	enum { WIDE = 1024, VECTOR = 4, LONGEST = 16 };
	const int64_t extent = heddle_fixed_extent(upper), step = chunk >= 2 * WIDE ? WIDE : chunk >= 2 * VECTOR ? VECTOR : 1;
	for (int64_t c = (chunk + step - 1) / step * step; extent > 0 && c < 2 * chunk && c < extent; c += step)
		if (extent % c == 0)
			return c;
	if (chunk > 64) { /* in whole vectors, whichever tiles there are */
		const int64_t wide = (chunk + WIDE - 1) / WIDE * WIDE;
		chunk = wide < chunk * 2 ? wide : (chunk + LONGEST - 1) / LONGEST * LONGEST;
	}
	return chunk;
}

void heddle_rules_split(heddle_arena *arena, heddle_config *config, const heddle_definition *definition,
		       const heddle_descriptor *descriptor)
{
	const int64_t units = choose_quantity(&descriptor->units, 16);
	const bool simd = descriptor->execution == HEDDLE_SIMD;
	if (config->has_split)
		return;
	config->has_split = true;
	for (int i = 0; i < definition->n_statement; i++) {
		const heddle_statement *s = definition->statement[i];
		double parallel = 1, length = 1;
		int longest = -1;
		if (s->assign == HEDDLE_ASSIGN_SET || heddle_expr_reads(s->value, s->target))
			continue;
		bool plain = true;
		for (int d = 0; d < s->n_index; d++) {
			int64_t extent = plain_extent(s->index[d]->upper);
			for (int other = 0; other < s->n_index; other++) /* results may end with results, nothing else with anything */
				plain = plain && (other == d || !(s->index[d]->reduction || s->index[other]->reduction) ||
						  (!choose_mentions(s->index[d]->upper, other) && !choose_mentions(s->index[d]->lower, other)));
			if (!s->index[d]->reduction) {
				parallel *= (double)extent;
				continue;
			}
			length *= (double)extent;
			if (longest < 0 || extent >= 4 * plain_extent(s->index[longest]->upper))
				longest = d;
		}
		for (int d = 0; d < s->n_lhs; d++)
			plain = plain && s->lhs[d]->kind == HEDDLE_EXPR_INDEX;
		if (longest < 0 || !plain)
			continue;
		int n_read = 0;
		const bool product = !simd && is_product(s, s->value, &n_read) && n_read > 1;
		const double blocks = product ? parallel / FEW_RESULTS : parallel * blocks_of_result(s, descriptor);
		if (blocks >= (double)units || length * (simd ? 1 : fmax(1, parallel / (double)units)) < SPLIT_LENGTH)
			continue;
		int64_t chunks = (int64_t)(4 * (double)units / blocks) + 1;
		if (product) { /* four blocks for a unit, of tiles that are large enough to multiply well, and of sums long enough to be worth storing */
			enum { RESULTS = 64 * 64, LEAST = 256 };
			chunks = choose_least((int64_t)(4 * (double)units * RESULTS / fmax(parallel, RESULTS)), (int64_t)length / LEAST);
			if (chunks < 2)
				continue;
		}
		for (int d = 0; d < s->n_index && !simd; d++) /* the outermost that has about so many: rows stay long for those that share them */
			if (s->index[d]->reduction && 2 * plain_extent(s->index[d]->upper) >= chunks) {
				longest = d;
				break;
			}
		const int64_t extent = plain_extent(s->index[longest]->upper);
		const int64_t least = warp_chunk(s, s->index[longest], descriptor), even = (extent + chunks - 1) / chunks;
		int64_t chunk = whole_chunk(s->index[longest]->upper, even < least ? least : even);
		chunk = choose_least(chunk, cached_chunk(definition, s, descriptor, length / (double)extent * heddle_type_size(s->value->type)));
		heddle_split split = {i, s->index[longest]->name, chunk < 1 ? 1 : chunk};
		if (chunk < extent)
			HEDDLE_PUSH(arena, config->split, config->n_split, split);
	}
}

/* ---- shares ---------------------------------------------------------------------------------------------------------------- */

/* Bytes that a block of one result keeps of the expression: the ranges of the reductions that it depends on; 0: not known. */
static double kept_bytes(const heddle_statement *s, const heddle_expr *expr)
{
	double bytes = heddle_type_size(expr->type);
	for (int d = 0; d < s->n_index; d++)
		if (s->index[d]->reduction && choose_mentions(expr, d))
			bytes *= (double)heddle_fixed_extent(s->index[d]->upper);
	return bytes;
}

void heddle_rules_share(heddle_arena *arena, heddle_config *config, const heddle_definition *definition,
		       const heddle_descriptor *descriptor)
{
	enum { WORTH = 16 }; /* additions: a store and a load of the nearest cache, and what they keep from overlapping */
	if (config->has_share || config->n_fuse || descriptor->execution != HEDDLE_SIMD)
		return;
	for (int i = 0; i < definition->n_statement; i++) {
		const heddle_statement *s = definition->statement[i];
		const heddle_expr *expr = s->assign == HEDDLE_ASSIGN_SET ? NULL : heddle_share_find(definition, i);
		double results = 1;
		for (int d = 0; d < s->n_index; d++)
			results *= s->index[d]->reduction ? 1 : (double)plain_extent(s->index[d]->upper);
		if (!expr || choose_effort(expr) < WORTH || results < (double)choose_quantity(&descriptor->units, 1))
			continue;
		const double bytes = kept_bytes(s, expr);
		if (bytes > 0 && bytes <= HEDDLE_MAX_ARRAY_BYTES)
			HEDDLE_PUSH(arena, config->share, config->n_share, i);
	}
	config->has_share = config->n_share > 0;
}

/* ---- turns ----------------------------------------------------------------------------------------------------------------- */

/* Elements that the statement computes with each element of the read. */
static double uses_of(const heddle_statement *s, const heddle_expr *read)
{
	double uses = 1;
	for (int d = 0; d < s->n_index; d++)
		if (!choose_mentions(read, d))
			uses *= (double)plain_extent(s->index[d]->upper);
	return uses;
}

/* Is what the value's condition asks different along the index?  Vectors along it are then worth little, and go along another one. */
static bool asked_along(const heddle_statement *s, const heddle_index *along)
{
	return s->value->kind == HEDDLE_EXPR_SELECT && choose_mentions(s->value->arg[0], along->position);
}

/* Do only reads like this one depend on the index? */
static bool alone_on(const heddle_expr *expr, const heddle_expr *read, const heddle_index *index)
{
	if (expr->kind == HEDDLE_EXPR_READ)
		return heddle_expr_equal(expr, read) || !choose_mentions(expr, index->position);
	bool alone = expr->kind != HEDDLE_EXPR_INDEX || expr->index != index;
	for (int i = 0; i < expr->n_arg && alone; i++)
		alone = alone_on(expr->arg[i], read, index);
	return alone;
}

/* The index that rows of what is read had better run along; NULL: they do, or it matters little.  Vectors run along the result's rows,
 * `along`: one element at a time is read of what does not run along these.  Along a reduction its lines come in sequence; across its
 * rows, each step is in another line.  Where vectors go along another index of the result instead, they are of this operand: gathered
 * one by one from rows that are shorter than a vector. */
static const heddle_index *better_row(const heddle_statement *s, const heddle_expr *read, const heddle_index *along)
{
	enum { STEPS = 64, SHORT = 16 };
	const heddle_index *row = heddle_turn_index(read, read->n_arg - 1), *longest = NULL, *result = NULL;
	for (int e = 0; e < read->n_arg; e++) {
		const bool alone = read->arg[e]->kind == HEDDLE_EXPR_INDEX;
		const heddle_index *index = heddle_turn_index(read, e);
		const int64_t extent = heddle_fixed_extent(heddle_turn_extent(read, e));
		if (extent < 1 || choose_mentions(read->arg[e], along->position))
			return NULL;
		if (alone && index->reduction && (!longest || extent > heddle_fixed_extent(longest->upper)))
			longest = index;
		if (alone && !index->reduction && extent >= SHORT && alone_on(s->value, read, index))
			result = index;
	}
	if (!row->reduction && longest && !asked_along(s, along))
		return heddle_fixed_extent(longest->upper) >= STEPS ? longest : NULL;
	return row->reduction && asked_along(s, along) && heddle_fixed_extent(heddle_turn_extent(read, read->n_arg - 1)) < SHORT ? result : NULL;
}

/* The index that the rows of the result run along, the longest of the last subscript.  NULL: there is none. */
static const heddle_index *result_row(const heddle_statement *s)
{
	const heddle_index *row = NULL;
	for (int d = 0; d < s->n_index && s->n_lhs; d++)
		if (choose_mentions(s->lhs[s->n_lhs - 1], d) && (!row || plain_extent(s->index[d]->upper) > plain_extent(row->upper)))
			row = s->index[d];
	return row;
}

void heddle_rules_turn(heddle_arena *arena, heddle_config *config, const heddle_definition *definition,
		      const heddle_descriptor *descriptor)
{
	enum { WORTH = 256 }; /* elements to compute with one that is copied */
	/* whoever names a kernel's statements numbers those of the definition */
	if (config->has_turn || config->n_fuse || config->n_kernel || descriptor->execution != HEDDLE_SIMD)
		return;
	for (int i = 0; i < definition->n_statement; i++) {
		const heddle_statement *s = definition->statement[i];
		const heddle_index *along = s->assign != HEDDLE_ASSIGN_SET ? result_row(s) : NULL;
		const heddle_expr *read;
		for (int n = 0; along && (read = heddle_turn_find(s, NULL, NULL, n)); n++) {
			const heddle_index *row = uses_of(s, read) < WORTH ? NULL : better_row(s, read, along);
			if (row && heddle_turn_find(s, read->tensor->name, row->name, 0) == read) {
				const heddle_turn turn = {i, read->tensor->name, row->name};
				HEDDLE_PUSH(arena, config->turn, config->n_turn, turn);
			}
		}
	}
	config->has_turn = config->n_turn > 0;
}

/* ---- fusion ------------------------------------------------------------------------------------------------------------------ */

static double member_blocks(const heddle_scop *scop, const heddle_kernel *kernel)
{
	double n = 1;
	for (int m = 0; m < kernel->n_member; m++)
		for (int d = 0; d < kernel->stmt[0]->n_dim; d++)
			if (kernel->stmt[0]->dim[d].member == m)
				n *= (double)choose_extent(scop, kernel->stmt[0], d);
	return n;
}

/* Blocks that the kernel would have, where each has as many members as its threads lie along. */
static double fused_blocks(const heddle_scop *scop, heddle_kernel *kernel)
{
	enum { COLUMNS = 128 };
	const chooser c = {.scop = (heddle_scop *)scop,
			   .kernel = kernel,
			   .main = choose_dominant(scop, kernel),
			   .units = choose_quantity(&scop->descriptor->units, 16)};
	const int x = choose_fast_member_dim(c.main);
	const double blocks = member_blocks(scop, kernel);
	return choose_wants_lanes(&c, x) ? blocks : blocks / (double)choose_least(COLUMNS, choose_extent(scop, c.main, x));
}

/* Dimensions along which blocks could be cut and operands be used again: register tiles live on having two of them. */
static int reuse_dims(const heddle_scop *scop, const heddle_stmt *stmt, bool members)
{
	int n = 0;
	for (int d = 0; d < stmt->n_dim && stmt->reduction; d++)
		n += stmt->dim[d].coincident && (!members || stmt->dim[d].member >= 0) && choose_has_reuse(stmt, d) &&
		     choose_extent(scop, stmt, d) > 1;
	return n;
}

/* Is there an operand that only dimensions inside of the members would use again?  Threads have registers for tiles of members. */
static bool loses_reuse(const heddle_scop *scop, const heddle_stmt *stmt)
{
	for (int a = 1; a < stmt->n_access; a++) {
		bool inside = false, members = false;
		for (int d = 0; d < stmt->n_dim; d++) {
			const bool reused = stmt->dim[d].coincident && choose_extent(scop, stmt, d) > 1 && !choose_depends_on(stmt, &stmt->access[a], d);
			members = members || (reused && stmt->dim[d].member >= 0);
			inside = inside || (reused && stmt->dim[d].member < 0);
		}
		if (stmt->access[a].tensor->rank && inside && !members)
			return true;
	}
	return false;
}

/* Would a statement of the kernel lose a dimension of its register tile, or the one that its results lie along? */
static bool loses_tile(const heddle_scop *scop, const heddle_kernel *kernel)
{
	for (int s = 0; s < kernel->n_stmt; s++) {
		const heddle_stmt *stmt = kernel->stmt[s];
		const int row = choose_results_along(stmt);
		if (reuse_dims(scop, stmt, false) < 2)
			continue;
		if (reuse_dims(scop, stmt, true) < 2 || (scop->descriptor->execution != HEDDLE_SIMD && loses_reuse(scop, stmt)))
			return true;
		if (row >= 0 && stmt->dim[row].coincident && stmt->dim[row].member < 0 && choose_has_reuse(stmt, row) && choose_extent(scop, stmt, row) > 1)
			return true;
	}
	return false;
}

/* Is there a dimension that could be laid over blocks, and is no member? */
static bool takes_turns(const heddle_scop *scop, const heddle_stmt *stmt)
{
	for (int d = 0; d < stmt->n_dim; d++)
		if (stmt->dim[d].coincident && !stmt->dim[d].reduction && stmt->dim[d].member < 0 && choose_extent(scop, stmt, d) > 1)
			return true;
	return false;
}

/* Would a statement that has register tiles compute in turns what it could side by side, its blocks being too few for the chip?  Its tiles
 * take many results each. */
static bool leaves_few_tiles(const heddle_scop *scop, const heddle_kernel *kernel)
{
	const double blocks = member_blocks(scop, kernel) / FEW_RESULTS;
	for (int s = 0; s < kernel->n_stmt; s++)
		if (reuse_dims(scop, kernel->stmt[s], true) >= 2 && takes_turns(scop, kernel->stmt[s]) &&
		    blocks < (double)choose_quantity(&scop->descriptor->units, 16))
			return true;
	return false;
}

/* Threads that a statement has work for inside of the kernel's members: along the rows that it reads or stores most of, in vectors. */
static double inner_lanes(const heddle_scop *scop, const heddle_stmt *stmt)
{
	enum { VECTOR = 4 };
	double lanes = 1, most = 0;
	for (int a = 0; a < stmt->n_access; a++) {
		const int row = stmt->access[a].tensor->rank ? heddle_row_dim(stmt, &stmt->access[a]) : -1;
		double elements = 1;
		for (int d = 0; d < stmt->n_dim; d++)
			elements *= choose_depends_on(stmt, &stmt->access[a], d) ? (double)choose_extent(scop, stmt, d) : 1;
		if (elements <= most)
			continue;
		most = elements;
		lanes = row >= 0 && stmt->dim[row].member < 0 ? ceil((double)choose_extent(scop, stmt, row) / VECTOR) : 1;
	}
	return lanes;
}

/* Would a statement that does much of the work, and could be laid over blocks, leave most threads idle that others of the kernel have
 * work for?  Few are then under way to memory at a time: measured, a fifth of what memory gives where an eighth of the threads ask. */
static bool leaves_idle(const heddle_scop *scop, const heddle_kernel *kernel)
{
	enum { BLOCK = 256, IDLE = 4, PART = 8 };
	double most = 1, total = 0;
	for (int s = 0; s < kernel->n_stmt; s++) {
		most = fmax(most, fmin(BLOCK, inner_lanes(scop, kernel->stmt[s])));
		total += choose_volume(scop, kernel->stmt[s]);
	}
	for (int s = 0; s < kernel->n_stmt; s++)
		if (PART * choose_volume(scop, kernel->stmt[s]) >= total && takes_turns(scop, kernel->stmt[s]) &&
		    IDLE * inner_lanes(scop, kernel->stmt[s]) <= most)
			return true;
	return false;
}

/* Instances that one block goes through while a launch takes: of threads, those that wait for memory together. */
static double small(const heddle_descriptor *descriptor)
{
	enum { SIMD = 65536, THREADS = 256, IN_FLIGHT = 4 };
	const heddle_memory *memory = heddle_descriptor_memory(descriptor, "global");
	if (descriptor->execution == HEDDLE_SIMD || !memory || !memory->latency.set || !descriptor->launch_overhead.set)
		return SIMD;
	return descriptor->launch_overhead.value / memory->latency.value * THREADS * IN_FLIGHT;
}

static bool depends_on_kernel(const heddle_scop *scop, const heddle_kernel *kernel, const heddle_stmt *stmt)
{
	for (int s = 0; s < kernel->n_stmt; s++)
		if (kernel->stmt[s] != stmt && heddle_stmt_constrains(scop, kernel->stmt[s], stmt))
			return true;
	return false;
}

/* Does the statement read a part of a tensor that the others of the kernel have at hand which is worth a way to memory? */
static bool takes_part(const heddle_scop *scop, const heddle_kernel *kernel, const heddle_stmt *stmt)
{
	enum { LITTLE = 64 };
	for (int a = 1; a < stmt->n_access; a++) {
		const heddle_tensor *tensor = stmt->access[a].tensor;
		double elements = heddle_type_size(tensor->type);
		for (int d = 0; d < stmt->n_dim; d++)
			elements *= choose_depends_on(stmt, &stmt->access[a], d) ? (double)choose_extent(scop, stmt, d) : 1;
		for (int s = 0; s < kernel->n_stmt && LITTLE * elements >= choose_tensor_bytes(scop, tensor); s++)
			for (int b = 0; b < kernel->stmt[s]->n_access; b++)
				if (kernel->stmt[s] != stmt && kernel->stmt[s]->access[b].tensor == tensor)
					return true;
	}
	return false;
}

/* Joining `stmt` to the kernel keeps enough independent work for the chip, or loses none. */
static bool worth_fusing(const heddle_scop *scop, heddle_kernel *kernel, heddle_stmt *stmt)
{
	const double units = (double)choose_quantity(&scop->descriptor->units, 16);
	const bool simd = scop->descriptor->execution == HEDDLE_SIMD;
	heddle_kernel alone = {.n_stmt = 1, .stmt = &stmt};
	heddle_kernel_align(scop, kernel);
	double before = member_blocks(scop, kernel);
	heddle_kernel_align(scop, &alone);
	double own = member_blocks(scop, &alone);
	HEDDLE_PUSH(scop->arena, kernel->stmt, kernel->n_stmt, stmt);
	heddle_kernel_align(scop, kernel);
	double after = member_blocks(scop, kernel);
	/* Vectors fill a block with the work that members no longer split, so a quarter of the units is enough; and what is small
	 * costs less than a launch. */
	bool worth = after >= before && after >= own;
	if (kernel->n_member)
		worth = worth || (simd ? after >= units / 4 : fused_blocks(scop, kernel) >= units);
	worth = worth && !loses_tile(scop, kernel) && (simd || (!leaves_few_tiles(scop, kernel) && !leaves_idle(scop, kernel)));
	double total = 0;
	for (int s = 0; s < kernel->n_stmt; s++)
		total += choose_volume(scop, kernel->stmt[s]);
	/* nor are members given away for what takes little of the others' results */
	worth = worth && (after >= before || takes_part(scop, kernel, stmt));
	worth = worth || (total <= small(scop->descriptor) && depends_on_kernel(scop, kernel, stmt));
	if (!worth)
		kernel->n_stmt--;
	return worth;
}

int choose_kernels(heddle_scop *scop, heddle_config *config)
{
	if (config->n_fuse)
		return 0;
	int n_kernel = 0;
	heddle_kernel *kernel = HEDDLE_NEW_ARRAY(scop->arena, heddle_kernel, scop->n_stmt + 1);
	int *of = HEDDLE_NEW_ARRAY(scop->arena, int, scop->n_stmt + 1);
	for (int i = 0; i < scop->n_stmt; i++) {
		int chosen = -1;
		for (int k = n_kernel - 1; k >= 0 && chosen < 0; k--) {
			of[i] = k;
			if (!heddle_fuse_legal(scop, of, i + 1))
				break;
			if (worth_fusing(scop, &kernel[k], scop->stmt[i]))
				chosen = k;
		}
		if (chosen < 0) {
			chosen = n_kernel++;
			HEDDLE_PUSH(scop->arena, kernel[chosen].stmt, kernel[chosen].n_stmt, scop->stmt[i]);
		}
		of[i] = chosen;
	}
	for (int i = 0; i < scop->n_stmt; i++)
		HEDDLE_PUSH(scop->arena, config->fuse, config->n_fuse, of[i]);
	for (int i = 0; i < scop->n_stmt; i++)
		for (int d = 0; d < scop->stmt[i]->n_dim; d++)
			scop->stmt[i]->dim[d].member = -1;
	return 0;
}
