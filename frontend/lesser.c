/* Indices that end at the lesser of two sizes, since tensors of both are read at them.
 * SPDX-License-Identifier: MIT
 */
#include "frontend/check.h"

#include <string.h>

static bool same_row(const affine_row *a, const affine_row *b)
{
	affine_row difference = *a;
	return affine_add(&difference, b, -1) && affine_is_constant(&difference) && !difference.k;
}

static bool is_row(affine_space *space, const heddle_expr *extent, const affine_row *row)
{
	affine_row own;
	return extent && affine_from_expr(space, extent, true, &own) && same_row(&own, row);
}

/* A read in `e` with the bare index in a dimension whose extent is the row; NULL: there is none. */
static const heddle_expr *read_to_end(const checker *c, affine_space *space, const heddle_expr *e, const heddle_index *index,
				      const affine_row *row)
{
	for (int d = 0; e->kind == HEDDLE_EXPR_READ && d < e->n_arg; d++) {
		const tensor_state *t = &c->state[e->tensor->position];
		if (e->arg[d]->kind == HEDDLE_EXPR_INDEX && e->arg[d]->index == index &&
		    (is_row(space, t->upper ? t->upper[d] : NULL, row) || is_row(space, t->declared ? t->tensor->extent[d] : NULL, row)))
			return e;
	}
	for (int i = 0; i < e->n_arg; i++) {
		const heddle_expr *found = read_to_end(c, space, e->arg[i], index, row);
		if (found)
			return found;
	}
	return NULL;
}

void heddle_check_lesser(scope *s, affine_space *space)
{
	enum { MOST = 8 };
	for (int i = 0; i < s->n_index; i++) {
		heddle_index *index = s->index[i].index;
		const heddle_expr *read[2];
		affine_row bound[MOST];
		int found = 0, n = s->index[i].range ? 0 : affine_bound_rows(space, index->upper, HEDDLE_OP_MIN, bound, MOST);
		for (int k = 0; k < n && n > 1 && found < 2; k++) {
			read[found] = affine_is_constant(&bound[k]) ? NULL : read_to_end(s->c, space, s->statement->value, index, &bound[k]);
			found += read[found] != NULL;
		}
		if (found < 2)
			continue;
		heddle_text text = {0};
		heddle_expr_print(index->upper, &text);
		if (heddle_check_warn(s->c, 217, &index->location, "index `%s` ends at %s, for it reads tensors of different sizes", index->name,
				      heddle_text_str(&text))) {
			heddle_note(s->c->ctx, &read[0]->location, "one is here");
			heddle_note(s->c->ctx, &read[1]->location, "another is here");
			heddle_note(s->c->ctx, NULL, "give both extents one name, or write `where %s in 0:%s` if this is meant", index->name,
				    heddle_text_str(&text));
		}
		heddle_text_free(&text);
	}
}
