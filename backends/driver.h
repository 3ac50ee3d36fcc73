/* Drivers: how a device is opened, given a source, and launched, one row of functions per vendor's driver, and compilers:
 * how a source is checked without a device.  Everything is opened at run time; nothing of a vendor is linked.
 *
 * A driver knows no tensors and no manifest: harness/device.c does what is the same for all (sizes, guards, copies, checks).
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_DRIVER_H
#define HEDDLE_DRIVER_H

#include "base/base.h"

typedef struct heddle_driver heddle_driver;

/* What a memory checker or a compiler says about one place. */
typedef struct heddle_fault {
	const char *kind; /* race, bounds, uninitialised, barrier, crash, compile, spill, limit, unsupported */
	const char *file; /* NULL: unknown */
	int line;
	const char *text;
} heddle_fault;

typedef struct heddle_faults {
	int n;
	heddle_fault *fault;
} heddle_faults;

/* An opened device.  Strings live in `arena`. */
typedef struct heddle_device {
	const heddle_driver *driver;
	heddle_arena *arena;
	const char *name;	 /* "NVIDIA H200" */
	const char *version;	 /* of the driver, as it says it */
	const char *arch;	 /* what its compiler calls it ("sm_90"); "" when the driver compiles for itself */
	uint64_t memory_bytes;	 /* all of it; 0: unknown */
	int64_t max_threads;	 /* of a block; 0: unknown */
	int64_t max_shared;	 /* bytes of a block; 0: unknown */
	int64_t warp;		 /* 0: unknown */
	bool exact_bounds;	 /* it checks each access itself: no guards, no poison, buffers end with their tensor */
	const char *remark;	 /* what it did not look at this time; NULL: nothing */
	const char *message;	 /* of the last failure */
	const char *failure;	 /* its kind, as in heddle_fault; NULL: a fault of the driver or of us */
	void *state;
} heddle_device;

typedef struct heddle_device_memory {
	uint64_t handle; /* address or object */
	size_t bytes;
} heddle_device_memory;

typedef struct heddle_source_build {
	const char *source;
	const char *name;	     /* as the compiler shall call it */
	const char *arch;	     /* for compilers; "" or NULL: they have no such option */
	int warp;		     /* lanes that the text was made for; 0: unknown */
	const char *const *option;   /* NULL-ended */
	const char *const *kernel;   /* names to be launched, NULL-ended: plain, mangled by the compiler, or instances f<3> */
	bool foreign; /* somebody else's text: functions without __device__ may be meant for the device */
} heddle_source_build;

typedef struct heddle_launch_argument {
	const heddle_device_memory *buffer; /* NULL: by value */
	size_t offset;		     /* bytes into the buffer */
	unsigned char value[16];
	size_t size; /* of the value */
	bool local;  /* shared memory of `size` bytes instead (OpenCL) */
} heddle_launch_argument;

typedef struct heddle_kernel_launch {
	void *kernel;
	int64_t grid[3];
	int block[3];
	size_t shared_bytes; /* dynamic */
	int n_argument;
	heddle_launch_argument *argument;
} heddle_kernel_launch;

/* Functions return 0, or -1 with device->message (and device->failure where the kernel is to blame). */
struct heddle_driver {
	const char *level;   /* "opencl-cpu", "device" */
	const char *name;    /* "pocl" */
	const char *backend; /* the dialect it takes */
	const char *options; /* which options of the manifest: "nvrtc", "hipcc", "opencl" */
	bool joined_options; /* it takes them as one text, without quoting */
	bool simulator;	     /* it goes through each instruction by itself: its times say nothing */
	bool device_only;    /* a source may hold host functions, which its compiler does not take */
	const char *install; /* how to add it */
	const void *words;   /* the driver's own */
	/* Names of its devices and versions as lines "name\tversion"; 0, or -1 with `*why`.  May change the process: call it in
	 * a child. */
	int (*list)(const heddle_driver *driver, heddle_arena *arena, heddle_text *out, const char **why);
	/* Open the device of this number or (part of the) name, NULL: the first.  0; -1 with `*why`: there is none. */
	int (*open)(const heddle_driver *driver, heddle_arena *arena, const char *which, heddle_device *device,
		    const char **why);
	void (*close)(heddle_device *device);
	/* Compile and load; `log` gets what the compiler said either way. */
	int (*build)(heddle_device *device, const heddle_source_build *build, heddle_text *log);
	int (*kernel)(heddle_device *device, const char *name, void **kernel);
	/* Does the kernel take as many arguments as the launch has?  NULL: it cannot be asked. */
	int (*check_arguments)(heddle_device *device, const heddle_kernel_launch *launch);
	/* 1 when a kernel can be given a buffer from `offset` on. */
	int (*can_move)(heddle_device *device, size_t offset);
	int (*allocate)(heddle_device *device, size_t bytes, heddle_device_memory *buffer);
	void (*release)(heddle_device *device, heddle_device_memory *buffer);
	int (*upload)(heddle_device *device, const heddle_device_memory *buffer, size_t offset, const void *data, size_t bytes);
	int (*download)(heddle_device *device, const heddle_device_memory *buffer, size_t offset, void *data, size_t bytes);
	int (*fill)(heddle_device *device, const heddle_device_memory *buffer, size_t offset, unsigned char byte, size_t bytes);
	/* Launch all in order and wait.  With repeat > 0: so many times, seconds[i] the i-th time of all together as the
	 * device measured it. */
	int (*launch)(heddle_device *device, int n, const heddle_kernel_launch *launch, int repeat, double *seconds);
	/* What its checker found so far; NULL: it has none. */
	int (*faults)(heddle_device *device, const char *source_path, heddle_faults *out);
};

/* ---- compilers ------------------------------------------------------------------------------------------------------ */

typedef struct heddle_kernel_resources {
	const char *kernel;
	int registers, spill_bytes, stack_bytes, shared_bytes; /* -1: unknown */
	int library_stack; /* as much of stack_bytes is the vendor's own mathematical functions' */
} heddle_kernel_resources;

typedef struct heddle_compiled {
	bool fine;	 /* it was accepted */
	heddle_text log; /* of all tools */
	void *binary;	 /* malloc'ed; may be NULL */
	size_t binary_bytes;
	int n_kernel;
	heddle_kernel_resources *kernel;
} heddle_compiled;

typedef struct heddle_compiler {
	const char *name;    /* "spirv" */
	const char *backend; /* the dialect it takes */
	const char *options; /* which options of the manifest */
	const char *install; /* how to add it */
	const char *const *sample_arch; /* NULL-ended: what it is asked to prove in doctor and tests; NULL: no arch */
	const char *unknown_arch; /* what it says of an arch that it does not know, or no more; NULL: takes() tells them apart */
	const void *words;
	bool device_only; /* a source may hold host functions, which it does not take */
	bool own_headers; /* our text stands in for the vendor's headers: a name that it lacks is no fault of the source */
	/* 0 with `*version`; -1 with `*why`. */
	int (*find)(const struct heddle_compiler *compiler, heddle_ctx *ctx, heddle_arena *arena, const char **version,
		    const char **why);
	/* 1 when it knows that arch. */
	int (*takes)(const struct heddle_compiler *compiler, const char *arch);
	/* 0 with `*out` (freed by heddle_compiled_free), accepted or not; -1 with a diagnostic when the tool itself fails. */
	int (*compile)(const struct heddle_compiler *compiler, heddle_ctx *ctx, heddle_arena *arena,
		       const heddle_source_build *build, heddle_compiled *out);
} heddle_compiler;

void heddle_compiled_free(heddle_compiled *compiled);
/* The errors (and no warnings) of a compiler's log: "file:1:2: error: ..", "file(1): error: ..".  File names that the
 * source itself does not give in a #line become `source_path`.  A log without any such line gives one fault with its head. */
void heddle_log_errors(heddle_arena *arena, const char *log, const char *source, const char *source_path,
		       heddle_faults *out);
/* Append one. */
void heddle_fault_add(heddle_arena *arena, heddle_faults *faults, const char *kind, const char *file, int line,
		      const char *text);

/* The lists, NULL-ended. */
extern const heddle_driver *const heddle_drivers[];
extern const heddle_compiler *const heddle_compilers[];
/* Whatever a vendor-neutral loader shows: to be listed, not to be run on. */
extern const heddle_driver *const heddle_loaders[];

/* Open the first of these libraries (NULL-ended; "$NAME" and "$NAME/lib" take an environment variable) that loads; NULL:
 * none. */
void *heddle_library_open(const char *const *names);
/* An environment variable at the begin ("$CUDA_HOME/include") replaced; NULL when it is not set. */
const char *heddle_path_expand(heddle_arena *arena, const char *path);

#endif
