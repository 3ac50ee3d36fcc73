/* Cases of a definition with their expected results; one run of a program judged.
 * SPDX-License-Identifier: MIT
 */
#include "tests/programs/pipeline.h"

#include "cost/traffic.h"
#include "harness/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool same_size(const heddle_definition *definition, const int64_t *a, const int64_t *b)
{
	for (int i = 0; i < definition->n_size; i++)
		if (a[i] != b[i])
			return false;
	return true;
}

static const char *size_name(heddle_arena *arena, const heddle_definition *definition, const int64_t *size)
{
	heddle_text text = {0};
	for (int i = 0; i < definition->n_size; i++)
		heddle_text_printf(&text, "%s%s=%lld", i ? "," : "", definition->size[i]->name, (long long)size[i]);
	const char *name = heddle_arena_strdup(arena, heddle_text_str(&text));
	heddle_text_free(&text);
	return name;
}

static int first_code(const heddle_ctx *ctx)
{
	for (const heddle_diagnostic *d = heddle_diagnostics(ctx); d; d = d->next)
		if (d->severity == HEDDLE_ERROR)
			return d->code;
	return 0;
}

/* Sizes that the definition does not take are left out where they are edges, and reported where they were chosen. */
static int add_case(heddle_ctx *ctx, heddle_arena *arena, const heddle_module *module, const heddle_definition *definition,
		    const int64_t *size, bool edge, pipeline_cases *cases)
{
	pipeline_case c = {.definition = definition, .name = size_name(arena, definition, size)};
	for (int i = 0; i < cases->n; i++)
		if (same_size(definition, cases->item[i].size, size))
			return 0;
	c.size = HEDDLE_NEW_ARRAY(arena, int64_t, definition->n_size + 1);
	memcpy(c.size, size, sizeof(*size) * (size_t)definition->n_size);
	c.initial = HEDDLE_NEW_ARRAY(arena, heddle_array *, definition->n_tensor + 1);
	heddle_reference_options options = {.budget = 0};
	if (heddle_sizes_check(ctx, definition, size) == 0 &&
	    heddle_case_arrays(ctx, module, definition, size, HEDDLE_FILL_RANDOM, 7, c.initial) == 0) {
		c.reference = heddle_reference_evaluate(ctx, definition, size, c.initial, &options);
		if (c.reference) {
			HEDDLE_PUSH(arena, cases->item, cases->n, c);
			return 0;
		}
		heddle_case_arrays_free(definition, c.initial);
	}
	/* 710 to 716: the sizes break a precondition or leave inputs no value */
	int code = first_code(ctx);
	bool refused = edge && (code < 700 || (code >= 710 && code <= 716));
	if (!refused)
		printf("FAULT %s %s: %s\n", definition->name, c.name, heddle_ctx_messages(ctx));
	heddle_diagnostics_clear(ctx);
	return refused ? 0 : -1;
}

int pipeline_cases_make(heddle_ctx *ctx, heddle_arena *arena, const heddle_module *module,
			const heddle_definition *definition, const heddle_case_options *options, bool edges,
			pipeline_cases *cases)
{
	heddle_case_list list = {0};
	if (heddle_cases_choose(ctx, arena, module, definition, options, &list) < 0) {
		printf("FAULT %s: %s\n", definition->name, heddle_ctx_messages(ctx));
		heddle_diagnostics_clear(ctx);
		return -1;
	}
	for (int i = 0; i < list.n; i++)
		if (add_case(ctx, arena, module, definition, list.item[i].size, false, cases) < 0)
			return -1;
	if (!edges || !list.n)
		return 0;
	int64_t *size = HEDDLE_NEW_ARRAY(arena, int64_t, definition->n_size + 1);
	for (int edge = -2; edge < definition->n_size; edge++) {
		for (int i = 0; i < definition->n_size; i++)
			size[i] = edge < 0 ? edge + 2 : i == edge ? 0 : list.item[0].size[i];
		if (add_case(ctx, arena, module, definition, size, true, cases) < 0)
			return -1;
	}
	return 0;
}

int pipeline_cases_add(heddle_ctx *ctx, heddle_arena *arena, const heddle_module *module,
		       const heddle_definition *definition, const char *text, pipeline_cases *cases)
{
	heddle_size_list *list = heddle_sizes_parse(ctx, arena, text);
	int64_t *size = HEDDLE_NEW_ARRAY(arena, int64_t, definition->n_size + 1);
	for (int i = 0; list && i < list->n; i++)
		for (int k = 0; k < definition->n_size; k++)
			if (!strcmp(definition->size[k]->name, list->range[i].name))
				size[k] = list->range[i].min;
	return list ? add_case(ctx, arena, module, definition, size, false, cases) : -1;
}

void pipeline_cases_free(pipeline_cases *cases)
{
	for (int i = 0; i < cases->n; i++) {
		heddle_case_arrays_free(cases->item[i].definition, cases->item[i].initial);
		heddle_reference_free(cases->item[i].reference);
	}
}

static const char *judge(heddle_arena *arena, pipeline_case *c, heddle_array *const *array)
{
	bool all = true;
	for (int k = 0; k < c->reference->n_output; k++) {
		heddle_comparison comparison;
		const heddle_expected *expected = &c->reference->output[k];
		heddle_compare(arena, expected, array[expected->tensor->position], &comparison);
		/* a bound too wide to judge by: another case has to */
		if (!comparison.pass && !comparison.vacuous)
			return comparison.message;
		all = all && !comparison.vacuous;
	}
	c->judged += all;
	return NULL;
}

int pipeline_case_infinite(heddle_ctx *ctx, pipeline_case *c, const char *tensor, bool (*choose)(int64_t number))
{
	heddle_reference_options options = {.budget = 0};
	for (int i = 0; i < c->definition->n_tensor; i++) {
		heddle_array *array = c->initial[i];
		if (!array || strcmp(c->definition->tensor[i]->name, tensor))
			continue;
		for (int64_t number = 0; number < heddle_array_count(array); number++)
			if (choose(number))
				heddle_array_set(array, heddle_array_offset(array, number), (long double)INFINITY);
	}
	heddle_reference_free(c->reference);
	c->reference = heddle_reference_evaluate(ctx, c->definition, c->size, c->initial, &options);
	return c->reference ? 0 : -1;
}

static void add_coverage(heddle_arena *arena, const heddle_interpret *run, pipeline_coverage *coverage)
{
	for (int k = 0; k < run->program->n_launch && k < 64; k++) {
		const heddle_interpret_launch *launch = &run->launch[k];
		if (!coverage->ran[k])
			coverage->ran[k] = HEDDLE_NEW_ARRAY(arena, bool, launch->n_node + 1);
		coverage->n[k] = launch->n_node;
		for (int i = 0; i < launch->n_node; i++)
			coverage->ran[k][i] |= launch->runs[i] > 0;
	}
}

/* What the run moved, as the cost model counts it from the text; NULL: it does. */
static const char *judge_traffic(heddle_arena *arena, const heddle_interpret *run)
{
	for (int k = 0; k < run->program->n_launch; k++) {
		heddle_traffic text;
		if (!heddle_launch_traffic(run->program->launch[k], run->size, &text) || text.data)
			continue; /* the data decide */
		for (int space = 0; space < HEDDLE_N_SPACE; space++) {
			const heddle_interpret_traffic *t = &run->launch[k].space[space];
			if (space != HEDDLE_SPACE_REGISTER && (t->load_bytes != text.load_bytes[space] || t->store_bytes != text.store_bytes[space]))
				return heddle_arena_printf(arena, "traffic: launch %d: %llu bytes loaded and %llu stored in space %d, by its text %llu and %llu", k,
							   (unsigned long long)t->load_bytes, (unsigned long long)t->store_bytes, space,
							   (unsigned long long)text.load_bytes[space], (unsigned long long)text.store_bytes[space]);
		}
	}
	return NULL;
}

const char *pipeline_run(heddle_ctx *ctx, heddle_arena *arena, const heddle_program *program, const heddle_target *target,
			 pipeline_case *c, uint64_t seed, uint64_t max_operations, pipeline_coverage *coverage)
{
	const heddle_definition *d = c->definition;
	heddle_array **array = HEDDLE_NEW_ARRAY(arena, heddle_array *, d->n_tensor + 1);
	heddle_array **buffer = HEDDLE_NEW_ARRAY(arena, heddle_array *, program->n_buffer + 1);
	int64_t *size = HEDDLE_NEW_ARRAY(arena, int64_t, program->n_size + 1);
	for (int i = 0; i < d->n_tensor; i++)
		array[i] = c->initial[i] ? heddle_array_copy(c->initial[i]) : NULL;
	for (int i = 0; i < program->n_buffer; i++) {
		heddle_buffer_role role = program->buffer[i]->role;
		bool argument = role == HEDDLE_BUFFER_INPUT || role == HEDDLE_BUFFER_OUTPUT || role == HEDDLE_BUFFER_INOUT ||
				role == HEDDLE_BUFFER_SCALAR;
		for (int k = 0; k < d->n_tensor && argument; k++)
			if (array[k] && !strcmp(d->tensor[k]->name, program->buffer[i]->name))
				buffer[i] = array[k];
	}
	for (int i = 0; i < program->n_size; i++)
		for (int k = 0; k < d->n_size; k++)
			if (!strcmp(program->size[i].name, d->size[k]->name))
				size[i] = c->size[k];
	heddle_interpret run = {.arena = arena,
				.program = program,
				.size = size,
				.array = buffer,
				.seed = seed,
				.max_operations = max_operations,
				.max_findings = 1,
				.unaligned_vectors = heddle_dialect_language(target->dialect).unaligned_vectors ||
						     target->descriptor->unaligned_vectors};
	const char *wrong;
	if (heddle_interpret_run(ctx, &run) < 0) {
		wrong = heddle_arena_strdup(arena, heddle_ctx_messages(ctx));
		heddle_diagnostics_clear(ctx);
	} else if (run.n_finding) {
		const heddle_interpret_finding *f = &run.finding[0];
		wrong = heddle_arena_printf(arena, "%s: line %d, launch %d, node %d, block %lld, thread %d: %s", f->kind, f->line,
					    f->launch, f->node, (long long)f->block, f->thread, f->text);
	} else {
		wrong = judge(arena, c, array);
		wrong = wrong ? wrong : judge_traffic(arena, &run);
		if (coverage)
			add_coverage(arena, &run, coverage);
	}
	for (int i = 0; i < d->n_tensor; i++)
		heddle_array_free(array[i]);
	return wrong;
}

const char *pipeline_run_text(heddle_ctx *ctx, heddle_arena *arena, heddle_program *program, const heddle_target *target,
			      pipeline_case *c, uint64_t seed, const heddle_runner *runner, bool *missing)
{
	const heddle_definition *d = c->definition;
	heddle_emit_options options = {.base = "random", .header = "random", .source_name = "random.tc"};
	heddle_text source = {0};
	heddle_manifest *manifest = heddle_manifest_make(ctx, target, HEDDLE_ONE_VARIANT(program), &options);
	*missing = false;
	if (!manifest || heddle_source_print(ctx, target, HEDDLE_ONE_VARIANT(program), &options, &source) < 0)
		return heddle_arena_strdup(arena, heddle_ctx_messages(ctx));
	heddle_array **array = HEDDLE_NEW_ARRAY(arena, heddle_array *, d->n_tensor + 1);
	heddle_array **argument = HEDDLE_NEW_ARRAY(arena, heddle_array *, manifest->n_argument + 1);
	int64_t *size = HEDDLE_NEW_ARRAY(arena, int64_t, manifest->n_size + 1);
	for (int i = 0; i < d->n_tensor; i++)
		array[i] = c->initial[i] ? heddle_array_copy(c->initial[i]) : NULL;
	for (int i = 0; i < manifest->n_argument; i++)
		for (int k = 0; k < d->n_tensor; k++)
			if (array[k] && !strcmp(d->tensor[k]->name, manifest->argument[i].name))
				argument[i] = array[k];
	for (int i = 0; i < manifest->n_size; i++)
		for (int k = 0; k < d->n_size; k++)
			if (!strcmp(manifest->size[i].name, d->size[k]->name))
				size[i] = c->size[k];
	heddle_run run = {.arena = arena,
			  .manifest = manifest,
			  .source = heddle_text_str(&source),
			  .source_path = "random",
			  .size = size,
			  .argument = argument,
			  .timeout = 120,
			  .seed = seed};
	const char *wrong = NULL;
	if (heddle_run_isolated(ctx, runner, &run) < 0)
		wrong = heddle_arena_strdup(arena, heddle_ctx_messages(ctx));
	else if (run.verdict == HEDDLE_PASS)
		wrong = judge(arena, c, array);
	else if (run.n_finding)
		wrong = heddle_arena_printf(arena, "%s: line %d: %s", run.finding[0].kind, run.finding[0].line, run.finding[0].text);
	else
		wrong = run.message ? run.message : "failed without a word";
	*missing = run.verdict == HEDDLE_MISSING || run.verdict == HEDDLE_UNSUPPORTED;
	for (int i = 0; i < d->n_tensor; i++)
		heddle_array_free(array[i]);
	heddle_manifest_free(manifest);
	heddle_text_free(&source);
	return wrong;
}
