// A fault of PoCL 3.1: its sin, cos and tan of a vector of floats reduce all members as the largest one needs it, which from between
// 5e6 and 1e7 on is wrong for those below 0.01: here sin of 1e-3 is 0.0166, while member by member, and without the 1e10 beside it,
// it is 0.001.  (Of double vectors fmod, remainder and pow are wrong where members of very different sizes meet.)  The prelude's
// heddle_sin_float_x16 calls the function for the two kinds of members by themselves; found by the test functions_opencl_pocl_16.
//     heddle test tests/layers/driver_faults/pocl_vector_sine.tc --impl tests/layers/driver_faults/pocl_vector_sine.json
// SPDX-License-Identifier: MIT

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void sines_0(__global const float *X, __global float *O)
{
	const int i = (int)get_group_id(0) * 16;
	float16 x = vload16(0, &X[i]) * 1e-3f;
	x.s0 = 1e10f;
	x = sin(x);
	x.s0 = 0.0f;
	vstore16(x, 0, &O[i]);
}
