/* Random definitions through the whole compiler: for a random target, with the default config and with a changed one, run by the
 * interpreter and judged by the reference.
 *
 *   test_random [-n COUNT] [-s SEED] [-l SECONDS] [-o FOLDER] [-k] [-v]
 *
 * -n: definitions (150); -s: first seed (1); HEDDLE_RANDOM="COUNT SEED" stands for both; -l: stop after so many seconds; -o: failing
 * definitions are cut down and written there; -k: the definition of the seed is only printed; -v: each failure with its text.
 * SPDX-License-Identifier: MIT
 */
#include "compile/compile.h"
#include "tests/programs/pipeline.h"
#include "tests/random/random.h"

#include <ctype.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const targets[] = {"cuda:h200",  "cuda:t4",    "hip:mi300x", "hip:rx7900xtx",
				      "opencl:gpu", "opencl:cpu", "opencl:cpu-avx2"};

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
	OUT_REFUSED, /* sizes or inputs that the reference does not take */
	N_OUTCOME
} outcome;

static const char *const outcome_names[N_OUTCOME] = {
	"rejected",  "compiled",  "config refused", "limit",   "proved",   "proved under preconditions", "not proved",
	"fallback",  "fused",	  "several kernels", "staged", "registers", "split", "lanes", "shuffles", "vectors",
	"two branches", "barriers", "runs", "runs not judged", "cases refused"};

/* What a child says, in memory that it shares with its parent. */
typedef struct report {
	int count[N_OUTCOME];
	bool failed;
	bool accepted;
	char kind[160]; /* class of failure: what must stay when a definition is cut down */
	char message[1000];
	char config[4000];  /* of the failure; "" : the default */
	char stage[40];	    /* where the child was, for crashes */
	char sizes[100];    /* of the failure */
} report;

typedef struct subject {
	const char *text;
	const char *target;
	const char *config; /* only this one; NULL: default and a changed one, chosen by `seed` */
	const char *sizes;  /* only these; NULL: chosen */
	bool given;	    /* sizes are given when compiling */
	uint64_t seed;
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

/* ---- configs --------------------------------------------------------------------------------------------------------------- */

/* The word before the number or list item that starts at `at`: tile, thread, vector, reduce, .. */
static const char *key_of(const char *line, const char *at)
{
	while (at > line && *at != '=')
		at--;
	while (at > line && isalpha((unsigned char)at[-1]))
		at--;
	return at;
}

/* Every tile, thread and vector number made smaller by powers of two, tiles kept multiples. */
static char *shrink(heddle_arena *arena, const char *line, int tile, int thread, int vector)
{
	heddle_text text = {0};
	for (const char *at = line; *at;) {
		bool number = isdigit((unsigned char)*at) && at > line && (at[-1] == ':' || at[-1] == '=');
		const char *key = number ? key_of(line, at) : "";
		bool threads = !strncmp(key, "thread=", 7) || !strncmp(key, "threads=", 8);
		if (!number || (!threads && strncmp(key, "tile=", 5) && strncmp(key, "vector=", 7))) {
			heddle_text_addn(&text, at++, 1);
			continue;
		}
		char *end;
		long value = strtol(at, &end, 10);
		value >>= threads ? thread : *key == 't' ? tile : vector;
		heddle_text_printf(&text, "%ld", value < 1 ? 1 : value);
		at = end;
	}
	char *result = heddle_arena_strdup(arena, heddle_text_str(&text));
	heddle_text_free(&text);
	return result;
}

static char *replaced(heddle_arena *arena, const char *line, const char *from, const char *to, const char *with)
{
	return heddle_arena_printf(arena, "%.*s%s%s", (int)(from - line), line, with, to);
}

/* One small change somewhere. */
static char *change(heddle_arena *arena, random_stream *r, char *line)
{
	static const char *const numbers[] = {"1", "2", "4", "8", "16", "32", "64", "3", "128"};
	static const char *const spaces[] = {"register", "shared", "global"};
	int how = random_below(r, 100), n = 0;
	const char *place[200];
	if (how < 45) { /* a number */
		for (const char *at = line; *at && n < 200; at++)
			if (isdigit((unsigned char)*at) && at > line &&
			    (at[-1] == ':' || (at[-1] == '=' && !strncmp(key_of(line, at), "threads=", 8))))
				place[n++] = at;
		if (!n)
			return line;
		const char *at = place[random_below(r, n)], *end = at;
		while (isdigit((unsigned char)*end))
			end++;
		return replaced(arena, line, at, end, numbers[random_below(r, 9)]);
	}
	if (how < 60) { /* where a group lives */
		for (const char *at = line; (at = strstr(at, "space=")) && n < 200; at += 6)
			place[n++] = at + 6;
		if (!n)
			return line;
		const char *at = place[random_below(r, n)], *end = at;
		while (isalpha((unsigned char)*end))
			end++;
		return replaced(arena, line, at, end, spaces[random_below(r, 3)]);
	}
	if (how < 75) { /* a part left to the cost model */
		for (const char *at = line; (at = strstr(at, "; ")) && n < 200; at += 2)
			place[n++] = at;
		if (!n)
			return line;
		const char *at = place[random_below(r, n)], *end = strstr(at + 1, "; ");
		return replaced(arena, line, at, end ? end : at + strlen(at), "");
	}
	if (how < 85) { /* a reduction by lanes or not */
		for (const char *at = line; (at = strstr(at, "reduce=")) && n < 200; at += 7)
			place[n++] = at;
		if (n) {
			const char *at = place[random_below(r, n)], *end = at;
			while (*end && *end != ' ' && *end != ';')
				end++;
			return replaced(arena, line, at, end, "");
		}
		return line;
	}
	if (how < 95) { /* the grouping: the rest is completed */
		const char *fuse = strstr(line, "fuse=");
		int kernel = 0;
		heddle_text text = {0};
		if (!fuse)
			return line;
		for (const char *at = fuse + 5; *at && *at != ';'; at++)
			if (isdigit((unsigned char)*at) && !isdigit((unsigned char)at[1])) {
				heddle_text_printf(&text, "%s%d", text.length ? "," : "fuse=", kernel);
				kernel += random_percent(r, 50);
			}
		char *result = heddle_arena_strdup(arena, heddle_text_str(&text));
		heddle_text_free(&text);
		return result;
	}
	return heddle_arena_printf(arena, "split=0:%c:%d", "jpqu"[random_below(r, 4)], 1 << random_below(r, 5));
}

static char *changed_config(heddle_arena *arena, random_stream *r, const heddle_program *program)
{
	char *line = heddle_arena_strdup(arena, program->config);
	/* groups that live in global memory are not in the line */
	if (random_percent(r, 40)) {
		const heddle_buffer *buffer = program->buffer[random_below(r, program->n_buffer)];
		if (buffer->role == HEDDLE_BUFFER_INPUT)
			line = heddle_arena_printf(arena, "%s; k0.%s.0: space=shared%s", line, buffer->name,
						   random_percent(r, 30) ? " pad=1" : "");
	}
	if (random_percent(r, 75)) {
		int tile = random_below(r, 7), thread = random_below(r, tile + 1), vector = random_below(r, 3);
		line = shrink(arena, line, tile, thread, vector);
		if (random_percent(r, 50))
			return line;
	}
	for (int n = 1 + random_below(r, 3); n; n--)
		line = change(arena, r, line);
	return line;
}

/* ---- one definition --------------------------------------------------------------------------------------------------------- */

/* Numbers after tile= in the line. */
static int tiles_of(const char *line, int64_t *tile, int max)
{
	int n = 0;
	for (const char *at = line; *at && n < max; at++)
		if (*at == ':' && isdigit((unsigned char)at[1]) && !strncmp(key_of(line, at), "tile=", 5))
			tile[n++] = atoll(at + 1);
	return n;
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
		}
		if (heddle_reference_cost(d, size) <= 6e4)
			break;
	}
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

static void run_case(trial *t, const heddle_program *program, const int64_t *size, const char *config)
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
		const char *wrong = pipeline_run(t->ctx, t->arena, program, &t->target, &c, 3, 200000000, NULL);
		t->out->count[OUT_RUN]++;
		t->out->count[OUT_VACUOUS] += !wrong && !c.judged;
		if (wrong) {
			/* the word before the colon is the kind of a finding; numbers have the name of an output there */
			const char *end = strstr(wrong, ": line");
			const char *kind = end ? heddle_arena_strndup(t->arena, wrong, (size_t)(end - wrong)) : "wrong";
			fail(t->out, kind, config, heddle_arena_printf(t->arena, "%s: %s", c.name, wrong));
		}
	}
	heddle_case_arrays_free(d, c.initial);
	heddle_reference_free(c.reference);
}

/* The program, or NULL: a refused config or limit is fine, anything else is a failure. */
static heddle_program *compiled(trial *t, const char *config, bool changed)
{
	heddle_compile_options options = {.config = config, .timeout = 10};
	snprintf(t->out->stage, sizeof(t->out->stage), "compile");
	snprintf(t->out->config, sizeof(t->out->config), "%s", config ? config : "");
	heddle_program *program = heddle_compile(t->ctx, t->definition, &t->target, &options);
	if (program) {
		describe(t->ctx, program, t->definition->n_statement, t->out);
		if (strstr(program->proof, "violated"))
			fail(t->out, "violated", config, program->proof);
	} else {
		int code = error_code(t->ctx);
		t->out->count[OUT_CONFIG] += code >= 500 && code < 600;
		t->out->count[OUT_LIMIT] += code >= 600 && code < 700;
		if (!(code >= 600 && code < 700) && !(changed && code >= 500 && code < 600))
			fail(t->out, heddle_arena_printf(t->arena, "E%04d", code), config, heddle_ctx_messages(t->ctx));
	}
	heddle_diagnostics_clear(t->ctx);
	return program;
}

static void cases(trial *t, const heddle_program *program, const char *config, int n)
{
	int64_t *size = HEDDLE_NEW_ARRAY(t->arena, int64_t, t->definition->n_size + 1);
	heddle_program_number((heddle_program *)program);
	if (t->subject->sizes || t->subject->given)
		n = 1;
	for (int i = 0; i < n && !t->out->failed; i++) {
		if (t->subject->sizes)
			given_case(t->ctx, t->arena, t->definition, t->subject->sizes, size);
		else if (t->subject->given)
			for (int k = 0; k < t->definition->n_size; k++)
				size[k] = t->definition->size[k]->min;
		else
			choose_sizes(&t->r, t->definition, program->config, i, size);
		if (heddle_reference_cost(t->definition, size) <= 1e6)
			run_case(t, program, size, config);
	}
}

static void try(const subject *s, report *out)
{
	trial t = {.ctx = heddle_ctx_new(), .arena = heddle_arena_new(), .subject = s, .out = out, .r = {s->seed}};
	snprintf(out->stage, sizeof(out->stage), "front end");
	t.module = heddle_module_parse(t.ctx, "random.tc", s->text, NULL);
	if (t.module && s->given) {
		/* the same with sizes that are given */
		int64_t size[RANDOM_N_SIZE + 1] = {0};
		choose_sizes(&t.r, t.module->definition[0], NULL, random_below(&t.r, 3), size);
		char *text = s->sizes ? heddle_arena_strdup(t.arena, s->sizes) : sizes_text(t.arena, t.module->definition[0], size);
		snprintf(out->sizes, sizeof(out->sizes), "%s", text);
		t.module = heddle_module_parse(t.ctx, "random.tc", s->text, heddle_sizes_parse(t.ctx, t.arena, text));
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
	t.definition = t.module->definition[0];
	if (heddle_target_parse(t.ctx, s->target, &t.target) < 0)
		fail(out, "target", NULL, heddle_ctx_messages(t.ctx));
	heddle_program *program = out->failed ? NULL : compiled(&t, s->config, s->config != NULL);
	if (program)
		cases(&t, program, s->config, 3);
	if (!program || s->config || out->failed)
		return;
	char *config = changed_config(t.arena, &t.r, program);
	program = compiled(&t, config, true);
	if (program)
		cases(&t, program, config, 3);
}

/* In a child: crashes and hangs are failures too. */
static void run(const subject *s, report *out)
{
	report *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status = 0;
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		alarm(60);
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
	smallest_sizes(arena, &s, failure->kind);
	report *last = heddle_xalloc(sizeof(*last));
	run(&s, last);
	heddle_text text = {0};
	heddle_text_printf(&text, "# %s %s %s\n# %s\n", failure->kind, s.target, s.given ? "given sizes" : "open sizes",
			   s.config);
	heddle_text_printf(&text, "# sizes %s\n", s.sizes ? s.sizes : "");
	for (const char *at = last->message; *at;) {
		size_t n = strcspn(at, "\n");
		heddle_text_printf(&text, "# %.*s\n", (int)n, at);
		at += n + (at[n] == '\n');
	}
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

static void one(uint64_t seed, const char *folder, bool verbose, total *sum)
{
	heddle_arena *arena = heddle_arena_new();
	random_stream r = {seed * 7919};
	uint64_t forms = 0;
	random_definition *d = random_make(arena, &r, &forms);
	subject s = {.text = printed(arena, d), .seed = random_next(&r)};
	s.target = targets[random_below(&r, (int)HEDDLE_COUNT(targets))];
	s.given = random_percent(&r, 25);
	report *out = heddle_xalloc(sizeof(*out));
	run(&s, out);
	sum->n++;
	sum->accepted += out->accepted;
	for (int i = 0; i < RANDOM_N_FORM && out->accepted; i++)
		sum->form[i] += (int)(forms >> i & 1);
	for (int i = 0; i < N_OUTCOME; i++)
		sum->count[i] += out->count[i];
	if (out->failed) {
		sum->failed++;
		printf("FAILED seed %llu %s %s: %s [%s] %s\n", (unsigned long long)seed, s.target, out->kind, out->message, out->config,
		       out->sizes);
		if (verbose || !folder)
			printf("%s", s.text);
		if (folder)
			cut_down(arena, d, s, out, seed, folder);
	} else if (verbose && !out->accepted) {
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

int main(int argc, char **argv)
{
	unsigned long long n = 150, seed = 1;
	double limit = 1e9, start = heddle_now();
	const char *folder = NULL, *given = getenv("HEDDLE_RANDOM");
	bool verbose = false, print = false;
	int c;
	total sum = {0};
	if (given)
		sscanf(given, "%llu %llu", &n, &seed);
	while ((c = getopt(argc, argv, "n:s:l:o:kv")) > 0)
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
			folder = optarg;
			break;
		case 'k':
			print = true;
			break;
		case 'v':
			verbose = true;
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
	for (unsigned long long i = 0; i < n && heddle_now() - start < limit; i++)
		one(seed + i, folder, verbose, &sum);
	statistics(&sum);
	return sum.failed || 4 * sum.accepted < sum.n;
}
