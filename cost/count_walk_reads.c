/* What places in branches read: vectors of neighbours, and each element once where a branch around has it.
 * SPDX-License-Identifier: MIT
 */
#include "cost/count_walk.h"

#include <string.h>

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
void walk_find_vectors(walk *w)
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
			if (!walk_has(stretch, e) || !w->element[e].begins[wide])
				continue;
			for (int k = e; found < width && k >= 0 && walk_has(stretch, k); k = w->element[k].beside)
				member[found++] = k;
			for (int k = 0; k < found && found == width; k++) {
				stretch->word[member[k] / 64] &= ~(UINT64_C(1) << (member[k] % 64));
				named->word[member[k] / 64] |= UINT64_C(1) << (member[k] % 64);
			}
			if (found == width)
				branch->vectors[wide].word[e / 64] |= UINT64_C(1) << (e % 64);
		}
	walk_add(&branch->elements, stretch);
	*stretch = (walk_set){{0}};
}

/* The same of a branch and all that is in it, which takes what it can from vectors that have names around it (model/simplify_widen.c). */
void walk_widen(walk *w, int up, const walk_set *around)
{
	walk_set stretch = {{0}}, named = *around;
	for (int k = up + 1; k < w->n_node; k++) {
		if (w->node[k].up != up)
			continue;
		if (w->node[k].branch) {
			widen_stretch(w, &w->node[up], &stretch, &named);
			walk_widen(w, k, &named);
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
	if (walk_has(&w->node[up].vectors[wide], element))
		return walk_threads_at_edges(w, around);
	for (int child = 1; child < w->n_node; child++) { /* as they stand */
		if (w->node[child].up != up || !w->node[child].branch)
			continue;
		for (int k = child; k < w->n_node; k++) {
			if (!w->node[k].branch || child_of(w, k, up) != child || !walk_has(&w->node[k].vectors[wide], element))
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
		return walk_threads_at_edges(w, when);
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
			if (d == w->lacking[k] ? rounds > 2 : rounds > 1 && (points || d > w->lacking[k]) && !walk_lacks_terms(w, d))
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
		for (int before = 0; before < kind && straight && walk_has(&w->kind[kind], e); before++)
			for (int k = 0; k < w->n_element && !again; k++) {
				shift(w, before, k, other);
				again = walk_has(&w->kind[before], k) && !memcmp(at, other, sizeof(at));
			}
		elements += walk_has(&w->kind[kind], e) && !again;
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
		const double threads = walk_threads(w, conditions, true);
		if (threads < 0)
			return -1;
		sum += threads * share * (double)new_elements(w, kind, straight);
	}
	return sum;
}

/* Reads of all threads; -1: not known. */
double walk_reads(const walk *w)
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
			walk_add(&vectors[wide], &w->node[k].vectors[wide]);
		conditions_of(w, k, 0, conditions);
		for (int up = k; up > 0; up = w->node[up].up)
			walk_add(&known, &w->node[w->node[up].up].elements);
		for (int e = 0; e < w->n_element; e++)
			own += walk_has(&w->node[k].elements, e) && (k == 0 || !walk_has(&known, e));
		sum += own > 0 ? walk_threads_at_edges(w, conditions) * own : 0;
	}
	for (int wide = 0; wide < WIDTHS; wide++)
		for (int e = 0; e < w->n_element && sum >= 0; e++)
			sum += walk_has(&vectors[wide], e) ? (double)(INT64_C(2) << wide) * reads_of_vector(w, 0, wide, e) : 0;
	return sum;
}
