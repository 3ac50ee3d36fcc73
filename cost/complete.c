/* Completing a config: what was not given is chosen, kernels first, then layouts, then spaces (choose.h).
 * SPDX-License-Identifier: MIT
 */
#include "cost/choose.h"
#include "cost/rules.h"

int heddle_rules_complete(heddle_scop *scop, heddle_config *config, heddle_config_need part, void *user)
{
	(void)user;
	switch (part) {
	case HEDDLE_NEEDS_FUSE:
		return choose_kernels(scop, config);
	case HEDDLE_NEEDS_LAYOUT:
		return choose_layouts(scop, config);
	case HEDDLE_NEEDS_SPACES:
		return choose_spaces(scop, config);
	case HEDDLE_NEEDS_NOTHING:
		break;
	}
	return 0;
}

int heddle_rules_complete_simple(heddle_scop *scop, heddle_config *config, heddle_config_need part, void *user)
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
