/* Reads of threads that sum up nothing and store what they compute, block by block.
 * SPDX-License-Identifier: MIT
 */
#include "cost/count_tree.h"

#include <stdlib.h>
#include <string.h>

/* How the text of a block goes over a dimension: what is no loop stands in copies. */
typedef struct plain_dim {
	bool items, members; /* are a loop */
	int64_t step;        /* of the thread's values in a round of all its loops; 0: there is no loop */
} plain_dim;

/* A read of such a statement. */
typedef struct plain_read {
	const counter *c;
	const movement *m;
	bool alone; /* each place that it depends on has its own element */
	int lone;   /* the only dimension of blocks along which some lack results, each one of two; -1: there is none */
} plain_read;

/* Values of a thread along d in a block that has all of them. */
static int64_t most_of_thread(const heddle_stmt *stmt, int d)
{
	return stmt->dim[d].layout.tile / stmt->dim[d].layout.threads;
}

/* The dimension along which the text has vectors; -1: there is none. */
static int vectors_of(const shape *s)
{
	return s->width > 1 ? count_vectors_dim(s) : -1;
}

/* Copies around a loop each have their own, and share nothing: they are as another loop. */
static void find_loops(const plain_read *p, bool edge, plain_dim *loop)
{
	const shape *s = p->m->shape;
	const heddle_stmt *stmt = s->stmt;
	const int lockstep = heddle_lockstep_dim(stmt, NULL), own = vectors_of(s);
	bool inside = false; /* there is a loop */
	for (int kind = 3; kind >= 0; kind--) /* from the inside out: members, of them those that run in lockstep, items of vectors, other items */
		for (int d = stmt->n_dim - 1; d >= 0; d--) {
			const heddle_layout *layout = &stmt->dim[d].layout;
			const double parts = edge ? s->d[d].parts_at_edges : s->d[d].parts;
			const bool wide = layout->vector > 1;
			const int items = wide && p->c->kernel->threads == 1; /* of many threads they stand as the results do */
			if (kind < 2 ? kind != items : !wide || kind != 2 + (d != lockstep))
				continue;
			const int64_t step = kind < 2 ? layout->vector : d == own ? s->width : 1, n = kind < 2 ? s->d[d].items : layout->vector / step;
			bool is_loop = kind < 2 ? n > 1 && !(edge ? s->d[d].copied : s->d[d].unrolled) : parts > 1;
			inside = inside || is_loop;
			is_loop = is_loop || (n > 1 && inside);
			*(kind < 2 ? &loop[d].items : &loop[d].members) = is_loop;
			if (is_loop && !loop[d].step)
				loop[d].step = step;
		}
}

/* Of a block that has all of its results: does it lack some along d, which is a loop inside of it? */
static bool is_cut(const heddle_stmt *stmt, int d, const int64_t *block)
{
	return count_is_inner(stmt, d) && block[d] < most_of_thread(stmt, d);
}

/* The first dimension along which it does; those after it go on in the text of its last tile, whole or not, and ask.  -1: there is none. */
static int first_cut(const heddle_stmt *stmt, const int64_t *block)
{
	for (int d = 0; d < stmt->n_dim; d++)
		if (is_cut(stmt, d, block))
			return d;
	return -1;
}

/* Is what a tile of two lacks known, as one is left? */
static bool is_single(const heddle_stmt *stmt, int d, const int64_t *block)
{
	return first_cut(stmt, block) == d && stmt->dim[d].layout.tile == 2 && stmt->dim[d].layout.threads == 1;
}

/* Of a block that has all of its results: is it asked inside of it whether there are values of d? */
static bool asks_inside(const heddle_stmt *stmt, int d, const int64_t *block)
{
	const int first = first_cut(stmt, block);
	return first >= 0 && d >= first && count_is_inner(stmt, d) && count_is_left_out(stmt, d) && !is_single(stmt, d, block);
}

/* What places in the text read, under a condition that follows from those of all of them; `apart`: where no vector is whole. */
typedef struct named_read {
	int64_t element[HEDDLE_MAX_DIM], when[HEDDLE_MAX_DIM];
	int users, there; /* places in the text, and of those such that this block has */
	bool apart, branch; /* `branch`: there is no such condition, and each reads for itself */
} named_read;

/* Values before the place along each dimension that is asked for: conditions on more of them follow from those on fewer. */
static bool follows(const heddle_stmt *stmt, const int64_t *when, const int64_t *from)
{
	bool all = true;
	for (int d = 0; d < stmt->n_dim; d++)
		all = all && when[d] <= from[d];
	return all;
}

static bool is_asked_nothing(const heddle_stmt *stmt, const int64_t *when)
{
	const int64_t nothing[HEDDLE_MAX_DIM] = {0};
	return follows(stmt, when, nothing);
}

/* What the place reads that is so many of each part away from the first one. */
static named_read read_at(const plain_read *p, const place_part *part, int n, const int64_t *at, const int64_t *there, const int64_t *last)
{
	const movement *m = p->m;
	const heddle_stmt *stmt = m->shape->stmt;
	int64_t value[HEDDLE_MAX_DIM] = {0};
	named_read one = {.users = 1, .there = 1, .apart = last != NULL};
	for (int k = 0; k < n; k++) {
		value[part[k].dim] += at[k] * part[k].step;
		one.when[part[k].dim] += part[k].asked ? at[k] * part[k].step : 0;
		for (int e = 0; e < m->tensor->rank && !p->alone; e++)
			one.element[e] += m->subscript[e].coefficient[part[k].dim] * at[k] * part[k].apart;
	}
	for (int d = 0; d < stmt->n_dim; d++) {
		if (p->alone && count_depends(m, d))
			one.element[d] = value[d];
		one.there = one.there && value[d] < there[d];
		one.apart = one.apart && (last[d] == 0 || value[d] == last[d]);
	}
	return one;
}

static named_read *find_read(const heddle_stmt *stmt, named_read *seen, int n, const named_read *one)
{
	for (int k = 0; k < n; k++)
		if (!memcmp(seen[k].element, one->element, sizeof(one->element)) && (seen[k].apart == one->apart || is_asked_nothing(stmt, seen[k].when)))
			return &seen[k];
	return NULL;
}

/* Reads of all places of a block that has `there` of each dimension.  `left`: of a vector; NULL: of none. */
static double reads_of_places(const plain_read *p, const place_part *part, int n, const int64_t *there, const left_members *left)
{
	const heddle_stmt *stmt = p->m->shape->stmt;
	int64_t at[2 * HEDDLE_MAX_DIM] = {0}, places = 1;
	double reads = 0;
	int found = 0, k;
	for (k = 0; k < n; k++)
		if (part[k].n > MOST_ELEMENTS || (places *= part[k].n) > MOST_ELEMENTS)
			return -1;
	named_read *seen = heddle_xalloc(sizeof(*seen) * (size_t)places);
	do {
		const named_read one = read_at(p, part, n, at, there, left ? left->last : NULL);
		named_read *read = find_read(stmt, seen, found, &one);
		if (!read) {
			seen[found++] = one;
		} else {
			const bool before = follows(stmt, one.when, read->when);
			read->branch = read->branch || (!before && !follows(stmt, read->when, one.when));
			read->users++;
			read->there += one.there;
			if (before)
				memcpy(read->when, one.when, sizeof(one.when));
		}
		for (k = n - 1; k >= 0 && ++at[k] == part[k].n; k--)
			at[k] = 0;
	} while (k >= 0);
	for (int r = 0; r < found; r++) {
		const bool has_name = seen[r].users > 1 && !seen[r].branch;
		const double each = !left || !left->n || has_name || left->several ? 1 : (double)left->n;
		reads += left && left->named ? 0 : has_name ? (seen[r].there > 0) : (double)seen[r].there * each;
	}
	free(seen);
	return reads;
}

/* Copies in the text, without the vectors of dimension `own`; their number. */
static int find_places(const shape *s, int own, const plain_dim *loop, const int64_t *block, bool whole, place_part *part)
{
	const heddle_stmt *stmt = s->stmt;
	int n = 0;
	for (int d = 0; d < stmt->n_dim; d++) {
		const int64_t v = stmt->dim[d].layout.vector;
		const bool asked = count_is_asked(s, d) && (!whole || asks_inside(stmt, d, block));
		if (d != own && !loop[d].items)
			part[n++] = (place_part){d, s->d[d].items, v, v * stmt->dim[d].layout.threads, true, asked};
		if (d != own && !loop[d].members)
			part[n++] = (place_part){d, s->d[d].members, 1, 1, true, asked};
	}
	return n;
}

/* Reads of a round of all loops in a `block`, which has so many `values` of each dimension. */
static double reads_of_round(const plain_read *p, const plain_dim *loop, const int64_t *block, const int64_t *values, bool whole)
{
	const shape *s = p->m->shape;
	const heddle_stmt *stmt = s->stmt;
	place_part part[2 * HEDDLE_MAX_DIM + 1];
	int64_t last[HEDDLE_MAX_DIM], there[HEDDLE_MAX_DIM];
	const int own = vectors_of(s);
	int n = find_places(s, own, loop, block, whole, part);
	if (own < 0)
		return reads_of_places(p, part, n, values, NULL);
	bool known = true; /* where a place stands */
	const bool loops = p->c->kernel->threads == 1 || !count_indexes_registers(p->c, stmt, own); /* a loop is over what is left */
	bool inside = false; /* members of other vectors stand in the loop over what is left of one, and take nothing from before it */
	double reads = 0;
	const int64_t v = s->width, most = loop[own].step ? loop[own].step : most_of_thread(stmt, own);
	const bool along = count_depends(p->m, own), all_there = whole && !asks_inside(stmt, own, block);
	if (all_there || (values[own] % v == 0 && choose_divisible(stmt, own, v))) {
		const int64_t apart = stmt->dim[own].layout.vector == v ? v * stmt->dim[own].layout.threads : v;
		part[n++] = (place_part){own, most / v, v, apart, true, count_is_asked(s, own) && !all_there};
		return reads_of_places(p, part, n, values, NULL) * (along ? (double)v : 1);
	}
	for (int d = 0; d < stmt->n_dim; d++) {
		const bool asked = d != own && stmt->dim[d].member >= 0 && count_is_asked(s, d) && s->d[d].items * s->d[d].members > 1;
		last[d] = asked ? most_of_thread(stmt, d) - 1 : 0;
		known = known && !(asked && loop[d].step);
		inside = inside || (d != own && loop[own].step && stmt->dim[d].layout.vector > 1);
		there[d] = d == own ? INT64_MAX : values[d];
	}
	double instances = 1; /* for one value along the vector */
	bool members_inside = false; /* of one thread: each that is left is loops over members by which registers are indexed, which read for themselves */
	for (int d = 0; d < stmt->n_dim; d++) {
		instances *= d == own ? 1 : (double)values[d];
		members_inside = members_inside || (p->c->kernel->threads == 1 && d != own && stmt->dim[d].layout.vector > 1 && count_indexes_registers(p->c, stmt, d));
	}
	for (int64_t from = 0; from < values[own]; from += v) {
		const int64_t left = values[own] - from;
		if (left < v && members_inside) {
			reads += instances * (double)left;
			continue;
		}
		const bool ends = known && !loop[own].step && from + v == most_of_thread(stmt, own) && stmt->dim[own].member >= 0 && left < v;
		const left_members members = {.n = left < v && loops ? left : 0,
					      .named = !inside && from > 0,
					      .several = !inside && most > v,
					      .last = ends ? last : NULL};
		const double here = reads_of_places(p, part, n, there, along ? NULL : &members);
		if (here < 0)
			return -1;
		reads += along && left < v ? count_reads_of_left(part, n, there, left) : along ? here * (double)v : here;
	}
	return reads;
}

/* Reads of a block that has so many `values` of each dimension, and is `whole` along those of blocks; -1: not known. */
static double reads_of_block(const plain_read *p, const int64_t *values, bool whole)
{
	const heddle_stmt *stmt = p->m->shape->stmt;
	const int n_dim = stmt->n_dim;
	plain_dim loop[HEDDLE_MAX_DIM] = {{.step = 0}};
	double sum = 0;
	int kinds = 1;
	const int first = whole ? first_cut(stmt, values) : -1;
	bool asked[HEDDLE_MAX_DIM] = {false};
	for (int d = 0; d < n_dim; d++)
		asked[d] = asks_inside(stmt, d, values);
	shape inside = first < 0 ? *p->m->shape : count_shape_inside(p->c, p->m->shape, asked, is_single(stmt, first, values) ? first : -1);
	if (!whole && p->lone >= 0) { /* the other one is known not to be there */
		inside.width = p->lone == vectors_of(&inside) ? 1 : inside.width;
		inside.d[p->lone].items = inside.d[p->lone].members = 1;
	}
	movement m = *p->m;
	m.shape = &inside;
	const plain_read there = {p->c, &m, p->alone, p->lone};
	find_loops(&there, !whole, loop);
	for (int d = 0; d < n_dim; d++)
		kinds = loop[d].step && values[d] % loop[d].step ? 1 << (d + 1) : kinds;
	for (int kind = 0; kind < kinds; kind++) { /* rounds that are whole, and last ones that lack some */
		int64_t here[HEDDLE_MAX_DIM];
		double rounds = 1;
		for (int d = 0; d < n_dim && rounds > 0; d++) {
			const int64_t step = loop[d].step ? loop[d].step : values[d], rest = values[d] % step;
			const bool cut = kind >> d & 1;
			here[d] = cut ? rest : step;
			rounds *= cut ? (rest > 0 ? 1 : 0) : (double)(values[d] / step);
		}
		const double reads = rounds > 0 ? reads_of_round(&there, loop, values, here, whole) : 0;
		if (reads < 0)
			return -1;
		sum += rounds * reads;
	}
	return sum;
}

/* Threads along a dimension that have as many values of it. */
typedef struct plain_threads {
	double threads;
	int64_t values;
} plain_threads;

/* Threads that take part along d in a block with so many values of it, by how many they have; their kinds. */
static int find_threads(const heddle_stmt *stmt, int d, int64_t values, plain_threads kind[3])
{
	const heddle_layout *layout = &stmt->dim[d].layout;
	const int64_t beside = layout->threads * layout->vector, items = values / beside, left = values % beside, full = left / layout->vector;
	const int64_t cut = left % layout->vector, others = layout->threads - full - (cut > 0);
	int n = 0;
	if (full > 0)
		kind[n++] = (plain_threads){(double)full, (items + 1) * layout->vector};
	if (cut > 0)
		kind[n++] = (plain_threads){1, items * layout->vector + cut};
	if (others > 0 && items > 0)
		kind[n++] = (plain_threads){(double)others, items * layout->vector};
	return n;
}

/* Reads of all threads of a block that has so many `values` of each dimension; -1: not known. */
static double reads_of_threads(const plain_read *p, const int64_t *values, bool whole)
{
	const heddle_stmt *stmt = p->m->shape->stmt;
	plain_threads kind[HEDDLE_MAX_DIM][3];
	int n[HEDDLE_MAX_DIM], at[HEDDLE_MAX_DIM] = {0}, d;
	double sum = 0;
	for (d = 0; d < stmt->n_dim; d++)
		if ((n[d] = find_threads(stmt, d, values[d], kind[d])) == 0)
			return 0;
	do {
		int64_t own[HEDDLE_MAX_DIM];
		double threads = 1;
		for (d = 0; d < stmt->n_dim; d++) {
			own[d] = kind[d][at[d]].values;
			threads *= kind[d][at[d]].threads;
		}
		const double reads = reads_of_block(p, own, whole);
		if (reads < 0)
			return -1;
		sum += threads * reads;
		for (d = stmt->n_dim - 1; d >= 0 && ++at[d] == n[d]; d--)
			at[d] = 0;
	} while (d >= 0);
	return sum;
}

/* Is it known that a tile along d lacks some of what threads share out? */
static bool lacks_known(const heddle_stmt *stmt, int d)
{
	return stmt->dim[d].layout.threads > 1 && heddle_fixed_extent(stmt->source->index[d]->upper) % stmt->dim[d].layout.tile > 0;
}

/* The only dimension along which blocks may lack results, where they are of two; -1: it is not so. */
static int lone_cut(const heddle_stmt *stmt)
{
	int lone = -1;
	for (int d = 0; d < stmt->n_dim; d++) {
		if (stmt->dim[d].member < 0 || !count_is_left_out(stmt, d))
			continue;
		if (lone >= 0 || stmt->dim[d].layout.tile != 2 || stmt->dim[d].layout.threads > 1)
			return -1;
		lone = d;
	}
	return lone;
}

double count_plain(const counter *c, const movement *m)
{
	const shape *s = m->shape;
	const heddle_stmt *stmt = s->stmt;
	movement all = *m;
	double sum = 0;
	if (stmt->reduction || m->tile || stmt->access[0].group->space != HEDDLE_SPACE_GLOBAL || s->guarded != 1 || !count_has_all_threads(c, stmt) ||
	    !count_is_affine(m) || count_strided(c, m) > 1)
		return 0;
	for (int d = 0; d < stmt->n_dim; d++)
		if (count_moves(c, stmt, d) || stmt->dim[d].layout.rounds > 1 || s->d[d].extent < 1 || lacks_known(stmt, d))
			return 0;
	const double inside = count_within_guards(c, stmt, true);
	const bool alone = m->access && m->access->expr && count_read_share(c, stmt, m->access->expr) != 1;
	const plain_read p = {c, m, alone, inside == 1 && count_any_whole(s) ? lone_cut(stmt) : -1};
	const int kinds = count_kinds(m, -1);
	for (int kind = 0; kind < kinds; kind++) {
		count_kind k;
		const double blocks = count_blocks(m, kind, -1, &k);
		if (blocks == 0)
			continue;
		const bool whole = k.whole && count_any_whole(s);
		const double together = whole && inside > 0 ? reads_of_threads(&p, k.values, true) : 0;
		const double apart = whole && inside == 1 ? 0 : reads_of_threads(&p, k.values, false);
		if (together < 0 || apart < 0)
			return 0;
		sum += blocks * (whole ? inside * together + (1 - inside) * apart : apart);
	}
	all.share = 1;
	return sum / (count_elements(m) * count_repeats(c, &all) * (double)c->kernel->threads);
}
