/* What is read more than once where the ends of sums move with results: results of a thread share terms that are there for all of them.
 * SPDX-License-Identifier: MIT
 */
#include "cost/count_tree.h"

#include <math.h>
#include <stdlib.h>

/* The sum of a + b x over 0 <= x < n, of those that are positive. */
static double sum_of_line(int64_t a, int64_t b, int64_t n)
{
	int64_t from = 0;
	if (b > 0 && a < 0)
		from = choose_least(n, (-a + b - 1) / b);
	else if (b < 0)
		n = a <= 0 ? 0 : choose_least(n, (a - b - 1) / -b);
	else if (b == 0 && a < 0)
		n = 0;
	return (double)(n - from) * ((double)a + (double)b * (double)(from + n - 1) / 2);
}

double count_of_first(const counter *c, const shape *s, int d, int64_t n)
{
	const int64_t extent = s->d[d].extent;
	double first = 0, all = 0;
	for (int o = 0; o < s->stmt->n_dim; o++) {
		const heddle_index *index = s->stmt->source->index[o];
		if (o == d || !(choose_mentions(index->upper, d) || (index->lower && choose_mentions(index->lower, d))))
			continue;
		const linear upper = count_linear(c, index->upper), lower = index->lower ? count_linear(c, index->lower) : (linear){.affine = true};
		const linear length = count_add(upper, lower, -1);
		linear rest = length;
		rest.coefficient[d] = 0;
		if (!length.affine || !count_is_constant(&rest) || all > 0)
			return (double)n;
		all = sum_of_line(length.constant, length.coefficient[d], extent);
		first = sum_of_line(length.constant, length.coefficient[d], n);
	}
	return all > 0 ? first / all * (double)extent : (double)n;
}

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

/* Share of the terms along other dimensions that are in whole tiles of them; 0: there are none. */
static double whole_tiles_beside(const movement *m, int moving)
{
	const heddle_stmt *stmt = m->shape->stmt;
	double share = 1;
	bool any = false;
	for (int d = 0; d < stmt->n_dim; d++) {
		const int64_t tile = stmt->dim[d].layout.tile, extent = m->shape->d[d].extent;
		if (d == moving || !stmt->dim[d].reduction || extent < 1)
			continue;
		any = true;
		share *= (double)(extent / tile * tile) / (double)extent;
	}
	return any ? share : 0;
}

/* Of a sum whose ends move with results: tiles that they leave whole are read once for all results of a thread.  In others each vector of results
 * asks, and each member of those that are cut.  So many times as if all were whole. */
static double reads_at_ends(const counter *c, const movement *m)
{
	const heddle_stmt *stmt = m->shape->stmt;
	const int lockstep = heddle_lockstep_dim(stmt, NULL);
	int moving = -1;
	for (int d = 0; d < stmt->n_dim; d++) {
		if (!count_moves(c, stmt, d))
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
	double counted = 1; /* blocks that have any of them, which are what is counted, by those that they would fill */
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
		if (m->shape->d[d].unrolled && m->shape->d[d].parts == 1 && m->shape->d[d].extent > 0)
			counted *= m->shape->d[d].outer * m->shape->d[d].busy * (double)layout->tile / (double)m->shape->d[d].extent;
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
	const double asked = themselves ? whole_tiles_beside(m, moving) : 0; /* of the vectors between those whose members ask each */
	return beside == 1 || whole < 0 || vectors < 0 ? 1 : (whole + same * ((vectors - whole) * ((1 - asked) / beside + asked) + 1 - vectors)) / counted;
}

/* The one sum whose ends move with results of many threads, each of which goes through its terms by itself; -1: there is none, or it is another kind. */
static int moving_sum(const counter *c, const movement *m)
{
	const heddle_stmt *stmt = m->shape->stmt;
	int moving = -1, tied = 0;
	if (c->kernel->threads == 1 || m->tile || !stmt->reduction || m->shape->guarded != 1 || count_own_results(c->kernel))
		return -1;
	if (!count_is_affine(m))
		return -1;
	for (int d = 0; d < stmt->n_dim; d++) {
		const heddle_layout *layout = &stmt->dim[d].layout;
		const bool moves = count_moves(c, stmt, d), alone = layout->vector == 1 || count_depends(m, d) || m->shape->d[d].unrolled;
		if (m->shape->d[d].extent < 1 || layout->rounds > 1 || m->shape->d[d].harmless || m->shape->d[d].parts > 1 || !alone)
			return -1;
		if (stmt->dim[d].member >= 0 && heddle_fixed_extent(stmt->source->index[d]->upper) % layout->tile)
			return -1;
		if (moves && (moving >= 0 || !stmt->dim[d].reduction || layout->threads > 1 || layout->vector > 1))
			return -1;
		moving = moves ? d : moving;
	}
	if (moving < 0 || !count_depends(m, moving))
		return -1;
	const range_ends ends = ends_of(c, stmt->source->index[moving]);
	for (int d = 0; d < stmt->n_dim; d++) {
		const bool lower = ends.lower.coefficient[d], upper = ends.upper.coefficient[d];
		tied += lower && upper ? 2 : lower || upper;
	}
	return ends.lower.affine && ends.upper.affine && tied == 1 ? moving : -1;
}

/* Of a sum of many threads that ends earlier from one result to the next, what does not depend on those: the first one that a thread has goes furthest, and
 * all others take what it reads.  So many times as if there were as many steps as terms; 0: it is another. */
static double reads_of_furthest(const counter *c, const movement *m)
{
	const heddle_stmt *stmt = m->shape->stmt;
	int64_t group[HEDDLE_MAX_DIM];
	int moving = -1;
	if (c->kernel->threads == 1 || m->tile || !stmt->reduction || m->shape->guarded != 1 || count_own_results(c->kernel) || !count_is_affine(m))
		return 0;
	for (int d = 0; d < stmt->n_dim; d++) {
		group[d] = 1;
		if (!count_moves(c, stmt, d))
			continue;
		if (moving >= 0)
			return 0;
		moving = d;
	}
	const int results = moving < 0 ? -1 : count_ends_earlier(c, stmt, moving);
	if (results < 0 || count_depends(m, results) || m->shape->d[results].harmless || !m->shape->d[results].unrolled)
		return 0;
	for (int d = 0; d < stmt->n_dim; d++) {
		const heddle_layout *layout = &stmt->dim[d].layout;
		const bool loop = stmt->dim[d].reduction && layout->vector * layout->threads == 1 && (!m->shape->d[d].unrolled || layout->items == 1);
		const bool own = !stmt->dim[d].reduction && (count_depends(m, d) || layout->items * layout->vector == 1);
		if (layout->rounds > 1 || m->shape->d[d].parts > 1 || m->shape->d[d].parts_at_edges > 1 || (d != results && !loop && !own))
			return 0;
	}
	const heddle_layout *layout = &stmt->dim[results].layout;
	const count_ends box = count_box(c, stmt, moving);
	const double mean = count_mean(c, stmt, moving);
	group[results] = layout->threads == 1 ? layout->tile : layout->vector;
	if ((layout->items > 1 && (layout->threads > 1 || !m->shape->d[results].copied)) || mean <= 0) /* results side by side */
		return 0;
	return count_begun(c, stmt, moving, group) * (double)(box.upper - box.lower) / mean;
}

/* Reads for one term, in a block at an edge that has so many results of each dimension, of all threads that have the same result along dimension `tied`,
 * which the ends move with: those along it ask each for its own terms, and so does the first one of those that threads share out.  Others share what
 * the first one reads. */
static double reads_of_term(const movement *m, int tied, const int64_t *values, double *first)
{
	const shape *s = m->shape;
	place_part part[HEDDLE_MAX_DIM];
	double each = 1, all = 1;
	int n = 0;
	for (int d = 0; d < s->stmt->n_dim; d++) {
		const heddle_layout *layout = &s->stmt->dim[d].layout;
		if (d == tied || s->stmt->dim[d].reduction)
			continue;
		all *= (double)values[d];
		if (layout->threads > 1 || (layout->items > 1 && !s->d[d].unrolled))
			each *= (double)values[d];
		else
			part[n++] = (place_part){d, values[d], 1, 1, true, count_is_asked(s, d)};
	}
	count_order_parts(part, n, -1);
	const double reads = count_reads_of_tree(m, part, n, values, NULL, false);
	*first = reads < 0 ? 0 : each;
	return reads < 0 ? all : each * reads;
}

/* Terms of all results along `tied` which are the first ones that a thread has of its first n, where a sum begins at a later term from one result to the
 * next, and all end together: what the first one of a vector reads its others take.  -1: it is not so, or threads have several. */
static double terms_of_first(const movement *m, const range_ends *ends, int tied, int64_t n)
{
	enum { MOST_SAMPLES = 4096 };
	const shape *s = m->shape;
	const heddle_layout *layout = &s->stmt->dim[tied].layout;
	const int64_t step = ends->lower.coefficient[tied];
	double sum = 0;
	if (count_depends(m, tied) || ends->upper.coefficient[tied] || step <= 0 || s->d[tied].parts_at_edges > 1 || layout->items > 1)
		return -1;
	const int64_t blocks = (n + layout->tile - 1) / layout->tile, threads = blocks * layout->threads, every = threads / MOST_SAMPLES + 1;
	for (int64_t k = every / 2; k < threads; k += every) {
		const int64_t first = k / layout->threads * layout->tile + k % layout->threads * layout->vector, length = ends->upper.constant - ends->lower.constant - step * first;
		sum += first < n && length > 0 ? (double)(length * every) : 0;
	}
	return sum;
}

double count_ends_of_threads(const counter *c, const movement *m)
{
	const heddle_stmt *stmt = m->shape->stmt;
	const int moving = moving_sum(c, m);
	if (moving < 0)
		return reads_of_furthest(c, m);
	const range_ends ends = ends_of(c, stmt->source->index[moving]);
	const double mean = count_mean(c, stmt, moving), guards = count_within_guards(c, stmt, false);
	int tied = 0;
	while (!ends.lower.coefficient[tied] && !ends.upper.coefficient[tied])
		tied++;
	/* terms of all results along it; of those in whole blocks; there once for all that share them */
	const heddle_layout *results = &stmt->dim[tied].layout;
	const int64_t apart = llabs(ends.lower.coefficient[tied]) + llabs(ends.upper.coefficient[tied]), full = m->shape->d[tied].extent / results->tile;
	const bool shares = !count_depends(m, tied) && m->shape->d[tied].unrolled;
	const double terms = mean * (double)m->shape->d[tied].extent, inside = mean * count_of_first(c, m->shape, tied, full * results->tile);
	/* and from the middle of a thread's results to the one that goes furthest */
	const double further = shares ? (double)(full * results->threads * (results->tile - (results->threads - 1) * results->vector - 1) * apart) / 2 : 0;
	const double shared = shares ? inside / (double)(results->items * results->vector) + further : inside;
	const double firsts = terms_of_first(m, &ends, tied, m->shape->d[tied].extent), firsts_inside = terms_of_first(m, &ends, tied, full * results->tile);
	double sum = 0, once = mean; /* all that is read, and by what is counted once */
	for (int kind = 0; kind < count_kinds(m, tied); kind++) {
		count_kind k;
		const double blocks = count_blocks(m, kind, tied, &k);
		double together = blocks; /* of all results of whole blocks */
		if (blocks == 0)
			continue;
		for (int d = 0; d < stmt->n_dim; d++) {
			const bool each = count_depends(m, d) || !m->shape->d[d].unrolled;
			together *= d == tied || stmt->dim[d].reduction ? 1 : (double)(each ? k.values[d] : stmt->dim[d].layout.threads);
		}
		double first = 0;
		const double whole = k.whole && k.full ? guards : 0, asked = reads_of_term(m, tied, k.values, &first);
		if (firsts >= 0) /* what others take */
			sum += blocks * first * ((firsts - whole * firsts_inside) - (terms - whole * inside));
		sum += whole * together * shared + blocks * asked * (terms - whole * inside);
	}
	for (int d = 0; d < stmt->n_dim; d++) {
		const shape *s = m->shape;
		const bool one = !count_depends(m, d) && s->d[d].unrolled;
		if (!stmt->dim[d].reduction)
			once *= one ? s->d[d].outer * s->d[d].busy * (double)stmt->dim[d].layout.threads : (double)s->d[d].extent;
	}
	return once > 0 ? sum / once : 0;
}

/* Of a sum of vectors of terms, of which one end moves with results, do those that go furthest in their blocks end with a vector?  Blocks as long as
 * tiles or vectors of terms are told apart by what their items are, so that what they read looks different. */
static bool furthest_in_vectors(const counter *c, const heddle_stmt *stmt, int moving)
{
	const range_ends ends = ends_of(c, stmt->source->index[moving]);
	bool later = false; /* they begin later from one result to the next, and the first one goes furthest */
	for (int d = 0; d < stmt->n_dim; d++)
		later = later || ends.lower.coefficient[d] > 0;
	linear steps = later ? ends.lower : count_add(ends.upper, ends.lower, -1);
	const int64_t v = stmt->dim[moving].layout.vector;
	if (!steps.affine)
		return false;
	for (int d = 0; d < stmt->n_dim; d++) {
		const int64_t factor = steps.coefficient[d], tile = stmt->dim[d].layout.tile;
		if (factor && (factor * tile % v || tile == v || tile == stmt->dim[moving].layout.tile))
			return false;
		steps.constant += factor > 0 && !later ? factor * (tile - 1) : 0;
	}
	return steps.constant % v == 0;
}

/* The same where terms are lanes of a vector.  A vector that an end cuts is gone through term by term for each result; one that it leaves whole is
 * read for all results with that end. */
static double reads_of_parts(const counter *c, const movement *m)
{
	const heddle_stmt *stmt = m->shape->stmt;
	const int moving = heddle_lockstep_dim(stmt, NULL);
	if (c->kernel->threads > 1 || moving < 0 || m->tile || !stmt->dim[moving].reduction || !count_moves(c, stmt, moving))
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
	const double threads = count_ends_of_threads(c, m);
	return threads > 0 ? threads : reads_at_ends(c, m) * reads_of_parts(c, m);
}

/* A sum whose terms begin, or end, at a later one from one result to the next along one dimension. */
typedef struct tied_sum {
	int terms, results;   /* dimensions */
	range_ends ends;
	bool lower;           /* it is the beginning that moves */
	int64_t unit;         /* results that are a vector; 1: none are */
	int64_t lanes;        /* terms that are one; 1: none are */
	int64_t copies;       /* of a step for terms that are lanes beside a vector of results; 1: there are none */
	int64_t before, past; /* where terms that do not move with results begin, and end */
} tied_sum;

static int64_t end_at(const linear *end, int d, int64_t value)
{
	return end->constant + end->coefficient[d] * value;
}

/* Is it one?  One thread has all of the terms, one by one, and there is no other sum in it. */
static bool is_tied_sum(const counter *c, const movement *m, tied_sum *x)
{
	const heddle_stmt *stmt = m->shape->stmt;
	const int lockstep = heddle_lockstep_dim(stmt, NULL);
	*x = (tied_sum){.terms = -1, .results = -1};
	if (c->kernel->threads > 1 || m->tile || !stmt->reduction || m->shape->guarded != 1)
		return false;
	if (!count_is_affine(m))
		return false;
	for (int d = 0; d < stmt->n_dim; d++) {
		const bool plain = stmt->dim[d].layout.rounds == 1 && m->shape->d[d].extent > 0;
		const bool lanes = stmt->dim[d].reduction && stmt->dim[d].layout.vector > 1;
		const bool copies = lanes && d != lockstep && lockstep >= 0 && stmt->dim[d].layout.items == 1;
		if (!plain || (lanes && !((copies || d == lockstep) && count_depends(m, d))) ||
		    (stmt->dim[d].reduction ? x->terms >= 0 || !count_moves(c, stmt, d) : stmt->dim[d].member < 0 || count_moves(c, stmt, d)))
			return false;
		x->terms = stmt->dim[d].reduction ? d : x->terms;
	}
	if (x->terms < 0)
		return false;
	x->ends = ends_of(c, stmt->source->index[x->terms]);
	if (!x->ends.lower.affine || !x->ends.upper.affine)
		return false;
	for (int d = 0; d < stmt->n_dim; d++) {
		const bool lower = x->ends.lower.coefficient[d] != 0, upper = x->ends.upper.coefficient[d] != 0;
		if (!lower && !upper)
			continue;
		if (x->results >= 0 || stmt->dim[d].reduction || (lower && upper) || (lower ? x->ends.lower.coefficient[d] : x->ends.upper.coefficient[d]) < 0)
			return false;
		x->results = d;
		x->lower = lower;
	}
	if (x->results < 0)
		return false;
	x->unit = x->results == lockstep ? choose_least(stmt->dim[lockstep].layout.vector, c->language->max_vector) : 1;
	const count_ends box = count_box(c, stmt, x->terms);
	x->before = box.lower;
	x->past = box.upper;
	x->copies = x->terms == lockstep ? 1 : stmt->dim[x->terms].layout.vector;
	x->lanes = stmt->dim[x->terms].layout.vector / x->copies;
	return !(x->copies > 1 && x->results == lockstep);
}

/* Terms of result `value` in first <= term < last. */
static double terms_of(const tied_sum *x, int64_t value, int64_t first, int64_t last)
{
	const int64_t lower = x->lower ? end_at(&x->ends.lower, x->results, value) : x->before, upper = x->lower ? x->past : end_at(&x->ends.upper, x->results, value);
	const int64_t from = lower > first ? lower : first, to = choose_least(upper, last);
	return to > from ? (double)(to - from) : 0;
}

/* Those of them that are in whole vectors. */
static double terms_in_vectors(const tied_sum *x, int64_t value, int64_t first, int64_t last)
{
	const int64_t lower = x->lower ? end_at(&x->ends.lower, x->results, value) : x->before, upper = x->lower ? x->past : end_at(&x->ends.upper, x->results, value);
	const int64_t from = ((lower > first ? lower : first) + x->lanes - 1) / x->lanes * x->lanes, to = choose_least(upper, last) / x->lanes * x->lanes;
	return to > from ? (double)(to - from) : 0;
}

enum { MOST_ACTIVE = 128 };

/* What a block of a kind reads for one term. */
typedef struct step_reads {
	double all;                    /* where all of its results have it */
	double unit;                   /* for a unit of results by itself */
	double left[MOST_ACTIVE + 1];  /* for so many of a unit of which others do not have it */
	double ended;                  /* for all those of the block's last unit, which lacks some */
} step_reads;

/* Reads in steps first <= term < last of n results from number `from` on, each unit of which asks for itself; terms that are lanes are vectors as far
 * as there are whole ones. */
static double reads_of_units(const tied_sum *x, const step_reads *reads, int64_t from, int64_t n, int64_t first, int64_t last)
{
	double sum = 0;
	for (int64_t u = 0; u < n && x->lanes > 1; u++) {
		const double terms = terms_of(x, from + u, first, last), whole = terms_in_vectors(x, from + u, first, last);
		sum += whole * reads->unit + (terms - whole) * reads->left[1];
	}
	for (int64_t u = 0; u < n && x->lanes == 1; u += x->unit) {
		const int64_t there = choose_least(x->unit, n - u);
		double more = 0; /* steps that more of the unit's have: those of the results that go furthest have the others' */
		for (int64_t k = there; k > 0; k--) {
			const double steps = terms_of(x, from + u + (x->lower ? k - 1 : there - k), first, last);
			sum += (steps - more) * (k == x->unit ? reads->unit : k == there ? reads->ended : reads->left[k]);
			more = steps;
		}
	}
	return sum;
}

/* Copies of terms ask for each result, but results of a block share those that all of them have or none: as far from the last one that all have as whole
 * blocks are long.  So much less than if each read its own of terms from `from` on. */
static double shared_by_copies(const movement *m, const tied_sum *x, const step_reads *reads, int64_t first, int64_t n, int64_t from)
{
	const int64_t tile = m->shape->stmt->dim[x->results].layout.tile, past = end_at(&x->ends.upper, x->results, first);
	if (x->copies == 1 || x->copies % tile || past <= from)
		return 0;
	return (double)((past - from + tile - 1) / tile) * ((double)n * reads->unit - reads->all);
}

/* Reads of the block whose results begin at `first`, of which it has n: steps that all have, and those that ask.  `shares`: what one result that goes
 * furthest reads in those serves all. */
static double reads_of_block(const movement *m, const tied_sum *x, const step_reads *reads, int64_t first, int64_t n, bool shares)
{
	const int64_t tile = m->shape->stmt->dim[x->results].layout.tile, step = m->shape->stmt->dim[x->terms].layout.tile, last = first + tile - 1;
	/* tiles of terms that all results of a block have, be it whole or not */
	int64_t from = x->before, to = x->past;
	if (x->lower)
		from = choose_least(to, (end_at(&x->ends.lower, x->results, last) + step - 1) / step * step);
	else
		to = choose_least(to, end_at(&x->ends.upper, x->results, first) / step * step);
	from = from > x->before ? from : x->before;
	to = to > from ? to : from;
	int64_t asked_from = x->lower ? x->before : to, asked_to = x->lower ? from : x->past;
	double sum = 0;
	/* where tiles of both do not begin together, the last one, which lacks some, may be the one that sums begin in */
	if (x->lower && x->copies == 1 && tile % step && x->past % step) {
		const int64_t ended = x->past / step * step;
		sum += reads_of_units(x, reads, first, n, ended, x->past);
		asked_to = choose_least(asked_to, ended);
		to = from < ended ? ended : from;
	}
	/* what fills no vector is gone through by each result, but for a single term, which has a name */
	if (x->lower && x->lanes > 1 && step > 2 && to > from) {
		const int64_t vectors = to / x->lanes * x->lanes;
		sum += (double)(to - vectors) * (double)n * reads->left[1];
		to = vectors;
	}
	sum += (double)(to - from) * reads->all;
	if (!shares)
		return sum + reads_of_units(x, reads, first, n, asked_from, asked_to) - shared_by_copies(m, x, reads, first, n, asked_from);
	sum += terms_of(x, x->lower ? first : last, asked_from, asked_to) * reads->all;
	if (x->lanes == 1)
		return sum;
	const step_reads apart = {.left = {0, reads->left[1]}}; /* whole vectors are that one's */
	return sum + reads_of_units(x, &apart, first, n, asked_from, asked_to);
}

/* The same of a block that is cut along some dimension where sums begin later from one result to the next: all of its steps have the first one, and ask
 * whether they have others.  `active[a]`: what a step reads that has so many of them. */
static double reads_from_first(const tied_sum *x, const double *active, int64_t first, int64_t n)
{
	double sum = 0;
	for (int64_t a = 1; a <= n; a++) {
		const int64_t from = end_at(&x->ends.lower, x->results, first + a - 1), to = a < n ? end_at(&x->ends.lower, x->results, first + a) : x->past;
		sum += to > from ? (double)(to - from) * active[a] : 0;
	}
	return sum;
}

/* The same where terms are lanes: each result asks for whole vectors, and goes through what is left by itself.  Those that begin with a tile of terms,
 * as the first one does, ask for nothing in it but whether they are there, and stand together. */
static double reads_of_vectors_from(const movement *m, const tied_sum *x, const step_reads *reads, const double *active, int64_t first, int64_t n)
{
	const int64_t step = m->shape->stmt->dim[x->terms].layout.tile, tile = m->shape->stmt->dim[x->results].layout.tile;
	const bool together = tile % step == 0 && end_at(&x->ends.lower, x->results, first) % step == 0;
	double sum = 0, more = 0; /* terms that one more of those has */
	int64_t beside = 0;
	for (int64_t u = n - 1; u >= 0; u--) {
		const double terms = terms_of(x, first + u, x->before, x->past), whole = terms_in_vectors(x, first + u, x->before, x->past);
		sum += (terms - whole) * reads->left[1];
		beside += together && end_at(&x->ends.lower, x->results, first + u) % step == 0;
		sum += together && end_at(&x->ends.lower, x->results, first + u) % step == 0 ? 0 : whole * reads->unit;
	}
	for (int64_t u = n - 1; u >= 0 && beside > 0; u--) {
		if (end_at(&x->ends.lower, x->results, first + u) % step)
			continue;
		const double whole = terms_in_vectors(x, first + u, x->before, x->past);
		sum += (whole - more) * active[beside--];
		more = whole;
	}
	return sum;
}

/* Those of a block that is cut, whichever end moves. */
static double reads_of_cut_block(const movement *m, const tied_sum *x, const step_reads *reads, const double *active, int64_t first, int64_t n)
{
	if (!x->lower)
		return reads_of_block(m, x, reads, first, n, false);
	return x->lanes > 1 ? reads_of_vectors_from(m, x, reads, active, first, n) : reads_from_first(x, active, first, n);
}

/* Results of a block that stand beside each other along other dimensions. */
static double results_beside(const heddle_stmt *stmt, const tied_sum *x, const count_kind *k)
{
	double results = 1;
	for (int d = 0; d < stmt->n_dim; d++)
		results *= d == x->results || stmt->dim[d].reduction ? 1 : (double)k->values[d];
	return results;
}

/* What whole blocks read for a term. */
static step_reads reads_of_whole(const movement *m, const tied_sum *x, const count_kind *k)
{
	const heddle_stmt *stmt = m->shape->stmt;
	const heddle_layout *terms = &stmt->dim[x->terms].layout;
	const bool depends = count_depends(m, x->results);
	const double places = count_depends(m, x->terms) ? (double)((m->shape->d[x->terms].unrolled ? terms->items : 1) * terms->vector) : 1;
	step_reads reads = {.all = k->once / places};
	const double each = results_beside(stmt, x, k);
	bool named = false; /* of loops over what is left of a unit several read the same, and have a name for it */
	for (int d = 0; d < stmt->n_dim; d++)
		named = named || (x->lanes == 1 && !depends && d != x->results && !stmt->dim[d].reduction && !count_depends(m, d) && k->values[d] > 1);
	reads.unit = reads.all * (depends ? (double)x->unit / (double)stmt->dim[x->results].layout.tile : 1);
	for (int64_t a = 1; a <= x->unit; a++)
		reads.left[a] = named ? reads.all : (double)a * each;
	return reads;
}

/* What blocks of a kind read that are cut, along the results' or another dimension, and have n of the results; false: too many. */
static bool reads_of_cut(const counter *c, const movement *m, const tied_sum *x, count_kind *k, int64_t n, step_reads *reads)
{
	const int lockstep = x->lanes > 1 ? -1 : heddle_lockstep_dim(m->shape->stmt, NULL);
	*reads = (step_reads){0};
	for (int64_t a = 1; a <= x->unit; a++) /* loops over vectors that are cut each read by themselves */
		reads->left[a] = (double)a * results_beside(m->shape->stmt, x, k);
	k->values[x->results] = x->unit;
	reads->unit = count_under_conditions(c, m, lockstep, k->values, -1, x->results);
	k->values[x->results] = n;
	reads->all = count_under_conditions(c, m, lockstep, k->values, -1, -1);
	/* where it is the only one it is known to have some: others share what the first one reads */
	const bool single = m->shape->stmt->dim[x->results].layout.tile == x->unit;
	reads->ended = single && n > 0 ? count_under_conditions(c, m, lockstep, k->values, -1, x->results) : reads->left[n % x->unit];
	const bool known = reads->unit >= 0 && reads->all >= 0 && reads->ended >= 0;
	reads->unit /= (double)x->copies;
	reads->all /= (double)x->copies;
	return known;
}

/* Reads of blocks of a kind along other dimensions: all those along the results'.  -1: too many. */
static double reads_of_kind(const counter *c, const movement *m, const tied_sum *x, count_kind *k)
{
	enum { MOST_BLOCKS = 256 };
	const heddle_stmt *stmt = m->shape->stmt;
	const int64_t tile = stmt->dim[x->results].layout.tile, extent = m->shape->d[x->results].extent, tiles = extent / tile, rest = extent % tile;
	const int64_t begin = count_box(c, stmt, x->results).lower, end = begin + tiles * tile;
	const double inside = k->whole ? count_within_guards(c, stmt, true) : 0;
	const bool single = tile == x->unit && x->unit > 1;
	const bool shares = !count_depends(m, x->results) && !single && (x->lanes == 1 || furthest_in_vectors(c, stmt, x->terms));
	const step_reads whole = reads_of_whole(m, x, k);
	step_reads cut, last;
	double active[MOST_ACTIVE + 1] = {0}, sum = 0;
	if (tile > MOST_ACTIVE)
		return -1;
	for (int64_t a = 1; a <= tile && x->lower; a++) {
		k->values[x->results] = a;
		active[a] = count_under_conditions(c, m, x->lanes > 1 ? -1 : heddle_lockstep_dim(stmt, NULL), k->values, x->results, -1);
		if (active[a] < 0)
			return -1;
	}
	if ((!x->lower || x->lanes > 1) && (!reads_of_cut(c, m, x, k, tile, &cut) || !reads_of_cut(c, m, x, k, rest, &last)))
		return -1;
	/* from one block to the next that lies in tiles of terms in the same way reads grow evenly, but for what comes before all terms */
	const int64_t terms = stmt->dim[x->terms].layout.tile, apart = tiles > MOST_BLOCKS ? choose_least(terms, MOST_BLOCKS / 4) : tiles;
	for (int64_t way = 0; way < apart; way++) {
		const int64_t of_way = (tiles - way + apart - 1) / apart, last_of_way = way + (of_way - 1) * apart;
		const int64_t at[] = {way, way + apart, last_of_way};
		double reads[3] = {0};
		for (int i = 0; i < (of_way > 1 ? 3 : 1); i++) {
			const int64_t first = begin + at[i] * tile;
			reads[i] = inside > 0 ? inside * reads_of_block(m, x, &whole, first, tile, shares) : 0;
			if (inside < 1)
				reads[i] += (1 - inside) * reads_of_cut_block(m, x, &cut, active, first, tile);
		}
		sum += reads[0] + (double)(of_way - 1) * (reads[1] + reads[2]) / 2;
	}
	return sum + (rest > 0 ? reads_of_cut_block(m, x, &last, active, end, rest) : 0);
}

double count_moving_sums(const counter *c, const movement *m)
{
	double sum = 0;
	tied_sum x;
	if (!is_tied_sum(c, m, &x))
		return 0;
	const double counted = count_elements(m) * count_repeats(c, m);
	if (counted <= 0)
		return 0;
	for (int kind = 0; kind < count_kinds(m, x.results); kind++) {
		count_kind k;
		const double blocks = count_blocks(m, kind, x.results, &k);
		k.values[x.terms] = x.lower ? 1 : x.copies; /* of a step; of those that begin later each is asked inside of the results' condition */
		const double reads = blocks > 0 ? reads_of_kind(c, m, &x, &k) : 0;
		if (reads < 0)
			return 0;
		sum += blocks * reads;
	}
	return sum / counted;
}
