/* Architecture descriptors: what Heddle knows about a chip, read from YAML.  See DESIGN section 7 and doc/arch.md.
 *
 * A value that no file in the inheritance chain gives is "unset": numbers are 0 and `set` is false.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_DESCRIPTOR_H
#define HEDDLE_DESCRIPTOR_H

#include "base/base.h"

/* A sourced quantity, converted to its base unit (bytes, count, Hz, bytes/s, seconds, flop/s). */
typedef struct heddle_quantity {
	double value;
	bool set;
	bool assumed;	    /* a guess, no source */
	const char *source; /* where it was read; NULL only when assumed or derived */
	const char *unit;   /* as written: "KiB" */
	const char *from;   /* name of the descriptor that states it (inheritance) */
} heddle_quantity;

typedef enum heddle_execution {
	HEDDLE_SIMT, /* blocks of many threads in warps */
	HEDDLE_SIMD, /* blocks of one thread with vectors */
} heddle_execution;

/* One level of memory, from "register" outward: register, shared, l1, l2, l3, global. */
typedef struct heddle_memory {
	const char *name;
	heddle_quantity size;	   /* bytes per scope instance */
	heddle_quantity line;	   /* bytes per cache line */
	heddle_quantity sector;	   /* bytes of the least transfer */
	heddle_quantity ways;	   /* lines that one set of a cache holds */
	heddle_quantity banks;	   /* count */
	heddle_quantity bank_width; /* bytes */
	heddle_quantity bandwidth; /* bytes/s of all instances together */
	heddle_quantity unit_bandwidth; /* bytes/s of one unit alone */
	heddle_quantity latency;   /* seconds */
	const char *scope;	   /* thread, block, unit, device */
} heddle_memory;

/* Peak arithmetic rate of one type, without matrix instructions. */
typedef struct heddle_type_rate {
	heddle_type type;
	heddle_quantity flops; /* flop/s of the chip, FMA counted as two */
} heddle_type_rate;

typedef struct heddle_matrix_instruction {
	const char *name;
	int m, n, k, lanes;
	heddle_type a, b, c;
	heddle_quantity flops;
} heddle_matrix_instruction;

/* A way of copying that goes on beside the threads: all threads of a block start it together and wait for it.  Its words are the
 * dialect's `copy.NAME`. */
typedef struct heddle_copy {
	const char *name;
	const char *from, *to;	     /* "global", "shared" */
	int dimensions;		     /* 1: consecutive elements */
	heddle_quantity alignment;   /* bytes that both addresses must be a multiple of */
	heddle_quantity granularity; /* bytes that the length must be a multiple of */
	bool preferred;		     /* where it can be used, it is */
} heddle_copy;

/* A command with placeholders {source}, {output}, {arch}, {options}; NULL-ended. */
typedef struct heddle_command {
	const char **argv;
	int n;
} heddle_command;

/* What compilers take of a thread's registers for what a kernel does, beside those for the words that it keeps. */
typedef struct heddle_register_weights {
	heddle_quantity base;	/* of any kernel */
	heddle_quantity tile;	/* tile in shared memory */
	heddle_quantity access; /* of memory, by a statement: its address */
	heddle_quantity operand; /* word read of tiles in a round: the next round's too, or a part of them */
	heddle_quantity load;	 /* word asked for at once */
	heddle_quantity tap;	/* word that a window's taps read of tiles beside those of one */
	heddle_quantity spare;	/* up to so many registers things are asked for ahead, or done side by side */
} heddle_register_weights;

/* Instructions that a unit begins in a clock: of a warp (simt), or of one thread on vector registers (simd).  Not set: as `fma`, which
 * itself follows from the rate of float32 and the clock. */
typedef struct heddle_issue {
	heddle_quantity all; /* of all classes together */
	heddle_quantity fma, compare, integer, special, convert, permute, shuffle;
	heddle_quantity shared, global; /* loads, and stores where `store` is not set */
	heddle_quantity store, branch;
	heddle_quantity line; /* no instruction: cache lines that the first cache looks up for all requests of warps */
} heddle_issue;

/* Clocks from an instruction to one that needs its result; memory's are seconds in its levels.  Not set: as `fma`. */
typedef struct heddle_latency {
	heddle_quantity fma, special, permute, shuffle, barrier;
} heddle_latency;

typedef struct heddle_descriptor {
	const char *name; /* "h200" */
	const char *inherits;
	const char *title; /* "NVIDIA H200 SXM" */
	int n_alias;
	const char **alias;   /* "sm_90a" ... */
	const char *backend;  /* the dialect it speaks by default: "cuda", "hip", "opencl" */
	const char *compile_arch; /* what that dialect's compilers call it: "sm_90a", "gfx942", "" */
	int n_define;
	const char **define;  /* macros of those compilers: "__gfx942__", "__CUDA_ARCH__=900" */
	bool abstract;	      /* only to be inherited from */
	heddle_execution execution;
	heddle_quantity units;		    /* processors that hold blocks (SM, CU, core) */
	heddle_quantity clock;		    /* Hz */
	heddle_quantity warp;		    /* threads; for simd: 1 */
	heddle_quantity threads_per_block;  /* limit */
	heddle_quantity threads_per_unit;
	heddle_quantity blocks_per_unit;
	heddle_quantity registers_per_unit; /* 32-bit registers */
	heddle_quantity registers_per_thread;
	heddle_quantity register_granularity; /* registers are given to a warp in multiples of this many per thread */
	heddle_register_weights registers;
	heddle_quantity schedulers;	      /* parts of a unit with registers and warps of their own */
	heddle_quantity scalar_registers;     /* of a warp, for what its threads have in common; not set: each thread has that in its own */
	heddle_quantity shared_per_block;   /* bytes a block may use */
	heddle_quantity shared_per_block_static; /* bytes a block may declare statically, when less */
	heddle_quantity shared_per_unit;
	heddle_quantity shared_granularity;
	heddle_quantity shared_reserved;   /* bytes that a block takes for the system */
	heddle_quantity grid_limit;	    /* blocks in a launch */
	heddle_quantity vector_bytes;	    /* widest load or store of one thread; for simd the vector register */
	heddle_quantity vector_registers;   /* simd: architectural vector registers */
	heddle_quantity launch_overhead;    /* seconds */
	heddle_issue issue;
	heddle_latency latency;
	heddle_quantity overlap;	    /* fraction of the other work that overlaps with the bottleneck: 0 to 1 */
	heddle_quantity chunk;		    /* neighbouring blocks that a unit takes at once, at most; not set: they are dealt out one by one */
	heddle_quantity window;		    /* instructions that a thread has under way; not set: it waits for each in order */
	heddle_quantity misses;		    /* cache lines that a unit waits for at the same time; not set: any number */
	heddle_quantity prefetch_streams;   /* runs that are followed at the same time, from one block to the next */
	heddle_quantity prefetch_start;	    /* bytes of a run from memory that come before it is followed; from caches fewer */
	heddle_quantity prefetch_reach;	    /* bytes of a run after which it begins anew; not set: nothing is followed, and warps hide it */
	bool unaligned_vectors;		    /* vector loads need element alignment only */
	bool streaming_stores;		    /* stores can go past the caches; others read what they write into first */
	bool prefetches;		    /* lines can be asked for ahead */
	bool shuffles;			    /* warp shuffles can be used */
	bool float64;			    /* double arithmetic */
	int n_memory;
	heddle_memory *memory;
	int n_rate;
	heddle_type_rate *rate;
	int n_matrix;
	heddle_matrix_instruction *matrix;
	int n_copy;
	heddle_copy *copy;
	heddle_command compiler; /* argv NULL: the dialect's own */
	heddle_command runner;
	bool runner_lines; /* it stays and is asked in lines; else it is started for each run, over a folder */
	const char *path; /* file it came from */
	heddle_location name_at, backend_at; /* where those are said, the backend perhaps in a parent */
} heddle_descriptor;

/* By name or alias, its inheritance resolved.  In the context's arena, read once.  NULL with a diagnostic: unknown (with
 * did-you-mean), or whatever is wrong in the file (E04xx with file and line). */
const heddle_descriptor *heddle_descriptor_find(heddle_ctx *ctx, const char *name);
/* A file by path, abstract or not, checked the same way. */
const heddle_descriptor *heddle_descriptor_read(heddle_ctx *ctx, const char *path);
/* The descriptor with one value changed: `key` is "shared_per_block", "l2.size" or "float32" (a rate), `value` a number with a unit
 * of the key's, or with K, M, G or T.  Checked as a file is; in the context's arena.  NULL with E0415 or what is wrong. */
const heddle_descriptor *heddle_descriptor_vary(heddle_ctx *ctx, const heddle_descriptor *descriptor, const char *key, const char *value);
/* Names of all descriptors that can be found (not the abstract ones), sorted, NULL-ended. */
const char *const *heddle_descriptor_names(heddle_ctx *ctx);
/* This machine's processor is the descriptor `host` (host.c).  The shipped descriptor that has its vectors: "cpu-avx2". */
const char *heddle_host_nearest(heddle_ctx *ctx);
bool heddle_descriptor_is_host(const heddle_descriptor *descriptor);
/* Where `host` looks for figures that were measured on it; NULL: nowhere.  The head of such a file: 0, or -1 with a diagnostic. */
const char *heddle_host_cache(heddle_ctx *ctx);
int heddle_host_begin(heddle_ctx *ctx, heddle_text *out);
/* Blocks of a launch at most; they are counted in 32 bits. */
int64_t heddle_descriptor_grid_limit(const heddle_descriptor *descriptor);
const heddle_memory *heddle_descriptor_memory(const heddle_descriptor *descriptor, const char *name); /* NULL: none */
/* How memory serves the accesses of a warp: global memory by whole sectors, shared memory by one word of each bank a cycle.  What the
 * descriptor leaves open is as in the generic GPU's. */
typedef struct heddle_transfer {
	int sector;     /* bytes, at most HEDDLE_MOST_SECTOR */
	int line;       /* bytes, of the first cache */
	int ways;       /* lines that one of its sets holds; 0: not known, or hashed */
	int way;        /* bytes between addresses that map to one set */
	double lines;   /* that the first cache looks up in a clock; not known: infinite */
	int cache_banks; /* of the first cache's data, bank_width wide; 0: it has none */
	int banks;      /* at most HEDDLE_MOST_BANKS */
	int bank_width; /* bytes of a word */
	int streams;    /* runs of memory that prefetchers follow at the same time; 0: not known */
} heddle_transfer;
enum { HEDDLE_MOST_SECTOR = 256, HEDDLE_MOST_BANKS = 256 };
heddle_transfer heddle_descriptor_transfer(const heddle_descriptor *descriptor);
const heddle_copy *heddle_descriptor_copy(const heddle_descriptor *descriptor, const char *name); /* NULL: none */
/* Peak flop/s for arithmetic in `type`; the float32 rate for types without their own; 0: unknown. */
double heddle_descriptor_rate(const heddle_descriptor *descriptor, heddle_type type);
/* Every set field as JSON (jansson) / as a table. */
struct json_t;
struct json_t *heddle_descriptor_json(const heddle_descriptor *descriptor);
/* A number in a base unit ("B", "FLOP/s"), in the unit that suits it: "3.35 TB/s". */
void heddle_quantity_show(double value, const char *base_unit, heddle_text *out);
/* A descriptor to be filled in: every field with its meaning, its units and what `parent` says, as comments. */
void heddle_descriptor_begin(const heddle_descriptor *parent, const char *name, heddle_text *out);
/* The reference of all fields and units, as tables of Markdown: a part of doc/arch.md. */
void heddle_descriptor_reference(heddle_text *out);
struct json_t *heddle_descriptor_reference_json(void);
void heddle_descriptor_show(const heddle_descriptor *descriptor, heddle_text *out);

#endif
