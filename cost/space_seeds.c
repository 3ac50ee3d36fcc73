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
	WORD = 4,
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

/* ---- what follows ------------------------------------------------------------------------------------------------ */

static bool runs_along(const heddle_outline_access *a, int d)
{
	return a->rank && a->affine && fabs(a->step[d]) == a->bytes;
}

static bool any_runs_along(const heddle_outline_stmt *s, int d)
{
	for (int a = 0; a < s->n_access; a++)
		if (runs_along(&s->access[a], d))
			return true;
	return false;
}

static int vector_along(const heddle_outline *o, const heddle_outline_stmt *s, int d)
{
	int v = (int)(o->vector_bytes / WORD);
	for (int a = 0; a < s->n_access && !o->simd; a++)
		while (runs_along(&s->access[a], d) && v > 1 && !o->language.unaligned && s->access[a].aligned % v)
			v /= 2;
	while (v > 1 && (v > s->extent[d] || v > o->language.max_vector))
		v /= 2;
	return v;
}

/* Dimensions that are no members: those of the main statement are chosen; others are laid out as the main one's of the
 * same length, or over the lanes, or by vectors. */
static void follow(const heddle_outline *o, heddle_candidate *c, const heddle_outline_stmt *s)
{
	enum { MOST_ITEMS = 16 };
	const heddle_outline_stmt *main = &o->stmt[o->main];
	int along = -1;
	const unsigned free = s->locals & ~s->ordered;
	for (int d = 0; d < s->n_dim; d++) {
		if (!(free >> d & 1) || s->slot[d] < 0)
			continue;
		c->slot[s->slot[d]] = (heddle_slot_layout){1, 1, 1, 1};
		if (along < 0 || any_runs_along(s, d) > any_runs_along(s, along) ||
		    (any_runs_along(s, d) == any_runs_along(s, along) && s->extent[d] > s->extent[along]))
			along = d;
	}
	if (along < 0)
		return;
	heddle_slot_layout *l = &c->slot[s->slot[along]];
	for (int d = 0; d < main->n_dim; d++)
		if ((main->locals & ~main->ordered) >> d & 1 && main->slot[d] >= 0 &&
		    main->extent[d] == s->extent[along] && any_runs_along(main, d) &&
		    c->slot[main->slot[d]].threads * c->slot[main->slot[d]].vector > 1) {
			*l = c->slot[main->slot[d]];
			return;
		}
	bool vectors = o->simd;
	for (int m = 0; m < o->n_member; m++)
		vectors = vectors && c->slot[m].vector == 1;
	if (c->lanes < 2 && !vectors)
		return;
	l->vector = any_runs_along(s, along) ? vector_along(o, s, along) : 1;
	l->threads = c->lanes;
	while (l->vector > 1 && l->vector * l->threads >= 2 * s->extent[along])
		l->vector /= 2;
	if (s->extent[along] <= (double)MOST_ITEMS * l->threads * l->vector)
		l->items = (int)ceil(s->extent[along] / (l->threads * l->vector));
	if (l->threads > 1 && l->threads >= 2 * s->extent[along])
		*l = (heddle_slot_layout){1, 1, 1, 1};
}

/* The tensor's dimension that is best innermost in the array: along which threads read vectors, else most threads. */
static int innermost(const heddle_outline *o, const heddle_candidate *c, const heddle_outline_stmt *s,
		     const heddle_outline_access *a)
{
	int best = -1, most = 1;
	for (int e = 0; e < a->rank; e++)
		for (int d = 0; d < s->n_dim; d++) {
			if (a->factor[e][d] != 1 || s->slot[d] < 0 || (s->reductions >> d & 1 && o->simd))
				continue;
			const heddle_slot_layout *l = &c->slot[s->slot[d]];
			const int score =
				s->reductions >> d & 1 ? 1 : (l->vector > 1 ? 4096 : 1) * (o->simd ? 1 : l->threads);
			if (score > most || (score == most && e == a->row))
				best = e, most = score;
		}
	return best == a->row || best == a->rank - 1 ? -1 : best;
}

static void lay_out_tile(const heddle_outline *o, heddle_candidate *c, int g)
{
	enum { MOVED = 16 };
	heddle_slot_group *choice = &c->group[g];
	const heddle_outline_stmt *s = &o->stmt[o->group[g].stmt];
	const heddle_outline_access *a = &s->access[o->group[g].access];
	const int most = o->simd ? (int)(o->vector_bytes / a->bytes) : (int)(MOVED / a->bytes);
	heddle_box box;
	choice->last = (signed char)innermost(o, c, s, a);
	choice->pad = 0;
	choice->columns = 0;
	choice->phases = 1;
	choice->copy = 0;
	choice->vector = 1;
	if (!heddle_box_of(o, c, g, &box))
		return;
	const bool turned = choice->last >= 0;
	for (int v = most; v > 1 && !(turned && o->simd); v /= 2) {
		choice->vector = (signed char)v;
		if (a->aligned % v == 0 && heddle_box_of(o, c, g, &box) && box.run_length % v == 0 &&
		    heddle_box_begins_at(o, c, g, &box, v))
			break;
		choice->vector = 1;
	}
	if (o->simd || !heddle_box_of(o, c, g, &box))
		return;
	const int wide = (int)(o->vector_bytes / a->bytes), unit = wide > 1 ? wide : 1,
		  rest = (int)(box.row_length % unit);
	choice->pad = (short)((rest ? unit - rest : 0) + (turned ? unit : s->stmt->reduction ? 0 : 1));
}

/* Blocks along the dimension stay as many, and have no rounds or items that do not exist in any of them. */
static void shorten(heddle_slot_layout *l, double extent)
{
	const double blocks = ceil(extent / heddle_slot_tile(l)), results = (double)l->threads * l->vector;
	if (l->rounds > 1)
		l->rounds = (int)ceil(extent / blocks / (results * l->items));
	else if (blocks == 1)
		l->items = (int)ceil(extent / results);
}

static void complete_layouts(const heddle_outline *o, heddle_candidate *c)
{
	const heddle_outline_stmt *main = &o->stmt[o->main];
	for (int m = 0; m < o->n_member; m++)
		shorten(&c->slot[m], o->member_extent[m]);
	for (int d = 0; d < main->n_dim; d++)
		if (main->locals >> d & 1 && main->slot[d] >= 0 &&
		    heddle_slot_tile(&c->slot[main->slot[d]]) >= main->extent[d])
			shorten(&c->slot[main->slot[d]], main->extent[d]);
	for (int s = 0; s < o->n_stmt; s++)
		if (s != o->main)
			follow(o, c, &o->stmt[s]);
}

void heddle_space_complete(const heddle_outline *o, heddle_candidate *c)
{
	double words, array;
	if (!heddle_given_layout(o))
		complete_layouts(o, c);
	heddle_given_apply(o, c);
	for (int g = 0; g < o->n_group; g++) {
		heddle_slot_group *choice = &c->group[g];
		if (choice->space == HEDDLE_SPACE_SHARED)
			lay_out_tile(o, c, g);
		else
			choice->space = o->group[g].uses > 1 && heddle_candidate_keeps(o, c, g, &words, &array)
						? HEDDLE_SPACE_REGISTER
						: HEDDLE_SPACE_GLOBAL;
	}
	c->streams &= heddle_candidate_streams(o, c);
	heddle_space_prefetch(o, c);
	heddle_given_apply(o, c);
}

/* Bytes from what the access reads in a block to what the next block reads; 0: other blocks read some of it, too, or
 * some of what lies between, or lines of it several times. */
static double next_part(const heddle_outline *o, const heddle_candidate *c, const heddle_outline_stmt *s,
			const heddle_outline_access *a)
{
	const int fastest = o->n_member ? c->order[o->n_member - 1] : -1;
	double part = a->bytes, distance = 0, line = 0;
	for (int d = 0; d < s->n_dim; d++) {
		const bool member = s->members >> d & 1;
		const heddle_slot_layout *l = s->slot[d] < 0 ? NULL : &c->slot[s->slot[d]];
		if (s->extent[d] > 1 && !(a->mask >> d & 1))
			return 0;
		part *= member && l ? fmin(heddle_slot_tile(l), s->extent[d]) : s->extent[d];
		distance += member && l && s->slot[d] == fastest ? a->step[d] * heddle_slot_tile(l) : 0;
		line = fmax(line, l ? fabs(a->step[d]) * l->vector : 0);
	}
	return a->affine && part <= distance && line >= o->line && heddle_outline_blocks(o, c, fastest) > 1 ? distance : 0;
}

void heddle_space_prefetch(const heddle_outline *o, heddle_candidate *c)
{
	enum { PART = 8 }; /* of the second cache, at most */
	double all = 0;
	const heddle_descriptor *chip = o->descriptor;
	const heddle_memory *memory = heddle_descriptor_memory(chip, "global"), *second = heddle_descriptor_memory(chip, "l2"),
			    *last = heddle_descriptor_memory(chip, "l3");
	if (!o->simd || !chip->prefetches || !second || !memory)
		return;
	for (int g = 0; g < o->n_group; g++)
		all += o->stmt[o->group[g].stmt].access[o->group[g].access].size;
	for (int g = 0; g < o->n_group; g++) {
		const heddle_outline_group *group = &o->group[g];
		const heddle_outline_stmt *s = &o->stmt[group->stmt];
		bool reads = c->group[g].space == HEDDLE_SPACE_GLOBAL && !group->written;
		for (int h = g + 1; h < o->n_group; h++) /* the last one that reads the tensor */
			reads = reads && o->group[h].tensor != group->tensor;
		if (c->group[g].space != HEDDLE_SPACE_SHARED)
			c->group[g].prefetch = 0;
		const double distance = reads ? next_part(o, c, s, &s->access[group->access]) : 0;
		if (distance <= 0 || PART * distance > second->size.value || (last && all <= last->size.value))
			continue;
		/* the bytes that are under way in memory's latency */
		c->group[g].prefetch = (signed char)fmin(64, ceil(memory->latency.value * memory->bandwidth.value / distance));
	}
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
			if (usable >> d & 1 && m->slot[d] >= 0 && runs_along(&m->access[a], d) && m->extent[d] > 1)
				push(s->row, &s->n_row, d);
			if (a && m->access[a].rank && !(m->access[a].mask >> d & 1))
				missing |= 1u << d;
		}
	missing &= m->members;
	for (int d = 0; d < m->n_dim; d++) /* the longest comes first */
		if (m->members >> d & 1 && (missing >> d & 1 || any_runs_along(m, d)))
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
				(here && l->threads * l->vector * l->rounds > 1 && !runs_along(read, d) &&
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
	const unsigned all = stageable(s, c);
	const bool two = __builtin_popcount(all) == 2;
	for (unsigned set = all;; set = (set - 1) & all) {
		if ((set == all || set == 0 || two) && takes(s)) {
			heddle_candidate copy = *c;
			for (int g = 0; g < s->o->n_group; g++) {
				copy.group[g].space = set >> g & 1 ? HEDDLE_SPACE_SHARED : HEDDLE_SPACE_GLOBAL;
				copy.group[g].prefetch = early && set >> g & 1;
			}
			heddle_space_complete(s->o, &copy);
			s->visit(s->user, &copy);
		}
		if (!set)
			return;
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
					const int of_y = y < 0 ? 1 : dividing(s->main->extent[y], items_y[j]);
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
							const int v = vector_along(s->o, s->main, l);
							*slot(s, &c, l) = (heddle_slot_layout){1, 1, lanes, v};
							while (slot(s, &c, l)->vector > 1 &&
							       slot(s, &c, l)->vector * lanes >= 2 * s->main->extent[l])
								slot(s, &c, l)->vector /= 2;
						}
						if (x >= 0) {
							const int v = least(vector_along(s->o, s->main, x), items[i]);
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
