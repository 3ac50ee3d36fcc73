/* Ways of making a definition smaller.
 * SPDX-License-Identifier: MIT
 */
#include "tests/random/random.h"

#include <string.h>

static random_expr *copy_expr(heddle_arena *arena, const random_expr *e)
{
	random_expr *copy = HEDDLE_NEW(arena, random_expr);
	*copy = *e;
	for (int i = 0; i < e->n_arg; i++)
		copy->arg[i] = copy_expr(arena, e->arg[i]);
	return copy;
}

static random_definition *copy(heddle_arena *arena, const random_definition *d)
{
	random_definition *c = HEDDLE_NEW(arena, random_definition);
	*c = *d;
	if (d->callee)
		c->callee = copy(arena, d->callee);
	for (int s = 0; s < d->n_stmt; s++) {
		if (d->stmt[s].value)
			c->stmt[s].value = copy_expr(arena, d->stmt[s].value);
		for (int i = 0; i < d->stmt[s].n_let; i++)
			c->stmt[s].let[i] = copy_expr(arena, d->stmt[s].let[i]);
		if (d->stmt[s].exists)
			c->stmt[s].exists = copy_expr(arena, d->stmt[s].exists);
	}
	return c;
}

/* Replace in the `*number`th place of the tree by what it counts to: an argument, or 1. */
static bool replace(heddle_arena *arena, random_expr **at, int *number)
{
	random_expr *e = *at;
	for (int i = 0; i < e->n_arg; i++)
		if ((*number)-- == 0) {
			*at = e->arg[i];
			return true;
		}
	if (e->kind != RANDOM_TEXT && (*number)-- == 0) {
		*at = HEDDLE_NEW(arena, random_expr);
		**at = (random_expr){.kind = RANDOM_TEXT, .text = "1"};
		return true;
	}
	for (int i = 0; i < e->n_arg; i++)
		if (replace(arena, &e->arg[i], number))
			return true;
	return false;
}

static void drop_subscript(random_expr *e, int tensor, int dim)
{
	if (e->kind == RANDOM_READ && e->tensor == tensor)
		for (int i = dim; i + 1 < RANDOM_MAX_DIM; i++)
			e->subscript[i] = e->subscript[i + 1];
	for (int i = 0; i < e->n_arg; i++)
		drop_subscript(e->arg[i], tensor, dim);
}

static void drop_dimension(random_definition *d, int tensor, int dim)
{
	random_tensor *t = &d->tensor[tensor];
	for (int i = dim; i + 1 < t->rank; i++)
		t->extent[i] = t->extent[i + 1];
	t->rank--;
	for (int s = 0; s < d->n_stmt; s++) {
		if (d->stmt[s].value)
			drop_subscript(d->stmt[s].value, tensor, dim);
		for (int i = 0; i < d->stmt[s].n_let; i++)
			drop_subscript(d->stmt[s].let[i], tensor, dim);
		if (d->stmt[s].exists)
			drop_subscript(d->stmt[s].exists, tensor, dim);
		if (d->stmt[s].target == tensor)
			for (int i = dim; i + 1 < RANDOM_MAX_DIM; i++)
				d->stmt[s].lhs[i] = d->stmt[s].lhs[i + 1];
	}
}

random_definition *random_smaller(heddle_arena *arena, const random_definition *definition, int number)
{
	random_definition *d = copy(arena, definition);
	for (int s = 0; s < d->n_stmt; s++)
		if (number-- == 0) {
			memmove(&d->stmt[s], &d->stmt[s + 1], sizeof(d->stmt[0]) * (size_t)(d->n_stmt - s - 1));
			d->n_stmt--;
			return d;
		}
	for (int s = 0; s < d->n_stmt; s++)
		if (d->stmt[s].value && replace(arena, &d->stmt[s].value, &number))
			return d;
	for (int s = 0; s < d->n_stmt; s++) {
		random_stmt *stmt = &d->stmt[s];
		for (int i = 0; i < stmt->n_let; i++)
			if (replace(arena, &stmt->let[i], &number))
				return d;
		if (stmt->n_let && number-- == 0) {
			stmt->n_let--;
			return d;
		}
		if (stmt->exists && number-- == 0) {
			stmt->exists = NULL;
			return d;
		}
	}
	for (int t = 0; t < d->n_tensor; t++)
		if (d->tensor[t].layout && number-- == 0) {
			d->tensor[t].layout = NULL;
			return d;
		}
	for (int t = 0; t < d->n_tensor; t++)
		for (int e = 0; e < d->tensor[t].rank; e++)
			if (number-- == 0) {
				drop_dimension(d, t, e);
				return d;
			}
	for (int s = 0; s < d->n_stmt; s++)
		for (int w = 0; w < d->stmt[s].n_where; w++)
			if (number-- == 0) {
				random_stmt *stmt = &d->stmt[s];
				memmove(&stmt->where[w], &stmt->where[w + 1], sizeof(stmt->where[0]) * (size_t)(stmt->n_where - w - 1));
				stmt->n_where--;
				return d;
			}
	for (int t = 0; t < d->n_tensor; t++)
		if (!d->tensor[t].input && d->tensor[t].output && !d->tensor[t].inout && number-- == 0) {
			d->tensor[t].output = false;
			return d;
		}
	for (int t = 0; t < d->n_tensor; t++)
		if (d->tensor[t].type != HEDDLE_FLOAT32 && number-- == 0) {
			d->tensor[t].type = HEDDLE_FLOAT32;
			return d;
		}
	/* the callee last: it has ways of its own */
	if (!d->callee)
		return NULL;
	random_definition *callee = random_smaller(arena, d->callee, number);
	d->callee = callee;
	return callee ? d : NULL;
}
