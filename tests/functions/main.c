/* How accurate are the notation's functions in emitted text?  Each is evaluated at many points and compared with the
 * reference's long double; the greatest error is reported in units in the last place (ulp) and must keep its bound.
 *
 *     test_functions [-b opencl:pocl,opencl:pocl:16,opencl:rusticl,hip,cuda,cuda:exact] [-t float32|float64] [-n POINTS] [-f NAME,..]
 *         [-m FILE]
 *
 * OpenCL C runs on its drivers; with a width its functions are those of vectors.  HIP and CUDA text is compiled by host.sh for this
 * machine, together with the vendor's own library of device functions; what the vendor's instructions may be off by is added (amd.c,
 * nvidia.c), but for cuda:exact.
 * SPDX-License-Identifier: MIT
 */
#include "functions.h"
#include "base/process.h"
#include "bounds.h"
#include "harness/special.h"

#include <dlfcn.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 128, N_FUNCTION = 64, BATCH = 8, MOST_POINTS = 1 << 18 };

typedef struct worst {
	double ulp;   /* greatest error, less what the bound allows absolutely */
	double x[4];
	double got;
	long double wanted;
	int64_t wrong; /* points beyond the bound; NaN, infinity or the sign of 0 where it should be something else included */
	double bad[4]; /* the first of these */
	double bad_got;
	long double bad_wanted;
	uint64_t n, excused;
	const char *excuse;
} worst;

typedef struct bench {
	heddle_ctx *ctx;
	heddle_arena *arena;
	heddle_type type;
	const char *backend, *driver; /* "opencl", "pocl"; "hip", "" */
	int width;		      /* of vectors that are computed with; 1: numbers one by one */
	int n_function, function[N_FUNCTION];
	int chunk; /* points at once */
	heddle_program *program;
	heddle_manifest *manifest;
	heddle_text source;
	const heddle_runner *runner; /* OpenCL */
	host_kernel host;
	heddle_array *argument[5]; /* a, b, c, d, y: [n_function][chunk] */
	worst worst[N_FUNCTION];
} bench;

static int fault(const char *what)
{
	fprintf(stderr, "test_functions: %s\n", what);
	return 70;
}

/* ---- errors ------------------------------------------------------------------------------------------------------------- */

static double ulp_of(heddle_type type, long double wanted)
{
	int e, digits = type == HEDDLE_FLOAT32 ? 24 : 53, least = type == HEDDLE_FLOAT32 ? -125 : -1021;
	int most = type == HEDDLE_FLOAT32 ? 128 : 1024;
	(void)frexpl(wanted, &e);
	e = wanted == 0 || e < least ? least : e > most ? most : e;
	return ldexp(1, e - digits);
}

/* In ulp; infinity where the two are different kinds of things. */
static double error_of(heddle_type type, long double wanted, double got)
{
	long double limit = ldexpl(1, type == HEDDLE_FLOAT32 ? 128 : 1024); /* infinity stands for this */
	if (isnan(wanted) || isnan(got))
		return isnan(wanted) && isnan(got) ? 0 : INFINITY;
	long double rounded = type == HEDDLE_FLOAT32 ? (long double)(float)wanted : (long double)(double)wanted;
	if (rounded == (long double)got) /* only an exact 0 has a sign that is right or wrong */
		return wanted == 0 && !signbit(wanted) != !signbit(got) ? INFINITY :
		       isinf(rounded)					  ? 0 :
									    (double)(fabsl(wanted - rounded) / ulp_of(type, wanted));
	if (isinf(wanted) || (isinf(got) && !signbit(got) != !signbit(wanted)))
		return INFINITY;
	long double g = isinf(got) ? copysignl(limit, got) : (long double)got;
	if (fabsl(wanted) > limit)
		wanted = copysignl(limit, wanted);
	return (double)(fabsl(g - wanted) / ulp_of(type, wanted));
}

static long double reference(int builtin, heddle_type type, const double *x)
{
	const heddle_special *s = heddle_special_find(heddle_builtins[builtin].name);
	if (s->nextafter)
		return type == HEDDLE_FLOAT32 ? (long double)nextafterf((float)x[0], (float)x[1]) : (long double)nextafter(x[0], x[1]);
	long double a[4] = {(long double)x[0], (long double)x[1], (long double)x[2], (long double)x[3]};
	return heddle_special_value(s, a);
}

/* ---- the program --------------------------------------------------------------------------------------------------------- */

static int make_program(bench *b)
{
	static const char *const target[][2] = {{"opencl", "opencl:cpu"}, {"hip", "hip:mi250x"}, {"cuda", "cuda:h200"}};
	const char *type = heddle_type_name(b->type), *chip = NULL;
	heddle_text text = {0};
	heddle_target t;
	for (size_t k = 0; k < HEDDLE_COUNT(target); k++)
		if (strcmp(target[k][0], b->backend) == 0)
			chip = target[k][1];
	heddle_text_printf(&text, "program functions target %s\nconfig \"each function by itself\"\nproof \"not proved: by hand\"\n", chip);
	for (const char *name = "abcdy"; *name; name++)
		heddle_text_printf(&text, "buffer %s %c %s [%d][%d] align 64%s\n", *name == 'y' ? "output" : "input", *name, type,
				   b->n_function, b->chunk, *name == 'y' ? " unread" : "");
	heddle_text_printf(&text, "\nlaunch functions_0 grid %d threads %d args a, b, c, d, y config \"\" {\n"
			   "\tlet int32 i = (block * %d + thread) * %d\n", b->chunk / THREADS / b->width, THREADS, THREADS, b->width);
	char lanes[16] = "";
	if (b->width > 1)
		snprintf(lanes, sizeof(lanes), " : %d", b->width);
	for (int k = 0; k < b->n_function; k++) {
		const heddle_builtin *f = &heddle_builtins[b->function[k]];
		heddle_text_printf(&text, "\ty[%d][i%s] = %s%s(a[%d][i%s]", k, lanes, strcmp(f->name, "fma") ? "" : "call.", f->name, k, lanes);
		for (int i = 1; i < f->arity; i++)
			heddle_text_printf(&text, ", %c[%d][i%s]", "abcd"[i], k, lanes);
		heddle_text_add(&text, ")\n");
	}
	heddle_text_add(&text, "}\n");
	b->program = heddle_program_parse(b->ctx, "functions", heddle_text_str(&text));
	heddle_text_free(&text);
	heddle_emit_options options = {.base = "functions", .header = "functions"};
	if (!b->program || heddle_target_parse(b->ctx, chip, &t) < 0)
		return -1;
	heddle_program_number(b->program);
	b->manifest = heddle_manifest_make(b->ctx, &t, HEDDLE_ONE_VARIANT(b->program), &options);
	return b->manifest && heddle_source_print(b->ctx, &t, HEDDLE_ONE_VARIANT(b->program), &options, &b->source) == 0 ? 0 : -1;
}

/* ---- evaluating ----------------------------------------------------------------------------------------------------------- */

/* 0; 77 with a word on stderr where a tool is missing. */
static int prepare_host(bench *b)
{
	char folder[512];
	if (heddle_dir_temporary(b->ctx, folder) != 0)
		return 70;
	const char *source = heddle_arena_printf(b->arena, "%s/functions.%s", folder, strcmp(b->backend, "hip") == 0 ? "hip" : "cu");
	const char *library = heddle_arena_printf(b->arena, "%s/functions.so", folder);
	int result = 70;
	if (heddle_file_write(b->ctx, source, b->source.data, b->source.length) == 0) {
		const char *const argv[] = {"sh", HEDDLE_SOURCE_DIR "/tests/functions/host.sh", b->backend, source, library, b->driver, NULL};
		heddle_process process = {.argv = argv, .timeout = 500};
		if (heddle_process_run(b->ctx, &process) == 0) {
			result = process.status;
			if (result != 0)
				fprintf(stderr, "%s%s", heddle_text_str(&process.output), heddle_text_str(&process.error));
		}
		heddle_process_free(&process);
	}
	if (result == 0) {
		b->host.library = dlopen(library, RTLD_NOW | RTLD_LOCAL);
		if (b->host.library)
			*(void **)&b->host.call = dlsym(b->host.library, "heddle_host_call");
		if (!b->host.call) {
			fprintf(stderr, "test_functions: %s\n", dlerror());
			result = 70;
		}
	}
	heddle_dir_remove(folder);
	return result;
}

static int prepare(bench *b)
{
	if (make_program(b) != 0)
		return 70;
	for (int k = 0; k < 5; k++)
		b->argument[k] = heddle_array_new(b->type, 2, (int64_t[]){b->n_function, b->chunk});
	if (strcmp(b->backend, "opencl") != 0)
		return prepare_host(b);
	for (const heddle_runner *const *r = heddle_runners; *r; r++)
		if (strcmp((*r)->level, "opencl-cpu") == 0 && strcmp((*r)->name, b->driver) == 0)
			b->runner = *r;
	const char *why = "there is no such driver";
	if (!b->runner || b->runner->available(b->ctx, &why) != 1) {
		fprintf(stderr, "skipped: %s:%s: %s\n", b->backend, b->driver, why);
		return 77;
	}
	return 0;
}

static int evaluate(bench *b)
{
	if (b->host.call) {
		void *argument[5];
		for (int k = 0; k < 5; k++)
			argument[k] = b->argument[k]->data;
		for (int block = 0; block < b->chunk / THREADS; block++)
			for (int thread = 0; thread < THREADS; thread++)
				b->host.call(block, thread, argument);
		return 0;
	}
	heddle_arena *arena = heddle_arena_new();
	heddle_array *argument[8] = {NULL};
	for (int k = 0; k < b->manifest->n_argument; k++)
		argument[k] = b->argument[strchr("abcdy", b->manifest->argument[k].name[0]) - "abcdy"];
	heddle_run run = {.arena = arena, .manifest = b->manifest, .source = heddle_text_str(&b->source), .source_path = "functions.cl",
			  .size = (int64_t[1]){0}, .argument = argument, .timeout = 500};
	int result = heddle_run_isolated(b->ctx, b->runner, &run);
	if (result == 0 && run.verdict == HEDDLE_MISSING) {
		fprintf(stderr, "skipped: %s\n", run.message);
		result = 77;
	} else if (result == 0 && run.verdict != HEDDLE_PASS) {
		fprintf(stderr, "test_functions: %s\n", run.message);
		for (int k = 0; k < run.n_finding && k < 5; k++)
			fprintf(stderr, "%s\n", run.finding[k].text);
		result = 1;
	}
	heddle_arena_free(arena);
	return result < 0 ? 70 : result;
}

static void judge(bench *b, int k, int64_t at, const function_bound *bound)
{
	worst *w = &b->worst[k];
	double x[4] = {0};
	int arity = heddle_builtins[b->function[k]].arity;
	for (int i = 0; i < arity; i++)
		x[i] = (double)heddle_array_get(b->argument[i], (int64_t)k * b->chunk + at);
	double got = (double)heddle_array_get(b->argument[4], (int64_t)k * b->chunk + at);
	long double wanted = reference(b->function[k], b->type, x);
	w->n++;
	double e = error_of(b->type, wanted, got);
	const char *excuse = e > bound->ulp ? heddle_bound_excuses(bound, b->type, arity, x, wanted, got) : NULL;
	if (excuse) {
		w->excused++;
		w->excuse = excuse;
		return;
	}
	if (heddle_bound_absolute(bound, x) && isfinite(e) && fabsl((long double)got - wanted) <= (long double)bound->absolute)
		e = 0;
	if (e > bound->ulp && w->wrong++ == 0) {
		memcpy(w->bad, x, sizeof(x));
		w->bad_got = got;
		w->bad_wanted = wanted;
	}
	if (isfinite(e) && e > w->ulp) {
		w->ulp = e;
		memcpy(w->x, x, sizeof(x));
		w->got = got;
		w->wanted = wanted;
	}
}

/* ---- reports --------------------------------------------------------------------------------------------------------------- */

static void print_point(int arity, const double *x, double got, long double wanted)
{
	printf(" at (");
	for (int i = 0; i < arity; i++)
		printf("%s%.9g", i ? ", " : "", x[i]);
	printf(") %.9g, not %.12Lg", got, wanted);
}

/* Points beyond a bound: the exit code. */
static int report(const bench *b, FILE *table)
{
	int bad = 0;
	for (int k = 0; k < b->n_function; k++) {
		const heddle_builtin *f = &heddle_builtins[b->function[k]];
		const worst *w = &b->worst[k];
		function_bound bound = heddle_bound_of(b->backend, b->driver, f->name, b->type);
		printf("%-14s %s:%s:%d %s %llu points: %.3g ulp", f->name, b->backend, b->driver, b->width, heddle_type_name(b->type),
		       (unsigned long long)w->n, w->ulp);
		print_point(f->arity, w->x, w->got, w->wanted);
		printf("; bound %.3g%s%s", bound.ulp, bound.why ? ": " : "", bound.why ? bound.why : "");
		if (bound.documented >= 0)
			printf("; documented %.3g", bound.documented);
		if (w->excused)
			printf("; not counted: %llu points for %s", (unsigned long long)w->excused, w->excuse);
		printf("\n");
		if (table)
			fprintf(table, "%s %s:%s%s %s %.2f %.3g %.3g %llu\n", f->name, b->backend, b->driver, b->width > 1 ? ":vectors" : "",
				heddle_type_name(b->type), w->ulp, bound.ulp, bound.absolute, (unsigned long long)w->excused);
		if (w->wrong) {
			printf("\tWRONG: %lld points, first", (long long)w->wrong);
			print_point(f->arity, w->bad, w->bad_got, w->bad_wanted);
			printf("\n");
			bad = 1;
		}
	}
	return bad;
}

static int run(bench *b, uint64_t points, FILE *table)
{
	int result = prepare(b);
	function_bound bound[N_FUNCTION];
	for (int k = 0; k < b->n_function; k++)
		bound[k] = heddle_bound_of(b->backend, b->driver, heddle_builtins[b->function[k]].name, b->type);
	for (uint64_t first = 0; result == 0 && first < points; first += (uint64_t)b->chunk) {
		for (int k = 0; k < b->n_function; k++)
			for (int64_t i = 0; i < b->chunk; i++) {
				double x[4] = {0};
				heddle_function_point(b->function[k], b->type, first + (uint64_t)i, x);
				for (int j = 0; j < 4; j++)
					heddle_array_set(b->argument[j], (int64_t)k * b->chunk + i, (long double)x[j]);
			}
		heddle_array_poison(b->argument[4]);
		result = evaluate(b);
		for (int k = 0; result == 0 && k < b->n_function; k++)
			for (int64_t i = 0; i < b->chunk; i++)
				judge(b, k, i, &bound[k]);
	}
	if (result == 0)
		result = report(b, table);
	if (result == 70 && *heddle_ctx_messages(b->ctx))
		fprintf(stderr, "%s", heddle_ctx_messages(b->ctx));
	for (int k = 0; k < 5; k++)
		b->argument[k] = b->argument[k] ? heddle_array_free(b->argument[k]) : NULL;
	heddle_text_free(&b->source);
	if (b->manifest)
		heddle_manifest_free(b->manifest);
	if (b->program)
		heddle_program_free(b->program);
	if (b->host.library)
		dlclose(b->host.library);
	return result;
}

static bool listed(const char *list, const char *name)
{
	size_t length = strlen(name);
	for (const char *at = list; at && *at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
		if (strncmp(at, name, length) == 0 && (at[length] == ',' || !at[length]))
			return true;
	return !list;
}

/* The next functions from *k on; few at once, since compilers take more than twice the time for twice the text. */
static int run_batch(const char *backend, const char *driver, int width, heddle_type type, const char *names, uint64_t points, FILE *table,
		     int *k)
{
	bench *b = calloc(1, sizeof(*b));
	if (!b)
		return fault("no memory");
	b->ctx = heddle_ctx_new();
	b->arena = heddle_arena_new();
	b->type = type;
	b->backend = backend;
	b->driver = driver;
	b->width = width;
	const uint64_t grain = (uint64_t)(THREADS * width);
	b->chunk = (int)(points > MOST_POINTS ? MOST_POINTS : (points + grain - 1) / grain * grain);
	/* the vendors' texts compile quickly */
	int most = strcmp(backend, "opencl") == 0 ? BATCH : N_FUNCTION;
	for (; heddle_builtins[*k].name && b->n_function < most; ++*k)
		if (!heddle_builtins[*k].integer && listed(names, heddle_builtins[*k].name))
			b->function[b->n_function++] = *k;
	int result = b->n_function ? run(b, points, table) : 0;
	fflush(stdout);
	heddle_arena_free(b->arena);
	heddle_ctx_free(b->ctx);
	free(b);
	return result;
}

int main(int argc, char **argv)
{
	const char *backends = "opencl:pocl,opencl:pocl:16,opencl:rusticl,hip,cuda,cuda:exact", *names = NULL, *measured = NULL;
	heddle_type type = HEDDLE_FLOAT32;
	uint64_t points = getenv("HEDDLE_TEST_FULL") ? 1000000 : 20000;
	for (int i = 1; i + 1 < argc; i += 2) {
		const char *value = argv[i + 1];
		switch (argv[i][0] == '-' ? argv[i][1] : 0) {
		case 'b': backends = value; break;
		case 't': type = strcmp(value, "float64") == 0 ? HEDDLE_FLOAT64 : HEDDLE_FLOAT32; break;
		case 'n': points = strtoull(value, NULL, 10); break;
		case 'f': names = value; break;
		case 'm': measured = value; break;
		default: return fault("usage: see the head of tests/functions/main.c");
		}
	}
	FILE *table = measured ? fopen(measured, "a") : NULL;
	int bad = 0, skipped = 0, n = 0;
	char one[64];
	for (const char *at = backends; *at; at += strcspn(at, ","), at += *at == ',') {
		snprintf(one, sizeof(one), "%.*s", (int)strcspn(at, ","), at);
		char *colon = strchr(one, ':');
		if (colon)
			*colon = 0;
		char *second = colon ? strchr(colon + 1, ':') : NULL;
		if (second)
			*second = 0;
		const int width = second ? atoi(second + 1) : 1;
		int result = 0;
		for (int k = 0; result != 77 && result != 70 && heddle_builtins[k].name;) {
			int batch = run_batch(one, colon ? colon + 1 : "library", width, type, names, points, table, &k);
			result = batch ? batch : result;
		}
		skipped += result == 77;
		bad = result != 0 && result != 77 ? result : bad;
		n++;
	}
	if (table)
		fclose(table);
	return bad ? bad : skipped == n ? 77 : 0;
}
