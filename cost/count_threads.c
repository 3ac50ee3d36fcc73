/* What many threads read more than once in blocks at an edge: each item asks for its result, and reads under its own condition.
 * SPDX-License-Identifier: MIT
 */
#include "cost/count_tree.h"

#include <math.h>

/* Reads that stand in the text of a block at an edge for what is read once in whole ones: where results of a window
 * need the same they share it there only.  `named`: but for rounds of loops that there are at an edge only. */
static double reads_apart(const movement *m, bool named)
{
	shape edge = *m->shape;
	movement there = *m;
	double reads = 1;
	there.shape = &edge;
	for (int d = 0; d < edge.stmt->n_dim; d++) {
		const heddle_layout *layout = &edge.stmt->dim[d].layout;
		const bool depends = count_depends(m, d), unrolled = edge.d[d].unrolled;
		if (!named)
			reads *= depends ? (double)((unrolled ? edge.d[d].items : 1) * edge.d[d].members) : 1;
		else if (unrolled && !edge.d[d].copied && (depends || choose_divisible(edge.stmt, d, layout->tile)))
			reads *= (double)edge.d[d].items;
		edge.d[d].unrolled = unrolled && edge.d[d].copied;
	}
	const double names = named ? count_names_at_edges(&there) : 0;
	return fmax(1, (named ? reads * (names > 0 ? names : count_elements(&there)) : reads) / count_elements(m));
}

double count_single_elements(const counter *c, const movement *m, int lockstep)
{
	const heddle_stmt *stmt = m->shape->stmt;
	int along = lockstep;
	if (!m->tile)
		return 1;
	if (count_access_width(c, m) > 1 && count_lockstep(m) >= 0 && !stmt->dim[count_lockstep(m)].reduction)
		return 0;
	for (int d = 0; d < stmt->n_dim; d++) /* lanes of terms beside vectors of results */
		if (stmt->dim[d].reduce == HEDDLE_REDUCE_LANES && (along < 0 || !count_depends(m, along)))
			along = d;
	if (along < 0 || stmt->dim[along].layout.vector == 1 || !count_depends(m, along))
		return 1;
	if (!stmt->dim[along].reduction)
		return 0;
	const int row = heddle_tile_array_row(m->tile);
	const int64_t members = m->shape->d[along].members;
	const bool beside = m->subscript[row].coefficient[along] == m->tile->phases && count_tile_begin(m, row, 2, NULL) == 0;
	return beside ? (double)(members % 2) / (double)members : 1;
}

/* Do terms of a window along d stand in the text of which a step may lack some?  Each of them is under a condition of its own. */
static bool asks_each_term(const shape *s, int d)
{
	return heddle_is_window(s->stmt, d) && s->d[d].unrolled && s->d[d].items > 1 && count_is_left_out(s->stmt, d);
}

/* Of many threads that go on with values, as sums do, where nothing asks for a thread's first result, since tiles hold something for those that do not
 * exist, or its condition is around all others: so many times as if all were shared.  0: it is another. */
static double reads_of_first(const counter *c, const movement *m)
{
	const heddle_stmt *stmt = m->shape->stmt;
	const shape *s = m->shape;
	place_part part[2 * HEDDLE_MAX_DIM], of_one[2 * HEDDLE_MAX_DIM]; /* of all that a thread has; of one result where each asks for itself */
	int64_t there[HEDDLE_MAX_DIM];
	bool asked[HEDDLE_MAX_DIM] = {0}, apart[HEDDLE_MAX_DIM] = {0}, vector[HEDDLE_MAX_DIM], around = false;
	int n_part = 0, n_one = 0;
	double sum = 0, ran = 0, terms = 1;
	if (!count_goes_on(stmt) || s->guarded != 1 || count_own_results(c->kernel) || (!stmt->reduction && count_within_guards(c, stmt, false) < 1))
		return 0;
	if (!count_is_affine(m))
		return 0;
	for (int d = 0; d < stmt->n_dim; d++) {
		const heddle_dim *dim = &stmt->dim[d];
		if (count_moves(c, stmt, d) || dim->layout.rounds > 1 || s->d[d].parts > 1)
			return 0;
		asked[d] = dim->member >= 0 && count_is_asked(s, d);
		const bool idle = dim->member >= 0 && !s->d[d].harmless && count_has_idle_threads(stmt, d);
		apart[d] = dim->layout.threads > 1 && (idle ? dim->layout.threads == dim->layout.tile : asked[d]); /* the first one asks, too */
		if ((idle && !apart[d]) || (asked[d] && !s->d[d].unrolled))
			return 0;
		asked[d] = asked[d] && !apart[d];
		/* conditions on terms are around those that all results ask for, or vectors: nothing is shared there */
		vector[d] = asked[d] && stmt->reduction && dim->layout.vector > 1 && count_reads_vectors(c, s, d);
		around = around || apart[d] || vector[d];
	}
	for (int d = 0; d < stmt->n_dim && around; d++)
		terms *= asks_each_term(s, d) ? (double)s->d[d].items : 1;
	for (int members = 0; members < 2; members++)
		for (int d = 0; d < stmt->n_dim; d++) {
			const heddle_layout *layout = &stmt->dim[d].layout;
			const int64_t items = s->d[d].unrolled ? s->d[d].items : 1;
			if (apart[d] || (around && asks_each_term(s, d)))
				continue;
			if (members)
				part[n_part++] = (place_part){d, s->d[d].members, 1, 1, true, asked[d] && !(around && vector[d])};
			else
				part[n_part++] = (place_part){d, items, layout->vector, layout->threads * layout->vector, true, asked[d]};
			if (!asked[d] || vector[d])
				of_one[n_one++] = part[n_part - 1];
		}
	count_order_parts(part, n_part, -1);
	count_order_parts(of_one, n_one, -1);
	const double alone = around && count_fills_before(c, s) ? 1 : 0; /* the first one of the terms that ask, where a sum goes on before it */
	for (int kind = 0; kind < (1 << stmt->n_dim); kind++) { /* of the block, along each dimension: whole, or cut */
		double blocks = 1, once = count_elements(m), results = 1, others = 1; /* of a thread, that ask for themselves; that do in terms of which all do */
		bool whole = count_any_whole(s);
		for (int d = 0; d < stmt->n_dim && blocks > 0; d++) {
			const heddle_layout *layout = &stmt->dim[d].layout;
			const int64_t tile = layout->tile, rest = s->d[d].extent % tile;
			const bool cut = kind >> d & 1;
			there[d] = INT64_MAX;
			if (stmt->dim[d].member < 0) {
				blocks *= cut ? 0 : 1;
				continue;
			}
			blocks *= cut ? (rest > 0 ? 1 : 0) : (double)(s->d[d].extent / tile);
			results *= apart[d] ? (double)(cut ? rest : tile) / (double)layout->threads : 1;
			const double busy = (double)choose_least(layout->threads, (rest + layout->vector - 1) / layout->vector) / (double)layout->threads;
			once *= apart[d] && cut ? count_depends(m, d) ? (double)rest / (double)tile : busy : 1;
			whole = whole && !(cut && count_is_left_out(stmt, d));
			others *= !asked[d] || vector[d] ? 1 : (double)(cut ? rest : tile);
			there[d] = cut && asked[d] ? rest : INT64_MAX;
			once *= cut && asked[d] && count_depends(m, d) ? (double)rest / (double)tile : 1;
		}
		const double together = whole ? 0 : count_reads_of_tree(m, part, n_part, there, NULL, false);
		const double each = whole || alone == 0 ? 0 : others * count_reads_of_tree(m, of_one, n_one, there, NULL, false);
		if (blocks > 0 && (together < 0 || each < 0))
			return 0;
		const double asking = ((terms - alone) * together + alone * each) / (terms > 1 ? count_rest(c, m) : 1);
		sum += blocks * (whole ? once : results * asking);
		ran += blocks * once;
	}
	return ran > 0 ? sum / ran : 0;
}

/* Is the access one to whole vectors of results along d? */
static bool reads_vectors(const counter *c, const movement *m, int d)
{
	return count_depends(m, d) && count_lockstep(m) == d && count_access_width(c, m) > 1;
}

bool count_has_all_threads(const counter *c, const heddle_stmt *stmt)
{
	int64_t threads = 1;
	for (int d = 0; d < stmt->n_dim; d++)
		threads *= stmt->dim[d].layout.threads;
	return threads == c->kernel->threads;
}

bool count_reads_vectors(const counter *c, const shape *s, int d)
{
	for (int a = 1; a < s->stmt->n_access; a++) {
		const heddle_access *access = &s->stmt->access[a];
		const bool shared = access->group->space == HEDDLE_SPACE_SHARED;
		movement m = {.shape = s, .access = access, .tensor = access->tensor, .tile = shared ? access->group : NULL};
		if (!m.tensor->rank || !access->affine || (!shared && access->group->space != HEDDLE_SPACE_GLOBAL))
			continue;
		m.subscript = count_subscripts(c, s->stmt, access);
		for (int k = 0; k < s->stmt->n_dim; k++)
			m.dims[k] = true;
		if (reads_vectors(c, &m, d))
			return true;
	}
	return false;
}

/* Is it a sum of many threads that reads vectors of results along d, some of which may be missing, and results of a box? */
static bool is_sum_of_vectors(const counter *c, const movement *m, int d)
{
	const heddle_stmt *stmt = m->shape->stmt;
	if (c->kernel->threads == 1 || !stmt->reduction || m->shape->guarded != 1 || count_own_results(c->kernel) || d < 0 || stmt->dim[d].member < 0 ||
	    !count_is_asked(m->shape, d) || count_within_guards(c, stmt, false) < 1)
		return false;
	if (!count_is_affine(m))
		return false;
	for (int o = 0; o < stmt->n_dim; o++) {
		const heddle_layout *layout = &stmt->dim[o].layout;
		if (count_moves(c, stmt, o) || layout->rounds > 1 || m->shape->d[o].parts > 1 || !count_is_alone(m, o))
			return false;
		if (stmt->dim[o].member >= 0 && (heddle_fixed_extent(stmt->source->index[o]->upper) % layout->tile || (layout->items > 1 && !m->shape->d[o].unrolled)))
			return false;
	}
	return count_reads_vectors(c, m->shape, d);
}

/* Reads of all threads of a block that has so many results of each dimension, some of which may be missing: the condition of a whole vector along
 * `along` is around all that it takes, and those of other results of the thread are inside, but for vectors, which have a name outside of these.  Each
 * result of what is left of a vector reads for itself under other results' conditions, but for the block's first one, which is there.  -1: too many. */
static double reads_of_vector_sums(const counter *c, const movement *m, int along, const int64_t *values)
{
	const heddle_stmt *stmt = m->shape->stmt;
	const int64_t v = choose_least(stmt->dim[along].layout.vector, c->language->max_vector);
	const bool named = reads_vectors(c, m, along);
	place_part part[HEDDLE_MAX_DIM];
	const int64_t rest = values[along] % v;
	const int64_t first = values[along] < v && stmt->dim[along].layout.threads == 1 && !count_fills_before(c, m->shape);
	double threads = 1, left = (double)(rest - first);
	int n = 0;
	for (int d = 0; d < stmt->n_dim; d++) {
		const heddle_layout *layout = &stmt->dim[d].layout;
		const bool asked = count_is_asked(m->shape, d), depends = count_depends(m, d);
		if (stmt->dim[d].member < 0 || d == along)
			continue;
		left *= asked || depends ? (double)values[d] : (double)layout->threads;
		if (layout->threads == 1)
			part[n++] = (place_part){d, values[d], 1, 1, true, asked};
		else /* the first one asks, too */
			threads *= depends || (asked && !named) ? (double)values[d] : fmin((double)layout->threads, ceil((double)values[d] / (double)layout->vector));
	}
	count_order_parts(part, n, -1);
	const double reads = count_reads_of_tree(m, part, n, values, NULL, false);
	return reads < 0 ? -1 : ((double)(values[along] / v) * (count_depends(m, along) ? (double)v : 1) + (double)first) * threads * reads + left;
}

double count_sums_of_vectors(const counter *c, const movement *m)
{
	const heddle_stmt *stmt = m->shape->stmt;
	const shape *s = m->shape;
	const int along = heddle_lockstep_dim(stmt, NULL);
	double sum = 0, once = 1;
	if (!is_sum_of_vectors(c, m, along))
		return 0;
	for (int kind = 0; kind < (1 << stmt->n_dim); kind++) { /* of the block, along each dimension: whole, or cut */
		double blocks = 1, shared = 1;
		int64_t values[HEDDLE_MAX_DIM];
		for (int d = 0; d < stmt->n_dim; d++) {
			const heddle_layout *layout = &stmt->dim[d].layout;
			const int64_t rest = s->d[d].extent % layout->tile;
			const bool cut = kind >> d & 1;
			values[d] = cut && !s->d[d].harmless ? rest : layout->tile;
			if (stmt->dim[d].member < 0)
				blocks *= cut ? 0 : 1;
			else
				blocks *= cut ? (rest > 0 ? 1 : 0) : (double)(s->d[d].extent / layout->tile);
			shared *= stmt->dim[d].member < 0 ? 1 : (double)(count_depends(m, d) ? layout->tile : layout->threads);
		}
		const double reads = blocks == 0 ? 0 : kind == 0 ? shared : reads_of_vector_sums(c, m, along, values);
		if (reads < 0)
			return 0;
		sum += blocks * reads;
	}
	for (int d = 0; d < stmt->n_dim; d++) {
		const bool all = s->d[d].harmless, depends = count_depends(m, d);
		if (stmt->dim[d].member < 0)
			continue;
		once *= depends ? (all ? s->d[d].outer * (double)stmt->dim[d].layout.tile : (double)s->d[d].extent)
				: s->d[d].outer * (all ? 1 : s->d[d].busy) * (double)stmt->dim[d].layout.threads;
	}
	return once > 0 ? sum / once : 0;
}

/* Reads of one thread for the terms of one result, which are lanes along d, of what does not depend on them: in whole blocks, or in others.  Lanes of a
 * tile that lacks terms stand under a condition each, but for the first of a step, which there is; in the last tile of whole blocks it is known
 * only of what is left of the first step.  `vectors`: whole ones have one condition. */
static double reads_beside_steps(const shape *s, int d, bool vectors, bool whole)
{
	const heddle_layout *layout = &s->stmt->dim[d].layout;
	const int64_t v = layout->vector, tiles = s->d[d].extent / layout->tile, rest = s->d[d].extent % layout->tile;
	const bool loop = !s->d[d].unrolled && layout->items > 1;
	const double begun = ceil((double)rest / (double)v);
	if (!whole)
		return loop ? (double)(tiles * layout->items) + begun : (double)tiles + (rest > 0);
	const int64_t first = loop ? 0 : choose_least(rest, v), others = rest - first;
	const double last = vectors ? (double)(others / v + others % v) : (double)others;
	return (double)(tiles * (loop ? layout->items : 1)) + (first > 0) + last;
}

double count_beside_lanes(const counter *c, const movement *m)
{
	const heddle_stmt *stmt = m->shape->stmt;
	const shape *s = m->shape;
	const int lanes = heddle_lockstep_dim(stmt, NULL);
	double sum = 0, once = 1;
	if (c->kernel->threads == 1 || !stmt->reduction || lanes < 0 || !stmt->dim[lanes].reduction || count_depends(m, lanes) || s->guarded != 1 ||
	    count_own_results(c->kernel) || count_within_guards(c, stmt, false) < 1 || stmt->dim[lanes].layout.threads > 1 ||
	    heddle_fixed_extent(stmt->source->index[lanes]->upper) > 0 || stmt->dim[lanes].layout.vector > c->language->max_vector)
		return 0;
	if (!count_is_affine(m))
		return 0;
	const bool vectors = count_reads_vectors(c, s, lanes);
	bool lacks = false, apart = true; /* do blocks lack any results; does each of a thread's ask for itself, the first one, too? */
	for (int d = 0; d < stmt->n_dim; d++) {
		const heddle_layout *layout = &stmt->dim[d].layout;
		if (count_moves(c, stmt, d) || layout->rounds > 1 || s->d[d].parts > 1 || s->d[d].extent < 1 || !count_is_alone(m, d) || (d != lanes && stmt->dim[d].reduction))
			return 0;
		if (stmt->dim[d].reduction)
			continue;
		if (stmt->dim[d].member < 0 || heddle_fixed_extent(stmt->source->index[d]->upper) % layout->tile || (layout->items > 1 && !s->d[d].unrolled))
			return 0;
		lacks = lacks || s->d[d].extent % layout->tile;
		apart = apart && (layout->threads > 1 || layout->tile == 1);
	}
	if (vectors && lacks && !apart) /* which results of a block at an edge have a name depends on the order */
		return 0;
	const int64_t v = stmt->dim[lanes].layout.vector;
	const double steps = vectors ? ceil((double)s->d[lanes].extent / (double)v) : (double)s->d[lanes].extent; /* in which a result reads it */
	for (int kind = 0; kind < (1 << stmt->n_dim); kind++) { /* of the block, along each dimension: whole, or cut */
		double blocks = 1, shared = 1, each = 1;
		bool asked = false;
		for (int d = 0; d < stmt->n_dim; d++) {
			const heddle_layout *layout = &stmt->dim[d].layout;
			const int64_t rest = s->d[d].extent % layout->tile;
			const bool cut = kind >> d & 1, asks = !stmt->dim[d].reduction && count_is_asked(s, d);
			const int64_t values = cut && asks ? rest : layout->tile;
			if (stmt->dim[d].reduction) {
				blocks *= cut ? 0 : 1;
				continue;
			}
			blocks *= cut ? (rest > 0 ? 1 : 0) : (double)(s->d[d].extent / layout->tile);
			shared *= (double)(count_depends(m, d) ? values : layout->threads);
			each *= (double)(count_depends(m, d) || asks ? values : layout->threads);
			asked = asked || asks;
		}
		const bool terms = kind > 0 && asked; /* results ask for themselves */
		sum += blocks * (terms ? each * steps : shared * reads_beside_steps(s, lanes, vectors, kind == 0));
	}
	for (int d = 0; d < stmt->n_dim; d++) {
		const bool all = s->d[d].harmless || m->whole;
		if (d == lanes)
			once *= s->d[d].unrolled ? s->d[d].outer : (double)s->d[d].extent / (double)stmt->dim[d].layout.vector;
		else
			once *= count_depends(m, d) ? (all ? s->d[d].outer * (double)stmt->dim[d].layout.tile : (double)s->d[d].extent)
						    : s->d[d].outer * (all ? 1 : s->d[d].busy) * (double)stmt->dim[d].layout.threads;
	}
	return once > 0 ? sum / once : 0;
}

/* Does a statement that sums up nothing read along its vectors, which are inside of other members, what those share? */
static bool has_members_beside(const counter *c, const movement *m, int along)
{
	const heddle_stmt *stmt = m->shape->stmt;
	bool any = false;
	if (m->shape->inner < 0 || m->tile || count_goes_on(stmt) || m->shape->guarded != 1 || count_own_results(c->kernel) ||
	    !count_depends(m, along) || m->shape->width < 2 || stmt->access[0].group->space != HEDDLE_SPACE_GLOBAL || count_within_guards(c, stmt, false) < 1)
		return false;
	if (!count_is_affine(m))
		return false;
	for (int d = 0; d < stmt->n_dim; d++) {
		const heddle_layout *layout = &stmt->dim[d].layout;
		if (count_moves(c, stmt, d) || layout->rounds > 1 || m->shape->d[d].parts > 1 || m->shape->d[d].extent < 1 || !count_is_alone(m, d) ||
		    heddle_fixed_extent(stmt->source->index[d]->upper) % layout->tile)
			return false;
		any = any || (d != along && !count_depends(m, d) && layout->vector > 1);
	}
	return any;
}

/* Reads of all threads for so many values of dimension d, which the access does not depend on, in a block that lacks some results. */
static double reads_beside(const shape *s, int d, int64_t values)
{
	const heddle_layout *layout = &s->stmt->dim[d].layout;
	const double begun = ceil((double)values / (double)layout->vector);
	if (s->d[d].parts_at_edges > 1) /* members are a loop there */
		return (double)values;
	return s->d[d].copied || layout->items == 1 ? fmin((double)layout->threads, begun) : begun;
}

double count_members_beside(const counter *c, const movement *m)
{
	const heddle_stmt *stmt = m->shape->stmt;
	const shape *s = m->shape;
	const int along = s->inner;
	double sum = 0, once = 1;
	if (!has_members_beside(c, m, along))
		return 0;
	const bool loop = !count_indexes_registers(c, stmt, along); /* over what is left of a vector */
	for (int kind = 0; kind < (1 << stmt->n_dim); kind++) { /* of the block, along each dimension: whole, or cut */
		double blocks = 1, shared = 1, copies = 1, each = 1, full = 1, left = 0; /* in whole blocks; in others, of vectors and of single members */
		for (int d = 0; d < stmt->n_dim; d++) {
			const heddle_layout *layout = &stmt->dim[d].layout;
			const int64_t extent = s->d[d].extent, rest = extent % layout->tile, tiles = extent / layout->tile;
			const bool cut = kind >> d & 1, inside = stmt->dim[d].member < 0, depends = count_depends(m, d);
			const int64_t values = inside ? extent : cut ? rest : layout->tile;
			const double of_tile = s->d[d].unrolled ? (double)layout->threads : (double)(layout->threads * layout->items);
			blocks *= inside ? !cut : cut ? rest > 0 : (double)tiles;
			if (d == along) {
				left = (double)(values % s->width);
				full = (double)values - left;
			} else if (!depends && inside) { /* a loop in each block */
				const double begun = ceil((double)rest / (double)layout->vector);
				shared *= (double)tiles * of_tile + (s->d[d].copied ? begun > 0 : begun);
				copies *= (double)tiles * reads_beside(s, d, layout->tile) + reads_beside(s, d, rest);
				each *= (double)extent;
				continue;
			} else if (!depends) {
				copies *= reads_beside(s, d, values);
			}
			shared *= depends ? (double)values : of_tile;
			each *= d == along ? 1 : (double)values;
			copies *= depends && d != along ? (double)values : 1;
		}
		sum += blocks == 0 ? 0 : blocks * (kind == 0 ? shared : full * copies + left * (loop ? each : copies));
	}
	for (int d = 0; d < stmt->n_dim; d++) {
		const double extent = (double)s->d[d].extent;
		once *= count_depends(m, d)  ? extent
			: s->d[d].unrolled ? s->d[d].outer * s->d[d].busy * (double)stmt->dim[d].layout.threads
					   : extent / (double)stmt->dim[d].layout.vector;
	}
	return once > 0 ? sum / once : 0;
}

/* The same of many threads: in blocks at an edge each item computes its result, or adds to its sum, under a condition of its own, and reads what it
 * takes there; what is `named` has a name for all copies, whose conditions all hold only where the first one's does. */
static double reads_of_copies(const counter *c, const movement *m, double single, bool named)
{
	const heddle_stmt *stmt = m->shape->stmt;
	const int lockstep = heddle_lockstep_dim(stmt, NULL);
	double once = count_own_results(c->kernel) ? 0 : 1, all = 1, shared = 1;
	if (!stmt->reduction)
		once = count_within_guards(c, stmt, false);
	double whole = once;
	for (int d = 0; d < stmt->n_dim; d++) {
		const heddle_layout *layout = &stmt->dim[d].layout;
		const shape *s = m->shape;
		if (stmt->dim[d].member < 0 || choose_divisible(stmt, d, layout->tile) ||
		    count_guards(stmt, d)) /* what a guard leaves is counted by it */
			continue;
		if (count_moves(c, stmt, d) || layout->rounds > 1)
			return 1;
		const int64_t known = heddle_fixed_extent(stmt->source->index[d]->upper);
		if (known > 0 && known < layout->tile && layout->threads == 1 && !named) { /* all of them are there in any block, of which none may be whole */
			once *= known % layout->vector ? 0 : 1;
			whole *= known % layout->vector ? 0 : 1;
			continue;
		}
		const int64_t extent = s->d[d].extent, tiles = extent / layout->tile;
		const bool depends = count_depends(m, d);
		const double runs = s->d[d].harmless ? s->d[d].outer * (double)layout->tile : (double)extent;
		if (depends || !s->d[d].unrolled || count_has_loop_inside(c, m, d)) {
			const double part = runs > 0 ? (double)(tiles * layout->tile) / runs : 1;
			once *= part;
			whole *= part;
			continue;
		}
		const bool again = named ? !s->d[d].copied : !s->d[d].harmless; /* those of which nothing is asked share */
		/* an item's members share what a vector of the text does, be they one or stand by themselves beside each other */
		const bool together = named && s->d[d].parts == 1 && (s->width == 1 ? s->d[d].parts_at_edges == 1 : d == lockstep && s->width > 1);
		const int64_t vector = !together ? 1 : s->width > 1 ? s->width : layout->vector, places = again ? layout->tile / vector : layout->threads;
		once *= (double)(tiles * layout->threads);
		whole *= (double)(tiles * places);
		all *= again ? ceil(runs / (double)vector) : s->d[d].outer * (double)layout->threads * (s->d[d].harmless ? 1 : s->d[d].busy);
		shared *= s->d[d].outer * (double)layout->threads * (s->d[d].harmless ? 1 : s->d[d].busy);
	}
	/* where results of a window need the same they share it, but not at an edge */
	return shared > 0 ? 1 - single +
				    single * (once + (all - whole) * reads_apart(m, named) / count_rest(c, m)) / shared
			  : 1;
}

double count_items(const counter *c, const movement *m)
{
	const heddle_stmt *stmt = m->shape->stmt;
	const bool adds = count_goes_on(stmt);
	int64_t any[HEDDLE_MAX_DIM];
	if (c->kernel->threads == 1 || (m->tile && !(stmt->reduction && count_reads_memory(stmt))) || count_ends_of_threads(c, m) > 0)
		return 1;
	const double vectors = count_beside_lanes(c, m) > 0 ? 1 : stmt->reduction ? count_sums_of_vectors(c, m) : count_members_beside(c, m);
	if (vectors > 0)
		return vectors;
	for (int d = 0; d < HEDDLE_MAX_DIM; d++)
		any[d] = -1;
	const double single = count_single_elements(c, m, heddle_lockstep_dim(stmt, NULL));
	if (single == 0 || (!stmt->reduction && (count_own_results(c->kernel) || (adds && count_member_width(c, m, any) > 1))))
		return 1;
	const double wide = adds ? count_wide_share(c, m) : 1, first = single == 1 && wide < 1 ? reads_of_first(c, m) : 0;
	const double apart = first > 0 ? first : wide < 1 ? reads_of_copies(c, m, single, false) : 0;
	return (1 - wide) * apart + (wide > 0 ? wide * reads_of_copies(c, m, single, true) : 0);
}
