/* Choosing layouts of reductions in which two dimensions each are missing from an operand: tiles of sums in registers, panels of
 * operands in the nearest memory.
 * SPDX-License-Identifier: MIT
 */
#include "cost/choose.h"
#include "cost/rules.h"
#include "model/ranges.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A reduction in which two members are each missing from an operand: register tiles pay. */
bool choose_is_contraction(const chooser *c, int *x, int *y)
{
	const heddle_stmt *stmt = c->main;
	*x = choose_fast_member_dim(stmt);
	*y = -1;
	if (!stmt->reduction || *x < 0 || !choose_has_reuse(stmt, *x))
		return false;
	bool reduces = false;
	const int along = choose_results_along(stmt);
	for (int d = 0; d < stmt->n_dim; d++) {
		reduces |= stmt->dim[d].reduction;
		if (d == *x || stmt->dim[d].member < 0 || !choose_has_reuse(stmt, d))
			continue;
		/* the pair must not be missing from the same operands */
		bool apart = false;
		for (int a = 1; a < stmt->n_access; a++)
			apart |= stmt->access[a].tensor->rank &&
				 choose_depends_on(stmt, &stmt->access[a], d) != choose_depends_on(stmt, &stmt->access[a], *x);
		const int64_t more = *y < 0 ? 1 : choose_extent(c->scop, stmt, d) - choose_extent(c->scop, stmt, *y);
		if (apart && (more > 0 || (more == 0 && d == along && heddle_row_dim(stmt, &stmt->access[0]) < 0)))
			*y = d;
	}
	return reduces && *y >= 0;
}

/* Floating-point operations of one instance. */
static int operations(const heddle_expr *expr)
{
	int n = heddle_type_is_float(expr->type) && (expr->kind == HEDDLE_EXPR_BINARY || expr->kind == HEDDLE_EXPR_CALL);
	for (int i = 0; i < expr->n_arg; i++)
		n += operations(expr->arg[i]);
	return n;
}

/* Will y run along the rows of an operand's tile: does it in memory, or is the tile turned, a reduction being there? */
static bool along_tile(const chooser *c, int y)
{
	for (int a = 1; a < c->main->n_access; a++) {
		const heddle_access *access = &c->main->access[a];
		const int row = heddle_row_dim(c->main, access);
		bool plain = false;
		for (int e = 0; e < access->tensor->rank; e++)
			plain = plain || heddle_access_dim(c->main, access, e) == y;
		if (plain && row >= 0 && (row == y || (access->tensor->rank > 1 && c->main->dim[row].reduction)))
			return true;
	}
	return false;
}

/* A square of sums: nx by ny threads, px by py sums each. */
typedef struct square {
	int64_t nx, ny, px, py, vx, vy; /* vx, vy: of the sums along x and y, those that are read at once */
} square;

/* What a chip does in a second, as far as products ask for it; where a descriptor is silent, what is usual. */
typedef struct pace {
	double multiply, near, cache; /* products with sums; bytes of shared memory and of the last cache */
	double wait;		      /* cycles until a value from shared memory is there; compilers ask a few steps ahead */
	double issue;		      /* warps of which a unit multiplies one value each in a cycle */
	int64_t warp, registers, threads; /* the last two: of a unit */
} pace;

static double bandwidth_of(const heddle_descriptor *d, const char *name)
{
	const heddle_memory *memory = heddle_descriptor_memory(d, name);
	return memory && memory->bandwidth.set ? memory->bandwidth.value : 0;
}

static pace pace_of(const chooser *c)
{
	enum { CYCLE_BYTES = 128, WAIT = 30, REGISTERS = 65536, THREADS = 2048 };
	const heddle_descriptor *d = c->scop->descriptor;
	const heddle_memory *shared = heddle_descriptor_memory(d, "shared");
	const double clock = d->clock.set ? d->clock.value : 1e9, units = (double)c->units;
	pace p = {.near = bandwidth_of(d, "shared"),
		  .cache = bandwidth_of(d, "l3") > 0 ? bandwidth_of(d, "l3") : bandwidth_of(d, "l2"),
		  .multiply = heddle_descriptor_rate(d, heddle_type_computed(c->main->access[0].tensor->type)) / 2,
		  .wait = shared && shared->latency.set ? shared->latency.value * clock : WAIT,
		  .warp = choose_quantity(&d->warp, 32),
		  .registers = choose_quantity(&d->registers_per_unit, REGISTERS),
		  .threads = choose_quantity(&d->threads_per_unit, THREADS)};
	if (p.near <= 0)
		p.near = units * clock * CYCLE_BYTES;
	if (p.multiply <= 0)
		p.multiply = p.near;
	if (p.cache <= 0)
		p.cache = p.near / 6;
	p.issue = fmax(1, p.multiply / (units * clock * (double)p.warp));
	return p;
}

/* A window of taps along the rows of an operand: results beside each other begin `step` elements apart, its last tap is `reach` elements
 * behind its first one. */
typedef struct row_window {
	int64_t taps, step, reach;
} row_window;

static row_window window_of(const chooser *c, int x)
{
	enum { SHORT = 4 };
	row_window w = {1, 1, 0};
	for (int a = 1; a < c->main->n_access && w.taps == 1; a++) {
		const heddle_access *access = &c->main->access[a];
		const int row = heddle_tensor_inner(access->tensor);
		w.step = row < 0 || !access->expr ? 0 : llabs(choose_stride(c->main, access, row, x));
		for (int d = 0; d < c->main->n_dim && w.step; d++) {
			const int64_t taps = choose_whole_step(c->main, d, SHORT), apart = llabs(choose_stride(c->main, access, row, d));
			w.taps *= apart && taps ? taps : 1;
			w.reach += apart && taps ? apart * (taps - 1) : 0;
		}
	}
	return w;
}

/* Elements that all taps of n results beside each other read. */
static int64_t window_elements(const row_window *w, int64_t n)
{
	return w->taps == 1 ? n : choose_least(w->step * (n - 1) + 1 + w->reach, w->taps * n);
}

/* Elements along x that a thread reads of a tile for one tap.  Results a step apart that rows are not taken apart by come one by one, and so
 * does what is left of whole vectors: threads meet then in the banks that their distance leaves them.  `meet`: they do. */
static double read_along(const chooser *c, const square *q, const row_window *w, bool *meet)
{
	const int64_t banks = heddle_descriptor_transfer(c->scop->descriptor).banks;
	const bool apart = w->step > 1 && !choose_takes_apart(w->step);
	const int64_t all = window_elements(w, q->vx), left = apart ? all : all % q->vx, distance = q->vx * (apart ? w->step : 1);
	const double turns = ceil((double)q->nx / (double)(banks / heddle_gcd(banks, distance)));
	*meet = left > 0 && turns > 1;
	return (double)(q->px / q->vx) * ((double)(all - left) + (double)left * turns) / (double)w->taps;
}

/* Seconds of one step of the reductions in all blocks, as cost/estimate.c has them: what units multiply, read from shared memory and
 * bring there; how well blocks fill the units; and whether there are warps enough to multiply while others wait. */
static double square_seconds(const chooser *c, int x, int y, const square *q, const row_window *w, const pace *p, bool *meet)
{
	enum { BASE_REGISTERS = 40, UNROLLED = 8 };
	const double alone = 1.2; /* what no other block fills while one waits at its barriers: measured, a fifth more than two take */
	const int64_t size = heddle_type_size(c->main->access[0].tensor->type);
	const double tx = (double)(q->nx * q->px), ty = (double)(q->ny * q->py), threads = (double)(q->nx * q->ny);
	const double blocks = choose_blocks_with(c, x, q->nx * q->px, y, q->ny * q->py), units = (double)c->units;
	const double instances = blocks * tx * ty, sums = (double)(q->px * q->py);
	const double multiply = instances / p->multiply;
	const double along = (double)window_elements(w, q->nx * q->px);
	const double read = (read_along(c, q, w, meet) + (double)q->py) * (double)size, moved = (along / (double)w->taps + ty) * (double)size;
	const double near = instances / sums * read / p->near; /* banks serve lanes in turn, even with the same */
	const double cache = blocks * moved / p->cache;
	const double longest = fmax(multiply, fmax(near, cache)), seconds = longest + (multiply + near + cache - longest) / 5;
	const double registers = BASE_REGISTERS + sums + (double)(q->px + q->py);
	const double room = fmax(1, floor(fmin((double)p->registers / (registers * threads), (double)p->threads / threads)));
	const double resident = fmin(room, ceil(blocks / units));
	const double rounds = blocks / (units * resident), wanted = p->issue * (1 + p->wait / (UNROLLED * sums));
	return seconds * (room < 2 ? alone : 1) * ceil(rounds) / rounds * fmax(1, wanted / (resident * threads / (double)p->warp));
}

/* Results that a thread has side by side: those that it stores at once, four at least. */
static int64_t wide_of(const chooser *c)
{
	enum { LEAST = 4 };
	const int64_t wide = choose_wide(c->scop, c->main->access[0].tensor->type);
	return wide > LEAST ? wide : LEAST;
}

/* Of a square, the sums that each side has to have at least, the block that it has to be, and the sums that a thread may have. */
typedef struct wanted {
	int64_t px, py, tx, ty, sums; /* tx = 0: any block, any sums */
} wanted;

/* The square that takes the least seconds, of powers of two that a block has threads for, and a thread registers; of those alike the one of
 * the squarest block.  One whose threads meet in no banks may take a little longer. */
static square least_square(const chooser *c, int x, int y, int64_t sums, const wanted *of, double *least)
{
	enum { MOST_SIDE = 32, MOST_ALONG = 8, MANY_SUMS = 64 };
	const double alike_share = 1e-6, free_share = 0.1;
	const pace p = pace_of(c);
	const row_window w = window_of(c, x);
	const int64_t wide = wide_of(c);
	const int64_t ex = choose_extent(c->scop, c->main, x), ey = choose_extent(c->scop, c->main, y);
	const int64_t most = choose_most_threads(c), fewest = choose_least(p.warp, most);
	const bool along = along_tile(c, y);
	square best = {1, 1, 1, 1, 1, 1}, free_one = best;
	double least_free = INFINITY;
	bool best_meets = false;
	*least = INFINITY;
	for (square q = {.nx = MOST_SIDE}; q.nx >= 1; q.nx /= 2)
		for (q.ny = 1; q.ny <= MOST_SIDE; q.ny *= 2)
			for (q.px = MOST_ALONG; q.px >= 1 && q.nx * q.ny >= fewest && q.nx * q.ny <= most; q.px /= 2)
				for (q.py = 1; q.py <= (sums > MANY_SUMS ? 2 : 1) * MOST_ALONG && q.px * q.py <= sums; q.py *= 2) {
					if ((q.nx > 1 && q.nx * q.px >= 2 * ex) || (q.ny > 1 && q.ny * q.py >= 2 * ey))
						continue;
					if (q.px < of->px || q.py < of->py || (of->tx && (q.nx * q.px != of->tx || q.ny * q.py != of->ty || q.px * q.py > of->sums)))
						continue;
					q.vx = choose_least(wide, q.px);
					q.vy = along ? choose_least(wide, q.py) : 1;
					bool meet;
					const double seconds = square_seconds(c, x, y, &q, &w, &p, &meet);
					if (!meet && seconds < least_free * (1 - alike_share))
						least_free = seconds, free_one = q;
					const bool alike = seconds <= *least * (1 + alike_share) && llabs(q.nx - q.ny) < llabs(best.nx - best.ny);
					if (seconds < *least * (1 - alike_share) || alike)
						*least = seconds, best = q, best_meets = meet;
				}
	if (best_meets && least_free <= (1 + free_share) * *least)
		*least = least_free, best = free_one;
	return best;
}

/* Is a row of global memory that has whole vectors read or stored along dimension d of the sum, or of what follows it? */
static bool moves_along(const chooser *c, int d, int64_t wide)
{
	for (int s = 0; s < c->kernel->n_stmt; s++) {
		const heddle_stmt *stmt = c->kernel->stmt[s];
		for (int a = 0; a < stmt->n_access; a++) {
			const heddle_access *access = &stmt->access[a];
			const int row = access->tensor->rank ? heddle_row_dim(stmt, access) : -1;
			if (row >= 0 && (stmt != c->main || !a) && stmt->dim[row].member == c->main->dim[d].member &&
			    (!a || !heddle_kernel_writes(c->kernel, access->tensor)) && heddle_rules_rows_aligned(access->tensor, wide))
				return true;
		}
	}
	return false;
}

/* Results that are less than a vector of rows that have whole ones are stored, and what is added to them is read, by more requests than they
 * need: to have the same block's results by whole vectors, as few as a thread has otherwise, may take a fourth longer by what a step of the
 * reductions takes. */
static square best_square(const chooser *c, int x, int y, int64_t sums)
{
	const double worth = 1.25;
	const int64_t wide = wide_of(c);
	double seconds, of_whole;
	const square best = least_square(c, x, y, sums, &(wanted){0}, &seconds);
	const int64_t wx = moves_along(c, x, wide) ? wide : 1, wy = moves_along(c, y, wide) ? wide : 1, own = best.px * best.py;
	if (best.px >= wx && best.py >= wy)
		return best;
	const wanted whole = {wx, wy, best.nx * best.px, best.ny * best.py, own > wx * wy ? own : wx * wy};
	const square of_wide = least_square(c, x, y, sums, &whole, &of_whole);
	return of_whole <= worth * seconds ? of_wide : best;
}

/* How many values a subscript has while each dimension goes through `tile` of its own. */
static int64_t spread(const heddle_expr *expr, const int64_t *tile)
{
	int64_t n = 1;
	if (expr->kind == HEDDLE_EXPR_INDEX)
		return tile[expr->index->position];
	if (expr->kind == HEDDLE_EXPR_BINARY && expr->op == HEDDLE_OP_MUL)
		for (int i = 0; i < 2; i++)
			if (expr->arg[i]->kind == HEDDLE_EXPR_INT)
				return (spread(expr->arg[1 - i], tile) - 1) * llabs(expr->arg[i]->i) + 1;
	for (int i = 0; i < expr->n_arg; i++)
		n += spread(expr->arg[i], tile) - 1;
	return n;
}

/* Bytes of the operands that rounds along y (-1: none) use again, in one step of `tile`. */
static int64_t panel_bytes(const chooser *c, int y, const int64_t *tile)
{
	int64_t bytes = 0;
	for (int a = 1; a < c->main->n_access; a++) {
		const heddle_access *access = &c->main->access[a];
		int64_t n = heddle_type_size(access->tensor->type);
		if (!access->tensor->rank || choose_depends_on(c->main, access, y))
			continue;
		for (int e = 0; e < access->tensor->rank; e++)
			n *= spread(access->expr->arg[e], tile);
		bytes += n;
	}
	return bytes;
}

/* Elements that the step of reduction d takes: `step`, or as many as make the pieces of rows that lie along it whole sectors, where the
 * reduction is long and tiles of that step let a unit hold all the blocks that there are for it.  Operands of fewer bytes than what is
 * computed are left aside. */
static int64_t sector_step(const chooser *c, int d, int x, int y, int64_t step, int64_t *tile)
{
	enum { LEAST_STEPS = 4 };
	const heddle_descriptor *descriptor = c->scop->descriptor;
	const int64_t sector = heddle_descriptor_transfer(descriptor).sector;
	const int64_t block = choose_quantity(&descriptor->shared_per_block, 0), unit = choose_quantity(&descriptor->shared_per_unit, block);
	const int64_t size = heddle_type_size(heddle_type_computed(c->main->access[0].tensor->type));
	tile[d] = step;
	for (int a = 1; a < c->main->n_access; a++) {
		const heddle_access *access = &c->main->access[a];
		if (access->tensor->rank && heddle_row_dim(c->main, access) == d && heddle_type_size(access->tensor->type) >= size &&
		    tile[d] * size < sector)
			tile[d] = sector / size;
	}
	const double blocks = ceil(choose_blocks_with(c, x, tile[x], y, tile[y]) / (double)c->units), bytes = (double)panel_bytes(c, -1, tile);
	return LEAST_STEPS * tile[d] <= choose_extent(c->scop, c->main, d) && blocks * bytes <= (double)unit ? tile[d] : step;
}

/* Products of which one is less than a warp has results: several of them a block, a thread for each result. */
static square small_products(chooser *c, int x, int y)
{
	const square q = {choose_power_above(choose_extent(c->scop, c->main, x)), choose_power_above(choose_extent(c->scop, c->main, y)), 1, 1, 1, 1};
	choose_fill_block(c, c->main, x, y, q.nx * q.ny, choose_most_threads(c));
	return q;
}

void choose_contraction_threads(chooser *c, int x, int y)
{
	/* Every dimension beyond a plain product's three costs registers for its addresses, and so does a range that moves. */
	bool box = true;
	for (int d = 0; d < c->main->n_dim; d++)
		for (int other = 0; other < c->main->n_dim; other++)
			box = box && !choose_mentions(c->main->source->index[d]->upper, other);
	enum { MANY_REGISTERS = 240, MOST = 128 };
	const bool many = choose_quantity(&c->scop->descriptor->registers_per_thread, 0) >= MANY_REGISTERS;
	int64_t sums = (many ? MOST : MOST / 2) / (c->main->n_dim == 3 && box ? 1 : !many ? 2 : c->main->n_dim == 4 && box ? 1 : 4);
	/* and what is computed before it is summed: compilers unroll the steps and keep all of it at once */
	if (operations(c->main->value) > 1)
		sums = 16;
	const int64_t results = choose_power_above(choose_extent(c->scop, c->main, x)) * choose_power_above(choose_extent(c->scop, c->main, y));
	const bool small = results < choose_least(choose_quantity(&c->scop->descriptor->warp, 1), choose_most_threads(c));
	const square q = small ? small_products(c, x, y) : best_square(c, x, y, sums);
	choose_set_layout(c, c->main, x, q.px / q.vx, q.nx, q.vx);
	choose_set_layout(c, c->main, y, q.py / q.vy, q.ny, q.vy);
	/* steps of the reductions: short ones whole, the first long one by 8 elements, by fewer where that made a step of more terms
	 * than compilers keep in registers */
	enum { SHORT = 4, LONG = 8, MOST_TERMS = 64, FEW_WARPS = 4, MOST_WORDS = 16, LEAST_STEPS = 8 };
	int64_t terms = 1, step = LONG, tile[HEDDLE_MAX_DIM];
	/* few warps wait at each barrier for all that they asked for: longer steps, of which a thread still holds the next one */
	const double threads = (double)(q.nx * q.ny), warp = (double)choose_quantity(&c->scop->descriptor->warp, 1);
	const double warps = choose_blocks_with(c, x, q.nx * q.px, y, q.ny * q.py) / (double)c->units * threads / warp;
	const bool few = warps <= FEW_WARPS && (double)(q.nx * q.px + q.ny * q.py) * 2 * LONG <= MOST_WORDS * threads;
	bool stepped = false;
	for (int d = 0; d < c->main->n_dim; d++)
		terms *= choose_whole_step(c->main, d, SHORT) ? choose_whole_step(c->main, d, SHORT) : 1;
	while (step > 2 && step * terms > MOST_TERMS)
		step /= 2;
	for (int d = 0; d < c->main->n_dim; d++) {
		const int64_t whole = choose_whole_step(c->main, d, SHORT);
		tile[d] = d == x ? q.nx * q.px : d == y ? q.ny * q.py : whole ? whole : 1;
	}
	for (int d = 0; d < c->main->n_dim; d++) {
		if (choose_whole_step(c->main, d, SHORT))
			choose_set_layout(c, c->main, d, tile[d], 1, 1);
		else if (c->main->dim[d].reduction && !stepped) {
			const bool longer = few && step == LONG && choose_extent(c->scop, c->main, d) >= LEAST_STEPS * 2 * LONG;
			choose_set_layout(c, c->main, d, sector_step(c, d, x, y, longer ? 2 * LONG : step, tile), 1, 1);
			stepped = true;
		}
	}
}

/* Is the sum over some of the instances only, those of a condition in the value? */
static bool sums_some(const heddle_stmt *stmt)
{
	return stmt->value != stmt->source->value;
}

/* Steps of the panel's reduction.  Operands of y that run along it are read in runs of a step: the longer, the better what fetches
 * ahead follows.  Those that do not are read from as many rows as a step has elements, which the cache must keep over the rounds; and
 * what is turned on its way into the panel goes to as many rows of it. */
static int64_t longest_step(const chooser *c, int x, int y, int along)
{
	enum { RUNS = 512, TURNED = 128, ROWS = 64 };
	int64_t most = RUNS;
	for (int a = 1; a < c->main->n_access; a++) {
		const heddle_access *access = &c->main->access[a];
		const int row = access->tensor->rank ? heddle_row_dim(c->main, access) : along;
		if (choose_depends_on(c->main, access, y))
			most = choose_least(most, row == along ? RUNS : ROWS);
		else if (choose_depends_on(c->main, access, x))
			most = choose_least(most, row == along ? TURNED : RUNS);
	}
	return most;
}

/* Bytes of the nearest cache that one operand may take. */
static int64_t near_room(const chooser *c)
{
	const heddle_memory *first = heddle_descriptor_memory(c->scop->descriptor, "l1");
	return first && first->size.set ? (int64_t)first->size.value * 3 / 4 : 24576;
}

/* Bytes that a panel may have: it is read in sequence, so the second cache is near enough for many rounds; a few do not hide its making. */
static int64_t panel_room(const chooser *c, int64_t rounds)
{
	enum { MANY = 32 };
	const heddle_memory *second = heddle_descriptor_memory(c->scop->descriptor, "l2");
	const int64_t near = near_room(c);
	const int64_t far = second && second->size.set ? (int64_t)second->size.value / 8 : 0;
	return near > far || rounds < MANY ? near : far;
}

/* Bytes of sums that a block may keep in private memory: statements that are fused may have arrays of their own. */
static int64_t most_sums(const chooser *c)
{
	return c->kernel->n_stmt == 1 ? HEDDLE_MAX_ARRAY_BYTES : HEDDLE_MAX_ARRAY_BYTES / 2;
}

/* Is the value known to the compiler? */
static bool is_number(const heddle_expr *expr)
{
	if (expr->kind == HEDDLE_EXPR_INDEX || (expr->kind == HEDDLE_EXPR_SIZE && expr->size->min < expr->size->max))
		return false;
	for (int i = 0; i < expr->n_arg; i++)
		if (!is_number(expr->arg[i]))
			return false;
	return true;
}

/* Rounds that hide the making of a panel in the second cache (measured: 16 do not, 22 do; of a turned one 14 do not, 28 do). */
enum { MANY_ROUNDS = 20 };

/* Does a panel of the operands that do not depend on `rounds_of`, all of the reductions in it, stay in the second cache? */
static bool keeps_whole(const chooser *c, int rounds_of, int vectors_of, int64_t along_vectors, int64_t *tile)
{
	const heddle_stmt *stmt = c->main;
	const heddle_memory *second = heddle_descriptor_memory(c->scop->descriptor, "l2");
	for (int d = 0; d < stmt->n_dim; d++) {
		tile[d] = d == vectors_of ? along_vectors : stmt->dim[d].reduction ? choose_extent(c->scop, stmt, d) : 1;
		if (stmt->dim[d].reduction && !is_number(stmt->source->index[d]->upper))
			return false;
	}
	const int64_t bytes = panel_bytes(c, rounds_of, tile);
	return second && second->size.set && bytes <= (int64_t)second->size.value / 2 &&
	       bytes <= choose_quantity(&c->scop->descriptor->shared_per_block, 0);
}

/* Vectors of x, `columns` at a time, in as many rounds as a short row has: it is read whole, while others like it come, and again by nobody
 * (measured on rows of 56: 1.25 times as fast). */
static void whole_row(chooser *c, int x, int64_t columns, int64_t v, int y, int64_t rows, const int64_t *tile)
{
	enum { MOST_PARTS = 4, BLOCKS = 4 };
	const int64_t parts = (choose_extent(c->scop, c->main, x) + columns * v - 1) / (columns * v);
	int64_t all[HEDDLE_MAX_DIM];
	if (parts < 2 || parts > MOST_PARTS || !is_number(c->main->source->index[x]->upper) ||
	    choose_blocks_with(c, x, parts * columns * v, y, rows) < BLOCKS * (double)c->units)
		return;
	memcpy(all, tile, sizeof(all));
	if (keeps_whole(c, y, x, parts * columns * v, all))
		choose_set_rounds(c, c->main, x, parts, columns, 1, v);
}

/* All of the reductions in one step: where what x's operands need then stays in the second cache, it is brought together once for all
 * rows, a thread has sums of one round only, and rows are read in sequence from end to end.  false: it does not, or rows are not read
 * so; then nothing is set. */
static bool whole_panel(chooser *c, int x, int64_t columns, int64_t v, int y, int64_t rows)
{
	enum { BLOCKS = 4 }; /* of a unit */
	const heddle_stmt *stmt = c->main;
	const int64_t all = (choose_extent(c->scop, stmt, y) + rows - 1) / rows;
	int64_t tile[HEDDLE_MAX_DIM], rounds = all;
	for (int a = 1; a < stmt->n_access; a++) {
		const int row = stmt->access[a].tensor->rank ? heddle_row_dim(stmt, &stmt->access[a]) : -1;
		if (choose_depends_on(stmt, &stmt->access[a], y) && (row < 0 || !stmt->dim[row].reduction))
			return false;
	}
	const int64_t tx = columns * v;
	if (!keeps_whole(c, y, x, tx, tile))
		return false;
	while (rounds > 1 && choose_blocks_with(c, x, tx, y, rounds * rows) < BLOCKS * (double)c->units)
		rounds = (rounds + 1) / 2;
	if (rounds < MANY_ROUNDS)
		return false;
	choose_set_layout(c, stmt, x, columns, 1, v);
	for (int d = 0; d < stmt->n_dim; d++)
		if (stmt->dim[d].reduction)
			choose_set_layout(c, stmt, d, tile[d], 1, 1);
	choose_set_rounds(c, stmt, y, rounds, rows, 1, 1);
	whole_row(c, x, columns, v, y, rounds * rows, tile);
	return true;
}

/* Rounds along y and steps of the reductions: what x's operands need in one step is brought together once for all rounds.  false:
 * there would be fewer than `least_rounds`. */
static bool panel(chooser *c, int x, int64_t columns, int64_t v, int y, int64_t rows, int64_t least_rounds)
{
	enum { MOST_ROUNDS = 32, SHORT = 8, LONG = 512 };
	const heddle_stmt *stmt = c->main;
	const int64_t tx = columns * v;
	int64_t tile[HEDDLE_MAX_DIM], length = 1, rounds = MOST_ROUNDS;
	int along = -1;
	for (int d = 0; d < stmt->n_dim; d++)
		length *= stmt->dim[d].reduction ? choose_extent(c->scop, stmt, d) : 1;
	if (length < LONG) /* sums move often: the nearest cache had better hold them */
		rounds /= 2;
	const int64_t sums = rows * tx * heddle_type_size(heddle_type_computed(stmt->access[0].tensor->type));
	while (rounds > 1 && (rounds * rows > choose_extent(c->scop, stmt, y) || rounds * sums > most_sums(c) ||
			      choose_blocks_with(c, x, tx, y, rounds * rows) < 4 * (double)c->units))
		rounds /= 2;
	for (int d = 0; d < stmt->n_dim; d++) {
		tile[d] = d == x ? tx : stmt->dim[d].reduction ? choose_whole_step(stmt, d, SHORT) : 1;
		if (stmt->dim[d].reduction && !tile[d]) {
			tile[d] = 1;
			if (along < 0 || choose_extent(c->scop, stmt, d) > choose_extent(c->scop, stmt, along))
				along = d;
		}
	}
	if (rounds < least_rounds || along < 0 || sums_some(stmt))
		return false;
	if (whole_panel(c, x, columns, v, y, rows))
		return true;
	int64_t step = longest_step(c, x, y, along);
	for (; step > 1; step /= 2) {
		tile[along] = step;
		if (panel_bytes(c, y, tile) <= panel_room(c, rounds) && step < 2 * choose_extent(c->scop, stmt, along))
			break;
	}
	if (step < 16)
		return false;
	choose_set_layout(c, stmt, x, columns, 1, v);
	for (int d = 0; d < stmt->n_dim; d++)
		if (stmt->dim[d].reduction)
			choose_set_layout(c, stmt, d, tile[d], 1, 1);
	choose_set_rounds(c, stmt, y, rounds, rows, 1, 1);
	return true;
}

/* Rows of y and vectors of x whose sums registers hold, beside the operands of one row: those with which all steps of the
 * reductions take the fewest instructions, one for each sum and each element or vector read.  Lanes at the end of x idle; rows at
 * the end of y are taken one by one, with loops that wait for one another; `asks`: instead each row that the last ones do not have is
 * asked for in every step, and loads its vectors anew.  `far`: vectors come from the second cache, at half the rate. */
static double register_tile(const chooser *c, int64_t ex, int64_t ey, int64_t v, bool guarded, bool asks, bool far, int64_t *rows,
			    int64_t *columns)
{
	enum { MOST_COLUMNS = 4, MOST_ROWS = 16, GUARDED_COLUMNS = 2, GUARDED_SUMS = 16, LONE_ROW = 4 };
	const int64_t most = guarded ? GUARDED_COLUMNS : MOST_COLUMNS, sums = guarded ? GUARDED_SUMS : MOST_COLUMNS * MOST_ROWS;
	const int64_t registers = choose_quantity(&c->scop->descriptor->vector_registers, 16);
	double best = 0;
	*rows = *columns = 1;
	for (int64_t x = 1; x <= most && (x == 1 || x * v <= ex); x *= 2)
		for (int64_t y = 1; y <= choose_least(MOST_ROWS, ey) && x * y <= sums && (y + 1) * x + 1 <= registers; y++) {
			const double across = (double)((ex + x * v - 1) / (x * v));
			const int64_t load = far ? 2 : 1, rounds = asks ? (ey + y - 1) / y : ey / y;
			const int64_t step = x * y + load * x + y + (asks ? (rounds * y - ey) * (load * x + 1) : 0);
			const double instructions = across * (double)(rounds * step + (asks ? 0 : ey % y * LONE_ROW * (x + 1)));
			if (best == 0 || instructions <= best)
				best = instructions, *rows = y, *columns = x;
		}
	return best;
}

/* Can operands that depend on y come out of a panel in which y runs along the rows, none of the others being in vectors? */
static bool makes_panel(const chooser *c, int x, int y)
{
	for (int a = 1; a < c->main->n_access; a++) {
		const heddle_access *access = &c->main->access[a];
		bool plain = false;
		for (int e = 0; e < access->tensor->rank; e++)
			plain = plain || heddle_access_dim(c->main, access, e) == y;
		if (choose_depends_on(c->main, access, y) && (!plain || !access->affine || choose_depends_on(c->main, access, x)))
			return false;
	}
	return true;
}

/* Does an operand that depends on y depend on d, too? */
static bool in_panel(const chooser *c, int y, int d)
{
	for (int a = 1; a < c->main->n_access; a++)
		if (choose_depends_on(c->main, &c->main->access[a], y) && choose_depends_on(c->main, &c->main->access[a], d))
			return true;
	return false;
}

/* Rounds of each dimension over which the block goes beside vectors of y: over x and all that y's panel does not depend on, as many as
 * `most` bytes have sums for while there are blocks for all units.  Returns the positions in all of them. */
static int64_t turned_rounds(const chooser *c, int x, int64_t rows, int y, int64_t ty, int64_t most, int64_t *rounds)
{
	const heddle_stmt *stmt = c->main;
	const int64_t sums = ty * heddle_type_size(heddle_type_computed(stmt->access[0].tensor->type));
	double blocks = choose_blocks_with(c, x, rows, y, ty);
	int64_t positions = rows;
	for (int d = stmt->n_dim - 1; d >= 0; d--) {
		rounds[d] = 1;
		if (stmt->dim[d].member < 0 || d == y || (d != x && (in_panel(c, y, d) || !is_number(stmt->source->index[d]->upper))))
			continue;
		const int64_t all = (choose_extent(c->scop, stmt, d) + (d == x ? rows : 1) - 1) / (d == x ? rows : 1);
		int64_t r = all;
		while (r > 1 && (r * positions > most / sums || blocks / (double)r < 4 * (double)c->units))
			r--;
		const int64_t parts = (all + r - 1) / r;
		rounds[d] = (all + parts - 1) / parts; /* the same for all blocks, as far as that goes */
		positions *= rounds[d];
		blocks /= (double)rounds[d];
	}
	return positions;
}

static void set_turned(chooser *c, int x, int64_t rows, int y, int64_t columns, int64_t v, const int64_t *tile, const int64_t *rounds)
{
	for (int d = 0; d < c->main->n_dim; d++) {
		if (c->main->dim[d].reduction)
			choose_set_layout(c, c->main, d, tile[d], 1, 1);
		else if (d == y)
			choose_set_layout(c, c->main, y, columns, 1, v);
		else if (c->main->dim[d].member >= 0)
			choose_set_rounds(c, c->main, d, rounds[d], d == x ? rows : 1, 1, 1);
	}
}

/* Does each step of the reductions read a few elements of x from a line of its own?  The nearest cache must keep the lines of all steps
 * for the next round then; windows along x use a line several times meanwhile. */
static bool strided(const chooser *c, int x)
{
	for (int a = 1; a < c->main->n_access; a++) {
		const heddle_access *access = &c->main->access[a];
		const int inner = access->tensor->rank ? heddle_tensor_inner(access->tensor) : -1;
		bool window = inner < 0;
		for (int d = 0; d < c->main->n_dim && !window; d++)
			window = c->main->dim[d].reduction && choose_mentions(choose_subscripts(c->main, access)[inner], d);
		if (choose_depends_on(c->main, access, x) && !window)
			return true;
	}
	return false;
}

/* Do windows along x leave elements out?  Their lines hold less of what is asked for, and the next rows need others. */
static bool leaves_out(const chooser *c, int x)
{
	for (int a = 1; a < c->main->n_access; a++) {
		const heddle_access *access = &c->main->access[a];
		const int inner = access->tensor->rank ? heddle_tensor_inner(access->tensor) : -1;
		if (inner >= 0 && choose_stride(c->main, access, inner, x) > 1)
			return true;
	}
	return false;
}

/* Shortens the step of the longest reduction until the nearest cache holds what `rows` of x read in it; false: it does. */
static bool hold_rows(const chooser *c, int x, int64_t rows, int y, int64_t *tile)
{
	enum { LEAST = 16 };
	int64_t one[HEDDLE_MAX_DIM];
	int along = -1;
	for (int d = 0; d < c->main->n_dim; d++) {
		one[d] = d == x ? rows : c->main->dim[d].reduction ? tile[d] : 1;
		if (c->main->dim[d].reduction && (along < 0 || tile[d] > tile[along]))
			along = d;
	}
	while (panel_bytes(c, y, one) > near_room(c) && one[along] >= 2 * LEAST && one[along] % 2 == 0)
		one[along] /= 2;
	const bool shorter = one[along] < tile[along];
	tile[along] = one[along];
	return shorter;
}

/* All of the reductions in one step, with sums of one round only (as whole_panel). */
static bool whole_turned(chooser *c, int x, int y, int64_t v)
{
	enum { MOST_LINES = 128 };
	int64_t rows, columns, rounds[HEDDLE_MAX_DIM], tile[HEDDLE_MAX_DIM], steps = 1, all = 1;
	for (int d = 0; d < c->main->n_dim; d++)
		steps *= c->main->dim[d].reduction ? choose_extent(c->scop, c->main, d) : 1;
	if (steps > MOST_LINES && strided(c, x))
		return false;
	register_tile(c, choose_extent(c->scop, c->main, y), choose_extent(c->scop, c->main, x), v, false, sums_some(c->main), true, &rows, &columns);
	if (!keeps_whole(c, x, y, columns * v, tile))
		return false;
	turned_rounds(c, x, rows, y, columns * v, INT64_MAX, rounds);
	for (int d = 0; d < c->main->n_dim; d++)
		all *= rounds[d];
	if (all < MANY_ROUNDS)
		return false;
	if (leaves_out(c, x) && hold_rows(c, x, rows * rounds[x], y, tile)) /* sums of all rounds are kept then */
		turned_rounds(c, x, rows, y, columns * v, most_sums(c), rounds);
	set_turned(c, x, rows, y, columns, v, tile, rounds);
	return true;
}

/* Vectors along y instead of x, along which the target runs: their operands are turned into a panel, items go along x, and the block
 * goes in rounds over x and over all else that the panel does not depend on, so that it is made for many of them.  Lanes are all busy
 * where x is short, and what depends on x and is not known for all lanes alike, conditions and strides, is asked once an item.
 * `plain`: the instructions of a plane of x and y with vectors along x. */
static bool turned(chooser *c, int x, int y, double plain)
{
	enum { PACK = 2, SCATTER = 4, SHORT = 8, LEAST_STEP = 16, MOST_STEP = 256 };
	const heddle_stmt *stmt = c->main;
	const int64_t ex = choose_extent(c->scop, stmt, x), ey = choose_extent(c->scop, stmt, y), v = choose_least(c->vector, choose_power_below(ey));
	const int64_t room = near_room(c);
	int64_t rows, columns, rounds[HEDDLE_MAX_DIM], tile[HEDDLE_MAX_DIM], steps = 1, step = MOST_STEP;
	double length = 1;
	int along = -1;
	for (int i = 0; i < c->scop->descriptor->n_copy; i++)
		if (c->scop->descriptor->copy[i].preferred) /* it turns nothing */
			return false;
	if (v < c->vector || !is_number(stmt->source->index[x]->upper) || !makes_panel(c, x, y))
		return false;
	const double instructions = register_tile(c, ey, ex, v, false, sums_some(stmt), false, &rows, &columns);
	const int64_t positions = turned_rounds(c, x, rows, y, columns * v, most_sums(c), rounds);
	for (int d = 0; d < stmt->n_dim; d++)
		if (stmt->dim[d].reduction)
			length *= (double)choose_extent(c->scop, stmt, d);
	const double pack = PACK * (double)(ex * ey) / (double)positions;
	/* results go to lines of their own (measured: 14 cycles each) */
	if (instructions + pack + SCATTER * (double)(ex * ey) / length >= plain)
		return false;
	if (whole_turned(c, x, y, v))
		return true;
	for (int d = 0; d < stmt->n_dim; d++) {
		const int64_t values = choose_extent(c->scop, stmt, d);
		const bool whole = is_number(stmt->source->index[d]->upper) && values <= SHORT;
		tile[d] = d == y ? columns * v : !stmt->dim[d].reduction ? 1 : whole ? values : 0;
		if (stmt->dim[d].reduction && !tile[d]) {
			tile[d] = 1;
			if (along < 0 || choose_extent(c->scop, stmt, d) > choose_extent(c->scop, stmt, along))
				along = d;
		}
		steps *= stmt->dim[d].reduction ? tile[d] : 1;
	}
	for (int d = 0; d < stmt->n_dim && along < 0; d++)
		if (stmt->dim[d].reduction)
			along = d, steps /= tile[d];
	const int64_t extent = choose_extent(c->scop, stmt, along);
	for (; step > 1; step /= 2) {
		tile[along] = is_number(stmt->source->index[along]->upper) ? choose_least(step, extent) : step;
		if (panel_bytes(c, x, tile) <= room && step < 2 * extent)
			break;
	}
	if (tile[along] * steps < LEAST_STEP || panel_bytes(c, x, tile) > room)
		return false;
	set_turned(c, x, rows, y, columns, v, tile, rounds);
	return true;
}

/* Does all that x's operands have stay in the second cache?  Then nothing is won by bringing parts of it together (measured: 1.2 to 1.4
 * times as fast without, up to a fourth of the cache; the same at all of it). */
static bool stays_near(const chooser *c, int y)
{
	const heddle_memory *second = heddle_descriptor_memory(c->scop->descriptor, "l2");
	int64_t whole[HEDDLE_MAX_DIM];
	for (int d = 0; d < c->main->n_dim; d++) {
		whole[d] = choose_extent(c->scop, c->main, d);
		if (d != y && !is_number(c->main->source->index[d]->upper)) /* it may be long */
			return false;
	}
	return second && second->size.set && !sums_some(c->main) && panel_bytes(c, y, whole) <= (int64_t)second->size.value / 2;
}

/* A few rows of results, more than registers hold at a time: no panel is worth making, but x's operands are read once from far, in runs
 * of a wide tile, and again from the nearest cache by the other rows.  Rounds go over the tile in each short step of the reduction; the
 * tile's sums stay in the second cache.  false: there are fewer or more rows, or x's operands do not run along x. */
static bool wide_rows(chooser *c, int x, int y)
{
	enum { COLUMNS = 2, MOST_ROWS = 8, LEAST_ROWS = 4, MOST_PARTS = 4, STEP = 32, BLOCKS = 2 };
	const heddle_stmt *stmt = c->main;
	const int64_t registers = choose_quantity(&c->scop->descriptor->vector_registers, 16);
	const int64_t ey = choose_extent(c->scop, stmt, y), v = c->vector;
	int64_t rows = choose_least(MOST_ROWS, (registers - COLUMNS - 1) / COLUMNS);
	while (rows > LEAST_ROWS && ey % rows) /* rows that are left over are taken one by one */
		rows--;
	const int64_t parts = (ey + rows - 1) / rows;
	const int64_t size = heddle_type_size(heddle_type_computed(stmt->access[0].tensor->type));
	int64_t rounds = 1;
	int along = -1;
	if (parts < 2 || parts > MOST_PARTS || ey % rows || sums_some(stmt) || !is_number(stmt->source->index[y]->upper))
		return false;
	for (int d = 0; d < stmt->n_dim; d++)
		if (stmt->dim[d].reduction)
			along = along < 0 ? d : stmt->n_dim;
	if (along < 0 || along == stmt->n_dim || choose_extent(c->scop, stmt, along) < 2 * STEP)
		return false;
	for (int a = 1; a < stmt->n_access; a++)
		if (choose_depends_on(stmt, &stmt->access[a], x) && heddle_row_dim(stmt, &stmt->access[a]) != x)
			return false;
	while (2 * rounds * COLUMNS * v <= choose_extent(c->scop, stmt, x) && 2 * rounds * COLUMNS * v * rows * parts * size <= most_sums(c) &&
	       choose_blocks_with(c, x, 2 * rounds * COLUMNS * v, y, rows * parts) >= BLOCKS * (double)c->units)
		rounds *= 2;
	if (rounds < MOST_PARTS)
		return false;
	choose_set_layout(c, stmt, along, STEP, 1, 1);
	choose_set_rounds(c, stmt, x, rounds, COLUMNS, 1, v);
	choose_set_rounds(c, stmt, y, parts, rows, 1, 1);
	return true;
}

static void blocks_along(chooser *c, int y)
{
	heddle_kernel_config *kernel = heddle_config_kernel(c->config, c->k);
	if (kernel->n_order)
		return;
	for (int m = 0; m < c->kernel->n_member; m++)
		if (m != c->main->dim[y].member)
			HEDDLE_PUSH(c->config->arena, kernel->order, kernel->n_order, c->kernel->member[m].name);
	HEDDLE_PUSH(c->config->arena, kernel->order, kernel->n_order, c->kernel->member[c->main->dim[y].member].name);
}

/* Is an operand of fewer bytes than what is computed? */
static bool narrow(const heddle_stmt *stmt)
{
	const int64_t computed = heddle_type_size(heddle_type_computed(stmt->access[0].tensor->type));
	for (int a = 1; a < stmt->n_access; a++)
		if (stmt->access[a].tensor->rank && heddle_type_size(stmt->access[a].tensor->type) < computed)
			return true;
	return false;
}

void choose_contraction_vectors(chooser *c, int x, int y)
{
	int64_t ex = choose_extent(c->scop, c->main, x), ey = choose_extent(c->scop, c->main, y);
	/* every operand runs along a reduction: vectors there, a small square of sums */
	int along = -1;
	for (int a = 1; a < c->main->n_access; a++) {
		const heddle_access *access = &c->main->access[a];
		const int inner = heddle_tensor_inner(access->tensor), d = heddle_row_dim(c->main, access);
		const bool apart = d >= 0 && !c->main->dim[d].reduction && choose_extent(c->scop, c->main, d) > 1;
		if (apart || (inner >= 0 && choose_mentions(choose_subscripts(c->main, access)[inner], x)))
			along = c->main->n_dim;
		else if (d >= 0 && along < 0 && c->main->dim[d].reduction && choose_extent(c->scop, c->main, d) >= 2 * c->vector)
			along = d;
	}
	const double crossing = 1.075;
	enum { GUARDED = 4, GATHERED = 2, PLAIN_ROUNDS = 4, TURNED_ROUNDS = 8, PARTLY = 4 }; /* PARTLY: no vector is ever whole */
	int64_t v = choose_least(c->vector, choose_power_below(ex));
	int64_t columns, rows;
	const double instructions = register_tile(c, ex, ey, v, sums_some(c->main), false, false, &rows, &columns);
	const bool runs = along >= 0 && along < c->main->n_dim;
	/* Turned on the way into a panel they are as good as others: worth it for many rows.  Narrow ones are multiplied in pairs and
	 * fours along the reduction, as they lie: measured, that is better. */
	bool packed = runs && !narrow(c->main) && panel(c, x, columns, v, y, rows, TURNED_ROUNDS);
	if (runs && !packed) {
		choose_set_layout(c, c->main, x, choose_least(4, choose_power_below(ex)), 1, 1);
		choose_set_layout(c, c->main, y, choose_least(4, choose_power_below(ey)), 1, 1);
		choose_set_layout(c, c->main, along, 1, 1, c->vector);
		return;
	}
	/* sums over some instances only are asked for lane by lane at the edges: measured, vectors are worth a fourth there; lanes of a
	 * vector that is not full are taken one by one, and so are those whose elements lie apart; those of windows cross lines.  Where that is little, what is sure to be measured well stays. */
	const double vectors = (double)((ex + v - 1) / v), lanes = is_number(c->main->source->index[x]->upper) ? 0.5 * (double)(ex % v) : 0;
	const double edge = ((double)(ex / v) + lanes) / vectors, guarded = sums_some(c->main) ? GUARDED : 1;
	const double apart = leaves_out(c, x) ? GATHERED : strided(c, x) ? 1 : crossing;
	const bool partly = choose_results_at_once(c->main, x) < v && choose_results_at_once(c->main, y) >= choose_least(c->vector, choose_power_below(ey));
	const double factor = partly ? PARTLY * (double)v : guarded > edge ? guarded : edge < 2 ? apart : edge;
	if (!packed && turned(c, x, y, factor * instructions)) {
		blocks_along(c, y);
		return;
	}
	if (partly) {
		int most = y; /* whose results all take part */
		for (int d = 0; d < c->main->n_dim; d++)
			if (d != x && c->main->dim[d].member >= 0 && choose_results_at_once(c->main, d) == INT64_MAX &&
			    choose_extent(c->scop, c->main, d) > choose_extent(c->scop, c->main, most))
				most = d;
		const int64_t extent = choose_extent(c->scop, c->main, most);
		v = choose_least(c->vector, choose_power_below(extent));
		choose_set_layout(c, c->main, most, choose_least(2, choose_power_below((extent + v - 1) / v)), 1, v);
		blocks_along(c, most);
		return;
	}
	while (!packed && rows > 2 && choose_blocks_with(c, x, columns * v, y, rows) < 2 * (double)c->units)
		rows /= 2;
	const bool near = !packed && stays_near(c, y);
	if (!packed && !near && wide_rows(c, x, y)) {
		blocks_along(c, y);
		return;
	}
	packed = packed || (!near && panel(c, x, columns, v, y, rows, PLAIN_ROUNDS));
	if (!packed) {
		choose_set_layout(c, c->main, x, columns, 1, v);
		choose_set_layout(c, c->main, y, rows, 1, 1);
	}
	blocks_along(c, near ? x : y); /* neighbouring blocks share the rows of y, or the panel of x */
}
