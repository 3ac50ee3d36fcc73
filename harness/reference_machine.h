/* Inside of the reference evaluator: tensors under evaluation, compiled expressions, strips.
 *
 * An expression is compiled to a tree of nodes; each node evaluates up to HEDDLE_STRIP instances at once, consecutive in
 * one index (the strip index), into its own strip.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_REFERENCE_MACHINE_H
#define HEDDLE_REFERENCE_MACHINE_H

#include "harness/reference.h"
#include "harness/special.h"

#define HEDDLE_STRIP 64

/* Marks of one element (heddle_store.mark) and of a lane (only HEDDLE_MARK_BRANCH). */
enum {
	HEDDLE_MARK_BRANCH = 1,	  /* a comparison within its error decided */
	HEDDLE_MARK_WRITTEN = 2,  /* has a value */
	HEDDLE_MARK_TOUCHED = 4,  /* changed by the statement that runs */
	HEDDLE_MARK_FRACTION = 8, /* the running sum had a term that is no whole number */
};

/* What one lane does under a mask. */
enum { HEDDLE_LANE_OFF = 0, HEDDLE_LANE_ON = 1, HEDDLE_LANE_MAYBE = 2 /* only if an uncertain comparison goes this way */ };

/* A tensor's contents while statements run. */
typedef struct heddle_store {
	const heddle_tensor *tensor;
	int64_t extent[HEDDLE_MAX_RANK];
	int64_t stride[HEDDLE_MAX_RANK];
	int64_t count;
	const heddle_array *array; /* inputs are read in place */
	int64_t n;		   /* computed tensors: elements below (count, or the sample) */
	long double *value;
	int64_t *integer;
	double *error;
	double *weight; /* of floats; where the value is 0: sum |terms| of what cancelled */
	unsigned char *mark;
	bool sampled;	   /* element s below is that with number sample[s] */
	int64_t *sample;
	int64_t rest;	   /* of slices: elements of one */
} heddle_store;

typedef struct heddle_strip {
	long double v[HEDDLE_STRIP]; /* floats */
	int64_t i[HEDDLE_STRIP];     /* integers, wrapped to their type; bool 0 or 1 */
	double e[HEDDLE_STRIP];	     /* error */
	unsigned char q[HEDDLE_STRIP];
	bool clean; /* all e and q are 0 */
} heddle_strip;

/* base + sum_k coefficient[k] * index k */
typedef struct heddle_affine {
	int64_t base;
	int64_t *coefficient;
} heddle_affine;

typedef struct heddle_oracle_node heddle_oracle_node;

typedef struct heddle_access {
	heddle_store *store;
	const heddle_location *location;
	int rank;
	bool affine;			/* all dimensions are */
	heddle_affine *form;		/* [rank], valid where subscript[d] is NULL */
	heddle_oracle_node **subscript; /* [rank] */
	/* result for the current strip: offset[l], -1 where there is none; linear: offset[0] + l * step, all lanes fine */
	bool linear;
	int64_t step;
	int64_t offset[HEDDLE_STRIP];
} heddle_access;

struct heddle_oracle_node {
	const heddle_expr *expr;
	heddle_expr_kind kind;
	heddle_type type;
	bool real;    /* value in v, else in i */
	bool wide;    /* computed in float64, else float32 */
	double u;     /* unit roundoff of the arithmetic */
	double tiny;  /* least subnormal of the arithmetic; where subnormal numbers may be 0, the least normal one */
	double flush; /* numbers below may be 0; 0: none */
	double loose; /* the bounds of functions and divisions count so many times */
	const heddle_special *special;
	int position; /* INDEX */
	int n_arg;
	heddle_oracle_node **arg;
	heddle_access *access; /* READ */
	unsigned char *mask;   /* SELECT: [2 * HEDDLE_STRIP] */
	heddle_strip s;
};

typedef struct heddle_machine {
	heddle_ctx *ctx;
	heddle_arena *arena;
	const heddle_definition *definition;
	const int64_t *size;
	heddle_store *store; /* [n_tensor] */
	bool failed;	     /* an error was recorded: unwind */
	/* of the statement that runs */
	const heddle_statement *statement;
	int64_t *at;	 /* [n_index] current values; of the strip index: that of lane 0 */
	int strip;	 /* position of the strip index, -1: none */
	int n;		 /* lanes */
	int64_t sample;	 /* number of the element in a sampled target */
	int n_prefix;	 /* slices: dimensions that number them; 0: sampled tensors have single elements */
	int64_t n_slice, slice; /* how many; the one that is computed */
	int64_t *slices; /* [n_slice] row-major numbers over the first dimensions, ascending */
	const unsigned char *mask; /* NULL: all on */
	double instances;
} heddle_machine;

static inline bool lane_on(const heddle_machine *m, int l)
{
	return !m->mask || m->mask[l] == HEDDLE_LANE_ON;
}

/* ---- reference_expr.c ---- */

double heddle_unit_roundoff(heddle_type type); /* of storage */
/* Evaluate for the current strip. */
void heddle_oracle_eval(heddle_machine *m, heddle_oracle_node *n);
int64_t heddle_oracle_wrap(heddle_type type, int64_t value);
/* The rounding of one stored result: error added, overflow to infinity; `type` is that of the storage. */
void heddle_oracle_round(heddle_type type, long double *value, double *error, unsigned char *mark);
/* Is every lane's comparison possible: records E07xx with the instance's index values. */
void heddle_oracle_fault(heddle_machine *m, int lane, int code, const heddle_location *location, const char *format, ...)
	HEDDLE_PRINTF(5, 6);

/* ---- reference_sample.c ---- */

/* Which computed tensors are sampled, and whether by slices, for at most `budget` statement instances or about so. */
void heddle_oracle_choose(heddle_machine *m, double budget, int64_t sample);
/* The elements of a sampled tensor: m->arena has them. */
void heddle_oracle_draw(heddle_machine *m, heddle_store *t, uint64_t seed, int64_t wanted);

/* ---- reference_sizes.c ---- */

/* Statement instances, dependent ranges counted by their hull. */
double heddle_statement_cost(const heddle_statement *statement, const int64_t *size);

/* Value of a bound under the current index values; 0, or -1. */
int heddle_oracle_scalar(const heddle_expr *x, const int64_t *size, const int64_t *at, int64_t *r);

/* ---- reference_statement.c ---- */

/* Does `expr` name an index for which `chosen` [by position] is `value`? */
bool heddle_oracle_names_index(const heddle_expr *expr, const bool *chosen, bool value);
bool heddle_oracle_reads_tensor(const heddle_expr *expr, const heddle_tensor *tensor);
/* 0, or -1 with a diagnostic. */
int heddle_oracle_run(heddle_machine *m, const heddle_statement *s);

/* ---- reference_compile.c ---- */

/* Compile an expression of m->statement. */
heddle_oracle_node *heddle_oracle_compile(heddle_machine *m, const heddle_expr *expr);
/* A node for `arg` converted to `type` (arg itself when it has that type). */
heddle_oracle_node *heddle_oracle_convert(heddle_machine *m, heddle_oracle_node *arg, heddle_type type);
heddle_access *heddle_oracle_access(heddle_machine *m, heddle_store *store, int rank, heddle_expr *const *subscript,
				    const heddle_location *location);
/* Where an access and a read of the current strip go, and what is there. */
void heddle_oracle_locate(heddle_machine *m, heddle_access *access);
void heddle_oracle_read(heddle_machine *m, heddle_oracle_node *n);

#endif
