/* Guards that ask for multiples, of one thread: places in the text of which they hold in the same blocks are one branch.
 * SPDX-License-Identifier: MIT
 */
#include "cost/count_conditions.h"

/* Blocks of what a guard ties together, for some sizes. */
typedef struct guarded_blocks {
	counter c;
	int64_t all, lower[HEDDLE_MAX_DIM], upper[HEDDLE_MAX_DIM], tiles[HEDDLE_MAX_DIM];
} guarded_blocks;

static guarded_blocks blocks_of(const counter *c, const heddle_stmt *stmt, const int64_t *size)
{
	guarded_blocks b = {.c = *c, .all = 1};
	b.c.size = size;
	for (int d = 0; d < stmt->n_dim; d++) {
		const count_ends box = count_box(&b.c, stmt, d);
		const int64_t tile = stmt->dim[d].layout.tile;
		b.lower[d] = box.lower;
		b.upper[d] = box.upper;
		b.tiles[d] = count_guards(stmt, d) && !stmt->dim[d].reduction ? (box.upper - box.lower + tile - 1) / tile : 1;
		b.all = count_times(b.all, b.tiles[d] > 0 ? b.tiles[d] : 0);
	}
	return b;
}

/* What a place in the text reads in all of them, as one number: what holds in the same blocks is one branch, in which the same elements are read once.
 * `*there`: so many in which its guard holds.  false: data decide. */
static bool sign_place(const guarded_blocks *b, const movement *m, const heddle_expr *guard, const int64_t *value, uint64_t *sign, double *there)
{
	const heddle_stmt *stmt = m->shape->stmt;
	for (int64_t number = 0; number < b->all; number++) {
		int64_t at[HEDDLE_MAX_DIM] = {0}, rest = number, holds = 1;
		for (int d = 0; d < stmt->n_dim; d++) {
			if (value[d] < 0) /* the guard does not mention it */
				continue;
			at[d] = b->lower[d] + rest % b->tiles[d] * stmt->dim[d].layout.tile + value[d];
			rest /= b->tiles[d];
			holds = holds && at[d] < b->upper[d];
		}
		if (holds && heddle_expr_evaluate_at(guard, b->c.size, at, &holds) < 0)
			return false;
		*there += holds != 0;
		for (int e = 0; e <= m->tensor->rank; e++) {
			int64_t index = 0;
			if (e < m->tensor->rank && holds && heddle_expr_evaluate_at(count_subscript(stmt, m->access, e), b->c.size, at, &index) < 0)
				return false;
			*sign = (*sign ^ (uint64_t)(e < m->tensor->rank ? index : holds)) * UINT64_C(0x100000001b3);
		}
	}
	return true;
}

double count_branches(const counter *c, const movement *m)
{
	enum { MOST_PLACES_SIGNED = 64, MOST_SIGNED = 4096, MORE_SIZES = 8 }; /* conditions that hold in the same blocks may not do so of more */
	const shape *s = m->shape;
	const heddle_stmt *stmt = s->stmt;
	const int n_size = c->scop->definition->n_size;
	bool otherwise = false;
	const heddle_expr *guard = count_guard_of(stmt, &otherwise);
	conjuncts all = {0};
	int64_t places = 1;
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
		if (count_guards(stmt, d)) {
			if (loop || s->d[d].parts > 1 || (stmt->dim[d].reduction ? extent > layout->tile || !copies : stmt->dim[d].member < 0))
				return -1;
			places = count_times(places, stmt->dim[d].reduction ? extent : layout->tile);
		} else {
			if (layout->vector > 1 || (copies && (stmt->dim[d].reduction || (extent % layout->tile && !count_depends(m, d)))))
				return -1;
			others *= copies && !count_depends(m, d) ? (double)(extent / layout->tile) : (double)extent;
		}
	}
	if (places > MOST_PLACES_SIGNED)
		return -1;
	int64_t *size = HEDDLE_NEW_ARRAY(c->arena, int64_t, MORE_SIZES * n_size + 1);
	for (int more = 0; more < MORE_SIZES; more++) {
		for (int k = 0; k < n_size; k++)
			size[more * n_size + k] = c->size[k] + more;
		blocks[more] = blocks_of(c, stmt, size + more * n_size);
		if (count_times(places, blocks[more].all) > MOST_SIGNED)
			return -1;
	}
	for (int64_t p = 0; p < places; p++) {
		int64_t value[HEDDLE_MAX_DIM], rest = p;
		uint64_t sign = UINT64_C(0xcbf29ce484222325);
		double there = 0, of_more = 0;
		bool known = false;
		for (int d = 0; d < stmt->n_dim; d++) {
			const int64_t n = stmt->dim[d].reduction ? s->d[d].extent : stmt->dim[d].layout.tile;
			value[d] = count_guards(stmt, d) ? rest % n : -1;
			rest = count_guards(stmt, d) ? rest / n : rest;
		}
		for (int more = 0; more < MORE_SIZES; more++)
			if (!sign_place(&blocks[more], m, guard, value, &sign, more ? &of_more : &there))
				return -1;
		for (int k = 0; k < found; k++)
			known = known || seen[k] == sign;
		if (known)
			continue;
		reads += there;
		seen[found++] = sign;
	}
	return reads * others;
}
