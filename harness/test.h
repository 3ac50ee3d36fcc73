/* The engine of `heddle test`: one matrix of cases x (target, level), judged by the reference.
 *
 * Every result is a row.  What a level cannot do here is a skip with its reason, never a pass.  A level or target that the
 * caller names is required: without it the exit code is 4.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_TEST_H
#define HEDDLE_TEST_H

#include "backends/backend.h"
#include "compile/compile.h"
#include "frontend/definition.h"
#include "harness/level.h"

typedef enum heddle_test_verdict {
	HEDDLE_TEST_PASS,
	HEDDLE_TEST_FAIL,	 /* the kernel is wrong: numbers, race, bounds, barrier, crash, hang, compile error */
	HEDDLE_TEST_FAULT,	 /* the test is wrong: vacuous bound, inputs that the definition does not take */
	HEDDLE_TEST_UNSUPPORTED, /* text that the level cannot take */
	HEDDLE_TEST_SKIP,	 /* not run: the message says why */
	HEDDLE_N_TEST_VERDICT
} heddle_test_verdict;

typedef struct heddle_test_row {
	const char *layer;	/* file */
	const char *definition; /* "" for a row about the whole file */
	const char *test;	/* "M=64 N=64 K=64", "M=33 N=17 K=25, misaligned", "coverage" */
	const char *variant;	/* how it was compiled: "", "fixed sizes", "small tiles", "config 2", "impl" */
	const char *target;	/* "cuda:h100" */
	const char *level;	/* "interpret", "emulate:emulator", "compile:nvrtc", "reference", "generate" */
	heddle_test_verdict verdict;
	const char *message; /* one line; NULL: nothing to say */
	double seconds;
	int n_finding;
	const heddle_finding *finding; /* of a row that passes: spills */
	const char *printed; /* by the kernels; NULL: nothing */
	bool remarkable;     /* a pass whose message a reader should see */
} heddle_test_row;

/* A runner or level that could not be used here. */
typedef struct heddle_test_missing {
	const char *level; /* "opencl-cpu:pocl" */
	const char *why;
	bool required;
} heddle_test_missing;

typedef struct heddle_test_report {
	heddle_arena *arena; /* owns everything */
	int n_row;
	heddle_test_row *row;
	int count[HEDDLE_N_TEST_VERDICT];
	int n_missing;
	heddle_test_missing *missing;
	int n_left_out; /* runners that were not asked since they are slow: "opencl-cpu:oclgrind" */
	const char **left_out;
	bool source_error;    /* a file could not be read or is not valid; the diagnostics are in the context */
	double seconds;
	int n_limit;	      /* faults that are limits: cases too large for a test */
	int64_t unchecked;    /* elements that hung on a comparison within its error */
	int n_impl_seen;      /* manifests that a definition was found for: their paths */
	const char **impl_seen;
	int n_available;      /* what looking for each runner gave: -1 not looked, 0, 1; by position in heddle_runners */
	int *available;
} heddle_test_report;

/* What makes a program from a definition: `config` NULL: all choices are the cost model's; `small`: take tiles so small that
 * small sizes reach every branch.  NULL with a diagnostic. */
typedef heddle_program *(*heddle_test_compiler)(heddle_ctx *ctx, const heddle_definition *definition,
						const heddle_target *target, const char *config, bool small, void *user);

typedef struct heddle_test_options {
	int n_target;
	const heddle_target *target;
	bool targets_required;
	int n_level; /* 0: every level that is there, by the runners that are not slow (all when thorough) */
	const char *const *level; /* "emulate", "opencl-cpu:pocl": these are required */
	const char *definition;	  /* only this one; NULL: all of a file */
	const heddle_size_list *sizes;
	int n_entry; /* > 1: instead, these sizes make one program each behind one entry, and nothing else is tested */
	const heddle_size_list *const *entry_sizes;
	const char *config;
	heddle_effort effort; /* of the choice where the config says nothing */
	int n_impl;
	const char *const *impl;  /* manifests of hand-written kernels: they take the place of targets and compiling */
	const char *expect;	  /* folder of .npy files, and */
	const char *oracle;	  /* command: where there is no definition (heddle_test_kernel); NULL: memory checks only */
	double rtol, atol;	  /* of those; negative: by type */
	int n_case;
	const heddle_size_list *const *case_sizes; /* of those; none: picked */
	double timeout;		  /* seconds per run; 0: 60 */
	int max_spill;		  /* bytes per thread that a kernel may spill at the level compile; negative: any, reported */
	uint64_t seed;
	bool thorough; /* every case at every level in every form (aligned, misaligned, whole numbers) */
	bool given;    /* levels that run the text take the file's own cases only (all when it gives none) */
	bool quick;    /* only the program with open sizes: not with small tiles, not with sizes fixed */
	heddle_test_compiler compile; /* NULL: heddle_compile */
	void *user;
	heddle_steps *steps; /* counted on as they are done (heddle_test_count has the total), told with each result; NULL: not */
} heddle_test_options;

heddle_test_report *heddle_test_report_new(void);
heddle_test_report *heddle_test_report_free(heddle_test_report *report);

/* Test all definitions of a file, or all `.tc` files below a folder (sorted).  Rows are added to `report`; 0, or -1 with a
 * diagnostic when the path cannot be read. */
int heddle_test_path(heddle_ctx *ctx, heddle_test_report *report, const char *path, const heddle_test_options *options);

/* Steps of a test of this path: definitions times targets and programs.  What cannot be read has none. */
int heddle_test_count(heddle_ctx *ctx, const char *path, const heddle_test_options *options);

/* Test the kernels of a manifest without a definition (test_kernel.c): memory checks at every level, and numbers where
 * options->expect or options->oracle has them.  0, or -1 with a diagnostic. */
int heddle_test_kernel(heddle_ctx *ctx, heddle_test_report *report, const char *impl, const heddle_test_options *options);

/* ---- reports (test_report.c) -------------------------------------------------------------------------------------------- */

const char *heddle_test_verdict_name(heddle_test_verdict verdict); /* "pass", "FAIL", "FAULT", "unsupported", "skip" */
/* One line per (definition, target, level) with its counts, each row that did not pass with its findings, and a last line that
 * says what was skipped and why. */
void heddle_test_print(const heddle_test_report *report, heddle_text *out);
/* One line for one row: for progress and for `verbose` output. */
void heddle_test_row_print(const heddle_test_row *row, heddle_text *out);
struct json_t;
struct json_t *heddle_test_json(const heddle_test_report *report);
/* Was the place and kind of finding `i` of row `k` told by an earlier one, of this row or of another case? */
bool heddle_test_told(const heddle_test_report *report, int k, int i);
/* Findings as lines that code hosts show beside the source: "::error file=..,line=..::.." (`command`), or as compilers print them. */
void heddle_test_annotate(const heddle_test_report *report, bool command, heddle_text *out);
void heddle_test_junit(const heddle_test_report *report, heddle_text *out);
/* When all is tested: a named level at which nothing ran, for no reason told so far, becomes missing with its reason. */
void heddle_test_explain(heddle_test_report *report, const heddle_test_options *options);
/* 1: a row failed or is a fault; 5: all that is wrong is that cases are too large; 3: a source error; 4: a required level or target is missing or took nothing; 77: nothing ran;
 * else 0. */
int heddle_test_exit_code(const heddle_test_report *report, const heddle_test_options *options);

#endif
