/* Variants of the test engine: the ways of making kernels from one definition, and their cases.
 * SPDX-License-Identifier: MIT
 */
#include "harness/test_parts.h"

#include "backends/dialect.h"
#include "base/process.h"
#include "compile/compile.h"
#include "model/config.h"

#include <stdlib.h>
#include <string.h>

/* ---- variants ------------------------------------------------------------------------------------------------------------------- */

/* Tiles of a config line, by index name. */
static int tile_hints(heddle_test *t, const char *line, heddle_tile_hint **hint)
{
	int n = 0;
	*hint = NULL;
	heddle_config *config = heddle_config_parse(t->ctx, t->arena, line);
	if (!config) {
		heddle_diagnostics_clear(t->ctx);
		return 0;
	}
	for (int k = 0; k < config->n_kernel; ++k)
		for (int s = 0; s < config->kernel[k].n_stmt; ++s) {
			const heddle_named_list *tile = &config->kernel[k].stmt[s].tile;
			for (int j = 0; j < tile->n; ++j) {
				const int64_t rounds = heddle_named_get(&config->kernel[k].stmt[s].round, tile->item[j].name, 1);
				const heddle_tile_hint new = {tile->item[j].name, tile->item[j].value / rounds, rounds};
				HEDDLE_PUSH(t->arena, *hint, n, new);
			}
		}
	/* A split index i runs in chunks: the tile of i_chunk is that many chunks of i. */
	for (int k = 0; k < config->n_split; ++k) {
		const heddle_split *split = &config->split[k];
		const char *chunks = heddle_arena_printf(t->arena, "%s_chunk", split->dim);
		int64_t tile = 1;
		for (int j = 0; j < n; ++j)
			if (!strcmp((*hint)[j].index, chunks) && (*hint)[j].tile > tile)
				tile = (*hint)[j].tile;
		const heddle_tile_hint new = {split->dim, split->chunk * tile, 1};
		HEDDLE_PUSH(t->arena, *hint, n, new);
	}
	return n;
}

/* Threads that the lanes of a kernel take: those of its reductions over lanes, else, where it says how many it has, of what takes them all; 1
 * without any, 0: one cannot tell. */
static int64_t lanes_of(const heddle_kernel_config *kernel)
{
	for (int s = 0; s < kernel->n_stmt; ++s)
		for (int j = 0; j < kernel->stmt[s].reduce.n; ++j) {
			const heddle_named_value *how = &kernel->stmt[s].reduce.item[j];
			if (how->value == HEDDLE_REDUCE_LANES)
				return heddle_named_get(&kernel->stmt[s].thread, how->name, 1);
		}
	for (int s = 0; s < kernel->n_stmt && kernel->threads > 1; ++s)
		for (int j = 0; j < kernel->stmt[s].thread.n; ++j)
			if (kernel->stmt[s].thread.item[j].value == kernel->threads)
				return kernel->threads;
	return kernel->threads > 1 ? 0 : 1;
}

/* The same choices with few threads and few items per thread: small blocks, the same kinds of code. */
static const char *small_config(heddle_test *t, const char *line)
{
	heddle_config *config = heddle_config_parse(t->ctx, t->arena, line);
	if (!config) {
		heddle_diagnostics_clear(t->ctx);
		return NULL;
	}
	bool smaller = false;
	for (int k = 0; k < config->n_kernel; ++k) {
		heddle_kernel_config *kernel = &config->kernel[k];
		const int64_t lanes = lanes_of(kernel), few = lanes > 32 ? 32 : lanes;
		/* members and lanes that take the same number of threads cannot be told apart here */
		const bool keep = !lanes || (lanes > 1 && kernel->threads != lanes);
		kernel->n_group = 0;
		for (int s = 0; s < kernel->n_stmt && !keep; ++s) {
			heddle_stmt_config *stmt = &kernel->stmt[s];
			for (int j = 0; j < stmt->tile.n; ++j) {
				int64_t *tile = &stmt->tile.item[j].value;
				const char *name = stmt->tile.item[j].name;
				int64_t thread = heddle_named_get(&stmt->thread, name, 1);
				int64_t vector = heddle_named_get(&stmt->vector, name, 1);
				int64_t rounds = heddle_named_get(&stmt->round, name, 1);
				int64_t items = *tile / (rounds * thread * vector);
				const int64_t before = *tile;
				thread = lanes > 1 ? (thread > few ? few : thread) : thread > 4 ? 4 : thread;
				items = items > 2 ? 2 : items;
				rounds = rounds > 3 ? 3 : rounds;
				*tile = rounds * thread * vector * items;
				smaller = smaller || *tile < before;
				if (thread > 1)
					heddle_named_set(config, &stmt->thread, name, thread);
				if (rounds > 1)
					heddle_named_set(config, &stmt->round, name, rounds);
			}
		}
		if (!keep)
			kernel->threads = lanes > 1 ? (int)few : 0;
	}
	heddle_text text = {0};
	heddle_config_print(config, &text);
	const char *out = smaller ? heddle_arena_strdup(t->arena, heddle_text_str(&text)) : NULL;
	heddle_text_free(&text);
	return out;
}

static heddle_program *default_compile(heddle_ctx *ctx, const heddle_definition *definition, const heddle_target *target,
				       const char *config, heddle_effort effort)
{
	/* Time is no part of what is tested: on a busy machine the default limit would decide. */
	const heddle_compile_options options = {.config = config, .effort = effort, .timeout = 300};
	return heddle_target_takes(ctx, definition, target) == 0 ? heddle_compile(ctx, definition, target, &options) : NULL;
}

/* Make the variant's programs, one per definition, manifest and source; false: a row says why not. */
static bool make_entry(heddle_test *t, heddle_test_variant *v, int n, heddle_definition *const *definition,
		       const heddle_target *target, const char *config, bool small)
{
	const heddle_test_compiler compile = t->options->compile;
	const double start = heddle_now();
	v->target = target->text;
	v->parsed = *target;
	heddle_variants_begin(&v->variants);
	const char *base = heddle_arena_printf(t->arena, "%s__%s_%s", definition[0]->name, target->backend,
					       target->descriptor->name);
	const heddle_emit_options emit = {.base = base, .header = definition[0]->name, .source_name = t->layer};
	heddle_text source = {0};
	bool all = true;
	for (int k = 0; k < n && all; ++k) {
		heddle_program *program = compile ? compile(t->ctx, definition[k], target, config, small, t->options->user) :
						    default_compile(t->ctx, definition[k], target, config, t->options->effort);
		all = program != NULL;
		if (program)
			heddle_variants_add(&v->variants, program);
	}
	if (all && heddle_variants_finish(t->ctx, target, &v->variants) == 0) {
		v->program = v->variants.item[0].program;
		for (int k = 0; k < v->variants.n; ++k)
			heddle_program_number(v->variants.item[k].program);
		v->manifest = heddle_manifest_make(t->ctx, target, &v->variants, &emit);
		if (v->manifest && heddle_source_print(t->ctx, target, &v->variants, &emit, &source) == 0)
			v->source = heddle_arena_strdup(t->arena, heddle_text_str(&source));
	}
	heddle_text_free(&source);
	if (v->source) {
		v->source_path = v->manifest->source;
		heddle_test_add(t, v, "", "generate", HEDDLE_TEST_PASS, v->program->proof, heddle_now() - start, 0, NULL);
		return true;
	}
	/* A config of our own making may ask for what the definition cannot have. */
	const heddle_diagnostic *d = heddle_diagnostics(t->ctx);
	const bool refused = small && d && d->code >= 500 && d->code < 600;
	heddle_test_add(t, v, "", "generate", refused ? HEDDLE_TEST_SKIP : HEDDLE_TEST_FAIL, heddle_test_take_error(t), heddle_now() - start,
			0, NULL);
	return false;
}

static bool make_variant(heddle_test *t, heddle_test_variant *v, heddle_definition *definition, const heddle_target *target,
			 const char *config, bool small)
{
	return make_entry(t, v, 1, &definition, target, config, small);
}

void heddle_test_free_variant(heddle_test_variant *v)
{
	v->manifest = heddle_manifest_free(v->manifest);
	heddle_variants_free(&v->variants);
	v->program = NULL;
}

/* `#: expect launches=1 barriers=2` against the program. */
static void check_expectations(heddle_test *t, const heddle_test_variant *v)
{
	int at = 0;
	for (const heddle_pragma *p; (p = heddle_pragma_next(t->module, t->definition, "expect", &at));) {
		char *text = heddle_arena_strdup(t->arena, p->text), *save = NULL;
		for (char *word = strtok_r(text, " ,\t", &save); word; word = strtok_r(NULL, " ,\t", &save)) {
			char *value = strchr(word, '=');
			if (value)
				*value++ = 0;
			long found = !strcmp(word, "launches") ? v->program->n_launch
				     : !strcmp(word, "barriers") ? heddle_test_count_barriers(v->program)
								 : -1;
			const char *name = heddle_arena_printf(t->arena, "expect %s=%s", word, value ? value : "?");
			if (found < 0 || !value)
				heddle_test_add(t, v, name, "generate", HEDDLE_TEST_FAULT,
						"known are launches=N and barriers=N", 0, 0, NULL);
			else if (found != strtol(value, NULL, 10))
				heddle_test_add(t, v, name, "generate", HEDDLE_TEST_FAIL,
						heddle_arena_printf(t->arena, "the program has %ld %s", found, word), 0, 0, NULL);
			else
				heddle_test_add(t, v, name, "generate", HEDDLE_TEST_PASS, NULL, 0, 0, NULL);
		}
	}
}

static int first_error(const heddle_ctx *ctx)
{
	const heddle_diagnostic *d = heddle_diagnostics(ctx);
	while (d && d->severity != HEDDLE_ERROR)
		d = d->next;
	return d ? d->code : 0;
}

/* Add a row that says why there are no cases: a fault, unless only the level compile was requested, which needs none. */
static void tell_no_cases(heddle_test *t, heddle_test_variant *v)
{
	const int code = first_error(t->ctx);
	v->cases.n = v->sweep.n = 0;
	if (heddle_test_only_compiles(t) && (code == 716 || code == 719)) {
		heddle_diagnostics_clear(t->ctx);
		return;
	}
	t->report->n_limit += heddle_exit_code(t->ctx) == HEDDLE_EXIT_LIMIT;
	heddle_test_add(t, v, "", "reference", HEDDLE_TEST_FAULT, heddle_test_take_error(t), 0, 0, NULL);
}

void heddle_test_choose_cases(heddle_test *t, heddle_test_variant *v)
{
	heddle_case_options options = {.cost = t->options->thorough ? 2e7 : 3e6, .narrowed = t->options->sizes != NULL};
	heddle_tile_hint *hint;
	if (v->program && v->program->config) {
		options.n_tile = tile_hints(t, v->program->config, &hint);
		options.tile = hint;
	}
	if (heddle_cases_choose(t->ctx, t->arena, t->module, t->definition, &options, &v->cases) == 0) {
		options.sweep = true;
		options.cost = 2e7;
		if (heddle_cases_choose(t->ctx, t->arena, t->module, t->definition, &options, &v->sweep) == 0)
			return;
	}
	tell_no_cases(t, v);
}

static void add_cases(heddle_test *t, heddle_case_list *to, const heddle_case_list *from)
{
	const size_t bytes = sizeof(int64_t) * (size_t)t->definition->n_size;
	for (int k = 0; k < from->n; ++k) {
		bool known = false;
		for (int j = 0; j < to->n; ++j)
			known = known || !memcmp(to->item[j].size, from->item[k].size, bytes);
		if (!known)
			HEDDLE_PUSH(t->arena, to->item, to->n, from->item[k]);
	}
	to->limited = to->limited || from->limited;
}

static heddle_definition *definition_in(const heddle_test *t, const heddle_module *module)
{
	for (int k = 0; k < module->n_definition; ++k)
		if (!strcmp(module->definition[k]->name, t->definition->name))
			return module->definition[k];
	return NULL;
}

/* ---- cases of hand-written kernels ------------------------------------------------------------------------------------------------ */

typedef struct taker {
	const heddle_test *t;
	const heddle_test_variant *v;
} taker;

static bool takes(void *user, const int64_t *size)
{
	const taker *x = user;
	return heddle_test_takes(x->t, x->v, size, NULL);
}

static const char *range_text(heddle_test *t, int64_t min, int64_t max, int64_t divisor)
{
	if (min == max)
		return heddle_arena_printf(t->arena, "%lld", (long long)min);
	if (divisor > 1)
		return heddle_arena_printf(t->arena, "%lld:%lld*%lld", (long long)min, (long long)max, (long long)divisor);
	return heddle_arena_printf(t->arena, "%lld:%lld", (long long)min, (long long)max);
}

/* Why no sizes suit both. */
static const char *no_sizes_reason(heddle_test *t, const heddle_test_variant *v)
{
	const heddle_definition *d = t->definition;
	const heddle_manifest *m = v->manifest;
	const char *why = NULL;
	int64_t *size = HEDDLE_NEW_ARRAY(t->arena, int64_t, d->n_size + 1);
	heddle_text text = {0};
	if (!heddle_test_takes(t, v, size, &why) && why)
		return why;
	for (int k = 0; k < m->n_size; ++k)
		for (int j = 0; j < d->n_size; ++j)
			if (!strcmp(d->size[j]->name, m->size[k].name))
				heddle_text_printf(&text, "%s%s is %s for the definition and %s for the manifest", text.length ? ", " : "",
						   m->size[k].name, range_text(t, d->size[j]->min, d->size[j]->max, d->size[j]->divisor),
						   range_text(t, m->size[k].min, m->size[k].max, m->size[k].divisor));
	for (int k = 0; k < m->n_precondition; ++k)
		heddle_text_printf(&text, "%s%s", k ? ", " : "; the manifest asks for ", m->precondition[k]);
	why = heddle_arena_strdup(t->arena, heddle_text_str(&text));
	heddle_text_free(&text);
	return why;
}

/* Of one variant of the manifest: the file is read once more in its ranges, so that picks keep to them. */
static int choose_in_ranges(heddle_test *t, heddle_test_variant *v, const heddle_manifest *m)
{
	taker user = {t, v};
	heddle_case_list found;
	heddle_size_list list = {0};
	for (int k = 0; t->options->sizes && k < t->options->sizes->n; ++k)
		HEDDLE_PUSH(t->arena, list.range, list.n, t->options->sizes->range[k]);
	for (int k = 0; k < m->n_size; ++k) {
		const heddle_manifest_size *s = &m->size[k];
		const heddle_size_range range = {s->name, s->min, s->max, s->divisor > 1 ? s->divisor : 1};
		HEDDLE_PUSH(t->arena, list.range, list.n, range);
	}
	heddle_module *module = heddle_module_parse_for(t->ctx, t->layer, t->module->source->text, &list, t->definition->name);
	const heddle_case_options options = {
		.cost = t->options->thorough ? 2e7 : 3e6, .narrowed = true, .takes = takes, .user = &user,
		.block = heddle_test_blocks(t, m)};
	int rc = module ? heddle_cases_choose(t->ctx, t->arena, module, definition_in(t, module), &options, &found) : -1;
	if (rc == 0)
		add_cases(t, &v->cases, &found);
	heddle_module_free(module);
	return rc;
}

void heddle_test_choose_impl_cases(heddle_test *t, heddle_test_variant *v)
{
	int rc = 0;
	for (int k = 0; k <= v->manifest->n_variant && rc == 0; ++k) {
		const bool refused = choose_in_ranges(t, v, heddle_manifest_variant_of(t->arena, v->manifest, k)) < 0;
		const int code = refused ? first_error(t->ctx) : 0;
		if (code == 717 || code == 719)
			rc = -1;
		else
			heddle_diagnostics_clear(t->ctx);
	}
	if (rc == 0 && !v->cases.n)
		rc = heddle_error(t->ctx, 721, NULL, "no sizes were found that both '%s' and its manifest take: %s", t->definition->name,
				  no_sizes_reason(t, v));
	if (rc < 0)
		tell_no_cases(t, v);
}

/* ---- several programs behind one entry ---------------------------------------------------------------------------------------------- */

/* The file's own cases, and some for each of the definitions around the tiles of a program for its sizes; else none, and a row. */
static void choose_entry_cases(heddle_test *t, heddle_test_variant *v, int n, heddle_definition *const *definition)
{
	const heddle_case_options given = {.cost = 3e6, .given_only = true};
	int rc = heddle_cases_choose(t->ctx, t->arena, t->module, t->definition, &given, &v->cases);
	for (int k = 0; k < n && rc == 0; ++k) {
		heddle_case_options options = {.cost = t->options->thorough ? 2e7 : 3e6};
		heddle_case_list picked, sweep;
		heddle_tile_hint *hint;
		options.n_tile = tile_hints(t, v->variants.item[k % v->variants.n].program->config, &hint);
		options.tile = hint;
		rc = heddle_cases_choose(t->ctx, t->arena, NULL, definition[k], &options, &picked);
		options.sweep = true;
		options.cost = 2e7;
		if (rc == 0)
			rc = heddle_cases_choose(t->ctx, t->arena, NULL, definition[k], &options, &sweep);
		if (rc == 0) {
			add_cases(t, &v->cases, &picked);
			add_cases(t, &v->sweep, &sweep);
		}
	}
	if (rc < 0)
		tell_no_cases(t, v);
}

/* Each of the programs must be the one that some case runs. */
static void check_choice(heddle_test *t, const heddle_test_variant *v)
{
	for (int k = 0; k < v->variants.n; ++k) {
		bool chosen = false;
		for (int c = 0; c < v->cases.n && !chosen; ++c)
			for (int misalign = 0; misalign < 2; ++misalign)
				chosen = chosen || heddle_test_chosen(t, v, &v->cases.item[c], misalign) == k;
		const char *name = heddle_arena_printf(t->arena, "variant %d is chosen", k);
		heddle_test_add(t, v, name, "generate", chosen ? HEDDLE_TEST_PASS : HEDDLE_TEST_FAIL,
				chosen ? NULL : "no case has sizes for it that no earlier variant takes", 0, 0, NULL);
	}
}

/* One compiled variant through all levels. */
static void test_variant(heddle_test *t, heddle_test_variant *v, bool whole)
{
	if (!heddle_test_only_compiles(t))
		heddle_test_check_references(t, v);
	if (heddle_test_level_wanted(t, "interpret", NULL))
		heddle_test_interpret(t, v, whole);
	heddle_test_runners(t, v);
}

static void test_small(heddle_test *t, const heddle_target *target, const heddle_test_variant *first)
{
	const char *config = first->program->config ? small_config(t, first->program->config) : NULL;
	heddle_test_variant v = {.name = "small tiles", .small = true};
	if (!config)
		return;
	if (make_variant(t, &v, t->definition, target, config, true)) {
		heddle_test_choose_cases(t, &v);
		test_variant(t, &v, true);
	}
	heddle_test_free_variant(&v);
}

/* The sizes of the first case as constants. */
static void test_fixed(heddle_test *t, const heddle_target *target, const heddle_test_variant *first)
{
	const heddle_definition *d = t->definition;
	bool any = false;
	heddle_size_list list = {0};
	if (!first->cases.n)
		return;
	const heddle_case *c = &first->cases.item[0];
	for (int k = 0; k < d->n_size; ++k) {
		const heddle_size_range range = {d->size[k]->name, c->size[k], c->size[k], 1};
		any = any || d->size[k]->min != d->size[k]->max;
		HEDDLE_PUSH(t->arena, list.range, list.n, range);
	}
	if (!any)
		return;
	heddle_test_variant v = {.name = "fixed sizes"};
	heddle_module *module = heddle_module_parse_for(t->ctx, t->layer, t->module->source->text, &list, d->name);
	heddle_definition *fixed = module ? definition_in(t, module) : NULL;
	if (!fixed) {
		/* Sizes of this definition may not suit another of the same file. */
		heddle_diagnostics_clear(t->ctx);
	} else if (make_variant(t, &v, fixed, target, NULL, false)) {
		v.cases.n = 1;
		v.cases.item = first->cases.item;
		test_variant(t, &v, true);
	}
	heddle_test_free_variant(&v);
	heddle_module_free(module);
}

/* The programs for several choices of sizes behind one entry. */
static void test_entry(heddle_test *t, const heddle_target *target)
{
	heddle_test_variant v = {.name = heddle_arena_printf(t->arena, "%d sizes", t->n_entry)};
	heddle_definition **definition = HEDDLE_NEW_ARRAY(t->arena, heddle_definition *, t->n_entry);
	for (int k = 0; k < t->n_entry; ++k)
		definition[k] = definition_in(t, t->entry[k]);
	if (make_entry(t, &v, t->n_entry, definition, target, t->options->config, false)) {
		choose_entry_cases(t, &v, t->n_entry, definition);
		if (v.cases.n)
			check_choice(t, &v);
		test_variant(t, &v, true);
	}
	heddle_test_free_variant(&v);
}

int heddle_test_count_variants(const heddle_test_options *options, int n_config)
{
	const bool one = options->n_entry > 1 || options->config;
	return one ? 1 : (options->quick ? 1 : 3) + n_config;
}

static void test_variants(heddle_test *t, const heddle_target *target)
{
	heddle_test_variant first = {.name = ""};
	if (!make_variant(t, &first, t->definition, target, t->options->config, false)) {
		heddle_test_free_variant(&first);
		return;
	}
	check_expectations(t, &first);
	heddle_test_choose_cases(t, &first);
	test_variant(t, &first, true);
	heddle_test_step(t);
	const bool more = first.cases.n || heddle_test_only_compiles(t); /* else each would say the same fault */
	if (more && !t->options->config && !t->options->quick) {
		test_small(t, target, &first);
		heddle_test_step(t);
		test_fixed(t, target, &first);
		heddle_test_step(t);
	}
	heddle_test_free_variant(&first);
	int at = 0, number = 0;
	for (const heddle_pragma *p; more && !t->options->config && (p = heddle_pragma_next(t->module, t->definition, "config", &at));) {
		heddle_test_variant v = {.name = heddle_arena_printf(t->arena, "config %d", ++number)};
		if (make_variant(t, &v, t->definition, target, p->text, false)) {
			heddle_test_choose_cases(t, &v);
			test_variant(t, &v, false);
		}
		heddle_test_free_variant(&v);
		heddle_test_step(t);
	}
}

void heddle_test_target_variants(heddle_test *t, const heddle_target *target)
{
	const int before = t->options->steps ? t->options->steps->done : 0;
	int at = 0, n_config = 0;
	while (heddle_pragma_next(t->module, t->definition, "config", &at))
		++n_config;
	if (t->n_entry)
		test_entry(t, target);
	else
		test_variants(t, target);
	if (t->options->steps) /* also those that could not be made */
		t->options->steps->done = before + heddle_test_count_variants(t->options, n_config);
}
