/* Reports of `heddle test`: table, JSON, JUnit, the summary line, the exit code.
 * SPDX-License-Identifier: MIT
 */
#include "harness/test.h"

#include <jansson.h>
#include <string.h>

static const char *const verdict_names[HEDDLE_N_TEST_VERDICT] = {
	[HEDDLE_TEST_PASS] = "pass",
	[HEDDLE_TEST_FAIL] = "FAIL",
	[HEDDLE_TEST_FAULT] = "FAULT",
	[HEDDLE_TEST_UNSUPPORTED] = "unsupported",
	[HEDDLE_TEST_SKIP] = "skip",
};

const char *heddle_test_verdict_name(heddle_test_verdict verdict)
{
	return verdict_names[verdict];
}

static bool is_bad(heddle_test_verdict verdict)
{
	return verdict == HEDDLE_TEST_FAIL || verdict == HEDDLE_TEST_FAULT;
}

/* ---- text ------------------------------------------------------------------------------------------------------------------- */

void heddle_test_row_print(const heddle_test_row *row, heddle_text *out)
{
	heddle_text_printf(out, "%-4s %s", verdict_names[row->verdict], row->layer);
	if (*row->definition)
		heddle_text_printf(out, " %s", row->definition);
	if (*row->test)
		heddle_text_printf(out, " (%s)", row->test);
	if (*row->variant)
		heddle_text_printf(out, " [%s]", row->variant);
	if (*row->target)
		heddle_text_printf(out, " %s", row->target);
	heddle_text_printf(out, " %s", row->level);
	if (row->message)
		heddle_text_printf(out, ": %s", row->message);
	heddle_text_add(out, "\n");
}

/* Lines of someone else, indented. */
static void print_indented(const char *text, heddle_text *out)
{
	for (const char *s = text; *s; ++s) {
		heddle_text_addn(out, s, 1);
		if (*s == '\n')
			heddle_text_add(out, "       ");
	}
	heddle_text_add(out, "\n");
}

static void print_findings(const heddle_test_row *row, heddle_text *out)
{
	const int most = 8;
	for (int k = 0; k < row->n_finding && k < most; ++k) {
		const heddle_finding *f = &row->finding[k];
		heddle_text_add(out, "       ");
		if (f->file && f->line)
			heddle_text_printf(out, "%s:%d: ", f->file, f->line);
		else if (f->file)
			heddle_text_printf(out, "%s: ", f->file);
		else if (f->line)
			heddle_text_printf(out, "line %d: ", f->line);
		heddle_text_printf(out, "%s: ", f->kind ? f->kind : "finding");
		print_indented(f->text ? f->text : "", out);
	}
	if (row->n_finding > most)
		heddle_text_printf(out, "       and %d more\n", row->n_finding - most);
}

static bool same_group(const heddle_test_row *a, const heddle_test_row *b)
{
	return !strcmp(a->layer, b->layer) && !strcmp(a->definition, b->definition) && !strcmp(a->target, b->target) &&
	       !strcmp(a->level, b->level);
}

static int longest(const heddle_test_report *report, const char *(*field)(const heddle_test_row *))
{
	int n = 0;
	for (int k = 0; k < report->n_row; ++k) {
		int length = (int)strlen(field(&report->row[k]));
		n = length > n ? length : n;
	}
	return n;
}

static const char *definition_of(const heddle_test_row *row)
{
	return *row->definition ? row->definition : row->layer;
}

static const char *target_of(const heddle_test_row *row)
{
	return row->target;
}

static const char *level_of(const heddle_test_row *row)
{
	return row->level;
}

/* One line per group in order of its first row: how many passed, failed and were not run. */
static void print_matrix(const heddle_test_report *report, heddle_text *out)
{
	const int wide = longest(report, definition_of), target = longest(report, target_of), level = longest(report, level_of);
	for (int k = 0; k < report->n_row; ++k) {
		const heddle_test_row *row = &report->row[k];
		bool seen = false;
		int count[HEDDLE_N_TEST_VERDICT] = {0};
		double seconds = 0;
		for (int j = 0; j < k && !seen; ++j)
			seen = same_group(&report->row[j], row);
		if (seen)
			continue;
		for (int j = k; j < report->n_row; ++j)
			if (same_group(&report->row[j], row)) {
				++count[report->row[j].verdict];
				seconds += report->row[j].seconds;
			}
		heddle_text_printf(out, "%-*s  %-*s  %-*s ", wide, definition_of(row), target, row->target, level, row->level);
		for (int v = 0; v < HEDDLE_N_TEST_VERDICT; ++v)
			if (count[v])
				heddle_text_printf(out, " %d %s", count[v], verdict_names[v]);
		heddle_text_printf(out, "  %.2f s\n", seconds);
	}
}

/* Why rows of this verdict were not run: each reason once, the first few. */
static void print_reasons(const heddle_test_report *report, heddle_test_verdict verdict, heddle_text *out)
{
	enum { MOST = 4 };
	int n = 0;
	for (int k = 0; k < report->n_row; ++k) {
		const heddle_test_row *row = &report->row[k];
		bool seen = row->verdict != verdict || !row->message;
		for (int j = 0; j < k && !seen; ++j) {
			const heddle_test_row *other = &report->row[j];
			seen = other->verdict == verdict && other->message && !strcmp(other->message, row->message) &&
			       !strcmp(other->level, row->level);
		}
		if (seen)
			continue;
		if (n < MOST)
			heddle_text_printf(out, "%s%s: %s", n ? "; " : " (", row->level, row->message);
		++n;
	}
	if (n > MOST)
		heddle_text_printf(out, "; and %d more reasons", n - MOST);
	heddle_text_add(out, n ? ")" : "");
}

static void print_summary(const heddle_test_report *report, heddle_text *out)
{
	int spilling = 0;
	for (int k = 0; k < report->n_row; ++k)
		spilling += report->row[k].verdict == HEDDLE_TEST_PASS && report->row[k].n_finding > 0;
	heddle_text_printf(out, "%d passed", report->count[HEDDLE_TEST_PASS]);
	if (spilling)
		heddle_text_printf(out, " (%d with spills: --max-spill 0 fails them)", spilling);
	if (report->count[HEDDLE_TEST_FAIL])
		heddle_text_printf(out, ", %d failed", report->count[HEDDLE_TEST_FAIL]);
	if (report->count[HEDDLE_TEST_FAULT])
		heddle_text_printf(out, ", %d faults of the tests", report->count[HEDDLE_TEST_FAULT]);
	if (report->count[HEDDLE_TEST_UNSUPPORTED])
		heddle_text_printf(out, ", %d unsupported", report->count[HEDDLE_TEST_UNSUPPORTED]);
	print_reasons(report, HEDDLE_TEST_UNSUPPORTED, out);
	if (report->count[HEDDLE_TEST_SKIP])
		heddle_text_printf(out, ", %d skipped", report->count[HEDDLE_TEST_SKIP]);
	print_reasons(report, HEDDLE_TEST_SKIP, out);
	if (report->unchecked)
		heddle_text_printf(out, "; %lld elements hung on rounding and were not judged", (long long)report->unchecked);
	for (int k = 0; k < report->n_missing; ++k)
		heddle_text_printf(out, "%s%s%s (%s)", k ? ", " : "; not run: ", report->missing[k].level,
				   report->missing[k].required ? ", which is required" : "", report->missing[k].why);
	for (int k = 0; k < report->n_left_out; ++k)
		heddle_text_printf(out, "%s%s", k ? ", " : "; left out, since slow: ", report->left_out[k]);
	if (report->n_left_out)
		heddle_text_printf(out, " (--level %s runs %s, --thorough all)", report->left_out[report->n_left_out - 1],
				   report->n_left_out > 1 ? "that one" : "it");
	heddle_text_printf(out, "; %.1f s\n", report->seconds);
}

void heddle_test_print(const heddle_test_report *report, heddle_text *out)
{
	print_matrix(report, out);
	bool first = true;
	for (int k = 0; k < report->n_row; ++k) {
		const heddle_test_row *row = &report->row[k];
		const bool fine = row->verdict == HEDDLE_TEST_PASS || row->verdict == HEDDLE_TEST_SKIP;
		if (fine && !row->printed && !row->n_finding && !row->remarkable)
			continue;
		if (first)
			heddle_text_add(out, "\n");
		first = false;
		heddle_test_row_print(row, out);
		print_findings(row, out);
		if (row->printed) {
			heddle_text_add(out, "     it printed:\n       ");
			print_indented(row->printed, out);
		}
	}
	if (report->n_row)
		heddle_text_add(out, "\n");
	print_summary(report, out);
}

/* ---- JSON --------------------------------------------------------------------------------------------------------------------- */

/* Text that is not UTF-8 (a tool's output) keeps its ASCII part. */
static json_t *string(const char *s)
{
	if (!s)
		return json_null();
	json_t *value = json_string(s);
	if (value)
		return value;
	heddle_text plain = {0};
	for (; *s; ++s)
		heddle_text_addn(&plain, (unsigned char)*s < 128 ? s : "?", 1);
	value = json_string(heddle_text_str(&plain));
	heddle_text_free(&plain);
	return value;
}

static json_t *row_json(const heddle_test_row *row)
{
	json_t *findings = json_array();
	for (int k = 0; k < row->n_finding; ++k) {
		const heddle_finding *f = &row->finding[k];
		json_t *x = json_object();
		json_object_set_new(x, "kind", string(f->kind));
		json_object_set_new(x, "file", string(f->file));
		json_object_set_new(x, "line", json_integer(f->line));
		json_object_set_new(x, "text", string(f->text));
		json_array_append_new(findings, x);
	}
	json_t *x = json_object();
	json_object_set_new(x, "layer", string(row->layer));
	json_object_set_new(x, "definition", string(row->definition));
	json_object_set_new(x, "case", string(row->test));
	json_object_set_new(x, "variant", string(row->variant));
	json_object_set_new(x, "target", string(row->target));
	json_object_set_new(x, "level", string(row->level));
	json_object_set_new(x, "verdict", string(verdict_names[row->verdict]));
	json_object_set_new(x, "message", string(row->message));
	json_object_set_new(x, "seconds", json_real(row->seconds));
	json_object_set_new(x, "findings", findings);
	if (row->printed)
		json_object_set_new(x, "printed", string(row->printed));
	return x;
}

struct json_t *heddle_test_json(const heddle_test_report *report)
{
	json_t *rows = json_array(), *left_out = json_array(), *missing = json_array(), *counts = json_object(), *x = json_object();
	for (int k = 0; k < report->n_row; ++k)
		json_array_append_new(rows, row_json(&report->row[k]));
	for (int k = 0; k < report->n_missing; ++k) {
		json_t *m = json_object();
		json_object_set_new(m, "level", string(report->missing[k].level));
		json_object_set_new(m, "why", string(report->missing[k].why));
		json_object_set_new(m, "required", json_boolean(report->missing[k].required));
		json_array_append_new(missing, m);
	}
	for (int v = 0; v < HEDDLE_N_TEST_VERDICT; ++v)
		json_object_set_new(counts, verdict_names[v], json_integer(report->count[v]));
	json_object_set_new(x, "schema", json_string("heddle.test/1"));
	json_object_set_new(x, "rows", rows);
	json_object_set_new(x, "counts", counts);
	json_object_set_new(x, "missing", missing);
	for (int k = 0; k < report->n_left_out; ++k)
		json_array_append_new(left_out, json_string(report->left_out[k]));
	json_object_set_new(x, "left_out", left_out);
	json_object_set_new(x, "unchecked", json_integer(report->unchecked));
	json_object_set_new(x, "seconds", json_real(report->seconds));
	return x;
}

/* ---- JUnit -------------------------------------------------------------------------------------------------------------------- */

static void escape(heddle_text *out, const char *s)
{
	for (; s && *s; ++s) {
		const unsigned char c = (unsigned char)*s;
		if (c == '<')
			heddle_text_add(out, "&lt;");
		else if (c == '&')
			heddle_text_add(out, "&amp;");
		else if (c == '"')
			heddle_text_add(out, "&quot;");
		else if (c == '\n')
			heddle_text_add(out, "&#10;");
		else if (c < 32 || c >= 127)
			heddle_text_add(out, "?"); /* not allowed, or of unknown encoding */
		else
			heddle_text_addn(out, s, 1);
	}
}

static void junit_outcome(const heddle_test_row *row, heddle_text *out)
{
	const char *element = row->verdict == HEDDLE_TEST_FAIL ? "failure" : row->verdict == HEDDLE_TEST_FAULT ? "error" : "skipped";
	heddle_text_printf(out, "    <%s message=\"", element);
	escape(out, row->message);
	heddle_text_add(out, "\">");
	if (is_bad(row->verdict)) {
		heddle_text findings = {0};
		print_findings(row, &findings);
		escape(out, heddle_text_str(&findings));
		heddle_text_free(&findings);
	}
	heddle_text_printf(out, "</%s>\n", element);
}

static void junit_row(const heddle_test_row *row, heddle_text *out)
{
	heddle_text_add(out, "  <testcase classname=\"");
	escape(out, row->layer);
	heddle_text_add(out, ".");
	escape(out, row->definition);
	heddle_text_add(out, "\" name=\"");
	escape(out, row->target);
	heddle_text_add(out, " ");
	escape(out, row->level);
	heddle_text_add(out, " ");
	escape(out, row->variant);
	heddle_text_add(out, " ");
	escape(out, row->test);
	heddle_text_printf(out, "\" time=\"%.6f\"", row->seconds);
	if (row->verdict == HEDDLE_TEST_PASS && !row->printed) {
		heddle_text_add(out, "/>\n");
		return;
	}
	heddle_text_add(out, ">\n");
	if (row->verdict != HEDDLE_TEST_PASS)
		junit_outcome(row, out);
	if (row->printed) {
		heddle_text_add(out, "    <system-out>");
		escape(out, row->printed);
		heddle_text_add(out, "</system-out>\n");
	}
	heddle_text_add(out, "  </testcase>\n");
}

/* A level that is not here is a skipped test, or an error when it was required. */
static void junit_missing(const heddle_test_missing *missing, heddle_text *out)
{
	const char *element = missing->required ? "error" : "skipped";
	heddle_text_add(out, "  <testcase classname=\"heddle.levels\" name=\"");
	escape(out, missing->level);
	heddle_text_printf(out, "\" time=\"0\">\n    <%s message=\"", element);
	escape(out, missing->required ? "required and not available: " : "not available: ");
	escape(out, missing->why);
	heddle_text_printf(out, "\"></%s>\n  </testcase>\n", element);
}

void heddle_test_junit(const heddle_test_report *report, heddle_text *out)
{
	int required = 0;
	for (int k = 0; k < report->n_missing; ++k)
		required += report->missing[k].required;
	const int tests = report->n_row + report->n_missing, errors = report->count[HEDDLE_TEST_FAULT] + required;
	const int skipped = report->count[HEDDLE_TEST_SKIP] + report->count[HEDDLE_TEST_UNSUPPORTED] + report->n_missing - required;
	heddle_text_add(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
	heddle_text_printf(out, "<testsuites name=\"heddle\" tests=\"%d\" failures=\"%d\" errors=\"%d\" time=\"%.3f\">\n", tests,
			   report->count[HEDDLE_TEST_FAIL], errors, report->seconds);
	heddle_text_printf(out, "<testsuite name=\"heddle\" tests=\"%d\" failures=\"%d\" errors=\"%d\" skipped=\"%d\" time=\"%.3f\">\n",
			   tests, report->count[HEDDLE_TEST_FAIL], errors, skipped, report->seconds);
	for (int k = 0; k < report->n_row; ++k)
		junit_row(&report->row[k], out);
	for (int k = 0; k < report->n_missing; ++k)
		junit_missing(&report->missing[k], out);
	heddle_text_add(out, "</testsuite>\n</testsuites>\n");
}

/* ---- annotations ---------------------------------------------------------------------------------------------------------------- */

/* A workflow command takes its text in one line, with %, CR and LF as %25, %0D, %0A; in properties : and , too. */
static void command_text(heddle_text *out, const char *s, bool property)
{
	for (; s && *s; ++s)
		if (*s == '%' || *s == '\r' || *s == '\n' || (property && (*s == ':' || *s == ',')))
			heddle_text_printf(out, "%%%02X", (unsigned char)*s);
		else
			heddle_text_addn(out, s, 1);
}

static void annotation(heddle_text *out, bool command, const char *file, int line, const char *kind, const char *where, const char *text)
{
	if (!command) {
		heddle_text_printf(out, "%s:%d: error: %s: %.*s [%s]\n", file, line > 0 ? line : 1, kind, (int)strcspn(text, "\n"), text, where);
		return;
	}
	heddle_text_add(out, "::error file=");
	command_text(out, file, true);
	if (line > 0)
		heddle_text_printf(out, ",line=%d", line);
	heddle_text_add(out, ",title=");
	command_text(out, kind, true);
	heddle_text_add(out, "::");
	command_text(out, text, false);
	command_text(out, " [", false);
	command_text(out, where, false);
	heddle_text_add(out, "]\n");
}

bool heddle_test_told(const heddle_test_report *report, int k, int i)
{
	const heddle_finding *f = &report->row[k].finding[i];
	for (int j = 0; j <= k; ++j)
		for (int x = 0; x < report->row[j].n_finding && (j < k || x < i); ++x) {
			const heddle_finding *g = &report->row[j].finding[x];
			if (is_bad(report->row[j].verdict) && f->line && g->line == f->line && f->file && g->file &&
			    !strcmp(f->file, g->file) && f->kind && g->kind && !strcmp(f->kind, g->kind))
				return true;
		}
	return false;
}

void heddle_test_annotate(const heddle_test_report *report, bool command, heddle_text *out)
{
	for (int k = 0; k < report->n_row; ++k) {
		const heddle_test_row *row = &report->row[k];
		const char *where = heddle_arena_printf(report->arena, "%s %s%s%s", row->target, row->level, *row->test ? ", " : "", row->test);
		if (!is_bad(row->verdict))
			continue;
		for (int i = 0; i < row->n_finding; ++i) {
			const heddle_finding *f = &row->finding[i];
			if (!heddle_test_told(report, k, i))
				annotation(out, command, f->file ? f->file : row->layer, f->line, f->kind ? f->kind : "finding", where,
					   f->text ? f->text : "");
		}
		if (!row->n_finding)
			annotation(out, command, row->layer, 0, row->verdict == HEDDLE_TEST_FAIL ? "numbers" : "test", where,
				   row->message ? row->message : "failed");
	}
}

/* ---- exit code ------------------------------------------------------------------------------------------------------------------ */

/* Did anything run, pass or not, on this target, or at this level? */
static bool something_ran(const heddle_test_report *report, const char *target, const char *level)
{
	const size_t n = level ? strlen(level) : 0;
	for (int k = 0; k < report->n_row; ++k) {
		const heddle_test_row *row = &report->row[k];
		if (row->verdict == HEDDLE_TEST_SKIP || row->verdict == HEDDLE_TEST_UNSUPPORTED)
			continue;
		if (target && strcmp(row->target, target))
			continue;
		if (level && (strncmp(row->level, level, n) || (row->level[n] && row->level[n] != ':')))
			continue;
		return true;
	}
	return false;
}

/* Does some row or missing runner say why nothing ran at the level? */
static bool is_explained(const heddle_test_report *report, const char *level)
{
	const size_t n = strcspn(level, ":");
	if (report->source_error || report->count[HEDDLE_TEST_FAIL] || report->count[HEDDLE_TEST_FAULT])
		return true;
	for (int k = 0; k < report->n_missing; ++k)
		if (!strncmp(report->missing[k].level, level, n))
			return true;
	for (int k = 0; k < report->n_row; ++k)
		if (!strncmp(report->row[k].level, level, n) && report->row[k].message)
			return true;
	return false;
}

void heddle_test_explain(heddle_test_report *report, const heddle_test_options *options)
{
	for (int k = 0; k < options->n_level; ++k) {
		const char *level = options->level[k], *takes = "";
		const size_t n = strcspn(level, ":");
		if (something_ran(report, NULL, level) || is_explained(report, level))
			continue;
		for (int r = 0; heddle_runners[r]; ++r) {
			const heddle_runner *runner = heddle_runners[r];
			const bool named = !strncmp(runner->level, level, n) && !runner->level[n] && (!level[n] || !strcmp(level + n + 1, runner->name));
			if (named && strcmp(runner->backend, "*") && !strstr(takes, runner->backend))
				takes = heddle_arena_printf(report->arena, "%s%s%s", takes, *takes ? " and " : "", runner->backend);
		}
		const heddle_test_missing new = {
			.level = heddle_arena_strdup(report->arena, level),
			.why = *takes ? heddle_arena_printf(report->arena, "it takes %s text, and there was none to test", takes)
				      : "there was nothing to test at it",
			.required = true,
		};
		HEDDLE_PUSH(report->arena, report->missing, report->n_missing, new);
	}
}

int heddle_test_exit_code(const heddle_test_report *report, const heddle_test_options *options)
{
	if (report->count[HEDDLE_TEST_FAIL] || report->count[HEDDLE_TEST_FAULT] > report->n_limit)
		return HEDDLE_EXIT_FAILED;
	if (report->n_limit)
		return HEDDLE_EXIT_LIMIT;
	if (report->source_error)
		return HEDDLE_EXIT_SOURCE;
	for (int k = 0; k < report->n_missing; ++k)
		if (report->missing[k].required)
			return HEDDLE_EXIT_MISSING;
	if (report->n_row || report->n_missing) {
		for (int k = 0; k < options->n_level; ++k)
			if (!something_ran(report, NULL, options->level[k]))
				return HEDDLE_EXIT_MISSING;
		for (int k = 0; options->targets_required && !options->n_impl && k < options->n_target; ++k)
			if (!something_ran(report, options->target[k].text, NULL))
				return HEDDLE_EXIT_MISSING;
	}
	return report->count[HEDDLE_TEST_PASS] ? HEDDLE_EXIT_FINE : HEDDLE_EXIT_SKIPPED;
}
