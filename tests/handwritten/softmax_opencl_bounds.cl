// Softmax over the rows of I, one work-group of 64 items per row;
// wrong: a row is taken to be one longer than it is.
// SPDX-License-Identifier: MIT
#define ITEMS 64

float reduce(__local float *part, int is_max)
{
	const int t = (int)get_local_id(0);
	for (int o = ITEMS / 2; o > 0; o /= 2) {
		barrier(CLK_LOCAL_MEM_FENCE);
		if (t < o)
			part[t] = is_max ? fmax(part[t], part[t + o]) : part[t] + part[t + o];
	}
	barrier(CLK_LOCAL_MEM_FENCE);
	return part[0];
}

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void softmax_rows(__global const float *restrict I,
									       __global float *restrict O, int D)
{
	__local float maxima[ITEMS], sums[ITEMS];
	const int t = (int)get_local_id(0);
	__global const float *in = I + (size_t)get_group_id(0) * D;
	__global float *out = O + (size_t)get_group_id(0) * D;
	float largest = -INFINITY, total = 0.0f;
	for (int d = t; d <= D; d += ITEMS)
		largest = fmax(largest, in[d]); // found here: bounds
	maxima[t] = largest;
	largest = reduce(maxima, 1);
	for (int d = t; d < D; d += ITEMS)
		total += exp(in[d] - largest);
	sums[t] = total;
	total = reduce(sums, 0);
	for (int d = t; d < D; d += ITEMS)
		out[d] = exp(in[d] - largest) / total;
}
