/* schedule: isl's schedule of each statement under its own dependences.
 *
 * Enters: statements with dependences and coincident flags.  Leaves: stmt->schedule (for --dump); a dimension stays coincident
 * only if isl's band has it so.
 * Guaranteed: a coincident dimension may be moved anywhere.  The order of loops is not isl's: coincident dimensions are laid
 * out by the config, the others run sequentially as written, which is always legal, and `prove` checks it.  When isl reaches
 * its bound a statement with dependences on itself runs as written, and a warning says so; a schedule that is not made of the
 * statement's own dimensions (a skew) is not taken.
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

/* What isl's bands say of a statement's dimensions. */
typedef struct answer {
	bool plain;			   /* every band member is one dimension of the statement */
	bool sequential[HEDDLE_MAX_DIM]; /* not coincident in its band */
} answer;

static isl_bool read_band(__isl_keep isl_schedule_node *node, void *user)
{
	answer *a = user;
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
			if (found && isl_schedule_node_band_member_get_coincident(node, i) != isl_bool_true)
				a->sequential[d] = true;
			isl_map_free(equal);
		}
		a->plain = a->plain && found;
		isl_map_free(m);
	}
	isl_multi_union_pw_aff_free(partial);
	return isl_bool_true;
}

static void schedule_one(heddle_scop *scop, heddle_stmt *stmt)
{
	isl_union_map *dependences = own_dependences(scop, stmt);
	if (isl_union_map_n_map(dependences) == 0) { /* any order will do: nothing to ask isl */
		isl_union_map_free(dependences);
		stmt->schedule = isl_schedule_from_domain(isl_union_set_from_set(isl_set_copy(stmt->all)));
		return;
	}
	isl_schedule_constraints *constraints =
		isl_schedule_constraints_on_domain(isl_union_set_from_set(isl_set_copy(stmt->all)));
	constraints = isl_schedule_constraints_set_context(constraints, isl_set_copy(scop->context));
	constraints = isl_schedule_constraints_set_validity(constraints, isl_union_map_copy(dependences));
	constraints = isl_schedule_constraints_set_coincidence(constraints, isl_union_map_copy(dependences));
	constraints = isl_schedule_constraints_set_proximity(constraints, dependences);
	stmt->schedule = isl_schedule_constraints_compute_schedule(constraints);
	answer a = {.plain = true};
	if (!stmt->schedule)
		return;
	isl_schedule_foreach_schedule_node_top_down(stmt->schedule, read_band, &a);
	for (int d = 0; d < stmt->n_dim && a.plain; d++)
		stmt->dim[d].coincident = stmt->dim[d].coincident && !a.sequential[d];
}

/* Without isl's answer nothing of a statement that depends on itself is moved. */
static void keep_order(heddle_scop *scop, heddle_stmt *stmt)
{
	bool itself = false;
	for (int d = 0; d < scop->n_dependence; d++)
		itself |= scop->dependence[d].source == stmt && scop->dependence[d].sink == stmt && !scop->dependence[d].input;
	for (int d = 0; d < stmt->n_dim && itself; d++)
		stmt->dim[d].coincident = false;
	if (itself)
		heddle_warning(scop->ctx, 603, &stmt->source->location, "scheduling %s reached its limit: it runs as written",
			       stmt->name);
}

int heddle_pass_schedule(heddle_scop *scop)
{
	for (int i = 0; i < scop->n_stmt; i++) {
		schedule_one(scop, scop->stmt[i]);
		enum isl_error error = isl_ctx_last_error(scop->isl);
		if (error == isl_error_quota || error == isl_error_abort) {
			isl_ctx_reset_error(scop->isl);
			keep_order(scop, scop->stmt[i]);
			isl_ctx_resume(scop->isl);
			isl_ctx_reset_operations(scop->isl);
		}
	}
	return heddle_scop_check(scop, "schedule");
}
