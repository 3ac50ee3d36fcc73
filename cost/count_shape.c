/* What stands where in the text of a statement: subscripts under the sizes, how wide its accesses are, what of it is unrolled.
 * SPDX-License-Identifier: MIT
 */
#include "cost/count_tree.h"

#include "cost/cost.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- expressions ---------------------------------------------------------------------------------------------------- */

int64_t count_value(const counter *c, const heddle_expr *expr, int64_t otherwise)
{
	int64_t value;
	return heddle_expr_evaluate(expr, c->size, &value) < 0 ? otherwise : value;
}

counter count_at_other_sizes(const counter *c)
{
	enum { FAR = 1000003 }; /* halves of sizes differ, too */
	const int n = c->scop->definition->n_size;
	counter other = *c;
	int64_t *size = HEDDLE_NEW_ARRAY(c->arena, int64_t, n + 1);
	for (int k = 0; k < n; k++)
		size[k] = c->size[k] + FAR * (int64_t)(k + 1);
	other.size = size;
	return other;
}

/* Of two numbers that are multiples of powers of two, 0 standing for those of 0: of which their sum is one. */
static int64_t common_power(int64_t a, int64_t b)
{
	return !a ? b : !b ? a : choose_least(a, b);
}

linear count_add(linear a, linear b, int64_t factor)
{
	a.affine = a.affine && b.affine;
	a.constant += factor * b.constant;
	a.multiple = common_power(a.multiple, b.multiple * (factor & -factor));
	for (int d = 0; d < HEDDLE_MAX_DIM; d++) {
		a.coefficient[d] += factor * b.coefficient[d];
		a.within[d] = a.within[d] || b.within[d];
	}
	return a;
}

/* Of an expression that is not affine: the dimensions in it. */
static void mark(const heddle_expr *expr, bool *within)
{
	if (expr->kind == HEDDLE_EXPR_INDEX)
		within[expr->index->position] = true;
	for (int i = 0; i < expr->n_arg; i++)
		mark(expr->arg[i], within);
}

bool count_is_constant(const linear *a)
{
	for (int d = 0; d < HEDDLE_MAX_DIM; d++)
		if (a->coefficient[d])
			return false;
	return a->affine;
}

/* The greatest power of two, `most` at most, that the extent is known to be a multiple of. */
static int64_t known_power(const heddle_expr *extent, int64_t most)
{
	while (most > 1 && !heddle_extent_multiple(extent, most))
		most /= 2;
	return most;
}

linear count_linear(const counter *c, const heddle_expr *expr)
{
	linear zero = {.affine = true}, a = zero, b = zero;
	if (expr->kind == HEDDLE_EXPR_INT || expr->kind == HEDDLE_EXPR_SIZE) {
		a.constant = count_value(c, expr, 1);
		a.multiple = a.constant ? known_power(expr, MOST_WARP) : 0;
	} else if (expr->kind == HEDDLE_EXPR_INDEX)
		a.coefficient[expr->index->position] = 1;
	else if (expr->kind == HEDDLE_EXPR_CAST)
		a = count_linear(c, expr->arg[0]);
	else if (expr->kind == HEDDLE_EXPR_UNARY && expr->op == HEDDLE_OP_NEG)
		a = count_add(zero, count_linear(c, expr->arg[0]), -1);
	else if (expr->kind == HEDDLE_EXPR_BINARY && expr->op <= HEDDLE_OP_MUL) {
		a = count_linear(c, expr->arg[0]);
		b = count_linear(c, expr->arg[1]);
		if (expr->op == HEDDLE_OP_ADD)
			return count_add(a, b, 1);
		if (expr->op == HEDDLE_OP_SUB)
			return count_add(a, b, -1);
		const int64_t multiple = a.multiple * b.multiple;
		if (count_is_constant(&a) || count_is_constant(&b)) {
			a = count_is_constant(&b) ? count_add(zero, a, b.constant) : count_add(zero, b, a.constant);
			a.multiple = multiple;
			return a;
		}
		a = (linear){.affine = false};
		mark(expr, a.within);
	} else {
		a.affine = false;
		mark(expr, a.within);
	}
	return a;
}

const heddle_expr *count_subscript(const heddle_stmt *stmt, const heddle_access *access, int e)
{
	return access->expr ? access->expr->arg[e] : stmt->source->lhs[e];
}

bool count_is_affine(const movement *m)
{
	bool all = true;
	for (int e = 0; e < m->tensor->rank; e++)
		all = all && m->subscript[e].affine;
	return all;
}

bool count_depends(const movement *m, int d)
{
	bool depends = false;
	for (int e = 0; e < m->tensor->rank && !depends; e++)
		depends = m->subscript[e].coefficient[d] || m->subscript[e].within[d];
	return depends;
}

int64_t count_stride(const counter *c, const heddle_tensor *tensor, int e)
{
	int64_t stride = 1;
	if (tensor->stride)
		return count_value(c, tensor->stride[e], 1);
	for (int i = e + 1; i < tensor->rank; i++)
		stride *= count_value(c, tensor->extent[i], 1);
	return stride;
}

/* ---- vectors --------------------------------------------------------------------------------------------------------------- */

/* Are members of a vector along d neighbours in the tensor? */
static bool goes_along(const heddle_access *access, int d)
{
	const int row = heddle_tensor_inner(access->tensor);
	return row >= 0 && access->affine && heddle_access_step(access, row, d) == 1;
}

/* Does anything that the statement reads or stores have neighbours along d, as in registers, or is every second one read? */
static bool has_neighbours(const heddle_stmt *stmt, int d)
{
	for (int a = 0; a < stmt->n_access; a++) {
		const heddle_access *access = &stmt->access[a];
		const int row = heddle_tensor_inner(access->tensor);
		if (access->group->space == HEDDLE_SPACE_REGISTER || goes_along(access, d) ||
		    (a > 0 && row >= 0 && access->affine && heddle_access_step(access, row, d) == 2))
			return true;
	}
	return false;
}

/* The dimension whose vectors there are.  Where one thread stores what it computes and has no neighbours along the lockstep's own loop on either
 * side, that stays a loop, and one inside of it has the vectors. */
static int vectors_dim(const shape *s, const bool *among)
{
	const heddle_stmt *stmt = s->stmt;
	const int lockstep = heddle_lockstep_dim(stmt, among);
	if (s->inner >= 0 && (!among || among[s->inner]))
		return s->inner;
	if (lockstep < 0 || stmt->reduction || stmt->access[0].group->space != HEDDLE_SPACE_GLOBAL || has_neighbours(stmt, lockstep))
		return lockstep;
	for (int d = 0; d < stmt->n_dim; d++)
		if ((!among || among[d]) && stmt->dim[d].layout.vector > 1 && has_neighbours(stmt, d))
			return d;
	return lockstep;
}

int count_vectors_dim(const shape *s)
{
	return vectors_dim(s, NULL);
}

/* The dimension whose vector loop runs in lockstep.  Loads of a tile come together along its rows, whichever vector
 * loop goes there. */
int count_lockstep(const movement *m)
{
	const heddle_stmt *stmt = m->shape->stmt;
	for (int d = 0; d < stmt->n_dim && m->tile && !m->write; d++)
		if (m->dims[d] && !stmt->dim[d].reduction && stmt->dim[d].layout.vector > 1 &&
		    m->subscript[heddle_tile_array_row(m->tile)].coefficient[d] == m->tile->phases)
			return d;
	return vectors_dim(m->shape, m->dims);
}

/* Elements, as a sum of powers of two, by which starts of an access lie apart along dimension d, times `factor`.  `member`: which of those that
 * stand in the text it is, NULL or -1: any. */
static int64_t steps_along(const shape *s, int d, int64_t factor, const int64_t *member)
{
	const heddle_layout *layout = &s->stmt->dim[d].layout;
	if (!member || member[d] < 0 || !factor)
		return factor;
	int64_t steps = 0;
	if (layout->threads > 1)
		steps |= factor * layout->vector;
	if (!s->d[d].unrolled && layout->items > 1)
		steps |= factor * layout->threads * layout->vector;
	return s->d[d].outer > 1 || layout->rounds > 1 ? steps | factor * layout->items * layout->threads * layout->vector : steps;
}

/* The same within a tile: what is outside of it moves the tile. */
static int64_t steps_within(const shape *s, int d, int64_t factor, const int64_t *member)
{
	const heddle_layout *layout = &s->stmt->dim[d].layout;
	const int64_t beside = layout->threads * layout->vector;
	if (member[d] < 0)
		return layout->tile > 1 ? factor : 0;
	return (layout->threads > 1 ? factor * layout->vector : 0) |
	       (!s->d[d].unrolled && layout->items > 1 ? factor * beside : 0) |
	       (layout->rounds > 1 ? factor * beside * layout->items : 0);
}

int64_t count_tile_begin(const movement *m, int inner, int64_t w, const int64_t *member)
{
	int64_t pitch = 1, fixed = 0;
	for (int i = m->tensor->rank - 1; i >= 0; i--) {
		const int e = m->tile->order[i];
		int64_t step = member ? 0 : 1;
		for (int d = 0; d < m->shape->stmt->n_dim && member; d++) {
			const int64_t factor = m->dims[d] ? m->subscript[e].coefficient[d] : 0;
			step |= m->subscript[e].within[d] ? 1 : steps_within(m->shape, d, llabs(factor), member);
			fixed += e != inner && member[d] >= 0 ? factor * member[d] * pitch : 0;
		}
		if (e != inner && m->tile->size[e] > 1 && step && (step & -step) * pitch % w)
			return -1;
		pitch = count_tile_pitch(m->tile, i, pitch);
	}
	return (fixed % w + w) % w;
}

int64_t count_rows_begin(const movement *m, int inner, int64_t w, const int64_t *member)
{
	const heddle_tensor *tensor = m->tensor;
	int64_t fixed[HEDDLE_MAX_DIM + 1] = {0}; /* elements before the row that stands in the text, by the extents in them that are not known */
	int open = 0;
	int64_t numbers = 1, power = 1; /* of the extents within: those that are known, and what the others are multiples of */
	for (int e = tensor->rank - 1; e >= 0; e--) {
		const bool counted = tensor->extent[e]->kind == HEDDLE_EXPR_INT;
		const int64_t unit = tensor->stride ? known_power(tensor->stride[e], w) : numbers * power;
		int64_t at = counted ? m->subscript[e].constant : 0, step = counted ? 0 : m->subscript[e].multiple;
		for (int d = 0; d < m->shape->stmt->n_dim; d++) {
			const int64_t factor = m->subscript[e].coefficient[d];
			step |= m->subscript[e].within[d] ? 1 : steps_along(m->shape, d, llabs(factor), member);
			at += member && member[d] >= 0 ? factor * member[d] : 0;
		}
		if (e != inner && step && (step & -step) * unit % w)
			return -1;
		fixed[tensor->stride ? e : open] += e == inner ? 0 : at * unit;
		numbers = counted ? numbers * tensor->extent[e]->i % w : numbers;
		power *= counted ? 1 : known_power(tensor->extent[e], w);
		open += !counted;
	}
	for (int k = tensor->stride ? 0 : 1; k <= HEDDLE_MAX_DIM; k++)
		if (fixed[k] % w)
			return -1;
	return tensor->stride ? 0 : (fixed[0] % w + w) % w;
}

/* Is the expression made of numbers, sizes and indices by sums and products; `*sizes`: is there a size in it? */
static bool is_polynomial(const heddle_expr *expr, bool *sizes)
{
	*sizes = *sizes || expr->kind == HEDDLE_EXPR_SIZE;
	if (expr->kind == HEDDLE_EXPR_BINARY ? expr->op > HEDDLE_OP_MUL
					     : expr->kind != HEDDLE_EXPR_INT && expr->kind != HEDDLE_EXPR_SIZE && expr->kind != HEDDLE_EXPR_INDEX &&
						       expr->kind != HEDDLE_EXPR_CAST && expr->kind != HEDDLE_EXPR_UNARY)
		return false;
	for (int i = 0; i < expr->n_arg; i++)
		if (!is_polynomial(expr->arg[i], sizes))
			return false;
	return true;
}

/* Elements before the access's first one, of which w are a vector along d, are they a multiple of w under these sizes? */
static bool begins_at(const counter *c, const movement *m, int d, int64_t w, const int64_t *member)
{
	const heddle_stmt *stmt = m->shape->stmt;
	int64_t first = 0, step[HEDDLE_MAX_DIM] = {0};
	for (int e = 0; e < m->tensor->rank; e++) {
		const linear at = count_linear(c, count_subscript(stmt, m->access, e));
		const int64_t stride = count_stride(c, m->tensor, e);
		if (!at.affine)
			return false;
		first += at.constant * stride;
		for (int o = 0; o < stmt->n_dim; o++)
			step[o] += at.coefficient[o] * stride;
	}
	for (int o = 0; o < stmt->n_dim; o++) {
		const bool one = o != d && member[o] >= 0;
		first += one ? step[o] * member[o] : 0;
		if ((o == d ? step[o] * w : steps_along(m->shape, o, step[o], member)) % w)
			return false;
	}
	return first % w == 0;
}

/* Where open sizes are among the subscripts of a row: does the access begin at multiples of w elements whatever they are?  All that counts of
 * them is what they leave when they are divided by w. */
static bool begins_for_all(const counter *c, const movement *m, int inner, int d, int64_t w, const int64_t *member)
{
	enum { MOST_SIZES = 4, MOST_CASES = 256, FAR = 64 };
	const heddle_definition *definition = c->scop->definition;
	int64_t size[MOST_SIZES], cases = 1;
	bool mentioned = false, any = false;
	if (!m->access || m->tile || m->tensor->stride || definition->n_size > MOST_SIZES ||
	    !is_polynomial(count_subscript(m->shape->stmt, m->access, inner), &mentioned) || !mentioned)
		return false;
	for (int e = 0; e < m->tensor->rank; e++)
		if (!is_polynomial(m->tensor->extent[e], &any) || !is_polynomial(count_subscript(m->shape->stmt, m->access, e), &any))
			return false;
	for (int i = 0; i < definition->n_size; i++)
		cases *= w;
	counter other = *c;
	other.size = size;
	for (int64_t k = 0; k < cases && cases <= MOST_CASES; k++) {
		int64_t rest = k;
		bool allowed = true;
		for (int i = 0; i < definition->n_size; i++) {
			const heddle_expr one = {.kind = HEDDLE_EXPR_SIZE, .size = definition->size[i]};
			size[i] = FAR * w + rest % w;
			allowed = allowed && size[i] % known_power(&one, w) == 0;
			rest /= w;
		}
		if (allowed && !begins_at(&other, m, d, w, member))
			return false;
	}
	return cases <= MOST_CASES;
}

/* May a vector along d go past the end of the dimension, for all that is known before the sizes are? */
static bool is_guarded(const heddle_stmt *stmt, int d)
{
	const heddle_index *index = stmt->source->index[d];
	const int64_t v = stmt->dim[d].layout.vector;
	return v > 1 && !(heddle_extent_multiple(index->upper, v) && heddle_extent_multiple(index->lower, v));
}

int64_t count_side_by_side(const counter *c, const movement *m, int d)
{
	const heddle_layout *layout = &m->shape->stmt->dim[d].layout;
	const int64_t vector = m->shape->d[d].parts > 1 ? 1 : layout->vector; /* else members are a loop */
	return c->kernel->threads > 1 && layout->threads == 1 && m->shape->d[d].unrolled && vector == layout->vector ? layout->items * vector : vector;
}

/* Elements of one access: a vector where the members lie side by side and the language can.  `member`: as steps_along has it. */
int64_t count_member_width(const counter *c, const movement *m, const int64_t *member)
{
	int d = count_lockstep(m), rank = m->tensor->rank;
	int inner = m->tile ? heddle_tile_array_row(m->tile) : heddle_tensor_inner(m->tensor);
	const int64_t step = m->tile ? m->tile->phases : 1;
	int64_t beside = 0;
	const int64_t own = member ? count_member_width(c, m, NULL) : 1; /* of the vector loop: those stay as they are */
	if (own > 1)
		return own;
	for (int o = 0; o < m->shape->stmt->n_dim && member && inner >= 0;
	     o++) { /* neighbours that are no lockstep's stand together, too */
		const int64_t n = count_side_by_side(c, m, o);
		if (n > 1 && m->subscript[inner].coefficient[o] == step && m->dims[o]) {
			d = o;
			beside = n & -n;
		}
	}
	if (d < 0 || inner < 0 || m->subscript[inner].coefficient[d] != step)
		return 1;
	if (!m->write && !m->tile && m->shape->d[d].parts > 1 && m->shape->stmt->dim[d].layout.vector <= c->language->max_vector)
		return 1; /* members are a loop */
	for (int e = 0; e < rank; e++)
		if (e != inner && m->subscript[e].coefficient[d])
			return 1;
	int64_t w = choose_least(beside ? beside : m->shape->stmt->dim[d].layout.vector, c->language->max_vector);
	int64_t most = c->language->max_bytes > 0 ? c->language->max_bytes / heddle_type_size(m->tensor->type) : w;
	while (w > 1 && w > most)
		w /= 2;
	if (c->language->unaligned)
		return w;
	/* everything else in the address goes in steps of the vector; else neighbours that stand together are read by narrower ones */
	const bool narrower = !m->write && (m->tile || c->kernel->threads > 1);
	for (; w > 1; w = narrower ? w / 2 : 1) {
		bool aligned =
			m->tile ? count_tile_begin(m, inner, w, member) == 0 : count_rows_begin(m, inner, w, member) == 0;
		for (int o = 0; o < m->shape->stmt->n_dim; o++)
			if (o != d && m->subscript[inner].coefficient[o] && !(m->tile && m->shape->stmt->dim[o].layout.tile == 1))
				aligned = aligned && (m->subscript[inner].coefficient[o] * m->shape->stmt->dim[o].layout.vector) % (w * step) == 0;
		if (aligned && (m->tile || m->subscript[inner].multiple % w == 0))
			return w;
		if (member && begins_for_all(c, m, inner, d, w, member))
			return w;
	}
	return 1;
}

int64_t count_access_width(const counter *c, const movement *m)
{
	return count_member_width(c, m, NULL);
}

/* ---- what is unrolled --------------------------------------------------------------------------------------------------- */

bool count_indexes_registers(const counter *c, const heddle_stmt *stmt, int d)
{
	bool any = stmt->reduction;
	for (int a = 0; a < stmt->n_access && !any; a++) {
		const heddle_access *access = &stmt->access[a];
		for (int e = 0; access->group && access->group->space == HEDDLE_SPACE_REGISTER && e < access->tensor->rank; e++) {
			const linear at = count_linear(c, count_subscript(stmt, access, e));
			any = any || at.coefficient[d] || at.within[d];
		}
	}
	return any;
}

/* Does the statement read the rows of a shared tile along dimension d? */
static bool reads_tiles_along(const counter *c, const heddle_stmt *stmt, int d)
{
	for (int a = 0; a < stmt->n_access; a++) {
		const heddle_access *access = &stmt->access[a];
		if (!access->group || access->group->space != HEDDLE_SPACE_SHARED || !access->tensor->rank)
			continue;
		const linear at = count_linear(c, count_subscript(stmt, access, heddle_tile_array_row(access->group)));
		if (at.coefficient[d] || at.within[d])
			return true;
	}
	return false;
}

bool count_own_results(const heddle_kernel *kernel)
{
	for (int k = 0; k < kernel->n_stmt && kernel->lanes > 1; k++)
		for (int d = 0; d < kernel->stmt[k]->n_dim; d++)
			if (kernel->stmt[k]->dim[d].member < 0 && !kernel->stmt[k]->dim[d].reduction)
				return true;
	return false;
}

bool count_along_target(const counter *c, const heddle_stmt *stmt, int d)
{
	const int row = heddle_tensor_inner(stmt->access[0].tensor);
	return row >= 0 && count_linear(c, count_subscript(stmt, &stmt->access[0], row)).coefficient[d] != 0;
}

/* Does one take a whole vector of a shared tile? */
static bool reads_tile_vectors(const counter *c, const shape *s)
{
	const heddle_stmt *stmt = s->stmt;
	for (int a = 1; a < stmt->n_access; a++) {
		const heddle_access *access = &stmt->access[a];
		movement m = {.shape = s, .tensor = access->tensor, .tile = access->group, .write = true};
		if (!m.tensor->rank || !access->affine || access->group->space != HEDDLE_SPACE_SHARED)
			continue;
		m.subscript = count_subscripts(c, stmt, access);
		for (int k = 0; k < stmt->n_dim; k++)
			m.dims[k] = true;
		if (count_access_width(c, &m) > 1)
			return true;
	}
	return false;
}

/* Does one access take a whole vector? */
static bool has_vectors(const counter *c, const shape *s)
{
	const heddle_stmt *stmt = s->stmt;
	for (int a = 0; a < stmt->n_access; a++) {
		movement m = {.shape = s, .tensor = stmt->access[a].tensor, .write = true};
		if (!m.tensor->rank || !stmt->access[a].affine || stmt->access[a].group->space != HEDDLE_SPACE_GLOBAL)
			continue;
		m.subscript = count_subscripts(c, stmt, &stmt->access[a]);
		for (int k = 0; k < stmt->n_dim; k++)
			m.dims[k] = true;
		if (count_access_width(c, &m) > 1)
			return true;
	}
	return false;
}

/* Of many threads, whose lockstep's loop has no vectors, it stays a loop, and the first one inside of it that has some runs in lockstep instead; -1:
 * there is none. */
static int inner_vectors(const counter *c, shape *s)
{
	const heddle_stmt *stmt = s->stmt;
	const int lockstep = heddle_lockstep_dim(stmt, NULL);
	s->inner = -1;
	if (s->alone || lockstep < 0 || stmt->dim[lockstep].reduction || has_vectors(c, s) || reads_tile_vectors(c, s))
		return -1;
	for (int d = 0; d < stmt->n_dim; d++) {
		if (d == lockstep || stmt->dim[d].reduction || stmt->dim[d].layout.vector == 1)
			continue;
		s->inner = d;
		if (has_vectors(c, s) || reads_tile_vectors(c, s))
			return d;
	}
	return -1;
}

/* Are the members of a vector stored one by one, each under a guard of its own? */
bool count_lanes_apart(const counter *c, const shape *s)
{
	const int d = heddle_lockstep_dim(s->stmt, NULL);
	const bool kept = s->stmt->access[0].group->space == HEDDLE_SPACE_REGISTER && !count_own_results(c->kernel);
	return d >= 0 && !kept && is_guarded(s->stmt, d) && !has_vectors(c, s);
}

/* Nodes of the program that calls take where all of `members` stand, 4 for each member of a dimension that it depends on. */
static double length_of_calls(const heddle_stmt *stmt, const heddle_expr *expr, int vectors, int64_t members)
{
	double n = 0;
	if (expr->kind == HEDDLE_EXPR_CALL) {
		bool within[HEDDLE_MAX_DIM] = {0};
		mark(expr, within);
		n = 4 * (double)(vectors >= 0 && within[vectors] ? members : 1);
	}
	for (int i = 0; i < expr->n_arg; i++)
		n += length_of_calls(stmt, expr->arg[i], vectors, members);
	return n;
}

/* Does the value read it for a second time? */
static bool is_second(const counter *c, const heddle_stmt *stmt, int a)
{
	int before = 0;
	for (int b = 1; b < a; b++)
		before += count_the_same(c, stmt, a, stmt, b, false);
	return before == 1;
}

/* Vectors that have a name: what is read more than once; of many threads all, who compute with their members one by one, or store them so. */
static double vectors_with_names(const counter *c, const shape *s, bool stored)
{
	const heddle_stmt *stmt = s->stmt;
	double n = 0;
	for (int a = 1; a < stmt->n_access && !(stored && stmt->value->kind == HEDDLE_EXPR_READ); a++) {
		const heddle_access *access = &stmt->access[a];
		movement m = {.shape = s, .tensor = access->tensor, .write = true};
		if (!access->tensor->rank || !access->affine || access->group->space != HEDDLE_SPACE_GLOBAL)
			continue;
		m.subscript = count_subscripts(c, stmt, access);
		for (int d = 0; d < stmt->n_dim; d++)
			m.dims[d] = true;
		n += count_access_width(c, &m) > 1 && (!s->alone || is_second(c, stmt, a));
	}
	return n;
}

/* Nodes of the program that one vector of results takes, or one result where there are no vectors: results that lie apart are stored one by
 * one, the vector having a name; each may have a guard. */
static double length_of_body(const counter *c, const shape *s, int vectors, bool wide)
{
	const heddle_stmt *stmt = s->stmt;
	movement m = {.shape = s, .tensor = stmt->access[0].tensor, .write = true};
	for (int d = 0; d < stmt->n_dim; d++)
		m.dims[d] = true;
	const int64_t members = wide ? choose_least(stmt->dim[vectors].layout.vector, c->language->max_vector) : 1;
	const double calls = length_of_calls(stmt, stmt->value, vectors, members);
	if (!wide)
		return calls + 1;
	m.subscript = count_subscripts(c, stmt, &stmt->access[0]);
	const bool stored = count_access_width(c, &m) > 1;
	return calls + vectors_with_names(c, s, stored) + (stored ? 1 : s->alone + (double)members);
}

/* A loop of n rounds around a body of `size` nodes; does it become their copies? */
static bool around(double *size, double n)
{
	const bool unrolled = n <= 1 || *size * n <= MOST_UNROLLED;
	*size = n > 1 ? (1 + *size) * n : *size;
	return unrolled;
}

/* Reductions that are not shared by lanes and are no windows run their items one after another; so do others that index
 * no registers and would become long, and those that go over their tile in rounds without a sum.  Members are inside,
 * those that run in lockstep around the others; one thread takes the items of vectors inside of the others' items.
 * Around a body of `size` nodes.  `asked`: which dimensions there are conditions on; those on dimensions that are a loop inside of a block stand in it.
 * `single`: a dimension of which there is one value, -1: none.  `unrolled`: windows are. */
static void unroll(const counter *c, const shape *s, double size, bool wide, const bool *asked, int single, bool unrolled[HEDDLE_MAX_DIM],
		   double parts[HEDDLE_MAX_DIM])
{
	enum { MOST_MEMBERS = 16, MOST_LANES = 8 };
	const heddle_stmt *stmt = s->stmt;
	const int lockstep = heddle_lockstep_dim(stmt, NULL), vectors = vectors_dim(s, NULL);
	/* lanes beside vectors of results are copies around all items of those */
	const bool beside = c->kernel->threads == 1 && lockstep >= 0 && !stmt->dim[lockstep].reduction;
	bool rounds = false;
	for (int d = 0; d < stmt->n_dim; d++) {
		rounds = rounds || stmt->dim[d].layout.rounds > 1;
		parts[d] = 1;
		/* many threads have lanes one by one, inside of all */
		if (stmt->dim[d].reduce == HEDDLE_REDUCE_LANES && (c->kernel->threads > 1 || (d != lockstep && !beside)))
			around(&size, (double)stmt->dim[d].layout.vector);
	}
	for (int inside = 1; inside >= 0; inside--)
		for (int d = stmt->n_dim - 1; d >= 0; d--) {
			const heddle_dim *dim = &stmt->dim[d];
			if (dim->reduction || inside != (d != lockstep))
				continue;
			const double n = ceil((double)dim->layout.vector /
					      (d == vectors && wide ? (double)c->language->max_vector : 1));
			/* one by one: so many at most, but inside of vectors; or what indexes registers */
			const bool few = n <= MOST_MEMBERS || (wide && d != lockstep);
			const bool registers = count_indexes_registers(c, stmt, d) || reads_tiles_along(c, stmt, d);
			size += asked[d] && count_is_inner(stmt, d) && dim->layout.vector > 1 && !(d == vectors && wide);
			parts[d] = ((few || registers) && around(&size, n)) || registers ? 1 : n;
		}
	for (int inside = 1; inside >= 0; inside--)
		for (int d = stmt->n_dim - 1; d >= 0; d--) {
			const heddle_dim *dim = &stmt->dim[d];
			if (!dim->reduction && inside == (c->kernel->threads == 1 && dim->layout.vector > 1)) {
				size += asked[d] && d != single && count_is_inner(stmt, d) && dim->layout.items > 1 && dim->layout.vector == 1;
				unrolled[d] = (around(&size, d == single ? 1 : (double)dim->layout.items) && !rounds) ||
					      count_indexes_registers(c, stmt, d) || reads_tiles_along(c, stmt, d);
			}
		}
	for (int d = 0; d < stmt->n_dim; d++)
		if (stmt->dim[d].reduce == HEDDLE_REDUCE_LANES && beside)
			around(&size, (double)stmt->dim[d].layout.vector);
	for (int d = stmt->n_dim - 1; d >= 0; d--) { /* around all results: lanes */
		const heddle_dim *dim = &stmt->dim[d];
		if (dim->reduce != HEDDLE_REDUCE_LANES || dim->layout.items > MOST_LANES || unrolled[d])
			continue;
		double inside = size + asked[d];
		for (int o = d + 1; o < stmt->n_dim; o++) /* loops over other terms */
			inside += stmt->dim[o].reduction && !unrolled[o] && stmt->dim[o].layout.items > 1;
		unrolled[d] = around(&inside, (double)dim->layout.items) || reads_tiles_along(c, stmt, d);
		size = unrolled[d] ? inside : size;
	}
}

/* Nodes more where something is asked: conditions on what blocks have, and the loop over what is left of a vector. */
static double length_of_conditions(const counter *c, const heddle_stmt *stmt, int vectors, const bool *asked, bool edge)
{
	const bool cut = vectors >= 0 && asked[vectors] && is_guarded(stmt, vectors) && (c->kernel->threads == 1 || !stmt->reduction);
	bool others = false;
	for (int d = 0; d < stmt->n_dim; d++)
		others = others || (d != vectors && asked[d] && !stmt->dim[d].reduction && !count_is_inner(stmt, d));
	return cut ? 3 + (edge && others) + length_of_calls(stmt, stmt->value, vectors, 1) : edge;
}

/* Nodes more where one thread's terms are lanes of vectors of which the last one is known not to be filled, or at an `edge` may not be: it is gone
 * through one by one. */
static double length_of_terms(const counter *c, const heddle_stmt *stmt, bool edge)
{
	enum { LAST_ONE = 6 };
	const int lockstep = heddle_lockstep_dim(stmt, NULL);
	if (c->kernel->threads > 1 || lockstep < 0 || !stmt->dim[lockstep].reduction)
		return 0;
	const int64_t v = stmt->dim[lockstep].layout.vector;
	return heddle_fixed_extent(stmt->source->index[lockstep]->upper) % v || (edge && !choose_divisible(stmt, lockstep, v)) ? LAST_ONE : 0;
}

bool count_any_whole(const shape *s)
{
	bool any = true;
	for (int d = 0; d < s->stmt->n_dim; d++) {
		const heddle_layout *layout = &s->stmt->dim[d].layout;
		const int64_t known = heddle_fixed_extent(s->stmt->source->index[d]->upper);
		if (s->stmt->dim[d].member >= 0 && known > 0 && known < layout->tile)
			any = any && layout->threads == 1 && known % layout->vector == 0;
	}
	return any;
}

/* How the text of a statement's body is written out, as a block has it that lacks nothing, or of which some is asked for; [n_dim] each. */
typedef struct written_out {
	bool unrolled[HEDDLE_MAX_DIM];
	double parts[HEDDLE_MAX_DIM];
} written_out;

/* `asked`: which dimensions there are conditions on, NULL: on none; `edge`: on those of blocks, too. */
static written_out write_out(const counter *c, const shape *s, const bool *asked, bool edge, int single)
{
	const int vectors = vectors_dim(s, NULL), n = s->stmt->n_dim;
	const bool nothing[HEDDLE_MAX_DIM] = {false};
	written_out w;
	for (int d = 0; d < n; d++)
		w.unrolled[d] = s->stmt->dim[d].reduction && heddle_is_window(s->stmt, d);
	const bool results = vectors >= 0 && vectors != single && !s->stmt->dim[vectors].reduction, wide = results && has_vectors(c, s);
	const bool lanes = s->alone && vectors >= 0 && !results; /* of one thread: what is read twice has a name, too */
	const double size = length_of_body(c, s, results ? vectors : -1, wide) + (lanes ? vectors_with_names(c, s, false) : 0);
	if (!asked) {
		unroll(c, s, size + length_of_terms(c, s->stmt, false), wide, nothing, single, w.unrolled, w.parts);
		return w;
	}
	/* around members that many threads ask one by one nothing is a vector, but what goes along the results' rows and is asked whether it is whole */
	const bool whole = wide && goes_along(&s->stmt->access[0], vectors) && is_guarded(s->stmt, vectors);
	bool apart = false;
	for (int d = 0; d < n; d++)
		apart = apart || (c->kernel->threads > 1 && wide && s->inner < 0 && d != vectors && !whole && asked[d] && !s->stmt->dim[d].reduction && is_guarded(s->stmt, d));
	const double body = apart ? length_of_body(c, s, vectors, false) : size;
	const double more = length_of_terms(c, s->stmt, true) + length_of_conditions(c, s->stmt, results && wide ? vectors : -1, asked, edge);
	unroll(c, s, body + more, wide && !apart, asked, single, w.unrolled, w.parts);
	return w;
}

static void find_unrolled(const counter *c, shape *s)
{
	const int vectors = vectors_dim(s, NULL);
	const bool results = vectors >= 0 && !s->stmt->dim[vectors].reduction;
	/* results that are stored one by one, of no vector in a register either */
	const bool singles = results && !has_vectors(c, s) && !s->stmt->reduction && s->stmt->access[0].group->space == HEDDLE_SPACE_GLOBAL &&
			     !(s->alone && count_indexes_registers(c, s->stmt, vectors));
	s->width = vectors < 0 ? 0 : singles ? 1 : choose_least(s->stmt->dim[vectors].layout.vector, c->language->max_vector);
	bool asked[HEDDLE_MAX_DIM] = {false};
	for (int d = 0; d < s->stmt->n_dim; d++)
		asked[d] = !choose_divisible(s->stmt, d, s->stmt->dim[d].layout.tile);
	const written_out whole = write_out(c, s, NULL, false, -1), edge = write_out(c, s, asked, true, -1);
	const bool apart = count_any_whole(s);
	for (int d = 0; d < s->stmt->n_dim; d++) {
		s->d[d].parts = apart ? whole.parts[d] : edge.parts[d];
		s->d[d].unrolled = apart ? whole.unrolled[d] : edge.unrolled[d];
		s->d[d].copied = edge.unrolled[d];
		s->d[d].parts_at_edges = edge.parts[d];
	}
}

shape count_shape_inside(const counter *c, const shape *s, const bool *asked, int single)
{
	shape inside = *s;
	for (int d = 0; d < s->stmt->n_dim; d++)
		inside.d[d].parts = 1; /* those ask that look for vectors */
	const written_out w = write_out(c, &inside, asked, false, single);
	for (int d = 0; d < s->stmt->n_dim; d++) {
		inside.d[d].parts = inside.d[d].parts_at_edges = w.parts[d];
		inside.d[d].unrolled = inside.d[d].copied = w.unrolled[d];
	}
	if (single >= 0) {
		inside.width = single == vectors_dim(s, NULL) ? 1 : inside.width;
		inside.d[single].items = inside.d[single].members = 1;
	}
	return inside;
}

/* May the statement run for results along d that do not exist (heddle_nest_harmless)?  What it reads along d is in
 * tiles, which have zeros there. */
static bool is_harmless(const counter *c, const heddle_stmt *stmt, int d)
{
	bool all = true, any = false;
	const bool guarded = stmt->value != stmt->source->value;
	if (!stmt->reduction || stmt->dim[d].member < 0 || (guarded && count_guards(stmt, d)))
		return false;
	for (int a = 1; a < stmt->n_access; a++) {
		const heddle_access *access = &stmt->access[a];
		const bool shared = access->group->space == HEDDLE_SPACE_SHARED;
		const bool asked = access->expr && !count_is_read_anyway(stmt, access->expr);
		for (int e = 0; e < access->tensor->rank && (!shared || asked); e++) {
			const linear at = count_linear(c, count_subscript(stmt, access, e));
			if (!access->affine || at.coefficient[d] || at.within[d])
				return false;
		}
		if (asked && count_read_asks(stmt, access->expr, d))
			return false;
		all = all && shared;
		any = any || shared;
	}
	for (int o = 0; o < stmt->n_dim && (guarded || !all); o++)
		if (o != d && (choose_mentions(stmt->source->index[o]->upper, d) ||
			       choose_mentions(stmt->source->index[o]->lower, d)))
			return false;
	return any;
}

/* ---- shapes
 * ----------------------------------------------------------------------------------------------------------- */

bool count_splits_rounds(const shape *s)
{
	bool split = true;
	for (int d = 0; d < s->stmt->n_dim; d++) {
		const heddle_layout *layout = &s->stmt->dim[d].layout;
		split = split && (s->stmt->dim[d].member < 0 || layout->rounds > 1 || layout->tile == 1 || s->d[d].harmless);
	}
	return split;
}

static shape new_shape(const counter *c, const heddle_stmt *stmt)
{
	shape s = {.stmt = stmt,
		   .alone = c->kernel->threads == 1,
		   .inner = -1,
		   .rectangular = isl_set_plain_is_equal(stmt->domain, stmt->all) == isl_bool_true};
	s.guarded = count_guarded(c, stmt, NULL);
	for (int d = 0; d < stmt->n_dim; d++) {
		const heddle_index *index = stmt->source->index[d];
		const heddle_layout *layout = &stmt->dim[d].layout;
		const bool moves = count_moves(c, stmt, d);
		s.d[d].harmless = is_harmless(c, stmt, d);
		const count_ends box = count_box(c, stmt, d);
		s.rectangular = s.rectangular && !moves;
		s.d[d].extent = box.upper < box.lower ? 0 : box.upper - box.lower;
		double tiles = ceil((double)s.d[d].extent / (double)layout->tile);
		int64_t rest = s.d[d].extent - ((int64_t)tiles - 1) * layout->tile;
		s.d[d].outer = stmt->dim[d].member < 0 && (moves || stmt->dim[d].reduction) ? count_rounds(c, stmt, d, NULL, NULL) : tiles;
		const double values = moves ? count_mean(c, stmt, d) : (double)s.d[d].extent;
		s.d[d].share = tiles > 0 && s.d[d].outer > 0 ? values / (s.d[d].outer * (double)layout->tile) : 0;
		int64_t busy = choose_least(layout->threads, (rest + layout->vector - 1) / layout->vector);
		s.d[d].items = layout->items;
		s.d[d].members = layout->vector;
		/* loops go as far as is known to be needed */
		int64_t lower = 0;
		const int64_t known = heddle_expr_evaluate(index->lower, NULL, &lower) < 0 ? 0 : heddle_fixed_extent(index->upper) - lower;
		if (!moves && !s.d[d].harmless && layout->threads == 1 && layout->rounds == 1 && known > 0 && known < layout->tile) {
			s.d[d].items = (known + layout->vector - 1) / layout->vector;
			s.d[d].members = c->kernel->threads > 1 ? choose_least(layout->vector, known) : layout->vector;
			s.d[d].share = (double)known / (double)(s.d[d].items * s.d[d].members);
		}
		s.d[d].busy = tiles > 0 ? (tiles - 1 + (double)busy / (double)layout->threads) / tiles : 0;
	}
	const bool split = count_splits_rounds(&s); /* of those that do not stand apart nothing is harmless */
	for (int d = 0; d < stmt->n_dim; d++) {
		s.d[d].harmless = s.d[d].harmless && (split || stmt->dim[d].layout.rounds == 1);
		s.d[d].at_once = 1;
		s.d[d].parts = 1; /* those ask that look for vectors */
	}
	s.inner = inner_vectors(c, &s);
	const int vectors = s.alone ? vectors_dim(&s, NULL) : -1;
	if (vectors >= 0 && !stmt->dim[vectors].reduction && s.d[vectors].extent >= choose_least(s.d[vectors].members, c->language->max_vector))
		s.d[vectors].at_once = choose_least(stmt->dim[vectors].layout.vector, c->language->max_vector);
	find_unrolled(c, &s);
	return s;
}

shape count_shape(const counter *c, const heddle_stmt *stmt)
{
	int at = 0;
	while (c->shapes && at < c->kernel->n_stmt && c->kernel->stmt[at] != stmt)
		at++;
	if (!c->shapes || at == c->kernel->n_stmt)
		return new_shape(c, stmt);
	if (!c->shapes[at].stmt)
		c->shapes[at] = new_shape(c, stmt);
	return c->shapes[at];
}
