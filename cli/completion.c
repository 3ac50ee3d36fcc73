/* heddle completion: what bash, zsh and fish complete, from the tables of verbs and options.
 * SPDX-License-Identifier: MIT
 */
#include "cli/cli.h"

#include <string.h>

/* What follows an option, told from how the table writes its argument. */
typedef enum value_kind { VALUE_NONE, VALUE_TEXT, VALUE_FILE, VALUE_FOLDER, VALUE_WORDS } value_kind;

static value_kind kind_of(const heddle_option_row *row)
{
	if (!row->argument)
		return VALUE_NONE;
	if (strchr(row->argument, '|'))
		return VALUE_WORDS;
	if (!strcmp(row->argument, "DIR"))
		return VALUE_FOLDER;
	return !strncmp(row->argument, "FILE", 4) ? VALUE_FILE : VALUE_TEXT;
}

static bool takes(int verb, const heddle_option_row *row)
{
	return row->verbs & (1u << verb);
}

/* "given|all" as "given all". */
static void add_words(heddle_text *out, const char *words)
{
	for (const char *s = words; *s; s++)
		heddle_text_addn(out, *s == '|' ? " " : s, 1);
}

/* `text` for the inside of single quotes of a shell; `escaped` characters get a backslash more. */
static void add_quoted(heddle_text *out, const char *text, const char *escaped, const char *quote)
{
	for (const char *s = text; *s; s++) {
		if (*s == '\'') {
			heddle_text_add(out, quote);
			continue;
		}
		if (strchr(escaped, *s))
			heddle_text_add(out, "\\");
		heddle_text_addn(out, s, 1);
	}
}

/* ---- bash --------------------------------------------------------------------------------------------------------------- */

static void bash_values(heddle_text *out)
{
	heddle_text_add(out, "\tcase \"$previous\" in\n");
	for (int i = 0; i < HEDDLE_N_OPTION; i++) {
		const heddle_option_row *row = &heddle_option_rows[i];
		const value_kind kind = kind_of(row);
		if (kind == VALUE_NONE)
			continue;
		heddle_text_printf(out, "\t%s%s%s)\n", row->name, row->shorthand ? "|" : "", row->shorthand ? row->shorthand : "");
		if (kind == VALUE_WORDS) {
			heddle_text_add(out, "\t\tCOMPREPLY=($(compgen -W '");
			add_words(out, row->argument);
			heddle_text_add(out, "' -- \"$word\"))\n");
		} else if (kind != VALUE_TEXT) {
			heddle_text_printf(out, "\t\tcompopt -o filenames\n\t\tCOMPREPLY=($(compgen -%c -- \"$word\"))\n",
					   kind == VALUE_FOLDER ? 'd' : 'f');
		}
		heddle_text_add(out, "\t\treturn ;;\n");
	}
	heddle_text_add(out, "\tesac\n");
}

static void print_bash(heddle_text *out)
{
	heddle_text_add(out, "# Completion of heddle for bash; written by 'heddle completion bash'.\n"
			     "_heddle()\n{\n"
			     "\tlocal word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} verb= options= i\n"
			     "\tCOMPREPLY=()\n");
	bash_values(out);
	heddle_text_add(out, "\tfor ((i = 1; i < COMP_CWORD; i++)); do\n\t\tcase \"${COMP_WORDS[i]}\" in\n\t\t");
	for (int v = 0; v < HEDDLE_N_VERB; v++)
		heddle_text_printf(out, "%s%s", v ? "|" : "", heddle_verb_rows[v].name);
	heddle_text_add(out, ") verb=${COMP_WORDS[i]}; break ;;\n\t\tesac\n\tdone\n\tcase \"$verb\" in\n");
	for (int v = 0; v < HEDDLE_N_VERB; v++) {
		heddle_text_printf(out, "\t%s) options='", heddle_verb_rows[v].name);
		for (int i = 0; i < HEDDLE_N_OPTION; i++)
			if (takes(v, &heddle_option_rows[i]))
				heddle_text_printf(out, "%s ", heddle_option_rows[i].name);
		out->data[--out->length] = '\0';
		heddle_text_add(out, "' ;;\n");
	}
	heddle_text_add(out, "\t*)\n\t\tCOMPREPLY=($(compgen -W '");
	for (int v = 0; v < HEDDLE_N_VERB; v++)
		heddle_text_printf(out, "%s ", heddle_verb_rows[v].name);
	heddle_text_add(out, "--help --version' -- \"$word\"))\n\t\treturn ;;\n\tesac\n"
			     "\tif [[ $word == -* ]]; then\n"
			     "\t\tCOMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
			     "\telse\n"
			     "\t\tcompopt -o filenames\n"
			     "\t\tCOMPREPLY=($(compgen -f -- \"$word\"))\n"
			     "\tfi\n}\n"
			     "complete -F _heddle heddle\n");
}

/* ---- zsh ---------------------------------------------------------------------------------------------------------------- */

static void zsh_option(heddle_text *out, const heddle_option_row *row)
{
	static const char quote[] = "'\\''", special[] = "[]:\\";
	const value_kind kind = kind_of(row);
	heddle_text_add(out, "\t\t\t");
	if (row->shorthand)
		heddle_text_printf(out, "'*'{%s,%s}'", row->shorthand, row->name);
	else
		heddle_text_printf(out, "'*%s", row->name);
	heddle_text_add(out, "[");
	add_quoted(out, row->help, special, quote);
	heddle_text_add(out, "]");
	if (kind != VALUE_NONE) {
		heddle_text_add(out, ":");
		add_quoted(out, row->argument, special, quote);
		heddle_text_add(out, ":");
	}
	if (kind == VALUE_WORDS) {
		heddle_text_add(out, "(");
		add_words(out, row->argument);
		heddle_text_add(out, ")");
	} else if (kind == VALUE_FILE) {
		heddle_text_add(out, "_files");
	} else if (kind == VALUE_FOLDER) {
		heddle_text_add(out, "_files -/");
	}
	heddle_text_add(out, "' \\\n");
}

static void print_zsh(heddle_text *out)
{
	heddle_text_add(out, "#compdef heddle\n# Completion of heddle for zsh; written by 'heddle completion zsh'.\n"
			     "_heddle()\n{\n\tlocal curcontext=$curcontext state line\n\tlocal -a verbs\n\tverbs=(\n");
	for (int v = 0; v < HEDDLE_N_VERB; v++) {
		heddle_text_printf(out, "\t\t'%s:", heddle_verb_rows[v].name);
		add_quoted(out, heddle_verb_rows[v].summary, ":\\", "'\\''");
		heddle_text_add(out, "'\n");
	}
	heddle_text_add(out, "\t)\n\t_arguments -C '(-)--version[print the version]' '(-)--help[list the verbs]' \\\n"
			     "\t\t'1: :->verb' '*:: :->rest' && return\n"
			     "\tcase $state in\n\tverb)\n\t\t_describe -t verbs verb verbs ;;\n\trest)\n\t\tcase $line[1] in\n");
	for (int v = 0; v < HEDDLE_N_VERB; v++) {
		heddle_text_printf(out, "\t\t%s)\n\t\t\t_arguments \\\n", heddle_verb_rows[v].name);
		for (int i = 0; i < HEDDLE_N_OPTION; i++)
			if (takes(v, &heddle_option_rows[i]))
				zsh_option(out, &heddle_option_rows[i]);
		heddle_text_add(out, "\t\t\t'*:file:_files' ;;\n");
	}
	heddle_text_add(out, "\t\tesac ;;\n\tesac\n}\n"
			     "if [[ $funcstack[1] == _heddle ]]; then\n\t_heddle \"$@\"\nelse\n\tcompdef _heddle heddle\nfi\n");
}

/* ---- fish --------------------------------------------------------------------------------------------------------------- */

static void fish_option(heddle_text *out, const heddle_option_row *row)
{
	const value_kind kind = kind_of(row);
	heddle_text_add(out, "complete -c heddle -n '__fish_seen_subcommand_from");
	for (int v = 0; v < HEDDLE_N_VERB; v++)
		if (takes(v, row))
			heddle_text_printf(out, " %s", heddle_verb_rows[v].name);
	heddle_text_printf(out, "' -l %s", row->name + 2);
	if (row->shorthand)
		heddle_text_printf(out, " -s %s", row->shorthand + 1);
	if (kind == VALUE_TEXT)
		heddle_text_add(out, " -x");
	else if (kind == VALUE_FILE)
		heddle_text_add(out, " -rF");
	else if (kind == VALUE_FOLDER)
		heddle_text_add(out, " -xa '(__fish_complete_directories)'");
	if (kind == VALUE_WORDS) {
		heddle_text_add(out, " -xa '");
		add_words(out, row->argument);
		heddle_text_add(out, "'");
	}
	heddle_text_add(out, " -d '");
	add_quoted(out, row->help, "\\", "\\'");
	heddle_text_add(out, "'\n");
}

static void print_fish(heddle_text *out)
{
	heddle_text_add(out, "# Completion of heddle for fish; written by 'heddle completion fish'.\n"
			     "complete -c heddle -n __fish_use_subcommand -f -l version -d 'print the version'\n");
	for (int v = 0; v < HEDDLE_N_VERB; v++) {
		heddle_text_printf(out, "complete -c heddle -n __fish_use_subcommand -f -a %s -d '", heddle_verb_rows[v].name);
		add_quoted(out, heddle_verb_rows[v].summary, "\\", "\\'");
		heddle_text_add(out, "'\n");
	}
	for (int i = 0; i < HEDDLE_N_OPTION; i++)
		fish_option(out, &heddle_option_rows[i]);
}

int heddle_cli_completion(heddle_cli *cli)
{
	static const struct {
		const char *name;
		void (*print)(heddle_text *out);
	} shells[] = {{"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}};
	const char *names[HEDDLE_COUNT(shells)];
	for (size_t i = 0; i < HEDDLE_COUNT(shells); i++)
		names[i] = shells[i].name;
	for (size_t i = 0; i < HEDDLE_COUNT(shells); i++) {
		if (strcmp(shells[i].name, cli->word[0]) != 0)
			continue;
		shells[i].print(&cli->out);
		if (cli->result)
			json_object_set_new(cli->result, "completion", json_string(heddle_text_str(&cli->out)));
		return HEDDLE_EXIT_FINE;
	}
	const char *nearest = heddle_nearest(cli->word[0], names, (int)HEDDLE_COUNT(names));
	heddle_error(cli->ctx, 915, NULL, "no completion for '%s': there are those of bash, zsh and fish", cli->word[0]);
	if (nearest)
		heddle_note(cli->ctx, NULL, "did you mean '%s'?", nearest);
	return HEDDLE_EXIT_USAGE;
}
