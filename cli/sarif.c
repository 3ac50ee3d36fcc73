/* SARIF 2.1.0 from diagnostics and test findings.
 * SPDX-License-Identifier: MIT
 */
#include "cli/sarif.h"

#include <stdlib.h>

static void add_result(json_t *results, const char *rule, const char *level, const char *message, const char *file, int line,
		       int column)
{
	json_t *result = json_pack("{s:s, s:s, s:{s:o}}", "ruleId", rule, "level", level, "message", "text",
				   heddle_cli_json_string(message));
	if (file) {
		json_t *place = json_pack("{s:{s:o}}", "artifactLocation", "uri", heddle_cli_json_string(file));
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

static void add_diagnostics(heddle_cli *cli, json_t *results)
{
	static const char *const levels[] = {"error", "warning", "note"};
	for (const heddle_diagnostic *d = heddle_diagnostics(cli->ctx); d; d = d->next) {
		const char *rule = heddle_arena_printf(cli->arena, "%c%04d", d->severity == HEDDLE_WARNING ? 'W' : 'E', d->code);
		if (d->severity != HEDDLE_NOTE)
			add_result(results, rule, levels[d->severity], d->message,
				   d->location.source ? d->location.source->name : NULL, d->location.line, d->location.column);
	}
}

static void add_row(heddle_cli *cli, json_t *results, const heddle_test_row *row)
{
	if (row->verdict != HEDDLE_TEST_FAIL && row->verdict != HEDDLE_TEST_FAULT)
		return;
	const char *where = heddle_arena_printf(cli->arena, "%s (%s) %s %s", row->definition, row->test, row->target, row->level);
	for (int i = 0; i < row->n_finding; i++) {
		const heddle_finding *f = &row->finding[i];
		add_result(results, f->kind ? f->kind : "finding", "error",
			   heddle_arena_printf(cli->arena, "%s: %s", where, f->text ? f->text : ""), f->file ? f->file : row->layer,
			   f->line, 0);
	}
	if (!row->n_finding)
		add_result(results, "numbers", "error",
			   heddle_arena_printf(cli->arena, "%s: %s", where, row->message ? row->message : "failed"), row->layer, 0,
			   0);
}

static int write_results(heddle_cli *cli, const char *path, json_t *results)
{
	json_t *document =
		json_pack("{s:s, s:s, s:[{s:{s:{s:s, s:s}}, s:o}]}", "$schema", "https://json.schemastore.org/sarif-2.1.0.json",
			  "version", "2.1.0", "runs", "tool", "driver", "name", "heddle", "version", heddle_version(), "results",
			  results);
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
	return write_results(cli, path, results);
}

int heddle_cli_sarif_test(heddle_cli *cli, const char *path, const heddle_test_report *report)
{
	json_t *results = json_array();
	add_diagnostics(cli, results);
	for (int i = 0; i < report->n_row; i++)
		add_row(cli, results, &report->row[i]);
	return write_results(cli, path, results);
}
