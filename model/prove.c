/* prove: the mapped kernels are checked against the statements, in isl, without trusting the passes that made them.
 *
 * Enters: mapped kernels.  Leaves: scop->proof.
 * Checked, per kernel and branch:
 *   grid       every block that is launched belongs to a branch
 *   instances  every instance of a statement's domain runs, in the block that it belongs to; once, where it writes memory that
 *              others see or accumulates
 *   sums       an accumulator is initialised before, combined over the lanes and finished after, by the threads that hold it
 *   values     a register is read only by a thread that wrote it before; a shared element only after it was moved in; what
 *              others see of a register tensor is stored after its last write
 *   order      dependent instances of one statement keep their order; statements follow each other in source order
 *   threads    what runs depends on the leaf's own coordinates; barriers and combinations on none of a thread
 *   races      accesses of different threads to one element, one of them a write, have a barrier between
 *   blocks     accesses of different blocks to one element are reads
 *   bounds     every element accessed is inside its tensor, or inside its tile
 * Indirect accesses, and what the front end could only state as a precondition, make it "proved under preconditions".  When
 * isl reaches its limit the answer is "not proved".  A violation is an internal error (E0970) that names the check.
 * SPDX-License-Identifier: MIT
 */
#include "model/prove.h"

#include <isl/id.h>
#include <isl/local_space.h>
#include <isl/space.h>
#include <string.h>

/* ---- bounds ------------------------------------------------------------------------------------------------------------------------ */

/* { T[e] : 0 <= e < extent } */
static __isl_give isl_set *tensor_box(prover *p, const heddle_tensor *tensor, __isl_take isl_space *space)
{
	isl_set **known = &p->shape[tensor->position];
	if (!*known)
		*known = heddle_scop_tensor_box(p->scop, tensor, isl_space_copy(space));
	isl_id *name = isl_space_has_tuple_id(space, isl_dim_set) ? isl_space_get_tuple_id(space, isl_dim_set) : NULL;
	isl_space_free(space);
	isl_set *box = isl_set_reset_tuple_id(isl_set_copy(*known));
	return name ? isl_set_set_tuple_id(box, name) : box;
}

/* { [e] : 0 <= e < size } of a shared tile */
static __isl_give isl_set *tile_box(const heddle_group *group, __isl_take isl_space *space)
{
	isl_set *box = isl_set_universe(space);
	for (int e = 0; e < group->tensor->rank; e++) {
		box = isl_set_lower_bound_si(box, isl_dim_set, (unsigned)e, 0);
		box = isl_set_upper_bound_si(box, isl_dim_set, (unsigned)e, (int)group->size[e] - 1);
	}
	return box;
}

/* Is every place that the instances touch in the box? */
static bool inside(__isl_take isl_set *instance, __isl_take isl_multi_pw_aff *place, __isl_take isl_set *box)
{
	instance = isl_set_intersect(instance, isl_multi_pw_aff_domain(isl_multi_pw_aff_copy(place)));
	isl_set *there = isl_set_preimage_multi_pw_aff(box, place);
	if (isl_set_has_equal_space(instance, there) != isl_bool_false)
		return heddle_prove_inside(instance, there);
	/* a place without any piece loses the name of its space: then no instance may touch anything */
	bool none = isl_set_is_empty(instance) == isl_bool_true;
	isl_set_free(instance);
	isl_set_free(there);
	return none;
}

static bool inside_tensor(prover *p, const heddle_tensor *tensor, __isl_take isl_set *instance, __isl_take isl_multi_pw_aff *element)
{
	isl_set *box = tensor_box(p, tensor, isl_space_range(isl_multi_pw_aff_get_space(element)));
	return inside(instance, element, box);
}

/* Subscripts in a tile stay below the tile's sizes. */
static bool inside_tile(prover *p, const heddle_leaf *leaf, const heddle_group *group, __isl_take isl_multi_pw_aff *place)
{
	isl_set *box = tile_box(group, isl_space_range(isl_multi_pw_aff_get_space(place)));
	return inside(heddle_prove_runs(p, leaf), place, box);
}

/* Does a statement read any of the elements from the group's tile? */
static bool are_read(const prover *p, const heddle_group *group, __isl_keep isl_set *element)
{
	bool any = false;
	for (int s = 0; s < p->scop->n_stmt && !any; s++)
		for (int a = 0; a < p->scop->stmt[s]->n_access && !any; a++) {
			const heddle_access *access = &p->scop->stmt[s]->access[a];
			if (access->group != group)
				continue;
			isl_map *reads = isl_map_intersect_domain(isl_map_copy(access->relation), isl_set_copy(p->scop->stmt[s]->domain));
			isl_set *read = isl_set_reset_tuple_id(isl_map_range(reads));
			any = isl_set_is_disjoint(read, element) != isl_bool_true;
			isl_set_free(read);
		}
	return any;
}

/* The move takes each element to its own place in the tile, and fills only what does not exist or is not read. */
static int check_move(prover *p, const heddle_leaf *leaf)
{
	isl_multi_aff *element = isl_multi_aff_add(heddle_prove_tile_start(leaf, leaf->group), isl_multi_aff_copy(leaf->position));
	bool same = isl_multi_aff_plain_is_equal(element, leaf->element) == isl_bool_true;
	isl_multi_aff_free(element);
	if (!same)
		return heddle_prove_violated(p, leaf, "a move would take elements to other places");
	isl_set *filled = isl_set_intersect_params(heddle_prove_runs(p, leaf), isl_set_copy(p->mapped->context));
	if (!leaf->fill) /* that only fills */
		filled = isl_set_subtract(filled, heddle_prove_own_copy(leaf->valid));
	if (leaf->kind == HEDDLE_LEAF_COPY && isl_set_is_empty(filled) != isl_bool_true) {
		isl_set_free(filled);
		return heddle_prove_violated(p, leaf, "a copy would leave its tensor");
	}
	isl_set *exists = tensor_box(p, leaf->group->tensor, isl_space_range(isl_multi_aff_get_space(leaf->element)));
	filled = isl_set_intersect(filled, isl_set_preimage_multi_aff(exists, isl_multi_aff_copy(leaf->element)));
	bool none = isl_set_is_empty(filled) == isl_bool_true;
	if (!none) {
		isl_set *zeros = isl_set_reset_tuple_id(isl_set_apply(isl_set_copy(filled), isl_map_from_multi_aff(isl_multi_aff_copy(leaf->element))));
		none = !are_read(p, leaf->group, zeros);
		isl_set_free(zeros);
	}
	isl_set_free(filled);
	return none ? 0 : heddle_prove_violated(p, leaf, "a move would not take an element that is read");
}

static int check_access_bounds(prover *p, const heddle_leaf *leaf, const heddle_access *access)
{
	if (!access->affine) {
		p->conditional = true;
		return 0;
	}
	if (access->group->space == HEDDLE_SPACE_SHARED)
		return inside_tile(p, leaf, access->group, heddle_prove_place_in_tile(leaf, access))
			       ? 0
			       : heddle_prove_violated(p, leaf, "an access would leave its tile");
	if (access->group->space == HEDDLE_SPACE_GLOBAL &&
	    !inside_tensor(p, access->tensor, heddle_prove_runs(p, leaf), heddle_prove_index_of(leaf, access)))
		return heddle_prove_violated(p, leaf, "an access would leave its tensor");
	return 0;
}

static int check_bounds(prover *p)
{
	for (int i = 0; i < p->n_leaf; i++) {
		heddle_leaf *leaf = p->leaf[i];
		heddle_stmt *stmt = leaf->stmt;
		if (heddle_prove_is_move(leaf)) {
			isl_set *valid = isl_set_intersect(heddle_prove_own_copy(leaf->valid), heddle_prove_runs(p, leaf));
			isl_multi_pw_aff *element = isl_multi_pw_aff_from_multi_aff(isl_multi_aff_copy(leaf->element));
			isl_multi_pw_aff *position = isl_multi_pw_aff_from_multi_aff(isl_multi_aff_copy(leaf->position));
			bool there = inside_tensor(p, leaf->group->tensor, valid, element);
			if (!inside_tile(p, leaf, leaf->group, position) || !there)
				return heddle_prove_violated(p, leaf, "a move would leave its tensor or tile");
			if (check_move(p, leaf) < 0)
				return -1;
		}
		if (leaf->kind == HEDDLE_LEAF_STORE &&
		    !inside_tensor(p, stmt->access[0].tensor, heddle_prove_runs(p, leaf), heddle_prove_index_of(leaf, &stmt->access[0])))
			return heddle_prove_violated(p, leaf, "a store would leave its tensor");
		bool writes = leaf->kind == HEDDLE_LEAF_FINISH || (leaf->kind == HEDDLE_LEAF_COMPUTE && !stmt->reduction);
		if (writes && check_access_bounds(p, leaf, &stmt->access[0]) < 0)
			return -1;
		for (int a = 1; leaf->kind == HEDDLE_LEAF_COMPUTE && a < stmt->n_access; a++)
			if (check_access_bounds(p, leaf, &stmt->access[a]) < 0)
				return -1;
	}
	return 0;
}

/* ---- kernels ------------------------------------------------------------------------------------------------------------------------ */

static void gather(const heddle_nest *nest, prover *p)
{
	if (nest->kind == HEDDLE_NEST_LEAF)
		HEDDLE_PUSH(p->scop->arena, p->leaf, p->n_leaf, nest->leaf);
	for (int i = 0; i < nest->n_child; i++)
		gather(nest->child[i], p);
}

static int prove_branch(prover *p)
{
	event_list events = {0};
	int status = 0;
	heddle_prove_collect(p, &events);
	if (heddle_prove_coordinates(p) < 0 || heddle_prove_threads(p) < 0 || heddle_prove_covered(p) < 0 || heddle_prove_once(p) < 0 || heddle_prove_extra(p) < 0 || heddle_prove_sums(p) < 0 ||
	    heddle_prove_values(p) < 0 || heddle_prove_stores(p) < 0 || heddle_prove_sequence(p) < 0 || heddle_prove_order(p) < 0 ||
	    heddle_prove_waits(p) < 0 || heddle_prove_races(p, &events) < 0 || check_bounds(p) < 0)
		status = -1;
	for (int i = 0; i < events.n; i++) {
		isl_map_free(events.item[i].access);
		isl_map_free(events.item[i].coordinates);
		isl_map_free(events.item[i].numbered);
	}
	for (int i = 0; i < p->mapped->n_leaf; i++)
		p->run[i] = isl_set_free(p->run[i]);
	return status;
}

/* The branches together run all blocks that instances belong to. */
static int check_blocks(prover *p, __isl_keep isl_set *blocks)
{
	for (int s = 0; s < p->kernel->n_stmt; s++) {
		const heddle_stmt *stmt = p->kernel->stmt[s];
		p->blocks = blocks ? isl_set_copy(blocks) : isl_set_empty(isl_set_get_space(p->scop->context));
		isl_set *known = isl_set_intersect_params(isl_set_universe(isl_set_get_space(stmt->domain)), isl_set_copy(p->blocks));
		bool all = heddle_prove_inside(heddle_prove_in_block(p, stmt, heddle_prove_own_copy(stmt->domain)), known);
		isl_set_free(p->blocks);
		if (!all)
			return heddle_prove_missing(p, stmt, "instances belong to blocks that would not run");
	}
	return 0;
}

/* { : 0 <= block and tile * block < upper bound } of one member, from the ranges as they are written: what `generate` makes
 * the grid from. */
static __isl_give isl_set *grid_along(prover *p, int m)
{
	const heddle_member *member = &p->kernel->member[m];
	isl_set *any = isl_set_empty(isl_set_get_space(p->scop->context));
	heddle_text text = {0};
	heddle_text_printf(&text, "[c_%s_block] -> { [x] : 0 <= c_%s_block and %lld*c_%s_block < x }", member->name, member->name,
			   (long long)member->layout.tile, member->name);
	for (int s = 0; s < p->kernel->n_stmt; s++) {
		heddle_stmt *stmt = p->kernel->stmt[s];
		for (int d = 0; d < stmt->n_dim; d++) {
			if (stmt->dim[d].member != m)
				continue;
			isl_map *upper = isl_map_from_pw_aff(heddle_scop_bound(p->scop, stmt, stmt->source->index[d]->upper));
			/* a bound that depends on other indices: its greatest value over them */
			isl_set *values = isl_map_range(
				isl_map_intersect_domain(upper, heddle_stmt_left_ranges(p->scop, stmt, false)));
			isl_set *open = isl_map_range(isl_map_from_pw_aff(
				heddle_scop_bound(p->scop, stmt, stmt->source->index[d]->upper)));
			bool plain = isl_set_is_singleton(open) == isl_bool_true;
			isl_set *bound = plain ? open : values;
			isl_set_free(plain ? values : open);
			bound = isl_set_intersect(bound, isl_set_read_from_str(p->scop->isl, heddle_text_str(&text)));
			any = isl_set_union(any, isl_set_params(bound));
		}
	}
	heddle_text_free(&text);
	return any;
}

/* Each size has its quotients: the blocks for which they exist. */
static __isl_give isl_set *with_quotients(const prover *p, __isl_take isl_set *blocks)
{
	for (int i = 0; i < p->mapped->n_quotient && blocks; i++) {
		int at = isl_set_find_dim_by_name(blocks, isl_dim_param, p->mapped->quotient[i].param);
		if (at >= 0)
			blocks = isl_set_project_out(blocks, isl_dim_param, (unsigned)at, 1);
	}
	return blocks;
}

/* No block is launched that the branches do not know of. */
static int check_grid(prover *p, __isl_keep isl_set *blocks)
{
	isl_set *grid = isl_set_copy(p->scop->context);
	for (int m = 0; m < p->kernel->n_member; m++)
		grid = isl_set_intersect(grid, grid_along(p, m));
	bool known = blocks ? isl_set_is_subset(grid, blocks) == isl_bool_true : isl_set_is_empty(grid) == isl_bool_true;
	isl_set_free(grid);
	return known ? 0 : heddle_prove_missing(p, p->kernel->stmt[0], "blocks would be launched that no branch was made for");
}

static int prove_kernel(heddle_scop *scop, heddle_kernel *kernel, bool *conditional)
{
	heddle_mapped *mapped = kernel->mapped;
	int status = 0;
	isl_set *blocks = NULL;
	prover p = {.scop = scop, .kernel = kernel, .mapped = mapped};
	p.run = HEDDLE_NEW_ARRAY(scop->arena, isl_set *, mapped->n_leaf);
	p.always = HEDDLE_NEW_ARRAY(scop->arena, signed char, mapped->n_leaf * mapped->n_leaf);
	p.shape = HEDDLE_NEW_ARRAY(scop->arena, isl_set *, scop->definition->n_tensor);
	for (int i = 0; i < mapped->n_branch && status == 0; i++) {
		p.branch = &mapped->branch[i];
		p.n_leaf = 0;
		p.leaf = NULL;
		p.blocks = isl_set_copy(p.branch->blocks);
		blocks = blocks ? isl_set_union(blocks, isl_set_copy(p.blocks)) : isl_set_copy(p.blocks);
		gather(p.branch->nest, &p);
		status = prove_branch(&p);
		isl_set_free(p.blocks);
	}
	blocks = with_quotients(&p, blocks);
	if (status == 0)
		status = check_blocks(&p, blocks) < 0 ? -1 : check_grid(&p, blocks);
	isl_set_free(blocks);
	for (int i = 0; i < scop->definition->n_tensor; i++)
		isl_set_free(p.shape[i]);
	*conditional |= p.conditional;
	return status;
}

int heddle_pass_prove(heddle_scop *scop)
{
	bool conditional = scop->definition->n_precondition > 0;
	for (int k = 0; k < scop->n_kernel; k++) {
		int status = prove_kernel(scop, scop->kernel[k], &conditional);
		enum isl_error error = isl_ctx_last_error(scop->isl);
		if (error == isl_error_quota || error == isl_error_abort) {
			isl_ctx_reset_error(scop->isl);
			isl_ctx_reset_operations(scop->isl);
			scop->proof = "not proved: limit of polyhedral operations";
			return 0;
		}
		if (status < 0)
			return -1;
	}
	scop->proof = conditional ? "proved under preconditions" : "proved";
	return heddle_scop_check(scop, "prove");
}
