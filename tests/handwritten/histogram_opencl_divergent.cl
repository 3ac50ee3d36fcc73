// Wrong: threads without work do not come to the barrier.
// SPDX-License-Identifier: MIT
#define ITEMS 2

static void clear(__local int *bins, int B)
{
	for (int b = get_local_id(0); b < B; b += get_local_size(0))
		bins[b] = 0;
}

__kernel void set_to_zero(__global int *H, const int B)
{
	if ((int)get_global_id(0) < B)
		H[get_global_id(0)] = 0;
}

__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void histogram_add(__global const int *restrict X, __global int *H, __local int *bins, const int N, const int B)
{
	clear(bins, B);
	barrier(CLK_LOCAL_MEM_FENCE);
	const int first = (int)get_group_id(0) * 64 * ITEMS + (int)get_local_id(0);
#pragma unroll
	for (int k = 0; k < ITEMS; ++k) {
		const int i = first + 64 * k;
		if (i < N && X[i] >= 0 && X[i] < B)
			atomic_inc(&bins[X[i]]);
	}
	if (first < N)
		barrier(CLK_LOCAL_MEM_FENCE); // found here: barrier
	for (int b = get_local_id(0); b < B; b += 64)
		if (bins[b])
			atomic_add(&H[b], bins[b]);
}
