/* map, sync and bound: statements in tile coordinates, moves, barriers; interior and boundary blocks.
 *
 * Enters: layouts and groups.  Leaves: a tree of sequences, loops and leaves per version of a kernel, each leaf with the set
 * of instances that run and their place in the statement or tensor.
 * Guaranteed: interior blocks run exactly their boxes, without a member's guard; a barrier stands between accesses of
 * different threads that depend on each other; barriers do not depend on thread coordinates.
 * SPDX-License-Identifier: MIT
 */
#include "model/nest_parts.h"
#include "model/plain.h"

#include <isl/constraint.h>
#include <isl/space.h>
#include <isl/val.h>
#include <stdlib.h>
#include <string.h>

/* ---- versions -------------------------------------------------------------------------------------------------------------- */

/* { S[d] -> [coordinates of the thread that runs it] } */
static __isl_give isl_map *thread_of(heddle_scop *scop, const heddle_kernel *kernel, const heddle_stmt *stmt)
{
	heddle_text text = {0}, out = {0};
	int lane = -1;
	for (int m = 0; m < kernel->n_member; m++) {
		int d = 0;
		while (stmt->dim[d].member != m)
			d++;
		heddle_text_printf(&out, "(floor(d%d/%lld) mod %lld), ", d, (long long)kernel->member[m].layout.vector,
				   (long long)kernel->member[m].layout.threads);
	}
	for (int d = 0; d < stmt->n_dim; d++)
		if (stmt->dim[d].member < 0 && stmt->dim[d].layout.threads > 1)
			lane = d;
	if (lane >= 0)
		heddle_text_printf(&out, "(floor(d%d/%lld) mod %lld)", lane, (long long)stmt->dim[lane].layout.vector,
				   (long long)stmt->dim[lane].layout.threads);
	else
		heddle_text_add(&out, "0");
	heddle_text_printf(&text, "%s{ %s[", heddle_scop_params(scop, NULL), stmt->name);
	for (int d = 0; d < stmt->n_dim; d++)
		heddle_text_printf(&text, "%sd%d", d ? ", " : "", d);
	heddle_text_printf(&text, "] -> [%s] }", heddle_text_str(&out));
	isl_map *map = isl_map_read_from_str(scop->isl, heddle_text_str(&text));
	heddle_text_free(&text);
	heddle_text_free(&out);
	return map;
}

/* A dependence through global memory between different threads of a block. */
static bool crosses_threads(heddle_scop *scop, const heddle_kernel *kernel, const heddle_dependence *dependence)
{
	if (kernel->threads == 1 || dependence->input)
		return false;
	for (int g = 0; g < kernel->n_group; g++)
		if (kernel->group[g]->tensor == dependence->tensor && kernel->group[g]->space != HEDDLE_SPACE_GLOBAL)
			return false;
	if (kernel->lanes > 1 && heddle_stmt_has_lanes(dependence->source) != heddle_stmt_has_lanes(dependence->sink))
		return true;
	/* A reduction without lanes is computed by every lane, and reads what one has written; what one over the lanes leaves lane 0 has finished. */
	const heddle_stmt *end[] = {dependence->source, dependence->sink};
	for (int e = 0; e < 2 && kernel->lanes > 1; e++)
		if (end[e]->reduction && (!heddle_stmt_has_lanes(end[e]) || end[e]->access[0].tensor == dependence->tensor))
			return true;
	/* Likewise an assignment: in registers every lane has its own, global memory is written by one. */
	if (kernel->lanes > 1 && dependence->source->access[0].group->space != dependence->sink->access[0].group->space)
		return true;
	isl_map *same = isl_map_apply_range(thread_of(scop, kernel, dependence->source),
					    isl_map_reverse(thread_of(scop, kernel, dependence->sink)));
	bool crosses = isl_map_is_subset(dependence->relation, same) != isl_bool_true;
	isl_map_free(same);
	return crosses;
}

static bool barrier_inside(heddle_nest_builder *b, const heddle_stmt *stmt)
{
	for (int d = 0; d < b->scop->n_dependence; d++) {
		const heddle_dependence *dependence = &b->scop->dependence[d];
		if (dependence->source == stmt && dependence->sink == stmt && crosses_threads(b->scop, b->kernel, dependence))
			return true;
	}
	return false;
}

/* Does statement `to` need a barrier after the last one, which stood before statement `from`?  It goes through its steps with those from
 * statement `first` on, which leave it what it needs of them. */
static bool barrier_before(heddle_nest_builder *b, int from, int first, int to)
{
	for (int d = 0; d < b->scop->n_dependence; d++) {
		const heddle_dependence *dependence = &b->scop->dependence[d];
		if (dependence->sink != b->kernel->stmt[to] || dependence->source == dependence->sink)
			continue;
		for (int s = from; s < first; s++)
			if (b->kernel->stmt[s] == dependence->source && crosses_threads(b->scop, b->kernel, dependence))
				return true;
	}
	return false;
}

/* Leaves that none of the blocks runs, and what holds nothing else. */
static void prune(heddle_nest *nest, __isl_keep isl_set *blocks)
{
	int n = 0;
	for (int i = 0; i < nest->n_child; i++) {
		prune(nest->child[i], blocks);
		heddle_nest *child = nest->child[i];
		bool empty = child->n_child == 0;
		if (child->kind == HEDDLE_NEST_LEAF) {
			isl_set *here = heddle_plainly_intersect_params(isl_set_copy(child->leaf->domain), isl_set_copy(blocks));
			empty = isl_set_is_empty(here) == isl_bool_true;
			isl_set_free(here);
		}
		if (!empty)
			nest->child[n++] = child;
	}
	nest->n_child = n;
}

static heddle_nest *build(heddle_nest_builder *b)
{
	heddle_nest *root = heddle_nest_new(b, HEDDLE_NEST_SEQUENCE);
	int first = b->mapped->n_leaf, since = 0;
	b->first = first;
	b->n_region = 0;
	b->region = NULL;
	const bool *joins = heddle_joins(b->scop->arena, b->scop, b->kernel);
	heddle_nest *at = b->kernel->rounds_outside ? heddle_nest_add_rounds(b, root) : root;
	for (int s = 0, n = 1; s < b->kernel->n_stmt; s += n) {
		heddle_stmt **stmt = &b->kernel->stmt[s];
		bool wait = barrier_before(b, since, s, s);
		for (n = 1; s + n < b->kernel->n_stmt && joins[s + n]; n++)
			wait = barrier_before(b, since, s, s + n) || wait;
		if (wait) {
			heddle_nest_add_leaf(b, at, HEDDLE_LEAF_BARRIER, stmt[0], NULL);
			since = s;
		}
		if (n > 1)
			heddle_nest_add_joined(b, at, stmt, n);
		else
			heddle_nest_add_stmt(b, at, stmt[0], barrier_inside(b, stmt[0]));
	}
	heddle_nest_sets(b, root, first);
	return root;
}

/* Sizes that no member depends on, taken out: whether a reduction, or a loop over results in a block, is empty must not decide what is interior. */
static __isl_give isl_set *without_inner_sizes(heddle_nest_builder *b, __isl_take isl_set *set)
{
	isl_set **plain = HEDDLE_NEW_ARRAY(b->scop->arena, isl_set *, b->kernel->n_stmt);
	for (int s = 0; s < b->kernel->n_stmt; s++) {
		heddle_stmt *stmt = b->kernel->stmt[s];
		plain[s] = isl_set_universe(isl_set_get_space(stmt->all));
		for (int d = 0; d < stmt->n_dim; d++)
			if (stmt->dim[d].member >= 0)
				plain[s] = heddle_plainly_intersect(plain[s], heddle_stmt_range(b->scop, stmt, d));
		plain[s] = isl_set_gist_params(plain[s], isl_set_copy(b->scop->context));
	}
	for (int i = (int)isl_set_dim(set, isl_dim_param) - 1; set && i >= 0; i--) {
		const char *name = isl_set_get_dim_name(set, isl_dim_param, (unsigned)i);
		bool outer = !name || strncmp(name, "N_", 2) != 0;
		for (int s = 0; s < b->kernel->n_stmt && !outer; s++) {
			int at = isl_set_find_dim_by_name(plain[s], isl_dim_param, name);
			outer = at >= 0 && isl_set_involves_dims(plain[s], isl_dim_param, (unsigned)at, 1) == isl_bool_true;
		}
		if (!outer)
			set = isl_set_project_out(set, isl_dim_param, (unsigned)i, 1);
	}
	for (int s = 0; s < b->kernel->n_stmt; s++)
		isl_set_free(plain[s]);
	return isl_set_coalesce(set);
}

/* A condition with a constant that no index comes near: sums with it need not fit where indices are computed. */
static isl_stat is_far(__isl_take isl_constraint *constraint, void *user)
{
	isl_val *constant = isl_val_abs(isl_constraint_get_constant_val(constraint));
	*(bool *)user |= isl_val_cmp_si(constant, INT32_MAX / 2) > 0;
	isl_val_free(constant);
	isl_constraint_free(constraint);
	return isl_stat_ok;
}

typedef struct near_part {
	const heddle_nest_builder *builder;
	isl_set *near;
} near_part;

static isl_stat add_near(__isl_take isl_basic_set *part, void *user)
{
	near_part *n = user;
	bool far = false;
	isl_set *set = isl_set_from_basic_set(part);
	isl_basic_set *plain = isl_set_simple_hull(isl_set_gist(isl_set_copy(set), isl_set_copy(n->builder->mapped->context)));
	isl_basic_set_foreach_constraint(plain, is_far, &far);
	isl_basic_set_free(plain);
	n->near = far ? n->near : isl_set_union(n->near, isl_set_copy(set));
	isl_set_free(set);
	return isl_stat_ok;
}

/* Blocks that are interior without what is so only for sizes near the greatest there are: it may as well be at an edge. */
static __isl_give isl_set *without_far(const heddle_nest_builder *b, __isl_take isl_set *interior)
{
	near_part n = {.builder = b, .near = isl_set_empty(isl_set_get_space(interior))};
	isl_set_foreach_basic_set(interior, add_near, &n);
	isl_set_free(interior);
	return n.near;
}

/* Blocks in which some instance of a box does not run: a member's bound or a guard cuts it. */
static __isl_give isl_set *cut_blocks(heddle_nest_builder *b, int first)
{
	isl_set *cut = isl_set_empty(isl_set_get_space(b->mapped->context));
	for (int i = first; i < b->mapped->n_leaf; i++) {
		heddle_leaf *leaf = b->mapped->leaf[i];
		if (leaf->kind != HEDDLE_LEAF_COMPUTE && leaf->kind != HEDDLE_LEAF_FINISH && leaf->kind != HEDDLE_LEAF_STORE)
			continue;
		isl_set *runs = isl_set_copy(leaf->domain);
		if (leaf->kind == HEDDLE_LEAF_COMPUTE)
			runs = heddle_plainly_intersect(runs, heddle_nest_in_domain(leaf->stmt->domain, leaf->instance));
		isl_set *missing = isl_set_subtract(heddle_nest_in_rounds(b, leaf, isl_set_copy(leaf->box)), runs);
		missing = heddle_nest_without_threads(b, isl_set_params(missing));
		cut = isl_set_coalesce(isl_set_union(cut, missing));
	}
	return cut;
}

/* "N_M_rounds", or with a number where that is taken. */
static const char *quotient_name(heddle_nest_builder *b, const heddle_size *size)
{
	for (int n = 1;; n++) {
		const char *name = heddle_arena_printf(b->scop->arena, n == 1 ? "N_%s_rounds" : "N_%s_rounds%d", size->name, n);
		bool used = false;
		for (int i = 0; i < b->scop->definition->n_size && !used; i++)
			used = !strcmp(b->scop->definition->size[i]->name, name + strlen("N_"));
		for (int i = 0; i < b->mapped->n_quotient && !used; i++)
			used = !strcmp(b->mapped->quotient[i].param, name);
		if (!used)
			return name;
	}
}

static void add_quotients(heddle_nest_builder *b, heddle_text *names, heddle_text *bounds)
{
	heddle_mapped *mapped = b->mapped;
	for (int s = 0; s < b->kernel->n_stmt; s++)
		for (int d = 0; d < b->kernel->stmt[s]->n_dim; d++) {
			const heddle_size *size = heddle_nest_rounds_of(b->kernel->stmt[s], d);
			const int64_t by = heddle_nest_round_length(b->kernel->stmt[s], d);
			bool have = !size || size->min == size->max || mapped->n_quotient == HEDDLE_MAX_DIM;
			for (int i = 0; i < mapped->n_quotient && !have; i++)
				have = mapped->quotient[i].size == size && mapped->quotient[i].by == by;
			if (have)
				continue;
			const char *name = quotient_name(b, size);
			mapped->quotient[mapped->n_quotient++] = (heddle_quotient){size, by, name};
			heddle_text_printf(names, "%s%s", names->length ? ", " : "", name);
			heddle_text_printf(bounds, " and %lld*%s <= N_%s < %lld*%s + %lld", (long long)by, name, size->name, (long long)by,
					   name, (long long)by);
		}
}

/* Are sums computed without conditions in any block, as their rounds and tiles take all bounds?  A version for interior blocks is
 * not worth its text then: what has conditions, moves and stores, serves several rounds. */
static bool free_of_conditions(heddle_nest_builder *b, int first)
{
	bool any = false, all = true;
	for (int i = first; i < b->mapped->n_leaf && all; i++) {
		heddle_leaf *leaf = b->mapped->leaf[i];
		if (leaf->kind != HEDDLE_LEAF_COMPUTE || !leaf->stmt->reduction)
			continue;
		isl_set *box = heddle_nest_in_rounds(b, leaf, isl_set_copy(leaf->box));
		any = true;
		all = heddle_nest_has_rounds(leaf->stmt) && isl_set_is_subset(box, leaf->domain) == isl_bool_true;
		isl_set_free(box);
	}
	return any && all;
}

static void context_text(heddle_nest_builder *b, heddle_text *names, heddle_text *bounds)
{
	heddle_kernel *kernel = b->kernel;
	for (int m = 0; m < kernel->n_member; m++) {
		heddle_text_printf(names, "%sc_%s_block", names->length ? ", " : "", kernel->member[m].name);
		heddle_text_printf(bounds, " and 0 <= c_%s_block", kernel->member[m].name);
		if (kernel->member[m].layout.threads > 1) {
			heddle_text_printf(names, ", c_%s_thread", kernel->member[m].name);
			heddle_text_printf(bounds, " and 0 <= c_%s_thread < %lld", kernel->member[m].name,
					   (long long)kernel->member[m].layout.threads);
		}
	}
	if (kernel->lanes > 1) {
		heddle_text_printf(names, "%sc_lane", names->length ? ", " : "");
		heddle_text_printf(bounds, " and 0 <= c_lane < %lld", (long long)kernel->lanes);
	}
	add_quotients(b, names, bounds);
	for (int g = 0; g < kernel->n_group; g++)
		if (kernel->group[g]->space == HEDDLE_SPACE_SHARED)
			heddle_nest_columns(b, kernel->group[g]);
	for (int i = 0; i < b->mapped->n_columns; i++) {
		const long long columns = (long long)b->mapped->columns[i], rows = b->kernel->threads / columns;
		if (rows > 1) {
			heddle_text_printf(names, "%sc_row%lld", names->length ? ", " : "", columns);
			heddle_text_printf(bounds, " and 0 <= c_row%lld < %lld", columns, rows);
		}
		if (columns > 1) {
			heddle_text_printf(names, "%sc_column%lld", names->length ? ", " : "", columns);
			heddle_text_printf(bounds, " and 0 <= c_column%lld < %lld", columns, columns);
		}
	}
}

/* { [x] : x is the last value of dimension d that the grid reaches }, as generate's tiles_along computes it: the upper bound
 * as it stands, or its greatest value where it depends on other indices. */
static __isl_give isl_set *last_of(heddle_nest_builder *b, const heddle_stmt *stmt, int d)
{
	isl_pw_aff *upper = heddle_scop_bound(b->scop, stmt, stmt->source->index[d]->upper);
	if (!upper || isl_pw_aff_involves_dims(upper, isl_dim_in, 0, (unsigned)stmt->n_dim) != isl_bool_false) {
		isl_pw_aff_free(upper);
		return isl_set_from_pw_aff(isl_set_dim_max(isl_set_copy(stmt->lhs), d));
	}
	isl_set *last = isl_set_from_pw_aff(isl_pw_aff_project_domain_on_params(upper));
	return isl_set_apply(last, isl_map_read_from_str(b->scop->isl, "{ [x] -> [x - 1] }"));
}

/* Blocks that are launched: the grid begins at 0, even where nothing begins there. */
static __isl_give isl_set *launched(heddle_nest_builder *b)
{
	heddle_kernel *kernel = b->kernel;
	isl_set *all = isl_set_universe(isl_set_get_space(b->scop->context));
	all = heddle_plainly_intersect_params(all, isl_set_copy(b->scop->context));
	for (int m = 0; m < kernel->n_member; m++) {
		const char *name = kernel->member[m].name;
		isl_set *any = NULL;
		heddle_text text = {0};
		heddle_text_printf(&text, "[c_%s_block] -> { [x] : %lld*c_%s_block <= x and 0 <= c_%s_block }", name,
				   (long long)kernel->member[m].layout.tile, name, name);
		for (int s = 0; s < kernel->n_stmt; s++) {
			const heddle_stmt *stmt = kernel->stmt[s];
			int d = 0;
			while (stmt->dim[d].member != m)
				d++;
			isl_set *here = isl_set_read_from_str(b->scop->isl, heddle_text_str(&text));
			here = isl_set_params(heddle_plainly_intersect(here, last_of(b, stmt, d)));
			any = any ? isl_set_union(any, here) : here;
		}
		heddle_text_free(&text);
		all = heddle_plainly_intersect(all, isl_set_coalesce(any));
	}
	return isl_set_coalesce(all);
}

static bool make_params(heddle_nest_builder *b)
{
	heddle_text names = {0}, bounds = {0}, text = {0};
	b->mapped->params = ""; /* columns_of only */
	context_text(b, &names, &bounds);
	b->mapped->params = heddle_scop_params(b->scop, heddle_text_str(&names));
	heddle_text_printf(&text, "%s{ : 1 = 1%s }", b->mapped->params, heddle_text_str(&bounds));
	b->mapped->context = isl_set_read_from_str(b->scop->isl, heddle_text_str(&text));
	b->mapped->context = heddle_plainly_intersect(b->mapped->context, isl_set_copy(b->scop->context));
	b->mapped->context = heddle_plainly_intersect(b->mapped->context, launched(b));
	heddle_text_free(&names);
	heddle_text_free(&bounds);
	heddle_text_free(&text);
	return b->mapped->context;
}

static void add_branch(heddle_nest_builder *b, bool interior, __isl_take isl_set *blocks, heddle_nest *nest)
{
	prune(nest, blocks);
	b->mapped->branch[b->mapped->n_branch++] = (heddle_branch){.interior = interior, .blocks = blocks, .nest = nest};
}

bool heddle_nest_threads_meet(const heddle_nest *nest)
{
	const heddle_leaf *leaf = nest->kind == HEDDLE_NEST_LEAF ? nest->leaf : NULL;
	if (leaf && (leaf->kind == HEDDLE_LEAF_BARRIER || leaf->kind == HEDDLE_LEAF_COMBINE || leaf->kind == HEDDLE_LEAF_WAIT))
		return true;
	for (int i = 0; i < nest->n_child; i++)
		if (heddle_nest_threads_meet(nest->child[i]))
			return true;
	return false;
}

heddle_mapped *heddle_map_kernel(heddle_scop *scop, heddle_kernel *kernel)
{
	heddle_mapped *mapped = HEDDLE_NEW(scop->arena, heddle_mapped);
	heddle_nest_builder b = {.scop = scop, .kernel = kernel, .mapped = mapped};
	mapped->scop = scop;
	mapped->kernel = kernel;
	if (!make_params(&b))
		return heddle_scop_check(scop, "map"), heddle_mapped_free(mapped);
	heddle_nest *everything = build(&b);
	if (heddle_scop_check(scop, "map") < 0)
		return heddle_mapped_free(mapped);
	isl_set *blocks = heddle_nest_without_threads(&b, isl_set_copy(mapped->context));
	isl_set *cut = heddle_plainly_intersect(without_inner_sizes(&b, cut_blocks(&b, 0)), isl_set_copy(blocks));
	isl_set *interior = isl_set_coalesce(isl_set_subtract(isl_set_copy(blocks), isl_set_copy(cut)));
	bool all = isl_set_is_empty(cut) == isl_bool_true;
	interior = all ? interior : without_far(&b, interior);
	bool none = isl_set_is_empty(interior) == isl_bool_true;
	none |= !all && free_of_conditions(&b, 0);
	if (!none) {
		b.interior = true;
		b.blocks = interior;
		add_branch(&b, true, isl_set_copy(interior), build(&b));
	}
	if (!all)
		add_branch(&b, false, isl_set_copy(blocks), everything);
	isl_set_free(blocks);
	isl_set_free(cut);
	isl_set_free(interior);
	if (heddle_scop_check(scop, "map") < 0)
		return heddle_mapped_free(mapped);
	return mapped;
}

heddle_mapped *heddle_mapped_free(heddle_mapped *mapped)
{
	if (!mapped)
		return NULL;
	for (int i = 0; i < mapped->n_leaf; i++) {
		heddle_leaf *leaf = mapped->leaf[i];
		isl_set_free(leaf->domain);
		isl_set_free(leaf->box);
		isl_set_free(leaf->spread);
		isl_set_free(leaf->valid);
		isl_multi_aff_free(leaf->instance);
		isl_multi_aff_free(leaf->element);
		isl_multi_aff_free(leaf->position);
	}
	for (int i = 0; i < mapped->n_branch; i++)
		isl_set_free(mapped->branch[i].blocks);
	isl_set_free(mapped->context);
	return NULL;
}

int heddle_pass_map(heddle_scop *scop)
{
	for (int k = 0; k < scop->n_kernel; k++)
		if (!(scop->kernel[k]->mapped = heddle_map_kernel(scop, scop->kernel[k])))
			return -1;
	return 0;
}

static void print_nest(const heddle_nest *nest, int depth, heddle_text *out)
{
	static const char *const kind[] = {"initialise", "compute", "combine", "finish", "store", "move", "copy", "wait", "barrier"};
	const heddle_leaf *leaf = nest->leaf;
	if (nest->kind == HEDDLE_NEST_LOOP)
		heddle_text_printf(out, "%*sfor %s\n", 2 * depth, "", nest->name);
	if (nest->kind == HEDDLE_NEST_LEAF) {
		char *runs = isl_set_to_str(leaf->spread);
		heddle_text_printf(out, "%*s%s %s%s%s: %s\n", 2 * depth, "", kind[leaf->kind], leaf->stmt->name, leaf->group ? " " : "",
				   leaf->group ? leaf->group->tensor->name : "", runs ? runs : "");
		free(runs);
	}
	for (int i = 0; i < nest->n_child; i++)
		print_nest(nest->child[i], depth + (nest->kind == HEDDLE_NEST_LOOP), out);
}

void heddle_mapped_print(const heddle_mapped *mapped, heddle_text *out)
{
	for (int i = 0; i < mapped->n_branch; i++) {
		char *blocks = isl_set_to_str(mapped->branch[i].blocks);
		heddle_text_printf(out, "%s blocks %s\n", mapped->branch[i].interior ? "interior" : "boundary", blocks ? blocks : "");
		print_nest(mapped->branch[i].nest, 1, out);
		free(blocks);
	}
}
