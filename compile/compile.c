/* definition + target + config -> program.
 * SPDX-License-Identifier: MIT
 */
#include "compile/compile.h"

#include "compile/pick_parts.h"

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

/* heddle_pass_options.complete: each statement is a kernel of its own, with one element per thread. */
static int complete_plain(heddle_scop *scop, heddle_config *config, heddle_config_need part, void *user)
{
	const heddle_quantity *limit = &scop->descriptor->threads_per_block;
	const int threads = limit->set && limit->value < 64 ? (int)limit->value : 64;
	(void)user;
	for (int i = 0; i < scop->n_stmt && part == HEDDLE_NEEDS_FUSE && config->n_fuse < scop->n_stmt; i++)
		HEDDLE_PUSH(scop->arena, config->fuse, config->n_fuse, i);
	for (int k = 0; k < scop->n_kernel && part == HEDDLE_NEEDS_LAYOUT && scop->descriptor->execution == HEDDLE_SIMT; k++) {
		const heddle_stmt *stmt = scop->kernel[k]->stmt[0];
		int d = stmt->n_dim - 1;
		while (d >= 0 && stmt->dim[d].member < 0)
			d--;
		if (d >= 0 && k >= config->n_kernel)
			heddle_named_set(config, &heddle_config_stmt(config, k, stmt->position)->thread, stmt->dim[d].name, threads);
	}
	return 0;
}

heddle_lowered *heddle_lower(heddle_ctx *ctx, const heddle_definition *definition, const heddle_target *target,
			     const heddle_compile_options *options)
{
	heddle_arena *arena = heddle_arena_new();
	heddle_lowered *lowered = HEDDLE_NEW(arena, heddle_lowered);
	heddle_config *config = heddle_config_parse(ctx, arena, options->config);
	heddle_definition *rewritten = config ? heddle_definition_rewrite(ctx, arena, definition, config) : NULL;
	const heddle_pass_options passes = {.complete = options->complete ? NULL : complete_plain,
					    .dump = options->dump,
					    .stop = options->stop,
					    .times = options->times,
					    .unproved = options->unproved,
					    .out = options->report,
					    .timeout = options->timeout,
					    .max_operations = options->max_operations};
	*lowered = (heddle_lowered){.arena = arena};
	if (rewritten) {
		heddle_scop *scop = lowered->scop = heddle_scop_new(ctx, arena, rewritten, target->descriptor);
		scop->shuffles = heddle_target_space_language(target).shuffles;
		if (heddle_passes_run(scop, config, &passes) < 0)
			scop->program = heddle_program_free(scop->program);
		if (options->examine)
			options->examine(scop, options->user);
		lowered->program = finish(ctx, scop, target, config);
	}
	if (options->plan_arena && lowered->program)
		*options->plan = heddle_explain(options->plan_arena, lowered->scop, lowered->program);
	return lowered->program ? lowered : heddle_lowered_free(lowered);
}

heddle_lowered *heddle_lowered_free(heddle_lowered *lowered)
{
	if (lowered) {
		heddle_program_free(lowered->program);
		heddle_scop_free(lowered->scop);
		heddle_arena_free(lowered->arena);
	}
	return NULL;
}

/* Frees all but the program, which it returns; NULL for NULL. */
static heddle_program *program_of(heddle_lowered *lowered)
{
	heddle_program *program = lowered ? lowered->program : NULL;
	if (lowered)
		lowered->program = NULL;
	heddle_lowered_free(lowered);
	return program;
}

/* Runs the proof, which was left out, and what else the options ask for.  Consumes `lowered`; NULL with diagnostics: a violation. */
static heddle_program *proved(heddle_ctx *ctx, heddle_lowered *lowered, const heddle_compile_options *options)
{
	heddle_scop *scop = lowered->scop;
	scop->ctx = ctx;
	if (!options->unproved && heddle_passes_prove(scop, options->timeout, options->max_operations) < 0)
		lowered->program = heddle_program_free(lowered->program);
	if (options->examine)
		options->examine(scop, options->user);
	if (lowered->program && scop->proof)
		lowered->program->proof = heddle_arena_strdup(lowered->program->arena, scop->proof);
	if (lowered->program && options->plan_arena)
		*options->plan = heddle_explain(options->plan_arena, scop, lowered->program);
	return program_of(lowered);
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

heddle_program *heddle_compile_gathered(heddle_ctx *ctx, const heddle_definition *definition, const heddle_target *target,
					const heddle_compile_options *options)
{
	return program_of(heddle_lower(ctx, definition, target, options));
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

/* The program with the config that is picked. */
static heddle_program *compile_picked(heddle_ctx *ctx, heddle_arena *arena, const heddle_definition *gathered,
				      const heddle_target *target, heddle_compile_options options)
{
	const int diagnostics = heddle_diagnostics_count(ctx);
	const heddle_pick_options how = {.config = options.config, .effort = options.effort, .threads = options.threads,
					 .time = options.time, .time_user = options.time_user};
	heddle_pick_result picked = {0};
	if (heddle_pick(ctx, arena, gathered, target, &how, &picked) < 0)
		return NULL;
	if (picked.lowered && !options.report)
		return proved(ctx, picked.lowered, &options);
	heddle_lowered_free(picked.lowered);
	heddle_diagnostics_keep(ctx, diagnostics);
	options.config = picked.config;
	options.complete = picked.complete;
	return heddle_compile_gathered(ctx, gathered, target, &options);
}

heddle_program *heddle_compile(heddle_ctx *ctx, const heddle_definition *definition, const heddle_target *target,
			       const heddle_compile_options *given)
{
	heddle_compile_options options = given ? *given : (heddle_compile_options){0};
	heddle_arena *arena = heddle_arena_new();
	const heddle_definition *gathered = heddle_definition_gather(ctx, arena, heddle_definition_unflatten(ctx, arena, definition));
	const int errors = heddle_error_count(ctx), diagnostics = heddle_diagnostics_count(ctx);
	heddle_program *program;
	if (options.complete)
		program = heddle_compile_gathered(ctx, gathered, target, &options);
	else
		program = compile_picked(ctx, arena, gathered, target, options);
	const bool limit = !program && only_the_limit(ctx, errors), none = !options.config || !*options.config;
	if (!program && !limit && !options.complete && !options.stop && options.effort == HEDDLE_EFFORT_CLOSED_FORM) {
		heddle_diagnostics_keep(ctx, diagnostics); /* a pass refuses the first choice: others are tried */
		options.effort = HEDDLE_EFFORT_USUAL;
		program = compile_picked(ctx, arena, gathered, target, options);
	}
	if (limit && errors == 0 && none) {
		/* too much for isl: a simpler legal schedule, and said so */
		heddle_diagnostics_clear(ctx);
		heddle_warning(ctx, 602, &definition->location, "`%s` reached the limit of polyhedral operations: %s",
			       definition->name, "compiled with one kernel per statement, one element per thread");
		program = heddle_compile_gathered(ctx, gathered, target, &options);
	}
	heddle_arena_free(arena);
	return program;
}
