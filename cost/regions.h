/* The program of one launch as a tree of regions: straight code, conditions, loops and asynchronous copies, each with how often it runs.
 *
 * A condition that holds in all of a box of blocks and threads, or nowhere in it, is decided; else the box is cut in half along what the
 * condition depends on most, and each half is looked at again, for this condition and what it guards alone.  A loop adds its variable to the box.
 * So what tiles do inside takes one look however many there are, and only what lies along an edge is looked at more closely.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_REGIONS_H
#define HEDDLE_REGIONS_H

#include "cost/traffic_parts.h"

/* A load or store of global or shared memory, or of a private array at a place that is not known. */
typedef struct heddle_region_access {
	const heddle_buffer *buffer;
	bool store;
	bool ahead;		     /* a later block's lines are prefetched with it */
	int bytes;		     /* of one thread */
	const traffic_form *address; /* bytes from the start of the buffer */
} heddle_region_access;

typedef enum heddle_region_kind { HEDDLE_REGION_STRAIGHT, HEDDLE_REGION_IF, HEDDLE_REGION_FOR, HEDDLE_REGION_COPY } heddle_region_kind;

typedef struct heddle_region_value {
	const heddle_value *value;
	bool data; /* stored, or one side of a choice; else its integers are subscripts, bounds, conditions */
} heddle_region_value;

typedef struct heddle_region {
	heddle_region_kind kind;
	const heddle_node *node;     /* FOR; IF: NULL where it is a choice between values */
	const traffic_form *asked;   /* IF: the condition; FOR: from the first value to the end; COPY: elements */
	int64_t by;		     /* FOR: the step; COPY: bytes of an element */
	int variable;		     /* FOR: the iteration, from 0 */
	uint64_t load_bytes[HEDDLE_N_SPACE], store_bytes[HEDDLE_N_SPACE]; /* of a thread, each time */
	uint64_t executed;	     /* times, by all threads of all blocks */
	uint64_t of_first;	     /* by those of the blocks that the first unit takes, where each takes neighbours */
	int n_value;
	heddle_region_value *value;  /* evaluated here; loads of one side of a choice are in regions of their own */
	int n_access;
	heddle_region_access *access;
	int n_child;		     /* IF: two, straight */
	struct heddle_region **child;  /* after what is evaluated here, in order */
} heddle_region;

typedef struct heddle_regions {
	traffic_reader reader; /* its arena holds everything */
	heddle_region *body;
	int64_t blocks, first_blocks;
	bool data; /* data decide about some of it, which counts as if they always said yes */
} heddle_regions;

/* For the sizes' values and a chip of so many units.  False: data decide how often a loop runs, or it takes longer than a moment, or counts overflow. */
bool heddle_regions_read(heddle_regions *regions, const heddle_launch *launch, const int64_t *size, int64_t units);
void heddle_regions_free(heddle_regions *regions);

/* HEDDLE_SPACE_REGISTER: no memory traffic. */
heddle_space heddle_buffer_space(const heddle_buffer *buffer);
/* Does the choice become two regions?  Only one side of it is evaluated, and one of them loads. */
bool heddle_value_is_branch(const heddle_value *value);

#endif
