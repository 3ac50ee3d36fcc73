/* heddle report merge: the reports of several machines as one matrix.
 * SPDX-License-Identifier: MIT
 */
#include "cli/cli.h"
#include "cli/sarif.h"

#include "harness/test.h"

#include <stdlib.h>
#include <string.h>

typedef struct merger {
	heddle_cli *cli;
	heddle_test_report *report;
	const char **from; /* [n_row] the file that gave the row */
	int n_from;
	int conflicts;
} merger;

static const char *text_of(const merger *m, const json_t *object, const char *key)
{
	const char *s = json_string_value(json_object_get(object, key));
	return s ? heddle_arena_strdup(m->report->arena, s) : NULL;
}

static bool same(const char *a, const char *b) { return !strcmp(a ? a : "", b ? b : ""); }

/* The same test: the same case of the same definition, made the same way for the same target, at the same level. */
static int find_row(const merger *m, const heddle_test_row *row)
{
	for (int k = 0; k < m->report->n_row; k++) {
		const heddle_test_row *r = &m->report->row[k];
		if (same(r->layer, row->layer) && same(r->definition, row->definition) && same(r->test, row->test) &&
		    same(r->variant, row->variant) && same(r->target, row->target) && same(r->level, row->level))
			return k;
	}
	return -1;
}

/* What one machine found counts more than what another could not do: a failure, a fault, a pass, then the rest. */
static int weight(heddle_test_verdict verdict)
{
	static const int weights[HEDDLE_N_TEST_VERDICT] = {[HEDDLE_TEST_FAIL] = 4, [HEDDLE_TEST_FAULT] = 3, [HEDDLE_TEST_PASS] = 2,
							   [HEDDLE_TEST_UNSUPPORTED] = 1, [HEDDLE_TEST_SKIP] = 0};
	return weights[verdict];
}

static bool ran(heddle_test_verdict verdict) { return weight(verdict) >= 2; }

static void add_row(merger *m, const heddle_test_row *row, const char *file)
{
	int k = find_row(m, row);
	if (k < 0) {
		HEDDLE_PUSH(m->report->arena, m->report->row, m->report->n_row, *row);
		HEDDLE_PUSH(m->report->arena, m->from, m->n_from, file);
		return;
	}
	heddle_test_row *old = &m->report->row[k];
	if (old->verdict == row->verdict)
		return;
	const char *other = m->from[k];
	bool newer = weight(row->verdict) > weight(old->verdict), conflict = ran(old->verdict) && ran(row->verdict);
	const char *against = heddle_test_verdict_name(newer ? old->verdict : row->verdict);
	if (newer) {
		*old = *row;
		m->from[k] = file;
	} else {
		other = file;
	}
	if (!conflict)
		return;
	m->conflicts++;
	old->message = heddle_arena_printf(m->report->arena, "%s%s%s: %s, but %s in %s", old->message ? old->message : "",
					   old->message ? "; " : "", m->from[k], heddle_test_verdict_name(old->verdict), against, other);
}

static int read_row(merger *m, const json_t *j, const char *file)
{
	heddle_arena *arena = m->report->arena;
	const char *verdict = json_string_value(json_object_get(j, "verdict"));
	heddle_test_row row = {.layer = text_of(m, j, "layer"), .definition = text_of(m, j, "definition"), .test = text_of(m, j, "case"),
			       .variant = text_of(m, j, "variant"), .target = text_of(m, j, "target"), .level = text_of(m, j, "level"),
			       .verdict = HEDDLE_N_TEST_VERDICT, .message = text_of(m, j, "message"),
			       .seconds = json_number_value(json_object_get(j, "seconds"))};
	for (int v = 0; verdict && v < HEDDLE_N_TEST_VERDICT; v++)
		if (!strcmp(verdict, heddle_test_verdict_name((heddle_test_verdict)v)))
			row.verdict = (heddle_test_verdict)v;
	if (!row.layer || !row.definition || !row.test || !row.variant || !row.target || !row.level || row.verdict == HEDDLE_N_TEST_VERDICT)
		return -1;
	heddle_finding *finding = NULL;
	const json_t *item;
	size_t i;
	json_array_foreach(json_object_get(j, "findings"), i, item)
	{
		heddle_finding f = {text_of(m, item, "kind"), text_of(m, item, "file"), (int)json_integer_value(json_object_get(item, "line")),
				    text_of(m, item, "text")};
		if (!f.kind || !f.text)
			return -1;
		HEDDLE_PUSH(arena, finding, row.n_finding, f);
	}
	row.finding = finding;
	add_row(m, &row, file);
	return 0;
}

static int read_missing(merger *m, const json_t *j)
{
	heddle_test_missing x = {text_of(m, j, "level"), text_of(m, j, "why"), json_is_true(json_object_get(j, "required"))};
	if (!x.level || !x.why)
		return -1;
	for (int k = 0; k < m->report->n_missing; k++)
		if (!strcmp(m->report->missing[k].level, x.level)) {
			m->report->missing[k].required |= x.required;
			return 0;
		}
	HEDDLE_PUSH(m->report->arena, m->report->missing, m->report->n_missing, x);
	return 0;
}

/* The document of `heddle test --json`, or its member "report". */
static int read_report(merger *m, const char *file)
{
	size_t length, i;
	char *text = heddle_file_read(m->cli->ctx, file, &length);
	if (!text)
		return -1;
	json_error_t error;
	json_t *root = json_loadb(text, length, 0, &error);
	free(text);
	const json_t *report = json_object_get(root, "report") ? json_object_get(root, "report") : root, *item;
	const char *schema = json_string_value(json_object_get(report, "schema"));
	int result = 0;
	if (!root)
		result = heddle_error(m->cli->ctx, 926, NULL, "'%s' is not JSON: %s", file, error.text);
	else if (!schema || strcmp(schema, "heddle.test/1") != 0 || !json_is_array(json_object_get(report, "rows")))
		result = heddle_error(m->cli->ctx, 926, NULL, "'%s' is no report of 'heddle test --json'", file);
	json_array_foreach(result < 0 ? NULL : json_object_get(report, "rows"), i, item)
		if (result == 0 && read_row(m, item, file) < 0)
			result = heddle_error(m->cli->ctx, 926, NULL, "'%s': row %zu is malformed", file, i);
	json_array_foreach(result < 0 ? NULL : json_object_get(report, "missing"), i, item)
		if (result == 0 && read_missing(m, item) < 0)
			result = heddle_error(m->cli->ctx, 926, NULL, "'%s': entry %zu of \"missing\" is malformed", file, i);
	if (result == 0) {
		m->report->seconds += json_number_value(json_object_get(report, "seconds"));
		m->report->unchecked += json_integer_value(json_object_get(report, "unchecked"));
		m->report->source_error |= json_integer_value(json_object_get(root, "exit")) == HEDDLE_EXIT_SOURCE;
	}
	json_decref(root);
	return result;
}

/* A level that ran on one machine is not missing because another has it not. */
static void drop_found(heddle_test_report *report)
{
	int kept = 0;
	for (int k = 0; k < report->n_missing; k++) {
		bool found = false;
		for (int r = 0; r < report->n_row && !found; r++)
			found = ran(report->row[r].verdict) && !strcmp(report->row[r].level, report->missing[k].level);
		if (!found)
			report->missing[kept++] = report->missing[k];
	}
	report->n_missing = kept;
}

int heddle_cli_merge(heddle_cli *cli)
{
	if (strcmp(cli->word[0], "merge") != 0) {
		heddle_error(cli->ctx, 915, NULL, "'report' cannot '%s'", cli->word[0]);
		return heddle_note(cli->ctx, NULL, "usage: heddle report %s", cli->verb->form), HEDDLE_EXIT_USAGE;
	}
	const char *junit = heddle_cli_value(cli, HEDDLE_OPTION_JUNIT), *sarif = heddle_cli_value(cli, HEDDLE_OPTION_SARIF);
	merger m = {.cli = cli, .report = heddle_test_report_new()};
	const heddle_test_options none = {0};
	int result = 0;
	for (int i = 1; i < cli->n_word && result == 0; i++)
		result = read_report(&m, cli->word[i]);
	if (result == 0) {
		drop_found(m.report);
		for (int k = 0; k < m.report->n_row; k++)
			m.report->count[m.report->row[k].verdict]++;
		if (cli->result) {
			json_object_set_new(cli->result, "report", heddle_test_json(m.report));
			json_object_set_new(cli->result, "conflicts", json_integer(m.conflicts));
		} else {
			heddle_test_print(m.report, &cli->out);
		}
		if (m.conflicts)
			heddle_text_printf(&cli->err, "%d tests did not come out the same in all reports\n", m.conflicts);
		result = heddle_test_exit_code(m.report, &none);
	}
	heddle_text text = {0};
	if (result >= 0 && junit) {
		heddle_test_junit(m.report, &text);
		if (heddle_file_write(cli->ctx, junit, heddle_text_str(&text), text.length) < 0)
			result = -1;
	}
	heddle_text_free(&text);
	if (result >= 0 && sarif && heddle_cli_sarif_test(cli, sarif, m.report) < 0)
		result = -1;
	heddle_test_report_free(m.report);
	return result;
}
