/* Counting what a mapped kernel moves.
 *
 * The loops around an access, from outside: blocks, threads, tile loops, items of reductions (one after another), then the
 * unrolled items and vector members.  In the unrolled part each element is read once; around it everything is repeated,
 * whether the access depends on a loop or not.  So an access reads
 *     blocks x threads x tile loops x reduction items x |elements of the unrolled part|
 * times the shares of the instances that exist (count_ranges.c), and a request brings the addresses of one warp together.
 * What stands where in the text is found in count_shape.c, one access is counted in count_access.c, tiles are in count_fill.c.
 * SPDX-License-Identifier: MIT
 */
#include "cost/count_parts.h"

#include "cost/cost.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- leaves ------------------------------------------------------------------------------------------------------------- */

linear *count_subscripts(const counter *c, const heddle_stmt *stmt, const heddle_access *access)
{
	linear *all = HEDDLE_NEW_ARRAY(c->arena, linear, access->tensor->rank + 1);
	for (int e = 0; e < access->tensor->rank; e++) {
		all[e] = count_linear(c, count_subscript(stmt, access, e));
		c->out->exact = c->out->exact && all[e].affine;
	}
	return all;
}

/* Elements of the row from one access to another of the same tensor, no further than vectors reach; 0: they are none or not known. */
static int64_t elements_beside(counter *c, const heddle_stmt *stmt, int a, int b)
{
	const heddle_tensor *tensor = stmt->access[a].tensor;
	const int row = tensor->rank ? heddle_tensor_inner(tensor) : -1;
	int64_t apart = 0;
	if (tensor != stmt->access[b].tensor || row < 0)
		return 0;
	for (int e = 0; e < tensor->rank; e++) {
		linear x = count_linear(c, count_subscript(stmt, &stmt->access[a], e)), y = count_linear(c, count_subscript(stmt, &stmt->access[b], e));
		const linear difference = count_add(y, x, -1);
		if (!count_is_constant(&difference) || (e != row && difference.constant))
			return 0;
		apart = e == row ? difference.constant : apart;
	}
	return llabs(apart) < c->language->max_vector ? apart : 0;
}

/* Does it read global memory itself, which instances that do not exist must not? */
static bool reads_memory(const heddle_stmt *stmt)
{
	for (int a = 1; a < stmt->n_access; a++)
		if (stmt->access[a].tensor->rank && stmt->access[a].group->space == HEDDLE_SPACE_GLOBAL)
			return true;
	return false;
}

linear count_over_members(const heddle_stmt *stmt, linear a, bool joined)
{
	linear b = {.affine = a.affine, .constant = a.constant};
	for (int d = 0; d < stmt->n_dim; d++)
		if (stmt->dim[d].member >= 0)
			b.coefficient[stmt->dim[d].member] += a.coefficient[d];
		else if (joined)
			b.coefficient[HEDDLE_MAX_DIM - 1 - d] += a.coefficient[d];
		else
			b.affine = b.affine && !a.coefficient[d];
	return b;
}

bool count_is_straight(const counter *c, const heddle_stmt *stmt, bool joined)
{
	shape s = count_shape(c, stmt);
	for (int d = 0; d < stmt->n_dim; d++) {
		const heddle_layout *layout = &stmt->dim[d].layout;
		const bool once = s.d[d].unrolled || (layout->items == 1 && s.d[d].parts <= 1);
		if ((stmt->dim[d].member < 0 && !joined) || !once || (layout->rounds > 1 && !c->kernel->rounds_outside))
			return false;
	}
	return true;
}

/* Share of the blocks in which the guards of the kernel's other statements hold for all that they do: others are blocks at an edge.  What the
 * statement's own leaves is counted elsewhere. */
static double within_guards(const counter *c, const heddle_stmt *own)
{
	double share = 1;
	for (int k = 0; k < c->kernel->n_stmt; k++) {
		const heddle_stmt *stmt = c->kernel->stmt[k];
		const shape s = count_shape(c, stmt);
		int64_t block[HEDDLE_MAX_DIM];
		if (stmt == own)
			continue;
		for (int d = 0; d < stmt->n_dim; d++)
			block[d] = !stmt->dim[d].reduction ? stmt->dim[d].layout.tile : s.d[d].extent > 0 ? s.d[d].extent : 1;
		share = fmin(share, count_guarded(c, stmt, block));
	}
	return share;
}

/* In blocks at an edge each item, and each member of what is left of a vector, has a condition or a loop of its own around what it reads: what
 * others of the thread read as well is read again, but for single elements that several of them ask for, which get a name.  So many times as
 * if it were shared everywhere, on average. */
static double reads_at_edges(const counter *c, const movement *m)
{
	const heddle_stmt *stmt = m->shape->stmt;
	const int lockstep = heddle_lockstep_dim(stmt, NULL);
	double once = within_guards(c, stmt), all = 1, whole = once, shared = 1;
	int64_t places = 1; /* in the text, that read the same */
	bool vectors = false, cut = once < 1;
	if (c->kernel->threads > 1 || lockstep < 0)
		return 1;
	/* one by one whatever the block: members of what has no whole vector, and taps that a guard leaves */
	if (heddle_fixed_extent(stmt->source->index[lockstep]->upper) > 0 && (!stmt->dim[lockstep].reduction || m->shape->guarded != 1))
		return 1;
	for (int g = 0; g < c->kernel->n_group; g++) /* tiles hold something for what does not exist, too: nothing is asked */
		if (c->kernel->group[g]->stmt == stmt && c->kernel->group[g]->space == HEDDLE_SPACE_SHARED)
			return 1;
	for (int d = 0; d < stmt->n_dim; d++) {
		const heddle_layout *layout = &stmt->dim[d].layout;
		if (stmt->reduction ? stmt->dim[d].reduction : stmt->dim[d].member < 0)
			continue;
		if (count_moves(stmt, d))
			return 1;
		const int64_t extent = m->shape->d[d].extent, tiles = extent / layout->tile, rest = extent % layout->tile;
		const bool depends = count_depends(m, d);
		vectors = vectors || (depends && d == lockstep);
		if (depends || !m->shape->d[d].unrolled) {
			const double part = extent ? (double)(tiles * layout->tile) / (double)extent : 1;
			once *= part;
			whole *= part;
			continue;
		}
		const int64_t v = d == lockstep ? choose_least(layout->vector, c->language->max_vector) : 1;
		const int64_t items = layout->tile / v, left = rest / v + rest % v;
		places *= items;
		cut = cut || (items > 1 && !choose_divisible(stmt, d, layout->tile));
		once *= (double)tiles;
		whole *= (double)(tiles * items);
		all *= (double)(tiles * items + left);
		shared *= (double)(tiles + (rest > 0));
	}
	if (shared == 0 || (!vectors && places > 1 && !stmt->reduction))
		return 1;
	if (!vectors || cut)
		return (once + all - whole) / shared;
	/* whole vectors at the edge have one condition for all items */
	const double extent = (double)m->shape->d[lockstep].extent;
	const double rest = extent > 0 ? fmod(extent, (double)choose_least(stmt->dim[lockstep].layout.vector, c->language->max_vector)) / extent : 0;
	return 1 - rest + rest * all / shared;
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
		if (moving >= 0 || !stmt->dim[d].reduction || stmt->dim[d].layout.threads * stmt->dim[d].layout.vector > 1)
			return 1;
		moving = d;
	}
	if (moving < 0 || m->tile)
		return 1;
	const heddle_index *index = stmt->source->index[moving];
	int64_t tile[HEDDLE_MAX_DIM], vector[HEDDLE_MAX_DIM];
	double same = 1, beside = 1;
	for (int d = 0; d < stmt->n_dim; d++) {
		const heddle_layout *layout = &stmt->dim[d].layout;
		const bool tied = choose_mentions(index->upper, d) || choose_mentions(index->lower, d);
		tile[d] = tied || d == moving ? layout->tile : 1;
		vector[d] = tied && d == lockstep ? choose_least(layout->vector, c->language->max_vector) : 1;
		if (!tied || count_depends(m, d))
			continue;
		if (layout->rounds > 1)
			return 1;
		same *= (double)(layout->items * layout->vector);
		beside *= (double)vector[d];
	}
	const double whole = count_whole(c, stmt, moving, tile), vectors = count_whole(c, stmt, moving, vector);
	/* without vectors one result asks for nothing: what it reads serves others */
	return beside == 1 || whole < 0 || vectors < 0 ? 1 : whole + same * ((vectors - whole) / beside + 1 - vectors);
}

/* The same of many threads: in blocks at an edge each item computes its result, or adds to its sum, under a condition of its own, and reads what it
 * takes there. */
static double reads_of_items(const counter *c, const movement *m)
{
	const heddle_stmt *stmt = m->shape->stmt;
	const int lockstep = heddle_lockstep_dim(stmt, NULL);
	double once = count_own_results(c->kernel) ? 0 : 1, all = 1, whole = once, shared = 1;
	if (c->kernel->threads == 1 || (m->tile && !(stmt->reduction && reads_memory(stmt))))
		return 1;
	/* vectors are read under one condition, for all items */
	if (lockstep >= 0 && stmt->dim[lockstep].layout.vector > 1 && count_depends(m, lockstep) && m->tile)
		return 1;
	if (!stmt->reduction) {
		if (count_own_results(c->kernel) || stmt->access[0].group->space != HEDDLE_SPACE_REGISTER)
			return 1;
		int64_t any[HEDDLE_MAX_DIM];
		for (int d = 0; d < HEDDLE_MAX_DIM; d++)
			any[d] = -1;
		if (count_member_width(c, m, any) > 1)
			return 1;
		once = whole = within_guards(c, stmt);
	}
	for (int d = 0; d < stmt->n_dim; d++) {
		const heddle_layout *layout = &stmt->dim[d].layout;
		const shape *s = m->shape;
		if (stmt->dim[d].member < 0 || choose_divisible(stmt, d, layout->tile))
			continue;
		if (count_moves(stmt, d) || layout->rounds > 1)
			return 1;
		const int64_t extent = s->d[d].extent, tiles = extent / layout->tile;
		const bool depends = count_depends(m, d);
		if (depends || !s->d[d].unrolled) {
			const double part = extent ? (double)(tiles * layout->tile) / (double)extent : 1;
			once *= part;
			whole *= part;
			continue;
		}
		once *= (double)(tiles * layout->threads);
		whole *= (double)(tiles * layout->tile);
		all *= (double)extent;
		shared *= s->d[d].outer * (double)layout->threads * s->d[d].busy;
	}
	return shared > 0 ? (once + all - whole) / shared : 1;
}

/* `taken`: accesses that have been counted; those beside this one are, with it. */
static void count_read(counter *c, const shape *s, const heddle_access *access, bool *taken)
{
	const heddle_group *group = access->group;
	/* what the caller gives as a number is an argument */
	if (group->space == HEDDLE_SPACE_REGISTER || (!access->tensor->rank && access->tensor->role == HEDDLE_ROLE_INPUT))
		return;
	movement m = {.shape = s, .tensor = access->tensor, .subscript = count_subscripts(c, s->stmt, access)};
	if (group->space == HEDDLE_SPACE_SHARED)
		m.tile = group;
	for (int d = 0; d < s->stmt->n_dim; d++)
		m.dims[d] = true;
	m.share = access->expr ? count_read_share(c, s->stmt, access->expr) : 1;
	c->out->conditional = c->out->conditional || m.share < 0;
	const bool first = count_first_share(c, s, access, &m.share);
	c->out->exact = c->out->exact && (first || m.share == 1);
	c->out->cut = c->out->cut || (!first && m.share != 1);
	m.share = fabs(m.share) * count_asked(c, s, access);
	if (m.share == 0)
		return;
	m.share *= reads_at_edges(c, &m) * reads_of_items(c, &m) * reads_at_ends(c, &m);
	m.whole = m.tile && s->stmt->reduction && (c->kernel->threads == 1 || !reads_memory(s->stmt));
	c->out->moving = c->out->moving || (m.tile && !s->rectangular);
	m.apart = count_lanes_apart(c, s);
	m.once = !s->stmt->reduction && s->stmt->access[0].group->space == HEDDLE_SPACE_GLOBAL; /* read where it is stored */
	for (int a = 1; a < s->stmt->n_access && !m.tile && c->kernel->threads > 1 && m.n_beside < MOST_BESIDE; a++) {
		const int64_t apart = taken[a] ? 0 : elements_beside(c, s->stmt, (int)(access - s->stmt->access), a);
		if (!apart || s->stmt->access[a].group->space != HEDDLE_SPACE_GLOBAL)
			continue;
		m.beside[m.n_beside++] = apart;
		taken[a] = true;
	}
	if (access->tensor->rank)
		count_movement(c, &m, group);
	else
		count_add_accesses(c, &m, group, 1, count_repeats(c, &m), NULL);
}

/* The target's elements, from the accumulator or the register group, or straight from the computation. */
static void count_write(counter *c, const shape *s, bool update)
{
	const heddle_access *access = &s->stmt->access[0];
	movement m = {.shape = s, .tensor = access->tensor, .subscript = count_subscripts(c, s->stmt, access), .write = true, .once = true, .share = 1};
	for (int d = 0; d < s->stmt->n_dim; d++)
		m.dims[d] = !s->stmt->dim[d].reduction;
	count_movement(c, &m, access->group);
	m.write = false;
	if (update)
		count_movement(c, &m, access->group);
}

bool count_the_same(counter *c, const heddle_stmt *s, int a, const heddle_stmt *t, int b, bool joined)
{
	bool same = s->access[a].tensor == t->access[b].tensor;
	for (int e = 0; e < s->access[a].tensor->rank && same; e++) {
		linear x = count_linear(c, count_subscript(s, &s->access[a], e)), y = count_linear(c, count_subscript(t, &t->access[b], e));
		if (s != t) {
			x = count_over_members(s, x, joined);
			y = count_over_members(t, y, joined);
		}
		linear difference = count_add(x, y, -1);
		same = count_is_constant(&difference) && difference.constant == 0;
	}
	return same;
}

/* An earlier access of the statement, or of the stretch that it belongs to, reads the same elements: they are in registers. */
static bool is_repeated(counter *c, int at, int a)
{
	const heddle_stmt *stmt = c->kernel->stmt[at];
	for (int b = 1; b < a; b++)
		if (count_the_same(c, stmt, a, stmt, b, false))
			return true;
	if (heddle_kernel_writes(c->kernel, stmt->access[a].tensor))
		return false;
	const bool joined = c->joins[at];
	for (int s = at - 1; s >= 0 && count_is_straight(c, stmt, joined) && count_is_straight(c, c->kernel->stmt[s], joined); s--) {
		if (joined && !c->joins[s + 1])
			break;
		for (int b = 1; b < c->kernel->stmt[s]->n_access; b++)
			if (count_the_same(c, stmt, a, c->kernel->stmt[s], b, joined))
				return true;
	}
	return false;
}

static void count_stmt(counter *c, int at)
{
	const heddle_stmt *stmt = c->kernel->stmt[at];
	shape s = count_shape(c, stmt);
	const heddle_group *target = stmt->access[0].group;
	c->out->exact = c->out->exact && s.rectangular;
	c->out->cut = c->out->cut || !s.rectangular;
	c->out->moving = c->out->moving || s.guarded < 0;
	for (int d = 0; d < stmt->n_dim; d++)
		c->out->exact = c->out->exact && s.d[d].share >= 1;
	bool *taken = HEDDLE_NEW_ARRAY(c->arena, bool, stmt->n_access);
	for (int a = 1; a < stmt->n_access; a++)
		taken[a] = is_repeated(c, at, a);
	for (int a = 1; a < stmt->n_access; a++)
		if (!taken[a]) {
			taken[a] = true;
			count_read(c, &s, &stmt->access[a], taken);
		}
	for (int g = 0; g < c->kernel->n_group; g++)
		if (c->kernel->group[g]->stmt == stmt && c->kernel->group[g]->space == HEDDLE_SPACE_SHARED)
			count_fills(c, &s, c->kernel->group[g]);
	if (target->space == HEDDLE_SPACE_GLOBAL && !count_stays(c, at))
		count_write(c, &s, stmt->source->assign != HEDDLE_ASSIGN_SET && !stmt->source->initialise);
	for (int g = 0; g < c->kernel->n_group; g++) {
		const heddle_group *group = c->kernel->group[g];
		if (group->space == HEDDLE_SPACE_REGISTER && group->live_out && group->last_writer == stmt) {
			shape first = count_shape(c, group->first_writer);
			count_write(c, &first, false);
		}
	}
}

/* Lanes exchange through shared memory what shuffles do not reach. */
static void count_exchange(counter *c, const heddle_stmt *stmt)
{
	const heddle_kernel *kernel = c->kernel;
	double results = 1, rounds = c->out->blocks, size;
	bool laned = false;
	for (int d = 0; d < stmt->n_dim; d++) {
		const heddle_dim *dim = &stmt->dim[d];
		laned |= dim->reduction && dim->layout.threads > 1;
		if (!dim->reduction)
			results *= (double)(dim->layout.items * dim->layout.vector);
	}
	if (!laned || kernel->lanes < 2)
		return;
	shape s = count_shape(c, stmt);
	for (int d = 0; d < stmt->n_dim; d++)
		if (!stmt->dim[d].reduction && stmt->dim[d].member < 0)
			rounds *= s.d[d].outer;
	const double words = results * rounds;
	size = heddle_type_size(stmt->accumulator.type) * words;
	int64_t lanes = kernel->lanes, warps = kernel->threads / c->warp;
	const bool shuffles = heddle_lanes_shuffle(c->scop, kernel);
	if (shuffles && lanes <= c->warp)
		return;
	if (shuffles) {
		c->out->shared.store_bytes += size * (double)warps;
		c->out->shared.load_bytes += size * (double)kernel->threads * (double)(lanes / c->warp);
		c->out->shared.store_requests += words * (double)warps;
		c->out->shared.store_transactions += words * (double)warps;
		c->out->shared.load_requests += words * (double)warps * (double)(lanes / c->warp);
		c->out->shared.load_transactions += words * (double)warps * (double)(lanes / c->warp) * ceil((double)c->warp / BANKS);
		return;
	}
	double groups = (double)kernel->threads / (double)lanes, moved = 0;
	for (int64_t live = lanes; live > 1; live = (live + 1) / 2)
		moved += (double)(live - (live + 1) / 2) * groups;
	c->out->shared.store_bytes += size * ((double)kernel->threads + moved);
	c->out->shared.load_bytes += size * ((double)kernel->threads + 2 * moved);
	if (kernel->lane_stride % c->warp) /* parts of warps: not counted */
		return;
	const double wide = fmax(1, (double)(c->warp * heddle_type_size(stmt->accumulator.type)) / (BANKS * BANK_WIDTH)), all = words * (double)warps,
		     some = words * moved / c->warp;
	c->out->shared.store_requests += all + some;
	c->out->shared.load_requests += all + 2 * some;
	c->out->shared.store_transactions += (all + some) * wide;
	c->out->shared.load_transactions += (all + 2 * some) * wide;
}

int count_lanes_at_once(const counter *c, int64_t bytes)
{
	const int64_t part = choose_least(c->warp, BANKS) * BANK_WIDTH / (bytes > BANK_WIDTH ? bytes : BANK_WIDTH);
	return part < 1 ? 1 : (int)part;
}

int count_warp(const heddle_scop *scop)
{
	const heddle_quantity *warp = &scop->descriptor->warp;
	return warp->set && warp->value > 1 && warp->value <= MOST_WARP ? (int)warp->value : 1;
}

heddle_kernel_count heddle_cost_count(heddle_arena *arena, const heddle_scop *scop, const heddle_kernel *kernel,
				      const heddle_count_language *language, const int64_t *size)
{
	heddle_kernel_count out = {.blocks = 1, .exact = true};
	counter c = {arena, scop, kernel, language, size, count_warp(scop), &out, HEDDLE_NEW_ARRAY(arena, shape, kernel->n_stmt),
		     heddle_joins(arena, scop, kernel)};
	out.group = HEDDLE_NEW_ARRAY(arena, heddle_movement, kernel->n_group ? kernel->n_group : 1);
	shape s = count_shape(&c, kernel->stmt[0]);
	for (int d = 0; d < kernel->stmt[0]->n_dim; d++)
		if (kernel->stmt[0]->dim[d].member >= 0)
			out.blocks *= s.d[d].outer;
	for (int i = 0; i < kernel->n_stmt; i++) {
		count_stmt(&c, i);
		count_exchange(&c, kernel->stmt[i]);
	}
	return out;
}
