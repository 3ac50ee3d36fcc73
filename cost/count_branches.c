/* Guards that ask for multiples, of one thread: places in the text of which they hold in the same blocks are one branch.
 * SPDX-License-Identifier: MIT
 */
#include "cost/count_conditions.h"
#include "cost/count_tree.h"

/* Blocks of what a guard asks about, for some sizes. */
typedef struct guarded_blocks {
	counter c;
	conjuncts guard;
	int64_t lower[HEDDLE_MAX_DIM], upper[HEDDLE_MAX_DIM], tiles[HEDDLE_MAX_DIM];
	int64_t step[HEDDLE_MAX_DIM]; /* values that stand in the text; of a loop over terms one, and each round is as a block */
} guarded_blocks;

/* false: it asks for something else. */
static bool find_blocks(guarded_blocks *b, const counter *c, const heddle_stmt *stmt, const heddle_expr *guard, const int64_t *step, const int64_t *size)
{
	*b = (guarded_blocks){.c = *c};
	b->c.size = size;
	for (int d = 0; d < stmt->n_dim; d++) {
		const count_ends box = count_box(&b->c, stmt, d);
		b->step[d] = step[d];
		b->lower[d] = box.lower;
		b->upper[d] = box.upper;
		b->tiles[d] = count_guards(stmt, d) && box.upper > box.lower ? (box.upper - box.lower + step[d] - 1) / step[d] : 1;
	}
	return count_take_conjuncts(&b->c, guard, &b->guard);
}

/* What conditions, or subscripts, tie together is in one part: the number of each dimension's, -1: nothing asks about it.  How many there are. */
static int find_parts(const movement *m, const conjuncts *guard, int part[HEDDLE_MAX_DIM])
{
	const heddle_stmt *stmt = m->shape->stmt;
	int n = 0;
	for (int d = 0; d < stmt->n_dim; d++)
		part[d] = count_guards(stmt, d) ? n++ : -1;
	for (int k = 0; k < guard->n + guard->n_multiple + m->tensor->rank; k++) {
		const int of = k - guard->n - guard->n_multiple;
		const linear *l = k < guard->n ? &guard->of[k] : of < 0 ? &guard->multiple[k - guard->n].of : &m->subscript[of];
		int first = -1;
		for (int d = 0; d < stmt->n_dim; d++) {
			if (part[d] < 0 || (!l->coefficient[d] && !l->within[d]))
				continue;
			const int other = part[d];
			first = first < 0 ? other : first;
			for (int o = 0; o < stmt->n_dim; o++)
				part[o] = part[o] == other ? first : part[o];
		}
	}
	return n;
}

static int64_t value_at(const linear *l, const int64_t *at)
{
	int64_t value = l->constant;
	for (int d = 0; d < HEDDLE_MAX_DIM; d++)
		value += l->coefficient[d] * at[d];
	return value;
}

/* Is it about one of these dimensions, or, of the first part, about none? */
static bool is_about(const linear *l, const int *part, int number)
{
	int any = -1;
	for (int d = 0; d < HEDDLE_MAX_DIM && any < 0; d++)
		any = l->coefficient[d] || l->within[d] ? part[d] : any;
	return any == number || (any < 0 && number == 0);
}

static bool holds_at(const conjuncts *guard, const int *part, int number, const int64_t *at)
{
	bool holds = true;
	for (int k = 0; k < guard->n && holds; k++)
		holds = !is_about(&guard->of[k], part, number) || value_at(&guard->of[k], at) >= 0;
	for (int k = 0; k < guard->n_multiple && holds; k++)
		holds = !is_about(&guard->multiple[k].of, part, number) || value_at(&guard->multiple[k].of, at) % guard->multiple[k].divisor == 0;
	return holds;
}

/* Blocks, and rounds, along the dimensions of one part. */
static int64_t blocks_of_part(const guarded_blocks *b, const heddle_stmt *stmt, const int *part, int number)
{
	int64_t blocks = 1;
	for (int d = 0; d < stmt->n_dim; d++)
		blocks = part[d] == number ? count_times(blocks, b->tiles[d]) : blocks;
	return blocks;
}

/* Is it known in the text which places are multiples, whatever the block?  Then nothing else about their conditions looks the same. */
static bool are_known(const guarded_blocks *b, const heddle_stmt *stmt, const int *part, int number)
{
	bool known = false;
	for (int k = 0; k < b->guard.n_multiple; k++) {
		bool same = true;
		for (int d = 0; d < stmt->n_dim; d++)
			same = same && ((b->tiles[d] == 1 && heddle_fixed_extent(stmt->source->index[d]->upper) > 0) ||
					b->guard.multiple[k].of.coefficient[d] * b->step[d] % b->guard.multiple[k].divisor == 0);
		if (is_about(&b->guard.multiple[k].of, part, number) && !same)
			return false;
		known = known || is_about(&b->guard.multiple[k].of, part, number);
	}
	return known;
}

/* What a place in the text reads along one part in all of its blocks, as one number: what holds in the same blocks is one branch, in which the same
 * elements are read once.  In how many of them its guard holds; -1: data decide. */
static double sign_place(const guarded_blocks *b, const movement *m, const int *part, int number, const int64_t *value, uint64_t *sign)
{
	const heddle_stmt *stmt = m->shape->stmt;
	const int64_t all = blocks_of_part(b, stmt, part, number);
	const bool known = are_known(b, stmt, part, number);
	double there = 0;
	for (int d = 0; d < stmt->n_dim; d++)
		*sign = known && part[d] == number ? (*sign ^ (uint64_t)value[d]) * UINT64_C(0x100000001b3) : *sign;
	for (int64_t block = 0; block < all; block++) {
		int64_t at[HEDDLE_MAX_DIM] = {0}, rest = block;
		bool holds = true;
		for (int d = 0; d < stmt->n_dim; d++) {
			if (part[d] != number)
				continue;
			at[d] = b->lower[d] + rest % b->tiles[d] * b->step[d] + value[d];
			rest /= b->tiles[d];
			holds = holds && at[d] < b->upper[d];
		}
		holds = holds && holds_at(&b->guard, part, number, at);
		there += holds;
		for (int e = 0; e <= m->tensor->rank; e++) {
			int64_t index = 0;
			if (e < m->tensor->rank && holds && is_about(&m->subscript[e], part, number) &&
			    heddle_expr_evaluate_at(count_subscript(stmt, m->access, e), b->c.size, at, &index) < 0)
				return -1;
			*sign = (*sign ^ (uint64_t)(e < m->tensor->rank ? index : holds)) * UINT64_C(0x100000001b3);
		}
	}
	return there;
}

/* What all results along those dimensions, which the guard does not ask about, read inside of one of its branches: they stand in the text, and each asks
 * whether it exists, as no block is whole.  -1: too many. */
static double reads_inside(const counter *c, const movement *m, const bool *along)
{
	const heddle_stmt *stmt = m->shape->stmt;
	double sum = 0;
	for (int kind = 0; kind < (1 << stmt->n_dim); kind++) { /* of the block, along each dimension: whole, or cut */
		int64_t values[HEDDLE_MAX_DIM];
		double blocks = 1;
		for (int d = 0; d < stmt->n_dim && blocks > 0; d++) {
			const int64_t tile = stmt->dim[d].layout.tile, extent = m->shape->d[d].extent;
			const bool cut = kind >> d & 1;
			values[d] = !along[d] ? 1 : cut ? extent % tile : tile;
			blocks *= !along[d] ? !cut : cut ? extent % tile > 0 : (double)(extent / tile);
		}
		const double reads = blocks > 0 ? count_under_conditions(c, m, -1, values, -1, -1) : 0;
		if (reads < 0)
			return -1;
		sum += blocks * reads;
	}
	return sum;
}

double count_branches(const counter *c, const movement *m)
{
	enum { MOST_PLACES_SIGNED = 256, MOST_SIGNED = 4096, MORE_SIZES = 8 }; /* conditions that hold in the same blocks may not do so of more */
	const shape *s = m->shape;
	const heddle_stmt *stmt = s->stmt;
	const int n_size = c->scop->definition->n_size;
	bool otherwise = false, rounds = false, vectors = false;
	const heddle_expr *guard = count_guard_of(stmt, &otherwise);
	conjuncts all = {0};
	int64_t places = 1, step[HEDDLE_MAX_DIM];
	bool along[HEDDLE_MAX_DIM] = {false};
	double others = 1, reads = 0;
	uint64_t seen[MOST_PLACES_SIGNED];
	guarded_blocks blocks[MORE_SIZES];
	int found = 0;
	if (c->kernel->threads > 1 || m->tile || !m->access || !stmt->reduction || !guard || otherwise || !count_take_conjuncts(c, guard, &all) || !all.n_multiple)
		return -1;
	for (int d = 0; d < stmt->n_dim; d++) {
		const heddle_layout *layout = &stmt->dim[d].layout;
		const int64_t extent = s->d[d].extent;
		const bool loop = !s->d[d].unrolled && layout->items > 1, copies = layout->tile > 1 && !loop;
		if (count_moves(c, stmt, d) || layout->rounds > 1 || extent < 1)
			return -1;
		step[d] = stmt->dim[d].reduction && extent < layout->tile ? extent : layout->tile;
		if (count_guards(stmt, d)) {
			vectors = vectors || (!stmt->dim[d].reduction && layout->vector > 1);
			rounds = rounds || (stmt->dim[d].reduction && layout->vector == 1 && !copies && extent > 1);
			if (stmt->dim[d].reduction && layout->vector == 1 && !copies)
				step[d] = 1;
			else if (loop || s->d[d].parts > 1 || (stmt->dim[d].reduction ? extent > layout->tile : stmt->dim[d].member < 0))
				return -1;
			places = count_times(places, step[d]);
		} else {
			if (layout->vector > 1 || (copies && stmt->dim[d].reduction))
				return -1;
			others *= copies ? 1 : (double)extent;
			along[d] = copies;
		}
	}
	if (places > MOST_PLACES_SIGNED || (rounds && vectors))
		return -1;
	int part[HEDDLE_MAX_DIM];
	for (int d = 0; d < HEDDLE_MAX_DIM; d++)
		part[d] = -1;
	const int parts = find_parts(m, &all, part);
	int64_t *size = HEDDLE_NEW_ARRAY(c->arena, int64_t, MORE_SIZES * n_size + 1);
	for (int more = 0; more < MORE_SIZES; more++) {
		int64_t signs = 0;
		for (int k = 0; k < n_size; k++)
			size[more * n_size + k] = c->size[k] + more;
		if (!find_blocks(&blocks[more], c, stmt, guard, step, size + more * n_size))
			return -1;
		for (int k = 0; k < parts; k++)
			signs += blocks_of_part(&blocks[more], stmt, part, k);
		if (count_times(places, signs) > MOST_SIGNED)
			return -1;
	}
	for (int64_t p = 0; p < places; p++) {
		int64_t value[HEDDLE_MAX_DIM], rest = p;
		uint64_t sign = UINT64_C(0xcbf29ce484222325);
		double there = 1;
		bool known = false;
		for (int d = 0; d < stmt->n_dim; d++) {
			value[d] = count_guards(stmt, d) ? rest % step[d] : 0;
			rest = count_guards(stmt, d) ? rest / step[d] : rest;
		}
		for (int more = 0; more < MORE_SIZES; more++)
			for (int k = 0; k < parts; k++) {
				const double of_part = sign_place(&blocks[more], m, part, k, value, &sign);
				if (of_part < 0)
					return -1;
				there *= more ? 1 : of_part;
			}
		for (int k = 0; k < found; k++)
			known = known || seen[k] == sign;
		if (known)
			continue;
		reads += there;
		seen[found++] = sign;
	}
	const double inside = reads_inside(c, m, along);
	return inside < 0 ? -1 : reads * others * inside;
}
