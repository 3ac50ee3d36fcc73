/* Integer expressions over sizes and indices for the oracle: values, hulls, shapes, the cost of an evaluation.
 * SPDX-License-Identifier: MIT
 */
#include "harness/reference_machine.h"

#include <math.h>

/* ---- integer expressions over sizes and indices -------------------------------------------------------------------------- */

static int64_t floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

/* Value of a bound under the current index values; 0, or -1. */
int heddle_oracle_scalar(const heddle_expr *x, const int64_t *size, const int64_t *at, int64_t *r)
{
	int64_t a = 0, b = 0;
	switch (x->kind) {
	case HEDDLE_EXPR_INT:
		*r = x->i;
		return 0;
	case HEDDLE_EXPR_SIZE:
		*r = size[x->size->position];
		return 0;
	case HEDDLE_EXPR_INDEX:
		if (!at)
			return -1;
		*r = at[x->index->position];
		return 0;
	case HEDDLE_EXPR_CAST:
		return heddle_oracle_scalar(x->arg[0], size, at, r);
	case HEDDLE_EXPR_UNARY:
		if (heddle_oracle_scalar(x->arg[0], size, at, &a) < 0)
			return -1;
		*r = x->op == HEDDLE_OP_NEG ? -a : !a;
		return 0;
	case HEDDLE_EXPR_SELECT:
		return heddle_oracle_scalar(x->arg[0], size, at, &a) < 0 ? -1 : heddle_oracle_scalar(x->arg[a ? 1 : 2], size, at, r);
	case HEDDLE_EXPR_BINARY:
		break;
	default:
		return -1;
	}
	if (heddle_oracle_scalar(x->arg[0], size, at, &a) < 0 || heddle_oracle_scalar(x->arg[1], size, at, &b) < 0)
		return -1;
	switch (x->op) {
	case HEDDLE_OP_ADD:
		*r = a + b;
		return 0;
	case HEDDLE_OP_SUB:
		*r = a - b;
		return 0;
	case HEDDLE_OP_MUL:
		*r = a * b;
		return 0;
	case HEDDLE_OP_DIV:
	case HEDDLE_OP_MOD:
		if (!b)
			return -1;
		*r = x->op == HEDDLE_OP_DIV ? floor_div(a, b) : a - b * floor_div(a, b);
		return 0;
	case HEDDLE_OP_MIN:
		*r = a < b ? a : b;
		return 0;
	case HEDDLE_OP_MAX:
		*r = a > b ? a : b;
		return 0;
	case HEDDLE_OP_LT:
		*r = a < b;
		return 0;
	case HEDDLE_OP_LE:
		*r = a <= b;
		return 0;
	case HEDDLE_OP_GT:
		*r = a > b;
		return 0;
	case HEDDLE_OP_GE:
		*r = a >= b;
		return 0;
	case HEDDLE_OP_EQ:
		*r = a == b;
		return 0;
	case HEDDLE_OP_NE:
		*r = a != b;
		return 0;
	case HEDDLE_OP_AND:
		*r = a && b;
		return 0;
	case HEDDLE_OP_OR:
		*r = a || b;
		return 0;
	default:
		return -1;
	}
}

int heddle_index_hull(const heddle_index *index, const int64_t *size, int64_t *low, int64_t *high)
{
	int64_t unused;
	if (heddle_expr_hull(index->lower, size, low, &unused) < 0 || heddle_expr_hull(index->upper, size, &unused, high) < 0)
		return -1;
	*high -= 1;
	return 0;
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t greatest(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

int heddle_expr_hull(const heddle_expr *x, const int64_t *size, int64_t *low, int64_t *high)
{
	int64_t al, ah, bl, bh;
	switch (x->kind) {
	case HEDDLE_EXPR_INT:
		*low = *high = x->i;
		return 0;
	case HEDDLE_EXPR_SIZE:
		*low = *high = size[x->size->position];
		return 0;
	case HEDDLE_EXPR_INDEX:
		return heddle_index_hull(x->index, size, low, high);
	case HEDDLE_EXPR_CAST:
		return heddle_type_is_float(x->type) ? -1 : heddle_expr_hull(x->arg[0], size, low, high);
	case HEDDLE_EXPR_UNARY:
		if (x->op != HEDDLE_OP_NEG || heddle_expr_hull(x->arg[0], size, &al, &ah) < 0)
			return -1;
		*low = -ah;
		*high = -al;
		return 0;
	case HEDDLE_EXPR_SELECT:
		if (heddle_expr_hull(x->arg[1], size, &al, &ah) < 0 || heddle_expr_hull(x->arg[2], size, &bl, &bh) < 0)
			return -1;
		*low = least(al, bl);
		*high = greatest(ah, bh);
		return 0;
	case HEDDLE_EXPR_BINARY:
		break;
	default:
		return -1;
	}
	if (heddle_type_is_float(x->type) || heddle_expr_hull(x->arg[0], size, &al, &ah) < 0 ||
	    heddle_expr_hull(x->arg[1], size, &bl, &bh) < 0)
		return -1;
	switch (x->op) {
	case HEDDLE_OP_ADD:
		*low = al + bl;
		*high = ah + bh;
		return 0;
	case HEDDLE_OP_SUB:
		*low = al - bh;
		*high = ah - bl;
		return 0;
	case HEDDLE_OP_MUL:
		*low = least(least(al * bl, al * bh), least(ah * bl, ah * bh));
		*high = greatest(greatest(al * bl, al * bh), greatest(ah * bl, ah * bh));
		return 0;
	case HEDDLE_OP_DIV:
		if (bl != bh || !bl)
			return -1;
		*low = least(floor_div(al, bl), floor_div(ah, bl));
		*high = greatest(floor_div(al, bl), floor_div(ah, bl));
		return 0;
	case HEDDLE_OP_MOD:
		if (bl != bh || bl <= 0)
			return -1;
		*low = al >= 0 ? 0 : 1 - bl;
		*high = al >= 0 && ah < bl ? ah : bl - 1;
		return 0;
	case HEDDLE_OP_MIN:
		*low = least(al, bl);
		*high = least(ah, bh);
		return 0;
	case HEDDLE_OP_MAX:
		*low = greatest(al, bl);
		*high = greatest(ah, bh);
		return 0;
	default:
		return -1;
	}
}

int heddle_tensor_shape(const heddle_tensor *tensor, const int64_t *size, int64_t *shape)
{
	for (int d = 0; d < tensor->rank; ++d)
		if (heddle_oracle_scalar(tensor->extent[d], size, NULL, &shape[d]) < 0 || shape[d] < 0)
			return -1;
	return 0;
}

int heddle_tensor_strides(const heddle_tensor *tensor, const int64_t *size, int64_t *stride)
{
	int64_t shape[HEDDLE_MAX_RANK], dense = 1;
	if (heddle_tensor_shape(tensor, size, shape) < 0)
		return -1;
	for (int d = tensor->rank - 1; d >= 0; --d) {
		stride[d] = dense;
		if (tensor->stride && (heddle_oracle_scalar(tensor->stride[d], size, NULL, &stride[d]) < 0 || stride[d] < 0))
			return -1;
		dense *= shape[d];
	}
	return 0;
}

heddle_array *heddle_tensor_array(const heddle_tensor *tensor, const int64_t *size)
{
	int64_t shape[HEDDLE_MAX_RANK], stride[HEDDLE_MAX_RANK];
	if (tensor->rank > HEDDLE_MAX_RANK || heddle_tensor_shape(tensor, size, shape) < 0 ||
	    heddle_tensor_strides(tensor, size, stride) < 0)
		return NULL;
	return heddle_array_new_strided(tensor->type, tensor->rank, shape, stride);
}

double heddle_statement_cost(const heddle_statement *statement, const int64_t *size)
{
	double instances = 1;
	for (int k = 0; k < statement->n_index; ++k) {
		int64_t low, high;
		if (heddle_index_hull(statement->index[k], size, &low, &high) < 0)
			return INFINITY;
		instances *= high >= low ? (double)(high - low + 1) : 0;
	}
	return instances;
}

double heddle_reference_cost(const heddle_definition *definition, const int64_t *size)
{
	double total = 0;
	for (int s = 0; s < definition->n_statement; ++s)
		total += heddle_statement_cost(definition->statement[s], size);
	return total;
}
