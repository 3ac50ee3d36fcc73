/* Inside of `measure`: one file for instructions and memory, one for dependent paths and registers.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_MEASURE_PARTS_H
#define HEDDLE_MEASURE_PARTS_H

#include "cost/measure.h"
#include "cost/regions.h"

typedef struct measurer {
	const heddle_program *program;
	const heddle_launch *launch;
	const heddle_descriptor *descriptor;
	bool simd;
	int vector_bytes; /* of the widest register (simd) or access (simt) */
	heddle_regions regions;
	bool *written; /* [program->n_buffer] by the launch */
	double loaded; /* bytes of global memory that a thread loads */
	heddle_load *load;
} measurer;

/* Instructions that one operation on a value of this type and width takes. */
double measure_native(const measurer *m, heddle_type type, int width);
/* The class of the operation at the root of a value, and how many instructions it is; 0: none. */
double measure_operation(const measurer *m, const heddle_value *v, heddle_instruction *which);
/* Fill instruction[] of values, loops and conditions. */
void measure_values(measurer *m);
/* Does the launch only read it? */
bool measure_is_constant(const measurer *m, const heddle_buffer *buffer);
/* The class of a load or store. */
heddle_instruction measure_access(const heddle_buffer *buffer, bool store);
/* Fill chain, prefetched, flight, registers and peak_runs; after measure_memory. */
void measure_paths(measurer *m);
/* Fill registers and peak_runs of a simt thread. */
void measure_registers(measurer *m);
/* Fill instruction[] of accesses, sectors, shared_cycles, stored, streamed, span and again. */
void measure_memory(measurer *m);
/* Count `requests` warps' executions of the access into sectors, cache_cycles or shared_cycles. */
void measure_requests(measurer *m, const traffic_box *box, const heddle_region_access *access, double requests);
/* The region of a loop or condition; NULL: there is none. */
const heddle_region *measure_region(const heddle_region *from, const heddle_node *node);
/* One warp's instructions in a block, for what all threads of all blocks execute so often. */
double measure_per_block(const measurer *m, uint64_t executed);

#endif
