/* The pass table and how to run it.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_PASSES_H
#define HEDDLE_PASSES_H

#include "model/scop.h"

/* A part of the config that a pass needs complete before it runs. */
typedef enum heddle_config_need {
	HEDDLE_NEEDS_NOTHING,
	HEDDLE_NEEDS_FUSE,    /* the kernel of each statement */
	HEDDLE_NEEDS_LAYOUT,  /* tiles, threads, vectors, order; where each group lives */
} heddle_config_need;

typedef struct heddle_pass {
	const char *name;
	heddle_config_need needs;
	int (*run)(heddle_scop *scop);
	const char *role; /* one line */
} heddle_pass;

extern const heddle_pass heddle_passes[]; /* in order, ended by name NULL */

typedef struct heddle_pass_options {
	/* Completes one part of the config; 0 or -1. */
	int (*complete)(heddle_scop *scop, heddle_config *config, heddle_config_need part, void *user);
	void *user;
	const char *dump;   /* name of the pass after which the scop or program is printed into `out` */
	const char *stop;   /* name of the last pass to run */
	bool times;	    /* print seconds per pass into `out` */
	bool unproved;	    /* leave out the proof */
	heddle_text *out;
	unsigned long max_operations; /* of isl, per pass; 0: the default */
	double timeout;		      /* seconds for all passes together; 0: the default */
} heddle_pass_options;

/* Run the table over a fresh scop.  0, or -1 with diagnostics: E0600 when isl reached its bound of operations or of time. */
int heddle_passes_run(heddle_scop *scop, heddle_config *config, const heddle_pass_options *options);
/* The proof of what was run without it; bounds as above.  0, or -1 with diagnostics. */
int heddle_passes_prove(heddle_scop *scop, double timeout, unsigned long max_operations);
/* One pass of it, after the part of the config that it needs was completed.  The same. */
int heddle_pass_run(heddle_scop *scop, heddle_config *config, const heddle_pass *pass, const heddle_pass_options *options);
void heddle_scop_print(const heddle_scop *scop, heddle_text *out);

#endif
