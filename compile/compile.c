/* definition + target + config -> program.
 * SPDX-License-Identifier: MIT
 */
#include "compile/compile.h"

#include "compile/pick_parts.h"

#include "cost/rules.h"
#include "model/passes.h"
#include "model/simplify.h"
#include "model/rewrite.h"

#include <string.h>

heddle_space_language heddle_target_space_language(const heddle_target *target)
{
	const heddle_language l = heddle_target_language(target);
	return (heddle_space_language){.max_vector = l.max_vector, .max_bytes = l.max_bytes, .zips = l.zips, .unaligned = l.unaligned_vectors,
				       .vector_arithmetic = l.vector_arithmetic,
				       .shuffles = l.shuffles && target->descriptor->shuffles};
}

/* The program, simplified. */
static heddle_program *finish(heddle_ctx *ctx, heddle_scop *scop, const heddle_target *target, heddle_config *config)
{
	heddle_program *program = scop->program;
	heddle_language language = heddle_target_language(target);
	heddle_text line = {0};
	if (!program)
		return NULL;
	heddle_config_print(config, &line);
	program->config = heddle_arena_strdup(program->arena, heddle_text_str(&line));
	program->target = heddle_arena_strdup(program->arena, target->text);
	program->policy = scop->definition->policy;
	heddle_text_free(&line);
	heddle_simplify_options options = {.vector_arithmetic = language.vector_arithmetic,
					   .unaligned_vectors = language.unaligned_vectors,
					   .zips = language.zips,
					   .copies = language.copies,
					   .in_flight = heddle_in_flight(scop->descriptor),
					   .max_vector = language.max_vector,
					   .max_bytes = language.max_bytes};
	if (heddle_simplify(ctx, program, &options) < 0 || heddle_program_validate(ctx, program) < 0)
		return heddle_program_free(program);
	program->proof = heddle_arena_strdup(program->arena, scop->proof ? scop->proof : "not proved: not checked");
	return program;
}

/* One attempt: the passes with one way of completing the config. */
static heddle_program *attempt(heddle_ctx *ctx, heddle_arena *arena, const heddle_definition *rewritten,
			       const heddle_target *target, heddle_config *config, const heddle_compile_options *options,
			       bool simple)
{
	heddle_scop *scop = heddle_scop_new(ctx, arena, rewritten, target->descriptor);
	heddle_pass_options passes = {.complete = options->complete ? NULL : simple ? heddle_rules_complete_simple : heddle_rules_complete,
				      .dump = options->dump,
				      .stop = options->stop,
				      .times = options->times,
				      .unproved = options->unproved,
				      .out = options->report,
				      .timeout = options->timeout,
				      .max_operations = options->max_operations};
	scop->shuffles = heddle_target_space_language(target).shuffles;
	if (heddle_passes_run(scop, config, &passes) < 0)
		scop->program = heddle_program_free(scop->program);
	if (options->examine)
		options->examine(scop, options->user);
	heddle_program *program = finish(ctx, scop, target, config);
	if (options->plan_arena && program)
		*options->plan = heddle_explain(options->plan_arena, scop, program);
	heddle_scop_free(scop);
	return program;
}

/* Was the only error so far that isl reached its bound? */
static bool only_the_limit(const heddle_ctx *ctx, int before)
{
	int n = 0;
	bool limit = true;
	for (const heddle_diagnostic *d = heddle_diagnostics(ctx); d; d = d->next) {
		if (d->severity != HEDDLE_ERROR || n++ < before)
			continue;
		limit = limit && d->code == 600;
	}
	return n > before && limit;
}

/* The first part of an expression that is computed in float64, or NULL. */
static const heddle_expr *find_float64(const heddle_expr *x)
{
	if (x->type == HEDDLE_FLOAT64)
		return x;
	for (int k = 0; k < x->n_arg; k++) {
		const heddle_expr *found = find_float64(x->arg[k]);
		if (found)
			return found;
	}
	return NULL;
}

int heddle_target_takes(heddle_ctx *ctx, const heddle_definition *definition, const heddle_target *target)
{
	const heddle_location *place = NULL;
	if (target->descriptor->float64)
		return 0;
	for (int i = 0; i < definition->n_tensor && !place; i++)
		if (definition->tensor[i]->type == HEDDLE_FLOAT64)
			place = &definition->tensor[i]->location;
	for (int i = 0; i < definition->n_statement && !place; i++) {
		const heddle_expr *x = find_float64(definition->statement[i]->value);
		place = x ? &x->location : NULL;
	}
	if (!place)
		return 0;
	heddle_error(ctx, 458, place, "%s has no float64, which `%s` needs", target->text, definition->name);
	return heddle_note(ctx, NULL, "write float32 here, or take a chip with float64: heddle arch show NAME says which have it"), -1;
}

/* `simple`: what is too much for isl is compiled with a simpler schedule. */
static heddle_program *compile(heddle_ctx *ctx, const heddle_definition *definition, const heddle_target *target,
			       const heddle_compile_options *options, bool simple)
{
	heddle_arena *arena = heddle_arena_new();
	heddle_program *program = NULL;
	int before = heddle_error_count(ctx);
	heddle_config *config = heddle_config_parse(ctx, arena, options->config);
	if (config && !options->complete) {
		heddle_rules_split(arena, config, definition, target->descriptor);
		heddle_rules_share(arena, config, definition, target->descriptor);
		heddle_rules_turn(arena, config, definition, target->descriptor);
	}
	heddle_definition *rewritten = config ? heddle_definition_rewrite(ctx, arena, definition, config) : NULL;
	if (rewritten)
		program = attempt(ctx, arena, rewritten, target, config, options, false);
	if (rewritten && !program && before == 0 && simple && only_the_limit(ctx, before)) {
		/* too much for isl: a simpler legal schedule, and said so */
		heddle_diagnostics_clear(ctx);
		heddle_warning(ctx, 602, &definition->location, "`%s` reached the limit of polyhedral operations: %s",
			       definition->name, "compiled with one kernel per statement, one element per thread");
		config = heddle_config_new(arena);
		config->has_split = true;
		rewritten = heddle_definition_rewrite(ctx, arena, definition, config);
		program = rewritten ? attempt(ctx, arena, rewritten, target, config, options, true) : NULL;
	}
	heddle_arena_free(arena);
	return program;
}

static bool gives_nothing(const heddle_compile_options *options)
{
	return !options->config || !*options->config;
}

heddle_program *heddle_compile_gathered(heddle_ctx *ctx, const heddle_definition *definition, const heddle_target *target,
					const heddle_compile_options *options)
{
	static const heddle_compile_options none = {0};
	options = options ? options : &none;
	return compile(ctx, definition, target, options, gives_nothing(options));
}

heddle_program *heddle_compile_config(heddle_ctx *ctx, const heddle_definition *definition, const heddle_target *target,
				      const heddle_compile_options *options)
{
	heddle_arena *arena = heddle_arena_new();
	definition = heddle_definition_gather(ctx, arena, heddle_definition_unflatten(ctx, arena, definition));
	heddle_program *program = heddle_compile_gathered(ctx, definition, target, options);
	heddle_arena_free(arena);
	return program;
}

heddle_program *heddle_compile(heddle_ctx *ctx, const heddle_definition *definition, const heddle_target *target,
			       const heddle_compile_options *options)
{
	heddle_compile_options chosen = options ? *options : (heddle_compile_options){0};
	heddle_arena *arena = heddle_arena_new();
	definition = heddle_definition_gather(ctx, arena, heddle_definition_unflatten(ctx, arena, definition));
	const heddle_pick_options pick = {.config = chosen.config, .effort = chosen.effort, .threads = chosen.threads,
					  .time = chosen.time, .time_user = chosen.time_user};
	const bool simple = gives_nothing(&chosen);
	if (!chosen.complete && chosen.effort != HEDDLE_EFFORT_RULES)
		chosen.config = heddle_pick(ctx, arena, definition, target, &pick, &chosen.complete);
	const bool refused = chosen.effort != HEDDLE_EFFORT_RULES && !chosen.complete && !chosen.config;
	heddle_program *program = refused ? NULL : compile(ctx, definition, target, &chosen, simple);
	heddle_arena_free(arena);
	return program;
}
