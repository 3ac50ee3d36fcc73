/* What many threads read for the terms of their results, place by place as it stands in the text: of blocks at an edge each place is under
 * conditions, and what is read under one is shared by all that stands inside of it.
 *
 * A place is a result of a thread and a term; it asks whether its result exists and whether the guard holds, but for what is known, or what other
 * conditions of it say.  Branches on the same conditions become one where what stands between takes none of their results, and a branch on more goes
 * into one on less (model/simplify_join.c).  How many threads take a branch is counted dimension by dimension.
 * SPDX-License-Identifier: MIT
 */
#include "cost/count_parts.h"

#include "frontend/affine.h"
#include "model/ranges.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_FORMS = 16, MOST_WALKED = 1024, MOST_BACK = 64, WIDTHS = 3, MOST_LACKING = 3, WORDS = MOST_WALKED / 64, MOST_STEPS = 4096 };

/* What is not asked for. */
#define ALWAYS INT64_MAX

/* What conditions ask about: a sum of coefficients times where a thread begins along each dimension, and a constant, is not negative.  Of two that
 * differ in the constant the lesser one says the other. */
typedef struct walk_form {
	int64_t coefficient[HEDDLE_MAX_DIM];
	int64_t least; /* that the sum is known to be */
	int64_t whole; /* the constant where all places ask */
	int64_t unit;  /* of which what is summed up is a multiple */
	int64_t loop;  /* the constant that the loop over its terms goes as far as; ALWAYS: it has no part in where one begins or ends */
	bool terms;    /* it is about whether a term exists, which whole blocks know for each tile of terms */
	bool bounds;   /* it is how far loops over terms go, in all blocks */
} walk_form;

/* Of numbers below MOST_WALKED. */
typedef struct walk_set {
	uint64_t word[WORDS];
} walk_set;

/* A branch; a place in one is a node that asks for nothing. */
typedef struct walk_node {
	int up; /* the branch around it; that around all is itself */
	bool branch;
	int64_t asked[MOST_FORMS]; /* constants, beside those of the branches around it */
	walk_set results; /* that it takes, and what is inside of it */
	walk_set elements, vectors[WIDTHS]; /* that it reads itself: single ones, and the first ones of vectors of 2, 4, ... */
} walk_node;

/* Values of a dimension at which threads begin: of one, `n` of each step. */
typedef struct walk_begins {
	int64_t blocks, tile; /* of results */
	int64_t threads, thread;
	int64_t rounds, round; /* of loops */
} walk_begins;

/* One coordinate of a place. */
typedef struct walk_part {
	int dim;
	int64_t n, step;
} walk_part;

/* Its subscripts, but for what all have in common, and the first place that reads it. */
typedef struct walk_element {
	int64_t at[HEDDLE_MAX_DIM], value[HEDDLE_MAX_DIM];
	int64_t place; /* in its row, but for multiples of any vector */
	int beside;    /* the next one there; -1: none is read */
	bool begins[WIDTHS]; /* a vector of 2, 4, ... */
} walk_element;

typedef struct walk {
	const counter *c;
	const movement *m;
	bool goes_on; /* with results of a sum whose branches stand before */
	int n_form, n_node, n_element, n_part;
	walk_form form[MOST_FORMS];
	walk_begins begins[HEDDLE_MAX_DIM];
	walk_part part[2 * HEDDLE_MAX_DIM];
	int n_lacking, lacking[MOST_LACKING]; /* terms of which the last tile has fewer */
	walk_set kind[1 << MOST_LACKING];     /* elements that whole blocks read in tiles that lack terms along these */
	walk_node *node;	  /* a place, and a branch for each form that it may be asked about */
	walk_element *element;	  /* [places] */
} walk;

static bool meet(const walk_set *a, const walk_set *b)
{
	for (int k = 0; k < WORDS; k++)
		if (a->word[k] & b->word[k])
			return true;
	return false;
}

static void add_all(walk_set *a, const walk_set *b)
{
	for (int k = 0; k < WORDS; k++)
		a->word[k] |= b->word[k];
}

static bool has(const walk_set *a, int k)
{
	return a->word[k / 64] >> (k % 64) & 1;
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

/* May the last tile of terms along d lack some? */
static bool lacks_terms(const walk *w, int d)
{
	for (int k = 0; k < w->n_lacking; k++)
		if (w->lacking[k] == d)
			return true;
	return false;
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
	add_all(&w->node[to].results, results);
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

/* Do forms tie the dimensions to each other? */
static bool is_tied(const walk *w, int d, int o)
{
	for (int f = 0; f < w->n_form; f++)
		if (w->form[f].coefficient[d] && w->form[f].coefficient[o])
			return true;
	return false;
}

/* Blocks of results along d, from the first one to the one after the last, for which conditions hold that are those of a place plus `more`; `whole`:
 * which are whole, whatever the place; `bounds`: of those the ones that such a round of loops has. */
static count_ends blocks_of(const walk *w, int d, const int64_t *asked, const int64_t *more, bool whole, bool bounds)
{
	count_ends all = {0, w->begins[d].blocks};
	for (int f = 0; f < w->n_form; f++) {
		const int64_t step = w->form[f].coefficient[d] * w->begins[d].tile, constant = whole ? w->form[f].whole : asked[f];
		if (asked[f] == ALWAYS || constant == ALWAYS || (whole && (w->form[f].terms || w->form[f].bounds != bounds)))
			continue;
		const int64_t rest = constant + more[f];
		if (step == 0)
			all.upper = rest < 0 ? 0 : all.upper;
		else if (step > 0 && -affine_floor_div(rest, step) > all.lower)
			all.lower = -affine_floor_div(rest, step);
		else if (step < 0)
			all.upper = choose_least(all.upper, affine_floor_div(rest, -step) + 1);
	}
	return all;
}

/* Is it a loop over terms that results along several dimensions are tied to? */
static bool is_joint(const walk *w, int t)
{
	const heddle_stmt *stmt = w->m->shape->stmt;
	int tied = 0;
	for (int d = 0; d < stmt->n_dim; d++)
		tied += stmt->dim[t].reduction && d != t && is_tied(w, t, d);
	return tied > 1 && w->begins[t].rounds > 1;
}

/* Are the terms there that are asked for? */
static bool has_terms(const walk *w, const int64_t *asked, const int64_t *more)
{
	bool all = true;
	for (int f = 0; f < w->n_form; f++)
		all = all && !(w->form[f].terms && asked[f] != ALWAYS && asked[f] + more[f] < 0);
	return all;
}

/* Rounds of the loops that dimension d is tied to, and of its own; loops that others are tied to as well are in their round `at`, or, where that is
 * NULL, in their first and last ones: what holds in those does in all. */
typedef struct walk_steps {
	int64_t rounds[HEDDLE_MAX_DIM];
	const int64_t *at;
} walk_steps;

/* What is added to the forms where a thread and a round of loops begin, number k of those along d and what is tied to it, in the first block. */
static void begin_step(const walk *w, int d, int64_t k, const walk_steps *steps, int64_t *more)
{
	const int n_dim = w->m->shape->stmt->n_dim;
	int64_t begin[HEDDLE_MAX_DIM] = {0};
	begin[d] = k % w->begins[d].threads * w->begins[d].thread;
	k /= w->begins[d].threads;
	for (int o = 0; o < n_dim; o++) {
		if (o != d && !is_tied(w, d, o))
			continue;
		const bool others = o != d && is_joint(w, o);
		const int64_t round = k % steps->rounds[o];
		begin[o] += (!others ? round : steps->at ? steps->at[o] : round * (w->begins[o].rounds - 1)) * w->begins[o].round;
		k /= steps->rounds[o];
	}
	for (int f = 0; f < w->n_form; f++)
		for (int o = 0; o < n_dim; o++)
			more[f] += w->form[f].coefficient[o] * begin[o];
}

/* Threads, in all their rounds of loops along d and what is tied to it, for which the conditions hold; `whole`: in whole blocks.  Loops that others are
 * tied to as well are in their round `at`, and in any where blocks are whole.  -1: they are too many. */
static double threads_of(const walk *w, int d, const int64_t *conditions, bool whole, const int64_t *at)
{
	const int n_dim = w->m->shape->stmt->n_dim;
	walk_steps of = {.at = whole ? NULL : at};
	int64_t asked[MOST_FORMS], steps = w->begins[d].threads * w->begins[d].rounds, joint = 1;
	count_ends common = {0, w->begins[d].blocks};
	double sum = 0;
	for (int f = 0; f < w->n_form; f++) {
		asked[f] = ALWAYS; /* of other dimensions */
		for (int o = 0; o < n_dim; o++)
			if (w->form[f].coefficient[o] && (o == d || (is_tied(w, d, o) && !is_joint(w, o))))
				asked[f] = whole && !w->form[f].terms ? w->form[f].whole : choose_least(conditions[f], w->form[f].loop);
	}
	for (int o = 0; o < n_dim && steps <= MOST_STEPS; o++) {
		const bool others = o != d && is_joint(w, o);
		of.rounds[o] = o != d && (!is_tied(w, d, o) || (others && !whole)) ? 1 : others ? choose_least(w->begins[o].rounds, 2) : w->begins[o].rounds;
		joint *= others && whole ? of.rounds[o] : 1;
		steps = o == d ? steps : of.rounds[o] > MOST_STEPS ? MOST_STEPS + 1 : steps * of.rounds[o];
	}
	if (steps > MOST_STEPS)
		return -1;
	for (int64_t k = 0; k < steps && whole; k++) {
		int64_t more[MOST_FORMS] = {0};
		begin_step(w, d, k, &of, more);
		const count_ends ends = blocks_of(w, d, asked, more, true, false);
		common.lower = ends.lower > common.lower ? ends.lower : common.lower;
		common.upper = choose_least(common.upper, ends.upper);
	}
	for (int64_t k = 0; k < steps; k++) {
		int64_t more[MOST_FORMS] = {0};
		begin_step(w, d, k, &of, more);
		const count_ends ends = blocks_of(w, d, asked, more, whole, true);
		const int64_t lower = ends.lower > common.lower ? ends.lower : common.lower, upper = choose_least(ends.upper, common.upper);
		sum += upper > lower && (!whole || has_terms(w, asked, more)) ? (double)(upper - lower) : 0;
	}
	return sum / (double)joint;
}

/* The same of all dimensions. */
static double threads_of_all(const walk *w, const int64_t *conditions, bool whole)
{
	const heddle_stmt *stmt = w->m->shape->stmt;
	int64_t at[HEDDLE_MAX_DIM], joint = 1;
	double sum = 0;
	for (int d = 0; d < stmt->n_dim; d++)
		joint *= is_joint(w, d) ? w->begins[d].rounds : 1;
	for (int64_t k = 0; k < (whole ? 1 : joint); k++) {
		double threads = whole ? (double)joint : 1;
		int64_t rest = k;
		for (int d = 0; d < stmt->n_dim; d++) {
			at[d] = is_joint(w, d) ? rest % w->begins[d].rounds : 0;
			rest /= is_joint(w, d) ? w->begins[d].rounds : 1;
		}
		for (int d = 0; d < stmt->n_dim && threads > 0; d++) {
			bool alone = true; /* of a loop that nothing is asked about */
			for (int o = 0; o < stmt->n_dim; o++)
				alone = alone && !(o != d && stmt->dim[d].reduction && is_tied(w, d, o));
			if (!alone)
				continue;
			const double own = threads_of(w, d, conditions, whole, at);
			if (own < 0)
				return -1;
			threads *= own;
		}
		sum += threads;
	}
	return sum;
}

static double threads_at_edges(const walk *w, const int64_t *conditions)
{
	return threads_of_all(w, conditions, false) - threads_of_all(w, conditions, true);
}

/* No form may be about results of two dimensions, nor of terms alone. */
static bool is_by_dimensions(const walk *w)
{
	const heddle_stmt *stmt = w->m->shape->stmt;
	for (int f = 0; f < w->n_form; f++) {
		int results = 0;
		for (int d = 0; d < stmt->n_dim; d++)
			results += w->form[f].coefficient[d] && !stmt->dim[d].reduction;
		if (results != 1 && !w->form[f].terms)
			return false;
	}
	int64_t rounds = 1;
	for (int t = 0; t < stmt->n_dim && rounds <= MOST_STEPS; t++) {
		for (int f = 0; f < w->n_form; f++)
			if (is_joint(w, t) && w->form[f].bounds && w->form[f].coefficient[t])
				return false;
		if (is_joint(w, t) && (lacks_terms(w, t) || w->c->kernel->threads == 1))
			return false;
		rounds *= is_joint(w, t) ? w->begins[t].rounds : 1;
	}
	return rounds <= MOST_STEPS;
}

/* The dimension along which vectors are read. */
static int row_of(const movement *m)
{
	return m->tile ? heddle_tile_array_row(m->tile) : heddle_tensor_inner(m->tensor);
}

/* Where the element lies in its row, but for multiples of any vector. */
static int64_t place_in_row(const walk *w, int element)
{
	const movement *m = w->m;
	const linear *row = &m->subscript[row_of(m)];
	int64_t place = w->element[element].at[row_of(m)];
	if (!m->tile)
		return row->constant + place;
	for (int d = 0; d < m->shape->stmt->n_dim; d++)
		if (row->coefficient[d] < 0)
			place -= row->coefficient[d] * (choose_least(m->shape->stmt->dim[d].layout.tile, m->shape->d[d].extent) - 1);
	return count_row_offset(m->tile, place);
}

/* The element that lies beside it in the row; -1: none is read. */
static int find_beside(const walk *w, int element)
{
	const int row = row_of(w->m);
	for (int k = 0; k < w->n_element; k++) {
		bool same = w->element[k].place == w->element[element].place + 1;
		for (int e = 0; e < w->m->tensor->rank && same; e++)
			same = e == row || w->element[k].at[e] == w->element[element].at[e];
		if (same)
			return k;
	}
	return -1;
}

/* May a vector of so many elements begin with this one? */
static bool begins_vector(const walk *w, int element, int64_t width)
{
	const movement *m = w->m;
	const heddle_stmt *stmt = m->shape->stmt;
	const int row = row_of(m);
	const int64_t bytes = width * heddle_type_size(m->tensor->type), phases = m->tile ? m->tile->phases : 1, *value = w->element[element].value;
	int64_t begin = 0;
	if (row < 0 || width > w->c->language->max_vector || (w->c->language->max_bytes && bytes > w->c->language->max_bytes))
		return false;
	if (w->c->language->unaligned)
		return true;
	if (m->tile) {
		begin = count_tile_begin(m, row, width, phases == 1 ? value : NULL);
		if (begin < 0 || (phases > 1 && (heddle_tile_row_length(m->tile) + m->tile->pad) % width))
			return false;
	} else if ((begin = count_rows_begin(m, row, width, value)) < 0) {
		return false;
	}
	for (int d = 0; d < stmt->n_dim; d++) {
		const int64_t step = m->subscript[row].coefficient[d];
		const walk_begins *b = &w->begins[d];
		const int64_t of_thread = b->threads > 1 ? step * b->thread : 0;
		const int64_t of_round = b->rounds > 1 && !(m->tile && b->round == stmt->dim[d].layout.tile) ? step * b->round : 0;
		if (of_thread % (width * phases) || of_round % (width * phases) || (!m->tile && m->shape->d[d].outer > 1 && step * b->tile % width))
			return false;
	}
	return (w->element[element].place + begin) % width == 0;
}

/* Where elements lie, and which begin vectors. */
static void find_vectors(walk *w)
{
	const int row = row_of(w->m);
	for (int e = 0; e < w->n_element; e++)
		w->element[e].place = row < 0 ? 0 : place_in_row(w, e);
	for (int e = 0; e < w->n_element; e++) {
		w->element[e].beside = row < 0 ? -1 : find_beside(w, e);
		for (int wide = 0; wide < WIDTHS; wide++)
			w->element[e].begins[wide] = w->element[e].beside >= 0 && begins_vector(w, e, INT64_C(2) << wide);
	}
}

/* Neighbours that places read which stand one after another in a branch are vectors, the widest first; `named`: elements of those so far. */
static void widen_stretch(const walk *w, walk_node *branch, walk_set *stretch, walk_set *named)
{
	for (int wide = WIDTHS - 1; wide >= 0; wide--)
		for (int e = 0; e < w->n_element; e++) {
			const int width = 2 << wide;
			int member[2 << WIDTHS], found = 0;
			if (!has(stretch, e) || !w->element[e].begins[wide])
				continue;
			for (int k = e; found < width && k >= 0 && has(stretch, k); k = w->element[k].beside)
				member[found++] = k;
			for (int k = 0; k < found && found == width; k++) {
				stretch->word[member[k] / 64] &= ~(UINT64_C(1) << (member[k] % 64));
				named->word[member[k] / 64] |= UINT64_C(1) << (member[k] % 64);
			}
			if (found == width)
				branch->vectors[wide].word[e / 64] |= UINT64_C(1) << (e % 64);
		}
	add_all(&branch->elements, stretch);
	*stretch = (walk_set){{0}};
}

/* The same of a branch and all that is in it, which takes what it can from vectors that have names around it (model/simplify_widen.c). */
static void widen(walk *w, int up, const walk_set *around)
{
	walk_set stretch = {{0}}, named = *around;
	for (int k = up + 1; k < w->n_node; k++) {
		if (w->node[k].up != up)
			continue;
		if (w->node[k].branch) {
			widen_stretch(w, &w->node[up], &stretch, &named);
			widen(w, k, &named);
			continue;
		}
		for (int i = 0; i < WORDS; i++)
			stretch.word[i] |= w->node[k].elements.word[i] & ~around->word[i];
	}
	widen_stretch(w, &w->node[up], &stretch, &named);
}

/* All that is asked around what stands in a branch, within the branch `outer`. */
static void conditions_of(const walk *w, int node, int outer, int64_t *conditions)
{
	for (int f = 0; f < MOST_FORMS; f++)
		conditions[f] = ALWAYS;
	for (; node != outer; node = w->node[node].up)
		for (int f = 0; f < w->n_form; f++)
			conditions[f] = choose_least(conditions[f], w->node[node].asked[f]);
}

/* Does all that is asked for by `less` hold where the other's conditions do? */
static bool says(const walk *w, const int64_t *more, const int64_t *less)
{
	for (int f = 0; f < w->n_form; f++)
		if (less[f] < more[f])
			return false;
	return true;
}

/* The node right inside of `up` that has this one; -1: it is not in it. */
static int child_of(const walk *w, int node, int up)
{
	while (node > 0 && w->node[node].up != up)
		node = w->node[node].up;
	return node > 0 ? node : -1;
}

/* Reads of a vector in what stands in the branch `up`, by all threads but those of whole blocks: once where one of them is read in any case, or several
 * of which one is read wherever any is (model/simplify_share.c); else by each branch. */
static double reads_of_vector(const walk *w, int up, int wide, int element)
{
	int64_t when[MOST_FORMS], around[MOST_FORMS], one[MOST_FORMS];
	bool again = false, known = true;
	int last = -1;
	double sum = 0;
	conditions_of(w, up, 0, around);
	if (has(&w->node[up].vectors[wide], element))
		return threads_at_edges(w, around);
	for (int child = 1; child < w->n_node; child++) { /* as they stand */
		if (w->node[child].up != up || !w->node[child].branch)
			continue;
		for (int k = child; k < w->n_node; k++) {
			if (!w->node[k].branch || child_of(w, k, up) != child || !has(&w->node[k].vectors[wide], element))
				continue;
			conditions_of(w, k, up, one);
			again = again || (last >= 0 && child != last);
			if (last < 0)
				memcpy(when, one, sizeof(when));
			else if (!says(w, one, when)) {
				known = known && says(w, when, one);
				memcpy(when, one, sizeof(when));
			}
			last = child;
		}
	}
	if (last < 0)
		return 0;
	for (int f = 0; f < w->n_form; f++)
		when[f] = choose_least(when[f], around[f]);
	if (again && known)
		return threads_at_edges(w, when);
	for (int child = 1; child < w->n_node; child++)
		if (w->node[child].up == up && w->node[child].branch)
			sum += reads_of_vector(w, child, wide, element);
	return sum;
}

/* Do tiles of terms stand one after another in the text of whole blocks?  Each loop is one of a tile that has all of them and one that lacks some, no
 * other loop is inside of it, and no tile is filled. */
static bool is_straight(const walk *w)
{
	const heddle_stmt *stmt = w->m->shape->stmt;
	for (int k = 0; k < w->n_lacking; k++)
		for (int d = 0; d < stmt->n_dim; d++) {
			const bool points = !w->m->shape->d[d].unrolled && stmt->dim[d].layout.items > 1;
			const int64_t rounds = stmt->dim[d].reduction ? w->begins[d].rounds : points ? stmt->dim[d].layout.items : 1;
			if (d == w->lacking[k] ? rounds > 2 : rounds > 1 && (points || d > w->lacking[k]) && !lacks_terms(w, d))
				return false;
		}
	for (int g = 0; g < w->c->kernel->n_group; g++)
		if (w->c->kernel->group[g]->stmt == w->m->shape->stmt && w->c->kernel->group[g]->space == HEDDLE_SPACE_SHARED)
			return false;
	return true;
}

/* The element's subscripts where tiles of terms are the last ones along the dimensions of `kind`. */
static void shift(const walk *w, int kind, int element, int64_t at[HEDDLE_MAX_DIM])
{
	memcpy(at, w->element[element].at, sizeof(w->element[element].at));
	for (int k = 0; k < w->n_lacking; k++)
		for (int e = 0; e < w->m->tensor->rank && kind >> k & 1; e++)
			at[e] += w->m->subscript[e].coefficient[w->lacking[k]] * w->begins[w->lacking[k]].round;
}

/* Of the elements that such tiles read, those that no tile before reads. */
static int64_t new_elements(const walk *w, int kind, bool straight)
{
	int64_t elements = 0;
	for (int e = 0; e < w->n_element; e++) {
		int64_t at[HEDDLE_MAX_DIM], other[HEDDLE_MAX_DIM];
		bool again = false;
		shift(w, kind, e, at);
		for (int before = 0; before < kind && straight && has(&w->kind[kind], e); before++)
			for (int k = 0; k < w->n_element && !again; k++) {
				shift(w, before, k, other);
				again = has(&w->kind[before], k) && !memcmp(at, other, sizeof(at));
			}
		elements += has(&w->kind[kind], e) && !again;
	}
	return elements;
}

/* Reads of all threads in whole blocks, tiles that have all of their terms and others; -1: not known. */
static double reads_of_whole(const walk *w)
{
	const bool straight = is_straight(w);
	double sum = 0;
	for (int kind = 0; kind < 1 << w->n_lacking; kind++) {
		int64_t conditions[MOST_FORMS];
		double share = 1;
		for (int f = 0; f < MOST_FORMS; f++)
			conditions[f] = ALWAYS;
		for (int k = 0; k < w->n_lacking; k++) {
			const double rounds = (double)w->begins[w->lacking[k]].rounds;
			share *= kind >> k & 1 ? 1 / rounds : 1 - 1 / rounds;
		}
		const double threads = threads_of_all(w, conditions, true);
		if (threads < 0)
			return -1;
		sum += threads * share * (double)new_elements(w, kind, straight);
	}
	return sum;
}

/* Reads of all threads; -1: not known. */
static double reads_of_walk(const walk *w)
{
	walk_set vectors[WIDTHS] = {{{0}}};
	double sum = reads_of_whole(w);
	for (int k = 0; k < w->n_node && sum >= 0; k++) {
		int64_t conditions[MOST_FORMS];
		walk_set known = {{0}};
		double own = 0;
		if (!w->node[k].branch)
			continue;
		for (int wide = 0; wide < WIDTHS; wide++)
			add_all(&vectors[wide], &w->node[k].vectors[wide]);
		conditions_of(w, k, 0, conditions);
		for (int up = k; up > 0; up = w->node[up].up)
			add_all(&known, &w->node[w->node[up].up].elements);
		for (int e = 0; e < w->n_element; e++)
			own += has(&w->node[k].elements, e) && (k == 0 || !has(&known, e));
		sum += own > 0 ? threads_at_edges(w, conditions) * own : 0;
	}
	for (int wide = 0; wide < WIDTHS; wide++)
		for (int e = 0; e < w->n_element && sum >= 0; e++)
			sum += has(&vectors[wide], e) ? (double)(INT64_C(2) << wide) * reads_of_vector(w, 0, wide, e) : 0;
	return sum;
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
	if (walk_places(&w, guard, is_number, n_guard) && walk_others(&w) && is_by_dimensions(&w)) {
		find_vectors(&w);
		widen(&w, 0, &(walk_set){{0}});
		reads = reads_of_walk(&w);
	}
	free(w.node);
	free(w.element);
	return reads;
}
