/* The load of a float32 convolution of 4096 x 4096 outputs with a 15 x 15 filter by a kernel of the benchmark hub, from
 * its parameters.
 *
 * A block of block_x by block_y threads; a thread's tile_x by tile_y outputs are block_x and block_y apart.  The loops
 * over filter and tile are unrolled completely, so that a thread reads each input once that several of its outputs
 * need, if they are in one piece of code: where blocks reach over the edge, outputs have conditions of their own.
 * SPDX-License-Identifier: MIT
 */
#include "bench/replay/adapters.h"

#include "cost/reuse.h"

#include <math.h>

enum { SIZE = 4096, FILTER = 15, BORDER = FILTER - 1, WORD = 4 };
enum { BLOCK_X, BLOCK_Y, TILE_X, TILE_Y, READ_ONLY, PADDING, SHARED, CONSTANT };

/* Rows of the input that a thread's outputs need. */
static int rows_read(const int *p)
{
	const int between = p[BLOCK_Y] < FILTER ? p[BLOCK_Y] : FILTER;
	return FILTER + (p[TILE_Y] - 1) * between;
}

/* Words of a row of the tile in shared memory. */
static int row_words(const int *p)
{
	const int row = p[BLOCK_X] * p[TILE_X] + BORDER, rest = (row - p[BLOCK_X]) % 32;
	return row + (p[PADDING] && p[BLOCK_X] % 32 && rest ? 32 - rest : 0);
}

/* So many accesses by each warp to neighbouring words, in rows of so many words. */
static void add_requests(const heddle_descriptor *d, const int *p, int row, int first, bool shared, double times,
			 heddle_load *load)
{
	const heddle_transfer transfer = heddle_descriptor_transfer(d);
	const int threads = p[BLOCK_X] * p[BLOCK_Y], warp = (int)d->warp.value;
	int64_t address[HEDDLE_MOST_LANES];
	times /= ceil((double)threads / warp);
	for (int from = 0; from < threads; from += warp) {
		const int n = threads - from < warp ? threads - from : warp;
		for (int i = 0; i < n; i++)
			address[i] =
				((int64_t)((from + i) / p[BLOCK_X]) * row + (from + i) % p[BLOCK_X] + first) * WORD;
		if (shared) {
			load->shared_cycles += times * heddle_request_cycles(&transfer, address, n, WORD);
			continue;
		}
		load->sectors += times * heddle_request_sectors(&transfer, address, n, WORD);
		load->cache_cycles += times * heddle_request_cache_cycles(&transfer, address, n, WORD);
	}
}

static void add_reuse(const int *p, heddle_load *load)
{
	enum { GRID_Y, GRID_X, N_LOOP };
	const double row = (SIZE + BORDER) * WORD, width = p[BLOCK_X] * p[TILE_X], height = p[BLOCK_Y] * p[TILE_Y];
	const double nx = ceil(SIZE / width), ny = ceil(SIZE / height);
	const heddle_reuse_loop loop[N_LOOP] = {{-1, true, ny}, {GRID_Y, true, nx}};
	const heddle_reference reference[] = {
		{GRID_X,
		 0,
		 WORD,
		 row * (SIZE + BORDER),
		 1,
		 false,
		 false,
		 false,
		 4,
		 {{GRID_X, width * WORD, nx},
		  {-1, WORD, width + BORDER},
		  {GRID_Y, height * row, ny},
		  {-1, row, height + BORDER}}},
		{GRID_X,
		 1,
		 WORD,
		 (double)SIZE * SIZE * WORD,
		 1,
		 false,
		 false,
		 false,
		 4,
		 {{GRID_X, width * WORD, nx},
		  {-1, WORD, width},
		  {GRID_Y, height * SIZE * WORD, ny},
		  {-1, SIZE * WORD, height}}},
	};
	heddle_reuse(load, loop, N_LOOP, reference, HEDDLE_COUNT(reference), 128, NULL);
	load->blocks = nx * ny;
}

/* Words that a thread keeps: of the rows that outputs above still need; behind a condition, all that was read before
 * it. */
static double words_kept(const heddle_descriptor *d, const int *p, bool edge)
{
	const int rows = rows_read(p), below = rows - FILTER < FILTER ? rows - FILTER : FILTER;
	const double row = (double)FILTER * p[TILE_X];
	if (d->registers.tap.set)
		return d->registers.tap.value * row * (edge ? rows : below + 1);
	return fmin(row * (below + 1), d->registers.spare.value); /* more is read again */
}

/* Chips with scalar registers keep the filter there if it fits; else loads of it and of shared memory wait for each
 * other at each tap. */
static bool waits_each_tap(const heddle_descriptor *d)
{
	return d->scalar_registers.set && d->scalar_registers.value < FILTER * FILTER;
}

bool heddle_replay_convolution(const heddle_descriptor *d, const int *p, heddle_load *load)
{
	const int threads = p[BLOCK_X] * p[BLOCK_Y], outputs = p[TILE_X] * p[TILE_Y], row = row_words(p),
		  rows = p[BLOCK_Y] * p[TILE_Y] + BORDER;
	const bool edge = SIZE % (p[BLOCK_X] * p[TILE_X]) || SIZE % (p[BLOCK_Y] * p[TILE_Y]),
		   alone = edge && !p[SHARED];
	const double warps = ceil((double)threads / d->warp.value);
	const double reads = warps * FILTER * p[TILE_X] * (alone ? FILTER * p[TILE_Y] : rows_read(p));
	*load = (heddle_load){.threads = threads};
	if (threads > d->threads_per_block.value || d->warp.value > HEDDLE_MOST_LANES)
		return false;
	add_reuse(p, load);
	load->instruction[HEDDLE_INSTRUCTION_FMA] = warps * outputs * FILTER * FILTER;
	load->instruction[HEDDLE_INSTRUCTION_INTEGER] = warps * (20 + 4 * outputs);
	load->instruction[HEDDLE_INSTRUCTION_FLOAT] = edge ? warps * outputs * 2 : 0;
	load->instruction[HEDDLE_INSTRUCTION_GLOBAL_STORE] = warps * outputs;
	load->stored = (double)threads * outputs * WORD;
	add_requests(d, p, SIZE, 0, false, warps * outputs, load);
	load->chain[HEDDLE_INSTRUCTION_FMA] = FILTER * FILTER;
	if (p[SHARED]) {
		const double moves =
			warps * ceil((double)rows / p[BLOCK_Y]) *
			ceil((double)(row_words((const int[]){p[0], p[1], p[2], p[3], 0, 0})) / p[BLOCK_X]);
		load->shared_bytes = (double)row * rows * WORD;
		load->instruction[HEDDLE_INSTRUCTION_GLOBAL_LOAD] = load->instruction[HEDDLE_INSTRUCTION_SHARED_STORE] =
			moves;
		load->instruction[HEDDLE_INSTRUCTION_INTEGER] += moves * (edge ? 4 : 1);
		load->instruction[HEDDLE_INSTRUCTION_BARRIER] = warps;
		load->instruction[HEDDLE_INSTRUCTION_SHARED_LOAD] = reads;
		add_requests(d, p, SIZE + BORDER, 0, false, moves, load);
		add_requests(d, p, row, 1, true, reads + moves, load);
		load->chain[HEDDLE_INSTRUCTION_GLOBAL_LOAD] = 2;
		load->chain[HEDDLE_INSTRUCTION_SHARED_LOAD] =
			waits_each_tap(d) ? 2 * FILTER * FILTER : reads / warps / FILTER;
		load->chain[HEDDLE_INSTRUCTION_BARRIER] = 1;
		load->flight = moves / warps * WORD;
	} else {
		load->instruction[HEDDLE_INSTRUCTION_GLOBAL_LOAD] = reads;
		add_requests(d, p, SIZE + BORDER, 1, false, reads, load);
		load->chain[HEDDLE_INSTRUCTION_GLOBAL_LOAD] =
			edge && waits_each_tap(d) ? reads / warps
						  : reads / warps / fmax(FILTER, d->registers.spare.value);
		load->flight = fmax(FILTER, d->registers.spare.value) * WORD;
	}
	load->registers = d->registers.base.value + d->registers.access.value * 2 + outputs + words_kept(d, p, edge);
	load->peak_runs = 1;
	return true;
}
