/* What many threads read for the terms of their results, place by place as it stands in the text: of blocks at an edge each place is under
 * conditions, and what is read under one is shared by all that stands inside of it.
 *
 * A place is a result of a thread and a term; it asks whether its result exists and whether the guard holds, but for what is known, or what other
 * conditions of it say.  Branches on the same conditions become one where what stands between takes none of their results, and a branch on more goes
 * into one on less (model/simplify_join.c).  How many threads take a branch is counted dimension by dimension.
 * SPDX-License-Identifier: MIT
 */
#include "cost/count_walk.h"

#include "frontend/affine.h"
#include "model/ranges.h"

#include <stdlib.h>
#include <string.h>

static bool meet(const walk_set *a, const walk_set *b)
{
	for (int k = 0; k < WORDS; k++)
		if (a->word[k] & b->word[k])
			return true;
	return false;
}

/* The form of those coefficients; -1: there is no room for it. */
static int form_of(walk *w, const int64_t *coefficient)
{
	int f = 0;
	while (f < w->n_form && memcmp(w->form[f].coefficient, coefficient, sizeof(w->form[f].coefficient)) != 0)
		f++;
	if (f == MOST_FORMS)
		return -1;
	if (f < w->n_form)
		return f;
	walk_form *new = &w->form[w->n_form++];
	memcpy(new->coefficient, coefficient, sizeof(new->coefficient));
	new->whole = new->loop = ALWAYS;
	new->terms = new->bounds = false;
	new->least = new->unit = 0;
	for (int d = 0; d < w->m->shape->stmt->n_dim; d++) {
		const walk_begins *b = &w->begins[d];
		const int64_t inside = (b->threads - 1) * b->thread + (b->rounds - 1) * b->round;
		const bool known = heddle_fixed_extent(w->m->shape->stmt->source->index[d]->upper) > 0;
		const int64_t last = known || b->blocks == 0 ? choose_least(b->blocks, 1) * (b->blocks - 1) * b->tile : w->m->shape->d[d].extent - 1;
		new->least += coefficient[d] < 0 ? coefficient[d] * (last + inside) : 0;
		new->unit = heddle_gcd(new->unit, coefficient[d] * b->tile);
		new->unit = heddle_gcd(new->unit, b->threads > 1 ? coefficient[d] * b->thread : 0);
		new->unit = heddle_gcd(new->unit, b->rounds > 1 ? coefficient[d] * b->round : 0);
	}
	return f;
}

/* Where a place is asked about the form: its constant. */
static void ask(walk *w, int f, int64_t constant, bool asked, int64_t *conditions)
{
	walk_form *form = &w->form[f];
	form->whole = choose_least(form->whole, constant);
	if (asked && form->least + constant < 0 && constant < form->loop)
		conditions[f] = choose_least(conditions[f], constant);
}

/* Is it the condition of a node that asks for no more than `more` does? */
static bool asks_for(const walk *w, const int64_t *more, const int64_t *less)
{
	for (int f = 0; f < w->n_form; f++)
		if (less[f] != ALWAYS && less[f] != more[f])
			return false;
	return true;
}

static bool is_branch_inside(const walk_node *node, int up)
{
	return node->up == up;
}

/* Does a branch before number `at` of those inside of `up` take the result, so that its sum goes on there? */
static bool goes_on_before(const walk *w, int up, int at, const walk_set *results)
{
	for (int k = at - 1, back = 0; k > 0 && back < MOST_BACK; k--) {
		if (!is_branch_inside(&w->node[k], up))
			continue;
		back++;
		if (w->node[k].branch && meet(&w->node[k].results, results))
			return true;
	}
	return false;
}

/* The branch inside of `up` that asks for all of that, or, where `less`, for a part of it, and that it may join; -1: there is none. */
static int partner(const walk *w, int up, const int64_t *asked, const walk_set *results, bool less)
{
	for (int k = w->n_node - 1, back = 0; k > 0 && back < MOST_BACK; k--) {
		const walk_node *other = &w->node[k];
		if (!is_branch_inside(other, up))
			continue;
		back++;
		if (other->branch && asks_for(w, asked, other->asked) && (less || asks_for(w, other->asked, asked)))
			return less && ((up == 0 && w->goes_on) || goes_on_before(w, up, k, results)) ? -1 : k;
		if (meet(&other->results, results))
			return -1;
	}
	return -1;
}

/* The branch inside of `up` where all that is asked holds. */
static int enter(walk *w, int up, const int64_t *asked, const walk_set *results)
{
	int64_t left[MOST_FORMS];
	bool any = false;
	for (int f = 0; f < w->n_form; f++)
		any = any || asked[f] != ALWAYS;
	if (!any)
		return up;
	int to = partner(w, up, asked, results, false);
	if (to < 0)
		to = partner(w, up, asked, results, true);
	if (to < 0) {
		to = w->n_node++;
		w->node[to] = (walk_node){.up = up, .branch = true};
		memcpy(w->node[to].asked, asked, sizeof(w->node[to].asked));
	}
	walk_add(&w->node[to].results, results);
	for (int f = 0; f < MOST_FORMS; f++)
		left[f] = w->node[to].asked[f] != ALWAYS ? ALWAYS : asked[f];
	return enter(w, to, left, results);
}

/* Puts a place that reads the element where it stands: whether a term exists is asked around all that is asked of results. */
static void put(walk *w, int64_t *asked, const walk_set *results, int element)
{
	int up = 0;
	for (int f = 0; f < w->n_form; f++) {
		int64_t one[MOST_FORMS];
		for (int g = 0; g < MOST_FORMS; g++)
			one[g] = g == f && w->form[f].terms ? asked[f] : ALWAYS;
		up = enter(w, up, one, results);
		asked[f] = w->form[f].terms ? ALWAYS : asked[f];
	}
	up = enter(w, up, asked, results);
	walk_node *place = &w->node[w->n_node++];
	*place = (walk_node){.up = up, .results = *results};
	place->elements.word[element / 64] = UINT64_C(1) << (element % 64);
}

static int find_element(const walk *w, const int64_t *at)
{
	int k = w->n_element - 1;
	while (k >= 0 && memcmp(w->element[k].at, at, sizeof(w->element[k].at)) != 0)
		k--;
	return k;
}

/* Number of the element that the place reads. */
static int element_at(walk *w, const int64_t *value)
{
	walk_element new = {.beside = -1};
	memcpy(new.value, value, sizeof(new.value));
	for (int e = 0; e < w->m->tensor->rank; e++)
		for (int d = 0; d < w->m->shape->stmt->n_dim; d++)
			new.at[e] += w->m->subscript[e].coefficient[d] * value[d];
	const int known = find_element(w, new.at);
	if (known >= 0)
		return known;
	w->element[w->n_element] = new;
	return w->n_element++;
}

/* Where threads begin along d, and the places of a thread; false: this is not for it. */
static bool take_dim(walk *w, int d)
{
	const shape *s = w->m->shape;
	const heddle_stmt *stmt = s->stmt;
	const heddle_layout *layout = &stmt->dim[d].layout;
	const int64_t extent = s->d[d].extent, beside = layout->threads * layout->vector, known = heddle_fixed_extent(stmt->source->index[d]->upper);
	const bool stands = s->d[d].unrolled || layout->items == 1;
	walk_begins *b = &w->begins[d];
	if (count_moves(w->c, stmt, d) || layout->rounds > 1 || extent < 1 || s->d[d].parts > 1 || s->d[d].parts_at_edges > 1 ||
	    (layout->items > 1 && s->d[d].unrolled != s->d[d].copied))
		return false;
	if (stmt->dim[d].member >= 0) {
		*b = (walk_begins){(extent + layout->tile - 1) / layout->tile, layout->tile, layout->threads, layout->vector, stands ? 1 : layout->items, beside};
		return true;
	}
	if (!stmt->dim[d].reduction || layout->threads > 1)
		return false;
	if (!stands) {
		*b = (walk_begins){1, 0, 1, 0, extent / layout->vector, layout->vector};
		return extent % layout->vector == 0;
	}
	*b = (walk_begins){1, 0, 1, 0, (extent + layout->tile - 1) / layout->tile, layout->tile};
	if (extent % layout->tile && extent > layout->tile) {
		if (known == 0 || w->n_lacking == MOST_LACKING)
			return false;
		w->lacking[w->n_lacking++] = d;
	}
	return (known > 0 || choose_divisible(stmt, d, layout->tile) || layout->tile == 1) && !(s->d[d].unrolled && count_has_sum_inside(w->m, d));
}

static void take_part(walk *w, int d, int64_t n, int64_t step)
{
	if (n > 1)
		w->part[w->n_part++] = (walk_part){d, n, step};
}

/* From the outside in: terms, results, members of their vectors, and of those of terms. */
static void take_parts(walk *w)
{
	const shape *s = w->m->shape;
	for (int kind = 0; kind < 4; kind++)
		for (int d = 0; d < s->stmt->n_dim; d++) {
			const heddle_layout *layout = &s->stmt->dim[d].layout;
			if (s->stmt->dim[d].reduction != (kind == 0 || kind == 3))
				continue;
			if (kind < 2)
				take_part(w, d, s->d[d].unrolled ? s->d[d].items : 1, layout->threads * layout->vector);
			else
				take_part(w, d, s->d[d].members, 1);
		}
}

/* A place's own part of what is compared with a number goes to the other side, which becomes the next multiple that counts
 * (model/simplify_value.c): x > 0 for x >= 3 where it is one of 4, or x < 4 for x <= 2. */
static int64_t in_steps(const walk_form *form, int64_t constant)
{
	bool up = false, down = false;
	for (int d = 0; d < HEDDLE_MAX_DIM; d++) {
		up = up || form->coefficient[d] > 0;
		down = down || form->coefficient[d] < 0;
	}
	if (up == down || form->unit < 2)
		return constant;
	return up ? -1 - affine_floor_div(-1 - constant, form->unit) * form->unit : affine_floor_div(constant, form->unit) * form->unit + form->unit - 1;
}

/* The form that the guard's conjunct is at a place; -1: there is no room for it.  Loops of one round begin where they do, and so does a tile
 * of terms that is not the last one of two. */
static int form_at(walk *w, const linear *guard, const int64_t *value)
{
	const shape *s = w->m->shape;
	int64_t coefficient[HEDDLE_MAX_DIM] = {0};
	for (int d = 0; d < s->stmt->n_dim; d++)
		coefficient[d] = s->stmt->dim[d].reduction && w->begins[d].rounds == 1 ? 0 : guard->coefficient[d];
	for (int k = 0; k < w->n_lacking; k++) {
		const int d = w->lacking[k];
		if (coefficient[d] && w->begins[d].rounds > 2)
			return -1;
		if (value[d] >= s->d[d].extent % s->stmt->dim[d].layout.tile)
			coefficient[d] = 0;
	}
	return form_of(w, coefficient);
}

/* Does the conjunct ask for terms of the only result that a block has along its dimensions?  `one`: of which the text goes through one by one. */
static bool asks_for_terms(const heddle_stmt *stmt, const linear *guard, bool one)
{
	bool terms = false, results = true;
	for (int d = 0; d < stmt->n_dim; d++) {
		terms = terms || (guard->coefficient[d] && stmt->dim[d].reduction);
		results = results && (!guard->coefficient[d] || stmt->dim[d].layout.tile == 1 || (!one && stmt->dim[d].reduction));
	}
	return terms && results;
}

/* Does it say how far a loop over terms goes?  It asks nothing of blocks. */
static bool bounds_loops(const heddle_stmt *stmt, const linear *guard)
{
	return asks_for_terms(stmt, guard, true);
}

/* The loop over terms, one by one, begins and ends with those that any result of its block has: no place asks for that, where no thread of it has less. */
static void go_through(walk *w, int f, const linear *guard)
{
	const heddle_stmt *stmt = w->m->shape->stmt;
	walk_form *form = &w->form[f];
	int64_t most = guard->constant;
	int terms = 0;
	for (int d = 0; d < stmt->n_dim; d++) {
		const heddle_layout *layout = &stmt->dim[d].layout;
		const int64_t step = form->coefficient[d];
		if (!step)
			continue;
		if (stmt->dim[d].reduction ? w->begins[d].round != 1 : layout->threads > 1)
			return;
		terms += stmt->dim[d].reduction;
		most += !stmt->dim[d].reduction && step > 0 ? step * (layout->tile - 1) : 0;
	}
	form->loop = terms == 1 ? choose_least(form->loop, most) : form->loop;
}

/* Goes through all places; false: there are too many, or of another kind. */
static bool walk_places(walk *w, const linear *guard, const bool *is_number, int n_guard)
{
	const shape *s = w->m->shape;
	const int n_dim = s->stmt->n_dim;
	int64_t places = 1;
	int own[HEDDLE_MAX_DIM];
	for (int k = 0; k < w->n_part; k++)
		if ((places *= w->part[k].n) > MOST_WALKED)
			return false;
	for (int d = 0; d < n_dim; d++) {
		int64_t coefficient[HEDDLE_MAX_DIM] = {0};
		coefficient[d] = -1;
		own[d] = s->stmt->dim[d].reduction || choose_divisible(s->stmt, d, s->stmt->dim[d].layout.tile) ? -1 : form_of(w, coefficient);
	}
	for (int k = 0; k < w->n_lacking; k++) {
		int64_t coefficient[HEDDLE_MAX_DIM] = {0};
		coefficient[w->lacking[k]] = -1;
		if ((own[w->lacking[k]] = form_of(w, coefficient)) < 0)
			return false;
		w->form[own[w->lacking[k]]].terms = true;
	}
	w->n_node = 1;
	w->node[0] = (walk_node){.branch = true};
	for (int f = 0; f < MOST_FORMS; f++)
		w->node[0].asked[f] = ALWAYS;
	for (int64_t p = 0; p < places; p++) {
		int64_t value[HEDDLE_MAX_DIM] = {0}, asked[MOST_FORMS], rest = p;
		walk_set results = {{0}};
		int64_t result = 0, n_result = 1;
		for (int k = w->n_part - 1; k >= 0; k--) {
			const int64_t at = rest % w->part[k].n;
			value[w->part[k].dim] += at * w->part[k].step;
			rest /= w->part[k].n;
			if (s->stmt->dim[w->part[k].dim].reduction)
				continue;
			result += at * n_result;
			n_result *= w->part[k].n;
		}
		results.word[result / 64] = UINT64_C(1) << (result % 64);
		for (int f = 0; f < MOST_FORMS; f++)
			asked[f] = ALWAYS;
		for (int d = 0; d < n_dim; d++)
			if (own[d] >= 0)
				ask(w, own[d], s->d[d].extent - 1 - value[d], !s->d[d].harmless, asked);
		for (int k = 0; k < n_guard; k++) {
			int64_t constant = guard[k].constant, own_part = 0;
			const int f = form_at(w, &guard[k], value);
			if (f < 0)
				return false;
			go_through(w, f, &guard[k]);
			for (int d = 0; d < n_dim; d++)
				own_part += guard[k].coefficient[d] * value[d];
			constant += own_part;
			w->form[f].bounds = w->form[f].bounds || bounds_loops(s->stmt, &guard[k]);
			if (is_number[k] && own_part)
				constant = in_steps(&w->form[f], constant);
			ask(w, f, constant, true, asked);
		}
		const int element = element_at(w, value);
		put(w, asked, &results, element);
		for (int kind = 0; kind < 1 << w->n_lacking; kind++) {
			bool there = true;
			for (int k = 0; k < w->n_lacking; k++)
				there = there && !(kind >> k & 1 && value[w->lacking[k]] >= s->d[w->lacking[k]].extent % s->stmt->dim[w->lacking[k]].layout.tile);
			w->kind[kind].word[element / 64] |= (uint64_t)there << (element % 64);
		}
	}
	return true;
}

/* Places of a thread along d: the last one. */
static int64_t last_place(const walk *w, int d)
{
	int64_t last = 0;
	for (int k = 0; k < w->n_part; k++)
		last += w->part[k].dim == d ? (w->part[k].n - 1) * w->part[k].step : 0;
	return last;
}

/* Whole blocks are those of all statements, whose guards hold there; false: that is not known. */
static bool walk_others(walk *w)
{
	const heddle_stmt *own = w->m->shape->stmt;
	for (int k = 0; k < w->c->kernel->n_stmt; k++) {
		const heddle_stmt *stmt = w->c->kernel->stmt[k];
		linear guard[MOST_FORMS];
		const int n = stmt == own ? 0 : count_conjuncts(w->c, stmt, guard, MOST_FORMS);
		if (n < 0)
			return false;
		for (int g = 0; g < n; g++) {
			int64_t coefficient[HEDDLE_MAX_DIM] = {0}, constant = guard[g].constant;
			if (bounds_loops(stmt, &guard[g]))
				continue;
			for (int d = 0; d < stmt->n_dim; d++) {
				const int64_t factor = guard[g].coefficient[d], extent = factor ? count_value(w->c, stmt->source->index[d]->upper, 0) : 0;
				int o = 0;
				while (o < own->n_dim && (stmt->dim[d].member < 0 || own->dim[o].member != stmt->dim[d].member))
					o++;
				if (factor && (o == own->n_dim ? !stmt->dim[d].reduction || extent < 1 : count_moves(w->c, stmt, d)))
					return false;
				if (factor && o < own->n_dim)
					coefficient[o] = factor;
				constant += factor < 0 ? factor * (o == own->n_dim ? extent - 1 : last_place(w, o)) : 0;
			}
			const int f = form_of(w, coefficient);
			if (f < 0)
				return false;
			ask(w, f, constant, false, NULL);
		}
	}
	return true;
}

/* Which of the conjuncts have no size in them. */
static void find_numbers(const counter *c, const heddle_stmt *stmt, const linear *guard, int n, bool *is_number)
{
	linear again[MOST_FORMS];
	const counter other = count_at_other_sizes(c);
	const int all = count_conjuncts(&other, stmt, again, MOST_FORMS);
	for (int k = 0; k < n; k++)
		is_number[k] = all == n && again[k].constant == guard[k].constant;
}

/* Does a sum in the same registers stand before the statement in branches?  It does where nothing of it is a loop, and where a loop over tiles that may
 * have no rounds is inside of another one: whether it has is asked around both. */
static bool goes_on_after(const counter *c, const heddle_stmt *own)
{
	for (int k = 0; k < c->kernel->n_stmt && c->kernel->stmt[k] != own; k++) {
		const heddle_stmt *stmt = c->kernel->stmt[k];
		const shape s = count_shape(c, stmt);
		bool loop = false, tiles = false, inside = false;
		if (stmt->access[0].tensor != own->access[0].tensor || !stmt->reduction)
			continue;
		for (int d = 0; d < stmt->n_dim; d++) {
			const heddle_layout *layout = &stmt->dim[d].layout;
			const int64_t known = heddle_fixed_extent(stmt->source->index[d]->upper);
			if (!stmt->dim[d].reduction)
				continue;
			const bool over_tiles = known == 0 || known > layout->tile;
			inside = inside || (tiles && known == 0);
			tiles = tiles || over_tiles;
			loop = loop || over_tiles || (!s.d[d].unrolled && layout->items > 1);
		}
		if (!loop || inside)
			return true;
	}
	return false;
}

/* Does the statement read vectors, which are whole or not around all that they take?  Members of guarded sums in registers that other statements read
 * are asked for one by one.  `parts`: or does it read some at a part of its taps? */
static bool reads_any_vectors(const counter *c, const shape *s, bool parts)
{
	if (s->guarded != 1 && s->stmt->access[0].group->space == HEDDLE_SPACE_REGISTER)
		return false;
	for (int d = 0; d < s->stmt->n_dim; d++)
		if (s->stmt->dim[d].layout.vector > 1 && (count_reads_vectors(c, s, d) || (parts && count_tile_vectors(c, s, d) > 0)))
			return true;
	return false;
}

double count_walk(const counter *c, const movement *m)
{
	const shape *s = m->shape;
	const heddle_stmt *stmt = s->stmt;
	linear guard[MOST_FORMS];
	bool is_number[MOST_FORMS];
	double reads = -1;
	/* members of one thread stand in other ways; its sums without guards are counted where their edges are */
	const bool other = c->kernel->threads == 1 && (heddle_lockstep_dim(stmt, NULL) >= 0 || (s->guarded == 1 && count_within_guards(c, stmt, false) == 1));
	if (other || !count_goes_on(stmt) || s->guarded <= 0 || m->n_beside > 0 || !count_is_affine(m) || !m->access ||
	    count_own_results(c->kernel) || (m->tile && !count_reads_memory(stmt)) ||
	    reads_any_vectors(c, s, s->guarded == 1) || (m->access->expr && count_read_share(c, stmt, m->access->expr) != 1))
		return -1;
	const int n_guard = count_conjuncts(c, stmt, guard, MOST_FORMS);
	if (n_guard < 0)
		return -1;
	for (int k = 0; k < n_guard && c->kernel->threads == 1; k++) /* tiles of several are there for it or not, and no block asks */
		if (asks_for_terms(stmt, &guard[k], false) && !bounds_loops(stmt, &guard[k]))
			return -1;
	find_numbers(c, stmt, guard, n_guard, is_number);
	walk w = {.c = c, .m = m, .goes_on = goes_on_after(c, stmt) || count_fills_before(c, s)};
	for (int d = 0; d < stmt->n_dim; d++)
		if (!take_dim(&w, d))
			return -1;
	if (w.n_lacking > 0 && reads_any_vectors(c, s, true)) /* where tiles that lack terms have theirs is not known */
		return -1;
	take_parts(&w);
	int64_t places = 1;
	for (int k = 0; k < w.n_part && places <= MOST_WALKED; k++)
		places = w.part[k].n > MOST_WALKED ? MOST_WALKED + 1 : places * w.part[k].n;
	if (places > MOST_WALKED || places < 1 || !count_has_all_threads(c, stmt))
		return -1;
	w.node = heddle_xalloc(sizeof(*w.node) * (size_t)((MOST_FORMS + 1) * places + 1));
	w.element = heddle_xalloc(sizeof(*w.element) * (size_t)(places + 1));
	if (walk_places(&w, guard, is_number, n_guard) && walk_others(&w) && walk_is_by_dimensions(&w)) {
		walk_find_vectors(&w);
		walk_widen(&w, 0, &(walk_set){{0}});
		reads = walk_reads(&w);
	}
	free(w.node);
	free(w.element);
	return reads;
}
