/* What a launch moves: the bytes of its regions, each as often as it runs.
 * SPDX-License-Identifier: MIT
 */
#include "cost/regions.h"

/* Sums that no number holds have no answer. */
static bool add_bytes(uint64_t *sum, uint64_t times, uint64_t bytes)
{
	uint64_t all;
	return !__builtin_mul_overflow(times, bytes, &all) && !__builtin_add_overflow(*sum, all, sum);
}

static bool add_region(const heddle_region *s, heddle_traffic *traffic)
{
	bool good = true;
	if (s->kind == HEDDLE_REGION_COPY)
		good = add_bytes(&traffic->load_bytes[HEDDLE_SPACE_GLOBAL], s->executed, (uint64_t)s->by) &&
		       add_bytes(&traffic->store_bytes[HEDDLE_SPACE_SHARED], s->executed, (uint64_t)s->by);
	for (int k = 0; k < HEDDLE_N_SPACE && good; k++)
		good = add_bytes(&traffic->load_bytes[k], s->executed, s->load_bytes[k]) &&
		       add_bytes(&traffic->store_bytes[k], s->executed, s->store_bytes[k]);
	for (int i = 0; i < s->n_child && good; i++)
		good = add_region(s->child[i], traffic);
	return good;
}

bool heddle_launch_traffic(const heddle_launch *launch, const int64_t *size, heddle_traffic *traffic)
{
	heddle_regions regions;
	*traffic = (heddle_traffic){.data = false};
	bool good = heddle_regions_read(&regions, launch, size, 1);
	traffic->data = regions.data;
	good = good && add_region(regions.body, traffic);
	heddle_regions_free(&regions);
	return good;
}
