/* Options: the one table, and the parser of arguments.
 * SPDX-License-Identifier: MIT
 */
#include "cli/cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CHECK (1u << HEDDLE_VERB_CHECK)
#define EMIT (1u << HEDDLE_VERB_EMIT)
#define PLAN (1u << HEDDLE_VERB_PLAN)
#define TEST (1u << HEDDLE_VERB_TEST)
#define RUN (1u << HEDDLE_VERB_RUN)
#define BENCH (1u << HEDDLE_VERB_BENCH)
#define MANIFEST (1u << HEDDLE_VERB_MANIFEST)
#define ARCH (1u << HEDDLE_VERB_ARCH)
#define EXPLAIN (1u << HEDDLE_VERB_EXPLAIN)
#define SERVE_RUN (1u << HEDDLE_VERB_SERVE_RUN)
#define REPORT (1u << HEDDLE_VERB_REPORT)
#define ALL ((1u << HEDDLE_N_VERB) - 1)

const heddle_option_row heddle_option_rows[] = {
	[HEDDLE_OPTION_DEF] = {"--def", NULL, "NAME", "the definition to take; run, plan and bench -s need it when the file has several (manifest: FILE.tc[:NAME])",
			       EMIT | PLAN | RUN | BENCH | TEST | CHECK | MANIFEST},
	[HEDDLE_OPTION_SIZES] = {"--sizes", "-s", "M=64,N=1:512,K=64*", "sizes: a value, a range, a divisor",
				 CHECK | EMIT | PLAN | TEST | RUN | BENCH},
	[HEDDLE_OPTION_TARGET] = {"--target", "-t", "cuda:h200,...", "targets, as BACKEND:CHIP; host is this machine's processor",
				  EMIT | PLAN | TEST | RUN | BENCH | MANIFEST},
	[HEDDLE_OPTION_OUTPUT] = {"--output", "-o", "DIR", "where files go (default: the current folder; manifest, arch new: the file)",
				  EMIT | RUN | MANIFEST | ARCH},
	[HEDDLE_OPTION_PREFIX] = {"--prefix", NULL, "TEXT", "put before the names of files and functions", EMIT},
	[HEDDLE_OPTION_CHECK] = {"--check", NULL, NULL, "write nothing: fail if the files in DIR differ", EMIT},
	[HEDDLE_OPTION_SIZES_AUTO] = {"--sizes-auto", NULL, NULL,
				      "variants of our own choice: the sizes of each '#: bench' line, multiples of 16, and all others", EMIT},
	[HEDDLE_OPTION_LIST] = {"--list", NULL, NULL, "write nothing: name the files that would be written", EMIT},
	[HEDDLE_OPTION_BINDING] = {"--binding", NULL, "torch", "write a C++ file too that makes the entry an operator of PyTorch", EMIT},
	[HEDDLE_OPTION_DEPFILE] = {"--depfile", NULL, "FILE", "write what the files depend on too, for make or ninja", EMIT},
	[HEDDLE_OPTION_LOCK] = {"--lock", NULL, "FILE", "keep to the configs in this file, and add those that it lacks", EMIT},
	[HEDDLE_OPTION_UPDATE_LOCK] = {"--update-lock", NULL, NULL, "choose the configs of --lock anew", EMIT},
	[HEDDLE_OPTION_CONFIG] = {"--config", NULL, "LINE", "fix choices; the cost model makes the rest (bench: may be repeated)",
				  EMIT | PLAN | TEST | RUN | BENCH},
	[HEDDLE_OPTION_EFFORT] = {"--effort", NULL, "0|1|2|3", "choose among candidates: the best in closed form, of a few programs, of many, of those by timing (default 1)",
				  EMIT | PLAN | TEST | RUN | BENCH},
	[HEDDLE_OPTION_POLICY] = {"--policy", NULL, "ieee|relaxed", "the numeric policy of all definitions, whatever they say",
				  CHECK | EMIT | PLAN | TEST | RUN | BENCH},
	[HEDDLE_OPTION_DUMP] = {"--dump", NULL, "PASS", "show the result of a pass (may be repeated)", PLAN},
	[HEDDLE_OPTION_STOP] = {"--stop", NULL, "PASS", "stop after a pass", PLAN},
	[HEDDLE_OPTION_TIME_PASSES] = {"--time-passes", NULL, NULL, "show the time of each pass", PLAN},
	[HEDDLE_OPTION_DIFF] = {"--diff", NULL, NULL, "two targets: show where their plans differ", PLAN},
	[HEDDLE_OPTION_TOP] = {"--top", NULL, "N", "the N configs that the cost model rates best, and why", PLAN},
	[HEDDLE_OPTION_SWEEP] = {"--sweep", NULL, "KEY=A,B,C", "what values of the chip are worth: shared_per_block=64K,128K, l2.size=1M,4M", PLAN},
	[HEDDLE_OPTION_LEVEL] = {"--level", "-l", "NAME,...", "interpret, emulate, opencl-cpu, compile, device; those named must run "
							     "(run, bench, serve-run: one of emulate, opencl-cpu, device)",
				 TEST | RUN | BENCH | SERVE_RUN | ARCH},
	[HEDDLE_OPTION_THOROUGH] = {"--thorough", NULL, NULL, "every case at every level in every form; slow simulators, too", TEST},
	[HEDDLE_OPTION_CASES] = {"--cases", NULL, "given|all", "given: sizes of our own are interpreted only (default all)", TEST},
	[HEDDLE_OPTION_QUICK] = {"--quick", NULL, NULL, "only the program with open sizes; levels that run text take the file's own cases", TEST},
	[HEDDLE_OPTION_IMPL] = {"--impl", NULL, "FILE.json", "a hand-written kernel: its manifest", TEST | BENCH},
	[HEDDLE_OPTION_EXPECT] = {"--expect", NULL, "DIR", "--impl without a definition: NAME.npy of outputs, and of inputs if there",
				  TEST},
	[HEDDLE_OPTION_ORACLE] = {"--oracle", NULL, "COMMAND",
				  "--impl without a definition: run as COMMAND DIR, reads DIR/inputs, writes DIR/outputs", TEST},
	[HEDDLE_OPTION_RTOL] = {"--rtol", NULL, "X", "--expect, --oracle: error allowed, times the value (default by type)", TEST},
	[HEDDLE_OPTION_ATOL] = {"--atol", NULL, "X", "--expect, --oracle: error allowed, added (default by type)", TEST},
	[HEDDLE_OPTION_MAX_SPILL] = {"--max-spill", NULL, "BYTES",
				     "level compile: fail kernels whose threads spill more (default: spills are only reported)", TEST},
	[HEDDLE_OPTION_INSTANCE] = {"--instance", NULL, "'k<float,128>'", "a kernel, with its template arguments (may be repeated)",
				    MANIFEST},
	[HEDDLE_OPTION_DEFINE] = {"--define", "-D", "NAME=VALUE", "a macro of the source (may be repeated)", MANIFEST},
	[HEDDLE_OPTION_INCLUDE] = {"--include", "-I", "DIR", "a folder of the source's headers (may be repeated)", MANIFEST},
	[HEDDLE_OPTION_INPUT] = {"--input", "-i", "A=FILE.npy", "the contents of a tensor; others are random numbers", RUN},
	[HEDDLE_OPTION_SEED] = {"--seed", NULL, "N", "of random inputs and orders (default 1)", TEST | RUN | BENCH},
	[HEDDLE_OPTION_REPEAT] = {"--repeat", NULL, "N", "timed runs (default 20)", BENCH},
	[HEDDLE_OPTION_ROUNDS] = {"--rounds", NULL, "N", "in how many rounds, each in a process of its own (default 4)", BENCH},
	[HEDDLE_OPTION_TIMEOUT] = {"--timeout", NULL, "SECONDS", "of one case (default 60)", TEST | RUN | BENCH},
	[HEDDLE_OPTION_FROM] = {"--from", NULL, "NAME", "the descriptor to start from", ARCH},
	[HEDDLE_OPTION_ALL] = {"--all", NULL, NULL, "every code with its explanation, as Markdown", EXPLAIN},
	[HEDDLE_OPTION_JUNIT] = {"--junit", NULL, "FILE", "write the results as JUnit XML too", TEST | REPORT},
	[HEDDLE_OPTION_SARIF] = {"--sarif", NULL, "FILE", "write the findings as SARIF too", TEST | CHECK | REPORT},
	[HEDDLE_OPTION_ANNOTATE] = {"--annotate", NULL, "github|plain", "print findings as lines that code hosts show beside the source",
				    TEST},
	[HEDDLE_OPTION_PATH] = {"--path", NULL, "DIR", "look for descriptors and dialects here first", ALL},
	[HEDDLE_OPTION_JSON] = {"--json", NULL, NULL, "one JSON document on standard output", ALL},
	[HEDDLE_OPTION_COLOUR] = {"--colour", NULL, NULL, "(or --color) colours in messages (the default on a terminal without NO_COLOR)", ALL},
	[HEDDLE_OPTION_HELP] = {"--help", "-h", NULL, "this text", ALL},
};
_Static_assert(HEDDLE_COUNT(heddle_option_rows) == HEDDLE_N_OPTION, "one row per option");

static bool takes(const heddle_verb_row *verb, const heddle_option_row *row)
{
	if (!verb)
		return row->verbs == ALL;
	return row->verbs & (1u << (verb - heddle_verb_rows));
}

/* The options of a verb as names for did-you-mean. */
static const char *nearest_option(const heddle_verb_row *verb, const char *name)
{
	const char *names[HEDDLE_N_OPTION];
	int n = 0;
	for (int i = 0; i < HEDDLE_N_OPTION; i++)
		if (takes(verb, &heddle_option_rows[i]))
			names[n++] = heddle_option_rows[i].name;
	return heddle_nearest(name, names, n);
}

static int unknown_option(heddle_cli *cli, const char *name)
{
	const char *nearest = nearest_option(cli->verb, name);
	const char *verb = cli->verb ? cli->verb->name : "heddle";
	heddle_error(cli->ctx, 911, NULL, "'%s' has no option '%s'", verb, name);
	if (nearest)
		heddle_note(cli->ctx, NULL, "did you mean '%s'?", nearest);
	else if (cli->verb)
		heddle_note(cli->ctx, NULL, "'heddle %s --help' lists them", verb);
	return -1;
}

static int unknown_verb(heddle_cli *cli, const char *name)
{
	const char *names[HEDDLE_N_VERB];
	for (int i = 0; i < HEDDLE_N_VERB; i++)
		names[i] = heddle_verb_rows[i].name;
	const char *nearest = heddle_nearest(name, names, HEDDLE_N_VERB);
	heddle_error(cli->ctx, 910, NULL, "no verb '%s'", name);
	if (nearest)
		heddle_note(cli->ctx, NULL, "did you mean '%s'?", nearest);
	else
		heddle_note(cli->ctx, NULL, "'heddle --help' lists them");
	return -1;
}

/* "--name=value", "--name value", "-n value", "-nvalue": the row, and in `*value` what stands in the same word. */
static const heddle_option_row *find_option(const heddle_verb_row *verb, const char *word, const char **value)
{
	*value = NULL;
	for (int i = 0; i < HEDDLE_N_OPTION; i++) {
		const heddle_option_row *row = &heddle_option_rows[i];
		if (!takes(verb, row))
			continue;
		size_t length = strlen(row->name);
		if (i == HEDDLE_OPTION_COLOUR && !strcmp(word, "--color"))
			return row;
		if (!strncmp(word, row->name, length) && (word[length] == '\0' || word[length] == '=')) {
			*value = word[length] ? word + length + 1 : NULL;
			return row;
		}
		if (row->shorthand && !strncmp(word, row->shorthand, 2) && (row->argument || !word[2])) {
			*value = word[2] ? word + 2 : NULL;
			return row;
		}
	}
	return NULL;
}

static void add_value(heddle_cli *cli, const heddle_option_row *row, const char *value)
{
	heddle_values *values = &cli->option[row - heddle_option_rows];
	HEDDLE_PUSH(cli->arena, values->value, values->n, value);
}

/* One option at argv[*i]; leaves `*i` at its last word. */
static int parse_option(heddle_cli *cli, int argc, const char *const *argv, int *i)
{
	const char *value;
	const heddle_option_row *row = find_option(cli->verb, argv[*i], &value);
	if (!row)
		return unknown_option(cli, heddle_arena_strndup(cli->arena, argv[*i], strcspn(argv[*i], "=")));
	if (!row->argument && value)
		return heddle_error(cli->ctx, 912, NULL, "option '%s' takes no value", row->name);
	if (row->argument && !value) {
		if (*i + 1 >= argc)
			return heddle_error(cli->ctx, 912, NULL, "option '%s' needs a value: %s %s", row->name, row->name,
					    row->argument);
		value = argv[++*i];
	}
	const heddle_option_id id = (heddle_option_id)(row - heddle_option_rows);
	if (value && !*value && id != HEDDLE_OPTION_SIZES && id != HEDDLE_OPTION_CONFIG && id != HEDDLE_OPTION_PREFIX)
		return heddle_error(cli->ctx, 912, NULL, "option '%s' needs a value, and '' is none: %s %s", row->name, row->name,
				    row->argument);
	add_value(cli, row, value);
	return 0;
}

static int check_word_count(heddle_cli *cli)
{
	const heddle_verb_row *verb = cli->verb;
	if (!verb || heddle_cli_flag(cli, HEDDLE_OPTION_HELP))
		return 0;
	if (cli->n_word < verb->least) {
		heddle_error(cli->ctx, 913, NULL, "'%s' needs an argument", verb->name);
		return heddle_note(cli->ctx, NULL, "usage: heddle %s %s", verb->name, verb->form), -1;
	}
	if (verb->most >= 0 && cli->n_word > verb->most)
		return heddle_error(cli->ctx, 914, NULL, "'%s' has no use for the argument '%s'", verb->name,
				    cli->word[verb->most]);
	return 0;
}

int heddle_cli_parse(heddle_cli *cli, int argc, const char *const *argv)
{
	bool only_words = false;
	for (int i = 0; i < argc; i++) {
		const char *word = argv[i];
		if (!only_words && !strcmp(word, "--")) {
			only_words = true;
		} else if (!only_words && word[0] == '-' && word[1]) {
			if (parse_option(cli, argc, argv, &i) < 0)
				return -1;
		} else if (!cli->verb && !strcmp(word, "help")) {
			add_value(cli, &heddle_option_rows[HEDDLE_OPTION_HELP], NULL); /* `heddle help emit` is `heddle emit --help` */
		} else if (!cli->verb) {
			for (int v = 0; v < HEDDLE_N_VERB; v++)
				if (!strcmp(word, heddle_verb_rows[v].name))
					cli->verb = &heddle_verb_rows[v];
			if (!cli->verb)
				return unknown_verb(cli, word);
		} else {
			HEDDLE_PUSH(cli->arena, cli->word, cli->n_word, word);
		}
	}
	return check_word_count(cli);
}

bool heddle_cli_flag(const heddle_cli *cli, heddle_option_id id)
{
	return cli->option[id].n > 0;
}

const char *heddle_cli_value(const heddle_cli *cli, heddle_option_id id)
{
	const heddle_values *values = &cli->option[id];
	return values->n ? values->value[values->n - 1] : NULL;
}

int heddle_cli_number(heddle_cli *cli, heddle_option_id id, double otherwise, double least, double most, double *value)
{
	const char *text = heddle_cli_value(cli, id);
	*value = otherwise;
	if (!text)
		return 0;
	char *end;
	*value = strtod(text, &end);
	if (end == text || *end || !(*value >= least && *value <= most))
		return heddle_error(cli->ctx, 915, NULL, "option '%s': '%s' is not a number from %g to %g",
				    heddle_option_rows[id].name, text, least, most);
	return 0;
}

static void help_options(const heddle_verb_row *verb, heddle_text *out)
{
	for (int i = 0; i < HEDDLE_N_OPTION; i++) {
		const heddle_option_row *row = &heddle_option_rows[i];
		if (!takes(verb, row))
			continue;
		heddle_text left = {0};
		heddle_text_printf(&left, "  %s%s%s%s%s", row->shorthand ? row->shorthand : "", row->shorthand ? ", " : "",
				   row->name, row->argument ? " " : "", row->argument ? row->argument : "");
		heddle_text_printf(out, "%-32s  %s\n", heddle_text_str(&left), row->help);
		heddle_text_free(&left);
	}
}

void heddle_cli_help(const heddle_verb_row *verb, heddle_text *out)
{
	if (verb) {
		heddle_text_printf(out, "usage: heddle %s %s\n\n%s.\n%s\noptions:\n", verb->name, verb->form, verb->summary,
				   verb->help);
		help_options(verb, out);
		return;
	}
	heddle_text_add(out, "usage: heddle VERB ARGUMENTS [options]\n       heddle help [VERB]\n\n"
			     "Layers in tensor notation to CUDA, HIP and OpenCL C kernels.\n\nverbs:\n");
	for (int i = 0; i < HEDDLE_N_VERB; i++)
		heddle_text_printf(out, "  %-12s%s\n", heddle_verb_rows[i].name, heddle_verb_rows[i].summary);
	heddle_text_add(out, "\noptions of every verb:\n");
	help_options(NULL, out);
	heddle_text_add(out, "  -V, --version                   print the version (with --json as JSON)\n\n"
			     "Exit codes: 0 fine, 1 a test or bench failed, 2 usage, 3 source error, 4 a tool, driver or required\n"
			     "level is missing, 5 a limit or timeout, 70 internal error, 77 everything skipped.\n");
}
