/* prove: what instances run and where, and that each value that is read was put there before.
 * SPDX-License-Identifier: MIT
 */
#include "model/prove.h"

#include <isl/id.h>
#include <isl/space.h>
#include <string.h>

int heddle_prove_violated(prover *p, const heddle_leaf *leaf, const char *what)
{
	/* an answer that isl could not give is not a violation: heddle_pass_prove says so */
	if (isl_ctx_last_error(p->scop->isl) != isl_error_none)
		return -1;
	return heddle_error(p->scop->ctx, 970, &leaf->stmt->source->location,
			    "internal: kernel %d, %s, statement %s: %s (pass `map`)", p->kernel->position,
			    p->branch && p->branch->interior ? "interior" : "boundary", leaf->stmt->name, what);
}

int heddle_prove_missing(prover *p, const heddle_stmt *stmt, const char *what)
{
	const heddle_leaf none = {.stmt = (heddle_stmt *)(uintptr_t)stmt};
	return heddle_prove_violated(p, &none, what);
}

/* ---- events ------------------------------------------------------------------------------------------------------------ */

void heddle_prove_loop_tuple(const heddle_leaf *leaf, heddle_text *out)
{
	for (int i = 0; i < leaf->n_loop; i++)
		heddle_text_printf(out, "%sx%d", i ? ", " : "", i);
}

/* Threads side by side in a row of the tile, as the move lays them out. */
int64_t heddle_prove_copy_columns(const prover *p, const heddle_group *group)
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
	heddle_prove_loop_tuple(leaf, &text);
	heddle_text_add(&text, "] -> E[");
	for (int m = 0; m < kernel->n_member; m++) {
		heddle_text_printf(&text, "b%d, ", m);
		heddle_text_printf(&where, "b%d = c_%s_block and ", m, kernel->member[m].name);
	}
	heddle_text_add(&where, "thread = 0");
	if (leaf->kind == HEDDLE_LEAF_COPY) { /* none of the threads */
		heddle_text_add(&where, " - 1");
	} else if (leaf->kind == HEDDLE_LEAF_MOVE) {
		int64_t columns = heddle_prove_copy_columns(p, leaf->group);
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
	heddle_prove_loop_tuple(leaf, &text);
	heddle_text_printf(&text, "] : %s }", heddle_text_str(&where));
	isl_map *map = isl_map_read_from_str(p->scop->isl, heddle_text_str(&text));
	heddle_text_free(&text);
	heddle_text_free(&where);
	return map;
}

/* Is this parameter a coordinate, not a size?  (Without a name isl has failed: the pass reports it at its end.) */
bool heddle_prove_varies(const char *parameter)
{
	return parameter && strncmp(parameter, "N_", 2) != 0;
}

/* Coordinates have become dimensions; only sizes stay parameters. */
static __isl_give isl_map *without_coordinates(__isl_take isl_map *map)
{
	for (int i = (int)isl_map_dim(map, isl_dim_param) - 1; map && i >= 0; i--)
		if (heddle_prove_varies(isl_map_get_dim_name(map, isl_dim_param, (unsigned)i)))
			map = isl_map_project_out(map, isl_dim_param, (unsigned)i, 1);
	return map;
}

__isl_give isl_set *heddle_prove_runs(prover *p, const heddle_leaf *leaf)
{
	return isl_set_intersect_params(isl_set_copy(leaf->domain), isl_set_copy(p->blocks));
}

__isl_give isl_map *heddle_prove_event_map(prover *p, const heddle_leaf *leaf, __isl_take isl_map *access)
{
	access = isl_map_intersect_domain(access, heddle_prove_runs(p, leaf));
	isl_map *map = isl_map_apply_range(isl_map_reverse(named_instances(p, leaf)), access);
	return without_coordinates(map);
}

/* { L[x] -> T[e] } */
__isl_give isl_map *heddle_prove_element_of(const heddle_leaf *leaf, const heddle_access *access)
{
	isl_map *instance = isl_map_from_multi_aff(isl_multi_aff_copy(leaf->instance));
	if (access->affine) {
		isl_map *index = isl_map_from_multi_pw_aff(isl_multi_pw_aff_copy(access->index));
		return isl_map_apply_range(instance, index);
	}
	return isl_map_apply_range(instance, isl_map_copy(access->relation));
}

/* { L[x] -> T[e] } : the first element of the tile of `group` in the round of the leaf */
__isl_give isl_multi_aff *heddle_prove_tile_start(prover *p, const heddle_leaf *leaf, const heddle_group *group)
{
	heddle_text text = {0};
	int at = 0;
	heddle_text_printf(&text, "%s{ %s[", p->mapped->params, leaf->name);
	heddle_prove_loop_tuple(leaf, &text);
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
__isl_give isl_map *heddle_prove_place_in_tile(prover *p, const heddle_leaf *leaf, const heddle_access *access)
{
	isl_multi_aff *offset = heddle_prove_tile_start(p, leaf, access->group);
	isl_multi_pw_aff *index = isl_multi_pw_aff_pullback_multi_aff(isl_multi_pw_aff_copy(access->index),
								      isl_multi_aff_copy(leaf->instance));
	index = isl_multi_pw_aff_sub(index, isl_multi_pw_aff_from_multi_aff(offset));
	return isl_map_from_multi_pw_aff(index);
}

static void push(prover *p, event_list *list, int at, const void *place, bool write, __isl_take isl_map *access)
{
	event e = {at, p->leaf[at], place, write, heddle_prove_event_map(p, p->leaf[at], access)};
	HEDDLE_PUSH(p->scop->arena, list->item, list->n, e);
}

/* Accesses to memory that other threads can see. */
void heddle_prove_collect(prover *p, event_list *list)
{
	for (int i = 0; i < p->n_leaf; i++) {
		heddle_leaf *leaf = p->leaf[i];
		heddle_stmt *stmt = leaf->stmt;
		const heddle_access *target = &stmt->access[0];
		if (leaf->kind == HEDDLE_LEAF_MOVE || leaf->kind == HEDDLE_LEAF_COPY)
			push(p, list, i, leaf->group, true, isl_map_from_multi_aff(isl_multi_aff_copy(leaf->position)));
		if (leaf->kind == HEDDLE_LEAF_STORE)
			push(p, list, i, target->tensor, true, heddle_prove_element_of(leaf, target));
		if ((leaf->kind == HEDDLE_LEAF_FINISH || (leaf->kind == HEDDLE_LEAF_COMPUTE && !stmt->reduction)) &&
		    target->group->space == HEDDLE_SPACE_GLOBAL)
			push(p, list, i, target->tensor, true, heddle_prove_element_of(leaf, target));
		if (leaf->kind != HEDDLE_LEAF_COMPUTE)
			continue;
		for (int a = 1; a < stmt->n_access; a++) {
			const heddle_access *access = &stmt->access[a];
			if (access->group->space == HEDDLE_SPACE_SHARED)
				push(p, list, i, access->group, false, heddle_prove_place_in_tile(p, leaf, access));
			else if (access->group->space == HEDDLE_SPACE_GLOBAL && heddle_kernel_writes(p->kernel, access->tensor))
				push(p, list, i, access->tensor, false, heddle_prove_element_of(leaf, access));
		}
	}
}

/* ---- instances ----------------------------------------------------------------------------------------------------------- */

/* { E[blocks, thread, x] -> S[d] } */
__isl_give isl_map *heddle_prove_instances(prover *p, const heddle_leaf *leaf)
{
	return heddle_prove_event_map(p, leaf, isl_map_from_multi_aff(isl_multi_aff_copy(leaf->instance)));
}

/* Do all lanes run what one could?  Then each has its own copy of the result. */
bool heddle_prove_replicated(prover *p, const heddle_leaf *leaf)
{
	for (int d = 0; d < leaf->stmt->n_dim; d++)
		if (leaf->stmt->dim[d].member < 0 && leaf->stmt->dim[d].layout.threads > 1)
			return false;
	bool global = leaf->stmt->access[0].group->space == HEDDLE_SPACE_GLOBAL;
	return p->kernel->lanes > 1 && (leaf->stmt->reduction || !global);
}

/* { thread : its lane is 0 } as a restriction of the events of a replicated leaf. */
__isl_give isl_map *heddle_prove_first_lane(prover *p, __isl_take isl_map *map)
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

int heddle_prove_once(prover *p)
{
	for (int i = 0; i < p->n_leaf; i++) {
		heddle_leaf *leaf = p->leaf[i];
		if (leaf->kind != HEDDLE_LEAF_COMPUTE)
			continue;
		isl_map *map = heddle_prove_instances(p, leaf);
		if (heddle_prove_replicated(p, leaf))
			map = heddle_prove_first_lane(p, map);
		bool once = isl_map_is_injective(map) == isl_bool_true;
		isl_set *mine = isl_map_range(map);
		for (int j = 0; j < i && once; j++) {
			if (p->leaf[j]->kind != HEDDLE_LEAF_COMPUTE || p->leaf[j]->stmt != leaf->stmt)
				continue;
			isl_set *other = isl_map_range(heddle_prove_instances(p, p->leaf[j]));
			once = isl_set_is_disjoint(mine, other) == isl_bool_true;
			isl_set_free(other);
		}
		isl_set_free(mine);
		if (!once)
			return heddle_prove_violated(p, leaf, "an instance would run twice");
	}
	return 0;
}

/* The instances in `set` that belong to the blocks of the branch. */
__isl_give isl_set *heddle_prove_in_blocks(prover *p, const heddle_stmt *stmt, __isl_take isl_set *set)
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
		if (heddle_prove_varies(isl_set_get_dim_name(set, isl_dim_param, (unsigned)i)))
			set = isl_set_project_out(set, isl_dim_param, (unsigned)i, 1);
	return set;
}

/* Every instance that belongs to the blocks of the branch runs there. */
int heddle_prove_covered(prover *p)
{
	for (int s = 0; s < p->kernel->n_stmt; s++) {
		const heddle_stmt *stmt = p->kernel->stmt[s];
		isl_set *needed = heddle_prove_in_blocks(p, stmt, isl_set_copy(stmt->domain));
		for (int i = 0; i < p->n_leaf; i++)
			if (p->leaf[i]->stmt == stmt && p->leaf[i]->kind == HEDDLE_LEAF_COMPUTE)
				needed = isl_set_subtract(needed, isl_map_range(heddle_prove_instances(p, p->leaf[i])));
		bool none = isl_set_is_empty(needed) == isl_bool_true;
		isl_set_free(needed);
		if (!none)
			return heddle_prove_missing(p, stmt, "instances would not run");
	}
	return 0;
}

/* Beyond the domain only sums that nobody keeps: private accumulators whose row is not stored. */
int heddle_prove_extra(prover *p)
{
	for (int i = 0; i < p->n_leaf; i++) {
		heddle_leaf *leaf = p->leaf[i];
		if (leaf->kind != HEDDLE_LEAF_COMPUTE)
			continue;
		isl_set *all = isl_map_range(heddle_prove_instances(p, leaf));
		isl_set *extra = isl_set_subtract(all, isl_set_copy(leaf->stmt->domain));
		if (leaf->stmt->reduction) {
			/* allowed where the left-hand side itself does not exist */
			extra = isl_set_intersect(extra, isl_set_copy(leaf->stmt->lhs));
		}
		bool none = isl_set_is_empty(extra) == isl_bool_true;
		isl_set_free(extra);
		if (!none)
			return heddle_prove_violated(p, leaf, "an instance outside the domain would run");
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
		isl_map *map = by_thread(p, heddle_prove_event_map(p, leaf, heddle_prove_element_of(leaf, &leaf->stmt->access[0])));
		written = written ? isl_map_union(written, map) : map;
	}
	return written;
}

static int check_register(prover *p, int at, const heddle_access *access)
{
	isl_map *read = by_thread(p, heddle_prove_event_map(p, p->leaf[at], heddle_prove_element_of(p->leaf[at], access)));
	isl_map *written = written_before(p, access->group, at);
	bool good = written && isl_map_is_subset(read, written) == isl_bool_true;
	isl_map_free(read);
	isl_map_free(written);
	return good ? 0 : heddle_prove_violated(p, p->leaf[at], "a register would be read by a thread that did not write it");
}

/* Everything read from the tile was moved in during the same round of the tile loops. */
static int check_tile(prover *p, int at, const heddle_access *access)
{
	heddle_leaf *leaf = p->leaf[at];
	isl_map *read = heddle_prove_event_map(p, leaf, heddle_prove_place_in_tile(p, leaf, access)), *moved = NULL;
	int round = 0;
	for (int i = 0; i < at; i++) {
		heddle_leaf *move = p->leaf[i];
		if ((move->kind != HEDDLE_LEAF_MOVE && move->kind != HEDDLE_LEAF_COPY) || move->group != access->group)
			continue;
		int common = 0;
		while (common < leaf->n_loop && common < move->n_loop && leaf->loop[common] == move->loop[common])
			common++;
		isl_map *map = heddle_prove_event_map(p, move, isl_map_from_multi_aff(isl_multi_aff_copy(move->position)));
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
	return good ? 0 : heddle_prove_violated(p, leaf, "a shared element would be read that was not moved in");
}

int heddle_prove_values(prover *p)
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
	isl_set *needed = heddle_prove_in_blocks(p, first, isl_set_copy(first->initialise ? first->lhs : first->domain));
	needed = isl_set_apply(needed, isl_map_from_multi_pw_aff(isl_multi_pw_aff_copy(first->access[0].index)));
	bool last = true, stored = false;
	for (int i = 0; i < p->n_leaf; i++) {
		const heddle_leaf *leaf = p->leaf[i];
		if (leaf->kind == HEDDLE_LEAF_STORE && leaf->group == group) {
			isl_map *map = heddle_prove_event_map(p, leaf, heddle_prove_element_of(leaf, &leaf->stmt->access[0]));
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
		return heddle_prove_missing(p, first, "elements of its target would not be stored");
	return last ? 0 : heddle_prove_missing(p, first, "its target would be stored before it is complete");
}

int heddle_prove_stores(prover *p)
{
	for (int g = 0; g < p->kernel->n_group; g++) {
		const heddle_group *group = p->kernel->group[g];
		if (group->space == HEDDLE_SPACE_REGISTER && group->live_out && check_stored(p, group) < 0)
			return -1;
	}
	return 0;
}
