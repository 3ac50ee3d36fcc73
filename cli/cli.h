/* The command line: one table of verbs, one of options, one file per verb.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_CLI_H
#define HEDDLE_CLI_H

#include "backends/backend.h"
#include "base/base.h"
#include "frontend/definition.h"

#include <jansson.h>

typedef struct heddle_cli heddle_cli;

/* ---- verbs (verbs.c) ------------------------------------------------------------------------------------------------ */

typedef enum heddle_verb_id {
	HEDDLE_VERB_CHECK,
	HEDDLE_VERB_EMIT,
	HEDDLE_VERB_PLAN,
	HEDDLE_VERB_TEST,
	HEDDLE_VERB_RUN,
	HEDDLE_VERB_BENCH,
	HEDDLE_VERB_MANIFEST,
	HEDDLE_VERB_ARCH,
	HEDDLE_VERB_SERVE_RUN,
	HEDDLE_VERB_REPORT,
	HEDDLE_VERB_DOCTOR,
	HEDDLE_VERB_EXPLAIN,
	HEDDLE_VERB_COMPLETION,
	HEDDLE_VERB_MAN,
	HEDDLE_N_VERB
} heddle_verb_id;

typedef struct heddle_verb_row {
	const char *name;
	const char *form;    /* what follows the name: "FILE... [options]" */
	const char *summary; /* one line */
	const char *help;    /* more lines for `heddle VERB --help` */
	int least, most;     /* positional arguments; most < 0: any number */
	/* Results go to cli->out (or cli->result with --json), reports to cli->err.  The exit code; negative: what the
	 * diagnostics ask for. */
	int (*run)(heddle_cli *cli);
} heddle_verb_row;

/* Each is a file of this folder. */
int heddle_cli_check(heddle_cli *cli);
int heddle_cli_emit(heddle_cli *cli);
int heddle_cli_plan(heddle_cli *cli);
int heddle_cli_test(heddle_cli *cli);
int heddle_cli_run(heddle_cli *cli);
int heddle_cli_bench(heddle_cli *cli);
int heddle_cli_manifest(heddle_cli *cli);
int heddle_cli_arch(heddle_cli *cli);
int heddle_cli_serve_run(heddle_cli *cli);
int heddle_cli_merge(heddle_cli *cli);
int heddle_cli_doctor(heddle_cli *cli);
int heddle_cli_explain(heddle_cli *cli);
int heddle_cli_completion(heddle_cli *cli);
int heddle_cli_man(heddle_cli *cli);

extern const heddle_verb_row heddle_verb_rows[HEDDLE_N_VERB];

/* ---- options (options.c) -------------------------------------------------------------------------------------------- */

typedef enum heddle_option_id {
	HEDDLE_OPTION_DEF,
	HEDDLE_OPTION_SIZES,
	HEDDLE_OPTION_TARGET,
	HEDDLE_OPTION_OUTPUT,
	HEDDLE_OPTION_PREFIX,
	HEDDLE_OPTION_CHECK,
	HEDDLE_OPTION_SIZES_AUTO,
	HEDDLE_OPTION_LIST,
	HEDDLE_OPTION_BINDING,
	HEDDLE_OPTION_DEPFILE,
	HEDDLE_OPTION_LOCK,
	HEDDLE_OPTION_UPDATE_LOCK,
	HEDDLE_OPTION_CONFIG,
	HEDDLE_OPTION_EFFORT,
	HEDDLE_OPTION_POLICY,
	HEDDLE_OPTION_DUMP,
	HEDDLE_OPTION_STOP,
	HEDDLE_OPTION_TIME_PASSES,
	HEDDLE_OPTION_DIFF,
	HEDDLE_OPTION_TOP,
	HEDDLE_OPTION_SWEEP,
	HEDDLE_OPTION_LEVEL,
	HEDDLE_OPTION_THOROUGH,
	HEDDLE_OPTION_CASES,
	HEDDLE_OPTION_QUICK,
	HEDDLE_OPTION_IMPL,
	HEDDLE_OPTION_EXPECT,
	HEDDLE_OPTION_ORACLE,
	HEDDLE_OPTION_RTOL,
	HEDDLE_OPTION_ATOL,
	HEDDLE_OPTION_MAX_SPILL,
	HEDDLE_OPTION_INSTANCE,
	HEDDLE_OPTION_DEFINE,
	HEDDLE_OPTION_INCLUDE,
	HEDDLE_OPTION_INPUT,
	HEDDLE_OPTION_SEED,
	HEDDLE_OPTION_REPEAT,
	HEDDLE_OPTION_ROUNDS,
	HEDDLE_OPTION_TIMEOUT,
	HEDDLE_OPTION_FROM,
	HEDDLE_OPTION_ALL,
	HEDDLE_OPTION_JUNIT,
	HEDDLE_OPTION_SARIF,
	HEDDLE_OPTION_ANNOTATE,
	HEDDLE_OPTION_PATH,
	HEDDLE_OPTION_JSON,
	HEDDLE_OPTION_COLOUR,
	HEDDLE_OPTION_HELP,
	HEDDLE_N_OPTION
} heddle_option_id;

typedef struct heddle_option_row {
	const char *name;     /* "--sizes" */
	const char *shorthand; /* "-s", or NULL */
	const char *argument; /* "M=64,..."; NULL: a flag */
	const char *help;
	unsigned verbs; /* bit per heddle_verb_id that takes it */
} heddle_option_row;

extern const heddle_option_row heddle_option_rows[HEDDLE_N_OPTION];

typedef struct heddle_values {
	int n; /* how often the option was given */
	const char **value;
} heddle_values;

struct heddle_cli {
	heddle_ctx *ctx;
	heddle_arena *arena;
	const heddle_verb_row *verb; /* NULL: none named */
	int n_word;
	const char **word; /* the positional arguments */
	heddle_values option[HEDDLE_N_OPTION];
	heddle_text out, err;
	const char *standard_input; /* what was read from it, for those who read the file again; NULL: not read */
	struct heddle_lock *lock; /* emit --lock (lock.h); NULL otherwise */
	json_t *result; /* --json: members of the document, an object; NULL otherwise */
};

/* Fill verb, words and options from the arguments; 0, or -1 with E0910.. */
int heddle_cli_parse(heddle_cli *cli, int argc, const char *const *argv);
bool heddle_cli_flag(const heddle_cli *cli, heddle_option_id id);
/* The last value given, or NULL. */
const char *heddle_cli_value(const heddle_cli *cli, heddle_option_id id);
/* The number given, `otherwise` when none; 0, or -1 with E0915. */
int heddle_cli_number(heddle_cli *cli, heddle_option_id id, double otherwise, double least, double most, double *value);
void heddle_cli_help(const heddle_verb_row *verb, heddle_text *out); /* NULL: of the program */

/* ---- what the verbs share (inputs.c, report.c) ------------------------------------------------------------------------- */

/* The sizes of -s number `which`, NULL in `*sizes` when it was not given; 0 or -1 with a diagnostic. */
int heddle_cli_sizes(heddle_cli *cli, int which, heddle_size_list **sizes);
/* Read and check a file; "-" is standard input.  NULL with diagnostics. */
/* Sizes are for the definition that --def names: others may have sizes of the same names.  The second takes the name. */
heddle_module *heddle_cli_module(heddle_cli *cli, const char *path, const heddle_size_list *sizes);
heddle_module *heddle_cli_module_for(heddle_cli *cli, const char *path, const heddle_size_list *sizes, const char *only);
/* The targets of -t, or `standard` (NULL-ended); 0 or -1 with a diagnostic.  In the cli's arena. */
int heddle_cli_targets(heddle_cli *cli, const char *const *standard, heddle_target **target, int *n);
/* "a,b,c" and repeated values split into parts, empty ones left out.  In the cli's arena. */
void heddle_cli_split(heddle_cli *cli, heddle_option_id id, const char ***part, int *n);
/* All sizes of the definition are fixed: values into `*value` (in the cli's arena); -1 with E0918 that names those missing. */
int heddle_cli_fixed_sizes(heddle_cli *cli, const heddle_definition *definition, int64_t **value);

/* The definition of --def, or the only one of the file; NULL with a diagnostic (E0917 names those of a file that has several). */
heddle_definition *heddle_cli_definition(heddle_cli *cli, heddle_module *module);

/* What a verb works with. */
typedef struct heddle_took {
	int n_definition;
	const heddle_definition *const *definition;
	int n_target; /* 0: the verb has none */
	const heddle_target *target;
	const char *sizes;   /* in words, where they are not those of the definitions; NULL: they are */
	bool sizes_are_told; /* where they are in words */
} heddle_took;

/* Where the command line leaves some of it open: one line on the report.  With --json always: an element of the member "took". */
void heddle_cli_say_took(heddle_cli *cli, const heddle_took *took);
/* {"M": 64, "N": {"min": 1, "max": 512, "divisor": 1}} */
json_t *heddle_cli_sizes_json(const heddle_definition *definition);

/* The diagnostics as text in cli->err and, with --json, as the member "diagnostics". */
void heddle_cli_report(heddle_cli *cli);
/* A JSON string; text that is not UTF-8 comes out with question marks instead of being lost. */
json_t *heddle_cli_json_string(const char *s);
/* A table: cells are separated by tabs, rows by newlines; columns come out aligned, those of numbers to the right. */
void heddle_cli_table(const char *rows, heddle_text *out);
/* Seconds as "1.23 ms", bytes as "4.0 KiB"; into `buffer`. */
const char *heddle_cli_seconds(double seconds, char buffer[32]);
const char *heddle_cli_bytes(double bytes, char buffer[32]);

#endif
