/* The engine of `heddle test`: files to definitions to variants to cases to levels; hand-written kernels; the report's rows.
 *
 * A definition is compiled in several variants (test_variant.c): with symbolic sizes (all cases run on it, and together they must
 * reach every node of its program), once more with small tiles, with the sizes of its first case fixed, and with each `#: config`
 * line.  The reference is evaluated once per sizes and contents (test_run.c).
 * SPDX-License-Identifier: MIT
 */
#include "harness/test.h"

#include "base/process.h"
#include "harness/isolate.h"
#include "harness/test_parts.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- report ----------------------------------------------------------------------------------------------------------------- */

heddle_test_report *heddle_test_report_new(void)
{
	heddle_test_report *report = heddle_xalloc(sizeof(*report));
	memset(report, 0, sizeof(*report));
	report->arena = heddle_arena_new();
	while (heddle_runners[report->n_available])
		++report->n_available;
	report->available = HEDDLE_NEW_ARRAY(report->arena, int, report->n_available);
	for (int k = 0; k < report->n_available; ++k)
		report->available[k] = -1;
	return report;
}

heddle_test_report *heddle_test_report_free(heddle_test_report *report)
{
	if (report) {
		heddle_arena_free(report->arena);
		free(report);
	}
	return NULL;
}

const char *heddle_test_take_error(heddle_test *t)
{
	const char *message = "failed without saying why";
	for (const heddle_diagnostic *d = heddle_diagnostics(t->ctx); d; d = d->next)
		if (d->severity == HEDDLE_ERROR) {
			message = heddle_arena_printf(t->report->arena, "%s [E%04d]", d->message, d->code);
			break;
		}
	heddle_diagnostics_clear(t->ctx);
	return message;
}

void heddle_test_add(heddle_test *t, const heddle_test_variant *v, const char *test, const char *level,
		     heddle_test_verdict verdict, const char *message, double seconds, int n_finding,
		     const heddle_finding *finding)
{
	heddle_test_report *report = t->report;
	const heddle_test_row row = {
		.layer = t->layer,
		.definition = t->definition ? heddle_arena_strdup(report->arena, t->definition->name)
			      : t->name	    ? heddle_arena_strdup(report->arena, t->name)
					    : "",
		.test = heddle_arena_strdup(report->arena, test),
		.variant = v ? heddle_arena_strdup(report->arena, v->name) : "",
		.target = v && v->target ? heddle_arena_strdup(report->arena, v->target) : "",
		.level = heddle_arena_strdup(report->arena, level),
		.verdict = verdict,
		.message = message ? heddle_arena_strdup(report->arena, message) : NULL,
		.seconds = seconds,
		.n_finding = n_finding,
		.finding = finding,
	};
	HEDDLE_PUSH(report->arena, report->row, report->n_row, row);
	++report->count[verdict];
	if (t->options->steps)
		heddle_steps_say(t->ctx, t->options->steps, "%s %s%s%s %s %s", row.layer, row.definition, *row.variant ? " " : "", row.variant,
				 row.target, row.level);
}

void heddle_test_step(heddle_test *t)
{
	if (t->options->steps)
		++t->options->steps->done;
}

bool heddle_test_level_wanted(const heddle_test *t, const char *level, const char *name)
{
	if (!t->options->n_level)
		return true;
	for (int k = 0; k < t->options->n_level; ++k) {
		const char *wanted = t->options->level[k];
		const size_t n = strlen(level);
		if (!strncmp(wanted, level, n) && (!wanted[n] || (wanted[n] == ':' && name && !strcmp(wanted + n + 1, name))))
			return true;
	}
	return false;
}

bool heddle_runner_runs(const heddle_runner *runner)
{
	return strcmp(runner->level, "compile") != 0;
}

bool heddle_test_only_compiles(const heddle_test *t)
{
	bool runs = t->options->n_level == 0 || heddle_test_level_wanted(t, "interpret", NULL);
	for (int r = 0; heddle_runners[r] && !runs; ++r)
		runs = heddle_runner_runs(heddle_runners[r]) &&
		       heddle_test_level_wanted(t, heddle_runners[r]->level, heddle_runners[r]->name);
	return !runs;
}

int heddle_test_check_elements(heddle_ctx *ctx, const char *name, const heddle_location *location, double elements)
{
	/* 1 GiB of float32, three times: given, expected, tested.  The slowest level that is not a simulator takes 0.4 us an element. */
	const double most = (double)(INT64_C(1) << 28);
	if (elements <= most)
		return 0;
	return heddle_error(ctx, 719, location, "the tensors of '%s' have %.2g elements with these sizes, a test takes %.2g at most: give smaller ones",
			    name, elements, most);
}

void heddle_test_add_missing(heddle_test *t, const char *level, const char *why)
{
	heddle_test_report *report = t->report;
	for (int k = 0; k < report->n_missing; ++k)
		if (!strcmp(report->missing[k].level, level))
			return;
	/* Named with its runner, it is required; a level named alone is met by any of its runners (the exit code looks). */
	bool required = false;
	for (int k = 0; k < t->options->n_level; ++k)
		required = required || !strcmp(t->options->level[k], level);
	const heddle_test_missing new = {heddle_arena_strdup(report->arena, level),
					 heddle_arena_strdup(report->arena, why ? why : "not available"), required};
	HEDDLE_PUSH(report->arena, report->missing, report->n_missing, new);
}

static bool is_usable(heddle_test *t, int k)
{
	const heddle_runner *runner = heddle_runners[k];
	if (t->report->available[k] < 0) {
		const char *why = NULL;
		t->report->available[k] = heddle_runner_available(t->ctx, t->report->arena, runner, &why) == 1;
		if (!t->report->available[k])
			heddle_test_add_missing(t, heddle_arena_printf(t->report->arena, "%s:%s", runner->level, runner->name), why);
	}
	return t->report->available[k] == 1;
}

static void leave_out(heddle_test_report *report, const heddle_runner *runner)
{
	const char *level = heddle_arena_printf(report->arena, "%s:%s", runner->level, runner->name);
	for (int k = 0; k < report->n_left_out; ++k)
		if (!strcmp(report->left_out[k], level))
			return;
	HEDDLE_PUSH(report->arena, report->left_out, report->n_left_out, level);
}

bool heddle_test_takes_runner(heddle_test *t, int k, const char *backend)
{
	const heddle_runner *runner = heddle_runners[k];
	if ((strcmp(runner->backend, "*") && strcmp(runner->backend, backend)) ||
	    !heddle_test_level_wanted(t, runner->level, runner->name))
		return false;
	if (runner->slow && !t->options->n_level && !t->options->thorough) {
		leave_out(t->report, runner);
		return false;
	}
	return is_usable(t, k);
}

/* ---- hand-written kernels ----------------------------------------------------------------------------------------------------------- */

const char *heddle_test_beside(heddle_arena *arena, const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');
	if (!slash || name[0] == '/')
		return name;
	return heddle_arena_printf(arena, "%.*s/%s", (int)(slash - path), path, name);
}

void heddle_test_no_interpret(heddle_test *t)
{
	if (t->options->n_level && heddle_test_level_wanted(t, "interpret", NULL))
		heddle_test_add_missing(t, "interpret", "it takes programs made from a definition, not text");
}

static int test_impl(heddle_test *t, const char *path)
{
	heddle_test_variant v = {.name = "impl"};
	char *text = heddle_file_read(t->ctx, path, NULL);
	if (!text)
		return -1;
	v.manifest = heddle_manifest_parse(t->ctx, path, text);
	free(text);
	if (!v.manifest)
		return -1;
	if (v.manifest->definition && *v.manifest->definition && strcmp(v.manifest->definition, t->definition->name)) {
		heddle_test_free_variant(&v);
		return 0; /* of another definition in the file */
	}
	v.manifest->path = heddle_arena_strdup(v.manifest->arena, path);
	v.source_path = heddle_test_beside(t->arena, path, v.manifest->source);
	char *source = heddle_file_read(t->ctx, v.source_path, NULL);
	if (!source) {
		heddle_test_free_variant(&v);
		return -1;
	}
	v.source = source;
	v.target = heddle_arena_printf(t->arena, "%s:%s", v.manifest->backend, v.manifest->arch ? v.manifest->arch : "");
	t->impl_tested = true;
	HEDDLE_PUSH(t->report->arena, t->report->impl_seen, t->report->n_impl_seen, heddle_arena_strdup(t->report->arena, path));
	heddle_test_no_interpret(t);
	if (!heddle_test_only_compiles(t)) {
		heddle_test_choose_impl_cases(t, &v);
		heddle_test_check_references(t, &v);
	}
	heddle_test_runners(t, &v);
	free(source);
	heddle_test_free_variant(&v);
	heddle_test_step(t);
	return 0;
}

/* ---- files ---------------------------------------------------------------------------------------------------------------------------- */

static int test_definition(heddle_test *t, heddle_definition *definition)
{
	int rc = 0;
	t->definition = definition;
	t->arena = heddle_arena_new();
	for (int k = 0; k < t->options->n_impl && rc == 0; ++k)
		rc = test_impl(t, t->options->impl[k]);
	if (!t->options->n_impl)
		for (int k = 0; k < t->options->n_target; ++k)
			heddle_test_target_variants(t, &t->options->target[k]);
	heddle_test_check_zeros(t);
	heddle_test_forget_expected(t);
	heddle_arena_free(t->arena);
	t->arena = NULL;
	t->definition = NULL;
	return rc;
}

/* `#: error E0123` lines: the codes that the file must be refused with. */
static int expected_errors(const char *text, int *code, int most)
{
	int n = 0;
	for (const char *at = text; (at = strstr(at, "#:")) && n < most;) {
		at += 2;
		int number, used = 0;
		if (sscanf(at, " error E%d%n", &number, &used) == 1 && used)
			code[n++] = number;
	}
	return n;
}

/* A file that must not be accepted. */
static void test_refusal(heddle_test *t, const heddle_module *module, const int *code, int n)
{
	for (int k = 0; k < n; ++k) {
		bool found = false;
		const heddle_diagnostic *first = NULL;
		for (const heddle_diagnostic *d = heddle_diagnostics(t->ctx); d; d = d->next) {
			first = !first && d->severity == HEDDLE_ERROR ? d : first;
			found = found || (d->severity == HEDDLE_ERROR && d->code == code[k]);
		}
		const char *name = heddle_arena_printf(t->report->arena, "error E%04d", code[k]);
		heddle_test_add(t, NULL, name, "check", found ? HEDDLE_TEST_PASS : HEDDLE_TEST_FAIL,
				found	 ? NULL
				: module ? "the file was accepted"
					 : heddle_arena_printf(t->report->arena, "refused with E%04d: %s", first ? first->code : 0,
							       first ? first->message : "no message"),
				0, 0, NULL);
	}
	heddle_diagnostics_clear(t->ctx);
}

static int test_file(heddle_ctx *ctx, heddle_test_report *report, const char *path, const heddle_test_options *options)
{
	char *text = heddle_file_read(ctx, path, NULL);
	int code[16], rc = 0;
	if (!text) {
		report->source_error = true;
		return -1;
	}
	heddle_test t = {.ctx = ctx, .report = report, .options = options, .layer = heddle_arena_strdup(report->arena, path)};
	t.module = heddle_module_parse_for(ctx, t.layer, text, options->n_entry > 1 ? NULL : options->sizes, options->definition);
	const int n = expected_errors(text, code, (int)HEDDLE_COUNT(code));
	for (int k = 0; t.module && options->n_entry > 1 && k < options->n_entry; ++k) {
		heddle_module *module = heddle_module_parse_for(ctx, t.layer, text, options->entry_sizes[k], options->definition);
		if (module)
			HEDDLE_PUSH(report->arena, t.entry, t.n_entry, module);
		else
			t.module = heddle_module_free(t.module);
	}
	free(text);
	if (n) {
		test_refusal(&t, t.module, code, n);
	} else if (!t.module) {
		report->source_error = true;
		rc = -1;
	} else {
		if (options->definition && !heddle_module_find(ctx, t.module, options->definition)) {
			report->source_error = true;
			rc = -1;
		}
		for (int k = 0; rc == 0 && k < t.module->n_definition; ++k)
			if (!options->definition || !strcmp(options->definition, t.module->definition[k]->name))
				rc = test_definition(&t, t.module->definition[k]);
		if (rc == 0 && options->n_impl == 1 && !t.impl_tested)
			rc = heddle_error(ctx, 916, NULL, "'%s' has no definition that '%s' implements", path, options->impl[0]);
	}
	for (int k = 0; k < t.n_entry; ++k)
		heddle_module_free(t.entry[k]);
	heddle_module_free(t.module);
	return rc;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* What is done with each file. */
typedef struct visit {
	heddle_ctx *ctx;
	const heddle_test_options *options;
	heddle_arena *arena;
	int (*file)(struct visit *v, const char *path); /* 0 or -1 */
	heddle_test_report *report;
	int n_step;
} visit;

static int count_file(visit *v, const char *path)
{
	struct stat status;
	const bool regular = stat(path, &status) == 0 && S_ISREG(status.st_mode); /* a pipe can be read only once */
	char *text = regular ? heddle_file_read(v->ctx, path, NULL) : NULL;
	int code[1];
	heddle_module *module = text && !expected_errors(text, code, 1) ? heddle_module_parse(v->ctx, path, text, NULL) : NULL;
	for (int k = 0; module && k < module->n_definition; ++k) {
		const heddle_definition *d = module->definition[k];
		int at = 0, n_config = 0;
		while (heddle_pragma_next(module, d, "config", &at))
			++n_config;
		if (!v->options->definition || !strcmp(v->options->definition, d->name))
			v->n_step += v->options->n_target * heddle_test_count_variants(v->options, n_config);
	}
	heddle_module_free(module);
	free(text);
	return 0;
}

static int visit_file(visit *v, const char *path)
{
	return test_file(v->ctx, v->report, path, v->options);
}

/* All `.tc` files below a folder, sorted by path. */
static int visit_folder(visit *v, const char *path)
{
	DIR *folder = opendir(path);
	const char **name = NULL;
	int n = 0, rc = 0;
	if (!folder)
		return heddle_error(v->ctx, 901, NULL, "cannot read '%s': %s", path, strerror(errno));
	for (struct dirent *entry; (entry = readdir(folder));)
		if (entry->d_name[0] != '.')
			HEDDLE_PUSH(v->arena, name, n, heddle_arena_printf(v->arena, "%s/%s", path, entry->d_name));
	closedir(folder);
	if (n)
		qsort(name, (size_t)n, sizeof(*name), by_name);
	for (int k = 0; k < n; ++k) {
		struct stat status;
		const char *suffix = strrchr(name[k], '.');
		if (stat(name[k], &status) < 0)
			continue;
		if (S_ISDIR(status.st_mode))
			rc |= visit_folder(v, name[k]);
		else if (suffix && !strcmp(suffix, ".tc"))
			rc |= v->file(v, name[k]);
	}
	return rc ? -1 : 0;
}

static int visit_path(visit *v, const char *path)
{
	struct stat status;
	if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
		return visit_folder(v, path);
	return v->file(v, path);
}

int heddle_test_count(heddle_ctx *ctx, const char *path, const heddle_test_options *options)
{
	visit v = {.ctx = ctx, .options = options, .arena = heddle_arena_new(), .file = count_file};
	const int before = heddle_diagnostics_count(ctx);
	if (!options->n_impl)
		visit_path(&v, path);
	heddle_diagnostics_keep(ctx, before); /* the test tells what is wrong */
	heddle_arena_free(v.arena);
	return v.n_step;
}

int heddle_test_path(heddle_ctx *ctx, heddle_test_report *report, const char *path, const heddle_test_options *options)
{
	visit v = {.ctx = ctx, .options = options, .arena = report->arena, .file = visit_file, .report = report};
	const double start = heddle_now();
	const int rc = visit_path(&v, path);
	report->seconds += heddle_now() - start;
	return rc;
}
