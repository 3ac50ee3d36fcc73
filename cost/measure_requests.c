/* One access of a warp: the sectors that it requests, and the cycles of shared memory's banks.
 * SPDX-License-Identifier: MIT
 */
#include "cost/measure_parts.h"
#include "cost/reuse.h"

#include <string.h>

/* Before any buffer. */
static const int64_t FAR = (int64_t)1 << 50;
static const int64_t APART = (int64_t)1 << 24; /* rows that data choose */

/* The place of one lane; data that are loaded from different places lead far from each other, others lead to `otherwise`. */
static int64_t address_of(const traffic_box *warp, const traffic_form *form, int64_t otherwise)
{
	int64_t address = FAR + form->constant; /* what a guard leaves out may lie before the buffer */
	for (int i = 0; i < form->n_term; i++) {
		traffic_term one = form->term[i];
		const traffic_form *place = one.atom->kind == TRAFFIC_DATA ? one.atom->arg[0] : NULL;
		const traffic_form single = {.n_term = 1, .term = &one};
		traffic_box box = *warp;
		const traffic_range r = heddle_traffic_range(place ? place : &single, &box);
		if (r.lo <= -TRAFFIC_BIG)
			return otherwise;
		address += place ? r.lo * APART : r.lo;
	}
	return address;
}

/* Each execution of an access is as the first warp's of the first block, in the first iteration of all loops. */
void measure_requests(measurer *m, const traffic_box *box, const heddle_region_access *access, double requests)
{
	heddle_load *load = m->load;
	const traffic_id *thread = &m->regions.reader.thread;
	const heddle_transfer transfer = heddle_descriptor_transfer(m->descriptor);
	const int warp = m->descriptor->warp.set ? (int)m->descriptor->warp.value : 1;
	int n = warp < m->launch->threads ? warp : m->launch->threads;
	int64_t address[HEDDLE_MOST_LANES];
	traffic_range kept[TRAFFIC_MOST_DIGITS];
	n = n < HEDDLE_MOST_LANES ? n : HEDDLE_MOST_LANES;
	memcpy(kept, box->range + thread->first, sizeof(*kept) * (size_t)thread->n_digit);
	for (int t = 0; t < n; t++) {
		for (int d = 0; d < thread->n_digit; d++) {
			const int64_t digit = t / thread->weight[d] % (thread->weight[d + 1] / thread->weight[d]);
			box->range[thread->first + d] = (traffic_range){digit, digit};
		}
		address[t] = address_of(box, access->address, (int64_t)t * transfer.sector);
	}
	memcpy(box->range + thread->first, kept, sizeof(*kept) * (size_t)thread->n_digit);
	if (heddle_buffer_space(access->buffer) == HEDDLE_SPACE_SHARED) {
		load->shared_cycles += requests * heddle_request_cycles(&transfer, address, n, access->bytes);
		return;
	}
	load->sectors += requests * heddle_request_sectors(&transfer, address, n, access->bytes);
	load->cache_cycles += requests * heddle_request_cache_cycles(&transfer, address, n, access->bytes);
}
