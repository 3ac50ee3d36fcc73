/* join: statements of a kernel that follow one another go through their tiles together where each needs only its own step of the others.
 *
 * Enters: layouts, and where tensors are.  Leaves: nothing; `map` asks for each statement whether it goes on in the loops of the one before.
 * Guaranteed: in a step of the common loops no statement needs what another one has in a later step, or for all of them a sum that
 * is not finished; no thread waits for another between them.  Order itself is proved of what `map` made.
 * SPDX-License-Identifier: MIT
 */
#include "model/nest_parts.h"

/* A loop over tiles that are the thread's, or the lanes', own. */
static bool has_tiles(const heddle_dim *dim)
{
	return dim->member < 0 && !dim->single_tile;
}

bool heddle_ends_in_step(const heddle_stmt *stmt)
{
	bool any = false;
	for (int d = 0; d < stmt->n_dim && stmt->reduction; d++)
		any = any || (!stmt->dim[d].reduction && has_tiles(&stmt->dim[d]));
	return any;
}

int heddle_innermost_loop(const heddle_stmt *stmt)
{
	int at = stmt->n_dim - 1;
	while (at >= 0 && !has_tiles(&stmt->dim[at]))
		at--;
	return at;
}

bool heddle_goes_in_order(const heddle_stmt *stmt)
{
	for (int d = 0; d < stmt->n_dim; d++)
		if (!stmt->dim[d].reduction && !stmt->dim[d].coincident)
			return true;
	return false;
}

/* May others go through the statement's tiles with it?  Tiles in shared memory and rounds have loops of their own.  What begins anew in each
 * step, or needs the step before, is all in that step, and what it leaves is in memory. */
static bool takes_others(const heddle_kernel *kernel, const heddle_stmt *stmt)
{
	const bool steps = heddle_ends_in_step(stmt) || heddle_goes_in_order(stmt);
	for (int g = 0; g < kernel->n_group; g++)
		if (kernel->group[g]->stmt == stmt && kernel->group[g]->space == HEDDLE_SPACE_SHARED)
			return false;
	for (int d = 0; d < stmt->n_dim; d++)
		if (stmt->dim[d].layout.rounds > 1 || (steps && stmt->dim[d].reduction && has_tiles(&stmt->dim[d])))
			return false;
	return !steps || stmt->access[0].group->space == HEDDLE_SPACE_GLOBAL;
}

/* Elements that a thread sums into at a time. */
static int64_t sums_of(const heddle_stmt *stmt)
{
	heddle_registers sums, total;
	int64_t n = stmt->reduction;
	if (n && heddle_stmt_sums(stmt, &sums, &total))
		for (int i = 0; i < sums.n; i++)
			n *= sums.c[i].extent;
	return n;
}

static double quantity(const heddle_quantity *of, double otherwise)
{
	return of->set && of->value > 0 ? of->value : otherwise;
}

/* Elements that half of the registers hold which a thread has where there are as many threads as can be. */
static double room_for_sums(const heddle_descriptor *d)
{
	enum { VECTORS = 16, BYTES = 16, REGISTERS = 32, ELEMENT = 4 };
	if (d->execution == HEDDLE_SIMD)
		return quantity(&d->vector_registers, VECTORS) * quantity(&d->vector_bytes, BYTES) / ELEMENT / 2;
	const bool known = d->registers_per_unit.set && d->threads_per_unit.set;
	return (known ? d->registers_per_unit.value / quantity(&d->threads_per_unit, 1) : REGISTERS) / 2;
}

/* The same loops over tiles, by the same dimensions? */
static bool same_tiles(const heddle_stmt *a, const heddle_stmt *b)
{
	bool any = false;
	if (a->n_dim != b->n_dim)
		return false;
	for (int d = 0; d < a->n_dim; d++) {
		const bool tiles = has_tiles(&a->dim[d]);
		if (tiles != has_tiles(&b->dim[d]) ||
		    (tiles && (!heddle_same_layout(&a->dim[d].layout, &b->dim[d].layout) || !heddle_expr_equal(a->source->index[d]->upper, b->source->index[d]->upper) ||
			       !heddle_expr_equal(a->source->index[d]->lower, b->source->index[d]->lower))))
			return false;
		any = any || tiles;
	}
	return any;
}

/* Are the instances of a pair that depends on each other the same thread's, by their layouts alone?  What lanes have summed is one lane's. */
static bool same_thread(const heddle_kernel *kernel, heddle_dependence *dependence)
{
	const heddle_stmt *a = dependence->source, *b = dependence->sink;
	bool same = a->n_dim == b->n_dim && heddle_stmt_has_lanes(a) == heddle_stmt_has_lanes(b);
	/* without lanes of its own a statement may run in all of the kernel's, whose writes one of them makes */
	same = same && (kernel->lanes < 2 || heddle_stmt_has_lanes(a));
	for (int g = 0; g < kernel->n_group && same; g++)
		same = kernel->group[g]->tensor != dependence->tensor || kernel->group[g]->space == HEDDLE_SPACE_GLOBAL;
	same = same && !(a->reduction && a->access[0].tensor == dependence->tensor) && !(b->reduction && b->access[0].tensor == dependence->tensor);
	for (int d = 0; d < a->n_dim && same; d++)
		if (a->dim[d].layout.threads > 1 || b->dim[d].layout.threads > 1)
			same = a->dim[d].member == b->dim[d].member && heddle_same_layout(&a->dim[d].layout, &b->dim[d].layout) &&
			       heddle_dependence_aligned(dependence, d, d);
	return same;
}

/* Does the thread that has an element in one statement have it in the other, too, without a word to the others of its block? */
static bool private(const heddle_kernel *kernel, heddle_dependence *dependence)
{
	for (int g = 0; g < kernel->n_group; g++)
		if (kernel->group[g]->tensor == dependence->tensor && kernel->group[g]->space == HEDDLE_SPACE_REGISTER)
			return true;
	return kernel->threads == 1 || same_thread(kernel, dependence);
}

/* Do all pairs of instances that depend on each other belong to one step of the loops over tiles? */
static bool in_one_step(const heddle_scop *scop, const heddle_stmt *a, const heddle_stmt *b)
{
	const int *first = &scop->first_dependence[a->position * scop->n_stmt + b->position];
	for (int at = first[0]; at < first[1]; at++) {
		heddle_dependence *dependence = &scop->dependence[at];
		if (dependence->input)
			continue;
		/* a sum has no value before all of its steps are done, be it one */
		if (a->reduction && dependence->from == 0 && !heddle_ends_in_step(a))
			return false;
		if (!private(a->kernel, dependence))
			return false;
		for (int d = 0; d < a->n_dim; d++)
			if (has_tiles(&a->dim[d]) && !heddle_dependence_aligned(dependence, d, d))
				return false;
	}
	return true;
}

/* Do the statement and the one before it allow it, whatever others there are? */
static bool is_neighbour(const heddle_kernel *kernel, int at)
{
	return at > 0 && same_tiles(kernel->stmt[at - 1], kernel->stmt[at]) && takes_others(kernel, kernel->stmt[at - 1]) &&
	       takes_others(kernel, kernel->stmt[at]);
}

/* May it go on in the loops that all from number `first` up to it share? */
static bool goes_on(const heddle_scop *scop, const heddle_kernel *kernel, int first, int at)
{
	int64_t sums = sums_of(kernel->stmt[at]);
	bool all = is_neighbour(kernel, at);
	for (int s = first; s < at && all; s++) {
		sums += sums_of(kernel->stmt[s]);
		all = in_one_step(scop, kernel->stmt[s], kernel->stmt[at]);
	}
	return all && (double)sums <= room_for_sums(scop->descriptor);
}

bool *heddle_joins(heddle_arena *arena, const heddle_scop *scop, const heddle_kernel *kernel)
{
	bool *joins = HEDDLE_NEW_ARRAY(arena, bool, kernel->n_stmt + 1);
	for (int at = 1, first = 0; at < kernel->n_stmt; at++) {
		joins[at] = !kernel->rounds_outside && goes_on(scop, kernel, first, at);
		first = joins[at] ? first : at;
	}
	return joins;
}
