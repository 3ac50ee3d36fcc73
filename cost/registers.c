/* Registers of a thread: what it takes, and for how many blocks at the same time a unit's registers are shared out.
 *
 * Compilers decide in the end; how many they took for the default configs of layers/ (bench/static.sh) gives the weights here.  Sharing
 * registers out keeps them from unrolling until one block fills a unit, which two of them did with 255 registers a thread.
 * SPDX-License-Identifier: MIT
 */
#include "cost/choose.h"

#include <math.h>

enum { MANY_SUMS = 32 };

double choose_register_words(const heddle_registers *r)
{
	double n = heddle_type_size(r->type) > 4 ? 2 : 1;
	for (int i = 0; i < r->n; i++)
		n *= (double)r->c[i].extent;
	return n;
}

double choose_kept_words(const heddle_kernel *kernel, const heddle_tensor *tensor, const heddle_registers *registers)
{
	for (int s = 0; s < kernel->n_stmt; s++)
		if (kernel->stmt[s]->reduction && kernel->stmt[s]->access[0].tensor == tensor)
			return 0;
	return choose_register_words(registers);
}

/* Words of the largest array of sums. */
static double sum_words(const heddle_kernel *kernel)
{
	double sums = 0;
	heddle_registers here, total;
	for (int s = 0; s < kernel->n_stmt; s++)
		if (kernel->stmt[s]->reduction && heddle_stmt_sums(kernel->stmt[s], &here, &total))
			sums = fmax(sums, choose_register_words(&here));
	return sums;
}

/* Is it a product: sums of tiles in shared memory? */
static bool has_tiles(const heddle_kernel *kernel)
{
	enum { SUMS = 4 };
	bool staged = false;
	for (int g = 0; g < kernel->n_group; g++)
		staged = staged || kernel->group[g]->space == HEDDLE_SPACE_SHARED;
	return staged && sum_words(kernel) >= SUMS;
}

/* Does a thread go through a loop that compilers unroll as far as registers allow? */
static bool unrolls(const heddle_scop *scop, const heddle_kernel *kernel)
{
	enum { WINDOW = 24, ROUNDS = 4 };
	bool any = false;
	for (int s = 0; s < kernel->n_stmt; s++)
		for (int d = 0; d < kernel->stmt[s]->n_dim; d++) {
			const heddle_dim *dim = &kernel->stmt[s]->dim[d];
			const int64_t extent = choose_extent(scop, kernel->stmt[s], d);
			any = any || (dim->member < 0 && extent >= WINDOW && extent >= ROUNDS * dim->layout.tile);
		}
	return any;
}

/* Values of a window that a thread goes through one after the other in one step: written out, with their addresses. */
static double window_of(const heddle_stmt *stmt)
{
	double n = 1;
	for (int d = 0; d < stmt->n_dim; d++)
		if (stmt->dim[d].reduction && stmt->dim[d].reduce != HEDDLE_REDUCE_LANES)
			n *= (double)stmt->dim[d].layout.tile;
	return n;
}

double choose_registers(const heddle_scop *scop, const heddle_kernel *kernel, double kept)
{
	const double base = 11, sum = 1.25, operand = 1.35, dimension = 0.65, group = 1.4, term = 0.6, guard = 16, tile = 6;
	/* what the threads of a warp have in common may have registers of its own; more loads are asked for ahead then */
	const bool scalar = scop->descriptor->scalar_registers.set;
	const double own = scalar ? 0.3 : 1, work = scalar ? 0.2 : 0.1;
	enum { FEW_SUMS = 4, MOST_TERMS = 24 };
	const double sums = sum_words(kernel);
	double operands = 0, effort = 0, window = 1;
	bool guarded = false;
	int dims = 0, groups = 0;
	for (int g = 0; g < kernel->n_group; g++)
		groups += kernel->group[g]->space != HEDDLE_SPACE_REGISTER;
	for (int s = 0; s < kernel->n_stmt; s++) {
		const heddle_stmt *stmt = kernel->stmt[s];
		double beside = 0;
		dims = stmt->n_dim > dims ? stmt->n_dim : dims;
		effort = fmax(effort, choose_effort(stmt->value));
		if (!stmt->reduction)
			continue;
		for (int d = 0; d < stmt->n_dim; d++)
			beside += stmt->dim[d].reduction ? 0 : (double)(stmt->dim[d].layout.items * stmt->dim[d].layout.vector);
		operands = fmax(operands, beside);
		window = fmax(window, window_of(stmt));
		guarded = guarded || stmt->value != stmt->source->value;
	}
	return own * (base + dimension * dims + group * groups) + fmax(kept, sum * sums) + operand * operands + work * effort +
	       (sums <= FEW_SUMS ? fmin(MOST_TERMS, term * (window - 1)) : 0) + (guarded && sums > FEW_SUMS ? guard : 0) +
	       (sums >= MANY_SUMS ? tile : 0);
}

double choose_unrolling(const heddle_scop *scop, const heddle_kernel *kernel)
{
	enum { PRODUCTS = 8, SCALARS = 8, VECTORS = 16, COLUMNS = 32 };
	bool vectors = false, columns = false;
	if (has_tiles(kernel)) /* its steps wait for one another; the operands of a small one are read well ahead */
		return sum_words(kernel) < MANY_SUMS ? PRODUCTS : 0;
	if (!unrolls(scop, kernel))
		return 0;
	for (int s = 0; s < kernel->n_stmt; s++)
		for (int d = 0; d < kernel->stmt[s]->n_dim; d++) {
			const heddle_dim *dim = &kernel->stmt[s]->dim[d];
			vectors = vectors || dim->layout.vector > 1;
			columns = columns || (dim->layout.vector > 1 && dim->member >= 0 && kernel->lanes > 1);
		}
	return columns ? COLUMNS : vectors ? VECTORS : SCALARS;
}

/* Does a statement read elements of fewer bytes than it computes with, or call functions?  Both take registers of all kinds. */
static bool varied(const heddle_kernel *kernel, bool calls)
{
	enum { CALL = 20 };
	for (int s = 0; s < kernel->n_stmt; s++)
		if (calls && choose_effort(kernel->stmt[s]->value) >= CALL)
			return true;
	for (int s = 0; s < kernel->n_stmt; s++)
		for (int a = 1; a < kernel->stmt[s]->n_access; a++)
			if (kernel->stmt[s]->access[a].tensor->rank &&
			    heddle_type_size(kernel->stmt[s]->access[a].tensor->type) <
				    heddle_type_size(heddle_type_computed(kernel->stmt[s]->access[0].tensor->type)))
				return true;
	return false;
}

int choose_resident(const heddle_scop *scop, const heddle_kernel *kernel, double registers)
{
	enum { LEAST = 32, NEARLY = 36, SLACK = 8 };
	const heddle_descriptor *d = scop->descriptor;
	const int64_t warp = choose_quantity(&d->warp, 1), unit = choose_quantity(&d->register_granularity, 1);
	const double threads = (double)((kernel->threads + warp - 1) / warp * warp);
	/* open sizes take registers of their own, for addresses and edges: the compiler has the last word */
	for (int i = 0; i < scop->definition->n_size; i++)
		if (scop->definition->size[i]->min < scop->definition->size[i]->max)
			return 0;
	if (d->execution == HEDDLE_SIMD || !d->registers_per_unit.set || !d->threads_per_unit.set || kernel->threads < 2 ||
	    varied(kernel, has_tiles(kernel)))
		return 0;
	for (int s = 0; s < kernel->n_stmt; s++)
		for (int i = 0; i < kernel->stmt[s]->n_dim; i++) /* steps in order: what they leave for one another is the compiler's to keep */
			if (kernel->stmt[s]->dim[i].member < 0 && !kernel->stmt[s]->dim[i].reduction && !kernel->stmt[s]->dim[i].coincident)
				return 0;
	/* loops are unrolled before registers are counted: what they ask for ahead must have room */
	double wanted = registers + choose_unrolling(scop, kernel) + (sum_words(kernel) >= MANY_SUMS ? SLACK : 0);
	wanted = wanted <= NEARLY ? LEAST : wanted;
	const double each = ceil(wanted / (double)unit) * (double)unit;
	double blocks = fmin(floor(d->registers_per_unit.value / (each * threads)), floor(d->threads_per_unit.value / threads));
	if (d->blocks_per_unit.set)
		blocks = fmin(blocks, d->blocks_per_unit.value);
	return blocks < 1 ? 1 : (int)blocks;
}
