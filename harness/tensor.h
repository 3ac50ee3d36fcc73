/* Host tensors, NumPy files, and running a manifest at a level.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_TENSOR_H
#define HEDDLE_TENSOR_H

#include "base/base.h"

#define HEDDLE_MAX_RANK 8

/* A dense or strided tensor in host memory; owns `memory`. */
typedef struct heddle_array {
	heddle_type type;
	int rank;
	int64_t shape[HEDDLE_MAX_RANK];
	int64_t stride[HEDDLE_MAX_RANK]; /* in elements */
	unsigned char *data;		 /* element 0; inside `memory` */
	void *memory;
	size_t bytes; /* of the allocation */
} heddle_array;

#endif
