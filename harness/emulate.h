/* The validation level `emulate`: text compiled for the host against a shim and run thread by thread under watch.
 *
 *   backends/emulator/text.c   text -> text that a host C++ compiler takes
 *   emulate_build.c   text -> shared object (cached), its variables, its lines
 *   emulate_errors.c  what the compiler rejects
 *   emulate_fiber.c   switching between threads
 *   emulate_device.c  blocks, barriers, warps
 *   emulate_crash.c   signals under a thread
 *   emulate_shadow.c  accesses: bounds, races, uninitialised reads
 *   emulate.c         the runner
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_EMULATE_H
#define HEDDLE_EMULATE_H

#include "backends/emulator/abi.h"
#include "backends/emulator/text.h"
#include "harness/level.h"

#include <signal.h>

/* What a runner of this level does: heddle_runner.available and .run. */
int heddle_emulate_available(heddle_ctx *ctx, const char **why);
int heddle_emulate_run(heddle_ctx *ctx, heddle_run *run);

/* The names under which the text and the launcher are compiled; debug information gives them back. */
#define HEDDLE_EMULATE_SOURCE "heddle-source"
#define HEDDLE_EMULATE_LAUNCHER "heddle-launcher"
/* ---- emulate_build.c ------------------------------------------------------------------------------------------------- */

/* A variable of the shared object. */
typedef struct heddle_emulate_variable {
	const char *name;
	uint64_t offset, size; /* from the object's base */
	bool shared;
	bool flag; /* the compiler's own */
} heddle_emulate_variable;

typedef struct heddle_emulate_build {
	heddle_verdict verdict; /* HEDDLE_PASS: compiled; else `message`, and for FAIL a finding */
	const char *message;
	heddle_finding finding;
	char path[1024]; /* of the shared object */
	char folder[512]; /* to be removed after use; "" when the object came from the cache */
	int n_variable;
	heddle_emulate_variable *variable; /* sorted by offset */
} heddle_emulate_build;

/* The C++ compiler's full path, in `arena`; NULL: none. */
const char *heddle_emulate_compiler(heddle_arena *arena);
/* Compile for the run's manifest and source.  0 with the verdict filled, or -1 on an internal fault (diagnostic). */
int heddle_emulate_compile(heddle_ctx *ctx, const heddle_run *run, heddle_emulate_build *build);
/* For each of `n` offsets into the object: file (in `arena`; NULL unknown) and line (0 unknown) in the user's text. */
void heddle_emulate_lines(heddle_ctx *ctx, heddle_arena *arena, const heddle_emulate_build *build, const char *source_path,
			  int n, const uint64_t *offset, const char **file, int *line);
/* Is this file of debug information the shim's own or the launcher? */
bool heddle_emulate_is_shim(const char *name);
/* The name by which a finding names a file of debug information. */
const char *heddle_emulate_file(heddle_arena *arena, const char *name, const char *source_path);

/* ---- emulate_errors.c ------------------------------------------------------------------------------------------------ */

/* Is it a name of CUDA's or HIP's device language, which the shim has or lacks?  For compilers with less than the shim. */
bool heddle_emulate_is_language(const char *name);
/* Fill the build's verdict, message and finding from what the compiler printed when it failed. */
void heddle_emulate_judge(heddle_arena *arena, const heddle_run *run, const char *output, heddle_emulate_build *build);

/* ---- emulate_fiber.c ------------------------------------------------------------------------------------------------- */

/* A context that can be switched away from: opaque stack pointer or ucontext. */
typedef struct heddle_fiber {
	void *stack_pointer;
	void *context;
} heddle_fiber;

/* Make a fiber that runs entry(data) on [stack, stack + size) when first switched to; entry must never return. */
void heddle_fiber_make(heddle_fiber *fiber, void *stack, size_t size, void (*entry)(void *), void *data);
void heddle_fiber_switch(heddle_fiber *from, heddle_fiber *to);
void heddle_fiber_free(heddle_fiber *fiber);

/* ---- emulate_shadow.c ------------------------------------------------------------------------------------------------ */

/* One access that a cell remembers.  epoch 0: none. */
typedef struct heddle_touch {
	uint32_t epoch;	     /* barrier interval, counted over the whole run */
	uint32_t warp_epoch; /* of the thread at the time */
	uint32_t pc;	     /* offset in the object */
	uint16_t thread;
	uint16_t atomic;
} heddle_touch;

/* What is known of 2^shift bytes: the last write and two reads by different threads since. */
typedef struct heddle_cell {
	heddle_touch write, read, other_read;
} heddle_cell;

typedef struct heddle_region {
	const char *name;
	uintptr_t low, high;
	bool shared;	  /* of one block; forgotten between blocks */
	bool writable;	  /* by the kernel */
	bool initialised; /* from the start */
	bool active;	  /* given to the running launch */
	const heddle_argument *argument; /* NULL: shared, workspace, variables */
	int64_t shape[HEDDLE_MAX_RANK], stride[HEDDLE_MAX_RANK];
	int element;	      /* bytes; 0: unknown */
	const unsigned char *hole; /* [elements] 1: between the rows of a strided tensor; NULL: dense */
	int shift;
	size_t n_cell;
	heddle_cell *cell; /* NULL: never written, nothing to watch */
	struct heddle_part *part; /* workspace: temporaries */
	int n_part;
} heddle_region;

/* A temporary in the workspace. */
typedef struct heddle_part {
	const char *name;
	uintptr_t low, high;
	bool active, used; /* by the running launch; by an earlier one */
} heddle_part;

/* A finding before its lines are known. */
/* Places of a thread that does not end: some are in the emulator's own code. */
enum { HEDDLE_EMULATE_SAMPLES = 8 };

typedef struct heddle_suspicion {
	const char *kind;
	const char *file; /* known place; NULL: `pc` */
	int line;
	uint32_t pc;
	bool has_other;
	uint32_t other_pc; /* the other access of a race */
	const char *text;
} heddle_suspicion;

typedef struct heddle_emulator heddle_emulator;

enum { HEDDLE_EMULATE_SIGNALS = 5 }; /* that are caught under a thread */

/* Watch [low, low + size).  Cells are made unless it is never written. */
heddle_region *heddle_shadow_add(heddle_emulator *e, const char *name, void *low, size_t size, int element, bool watched);
void heddle_shadow_sort(heddle_emulator *e); /* after the last add */
void heddle_shadow_forget(heddle_region *region, uintptr_t low, uintptr_t high); /* as never written */
void heddle_shadow_access(void *state, const volatile void *address, unsigned long size, int how, const void *pc);
void heddle_shadow_free(heddle_emulator *e);
void heddle_suspect(heddle_emulator *e, const heddle_suspicion *suspicion);

/* ---- emulate_device.c ------------------------------------------------------------------------------------------------ */

typedef enum heddle_thread_state {
	HEDDLE_THREAD_NEW,
	HEDDLE_THREAD_READY,
	HEDDLE_THREAD_BARRIER,
	HEDDLE_THREAD_WARP,
	HEDDLE_THREAD_DONE,
} heddle_thread_state;

typedef struct heddle_thread {
	heddle_thread_state state;
	heddle_fiber fiber;
	int stack; /* number of its stack; -1: none */
	uint32_t warp_epoch;
	bool fenced;
	unsigned index[3];
	heddle_emu_barrier barrier;
	int predicate, result;
	const char *file; /* where it waits */
	int line;
	heddle_emu_warp *warp;
} heddle_thread;

/* A block that has run in this launch: for races between blocks. */
typedef struct heddle_block_record {
	uint32_t epoch; /* its first */
	int64_t block;
	bool published; /* fence, then atomic */
} heddle_block_record;

struct heddle_emulator {
	heddle_arena *arena; /* the run's */
	heddle_emu_device device;
	heddle_emu_index index;
	uintptr_t base; /* of the shared object */
	uintptr_t image_low, image_high; /* of the object in memory */
	uintptr_t data_low, data_high;	 /* its writable part */
	int warp;
	uint64_t random;
	/* threads */
	int n_thread;
	heddle_thread *thread;
	int current;
	heddle_fiber main;
	unsigned char *stacks;
	size_t stack_size;
	int n_stack, n_free;
	int *free_stack;
	bool stop;
	/* the launch */
	const heddle_emu_kernel *kernel;
	void **value; /* of its parameters */
	int64_t block;
	int n_record, record_capacity;
	heddle_block_record *record;
	bool acquired; /* the block has done an atomic operation */
	uint32_t epoch, launch_epoch, block_epoch, warp_epoch;
	/* memory */
	int n_region;
	heddle_region **region;
	heddle_region *recent[64];
	int n_suspicion, suspicion_capacity;
	heddle_suspicion *suspicion;
	bool unsupported; /* found while running; its text says what */
	/* signals */
	volatile sig_atomic_t late; /* the time is over: to be told at the next access or barrier */
	double limit;	    /* seconds that the launches may take */
	bool in_thread;	    /* the user's code runs, not the scheduler */
	uint32_t recent_pc; /* of the last access */
	int n_late;
	uint32_t late_pc[HEDDLE_EMULATE_SAMPLES]; /* where the thread was once the time was over */
	void *handler_map;  /* the handlers' stack; NULL: signals are not caught */
	stack_t old_stack;
	struct sigaction old_action[HEDDLE_EMULATE_SIGNALS];
};

void heddle_device_setup(heddle_emulator *e, heddle_arena *arena, int warp, uint64_t seed);
/* Run one launch whole; afterwards `stop` says whether it ended early. */
void heddle_device_launch(heddle_emulator *e, const heddle_emu_kernel *kernel, void **value, const int64_t grid[3],
			  const int block[3]);
void heddle_device_free(heddle_emulator *e);
/* "thread 3 of block 5", in the arena. */
const char *heddle_device_where(const heddle_emulator *e, int thread, int64_t block);
/* Leave the running thread for good and end the run.  Called from inside a thread. */
void heddle_device_stop(heddle_emulator *e);
uint32_t heddle_device_random(heddle_emulator *e, uint32_t bound);

/* ---- emulate_crash.c ------------------------------------------------------------------------------------------------- */

/* Turn signals of the machine, and the end of `seconds`, into findings of the running thread, until released; pairs. */
void heddle_crash_catch(heddle_emulator *e, double seconds);
/* The time is over, in the running thread at this line or, with `file` NULL, at `pc`: the run ends. */
void heddle_crash_late(heddle_emulator *e, const char *file, int line, uint32_t pc);
void heddle_crash_release(heddle_emulator *e);

#endif
