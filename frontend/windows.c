/* Sizes of windows: of the taps of a filter, whose index is added to another one in a subscript.
 * SPDX-License-Identifier: MIT
 */
#include "frontend/check.h"

static bool mentions(const heddle_expr *e, const heddle_size *size, const heddle_index *index)
{
	bool found = (size && e->kind == HEDDLE_EXPR_SIZE && e->size == size) || (index && e->kind == HEDDLE_EXPR_INDEX && e->index == index);
	for (int i = 0; i < e->n_arg && !found; i++)
		found = mentions(e->arg[i], size, index);
	return found;
}

/* The subscript has an index with as many values as the size says, and another one that has fewer by so many. */
static bool is_window(const heddle_statement *st, const heddle_expr *subscript, const heddle_size *size)
{
	bool taps = false, fewer = false;
	for (int i = 0; i < st->n_index; i++) {
		const heddle_index *index = st->index[i];
		const heddle_expr *upper = index->upper;
		if (!upper || !mentions(subscript, NULL, index))
			continue;
		taps = taps || (upper->kind == HEDDLE_EXPR_SIZE && upper->size == size);
		fewer = fewer || (upper->kind != HEDDLE_EXPR_SIZE && mentions(upper, size, NULL));
	}
	return taps && fewer;
}

static bool has_window(const heddle_statement *st, const heddle_expr *e, const heddle_size *size)
{
	bool found = false;
	for (int i = 0; i < e->n_arg && !found; i++)
		found = (e->kind == HEDDLE_EXPR_READ && is_window(st, e->arg[i], size)) || has_window(st, e->arg[i], size);
	return found;
}

void heddle_check_windows(checker *c)
{
	for (int k = 0; k < c->def->n_size; k++)
		for (int s = 0; s < c->def->n_statement; s++)
			c->def->size[k]->window = c->def->size[k]->window || has_window(c->def->statement[s], c->def->statement[s]->value, c->def->size[k]);
}
