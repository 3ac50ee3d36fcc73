/* A kernel's subscripts, ranges and operators as numbers, for the closed form.
 * SPDX-License-Identifier: MIT
 */
#include "cost/footprint.h"

#include <limits.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct builder {
	heddle_arena *arena;
	heddle_scop *scop;
	heddle_kernel *kernel;
	const int64_t *size;
	heddle_outline *out;
} builder;

bool heddle_factors(const heddle_expr *expr, int64_t by, int64_t *factor)
{
	switch (expr->kind) {
	case HEDDLE_EXPR_CAST:
		return heddle_factors(expr->arg[0], by, factor);
	case HEDDLE_EXPR_INT:
	case HEDDLE_EXPR_SIZE:
		return true;
	case HEDDLE_EXPR_INDEX:
		factor[expr->index->position] += by;
		return true;
	case HEDDLE_EXPR_BINARY:
		if (expr->op == HEDDLE_OP_ADD || expr->op == HEDDLE_OP_SUB)
			return heddle_factors(expr->arg[0], by, factor) &&
			       heddle_factors(expr->arg[1], expr->op == HEDDLE_OP_SUB ? -by : by, factor);
		for (int i = 0; i < 2 && expr->op == HEDDLE_OP_MUL; i++)
			if (expr->arg[i]->kind == HEDDLE_EXPR_INT)
				return heddle_factors(expr->arg[1 - i], by * expr->arg[i]->i, factor);
		return !heddle_expr_has_index(expr);
	default:
		return !heddle_expr_has_index(expr);
	}
}

/* The dimensions whose indices are in the expression. */
static unsigned mask_of(const heddle_expr *expr)
{
	unsigned mask = expr->kind == HEDDLE_EXPR_INDEX ? 1u << expr->index->position : 0;
	for (int i = 0; i < expr->n_arg; i++)
		mask |= mask_of(expr->arg[i]);
	return mask;
}

static int64_t value_of(const builder *b, const heddle_expr *expr)
{
	int64_t value;
	const bool known = heddle_expr_evaluate(expr, b->size, &value) == 0;
	value = known ? value : heddle_scop_estimate(b->scop, expr);
	return value > 0 ? value : 0;
}

/* ---- accesses ---------------------------------------------------------------------------------------------------- */

/* Elements, a power of two, of which the tensor's rows begin at multiples. */
static int row_alignment(const heddle_tensor *tensor, int row)
{
	enum { MOST = 64 };
	int unit = 1;
	for (bool good = row >= 0; good && unit < MOST; unit *= good ? 2 : 1) {
		if (!tensor->stride)
			good = heddle_extent_multiple(tensor->extent[tensor->rank - 1], 2 * unit);
		for (int e = 0; e < tensor->rank && tensor->stride; e++)
			good = good && (e == row || heddle_extent_multiple(tensor->stride[e], 2 * unit));
	}
	return unit;
}

bool heddle_stride_known(const heddle_tensor *tensor, int e)
{
	bool known = !tensor->stride || heddle_fixed_extent(tensor->stride[e]) > 0;
	for (int f = e + 1; f < tensor->rank && !tensor->stride && known; f++)
		known = heddle_fixed_extent(tensor->extent[f]) > 0;
	return known;
}

static void take_access(builder *b, const heddle_stmt *stmt, const heddle_access *access, heddle_outline_access *a)
{
	const heddle_tensor *tensor = access->tensor;
	heddle_expr *const *subscript = access->expr ? access->expr->arg : stmt->source->lhs;
	const int64_t at_0[HEDDLE_MAX_DIM] = {0};
	double stride = heddle_type_size(tensor->type);
	int64_t first;
	*a = (heddle_outline_access){
		.access = access, .group = -1, .rank = tensor->rank, .bytes = stride, .affine = access->affine};
	a->row = tensor->rank ? heddle_tensor_inner(tensor) : -1;
	a->aligned = row_alignment(tensor, a->row);
	a->size = a->bytes;
	for (int e = tensor->rank - 1; e >= 0; e--) {
		a->extent[e] = value_of(b, tensor->extent[e]);
		a->stride[e] = tensor->stride ? a->bytes * (double)value_of(b, tensor->stride[e]) : stride;
		stride *= (double)a->extent[e];
		a->size += a->stride[e] * (double)(a->extent[e] > 0 ? a->extent[e] - 1 : 0);
		a->mask |= mask_of(subscript[e]);
		if (heddle_expr_evaluate_at(subscript[e], b->size, at_0, &a->first[e]) < 0)
			a->first[e] = 1;
		a->affine = heddle_factors(subscript[e], 1, a->factor[e]) && a->affine;
		for (int d = 0; d < stmt->n_dim; d++) {
			a->step[d] += (double)a->factor[e][d] * a->stride[e];
			a->unknown |= a->factor[e][d] && !heddle_stride_known(tensor, e) ? 1u << d : 0;
		}
	}
	bool fixed = true; /* else sizes say where a subscript begins */
	for (int e = 0; e < tensor->rank && fixed; e++)
		fixed = heddle_expr_evaluate_at(subscript[e], NULL, at_0, &first) == 0;
	a->boxed = a->affine && (fixed || heddle_access_is_uniform(access));
}

static void take_accesses(builder *b, heddle_outline_stmt *s)
{
	s->n_access = s->stmt->n_access;
	s->access = HEDDLE_NEW_ARRAY(b->arena, heddle_outline_access, s->n_access);
	for (int i = 0; i < s->n_access; i++) {
		take_access(b, s->stmt, &s->stmt->access[i], &s->access[i]);
		for (int j = 1; j < i; j++)
			s->access[i].again = s->access[i].again ||
					     heddle_expr_equal(s->stmt->access[i].expr, s->stmt->access[j].expr);
	}
}

/* ---- operators --------------------------------------------------------------------------------------------------- */

static bool is_power_of_two(const heddle_expr *expr)
{
	int exponent;
	while (expr->kind == HEDDLE_EXPR_CAST)
		expr = expr->arg[0];
	const double value = expr->kind == HEDDLE_EXPR_INT     ? (double)expr->i
			     : expr->kind == HEDDLE_EXPR_FLOAT ? expr->f
							       : 0;
	return value != 0 && fabs(frexp(value, &exponent)) == 0.5;
}

/* What kind of instruction the node becomes; HEDDLE_N_INSTRUCTION: none. */
static heddle_instruction kind_of(const heddle_expr *expr)
{
	const bool floats = heddle_type_is_float(expr->type);
	const bool compares = expr->n_arg > 0 && heddle_type_is_float(expr->arg[0]->type);
	switch (expr->kind) {
	case HEDDLE_EXPR_CALL:
		return !floats                                ? HEDDLE_INSTRUCTION_INTEGER
		       : heddle_builtins[expr->builtin].plain ? HEDDLE_INSTRUCTION_FLOAT
							      : HEDDLE_INSTRUCTION_SPECIAL;
	case HEDDLE_EXPR_SELECT:
	case HEDDLE_EXPR_UNARY:
		return floats || compares ? HEDDLE_INSTRUCTION_FLOAT : HEDDLE_INSTRUCTION_INTEGER;
	case HEDDLE_EXPR_CAST:
		return expr->type == expr->arg[0]->type || expr->arg[0]->kind == HEDDLE_EXPR_INT
			       ? HEDDLE_N_INSTRUCTION
			       : HEDDLE_INSTRUCTION_CONVERT;
	case HEDDLE_EXPR_BINARY:
		if (!floats)
			return compares ? HEDDLE_INSTRUCTION_FLOAT : HEDDLE_INSTRUCTION_INTEGER;
		if (expr->op == HEDDLE_OP_MOD || (expr->op == HEDDLE_OP_DIV && !is_power_of_two(expr->arg[1])))
			return HEDDLE_INSTRUCTION_SPECIAL;
		if (expr->op == HEDDLE_OP_MIN || expr->op == HEDDLE_OP_MAX)
			return HEDDLE_INSTRUCTION_FLOAT;
		return heddle_type_size(expr->type) > 4 ? HEDDLE_INSTRUCTION_FMA64 : HEDDLE_INSTRUCTION_FMA;
	default:
		return HEDDLE_N_INSTRUCTION;
	}
}

static bool is_product(const heddle_expr *expr)
{
	return expr->kind == HEDDLE_EXPR_BINARY && expr->op == HEDDLE_OP_MUL && heddle_type_is_float(expr->type);
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

/* Operators of the expression, one for what stands twice; a product that is added at once has no instruction of its own
 * (`added`). `path`: of the operators so far, from the root. */
static void take_operators(builder *b, heddle_outline_stmt *s, const heddle_expr *expr, bool added, const int *path)
{
	bool met = false;
	int here[HEDDLE_N_INSTRUCTION];
	const heddle_instruction kind = added && is_product(expr) ? HEDDLE_N_INSTRUCTION : kind_of(expr);
	const bool adds = expr->kind == HEDDLE_EXPR_BINARY && (expr->op == HEDDLE_OP_ADD || expr->op == HEDDLE_OP_SUB);
	if (expr->kind == HEDDLE_EXPR_READ || stands_before(expr, s->stmt->value, &met))
		return;
	memcpy(here, path, sizeof(here));
	if (kind != HEDDLE_N_INSTRUCTION) {
		const heddle_outline_operator o = {kind, mask_of(expr), heddle_type_size(expr->type) > 4};
		HEDDLE_PUSH(b->arena, s->operator, s->n_operator, o);
		s->depth[kind] = ++here[kind] > s->depth[kind] ? here[kind] : s->depth[kind];
	}
	for (int i = 0; i < expr->n_arg; i++)
		take_operators(b, s, expr->arg[i], adds && (i == 1 || !is_product(expr->arg[1])), here);
}

static void take_value(builder *b, heddle_outline_stmt *s)
{
	const int none[HEDDLE_N_INSTRUCTION] = {0};
	const heddle_statement *source = s->stmt->source;
	const heddle_type type = heddle_type_computed(source->target->type);
	const bool adds = source->assign == HEDDLE_ASSIGN_ADD;
	take_operators(b, s, s->stmt->value, adds, none);
	s->sum_bytes = heddle_type_size(type);
	s->sum = HEDDLE_N_INSTRUCTION;
	if (source->assign == HEDDLE_ASSIGN_SET)
		return;
	const bool plain = adds || source->assign == HEDDLE_ASSIGN_MUL;
	s->sum = !heddle_type_is_float(type) ? HEDDLE_INSTRUCTION_INTEGER
		 : !plain                    ? HEDDLE_INSTRUCTION_FLOAT
		 : s->sum_bytes > 4          ? HEDDLE_INSTRUCTION_FMA64
					     : HEDDLE_INSTRUCTION_FMA;
	const heddle_outline_operator o = {s->sum, (1u << s->n_dim) - 1, s->sum_bytes > 4};
	HEDDLE_PUSH(b->arena, s->operator, s->n_operator, o);
}

/* ---- guards ------------------------------------------------------------------------------------------------------ */

/* Comparisons that hold together; those of a window, `0 <= h + k - 1`, cut the first or last results off for some
 * terms: half of a vector's end for each but one.  A comparison of results, `s <= t`, makes a triangle. */
static void take_guard(heddle_outline_stmt *s, const heddle_expr *condition)
{
	enum { WINDOW = 16 };
	if (condition->kind == HEDDLE_EXPR_BINARY && condition->op == HEDDLE_OP_AND) {
		take_guard(s, condition->arg[0]);
		take_guard(s, condition->arg[1]);
		return;
	}
	const unsigned mask = mask_of(condition);
	double terms = 1;
	s->n_comparison++;
	if (!(mask & s->reductions) && mask & (mask - 1))
		s->cut |= mask;
	for (int d = 0; d < s->n_dim; d++)
		terms *= (mask & s->reductions) >> d & 1 ? s->extent[d] : 1;
	for (int d = 0; d < s->n_dim && terms > 1; d++)
		if ((mask & ~s->reductions) >> d & 1) {
			s->cuts[d] += terms <= WINDOW ? (terms - 1) / (2 * terms) : 1;
			s->reach[d] += terms <= WINDOW ? ceil((terms - 1) / 2) : s->extent[d];
		}
}

/* ---- statements -------------------------------------------------------------------------------------------------- */

static void take_stmt(builder *b, const heddle_stmt *stmt, heddle_outline_stmt *s)
{
	heddle_outline *out = b->out;
	*s = (heddle_outline_stmt){.stmt = stmt, .n_dim = stmt->n_dim};
	for (int d = 0; d < stmt->n_dim; d++) {
		const heddle_dim *dim = &stmt->dim[d];
		const heddle_index *index = stmt->source->index[d];
		const int64_t extent = value_of(b, index->upper), fixed = heddle_fixed_extent(index->upper);
		int64_t lower;
		const bool from_0 = heddle_expr_evaluate(index->lower, NULL, &lower) == 0 && lower == 0;
		s->extent[d] = extent > 1 ? (double)extent : 1;
		s->known[d] = from_0 && fixed > 0 && fixed < INT_MAX ? (int)fixed : 0;
		s->cut |= mask_of(index->upper) | mask_of(index->lower);
		s->reductions |= (unsigned)dim->reduction << d;
		s->members |= (unsigned)(dim->member >= 0) << d;
		s->ordered |= (unsigned)(!dim->reduction && !dim->coincident) << d;
		s->slot[d] = dim->member >= 0 ? dim->member : out->n_slot < HEDDLE_SLOTS ? out->n_slot++ : -1;
		if (dim->member >= 0)
			out->member_extent[dim->member] = fmax(out->member_extent[dim->member], s->extent[d]);
	}
	s->locals = ((1u << s->n_dim) - 1) & ~s->members;
	take_accesses(b, s);
	take_value(b, s);
	if (stmt->value != stmt->source->value) {
		const heddle_expr *guard = stmt->source->value;
		while (guard->kind == HEDDLE_EXPR_CAST)
			guard = guard->arg[0];
		take_guard(s, guard->arg[0]);
	}
}

static double work_of(const heddle_outline_stmt *s)
{
	double n = 1 + s->n_operator;
	for (int d = 0; d < s->n_dim; d++)
		n *= s->extent[d];
	return n;
}

/* ---- groups ------------------------------------------------------------------------------------------------------ */

static int group_of(builder *b, const heddle_group *group)
{
	for (int g = 0; g < b->kernel->n_group && g < HEDDLE_SPACE_GROUPS; g++)
		if (b->kernel->group[g] == group)
			return g;
	return -1;
}

/* What a statement with steps in order leaves for its next step and for other statements of the kernel stays in registers where they go
 * through the steps together (model/join.c): it counts as scalars. */
static void keep_carried(heddle_outline *out)
{
	for (int g = 0; g < out->n_group; g++) {
		heddle_outline_group *group = &out->group[g];
		if (!group->written || group->used_after || group->uses < 2 || !out->stmt[group->stmt].ordered)
			continue;
		group->uses = 0;
		for (int s = 0; s < out->n_stmt; s++)
			for (int a = 0; a < out->stmt[s].n_access; a++)
				if (out->stmt[s].access[a].group == g) {
					out->stmt[s].access[a].group = -1;
					out->stmt[s].access[a].rank = 0;
					out->stmt[s].access[a].carried = true;
				}
	}
}

/* As pass `place` will number them. */
static void take_groups(builder *b)
{
	heddle_outline *out = b->out;
	if (!b->kernel->n_group)
		heddle_make_groups(b->scop, b->kernel);
	out->n_group = b->kernel->n_group < HEDDLE_SPACE_GROUPS ? b->kernel->n_group : HEDDLE_SPACE_GROUPS;
	out->group = HEDDLE_NEW_ARRAY(b->arena, heddle_outline_group, out->n_group + 1);
	for (int s = 0; s < out->n_stmt; s++)
		for (int a = 0; a < out->stmt[s].n_access; a++) {
			const heddle_group *group = b->kernel->stmt[s]->access[a].group;
			const int g = group_of(b, group);
			if (g < 0 || !group->tensor->rank)
				continue;
			out->stmt[s].access[a].group = g;
			if (!out->group[g].uses++)
				out->group[g] = (heddle_outline_group){.tensor = group->tensor,
								       .number = group->number,
								       .stmt = s,
								       .access = a,
								       .uses = 1};
		}
	for (int g = 0; g < out->n_group; g++) {
		heddle_outline_group *group = &out->group[g];
		if (!group->uses)
			continue;
		group->written = heddle_kernel_writes(b->kernel, group->tensor);
		group->used_after = heddle_used_after(b->scop, b->kernel, group->tensor);
		group->keeps = group->written && heddle_starts_fresh(b->scop, b->kernel, group->tensor);
	}
	keep_carried(out);
}

heddle_outline *heddle_outline_new(heddle_arena *arena, heddle_scop *scop, heddle_kernel *kernel,
				   const heddle_space_language *language, const int64_t *size)
{
	const heddle_descriptor *descriptor = scop->descriptor;
	const heddle_memory *global = heddle_descriptor_memory(descriptor, "global");
	heddle_outline *out = HEDDLE_NEW(arena, heddle_outline);
	builder b = {arena, scop, kernel, size, out};
	*out = (heddle_outline){.scop = scop,
				.kernel = kernel,
				.descriptor = descriptor,
				.language = *language,
				.transfer = heddle_descriptor_transfer(descriptor),
				.simd = descriptor->execution == HEDDLE_SIMD,
				.warp = descriptor->warp.set ? (int)descriptor->warp.value : 1,
				.line = global && global->line.set ? global->line.value : 64,
				.vector_bytes = descriptor->vector_bytes.set ? descriptor->vector_bytes.value : 16,
				.n_member = kernel->n_member,
				.n_slot = kernel->n_member,
				.n_stmt = kernel->n_stmt};
	out->stmt = HEDDLE_NEW_ARRAY(arena, heddle_outline_stmt, out->n_stmt);
	for (int s = 0; s < out->n_stmt; s++) {
		take_stmt(&b, kernel->stmt[s], &out->stmt[s]);
		out->main = work_of(&out->stmt[s]) > work_of(&out->stmt[out->main]) ? s : out->main;
	}
	take_groups(&b);
	out->shape = HEDDLE_NEW_ARRAY(arena, heddle_shape, out->n_stmt);
	return out;
}
