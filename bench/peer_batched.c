/* Float32 matrix products of a batch on this machine, the peers of generated ones: oneDNN's product of three-dimensional tensors, and
 * OpenBLAS two ways: item after item with all threads, and each thread its share of the items.  One JSON object on stdout.
 *
 * Build: cc -O2 -o peer_batched peer_batched.c -ldnnl -ldl -lm -lpthread        (Debian: libdnnl-dev)
 * Run:   peer_batched BATCH M N K [THREADS [REPEAT [nn|nt]]]      Z(b,M,N) = X(b,M,K) op(Y(b)), row-major
 * OPENBLAS_CORETYPE and OPENBLAS_L2_SIZE slow OpenBLAS down when they are set for another machine: refused.
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "peer.h"

#include <dlfcn.h>
#include <math.h>
#include <oneapi/dnnl/dnnl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROW_MAJOR = 101, PLAIN = 111, TRANSPOSED = 112, MOST_THREADS = 256 };

typedef void sgemm(int order, int transpose_a, int transpose_b, int m, int n, int k, float alpha, const float *a, int lda,
		   const float *b, int ldb, float beta, float *c, int ldc);

/* The products, and those who can compute them. */
typedef struct products {
	int batch, m, n, k, turned, threads;
	float *x, *y, *z;
	sgemm *gemm;
	void (*set_threads)(int);
	dnnl_primitive_t matmul;
	dnnl_stream_t stream;
	dnnl_memory_t memory[3];
} products;

static void must(dnnl_status_t status, const char *what)
{
	if (status == dnnl_success)
		return;
	fprintf(stderr, "peer_batched: %s: oneDNN's status %d\n", what, (int)status);
	exit(4);
}

static void items(const products *p, int from, int to)
{
	for (int b = from; b < to; b++)
		p->gemm(ROW_MAJOR, PLAIN, p->turned ? TRANSPOSED : PLAIN, p->m, p->n, p->k, 1, p->x + (size_t)b * (size_t)p->m * (size_t)p->k,
			p->k, p->y + (size_t)b * (size_t)p->k * (size_t)p->n, p->turned ? p->k : p->n, 0,
			p->z + (size_t)b * (size_t)p->m * (size_t)p->n, p->n);
}

typedef struct share {
	const products *of;
	int from, to;
} share;

static void *one_share(void *given)
{
	const share *s = given;
	items(s->of, s->from, s->to);
	return NULL;
}

/* OpenBLAS, item after item. */
static void in_turn(const products *p)
{
	items(p, 0, p->batch);
}

/* OpenBLAS, each thread its items. */
static void shared_out(const products *p)
{
	pthread_t thread[MOST_THREADS];
	share s[MOST_THREADS];
	for (int t = 0; t < p->threads; t++) {
		s[t] = (share){p, (int)((long)p->batch * t / p->threads), (int)((long)p->batch * (t + 1) / p->threads)};
		if (t > 0 && pthread_create(&thread[t], NULL, one_share, &s[t]))
			exit(5);
	}
	one_share(&s[0]);
	for (int t = 1; t < p->threads; t++)
		pthread_join(thread[t], NULL);
}

static void by_onednn(const products *p)
{
	dnnl_exec_arg_t argument[3] = {{DNNL_ARG_SRC, p->memory[0]}, {DNNL_ARG_WEIGHTS, p->memory[1]}, {DNNL_ARG_DST, p->memory[2]}};
	must(dnnl_primitive_execute(p->matmul, p->stream, 3, argument), "a product");
	must(dnnl_stream_wait(p->stream), "waiting");
}

static void prepare_onednn(products *p)
{
	const dnnl_dims_t size[3] = {{p->batch, p->m, p->k}, {p->batch, p->k, p->n}, {p->batch, p->m, p->n}};
	const dnnl_format_tag_t tag[3] = {dnnl_abc, p->turned ? dnnl_acb : dnnl_abc, dnnl_abc};
	float *const data[3] = {p->x, p->y, p->z};
	dnnl_memory_desc_t at[3];
	dnnl_matmul_desc_t desc;
	dnnl_primitive_desc_t plan;
	dnnl_engine_t engine;
	must(dnnl_engine_create(&engine, dnnl_cpu, 0), "the processor");
	must(dnnl_stream_create(&p->stream, engine, dnnl_stream_default_flags), "a stream");
	for (int i = 0; i < 3; i++) {
		must(dnnl_memory_desc_init_by_tag(&at[i], 3, size[i], dnnl_f32, tag[i]), "a description");
		must(dnnl_memory_create(&p->memory[i], &at[i], engine, data[i]), "a tensor");
	}
	must(dnnl_matmul_desc_init(&desc, &at[0], &at[1], NULL, &at[2]), "a product");
	must(dnnl_primitive_desc_create(&plan, &desc, NULL, engine, NULL), "a product");
	must(dnnl_primitive_create(&p->matmul, plan), "a product");
}

/* An element of the last item the plain way, to know that the calls meant what we think. */
static int is_right(const products *p)
{
	const size_t m = (size_t)p->m, n = (size_t)p->n, k = (size_t)p->k, b = (size_t)p->batch - 1, i = m / 2, j = n / 3;
	double sum = 0;
	for (size_t x = 0; x < k; x++)
		sum += (double)p->x[(b * m + i) * k + x] * (double)p->y[b * k * n + (p->turned ? j * k + x : x * n + j)];
	return fabs(sum - (double)p->z[(b * m + i) * n + j]) < 1e-4 * (1 + sqrt(p->k));
}

/* Median seconds of all products one way. */
static double median(const products *p, void (*way)(const products *), int repeat, const char *name)
{
	double *seconds = malloc((size_t)repeat * sizeof(*seconds));
	if (!seconds)
		exit(5);
	memset(p->z, 0, (size_t)p->batch * (size_t)p->m * (size_t)p->n * sizeof(*p->z));
	const double start = now();
	for (int r = -1; r < repeat; r += r >= 0 || now() - start > WARM_UP) {
		const double begin = now();
		way(p);
		if (r >= 0)
			seconds[r] = now() - begin;
	}
	if (!is_right(p)) {
		fprintf(stderr, "peer_batched: a wrong result of %s\n", name);
		exit(1);
	}
	qsort(seconds, (size_t)repeat, sizeof(*seconds), by_value);
	const double result = seconds[repeat / 2];
	free(seconds);
	return result;
}

int main(int argc, char **argv)
{
	if (argc < 5) {
		fprintf(stderr, "usage: peer_batched BATCH M N K [THREADS [REPEAT [nn|nt]]]\n");
		return 2;
	}
	if (getenv("OPENBLAS_CORETYPE") || getenv("OPENBLAS_L2_SIZE")) {
		fprintf(stderr, "peer_batched: unset OPENBLAS_CORETYPE and OPENBLAS_L2_SIZE: they would make the comparison unfair\n");
		return 2;
	}
	products p = {.batch = atoi(argv[1]), .m = atoi(argv[2]), .n = atoi(argv[3]), .k = atoi(argv[4])};
	p.threads = argc > 5 ? atoi(argv[5]) : (int)sysconf(_SC_NPROCESSORS_ONLN);
	const int repeat = argc > 6 ? atoi(argv[6]) : 11;
	const char *form = argc > 7 ? argv[7] : "nn";
	p.turned = form[0] && form[1] == 't';
	if (p.batch < 1 || p.m < 1 || p.n < 1 || p.k < 1 || p.threads < 1 || p.threads > MOST_THREADS || repeat < 1)
		return 2;
	void *library = dlopen("libopenblas.so.0", RTLD_NOW);
	void *symbol[2] = {library ? dlsym(library, "cblas_sgemm") : NULL, library ? dlsym(library, "openblas_set_num_threads") : NULL};
	if (!symbol[0] || !symbol[1]) {
		fprintf(stderr, "peer_batched: libopenblas.so.0 not found: apt install libopenblas0-pthread\n");
		return 4;
	}
	memcpy(&p.gemm, &symbol[0], sizeof(p.gemm));
	memcpy(&p.set_threads, &symbol[1], sizeof(p.set_threads));
	p.x = filled((size_t)p.batch * (size_t)p.m * (size_t)p.k, 1);
	p.y = filled((size_t)p.batch * (size_t)p.k * (size_t)p.n, 2);
	p.z = filled((size_t)p.batch * (size_t)p.m * (size_t)p.n, 3);
	prepare_onednn(&p);
	p.set_threads(p.threads);
	const double turns = median(&p, in_turn, repeat, "OpenBLAS");
	p.set_threads(1);
	const double shares = median(&p, shared_out, repeat, "OpenBLAS, a share each");
	const double theirs = median(&p, by_onednn, repeat, "oneDNN");
	const double flops = 2e-9 * p.batch * p.m * p.n * p.k;
	printf("{\"measure\": \"products of a batch\", \"batch\": %d, \"m\": %d, \"n\": %d, \"k\": %d, \"form\": \"%s\", \"threads\": %d, "
	       "\"repeat\": %d, \"openblas_in_turn_gflop_per_s\": %.1f, \"openblas_shared_out_gflop_per_s\": %.1f, "
	       "\"onednn_gflop_per_s\": %.1f}\n",
	       p.batch, p.m, p.n, p.k, form, p.threads, repeat, flops / turns, flops / shares, flops / theirs);
	return 0;
}
