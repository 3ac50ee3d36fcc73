/* The best candidates: seeds are rated, and what differs from the best of each kind in one place, as long as that
 * helps. SPDX-License-Identifier: MIT
 */
#include "cost/space.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POOL = 512, KINDS = 64, USUAL_SEEDS = 1500, USUAL_AROUND = 4, MOST_STEPS = 12, SEEN = 1 << 16, FEW = 64 };

/* Part of the registers that a thread can have: of more, as they are counted here, compilers may spill some. */
static const double CERTAIN = 0.8;

/* Of candidates that are rated alike the simpler one is taken: for each tile, and each doubling of the elements that are unrolled, the other
 * has to gain so much.  The rating does not see what long texts cost in the compiler and in fetching instructions. */
static const double OF_TILE = 0.01, OF_DOUBLING = 0.015;

/* The same for each doubling of a block's results beyond MANY, and of a step of a reduction beyond LONG terms, along dimensions whose extent is
 * open: it may be shorter than the typical one that the rating is for, and large blocks then leave units idle. */
static const double OF_OPEN = 0.03, MANY = 4096, LONG = 64;

/* Looked around in is what is not much slower than the best. */
static const double HOPELESS = 3;

typedef struct searcher {
	const heddle_outline *o;
	int n, worst;        /* of the pool; its slowest */
	int most;            /* POOL, or FEW where the best alone is wanted */
	heddle_ranked *pool; /* [most] */
	int n_kind;
	heddle_ranked *of_kind;    /* [KINDS], the best of each */
	uint64_t *seen;            /* [n_seen], a hash table */
	size_t n_seen;
	int rated;
	heddle_ranked *step;       /* the best neighbour so far; NULL: seeds */
} searcher;

static uint64_t hash(uint64_t h, const void *data, size_t n)
{
	const unsigned char *byte = data;
	for (size_t i = 0; i < n; i++)
		h = (h ^ byte[i]) * 1099511628211u;
	return h;
}

static uint64_t hash_of(const heddle_outline *o, const heddle_candidate *c)
{
	uint64_t h = 14695981039346656037u;
	h = hash(h, c->slot, sizeof(*c->slot) * (size_t)o->n_slot);
	h = hash(h, c->group, sizeof(*c->group) * (size_t)o->n_group);
	h = hash(h, c->order, (size_t)o->n_member);
	const int rest[] = {c->lanes, c->lanes_outer, c->resident, (int)c->streams};
	h = hash(h, rest, sizeof(rest));
	return h ? h : 1;
}

/* Candidates of one kind have threads, vectors and rounds along the same dimensions, and the same spaces. */
static uint64_t kind_of(const heddle_outline *o, const heddle_candidate *c)
{
	uint64_t threads = 0, vectors = 0, rounds = 0, spaces = 0;
	for (int i = 0; i < o->n_slot; i++) {
		threads |= (uint64_t)(c->slot[i].threads > 1) << i;
		vectors |= (uint64_t)(c->slot[i].vector > 1) << i;
		rounds |= (uint64_t)(c->slot[i].rounds > 1) << i;
	}
	for (int g = 0; g < o->n_group; g++)
		spaces |= (uint64_t)c->group[g].space << 2 * g;
	const uint64_t all[] = {threads, o->simd ? vectors : 0, rounds, spaces};
	return hash(14695981039346656037u, all, sizeof(all));
}

static bool near(double x, double y, double factor)
{
	return x <= factor * y && y <= factor * x;
}

/* Nearly the same items and steps, and the same blocks and spaces where those matter: one of them is enough to measure.
 */
static bool alike(const heddle_outline *o, const heddle_ranked *x, const heddle_ranked *y)
{
	const double tiles = 1.6, steps = 2, equal = 1.005;
	const heddle_candidate *a = &x->candidate, *b = &y->candidate;
	const heddle_outline_stmt *main = &o->stmt[o->main];
	if (o->simd && heddle_outline_lockstep(main, a) != heddle_outline_lockstep(main, b))
		return false;
	const bool ties = near(x->seconds, y->seconds, equal);
	for (int i = 0; i < o->n_slot; i++) {
		const heddle_slot_layout *l = &a->slot[i], *k = &b->slot[i];
		const double factor = i < o->n_member ? tiles : steps;
		if (l->threads != k->threads || !near(l->items * l->vector, k->items * k->vector, factor))
			return false;
		if (!ties &&
		    ((l->rounds > 1) != (k->rounds > 1) || !near(heddle_slot_tile(l), heddle_slot_tile(k), factor)))
			return false;
	}
	for (int g = 0; g < o->n_group && !ties; g++)
		if (a->group[g].space != b->group[g].space)
			return false;
	return true;
}

static bool is_new(searcher *s, const heddle_candidate *c)
{
	const uint64_t h = hash_of(s->o, c);
	for (size_t i = h % s->n_seen, tries = 0; tries < 16; i = (i + 1) % s->n_seen, tries++) {
		if (s->seen[i] == h)
			return false;
		if (!s->seen[i]) {
			s->seen[i] = h;
			return true;
		}
	}
	return true;
}

static void keep(searcher *s, const heddle_ranked *one)
{
	if (s->n < s->most) {
		s->pool[s->n++] = *one;
	} else if (one->seconds < s->pool[s->worst].seconds) {
		s->pool[s->worst] = *one;
	} else {
		return;
	}
	if (s->n < s->most)
		return;
	s->worst = 0;
	for (int i = 1; i < s->n; i++)
		s->worst = s->pool[i].seconds > s->pool[s->worst].seconds ? i : s->worst;
}

static void keep_kind(searcher *s, const heddle_ranked *one)
{
	int at = 0, slowest = 0;
	while (at < s->n_kind && s->of_kind[at].kind != one->kind)
		at++;
	if (at == s->n_kind && at == KINDS) {
		for (int i = 1; i < KINDS; i++)
			slowest = s->of_kind[i].seconds > s->of_kind[slowest].seconds ? i : slowest;
		at = slowest;
	}
	if (at < s->n_kind && one->seconds >= s->of_kind[at].seconds)
		return;
	s->n_kind += at == s->n_kind;
	s->of_kind[at] = *one;
}

static double complexity(const heddle_outline *o, const heddle_candidate *c)
{
	const heddle_outline_stmt *main = &o->stmt[o->main];
	double tiles = 0, unrolled = 1, results = 1, open = 0;
	for (int g = 0; g < o->n_group; g++)
		tiles += c->group[g].space == HEDDLE_SPACE_SHARED;
	for (int i = 0; i < o->n_slot; i++)
		unrolled *= c->slot[i].items;
	for (int d = 0; d < main->n_dim; d++) {
		if (main->slot[d] < 0)
			continue;
		const heddle_slot_layout *l = &c->slot[main->slot[d]];
		const bool wide = !o->simd && heddle_space_any_runs_along(main, d); /* one access instead of several */
		unrolled *= wide ? 1.0 / l->vector : l->vector;
		results *= main->members >> d & 1 && !main->known[d] ? heddle_slot_tile(l) : 1;
		open += main->members >> d & 1 || main->known[d] ? 0 : fmax(0, log2(heddle_slot_tile(l) / LONG));
	}
	open += fmax(0, log2(results / MANY));
	return 1 + OF_TILE * tiles + OF_DOUBLING * log2(unrolled) + OF_OPEN * open;
}

static void rate(void *user, heddle_candidate *candidate)
{
	searcher *s = user;
	heddle_load load;
	heddle_ranked one;
	if (!heddle_candidate_legal(s->o, candidate) || !is_new(s, candidate))
		return;
	heddle_footprint(s->o, candidate, &load);
	const heddle_rating rating = heddle_rate(&load, s->o->descriptor);
	s->rated++;
	if (!rating.fits || (!s->o->simd && load.registers > CERTAIN * rating.most))
		return;
	one.candidate = *candidate;
	one.seconds = rating.seconds * complexity(s->o, candidate);
	one.kind = kind_of(s->o, candidate);
	keep(s, &one);
	if (!s->step)
		keep_kind(s, &one);
	else if (one.seconds < s->step->seconds)
		*s->step = one;
}

/* The best neighbour, its best neighbour, and so on. */
static void climb(searcher *s, const heddle_ranked *from)
{
	heddle_ranked best = *from;
	for (int i = 0; i < MOST_STEPS; i++) {
		const heddle_candidate at = best.candidate;
		const double before = best.seconds;
		s->step = &best;
		heddle_space_neighbours(s->o, &at, rate, s);
		if (best.seconds >= before)
			break;
	}
	s->step = NULL;
}

static int by_seconds(const void *a, const void *b)
{
	const double x = ((const heddle_ranked *)a)->seconds, y = ((const heddle_ranked *)b)->seconds;
	return x < y ? -1 : x > y;
}

/* Takes the candidate unless one like it is taken, or `most` of its kind. */
static void take(const searcher *s, const heddle_ranked *one, int most, heddle_ranked *out, int *n)
{
	int kin = 0;
	for (int j = 0; j < *n; j++) {
		if (alike(s->o, &out[j], one))
			return;
		kin += out[j].kind == one->kind;
	}
	if (kin < most)
		out[(*n)++] = *one;
}

/* The fastest that are not alike: first a few of each kind that is not hopeless, for the closed form may err about a kind. */
static int choose(const searcher *s, int k, heddle_ranked *out)
{
	const int few = k < 16 ? (k + 1) / 2 : k / 8;
	int n = 0;
	for (int i = 0; i < s->n && n < (k + 1) / 2; i++)
		take(s, &s->pool[i], few, out, &n);
	for (int i = 0; i < s->n_kind && n < k; i++)
		if (s->of_kind[i].seconds < HOPELESS * s->pool[0].seconds)
			take(s, &s->of_kind[i], few, out, &n);
	for (int i = 0; i < s->n && n < k; i++)
		take(s, &s->pool[i], k, out, &n);
	qsort(out, (size_t)n, sizeof(*out), by_seconds);
	return n;
}

/* Compilers that are told nothing may take more registers than the rating counts on, and fewer blocks then fit a unit.  They are told
 * generously, for the count of a thread's registers errs, and what a thread cannot have is spilled. */
static void tell_resident(const heddle_outline *o, heddle_candidate *c)
{
	const double more = 0.6;
	const heddle_descriptor *d = o->descriptor;
	const int threads = heddle_candidate_threads(o, c);
	heddle_load load;
	if (o->simd || c->resident || threads < 2 || !d->registers_per_unit.set || !d->registers_per_thread.set || !d->threads_per_unit.set)
		return;
	heddle_footprint(o, c, &load);
	load.registers += fmax(d->registers.spare.value, more * load.registers);
	const double fit = heddle_rate(&load, d).resident; /* no more than the grid has */
	if (fit > 1 && fit * threads < d->threads_per_unit.value && fit * threads * d->registers_per_thread.value > d->registers_per_unit.value)
		c->resident = (int)fit;
	heddle_given_apply(o, c);
}

heddle_space_found heddle_space_best(heddle_arena *arena, const heddle_outline *outline,
				     const heddle_space_options *options, int k)
{
	heddle_space_found found = {0};
	const int most = options && options->seeds ? options->seeds : USUAL_SEEDS,
		  around = options && options->around ? options->around : USUAL_AROUND;
	heddle_arena *work = heddle_arena_new();
	searcher s = {.o = outline, .most = k > 1 ? POOL : FEW, .n_seen = k > 1 ? SEEN : SEEN / 16};
	s.pool = HEDDLE_NEW_ARRAY(work, heddle_ranked, s.most);
	s.of_kind = HEDDLE_NEW_ARRAY(work, heddle_ranked, KINDS);
	s.seen = HEDDLE_NEW_ARRAY(work, uint64_t, s.n_seen);
	/* an odd step meets all values of choices that are powers of two */
	const int every = (heddle_space_seeds(outline, 1, NULL, NULL) + most - 1) / most | 1;
	heddle_space_seeds(outline, every, rate, &s);
	qsort(s.of_kind, (size_t)s.n_kind, sizeof(*s.of_kind), by_seconds);
	for (int i = 0; i < s.n_kind && i < around; i++)
		if (s.of_kind[i].seconds < HOPELESS * s.of_kind[0].seconds)
			climb(&s, &s.of_kind[i]);
	qsort(s.pool, (size_t)s.n, sizeof(*s.pool), by_seconds);
	found.best = HEDDLE_NEW_ARRAY(arena, heddle_ranked, k);
	found.n = choose(&s, k, found.best);
	for (int i = 0; i < found.n; i++)
		tell_resident(outline, &found.best[i].candidate);
	found.rated = s.rated;
	heddle_arena_free(work);
	return found;
}
