/* Footprints, traffic, occupancy and time of mapped kernels.
 * SPDX-License-Identifier: MIT
 */
#include "cost/estimate.h"

#include "cost/choose.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Registers that addresses, loop counters and temporaries take besides arrays. */
#define BASE_REGISTERS 24

typedef struct estimator {
	heddle_arena *arena;
	const heddle_scop *scop;
	const heddle_kernel *kernel;
	heddle_kernel_estimate *out;
	heddle_kernel_count count;
	const int64_t *size;
} estimator;

static double quantity(const heddle_quantity *q, double otherwise)
{
	return q->set && q->value > 0 ? q->value : otherwise;
}

static double extent(const estimator *e, const heddle_stmt *stmt, int dim)
{
	return (double)heddle_scop_dim_extent(e->scop, stmt, dim);
}

/* How many values a dimension takes within one block, or within one step of a block. */
static double range_in_block(const estimator *e, const heddle_stmt *stmt, int dim, bool step)
{
	const heddle_dim *d = &stmt->dim[dim];
	double whole = extent(e, stmt, dim), tile = (double)d->layout.tile;
	if (d->member < 0 && !step)
		return whole;
	return tile < whole ? tile : whole;
}

/* Greatest difference between two values of a subscript within a block; negative: not affine, anything may be touched. */
static double width(const estimator *e, const heddle_stmt *stmt, const heddle_expr *expr, bool step)
{
	double a, b;
	switch (expr->kind) {
	case HEDDLE_EXPR_INT:
	case HEDDLE_EXPR_SIZE:
		return 0;
	case HEDDLE_EXPR_INDEX:
		return range_in_block(e, stmt, expr->index->position, step) - 1;
	case HEDDLE_EXPR_CAST:
	case HEDDLE_EXPR_UNARY:
		return width(e, stmt, expr->arg[0], step);
	case HEDDLE_EXPR_BINARY:
		a = width(e, stmt, expr->arg[0], step);
		b = width(e, stmt, expr->arg[1], step);
		if (a < 0 || b < 0)
			return -1;
		if (expr->op == HEDDLE_OP_MUL && expr->arg[0]->kind == HEDDLE_EXPR_INT)
			return fabs((double)expr->arg[0]->i) * b;
		if (expr->op == HEDDLE_OP_MUL && expr->arg[1]->kind == HEDDLE_EXPR_INT)
			return fabs((double)expr->arg[1]->i) * a;
		if (expr->op == HEDDLE_OP_DIV && expr->arg[1]->kind == HEDDLE_EXPR_INT)
			return floor(a / (double)llabs(expr->arg[1]->i)) + 1;
		return a + b;
	default:
		return -1;
	}
}

/* Is dimension i of the tensor a row of which memory moves all whatever is asked for?  Then its neighbours follow at once. */
static bool is_short_row(const estimator *e, const heddle_tensor *tensor, int i)
{
	const heddle_memory *memory = heddle_descriptor_memory(e->scop->descriptor, "global");
	const double bytes = (double)heddle_scop_estimate(e->scop, tensor->extent[i]) * heddle_type_size(tensor->type);
	return i == tensor->rank - 1 && i == heddle_tensor_inner(tensor) && memory && bytes <= quantity(&memory->sector, 0);
}

/* Bytes of the tensor that one block touches through an access. */
static double footprint(const estimator *e, const heddle_stmt *stmt, const heddle_access *access, bool step)
{
	double bytes = heddle_type_size(access->tensor->type);
	for (int i = 0; i < access->tensor->rank; i++) {
		const heddle_expr *subscript = access->expr ? access->expr->arg[i] : stmt->source->lhs[i];
		double most = (double)heddle_scop_estimate(e->scop, access->tensor->extent[i]);
		double here = width(e, stmt, subscript, step);
		if (here < 0) {
			/* an indirect subscript picks at most one element per instance */
			here = 0;
			for (int d = 0; d < stmt->n_dim; d++)
				here = here > range_in_block(e, stmt, d, step) ? here : range_in_block(e, stmt, d, step);
			here -= 1;
		}
		bytes *= here + 1 < most && !is_short_row(e, access->tensor, i) ? here + 1 : most;
	}
	return bytes;
}

/* Bytes that lie side by side in what a block touches through an access: along the tensor's rows, on through whole rows. */
static double run_bytes(const estimator *e, const heddle_stmt *stmt, const heddle_access *access, bool step)
{
	const int inner = heddle_tensor_inner(access->tensor), rank = access->tensor->rank;
	double bytes = heddle_type_size(access->tensor->type);
	for (int i = inner; i >= 0 && inner == rank - 1; i--) {
		const heddle_expr *subscript = access->expr ? access->expr->arg[i] : stmt->source->lhs[i];
		const double whole = (double)heddle_scop_estimate(e->scop, access->tensor->extent[i]);
		const double here = is_short_row(e, access->tensor, i) ? whole : width(e, stmt, subscript, step) + 1;
		bytes *= here < 1 ? 1 : here < whole ? here : whole;
		if (here < whole)
			break;
	}
	return bytes;
}

/* Tiles that the statement has along the kernel's members. */
static double tiles_of(const estimator *e, const heddle_stmt *stmt)
{
	double n = 1;
	for (int d = 0; d < stmt->n_dim; d++)
		if (stmt->dim[d].member >= 0)
			n *= ceil(extent(e, stmt, d) / (double)e->kernel->member[stmt->dim[d].member].layout.tile);
	return n;
}

/* Blocks in which the statement has something to do: others of the kernel may go further. */
static double blocks_of(const estimator *e, const heddle_stmt *stmt)
{
	return fmin(tiles_of(e, stmt), e->out->blocks);
}

static double steps(const estimator *e, const heddle_stmt *stmt)
{
	double n = 1;
	for (int d = 0; d < stmt->n_dim; d++)
		if (stmt->dim[d].member < 0)
			n *= ceil(extent(e, stmt, d) / (double)stmt->dim[d].layout.tile);
	return n;
}

static double tile_bytes(const heddle_group *group)
{
	return (double)(heddle_tile_elements(group) * heddle_type_size(group->tensor->type));
}

/* Words of a thread: on vector units what belongs to other rounds and tiles is in memory; compilers of simt chips would spill it. */
static double register_words(const estimator *e, const heddle_registers *r)
{
	const bool simd = e->scop->descriptor->execution == HEDDLE_SIMD;
	double n = heddle_type_size(r->type) > 4 ? 2 : 1;
	for (int i = 0; i < r->n; i++)
		n *= simd && r->c[i].part <= HEDDLE_PART_ROUND ? 1 : (double)r->c[i].extent;
	return n;
}

/* Position of the group in its kernel. */
static int index_of(const estimator *e, const heddle_group *group)
{
	int g = 0;
	while (e->kernel->group[g] != group)
		g++;
	return g;
}

static void estimate_group(estimator *e, const heddle_group *group)
{
	static const char *const space[] = {"global", "shared", "register"};
	heddle_group_estimate g = {.space = space[group->space]};
	g.name = heddle_arena_printf(e->arena, "%s.%d", group->tensor->name, group->number);
	if (group->space == HEDDLE_SPACE_SHARED) {
		g.footprint = tile_bytes(group);
		g.traffic = footprint(e, group->stmt, group->access, true) * steps(e, group->stmt) * blocks_of(e, group->stmt);
		g.run = run_bytes(e, group->stmt, group->access, true);
		g.why = "read again by other threads of the block, or across rows";
		e->out->shared_bytes += g.footprint;
	} else if (group->space == HEDDLE_SPACE_REGISTER) {
		const heddle_stmt *writer = group->last_writer;
		g.footprint = footprint(e, writer, &writer->access[0], false);
		g.traffic = group->live_out ? g.footprint * blocks_of(e, writer) : 0;
		g.run = run_bytes(e, writer, &writer->access[0], false);
		g.why = group->live_out ? "each thread keeps to its own elements; stored once" : "lives and dies in the kernel";
		e->out->registers += register_words(e, &group->registers);
	} else {
		double most = 0;
		for (int s = 0; s < e->kernel->n_stmt; s++)
			for (int a = 0; a < e->kernel->stmt[s]->n_access; a++) {
				const heddle_stmt *stmt = e->kernel->stmt[s];
				if (stmt->access[a].group != group)
					continue;
				double here = footprint(e, stmt, &stmt->access[a], false);
				const double run = run_bytes(e, stmt, &stmt->access[a], false);
				most = here > most ? here : most;
				g.run = g.run == 0 || run < g.run ? run : g.run;
				g.traffic += here * blocks_of(e, stmt);
			}
		g.footprint = most;
		const heddle_movement *moved = &e->count.group[index_of(e, group)];
		const bool left = group->tensor->role == HEDDLE_ROLE_TEMPORARY && moved->load_bytes + moved->store_bytes == 0;
		g.traffic = left ? 0 : g.traffic;
		g.why = left			? "each step leaves it in registers for the next one"
			: group->access->affine ? "used once per thread, or its tile does not fit"
						: "subscript known only at run time";
	}
	e->out->traffic += g.traffic;
	HEDDLE_PUSH(e->arena, e->out->group, e->out->n_group, g);
}

static double operations(const heddle_expr *expr)
{
	double n = 0;
	bool counts = heddle_type_is_float(expr->type) &&
		      (expr->kind == HEDDLE_EXPR_BINARY || expr->kind == HEDDLE_EXPR_CALL || expr->kind == HEDDLE_EXPR_UNARY);
	for (int i = 0; i < expr->n_arg; i++)
		n += operations(expr->arg[i]);
	return n + counts;
}

static void estimate_work(estimator *e)
{
	for (int s = 0; s < e->kernel->n_stmt; s++) {
		const heddle_stmt *stmt = e->kernel->stmt[s];
		double volume = 1, per = operations(stmt->value) + (stmt->source->assign != HEDDLE_ASSIGN_SET);
		for (int d = 0; d < stmt->n_dim; d++)
			volume *= extent(e, stmt, d);
		e->out->flops += volume * per;
		const char *name = heddle_arena_strdup(e->arena, stmt->name);
		HEDDLE_PUSH(e->arena, e->out->stmt, e->out->n_stmt, name);
		if (!stmt->reduction)
			continue;
		if (!stmt->in_group)
			e->out->registers += register_words(e, &stmt->accumulator);
		for (int d = 0; d < stmt->n_dim; d++)
			if (!stmt->dim[d].reduction)
				e->out->registers += (double)(stmt->dim[d].layout.items * stmt->dim[d].layout.vector);
		if (e->kernel->lanes > 1)
			e->out->shared_bytes += 4 * (double)e->kernel->threads / quantity(&e->scop->descriptor->warp, 1);
	}
}

/* Threads that a block takes: whole warps. */
static double whole_warps(const estimator *e)
{
	const double warp = quantity(&e->scop->descriptor->warp, 1);
	return ceil(e->out->threads / warp) * warp;
}

/* Registers and shared memory are given out in units; what is left over is lost. */
static double rounded(double value, const heddle_quantity *unit)
{
	double u = quantity(unit, 1);
	return ceil(value / u) * u;
}

static void limit(heddle_kernel_estimate *k, double fits, const char *by)
{
	if (fits < k->resident) {
		k->resident = fits;
		k->limiter = by;
	}
}

/* What threads take: at most their share of a unit's registers. */
static double thread_registers(const estimator *e)
{
	const heddle_descriptor *d = e->scop->descriptor;
	double kept = 0;
	for (int g = 0; g < e->kernel->n_group; g++)
		if (e->kernel->group[g]->space == HEDDLE_SPACE_REGISTER)
			kept += choose_kept_words(e->kernel, e->kernel->group[g]->tensor, &e->kernel->group[g]->registers);
	const double wanted = round(choose_registers(e->scop, e->kernel, kept, false)); /* there are no parts of one */
	const int resident = e->kernel->config ? e->kernel->config->resident : 0;
	if (!resident || !d->registers_per_unit.set)
		return wanted;
	const double unit = quantity(&d->register_granularity, 1);
	const double share = floor(d->registers_per_unit.value / (resident * whole_warps(e)) / unit) * unit;
	return fmin(wanted, share);
}

static void estimate_occupancy(estimator *e)
{
	const heddle_descriptor *d = e->scop->descriptor;
	heddle_kernel_estimate *k = e->out;
	if (d->execution != HEDDLE_SIMD)
		k->registers = thread_registers(e);
	double per_unit = quantity(&d->threads_per_unit, k->threads);
	k->resident = quantity(&d->blocks_per_unit, 1);
	k->limiter = "blocks per unit";
	limit(k, floor(per_unit / whole_warps(e)), "threads per unit");
	if (d->registers_per_unit.set) {
		limit(k, choose_register_blocks(d, k->threads, k->registers), "registers");
	}
	if (d->shared_per_unit.set && k->shared_bytes > 0)
		limit(k, floor(d->shared_per_unit.value / rounded(k->shared_bytes + quantity(&d->shared_reserved, 0), &d->shared_granularity)),
		      "shared memory");
	if (k->resident < 1)
		k->resident = 1;
	k->fits = !d->registers_per_thread.set || k->registers <= d->registers_per_thread.value;
	k->occupancy = k->resident * k->threads / per_unit;
	if (k->occupancy > 1)
		k->occupancy = 1;
	k->waves = k->blocks / (k->resident * quantity(&d->units, 1));
}

/* ---- time ------------------------------------------------------------------------------------------------------------------ */

static double bandwidth(const estimator *e, const char *memory)
{
	const heddle_memory *m = heddle_descriptor_memory(e->scop->descriptor, memory);
	return m && m->bandwidth.set ? m->bandwidth.value : 0;
}

static double capacity(const estimator *e, const char *memory)
{
	const heddle_memory *m = heddle_descriptor_memory(e->scop->descriptor, memory);
	return m && m->size.set ? m->size.value : 0;
}

static double latency(const estimator *e, const char *memory)
{
	const heddle_memory *m = heddle_descriptor_memory(e->scop->descriptor, memory);
	return m && m->latency.set ? m->latency.value : 0;
}

/* The cache that all units share, the outermost one that the descriptor names: where blocks' traffic meets. */
static const char *last_cache(const estimator *e)
{
	return bandwidth(e, "l3") > 0 ? "l3" : "l2";
}

/* Does what the group reads or writes change with a member of the kernel? */
static bool moves_along(const estimator *e, const heddle_group *group, int member)
{
	for (int s = 0; s < e->kernel->n_stmt; s++)
		for (int a = 0; a < e->kernel->stmt[s]->n_access; a++) {
			const heddle_stmt *stmt = e->kernel->stmt[s];
			for (int d = 0; d < stmt->n_dim && stmt->access[a].group == group; d++)
				if (stmt->dim[d].member == member && choose_depends_on(stmt, &stmt->access[a], d))
					return true;
		}
	return false;
}

static double blocks_along(const estimator *e, int member)
{
	for (int d = 0; d < e->kernel->stmt[0]->n_dim; d++)
		if (e->kernel->stmt[0]->dim[d].member == member)
			return ceil(extent(e, e->kernel->stmt[0], d) / (double)e->kernel->member[member].layout.tile);
	return 1;
}

/* Bytes of a group that the blocks touch which differ in the `inside` fastest members only. */
static double touched(const estimator *e, int g, int inside)
{
	double bytes = e->out->group[g].traffic / e->out->blocks;
	for (int i = 0; i < inside; i++) {
		const int member = e->kernel->member_order[e->kernel->n_member - 1 - i];
		bytes *= moves_along(e, e->kernel->group[g], member) ? blocks_along(e, member) : 1;
	}
	return fmin(bytes, choose_tensor_bytes(e->scop, e->kernel->group[g]->tensor));
}

/* Where bytes come from that are used again after all groups' blocks inside of some members: the first cache beyond the nearest that
 * holds what was touched meanwhile; else memory.  Units have a part of the blocks each, of a cache that all share as well. */
static const char *kept_in(const estimator *e, int inside)
{
	static const char *const cache[] = {"l2", "l3"};
	double bytes = 0;
	for (int g = 0; g < e->kernel->n_group; g++)
		bytes += touched(e, g, inside);
	for (size_t i = 0; i < HEDDLE_COUNT(cache); i++) {
		const heddle_memory *m = heddle_descriptor_memory(e->scop->descriptor, cache[i]);
		const bool shared = m && m->scope && strcmp(m->scope, "unit") && e->scop->descriptor->execution == HEDDLE_SIMD;
		const double all = shared ? bytes * quantity(&e->scop->descriptor->units, 1) : bytes;
		if (bandwidth(e, cache[i]) > 0 && all <= 0.75 * capacity(e, cache[i]))
			return cache[i];
	}
	return "global";
}

/* Blocks one after the other that go on in the group's rows where the last one ended: those of the fastest member, where the rows run
 * along it and a block touches nothing else. */
static double blocks_in_row(const estimator *e, int g)
{
	const heddle_group *group = e->kernel->group[g];
	const int fastest = e->kernel->n_member ? e->kernel->member_order[e->kernel->n_member - 1] : -1;
	if (e->out->group[g].footprint > e->out->group[g].run)
		return 1;
	for (int s = 0; s < e->kernel->n_stmt; s++)
		for (int a = 0; a < e->kernel->stmt[s]->n_access; a++) {
			const heddle_stmt *stmt = e->kernel->stmt[s];
			const int row = heddle_row_dim(stmt, &stmt->access[a]);
			if (stmt->access[a].group == group && (row < 0 || stmt->dim[row].member != fastest))
				return 1;
		}
	return fastest < 0 ? 1 : blocks_along(e, fastest);
}

/* Bytes that lie side by side in what a step reads through an access.  Rounds along its rows go through all of them first: of more rows
 * than what fetches ahead follows, each round's part is a run of its own. */
static double step_run(const estimator *e, const heddle_stmt *stmt, const heddle_access *access)
{
	enum { FOLLOWED = 32 };
	const double run = run_bytes(e, stmt, access, true);
	const int row = heddle_row_dim(stmt, access);
	const bool many = footprint(e, stmt, access, true) > FOLLOWED * run;
	return row >= 0 && many ? run / (double)stmt->dim[row].layout.rounds : run;
}

/* Does an item of a thread read rows that leave out some before those of the next item?  The steps that read these come back. */
static bool comes_back(const estimator *e, const heddle_stmt *stmt, const heddle_access *access)
{
	for (int d = 0; d < stmt->n_dim; d++) {
		const heddle_layout *layout = &stmt->dim[d].layout;
		if (!stmt->dim[d].reduction && layout->items * layout->vector > 1 && choose_leaves_rows_out(e->scop, stmt, access, d))
			return true;
	}
	return false;
}

/* Bytes of a row that a step reads through an access. */
static double row_bytes(const estimator *e, const heddle_stmt *stmt, const heddle_access *access)
{
	const heddle_expr *row = choose_subscripts(stmt, access)[access->tensor->rank - 1];
	return (width(e, stmt, row, true) + 1) * heddle_type_size(access->tensor->type);
}

/* Bytes of a group that are fetched one after the other: rounds go on elsewhere after each step; what is brought together has all of
 * a tile to ask for. */
static double fetched_run(const estimator *e, int g)
{
	enum { ASKED_AT_ONCE = 512 };
	const heddle_group *group = e->kernel->group[g];
	double run = e->out->group[g].run * blocks_in_row(e, g);
	if (group->space == HEDDLE_SPACE_SHARED)
		return fmin(CHOOSE_PAGE, fmax(run, ASKED_AT_ONCE));
	for (int s = 0; s < e->kernel->n_stmt; s++) {
		const heddle_stmt *stmt = e->kernel->stmt[s];
		bool rounds = false;
		for (int d = 0; d < stmt->n_dim; d++)
			rounds = rounds || stmt->dim[d].layout.rounds > 1;
		for (int a = 1; a < stmt->n_access; a++) {
			if (stmt->access[a].group == group && rounds)
				run = fmin(run, step_run(e, stmt, &stmt->access[a]));
			if (stmt->access[a].group == group && comes_back(e, stmt, &stmt->access[a]))
				run = fmin(run, row_bytes(e, stmt, &stmt->access[a]));
		}
	}
	return fmin(CHOOSE_PAGE, run);
}

/* Does some statement read the group, so that a thread waits for it?  What is only written leaves by itself. */
static bool is_read(const estimator *e, const heddle_group *group)
{
	for (int s = 0; s < e->kernel->n_stmt; s++)
		for (int a = 0; a < e->kernel->stmt[s]->n_access; a++) {
			const heddle_stmt *stmt = e->kernel->stmt[s];
			const bool updates = stmt->source->assign != HEDDLE_ASSIGN_SET && !stmt->source->initialise;
			if (stmt->access[a].group == group && (a > 0 || updates))
				return true;
		}
	return false;
}

/* Is what blocks read of the group's tensor asked for by an earlier one, so that none waits for memory? */
static bool asked_ahead(const estimator *e, const heddle_group *group)
{
	for (int g = 0; g < e->kernel->n_group; g++)
		if (e->kernel->group[g]->tensor == group->tensor && e->kernel->group[g]->ahead > 0)
			return true;
	return false;
}

/* Bytes that have been asked for and not been used yet: where the nearest cache does not hold them, they come from the second one. */
static double bytes_ahead(const estimator *e)
{
	double bytes = 0;
	for (int g = 0; g < e->kernel->n_group; g++)
		bytes += (double)(e->kernel->group[g]->ahead * heddle_type_size(e->kernel->group[g]->tensor->type));
	return bytes;
}

static void fetch(estimator *e, int g, double bytes, const char *from)
{
	const heddle_descriptor *d = e->scop->descriptor;
	const heddle_group *group = e->kernel->group[g];
	const double run = fetched_run(e, g);
	e->out->memory_seconds += bytes / bandwidth(e, from);
	if (asked_ahead(e, group)) {
		e->out->memory_seconds += bytes_ahead(e) > 0.75 * capacity(e, "l1") && bandwidth(e, "l2") > 0 ? bytes / bandwidth(e, "l2") : 0;
		return;
	}
	if (d->execution == HEDDLE_SIMD && run > 0 && is_read(e, group))
		e->out->wait_seconds += bytes * latency(e, from) / (run * 2 * quantity(&d->units, 1));
}

/* Is the group's tensor written in memory, and not past the caches nor read before?  Then its lines are read for it. */
static bool fills_lines(const estimator *e, const heddle_group *group)
{
	const heddle_kernel_config *config = e->kernel->config;
	bool written = false;
	if (!e->scop->descriptor->streaming_stores || (group->space == HEDDLE_SPACE_REGISTER && !group->live_out))
		return false;
	for (int i = 0; config && i < config->n_stream; i++)
		if (!strcmp(config->stream[i], group->tensor->name))
			return false;
	for (int s = 0; s < e->kernel->n_stmt; s++)
		for (int a = 0; a < e->kernel->stmt[s]->n_access; a++) {
			const heddle_stmt *stmt = e->kernel->stmt[s];
			const bool updates = stmt->source->assign != HEDDLE_ASSIGN_SET && !stmt->source->initialise;
			if (stmt->access[a].group != group)
				continue;
			if (group->space != HEDDLE_SPACE_REGISTER && (a > 0 || updates))
				return false;
			written = written || a == 0;
		}
	return written;
}

/* Where a subscript is in a block: `first` to `last`, and so much further for each value of the kernel's members, `span` in all. */
typedef struct reach {
	int64_t of_member[HEDDLE_MAX_DIM];
	double first, last, span;
} reach;

static bool reach_of(const estimator *e, const heddle_stmt *stmt, const heddle_expr *subscript, reach *r)
{
	int64_t at[HEDDLE_MAX_DIM] = {0}, base = 0, next = 0;
	if (heddle_expr_evaluate_at(subscript, e->size, at, &base) < 0)
		return false;
	*r = (reach){.first = (double)base, .last = (double)base};
	for (int d = 0; d < stmt->n_dim; d++) {
		at[d] = 1;
		if (heddle_expr_evaluate_at(subscript, e->size, at, &next) < 0)
			return false;
		at[d] = 0;
		const double width = (double)(next - base) * (extent(e, stmt, d) - 1);
		if (stmt->dim[d].member >= 0) {
			r->of_member[stmt->dim[d].member] += next - base;
			r->span += fabs(width);
		} else {
			r->first += fmin(width, 0);
			r->last += fmax(width, 0);
		}
	}
	return true;
}

/* The share of what access `a` of a statement reads in all that `b` of another one reads, or of the same, so many elements further on:
 * x(i + 2, j) beside x(i, j).  `*inside`: how many of the kernel's members have all their blocks between the two.  0: they have nothing in
 * common, or it is not known. */
static double read_beside(const estimator *e, const heddle_stmt *stmt, const heddle_access *a, const heddle_stmt *other, const heddle_access *b,
			  int *inside)
{
	const int n = e->kernel->n_member;
	double share = 1;
	*inside = 0;
	for (int i = 0; i < a->tensor->rank; i++) {
		reach mine, theirs;
		if (!reach_of(e, stmt, a->expr->arg[i], &mine) || !reach_of(e, other, b->expr->arg[i], &theirs) ||
		    memcmp(mine.of_member, theirs.of_member, sizeof(mine.of_member)) != 0)
			return 0;
		if ((mine.first >= theirs.first && mine.last <= theirs.last) || is_short_row(e, a->tensor, i))
			continue;
		const double common = fmin(mine.last, theirs.last) - fmax(mine.first, theirs.first) + mine.span + 1;
		share *= fmax(0, common) / (mine.last - mine.first + mine.span + 1);
		for (int k = 0; k < n; k++)
			if (mine.of_member[e->kernel->member_order[n - 1 - k]]) { /* the fastest that moves */
				*inside = k > *inside ? k : *inside;
				break;
			}
	}
	return share;
}

/* The share of a group's elements that an earlier group of the kernel brought from memory. */
static double brought_before(const estimator *e, int g, int *inside)
{
	const heddle_group *group = e->kernel->group[g];
	double most = 0;
	for (int s = 0; s < e->kernel->n_stmt; s++)
		if (e->kernel->stmt[s]->access[0].tensor == group->tensor)
			return 0;
	for (int k = 0; k < g && group->access->affine && group->access->expr; k++) {
		const heddle_group *other = e->kernel->group[k];
		int between;
		if (other->tensor != group->tensor || !other->access->affine || !other->access->expr)
			continue;
		const double share = read_beside(e, group->stmt, group->access, other->stmt, other->access, &between);
		if (share > most) {
			most = share;
			*inside = between;
		}
	}
	return most;
}

/* What a tensor's traffic takes: once from memory, again from where it stays; and how long runs of it are waited for. */
static void traffic_seconds(estimator *e)
{
	const heddle_kernel *kernel = e->kernel;
	for (int g = 0; g < kernel->n_group && bandwidth(e, "global") > 0; g++) {
		double outside = e->out->blocks, left = e->out->group[g].traffic;
		for (int i = 0; i < kernel->n_member; i++) {
			const int member = kernel->member_order[kernel->n_member - 1 - i];
			const double n = blocks_along(e, member);
			outside /= n;
			if (moves_along(e, kernel->group[g], member) || n < 2)
				continue;
			const double again = fmin(left, touched(e, g, i) * (n - 1) * outside);
			fetch(e, g, again, kept_in(e, i));
			left -= again;
		}
		/* neighbours' tiles overlap, and a block may go over its own again */
		int inside = 0;
		const double once = fmin(left, choose_tensor_bytes(e->scop, kernel->group[g]->tensor));
		const double before = once * brought_before(e, g, &inside);
		fetch(e, g, left - once, kept_in(e, 0));
		fetch(e, g, before, kept_in(e, inside));
		fetch(e, g, once - before, "global");
		e->out->memory_seconds += fills_lines(e, kernel->group[g]) ? once / bandwidth(e, "global") : 0;
	}
}

/* Vector registers that hold one result per member of the vector that runs in lockstep; members of another vector are computed one
 * after the other, each with as many. */
static double vectors_of(const estimator *e, const heddle_stmt *stmt)
{
	const int lockstep = heddle_lockstep_dim(stmt, NULL);
	const double members = lockstep < 0 ? 1 : (double)stmt->dim[lockstep].layout.vector;
	const double bytes = members * heddle_type_size(heddle_type_computed(stmt->access[0].tensor->type));
	return ceil(bytes / quantity(&e->scop->descriptor->vector_bytes, 16));
}

/* Vector registers that operands take beside the sums: a row of vectors, and one more. */
static double operands_held(const estimator *e, const heddle_stmt *stmt)
{
	const int lockstep = heddle_lockstep_dim(stmt, NULL);
	const bool row = lockstep >= 0 && !stmt->dim[lockstep].reduction;
	return (row ? (double)stmt->dim[lockstep].layout.items : 1) * vectors_of(e, stmt) + 1;
}

static double stride_bytes(const estimator *e, const heddle_tensor *tensor, int dim)
{
	double bytes = heddle_type_size(tensor->type);
	if (tensor->stride)
		return bytes * (double)heddle_scop_estimate(e->scop, tensor->stride[dim]);
	for (int i = dim + 1; i < tensor->rank; i++)
		bytes *= (double)heddle_scop_estimate(e->scop, tensor->extent[i]);
	return bytes;
}

/* Bytes of a step's tile that the first cache keeps.  Rows that lie a power of two apart fall into the same few of its sets: a
 * tile that was not brought together keeps as many as their distance lets it. */
static double kept(const estimator *e, const heddle_group *group, double run)
{
	const double room = 0.75 * capacity(e, "l1");
	if (group->space == HEDDLE_SPACE_SHARED || group->tensor->rank < 2)
		return room;
	const int64_t stride = (int64_t)stride_bytes(e, group->tensor, group->tensor->rank - 2);
	int64_t places = 1;
	while (places < CHOOSE_PAGE && stride * places % CHOOSE_PAGE)
		places *= 2;
	return room * fmin(1, (double)places * run / CHOOSE_PAGE);
}

/* Rounds read tiles again that do not depend on them: from the second cache, what the first one does not keep. */
static void rounds_seconds(estimator *e)
{
	const double second = bandwidth(e, "l2");
	for (int g = 0; g < e->kernel->n_group && second > 0; g++) {
		const heddle_group *group = e->kernel->group[g];
		for (int s = 0; s < e->kernel->n_stmt; s++) {
			const heddle_stmt *stmt = e->kernel->stmt[s];
			for (int a = 1; a < stmt->n_access; a++) {
				const heddle_access *access = &stmt->access[a];
				double again = 1;
				if (access->group != group || group->space == HEDDLE_SPACE_REGISTER || !access->affine)
					continue;
				for (int d = 0; d < stmt->n_dim; d++)
					if (!choose_depends_on(stmt, access, d))
						again *= (double)stmt->dim[d].layout.rounds;
				const double bytes = footprint(e, stmt, access, true);
				const double run = group->space == HEDDLE_SPACE_SHARED ? bytes : run_bytes(e, stmt, access, true);
				if (again < 2 || bytes <= kept(e, group, run))
					continue;
				const double all = bytes * (again - 1) * steps(e, stmt) * e->out->blocks;
				if (group->space == HEDDLE_SPACE_SHARED) { /* in sequence: what fetches ahead is in time */
					e->out->memory_seconds += all / second;
					continue;
				}
				e->out->near_seconds += all / second;
				e->out->wait_seconds += all / fmin(run, CHOOSE_PAGE) * latency(e, "l2") / (2 * quantity(&e->scop->descriptor->units, 1));
			}
		}
	}
}

/* Tiles that are turned on the way, of rows too short for vectors: each element goes to a line of its own, which the next row of the
 * tensor comes back to.  Those that the nearest cache does not hold until then come from the second one. */
static void scattered_seconds(estimator *e)
{
	enum { SHORT = 4, AT_ONCE = 4 }; /* elements; stores that are under way together */
	const double room = 0.75 * capacity(e, "l1");
	for (int g = 0; g < e->kernel->n_group; g++) {
		const heddle_group *group = e->kernel->group[g];
		const int row = heddle_tensor_inner(group->tensor), last = group->tensor->rank - 1;
		if (group->space != HEDDLE_SPACE_SHARED || row < 0 || group->order[last] == row || group->size[group->order[last]] == 1 ||
		    heddle_tile_run_length(group) >= SHORT || tile_bytes(group) <= room)
			continue;
		const double elements = e->out->group[g].traffic / heddle_type_size(group->tensor->type);
		e->out->wait_seconds += elements * latency(e, "l2") / (AT_ONCE * quantity(&e->scop->descriptor->units, 1));
	}
}

/* Vector registers that the sums of one thread take, those of one round. */
static double sums_held(const estimator *e, const heddle_stmt *stmt)
{
	const int lockstep = heddle_lockstep_dim(stmt, NULL);
	double n = vectors_of(e, stmt);
	for (int d = 0; d < stmt->n_dim; d++)
		if (!stmt->dim[d].reduction)
			n *= (double)(stmt->dim[d].layout.items * (d == lockstep ? 1 : stmt->dim[d].layout.vector));
	return n;
}

/* Is what the condition of the value asks different for the lanes of a vector?  Then lanes are asked one by one at the edges. */
static bool asks_lanes(const heddle_stmt *stmt)
{
	const heddle_expr *value = stmt->source->value;
	if (stmt->value == value || value->kind != HEDDLE_EXPR_SELECT)
		return false;
	for (int d = 0; d < stmt->n_dim; d++)
		if (stmt->dim[d].layout.vector > 1 && choose_mentions(value->arg[0], d))
			return true;
	return false;
}

/* Are sums beyond the end of the dimension computed as well?  What is read for them is in tiles, filled there. */
static bool runs_over(const heddle_stmt *stmt, int dim)
{
	bool tiles = false;
	for (int a = 1; a < stmt->n_access; a++) {
		const heddle_group *group = stmt->access[a].group;
		const bool shared = group && group->space == HEDDLE_SPACE_SHARED;
		if (!shared && choose_depends_on(stmt, &stmt->access[a], dim))
			return false;
		tiles = tiles || shared;
	}
	return tiles && stmt->reduction && stmt->dim[dim].member >= 0 && stmt->value == stmt->source->value;
}

/* Elements of a dimension that are computed, of whole tiles and whole vectors; what one lane does alone takes as long as a vector's. */
static double computed_along(const estimator *e, const heddle_stmt *stmt, int dim)
{
	enum { ALONE = 4 };
	const heddle_layout *layout = &stmt->dim[dim].layout;
	const double whole = extent(e, stmt, dim), tile = (double)layout->tile, lanes = (double)(layout->vector * layout->threads);
	const double round = lanes * (double)layout->items, rest = fmod(whole, tile), alone = fmod(rest, round);
	const bool simd = e->scop->descriptor->execution == HEDDLE_SIMD;
	if (simd && runs_over(stmt, dim))
		return whole - rest + (layout->rounds > 1 ? ceil(rest / round) * round : rest > 0 ? tile : 0);
	/* blocks and threads at an edge do what there is of their tile, in whole vectors of all threads */
	const double done = tile > lanes ? ceil(whole / lanes) * lanes : ceil(whole / tile) * tile;
	/* what rounds leave over is taken one item at a time: nothing hides what each waits for */
	return simd && stmt->reduction && !stmt->dim[dim].reduction ? done * (1 + (ALONE - 1) * alone / whole) : done;
}

/* Floating-point operations, those of whole vectors. */
static double computed(const estimator *e, const heddle_stmt *stmt)
{
	enum { ASKED = 4 }; /* measured: vectors are worth a fourth where lanes are asked one by one */
	const heddle_descriptor *d = e->scop->descriptor;
	double n = choose_effort(stmt->value) + (stmt->source->assign != HEDDLE_ASSIGN_SET);
	for (int i = 0; i < stmt->n_dim; i++)
		n *= computed_along(e, stmt, i);
	if (d->execution == HEDDLE_SIMD) {
		const int lockstep = heddle_lockstep_dim(stmt, NULL);
		const double vector = lockstep < 0 ? 1 : (double)stmt->dim[lockstep].layout.vector;
		const double width = quantity(&d->vector_bytes, 16) / heddle_type_size(heddle_type_computed(stmt->access[0].tensor->type));
		n *= width / vector * vectors_of(e, stmt);
		n *= asks_lanes(stmt) ? ASKED : 1;
	}
	return n;
}

/* Loads and stores of sums that registers do not hold: of rounds once a step, of what is too much for them at every use. */
static double sums_moved(const estimator *e, const heddle_stmt *stmt)
{
	enum { SPILLED = 4 }; /* a load and a store, which the next one of the same sum waits for */
	const double held = sums_held(e, stmt), registers = quantity(&e->scop->descriptor->vector_registers, 0);
	double uses = 1, rounds = 1, n = 0;
	if (!stmt->reduction || e->scop->descriptor->execution != HEDDLE_SIMD)
		return 0;
	for (int d = 0; d < stmt->n_dim; d++) {
		const heddle_layout *layout = &stmt->dim[d].layout;
		const double vector = (double)(layout->vector * layout->items);
		rounds *= (double)layout->rounds;
		uses *= stmt->dim[d].reduction ? extent(e, stmt, d) : ceil(extent(e, stmt, d) / vector);
	}
	if (rounds > 1)
		n += 2 * held * steps(e, stmt) * rounds * e->out->blocks;
	const double beside = operands_held(e, stmt);
	if (registers > 0 && held + beside > registers)
		n += SPILLED * fmin(held, held + beside - registers) * uses;
	return n;
}

/* Vector registers that the values take which statements of a round leave for others. */
static double values_held(const estimator *e)
{
	double bytes = 0;
	for (int g = 0; g < e->kernel->n_group; g++)
		if (e->kernel->group[g]->space == HEDDLE_SPACE_REGISTER)
			bytes += register_words(e, &e->kernel->group[g]->registers) * 4;
	return bytes / quantity(&e->scop->descriptor->vector_bytes, 16);
}

/* Loads and stores of what one statement leaves for another: in an array of all tiles, or because registers do not hold it. */
static double arrays_moved(const estimator *e, const heddle_stmt *stmt)
{
	const int lockstep = heddle_lockstep_dim(stmt, NULL);
	const double registers = quantity(&e->scop->descriptor->vector_registers, 0), held = values_held(e);
	double vectors = 1, n = 0;
	for (int d = 0; d < stmt->n_dim; d++)
		vectors *= ceil(extent(e, stmt, d) / (double)(d == lockstep ? stmt->dim[d].layout.vector : 1));
	for (int a = 0; a < stmt->n_access; a++) {
		const heddle_group *group = stmt->access[a].group;
		if (group->space != HEDDLE_SPACE_REGISTER)
			continue;
		if (group->registers.n && group->registers.c[0].part == HEDDLE_PART_TILE)
			n += vectors;
		else if (registers > 0 && held > registers)
			n += vectors * (held - registers) / held;
	}
	return n;
}

/* Instructions around a block and around what its innermost loops repeat: counters, comparisons, addresses. */
static double overheads(const estimator *e, const heddle_stmt *stmt)
{
	enum { OF_LOOP = 2, OF_BLOCK = 100 };
	double n = 1;
	for (int d = 0; d < stmt->n_dim; d++) {
		const heddle_layout *layout = &stmt->dim[d].layout;
		const double unrolled = (double)(layout->vector * (stmt->dim[d].reduction ? 1 : layout->items));
		n *= ceil(extent(e, stmt, d) / unrolled);
	}
	return OF_LOOP * n + OF_BLOCK * e->out->blocks;
}

static void estimate_simd(estimator *e)
{
	const heddle_descriptor *d = e->scop->descriptor;
	heddle_kernel_estimate *k = e->out;
	const heddle_movement *global = &e->count.global, *shared = &e->count.shared;
	const double width = quantity(&d->vector_bytes, 16), near = bandwidth(e, "l1");
	k->accesses = global->load_requests + global->store_requests + shared->load_requests + shared->store_requests;
	for (int s = 0; s < e->kernel->n_stmt; s++)
		k->accesses += sums_moved(e, e->kernel->stmt[s]) + arrays_moved(e, e->kernel->stmt[s]) + overheads(e, e->kernel->stmt[s]);
	k->near_seconds = near > 0 ? k->accesses * width / near : 0;
	rounds_seconds(e);
	scattered_seconds(e);
}

/* Bytes that a unit must have asked for so that memory is busy: its share of bandwidth x latency. */
static double in_flight_wanted(const estimator *e)
{
	return bandwidth(e, "global") * latency(e, "global") / quantity(&e->scop->descriptor->units, 1);
}

/* Bytes of global memory that one thread asks for before it needs the first of them. */
static double bytes_in_flight(const estimator *e)
{
	enum { LEAST = 64 };
	double most = 4;
	for (int s = 0; s < e->kernel->n_stmt; s++) {
		const heddle_stmt *stmt = e->kernel->stmt[s];
		double bytes = 0;
		for (int a = 1; a < stmt->n_access; a++) {
			double here = heddle_type_size(stmt->access[a].tensor->type);
			for (int d = 0; d < stmt->n_dim; d++)
				if (choose_depends_on(stmt, &stmt->access[a], d))
					here *= (double)(stmt->dim[d].layout.vector * (stmt->dim[d].reduction ? 1 : stmt->dim[d].layout.items));
			const heddle_group *group = stmt->access[a].group;
			if (group && group->space == HEDDLE_SPACE_REGISTER)
				continue;
			if (group && group->space == HEDDLE_SPACE_SHARED) /* its part of a tile */
				here = tile_bytes(group) / (double)e->kernel->threads;
			bytes += stmt->access[a].tensor->rank ? here : 0;
		}
		most = fmax(most, fmax(bytes, 4 * choose_loaded_words(e->scop, e->kernel, stmt)));
	}
	/* of what few threads ask for in a row half is there, or used up, on average */
	return fmin(most, fmax(LEAST, (double)choose_asked(e->scop, e->kernel) / 2));
}

/* Blocks that a unit really has at the same time: those of a small grid are spread over all units. */
static double at_once(const estimator *e)
{
	return fmin(e->out->resident, ceil(e->out->blocks / quantity(&e->scop->descriptor->units, 1)));
}

/* The share of the time in which units have blocks: the last round of a grid may leave some without. */
static double fill(const estimator *e)
{
	const double rounds = e->out->blocks / (quantity(&e->scop->descriptor->units, 1) * at_once(e));
	return rounds > 0 ? rounds / ceil(rounds) : 1;
}

static void estimate_simt(estimator *e)
{
	enum { BLOCK_CYCLES = 500 };
	const heddle_transfer transfer = heddle_descriptor_transfer(e->scop->descriptor);
	heddle_kernel_estimate *k = e->out;
	const heddle_movement *global = &e->count.global, *shared = &e->count.shared;
	const double near = bandwidth(e, "shared"), cache = bandwidth(e, last_cache(e));
	const double cycles = shared->load_transactions + shared->store_transactions;
	const double sectors = global->load_transactions + global->store_transactions - e->count.again; /* which are near */
	k->accesses = global->load_requests + global->store_requests + shared->load_requests + shared->store_requests;
	k->wait_seconds = k->waves * BLOCK_CYCLES / quantity(&e->scop->descriptor->clock, 1e9); /* a block begins and ends */
	k->memory_seconds *= fmax(1, in_flight_wanted(e) / (bytes_in_flight(e) * at_once(e) * k->threads));
	k->near_seconds = fmax(near > 0 ? cycles * transfer.banks * transfer.bank_width / near : 0, cache > 0 ? sectors * transfer.sector / cache : 0);
}

static void estimate_time(estimator *e)
{
	const heddle_descriptor *d = e->scop->descriptor;
	heddle_kernel_estimate *k = e->out;
	const double rate = heddle_descriptor_rate(d, e->kernel->stmt[0]->access[0].tensor->type);
	const bool simd = d->execution == HEDDLE_SIMD;
	for (int s = 0; s < e->kernel->n_stmt; s++)
		k->computed += computed(e, e->kernel->stmt[s]) * whole_warps(e) / k->threads;
	traffic_seconds(e);
	simd ? estimate_simd(e) : estimate_simt(e);
	k->compute_seconds = rate > 0 ? k->computed / rate : 0;
	const double apart = simd ? k->near_seconds + k->compute_seconds : fmax(k->near_seconds, k->compute_seconds);
	const double longest = fmax(k->memory_seconds, apart), other = fmin(k->memory_seconds, apart);
	k->bound = k->wait_seconds > longest	     ? "waiting"
		   : k->memory_seconds >= apart	     ? "memory"
		   : k->near_seconds > k->compute_seconds ? "loads"
							  : "compute";
	k->seconds = (longest + other / 5 + k->wait_seconds) / fill(e) + quantity(&d->launch_overhead, 0);
}

int64_t *heddle_cost_sizes(heddle_arena *arena, const heddle_scop *scop)
{
	int64_t *size = HEDDLE_NEW_ARRAY(arena, int64_t, scop->definition->n_size + 1);
	for (int i = 0; i < scop->definition->n_size; i++) {
		const heddle_expr expr = {.kind = HEDDLE_EXPR_SIZE, .size = scop->definition->size[i]};
		size[i] = heddle_scop_estimate(scop, &expr);
	}
	return size;
}

heddle_estimate *heddle_cost_estimate(heddle_arena *arena, const heddle_scop *scop, const heddle_count_language *language,
				      const heddle_program *program)
{
	heddle_estimate *all = HEDDLE_NEW(arena, heddle_estimate);
	all->fits = true;
	const int64_t *size = heddle_cost_sizes(arena, scop);
	for (int i = 0; i < scop->n_kernel; i++) {
		heddle_kernel_estimate k = {.threads = scop->kernel[i]->threads, .registers = BASE_REGISTERS};
		estimator e = {arena, scop, scop->kernel[i], &k, heddle_cost_count(arena, scop, scop->kernel[i], language, size), size};
		if (program && program->n_launch == scop->n_kernel)
			heddle_cost_settle(arena, &e.count, program, i, scop->definition, size);
		k.blocks = tiles_of(&e, e.kernel->stmt[0]);
		for (int g = 0; g < e.kernel->n_group; g++)
			estimate_group(&e, e.kernel->group[g]);
		estimate_work(&e);
		estimate_occupancy(&e);
		estimate_time(&e);
		all->seconds += k.seconds;
		all->fits = all->fits && k.fits;
		HEDDLE_PUSH(arena, all->kernel, all->n_kernel, k);
	}
	return all;
}
