/* One block of a launch, all its threads in lockstep: operations over lanes and control flow by masks.
 * SPDX-License-Identifier: MIT
 */
#include "harness/interpret_machine.h"

#include <string.h>

/* ---- cells and masks ---------------------------------------------------------------------------------------------------- */

/* lo, hi and count of a mask whose bytes are set between lo and hi. */
static mask measure(const uint8_t *lane, int lo, int hi)
{
	mask k = {lane, hi, lo, 0, false};
	for (int l = lo; l < hi; l++)
		if (lane[l]) {
			k.lo = l < k.lo ? l : k.lo;
			k.hi = l + 1;
			k.count++;
		}
	k.dense = k.count == k.hi - k.lo;
	return k;
}

static uint8_t *mask_bytes(const machine *m, int number)
{
	return m->masks + (size_t)number * (size_t)m->lanes;
}

/* ---- operations ------------------------------------------------------------------------------------------------------------------------------ */

static void run_ops(machine *m, int from, int to, const mask *k);

static void select_side(machine *m, const op *o, int at, const mask *k)
{
	const int64_t *condition = cells(m, o->a);
	int then = at + 1, otherwise = then + o->then, end = otherwise + o->otherwise;
	if (o->scalar) {
		if (condition[0])
			run_ops(m, then, otherwise, k);
		else
			run_ops(m, otherwise, end, k);
		return;
	}
	for (int side = 0; side < 2; side++) {
		uint8_t *bytes = mask_bytes(m, o->mask + side);
		for (int l = k->lo; l < k->hi; l++)
			bytes[l] = active(k, l) && (condition[l] != 0) == (side == 0);
		mask part = measure(bytes, k->lo, k->hi);
		if (part.count)
			run_ops(m, side ? otherwise : then, side ? end : otherwise, &part);
	}
}

/* Operations of up to three operands that go member by member. */
static void run_member(machine *m, const op *o, int j, const mask *k, int lo, int hi)
{
	int at = j * o->a_stride;
	void *d = cells(m, o->d + at);
	const void *a = cells(m, o->a < 0 ? o->a : o->a + at);
	const void *b = cells(m, o->b < 0 ? o->b : o->b + at), *c = cells(m, o->c < 0 ? o->c : o->c + at);

	switch (o->code) {
	case OP_COPY: heddle_machine_copy_lanes(o->class, d, a, o->scalar ? NULL : k, lo, hi); break;
	case OP_BROADCAST: heddle_machine_spread(o->class, d, cells(m, o->a + j), lo, hi); break;
	case OP_NEGATE: heddle_machine_negate_lanes(o, d, a, lo, hi); break;
	case OP_NOT:
		for (int l = lo; l < hi; l++)
			((int64_t *)d)[l] = !((const int64_t *)a)[l];
		break;
	case OP_FLOOR_DIV:
	case OP_FLOOR_MOD: heddle_machine_floor_lanes(o, d, a, b, lo, hi); break;
	case OP_BLEND: heddle_machine_blend_lanes(o->class, d, o->wide_condition ? a : cells(m, o->a), b, c, lo, hi); break;
	case OP_CAST: heddle_machine_cast_lanes(m, o, d, a, lo, hi); break;
	case OP_FMA: heddle_machine_fma_lanes(o, d, a, b, c, lo, hi); break;
	case OP_SPLAT: heddle_machine_copy_lanes(o->class, d, cells(m, o->a), NULL, lo, hi); break;
	default: break;
	}
}

static void run_op(machine *m, const op *o, const mask *k)
{
	int lo = o->scalar ? 0 : k->lo, hi = o->scalar ? 1 : k->hi;
	heddle_machine_check_divisor(m, o, k, lo, hi);
	m->count->float_operations += (uint64_t)(o->flops * o->width) * (uint64_t)k->count;
	switch (o->code) {
	case OP_BINARY: heddle_machine_binary(m, o, lo, hi); break;
	case OP_CALL: heddle_machine_call_lanes(m, o, k, lo, hi); break;
	case OP_REDUCE: heddle_machine_reduce(m, o, lo, hi); break;
	case OP_SHUFFLE: heddle_machine_shuffle(m, o, k); break;
	case OP_LOAD: heddle_machine_load(m, o, k); break;
	default:
		for (int j = 0; j < o->width; j++)
			run_member(m, o, j, k, lo, hi);
	}
}

static void run_ops(machine *m, int from, int to, const mask *k)
{
	for (int at = from; at < to && !m->stop; at++) {
		const op *o = &m->op[at];
		m->in->operations += (uint64_t)((o->scalar ? 1 : k->hi - k->lo) * o->width);
		if (o->code == OP_SELECT) {
			select_side(m, o, at, k);
			at += o->then + o->otherwise;
		} else {
			run_op(m, o, k);
		}
	}
}

/* ---- nodes ---------------------------------------------------------------------------------------------------------------------------------------- */

static void run_step(machine *m, const step *s, const mask *k);

static void print_rounds(const loop_round *round, heddle_text *out)
{
	if (!round)
		return;
	print_rounds(round->outer, out);
	heddle_text_printf(out, "%s%s=%lld", round->outer ? ", " : ", in round ", round->name, (long long)*round->iterator);
}

static void check_limits(machine *m, const step *s, const mask *k)
{
	heddle_interpret *in = m->in;
	bool late = false;
	in->operations++;
	if (in->operations >= m->next_look) {
		m->next_look = in->operations + 4000000;
		late = heddle_now() > m->deadline;
	}
	if (late || in->operations > in->max_operations) {
		heddle_text rounds = {0};
		print_rounds(m->round, &rounds);
		heddle_machine_find(m, "timeout", s->node->id, s->node->line, first_lane(k), "the %s is reached%s",
				    late ? "time limit" : "limit on operations", heddle_text_str(&rounds));
		heddle_text_free(&rounds);
		m->stop = true;
	}
}

static int64_t wrap_iterator(heddle_type type, int64_t i)
{
	return type == HEDDLE_INT32 ? (int32_t)i : i;
}

static void run_scalar_for(machine *m, const step *s, const mask *k)
{
	int64_t i = *(int64_t *)cells(m, s->value[0].at), upper = *(int64_t *)cells(m, s->value[1].at);
	int64_t *iterator = cells(m, s->variable);
	const loop_round here = {s->node->name, iterator, m->round};
	m->round = &here;
	while (i < upper && !m->stop) {
		*iterator = i;
		run_step(m, s->child[0], k);
		check_limits(m, s, k);
		i = wrap_iterator(s->type, (int64_t)((uint64_t)i + (uint64_t)s->node->i));
	}
	m->round = here.outer;
}

static void run_for(machine *m, const step *s, const mask *k)
{
	const int64_t *lower = cells(m, s->value[0].at), *upper = cells(m, s->value[1].at);
	int64_t *iterator = cells(m, s->variable);
	uint8_t *bytes = mask_bytes(m, s->mask);
	for (int l = k->lo; l < k->hi; l++) {
		iterator[l] = lower[l];
		bytes[l] = active(k, l);
	}
	while (!m->stop) {
		for (int l = k->lo; l < k->hi; l++)
			bytes[l] = bytes[l] && iterator[l] < upper[l];
		mask part = measure(bytes, k->lo, k->hi);
		if (!part.count)
			return;
		run_step(m, s->child[0], &part);
		check_limits(m, s, &part);
		for (int l = k->lo; l < k->hi; l++)
			iterator[l] = wrap_iterator(s->type, (int64_t)((uint64_t)iterator[l] + (uint64_t)s->node->i));
	}
}

static void run_if(machine *m, const step *s, const mask *k)
{
	const int64_t *condition = cells(m, s->value[0].at);
	if (s->scalar) {
		if (condition[0])
			run_step(m, s->child[0], k);
		else if (s->n_child > 1)
			run_step(m, s->child[1], k);
		return;
	}
	uint8_t *bytes[2] = {mask_bytes(m, s->mask), mask_bytes(m, s->mask + 1)};
	for (int l = k->lo; l < k->hi; l++) {
		bytes[0][l] = active(k, l) && condition[l];
		bytes[1][l] = active(k, l) && !condition[l];
	}
	for (int side = 0; side < s->n_child; side++) {
		mask part = measure(bytes[side], k->lo, k->hi);
		if (part.count && !m->stop)
			run_step(m, s->child[side], &part);
	}
}

static void run_barrier(machine *m, const step *s, const mask *k)
{
	if (k->count != m->lanes) {
		heddle_machine_find(m, "barrier", s->node->id, s->node->line, first_lane(k),
				    "%d of %d threads of the block reach the barrier", k->count, m->lanes);
		m->stop = true;
	}
	m->count->barriers++;
	m->now++;
}

static void run_declare(machine *m, const step *s, const mask *k)
{
	for (int64_t n = 0; n < s->memory->members; n++) {
		unsigned char *written = heddle_machine_register_written(m, s->memory, n);
		if (k->dense)
			memset(written + k->lo, 0, (size_t)(k->hi - k->lo));
		else
			for (int l = k->lo; l < k->hi; l++)
				written[l] = k->lane[l] ? 0 : written[l];
	}
}

static void run_step(machine *m, const step *s, const mask *k)
{
	m->count->runs[s->node->id]++;
	m->count->lanes[s->node->id] += (uint64_t)k->count;
	if (s->to > s->from)
		run_ops(m, s->from, s->to, k);
	if (m->stop)
		return;
	switch (s->node->kind) {
	case HEDDLE_NODE_BLOCK:
		for (int n = 0; n < s->n_child && !m->stop; n++)
			run_step(m, s->child[n], k);
		break;
	case HEDDLE_NODE_FOR:
		if (s->scalar)
			run_scalar_for(m, s, k);
		else
			run_for(m, s, k);
		break;
	case HEDDLE_NODE_IF: run_if(m, s, k); break;
	case HEDDLE_NODE_STORE: heddle_machine_store(m, s, k); break;
	case HEDDLE_NODE_BARRIER: run_barrier(m, s, k); break;
	case HEDDLE_NODE_COPY: heddle_machine_copy(m, s, k); break;
	case HEDDLE_NODE_WAIT: heddle_machine_wait(m, s, k); break;
	case HEDDLE_NODE_DECLARE: run_declare(m, s, k); break;
	case HEDDLE_NODE_LET:
	case HEDDLE_NODE_COMMENT: break;
	}
}

void heddle_machine_block(machine *m)
{
	mask all = {m->masks, 0, m->lanes, m->lanes, true};
	m->now++;
	m->block_start = m->now;
	m->cell[m->block_cell] = (uint64_t)m->block;
	m->count->blocks++;
	run_step(m, m->body, &all);
	heddle_machine_end_copies(m);
	if (!m->stop)
		check_limits(m, m->body, &all);
}
