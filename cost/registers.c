/* Registers of a thread: what it takes, and for how many blocks at the same time a unit's registers are shared out.
 *
 * Counts of what statements keep, ask for ahead and compute side by side; the weights that make registers of them are a compiler's, from
 * the descriptor, fitted to what it took for the default configs of layers/ (bench/static.sh).  Sharing registers out keeps compilers from
 * taking more than a block's part of them.
 * SPDX-License-Identifier: MIT
 */
#include "cost/choose.h"

#include "model/simplify.h"

#include <math.h>
#include <stdlib.h>

double choose_register_words(const heddle_registers *r)
{
	double n = heddle_type_size(r->type) > 4 ? 2 : 1;
	for (int i = 0; i < r->n; i++)
		n *= (double)r->c[i].extent;
	return n;
}

double choose_kept_words(const heddle_kernel *kernel, const heddle_tensor *tensor, const heddle_registers *registers)
{
	for (int s = 0; s < kernel->n_stmt; s++)
		if (kernel->stmt[s]->reduction && kernel->stmt[s]->access[0].tensor == tensor)
			return 0;
	return choose_register_words(registers);
}

/* What a statement takes of a thread's registers: counts, that a compiler's weights make registers of. */
typedef struct register_demand {
	double sums, operands, tiles_read, filled; /* words: kept sums; operands that all of them need; read of tiles ahead, moved to tiles */
	double loads, far;			   /* words of global memory asked for ahead; such loads out of reach of one address */
	double divisions, calls;		   /* side by side, in vectors and copies */
	double effort;				   /* of one instance */
	double lanes, edges, guarded_sums;
	bool whole;				   /* no loop is left: what it reads may be kept for others */
} register_demand;

static double weight(const heddle_quantity *q, double otherwise)
{
	return q->set ? q->value : otherwise;
}

static double count_operators(const heddle_expr *expr, bool (*counts)(const heddle_expr *expr))
{
	double n = counts(expr);
	for (int i = 0; i < expr->n_arg; i++)
		n += count_operators(expr->arg[i], counts);
	return n;
}

/* Powers of two are multiplied with instead. */
static bool is_power(const heddle_expr *expr)
{
	int exponent;
	if (expr->kind == HEDDLE_EXPR_CAST)
		return is_power(expr->arg[0]);
	const double value = expr->kind == HEDDLE_EXPR_INT ? (double)expr->i : expr->kind == HEDDLE_EXPR_FLOAT ? expr->f : 0;
	return value != 0 && fabs(frexp(value, &exponent)) == 0.5;
}

static bool is_division(const heddle_expr *expr)
{
	return expr->kind == HEDDLE_EXPR_BINARY && expr->op == HEDDLE_OP_DIV && heddle_type_is_float(expr->type) && !is_power(expr->arg[1]);
}

static bool is_call(const heddle_expr *expr)
{
	return expr->kind == HEDDLE_EXPR_CALL && heddle_type_is_float(expr->type) && !heddle_builtins[expr->builtin].plain;
}

static double words_of(const heddle_tensor *tensor)
{
	return (double)heddle_type_size(tensor->type) / 4;
}

/* Does a thread take several values of the dimension at once, written out?  Those of a reduction are a loop, but for lanes. */
static double at_once(const heddle_dim *dim)
{
	const bool loop = dim->reduction && dim->reduce != HEDDLE_REDUCE_LANES;
	return loop ? 1 : (double)(dim->layout.items * dim->layout.vector);
}

/* Is the element read by an access before it as well? */
static bool is_repeated(const heddle_stmt *stmt, int access)
{
	for (int a = 1; a < access; a++)
		if (stmt->access[a].expr && stmt->access[access].expr && heddle_expr_equal(stmt->access[a].expr, stmt->access[access].expr))
			return true;
	return false;
}

static bool stages(const heddle_kernel *kernel, const heddle_stmt *stmt)
{
	for (int g = 0; g < kernel->n_group; g++)
		if (kernel->group[g]->stmt == stmt && kernel->group[g]->space == HEDDLE_SPACE_SHARED)
			return true;
	return false;
}

/* What one round reads. */
static void demand_reads(const heddle_stmt *stmt, register_demand *demand)
{
	for (int a = 0; a < stmt->n_access; a++) {
		const heddle_access *access = &stmt->access[a];
		const heddle_space space = access->group ? access->group->space : HEDDLE_SPACE_GLOBAL;
		double n = 1;
		if (access->tensor->rank == 0 || space == HEDDLE_SPACE_REGISTER || is_repeated(stmt, a))
			continue;
		for (int d = 0; d < stmt->n_dim; d++)
			n *= choose_depends_on(stmt, access, d) ? at_once(&stmt->dim[d]) : 1;
		if (a > 0)
			*(space == HEDDLE_SPACE_SHARED ? &demand->tiles_read : &demand->loads) += n * fmax(1, words_of(access->tensor));
	}
}

/* Words of a round of the loop over the dimension that are too far from those of the round before for one address. */
static double far_loads(const heddle_scop *scop, const heddle_stmt *stmt, int dim, double step)
{
	double n = 0;
	for (int a = 1; a < stmt->n_access; a++) {
		const heddle_access *access = &stmt->access[a];
		const heddle_space space = access->group ? access->group->space : HEDDLE_SPACE_GLOBAL;
		double bytes = heddle_type_size(access->tensor->type), stride = 0, vectors = 1;
		if (access->tensor->rank == 0 || space != HEDDLE_SPACE_GLOBAL || is_repeated(stmt, a) || !access->affine)
			continue;
		for (int e = access->tensor->rank - 1; e >= 0; e--) {
			stride += bytes * (double)llabs(choose_stride(stmt, access, e, dim));
			bytes *= (double)heddle_scop_estimate(scop, access->tensor->extent[e]);
		}
		for (int d = 0; d < stmt->n_dim; d++)
			if (choose_depends_on(stmt, access, d))
				vectors *= at_once(&stmt->dim[d]) / (heddle_row_dim(stmt, access) == d ? (double)stmt->dim[d].layout.vector : 1);
		n += stride * step > (double)choose_quantity(&scop->descriptor->address_reach, INT32_MAX) ? vectors : 0;
	}
	return n;
}

/* Copies that loops are made of, from the inside out, multiply what is read at once. */
static void demand_copies(const heddle_scop *scop, const heddle_stmt *stmt, bool staged, register_demand *demand)
{
	enum { SHORT = 8 };
	const bool guarded = stmt->value != stmt->source->value;
	double own = 1, copies = 1;
	bool nested = false, apart = false;
	for (int d = 0; d < stmt->n_dim; d++)
		own *= at_once(&stmt->dim[d]);
	for (int part = HEDDLE_PART_ITEM; part >= (int)HEDDLE_PART_TILE; part--)
		for (int d = stmt->n_dim - 1; d >= 0; d--) {
			const heddle_dim *dim = &stmt->dim[d];
			const int64_t extent = choose_extent(scop, stmt, d);
			int64_t trips = 1;
			if (part == HEDDLE_PART_ITEM && dim->member < 0 && dim->reduction && dim->reduce != HEDDLE_REDUCE_LANES)
				trips = choose_least(extent, dim->layout.items);
			if (part == HEDDLE_PART_TILE && dim->member < 0)
				trips = (extent + dim->layout.tile - 1) / dim->layout.tile;
			apart = apart || (part == HEDDLE_PART_TILE && staged);
			if (part == HEDDLE_PART_ROUND || trips <= 1 || apart)
				continue;
			const double bytes = staged ? 0 : 4 * demand->loads, size = copies * (2 * own + stmt->n_access);
			int64_t n = heddle_simplify_copies(trips, (int64_t)bytes, (int64_t)size, nested);
			if (staged && trips <= SHORT && !nested)
				n = trips;
			const double step = part == HEDDLE_PART_TILE ? (double)dim->layout.tile : 1;
			demand->far = fmax(demand->far * (double)n, far_loads(scop, stmt, d, step) * (double)(n - 1));
			demand->loads *= (double)n;
			demand->tiles_read *= guarded ? 1 : (double)n;
			copies *= (double)n;
			nested = nested || n == trips;
			apart = n != trips;
		}
	const double beside = copies * own;
	demand->whole = !apart;
	demand->divisions = staged ? 0 : beside * count_operators(stmt->value, is_division);
	demand->calls = staged ? 0 : beside * count_operators(stmt->value, is_call);
}

static register_demand demand_of(const heddle_scop *scop, const heddle_kernel *kernel, const heddle_stmt *stmt)
{
	enum { PRODUCT = 4 };
	heddle_registers here, total;
	register_demand demand = {.effort = choose_effort(stmt->value)};
	const bool staged = stages(kernel, stmt);
	bool parts = stmt->value != stmt->source->value;
	if (stmt->reduction && heddle_stmt_sums(stmt, &here, &total))
		demand.sums = choose_register_words(&here);
	for (int d = 0; d < stmt->n_dim; d++) {
		const heddle_dim *dim = &stmt->dim[d];
		demand.operands += dim->reduction || !stmt->reduction || demand.sums < PRODUCT ? 0 : (double)(dim->layout.items * dim->layout.vector);
		demand.lanes += dim->reduction && dim->reduce == HEDDLE_REDUCE_LANES && dim->layout.threads > 1;
		const bool part = dim->layout.tile > 1 && !choose_divisible(stmt, d, dim->layout.tile);
		demand.edges += part && dim->member < 0 && (staged || at_once(dim) * (double)dim->layout.threads > 1);
		parts = parts || part;
	}
	for (int g = 0; g < kernel->n_group; g++) {
		const heddle_group *group = kernel->group[g];
		double elements = 1;
		if (group->stmt != stmt || group->space != HEDDLE_SPACE_SHARED)
			continue;
		for (int e = 0; e < group->tensor->rank; e++)
			elements *= fmin((double)group->size[e], (double)heddle_scop_estimate(scop, group->tensor->extent[e]));
		demand.filled += ceil(elements / kernel->threads) * fmax(1, words_of(group->tensor));
	}
	demand_reads(stmt, &demand);
	demand_copies(scop, stmt, staged, &demand);
	demand.guarded_sums = parts ? demand.sums : 0;
	return demand;
}

/* Words that a statement whose loops are written out reads, of tensors that another one reads, too: compilers keep them. */
static double words_again(const heddle_scop *scop, const heddle_kernel *kernel)
{
	double most = 0;
	for (int s = 0; s < kernel->n_stmt; s++) {
		const heddle_stmt *stmt = kernel->stmt[s];
		const register_demand demand = demand_of(scop, kernel, stmt);
		bool again = false;
		for (int a = 1; a < stmt->n_access; a++)
			for (int t = s + 1; t < kernel->n_stmt; t++)
				for (int b = 1; b < kernel->stmt[t]->n_access; b++)
					again = again || (stmt->access[a].tensor->rank && stmt->access[a].tensor == kernel->stmt[t]->access[b].tensor);
		if (again && demand.whole)
			most = fmax(most, demand.loads);
	}
	return most;
}

/* What the weights make of a statement's demand. */
static double statement_registers(const heddle_register_weights *w, const register_demand *d)
{
	enum { MOST_WORDS = 64, MOST_FILLED = 24, MOST_ADDRESSES = 16, MOST_BESIDE = 8, MOST_EFFORT = 60 };
	return weight(&w->sum, 1) * d->sums + weight(&w->operand, 1) * d->operands + weight(&w->load, 1) * fmin(d->loads, MOST_WORDS) +
	       weight(&w->address, 0) * fmin(d->far, MOST_ADDRESSES) + weight(&w->filled, 0) * fmin(d->filled, MOST_FILLED) +
	       weight(&w->ahead, 0) * fmin(d->tiles_read, MOST_WORDS) + weight(&w->division, 0) * fmin(d->divisions, MOST_BESIDE) +
	       weight(&w->call, 0) * fmin(d->calls, MOST_BESIDE) + weight(&w->effort, 0) * fmin(d->effort, MOST_EFFORT) +
	       weight(&w->lanes, 0) * d->lanes + weight(&w->edge, 0) * d->edges + weight(&w->guard, 0) * d->guarded_sums;
}

/* Registers of a thread at which a unit holds all threads that it can. */
static double registers_of_all(const heddle_descriptor *d)
{
	const double unit = (double)choose_quantity(&d->register_granularity, 1);
	return d->registers_per_unit.set && d->threads_per_unit.set ? floor(d->registers_per_unit.value / d->threads_per_unit.value / unit) * unit : 0;
}

double choose_registers(const heddle_scop *scop, const heddle_kernel *kernel, double kept)
{
	enum { USUAL_BASE = 24 };
	const heddle_register_weights *w = &scop->descriptor->registers;
	double most = 0, tiles = 0, dimensions = 0;
	const double base = weight(&w->base, USUAL_BASE);
	if (kernel->threads == 1 && scop->descriptor->scalar_registers.set)
		return base; /* all that it does is the same for its warp */
	for (int g = 0; g < kernel->n_group; g++)
		tiles += kernel->group[g]->space == HEDDLE_SPACE_SHARED;
	for (int s = 0; s < kernel->n_stmt; s++) {
		const register_demand demand = demand_of(scop, kernel, kernel->stmt[s]);
		most = fmax(most, statement_registers(w, &demand));
		dimensions = fmax(dimensions, kernel->stmt[s]->n_dim);
	}
	const double registers = base + weight(&w->kept, 1) * kept + weight(&w->tile, 0) * tiles + weight(&w->dimension, 0) * dimensions +
	       weight(&w->statement, 0) * (kernel->n_stmt - 1) + weight(&w->again, 0) * words_again(scop, kernel) + most;
	const double all = registers_of_all(scop->descriptor);
	return registers > all && registers <= weight(&w->held, 0) * all ? all : registers;
}

double choose_register_blocks(const heddle_descriptor *d, int threads, double registers)
{
	const double warp = (double)choose_quantity(&d->warp, 1), unit = (double)choose_quantity(&d->register_granularity, 1);
	const double schedulers = (double)choose_quantity(&d->schedulers, 1), each = ceil(registers / unit) * unit;
	return floor(floor(d->registers_per_unit.value / schedulers / (each * warp)) * schedulers / ceil(threads / warp));
}

/* Does a statement read elements of fewer bytes than it computes with, or go through steps in order?  Both take registers that the
 * estimate does not see. */
static bool is_varied(const heddle_stmt *stmt)
{
	const int size = heddle_type_size(heddle_type_computed(stmt->access[0].tensor->type));
	for (int a = 1; a < stmt->n_access; a++)
		if (stmt->access[a].tensor->rank && heddle_type_size(stmt->access[a].tensor->type) < size)
			return true;
	for (int d = 0; d < stmt->n_dim; d++)
		if (stmt->dim[d].member < 0 && !stmt->dim[d].reduction && !stmt->dim[d].coincident)
			return true;
	return false;
}

int choose_resident(const heddle_scop *scop, const heddle_kernel *kernel, double registers)
{
	const heddle_descriptor *d = scop->descriptor;
	const double warp = (double)choose_quantity(&d->warp, 1), threads = ceil(kernel->threads / warp) * warp;
	/* open sizes take registers of their own, for addresses and edges: the compiler has the last word */
	for (int i = 0; i < scop->definition->n_size; i++)
		if (scop->definition->size[i]->min < scop->definition->size[i]->max)
			return 0;
	if (d->execution == HEDDLE_SIMD || !d->registers_per_unit.set || !d->threads_per_unit.set || kernel->threads < 2)
		return 0;
	const double all = registers_of_all(d);
	const bool few = registers <= weight(&d->registers.squeeze, 1) * all;
	for (int s = 0; s < kernel->n_stmt; s++) {
		const heddle_stmt *stmt = kernel->stmt[s];
		const bool asks = stages(kernel, stmt) && stmt->value != stmt->source->value; /* conditions of what it reads from tiles */
		if (asks || (!few && is_varied(stmt)))
			return 0;
	}
	const double wanted = few ? all : weight(&d->registers.margin, 1) * registers;
	double blocks = fmin(choose_register_blocks(d, kernel->threads, wanted), floor(d->threads_per_unit.value / threads));
	if (d->blocks_per_unit.set)
		blocks = fmin(blocks, d->blocks_per_unit.value);
	return blocks < 1 ? 1 : (int)blocks;
}
