/* Completing a config: what was not given is chosen, kernels first, then layouts, then spaces (choose.h).
 * SPDX-License-Identifier: MIT
 */
#include "cost/choose.h"
#include "cost/cost.h"

static void simple_layout(heddle_scop *scop, heddle_config *config)
{
	for (int k = 0; k < scop->n_kernel; k++) {
		heddle_stmt *stmt = scop->kernel[k]->stmt[0];
		chooser c = {.scop = scop, .config = config, .kernel = scop->kernel[k], .k = k, .main = stmt};
		int x = choose_fast_member_dim(stmt);
		heddle_config_kernel(config, k);
		if (x >= 0 && scop->descriptor->execution == HEDDLE_SIMT)
			choose_set_layout(&c, stmt, x, 1, choose_least(choose_least(64, choose_most_threads(&c)), choose_power_above(choose_extent(scop, stmt, x))), 1);
	}
}

int heddle_cost_complete_simple(heddle_scop *scop, heddle_config *config, heddle_config_need part, void *user)
{
	(void)user;
	if (part == HEDDLE_NEEDS_FUSE && !config->n_fuse)
		for (int i = 0; i < scop->n_stmt; i++)
			HEDDLE_PUSH(scop->arena, config->fuse, config->n_fuse, i);
	if (part == HEDDLE_NEEDS_LAYOUT)
		simple_layout(scop, config);
	return 0;
}

int heddle_cost_complete(heddle_scop *scop, heddle_config *config, heddle_config_need part, void *user)
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
