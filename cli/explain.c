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

/* The area of a code, by its range in base/base.h. */
static const char *area_of(int code)
{
	static const struct {
		int below;
		const char *name;
	} areas[] = {{100, "Reading a file"}, {200, "Names and types"}, {300, "Ranges of indices"}, {400, "Sizes and shapes"},
		     {500, "Descriptors and dialects"}, {600, "Configs"}, {700, "Passes and limits"}, {800, "Input data and manifests"},
		     {900, "Tools and drivers"}, {950, "Files and the command line"}};
	for (size_t i = 0; i < HEDDLE_COUNT(areas); i++)
		if (code < areas[i].below)
			return areas[i].name;
	return "Internal errors";
}

/* The index of doc/errors.md: a table of all codes, then each with its explanation. */
static void print_index(heddle_text *out)
{
	heddle_text_add(out, "# Error index\n\n<!-- Written by `heddle explain --all` from base/codes.c. -->\n\n"
			     "Each message of Heddle ends in a code: `E0101` for an error, `W0101` for the same as a warning.\n"
			     "`heddle explain E0101` prints what stands here.\n");
	const char *area = "";
	for (const heddle_code *c = heddle_codes; c->code; c++) {
		if (strcmp(area, area_of(c->code)) != 0) {
			area = area_of(c->code);
			heddle_text_printf(out, "\n%s:\n\n", area);
		}
		heddle_text_printf(out, "- [E%04d](#e%04d) %s\n", c->code, c->code, c->title);
	}
	for (const heddle_code *c = heddle_codes; c->code; c++)
		heddle_text_printf(out, "\n## E%04d\n\n%s\n\n```\n%s```\n", c->code, c->title, c->explanation);
}

int heddle_cli_explain(heddle_cli *cli)
{
	if (heddle_cli_flag(cli, HEDDLE_OPTION_ALL) && cli->n_word)
		return heddle_error(cli->ctx, 914, NULL, "'explain --all' has no use for the argument '%s'", cli->word[0]);
	if (heddle_cli_flag(cli, HEDDLE_OPTION_ALL) && !cli->result) {
		print_index(&cli->out);
		return HEDDLE_EXIT_FINE;
	}
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
