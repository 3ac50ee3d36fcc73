/* Completing a config: splits, fusion, layouts, spaces.  First version: rules over footprints, parallelism and limits.
 *
 * The rules see only dimensions, subscripts and the descriptor: which dimension is contiguous in which access, which access
 * does not depend on a dimension (reuse), how many blocks there are for how many units.
 * SPDX-License-Identifier: MIT
 */
#include "cost/cost.h"
#include "cost/count.h"

#include <stdlib.h>
#include <string.h>

/* ---- queries ------------------------------------------------------------------------------------------------------------- */

static int64_t quantity(const heddle_quantity *q, int64_t otherwise)
{
	return q->set ? (int64_t)q->value : otherwise;
}

static bool mentions(const heddle_expr *expr, int dim)
{
	if (expr->kind == HEDDLE_EXPR_INDEX)
		return expr->index->position == dim;
	for (int i = 0; i < expr->n_arg; i++)
		if (mentions(expr->arg[i], dim))
			return true;
	return false;
}

static heddle_expr *const *subscripts(const heddle_stmt *stmt, const heddle_access *access)
{
	return access->expr ? access->expr->arg : stmt->source->lhs;
}

static bool depends_on(const heddle_stmt *stmt, const heddle_access *access, int dim)
{
	for (int e = 0; e < access->tensor->rank; e++)
		if (mentions(subscripts(stmt, access)[e], dim))
			return true;
	return false;
}

static int64_t extent_of(const heddle_scop *scop, const heddle_stmt *stmt, int dim)
{
	return heddle_scop_dim_extent(scop, stmt, dim);
}

static double volume(const heddle_scop *scop, const heddle_stmt *stmt)
{
	double v = 1;
	for (int d = 0; d < stmt->n_dim; d++)
		v *= (double)extent_of(scop, stmt, d);
	return v;
}

/* The statement that does most of the kernel's work decides its layout. */
static heddle_stmt *dominant(const heddle_scop *scop, const heddle_kernel *kernel)
{
	heddle_stmt *best = kernel->stmt[0];
	for (int s = 1; s < kernel->n_stmt; s++) {
		double a = volume(scop, kernel->stmt[s]), b = volume(scop, best);
		if (a > b || (a == b && kernel->stmt[s]->reduction && !best->reduction))
			best = kernel->stmt[s];
	}
	return best;
}

static int64_t power_below(int64_t n)
{
	int64_t p = 1;
	while (p * 2 <= n)
		p *= 2;
	return p;
}

static int64_t power_above(int64_t n)
{
	int64_t p = 1;
	while (p < n)
		p *= 2;
	return p;
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Is every value of the dimension's extent a multiple of n? */
static bool divisible(const heddle_stmt *stmt, int dim, int64_t n)
{
	const heddle_expr *upper = stmt->source->index[dim]->upper;
	if (upper->kind == HEDDLE_EXPR_INT)
		return upper->i % n == 0;
	if (upper->kind == HEDDLE_EXPR_SIZE)
		return upper->size->min == upper->size->max ? upper->size->min % n == 0 : upper->size->divisor % n == 0;
	return false;
}

/* ---- splits ---------------------------------------------------------------------------------------------------------------- */

static int64_t plain_extent(const heddle_expr *upper)
{
	heddle_scop none = {0};
	return heddle_scop_estimate(&none, upper);
}

static bool reads_tensor(const heddle_expr *expr, const heddle_tensor *tensor)
{
	if (expr->kind == HEDDLE_EXPR_READ && expr->tensor == tensor)
		return true;
	for (int i = 0; i < expr->n_arg; i++)
		if (reads_tensor(expr->arg[i], tensor))
			return true;
	return false;
}

/* Does another statement read what this one reads?  Then they share a kernel, and go over it one after the other. */
static bool shares_reads(const heddle_definition *definition, const heddle_statement *s)
{
	for (int i = 0; i < definition->n_statement; i++)
		for (int t = 0; t < definition->n_tensor; t++)
			if (definition->statement[i] != s && definition->tensor[t]->rank && reads_tensor(s->value, definition->tensor[t]) &&
			    reads_tensor(definition->statement[i]->value, definition->tensor[t]))
				return true;
	return false;
}

/* Values of the longest reduction with which what others read again stays in a unit's own cache. */
static int64_t cached_chunk(const heddle_definition *definition, const heddle_statement *s, const heddle_descriptor *descriptor,
			    double bytes_each)
{
	const heddle_memory *cache = heddle_descriptor_memory(descriptor, "l2");
	if (!cache || !cache->size.set || strcmp(cache->scope, "unit") != 0 || !shares_reads(definition, s))
		return INT64_MAX;
	const double n = cache->size.value / 4 / bytes_each;
	return n < 1 ? 1 : power_below((int64_t)n);
}

/* A reduction this long is worth a second launch. */
#define SPLIT_LENGTH 16384

void heddle_cost_split(heddle_arena *arena, heddle_config *config, const heddle_definition *definition,
		       const heddle_descriptor *descriptor)
{
	int64_t units = quantity(&descriptor->units, 16);
	if (config->has_split)
		return;
	config->has_split = true;
	for (int i = 0; i < definition->n_statement; i++) {
		const heddle_statement *s = definition->statement[i];
		double parallel = 1, length = 1;
		int longest = -1;
		if (s->assign == HEDDLE_ASSIGN_SET || reads_tensor(s->value, s->target))
			continue;
		bool plain = true;
		for (int d = 0; d < s->n_index; d++) {
			int64_t extent = plain_extent(s->index[d]->upper);
			if (!s->index[d]->reduction) {
				parallel *= (double)extent;
				continue;
			}
			length *= (double)extent;
			for (int other = 0; other < s->n_index; other++)
				plain = plain && (other == d || (!mentions(s->index[d]->upper, other) &&
								!mentions(s->index[d]->lower, other)));
			if (longest < 0 || extent >= 4 * plain_extent(s->index[longest]->upper))
				longest = d;
		}
		for (int d = 0; d < s->n_lhs; d++)
			plain = plain && s->lhs[d]->kind == HEDDLE_EXPR_INDEX;
		if (longest < 0 || !plain || parallel >= (double)units || length < SPLIT_LENGTH)
			continue;
		int64_t extent = plain_extent(s->index[longest]->upper);
		int64_t chunks = (int64_t)(4 * (double)units / parallel) + 1;
		int64_t chunk = (extent + chunks - 1) / chunks;
		if (chunk > 64)
			chunk = (chunk + 1023) / 1024 * 1024 < chunk * 2 ? (chunk + 1023) / 1024 * 1024 : chunk;
		chunk = least(chunk, cached_chunk(definition, s, descriptor, length / (double)extent * heddle_type_size(s->value->type)));
		heddle_split split = {i, s->index[longest]->name, chunk < 1 ? 1 : chunk};
		if (chunk < extent)
			HEDDLE_PUSH(arena, config->split, config->n_split, split);
	}
}

/* ---- fusion ------------------------------------------------------------------------------------------------------------------ */

static double member_blocks(const heddle_scop *scop, const heddle_kernel *kernel)
{
	double n = 1;
	for (int m = 0; m < kernel->n_member; m++)
		for (int d = 0; d < kernel->stmt[0]->n_dim; d++)
			if (kernel->stmt[0]->dim[d].member == m)
				n *= (double)extent_of(scop, kernel->stmt[0], d);
	return n;
}

/* Some operand is used again for every value of this dimension. */
static bool has_reuse(const heddle_stmt *stmt, int dim)
{
	for (int a = 1; a < stmt->n_access; a++)
		if (stmt->access[a].tensor->rank && stmt->access[a].affine && !depends_on(stmt, &stmt->access[a], dim))
			return true;
	return false;
}

/* Dimensions along which blocks could be cut and operands be used again: register tiles live on having two of them. */
static int reuse_dims(const heddle_scop *scop, const heddle_stmt *stmt, bool members)
{
	int n = 0;
	for (int d = 0; d < stmt->n_dim && stmt->reduction; d++)
		n += stmt->dim[d].coincident && (!members || stmt->dim[d].member >= 0) && has_reuse(stmt, d) &&
		     extent_of(scop, stmt, d) > 1;
	return n;
}

/* Would a statement of the kernel lose a dimension of its register tile, or the one that its results lie along? */
static bool loses_tile(const heddle_scop *scop, const heddle_kernel *kernel)
{
	for (int s = 0; s < kernel->n_stmt; s++) {
		const heddle_stmt *stmt = kernel->stmt[s];
		const int row = heddle_row_dim(stmt, &stmt->access[0]);
		if (reuse_dims(scop, stmt, false) < 2)
			continue;
		if (reuse_dims(scop, stmt, true) < 2)
			return true;
		if (row >= 0 && stmt->dim[row].coincident && stmt->dim[row].member < 0 && has_reuse(stmt, row) && extent_of(scop, stmt, row) > 1)
			return true;
	}
	return false;
}

/* Instances that take less time than a launch. */
#define SMALL 65536

static bool depends_on_kernel(const heddle_scop *scop, const heddle_kernel *kernel, const heddle_stmt *stmt)
{
	for (int s = 0; s < kernel->n_stmt; s++)
		if (kernel->stmt[s] != stmt && heddle_stmt_constrains(scop, kernel->stmt[s], stmt))
			return true;
	return false;
}

/* Joining `stmt` to the kernel keeps enough independent work for the chip, or loses none. */
static bool worth_fusing(const heddle_scop *scop, heddle_kernel *kernel, heddle_stmt *stmt)
{
	double units = (double)quantity(&scop->descriptor->units, 16);
	heddle_kernel alone = {.n_stmt = 1, .stmt = &stmt};
	heddle_kernel_align(scop, kernel);
	double before = member_blocks(scop, kernel);
	heddle_kernel_align(scop, &alone);
	double own = member_blocks(scop, &alone);
	HEDDLE_PUSH(scop->arena, kernel->stmt, kernel->n_stmt, stmt);
	heddle_kernel_align(scop, kernel);
	double after = member_blocks(scop, kernel);
	/* Lanes fill a block with the work that members no longer split, so a quarter of the units is enough; and what is
	 * small costs less than a launch. */
	bool worth = after >= before && after >= own;
	if (kernel->n_member)
		worth = worth || after >= units / 4;
	worth = worth && !loses_tile(scop, kernel);
	double total = 0;
	for (int s = 0; s < kernel->n_stmt; s++)
		total += volume(scop, kernel->stmt[s]);
	worth = worth || (total <= SMALL && depends_on_kernel(scop, kernel, stmt));
	if (!worth)
		kernel->n_stmt--;
	return worth;
}

static int complete_fuse(heddle_scop *scop, heddle_config *config)
{
	if (config->n_fuse)
		return 0;
	int n_kernel = 0;
	heddle_kernel *kernel = HEDDLE_NEW_ARRAY(scop->arena, heddle_kernel, scop->n_stmt + 1);
	int *of = HEDDLE_NEW_ARRAY(scop->arena, int, scop->n_stmt + 1);
	for (int i = 0; i < scop->n_stmt; i++) {
		int chosen = -1;
		for (int k = n_kernel - 1; k >= 0 && chosen < 0; k--) {
			of[i] = k;
			if (!heddle_fuse_legal(scop, of, i + 1))
				break;
			if (worth_fusing(scop, &kernel[k], scop->stmt[i]))
				chosen = k;
		}
		if (chosen < 0) {
			chosen = n_kernel++;
			HEDDLE_PUSH(scop->arena, kernel[chosen].stmt, kernel[chosen].n_stmt, scop->stmt[i]);
		}
		of[i] = chosen;
	}
	for (int i = 0; i < scop->n_stmt; i++)
		HEDDLE_PUSH(scop->arena, config->fuse, config->n_fuse, of[i]);
	for (int i = 0; i < scop->n_stmt; i++)
		for (int d = 0; d < scop->stmt[i]->n_dim; d++)
			scop->stmt[i]->dim[d].member = -1;
	return 0;
}

/* ---- layouts ------------------------------------------------------------------------------------------------------------------- */

typedef struct chooser {
	heddle_scop *scop;
	heddle_config *config;
	heddle_kernel *kernel;
	heddle_stmt *main; /* the dominant statement */
	int k;
	int64_t units, vector; /* elements of the main type in the widest vector */
	bool simd;
} chooser;

/* Threads that a block may have, 256 at most: more give little and cost occupancy. */
static int64_t most_threads(const chooser *c)
{
	return least(256, quantity(&c->scop->descriptor->threads_per_block, 256));
}

static void set_rounds(chooser *c, const heddle_stmt *stmt, int dim, int64_t rounds, int64_t items, int64_t threads, int64_t vector)
{
	heddle_stmt_config *config = heddle_config_stmt(c->config, c->k, stmt->position);
	const char *name = stmt->dim[dim].name;
	if (rounds * items * threads * vector > 1)
		heddle_named_set(c->config, &config->tile, name, rounds * items * threads * vector);
	if (rounds > 1)
		heddle_named_set(c->config, &config->round, name, rounds);
	if (threads > 1)
		heddle_named_set(c->config, &config->thread, name, threads);
	if (vector > 1)
		heddle_named_set(c->config, &config->vector, name, vector);
	if (stmt->dim[dim].reduction && threads * vector > 1)
		heddle_named_set(c->config, &config->reduce, name, HEDDLE_REDUCE_LANES);
}

static void set_layout(chooser *c, const heddle_stmt *stmt, int dim, int64_t items, int64_t threads, int64_t vector)
{
	set_rounds(c, stmt, dim, 1, items, threads, vector);
}

/* The member that is contiguous in the target, or in the first read where the target has none. */
static int fast_member_dim(const heddle_stmt *stmt)
{
	for (int a = 0; a < stmt->n_access; a++) {
		int d = heddle_row_dim(stmt, &stmt->access[a]);
		if (d >= 0 && stmt->dim[d].member >= 0)
			return d;
	}
	for (int d = stmt->n_dim - 1; d >= 0; d--)
		if (stmt->dim[d].member >= 0)
			return d;
	return -1;
}

/* A reduction in which two members are each missing from an operand: register tiles pay. */
static bool is_contraction(const chooser *c, int *x, int *y)
{
	const heddle_stmt *stmt = c->main;
	*x = fast_member_dim(stmt);
	*y = -1;
	if (!stmt->reduction || *x < 0 || !has_reuse(stmt, *x))
		return false;
	bool reduces = false;
	for (int d = 0; d < stmt->n_dim; d++) {
		reduces |= stmt->dim[d].reduction;
		if (d == *x || stmt->dim[d].member < 0 || !has_reuse(stmt, d))
			continue;
		/* the pair must not be missing from the same operands */
		bool apart = false;
		for (int a = 1; a < stmt->n_access; a++)
			apart |= stmt->access[a].tensor->rank &&
				 depends_on(stmt, &stmt->access[a], d) != depends_on(stmt, &stmt->access[a], *x);
		if (apart && (*y < 0 || extent_of(c->scop, stmt, d) > extent_of(c->scop, stmt, *y)))
			*y = d;
	}
	return reduces && *y >= 0;
}

static double blocks_with(const chooser *c, int x, int64_t tx, int y, int64_t ty)
{
	double n = 1;
	for (int d = 0; d < c->main->n_dim; d++) {
		if (c->main->dim[d].member < 0)
			continue;
		int64_t tile = d == x ? tx : d == y ? ty : 1;
		n *= (double)((extent_of(c->scop, c->main, d) + tile - 1) / tile);
	}
	return n;
}

/* Floating-point operations of one instance. */
static int operations(const heddle_expr *expr)
{
	int n = heddle_type_is_float(expr->type) && (expr->kind == HEDDLE_EXPR_BINARY || expr->kind == HEDDLE_EXPR_CALL);
	for (int i = 0; i < expr->n_arg; i++)
		n += operations(expr->arg[i]);
	return n;
}

/* The extent of a reduction that is known to have at most `most` values; else 0. */
static int64_t whole_step(const heddle_stmt *stmt, int d, int64_t most)
{
	const heddle_expr *upper = stmt->source->index[d]->upper;
	return stmt->dim[d].reduction && upper->kind == HEDDLE_EXPR_INT && upper->i > 0 && upper->i <= most ? upper->i : 0;
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

static void contraction_threads(chooser *c, int x, int y)
{
	static const struct {
		int64_t tx, ty, nx, ny;
	} shape[] = {{128, 128, 16, 16}, {128, 64, 16, 16}, {64, 64, 16, 16}, {64, 32, 16, 8}, {32, 32, 8, 8},
		     {16, 16, 8, 8},	 {16, 16, 8, 4},    {8, 8, 4, 4},     {4, 4, 1, 1}};
	enum { SMALLEST = 5 }; /* of those that are right for few blocks; what follows is for small limits */
	int64_t ex = extent_of(c->scop, c->main, x), ey = extent_of(c->scop, c->main, y);
	/* Every dimension beyond a plain product's three costs registers for its addresses, and so does a range that moves. */
	bool box = true;
	for (int d = 0; d < c->main->n_dim; d++)
		for (int other = 0; other < c->main->n_dim; other++)
			box = box && !mentions(c->main->source->index[d]->upper, other);
	int64_t sums = c->main->n_dim > 3 || !box ? 32 : 64;
	/* and what is computed before it is summed: compilers unroll the steps and keep all of it at once */
	if (operations(c->main->value) > 1)
		sums = 16;
	size_t best = SMALLEST;
	while (best + 1 < HEDDLE_COUNT(shape) && shape[best].nx * shape[best].ny > most_threads(c))
		best++;
	for (size_t i = 0; i <= SMALLEST; i++) {
		bool fits = shape[i].tx < 2 * ex && shape[i].ty < 2 * ey &&
			    shape[i].tx * shape[i].ty <= sums * shape[i].nx * shape[i].ny;
		bool limit = shape[i].nx * shape[i].ny <= most_threads(c);
		if (fits && limit && blocks_with(c, x, shape[i].tx, y, shape[i].ty) >= 0.75 * (double)c->units) {
			best = i;
			break;
		}
	}
	int64_t per = shape[best].tx / shape[best].nx;
	int64_t v = per >= 4 ? 4 : per;
	set_layout(c, c->main, x, per / v, shape[best].nx, v);
	const int64_t per_y = shape[best].ty / shape[best].ny, w = along_tile(c, y) ? least(4, per_y) : 1;
	set_layout(c, c->main, y, per_y / w, shape[best].ny, w);
	/* steps of the reductions: short ones whole, the first long one by 8 elements, by fewer where that made a step of more terms
	 * than compilers keep in registers */
	enum { SHORT = 4, LONG = 8, MOST_TERMS = 64 };
	int64_t terms = 1, step = LONG;
	bool stepped = false;
	for (int d = 0; d < c->main->n_dim; d++)
		terms *= whole_step(c->main, d, SHORT) ? whole_step(c->main, d, SHORT) : 1;
	while (step > 2 && step * terms > MOST_TERMS)
		step /= 2;
	for (int d = 0; d < c->main->n_dim; d++) {
		const int64_t whole = whole_step(c->main, d, SHORT);
		if (whole)
			set_layout(c, c->main, d, whole, 1, 1);
		else if (c->main->dim[d].reduction && !stepped)
			set_layout(c, c->main, d, step, 1, 1), stepped = true;
	}
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

/* Bytes of the operands that rounds along y use again, in one step of `tile`. */
static int64_t panel_bytes(const chooser *c, int y, const int64_t *tile)
{
	int64_t bytes = 0;
	for (int a = 1; a < c->main->n_access; a++) {
		const heddle_access *access = &c->main->access[a];
		int64_t n = heddle_type_size(access->tensor->type);
		if (!access->tensor->rank || depends_on(c->main, access, y))
			continue;
		for (int e = 0; e < access->tensor->rank; e++)
			n *= spread(access->expr->arg[e], tile);
		bytes += n;
	}
	return bytes;
}

/* Is the sum over some of the instances only, those of a condition in the value? */
static bool sums_some(const heddle_stmt *stmt)
{
	return stmt->value != stmt->source->value;
}

/* Rounds along y and steps of the reductions: what x's operands need in one step stays in the first cache while all rounds use it. */
static bool panel(chooser *c, int x, int64_t tx, int y, int64_t rows)
{
	enum { LEAST_ROUNDS = 4, MOST_ROUNDS = 16, MOST_STEP = 256, SHORT = 8 };
	const heddle_stmt *stmt = c->main;
	const heddle_memory *cache = heddle_descriptor_memory(c->scop->descriptor, "l1");
	const int64_t room = cache && cache->size.set ? (int64_t)cache->size.value * 3 / 4 : 24576;
	int64_t tile[HEDDLE_MAX_DIM], rounds = MOST_ROUNDS, step = MOST_STEP;
	int along = -1;
	/* half of what arrays may have, as statements that are fused may have their own */
	const int64_t sums = rows * tx * heddle_type_size(heddle_type_computed(stmt->access[0].tensor->type));
	while (rounds > 1 && (rounds * rows > extent_of(c->scop, stmt, y) || rounds * sums > HEDDLE_MAX_ARRAY_BYTES / 2 ||
			      blocks_with(c, x, tx, y, rounds * rows) < 4 * (double)c->units))
		rounds /= 2;
	for (int d = 0; d < stmt->n_dim; d++) {
		tile[d] = d == x ? tx : stmt->dim[d].reduction ? whole_step(stmt, d, SHORT) : 1;
		if (stmt->dim[d].reduction && !tile[d]) {
			tile[d] = 1;
			if (along < 0 || extent_of(c->scop, stmt, d) > extent_of(c->scop, stmt, along))
				along = d;
		}
	}
	if (rounds < LEAST_ROUNDS || along < 0 || sums_some(stmt))
		return false;
	for (; step > 1; step /= 2) {
		tile[along] = step;
		if (panel_bytes(c, y, tile) <= room && step < 2 * extent_of(c->scop, stmt, along))
			break;
	}
	if (step < 16)
		return false;
	for (int d = 0; d < stmt->n_dim; d++)
		if (stmt->dim[d].reduction)
			set_layout(c, stmt, d, tile[d], 1, 1);
	set_rounds(c, stmt, y, rounds, rows, 1, 1);
	return true;
}

/* Rows of y and vectors of x whose sums registers hold, beside the operands of one row: those with which all steps of the
 * reductions take the fewest instructions, one for each sum and each element or vector read.  Lanes at the end of x idle; rows at
 * the end of y are taken one by one, with loops that wait for one another. */
static double register_tile(const chooser *c, int64_t ex, int64_t ey, int64_t v, bool guarded, int64_t *rows, int64_t *columns)
{
	enum { MOST_COLUMNS = 4, MOST_ROWS = 16, GUARDED_COLUMNS = 2, GUARDED_SUMS = 16, LONE_ROW = 4 };
	const int64_t most = guarded ? GUARDED_COLUMNS : MOST_COLUMNS, sums = guarded ? GUARDED_SUMS : MOST_COLUMNS * MOST_ROWS;
	const int64_t registers = quantity(&c->scop->descriptor->vector_registers, 16);
	double best = 0;
	*rows = *columns = 1;
	for (int64_t x = 1; x <= most && (x == 1 || x * v <= ex); x *= 2)
		for (int64_t y = 1; y <= least(MOST_ROWS, ey) && x * y <= sums && (y + 1) * x + 1 <= registers; y++) {
			const double across = (double)((ex + x * v - 1) / (x * v));
			const double instructions = across * (double)(ey / y * (x * y + x + y) + ey % y * LONE_ROW * (x + 1));
			if (best == 0 || instructions <= best)
				best = instructions, *rows = y, *columns = x;
		}
	return best;
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

/* Can operands that depend on y come out of a panel in which y runs along the rows, none of the others being in vectors? */
static bool makes_panel(const chooser *c, int x, int y)
{
	for (int a = 1; a < c->main->n_access; a++) {
		const heddle_access *access = &c->main->access[a];
		bool plain = false;
		for (int e = 0; e < access->tensor->rank; e++)
			plain = plain || heddle_access_dim(c->main, access, e) == y;
		if (depends_on(c->main, access, y) && (!plain || !access->affine || depends_on(c->main, access, x)))
			return false;
	}
	return true;
}

/* Does an operand that depends on y depend on d, too? */
static bool in_panel(const chooser *c, int y, int d)
{
	for (int a = 1; a < c->main->n_access; a++)
		if (depends_on(c->main, &c->main->access[a], y) && depends_on(c->main, &c->main->access[a], d))
			return true;
	return false;
}

/* Vectors along y instead of x, along which the target runs: their operands are turned into a panel, items go along x, and the block
 * goes in rounds over x and over all else that the panel does not depend on, so that it is made for many of them.  Lanes are all busy
 * where x is short, and what depends on x and is not known for all lanes alike, conditions and strides, is asked once an item.
 * `plain`: the instructions of a plane of x and y with vectors along x. */
static bool turned(chooser *c, int x, int y, double plain)
{
	enum { PACK = 2, SCATTER = 1, SHORT = 8, LEAST_STEP = 16, MOST_STEP = 256 };
	const heddle_stmt *stmt = c->main;
	const int64_t ex = extent_of(c->scop, stmt, x), ey = extent_of(c->scop, stmt, y), v = least(c->vector, power_below(ey));
	const heddle_memory *cache = heddle_descriptor_memory(c->scop->descriptor, "l1");
	const int64_t room = cache && cache->size.set ? (int64_t)cache->size.value * 3 / 4 : 24576;
	const int64_t size = heddle_type_size(heddle_type_computed(stmt->access[0].tensor->type));
	int64_t rows, columns, rounds[HEDDLE_MAX_DIM], tile[HEDDLE_MAX_DIM], sums, positions, steps = 1, step = MOST_STEP;
	double length = 1, blocks;
	int along = -1;
	for (int i = 0; i < c->scop->descriptor->n_copy; i++)
		if (c->scop->descriptor->copy[i].preferred) /* it turns nothing */
			return false;
	if (v < c->vector || !is_number(stmt->source->index[x]->upper) || !makes_panel(c, x, y))
		return false;
	const double instructions = register_tile(c, ey, ex, v, false, &rows, &columns);
	/* rounds: as many as private memory has sums for, while there are blocks for all units */
	positions = rows;
	blocks = blocks_with(c, x, rows, y, columns * v);
	sums = columns * v * size;
	for (int d = 0; d < stmt->n_dim; d++) {
		rounds[d] = 1;
		if (stmt->dim[d].reduction)
			length *= (double)extent_of(c->scop, stmt, d);
	}
	for (int d = stmt->n_dim - 1; d >= 0; d--) {
		if (stmt->dim[d].member < 0 || d == y || (d != x && (in_panel(c, y, d) || !is_number(stmt->source->index[d]->upper))))
			continue;
		const int64_t most = (extent_of(c->scop, stmt, d) + (d == x ? rows : 1) - 1) / (d == x ? rows : 1);
		int64_t r = most;
		while (r > 1 && (r * positions * sums > HEDDLE_MAX_ARRAY_BYTES / 2 || blocks / (double)r < 4 * (double)c->units))
			r--;
		const int64_t parts = (most + r - 1) / r;
		rounds[d] = (most + parts - 1) / parts; /* the same for all blocks, as far as that goes */
		positions *= rounds[d];
		blocks /= (double)rounds[d];
	}
	const double pack = PACK * (double)(ex * ey) / (double)positions;
	if (instructions + pack + SCATTER * (double)(ex * ey) / length >= plain)
		return false;
	for (int d = 0; d < stmt->n_dim; d++) {
		const int64_t values = extent_of(c->scop, stmt, d);
		const bool whole = is_number(stmt->source->index[d]->upper) && values <= SHORT;
		tile[d] = d == y ? columns * v : !stmt->dim[d].reduction ? 1 : whole ? values : 0;
		if (stmt->dim[d].reduction && !tile[d]) {
			tile[d] = 1;
			if (along < 0 || extent_of(c->scop, stmt, d) > extent_of(c->scop, stmt, along))
				along = d;
		}
		steps *= stmt->dim[d].reduction ? tile[d] : 1;
	}
	for (int d = 0; d < stmt->n_dim && along < 0; d++)
		if (stmt->dim[d].reduction)
			along = d, steps /= tile[d];
	const int64_t extent = extent_of(c->scop, stmt, along);
	for (; step > 1; step /= 2) {
		tile[along] = is_number(stmt->source->index[along]->upper) ? least(step, extent) : step;
		if (panel_bytes(c, x, tile) <= room && step < 2 * extent)
			break;
	}
	if (tile[along] * steps < LEAST_STEP || panel_bytes(c, x, tile) > room)
		return false;
	for (int d = 0; d < stmt->n_dim; d++) {
		if (stmt->dim[d].reduction)
			set_layout(c, stmt, d, tile[d], 1, 1);
		else if (d == y)
			set_layout(c, stmt, y, columns, 1, v);
		else if (stmt->dim[d].member >= 0)
			set_rounds(c, stmt, d, rounds[d], d == x ? rows : 1, 1, 1);
	}
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

static void contraction_vectors(chooser *c, int x, int y)
{
	int64_t ex = extent_of(c->scop, c->main, x), ey = extent_of(c->scop, c->main, y);
	/* every operand runs along a reduction: vectors there, a small square of sums */
	int along = -1;
	for (int a = 1; a < c->main->n_access; a++) {
		const heddle_access *access = &c->main->access[a];
		const int inner = heddle_tensor_inner(access->tensor), d = heddle_row_dim(c->main, access);
		const bool apart = d >= 0 && !c->main->dim[d].reduction && extent_of(c->scop, c->main, d) > 1;
		if (apart || (inner >= 0 && mentions(subscripts(c->main, access)[inner], x)))
			along = c->main->n_dim;
		else if (d >= 0 && along < 0 && c->main->dim[d].reduction && extent_of(c->scop, c->main, d) >= 2 * c->vector)
			along = d;
	}
	enum { GUARDED = 4 };
	int64_t v = least(c->vector, power_below(ex));
	int64_t columns, rows;
	const double instructions = register_tile(c, ex, ey, v, sums_some(c->main), &rows, &columns);
	if (along >= 0 && along < c->main->n_dim) {
		set_layout(c, c->main, x, least(4, power_below(ex)), 1, 1);
		set_layout(c, c->main, y, least(4, power_below(ey)), 1, 1);
		set_layout(c, c->main, along, 1, 1, c->vector);
		return;
	}
	/* sums over some instances only are asked for lane by lane at the edges: measured, vectors are worth a fourth there; lanes of a
	 * vector that is not full are taken one by one.  Where that is little, what is sure to be measured well stays. */
	const double vectors = (double)((ex + v - 1) / v), lanes = is_number(c->main->source->index[x]->upper) ? 0.5 * (double)(ex % v) : 0;
	const double edge = ((double)(ex / v) + lanes) / vectors, guarded = sums_some(c->main) ? GUARDED : 1;
	const double factor = guarded > edge ? guarded : edge < 2 ? 1 : edge;
	if (turned(c, x, y, factor * instructions)) {
		blocks_along(c, y);
		return;
	}
	while (rows > 2 && blocks_with(c, x, columns * v, y, rows) < 2 * (double)c->units)
		rows /= 2;
	set_layout(c, c->main, x, columns, 1, v);
	if (!panel(c, x, columns * v, y, rows))
		set_layout(c, c->main, y, rows, 1, 1);
	blocks_along(c, y); /* neighbouring blocks share the panel of x: y is fastest */
}

/* Local dimension of a statement that is contiguous in one of its accesses: the lanes go there. */
static int lane_dim(const heddle_stmt *stmt)
{
	for (int a = stmt->n_access - 1; a >= 0; a--) {
		int d = heddle_row_dim(stmt, &stmt->access[a]);
		if (d >= 0 && stmt->dim[d].member < 0 && (stmt->dim[d].reduction || stmt->dim[d].coincident))
			return d;
	}
	int longest = -1;
	for (int d = 0; d < stmt->n_dim; d++)
		if (stmt->dim[d].member < 0 && (stmt->dim[d].reduction || stmt->dim[d].coincident))
			if (longest < 0 || stmt->source->index[d]->position > longest)
				longest = d;
	return longest;
}

static int64_t lane_vector(const chooser *c, const heddle_stmt *stmt, int d)
{
	int64_t extent = extent_of(c->scop, stmt, d);
	bool contiguous = false;
	for (int a = 0; a < stmt->n_access; a++)
		contiguous |= heddle_row_dim(stmt, &stmt->access[a]) == d;
	if (!contiguous)
		return 1;
	if (c->simd)
		return least(4 * c->vector, power_below(extent));
	return divisible(stmt, d, c->vector) && extent >= 32 * c->vector ? c->vector : 1;
}

/* A block that steps from one short row to the next far away takes neighbours along, as many as make a page, in rounds inside of
 * each step: what fetches ahead has something to follow.  Where steps go through neighbouring rows it has that already. */
static void short_rows(chooser *c, int64_t inner)
{
	enum { PAGE = 4096 };
	const heddle_stmt *stmt = c->main;
	int y = -1;
	for (int a = 1; a < stmt->n_access && y < 0; a++) {
		const heddle_access *access = &stmt->access[a];
		const int row = heddle_tensor_inner(access->tensor);
		if (row < 2 || heddle_access_dim(stmt, access, row) != lane_dim(stmt))
			continue;
		const int next = heddle_access_dim(stmt, access, row - 1);
		bool steps = false;
		for (int e = 0; e < row - 1; e++) {
			const int d = heddle_access_dim(stmt, access, e);
			steps = steps || (d >= 0 && stmt->dim[d].member < 0);
		}
		if (steps && next >= 0 && stmt->dim[next].member >= 0)
			y = next;
	}
	if (y < 0)
		return;
	int64_t rounds = power_below(PAGE / (inner * heddle_type_size(stmt->access[0].tensor->type)) + 1);
	while (rounds > 1 && (rounds > extent_of(c->scop, stmt, y) || blocks_with(c, y, rounds, -1, 1) < 4 * (double)c->units))
		rounds /= 2;
	if (rounds > 1)
		set_rounds(c, stmt, y, rounds, 1, 1, 1);
}

/* Members have few elements per block; the lanes share what is inside. */
static void rows(chooser *c)
{
	heddle_kernel *kernel = c->kernel;
	int64_t lanes = 1, inner = 1;
	for (int s = 0; s < kernel->n_stmt; s++) {
		int d = lane_dim(kernel->stmt[s]);
		if (d >= 0 && extent_of(c->scop, kernel->stmt[s], d) > inner)
			inner = extent_of(c->scop, kernel->stmt[s], d);
	}
	int64_t warp = quantity(&c->scop->descriptor->warp, 1);
	/* what lanes exchange of each reduction takes shared memory for each thread */
	int64_t exchange = 0;
	for (int s = 0; s < kernel->n_stmt; s++) {
		const heddle_stmt *stmt = kernel->stmt[s];
		const int d = lane_dim(stmt);
		if (d >= 0 && stmt->dim[d].reduction)
			exchange += heddle_type_size(heddle_type_computed(stmt->access[0].tensor->type));
	}
	exchange = exchange < 8 ? 8 : exchange;
	int64_t most = least(most_threads(c), power_below(quantity(&c->scop->descriptor->shared_per_block, 1 << 30) / exchange));
	if (!c->simd)
		lanes = least(most, power_above((inner + 3) / 4));
	if (lanes < warp && !c->simd)
		lanes = least(least(warp, most), power_above(inner));
	for (int s = 0; s < kernel->n_stmt; s++) {
		heddle_stmt *stmt = kernel->stmt[s];
		int d = lane_dim(stmt);
		if (d < 0)
			continue;
		int64_t v = lane_vector(c, stmt, d);
		set_layout(c, stmt, d, 1, lanes, v);
	}
	if (c->simd)
		short_rows(c, inner);
	int x = fast_member_dim(kernel->stmt[0]);
	if (!c->simd && lanes < 128 && lanes < most && x >= 0) {
		int64_t threads = least(least(128, most) / lanes, power_below(extent_of(c->scop, kernel->stmt[0], x)));
		set_layout(c, kernel->stmt[0], x, 1, threads, 1);
		lanes *= threads;
	}
	heddle_kernel_config *config = heddle_config_kernel(c->config, c->k);
	if (!config->threads)
		config->threads = (int)lanes;
}

/* Vectors of one item that a thread's registers hold between the kernel's statements: one per tensor that a statement writes and
 * another one reads or updates. */
static int64_t kept_vectors(const heddle_kernel *kernel)
{
	int64_t n = 0;
	for (int s = 0; s < kernel->n_stmt; s++) {
		const heddle_tensor *target = kernel->stmt[s]->access[0].tensor;
		bool seen = false, read = false;
		for (int r = 0; r < s; r++)
			seen |= kernel->stmt[r]->access[0].tensor == target;
		for (int r = 0; r < kernel->n_stmt; r++) {
			const heddle_statement *source = kernel->stmt[r]->source;
			const bool updates = source->assign != HEDDLE_ASSIGN_SET && !source->initialise;
			for (int a = updates ? 0 : 1; a < kernel->stmt[r]->n_access; a++)
				read |= r != s && kernel->stmt[r]->access[a].tensor == target;
		}
		n += read && !seen;
	}
	return n;
}

/* Items of v members that one thread runs.  They are a loop, unless registers hold what one statement leaves for another: those
 * are unrolled, and half of the architecture's vectors is theirs.  Where calls make the text long, fewer items have work enough. */
static int64_t most_items(const chooser *c, int64_t v)
{
	enum { MOST = 64, MOST_TEXT = 256 };
	const int64_t kept = kept_vectors(c->kernel);
	if (!kept)
		return MOST;
	int64_t text = 0;
	for (int s = 0; s < c->kernel->n_stmt; s++)
		text += 1 + heddle_cost_calls(c->kernel->stmt[s]->value, v);
	const int64_t vectors = quantity(&c->scop->descriptor->vector_registers, 16) / 2 / kept;
	return power_below(least(MOST, least(vectors, MOST_TEXT / text)));
}

/* Sums of columns: a block reads its rows a page at a time, as what fetches ahead stops at a page's end; vectors' sums take turns, each
 * a few rows at once.  Statements that share the kernel keep no tensors over rounds. */
static bool wide_columns(chooser *c, int x, int64_t v)
{
	enum { PAGE = 4096, ROWS = 8 };
	const heddle_stmt *stmt = c->main;
	const int64_t extent = extent_of(c->scop, stmt, x);
	int64_t rounds = PAGE / (v * heddle_type_size(stmt->access[0].tensor->type));
	int rows = -1;
	while (rounds > 1 && (rounds * v > extent || blocks_with(c, x, rounds * v, -1, 1) < 2 * (double)c->units))
		rounds /= 2;
	for (int d = stmt->n_dim - 1; d >= 0; d--)
		if (stmt->dim[d].reduction)
			rows = d;
	if (rounds < 2 || rows < 0 || c->kernel->n_stmt > 1)
		return false;
	set_rounds(c, stmt, x, rounds, 1, 1, v);
	set_layout(c, stmt, rows, least(ROWS, extent_of(c->scop, stmt, rows)), 1, 1);
	return true;
}

/* Every access has the same contiguous member, or none: threads along it. */
static void columns(chooser *c, int x)
{
	int64_t extent = extent_of(c->scop, c->main, x);
	double others = blocks_with(c, x, extent, -1, 1);
	if (c->simd) {
		int64_t v = least(c->main->reduction ? c->vector * 4 : c->vector, power_below(extent));
		if (c->main->reduction && wide_columns(c, x, v))
			return;
		int64_t items = most_items(c, v);
		while (items > 1 && ((double)(extent / (items * v)) * others < 4 * (double)c->units || items * v > extent))
			items /= 2;
		/* where one item's text is long already, a few rounds make the block worth its beginning */
		enum { LEAST_VECTORS = 4 };
		int64_t rounds = 1;
		while (!c->main->reduction && items == 1 && rounds < LEAST_VECTORS && 2 * rounds * v <= extent &&
		       blocks_with(c, x, 2 * rounds * v, -1, 1) >= 4 * (double)c->units)
			rounds *= 2;
		set_rounds(c, c->main, x, rounds, c->main->reduction ? 1 : items, 1, v);
		return;
	}
	int64_t v = !c->main->reduction && divisible(c->main, x, c->vector) ? c->vector : 1;
	int64_t most = most_threads(c);
	int64_t threads = least(most, power_above((extent + v - 1) / v));
	if (threads < 32)
		v = 1, threads = least(least(32, most), power_above(extent));
	set_layout(c, c->main, x, 1, threads, v);
	/* short rows: several of them per block */
	int y = -1;
	for (int d = 0; d < c->main->n_dim; d++)
		if (d != x && c->main->dim[d].member >= 0 &&
		    (y < 0 || extent_of(c->scop, c->main, d) > extent_of(c->scop, c->main, y)))
			y = d;
	if (y >= 0 && threads < 128 && threads < most)
		set_layout(c, c->main, y, 1, least(least(128, most) / threads, power_below(extent_of(c->scop, c->main, y))), 1);
}

/* The target and a read are contiguous in different members: a square through shared memory. */
static bool crossed(chooser *c, int x)
{
	for (int a = 1; a < c->main->n_access; a++) {
		int y = heddle_row_dim(c->main, &c->main->access[a]);
		if (y < 0 || y == x || c->main->dim[y].member < 0 || c->main->reduction)
			continue;
		if (!depends_on(c->main, &c->main->access[a], x))
			continue;
		if (c->simd) {
			/* a square of what the first cache's ways hold of rows that lie far apart: lines are used whole */
			enum { SQUARE = 128 };
			const int64_t ex = extent_of(c->scop, c->main, x), ey = extent_of(c->scop, c->main, y);
			const int64_t v = least(c->vector, power_below(ex));
			int64_t items = least(SQUARE, power_below(ex)) / v, down = least(SQUARE, power_below(ey));
			while ((items > 1 || down > c->vector) && blocks_with(c, x, items * v, y, down) < 4 * (double)c->units)
				items > 1 ? (items /= 2) : (down /= 2);
			set_layout(c, c->main, x, items, 1, v);
			set_layout(c, c->main, y, down, 1, 1);
		} else {
			int64_t most = most_threads(c), along = least(32, most), across = most / along;
			set_layout(c, c->main, x, 1, along, 1);
			set_layout(c, c->main, y, 32 / least(8, across), least(8, across), 1);
		}
		return true;
	}
	return false;
}

static bool has_local(const heddle_kernel *kernel)
{
	for (int s = 0; s < kernel->n_stmt; s++)
		if (lane_dim(kernel->stmt[s]) >= 0)
			return true;
	return false;
}

/* The contiguous local dimension of the dominant statement makes lanes worth it; a contiguous member does not need them. */
static bool wants_lanes(const chooser *c, int x)
{
	if (!has_local(c->kernel))
		return false;
	if (x < 0)
		return true;
	/* the read that touches most decides */
	int best = -1, most = 0;
	for (int a = 1; a < c->main->n_access; a++) {
		int n = 0;
		for (int d = 0; d < c->main->n_dim; d++)
			n += depends_on(c->main, &c->main->access[a], d);
		if (n > most && heddle_row_dim(c->main, &c->main->access[a]) >= 0)
			best = a, most = n;
	}
	if (best >= 0) {
		const int row = heddle_row_dim(c->main, &c->main->access[best]);
		/* a few elements are no vector, where the target has longer rows of its own */
		if (c->simd && c->main->dim[row].member < 0 && extent_of(c->scop, c->main, row) < c->vector &&
		    heddle_row_dim(c->main, &c->main->access[0]) == x && extent_of(c->scop, c->main, x) >= c->vector)
			return false;
		return c->main->dim[row].member < 0;
	}
	return c->main->n_access < 2 ? false : heddle_row_dim(c->main, &c->main->access[0]) < 0;
}

static bool has_layout(const heddle_config *config, int k)
{
	return k < config->n_kernel && (config->kernel[k].n_stmt || config->kernel[k].threads);
}

static int complete_layout(heddle_scop *scop, heddle_config *config)
{
	for (int k = 0; k < scop->n_kernel; k++) {
		chooser c = {.scop = scop, .config = config, .kernel = scop->kernel[k], .k = k};
		if (has_layout(config, k))
			continue;
		heddle_config_kernel(config, k);
		c.main = dominant(scop, c.kernel);
		c.units = quantity(&scop->descriptor->units, 16);
		c.simd = scop->descriptor->execution == HEDDLE_SIMD;
		/* threads move vectors, one thread of a vector unit computes with them */
		const heddle_type type = c.main->access[0].tensor->type;
		c.vector = quantity(&scop->descriptor->vector_bytes, 16) /
			   heddle_type_size(c.simd ? heddle_type_computed(type) : type);
		c.vector = c.vector < 1 ? 1 : power_below(c.vector);
		if (!c.simd)
			c.vector = least(c.vector, 4);
		int x, y;
		bool contraction = is_contraction(&c, &x, &y);
		if (contraction && c.simd)
			contraction_vectors(&c, x, y);
		else if (contraction)
			contraction_threads(&c, x, y);
		else if (wants_lanes(&c, x))
			rows(&c);
		else if (x >= 0 && !crossed(&c, x))
			columns(&c, x);
		else if (x < 0)
			rows(&c);
	}
	return 0;
}

/* ---- spaces ---------------------------------------------------------------------------------------------------------------------- */

static int uses(const heddle_kernel *kernel, const heddle_tensor *tensor)
{
	int n = 0;
	for (int s = 0; s < kernel->n_stmt; s++)
		for (int a = 0; a < kernel->stmt[s]->n_access; a++)
			n += kernel->stmt[s]->access[a].tensor == tensor;
	return n;
}

static int64_t box_bytes(const heddle_group *group, int64_t pad)
{
	int64_t n = heddle_type_size(group->tensor->type);
	for (int i = 0; i < group->tensor->rank; i++) {
		int e = group->order[i];
		n *= group->size[e] + (i == group->tensor->rank - 1 ? pad : 0);
	}
	return n;
}

/* The copy that the descriptor would have used wherever it can be; NULL: none. */
static const heddle_copy *preferred_copy(const heddle_descriptor *descriptor, const heddle_group *group)
{
	for (int i = 0; i < descriptor->n_copy; i++)
		if (descriptor->copy[i].preferred && heddle_copy_fits(group, &descriptor->copy[i]))
			return &descriptor->copy[i];
	return NULL;
}

/* Does every round of some dimension read the tile again? */
static bool used_in_rounds(const heddle_group *group)
{
	for (int d = 0; d < group->stmt->n_dim; d++)
		if (group->stmt->dim[d].layout.rounds > 1 && !depends_on(group->stmt, group->access, d))
			return true;
	return false;
}

/* A tile is worth moving when a block reads its elements more than once, or reads them across rows.  One thread alone has nothing
 * of that, unless it goes over the tile in rounds, or the chip has a copy that it prefers: whole rows then come while the thread
 * does other things. */
static bool worth_staging(const heddle_kernel *kernel, const heddle_group *group, bool copies)
{
	const heddle_stmt *stmt = group->stmt;
	if (!group->tensor->rank || !group->access->affine)
		return false;
	bool reuse = false;
	for (int d = 0; d < stmt->n_dim; d++)
		if (stmt->dim[d].member >= 0 && stmt->dim[d].layout.tile > 1 && stmt->reduction)
			reuse |= !depends_on(stmt, group->access, d);
	int step = 1;
	for (int d = 0; d < stmt->n_dim; d++)
		if (stmt->dim[d].reduction)
			step *= (int)stmt->dim[d].layout.tile;
	if (kernel->threads == 1)
		return reuse && (copies || used_in_rounds(group));
	reuse = reuse && step > 1;
	/* across rows: threads that are neighbours along the target's contiguous dimension do not read neighbours */
	int x = heddle_row_dim(stmt, &stmt->access[0]), y = heddle_row_dim(stmt, group->access);
	bool across = !stmt->reduction && x >= 0 && y >= 0 && x != y && stmt->dim[x].layout.threads > 1 &&
		      stmt->dim[y].layout.tile > 1 && stmt->dim[y].member >= 0 && depends_on(stmt, group->access, x);
	return reuse || across;
}

static bool is_multiple(const heddle_expr *x, int64_t v)
{
	if (x->kind == HEDDLE_EXPR_INT)
		return x->i % v == 0;
	if (x->kind == HEDDLE_EXPR_SIZE)
		return (x->size->min == x->size->max ? x->size->min : x->size->divisor) % v == 0;
	return false;
}

bool heddle_cost_rows_aligned(const heddle_tensor *tensor, int64_t v)
{
	if (!tensor->stride)
		return is_multiple(tensor->extent[tensor->rank - 1], v);
	bool aligned = heddle_tensor_inner(tensor) == tensor->rank - 1;
	for (int e = 0; e + 1 < tensor->rank && aligned; e++)
		aligned = is_multiple(tensor->stride[e], v);
	return aligned;
}

/* The dimension of the tensor along which the statement takes vectors, where that is not the one of its rows; -1: there is none. */
static int vectors_across(const heddle_group *group, int row)
{
	int across = -1;
	for (int e = 0; e < group->tensor->rank; e++) {
		const int d = heddle_access_dim(group->stmt, group->access, e);
		if (e != row && d >= 0 && group->stmt->dim[d].layout.vector > 1)
			across = e;
	}
	return across;
}

static void choose_shared(heddle_scop *scop, heddle_config *config, int k, heddle_group *group, int64_t *budget)
{
	bool copies = false;
	for (int i = 0; i < scop->descriptor->n_copy; i++)
		copies = copies || scop->descriptor->copy[i].preferred;
	if (!worth_staging(scop->kernel[k], group, copies) || !heddle_tile_box(scop, group->stmt, group->access, group))
		return;
	int rank = group->tensor->rank;
	heddle_group_config *choice = heddle_config_group(config, k, group->tensor->name, group->number, true);
	for (int e = 0; e < rank; e++)
		group->order[e] = e;
	const int inner = heddle_tensor_inner(group->tensor), row = inner < 0 ? rank - 1 : inner;
	if (scop->kernel[k]->threads == 1) {
		const heddle_copy *copy = group->size[row] > 1 ? preferred_copy(scop->descriptor, group) : NULL;
		const int across = copy ? -1 : vectors_across(group, row);
		const int64_t bytes = box_bytes(group, 0);
		const bool fits = bytes <= *budget && (copy || used_in_rounds(group));
		choice->space = fits ? HEDDLE_SPACE_SHARED : HEDDLE_SPACE_GLOBAL;
		if (!fits)
			return;
		*budget -= bytes;
		choice->copy = copy ? copy->name : NULL;
		int64_t v = copy ? 1 : power_below(quantity(&scop->descriptor->vector_bytes, 16) / heddle_type_size(group->tensor->type));
		while (v > 1 && group->size[row] % v)
			v /= 2;
		choice->vector = across < 0 ? (int)v : 1;
		for (int e = 0; e < rank && across >= 0; e++) /* turned: the dimension of the vectors comes last */
			choice->order[e] = e < across ? e : e + 1 < rank ? e + 1 : across;
		choice->n_order = across < 0 ? choice->n_order : rank;
		return;
	}
	int64_t last = group->size[row];
	int64_t v = 16 / heddle_type_size(group->tensor->type);
	/* transposed in shared memory when the row of the tensor runs along a reduction */
	int y = heddle_row_dim(group->stmt, group->access);
	bool turn = rank >= 2 && y >= 0 && group->stmt->dim[y].reduction;
	if (turn) {
		choice->n_order = 0;
		const int across = vectors_across(group, row); /* the dimension that threads take vectors of comes last */
		choice->order[choice->n_order++] = row;
		for (int e = 0; e < rank; e++)
			if (e != row && e != across)
				choice->order[choice->n_order++] = e;
		if (across >= 0)
			choice->order[choice->n_order++] = across;
		for (int e = 0; e < rank; e++)
			group->order[e] = choice->order[e];
		choice->pad = 4;
	} else if (!group->stmt->reduction) {
		choice->pad = 1;
	}
	while (v > 1 && last % v)
		v /= 2;
	if (!heddle_cost_rows_aligned(group->tensor, v) || !group->stmt->reduction)
		v = 1;
	int64_t bytes = box_bytes(group, choice->pad > 0 ? choice->pad : 0);
	if (bytes > *budget) {
		choice->space = HEDDLE_SPACE_GLOBAL;
		choice->n_order = 0;
		choice->pad = -1;
		return;
	}
	*budget -= bytes;
	choice->space = HEDDLE_SPACE_SHARED;
	choice->vector = (int)v;
	const heddle_copy *copy = preferred_copy(scop->descriptor, group);
	if (copy && !choice->copy)
		choice->copy = copy->name;
}

static int complete_spaces(heddle_scop *scop, heddle_config *config)
{
	for (int k = 0; k < scop->n_kernel; k++) {
		heddle_kernel *kernel = scop->kernel[k];
		int64_t budget = quantity(&scop->descriptor->shared_per_block_static,
					  quantity(&scop->descriptor->shared_per_block, 0));
		/* leave room for the exchange of lanes */
		const int64_t room = budget > 8192 ? 4096 : 0, lanes = heddle_lanes_bytes(scop, kernel);
		budget -= lanes > room ? lanes : room;
		heddle_make_groups(scop, kernel);
		for (int g = 0; g < kernel->n_group; g++) {
			heddle_group *group = kernel->group[g];
			const heddle_group_config *given =
				heddle_config_group(config, k, group->tensor->name, group->number, false);
			if (given && given->space >= 0)
				continue;
			if (group->stmt) {
				choose_shared(scop, config, k, group, &budget);
				continue;
			}
			if (uses(kernel, group->tensor) > 1 && heddle_register_legal(scop, kernel, group->tensor, NULL))
				heddle_config_group(config, k, group->tensor->name, group->number, true)->space =
					HEDDLE_SPACE_REGISTER;
		}
		if (k < config->n_kernel)
			kernel->config = &config->kernel[k];
	}
	return 0;
}

static void simple_layout(heddle_scop *scop, heddle_config *config)
{
	for (int k = 0; k < scop->n_kernel; k++) {
		heddle_stmt *stmt = scop->kernel[k]->stmt[0];
		chooser c = {.scop = scop, .config = config, .kernel = scop->kernel[k], .k = k, .main = stmt};
		int x = fast_member_dim(stmt);
		heddle_config_kernel(config, k);
		if (x >= 0 && scop->descriptor->execution == HEDDLE_SIMT)
			set_layout(&c, stmt, x, 1, least(least(64, most_threads(&c)), power_above(extent_of(scop, stmt, x))), 1);
	}
}

int heddle_cost_complete_simple(heddle_scop *scop, heddle_config *config, heddle_config_need part, void *user)
{
	(void)user;
	if (part == HEDDLE_NEEDS_FUSE && !config->n_fuse)
		for (int i = 0; i < scop->n_stmt; i++)
			HEDDLE_PUSH(scop->arena, config->fuse, config->n_fuse, i);
	if (part == HEDDLE_NEEDS_LAYOUT)
		simple_layout(scop, config);
	return 0;
}

int heddle_cost_complete(heddle_scop *scop, heddle_config *config, heddle_config_need part, void *user)
{
	(void)user;
	switch (part) {
	case HEDDLE_NEEDS_FUSE:
		return complete_fuse(scop, config);
	case HEDDLE_NEEDS_LAYOUT:
		return complete_layout(scop, config);
	case HEDDLE_NEEDS_SPACES:
		return complete_spaces(scop, config);
	case HEDDLE_NEEDS_NOTHING:
		break;
	}
	return 0;
}
