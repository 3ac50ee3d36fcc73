/* Completing a config in closed form: which statements share a kernel, then each kernel's layouts and spaces.
 * SPDX-License-Identifier: MIT
 */
#include "cost/cost.h"

int heddle_cost_complete_simple(heddle_scop *scop, heddle_config *config, heddle_config_need part, void *user)
{
	enum { THREADS = 64 };
	(void)user;
	for (int i = 0; i < scop->n_stmt && part == HEDDLE_NEEDS_FUSE; i++)
		HEDDLE_PUSH(scop->arena, config->fuse, config->n_fuse, i);
	for (int k = 0; k < scop->n_kernel && part == HEDDLE_NEEDS_LAYOUT; k++) {
		const heddle_stmt *stmt = scop->kernel[k]->stmt[0];
		heddle_config_kernel(config, k)->has_stream = true;
		for (int d = stmt->n_dim - 1; d >= 0 && scop->descriptor->execution == HEDDLE_SIMT; d--)
			if (stmt->dim[d].member >= 0) {
				heddle_named_set(config, &heddle_config_stmt(config, k, stmt->position)->thread, stmt->dim[d].name, THREADS);
				break;
			}
	}
	return 0;
}

/* The best candidate of the kernel, with what is given of it.  Where passes would refuse all of them, they say why. */
static void complete_kernel(heddle_scop *scop, heddle_config *config, heddle_kernel *kernel, const heddle_completion *how)
{
	heddle_arena *work = heddle_arena_new();
	heddle_outline *outline = heddle_outline_new(work, scop, kernel, &how->language, NULL);
	heddle_config *given = heddle_config_new(config->arena);
	const int k = kernel->position;
	heddle_outline_give(work, outline, config);
	const heddle_space_found found = heddle_space_best(work, outline, &how->space, 1);
	if (found.n) {
		*heddle_config_kernel(given, k) = *heddle_config_kernel(config, k);
		config->kernel[k] = (heddle_kernel_config){0};
		heddle_candidate_config(outline, &found.best[0].candidate, config);
		heddle_config_overlay(config, given);
	}
	kernel->n_group = 0; /* as pass `place` makes them */
	heddle_arena_free(work);
}

int heddle_cost_complete(heddle_scop *scop, heddle_config *config, heddle_config_need part, void *user)
{
	const heddle_completion *how = user;
	if (part == HEDDLE_NEEDS_FUSE && !config->n_fuse) {
		heddle_fusion *fusion = heddle_fusion_new(scop->arena, scop, how);
		config->fuse = heddle_fusion_best(fusion);
		config->n_fuse = scop->n_stmt;
	}
	for (int k = 0; k < scop->n_kernel && part == HEDDLE_NEEDS_LAYOUT; k++)
		complete_kernel(scop, config, scop->kernel[k], how);
	return 0;
}
