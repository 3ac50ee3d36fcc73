/* The reference evaluator: stores, and the statements of a definition one after the other.
 * SPDX-License-Identifier: MIT
 */
#include "harness/reference_machine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the whole definition ---------------------------------------------------------------------------------------------------- */

static int check_array(heddle_machine *m, const heddle_store *t, const heddle_array *array)
{
	const heddle_tensor *tensor = t->tensor;
	if (!array)
		return heddle_error(m->ctx, 714, &tensor->location, "no array for '%s'", tensor->name);
	if (array->type != tensor->type)
		return heddle_error(m->ctx, 714, &tensor->location, "'%s' is %s, its array is %s", tensor->name,
				    heddle_type_name(tensor->type), heddle_type_name(array->type));
	bool same = array->rank == tensor->rank;
	for (int d = 0; same && d < tensor->rank; ++d)
		same = array->shape[d] == t->extent[d];
	if (same)
		return 0;
	heddle_text wanted = { 0 }, given = { 0 };
	for (int d = 0; d < tensor->rank; ++d)
		heddle_text_printf(&wanted, "%s%lld", d ? "," : "", (long long)t->extent[d]);
	for (int d = 0; d < array->rank; ++d)
		heddle_text_printf(&given, "%s%lld", d ? "," : "", (long long)array->shape[d]);
	heddle_error(m->ctx, 714, &tensor->location, "'%s' has shape (%s), its array has (%s)", tensor->name,
		     heddle_text_str(&wanted), heddle_text_str(&given));
	heddle_text_free(&wanted);
	heddle_text_free(&given);
	return -1;
}

static int open_store(heddle_machine *m, int k, heddle_array *const *array)
{
	heddle_store *t = &m->store[k];
	t->tensor = m->definition->tensor[k];
	if (t->tensor->rank > HEDDLE_MAX_RANK || heddle_tensor_shape(t->tensor, m->size, t->extent) < 0)
		return heddle_error(m->ctx, 714, &t->tensor->location, "the shape of '%s' cannot be computed for these sizes",
				    t->tensor->name);
	t->count = 1;
	for (int d = t->tensor->rank - 1; d >= 0; --d) {
		t->stride[d] = t->count;
		t->count *= t->extent[d];
	}
	t->n = t->count;
	if (t->tensor->role == HEDDLE_ROLE_INPUT || t->tensor->role == HEDDLE_ROLE_INOUT) {
		if (check_array(m, t, array[k]) < 0)
			return -1;
		if (t->tensor->role == HEDDLE_ROLE_INPUT) {
			t->array = array[k];
			memcpy(t->stride, array[k]->stride, sizeof(t->stride));
		}
	}
	return 0;
}

static void fill_store(heddle_machine *m, heddle_store *t, const heddle_array *initial)
{
	(void)m;
	const size_t n = (size_t)(t->n ? t->n : 1);
	const bool real = heddle_type_is_float(t->tensor->type);
	if (real)
		t->value = heddle_xalloc(sizeof(long double) * n);
	else
		t->integer = heddle_xalloc(sizeof(int64_t) * n);
	t->error = heddle_xalloc(sizeof(double) * n);
	if (real)
		t->weight = heddle_xalloc(sizeof(double) * n);
	t->mark = heddle_xalloc(n);
	const bool has_value = initial || t->tensor->zero_fill;
	for (int64_t o = 0; o < t->n; ++o) {
		int64_t offset = initial ? heddle_array_offset(initial, t->sampled ? t->sample[o] : o) : 0;
		if (real)
			t->value[o] = initial ? heddle_array_get(initial, offset) : 0;
		else
			t->integer[o] = initial ? heddle_array_get_int(initial, offset) : 0;
		t->error[o] = 0;
		if (real)
			t->weight[o] = 0;
		t->mark[o] = has_value ? HEDDLE_MARK_WRITTEN : 0;
	}
}

static bool has_read(const heddle_expr *expr)
{
	if (expr->kind == HEDDLE_EXPR_READ)
		return true;
	for (int k = 0; k < expr->n_arg; ++k)
		if (has_read(expr->arg[k]))
			return true;
	return false;
}

static int check_preconditions(heddle_machine *m)
{
	for (int k = 0; k < m->definition->n_precondition; ++k) {
		const heddle_expr *x = m->definition->precondition[k];
		int64_t holds;
		if (has_read(x))
			continue; /* gather subscripts are checked where they are used */
		if (heddle_oracle_scalar(x, m->size, NULL, &holds) < 0 || !holds) {
			heddle_text text = { 0 };
			heddle_expr_print(x, &text);
			heddle_error(m->ctx, 712, &x->location, "the precondition %s does not hold", heddle_text_str(&text));
			heddle_text_free(&text);
			return -1;
		}
	}
	return 0;
}

/* Hand the contents of output `t` over to `out`. */
static int collect(heddle_machine *m, heddle_reference *r, heddle_store *t, heddle_expected *out)
{
	out->tensor = t->tensor;
	out->count = t->count;
	out->n = t->n;
	if (t->sampled) {
		out->element = HEDDLE_NEW_ARRAY(r->arena, int64_t, t->n);
		memcpy(out->element, t->sample, sizeof(int64_t) * (size_t)t->n);
		r->sampled = true;
	}
	for (int64_t o = 0; o < t->n; ++o) {
		if (!(t->mark[o] & HEDDLE_MARK_WRITTEN))
			return heddle_error(m->ctx, 715, &t->tensor->location, "no statement writes element %lld of output '%s'",
					    (long long)(t->sampled ? t->sample[o] : o), t->tensor->name);
		t->mark[o] &= HEDDLE_MARK_BRANCH;
		r->n_branch += t->mark[o];
		r->exact = r->exact && t->error[o] == 0;
		if (t->weight && t->value[o] == 0 && isfinite(t->weight[o]))
			out->weight = fmax(out->weight, t->weight[o]);
	}
	out->value = t->value;
	out->integer = t->integer;
	out->error = t->error;
	out->branch = t->mark;
	t->value = NULL;
	t->integer = NULL;
	t->error = NULL;
	t->mark = NULL;
	return 0;
}

static int evaluate(heddle_machine *m, heddle_reference *r, heddle_array *const *array,
		    const heddle_reference_options *options)
{
	const heddle_definition *d = m->definition;
	const int64_t sample = options->sample > 4 ? options->sample : 512;
	if (check_preconditions(m) < 0)
		return -1;
	for (int k = 0; k < d->n_tensor; ++k)
		if (open_store(m, k, array) < 0)
			return -1;
	if (options->budget > 0 && heddle_reference_cost(d, m->size) > options->budget)
		heddle_oracle_choose(m, options->budget, sample);
	for (int k = 0; k < d->n_tensor; ++k) {
		heddle_store *t = &m->store[k];
		if (t->tensor->role == HEDDLE_ROLE_INPUT)
			continue;
		if (t->sampled)
			heddle_oracle_draw(m, t, options->seed, sample);
		fill_store(m, t, t->tensor->role == HEDDLE_ROLE_INOUT ? array[k] : NULL);
	}
	for (int s = 0; s < d->n_statement; ++s)
		if (heddle_oracle_run(m, d->statement[s]) < 0)
			return -1;
	r->instances = m->instances;
	r->exact = true;
	for (int k = 0; k < d->n_tensor; ++k) {
		const heddle_role role = d->tensor[k]->role;
		if ((role == HEDDLE_ROLE_OUTPUT || role == HEDDLE_ROLE_INOUT) &&
		    collect(m, r, &m->store[k], &r->output[r->n_output++]) < 0)
			return -1;
	}
	return 0;
}

heddle_reference *heddle_reference_evaluate(heddle_ctx *ctx, const heddle_definition *definition, const int64_t *size,
					    heddle_array *const *array, const heddle_reference_options *options)
{
	const heddle_reference_options defaults = { 0 };
	heddle_reference *r = heddle_xalloc(sizeof(*r));
	memset(r, 0, sizeof(*r));
	r->arena = heddle_arena_new();
	r->output = HEDDLE_NEW_ARRAY(r->arena, heddle_expected, definition->n_tensor);
	heddle_machine m = { .ctx = ctx, .arena = heddle_arena_new(), .definition = definition, .size = size };
	m.store = HEDDLE_NEW_ARRAY(m.arena, heddle_store, definition->n_tensor);
	int rc = evaluate(&m, r, array, options ? options : &defaults);
	for (int k = 0; k < definition->n_tensor; ++k) {
		free(m.store[k].value);
		free(m.store[k].integer);
		free(m.store[k].error);
		free(m.store[k].weight);
		free(m.store[k].mark);
	}
	heddle_arena_free(m.arena);
	return rc < 0 ? heddle_reference_free(r) : r;
}

heddle_reference *heddle_reference_free(heddle_reference *r)
{
	if (!r)
		return NULL;
	for (int k = 0; k < r->n_output; ++k) {
		free(r->output[k].value);
		free(r->output[k].integer);
		free(r->output[k].error);
		free(r->output[k].branch);
	}
	heddle_arena_free(r->arena);
	free(r);
	return NULL;
}
