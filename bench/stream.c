/* How fast this machine copies memory: the roof for kernels that only move data.  Threads copy arrays of four times the
 * last-level cache; bytes read and bytes written both count.  One JSON object on stdout.
 *
 * Build: cc -O3 -march=native -fno-tree-loop-distribute-patterns -o stream stream.c -lpthread
 * Run:   stream [THREADS [REPEAT]]
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef float vector __attribute__((vector_size(64)));

enum { MOST_THREADS = 256, WARM_UP = 3 };

typedef struct job {
	pthread_t thread;
	pthread_barrier_t *barrier;
	vector *to, *from;
	size_t n; /* vectors */
	int repeat;
	double *begin, *end; /* [repeat]: when this thread began and ended each copy */
	int library; /* memcpy, which may use stores past the caches, instead of plain vector stores */
} job;

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void copy(const job *j)
{
	if (j->library) {
		memcpy(j->to, j->from, j->n * sizeof(vector));
		return;
	}
	for (size_t i = 0; i < j->n; i++)
		j->to[i] = j->from[i];
}

static void *work(void *data)
{
	job *j = data;
	/* Each thread touches its own part first, so that pages lie near it. */
	memset(j->from, 1, j->n * sizeof(vector));
	memset(j->to, 2, j->n * sizeof(vector));
	for (int r = 0; r < j->repeat; r++) {
		pthread_barrier_wait(j->barrier);
		j->begin[r] = now();
		copy(j);
		j->end[r] = now();
	}
	return NULL;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* Bytes of the last-level cache as the kernel says them (the C library counts some machines' slices of other sockets in);
 * 32 MiB when it does not say. */
static size_t last_level_cache(void)
{
	for (int index = 4; index >= 2; index--) {
		char path[96];
		size_t size = 0;
		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu0/cache/index%d/size", index);
		FILE *file = fopen(path, "r");
		char unit = 0;
		int n = file ? fscanf(file, "%zu%c", &size, &unit) : 0;
		if (file)
			fclose(file);
		if (n >= 1 && size > 0)
			return unit == 'M' ? size << 20 : unit == 'K' ? size << 10 : size;
	}
	return (size_t)32 << 20;
}

/* From the first thread's begin to the last one's end. */
static double time_of(const job *jobs, int threads, int r)
{
	double begin = jobs[0].begin[r], end = jobs[0].end[r];
	for (int t = 1; t < threads; t++) {
		begin = jobs[t].begin[r] < begin ? jobs[t].begin[r] : begin;
		end = jobs[t].end[r] > end ? jobs[t].end[r] : end;
	}
	return end - begin;
}

/* Sorted times of `repeat` copies by all threads together; 0, or -1 without threads or memory. */
static int measure(job *jobs, int threads, int repeat, int library, vector *to, vector *from, size_t n, double *seconds)
{
	pthread_barrier_t barrier;
	size_t part = n / (size_t)threads, all = (size_t)(repeat + WARM_UP);
	double *times = calloc(2 * all * (size_t)threads, sizeof(*times));
	pthread_barrier_init(&barrier, NULL, (unsigned)threads);
	for (int t = 0; t < threads && times; t++) {
		jobs[t] = (job){ .barrier = &barrier, .to = to + (size_t)t * part, .from = from + (size_t)t * part, .n = part,
				 .repeat = (int)all, .library = library, .begin = times + 2 * all * (size_t)t,
				 .end = times + 2 * all * (size_t)t + all };
		if (pthread_create(&jobs[t].thread, NULL, work, &jobs[t]) != 0)
			return -1;
	}
	for (int t = 0; t < threads && times; t++)
		pthread_join(jobs[t].thread, NULL);
	for (int r = 0; r < repeat && times; r++)
		seconds[r] = time_of(jobs, threads, r + WARM_UP);
	pthread_barrier_destroy(&barrier);
	qsort(seconds, (size_t)repeat, sizeof(*seconds), by_value);
	int status = times ? 0 : -1;
	free(times);
	return status;
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : (int)sysconf(_SC_NPROCESSORS_ONLN);
	int repeat = argc > 2 ? atoi(argv[2]) : 21;
	if (threads < 1 || threads > MOST_THREADS || repeat < 1) {
		fprintf(stderr, "usage: stream [THREADS [REPEAT]]\n");
		return 2;
	}
	size_t bytes = 4 * last_level_cache(), unit = sizeof(vector) * (size_t)threads;
	bytes -= bytes % unit;
	vector *from = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096), *to = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
	double *seconds = malloc((size_t)repeat * sizeof(*seconds));
	job *jobs = calloc((size_t)threads, sizeof(*jobs));
	if (!from || !to || !seconds || !jobs) {
		fprintf(stderr, "stream: no memory for two arrays of %zu bytes\n", bytes);
		return 5;
	}
	printf("{\"measure\": \"copy\", \"threads\": %d, \"bytes\": %zu, \"repeat\": %d", threads, 2 * bytes, repeat);
	for (int library = 0; library < 2; library++) {
		if (measure(jobs, threads, repeat, library, to, from, bytes / sizeof(vector), seconds) != 0)
			return 70;
		if (memcmp(from, to, bytes) != 0) {
			fprintf(stderr, "stream: the copy is wrong\n");
			return 1;
		}
		printf(", \"%s\": {\"median_gb_per_s\": %.1f, \"best_gb_per_s\": %.1f}", library ? "memcpy" : "stores",
		       2e-9 * (double)bytes / seconds[repeat / 2], 2e-9 * (double)bytes / seconds[0]);
	}
	printf("}\n");
	free(from);
	free(to);
	free(seconds);
	free(jobs);
	return 0;
}
