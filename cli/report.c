/* What the verbs print in common: diagnostics, tables, quantities.
 * SPDX-License-Identifier: MIT
 */
#include "cli/cli.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char *const severity_names[] = {"error", "warning", "note"};

json_t *heddle_cli_json_string(const char *s)
{
	json_t *string = json_string(s);
	if (string)
		return string;
	heddle_text ascii = {0};
	for (; *s; s++)
		heddle_text_addn(&ascii, (unsigned char)*s < 128 ? s : "?", 1);
	string = json_string(heddle_text_str(&ascii));
	heddle_text_free(&ascii);
	return string;
}

static json_t *diagnostic_json(const heddle_diagnostic *d)
{
	json_t *o = json_object();
	json_object_set_new(o, "severity", json_string(severity_names[d->severity]));
	if (d->code)
		json_object_set_new(o, "code", json_sprintf("%c%04d", d->severity == HEDDLE_WARNING ? 'W' : 'E', d->code));
	if (d->location.source) {
		json_object_set_new(o, "file", heddle_cli_json_string(d->location.source->name));
		if (d->location.line > 0) {
			json_object_set_new(o, "line", json_integer(d->location.line));
			json_object_set_new(o, "column", json_integer(d->location.column));
			json_object_set_new(o, "length", json_integer(d->location.length));
		}
	}
	json_object_set_new(o, "message", heddle_cli_json_string(d->message));
	if (d->fixit)
		json_object_set_new(o, "fixit", heddle_cli_json_string(d->fixit));
	return o;
}

/* The first "error:" of a printed diagnostic in colour. */
static void add_coloured(heddle_text *out, const char *text, heddle_severity severity)
{
	static const char *const colours[] = {"\033[1;31m", "\033[1;35m", "\033[1;36m"};
	char word[16];
	snprintf(word, sizeof(word), "%s:", severity_names[severity]);
	const char *at = strstr(text, word);
	if (!at) {
		heddle_text_add(out, text);
		return;
	}
	heddle_text_addn(out, text, (size_t)(at - text));
	heddle_text_printf(out, "%s%s\033[0m%s", colours[severity], word, at + strlen(word));
}

void heddle_cli_report(heddle_cli *cli)
{
	json_t *list = cli->result ? json_array() : NULL;
	heddle_text one = {0};
	for (const heddle_diagnostic *d = heddle_diagnostics(cli->ctx); d; d = d->next) {
		heddle_text_clear(&one);
		heddle_diagnostic_print(d, &one);
		if (heddle_cli_flag(cli, HEDDLE_OPTION_COLOUR))
			add_coloured(&cli->err, heddle_text_str(&one), d->severity);
		else
			heddle_text_add(&cli->err, heddle_text_str(&one));
		if (list)
			json_array_append_new(list, diagnostic_json(d));
	}
	heddle_text_free(&one);
	if (list)
		json_object_set_new(cli->result, "diagnostics", list);
}

enum { MOST_COLUMNS = 32 };

/* Characters, not bytes. */
static int width_of(const char *s, size_t n)
{
	int width = 0;
	for (size_t i = 0; i < n; i++)
		width += ((unsigned char)s[i] & 0xC0) != 0x80;
	return width;
}

static bool looks_numeric(const char *s, size_t n)
{
	return n && (isdigit((unsigned char)s[0]) || ((s[0] == '-' || s[0] == '+' || s[0] == '<') && n > 1));
}

static void add_blanks(heddle_text *out, int n)
{
	for (int i = 0; i < n; i++)
		heddle_text_add(out, " ");
}

void heddle_cli_table(const char *rows, heddle_text *out)
{
	int width[MOST_COLUMNS] = {0};
	bool numeric[MOST_COLUMNS];
	for (int i = 0; i < MOST_COLUMNS; i++)
		numeric[i] = true;
	bool first_row = true;
	for (const char *p = rows; *p; p += *p == '\n', first_row = false) {
		for (int column = 0; *p && *p != '\n'; column++) {
			size_t n = strcspn(p, "\t\n");
			int c = column < MOST_COLUMNS ? column : MOST_COLUMNS - 1;
			if (width_of(p, n) > width[c])
				width[c] = width_of(p, n);
			if (!first_row && n && !looks_numeric(p, n))
				numeric[c] = false;
			p += n + (p[n] == '\t');
		}
	}
	for (const char *p = rows; *p; p += *p == '\n') {
		for (int column = 0; *p && *p != '\n'; column++) {
			size_t n = strcspn(p, "\t\n");
			int c = column < MOST_COLUMNS ? column : MOST_COLUMNS - 1;
			int blanks = width[c] - width_of(p, n);
			if (numeric[c])
				add_blanks(out, blanks);
			heddle_text_addn(out, p, n);
			if (p[n] == '\t' && !numeric[c])
				add_blanks(out, blanks);
			if (p[n] == '\t')
				heddle_text_add(out, "  ");
			p += n + (p[n] == '\t');
		}
		heddle_text_add(out, "\n");
	}
}

const char *heddle_cli_seconds(double seconds, char buffer[32])
{
	static const struct {
		double unit;
		const char *name;
	} units[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}};
	size_t i = 0;
	while (i + 1 < HEDDLE_COUNT(units) && seconds < units[i].unit)
		i++;
	snprintf(buffer, 32, "%.4g %s", seconds / units[i].unit, units[i].name);
	return buffer;
}

const char *heddle_cli_bytes(double bytes, char buffer[32])
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	size_t i = 0;
	while (i + 1 < HEDDLE_COUNT(units) && bytes >= 1024) {
		bytes /= 1024;
		i++;
	}
	snprintf(buffer, 32, "%.4g %s", bytes, units[i]);
	return buffer;
}
