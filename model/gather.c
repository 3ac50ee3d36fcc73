/* Accumulations that meet in an element become sums over what meets there.
 *
 *   y(4 * f + k) +=! x(f, k)      becomes      y(e) +=! e - 4 * f >= 0 && e - 4 * f < K ? x(f, e - 4 * f) : 0
 *   y(i / 2) +=! x(i)             becomes      y(e) +=! 2 * e + r < N ? x(2 * e + r) : 0 where r in 0:2
 *
 * so that a left-hand index stands for elements, each of its own, and what meets there is a reduction like any other.  An index of the left
 * hand side goes where a subscript has it by itself, else all that a subscript has become reductions under its equation.
 * SPDX-License-Identifier: MIT
 */
#include "model/rewrite_parts.h"

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

/* The index of a subscript that its element and the other indices say: the last one that stands there by itself; `*sign`: 1 or -1.  -1: there
 * is none. */
static int index_to_go(const heddle_statement *s, const scattered *sc, const heddle_expr *subscript, const bool *gone, int64_t *sign)
{
	int64_t coefficient[2 * MOST_INDICES] = {0};
	if (!coefficients(subscript, 1, coefficient) || divides(subscript))
		return -1;
	for (int i = s->n_index - 1; i >= 0; i--) {
		const heddle_index *index = s->index[i];
		if (index->reduction || sc->known[i] || gone[i] || llabs(coefficient[i]) != 1 || divides(index->lower) || divides(index->upper))
			continue;
		bool free = true; /* no bound may go around in a circle */
		for (int k = 0; k < s->n_index; k++)
			free = free && (k == i || (!mentions(s->index[k]->lower, index) && !mentions(s->index[k]->upper, index)));
		*sign = coefficient[i];
		if (free)
			return i;
	}
	return -1;
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

/* Index x goes: it is `value`, in what is said of others, too. */
static void put_instead(rewriter *r, const heddle_statement *s, int x, heddle_expr *value, heddle_expr **by, bool *gone, heddle_expr **guard)
{
	heddle_expr *instead[2 * MOST_INDICES] = {NULL};
	instead[x] = by[x] = value;
	for (int i = 0; i < s->n_index; i++)
		by[i] = gone[i] ? rewrite_substitute(r, by[i], instead) : by[i];
	*guard = *guard ? rewrite_substitute(r, *guard, instead) : NULL;
	gone[x] = true;
}

/* Indices of the elements instead of those that meet there: `by[i]` is what index i is then, of those that go, in terms of the others. */
static void choose_elements(rewriter *r, const heddle_statement *s, const scattered *sc, heddle_statement *out, heddle_expr **by, bool *gone,
			    heddle_expr **guard)
{
	for (int e = 0; e < s->n_lhs; e++) {
		int64_t sign = 1;
		if (sc->solved[e])
			continue;
		heddle_index *index = rewrite_new_index(r, name_for(r, "e", s, out), rewrite_int(r, 0), s->target->extent[e], false);
		index->location = s->location;
		index->position = MOST_INDICES + e; /* until all have their places: none of the old ones */
		HEDDLE_PUSH(r->arena, out->index, out->n_index, index);
		out->lhs[e] = rewrite_index(r, index);
		heddle_expr *now = rewrite_substitute(r, s->lhs[e], by);
		int64_t k = 0, c = 1;
		int x = index_divided(s, sc, now, gone, &k, &c);
		if (x >= 0) { /* c e + r - k, for what is left over by the division */
			heddle_index *left = rewrite_new_index(r, name_for(r, "r", s, out), rewrite_int(r, 0), rewrite_int(r, c), true);
			left->location = s->location;
			left->position = MOST_INDICES + e;
			HEDDLE_PUSH(r->arena, out->index, out->n_index, left);
			heddle_expr *value = rewrite_binary(r, HEDDLE_OP_MUL, rewrite_int(r, c), out->lhs[e]);
			value = rewrite_binary(r, HEDDLE_OP_ADD, value, rewrite_index(r, left));
			value = rewrite_binary(r, HEDDLE_OP_SUB, value, rewrite_int(r, k));
			put_instead(r, s, x, value, by, gone, guard);
			continue;
		}
		x = index_to_go(s, sc, now, gone, &sign);
		if (x < 0) {
			*guard = both(r, *guard, logical(r, HEDDLE_OP_EQ, now, out->lhs[e]));
			continue;
		}
		heddle_expr *without[2 * MOST_INDICES] = {NULL};
		without[x] = rewrite_int(r, 0);
		heddle_expr *rest = rewrite_substitute(r, now, without);
		put_instead(r, s, x, rewrite_binary(r, HEDDLE_OP_SUB, sign > 0 ? out->lhs[e] : rest, sign > 0 ? rest : out->lhs[e]), by, gone, guard);
	}
}

/* The statement, of whose left-hand indices each stands for elements of its own. */
static heddle_statement *gathered(rewriter *r, const heddle_statement *s, const scattered *sc)
{
	heddle_statement *out = HEDDLE_NEW(r->arena, heddle_statement);
	heddle_expr *by[2 * MOST_INDICES] = {NULL}, *now[2 * MOST_INDICES] = {NULL}, *guard = NULL;
	heddle_index *kept[MOST_INDICES] = {NULL};
	bool gone[MOST_INDICES] = {false};
	*out = *s;
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
	choose_elements(r, s, sc, out, by, gone, &guard);
	for (int i = 0; i < s->n_index; i++)
		now[i] = gone[i] ? NULL : rewrite_index(r, kept[i]);
	for (int i = 0; i < s->n_index; i++)
		now[i] = gone[i] ? rewrite_substitute(r, by[i], now) : now[i];
	guard = guard ? rewrite_substitute(r, guard, now) : NULL;
	for (int i = 0; i < s->n_index; i++) {
		heddle_expr *lower = rewrite_substitute(r, s->index[i]->lower, now), *upper = rewrite_substitute(r, s->index[i]->upper, now);
		if (gone[i]) {
			guard = both(r, guard, logical(r, HEDDLE_OP_GE, now[i], lower));
			guard = both(r, guard, logical(r, HEDDLE_OP_LT, now[i], upper));
			continue;
		}
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
		by[i] = sc->known[i] ? now[i] : rewrite_int(r, 0);
	for (int e = 0; e < s->n_lhs; e++)
		out->lhs[e] = sc->solved[e] ? rewrite_substitute(r, s->lhs[e], by) : out->lhs[e];
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

const heddle_definition *heddle_definition_gather(heddle_ctx *ctx, heddle_arena *arena, const heddle_definition *definition)
{
	heddle_definition *out = NULL;
	rewriter r = {.ctx = ctx, .arena = arena};
	for (int k = 0; k < definition->n_statement; k++) {
		heddle_statement *s = definition->statement[k];
		scattered sc;
		const bool scatters = s->assign != HEDDLE_ASSIGN_SET && s->n_index <= MOST_INDICES && s->n_lhs <= MOST_INDICES && find_scattered(s, &sc);
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
			heddle_statement *sum = gathered(&r, s, &sc);
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
