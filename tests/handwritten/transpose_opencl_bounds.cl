// Wrong: one column too many is read.
// SPDX-License-Identifier: MIT
#ifndef TILE
#define TILE 16
#endif
#ifndef ROWS
#define ROWS 4
#endif

__kernel __attribute__((reqd_work_group_size(TILE, ROWS, 1)))
void transpose_tiles(__global const float *restrict X, __global float *restrict Y, const int H, const int W)
{
	__local float tile[TILE][TILE + 1];
	const int x = (int)get_group_id(0) * TILE + (int)get_local_id(0);
	const int y = (int)get_group_id(1) * TILE + (int)get_local_id(1);
	for (int j = 0; j < TILE; j += ROWS)
		if (x <= W && y + j < H)
			tile[get_local_id(1) + j][get_local_id(0)] = X[(y + j) * W + x]; // found here: bounds
	barrier(CLK_LOCAL_MEM_FENCE);
	const int u = (int)get_group_id(1) * TILE + (int)get_local_id(0);
	const int v = (int)get_group_id(0) * TILE + (int)get_local_id(1);
	for (int j = 0; j < TILE; j += ROWS)
		if (u < H && v + j < W)
			Y[(v + j) * H + u] = tile[get_local_id(0)][get_local_id(1) + j];
}
