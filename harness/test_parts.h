/* Inside of the test engine.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_TEST_PARTS_H
#define HEDDLE_TEST_PARTS_H

#include "harness/cases.h"
#include "harness/reference.h"
#include "harness/test.h"

/* Contents and reference for one set of sizes; lives as long as the tests of its definition. */
typedef struct heddle_test_expected {
	int64_t *size;
	heddle_fill fill;
	heddle_array **array; /* [n_tensor] as before a run */
	heddle_reference *reference; /* NULL: `fault` says why */
	const char *fault;
	bool limit; /* `fault` is that a limit was met */
	bool told;
	struct heddle_test_expected *next;
} heddle_test_expected;

/* One way of making kernels from the definition. */
typedef struct heddle_test_variant {
	const char *name;
	bool small; /* tiles of our own making, to reach branches with small sizes */
	const char *target;
	heddle_target parsed;
	heddle_variants variants; /* none: hand-written */
	heddle_program *program;  /* the first of them */
	heddle_manifest *manifest;
	const char *source, *source_path;
	heddle_case_list cases;
	heddle_case_list sweep; /* further ones, for coverage where `cases` leave code unreached */
} heddle_test_variant;

typedef struct heddle_test {
	heddle_ctx *ctx;
	heddle_test_report *report;
	const heddle_test_options *options;
	const char *layer;
	heddle_module *module;
	int n_entry; /* the file under each of options->entry_sizes */
	heddle_module **entry;
	heddle_definition *definition; /* the one under test; its sizes are symbolic unless the caller fixed them */
	heddle_arena *arena;	       /* of this definition's tests */
	heddle_test_expected *expected;
	bool impl_tested;
	const char *name; /* of the kernels under test when there is no definition */
} heddle_test;

/* Add a row; strings are copied, findings are not (they live in the report's arena). */
void heddle_test_add(heddle_test *t, const heddle_test_variant *v, const char *test, const char *level,
		     heddle_test_verdict verdict, const char *message, double seconds, int n_finding,
		     const heddle_finding *finding);
/* One of the steps that heddle_test_count counts is done. */
void heddle_test_step(heddle_test *t);
bool heddle_test_level_wanted(const heddle_test *t, const char *level, const char *name);
heddle_test_expected *heddle_test_expect(heddle_test *t, const int64_t *size, heddle_fill fill);
/* Fresh copies of the arrays for one run; freed by heddle_case_arrays_free. */
heddle_array **heddle_test_arrays(heddle_test *t, const heddle_test_expected *e);
heddle_test_verdict heddle_test_judge(heddle_test *t, const heddle_test_expected *e, heddle_array *const *array,
				      const char **message);

/* The first error of the context as one line in the report's arena; the diagnostics are used up. */
const char *heddle_test_take_error(heddle_test *t);
/* Do all levels that are wanted take the text alone, so that neither cases nor a reference are needed? */
bool heddle_test_only_compiles(const heddle_test *t);
/* E0719 where the tensors of a case have more elements than a test takes. */
int heddle_test_check_elements(heddle_ctx *ctx, const char *name, const heddle_location *location, double elements);
/* Note once that a level (or level:runner) cannot be used here. */
void heddle_test_add_missing(heddle_test *t, const char *level, const char *why);
/* Does the test take runner `k` of heddle_runners for this backend: is it wanted, is it here (looked for once per report)?  One that
 * is left out since it is slow is noted. */
bool heddle_test_takes_runner(heddle_test *t, int k, const char *backend);
/* Does the manifest promise no more alignment than elements have? */
bool heddle_test_may_misalign(heddle_ctx *ctx, const heddle_manifest *manifest);
/* A path in the folder of another file. */
const char *heddle_test_beside(heddle_arena *arena, const char *path, const char *name);
/* Are the variant's kernels for these sizes of the definition?  `*why`, if the manifest cannot be for any; may be NULL. */
bool heddle_test_takes(const heddle_test *t, const heddle_test_variant *v, const int64_t *size, const char **why);
/* Say, where `interpret` is named, that text is not interpreted. */
void heddle_test_no_interpret(heddle_test *t);

/* ---- test_interpret.c: the level `interpret` and coverage ---- */

/* All cases; `whole`: together they must run every node of the program. */
void heddle_test_interpret(heddle_test *t, const heddle_test_variant *v, bool whole);
/* The position in v->variants of the program that the entry would run; -1: none. */
int heddle_test_chosen(heddle_test *t, const heddle_test_variant *v, const heddle_case *c, int misalign);
int heddle_test_count_barriers(const heddle_program *program);

/* ---- test_run.c ---- */

/* Outputs that cancel to 0 in all cases are a fault of the test, unless `#: allow zero` declares them, which must be true. */
void heddle_test_check_zeros(heddle_test *t);
void heddle_test_forget_expected(heddle_test *t);
/* Compile the variant's text: no sizes, no tensors. */
void heddle_test_compile(heddle_test *t, const heddle_test_variant *v, const heddle_runner *runner);
void heddle_test_runners(heddle_test *t, const heddle_test_variant *v);
/* Inputs that the reference cannot judge are a fault of the test, told once per case. */
void heddle_test_check_references(heddle_test *t, const heddle_test_variant *v);

/* ---- test_grid.c ---- */

/* How many values of the manifest's size `k` one block takes: the greatest over the grids that depend on it; 0: unknown. */
int64_t heddle_test_block_extent(heddle_test *t, const heddle_manifest *manifest, int k);
/* The same for each size of the definition, [n_size]. */
const int64_t *heddle_test_blocks(heddle_test *t, const heddle_manifest *manifest);

/* ---- test_variant.c ---- */

void heddle_test_free_variant(heddle_test_variant *v);
/* Into v->cases and v->sweep; where there are none, a row says why, unless none are needed. */
void heddle_test_choose_cases(heddle_test *t, heddle_test_variant *v);
/* Cases of a hand-written kernel: sizes in the ranges and divisors of the definition and of its manifest together. */
void heddle_test_choose_impl_cases(heddle_test *t, heddle_test_variant *v);
/* Programs made for each target from a definition whose module has so many `#: config` lines for it. */
int heddle_test_count_variants(const heddle_test_options *options, int n_config);
void heddle_test_target_variants(heddle_test *t, const heddle_target *target);

#endif
