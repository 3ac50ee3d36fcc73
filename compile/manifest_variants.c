/* Variants of a manifest: which one runs, and that one as a manifest of its own.
 * SPDX-License-Identifier: MIT
 */
#include "compile/manifest.h"

#include <string.h>

const heddle_manifest *heddle_manifest_variant_of(heddle_arena *arena, const heddle_manifest *manifest, int i)
{
	heddle_manifest *m = HEDDLE_NEW(arena, heddle_manifest);
	*m = *manifest;
	m->n_variant = 0;
	m->variant = NULL;
	if (i == manifest->n_variant)
		return m;
	const heddle_manifest_variant *v = &manifest->variant[i];
	m->config = v->config;
	m->proof = v->proof;
	m->size = v->size;
	m->n_precondition = v->n_precondition;
	m->precondition = v->precondition;
	m->workspace_bytes = v->workspace_bytes;
	m->argument = NULL;
	m->n_argument = 0;
	for (int k = 0; k < manifest->n_argument; k++) {
		heddle_argument a = manifest->argument[k];
		a.align = v->align[k] ? v->align[k] : a.align;
		if (a.role != HEDDLE_ARGUMENT_TEMPORARY)
			HEDDLE_PUSH(arena, m->argument, m->n_argument, a);
	}
	for (int k = 0; k < v->n_temporary; k++)
		HEDDLE_PUSH(arena, m->argument, m->n_argument, v->temporary[k]);
	m->n_launch = v->n_launch;
	m->launch = v->launch;
	return m;
}

static bool takes_sizes(int n, const heddle_manifest_size *size, const int64_t *value)
{
	for (int k = 0; k < n; k++)
		if (value[k] < size[k].min || value[k] > size[k].max || (size[k].divisor > 1 && value[k] % size[k].divisor))
			return false;
	return true;
}

static bool takes_addresses(const heddle_manifest *m, const int *align, const size_t *address)
{
	for (int k = 0; k < m->n_argument && address; k++) {
		const heddle_argument *a = &m->argument[k];
		size_t unit = (size_t)(align && align[k] ? align[k] : a->align);
		bool memory = a->role == HEDDLE_ARGUMENT_INPUT || a->role == HEDDLE_ARGUMENT_OUTPUT || a->role == HEDDLE_ARGUMENT_INOUT;
		if (memory && unit > 1 && address[k] % unit)
			return false;
	}
	return true;
}

int heddle_manifest_choose(const heddle_manifest *manifest, const int64_t *size, const size_t *address)
{
	for (int i = 0; i < manifest->n_variant; i++)
		if (takes_sizes(manifest->n_size, manifest->variant[i].size, size) &&
		    takes_addresses(manifest, manifest->variant[i].align, address))
			return i;
	return takes_sizes(manifest->n_size, manifest->size, size) && takes_addresses(manifest, NULL, address) ? manifest->n_variant : -1;
}

heddle_manifest_size heddle_manifest_size_of_all(const heddle_manifest *manifest, int k)
{
	heddle_manifest_size all = manifest->size[k];
	for (int i = 0; i < manifest->n_variant; i++) {
		const heddle_manifest_size *one = &manifest->variant[i].size[k];
		all.min = one->min < all.min ? one->min : all.min;
		all.max = one->max > all.max ? one->max : all.max;
	}
	all.divisor = 1;
	return all;
}
