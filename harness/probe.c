/* Micro-benchmarks on a driver, in its language: launch, float32 arithmetic, reads and dependent loads over growing working sets.
 * SPDX-License-Identifier: MIT
 */
#include "harness/probe.h"

#include "backends/dialect.h"
#include "backends/emulator/text.h"
#include "base/process.h"
#include "harness/device.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { REPEAT = 7, FMA_ROUNDS = 2048, FMA_CHAINS = 8, READ_CHAINS = 4, HOPS = 20000 };
enum { LAUNCH, FMA, READ, CHASE, N_KERNEL }; /* positions in the program */
#define LARGEST (128.0 * 1024 * 1024)

typedef struct session {
	heddle_ctx *ctx;
	const heddle_driver *driver;
	const heddle_descriptor *chip; /* that the device must be; NULL: any */
	heddle_arena *arena;
	heddle_manifest *manifest;
	const char *source;
	heddle_device device;
	heddle_device_memory out, in;
	heddle_text *text; /* what the child tells */
	double spread;
	int blocks, threads, width; /* launched; members of the vectors */
} session;

/* ---- the kernels ----------------------------------------------------------------------------------------------------- */

/* The micro-benchmarks as a program (doc/ir.md), which any dialect prints. */
static void write_program(const session *s, const char *target, heddle_text *out)
{
	static const char chain[] = "abcdefgh";
	const int w = s->width;
	heddle_arena *arena = s->arena;
	const char *vector = w > 1 ? heddle_arena_printf(arena, "x%d", w) : "", *part = w > 1 ? heddle_arena_printf(arena, " : %d", w) : "";
	const char *splat = w > 1 ? "splat(" : "", *end = w > 1 ? heddle_arena_printf(arena, ", %d)", w) : "";
	const char *first = w > 1 ? "extract(a[], 0)" : "a[]";
	heddle_text_printf(out, "program probe target %s warp 1\nconfig \"\"\nproof \"not proved: a measurement\"\n", target);
	heddle_text_add(out, "size n 0..2000000000\nsize each 0..2000000000\nsize rounds 0..2000000000\n");
	heddle_text_printf(out, "buffer input data float32 [n] align %d\nbuffer input cycle int32 [n] align 4\n", 4 * w);
	heddle_text_add(out, "buffer output out float32 [2] align 4\nbuffer output last int32 [2] align 4\n");
	for (int k = 0; k < FMA_CHAINS; k++)
		heddle_text_printf(out, "buffer register %c float32%s align %d\n", chain[k], vector, 4 * w);
	heddle_text_add(out, "buffer register at int32 align 4\nworkspace 0\n\n");
	heddle_text_add(out, "launch probe_launch grid 1 threads 1 args out {\n\tif int32(n) < 0 {\n\t\tout[0] = 0.0\n\t}\n}\n\n");
	/* FMA_CHAINS independent chains of a multiply and an add each */
	heddle_text_printf(out, "launch probe_fma grid %d threads %d args out {\n\tlet float32 x = 0.999\n\tlet float32 y = float32(n) * 1e-9\n",
			   s->blocks, s->threads);
	for (int k = 0; k < FMA_CHAINS; k++)
		heddle_text_printf(out, "\tdeclare %c\n\t%c[] = %sfloat32(thread + %d)%s\n", chain[k], chain[k], splat, k, end);
	heddle_text_add(out, "\tfor serial i in 0 .. int32(n) {\n");
	for (int k = 0; k < FMA_CHAINS; k++)
		heddle_text_printf(out, "\t\t%c[] = fma(%c[], %sx%s, %sy%s)\n", chain[k], chain[k], splat, end, splat, end);
	heddle_text_add(out, "\t}\n");
	for (int k = 1; k < FMA_CHAINS; k++)
		heddle_text_printf(out, "\ta[] = a[] + %c[]\n", chain[k]);
	heddle_text_printf(out, "\tif %s == -1.0 {\n\t\tout[0] = 1.0\n\t}\n}\n\n", first);
	/* each block its own stretch of the working set, again and again, in READ_CHAINS chains */
	heddle_text_printf(out, "launch probe_read grid %d threads %d args data, out {\n", s->blocks, s->threads);
	for (int k = 0; k < READ_CHAINS; k++)
		heddle_text_printf(out, "\tdeclare %c\n\t%c[] = %s0.0%s\n", chain[k], chain[k], splat, end);
	heddle_text_printf(out, "\tlet int32 begin = block * int32(each) * %d\n\tlet int32 end = begin + int32(each) * %d\n", w, w);
	heddle_text_printf(out, "\tfor serial r in 0 .. int32(rounds) {\n\t\tfor serial i in begin + thread * %d .. end step %d {\n", w,
			   READ_CHAINS * s->threads * w);
	for (int k = 0; k < READ_CHAINS; k++)
		heddle_text_printf(out, "\t\t\t%c[] = %c[] + data[i + %d%s]\n", chain[k], chain[k], k * s->threads * w, part);
	heddle_text_add(out, "\t\t}\n\t}\n");
	for (int k = 1; k < READ_CHAINS; k++)
		heddle_text_printf(out, "\ta[] = a[] + %c[]\n", chain[k]);
	heddle_text_printf(out, "\tif %s == -1.0 {\n\t\tout[0] = 1.0\n\t}\n}\n\n", first);
	heddle_text_add(out, "launch probe_chase grid 1 threads 1 args cycle, last {\n\tdeclare at\n\tat[] = 0\n"
			     "\tfor serial i in 0 .. int32(n) {\n\t\tat[] = cycle[at[]]\n\t}\n\tlast[1] = at[]\n}\n");
}

/* The program in a language: s->source and s->manifest.  0, or -1 with a diagnostic. */
static int write_source(heddle_ctx *ctx, session *s, const char *backend, const heddle_descriptor *descriptor)
{
	const heddle_emit_options options = {.base = "probe", .header = "probe"};
	const heddle_dialect *dialect = heddle_dialect_find(ctx, backend);
	if (!dialect)
		return -1;
	const heddle_target target = {.text = heddle_arena_printf(s->arena, "%s:%s", backend, descriptor->name), .backend = backend,
				      .dialect = dialect, .descriptor = descriptor};
	const heddle_language language = heddle_dialect_language(dialect);
	const bool processor = descriptor->execution == HEDDLE_SIMD;
	s->blocks = processor ? 64 : 2048;
	s->threads = processor ? 1 : 256;
	s->width = !language.vector_arithmetic ? 1 : processor ? 16 : 4;
	while (s->width > language.max_vector)
		s->width /= 2;
	heddle_text text = {0}, source = {0};
	write_program(s, target.text, &text);
	heddle_program *program = heddle_program_parse(ctx, "probe", heddle_text_str(&text));
	int status = program ? heddle_program_validate(ctx, program) : -1;
	if (status == 0)
		status = heddle_source_print(ctx, &target, HEDDLE_ONE_VARIANT(program), &options, &source);
	s->manifest = status == 0 ? heddle_manifest_make(ctx, &target, HEDDLE_ONE_VARIANT(program), &options) : NULL;
	s->source = heddle_arena_strdup(s->arena, heddle_text_str(&source));
	heddle_text_free(&text);
	heddle_text_free(&source);
	heddle_program_free(program);
	return s->manifest ? 0 : -1;
}

const char *heddle_probe_source(heddle_ctx *ctx, heddle_arena *arena, const char *backend, const heddle_descriptor *descriptor,
				heddle_manifest **manifest)
{
	session s = {.arena = arena};
	const int status = write_source(ctx, &s, backend, descriptor);
	*manifest = s.manifest;
	return status == 0 ? s.source : NULL;
}

/* ---- launches -------------------------------------------------------------------------------------------------------- */

/* The values of the program's sizes in one launch. */
typedef struct figures {
	int64_t n, each, rounds;
} figures;

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* Kernel `k` with what the manifest says it takes.  0, or -1. */
static int make_launch(session *s, int k, figures f, heddle_kernel_launch *launch)
{
	const heddle_manifest_launch *l = &s->manifest->launch[k];
	const bool one = k == LAUNCH || k == CHASE;
	*launch = (heddle_kernel_launch){.grid = {one ? 1 : s->blocks, 1, 1}, .block = {l->block[0], l->block[1], l->block[2]}};
	for (int i = 0; i < l->n_argument; i++) {
		const heddle_kernel_argument *from = &l->argument[i];
		heddle_launch_argument to = {.size = (size_t)heddle_type_size(from->type)};
		const int64_t value = from->byte_offset || !from->size ? 0 : !strcmp(from->name, "n") ? f.n : !strcmp(from->name, "each") ? f.each : f.rounds;
		if (from->size || from->byte_offset)
			memcpy(to.value, &value, sizeof(value));
		else
			to.buffer = !strcmp(from->name, "data") || !strcmp(from->name, "cycle") ? &s->in : &s->out;
		HEDDLE_PUSH(s->arena, launch->argument, launch->n_argument, to);
	}
	return s->driver->kernel(&s->device, l->kernel, &launch->kernel);
}

/* The least seconds, for what else runs on the machine only adds; -1: the device refused it. */
static double seconds_of(session *s, int kernel, figures f)
{
	double seconds[REPEAT];
	heddle_kernel_launch launch;
	if (make_launch(s, kernel, f, &launch) != 0 || s->driver->launch(&s->device, 1, &launch, 2, seconds) != 0 ||
	    s->driver->launch(&s->device, 1, &launch, REPEAT, seconds) != 0)
		return -1;
	qsort(seconds, REPEAT, sizeof(double), ascending);
	s->spread = seconds[0] > 0 ? (seconds[REPEAT / 2] - seconds[0]) / seconds[0] : 0;
	return seconds[0];
}

/* From the call to the end of a kernel that does nothing, by the host's clock. */
static double overhead_of(session *s)
{
	double seconds[REPEAT];
	heddle_kernel_launch launch;
	if (make_launch(s, LAUNCH, (figures){.n = 1}, &launch) != 0)
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
	double t = overhead_of(s), rate = 0, last = 0;
	if (t < 0)
		return -1;
	tell(s, "launch_overhead", "s", t, 0);
	t = seconds_of(s, FMA, (figures){.n = FMA_ROUNDS});
	if (t <= 0)
		return -1;
	tell(s, "rates.float32", "FLOP/s", 2.0 * FMA_CHAINS * FMA_ROUNDS * s->blocks * s->threads * s->width / t, 0);
	const double least = 4.0 * s->width * READ_CHAINS * s->blocks * s->threads;
	for (double bytes = least; bytes <= LARGEST; bytes *= 2) {
		int each = (int)(bytes / (4.0 * s->width * s->blocks)), rounds = (int)(LARGEST / bytes);
		t = seconds_of(s, READ, (figures){.each = each, .rounds = rounds});
		if (t <= 0)
			return -1;
		rate = bytes * rounds / t;
		tell(s, "sweep.bandwidth", "B/s", rate, bytes);
	}
	tell(s, "memory.global.bandwidth", "B/s", rate, 0);
	for (double bytes = 4096; bytes <= LARGEST / 2; bytes *= 4) {
		if (write_cycle(s, (int)(bytes / 4)) != 0)
			return -1;
		t = seconds_of(s, CHASE, (figures){.n = HOPS});
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

/* The letters and digits of a name: "rx7900xtx" of "RX 7900 XTX". */
static char *plain_name(heddle_arena *arena, const char *name)
{
	char *plain = heddle_arena_strdup(arena, name), *to = plain;
	for (const char *c = name; *c; c++)
		if (isalnum((unsigned char)*c))
			*to++ = (char)tolower((unsigned char)*c);
	*to = '\0';
	return plain;
}

/* Does the device's name say that it is this chip?  A name without a digit is that of a kind. */
static bool is_named(heddle_arena *arena, const char *device, const char *chip)
{
	return strpbrk(chip, "0123456789") && strstr(plain_name(arena, device), plain_name(arena, chip));
}

/* Is `name` the chip, or what it inherits from? */
static bool is_or_inherits(heddle_ctx *ctx, const heddle_descriptor *chip, const char *name, const char *const *names)
{
	while (chip && strcmp(chip->name, name) != 0) {
		const char *const *parent = names;
		while (*parent && (!chip->inherits || strcmp(*parent, chip->inherits) != 0))
			parent++;
		chip = *parent ? heddle_descriptor_find(ctx, *parent) : NULL;
	}
	return chip != NULL;
}

/* What tells that the device is another chip: the architecture that its driver names, or the name of another descriptor.  NULL: nothing. */
static const char *other_chip(const session *s)
{
	const heddle_descriptor *chip = s->chip;
	const heddle_device *device = &s->device;
	if (!chip)
		return NULL;
	if (*device->arch && *chip->compile_arch && strncmp(chip->compile_arch, device->arch, strlen(device->arch)) != 0)
		return device->arch;
	const char *const *names = heddle_descriptor_names(s->ctx);
	for (int i = 0; i < chip->n_alias; i++)
		if (is_named(s->arena, device->name, chip->alias[i]))
			return NULL;
	for (const char *const *name = names; *name; name++)
		if (is_named(s->arena, device->name, *name) && !is_or_inherits(s->ctx, chip, *name, names))
			return *name;
	return NULL;
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
	const char *other = other_chip(s);
	if (other) {
		heddle_text_printf(text, "!the device is %s, which is %s and not %s", s->device.name, other, s->chip->name);
		return;
	}
	heddle_text_printf(text, "%s\t%s\n", s->device.name, s->device.version);
	const heddle_source_build build = {.source = s->source, .name = "probe", .arch = s->device.arch, .warp = (int)s->device.warp,
					   .option = heddle_manifest_options(s->arena, s->manifest, s->driver->options, s->source),
					   .kernel = heddle_manifest_kernels(s->arena, s->manifest)};
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

int heddle_probe_run(heddle_ctx *ctx, heddle_arena *arena, const heddle_driver *driver, const heddle_descriptor *descriptor,
		     const heddle_descriptor *chip, heddle_probe *probe, const char **why)
{
	session s = {.ctx = ctx, .driver = driver, .arena = arena, .chip = chip};
	heddle_text text = {0};
	*probe = (heddle_probe){.backend = driver->backend};
	if (write_source(ctx, &s, driver->backend, descriptor) != 0) {
		*why = "its language cannot write the micro-benchmarks";
		return -1;
	}
	if (driver->device_only)
		s.source = heddle_emulate_device_text(arena, s.source);
	int status = heddle_process_call(arena, 300, in_child, &s, &text, why);
	heddle_manifest_free(s.manifest);
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
