/* What steps of a loop keep in registers for one another, as model/simplify_carry.c has it.
 *
 * A read of what the statement has stored a step before happens in the first step, where that has it and nothing left it in registers.
 * What others read of the same step does not, and a temporary of which nothing is read from memory is not stored.
 * SPDX-License-Identifier: MIT
 */
#include "cost/count_parts.h"

#include <math.h>

static int position_of(const counter *c, const heddle_stmt *stmt)
{
	int at = 0;
	while (c->kernel->stmt[at] != stmt)
		at++;
	return at;
}

/* Do all threads wait for each other in each step, because lanes of those that go through it together exchange what they have summed? */
static bool waits_in_step(const counter *c, int at)
{
	if (c->kernel->lanes < 2 || (heddle_lanes_shuffle(c->scop, c->kernel) && c->kernel->lanes <= c->warp))
		return false;
	for (int s = at + 1; s < c->kernel->n_stmt && c->joins[s]; s++)
		if (heddle_ends_in_step(c->kernel->stmt[s]))
			return true;
	for (int s = at - 1; s >= 0 && c->joins[s + 1]; s--)
		if (heddle_ends_in_step(c->kernel->stmt[s]))
			return true;
	return false;
}

/* The dimension whose loop, step after step, takes it to the next element that the statement stores; -1: there is none. */
static int carrying_dim(counter *c, const shape *s, const heddle_access *access)
{
	enum { MOST_STORES = 32 };
	const heddle_stmt *stmt = s->stmt;
	const heddle_access *target = &stmt->access[0];
	const int at = heddle_innermost_loop(stmt);
	double stores = 1;
	if (stmt->reduction || access->tensor != target->tensor || access->group->space != HEDDLE_SPACE_GLOBAL ||
	    target->group->space != HEDDLE_SPACE_GLOBAL)
		return -1;
	movement write = {.shape = s, .tensor = target->tensor, .subscript = count_subscripts(c, stmt, target), .write = true, .share = 1};
	const linear *read = count_subscripts(c, stmt, access);
	for (int g = 0; g < c->kernel->n_group; g++)
		if (c->kernel->group[g]->stmt == stmt && c->kernel->group[g]->space == HEDDLE_SPACE_SHARED)
			return -1;
	for (int d = 0; d < stmt->n_dim; d++) {
		const heddle_layout *layout = &stmt->dim[d].layout;
		const bool whole = (layout->items == 1 || s->d[d].unrolled) && layout->rounds == 1 && s->d[d].parts <= 1;
		write.dims[d] = true;
		stores *= (double)(layout->items * layout->vector);
		if (!whole)
			return -1;
	}
	if (at < 0 || waits_in_step(c, position_of(c, stmt)) || stmt->dim[at].layout.tile != 1 || stores > MOST_STORES * (double)count_access_width(c, &write))
		return -1;
	for (int e = 0; e < access->tensor->rank; e++) {
		const linear apart = count_add(write.subscript[e], read[e], -1);
		if (!count_is_constant(&apart) || apart.constant != write.subscript[e].coefficient[at])
			return -1;
	}
	return at;
}

/* Has the statement before left in registers what the first step reads? */
static bool is_left(counter *c, int at, const heddle_access *access, int d)
{
	const heddle_stmt *stmt = c->kernel->stmt[at], *before = at > 0 ? c->kernel->stmt[at - 1] : NULL;
	if (!before || before->access[0].tensor != access->tensor || before->access[0].group->space != HEDDLE_SPACE_GLOBAL ||
	    !count_is_straight(c, before, false))
		return false;
	for (int e = 0; e < access->tensor->rank; e++) {
		linear read = count_linear(c, count_subscript(stmt, access, e));
		const linear stored = count_over_members(before, count_linear(c, count_subscript(before, &before->access[0], e)), false);
		read.constant += read.coefficient[d] * count_value(c, stmt->source->index[d]->lower, 0);
		read.coefficient[d] = 0;
		read = count_over_members(stmt, read, false);
		const linear apart = count_add(read, stored, -1);
		if (!count_is_constant(&apart) || apart.constant)
			return false;
	}
	return true;
}

/* Is there a part of a vector at some edge, whose members are gone through by a loop?  Such blocks carry nothing. */
static bool has_parts(const counter *c, const heddle_stmt *stmt)
{
	for (int d = 0; d < stmt->n_dim; d++)
		if (c->kernel->threads == 1 && stmt->dim[d].layout.vector > 1 && !choose_divisible(stmt, d, stmt->dim[d].layout.vector))
			return true;
	return false;
}

/* Share of the instances that are in such blocks. */
static double at_edges(const counter *c, const shape *s)
{
	double whole = 1;
	for (int d = 0; d < s->stmt->n_dim && has_parts(c, s->stmt); d++) {
		const int64_t extent = s->d[d].extent;
		if (s->stmt->dim[d].member >= 0 && extent > 0)
			whole *= 1 - (double)(extent % s->stmt->dim[d].layout.tile) / (double)extent;
	}
	return 1 - whole;
}

bool count_first_share(counter *c, const shape *s, const heddle_access *access, double *share)
{
	const int d = carrying_dim(c, s, access);
	if (d < 0)
		return false;
	const double steps = (double)s->d[d].extent;
	const bool none = steps < 2 || fabs(*share - (steps - 1) / steps) < 1e-9; /* of the first step */
	const double edges = at_edges(c, s), inside = none || is_left(c, position_of(c, s->stmt), access, d) ? 0 : *share / steps;
	*share = edges * *share + (1 - edges) * inside;
	return edges == 0;
}

/* Does the statement read what it has stored a step before from registers?  `*first`: the first step from memory. */
static bool carries(counter *c, int at, bool *first)
{
	const heddle_stmt *stmt = c->kernel->stmt[at];
	const shape s = count_shape(c, stmt);
	bool any = false;
	*first = false;
	for (int a = 1; a < stmt->n_access; a++) {
		double share = stmt->access[a].expr ? count_read_share(c, stmt, stmt->access[a].expr) : 1;
		if (stmt->access[a].tensor != stmt->access[0].tensor)
			continue;
		const bool one = carrying_dim(c, &s, &stmt->access[a]) >= 0;
		count_first_share(c, &s, &stmt->access[a], &share);
		any = any || one;
		*first = *first || !one || share != 0;
	}
	return any;
}

double count_asked(counter *c, const shape *of, const heddle_access *access)
{
	const heddle_stmt *stmt = of->stmt;
	const int at = position_of(c, stmt), a = (int)(access - stmt->access);
	bool first;
	for (int s = at - 1; s >= 0 && c->joins[s + 1]; s--) {
		const heddle_stmt *before = c->kernel->stmt[s];
		if (before->access[0].tensor != access->tensor)
			continue;
		const bool kept = count_is_straight(c, stmt, true) && count_the_same(c, stmt, a, before, 0, true) && carries(c, s, &first);
		return kept ? at_edges(c, of) : 1;
	}
	return 1;
}

bool count_stays(counter *c, int at)
{
	const heddle_tensor *tensor = c->kernel->stmt[at]->access[0].tensor;
	bool first;
	if (tensor->role != HEDDLE_ROLE_TEMPORARY || has_parts(c, c->kernel->stmt[at]) || !carries(c, at, &first) || first)
		return false;
	for (int k = 0; k < c->scop->n_kernel; k++)
		for (int s = 0; s < c->scop->kernel[k]->n_stmt; s++) {
			const heddle_stmt *other = c->scop->kernel[k]->stmt[s];
			for (int a = 0; a < other->n_access && other != c->kernel->stmt[at]; a++) {
				if (other->access[a].tensor != tensor)
					continue;
				if (c->scop->kernel[k] != c->kernel || a == 0)
					return false;
				const shape of = count_shape(c, other);
				if (count_asked(c, &of, &other->access[a]) > 0)
					return false;
			}
		}
	return true;
}
