/* Integers of a program's text as sums, and what is known of them in a box of values of their variables.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_TRAFFIC_PARTS_H
#define HEDDLE_TRAFFIC_PARTS_H

#include "cost/traffic.h"

/* Both ends are values. */
typedef struct traffic_range {
	int64_t lo, hi;
} traffic_range;

typedef enum traffic_kind {
	TRAFFIC_VARIABLE,
	TRAFFIC_DATA,		/* nothing is known of it; arg[0]: the place that it is loaded from, or NULL; variable 0: of global memory */
	TRAFFIC_DOUBT,		/* nor of this truth, which is 0 or 1 */
	TRAFFIC_DIVIDED,	/* arg[0] / arg[1] rounded down */
	TRAFFIC_REST,		/* arg[0] - arg[1] * that */
	TRAFFIC_CUT_DIVIDED,	/* arg[0] / arg[1] as in C */
	TRAFFIC_CUT_REST,	/* arg[0] % arg[1] as in C */
	TRAFFIC_LEAST,
	TRAFFIC_GREATEST,
	TRAFFIC_PRODUCT,
	TRAFFIC_NOT_NEGATIVE,	/* arg[0] >= 0: 0 or 1 */
	TRAFFIC_ZERO,		/* arg[0] == 0 */
	TRAFFIC_BOTH,		/* arg[0] && arg[1] */
	TRAFFIC_CHOICE,		/* arg[0] ? arg[1] : arg[2] */
	TRAFFIC_BITS,		/* another operation of two integers, known where they are */
} traffic_kind;

typedef struct traffic_form traffic_form;

typedef struct traffic_atom {
	traffic_kind kind;
	int variable;
	heddle_op op; /* BITS */
	const traffic_form *arg[3];
} traffic_atom;

typedef struct traffic_term {
	const traffic_atom *atom;
	int64_t by;
} traffic_term;

/* constant + sum of by * atom */
struct traffic_form {
	int64_t constant;
	int n_term;
	traffic_term *term;
};

/* Values that variables have, each on its own. */
typedef struct traffic_box {
	traffic_range *range; /* of each variable */
	int64_t work;	      /* atoms that have been looked at in it; past TRAFFIC_MOST_WORK nothing is known of any */
} traffic_box;

#define TRAFFIC_MOST_WORK 100000000

/* A variable in scope. */
typedef struct traffic_name {
	const char *name;
	const heddle_value *value; /* LET: not asked for yet while `form` is NULL */
	const traffic_form *form;
	struct traffic_name *outer;
} traffic_name;

enum { TRAFFIC_MOST_DIGITS = 16 };

/* A linear id as digits of mixed radix, each a variable: id = sum of weight[i] * digit i.  Where a text divides it by something, that is a weight. */
typedef struct traffic_id {
	int64_t n; /* values */
	int n_digit;
	int64_t weight[TRAFFIC_MOST_DIGITS + 1]; /* weight[n_digit] = n */
	int first; /* variable of digit 0 */
	const traffic_form *form;
} traffic_id;

typedef struct traffic_reader {
	heddle_arena *arena;
	const int64_t *size;
	traffic_id block, thread;
	int n_variable;
	traffic_box box; /* what is known for the whole text */
	traffic_name *scope;
	bool again; /* an id has a further digit */
} traffic_reader;

/* traffic_form.c */

/* What a variable that is not bounded has at most; nothing is greater. */
#define TRAFFIC_BIG (INT64_C(1) << 44)

/* The digits of both ids are the first variables; how many values each has. */
void heddle_traffic_ids(traffic_reader *reader);
/* A further variable, from 0 on, of so many values; 0: who knows.  Its number. */
int heddle_traffic_variable(traffic_reader *reader, int64_t n);
const traffic_form *heddle_traffic_of_variable(traffic_reader *reader, int variable);
const traffic_form *heddle_traffic_sum(traffic_reader *reader, const traffic_form *a, int64_t by, const traffic_form *b);
/* An integer or a truth (0 or 1); of what may wrap in its type nothing is known, but int32 does not: it is undefined in what is printed. */
const traffic_form *heddle_traffic_read(traffic_reader *reader, const heddle_value *value);
/* Of the form in the box. */
traffic_range heddle_traffic_range(const traffic_form *form, traffic_box *box);
/* The variable with more than one value on which the form depends most; -1: none does that would decide it. */
int heddle_traffic_widest(const traffic_form *form, traffic_box *box);

#endif
