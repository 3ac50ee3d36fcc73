/* What is left of vectors, terms, rounds and tiles that nothing fills: a loop goes through it by itself, and reads for each of its members what those
 * of a whole one share.
 * SPDX-License-Identifier: MIT
 */
#include "cost/count_tree.h"

#include <math.h>

/* The dimension along which an access that many threads make is of vectors, whose last one may lack some that are read one by one; -1: there is none. */
static int dim_of_members(const counter *c, const movement *m)
{
	const shape *s = m->shape;
	const heddle_stmt *stmt = s->stmt;
	const int lockstep = s->inner >= 0 ? count_vectors_dim(s) : heddle_lockstep_dim(stmt, NULL), row = heddle_tensor_inner(m->tensor);
	int64_t any[HEDDLE_MAX_DIM];
	int d = lockstep;
	if (c->kernel->threads == 1 || lockstep < 0)
		return -1;
	for (int k = 0; k < HEDDLE_MAX_DIM; k++)
		any[k] = -1;
	if (!stmt->reduction && !m->tile && stmt->access[0].group->space == HEDDLE_SPACE_REGISTER && count_goes_on(stmt) && row >= 0) {
		const int64_t w = count_member_width(c, m, any);
		for (d = 0; d < stmt->n_dim && !(w > 1 && stmt->dim[d].layout.vector == w && m->subscript[row].coefficient[d] == 1);)
			d++;
		return d < stmt->n_dim ? d : -1;
	}
	const bool sums = m->tile && stmt->reduction && count_depends(m, d) && !s->d[d].harmless && count_single_elements(c, m, d) == 0;
	const bool stores = !m->tile && !stmt->reduction && !count_goes_on(stmt);
	return (sums || stores) && s->width > 1 && s->d[d].parts == 1 ? d : -1;
}

/* Of many threads that sum up nothing, or read vectors of a tile for what they sum up: what is left of the last vector is gone through by itself for
 * each result beside it, and reads for each of its members. */
static double reads_of_last_members(const counter *c, const movement *m)
{
	const shape *s = m->shape;
	const heddle_stmt *stmt = s->stmt;
	const int d = dim_of_members(c, m);
	double results = 1;
	if (d < 0 || s->guarded != 1 || count_own_results(c->kernel) || count_moves(c, stmt, d) || s->d[d].extent < 1 || stmt->dim[d].member < 0 ||
	    heddle_fixed_extent(stmt->source->index[d]->upper) > 0)
		return 1;
	if (count_sums_of_vectors(c, m) > 0 || count_members_beside(c, m) > 0) /* have it */
		return 1;
	const int64_t v = choose_least(stmt->dim[d].layout.vector, c->language->max_vector), rest = s->d[d].extent % v, vectors = s->d[d].extent / v;
	if (rest == 0)
		return 1;
	if (!count_depends(m, d))
		return (stmt->dim[d].layout.items > 1 && s->d[d].copied) || count_indexes_registers(c, stmt, d) ? 1 : (double)(vectors + rest) / (double)(vectors + 1);
	/* what stays in registers has a name for those inside of the first result's condition, or of none */
	const bool named = !m->tile && !stmt->reduction && stmt->access[0].group->space == HEDDLE_SPACE_REGISTER;
	for (int o = 0; o < stmt->n_dim; o++) {
		const double threads = s->d[o].outer * s->d[o].busy * (double)stmt->dim[o].layout.threads;
		const bool asks = !named || (stmt->dim[o].layout.threads > 1 && count_is_asked(s, o));
		if (o != d && asks && stmt->dim[o].member >= 0 && s->d[o].unrolled && s->d[o].copied && !count_depends(m, o) && threads > 0)
			results *= fmin((double)(s->d[o].items * s->d[o].members), (double)s->d[o].extent / threads);
	}
	return 1 + (results - 1) * (double)rest / (double)s->d[d].extent;
}

/* Of one thread that sums up nothing: what is left of a vector is a loop, which reads for each of its members what they have in common.  Where a
 * block's items stand in the text reads_at_edges has it.  So many times as if vectors read it. */
static double reads_of_left_over(const counter *c, const movement *m)
{
	const heddle_stmt *stmt = m->shape->stmt;
	const int d = heddle_lockstep_dim(stmt, NULL);
	if (c->kernel->threads > 1 || m->tile || stmt->reduction || d < 0 || count_depends(m, d) || count_moves(c, stmt, d) || m->shape->guarded != 1 ||
	    stmt->dim[d].layout.rounds > 1 || heddle_fixed_extent(stmt->source->index[d]->upper) > 0 || m->shape->d[d].extent < 1)
		return 1;
	const heddle_layout *layout = &stmt->dim[d].layout;
	const int64_t v = m->shape->width, tiles = m->shape->d[d].extent / layout->tile,
		      rest = m->shape->d[d].extent % layout->tile;
	const bool loop = !m->shape->d[d].unrolled || m->shape->d[d].parts > 1;
	if (v == 1 || rest == 0 || (!loop && stmt->dim[d].member >= 0))
		return 1;
	/* vectors that stand together have a name for it */
	bool together = m->shape->d[d].parts_at_edges == 1 && layout->tile > v && !loop;
	for (int o = 0; o < stmt->n_dim; o++)
		together = together && (o == d || stmt->dim[o].layout.vector == 1);
	const bool all = together && m->shape->d[d].copied;
	const double of_tile = loop ? (double)(layout->tile / v) : 1;
	const double left = all ? 1 : together && layout->vector > v ? ceil((double)rest / (double)layout->vector) : (double)(rest / v + rest % v);
	return ((double)tiles * of_tile + left) / (loop ? (double)m->shape->d[d].extent / (double)v : m->shape->d[d].outer);
}

/* Of what sums up nothing and has no vectors: members that stand together have a name for what they share, of which a loop goes over all that have one.
 * So many times as if each read its part. */
static double reads_of_members(const counter *c, const movement *m)
{
	const shape *s = m->shape;
	double factor = 1;
	if (m->tile || s->stmt->reduction || s->width != 1 || s->guarded != 1)
		return 1;
	for (int d = 0; d < s->stmt->n_dim; d++) {
		const double extent = (double)s->d[d].extent, vector = (double)s->stmt->dim[d].layout.vector;
		const bool together = s->d[d].parts == 1 && s->d[d].parts_at_edges == 1;
		if (s->stmt->dim[d].layout.rounds > 1 || count_moves(c, s->stmt, d))
			return 1;
		if (extent > 0 && together && !s->d[d].unrolled && !count_depends(m, d))
			factor *= ceil(extent / vector) * vector / extent;
	}
	return factor;
}

/* Of one thread that goes over its tile in rounds: those that are whole share what they read, in what is left each result reads for itself.  So many
 * times as if there were as many rounds as blocks have. */
static double reads_of_rounds(const counter *c, const movement *m)
{
	const shape *s = m->shape;
	double ran = 1, whole = 1, full = 1, all = 1, others = 1;
	if (c->kernel->threads > 1 || !s->stmt->reduction || s->guarded != 1 || !count_splits_rounds(s))
		return 1;
	for (int d = 0; d < s->stmt->n_dim; d++) {
		const heddle_layout *layout = &s->stmt->dim[d].layout;
		const int64_t length = layout->tile / layout->rounds, rounds = s->d[d].extent / length;
		const bool each = count_depends(m, d) || !s->d[d].unrolled;
		if (layout->rounds == 1 || s->d[d].harmless) {
			others *= !s->stmt->dim[d].reduction && !each ? (double)s->d[d].items : 1;
			continue;
		}
		const double of_round = each ? (double)length : 1, most = s->d[d].outer * (double)layout->rounds;
		ran *= m->whole ? most * of_round : each || s->d[d].parts > 1 ? (double)s->d[d].extent : most;
		const double first = count_of_first(c, s, d, rounds * length);
		whole *= first / (double)length * of_round;
		full *= first;
		all *= (double)s->d[d].extent;
	}
	return ran > 0 ? (whole + (all - full) * others) / ran : 1;
}

/* Of one thread, what does not depend on terms along d that are lanes of vectors: those that fill none are gone through one by one, and each reads it,
 * but where several results do, or several vectors of the text, which have `most` members, for which it has a name.  Copies that are asked for, where a
 * tile or a block lacks some, read it each.  `v`: terms of a copy.  So many times as if all of a step's shared it. */
static double reads_beside_terms(const movement *m, int d, int64_t v, int64_t most)
{
	const shape *s = m->shape;
	const heddle_layout *layout = &s->stmt->dim[d].layout;
	const int64_t tiles = s->d[d].extent / layout->tile, rest = s->d[d].extent % v;
	const bool each = !s->d[d].unrolled || layout->tile == v || count_has_sum_inside(m, d); /* vector reads it */
	double alone = layout->vector <= most, whole = 1; /* share of the blocks that have one result which takes it; of those that have all of theirs */
	bool single = true;
	for (int o = 0; o < s->stmt->n_dim; o++) {
		const int64_t tile = s->stmt->dim[o].layout.tile, extent = s->d[o].extent;
		if (s->stmt->dim[o].reduction || tile == 1 || extent == 0)
			continue;
		single = false;
		whole *= extent % tile == 0 ? 1 : count_depends(m, o) ? 1 - (double)(extent % tile) / (double)extent : (double)(extent / tile) / s->d[o].outer;
		if (s->d[o].unrolled && !count_depends(m, o))
			alone *= extent % tile == 1 ? 1 / s->d[o].outer : 0;
	}
	if (single && v > most && layout->tile > v) { /* in a tile that lacks some vectors of the text ask, each for itself */
		const int64_t left = s->d[d].extent % layout->tile;
		const double of_tile = each ? (double)(layout->tile / v) : 1, steps = s->d[d].unrolled ? s->d[d].outer * of_tile : (double)s->d[d].extent / (double)v;
		return ((double)tiles * of_tile + (double)(left / most + left % most)) / steps;
	}
	const double last = rest == 0 ? 0 : alone * (double)rest + 1 - alone, all = (double)(s->d[d].extent / v) + last;
	if (each)
		return all / (s->d[d].unrolled ? s->d[d].outer * (double)(layout->tile / v) : (double)s->d[d].extent / (double)v);
	return (whole * ((double)tiles + all - (double)(tiles * (layout->tile / v))) + (1 - whole) * all) / s->d[d].outer;
}

/* Of one thread, what does not depend on terms along d that are lanes of vectors of the text, step by step, by the kinds of blocks: steps of whole
 * vectors share it as far as conditions on results allow, and what is left is gone through term by term for each result.  In whole blocks that has a name
 * where tiles are such vectors; where a loop goes over several it is not known that there is any.  So many times as if all of a step's shared it; 0: it is
 * another kind. */
static double reads_beside_steps(const counter *c, const movement *m, int d)
{
	const shape *s = m->shape;
	const heddle_stmt *stmt = s->stmt;
	const heddle_layout *lanes = &stmt->dim[d].layout;
	const bool loop = !s->d[d].unrolled;
	const bool apart = lanes->items > 1 && !s->d[d].copied && count_has_sum_inside(m, d); /* copies around loops over other terms: each reads it */
	bool plain = count_is_affine(m) && lanes->vector <= c->language->max_vector && (loop || lanes->items == 1 || apart);
	double others = 1; /* results that take the same, in whole blocks */
	int asked_for = 0; /* dimensions */
	for (int o = 0; o < stmt->n_dim; o++) {
		plain = plain && !count_moves(c, stmt, o) && stmt->dim[o].layout.rounds == 1 && s->d[o].extent > 0 && heddle_fixed_extent(stmt->source->index[o]->upper) == 0;
		if (stmt->dim[o].reduction)
			plain = plain && (o == d || (stmt->dim[o].layout.vector == 1 && !(s->d[o].unrolled && stmt->dim[o].layout.items > 1)));
		else
			plain = plain && stmt->dim[o].member >= 0 && s->d[o].unrolled && !s->d[o].harmless;
		others *= stmt->dim[o].reduction || count_depends(m, o) ? 1 : (double)stmt->dim[o].layout.tile;
		asked_for += !stmt->dim[o].reduction && stmt->dim[o].layout.tile > 1 && count_is_asked(s, o);
	}
	if (!plain)
		return 0;
	const int64_t v = lanes->vector, steps = s->d[d].extent / v, rest = s->d[d].extent % v;
	const double inside = count_within_guards(c, stmt, true), once = loop ? (double)s->d[d].extent / (double)v : s->d[d].outer * (apart ? (double)lanes->items : 1);
	const left_members left = {.n = rest};
	double sum = 0, ran = 0;
	for (int kind = 0; kind < count_kinds(m, -1); kind++) {
		count_kind k;
		place_part part[2 * HEDDLE_MAX_DIM + 1];
		const double blocks = count_blocks(m, kind, -1, &k);
		const int n = count_parts_of_place(s, -1, k.values, false, part);
		count_order_parts(part, n, -1);
		for (int o = 0; o < n && inside == 1 && asked_for == 1; o++) /* blocks at an edge lack the last result, and of two have one */
			part[o].several = part[o].several && !(part[o].asked && stmt->dim[part[o].dim].layout.tile == 2);
		const double asked = blocks > 0 ? count_reads_of_tree(m, part, n, k.values, NULL, false) : 0;
		const double members = blocks > 0 && rest > 0 ? count_reads_of_tree(m, part, n, k.values, &left, false) : 0;
		if (asked < 0 || members < 0)
			return 0;
		const double of_whole = k.once * ((double)steps + (rest == 0 ? 0 : others == 1 ? (double)rest : (loop || apart) && lanes->items > 1 ? (double)rest * others : 1));
		const double of_cut = asked * (double)steps + members;
		sum += blocks * (k.whole ? inside * of_whole + (1 - inside) * of_cut : of_cut);
		ran += blocks * k.once * once;
	}
	return ran > 0 ? sum / ran : 0;
}

/* Of one thread whose results along d are a vector, what does not depend on terms that are lanes beside it: a step's lanes share it, but for those of
 * a tile that lacks some, each of which has a condition.  Each member of what is left of the vector reads its own for each term; what is not the
 * members' has a name there, for all of a step's.  So many times as if all of a step's shared it; 0: others take it as well. */
static double reads_of_results_vector(const counter *c, const movement *m, int d, int lanes)
{
	const shape *s = m->shape;
	const heddle_layout *vector = &s->stmt->dim[d].layout, *term = &s->stmt->dim[lanes].layout;
	const int64_t v = choose_least(vector->vector, c->language->max_vector), results = s->d[d].extent, terms = s->d[lanes].extent;
	for (int o = 0; o < s->stmt->n_dim; o++)
		if (!s->stmt->dim[o].reduction && o != d && s->stmt->dim[o].layout.tile > 1)
			return 0;
	if ((!count_depends(m, d) && vector->tile > v) || s->d[d].harmless || results < 1 || heddle_fixed_extent(s->stmt->source->index[d]->upper) > 0)
		return 0;
	const bool inside = count_has_sum_inside(m, lanes), loop = !s->d[lanes].unrolled && term->items > 1, each = loop || inside;
	const double once = loop ? (double)terms / (double)term->vector : s->d[lanes].outer * (inside ? (double)term->items : 1);
	const int64_t rest = terms % term->tile, cut = results % vector->tile, left = cut % v;
	/* the first step of a tile that lacks some has no condition where it stands in the text, as do its lanes, each under one of its own */
	const int64_t vectors = vector->tile / v, length = term->items * (1 + inside + term->vector * (2 + (vectors > 1 ? 2 * vectors : 1)));
	const int64_t shared = !loop && term->items > 1 && length <= MOST_UNROLLED ? choose_least(rest, term->vector) - 1 : 0;
	const double whole = (double)(terms / term->tile * (each ? term->items : 1) + (rest > 0 ? rest - shared : 0));
	const double steps = (double)((terms + term->vector - 1) / term->vector);
	if (!count_depends(m, d))
		return ((double)(results / vector->tile) * whole + (cut > 0 ? steps : 0)) / (s->d[d].outer * once);
	return ((double)(results - cut) * whole + (double)(cut - left) * steps + (double)(left * terms)) / ((double)results * once);
}

/* Of terms that are lanes of vectors those that fill none are gone through one by one, by each result; what does not depend on them is read for each,
 * too. */
static double reads_of_last_terms(const counter *c, const movement *m, double edges)
{
	const heddle_stmt *stmt = m->shape->stmt;
	const int d = heddle_lockstep_dim(stmt, NULL);
	const int lanes = count_lanes(stmt);
	double results = 1;
	if (c->kernel->threads == 1 && !m->tile && d >= 0 && !stmt->dim[d].reduction && lanes >= 0 && !count_depends(m, lanes) && !count_moves(c, stmt, lanes) &&
	    m->shape->guarded == 1 && m->shape->d[lanes].extent > 0 && heddle_fixed_extent(stmt->source->index[lanes]->upper) == 0) {
		const double reads = reads_of_results_vector(c, m, d, lanes);
		/* lanes beside vectors of results are copies */
		return reads > 0 ? reads : edges * reads_beside_terms(m, lanes, 1, c->language->max_vector);
	}
	const double beside = count_beside_lanes(c, m);
	if (beside > 0)
		return beside;
	if (m->tile || d < 0 || !stmt->dim[d].reduction || count_moves(c, stmt, d) || m->shape->guarded != 1 ||
	    heddle_fixed_extent(stmt->source->index[d]->upper) > 0 || m->shape->d[d].extent < 1)
		return edges;
	const int64_t v = choose_least(stmt->dim[d].layout.vector, c->language->max_vector), rest = m->shape->d[d].extent % v, vectors = m->shape->d[d].extent / v;
	if (!count_depends(m, d) && c->kernel->threads > 1)
		return rest > 0 ? edges * (double)(vectors + rest) / (double)(vectors + 1) : edges;
	if (!count_depends(m, d)) {
		const double reads = reads_beside_steps(c, m, d);
		return reads > 0 ? reads : edges * reads_beside_terms(m, d, stmt->dim[d].layout.vector, c->language->max_vector);
	}
	double several = 1, whole = c->kernel->threads == 1 && stmt->dim[d].layout.tile == 2 ? 1 : 0; /* one term that is left has a name in whole blocks */
	for (int o = 0; o < stmt->n_dim; o++) {
		const int64_t tile = stmt->dim[o].layout.tile, extent = m->shape->d[o].extent;
		const double tiles = m->shape->d[o].outer;
		if (stmt->dim[o].reduction || extent < 1)
			continue;
		whole *= count_depends(m, o) || tiles < 1 ? (double)(extent - extent % tile) / (double)extent : (double)(extent / tile) / tiles;
		if (m->shape->d[o].unrolled && !count_depends(m, o)) {
			const double all = (double)(m->shape->d[o].items * m->shape->d[o].members);
			/* blocks at an edge have fewer */
			results *= tiles < 1 ? all : fmin(all, (double)extent / tiles);
			several *= all;
		}
	}
	/* a term's condition of many threads is around all results */
	results = c->kernel->threads > 1 ? edges : results - whole * (several - 1);
	const double last = (double)rest / (double)m->shape->d[d].extent;
	/* elements two apart take two vectors, but not those that are read one by one */
	const double strided = count_strided(c, m);
	return strided > 1 ? (edges * (1 - last) * 2 + results * last) / strided : edges * (1 - last) + results * last;
}

double count_left(const counter *c, const movement *m, double edges)
{
	return reads_of_last_terms(c, m, edges) * reads_of_last_members(c, m) * reads_of_left_over(c, m) * reads_of_members(c, m) * reads_of_rounds(c, m);
}
