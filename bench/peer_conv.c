/* oneDNN's float32 two-dimensional convolution on this machine, the peer of a generated one.  One JSON object on stdout.
 *
 * Build: cc -O2 -o peer_conv peer_conv.c -ldnnl -lm        (Debian: libdnnl-dev)
 * Run:   peer_conv N C H W M KERNEL STRIDE PADDING [REPEAT]
 * Tensors are plain NCHW and OIHW on both ends: what oneDNN reorders to its own layouts and back is counted in "plain", and left out
 * in "blocked".
 * SPDX-License-Identifier: MIT
 */
#define _POSIX_C_SOURCE 200809L
#include "peer.h"

#include <math.h>
#include <oneapi/dnnl/dnnl.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_ARGUMENTS = 4 };

static void must(dnnl_status_t status, const char *what)
{
	if (status == dnnl_success)
		return;
	fprintf(stderr, "peer_conv: %s: oneDNN's status %d\n", what, (int)status);
	exit(4);
}

/* A tensor as the caller has it, and as the convolution wants it: the same where they agree. */
typedef struct tensor {
	float *data;
	size_t n;
	dnnl_memory_t plain, blocked;
	dnnl_primitive_t reorder; /* NULL: none */
} tensor;

static tensor make(dnnl_engine_t engine, const dnnl_dims_t size, dnnl_format_tag_t tag, const dnnl_memory_desc_t *wanted, int back,
		   unsigned seed)
{
	tensor t = {.n = 1};
	dnnl_memory_desc_t plain;
	dnnl_primitive_desc_t reorder;
	for (int d = 0; d < 4; d++)
		t.n *= (size_t)size[d];
	t.data = filled(t.n, seed);
	must(dnnl_memory_desc_init_by_tag(&plain, 4, size, dnnl_f32, tag), "a description");
	must(dnnl_memory_create(&t.plain, &plain, engine, t.data), "a tensor");
	t.blocked = t.plain;
	if (dnnl_memory_desc_equal(&plain, wanted))
		return t;
	must(dnnl_memory_create(&t.blocked, wanted, engine, DNNL_MEMORY_ALLOCATE), "a blocked tensor");
	must(dnnl_reorder_primitive_desc_create(&reorder, back ? wanted : &plain, engine, back ? &plain : wanted, engine, NULL), "a reorder");
	must(dnnl_primitive_create(&t.reorder, reorder), "a reorder");
	return t;
}

static void reorder(const tensor *t, dnnl_stream_t stream, int back)
{
	dnnl_exec_arg_t argument[2] = {{DNNL_ARG_FROM, back ? t->blocked : t->plain}, {DNNL_ARG_TO, back ? t->plain : t->blocked}};
	if (t->reorder)
		must(dnnl_primitive_execute(t->reorder, stream, 2, argument), "a reorder");
}

int main(int argc, char **argv)
{
	int v[9] = {0};
	if (argc < 9) {
		fprintf(stderr, "usage: peer_conv N C H W M KERNEL STRIDE PADDING [REPEAT]\n");
		return 2;
	}
	for (int i = 0; i < 9 && i + 1 < argc; i++)
		v[i] = atoi(argv[i + 1]);
	const int n = v[0], c = v[1], h = v[2], w = v[3], m = v[4], k = v[5], s = v[6], p = v[7], repeat = v[8] > 0 ? v[8] : 11;
	if (n < 1 || c < 1 || h < 1 || w < 1 || m < 1 || k < 1 || s < 1 || p < 0)
		return 2;
	const int oh = (h + 2 * p - k) / s + 1, ow = (w + 2 * p - k) / s + 1;
	dnnl_dims_t in = {n, c, h, w}, weight = {m, c, k, k}, out = {n, m, oh, ow}, stride = {s, s}, padding = {p, p};
	dnnl_memory_desc_t any[3];
	dnnl_convolution_desc_t desc;
	dnnl_primitive_desc_t plan;
	dnnl_primitive_t convolution;
	dnnl_engine_t engine;
	dnnl_stream_t stream;
	must(dnnl_engine_create(&engine, dnnl_cpu, 0), "the processor");
	must(dnnl_stream_create(&stream, engine, dnnl_stream_default_flags), "a stream");
	must(dnnl_memory_desc_init_by_tag(&any[0], 4, in, dnnl_f32, dnnl_format_tag_any), "a description");
	must(dnnl_memory_desc_init_by_tag(&any[1], 4, weight, dnnl_f32, dnnl_format_tag_any), "a description");
	must(dnnl_memory_desc_init_by_tag(&any[2], 4, out, dnnl_f32, dnnl_format_tag_any), "a description");
	must(dnnl_convolution_forward_desc_init(&desc, dnnl_forward_inference, dnnl_convolution_direct, &any[0], &any[1], NULL, &any[2], stride,
						padding, padding),
	     "a convolution");
	must(dnnl_primitive_desc_create(&plan, &desc, NULL, engine, NULL), "a convolution");
	must(dnnl_primitive_create(&convolution, plan), "a convolution");
	tensor x = make(engine, in, dnnl_nchw, dnnl_primitive_desc_query_md(plan, dnnl_query_src_md, 0), 0, 1);
	tensor f = make(engine, weight, dnnl_oihw, dnnl_primitive_desc_query_md(plan, dnnl_query_weights_md, 0), 0, 2);
	tensor y = make(engine, out, dnnl_nchw, dnnl_primitive_desc_query_md(plan, dnnl_query_dst_md, 0), 1, 3);
	dnnl_exec_arg_t argument[MOST_ARGUMENTS] = {{DNNL_ARG_SRC, x.blocked}, {DNNL_ARG_WEIGHTS, f.blocked}, {DNNL_ARG_DST, y.blocked}};
	double *plain = malloc((size_t)repeat * sizeof(*plain)), *blocked = malloc((size_t)repeat * sizeof(*blocked));
	if (!plain || !blocked)
		return 5;
	const double start = now();
	for (int r = -1; r < repeat; r += r >= 0 || now() - start > WARM_UP) {
		double t[3] = {now()};
		reorder(&x, stream, 0);
		reorder(&f, stream, 0);
		must(dnnl_stream_wait(stream), "waiting");
		t[1] = now();
		must(dnnl_primitive_execute(convolution, stream, 3, argument), "a convolution");
		must(dnnl_stream_wait(stream), "waiting");
		t[2] = now();
		reorder(&y, stream, 1);
		must(dnnl_stream_wait(stream), "waiting");
		if (r >= 0) {
			plain[r] = now() - t[0];
			blocked[r] = t[2] - t[1];
		}
	}
	/* one element the plain way, to know that the calls meant what we think */
	double sum = 0;
	const int a = oh / 2, b = ow / 3, to = m / 2;
	for (int i = 0; i < c * k * k; i++) {
		const int at = a * s - p + i / k % k, left = b * s - p + i % k;
		if (at >= 0 && at < h && left >= 0 && left < w)
			sum += (double)x.data[((size_t)(i / (k * k)) * (size_t)h + (size_t)at) * (size_t)w + (size_t)left] *
			       (double)f.data[(size_t)to * (size_t)(c * k * k) + (size_t)i];
	}
	if (fabs(sum - (double)y.data[((size_t)to * (size_t)oh + (size_t)a) * (size_t)ow + (size_t)b]) > 1e-4 * (1 + sqrt(c * k * k))) {
		fprintf(stderr, "peer_conv: a wrong result\n");
		return 1;
	}
	qsort(plain, (size_t)repeat, sizeof(*plain), by_value);
	qsort(blocked, (size_t)repeat, sizeof(*blocked), by_value);
	const double flops = 2.0 * n * m * oh * ow * c * k * k;
	printf("{\"measure\": \"onednn convolution\", \"n\": %d, \"c\": %d, \"h\": %d, \"w\": %d, \"m\": %d, \"kernel\": %d, \"stride\": %d, "
	       "\"padding\": %d, \"repeat\": %d, \"median_s\": %.6g, \"best_s\": %.6g, \"blocked_median_s\": %.6g, "
	       "\"median_gflop_per_s\": %.1f, \"blocked_gflop_per_s\": %.1f}\n",
	       n, c, h, w, m, k, s, p, repeat, plain[repeat / 2], plain[0], blocked[repeat / 2], 1e-9 * flops / plain[repeat / 2],
	       1e-9 * flops / blocked[repeat / 2]);
	return 0;
}
