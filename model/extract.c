/* extract: statements of the definition become domains and access relations.
 *
 * Enters: a definition.  Leaves: scop->stmt with domains, accesses and guards taken into the domain.
 * Guaranteed: domains are exact; every access relation contains all accesses, and is a function where `affine`.
 * SPDX-License-Identifier: MIT
 */
#include "model/scop.h"

#include <isl/space.h>
#include <math.h>
#include <string.h>

/* { S0[d0, d1] } */
static __isl_give isl_set *universe(heddle_scop *scop, const char *name, int n)
{
	heddle_text text = {0};
	heddle_text_printf(&text, "%s{ %s[", heddle_scop_params(scop, NULL), name);
	for (int i = 0; i < n; i++)
		heddle_text_printf(&text, "%sd%d", i ? ", " : "", i);
	heddle_text_add(&text, "] }");
	isl_set *set = isl_set_read_from_str(scop->isl, heddle_text_str(&text));
	heddle_text_free(&text);
	return set;
}

__isl_give isl_set *heddle_stmt_range(heddle_scop *scop, heddle_stmt *stmt, int dim)
{
	const heddle_index *index = stmt->source->index[dim];
	isl_pw_aff *lower = heddle_scop_bound(scop, stmt, index->lower);
	isl_pw_aff *upper = heddle_scop_bound(scop, stmt, index->upper);
	if (!lower || !upper) {
		isl_pw_aff_free(lower);
		isl_pw_aff_free(upper);
		if (heddle_scop_check(scop, "extract") == 0)
			heddle_error(scop->ctx, 610, &index->location, "the range of `%s` is not affine in sizes and indices",
			     index->name);
		return NULL;
	}
	isl_aff *self =
		isl_aff_var_on_domain(isl_local_space_from_space(isl_set_get_space(stmt->all)), isl_dim_set, (unsigned)dim);
	isl_pw_aff *d = isl_pw_aff_from_aff(self);
	isl_set *low = isl_pw_aff_ge_set(isl_pw_aff_copy(d), lower);
	isl_set *high = isl_pw_aff_lt_set(d, upper);
	return isl_set_intersect(low, high);
}

static int index_ranges(heddle_scop *scop, heddle_stmt *stmt)
{
	isl_set *all = isl_set_copy(stmt->all);
	for (int i = 0; i < stmt->n_dim; i++) {
		isl_set *range = heddle_stmt_range(scop, stmt, i);
		if (!range) {
			isl_set_free(all);
			return -1;
		}
		all = isl_set_intersect(all, range);
	}
	isl_set_free(stmt->all);
	stmt->all = isl_set_coalesce(isl_set_intersect_params(all, isl_set_copy(scop->context)));
	return 0;
}

/* Is `expr` the value that changes nothing under the statement's operator? */
static bool is_identity(const heddle_expr *expr, heddle_assign assign)
{
	double value, sign = 1;
	for (; expr->kind == HEDDLE_EXPR_CAST || (expr->kind == HEDDLE_EXPR_UNARY && expr->op == HEDDLE_OP_NEG); expr = expr->arg[0])
		sign = expr->kind == HEDDLE_EXPR_CAST ? sign : -sign;
	if (expr->kind == HEDDLE_EXPR_INT)
		value = sign * (double)expr->i;
	else if (expr->kind == HEDDLE_EXPR_FLOAT)
		value = sign * expr->f;
	else
		return false;
	switch (assign) {
	case HEDDLE_ASSIGN_ADD:
		return value == 0;
	case HEDDLE_ASSIGN_MUL:
		return value == 1;
	case HEDDLE_ASSIGN_MIN:
		return isinf(value) && value > 0;
	case HEDDLE_ASSIGN_MAX:
		return isinf(value) && value < 0;
	default:
		return false;
	}
}

/* `op=! g ? e : identity` with an affine guard becomes `e` on a smaller domain: padding costs nothing.  Not so with infinities where one
 * thread has vectors: lanes that are left out are cheaper as such a value than as lanes that are asked one by one (measured: 1.2 times). */
static void take_guard(heddle_scop *scop, heddle_stmt *stmt)
{
	const heddle_expr *value = stmt->source->value;
	const heddle_expr *inner = value;
	while (inner->kind == HEDDLE_EXPR_CAST && inner->type == inner->arg[0]->type)
		inner = inner->arg[0];
	stmt->value = value;
	if (inner->kind != HEDDLE_EXPR_SELECT)
		return;
	bool direct = is_identity(inner->arg[2], stmt->source->assign);
	bool inverse = !direct && is_identity(inner->arg[1], stmt->source->assign);
	const bool infinite = stmt->source->assign == HEDDLE_ASSIGN_MIN || stmt->source->assign == HEDDLE_ASSIGN_MAX;
	if ((!direct && !inverse) || (infinite && scop->descriptor->execution == HEDDLE_SIMD))
		return;
	isl_set *guard = heddle_scop_condition(scop, stmt, inner->arg[0]);
	if (!guard)
		return;
	if (inverse)
		guard = heddle_complement(guard);
	if (!guard)
		return;
	stmt->domain = isl_set_coalesce(isl_set_intersect(stmt->domain, guard));
	stmt->value = inner->arg[direct ? 1 : 2];
}

static __isl_give isl_map *bounded(heddle_scop *scop, const heddle_stmt *stmt, const heddle_tensor *tensor, int dim,
				   __isl_take isl_map *relation)
{
	isl_pw_aff *extent = heddle_scop_bound(scop, stmt, tensor->extent[dim]);
	if (!extent)
		return relation;
	/* 0 <= e_dim < extent, the extent as a function of the instance */
	isl_space *space = isl_map_get_space(relation);
	isl_map *low = isl_map_universe(isl_space_copy(space));
	low = isl_map_lower_bound_si(low, isl_dim_out, (unsigned)dim, 0);
	isl_map *high = isl_map_from_pw_aff(extent);			   /* { S -> [x] } */
	isl_map *less = isl_map_read_from_str(scop->isl, "{ [x] -> [y] : y < x }");
	high = isl_map_apply_range(high, less);				   /* { S -> [y] : y < extent } */
	unsigned rank = (unsigned)isl_map_dim(relation, isl_dim_out);
	high = isl_map_insert_dims(high, isl_dim_out, 0, (unsigned)dim);
	high = isl_map_add_dims(high, isl_dim_out, rank - (unsigned)dim - 1);
	high = isl_map_set_tuple_id(high, isl_dim_out, isl_space_get_tuple_id(space, isl_dim_out));
	isl_space_free(space);
	return isl_map_intersect(relation, isl_map_intersect(low, high));
}

static int add_access(heddle_scop *scop, heddle_stmt *stmt, heddle_tensor *tensor, heddle_expr **subscript,
		      const heddle_expr *expr)
{
	heddle_access access = {.tensor = tensor, .expr = expr, .affine = true, .write = !expr};
	isl_set *target = universe(scop, heddle_arena_printf(scop->arena, "T_%s", tensor->name), tensor->rank);
	isl_space *space =
		isl_space_map_from_domain_and_range(isl_set_get_space(stmt->all), isl_set_get_space(target));
	isl_set_free(target);
	isl_pw_aff *part[HEDDLE_MAX_DIM] = {0};
	for (int i = 0; i < tensor->rank; i++)
		if (!(part[i] = heddle_scop_pw_aff(scop, stmt, subscript[i])))
			access.affine = false;
	if (access.affine) {
		isl_pw_aff_list *list = isl_pw_aff_list_alloc(scop->isl, tensor->rank);
		for (int i = 0; i < tensor->rank; i++)
			list = isl_pw_aff_list_add(list, part[i]);
		access.index = isl_multi_pw_aff_from_pw_aff_list(space, list);
		if (!tensor->rank && expr)
			access.index = isl_multi_pw_aff_intersect_domain(access.index, isl_set_copy(stmt->all));
		access.relation = isl_map_from_multi_pw_aff(isl_multi_pw_aff_copy(access.index));
		if (!tensor->rank) /* but a target has a value even where nothing is summed */
			access.relation = isl_map_intersect_domain(access.relation, isl_set_copy(stmt->all));
	} else {
		access.relation = isl_map_universe(space);
		for (int i = 0; i < tensor->rank; i++) {
			if (!part[i]) {
				access.relation = bounded(scop, stmt, tensor, i, access.relation);
				continue;
			}
			isl_map *one = isl_map_from_pw_aff(part[i]);
			isl_id *id = isl_map_get_tuple_id(access.relation, isl_dim_out);
			one = isl_map_insert_dims(one, isl_dim_out, 0, (unsigned)i);
			one = isl_map_add_dims(one, isl_dim_out, (unsigned)(tensor->rank - i - 1));
			access.relation = isl_map_intersect(access.relation, isl_map_set_tuple_id(one, isl_dim_out, id));
		}
		if (heddle_scop_check(scop, "extract") < 0)
			return -1;
		if (access.write)
			return heddle_error(scop->ctx, 611, &stmt->source->location, "`%s` is written at an indirect subscript",
					    tensor->name);
	}
	access.relation = isl_map_intersect_domain(access.relation, isl_set_copy(stmt->domain));
	HEDDLE_PUSH(scop->arena, stmt->access, stmt->n_access, access);
	return 0;
}

/* A set that contains all instances for which the condition is `truth`: what is not affine in it is left out. */
static __isl_give isl_set *where_condition(heddle_scop *scop, const heddle_stmt *stmt, const heddle_expr *expr, bool truth)
{
	if (expr->kind == HEDDLE_EXPR_BINARY && expr->op == (truth ? HEDDLE_OP_AND : HEDDLE_OP_OR)) {
		isl_set *first = where_condition(scop, stmt, expr->arg[0], truth);
		isl_set *both = heddle_few_pieces(
			isl_set_intersect(isl_set_copy(first), where_condition(scop, stmt, expr->arg[1], truth)));
		if (!both)
			return first;
		isl_set_free(first);
		return both;
	}
	isl_set *set = heddle_scop_condition(scop, stmt, expr);
	if (set && !truth)
		set = heddle_complement(set);
	return set ? set : isl_set_universe(isl_set_get_space(stmt->all));
}

/* The reads of an expression, each for the instances that may choose it. */
static int reads(heddle_scop *scop, heddle_stmt *stmt, const heddle_expr *expr, __isl_keep isl_set *chosen)
{
	for (int i = 0; i < expr->n_arg; i++) {
		isl_set *here = isl_set_copy(chosen);
		if (expr->kind == HEDDLE_EXPR_SELECT && i > 0)
			here = heddle_few_pieces(isl_set_intersect(here, where_condition(scop, stmt, expr->arg[0], i == 1)));
		if (!here)
			here = isl_set_copy(chosen);
		int status = reads(scop, stmt, expr->arg[i], here);
		isl_set_free(here);
		if (status < 0)
			return -1;
	}
	if (expr->kind != HEDDLE_EXPR_READ)
		return 0;
	if (add_access(scop, stmt, expr->tensor, expr->arg, expr) < 0)
		return -1;
	heddle_access *access = &stmt->access[stmt->n_access - 1];
	access->relation = isl_map_intersect_domain(access->relation, isl_set_copy(chosen));
	if (access->affine && isl_set_is_equal(chosen, stmt->all) == isl_bool_false)
		access->index = isl_multi_pw_aff_intersect_domain(access->index, isl_set_copy(chosen));
	return 0;
}

static heddle_stmt *extract_one(heddle_scop *scop, heddle_statement *source)
{
	heddle_stmt *stmt = HEDDLE_NEW(scop->arena, heddle_stmt);
	stmt->position = source->position;
	stmt->name = heddle_arena_printf(scop->arena, "S%d", source->position);
	stmt->source = source;
	stmt->n_dim = source->n_index;
	HEDDLE_PUSH(scop->arena, scop->stmt, scop->n_stmt, stmt);
	if (stmt->n_dim > HEDDLE_MAX_DIM) {
		heddle_error(scop->ctx, 612, &source->location, "a statement can have at most %d indices", HEDDLE_MAX_DIM);
		return NULL;
	}
	bool any = false;
	for (int i = 0; i < stmt->n_dim; i++) {
		stmt->dim[i].name = source->index[i]->name;
		stmt->dim[i].reduction = source->index[i]->reduction;
		stmt->dim[i].member = -1;
		any |= source->index[i]->reduction;
	}
	stmt->all = universe(scop, stmt->name, stmt->n_dim);
	if (index_ranges(scop, stmt) < 0)
		return NULL;
	stmt->domain = isl_set_copy(stmt->all);
	take_guard(scop, stmt);
	/* With nothing to reduce, `op=!` is an assignment (unless a guard leaves elements out) and `op=` an update. */
	bool accumulates = source->assign != HEDDLE_ASSIGN_SET;
	bool guarded = stmt->value != source->value;
	stmt->reduction = accumulates && (any || (source->initialise && guarded));
	stmt->initialise = source->initialise && stmt->reduction;
	if (add_access(scop, stmt, source->target, source->lhs, NULL) < 0 || reads(scop, stmt, stmt->value, stmt->all) < 0)
		return NULL;
	return stmt;
}

/* Preconditions that contradict each other leave nothing to compile. */
static int check_context(heddle_scop *scop)
{
	const heddle_definition *d = scop->definition;
	if (isl_set_is_empty(scop->context) != isl_bool_true)
		return 0;
	heddle_error(scop->ctx, 213, &d->location, "no sizes meet all preconditions of `%s`", d->name);
	for (int i = 0; i < d->n_precondition; i++) {
		heddle_text text = {0};
		heddle_expr_print(d->precondition[i], &text);
		heddle_note(scop->ctx, &d->precondition[i]->location, "requires %s", heddle_text_str(&text));
		heddle_text_free(&text);
	}
	return -1;
}

int heddle_pass_extract(heddle_scop *scop)
{
	if (check_context(scop) < 0)
		return -1;
	for (int i = 0; i < scop->definition->n_statement; i++)
		if (!extract_one(scop, scop->definition->statement[i]))
			return -1;
	return heddle_scop_check(scop, "extract");
}
