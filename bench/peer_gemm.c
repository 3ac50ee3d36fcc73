/* The float32 matrix products of OpenBLAS and, where it is installed, of oneDNN on this machine, the peers of a generated one.  One JSON
 * object on stdout.
 *
 * Build: cc -O2 -o peer_gemm peer_gemm.c -ldl
 * Run:   peer_gemm M N K [THREADS [REPEAT [nn|nt|tn|tt]]]      C(M,N) = op(A) op(B), row-major
 * OPENBLAS_CORETYPE and OPENBLAS_L2_SIZE slow it down when they are set for another machine: refused.
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "peer.h"

#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROW_MAJOR = 101, PLAIN = 111, TRANSPOSED = 112 };

typedef void sgemm(int order, int transpose_a, int transpose_b, int m, int n, int k, float alpha, const float *a, int lda,
		   const float *b, int ldb, float beta, float *c, int ldc);

typedef int dnnl_sgemm(char transpose_a, char transpose_b, int64_t m, int64_t n, int64_t k, float alpha, const float *a, int64_t lda,
		       const float *b, int64_t ldb, float beta, float *c, int64_t ldc);

/* One element the plain way, to know that the call meant what we think. */
static int is_right(const float *a, const float *b, const float *c, int m, int n, int k, int ta, int tb)
{
	double sum = 0;
	int i = m / 2, j = n / 3;
	for (int x = 0; x < k; x++)
		sum += (double)(ta ? a[(size_t)x * (size_t)m + (size_t)i] : a[(size_t)i * (size_t)k + (size_t)x]) *
		       (double)(tb ? b[(size_t)j * (size_t)k + (size_t)x] : b[(size_t)x * (size_t)n + (size_t)j]);
	return fabs(sum - (double)c[(size_t)i * (size_t)n + (size_t)j]) < 1e-4 * (1 + sqrt(k));
}

int main(int argc, char **argv)
{
	if (argc < 4) {
		fprintf(stderr, "usage: peer_gemm M N K [THREADS [REPEAT [nn|nt|tn|tt]]]\n");
		return 2;
	}
	if (getenv("OPENBLAS_CORETYPE") || getenv("OPENBLAS_L2_SIZE")) {
		fprintf(stderr, "peer_gemm: unset OPENBLAS_CORETYPE and OPENBLAS_L2_SIZE: they would make the comparison unfair\n");
		return 2;
	}
	int m = atoi(argv[1]), n = atoi(argv[2]), k = atoi(argv[3]);
	int threads = argc > 4 ? atoi(argv[4]) : (int)sysconf(_SC_NPROCESSORS_ONLN), repeat = argc > 5 ? atoi(argv[5]) : 11;
	const char *form = argc > 6 ? argv[6] : "nn";
	int ta = form[0] == 't', tb = form[0] && form[1] == 't';
	if (m < 1 || n < 1 || k < 1 || threads < 1 || repeat < 1)
		return 2;
	void *library = dlopen("libopenblas.so.0", RTLD_NOW);
	if (!library) {
		fprintf(stderr, "peer_gemm: libopenblas.so.0 not found: apt install libopenblas0-pthread\n");
		return 4;
	}
	sgemm *gemm;
	void (*set_threads)(int);
	char *(*config)(void), *(*core)(void);
	void *symbol[4] = { dlsym(library, "cblas_sgemm"), dlsym(library, "openblas_set_num_threads"),
			    dlsym(library, "openblas_get_config"), dlsym(library, "openblas_get_corename") };
	memcpy(&gemm, &symbol[0], sizeof(gemm));
	memcpy(&set_threads, &symbol[1], sizeof(set_threads));
	memcpy(&config, &symbol[2], sizeof(config));
	memcpy(&core, &symbol[3], sizeof(core));
	if (!gemm || !set_threads || !config || !core) {
		fprintf(stderr, "peer_gemm: this libopenblas.so.0 lacks cblas_sgemm or its own functions\n");
		return 4;
	}
	set_threads(threads);
	char count[16];
	snprintf(count, sizeof(count), "%d", threads);
	setenv("OMP_NUM_THREADS", count, 1);
	dnnl_sgemm *other = NULL;
	void *dnnl = dlopen("libdnnl.so.2", RTLD_NOW), *product = dnnl ? dlsym(dnnl, "dnnl_sgemm") : NULL;
	memcpy(&other, &product, sizeof(other));
	float *a = filled((size_t)m * (size_t)k, 1), *b = filled((size_t)k * (size_t)n, 2), *c = filled((size_t)m * (size_t)n, 3);
	double *seconds = malloc((size_t)repeat * sizeof(*seconds)), *theirs = malloc((size_t)repeat * sizeof(*theirs));
	if (!seconds || !theirs)
		return 5;
	const double start = now();
	for (int r = -1; r < repeat; r += r >= 0 || now() - start > WARM_UP) {
		double begin = now();
		gemm(ROW_MAJOR, ta ? TRANSPOSED : PLAIN, tb ? TRANSPOSED : PLAIN, m, n, k, 1, a, ta ? m : k, b, tb ? k : n, 0, c, n);
		if (r >= 0)
			seconds[r] = now() - begin;
	}
	if (!is_right(a, b, c, m, n, k, ta, tb)) {
		fprintf(stderr, "peer_gemm: a wrong result\n");
		return 1;
	}
	memset(c, 0, (size_t)m * (size_t)n * sizeof(*c));
	const double again = now();
	for (int r = -1; r < repeat && other; r += r >= 0 || now() - again > WARM_UP) {
		double begin = now();
		other(ta ? 'T' : 'N', tb ? 'T' : 'N', m, n, k, 1, a, ta ? m : k, b, tb ? k : n, 0, c, n);
		if (r >= 0)
			theirs[r] = now() - begin;
	}
	if (other && !is_right(a, b, c, m, n, k, ta, tb)) {
		fprintf(stderr, "peer_gemm: a wrong result of oneDNN's\n");
		return 1;
	}
	qsort(seconds, (size_t)repeat, sizeof(*seconds), by_value);
	if (other)
		qsort(theirs, (size_t)repeat, sizeof(*theirs), by_value);
	double flops = 2.0 * m * n * k;
	printf("{\"measure\": \"openblas sgemm\", \"m\": %d, \"n\": %d, \"k\": %d, \"form\": \"%s\", \"threads\": %d, \"repeat\": %d, "
	       "\"core\": \"%s\", \"config\": \"%s\", \"median_s\": %.6g, \"best_s\": %.6g, \"median_gflop_per_s\": %.1f, "
	       "\"best_gflop_per_s\": %.1f",
	       m, n, k, form, threads, repeat, core(), config(), seconds[repeat / 2], seconds[0],
	       1e-9 * flops / seconds[repeat / 2], 1e-9 * flops / seconds[0]);
	if (other)
		printf(", \"onednn_median_gflop_per_s\": %.1f, \"onednn_best_gflop_per_s\": %.1f", 1e-9 * flops / theirs[repeat / 2],
		       1e-9 * flops / theirs[0]);
	printf("}\n");
	free(a);
	free(b);
	free(c);
	free(seconds);
	free(theirs);
	return 0;
}
