/* The reference evaluator: which elements are computed where all would take too long.
 *
 * Single elements where other statements read them in place only; else slices: all that depends on a few values of the first
 * indices, where every statement keeps to its own.
 * SPDX-License-Identifier: MIT
 */
#include "harness/reference_machine.h"

#include <stdlib.h>
#include <string.h>

/* ---- single elements ------------------------------------------------------------------------------------------------------ */

/* Left-hand sides are distinct plain indices whose ranges name no reduction index. */
static bool plain_target(heddle_arena *arena, const heddle_statement *s)
{
	bool *seen = HEDDLE_NEW_ARRAY(arena, bool, s->n_index);
	for (int d = 0; d < s->n_lhs; ++d) {
		if (s->lhs[d]->kind != HEDDLE_EXPR_INDEX || seen[s->lhs[d]->index->position])
			return false;
		seen[s->lhs[d]->index->position] = true;
	}
	for (int d = 0; d < s->n_lhs; ++d) {
		const heddle_index *i = s->lhs[d]->index;
		if (heddle_oracle_names_index(i->lower, seen, false) || heddle_oracle_names_index(i->upper, seen, false))
			return false;
	}
	return true;
}

/* Every read of `tensor` in `expr` is at the element that the statement writes. */
static bool reads_in_place(const heddle_statement *s, const heddle_expr *expr, const heddle_tensor *tensor)
{
	if (expr->kind == HEDDLE_EXPR_READ && expr->tensor == tensor) {
		if (expr->n_arg != s->n_lhs)
			return false;
		for (int d = 0; d < s->n_lhs; ++d)
			if (expr->arg[d]->kind != HEDDLE_EXPR_INDEX || expr->arg[d]->index != s->lhs[d]->index)
				return false;
	}
	for (int k = 0; k < expr->n_arg; ++k)
		if (!reads_in_place(s, expr->arg[k], tensor))
			return false;
	return true;
}

static bool same_shape(const heddle_store *a, const heddle_store *b)
{
	if (a->tensor->rank != b->tensor->rank)
		return false;
	for (int d = 0; d < a->tensor->rank; ++d)
		if (a->extent[d] != b->extent[d])
			return false;
	return true;
}

/* The greatest set of computed tensors that can be computed at some elements only: a tensor leaves it when a statement
 * needs other elements of it. */
static void choose_sampled(heddle_machine *m, int64_t sample)
{
	const heddle_definition *d = m->definition;
	for (int k = 0; k < d->n_tensor; ++k)
		m->store[k].sampled = d->tensor[k]->role != HEDDLE_ROLE_INPUT && m->store[k].count > 2 * sample;
	for (int s = 0; s < d->n_statement; ++s)
		if (!plain_target(m->arena, d->statement[s]))
			m->store[d->statement[s]->target->position].sampled = false;
	for (bool changed = true; changed;) {
		changed = false;
		for (int s = 0; s < d->n_statement; ++s) {
			const heddle_statement *statement = d->statement[s];
			const heddle_store *to = &m->store[statement->target->position];
			for (int k = 0; k < d->n_tensor; ++k) {
				heddle_store *from = &m->store[k];
				if (!from->sampled || !heddle_oracle_reads_tensor(statement->value, from->tensor))
					continue;
				if (to->sampled && same_shape(to, from) &&
				    reads_in_place(statement, statement->value, from->tensor))
					continue;
				from->sampled = false;
				changed = true;
			}
		}
	}
}

/* ---- slices --------------------------------------------------------------------------------------------------------------- */

/* How many of the first subscripts are the same plain indices on the left side and here, wherever a computed tensor is read. */
static int kept_prefix(const heddle_statement *s, const heddle_expr *expr, int most)
{
	if (expr->kind == HEDDLE_EXPR_READ && expr->tensor->role != HEDDLE_ROLE_INPUT) {
		for (int d = 0; d < most; ++d)
			if (d >= expr->n_arg || expr->arg[d]->kind != HEDDLE_EXPR_INDEX || expr->arg[d]->index != s->lhs[d]->index)
				most = d;
	}
	for (int k = 0; k < expr->n_arg; ++k)
		most = kept_prefix(s, expr->arg[k], most);
	return most;
}

/* Do the ranges of the first `n` left-hand indices name none but those? */
static bool ranges_are_own(const heddle_statement *s, const bool *others, int n)
{
	for (int d = 0; d < n; ++d)
		if (heddle_oracle_names_index(s->lhs[d]->index->lower, others, true) ||
		    heddle_oracle_names_index(s->lhs[d]->index->upper, others, true))
			return false;
	return true;
}

/* How many first dimensions all computed tensors and statements have in common; 0: none. */
static int common_prefix(const heddle_machine *m)
{
	const heddle_definition *d = m->definition;
	const heddle_store *first = NULL;
	int n = HEDDLE_MAX_RANK;
	for (int k = 0; k < d->n_tensor; ++k) {
		const heddle_store *t = &m->store[k];
		if (t->tensor->role == HEDDLE_ROLE_INPUT)
			continue;
		n = t->tensor->rank < n ? t->tensor->rank : n;
		first = first ? first : t;
		for (int e = 0; e < n; ++e)
			if (t->extent[e] != first->extent[e])
				n = e;
	}
	for (int k = 0; k < d->n_statement && n > 0; ++k) {
		const heddle_statement *s = d->statement[k];
		bool *other = HEDDLE_NEW_ARRAY(m->arena, bool, s->n_index + 1);
		for (int i = 0; i < s->n_index; ++i)
			other[i] = true;
		for (int e = 0; e < n; ++e) {
			if (s->lhs[e]->kind != HEDDLE_EXPR_INDEX || !other[s->lhs[e]->index->position])
				n = e;
			else
				other[s->lhs[e]->index->position] = false;
		}
		n = kept_prefix(s, s->value, n);
		for (int e = 0; e < s->n_lhs; ++e)
			n = kept_prefix(s, s->lhs[e], n);
		while (n > 0 && !ranges_are_own(s, other, n))
			other[s->lhs[--n]->index->position] = true;
	}
	return n;
}

/* Slices in place of what is left to compute whole, as many as the budget has room for.  Few would say little. */
static void choose_slices(heddle_machine *m, double budget)
{
	enum { LEAST = 8, MOST = 512 };
	const heddle_definition *d = m->definition;
	const int n = common_prefix(m);
	double all = 1;
	const heddle_store *any = NULL;
	for (int k = 0; k < d->n_tensor; ++k)
		any = d->tensor[k]->role != HEDDLE_ROLE_INPUT ? &m->store[k] : any;
	for (int e = 0; e < n; ++e)
		all *= (double)any->extent[e];
	const double fit = budget / (heddle_reference_cost(d, m->size) / all);
	if (n == 0 || fit < LEAST || fit >= all / 2)
		return;
	m->n_prefix = n;
	m->n_slice = fit < MOST ? (int64_t)fit : MOST;
	for (int k = 0; k < d->n_tensor; ++k) {
		heddle_store *t = &m->store[k];
		t->sampled = d->tensor[k]->role != HEDDLE_ROLE_INPUT;
		t->rest = 1;
		for (int e = n; e < t->tensor->rank; ++e)
			t->rest *= t->extent[e];
	}
}

/* ---- drawing -------------------------------------------------------------------------------------------------------------- */

void heddle_oracle_choose(heddle_machine *m, double budget, int64_t sample)
{
	double left = 0;
	choose_sampled(m, sample);
	for (int s = 0; s < m->definition->n_statement; ++s)
		if (!m->store[m->definition->statement[s]->target->position].sampled)
			left += heddle_statement_cost(m->definition->statement[s], m->size);
	if (left > budget)
		choose_slices(m, budget);
}

static int order_numbers(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return x < y ? -1 : x > y;
}

/* Element numbers of a sample: both ends, the ends of the first and last row, and random ones.  Tensors of one shape get
 * the same sample, since they may be read in place of one another. */
static int64_t *draw_numbers(heddle_machine *m, const heddle_store *t, int rank, int64_t count, uint64_t seed, int64_t wanted, int64_t *n)
{
	const int64_t row = rank ? t->extent[rank - 1] : 1;
	int64_t *number = HEDDLE_NEW_ARRAY(m->arena, int64_t, wanted < 4 ? 4 : wanted), drawn = 0;
	number[drawn++] = 0;
	number[drawn++] = row - 1;
	number[drawn++] = count - row;
	number[drawn++] = count - 1;
	for (int d = 0; d < rank; ++d)
		seed = heddle_random(seed, (uint64_t)t->extent[d]);
	for (uint64_t k = 0; drawn < wanted; ++k)
		number[drawn++] = (int64_t)(heddle_random(seed, k) % (uint64_t)count);
	qsort(number, (size_t)drawn, sizeof(*number), order_numbers);
	*n = 0;
	for (int64_t k = 0; k < drawn; ++k)
		if (!*n || number[k] != number[*n - 1])
			number[(*n)++] = number[k];
	return number;
}

void heddle_oracle_draw(heddle_machine *m, heddle_store *t, uint64_t seed, int64_t wanted)
{
	if (!m->n_prefix) {
		t->sample = draw_numbers(m, t, t->tensor->rank, t->count, seed, wanted, &t->n);
		return;
	}
	if (!m->slices)
		m->slices = draw_numbers(m, t, m->n_prefix, t->count / t->rest, seed, m->n_slice, &m->n_slice);
	t->n = 0;
	t->sample = HEDDLE_NEW_ARRAY(m->arena, int64_t, m->n_slice * t->rest);
	for (int64_t k = 0; k < m->n_slice; ++k)
		for (int64_t r = 0; r < t->rest; ++r)
			t->sample[t->n++] = m->slices[k] * t->rest + r;
}
