/* What the formulas of a manifest's grids say about sizes: where a second block begins.
 * SPDX-License-Identifier: MIT
 */
#include "harness/test_parts.h"

#include <string.h>

enum { MOST_EXTENT = 1 << 20 };

/* The nearest value of a size that is no less than `value`. */
static int64_t rounded(const heddle_manifest_size *s, int64_t value)
{
	const int64_t divisor = s->divisor > 1 ? s->divisor : 1, least = value > s->min ? value : s->min;
	return (least + divisor - 1) / divisor * divisor;
}

/* Has the grid a second block with this value of size `k`, the others being what they are? */
static bool is_beyond(heddle_ctx *ctx, const heddle_manifest *m, heddle_formula grid, int64_t *size, int k, int64_t value)
{
	int64_t blocks = 0;
	size[k] = value;
	if (heddle_formula_evaluate(ctx, grid, m->n_size, m->size, size, &blocks) < 0)
		heddle_diagnostics_clear(ctx);
	return blocks > 1;
}

/* The greatest value of size `k` for which this grid has one block; 0: it does not depend on it, or not within reach. */
static int64_t extent_of(heddle_ctx *ctx, const heddle_manifest *m, heddle_formula grid, int64_t *size, int k)
{
	const heddle_manifest_size *s = &m->size[k];
	const int64_t least = rounded(s, 1), divisor = s->divisor > 1 ? s->divisor : 1;
	const int64_t most = s->max < MOST_EXTENT ? s->max : MOST_EXTENT;
	int64_t low = least, high = rounded(s, 2 * least);
	if (is_beyond(ctx, m, grid, size, k, least))
		return 0;
	for (; !is_beyond(ctx, m, grid, size, k, high); high = rounded(s, 2 * high)) {
		low = high;
		if (high > most / 2)
			return 0;
	}
	while (high - low > divisor) {
		const int64_t middle = rounded(s, low + (high - low) / 2);
		const int64_t next = middle < high ? middle : high - divisor;
		if (is_beyond(ctx, m, grid, size, k, next))
			high = next;
		else
			low = next;
	}
	return low;
}

int64_t heddle_test_block_extent(heddle_test *t, const heddle_manifest *manifest, int k)
{
	int64_t *size = HEDDLE_NEW_ARRAY(t->arena, int64_t, manifest->n_size + 1), greatest = 0;
	for (int l = 0; l < manifest->n_launch; ++l)
		for (int d = 0; d < 3; ++d) {
			for (int j = 0; j < manifest->n_size; ++j)
				size[j] = rounded(&manifest->size[j], 1);
			const int64_t extent = manifest->launch[l].grid[d] ? extent_of(t->ctx, manifest, manifest->launch[l].grid[d], size, k) : 0;
			greatest = extent > greatest ? extent : greatest;
		}
	return greatest;
}

const int64_t *heddle_test_blocks(heddle_test *t, const heddle_manifest *manifest)
{
	const heddle_definition *d = t->definition;
	int64_t *block = HEDDLE_NEW_ARRAY(t->arena, int64_t, d->n_size + 1);
	for (int k = 0; k < manifest->n_size; ++k)
		for (int j = 0; j < d->n_size; ++j)
			if (!strcmp(d->size[j]->name, manifest->size[k].name))
				block[j] = heddle_test_block_extent(t, manifest, k);
	return block;
}
