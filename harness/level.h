/* Validation levels that take a source and its manifest (DESIGN section 8): one interface for emulate, opencl-cpu, compile
 * and device.  `interpret` takes the program instead (harness/interpret.h).
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_LEVEL_H
#define HEDDLE_LEVEL_H

#include "compile/manifest.h"
#include "harness/tensor.h"

typedef enum heddle_verdict {
	HEDDLE_PASS,
	HEDDLE_FAIL,	    /* wrong numbers, race, bounds, barrier, crash, hang, compile error, spills above max_spill */
	HEDDLE_UNSUPPORTED, /* text that the level cannot take: says what and where */
	HEDDLE_MISSING,	    /* the tool or driver is not there: `message` says how to add it */
} heddle_verdict;

/* One finding of a memory checker or compiler. */
typedef struct heddle_finding {
	const char *kind; /* race, bounds, uninitialised, barrier, crash, timeout, compile, spill, numbers */
	const char *file; /* NULL: unknown */
	int line;
	const char *text;
} heddle_finding;

typedef struct heddle_run {
	heddle_arena *arena; /* the caller's: messages and findings go there */
	/* in */
	const heddle_manifest *manifest;
	const char *source;	  /* text of the source */
	const char *source_path;  /* as named in findings */
	const int64_t *size;	  /* values, in manifest order */
	heddle_array *const *argument; /* [manifest->n_argument]: inputs, outputs (poisoned before, results after), inouts;
					* NULL for temporaries and sizes; rank-0 arrays for scalars */
	int misalign;		  /* elements by which every base pointer is moved from its natural alignment */
	double timeout;		  /* seconds; 0: 60 */
	uint64_t seed;		  /* for shuffled orders */
	int max_spill;		  /* compile: bytes of spills, or of stack, per thread that are no fault; negative: any */
	int repeat;		  /* > 0: also time this many runs (device and opencl-cpu) */
	const char *device;	  /* opencl-cpu, device: which one; NULL: first */
	/* out */
	heddle_verdict verdict;
	const char *message; /* one line */
	int n_finding;
	heddle_finding *finding;
	const char *printed; /* by the kernels, the first of it; NULL: nothing */
	double *seconds; /* [repeat] kernel times of all launches together, in `arena` */
	/* compile level, greatest over kernels; -1 unknown */
	int registers, spill_bytes, stack_bytes, shared_bytes;
} heddle_run;

/* One way of running or compiling ("emulate", "opencl-cpu:pocl", "compile:nvrtc"): a row of a visible, NULL-ended list.  A
 * runner works in this process; the harness forks around it, with the time limit. */
typedef struct heddle_runner {
	const char *level;   /* "emulate", "opencl-cpu", "compile", "device" */
	const char *name;    /* "emulator", "pocl", "rusticl", "oclgrind", "nvrtc", "clang-amd", "hiprtc", "spirv", ... */
	const char *backend; /* of the manifest that it takes; */
	/* 1 when usable here, 0 when not; `*why` then says what is missing and the command that adds it. */
	int (*available)(heddle_ctx *ctx, const char **why);
	/* Fills the out fields; 0, or -1 on an internal fault (with a diagnostic). */
	int (*run)(heddle_ctx *ctx, heddle_run *run);
	bool other_process; /* what it runs is in a process of its own, with a time limit: it needs no child around it */
	bool simulator; /* goes through each instruction: picked sizes only with small tiles, unless thorough */
	bool slow;	/* takes minutes where others take seconds: a test runs it where it is named, or when thorough */
	/* Starting it takes long (a GPU's driver: 0.3 s): take hold of it, so that further runs of this process start at once.
	 * NULL: each run has a child of its own.  0, or -1 where it cannot be had. */
	int (*hold)(heddle_ctx *ctx);
	/* It ends the kernels at the time limit itself and says where they were: seconds that it gets for that and for compiling. */
	int grace;
} heddle_runner;

extern const heddle_runner *const heddle_runners[]; /* harness/runners.c, NULL-ended */

/* Does it run the kernels, or only take the text (the level `compile`), for which sizes and arrays are NULL? */
bool heddle_runner_runs(const heddle_runner *runner);

/* Run `runner->run` in a child process with a time limit; a crash or hang becomes a finding.  Output arrays come back.
 * A runner with `hold` keeps its child for the runs that follow, as long as they pass: what a fault leaves behind in a driver
 * must not meet the next one. */
int heddle_run_isolated(heddle_ctx *ctx, const heddle_runner *runner, heddle_run *run);

#endif
