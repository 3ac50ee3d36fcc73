/* The load of a float32 product of 4096 x 4096 x 4096 by the kernel xgemm of CLBlast, from its parameters.
 *
 * A block of MDIMC x NDIMC threads owns MWG x NWG of C and steps over k by 32, two at a time.  A thread owns contiguous
 * elements in both dimensions.  SA, SB: operands go through shared memory, which the block loads as MDIMA (NDIMB)
 * threads along m (n).  A vector of 8 is two accesses of 16 bytes. SPDX-License-Identifier: MIT
 */
#include "bench/replay/adapters.h"

#include "cost/reuse.h"

#include <math.h>

enum { SIZE = 4096, STEP = 32, UNROLLED = 2, WORD = 4 };

/* The kernel's name of a column. */
enum { MWG, NWG, MDIMC, NDIMC, MDIMA, NDIMB, VWM, VWN, SA, SB };

/* One of the two operands: what differs between A and B. */
typedef struct operand {
	int tile, threads; /* of a block, along its dimension */
	int lanes_from;    /* lanes before the thread's number along the dimension grows */
	int loaders;       /* threads along the dimension while it is loaded */
	int vector;
	bool staged;
	int items; /* of a thread */
	int width; /* words of one access */
} operand;

static operand operand_of(const int *p, bool b)
{
	operand o = {.tile = p[b ? NWG : MWG],
		     .threads = p[b ? NDIMC : MDIMC],
		     .lanes_from = b ? p[MDIMC] : 1,
		     .loaders = p[b ? NDIMB : MDIMA],
		     .vector = p[b ? VWN : VWM],
		     .staged = p[b ? SB : SA] != 0};
	o.items = o.tile / o.threads;
	o.width = o.vector < 4 ? o.vector : 4;
	return o;
}

static int lanes_of(const heddle_descriptor *d, int threads)
{
	const int warp = (int)d->warp.value;
	return threads < warp ? threads : warp;
}

/* What a warp reads in one access of the product's loop. */
static void read_lanes(const operand *o, int lanes, int64_t *address)
{
	for (int i = 0; i < lanes; i++)
		address[i] = (int64_t)(i / o->lanes_from % o->threads) * o->items * WORD;
}

/* What it moves in one access of the loop that loads a tile, whose rows are so far apart. */
static void load_lanes(const operand *o, int threads, int row, int lanes, int64_t *address)
{
	const int rows = STEP / (threads / o->loaders), along = o->tile / o->loaders;
	for (int i = 0; i < lanes; i++)
		address[i] = ((int64_t)(i / o->loaders) * rows * row + (int64_t)(i % o->loaders) * along) * WORD;
}

/* Instructions, sectors and bank cycles of one operand in the whole block. */
static void add_operand(const heddle_descriptor *d, const operand *o, int threads, heddle_load *load)
{
	const heddle_transfer transfer = heddle_descriptor_transfer(d);
	const int lanes = lanes_of(d, threads);
	const double warps = ceil((double)threads / d->warp.value), reads = warps * SIZE * o->items / o->width;
	int64_t address[HEDDLE_MOST_LANES];
	read_lanes(o, lanes, address);
	if (!o->staged) {
		load->instruction[HEDDLE_INSTRUCTION_GLOBAL_LOAD] += reads;
		load->sectors += reads * heddle_request_sectors(&transfer, address, lanes, o->width * WORD);
		load->cache_cycles += reads * heddle_request_cache_cycles(&transfer, address, lanes, o->width * WORD);
		return;
	}
	load->instruction[HEDDLE_INSTRUCTION_SHARED_LOAD] += reads;
	load->shared_cycles += reads * heddle_request_cycles(&transfer, address, lanes, o->width * WORD);
	const double moves = warps * SIZE / STEP * ((double)o->tile * STEP / threads) / o->width;
	load->instruction[HEDDLE_INSTRUCTION_GLOBAL_LOAD] += moves;
	load->instruction[HEDDLE_INSTRUCTION_SHARED_STORE] += moves;
	load_lanes(o, threads, SIZE, lanes, address);
	load->sectors += moves * heddle_request_sectors(&transfer, address, lanes, o->width * WORD);
	load->cache_cycles += moves * heddle_request_cache_cycles(&transfer, address, lanes, o->width * WORD);
	load_lanes(o, threads, o->tile, lanes, address);
	load->shared_cycles += moves * heddle_request_cycles(&transfer, address, lanes, o->width * WORD);
	load->shared_bytes += (double)o->tile * STEP * WORD;
}

/* Each thread writes contiguous elements of a row of C. */
static void add_stores(const heddle_descriptor *d, const operand *a, const operand *b, int threads, heddle_load *load)
{
	const heddle_transfer transfer = heddle_descriptor_transfer(d);
	const int lanes = lanes_of(d, threads);
	const double stores = ceil((double)threads / d->warp.value) * a->items * b->items / a->width;
	int64_t address[HEDDLE_MOST_LANES];
	for (int i = 0; i < lanes; i++)
		address[i] = ((int64_t)(i % a->threads) * a->items + (int64_t)(i / a->threads) * b->items * SIZE) * WORD;
	load->instruction[HEDDLE_INSTRUCTION_GLOBAL_STORE] = stores;
	load->sectors += stores * a->width * WORD * d->warp.value / transfer.sector;
	load->cache_cycles += stores * heddle_request_cache_cycles(&transfer, address, lanes, a->width * WORD);
	load->stored = (double)a->tile * b->tile * WORD;
}

static void add_reuse(const int *p, heddle_load *load)
{
	enum { GRID_N, GRID_M, K, N_LOOP };
	const double row = (double)SIZE * WORD, all = row * SIZE;
	const heddle_reuse_loop loop[N_LOOP] = {
		{-1, true, SIZE / p[NWG]}, {GRID_N, true, SIZE / p[MWG]}, {GRID_M, false, SIZE / STEP}};
	const heddle_reference reference[] = {
		{K,
		 0,
		 WORD,
		 all,
		 1,
		 false,
		 false,
		 false,
		 4,
		 {{GRID_M, p[MWG] * WORD, SIZE / p[MWG]},
		  {-1, WORD, p[MWG]},
		  {K, row * STEP, SIZE / STEP},
		  {-1, row, STEP}}},
		{K,
		 1,
		 WORD,
		 all,
		 1,
		 false,
		 false,
		 false,
		 4,
		 {{GRID_N, p[NWG] * WORD, SIZE / p[NWG]},
		  {-1, WORD, p[NWG]},
		  {K, row * STEP, SIZE / STEP},
		  {-1, row, STEP}}},
		{GRID_M,
		 2,
		 WORD,
		 all,
		 1,
		 false,
		 false,
		 false,
		 4,
		 {{GRID_M, p[MWG] * WORD, SIZE / p[MWG]},
		  {-1, WORD, p[MWG]},
		  {GRID_N, row * p[NWG], SIZE / p[NWG]},
		  {-1, row, p[NWG]}}},
	};
	heddle_reuse(load, loop, N_LOOP, reference, HEDDLE_COUNT(reference), 128, NULL);
}

/* Words that a thread keeps: sums, operands of the step of the loop, or a tile on its way. */
static void add_registers(const heddle_descriptor *d, const operand *a, const operand *b, int threads,
			  heddle_load *load)
{
	const heddle_register_weights *w = &d->registers;
	const double sums = (double)a->items * b->items,
		     tile = (a->staged ? (double)a->tile : 0) + (b->staged ? (double)b->tile : 0);
	const double moved = w->load.value * tile * STEP / threads, operands = w->operand.value * (a->items + b->items);
	load->registers = w->base.value + w->tile.value * (a->staged + b->staged) + 4 * w->access.value + sums +
			  fmax(operands, moved);
	load->peak_runs = operands >= moved ? SIZE : (double)SIZE / STEP;
}

bool heddle_replay_product(const heddle_descriptor *d, const int *p, heddle_load *load)
{
	const int threads = p[MDIMC] * p[NDIMC];
	const operand a = operand_of(p, false), b = operand_of(p, true);
	const bool staged = a.staged || b.staged;
	const double warps = ceil((double)threads / d->warp.value), sums = (double)a.items * b.items,
		     steps = (double)SIZE / STEP;
	if (threads > d->threads_per_block.value || d->warp.value > HEDDLE_MOST_LANES)
		return false;
	*load = (heddle_load){.blocks = (double)SIZE / p[MWG] * (SIZE / p[NWG]), .threads = threads};
	add_operand(d, &a, threads, load);
	add_operand(d, &b, threads, load);
	add_stores(d, &a, &b, threads, load);
	add_reuse(p, load);
	add_registers(d, &a, &b, threads, load);
	load->instruction[HEDDLE_INSTRUCTION_FMA] = warps * sums * SIZE;
	load->instruction[HEDDLE_INSTRUCTION_INTEGER] = warps * SIZE / UNROLLED * 2;
	load->instruction[HEDDLE_INSTRUCTION_BRANCH] = warps * SIZE / UNROLLED;
	load->instruction[HEDDLE_INSTRUCTION_BARRIER] = staged ? warps * steps * 2 : 0;
	const double moved = (a.staged ? a.tile : 0) + (b.staged ? b.tile : 0),
		     direct = (a.staged ? 0 : a.items) + (b.staged ? 0 : b.items);
	const double ahead =
		fmax(UNROLLED, floor(d->registers.spare.value /
				     (a.items + b.items))); /* values of k whose operands are read together */
	load->chain[HEDDLE_INSTRUCTION_FMA] = SIZE;
	load->chain[HEDDLE_INSTRUCTION_GLOBAL_LOAD] = (staged ? steps : 0) + (a.staged && b.staged ? 0 : SIZE / ahead);
	load->chain[HEDDLE_INSTRUCTION_SHARED_LOAD] = staged ? SIZE / ahead : 0;
	load->chain[HEDDLE_INSTRUCTION_BARRIER] = staged ? 2 * steps : 0;
	load->flight = fmax(moved * STEP / threads, direct * ahead) * WORD;
	return true;
}
