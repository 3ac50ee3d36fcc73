/* What is read more than once where the ends of sums move with results: results of a thread share terms that are there for all of them.
 * SPDX-License-Identifier: MIT
 */
#include "cost/count_parts.h"

#include <math.h>
#include <stdlib.h>

/* Where a range begins and ends. */
typedef struct range_ends {
	linear lower, upper;
} range_ends;

static range_ends ends_of(const counter *c, const heddle_index *index)
{
	return (range_ends){index->lower ? count_linear(c, index->lower) : (linear){.affine = true}, count_linear(c, index->upper)};
}

/* Steps that a sum takes for any of a thread's results, by those of one result: one end of it moves with them, and the result that
 * goes furthest takes all of the steps.  0: it is not so. */
static double steps_of_any(const counter *c, const movement *m, int moving)
{
	const heddle_stmt *stmt = m->shape->stmt;
	const range_ends ends = ends_of(c, stmt->source->index[moving]);
	const count_ends box = count_box(c, stmt, moving);
	const double mean = count_mean(c, stmt, moving);
	const double all = (double)(box.upper - box.lower);
	double further = 0; /* of results of a thread between which others' lie, on average */
	int64_t group[HEDDLE_MAX_DIM];
	bool moves[2] = {false, false};
	if (!ends.lower.affine || !ends.upper.affine || mean <= 0)
		return 0;
	for (int d = 0; d < stmt->n_dim; d++) {
		const heddle_layout *layout = &stmt->dim[d].layout;
		const int64_t lower = ends.lower.coefficient[d], upper = ends.upper.coefficient[d];
		const bool shares = (lower || upper) && !count_depends(m, d), apart = shares && layout->threads > 1;
		group[d] = shares && !apart ? layout->tile : 1;
		further += apart ? (double)((layout->tile - (layout->threads - 1) * layout->vector - 1) * (llabs(lower) + llabs(upper))) / 2 : 0;
		moves[0] = moves[0] || (shares && lower);
		moves[1] = moves[1] || (shares && upper);
		/* which one is the last result of a block at an edge is not known */
		if (shares && (lower < 0 || upper > 0 || apart) && m->shape->d[d].extent % layout->tile)
			return 0;
	}
	const double begun = moves[0] && moves[1] ? -1 : count_begun(c, stmt, moving, group);
	return begun < 0 ? 0 : (begun * all + further) / mean;
}

/* Of a sum whose ends move with results: tiles that they leave whole are read once for all results of a thread.  In others each vector of results
 * asks, and each member of those that are cut.  So many times as if all were whole. */
static double reads_at_ends(const counter *c, const movement *m)
{
	const heddle_stmt *stmt = m->shape->stmt;
	const int lockstep = heddle_lockstep_dim(stmt, NULL);
	int moving = -1;
	for (int d = 0; d < stmt->n_dim; d++) {
		if (!count_moves(stmt, d))
			continue;
		if (moving >= 0 || !stmt->dim[d].reduction || stmt->dim[d].layout.threads > 1)
			return 1;
		moving = d;
	}
	if (moving < 0 || m->tile || lockstep < 0 || lockstep == moving)
		return 1;
	const heddle_index *index = stmt->source->index[moving];
	int64_t tile[HEDDLE_MAX_DIM], vector[HEDDLE_MAX_DIM];
	double same = 1, beside = 1, others = 1;
	for (int d = 0; d < stmt->n_dim; d++) {
		const heddle_layout *layout = &stmt->dim[d].layout;
		const bool tied = choose_mentions(index->upper, d) || choose_mentions(index->lower, d);
		tile[d] = tied || d == moving ? layout->tile : 1;
		vector[d] = tied && d == lockstep ? choose_least(layout->vector, c->language->max_vector) : 1;
		if (!tied && !stmt->dim[d].reduction && !count_depends(m, d) && m->shape->d[d].unrolled)
			others *= (double)(m->shape->d[d].items * m->shape->d[d].members);
		if (!tied || count_depends(m, d))
			continue;
		if (layout->rounds > 1)
			return 1;
		same *= (double)(layout->items * layout->vector);
		beside *= (double)vector[d];
	}
	/* lanes of terms are copies: which results have them is known where tiles of both begin together */
	const heddle_layout *terms_of = &stmt->dim[moving].layout;
	if (terms_of->vector > 1 && terms_of->items == 1 && tile[lockstep] == terms_of->tile && vector[lockstep] > 1 && !count_depends(m, lockstep))
		return 1;
	if (vector[lockstep] > 1 && count_depends(m, lockstep)) { /* each member of one that is cut reads for each of the others */
		const double vectors = others > 1 ? count_whole(c, stmt, moving, vector) : 1;
		return vectors < 0 ? 1 : vectors + (1 - vectors) * others;
	}
	/* Of several vectors the one that goes furthest asks for nothing, or for its members in any case: what it reads serves others; so does what a
	 * single result does.  Members ask each where the loop over them has no bound of its own, which is where all that is cut is in one tile of
	 * terms and the bound is one more than what is computed anyway. */
	const int64_t terms = stmt->dim[moving].layout.tile, results = stmt->dim[lockstep].layout.tile;
	const bool single = results == (int64_t)beside && (beside > 2 || terms > 1);
	const bool themselves = beside > 1 && single;
	const double steps = themselves ? 0 : steps_of_any(c, m, moving);
	if (steps > 0)
		return steps;
	const double whole = count_whole(c, stmt, moving, tile), vectors = count_whole(c, stmt, moving, vector);
	return beside == 1 || whole < 0 || vectors < 0 ? 1 : whole + same * ((vectors - whole) / beside + 1 - vectors);
}

/* Of a sum of vectors of terms, of which one end moves with results, do those that go furthest in their blocks end with a vector?  Blocks as long as
 * tiles or vectors of terms are told apart by what their items are, so that what they read looks different. */
static bool furthest_in_vectors(const counter *c, const heddle_stmt *stmt, int moving)
{
	const range_ends ends = ends_of(c, stmt->source->index[moving]);
	linear steps = count_add(ends.upper, ends.lower, -1);
	const int64_t v = stmt->dim[moving].layout.vector;
	if (!steps.affine)
		return false;
	for (int d = 0; d < stmt->n_dim; d++) {
		const int64_t factor = steps.coefficient[d], tile = stmt->dim[d].layout.tile;
		if (factor && (factor * tile % v || tile == v || tile == stmt->dim[moving].layout.tile))
			return false;
		steps.constant += factor > 0 ? factor * (tile - 1) : 0;
	}
	return steps.constant % v == 0;
}

/* The same where terms are lanes of a vector.  A vector that an end cuts is gone through term by term for each result; one that it leaves whole is
 * read for all results with that end. */
static double reads_of_parts(const counter *c, const movement *m)
{
	const heddle_stmt *stmt = m->shape->stmt;
	const int moving = heddle_lockstep_dim(stmt, NULL);
	if (c->kernel->threads > 1 || moving < 0 || m->tile || !stmt->dim[moving].reduction || !count_moves(stmt, moving))
		return 1;
	const heddle_index *index = stmt->source->index[moving];
	int64_t tile[HEDDLE_MAX_DIM], vector[HEDDLE_MAX_DIM];
	double tied = 1, all = 1;
	bool within = true; /* blocks of results that ends move with are parts of vectors of terms */
	for (int d = 0; d < stmt->n_dim; d++) {
		const heddle_layout *layout = &stmt->dim[d].layout;
		const bool moves = choose_mentions(index->upper, d) || choose_mentions(index->lower, d);
		within = within && (!moves || (layout->tile > 1 && stmt->dim[moving].layout.vector % layout->tile == 0));
		tile[d] = moves || d == moving ? layout->tile : 1;
		vector[d] = d == moving ? layout->vector : 1;
		if (d == moving || stmt->dim[d].reduction || count_depends(m, d) || !m->shape->d[d].unrolled)
			continue;
		if (layout->rounds > 1)
			return 1;
		const double extent = (double)m->shape->d[d].extent, outer = m->shape->d[d].outer; /* blocks at an edge have fewer results */
		all *= moves || stmt->dim[d].member < 0 || extent < 1 || outer < 1 ? (double)m->shape->d[d].items : fmin((double)m->shape->d[d].items, extent / outer);
		tied *= moves ? (double)m->shape->d[d].items : 1;
	}
	const double whole = count_whole(c, stmt, moving, tile), vectors = count_whole(c, stmt, moving, vector);
	if (!count_depends(m, moving) && (all == 1 || within) && vector[moving] <= c->language->max_vector && vectors >= 0 && whole >= 0) {
		/* once for all vectors that stand together, where all of them are whole, else for each; and for each term that is gone through by itself, by
		 * each result */
		const int64_t v = vector[moving], together = m->shape->d[moving].unrolled ? tile[moving] : v;
		const double terms = (m->shape->d[moving].unrolled ? m->shape->d[moving].share : 1) * (double)together; /* of a loop the share is counted */
		const double full = together > v ? whole : vectors;
		return terms * (full / (double)together + (vectors - full) / (double)v + all * (1 - vectors));
	}
	if (all == 1 || whole < 0 || vectors < 0)
		return 1;
	/* the result that goes furthest has whole vectors in any case, which others take */
	const double steps = furthest_in_vectors(c, stmt, moving) ? steps_of_any(c, m, moving) : 0;
	return whole + (steps > 0 ? steps - whole : tied * (vectors - whole)) + all * (1 - vectors);
}

double count_at_ends(const counter *c, const movement *m)
{
	return reads_at_ends(c, m) * reads_of_parts(c, m);
}
