/* Seeds: layouts of the main statement's dimensions, in coarse steps.
 * SPDX-License-Identifier: MIT
 */
#include "cost/space.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	MOST_AXES = 6, /* dimensions of a kind that are tried */
	SHORT = 8,     /* a reduction no longer is taken whole: the taps of a window */
};

typedef struct seeder {
	const heddle_outline *o;
	const heddle_outline_stmt *main;
	heddle_space_visit *visit;
	void *user;
	int n, every; /* only each `every`-th is completed and visited */
	int row[MOST_AXES], n_row; /* dimensions along which some access is contiguous: the target's first */
	int reuse[MOST_AXES],
		n_reuse; /* members that some operand does not depend on, and those that an access runs along */
	int wide;        /* elements of the widest access (simt) or of a vector register (simd) */
	bool reuses;     /* some operand is used again along two members: tiles of results pay */
} seeder;

static int least(int a, int b)
{
	return a < b ? a : b;
}

/* ---- axes -------------------------------------------------------------------------------------------------------- */

static void push(int *list, int *n, int d)
{
	for (int i = 0; i < *n; i++)
		if (list[i] == d)
			return;
	if (*n < MOST_AXES)
		list[(*n)++] = d;
}

static void find_axes(seeder *s)
{
	const heddle_outline_stmt *m = s->main;
	const unsigned usable = ~m->ordered;
	unsigned missing = 0;
	for (int a = 0; a < m->n_access; a++)
		for (int d = 0; d < m->n_dim; d++) {
			if (usable >> d & 1 && m->slot[d] >= 0 && heddle_space_runs_along(&m->access[a], d) && m->extent[d] > 1)
				push(s->row, &s->n_row, d);
			if (a && m->access[a].rank && !(m->access[a].mask >> d & 1))
				missing |= 1u << d;
		}
	missing &= m->members;
	for (int d = 0; d < m->n_dim; d++) /* the longest comes first */
		if (m->members >> d & 1 && (missing >> d & 1 || heddle_space_any_runs_along(m, d)))
			push(s->reuse, &s->n_reuse, d);
	for (int i = 1; i < s->n_reuse; i++)
		for (int j = i; j > 0 && m->extent[s->reuse[j]] > m->extent[s->reuse[j - 1]]; j--) {
			const int d = s->reuse[j];
			s->reuse[j] = s->reuse[j - 1];
			s->reuse[j - 1] = d;
		}
	for (int i = 0; i < s->n_reuse && s->o->simd; i++) /* tiles may be transposed */
		push(s->row, &s->n_row, s->reuse[i]);
	int longest = -1;
	for (int d = 0; d < m->n_dim; d++)
		if (m->slot[d] >= 0 && usable >> d & 1 && (longest < 0 || m->extent[d] > m->extent[longest]))
			longest = d;
	if (!s->n_row && longest >= 0)
		push(s->row, &s->n_row, longest);
	if (!s->n_reuse && longest >= 0 && m->members >> longest & 1)
		push(s->reuse, &s->n_reuse, longest);
	s->reuses = m->reductions && missing & (missing - 1);
	const double bytes = heddle_type_size(heddle_type_computed(m->access[0].access->tensor->type));
	s->wide = (int)(s->o->vector_bytes / (s->o->simd ? bytes : m->access[0].bytes));
	s->wide = s->wide < 1 ? 1 : s->wide;
}

/* ---- seeds ------------------------------------------------------------------------------------------------------- */

/* Steps of the reductions: short ones whole, the longest that is contiguous somewhere, or the longest, by `step`; 0:
 * all of them whole. */
static void set_steps(const seeder *s, heddle_candidate *c, int step)
{
	const heddle_outline_stmt *m = s->main;
	int along = -1;
	for (int d = 0; d < m->n_dim; d++) {
		if (!(m->reductions >> d & 1) || !(m->locals >> d & 1) || m->slot[d] < 0 ||
		    c->slot[m->slot[d]].threads * c->slot[m->slot[d]].vector > 1)
			continue;
		c->slot[m->slot[d]].items =
			step == 0 || m->extent[d] <= SHORT ? (int)fmin(m->extent[d], INT_MAX / 4) : 1;
		along = m->extent[d] > SHORT && (along < 0 || m->extent[d] > m->extent[along]) ? d : along;
	}
	if (step && along >= 0)
		c->slot[m->slot[along]].items = least(step, (int)m->extent[along]);
}

/* Groups of operands that a block could stage: as far as it reads them again, or across their rows. */
static unsigned stageable(const seeder *s, const heddle_candidate *c)
{
	const heddle_outline_stmt *m = s->main;
	unsigned groups = 0;
	for (int a = 1; a < m->n_access; a++) {
		const heddle_outline_access *read = &m->access[a];
		const int g = read->group;
		bool again = false;
		if (g < 0 || !read->affine || s->o->group[g].written || s->o->group[g].stmt != s->o->main ||
		    read->size <= read->bytes)
			continue;
		for (int d = 0; d < m->n_dim; d++) {
			if (m->slot[d] < 0)
				continue;
			const heddle_slot_layout *l = &c->slot[m->slot[d]];
			const bool here = read->mask >> d & 1;
			again = again || (!here && m->members >> d & 1 && l->threads * l->rounds > 1) ||
				(here && l->threads * l->vector * l->rounds > 1 && !heddle_space_runs_along(read, d) &&
				 read->row >= 0) ||
				(here && l->threads * l->items > 1 && m->reductions && m->members >> d & 1 &&
				 s->o->simd == false);
		}
		groups |= (unsigned)again << g;
	}
	return groups;
}

/* Is the next one visited? */
static bool takes(seeder *s)
{
	return s->n++ % s->every == 0 && s->visit;
}

/* All of the operands, or one of two, or none in tiles. */
static void visit_spaces(seeder *s, const heddle_candidate *c, bool early)
{
	const unsigned all = stageable(s, c), one = all & (0u - all);
	const bool two = __builtin_popcount(all) == 2;
	const unsigned set[] = {all, all ^ one, one, 0};
	for (int i = 0; i < 4; i++) {
		if ((i && i < 3 && !two) || (i == 3 && !all) || !takes(s))
			continue;
		heddle_candidate copy = *c;
		for (int g = 0; g < s->o->n_group; g++) {
			copy.group[g].space = set[i] >> g & 1 ? HEDDLE_SPACE_SHARED : HEDDLE_SPACE_GLOBAL;
			copy.group[g].prefetch = early && set[i] >> g & 1;
		}
		heddle_space_complete(s->o, &copy);
		s->visit(s->user, &copy);
	}
}

static void visit_steps(seeder *s, const heddle_candidate *c)
{
	static const int of_threads[] = {8, 16, 32}, of_vectors[] = {1, 64, 256, 0};
	heddle_candidate copy = *c;
	const bool any = s->main->reductions & s->main->locals;
	for (int i = 0; i < (any ? s->o->simd ? 4 : 3 : 1); i++) {
		set_steps(s, &copy, s->o->simd ? of_vectors[i] : of_threads[i]);
		visit_spaces(s, &copy, false);
		if (!s->o->simd && any && i < 2)
			visit_spaces(s, &copy, true);
	}
}

/* The member becomes the fastest block coordinate. */
static void set_fastest(const heddle_outline *o, heddle_candidate *c, int member)
{
	int n = 0;
	for (int m = 0; m < o->n_member; m++)
		if (m != member)
			c->order[n++] = (signed char)m;
	c->order[n] = (signed char)member;
}

static heddle_slot_layout *slot(const seeder *s, heddle_candidate *c, int d)
{
	return &c->slot[s->main->slot[d]];
}

/* One thread: vectors along the reduction x, items of two members that share operands. */
static void seed_sums(seeder *s, int x, int y, int z)
{
	static const int items[] = {1, 2, 4};
	const double registers = s->o->descriptor->vector_registers.set ? s->o->descriptor->vector_registers.value : 16;
	for (int v = s->wide; v <= 4 * s->wide && v <= s->o->language.max_vector * 4; v *= 2)
		for (size_t i = 0; i < HEDDLE_COUNT(items); i++)
			for (size_t j = 0; j < HEDDLE_COUNT(items); j++) {
				heddle_candidate c;
				if (v / s->wide * items[i] * items[j] > registers)
					continue;
				heddle_candidate_begin(s->o, &c);
				*slot(s, &c, x) = (heddle_slot_layout){1, 1, 1, v};
				*slot(s, &c, y) = (heddle_slot_layout){1, items[i], 1, 1};
				*slot(s, &c, z) = (heddle_slot_layout){1, items[j], 1, 1};
				visit_steps(s, &c);
			}
}

/* About so many items, without a remainder of the dimension where a number within a fifth divides it. */
static int dividing(double extent, int items)
{
	static const int change[] = {0, 1, -1, 2, -2};
	size_t i = 0;
	while (i < HEDDLE_COUNT(change) && (abs(change[i]) * 5 > items || fmod(extent, items + change[i]) != 0))
		i++;
	return i < HEDDLE_COUNT(change) ? items + change[i] : items;
}

/* One thread: vectors along x, items of x and y in registers, rounds along y over a panel. */
static void seed_vectors(seeder *s, int x, int y)
{
	static const int items_x[] = {1, 2, 3, 4}, items_y[] = {1, 2, 4, 6, 8, 12},
			 rounds[] = {1, 8, 64, 0, -1}; /* 0: all; -1: of another one, too */
	const bool member = s->main->members >> x & 1;
	const double registers = s->o->descriptor->vector_registers.set ? s->o->descriptor->vector_registers.value : 16;
	for (int v = s->wide; v <= 4 * s->wide && v <= s->o->language.max_vector * 4; v *= 2)
		for (size_t i = 0; i < HEDDLE_COUNT(items_x); i++)
			for (size_t j = 0; j < (y < 0 ? 1 : HEDDLE_COUNT(items_y)); j++)
				for (size_t r = 0; r < (y < 0 ? 1 : HEDDLE_COUNT(rounds)); r++) {
					heddle_candidate c;
					const int of_y = y < 0 ? 1 : !s->main->known[y] ? items_y[j] : dividing(s->main->extent[y], items_y[j]);
					const int sums = items_x[i] * v / s->wide * of_y;
					if (sums > registers || (!member && items_x[i] > 1) || (s->reuses && sums < 2))
						continue;
					heddle_candidate_begin(s->o, &c);
					*slot(s, &c, x) = (heddle_slot_layout){1, items_x[i], 1, v};
					if (y >= 0) {
						const int all = (int)ceil(s->main->extent[y] / of_y),
							  z = s->reuse[0] == y || s->reuse[0] == x ? 1 : 0;
						*slot(s, &c, y) = (heddle_slot_layout){rounds[r] > 0 ? rounds[r] : all,
										       of_y, 1, 1};
						if (rounds[r] < 0 && z < s->n_reuse && s->reuse[z] != x &&
						    s->reuse[z] != y)
							slot(s, &c, s->reuse[z])->rounds =
								(int)s->main->extent[s->reuse[z]];
						else if (rounds[r] < 0)
							continue;
						set_fastest(s->o, &c, s->main->slot[y]);
						visit_steps(s, &c);
					}
					if (member)
						set_fastest(s->o, &c, s->main->slot[x]);
					visit_steps(s, &c);
				}
}

/* Many threads: along x, y and the lanes l (-1: none), items of x and y. */
static void seed_threads(seeder *s, int x, int y, int l)
{
	static const int items[] = {1, 2, 4, 8};
	const heddle_descriptor *d = s->o->descriptor;
	const int most = d->threads_per_block.set ? (int)d->threads_per_block.value : 256, n = s->reuses ? 4 : 2;
	const int warp = s->o->warp < most ? s->o->warp : most;
	for (int threads = warp; threads <= least(most, 512); threads *= 2)
		for (int lanes = 1; lanes <= (l < 0 ? 1 : threads); lanes *= 4)
			for (int ty = 1; ty <= (y < 0 ? 1 : threads / lanes); ty *= 2)
				for (int i = 0; i < n; i++)
					for (int j = 0; j < (y < 0 ? 1 : n); j++) {
						heddle_candidate c;
						const int tx = threads / lanes / ty;
						if ((l >= 0 && lanes < 2) || (x < 0 && tx > 1) || (x < 0 && i))
							continue;
						heddle_candidate_begin(s->o, &c);
						c.lanes = lanes;
						if (l >= 0) {
							const int v = heddle_space_vector_along(s->o, s->main, l);
							*slot(s, &c, l) = (heddle_slot_layout){1, 1, lanes, v};
							while (slot(s, &c, l)->vector > 1 &&
							       slot(s, &c, l)->vector * lanes >= 2 * s->main->extent[l])
								slot(s, &c, l)->vector /= 2;
						}
						if (x >= 0) {
							const int v = least(heddle_space_vector_along(s->o, s->main, x), items[i]);
							*slot(s, &c, x) = (heddle_slot_layout){1, items[i] / v, tx, v};
						}
						if (y >= 0)
							*slot(s, &c, y) = (heddle_slot_layout){1, items[j], ty, 1};
						visit_steps(s, &c);
						/* tiles that are transposed let threads take vectors along y as well */
						if (y >= 0 && s->reuses && items[j] >= s->wide && s->wide > 1) {
							*slot(s, &c, y) = (heddle_slot_layout){1, items[j] / s->wide,
											       ty, s->wide};
							visit_steps(s, &c);
						}
					}
}

int heddle_space_seeds(const heddle_outline *outline, int every, heddle_space_visit *visit, void *user)
{
	seeder s = {.o = outline, .main = &outline->stmt[outline->main], .visit = visit, .user = user, .every = every};
	heddle_candidate plain;
	heddle_candidate_begin(outline, &plain);
	find_axes(&s);
	visit_spaces(&s, &plain, false);
	if (heddle_given_layout(outline)) {
		heddle_given_lay_out(outline, &plain);
		visit_spaces(&s, &plain, false);
		visit_spaces(&s, &plain, !outline->simd);
		return s.n;
	}
	for (int i = 0; i < s.n_row; i++)
		for (int j = -1; j < s.n_reuse; j++) {
			const int d = s.row[i], y = j < 0 ? -1 : s.reuse[j];
			const bool member = s.main->members >> d & 1;
			if (y == d || (j < 0 && s.reuses))
				continue;
			if (outline->simd)
				seed_vectors(&s, d, y);
			else
				seed_threads(&s, member ? d : -1, y, member ? -1 : d);
		}
	for (int i = 0; i < s.n_row && outline->simd && s.reuses; i++)
		for (int j = 0; j + 1 < s.n_reuse; j++)
			if (!(s.main->members >> s.row[i] & 1))
				seed_sums(&s, s.row[i], s.reuse[j], s.reuse[j + 1]);
	/* lanes beside members that are contiguous: sums of few results */
	for (int i = 0; i < s.n_row && !outline->simd; i++)
		for (int l = 0; l < s.main->n_dim; l++)
			if (s.main->members >> s.row[i] & 1 && (s.main->locals & ~s.main->ordered) >> l & 1 &&
			    s.main->slot[l] >= 0 && !s.reuses)
				seed_threads(&s, s.row[i], -1, l);
	return s.n;
}
