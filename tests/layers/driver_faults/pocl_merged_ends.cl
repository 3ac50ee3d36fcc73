// A fault of PoCL 3.1: both branches end with a store to y under a condition, and the compiler that runs before PoCL makes one
// store of them.  The ways to it, after a barrier and after others, meet there, and what PoCL makes of that runs with another
// work-item's values: y[0,0] is 0.  With one barrier more at the end of one branch, or with -cl-opt-disable, all is well;
// rusticl and oclgrind run this text right.  A barrier under a condition with a store after it does the same.  The dialect's
// word is language.barriers_at_joins.
//     heddle test layers/scans.tc --def cumsum --impl tests/layers/driver_faults/pocl_merged_ends.json -s N=4,T=20
// SPDX-License-Identifier: MIT

#pragma OPENCL FP_CONTRACT ON

// k0: threads=128; k0.S0: tile=s:16,t:8 thread=s:16,t:8 reduce=s:lanes; k0.x.0: space=shared order=1,0 pad=4 vector=4
__kernel __attribute__((reqd_work_group_size(128, 1, 1))) void cumsum_0(
	__global const float *restrict x_buffer, const ulong x_offset, __global float *restrict y_buffer,
	const ulong y_offset)
{
	__global const float *x = (__global const float *)((__global const uchar *)x_buffer + x_offset);
	__global float *y = (__global float *)((__global uchar *)y_buffer + y_offset);
	__local float x_tile[20] __attribute__((aligned(16))); // tile of x
	__local float y_lanes0[128] __attribute__((aligned(16))); // partial results of lanes
	const int block = (int)get_group_id(0);
	const int thread = (int)get_local_id(0);
	const int t_block = block % 3;
	const int n_block = block / 3;
	const int t_thread = thread / 16;
	const int lane = thread % 16;
	const int row4 = thread / 4;
	const int column4 = thread % 4;
	const int x_at = n_block * 20 + column4 * 4;
	if (t_block < 2) {
		float y_sum0;
		y_sum0 = 0.0f; // scans.tc:6
		if (row4 == 0) {
			vstore4(vload4(0, &x[x_at]), 0, &x_tile[column4 * 4]);
		}
		barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
		if (t_block * 8 + t_thread >= lane) {
			y_sum0 += x_tile[lane];
		}
		y_lanes0[thread] = y_sum0;
		barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
		if (lane < 8) {
			y_lanes0[thread] += y_lanes0[thread + 8];
		}
		barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
		if (lane < 4) {
			y_lanes0[thread] += y_lanes0[thread + 4];
		}
		barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
		if (lane < 2) {
			y_lanes0[thread] += y_lanes0[thread + 2];
		}
		barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
		if (lane < 1) {
			y_lanes0[thread] += y_lanes0[thread + 1];
		}
		barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
		y_sum0 = y_lanes0[thread - lane];
		if (lane == 0) {
			y[n_block * 20 + t_block * 8 + t_thread] = y_sum0;
		}
	} else {
		float y_sum0_edge;
		y_sum0_edge = 0.0f;
		for (int s_tile = 0; s_tile < 2; s_tile++) {
			if (row4 == 0) {
				vstore4(column4 * 4 + s_tile * 16 < 20 ? vload4(0, &x[x_at + s_tile * 16])
					: (float4)(0.0f), 0, &x_tile[column4 * 4]);
			}
			barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
			if (t_thread + 17 > lane + s_tile * 16) {
				y_sum0_edge += x_tile[lane];
			}
			barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
		}
		y_lanes0[thread] = y_sum0_edge;
		barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
		if (lane < 8) {
			y_lanes0[thread] += y_lanes0[thread + 8];
		}
		barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
		if (lane < 4) {
			y_lanes0[thread] += y_lanes0[thread + 4];
		}
		barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
		if (lane < 2) {
			y_lanes0[thread] += y_lanes0[thread + 2];
		}
		barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
		if (lane < 1) {
			y_lanes0[thread] += y_lanes0[thread + 1];
		}
		barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
		y_sum0_edge = y_lanes0[thread - lane];
		if (lane == 0) {
			if (t_thread + 16 < 20) {
				y[n_block * 20 + t_thread + 16] = y_sum0_edge;
			}
		}
	}
}
