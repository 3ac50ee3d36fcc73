/* Footprints, traffic, occupancy and time of mapped kernels.
 * SPDX-License-Identifier: MIT
 */
#include "cost/estimate.h"

#include <math.h>
#include <stdlib.h>

/* Registers that addresses, loop counters and temporaries take besides arrays. */
#define BASE_REGISTERS 24

typedef struct estimator {
	heddle_arena *arena;
	const heddle_scop *scop;
	const heddle_kernel *kernel;
	heddle_kernel_estimate *out;
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
		bytes *= here + 1 < most ? here + 1 : most;
	}
	return bytes;
}

static double blocks(const estimator *e)
{
	double n = 1;
	for (int m = 0; m < e->kernel->n_member; m++)
		for (int d = 0; d < e->kernel->stmt[0]->n_dim; d++)
			if (e->kernel->stmt[0]->dim[d].member == m)
				n *= ceil(extent(e, e->kernel->stmt[0], d) / (double)e->kernel->member[m].layout.tile);
	return n;
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
	double n = heddle_type_size(group->tensor->type);
	for (int i = 0; i < group->tensor->rank; i++)
		n *= (double)(group->size[group->order[i]] + (i == group->tensor->rank - 1 ? group->pad : 0));
	return n;
}

static double register_words(const heddle_registers *r)
{
	double n = heddle_type_size(r->type) > 4 ? 2 : 1;
	for (int i = 0; i < r->n; i++)
		n *= r->c[i].part == HEDDLE_PART_ROUND ? 1 : (double)r->c[i].extent; /* those of other rounds are in memory */
	return n;
}

static void estimate_group(estimator *e, const heddle_group *group)
{
	static const char *const space[] = {"global", "shared", "register"};
	heddle_group_estimate g = {.space = space[group->space]};
	g.name = heddle_arena_printf(e->arena, "%s.%d", group->tensor->name, group->number);
	if (group->space == HEDDLE_SPACE_SHARED) {
		g.footprint = tile_bytes(group);
		g.traffic = footprint(e, group->stmt, group->access, true) * steps(e, group->stmt) * e->out->blocks;
		g.why = "read again by other threads of the block, or across rows";
		e->out->shared_bytes += g.footprint;
	} else if (group->space == HEDDLE_SPACE_REGISTER) {
		const heddle_stmt *writer = group->last_writer;
		g.footprint = footprint(e, writer, &writer->access[0], false);
		g.traffic = group->live_out ? g.footprint * e->out->blocks : 0;
		g.why = group->live_out ? "each thread keeps to its own elements; stored once" : "lives and dies in the kernel";
		e->out->registers += register_words(&group->registers);
	} else {
		double most = 0;
		for (int s = 0; s < e->kernel->n_stmt; s++)
			for (int a = 0; a < e->kernel->stmt[s]->n_access; a++) {
				const heddle_stmt *stmt = e->kernel->stmt[s];
				if (stmt->access[a].group != group)
					continue;
				double here = footprint(e, stmt, &stmt->access[a], false);
				most = here > most ? here : most;
				g.traffic += here * e->out->blocks;
			}
		g.footprint = most;
		g.why = group->access->affine ? "used once per thread, or its tile does not fit" : "subscript known only at run time";
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
			e->out->registers += register_words(&stmt->accumulator);
		for (int d = 0; d < stmt->n_dim; d++)
			if (!stmt->dim[d].reduction)
				e->out->registers += (double)(stmt->dim[d].layout.items * stmt->dim[d].layout.vector);
		if (e->kernel->lanes > 1)
			e->out->shared_bytes += 4 * (double)e->kernel->threads / quantity(&e->scop->descriptor->warp, 1);
	}
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

static void estimate_occupancy(estimator *e)
{
	const heddle_descriptor *d = e->scop->descriptor;
	heddle_kernel_estimate *k = e->out;
	double per_unit = quantity(&d->threads_per_unit, k->threads);
	k->resident = quantity(&d->blocks_per_unit, 1);
	k->limiter = "blocks per unit";
	limit(k, floor(per_unit / k->threads), "threads per unit");
	if (d->registers_per_unit.set) {
		double each = rounded(k->registers, &d->register_granularity);
		limit(k, floor(d->registers_per_unit.value / (each * k->threads)), "registers");
	}
	if (d->shared_per_unit.set && k->shared_bytes > 0)
		limit(k, floor(d->shared_per_unit.value / rounded(k->shared_bytes, &d->shared_granularity)), "shared memory");
	if (k->resident < 1)
		k->resident = 1;
	k->occupancy = k->resident * k->threads / per_unit;
	if (k->occupancy > 1)
		k->occupancy = 1;
	k->waves = k->blocks / (k->resident * quantity(&d->units, 1));
}

static void estimate_time(estimator *e)
{
	const heddle_descriptor *d = e->scop->descriptor;
	const heddle_memory *memory = heddle_descriptor_memory(d, "global");
	heddle_kernel_estimate *k = e->out;
	double rate = heddle_descriptor_rate(d, e->kernel->stmt[0]->access[0].tensor->type);
	k->memory_seconds = memory && memory->bandwidth.set ? k->traffic / memory->bandwidth.value : 0;
	k->compute_seconds = rate > 0 ? k->flops / rate : 0;
	k->bound = k->memory_seconds >= k->compute_seconds ? "memory" : "compute";
	double fill = k->waves > 0 ? k->waves / ceil(k->waves) : 1;
	k->seconds = fmax(k->memory_seconds, k->compute_seconds) / fill + quantity(&d->launch_overhead, 0);
}

heddle_estimate *heddle_cost_estimate(heddle_arena *arena, const heddle_scop *scop)
{
	heddle_estimate *all = HEDDLE_NEW(arena, heddle_estimate);
	for (int i = 0; i < scop->n_kernel; i++) {
		heddle_kernel_estimate k = {.threads = scop->kernel[i]->threads, .registers = BASE_REGISTERS};
		estimator e = {arena, scop, scop->kernel[i], &k};
		k.blocks = blocks(&e);
		for (int g = 0; g < e.kernel->n_group; g++)
			estimate_group(&e, e.kernel->group[g]);
		estimate_work(&e);
		estimate_occupancy(&e);
		estimate_time(&e);
		all->seconds += k.seconds;
		HEDDLE_PUSH(arena, all->kernel, all->n_kernel, k);
	}
	return all;
}
