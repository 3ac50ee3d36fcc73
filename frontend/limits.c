/* What a statement and a definition may have.
 * SPDX-License-Identifier: MIT
 */
#include "frontend/check.h"

int heddle_check_limits(scope *s)
{
	const int n = s->statement->n_lhs;
	if (n > HEDDLE_MAX_RANK)
		fail(s->c, 612, &s->syntax->location, "`%s` has %d dimensions, more than %d", s->syntax->name, n, HEDDLE_MAX_RANK);
	else if (s->n_index > HEDDLE_MAX_INDICES)
		fail(s->c, 612, &s->syntax->location, "the statement has %d indices, more than %d", s->n_index, HEDDLE_MAX_INDICES);
	else
		return 0;
	return -1;
}

void heddle_check_reach(scope *s, affine_space *space)
{
	for (int i = 0; i < s->n_index; i++) {
		const heddle_index *index = s->index[i].index;
		affine_row lower, beyond;
		if (!affine_from_expr(space, index->lower, true, &lower) || !affine_from_expr(space, index->upper, true, &beyond) ||
		    (!affine_prove(space, &lower) && !affine_add(&beyond, &lower, -1)) || !affine_size_only(space, &beyond))
			continue;
		beyond.k -= (int64_t)HEDDLE_LARGEST_SUBSCRIPT + 1;
		if (heddle_check_violated(s->c, space, &beyond)) {
			fail(s->c, 310, &index->location, "index `%s` has values above %d", index->name, HEDDLE_LARGEST_SUBSCRIPT);
			heddle_note(s->c->ctx, NULL, "indices have 32 bits: two of them, i * 1024 + j, reach further");
		}
	}
}

void heddle_check_steps(checker *c)
{
	if (c->file->steps >= 0 || c->file->slow)
		return;
	c->file->slow = true;
	fail(c, 12, &c->syntax->location, "the subscripts and ranges up to and in `%s` take too long to check", c->syntax->name);
	heddle_note(c->ctx, NULL, "they have too many alternatives (min, max, /, %%, conditions) for as many indices and sizes");
}

int heddle_expr_count(const heddle_expr *e)
{
	int n = 1;
	for (int i = 0; i < e->n_arg; i++)
		n += heddle_expr_count(e->arg[i]);
	return n;
}
