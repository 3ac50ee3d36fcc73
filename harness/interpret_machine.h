/* The interpreter inside: the flat form that a launch is compiled to, and the machine that runs it.
 *
 * A value lives in cells of 8 bytes: `width` members, each a run of T lanes (one per thread), or of one lane when the value is
 * the same in all threads ("scalar").  Integers are kept as int64 wrapped to their type, float64 as double, other floats as
 * float, packed from the start of each member's run.  Constants are runs of T lanes in a pool of their own.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_INTERPRET_MACHINE_H
#define HEDDLE_INTERPRET_MACHINE_H

#include "harness/interpret.h"
#include "harness/special.h"

/* Readers and writers that are no threads: several of them; copies that are over, under way; the copying itself. */
enum { MAX_SUBSCRIPTS = 16, MANY_READERS = 0xFFFF, COPIED = 0xFFFE, COPYING = 0xFFFD, COPIER = 0xFFFC, MAX_LANES = 4096 };

typedef enum lane_class { CLASS_INT, CLASS_FLOAT, CLASS_DOUBLE } lane_class;

/* Shadow of one element (of one granule of the workspace).  Epochs are one counter over the whole run, stepped at every block
 * start and barrier; 0: never, 1: before the first launch. */
typedef struct shadow {
	uint32_t write_epoch, read_epoch;
	uint32_t other_epoch; /* a read by an earlier block, once `read_epoch` is from a later one */
	uint16_t writer, reader;
} shadow;

/* The epochs that matter for a space: written since `valid` counts as initialised; from `launch` to the block's start are other
 * blocks of this launch. */
typedef struct era {
	uint32_t valid, launch, block, now;
} era;

/* A buffer at run time. */
typedef struct memory {
	const heddle_buffer *buffer;
	heddle_space space;
	lane_class class;
	int size; /* bytes of one member */
	int64_t extent[MAX_SUBSCRIPTS];
	int64_t stride[MAX_SUBSCRIPTS]; /* in elements, padding included */
	unsigned char *hole; /* [total] 1: an element between those of declared strides; NULL: none */
	int64_t total;			/* elements that a linearised access may name */
	int64_t members;		/* total * buffer->width */
	unsigned char *data;
	shadow *shadow; /* NULL: inputs (never written) and registers */
	uint16_t *owner; /* workspace: 1 + position of the buffer that wrote the granule */
	int granules;	 /* of shadow per member */
	unsigned char *written; /* registers: [members][T] */
	heddle_array *copy_of;	/* not dense: `data` is a dense copy of this array */
	heddle_interpret_traffic *traffic; /* of this launch */
} memory;

typedef struct operand {
	int at; /* cells; below 0: -1 - lane 0 in the constant pool */
	bool scalar;
	bool constant; /* reads as scalar or not */
} operand;

typedef struct access {
	memory *memory;
	int n;
	operand subscript[MAX_SUBSCRIPTS];
	int width;
	bool scalar; /* all subscripts are */
	int node;
	int line;
} access;

typedef enum op_code {
	OP_COPY,      /* a, for active lanes only */
	OP_BROADCAST, /* scalar a to all lanes */
	OP_NEGATE,
	OP_NOT,
	OP_BINARY,
	OP_FLOOR_DIV,
	OP_FLOOR_MOD,
	OP_BLEND,  /* a ? b : c, all evaluated */
	OP_SELECT, /* a ? the next `then` ops : the `otherwise` ops after them */
	OP_CAST,
	OP_CALL,
	OP_FMA,
	OP_SPLAT,
	OP_REDUCE,
	OP_SHUFFLE,
	OP_LOAD,
} op_code;

typedef struct op {
	op_code code;
	heddle_op operator;
	heddle_type type; /* of the result; comparisons: of the operands */
	heddle_type from; /* CAST: of the operand */
	bool random; /* CALL: random_bits */
	lane_class class; /* of the operands */
	int width;	  /* members of the result; REDUCE: of the operand */
	bool scalar;
	bool wide_condition; /* BLEND: the condition has one member per member */
	int a_stride;	     /* cells between members of the operands */
	int d, a, b, c;
	int e;	       /* CALL: fourth argument */
	int64_t i;     /* SHUFFLE: mask */
	int then, otherwise, mask;
	int flops;     /* per lane and member */
	access *access;
	const heddle_special *special;
	double (*one)(double);
	double (*two)(double, double);
	int node, line;
} op;

typedef struct step {
	const heddle_node *node;
	int from, to; /* ops to run first */
	operand value[2];
	access *access;
	access *source; /* COPY */
	memory *memory;
	int variable; /* LET, FOR: cell */
	bool scalar;
	int width;
	heddle_type type;
	int mask;
	int n_child;
	struct step **child;
} step;

/* A copy that was started: what it will have brought when it is waited for. */
typedef struct pending_copy {
	const char *name;
	memory *memory;
	int64_t first, count; /* members */
	unsigned char *data;
} pending_copy;

/* Which lanes take part.  dense: all of lo .. hi. */
typedef struct mask {
	const uint8_t *lane;
	int lo, hi, count;
	bool dense;
} mask;

/* A loop that all lanes run alike, where it is. */
typedef struct loop_round {
	const char *name;
	const int64_t *iterator;
	const struct loop_round *outer;
} loop_round;

typedef struct machine {
	heddle_ctx *ctx;
	heddle_interpret *in;
	const heddle_program *p;
	memory *memory; /* [n_buffer] */
	unsigned char *workspace;
	int64_t workspace_bytes;
	shadow *workspace_shadow;
	uint16_t *workspace_owner;
	int granule;
	float *half; /* value of every float16 */
	bool stop;
	bool broken; /* an internal error was recorded */
	double deadline;
	const loop_round *round; /* the innermost loop that runs */
	uint64_t next_look; /* operations at which the clock is read again */
	uint32_t now, launch_start, block_start; /* epochs */
	/* of the launch */
	int position;
	const heddle_launch *launch;
	heddle_interpret_launch *count;
	int lanes;
	int warp;
	int n_op, op_capacity;
	op *op;
	int top, most; /* cells in use while compiling */
	int n_mask;
	int n_constant;
	struct constant {
		lane_class class;
		uint64_t bits;
	} *constant;
	heddle_arena *arena; /* of the compiled launch */
	step *body;
	uint64_t *cell;
	uint64_t *pool; /* [n_constant][lanes] */
	uint8_t *masks; /* [n_mask][lanes] */
	int64_t *offset; /* [lanes] scratch of one access */
	int64_t block;
	int block_cell, thread_cell;
	int n_pending, pending_capacity;
	pending_copy *pending;
} machine;

/* interpret_compile.c: fills op, body, constants; -1 with E0950. */
int heddle_machine_compile(machine *m, const heddle_launch *launch);
/* interpret_run.c: one block. */
void heddle_machine_block(machine *m);
/* Record a finding unless this node has one of the kind already. */
void heddle_machine_find(machine *m, const char *kind, int node, int line, int thread, const char *format, ...)
	HEDDLE_PRINTF(6, 7);

/* ---- interpret_lanes.c ---- */

void heddle_machine_binary(const machine *m, const op *o, int lo, int hi);
uint16_t heddle_machine_float16_from(float f);
uint16_t heddle_machine_bfloat16_from(float f);
float heddle_machine_round_float(const machine *m, heddle_type type, float f);
void heddle_machine_cast_lanes(const machine *m, const op *o, void *result, const void *argument, int lo, int hi);
void heddle_machine_call_lanes(const machine *m, const op *o, const mask *k, int lo, int hi);
void heddle_machine_fma_lanes(const op *o, void *result, const void *a, const void *b, const void *c, int lo, int hi);
void heddle_machine_negate_lanes(const op *o, void *result, const void *argument, int lo, int hi);
void heddle_machine_copy_lanes(lane_class class, void *result, const void *argument, const mask *k, int lo, int hi);
/* One number to lanes lo .. hi: `argument` points at it. */
void heddle_machine_spread(lane_class class, void *result, const void *argument, int lo, int hi);
void heddle_machine_blend_lanes(lane_class class, void *result, const int64_t *c, const void *a, const void *b,
				int lo, int hi);
void heddle_machine_floor_lanes(const op *o, int64_t *d, const int64_t *a, const int64_t *b, int lo, int hi);
/* Halves are combined until one member is left; the operand's cells are scratch by then. */
void heddle_machine_reduce(const machine *m, const op *o, int lo, int hi);
void heddle_machine_check_divisor(machine *m, const op *o, const mask *k, int lo, int hi);
void heddle_machine_shuffle(machine *m, const op *o, const mask *k);

/* ---- interpret_watch.c ---- */

/* Member numbers of the accesses of lanes lo .. hi into m->offset; false after a finding. */
bool heddle_machine_locate(machine *m, const access *x, const mask *k, int lo, int hi, const char *verb);
void heddle_machine_check_alignment(machine *m, const access *x, const mask *k, int lo, int hi);
void heddle_machine_find_uninitialised(machine *m, const access *x, int lane, int64_t member, const char *why);
era heddle_machine_era_of(const machine *m, const memory *mem);
void heddle_machine_shadow_read(machine *m, const access *x, const era *e, shadow *s, int lane, int64_t member);
void heddle_machine_shadow_write(machine *m, const access *x, const era *e, shadow *s, int lane, int64_t member);
/* Workspace: several granules may make one member, and another temporary may have lived there. */
void heddle_machine_watch_granules(machine *m, const access *x, const era *e, int lane, int64_t member, bool write);
void heddle_machine_watch(machine *m, const access *x, const mask *k, bool write);
void heddle_machine_count_access(const machine *m, const access *x, const mask *k, bool write);

/* ---- interpret_move.c ---- */

unsigned char *heddle_machine_register_written(const machine *m, const memory *mem, int64_t member);
void heddle_machine_load(machine *m, const op *o, const mask *k);
void heddle_machine_store(machine *m, const step *s, const mask *k);
/* What is copied is taken at once and arrives when it is waited for; until then the tile holds nothing that may be read. */
void heddle_machine_copy(machine *m, const step *s, const mask *k);
void heddle_machine_wait(machine *m, const step *s, const mask *k);
/* At the end of a block nothing may be under way. */
void heddle_machine_end_copies(machine *m);

static inline lane_class class_of(heddle_type type)
{
	if (!heddle_type_is_float(type))
		return CLASS_INT;
	return type == HEDDLE_FLOAT64 ? CLASS_DOUBLE : CLASS_FLOAT;
}

static inline void *cells(const machine *m, int at)
{
	return at >= 0 ? (void *)(m->cell + at) : (void *)(m->pool - 1 - at);
}

static inline bool active(const mask *k, int lane)
{
	return k->dense || k->lane[lane];
}

static inline int first_lane(const mask *k)
{
	int l = k->lo;
	while (!active(k, l))
		l++;
	return l;
}

#endif
