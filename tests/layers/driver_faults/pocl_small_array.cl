// A fault of PoCL 3.1 with LLVM 15 on a machine with AVX2 or more: `part` is smaller than a vector of the machine, and what the
// loop of unknown length stores to its first places is lost: O[0] is 0, not X[0].  The text is well defined, the
// same in C passes under -fsanitize=address,undefined.  LLVM gives the loop, whose length is 3 at most, a path with vectors of
// 8; GVN, which PoCL runs once more after that, then puts the values from before the loop in place of the loads behind it
// (clang-15 -O3 -mavx2 and `opt-15 -passes=gvn` do the same to the C; LLVM 19 does not).  With float part[16], with
// -cl-opt-disable, or where the loop is not made of vectors, all is well; rusticl and oclgrind run this text right.  The
// dialect's word is language.array_bytes.
//     heddle test tests/layers/driver_faults/pocl_small_array.tc --impl tests/layers/driver_faults/pocl_small_array.json
// SPDX-License-Identifier: MIT

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void sums_0(__global const float *X, __global float *O)
{
	const int t = (int)get_group_id(0);
	float4 sum = (float4)(0.0f);
	for (int tile = 0; tile < t / 4 + 1; tile++) {
		const int last = min(3, t - tile * 4);
		if (last >= 3) {
			sum += vload4(0, &X[tile * 4]);
		} else {
			float part[4];
			vstore4(sum, 0, &part[0]);
			for (int i = 0; i < last + 1; i++)
				part[i] += X[tile * 4 + i];
			sum = vload4(0, &part[0]);
		}
	}
	O[t] = sum.s0 + sum.s1 + sum.s2 + sum.s3;
}
