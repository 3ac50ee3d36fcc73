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
