/* Random definitions through the whole compiler: for a random target, with the default config and with a changed one, run by the
 * interpreter and judged by the reference.
 *
 *   test_random [-n COUNT] [-s SEED] [-l SECONDS] [-o FOLDER] [-t LEVEL] [-f] [-k] [-v]
 *
 * -n: definitions (150); -s: first seed (1); HEDDLE_RANDOM="COUNT SEED" stands for both; -l: stop after so many seconds; -o: failing
 * definitions are cut down and written there, each a file that `heddle test` takes; -t: also at this level ("emulate",
 * "opencl-cpu:pocl"), may be repeated; -f: stop at the first failure; -k: the definition of the seed is only printed; -v: each
 * failure with its text.  From 1000 definitions on, a form of the notation or an outcome that none met is a failure, too.
 * SPDX-License-Identifier: MIT
 */
#include "compile/compile.h"
#include "harness/isolate.h"
#include "tests/programs/pipeline.h"
#include "tests/random/draw.h"

#include <ctype.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

typedef enum outcome {
	OUT_REJECTED, /* by the front end */
	OUT_COMPILED,
	OUT_CONFIG, /* E05xx */
	OUT_LIMIT,  /* E06xx */
	OUT_PROVED,
	OUT_PROVED_PRECONDITION,
	OUT_UNPROVED,
	OUT_FALLBACK,
	OUT_FUSED,
	OUT_SEVERAL_KERNELS,
	OUT_STAGED,
	OUT_REGISTERS,
	OUT_SPLIT,
	OUT_LANES,
	OUT_SHUFFLES,
	OUT_VECTORS,
	OUT_TWO_BRANCHES,
	OUT_BARRIERS,
	OUT_RUN,
	OUT_VACUOUS,
	OUT_DEFAULT_CONFIG,
	OUT_DRAWN_CONFIG,
	OUT_OWN_LIMITS,
	OUT_OPEN_SIZES,
	OUT_GIVEN_SIZES,
	OUT_RANGED_SIZES,
	OUT_ZERO_FILL,
	OUT_EMPTY, /* a size of 0 */
	OUT_STOPPED, /* a few polyhedral operations, then the limit */
	OUT_TEXT,  /* runs at a level that takes the text */
	OUT_TEXT_REFUSED,
	OUT_REFUSED, /* sizes or inputs that the reference does not take */
	OUT_TOO_LONG,	   /* for the interpreter: stopped, without a verdict */
	OUT_TOO_LONG_TEXT, /* for levels that take the text: not run there */
	N_OUTCOME
} outcome;

static const char *const outcome_names[N_OUTCOME] = {
	"rejected",  "compiled",  "config refused", "limit",   "proved",   "proved under preconditions", "not proved",
	"fallback",  "fused",	  "several kernels", "staged", "registers", "split", "lanes", "shuffles", "vectors",
	"two branches", "barriers", "runs", "runs not judged", "default config", "drawn config", "limits of its own", "open sizes",
	"given sizes", "ranges of sizes", "zero fill", "size 0", "stopped at a limit", "runs of the text", "texts refused", "cases refused",
	"too long for the interpreter", "texts too long"};

enum { MOST_THREADS = 2000000 }; /* emulators take minutes for more */

/* What a child says, in memory that it shares with its parent. */
typedef struct report {
	int count[N_OUTCOME];
	bool failed;
	bool accepted;
	char kind[160]; /* class of failure: what must stay when a definition is cut down */
	char message[1000];
	char config[4000];  /* of the failure; "" : the default */
	char stage[40];	    /* where the child was, for crashes */
	char sizes[300];    /* of the failure */
	char ranges[200];   /* that it was compiled for */
	char limits[200];   /* the target's, if drawn */
} report;

typedef struct subject {
	const char *text;
	const char *target;
	const char *config; /* only this one; NULL: default and a changed one, chosen by `seed` */
	const char *sizes;  /* only these; NULL: chosen */
	enum { SIZES_OPEN, SIZES_GIVEN, SIZES_RANGED } mode; /* when compiling */
	uint64_t seed;
	int n_level;
	const char **level;
} subject;

static void fail(report *out, const char *kind, const char *config, const char *message)
{
	if (out->failed)
		return;
	out->failed = true;
	snprintf(out->kind, sizeof(out->kind), "%s", kind);
	snprintf(out->message, sizeof(out->message), "%s", message);
	snprintf(out->config, sizeof(out->config), "%s", config ? config : "");
}

static int error_code(const heddle_ctx *ctx)
{
	int code = 0;
	for (const heddle_diagnostic *d = heddle_diagnostics(ctx); d; d = d->next)
		if (d->severity == HEDDLE_ERROR && (!code || d->code >= 900))
			code = d->code;
	return code;
}

/* ---- what a program consists of ------------------------------------------------------------------------------------------- */

static bool shuffles_in(const heddle_value *v)
{
	bool found = v->kind == HEDDLE_VALUE_SHUFFLE;
	for (int i = 0; i < v->n_arg; i++)
		found |= shuffles_in(v->arg[i]);
	return found;
}

static void walk(const heddle_node *node, bool *branches, bool *barriers, bool *shuffles)
{
	*branches |= node->kind == HEDDLE_NODE_IF && node->uniform && node->n_child == 2;
	*barriers |= node->kind == HEDDLE_NODE_BARRIER;
	for (int i = 0; i < node->n_value; i++)
		*shuffles |= shuffles_in(node->value[i]);
	for (int i = 0; i < node->n_child; i++)
		walk(node->child[i], branches, barriers, shuffles);
}

static void describe(const heddle_ctx *ctx, const heddle_program *p, int n_statement, report *out)
{
	bool branches = false, barriers = false, shuffles = false, staged = false, registers = false;
	for (int i = 0; i < p->n_launch; i++)
		walk(p->launch[i]->body, &branches, &barriers, &shuffles);
	for (int i = 0; i < p->n_buffer; i++) {
		staged |= p->buffer[i]->role == HEDDLE_BUFFER_SHARED && p->buffer[i]->of;
		registers |= p->buffer[i]->role == HEDDLE_BUFFER_REGISTER && p->buffer[i]->rank > 0;
	}
	for (const heddle_diagnostic *d = heddle_diagnostics(ctx); d; d = d->next)
		out->count[OUT_FALLBACK] += d->code == 602;
	out->count[OUT_COMPILED]++;
	out->count[OUT_PROVED] += !strcmp(p->proof, "proved");
	out->count[OUT_PROVED_PRECONDITION] += !strncmp(p->proof, "proved ", 7);
	out->count[OUT_UNPROVED] += strncmp(p->proof, "proved", 6) != 0;
	out->count[OUT_FUSED] += p->n_launch < n_statement;
	out->count[OUT_SEVERAL_KERNELS] += p->n_launch > 1;
	out->count[OUT_STAGED] += staged;
	out->count[OUT_REGISTERS] += registers;
	out->count[OUT_SPLIT] += !strstr(p->config, "split=none") && strstr(p->config, "split=");
	out->count[OUT_LANES] += strstr(p->config, ":lanes") != NULL;
	out->count[OUT_SHUFFLES] += shuffles;
	out->count[OUT_VECTORS] += strstr(p->config, "vector=") != NULL;
	out->count[OUT_TWO_BRANCHES] += branches;
	out->count[OUT_BARRIERS] += barriers;
}

/* ---- one definition --------------------------------------------------------------------------------------------------------- */

/* Numbers after tile= in the line. */
static int tiles_of(const char *line, int64_t *tile, int max)
{
	int n = 0;
	for (const char *at = line; *at && n < max; at++)
		if (*at == ':' && isdigit((unsigned char)at[1]) && !strncmp(random_config_key(line, at), "tile=", 5))
			tile[n++] = atoll(at + 1);
	return n;
}

static bool is_stride(const char *size)
{
	return !strncmp(size, "ld", 2);
}

/* The nearest value that the size's range and divisor allow. */
static int64_t allowed(const heddle_size *size, int64_t value)
{
	value -= value % size->divisor;
	while (value > size->max)
		value -= size->divisor;
	while (value < size->min)
		value += size->divisor;
	return value;
}

/* Sizes that are strides alone ("ld3"): a row, and up to three elements more. */
static void choose_strides(random_stream *r, const heddle_definition *d, int64_t *size)
{
	int64_t shape[HEDDLE_MAX_RANK], inner;
	for (int i = 0; i < d->n_tensor; i++) {
		const heddle_tensor *t = d->tensor[i];
		for (int e = 0; t->stride && t->rank == 2 && e < 2; e++)
			if (is_stride(t->stride[e]->kind == HEDDLE_EXPR_SIZE ? t->stride[e]->size->name : "") &&
			    heddle_tensor_shape(t, size, shape) == 0 && heddle_expr_evaluate(t->stride[1 - e], size, &inner) == 0)
				size[t->stride[e]->size->position] = inner * (shape[1 - e] ? shape[1 - e] : 1) + random_below(r, 4);
	}
}

/* Do the ranges and preconditions allow them? */
static bool possible(const heddle_definition *d, const int64_t *size)
{
	heddle_ctx *ctx = heddle_ctx_new();
	bool result = heddle_sizes_check(ctx, d, size) == 0;
	heddle_ctx_free(ctx);
	return result;
}

static void choose_sizes(random_stream *r, const heddle_definition *d, const char *config, int number, int64_t *size)
{
	int64_t tile[32];
	int n = config ? tiles_of(config, tile, 32) : 0;
	for (int tries = 0; tries < 20; tries++) {
		for (int i = 0; i < d->n_size; i++) {
			int64_t t = n ? tile[random_below(r, n)] : 8;
			const int64_t near[] = {t - 1, t, t + 1, 2 * t + 3, t / 2 + 1, 5};
			size[i] = number == 0	? near[random_below(r, 6)]
				  : number == 1 ? random_below(r, 3)
						: 1 + random_below(r, 20);
			if (tries > 10)
				size[i] = 1 + random_below(r, 6);
			size[i] = allowed(d->size[i], size[i]);
		}
		choose_strides(r, d, size);
		if (heddle_reference_cost(d, size) <= 6e4 && possible(d, size))
			break;
	}
}

/* "N=1:40,M=4*", one range for each size. */
static char *ranges_text(heddle_arena *arena, random_stream *r, const heddle_definition *d)
{
	heddle_text text = {0};
	for (int i = 0; i < d->n_size; i++) {
		static const int divisors[] = {2, 4, 8, 3, 16};
		int least = random_below(r, 4), by = divisors[random_below(r, 5)];
		if (is_stride(d->size[i]->name))
			continue;
		heddle_text_printf(&text, "%s%s=", text.length ? "," : "", d->size[i]->name);
		switch (random_below(r, 4)) {
		case 0: heddle_text_printf(&text, "%d:%d", least, least + random_below(r, 60)); break;
		case 1: heddle_text_printf(&text, "%d*", by); break;
		case 2: heddle_text_printf(&text, "%d:%d*%d", by, by * (1 + random_below(r, 20)), by); break;
		default: heddle_text_printf(&text, "%d", 1 + random_below(r, 30)); break;
		}
	}
	char *result = heddle_arena_strdup(arena, heddle_text_str(&text));
	heddle_text_free(&text);
	return result;
}

static bool given_case(heddle_ctx *ctx, heddle_arena *arena, const heddle_definition *d, const char *text, int64_t *size)
{
	heddle_size_list *list = heddle_sizes_parse(ctx, arena, text);
	for (int i = 0; list && i < list->n; i++)
		for (int k = 0; k < d->n_size; k++)
			if (!strcmp(d->size[k]->name, list->range[i].name))
				size[k] = list->range[i].min;
	return list != NULL;
}

static char *sizes_text(heddle_arena *arena, const heddle_definition *d, const int64_t *size)
{
	heddle_text text = {0};
	for (int i = 0; i < d->n_size; i++)
		heddle_text_printf(&text, "%s%s=%lld", i ? "," : "", d->size[i]->name, (long long)size[i]);
	char *result = heddle_arena_strdup(arena, heddle_text_str(&text));
	heddle_text_free(&text);
	return result;
}

typedef struct trial {
	heddle_ctx *ctx;
	heddle_arena *arena;
	heddle_module *module;
	heddle_definition *definition;
	const subject *subject;
	heddle_target target;
	report *out;
	random_stream r;
} trial;

/* The levels that take the text, by every runner of theirs that is here. */
static void run_levels(trial *t, heddle_program *program, pipeline_case *c, const char *config)
{
	for (int i = 0; heddle_runners[i]; i++)
		for (int k = 0; k < t->subject->n_level && !t->out->failed; k++) {
			const heddle_runner *runner = heddle_runners[i];
			const char *name = heddle_arena_printf(t->arena, "%s:%s", runner->level, runner->name), *why;
			if ((strcmp(t->subject->level[k], name) != 0 && strcmp(t->subject->level[k], runner->level) != 0) ||
			    (strcmp(runner->backend, t->target.backend) != 0 && strcmp(runner->backend, "*") != 0) ||
			    heddle_runner_available(t->ctx, t->arena, runner, &why) != 1)
				continue;
			snprintf(t->out->stage, sizeof(t->out->stage), "%s", name);
			bool missing;
			const char *wrong = pipeline_run_text(t->ctx, t->arena, program, &t->target, c, 3, runner, &missing);
			t->out->count[missing ? OUT_TEXT_REFUSED : OUT_TEXT]++;
			if (wrong && !missing)
				fail(t->out, name, config, heddle_arena_printf(t->arena, "%s: %s", c->name, wrong));
			if (missing)
				snprintf(t->out->message, sizeof(t->out->message), "%s: %s", name, wrong);
		}
}

/* Of all launches together. */
static double threads_of(heddle_arena *arena, const heddle_program *program, const heddle_definition *d, const int64_t *size)
{
	int64_t *value = HEDDLE_NEW_ARRAY(arena, int64_t, program->n_size + 1), grid;
	double n = 0;
	for (int i = 0; i < program->n_size; i++)
		for (int k = 0; k < d->n_size; k++)
			if (!strcmp(program->size[i].name, d->size[k]->name))
				value[i] = size[k];
	for (int i = 0; i < program->n_launch; i++)
		if (heddle_value_evaluate(program->launch[i]->grid, value, &grid) == 0)
			n += (double)grid * program->launch[i]->threads;
	return n;
}

/* NULL: right, or too much for the interpreter: then it comes further with twice the operations, unlike a loop without end. */
static const char *interpreted(trial *t, heddle_program *program, pipeline_case *c)
{
	const char *wrong = pipeline_run(t->ctx, t->arena, program, &t->target, c, 3, 100000000, NULL);
	if (!wrong || strncmp(wrong, "timeout", 7) != 0)
		return wrong;
	t->out->count[OUT_TOO_LONG]++;
	if (threads_of(t->arena, program, t->definition, c->size) > MOST_THREADS)
		return NULL;
	const char *again = pipeline_run(t->ctx, t->arena, program, &t->target, c, 3, 200000000, NULL);
	const char *from = strstr(wrong, "launch"), *to = again ? strstr(again, "launch") : NULL;
	if (again && strncmp(again, "timeout", 7) != 0)
		return again;
	/* "launch 4, node 75, block 10, thread 0: the limit on operations is reached, in round i=3, j=7": another launch, block or
	 * round of a loop around the innermost */
	int launch[2] = {0}, block[2] = {0};
	const char *round[2] = {strstr(wrong, "in round"), again ? strstr(again, "in round") : NULL};
	if (from && to && sscanf(from, "launch %d, node %*d, block %d", &launch[0], &block[0]) == 2 &&
	    sscanf(to, "launch %d, node %*d, block %d", &launch[1], &block[1]) == 2 && launch[0] == launch[1] && block[0] == block[1]) {
		const char *last = round[0] ? strrchr(round[0], ',') : NULL;
		const bool further = last && round[1] && strncmp(round[0], round[1], (size_t)(last - round[0])) != 0;
		return further ? NULL : again;
	}
	return NULL;
}

static void run_case(trial *t, heddle_program *program, const int64_t *size, const char *config)
{
	const heddle_definition *d = t->definition;
	pipeline_case c = {.definition = d, .name = sizes_text(t->arena, d, size)};
	c.size = HEDDLE_NEW_ARRAY(t->arena, int64_t, d->n_size + 1);
	memcpy(c.size, size, sizeof(*size) * (size_t)d->n_size);
	c.initial = HEDDLE_NEW_ARRAY(t->arena, heddle_array *, d->n_tensor + 1);
	snprintf(t->out->stage, sizeof(t->out->stage), "reference");
	snprintf(t->out->sizes, sizeof(t->out->sizes), "%s", c.name);
	heddle_reference_options options = {.budget = 0};
	bool filled = heddle_sizes_check(t->ctx, d, size) == 0 &&
		      heddle_case_arrays(t->ctx, t->module, d, size, HEDDLE_FILL_RANDOM, 7 + t->subject->seed, c.initial) == 0;
	if (filled)
		c.reference = heddle_reference_evaluate(t->ctx, d, size, c.initial, &options);
	if (!c.reference) {
		int code = error_code(t->ctx);
		t->out->count[OUT_REFUSED]++;
		/* 712: a precondition; 714, 716: no such arrays; 710: a gather that cannot be filled */
		if (code >= 900 || code == 711 || code == 715)
			fail(t->out, heddle_arena_printf(t->arena, "reference E%04d", code), config, heddle_ctx_messages(t->ctx));
		heddle_diagnostics_clear(t->ctx);
	} else {
		snprintf(t->out->stage, sizeof(t->out->stage), "interpreter");
		const char *wrong = interpreted(t, program, &c);
		t->out->count[OUT_RUN]++;
		t->out->count[OUT_VACUOUS] += !wrong && !c.judged;
		for (int i = 0; i < d->n_size; i++)
			if (size[i] == 0) {
				t->out->count[OUT_EMPTY]++;
				break;
			}
		if (wrong) {
			/* the word before the colon is the kind of a finding; numbers have the name of an output there */
			const char *end = strstr(wrong, ": line");
			const char *kind = end ? heddle_arena_strndup(t->arena, wrong, (size_t)(end - wrong)) : "wrong";
			fail(t->out, kind, config, heddle_arena_printf(t->arena, "%s: %s", c.name, wrong));
		}
		if (threads_of(t->arena, program, d, c.size) <= MOST_THREADS)
			run_levels(t, program, &c, config);
		else
			t->out->count[OUT_TOO_LONG_TEXT] += t->subject->n_level > 0;
	}
	heddle_case_arrays_free(d, c.initial);
	heddle_reference_free(c.reference);
}

/* The program, or NULL: a refused config or limit is fine, anything else is a failure. */
static heddle_program *compiled(trial *t, const char *config, bool changed)
{
	const bool usual = !(config && *config) && random_below(&t->r, 4) == 0;
	const heddle_effort effort = usual ? HEDDLE_EFFORT_USUAL : HEDDLE_EFFORT_CLOSED_FORM;
	heddle_compile_options options = {.config = config, .effort = effort, .threads = 1, .timeout = 10};
	snprintf(t->out->stage, sizeof(t->out->stage), "compile");
	snprintf(t->out->config, sizeof(t->out->config), "%s", config ? config : "");
	heddle_program *program = heddle_compile(t->ctx, t->definition, &t->target, &options);
	if (program) {
		describe(t->ctx, program, t->definition->n_statement, t->out);
		t->out->count[config && *config ? OUT_DRAWN_CONFIG : OUT_DEFAULT_CONFIG]++;
		for (int i = 0; i < t->definition->n_tensor; i++)
			if (t->definition->tensor[i]->zero_fill) {
				t->out->count[OUT_ZERO_FILL]++;
				break;
			}
		if (strstr(program->proof, "violated"))
			fail(t->out, "violated", config, program->proof);
	} else {
		int code = error_code(t->ctx);
		t->out->count[OUT_CONFIG] += code >= 500 && code < 600;
		t->out->count[OUT_LIMIT] += code >= 600 && code < 700;
		t->out->count[OUT_REJECTED] += code == 213;
		/* 213: no sizes meet the preconditions, which only the scop sees */
		if (!(code >= 600 && code < 700) && !(changed && code >= 500 && code < 600) && code != 213)
			fail(t->out, heddle_arena_printf(t->arena, "E%04d", code), config, heddle_ctx_messages(t->ctx));
	}
	heddle_diagnostics_clear(t->ctx);
	return program;
}

/* With isl's operations cut off somewhere: the limit is reported, or the simple program comes, and it is right. */
static void stopped(trial *t)
{
	heddle_compile_options options = {.max_operations = 1000u << random_below(&t->r, 12)};
	snprintf(t->out->stage, sizeof(t->out->stage), "compile, %lu operations", options.max_operations);
	heddle_program *program = heddle_compile(t->ctx, t->definition, &t->target, &options);
	int code = program ? 0 : error_code(t->ctx);
	bool fallback = false;
	for (const heddle_diagnostic *d = heddle_diagnostics(t->ctx); d; d = d->next)
		fallback |= d->code == 602;
	t->out->count[OUT_STOPPED] += code == 600 || fallback;
	if (!program && code != 600)
		fail(t->out, heddle_arena_printf(t->arena, "stopped: E%04d", code), NULL, heddle_ctx_messages(t->ctx));
	heddle_diagnostics_clear(t->ctx);
	heddle_program_free(program);
}

static void cases(trial *t, heddle_program *program, const char *config, int n)
{
	int64_t *size = HEDDLE_NEW_ARRAY(t->arena, int64_t, t->definition->n_size + 1);
	heddle_program_number(program);
	if (t->subject->sizes || t->subject->mode == SIZES_GIVEN)
		n = 1;
	for (int i = 0; i < n && !t->out->failed; i++) {
		if (t->subject->sizes)
			given_case(t->ctx, t->arena, t->definition, t->subject->sizes, size);
		else if (t->subject->mode == SIZES_GIVEN)
			for (int k = 0; k < t->definition->n_size; k++)
				size[k] = t->definition->size[k]->min;
		else
			choose_sizes(&t->r, t->definition, program->config, i, size);
		if (heddle_reference_cost(t->definition, size) <= 1e6)
			run_case(t, program, size, config);
	}
}

static heddle_definition *first_called(const heddle_module *module)
{
	for (int i = 0; i < module->n_definition; i++)
		if (!strcmp(module->definition[i]->name, "f"))
			return module->definition[i];
	return module->definition[0];
}

static void try(const subject *s, report *out)
{
	trial t = {.ctx = heddle_ctx_new(), .arena = heddle_arena_new(), .subject = s, .out = out, .r = {s->seed}};
	snprintf(out->stage, sizeof(out->stage), "front end");
	t.module = heddle_module_parse(t.ctx, "random.tc", s->text, NULL);
	if (t.module && s->mode != SIZES_OPEN) {
		/* the same with sizes that are given, or in ranges */
		const heddle_definition *open = first_called(t.module);
		int64_t size[RANDOM_N_SIZE + RANDOM_MAX_TENSOR] = {0};
		char *text;
		if (s->mode == SIZES_RANGED) {
			random_stream ranges = {s->seed + 1};
			text = ranges_text(t.arena, &ranges, open);
			snprintf(out->ranges, sizeof(out->ranges), "%s", text);
		} else {
			choose_sizes(&t.r, open, NULL, random_below(&t.r, 3), size);
			text = s->sizes ? heddle_arena_strdup(t.arena, s->sizes) : sizes_text(t.arena, open, size);
			snprintf(out->sizes, sizeof(out->sizes), "%s", text);
		}
		t.module = *text ? heddle_module_parse(t.ctx, "random.tc", s->text, heddle_sizes_parse(t.ctx, t.arena, text))
					: t.module;
	}
	if (!t.module) {
		int code = error_code(t.ctx);
		out->count[OUT_REJECTED]++;
		if (code >= 400)
			fail(out, heddle_arena_printf(t.arena, "E%04d", code), NULL, heddle_ctx_messages(t.ctx));
		else
			snprintf(out->message, sizeof(out->message), "%s", heddle_ctx_messages(t.ctx));
		return;
	}
	out->accepted = true;
	heddle_diagnostics_clear(t.ctx);
	t.definition = first_called(t.module);
	random_stream limits = {s->seed + 2};
	if (random_target(t.ctx, t.arena, &limits, s->target, &t.target) < 0)
		fail(out, "target", NULL, heddle_ctx_messages(t.ctx));
	else if (strchr(s->target, '+'))
		snprintf(out->limits, sizeof(out->limits), "%s", random_limits(t.arena, &t.target));
	heddle_program *program = out->failed ? NULL : compiled(&t, s->config, s->config != NULL);
	if (program)
		cases(&t, program, s->config, 3);
	if (!program || s->config || out->failed)
		return;
	out->count[OUT_OWN_LIMITS] += strchr(s->target, '+') != NULL;
	out->count[s->mode == SIZES_OPEN ? OUT_OPEN_SIZES : s->mode == SIZES_GIVEN ? OUT_GIVEN_SIZES : OUT_RANGED_SIZES]++;
	if (random_percent(&t.r, 15))
		stopped(&t);
	const heddle_program *completed = program;
	for (int tries = 0; tries < 4 && !out->failed; tries++) {
		char *config = random_config(t.arena, &t.r, completed);
		if (!strcmp(config, completed->config) || !(program = compiled(&t, config, true)))
			continue;
		cases(&t, program, config, 3);
		return;
	}
}

/* In a child: crashes and hangs are failures too. */
static void run(const subject *s, report *out)
{
	report *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status = 0;
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		/* of the processor, and far more by the clock: other work must not fail this */
		struct rlimit time = {s->n_level ? 300 : 60, s->n_level ? 300 : 60};
		setrlimit(RLIMIT_CPU, &time);
		alarm(900);
		try(s, shared);
		_exit(0);
	}
	if (child < 0 || waitpid(child, &status, 0) < 0)
		fail(shared, "fork", NULL, "no child process");
	else if (WIFSIGNALED(status) || WEXITSTATUS(status)) {
		char message[100], config[sizeof(shared->config)];
		int signal = WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status);
		snprintf(message, sizeof(message), "signal %d in %s", signal, shared->stage);
		memcpy(config, shared->config, sizeof(config));
		shared->failed = false;
		fail(shared, message, config, message);
	}
	*out = *shared;
	munmap(shared, sizeof(*shared));
}

/* ---- cutting down ---------------------------------------------------------------------------------------------------------- */

static bool same_failure(const subject *s, const char *kind)
{
	report *out = heddle_xalloc(sizeof(*out));
	run(s, out);
	bool same = out->failed && !strcmp(out->kind, kind);
	free(out);
	return same;
}

static char *printed(heddle_arena *arena, const random_definition *d)
{
	heddle_text text = {0};
	random_print(d, &text);
	char *result = heddle_arena_strdup(arena, heddle_text_str(&text));
	heddle_text_free(&text);
	return result;
}

static const random_definition *smallest(heddle_arena *arena, const random_definition *d, subject *s, const char *kind, double until)
{
	for (bool smaller = true; smaller;) {
		smaller = false;
		random_definition *next;
		for (int number = 0; (next = random_smaller(arena, d, number)) && heddle_now() < until;) {
			subject candidate = *s;
			candidate.text = printed(arena, next);
			if (same_failure(&candidate, kind)) {
				d = next;
				s->text = candidate.text;
				smaller = true;
			} else {
				number++;
			}
		}
	}
	return d;
}

/* Parts of the config line that the failure does not need. */
static void smallest_config(heddle_arena *arena, subject *s, const char *kind)
{
	for (bool smaller = s->config && *s->config; smaller;) {
		smaller = false;
		size_t n = strlen(s->config);
		for (size_t from = 0; from < n && !smaller; from++)
			for (int part = 0; part < 2 && !smaller; part++) {
				bool start = from == 0 || (part ? s->config[from - 1] == ' ' && s->config[from] != ' '
								: s->config[from] == ';');
				size_t to = from + 1 + strcspn(s->config + from + 1, part ? " ;" : ";");
				if (!start)
					continue;
				subject candidate = *s;
				candidate.config = heddle_arena_printf(arena, "%.*s%s", (int)from, s->config, s->config + to);
				if (same_failure(&candidate, kind)) {
					s->config = candidate.config;
					smaller = true;
				}
			}
	}
}

/* Is the size named in the definition that is left? */
static bool names_size(const char *text, const char *name, size_t n)
{
	for (const char *at = text; *at; at++)
		if ((at == text || (!isalnum((unsigned char)at[-1]) && at[-1] != '_')) && !strncmp(at, name, n) && !isalnum((unsigned char)at[n]) &&
		    at[n] != '_')
			return true;
	return false;
}

/* Sizes that went with what was cut off are no sizes of what is left. */
static void drop_sizes(heddle_arena *arena, subject *s)
{
	heddle_text left = {0};
	for (const char *at = s->sizes; at && *at;) {
		const size_t all = strcspn(at, ","), name = strcspn(at, "=,");
		if (names_size(s->text, at, name))
			heddle_text_printf(&left, "%s%.*s", left.length ? "," : "", (int)all, at);
		at += all + (at[all] == ',');
	}
	if (s->sizes)
		s->sizes = heddle_arena_strdup(arena, heddle_text_str(&left));
	heddle_text_free(&left);
}

static void smallest_sizes(heddle_arena *arena, subject *s, const char *kind)
{
	for (bool smaller = s->sizes && *s->sizes; smaller;) {
		smaller = false;
		for (const char *at = s->sizes; (at = strchr(at, '=')) && !smaller; at++) {
			char *end;
			long value = strtol(at + 1, &end, 10);
			long tries[] = {1, value / 2, value - 1};
			for (int i = 0; i < 3 && !smaller && value > 1; i++) {
				if (tries[i] >= value)
					continue;
				subject candidate = *s;
				candidate.sizes = heddle_arena_printf(arena, "%.*s%ld%s", (int)(at + 1 - s->sizes), s->sizes, tries[i], end);
				if (same_failure(&candidate, kind)) {
					s->sizes = candidate.sizes;
					smaller = true;
				}
			}
		}
	}
}

static void cut_down(heddle_arena *arena, const random_definition *d, subject s, const report *failure, uint64_t seed,
		     const char *folder)
{
	heddle_ctx *ctx = heddle_ctx_new();
	double until = heddle_now() + 120;
	s.config = failure->config; /* "" : the default */
	subject fixed = s;
	fixed.sizes = heddle_arena_strdup(arena, failure->sizes);
	if (*fixed.sizes && same_failure(&fixed, failure->kind))
		s = fixed;
	d = smallest(arena, d, &s, failure->kind, until);
	smallest_config(arena, &s, failure->kind);
	d = smallest(arena, d, &s, failure->kind, until);
	drop_sizes(arena, &s);
	smallest_sizes(arena, &s, failure->kind);
	report *last = heddle_xalloc(sizeof(*last));
	run(&s, last);
	heddle_text text = {0};
	heddle_text_printf(&text, "# %s, %s%s%s\n", failure->kind, s.target, s.mode == SIZES_OPEN ? "" : ", -s ",
			   s.mode == SIZES_RANGED ? failure->ranges : s.mode == SIZES_GIVEN ? failure->sizes : "");
	if (*failure->limits)
		heddle_text_printf(&text, "# %s\n", failure->limits);
	for (const char *at = last->message; *at;) {
		size_t n = strcspn(at, "\n");
		heddle_text_printf(&text, "# %.*s\n", (int)n, at);
		at += n + (at[n] == '\n');
	}
	if (s.sizes && *s.sizes)
		heddle_text_printf(&text, "#: sizes %s\n", s.sizes);
	if (s.config && *s.config)
		heddle_text_printf(&text, "#: config %s\n", s.config);
	heddle_text_add(&text, s.text);
	printf("%s", heddle_text_str(&text));
	if (heddle_dir_make(ctx, folder) == 0)
		heddle_file_write(ctx, heddle_arena_printf(arena, "%s/seed%llu.tc", folder, (unsigned long long)seed),
				  heddle_text_str(&text), text.length);
	heddle_text_free(&text);
	free(last);
	heddle_ctx_free(ctx);
}

/* ---- all ---------------------------------------------------------------------------------------------------------------------- */

typedef struct total {
	int n, accepted, failed, form[RANDOM_N_FORM], count[N_OUTCOME];
} total;

typedef struct options {
	const char *folder;
	bool verbose, first;
	int n_level, n_target;
	const char *level[8];
	const char *target[64]; /* every chip that there is a descriptor of */
} options;

static void one(uint64_t seed, const options *o, total *sum)
{
	const char *folder = o->folder;
	heddle_arena *arena = heddle_arena_new();
	random_stream r = {seed * 7919};
	uint64_t forms = 0;
	random_definition *d = random_make(arena, &r, &forms);
	subject s = {.text = printed(arena, d), .seed = random_next(&r)};
	s.target = o->target[random_below(&r, o->n_target)];
	if (random_percent(&r, 35))
		s.target = heddle_arena_printf(arena, "%s+", s.target);
	int mode = random_below(&r, 4);
	s.mode = mode == 0 ? SIZES_GIVEN : mode == 1 ? SIZES_RANGED : SIZES_OPEN;
	s.n_level = o->n_level;
	s.level = (const char **)o->level;
	report *out = heddle_xalloc(sizeof(*out));
	run(&s, out);
	sum->n++;
	sum->accepted += out->accepted;
	if (s.mode == SIZES_RANGED)
		forms |= UINT64_C(1) << RANDOM_FORM_SIZE_RANGE;
	for (int i = 0; i < RANDOM_N_FORM && out->accepted; i++)
		sum->form[i] += (int)(forms >> i & 1);
	for (int i = 0; i < N_OUTCOME; i++)
		sum->count[i] += out->count[i];
	if (out->failed) {
		sum->failed++;
		printf("FAILED seed %llu %s %s: %s [%s] %s\n", (unsigned long long)seed, s.target, out->kind, out->message, out->config,
		       out->sizes);
		if (o->verbose || !folder)
			printf("%s", s.text);
		if (folder)
			cut_down(arena, d, s, out, seed, folder);
	} else if (o->verbose && !out->accepted) {
		printf("seed %llu: %s%s", (unsigned long long)seed, out->message, s.text);
	}
	free(out);
	heddle_arena_free(arena);
}

static void statistics(const total *sum)
{
	printf("%d definitions, %d accepted, %d failed\n", sum->n, sum->accepted, sum->failed);
	for (int i = 0; i < RANDOM_N_FORM; i++)
		printf("%s%s %d", i ? ", " : "forms: ", random_form_names[i], sum->form[i]);
	for (int i = 0; i < N_OUTCOME; i++)
		printf("%s%s %d", i ? ", " : "\noutcomes: ", outcome_names[i], sum->count[i]);
	printf("\n");
}

/* What a long run must have met. */
static int never_met(const total *sum, bool text)
{
	static const outcome rare[] = {OUT_REJECTED, OUT_LIMIT, OUT_UNPROVED, OUT_FALLBACK, OUT_VACUOUS, OUT_TEXT_REFUSED, OUT_REFUSED,
				       OUT_TOO_LONG, OUT_TOO_LONG_TEXT};
	int n = 0;
	for (int i = 0; i < RANDOM_N_FORM; i++)
		if (!sum->form[i]) {
			printf("never made: %s\n", random_form_names[i]);
			n++;
		}
	for (int i = 0; i < N_OUTCOME; i++) {
		bool may = i == OUT_TEXT && !text;
		for (size_t k = 0; k < HEDDLE_COUNT(rare); k++)
			may |= i == (int)rare[k];
		if (!may && !sum->count[i]) {
			printf("never met: %s\n", outcome_names[i]);
			n++;
		}
	}
	return n;
}

/* Those of files: what `host` is depends on the machine, and runs are to be the same everywhere. */
static void all_targets(heddle_ctx *ctx, options *o)
{
	for (const char *const *name = heddle_descriptor_names(ctx); *name && o->n_target < 64; name++) {
		const heddle_descriptor *d = heddle_descriptor_find(ctx, *name);
		if (d && !heddle_descriptor_is_host(d))
			o->target[o->n_target++] =
				heddle_arena_printf(heddle_ctx_arena(ctx), "%s:%s", d->backend, d->name);
	}
}

int main(int argc, char **argv)
{
	unsigned long long n = 150, seed = 1;
	double limit = 1e9, start = heddle_now();
	const char *given = getenv("HEDDLE_RANDOM");
	bool print = false;
	int c;
	total sum = {0};
	options o = {0};
	if (given)
		sscanf(given, "%llu %llu", &n, &seed);
	while ((c = getopt(argc, argv, "n:s:l:o:t:fkv")) > 0)
		switch (c) {
		case 'n':
			n = strtoull(optarg, NULL, 10);
			break;
		case 's':
			seed = strtoull(optarg, NULL, 10);
			break;
		case 'l':
			limit = atof(optarg);
			break;
		case 'o':
			o.folder = optarg;
			break;
		case 't':
			if (o.n_level < 8)
				o.level[o.n_level++] = optarg;
			break;
		case 'f':
			o.first = true;
			break;
		case 'k':
			print = true;
			break;
		case 'v':
			o.verbose = true;
			break;
		default:
			return 2;
		}
	if (print) {
		heddle_arena *arena = heddle_arena_new();
		random_stream r = {seed * 7919};
		uint64_t forms = 0;
		printf("%s", printed(arena, random_make(arena, &r, &forms)));
		heddle_arena_free(arena);
		return 0;
	}
	heddle_ctx *ctx = heddle_ctx_new();
	all_targets(ctx, &o);
	for (unsigned long long i = 0; i < n && heddle_now() - start < limit && !(o.first && sum.failed); i++)
		one(seed + i, &o, &sum);
	heddle_ctx_free(ctx);
	statistics(&sum);
	int missed = sum.n >= 1000 ? never_met(&sum, o.n_level > 0) : 0;
	return sum.failed || missed || 4 * sum.accepted < sum.n;
}
