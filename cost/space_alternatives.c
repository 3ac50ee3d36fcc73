/* Alternatives outside of a kernel's layouts: rewrites of the definition, and which statements share a kernel.
 * SPDX-License-Identifier: MIT
 */
#include "cost/space.h"

#include "model/rewrite.h"

#include <math.h>
#include <string.h>

enum {
	MOST_ALTERNATIVES = 32,
	LEAST_TERMS = 64, /* of a part: fewer are not worth a further launch */
	WHOLE = 16,	  /* longer chunks are multiples of that */
	LEAST_USES = 16,  /* operations with one element that is copied */
};

typedef struct lister {
	const heddle_definition *definition;
	const heddle_descriptor *descriptor;
	const int64_t *size;
	heddle_alternative *list;
	int n;
} lister;

static double extent_of(const lister *l, const heddle_index *index)
{
	const heddle_scop none = {0};
	int64_t value;
	if (heddle_expr_evaluate(index->upper, l->size, &value) < 0)
		value = heddle_scop_estimate(&none, index->upper);
	return value > 1 ? (double)value : 1;
}

static heddle_alternative *add(lister *l)
{
	return l->n < MOST_ALTERNATIVES ? &l->list[l->n++] : NULL;
}

/* ---- splits ------------------------------------------------------------------------------------------------------ */

/* What model/split.c demands of the statement. */
static bool can_be_split(const heddle_statement *s)
{
	bool plain = s->assign != HEDDLE_ASSIGN_SET && !heddle_expr_reads(s->value, s->target);
	for (int i = 0; i < s->n_lhs; i++)
		plain = plain && s->lhs[i]->kind == HEDDLE_EXPR_INDEX;
	for (int d = 0; d < s->n_index && plain; d++)
		plain = !heddle_expr_has_index(s->index[d]->lower) && !heddle_expr_has_index(s->index[d]->upper);
	return plain;
}

/* Chunks that divide the reduction if there are such, until results and chunks are enough for all threads of the chip.
 */
static void add_splits(lister *l, int stmt)
{
	enum { OF_UNIT = 4096, OF_CORE = 64, PARTS = 4 };
	const heddle_statement *s = l->definition->statement[stmt];
	const double units = l->descriptor->units.set ? l->descriptor->units.value : 1;
	const double enough = units * (l->descriptor->execution == HEDDLE_SIMD ? OF_CORE : OF_UNIT);
	double results = 1, terms = 1;
	for (int d = 0; d < s->n_index; d++)
		*(s->index[d]->reduction ? &terms : &results) *= extent_of(l, s->index[d]);
	for (int d = 0; d < s->n_index && can_be_split(s); d++) {
		const double extent = s->index[d]->reduction ? extent_of(l, s->index[d]) : 0;
		for (double parts = PARTS; parts < extent && terms / parts >= LEAST_TERMS && results * parts < PARTS * enough;
		     parts *= PARTS) {
			const int64_t least = (int64_t)ceil(extent / parts), unit = least < WHOLE ? 1 : WHOLE;
			int64_t chunk = (least + unit - 1) / unit * unit;
			for (int64_t c = chunk; c < 2 * chunk; c += unit)
				if (fmod(extent, (double)c) == 0) {
					chunk = c;
					break;
				}
			heddle_alternative *a = (double)chunk < extent ? add(l) : NULL;
			if (a)
				a->split[a->n_split++] = (heddle_split){stmt, s->index[d]->name, chunk};
		}
	}
}

/* ---- shares and transposed operands ------------------------------------------------------------------------------ */

static bool mentions(const heddle_expr *expr, const heddle_index *index)
{
	bool found = expr->kind == HEDDLE_EXPR_INDEX && expr->index == index;
	for (int i = 0; i < expr->n_arg && !found; i++)
		found = mentions(expr->arg[i], index);
	return found;
}

static void add_turns(lister *l, int stmt)
{
	const heddle_statement *s = l->definition->statement[stmt];
	const heddle_expr *read;
	for (int n = 0; (read = heddle_turn_find(s, NULL, NULL, n)); n++) {
		double uses = 1;
		for (int d = 0; d < s->n_index; d++)
			uses *= mentions(read, s->index[d]) ? 1 : extent_of(l, s->index[d]);
		for (int e = 0; e + 1 < read->n_arg && uses >= LEAST_USES; e++) {
			const heddle_index *index = heddle_turn_index(read, e);
			heddle_alternative *a = index && heddle_turn_find(s, read->tensor->name, index->name, 0) == read
							? add(l)
							: NULL;
			if (a)
				a->turn[a->n_turn++] = (heddle_turn){stmt, read->tensor->name, index->name};
		}
	}
}

heddle_alternative *heddle_space_alternatives(heddle_arena *arena, const heddle_definition *definition,
					      const heddle_descriptor *descriptor, const int64_t *size, int *n)
{
	lister l = {definition, descriptor, size, HEDDLE_NEW_ARRAY(arena, heddle_alternative, MOST_ALTERNATIVES), 1};
	for (int i = 0; i < definition->n_statement; i++) {
		heddle_alternative *a = heddle_share_find(definition, i) ? add(&l) : NULL;
		if (a)
			a->share[a->n_share++] = i;
		add_splits(&l, i);
		add_turns(&l, i);
	}
	*n = l.n;
	return l.list;
}

void heddle_alternative_config(const heddle_alternative *alternative, heddle_config *config)
{
	config->has_split = config->has_share = config->has_turn = true;
	for (int i = 0; i < alternative->n_split; i++)
		HEDDLE_PUSH(config->arena, config->split, config->n_split, alternative->split[i]);
	for (int i = 0; i < alternative->n_share; i++)
		HEDDLE_PUSH(config->arena, config->share, config->n_share, alternative->share[i]);
	for (int i = 0; i < alternative->n_turn; i++)
		HEDDLE_PUSH(config->arena, config->turn, config->n_turn, alternative->turn[i]);
}

bool heddle_alternative_add(heddle_alternative *to, const heddle_alternative *other)
{
	const int most = HEDDLE_ALTERNATIVE_PARTS;
	const bool room = to->n_split + other->n_split <= most && to->n_share + other->n_share <= most &&
			  to->n_turn + other->n_turn <= most;
	if (!room)
		return false;
	for (int i = 0; i < other->n_split; i++)
		to->split[to->n_split++] = other->split[i];
	for (int i = 0; i < other->n_share; i++)
		to->share[to->n_share++] = other->share[i];
	for (int i = 0; i < other->n_turn; i++)
		to->turn[to->n_turn++] = other->turn[i];
	return true;
}
