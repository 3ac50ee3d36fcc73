/* Choosing layouts: lanes along what is inside, threads or vectors along columns, squares, and products (products.c).
 * SPDX-License-Identifier: MIT
 */
#include "cost/choose.h"
#include "cost/rate.h"
#include "cost/rules.h"
#include "model/simplify.h"

#include <string.h>

enum { LEAST_LANES = 8 }; /* with vectors: a line of memory */

/* Local dimension of a statement along which accesses run: the lanes go there.  Of several, the one that the fewest others depend on
 * without running along it, for each lane would ask them for another line. */
static int lane_dim(const chooser *c, const heddle_stmt *stmt)
{
	int row = -1, fewest = stmt->n_access;
	for (int a = stmt->n_access - 1; a >= 0; a--) {
		const int d = choose_row_dim(c, stmt, &stmt->access[a]);
		int across = 0;
		if (d < 0 || stmt->dim[d].member >= 0 || !(stmt->dim[d].reduction || stmt->dim[d].coincident))
			continue;
		for (int other = 0; other < stmt->n_access; other++)
			across += choose_depends_on(stmt, &stmt->access[other], d) && choose_row_dim(c, stmt, &stmt->access[other]) != d;
		if (across < fewest)
			row = d, fewest = across;
	}
	if (row >= 0)
		return row;
	int longest = -1;
	for (int d = 0; d < stmt->n_dim; d++)
		if (stmt->dim[d].member < 0 && (stmt->dim[d].reduction || stmt->dim[d].coincident))
			if (longest < 0 || stmt->source->index[d]->position > longest)
				longest = d;
	return longest;
}

/* Do rows of d follow one another in memory along the first statement's dimension x?  Threads along it read whole lines then, however short
 * the rows are.  What does not depend on x is the same for all of them. */
static bool rows_follow(const chooser *c, const heddle_stmt *stmt, int d, int x)
{
	const int member = x < 0 ? -1 : c->kernel->stmt[0]->dim[x].member;
	bool any = false;
	for (int a = 0; a < stmt->n_access && member >= 0; a++) {
		const heddle_access *access = &stmt->access[a];
		const int row = access->tensor->rank ? heddle_tensor_inner(access->tensor) : -1;
		int along = -1;
		for (int k = 0; k < stmt->n_dim; k++)
			along = stmt->dim[k].member == member ? k : along;
		if (!choose_depends_on(stmt, access, d) || (along >= 0 && !choose_depends_on(stmt, access, along)))
			continue;
		if (row < 1 || along < 0 || heddle_access_dim(stmt, access, row) != d || heddle_access_dim(stmt, access, row - 1) != along)
			return false;
		any = true;
	}
	return any;
}

static int64_t lane_vector(const chooser *c, const heddle_stmt *stmt, int d)
{
	int64_t extent = choose_extent(c->scop, stmt, d);
	bool contiguous = false, aligned = true;
	for (int a = 0; a < stmt->n_access; a++) {
		const bool along = choose_row_dim(c, stmt, &stmt->access[a]) == d;
		contiguous = contiguous || along;
		aligned = aligned && (!along || stmt->access[a].tensor->rank < 2 || heddle_rules_rows_aligned(stmt->access[a].tensor, c->vector));
	}
	if (!contiguous)
		return 1;
	if (c->simd)
		return choose_least(4 * c->vector, choose_power_below(extent));
	bool whole = choose_divisible(stmt, d, c->vector);
	for (int other = 0; other < stmt->n_dim; other++) /* a range that moves ends in one vector of many, where rows have those */
		whole = whole || (aligned && choose_mentions(stmt->source->index[d]->upper, other));
	const int64_t lanes = rows_follow(c, stmt, d, choose_fast_member_dim(c->kernel->stmt[0])) ? 2 : LEAST_LANES;
	return whole && extent >= lanes * c->vector ? c->vector : 1;
}

/* A block that steps from one short row to the next far away takes neighbours along, as many as make a page, in rounds inside of
 * each step: what fetches ahead has something to follow.  Where steps go through neighbouring rows it has that already. */
static void short_rows(chooser *c, int64_t inner)
{
	const heddle_stmt *stmt = c->main;
	int y = -1;
	for (int a = 1; a < stmt->n_access && y < 0; a++) {
		const heddle_access *access = &stmt->access[a];
		const int row = heddle_tensor_inner(access->tensor);
		if (row < 2 || heddle_access_dim(stmt, access, row) != lane_dim(c, stmt))
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
	int64_t rounds = choose_power_below(CHOOSE_PAGE / (inner * heddle_type_size(stmt->access[0].tensor->type)) + 1);
	while (rounds > 1 && (rounds > choose_extent(c->scop, stmt, y) || choose_blocks_with(c, y, rounds, -1, 1) < 4 * (double)c->units))
		rounds /= 2;
	if (rounds > 1)
		choose_set_rounds(c, stmt, y, rounds, 1, 1, 1);
}

/* The main statement's dimension that is aligned with the first one's x; -1: none. */
static int in_main(const chooser *c, int x)
{
	for (int d = 0; d < c->main->n_dim; d++)
		if (c->main->dim[d].member >= 0 && c->main->dim[d].member == c->kernel->stmt[0]->dim[x].member)
			return d;
	return -1;
}

/* Results beside each other along x that a thread of short rows has, to store them at once, where its lanes take elements one by one: all
 * that is stored runs along x, and there are blocks for all units. */
static int64_t results_at_once(const chooser *c, int x, int64_t threads)
{
	const heddle_kernel *kernel = c->kernel;
	const int64_t v = c->vector;
	bool along = choose_divisible(kernel->stmt[0], x, v) && choose_blocks_with(c, in_main(c, x), threads * v, -1, 1) >= 2 * (double)c->units;
	for (int s = 0; s < kernel->n_stmt && along; s++) {
		const heddle_stmt *stmt = kernel->stmt[s];
		const int row = heddle_row_dim(stmt, &stmt->access[0]);
		along = row >= 0 && stmt->dim[row].member == kernel->stmt[0]->dim[x].member && heddle_rules_rows_aligned(stmt->access[0].tensor, v);
	}
	return along ? v : 1;
}

/* The same where lanes read short rows by vectors and sum them up, which one of them stores: threads that are fewer by so much still ask for enough at a time
 * that memory is busy, of which half is there on average. */
static int64_t sums_at_once(const chooser *c, int x, int64_t threads, int64_t lanes)
{
	const heddle_kernel *kernel = c->kernel;
	const double wanted = 2 * heddle_in_flight(c->scop->descriptor), asked = (double)heddle_simplify_ahead(wanted, 1);
	const double blocks = choose_blocks_with(c, in_main(c, x), threads * c->vector, -1, 1);
	bool sums = false, along = lanes < LEAST_LANES && wanted > 0 && choose_divisible(kernel->stmt[0], x, threads * c->vector) &&
				   blocks * (double)(threads * lanes) * asked >= wanted;
	for (int s = 0; s < kernel->n_stmt && along; s++) {
		const heddle_stmt *stmt = kernel->stmt[s];
		const int d = lane_dim(c, stmt), row = heddle_row_dim(stmt, &stmt->access[0]);
		if (d < 0 || !stmt->dim[d].reduction)
			continue;
		sums = true;
		along = row >= 0 && stmt->dim[row].member == kernel->stmt[0]->dim[x].member && heddle_rules_rows_aligned(stmt->access[0].tensor, c->vector);
	}
	return along && sums ? c->vector : 1;
}

/* Members have few elements per block; the lanes share what is inside. */
static void rows(chooser *c)
{
	heddle_kernel *kernel = c->kernel;
	int64_t lanes = 1, inner = 1;
	for (int s = 0; s < kernel->n_stmt; s++) {
		int d = lane_dim(c, kernel->stmt[s]);
		if (d >= 0 && choose_extent(c->scop, kernel->stmt[s], d) > inner)
			inner = choose_extent(c->scop, kernel->stmt[s], d);
	}
	int64_t warp = choose_quantity(&c->scop->descriptor->warp, 1);
	/* what lanes exchange of each reduction takes shared memory for each thread */
	int64_t exchange = 0;
	for (int s = 0; s < kernel->n_stmt; s++) {
		const heddle_stmt *stmt = kernel->stmt[s];
		const int d = lane_dim(c, stmt);
		if (d >= 0 && stmt->dim[d].reduction)
			exchange += heddle_type_size(heddle_type_computed(stmt->access[0].tensor->type));
	}
	exchange = exchange < 8 ? 8 : exchange;
	int64_t most = choose_least(choose_most_threads(c), choose_power_below(choose_quantity(&c->scop->descriptor->shared_per_block, 1 << 30) / exchange));
	bool vectors = false;
	for (int s = 0; s < kernel->n_stmt; s++) {
		const int d = lane_dim(c, kernel->stmt[s]);
		vectors = vectors || (d >= 0 && choose_extent(c->scop, kernel->stmt[s], d) == inner && lane_vector(c, kernel->stmt[s], d) > 1);
	}
	if (!c->simd)
		lanes = choose_least(most, choose_power_above((inner + 3) / 4));
	if (lanes < warp && !c->simd && !vectors)
		lanes = choose_least(choose_least(warp, most), choose_power_above(inner));
	for (int s = 0; s < kernel->n_stmt; s++) {
		heddle_stmt *stmt = kernel->stmt[s];
		int d = lane_dim(c, stmt);
		if (d < 0)
			continue;
		int64_t v = lane_vector(c, stmt, d), extent = choose_extent(c->scop, stmt, d);
		if (!c->simd && extent < LEAST_LANES * v && lanes * v >= 2 * extent) /* short beside others' rows */
			v = 1;
		choose_set_layout(c, stmt, d, 1, lanes, v);
	}
	if (c->simd)
		short_rows(c, inner);
	int x = choose_fast_member_dim(kernel->stmt[0]);
	if (!c->simd && lanes < CHOOSE_BLOCK && lanes < most && x >= 0) {
		int64_t threads = choose_least(choose_least(CHOOSE_BLOCK, most) / lanes, choose_power_below(choose_extent(c->scop, kernel->stmt[0], x)));
		/* short rows by vectors leave few blocks: smaller ones, of whole warps */
		while (vectors && lanes < LEAST_LANES && threads * lanes > warp && choose_blocks_with(c, in_main(c, x), threads, -1, 1) < 4 * (double)c->units)
			threads /= 2;
		/* a warp each: as many results as others' blocks of several */
		const int64_t few = choose_least(threads, (warp + lanes - 1) / lanes), v = vectors ? sums_at_once(c, x, few, lanes) : results_at_once(c, x, threads);
		threads = vectors && v > 1 ? few : threads;
		while (threads > 1 && threads * v >= 2 * choose_extent(c->scop, kernel->stmt[0], x)) /* half of them would have no result */
			threads /= 2;
		choose_set_layout(c, kernel->stmt[0], x, 1, threads, v);
		lanes *= threads;
	}
	if (!c->simd && lanes < warp && x >= 0)
		lanes = choose_fill_block(c, kernel->stmt[0], x, -1, lanes, most);
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

/* Is all that statements leave for others in memory, as it was there before?  Nothing is kept in registers over rounds then. */
static bool keeps_nothing(const heddle_kernel *kernel)
{
	for (int s = 0; s < kernel->n_stmt; s++)
		if (kernel->n_stmt > 1 && kernel->stmt[s]->access[0].tensor->role != HEDDLE_ROLE_INOUT)
			return false;
	return true;
}

/* Nodes of the program that calls count for, once for each of `members` lanes: as much as pass `simplify` says of them. */
static int64_t length_of_calls(const heddle_expr *expr, int64_t members)
{
	int64_t n = expr->kind == HEDDLE_EXPR_CALL ? 4 * members : 0;
	for (int i = 0; i < expr->n_arg; i++)
		n += length_of_calls(expr->arg[i], members);
	return n;
}

/* Do statements store elements of one tensor that lie between each other's, along the first one's x?  In one round after another these come
 * together: compilers make whole vectors of them (measured: pairs that are turned, 1.8 times as fast). */
static bool interleave(const heddle_kernel *kernel, int x)
{
	for (int s = 0; s < kernel->n_stmt; s++)
		for (int t = 0; t < s; t++) {
			const heddle_access *a = &kernel->stmt[s]->access[0], *b = &kernel->stmt[t]->access[0];
			const int row = heddle_row_dim(kernel->stmt[s], a), other = heddle_row_dim(kernel->stmt[t], b);
			const bool along = row >= 0 && kernel->stmt[s]->dim[row].member == kernel->stmt[0]->dim[x].member;
			if (a->tensor == b->tensor && !along && row == other)
				return true;
		}
	return false;
}

/* Items of v members that one thread runs: compilers unroll so many, ask for all that an operand gives them before they turn to the
 * next one, and memory changes its rows less often (measured: 0.93 of a copy, 0.85 with 64 items).  They are a loop, unless registers hold what one statement leaves for another: those
 * are unrolled, and half of the architecture's vectors is theirs.  Where calls make the text long, fewer items have work enough. */
static int64_t most_items(const chooser *c, int64_t v)
{
	enum { MOST = 16, MOST_TEXT = 256 };
	const int64_t kept = kept_vectors(c->kernel);
	if (!kept)
		return MOST;
	int64_t text = 0;
	for (int s = 0; s < c->kernel->n_stmt; s++)
		text += 1 + length_of_calls(c->kernel->stmt[s]->value, v);
	const int64_t vectors = choose_quantity(&c->scop->descriptor->vector_registers, 16) / 2 / kept;
	return choose_power_below(choose_least(MOST, choose_least(vectors, MOST_TEXT / text)));
}

/* Members of a vector that is a line of memory at least: where lines lie apart, none is read or stored in parts, between which others
 * drive it out of the cache (measured with registers of half a line: transposes 1.5 times as fast, windows of every second row 1.2,
 * sums of columns 1.35 times as fast as with two lines, and with registers of a line 1.24 times as fast as with four). */
static int64_t line_vector(const chooser *c)
{
	const heddle_memory *memory = heddle_descriptor_memory(c->scop->descriptor, "global");
	const int64_t bytes = heddle_type_size(heddle_type_computed(c->main->access[0].tensor->type));
	const int64_t members = memory ? choose_power_below(choose_quantity(&memory->line, 1) / bytes) : 1;
	return members > c->vector ? members : c->vector;
}

/* Sums of columns: a block reads its rows a page at a time, as what fetches ahead stops at a page's end; vectors' sums take turns, each
 * a few rows at once.  Statements that share the kernel keep no tensors over rounds. */
static bool wide_columns(chooser *c, int x, int64_t v)
{
	enum { ROWS = 8, LONG = 64 };
	const heddle_stmt *stmt = c->main;
	const int64_t extent = choose_extent(c->scop, stmt, x);
	int64_t rounds = CHOOSE_PAGE / (v * heddle_type_size(stmt->access[0].tensor->type));
	int rows = -1;
	while (rounds > 1 && (rounds * v > extent || choose_blocks_with(c, x, rounds * v, -1, 1) < 2 * (double)c->units))
		rounds /= 2;
	for (int d = stmt->n_dim - 1; d >= 0; d--)
		if (stmt->dim[d].reduction)
			rows = d;
	/* a stencil's few rows are used again by the next block's; what a guard cuts off is asked per lane */
	if (rounds < 2 || rows < 0 || choose_extent(c->scop, stmt, rows) < LONG || stmt->value != stmt->source->value || c->kernel->n_stmt > 1)
		return false;
	choose_set_rounds(c, stmt, x, rounds, 1, 1, v);
	choose_set_layout(c, stmt, rows, choose_least(ROWS, choose_extent(c->scop, stmt, rows)), 1, 1);
	return true;
}

/* Can a thread have whole vectors of x, which all that depend on x run along? */
static bool in_vectors(const chooser *c, int x)
{
	for (int a = 0; a < c->main->n_access; a++)
		if (c->main->reduction && choose_depends_on(c->main, &c->main->access[a], x) &&
		    heddle_row_dim(c->main, &c->main->access[a]) != x)
			return false;
	return choose_divisible(c->main, x, c->vector);
}

/* Sums of columns too few for a chip: a warp along them, and the block's other threads share what is summed. */
static bool column_lanes(chooser *c, int x, int64_t v, int64_t most)
{
	enum { LEAST_ROWS = 32, THREADS = 2048 };
	const heddle_stmt *stmt = c->main;
	const int64_t extent = choose_extent(c->scop, stmt, x);
	const int64_t warp = choose_least(choose_quantity(&c->scop->descriptor->warp, 1), choose_power_above((extent + v - 1) / v));
	int rows = -1;
	for (int d = stmt->n_dim - 1; d >= 0; d--)
		if (stmt->dim[d].reduction && (rows < 0 || choose_extent(c->scop, stmt, d) > choose_extent(c->scop, stmt, rows)))
			rows = d;
	if (rows < 0 || c->kernel->n_stmt > 1 || choose_extent(c->scop, stmt, rows) < LEAST_ROWS ||
	    choose_blocks_with(c, x, v, -1, 1) >= (double)(choose_quantity(&c->scop->descriptor->threads_per_unit, THREADS) / 2 * c->units))
		return false;
	const int64_t lanes = choose_least(most / warp, choose_power_below(choose_extent(c->scop, stmt, rows) / 2));
	choose_set_layout(c, stmt, x, 1, warp, v);
	choose_set_layout(c, stmt, rows, 1, lanes, 1);
	heddle_kernel_config *kernel = heddle_config_kernel(c->config, c->k);
	kernel->threads = (int)(warp * lanes);
	kernel->lanes_outer = 1; /* neighbours read along the rows */
	return true;
}

/* What a row of known length takes in vectors of w, in vectors: members that fill none are computed one by one, by way of an array, unless
 * all are (measured on windows of 2 x 2 with rows of 7 to 60: 10 ns, and 3 for each, where a vector takes 2). */
static double row_effort(int64_t extent, int64_t w)
{
	const int64_t rest = extent % w;
	return w == 1 ? 0.5 * (double)extent : (double)(extent / w) + (rest ? 5 + 1.5 * (double)rest : 0);
}

/* The vector of `most` members at most that a row of known length takes the least effort with. */
static int64_t best_vector(int64_t extent, int64_t most)
{
	int64_t best = choose_least(most, choose_power_below(extent));
	for (int64_t w = best / 2; w > 0; w /= 2)
		best = row_effort(extent, w) < row_effort(extent, best) ? w : best;
	return best;
}

/* Are rows that follow one another in the target apart in something that is read? */
static bool reads_with_gaps(const chooser *c, const heddle_stmt *stmt, int y)
{
	for (int a = 1; a < stmt->n_access; a++)
		if (choose_leaves_rows_out(c->scop, stmt, &stmt->access[a], y))
			return true;
	return false;
}

/* Elements that a result is reduced from. */
static double window_of(const chooser *c, const heddle_stmt *stmt)
{
	double n = 1;
	for (int d = 0; d < stmt->n_dim; d++)
		n *= stmt->dim[d].reduction ? (double)choose_extent(c->scop, stmt, d) : 1;
	return n;
}

/* Known rows of a few vectors: those that divide the row best, narrower ones only where they save a quarter; all of a row in one block,
 * and a few rows together; one after the other where they read with gaps, for what fetches ahead follows one row and the next, not every
 * second one (measured: 2.5 times as fast).  Returns whether there are such rows. */
static bool known_rows(chooser *c, int x)
{
	enum { MOST_VECTORS = 8, WHOLE_VECTORS = 4, SUMS = 16, ALONG = 16, TOGETHER = 64, WINDOW = 64, IN_TURN = 32 };
	const heddle_stmt *stmt = c->main;
	const int64_t extent = choose_extent(c->scop, stmt, x), whole = choose_power_below(extent);
	const heddle_access *target = &stmt->access[0];
	const int row = heddle_tensor_inner(target->tensor), y = row < 1 ? -1 : heddle_access_dim(stmt, target, row - 1);
	const bool next = y >= 0 && stmt->dim[y].member >= 0;
	const bool in_turn = next && stmt->reduction && reads_with_gaps(c, stmt, y) && window_of(c, stmt) <= WINDOW;
	const int64_t most = extent % c->vector ? MOST_VECTORS : in_turn ? ALONG + 1 : WHOLE_VECTORS;
	if (extent >= most * c->vector || !choose_divisible(stmt, x, extent) || row < 1 || heddle_access_dim(stmt, target, row) != x)
		return false;
	int64_t w = in_turn && extent % line_vector(c) == 0 ? line_vector(c) : choose_least(c->vector, whole);
	double least = 0.75 * row_effort(extent, w);
	for (int64_t narrower = w / 2; narrower > 0 && (extent + narrower - 1) / narrower <= ALONG; narrower /= 2)
		if (row_effort(extent, narrower) < least) {
			w = narrower;
			least = row_effort(extent, w);
		}
	const int64_t items = (extent + w - 1) / w;
	const int64_t together = stmt->reduction ? (w > 1 ? SUMS : 2 * SUMS) : kept_vectors(c->kernel) ? most_items(c, w) : TOGETHER;
	if ((!stmt->reduction ? items > most_items(c, w) : w >= c->vector && extent > 4 * w && !(in_turn && extent % w == 0)) ||
	    choose_blocks_with(c, x, items * w, -1, 1) < 4 * (double)c->units)
		return false;
	const int64_t lines = next ? choose_extent(c->scop, stmt, y) : 1;
	int64_t rows = !next ? 1 : in_turn ? choose_least(IN_TURN, lines) : choose_power_below(choose_least(4, together / items));
	while (rows > 1 && ((rows > 2 && lines % rows) || choose_blocks_with(c, x, items * w, y, rows) < 4 * (double)c->units))
		rows = in_turn ? rows - 1 : rows / 2;
	choose_set_layout(c, stmt, x, items, 1, w);
	for (int d = 0; d < stmt->n_dim && in_turn; d++)
		if (stmt->dim[d].reduction)
			choose_set_layout(c, stmt, d, choose_extent(c->scop, stmt, d), 1, 1);
	if (rows > 1)
		choose_set_rounds(c, stmt, y, in_turn ? rows : 1, in_turn ? 1 : rows, 1, 1);
	return true;
}

/* Vectors of x whose windows overlap, a short reduction going on along the rows that they are read from: a thread reads those elements once,
 * and stores its results at once, where rows are made of vectors and there are enough of them for all threads.  The taps are one step. */
static int64_t window_vector(chooser *c, int x)
{
	enum { SHORT = 8, THREADS = 2048 };
	const heddle_stmt *stmt = c->main;
	const double threads = (double)choose_quantity(&c->scop->descriptor->threads_per_unit, THREADS) / 2 * (double)c->units;
	int taps = -1;
	if (!stmt->reduction || !choose_divisible(stmt, x, c->vector) || heddle_row_dim(stmt, &stmt->access[0]) != x ||
	    !heddle_rules_rows_aligned(stmt->access[0].tensor, c->vector) || choose_blocks_with(c, x, c->vector, -1, 1) < threads)
		return 1;
	for (int a = 1; a < stmt->n_access; a++) {
		const heddle_access *access = &stmt->access[a];
		const int row = access->tensor->rank && access->affine ? heddle_tensor_inner(access->tensor) : -1;
		for (int d = 0; d < stmt->n_dim && row >= 0; d++)
			if (choose_whole_step(stmt, d, SHORT) > 1 && choose_stride(stmt, access, row, d) && choose_stride(stmt, access, row, x) &&
			    heddle_rules_rows_aligned(access->tensor, c->vector))
				taps = d;
	}
	if (taps < 0)
		return 1;
	choose_set_layout(c, stmt, taps, choose_whole_step(stmt, taps, SHORT), 1, 1);
	return c->vector;
}

/* Has each thread a loop of its own? */
static bool is_long(const heddle_stmt *stmt)
{
	for (int d = 0; d < stmt->n_dim; d++)
		if (stmt->dim[d].member < 0)
			return true;
	return false;
}

/* Rows that a recurrence goes along: of each member of a tile it has a line of its own in hand, of each tensor.  0: it goes along none. */
static int64_t lines_in_hand(const chooser *c, int x)
{
	int64_t lines = 0;
	for (int a = 0; a < c->main->n_access; a++) {
		const int row = c->main->access[a].tensor->rank ? heddle_row_dim(c->main, &c->main->access[a]) : -1;
		bool seen = false;
		for (int b = 0; b < a; b++)
			seen = seen || c->main->access[b].tensor == c->main->access[a].tensor;
		lines += row >= 0 && row != x && !seen && !c->main->dim[row].reduction && !c->main->dim[row].coincident &&
			 choose_depends_on(c->main, &c->main->access[a], x);
	}
	return lines;
}

/* A block of a short row is over before it was worth its beginning: it takes several in turn, of the longest dimension, as long as there are blocks
 * for all units.  Rows in parts would be gone through strip by strip: only those that are whole vectors, and no more than an item's text is short
 * enough for.  False, and nothing is chosen: it is none of these. */
static bool several_rows(chooser *c, int x, int64_t v, int64_t most)
{
	enum { ELEMENTS = 1024 };
	const int64_t extent = choose_extent(c->scop, c->main, x);
	const int y = choose_longest_member(c, c->main, x, -1);
	if (c->main->reduction || is_long(c->main) || !keeps_nothing(c->kernel) || y < 0 || extent % v || extent / v >= most)
		return false;
	int64_t rows = choose_power_below(ELEMENTS / extent);
	while (rows > 1 && (rows > choose_extent(c->scop, c->main, y) || choose_blocks_with(c, x, extent, y, rows) < 4 * (double)c->units))
		rows /= 2;
	if (rows < 2)
		return false;
	choose_set_layout(c, c->main, x, extent / v, 1, v);
	choose_set_rounds(c, c->main, y, rows, 1, 1, 1);
	return true;
}

/* Every access has the same contiguous member, or none: threads along it. */
/* A dimension that is too short for whole vectors and contiguous wherever it occurs, as r in y(4 * q + r) += x(q, r): the vector, with
 * several of x, which is not contiguous in the target. */
static bool short_vectors(chooser *c, int x)
{
	enum { ITEMS = 16 };
	const heddle_stmt *stmt = c->main;
	if (!c->simd || heddle_row_dim(stmt, &stmt->access[0]) >= 0)
		return false;
	for (int d = 0; d < stmt->n_dim; d++) {
		const int64_t v = choose_extent(c->scop, stmt, d);
		bool contiguous = d != x && stmt->dim[d].member >= 0 && v > 1 && v < c->vector && v == choose_power_below(v);
		for (int a = 0; a < stmt->n_access && contiguous; a++) {
			const heddle_access *access = &stmt->access[a];
			const int inner = access->tensor->rank ? heddle_tensor_inner(access->tensor) : -1;
			contiguous = (a > 0 && !choose_depends_on(stmt, access, d)) || (inner >= 0 && access->affine && heddle_access_step(access, inner, d) == 1);
		}
		if (!contiguous || heddle_fixed_extent(stmt->source->index[d]->upper) != v)
			continue;
		choose_set_layout(c, stmt, d, 1, 1, v);
		choose_set_layout(c, stmt, x, choose_least(ITEMS, choose_power_below(choose_extent(c->scop, stmt, x))), 1, 1);
		return true;
	}
	return false;
}

static void columns(chooser *c, int x)
{
	if (short_vectors(c, x))
		return;
	int64_t extent = choose_extent(c->scop, c->main, x);
	double others = choose_blocks_with(c, x, extent, -1, 1);
	if (c->simd && known_rows(c, x))
		return;
	const int64_t lines = c->simd ? lines_in_hand(c, x) : 0;
	if (lines > 0) {
		/* so many lie apart in a cache whatever their distance is: rows of a power of two have their lines in one of its sets */
		enum { APART = 8 };
		const int64_t v = choose_power_below(lines > APART / 2 ? 2 : APART / lines);
		choose_set_layout(c, c->main, x, 1, 1, choose_least(v, choose_power_below(extent)));
		return;
	}
	if (c->simd) {
		int64_t v = choose_least(c->main->reduction ? c->vector * 4 : c->vector, choose_power_below(extent));
		const int64_t together = choose_results_at_once(c->main, x);
		if (together < v) { /* longer vectors are never whole */
			choose_set_layout(c, c->main, x, choose_least(4, choose_power_below(extent)), 1, choose_power_below(together > 1 ? together / 2 : 1));
			return;
		}
		if (c->main->reduction && wide_columns(c, x, choose_least(line_vector(c), v)))
			return;
		int64_t items = most_items(c, v);
		if (several_rows(c, x, v, items))
			return;
		while (items > 1 && ((double)(extent / (items * v)) * others < 4 * (double)c->units || items * v > extent))
			items /= 2;
		/* where one item's text is long already, a few rounds make the block worth its beginning */
		enum { LEAST_VECTORS = 4 };
		int64_t rounds = 1;
		while (!c->main->reduction && items == 1 && keeps_nothing(c->kernel) && rounds < LEAST_VECTORS && 2 * rounds * v <= extent &&
		       choose_blocks_with(c, x, 2 * rounds * v, -1, 1) >= 4 * (double)c->units)
			rounds *= 2;
		if (!c->main->reduction && kept_vectors(c->kernel) == 0 && interleave(c->kernel, x)) {
			rounds *= items;
			items = 1;
		}
		choose_set_rounds(c, c->main, x, rounds, c->main->reduction ? 1 : items, 1, v);
		return;
	}
	int64_t v = in_vectors(c, x) ? c->vector : 1;
	int64_t most = choose_most_threads(c);
	if (c->main->reduction && column_lanes(c, x, v, most))
		return;
	v = v > 1 ? v : window_vector(c, x);
	int64_t threads = choose_least(most, choose_power_above((extent + v - 1) / v));
	/* long work of few threads: of smaller blocks, of whole warps, all units have some */
	const int64_t warp = choose_quantity(&c->scop->descriptor->warp, 1);
	const bool known = heddle_fixed_extent(c->main->source->index[x]->upper) > 0;
	const bool few = known && is_long(c->main) && threads > warp && choose_blocks_with(c, x, threads * v, -1, 1) < (double)c->units;
	while (few && threads > warp && choose_blocks_with(c, x, threads * v, -1, 1) < 2 * (double)c->units)
		threads /= 2;
	choose_set_layout(c, c->main, x, 1, threads, v);
	/* short rows: several of them per block */
	if (!few)
		choose_fill_block(c, c->main, x, -1, threads, most);
}

/* The largest part of an extent, `most` at most, that divides it, or a power of two where all that do are less than half of that. */
static int64_t part_of(int64_t extent, int64_t most)
{
	for (int64_t part = most; 2 * part > most; part--)
		if (extent % part == 0)
			return part;
	return choose_power_below(most);
}

/* A block takes whole rows of the read, of as many dimensions as follow each other in memory, until they are `most` elements: it uses
 * whole lines, and what fetches ahead has something to follow.  Returns how many elements those are. */
static int64_t whole_rows(chooser *c, const heddle_access *access, int x, int64_t across, int64_t most)
{
	int64_t run = 1;
	double blocks = choose_blocks_with(c, x, across, -1, 1);
	int64_t tile[HEDDLE_MAX_DIM] = {0};
	for (int e = access->tensor->rank - 1; e >= 0 && run < most; e--) {
		const int d = heddle_access_dim(c->main, access, e);
		const int64_t extent = d < 0 ? 0 : choose_extent(c->scop, c->main, d);
		if (d < 0 || d == x || tile[d] || c->main->dim[d].member < 0)
			break;
		tile[d] = run * extent <= most ? extent : part_of(extent, most / run);
		while (tile[d] > 1 && blocks / (double)tile[d] < 4 * (double)c->units)
			tile[d] /= 2;
		blocks /= (double)tile[d];
		run *= tile[d];
		if (tile[d] < extent)
			break;
	}
	for (int d = 0; d < c->main->n_dim; d++)
		if (tile[d] > 1)
			choose_set_layout(c, c->main, d, tile[d], 1, 1);
	return run;
}

/* Members of a row of the square that a thread stores at once: from as many rows of the tile of what is read. */
static int64_t square_vector(const chooser *c, int x, const heddle_tensor *read)
{
	const heddle_access *target = &c->main->access[0];
	int64_t v = choose_fills_bank(c->scop, read->type) && heddle_row_dim(c->main, target) == x ? c->vector : 1;
	while (v > 1 && !(choose_divisible(c->main, x, v) && heddle_rules_rows_aligned(target->tensor, v)))
		v /= 2;
	return v;
}

/* Rows of the target that lie whole pages apart: lines of one column are in the same sets of the caches, and a processor whose registers
 * are shorter than a line goes to each twice.  A tile that is turned in the second cache then gives several lines of a row at once
 * (measured: 1.3 to 2.6 times as fast; with rows that lie otherwise 0.6 to 1.1 times).  Returns whether it is so. */
static bool crossed_pages(chooser *c, const heddle_access *access, int x, int y)
{
	enum { LINES = 4 };
	const heddle_access *target = &c->main->access[0];
	const int64_t line = line_vector(c), page = CHOOSE_PAGE / heddle_type_size(target->tensor->type);
	const int64_t bytes = LINES * line * page * heddle_type_size(access->tensor->type);
	if (line == c->vector || heddle_row_dim(c->main, target) != x || target->tensor->type != access->tensor->type ||
	    !heddle_rules_rows_aligned(target->tensor, page) || !choose_divisible(c->main, y, page) || c->kernel->n_stmt > 1 ||
	    bytes > choose_quantity(&c->scop->descriptor->shared_per_block, 0) ||
	    choose_blocks_with(c, x, LINES * line, y, page) < 4 * (double)c->units)
		return false;
	choose_set_layout(c, c->main, x, 1, 1, LINES * line);
	choose_set_rounds(c, c->main, y, page, 1, 1, 1);
	return true;
}

/* The target and a read are contiguous in different members: a square through shared memory. */
static bool crossed(chooser *c, int x)
{
	for (int a = 1; a < c->main->n_access; a++) {
		int y = heddle_row_dim(c->main, &c->main->access[a]);
		if (y < 0 || y == x || c->main->dim[y].member < 0 || c->main->reduction)
			continue;
		if (!choose_depends_on(c->main, &c->main->access[a], x))
			continue;
		if (c->simd) {
			/* as many rows as a vector has members, and along them what fetches ahead can follow: a vector of each row at a
			 * time is turned, so lines are used whole however far apart rows lie (measured: pages of long rows, two pages
			 * of those that end before) */
			const int64_t page = CHOOSE_PAGE / heddle_type_size(c->main->access[a].tensor->type);
			const int64_t ex = choose_extent(c->scop, c->main, x), ey = choose_extent(c->scop, c->main, y);
			const int64_t line = line_vector(c);
			if (crossed_pages(c, &c->main->access[a], x, y))
				return true;
			int64_t v = ex < line ? best_vector(ex, line) : line;
			int64_t items = ex < line ? (ex + v - 1) / v : 1;
			const int64_t run = whole_rows(c, &c->main->access[a], x, items * v, ey < page ? 2 * page : page);
			/* all of the target's row, where the first cache holds it: stores follow one another (measured: 1.6 to 2 times as fast) */
			const heddle_memory *nearest = heddle_descriptor_memory(c->scop->descriptor, "l1");
			const int64_t bytes = ex * run * heddle_type_size(c->main->access[a].tensor->type);
			if (nearest && bytes <= choose_quantity(&nearest->size, 0) && choose_blocks_with(c, x, ex, -1, 1) / (double)run >= 4 * (double)c->units) {
				v = best_vector(ex, line);
				items = (ex + v - 1) / v;
			}
			choose_set_layout(c, c->main, x, items, 1, v);
		} else {
			enum { SIDE = 32 };
			const int64_t most = choose_most_threads(c), v = square_vector(c, x, c->main->access[a].tensor);
			const int64_t along = choose_least(SIDE / v, most), across = choose_least(SIDE, most / along);
			choose_set_layout(c, c->main, x, 1, along, v);
			choose_set_layout(c, c->main, y, SIDE / across, across, 1);
		}
		return true;
	}
	return false;
}

static bool has_local(const chooser *c)
{
	for (int s = 0; s < c->kernel->n_stmt; s++)
		if (lane_dim(c, c->kernel->stmt[s]) >= 0)
			return true;
	return false;
}

bool choose_wants_lanes(const chooser *c, int x)
{
	enum { BLOCK = 256 };
	if (!has_local(c))
		return false;
	if (x < 0)
		return true;
	/* the read that touches most decides */
	int best = -1, most = 0;
	for (int a = 1; a < c->main->n_access; a++) {
		int n = 0;
		for (int d = 0; d < c->main->n_dim; d++)
			n += choose_depends_on(c->main, &c->main->access[a], d);
		if (n > most && choose_row_dim(c, c->main, &c->main->access[a]) >= 0)
			best = a, most = n;
	}
	if (best >= 0) {
		const int row = choose_row_dim(c, c->main, &c->main->access[best]);
		/* a few elements are no vector, where the target has longer rows of its own */
		if (c->simd && c->main->dim[row].member < 0 && choose_extent(c->scop, c->main, row) < c->vector &&
		    heddle_row_dim(c->main, &c->main->access[0]) == x && choose_extent(c->scop, c->main, x) >= c->vector)
			return false;
		/* what all threads of a block read together needs no lanes, where results are enough for the chip */
		if (!c->simd && heddle_row_dim(c->main, &c->main->access[0]) == x && !choose_depends_on(c->main, &c->main->access[best], x) &&
		    choose_blocks_with(c, x, BLOCK, -1, 1) >= (double)c->units)
			return false;
		return c->main->dim[row].member < 0;
	}
	const int along = c->simd ? choose_results_along(c->main) : heddle_row_dim(c->main, &c->main->access[0]);
	return c->main->n_access < 2 ? false : along < 0;
}

static bool has_layout(const heddle_config *config, int k)
{
	return k < config->n_kernel && (config->kernel[k].n_stmt || config->kernel[k].threads);
}

int choose_layouts(heddle_scop *scop, heddle_config *config)
{
	for (int k = 0; k < scop->n_kernel; k++) {
		chooser c = {.scop = scop, .config = config, .kernel = scop->kernel[k], .k = k};
		if (has_layout(config, k))
			continue;
		heddle_config_kernel(config, k);
		c.main = choose_dominant(scop, c.kernel);
		c.units = choose_quantity(&scop->descriptor->units, 16);
		c.simd = scop->descriptor->execution == HEDDLE_SIMD;
		/* threads move vectors, one thread of a vector unit computes with them */
		const heddle_type type = c.main->access[0].tensor->type;
		const int64_t members = choose_quantity(&scop->descriptor->vector_bytes, 16) / heddle_type_size(heddle_type_computed(type));
		c.vector = !c.simd ? choose_wide(scop, type) : members < 1 ? 1 : choose_power_below(members);
		int x, y;
		bool contraction = choose_is_contraction(&c, &x, &y);
		if (contraction && c.simd)
			choose_contraction_vectors(&c, x, y);
		else if (contraction)
			choose_contraction_threads(&c, x, y);
		else if (choose_wants_lanes(&c, x))
			rows(&c);
		else if (x >= 0 && !crossed(&c, x))
			columns(&c, x);
		else if (x < 0)
			rows(&c);
	}
	return 0;
}
