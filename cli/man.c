/* heddle man: manual pages from the tables of verbs and options.
 * SPDX-License-Identifier: MIT
 */
#include "cli/cli.h"

#include <ctype.h>
#include <string.h>

/* The day of the release, for the foot of the pages: it moves with HEDDLE_VERSION. */
static const char released[] = "2026-11-20";

/* Text of a page: hyphens and backslashes as they are, no line taken for a request. */
static void add_text(heddle_text *out, const char *text)
{
	bool start = true;
	for (const char *s = text; *s; s++) {
		if (start && (*s == '.' || *s == '\''))
			heddle_text_add(out, "\\&");
		if (*s == '-')
			heddle_text_add(out, "\\-");
		else if (*s == '\\')
			heddle_text_add(out, "\\e");
		else if (*s == '\'')
			heddle_text_add(out, "\\(aq");
		else if (*s == '`')
			heddle_text_add(out, "\\(ga");
		else if (*s == '^')
			heddle_text_add(out, "\\(ha");
		else if (*s == '~')
			heddle_text_add(out, "\\(ti");
		else
			heddle_text_addn(out, s, 1);
		start = *s == '\n';
	}
}

static void begin(heddle_text *out, const char *name, const char *summary)
{
	heddle_text_add(out, ".\\\" Written by 'heddle man' from the program's own tables.\n.TH ");
	for (const char *s = name; *s; s++) {
		char upper = (char)toupper((unsigned char)*s);
		heddle_text_addn(out, &upper, 1);
	}
	heddle_text_printf(out, " 1 \"%s\" \"Heddle %s\" \"User Commands\"\n.SH NAME\n", released, HEDDLE_VERSION);
	add_text(out, name);
	heddle_text_add(out, " \\- ");
	char first = (char)tolower((unsigned char)summary[0]);
	heddle_text_addn(out, &first, 1);
	add_text(out, summary + 1);
	heddle_text_add(out, "\n.SH SYNOPSIS\n");
}

static void add_option(heddle_text *out, const heddle_option_row *row)
{
	heddle_text_add(out, ".TP\n\\fB");
	if (row->shorthand) {
		add_text(out, row->shorthand);
		heddle_text_add(out, "\\fR, \\fB");
	}
	add_text(out, row->name);
	heddle_text_add(out, "\\fR");
	if (row->argument) {
		heddle_text_add(out, " \\fI");
		add_text(out, row->argument);
		heddle_text_add(out, "\\fR");
	}
	heddle_text_add(out, "\n");
	add_text(out, row->help);
	heddle_text_add(out, ".\n");
}

static const struct {
	int code;
	const char *text;
} exits[] = {
	{HEDDLE_EXIT_FINE, "All went well."},
	{HEDDLE_EXIT_FAILED, "A test or bench failed, or files differ."},
	{HEDDLE_EXIT_USAGE, "The command line is wrong, or a file cannot be read or written."},
	{HEDDLE_EXIT_SOURCE, "A source has an error."},
	{HEDDLE_EXIT_MISSING, "A tool, driver or required level is missing."},
	{HEDDLE_EXIT_LIMIT, "A limit or timeout was reached."},
	{HEDDLE_EXIT_INTERNAL, "An internal error: please report it."},
	{HEDDLE_EXIT_SKIPPED, "Everything was skipped."},
};

static void add_exits(heddle_text *out)
{
	heddle_text_add(out, ".SH EXIT STATUS\n");
	for (size_t i = 0; i < HEDDLE_COUNT(exits); i++)
		heddle_text_printf(out, ".TP\n\\fB%d\\fR\n%s\n", exits[i].code, exits[i].text);
}

static void add_environment(heddle_text *out)
{
	heddle_text_add(out, ".SH ENVIRONMENT\n"
			     ".TP\n\\fBHEDDLE_PATH\\fR\nFolders, separated by colons, to look for descriptors and dialects before those "
			     "compiled in.\n"
			     ".TP\n\\fBHEDDLE_CACHE\\fR\nWith the value \\fBoff\\fR, nothing compiled for the emulator is kept, and figures that were measured "
			     "of this processor are not read.\n"
			     ".TP\n\\fBHEDDLE_HOST\\fR\nA folder to look at in place of this processor, for the target host.\n"
			     ".TP\n\\fBNO_COLOR\\fR\nNo colours in messages.\n");
}

static void page_of_program(heddle_text *out)
{
	begin(out, "heddle", "Layers in tensor notation to CUDA, HIP and OpenCL C kernels");
	heddle_text_add(out, "\\fBheddle\\fR \\fIVERB\\fR [\\fIARGUMENT\\fR ...] [\\fIOPTION\\fR ...]\n.SH DESCRIPTION\n"
			     "Heddle takes layers written once, in tensor notation, and gives back kernels that a person can read, take\n"
			     "away and build without Heddle.\n"
			     "It also tests kernels, its own and those written by hand, on machines without a GPU.\n"
			     ".SH VERBS\nEach has a page of its own, such as\n.BR heddle\\-emit (1).\n");
	for (int v = 0; v < HEDDLE_N_VERB; v++) {
		heddle_text_printf(out, ".TP\n\\fB%s\\fR\n", heddle_verb_rows[v].name);
		add_text(out, heddle_verb_rows[v].summary);
		heddle_text_add(out, ".\n");
	}
	heddle_text_add(out, ".SH OPTIONS\nThose of every verb:\n");
	for (int i = 0; i < HEDDLE_N_OPTION; i++)
		if (heddle_option_rows[i].verbs == (1u << HEDDLE_N_VERB) - 1)
			add_option(out, &heddle_option_rows[i]);
	heddle_text_add(out, ".TP\n\\fB\\-V, \\-\\-version\\fR\nPrint the version, with \\fB\\-\\-json\\fR as JSON.\n");
	add_exits(out);
	add_environment(out);
	heddle_text_add(out, ".SH SEE ALSO\n");
	for (int v = 0; v < HEDDLE_N_VERB; v++)
		heddle_text_printf(out, ".BR heddle\\-%s (1)%s\n", heddle_verb_rows[v].name, v + 1 < HEDDLE_N_VERB ? "," : "");
}

static void page_of_verb(const heddle_verb_row *verb, heddle_text *out)
{
	char name[64];
	snprintf(name, sizeof(name), "heddle-%s", verb->name);
	begin(out, name, verb->summary);
	heddle_text_printf(out, "\\fBheddle %s\\fR ", verb->name);
	add_text(out, verb->form);
	heddle_text_add(out, "\n.SH DESCRIPTION\n");
	add_text(out, verb->summary);
	heddle_text_add(out, ".\n");
	add_text(out, verb->help);
	heddle_text_add(out, ".SH OPTIONS\n");
	for (int i = 0; i < HEDDLE_N_OPTION; i++)
		if (heddle_option_rows[i].verbs & (1u << (verb - heddle_verb_rows)))
			add_option(out, &heddle_option_rows[i]);
	add_exits(out);
	heddle_text_add(out, ".SH SEE ALSO\n.BR heddle (1)\n");
}

int heddle_cli_man(heddle_cli *cli)
{
	const heddle_verb_row *verb = NULL;
	const char *names[HEDDLE_N_VERB];
	for (int v = 0; v < HEDDLE_N_VERB; v++) {
		names[v] = heddle_verb_rows[v].name;
		if (cli->n_word && !strcmp(names[v], cli->word[0]))
			verb = &heddle_verb_rows[v];
	}
	if (cli->n_word && !verb) {
		const char *nearest = heddle_nearest(cli->word[0], names, HEDDLE_N_VERB);
		heddle_error(cli->ctx, 910, NULL, "no verb '%s'", cli->word[0]);
		if (nearest)
			heddle_note(cli->ctx, NULL, "did you mean '%s'?", nearest);
		return HEDDLE_EXIT_USAGE;
	}
	if (verb)
		page_of_verb(verb, &cli->out);
	else
		page_of_program(&cli->out);
	if (cli->result)
		json_object_set_new(cli->result, "page", json_string(heddle_text_str(&cli->out)));
	return HEDDLE_EXIT_FINE;
}
