/* Kernels without a definition: memory checks at every level, and numbers where files or a command say what is right.
 *
 * Sizes come from -s, else from the shapes of the given inputs, else they are picked.  A folder of expected arrays is
 *     DIR/inputs/NAME.npy  DIR/outputs/NAME.npy      or DIR/NAME.npy for both, or a folder of such folders, one per case;
 * an oracle gets the same layout with the inputs (and DIR/case.json) and writes the outputs.
 * SPDX-License-Identifier: MIT
 */
#include "harness/test_parts.h"

#include "base/process.h"
#include "harness/compare.h"
#include "harness/isolate.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_ELEMENTS = 1 << 19, ORACLE_CANNOT = 77 };

/* One set of sizes with its arrays. */
typedef struct kernel_case {
	const char *name;
	int64_t *size;	      /* [manifest->n_size] */
	const char *folder;   /* of files; NULL: none */
	heddle_array **input; /* [n_argument] inputs, inouts before, scalars; NULL for others */
	heddle_array **output; /* [n_argument] what is expected of outputs and inouts; NULL: not judged */
	bool judged;
	const char *fault; /* why it cannot run; NULL: it can */
	bool skip;	   /* `fault` is no fault: the oracle cannot judge it */
} kernel_case;

typedef struct kernel_test {
	heddle_test t;
	heddle_manifest *manifest;
	heddle_test_variant variant;
	int n_case;
	kernel_case *item;
} kernel_test;

static bool is_written(const heddle_argument *a)
{
	return a->role == HEDDLE_ARGUMENT_OUTPUT || a->role == HEDDLE_ARGUMENT_INOUT;
}

static bool is_read(const heddle_argument *a)
{
	return a->role == HEDDLE_ARGUMENT_INPUT || a->role == HEDDLE_ARGUMENT_INOUT || a->role == HEDDLE_ARGUMENT_SCALAR;
}

static int evaluate(kernel_test *k, heddle_formula formula, const int64_t *size, int64_t *value)
{
	return heddle_formula_evaluate(k->t.ctx, formula, k->manifest->n_size, k->manifest->size, size, value);
}

/* ---- arrays ------------------------------------------------------------------------------------------------------------------ */

/* A new array of the argument's shape; NULL with a diagnostic. */
static heddle_array *new_array(kernel_test *k, const heddle_argument *a, const int64_t *size)
{
	int64_t shape[HEDDLE_MAX_RANK], stride[HEDDLE_MAX_RANK], all = 1;
	if (a->rank > HEDDLE_MAX_RANK) {
		heddle_error(k->t.ctx, 784, NULL, "argument `%s` has more than %d dimensions", a->name, HEDDLE_MAX_RANK);
		return NULL;
	}
	for (int d = 0; d < a->rank; d++) {
		if (evaluate(k, a->shape[d], size, &shape[d]) < 0 || (a->strides && evaluate(k, a->strides[d], size, &stride[d]) < 0))
			return NULL;
		if (shape[d] < 0 || (a->strides && stride[d] < 0) || (shape[d] && all > (INT64_C(1) << 32) / shape[d])) {
			heddle_error(k->t.ctx, 620, NULL, "dimension %d of argument `%s` is %lld", d, a->name, (long long)shape[d]);
			return NULL;
		}
		all *= shape[d];
	}
	return a->strides ? heddle_array_new_strided(a->type, a->rank, shape, stride) : heddle_array_new(a->type, a->rank, shape);
}

static int number(kernel_test *k, const char *text, const int64_t *size, double *value)
{
	char *end;
	int64_t whole;
	*value = strtod(text, &end);
	if (end != text && !*end)
		return 0;
	if (evaluate(k, text, size, &whole) < 0)
		return -1;
	*value = (double)whole;
	return 0;
}

static int fill(kernel_test *k, const heddle_argument *a, const int64_t *size, uint64_t seed, heddle_array *array)
{
	double low, high;
	if (a->value) {
		for (int64_t i = 0, n = heddle_array_count(array); i < n; i++)
			heddle_array_set(array, heddle_array_offset(array, i), strtold(a->value, NULL));
	} else if (a->low) {
		if (number(k, a->low, size, &low) < 0 || number(k, a->high, size, &high) < 0)
			return -1;
		if (low > high)
			return heddle_error(k->t.ctx, 784, NULL, "argument `%s`: its range is empty at these sizes: %g to %g", a->name,
					    low, high);
		heddle_array_fill_uniform(array, seed, low, high);
	} else {
		heddle_array_fill_random(array, seed);
	}
	return 0;
}

/* Contents of `from`, which is dense, into an array with the argument's strides.  Frees `from`. */
static heddle_array *placed(kernel_test *k, const heddle_argument *a, const int64_t *size, heddle_array *from)
{
	heddle_array *array = new_array(k, a, size);
	for (int64_t i = 0, n = heddle_array_count(from); array && i < n; i++) {
		const size_t bytes = (size_t)heddle_type_size(from->type);
		memcpy(array->data + (size_t)heddle_array_offset(array, i) * bytes, from->data + (size_t)heddle_array_offset(from, i) * bytes,
		       bytes);
	}
	heddle_array_free(from);
	return array;
}

/* ---- files -------------------------------------------------------------------------------------------------------------------- */

static bool exists(const char *path)
{
	struct stat status;
	return stat(path, &status) == 0;
}

/* DIR/inputs/NAME.npy or DIR/NAME.npy; NULL: there is none. */
static const char *file_of(kernel_test *k, const char *folder, const char *part, const heddle_argument *a)
{
	const char *path = heddle_arena_printf(k->t.arena, "%s/%s/%s.npy", folder, part, a->name);
	if (exists(path))
		return path;
	/* Beside each other the two contents of an inout cannot be told apart. */
	path = heddle_arena_printf(k->t.arena, "%s/%s.npy", folder, a->name);
	return a->role != HEDDLE_ARGUMENT_INOUT && exists(path) ? path : NULL;
}

/* The file as an array of the argument's shape; NULL with a diagnostic. */
static heddle_array *read_array(kernel_test *k, const char *path, const heddle_argument *a, const int64_t *size)
{
	heddle_array *array = heddle_npy_read(k->t.ctx, path, (int)a->type);
	if (!array)
		return NULL;
	bool same = array->rank == a->rank;
	for (int d = 0; d < a->rank && same; d++) {
		int64_t extent;
		if (evaluate(k, a->shape[d], size, &extent) < 0) {
			heddle_array_free(array);
			return NULL;
		}
		same = extent == array->shape[d];
	}
	if (same)
		return placed(k, a, size, array);
	heddle_text has = {0}, needs = {0};
	for (int d = 0; d < array->rank; d++)
		heddle_text_printf(&has, "%s%lld", d ? "," : "", (long long)array->shape[d]);
	for (int d = 0; d < a->rank; d++)
		heddle_text_printf(&needs, "%s%s", d ? "," : "", a->shape[d]);
	heddle_error(k->t.ctx, 920, NULL, "%s has shape (%s), but %s is (%s) at these sizes", path, heddle_text_str(&has), a->name,
		     heddle_text_str(&needs));
	heddle_text_free(&has);
	heddle_text_free(&needs);
	heddle_array_free(array);
	return NULL;
}

/* Sizes that are an extent of a given input by themselves; those left are -1. */
static int sizes_from_files(kernel_test *k, const char *folder, int64_t *size)
{
	const heddle_manifest *m = k->manifest;
	for (int i = 0; i < m->n_argument; i++) {
		const heddle_argument *a = &m->argument[i];
		const char *path = a->role == HEDDLE_ARGUMENT_TEMPORARY || a->role == HEDDLE_ARGUMENT_SIZE
					   ? NULL
					   : file_of(k, folder, is_read(a) ? "inputs" : "outputs", a);
		heddle_array *array = path ? heddle_npy_read(k->t.ctx, path, (int)a->type) : NULL;
		if (path && !array)
			return -1;
		for (int d = 0; array && d < a->rank && d < array->rank; d++)
			for (int s = 0; s < m->n_size; s++)
				if (!strcmp(m->size[s].name, a->shape[d]) && size[s] < 0)
					size[s] = array->shape[d];
		heddle_array_free(array);
	}
	return 0;
}

/* ---- the oracle --------------------------------------------------------------------------------------------------------------- */

static int write_question(kernel_test *k, const kernel_case *c, const char *folder)
{
	static const char *const roles[] = {"input", "output", "inout", "temporary", "scalar", "size"};
	const heddle_manifest *m = k->manifest;
	heddle_text text = {0};
	int result = 0;
	heddle_text_add(&text, "{\"schema\": \"heddle.oracle/1\", \"sizes\": {");
	for (int i = 0; i < m->n_size; i++)
		heddle_text_printf(&text, "%s\"%s\": %lld", i ? ", " : "", m->size[i].name, (long long)c->size[i]);
	heddle_text_add(&text, "}, \"arguments\": [");
	const char *comma = "";
	for (int i = 0; i < m->n_argument && result == 0; i++) {
		const heddle_argument *a = &m->argument[i];
		if (a->role == HEDDLE_ARGUMENT_TEMPORARY || a->role == HEDDLE_ARGUMENT_SIZE)
			continue;
		heddle_text_printf(&text, "%s{\"name\": \"%s\", \"role\": \"%s\", \"type\": \"%s\", \"shape\": [", comma, a->name, roles[a->role],
				   heddle_type_name(a->type));
		comma = ", ";
		for (int d = 0; d < a->rank; d++) {
			int64_t extent = 0;
			if (evaluate(k, a->shape[d], c->size, &extent) < 0)
				result = -1;
			heddle_text_printf(&text, "%s%lld", d ? ", " : "", (long long)extent);
		}
		heddle_text_add(&text, "]}");
		if (c->input[i] && result == 0 &&
		    heddle_npy_write(k->t.ctx, heddle_arena_printf(k->t.arena, "%s/inputs/%s.npy", folder, a->name), c->input[i]) < 0)
			result = -1;
	}
	heddle_text_add(&text, "]}\n");
	if (result == 0)
		result = heddle_file_write(k->t.ctx, heddle_arena_printf(k->t.arena, "%s/case.json", folder), heddle_text_str(&text), text.length);
	heddle_text_free(&text);
	return result;
}

/* Ask the command about a case whose inputs are there: its outputs land in `folder`. */
static int ask_in(kernel_test *k, kernel_case *c, const char *folder)
{
	heddle_ctx *ctx = k->t.ctx;
	if (heddle_dir_make(ctx, heddle_arena_printf(k->t.arena, "%s/inputs", folder)) < 0 ||
	    heddle_dir_make(ctx, heddle_arena_printf(k->t.arena, "%s/outputs", folder)) < 0 || write_question(k, c, folder) < 0)
		return -1;
	/* The command is a line for the shell, as in a workflow file; the folder is its last argument. */
	const char *const argv[] = {"/bin/sh", "-c", heddle_arena_printf(k->t.arena, "%s \"$1\"", k->t.options->oracle), "oracle", folder, NULL};
	heddle_process process = {.argv = argv, .timeout = k->t.options->timeout};
	if (heddle_process_run(ctx, &process) < 0)
		return -1;
	if (process.status != 0 || process.timed_out) {
		heddle_text text = {0};
		heddle_process_describe(&process, &text);
		const char *said = heddle_text_str(&process.error), *line = said;
		for (const char *at = said; *at; at += strcspn(at, "\n"), at += *at == '\n')
			line = *at != '\n' ? at : line; /* the last line says it: a traceback ends with its error */
		c->skip = process.status == ORACLE_CANNOT;
		c->fault = heddle_arena_printf(k->t.report->arena, "the oracle %s: %s%s%.*s", c->skip ? "cannot judge this case" : "failed",
					       heddle_text_str(&text), *line ? ": " : "", (int)strcspn(line, "\n"), line);
		heddle_text_free(&text);
	}
	heddle_process_free(&process);
	return 0;
}

static int read_expected(kernel_test *k, kernel_case *c, const char *folder)
{
	const heddle_manifest *m = k->manifest;
	for (int i = 0; i < m->n_argument; i++) {
		const heddle_argument *a = &m->argument[i];
		if (!is_written(a))
			continue;
		const char *path = file_of(k, folder, "outputs", a);
		if (!path)
			return heddle_error(k->t.ctx, 920, NULL, "there is no %s/outputs/%s.npy for the %s '%s'",
					    k->t.options->oracle ? "DIR" : folder, a->name,
					    a->role == HEDDLE_ARGUMENT_OUTPUT ? "output" : "inout", a->name);
		c->output[i] = read_array(k, path, a, c->size);
		if (!c->output[i])
			return -1;
		c->judged = true;
	}
	return 0;
}

static int ask(kernel_test *k, kernel_case *c)
{
	char folder[512];
	if (heddle_dir_temporary(k->t.ctx, folder) < 0)
		return -1;
	int result = ask_in(k, c, folder);
	if (result == 0 && !c->fault)
		result = read_expected(k, c, folder);
	heddle_dir_remove(folder);
	return result;
}

/* ---- cases -------------------------------------------------------------------------------------------------------------------- */

static const char *size_text(kernel_test *k, const int64_t *size)
{
	const char *text = "";
	for (int i = 0; i < k->manifest->n_size; i++)
		if (k->manifest->size[i].min != k->manifest->size[i].max)
			text = heddle_arena_printf(k->t.report->arena, "%s%s%s=%lld", text, *text ? " " : "", k->manifest->size[i].name,
						   (long long)size[i]);
	return *text ? text : "no sizes";
}

static bool sizes_hold(kernel_test *k, const int64_t *size, const char **why)
{
	const heddle_manifest *m = k->manifest;
	for (int i = 0; i < m->n_size; i++)
		if (size[i] < m->size[i].min || size[i] > m->size[i].max || (m->size[i].divisor > 1 && size[i] % m->size[i].divisor)) {
			*why = heddle_arena_printf(k->t.report->arena, "the manifest allows %s from %lld to %lld%s", m->size[i].name,
						   (long long)m->size[i].min, (long long)m->size[i].max,
						   m->size[i].divisor > 1 ? ", multiples of its divisor" : "");
			return false;
		}
	for (int i = 0; i < m->n_precondition; i++) {
		int64_t holds = 0;
		if (evaluate(k, m->precondition[i], size, &holds) < 0 || !holds) {
			heddle_diagnostics_clear(k->t.ctx);
			*why = heddle_arena_printf(k->t.report->arena, "the precondition %s does not hold", m->precondition[i]);
			return false;
		}
	}
	return true;
}

/* Elements of all arrays; -1 when a shape cannot be had. */
static double elements(kernel_test *k, const int64_t *size)
{
	double all = 0;
	for (int i = 0; i < k->manifest->n_argument; i++) {
		const heddle_argument *a = &k->manifest->argument[i];
		double n = 1;
		for (int d = 0; d < a->rank; d++) {
			int64_t extent;
			if (evaluate(k, a->shape[d], size, &extent) < 0) {
				heddle_diagnostics_clear(k->t.ctx);
				return -1;
			}
			n *= (double)extent;
		}
		all += n;
	}
	return all;
}

static kernel_case *add_case(kernel_test *k, const int64_t *size, const char *folder)
{
	const heddle_manifest *m = k->manifest;
	kernel_case c = {.folder = folder};
	c.size = HEDDLE_NEW_ARRAY(k->t.arena, int64_t, m->n_size + 1);
	memcpy(c.size, size, sizeof(int64_t) * (size_t)m->n_size);
	c.input = HEDDLE_NEW_ARRAY(k->t.arena, heddle_array *, m->n_argument + 1);
	c.output = HEDDLE_NEW_ARRAY(k->t.arena, heddle_array *, m->n_argument + 1);
	c.name = size_text(k, size);
	const char *slash = folder ? strrchr(folder, '/') : NULL;
	if (folder)
		c.name = heddle_arena_printf(k->t.report->arena, "%s: %s", slash ? slash + 1 : folder, c.name);
	HEDDLE_PUSH(k->t.arena, k->item, k->n_case, c);
	return &k->item[k->n_case - 1];
}

/* Odd sizes that leave remainders everywhere, whole tiles, the least, and some that take several blocks. */
static void pick_cases(kernel_test *k)
{
	static const int64_t odd[] = {37, 53, 29, 61, 43, 19};
	const heddle_manifest *m = k->manifest;
	int64_t *size = HEDDLE_NEW_ARRAY(k->t.arena, int64_t, m->n_size + 1), *block = HEDDLE_NEW_ARRAY(k->t.arena, int64_t, m->n_size + 1);
	for (int i = 0; i < m->n_size; i++)
		block[i] = heddle_test_block_extent(&k->t, m, i);
	for (int kind = 0; kind < 4; kind++) {
		for (int shrink = 0; shrink < 7; shrink++) {
			for (int i = 0; i < m->n_size; i++) {
				const heddle_manifest_size *s = &m->size[i];
				const int64_t divisor = s->divisor > 0 ? s->divisor : 1;
				const int64_t several = 2 * block[i] + 3 > odd[i % 6] * 9 + 4 ? 2 * block[i] + 3 : odd[i % 6] * 9 + 4;
				int64_t want = kind == 0 ? odd[i % 6] : kind == 1 ? 128 : kind == 2 ? 1 : several;
				want = (want >> shrink) > 1 ? want >> shrink : 1;
				want = (want + divisor - 1) / divisor * divisor;
				want = want > s->max ? s->max / divisor * divisor : want;
				size[i] = want < s->min ? (s->min + divisor - 1) / divisor * divisor : want;
			}
			const double all = elements(k, size);
			if (all >= 0 && all <= MOST_ELEMENTS / (kind == 3 ? 2 : 1))
				break;
		}
		const char *why;
		bool known = false;
		for (int j = 0; j < k->n_case; j++)
			known = known || !memcmp(k->item[j].size, size, sizeof(int64_t) * (size_t)m->n_size);
		if (!known && sizes_hold(k, size, &why))
			add_case(k, size, NULL);
	}
}

/* The values of one -s. */
static int given_sizes(kernel_test *k, const heddle_size_list *list, int64_t *size)
{
	const heddle_manifest *m = k->manifest;
	for (int i = 0; i < m->n_size; i++)
		size[i] = m->size[i].min == m->size[i].max ? m->size[i].min : -1;
	for (int j = 0; list && j < list->n; j++) {
		int found = -1;
		for (int i = 0; i < m->n_size; i++)
			if (!strcmp(m->size[i].name, list->range[j].name))
				found = i;
		if (found < 0)
			return heddle_error(k->t.ctx, 918, NULL, "the manifest has no size '%s'", list->range[j].name);
		if (list->range[j].min != list->range[j].max)
			return heddle_error(k->t.ctx, 918, NULL, "size '%s' needs one value for a test; several -s give several cases",
					    list->range[j].name);
		size[found] = list->range[j].min;
	}
	return 0;
}

static int complete(kernel_test *k, const int64_t *size)
{
	const heddle_manifest *m = k->manifest;
	const char *missing = "";
	for (int i = 0; i < m->n_size; i++)
		if (size[i] < 0)
			missing = heddle_arena_printf(k->t.arena, "%s%s%s", missing, *missing ? ", " : "", m->size[i].name);
	if (*missing)
		return heddle_error(k->t.ctx, 918, NULL, "no value for %s: give it with -s", missing);
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The folders of cases below `folder`, or itself. */
static int folders_of(kernel_test *k, const char *folder, const char ***list, int *n)
{
	DIR *dir = opendir(folder);
	bool own = false;
	if (!dir)
		return heddle_error(k->t.ctx, 901, NULL, "cannot read '%s': %s", folder, strerror(errno));
	for (struct dirent *entry; (entry = readdir(dir));) {
		struct stat status;
		const char *path = heddle_arena_printf(k->t.arena, "%s/%s", folder, entry->d_name), *end = strrchr(entry->d_name, '.');
		own = own || !strcmp(entry->d_name, "outputs") || !strcmp(entry->d_name, "inputs") || (end && !strcmp(end, ".npy"));
		if (entry->d_name[0] != '.' && stat(path, &status) == 0 && S_ISDIR(status.st_mode))
			HEDDLE_PUSH(k->t.arena, *list, *n, path);
	}
	closedir(dir);
	if (own || !*n) {
		*list = NULL;
		*n = 0;
		HEDDLE_PUSH(k->t.arena, *list, *n, folder);
	}
	qsort(*list, (size_t)*n, sizeof(**list), by_name);
	return 0;
}

static int choose_cases(kernel_test *k)
{
	const heddle_test_options *o = k->t.options;
	int64_t *size = HEDDLE_NEW_ARRAY(k->t.arena, int64_t, k->manifest->n_size + 1);
	const char **folder = NULL, *why = NULL;
	int n_folder = 0;
	if (o->expect && folders_of(k, o->expect, &folder, &n_folder) < 0)
		return -1;
	if (o->expect && o->n_case > 1)
		return heddle_error(k->t.ctx, 918, NULL, "--expect and several -s: put each case into a folder of its own");
	for (int i = 0; i < n_folder; i++) {
		if (given_sizes(k, o->n_case ? o->case_sizes[0] : NULL, size) < 0 || sizes_from_files(k, folder[i], size) < 0 ||
		    complete(k, size) < 0)
			return -1;
		if (!sizes_hold(k, size, &why))
			return heddle_error(k->t.ctx, 918, NULL, "%s: %s", folder[i], why);
		add_case(k, size, folder[i]);
	}
	for (int i = 0; i < o->n_case && !o->expect; i++) {
		if (given_sizes(k, o->case_sizes[i], size) < 0 || complete(k, size) < 0)
			return -1;
		if (!sizes_hold(k, size, &why))
			return heddle_error(k->t.ctx, 918, NULL, "%s", why);
		add_case(k, size, NULL);
	}
	if (!k->n_case)
		pick_cases(k);
	return k->n_case ? 0 : heddle_error(k->t.ctx, 716, NULL, "no small sizes fulfil the manifest's ranges and preconditions: give -s");
}

/* Inputs, drawn or read, and what is expected. */
static int prepare(kernel_test *k, kernel_case *c, uint64_t seed)
{
	const heddle_manifest *m = k->manifest;
	for (int i = 0; i < m->n_argument; i++) {
		const heddle_argument *a = &m->argument[i];
		const char *path = c->folder && is_read(a) ? file_of(k, c->folder, "inputs", a) : NULL;
		if (!is_read(a))
			continue;
		if (path) {
			c->input[i] = read_array(k, path, a, c->size);
		} else {
			c->input[i] = new_array(k, a, c->size);
			if (c->input[i] && fill(k, a, c->size, seed * 1000 + (uint64_t)i, c->input[i]) < 0)
				return -1;
		}
		if (!c->input[i])
			return -1;
	}
	if (k->t.options->oracle)
		return ask(k, c);
	return c->folder ? read_expected(k, c, c->folder) : 0;
}

static void forget(kernel_test *k)
{
	for (int j = 0; j < k->n_case; j++)
		for (int i = 0; i < k->manifest->n_argument; i++) {
			heddle_array_free(k->item[j].input[i]);
			heddle_array_free(k->item[j].output[i]);
		}
}

/* ---- judging ------------------------------------------------------------------------------------------------------------------ */

/* Errors allowed where nothing else is said: what a sum of a thousand terms in another order may differ by. */
static void default_tolerance(heddle_type type, double *rtol, double *atol)
{
	*rtol = type == HEDDLE_FLOAT64 ? 1e-10 : type == HEDDLE_FLOAT32 ? 1e-4 : type == HEDDLE_FLOAT16 ? 5e-3 : type == HEDDLE_BFLOAT16 ? 2e-2 : 0;
	*atol = type == HEDDLE_FLOAT64 ? 1e-12 : type == HEDDLE_FLOAT32 ? 1e-5 : type == HEDDLE_FLOAT16 ? 1e-3 : type == HEDDLE_BFLOAT16 ? 1e-2 : 0;
}

static void element_text(const heddle_array *array, int64_t at, char buffer[40])
{
	if (array->type == HEDDLE_FLOAT64)
		heddle_format_double((double)heddle_array_get(array, at), buffer);
	else if (heddle_type_is_float(array->type))
		heddle_format_float((float)heddle_array_get(array, at), buffer);
	else
		snprintf(buffer, 40, array->type == HEDDLE_UINT64 ? "%llu" : "%lld", (long long)heddle_array_get_int(array, at));
}

/* NULL: within tolerance. */
static const char *compare(kernel_test *k, const heddle_argument *a, const heddle_array *got, const heddle_array *expected)
{
	const heddle_test_options *o = k->t.options;
	double rtol, atol, worst_by = -1;
	int64_t wrong = 0, worst = -1, n = heddle_array_count(expected);
	default_tolerance(a->type, &rtol, &atol);
	if (heddle_type_is_float(a->type)) {
		rtol = o->rtol >= 0 ? o->rtol : rtol;
		atol = o->atol >= 0 ? o->atol : atol;
	}
	for (int64_t i = 0; i < n; i++) {
		const long double x = heddle_array_get(got, heddle_array_offset(got, i));
		const long double y = heddle_array_get(expected, heddle_array_offset(expected, i));
		const long double error = fabsl(x - y), bound = (long double)atol + (long double)rtol * fabsl(y);
		const bool fine = x == y || (isnan(x) && isnan(y)) || (isfinite(x) && isfinite(y) && error <= bound);
		const double by = isnan(error) ? INFINITY : (double)(error / (bound > 0 ? bound : 1));
		wrong += !fine;
		if (!fine && by > worst_by) {
			worst = i;
			worst_by = by;
		}
	}
	if (!wrong)
		return NULL;
	const int64_t at = heddle_array_offset(got, worst);
	char have[40], want[40];
	element_text(got, at, have);
	element_text(expected, heddle_array_offset(expected, worst), want);
	return heddle_arena_printf(k->t.report->arena, "%s is %s%s, expected %s (rtol %g, atol %g); %lld of %lld elements are wrong",
				   heddle_element_name(k->t.report->arena, a->name, got, worst), have,
				   heddle_array_is_poison(got, at) ? " (never written)" : "", want, rtol, atol, (long long)wrong, (long long)n);
}

static heddle_test_verdict judge(kernel_test *k, const kernel_case *c, heddle_array *const *array, const char **message)
{
	const heddle_manifest *m = k->manifest;
	int64_t untouched = 0, nan = 0;
	const char *first = "";
	for (int i = 0; i < m->n_argument; i++) {
		const heddle_argument *a = &m->argument[i];
		if (!array[i])
			continue;
		if (a->role == HEDDLE_ARGUMENT_INPUT && heddle_compare_bits(array[i], c->input[i]) >= 0) {
			*message = heddle_arena_printf(k->t.report->arena, "input %s was written",
						       heddle_element_name(k->t.report->arena, a->name, array[i],
									   heddle_compare_bits(array[i], c->input[i])));
			return HEDDLE_TEST_FAIL;
		}
		if (!heddle_array_guards_intact(array[i], NULL)) {
			*message = heddle_arena_printf(k->t.report->arena, "memory around '%s' was written", a->name);
			return HEDDLE_TEST_FAIL;
		}
		if (!is_written(a))
			continue;
		if (c->output[i] && (*message = compare(k, a, array[i], c->output[i])))
			return HEDDLE_TEST_FAIL;
		for (int64_t e = 0, n = c->output[i] ? 0 : heddle_array_count(array[i]); e < n; e++) {
			const int64_t at = heddle_array_offset(array[i], e);
			const bool poison = a->role == HEDDLE_ARGUMENT_OUTPUT && heddle_array_is_poison(array[i], at);
			if (poison && !untouched++)
				first = heddle_element_name(k->t.report->arena, a->name, array[i], e);
			nan += !poison && heddle_type_is_float(a->type) && isnan(heddle_array_get(array[i], at));
		}
	}
	if (!c->judged)
		*message = heddle_arena_printf(k->t.report->arena, "memory checks only%s%s",
					       untouched ? heddle_arena_printf(k->t.arena, "; %lld elements of outputs were never written, the first is %s",
									       (long long)untouched, first) : "",
					       nan ? heddle_arena_printf(k->t.arena, "; %lld are NaN", (long long)nan) : "");
	return HEDDLE_TEST_PASS;
}

/* ---- running ------------------------------------------------------------------------------------------------------------------- */

/* False: the runner is not there for this target after all. */
static bool run_once(kernel_test *k, const heddle_runner *runner, kernel_case *c, const char *form, int misalign)
{
	heddle_test *t = &k->t;
	const heddle_manifest *m = k->manifest;
	const char *level = heddle_arena_printf(t->arena, "%s:%s", runner->level, runner->name), *message = NULL;
	const char *name = heddle_arena_printf(t->arena, "%s%s", c->name, form);
	heddle_array **array = HEDDLE_NEW_ARRAY(t->arena, heddle_array *, m->n_argument + 1);
	for (int i = 0; i < m->n_argument; i++)
		if (m->argument[i].role != HEDDLE_ARGUMENT_TEMPORARY && m->argument[i].role != HEDDLE_ARGUMENT_SIZE)
			array[i] = c->input[i] ? heddle_array_copy(c->input[i]) : new_array(k, &m->argument[i], c->size);
	heddle_run run = {.arena = t->report->arena, .manifest = m, .source = k->variant.source, .source_path = k->variant.source_path,
			  .size = c->size, .argument = array, .misalign = misalign, .timeout = t->options->timeout,
			  .seed = t->options->seed};
	const double start = heddle_now();
	heddle_test_verdict verdict = HEDDLE_TEST_FAIL;
	bool there = true;
	if (heddle_run_isolated(t->ctx, runner, &run) < 0) {
		message = heddle_test_take_error(t);
	} else if (run.verdict == HEDDLE_MISSING) {
		heddle_test_add_missing(t, level, run.message);
		there = false;
	} else {
		message = run.message;
		verdict = run.verdict == HEDDLE_PASS ? HEDDLE_TEST_PASS : run.verdict == HEDDLE_FAIL ? HEDDLE_TEST_FAIL : HEDDLE_TEST_UNSUPPORTED;
		if (verdict == HEDDLE_TEST_PASS) {
			message = NULL;
			verdict = judge(k, c, array, &message);
		}
	}
	if (there) {
		heddle_test_add(t, &k->variant, name, level, verdict, message, heddle_now() - start, run.n_finding, run.finding);
		t->report->row[t->report->n_row - 1].printed = run.printed;
		t->report->row[t->report->n_row - 1].remarkable = verdict == HEDDLE_TEST_PASS && message && strchr(message, ';');
	}
	for (int i = 0; i < m->n_argument; i++)
		heddle_array_free(array[i]);
	return there;
}

static void run_all(kernel_test *k)
{
	heddle_test *t = &k->t;
	heddle_test_no_interpret(t);
	for (int r = 0; heddle_runners[r]; r++) {
		const heddle_runner *runner = heddle_runners[r];
		if (!heddle_test_takes_runner(t, r, k->manifest->backend))
			continue;
		if (!heddle_runner_runs(runner)) {
			heddle_test_compile(t, &k->variant, runner);
			continue;
		}
		bool there = true;
		for (int j = 0; j < k->n_case && there; j++) {
			kernel_case *c = &k->item[j];
			if (c->fault)
				continue;
			there = run_once(k, runner, c, "", 0);
			if (there && (j == 0 || t->options->thorough) && heddle_test_may_misalign(t->ctx, k->manifest))
				there = run_once(k, runner, c, ", misaligned", 1);
		}
	}
}

static int test_kernel(kernel_test *k)
{
	int result = heddle_test_only_compiles(&k->t) ? 0 : choose_cases(k);
	for (int j = 0; j < k->n_case && result == 0; j++) {
		kernel_case *c = &k->item[j];
		if (heddle_test_check_elements(k->t.ctx, k->t.name, NULL, elements(k, c->size)) < 0) {
			++k->t.report->n_limit;
			c->fault = heddle_test_take_error(&k->t);
		} else if (prepare(k, c, k->t.options->seed + (uint64_t)j) < 0)
			c->fault = heddle_test_take_error(&k->t);
		if (c->fault)
			heddle_test_add(&k->t, &k->variant, c->name, k->t.options->oracle ? "oracle" : "expect",
					c->skip ? HEDDLE_TEST_SKIP : HEDDLE_TEST_FAULT, c->fault, 0, 0, NULL);
	}
	if (result == 0)
		run_all(k);
	forget(k);
	return result;
}

int heddle_test_kernel(heddle_ctx *ctx, heddle_test_report *report, const char *impl, const heddle_test_options *options)
{
	const double start = heddle_now();
	char *text = heddle_file_read(ctx, impl, NULL), *source = NULL;
	kernel_test k = {.t = {.ctx = ctx, .report = report, .options = options, .arena = heddle_arena_new()},
			 .variant = {.name = "impl"}};
	k.manifest = text ? heddle_manifest_parse(ctx, impl, text) : NULL;
	int result = k.manifest ? 0 : -1;
	if (result == 0) {
		k.variant.manifest = k.manifest;
		k.variant.source_path = heddle_test_beside(k.t.arena, impl, k.manifest->source);
		k.variant.target = heddle_arena_printf(k.t.arena, "%s:%s", k.manifest->backend, k.manifest->arch ? k.manifest->arch : "");
		k.t.layer = heddle_arena_strdup(report->arena, impl);
		k.t.name = *k.manifest->definition ? k.manifest->definition : k.manifest->launch[0].kernel;
		k.variant.source = source = heddle_file_read(ctx, k.variant.source_path, NULL);
		result = source ? test_kernel(&k) : -1;
	}
	if (result < 0)
		report->source_error = true;
	heddle_manifest_free(k.manifest);
	free(source);
	free(text);
	heddle_arena_free(k.t.arena);
	report->seconds += heddle_now() - start;
	heddle_test_step(&k.t);
	return result;
}
