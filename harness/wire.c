/* Runs and their results as lines of JSON.
 * SPDX-License-Identifier: MIT
 */
#include "harness/wire.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- base64 (RFC 4648) --------------------------------------------------------------------------------------------------- */

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* malloc'ed, NUL-terminated. */
static char *encode(const unsigned char *data, size_t n)
{
	char *text = heddle_xalloc(n / 3 * 4 + 5), *out = text;
	for (size_t i = 0; i < n; i += 3) {
		size_t left = n - i;
		uint32_t bits = (uint32_t)data[i] << 16 | (left > 1 ? (uint32_t)data[i + 1] << 8 : 0) | (left > 2 ? data[i + 2] : 0);
		*out++ = digits[bits >> 18];
		*out++ = digits[bits >> 12 & 63];
		*out++ = left > 1 ? digits[bits >> 6 & 63] : '=';
		*out++ = left > 2 ? digits[bits & 63] : '=';
	}
	*out = '\0';
	return text;
}

static int digit_of(char c)
{
	const char *at = c ? strchr(digits, c) : NULL;
	return at ? (int)(at - digits) : -1;
}

/* Exactly `n` bytes; false: the text is not base64 of that many. */
static bool decode(const char *text, size_t length, unsigned char *data, size_t n)
{
	if (length != (n + 2) / 3 * 4)
		return false;
	size_t at = 0;
	for (size_t i = 0; i < length; i += 4) {
		uint32_t bits = 0;
		size_t here = n - at < 3 ? n - at : 3;
		for (size_t k = 0; k < 4; k++) {
			int digit = digit_of(text[i + k]);
			if (k <= here ? digit < 0 : text[i + k] != '=')
				return false;
			bits = bits << 6 | (k <= here ? (uint32_t)digit : 0);
		}
		for (size_t k = 0; k < here; k++)
			data[at++] = (unsigned char)(bits >> (16 - 8 * k));
	}
	return true;
}

/* ---- arrays ---------------------------------------------------------------------------------------------------------------- */

static size_t span_bytes(const heddle_array *array)
{
	return (size_t)heddle_array_span(array) * (size_t)heddle_type_size(array->type);
}

static json_t *integers(const int64_t *value, int n)
{
	json_t *list = json_array();
	for (int i = 0; i < n; i++)
		json_array_append_new(list, json_integer((json_int_t)value[i]));
	return list;
}

/* The elements from the first to the last; strides only where it is not dense. */
static json_t *array_json(const heddle_array *array)
{
	char *text = encode(array->data, span_bytes(array));
	json_t *j = json_object();
	json_object_set_new(j, "type", json_string(heddle_type_name(array->type)));
	json_object_set_new(j, "shape", integers(array->shape, array->rank));
	if (!heddle_array_is_dense(array))
		json_object_set_new(j, "strides", integers(array->stride, array->rank));
	json_object_set_new(j, "data", json_string_nocheck(text));
	free(text);
	return j;
}

static bool read_integers(const json_t *list, int64_t *value, int *n)
{
	size_t i;
	json_t *item;
	if (!json_is_array(list) || json_array_size(list) > HEDDLE_MAX_RANK)
		return false;
	*n = (int)json_array_size(list);
	json_array_foreach((json_t *)list, i, item)
	{
		if (!json_is_integer(item) || json_integer_value(item) < 0)
			return false;
		value[i] = json_integer_value(item);
	}
	return true;
}

/* Bytes of so many elements of such a shape are no more than what was sent can hold. */
static bool fits(heddle_type type, int rank, const int64_t *shape, const int64_t *stride, size_t text_length)
{
	int64_t span = 1, most = (int64_t)(text_length / 4 * 3);
	for (int d = 0; d < rank; d++)
		if (shape[d] == 0)
			return true;
	for (int d = 0; d < rank; d++) {
		int64_t more;
		if (__builtin_mul_overflow(shape[d] - 1, stride[d], &more) || __builtin_add_overflow(span, more, &span) || span > most)
			return false;
	}
	return span <= most / heddle_type_size(type);
}

/* NULL with `*why`. */
static heddle_array *read_array(heddle_arena *arena, const char *name, const json_t *j, const char **why)
{
	const char *type_name = json_string_value(json_object_get(j, "type"));
	const char *text = json_string_value(json_object_get(j, "data"));
	const json_t *strides = json_object_get(j, "strides");
	int type = type_name ? heddle_type_parse(type_name) : -1, rank = 0, n_stride = 0;
	int64_t shape[HEDDLE_MAX_RANK], stride[HEDDLE_MAX_RANK], dense = 1;
	bool fine = type >= 0 && text && read_integers(json_object_get(j, "shape"), shape, &rank) &&
		    (!strides || (read_integers(strides, stride, &n_stride) && n_stride == rank));
	for (int d = rank - 1; fine && !strides && d >= 0; d--) {
		stride[d] = dense;
		fine = !__builtin_mul_overflow(dense, shape[d], &dense);
	}
	size_t length = text ? json_string_length(json_object_get(j, "data")) : 0;
	if (!fine || !fits((heddle_type)type, rank, shape, stride, length)) {
		*why = heddle_arena_printf(arena, "array `%s` has no right type, shape, strides and data", name);
		return NULL;
	}
	heddle_array *array = heddle_array_new_strided((heddle_type)type, rank, shape, stride);
	if (!decode(text, length, array->data, span_bytes(array))) {
		*why = heddle_arena_printf(arena, "the data of array `%s` are not the base64 text of its %zu bytes", name,
					   span_bytes(array));
		return heddle_array_free(array);
	}
	return array;
}

/* ---- lines ------------------------------------------------------------------------------------------------------------------- */

/* Takes `root`. */
static void add_line(json_t *root, heddle_text *out)
{
	char *text = json_dumps(root, JSON_COMPACT | JSON_PRESERVE_ORDER);
	heddle_text_printf(out, "%s\n", text ? text : "{}");
	free(text);
	json_decref(root);
}

/* Text of whatever bytes; those that are no UTF-8 become question marks. */
static json_t *text_json(const char *s)
{
	json_t *j = json_string(s);
	if (j)
		return j;
	char *copy = heddle_xstrdup(s);
	for (char *c = copy; *c; c++)
		if ((unsigned char)*c >= 0x80)
			*c = '?';
	j = json_string(copy);
	free(copy);
	return j;
}

void heddle_wire_hello(heddle_text *out)
{
	add_line(json_pack("{s:i, s:s}", "heddle", HEDDLE_WIRE_VERSION, "do", "hello"), out);
}

void heddle_wire_greet(const char *name, heddle_text *out)
{
	add_line(json_pack("{s:i, s:o}", "heddle", HEDDLE_WIRE_VERSION, "name", text_json(name)), out);
}

const char *heddle_wire_read_greeting(heddle_arena *arena, const char *line, size_t length, const char **why)
{
	json_error_t error;
	json_t *root = json_loadb(line, length, 0, &error);
	const char *name = NULL, *refused = json_string_value(json_object_get(root, "error"));
	json_int_t version = json_integer_value(json_object_get(root, "heddle"));
	if (!root)
		*why = heddle_arena_printf(arena, "its first line is not JSON (%s): %.80s", error.text, line);
	else if (refused)
		*why = heddle_arena_strdup(arena, refused);
	else if (version != HEDDLE_WIRE_VERSION)
		*why = heddle_arena_printf(arena, "it does not speak version %d of the protocol", HEDDLE_WIRE_VERSION);
	else
		name = heddle_arena_strdup(arena, json_is_string(json_object_get(root, "name"))
							  ? json_string_value(json_object_get(root, "name"))
							  : "a runner");
	json_decref(root);
	return name;
}

static bool is_result(const heddle_argument *a)
{
	return a->role == HEDDLE_ARGUMENT_OUTPUT || a->role == HEDDLE_ARGUMENT_INOUT;
}

void heddle_wire_request(const heddle_run *run, int64_t number, heddle_text *out)
{
	heddle_text text = {0};
	heddle_manifest_print(run->manifest, &text);
	json_t *sizes = json_object(), *arrays = json_object();
	for (int i = 0; i < run->manifest->n_size; i++)
		json_object_set_new(sizes, run->manifest->size[i].name, json_integer((json_int_t)run->size[i]));
	for (int i = 0; i < run->manifest->n_argument; i++)
		if (run->argument[i])
			json_object_set_new(arrays, run->manifest->argument[i].name, array_json(run->argument[i]));
	json_t *root = json_object();
	json_object_set_new(root, "heddle", json_integer(HEDDLE_WIRE_VERSION));
	json_object_set_new(root, "do", json_string("run"));
	json_object_set_new(root, "request", json_integer((json_int_t)number));
	json_object_set_new(root, "manifest", json_loads(heddle_text_str(&text), 0, NULL));
	json_object_set_new(root, "source", text_json(run->source));
	json_object_set_new(root, "sizes", sizes);
	json_object_set_new(root, "misalign", json_integer(run->misalign));
	json_object_set_new(root, "repeat", json_integer(run->repeat));
	json_object_set_new(root, "timeout", json_real(run->timeout > 0 ? run->timeout : 60));
	json_object_set_new(root, "seed", json_integer((json_int_t)(run->seed & INT64_MAX)));
	json_object_set_new(root, "arrays", arrays);
	add_line(root, out);
	heddle_text_free(&text);
}

void heddle_wire_asked_free(heddle_wire_asked *asked)
{
	for (int i = 0; asked->manifest && asked->run.argument && i < asked->manifest->n_argument; i++)
		heddle_array_free(asked->run.argument[i]);
	heddle_manifest_free(asked->manifest);
	*asked = (heddle_wire_asked){0};
}

static int refuse(heddle_ctx *ctx, const char *what) { return heddle_error(ctx, 812, NULL, "%s", what); }

/* An argument that lies in memory or is passed by value has its array, of the manifest's type and shape. */
static int read_argument(heddle_ctx *ctx, heddle_arena *arena, const heddle_manifest *m, int i, const json_t *arrays,
			 const int64_t *size, heddle_array **array)
{
	const heddle_argument *a = &m->argument[i];
	const char *why = NULL;
	if (a->role == HEDDLE_ARGUMENT_TEMPORARY || a->role == HEDDLE_ARGUMENT_SIZE)
		return 0;
	const json_t *j = json_object_get(arrays, a->name);
	if (!j)
		return refuse(ctx, heddle_arena_printf(arena, "there is no array for the argument `%s`", a->name));
	*array = read_array(arena, a->name, j, &why);
	if (!*array)
		return refuse(ctx, why);
	bool same = (*array)->type == a->type && (*array)->rank == a->rank;
	for (int d = 0; same && a->shape && d < a->rank; d++) {
		int64_t extent;
		if (heddle_formula_evaluate(ctx, a->shape[d], m->n_size, m->size, size, &extent) < 0)
			return -1;
		same = (*array)->shape[d] == extent;
	}
	return same ? 0 : refuse(ctx, heddle_arena_printf(arena, "array `%s` has not the manifest's type and shape", a->name));
}

static int64_t number_at(const json_t *root, const char *key) { return json_integer_value(json_object_get(root, key)); }

static int read_run(heddle_ctx *ctx, heddle_arena *arena, const json_t *root, heddle_wire_asked *asked)
{
	const json_t *sizes = json_object_get(root, "sizes"), *arrays = json_object_get(root, "arrays");
	const char *source = json_string_value(json_object_get(root, "source"));
	char *text = json_dumps(json_object_get(root, "manifest"), 0);
	if (!text || !source) {
		free(text);
		return refuse(ctx, "a request has a `manifest` and a `source`");
	}
	asked->manifest = heddle_manifest_parse(ctx, "manifest", text);
	free(text);
	if (!asked->manifest)
		return -1;
	const heddle_manifest *m = asked->manifest;
	int64_t *size = HEDDLE_NEW_ARRAY(arena, int64_t, m->n_size + 1);
	for (int i = 0; i < m->n_size; i++) {
		const json_t *value = json_object_get(sizes, m->size[i].name);
		if (!json_is_integer(value))
			return refuse(ctx, heddle_arena_printf(arena, "`sizes` has no whole number for %s", m->size[i].name));
		size[i] = json_integer_value(value);
		if (size[i] < m->size[i].min || size[i] > m->size[i].max)
			return refuse(ctx, heddle_arena_printf(arena, "the size %s is outside the manifest's range", m->size[i].name));
	}
	heddle_array **argument = HEDDLE_NEW_ARRAY(arena, heddle_array *, m->n_argument + 1);
	asked->run = (heddle_run){
		.arena = arena,
		.manifest = m,
		.source = heddle_arena_strdup(arena, source),
		.source_path = m->source,
		.size = size,
		.argument = argument,
		.misalign = (int)number_at(root, "misalign"),
		.timeout = json_number_value(json_object_get(root, "timeout")),
		.seed = (uint64_t)number_at(root, "seed"),
		.repeat = (int)number_at(root, "repeat"),
		.registers = -1, .spill_bytes = -1, .stack_bytes = -1, .shared_bytes = -1,
	};
	if (asked->run.misalign < 0 || asked->run.repeat < 0 || asked->run.repeat > 1000000)
		return refuse(ctx, "`misalign` and `repeat` are counts");
	for (int i = 0; i < m->n_argument; i++)
		if (read_argument(ctx, arena, m, i, arrays, size, &argument[i]) < 0)
			return -1;
	return 0;
}

int heddle_wire_read_request(heddle_ctx *ctx, heddle_arena *arena, const char *line, size_t length, heddle_wire_asked *asked)
{
	json_error_t error;
	json_t *root = json_loadb(line, length, 0, &error);
	*asked = (heddle_wire_asked){.number = number_at(root, "request")};
	const char *what = json_string_value(json_object_get(root, "do"));
	int result = 0;
	if (!json_is_object(root))
		result = refuse(ctx, heddle_arena_printf(arena, "a request is a JSON object on one line: %s", root ? "this is none" : error.text));
	else if (number_at(root, "heddle") != HEDDLE_WIRE_VERSION)
		result = refuse(ctx, heddle_arena_printf(arena, "this end speaks version %d of the protocol", HEDDLE_WIRE_VERSION));
	else if (what && !strcmp(what, "hello"))
		asked->hello = true;
	else if (what && !strcmp(what, "run"))
		result = read_run(ctx, arena, root, asked);
	else
		result = refuse(ctx, "`do` is hello or run");
	json_decref(root);
	if (result < 0) {
		int64_t number = asked->number;
		heddle_wire_asked_free(asked);
		asked->number = number;
	}
	return result;
}

/* ---- answers ----------------------------------------------------------------------------------------------------------------- */

static const char *const verdicts[] = {
	[HEDDLE_PASS] = "pass", [HEDDLE_FAIL] = "fail", [HEDDLE_UNSUPPORTED] = "unsupported", [HEDDLE_MISSING] = "missing"};

void heddle_wire_refuse(int64_t number, const char *error, heddle_text *out)
{
	add_line(json_pack("{s:i, s:I, s:o}", "heddle", HEDDLE_WIRE_VERSION, "request", (json_int_t)number, "error", text_json(error)),
		 out);
}

void heddle_wire_answer(const heddle_wire_asked *asked, heddle_text *out)
{
	const heddle_run *run = &asked->run;
	json_t *root = json_pack("{s:i, s:I, s:s}", "heddle", HEDDLE_WIRE_VERSION, "request", (json_int_t)asked->number, "verdict",
				 verdicts[run->verdict]);
	if (run->message)
		json_object_set_new(root, "message", text_json(run->message));
	if (run->misalign)
		json_object_set_new(root, "misalign", json_integer(run->misalign));
	json_t *findings = json_array(), *seconds = json_array(), *arrays = json_object();
	for (int i = 0; i < run->n_finding; i++) {
		const heddle_finding *f = &run->finding[i];
		json_t *j = json_object();
		json_object_set_new(j, "kind", text_json(f->kind));
		if (f->file)
			json_object_set_new(j, "file", text_json(f->file));
		json_object_set_new(j, "line", json_integer(f->line));
		json_object_set_new(j, "text", text_json(f->text));
		json_array_append_new(findings, j);
	}
	for (int i = 0; run->seconds && i < run->repeat; i++)
		json_array_append_new(seconds, json_real(run->seconds[i]));
	for (int i = 0; run->verdict == HEDDLE_PASS && i < run->manifest->n_argument; i++)
		if (is_result(&run->manifest->argument[i]) && run->argument[i])
			json_object_set_new(arrays, run->manifest->argument[i].name, array_json(run->argument[i]));
	json_object_set_new(root, "findings", findings);
	json_object_set_new(root, "seconds", seconds);
	json_object_set_new(root, "arrays", arrays);
	add_line(root, out);
}

static const char *copy_text(heddle_arena *arena, const json_t *j)
{
	return json_is_string(j) ? heddle_arena_strdup(arena, json_string_value(j)) : NULL;
}

static const char *read_findings(heddle_run *run, const json_t *list)
{
	static const char *const kinds[] = {"race", "bounds", "uninitialised", "barrier", "crash", "timeout", "compile", "spill", "numbers"};
	size_t i;
	json_t *item;
	run->n_finding = 0;
	run->finding = NULL;
	if (list && !json_is_array(list))
		return "`findings` is not a list";
	json_array_foreach((json_t *)list, i, item)
	{
		const char *kind = json_string_value(json_object_get(item, "kind"));
		heddle_finding finding = {.kind = NULL,
					  .file = copy_text(run->arena, json_object_get(item, "file")),
					  .line = (int)number_at(item, "line"),
					  .text = copy_text(run->arena, json_object_get(item, "text"))};
		for (size_t k = 0; kind && k < HEDDLE_COUNT(kinds); k++)
			if (!strcmp(kind, kinds[k]))
				finding.kind = kinds[k];
		if (!finding.kind || !finding.text)
			return "a finding has a `text` and a `kind`: race, bounds, uninitialised, barrier, crash, timeout, compile, spill or "
			       "numbers";
		HEDDLE_PUSH(run->arena, run->finding, run->n_finding, finding);
	}
	return NULL;
}

static const char *read_seconds(heddle_run *run, const json_t *list)
{
	run->seconds = NULL;
	if (!json_array_size(list))
		return NULL;
	if (json_array_size(list) != (size_t)run->repeat)
		return heddle_arena_printf(run->arena, "`seconds` has %zu times, %d were asked for", json_array_size(list), run->repeat);
	double *seconds = HEDDLE_NEW_ARRAY(run->arena, double, run->repeat + 1);
	for (int i = 0; i < run->repeat; i++) {
		const json_t *item = json_array_get(list, (size_t)i);
		seconds[i] = json_number_value(item);
		if (!json_is_number(item) || !(seconds[i] > 0) || !isfinite(seconds[i]))
			return "`seconds` are numbers above 0";
	}
	run->seconds = seconds;
	return NULL;
}

static const char *read_results(heddle_run *run, const json_t *arrays, bool needed)
{
	for (int i = 0; i < run->manifest->n_argument; i++) {
		const heddle_argument *a = &run->manifest->argument[i];
		heddle_array *to = run->argument[i];
		const json_t *j = json_object_get(arrays, a->name);
		const char *why = NULL;
		if (!to || !is_result(a))
			continue;
		if (!j) {
			if (needed)
				return heddle_arena_printf(run->arena, "a pass without the result `%s`", a->name);
			continue;
		}
		heddle_array *from = read_array(run->arena, a->name, j, &why);
		if (!from)
			return why;
		bool same = from->type == to->type && from->rank == to->rank && span_bytes(from) == span_bytes(to);
		for (int d = 0; same && d < to->rank; d++)
			same = from->shape[d] == to->shape[d] && (from->stride[d] == to->stride[d] || to->shape[d] <= 1);
		if (same)
			memcpy(to->data, from->data, span_bytes(to));
		heddle_array_free(from);
		if (!same)
			return heddle_arena_printf(run->arena, "the result `%s` came back with another type, shape or strides", a->name);
	}
	return NULL;
}

static const char *read_verdict(heddle_run *run, const json_t *root)
{
	const char *word = json_string_value(json_object_get(root, "verdict"));
	run->message = copy_text(run->arena, json_object_get(root, "message"));
	for (size_t i = 0; word && i < HEDDLE_COUNT(verdicts); i++)
		if (!strcmp(word, verdicts[i])) {
			run->verdict = (heddle_verdict)i;
			return NULL;
		}
	return "`verdict` is pass, fail, unsupported or missing";
}

int heddle_wire_read_answer(heddle_run *run, int64_t number, const char *line, size_t length, bool need_results, const char **why)
{
	json_error_t error;
	json_t *root = json_loadb(line, length, 0, &error);
	*why = NULL;
	if (!json_is_object(root))
		*why = heddle_arena_printf(run->arena, "an answer is a JSON object on one line, this is: %.80s", length ? line : "nothing");
	else if (json_is_string(json_object_get(root, "error")))
		*why = copy_text(run->arena, json_object_get(root, "error"));
	else if (number && number_at(root, "request") != number)
		*why = heddle_arena_printf(run->arena, "an answer to request %lld, not %lld", (long long)number_at(root, "request"),
					   (long long)number);
	if (!*why)
		*why = read_verdict(run, root);
	if (!*why)
		*why = read_findings(run, json_object_get(root, "findings"));
	if (!*why)
		*why = read_seconds(run, json_object_get(root, "seconds"));
	bool passed = !*why && run->verdict == HEDDLE_PASS;
	if (passed && run->n_finding > 0)
		*why = "a pass with findings";
	/* Bases that were not moved have not been tested. */
	if (passed && run->misalign && number_at(root, "misalign") != run->misalign) {
		run->verdict = HEDDLE_UNSUPPORTED;
		run->message = "the runner places its arrays itself";
		passed = false;
	}
	if (passed && !*why)
		*why = read_results(run, json_object_get(root, "arrays"), need_results);
	json_decref(root);
	return *why ? -1 : 0;
}

/* ---- the loop of who answers -------------------------------------------------------------------------------------------------- */

int heddle_wire_serve(FILE *in, FILE *out, void (*answer)(void *data, heddle_arena *arena, const char *line, size_t length, heddle_text *out),
		      void *data)
{
	char *line = NULL;
	size_t capacity = 0;
	ssize_t length;
	int result = 0;
	while (result == 0 && (length = getline(&line, &capacity, in)) > 0) {
		heddle_arena *arena = heddle_arena_new();
		heddle_text text = {0};
		answer(data, arena, line, (size_t)length, &text);
		if (fwrite(text.data, 1, text.length, out) != text.length || fflush(out) != 0)
			result = -1;
		heddle_text_free(&text);
		heddle_arena_free(arena);
	}
	free(line);
	return result;
}

const char *heddle_wire_take_error(heddle_ctx *ctx, heddle_arena *arena)
{
	const char *message = "failed without saying why";
	for (const heddle_diagnostic *d = heddle_diagnostics(ctx); d; d = d->next)
		if (d->severity == HEDDLE_ERROR)
			message = heddle_arena_strdup(arena, d->message);
	heddle_diagnostics_clear(ctx);
	return message;
}
