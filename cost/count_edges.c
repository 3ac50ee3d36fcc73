/* What is read more than once: copies of an access in the text that stand under conditions of their own, in blocks at an edge and in tiles that
 * have fewer terms or results than others.
 * SPDX-License-Identifier: MIT
 */
#include "cost/count_tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool count_reads_memory(const heddle_stmt *stmt)
{
	for (int a = 1; a < stmt->n_access; a++)
		if (stmt->access[a].tensor->rank && stmt->access[a].group->space == HEDDLE_SPACE_GLOBAL)
			return true;
	return false;
}

double count_within_guards(const counter *c, const heddle_stmt *own, bool whole)
{
	double share = 1;
	for (int k = 0; k < c->kernel->n_stmt; k++) {
		const heddle_stmt *stmt = c->kernel->stmt[k];
		const shape s = count_shape(c, stmt);
		int64_t block[HEDDLE_MAX_DIM];
		double there = 1;
		if (stmt == own)
			continue;
		for (int d = 0; d < stmt->n_dim; d++) {
			block[d] = !stmt->dim[d].reduction ? stmt->dim[d].layout.tile : s.d[d].extent > 0 ? s.d[d].extent : 1;
			if (whole && stmt->dim[d].member >= 0 && count_guards(stmt, d) && s.d[d].extent >= block[d])
				there *= 1 - (double)(s.d[d].extent % block[d]) / (double)s.d[d].extent;
		}
		share = fmin(share, count_inside(c, stmt, block, true) / there);
	}
	return share;
}

/* Elements of a tensor that a place in the text reads: its subscripts, without what all places share. */
typedef struct element {
	int64_t at[HEDDLE_MAX_DIM];
	int64_t branch; /* places under different conditions have nothing of each other; 0: under none */
} element;

static int find_element(const element *all, int n, const element *one, int rank)
{
	while (n > 0 && (all[n - 1].branch != one->branch || memcmp(all[n - 1].at, one->at, sizeof(*one->at) * (size_t)rank) != 0))
		n--;
	return n - 1;
}

/* Are the members of vectors along d no vectors, but rounds of a loop? */
static bool has_member_loop(const shape *s, int d)
{
	return s->d[d].parts > 1 && s->d[d].parts == (double)s->stmt->dim[d].layout.vector;
}

/* Reads of one step of a thread that has so many values of each dimension whose items are unrolled, and `taps` members of the lockstep dimension.
 * `whole`: blocks have all of their results, and nothing is asked but by loops inside of them.  What is read under a condition is shared by places
 * that have the same one.  -1: too many. */
static double reads_of_step(const counter *c, const movement *m, const int64_t *values, int lockstep, int64_t taps, bool whole)
{
	const heddle_stmt *stmt = m->shape->stmt;
	place_part part[HEDDLE_MAX_DIM];
	int64_t there[HEDDLE_MAX_DIM];
	int n = 0;
	for (int members = 0; members < 2; members++) /* loops inside of a block are around its results */
		for (int d = 0; d < stmt->n_dim; d++) {
			const heddle_dim *dim = &stmt->dim[d];
			const bool known = heddle_fixed_extent(stmt->source->index[d]->upper) > 0;
			const bool loop = dim->member < 0 && !choose_divisible(stmt, d, dim->layout.tile) && !(whole && known);
			const bool asked = d != lockstep && !dim->reduction && (loop || (!whole && count_is_asked(m->shape, d)));
			there[d] = INT64_MAX;
			if (members == (dim->member >= 0))
				part[n++] = (place_part){d, d == lockstep ? taps : values[d], 1, 1, true, asked};
		}
	count_order_parts(part, stmt->n_dim, -1);
	return count_reads_of_tree(m, part, stmt->n_dim, there, NULL, m->access && m->access->expr && count_read_share(c, stmt, m->access->expr) != 1);
}

int count_lanes(const heddle_stmt *stmt)
{
	for (int d = 0; d < stmt->n_dim; d++)
		if (stmt->dim[d].reduction && stmt->dim[d].layout.vector > 1)
			return d;
	return -1;
}

/* The same of vectors of a window's taps, one after another, of which the last one is not filled. */
static double reads_of_vectors(const counter *c, const movement *m, const int64_t *values, int lockstep, int64_t taps, bool shared)
{
	const int64_t v = m->shape->stmt->dim[lockstep].layout.vector;
	const int row = heddle_tensor_inner(m->tensor);
	const bool beside = row >= 0 && m->subscript[row].coefficient[lockstep] == 1;
	double sum = 0;
	const shape *s = m->shape;
	if (shared && !beside && (s->d[lockstep].unrolled || s->stmt->dim[lockstep].layout.items == 1)) /* all stand together */
		return reads_of_step(c, m, values, lockstep, taps, true);
	for (int64_t first = 0; first < taps; first += v) {
		/* neighbours of a whole vector are read as one, which overlaps others */
		const int64_t here = choose_least(v, taps - first), at_once = beside && here == v ? v : 1;
		const double reads = reads_of_step(c, m, values, lockstep, here / at_once, shared);
		if (reads < 0)
			return -1;
		sum += reads * (double)at_once;
	}
	return sum;
}

double count_shared_taps(const counter *c, const movement *m)
{
	const heddle_stmt *stmt = m->shape->stmt;
	const int lanes = heddle_lockstep_dim(stmt, NULL);
	const int64_t taps = lanes >= 0 && stmt->dim[lanes].reduction ? heddle_fixed_extent(stmt->source->index[lanes]->upper) : 0;
	int64_t values[HEDDLE_MAX_DIM];
	if (taps < 1 || c->kernel->threads > 1 || taps > stmt->dim[lanes].layout.tile)
		return 1;
	if (!count_is_affine(m))
		return 1;
	for (int d = 0; d < stmt->n_dim; d++)
		values[d] = !stmt->dim[d].reduction && m->shape->d[d].unrolled ? stmt->dim[d].layout.tile : 1;
	const double reads = reads_of_vectors(c, m, values, lanes, taps, true);
	const double steps = m->shape->d[lanes].unrolled ? 1 : (double)stmt->dim[lanes].layout.items;
	const double all = count_elements(m) * steps * (count_depends(m, lanes) ? m->shape->d[lanes].share : 1);
	return reads > 0 && all > 0 ? reads / all : 1;
}

/* The same of a window whose taps are lanes of vectors which they do not fill, of which the first result's have no condition: all others' are under
 * one in blocks at an edge.  0: it is not of this kind. */
static double reads_of_taps(const counter *c, const movement *m, int lockstep)
{
	const heddle_stmt *stmt = m->shape->stmt;
	const heddle_layout *lanes = &stmt->dim[lockstep].layout;
	const int64_t known = heddle_fixed_extent(stmt->source->index[lockstep]->upper), extent = m->shape->d[lockstep].extent;
	const bool filled = (extent > 0 && extent % lanes->vector == 0) || known == 0; /* terms that fill none are counted by themselves */
	const bool steps = filled && lanes->items > 1 && m->shape->d[lockstep].unrolled; /* stand in the text */
	const int64_t taps = !filled ? known : steps ? lanes->items * lanes->vector : lanes->vector; /* of a step */
	int64_t tile[HEDDLE_MAX_DIM], values[HEDDLE_MAX_DIM];
	double ran = 0, sum = 0;
	if (taps < 1 || taps > lanes->tile || lanes->threads > 1 || (!steps && lanes->items > 1 && m->shape->d[lockstep].unrolled))
		return 0;
	if (!count_is_affine(m))
		return 0;
	for (int d = 0; d < stmt->n_dim; d++) {
		if (d != lockstep && (count_moves(c, stmt, d) || (stmt->dim[d].reduction && stmt->dim[d].layout.vector > 1)))
			return 0;
		const int64_t results = stmt->dim[d].layout.tile, extents = m->shape->d[d].extent;
		/* loops inside of a block go on where it is known how far */
		const bool inside = stmt->dim[d].member < 0 && !stmt->dim[d].reduction && (extents % results == 0 || heddle_fixed_extent(stmt->source->index[d]->upper) > 0);
		tile[d] = d != lockstep && m->shape->d[d].unrolled && extents > 0 && (stmt->dim[d].member >= 0 || inside) ? results : 1;
	}
	const bool guarded = count_within_guards(c, stmt, false) < 1;
	bool cuts = guarded || known > 0;
	for (int d = 0; d < stmt->n_dim; d++)
		cuts = cuts || m->shape->d[d].extent % tile[d] != 0;
	if (!cuts)
		return 0;
	for (int kind = 0; kind < (1 << stmt->n_dim); kind++) { /* of the block, along each dimension: whole, or cut */
		double blocks = 1;
		bool whole = !guarded;
		for (int d = 0; d < stmt->n_dim && blocks > 0; d++) {
			const int64_t rest = m->shape->d[d].extent % tile[d];
			const bool cut = kind >> d & 1;
			values[d] = cut ? rest : tile[d];
			blocks *= tile[d] == 1 ? (cut ? 0 : 1) : cut ? (rest > 0 ? 1 : 0) : (double)(m->shape->d[d].extent / tile[d]);
			whole = whole && !(cut && stmt->dim[d].member >= 0);
		}
		if (blocks == 0)
			continue;
		const double reads = reads_of_vectors(c, m, values, lockstep, taps, whole);
		if (reads < 0)
			return 0;
		sum += blocks * reads;
		double once = filled ? 1 : (double)m->shape->d[lockstep].items; /* steps */
		once *= filled ? 1 : count_depends(m, lockstep) ? m->shape->d[lockstep].share : 1; /* as it is counted where nothing is read again */
		for (int d = 0; d < stmt->n_dim; d++)
			once *= d != lockstep && count_depends(m, d) ? (double)values[d] / (double)tile[d] : 1;
		ran += blocks * once * count_elements(m);
	}
	return ran > 0 ? sum / ran : 0;
}

/* The same where lanes beside a vector of results are copies of the terms, of which the last step may lack some: of a step on average. */
static double reads_of_terms(const counter *c, const movement *m, int lockstep, int64_t *values, bool all)
{
	const heddle_stmt *stmt = m->shape->stmt;
	const int lanes = lockstep >= 0 && !stmt->dim[lockstep].reduction ? count_lanes(stmt) : -1;
	if (lanes < 0)
		return count_block_reads(c, m, lockstep, values, all, -1, -1);
	const int64_t v = stmt->dim[lanes].layout.vector, extent = m->shape->d[lanes].extent;
	const double steps = m->shape->d[lanes].unrolled ? (double)m->shape->d[lanes].items : 1; /* that are counted as one */
	values[lanes] = v;
	const double whole = count_block_reads(c, m, lockstep, values, all, -1, -1);
	values[lanes] = extent % v;
	const double last = values[lanes] ? count_block_reads(c, m, lockstep, values, all, -1, -1) : 0;
	return whole < 0 || last < 0 ? -1 : steps * ((double)(extent / v) * whole + last) / ((double)extent / (double)v);
}

bool count_is_alone(const movement *m, int d)
{
	for (int e = 0; e < m->tensor->rank; e++)
		for (int o = 0; o < m->shape->stmt->n_dim && m->subscript[e].coefficient[d]; o++)
			if (o != d && m->subscript[e].coefficient[o])
				return false;
	return true;
}

/* Is it a sum whose results are a box that a block has, each of which asks for the terms one by one? */
static bool has_plain_sums(const counter *c, const movement *m, int lockstep)
{
	const heddle_stmt *stmt = m->shape->stmt;
	const bool copies = lockstep >= 0; /* lanes beside a vector of results */
	bool plain = (stmt->reduction || stmt->access[0].group->space == HEDDLE_SPACE_REGISTER) && m->shape->guarded == 1 && !(lockstep >= 0 && stmt->dim[lockstep].reduction);
	plain = plain && count_is_affine(m);
	for (int d = 0; d < stmt->n_dim; d++) {
		const heddle_layout *layout = &stmt->dim[d].layout;
		plain = plain && !count_moves(c, stmt, d) && m->shape->d[d].extent > 0 && layout->rounds == 1;
		if (stmt->dim[d].reduction)
			plain = plain && (layout->vector == 1 || (copies && d != lockstep && count_depends(m, d))) &&
				!(m->shape->d[d].unrolled && m->shape->d[d].items > 1 && count_depends(m, d) && (layout->vector == 1 || !count_is_alone(m, d)));
		else
			plain = plain && (!count_is_inner(stmt, d) || m->shape->d[d].unrolled);
	}
	return plain;
}

int count_kinds(const movement *m, int other)
{
	int kinds = 1;
	for (int d = 0; d < m->shape->stmt->n_dim; d++)
		if (d != other && !m->shape->stmt->dim[d].reduction && m->shape->d[d].extent % m->shape->stmt->dim[d].layout.tile)
			kinds = 1 << (d + 1);
	return kinds;
}

double count_blocks(const movement *m, int kind, int other, count_kind *k)
{
	const heddle_stmt *stmt = m->shape->stmt;
	double blocks = 1;
	*k = (count_kind){.once = count_elements(m), .whole = true, .full = true};
	for (int d = 0; d < stmt->n_dim && blocks > 0; d++) {
		const bool cut = kind >> d & 1;
		const int64_t tile = stmt->dim[d].layout.tile, extent = m->shape->d[d].extent, rest = extent % tile;
		if (d == other || stmt->dim[d].reduction) {
			blocks *= cut ? 0 : 1;
			k->values[d] = tile;
			continue;
		}
		k->values[d] = cut && !m->shape->d[d].harmless ? rest : tile;
		blocks *= cut ? (rest > 0 ? 1 : 0) : (double)(extent / tile);
		if (count_is_inner(stmt, d)) /* where it is known how many the last tile has nothing asks for them in whole blocks */
			k->full = k->full && !(cut && heddle_fixed_extent(stmt->source->index[d]->upper) == 0);
		else
			k->whole = k->whole && !(cut && (m->shape->d[d].harmless || count_is_left_out(stmt, d)));
		/* elements are no more than a known length needs */
		const int64_t fixed = heddle_fixed_extent(stmt->source->index[d]->upper), most = fixed > 0 && fixed < tile ? m->shape->d[d].items * m->shape->d[d].members : tile;
		k->once *= cut && count_depends(m, d) ? (double)k->values[d] / (double)most : 1;
	}
	return blocks;
}

/* The same of sums, by asking for each kind of block what is read in it; 0: it is not of this kind. */
static double reads_of_sums(const counter *c, const movement *m, int lockstep)
{
	const heddle_stmt *stmt = m->shape->stmt;
	const double inside = count_within_guards(c, stmt, true);
	bool filled = true; /* vectors that nothing fills are cut in blocks of any kind */
	double ran = 0, sum = 0;
	if (!has_plain_sums(c, m, lockstep))
		return 0;
	for (int d = 0; d < stmt->n_dim; d++) {
		const int64_t known = heddle_fixed_extent(stmt->source->index[d]->upper);
		filled = filled && (stmt->dim[d].reduction || known == 0 || known >= stmt->dim[d].layout.vector);
	}
	const int kinds = count_kinds(m, -1);
	for (int kind = 0; kind < kinds; kind++) {
		count_kind k;
		const double blocks = count_blocks(m, kind, -1, &k);
		const bool whole = filled && k.whole;
		if (blocks == 0)
			continue;
		const double together = !whole ? 0 : k.full ? k.once : reads_of_terms(c, m, lockstep, k.values, true);
		const double apart = whole && inside == 1 ? 0 : reads_of_terms(c, m, lockstep, k.values, false);
		if (apart < 0 || together < 0)
			return 0;
		sum += blocks * (whole ? inside * together + (1 - inside) * apart : apart);
		ran += blocks * k.once;
	}
	return ran > 0 ? sum / ran : 0;
}

/* Rounds of loops in blocks at an edge around what whole ones have once. */
static double rounds_at_edges(const counter *c, const movement *m)
{
	double rounds = 1;
	for (int d = 0; d < m->shape->stmt->n_dim; d++)
		if (m->shape->d[d].unrolled && !m->shape->d[d].copied && !count_depends(m, d) && !count_has_loop_inside(c, m, d))
			rounds *= (double)m->shape->d[d].items;
	return rounds;
}

/* Are vectors read along a loop inside of a block, whatever its results are, which may lack some? */
static bool has_inner_rows(const counter *c, const movement *m, int d, int64_t members)
{
	const heddle_stmt *stmt = m->shape->stmt;
	return d >= 0 && !stmt->reduction && !stmt->dim[d].reduction && stmt->dim[d].member < 0 && count_depends(m, d) && !count_moves(c, stmt, d) &&
	       !choose_divisible(stmt, d, members);
}

/* In blocks at an edge each item, and each member of what is left of a vector, has a condition or a loop of its own
 * around what it reads: what others of the thread read as well is read again, but for single elements that several of
 * them ask for, which get a name.  So many times as if it were shared everywhere, on average. */
static double reads_at_edges(const counter *c, const movement *m)
{
	const heddle_stmt *stmt = m->shape->stmt;
	const int lockstep = heddle_lockstep_dim(stmt, NULL);
	double once = count_within_guards(c, stmt, false), all = 1, whole = once, shared = 1, inside = 1, inside_named = 1, rounds = 1;
	/* in the text, that read the same; of them those along other dimensions than the vectors' */
	int64_t places = 1, others = 1;
	double rolled = 1, named = once;
	bool vectors = false, copied = true, cut = once < 1;
	double each = 1; /* results around a loop read it by themselves, those that there are */
	if (c->kernel->threads > 1)
		return 1;
	for (int d = 0; d < stmt->n_dim; d++) /* rounds that lack some stand apart */
		if (stmt->dim[d].layout.rounds > 1)
			return 1;
	if (m->shape->guarded != 1 && once == 1) /* blocks that lack results are none of its whole ones */
		return 1;
	for (int d = 0; d < stmt->n_dim; d++) /* ends that move with a vector: count_at_ends has it */
		if (lockstep >= 0 && stmt->dim[d].reduction && count_moves(c, stmt, d) && !count_depends(m, lockstep) && count_is_tied(c, stmt, d, lockstep))
			return 1;
	const double sums = reads_of_sums(c, m, lockstep);
	if (sums > 0 || (lockstep < 0 && stmt->reduction))
		return sums > 0 ? sums : 1;
	const int64_t known = lockstep < 0 ? 0 : heddle_fixed_extent(stmt->source->index[lockstep]->upper);
	const int64_t members = lockstep < 0 ? 1 : m->shape->width;
	const int lanes = count_lanes(stmt);
	/* one by one whatever the block: taps that a guard leaves, and members of what has no whole vector */
	if (lanes >= 0 && lanes == lockstep && !count_depends(m, lanes) && known == 0 && m->shape->guarded == 1 && !count_moves(c, stmt, lanes))
		return 1; /* reads_beside_terms has it */
	if (lanes >= 0) {
		const double again = m->shape->guarded == 1 ? reads_of_taps(c, m, lanes) : 1;
		if (again > 0)
			return again;
	} else if (known > 0 && known % members) {
		return rounds_at_edges(c, m);
	}
	const bool rows = has_inner_rows(c, m, lockstep, members);
	bool rolls = false; /* are copies a loop there? */
	for (int d = 0; d < stmt->n_dim; d++)
		rolls = rolls || (stmt->dim[d].member >= 0 && m->shape->d[d].unrolled && !m->shape->d[d].copied && stmt->dim[d].layout.items > 1);
	for (int d = 0; d < stmt->n_dim; d++) {
		const heddle_layout *layout = &stmt->dim[d].layout;
		if (stmt->reduction ? stmt->dim[d].reduction : stmt->dim[d].member < 0)
			continue;
		if (count_moves(c, stmt, d))
			return 1;
		const int64_t extent = m->shape->d[d].extent, tiles = extent / layout->tile, rest = extent % layout->tile;
		const bool depends = count_depends(m, d);
		const bool all_there = heddle_fixed_extent(stmt->source->index[d]->upper) > 0 && tiles + (rest > 0) == 1; /* its items, in any block */
		const bool filled = rest % layout->vector == 0;
		if (!depends && layout->items > 1 && m->shape->d[d].unrolled && count_has_loop_inside(c, m, d)) {
			each *= extent ? (double)extent / (m->shape->d[d].outer * (double)layout->tile) : 1;
			continue;
		}
		vectors = vectors || (depends && d == lockstep && !choose_divisible(stmt, d, members));
		if (depends || !m->shape->d[d].unrolled || has_member_loop(m->shape, d)) {
			const double part = extent && stmt->dim[d].member >= 0 && !(depends && all_there && filled) ? (double)(tiles * layout->tile) / (double)extent : 1;
			/* members that stand together in whole blocks, and are a loop in others */
			const bool apart = !depends && d != lockstep && layout->vector > 1 && m->shape->d[d].parts == 1 && m->shape->d[d].parts_at_edges > 1;
			whole *= apart ? (double)layout->vector : 1;
			all *= apart ? (double)layout->vector : 1;
			once *= part;
			whole *= part;
			named *= part;
			continue;
		}
		if (all_there) {
			once *= filled ? 1 : 0;
			whole *= filled ? 1 : 0;
			rounds *= m->shape->d[d].copied || count_has_loop_inside(c, m, d) ? 1 : (double)m->shape->d[d].items;
			continue;
		}
		copied = copied && (m->shape->d[d].copied || layout->items == 1);
		const int64_t v = d == lockstep ? m->shape->width : 1;
		const int64_t items = layout->tile / v, left = rest / v + rest % v;
		/* with names copies read once, and each round of what is a loop there */
		const bool one_by_one = d == lockstep && v == 1 && m->shape->d[d].parts_at_edges > 1; /* members are a loop at an edge only */
		const int64_t beside = one_by_one ? 1 : m->shape->d[d].copied ? layout->tile : layout->tile / layout->items;
		named *= (double)(tiles * (layout->tile / beside));
		/* but what is left of a vector is a loop, which reads it for each member */
		const bool apart = v > 1 && v == beside && (!m->shape->d[d].copied || rolls);
		rolled *= (double)(tiles * (layout->tile / beside) + (apart ? left : (rest + beside - 1) / beside));
		places *= items;
		others *= d == lockstep ? 1 : items;
		cut = cut || (items > 1 && !choose_divisible(stmt, d, layout->tile));
		if (stmt->dim[d].member < 0) { /* a loop inside of whole blocks: what it leaves for its last tile shares along the others */
			inside *= (double)(tiles + left);
			inside_named *= (double)(tiles + (rest > 0));
			whole *= (double)(tiles * items + left);
			all *= (double)(tiles * items + left);
			shared *= (double)(tiles + (rest > 0));
			continue;
		}
		once *= (double)tiles;
		whole *= (double)(tiles * items);
		all *= (double)(tiles * items + left);
		shared *= (double)(tiles + (rest > 0));
	}
	if (stmt->reduction && others > 1)
		inside = inside_named;
	/* single elements have names, but not those that other results of a sum ask for under conditions of their own */
	const bool parts = lockstep >= 0 && !stmt->dim[lockstep].reduction && m->shape->d[lockstep].extent % members != 0;
	if (shared == 0)
		return 1;
	/* whole vectors at the edge have one condition for all items */
	const double extent = lockstep < 0 ? 0 : (double)m->shape->d[lockstep].extent, rest = extent > 0 ? fmod(extent, (double)members) / extent : 0;
	if (rows && extent > 0) {
		const int64_t tile = stmt->dim[lockstep].layout.tile;
		const double last = fmod(extent, (double)tile) / extent;
		if (!copied) /* a loop over results is around what is left of the last tile, and around all in blocks that lack some */
			return each * (once * (1 - last) + whole * last + all - whole) / shared;
		return each * (1 - rest + rest * (tile == 2 ? once + all - whole : all) / shared); /* one element that is left has a name */
	}
	if (!vectors && places > 1 && (!stmt->reduction || others == 1 || m->shape->guarded != 1 || parts))
		return stmt->reduction ? 1 : each * (once + rolled - named) / shared;
	if (rounds > 1) /* what is there in any block is a loop in those at an edge */
		return each * (once * inside + (all - whole) * rounds) / shared;
	if (!vectors || (cut && !(copied && !stmt->reduction && count_within_guards(c, stmt, false) == 1)))
		return each * (once * inside + all - whole) / shared;
	return each * (1 - rest + rest * all / shared);
}

double count_rest(const counter *c, const movement *m)
{
	const heddle_stmt *stmt = m->shape->stmt;
	const double elements = count_elements(m);
	double factor = 1;
	for (int d = 0; d < stmt->n_dim; d++) {
		const heddle_layout *layout = &stmt->dim[d].layout;
		const int64_t extent = m->shape->d[d].extent, tiles = extent / layout->tile,
			      rest = extent % layout->tile;
		const bool window = stmt->dim[d].reduction && layout->items == layout->tile &&
				    m->shape->d[d].unrolled && count_depends(m, d);
		if (!window || count_moves(c, stmt, d) || tiles == 0 || rest == 0 || count_asks_terms(c, m, d))
			continue;
		shape last = *m->shape;
		movement there = *m;
		last.d[d].items = rest;
		there.shape = &last;
		factor *= ((double)tiles * elements + count_elements(&there)) /
			  (elements * (double)extent / (double)layout->tile);
	}
	return factor;
}

bool count_has_idle_threads(const heddle_stmt *stmt, int d)
{
	const heddle_layout *layout = &stmt->dim[d].layout;
	return layout->threads > 1 && heddle_fixed_extent(stmt->source->index[d]->upper) % (layout->threads * layout->vector) > 0;
}

/* Reads that stand in the text where each copy of what may be left out is under a condition, and a name is under one that follows from those of
 * all that use it: where there is none, each reads for itself.  Of those of each dimension so many exist as `there` says, 0: all.  0: too
 * many, or not affine. */
static double reads_with_names(const movement *m, const int64_t *there)
{
	const heddle_stmt *stmt = m->shape->stmt;
	int64_t n[HEDDLE_MAX_DIM], places = 1;
	double reads = 0;
	int found = 0;
	if (!count_is_affine(m))
		return 0;
	for (int d = 0; d < stmt->n_dim; d++) {
		n[d] = !count_depends(m, d) ? 1 : m->shape->d[d].unrolled ? m->shape->d[d].items * m->shape->d[d].members : m->shape->d[d].members;
		if ((places *= n[d]) > MOST_ELEMENTS)
			return 0;
	}
	element *seen = heddle_xalloc(sizeof(*seen) * MOST_ELEMENTS), *when = heddle_xalloc(sizeof(*when) * MOST_ELEMENTS);
	int64_t *users = heddle_xalloc(sizeof(*users) * MOST_ELEMENTS);
	for (int64_t p = 0; p < places; p++) {
		element one = {{0}, 0}, under = {{0}, 0};
		int64_t rest = p;
		bool exists = true;
		for (int d = 0; d < stmt->n_dim; d++) {
			const heddle_layout *layout = &stmt->dim[d].layout;
			const int64_t k = rest % n[d];
			exists = exists && (there[d] == 0 || k < there[d]);
			rest /= n[d];
			for (int e = 0; e < m->tensor->rank; e++)
				one.at[e] += m->subscript[e].coefficient[d] * (k / layout->vector * layout->threads * layout->vector + k % layout->vector);
			under.at[d] = count_has_idle_threads(stmt, d) || count_is_left_out(stmt, d) ? k : 0;
		}
		if (!exists)
			continue;
		const int at = find_element(seen, found, &one, m->tensor->rank);
		if (at < 0) {
			seen[found] = one;
			when[found] = under;
			users[found++] = 1;
			continue;
		}
		users[at]++;
		bool before = true, after = true; /* its condition follows from the other's, or the other way around */
		for (int d = 0; d < stmt->n_dim; d++) {
			before = before && under.at[d] <= when[at].at[d];
			after = after && under.at[d] >= when[at].at[d];
		}
		when[at].branch |= !before && !after;
		for (int d = 0; d < stmt->n_dim && before; d++)
			when[at].at[d] = under.at[d];
	}
	for (int k = 0; k < found; k++)
		reads += when[k].branch ? (double)users[k] : 1;
	free(seen);
	free(when);
	free(users);
	return reads;
}

double count_names_at_edges(const movement *m)
{
	const shape *s = m->shape;
	const int n_dim = s->stmt->n_dim;
	double sum = 0, ran = 0;
	for (int kind = 0; kind < (1 << n_dim); kind++) { /* of the block, along each dimension: whole, or cut */
		double blocks = 1, once = count_elements(m);
		int64_t there[HEDDLE_MAX_DIM] = {0};
		for (int d = 0; d < n_dim && blocks > 0; d++) {
			const heddle_layout *layout = &s->stmt->dim[d].layout;
			const int64_t rest = s->d[d].extent % layout->tile, tiles = s->d[d].extent / layout->tile;
			const bool written_out = s->d[d].unrolled || layout->items == 1, depends = count_depends(m, d);
			const bool cut = kind >> d & 1, apart = rest > 0 && tiles > 0 && layout->threads == 1 && written_out && depends && count_is_asked(s, d);
			blocks *= cut ? (apart ? 1 : 0) : apart ? (double)tiles : 1;
			there[d] = cut ? rest : 0;
			once *= cut ? (double)rest / (double)layout->tile : 1;
		}
		const double reads = blocks > 0 && (kind > 0 || !count_any_whole(s)) ? reads_with_names(m, there) : -1;
		if (reads == 0)
			return 0;
		sum += reads > 0 ? blocks * reads : 0;
		ran += reads > 0 ? blocks * once : 0;
	}
	const int64_t all[HEDDLE_MAX_DIM] = {0};
	return ran > 0 ? sum / ran * count_elements(m) : reads_with_names(m, all);
}

bool count_goes_on(const heddle_stmt *stmt)
{
	bool own = stmt->reduction;
	for (int a = 1; a < stmt->n_access; a++)
		own = own || (stmt->access[a].tensor == stmt->access[0].tensor && stmt->access[0].group->space == HEDDLE_SPACE_REGISTER);
	return own;
}

double count_again(const counter *c, const movement *m)
{
	const double moving = count_moving_sums(c, m);
	if (moving > 0)
		return moving;
	const double plain = count_plain(c, m);
	if (plain > 0)
		return plain;
	return count_left(c, m, reads_at_edges(c, m)) * count_items(c, m) * count_rest(c, m) * count_at_ends(c, m);
}
