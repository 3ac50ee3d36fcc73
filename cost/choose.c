/* What the choices have in common: queries, and writing a dimension's numbers into the config.
 * SPDX-License-Identifier: MIT
 */
#include "cost/choose.h"

#include <string.h>

int64_t choose_quantity(const heddle_quantity *q, int64_t otherwise)
{
	return q->set ? (int64_t)q->value : otherwise;
}

bool choose_mentions(const heddle_expr *expr, int dim)
{
	if (expr->kind == HEDDLE_EXPR_INDEX)
		return expr->index->position == dim;
	for (int i = 0; i < expr->n_arg; i++)
		if (choose_mentions(expr->arg[i], dim))
			return true;
	return false;
}

heddle_expr *const *choose_subscripts(const heddle_stmt *stmt, const heddle_access *access)
{
	return access->expr ? access->expr->arg : stmt->source->lhs;
}

bool choose_depends_on(const heddle_stmt *stmt, const heddle_access *access, int dim)
{
	for (int e = 0; e < access->tensor->rank; e++)
		if (choose_mentions(choose_subscripts(stmt, access)[e], dim))
			return true;
	return false;
}

int64_t choose_extent(const heddle_scop *scop, const heddle_stmt *stmt, int dim)
{
	return heddle_scop_dim_extent(scop, stmt, dim);
}

double choose_volume(const heddle_scop *scop, const heddle_stmt *stmt)
{
	double v = 1;
	for (int d = 0; d < stmt->n_dim; d++)
		v *= (double)choose_extent(scop, stmt, d);
	return v;
}

double choose_tensor_bytes(const heddle_scop *scop, const heddle_tensor *tensor)
{
	double bytes = heddle_type_size(tensor->type);
	for (int e = 0; e < tensor->rank; e++)
		bytes *= (double)heddle_scop_estimate(scop, tensor->extent[e]);
	return bytes;
}

/* The statement that does most of the kernel's work decides its layout. */
heddle_stmt *choose_dominant(const heddle_scop *scop, const heddle_kernel *kernel)
{
	heddle_stmt *best = kernel->stmt[0];
	for (int s = 1; s < kernel->n_stmt; s++) {
		double a = choose_volume(scop, kernel->stmt[s]), b = choose_volume(scop, best);
		if (a > b || (a == b && kernel->stmt[s]->reduction && !best->reduction))
			best = kernel->stmt[s];
	}
	return best;
}

bool choose_fills_bank(const heddle_scop *scop, heddle_type type)
{
	const heddle_memory *shared = heddle_descriptor_memory(scop->descriptor, "shared");
	return shared && heddle_type_size(type) == choose_quantity(&shared->bank_width, 0);
}

int64_t choose_power_below(int64_t n)
{
	int64_t p = 1;
	while (p * 2 <= n)
		p *= 2;
	return p;
}

int64_t choose_power_above(int64_t n)
{
	int64_t p = 1;
	while (p < n)
		p *= 2;
	return p;
}

int64_t choose_least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Is every value of the dimension's extent a multiple of n? */
bool choose_divisible(const heddle_stmt *stmt, int dim, int64_t n)
{
	return heddle_extent_multiple(stmt->source->index[dim]->upper, n);
}

/* Some operand is used again for every value of this dimension. */
bool choose_has_reuse(const heddle_stmt *stmt, int dim)
{
	for (int a = 1; a < stmt->n_access; a++)
		if (stmt->access[a].tensor->rank && stmt->access[a].affine && !choose_depends_on(stmt, &stmt->access[a], dim))
			return true;
	return false;
}

/* Threads that a block may have, 256 at most: more give little and cost occupancy. */
int64_t choose_most_threads(const chooser *c)
{
	return choose_least(256, choose_quantity(&c->scop->descriptor->threads_per_block, 256));
}

void choose_set_rounds(chooser *c, const heddle_stmt *stmt, int dim, int64_t rounds, int64_t items, int64_t threads, int64_t vector)
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

void choose_set_layout(chooser *c, const heddle_stmt *stmt, int dim, int64_t items, int64_t threads, int64_t vector)
{
	choose_set_rounds(c, stmt, dim, 1, items, threads, vector);
}

/* Sets the factor of each dimension in a sum of products with numbers; false: it is something else. */
static bool factors(const heddle_expr *expr, int64_t by, int64_t *factor)
{
	switch (expr->kind) {
	case HEDDLE_EXPR_CAST:
		return factors(expr->arg[0], by, factor);
	case HEDDLE_EXPR_INT:
	case HEDDLE_EXPR_SIZE:
		return true;
	case HEDDLE_EXPR_INDEX:
		factor[expr->index->position] += by;
		return true;
	case HEDDLE_EXPR_BINARY:
		if (expr->op == HEDDLE_OP_ADD || expr->op == HEDDLE_OP_SUB)
			return factors(expr->arg[0], by, factor) && factors(expr->arg[1], expr->op == HEDDLE_OP_SUB ? -by : by, factor);
		for (int i = 0; i < 2 && expr->op == HEDDLE_OP_MUL; i++)
			if (expr->arg[i]->kind == HEDDLE_EXPR_INT)
				return factors(expr->arg[1 - i], by * expr->arg[i]->i, factor);
		return false;
	default:
		return false;
	}
}

int64_t choose_stride(const heddle_stmt *stmt, const heddle_access *access, int e, int dim)
{
	int64_t factor[HEDDLE_MAX_DIM] = {0};
	return factors(choose_subscripts(stmt, access)[e], 1, factor) ? factor[dim] : 0;
}

bool choose_leaves_rows_out(const heddle_scop *scop, const heddle_stmt *stmt, const heddle_access *access, int y)
{
	enum { NEAR = 384 }; /* bytes: measured on windows of 2 x 2 and 3 x 3 that halve rows of 28 to 112 */
	const int row = heddle_tensor_inner(access->tensor);
	bool is_long = false, apart = false;
	for (int x = 0; x < stmt->n_dim && row > 0; x++)
		is_long = is_long || choose_stride(stmt, access, row, x) * choose_extent(scop, stmt, x) *
					     heddle_type_size(access->tensor->type) >= NEAR;
	for (int e = 0; e < row; e++)
		apart = apart || choose_stride(stmt, access, e, y) > 1;
	return is_long && apart;
}

int choose_row_dim(const chooser *c, const heddle_stmt *stmt, const heddle_access *access)
{
	enum { WINDOW = 16 }; /* fewer elements are the window of a stencil */
	const int inner = heddle_tensor_inner(access->tensor), plain = heddle_row_dim(stmt, access);
	int64_t factor[HEDDLE_MAX_DIM] = {0};
	int row = -1;
	if (plain >= 0 || inner < 0 || !factors(choose_subscripts(stmt, access)[inner], 1, factor))
		return plain;
	for (int d = 0; d < stmt->n_dim; d++)
		if (factor[d] == 1 && (row < 0 || choose_extent(c->scop, stmt, d) > choose_extent(c->scop, stmt, row)))
			row = d;
	return row >= 0 && choose_extent(c->scop, stmt, row) >= WINDOW ? row : -1;
}

int choose_results_along(const heddle_stmt *stmt)
{
	const heddle_scop none = {0};
	const heddle_statement *s = stmt->source;
	const int row = heddle_row_dim(stmt, &stmt->access[0]);
	int along = -1;
	int64_t longest = 0;
	for (int d = 0; d < stmt->n_dim && row < 0 && s->n_lhs; d++) {
		const int64_t extent = choose_mentions(s->lhs[s->n_lhs - 1], d) ? heddle_scop_estimate(&none, s->index[d]->upper) : 0;
		along = extent > longest ? d : along;
		longest = extent > longest ? extent : longest;
	}
	return row < 0 ? along : row;
}

/* The member that is contiguous in the target, or in the first read where the target has none; else the one that results lie along. */
int choose_fast_member_dim(const heddle_stmt *stmt)
{
	for (int a = 0; a < stmt->n_access; a++) {
		int d = heddle_row_dim(stmt, &stmt->access[a]);
		if (d >= 0 && stmt->dim[d].member >= 0)
			return d;
	}
	const int along = choose_results_along(stmt);
	for (int d = stmt->n_dim - 1; d >= 0 && (along < 0 || stmt->dim[along].member < 0); d--)
		if (stmt->dim[d].member >= 0)
			return d;
	return along >= 0 && stmt->dim[along].member >= 0 ? along : -1;
}

int choose_longest_member(const chooser *c, const heddle_stmt *stmt, int x, int y)
{
	int longest = -1;
	for (int d = 0; d < stmt->n_dim; d++)
		if (d != x && d != y && stmt->dim[d].member >= 0 &&
		    (longest < 0 || choose_extent(c->scop, stmt, d) > choose_extent(c->scop, stmt, longest)))
			longest = d;
	return longest;
}

int64_t choose_fill_block(chooser *c, const heddle_stmt *stmt, int x, int y, int64_t threads, int64_t most)
{
	const int z = choose_longest_member(c, stmt, x, y);
	const int64_t others = z < 0 ? 1 : choose_least(choose_least(CHOOSE_BLOCK, most) / threads, choose_power_below(choose_extent(c->scop, stmt, z)));
	if (others < 2)
		return threads;
	choose_set_layout(c, stmt, z, 1, others, 1);
	return threads * others;
}

double choose_blocks_with(const chooser *c, int x, int64_t tx, int y, int64_t ty)
{
	double n = 1;
	for (int d = 0; d < c->main->n_dim; d++) {
		if (c->main->dim[d].member < 0)
			continue;
		int64_t tile = d == x ? tx : d == y ? ty : 1;
		n *= (double)((choose_extent(c->scop, c->main, d) + tile - 1) / tile);
	}
	return n;
}

int64_t choose_wide(const heddle_scop *scop, heddle_type type)
{
	enum { USUAL_BYTES = 16, MOST = 8 };
	const int64_t n = choose_power_below(choose_quantity(&scop->descriptor->vector_bytes, USUAL_BYTES) / heddle_type_size(type));
	return n < 1 ? 1 : choose_least(MOST, n);
}

/* The least and the greatest value of a bound over indices whose ranges are numbers; false: it is no such one. */
static bool between(const heddle_expr *expr, int64_t *least, int64_t *greatest)
{
	int64_t low[2], high[2], upper;
	if (heddle_expr_evaluate(expr, NULL, least) == 0)
		return *greatest = *least, true;
	if (expr->kind == HEDDLE_EXPR_INDEX) {
		if (heddle_expr_evaluate(expr->index->lower, NULL, least) < 0 || heddle_expr_evaluate(expr->index->upper, NULL, &upper) < 0)
			return false;
		*greatest = upper - 1;
		return true;
	}
	if (expr->kind != HEDDLE_EXPR_BINARY || !between(expr->arg[0], &low[0], &high[0]) || !between(expr->arg[1], &low[1], &high[1]))
		return false;
	const int64_t by = low[1] == high[1] && low[1] > 0 ? low[1] : 0;
	if (expr->op == HEDDLE_OP_ADD || expr->op == HEDDLE_OP_SUB) {
		*least = low[0] + (expr->op == HEDDLE_OP_ADD ? low[1] : -high[1]);
		*greatest = high[0] + (expr->op == HEDDLE_OP_ADD ? high[1] : -low[1]);
	} else if (expr->op == HEDDLE_OP_DIV && by && low[0] >= 0) {
		*least = low[0] / by;
		*greatest = high[0] / by;
	} else {
		return false;
	}
	return true;
}

int64_t choose_whole_step(const heddle_stmt *stmt, int d, int64_t most)
{
	int64_t least, extent;
	const bool known = stmt->dim[d].reduction && between(stmt->source->index[d]->upper, &least, &extent);
	return known && extent > 0 && extent <= most ? extent : 0;
}

double choose_effort(const heddle_expr *expr)
{
	enum { DIVISION = 8, FUNCTION = 24 };
	double n = 0;
	if (heddle_type_is_float(expr->type) && expr->kind == HEDDLE_EXPR_CALL)
		n = FUNCTION;
	else if (heddle_type_is_float(expr->type) && expr->kind == HEDDLE_EXPR_BINARY)
		n = expr->op == HEDDLE_OP_DIV ? DIVISION : 1;
	for (int i = 0; i < expr->n_arg; i++)
		n += choose_effort(expr->arg[i]);
	return n;
}

/* The ends of `low <= value < high` among conditions that hold together, as far as they are there. */
static void find_ends(const heddle_expr *condition, const heddle_expr *value, int64_t *low, int64_t *high)
{
	if (condition->kind != HEDDLE_EXPR_BINARY)
		return;
	if (condition->op == HEDDLE_OP_AND) {
		find_ends(condition->arg[0], value, low, high);
		find_ends(condition->arg[1], value, low, high);
	} else if (condition->arg[1]->kind == HEDDLE_EXPR_INT && heddle_expr_equal(condition->arg[0], value)) {
		*low = condition->op == HEDDLE_OP_GE ? condition->arg[1]->i : *low;
		*high = condition->op == HEDDLE_OP_LT ? condition->arg[1]->i : *high;
	}
}

static int64_t narrowest(const heddle_stmt *stmt, const heddle_expr *all, const heddle_expr *condition, int dim)
{
	int64_t low = INT64_MIN, high = INT64_MAX;
	if (condition->kind == HEDDLE_EXPR_BINARY && condition->op == HEDDLE_OP_AND)
		return choose_least(narrowest(stmt, all, condition->arg[0], dim), narrowest(stmt, all, condition->arg[1], dim));
	if (condition->kind != HEDDLE_EXPR_BINARY || condition->op != HEDDLE_OP_GE || !choose_mentions(condition->arg[0], dim))
		return INT64_MAX;
	bool moves = false; /* with the terms of the sum */
	for (int d = 0; d < stmt->n_dim; d++)
		moves = moves || (stmt->dim[d].reduction && choose_mentions(condition->arg[0], d));
	find_ends(all, condition->arg[0], &low, &high);
	return moves && low != INT64_MIN && high != INT64_MAX && high > low ? high - low : INT64_MAX;
}

int64_t choose_results_at_once(const heddle_stmt *stmt, int dim)
{
	const heddle_expr *value = stmt->source->value;
	return stmt->reduction && value->kind == HEDDLE_EXPR_SELECT ? narrowest(stmt, value->arg[0], value->arg[0], dim) : INT64_MAX;
}
