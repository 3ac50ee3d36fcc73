/* What the verbs read in common: files, sizes, targets.
 * SPDX-License-Identifier: MIT
 */
#include "cli/cli.h"
#include "model/rewrite.h"

#include <stdlib.h>
#include <string.h>

int heddle_cli_sizes(heddle_cli *cli, int which, heddle_size_list **sizes)
{
	const heddle_values *given = &cli->option[HEDDLE_OPTION_SIZES];
	*sizes = NULL;
	if (which >= given->n)
		return 0;
	*sizes = heddle_sizes_parse_from(cli->ctx, cli->arena, "--sizes", given->value[which]);
	return *sizes ? 0 : -1;
}

heddle_module *heddle_cli_module_for(heddle_cli *cli, const char *path, const heddle_size_list *sizes, const char *only)
{
	bool standard = !strcmp(path, "-");
	char *text = standard && cli->standard_input ? heddle_xstrdup(cli->standard_input)
						     : heddle_file_read(cli->ctx, standard ? "/dev/stdin" : path, NULL);
	if (!text)
		return NULL;
	if (standard)
		cli->standard_input = heddle_arena_strdup(cli->arena, text);
	heddle_module *module = heddle_module_parse_for(cli->ctx, standard ? "<stdin>" : path, text, sizes, only);
	free(text);
	for (int i = 0; module && i < module->n_definition; i++)
		heddle_definition_warn_scatters(cli->ctx, module->definition[i]);
	return module;
}

heddle_module *heddle_cli_module(heddle_cli *cli, const char *path, const heddle_size_list *sizes)
{
	return heddle_cli_module_for(cli, path, sizes, heddle_cli_value(cli, HEDDLE_OPTION_DEF));
}

heddle_definition *heddle_cli_definition(heddle_cli *cli, heddle_module *module)
{
	const char *name = heddle_cli_value(cli, HEDDLE_OPTION_DEF);
	if (name || module->n_definition == 1)
		return heddle_module_find(cli->ctx, module, name);
	heddle_text names = {0};
	for (int i = 0; i < module->n_definition; i++)
		heddle_text_printf(&names, "%s%s", i ? ", " : "", module->definition[i]->name);
	heddle_error(cli->ctx, 917, NULL, "%s has %d definitions, and '%s' takes one: say which with --def", module->source->name,
		     module->n_definition, cli->verb->name);
	heddle_note(cli->ctx, NULL, "they are %s", heddle_text_str(&names));
	heddle_text_free(&names);
	return NULL;
}

void heddle_cli_split(heddle_cli *cli, heddle_option_id id, const char ***part, int *n)
{
	*part = NULL;
	*n = 0;
	for (int i = 0; i < cli->option[id].n; i++)
		for (const char *p = cli->option[id].value[i]; *p;) {
			size_t length = strcspn(p, ",");
			if (length)
				HEDDLE_PUSH(cli->arena, *part, *n, (const char *)heddle_arena_strndup(cli->arena, p, length));
			p += length + (p[length] == ',');
		}
}

static int add_target(heddle_cli *cli, const char *text, heddle_target **target, int *n)
{
	heddle_target one;
	if (heddle_target_parse(cli->ctx, text, &one) < 0)
		return -1;
	for (int i = 0; i < *n; i++)
		if (!strcmp((*target)[i].text, one.text))
			return 0; /* named twice */
	HEDDLE_PUSH(cli->arena, *target, *n, one);
	return 0;
}

int heddle_cli_targets(heddle_cli *cli, const char *const *standard, heddle_target **target, int *n)
{
	const char **part;
	int n_part, result = 0;
	*target = NULL;
	*n = 0;
	heddle_cli_split(cli, HEDDLE_OPTION_TARGET, &part, &n_part);
	if (heddle_cli_flag(cli, HEDDLE_OPTION_TARGET) && !n_part)
		return heddle_error(cli->ctx, 915, NULL, "option '--target' names no target");
	for (int i = 0; i < n_part; i++)
		if (add_target(cli, part[i], target, n) < 0)
			result = -1;
	if (!heddle_cli_flag(cli, HEDDLE_OPTION_TARGET))
		for (int i = 0; standard[i]; i++)
			if (add_target(cli, standard[i], target, n) < 0)
				result = -1;
	return result;
}

int heddle_cli_fixed_sizes(heddle_cli *cli, const heddle_definition *definition, int64_t **value)
{
	heddle_text missing = {0};
	*value = HEDDLE_NEW_ARRAY(cli->arena, int64_t, definition->n_size + 1);
	for (int i = 0; i < definition->n_size; i++) {
		const heddle_size *size = definition->size[i];
		if (size->min != size->max)
			heddle_text_printf(&missing, "%s%s", missing.length ? ", " : "", size->name);
		(*value)[i] = size->min;
	}
	int result = 0;
	if (missing.length) {
		result = heddle_error(cli->ctx, 918, &definition->location, "'%s' needs a value for: %s", definition->name,
				      heddle_text_str(&missing));
		heddle_note(cli->ctx, NULL, "give each as -s NAME=VALUE%s",
			    cli->verb == &heddle_verb_rows[HEDDLE_VERB_RUN] ? ", or the --input whose shape has it" : "");
	} else {
		result = heddle_sizes_check(cli->ctx, definition, *value);
	}
	heddle_text_free(&missing);
	return result;
}
