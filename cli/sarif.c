/* SARIF 2.1.0 from diagnostics and test findings.
 * SPDX-License-Identifier: MIT
 */
#include "cli/sarif.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* A relative reference: what a URI may not hold is percent-encoded. */
static json_t *uri(heddle_cli *cli, const char *path)
{
	heddle_text text = {0};
	if (path[0] == '/')
		heddle_text_add(&text, "file://");
	while (path[0] == '.' && path[1] == '/')
		path += 2;
	for (const unsigned char *s = (const unsigned char *)path; *s; s++)
		if (isalnum(*s) || strchr("-._~/", *s))
			heddle_text_addn(&text, (const char *)s, 1);
		else
			heddle_text_printf(&text, "%%%02X", *s);
	const char *out = heddle_arena_strdup(cli->arena, heddle_text_str(&text));
	heddle_text_free(&text);
	return json_string(out);
}

static void add_result(heddle_cli *cli, json_t *results, const char *rule, const char *level, const char *message, const char *file,
		       int line, int column)
{
	json_t *result = json_pack("{s:s, s:s, s:{s:o}}", "ruleId", rule, "level", level, "message", "text",
				   heddle_cli_json_string(message));
	if (file) {
		json_t *place = json_pack("{s:{s:o}}", "artifactLocation", "uri", uri(cli, file));
		if (line > 0) {
			json_t *region = json_pack("{s:i}", "startLine", line);
			if (column > 0)
				json_object_set_new(region, "startColumn", json_integer(column));
			json_object_set_new(place, "region", region);
		}
		json_object_set_new(result, "locations", json_pack("[{s:o}]", "physicalLocation", place));
	}
	json_array_append_new(results, result);
}

/* What a rule of this name is about. */
static const char *rule_text(const char *rule)
{
	static const struct {
		const char *rule, *text;
	} table[] = {
		{"race", "Two threads touch an element, one of them writes, and nothing orders them"},
		{"bounds", "An access outside of an array, or at an address that its type does not allow"},
		{"uninitialised", "Memory is read before anything was written to it"},
		{"barrier", "A barrier or warp operation that not all of its threads reach"},
		{"crash", "The kernel ends by a division by zero, an assertion or a signal"},
		{"timeout", "The kernel does not end"},
		{"compile", "A compiler rejects the text"},
		{"spill", "Registers do not suffice"},
		{"limit", "A launch asks for more than the device has"},
		{"numbers", "Results differ from what is right"},
		{"test", "The test itself is at fault"},
	};
	for (size_t i = 0; i < HEDDLE_COUNT(table); i++)
		if (strcmp(table[i].rule, rule) == 0)
			return table[i].text;
	for (const heddle_code *c = heddle_codes; c->code && isdigit((unsigned char)rule[1]); c++)
		if (c->code == atoi(rule + 1))
			return c->title;
	return "A finding of a tool";
}

/* Each rule that a result names, once, in order of appearance. */
static json_t *rules_of(json_t *results)
{
	json_t *rules = json_array(), *seen = json_object(), *result;
	size_t i;
	json_array_foreach(results, i, result) {
		const char *rule = json_string_value(json_object_get(result, "ruleId"));
		json_object_set_new(result, "ruleIndex", json_integer((json_int_t)json_array_size(rules)));
		if (json_object_get(seen, rule)) {
			json_object_set(result, "ruleIndex", json_object_get(seen, rule));
			continue;
		}
		json_object_set_new(seen, rule, json_integer((json_int_t)json_array_size(rules)));
		json_array_append_new(rules, json_pack("{s:s, s:{s:s}}", "id", rule, "shortDescription", "text", rule_text(rule)));
	}
	json_decref(seen);
	return rules;
}

static void add_diagnostics(heddle_cli *cli, json_t *results)
{
	static const char *const levels[] = {"error", "warning", "note"};
	for (const heddle_diagnostic *d = heddle_diagnostics(cli->ctx); d; d = d->next) {
		const char *rule = heddle_arena_printf(cli->arena, "%c%04d", d->severity == HEDDLE_WARNING ? 'W' : 'E', d->code);
		if (d->severity != HEDDLE_NOTE)
			add_result(cli, results, rule, levels[d->severity], d->message,
				   d->location.source ? d->location.source->name : NULL, d->location.line, d->location.column);
	}
}

static void add_row(heddle_cli *cli, json_t *results, const heddle_test_report *report, int number)
{
	const heddle_test_row *row = &report->row[number];
	if (row->verdict != HEDDLE_TEST_FAIL && row->verdict != HEDDLE_TEST_FAULT)
		return;
	const char *where = heddle_arena_printf(cli->arena, "%s (%s) %s %s", row->definition, row->test, row->target, row->level);
	for (int i = 0; i < row->n_finding; i++) {
		const heddle_finding *f = &row->finding[i];
		if (heddle_test_told(report, number, i))
			continue;
		add_result(cli, results, f->kind ? f->kind : "finding", "error",
			   heddle_arena_printf(cli->arena, "%s: %s", where, f->text ? f->text : ""), f->file ? f->file : row->layer,
			   f->line, 0);
	}
	if (!row->n_finding)
		add_result(cli, results, row->verdict == HEDDLE_TEST_FAIL ? "numbers" : "test", "error",
			   heddle_arena_printf(cli->arena, "%s: %s", where, row->message ? row->message : "failed"), row->layer, 0,
			   0);
}

/* `notifications`: what was not run and why; NULL: nothing. */
static int write_results(heddle_cli *cli, const char *path, json_t *results, json_t *notifications)
{
	json_t *rules = rules_of(results);
	json_t *document = json_pack("{s:s, s:s, s:[{s:{s:{s:s, s:s, s:o}}, s:o, s:s, s:[{s:b, s:o}]}]}", "$schema",
				     "https://json.schemastore.org/sarif-2.1.0.json", "version", "2.1.0", "runs", "tool", "driver",
				     "name", "heddle", "version", heddle_version(), "rules", rules, "results", results, "columnKind",
				     "utf16CodeUnits", "invocations", "executionSuccessful", 1, "toolExecutionNotifications",
				     notifications ? notifications : json_array());
	char *text = document ? json_dumps(document, JSON_INDENT(2)) : NULL;
	heddle_text file = {0};
	heddle_text_printf(&file, "%s\n", text ? text : "");
	int result = text ? heddle_file_write(cli->ctx, path, heddle_text_str(&file), file.length)
			  : heddle_error(cli->ctx, 950, NULL, "the SARIF document cannot be made");
	heddle_text_free(&file);
	free(text);
	json_decref(document);
	return result;
}

int heddle_cli_sarif_check(heddle_cli *cli, const char *path)
{
	json_t *results = json_array();
	add_diagnostics(cli, results);
	return write_results(cli, path, results, NULL);
}

/* What did not run is told, so that an empty list of results is not taken for more than it is. */
static json_t *not_run(heddle_cli *cli, const heddle_test_report *report)
{
	json_t *list = json_array();
	for (int i = 0; i < report->n_missing; i++) {
		const heddle_test_missing *m = &report->missing[i];
		json_array_append_new(list, json_pack("{s:s, s:{s:o}}", "level", m->required ? "error" : "note", "message", "text",
						      heddle_cli_json_string(heddle_arena_printf(cli->arena, "%s was not run: %s", m->level, m->why))));
	}
	for (int i = 0; i < report->n_row; i++) {
		const heddle_test_row *row = &report->row[i];
		if (row->verdict == HEDDLE_TEST_UNSUPPORTED || row->verdict == HEDDLE_TEST_SKIP)
			json_array_append_new(list, json_pack("{s:s, s:{s:o}}", "level", "note", "message", "text",
							      heddle_cli_json_string(heddle_arena_printf(cli->arena, "%s %s: %s: %s", row->definition, row->level,
													 heddle_test_verdict_name(row->verdict), row->message ? row->message : ""))));
	}
	return list;
}

int heddle_cli_sarif_test(heddle_cli *cli, const char *path, const heddle_test_report *report)
{
	json_t *results = json_array();
	add_diagnostics(cli, results);
	for (int i = 0; i < report->n_row; i++)
		add_row(cli, results, report, i);
	return write_results(cli, path, results, not_run(cli, report));
}
