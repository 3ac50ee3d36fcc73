/* Counting what a mapped kernel moves.
 *
 * The loops around an access, from outside: blocks, threads, tile loops, items of reductions (one after another), then the
 * unrolled items and vector members.  In the unrolled part each element is read once; around it everything is repeated,
 * whether the access depends on a loop or not.  So an access reads
 *     blocks x threads x tile loops x reduction items x |elements of the unrolled part|
 * times the shares of the instances that exist (count_ranges.c), and a request brings the addresses of one warp together.
 * What stands where in the text is found in count_shape.c, one access is counted in count_access.c, what guards leave of it in count_guards.c,
 * what is read again in count_edges.c, count_left.c, count_ends.c and count_carry.c; tiles are in count_fill.c.
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

/* Elements of the row from one access to another of the same tensor under these sizes, no further than vectors reach; 0: they are none or not known. */
static int64_t elements_beside_at(const counter *c, const heddle_stmt *stmt, int a, int b)
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

/* The same whatever sizes are, which the text does not know: of x(d) and x(d + D) nothing is known where D happens to be short. */
static int64_t elements_beside(const counter *c, const heddle_stmt *stmt, int a, int b)
{
	const int64_t apart = elements_beside_at(c, stmt, a, b);
	if (!apart)
		return 0;
	const counter other = count_at_other_sizes(c);
	return elements_beside_at(&other, stmt, a, b) == apart ? apart : 0;
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
		const bool once = (s.d[d].unrolled || layout->items == 1) && s.d[d].parts <= 1;
		if ((stmt->dim[d].member < 0 && !joined) || !once || (layout->rounds > 1 && !c->kernel->rounds_outside))
			return false;
	}
	return true;
}

/* `part`: of the instances that make it; `taken`: accesses that have been counted; those beside this one are, with it. */
static void count_read(counter *c, const shape *s, const heddle_access *access, double part, bool *taken)
{
	const heddle_group *group = access->group;
	/* what the caller gives as a number is an argument */
	if (group->space == HEDDLE_SPACE_REGISTER || (!access->tensor->rank && access->tensor->role == HEDDLE_ROLE_INPUT))
		return;
	movement m = {.shape = s, .access = access, .tensor = access->tensor, .subscript = count_subscripts(c, s->stmt, access)};
	if (group->space == HEDDLE_SPACE_SHARED)
		m.tile = group;
	for (int d = 0; d < s->stmt->n_dim; d++)
		m.dims[d] = true;
	m.share = access->expr ? count_read_share(c, s->stmt, access->expr) : 1;
	c->out->conditional = c->out->conditional || m.share < 0;
	const bool first = count_first_share(c, s, access, &m.share);
	c->out->exact = c->out->exact && (first || m.share == 1);
	c->out->cut = c->out->cut || (!first && m.share != 1);
	m.share = fabs(m.share) * count_asked(c, s, access) * part;
	if (m.share == 0)
		return;
	m.whole = m.tile && s->stmt->reduction && (c->kernel->threads == 1 || !count_reads_memory(s->stmt));
	c->out->moving = c->out->moving || (m.tile && !s->rectangular);
	m.apart = count_lanes_apart(c, s);
	m.once = !s->stmt->reduction && s->stmt->access[0].group->space == HEDDLE_SPACE_GLOBAL; /* read where it is stored */
	/* of one thread each is counted for itself, but a vector may be that of one before it */
	const bool alone = c->kernel->threads == 1;
	const int own = (int)(access - s->stmt->access);
	for (int a = 1; a < (alone ? own : s->stmt->n_access) && !m.tile && m.n_beside < MOST_BESIDE; a++) {
		const int64_t apart = !alone && taken[a] ? 0 : elements_beside(c, s->stmt, own, a);
		if (!apart || s->stmt->access[a].group->space != HEDDLE_SPACE_GLOBAL)
			continue;
		m.beside[m.n_beside++] = apart;
		taken[a] = taken[a] || !alone;
	}
	m.share *= count_again(c, &m);
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

bool count_the_same(const counter *c, const heddle_stmt *s, int a, const heddle_stmt *t, int b, bool joined)
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

/* Share of the instances of many threads, which sum up nothing, that read again what an earlier statement has read: all in blocks at an edge where
 * copies are loops, which have no names there, else what is left of the last vector, which is one. */
static double again_in_threads(const shape *s, int lockstep)
{
	const heddle_stmt *stmt = s->stmt;
	double whole = 1;
	bool loops = false;
	for (int d = 0; d < stmt->n_dim; d++) {
		if (stmt->dim[d].member < 0 || s->d[d].extent < 1)
			continue;
		loops = loops || (s->d[d].unrolled && !s->d[d].copied);
		whole *= 1 - (double)(s->d[d].extent % stmt->dim[d].layout.tile) / (double)s->d[d].extent;
	}
	const bool left = lockstep >= 0 && !choose_divisible(stmt, lockstep, stmt->dim[lockstep].layout.vector);
	const int64_t extent = left ? s->d[lockstep].extent : 0;
	return loops ? 1 - whole : extent > 0 ? (double)(extent % s->width) / (double)extent : 0;
}

/* Share of the reads of one thread in blocks at an edge where copies are loops: each statement has its own.  0: they are none. */
static double again_in_loops(counter *c, const shape *s, const heddle_access *access)
{
	movement m = {.shape = s, .access = access, .tensor = access->tensor, .subscript = count_subscripts(c, s->stmt, access), .share = 1};
	double whole = 1;
	bool loops = false;
	for (int d = 0; d < s->stmt->n_dim; d++) {
		const int64_t extent = s->d[d].extent, tile = s->stmt->dim[d].layout.tile, rest = extent % tile;
		m.dims[d] = true;
		if (s->stmt->dim[d].member < 0 || extent < 1)
			continue;
		loops = loops || (s->d[d].unrolled && !s->d[d].copied);
		whole *= count_depends(&m, d) ? 1 - (double)rest / (double)extent : (double)(extent / tile) / (double)(extent / tile + (rest > 0));
	}
	return loops ? 1 - whole / fmax(whole, count_again(c, &m)) : 0;
}

/* Share of the reads that an earlier statement has made, and that are made again at an edge: of all where statements have loops of their own, else of what
 * is left of a vector, which each goes through by itself. */
static double again_at_edges(counter *c, const heddle_stmt *stmt, const heddle_access *access)
{
	const int lockstep = heddle_lockstep_dim(stmt, NULL);
	const shape s = count_shape(c, stmt);
	if (c->kernel->threads > 1)
		return stmt->reduction ? 0 : again_in_threads(&s, lockstep);
	const double loops = !stmt->reduction ? again_in_loops(c, &s, access) : 0;
	if (loops > 0 || lockstep < 0 || stmt->dim[lockstep].reduction || s.width == 1 ||
	    choose_divisible(stmt, lockstep, stmt->dim[lockstep].layout.vector))
		return loops;
	const int64_t v = choose_least(stmt->dim[lockstep].layout.vector, c->language->max_vector), extent = s.d[lockstep].extent;
	return extent > 0 ? (double)(extent % v) / (double)extent : 0;
}

/* Share of the terms, or results, that fill no vector of one thread: statements that share a loop go through them one after another, and each reads
 * them. */
static double again_of_rest(const counter *c, const heddle_stmt *stmt)
{
	const int lockstep = heddle_lockstep_dim(stmt, NULL);
	const shape s = count_shape(c, stmt);
	if (c->kernel->threads > 1 || lockstep < 0 || s.width < 2 || choose_divisible(stmt, lockstep, s.width) ||
	    heddle_fixed_extent(stmt->source->index[lockstep]->upper) > 0 || s.d[lockstep].extent < 1)
		return 0;
	return (double)(s.d[lockstep].extent % s.width) / (double)s.d[lockstep].extent;
}

/* An earlier access of the statement, or of the stretch that it belongs to, reads the same elements: they are in registers.  `*again`: the share
 * of the instances that read them nevertheless. */
static bool is_repeated(counter *c, int at, int a, double *again)
{
	const heddle_stmt *stmt = c->kernel->stmt[at];
	*again = 0;
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
			if (count_the_same(c, stmt, a, c->kernel->stmt[s], b, joined)) {
				*again = joined ? again_of_rest(c, stmt) : again_at_edges(c, stmt, &stmt->access[a]);
				return true;
			}
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
		c->out->exact = c->out->exact && s.d[d].share >= 1 && s.d[d].members == stmt->dim[d].layout.vector;
	bool *taken = HEDDLE_NEW_ARRAY(c->arena, bool, stmt->n_access);
	double *again = HEDDLE_NEW_ARRAY(c->arena, double, stmt->n_access);
	for (int a = 1; a < stmt->n_access; a++)
		taken[a] = is_repeated(c, at, a, &again[a]);
	for (int a = 1; a < stmt->n_access; a++)
		if (!taken[a] || again[a] > 0) {
			const double part = taken[a] ? again[a] : 1;
			taken[a] = true;
			count_read(c, &s, &stmt->access[a], part, taken);
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
		c->out->shared.load_transactions += words * (double)warps * (double)(lanes / c->warp) * ceil((double)c->warp / c->transfer.banks);
		return;
	}
	double groups = (double)kernel->threads / (double)lanes, moved = 0;
	for (int64_t live = lanes; live > 1; live = (live + 1) / 2)
		moved += (double)(live - (live + 1) / 2) * groups;
	c->out->shared.store_bytes += size * ((double)kernel->threads + moved);
	c->out->shared.load_bytes += size * ((double)kernel->threads + 2 * moved);
	if (kernel->lane_stride % c->warp) /* parts of warps: not counted */
		return;
	const double wide = fmax(1, (double)(c->warp * heddle_type_size(stmt->accumulator.type)) / (c->transfer.banks * c->transfer.bank_width)), all = words * (double)warps,
		     some = words * moved / c->warp;
	c->out->shared.store_requests += all + some;
	c->out->shared.load_requests += all + 2 * some;
	c->out->shared.store_transactions += (all + some) * wide;
	c->out->shared.load_transactions += (all + 2 * some) * wide;
}

int count_lanes_at_once(const counter *c, int64_t bytes)
{
	const int64_t width = c->transfer.bank_width, part = choose_least(c->warp, c->transfer.banks) * width / (bytes > width ? bytes : width);
	return part < 1 ? 1 : (int)part;
}

int count_warp(const heddle_scop *scop)
{
	const heddle_quantity *warp = &scop->descriptor->warp;
	return warp->set && warp->value > 1 && warp->value <= MOST_WARP ? (int)warp->value : 1;
}

/* All blocks, or those that `held` names. */
static heddle_kernel_count count_kernel(const counter *of, const count_held *held)
{
	const heddle_kernel *kernel = of->kernel;
	heddle_kernel_count out = {.blocks = 1, .exact = true, .group = HEDDLE_NEW_ARRAY(of->arena, heddle_movement, kernel->n_group ? kernel->n_group : 1)};
	counter c = *of;
	c.out = &out;
	c.held = held;
	c.shapes = HEDDLE_NEW_ARRAY(c.arena, shape, kernel->n_stmt);
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

/* The member of which a block has one value each, and with which alone ends move, those of reductions in the blocks; -1: there is none. */
static int moving_member(const counter *c)
{
	int member = -1;
	for (int i = 0; i < c->kernel->n_stmt; i++) {
		const heddle_stmt *stmt = c->kernel->stmt[i];
		for (int d = 0; d < stmt->n_dim; d++)
			for (int o = 0; o < stmt->n_dim; o++) {
				if (o == d || !(choose_mentions(stmt->source->index[d]->upper, o) || choose_mentions(stmt->source->index[d]->lower, o)))
					continue;
				if (stmt->dim[d].member >= 0 || stmt->dim[o].member < 0 || stmt->dim[o].layout.tile > 1 || (member >= 0 && member != stmt->dim[o].member))
					return -1;
				member = stmt->dim[o].member;
			}
	}
	return member;
}

/* Do all ranges in blocks of two values of the member have as many values? */
static bool same_lengths(const counter *c, int member, int64_t a, int64_t b)
{
	const count_held one = {member, a}, other = {member, b};
	counter at = *c, beside = *c;
	at.held = &one;
	beside.held = &other;
	for (int i = 0; i < c->kernel->n_stmt; i++)
		for (int d = 0; d < c->kernel->stmt[i]->n_dim; d++) {
			const count_ends x = count_box(&at, c->kernel->stmt[i], d), y = count_box(&beside, c->kernel->stmt[i], d);
			if (x.upper - x.lower != y.upper - y.lower)
				return false;
		}
	return true;
}

static void add_movement(heddle_movement *to, const heddle_movement *from, double times)
{
	to->load_bytes += times * from->load_bytes;
	to->load_requests += times * from->load_requests;
	to->load_transactions += times * from->load_transactions;
	to->store_bytes += times * from->store_bytes;
	to->store_requests += times * from->store_requests;
	to->store_transactions += times * from->store_transactions;
}

static void add_count(const heddle_kernel *kernel, heddle_kernel_count *to, const heddle_kernel_count *from, double times)
{
	to->blocks += times * from->blocks;
	add_movement(&to->global, &from->global, times);
	add_movement(&to->shared, &from->shared, times);
	to->again += times * from->again;
	for (int g = 0; g < kernel->n_group; g++)
		add_movement(&to->group[g], &from->group[g], times);
	to->exact = to->exact && from->exact;
	to->cut = to->cut || from->cut;
	to->moving = to->moving || from->moving;
	to->conditional = to->conditional || from->conditional;
}

/* Ends that move with a member of which a block has one value each, as those of chunks do: all of its values but the last have ranges of one length
 * each, and are counted as one of them.  false: it is another kernel. */
static bool count_by_values(const counter *c, heddle_kernel_count *out)
{
	enum { MOST_VALUES = 64 };
	const int member = moving_member(c);
	const heddle_stmt *stmt = c->kernel->stmt[0];
	int d = 0;
	while (member >= 0 && d < stmt->n_dim && stmt->dim[d].member != member)
		d++;
	if (member < 0 || d == stmt->n_dim || count_moves(c, stmt, d))
		return false;
	const count_ends all = count_box(c, stmt, d);
	const int64_t last = all.upper - 1, n = last - all.lower, step = n > MOST_VALUES ? n / MOST_VALUES : 1;
	bool same = n >= 0 && !(n > 0 && same_lengths(c, member, all.lower, last)); /* ends that move, but none of another length: all are counted at once */
	for (int64_t k = n - 1; k > 0 && same; k -= step)
		same = same_lengths(c, member, all.lower, all.lower + k);
	if (!same)
		return false;
	*out = count_kernel(c, &(count_held){member, last});
	if (n > 0) {
		const heddle_kernel_count others = count_kernel(c, &(count_held){member, all.lower});
		add_count(c->kernel, out, &others, (double)n);
	}
	return true;
}

heddle_kernel_count heddle_cost_count(heddle_arena *arena, const heddle_scop *scop, const heddle_kernel *kernel,
				      const heddle_count_language *language, const int64_t *size)
{
	heddle_kernel_count out;
	const counter c = {.arena = arena, .scop = scop, .kernel = kernel, .language = language, .size = size, .warp = count_warp(scop),
			   .transfer = heddle_descriptor_transfer(scop->descriptor),
			   .joins = heddle_joins(arena, scop, kernel)};
	return count_by_values(&c, &out) ? out : count_kernel(&c, NULL);
}
