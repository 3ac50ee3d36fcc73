/* schedule: isl's schedule of each statement under its own dependences.
 *
 * Enters: statements with dependences.  Leaves: stmt->schedule; coincident flags confirmed by isl.
 * Guaranteed: loops in the order of the statement's indices are legal, and a coincident dimension may be moved anywhere.
 * When isl reaches its bound, or answers with a schedule that is not made of the statement's own dimensions (a skew), the
 * statement keeps source order: its non-coincident dimensions run sequentially, outermost first as written.
 * SPDX-License-Identifier: MIT
 */
#include "model/scop.h"

#include <isl/schedule.h>
#include <isl/schedule_node.h>

static __isl_give isl_union_map *own_dependences(const heddle_scop *scop, const heddle_stmt *stmt)
{
	isl_union_map *all = isl_union_map_empty(isl_set_get_space(scop->context));
	for (int d = 0; d < scop->n_dependence; d++)
		if (scop->dependence[d].source == stmt && scop->dependence[d].sink == stmt)
			all = isl_union_map_add_map(all, isl_map_copy(scop->dependence[d].relation));
	return all;
}

/* Every band member is one dimension of the statement. */
static isl_bool plain_band(__isl_keep isl_schedule_node *node, void *user)
{
	bool *plain = user;
	if (isl_schedule_node_get_type(node) != isl_schedule_node_band)
		return isl_bool_true;
	isl_multi_union_pw_aff *partial = isl_schedule_node_band_get_partial_schedule(node);
	isl_size n = isl_multi_union_pw_aff_size(partial);
	for (int i = 0; i < n; i++) {
		isl_union_pw_aff *one = isl_multi_union_pw_aff_get_union_pw_aff(partial, i);
		isl_union_map *map = isl_union_map_from_union_pw_aff(one);
		isl_map *m = isl_union_map_n_map(map) == 1 ? isl_map_from_union_map(map) : NULL;
		isl_size dims = m ? isl_map_dim(m, isl_dim_in) : 0;
		bool found = false;
		for (int d = 0; d < dims && !found; d++) {
			isl_map *equal = isl_map_equate(isl_map_universe(isl_map_get_space(m)), isl_dim_in, d, isl_dim_out, 0);
			found = isl_map_is_subset(m, equal) == isl_bool_true;
			isl_map_free(equal);
		}
		*plain = *plain && found;
		isl_map_free(m);
	}
	isl_multi_union_pw_aff_free(partial);
	return isl_bool_true;
}

static void schedule_one(heddle_scop *scop, heddle_stmt *stmt)
{
	isl_union_map *dependences = own_dependences(scop, stmt);
	isl_schedule_constraints *constraints =
		isl_schedule_constraints_on_domain(isl_union_set_from_set(isl_set_copy(stmt->all)));
	constraints = isl_schedule_constraints_set_context(constraints, isl_set_copy(scop->context));
	constraints = isl_schedule_constraints_set_validity(constraints, isl_union_map_copy(dependences));
	constraints = isl_schedule_constraints_set_coincidence(constraints, isl_union_map_copy(dependences));
	constraints = isl_schedule_constraints_set_proximity(constraints, dependences);
	stmt->schedule = isl_schedule_constraints_compute_schedule(constraints);
	bool plain = true;
	if (stmt->schedule)
		isl_schedule_foreach_schedule_node_top_down(stmt->schedule, plain_band, &plain);
	stmt->fallback = !stmt->schedule || !plain;
	if (stmt->fallback)
		scop->note = heddle_arena_printf(scop->arena, "%s keeps its source order: %s", stmt->name,
						 stmt->schedule ? "the best schedule is skewed" : "scheduling reached its limit");
}

int heddle_pass_schedule(heddle_scop *scop)
{
	for (int i = 0; i < scop->n_stmt; i++) {
		schedule_one(scop, scop->stmt[i]);
		enum isl_error error = isl_ctx_last_error(scop->isl);
		if (error == isl_error_quota || error == isl_error_abort) {
			isl_ctx_reset_error(scop->isl);
			isl_ctx_resume(scop->isl);
			isl_ctx_reset_operations(scop->isl);
		}
	}
	return heddle_scop_check(scop, "schedule");
}
