/* What comes from each cache and from memory, and how long it is waited for.
 * SPDX-License-Identifier: MIT
 */
#include "cost/rate_parts.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* Share of a cache that data stay in: lines conflict, and other data pass through. */
static const double KEPT = 0.75;
/* Share of a core's window whose instructions run while a load misses; fitted on bench/replay (all of it in view). */
static const double BEHIND = 0.2;

static void read_levels(heddle_rater *r)
{
	static const char *const name[HEDDLE_RATE_LEVELS] = {"l1", "l2", "l3", "global"};
	for (int i = 0; i < HEDDLE_RATE_LEVELS; i++) {
		const heddle_memory *m = heddle_descriptor_memory(r->d, name[i]);
		if (!m || (i < HEDDLE_RATE_LEVELS - 1 && !m->size.set))
			continue;
		r->level[r->n_level++] = (heddle_rate_level){.size = m->size.value,
						 .bandwidth = m->bandwidth.value,
						 .of_unit = m->unit_bandwidth.value,
						 .latency = m->latency.value,
						 .shared = !m->scope || strcmp(m->scope, "unit") != 0};
	}
}

/* Distinct data of so many consecutive blocks. */
static heddle_touch distinct(const heddle_load *l, double blocks)
{
	heddle_touch none = {0};
	if (!l->n_span)
		return none;
	if (blocks <= l->span[0].blocks)
		return l->span[0].touched;
	for (int i = 1; i < l->n_span; i++) {
		const heddle_span *a = &l->span[i - 1], *b = &l->span[i];
		if (blocks > b->blocks || b->blocks <= a->blocks)
			continue;
		const double at = (blocks - a->blocks) / (b->blocks - a->blocks);
		return (heddle_touch){a->touched.bytes + at * (b->touched.bytes - a->touched.bytes),
				      a->touched.runs + at * (b->touched.runs - a->touched.runs)};
	}
	return l->span[l->n_span - 1].touched;
}

/* The most consecutive blocks whose distinct data are no more than `bytes`. */
static double blocks_within(const heddle_load *l, double bytes)
{
	double blocks = 1;
	for (int i = 1; i < l->n_span; i++) {
		const heddle_span *a = &l->span[i - 1], *b = &l->span[i];
		if (b->touched.bytes <= bytes) {
			blocks = b->blocks;
			continue;
		}
		if (b->touched.bytes > a->touched.bytes && a->touched.bytes < bytes)
			blocks = a->blocks + (b->blocks - a->blocks) * (bytes - a->touched.bytes) /
						     (b->touched.bytes - a->touched.bytes);
		break;
	}
	return blocks;
}

/* Share of its data that a launch does not find in the cache: one before it left what all units'
 * cache holds. */
static double cold(const heddle_load *l, const heddle_rate_level *v)
{
	const double all = distinct(l, l->blocks).bytes / v->size;
	return v->shared ? fmin(1, fmax(0, (all - KEPT) / (1 - KEPT))) : 1;
}

/* Share of data, touched again after so many other bytes, that a cache with this room has lost: distances are known to a factor of two. */
static double lost_share(double distance, double room)
{
	return fmin(1, fmax(0, 1 + distance - log2(room)));
}

/* A unit's own cache, whose blocks are dealt out: they have in common only what all blocks have.  Those that are resident read it at the same
 * time; the next ones find it again if a block's data fit. */
static double common_hits(const heddle_rater *r, const heddle_rate_level *v)
{
	const heddle_load *l = r->load;
	const double lost = lost_share(log2(fmax(1, distinct(l, 1).bytes)), KEPT * v->size);
	const double once = fmin(r->units, l->blocks);
	return l->common * fmax(0, l->blocks - lost * l->blocks / r->out->resident - (1 - lost) * once);
}

/* Where blocks share a cache they pass through their data together: what one touches before it comes back to something
 * is in part what the others touch as well. */
static void find_misses(heddle_rater *r, heddle_rate_level *v, const heddle_touch *above)
{
	const heddle_load *l = r->load;
	const bool one_by_one =
		heddle_rate_quantity(&r->d->blocks_per_unit, 2) == 1; /* a unit takes neighbours then; else they are dealt out */
	const double sharing = v->shared ? r->at_once : r->out->resident, one = distinct(l, 1).bytes;
	double together = v->shared || one_by_one ? fmax(sharing, blocks_within(l, KEPT * v->size)) : 1;
	together = fmin(together, l->blocks);
	const heddle_touch touched = distinct(l, together);
	const double common = v->shared && one > 0 ? distinct(l, sharing).bytes / (one * sharing) : 1;
	/* prefetchers continue into the next block */
	const double row = one_by_one ? fmax(together, l->blocks / r->units) : together;
	v->missed = (heddle_touch){touched.bytes * l->blocks / together, distinct(l, row).runs * l->blocks / row};
	if (!v->shared && !one_by_one)
		v->missed.bytes -= common_hits(r, v);
	for (int i = 0; i < HEDDLE_LOAD_DISTANCES; i++) {
		const double lost = lost_share(i, KEPT * v->size / (sharing * common));
		v->missed.bytes += l->blocks * l->again[i].bytes * lost * common;
		v->missed.runs += l->blocks * l->again[i].runs * lost * common;
	}
	if (above && above->bytes < v->missed.bytes)
		v->missed = *above;
	v->missed.bytes *= cold(l, v);
	v->missed.runs *= cold(l, v);
}

void heddle_rate_traffic(heddle_rater *r)
{
	const heddle_load *l = r->load;
	const heddle_touch *above = NULL;
	double written = 0;
	read_levels(r);
	for (int i = 0; i + 1 < r->n_level; i++) {
		heddle_rate_level *v = &r->level[i];
		/* shared memory is a part of a first cache that is larger */
		if (i == 0 && !v->shared && v->size > heddle_rate_quantity(&r->d->shared_per_unit, INFINITY))
			v->size = fmax(v->size / 16, v->size - r->out->resident * (l->shared_bytes + heddle_rate_quantity(&r->d->shared_reserved, 0)));
		find_misses(r, v, above);
		above = &v->missed;
		/* a store that misses reads its line first; one past the caches reaches memory always */
		const double missing = cold(l, v), cached = fmax(0, l->stored - l->streamed);
		if (r->d->streaming_stores)
			written = l->blocks * (missing * cached + (1 - missing) * l->streamed);
	}
	const double all = distinct(l, l->blocks).bytes, once = above ? above->bytes : all;
	/* what is read and written moves both ways, but for what the last cache keeps within the launch */
	if (!r->d->streaming_stores)
		written = l->updated * l->blocks * (once < all ? once / all : 1);
	r->out->traffic = once + written;
}

/* Seconds in which memory moves its traffic, as fast as bytes in flight let it. */
double heddle_rate_memory_seconds(const heddle_rater *r)
{
	const heddle_rate_level *memory = &r->level[r->n_level - 1];
	double bandwidth = memory->bandwidth;
	const double flight = r->load->flight * r->load->threads * r->at_once;
	if (flight > 0 && memory->latency > 0 && !r->d->prefetch_reach.set)
		bandwidth = fmin(bandwidth, flight / memory->latency);
	if (memory->of_unit > 0)
		bandwidth = fmin(bandwidth, memory->of_unit * fmin(r->units, r->load->blocks));
	return bandwidth > 0 ? r->out->traffic / bandwidth : 0;
}

/* Seconds of caches that all units share. */
double heddle_rate_cache_seconds(const heddle_rater *r)
{
	double most = 0;
	for (int i = 1; i + 1 < r->n_level; i++)
		if (r->level[i].bandwidth > 0)
			most = fmax(most, r->level[i - 1].missed.bytes / r->level[i].bandwidth);
	return most;
}

/* Latency of a load in cycles.  Warps that wait for the same new line wait for it together, so that of a warp's waits
 * as many are for new lines as there are lines; how far away those are goes by bytes. */
double heddle_rate_load_latency(const heddle_rater *r)
{
	const heddle_memory *memory = heddle_descriptor_memory(r->d, "global");
	const double line = memory ? heddle_rate_quantity(&memory->line, 1) : 1,
		     waits = r->load->chain[HEDDLE_INSTRUCTION_GLOBAL_LOAD];
	double here = r->level[0].latency, share = 1;
	for (int i = 0; i + 1 < r->n_level && !r->d->prefetch_reach.set; i++) { /* else a run waits once: run_cycles */
		const double missed = r->level[i].missed.bytes,
			     above = i ? r->level[i - 1].missed.bytes : waits * line * r->load->blocks;
		share *= above > 0 ? fmin(1, missed / above) : 0;
		here += share * fmax(0, r->level[i + 1].latency - r->level[i].latency);
	}
	return here * r->clock;
}

/* Cycles of one block in which it waits for lines that prefetchers do not bring: the first ones of each run, fewer from near caches.  It
 * waits for as many at a time as its window reaches, or, of those that an instruction has asked for before, for as many as a core can. */
double heddle_rate_run_cycles(const heddle_rater *r)
{
	const heddle_memory *memory = heddle_descriptor_memory(r->d, "global");
	const double misses = heddle_rate_quantity(&r->d->misses, 0), reach = heddle_rate_quantity(&r->d->prefetch_reach, INFINITY),
		     start = heddle_rate_quantity(&r->d->prefetch_start, 0), line = memory ? heddle_rate_quantity(&memory->line, 1) : 1;
	const double window = heddle_rate_quantity(&r->d->window, 0), hidden = BEHIND * window / heddle_rate_quantity(&r->d->issue.all, INFINITY);
	double cycles = 0, all = 0;
	for (int i = 0; i < HEDDLE_N_INSTRUCTION; i++)
		all += r->load->instruction[i];
	for (int i = 0; i + 1 < r->n_level && misses > 0; i++) {
		const double bytes = r->level[i].missed.bytes / r->load->blocks, runs = r->level[i].missed.runs / r->load->blocks + bytes / reach;
		const double latency = fmax(0, (r->level[i + 1].latency - r->level[i].latency) * r->clock - hidden);
		const double near = r->level[i + 1].latency / r->level[r->n_level - 1].latency;
		const double at_once = fmax(1, fmin(misses, window * bytes / line / fmax(1, all))), ahead = bytes > 0 ? fmin(1, r->load->ahead / bytes) : 0;
		cycles += fmin(bytes, runs * fmax(line, near * start)) / line * latency * (ahead / misses + (1 - ahead) / at_once);
	}
	return cycles;
}
