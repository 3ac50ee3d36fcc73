/* Seconds of a launch from its load, with the reasons: occupancy, throughput of a unit, latency, memory, waves.
 *
 * simt and simd are rated alike: on a simd chip a block is one thread of one warp, and the descriptor's figures differ.
 *
 * A unit takes, for r resident blocks, r times the throughput time of one block, or the dependent path of one warp if
 * that is longer.  Its time is that of each full round of resident blocks and of the last, partial one.  A launch takes
 * its units' time, overlapped with that of memory levels that all units share, and the launch overhead.
 *
 * overlapped(): the longest of several times, and of the others the fraction that the chip does not overlap with it.
 * SPDX-License-Identifier: MIT
 */
#include "cost/rate_parts.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

enum { MOST_PARTS = 3, WORD = 4 };

/* Units of a chip that instructions compete for. */
typedef enum pipe { PIPE_ARITHMETIC, PIPE_MEMORY, PIPE_CONTROL, N_PIPE } pipe;

typedef struct class
{
	pipe pipe;
	size_t issue, otherwise; /* of heddle_issue */
	size_t latency;          /* of heddle_latency */
} class;

#define ISSUE(member) offsetof(heddle_issue, member)
#define LATENCY(member) offsetof(heddle_latency, member)
static const class classes[] = {
	[HEDDLE_INSTRUCTION_FMA] = {PIPE_ARITHMETIC, ISSUE(fma), ISSUE(fma), LATENCY(fma)},
	[HEDDLE_INSTRUCTION_FMA64] = {PIPE_ARITHMETIC, ISSUE(fma), ISSUE(fma), LATENCY(fma)},
	[HEDDLE_INSTRUCTION_FLOAT] = {PIPE_ARITHMETIC, ISSUE(compare), ISSUE(fma), LATENCY(fma)},
	[HEDDLE_INSTRUCTION_INTEGER] = {PIPE_CONTROL, ISSUE(integer), ISSUE(fma), LATENCY(fma)},
	[HEDDLE_INSTRUCTION_SPECIAL] = {PIPE_ARITHMETIC, ISSUE(special), ISSUE(fma), LATENCY(special)},
	[HEDDLE_INSTRUCTION_CONVERT] = {PIPE_ARITHMETIC, ISSUE(convert), ISSUE(fma), LATENCY(fma)},
	[HEDDLE_INSTRUCTION_PERMUTE] = {PIPE_ARITHMETIC, ISSUE(permute), ISSUE(fma), LATENCY(permute)},
	[HEDDLE_INSTRUCTION_SHUFFLE] = {PIPE_MEMORY, ISSUE(shuffle), ISSUE(fma), LATENCY(shuffle)},
	[HEDDLE_INSTRUCTION_SHARED_LOAD] = {PIPE_MEMORY, ISSUE(shared), ISSUE(fma), LATENCY(fma)},
	[HEDDLE_INSTRUCTION_SHARED_STORE] = {PIPE_MEMORY, ISSUE(store), ISSUE(shared), LATENCY(fma)},
	[HEDDLE_INSTRUCTION_GLOBAL_LOAD] = {PIPE_MEMORY, ISSUE(global), ISSUE(fma), LATENCY(fma)},
	[HEDDLE_INSTRUCTION_GLOBAL_STORE] = {PIPE_MEMORY, ISSUE(store), ISSUE(global), LATENCY(fma)},
	[HEDDLE_INSTRUCTION_STACK] = {PIPE_MEMORY, ISSUE(global), ISSUE(fma), LATENCY(fma)},
	[HEDDLE_INSTRUCTION_BRANCH] = {PIPE_CONTROL, ISSUE(branch), ISSUE(fma), LATENCY(fma)},
	[HEDDLE_INSTRUCTION_BARRIER] = {PIPE_CONTROL, ISSUE(branch), ISSUE(fma), LATENCY(barrier)},
	[HEDDLE_INSTRUCTION_MATRIX] = {PIPE_ARITHMETIC, ISSUE(fma), ISSUE(fma), LATENCY(fma)},
};
_Static_assert(HEDDLE_COUNT(classes) == HEDDLE_N_INSTRUCTION, "every class has a row");

static double round_up(double n, double step)
{
	return step > 0 ? ceil(n / step) * step : n;
}

/* The greatest, and of the others what is not overlapped. */
static double overlapped(const heddle_rater *r, const double *part, int n)
{
	double sum = 0, most = 0;
	for (int i = 0; i < n; i++) {
		sum += part[i];
		most = fmax(most, part[i]);
	}
	return most + (1 - r->overlap) * (sum - most);
}

/* ---- the machine ----------------------------------------------------------------------------- */

/* The clock is that at which the peak rate is reached, where the descriptor says both. */
static void read_machine(heddle_rater *r)
{
	const heddle_descriptor *d = r->d;
	const bool simd = d->execution == HEDDLE_SIMD;
	const double rate = heddle_descriptor_rate(d, HEDDLE_FLOAT32), fma = heddle_rate_quantity(&d->issue.fma, 0);
	r->units = heddle_rate_quantity(&d->units, 1);
	r->warp = heddle_rate_quantity(&d->warp, 1);
	r->lanes = simd ? fmax(1, heddle_rate_quantity(&d->vector_bytes, WORD) / WORD) : r->warp;
	r->clock = rate > 0 && (fma > 0 || !d->clock.set)
			   ? rate / (2 * r->units * r->lanes * fmax(fma, fma > 0 ? 0 : 1))
			   : heddle_rate_quantity(&d->clock, 1);
	r->overlap = heddle_rate_quantity(&d->overlap, 0);
	r->warps = ceil(r->load->threads / r->warp);
}

/* Instructions of the class that a unit begins in a clock; 0: not known. */
static double issue_rate(const heddle_rater *r, heddle_instruction i)
{
	const heddle_descriptor *d = r->d;
	const char *issue = (const char *)&d->issue;
	const double fma = heddle_descriptor_rate(d, HEDDLE_FLOAT32) / (2 * r->units * r->lanes * r->clock);
	double other = heddle_rate_quantity((const heddle_quantity *)(const void *)(issue + classes[i].otherwise), fma);
	if (i == HEDDLE_INSTRUCTION_FMA64) {
		const double lanes = d->execution == HEDDLE_SIMD ? fmax(1, r->lanes / 2) : r->lanes;
		return heddle_descriptor_rate(d, HEDDLE_FLOAT64) / (2 * r->units * lanes * r->clock);
	}
	if (i == HEDDLE_INSTRUCTION_MATRIX && d->n_matrix) {
		const heddle_matrix_instruction *m = &d->matrix[0];
		return m->flops.value / (2.0 * m->m * m->n * m->k * r->units * r->clock);
	}
	return heddle_rate_quantity((const heddle_quantity *)(const void *)(issue + classes[i].issue), other);
}

/* Bytes a cycle and unit. */
static double per_cycle(const heddle_rater *r, double bandwidth)
{
	return bandwidth / (r->units * r->clock);
}

/* ---- resident blocks ------------------------------------------------------------------------- */

static void limit(heddle_rater *r, double blocks, const char *what)
{
	if (blocks >= r->out->resident)
		return;
	r->out->resident = blocks;
	r->out->limiter = what;
}

/* Registers are given to warps of a scheduler, in multiples. */
static double register_blocks(const heddle_rater *r, double registers)
{
	const double all = heddle_rate_quantity(&r->d->registers_per_unit, INFINITY), schedulers = heddle_rate_quantity(&r->d->schedulers, 1);
	const double warps =
		floor(all / schedulers / (r->warp * round_up(registers, heddle_rate_quantity(&r->d->register_granularity, 1))));
	return floor(warps * schedulers / r->warps);
}

static void find_registers(heddle_rater *r)
{
	const heddle_descriptor *d = r->d;
	const double wanted = r->load->registers, step = heddle_rate_quantity(&d->register_granularity, 1);
	double most = heddle_rate_quantity(&d->registers_per_thread, INFINITY);
	if (d->execution == HEDDLE_SIMD) {
		most = heddle_rate_quantity(&d->vector_registers, INFINITY);
	} else {
		const double blocks = fmax(1, r->load->min_blocks), schedulers = heddle_rate_quantity(&d->schedulers, 1);
		const double warps = ceil(r->warps * blocks / schedulers);
		most = fmin(most,
			    floor(heddle_rate_quantity(&d->registers_per_unit, INFINITY) / schedulers / (warps * r->warp) / step) *
				    step);
	}
	r->out->most = most;
	r->out->registers = fmin(wanted, most);
	r->out->spilled = fmax(0, wanted - most);
}

static void find_resident(heddle_rater *r)
{
	const heddle_descriptor *d = r->d;
	const heddle_load *l = r->load;
	const double threads = r->warps * r->warp, per_unit = heddle_rate_quantity(&d->threads_per_unit, INFINITY);
	const double shared =
		round_up(l->shared_bytes, heddle_rate_quantity(&d->shared_granularity, 1)) + heddle_rate_quantity(&d->shared_reserved, 0);
	find_registers(r);
	r->out->resident = INFINITY;
	r->out->limiter = "none";
	limit(r, heddle_rate_quantity(&d->blocks_per_unit, INFINITY), "blocks");
	limit(r, floor(per_unit / threads), "threads");
	if (d->execution == HEDDLE_SIMT)
		limit(r, register_blocks(r, r->out->registers), "registers");
	if (l->shared_bytes > 0 && d->execution == HEDDLE_SIMT)
		limit(r, floor(heddle_rate_quantity(&d->shared_per_unit, INFINITY) / shared), "shared memory");
	r->out->fits = r->out->resident >= 1 && l->shared_bytes <= heddle_rate_quantity(&d->shared_per_block, INFINITY) &&
		       l->threads <= heddle_rate_quantity(&d->threads_per_block, INFINITY);
	r->out->resident = fmax(1, r->out->resident);
	r->on_unit = ceil(l->blocks / r->units);
	limit(r, fmax(1, r->on_unit), "grid");
	r->at_once = fmin(r->out->resident * r->units, l->blocks);
	r->out->occupancy = isfinite(per_unit) ? fmin(1, r->out->resident * threads / per_unit) : 1;
	r->out->waves = l->blocks / (r->units * r->out->resident);
	r->out->tail = r->on_unit > 0 ? 1 - l->blocks / (r->on_unit * r->units) : 0;
}

/* ---- a unit -------------------------------------------------------------------------------------------------------- */

static double issue_cycles(const heddle_rater *r)
{
	double part[N_PIPE + 1] = {0}, all = 0;
	for (int i = 0; i < HEDDLE_N_INSTRUCTION; i++) {
		const double n = r->load->instruction[i], rate = issue_rate(r, (heddle_instruction)i);
		part[classes[i].pipe] += rate > 0 ? n / rate : 0;
		all += n;
	}
	const double together = all / heddle_rate_quantity(&r->d->issue.all, INFINITY), longest = overlapped(r, part, N_PIPE);
	return fmax(together, longest);
}

/* Stores and loads of what registers do not hold: loads from the first cache if that holds all threads', else from the
 * second.  Nothing else goes on meanwhile: the next use waits for the load, and the load for the store, unless there
 * are other warps. */
static double spill_cycles(const heddle_rater *r)
{
	const bool simd = r->d->execution == HEDDLE_SIMD;
	const double width = simd ? r->lanes * WORD : WORD, held = r->out->spilled * width * r->load->threads,
		     runs = fmax(1, r->load->peak_runs);
	const double near = r->level[0].bandwidth, far = r->n_level > 1 ? r->level[1].bandwidth : near;
	const double from = held * r->out->resident <= r->level[0].size && near > 0 ? near : far,
		     to = simd && near > 0 ? near : far;
	const double wait = r->out->spilled * runs * r->level[0].latency * r->clock / (r->warps * r->out->resident);
	return wait + (from > 0 ? runs * held / per_cycle(r, from) : 0) + (to > 0 ? runs * held / per_cycle(r, to) : 0);
}

static double shared_cycles(const heddle_rater *r)
{
	const heddle_transfer transfer = heddle_descriptor_transfer(r->d);
	const heddle_memory *shared = heddle_descriptor_memory(r->d, "shared");
	const double width = transfer.banks * transfer.bank_width,
		     rate = shared ? per_cycle(r, shared->bandwidth.value) : 0;
	return rate > 0 ? r->load->shared_cycles * width / rate : r->load->shared_cycles;
}

static double cache_cycles(const heddle_rater *r)
{
	const double near = per_cycle(r, r->level[0].bandwidth);
	return fmax(r->load->cache_cycles, near > 0 ? r->load->sectors * heddle_descriptor_transfer(r->d).sector / near : 0);
}

/* Cycles of one warp from the start of a block to its end, alone on a unit. */
static double chain_cycles(const heddle_rater *r, double work)
{
	const heddle_memory *shared = heddle_descriptor_memory(r->d, "shared");
	const double *chain = r->load->chain, fma = heddle_rate_quantity(&r->d->latency.fma, 1), load = heddle_rate_load_latency(r);
	double cycles = 0;
	for (int i = 0; i < HEDDLE_N_INSTRUCTION; i++) {
		const char *latency = (const char *)&r->d->latency;
		double each = heddle_rate_quantity((const heddle_quantity *)(const void *)(latency + classes[i].latency), fma);
		if (i == HEDDLE_INSTRUCTION_SHARED_LOAD)
			each = shared && shared->latency.set && !r->d->window.set ? shared->latency.value * r->clock
										  : r->level[0].latency * r->clock;
		if (i == HEDDLE_INSTRUCTION_STACK)
			each = fmax(each, r->level[0].latency * r->clock);
		if (i != HEDDLE_INSTRUCTION_GLOBAL_LOAD)
			cycles += chain[i] * each;
	}
	/* waits that a step's other work overlaps: the chain's, and what the unit issues for all resident blocks */
	const double hidden = fmin(r->load->prefetched, chain[HEDDLE_INSTRUCTION_GLOBAL_LOAD]);
	const double exposed = hidden > 0 ? hidden * fmax(0, load - (cycles + work) / hidden) : 0;
	return cycles + exposed + (chain[HEDDLE_INSTRUCTION_GLOBAL_LOAD] - hidden) * load;
}

/* Schedulers without a warp, or with fewer than others, issue nothing. */
static double imbalance(const heddle_rater *r, double blocks)
{
	const double schedulers = heddle_rate_quantity(&r->d->schedulers, 1), warps = blocks * r->warps;
	return warps > 0 ? ceil(warps / schedulers) * schedulers / warps : 1;
}

/* Cycles in which a unit does so many resident blocks: their work, or the chain of one warp if that takes longer.  A
 * warp that issues in order waits between its own instructions; with barriers it waits for all others of its block as
 * well.  `alone`: the time that nothing overlaps. */
static double resident_cycles(const heddle_rater *r, double blocks, const double *part, int n, double chain, double alone)
{
	double each[MOST_PARTS];
	for (int i = 0; i < n; i++)
		each[i] = part[i] * (i == 0 ? imbalance(r, blocks) : 1);
	const double block = overlapped(r, each, n), work = blocks * block;
	const double warp = part[0] * heddle_rate_quantity(&r->d->schedulers, 1) / r->warps;
	const double own = r->d->window.set ? 0 : r->load->chain[HEDDLE_INSTRUCTION_BARRIER] > 0 ? block : warp;
	return blocks > 0 ? fmax(work, chain + own) + (1 - r->overlap) * fmin(work, chain) + blocks * alone : 0;
}

static const char *bound(const heddle_rating *o, double unit)
{
	const struct {
		const char *name;
		double seconds;
	} part[] = {{"issue", o->issue},     {"shared", o->shared}, {"cache", o->cache},   {"memory", o->memory},
		    {"latency", o->latency}, {"spill", o->spill},   {"launch", o->launch}, {"tail", o->tail * unit}};
	size_t most = 0;
	for (size_t i = 1; i < HEDDLE_COUNT(part); i++)
		most = part[i].seconds > part[most].seconds ? i : most;
	return part[most].name;
}

heddle_rating heddle_rate(const heddle_load *load, const heddle_descriptor *descriptor)
{
	heddle_rating out = {0};
	heddle_rater r = {.load = load, .d = descriptor, .out = &out};
	read_machine(&r);
	find_resident(&r);
	heddle_rate_traffic(&r);
	const double part[MOST_PARTS] = {issue_cycles(&r), shared_cycles(&r), cache_cycles(&r)};
	const double chain = chain_cycles(&r, out.resident * overlapped(&r, part, MOST_PARTS)), runs = heddle_rate_run_cycles(&r),
		     spill = spill_cycles(&r), all = load->blocks / (r.units * r.clock);
	const double full = floor(r.on_unit / out.resident), rest = r.on_unit - full * out.resident;
	/* a unit that takes neighbours may take the longer ones */
	const double uneven = r.on_unit <= heddle_rate_quantity(&descriptor->chunk, 0) ? fmax(1, load->imbalance) : 1;
	const double unit = (full * resident_cycles(&r, out.resident, part, MOST_PARTS, chain, runs + spill) +
			     resident_cycles(&r, rest, part, MOST_PARTS, chain, runs + spill)) *
			    uneven / r.clock;
	out.issue = part[0] * all;
	out.shared = part[1] * all;
	out.cache = fmax(part[2] * all, heddle_rate_cache_seconds(&r));
	out.memory = heddle_rate_memory_seconds(&r);
	out.spill = spill * all;
	out.latency = ceil(out.waves) * chain / r.clock + runs * all;
	out.launch = heddle_rate_quantity(&descriptor->launch_overhead, 0);
	const double together[] = {unit, fmax(heddle_rate_cache_seconds(&r), out.memory)}; /* levels that all units share pass on one stream */
	out.seconds = overlapped(&r, together, HEDDLE_COUNT(together)) + out.launch;
	out.bound = bound(&out, unit);
	return out;
}

double heddle_in_flight(const heddle_descriptor *descriptor)
{
	const heddle_memory *m = heddle_descriptor_memory(descriptor, "global");
	return m && m->latency.set && m->bandwidth.set ? 2 * m->bandwidth.value * m->latency.value : 0;
}
