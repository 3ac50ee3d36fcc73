#define THREADS 64

__kernel __attribute__((reqd_work_group_size(THREADS, 1, 1)))
void rms_norm_rows(__global const float *x, __global const float *g, __global float *y, const int D, const float eps)
{
	__local float part[THREADS];
	const int t = get_local_id(0);
	__global const float *in = x + (size_t)get_group_id(0) * D;
	__global float *out = y + (size_t)get_group_id(0) * D;
	float sum = 0.0f;
	for (int d = t; d < D; d += THREADS)
		sum += in[d] * in[d];
	part[t] = sum;
	for (int o = THREADS / 2; o > 0; o /= 2) {
		barrier(CLK_LOCAL_MEM_FENCE);
		if (t < o)
			part[t] += part[t + o];
	}
	barrier(CLK_LOCAL_MEM_FENCE);
	const float scale = rsqrt(part[0] / D + eps);
	for (int d = t; d < D; d += THREADS)
		out[d] = in[d] * scale * g[d];
}
