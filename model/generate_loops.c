/* generate, the loops: the tree of leaves of a branch becomes loops and conditions around them.
 *
 * Each loop of the tree is at most one loop of the text.  Its bounds are what the sets of the leaves below have in common, outside in,
 * less what is known already; what else a leaf needs is a condition around it.  So each leaf runs exactly its own instances, in
 * the order of the tree.
 * SPDX-License-Identifier: MIT
 */
#include "model/generate.h"
#include "model/plain.h"

#include <isl/constraint.h>
#include <isl/val.h>
#include <string.h>

typedef struct scanner {
	heddle_generator *g;
	heddle_value *x[4 * HEDDLE_MAX_DIM]; /* loops around, from outside in */
} scanner;

/* What bounds one loop over x: c x + rest >= 0, or = 0. */
typedef struct bound {
	int64_t c;
	isl_aff *rest; /* over the loops around */
	bool equal;
} bound;

typedef struct bounds {
	scanner *s;
	int depth, n;
	bound *bound;
	heddle_value *lower, *upper; /* lower <= x < upper */
	heddle_value *only;	     /* x = only */
	heddle_value *guard;	     /* must hold around it */
	bool from_last;		     /* the upper bound is written as the last value and one */
} bounds;

/* ---- threads that differ ------------------------------------------------------------------------------------------------ */

/* The greatest (`most`) or least of what the value is for all threads, the same for each of them; NULL where that is not seen. */
static heddle_value *extreme(heddle_generator *g, heddle_value *value, bool most)
{
	heddle_program *p = g->program;
	const heddle_op op = value->op;
	if (!heddle_generate_varies(g, value))
		return value;
	if (value->kind == HEDDLE_VALUE_VARIABLE) {
		int64_t extent = g->varying_extent[heddle_generate_find_varying(g, value->name)];
		return extent ? heddle_value_int(p, value->type, most ? extent - 1 : 0) : NULL;
	}
	const bool divides = value->kind == HEDDLE_VALUE_FLOOR_DIV && !heddle_generate_varies(g, value->arg[1]);
	const bool scales = value->kind == HEDDLE_VALUE_BINARY && op == HEDDLE_OP_MUL;
	if (value->kind != HEDDLE_VALUE_BINARY && !divides)
		return NULL;
	heddle_value *a = value->arg[0], *b = value->arg[1];
	if (scales && a->kind == HEDDLE_VALUE_INT) {
		a = value->arg[1];
		b = value->arg[0];
	}
	if (scales && b->kind != HEDDLE_VALUE_INT)
		return NULL;
	if (!scales && !divides && op != HEDDLE_OP_ADD && op != HEDDLE_OP_SUB && op != HEDDLE_OP_MIN && op != HEDDLE_OP_MAX)
		return NULL;
	a = extreme(g, a, scales && b->i < 0 ? !most : most);
	b = scales || divides ? b : extreme(g, b, op == HEDDLE_OP_SUB ? !most : most);
	if (!a || !b)
		return NULL;
	return divides ? heddle_value_floor(p, HEDDLE_VALUE_FLOOR_DIV, a, b) : heddle_value_binary(p, op, a, b);
}

static bool has_names(const heddle_node *block)
{
	bool found = false;
	for (int i = 0; i < block->n_child; i++)
		found |= block->child[i]->kind == HEDDLE_NODE_LET || block->child[i]->kind == HEDDLE_NODE_DECLARE;
	return found;
}

/* What the condition says of all threads alike, or NULL: nothing. */
static heddle_value *uniform_part(heddle_generator *g, heddle_value *condition)
{
	if (!heddle_generate_varies(g, condition))
		return condition;
	if (condition->kind != HEDDLE_VALUE_BINARY || (condition->op != HEDDLE_OP_AND && condition->op != HEDDLE_OP_OR))
		return NULL;
	heddle_value *a = uniform_part(g, condition->arg[0]), *b = uniform_part(g, condition->arg[1]);
	if (a && b)
		return heddle_value_binary(g->program, condition->op, a, b);
	return condition->op == HEDDLE_OP_AND ? (a ? a : b) : NULL;
}

/* `if (condition) node` with the barriers of the node outside of the condition. */
static heddle_node *around_barriers(heddle_generator *g, heddle_value *condition, heddle_node *node)
{
	heddle_program *p = g->program;
	if (node->kind == HEDDLE_NODE_BARRIER)
		return node;
	if (!heddle_node_find(node, HEDDLE_NODE_BARRIER) || (node->kind == HEDDLE_NODE_BLOCK ? has_names(node) : !node->uniform))
		return heddle_node_if(p, condition, node, NULL);
	for (int i = 0; i < node->n_child; i++)
		node->child[i] = around_barriers(g, condition, node->child[i]);
	return node;
}

/* Where what runs before a barrier has a condition on the thread that the barrier has, too, both may come to stand under it: the same for
 * all threads, but nobody sees that.  The barrier moves out, under what the condition says of all threads
 * alike.  There may be barriers too many then, but all threads come to each. */
static heddle_node *conditional(heddle_generator *g, heddle_value *condition, heddle_node *then, heddle_node *otherwise)
{
	if (otherwise || !heddle_node_find(then, HEDDLE_NODE_BARRIER) || !heddle_generate_varies(g, condition)) {
		heddle_node *node = heddle_node_if(g->program, condition, then, otherwise);
		node->uniform = !heddle_generate_varies(g, condition);
		return node;
	}
	heddle_value *all = uniform_part(g, condition);
	heddle_node *parts = around_barriers(g, condition, then);
	return all ? conditional(g, all, parts, NULL) : parts;
}

/* ---- sets ------------------------------------------------------------------------------------------------------------------ */

static void collect(const heddle_nest *nest, heddle_leaf **leaf, int *n)
{
	if (nest->kind == HEDDLE_NEST_LEAF)
		leaf[(*n)++] = nest->leaf;
	for (int i = 0; i < nest->n_child; i++)
		collect(nest->child[i], leaf, n);
}

/* { [x0 .. x_n-1] } that the leaf runs. */
static __isl_give isl_set *outer_loops(const heddle_leaf *leaf, int n)
{
	isl_set *set = isl_set_reset_tuple_id(isl_set_copy(leaf->spread));
	return n < leaf->n_loop ? isl_set_project_out(set, isl_dim_set, (unsigned)n, (unsigned)(leaf->n_loop - n)) : set;
}

/* { [x0 .. x_n-1] } of any of the leaves, without quotients. */
static __isl_give isl_set *any_of(heddle_leaf *const *leaf, int n_leaf, int n)
{
	isl_set *all = NULL;
	for (int i = 0; i < n_leaf; i++) {
		isl_set *one = outer_loops(leaf[i], n);
		all = all ? isl_set_union(all, one) : one;
	}
	return isl_set_coalesce(isl_set_remove_divs(all));
}

/* The convex set around them. */
static __isl_give isl_set *common(const heddle_scop *scop, heddle_leaf *const *leaf, int n_leaf, int n)
{
	return heddle_scop_hull(scop, any_of(leaf, n_leaf, n));
}

/* ---- bounds ---------------------------------------------------------------------------------------------------------------- */

static heddle_value *both(heddle_program *p, heddle_op op, heddle_value *a, heddle_value *b)
{
	return a ? heddle_value_binary(p, op, a, b) : b;
}

static isl_stat add_bound(__isl_take isl_constraint *constraint, void *user)
{
	bounds *b = user;
	isl_val *coefficient = isl_constraint_get_coefficient_val(constraint, isl_dim_set, b->depth);
	bound here = {.c = isl_val_get_num_si(coefficient), .equal = isl_constraint_is_equality(constraint) == isl_bool_true};
	isl_val_free(coefficient);
	here.rest = isl_constraint_get_aff(constraint);
	isl_constraint_free(constraint);
	here.rest = isl_aff_set_coefficient_si(here.rest, isl_dim_in, b->depth, 0);
	HEDDLE_PUSH(b->s->g->program->arena, b->bound, b->n, here);
	return isl_stat_ok;
}

static isl_stat add_bounds(__isl_take isl_basic_set *set, void *user)
{
	isl_stat stat = isl_basic_set_foreach_constraint(set, add_bound, user);
	isl_basic_set_free(set);
	return stat;
}

/* What is to be rounded down: ceil(-rest / c) where c > 0, else floor(rest / -c); of an equality -rest / c. */
static __isl_give isl_aff *limit(const bound *b)
{
	const int64_t by = b->c > 0 ? b->c : -b->c;
	isl_aff *aff = isl_aff_copy(b->rest);
	if (b->c > 0)
		aff = isl_aff_add_constant_si(isl_aff_neg(aff), b->equal ? 0 : (int)by - 1);
	isl_val *size = isl_val_int_from_si(isl_aff_get_ctx(aff), (long)by);
	return isl_aff_scale_down_val(aff, size);
}

/* Do the two leave one value at most?  They are c x + r >= 0 and -c x - r + w >= 0 with w < c. */
static bool leave_one(const bound *low, const bound *high)
{
	if (low->equal || high->equal || low->c <= 0 || high->c != -low->c)
		return false;
	isl_aff *width = isl_aff_add(isl_aff_copy(low->rest), isl_aff_copy(high->rest));
	isl_val *most = isl_aff_get_constant_val(width);
	bool one = isl_aff_is_cst(width) == isl_bool_true && isl_val_get_num_si(most) < low->c;
	isl_val_free(most);
	isl_aff_free(width);
	return one;
}

/* The value that x has, if it can have one only, and the constraint that it is the limit of. */
static __isl_give isl_aff *only_value(const bounds *b, int *from)
{
	for (int i = 0; i < b->n; i++)
		if (b->bound[i].equal && b->bound[i].c) {
			*from = i;
			return isl_aff_floor(limit(&b->bound[i]));
		}
	for (int i = 0; i < b->n; i++)
		for (int j = 0; j < b->n; j++)
			if (leave_one(&b->bound[i], &b->bound[j])) {
				*from = i;
				return isl_aff_floor(limit(&b->bound[i]));
			}
	return NULL;
}

/* From the constraints: bounds of the loop, or its only value and when that is one. */
static void settle(bounds *b)
{
	heddle_generator *g = b->s->g;
	heddle_program *p = g->program;
	int from = -1;
	isl_aff *only = only_value(b, &from);
	if (only)
		b->only = heddle_generate_aff(g, isl_aff_copy(only), b->s->x);
	for (int i = 0; i < b->n; i++) {
		const bound *one = &b->bound[i];
		if (i == from && !one->equal)
			continue; /* it holds there */
		if (only || !one->c) {
			isl_aff *at = isl_aff_copy(one->rest);
			if (one->c)
				at = isl_aff_add(at, isl_aff_scale_val(isl_aff_copy(only), isl_val_int_from_si(isl_aff_get_ctx(only), (long)one->c)));
			heddle_value *holds = heddle_generate_comparison(g, at, one->equal, b->s->x);
			if (!heddle_value_is_int(holds, 1))
				b->guard = both(p, HEDDLE_OP_AND, b->guard, holds);
			continue;
		}
		if (one->c > 0) {
			b->lower = both(p, HEDDLE_OP_MAX, b->lower, heddle_generate_aff(g, limit(one), b->s->x));
		} else { /* x < floor(rest / -c) + 1 */
			const int more = b->from_last ? 0 : (int)-one->c;
			bound past = {.c = one->c, .rest = isl_aff_add_constant_si(isl_aff_copy(one->rest), more)};
			b->upper = both(p, HEDDLE_OP_MIN, b->upper, heddle_generate_aff(g, limit(&past), b->s->x));
			isl_aff_free(past.rest);
		}
	}
	if (b->from_last && b->upper)
		b->upper = b->upper->kind == HEDDLE_VALUE_INT
				   ? heddle_value_int(p, HEDDLE_INT32, b->upper->i + 1)
				   : heddle_value_binary(p, HEDDLE_OP_ADD, b->upper, heddle_value_int(p, HEDDLE_INT32, 1));
	isl_aff_free(only);
	for (int i = 0; i < b->n; i++)
		isl_aff_free(b->bound[i].rest);
}

/* Adds the loop of one part of what it runs to the others': from the least beginning to the greatest end. */
static isl_stat add_part(__isl_take isl_basic_set *set, void *user)
{
	bounds *b = user, part = {.s = b->s, .depth = b->depth, .from_last = b->from_last};
	heddle_program *p = b->s->g->program;
	if (add_bounds(set, &part) != isl_stat_ok)
		return isl_stat_error;
	settle(&part);
	if (part.only) {
		part.lower = part.only;
		part.upper = heddle_value_binary(p, HEDDLE_OP_ADD, part.only, heddle_value_int(p, HEDDLE_INT32, 1));
	}
	if (!part.lower || !part.upper)
		return isl_stat_error;
	b->lower = both(p, HEDDLE_OP_MIN, b->lower, part.lower);
	b->upper = both(p, HEDDLE_OP_MAX, b->upper, part.upper);
	return isl_stat_ok;
}

/* Where all that runs is in no finite hull, as below max(N, M): the ends that it lacks are those of its parts.  What lies between them the leaves
 * leave out. */
static void settle_apart(bounds *b, heddle_leaf *const *leaf, int n)
{
	bounds parts = {.s = b->s, .depth = b->depth, .from_last = b->from_last};
	isl_set *all = any_of(leaf, n, b->depth + 1);
	if (isl_set_foreach_basic_set(all, add_part, &parts) == isl_stat_ok) {
		b->lower = b->lower ? b->lower : parts.lower;
		b->upper = b->upper ? b->upper : parts.upper;
	}
	isl_set_free(all);
}

/* ---- loops ----------------------------------------------------------------------------------------------------------------- */

static heddle_node *scan(scanner *s, const heddle_nest *nest, int depth, __isl_keep isl_set *known);

static heddle_node *scan_children(scanner *s, const heddle_nest *nest, int depth, __isl_keep isl_set *known)
{
	if (nest->n_child == 1)
		return scan(s, nest->child[0], depth, known);
	heddle_node *block = heddle_node_block(s->g->program);
	for (int i = 0; i < nest->n_child; i++)
		heddle_node_append(s->g->program, block, scan(s, nest->child[i], depth, known));
	return block;
}

static heddle_node *scan_leaf(scanner *s, heddle_leaf *leaf, __isl_keep isl_set *known)
{
	isl_set *runs = outer_loops(leaf, leaf->n_loop);
	if (heddle_plainly_inside(known, runs)) {
		isl_set_free(runs);
		return heddle_generate_leaf(s->g, leaf, s->x);
	}
	runs = isl_set_gist(runs, isl_set_copy(known));
	if (isl_set_is_empty(runs) == isl_bool_true) {
		isl_set_free(runs);
		return heddle_node_block(s->g->program);
	}
	heddle_value *condition = heddle_generate_condition(s->g, runs, s->x);
	heddle_node *node = heddle_generate_leaf(s->g, leaf, s->x);
	return heddle_value_is_int(condition, 1) ? node : conditional(s->g, condition, node, NULL);
}

/* Registers are indexed by a loop that is unrolled: it has all of its rounds, and the bounds become a condition inside. */
static heddle_node *all_rounds(heddle_generator *g, const heddle_nest *nest, heddle_value *x, heddle_value **lower, heddle_value **upper,
			       heddle_node *body)
{
	heddle_program *p = g->program;
	heddle_value *inside = NULL;
	if (!heddle_value_is_int(*lower, 0))
		inside = heddle_value_binary(p, HEDDLE_OP_GE, x, *lower);
	if (!heddle_value_is_int(*upper, nest->extent))
		inside = both(p, HEDDLE_OP_AND, inside, heddle_value_binary(p, HEDDLE_OP_LT, x, *upper));
	if (inside) {
		body = heddle_node_if(p, inside, body, NULL);
		body->uniform = !heddle_generate_varies(g, inside);
	}
	*lower = heddle_value_int(p, HEDDLE_INT32, 0);
	*upper = heddle_value_int(p, HEDDLE_INT32, nest->extent);
	return body;
}

/* Where x goes in steps the loop does, from an offset; `inside` then says so.  1: it takes each value. */
static int64_t stride_of(scanner *s, const heddle_leaf *leaf, int depth, heddle_value **offset, isl_set **inside)
{
	isl_set *set = outer_loops(leaf, depth + 1);
	isl_stride_info *info = isl_set_get_stride_info(set, depth);
	isl_val *stride = isl_stride_info_get_stride(info);
	const int64_t step = isl_val_get_num_si(stride);
	if (step > 1) {
		isl_aff *first = isl_stride_info_get_offset(info);
		isl_aff *x = isl_aff_var_on_domain(isl_local_space_from_space(isl_set_get_space(set)), isl_dim_set, (unsigned)depth);
		*offset = heddle_generate_aff(s->g, isl_aff_copy(first), s->x);
		isl_aff *apart = isl_aff_mod_val(isl_aff_sub(x, first), isl_val_copy(stride));
		*inside = heddle_plainly_intersect(*inside, isl_set_from_basic_set(isl_aff_zero_basic_set(apart)));
	}
	isl_val_free(stride);
	isl_stride_info_free(info);
	isl_set_free(set);
	return step > 1 ? step : 1;
}

static heddle_node *loop_node(scanner *s, const heddle_nest *nest, const bounds *b, int64_t step, heddle_value *offset,
			      __isl_keep isl_set *known)
{
	heddle_generator *g = s->g;
	heddle_program *p = g->program;
	heddle_value *lower = b->lower, *upper = b->upper, *own[2] = {lower, upper};
	bool varies = heddle_generate_varies(g, lower) || heddle_generate_varies(g, upper) || (offset && heddle_generate_varies(g, offset));
	if (varies && heddle_nest_threads_meet(nest)) {
		/* threads that meet inside all run all rounds of any; their own bounds guard what lies between the barriers */
		heddle_value *from = extreme(g, lower, false), *to = extreme(g, upper, true);
		if (from && to) {
			lower = from;
			upper = to;
			varies = false;
		}
	}
	const char *name = heddle_generate_name(g, nest->name);
	heddle_loop_kind kind = nest->loop;
	const bool expands = kind == HEDDLE_LOOP_UNROLL || kind == HEDDLE_LOOP_WINDOW || kind == HEDDLE_LOOP_VECTOR;
	if (varies && !expands)
		heddle_generate_vary(g, name, 0);
	heddle_value *x = s->x[b->depth] = heddle_value_variable(p, HEDDLE_INT32, 1, name);
	heddle_node *body = scan_children(s, nest, b->depth + 1, known);
	if (lower != own[0])
		body = conditional(g, heddle_value_binary(p, HEDDLE_OP_GE, x, own[0]), body, NULL);
	if (upper != own[1])
		body = conditional(g, heddle_value_binary(p, HEDDLE_OP_LT, x, own[1]), body, NULL);
	const bool open = lower->kind != HEDDLE_VALUE_INT || upper->kind != HEDDLE_VALUE_INT;
	if (offset) /* the first round of them that is not below the bound */
		lower = heddle_value_binary(
			p, HEDDLE_OP_ADD, lower,
			heddle_value_floor(p, HEDDLE_VALUE_FLOOR_MOD, heddle_value_binary(p, HEDDLE_OP_SUB, offset, lower),
					   heddle_value_int(p, HEDDLE_INT32, step)));
	if (expands && open) {
		body = all_rounds(g, nest, x, &lower, &upper, body);
		varies = false;
	} else if (open) {
		kind = HEDDLE_LOOP_SERIAL;
	}
	if (body->kind != HEDDLE_NODE_BLOCK) {
		heddle_node *block = heddle_node_block(p);
		heddle_node_append(p, block, body);
		body = block;
	}
	heddle_node *loop = heddle_node_for(p, kind, name, lower, upper, step, body);
	loop->uniform = !varies;
	return loop;
}

/* A loop over all of 0 .. extent, whatever is around it; `alone`: the only leaf in it. */
static heddle_node *scan_box(scanner *s, const heddle_nest *nest, int depth, __isl_take isl_set *known, const heddle_leaf *alone)
{
	heddle_program *p = s->g->program;
	bounds b = {.s = s, .depth = depth};
	heddle_value *offset = NULL;
	int64_t step = 1;
	b.lower = heddle_value_int(p, HEDDLE_INT32, 0);
	b.upper = heddle_value_int(p, HEDDLE_INT32, nest->extent);
	known = isl_set_lower_bound_si(known, isl_dim_set, (unsigned)depth, 0);
	known = isl_set_upper_bound_val(known, isl_dim_set, (unsigned)depth, isl_val_int_from_si(s->g->scop->isl, (long)nest->extent - 1));
	if (nest->loop == HEDDLE_LOOP_SERIAL && alone)
		step = stride_of(s, alone, depth, &offset, &known);
	heddle_node *node = loop_node(s, nest, &b, step, offset, known);
	isl_set_free(known);
	return node;
}

static heddle_node *scan_loop(scanner *s, const heddle_nest *nest, int depth, __isl_keep isl_set *known)
{
	heddle_generator *g = s->g;
	heddle_program *p = g->program;
	heddle_leaf **leaf = HEDDLE_NEW_ARRAY(g->scop->arena, heddle_leaf *, g->mapped->n_leaf);
	int n = 0;
	collect(nest, leaf, &n);
	isl_set *here = common(g->scop, leaf, n, depth + 1);
	isl_set *wide = isl_set_add_dims(isl_set_copy(known), isl_dim_set, 1);
	if (nest->extent > 1 && heddle_plainly_box(here, wide, nest->extent)) {
		isl_set_free(here);
		return scan_box(s, nest, depth, wide, n == 1 ? leaf[0] : NULL);
	}
	here = isl_set_detect_equalities(here);
	isl_set *new = isl_set_gist(isl_set_copy(here), isl_set_copy(wide));
	/* some drivers unroll what they see to run at most as often as an array has elements (min(16, ..) for s[16]), whole nests of it */
	bounds b = {.s = s, .depth = depth, .from_last = nest->part == HEDDLE_PART_ROUND};
	heddle_node *node = heddle_node_block(p);
	if (isl_set_is_empty(new) == isl_bool_false && isl_set_foreach_basic_set(new, add_bounds, &b) == isl_stat_ok) {
		isl_set *inside = heddle_plainly_intersect(isl_set_copy(wide), isl_set_copy(here));
		settle(&b);
		if (!b.only && !(b.lower && b.upper))
			settle_apart(&b, leaf, n);
		const bool bounded = b.lower && b.upper;
		const bool one = bounded && b.upper->kind == HEDDLE_VALUE_INT && heddle_value_is_int(b.lower, b.upper->i - 1);
		if (b.only || one) {
			s->x[depth] = b.only ? b.only : b.lower;
			node = scan_children(s, nest, depth + 1, inside);
		} else if (bounded) {
			heddle_value *offset = NULL;
			int64_t step = 1;
			if (nest->loop == HEDDLE_LOOP_SERIAL && n == 1)
				step = stride_of(s, leaf[0], depth, &offset, &inside);
			node = loop_node(s, nest, &b, step, offset, inside);
		} else {
			heddle_error(g->scop->ctx, 961, NULL, "generate: a loop over %s has no end", nest->name);
		}
		isl_set_free(inside);
		if (b.guard)
			node = conditional(g, b.guard, node, NULL);
	}
	isl_set_free(here);
	isl_set_free(wide);
	isl_set_free(new);
	return node;
}

static heddle_node *scan(scanner *s, const heddle_nest *nest, int depth, __isl_keep isl_set *known)
{
	switch (nest->kind) {
	case HEDDLE_NEST_LEAF:
		return scan_leaf(s, nest->leaf, known);
	case HEDDLE_NEST_LOOP:
		return scan_loop(s, nest, depth, known);
	case HEDDLE_NEST_SEQUENCE:
		break;
	}
	return scan_children(s, nest, depth, known);
}

heddle_node *heddle_generate_branch(heddle_generator *g)
{
	scanner s = {.g = g};
	isl_set *known = heddle_plainly_intersect(isl_set_copy(g->mapped->context), isl_set_copy(g->branch->blocks));
	known = isl_set_from_params(isl_set_coalesce(known));
	heddle_node *node = scan(&s, g->branch->nest, 0, known);
	isl_set_free(known);
	return node;
}
