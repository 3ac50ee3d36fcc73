/* Where an access of the interpreter goes, what is wrong with it (bounds, alignment, shadow memory), and what it costs.
 * SPDX-License-Identifier: MIT
 */
#include "harness/interpret_machine.h"

/* ---- addresses ----------------------------------------------------------------------------------------------------------------- */

static int64_t subscript_value(const machine *m, const access *x, int n, int lane)
{
	const int64_t *run = cells(m, x->subscript[n].at);
	return run[x->subscript[n].scalar && !x->subscript[n].constant ? 0 : lane];
}

static void find_bounds(machine *m, const access *x, int lane, const char *verb)
{
	heddle_text text = {0};
	const memory *mem = x->memory;
	heddle_text_printf(&text, "%s %s", verb, mem->buffer->name);
	for (int n = 0; n < x->n; n++) {
		bool last = n == x->n - 1 && x->width > mem->buffer->width;
		heddle_text_printf(&text, "[%lld", (long long)subscript_value(m, x, n, lane));
		heddle_text_printf(&text, last ? " : %d]" : "]", x->width);
	}
	heddle_text_add(&text, " outside");
	if (x->n != mem->buffer->rank) {
		heddle_text_printf(&text, mem->hole ? " its %lld elements, or between them" : " its %lld elements",
				   (long long)mem->total);
	} else {
		for (int n = 0; n < x->n; n++)
			heddle_text_printf(&text, " %s%lld", n ? "x " : "", (long long)mem->extent[n]);
	}
	heddle_machine_find(m, "bounds", x->node, x->line, lane, "%s", heddle_text_str(&text));
	heddle_text_free(&text);
	m->stop = true;
}

/* One of `n` elements from `offset` on lies between those of declared strides. */
static bool in_hole(const memory *mem, int64_t offset, int n)
{
	for (int j = 0; j < n; j++)
		if (mem->hole[offset + j])
			return true;
	return false;
}

/* Member numbers of the accesses of lanes lo .. hi into m->offset; false after a finding. */
bool heddle_machine_locate(machine *m, const access *x, const mask *k, int lo, int hi, const char *verb)
{
	const memory *mem = x->memory;
	bool linear = x->n != mem->buffer->rank;
	int width = mem->buffer->width;
	int reach = x->width / width; /* elements of the last dimension that one access covers */
	int64_t *offset = m->offset;
	uint8_t any = 0;

	for (int l = lo; l < hi; l++)
		offset[l] = 0;
	for (int n = 0; n < x->n; n++) {
		const int64_t *run = cells(m, x->subscript[n].at);
		int64_t limit = linear ? mem->total : mem->extent[n], stride = linear ? 1 : mem->stride[n];
		uint64_t end = (uint64_t)(n == x->n - 1 ? limit - reach + 1 : limit);
		if ((int64_t)end < 0)
			end = 0;
		if (x->subscript[n].scalar && !x->subscript[n].constant) {
			int64_t i = run[0], all = (uint64_t)i < end ? i * stride : 0;
			any |= (uint64_t)i >= end;
			for (int l = lo; l < hi; l++)
				offset[l] += all;
		} else {
			for (int l = lo; l < hi; l++) {
				bool bad = (uint64_t)run[l] >= end;
				any |= bad;
				offset[l] += bad ? 0 : run[l] * stride;
			}
		}
	}
	if (width > 1)
		for (int l = lo; l < hi; l++)
			offset[l] *= width;
	for (int l = lo; l < hi && mem->hole && !any; l++)
		if (active(k, l) && in_hole(mem, offset[l], reach)) {
			find_bounds(m, x, l, verb);
			return false;
		}
	if (!any)
		return true;
	/* a lane that is off may be one that takes no part */
	for (int l = lo; l < hi; l++) {
		if (!active(k, l))
			continue;
		for (int n = 0; n < x->n; n++) {
			int64_t limit = linear ? mem->total : mem->extent[n];
			int64_t i = subscript_value(m, x, n, l);
			if (i < 0 || i > limit - (n == x->n - 1 ? reach : 1)) {
				find_bounds(m, x, l, verb);
				return false;
			}
		}
	}
	return true;
}

void heddle_machine_check_alignment(machine *m, const access *x, const mask *k, int lo, int hi)
{
	const memory *mem = x->memory;
	int64_t bytes = (int64_t)x->width * mem->size;
	if (x->width == 1 || m->in->unaligned_vectors || mem->space == HEDDLE_SPACE_REGISTER)
		return;
	if (mem->buffer->align % bytes) {
		heddle_machine_find(m, "alignment", x->node, x->line, first_lane(k),
				    "a vector of %lld bytes in %s, which is aligned to %d", (long long)bytes,
				    mem->buffer->name, mem->buffer->align);
		return;
	}
	for (int l = lo; l < hi; l++)
		if (active(k, l) && m->offset[l] * mem->size % bytes) {
			heddle_machine_find(m, "alignment", x->node, x->line, l,
					    "a vector of %lld bytes at byte %lld of %s", (long long)bytes,
					    (long long)(m->offset[l] * mem->size), mem->buffer->name);
			return;
		}
}

/* ---- shadow memory --------------------------------------------------------------------------------------------------------------- */

static void find_race(machine *m, const access *x, int lane, int64_t member, const char *what, int other)
{
	heddle_machine_find(m, "race", x->node, x->line, lane,
			    "element %lld of %s is %s thread %d with no barrier between", (long long)member,
			    x->memory->buffer->name, what, other);
}

static void find_block_race(machine *m, const access *x, int lane, int64_t member, const char *what)
{
	heddle_machine_find(m, "race", x->node, x->line, lane, "element %lld of %s is %s another block of the launch",
			    (long long)member, x->memory->buffer->name, what);
}

void heddle_machine_find_uninitialised(machine *m, const access *x, int lane, int64_t member, const char *why)
{
	heddle_machine_find(m, "uninitialised", x->node, x->line, lane, "element %lld of %s is read %s", (long long)member,
			    x->memory->buffer->name, why);
}

static void find_copying(machine *m, const access *x, int lane, int64_t member, const char *what)
{
	heddle_machine_find(m, "race", x->node, x->line, lane < m->lanes ? lane : 0,
			    "element %lld of %s is %s while a copy to it is under way: it was not waited for", (long long)member,
			    x->memory->buffer->name, what);
}

era heddle_machine_era_of(const machine *m, const memory *mem)
{
	bool shared = mem->space == HEDDLE_SPACE_SHARED;
	return (era){shared ? m->block_start : 1, shared ? m->block_start : m->launch_start, m->block_start, m->now};
}

static bool by_other_block(const era *e, uint32_t epoch)
{
	return epoch >= e->launch && epoch < e->block;
}

void heddle_machine_shadow_read(machine *m, const access *x, const era *e, shadow *s, int lane, int64_t member)
{
	if (s->writer == COPYING) {
		find_copying(m, x, lane, member, "read");
	} else if (s->write_epoch == e->now) {
		if (s->writer != lane && s->writer != COPIED)
			find_race(m, x, lane, member, "read here and written by", s->writer);
	} else if (s->write_epoch < e->valid) {
		heddle_machine_find_uninitialised(m, x, lane, member, "and was never written");
	} else if (by_other_block(e, s->write_epoch)) {
		find_block_race(m, x, lane, member, "read here and written by");
	}
	if (s->read_epoch == e->now) {
		if (s->reader != lane)
			s->reader = MANY_READERS;
		return;
	}
	if (by_other_block(e, s->read_epoch))
		s->other_epoch = s->read_epoch;
	s->read_epoch = e->now;
	s->reader = (uint16_t)lane;
}

void heddle_machine_shadow_write(machine *m, const access *x, const era *e, shadow *s, int lane, int64_t member)
{
	if (s->writer == COPYING)
		find_copying(m, x, lane, member, "written");
	if (s->write_epoch == e->now) {
		if (s->writer != lane && s->writer < COPIER)
			find_race(m, x, lane, member, "written here and by", s->writer);
	} else if (by_other_block(e, s->write_epoch)) {
		find_block_race(m, x, lane, member, "written here and by");
	}
	if (s->read_epoch == e->now && s->reader != lane) {
		if (s->reader == MANY_READERS)
			heddle_machine_find(m, "race", x->node, x->line, lane,
					    "element %lld of %s is written here and read by several threads with no barrier "
					    "between", (long long)member, x->memory->buffer->name);
		else
			find_race(m, x, lane, member, "written here and read by", s->reader);
	} else if (by_other_block(e, s->read_epoch) || by_other_block(e, s->other_epoch)) {
		find_block_race(m, x, lane, member, "written here and read by");
	}
	s->write_epoch = e->now;
	s->writer = (uint16_t)lane;
}

/* Workspace: several granules may make one member, and another temporary may have lived there. */
void heddle_machine_watch_granules(machine *m, const access *x, const era *e, int lane, int64_t member, bool write)
{
	memory *mem = x->memory;
	uint16_t id = (uint16_t)(mem->buffer->position + 1);
	for (int g = 0; g < mem->granules; g++) {
		int64_t at = member * mem->granules + g;
		if (write) {
			heddle_machine_shadow_write(m, x, e, &mem->shadow[at], lane, member);
			mem->owner[at] = id;
		} else {
			if (mem->owner[at] && mem->owner[at] != id)
				heddle_machine_find_uninitialised(m, x, lane, member, "after another temporary wrote over it");
			heddle_machine_shadow_read(m, x, e, &mem->shadow[at], lane, member);
		}
	}
}

void heddle_machine_watch(machine *m, const access *x, const mask *k, bool write)
{
	memory *mem = x->memory;
	era e = heddle_machine_era_of(m, mem);
	if (!mem->shadow)
		return;
	for (int l = k->lo; l < k->hi; l++) {
		if (!active(k, l))
			continue;
		for (int j = 0; j < x->width; j++) {
			int64_t member = m->offset[l] + j;
			if (mem->owner)
				heddle_machine_watch_granules(m, x, &e, l, member, write);
			else if (write)
				heddle_machine_shadow_write(m, x, &e, &mem->shadow[member], l, member);
			else
				heddle_machine_shadow_read(m, x, &e, &mem->shadow[member], l, member);
		}
	}
}

/* ---- traffic ----------------------------------------------------------------------------------------------------------------------- */

/* Sectors that the lanes first .. last touch. */
static uint64_t count_sectors(const machine *m, const access *x, const mask *k, int first, int last)
{
	int64_t seen[512];
	int n = 0;
	for (int l = first; l < last; l++) {
		if (!active(k, l))
			continue;
		int64_t from = m->offset[l] * x->memory->size / m->in->transfer.sector;
		int64_t to = ((m->offset[l] + x->width) * x->memory->size - 1) / m->in->transfer.sector;
		for (int64_t s = from; s <= to; s++) {
			int j = n - 1;
			while (j >= 0 && seen[j] != s)
				j--;
			if (j < 0 && n < (int)HEDDLE_COUNT(seen))
				seen[n++] = s;
		}
	}
	return (uint64_t)n;
}

/* Greatest number of different words that one bank must give to the lanes first .. last. */
static uint64_t count_bank_cycles(const machine *m, const access *x, const mask *k, int first, int last)
{
	int64_t word[HEDDLE_MOST_BANKS][64];
	int n[HEDDLE_MOST_BANKS] = {0}, most = 0;
	for (int l = first; l < last; l++) {
		if (!active(k, l))
			continue;
		int64_t from = m->offset[l] * x->memory->size / m->in->transfer.bank_width;
		int64_t to = ((m->offset[l] + x->width) * x->memory->size - 1) / m->in->transfer.bank_width;
		for (int64_t w = from; w <= to; w++) {
			int bank = (int)(w % m->in->transfer.banks), j = n[bank] - 1;
			while (j >= 0 && word[bank][j] != w)
				j--;
			if (j < 0 && n[bank] < 64)
				word[bank][n[bank]++] = w;
			most = n[bank] > most ? n[bank] : most;
		}
	}
	return (uint64_t)most;
}

static void count_transactions(const machine *m, const access *x, const mask *k, uint64_t *requests, uint64_t *transactions)
{
	/* shared: a request moves at most one word per bank and cycle, so wide vectors go in parts of the warp, and warps of more lanes than
	 * there are banks in parts of so many */
	int bytes = x->width * x->memory->size;
	bool shared = x->memory->space == HEDDLE_SPACE_SHARED;
	const int banks = m->in->transfer.banks, word = m->in->transfer.bank_width;
	int part = shared ? (m->warp < banks ? m->warp : banks) * word / (bytes > word ? bytes : word) : m->warp;
	part = part < 1 ? 1 : part;
	for (int first = k->lo / m->warp * m->warp; first < k->hi; first += m->warp) {
		bool any = false;
		for (int at = first; at < first + m->warp && at < k->hi; at += part) {
			int from = at < k->lo ? k->lo : at, to = at + part < k->hi ? at + part : k->hi;
			uint64_t n = shared ? count_bank_cycles(m, x, k, from, to) : count_sectors(m, x, k, from, to);
			*transactions += n;
			any |= n > 0;
		}
		*requests += any;
	}
}

static void add_traffic(const machine *m, const access *x, const mask *k, bool write, heddle_interpret_traffic *t)
{
	uint64_t accesses = (uint64_t)k->count, elements = accesses * (uint64_t)x->width;
	uint64_t bytes = elements * (uint64_t)x->memory->size;
	if (write) {
		t->store_accesses += accesses;
		t->store_elements += elements;
		t->store_bytes += bytes;
	} else {
		t->load_accesses += accesses;
		t->load_elements += elements;
		t->load_bytes += bytes;
	}
	if (m->in->transfer.sector && x->memory->space != HEDDLE_SPACE_REGISTER)
		count_transactions(m, x, k, write ? &t->store_requests : &t->load_requests,
				   write ? &t->store_transactions : &t->load_transactions);
}

void heddle_machine_count_access(const machine *m, const access *x, const mask *k, bool write)
{
	heddle_interpret_traffic before = *x->memory->traffic, *t = x->memory->traffic;
	heddle_interpret_traffic *total = &m->count->space[x->memory->space];
	add_traffic(m, x, k, write, t);
	if (write) {
		total->store_accesses += t->store_accesses - before.store_accesses;
		total->store_elements += t->store_elements - before.store_elements;
		total->store_bytes += t->store_bytes - before.store_bytes;
		total->store_requests += t->store_requests - before.store_requests;
		total->store_transactions += t->store_transactions - before.store_transactions;
	} else {
		total->load_accesses += t->load_accesses - before.load_accesses;
		total->load_elements += t->load_elements - before.load_elements;
		total->load_bytes += t->load_bytes - before.load_bytes;
		total->load_requests += t->load_requests - before.load_requests;
		total->load_transactions += t->load_transactions - before.load_transactions;
	}
}
