/* Affine forms: rows, their variables, what expressions and conditions become, and the bounds of a row.
 * SPDX-License-Identifier: MIT
 */
#include "frontend/affine.h"

#include <string.h>

enum { MAX_TERMS = 16 }; /* of a condition */

affine_space *affine_space_new(heddle_arena *arena, heddle_arena *results, int64_t *steps)
{
	affine_space *space = HEDDLE_NEW(arena, affine_space);
	space->arena = space->kept = arena;
	space->results = results;
	space->steps = steps;
	return space;
}

/* ---- rows -------------------------------------------------------------------------------------------------------------- */

static bool is_small(int64_t i) { return i >= -AFFINE_LARGEST && i <= AFFINE_LARGEST; }

bool affine_add_product(int64_t *to, int64_t a, int64_t b)
{
	int64_t t;
	return !__builtin_mul_overflow(a, b, &t) && !__builtin_add_overflow(*to, t, to) && is_small(*to);
}

bool affine_add(affine_row *to, const affine_row *row, int64_t factor)
{
	for (int v = 0; v < AFFINE_VARIABLES; v++)
		if (row->c[v] && !affine_add_product(&to->c[v], row->c[v], factor))
			return false;
	return affine_add_product(&to->k, row->k, factor);
}

affine_row affine_constant(int64_t k)
{
	return (affine_row){.k = k};
}

affine_row affine_variable_row(int v)
{
	affine_row row = {0};
	row.c[v] = 1;
	return row;
}

bool affine_is_constant(const affine_row *row)
{
	for (int v = 0; v < AFFINE_VARIABLES; v++)
		if (row->c[v])
			return false;
	return true;
}

bool affine_size_only(const affine_space *space, const affine_row *row)
{
	for (int v = 0; v < space->n; v++)
		if (row->c[v] && !space->variable[v].size_only)
			return false;
	return true;
}

int64_t affine_floor_div(int64_t a, int64_t b)
{
	int64_t q = a / b;
	return q - (a % b != 0 && (a < 0) != (b < 0));
}

int64_t affine_gcd(int64_t a, int64_t b)
{
	while (b) {
		int64_t t = a % b;
		a = b;
		b = t;
	}
	return a < 0 ? -a : a;
}

static affine_row *keep(affine_space *space, const affine_row *row)
{
	affine_row *copy = HEDDLE_NEW(space->kept, affine_row);
	*copy = *row;
	return copy;
}

static bool same_row(const affine_row *a, const affine_row *b)
{
	return a == b || (a && b && !memcmp(a, b, sizeof(*a)));
}

/* ---- variables ----------------------------------------------------------------------------------------------------------- */

/* The variable that is the same, or a new one with copies of the rows; -1: there is no place for it. */
int affine_intern(affine_space *space, const affine_variable *new)
{
	for (int v = 0; v < space->n; v++) {
		const affine_variable *old = &space->variable[v];
		if (old->kind == new->kind && old->index == new->index && old->size == new->size && old->d == new->d &&
		    same_row(old->a, new->a) && same_row(old->b, new->b) && old->alternative == new->alternative)
			return v;
	}
	if (space->n == AFFINE_VARIABLES)
		return -1;
	affine_variable *v = &space->variable[space->n];
	*v = *new;
	v->a = new->a ? keep(space, new->a) : NULL;
	v->b = new->b ? keep(space, new->b) : NULL;
	return space->n++;
}

int affine_index_variable(affine_space *space, heddle_index *index)
{
	return affine_intern(space, &(affine_variable){.kind = AFFINE_INDEX, .index = index});
}

static int size_variable(affine_space *space, heddle_size *size)
{
	return affine_intern(space, &(affine_variable){.kind = AFFINE_SIZE, .size = size, .size_only = true});
}

static bool atom(affine_space *space, affine_kind kind, const affine_row *a, const affine_row *b, int64_t d,
		 affine_row *out)
{
	affine_variable new = {
		.kind = kind,
		.a = a,
		.b = b,
		.d = d,
		.size_only = affine_size_only(space, a) && (!b || affine_size_only(space, b)),
	};
	int v = affine_intern(space, &new);
	if (v < 0)
		return false;
	*out = affine_variable_row(v);
	return true;
}

static bool divide(affine_space *space, affine_kind kind, const affine_row *a, int64_t d, affine_row *out)
{
	bool exact = a->k % d == 0;
	for (int v = 0; v < space->n; v++)
		exact = exact && a->c[v] % d == 0;
	if (exact) {
		*out = *a;
		out->k /= d;
		for (int v = 0; v < space->n; v++)
			out->c[v] /= d;
		return true;
	}
	if (affine_is_constant(a)) {
		*out = affine_constant(kind == AFFINE_FLOOR ? affine_floor_div(a->k, d) : a->k / d);
		return true;
	}
	if (kind == AFFINE_FLOOR) {
		/* floor((d * x + y) / d) = x + floor(y / d) keeps equal things equal. */
		affine_row whole = {0}, rest = *a;
		whole.k = affine_floor_div(a->k, d);
		rest.k -= whole.k * d;
		for (int v = 0; v < space->n; v++) {
			if (a->c[v] % d == 0) {
				whole.c[v] = a->c[v] / d;
				rest.c[v] = 0;
			}
		}
		if (affine_is_constant(&rest)) {
			*out = whole; /* 0 <= rest < d */
			return true;
		}
		return atom(space, kind, &rest, NULL, d, out) && affine_add(out, &whole, 1);
	}
	return atom(space, kind, a, NULL, d, out);
}

bool affine_floor(affine_space *space, const affine_row *a, int64_t d, affine_row *out)
{
	return divide(space, AFFINE_FLOOR, a, d, out);
}

static bool min_max(affine_space *space, affine_kind kind, const affine_row *a, const affine_row *b, affine_row *out)
{
	if (same_row(a, b)) {
		*out = *a;
		return true;
	}
	if (affine_is_constant(a) && affine_is_constant(b)) {
		*out = (a->k < b->k) == (kind == AFFINE_MIN) ? *a : *b;
		return true;
	}
	return atom(space, kind, a, b, 0, out);
}

bool affine_extremum(affine_space *space, affine_kind kind, int n, const affine_row *row, affine_row *out)
{
	affine_row *kept = HEDDLE_NEW_ARRAY(space->arena, affine_row, n);
	int m = 0;
	for (int i = 0; i < n; i++) {
		bool needed = true;
		for (int j = 0; j < n && needed; j++) {
			if (i == j)
				continue;
			/* Dropped when another is always at least as extreme; of equal ones the first stays. */
			affine_row difference = row[i];
			if (!affine_add(&difference, &row[j], -1))
				continue;
			if (kind == AFFINE_MAX) {
				affine_row negative = {0};
				affine_add(&negative, &difference, -1);
				difference = negative;
			}
			bool equal = same_row(&row[i], &row[j]);
			needed = !(equal ? j < i : affine_prove(space, &difference));
			if (!needed && !equal) {
				affine_row back = {0};
				affine_add(&back, &difference, -1);
				needed = j > i && affine_prove(space, &back);
			}
		}
		if (needed)
			kept[m++] = row[i];
	}
	*out = kept[0];
	for (int i = 1; i < m; i++) {
		affine_row left = *out;
		if (!min_max(space, kind, &left, &kept[i], out))
			return false;
	}
	return true;
}

/* ---- expressions --------------------------------------------------------------------------------------------------------- */

static bool product(affine_space *space, const affine_row *a, const affine_row *b, affine_row *out)
{
	*out = affine_constant(0);
	if (affine_is_constant(a))
		return affine_add(out, b, a->k);
	if (affine_is_constant(b))
		return affine_add(out, a, b->k);
	return atom(space, AFFINE_PRODUCT, a, b, 0, out);
}

static bool modulo(affine_space *space, const affine_row *a, int64_t d, bool floor, affine_row *out)
{
	affine_row quotient;
	if (d == INT64_MIN)
		return false;
	d = d < 0 ? -d : d;
	*out = *a;
	return divide(space, floor ? AFFINE_FLOOR : AFFINE_TRUNC, a, d, &quotient) && affine_add(out, &quotient, -d);
}

static bool from_binary(affine_space *space, const heddle_expr *e, bool floor, affine_row *out)
{
	affine_row a, b;
	if (!affine_from_expr(space, e->arg[0], floor, &a) || !affine_from_expr(space, e->arg[1], floor, &b))
		return false;
	bool constant = affine_is_constant(&b);
	switch (e->op) {
	case HEDDLE_OP_ADD:
	case HEDDLE_OP_SUB:
		*out = a;
		return affine_add(out, &b, e->op == HEDDLE_OP_ADD ? 1 : -1);
	case HEDDLE_OP_MUL:
		return product(space, &a, &b, out);
	case HEDDLE_OP_DIV:
		if (!constant || b.k == 0 || b.k == INT64_MIN || (b.k < 0 && floor))
			return false;
		if (b.k < 0) {
			affine_row positive;
			*out = affine_constant(0);
			return divide(space, AFFINE_TRUNC, &a, -b.k, &positive) && affine_add(out, &positive, -1);
		}
		return divide(space, floor ? AFFINE_FLOOR : AFFINE_TRUNC, &a, b.k, out);
	case HEDDLE_OP_MOD:
		return constant && b.k != 0 && modulo(space, &a, b.k, floor, out);
	case HEDDLE_OP_MIN:
		return min_max(space, AFFINE_MIN, &a, &b, out);
	case HEDDLE_OP_MAX:
		return min_max(space, AFFINE_MAX, &a, &b, out);
	case HEDDLE_OP_SHL:
		*out = affine_constant(0);
		return constant && b.k >= 0 && b.k < 31 && affine_add(out, &a, (int64_t)1 << b.k);
	case HEDDLE_OP_SHR:
		return constant && b.k >= 0 && b.k < 31 && divide(space, AFFINE_FLOOR, &a, (int64_t)1 << b.k, out);
	case HEDDLE_OP_BITAND: /* a & (2^n - 1) is the floor remainder */
		return constant && b.k > 0 && !(b.k & (b.k + 1)) && b.k < INT32_MAX &&
		       modulo(space, &a, b.k + 1, true, out);
	default:
		return false;
	}
}

void affine_and_push(affine_space *space, affine_and *list, const affine_row *row)
{
	--*space->steps;
	HEDDLE_PUSH(space->arena, list->row, list->n, *row);
}

void affine_or_push(affine_space *space, affine_or *list, const affine_and *term)
{
	HEDDLE_PUSH(space->arena, list->term, list->n, *term);
}

/* A variable s with (c and s == a) or (not c and s == b). */
static bool make_select(affine_space *space, const heddle_expr *e, bool floor, affine_row *out)
{
	affine_or *choice = HEDDLE_NEW(space->arena, affine_or);
	affine_variable new = {.kind = AFFINE_SELECT, .alternative = choice, .expr = (heddle_expr *)(uintptr_t)e};
	affine_row branch[2];
	if (!affine_from_expr(space, e->arg[1], floor, &branch[0]) ||
	    !affine_from_expr(space, e->arg[2], floor, &branch[1]))
		return false;
	int s = affine_intern(space, &new);
	if (s < 0)
		return false;
	*out = affine_variable_row(s);
	for (int i = 0; i < 2; i++) {
		affine_or *when = affine_condition(space, e->arg[0], i == 1);
		affine_row above = *out, below = branch[i];
		if (!affine_add(&above, &branch[i], -1) || !affine_add(&below, out, -1))
			return false;
		for (int t = 0; t < when->n; t++) {
			affine_and term = {0};
			for (int r = 0; r < when->term[t].n; r++)
				affine_and_push(space, &term, &when->term[t].row[r]);
			affine_and_push(space, &term, &above);
			affine_and_push(space, &term, &below);
			affine_or_push(space, choice, &term);
		}
	}
	return true;
}

static bool from_select(affine_space *space, const heddle_expr *e, bool floor, affine_row *out)
{
	for (int v = 0; v < space->n; v++) {
		if (space->variable[v].kind == AFFINE_SELECT && space->variable[v].expr == e) {
			*out = affine_variable_row(v);
			return true;
		}
	}
	heddle_arena *arena = space->arena;
	space->arena = space->kept; /* of the alternatives */
	bool result = make_select(space, e, floor, out);
	space->arena = arena;
	return result;
}

/* The value of an expression whose sizes have one value each. */
static bool fixed_value(const heddle_expr *e, int64_t *value)
{
	int64_t a, b;
	if (e->kind == HEDDLE_EXPR_INT || (e->kind == HEDDLE_EXPR_SIZE && e->size->min == e->size->max)) {
		*value = e->kind == HEDDLE_EXPR_INT ? e->i : e->size->min;
		return true;
	}
	if (e->kind != HEDDLE_EXPR_BINARY || !fixed_value(e->arg[0], &a) || !fixed_value(e->arg[1], &b))
		return false;
	switch (e->op) {
	case HEDDLE_OP_ADD:
		return !__builtin_add_overflow(a, b, value);
	case HEDDLE_OP_SUB:
		return !__builtin_sub_overflow(a, b, value);
	case HEDDLE_OP_MUL:
		return !__builtin_mul_overflow(a, b, value);
	default:
		return false;
	}
}

bool affine_from_expr(affine_space *space, const heddle_expr *e, bool floor, affine_row *out)
{
	int v;
	switch (e->kind) {
	case HEDDLE_EXPR_INT:
		*out = affine_constant(is_small(e->i) ? e->i : 0);
		return is_small(e->i);
	case HEDDLE_EXPR_INDEX:
		v = affine_index_variable(space, e->index);
		*out = v < 0 ? affine_constant(0) : affine_variable_row(v);
		return v >= 0;
	case HEDDLE_EXPR_SIZE:
		v = size_variable(space, e->size);
		*out = v < 0 ? affine_constant(0) : affine_variable_row(v);
		return v >= 0;
	case HEDDLE_EXPR_UNARY: {
		affine_row a;
		*out = affine_constant(0);
		return e->op == HEDDLE_OP_NEG && affine_from_expr(space, e->arg[0], floor, &a) && affine_add(out, &a, -1);
	}
	case HEDDLE_EXPR_BINARY:
		if (e->op == HEDDLE_OP_MUL || e->op == HEDDLE_OP_DIV || e->op == HEDDLE_OP_MOD) {
			/* A size with one value is a constant where affinity depends on it. */
			heddle_expr constant[2] = {{.kind = HEDDLE_EXPR_INT}, {.kind = HEDDLE_EXPR_INT}}, fixed = *e;
			heddle_expr *arg[2] = {e->arg[0], e->arg[1]};
			fixed.arg = arg;
			if (fixed_value(e->arg[1], &constant[1].i))
				arg[1] = &constant[1];
			else if (e->op == HEDDLE_OP_MUL && fixed_value(e->arg[0], &constant[0].i))
				arg[0] = &constant[0];
			return from_binary(space, &fixed, floor, out);
		}
		return from_binary(space, e, floor, out);
	case HEDDLE_EXPR_SELECT:
		return from_select(space, e, floor, out);
	case HEDDLE_EXPR_CAST:
		/* Widening keeps the value; subscripts are taken as exact. */
		return !heddle_type_is_float(e->type) && e->type != HEDDLE_BOOL && heddle_type_size(e->type) >= 4 &&
		       !heddle_type_is_float(e->arg[0]->type) && e->arg[0]->type != HEDDLE_BOOL &&
		       affine_from_expr(space, e->arg[0], floor, out);
	default:
		return false;
	}
}

static heddle_expr *make(affine_space *space, heddle_expr_kind kind, heddle_op op, heddle_expr *a, heddle_expr *b)
{
	heddle_expr *e = HEDDLE_NEW(space->results, heddle_expr);
	e->kind = kind;
	e->type = HEDDLE_INT32;
	e->op = op;
	e->n_arg = b ? 2 : a ? 1 : 0;
	if (a) {
		e->arg = HEDDLE_NEW_ARRAY(space->results, heddle_expr *, e->n_arg);
		e->arg[0] = a;
		if (b)
			e->arg[1] = b;
	}
	return e;
}

static heddle_expr *make_int(affine_space *space, int64_t i)
{
	heddle_expr *e = make(space, HEDDLE_EXPR_INT, 0, NULL, NULL);
	e->i = i;
	return e;
}

/* a / d towards 0 where / rounds down: whichever of floor and ceiling is nearer to 0. */
static heddle_expr *truncated_expr(affine_space *space, const affine_row *a, int64_t d)
{
	affine_row up = affine_constant(d - 1);
	heddle_expr *floor = make(space, HEDDLE_EXPR_BINARY, HEDDLE_OP_DIV, affine_to_expr(space, a), make_int(space, d));
	if (affine_prove(space, a) || !affine_add(&up, a, 1))
		return floor;
	heddle_expr *ceiling = make(space, HEDDLE_EXPR_BINARY, HEDDLE_OP_DIV, affine_to_expr(space, &up), make_int(space, d));
	return make(space, HEDDLE_EXPR_BINARY, HEDDLE_OP_ADD,
		    make(space, HEDDLE_EXPR_BINARY, HEDDLE_OP_MAX, floor, make_int(space, 0)),
		    make(space, HEDDLE_EXPR_BINARY, HEDDLE_OP_MIN, ceiling, make_int(space, 0)));
}

static heddle_expr *variable_expr(affine_space *space, int v)
{
	affine_variable *x = &space->variable[v];
	heddle_expr *e;
	if (x->expr)
		return x->expr;
	switch (x->kind) {
	case AFFINE_INDEX:
		e = make(space, HEDDLE_EXPR_INDEX, 0, NULL, NULL);
		e->index = x->index;
		break;
	case AFFINE_SIZE:
		e = make(space, HEDDLE_EXPR_SIZE, 0, NULL, NULL);
		e->size = x->size;
		break;
	case AFFINE_TRUNC:
		e = truncated_expr(space, x->a, x->d);
		break;
	case AFFINE_FLOOR:
		e = make(space, HEDDLE_EXPR_BINARY, HEDDLE_OP_DIV, affine_to_expr(space, x->a), make_int(space, x->d));
		break;
	case AFFINE_MULTIPLE: {
		heddle_expr *size = make(space, HEDDLE_EXPR_SIZE, 0, NULL, NULL);
		size->size = x->size;
		e = make(space, HEDDLE_EXPR_BINARY, HEDDLE_OP_DIV, size, make_int(space, x->size->divisor));
		break;
	}
	default: {
		heddle_op op = x->kind == AFFINE_MIN	 ? HEDDLE_OP_MIN
			       : x->kind == AFFINE_MAX ? HEDDLE_OP_MAX
							 : HEDDLE_OP_MUL;
		e = make(space, HEDDLE_EXPR_BINARY, op, affine_to_expr(space, x->a), affine_to_expr(space, x->b));
	}
	}
	return x->expr = e;
}

heddle_expr *affine_to_expr(affine_space *space, const affine_row *row)
{
	heddle_expr *sum = NULL;
	for (int negative = 0; negative < 2; negative++) {
		for (int v = 0; v < space->n; v++) {
			int64_t c = row->c[v];
			if (!c || (c < 0) != (negative == 1))
				continue;
			heddle_expr *term = variable_expr(space, v);
			int64_t size = c < 0 ? -c : c;
			if (size != 1)
				term = make(space, HEDDLE_EXPR_BINARY, HEDDLE_OP_MUL, make_int(space, size), term);
			if (!sum && negative && row->k > 0)
				sum = make_int(space, row->k);
			if (!sum)
				sum = negative ? make(space, HEDDLE_EXPR_UNARY, HEDDLE_OP_NEG, term, NULL) : term;
			else
				sum = make(space, HEDDLE_EXPR_BINARY, negative ? HEDDLE_OP_SUB : HEDDLE_OP_ADD, sum, term);
		}
	}
	if (!sum)
		return make_int(space, row->k);
	bool positive = false;
	for (int v = 0; v < space->n; v++)
		positive |= row->c[v] > 0;
	if (row->k > 0 && !positive)
		return sum; /* the constant came first */
	if (row->k)
		sum = make(space, HEDDLE_EXPR_BINARY, row->k < 0 ? HEDDLE_OP_SUB : HEDDLE_OP_ADD, sum,
			   make_int(space, row->k < 0 ? -row->k : row->k));
	return sum;
}

heddle_expr *affine_negative_expr(affine_space *space, const affine_row *row)
{
	affine_row left = {0}, right = {0};
	for (int v = 0; v < space->n; v++) {
		if (row->c[v] > 0)
			left.c[v] = row->c[v];
		else
			right.c[v] = -row->c[v];
	}
	int64_t k = row->k + 1;
	if (k > 0)
		left.k = k;
	else
		right.k = -k;
	heddle_expr *e = make(space, HEDDLE_EXPR_BINARY, HEDDLE_OP_LE, affine_to_expr(space, &left),
			      affine_to_expr(space, &right));
	e->type = HEDDLE_BOOL;
	return e;
}

/* ---- conditions ---------------------------------------------------------------------------------------------------------- */

static affine_or *truth(affine_space *space, bool value)
{
	affine_or *list = HEDDLE_NEW(space->arena, affine_or);
	if (value)
		affine_or_push(space, list, &(affine_and){0});
	return list;
}

static affine_or *or_of(affine_space *space, const affine_or *a, const affine_or *b)
{
	affine_or *list = HEDDLE_NEW(space->arena, affine_or);
	if (a->n + b->n > MAX_TERMS)
		return truth(space, true);
	for (int i = 0; i < a->n; i++)
		affine_or_push(space, list, &a->term[i]);
	for (int i = 0; i < b->n; i++)
		affine_or_push(space, list, &b->term[i]);
	return list;
}

static affine_or *and_of(affine_space *space, affine_or *a, affine_or *b)
{
	if (a->n * b->n > MAX_TERMS)
		return a->n < b->n ? a : b;
	affine_or *list = HEDDLE_NEW(space->arena, affine_or);
	for (int i = 0; i < a->n; i++) {
		for (int j = 0; j < b->n; j++) {
			affine_and term = {0};
			for (int r = 0; r < a->term[i].n; r++)
				affine_and_push(space, &term, &a->term[i].row[r]);
			for (int r = 0; r < b->term[j].n; r++)
				affine_and_push(space, &term, &b->term[j].row[r]);
			affine_or_push(space, list, &term);
		}
	}
	return list;
}

/* factor * (a - b) + k >= 0 */
static affine_or *compare(affine_space *space, const affine_row *a, const affine_row *b, int64_t factor, int64_t k)
{
	affine_row row = affine_constant(k);
	if (!affine_add(&row, a, factor) || !affine_add(&row, b, -factor))
		return truth(space, true);
	affine_and term = {0};
	affine_and_push(space, &term, &row);
	affine_or *list = HEDDLE_NEW(space->arena, affine_or);
	affine_or_push(space, list, &term);
	return list;
}

static affine_or *comparison(affine_space *space, heddle_op op, const affine_row *a, const affine_row *b)
{
	switch (op) {
	case HEDDLE_OP_LT:
		return compare(space, a, b, -1, -1);
	case HEDDLE_OP_LE:
		return compare(space, a, b, -1, 0);
	case HEDDLE_OP_GT:
		return compare(space, a, b, 1, -1);
	case HEDDLE_OP_GE:
		return compare(space, a, b, 1, 0);
	case HEDDLE_OP_EQ:
		return and_of(space, compare(space, a, b, 1, 0), compare(space, a, b, -1, 0));
	case HEDDLE_OP_NE:
		return or_of(space, compare(space, a, b, 1, -1), compare(space, a, b, -1, -1));
	default:
		return truth(space, true);
	}
}

static heddle_op opposite(heddle_op op)
{
	switch (op) {
	case HEDDLE_OP_LT:
		return HEDDLE_OP_GE;
	case HEDDLE_OP_LE:
		return HEDDLE_OP_GT;
	case HEDDLE_OP_GT:
		return HEDDLE_OP_LE;
	case HEDDLE_OP_GE:
		return HEDDLE_OP_LT;
	case HEDDLE_OP_EQ:
		return HEDDLE_OP_NE;
	default:
		return HEDDLE_OP_EQ;
	}
}

affine_or *affine_condition(affine_space *space, const heddle_expr *e, bool negate)
{
	affine_row a, b;
	if (e->kind == HEDDLE_EXPR_UNARY && e->op == HEDDLE_OP_NOT)
		return affine_condition(space, e->arg[0], !negate);
	if (e->kind == HEDDLE_EXPR_INT)
		return truth(space, (e->i != 0) != negate);
	if (e->kind != HEDDLE_EXPR_BINARY)
		return truth(space, true);
	if (e->op == HEDDLE_OP_AND || e->op == HEDDLE_OP_OR) {
		affine_or *x = affine_condition(space, e->arg[0], negate), *y = affine_condition(space, e->arg[1], negate);
		return (e->op == HEDDLE_OP_AND) != negate ? and_of(space, x, y) : or_of(space, x, y);
	}
	if (e->op < HEDDLE_OP_LT || e->op > HEDDLE_OP_NE || heddle_type_is_float(e->arg[0]->type) ||
	    !affine_from_expr(space, e->arg[0], false, &a) || !affine_from_expr(space, e->arg[1], false, &b))
		return truth(space, true);
	return comparison(space, negate ? opposite(e->op) : e->op, &a, &b);
}

/* ---- ranges of indices ----------------------------------------------------------------------------------------------------- */

/* The rows whose maximum (lower) or minimum (upper) an index bound is. */
int affine_bound_rows(affine_space *space, const heddle_expr *e, heddle_op op, affine_row *out, int capacity)
{
	if (e->kind == HEDDLE_EXPR_BINARY && e->op == op) {
		int n = affine_bound_rows(space, e->arg[0], op, out, capacity);
		return n + affine_bound_rows(space, e->arg[1], op, out + n, capacity - n);
	}
	return capacity > 0 && affine_from_expr(space, e, true, out) ? 1 : 0;
}

static bool mentions_index(const heddle_expr *e, const heddle_index *index)
{
	if (e->kind == HEDDLE_EXPR_INDEX && e->index == index)
		return true;
	for (int i = 0; i < e->n_arg; i++)
		if (mentions_index(e->arg[i], index))
			return true;
	return false;
}

/* Does the range of variable `v` (an index) depend on index `on`, directly or through others in the row? */
static bool depends_on(const heddle_index *v, const heddle_index *on)
{
	return (v->lower && mentions_index(v->lower, on)) || (v->upper && mentions_index(v->upper, on));
}

/* The variable to eliminate next: an index with a range that no other such index of the row depends on for its own. */
static int next_index(const affine_space *space, const affine_row *row)
{
	int found = -1;
	for (int v = 0; v < space->n; v++) {
		const affine_variable *x = &space->variable[v];
		if (!row->c[v] || x->kind != AFFINE_INDEX || !x->index->lower)
			continue;
		if (found < 0)
			found = v;
		bool leaf = true;
		for (int w = 0; w < space->n && leaf; w++) {
			const affine_variable *y = &space->variable[w];
			leaf = w == v || !row->c[w] || y->kind != AFFINE_INDEX || !y->index->lower ||
			       !depends_on(y->index, x->index);
		}
		if (leaf)
			return v;
	}
	return found;
}

static int replace_bound(affine_space *space, const affine_row *row, int v, const affine_row *with, bool want_max,
			 affine_row *out, int capacity)
{
	affine_row replaced = *row;
	int64_t c = row->c[v];
	replaced.c[v] = 0;
	if (!affine_add(&replaced, with, c))
		return 0;
	return affine_bounds(space, &replaced, want_max, out, capacity);
}

/* An index-dependent atom that is monotone in one form: floor and trunc. */
static int bound_atom(affine_space *space, const affine_row *row, int v, bool want_max, affine_row *out, int capacity)
{
	const affine_variable *x = &space->variable[v];
	affine_kind kind = x->kind;
	int64_t d = x->d;
	if (kind != AFFINE_FLOOR && kind != AFFINE_TRUNC)
		return 0;
	for (int w = 0; w < space->n; w++)
		if (row->c[w] && w != v && !space->variable[w].size_only && x->a->c[w])
			return 0; /* a remainder: not monotone */
	affine_row inner[4];
	int n = affine_bounds(space, x->a, (row->c[v] > 0) == want_max, inner, 4), total = 0;
	for (int i = 0; i < n; i++) {
		affine_row quotient;
		if (affine_size_only(space, &inner[i]) && divide(space, kind, &inner[i], d, &quotient))
			total += replace_bound(space, row, v, &quotient, want_max, out + total, capacity - total);
	}
	return total;
}

int affine_bounds(affine_space *space, const affine_row *row, bool want_max, affine_row *out, int capacity)
{
	if (capacity <= 0)
		return 0;
	for (int v = 0; v < space->n; v++)
		if (row->c[v] && space->variable[v].kind != AFFINE_INDEX && !space->variable[v].size_only)
			return bound_atom(space, row, v, want_max, out, capacity);
	int v = next_index(space, row);
	if (v < 0) {
		*out = *row;
		return 1;
	}
	heddle_index *index = space->variable[v].index;
	bool upper = (row->c[v] > 0) == want_max;
	affine_row bound[8];
	int n = affine_bound_rows(space, upper ? index->upper : index->lower, upper ? HEDDLE_OP_MIN : HEDDLE_OP_MAX, bound, 8);
	int total = 0;
	for (int i = 0; i < n; i++) {
		bound[i].k -= upper;
		total += replace_bound(space, row, v, &bound[i], want_max, out + total, capacity - total);
	}
	return total;
}
