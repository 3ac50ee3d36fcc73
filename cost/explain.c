/* Measures and rates launches, and says in sentences where their time goes.
 * SPDX-License-Identifier: MIT
 */
#include "cost/explain.h"

#include "cost/measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Reasons that take less than this share of the time are not named. */
static const double MINOR = 0.03;

typedef struct explainer {
	heddle_arena *arena;
	const heddle_scop *scop;
	const heddle_program *program;
	heddle_plan *plan;
	double bandwidth, peak; /* bytes, operations a second; INFINITY: not known */
} explainer;

/* ---- reference groups --------------------------------------------------------------------------------------------------------- */

/* How many values a dimension takes within one block, or within one step of a block. */
static double range_in_block(const heddle_scop *scop, const heddle_stmt *stmt, int dim, bool step)
{
	const heddle_dim *d = &stmt->dim[dim];
	const double extent = (double)heddle_scop_dim_extent(scop, stmt, dim);
	return d->member < 0 && !step ? extent : fmin((double)d->layout.tile, extent);
}

/* Greatest difference between two values of a subscript within a block; negative: not affine, anything may be touched. */
static double width(const heddle_scop *scop, const heddle_stmt *stmt, const heddle_expr *expr, bool step)
{
	double a, b;
	switch (expr->kind) {
	case HEDDLE_EXPR_INT:
	case HEDDLE_EXPR_SIZE: return 0;
	case HEDDLE_EXPR_INDEX: return range_in_block(scop, stmt, expr->index->position, step) - 1;
	case HEDDLE_EXPR_CAST:
	case HEDDLE_EXPR_UNARY: return width(scop, stmt, expr->arg[0], step);
	case HEDDLE_EXPR_BINARY:
		a = width(scop, stmt, expr->arg[0], step);
		b = width(scop, stmt, expr->arg[1], step);
		if (a < 0 || b < 0)
			return -1;
		if (expr->op == HEDDLE_OP_MUL && expr->arg[0]->kind == HEDDLE_EXPR_INT)
			return fabs((double)expr->arg[0]->i) * b;
		if (expr->op == HEDDLE_OP_MUL && expr->arg[1]->kind == HEDDLE_EXPR_INT)
			return fabs((double)expr->arg[1]->i) * a;
		if (expr->op == HEDDLE_OP_DIV && expr->arg[1]->kind == HEDDLE_EXPR_INT)
			return floor(a / (double)llabs(expr->arg[1]->i)) + 1;
		return a + b;
	default: return -1;
	}
}

/* Bytes of the tensor that one block touches through an access: product over subscripts of 1 + sum |coefficient| (range - 1). */
static double footprint(const heddle_scop *scop, const heddle_stmt *stmt, const heddle_access *access, bool step)
{
	double bytes = heddle_type_size(access->tensor->type), most = 1;
	for (int d = 0; d < stmt->n_dim; d++)
		most = fmax(most, range_in_block(scop, stmt, d, step));
	for (int i = 0; i < access->tensor->rank; i++) {
		const heddle_expr *subscript = access->expr ? access->expr->arg[i] : stmt->source->lhs[i];
		const double here = width(scop, stmt, subscript, step); /* an indirect one picks an element per instance */
		bytes *= fmin((double)heddle_scop_estimate(scop, access->tensor->extent[i]), here < 0 ? most : here + 1);
	}
	return bytes;
}

/* Tiles of the statement: blocks, or steps of a block. */
static double tiles(const heddle_scop *scop, const heddle_stmt *stmt, bool blocks)
{
	double n = 1;
	for (int d = 0; d < stmt->n_dim; d++)
		if ((stmt->dim[d].member >= 0) == blocks)
			n *= ceil((double)heddle_scop_dim_extent(scop, stmt, d) / (double)stmt->dim[d].layout.tile);
	return n;
}

/* What all accesses of the group touch where it is. */
static void explain_global(const explainer *e, const heddle_launch *launch, const heddle_group *group, heddle_plan_group *g)
{
	bool argument = false;
	for (int i = 0; i < launch->n_buffer; i++)
		argument = argument || !strcmp(launch->buffer[i]->name, group->tensor->name);
	for (int s = 0; s < group->kernel->n_stmt; s++)
		for (int a = 0; a < group->kernel->stmt[s]->n_access; a++) {
			const heddle_stmt *stmt = group->kernel->stmt[s];
			if (stmt->access[a].group != group)
				continue;
			const double here = footprint(e->scop, stmt, &stmt->access[a], false);
			g->footprint = fmax(g->footprint, here);
			g->traffic += argument ? here * tiles(e->scop, stmt, true) : 0;
		}
	g->why = group->tensor->role == HEDDLE_ROLE_TEMPORARY && !argument ? "each step keeps it in registers for the next one"
		 : group->access->affine ? "used once per thread, or its tile does not fit"
					 : "subscript known only at run time";
}

static void explain_group(const explainer *e, const heddle_launch *launch, const heddle_group *group, heddle_plan_launch *out)
{
	static const char *const space[] = {"global", "shared", "register"};
	heddle_plan_group g = {.space = space[group->space]};
	g.name = heddle_arena_printf(e->arena, "%s.%d", group->tensor->name, group->number);
	if (group->space == HEDDLE_SPACE_SHARED) {
		g.footprint = (double)(heddle_tile_elements(group) * heddle_type_size(group->tensor->type));
		g.traffic = footprint(e->scop, group->stmt, group->access, true) * tiles(e->scop, group->stmt, false) * tiles(e->scop, group->stmt, true);
		g.why = "read again by other threads of the block, or across rows";
	} else if (group->space == HEDDLE_SPACE_REGISTER) {
		const heddle_stmt *writer = group->last_writer;
		g.footprint = footprint(e->scop, writer, &writer->access[0], false);
		g.traffic = group->live_out ? g.footprint * tiles(e->scop, writer, true) : 0;
		g.why = group->live_out ? "each thread keeps to its own elements; stored once" : "lives and dies in the kernel";
	} else {
		explain_global(e, launch, group, &g);
	}
	HEDDLE_PUSH(e->arena, out->group, out->n_group, g);
}

/* ---- work --------------------------------------------------------------------------------------------------------------------- */

static double operations(const heddle_expr *expr)
{
	const heddle_expr_kind kind = expr->kind;
	double n = heddle_type_is_float(expr->type) && (kind == HEDDLE_EXPR_BINARY || kind == HEDDLE_EXPR_CALL || kind == HEDDLE_EXPR_UNARY);
	for (int i = 0; i < expr->n_arg; i++)
		n += operations(expr->arg[i]);
	return n;
}

static double flops_of(const heddle_scop *scop, const heddle_kernel *kernel)
{
	double all = 0;
	for (int s = 0; s < kernel->n_stmt; s++) {
		const heddle_stmt *stmt = kernel->stmt[s];
		double n = operations(stmt->value) + (stmt->source->assign != HEDDLE_ASSIGN_SET);
		for (int d = 0; d < stmt->n_dim; d++)
			n *= (double)heddle_scop_dim_extent(scop, stmt, d);
		all += n;
	}
	return all;
}

static double tensor_bytes(const heddle_scop *scop, const heddle_tensor *tensor)
{
	double bytes = heddle_type_size(tensor->type);
	for (int i = 0; i < tensor->rank; i++)
		bytes *= (double)heddle_scop_estimate(scop, tensor->extent[i]);
	return bytes;
}

static void find_roofline(explainer *e)
{
	const heddle_definition *d = e->scop->definition;
	const heddle_memory *memory = heddle_descriptor_memory(e->scop->descriptor, "global");
	heddle_type type = HEDDLE_FLOAT32;
	for (int i = 0; i < d->n_input + d->n_output; i++) {
		e->plan->least_traffic += tensor_bytes(e->scop, d->tensor[i]) * (d->tensor[i]->role == HEDDLE_ROLE_INOUT ? 2 : 1);
		type = d->tensor[i]->type == HEDDLE_FLOAT64 ? HEDDLE_FLOAT64 : type;
	}
	const double peak = heddle_descriptor_rate(e->scop->descriptor, type);
	e->bandwidth = memory && memory->bandwidth.set ? memory->bandwidth.value : INFINITY;
	e->peak = peak > 0 ? peak : INFINITY;
	for (int k = 0; k < e->scop->n_kernel; k++)
		e->plan->flops += flops_of(e->scop, e->scop->kernel[k]);
	e->plan->roofline = fmax(e->plan->least_traffic / e->bandwidth, e->plan->flops / e->peak);
}

/* ---- reasons ------------------------------------------------------------------------------------------------------------------ */

static void add_reason(const explainer *e, double seconds, const char *text)
{
	const heddle_reason reason = {seconds, text};
	if (seconds > MINOR * e->plan->seconds)
		HEDDLE_PUSH(e->arena, e->plan->reason, e->plan->n_reason, reason);
}

/* Seconds that the launch would be faster with this load. */
static double saved(const explainer *e, const heddle_plan_launch *l, const heddle_load *load)
{
	return l->rating.seconds - heddle_rate(load, e->scop->descriptor).seconds;
}

static void explain_memory(const explainer *e, const heddle_plan_launch *l)
{
	const heddle_rating *r = &l->rating;
	heddle_load load = l->load;
	const double factor = load.n_span ? r->traffic / load.span[load.n_span - 1].touched.bytes : 1;
	const heddle_touch all = load.n_span ? load.span[load.n_span - 1].touched : (heddle_touch){0};
	memset(load.again, 0, sizeof(load.again));
	if (load.n_span > 1) { /* each block has data of its own */
		load.span[0].touched = (heddle_touch){all.bytes / load.blocks, all.runs / load.blocks};
		load.span[1] = load.span[load.n_span - 1];
		load.n_span = 2;
	}
	add_reason(e, saved(e, l, &load),
		   heddle_arena_printf(e->arena, "%s: the first cache loses data before it is read again%s", l->name,
				       factor < 1.05 ? "" : heddle_arena_printf(e->arena, "; global memory moves it %.1f times", factor)));
	load = l->load;
	load.streamed = load.stored;
	add_reason(e, saved(e, l, &load), heddle_arena_printf(e->arena, "%s: lines are read from global memory before they are stored", l->name));
	load = l->load;
	load.flight = 0;
	add_reason(e, saved(e, l, &load),
		   heddle_arena_printf(e->arena, "%s: too few bytes are in flight: global memory reaches %.0f %% of its bandwidth", l->name,
				       100 * r->traffic / e->bandwidth / r->memory));
}

/* Instructions by class; those of the definition's arithmetic are no reason. */
static void explain_issue(const explainer *e, const heddle_plan_launch *l)
{
	static const char *const name[] = {"further additions and products, or those of partial vectors", "further additions and products, or those of partial vectors",
					   "comparisons, minima and choices", "integer arithmetic", "divisions and functions", "conversions",
					   "moves between the lanes of vectors", "shuffles", "loads of shared memory", "stores to shared memory",
					   "loads of global memory", "stores to global memory", "loads and stores of arrays in memory", "loops and conditions",
					   "barriers", "matrix instructions"};
	_Static_assert(HEDDLE_COUNT(name) == HEDDLE_N_INSTRUCTION, "every class has a name");
	const heddle_descriptor *d = e->scop->descriptor;
	for (int i = 0; i < HEDDLE_N_INSTRUCTION; i++) {
		heddle_load load = l->load;
		const heddle_type type = i == HEDDLE_INSTRUCTION_FMA64 ? HEDDLE_FLOAT64 : HEDDLE_FLOAT32;
		const double lanes = d->execution == HEDDLE_SIMD ? d->vector_bytes.value / heddle_type_size(type) : d->warp.value;
		const double useful = i <= HEDDLE_INSTRUCTION_FMA64 ? l->flops / (2 * lanes * load.blocks) : 0;
		load.instruction[i] = fmin(load.instruction[i], useful);
		add_reason(e, saved(e, l, &load), heddle_arena_printf(e->arena, "%s: instructions for %s", l->name, name[i]));
	}
}

static void explain_unit(const explainer *e, const heddle_plan_launch *l)
{
	const heddle_rating *r = &l->rating;
	const bool simd = e->scop->descriptor->execution == HEDDLE_SIMD;
	const double requests = l->load.instruction[HEDDLE_INSTRUCTION_SHARED_LOAD] + l->load.instruction[HEDDLE_INSTRUCTION_SHARED_STORE];
	const double units = e->scop->descriptor->units.set ? e->scop->descriptor->units.value : 1;
	heddle_load load = l->load;
	load.registers = fmin(load.registers, r->registers);
	add_reason(e, saved(e, l, &load), heddle_arena_printf(e->arena, "%s: values are spilled: a thread needs %.0f registers more than the %.0f it has", l->name,
							      ceil(r->spilled), r->registers));
	load = l->load;
	memset(load.chain, 0, sizeof(load.chain));
	add_reason(e, saved(e, l, &load),
		   simd ? heddle_arena_printf(e->arena, "%s: instructions wait for loads and for results of others", l->name)
			: heddle_arena_printf(e->arena, "%s: waits for loads and results are not covered: %.0f resident block%s of a unit, limited by %s", l->name,
					      r->resident, r->resident == 1 ? "" : "s", r->limiter));
	load = l->load;
	load.shared_cycles = 0;
	add_reason(e, saved(e, l, &load),
		   heddle_arena_printf(e->arena, "%s: shared memory is busy, %.1f cycles for a request of a warp", l->name, l->load.shared_cycles / fmax(1, requests)));
	load = l->load;
	load.sectors = load.cache_cycles = 0;
	add_reason(e, saved(e, l, &load), heddle_arena_printf(e->arena, "%s: the first cache is busy with the lines and sectors that warps request", l->name));
	add_reason(e, r->tail * (r->seconds - r->launch),
		   l->load.blocks < units ? heddle_arena_printf(e->arena, "%s: %.0f of %.0f units have no block", l->name, units - l->load.blocks, units)
					  : heddle_arena_printf(e->arena, "%s: units are without a block for %.0f %% of the time, at the end of the grid", l->name,
								100 * r->tail));
}

/* The kernel that reads (or writes) the tensor, not `other`; -1: none does. */
static int kernel_with(const heddle_scop *scop, const heddle_tensor *tensor, bool write, int other)
{
	for (int k = 0; k < scop->n_kernel; k++)
		for (int s = 0; s < scop->kernel[k]->n_stmt && k != other; s++)
			for (int a = 0; a < scop->kernel[k]->stmt[s]->n_access; a++) {
				const heddle_access *access = &scop->kernel[k]->stmt[s]->access[a];
				if (access->tensor == tensor && access->write == write)
					return k;
			}
	return -1;
}

static void explain_temporaries(const explainer *e)
{
	for (int i = 0; i < e->program->n_buffer; i++) {
		const heddle_buffer *buffer = e->program->buffer[i];
		const heddle_tensor *tensor = NULL;
		for (int t = 0; t < e->scop->definition->n_tensor && buffer->role == HEDDLE_BUFFER_TEMPORARY; t++)
			if (!strcmp(e->scop->definition->tensor[t]->name, buffer->name))
				tensor = e->scop->definition->tensor[t];
		const int writer = tensor ? kernel_with(e->scop, tensor, true, -1) : -1, reader = tensor ? kernel_with(e->scop, tensor, false, writer) : -1;
		if (writer < 0)
			continue;
		add_reason(e, 2 * tensor_bytes(e->scop, tensor) / e->bandwidth,
			   reader < 0 ? heddle_arena_printf(e->arena, "%s goes through global memory: written and read by different threads of %s", tensor->name,
							    e->plan->launch[writer].name)
				      : heddle_arena_printf(e->arena, "%s goes through global memory: %s writes it, %s reads it", tensor->name,
							    e->plan->launch[writer].name, e->plan->launch[reader].name));
	}
}

static int by_weight(const void *a, const void *b)
{
	const heddle_reason *x = a, *y = b;
	return x->seconds > y->seconds ? -1 : x->seconds < y->seconds ? 1 : strcmp(x->text, y->text);
}

static void find_reasons(const explainer *e)
{
	double overhead = 0;
	for (int k = 0; k < e->plan->n_launch; k++) {
		explain_memory(e, &e->plan->launch[k]);
		explain_issue(e, &e->plan->launch[k]);
		explain_unit(e, &e->plan->launch[k]);
		overhead += e->plan->launch[k].rating.launch;
	}
	if (e->program->n_launch == e->scop->n_kernel)
		explain_temporaries(e);
	add_reason(e, overhead, heddle_arena_printf(e->arena, "the overhead of %d launch%s", e->plan->n_launch, e->plan->n_launch == 1 ? "" : "es"));
	if (e->plan->n_reason)
		qsort(e->plan->reason, (size_t)e->plan->n_reason, sizeof(*e->plan->reason), by_weight);
}

/* ---- launches ----------------------------------------------------------------------------------------------------------------- */

/* Values of the program's sizes: fixed ones, and typical ones for those that are open. */
static const int64_t *typical_sizes(const explainer *e)
{
	const heddle_definition *d = e->scop->definition;
	int64_t *size = HEDDLE_NEW_ARRAY(e->arena, int64_t, e->program->n_size + 1);
	for (int i = 0; i < e->program->n_size; i++)
		for (int k = 0; k < d->n_size; k++)
			if (!strcmp(e->program->size[i].name, d->size[k]->name))
				size[i] = heddle_scop_estimate(e->scop, &(heddle_expr){.kind = HEDDLE_EXPR_SIZE, .size = d->size[k]});
	return size;
}

heddle_plan *heddle_explain(heddle_arena *arena, const heddle_scop *scop, const heddle_program *program)
{
	heddle_plan *plan = HEDDLE_NEW(arena, heddle_plan);
	explainer e = {.arena = arena, .scop = scop, .program = program, .plan = plan};
	const int64_t *size = typical_sizes(&e);
	find_roofline(&e);
	for (int k = 0; k < program->n_launch; k++) {
		heddle_plan_launch l = {.name = heddle_arena_strdup(arena, program->launch[k]->name)};
		const heddle_kernel *kernel = program->n_launch == scop->n_kernel ? scop->kernel[k] : NULL;
		l.known = heddle_measure(program, program->launch[k], scop->descriptor, size, &l.load);
		if (l.known)
			l.rating = heddle_rate(&l.load, scop->descriptor);
		l.flops = kernel ? flops_of(scop, kernel) : 0;
		plan->seconds += l.known ? l.rating.seconds : NAN;
		for (int g = 0; kernel && g < kernel->n_group; g++)
			explain_group(&e, program->launch[k], kernel->group[g], &l);
		HEDDLE_PUSH(arena, plan->launch, plan->n_launch, l);
	}
	if (!isnan(plan->seconds))
		find_reasons(&e);
	return plan;
}
