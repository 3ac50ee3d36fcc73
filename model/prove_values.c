/* prove: what instances run and where, and that each value that is read was put there before.
 * SPDX-License-Identifier: MIT
 */
#include "model/plain.h"
#include "model/prove.h"

#include <isl/constraint.h>
#include <isl/id.h>
#include <isl/local_space.h>
#include <isl/space.h>
#include <isl/val.h>
#include <stdio.h>
#include <string.h>

/* ---- events ------------------------------------------------------------------------------------------------------------ */

static void push(prover *p, event_list *list, int at, const void *place, const heddle_access *of, bool write, __isl_take isl_map *access)
{
	event e = {.at = at, .leaf = p->leaf[at], .place = place, .of = of, .write = write, .access = access};
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
			push(p, list, i, leaf->group, NULL, true, isl_map_from_multi_aff(isl_multi_aff_copy(leaf->position)));
		if (leaf->kind == HEDDLE_LEAF_STORE)
			push(p, list, i, target->tensor, target, true, heddle_prove_element_of(leaf, target));
		if ((leaf->kind == HEDDLE_LEAF_FINISH || (leaf->kind == HEDDLE_LEAF_COMPUTE && !stmt->reduction)) &&
		    target->group->space == HEDDLE_SPACE_GLOBAL)
			push(p, list, i, target->tensor, target, true, heddle_prove_element_of(leaf, target));
		if (leaf->kind != HEDDLE_LEAF_COMPUTE)
			continue;
		for (int a = 1; a < stmt->n_access; a++) {
			const heddle_access *access = &stmt->access[a];
			if (access->group->space == HEDDLE_SPACE_SHARED)
				push(p, list, i, access->group, access, false, isl_map_from_multi_pw_aff(heddle_prove_place_in_tile(leaf, access)));
			else if (access->group->space == HEDDLE_SPACE_GLOBAL && heddle_kernel_writes(p->kernel, access->tensor))
				push(p, list, i, access->tensor, access, false, heddle_prove_element_of(leaf, access));
		}
	}
}

/* 0 <= dimension < size */
static __isl_give isl_basic_set *between(__isl_take isl_basic_set *set, __isl_keep isl_local_space *local, enum isl_dim_type type,
					 int dim, int64_t size)
{
	isl_constraint *low = isl_constraint_alloc_inequality(isl_local_space_copy(local));
	isl_constraint *high = isl_constraint_alloc_inequality(isl_local_space_copy(local));
	low = isl_constraint_set_coefficient_si(low, type, dim, 1);
	high = isl_constraint_set_coefficient_si(high, type, dim, -1);
	high = isl_constraint_set_constant_si(high, (int)size - 1);
	return isl_basic_set_add_constraint(isl_basic_set_add_constraint(set, low), high);
}

/* ---- instances ----------------------------------------------------------------------------------------------------------- */

/* { L[x] -> S[d] } */
__isl_give isl_map *heddle_prove_instances(prover *p, const heddle_leaf *leaf)
{
	return heddle_prove_where_it_runs(p, leaf, isl_map_from_multi_aff(isl_multi_aff_copy(leaf->instance)));
}

/* { L[x] : its instance is in `set` } */
__isl_give isl_set *heddle_prove_that_are_in(const heddle_leaf *leaf, __isl_keep isl_set *set)
{
	return isl_set_preimage_multi_aff(isl_set_copy(set), isl_multi_aff_copy(leaf->instance));
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

/* What lane 0 of all lanes has. */
__isl_give isl_map *heddle_prove_first_lane(__isl_take isl_map *map)
{
	int lane = isl_map_find_dim_by_name(map, isl_dim_param, "c_lane");
	return lane < 0 ? map : isl_map_fix_si(map, isl_dim_param, (unsigned)lane, 0);
}

/* What a leaf is laid out over: a loop, a block or a coordinate of its threads, from 0 to below `size` (0: no bound is known). */
typedef struct variable {
	enum isl_dim_type type;
	int position;
	int64_t size;
	bool known;
	const char *parameter; /* NULL: a loop */
} variable;

static variable parameter_of(__isl_keep isl_multi_aff *f, const char *name, int64_t size)
{
	isl_space *space = isl_multi_aff_get_space(f);
	const int at = isl_space_find_dim_by_name(space, isl_dim_param, name);
	isl_space_free(space);
	return (variable){isl_dim_param, at, size, false, name};
}

/* The variables of { L[x] -> v }; what stands still is none. */
static int variables(const prover *p, const heddle_leaf *leaf, __isl_keep isl_multi_aff *f, bool one_lane, variable *list)
{
	int n = 0;
	for (int i = 0; i < leaf->n_loop; i++)
		list[n++] = (variable){isl_dim_in, i, leaf->loop[i]->extent, false, NULL};
	for (int m = 0; m < p->kernel->n_member; m++) {
		const heddle_member *member = &p->kernel->member[m];
		list[n++] = parameter_of(f, heddle_block_param(p->scop, member), 0);
		if (member->layout.threads > 1)
			list[n++] = parameter_of(f, heddle_thread_param(p->scop, member), member->layout.threads);
	}
	if (p->kernel->lanes > 1 && !one_lane)
		list[n++] = parameter_of(f, "c_lane", p->kernel->lanes);
	return n;
}

/* What the variables are said to reach, of a space that has them. */
static __isl_give isl_basic_set *reach_of(__isl_take isl_space *space, const variable *list, int n)
{
	isl_local_space *local = isl_local_space_from_space(isl_space_copy(space));
	isl_basic_set *box = isl_basic_set_universe(space);
	for (int i = 0; i < n; i++)
		if (list[i].size && list[i].parameter)
			box = between(box, local, isl_dim_param, isl_local_space_find_dim_by_name(local, isl_dim_param, list[i].parameter),
				      list[i].size);
		else if (list[i].size)
			box = between(box, local, isl_dim_set, list[i].position, list[i].size);
	isl_local_space_free(local);
	return box;
}

/* Is every instance inside of that? */
static bool within_layout(prover *p, const heddle_leaf *leaf, const variable *list, int n)
{
	isl_set *some = heddle_prove_runs(p, leaf);
	return heddle_prove_inside(some, isl_set_from_basic_set(reach_of(isl_set_get_space(some), list, n)));
}

static int64_t weight_of(__isl_keep isl_aff *aff, const variable *v)
{
	isl_val *weight = v->position < 0 ? isl_val_zero(isl_aff_get_ctx(aff)) : isl_aff_get_coefficient_val(aff, v->type, v->position);
	int64_t value = isl_val_is_int(weight) == isl_bool_true ? isl_val_get_num_si(weight) : 0;
	isl_val_free(weight);
	return value < 0 ? -value : value;
}

/* Marks the variables that the value of an affine function tells: each weighs more than all lighter ones that are not known can
 * make up for.  True when there was one. */
static bool tells(__isl_take isl_aff *aff, variable *list, int n)
{
	int64_t below = 0, last = 0;
	bool some = false, plain = aff && isl_aff_dim(aff, isl_dim_div) == 0;
	isl_val *denominator = plain ? isl_aff_get_denominator_val(aff) : NULL;
	plain = plain && isl_val_is_one(denominator) == isl_bool_true;
	isl_val_free(denominator);
	while (plain) {
		int next = -1;
		int64_t least = INT64_MAX;
		for (int i = 0; i < n; i++) {
			int64_t weight = list[i].known ? 0 : weight_of(aff, &list[i]);
			if (weight && weight <= last) /* two of one weight, or seen: the seen ones are marked below */
				continue;
			if (weight && weight < least)
				least = weight, next = i;
		}
		if (next < 0)
			break;
		int same = 0;
		for (int i = 0; i < n; i++)
			same += !list[i].known && weight_of(aff, &list[i]) == least;
		/* an unbounded one can only be the heaviest */
		if (same > 1 || below < 0 || least <= below)
			plain = false;
		below = !list[next].size || list[next].size > INT32_MAX || least > INT32_MAX ? -1 : below + least * (list[next].size - 1);
		last = least;
	}
	for (int i = 0; i < n && plain; i++)
		if (!list[i].known && weight_of(aff, &list[i])) {
			list[i].known = true;
			some = true;
		}
	isl_aff_free(aff);
	return some;
}

/* { L[x] -> v }: does v tell all variables of the leaf?  A sufficient condition, by arithmetic. */
bool heddle_prove_tells_all(prover *p, const heddle_leaf *leaf, __isl_keep isl_multi_aff *f, bool one_lane)
{
	variable list[5 * HEDDLE_MAX_DIM];
	int n = variables(p, leaf, f, one_lane, list);
	isl_size outputs = isl_multi_aff_dim(f, isl_dim_out);
	for (bool more = true; more;) {
		more = false;
		for (int e = 0; e < outputs; e++)
			more |= tells(isl_multi_aff_get_aff(f, e), list, n);
	}
	for (int i = 0; i < n; i++)
		if (!list[i].known)
			return false;
	return within_layout(p, leaf, list, n);
}

/* The column of a tile that a move takes an element to, in a row that may go on through several dimensions, or (`row`) the number of
 * the row: the other dimensions as one. */
static __isl_give isl_aff *place_along(const heddle_leaf *move, bool row)
{
	const heddle_group *group = move->group;
	isl_aff *number = isl_aff_zero_on_domain(isl_local_space_from_space(isl_multi_aff_get_domain_space(move->position)));
	int64_t below = 1;
	for (int e = group->tensor->rank - 1; e >= 0; e--) {
		if (heddle_tile_in_run(group, e) == row)
			continue;
		isl_val *by = isl_val_int_from_si(isl_aff_get_ctx(number), (long)below);
		number = isl_aff_add(number, isl_aff_scale_val(isl_multi_aff_get_aff(move->position, e), by));
		below *= group->size[e];
	}
	return number;
}

/* Does the function depend on where a thread is, other than by the coordinates of the leaf? */
static bool has_foreign(const prover *p, const heddle_leaf *leaf, __isl_keep isl_aff *aff)
{
	isl_space *space = isl_aff_get_domain_space(aff);
	bool found = false;
	for (int i = 0; i < isl_space_dim(space, isl_dim_param) && !found; i++)
		found = isl_aff_involves_dims(aff, isl_dim_param, (unsigned)i, 1) != isl_bool_false &&
			heddle_prove_foreign(p, leaf, isl_space_get_dim_name(space, isl_dim_param, (unsigned)i));
	isl_space_free(space);
	return found;
}

/* The variables of a move: its loops from number `first` on, and where a thread is in a row and among rows, whose names stand in `name`. */
static int move_variables(const prover *p, const heddle_leaf *move, int first, char name[2][32], variable *list)
{
	const int64_t columns = move->group->columns, size[2] = {p->kernel->threads / columns, columns};
	int n = 0;
	for (int i = first; i < move->n_loop; i++)
		list[n++] = (variable){isl_dim_in, i, move->loop[i]->extent, false, NULL};
	for (int i = 0; i < 2; i++) {
		snprintf(name[i], 32, "c_%s%lld", i ? "column" : "row", (long long)columns);
		if (size[i] > 1)
			list[n++] = parameter_of(move->position, name[i], size[i]);
	}
	return n;
}

bool heddle_prove_tells_mover(prover *p, const heddle_leaf *move, int level)
{
	variable list[2 * HEDDLE_MAX_DIM + 2];
	char name[2][32];
	isl_aff *place[2] = {place_along(move, true), place_along(move, false)};
	const int n = move_variables(p, move, 0, name, list);
	bool all = true;
	for (int i = 0; i < level && i < move->n_loop; i++)
		list[i].known = true;
	for (int i = 0; i < 2; i++) {
		all = all && !has_foreign(p, move, place[i]);
		tells(place[i], list, n);
	}
	for (int i = move->n_loop; i < n; i++)
		all = all && list[i].known;
	return all && within_layout(p, move, list, n);
}

/* { L[x] -> v }: do no two of a block's threads, and no two blocks, have the same v?  By isl. */
static bool never_same(prover *p, const heddle_leaf *leaf, __isl_take isl_map *map)
{
	/* what weighs most comes first: then no two differ in the first place where they could, without asking for integers */
	int vectors = leaf->n_loop;
	while (vectors > 0 && leaf->loop[vectors - 1]->part == HEDDLE_PART_VEC)
		vectors--;
	map = heddle_prove_with_coordinates(p, map, vectors);
	isl_map *same = isl_map_identity(isl_space_map_from_set(isl_space_domain(isl_map_get_space(map))));
	return heddle_prove_subset(isl_map_apply_range(map, isl_map_reverse(isl_map_copy(map))), same);
}

/* Does no instance run twice, in lane 0 or in all lanes? */
bool heddle_prove_single(prover *p, const heddle_leaf *leaf, bool one_lane)
{
	if (heddle_prove_tells_all(p, leaf, leaf->instance, one_lane))
		return true;
	isl_map *map = heddle_prove_instances(p, leaf);
	return never_same(p, leaf, one_lane ? heddle_prove_first_lane(map) : map);
}

int heddle_prove_once(prover *p)
{
	for (int i = 0; i < p->n_leaf; i++) {
		heddle_leaf *leaf = p->leaf[i];
		if (leaf->kind != HEDDLE_LEAF_COMPUTE)
			continue;
		bool single = heddle_prove_single(p, leaf, heddle_prove_replicated(p, leaf));
		isl_set *mine = NULL;
		for (int j = 0; j < i && single; j++) {
			if (p->leaf[j]->kind != HEDDLE_LEAF_COMPUTE || p->leaf[j]->stmt != leaf->stmt)
				continue;
			/* of the same block: each runs its own (heddle_prove_extra) */
			if (!mine)
				mine = heddle_prove_range_of_threads(heddle_prove_instances(p, leaf));
			isl_set *other = heddle_prove_range_of_threads(heddle_prove_instances(p, p->leaf[j]));
			single = isl_set_is_disjoint(mine, other) == isl_bool_true;
			isl_set_free(other);
		}
		isl_set_free(mine);
		if (!single)
			return heddle_prove_violated(p, leaf, "an instance would run twice");
	}
	return 0;
}

/* The instances in `set` that belong to the block. */
__isl_give isl_set *heddle_prove_in_block(prover *p, const heddle_stmt *stmt, __isl_take isl_set *set)
{
	isl_space *space = isl_set_get_space(set);
	for (int m = 0; m < p->kernel->n_member; m++)
		space = isl_space_align_params(space, isl_space_add_param_id(isl_space_params_alloc(p->scop->isl, 0),
									     isl_id_alloc(p->scop->isl, heddle_block_param(p->scop, &p->kernel->member[m]), NULL)));
	isl_basic_set *here = isl_basic_set_universe(isl_space_copy(space));
	isl_local_space *local = isl_local_space_from_space(space);
	for (int d = 0; d < stmt->n_dim; d++) {
		if (stmt->dim[d].member < 0)
			continue;
		const heddle_member *member = &p->kernel->member[stmt->dim[d].member];
		int tile = (int)member->layout.tile, block = isl_local_space_find_dim_by_name(local, isl_dim_param, heddle_block_param(p->scop, member));
		isl_constraint *low = isl_constraint_alloc_inequality(isl_local_space_copy(local)), *high;
		low = isl_constraint_set_coefficient_si(low, isl_dim_set, d, 1);
		low = isl_constraint_set_coefficient_si(low, isl_dim_param, block, -tile);
		high = isl_constraint_alloc_inequality(isl_local_space_copy(local));
		high = isl_constraint_set_coefficient_si(high, isl_dim_set, d, -1);
		high = isl_constraint_set_coefficient_si(high, isl_dim_param, block, tile);
		high = isl_constraint_set_constant_si(high, tile - 1);
		here = isl_basic_set_add_constraint(isl_basic_set_add_constraint(here, low), high);
	}
	isl_local_space_free(local);
	return isl_set_intersect(set, isl_set_from_basic_set(here));
}

/* ... for each block of the branch */
__isl_give isl_set *heddle_prove_in_blocks(prover *p, const heddle_stmt *stmt, __isl_take isl_set *set)
{
	return isl_set_intersect_params(heddle_prove_in_block(p, stmt, set), isl_set_copy(p->blocks));
}

/* Every instance that belongs to a block of the branch runs there. */
int heddle_prove_covered(prover *p)
{
	for (int s = 0; s < p->kernel->n_stmt; s++) {
		const heddle_stmt *stmt = p->kernel->stmt[s];
		isl_set *needed = heddle_prove_in_blocks(p, stmt, heddle_prove_own_copy(stmt->domain));
		for (int i = 0; i < p->n_leaf; i++)
			if (p->leaf[i]->stmt == stmt && p->leaf[i]->kind == HEDDLE_LEAF_COMPUTE)
				needed = isl_set_subtract(needed, heddle_prove_range_of_threads(heddle_prove_instances(p, p->leaf[i])));
		bool none = isl_set_is_empty(needed) == isl_bool_true;
		isl_set_free(needed);
		if (!none)
			return heddle_prove_missing(p, stmt, "instances would not run");
	}
	return 0;
}

/* Beyond the domain only sums that nobody keeps: private accumulators whose row is not stored.  And in no other block than the
 * instance's own. */
int heddle_prove_extra(prover *p)
{
	for (int i = 0; i < p->n_leaf; i++) {
		heddle_leaf *leaf = p->leaf[i];
		if (leaf->kind != HEDDLE_LEAF_COMPUTE)
			continue;
		isl_set *some = heddle_prove_runs(p, leaf);
		isl_set *own = heddle_prove_in_block(p, leaf->stmt, isl_set_universe(isl_set_get_space(leaf->stmt->domain)));
		bool good = heddle_prove_inside(isl_set_copy(some), heddle_prove_that_are_in(leaf, own));
		isl_set_free(own);
		if (leaf->stmt->reduction) /* allowed where the left-hand side itself does not exist */
			some = isl_set_intersect(some, heddle_prove_that_are_in(leaf, leaf->stmt->lhs));
		good = heddle_prove_inside(some, heddle_prove_that_are_in(leaf, leaf->stmt->domain)) && good;
		if (!good)
			return heddle_prove_violated(p, leaf, "an instance outside the domain or the block would run");
	}
	return 0;
}

/* ---- values ---------------------------------------------------------------------------------------------------------------- */

/* { T[e] } of one thread */
static __isl_give isl_set *touched(prover *p, const heddle_leaf *leaf, const heddle_access *access)
{
	return isl_map_range(heddle_prove_where_it_runs(p, leaf, heddle_prove_element_of(leaf, access)));
}

/* Does the leaf give elements of the register group a value, for those who read it later? */
static bool writes_register(const heddle_leaf *leaf, const heddle_group *group)
{
	if (leaf->stmt->access[0].group != group)
		return false;
	return leaf->stmt->in_group ? leaf->kind == HEDDLE_LEAF_INITIALISE
				    : leaf->kind == HEDDLE_LEAF_FINISH || (leaf->kind == HEDDLE_LEAF_COMPUTE && !leaf->stmt->reduction);
}

/* What the thread has written into the register group before leaf `at`. */
static __isl_give isl_set *written_before(prover *p, const heddle_group *group, int at)
{
	isl_set *written = NULL;
	for (int i = 0; i < at; i++) {
		heddle_leaf *leaf = p->leaf[i];
		if (!writes_register(leaf, group))
			continue;
		isl_set *set = touched(p, leaf, &leaf->stmt->access[0]);
		written = written ? isl_set_union(written, set) : set;
	}
	return written;
}

/* Is every element that the leaf reads written by the instance of the writer that is laid out alike? */
static bool written_alike(prover *p, const heddle_leaf *leaf, const heddle_access *access, const heddle_leaf *writer)
{
	const heddle_access *target = &writer->stmt->access[0];
	if (!access->affine || !target->affine)
		return false;
	isl_multi_aff *there = heddle_prove_alike(leaf, writer);
	isl_multi_pw_aff *read = heddle_prove_index_of(leaf, access), *written = heddle_prove_index_of(writer, target);
	written = isl_multi_pw_aff_pullback_multi_aff(written, isl_multi_aff_copy(there));
	bool same = isl_multi_pw_aff_plain_is_equal(read, written) == isl_bool_true;
	isl_multi_pw_aff_free(read);
	isl_multi_pw_aff_free(written);
	if (same)
		return heddle_prove_runs_at(p, heddle_prove_runs(p, leaf), writer, there);
	isl_multi_aff_free(there);
	return false;
}

static int check_register(prover *p, int at, const heddle_access *access)
{
	for (int i = 0; i < at; i++)
		if (writes_register(p->leaf[i], access->group) && written_alike(p, p->leaf[at], access, p->leaf[i]))
			return 0;
	isl_set *written = written_before(p, access->group, at), *read = touched(p, p->leaf[at], access);
	/* nobody writes where nothing is read */
	bool good = written ? heddle_prove_inside(read, written) : isl_set_is_empty(read) == isl_bool_true;
	if (!written)
		isl_set_free(read);
	return good ? 0 : heddle_prove_violated(p, p->leaf[at], "a register would be read by a thread that did not write it");
}

/* Does the function have each value from 0 to `most` for some values of the variables, and depend on nothing else?  By arithmetic: each
 * weight goes on where the lighter ones together end. */
static bool counts_to(__isl_keep isl_aff *aff, const variable *list, int n, int64_t most)
{
	isl_val *denominator = isl_aff_get_denominator_val(aff), *constant = isl_aff_get_constant_val(aff);
	bool plain = isl_aff_dim(aff, isl_dim_div) == 0 && isl_val_is_one(denominator) == isl_bool_true && isl_val_is_zero(constant) == isl_bool_true;
	isl_val_free(denominator);
	isl_val_free(constant);
	bool used[2 * HEDDLE_MAX_DIM + 2] = {false};
	int64_t reach = 0;
	for (bool more = plain; more;) {
		more = false;
		for (int i = 0; i < n; i++) {
			const int64_t weight = used[i] ? 0 : weight_of(aff, &list[i]);
			if (!weight || weight > reach + 1 || !list[i].size || list[i].size > INT32_MAX || weight > INT32_MAX)
				continue;
			isl_val *sign = isl_aff_get_coefficient_val(aff, list[i].type, list[i].position);
			plain = plain && isl_val_is_pos(sign) == isl_bool_true;
			isl_val_free(sign);
			reach += weight * (list[i].size - 1);
			used[i] = more = true;
		}
	}
	isl_aff *rest = isl_aff_copy(aff);
	for (int i = 0; i < n && rest; i++)
		if (used[i])
			rest = isl_aff_set_coefficient_si(rest, list[i].type, list[i].position, 0);
	plain = plain && reach >= most && isl_aff_plain_is_zero(rest) == isl_bool_true;
	isl_aff_free(rest);
	return plain;
}

/* { x in set : aff <= most }, of the variables */
static __isl_give isl_basic_set *no_more(__isl_take isl_basic_set *set, __isl_keep isl_local_space *local, __isl_keep isl_aff *aff,
					 const variable *list, int n, int64_t most)
{
	isl_constraint *high = isl_constraint_set_constant_si(isl_constraint_alloc_inequality(isl_local_space_copy(local)), (int)most);
	for (int i = 0; i < n; i++) {
		const enum isl_dim_type type = list[i].parameter ? isl_dim_param : isl_dim_set;
		const int at = list[i].parameter ? isl_local_space_find_dim_by_name(local, isl_dim_param, list[i].parameter) : list[i].position;
		if (weight_of(aff, &list[i]))
			high = isl_constraint_set_coefficient_si(high, type, at, -(int)weight_of(aff, &list[i]));
	}
	return isl_basic_set_add_constraint(set, high);
}

/* Are all elements of the tile moved by one leaf, in each step of the first `tiles` loops in which the other one runs?  A sufficient condition:
 * rows and columns are counted by variables of their own, and the move runs for all of them.  (That its places are in the tile, in which a row
 * and a column are one place, is seen elsewhere.) */
static bool moves_all(prover *p, const heddle_leaf *move, const heddle_leaf *leaf, int tiles)
{
	variable list[2 * HEDDLE_MAX_DIM + 2];
	char name[2][32];
	const heddle_group *group = move->group;
	const int64_t length = heddle_tile_run_length(group);
	int64_t rows = 1;
	if (move->kind != HEDDLE_LEAF_MOVE || move->fill)
		return false;
	for (int e = 0; e < group->tensor->rank; e++)
		rows *= heddle_tile_in_run(group, e) ? 1 : group->size[e];
	const int n = move_variables(p, move, tiles, name, list);
	isl_aff *row = place_along(move, true), *column = place_along(move, false);
	bool all = rows <= INT32_MAX && length <= INT32_MAX && counts_to(row, list, n, rows - 1) && counts_to(column, list, n, length - 1);
	for (int i = 0; i < n && all; i++)
		all = !weight_of(row, &list[i]) || !weight_of(column, &list[i]);
	if (all) {
		const unsigned inner = (unsigned)(move->n_loop - tiles);
		isl_set *runs = isl_set_align_params(heddle_prove_runs(p, leaf), isl_set_get_space(move->domain));
		runs = isl_set_reset_tuple_id(isl_set_insert_dims(runs, isl_dim_set, (unsigned)tiles, inner));
		isl_set *moved = isl_set_add_dims(heddle_prove_runs(p, move), isl_dim_set, (unsigned)(leaf->n_loop - tiles));
		isl_basic_set *box = reach_of(isl_set_get_space(runs), list, n);
		isl_local_space *local = isl_local_space_from_space(isl_set_get_space(runs));
		box = no_more(no_more(box, local, row, list, n, rows - 1), local, column, list, n, length - 1);
		runs = isl_set_intersect(runs, isl_set_from_basic_set(box));
		moved = isl_set_reset_tuple_id(moved);
		all = heddle_plainly_inside(runs, moved);
		isl_local_space_free(local);
		isl_set_free(runs);
		isl_set_free(moved);
	}
	isl_aff_free(row);
	isl_aff_free(column);
	return all;
}

/* Everything read from the tile was moved in during the same round of the tile loops, by whichever thread. */
static int check_tile(prover *p, int at, const heddle_access *access)
{
	heddle_leaf *leaf = p->leaf[at];
	isl_map *moved = NULL;
	for (int i = 0; i < at; i++) {
		heddle_leaf *move = p->leaf[i];
		if ((move->kind != HEDDLE_LEAF_MOVE && move->kind != HEDDLE_LEAF_COPY) || move->group != access->group)
			continue;
		int common = 0;
		while (common < leaf->n_loop && common < move->n_loop && leaf->loop[common] == move->loop[common])
			common++;
		/* the loops inside the round do not matter; a full and a partial region never share loops */
		int tiles = 0;
		while (tiles < move->n_loop && move->loop[tiles]->part == HEDDLE_PART_TILE)
			tiles++;
		if (common < tiles)
			continue;
		if (moves_all(p, move, leaf, tiles)) {
			isl_map_free(moved);
			return 0;
		}
		isl_map *map = heddle_prove_where_it_runs(p, move, isl_map_from_multi_aff(isl_multi_aff_copy(move->position)));
		map = isl_map_reset_tuple_id(heddle_prove_first_loops(heddle_prove_without_threads(map), tiles), isl_dim_in);
		moved = moved ? isl_map_union(moved, map) : map;
	}
	isl_map *read = heddle_prove_where_it_runs(p, leaf, isl_map_from_multi_pw_aff(heddle_prove_place_in_tile(leaf, access)));
	bool good = moved && heddle_prove_subset_beyond(isl_map_copy(read), moved);
	isl_map_free(read);
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
	isl_set *needed = heddle_prove_in_blocks(p, first, heddle_prove_own_copy(first->initialise ? first->lhs : first->domain));
	needed = isl_set_apply(needed, isl_map_from_multi_pw_aff(isl_multi_pw_aff_copy(first->access[0].index)));
	bool last = true, stored = false;
	for (int i = 0; i < p->n_leaf; i++) {
		const heddle_leaf *leaf = p->leaf[i];
		if (leaf->kind == HEDDLE_LEAF_STORE && leaf->group == group) {
			isl_map *map = heddle_prove_where_it_runs(p, leaf, heddle_prove_element_of(leaf, &leaf->stmt->access[0]));
			needed = isl_set_subtract(needed, heddle_prove_range_of_threads(map));
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
