/* Verbs: the one table, and heddle_verb.
 * SPDX-License-Identifier: MIT
 */
#include "cli/cli.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const heddle_verb_row heddle_verb_rows[] = {
	[HEDDLE_VERB_CHECK] = {"check", "FILE... [-s SIZES]", "Parse and check files: types, shapes, ranges, bounds",
			       "Prints each definition with the shapes found.  FILE may be - for standard input.\n", 1, -1,
			       heddle_cli_check},
	[HEDDLE_VERB_EMIT] = {"emit", "FILE [--def NAME] -s SIZES -t TARGETS -o DIR",
			      "Write kernels, their header and manifests",
			      "One C header for all targets and per target a source and a manifest.  If anything fails, nothing is\n"
			      "written.  Without -t for cuda:h100, hip:mi300x, opencl:cpu; without --def all definitions of the file.\n"
			      "A size that is not given stays symbolic; several -s make variants behind one entry.\n"
			      "With --lock, configs stay as they are until --update-lock; --check compares with files written before.\n",
			      1, 1, heddle_cli_emit},
	[HEDDLE_VERB_PLAN] = {"plan", "FILE [--def NAME] -s SIZES -t TARGET", "Show what the kernels will do, how fast, and why",
			      "Schedule, spaces, traffic per memory level, predicted time, and what limits it.  Without -t for cuda:h100.\n"
			      "Where sizes are open the model's times are for usual values, which it names.\n", 1, 1,
			      heddle_cli_plan},
	[HEDDLE_VERB_TEST] = {"test", "[FILE|DIR...] [-t TARGETS] [--level LEVELS] [--impl K.json]...",
			      "Compare kernels with the definition at every level available",
			      "Without -t on cuda:h100, hip:mi300x, host; without --def all definitions; without -s at the sizes of the\n"
			      "file's lines '#: sizes M=64 ...', and at others unless --cases given.  A level or target named must be there (exit code 4).\n"
			      "Without --level: all levels that are here, but no runner that is slow (--thorough: those, too).\n"
			      "--impl alone: memory checks of one's own kernels with random inputs; --expect or --oracle judge the numbers.\n",
			      0, -1, heddle_cli_test},
	[HEDDLE_VERB_RUN] = {"run", "FILE [--def NAME] [-s SIZES] [-t TARGET] [--input A=a.npy]... [--output DIR]",
			     "Run a definition on NumPy files",
			     "Without -t on the first GPU, else host: this machine's processor, through OpenCL.  Sizes that -s does not\n"
			     "give are those of the files of --input.  Without --output the result's shape and a few numbers are printed.\n", 1, 1,
			     heddle_cli_run},
	[HEDDLE_VERB_BENCH] = {"bench", "FILE [--def NAME] -s SIZES [-t TARGET] [--impl K.json]...", "Time kernels",
			       "Time, GB/s, GFLOP/s and the share of the roofline; a time counts where the results are right.\n"
			       "Without -t on the first GPU, else host: this machine's processor, through OpenCL.  Without -s every\n"
			       "definition, or that of --def, at the sizes of its lines '#: bench M=64 ...', else of its last '#: sizes' line.\n", 1,
			       1, heddle_cli_bench},
	[HEDDLE_VERB_MANIFEST] = {"manifest", "FILE [--def FILE.tc[:NAME]] [--instance 'k<float,128>']... [-o FILE.json]",
				  "Write the skeleton of a manifest for kernels of one's own",
				  "Kernels, arguments, blocks and shared memory come from the prototypes, grids from launches in the same\n"
				  "file, shapes and sizes from the definition that --def names.  What the text does not say is marked TODO:\n"
				  "grids in blocks, shapes and bytes as formulas over the sizes, roles, values; heddle test refuses a\n"
				  "manifest with a TODO in it.  \"notes\" lists what was guessed.\n",
				  1, 1, heddle_cli_manifest},
	[HEDDLE_VERB_ARCH] = {"arch", "list | show NAME | validate FILE... | diff A B | new [NAME] --from NAME [-o FILE] | fields | probe [NAME] [-o FILE]",
			      "Architecture descriptors", "Those compiled in and those found in --path and HEDDLE_PATH.\n", 1, -1,
			      heddle_cli_arch},
	[HEDDLE_VERB_SERVE_RUN] = {"serve-run", "[--level LEVEL]", "Run kernels that are sent as lines of JSON, on the drivers here",
				   "Reads requests from standard input and answers each with a line: a descriptor's runner can be\n"
				   "[ssh, HOST, heddle, serve-run] with runner_mode: lines.  doc/backend.md describes the lines.\n",
				   0, 0, heddle_cli_serve_run},
	[HEDDLE_VERB_REPORT] = {"report", "merge A.json B.json... [--junit FILE] [--sarif FILE]", "Merge reports of several machines",
				"Takes what 'heddle test --json' wrote.  The same test counts once; where reports differ the worst stands\n"
				"and the message says both.  A level that ran anywhere is not missing.\n",
				2, -1, heddle_cli_merge},
	[HEDDLE_VERB_DOCTOR] = {"doctor", "", "Say which levels and drivers work here, and how to add the rest", "", 0, 0,
				heddle_cli_doctor},
	[HEDDLE_VERB_EXPLAIN] = {"explain", "[E0123...]", "Explain the code of a message; without one, list all", "", 0, -1,
				 heddle_cli_explain},
	[HEDDLE_VERB_COMPLETION] = {"completion", "bash|zsh|fish", "Print what a shell needs to complete verbs and options",
				    "For this shell alone: source <(heddle completion bash).  To stay: write it where the shell looks.\n", 1,
				    1, heddle_cli_completion},
	[HEDDLE_VERB_MAN] = {"man", "[VERB]", "Print a manual page, of the program or of a verb",
			     "To read it: heddle man emit | man -l -\n", 0, 1, heddle_cli_man},
};
_Static_assert(HEDDLE_COUNT(heddle_verb_rows) == HEDDLE_N_VERB, "one row per verb");

/* The text given away as a malloc'ed string. */
static char *take_text(heddle_text *text)
{
	char *s = text->data ? text->data : heddle_xstrdup("");
	*text = (heddle_text){0};
	return s;
}

static int add_paths(heddle_cli *cli)
{
	for (int i = 0; i < cli->option[HEDDLE_OPTION_PATH].n; i++) {
		const char *folder = cli->option[HEDDLE_OPTION_PATH].value[i];
		struct stat is;
		if (stat(folder, &is) < 0 || !S_ISDIR(is.st_mode))
			return heddle_error(cli->ctx, 915, NULL, "--path: there is no folder '%s'", folder);
		heddle_ctx_add_path(cli->ctx, folder);
	}
	return 0;
}

static int run_verb(heddle_cli *cli)
{
	int code = add_paths(cli);
	if (heddle_cli_flag(cli, HEDDLE_OPTION_JSON))
		cli->result = json_object();
	if (code == 0)
		code = heddle_ctx_set_policy(cli->ctx, heddle_cli_value(cli, HEDDLE_OPTION_POLICY));
	if (code == 0)
		code = cli->verb->run(cli);
	if (code < 0)
		code = heddle_exit_code(cli->ctx);
	/* A failure that nobody explained is a defect of ours, and not success. */
	if (code < 0 || (code == HEDDLE_EXIT_FINE && heddle_error_count(cli->ctx)))
		code = heddle_exit_code(cli->ctx) ? heddle_exit_code(cli->ctx) : HEDDLE_EXIT_INTERNAL;
	return code;
}

/* The document of --json: verb, exit code, the verb's own members, diagnostics. */
static void finish_json(heddle_cli *cli, int code)
{
	json_t *document = json_object();
	json_object_set_new(document, "heddle", json_string(heddle_version()));
	json_object_set_new(document, "verb", json_string(cli->verb->name));
	json_object_set_new(document, "exit", json_integer(code));
	json_object_update(document, cli->result);
	char *text = json_dumps(document, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
	heddle_text_clear(&cli->out);
	if (text)
		heddle_text_printf(&cli->out, "%s\n", text);
	free(text);
	json_decref(document);
	json_decref(cli->result);
	cli->result = NULL;
}

static bool is_one_of(const char *word, const char *const *list)
{
	while (*list && strcmp(word, *list) != 0)
		list++;
	return *list != NULL;
}

/* --version or -V, as the last word or with options that go with any verb. */
static bool wants_version(int argc, const char *const *argv, bool *json)
{
	static const char *const version[] = {"--version", "-V", NULL}, *const others[] = {"--json", "--colour", "--color", NULL};
	int n = 0, n_other = 0;
	*json = false;
	for (int i = 0; i < argc; i++) {
		n += is_one_of(argv[i], version);
		n_other += is_one_of(argv[i], others);
		*json = *json || !strcmp(argv[i], "--json");
	}
	return n && (n + n_other == argc || is_one_of(argv[argc - 1], version));
}

static int dispatch(heddle_cli *cli, int argc, const char *const *argv)
{
	bool json;
	if (wants_version(argc, argv, &json)) {
		heddle_text_printf(&cli->out, json ? "{\"heddle\": \"%s\"}\n" : "heddle %s\n", heddle_version());
		return HEDDLE_EXIT_FINE;
	}
	int code;
	if (heddle_cli_parse(cli, argc, argv) < 0) {
		code = HEDDLE_EXIT_USAGE;
	} else if (heddle_cli_flag(cli, HEDDLE_OPTION_HELP)) {
		heddle_cli_help(cli->verb, &cli->out);
		code = HEDDLE_EXIT_FINE;
	} else if (!cli->verb) {
		heddle_cli_help(NULL, &cli->err);
		code = HEDDLE_EXIT_USAGE;
	} else {
		code = run_verb(cli);
	}
	heddle_cli_report(cli);
	if (cli->result)
		finish_json(cli, code);
	return code;
}

int heddle_verb(heddle_ctx *ctx, int argc, const char *const *argv, char **out, char **err)
{
	heddle_cli cli = {.ctx = ctx, .arena = heddle_arena_new()};
	if (!cli.arena)
		return HEDDLE_EXIT_LIMIT;
	heddle_diagnostics_clear(ctx); /* those of the verb before */
	/* Numbers are read and written with a point whatever the process has set. */
	locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	locale_t before = plain ? uselocale(plain) : (locale_t)0;
	int code = dispatch(&cli, argc, argv);
	if (plain) {
		uselocale(before);
		freelocale(plain);
	}
	if (out)
		*out = take_text(&cli.out);
	if (err)
		*err = take_text(&cli.err);
	heddle_text_free(&cli.out);
	heddle_text_free(&cli.err);
	heddle_arena_free(cli.arena);
	return code;
}
