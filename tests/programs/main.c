/* Compile definitions for several targets, with open and with given sizes, run them in the interpreter, judge by the reference.
 *
 *   test_programs [-t TARGET,..] [-f TARGET,..] [-c COST] [-g CONFIG] [-v] FILE.tc ..
 *
 * -t: targets compiled with open sizes (also with each `#: config` line); -f: with sizes given, case by case; -c: greatest number
 * of instances of a case; -g: this config for all.
 * SPDX-License-Identifier: MIT
 */
#include "compile/compile.h"
#include "tests/programs/pipeline.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct tester {
	heddle_ctx *ctx;
	int n_open, n_given;
	heddle_target open[16], given[16];
	double cost;
	const char *config;
	bool verbose;
	int runs, programs, wrong;
	double compile, run;
} tester;

static bool targets(tester *t, char *list, heddle_target *target, int *n)
{
	for (char *word = strtok(list, ","); word && *n < 16; word = strtok(NULL, ","))
		if (heddle_target_parse(t->ctx, word, &target[(*n)++]) < 0) {
			fputs(heddle_ctx_messages(t->ctx), stdout);
			return false;
		}
	return true;
}

static void wrong(tester *t, const heddle_definition *d, const heddle_target *target, const char *what, const char *name,
		  const char *message)
{
	t->wrong++;
	printf("WRONG %s %s %s %s: %s\n", d->name, target->text, what, name, message);
}

static heddle_program *compiled(tester *t, const heddle_definition *d, const heddle_target *target, const char *config,
				const char *what, const char *name)
{
	heddle_compile_options options = {.config = config, .effort = HEDDLE_EFFORT_CLOSED_FORM};
	double start = heddle_now();
	heddle_program *program = heddle_compile(t->ctx, d, target, &options);
	t->compile += heddle_now() - start;
	t->programs++;
	if (program) {
		heddle_program_number(program);
		/* every program of the tests is within reach of the proof */
		if (strncmp(program->proof, "proved", 6))
			wrong(t, d, target, what, name, program->proof);
		return program;
	}
	wrong(t, d, target, what, name, heddle_ctx_messages(t->ctx));
	heddle_diagnostics_clear(t->ctx);
	return NULL;
}

static void judge(tester *t, const heddle_definition *d, const heddle_target *target, const heddle_program *program,
		  pipeline_case *c, const char *what)
{
	heddle_arena *arena = heddle_arena_new();
	double start = heddle_now();
	const char *message = pipeline_run(t->ctx, arena, program, target, c, 3, 0, NULL);
	t->run += heddle_now() - start;
	t->runs++;
	if (message)
		wrong(t, d, target, what, c->name, message);
	heddle_arena_free(arena);
}

static void open_sizes(tester *t, const heddle_definition *d, pipeline_cases *cases, const char *config)
{
	for (int i = 0; i < t->n_open; i++) {
		heddle_program *program = compiled(t, d, &t->open[i], config, "open", "");
		for (int c = 0; c < cases->n && program; c++)
			judge(t, d, &t->open[i], program, &cases->item[c], "open");
		if (t->verbose && program)
			printf("  %s %s: %s\n", t->open[i].text, program->proof, program->config);
		heddle_program_free(program);
	}
}

/* The same values, under a definition whose sizes are given. */
static void given_sizes(tester *t, const heddle_module *all, int position, pipeline_case *c)
{
	const heddle_definition *open = all->definition[position];
	heddle_arena *arena = heddle_arena_new();
	heddle_size_list *sizes = heddle_sizes_parse(t->ctx, arena, c->name);
	heddle_module *module =
		sizes ? heddle_module_parse_for(t->ctx, all->source->name, all->source->text, sizes, open->name) : NULL;
	heddle_definition *d = module ? heddle_module_find(t->ctx, module, open->name) : NULL;
	for (int i = 0; i < t->n_given; i++) {
		if (!d) {
			wrong(t, open, &t->given[i], "given", c->name, heddle_ctx_messages(t->ctx));
			continue;
		}
		heddle_program *program = compiled(t, d, &t->given[i], t->config, "given", c->name);
		if (program)
			judge(t, d, &t->given[i], program, c, "given");
		heddle_program_free(program);
	}
	heddle_diagnostics_clear(t->ctx);
	heddle_module_free(module);
	heddle_arena_free(arena);
}

static void file(tester *t, const char *path)
{
	char *text = heddle_file_read(t->ctx, path, NULL);
	heddle_module *module = text ? heddle_module_parse(t->ctx, path, text, NULL) : NULL;
	if (!module) {
		t->wrong++;
		printf("WRONG %s: %s\n", path, heddle_ctx_messages(t->ctx));
	}
	heddle_diagnostics_clear(t->ctx);
	for (int i = 0; module && i < module->n_definition; i++) {
		heddle_definition *d = module->definition[i];
		heddle_arena *arena = heddle_arena_new();
		heddle_case_options options = {.cost = t->cost};
		pipeline_cases cases = {0};
		int before = t->wrong, at = 0;
		double start = heddle_now(), c = t->compile, r = t->run;
		if (pipeline_cases_make(t->ctx, arena, module, d, &options, true, &cases) < 0)
			t->wrong++;
		open_sizes(t, d, &cases, t->config);
		for (const heddle_pragma *p; !t->config && (p = heddle_pragma_next(module, d, "config", &at));)
			open_sizes(t, d, &cases, p->text);
		/* the sizes of the file, and the edges, which come last */
		for (int k = 0; k < cases.n && t->n_given; k++)
			if (k < 2 || k >= cases.n - d->n_size - 2)
				given_sizes(t, module, i, &cases.item[k]);
		int judged = 0;
		for (int k = 0; k < cases.n; k++)
			judged += cases.item[k].judged > 0;
		if (2 * judged < cases.n) {
			t->wrong++;
			printf("FAULT %s: only %d of %d cases could be judged\n", d->name, judged, cases.n);
		}
		printf("%-28s %3d cases  %d wrong  %.2f s (compile %.2f, run %.2f)\n", d->name, cases.n, t->wrong - before,
		       heddle_now() - start, t->compile - c, t->run - r);
		pipeline_cases_free(&cases);
		heddle_arena_free(arena);
	}
	heddle_module_free(module);
	free(text);
}

int main(int argc, char **argv)
{
	tester t = {.ctx = heddle_ctx_new(), .cost = 2e5};
	int c;
	bool good = true;
	while ((c = getopt(argc, argv, "t:f:c:g:v")) > 0)
		switch (c) {
		case 't':
			good = good && targets(&t, optarg, t.open, &t.n_open);
			break;
		case 'f':
			good = good && targets(&t, optarg, t.given, &t.n_given);
			break;
		case 'c':
			t.cost = atof(optarg);
			break;
		case 'g':
			t.config = optarg;
			break;
		case 'v':
			t.verbose = true;
			break;
		default:
			good = false;
		}
	if (!good || optind == argc || !(t.n_open + t.n_given))
		return 2;
	for (int i = optind; i < argc; i++)
		file(&t, argv[i]);
	printf("%d programs (%.1f s), %d runs (%.1f s), %d wrong\n", t.programs, t.compile, t.runs, t.run, t.wrong);
	heddle_ctx_free(t.ctx);
	return t.wrong || !t.runs;
}
