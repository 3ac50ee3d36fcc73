/* Between the emulator (harness/emulate*.c) and the shared object made of a source and its shim: read by C and by C++.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_EMULATOR_ABI_H
#define HEDDLE_EMULATOR_ABI_H

#ifdef __cplusplus
extern "C" {
#endif

/* What of the launch the running thread sees. */
typedef struct heddle_emu_index {
	unsigned thread[3], block[3], block_dim[3], grid_dim[3];
	int linear, lane; /* of the thread in its block, and in its warp */
} heddle_emu_index;

enum { HEDDLE_EMU_READ = 1, HEDDLE_EMU_WRITE = 2, HEDDLE_EMU_ATOMIC = 4 };

typedef enum heddle_emu_warp_kind {
	HEDDLE_EMU_SYNC,    /* threads wait for each other; memory is ordered */
	HEDDLE_EMU_SHUFFLE, /* value becomes that of lane `source` */
	HEDDLE_EMU_VOTE,    /* vote: lanes whose value[0] is not 0 */
	HEDDLE_EMU_MATCH,   /* vote: lanes that hold the same value */
} heddle_emu_warp_kind;

/* One warp-wide operation of one thread. */
typedef struct heddle_emu_warp {
	heddle_emu_warp_kind kind;
	int masked;		 /* mask names who takes part; else all that arrive at this place */
	unsigned long long mask; /* only the bits of the warp count */
	int source;
	unsigned long long value[2]; /* in; out for SHUFFLE */
	unsigned long long vote, active; /* out; active: who took part */
	const char *name, *file;
	int line;
} heddle_emu_warp;

/* How the thread's predicate is combined over the block; NONE for a plain barrier. */
typedef enum heddle_emu_barrier { HEDDLE_EMU_NONE, HEDDLE_EMU_OR, HEDDLE_EMU_AND, HEDDLE_EMU_COUNT } heddle_emu_barrier;

/* What the emulator offers to the shared object. */
typedef struct heddle_emu_device {
	void *state;
	const heddle_emu_index *index;
	void (*access)(void *state, const volatile void *address, unsigned long size, int how, const void *pc);
	int (*barrier)(void *state, heddle_emu_barrier kind, int predicate, const char *file, int line);
	void (*warp)(void *state, heddle_emu_warp *operation);
	void (*fence)(void *state);
	/* A finding at a known place; `pc` tells where in the text, when the place is the shim's.  Does not come back when
	 * `stop`. */
	void (*fault)(void *state, const char *kind, const char *file, int line, const void *pc, int stop, const char *text);
} heddle_emu_device;

typedef struct heddle_emu_parameter {
	char kind; /* p pointer, f floating, i signed, u unsigned (also bool), ? another */
	unsigned char size;
} heddle_emu_parameter;

typedef struct heddle_emu_kernel {
	const char *name; /* as in the manifest */
	void (*function)(void);
	void (*call)(void (*function)(void), void *const *argument); /* each argument: address of its value */
	int n_parameter;
	const heddle_emu_parameter *parameter;
} heddle_emu_kernel;

/* What the shared object exports as `heddle_emu_object`. */
typedef struct heddle_emu_object {
	const heddle_emu_device **device; /* where the emulator leaves its own */
	int n_kernel;
	const heddle_emu_kernel *kernel;
	unsigned char *dynamic_shared;
	unsigned long dynamic_shared_size;
} heddle_emu_object;

#ifdef __cplusplus
}
#endif
#endif
