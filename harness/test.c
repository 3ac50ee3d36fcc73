/* The engine of `heddle test`: files to definitions to variants to cases to levels.
 *
 * A definition is compiled in several variants: with symbolic sizes (all cases run on it, and together they must reach every
 * node of its program), once more with small tiles, with the sizes of its first case fixed, and with each `#: config` line.
 * The reference is evaluated once per sizes and contents.
 * SPDX-License-Identifier: MIT
 */
#include "harness/test.h"

#include "backends/dialect.h"
#include "base/process.h"
#include "compile/compile.h"
#include "harness/cases.h"
#include "harness/compare.h"
#include "harness/device.h"
#include "harness/isolate.h"
#include "harness/test_parts.h"
#include "model/config.h"

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
	if (t->options->progress)
		t->options->progress(t->options->progress_user, &row);
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

bool heddle_test_runner_usable(heddle_test *t, int k)
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

/* ---- what is expected, once per sizes and contents ------------------------------------------------------------------------------ */

heddle_test_expected *heddle_test_expect(heddle_test *t, const int64_t *size, heddle_fill fill)
{
	const heddle_definition *d = t->definition;
	const size_t bytes = sizeof(int64_t) * (size_t)d->n_size;
	for (heddle_test_expected *e = t->expected; e; e = e->next)
		if (e->fill == fill && !memcmp(e->size, size, bytes))
			return e;
	heddle_test_expected *e = HEDDLE_NEW(t->arena, heddle_test_expected);
	e->fill = fill;
	e->size = heddle_arena_alloc(t->arena, bytes);
	memcpy(e->size, size, bytes);
	e->array = HEDDLE_NEW_ARRAY(t->arena, heddle_array *, d->n_tensor);
	e->next = t->expected;
	t->expected = e;
	const heddle_reference_options options = {.budget = 3e7, .seed = t->options->seed};
	if (heddle_case_arrays(t->ctx, t->module, d, size, fill, t->options->seed + 1, e->array) == 0)
		e->reference = heddle_reference_evaluate(t->ctx, d, size, e->array, &options);
	if (!e->reference)
		e->fault = heddle_test_take_error(t);
	return e;
}

/* Results of floating-point outputs that cancel to 0 wherever they were looked at: a kernel that computes nothing would pass. */
static void check_cancellation(heddle_test *t)
{
	for (int k = 0; t->expected && k < t->definition->n_tensor; ++k) {
		const heddle_tensor *tensor = t->definition->tensor[k];
		bool cancels = false, other = false;
		for (const heddle_test_expected *e = t->expected; e; e = e->next)
			for (int o = 0; e->reference && o < e->reference->n_output; ++o) {
				const heddle_expected *x = &e->reference->output[o];
				if (x->tensor != tensor || !x->value)
					continue;
				cancels = cancels || x->weight > 0;
				for (int64_t i = 0; i < x->n && !other; ++i)
					other = x->value[i] != 0;
			}
		if (cancels && !other)
			heddle_test_add(t, &(heddle_test_variant){.name = "", .target = ""}, tensor->name, "reference", HEDDLE_TEST_FAULT,
					"everything cancels to 0 in all cases, which a kernel that computes nothing gives, too: choose other inputs",
					0, 0, NULL);
	}
}

static void forget_expected(heddle_test *t)
{
	for (heddle_test_expected *e = t->expected; e; e = e->next) {
		heddle_reference_free(e->reference);
		heddle_case_arrays_free(t->definition, e->array);
	}
	t->expected = NULL;
}

/* ---- judging one run ------------------------------------------------------------------------------------------------------------ */

heddle_array **heddle_test_arrays(heddle_test *t, const heddle_test_expected *e)
{
	const heddle_definition *d = t->definition;
	heddle_array **array = HEDDLE_NEW_ARRAY(t->arena, heddle_array *, d->n_tensor);
	for (int k = 0; k < d->n_tensor; ++k)
		if (e->array[k])
			array[k] = heddle_array_copy(e->array[k]);
	return array;
}

/* The outputs in `array` against the reference, and the inputs against what they were.  The row's verdict; `*message` in the
 * report's arena. */
heddle_test_verdict heddle_test_judge(heddle_test *t, const heddle_test_expected *e, heddle_array *const *array,
				      const char **message)
{
	heddle_arena *arena = t->report->arena;
	heddle_test_verdict verdict = HEDDLE_TEST_PASS;
	for (int k = 0; k < e->reference->n_output; ++k) {
		const heddle_expected *x = &e->reference->output[k];
		heddle_comparison c;
		heddle_compare(arena, x, array[x->tensor->position], &c);
		t->report->unchecked += c.unchecked;
		if (c.pass || (verdict == HEDDLE_TEST_FAULT && c.vacuous))
			continue;
		verdict = c.vacuous ? HEDDLE_TEST_FAULT : HEDDLE_TEST_FAIL;
		*message = c.message;
		if (!c.vacuous)
			return verdict;
	}
	for (int k = 0; k < t->definition->n_tensor; ++k) {
		const heddle_tensor *tensor = t->definition->tensor[k];
		if (tensor->role != HEDDLE_ROLE_INPUT || !array[k])
			continue;
		int64_t changed = heddle_compare_bits(array[k], e->array[k]);
		if (changed >= 0 || !heddle_array_guards_intact(array[k], NULL)) {
			*message = changed >= 0 ? heddle_arena_printf(arena, "input %s was written",
								      heddle_element_name(arena, tensor->name, array[k], changed))
						: heddle_arena_printf(arena, "memory around input '%s' was written", tensor->name);
			return HEDDLE_TEST_FAIL;
		}
	}
	return verdict;
}

/* ---- one variant at the levels --------------------------------------------------------------------------------------------------- */

static const char *test_name(heddle_test *t, const heddle_case *c, const char *form)
{
	return heddle_arena_printf(t->arena, "%s%s%s", *c->name ? c->name : "no sizes", *form ? ", " : "", form);
}

/* The forms in which a case runs. */
enum { FORM_ALIGNED = 1, FORM_MISALIGNED = 2, FORM_INTEGERS = 4 };

/* Values of the manifest's sizes, by name; false: the definition has no such size, or the kernels are not for these values. */
static bool manifest_sizes(const heddle_test *t, const heddle_manifest *manifest, const int64_t *size, int64_t *value,
			   const char **why)
{
	const heddle_definition *d = t->definition;
	for (int k = 0; k < manifest->n_size; ++k) {
		const heddle_manifest_size *s = &manifest->size[k];
		int found = -1;
		for (int j = 0; j < d->n_size; ++j)
			if (!strcmp(d->size[j]->name, s->name))
				found = j;
		if (found < 0) {
			*why = heddle_arena_printf(t->arena, "the manifest has a size '%s' that '%s' does not have", s->name, d->name);
			return false;
		}
		value[k] = size[found];
	}
	const int chosen = heddle_manifest_choose(manifest, value, NULL);
	if (chosen < 0)
		return false;
	manifest = heddle_manifest_variant_of(t->arena, manifest, chosen);
	for (int k = 0; k < manifest->n_precondition; ++k) {
		int64_t holds;
		if (heddle_formula_evaluate(t->ctx, manifest->precondition[k], manifest->n_size, manifest->size, value, &holds) < 0) {
			heddle_diagnostics_clear(t->ctx); /* a comparison: the entry checks it */
			continue;
		}
		if (!holds)
			return false;
	}
	return true;
}

/* An array with the manifest's strides and the contents of `from`; frees `from` when it makes a new one. */
static heddle_array *with_strides(heddle_test *t, const heddle_manifest *manifest, const heddle_argument *a,
				  const int64_t *value, heddle_array *from)
{
	int64_t stride[HEDDLE_MAX_RANK];
	if (!a->strides || a->rank != from->rank)
		return from;
	for (int d = 0; d < a->rank; ++d)
		if (heddle_formula_evaluate(t->ctx, a->strides[d], manifest->n_size, manifest->size, value, &stride[d]) < 0)
			return from;
	bool same = true;
	for (int d = 0; d < a->rank; ++d)
		same = same && stride[d] == from->stride[d];
	return same ? from : heddle_array_restride(from, stride);
}

/* Match the manifest's arguments with the definition's tensors by name; NULL: fine, else what does not match. */
static const char *bind_arguments(heddle_test *t, const heddle_manifest *manifest, const int64_t *value,
				  heddle_array **array, heddle_array **argument)
{
	const heddle_definition *d = t->definition;
	bool *used = HEDDLE_NEW_ARRAY(t->arena, bool, d->n_tensor);
	for (int k = 0; k < manifest->n_argument; ++k) {
		const heddle_argument *a = &manifest->argument[k];
		if (a->role == HEDDLE_ARGUMENT_TEMPORARY || a->role == HEDDLE_ARGUMENT_SIZE)
			continue;
		int found = -1;
		for (int j = 0; j < d->n_tensor; ++j)
			if (array[j] && !strcmp(d->tensor[j]->name, a->name))
				found = j;
		if (found < 0)
			return heddle_arena_printf(t->arena, "the manifest's argument '%s' is no input or output of '%s'", a->name,
						   d->name);
		if (a->type != d->tensor[found]->type || a->rank != d->tensor[found]->rank)
			return heddle_arena_printf(t->arena, "the manifest's argument '%s' has another type or rank than in '%s'",
						   a->name, d->name);
		for (int x = 0; x < a->rank; ++x) {
			int64_t extent;
			if (a->shape &&
			    (heddle_formula_evaluate(t->ctx, a->shape[x], manifest->n_size, manifest->size, value, &extent) < 0 ||
			     extent != array[found]->shape[x]))
				return heddle_arena_printf(t->arena, "dimension %d of the manifest's '%s' is not that of '%s'", x,
							   a->name, d->name);
		}
		array[found] = with_strides(t, manifest, a, value, array[found]);
		argument[k] = array[found];
		used[found] = true;
	}
	for (int j = 0; j < d->n_tensor; ++j)
		if (!used[j] && (d->tensor[j]->role == HEDDLE_ROLE_OUTPUT || d->tensor[j]->role == HEDDLE_ROLE_INOUT))
			return heddle_arena_printf(t->arena, "the manifest has no argument for output '%s'", d->tensor[j]->name);
	return NULL;
}

bool heddle_test_may_misalign(heddle_ctx *ctx, const heddle_manifest *manifest)
{
	/* Where tensors are handed over as buffers, which begin where they begin, only kernels that take offsets can be given moved ones. */
	const heddle_dialect *dialect = heddle_dialect_find(ctx, manifest->backend);
	bool offsets = !dialect || !heddle_dialect_flag(dialect, "language.byte_offsets");
	for (int l = 0; l < manifest->n_launch; ++l)
		for (int k = 0; k < manifest->launch[l].n_argument; ++k)
			offsets = offsets || manifest->launch[l].argument[k].byte_offset;
	if (!offsets)
		return false;
	for (int k = 0; k < manifest->n_argument; ++k) {
		const heddle_argument *a = &manifest->argument[k];
		if (a->role != HEDDLE_ARGUMENT_SIZE && a->role != HEDDLE_ARGUMENT_SCALAR &&
		    a->role != HEDDLE_ARGUMENT_TEMPORARY && a->align > heddle_type_size(a->type))
			return false;
	}
	return true;
}

static bool is_compile_level(const heddle_runner *runner)
{
	return !strcmp(runner->level, "compile");
}

/* One run of one runner.  false: the runner is missing for this target, no use to go on. */
static bool run_once(heddle_test *t, const heddle_test_variant *v, const heddle_runner *runner, const heddle_case *c,
		     const char *form, const heddle_test_expected *e, int misalign)
{
	heddle_test_report *report = t->report;
	const char *level = heddle_arena_printf(t->arena, "%s:%s", runner->level, runner->name);
	const char *name = is_compile_level(runner) ? "" : test_name(t, c, form);
	int64_t *value = HEDDLE_NEW_ARRAY(t->arena, int64_t, v->manifest->n_size);
	const char *why = NULL;
	if (!manifest_sizes(t, v->manifest, c->size, value, &why)) {
		if (why)
			heddle_test_add(t, v, name, level, HEDDLE_TEST_FAULT, why, 0, 0, NULL);
		return true; /* sizes that the kernel is not for */
	}
	heddle_array **array = heddle_test_arrays(t, e);
	heddle_array **argument = HEDDLE_NEW_ARRAY(t->arena, heddle_array *, v->manifest->n_argument);
	const char *mismatch = bind_arguments(t, v->manifest, value, array, argument);
	if (mismatch) {
		heddle_diagnostics_clear(t->ctx);
		heddle_test_add(t, v, name, level, HEDDLE_TEST_FAULT, mismatch, 0, 0, NULL);
		heddle_case_arrays_free(t->definition, array);
		return true;
	}
	heddle_run run = {
		.arena = report->arena,
		.manifest = v->manifest,
		.source = v->source,
		.source_path = v->source_path,
		.size = value,
		.argument = argument,
		.misalign = misalign,
		.timeout = t->options->timeout,
		.seed = t->options->seed,
	};
	const double start = heddle_now();
	const char *message = NULL;
	heddle_test_verdict verdict;
	if (heddle_run_isolated(t->ctx, runner, &run) < 0) {
		verdict = HEDDLE_TEST_FAIL;
		message = heddle_test_take_error(t);
	} else {
		message = run.message;
		verdict = run.verdict == HEDDLE_PASS	      ? HEDDLE_TEST_PASS
			  : run.verdict == HEDDLE_FAIL	      ? HEDDLE_TEST_FAIL
							      : HEDDLE_TEST_UNSUPPORTED;
		if (run.verdict == HEDDLE_MISSING) {
			heddle_test_add_missing(t, level, run.message);
			heddle_case_arrays_free(t->definition, array);
			return false;
		}
		if (verdict == HEDDLE_TEST_PASS && !is_compile_level(runner)) {
			message = NULL;
			verdict = heddle_test_judge(t, e, array, &message);
		}
	}
	heddle_test_add(t, v, name, level, verdict, message, heddle_now() - start, run.n_finding, run.finding);
	heddle_case_arrays_free(t->definition, array);
	return true;
}

/* Which variant of the manifest case `k` runs; -1: none. */
static int manifest_choice(const heddle_test *t, const heddle_test_variant *v, int k, int misalign)
{
	int64_t *value = HEDDLE_NEW_ARRAY(t->arena, int64_t, v->manifest->n_size + 1);
	size_t *address = HEDDLE_NEW_ARRAY(t->arena, size_t, v->manifest->n_argument + 1);
	const char *why = NULL;
	if (!manifest_sizes(t, v->manifest, v->cases.item[k].size, value, &why))
		return -1;
	const heddle_run run = {.manifest = v->manifest, .misalign = misalign};
	for (int j = 0; j < v->manifest->n_argument; ++j)
		address[j] = heddle_run_moved(&run, &v->manifest->argument[j]);
	return heddle_manifest_choose(v->manifest, value, address);
}

/* No case before runs the variant that this one runs. */
static bool is_first_of_its_variant(const heddle_test *t, const heddle_test_variant *v, int k, int misalign)
{
	const int own = manifest_choice(t, v, k, misalign);
	bool first = own >= 0 && v->manifest->n_variant > 0;
	for (int j = 0; j < k && first; ++j)
		first = manifest_choice(t, v, j, misalign) != own;
	return first;
}

/* Cases that a runner takes: those given, the first of each variant, and of the picked ones every second; all when thorough. */
static bool runner_takes(const heddle_test *t, const heddle_test_variant *v, const heddle_runner *runner, int k)
{
	const heddle_case *c = &v->cases.item[k];
	bool any_given = false;
	for (int j = 0; j < v->cases.n; ++j)
		any_given = any_given || v->cases.item[j].given;
	if (any_given && (t->options->given || (runner->slow && v->program && !v->small && !t->options->thorough)))
		return c->given;
	return t->options->thorough || c->given || k % 2 == 1 || v->cases.n <= 2 || is_first_of_its_variant(t, v, k, 0) ||
	       is_first_of_its_variant(t, v, k, 1);
}

static bool run_forms(heddle_test *t, const heddle_test_variant *v, const heddle_runner *runner, const heddle_case *c,
		      int forms)
{
	heddle_test_expected *e = heddle_test_expect(t, c->size, HEDDLE_FILL_RANDOM);
	bool there = true;
	if (!e->fault && forms & FORM_ALIGNED)
		there = run_once(t, v, runner, c, "", e, 0);
	if (there && !e->fault && forms & FORM_MISALIGNED && heddle_test_may_misalign(t->ctx, v->manifest))
		there = run_once(t, v, runner, c, "misaligned", e, 1);
	if (there && forms & FORM_INTEGERS && heddle_definition_may_be_exact(t->definition)) {
		e = heddle_test_expect(t, c->size, HEDDLE_FILL_INTEGERS);
		if (!e->fault && e->reference->exact)
			there = run_once(t, v, runner, c, "whole numbers", e, 0);
	}
	return there;
}

static void run_runners(heddle_test *t, const heddle_test_variant *v)
{
	for (int r = 0; heddle_runners[r]; ++r) {
		const heddle_runner *runner = heddle_runners[r];
		const bool any = !strcmp(runner->backend, "*");
		if ((!any && strcmp(runner->backend, v->manifest->backend)) ||
		    !heddle_test_level_wanted(t, runner->level, runner->name) || !heddle_test_runner_usable(t, r))
			continue;
		if (is_compile_level(runner)) {
			heddle_test_expected *e = heddle_test_expect(t, v->cases.item[0].size, HEDDLE_FILL_RANDOM);
			if (!e->fault)
				run_once(t, v, runner, &v->cases.item[0], "", e, 0);
			continue;
		}
		int taken = 0;
		bool there = true;
		for (int k = 0; k < v->cases.n && there; ++k) {
			if (!runner_takes(t, v, runner, k))
				continue;
			/* Not thorough: each case aligned, and in turns misaligned and with whole numbers. */
			int forms = t->options->thorough ? FORM_ALIGNED | FORM_MISALIGNED | FORM_INTEGERS
				    : taken % 2		 ? FORM_ALIGNED | FORM_INTEGERS
							 : FORM_ALIGNED | FORM_MISALIGNED;
			if (is_first_of_its_variant(t, v, k, 1))
				forms |= FORM_MISALIGNED;
			++taken;
			there = run_forms(t, v, runner, &v->cases.item[k], forms);
		}
	}
}

/* Inputs that the reference cannot judge are a fault of the test, told once per case. */
static void check_references(heddle_test *t, const heddle_test_variant *v)
{
	for (int k = 0; k < v->cases.n; ++k) {
		heddle_test_expected *e = heddle_test_expect(t, v->cases.item[k].size, HEDDLE_FILL_RANDOM);
		if (e->fault && !e->told) {
			heddle_test_add(t, v, v->cases.item[k].name, "reference", HEDDLE_TEST_FAULT, e->fault, 0, 0, NULL);
			e->told = true;
		}
	}
}

/* ---- variants ------------------------------------------------------------------------------------------------------------------- */

/* Tiles of a config line, by index name. */
static int tile_hints(heddle_test *t, const char *line, heddle_tile_hint **hint)
{
	int n = 0;
	*hint = NULL;
	heddle_config *config = heddle_config_parse(t->ctx, t->arena, line);
	if (!config) {
		heddle_diagnostics_clear(t->ctx);
		return 0;
	}
	for (int k = 0; k < config->n_kernel; ++k)
		for (int s = 0; s < config->kernel[k].n_stmt; ++s) {
			const heddle_named_list *tile = &config->kernel[k].stmt[s].tile;
			for (int j = 0; j < tile->n; ++j) {
				const heddle_tile_hint new = {tile->item[j].name, tile->item[j].value};
				HEDDLE_PUSH(t->arena, *hint, n, new);
			}
		}
	/* A split index i runs in chunks: the tile of i_chunk is that many chunks of i. */
	for (int k = 0; k < config->n_split; ++k) {
		const heddle_split *split = &config->split[k];
		const char *chunks = heddle_arena_printf(t->arena, "%s_chunk", split->dim);
		int64_t tile = 1;
		for (int j = 0; j < n; ++j)
			if (!strcmp((*hint)[j].index, chunks) && (*hint)[j].tile > tile)
				tile = (*hint)[j].tile;
		const heddle_tile_hint new = {split->dim, split->chunk * tile};
		HEDDLE_PUSH(t->arena, *hint, n, new);
	}
	return n;
}

/* Threads that the lanes of a kernel take: those of its reductions over lanes; 1 without any. */
static int64_t lanes_of(const heddle_kernel_config *kernel)
{
	for (int s = 0; s < kernel->n_stmt; ++s)
		for (int j = 0; j < kernel->stmt[s].reduce.n; ++j) {
			const heddle_named_value *how = &kernel->stmt[s].reduce.item[j];
			if (how->value == HEDDLE_REDUCE_LANES)
				return heddle_named_get(&kernel->stmt[s].thread, how->name, 1);
		}
	return 1;
}

/* The same choices with few threads and few items per thread: small blocks, the same kinds of code. */
static const char *small_config(heddle_test *t, const char *line)
{
	heddle_config *config = heddle_config_parse(t->ctx, t->arena, line);
	if (!config) {
		heddle_diagnostics_clear(t->ctx);
		return NULL;
	}
	bool smaller = false;
	for (int k = 0; k < config->n_kernel; ++k) {
		heddle_kernel_config *kernel = &config->kernel[k];
		const int64_t lanes = lanes_of(kernel), few = lanes > 32 ? 32 : lanes;
		/* members and lanes that take the same number of threads cannot be told apart here */
		const bool keep = lanes > 1 && kernel->threads != lanes;
		kernel->n_group = 0;
		for (int s = 0; s < kernel->n_stmt && !keep; ++s) {
			heddle_stmt_config *stmt = &kernel->stmt[s];
			for (int j = 0; j < stmt->tile.n; ++j) {
				int64_t *tile = &stmt->tile.item[j].value;
				const char *name = stmt->tile.item[j].name;
				int64_t thread = heddle_named_get(&stmt->thread, name, 1);
				int64_t vector = heddle_named_get(&stmt->vector, name, 1);
				int64_t items = *tile / (thread * vector);
				const int64_t before = *tile;
				thread = lanes > 1 ? (thread > few ? few : thread) : thread > 4 ? 4 : thread;
				items = items > 2 ? 2 : items;
				*tile = thread * vector * items;
				smaller = smaller || *tile < before;
				if (thread > 1)
					heddle_named_set(config, &stmt->thread, name, thread);
			}
		}
		if (!keep)
			kernel->threads = lanes > 1 ? (int)few : 0;
	}
	heddle_text text = {0};
	heddle_config_print(config, &text);
	const char *out = smaller ? heddle_arena_strdup(t->arena, heddle_text_str(&text)) : NULL;
	heddle_text_free(&text);
	return out;
}

static heddle_program *default_compile(heddle_ctx *ctx, const heddle_definition *definition, const heddle_target *target,
				       const char *config, bool small, void *user)
{
	(void)small;
	(void)user;
	/* Time is no part of what is tested: on a busy machine the default limit would decide. */
	const heddle_compile_options options = {.config = config, .timeout = 300};
	return heddle_target_takes(ctx, definition, target) == 0 ? heddle_compile(ctx, definition, target, &options) : NULL;
}

/* Make the variant's programs, one per definition, manifest and source; false: a row says why not. */
static bool make_entry(heddle_test *t, heddle_test_variant *v, int n, heddle_definition *const *definition,
		       const heddle_target *target, const char *config, bool small)
{
	const heddle_test_compiler compile = t->options->compile ? t->options->compile : default_compile;
	const double start = heddle_now();
	v->target = target->text;
	v->parsed = *target;
	heddle_variants_begin(&v->variants);
	const char *base = heddle_arena_printf(t->arena, "%s__%s_%s", definition[0]->name, target->backend,
					       target->descriptor->name);
	const heddle_emit_options emit = {.base = base, .header = definition[0]->name, .source_name = t->layer};
	heddle_text source = {0};
	bool all = true;
	for (int k = 0; k < n && all; ++k) {
		heddle_program *program = compile(t->ctx, definition[k], target, config, small, t->options->user);
		all = program != NULL;
		if (program)
			heddle_variants_add(&v->variants, program);
	}
	if (all && heddle_variants_finish(t->ctx, target, &v->variants) == 0) {
		v->program = v->variants.item[0].program;
		for (int k = 0; k < v->variants.n; ++k)
			heddle_program_number(v->variants.item[k].program);
		v->manifest = heddle_manifest_make(t->ctx, target, &v->variants, &emit);
		if (v->manifest && heddle_source_print(t->ctx, target, &v->variants, &emit, &source) == 0)
			v->source = heddle_arena_strdup(t->arena, heddle_text_str(&source));
	}
	heddle_text_free(&source);
	if (v->source) {
		v->source_path = v->manifest->source;
		heddle_test_add(t, v, "", "generate", HEDDLE_TEST_PASS, v->program->proof, heddle_now() - start, 0, NULL);
		return true;
	}
	/* A config of our own making may ask for what the definition cannot have. */
	const heddle_diagnostic *d = heddle_diagnostics(t->ctx);
	const bool refused = small && d && d->code >= 500 && d->code < 600;
	heddle_test_add(t, v, "", "generate", refused ? HEDDLE_TEST_SKIP : HEDDLE_TEST_FAIL, heddle_test_take_error(t), heddle_now() - start,
			0, NULL);
	return false;
}

static bool make_variant(heddle_test *t, heddle_test_variant *v, heddle_definition *definition, const heddle_target *target,
			 const char *config, bool small)
{
	return make_entry(t, v, 1, &definition, target, config, small);
}

static void free_variant(heddle_test_variant *v)
{
	v->manifest = heddle_manifest_free(v->manifest);
	heddle_variants_free(&v->variants);
	v->program = NULL;
}

/* `#: expect launches=1 barriers=2` against the program. */
static void check_expectations(heddle_test *t, const heddle_test_variant *v)
{
	int at = 0;
	for (const heddle_pragma *p; (p = heddle_pragma_next(t->module, t->definition, "expect", &at));) {
		char *text = heddle_arena_strdup(t->arena, p->text), *save = NULL;
		for (char *word = strtok_r(text, " ,\t", &save); word; word = strtok_r(NULL, " ,\t", &save)) {
			char *value = strchr(word, '=');
			if (value)
				*value++ = 0;
			long found = !strcmp(word, "launches") ? v->program->n_launch
				     : !strcmp(word, "barriers") ? heddle_test_count_barriers(v->program)
								 : -1;
			const char *name = heddle_arena_printf(t->arena, "expect %s=%s", word, value ? value : "?");
			if (found < 0 || !value)
				heddle_test_add(t, v, name, "generate", HEDDLE_TEST_FAULT,
						"known are launches=N and barriers=N", 0, 0, NULL);
			else if (found != strtol(value, NULL, 10))
				heddle_test_add(t, v, name, "generate", HEDDLE_TEST_FAIL,
						heddle_arena_printf(t->arena, "the program has %ld %s", found, word), 0, 0, NULL);
			else
				heddle_test_add(t, v, name, "generate", HEDDLE_TEST_PASS, NULL, 0, 0, NULL);
		}
	}
}

static int choose_cases(heddle_test *t, heddle_test_variant *v)
{
	heddle_case_options options = {.cost = t->options->thorough ? 2e7 : 3e6, .narrowed = t->options->sizes != NULL};
	heddle_tile_hint *hint;
	if (v->program && v->program->config) {
		options.n_tile = tile_hints(t, v->program->config, &hint);
		options.tile = hint;
	}
	if (heddle_cases_choose(t->ctx, t->arena, t->module, t->definition, &options, &v->cases) == 0) {
		options.sweep = true;
		options.cost = 2e7;
		return heddle_cases_choose(t->ctx, t->arena, t->module, t->definition, &options, &v->sweep);
	}
	heddle_test_add(t, v, "", "reference", HEDDLE_TEST_FAULT, heddle_test_take_error(t), 0, 0, NULL);
	return -1;
}

static void add_cases(heddle_test *t, heddle_case_list *to, const heddle_case_list *from)
{
	const size_t bytes = sizeof(int64_t) * (size_t)t->definition->n_size;
	for (int k = 0; k < from->n; ++k) {
		bool known = false;
		for (int j = 0; j < to->n; ++j)
			known = known || !memcmp(to->item[j].size, from->item[k].size, bytes);
		if (!known)
			HEDDLE_PUSH(t->arena, to->item, to->n, from->item[k]);
	}
	to->limited = to->limited || from->limited;
}

static heddle_definition *definition_in(const heddle_test *t, const heddle_module *module)
{
	for (int k = 0; k < module->n_definition; ++k)
		if (!strcmp(module->definition[k]->name, t->definition->name))
			return module->definition[k];
	return NULL;
}

/* The file's own cases, and some for each of the definitions around the tiles of a program for its sizes. */
static int choose_entry_cases(heddle_test *t, heddle_test_variant *v, int n, heddle_definition *const *definition)
{
	const heddle_case_options given = {.cost = 3e6, .given_only = true};
	if (heddle_cases_choose(t->ctx, t->arena, t->module, t->definition, &given, &v->cases) < 0)
		return -1;
	for (int k = 0; k < n; ++k) {
		heddle_case_options options = {.cost = t->options->thorough ? 2e7 : 3e6};
		heddle_case_list picked, sweep;
		heddle_tile_hint *hint;
		options.n_tile = tile_hints(t, v->variants.item[k % v->variants.n].program->config, &hint);
		options.tile = hint;
		int rc = heddle_cases_choose(t->ctx, t->arena, NULL, definition[k], &options, &picked);
		options.sweep = true;
		options.cost = 2e7;
		if (rc == 0)
			rc = heddle_cases_choose(t->ctx, t->arena, NULL, definition[k], &options, &sweep);
		if (rc < 0) {
			heddle_test_add(t, v, "", "reference", HEDDLE_TEST_FAULT, heddle_test_take_error(t), 0, 0, NULL);
			return -1;
		}
		add_cases(t, &v->cases, &picked);
		add_cases(t, &v->sweep, &sweep);
	}
	return 0;
}

/* Each of the programs must be the one that some case runs. */
static void check_choice(heddle_test *t, const heddle_test_variant *v)
{
	for (int k = 0; k < v->variants.n; ++k) {
		bool chosen = false;
		for (int c = 0; c < v->cases.n && !chosen; ++c)
			for (int misalign = 0; misalign < 2; ++misalign)
				chosen = chosen || heddle_test_chosen(t, v, &v->cases.item[c], misalign) == k;
		const char *name = heddle_arena_printf(t->arena, "variant %d is chosen", k);
		heddle_test_add(t, v, name, "generate", chosen ? HEDDLE_TEST_PASS : HEDDLE_TEST_FAIL,
				chosen ? NULL : "no case has sizes for it that no earlier variant takes", 0, 0, NULL);
	}
}

/* One compiled variant through all levels. */
static void test_variant(heddle_test *t, heddle_test_variant *v, bool whole)
{
	check_references(t, v);
	if (heddle_test_level_wanted(t, "interpret", NULL))
		heddle_test_interpret(t, v, whole);
	run_runners(t, v);
}

static void test_small(heddle_test *t, const heddle_target *target, const heddle_test_variant *first)
{
	const char *config = first->program->config ? small_config(t, first->program->config) : NULL;
	heddle_test_variant v = {.name = "small tiles", .small = true};
	if (!config)
		return;
	if (make_variant(t, &v, t->definition, target, config, true) && choose_cases(t, &v) == 0)
		test_variant(t, &v, true);
	free_variant(&v);
}

/* The sizes of the first case as constants. */
static void test_fixed(heddle_test *t, const heddle_target *target, const heddle_test_variant *first)
{
	const heddle_definition *d = t->definition;
	const heddle_case *c = &first->cases.item[0];
	bool any = false;
	heddle_size_list list = {0};
	for (int k = 0; k < d->n_size; ++k) {
		const heddle_size_range range = {d->size[k]->name, c->size[k], c->size[k], 1};
		any = any || d->size[k]->min != d->size[k]->max;
		HEDDLE_PUSH(t->arena, list.range, list.n, range);
	}
	if (!any)
		return;
	heddle_test_variant v = {.name = "fixed sizes"};
	heddle_module *module = heddle_module_parse_for(t->ctx, t->layer, t->module->source->text, &list, d->name);
	heddle_definition *fixed = NULL;
	for (int k = 0; module && k < module->n_definition; ++k)
		if (!strcmp(module->definition[k]->name, d->name))
			fixed = module->definition[k];
	if (!fixed) {
		/* Sizes of this definition may not suit another of the same file. */
		heddle_diagnostics_clear(t->ctx);
	} else if (make_variant(t, &v, fixed, target, NULL, false)) {
		v.cases.n = 1;
		v.cases.item = first->cases.item;
		test_variant(t, &v, true);
	}
	free_variant(&v);
	heddle_module_free(module);
}

/* The programs for several choices of sizes behind one entry. */
static void test_entry(heddle_test *t, const heddle_target *target)
{
	heddle_test_variant v = {.name = heddle_arena_printf(t->arena, "%d sizes", t->n_entry)};
	heddle_definition **definition = HEDDLE_NEW_ARRAY(t->arena, heddle_definition *, t->n_entry);
	for (int k = 0; k < t->n_entry; ++k)
		definition[k] = definition_in(t, t->entry[k]);
	if (make_entry(t, &v, t->n_entry, definition, target, t->options->config, false) &&
	    choose_entry_cases(t, &v, t->n_entry, definition) == 0) {
		check_choice(t, &v);
		test_variant(t, &v, true);
	}
	free_variant(&v);
}

static void test_target(heddle_test *t, const heddle_target *target)
{
	if (t->n_entry) {
		test_entry(t, target);
		return;
	}
	heddle_test_variant first = {.name = ""};
	if (!make_variant(t, &first, t->definition, target, t->options->config, false)) {
		free_variant(&first);
		return;
	}
	check_expectations(t, &first);
	if (choose_cases(t, &first) == 0) {
		test_variant(t, &first, true);
		if (!t->options->config && !t->options->quick) {
			test_small(t, target, &first);
			test_fixed(t, target, &first);
		}
	}
	free_variant(&first);
	int at = 0, number = 0;
	for (const heddle_pragma *p; !t->options->config && (p = heddle_pragma_next(t->module, t->definition, "config", &at));) {
		heddle_test_variant v = {.name = heddle_arena_printf(t->arena, "config %d", ++number)};
		if (make_variant(t, &v, t->definition, target, p->text, false) && choose_cases(t, &v) == 0)
			test_variant(t, &v, false);
		free_variant(&v);
	}
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
		free_variant(&v);
		return 0; /* of another definition in the file */
	}
	v.manifest->path = heddle_arena_strdup(v.manifest->arena, path);
	v.source_path = heddle_test_beside(t->arena, path, v.manifest->source);
	char *source = heddle_file_read(t->ctx, v.source_path, NULL);
	if (!source) {
		free_variant(&v);
		return -1;
	}
	v.source = source;
	v.target = heddle_arena_printf(t->arena, "%s:%s", v.manifest->backend, v.manifest->arch ? v.manifest->arch : "");
	t->impl_tested = true;
	HEDDLE_PUSH(t->report->arena, t->report->impl_seen, t->report->n_impl_seen, heddle_arena_strdup(t->report->arena, path));
	heddle_test_no_interpret(t);
	if (choose_cases(t, &v) == 0) {
		check_references(t, &v);
		run_runners(t, &v);
	}
	free(source);
	free_variant(&v);
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
			test_target(t, &t->options->target[k]);
	check_cancellation(t);
	forget_expected(t);
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
	t.module = heddle_module_parse(ctx, t.layer, text, options->n_entry > 1 ? NULL : options->sizes);
	const int n = expected_errors(text, code, (int)HEDDLE_COUNT(code));
	for (int k = 0; t.module && options->n_entry > 1 && k < options->n_entry; ++k) {
		heddle_module *module = heddle_module_parse(ctx, t.layer, text, options->entry_sizes[k]);
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

/* All `.tc` files below a folder, sorted by path. */
static int test_folder(heddle_ctx *ctx, heddle_test_report *report, const char *path, const heddle_test_options *options)
{
	DIR *folder = opendir(path);
	const char **name = NULL;
	int n = 0, rc = 0;
	if (!folder)
		return heddle_error(ctx, 901, NULL, "cannot read '%s': %s", path, strerror(errno));
	for (struct dirent *entry; (entry = readdir(folder));)
		if (entry->d_name[0] != '.')
			HEDDLE_PUSH(report->arena, name, n, heddle_arena_printf(report->arena, "%s/%s", path, entry->d_name));
	closedir(folder);
	if (n)
		qsort(name, (size_t)n, sizeof(*name), by_name);
	for (int k = 0; k < n; ++k) {
		struct stat status;
		const char *suffix = strrchr(name[k], '.');
		if (stat(name[k], &status) < 0)
			continue;
		if (S_ISDIR(status.st_mode))
			rc |= test_folder(ctx, report, name[k], options);
		else if (suffix && !strcmp(suffix, ".tc"))
			rc |= test_file(ctx, report, name[k], options);
	}
	return rc ? -1 : 0;
}

int heddle_test_path(heddle_ctx *ctx, heddle_test_report *report, const char *path, const heddle_test_options *options)
{
	struct stat status;
	const double start = heddle_now();
	int rc;
	if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
		rc = test_folder(ctx, report, path, options);
	else
		rc = test_file(ctx, report, path, options);
	report->seconds += heddle_now() - start;
	return rc;
}
