/* Dimensions that all subscripts address as factor * high + low, the factor a size that is not known, become two.
 *
 *   y(n, P * g + c) = x(n, P * g + c)      becomes      y(n, g, c) = x(n, g, c)
 *
 * so that what is not affine over sizes and indices is affine over indices.  The tensors that the caller passes stay as they are: each
 * new one names the tensor that it stands for, and `generate` makes one subscript of the two again.
 * SPDX-License-Identifier: MIT
 */
#include "model/rewrite_parts.h"

#include <string.h>

typedef struct unflatten {
	rewriter r;
	const heddle_definition *definition;
	heddle_tensor **by; /* by tensor position: the new tensor; NULL: it stays */
} unflatten;

/* The subscripts of the new tensor, of those of the old one. */
static heddle_expr **subscripts(unflatten *u, const heddle_tensor *new, heddle_expr *const *old)
{
	heddle_expr **out = HEDDLE_NEW_ARRAY(u->r.arena, heddle_expr *, new->rank);
	int n = 0;
	for (int d = 0; d < new->flat->rank; d++) {
		heddle_digits digits;
		const bool two = new->factor[n] && heddle_expr_digits(u->r.arena, old[d], &digits);
		out[n++] = two ? digits.high : old[d];
		if (two)
			out[n++] = digits.low;
	}
	return out;
}

static heddle_expr *replaced(unflatten *u, const heddle_expr *e)
{
	heddle_expr *copy = HEDDLE_NEW(u->r.arena, heddle_expr);
	*copy = *e;
	copy->arg = e->n_arg ? HEDDLE_NEW_ARRAY(u->r.arena, heddle_expr *, e->n_arg) : NULL;
	for (int i = 0; i < e->n_arg; i++)
		copy->arg[i] = replaced(u, e->arg[i]);
	if (e->kind != HEDDLE_EXPR_READ || !u->by[e->tensor->position])
		return copy;
	heddle_expr *read = rewrite_read(&u->r, u->by[e->tensor->position], subscripts(u, u->by[e->tensor->position], copy->arg));
	read->location = e->location;
	return read;
}

/* What the upper digits are below, over all accesses of the dimension. */
static heddle_expr *extent_of_digits(unflatten *u, const heddle_expr *e, const heddle_tensor *tensor, int d, heddle_expr *extent)
{
	heddle_digits digits;
	for (int i = 0; i < e->n_arg; i++)
		extent = extent_of_digits(u, e->arg[i], tensor, d, extent);
	if (e->kind != HEDDLE_EXPR_READ || e->tensor != tensor || !heddle_expr_digits(u->r.arena, e->arg[d], &digits))
		return extent;
	heddle_expr *end = digits.high->index->upper;
	return !extent || heddle_expr_equal(extent, end) ? end : rewrite_binary(&u->r, HEDDLE_OP_MAX, extent, end);
}

static heddle_expr *upper_extent(unflatten *u, const heddle_tensor *tensor, int d)
{
	heddle_expr *extent = NULL;
	for (int i = 0; i < u->definition->n_statement; i++) {
		const heddle_statement *st = u->definition->statement[i];
		heddle_expr target = {.kind = HEDDLE_EXPR_READ, .tensor = st->target, .n_arg = st->n_lhs, .arg = st->lhs};
		extent = extent_of_digits(u, &target, tensor, d, extent);
		extent = extent_of_digits(u, st->value, tensor, d, extent);
	}
	return extent;
}

/* The elements between neighbours in dimension `d`. */
static heddle_expr *stride_of(unflatten *u, const heddle_tensor *tensor, int d)
{
	if (tensor->stride)
		return tensor->stride[d];
	heddle_expr *stride = rewrite_int(&u->r, 1);
	for (int e = tensor->rank - 1; e > d; e--)
		stride = rewrite_binary(&u->r, HEDDLE_OP_MUL, tensor->extent[e], stride);
	return stride;
}

/* The tensor with two dimensions for each that has a factor; NULL: none has. */
static heddle_tensor *in_digits(unflatten *u, const heddle_tensor *tensor)
{
	heddle_expr **factor = HEDDLE_NEW_ARRAY(u->r.arena, heddle_expr *, tensor->rank + 1);
	int more = 0, n = 0;
	for (int d = 0; d < tensor->rank; d++) {
		if (heddle_digits_factor(u->r.arena, u->definition, tensor, d, &factor[d]))
			factor[d] = NULL; /* read by other subscripts, too: by data, then */
		more += factor[d] != NULL;
	}
	if (!more)
		return NULL;
	heddle_tensor *new = HEDDLE_NEW(u->r.arena, heddle_tensor);
	*new = *tensor;
	new->flat = tensor;
	new->rank = tensor->rank + more;
	new->extent = HEDDLE_NEW_ARRAY(u->r.arena, heddle_expr *, new->rank);
	new->stride = HEDDLE_NEW_ARRAY(u->r.arena, heddle_expr *, new->rank);
	new->factor = HEDDLE_NEW_ARRAY(u->r.arena, heddle_expr *, new->rank);
	for (int d = 0; d < tensor->rank; d++) {
		heddle_expr *stride = stride_of(u, tensor, d);
		if (factor[d]) {
			new->factor[n] = factor[d];
			new->extent[n] = upper_extent(u, tensor, d);
			new->stride[n++] = rewrite_binary(&u->r, HEDDLE_OP_MUL, factor[d], stride);
		}
		new->extent[n] = factor[d] ? factor[d] : tensor->extent[d];
		new->stride[n++] = stride;
	}
	return new;
}

const heddle_definition *heddle_definition_unflatten(heddle_ctx *ctx, heddle_arena *arena, const heddle_definition *definition)
{
	heddle_definition *out = HEDDLE_NEW(arena, heddle_definition);
	unflatten u = {.r = {ctx, arena, out}, .definition = definition};
	bool any = false;
	*out = *definition;
	u.by = HEDDLE_NEW_ARRAY(arena, heddle_tensor *, definition->n_tensor + 1);
	out->tensor = HEDDLE_NEW_ARRAY(arena, heddle_tensor *, definition->n_tensor + 1);
	out->statement = HEDDLE_NEW_ARRAY(arena, heddle_statement *, definition->n_statement + 1);
	for (int i = 0; i < definition->n_tensor; i++) {
		u.by[i] = in_digits(&u, definition->tensor[i]);
		out->tensor[i] = u.by[i] ? u.by[i] : definition->tensor[i];
		any = any || u.by[i];
	}
	if (!any)
		return definition;
	for (int i = 0; i < definition->n_statement; i++) {
		heddle_statement *st = HEDDLE_NEW(arena, heddle_statement);
		*st = *definition->statement[i];
		heddle_tensor *target = u.by[st->target->position];
		if (target) {
			st->lhs = subscripts(&u, target, st->lhs);
			st->n_lhs = target->rank;
			st->target = target;
		}
		st->value = replaced(&u, st->value);
		out->statement[i] = st;
	}
	return out;
}
