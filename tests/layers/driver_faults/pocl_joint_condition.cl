// A fault of PoCL 3.1: && in the condition of a block with a barrier makes two jumps to the other side, and there the condition
// of the last store is lost for some work-items (threads with a_thread >= A store).  With & in its place, or with
// -cl-opt-disable, all is well; rusticl and oclgrind run this text right.  The dialect's word is language.joint_conditions.
//     heddle test layers/transpose3d.tc --impl tests/layers/driver_faults/pocl_joint_condition.json
// SPDX-License-Identifier: MIT

#pragma OPENCL FP_CONTRACT ON

// k0:; k0.S0: tile=a:32,c:32 thread=a:32,c:8; k0.I.0: space=shared pad=1
__kernel __attribute__((reqd_work_group_size(256, 1, 1))) void transpose3d_0(
	__global const float *restrict I_buffer, const ulong I_offset, __global float *restrict O_buffer,
	const ulong O_offset, const long A, const long B, const long C)
{
	__global const float *I = (__global const float *)((__global const uchar *)I_buffer + I_offset);
	__global float *O = (__global float *)((__global uchar *)O_buffer + O_offset);
	__local float I_tile[32][33] __attribute__((aligned(16))); // tile of I
	const int block = (int)get_group_id(0);
	const int thread = (int)get_local_id(0);
	const int at = ((int)A + 31) / 32;
	const int a_block = block % at;
	const int b_block = block / at % (int)B;
	const int c_block = block / at / (int)B;
	const int thread_div32 = thread / 32;
	const int c_thread = thread_div32;
	const int thread_mod32 = thread % 32;
	const int a_thread = thread_mod32;
	const int row32 = thread_div32;
	const int column32 = thread_mod32;
	const int at_1 = c_block * 32 + column32;
	const long I_at = ((long)a_block * B * 32 + (long)row32 * B + (long)b_block) * C + (long)at_1;
	const int at_2 = c_block * 32 + c_thread;
	const long O_at = ((long)(at_2 + 8) * B + (long)b_block) * A + (long)a_block * 32 + (long)a_thread;
	const long O_at_1 = ((long)(at_2 + 16) * B + (long)b_block) * A + (long)a_block * 32 + (long)a_thread;
	const long O_at_2 = ((long)(at_2 + 24) * B + (long)b_block) * A + (long)a_block * 32 + (long)a_thread;
	const long O_at_3 = ((long)at_2 * B + (long)b_block) * A + (long)a_block * 32 + (long)a_thread;
	const long at_3 = B * C * 8;
	const long at_4 = B * C * 16;
	const long at_5 = B * C * 24;
	if ((int)A >= a_block * 32 + 32 && (int)C >= c_block * 32 + 32) {
		I_tile[row32][column32] = I[I_at]; 
		I_tile[row32 + 8][column32] = I[I_at + at_3];
		I_tile[row32 + 16][column32] = I[I_at + at_4];
		I_tile[row32 + 24][column32] = I[I_at + at_5];
		barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
		O[O_at_3] = I_tile[a_thread][c_thread];
		O[O_at] = I_tile[a_thread][c_thread + 8];
		O[O_at_1] = I_tile[a_thread][c_thread + 16];
		O[O_at_2] = I_tile[a_thread][c_thread + 24];
	} else {
		const int at_6 = a_block * 32 + row32;
		I_tile[row32][column32] = (int)C >= at_1 + 1 && (int)A >= at_6 + 1 ? I[I_at] : 0.0f;
		I_tile[row32 + 8][column32] = (int)C >= at_1 + 1 && (int)A >= at_6 + 9 ? I[I_at + at_3] : 0.0f;
		I_tile[row32 + 16][column32] = (int)C >= at_1 + 1 && (int)A >= at_6 + 17 ? I[I_at + at_4] : 0.0f;
		I_tile[row32 + 24][column32] = (int)C >= at_1 + 1 && (int)A >= at_6 + 25 ? I[I_at + at_5] : 0.0f;
		barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
		const int at_7 = a_block * 32 + a_thread;
		if ((int)A >= at_7 + 1 && (int)C >= at_2 + 1) {
			O[O_at_3] = I_tile[a_thread][c_thread];
		}
		if ((int)A >= at_7 + 1 && (int)C >= at_2 + 9) {
			O[O_at] = I_tile[a_thread][c_thread + 8];
		}
		if ((int)A >= at_7 + 1 && (int)C >= at_2 + 17) {
			O[O_at_1] = I_tile[a_thread][c_thread + 16];
		}
		if ((int)A >= at_7 + 1 && (int)C >= at_2 + 25) {
			O[O_at_2] = I_tile[a_thread][c_thread + 24];
		}
	}
}
