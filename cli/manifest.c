/* heddle manifest: the skeleton of a manifest for a source of one's own.
 * SPDX-License-Identifier: MIT
 */
#include "cli/cli.h"

#include "backends/printer.h"
#include "compile/skeleton.h"

#include <stdlib.h>
#include <string.h>

/* The target that -t names, or the usual one whose sources end as the file does. */
static int find_target(heddle_cli *cli, const char *path, heddle_target **target)
{
	int n;
	if (heddle_cli_targets(cli, heddle_usual_targets, target, &n) < 0)
		return -1;
	if (heddle_cli_flag(cli, HEDDLE_OPTION_TARGET))
		return 0;
	const char *end = strrchr(path, '.');
	const char *names = "";
	for (int i = 0; i < n; i++) {
		const char *suffix = heddle_dialect_suffix((*target)[i].dialect);
		names = heddle_arena_printf(cli->arena, "%s%s%s", names, i ? ", " : "", suffix);
		if (end && strcmp(end, suffix) == 0) {
			*target += i;
			return 0;
		}
	}
	heddle_error(cli->ctx, 915, NULL, "'%s': the name does not say whose language it is (%s)", path, names);
	heddle_note(cli->ctx, NULL, "say it with -t, as -t cuda:h100");
	return -1;
}

/* --def FILE.tc or FILE.tc:NAME. */
static int find_definition(heddle_cli *cli, heddle_module **module, const heddle_definition **definition)
{
	const char *def = heddle_cli_value(cli, HEDDLE_OPTION_DEF);
	*module = NULL;
	*definition = NULL;
	if (!def)
		return 0;
	const char *colon = strrchr(def, ':');
	const char *path = colon ? heddle_arena_strndup(cli->arena, def, (size_t)(colon - def)) : def;
	*module = heddle_cli_module(cli, path, NULL);
	if (!*module)
		return -1;
	if (!colon && (*module)->n_definition > 1)
		return heddle_error(cli->ctx, 917, NULL, "'%s' has %d definitions: say --def %s:NAME", path, (*module)->n_definition, path);
	*definition = heddle_module_find(cli->ctx, *module, colon ? colon + 1 : NULL);
	return *definition ? 0 : -1;
}

static void report(heddle_cli *cli, const char *output, int n_todo, const char *text)
{
	const char *test = heddle_cli_value(cli, HEDDLE_OPTION_DEF);
	if (cli->result) {
		json_object_set_new(cli->result, "todo", json_integer(n_todo));
		json_object_set_new(cli->result, "manifest", heddle_cli_json_string(text));
	} else if (!output) {
		heddle_text_add(&cli->out, text);
	}
	if (n_todo)
		heddle_text_printf(&cli->err, "%s: %d place%s to fill in, each marked TODO\n", output ? output : "manifest", n_todo,
				   n_todo == 1 ? "" : "s");
	else if (output)
		heddle_text_printf(&cli->err, "%s is complete; test it: heddle test %s%s--impl %s\n", output, test ? test : "",
				   test ? " " : "", output);
}

int heddle_cli_manifest(heddle_cli *cli)
{
	heddle_skeleton_options options = {.path = cli->word[0], .output = heddle_cli_value(cli, HEDDLE_OPTION_OUTPUT)};
	heddle_target *target;
	heddle_module *module = NULL;
	if (find_target(cli, options.path, &target) < 0)
		return -1;
	options.target = target;
	options.n_define = cli->option[HEDDLE_OPTION_DEFINE].n;
	options.define = cli->option[HEDDLE_OPTION_DEFINE].value;
	options.n_include = cli->option[HEDDLE_OPTION_INCLUDE].n;
	options.include = cli->option[HEDDLE_OPTION_INCLUDE].value;
	options.n_instance = cli->option[HEDDLE_OPTION_INSTANCE].n;
	options.instance = cli->option[HEDDLE_OPTION_INSTANCE].value;
	heddle_text text = {0};
	int n_todo = 0, result = find_definition(cli, &module, &options.definition);
	char *source = result == 0 ? heddle_file_read(cli->ctx, options.path, NULL) : NULL;
	if (source)
		result = heddle_skeleton_write(cli->ctx, source, &options, &text, &n_todo);
	else
		result = -1;
	if (result == 0 && options.output)
		result = heddle_file_write(cli->ctx, options.output, heddle_text_str(&text), text.length);
	if (result == 0)
		report(cli, options.output, n_todo, heddle_text_str(&text));
	free(source);
	heddle_text_free(&text);
	heddle_module_free(module);
	return result < 0 ? -1 : HEDDLE_EXIT_FINE;
}
