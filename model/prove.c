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
#include "model/nest.h"

#include <isl/id.h>
#include <isl/space.h>
#include <stdlib.h>
#include <string.h>

typedef struct prover {
	heddle_scop *scop;
	heddle_kernel *kernel;
	heddle_mapped *mapped;
	const heddle_branch *branch;
	isl_set *blocks; /* { : } that may take the branch: the boundary is checked for all blocks */
	int n_leaf;	 /* of the branch, in order */
	heddle_leaf **leaf;
	bool conditional;
} prover;

/* One access of a leaf: { E[blocks, thread, loops] -> place }. */
typedef struct event {
	int at; /* position of the leaf */
	heddle_leaf *leaf;
	const void *place; /* the tensor (global) or the group (shared) */
	bool write;
	isl_map *map;
} event;

typedef struct event_list {
	int n;
	event *item;
} event_list;

static int violated(prover *p, const heddle_leaf *leaf, const char *what)
{
	/* an answer that isl could not give is not a violation: heddle_pass_prove says so */
	if (isl_ctx_last_error(p->scop->isl) != isl_error_none)
		return -1;
	return heddle_error(p->scop->ctx, 970, &leaf->stmt->source->location,
			    "internal: kernel %d, %s, statement %s: %s (pass `map`)", p->kernel->position,
			    p->branch && p->branch->interior ? "interior" : "boundary", leaf->stmt->name, what);
}

static int missing(prover *p, const heddle_stmt *stmt, const char *what)
{
	const heddle_leaf none = {.stmt = (heddle_stmt *)(uintptr_t)stmt};
	return violated(p, &none, what);
}

/* ---- events ------------------------------------------------------------------------------------------------------------ */

static void loop_tuple(const heddle_leaf *leaf, heddle_text *out)
{
	for (int i = 0; i < leaf->n_loop; i++)
		heddle_text_printf(out, "%sx%d", i ? ", " : "", i);
}

/* Threads side by side in a row of the tile, as the move lays them out. */
static int64_t copy_columns(const prover *p, const heddle_group *group)
{
	const int inner = heddle_tensor_inner(group->tensor);
	int64_t columns = 1, row = group->size[inner < 0 ? group->tensor->rank - 1 : inner] / group->vector;
	while (columns < row && columns * 2 <= p->kernel->threads)
		columns *= 2;
	while (p->kernel->threads % columns)
		columns /= 2;
	return columns;
}

/* { L[x] -> E[blocks, thread, x] } */
static __isl_give isl_map *named_instances(prover *p, const heddle_leaf *leaf)
{
	heddle_text text = {0}, where = {0};
	const heddle_kernel *kernel = p->kernel;
	heddle_text_printf(&text, "%s{ %s[", p->mapped->params, leaf->name);
	loop_tuple(leaf, &text);
	heddle_text_add(&text, "] -> E[");
	for (int m = 0; m < kernel->n_member; m++) {
		heddle_text_printf(&text, "b%d, ", m);
		heddle_text_printf(&where, "b%d = c_%s_block and ", m, kernel->member[m].name);
	}
	heddle_text_add(&where, "thread = 0");
	if (leaf->kind == HEDDLE_LEAF_COPY) { /* none of the threads */
		heddle_text_add(&where, " - 1");
	} else if (leaf->kind == HEDDLE_LEAF_MOVE) {
		int64_t columns = copy_columns(p, leaf->group);
		heddle_text_printf(&where, " + %lld*c_row%lld + c_column%lld", (long long)columns, (long long)columns,
				   (long long)columns);
	} else {
		for (int m = 0; m < kernel->n_member; m++)
			if (kernel->member[m].layout.threads > 1)
				heddle_text_printf(&where, " + %lld*c_%s_thread", (long long)kernel->member[m].thread_stride,
						   kernel->member[m].name);
		if (kernel->lanes > 1)
			heddle_text_printf(&where, " + %lld*c_lane", (long long)kernel->lane_stride);
	}
	heddle_text_printf(&text, "thread%s", leaf->n_loop ? ", " : "");
	loop_tuple(leaf, &text);
	heddle_text_printf(&text, "] : %s }", heddle_text_str(&where));
	isl_map *map = isl_map_read_from_str(p->scop->isl, heddle_text_str(&text));
	heddle_text_free(&text);
	heddle_text_free(&where);
	return map;
}

/* Is this parameter a coordinate, not a size?  (Without a name isl has failed: the pass reports it at its end.) */
static bool varies(const char *parameter)
{
	return parameter && strncmp(parameter, "N_", 2) != 0;
}

/* Coordinates have become dimensions; only sizes stay parameters. */
static __isl_give isl_map *without_coordinates(__isl_take isl_map *map)
{
	for (int i = (int)isl_map_dim(map, isl_dim_param) - 1; map && i >= 0; i--)
		if (varies(isl_map_get_dim_name(map, isl_dim_param, (unsigned)i)))
			map = isl_map_project_out(map, isl_dim_param, (unsigned)i, 1);
	return map;
}

static __isl_give isl_set *runs(prover *p, const heddle_leaf *leaf)
{
	return isl_set_intersect_params(isl_set_copy(leaf->domain), isl_set_copy(p->blocks));
}

static __isl_give isl_map *event_map(prover *p, const heddle_leaf *leaf, __isl_take isl_map *access)
{
	access = isl_map_intersect_domain(access, runs(p, leaf));
	isl_map *map = isl_map_apply_range(isl_map_reverse(named_instances(p, leaf)), access);
	return without_coordinates(map);
}

/* { L[x] -> T[e] } */
static __isl_give isl_map *element_of(const heddle_leaf *leaf, const heddle_access *access)
{
	isl_map *instance = isl_map_from_multi_aff(isl_multi_aff_copy(leaf->instance));
	if (access->affine) {
		isl_map *index = isl_map_from_multi_pw_aff(isl_multi_pw_aff_copy(access->index));
		return isl_map_apply_range(instance, index);
	}
	return isl_map_apply_range(instance, isl_map_copy(access->relation));
}

/* { L[x] -> T[e] } : the first element of the tile of `group` in the round of the leaf */
static __isl_give isl_multi_aff *tile_start(prover *p, const heddle_leaf *leaf, const heddle_group *group)
{
	heddle_text text = {0};
	int at = 0;
	heddle_text_printf(&text, "%s{ %s[", p->mapped->params, leaf->name);
	loop_tuple(leaf, &text);
	heddle_text_add(&text, "] -> [");
	for (int d = 0; d < leaf->stmt->n_dim; d++) {
		if (leaf->stmt->dim[d].member >= 0 || leaf->stmt->dim[d].single_tile)
			continue;
		for (int i = 0; i < leaf->n_loop; i++)
			if (leaf->loop[i]->dim == d && leaf->loop[i]->part == HEDDLE_PART_TILE)
				heddle_text_printf(&text, "%sx%d", at++ ? ", " : "", i);
	}
	heddle_text_add(&text, "] }");
	isl_multi_aff *loops = isl_multi_aff_read_from_str(p->scop->isl, heddle_text_str(&text));
	heddle_text_free(&text);
	return isl_multi_aff_pullback_multi_aff(isl_multi_aff_copy(group->offset), loops);
}

/* { L[x] -> T[e - offset] } in a shared tile */
static __isl_give isl_map *place_in_tile(prover *p, const heddle_leaf *leaf, const heddle_access *access)
{
	isl_multi_aff *offset = tile_start(p, leaf, access->group);
	isl_multi_pw_aff *index = isl_multi_pw_aff_pullback_multi_aff(isl_multi_pw_aff_copy(access->index),
								      isl_multi_aff_copy(leaf->instance));
	index = isl_multi_pw_aff_sub(index, isl_multi_pw_aff_from_multi_aff(offset));
	return isl_map_from_multi_pw_aff(index);
}

static void push(prover *p, event_list *list, int at, const void *place, bool write, __isl_take isl_map *access)
{
	event e = {at, p->leaf[at], place, write, event_map(p, p->leaf[at], access)};
	HEDDLE_PUSH(p->scop->arena, list->item, list->n, e);
}

/* Accesses to memory that other threads can see. */
static void collect(prover *p, event_list *list)
{
	for (int i = 0; i < p->n_leaf; i++) {
		heddle_leaf *leaf = p->leaf[i];
		heddle_stmt *stmt = leaf->stmt;
		const heddle_access *target = &stmt->access[0];
		if (leaf->kind == HEDDLE_LEAF_MOVE || leaf->kind == HEDDLE_LEAF_COPY)
			push(p, list, i, leaf->group, true, isl_map_from_multi_aff(isl_multi_aff_copy(leaf->position)));
		if (leaf->kind == HEDDLE_LEAF_STORE)
			push(p, list, i, target->tensor, true, element_of(leaf, target));
		if ((leaf->kind == HEDDLE_LEAF_FINISH || (leaf->kind == HEDDLE_LEAF_COMPUTE && !stmt->reduction)) &&
		    target->group->space == HEDDLE_SPACE_GLOBAL)
			push(p, list, i, target->tensor, true, element_of(leaf, target));
		if (leaf->kind != HEDDLE_LEAF_COMPUTE)
			continue;
		for (int a = 1; a < stmt->n_access; a++) {
			const heddle_access *access = &stmt->access[a];
			if (access->group->space == HEDDLE_SPACE_SHARED)
				push(p, list, i, access->group, false, place_in_tile(p, leaf, access));
			else if (access->group->space == HEDDLE_SPACE_GLOBAL && heddle_kernel_writes(p->kernel, access->tensor))
				push(p, list, i, access->tensor, false, element_of(leaf, access));
		}
	}
}

/* ---- instances ----------------------------------------------------------------------------------------------------------- */

/* { E[blocks, thread, x] -> S[d] } */
static __isl_give isl_map *instances(prover *p, const heddle_leaf *leaf)
{
	return event_map(p, leaf, isl_map_from_multi_aff(isl_multi_aff_copy(leaf->instance)));
}

/* Do all lanes run what one could?  Then each has its own copy of the result. */
static bool replicated(prover *p, const heddle_leaf *leaf)
{
	for (int d = 0; d < leaf->stmt->n_dim; d++)
		if (leaf->stmt->dim[d].member < 0 && leaf->stmt->dim[d].layout.threads > 1)
			return false;
	bool global = leaf->stmt->access[0].group->space == HEDDLE_SPACE_GLOBAL;
	return p->kernel->lanes > 1 && (leaf->stmt->reduction || !global);
}

/* { thread : its lane is 0 } as a restriction of the events of a replicated leaf. */
static __isl_give isl_map *first_lane(prover *p, __isl_take isl_map *map)
{
	heddle_text text = {0};
	isl_size n = isl_map_dim(map, isl_dim_in);
	int thread = p->kernel->n_member;
	/* events have a name, what is left of them has none */
	heddle_text_add(&text, isl_map_has_tuple_id(map, isl_dim_in) == isl_bool_true ? "{ E[" : "{ [");
	for (int i = 0; i < n; i++)
		heddle_text_printf(&text, "%si%d", i ? ", " : "", i);
	heddle_text_printf(&text, "] : (floor(i%d/%lld) mod %lld) = 0 }", thread, (long long)p->kernel->lane_stride,
			   (long long)p->kernel->lanes);
	isl_set *lane = isl_set_read_from_str(p->scop->isl, heddle_text_str(&text));
	heddle_text_free(&text);
	return isl_map_intersect_domain(map, lane);
}

static int check_once(prover *p)
{
	for (int i = 0; i < p->n_leaf; i++) {
		heddle_leaf *leaf = p->leaf[i];
		if (leaf->kind != HEDDLE_LEAF_COMPUTE)
			continue;
		isl_map *map = instances(p, leaf);
		if (replicated(p, leaf))
			map = first_lane(p, map);
		bool once = isl_map_is_injective(map) == isl_bool_true;
		isl_set *mine = isl_map_range(map);
		for (int j = 0; j < i && once; j++) {
			if (p->leaf[j]->kind != HEDDLE_LEAF_COMPUTE || p->leaf[j]->stmt != leaf->stmt)
				continue;
			isl_set *other = isl_map_range(instances(p, p->leaf[j]));
			once = isl_set_is_disjoint(mine, other) == isl_bool_true;
			isl_set_free(other);
		}
		isl_set_free(mine);
		if (!once)
			return violated(p, leaf, "an instance would run twice");
	}
	return 0;
}

/* The instances in `set` that belong to the blocks of the branch. */
static __isl_give isl_set *in_blocks(prover *p, const heddle_stmt *stmt, __isl_take isl_set *set)
{
	heddle_text text = {0}, names = {0};
	for (int m = 0; m < p->kernel->n_member; m++)
		heddle_text_printf(&names, "%sc_%s_block", m ? ", " : "", p->kernel->member[m].name);
	heddle_text_printf(&text, "%s{ %s[", heddle_scop_params(p->scop, heddle_text_str(&names)), stmt->name);
	for (int d = 0; d < stmt->n_dim; d++)
		heddle_text_printf(&text, "%sd%d", d ? ", " : "", d);
	heddle_text_add(&text, "] : 1 = 1");
	for (int d = 0; d < stmt->n_dim; d++) {
		if (stmt->dim[d].member < 0)
			continue;
		const heddle_member *member = &p->kernel->member[stmt->dim[d].member];
		long long tile = (long long)member->layout.tile;
		heddle_text_printf(&text, " and %lld*c_%s_block <= d%d < %lld*c_%s_block + %lld", tile, member->name, d, tile,
				   member->name, tile);
	}
	heddle_text_add(&text, " }");
	isl_set *here = isl_set_read_from_str(p->scop->isl, heddle_text_str(&text));
	heddle_text_free(&text);
	heddle_text_free(&names);
	here = isl_set_intersect_params(here, isl_set_copy(p->blocks));
	set = isl_set_intersect(set, here);
	for (int i = (int)isl_set_dim(set, isl_dim_param) - 1; set && i >= 0; i--)
		if (varies(isl_set_get_dim_name(set, isl_dim_param, (unsigned)i)))
			set = isl_set_project_out(set, isl_dim_param, (unsigned)i, 1);
	return set;
}

/* Every instance that belongs to the blocks of the branch runs there. */
static int check_covered(prover *p)
{
	for (int s = 0; s < p->kernel->n_stmt; s++) {
		const heddle_stmt *stmt = p->kernel->stmt[s];
		isl_set *needed = in_blocks(p, stmt, isl_set_copy(stmt->domain));
		for (int i = 0; i < p->n_leaf; i++)
			if (p->leaf[i]->stmt == stmt && p->leaf[i]->kind == HEDDLE_LEAF_COMPUTE)
				needed = isl_set_subtract(needed, isl_map_range(instances(p, p->leaf[i])));
		bool none = isl_set_is_empty(needed) == isl_bool_true;
		isl_set_free(needed);
		if (!none)
			return missing(p, stmt, "instances would not run");
	}
	return 0;
}

/* Beyond the domain only sums that nobody keeps: private accumulators whose row is not stored. */
static int check_extra(prover *p)
{
	for (int i = 0; i < p->n_leaf; i++) {
		heddle_leaf *leaf = p->leaf[i];
		if (leaf->kind != HEDDLE_LEAF_COMPUTE)
			continue;
		isl_set *all = isl_map_range(instances(p, leaf));
		isl_set *extra = isl_set_subtract(all, isl_set_copy(leaf->stmt->domain));
		if (leaf->stmt->reduction) {
			/* allowed where the left-hand side itself does not exist */
			extra = isl_set_intersect(extra, isl_set_copy(leaf->stmt->lhs));
		}
		bool none = isl_set_is_empty(extra) == isl_bool_true;
		isl_set_free(extra);
		if (!none)
			return violated(p, leaf, "an instance outside the domain would run");
	}
	return 0;
}

/* ---- values ---------------------------------------------------------------------------------------------------------------- */

/* { [blocks, thread] -> T[e] } */
static __isl_give isl_map *by_thread(prover *p, __isl_take isl_map *map)
{
	unsigned keep = (unsigned)p->kernel->n_member + 1;
	isl_size n = isl_map_dim(map, isl_dim_in);
	return isl_map_project_out(map, isl_dim_in, keep, (unsigned)n - keep);
}

/* What the thread has written into the register group before leaf `at`. */
static __isl_give isl_map *written_before(prover *p, const heddle_group *group, int at)
{
	isl_map *written = NULL;
	for (int i = 0; i < at; i++) {
		heddle_leaf *leaf = p->leaf[i];
		if (leaf->stmt->access[0].group != group)
			continue;
		bool writes = leaf->stmt->in_group ? leaf->kind == HEDDLE_LEAF_INITIALISE
						   : leaf->kind == HEDDLE_LEAF_FINISH ||
							     (leaf->kind == HEDDLE_LEAF_COMPUTE && !leaf->stmt->reduction);
		if (!writes)
			continue;
		isl_map *map = by_thread(p, event_map(p, leaf, element_of(leaf, &leaf->stmt->access[0])));
		written = written ? isl_map_union(written, map) : map;
	}
	return written;
}

static int check_register(prover *p, int at, const heddle_access *access)
{
	isl_map *read = by_thread(p, event_map(p, p->leaf[at], element_of(p->leaf[at], access)));
	isl_map *written = written_before(p, access->group, at);
	bool good = written && isl_map_is_subset(read, written) == isl_bool_true;
	isl_map_free(read);
	isl_map_free(written);
	return good ? 0 : violated(p, p->leaf[at], "a register would be read by a thread that did not write it");
}

/* Everything read from the tile was moved in during the same round of the tile loops. */
static int check_tile(prover *p, int at, const heddle_access *access)
{
	heddle_leaf *leaf = p->leaf[at];
	isl_map *read = event_map(p, leaf, place_in_tile(p, leaf, access)), *moved = NULL;
	int round = 0;
	for (int i = 0; i < at; i++) {
		heddle_leaf *move = p->leaf[i];
		if ((move->kind != HEDDLE_LEAF_MOVE && move->kind != HEDDLE_LEAF_COPY) || move->group != access->group)
			continue;
		int common = 0;
		while (common < leaf->n_loop && common < move->n_loop && leaf->loop[common] == move->loop[common])
			common++;
		isl_map *map = event_map(p, move, isl_map_from_multi_aff(isl_multi_aff_copy(move->position)));
		/* the thread does not matter, nor loops inside the round; a full and a partial region never share loops */
		int tiles = 0;
		while (tiles < move->n_loop && move->loop[tiles]->part == HEDDLE_PART_TILE)
			tiles++;
		if (common < tiles) {
			isl_map_free(map);
			continue;
		}
		round = tiles;
		map = isl_map_project_out(map, isl_dim_in, (unsigned)(p->kernel->n_member + 1 + tiles),
					  (unsigned)(move->n_loop - tiles));
		map = isl_map_project_out(map, isl_dim_in, (unsigned)p->kernel->n_member, 1);
		moved = moved ? isl_map_union(moved, map) : map;
	}
	read = isl_map_project_out(read, isl_dim_in, (unsigned)(p->kernel->n_member + 1 + round),
				   (unsigned)(leaf->n_loop - round));
	read = isl_map_project_out(read, isl_dim_in, (unsigned)p->kernel->n_member, 1);
	bool good = moved && isl_map_is_subset(read, moved) == isl_bool_true;
	isl_map_free(read);
	isl_map_free(moved);
	return good ? 0 : violated(p, leaf, "a shared element would be read that was not moved in");
}

static int check_values(prover *p)
{
	for (int i = 0; i < p->n_leaf; i++) {
		heddle_leaf *leaf = p->leaf[i];
		heddle_stmt *stmt = leaf->stmt;
		if (leaf->kind == HEDDLE_LEAF_STORE && check_register(p, i, &stmt->access[0]) < 0)
			return -1;
		for (int a = 1; leaf->kind == HEDDLE_LEAF_COMPUTE && a < stmt->n_access; a++) {
			const heddle_access *access = &stmt->access[a];
			if (access->group->space == HEDDLE_SPACE_REGISTER && check_register(p, i, access) < 0)
				return -1;
			if (access->group->space == HEDDLE_SPACE_SHARED && check_tile(p, i, access) < 0)
				return -1;
		}
	}
	return 0;
}

/* What others see of a register tensor: all of it is stored, after the last write. */
static int check_stored(prover *p, const heddle_group *group)
{
	const heddle_stmt *first = group->first_writer;
	isl_set *needed = in_blocks(p, first, isl_set_copy(first->initialise ? first->lhs : first->domain));
	needed = isl_set_apply(needed, isl_map_from_multi_pw_aff(isl_multi_pw_aff_copy(first->access[0].index)));
	bool last = true, stored = false;
	for (int i = 0; i < p->n_leaf; i++) {
		const heddle_leaf *leaf = p->leaf[i];
		if (leaf->kind == HEDDLE_LEAF_STORE && leaf->group == group) {
			isl_map *map = event_map(p, leaf, element_of(leaf, &leaf->stmt->access[0]));
			needed = isl_set_subtract(needed, isl_map_range(map));
			stored = true;
		} else if (leaf->kind != HEDDLE_LEAF_MOVE && leaf->kind != HEDDLE_LEAF_COPY && leaf->kind != HEDDLE_LEAF_WAIT &&
			   leaf->kind != HEDDLE_LEAF_BARRIER && leaf->stmt->access[0].group == group) {
			last = last && !stored;
		}
	}
	bool all = isl_set_is_empty(needed) == isl_bool_true;
	isl_set_free(needed);
	if (!all)
		return missing(p, first, "elements of its target would not be stored");
	return last ? 0 : missing(p, first, "its target would be stored before it is complete");
}

static int check_stores(prover *p)
{
	for (int g = 0; g < p->kernel->n_group; g++) {
		const heddle_group *group = p->kernel->group[g];
		if (group->space == HEDDLE_SPACE_REGISTER && group->live_out && check_stored(p, group) < 0)
			return -1;
	}
	return 0;
}

/* ---- sums ---------------------------------------------------------------------------------------------------------------------- */

static int common_loops(const heddle_leaf *a, const heddle_leaf *b)
{
	int n = 0;
	while (n < a->n_loop && n < b->n_loop && a->loop[n] == b->loop[n])
		n++;
	return n;
}

/* Loops around one life of the accumulators: over tiles of dimensions that are not reduced. */
static int life_loops(const heddle_leaf *leaf)
{
	int n = 0;
	while (n < leaf->n_loop && leaf->loop[n]->part == HEDDLE_PART_TILE && leaf->loop[n]->dim >= 0 &&
	       !leaf->stmt->dim[leaf->loop[n]->dim].reduction)
		n++;
	return n;
}

/* { L[x] -> [d] } without the reduced dimensions; then the vector members of those that the accumulator keeps apart. */
static __isl_give isl_map *accumulator(prover *p, const heddle_leaf *leaf, bool members)
{
	const heddle_stmt *stmt = leaf->stmt;
	isl_multi_aff *at = isl_multi_aff_copy(leaf->instance);
	for (int d = stmt->n_dim - 1; d >= 0; d--)
		if (stmt->dim[d].reduction)
			at = isl_multi_aff_drop_dims(at, isl_dim_out, (unsigned)d, 1);
	isl_map *map = isl_map_from_multi_aff(at);
	for (int i = 0; i < leaf->n_loop && members; i++) {
		int d = leaf->loop[i]->dim;
		if (d < 0 || leaf->loop[i]->part != HEDDLE_PART_VEC || !stmt->dim[d].reduction)
			continue;
		heddle_text text = {0};
		heddle_text_printf(&text, "%s{ %s[", p->mapped->params, leaf->name);
		loop_tuple(leaf, &text);
		heddle_text_printf(&text, "] -> [x%d] }", i);
		isl_map *member = isl_map_read_from_str(p->scop->isl, heddle_text_str(&text));
		heddle_text_free(&text);
		map = isl_map_flat_range_product(map, member);
	}
	return isl_map_reset_tuple_id(map, isl_dim_out);
}

/* { E[blocks, thread, life loops] -> accumulator } */
static __isl_give isl_map *holds(prover *p, const heddle_leaf *leaf, bool members)
{
	isl_map *map = event_map(p, leaf, accumulator(p, leaf, members));
	unsigned keep = (unsigned)(p->kernel->n_member + 1 + life_loops(leaf));
	isl_size n = isl_map_dim(map, isl_dim_in);
	map = isl_map_project_out(map, isl_dim_in, keep, (unsigned)n - keep);
	return isl_map_reset_tuple_id(map, isl_dim_in);
}

/* Threads that differ in their lane only become one. */
static __isl_give isl_map *without_lanes(prover *p, __isl_take isl_map *map)
{
	heddle_text text = {0}, out = {0};
	isl_size n = isl_map_dim(map, isl_dim_in);
	for (int i = 0; i < n; i++) {
		heddle_text_printf(&text, "%si%d", i ? ", " : "{ [", i);
		heddle_text_add(&out, i ? ", " : "");
		if (i != p->kernel->n_member)
			heddle_text_printf(&out, "i%d", i);
		else if (p->kernel->lane_stride == 1)
			heddle_text_printf(&out, "floor(i%d/%lld)", i, (long long)p->kernel->lanes);
		else
			heddle_text_printf(&out, "i%d mod %lld", i, (long long)p->kernel->lane_stride);
	}
	heddle_text_printf(&text, "] -> [%s] }", heddle_text_str(&out));
	isl_map *group = isl_map_read_from_str(p->scop->isl, heddle_text_str(&text));
	heddle_text_free(&text);
	heddle_text_free(&out);
	return isl_map_apply_domain(map, group);
}

static bool subset(__isl_take isl_map *a, __isl_take isl_map *b)
{
	bool result = isl_map_is_subset(a, b) == isl_bool_true;
	isl_map_free(a);
	isl_map_free(b);
	return result;
}

/* The leaves of one reduction in a branch, by position; -1: none. */
typedef struct sum {
	const heddle_stmt *stmt;
	int initialise, combine, finish, first, last; /* first and last compute */
	bool lanes;
} sum;

static int find_sum(prover *p, const heddle_stmt *stmt, sum *s)
{
	*s = (sum){stmt, -1, -1, -1, -1, -1, false};
	for (int d = 0; d < stmt->n_dim; d++)
		s->lanes |= stmt->dim[d].reduction && stmt->dim[d].reduce == HEDDLE_REDUCE_LANES;
	for (int i = 0; i < p->n_leaf; i++) {
		const heddle_leaf *leaf = p->leaf[i];
		if (leaf->stmt != stmt)
			continue;
		int *one = leaf->kind == HEDDLE_LEAF_INITIALISE ? &s->initialise
			   : leaf->kind == HEDDLE_LEAF_COMBINE	? &s->combine
			   : leaf->kind == HEDDLE_LEAF_FINISH	? &s->finish
								: NULL;
		if (one && *one >= 0)
			return violated(p, leaf, "a sum would be started or finished twice");
		if (one)
			*one = i;
		if (leaf->kind == HEDDLE_LEAF_COMPUTE)
			s->first = s->first < 0 ? i : s->first, s->last = i;
	}
	return 0;
}

/* Initialised, then summed, then combined, then finished, in the same round of the loops around. */
static int check_sum_order(prover *p, const sum *s)
{
	const heddle_leaf *start = p->leaf[s->initialise];
	int life = life_loops(start);
	if ((s->first >= 0 && s->first < s->initialise) || (s->combine >= 0 && (s->combine < s->last || s->combine < s->initialise)) ||
	    (s->finish >= 0 && (s->finish < s->last || s->finish < s->combine || s->finish < s->initialise)))
		return violated(p, start, "a sum would be used before it is complete");
	for (int i = 0; i < p->n_leaf; i++) {
		const heddle_leaf *leaf = p->leaf[i];
		bool part = leaf->kind == HEDDLE_LEAF_COMPUTE || leaf->kind == HEDDLE_LEAF_COMBINE || leaf->kind == HEDDLE_LEAF_FINISH;
		if (leaf->stmt == s->stmt && part && (life_loops(leaf) != life || common_loops(start, leaf) != life))
			return violated(p, leaf, "a sum would live across rounds of its loops");
	}
	return 0;
}

/* Is everything that `leaf` holds, in the lanes that matter, also held by the leaf at `other`? */
static bool held_by(prover *p, const heddle_leaf *leaf, int other, bool members, bool lanes, bool first)
{
	isl_map *a = holds(p, leaf, members), *b = holds(p, p->leaf[other], members);
	if (first)
		a = first_lane(p, a);
	if (lanes) {
		a = without_lanes(p, a);
		b = without_lanes(p, b);
	}
	return subset(a, b);
}

/* Results that do not exist have sums that nobody keeps. */
static bool computed_is_finished(prover *p, const sum *s, int i)
{
	isl_map *a = holds(p, p->leaf[i], false), *b = holds(p, p->leaf[s->finish], false);
	isl_set *exists = isl_set_copy(s->stmt->lhs);
	for (int d = s->stmt->n_dim - 1; d >= 0; d--)
		if (s->stmt->dim[d].reduction)
			exists = isl_set_project_out(exists, isl_dim_set, (unsigned)d, 1);
	a = isl_map_intersect_range(a, isl_set_reset_tuple_id(exists));
	if (s->lanes) {
		a = without_lanes(p, a);
		b = without_lanes(p, b);
	} else if (p->kernel->lanes > 1 && replicated(p, p->leaf[i]) &&
		   s->stmt->access[0].group->space == HEDDLE_SPACE_GLOBAL) {
		a = first_lane(p, a);
	}
	return subset(a, b);
}

static int check_finish(prover *p, const sum *s)
{
	const heddle_leaf *leaf = p->leaf[s->finish];
	bool global = s->stmt->access[0].group->space == HEDDLE_SPACE_GLOBAL;
	if (!held_by(p, leaf, s->initialise, false, false, false))
		return violated(p, leaf, "a thread would finish a sum that it does not hold");
	for (int i = 0; i < p->n_leaf; i++)
		if (p->leaf[i]->stmt == s->stmt && p->leaf[i]->kind == HEDDLE_LEAF_COMPUTE && !computed_is_finished(p, s, i))
			return violated(p, leaf, "a part of a sum would be in a thread that does not finish it");
	if (!global)
		return 0;
	isl_map *map = event_map(p, leaf, isl_map_from_multi_aff(isl_multi_aff_copy(leaf->instance)));
	bool once = isl_map_is_injective(map) == isl_bool_true;
	isl_set *extra = isl_set_subtract(isl_map_range(map), isl_set_copy(s->stmt->lhs));
	bool inside = isl_set_is_empty(extra) == isl_bool_true;
	isl_set_free(extra);
	if (!once)
		return violated(p, leaf, "a sum would be finished twice");
	return inside ? 0 : violated(p, leaf, "a sum that does not exist would be finished");
}

/* Every result that belongs to the blocks of the branch is finished; sums in the target's own registers are initialised. */
static int check_results(prover *p, const sum *s)
{
	const heddle_stmt *stmt = s->stmt;
	int at = stmt->in_group ? s->initialise : s->finish;
	isl_set *needed = in_blocks(p, stmt, isl_set_copy(stmt->initialise || stmt->in_group ? stmt->lhs : stmt->domain));
	for (int d = stmt->n_dim - 1; d >= 0; d--)
		if (stmt->dim[d].reduction)
			needed = isl_set_project_out(needed, isl_dim_set, (unsigned)d, 1);
	needed = isl_set_reset_tuple_id(needed);
	if (at >= 0)
		needed = isl_set_subtract(needed, isl_map_range(holds(p, p->leaf[at], false)));
	bool none = isl_set_is_empty(needed) == isl_bool_true;
	isl_set_free(needed);
	return none ? 0 : missing(p, stmt, "results of a reduction would not be finished");
}

/* { [blocks, life loops] } of a leaf */
static __isl_give isl_set *rounds(prover *p, const heddle_leaf *leaf)
{
	isl_set *set = isl_map_domain(holds(p, leaf, false));
	return isl_set_project_out(set, isl_dim_set, (unsigned)p->kernel->n_member, 1);
}

static int check_sum(prover *p, const heddle_stmt *stmt)
{
	sum s;
	if (find_sum(p, stmt, &s) < 0 || check_results(p, &s) < 0)
		return -1;
	if (s.first < 0 && s.finish < 0)
		return 0;
	if (s.initialise < 0)
		return missing(p, stmt, "a sum would not be initialised");
	if (check_sum_order(p, &s) < 0)
		return -1;
	for (int i = 0; i < p->n_leaf; i++) {
		const heddle_leaf *leaf = p->leaf[i];
		if (leaf->stmt != stmt || leaf->kind != HEDDLE_LEAF_COMPUTE)
			continue;
		if (!held_by(p, leaf, s.initialise, true, false, false))
			return violated(p, leaf, "a thread would add to a sum that it did not initialise");
		if (!s.lanes)
			continue;
		isl_set *need = rounds(p, leaf), *have = s.combine >= 0 ? rounds(p, p->leaf[s.combine]) : NULL;
		bool combined = have && isl_set_is_subset(need, have) == isl_bool_true;
		isl_set_free(need);
		isl_set_free(have);
		if (!combined)
			return violated(p, leaf, "the parts of a sum would not be combined");
	}
	return s.finish >= 0 ? check_finish(p, &s) : 0;
}

static int check_sums(prover *p)
{
	for (int i = 0; i < p->kernel->n_stmt; i++)
		if (p->kernel->stmt[i]->reduction && check_sum(p, p->kernel->stmt[i]) < 0)
			return -1;
	return 0;
}

/* ---- threads ------------------------------------------------------------------------------------------------------------------- */

/* Does the parameter say where a thread is, other than by the coordinates that the leaf is laid out with? */
static bool foreign(prover *p, const heddle_leaf *leaf, const char *name)
{
	size_t length = name ? strlen(name) : 0;
	if (!varies(name) || (length > 6 && !strcmp(name + length - 6, "_block")))
		return false;
	if (leaf->kind == HEDDLE_LEAF_BARRIER || leaf->kind == HEDDLE_LEAF_COMBINE || leaf->kind == HEDDLE_LEAF_COPY ||
	    leaf->kind == HEDDLE_LEAF_WAIT)
		return true;
	bool copy = false;
	for (int i = 0; i < p->mapped->n_columns; i++) {
		long long columns = (long long)p->mapped->columns[i];
		bool own = leaf->kind == HEDDLE_LEAF_MOVE && columns == copy_columns(p, leaf->group);
		bool this = !strcmp(name, heddle_arena_printf(p->scop->arena, "c_row%lld", columns)) ||
			    !strcmp(name, heddle_arena_printf(p->scop->arena, "c_column%lld", columns));
		if (this && own)
			return false;
		copy |= this;
	}
	return copy || leaf->kind == HEDDLE_LEAF_MOVE;
}

static int check_threads(prover *p)
{
	for (int l = 0; l < p->n_leaf; l++) {
		heddle_leaf *leaf = p->leaf[l];
		isl_set *wide = isl_set_copy(leaf->domain);
		for (int i = (int)isl_set_dim(wide, isl_dim_param) - 1; wide && i >= 0; i--)
			if (foreign(p, leaf, isl_set_get_dim_name(wide, isl_dim_param, (unsigned)i)))
				wide = isl_set_project_out(wide, isl_dim_param, (unsigned)i, 1);
		wide = isl_set_intersect_params(wide, isl_set_copy(p->mapped->context));
		bool same = isl_set_is_subset(wide, leaf->domain) == isl_bool_true;
		isl_set_free(wide);
		if (!same)
			return violated(p, leaf, "what runs would depend on coordinates that are not its own");
	}
	return 0;
}

/* ---- order --------------------------------------------------------------------------------------------------------------------- */

/* Statements that depend on each other share no loop and follow each other as written; what a store writes was complete. */
static int check_sequence(prover *p)
{
	for (int d = 0; d < p->scop->n_dependence; d++) {
		const heddle_dependence *dependence = &p->scop->dependence[d];
		if (dependence->input || dependence->source == dependence->sink)
			continue;
		for (int i = 0; i < p->n_leaf; i++)
			for (int j = 0; j < p->n_leaf; j++) {
				const heddle_leaf *a = p->leaf[i], *b = p->leaf[j];
				if (a->stmt != dependence->source || b->stmt != dependence->sink ||
				    a->kind == HEDDLE_LEAF_STORE || a->kind == HEDDLE_LEAF_BARRIER || b->kind == HEDDLE_LEAF_BARRIER ||
				    a->kind == HEDDLE_LEAF_WAIT || b->kind == HEDDLE_LEAF_WAIT)
					continue;
				if (i > j || common_loops(a, b))
					return violated(p, b, "it would run before a statement that it depends on");
			}
	}
	return 0;
}

/* Dependences of a statement on itself run forward in time, in one thread or with a barrier (check_races). */
static int check_order(prover *p)
{
	for (int i = 0; i < p->n_leaf; i++) {
		heddle_leaf *leaf = p->leaf[i];
		if (leaf->kind != HEDDLE_LEAF_COMPUTE)
			continue;
		for (int d = 0; d < p->scop->n_dependence; d++) {
			const heddle_dependence *dependence = &p->scop->dependence[d];
			if (dependence->source != leaf->stmt || dependence->sink != leaf->stmt || dependence->input)
				continue;
			isl_map *at = instances(p, leaf);
			isl_map *pairs = isl_map_apply_range(isl_map_copy(at), isl_map_copy(dependence->relation));
			pairs = isl_map_apply_range(pairs, isl_map_reverse(at)); /* { E -> E' } */
			unsigned skip = (unsigned)p->kernel->n_member + 1;
			isl_map *same_block = isl_map_universe(isl_map_get_space(pairs));
			for (int m = 0; m < p->kernel->n_member; m++)
				same_block = isl_map_equate(same_block, isl_dim_in, m, isl_dim_out, m);
			bool block = isl_map_is_subset(pairs, same_block) == isl_bool_true;
			isl_map_free(same_block);
			pairs = isl_map_project_out(pairs, isl_dim_in, 0, skip);
			pairs = isl_map_project_out(pairs, isl_dim_out, 0, skip);
			isl_space *space = isl_space_domain(isl_map_get_space(pairs));
			isl_map *backward = isl_map_intersect(pairs, isl_map_lex_ge(space));
			bool forward = isl_map_is_empty(backward) == isl_bool_true;
			isl_map_free(backward);
			if (!block)
				return violated(p, leaf, "dependent instances would be in different blocks");
			if (!forward)
				return violated(p, leaf, "a dependence would run backwards");
		}
	}
	return 0;
}

/* ---- races ----------------------------------------------------------------------------------------------------------------------- */

/* Does the barrier run in the same round of its loops whenever the leaf does? */
static bool always_with(prover *p, const heddle_leaf *barrier, const heddle_leaf *leaf)
{
	if (common_loops(barrier, leaf) != barrier->n_loop)
		return false;
	isl_set *needs = runs(p, leaf);
	isl_size n = isl_set_dim(needs, isl_dim_set);
	needs = isl_set_project_out(needs, isl_dim_set, (unsigned)barrier->n_loop, (unsigned)(n - barrier->n_loop));
	needs = isl_set_set_tuple_name(needs, barrier->name);
	isl_set *has = runs(p, barrier);
	bool always = isl_set_is_subset(needs, has) == isl_bool_true;
	isl_set_free(needs);
	isl_set_free(has);
	return always;
}

/* Is there a barrier that every pair carried at `level` passes?  level == common: in the same round of all common loops. A
 * barrier after the first access in one of its loops, or before the second one in one of its, lies between them when that
 * loop is inside the one that carries the pair. */
static bool separated(prover *p, int a, int b, int level, int common)
{
	int depth = level < common ? level + 1 : common;
	for (int z = 0; z < p->n_leaf; z++) {
		const heddle_leaf *barrier = p->leaf[z];
		if (barrier->kind != HEDDLE_LEAF_BARRIER || barrier->n_loop < depth)
			continue;
		if (level == common && (z < a || z > b))
			continue;
		if ((z > a && always_with(p, barrier, p->leaf[a])) || (z < b && always_with(p, barrier, p->leaf[b])))
			return true;
	}
	return false;
}

/* { E -> E' } : same block, different thread, carried at `level` of `common` loops */
static __isl_give isl_map *carried(prover *p, __isl_take isl_map *pairs, int level, int common)
{
	int n = p->kernel->n_member;
	isl_map *lower = isl_map_copy(pairs), *upper = pairs;
	for (int m = 0; m < n; m++) {
		lower = isl_map_equate(lower, isl_dim_in, m, isl_dim_out, m);
		upper = isl_map_equate(upper, isl_dim_in, m, isl_dim_out, m);
	}
	lower = isl_map_order_lt(lower, isl_dim_in, n, isl_dim_out, n);
	upper = isl_map_order_gt(upper, isl_dim_in, n, isl_dim_out, n);
	pairs = isl_map_union(lower, upper);
	for (int l = 0; l < level; l++)
		pairs = isl_map_equate(pairs, isl_dim_in, n + 1 + l, isl_dim_out, n + 1 + l);
	if (level < common)
		pairs = isl_map_order_lt(pairs, isl_dim_in, n + 1 + level, isl_dim_out, n + 1 + level);
	return pairs;
}

static bool race_free(prover *p, const event *a, const event *b)
{
	int common = common_loops(a->leaf, b->leaf);
	for (int level = 0; level <= common; level++) {
		/* in one round the first leaf comes first; a leaf meets itself in one round only as a double write */
		if (level == common && (a->at > b->at || (a->at == b->at && !a->write)))
			continue;
		bool safe = a->at != b->at || level < common ? separated(p, a->at, b->at, level, common) : false;
		if (safe)
			continue;
		isl_map *pairs = isl_map_apply_range(isl_map_copy(a->map), isl_map_reverse(isl_map_copy(b->map)));
		pairs = carried(p, pairs, level, common);
		bool empty = isl_map_is_empty(pairs) == isl_bool_true;
		isl_map_free(pairs);
		if (!empty)
			return false;
	}
	return true;
}

/* Global elements that two blocks share are only read. */
static bool block_free(prover *p, const event *a, const event *b)
{
	isl_map *pairs = isl_map_apply_range(isl_map_copy(a->map), isl_map_reverse(isl_map_copy(b->map)));
	bool good = true;
	for (int m = 0; m < p->kernel->n_member && good; m++) {
		isl_map *equal = isl_map_equate(isl_map_universe(isl_map_get_space(pairs)), isl_dim_in, m, isl_dim_out, m);
		good = isl_map_is_subset(pairs, equal) == isl_bool_true;
		isl_map_free(equal);
	}
	isl_map_free(pairs);
	return good;
}

static bool is_move(const heddle_leaf *leaf)
{
	return leaf->kind == HEDDLE_LEAF_MOVE || leaf->kind == HEDDLE_LEAF_COPY;
}

/* What a round copies it also waits for, before anything reads the tile. */
static int check_waits(prover *p)
{
	for (int i = 0; i < p->n_leaf; i++) {
		const heddle_leaf *copy = p->leaf[i];
		bool waited = copy->kind != HEDDLE_LEAF_COPY, read = false;
		for (int z = i + 1; z < p->n_leaf && !waited && !read; z++) {
			waited = p->leaf[z]->kind == HEDDLE_LEAF_WAIT && always_with(p, p->leaf[z], copy);
			for (int a = 1; p->leaf[z]->kind == HEDDLE_LEAF_COMPUTE && a < p->leaf[z]->stmt->n_access; a++)
				read |= p->leaf[z]->stmt->access[a].group == copy->group;
		}
		if (!waited)
			return violated(p, copy, "a copy would not be waited for");
	}
	return 0;
}

static int check_races(prover *p, event_list *list)
{
	for (int i = 0; i < list->n; i++)
		for (int j = 0; j < list->n; j++) {
			const event *a = &list->item[i], *b = &list->item[j];
			if (a->place != b->place || (!a->write && !b->write))
				continue;
			bool shared = is_move(a->leaf) || is_move(b->leaf);
			bool beside = a->leaf->kind == HEDDLE_LEAF_COPY || b->leaf->kind == HEDDLE_LEAF_COPY;
			if ((p->kernel->threads > 1 || beside) && !race_free(p, a, b))
				return violated(p, b->leaf, "threads would race on an element");
			if (!shared && i <= j && !block_free(p, a, b))
				return violated(p, b->leaf, "blocks would race on an element");
		}
	return 0;
}

/* ---- bounds ------------------------------------------------------------------------------------------------------------------------ */

/* { T[e] : 0 <= e < extent } */
static __isl_give isl_set *tensor_box(prover *p, const heddle_tensor *tensor, __isl_take isl_space *space)
{
	heddle_stmt shape = {.all = isl_set_universe(isl_space_copy(space))};
	isl_set *box = isl_set_universe(space);
	for (int e = 0; e < tensor->rank; e++) {
		isl_pw_aff *extent = heddle_scop_bound(p->scop, &shape, tensor->extent[e]);
		isl_local_space *local = isl_local_space_from_space(isl_set_get_space(box));
		isl_pw_aff *at = isl_pw_aff_from_aff(isl_aff_var_on_domain(local, isl_dim_set, (unsigned)e));
		isl_set *low = isl_pw_aff_nonneg_set(isl_pw_aff_copy(at));
		box = isl_set_intersect(box, isl_set_intersect(low, isl_pw_aff_lt_set(at, extent)));
	}
	isl_set_free(shape.all);
	return box;
}

/* Every element that the instances touch exists. */
static bool inside(prover *p, const heddle_tensor *tensor, __isl_take isl_map *element, __isl_take isl_set *domain)
{
	isl_set *touched = isl_map_range(isl_map_intersect_domain(element, domain));
	isl_set *box = tensor_box(p, tensor, isl_set_get_space(touched));
	bool good = isl_set_is_subset(touched, box) == isl_bool_true;
	isl_set_free(touched);
	isl_set_free(box);
	return good;
}

/* Subscripts in a tile stay below the tile's sizes. */
static bool inside_tile(prover *p, const heddle_leaf *leaf, const heddle_group *group, __isl_take isl_map *place)
{
	isl_set *touched = isl_map_range(isl_map_intersect_domain(place, runs(p, leaf)));
	isl_set *box = isl_set_universe(isl_set_get_space(touched));
	for (int e = 0; e < group->tensor->rank; e++) {
		box = isl_set_lower_bound_si(box, isl_dim_set, (unsigned)e, 0);
		box = isl_set_upper_bound_si(box, isl_dim_set, (unsigned)e, (int)group->size[e] - 1);
	}
	bool good = isl_set_is_subset(touched, box) == isl_bool_true;
	isl_set_free(touched);
	isl_set_free(box);
	return good;
}

/* The move takes each element to its own place in the tile, and fills only what does not exist. */
static int check_move(prover *p, const heddle_leaf *leaf)
{
	isl_multi_aff *element = isl_multi_aff_add(tile_start(p, leaf, leaf->group), isl_multi_aff_copy(leaf->position));
	bool same = isl_multi_aff_plain_is_equal(element, leaf->element) == isl_bool_true;
	isl_multi_aff_free(element);
	if (!same)
		return violated(p, leaf, "a move would take elements to other places");
	isl_set *filled = runs(p, leaf);
	if (!leaf->fill) /* that only fills */
		filled = isl_set_subtract(filled, isl_set_copy(leaf->valid));
	if (leaf->kind == HEDDLE_LEAF_COPY && isl_set_is_empty(filled) != isl_bool_true) {
		isl_set_free(filled);
		return violated(p, leaf, "a copy would leave its tensor");
	}
	filled = isl_set_apply(filled, isl_map_from_multi_aff(isl_multi_aff_copy(leaf->element)));
	filled = isl_set_intersect(filled, tensor_box(p, leaf->group->tensor, isl_set_get_space(filled)));
	bool none = isl_set_is_empty(filled) == isl_bool_true;
	isl_set_free(filled);
	return none ? 0 : violated(p, leaf, "a move would not take an element that exists");
}

static int check_access_bounds(prover *p, const heddle_leaf *leaf, const heddle_access *access)
{
	if (!access->affine) {
		p->conditional = true;
		return 0;
	}
	if (access->group->space == HEDDLE_SPACE_SHARED)
		return inside_tile(p, leaf, access->group, place_in_tile(p, leaf, access))
			       ? 0
			       : violated(p, leaf, "an access would leave its tile");
	if (access->group->space == HEDDLE_SPACE_GLOBAL && !inside(p, access->tensor, element_of(leaf, access), runs(p, leaf)))
		return violated(p, leaf, "an access would leave its tensor");
	return 0;
}

static int check_bounds(prover *p)
{
	for (int i = 0; i < p->n_leaf; i++) {
		heddle_leaf *leaf = p->leaf[i];
		heddle_stmt *stmt = leaf->stmt;
		if (is_move(leaf)) {
			isl_set *valid = isl_set_intersect(isl_set_copy(leaf->valid), runs(p, leaf));
			if (!inside(p, leaf->group->tensor, isl_map_from_multi_aff(isl_multi_aff_copy(leaf->element)), valid) ||
			    !inside_tile(p, leaf, leaf->group, isl_map_from_multi_aff(isl_multi_aff_copy(leaf->position))))
				return violated(p, leaf, "a move would leave its tensor or tile");
			if (check_move(p, leaf) < 0)
				return -1;
		}
		if (leaf->kind == HEDDLE_LEAF_STORE &&
		    !inside(p, stmt->access[0].tensor, element_of(leaf, &stmt->access[0]), runs(p, leaf)))
			return violated(p, leaf, "a store would leave its tensor");
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
	collect(p, &events);
	if (check_threads(p) < 0 || check_covered(p) < 0 || check_once(p) < 0 || check_extra(p) < 0 || check_sums(p) < 0 ||
	    check_values(p) < 0 || check_stores(p) < 0 || check_sequence(p) < 0 || check_order(p) < 0 ||
	    check_waits(p) < 0 || check_races(p, &events) < 0 || check_bounds(p) < 0)
		status = -1;
	for (int i = 0; i < events.n; i++)
		isl_map_free(events.item[i].map);
	return status;
}

/* The branches together run all blocks that instances belong to. */
static int check_blocks(prover *p, __isl_keep isl_set *blocks)
{
	for (int s = 0; s < p->kernel->n_stmt; s++) {
		const heddle_stmt *stmt = p->kernel->stmt[s];
		p->blocks = blocks ? isl_set_copy(blocks) : isl_set_empty(isl_set_get_space(p->scop->context));
		isl_set *here = in_blocks(p, stmt, isl_set_copy(stmt->domain));
		bool all = isl_set_is_subset(stmt->domain, here) == isl_bool_true;
		isl_set_free(here);
		isl_set_free(p->blocks);
		if (!all)
			return missing(p, stmt, "instances belong to blocks that would not run");
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

/* No block is launched that the branches do not know of. */
static int check_grid(prover *p, __isl_keep isl_set *blocks)
{
	isl_set *grid = isl_set_copy(p->scop->context);
	for (int m = 0; m < p->kernel->n_member; m++)
		grid = isl_set_intersect(grid, grid_along(p, m));
	bool known = blocks ? isl_set_is_subset(grid, blocks) == isl_bool_true : isl_set_is_empty(grid) == isl_bool_true;
	isl_set_free(grid);
	return known ? 0 : missing(p, p->kernel->stmt[0], "blocks would be launched that no branch was made for");
}

static int prove_kernel(heddle_scop *scop, heddle_kernel *kernel, bool *conditional)
{
	heddle_mapped *mapped = kernel->mapped;
	int status = 0;
	isl_set *blocks = NULL;
	prover p = {.scop = scop, .kernel = kernel, .mapped = mapped};
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
	if (status == 0)
		status = check_blocks(&p, blocks) < 0 ? -1 : check_grid(&p, blocks);
	isl_set_free(blocks);
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
