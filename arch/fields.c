/* The keys of a descriptor that hold quantities, and the units that they may be written in.
 * SPDX-License-Identifier: MIT
 */
#include "arch/reader.h"

#include <string.h>

#define KIB 1024.0
#define MIB (1024.0 * 1024.0)
#define GIB (1024.0 * 1024.0 * 1024.0)

const unit heddle_units[] = {
	{"count", DIMENSION_COUNT, 1},
	{"B", DIMENSION_BYTES, 1},
	{"KiB", DIMENSION_BYTES, KIB},
	{"MiB", DIMENSION_BYTES, MIB},
	{"GiB", DIMENSION_BYTES, GIB},
	{"KB", DIMENSION_BYTES, 1e3},
	{"MB", DIMENSION_BYTES, 1e6},
	{"GB", DIMENSION_BYTES, 1e9},
	{"Hz", DIMENSION_HERTZ, 1},
	{"kHz", DIMENSION_HERTZ, 1e3},
	{"MHz", DIMENSION_HERTZ, 1e6},
	{"GHz", DIMENSION_HERTZ, 1e9},
	{"B/s", DIMENSION_BYTES_PER_SECOND, 1},
	{"MB/s", DIMENSION_BYTES_PER_SECOND, 1e6},
	{"GB/s", DIMENSION_BYTES_PER_SECOND, 1e9},
	{"TB/s", DIMENSION_BYTES_PER_SECOND, 1e12},
	{"GiB/s", DIMENSION_BYTES_PER_SECOND, GIB},
	{"s", DIMENSION_SECONDS, 1},
	{"ms", DIMENSION_SECONDS, 1e-3},
	{"us", DIMENSION_SECONDS, 1e-6},
	{"ns", DIMENSION_SECONDS, 1e-9},
	{"FLOP/s", DIMENSION_FLOPS, 1},
	{"MFLOP/s", DIMENSION_FLOPS, 1e6},
	{"GFLOP/s", DIMENSION_FLOPS, 1e9},
	{"TFLOP/s", DIMENSION_FLOPS, 1e12},
	{"PFLOP/s", DIMENSION_FLOPS, 1e15},
	{NULL, DIMENSION_COUNT, 0},
};

const unit *heddle_unit_find(const char *name)
{
	for (const unit *u = heddle_units; u->name; u++)
		if (!strcmp(u->name, name))
			return u;
	return NULL;
}

void heddle_unit_list(unit_dimension dimension, heddle_text *out)
{
	const char *separator = "";
	for (const unit *u = heddle_units; u->name; u++) {
		if (u->dimension != dimension)
			continue;
		heddle_text_printf(out, "%s%s", separator, u->name);
		separator = ", ";
	}
}

const char *heddle_dimension_name(unit_dimension dimension)
{
	switch (dimension) {
	case DIMENSION_COUNT:
		return "a count";
	case DIMENSION_BYTES:
		return "an amount of memory";
	case DIMENSION_HERTZ:
		return "a frequency";
	case DIMENSION_BYTES_PER_SECOND:
		return "a bandwidth";
	case DIMENSION_SECONDS:
		return "a time";
	case DIMENSION_FLOPS:
		return "an arithmetic rate";
	}
	return "?";
}

#define AT(member) offsetof(heddle_descriptor, member)
/* The greatest values are far beyond any chip: they catch a wrong unit, not a new product. */
const field heddle_descriptor_fields[] = {
	{"units", AT(units), DIMENSION_COUNT, FIELD_WHOLE | FIELD_REQUIRED, 1e7,
	 "processors that hold blocks (multiprocessors, compute units, cores)"},
	{"clock", AT(clock), DIMENSION_HERTZ, 0, 1e12,
	 "of the processors, under load"},
	{"warp", AT(warp), DIMENSION_COUNT, FIELD_WHOLE | FIELD_POWER_OF_TWO | FIELD_REQUIRED, 1024,
	 "threads that issue together; simd: 1"},
	{"threads_per_block", AT(threads_per_block), DIMENSION_COUNT, FIELD_WHOLE | FIELD_REQUIRED, 65536,
	 "most threads of a block; simd: 1"},
	{"threads_per_unit", AT(threads_per_unit), DIMENSION_COUNT, FIELD_WHOLE, 1e6,
	 "most threads that a unit holds"},
	{"blocks_per_unit", AT(blocks_per_unit), DIMENSION_COUNT, FIELD_WHOLE, 1e6,
	 "most blocks that a unit holds"},
	{"registers_per_unit", AT(registers_per_unit), DIMENSION_COUNT, FIELD_WHOLE, 1e9,
	 "32-bit registers of a unit"},
	{"registers_per_thread", AT(registers_per_thread), DIMENSION_COUNT, FIELD_WHOLE, 1e6,
	 "most 32-bit registers of a thread that arithmetic reaches"},
	{"register_granularity", AT(register_granularity), DIMENSION_COUNT, FIELD_WHOLE, 1024,
	 "registers of a thread are given in multiples of this"},
	{"registers_base", AT(registers.base), DIMENSION_COUNT, 0, 64,
	 "registers of any kernel's thread"},
	{"registers_tile", AT(registers.tile), DIMENSION_COUNT, 0, 64,
	 "registers for a tile in shared memory"},
	{"registers_access", AT(registers.access), DIMENSION_COUNT, 0, 64,
	 "registers for a statement's access of memory: its address"},
	{"registers_operand", AT(registers.operand), DIMENSION_COUNT, 0, 64,
	 "registers for a word that one round of sums reads of tiles; more than 1: some of the next round are there, too"},
	{"registers_load", AT(registers.load), DIMENSION_COUNT, 0, 64,
	 "registers for a word of global memory, of those asked for at once"},
	{"registers_tap", AT(registers.tap), DIMENSION_COUNT, 0, 64,
	 "registers for a word that the taps of a window, written out, read of tiles beside those of one tap"},
	{"registers_spare", AT(registers.spare), DIMENSION_COUNT, 0, 1024,
	 "up to so many registers compilers ask for things ahead, or do them side by side"},
	{"schedulers", AT(schedulers), DIMENSION_COUNT, FIELD_WHOLE, 64,
	 "parts of a unit, each with its share of the registers and of the warps"},
	{"scalar_registers", AT(scalar_registers), DIMENSION_COUNT, FIELD_WHOLE, 1e6,
	 "of a warp, where compilers keep what its threads have in common: bases of tensors, counters"},
	{"shared_per_block", AT(shared_per_block), DIMENSION_BYTES, FIELD_WHOLE | FIELD_REQUIRED, GIB,
	 "shared memory that a block may use"},
	{"shared_per_block_static", AT(shared_per_block_static), DIMENSION_BYTES, FIELD_WHOLE, GIB,
	 "of that, what may be declared in the text; the rest is asked for at launch"},
	{"shared_per_unit", AT(shared_per_unit), DIMENSION_BYTES, FIELD_WHOLE, GIB,
	 "shared memory of a unit, for all its blocks"},
	{"shared_granularity", AT(shared_granularity), DIMENSION_BYTES, FIELD_WHOLE | FIELD_POWER_OF_TWO, 1e6,
	 "shared memory is given in multiples of this"},
	{"shared_reserved", AT(shared_reserved), DIMENSION_BYTES, FIELD_WHOLE, 1e6,
	 "that each block takes besides its own"},
	{"grid_limit", AT(grid_limit), DIMENSION_COUNT, FIELD_WHOLE, 9e18,
	 "most blocks of a launch"},
	{"vector_bytes", AT(vector_bytes), DIMENSION_BYTES, FIELD_WHOLE | FIELD_POWER_OF_TWO | FIELD_REQUIRED, 4096,
	 "widest load or store of a thread; simd: a vector register"},
	{"vector_registers", AT(vector_registers), DIMENSION_COUNT, FIELD_WHOLE, 65536,
	 "simd: architectural vector registers"},
	{"launch_overhead", AT(launch_overhead), DIMENSION_SECONDS, 0, 10,
	 "from the call to the kernel's start and back"},
	{"issue", AT(issue.all), DIMENSION_COUNT, 0, 1024,
	 "instructions of all classes together that a unit begins in a clock: of a warp; simd: of a thread, on vector registers"},
	{"issue_fma", AT(issue.fma), DIMENSION_COUNT, 0, 1024,
	 "of those, float32 additions, multiplications and both in one; where it is not given it follows from the rate and the clock"},
	{"issue_compare", AT(issue.compare), DIMENSION_COUNT, 0, 1024,
	 "comparisons, minimum, selection; this and the next where they are not given: as many as `issue_fma`"},
	{"issue_integer", AT(issue.integer), DIMENSION_COUNT, 0, 1024,
	 "integer arithmetic"},
	{"issue_special", AT(issue.special), DIMENSION_COUNT, 0, 1024,
	 "divisions, roots, exponentials and the like, each with all that a call of it takes"},
	{"issue_convert", AT(issue.convert), DIMENSION_COUNT, 0, 1024,
	 "conversions between types"},
	{"issue_permute", AT(issue.permute), DIMENSION_COUNT, 0, 1024,
	 "simd: movements of lanes within a vector"},
	{"issue_shuffle", AT(issue.shuffle), DIMENSION_COUNT, 0, 1024,
	 "exchanges between the threads of a warp"},
	{"issue_shared", AT(issue.shared), DIMENSION_COUNT, 0, 1024,
	 "loads of shared memory"},
	{"issue_global", AT(issue.global), DIMENSION_COUNT, 0, 1024,
	 "loads of global memory"},
	{"issue_store", AT(issue.store), DIMENSION_COUNT, 0, 1024,
	 "stores of both; where it is not given: as loads"},
	{"issue_branch", AT(issue.branch), DIMENSION_COUNT, 0, 1024,
	 "ends of a loop's iteration, conditions"},
	{"issue_line", AT(issue.line), DIMENSION_COUNT, 0, 1024,
	 "lines of the first cache that its unit looks up, for loads and stores whose lanes lie apart; not given: any number"},
	{"latency_fma", AT(latency.fma), DIMENSION_COUNT, 0, 1e5,
	 "clocks until its result can be used"},
	{"latency_special", AT(latency.special), DIMENSION_COUNT, 0, 1e5,
	 "the same of divisions, roots, exponentials; where it is not given, as `latency_fma`, and so the next"},
	{"latency_permute", AT(latency.permute), DIMENSION_COUNT, 0, 1e5,
	 "the same of movements of lanes"},
	{"latency_shuffle", AT(latency.shuffle), DIMENSION_COUNT, 0, 1e5,
	 "the same of exchanges between threads"},
	{"latency_barrier", AT(latency.barrier), DIMENSION_COUNT, 0, 1e5,
	 "clocks that a barrier takes when all warps are there"},
	{"overlap", AT(overlap), DIMENSION_COUNT, 0, 1,
	 "fraction of the other work that overlaps with the bottleneck, 0 to 1"},
	{"chunk", AT(chunk), DIMENSION_COUNT, FIELD_WHOLE, 1e9,
	 "neighbouring blocks that a unit takes at the same time, at most; where it is not given, blocks are dealt out one by one"},
	{"window", AT(window), DIMENSION_COUNT, FIELD_WHOLE, 1e6,
	 "instructions of a thread that are under way at the same time: iterations within it overlap; where it is not given, a thread waits in order"},
	{"misses", AT(misses), DIMENSION_COUNT, 0, 1e6,
	 "cache lines that a unit waits for at the same time; where it is not given, any number"},
	{"prefetch_streams", AT(prefetch_streams), DIMENSION_COUNT, FIELD_WHOLE, 1e6,
	 "runs of memory that prefetchers follow at the same time, from one block to the next"},
	{"prefetch_reach", AT(prefetch_reach), DIMENSION_BYTES, FIELD_WHOLE, GIB,
	 "of contiguous memory that prefetchers follow, until they begin anew"},
	{"prefetch_start", AT(prefetch_start), DIMENSION_BYTES, FIELD_WHOLE, GIB,
	 "of contiguous memory that is waited for before prefetchers follow it; of what comes from nearer caches less"},
	{NULL, 0, DIMENSION_COUNT, 0, 0, NULL},
};
_Static_assert(HEDDLE_COUNT(heddle_descriptor_fields) <= HEDDLE_N_DESCRIPTOR_FIELD, "locations hold every field");

#undef AT
#define AT(member) offsetof(heddle_memory, member)
const field heddle_memory_fields[] = {
	{"size", AT(size), DIMENSION_BYTES, FIELD_WHOLE, 1e18, "of one instance"},
	{"line", AT(line), DIMENSION_BYTES, FIELD_WHOLE | FIELD_POWER_OF_TWO, 65536, "of a cache"},
	{"sector", AT(sector), DIMENSION_BYTES, FIELD_WHOLE | FIELD_POWER_OF_TWO, HEDDLE_MOST_SECTOR, "least transfer"},
	{"ways", AT(ways), DIMENSION_COUNT, FIELD_WHOLE, 1024,
	 "lines that one set of a cache holds; where it is not given, addresses are taken to be spread over the sets"},
	{"banks", AT(banks), DIMENSION_COUNT, FIELD_WHOLE, HEDDLE_MOST_BANKS, "that serve different addresses at once"},
	{"bank_width", AT(bank_width), DIMENSION_BYTES, FIELD_WHOLE, 4096, "of one bank"},
	{"bandwidth", AT(bandwidth), DIMENSION_BYTES_PER_SECOND, 0, 1e18, "of all instances together"},
	{"unit_bandwidth", AT(unit_bandwidth), DIMENSION_BYTES_PER_SECOND, 0, 1e18,
	 "that one unit alone reaches"},
	{"latency", AT(latency), DIMENSION_SECONDS, 0, 1, "of one dependent load"},
	{NULL, 0, DIMENSION_COUNT, 0, 0, NULL},
};

const char *const heddle_memory_names[] = {"register", "shared", "l1", "l2", "l3", "global", NULL};
const char *const heddle_memory_scopes[] = {"thread", "block", "unit", "device", NULL};
