/* Compiles every config without proof and rates its program; rates the loads of public kernels.
 * SPDX-License-Identifier: MIT
 */
#include "bench/replay/rating.h"

#include "compile/compile.h"
#include "cost/footprint.h"
#include "cost/measure.h"
#include "cost/rate.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_THREADS = 64 };

typedef struct work {
	pthread_mutex_t mutex; /* for what follows */
	heddle_arena *arena;
	const heddle_timings *timings;
	bool *taken; /* lists, by their numbers */
	bool figures, footprint;
} work;

/* A copy in the caller's arena. */
static const char *keep(work *w, const char *text)
{
	pthread_mutex_lock(&w->mutex);
	const char *copy = heddle_arena_strdup(w->arena, text);
	pthread_mutex_unlock(&w->mutex);
	return copy;
}

/* Take the list of the largest group that no thread has taken; -1: there is none. */
static int next_list(work *w)
{
	const heddle_timing_group *next = NULL;
	pthread_mutex_lock(&w->mutex);
	for (int i = 0; i < w->timings->n; i++)
		if (!w->taken[w->timings->group[i].list] && (!next || w->timings->group[i].n > next->n))
			next = &w->timings->group[i];
	if (next)
		w->taken[next->list] = true;
	pthread_mutex_unlock(&w->mutex);
	return next ? next->list : -1;
}

static void refuse_all(work *w, const heddle_timing_group *g, const char *why)
{
	const char *text = keep(w, why);
	for (int i = 0; i < g->n; i++) {
		g->timing[i].candidate->refused = text;
		g->timing[i].candidate->done = true;
	}
}

/* The first error of the context. */
static const char *reason(const heddle_ctx *ctx)
{
	const heddle_diagnostic *d = heddle_diagnostics(ctx);
	while (d && d->severity != HEDDLE_ERROR)
		d = d->next;
	return d ? d->message : "no reason is given";
}

/* ---- ratings -------------------------------------------------------------------------------------------------------------------- */

const char heddle_figure_names[] =
	"bound\tissue_s\tshared_s\tcache_s\tmemory_s\tlatency_s\tspill_s\tlaunch_s\ttail\tresident\tlimiter\toccupancy\twaves\tgranted\tspilled\ttraffic\t"
	"fits\tblocks\tthreads\tfma\tfma64\tfloat\tinteger\tspecial\tconvert\tpermute\tshuffle\tshared_load\tshared_store\tglobal_load\tglobal_store\t"
	"stack\tbranch\tbarrier\tmatrix\tshared_cycles\tsectors\tstored\tstreamed\tprefetched\tflight\tregisters\tpeak_runs\tshared_bytes";

static const char *figures_of(work *w, const heddle_load *l, const heddle_rating *r)
{
	heddle_text text = {0};
	heddle_text_printf(&text, "%s\t%.4g\t%.4g\t%.4g\t%.4g\t%.4g\t%.4g\t%.4g\t%.3g\t%.4g\t%s\t%.4g\t%.4g\t%.4g\t%.4g\t%.4g\t%d\t%.6g\t%d", r->bound, r->issue,
			   r->shared, r->cache, r->memory, r->latency, r->spill, r->launch, r->tail, r->resident, r->limiter, r->occupancy, r->waves,
			   r->registers, r->spilled, r->traffic, r->fits, l->blocks, l->threads);
	for (int i = 0; i < HEDDLE_N_INSTRUCTION; i++)
		heddle_text_printf(&text, "\t%.6g", l->instruction[i]);
	heddle_text_printf(&text, "\t%.6g\t%.6g\t%.6g\t%.6g\t%.4g\t%.4g\t%.4g\t%.4g\t%.6g", l->shared_cycles, l->sectors, l->stored, l->streamed,
			   l->prefetched, l->flight, l->registers, l->peak_runs, l->shared_bytes);
	const char *kept = keep(w, heddle_text_str(&text));
	heddle_text_free(&text);
	return kept;
}

/* The sum over launches; figures are those of the longest. */
static void rate_program(work *w, heddle_timed_config *t, const heddle_program *program, const heddle_target *target)
{
	heddle_load load, longest;
	heddle_rating rating, of_longest = {0};
	int64_t *size = heddle_xalloc(sizeof(*size) * (size_t)(program->n_size + 1));
	for (int i = 0; i < program->n_size; i++)
		size[i] = program->size[i].min;
	for (int i = 0; i < program->n_launch && !t->refused; i++) {
		if (!heddle_measure(program, program->launch[i], target->descriptor, size, &load)) {
			t->refused = "a launch cannot be measured";
			continue;
		}
		rating = heddle_rate(&load, target->descriptor);
		t->rated += rating.seconds;
		if (rating.seconds > of_longest.seconds) {
			longest = load;
			of_longest = rating;
		}
	}
	if (w->figures && of_longest.seconds > 0)
		t->figures = figures_of(w, &longest, &of_longest);
	free(size);
}

typedef struct placed {
	work *w;
	heddle_timed_config *timing;
	const heddle_target *target;
} placed;

/* The same by the closed form, of the kernels that pass `place` has left. */
static void rate_placed(const heddle_scop *scop, void *user)
{
	placed *p = user;
	const heddle_language l = heddle_target_language(p->target);
	const heddle_space_language language = {l.max_vector, l.max_bytes, l.zips, l.unaligned_vectors, l.vector_arithmetic, scop->shuffles};
	heddle_arena *arena = heddle_arena_new();
	heddle_load longest;
	heddle_rating of_longest = {0};
	for (int k = 0; k < scop->n_kernel && scop->kernel[k]->config; k++) {
		const heddle_outline *outline = heddle_outline_new(arena, (heddle_scop *)scop, scop->kernel[k], &language, NULL);
		heddle_candidate candidate;
		heddle_load load;
		heddle_candidate_of(outline, &candidate);
		heddle_footprint(outline, &candidate, &load);
		const heddle_rating rating = heddle_rate(&load, p->target->descriptor);
		p->timing->rated += rating.seconds;
		if (rating.seconds > of_longest.seconds) {
			longest = load;
			of_longest = rating;
		}
	}
	if (p->w->figures && of_longest.seconds > 0)
		p->timing->figures = figures_of(p->w, &longest, &of_longest);
	heddle_arena_free(arena);
}

static void rate_config(work *w, heddle_ctx *ctx, const heddle_definition *definition, const heddle_target *target, heddle_timed_config *t)
{
	placed user = {w, t, target};
	if (w->footprint) {
		const int before = heddle_error_count(ctx);
		heddle_compile_config(ctx, definition, target, &(heddle_compile_options){.config = t->config, .complete = true, .stop = "place", .examine = rate_placed, .user = &user});
		t->refused = heddle_error_count(ctx) > before ? keep(w, reason(ctx)) : NULL;
		return;
	}
	heddle_program *program = heddle_compile_config(ctx, definition, target, &(heddle_compile_options){.config = t->config, .complete = true, .unproved = true});
	if (program)
		rate_program(w, t, program, target);
	else
		t->refused = keep(w, reason(ctx));
	heddle_program_free(program);
}

static void rate_public(work *w, heddle_ctx *ctx, const heddle_timing_group *g)
{
	const heddle_descriptor *descriptor = heddle_descriptor_find(ctx, g->machine);
	if (!descriptor) {
		refuse_all(w, g, reason(ctx));
		return;
	}
	for (int i = 0; i < g->n; i++) {
		heddle_timed_config *t = g->timing[i].candidate;
		heddle_load load = {0};
		if (!g->form->adapter(descriptor, t->parameter, &load)) {
			t->refused = "the adapter refuses it";
			continue;
		}
		const heddle_rating rating = heddle_rate(&load, descriptor);
		t->rated = rating.seconds;
		t->figures = w->figures ? figures_of(w, &load, &rating) : NULL;
	}
}

/* ---- groups --------------------------------------------------------------------------------------------------------------------- */

static void rate_own(work *w, heddle_ctx *ctx, const heddle_timing_group *g)
{
	heddle_arena *arena = heddle_arena_new();
	heddle_target target;
	char *text = heddle_file_read(ctx, g->file, NULL);
	heddle_size_list *sizes = text ? heddle_sizes_parse(ctx, arena, g->sizes) : NULL;
	heddle_module *module = sizes ? heddle_module_parse_for(ctx, g->file, text, sizes, g->definition) : NULL;
	const heddle_definition *definition = module ? heddle_module_find(ctx, module, g->definition) : NULL;
	if (!definition || heddle_target_parse(ctx, g->target, &target) < 0) {
		refuse_all(w, g, reason(ctx));
		definition = NULL;
	}
	for (int i = 0; i < g->n && definition; i++) {
		heddle_timed_config *candidate = g->timing[i].candidate;
		heddle_diagnostics_clear(ctx);
		if (!candidate->done)
			rate_config(w, ctx, definition, &target, candidate);
		candidate->done = true;
	}
	heddle_module_free(module);
	free(text);
	heddle_arena_free(arena);
}

static void *run(void *user)
{
	work *w = user;
	for (int list = next_list(w); list >= 0; list = next_list(w)) {
		heddle_ctx *ctx = heddle_ctx_new();
		for (int i = 0; i < w->timings->n; i++) {
			const heddle_timing_group *g = &w->timings->group[i];
			if (g->list == list && g->form)
				rate_public(w, ctx, g);
			else if (g->list == list)
				rate_own(w, ctx, g);
		}
		heddle_ctx_free(ctx);
	}
	return NULL;
}

void heddle_timings_rate(heddle_arena *arena, const heddle_timings *timings, bool figures, bool footprint, int threads)
{
	pthread_t thread[MOST_THREADS];
	int started = 0;
	work w = {.arena = arena, .timings = timings, .figures = figures, .footprint = footprint, .taken = HEDDLE_NEW_ARRAY(arena, bool, timings->n_list + 1)};
	pthread_mutex_init(&w.mutex, NULL);
	while (started < threads - 1 && started < MOST_THREADS && pthread_create(&thread[started], NULL, run, &w) == 0)
		started++;
	run(&w);
	for (int i = 0; i < started; i++)
		pthread_join(thread[i], NULL);
	pthread_mutex_destroy(&w.mutex);
}
