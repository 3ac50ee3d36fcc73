/* heddle explain: the table of codes.
 * SPDX-License-Identifier: MIT
 */
#include "cli/cli.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const heddle_code *find_code(const char *word)
{
	const char *digits = word + (strchr("EeWw", word[0]) != NULL);
	char *end;
	long number = isdigit((unsigned char)*digits) ? strtol(digits, &end, 10) : 0;
	if (!number || *end)
		return NULL;
	for (const heddle_code *c = heddle_codes; c->code; c++)
		if (c->code == number)
			return c;
	return NULL;
}

static void add_code(heddle_cli *cli, json_t *list, const heddle_code *code, bool whole)
{
	if (list) {
		json_t *o = json_pack("{s:o, s:s, s:s}", "code", json_sprintf("E%04d", code->code), "title", code->title,
				      "explanation", code->explanation);
		json_array_append_new(list, o);
		return;
	}
	heddle_text_printf(&cli->out, "E%04d  %s\n", code->code, code->title);
	if (whole)
		heddle_text_printf(&cli->out, "\n%s", code->explanation);
}

int heddle_cli_explain(heddle_cli *cli)
{
	json_t *list = cli->result ? json_array() : NULL;
	if (!cli->n_word)
		for (const heddle_code *c = heddle_codes; c->code; c++)
			add_code(cli, list, c, false);
	int result = HEDDLE_EXIT_FINE;
	for (int i = 0; i < cli->n_word; i++) {
		const heddle_code *code = cli->word[i][0] ? find_code(cli->word[i]) : NULL;
		if (code) {
			if (i && !list)
				heddle_text_add(&cli->out, "\n");
			add_code(cli, list, code, true);
		} else {
			heddle_error(cli->ctx, 915, NULL, "no code '%s'", cli->word[i]);
			heddle_note(cli->ctx, NULL, "a code looks like E0902; 'heddle explain' lists all");
			result = HEDDLE_EXIT_USAGE;
		}
	}
	if (list)
		json_object_set_new(cli->result, "codes", list);
	return result;
}
