/* Registers of a thread: what it takes, and for how many blocks at the same time a unit's registers are shared out.
 *
 * Counts of what statements keep, ask for ahead and compute side by side; the weights that make registers of them are a compiler's, from
 * the descriptor, fitted to what it took for the default configs of layers/ (bench/static.sh).  Sharing registers out keeps compilers from
 * taking more than a block's part of them.
 * SPDX-License-Identifier: MIT
 */
#include "cost/choose.h"
#include "cost/rate.h"

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
	double sums, guarded;	 /* words: kept sums; those that go through a condition, or from one loop into another */
	double step, taps, ahead; /* words read of tiles: in one round; by a window's taps beside that; in all rounds that are written out */
	double filled;		 /* words moved to tiles in one step */
	double early;		 /* words of the next step's tiles that are there meanwhile */
	double loads, far;	 /* words of global memory asked for at once, or indices that are values; such loads out of reach of one address */
	double divisions, calls; /* side by side */
	double accesses;	 /* of memory */
	bool whole;		 /* no loop is left: what it reads may be kept for others */
} register_demand;

/* Values of each dimension that a thread has side by side: those of its items and vectors, times the copies that loops are made of. */
typedef struct values {
	double n[HEDDLE_MAX_DIM];
} values;

static double weight(const heddle_quantity *q, double otherwise)
{
	return q->set ? q->value : otherwise;
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

/* Does the same stand in `in` before `expr` itself, which sets `*met`? */
static bool stands_before(const heddle_expr *expr, const heddle_expr *in, bool *met)
{
	*met = *met || in == expr;
	if (*met || heddle_expr_equal(expr, in))
		return !*met;
	for (int i = 0; i < in->n_arg; i++)
		if (stands_before(expr, in->arg[i], met))
			return true;
	return false;
}

/* Such operators side by side: once for what stands twice, and for all values of a dimension that they do not change with.  What stands
 * under a condition is a branch of its own, one after the other (`side` is NULL there). */
static double count_operators(const heddle_stmt *stmt, const values *side, const heddle_expr *expr, bool (*counts)(const heddle_expr *expr))
{
	bool met = false;
	double n = counts(expr) && !stands_before(expr, stmt->value, &met);
	for (int d = 0; d < stmt->n_dim && side; d++)
		n *= choose_mentions(expr, d) ? side->n[d] : 1;
	for (int i = 0; i < expr->n_arg; i++)
		n += count_operators(stmt, expr->kind == HEDDLE_EXPR_SELECT && i > 0 ? NULL : side, expr->arg[i], counts);
	return n;
}

/* Values of the dimension that a thread takes at once, written out: none beyond its end.  Those of a reduction are a loop, but for lanes. */
static double at_once(const heddle_scop *scop, const heddle_stmt *stmt, int d)
{
	const heddle_dim *dim = &stmt->dim[d];
	const bool loop = dim->reduction && dim->reduce != HEDDLE_REDUCE_LANES;
	const double all = ceil((double)choose_extent(scop, stmt, d) / (double)dim->layout.threads);
	return loop ? 1 : fmin((double)(dim->layout.items * dim->layout.vector), all);
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

/* Conditions of what it reads from tiles. */
static bool guards_tiles(const heddle_kernel *kernel, const heddle_stmt *stmt)
{
	return stages(kernel, stmt) && stmt->value != stmt->source->value;
}

static heddle_space space_of(const heddle_access *access)
{
	return access->group ? access->group->space : HEDDLE_SPACE_GLOBAL;
}

static bool reads_from(const heddle_stmt *stmt, int access, heddle_space space)
{
	const heddle_access *a = &stmt->access[access];
	return a->tensor->rank > 0 && space_of(a) == space && !is_repeated(stmt, access);
}

/* Elements of 16 bits become words before they are computed with, bytes stay two in one. */
static double element_words(heddle_type type)
{
	return heddle_type_size(type) > 4 ? 2 : fmin(1, heddle_type_size(type) / 2.0);
}

/* Values that a subscript takes: taps of a window beside each other read again what their neighbours do, which is counted once. */
static double subscript_values(const heddle_stmt *stmt, const heddle_access *access, int e, const values *side, bool *seen)
{
	double all = 1, span = 1, apart = 1;
	for (int d = 0; d < stmt->n_dim; d++) {
		if (!choose_mentions(choose_subscripts(stmt, access)[e], d) || seen[d])
			continue;
		/* items of several threads lie apart, and their taps with them */
		const heddle_layout *layout = &stmt->dim[d].layout;
		const double items = layout->threads > 1 && side->n[d] > (double)layout->vector ? side->n[d] / (double)layout->vector : 1;
		const int64_t stride = llabs(choose_stride(stmt, access, e, d));
		seen[d] = true;
		apart *= items;
		all *= side->n[d] / items;
		span += stride ? (double)stride * (side->n[d] / items - 1) : INFINITY;
	}
	return apart * fmin(all, span);
}

static double access_words(const heddle_stmt *stmt, const heddle_access *access, const values *side)
{
	bool seen[HEDDLE_MAX_DIM] = {false};
	double n = element_words(access->tensor->type);
	for (int e = 0; e < access->tensor->rank; e++)
		n *= subscript_values(stmt, access, e, side, seen);
	return n;
}

/* Do its values have to follow one another? */
static bool is_in_order(const heddle_dim *dim)
{
	return dim->member < 0 && !dim->reduction && !dim->coincident;
}

/* The dimension whose steps follow one another in the innermost loop: what one stores the next has in registers (model/simplify_carry.c).  -1:
 * there is none. */
static int carrying_dim(const heddle_stmt *stmt)
{
	const int at = heddle_innermost_loop(stmt);
	for (int d = 0; d < stmt->n_dim; d++)
		if (stmt->dim[d].layout.rounds > 1)
			return -1;
	return at >= 0 && is_in_order(&stmt->dim[at]) && stmt->dim[at].layout.tile == 1 && space_of(&stmt->access[0]) == HEDDLE_SPACE_GLOBAL ? at : -1;
}

static double words_read(const heddle_stmt *stmt, heddle_space space, const values *side)
{
	const int carries = carrying_dim(stmt); /* from step to step, what its results are in anyway */
	double n = 0;
	for (int a = 1; a < stmt->n_access; a++)
		n += reads_from(stmt, a, space) && (carries < 0 || stmt->access[a].tensor != stmt->access[0].tensor) ? access_words(stmt, &stmt->access[a], side) : 0;
	return n;
}

/* Words of global memory that a round of the loop over d reads: in the innermost one those that it decides about, and that no step carries. */
static double words_moved(const heddle_stmt *stmt, int d, bool innermost, const values *side)
{
	const int carries = carrying_dim(stmt);
	double n = 0;
	for (int a = 1; a < stmt->n_access; a++) {
		const bool still = innermost && !choose_depends_on(stmt, &stmt->access[a], d);
		const bool carried = carries == d && stmt->access[a].tensor == stmt->access[0].tensor;
		if (!still && !carried && reads_from(stmt, a, HEDDLE_SPACE_GLOBAL))
			n += access_words(stmt, &stmt->access[a], side);
	}
	return n;
}

/* Bytes between the elements that an access reads for one value of the dimension and for the next. */
static double bytes_apart(const heddle_scop *scop, const heddle_stmt *stmt, const heddle_access *access, int dim)
{
	double bytes = heddle_type_size(access->tensor->type), stride = 0;
	for (int e = access->tensor->rank - 1; e >= 0; e--) {
		stride += bytes * (double)llabs(choose_stride(stmt, access, e, dim));
		bytes *= (double)heddle_scop_estimate(scop, access->tensor->extent[e]);
	}
	return stride;
}

/* Vectors that copies of a loop over the dimension, `step` values apart, load too far from those of the first one for its address. */
static double far_loads(const heddle_scop *scop, const heddle_stmt *stmt, int dim, double step, double copies, const values *side)
{
	const double reach = (double)choose_quantity(&scop->descriptor->address_reach, INT32_MAX);
	double n = 0;
	for (int a = 1; a < stmt->n_access; a++) {
		const heddle_access *access = &stmt->access[a];
		if (!reads_from(stmt, a, HEDDLE_SPACE_GLOBAL) || !access->affine || bytes_apart(scop, stmt, access, dim) * step < reach)
			continue;
		const int row = heddle_row_dim(stmt, access);
		double vectors = 1;
		for (int d = 0; d < stmt->n_dim; d++)
			if (d != dim && choose_depends_on(stmt, access, d))
				vectors *= side->n[d] / (row == d ? (double)stmt->dim[d].layout.vector : 1);
		n += vectors * (copies - 1);
	}
	return n;
}

/* Does where the dimension ends change with the others? */
static bool is_open(const heddle_stmt *stmt, int dim)
{
	const heddle_index *index = stmt->source->index[dim];
	for (int d = 0; d < stmt->n_dim; d++)
		if (d != dim && (choose_mentions(index->upper, d) || (index->lower && choose_mentions(index->lower, d))))
			return true;
	return false;
}

/* Rounds of the loop over a part of the dimension; -1: not the same always. */
static int64_t rounds_of(const heddle_scop *scop, const heddle_stmt *stmt, int d, heddle_part part)
{
	const heddle_dim *dim = &stmt->dim[d];
	const int64_t extent = choose_extent(scop, stmt, d), tile = dim->layout.tile;
	const bool several = extent > tile, loop = dim->reduction && dim->reduce != HEDDLE_REDUCE_LANES;
	if (dim->member >= 0 || (part != HEDDLE_PART_TILE && (part != HEDDLE_PART_ITEM || !loop)))
		return 1;
	if (part == HEDDLE_PART_TILE)
		return several && is_open(stmt, d) ? -1 : (extent + tile - 1) / tile;
	/* those of an open end go over whole tiles first */
	const bool partial = several && dim->layout.items > 1 && !is_open(stmt, d) && !choose_divisible(stmt, d, tile);
	return partial ? -1 : choose_least(extent, dim->layout.items);
}

/* Words of indices that are values, in neither subscripts nor conditions: of those that differ from thread to thread, others are its
 * warp's. */
static double index_words(const heddle_stmt *stmt, const heddle_expr *expr, const values *side)
{
	double n = 0;
	if (expr->kind == HEDDLE_EXPR_INDEX)
		return stmt->dim[expr->index->position].layout.threads > 1 ? side->n[expr->index->position] : 0;
	for (int i = expr->kind == HEDDLE_EXPR_SELECT ? 1 : 0; i < expr->n_arg && expr->kind != HEDDLE_EXPR_READ; i++)
		n += index_words(stmt, expr->arg[i], side);
	return n;
}

/* Is what is read along the dimension found by data, which has to be there first and to be in bounds? */
static bool follows_data(const heddle_stmt *stmt, int dim)
{
	for (int a = 1; a < stmt->n_access; a++)
		if (!stmt->access[a].affine && choose_depends_on(stmt, &stmt->access[a], dim))
			return true;
	return false;
}

/* Do a loop's rounds ask for nothing of the next one's: because that one reads what this one stores, threads wait for each other to sum
 * up, or data say where? */
static bool is_one_by_one(const heddle_stmt *stmt, int d)
{
	bool sums_up = false;
	for (int r = 0; r < stmt->n_dim && !stmt->dim[d].reduction; r++)
		sums_up = sums_up || (stmt->dim[r].reduction && stmt->dim[r].layout.threads > 1);
	return sums_up || (is_in_order(&stmt->dim[d]) && d != carrying_dim(stmt)) || follows_data(stmt, d);
}

/* Threads of all blocks, where sizes are known; else 0. */
static double threads_of_grid(const heddle_kernel *kernel)
{
	const heddle_stmt *stmt = kernel->stmt[0];
	double n = kernel->threads;
	for (int d = 0; d < stmt->n_dim; d++) {
		const int64_t extent = stmt->dim[d].member >= 0 ? heddle_fixed_extent(stmt->source->index[d]->upper) : 1;
		n *= extent < 0 ? 0 : ceil((double)extent / (double)(stmt->dim[d].member >= 0 ? stmt->dim[d].layout.tile : 1));
	}
	return n;
}

/* Are there two versions or loops of it, or a condition: for whole tiles, and for what is left at an edge? */
static bool is_parted(const heddle_scop *scop, const heddle_stmt *stmt, bool staged)
{
	for (int d = 0; d < stmt->n_dim; d++) {
		const int64_t tile = stmt->dim[d].layout.tile;
		const bool several = choose_extent(scop, stmt, d) > tile;
		if (several && ((tile > 1 && !choose_divisible(stmt, d, tile)) || (staged && is_open(stmt, d))))
			return true;
	}
	return stmt->value != stmt->source->value;
}

/* Has a block, or the only one, a part that does not exist? */
static bool is_cut(const heddle_stmt *stmt)
{
	for (int d = 0; d < stmt->n_dim; d++)
		if (stmt->dim[d].member >= 0 && !choose_divisible(stmt, d, stmt->dim[d].layout.tile))
			return true;
	return false;
}

/* Copies that loops are made of, from the inside out, multiply what a thread does side by side. */
static void demand_copies(const heddle_scop *scop, const heddle_kernel *kernel, const heddle_stmt *stmt, bool staged, register_demand *demand)
{
	const int64_t ahead = is_cut(stmt) ? heddle_simplify_ahead(0, 0) : choose_asked(scop, kernel);
	enum { SHORT = 8, WRITTEN = 512 }; /* compilers write so long a loop out, whatever the text says */
	const bool guarded = stmt->value != stmt->source->value;
	values side, tiles;
	double own = 1, copies = 1;
	bool nested = false, apart = false;
	for (int d = 0; d < stmt->n_dim; d++)
		side.n[d] = at_once(scop, stmt, d);
	demand->step = words_read(stmt, HEDDLE_SPACE_SHARED, &side);
	for (int d = 0; d < stmt->n_dim; d++) {
		if (heddle_is_window(stmt, d))
			side.n[d] = fmin((double)stmt->dim[d].layout.items, (double)choose_extent(scop, stmt, d));
		own *= side.n[d];
	}
	demand->taps = words_read(stmt, HEDDLE_SPACE_SHARED, &side) - demand->step;
	tiles = side;
	for (int part = HEDDLE_PART_ITEM; part >= (int)HEDDLE_PART_TILE; part--)
		for (int d = stmt->n_dim - 1; d >= 0; d--) {
			const int64_t rounds = rounds_of(scop, stmt, d, (heddle_part)part);
			apart = apart || (part == HEDDLE_PART_TILE && staged);
			const bool written = part == HEDDLE_PART_ITEM && heddle_is_window(stmt, d);
			apart = apart || (rounds != 1 && is_one_by_one(stmt, d));
			if (rounds == 0 || rounds == 1 || apart || written)
				continue;
			const double bytes = staged ? 0 : 4 * words_moved(stmt, d, copies == 1, &side);
			const double size = copies * (2 * own + stmt->n_access);
			int64_t n = heddle_simplify_copies(rounds, (int64_t)bytes, (int64_t)size, nested, ahead);
			if (staged && rounds > 0 && rounds <= SHORT && !nested)
				n = rounds;
			if (staged && !nested && heddle_simplify_near_copies(rounds, (int64_t)size))
				n = size * (double)rounds <= WRITTEN ? rounds : heddle_simplify_near_copies(rounds, (int64_t)size);
			const double step = part == HEDDLE_PART_TILE ? (double)stmt->dim[d].layout.tile : 1;
			demand->far = fmax(demand->far * (double)n, far_loads(scop, stmt, d, step, (double)n, &side));
			side.n[d] *= (double)n;
			tiles.n[d] *= guarded ? 1 : (double)n; /* a condition in each round keeps their reads apart */
			copies *= (double)n;
			nested = nested || n == rounds;
			apart = n != rounds;
		}
	demand->whole = !apart;
	demand->loads = words_read(stmt, HEDDLE_SPACE_GLOBAL, &side) + index_words(stmt, stmt->value, &side);
	demand->ahead = words_read(stmt, HEDDLE_SPACE_SHARED, &tiles);
	demand->divisions = staged ? 0 : count_operators(stmt, &side, stmt->value, is_division);
	demand->calls = staged ? 0 : count_operators(stmt, &side, stmt->value, is_call);
}

/* Words of its sums, but for those of items beyond the ends of dimensions. */
static double sum_words(const heddle_scop *scop, const heddle_stmt *stmt, const heddle_registers *sums)
{
	double n = choose_register_words(sums);
	for (int i = 0; i < sums->n; i++) {
		const heddle_dim *dim = &stmt->dim[sums->c[i].dim];
		const double items = ceil((double)choose_extent(scop, stmt, sums->c[i].dim) / (double)(dim->layout.threads * dim->layout.vector));
		if (sums->c[i].part == HEDDLE_PART_ITEM && items < (double)sums->c[i].extent)
			n *= items / (double)sums->c[i].extent;
	}
	return n;
}

/* Words that a thread moves to the statement's tiles in one step: to those that are loaded a step ahead, or to the others. */
static double filled_words(const heddle_scop *scop, const heddle_kernel *kernel, const heddle_stmt *stmt, bool early)
{
	double filled = 0;
	for (int g = 0; g < kernel->n_group; g++) {
		const heddle_group *group = kernel->group[g];
		double elements = 1;
		if (group->stmt != stmt || group->space != HEDDLE_SPACE_SHARED || group->early != early)
			continue;
		for (int e = 0; e < group->tensor->rank; e++)
			elements *= fmin((double)group->size[e], (double)heddle_scop_estimate(scop, group->tensor->extent[e]));
		filled += ceil(elements / kernel->threads) * fmax(1, heddle_type_size(group->tensor->type) / 4.0);
	}
	return filled;
}

static register_demand demand_of(const heddle_scop *scop, const heddle_kernel *kernel, const heddle_stmt *stmt)
{
	heddle_registers here, total;
	register_demand demand = {.filled = filled_words(scop, kernel, stmt, false), .early = filled_words(scop, kernel, stmt, true)};
	const bool staged = stages(kernel, stmt);
	if (stmt->reduction && heddle_stmt_sums(stmt, &here, &total))
		demand.sums = sum_words(scop, stmt, &here);
	demand.guarded = is_parted(scop, stmt, staged) ? demand.sums : 0;
	for (int a = 0; a < stmt->n_access; a++)
		demand.accesses += stmt->access[a].tensor->rank > 0 && space_of(&stmt->access[a]) != HEDDLE_SPACE_REGISTER;
	demand_copies(scop, kernel, stmt, staged, &demand);
	return demand;
}

double choose_loaded_words(const heddle_scop *scop, const heddle_kernel *kernel, const heddle_stmt *stmt)
{
	return demand_of(scop, kernel, stmt).loads;
}

int64_t choose_asked(const heddle_scop *scop, const heddle_kernel *kernel)
{
	return heddle_simplify_ahead(heddle_in_flight(scop->descriptor), threads_of_grid(kernel));
}

static bool reads_tensor(const heddle_stmt *stmt, const heddle_tensor *tensor)
{
	for (int a = 1; a < stmt->n_access; a++)
		if (stmt->access[a].tensor == tensor)
			return true;
	return false;
}

/* Does a statement after t read without a loop what that one reads, and none before or at s? */
static bool is_kept_through(const heddle_kernel *kernel, const register_demand *demand, int t, int s)
{
	for (int a = 1; a < kernel->stmt[t]->n_access; a++)
		for (int u = t + 1; u < kernel->n_stmt && reads_from(kernel->stmt[t], a, HEDDLE_SPACE_GLOBAL); u++)
			if (demand[u].whole && reads_tensor(kernel->stmt[u], kernel->stmt[t]->access[a].tensor)) {
				if (u > s)
					return true;
				break;
			}
	return false;
}

/* Words that compilers keep while statement s runs: those before and after it read them, and no loop is in the way. */
static double words_through(const heddle_kernel *kernel, const register_demand *demand, int s)
{
	double n = 0;
	for (int t = 0; t < s; t++)
		n += demand[t].whole && is_kept_through(kernel, demand, t, s) ? demand[t].loads : 0;
	return n;
}

/* Words that others of the same loop carry from step to step while statement s runs: all that they have results of. */
static double words_carried(const heddle_kernel *kernel, const bool *joins, int s)
{
	double n = 0;
	int first = s, end = s + 1;
	while (joins[first])
		first--;
	while (end < kernel->n_stmt && joins[end])
		end++;
	for (int t = first; t < end; t++) {
		const heddle_stmt *stmt = kernel->stmt[t];
		double own = heddle_type_size(heddle_type_computed(stmt->access[0].tensor->type)) / 4.0;
		for (int d = 0; d < stmt->n_dim; d++)
			own *= (double)(stmt->dim[d].layout.items * stmt->dim[d].layout.vector);
		n += t != s && carrying_dim(stmt) >= 0 ? own : 0;
	}
	return n;
}

/* Registers of a thread while the statement runs, `common` of them its kernel's.
 *
 * It cannot do without its sums and, where it has several, what the round that is computed, and a part of the next one, read of tiles, or
 * what it moves there.  What else is asked for ahead (of tiles: only where `patient` is not set) or computed side by side is what registers are
 * left for. */
static double statement_registers(const heddle_register_weights *w, const register_demand *d, double common, bool patient)
{
	enum { USUAL_SPARE = 64, ROUNDS = 2, MOST_FILLED = 24, MOST_AHEAD = 32, MOST_LOADS = 64, MOST_FAR = 16, PART = 4 };
	const double spare = weight(&w->spare, USUAL_SPARE), live = common + d->sums + weight(&w->early, 1) * d->early + weight(&w->guard, 1) * d->guarded;
	const double filled = fmin(d->filled, MOST_FILLED), ahead = fmax(fmin(d->ahead, MOST_AHEAD), d->ahead / ROUNDS);
	const double beside = fmin(weight(&w->division, 1) * d->divisions + weight(&w->call, 1) * d->calls, spare / PART);
	const double asked = (patient ? 0 : weight(&w->ahead, 1) * ahead) + weight(&w->load, 1) * fmin(d->loads, MOST_LOADS) +
			     weight(&w->address, 0) * fmin(d->far, MOST_FAR) + beside;
	const double read = weight(&w->operand, ROUNDS) * d->step + weight(&w->tap, 0) * d->taps;
	const double least = live + (d->sums > 1 ? fmax(read, filled) : 0);
	return fmax(least, fmin(live + fmax(filled, asked), spare));
}

/* Registers of a thread at which a unit holds all threads that it can. */
static double registers_of_all(const heddle_descriptor *d)
{
	const double unit = (double)choose_quantity(&d->register_granularity, 1);
	return d->registers_per_unit.set && d->threads_per_unit.set ? floor(d->registers_per_unit.value / d->threads_per_unit.value / unit) * unit : 0;
}

double choose_registers(const heddle_scop *scop, const heddle_kernel *kernel, double kept, bool patient)
{
	enum { USUAL_BASE = 24, MOST_ACCESSES = 12 };
	const heddle_register_weights *w = &scop->descriptor->registers;
	const double base = weight(&w->base, USUAL_BASE);
	register_demand *demand = HEDDLE_NEW_ARRAY(scop->arena, register_demand, (size_t)kernel->n_stmt);
	double most = 0, accesses = 0, tiles = 0;
	if (kernel->threads == 1 && scop->descriptor->scalar_registers.set)
		return base; /* all that it does is the same for its warp */
	for (int g = 0; g < kernel->n_group; g++)
		tiles += kernel->group[g]->space == HEDDLE_SPACE_SHARED;
	for (int s = 0; s < kernel->n_stmt; s++) {
		demand[s] = demand_of(scop, kernel, kernel->stmt[s]);
		accesses += demand[s].accesses;
	}
	const double common = base + kept + weight(&w->tile, 0) * tiles + weight(&w->access, 0) * fmin(accesses, MOST_ACCESSES);
	const bool *joins = heddle_joins(scop->arena, scop, kernel);
	for (int s = 0; s < kernel->n_stmt; s++) {
		const double through = words_through(kernel, demand, s) + words_carried(kernel, joins, s);
		most = fmax(most, statement_registers(w, &demand[s], common + through, patient));
	}
	return most;
}

/* Of what a kernel is estimated to take, for sharing registers out: where the next step's words stay in them all the time, more for
 * their addresses, and a twentieth, for what compilers cannot do without they spill. */
#define EARLY_ROOM 1.05

static double held_registers(const heddle_scop *scop, const heddle_kernel *kernel, double kept)
{
	double early = 0;
	for (int s = 0; s < kernel->n_stmt; s++)
		early = fmax(early, filled_words(scop, kernel, kernel->stmt[s], true));
	return choose_registers(scop, kernel, kept, false) + early / 2;
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
		if (is_in_order(&stmt->dim[d]))
			return true;
	return false;
}

/* As choose_resident; `yields`: compilers are asked to give up registers that leave no room for one block more. */
static int resident_blocks(const heddle_scop *scop, const heddle_kernel *kernel, double kept, bool yields)
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
	bool guarded = false, varied = false, early = false;
	for (int g = 0; g < kernel->n_group; g++)
		early = early || kernel->group[g]->early;
	for (int s = 0; s < kernel->n_stmt; s++) {
		guarded = guarded || guards_tiles(kernel, kernel->stmt[s]);
		varied = varied || is_varied(kernel->stmt[s]);
	}
	const bool few = !guarded && !early && choose_registers(scop, kernel, kept, !varied) <= weight(&d->registers.squeeze, 1) * all;
	if (varied && !few)
		return 0;
	/* some compilers do a condition's rounds apart, and keep what all of them read */
	const double margin = weight(&d->registers.margin, 1) * (guarded ? weight(&d->registers.margin, 1) : 1);
	const double wanted = few ? all : fmax(margin, early ? EARLY_ROOM : margin) * held_registers(scop, kernel, kept);
	double blocks = choose_register_blocks(d, kernel->threads, wanted);
	if (yields && !few && !early && d->registers.yield.set)
		blocks = fmax(blocks, choose_register_blocks(d, kernel->threads, choose_registers(scop, kernel, kept, false) / d->registers.yield.value));
	blocks = fmin(blocks, floor(d->threads_per_unit.value / threads));
	if (d->blocks_per_unit.set)
		blocks = fmin(blocks, d->blocks_per_unit.value);
	return blocks < 1 ? 1 : (int)blocks;
}

int choose_resident(const heddle_scop *scop, const heddle_kernel *kernel, double kept)
{
	return resident_blocks(scop, kernel, kept, true);
}

static void set_early(heddle_kernel *kernel, const heddle_stmt *stmt, bool early)
{
	for (int g = 0; g < kernel->n_group; g++)
		if (kernel->group[g]->stmt == stmt && kernel->group[g]->space == HEDDLE_SPACE_SHARED)
			kernel->group[g]->early = early;
}

bool choose_early(const heddle_scop *scop, heddle_kernel *kernel, const heddle_stmt *stmt, double kept, int *resident)
{
	enum { WORDS = 16, SUMS = 4, LEAST_STEPS = 8 }; /* measured: threads of 64 sums hold 16 words, those of 128 hold 32 */
	const double keeps = 0.7; /* of the blocks: measured, three in place of four are worth it */
	const heddle_descriptor *d = scop->descriptor;
	double steps = 1, blocks = 1;
	for (int x = 0; x < stmt->n_dim; x++) {
		const double tiles = ceil((double)choose_extent(scop, stmt, x) / (double)stmt->dim[x].layout.tile);
		if (stmt->dim[x].member < 0 || stmt->dim[x].reduction)
			steps *= tiles;
		else
			blocks *= tiles;
	}
	const double words = filled_words(scop, kernel, stmt, false);
	if (!d->registers.early.set || d->execution == HEDDLE_SIMD || kernel->threads < 2 || !stmt->reduction || steps < LEAST_STEPS || words < 1 ||
	    words > fmax(WORDS, demand_of(scop, kernel, stmt).sums / SUMS) || !d->registers_per_unit.set)
		return false;
	const double alone = choose_registers(scop, kernel, kept, false);
	const int wished = resident_blocks(scop, kernel, kept, false);
	const double there = ceil(blocks / (double)choose_quantity(&d->units, 1)); /* for one unit */
	const double before = fmin(there, wished ? wished : choose_register_blocks(d, kernel->threads, alone));
	set_early(kernel, stmt, true);
	const double after = choose_register_blocks(d, kernel->threads, EARLY_ROOM * held_registers(scop, kernel, kept));
	*resident = choose_resident(scop, kernel, kept);
	if (after >= keeps * before && after >= 1)
		return true;
	set_early(kernel, stmt, false);
	return false;
}
