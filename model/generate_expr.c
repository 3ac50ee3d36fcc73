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
	if (g->index_type == HEDDLE_INT32 && i != (int32_t)i)
		heddle_error(g->scop->ctx, 961, NULL, "generate: %lld in a kernel that computes indices in 32 bits", (long long)i);
	return heddle_value_int(g->program, g->index_type, i);
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

typedef struct conditions {
	heddle_generator *g;
	heddle_value *const *x;
	heddle_value *all, *any;
} conditions;

static isl_stat add_constraint(__isl_take isl_constraint *constraint, void *user)
{
	conditions *c = user;
	if (isl_constraint_is_div_constraint(constraint) != isl_bool_false) {
		isl_constraint_free(constraint);
		return isl_stat_ok;
	}
	heddle_value *one = heddle_generate_comparison(c->g, isl_constraint_get_aff(constraint),
						       isl_constraint_is_equality(constraint) == isl_bool_true, c->x);
	isl_constraint_free(constraint);
	c->all = c->all ? heddle_value_binary(c->g->program, HEDDLE_OP_AND, c->all, one) : one;
	return isl_stat_ok;
}

static isl_stat add_basic_set(__isl_take isl_basic_set *part, void *user)
{
	conditions *c = user;
	heddle_program *p = c->g->program;
	c->all = NULL;
	isl_stat stat = isl_basic_set_foreach_constraint(part, add_constraint, c);
	isl_basic_set_free(part);
	if (!c->all)
		c->all = heddle_value_int(p, HEDDLE_BOOL, 1);
	c->any = c->any ? heddle_value_binary(p, HEDDLE_OP_OR, c->any, c->all) : c->all;
	return stat;
}

heddle_value *heddle_generate_condition(heddle_generator *g, __isl_take isl_set *set, heddle_value *const *x)
{
	conditions c = {.g = g, .x = x};
	set = isl_set_coalesce(isl_set_compute_divs(set));
	isl_set_foreach_basic_set(set, add_basic_set, &c);
	isl_set_free(set);
	return c.any ? c.any : heddle_value_int(g->program, HEDDLE_BOOL, 0);
}

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

heddle_value *heddle_generate_pieces(heddle_generator *g, __isl_take isl_pw_aff *function, __isl_take isl_set *where,
				     heddle_value *const *x)
{
	pieces c = {.g = g, .x = x};
	if (isl_pw_aff_n_piece(function) > 1)
		function = isl_pw_aff_coalesce(isl_pw_aff_gist(isl_pw_aff_intersect_domain(function, isl_set_copy(where)), isl_set_copy(where)));
	isl_set_free(where);
	isl_pw_aff_foreach_piece(function, add_piece, &c);
	isl_pw_aff_free(function);
	return c.value ? c.value : heddle_value_int(g->program, g->index_type, 0);
}
