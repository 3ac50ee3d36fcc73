/* The places of a guarded sum in its text, and what counts them.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_COUNT_WALK_H
#define HEDDLE_COUNT_WALK_H

#include "cost/count_parts.h"

enum { MOST_FORMS = 16, MOST_WALKED = 1024, MOST_BACK = 64, WIDTHS = 3, MOST_LACKING = 3, WORDS = MOST_WALKED / 64, MOST_STEPS = 4096 };

/* What is not asked for. */
#define ALWAYS INT64_MAX

/* What conditions ask about: a sum of coefficients times where a thread begins along each dimension, and a constant, is not negative.  Of two that
 * differ in the constant the lesser one says the other. */
typedef struct walk_form {
	int64_t coefficient[HEDDLE_MAX_DIM];
	int64_t least; /* that the sum is known to be */
	int64_t whole; /* the constant where all places ask */
	int64_t unit;  /* of which what is summed up is a multiple */
	int64_t loop;  /* the constant that the loop over its terms goes as far as; ALWAYS: it has no part in where one begins or ends */
	bool terms;    /* it is about whether a term exists, which whole blocks know for each tile of terms */
	bool bounds;   /* it is how far loops over terms go, in all blocks */
} walk_form;

/* Of numbers below MOST_WALKED. */
typedef struct walk_set {
	uint64_t word[WORDS];
} walk_set;

/* A branch; a place in one is a node that asks for nothing. */
typedef struct walk_node {
	int up; /* the branch around it; that around all is itself */
	bool branch;
	int64_t asked[MOST_FORMS]; /* constants, beside those of the branches around it */
	walk_set results; /* that it takes, and what is inside of it */
	walk_set elements, vectors[WIDTHS]; /* that it reads itself: single ones, and the first ones of vectors of 2, 4, ... */
} walk_node;

/* Values of a dimension at which threads begin: of one, `n` of each step. */
typedef struct walk_begins {
	int64_t blocks, tile; /* of results */
	int64_t threads, thread;
	int64_t rounds, round; /* of loops */
} walk_begins;

/* One coordinate of a place. */
typedef struct walk_part {
	int dim;
	int64_t n, step;
} walk_part;

/* Its subscripts, but for what all have in common, and the first place that reads it. */
typedef struct walk_element {
	int64_t at[HEDDLE_MAX_DIM], value[HEDDLE_MAX_DIM];
	int64_t place; /* in its row, but for multiples of any vector */
	int beside;    /* the next one there; -1: none is read */
	bool begins[WIDTHS]; /* a vector of 2, 4, ... */
} walk_element;

typedef struct walk {
	const counter *c;
	const movement *m;
	bool goes_on; /* with results of a sum whose branches stand before */
	int n_form, n_node, n_element, n_part;
	walk_form form[MOST_FORMS];
	walk_begins begins[HEDDLE_MAX_DIM];
	walk_part part[2 * HEDDLE_MAX_DIM];
	int n_lacking, lacking[MOST_LACKING]; /* terms of which the last tile has fewer */
	walk_set kind[1 << MOST_LACKING];     /* elements that whole blocks read in tiles that lack terms along these */
	walk_node *node;	  /* a place, and a branch for each form that it may be asked about */
	walk_element *element;	  /* [places] */
} walk;

static inline void walk_add(walk_set *a, const walk_set *b)
{
	for (int k = 0; k < WORDS; k++)
		a->word[k] |= b->word[k];
}

static inline bool walk_has(const walk_set *a, int k)
{
	return a->word[k / 64] >> (k % 64) & 1;
}

/* ---- count_walk_threads.c ---- */

/* May the last tile of terms along d lack some? */
bool walk_lacks_terms(const walk *w, int d);
/* Threads, in all their rounds of loops, for which the conditions hold; `whole`: in whole blocks.  -1: they are too many. */
double walk_threads(const walk *w, const int64_t *conditions, bool whole);
/* Of other blocks. */
double walk_threads_at_edges(const walk *w, const int64_t *conditions);
/* No form may be about results of two dimensions, nor of terms alone: then dimensions are counted one by one. */
bool walk_is_by_dimensions(const walk *w);

/* ---- count_walk_reads.c ---- */

/* Where elements lie, and which begin vectors. */
void walk_find_vectors(walk *w);
/* Neighbours in a branch, and in all that is in it, become vectors; `around`: elements that have names around it. */
void walk_widen(walk *w, int up, const walk_set *around);
/* Reads of all threads; -1: not known. */
double walk_reads(const walk *w);

#endif
