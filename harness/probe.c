/* Micro-benchmarks on a driver: launch, float32 arithmetic, reads and dependent loads over growing working sets.
 * SPDX-License-Identifier: MIT
 */
#include "harness/probe.h"

#include "base/process.h"

#include <stdlib.h>
#include <string.h>

enum { REPEAT = 7, FMA_ROUNDS = 2048, FMA_CHAINS = 8, READ_CHAINS = 4, HOPS = 20000 };
#define LARGEST (128.0 * 1024 * 1024)

/* One text for all languages: what they call things differently stands above it. */
static const char opencl_words[] = "#define KERNEL __kernel void\n#define GLOBAL __global\n#define BLOCK ((int)get_group_id(0))\n"
				   "#define THREAD ((int)get_local_id(0))\n#define BLOCKS ((int)get_num_groups(0))\n"
				   "#define THREADS ((int)get_local_size(0))\n#define FIRST(v) (v).s0\n";
static const char cuda_words[] = "#define KERNEL extern \"C\" __global__ void\n#define GLOBAL\n#define BLOCK ((int)blockIdx.x)\n"
				 "#define THREAD ((int)threadIdx.x)\n#define BLOCKS ((int)gridDim.x)\n#define THREADS ((int)blockDim.x)\n";
static const char kernels[] =
	"KERNEL probe_launch(GLOBAL int *out, int n)\n{\n\tif (n < 0)\n\t\tout[0] = n;\n}\n"
	/* FMA_CHAINS independent chains of a multiply and an add each */
	"KERNEL probe_fma(GLOBAL int *out, int n)\n{\n"
	"\tREAL a = (REAL)(THREAD), b = a + 1, c = a + 2, d = a + 3, e = a + 4, f = a + 5, g = a + 6, h = a + 7;\n"
	"\tconst REAL x = (REAL)(0.999f), y = (REAL)((float)n * 1e-9f);\n"
	"\tfor (int i = 0; i < n; i++) {\n"
	"\t\ta = a * x + y; b = b * x + y; c = c * x + y; d = d * x + y; e = e * x + y; f = f * x + y; g = g * x + y; h = h * x + y;\n\t}\n"
	"\ta = a + b + c + d + e + f + g + h;\n\tif (FIRST(a) == -1.0f)\n\t\tout[0] = n;\n}\n"
	/* each block its own stretch of the working set, again and again, in READ_CHAINS chains */
	"KERNEL probe_read(GLOBAL int *out, GLOBAL const REAL *in, int each, int rounds)\n{\n"
	"\tREAL a = (REAL)(0.0f), b = a, c = a, d = a;\n\tGLOBAL const REAL *own = in + BLOCK * each;\n"
	"\tfor (int r = 0; r < rounds; r++)\n\t\tfor (int i = THREAD; i < each; i += 4 * THREADS) {\n"
	"\t\t\ta += own[i]; b += own[i + THREADS]; c += own[i + 2 * THREADS]; d += own[i + 3 * THREADS];\n\t\t}\n"
	"\ta = a + b + c + d;\n\tif (FIRST(a) == -1.0f)\n\t\tout[0] = rounds;\n}\n"
	"KERNEL probe_chase(GLOBAL int *out, GLOBAL const int *in, int hops)\n{\n"
	"\tint at = 0;\n\tfor (int i = 0; i < hops; i++)\n\t\tat = in[at];\n\tout[1] = at;\n}\n";

typedef struct session {
	const heddle_driver *driver;
	heddle_arena *arena;
	heddle_device device;
	heddle_device_memory out, in;
	heddle_text *text; /* what the child tells */
	double spread;
	int blocks, threads, width; /* launched; members of REAL */
} session;

static heddle_launch_argument number(int value)
{
	heddle_launch_argument a = {.size = sizeof(value)};
	memcpy(a.value, &value, sizeof(value));
	return a;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* The least seconds, for what else runs on the machine only adds; -1: the device refused it. */
static double seconds_of(session *s, const char *kernel, int blocks, int threads, int n, heddle_launch_argument *argument)
{
	double seconds[REPEAT];
	heddle_kernel_launch launch = {.grid = {blocks, 1, 1}, .block = {threads, 1, 1}, .n_argument = n, .argument = argument};
	if (s->driver->kernel(&s->device, kernel, &launch.kernel) != 0 || s->driver->launch(&s->device, 1, &launch, 2, seconds) != 0 ||
	    s->driver->launch(&s->device, 1, &launch, REPEAT, seconds) != 0)
		return -1;
	qsort(seconds, REPEAT, sizeof(double), ascending);
	s->spread = seconds[0] > 0 ? (seconds[REPEAT / 2] - seconds[0]) / seconds[0] : 0;
	return seconds[0];
}

/* From the call to the end of a kernel that does nothing, by the host's clock. */
static double overhead_of(session *s, int n, heddle_launch_argument *argument)
{
	double seconds[REPEAT];
	heddle_kernel_launch launch = {.grid = {1, 1, 1}, .block = {1, 1, 1}, .n_argument = n, .argument = argument};
	if (s->driver->kernel(&s->device, "probe_launch", &launch.kernel) != 0)
		return -1;
	for (int i = -2; i < REPEAT; i++) {
		double start = heddle_now();
		if (s->driver->launch(&s->device, 1, &launch, 0, NULL) != 0)
			return -1;
		seconds[i < 0 ? 0 : i] = heddle_now() - start;
	}
	qsort(seconds, REPEAT, sizeof(double), ascending);
	s->spread = (seconds[REPEAT / 2] - seconds[0]) / seconds[0];
	return seconds[0];
}

static void tell(session *s, const char *key, const char *unit, double value, double bytes)
{
	heddle_text_printf(s->text, "%s\t%s\t%.9g\t%.4g\t%.0f\n", key, unit, value, s->spread, bytes);
}

/* A random cycle through `n` elements, a cache line apart. */
static int write_cycle(session *s, int n)
{
	enum { STEP = 16 };
	int count = n / STEP;
	int *order = heddle_xalloc(sizeof(int) * (size_t)count), *next = heddle_xalloc(sizeof(int) * (size_t)n);
	uint64_t random = 88172645463325252u;
	memset(next, 0, sizeof(int) * (size_t)n);
	for (int i = 0; i < count; i++)
		order[i] = i;
	for (int i = count - 1; i > 0; i--) {
		random ^= random << 13, random ^= random >> 7, random ^= random << 17;
		int k = (int)(random % (uint64_t)(i + 1)), swap = order[i];
		order[i] = order[k];
		order[k] = swap;
	}
	for (int i = 0; i < count; i++)
		next[order[i] * STEP] = order[(i + 1) % count] * STEP;
	/* begin at element 0, which is on the cycle */
	int status = s->driver->upload(&s->device, &s->in, 0, next, sizeof(int) * (size_t)n);
	free(order);
	free(next);
	return status;
}

/* 0, or -1 with s->device.message. */
static int measure(session *s)
{
	heddle_launch_argument out = {.buffer = &s->out}, in = {.buffer = &s->in};
	heddle_launch_argument one[2] = {out, number(1)};
	double t = overhead_of(s, 2, one), rate = 0, last = 0;
	if (t < 0)
		return -1;
	tell(s, "launch_overhead", "s", t, 0);
	one[1] = number(FMA_ROUNDS);
	t = seconds_of(s, "probe_fma", s->blocks, s->threads, 2, one);
	if (t <= 0)
		return -1;
	tell(s, "rates.float32", "FLOP/s", 2.0 * FMA_CHAINS * FMA_ROUNDS * s->blocks * s->threads * s->width / t, 0);
	const double least = 4.0 * s->width * READ_CHAINS * s->blocks * s->threads;
	for (double bytes = least; bytes <= LARGEST; bytes *= 2) {
		int each = (int)(bytes / (4.0 * s->width * s->blocks)), rounds = (int)(LARGEST / bytes);
		heddle_launch_argument read[4] = {out, in, number(each), number(rounds)};
		t = seconds_of(s, "probe_read", s->blocks, s->threads, 4, read);
		if (t <= 0)
			return -1;
		rate = bytes * rounds / t;
		tell(s, "sweep.bandwidth", "B/s", rate, bytes);
	}
	tell(s, "memory.global.bandwidth", "B/s", rate, 0);
	for (double bytes = 4096; bytes <= LARGEST / 2; bytes *= 4) {
		heddle_launch_argument chase[3] = {out, in, number(HOPS)};
		if (write_cycle(s, (int)(bytes / 4)) != 0)
			return -1;
		t = seconds_of(s, "probe_chase", 1, 1, 3, chase);
		if (t <= 0)
			return -1;
		last = t / HOPS;
		tell(s, "sweep.latency", "s", last, bytes);
	}
	tell(s, "memory.global.latency", "s", last, 0);
	s->spread = -1;
	if (s->device.max_threads > 0)
		tell(s, "threads_per_block", "count", (double)s->device.max_threads, 0);
	if (s->device.max_shared > 0)
		tell(s, "shared_per_block", "B", (double)s->device.max_shared, 0);
	if (s->device.warp > 0)
		tell(s, "warp", "count", (double)s->device.warp, 0);
	if (s->device.memory_bytes > 0)
		tell(s, "memory.global.size", "B", (double)s->device.memory_bytes, 0);
	return 0;
}

static void in_child(void *data, heddle_text *text)
{
	session *s = data;
	const char *why = NULL;
	heddle_text log = {0};
	s->text = text;
	if (s->driver->open(s->driver, s->arena, NULL, &s->device, &why) != 0) {
		heddle_text_printf(text, "!%s", why);
		return;
	}
	heddle_text_printf(text, "%s\t%s\n", s->device.name, s->device.version);
	const bool opencl = !strcmp(s->driver->options, "opencl"), processor = !strcmp(s->driver->level, "opencl-cpu");
	s->blocks = processor ? 64 : 2048;
	s->threads = processor ? 1 : 256;
	s->width = processor ? 16 : opencl ? 4 : 1;
	const char *real = opencl ? heddle_arena_printf(s->arena, "float%d", s->width) : "float";
	const char *const no_option[] = {NULL};
	const char *const names[] = {"probe_launch", "probe_fma", "probe_read", "probe_chase", NULL};
	const heddle_source_build build = {.source = heddle_arena_printf(s->arena, "#define REAL %s\n%s%s", real, opencl ? opencl_words : cuda_words, kernels),
					   .name = "probe", .arch = s->device.arch, .option = no_option, .kernel = names};
	int status = s->driver->build(&s->device, &build, &log);
	if (status == 0)
		status = s->driver->allocate(&s->device, 4096, &s->out);
	if (status == 0)
		status = s->driver->allocate(&s->device, (size_t)LARGEST, &s->in);
	if (status == 0)
		status = s->driver->fill(&s->device, &s->in, 0, 0, (size_t)LARGEST);
	if (status == 0)
		status = measure(s);
	if (status != 0) {
		heddle_text_clear(text);
		heddle_text_printf(text, "!%s", s->device.message ? s->device.message : "it does not say why");
	}
	heddle_text_free(&log);
}

int heddle_probe_run(heddle_arena *arena, const heddle_driver *driver, heddle_probe *probe, const char **why)
{
	session s = {.driver = driver, .arena = arena};
	heddle_text text = {0};
	*probe = (heddle_probe){.backend = driver->backend};
	int status = heddle_process_call(arena, 300, in_child, &s, &text, why);
	char *copy = heddle_arena_strdup(arena, heddle_text_str(&text)), *save = NULL;
	heddle_text_free(&text);
	if (status != 0)
		return -1;
	if (copy[0] == '!') {
		*why = copy + 1;
		return -1;
	}
	char *line = strtok_r(copy, "\n", &save);
	size_t name = line ? strcspn(line, "\t") : 0;
	probe->device = line ? heddle_arena_strndup(arena, line, name) : "?";
	probe->version = line && line[name] ? line + name + 1 : "";
	while ((line = strtok_r(NULL, "\n", &save))) {
		char key[64], unit[16];
		heddle_probe_figure f = {0};
		if (sscanf(line, "%63[^\t]\t%15[^\t]\t%lf\t%lf\t%lf", key, unit, &f.value, &f.spread, &f.bytes) != 5)
			continue;
		f.key = heddle_arena_strdup(arena, key);
		f.unit = heddle_arena_strdup(arena, unit);
		HEDDLE_PUSH(arena, probe->figure, probe->n, f);
	}
	return 0;
}
