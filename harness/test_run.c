/* Runs of the test engine: what is expected for sizes and contents, one run by a runner, and its judgement.
 * SPDX-License-Identifier: MIT
 */
#include "harness/test_parts.h"

#include "backends/dialect.h"
#include "base/process.h"
#include "harness/compare.h"
#include "harness/device.h"
#include "harness/isolate.h"

#include <string.h>

/* ---- what is expected, once per sizes and contents ------------------------------------------------------------------------------ */

/* The work of a case is bounded by what its tensors hold; of a larger one the user is told before anything is filled. */
static int check_elements(heddle_ctx *ctx, const heddle_definition *d, const int64_t *size)
{
	double all = 0;
	for (int k = 0; k < d->n_tensor; ++k) {
		int64_t shape[HEDDLE_MAX_RANK];
		double n = 1;
		if (d->tensor[k]->role == HEDDLE_ROLE_TEMPORARY || d->tensor[k]->rank > HEDDLE_MAX_RANK ||
		    heddle_tensor_shape(d->tensor[k], size, shape) < 0)
			continue;
		for (int e = 0; e < d->tensor[k]->rank; ++e)
			n *= (double)shape[e];
		all += n;
	}
	return heddle_test_check_elements(ctx, d->name, &d->location, all);
}

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
	if (check_elements(t->ctx, d, size) == 0 && heddle_case_arrays(t->ctx, t->module, d, size, fill, t->options->seed + 1, e->array) == 0)
		e->reference = heddle_reference_evaluate(t->ctx, d, size, e->array, &options);
	if (!e->reference) {
		e->limit = heddle_exit_code(t->ctx) == HEDDLE_EXIT_LIMIT;
		e->fault = heddle_test_take_error(t);
	}
	return e;
}

/* The first value of `tensor` that is not 0, over all cases, as "y[3] is 0.25 with N=4"; NULL: there is none.  `*cancels`: some value
 * is 0 since what it is made of cancels. */
static const char *first_nonzero(heddle_test *t, const heddle_tensor *tensor, bool *cancels)
{
	const char *found = NULL;
	*cancels = false;
	for (const heddle_test_expected *e = t->expected; e; e = e->next)
		for (int o = 0; e->reference && o < e->reference->n_output; ++o) {
			const heddle_expected *x = &e->reference->output[o];
			if (x->tensor != tensor)
				continue;
			*cancels = *cancels || x->weight > 0;
			int64_t i = 0;
			while (i < x->n && (x->value ? x->value[i] == 0 : x->integer[i] == 0))
				++i;
			if (i == x->n || found)
				continue;
			const int64_t number = x->element ? x->element[i] : i;
			const char *sizes = heddle_case_name(t->arena, t->definition, e->size);
			found = heddle_arena_printf(t->arena, "%s is %Lg with %s",
						    heddle_element_name(t->arena, tensor->name, e->array[tensor->position], number),
						    x->value ? x->value[i] : (long double)x->integer[i], *sizes ? sizes : "no sizes");
		}
	return found;
}

/* The `#: allow zero NAME ..` lines: declared[k] says that tensor k is 0 in all cases.  0, or -1 with a diagnostic. */
static int declared_zeros(heddle_test *t, bool *declared)
{
	int at = 0;
	for (const heddle_pragma *p; (p = heddle_pragma_next(t->module, t->definition, "allow", &at));) {
		char *text = heddle_arena_strdup(t->arena, p->text), *save = NULL;
		const char *fact = strtok_r(text, " ,\t", &save), *name = strtok_r(NULL, " ,\t", &save);
		if (!fact || strcmp(fact, "zero"))
			return heddle_error(t->ctx, 717, &p->location, "'%s' cannot be allowed: known is 'zero OUTPUT'", fact ? fact : "");
		if (!name)
			return heddle_error(t->ctx, 717, &p->location, "'allow zero' needs the name of an output");
		for (; name; name = strtok_r(NULL, " ,\t", &save)) {
			const heddle_tensor *found = NULL;
			for (int k = 0; k < t->definition->n_tensor; ++k)
				if (!strcmp(t->definition->tensor[k]->name, name))
					found = t->definition->tensor[k];
			if (!found || (found->role != HEDDLE_ROLE_OUTPUT && found->role != HEDDLE_ROLE_INOUT))
				return heddle_error(t->ctx, 717, &p->location, "'%s' is no output of '%s'", name, t->definition->name);
			declared[found->position] = true;
		}
	}
	return 0;
}

/* An output that is 0 wherever it was looked at: a kernel that computes nothing would pass.  `#: allow zero` says that it is meant,
 * and must then be true. */
void heddle_test_check_zeros(heddle_test *t)
{
	const heddle_test_variant none = {.name = "", .target = ""};
	bool *declared = HEDDLE_NEW_ARRAY(t->arena, bool, t->definition->n_tensor + 1);
	if (declared_zeros(t, declared) < 0) {
		heddle_test_add(t, &none, "allow", "reference", HEDDLE_TEST_FAULT, heddle_test_take_error(t), 0, 0, NULL);
		return;
	}
	for (int k = 0; t->expected && k < t->definition->n_tensor; ++k) {
		const heddle_tensor *tensor = t->definition->tensor[k];
		bool cancels;
		const char *nonzero = first_nonzero(t, tensor, &cancels);
		if (declared[k] && nonzero) {
			heddle_error(t->ctx, 718, NULL, "'#: allow zero %s' does not hold: %s", tensor->name, nonzero);
			heddle_test_add(t, &none, tensor->name, "reference", HEDDLE_TEST_FAULT, heddle_test_take_error(t), 0, 0, NULL);
		} else if (cancels && !nonzero && !declared[k]) {
			heddle_test_add(t, &none, tensor->name, "reference", HEDDLE_TEST_FAULT,
					heddle_arena_printf(t->arena,
							    "everything cancels to 0 in all cases, which a kernel that computes nothing gives, too: "
							    "choose other inputs, or write '#: allow zero %s' if it is meant",
							    tensor->name),
					0, 0, NULL);
		}
	}
}

void heddle_test_forget_expected(heddle_test *t)
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

bool heddle_test_takes(const heddle_test *t, const heddle_test_variant *v, const int64_t *size, const char **why)
{
	int64_t *value = HEDDLE_NEW_ARRAY(t->arena, int64_t, v->manifest->n_size + 1);
	const char *unused = NULL;
	return manifest_sizes(t, v->manifest, size, value, why ? why : &unused);
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

static heddle_test_verdict verdict_of(heddle_verdict verdict)
{
	return verdict == HEDDLE_PASS ? HEDDLE_TEST_PASS : verdict == HEDDLE_FAIL ? HEDDLE_TEST_FAIL : HEDDLE_TEST_UNSUPPORTED;
}

void heddle_test_compile(heddle_test *t, const heddle_test_variant *v, const heddle_runner *runner)
{
	const char *level = heddle_arena_printf(t->arena, "%s:%s", runner->level, runner->name);
	heddle_run run = {
		.arena = t->report->arena,
		.manifest = v->manifest,
		.source = v->source,
		.source_path = v->source_path,
		.argument = HEDDLE_NEW_ARRAY(t->arena, heddle_array *, v->manifest->n_argument + 1),
		.timeout = t->options->timeout,
		.max_spill = t->options->max_spill,
	};
	const double start = heddle_now();
	if (heddle_run_isolated(t->ctx, runner, &run) < 0)
		heddle_test_add(t, v, "", level, HEDDLE_TEST_FAIL, heddle_test_take_error(t), heddle_now() - start, 0, NULL);
	else if (run.verdict == HEDDLE_MISSING)
		heddle_test_add_missing(t, level, run.message);
	else
		heddle_test_add(t, v, "", level, verdict_of(run.verdict), run.message, heddle_now() - start, run.n_finding,
				run.finding);
}

/* One run of one runner.  false: the runner is missing for this target, no use to go on. */
static bool run_once(heddle_test *t, const heddle_test_variant *v, const heddle_runner *runner, const heddle_case *c,
		     const char *form, const heddle_test_expected *e, int misalign)
{
	heddle_test_report *report = t->report;
	const char *level = heddle_arena_printf(t->arena, "%s:%s", runner->level, runner->name);
	const char *name = test_name(t, c, form);
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
		verdict = verdict_of(run.verdict);
		if (run.verdict == HEDDLE_MISSING) {
			heddle_test_add_missing(t, level, run.message);
			heddle_case_arrays_free(t->definition, array);
			return false;
		}
		if (verdict == HEDDLE_TEST_PASS) {
			message = NULL;
			verdict = heddle_test_judge(t, e, array, &message);
		}
	}
	heddle_test_add(t, v, name, level, verdict, message, heddle_now() - start, run.n_finding, run.finding);
	report->row[report->n_row - 1].printed = run.printed;
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

/* Cases that a runner takes: those given, the first of each variant, and of the picked ones every second; all when thorough, and
 * of text by hand, of whose tiles nothing is known. */
static bool runner_takes(const heddle_test *t, const heddle_test_variant *v, const heddle_runner *runner, int k)
{
	const heddle_case *c = &v->cases.item[k];
	bool any_given = false;
	for (int j = 0; j < v->cases.n; ++j)
		any_given = any_given || v->cases.item[j].given;
	if (any_given && (t->options->given || (runner->simulator && v->program && !v->small && !t->options->thorough)))
		return c->given;
	return t->options->thorough || !v->program || c->given || k % 2 == 1 || v->cases.n <= 2 || is_first_of_its_variant(t, v, k, 0) ||
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

void heddle_test_runners(heddle_test *t, const heddle_test_variant *v)
{
	for (int r = 0; heddle_runners[r]; ++r) {
		const heddle_runner *runner = heddle_runners[r];
		if (!heddle_test_takes_runner(t, r, v->manifest->backend))
			continue;
		if (!heddle_runner_runs(runner)) {
			heddle_test_compile(t, v, runner);
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
void heddle_test_check_references(heddle_test *t, const heddle_test_variant *v)
{
	for (int k = 0; k < v->cases.n; ++k) {
		heddle_test_expected *e = heddle_test_expect(t, v->cases.item[k].size, HEDDLE_FILL_RANDOM);
		if (e->fault && !e->told) {
			heddle_test_add(t, v, v->cases.item[k].name, "reference", HEDDLE_TEST_FAULT, e->fault, 0, 0, NULL);
			t->report->n_limit += e->limit;
			e->told = true;
		}
	}
}
