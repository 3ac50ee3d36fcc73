/* The level `interpret` of the test engine, and the coverage of the program's nodes by a layer's cases.
 * SPDX-License-Identifier: MIT
 */
#include "cost/regions.h"
#include "harness/interpret.h"
#include "harness/test_parts.h"

#include <stdlib.h>
#include <string.h>

/* ---- coverage ----------------------------------------------------------------------------------------------------------------- */

/* Of one program of those behind the entry. */
typedef struct coverage {
	const heddle_program *program;
	bool **ran; /* [n_launch][nodes of the launch] */
} coverage;

static coverage *coverage_new(heddle_test *t, const heddle_variants *variants)
{
	coverage *c = HEDDLE_NEW_ARRAY(t->arena, coverage, variants->n + 1);
	for (int k = 0; k < variants->n; ++k) {
		c[k].program = variants->item[k].program;
		c[k].ran = HEDDLE_NEW_ARRAY(t->arena, bool *, c[k].program->n_launch + 1);
	}
	return c;
}

static void coverage_add(heddle_test *t, coverage *c, const heddle_interpret *run)
{
	for (int k = 0; k < run->program->n_launch; ++k) {
		const heddle_interpret_launch *l = &run->launch[k];
		if (!c->ran[k] && l->n_node)
			c->ran[k] = HEDDLE_NEW_ARRAY(t->arena, bool, l->n_node);
		for (int n = 0; n < l->n_node; ++n)
			c->ran[k][n] = c->ran[k][n] || l->runs[n] > 0;
	}
}

static bool does_something(const heddle_node *node)
{
	if (node->kind == HEDDLE_NODE_STORE || node->kind == HEDDLE_NODE_BARRIER || node->kind == HEDDLE_NODE_COPY)
		return true;
	for (int k = 0; k < node->n_child; ++k)
		if (does_something(node->child[k]))
			return true;
	return false;
}

/* A short text of a node: what it does, without what is below it. */
static void describe(const heddle_node *node, heddle_text *out)
{
	switch (node->kind) {
	case HEDDLE_NODE_FOR:
		heddle_text_printf(out, "for %s from ", node->name);
		heddle_value_print(node->value[0], out);
		heddle_text_add(out, " below ");
		heddle_value_print(node->value[1], out);
		break;
	case HEDDLE_NODE_IF:
		heddle_text_add(out, "if ");
		heddle_value_print(node->value[0], out);
		break;
	case HEDDLE_NODE_STORE:
		heddle_text_printf(out, "%s[", node->buffer->name);
		for (int k = 1; k < node->n_value; ++k) {
			heddle_text_add(out, k > 1 ? ", " : "");
			heddle_value_print(node->value[k], out);
		}
		heddle_text_add(out, "] = ");
		heddle_value_print(node->value[0], out);
		break;
	case HEDDLE_NODE_BARRIER:
		heddle_text_add(out, "barrier");
		break;
	case HEDDLE_NODE_COPY:
		heddle_text_printf(out, "copy of %s to %s", node->source->name, node->buffer->name);
		break;
	case HEDDLE_NODE_BLOCK:
		for (int k = 0; k < node->n_child; ++k)
			if (does_something(node->child[k])) {
				describe(node->child[k], out);
				break;
			}
		break;
	default:
		heddle_text_add(out, node->name ? node->name : "?");
	}
}

typedef struct listing {
	heddle_test *t;
	const heddle_launch *launch;
	const bool *ran;
	heddle_finding **finding;
	int *n;
} listing;

/* The topmost nodes that never ran become findings. */
static void unreached(const listing *l, const heddle_node *node)
{
	if (!does_something(node))
		return;
	if (!l->ran || !l->ran[node->id]) {
		heddle_text text = {0};
		heddle_text_printf(&text, "%s: ", l->launch->name);
		describe(node, &text);
		const heddle_finding new = {"unreached", node->line ? l->t->layer : NULL, node->line,
					    heddle_arena_strdup(l->t->report->arena, heddle_text_str(&text))};
		HEDDLE_PUSH(l->t->report->arena, *l->finding, *l->n, new);
		heddle_text_free(&text);
		return;
	}
	for (int k = 0; k < node->n_child; ++k)
		unreached(l, node->child[k]);
}

static int list_unreached(heddle_test *t, const coverage *c, heddle_finding **finding)
{
	int n = 0;
	*finding = NULL;
	for (int k = 0; k < c->program->n_launch; ++k) {
		const heddle_launch *launch = c->program->launch[k];
		const listing l = {t, launch, c->ran[k], finding, &n};
		unreached(&l, launch->body);
	}
	return n;
}

static void judge_coverage(heddle_test *t, const heddle_test_variant *v, const coverage *cover)
{
	const char *limit = v->cases.limited ? " (larger cases would cost too much)" : "";
	for (int k = 0; k < v->variants.n; ++k) {
		heddle_finding *finding;
		int n = list_unreached(t, &cover[k], &finding);
		const char *name = k ? heddle_arena_printf(t->arena, "coverage, variant %d", k) : "coverage";
		heddle_test_add(t, v, name, "interpret", n ? HEDDLE_TEST_FAIL : HEDDLE_TEST_PASS,
				n ? heddle_arena_printf(t->arena, "%d parts of the program ran in no case%s, first %s", n, limit,
							finding[0].text)
				  : NULL,
				0, n, finding);
	}
}

static int barriers_of(const heddle_node *node)
{
	int n = node->kind == HEDDLE_NODE_BARRIER;
	for (int k = 0; k < node->n_child; ++k)
		n += barriers_of(node->child[k]);
	return n;
}

int heddle_test_count_barriers(const heddle_program *program)
{
	int n = 0;
	for (int k = 0; k < program->n_launch; ++k)
		n += barriers_of(program->launch[k]->body);
	return n;
}

/* ---- running ---------------------------------------------------------------------------------------------------------------------- */

static heddle_array **buffers_of(heddle_test *t, const heddle_program *p, heddle_array *const *array)
{
	heddle_array **buffer = HEDDLE_NEW_ARRAY(t->arena, heddle_array *, p->n_buffer);
	for (int k = 0; k < p->n_buffer; ++k) {
		const heddle_buffer_role role = p->buffer[k]->role;
		if (role != HEDDLE_BUFFER_INPUT && role != HEDDLE_BUFFER_OUTPUT && role != HEDDLE_BUFFER_INOUT &&
		    role != HEDDLE_BUFFER_SCALAR)
			continue;
		for (int j = 0; j < t->definition->n_tensor; ++j)
			if (array[j] && !strcmp(t->definition->tensor[j]->name, p->buffer[k]->name))
				buffer[k] = array[j];
	}
	return buffer;
}

/* Values of the program's sizes, by name; a size that the definition does not have is a fault that the interpreter reports. */
static int64_t *sizes_of(heddle_test *t, const heddle_program *p, const int64_t *size)
{
	int64_t *value = HEDDLE_NEW_ARRAY(t->arena, int64_t, p->n_size);
	for (int k = 0; k < p->n_size; ++k)
		for (int j = 0; j < t->definition->n_size; ++j)
			if (!strcmp(t->definition->size[j]->name, p->size[k].name))
				value[k] = size[j];
	return value;
}

static heddle_finding *convert_findings(heddle_test *t, const heddle_interpret *run)
{
	heddle_finding *finding = HEDDLE_NEW_ARRAY(t->report->arena, heddle_finding, run->n_finding);
	for (int k = 0; k < run->n_finding; ++k) {
		const heddle_interpret_finding *f = &run->finding[k];
		finding[k].kind = f->kind;
		finding[k].file = f->line ? t->layer : NULL;
		finding[k].line = f->line;
		finding[k].text = f->launch >= 0 ? heddle_arena_printf(t->report->arena, "%s (%s, block %lld, thread %d)", f->text,
								       run->program->launch[f->launch]->name,
								       (long long)f->block, f->thread)
						 : heddle_arena_strdup(t->report->arena, f->text);
	}
	return finding;
}

int heddle_test_chosen(heddle_test *t, const heddle_test_variant *v, const heddle_case *c, int misalign)
{
	return heddle_variants_choose(&v->variants, &v->parsed, sizes_of(t, v->program, c->size), misalign);
}

static void interpret_once(heddle_test *t, const heddle_test_variant *v, const heddle_case *c, const char *form,
			   const heddle_test_expected *e, int misalign, coverage *all)
{
	const int chosen = heddle_test_chosen(t, v, c, misalign);
	if (chosen < 0)
		return; /* sizes that the kernels are not for */
	const heddle_program *program = v->variants.item[chosen].program;
	coverage *cover = &all[chosen];
	heddle_array **array = heddle_test_arrays(t, e);
	heddle_interpret run = {
		.arena = t->arena,
		.program = program,
		.size = sizes_of(t, program, c->size),
		.array = buffers_of(t, program, array),
		.seed = t->options->seed,
		.timeout = t->options->timeout,
		.unaligned_vectors = heddle_dialect_language(v->parsed.dialect).unaligned_vectors ||
				     v->parsed.descriptor->unaligned_vectors,
	};
	const char *name = heddle_arena_printf(t->arena, "%s%s%s", *c->name ? c->name : "no sizes", *form ? ", " : "", form);
	const double start = heddle_now();
	const char *message = NULL;
	heddle_test_verdict verdict = HEDDLE_TEST_PASS;
	heddle_finding *finding = NULL;
	if (heddle_interpret_run(t->ctx, &run) < 0) {
		const heddle_diagnostic *d = heddle_diagnostics(t->ctx);
		verdict = HEDDLE_TEST_FAIL;
		message = d ? heddle_arena_printf(t->report->arena, "%s [E%04d]", d->message, d->code) : "could not start";
		heddle_diagnostics_clear(t->ctx);
		run.n_finding = 0;
	} else if (run.n_finding) {
		verdict = HEDDLE_TEST_FAIL;
		finding = convert_findings(t, &run);
		message = heddle_arena_printf(t->report->arena, "%s: %s", finding[0].kind, finding[0].text);
		coverage_add(t, cover, &run);
	} else {
		verdict = heddle_test_judge(t, e, array, &message);
		coverage_add(t, cover, &run);
	}
	heddle_test_add(t, v, name, "interpret", verdict, message, heddle_now() - start, run.n_finding, finding);
	heddle_case_arrays_free(t->definition, array);
}

/* ---- what sizes would reach ---- */

/* Something of the node has never run; without `nested`: something that no loop or condition inside of it decides about. */
static bool has_not_run(const heddle_node *node, const bool *ran, bool nested)
{
	const bool decides = node->kind == HEDDLE_NODE_FOR || node->kind == HEDDLE_NODE_IF;
	if (!does_something(node))
		return false;
	bool left = !ran[node->id];
	for (int k = 0; k < node->n_child && !left && (nested || !decides); ++k)
		left = has_not_run(node->child[k], ran, nested);
	return left;
}

static bool region_reaches(const heddle_region *r, const bool *ran)
{
	bool reaches = false;
	for (int k = 0; k < r->n_child && !reaches; ++k) {
		const heddle_region *child = r->child[k];
		reaches = (r->node && child->executed && k < r->node->n_child && has_not_run(r->node->child[k], ran, false)) || region_reaches(child, ran);
	}
	return reaches;
}

/* Would these sizes run a part of the launch that has not run yet?  It is counted, not run; where that cannot be told the answer is yes. */
static bool launch_reaches(const heddle_launch *launch, const int64_t *size, const bool *ran)
{
	heddle_regions regions;
	if (ran && !has_not_run(launch->body, ran, true))
		return false;
	const bool known = heddle_regions_read(&regions, launch, size, 1) && !regions.data;
	const bool reaches = !known || (regions.body->executed && (!ran || has_not_run(launch->body, ran, false) || region_reaches(regions.body, ran)));
	heddle_regions_free(&regions);
	return reaches;
}

/* Would they run a part of the program that is chosen for them (with addresses that are not aligned: `misalign`) that has not run yet? */
static bool reaches_more(heddle_test *t, const heddle_test_variant *v, const heddle_case *c, int misalign, const coverage *cover)
{
	const int chosen = heddle_test_chosen(t, v, c, misalign);
	if (chosen < 0)
		return false;
	const heddle_program *program = cover[chosen].program;
	const int64_t *size = sizes_of(t, program, c->size);
	bool any = false;
	for (int k = 0; k < program->n_launch && !any; ++k)
		any = launch_reaches(program->launch[k], size, cover[chosen].ran[k]);
	return any;
}

/* ---- all cases ---- */

/* Another program runs where addresses are not aligned, and some of it has not run yet. */
static bool is_worth_misaligning(heddle_test *t, const heddle_test_variant *v, const heddle_case *c, const coverage *cover)
{
	const int moved = heddle_test_chosen(t, v, c, 1);
	return moved >= 0 && moved != heddle_test_chosen(t, v, c, 0) && (t->options->thorough || reaches_more(t, v, c, 1, cover));
}

void heddle_test_interpret(heddle_test *t, const heddle_test_variant *v, bool whole)
{
	coverage *cover = coverage_new(t, &v->variants);
	bool any = false;
	for (int k = 0; k < v->cases.n; ++k) {
		const heddle_case *c = &v->cases.item[k];
		heddle_test_expected *e = heddle_test_expect(t, c->size, HEDDLE_FILL_RANDOM);
		if (e->fault)
			continue;
		any = true;
		interpret_once(t, v, c, "", e, 0, cover);
		if (is_worth_misaligning(t, v, c, cover))
			interpret_once(t, v, c, "misaligned", e, 1, cover);
		if (!heddle_definition_may_be_exact(t->definition) || (!t->options->thorough && k % 2))
			continue;
		e = heddle_test_expect(t, c->size, HEDDLE_FILL_INTEGERS);
		if (!e->fault && e->reference->exact)
			interpret_once(t, v, c, "whole numbers", e, 0, cover);
	}
	if (!whole || !any)
		return;
	/* Statement instances that a search for more may cost; cases that the file names are not part of the search. */
	double usual = t->options->thorough ? 1e9 : 4e7, dear = 5e8;
	for (int k = 0; k < v->sweep.n; ++k) {
		const heddle_case *c = &v->sweep.item[k];
		double *budget = c->dear ? &dear : &usual;
		if (*budget <= 0 || (!reaches_more(t, v, c, 0, cover) && !is_worth_misaligning(t, v, c, cover)))
			continue;
		*budget -= c->given ? 0 : c->cost + 1e4;
		heddle_test_expected *e = heddle_test_expect(t, c->size, HEDDLE_FILL_RANDOM);
		if (e->fault)
			continue;
		interpret_once(t, v, c, "", e, 0, cover);
		if (is_worth_misaligning(t, v, c, cover))
			interpret_once(t, v, c, "misaligned", e, 1, cover);
	}
	judge_coverage(t, v, cover);
}
