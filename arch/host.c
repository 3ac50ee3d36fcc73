/* `host`: this machine's processor, as a descriptor that is written when it is wanted and read as a file is.
 *
 * Its vectors are those of the shipped descriptor for the longest that CPUID names, cores and caches are what sysfs shows, and what
 * cores have each for themselves is scaled from that descriptor by their number.  Figures that `heddle arch probe host` measured
 * here come before all of these.  HEDDLE_HOST names a folder to look at instead of the machine (doc/arch.md).
 * SPDX-License-Identifier: MIT
 */
#include "arch/reader.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char host[] = "host", found_here[] = "host-found"; /* the second is what a file of measured figures inherits from */
static const char nowhere[] = "<this machine>/"; /* before the name of the file that there is not */

/* ---- what is found ------------------------------------------------------------------------------------------------------ */

enum { N_LEVEL = 3 }; /* l1 to l3 */

typedef struct cache {
	long long bytes, line, ways; /* 0: not shown */
} cache;

typedef struct machine {
	const heddle_descriptor *nearest;
	int cores; /* 0: not shown */
	cache level[N_LEVEL];
} machine;

/* The first line of a file, "" where there is none.  (heddle_file_read would name it among the files that the output depends on.) */
static void first_line(const char *path, char line[256])
{
	FILE *file = fopen(path, "r");
	if (!file || !fgets(line, 256, file))
		line[0] = '\0';
	line[strcspn(line, "\n")] = '\0';
	if (file)
		fclose(file);
}

/* The kinds of vectors that processor and system have, as CPUID calls them. */
static const char *vector_kinds(heddle_arena *arena)
{
	const char *folder = getenv("HEDDLE_HOST");
	if (folder && *folder) {
		char line[256];
		first_line(heddle_arena_printf(arena, "%s/cpuid", folder), line);
		return heddle_arena_strdup(arena, line);
	}
#if defined(__x86_64__) || defined(__i386__)
	return heddle_arena_printf(arena, "%s%s", __builtin_cpu_supports("avx2") ? "avx2 " : "", __builtin_cpu_supports("avx512f") ? "avx512f" : "");
#else
	return "";
#endif
}

static bool has_word(const char *list, const char *word)
{
	const size_t n = strlen(word);
	for (size_t length; *list; list += length + (list[length] == ' ')) {
		length = strcspn(list, " ");
		if (length == n && !strncmp(list, word, n))
			return true;
	}
	return false;
}

/* The longest vectors come first. */
const char *heddle_host_nearest(heddle_ctx *ctx)
{
	static const struct {
		const char *kind, *descriptor;
	} known[] = {{"avx512f", "cpu"}, {"avx2", "cpu-avx2"}};
	const char *kinds = vector_kinds(heddle_ctx_arena(ctx));
	for (size_t i = 0; i < HEDDLE_COUNT(known); i++)
		if (has_word(kinds, known[i].kind))
			return known[i].descriptor;
	return "cpu-sse";
}

bool heddle_descriptor_is_host(const heddle_descriptor *descriptor)
{
	return !strcmp(descriptor->name, host);
}

static void read_system(heddle_arena *arena, const char *file, char line[256])
{
	const char *folder = getenv("HEDDLE_HOST");
	first_line(heddle_arena_printf(arena, "%s/sys/devices/system/cpu/%s", folder ? folder : "", file), line);
}

/* Processors that share a core are listed together, "0,64" or "0-1": the first of them counts. */
static bool is_first_of_core(heddle_arena *arena, long cpu)
{
	char line[256];
	read_system(arena, heddle_arena_printf(arena, "cpu%ld/topology/thread_siblings_list", cpu), line);
	return !line[0] || strtol(line, NULL, 10) == cpu;
}

/* "0-3,8" into a count of cores; `*first` is a processor that is on. */
static int count_cores(heddle_arena *arena, long *first)
{
	enum { MOST = 65536 };
	char line[256], *p = line;
	int n = 0;
	*first = 0;
	read_system(arena, "online", line);
	while (isdigit((unsigned char)*p)) {
		long begin = strtol(p, &p, 10), end = *p == '-' ? strtol(p + 1, &p, 10) : begin;
		*first = n ? *first : begin;
		for (long cpu = begin; cpu <= end && n < MOST; cpu++)
			n += is_first_of_core(arena, cpu);
		p += *p == ',';
	}
	return n;
}

static long long read_bytes(heddle_arena *arena, const char *file)
{
	char line[256], *end;
	read_system(arena, file, line);
	const long long n = strtoll(line, &end, 10);
	return n <= 0 ? 0 : *end == 'K' ? n * 1024 : *end == 'M' ? n * 1024 * 1024 : n;
}

static void read_caches(heddle_arena *arena, long cpu, cache *level)
{
	char line[256];
	for (int i = 0;; i++) {
		const char *folder = heddle_arena_printf(arena, "cpu%ld/cache/index%d", cpu, i);
		read_system(arena, heddle_arena_printf(arena, "%s/level", folder), line);
		const long number = strtol(line, NULL, 10);
		if (!line[0])
			return;
		read_system(arena, heddle_arena_printf(arena, "%s/type", folder), line);
		if (number < 1 || number > N_LEVEL || !strcmp(line, "Instruction"))
			continue;
		level[number - 1].bytes = read_bytes(arena, heddle_arena_printf(arena, "%s/size", folder));
		level[number - 1].line = read_bytes(arena, heddle_arena_printf(arena, "%s/coherency_line_size", folder));
		level[number - 1].ways = read_bytes(arena, heddle_arena_printf(arena, "%s/ways_of_associativity", folder));
	}
}

static int find_machine(heddle_ctx *ctx, machine *m)
{
	heddle_arena *arena = heddle_ctx_arena(ctx);
	const char *folder = getenv("HEDDLE_HOST");
	long first;
	if (folder && *folder && access(folder, R_OK) != 0)
		return heddle_error(ctx, 901, NULL, "HEDDLE_HOST: there is no folder '%s'", folder);
	/* The shipped one: a file of the user's may itself inherit from `host`. */
	const heddle_source *source = heddle_descriptor_source(ctx, heddle_shipped, heddle_host_nearest(ctx));
	*m = (machine){.nearest = source ? heddle_descriptor_parse(ctx, source, heddle_shipped) : NULL};
	if (!m->nearest)
		return -1;
	m->cores = count_cores(arena, &first);
	if (!m->cores && !(folder && *folder)) {
		const long n = sysconf(_SC_NPROCESSORS_ONLN);
		m->cores = n > 0 && n < 65536 ? (int)n : 0;
	}
	read_caches(arena, first, m->level);
	return 0;
}

/* "2 cores with 512-bit vectors, caches of 48 KiB, 1 MiB and 32 MiB": what figures belong to. */
static const char *describe(heddle_arena *arena, const machine *m)
{
	const int cores = m->cores ? m->cores : (int)m->nearest->units.value;
	heddle_text text = {0};
	heddle_text_printf(&text, "%d core%s with %d-bit vectors", cores, cores == 1 ? "" : "s", 8 * (int)m->nearest->vector_bytes.value);
	for (int i = 0; i < N_LEVEL; i++)
		if (m->level[i].bytes) {
			heddle_text_printf(&text, ", L%d ", i + 1);
			heddle_quantity_show((double)m->level[i].bytes, "B", &text);
		}
	const char *copy = heddle_arena_strdup(arena, heddle_text_str(&text));
	heddle_text_free(&text);
	return copy;
}

/* ---- as a descriptor's text ------------------------------------------------------------------------------------------------ */

static void add_found(heddle_text *out, const char *indent, const char *key, double value, const char *base_unit, const char *source)
{
	char number[40];
	heddle_text_printf(out, "%s%s: { value: %s, unit: %s, source: \"%s\" }\n", indent, key, heddle_format_double(value, number), base_unit, source);
}

/* What each core has for itself, times as many cores. */
static void add_scaled(heddle_text *out, const machine *m, const char *key, const heddle_quantity *q, const char *indent)
{
	const double cores = m->nearest->units.value;
	if (q->set && m->cores && m->cores != (int)cores)
		heddle_text_printf(out, "%s%s: { value: %.6g, unit: %s, assumed: true, source: \"%s has it of %.0f cores, these are %d\" }\n", indent, key,
				   q->value * m->cores / cores / heddle_unit_find(q->unit)->factor, q->unit, m->nearest->name, cores, m->cores);
}

/* Size and line of a cache, and the bandwidth of all together; that of global memory is not the cores'. */
static void add_memory(heddle_text *out, const machine *m, const heddle_memory *memory)
{
	static const char caches[] = "/sys/devices/system/cpu, its caches";
	const bool shared = !strcmp(memory->name, "shared"), global = !strcmp(memory->name, "global");
	const int level = memory->name[0] == 'l' ? memory->name[1] - '1' : -1;
	const cache none = {0}, *own = level >= 0 && level < N_LEVEL ? &m->level[level] : &none;
	heddle_text_printf(out, "  %s:\n    scope: %s\n", memory->name, memory->scope);
	if (shared && m->level[1].bytes)
		add_found(out, "    ", "size", (double)m->level[1].bytes / 2048, "KiB", "half of the L2 cache");
	if (own->bytes)
		add_found(out, "    ", "size", (double)own->bytes / 1024, "KiB", caches);
	if (own->ways && level == 0)
		add_found(out, "    ", "ways", (double)own->ways, "count", caches);
	if (own->line || (global && m->level[0].line))
		add_found(out, "    ", "line", (double)(global ? m->level[0].line : own->line), "B", caches);
	if (global && m->level[0].line)
		add_found(out, "    ", "sector", (double)m->level[0].line, "B", caches);
	if (!global)
		add_scaled(out, m, "bandwidth", &memory->bandwidth, "    ");
}

static const heddle_source *write_text(heddle_ctx *ctx, const machine *m, const char *name)
{
	heddle_arena *arena = heddle_ctx_arena(ctx);
	const heddle_descriptor *d = m->nearest;
	heddle_text text = {0};
	heddle_text_printf(&text, "name: %s\ninherits: %s\ntitle: \"this machine: %s\"\n", name, d->name, describe(arena, m));
	if (m->cores)
		add_found(&text, "", "units", m->cores, "count", "/sys/devices/system/cpu, its cores");
	if (m->level[1].bytes) {
		add_found(&text, "", "shared_per_block", (double)m->level[1].bytes / 2048, "KiB", "half of the L2 cache: it is ordinary memory");
		add_found(&text, "", "shared_per_unit", (double)m->level[1].bytes / 2048, "KiB", "half of the L2 cache");
	}
	heddle_text_add(&text, "memory:\n");
	for (int i = 0; i < d->n_memory; i++)
		if (strcmp(d->memory[i].name, "register") != 0)
			add_memory(&text, m, &d->memory[i]);
	heddle_text rates = {0};
	for (int i = 0; i < d->n_rate; i++)
		add_scaled(&rates, m, heddle_type_name(d->rate[i].type), &d->rate[i].flops, "  ");
	if (rates.length)
		heddle_text_printf(&text, "rates:\n%s", rates.data);
	heddle_text_free(&rates);
	heddle_source *source = HEDDLE_NEW(arena, heddle_source);
	*source = (heddle_source){heddle_arena_printf(arena, "%s%s.yaml", nowhere, name), heddle_arena_strdup(arena, heddle_text_str(&text)), text.length};
	heddle_text_free(&text);
	return source;
}

/* ---- measured figures -------------------------------------------------------------------------------------------------------- */

const char *heddle_host_cache(heddle_ctx *ctx)
{
	heddle_arena *arena = heddle_ctx_arena(ctx);
	const char *off = getenv("HEDDLE_CACHE"), *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	if (off && !strcmp(off, "off"))
		return NULL;
	return base && *base == '/' ? heddle_arena_printf(arena, "%s/heddle/host.yaml", base) :
	       home && *home == '/' ? heddle_arena_printf(arena, "%s/.cache/heddle/host.yaml", home) : NULL;
}

static const char *mark_of(heddle_arena *arena, const machine *m)
{
	return heddle_arena_printf(arena, "# heddle arch probe host, on %s", describe(arena, m));
}

int heddle_host_begin(heddle_ctx *ctx, heddle_text *out)
{
	heddle_arena *arena = heddle_ctx_arena(ctx);
	machine m;
	if (find_machine(ctx, &m) < 0)
		return -1;
	heddle_text_printf(out, "%s\nname: %s\ninherits: %s\ntitle: \"this machine: %s\"\n", mark_of(arena, &m), host, found_here,
			   describe(arena, &m));
	return 0;
}

const heddle_source *heddle_host_source(heddle_ctx *ctx, const char *name, const char **measured)
{
	machine m;
	char line[256];
	*measured = NULL;
	if ((strcmp(name, host) != 0 && strcmp(name, found_here) != 0) || find_machine(ctx, &m) < 0)
		return NULL;
	const char *file = strcmp(name, host) ? NULL : heddle_host_cache(ctx);
	if (file) {
		first_line(file, line);
		*measured = strcmp(line, mark_of(heddle_ctx_arena(ctx), &m)) ? NULL : file;
	}
	return *measured ? NULL : write_text(ctx, &m, name);
}

bool heddle_host_is_source(const heddle_source *source)
{
	return !strncmp(source->name, nowhere, strlen(nowhere));
}
