/* Loads in which one part of a launch takes nearly all of the time, on a chip with round figures: the bound and the
 * seconds are worked by hand. SPDX-License-Identifier: MIT
 */
#include "cost/rate.h"
#include "cost/reuse.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#define IS(v)                                                                                                          \
	{                                                                                                              \
		.value = (v), .set = true                                                                              \
	}

enum { L1, L2, GLOBAL, SHARED, N_MEMORY };

/* 10 units at 1 GHz; a unit issues 4 warps a clock, 2 of them multiply-adds; each way of memory moves 64 bytes a clock
 * and unit. */
static const heddle_memory levels[N_MEMORY] = {
	[L1] = {.name = "l1",
		.scope = "unit",
		.size = IS(1 << 16),
		.line = IS(128),
		.bandwidth = IS(640e9),
		.latency = IS(30e-9)},
	[L2] = {.name = "l2",
		.scope = "device",
		.size = IS(1 << 22),
		.line = IS(128),
		.bandwidth = IS(320e9),
		.latency = IS(200e-9)},
	[GLOBAL] = {.name = "global",
		    .scope = "device",
		    .line = IS(128),
		    .sector = IS(32),
		    .bandwidth = IS(100e9),
		    .latency = IS(500e-9)},
	[SHARED] = {.name = "shared",
		    .scope = "block",
		    .banks = IS(32),
		    .bank_width = IS(4),
		    .bandwidth = IS(1280e9),
		    .latency = IS(20e-9)},
};

static heddle_descriptor chip(heddle_memory *memory)
{
	for (int i = 0; i < N_MEMORY; i++)
		memory[i] = levels[i];
	return (heddle_descriptor){.name = "round",
				   .execution = HEDDLE_SIMT,
				   .units = IS(10),
				   .clock = IS(1e9),
				   .warp = IS(32),
				   .threads_per_block = IS(1024),
				   .threads_per_unit = IS(1024),
				   .blocks_per_unit = IS(8),
				   .registers_per_unit = IS(65536),
				   .registers_per_thread = IS(128),
				   .register_granularity = IS(8),
				   .schedulers = IS(4),
				   .shared_per_block = IS(1 << 15),
				   .shared_per_unit = IS(1 << 15),
				   .launch_overhead = IS(1e-6),
				   .issue = {.all = IS(4), .fma = IS(2), .shared = IS(1), .global = IS(1)},
				   .latency = {.fma = IS(4)},
				   .overlap = IS(1),
				   .n_memory = N_MEMORY,
				   .memory = memory};
}

/* Ten rounds of 8 blocks of 4 warps on each unit. */
static heddle_load blocks(void)
{
	return (heddle_load){.blocks = 800, .threads = 128, .registers = 32};
}

static void check(const heddle_load *load, const char *bound, double seconds)
{
	heddle_memory memory[N_MEMORY];
	const heddle_descriptor d = chip(memory);
	const heddle_rating r = heddle_rate(load, &d);
	assert_string_equal(r.bound, bound);
	if (fabs(r.seconds - 1e-6 - seconds) > 0.02 * seconds + 1e-9)
		fail_msg("%s: %g s, not %g", bound, r.seconds - 1e-6, seconds);
}

static void touch(heddle_load *load, double bytes_of_block)
{
	load->n_span = 2;
	load->span[0] = (heddle_span){1, {bytes_of_block, 1}};
	load->span[1] = (heddle_span){load->blocks, {bytes_of_block * load->blocks, 1}};
}

static void test_issue(void **state)
{
	heddle_load load = blocks();
	(void)state;
	load.instruction[HEDDLE_INSTRUCTION_FMA] = 40000; /* 20000 clocks a block, 80 blocks a unit */
	check(&load, "issue", 80 * 20e-6);
}

static void test_shared(void **state)
{
	heddle_load load = blocks();
	(void)state;
	load.shared_cycles = 5000;
	check(&load, "shared", 80 * 5e-6);
}

static void test_cache(void **state)
{
	heddle_load load = blocks();
	(void)state;
	load.sectors = 10000; /* 320000 bytes, 64 a clock */
	check(&load, "cache", 80 * 5e-6);
	load.cache_cycles = 6000;
	check(&load, "cache", 80 * 6e-6);
}

static void test_memory(void **state)
{
	heddle_load load = blocks();
	(void)state;
	touch(&load, 1e6);
	check(&load, "memory", 800e6 / 100e9);
	load.flight = 4; /* 4 bytes of each of 10240 threads in 500 ns: 82 GB/s */
	check(&load, "memory", 800e6 / (4 * 10240 / 500e-9));
	load.flight = 0;
	load.updated = 5e5; /* half of it is written back */
	check(&load, "memory", 1200e6 / 100e9);
}

static void test_latency(void **state)
{
	heddle_load load = blocks();
	(void)state;
	load.chain[HEDDLE_INSTRUCTION_FMA] = 10000;
	check(&load, "latency", 10 * 40e-6);
	load.chain[HEDDLE_INSTRUCTION_SHARED_LOAD] = 1000;
	check(&load, "latency", 10 * 60e-6);
}

static void test_spill(void **state)
{
	heddle_load load = blocks();
	(void)state;
	load.registers = 138; /* 10 more than a thread may have; 4 blocks fit */
	load.peak_runs = 100;
	/* 4 x 10 x 128 x 100 bytes loaded at 64 and stored at 32 bytes a clock; 10 x 100 waits of 30 clocks, of 16
	 * warps */
	check(&load, "spill", 80 * (512e3 / 64 + 512e3 / 32 + 30e3 / 16) * 1e-9);
}

static void test_tail(void **state)
{
	heddle_load load = blocks();
	(void)state;
	load.blocks = 3;
	load.instruction[HEDDLE_INSTRUCTION_FMA] = 40000;
	check(&load, "tail", 20e-6); /* each on a unit of its own, 7 units have none */
}

static void test_launch(void **state)
{
	heddle_load load = blocks();
	(void)state;
	load.instruction[HEDDLE_INSTRUCTION_FMA] = 1;
	check(&load, "launch", 80 * 0.5e-9);
}

static void test_resident(void **state)
{
	heddle_memory memory[N_MEMORY];
	const heddle_descriptor d = chip(memory);
	heddle_load load = blocks();
	(void)state;
	assert_string_equal(heddle_rate(&load, &d).limiter, "blocks");
	load.shared_bytes = 10000;
	assert_string_equal(heddle_rate(&load, &d).limiter, "shared memory");
	assert_true(heddle_rate(&load, &d).resident == 3);
	load.registers = 128;
	load.shared_bytes = 0;
	assert_string_equal(heddle_rate(&load, &d).limiter, "registers");
	assert_true(heddle_rate(&load, &d).resident == 4);
	load.min_blocks = 8; /* the compiler is told to leave room for 8 */
	assert_true(heddle_rate(&load, &d).registers == 64 && heddle_rate(&load, &d).spilled == 64);
	load.threads = 2048;
	assert_false(heddle_rate(&load, &d).fits);
}

static void test_order(void **state)
{
	heddle_memory memory[N_MEMORY];
	heddle_descriptor d = chip(memory);
	heddle_load load = blocks();
	double before = 0;
	(void)state;
	touch(&load, 1e5);
	load.instruction[HEDDLE_INSTRUCTION_FMA] = 10000;
	load.peak_runs = 10;
	for (load.registers = 16; load.registers < 400; load.registers++) { /* more spills are never faster */
		const double seconds = heddle_rate(&load, &d).seconds;
		assert_true(load.registers <= 128 || seconds >= before);
		before = seconds;
	}
	for (int i = 0; i < N_MEMORY; i++)
		for (int k = 0; k < 4; k++) { /* nor is less bandwidth */
			before = heddle_rate(&load, &d).seconds;
			memory[i].bandwidth.value /= 2;
			assert_true(heddle_rate(&load, &d).seconds >= before);
		}
}

/* A product on a processor near its peak, sums in one accumulator, spilled sums, short runs. */
static void test_simd(void **state)
{
	heddle_memory memory[N_MEMORY];
	heddle_descriptor d = chip(memory);
	heddle_load load = {.blocks = 100, .threads = 1, .registers = 20};
	(void)state;
	d.execution = HEDDLE_SIMD;
	d.warp = d.threads_per_block = d.threads_per_unit = d.blocks_per_unit = d.schedulers = (heddle_quantity)IS(1);
	d.vector_bytes = (heddle_quantity)IS(64);
	d.vector_registers = (heddle_quantity)IS(32);
	d.window = (heddle_quantity)IS(320);
	d.misses = (heddle_quantity)IS(16);
	d.prefetch_start = (heddle_quantity)IS(1024);
	d.prefetch_reach = (heddle_quantity)IS(1 << 20);
	memory[N_MEMORY - 1].line = (heddle_quantity)IS(64);
	memory[L2].scope = "unit";
	load.instruction[HEDDLE_INSTRUCTION_FMA] = 1e6;
	load.instruction[HEDDLE_INSTRUCTION_GLOBAL_LOAD] = 3e5;
	const heddle_rating peak = heddle_rate(&load, &d);
	assert_string_equal(peak.bound, "issue");
	assert_true(fabs(peak.seconds - 1e-6 - 10 * 0.5e-3) < 1e-6);
	load.chain[HEDDLE_INSTRUCTION_FMA] = 1e6;
	assert_string_equal(heddle_rate(&load, &d).bound, "latency");
	assert_true(heddle_rate(&load, &d).seconds > 7 * peak.seconds);
	load.chain[HEDDLE_INSTRUCTION_FMA] = 0;
	load.registers = 36;
	load.peak_runs = 1e5;
	assert_true(heddle_rate(&load, &d).seconds > 2 * peak.seconds);
	load.registers = 20;
	touch(&load, 1e6);
	const double along = heddle_rate(&load, &d).seconds;
	load.span[0].touched.runs = 1e4;
	load.span[1].touched.runs = 1e6;
	const double jumps = heddle_rate(&load, &d).seconds;
	assert_true(jumps > 1.3 * along);
	load.span[0].touched.runs = 1.2e4; /* all lines are waited for already */
	load.span[1].touched.runs = 1.2e6;
	assert_true(heddle_rate(&load, &d).seconds < 1.01 * jumps);
	load.span[0].touched.runs = 100; /* only the first lines of a run are waited for */
	load.span[1].touched.runs = 1e4;
	assert_true(heddle_rate(&load, &d).seconds < along + 0.15 * (jumps - along));
	load.span[0].touched.runs = 1e4;
	load.span[1].touched.runs = 1e6;
	load.ahead = 1e6; /* as many at a time as a core can */
	assert_true(heddle_rate(&load, &d).seconds < along + 0.2 * (jumps - along));
	load.ahead = 0;
	d.window = (heddle_quantity)IS(3200); /* ten times as many at a time */
	assert_true(heddle_rate(&load, &d).seconds < along + 0.2 * (jumps - along));
}

/* Runs of a block of a reference to floats, `own` lanes of which run `apart` bytes apart in each iteration, under two loops with these strides
 * and trips, the outer one first. */
static double runs_of_block(double own, double apart, double outer, double outer_trips, double inner, double inner_trips, int streams, bool streamed)
{
	const heddle_transfer transfer = {.streams = streams};
	const heddle_reuse_loop loop[] = {{-1, true, 1}, {0, false, outer_trips}, {1, false, inner_trips}};
	const heddle_reference one = {.loop = 2, .bytes = 4, .size = 1e9, .times = 1, .n_digit = 4,
				      .streamed = streamed,
				      .digit = {{1, outer, outer_trips}, {2, inner, inner_trips}, {-1, 4, 16}, {-1, apart, own}}};
	heddle_load load = {.blocks = 1};
	heddle_reuse(&load, loop, 3, &one, 1, 64, &transfer);
	return load.span[0].touched.runs;
}

static void test_runs(void **state)
{
	(void)state;
	assert_true(runs_of_block(1, 0, 640, 10, 64, 10, 16, false) == 1);	/* row after row of a matrix */
	assert_true(runs_of_block(1, 0, 64, 10, 640, 10, 16, false) == 10);	/* ten rows at the same time */
	assert_true(runs_of_block(1, 0, 64, 10, 640, 10, 8, false) == 100);	/* more than prefetchers follow: a line each */
	assert_true(runs_of_block(1, 0, 1280, 10, 64, 10, 16, false) == 10);	/* every other row */
	assert_true(runs_of_block(1, 0, 704, 10, 64, 10, 16, false) == 1);	/* a line between rows is no end */
	assert_true(runs_of_block(4, 1280, 640, 2, 64, 10, 16, false) == 4);	/* four rows, then those between them: no run goes on */
	assert_true(runs_of_block(4, 1280, 5120, 10, 64, 20, 16, false) == 40); /* four whole rows, then the next four */
	assert_true(runs_of_block(10, 640, 0, 4, 64, 10, 8, false) == 10); /* come back to: a cache has them */
	assert_true(runs_of_block(1, 0, 64, 10, 640, 10, 8, true) == 0); /* nothing waits for what goes past the caches */
}

/* 64 rows of 256 bytes, gone through again and again: 16 KiB.  At most how far away a first cache of 48 KiB and 12 ways finds them again. */
static double distance_of_rows(double stride, int ways)
{
	const heddle_transfer transfer = {.line = 64, .ways = ways, .way = 4096};
	const heddle_reuse_loop loop[] = {{-1, true, 1}, {0, false, 100}, {1, false, 64}};
	const heddle_reference rows = {.loop = 2, .bytes = 4, .size = 1e9, .times = 1, .n_digit = 2, .digit = {{2, stride, 64}, {-1, 4, 64}}};
	heddle_load load = {.blocks = 1};
	double farthest = 0;
	heddle_reuse(&load, loop, 3, &rows, 1, 64, &transfer);
	for (int i = 0; i < HEDDLE_LOAD_DISTANCES; i++)
		farthest = load.again[i].bytes > 0 ? exp2(i) : farthest;
	return farthest;
}

static void test_ways(void **state)
{
	(void)state;
	assert_true(distance_of_rows(4096, 12) == 64 * 4096);    /* all rows meet in four sets */
	assert_true(distance_of_rows(2048, 12) == 32 * 4096);    /* in eight */
	assert_true(distance_of_rows(4096 + 256, 12) == 64 * 256); /* spread over all */
	assert_true(distance_of_rows(256, 12) == 64 * 256);
	assert_true(distance_of_rows(4096, 64) == 64 * 256); /* a set holds them */
	assert_true(distance_of_rows(4096, 0) == 64 * 256);  /* not known */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_issue),  cmocka_unit_test(test_shared),  cmocka_unit_test(test_cache),
		cmocka_unit_test(test_memory), cmocka_unit_test(test_latency), cmocka_unit_test(test_spill),
		cmocka_unit_test(test_tail),   cmocka_unit_test(test_launch),  cmocka_unit_test(test_resident),
		cmocka_unit_test(test_order),  cmocka_unit_test(test_simd), cmocka_unit_test(test_ways), cmocka_unit_test(test_runs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
