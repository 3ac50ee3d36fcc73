/* generate, the expressions: isl's affine functions and sets as values over sizes, coordinates and loop variables.
 * SPDX-License-Identifier: MIT
 */
#include "model/generate.h"

#include <isl/constraint.h>
#include <isl/local_space.h>
#include <isl/space.h>
#include <isl/val.h>
#include <string.h>

/* A sum in two halves, so that it reads well on either side of a comparison. */
typedef struct sum {
	heddle_generator *g;
	heddle_value *plus, *minus; /* NULL: nothing */
	heddle_value **less;	    /* what `minus` is the sum of */
	int n_less;
	int64_t constant;
} sum;

/* A number in the type of indices: one that it cannot hold would be another one. */
static heddle_value *number(heddle_generator *g, int64_t i)
{
	if (i != (int32_t)i)
		heddle_error(g->scop->ctx, 961, NULL, "generate: %lld in a kernel that computes indices in 32 bits", (long long)i);
	return heddle_value_int(g->program, HEDDLE_INT32, i);
}

static heddle_value *scaled(heddle_generator *g, heddle_value *value, int64_t by)
{
	return by == 1 ? value : heddle_value_binary(g->program, HEDDLE_OP_MUL, value, number(g, by));
}

static void add_term(sum *s, heddle_value *value, int64_t by)
{
	heddle_program *p = s->g->program;
	if (!by)
		return;
	if (value->kind == HEDDLE_VALUE_INT) {
		s->constant += by * value->i;
		return;
	}
	heddle_value **side = by > 0 ? &s->plus : &s->minus;
	heddle_value *term = scaled(s->g, value, by > 0 ? by : -by);
	*side = *side ? heddle_value_binary(p, HEDDLE_OP_ADD, *side, term) : term;
	if (by < 0)
		HEDDLE_PUSH(p->arena, s->less, s->n_less, term);
}

static heddle_value *whole(const sum *s)
{
	heddle_program *p = s->g->program;
	heddle_value *value = s->plus;
	int64_t constant = s->constant;
	if (!value) {
		value = number(s->g, constant);
		constant = 0;
	}
	for (int i = 0; i < s->n_less; i++)
		value = heddle_value_binary(p, HEDDLE_OP_SUB, value, s->less[i]);
	if (constant > 0)
		value = heddle_value_binary(p, HEDDLE_OP_ADD, value, number(s->g, constant));
	if (constant < 0)
		value = heddle_value_binary(p, HEDDLE_OP_SUB, value, number(s->g, -constant));
	return value;
}

static int64_t take(__isl_take isl_val *v)
{
	int64_t i = isl_val_get_num_si(v);
	isl_val_free(v);
	return i;
}

static heddle_value *parameter(heddle_generator *g, isl_aff *aff, int i)
{
	isl_space *space = isl_aff_get_domain_space(aff);
	const char *name = isl_space_get_dim_name(space, isl_dim_param, (unsigned)i);
	heddle_value *value = heddle_generate_parameter(g, name ? name : "");
	isl_space_free(space);
	return value;
}

static sum terms(heddle_generator *g, __isl_keep isl_aff *aff, heddle_value *const *x);

/* `aff` has the common denominator m: floor(aff), or m aff mod m.  What m divides stands outside of the division. */
static heddle_value *quotient(heddle_generator *g, __isl_take isl_aff *aff, heddle_value *const *x, heddle_value_kind kind)
{
	static const enum isl_dim_type type[] = {isl_dim_param, isl_dim_in};
	heddle_program *p = g->program;
	isl_val *denominator = isl_aff_get_denominator_val(aff);
	const int64_t m = isl_val_get_num_si(denominator);
	isl_aff *outside = isl_aff_zero_on_domain(isl_local_space_from_space(isl_aff_get_domain_space(aff)));
	for (size_t t = 0; t < HEDDLE_COUNT(type); t++)
		for (int i = 0; i < isl_aff_dim(aff, type[t]); i++) {
			isl_val *by = isl_aff_get_coefficient_val(aff, type[t], i);
			if (isl_val_is_int(by) == isl_bool_true && isl_val_is_zero(by) == isl_bool_false) {
				outside = isl_aff_set_coefficient_val(outside, type[t], i, isl_val_copy(by));
				aff = isl_aff_set_coefficient_si(aff, type[t], i, 0);
			}
			isl_val_free(by);
		}
	aff = isl_aff_scale_val(aff, denominator);
	sum numerator = terms(g, aff, x), rest = terms(g, outside, x);
	isl_aff_free(aff);
	isl_aff_free(outside);
	heddle_value *value = heddle_value_floor(p, kind, whole(&numerator), number(g, m));
	if (kind == HEDDLE_VALUE_FLOOR_MOD)
		return value;
	add_term(&rest, value, 1);
	return whole(&rest);
}

static bool is_free_of_terms(__isl_keep isl_aff *aff, __isl_keep isl_aff *of)
{
	static const enum isl_dim_type type[] = {isl_dim_param, isl_dim_in};
	for (size_t t = 0; t < HEDDLE_COUNT(type); t++)
		for (int i = 0; i < isl_aff_dim(of, type[t]); i++)
			if (take(isl_aff_get_coefficient_val(of, type[t], i)) && take(isl_aff_get_coefficient_val(aff, type[t], i)))
				return false;
	return true;
}

/* Where k * e - k * m * floor(e / m) is a part of `*aff`, the remainder k * (e mod m): the rest of the sum is left. */
static heddle_value *remainder_of(heddle_generator *g, isl_aff **aff, int div, heddle_value *const *x, int64_t *by)
{
	isl_aff *e = isl_aff_get_div(*aff, div); /* e / m */
	isl_val *m = isl_aff_get_denominator_val(e), *have = isl_aff_get_coefficient_val(*aff, isl_dim_div, div);
	heddle_value *value = NULL;
	if (isl_val_is_divisible_by(have, m) == isl_bool_true) {
		isl_val *k = isl_val_neg(isl_val_div(isl_val_copy(have), isl_val_copy(m)));
		isl_aff *part = isl_aff_scale_val(isl_aff_scale_val(isl_aff_copy(e), isl_val_copy(m)), isl_val_copy(k));
		isl_aff *floors = isl_aff_scale_val(isl_aff_floor(isl_aff_copy(e)), isl_val_copy(have));
		isl_aff *rest = isl_aff_sub(isl_aff_sub(isl_aff_copy(*aff), part), floors);
		if (rest && is_free_of_terms(rest, e)) {
			isl_aff_free(*aff);
			*aff = rest;
			*by = isl_val_get_num_si(k);
			value = quotient(g, isl_aff_copy(e), x, HEDDLE_VALUE_FLOOR_MOD);
		} else {
			isl_aff_free(rest);
		}
		isl_val_free(k);
	}
	isl_val_free(m);
	isl_val_free(have);
	isl_aff_free(e);
	return value;
}

/* Of an affine function with whole coefficients.  A subtraction may put isl's quotients in another order: each is looked at anew. */
static sum terms(heddle_generator *g, __isl_keep isl_aff *given, heddle_value *const *x)
{
	sum s = {.g = g};
	isl_aff *aff = isl_aff_copy(given);
	for (int i = 0; i < isl_aff_dim(aff, isl_dim_div); i++) {
		int64_t by = 0;
		heddle_value *value = NULL;
		isl_val *have = isl_aff_get_coefficient_val(aff, isl_dim_div, i);
		if (isl_val_is_zero(have) == isl_bool_false)
			value = remainder_of(g, &aff, i, x, &by);
		isl_val_free(have);
		if (!value)
			continue;
		add_term(&s, value, by);
		i = -1;
	}
	for (int i = 0; i < isl_aff_dim(aff, isl_dim_param); i++) {
		int64_t by = take(isl_aff_get_coefficient_val(aff, isl_dim_param, i));
		if (by)
			add_term(&s, parameter(g, aff, i), by);
	}
	for (int i = 0; i < isl_aff_dim(aff, isl_dim_in); i++) {
		int64_t by = take(isl_aff_get_coefficient_val(aff, isl_dim_in, i));
		if (by)
			add_term(&s, x[i], by);
	}
	for (int i = 0; i < isl_aff_dim(aff, isl_dim_div); i++) {
		int64_t by = take(isl_aff_get_coefficient_val(aff, isl_dim_div, i));
		if (by)
			add_term(&s, quotient(g, isl_aff_get_div(aff, i), x, HEDDLE_VALUE_FLOOR_DIV), by);
	}
	s.constant += take(isl_aff_get_constant_val(aff));
	isl_aff_free(aff);
	return s;
}

heddle_value *heddle_generate_aff(heddle_generator *g, __isl_take isl_aff *aff, heddle_value *const *x)
{
	isl_val *denominator = isl_aff_get_denominator_val(aff);
	const bool plain = isl_val_is_one(denominator) == isl_bool_true;
	isl_val_free(denominator);
	if (!plain)
		return quotient(g, aff, x, HEDDLE_VALUE_FLOOR_DIV);
	sum s = terms(g, aff, x);
	isl_aff_free(aff);
	return whole(&s);
}

/* plus + constant >= minus, or the two are equal. */
heddle_value *heddle_generate_comparison(heddle_generator *g, __isl_take isl_aff *aff, bool equal, heddle_value *const *x)
{
	heddle_program *p = g->program;
	sum s = terms(g, aff, x), side = {.g = g};
	isl_aff_free(aff);
	if (!s.plus && !s.minus)
		return heddle_value_int(p, HEDDLE_BOOL, equal ? s.constant == 0 : s.constant >= 0);
	heddle_value *plus = s.plus, *minus = s.minus;
	if (equal) {
		if (!plus || !minus)
			return heddle_value_binary(p, HEDDLE_OP_EQ, plus ? plus : minus,
						   number(g, plus ? -s.constant : s.constant));
		side.plus = plus;
		side.constant = s.constant;
		return heddle_value_binary(p, HEDDLE_OP_EQ, whole(&side), minus);
	}
	if (!minus)
		return heddle_value_binary(p, s.constant < 0 ? HEDDLE_OP_GT : HEDDLE_OP_GE, plus,
					   number(g, s.constant < 0 ? -s.constant - 1 : -s.constant));
	side.plus = s.constant < 0 ? minus : plus;
	side.constant = s.constant < 0 ? -s.constant - 1 : s.constant;
	if (!plus) /* minus <= constant */
		return heddle_value_binary(p, HEDDLE_OP_LE, minus, number(g, s.constant));
	return s.constant < 0 ? heddle_value_binary(p, HEDDLE_OP_LT, whole(&side), plus)
			      : heddle_value_binary(p, HEDDLE_OP_LE, minus, whole(&side));
}

/* ---- conditions ------------------------------------------------------------------------------------------------------------ */

/* aff >= 0, or = 0. */
typedef struct term {
	isl_aff *aff; /* NULL: left out */
	bool equal;
} term;

/* All of the terms hold. */
typedef struct clause {
	int n;
	term *term;
} clause;

typedef struct clauses {
	heddle_generator *g;
	int n;
	clause *clause;
} clauses;

static isl_stat add_constraint(__isl_take isl_constraint *constraint, void *user)
{
	clauses *c = user;
	clause *last = &c->clause[c->n - 1];
	if (isl_constraint_is_div_constraint(constraint) == isl_bool_false) {
		term one = {isl_constraint_get_aff(constraint), isl_constraint_is_equality(constraint) == isl_bool_true};
		HEDDLE_PUSH(c->g->program->arena, last->term, last->n, one);
	}
	isl_constraint_free(constraint);
	return isl_stat_ok;
}

static isl_stat add_basic_set(__isl_take isl_basic_set *part, void *user)
{
	clauses *c = user;
	clause new = {0};
	HEDDLE_PUSH(c->g->program->arena, c->clause, c->n, new);
	isl_stat stat = isl_basic_set_foreach_constraint(part, add_constraint, c);
	isl_basic_set_free(part);
	return stat;
}

static bool are_equal(const term *a, const term *b)
{
	return a->aff && b->aff && a->equal == b->equal && isl_aff_plain_is_equal(a->aff, b->aff) == isl_bool_true;
}

/* x >= 0 and -x - 1 >= 0. */
static bool are_opposite(const term *a, const term *b)
{
	if (!a->aff || !b->aff || a->equal || b->equal)
		return false;
	isl_aff *both_of = isl_aff_add(isl_aff_copy(a->aff), isl_aff_copy(b->aff));
	isl_val *one = isl_aff_get_constant_val(both_of);
	bool opposite = isl_aff_is_cst(both_of) == isl_bool_true && isl_val_is_negone(one) == isl_bool_true;
	isl_val_free(one);
	isl_aff_free(both_of);
	return opposite;
}

static bool has(const clause *in, const term *wanted)
{
	for (int i = 0; i < in->n; i++)
		if (are_equal(&in->term[i], wanted))
			return true;
	return false;
}

/* Does `other` hold where `from` does but for its term t? */
static bool covers(const clause *other, const clause *from, int t)
{
	bool opposite = false;
	for (int i = 0; i < other->n; i++) {
		const term *one = &other->term[i];
		if (!one->aff)
			continue;
		if (are_opposite(one, &from->term[t]))
			opposite = true;
		else if (!has(from, one))
			return false;
	}
	return opposite;
}

/* isl's parts are disjoint; a reader does not need that: `p or (not p and q)` is `p or q`. */
static void let_overlap(clauses *c)
{
	for (int i = 0; i < c->n; i++)
		for (int t = 0; t < c->clause[i].n; t++)
			for (int j = 0; j < c->n && c->clause[i].term[t].aff; j++)
				if (j != i && covers(&c->clause[j], &c->clause[i], t))
					c->clause[i].term[t].aff = isl_aff_free(c->clause[i].term[t].aff);
}

heddle_value *heddle_generate_condition(heddle_generator *g, __isl_take isl_set *set, heddle_value *const *x)
{
	heddle_program *p = g->program;
	clauses c = {.g = g};
	heddle_value *any = NULL;
	/* parts that become one may have a quotient that isl has no formula for any more */
	set = isl_set_compute_divs(isl_set_coalesce(isl_set_compute_divs(set)));
	isl_set_foreach_basic_set(set, add_basic_set, &c);
	isl_set_free(set);
	let_overlap(&c);
	for (int i = 0; i < c.n; i++) {
		heddle_value *all = NULL;
		for (int t = 0; t < c.clause[i].n; t++) {
			const term *one = &c.clause[i].term[t];
			if (!one->aff)
				continue;
			heddle_value *holds = heddle_generate_comparison(g, one->aff, one->equal, x);
			all = all ? heddle_value_binary(p, HEDDLE_OP_AND, all, holds) : holds;
		}
		all = all ? all : heddle_value_int(p, HEDDLE_BOOL, 1);
		any = any ? heddle_value_binary(p, HEDDLE_OP_OR, any, all) : all;
	}
	return any ? any : heddle_value_int(p, HEDDLE_BOOL, 0);
}

/* ---- functions in pieces ---------------------------------------------------------------------------------------------------- */

typedef struct pieces {
	heddle_generator *g;
	heddle_value *const *x;
	heddle_value *value;
} pieces;

static isl_stat add_piece(__isl_take isl_set *where, __isl_take isl_aff *aff, void *user)
{
	pieces *c = user;
	heddle_value *value = heddle_generate_aff(c->g, aff, c->x);
	if (c->value)
		value = heddle_value_select(c->g->program, heddle_generate_condition(c->g, isl_set_copy(where), c->x), value, c->value);
	c->value = value;
	isl_set_free(where);
	return isl_stat_ok;
}

/* The least (`most`: the greatest) of the pieces everywhere, as a function. */
static __isl_give isl_pw_aff *extremum(__isl_keep isl_pw_aff *function, __isl_keep isl_aff_list *piece, bool most)
{
	isl_pw_aff *all = NULL;
	for (int i = 0; i < isl_aff_list_size(piece); i++) {
		isl_pw_aff *one = isl_pw_aff_from_aff(isl_aff_list_get_aff(piece, i));
		all = !all ? one : most ? isl_pw_aff_max(all, one) : isl_pw_aff_min(all, one);
	}
	return isl_pw_aff_intersect_domain(all, isl_pw_aff_domain(isl_pw_aff_copy(function)));
}

static isl_stat add_function(__isl_take isl_set *where, __isl_take isl_aff *aff, void *user)
{
	isl_aff_list **list = user;
	*list = isl_aff_list_add(*list, aff);
	isl_set_free(where);
	return isl_stat_ok;
}

/* The function as min or max of its pieces, or NULL: it is neither. */
static heddle_value *as_extremum(heddle_generator *g, __isl_keep isl_pw_aff *function, heddle_value *const *x)
{
	heddle_value *value = NULL;
	isl_aff_list *piece = isl_aff_list_alloc(isl_pw_aff_get_ctx(function), isl_pw_aff_n_piece(function));
	isl_pw_aff_foreach_piece(function, add_function, &piece);
	for (int most = 0; most < 2 && !value; most++) {
		isl_pw_aff *same = extremum(function, piece, most);
		if (isl_pw_aff_is_equal(function, same) == isl_bool_true)
			for (int i = 0; i < isl_aff_list_size(piece); i++) {
				heddle_value *one = heddle_generate_aff(g, isl_aff_list_get_aff(piece, i), x);
				value = value ? heddle_value_binary(g->program, most ? HEDDLE_OP_MAX : HEDDLE_OP_MIN, value, one) : one;
			}
		isl_pw_aff_free(same);
	}
	isl_aff_list_free(piece);
	return value;
}

heddle_value *heddle_generate_pieces(heddle_generator *g, __isl_take isl_pw_aff *function, __isl_take isl_set *where,
				     heddle_value *const *x)
{
	pieces c = {.g = g, .x = x};
	if (isl_pw_aff_n_piece(function) > 1)
		function = isl_pw_aff_coalesce(isl_pw_aff_gist(isl_pw_aff_intersect_domain(function, isl_set_copy(where)), isl_set_copy(where)));
	isl_set_free(where);
	c.value = isl_pw_aff_n_piece(function) == 2 ? as_extremum(g, function, x) : NULL;
	if (!c.value)
		isl_pw_aff_foreach_piece(function, add_piece, &c);
	isl_pw_aff_free(function);
	return c.value ? c.value : heddle_value_int(g->program, HEDDLE_INT32, 0);
}
