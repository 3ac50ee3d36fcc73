/* Instructions, chains and registers of a candidate, in closed form.
 * SPDX-License-Identifier: MIT
 */
#include "cost/footprint_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* SPILLED: how often an iteration stores and loads a value that is not in a register: sums once, operands for each use.
 * OTHER: registers of one thread with vectors for what is neither sum nor operand.  Both fitted on the timings of
 * bench/replay. */
enum { SPILLED = 3, OTHER = 1 };

/* Words of a simt thread: its block, its place in that, its loops. */
enum { INDICES = 4 };

/* ---- values ------------------------------------------------------------------------------------------------------ */

/* Instructions of one operator for the elements that a thread has of these dimensions. */
static double width(const footprint_counter *k, const heddle_shape *s, unsigned mask, bool wide)
{
	double n = heddle_shape_items(s, mask);
	for (int d = 0; d < s->stmt->n_dim; d++)
		n *= mask >> d & 1 && !(k->o->simd && d == s->lockstep) ? s->layout[d].vector : 1;
	if (k->o->simd && s->lockstep >= 0 && mask >> s->lockstep & 1)
		n *= s->edge * fmax(1, s->layout[s->lockstep].vector * (wide ? 8 : 4) / k->o->vector_bytes);
	return n;
}

static double instructions(const footprint_counter *k)
{
	double n = 0;
	for (int i = 0; i < HEDDLE_N_INSTRUCTION; i++)
		n += k->load->instruction[i];
	return n;
}

/* Iterations under way at the same time, each of so many instructions. */
static double overlap(const footprint_counter *k, double body)
{
	const heddle_quantity *window = &k->o->descriptor->window;
	return window->set ? fmax(FOOTPRINT_UNROLLED, window->value / fmax(body, 1)) : FOOTPRINT_UNROLLED;
}

/* `reads`: iterations that wait for global memory; `before`: instructions of the block so far. */
static void count_values(footprint_counter *k, const heddle_shape *s, double reads, double before)
{
	const unsigned all = (1u << s->stmt->n_dim) - 1;
	const double iterations = heddle_shape_runs(s, all, false);
	double terms = 1, inner = 1;
	for (int i = 0; i < s->stmt->n_operator; i++) {
		const heddle_outline_operator *o = &s->stmt->operator[i];
		footprint_count(k, o->kind, heddle_shape_runs(s, o->mask, false) * width(k, s, o->mask, o->wide));
	}
	const double conditions = s->guarded > 0 ? s->guarded : s->stmt->n_comparison ? 2 : 0;
	/* in a triangle each result asks whether it has the term */
	const double cut = s->stmt->cut ? 2 * width(k, s, s->stmt->cut, false) : 0;
	footprint_count(k, HEDDLE_INSTRUCTION_BRANCH, iterations * (1 + conditions + cut));
	footprint_count(k, HEDDLE_INSTRUCTION_INTEGER, iterations * (k->o->simd ? 0.75 * s->stmt->n_comparison : 0.5));
	for (int d = 0; d < s->stmt->n_dim; d++) {
		terms *= s->stmt->reductions >> d & 1 ? s->tiles[d] * s->items[d] : 1;
		inner *= s->stmt->reductions >> d & 1 ? s->items[d] : 1;
	}
	if (s->stmt->stmt->reduction)
		k->load->chain[s->stmt->sum] += terms * heddle_shape_runs(s, k->o->simd ? all : s->stmt->locals, true);
	const double under_way =
		s->stmt->ordered ? 1 : overlap(k, (instructions(k) - before) / (k->warps * iterations));
	const double depths = s->stmt->ordered ? iterations : fmax(1, iterations / under_way);
	/* loads are not on the path of sums, but where a loop of terms begins */
	const double waits = k->o->simd && s->stmt->stmt->reduction && !s->stmt->ordered
				     ? fmin(reads / under_way, iterations / inner)
				     : reads / under_way;
	k->load->chain[HEDDLE_INSTRUCTION_GLOBAL_LOAD] += reads > 0 ? fmax(1, waits) : 0;
	for (int i = 0; i < HEDDLE_N_INSTRUCTION; i++)
		k->load->chain[i] +=
			s->stmt->depth[i] * (s->stmt->stmt->reduction && i == (int)s->stmt->sum ? 1 : depths);
	k->load->peak_runs = fmax(k->load->peak_runs, SPILLED * iterations);
}

/* ---- sums -------------------------------------------------------------------------------------------------------- */

/* Lanes and elements of a vector meet: `each` results of a thread, `runs` times. */
static void count_combine(footprint_counter *k, const heddle_shape *s, double each, double runs)
{
	const bool power = (k->c->lanes & (k->c->lanes - 1)) == 0;
	const int lanes = s->lanes & s->stmt->reductions ? k->c->lanes : 1, warp = k->o->warp;
	const bool shuffles = k->o->language.shuffles && !k->c->lanes_outer && power && k->threads % warp == 0;
	const double near = lanes < warp ? lanes : warp, steps = shuffles ? log2(near) : 0;
	double vectors = 1;
	for (int d = 0; d < s->stmt->n_dim; d++)
		vectors *= s->stmt->reductions >> d & 1 ? s->layout[d].vector : 1;
	const double halves = log2(vectors) * each * runs;
	footprint_count(k, s->stmt->sum, k->o->simd ? halves : (vectors - 1) * each * runs);
	footprint_count(k, HEDDLE_INSTRUCTION_PERMUTE, k->o->simd ? halves : 0);
	if (lanes < 2)
		return;
	footprint_count(k, HEDDLE_INSTRUCTION_SHUFFLE, steps * each * runs);
	footprint_count(k, s->stmt->sum, steps * each * runs);
	k->load->chain[HEDDLE_INSTRUCTION_SHUFFLE] += steps * runs;
	k->load->chain[s->stmt->sum] += steps * runs;
	if (shuffles && lanes <= warp)
		return;
	const double far = shuffles ? 2 : ceil(log2(lanes)), barriers = shuffles ? 1 : far + 1;
	footprint_count(k, HEDDLE_INSTRUCTION_SHARED_STORE, each * runs * (shuffles ? 1 : far));
	footprint_count(k, HEDDLE_INSTRUCTION_SHARED_LOAD, each * runs * far);
	footprint_count(k, s->stmt->sum, each * runs * far);
	footprint_count(k, HEDDLE_INSTRUCTION_BARRIER, barriers * runs);
	k->load->shared_cycles += 2 * each * runs * far * k->warps;
	k->load->chain[HEDDLE_INSTRUCTION_SHARED_LOAD] += far * runs;
	k->load->chain[HEDDLE_INSTRUCTION_BARRIER] += barriers * runs;
	k->load->shared_bytes += each * s->stmt->sum_bytes * (shuffles ? k->threads / warp : k->threads);
}

/* Share of the results in the last, incomplete group of a thread's items.  They are summed one by one, without sharing operands;
 * along the dimension of the vectors whole vectors are left out instead. */
static double remainder_of(const heddle_shape *s)
{
	double full = 1;
	for (int d = 0; d < s->stmt->n_dim; d++)
		if (s->stmt->members >> d & 1 && s->layout[d].items > 1 && d != s->lockstep)
			full *= 1 - fmod(floor(s->stmt->extent[d] / s->layout[d].vector), s->layout[d].items) *
					    s->layout[d].vector / s->stmt->extent[d];
	return 1 - full;
}

/* What a thread sums into: registers, or an array in memory where there are several rounds in each step. */
static void count_sums(footprint_counter *k, const heddle_shape *s)
{
	const unsigned all = (1u << s->stmt->n_dim) - 1;
	const double unit = k->o->simd ? 1 : fmax(1, s->stmt->sum_bytes / 4);
	double rounds = 1, steps = 1, vectors = 1;
	if (!s->stmt->stmt->reduction) {
		k->sums = k->o->simd ? 1 + s->stmt->n_access : fmin(width(k, s, all, false), FOOTPRINT_UNDER_WAY);
		k->loaded = k->o->simd ? 0 : k->loaded;
		return;
	}
	const double sums = width(k, s, all, s->stmt->sum_bytes > 4) / s->edge, runs = heddle_shape_runs(s, all, true);
	for (int d = 0; d < s->stmt->n_dim; d++) {
		rounds *= s->layout[d].rounds;
		steps *= s->tiles[d];
		vectors *= s->stmt->reductions >> d & 1 ? s->layout[d].vector : 1;
	}
	k->loaded = k->o->simd ? fmin(k->loaded, k->o->descriptor->vector_registers.value / 2) : k->loaded;
	const int target = s->stmt->access[0].group; /* what is held of it counts as a group's */
	k->sums = fmax(0, sums * unit - (target < 0 ? 0 : k->group[target]));
	if (rounds > 1 && !k->outside)
		footprint_count(k, HEDDLE_INSTRUCTION_STACK, 2 * sums * rounds * (steps + 1));
	const double lone = k->o->simd ? remainder_of(s) * heddle_shape_runs(s, all, false) * sums : 0;
	footprint_count(k, HEDDLE_INSTRUCTION_STACK, 2 * lone);
	k->load->chain[s->stmt->sum] += lone;
	count_combine(k, s,
		      k->o->simd && s->lockstep >= 0 && s->stmt->reductions >> s->lockstep & 1 ? sums : sums / vectors,
		      runs);
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

/* Bytes of lines that a block writes of the target. */
static double written(const footprint_counter *k, const heddle_shape *s)
{
	const heddle_outline_access *a = &s->stmt->access[0];
	double elements = 1, run = 1;
	for (int d = 0; d < s->stmt->n_dim; d++) {
		const bool member = s->stmt->members >> d & 1;
		const double here =
			s->stmt->extent[d] / (member ? heddle_outline_blocks(k->o, k->c, s->stmt->slot[d]) : 1);
		elements *= a->mask >> d & 1 ? here : 1;
		run = a->row >= 0 && a->factor[a->row][d] == 1 ? here : run;
	}
	const double bytes = run * a->bytes;
	return elements * a->bytes * ceil(bytes / k->o->line) * k->o->line / bytes;
}

static bool is_read(const footprint_counter *k, const heddle_tensor *tensor)
{
	bool any = false;
	for (int s = 0; s < k->o->n_stmt; s++)
		for (int a = 1; a < k->o->stmt[s].n_access && !any; a++)
			any = k->o->stmt[s].access[a].access->tensor == tensor &&
			      footprint_space(k, &k->o->stmt[s].access[a]) != HEDDLE_SPACE_REGISTER;
	return any;
}

static void count_results(footprint_counter *k, const heddle_shape *s, int stmt)
{
	const heddle_outline_access *target = &s->stmt->access[0];
	if (target->carried)
		return;
	const heddle_statement *source = s->stmt->stmt->source;
	const unsigned all = (1u << s->stmt->n_dim) - 1;
	const int g = target->group;
	bool last = true;
	for (int t = stmt + 1; t < k->o->n_stmt; t++)
		last = last && k->o->stmt[t].access[0].group != g;
	if (g >= 0 && k->c->group[g].space == HEDDLE_SPACE_REGISTER && !(last && k->o->group[g].used_after))
		return;
	const footprint_request r = footprint_request_of(k, s, target);
	const double runs =
		heddle_shape_runs(s, s->stmt->stmt->reduction ? target->mask : all, s->stmt->stmt->reduction);
	const double bytes = written(k, s);
	k->load->stored += bytes;
	k->load->streamed += g >= 0 && k->c->streams >> g & 1 ? bytes : 0;
	k->results = FOOTPRINT_ADDRESS * r.addresses;
	footprint_access(k, s, target, &r, runs, true);
	const bool adds = source->assign != HEDDLE_ASSIGN_SET && !source->initialise;
	if (adds)
		footprint_access(k, s, target, &r, runs, false);
	k->load->updated += adds || is_read(k, target->access->tensor) ? bytes : 0;
}

/* ---- the kernel -------------------------------------------------------------------------------------------------- */

/* Results of statements before it that the statement reads, and other threads have written. */
static void count_waits(footprint_counter *k, const heddle_shape *s, int stmt)
{
	bool waits = false;
	for (int a = 1; a < s->stmt->n_access; a++) {
		const int g = s->stmt->access[a].group;
		waits = waits || (g >= 0 && k->o->group[g].written && k->c->group[g].space == HEDDLE_SPACE_GLOBAL &&
				  k->o->group[g].stmt < stmt);
	}
	if (!waits || k->threads == 1)
		return;
	footprint_count(k, HEDDLE_INSTRUCTION_BARRIER, 1);
	k->load->chain[HEDDLE_INSTRUCTION_BARRIER]++;
}

/* Those of the statement, with the groups that are held while it runs. */
static void count_registers(footprint_counter *k, int stmt)
{
	double held = 0;
	for (int g = 0; g < k->o->n_group && !k->o->simd; g++) {
		bool used = false;
		for (int s = stmt; s < k->o->n_stmt && k->o->group[g].stmt <= stmt; s++)
			for (int a = 0; a < k->o->stmt[s].n_access && !used; a++)
				used = k->o->stmt[s].access[a].group == g;
		held += used ? k->group[g] : 0;
	}
	const double loops = k->indexed + fmax(k->loaded, k->moved); /* after them, results have addresses */
	k->most = fmax(k->most, held + k->sums + fmax(loops, k->results));
}

static void keep_groups(footprint_counter *k)
{
	for (int g = 0; g < k->o->n_group; g++) {
		const heddle_slot_group *choice = &k->c->group[g];
		double words, array;
		if (choice->space == HEDDLE_SPACE_SHARED && !heddle_box_of(k->o, k->c, g, &k->box[g]))
			k->box[g] = (heddle_box){.size = {1, 1, 1, 1, 1, 1, 1, 1},
						 .run_length = 1,
						 .row_length = 1,
						 .elements = 1,
						 .columns = 1}; /* not legal */
		if (choice->space != HEDDLE_SPACE_REGISTER || !heddle_candidate_keeps(k->o, k->c, g, &words, &array))
			continue;
		if (array > 0)
			footprint_count(k, HEDDLE_INSTRUCTION_STACK, words * k->o->group[g].uses);
		else if (!k->o->simd)
			k->group[g] = words;
		else if (!k->o->stmt[k->o->group[g].stmt].stmt->reduction)
			k->kept += words;
	}
}

/* Blocks at the ends of a window: of many threads each item reads under a condition of its own, and shares no operands, but where a tile holds
 * zeros there.  `sums`: instructions of the statement's terms. */
static void count_edges(footprint_counter *k, const heddle_shape *s, double sums)
{
	double inner = 1;
	bool staged = true;
	for (int a = 1; a < s->stmt->n_access; a++)
		staged = staged && (!s->stmt->access[a].rank || footprint_space(k, &s->stmt->access[a]) == HEDDLE_SPACE_SHARED);
	for (int d = 0; d < s->stmt->n_dim; d++)
		if (s->stmt->reach[d] > 0 && s->stmt->slot[d] >= 0)
			inner *= fmax(0, 1 - 2 / ceil(s->stmt->extent[d] / heddle_slot_tile(&s->layout[d])));
	if (k->o->simd || staged)
		return;
	footprint_count(k, HEDDLE_INSTRUCTION_BRANCH, (1 - inner) * sums);
	footprint_count(k, HEDDLE_INSTRUCTION_INTEGER, (1 - inner) * sums);
	footprint_count(k, HEDDLE_INSTRUCTION_GLOBAL_LOAD, (1 - inner) * sums);
	k->load->cache_cycles += (1 - inner) * sums * k->warps;
}

void heddle_footprint(const heddle_outline *outline, const heddle_candidate *candidate, heddle_load *load)
{
	footprint_counter k = {.o = outline, .c = candidate, .load = load, .shape = outline->shape};
	*load = (heddle_load){.blocks = 1};
	k.threads = load->threads = heddle_candidate_threads(outline, candidate);
	k.warps = (k.threads + outline->warp - 1) / outline->warp;
	k.n_lane = k.threads < outline->warp ? k.threads : outline->warp;
	k.n_lane = k.n_lane < HEDDLE_MOST_LANES ? k.n_lane : HEDDLE_MOST_LANES;
	footprint_threads(&k);
	for (int m = 0; m < outline->n_member; m++)
		load->blocks *= heddle_outline_blocks(outline, candidate, m);
	for (int s = 0; s < outline->n_stmt; s++)
		k.shape[s] = heddle_shape_of(outline, candidate, s);
	k.outside = heddle_rounds_outside(outline, candidate);
	keep_groups(&k);
	k.kept += outline->simd ? OTHER : outline->descriptor->registers.base.value + INDICES;
	for (int s = 0; s < outline->n_stmt; s++) {
		count_waits(&k, &k.shape[s], s);
		k.indexed = k.moved = k.results = 0;
		footprint_tiles(&k, &k.shape[s], s);
		const double before = instructions(&k), reads = footprint_reads(&k, &k.shape[s]);
		const heddle_instruction sum = outline->stmt[s].sum;
		const double sums = sum < HEDDLE_N_INSTRUCTION ? load->instruction[sum] : 0;
		count_values(&k, &k.shape[s], reads, before);
		if (sum < HEDDLE_N_INSTRUCTION)
			count_edges(&k, &k.shape[s], (load->instruction[sum] - sums) / k.warps);
		count_sums(&k, &k.shape[s]);
		count_results(&k, &k.shape[s], s);
		count_registers(&k, s);
	}
	load->registers = k.kept + k.most;
	load->min_blocks = candidate->resident;
	heddle_footprint_reuse(outline, candidate, k.shape, k.box, load);
}
