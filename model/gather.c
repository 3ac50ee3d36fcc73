/* Accumulations that meet in an element become sums over what meets there.
 *
 *   y(4 * f + k) +=! x(f, k)      becomes      y(e) +=! e - 4 * f >= 0 && e - 4 * f < K ? x(f, e - 4 * f) : 0
 *   y(i / 2) +=! x(i)             becomes      y(e) +=! 2 * e + r < N ? x(2 * e + r) : 0 where r in 0:2
 *
 * so that left-hand indices number the elements, one instance each, and the terms of an element are a reduction like any other.  A left-hand
 * index with the factor 1 is solved for and eliminated; where there is none, all indices of the subscript are reduced over under the
 * condition that the subscript is this element.  Of two indices the longer one is eliminated, and where it has a factor the elements are
 * split by residue:
 *
 *   y(s * u + d * k) +=! x(u) * w(k), g = gcd(s, d):  k = (s/g) t + r, u = q - (d/g) t,
 *   y(s * q + d * r) +=! 0 <= q - (d/g) t < U ? x(q - (d/g) * t) * w((s/g) * t + r) : 0 where r in 0:s/g, t in 0:ceil((K - r) / (s/g))
 *
 * so that every iteration contributes a term, but at the ends of x.
 * SPDX-License-Identifier: MIT
 */
#include "model/rewrite_parts.h"
#include "model/scop.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_INDICES = 32 };

/* ---- which subscripts tell indices apart ---------------------------------------------------------------------------------------- */

/* A subscript as constant + sum coefficient[i] * index i + what does not depend on indices; false: it is no such sum. */
static bool coefficients(const heddle_expr *e, int64_t factor, int64_t *coefficient)
{
	int64_t by;
	switch (e->kind) {
	case HEDDLE_EXPR_INDEX:
		return !__builtin_add_overflow(coefficient[e->index->position], factor, &coefficient[e->index->position]);
	case HEDDLE_EXPR_UNARY:
		return e->op == HEDDLE_OP_NEG && coefficients(e->arg[0], -factor, coefficient);
	case HEDDLE_EXPR_CAST:
		return coefficients(e->arg[0], factor, coefficient);
	case HEDDLE_EXPR_BINARY:
		if (e->op == HEDDLE_OP_ADD || e->op == HEDDLE_OP_SUB)
			return coefficients(e->arg[0], factor, coefficient) &&
			       coefficients(e->arg[1], e->op == HEDDLE_OP_SUB ? -factor : factor, coefficient);
		for (int k = 0; k < 2 && e->op == HEDDLE_OP_MUL; k++)
			if (e->arg[k]->kind == HEDDLE_EXPR_INT && !__builtin_mul_overflow(factor, e->arg[k]->i, &by))
				return coefficients(e->arg[1 - k], by, coefficient);
		return rewrite_over_sizes(e);
	default:
		return rewrite_over_sizes(e);
	}
}

static bool mentions(const heddle_expr *e, const heddle_index *index)
{
	if (e->kind == HEDDLE_EXPR_INDEX && e->index == index)
		return true;
	for (int i = 0; i < e->n_arg; i++)
		if (mentions(e->arg[i], index))
			return true;
	return false;
}

/* Divisions round down in bounds and towards 0 in values: what has one stays where it is. */
static bool divides(const heddle_expr *e)
{
	if (e->kind == HEDDLE_EXPR_BINARY && (e->op == HEDDLE_OP_DIV || e->op == HEDDLE_OP_MOD))
		return true;
	for (int i = 0; i < e->n_arg; i++)
		if (divides(e->arg[i]))
			return true;
	return false;
}

/* Values of the index where they are a number; 0: unknown. */
static int64_t values_of(const heddle_index *index)
{
	int64_t lower, upper;
	if (heddle_expr_evaluate(index->lower, NULL, &lower) < 0 || heddle_expr_evaluate(index->upper, NULL, &upper) < 0 || upper <= lower)
		return 0;
	return upper - lower;
}

/* An open size counts as this much, within its range. */
enum { TYPICAL_SIZE = 1024 };

static int64_t estimate(const rewriter *r, const heddle_expr *e)
{
	int64_t *size = HEDDLE_NEW_ARRAY(r->arena, int64_t, r->out->n_size + 1), value;
	for (int i = 0; i < r->out->n_size; i++) {
		const heddle_size *one = r->out->size[i];
		size[i] = one->max < TYPICAL_SIZE ? one->max : one->min > TYPICAL_SIZE ? one->min : TYPICAL_SIZE;
	}
	return heddle_expr_evaluate(e, size, &value) == 0 ? value : TYPICAL_SIZE;
}

/* What a bound is whatever the other indices are: of max(0, 1 - 2 * i) below 0, of min(K, N - 2 * i) above K.  NULL: nothing is. */
static heddle_expr *over_sizes(heddle_expr *bound, heddle_op either)
{
	if (rewrite_over_sizes(bound))
		return bound;
	if (bound->kind != HEDDLE_EXPR_BINARY || bound->op != either)
		return NULL;
	heddle_expr *a = over_sizes(bound->arg[0], either);
	return a ? a : over_sizes(bound->arg[1], either);
}

/* About how many values the index has. */
static int64_t length_of(const rewriter *r, const heddle_index *index)
{
	const heddle_expr *lower = over_sizes(index->lower, HEDDLE_OP_MAX), *upper = over_sizes(index->upper, HEDDLE_OP_MIN);
	return lower && upper ? estimate(r, upper) - estimate(r, lower) : TYPICAL_SIZE;
}

/* Does the sum of the indices that are not known yet tell all of them apart, as digits do?  All but the one with the greatest coefficient must
 * have a known number of values. */
static bool tells_apart(const heddle_statement *s, const int64_t *coefficient, const bool *known)
{
	bool done[MOST_INDICES] = {false};
	int64_t covered = 1; /* values of the digits so far */
	for (;;) {
		int least = -1;
		for (int i = 0; i < s->n_index; i++)
			if (!known[i] && !done[i] && coefficient[i] && (least < 0 || llabs(coefficient[i]) < llabs(coefficient[least])))
				least = i;
		if (least < 0)
			return true;
		const int64_t step = llabs(coefficient[least]), n = values_of(s->index[least]);
		if (step < covered || covered == 0)
			return false;
		int64_t more;
		done[least] = true;
		if (n == 0 || __builtin_mul_overflow(step, n - 1, &more) || __builtin_add_overflow(covered, more, &covered))
			covered = 0; /* only the last one may be so */
	}
}

typedef struct scattered {
	bool solved[MOST_INDICES]; /* the subscript tells apart what it has */
	bool known[MOST_INDICES];  /* the element says which value the index has */
} scattered;

/* Do instances of different left-hand indices meet in an element, as far as is seen? */
static bool find_scattered(const heddle_statement *s, scattered *out)
{
	*out = (scattered){0};
	if (s->apart)
		return false;
	for (bool more = true; more;) {
		more = false;
		for (int e = 0; e < s->n_lhs; e++) {
			int64_t coefficient[2 * MOST_INDICES] = {0};
			if (out->solved[e] || !coefficients(s->lhs[e], 1, coefficient) || !tells_apart(s, coefficient, out->known))
				continue;
			out->solved[e] = more = true;
			for (int i = 0; i < s->n_index; i++)
				out->known[i] = out->known[i] || coefficient[i];
		}
	}
	for (int i = 0; i < s->n_index; i++)
		if (!s->index[i]->reduction && !out->known[i])
			return true;
	return false;
}

/* ---- the sum --------------------------------------------------------------------------------------------------------------------- */

static heddle_expr *logical(rewriter *r, heddle_op op, heddle_expr *a, heddle_expr *b)
{
	heddle_expr *e = HEDDLE_NEW(r->arena, heddle_expr);
	*e = (heddle_expr){.kind = HEDDLE_EXPR_BINARY, .type = HEDDLE_BOOL, .op = op, .n_arg = 2, .location = a->location};
	e->arg = HEDDLE_NEW_ARRAY(r->arena, heddle_expr *, 2);
	e->arg[0] = a;
	e->arg[1] = b;
	return e;
}

static heddle_expr *both(rewriter *r, heddle_expr *a, heddle_expr *b)
{
	return a ? logical(r, HEDDLE_OP_AND, a, b) : b;
}

/* The value that changes nothing in an element of the type, to calculate with as one of `wide`. */
static heddle_expr *identity(rewriter *r, heddle_assign assign, heddle_type type, heddle_type wide)
{
	const bool max = assign == HEDDLE_ASSIGN_MAX, is_float = heddle_type_is_float(type);
	heddle_expr *e = rewrite_int(r, assign == HEDDLE_ASSIGN_MUL);
	e->type = wide;
	e->kind = is_float ? HEDDLE_EXPR_FLOAT : HEDDLE_EXPR_INT;
	e->f = (double)e->i;
	if (assign != HEDDLE_ASSIGN_MIN && assign != HEDDLE_ASSIGN_MAX)
		return e;
	if (is_float) {
		e->f = max ? -INFINITY : INFINITY;
	} else if (type == HEDDLE_BOOL || !heddle_type_is_signed(type)) {
		const int bits = type == HEDDLE_BOOL ? 1 : 8 * heddle_type_size(type);
		e->i = max ? 0 : bits == 64 ? -1 : (INT64_C(1) << bits) - 1;
	} else {
		const int64_t top = (int64_t)(UINT64_MAX >> (65 - 8 * heddle_type_size(type)));
		e->i = max ? -top - 1 : top;
	}
	return e;
}

static bool reads_any(const heddle_expr *e)
{
	if (e->kind == HEDDLE_EXPR_READ)
		return true;
	for (int i = 0; i < e->n_arg; i++)
		if (reads_any(e->arg[i]))
			return true;
	return false;
}

/* guard ? value : identity, as one condition where the value is such a choice already. */
static heddle_expr *guarded(rewriter *r, heddle_expr *guard, heddle_expr *value, heddle_expr *nothing)
{
	if (value->kind == HEDDLE_EXPR_SELECT && heddle_expr_equal(value->arg[2], nothing) && !reads_any(value->arg[0])) {
		guard = both(r, guard, value->arg[0]);
		value = value->arg[1];
	}
	heddle_expr *e = HEDDLE_NEW(r->arena, heddle_expr);
	*e = (heddle_expr){.kind = HEDDLE_EXPR_SELECT, .type = value->type, .n_arg = 3, .location = value->location};
	e->arg = HEDDLE_NEW_ARRAY(r->arena, heddle_expr *, 3);
	e->arg[0] = guard;
	e->arg[1] = value;
	e->arg[2] = nothing;
	return e;
}

/* A name that neither indices nor any tensor or size has. */
static const char *name_for(rewriter *r, const char *stem, const heddle_statement *s, const heddle_statement *out)
{
	for (int n = 1;; n++) {
		const char *name = rewrite_fresh_name(r, n > 1 ? heddle_arena_printf(r->arena, "%s%d", stem, n) : stem);
		bool used = false;
		for (int i = 0; i < s->n_index; i++)
			used = used || !strcmp(s->index[i]->name, name);
		for (int i = 0; i < out->n_index; i++)
			used = used || !strcmp(out->index[i]->name, name);
		if (!used)
			return name;
	}
}

/* The index of a subscript that its element and the other indices say: the longest that stands there by itself; `*sign`: 1 or -1.  -1: there
 * is none. */
static int index_to_go(const rewriter *r, const heddle_statement *s, const scattered *sc, const heddle_expr *subscript, const bool *gone,
		       int64_t *sign)
{
	int64_t coefficient[2 * MOST_INDICES] = {0};
	int found = -1;
	if (!coefficients(subscript, 1, coefficient) || divides(subscript))
		return -1;
	for (int i = s->n_index - 1; i >= 0; i--) {
		const heddle_index *index = s->index[i];
		if (index->reduction || sc->known[i] || gone[i] || llabs(coefficient[i]) != 1 || divides(index->lower) || divides(index->upper))
			continue;
		bool free = true; /* no bound may go around in a circle */
		for (int k = 0; k < s->n_index; k++)
			free = free && (k == i || (!mentions(s->index[k]->lower, index) && !mentions(s->index[k]->upper, index)));
		if (free && (found < 0 || length_of(r, index) > length_of(r, s->index[found])))
			found = i;
	}
	if (found >= 0)
		*sign = coefficient[found];
	return found;
}

/* Of a subscript (i + k) / c whose divided value is never below 0: the only index, and k and c; -1: it is no such one. */
static int index_divided(const heddle_statement *s, const scattered *sc, const heddle_expr *subscript, const bool *gone, int64_t *k, int64_t *c)
{
	int64_t coefficient[2 * MOST_INDICES] = {0}, lower;
	if (subscript->kind != HEDDLE_EXPR_BINARY || subscript->op != HEDDLE_OP_DIV || subscript->arg[1]->kind != HEDDLE_EXPR_INT ||
	    subscript->arg[1]->i < 2 || !coefficients(subscript->arg[0], 1, coefficient) || divides(subscript->arg[0]))
		return -1;
	const heddle_expr *sum = subscript->arg[0];
	const bool adds = sum->kind == HEDDLE_EXPR_BINARY && sum->op == HEDDLE_OP_ADD && sum->arg[1]->kind == HEDDLE_EXPR_INT;
	const heddle_expr *plain = adds ? sum->arg[0] : sum;
	*k = adds ? sum->arg[1]->i : 0;
	*c = subscript->arg[1]->i;
	if (plain->kind != HEDDLE_EXPR_INDEX)
		return -1;
	const heddle_index *index = plain->index;
	if (index->position >= s->n_index || index->reduction || sc->known[index->position] || gone[index->position] || divides(index->upper) ||
	    heddle_expr_evaluate(index->lower, NULL, &lower) < 0 || lower + *k < 0)
		return -1;
	for (int i = 0; i < s->n_index; i++)
		if (i != index->position && (mentions(s->index[i]->lower, index) || mentions(s->index[i]->upper, index)))
			return -1;
	return index->position;
}

/* A statement on its way: what its indices become. */
typedef struct gathering {
	rewriter *r;
	const heddle_statement *s;
	const scattered *sc;
	heddle_statement *out;
	heddle_expr *by[2 * MOST_INDICES]; /* what an index that goes is, in terms of the others */
	bool gone[MOST_INDICES];
	bool inside[MOST_INDICES]; /* it goes and is within its range whatever the others are */
	heddle_expr *guard;	   /* what must hold besides */
	double most;		   /* terms that an element may go through for each that meets there, in the dimension where these are most */
	int at;			   /* that dimension */
} gathering;

/* A new index; as long as all have no places it has none of the old ones. */
static heddle_index *add_index(gathering *g, const char *stem, heddle_expr *lower, heddle_expr *upper, bool reduction)
{
	heddle_index *index = rewrite_new_index(g->r, name_for(g->r, stem, g->s, g->out), lower, upper, reduction);
	index->location = g->s->location;
	index->position = MOST_INDICES;
	HEDDLE_PUSH(g->r->arena, g->out->index, g->out->n_index, index);
	return index;
}

/* Index x goes: it is `value`, in what is said of others, too. */
static void put_instead(gathering *g, int x, heddle_expr *value)
{
	heddle_expr *instead[2 * MOST_INDICES] = {NULL};
	instead[x] = g->by[x] = value;
	for (int i = 0; i < g->s->n_index; i++)
		g->by[i] = g->gone[i] ? rewrite_substitute(g->r, g->by[i], instead) : g->by[i];
	g->guard = g->guard ? rewrite_substitute(g->r, g->guard, instead) : NULL;
	g->gone[x] = true;
}

/* ---- two indices in a subscript --------------------------------------------------------------------------------------------------- */

/* The subscript s * u + d * k + rest. */
typedef struct two_indices {
	int u, k; /* u is the one that goes, of more elements */
	int64_t s, d;
	heddle_expr *rest;
	heddle_expr *least, *end; /* k is in least:end whatever u is */
} two_indices;

/* Remainders are gone through while compiling. */
enum { MOST_STRIDE = 65536 };

/* Two indices that no other subscript has and whose values are no other left-hand index's bounds. */
static bool find_two(const gathering *g, int e, two_indices *two)
{
	const heddle_statement *s = g->s;
	int64_t coefficient[2 * MOST_INDICES] = {0};
	heddle_expr *zero[2 * MOST_INDICES] = {NULL};
	int found[2], n = 0;
	if (divides(s->lhs[e]) || !coefficients(s->lhs[e], 1, coefficient))
		return false;
	for (int i = 0; i < s->n_index; i++) {
		if (!coefficient[i])
			continue;
		if (n == 2 || g->sc->known[i] || g->gone[i] || divides(s->index[i]->lower) || divides(s->index[i]->upper))
			return false;
		for (int f = 0; f < s->n_lhs; f++)
			if (f != e && mentions(s->lhs[f], s->index[i]))
				return false;
		for (int j = 0; j < s->n_index; j++)
			if (g->sc->known[j] && (mentions(s->index[j]->lower, s->index[i]) || mentions(s->index[j]->upper, s->index[i])))
				return false;
		zero[i] = rewrite_int(g->r, 0);
		found[n++] = i;
	}
	if (n < 2 || llabs(coefficient[found[0]]) > MOST_STRIDE || llabs(coefficient[found[1]]) > MOST_STRIDE)
		return false;
	const double a = (double)llabs(coefficient[found[0]]) * (double)length_of(g->r, s->index[found[0]]);
	const double b = (double)llabs(coefficient[found[1]]) * (double)length_of(g->r, s->index[found[1]]);
	*two = (two_indices){.u = found[a < b], .k = found[a >= b]};
	two->s = coefficient[two->u];
	two->d = coefficient[two->k];
	two->least = over_sizes(s->index[two->k]->lower, HEDDLE_OP_MAX);
	two->end = over_sizes(s->index[two->k]->upper, HEDDLE_OP_MIN);
	two->rest = rewrite_substitute(g->r, s->lhs[e], zero);
	return two->least && two->end;
}

static int64_t greatest_divisor(int64_t a, int64_t b)
{
	return b ? greatest_divisor(b, a % b) : llabs(a);
}

static int64_t quotient_down(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

static heddle_expr *times(rewriter *r, int64_t factor, heddle_expr *e)
{
	return factor == 1 ? e : rewrite_binary(r, HEDDLE_OP_MUL, rewrite_int(r, factor), e);
}

/* a + factor * b, b NULL: a */
static heddle_expr *plus(rewriter *r, heddle_expr *a, int64_t factor, heddle_expr *b)
{
	if (!b || factor == 0)
		return a;
	return rewrite_binary(r, factor < 0 ? HEDDLE_OP_SUB : HEDDLE_OP_ADD, a, times(r, llabs(factor), b));
}

static heddle_expr *plus_number(rewriter *r, heddle_expr *a, int64_t number)
{
	return plus(r, a, number < 0 ? -1 : 1, rewrite_int(r, llabs(number)));
}

/* `e` as a sum of `*whole`, whose parts `by` divides, and a number; false: it is none. */
static bool take_apart(rewriter *r, heddle_expr *e, int64_t sign, int64_t by, heddle_expr **whole, int64_t *number)
{
	int64_t value;
	if (heddle_expr_evaluate(e, NULL, &value) == 0)
		return !__builtin_add_overflow(*number, sign * value, number);
	if (heddle_extent_multiple(e, by)) {
		*whole = plus(r, *whole, sign, e);
		return true;
	}
	return e->kind == HEDDLE_EXPR_BINARY && (e->op == HEDDLE_OP_ADD || e->op == HEDDLE_OP_SUB) &&
	       take_apart(r, e->arg[0], sign, by, whole, number) &&
	       take_apart(r, e->arg[1], e->op == HEDDLE_OP_SUB ? -sign : sign, by, whole, number);
}

/* floor((length + constant - factor * rest) / by) for a remainder `rest` in 0:n (NULL: 0), without the division where that is a + b * rest. */
static heddle_expr *quotient(rewriter *r, heddle_expr *length, int64_t constant, int64_t factor, heddle_index *rest, int64_t n, int64_t by)
{
	heddle_expr *whole = rewrite_int(r, 0), *of_rest = rest ? rewrite_index(r, rest) : NULL;
	int64_t number = constant;
	if (take_apart(r, length, 1, by, &whole, &number)) {
		const int64_t first = quotient_down(number, by), step = n > 1 ? quotient_down(number - factor, by) - first : 0;
		bool linear = true;
		for (int64_t i = 1; i < n && rest; i++)
			linear = linear && quotient_down(number - factor * i, by) == first + step * i;
		heddle_expr *part = whole->kind == HEDDLE_EXPR_INT ? whole : rewrite_binary(r, HEDDLE_OP_DIV, whole, rewrite_int(r, by));
		if (linear)
			return plus(r, plus_number(r, part, first), step, of_rest);
	} else {
		whole = length;
		number = constant;
	}
	return rewrite_binary(r, HEDDLE_OP_DIV, plus(r, plus_number(r, whole, number), -factor, of_rest), rewrite_int(r, by));
}

/* The index of the elements s * q + d * r + begin, and their subscript; `*at` is where those of q = 0, r = 0 begin, over s.  NULL: where they
 * begin is not known. */
static heddle_expr *add_elements(gathering *g, int e, const two_indices *two, const heddle_expr *begin, int64_t n, heddle_index **remainder,
				 int64_t *first)
{
	rewriter *r = g->r;
	const int64_t s = two->s, d = two->d;
	int64_t at, last = INT64_MIN;
	if (s < 0 || heddle_expr_evaluate(begin, NULL, &at) < 0)
		return NULL;
	*first = INT64_MAX;
	for (int64_t i = 0; i < n; i++) {
		const int64_t q = quotient_down(s - 1 - at - d * i, s);
		*first = q < *first ? q : *first;
		last = q > last ? q : last;
	}
	heddle_index *q = add_index(g, "q", rewrite_int(r, 0), NULL, false);
	*remainder = n > 1 ? add_index(g, "r", rewrite_int(r, 0), rewrite_int(r, n), false) : NULL;
	if (last > *first)
		q->lower = quotient(r, rewrite_int(r, 0), s - 1 - at - s * *first, d, *remainder, n, s);
	q->upper = quotient(r, g->s->target->extent[e], s - 1 - at - s * *first, d, *remainder, n, s);
	heddle_expr *place = plus(r, times(r, s, rewrite_index(r, q)), d, *remainder ? rewrite_index(r, *remainder) : NULL);
	g->out->lhs[e] = plus_number(r, place, at + s * *first);
	return plus_number(r, rewrite_index(r, q), *first);
}

/* Elements of their own for each q and r, with what meets in them summed over t (above); false: it cannot be. */
static bool split_by_remainder(gathering *g, int e, const two_indices *two, bool *whole)
{
	rewriter *r = g->r;
	heddle_index *k = g->s->index[two->k];
	const int64_t s = two->s, common = greatest_divisor(s, two->d), parts = llabs(s) / common, step = (s < 0 ? -1 : 1) * two->d / common;
	const bool inside = two->least == k->lower && two->end == k->upper, stays = parts == 1 && inside;
	heddle_expr *length = plus(r, two->end, -1, two->least), *begin = stays ? two->rest : plus(r, two->rest, two->d, two->least), *source;
	heddle_index *remainder = NULL;
	int64_t taps = 0, n = parts, first;
	/* elements that no k reaches are given a value only where all are */
	if (!g->s->initialise && heddle_expr_evaluate(length, NULL, &taps) == 0 && taps > 0 && taps < parts)
		n = taps;
	if (llabs(s) == 1) {
		g->out->lhs[e] = rewrite_index(r, add_index(g, "e", rewrite_int(r, 0), g->s->target->extent[e], false));
		source = s > 0 ? plus(r, g->out->lhs[e], -1, begin) : plus(r, begin, -1, g->out->lhs[e]);
	} else if (!(source = add_elements(g, e, two, begin, n, &remainder, &first))) {
		return false;
	}
	*whole = *whole && common == 1 && n == parts;
	if (stays) {
		put_instead(g, two->u, plus(r, source, -step, rewrite_index(r, k)));
		return true;
	}
	heddle_expr *end = parts > 1 ? quotient(r, length, parts - 1, 1, remainder, n, parts) : length;
	heddle_expr *part = rewrite_index(r, add_index(g, "t", rewrite_int(r, 0), end, true));
	heddle_expr *tap = plus(r, times(r, parts, part), 1, remainder ? rewrite_index(r, remainder) : NULL);
	put_instead(g, two->k, plus(r, tap, 1, two->least));
	put_instead(g, two->u, plus(r, source, -step, part));
	g->inside[two->k] = inside;
	return true;
}

/* The elements are index e's; what meets in them is said by one index of the subscript, else by a condition. */
static void one_by_one(gathering *g, int e)
{
	rewriter *r = g->r;
	heddle_expr *now = rewrite_substitute(r, g->s->lhs[e], g->by);
	heddle_index *index = add_index(g, "e", rewrite_int(r, 0), g->s->target->extent[e], false);
	int64_t k = 0, c = 1, sign = 1;
	g->out->lhs[e] = rewrite_index(r, index);
	int x = index_divided(g->s, g->sc, now, g->gone, &k, &c);
	if (x >= 0) { /* c e + r - k, for what is left over by the division */
		heddle_index *left = add_index(g, "r", rewrite_int(r, 0), rewrite_int(r, c), true);
		heddle_expr *value = rewrite_binary(r, HEDDLE_OP_MUL, rewrite_int(r, c), g->out->lhs[e]);
		value = rewrite_binary(r, HEDDLE_OP_ADD, value, rewrite_index(r, left));
		put_instead(g, x, rewrite_binary(r, HEDDLE_OP_SUB, value, rewrite_int(r, k)));
		return;
	}
	x = index_to_go(r, g->s, g->sc, now, g->gone, &sign);
	const double elements = (double)estimate(r, g->s->target->extent[e]), most = elements / (double)(x < 0 ? 1 : length_of(r, g->s->index[x]));
	if (most > g->most) {
		g->most = most;
		g->at = e;
	}
	if (x < 0) {
		g->guard = both(r, g->guard, logical(r, HEDDLE_OP_EQ, now, g->out->lhs[e]));
		return;
	}
	heddle_expr *without[2 * MOST_INDICES] = {NULL};
	without[x] = rewrite_int(r, 0);
	heddle_expr *rest = rewrite_substitute(r, now, without);
	put_instead(g, x, rewrite_binary(r, HEDDLE_OP_SUB, sign > 0 ? g->out->lhs[e] : rest, sign > 0 ? rest : g->out->lhs[e]));
}

/* Is the subscript an index of all elements of the dimension? */
static bool goes_through(const heddle_statement *s, int e)
{
	const heddle_expr *x = s->lhs[e];
	return x->kind == HEDDLE_EXPR_INDEX && x->index->lower->kind == HEDDLE_EXPR_INT && x->index->lower->i == 0 &&
	       heddle_expr_equal(x->index->upper, s->target->extent[e]);
}

/* Indices of the elements instead of those that meet there. */
static void choose_elements(gathering *g)
{
	bool whole = true;
	for (int e = 0; e < g->s->n_lhs; e++) {
		two_indices two;
		if (g->sc->solved[e])
			whole = whole && goes_through(g->s, e);
		else if (!find_two(g, e, &two) || !split_by_remainder(g, e, &two, &whole))
			one_by_one(g, e);
	}
	g->out->whole = whole;
}

/* The statement, of whose left-hand indices each stands for elements of its own. */
static heddle_statement *gathered(rewriter *r, const heddle_statement *s, const scattered *sc, gathering *how)
{
	heddle_statement *out = HEDDLE_NEW(r->arena, heddle_statement);
	gathering g = {.r = r, .s = s, .sc = sc, .out = out};
	heddle_expr *now[2 * MOST_INDICES] = {NULL};
	heddle_index *kept[MOST_INDICES] = {NULL};
	*out = *s;
	out->apart = true;
	out->index = NULL;
	out->n_index = 0;
	out->lhs = HEDDLE_NEW_ARRAY(r->arena, heddle_expr *, s->n_lhs);
	for (int i = 0; i < s->n_index; i++) {
		kept[i] = HEDDLE_NEW(r->arena, heddle_index);
		*kept[i] = *s->index[i];
		kept[i]->reduction = s->index[i]->reduction || !sc->known[i];
		if (!kept[i]->reduction)
			HEDDLE_PUSH(r->arena, out->index, out->n_index, kept[i]);
	}
	choose_elements(&g);
	*how = g;
	for (int i = 0; i < s->n_index; i++)
		now[i] = g.gone[i] ? NULL : rewrite_index(r, kept[i]);
	for (int i = 0; i < s->n_index; i++)
		now[i] = g.gone[i] ? rewrite_substitute(r, g.by[i], now) : now[i];
	heddle_expr *guard = g.guard ? rewrite_substitute(r, g.guard, now) : NULL;
	for (int i = 0; i < s->n_index; i++) {
		heddle_expr *lower = rewrite_substitute(r, s->index[i]->lower, now), *upper = rewrite_substitute(r, s->index[i]->upper, now);
		if (g.gone[i] && !g.inside[i]) {
			guard = both(r, guard, logical(r, HEDDLE_OP_GE, now[i], lower));
			guard = both(r, guard, logical(r, HEDDLE_OP_LT, now[i], upper));
		}
		if (g.gone[i])
			continue;
		kept[i]->lower = lower;
		kept[i]->upper = upper;
		if (kept[i]->reduction)
			HEDDLE_PUSH(r->arena, out->index, out->n_index, kept[i]);
	}
	heddle_index **ordered = HEDDLE_NEW_ARRAY(r->arena, heddle_index *, out->n_index + 1); /* those of the left-hand side first */
	int n = 0;
	for (int reduction = 0; reduction < 2; reduction++)
		for (int i = 0; i < out->n_index; i++)
			if (out->index[i]->reduction == (reduction == 1))
				ordered[n++] = out->index[i];
	out->index = ordered;
	for (int i = 0; i < s->n_index; i++) /* what a subscript has 0 times */
		g.by[i] = sc->known[i] ? now[i] : rewrite_int(r, 0);
	for (int e = 0; e < s->n_lhs; e++)
		out->lhs[e] = sc->solved[e] ? rewrite_substitute(r, s->lhs[e], g.by) : out->lhs[e];
	heddle_expr *value = rewrite_substitute(r, s->value, now);
	out->value = guard ? guarded(r, guard, value, identity(r, s->assign, s->target->type, value->type)) : value;
	return out;
}

/* target(lhs) = identity. */
static heddle_statement *initialised(rewriter *r, const heddle_statement *s)
{
	heddle_statement *out = HEDDLE_NEW(r->arena, heddle_statement);
	heddle_expr *by[2 * MOST_INDICES] = {NULL};
	*out = *s;
	out->assign = HEDDLE_ASSIGN_SET;
	out->initialise = false;
	out->index = NULL;
	out->n_index = 0;
	out->lhs = HEDDLE_NEW_ARRAY(r->arena, heddle_expr *, s->n_lhs);
	for (int i = 0; i < s->n_index; i++) {
		if (s->index[i]->reduction)
			continue;
		heddle_index *index = HEDDLE_NEW(r->arena, heddle_index);
		*index = *s->index[i];
		by[i] = rewrite_index(r, index);
		HEDDLE_PUSH(r->arena, out->index, out->n_index, index);
	}
	for (int i = 0; i < out->n_index; i++) {
		out->index[i]->lower = rewrite_substitute(r, out->index[i]->lower, by);
		out->index[i]->upper = rewrite_substitute(r, out->index[i]->upper, by);
	}
	for (int e = 0; e < s->n_lhs; e++)
		out->lhs[e] = rewrite_substitute(r, s->lhs[e], by);
	out->value = identity(r, s->assign, s->target->type, s->target->type);
	return out;
}

/* May all elements of the target get the identity: is there none that only the caller or another statement has written? */
static bool is_all_its_own(const heddle_definition *d, const heddle_statement *s)
{
	if (s->target->role == HEDDLE_ROLE_INOUT || (s->target->zero_fill && s->assign != HEDDLE_ASSIGN_ADD))
		return false;
	for (int k = 0; k < d->n_statement; k++)
		if (d->statement[k] != s && d->statement[k]->target == s->target)
			return false;
	return true;
}

static bool is_scattered(const heddle_statement *s, scattered *sc)
{
	return s->assign != HEDDLE_ASSIGN_SET && s->n_index <= MOST_INDICES && s->n_lhs <= MOST_INDICES && find_scattered(s, sc);
}

static bool was_warned(const heddle_ctx *ctx, const heddle_location *at)
{
	for (const heddle_diagnostic *d = heddle_diagnostics(ctx); d; d = d->next)
		if (d->code == 215 && d->location.line == at->line && d->location.column == at->column)
			return true;
	return false;
}

void heddle_definition_warn_scatters(heddle_ctx *ctx, const heddle_definition *definition)
{
	enum { WORTH = 4 }; /* as many as two indices alike in length may take in two dimensions */
	heddle_arena *arena = heddle_arena_new();
	heddle_definition given = *definition;
	rewriter r = {.ctx = ctx, .arena = arena, .out = &given};
	for (int k = 0; k < definition->n_statement; k++) {
		const heddle_statement *s = definition->statement[k];
		scattered sc;
		gathering how = {0};
		if (is_scattered(s, &sc) && !heddle_expr_reads(s->value, s->target))
			gathered(&r, s, &sc, &how);
		if (how.most < WORTH || was_warned(ctx, &s->lhs[how.at]->location))
			continue;
		heddle_warning(ctx, 215, &s->lhs[how.at]->location, "the sum into `%s` is not solved for its terms: an element may test %.0f times as many as meet in it",
			       s->target->name, how.most);
		heddle_note(ctx, NULL, "a subscript of two indices with constant factors that no other subscript has is solved");
	}
	heddle_arena_free(arena);
}

const heddle_definition *heddle_definition_gather(heddle_ctx *ctx, heddle_arena *arena, const heddle_definition *definition)
{
	heddle_definition *out = NULL;
	heddle_definition given = *definition;
	rewriter r = {.ctx = ctx, .arena = arena, .out = &given};
	for (int k = 0; k < definition->n_statement; k++) {
		heddle_statement *s = definition->statement[k];
		scattered sc;
		const bool scatters = is_scattered(s, &sc);
		if (scatters && !out) {
			out = HEDDLE_NEW(arena, heddle_definition);
			*out = *definition;
			out->statement = NULL;
			out->n_statement = 0;
			r.out = out;
			for (int before = 0; before < k; before++)
				HEDDLE_PUSH(arena, out->statement, out->n_statement, definition->statement[before]);
		}
		if (!out)
			continue;
		heddle_statement *copy = HEDDLE_NEW(arena, heddle_statement);
		*copy = *s;
		const bool itself = heddle_expr_reads(s->value, s->target); /* in order, then */
		if (scatters && s->initialise && (itself || !is_all_its_own(definition, s))) {
			rewrite_push(&r, initialised(&r, s));
			copy->initialise = false;
		}
		if (scatters && !itself) {
			gathering how;
			heddle_statement *sum = gathered(&r, s, &sc, &how);
			sum->initialise = copy->initialise;
			copy = sum;
		}
		copy->position = out->n_statement;
		for (int i = 0; i < copy->n_index && scatters && !itself; i++)
			copy->index[i]->position = i;
		HEDDLE_PUSH(arena, out->statement, out->n_statement, copy);
	}
	return out ? out : definition;
}
