/* Conjunctions of affine rows: what defines their variables, and Fourier-Motzkin elimination.
 *
 * A row is tightened by the greatest common divisor of its coefficients, which makes the elimination exact for boxes and
 * triangles with unit steps.  A row that overflows or is one too many is dropped: the set only grows, so "infeasible" stays
 * true.  Alternatives are tried one at a time below a budget, and all decisions of a file have a number of steps.
 * SPDX-License-Identifier: MIT
 */
#include "frontend/affine.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_ROWS = 1200, MAX_BRANCHES = 160 };

/* ---- problems -------------------------------------------------------------------------------------------------------------- */

affine_problem *affine_problem_new(affine_space *space)
{
	affine_problem *p = HEDDLE_NEW(space->arena, affine_problem);
	p->space = space;
	return p;
}

affine_problem *affine_problem_copy(const affine_problem *problem)
{
	affine_problem *p = affine_problem_new(problem->space);
	for (int i = 0; i < problem->all.n; i++)
		affine_and_push(p->space, &p->all, &problem->all.row[i]);
	for (int i = 0; i < problem->n_alternative; i++)
		HEDDLE_PUSH(p->space->arena, p->alternative, p->n_alternative, problem->alternative[i]);
	return p;
}

void affine_require(affine_problem *problem, const affine_row *row)
{
	affine_and_push(problem->space, &problem->all, row);
}

void affine_require_negative(affine_problem *problem, const affine_row *row)
{
	affine_row negated = affine_constant(-1);
	if (affine_add(&negated, row, -1))
		affine_require(problem, &negated);
}

void affine_require_or(affine_problem *problem, affine_or *alternatives)
{
	if (alternatives->n == 1) {
		for (int i = 0; i < alternatives->term[0].n; i++)
			affine_require(problem, &alternatives->term[0].row[i]);
	} else {
		HEDDLE_PUSH(problem->space->arena, problem->alternative, problem->n_alternative, alternatives);
	}
}

/* a - b >= 0 */
static void require_order(affine_problem *p, const affine_row *a, const affine_row *b, int64_t k)
{
	affine_row row = *a;
	row.k += k;
	if (affine_add(&row, b, -1))
		affine_require(p, &row);
}

static void define_size(affine_problem *p, int v)
{
	const heddle_size *size = p->space->variable[v].size;
	affine_row x = affine_variable_row(v), low = affine_constant(size->min), high = affine_constant(size->max);
	require_order(p, &x, &low, 0);
	require_order(p, &high, &x, 0);
	if (size->divisor > 1 && size->min != size->max) {
		affine_variable new = {.kind = AFFINE_MULTIPLE, .size = p->space->variable[v].size, .size_only = true};
		int m = affine_intern(p->space, &new);
		if (m < 0)
			return;
		affine_row multiple = {0};
		multiple.c[m] = size->divisor;
		require_order(p, &x, &multiple, 0);
		require_order(p, &multiple, &x, 0);
	}
}

static void define_index(affine_problem *p, int v)
{
	heddle_index *index = p->space->variable[v].index;
	affine_row x = affine_variable_row(v), bound[8];
	if (!index->lower)
		return;
	int n = affine_bound_rows(p->space, index->lower, HEDDLE_OP_MAX, bound, 8);
	for (int i = 0; i < n; i++)
		require_order(p, &x, &bound[i], 0);
	n = affine_bound_rows(p->space, index->upper, HEDDLE_OP_MIN, bound, 8);
	for (int i = 0; i < n; i++)
		require_order(p, &bound[i], &x, -1);
}

/* a - d * q >= low and d * q - a + high >= 0 */
static void quotient_rows(affine_space *space, const affine_row *a, const affine_row *q, int64_t d, int64_t low,
			  int64_t high, affine_and *out)
{
	affine_row below = *a, above = affine_constant(high);
	below.k -= low;
	if (affine_add(&below, q, -d))
		affine_and_push(space, out, &below);
	if (affine_add(&above, q, d) && affine_add(&above, a, -1))
		affine_and_push(space, out, &above);
}

static void define_quotient(affine_problem *p, int v)
{
	affine_space *space = p->space;
	const affine_row *a = space->variable[v].a;
	int64_t d = space->variable[v].d;
	affine_row q = affine_variable_row(v);
	affine_or *choice = HEDDLE_NEW(space->arena, affine_or);
	affine_and floor = {0}, ceiling = {0};
	if (space->variable[v].kind == AFFINE_TRUNC) {
		affine_row negative = affine_constant(-1);
		affine_and_push(space, &floor, a);
		if (affine_add(&negative, a, -1))
			affine_and_push(space, &ceiling, &negative);
		quotient_rows(space, a, &q, d, 1 - d, 0, &ceiling);
		affine_or_push(space, choice, &ceiling);
	}
	quotient_rows(space, a, &q, d, 0, d - 1, &floor);
	affine_or_push(space, choice, &floor);
	affine_require_or(p, choice);
}

static void define_min_max(affine_problem *p, int v)
{
	affine_space *space = p->space;
	const affine_variable *x = &space->variable[v];
	affine_row m = affine_variable_row(v);
	affine_or *choice = HEDDLE_NEW(space->arena, affine_or);
	for (int i = 0; i < 2; i++) {
		const affine_row *side = i ? x->b : x->a;
		bool is_min = x->kind == AFFINE_MIN;
		require_order(p, is_min ? side : &m, is_min ? &m : side, 0);
		affine_row row = is_min ? m : *side;
		affine_and term = {0};
		if (affine_add(&row, is_min ? side : &m, -1))
			affine_and_push(space, &term, &row);
		affine_or_push(space, choice, &term);
	}
	affine_require_or(p, choice);
}

/* Constant bounds of a row over sizes and indices with constant ranges; false when there is none. */
static bool constant_minimum(const affine_space *space, const affine_row *row, bool want_max, int64_t *out)
{
	*out = row->k;
	for (int v = 0; v < space->n; v++) {
		if (!row->c[v])
			continue;
		const affine_variable *x = &space->variable[v];
		int64_t value;
		bool high = (row->c[v] > 0) == want_max;
		if (x->kind == AFFINE_SIZE)
			value = high ? x->size->max : x->size->min;
		else if (x->kind == AFFINE_INDEX && x->index->lower && !high && x->index->lower->kind == HEDDLE_EXPR_INT)
			value = x->index->lower->i;
		else if (x->kind == AFFINE_INDEX && x->index->upper && high && x->index->upper->kind == HEDDLE_EXPR_INT)
			value = x->index->upper->i - (x->index->upper->i > INT64_MIN);
		else
			return false;
		if (!affine_add_product(out, row->c[v], value))
			return false;
	}
	return true;
}

/* McCormick: (a - la) * (b - lb) >= 0 and (ua - a) * (b - lb) >= 0, and the two with a and b exchanged. */
static void define_product(affine_problem *p, int v)
{
	affine_space *space = p->space;
	const affine_row *f[2] = {space->variable[v].a, space->variable[v].b};
	affine_row m = affine_variable_row(v);
	int64_t low[2], high[2], t = 0;
	bool has_low[2], has_high[2];
	for (int i = 0; i < 2; i++) {
		has_low[i] = constant_minimum(space, f[i], false, &low[i]);
		has_high[i] = constant_minimum(space, f[i], true, &high[i]);
	}
	if (!has_low[0] || !has_low[1] || !affine_add_product(&t, low[0], low[1]))
		return;
	affine_row row = m;
	row.k += t;
	if (affine_add(&row, f[0], -low[1]) && affine_add(&row, f[1], -low[0]))
		affine_require(p, &row);
	for (int i = 0; i < 2; i++) {
		/* (high_i - f_i) * (f_j - low_j) = high_i f_j - high_i low_j - m + low_j f_i */
		int j = 1 - i;
		affine_row above = {0};
		if (!has_high[i] || !affine_add_product(&above.k, -high[i], low[j]))
			continue;
		if (affine_add(&above, f[j], high[i]) && affine_add(&above, f[i], low[j]) && affine_add(&above, &m, -1))
			affine_require(p, &above);
	}
}

static void define(affine_problem *p, int v)
{
	switch (p->space->variable[v].kind) {
	case AFFINE_SIZE:
		define_size(p, v);
		break;
	case AFFINE_INDEX:
		define_index(p, v);
		break;
	case AFFINE_FLOOR:
	case AFFINE_TRUNC:
		define_quotient(p, v);
		break;
	case AFFINE_MIN:
	case AFFINE_MAX:
		define_min_max(p, v);
		break;
	case AFFINE_PRODUCT:
		define_product(p, v);
		break;
	case AFFINE_SELECT:
		affine_require_or(p, p->space->variable[v].alternative);
		break;
	case AFFINE_MULTIPLE:
		break; /* defined with its size */
	}
}

static bool occurs(const affine_problem *p, int v)
{
	for (int i = 0; i < p->all.n; i++)
		if (p->all.row[i].c[v])
			return true;
	for (int i = 0; i < p->n_alternative; i++)
		for (int t = 0; t < p->alternative[i]->n; t++)
			for (int r = 0; r < p->alternative[i]->term[t].n; r++)
				if (p->alternative[i]->term[t].row[r].c[v])
					return true;
	return false;
}

/* Everything known about the variables that occur, and about those in what is known. */
static affine_problem *close_problem(const affine_problem *problem)
{
	affine_problem *p = affine_problem_copy(problem);
	bool done[AFFINE_VARIABLES] = {false}, again = true;
	while (again) {
		again = false;
		for (int v = 0; v < p->space->n; v++) {
			if (!done[v] && occurs(p, v)) {
				done[v] = again = true;
				define(p, v);
			}
		}
	}
	return p;
}

/* ---- elimination ------------------------------------------------------------------------------------------------------------- */

typedef struct row_list {
	int n, capacity, n_variable;
	affine_row *row;
	bool contradiction;
	int64_t *steps;
} row_list;

static size_t row_bytes(int n_variable)
{
	return sizeof(int64_t) * (size_t)(n_variable + 1);
}

static bool tighten(affine_row *row, int n)
{
	int64_t g = 0;
	for (int v = 0; v < n; v++)
		if (row->c[v])
			g = affine_gcd(g, row->c[v]);
	if (g > 1) {
		for (int v = 0; v < n; v++)
			row->c[v] /= g;
		row->k = affine_floor_div(row->k, g);
	}
	return g != 0;
}

static void list_push(row_list *list, const affine_row *row)
{
	affine_row r;
	memcpy(&r, row, row_bytes(list->n_variable));
	if (!tighten(&r, list->n_variable)) {
		list->contradiction |= r.k < 0;
		return;
	}
	*list->steps -= list->n + 8;
	for (int i = 0; i < list->n; i++) {
		if (!memcmp(list->row[i].c, r.c, sizeof(int64_t) * (size_t)list->n_variable)) {
			if (r.k < list->row[i].k)
				list->row[i].k = r.k;
			return;
		}
	}
	if (list->n >= MAX_ROWS || *list->steps < 0)
		return;
	if (list->n == list->capacity) {
		list->capacity = list->capacity ? 2 * list->capacity : 64;
		list->row = heddle_xrealloc(list->row, (size_t)list->capacity * sizeof(affine_row));
	}
	memcpy(&list->row[list->n++], &r, row_bytes(list->n_variable));
}

/* p * |n.c| + n * p.c without the variable; false on overflow. */
static bool combine(const affine_row *p, const affine_row *n, int v, int n_variable, affine_row *out)
{
	int64_t a = -n->c[v], b = p->c[v], g = affine_gcd(a, b);
	a /= g;
	b /= g;
	out->k = 0;
	if (!affine_add_product(&out->k, p->k, a) || !affine_add_product(&out->k, n->k, b))
		return false;
	for (int w = 0; w < n_variable; w++) {
		out->c[w] = 0;
		if (!affine_add_product(&out->c[w], p->c[w], a) || !affine_add_product(&out->c[w], n->c[w], b))
			return false;
	}
	return true;
}

static void eliminate(row_list *list, int v)
{
	row_list out = {.n_variable = list->n_variable, .contradiction = list->contradiction, .steps = list->steps};
	affine_row combined;
	for (int i = 0; i < list->n; i++)
		if (!list->row[i].c[v])
			list_push(&out, &list->row[i]);
	for (int i = 0; i < list->n && !out.contradiction && *list->steps >= 0; i++)
		for (int j = 0; j < list->n && list->row[i].c[v] > 0 && !out.contradiction; j++)
			if (list->row[j].c[v] < 0 && combine(&list->row[i], &list->row[j], v, out.n_variable, &combined))
				list_push(&out, &combined);
	free(list->row);
	*list = out;
}

/* The variable to eliminate next; -1 when none is left.  Best is one whose elimination loses no integrality (all its
 * coefficients of one sign are units), then the one that makes the fewest rows. */
static int cheapest(const row_list *list, const bool *kept)
{
	int best = -1;
	long best_cost = 0;
	bool best_exact = false;
	for (int v = 0; v < list->n_variable; v++) {
		long up = 0, down = 0;
		bool unit_up = true, unit_down = true;
		for (int i = 0; i < list->n; i++) {
			int64_t c = list->row[i].c[v];
			up += c > 0;
			down += c < 0;
			unit_up = unit_up && c <= 1;
			unit_down = unit_down && c >= -1;
		}
		bool exact = unit_up || unit_down;
		long cost = up * down - up - down;
		if ((!up && !down) || (kept && kept[v]))
			continue;
		if (best < 0 || (exact && !best_exact) || (exact == best_exact && cost < best_cost)) {
			best = v;
			best_cost = cost;
			best_exact = exact;
		}
	}
	return best;
}

static void load(const affine_space *space, const affine_and *rows, row_list *list)
{
	list->n_variable = space->n;
	for (int i = 0; i < rows->n; i++) {
		affine_row row = rows->row[i];
		bool fine = true;
		for (int v = 0; v < space->n; v++) {
			const heddle_size *size = space->variable[v].size;
			if (row.c[v] && space->variable[v].kind == AFFINE_SIZE && size->min == size->max) {
				fine = fine && affine_add_product(&row.k, row.c[v], size->min);
				row.c[v] = 0;
			}
		}
		if (fine)
			list_push(list, &row);
	}
}

static bool rows_infeasible(const affine_space *space, const affine_and *rows)
{
	row_list list = {.steps = space->steps};
	int v;
	if (*space->steps < 0)
		return false;
	load(space, rows, &list);
	while (!list.contradiction && (v = cheapest(&list, NULL)) >= 0)
		eliminate(&list, v);
	free(list.row);
	return list.contradiction;
}

static void project_rows(affine_space *space, const affine_and *rows, affine_or *out)
{
	row_list list = {.steps = space->steps};
	bool kept[AFFINE_VARIABLES];
	int v;
	if (*space->steps < 0) {
		affine_or_push(space, out, &(affine_and){0});
		return;
	}
	for (v = 0; v < space->n; v++)
		kept[v] = space->variable[v].size_only;
	load(space, rows, &list);
	while (!list.contradiction && (v = cheapest(&list, kept)) >= 0)
		eliminate(&list, v);
	if (!list.contradiction) {
		affine_and term = {0};
		for (int i = 0; i < list.n; i++) {
			affine_row row = {0};
			memcpy(&row, &list.row[i], row_bytes(list.n_variable));
			affine_and_push(space, &term, &row);
		}
		affine_or_push(space, out, &term);
	}
	free(list.row);
}

typedef struct explorer {
	const affine_problem *problem;
	int budget;
	affine_or *projection; /* NULL: only whether there are points */
} explorer;

/* May some choice among alternative[level ..] have points? */
static bool explore(explorer *x, int level, const affine_and *rows)
{
	affine_space *space = x->problem->space;
	bool any = false;
	if (rows_infeasible(space, rows))
		return false;
	if (level == x->problem->n_alternative || x->budget <= 0 || *space->steps < 0) {
		if (x->projection)
			project_rows(space, rows, x->projection);
		return true;
	}
	const affine_or *choice = x->problem->alternative[level];
	for (int t = 0; t < choice->n; t++) {
		affine_and more = {0};
		for (int i = 0; i < rows->n; i++)
			affine_and_push(space, &more, &rows->row[i]);
		for (int i = 0; i < choice->term[t].n; i++)
			affine_and_push(space, &more, &choice->term[t].row[i]);
		x->budget--;
		any |= explore(x, level + 1, &more);
		if (any && !x->projection)
			return true;
	}
	return any;
}

/* What one question needs is freed with its answer. */
static heddle_arena *begin_question(affine_space *space)
{
	heddle_arena *outer = space->arena;
	space->arena = heddle_arena_new();
	return outer;
}

static void end_question(affine_space *space, heddle_arena *outer)
{
	heddle_arena_free(space->arena);
	space->arena = outer;
}

bool affine_infeasible(const affine_problem *problem)
{
	affine_space *space = problem->space;
	if (*space->steps < 0)
		return false;
	heddle_arena *outer = begin_question(space);
	explorer x = {.problem = close_problem(problem), .budget = MAX_BRANCHES};
	bool result = !explore(&x, 0, &x.problem->all);
	end_question(space, outer);
	return result;
}

bool affine_implies(const affine_problem *problem, const affine_row *row)
{
	affine_space *space = problem->space;
	if (*space->steps < 0)
		return false;
	heddle_arena *outer = begin_question(space);
	affine_problem *p = affine_problem_copy(problem);
	affine_require_negative(p, row);
	bool result = affine_infeasible(p);
	end_question(space, outer);
	return result;
}

bool affine_prove(affine_space *space, const affine_row *row)
{
	affine_problem *p = affine_problem_new(space);
	affine_require_negative(p, row);
	return affine_infeasible(p);
}

/* Does the problem's context with `others` imply row >= 0? */
static bool implied(affine_space *space, const affine_and *others, int except, const affine_row *row)
{
	if (*space->steps < 0)
		return false;
	heddle_arena *outer = begin_question(space);
	affine_problem *p = affine_problem_new(space);
	for (int i = 0; i < others->n; i++)
		if (i != except)
			affine_require(p, &others->row[i]);
	affine_require_negative(p, row);
	bool result = affine_infeasible(p);
	end_question(space, outer);
	return result;
}

static void drop_implied(affine_space *space, affine_and *term)
{
	for (int i = 0; i < term->n;) {
		if (implied(space, term, i, &term->row[i]))
			term->row[i] = term->row[--term->n];
		else
			i++;
	}
}

affine_or *affine_project(const affine_problem *problem)
{
	affine_space *space = problem->space;
	heddle_arena *outer = begin_question(space);
	affine_or all = {0}, *out = HEDDLE_NEW(outer, affine_or);
	explorer x = {.problem = close_problem(problem), .budget = MAX_BRANCHES, .projection = &all};
	explore(&x, 0, &x.problem->all);
	for (int t = 0; t < all.n; t++)
		drop_implied(space, &all.term[t]);
	for (int t = 0; t < all.n; t++) {
		affine_and term = {0};
		for (int i = 0; i < all.term[t].n; i++)
			HEDDLE_PUSH(outer, term.row, term.n, all.term[t].row[i]);
		HEDDLE_PUSH(outer, out->term, out->n, term);
	}
	end_question(space, outer);
	return out;
}
