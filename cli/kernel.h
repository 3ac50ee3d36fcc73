/* What the verbs that run or write kernels share: compiling for a target, a definition's arrays, choosing a device.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_CLI_KERNEL_H
#define HEDDLE_CLI_KERNEL_H

#include "cli/cli.h"
#include "compile/compile.h"
#include "compile/manifest.h"
#include "harness/level.h"

/* A kernel to be written or run: made from a definition, or read from --impl. */
typedef struct heddle_kernel_files {
	heddle_target target;
	heddle_variants variants; /* none: hand-written */
	heddle_manifest *manifest;
	heddle_text source;
	heddle_text header;	 /* empty: hand-written */
	heddle_text host;	 /* the host entry, where it has a file of its own */
	const char *source_name; /* of the file with the kernels */
	const char *host_name;	 /* of that file; NULL: none */
	const char *base;	 /* file name without suffix: "matmul__cuda_h200" */
	const char *header_name; /* "matmul" */
} heddle_kernel_files;

/* ---- --effort (effort.c) ---- */

/* What programs are timed with, while one definition is compiled for one target. */
typedef struct heddle_cli_timer {
	heddle_cli *cli;
	const heddle_definition *definition;
	const heddle_target *target;
	const heddle_runner *runner; /* NULL: not looked for yet */
	int64_t *size;
	heddle_array **array, **before; /* before: the contents of inouts, NULL for other tensors */
} heddle_cli_timer;

/* Set the options' effort, and what it times with; 0, or -1 with E0915.  The timer is freed in both cases, after the compile. */
int heddle_cli_effort(heddle_cli *cli, const heddle_definition *definition, const heddle_target *target, heddle_cli_timer *timer,
		      heddle_compile_options *options);
void heddle_cli_timer_free(heddle_cli_timer *timer);
/* Does --effort ask for times of a device? */
bool heddle_cli_measures(const heddle_cli *cli);

/* heddle_compile with `more` (may be NULL), and with --config where that has none. */
heddle_program *heddle_cli_program(heddle_cli *cli, const heddle_definition *definition, const heddle_target *target,
				   const heddle_compile_options *more);
/* Compile a definition, as it was checked under one or several choices of sizes, for one target, with a config (NULL: --config) and
 * --prefix.  0, or -1 with diagnostics; free in both cases. */
int heddle_cli_compile(heddle_cli *cli, const heddle_module *module, int n, const heddle_definition *const *definition,
		       const heddle_target *target, const char *config, heddle_kernel_files *kernel);
/* The names of the files that heddle_cli_compile would fill: header_name, base, source_name, host_name. */
void heddle_cli_file_names(heddle_cli *cli, const heddle_definition *definition, const heddle_target *target,
			   heddle_kernel_files *kernel);
/* --dump, --stop and --time-passes (plan_passes.c): are the names passes; what they say, on cli->out.  0 or -1. */
int heddle_cli_check_passes(heddle_cli *cli);
int heddle_cli_show_passes(heddle_cli *cli, const heddle_definition *definition, const heddle_target *target);
/* --top and --sweep (plan_search.c), on cli->out or in cli->result.  0 or -1. */
int heddle_cli_show_top(heddle_cli *cli, const heddle_definition *definition, const heddle_target *target, int n_target);
int heddle_cli_show_sweep(heddle_cli *cli, const heddle_definition *definition, const heddle_target *target, int n_target);
/* Read a hand-written kernel's manifest and source. */
int heddle_cli_read_impl(heddle_cli *cli, const char *path, heddle_kernel_files *kernel);
void heddle_kernel_files_free(heddle_kernel_files *kernel);

/* -t, or the first real device, else `host`. */
int heddle_cli_device_targets(heddle_cli *cli, heddle_target **target, int *n);
/* A level, or one runner of it ("opencl-cpu:pocl"), at which kernels run and are not only compiled.  0, or -1 with E0915. */
int heddle_cli_check_run_level(heddle_cli *cli, const char *level);
/* The runner that executes the kernel's text here: its device, else the CPU's OpenCL for a target that is a CPU.  NULL with
 * E0810 that says what is missing. */
const heddle_runner *heddle_cli_runner(heddle_cli *cli, const heddle_kernel_files *kernel);

/* Put into the list (NULL: of none) those open sizes that the shapes of --input say.  1 when there were any, 0, or -1. */
int heddle_cli_sizes_of_inputs(heddle_cli *cli, const heddle_definition *definition, heddle_size_list **sizes);
/* One array per tensor of the definition: inputs from --input, or suitable random numbers, the rest poisoned.  0 or -1. */
int heddle_cli_arrays(heddle_cli *cli, const heddle_module *module, const heddle_definition *definition, const int64_t *size,
		      uint64_t seed, heddle_array ***array); /* freed by heddle_case_arrays_free */
/* Point `run` at the kernel, the sizes and the arrays, matched by name.  0 or -1 (a tensor that the kernel wants and the
 * definition does not have, or the other way round). */
int heddle_cli_bind(heddle_cli *cli, const heddle_kernel_files *kernel, const heddle_definition *definition,
		    const int64_t *size, heddle_array *const *array, heddle_run *run);
/* A run's verdict other than PASS as a report on cli->err; the exit code. */
int heddle_cli_verdict(heddle_cli *cli, const char *name, const heddle_run *run);

#endif
