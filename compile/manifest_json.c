/* Manifests as JSON: printing in a fixed order, reading with every rule of the schema.
 * SPDX-License-Identifier: MIT
 */
#include "compile/manifest.h"

#include "backends/dialect.h"
#include "backends/driver.h"

#include <ctype.h>
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const char *const role_names[] = {"input", "output", "inout", "temporary", "scalar", "size"};

/* ---- printing ------------------------------------------------------------------------------------------------------------ */

static void string(heddle_text *out, const char *s)
{
	json_t *value = json_string(s ? s : "");
	char *text = value ? json_dumps(value, JSON_ENCODE_ANY) : NULL;
	heddle_text_add(out, text ? text : "\"\"");
	free(text);
	json_decref(value);
}

/* A number where it is one, else a string. */
static void number_or_formula(heddle_text *out, heddle_formula f)
{
	char *end;
	long long value = f && *f ? strtoll(f, &end, 10) : 0;
	char back[32];
	snprintf(back, sizeof(back), "%lld", value);
	if (f && strcmp(back, f) == 0)
		heddle_text_add(out, f);
	else
		string(out, f);
}

static void formulas(heddle_text *out, const heddle_formula *list, int n)
{
	heddle_text_add(out, "[");
	for (int i = 0; i < n; i++) {
		heddle_text_add(out, i ? ", " : "");
		number_or_formula(out, list[i]);
	}
	heddle_text_add(out, "]");
}

static void strings(heddle_text *out, const char *const *list, int n)
{
	heddle_text_add(out, "[");
	for (int i = 0; i < n; i++) {
		heddle_text_add(out, i ? ", " : "");
		string(out, list[i]);
	}
	heddle_text_add(out, "]");
}

static void field(heddle_text *out, const char *key, const char *value)
{
	heddle_text_printf(out, "  \"%s\": ", key);
	string(out, value);
	heddle_text_add(out, ",\n");
}

static void print_sizes(int n, const heddle_manifest_size *list, heddle_text *out)
{
	heddle_text_add(out, "\"sizes\": {");
	for (int i = 0; i < n; i++) {
		const heddle_manifest_size *size = &list[i];
		heddle_text_add(out, i ? ", " : "");
		string(out, size->name);
		if (size->min == size->max)
			heddle_text_printf(out, ": %lld", (long long)size->min);
		else if (size->divisor > 1)
			heddle_text_printf(out, ": {\"min\": %lld, \"max\": %lld, \"divisor\": %lld}", (long long)size->min,
					   (long long)size->max, (long long)size->divisor);
		else
			heddle_text_printf(out, ": {\"min\": %lld, \"max\": %lld}", (long long)size->min, (long long)size->max);
	}
	heddle_text_add(out, "}");
}

static void print_argument(const heddle_argument *a, heddle_text *out)
{
	heddle_text_add(out, "{\"name\": ");
	string(out, a->name);
	heddle_text_printf(out, ", \"role\": \"%s\", \"type\": \"%s\"", role_names[a->role], heddle_type_name(a->type));
	if (a->role != HEDDLE_ARGUMENT_SCALAR && a->role != HEDDLE_ARGUMENT_SIZE) {
		heddle_text_add(out, ", \"shape\": ");
		formulas(out, a->shape, a->rank);
		if (a->strides) {
			heddle_text_add(out, ", \"strides\": ");
			formulas(out, a->strides, a->rank);
		}
		heddle_text_printf(out, ", \"align\": %d", a->align);
	}
	if (a->role == HEDDLE_ARGUMENT_TEMPORARY) {
		heddle_text_add(out, ", \"offset\": ");
		number_or_formula(out, a->offset);
	}
	if (a->low) {
		heddle_text_add(out, ", \"range\": [");
		number_or_formula(out, a->low);
		heddle_text_add(out, ", ");
		number_or_formula(out, a->high);
		heddle_text_add(out, "]");
	}
	if (a->value)
		heddle_text_printf(out, ", \"value\": %s", a->value);
	heddle_text_add(out, "}");
}

static void print_kernel_argument(const heddle_kernel_argument *a, heddle_text *out)
{
	char buffer[40];
	if (a->local_bytes) {
		heddle_text_add(out, "{\"local\": ");
		number_or_formula(out, a->local_bytes);
		heddle_text_add(out, "}");
	} else if (a->formula) {
		heddle_text_add(out, "{\"formula\": ");
		number_or_formula(out, a->formula);
		heddle_text_printf(out, ", \"type\": \"%s\"}", heddle_type_name(a->type));
	} else if (!a->name && heddle_type_is_float(a->type) && (a->literal != a->literal || a->literal - a->literal != 0))
		heddle_text_printf(out, "{\"literal\": \"%s\", \"type\": \"%s\"}", heddle_format_double(a->literal, buffer),
				   heddle_type_name(a->type));
	else if (!a->name)
		heddle_text_printf(out, "{\"literal\": %s, \"type\": \"%s\"}", heddle_format_double(a->literal, buffer),
				   heddle_type_name(a->type));
	else if (a->byte_offset || a->size) {
		heddle_text_printf(out, "{\"%s\": ", a->size ? "size" : "offset");
		string(out, a->name);
		if (a->type != (a->size ? HEDDLE_INT64 : HEDDLE_UINT64))
			heddle_text_printf(out, ", \"type\": \"%s\"", heddle_type_name(a->type));
		heddle_text_add(out, "}");
	} else {
		string(out, a->name);
	}
}

static void print_launch(const heddle_manifest *m, const heddle_manifest_launch *launch, const char *indent, heddle_text *out)
{
	heddle_text_add(out, "{\"kernel\": ");
	string(out, launch->kernel);
	heddle_text_add(out, ", \"grid\": ");
	formulas(out, launch->grid, 3);
	heddle_text_printf(out, ", \"block\": [%d, %d, %d]", launch->block[0], launch->block[1], launch->block[2]);
	if (m->global_threads) {
		heddle_text_add(out, ", \"global\": [");
		for (int i = 0; i < 3; i++) {
			heddle_text text = {0};
			if (launch->block[i] == 1)
				heddle_text_add(&text, launch->grid[i]);
			else if (strcmp(launch->grid[i], "1") == 0)
				heddle_text_printf(&text, "%d", launch->block[i]);
			else
				heddle_text_printf(&text, "(%s)*%d", launch->grid[i], launch->block[i]);
			heddle_text_add(out, i ? ", " : "");
			number_or_formula(out, heddle_text_str(&text));
			heddle_text_free(&text);
		}
		heddle_text_add(out, "]");
	}
	heddle_text_add(out, ", \"dynamic_shared_bytes\": ");
	number_or_formula(out, launch->dynamic_shared_bytes);
	heddle_text_printf(out, ",\n%s \"arguments\": [", indent);
	for (int i = 0; i < launch->n_argument; i++) {
		heddle_text_add(out, i ? ", " : "");
		print_kernel_argument(&launch->argument[i], out);
	}
	heddle_text_add(out, "]}");
}

static void print_defines(const heddle_manifest *m, heddle_text *out)
{
	if (m->n_define) {
		heddle_text_add(out, "  \"defines\": {");
		for (int i = 0; i < m->n_define; i++) {
			heddle_text_add(out, i ? ", " : "");
			string(out, m->define[i].name);
			heddle_text_add(out, ": ");
			number_or_formula(out, m->define[i].value);
		}
		heddle_text_add(out, "},\n");
	}
	if (m->n_include) {
		heddle_text_add(out, "  \"include_paths\": ");
		strings(out, m->include, m->n_include);
		heddle_text_add(out, ",\n");
	}
}

static void print_arguments(int n, const heddle_argument *list, const char *indent, heddle_text *out)
{
	heddle_text_add(out, "[");
	for (int i = 0; i < n; i++) {
		heddle_text_printf(out, "%s\n%s", i ? "," : "", indent);
		print_argument(&list[i], out);
	}
	heddle_text_printf(out, "\n%s]", indent + 2);
}

static void print_launches(const heddle_manifest *m, int n, const heddle_manifest_launch *list, const char *indent, heddle_text *out)
{
	heddle_text_add(out, "[");
	for (int i = 0; i < n; i++) {
		heddle_text_printf(out, "%s\n%s", i ? "," : "", indent);
		print_launch(m, &list[i], indent, out);
	}
	heddle_text_printf(out, "\n%s]", indent + 2);
}

static void print_variant(const heddle_manifest *m, const heddle_manifest_variant *v, heddle_text *out)
{
	heddle_text_add(out, "{");
	print_sizes(m->n_size, v->size, out);
	heddle_text_add(out, ", \"align\": {");
	const char *comma = "";
	for (int i = 0; i < m->n_argument; i++)
		if (v->align[i]) {
			heddle_text_add(out, comma);
			string(out, m->argument[i].name);
			heddle_text_printf(out, ": %d", v->align[i]);
			comma = ", ";
		}
	heddle_text_add(out, "},\n     \"config\": ");
	string(out, v->config);
	heddle_text_add(out, ",\n     \"proof\": ");
	string(out, v->proof);
	heddle_text_add(out, ", \"preconditions\": ");
	strings(out, v->precondition, v->n_precondition);
	heddle_text_add(out, ", \"workspace_bytes\": ");
	string(out, v->workspace_bytes);
	if (v->n_temporary) {
		heddle_text_add(out, ",\n     \"temporaries\": ");
		print_arguments(v->n_temporary, v->temporary, "       ", out);
	}
	heddle_text_add(out, ",\n     \"launches\": ");
	print_launches(m, v->n_launch, v->launch, "       ", out);
	heddle_text_add(out, "}");
}

void heddle_manifest_print(const heddle_manifest *m, heddle_text *out)
{
	heddle_text_add(out, "{\n  \"schema\": \"heddle.manifest/1\",\n");
	field(out, "definition", m->definition);
	field(out, "backend", m->backend);
	field(out, "arch", m->arch);
	field(out, "source", m->source);
	field(out, "config", m->config);
	field(out, "policy", m->policy);
	field(out, "proof", m->proof);
	heddle_text_add(out, "  ");
	print_sizes(m->n_size, m->size, out);
	heddle_text_add(out, ",\n  \"preconditions\": ");
	strings(out, m->precondition, m->n_precondition);
	heddle_text_printf(out, ",\n  \"warp\": %d,\n  \"workspace_bytes\": ", m->warp);
	string(out, m->workspace_bytes);
	heddle_text_add(out, ",\n  \"options\": {");
	for (int i = 0; i < m->n_option_set; i++) {
		const heddle_option_set *set = &m->option_set[i];
		heddle_text_add(out, i ? ", " : "");
		string(out, set->name);
		heddle_text_add(out, ": ");
		if (set->text)
			string(out, set->n ? set->option[0] : "");
		else
			strings(out, set->option, set->n);
	}
	heddle_text_add(out, "},\n");
	print_defines(m, out);
	heddle_text_add(out, "  \"arguments\": ");
	print_arguments(m->n_argument, m->argument, "    ", out);
	heddle_text_add(out, ",\n  \"launches\": ");
	print_launches(m, m->n_launch, m->launch, "    ", out);
	if (m->n_variant)
		heddle_text_add(out, ",\n  \"variants\": [");
	for (int i = 0; i < m->n_variant; i++) {
		heddle_text_add(out, i ? ",\n    " : "\n    ");
		print_variant(m, &m->variant[i], out);
	}
	heddle_text_add(out, m->n_variant ? "\n  ]" : "");
	if (m->note) {
		heddle_text_add(out, ",\n  \"notes\": [");
		string(out, m->note);
		heddle_text_add(out, "]");
	}
	heddle_text_add(out, "\n}\n");
}

/* ---- reading --------------------------------------------------------------------------------------------------------------- */

typedef struct reader {
	heddle_ctx *ctx;
	heddle_manifest *m;
	const heddle_source *source;
	bool failed;
	int n_temporary; /* of the variant that is being read */
	const heddle_argument *temporary;
} reader;

static void bad(reader *r, const char *format, ...) HEDDLE_PRINTF(2, 3);
static void bad(reader *r, const char *format, ...)
{
	heddle_text text = {0};
	va_list args;
	va_start(args, format);
	heddle_text_vprintf(&text, format, args);
	va_end(args);
	heddle_error(r->ctx, 784, NULL, "%s: %s", r->source->name, heddle_text_str(&text));
	heddle_text_free(&text);
	r->failed = true;
}

/* Every key of `object` is one of the NULL-ended `known`. */
static void check_keys(reader *r, json_t *object, const char *where, const char *const *known)
{
	const char *key;
	json_t *value;
	json_object_foreach(object, key, value) {
		int n = 0;
		bool found = false;
		for (; known[n]; n++)
			found = found || strcmp(known[n], key) == 0;
		if (found)
			continue;
		const char *near = heddle_nearest(key, known, n);
		bad(r, "%s has no key `%s`%s%s%s", where, key, near ? "; did you mean `" : "", near ? near : "", near ? "`?" : "");
	}
}

static const char *text_of(reader *r, json_t *object, const char *key, const char *otherwise)
{
	json_t *value = json_object_get(object, key);
	if (!value && otherwise)
		return otherwise;
	if (!json_is_string(value)) {
		bad(r, "`%s` must be a string", key);
		return "";
	}
	return heddle_arena_strdup(r->m->arena, json_string_value(value));
}

static int64_t integer_of(reader *r, json_t *value, const char *key, int64_t min, int64_t max)
{
	if (!json_is_integer(value) || json_integer_value(value) < min || json_integer_value(value) > max) {
		bad(r, "`%s` must be a whole number from %lld to %lld", key, (long long)min, (long long)max);
		return min;
	}
	return json_integer_value(value);
}

static heddle_formula formula_of(reader *r, json_t *value, const char *key)
{
	if (json_is_integer(value))
		return heddle_arena_printf(r->m->arena, "%lld", (long long)json_integer_value(value));
	if (!json_is_string(value)) {
		bad(r, "`%s` must be a number or a formula", key);
		return "0";
	}
	const char *text = heddle_arena_strdup(r->m->arena, json_string_value(value));
	if (heddle_formula_check(r->ctx, text, r->m->n_size, r->m->size) < 0) {
		r->failed = true;
		return "0";
	}
	return text;
}

static const char **string_list(reader *r, json_t *object, const char *key, int *n)
{
	const char **list = NULL;
	json_t *array = json_object_get(object, key), *value;
	size_t i;
	*n = 0;
	if (array && !json_is_array(array))
		bad(r, "`%s` must be a list of strings", key);
	json_array_foreach(array, i, value) {
		if (json_is_string(value))
			HEDDLE_PUSH(r->m->arena, list, *n, heddle_arena_strdup(r->m->arena, json_string_value(value)));
		else
			bad(r, "`%s` must be a list of strings", key);
	}
	return list;
}

static heddle_manifest_size read_size(reader *r, const char *name, json_t *value)
{
	static const char *const keys[] = {"min", "max", "divisor", NULL};
	heddle_manifest_size size = {heddle_arena_strdup(r->m->arena, name), 0, INT32_MAX, 1};
	json_t *part;
	if (!json_is_object(value)) {
		size.min = size.max = integer_of(r, value, name, 0, INT64_MAX);
		return size;
	}
	check_keys(r, value, "a size", keys);
	if ((part = json_object_get(value, "min")))
		size.min = integer_of(r, part, "min", 0, INT64_MAX);
	if ((part = json_object_get(value, "max")))
		size.max = integer_of(r, part, "max", 0, INT64_MAX);
	if ((part = json_object_get(value, "divisor")))
		size.divisor = integer_of(r, part, "divisor", 1, INT64_MAX);
	if (size.min > size.max)
		bad(r, "size `%s`: its minimum is above its maximum", name);
	return size;
}

static void read_sizes(reader *r, json_t *root)
{
	json_t *sizes = json_object_get(root, "sizes"), *value;
	const char *name;
	if (sizes && !json_is_object(sizes))
		bad(r, "`sizes` must be an object");
	json_object_foreach(sizes, name, value) {
		const heddle_manifest_size size = read_size(r, name, value);
		HEDDLE_PUSH(r->m->arena, r->m->size, r->m->n_size, size);
	}
}

static const heddle_argument *find_argument(const heddle_manifest *m, const char *name)
{
	for (int i = 0; i < m->n_argument; i++)
		if (strcmp(m->argument[i].name, name) == 0)
			return &m->argument[i];
	return NULL;
}

static const heddle_manifest_size *find_size(const heddle_manifest *m, const char *name)
{
	for (int i = 0; i < m->n_size; i++)
		if (strcmp(m->size[i].name, name) == 0)
			return &m->size[i];
	return NULL;
}

static heddle_formula *formula_list(reader *r, json_t *array, const char *key, int *n)
{
	heddle_formula *list = NULL;
	json_t *value;
	size_t i;
	*n = 0;
	if (!json_is_array(array))
		bad(r, "`%s` must be a list", key);
	json_array_foreach(array, i, value)
		HEDDLE_PUSH(r->m->arena, list, *n, formula_of(r, value, key));
	return list;
}

static heddle_type type_of(reader *r, json_t *object, heddle_type otherwise)
{
	json_t *value = json_object_get(object, "type");
	if (!value)
		return otherwise;
	int type = json_is_string(value) ? heddle_type_parse(json_string_value(value)) : -1;
	if (type < 0)
		bad(r, "`type` must be a scalar type such as float32");
	return type < 0 ? otherwise : (heddle_type)type;
}

/* A number of any kind as text, or a formula over the sizes. */
static const char *number_of(reader *r, json_t *value, const char *key)
{
	if (json_is_string(value) || json_is_integer(value))
		return formula_of(r, value, key);
	if (!json_is_real(value)) {
		bad(r, "`%s` must be a number or a formula", key);
		return "0";
	}
	char buffer[40];
	return heddle_arena_strdup(r->m->arena, heddle_format_double(json_real_value(value), buffer));
}

/* What a test without a definition puts in: `range` for tensors, `value` for scalars. */
static void read_contents(reader *r, json_t *value, heddle_argument *a)
{
	json_t *range = json_object_get(value, "range"), *number = json_object_get(value, "value");
	const bool by_value = a->role == HEDDLE_ARGUMENT_SCALAR, filled = by_value || a->role == HEDDLE_ARGUMENT_INPUT ||
									  a->role == HEDDLE_ARGUMENT_INOUT;
	if (range && (!json_is_array(range) || json_array_size(range) != 2 || !filled)) {
		bad(r, "argument `%s`: `range` must be the least and the greatest value of an input", a->name);
	} else if (range) {
		a->low = number_of(r, json_array_get(range, 0), "range");
		a->high = number_of(r, json_array_get(range, 1), "range");
	}
	if (number && (!by_value || !json_is_number(number))) {
		bad(r, "argument `%s`: `value` must be the number of a scalar", a->name);
	} else if (number) {
		char buffer[40];
		a->value = json_is_integer(number)
				   ? heddle_arena_printf(r->m->arena, "%lld", (long long)json_integer_value(number))
				   : heddle_arena_strdup(r->m->arena, heddle_format_double(json_real_value(number), buffer));
	}
}

/* After the ones before it, at the next multiple of 256 bytes. */
static void place_temporary(reader *r, heddle_argument *a)
{
	heddle_arena *arena = r->m->arena;
	const char *bytes = heddle_arena_printf(arena, "%d", heddle_type_size(a->type));
	for (int d = 0; d < a->rank; d++)
		bytes = heddle_arena_printf(arena, "%s*(%s)", bytes, a->shape[d]);
	a->offset = r->m->temporaries ? r->m->temporaries : "0";
	r->m->temporaries = heddle_arena_printf(arena, "%s%s(%s+255)/256*256", r->m->temporaries ? r->m->temporaries : "",
						r->m->temporaries ? "+" : "", bytes);
}

static void read_argument(reader *r, json_t *value, heddle_argument **list, int *n)
{
	static const char *const keys[] = {"name", "role", "type", "shape", "strides", "align", "offset", "range", "value", NULL};
	heddle_argument a = {.type = HEDDLE_INT64};
	if (!json_is_object(value)) {
		bad(r, "`arguments` must be a list of objects");
		return;
	}
	check_keys(r, value, "an argument", keys);
	a.name = text_of(r, value, "name", NULL);
	const char *role = text_of(r, value, "role", NULL);
	size_t k = 0;
	while (k < HEDDLE_COUNT(role_names) && strcmp(role_names[k], role) != 0)
		k++;
	if (k == HEDDLE_COUNT(role_names)) {
		bad(r, "argument `%s`: the role must be input, output, inout, temporary, scalar or size", a.name);
		return;
	}
	a.role = (heddle_argument_role)k;
	if (a.role != HEDDLE_ARGUMENT_SIZE && !json_object_get(value, "type"))
		bad(r, "argument `%s` has no type", a.name);
	a.type = type_of(r, value, HEDDLE_INT64);
	/* A variant's temporary may have the name of another variant's. */
	const heddle_argument *same = find_argument(r->m, a.name);
	bool twice = same && (*list == r->m->argument || same->role != HEDDLE_ARGUMENT_TEMPORARY);
	for (int i = 0; i < *n; i++)
		twice = twice || strcmp((*list)[i].name, a.name) == 0;
	if (twice)
		bad(r, "argument `%s` occurs twice", a.name);
	if (a.role == HEDDLE_ARGUMENT_SIZE && !find_size(r->m, a.name))
		bad(r, "argument `%s` is no size of this manifest", a.name);
	if (a.role != HEDDLE_ARGUMENT_SCALAR && a.role != HEDDLE_ARGUMENT_SIZE) {
		a.shape = formula_list(r, json_object_get(value, "shape"), "shape", &a.rank);
		json_t *part;
		if ((part = json_object_get(value, "strides"))) {
			int n_stride;
			a.strides = formula_list(r, part, "strides", &n_stride);
			if (n_stride != a.rank)
				bad(r, "argument `%s`: as many strides as dimensions", a.name);
		}
		part = json_object_get(value, "align");
		a.align = part ? (int)integer_of(r, part, "align", 1, 4096) : heddle_type_size(a.type);
	}
	json_t *offset = json_object_get(value, "offset");
	if (a.role == HEDDLE_ARGUMENT_TEMPORARY && !offset && list == &r->m->argument)
		place_temporary(r, &a);
	else if (a.role == HEDDLE_ARGUMENT_TEMPORARY)
		a.offset = formula_of(r, offset, "offset");
	read_contents(r, value, &a);
	HEDDLE_PUSH(r->m->arena, *list, *n, a);
}

static double literal_of(reader *r, json_t *value)
{
	if (json_is_number(value))
		return json_number_value(value);
	if (json_is_string(value)) { /* "inf", "-inf", "nan": JSON has no numbers for them */
		char *end;
		double d = strtod(json_string_value(value), &end);
		if (end != json_string_value(value) && !*end)
			return d;
	}
	bad(r, "`literal` must be a number");
	return 0;
}

static void read_kernel_argument(reader *r, heddle_manifest_launch *launch, json_t *value)
{
	static const char *const keys[] = {"size", "offset", "literal", "local", "formula", "name", "type", NULL};
	heddle_kernel_argument a = {.type = HEDDLE_INT64};
	json_t *part;
	if (json_is_string(value)) {
		a.name = heddle_arena_strdup(r->m->arena, json_string_value(value));
	} else if (!json_is_object(value)) {
		bad(r, "kernel `%s`: an argument must be a name or an object", launch->kernel);
		return;
	} else {
		check_keys(r, value, "a kernel argument", keys);
		if ((part = json_object_get(value, "literal"))) {
			a.literal = literal_of(r, part);
			a.type = type_of(r, value, HEDDLE_INT64);
			HEDDLE_PUSH(r->m->arena, launch->argument, launch->n_argument, a);
			return;
		}
		if ((part = json_object_get(value, "local"))) {
			a.local_bytes = formula_of(r, part, "local");
			HEDDLE_PUSH(r->m->arena, launch->argument, launch->n_argument, a);
			return;
		}
		if ((part = json_object_get(value, "formula"))) {
			a.formula = formula_of(r, part, "formula");
			a.type = type_of(r, value, HEDDLE_INT64);
			if (heddle_type_is_float(a.type) || a.type == HEDDLE_BOOL)
				bad(r, "kernel `%s`: a formula is passed as an integer", launch->kernel);
			HEDDLE_PUSH(r->m->arena, launch->argument, launch->n_argument, a);
			return;
		}
		a.size = json_object_get(value, "size") != NULL;
		a.byte_offset = !a.size && json_object_get(value, "offset") != NULL;
		a.name = text_of(r, value, a.size ? "size" : a.byte_offset ? "offset" : "name", NULL);
	}
	const heddle_argument *argument = find_argument(r->m, a.name);
	for (int k = 0; k < r->n_temporary && a.name; k++)
		if (!strcmp(r->temporary[k].name, a.name))
			argument = &r->temporary[k];
	if (!argument && !a.byte_offset && find_size(r->m, a.name))
		a.size = true;
	if (a.size ? !find_size(r->m, a.name) : !argument) {
		bad(r, "kernel `%s`: there is no %s `%s`", launch->kernel, a.size ? "size" : "argument", a.name);
		return;
	}
	if (!a.size && !a.byte_offset && argument->role == HEDDLE_ARGUMENT_SIZE)
		a.size = true;
	if (a.byte_offset && (argument->role == HEDDLE_ARGUMENT_SCALAR || argument->role == HEDDLE_ARGUMENT_SIZE))
		bad(r, "kernel `%s`: a scalar or size has no offset", launch->kernel);
	a.type = a.size ? HEDDLE_INT64 : a.byte_offset ? HEDDLE_UINT64 : argument->type;
	if (json_is_object(value))
		a.type = type_of(r, value, a.type);
	HEDDLE_PUSH(r->m->arena, launch->argument, launch->n_argument, a);
}

static void read_launch(reader *r, json_t *value, heddle_manifest_launch **list, int *n)
{
	static const char *const keys[] = {"kernel", "grid", "block", "global", "dynamic_shared_bytes", "arguments", NULL};
	heddle_manifest_launch launch = {.dynamic_shared_bytes = "0"};
	if (!json_is_object(value)) {
		bad(r, "`launches` must be a list of objects");
		return;
	}
	check_keys(r, value, "a launch", keys);
	launch.kernel = text_of(r, value, "kernel", NULL);
	r->m->global_threads = r->m->global_threads || json_object_get(value, "global");
	json_t *grid = json_object_get(value, "grid"), *block = json_object_get(value, "block");
	if (!json_is_array(grid) || json_array_size(grid) < 1 || json_array_size(grid) > 3)
		bad(r, "kernel `%s`: `grid` must be a list of 1 to 3 formulas", launch.kernel);
	if (!json_is_array(block) || json_array_size(block) < 1 || json_array_size(block) > 3)
		bad(r, "kernel `%s`: `block` must be a list of 1 to 3 numbers", launch.kernel);
	for (size_t i = 0; i < 3; i++) {
		json_t *g = json_array_get(grid, i), *b = json_array_get(block, i);
		launch.grid[i] = g ? formula_of(r, g, "grid") : "1";
		launch.block[i] = b ? (int)integer_of(r, b, "block", 1, 65536) : 1;
	}
	json_t *part = json_object_get(value, "dynamic_shared_bytes"), *item;
	if (part)
		launch.dynamic_shared_bytes = formula_of(r, part, "dynamic_shared_bytes");
	part = json_object_get(value, "arguments");
	if (!json_is_array(part))
		bad(r, "kernel `%s`: `arguments` must be a list", launch.kernel);
	size_t i;
	json_array_foreach(part, i, item)
		read_kernel_argument(r, &launch, item);
	HEDDLE_PUSH(r->m->arena, *list, *n, launch);
}

static void read_launches(reader *r, json_t *object, heddle_manifest_launch **list, int *n)
{
	json_t *launches = json_object_get(object, "launches"), *value;
	size_t i;
	if (!json_is_array(launches) || json_array_size(launches) == 0)
		bad(r, "`launches` must be a list of at least one launch");
	json_array_foreach(launches, i, value)
		read_launch(r, value, list, n);
}

static const char **read_preconditions(reader *r, json_t *object, int *n)
{
	const char **list = string_list(r, object, "preconditions", n);
	for (int k = 0; k < *n; k++)
		if (heddle_formula_check(r->ctx, list[k], r->m->n_size, r->m->size) < 0)
			r->failed = true;
	return list;
}

/* What a variant does not say is as for the whole. */
static void read_variant(reader *r, json_t *value)
{
	static const char *const keys[] = {"sizes", "align", "config", "proof", "preconditions", "workspace_bytes", "temporaries",
					   "launches", NULL};
	heddle_manifest *m = r->m;
	heddle_manifest_variant v = {0};
	json_t *part, *item;
	const char *name;
	size_t k;
	if (!json_is_object(value)) {
		bad(r, "`variants` must be a list of objects");
		return;
	}
	check_keys(r, value, "a variant", keys);
	v.config = text_of(r, value, "config", "");
	v.proof = text_of(r, value, "proof", "not proved");
	v.size = HEDDLE_NEW_ARRAY(m->arena, heddle_manifest_size, m->n_size + 1);
	for (int i = 0; i < m->n_size; i++)
		v.size[i] = m->size[i];
	json_object_foreach(json_object_get(value, "sizes"), name, item) {
		const heddle_manifest_size *size = find_size(m, name);
		if (size)
			v.size[size - m->size] = read_size(r, name, item);
		else
			bad(r, "a variant: `%s` is no size of this manifest", name);
	}
	v.align = HEDDLE_NEW_ARRAY(m->arena, int, m->n_argument + 1);
	json_object_foreach(json_object_get(value, "align"), name, item) {
		const heddle_argument *a = find_argument(m, name);
		if (a && a->shape && a->role != HEDDLE_ARGUMENT_TEMPORARY)
			v.align[a - m->argument] = (int)integer_of(r, item, "align", 1, 4096);
		else
			bad(r, "a variant: `%s` is no input or output of this manifest", name);
	}
	v.precondition = read_preconditions(r, value, &v.n_precondition);
	part = json_object_get(value, "workspace_bytes");
	v.workspace_bytes = part ? formula_of(r, part, "workspace_bytes") : "0";
	part = json_object_get(value, "temporaries");
	if (part && !json_is_array(part))
		bad(r, "`temporaries` must be a list");
	json_array_foreach(part, k, item) {
		read_argument(r, item, &v.temporary, &v.n_temporary);
		if (v.n_temporary && v.temporary[v.n_temporary - 1].role != HEDDLE_ARGUMENT_TEMPORARY)
			bad(r, "a variant: `%s` is no temporary", v.temporary[v.n_temporary - 1].name);
	}
	r->temporary = v.temporary;
	r->n_temporary = v.n_temporary;
	read_launches(r, value, &v.launch, &v.n_launch);
	r->n_temporary = 0;
	HEDDLE_PUSH(m->arena, m->variant, m->n_variant, v);
}

static void read_variants(reader *r, json_t *root)
{
	json_t *variants = json_object_get(root, "variants"), *value;
	size_t i;
	bool temporary = false;
	if (variants && !json_is_array(variants))
		bad(r, "`variants` must be a list");
	for (int k = 0; k < r->m->n_argument && variants; k++) {
		if (temporary && r->m->argument[k].role != HEDDLE_ARGUMENT_TEMPORARY)
			bad(r, "with variants, temporaries must be the last arguments: `%s` follows one", r->m->argument[k].name);
		temporary = temporary || r->m->argument[k].role == HEDDLE_ARGUMENT_TEMPORARY;
	}
	json_array_foreach(variants, i, value)
		read_variant(r, value);
}

/* The dialect's options of this name, whatever the policy. */
static bool dialect_has_options(heddle_ctx *ctx, const char *backend, const char *name)
{
	bool known = false, has = false;
	for (const char *const *d = heddle_dialect_names(ctx); *d && !known; d++)
		known = strcmp(*d, backend) == 0;
	const heddle_dialect *dialect = known ? heddle_dialect_find(ctx, backend) : NULL;
	for (int p = 0; p < HEDDLE_N_POLICY && dialect; p++) {
		const char *policy = heddle_policy_name((heddle_policy)p);
		has = has || heddle_dialect_word(dialect, "options.%s.%s", policy, name) ||
		      heddle_dialect_word(dialect, "options.%s.%s.0", policy, name);
	}
	return has;
}

/* Somebody looks for options of this name: a driver, a compiler, or who speaks the manifest's dialect. */
static void check_option_set(reader *r, const char *name)
{
	const char **known = NULL;
	int n = 0;
	HEDDLE_PUSH(r->m->arena, known, n, "host");
	for (const heddle_driver *const *d = heddle_drivers; *d; d++)
		HEDDLE_PUSH(r->m->arena, known, n, (*d)->options);
	for (const heddle_compiler *const *c = heddle_compilers; *c; c++)
		HEDDLE_PUSH(r->m->arena, known, n, (*c)->options);
	for (int i = 0; i < n; i++)
		if (strcmp(known[i], name) == 0)
			return;
	if (dialect_has_options(r->ctx, r->m->backend, name))
		return;
	const char *near = heddle_nearest(name, known, n);
	bad(r, "`options` has no key `%s`%s%s%s", name, near ? "; did you mean `" : "", near ? near : "", near ? "`?" : "");
}

static void read_options(reader *r, json_t *root)
{
	json_t *options = json_object_get(root, "options"), *value;
	const char *name;
	if (options && !json_is_object(options))
		bad(r, "`options` must be an object");
	json_object_foreach(options, name, value) {
		heddle_option_set set = {.name = heddle_arena_strdup(r->m->arena, name), .text = json_is_string(value)};
		check_option_set(r, name);
		if (set.text)
			HEDDLE_PUSH(r->m->arena, set.option, set.n, text_of(r, options, name, ""));
		else
			set.option = string_list(r, options, name, &set.n);
		HEDDLE_PUSH(r->m->arena, r->m->option_set, r->m->n_option_set, set);
	}
}

/* A name of C's, perhaps of a macro with arguments. */
static bool is_macro_name(const char *name)
{
	const char *s = name;
	while (isalnum((unsigned char)*s) || *s == '_')
		s++;
	return s > name && !isdigit((unsigned char)*name) && (!*s || *s == '(');
}

static void read_defines(reader *r, json_t *root)
{
	json_t *defines = json_object_get(root, "defines"), *value;
	const char *name;
	if (defines && !json_is_object(defines))
		bad(r, "`defines` must be an object: names and what they stand for");
	json_object_foreach(defines, name, value) {
		heddle_manifest_define d = {heddle_arena_strdup(r->m->arena, name), ""};
		char buffer[40];
		if (json_is_integer(value))
			d.value = heddle_arena_printf(r->m->arena, "%lld", (long long)json_integer_value(value));
		else if (json_is_real(value))
			d.value = heddle_arena_strdup(r->m->arena, heddle_format_double(json_real_value(value), buffer));
		else if (json_is_string(value))
			d.value = heddle_arena_strdup(r->m->arena, json_string_value(value));
		else
			bad(r, "`defines`: `%s` must stand for text or a number", name);
		if (!is_macro_name(name) || strchr(d.value, '\n'))
			bad(r, "`defines`: `%s` cannot be a macro", name);
		for (const heddle_driver *const *driver = heddle_drivers; *driver; driver++)
			if (strcmp((*driver)->backend, r->m->backend) == 0 && (*driver)->joined_options && strpbrk(d.value, " \t\"'")) {
				bad(r, "`defines`: `%s`: build options of %s take no blanks or quotes; define it in the source", name,
				    r->m->backend);
				break;
			}
		HEDDLE_PUSH(r->m->arena, r->m->define, r->m->n_define, d);
	}
	r->m->include = string_list(r, root, "include_paths", &r->m->n_include);
}

/* Everything that a skeleton left for a person, by its path in the document. */
static void find_unfinished(reader *r, json_t *value, const char *path)
{
	const char *key;
	json_t *part;
	size_t i;
	if (json_is_string(value) && strncmp(json_string_value(value), "TODO", 4) == 0) {
		heddle_error(r->ctx, 786, NULL, "%s: %s is not filled in: %s", r->source->name, path, json_string_value(value));
		r->failed = true;
	}
	if (json_is_object(value))
		json_object_foreach(value, key, part) {
			if (strncmp(key, "TODO", 4) == 0) {
				heddle_error(r->ctx, 786, NULL, "%s: a name in %s is not filled in: %s", r->source->name,
					     *path ? path : "the manifest", key);
				r->failed = true;
			}
			find_unfinished(r, part, heddle_arena_printf(r->m->arena, "%s%s%s", path, *path ? "." : "", key));
		}
	json_array_foreach(value, i, part) {
		const char *name = json_string_value(json_object_get(part, "name"));
		find_unfinished(r, part, name ? heddle_arena_printf(r->m->arena, "%s[%zu] (%s)", path, i, name)
					      : heddle_arena_printf(r->m->arena, "%s[%zu]", path, i));
	}
}

static void read_root(reader *r, json_t *root)
{
	static const char *const keys[] = {"schema", "definition",    "backend", "arch",	    "source",  "config",    "policy",  "proof",
					   "sizes",  "preconditions", "warp",	 "workspace_bytes", "options", "arguments", "launches",
					   "defines", "include_paths", "variants", "notes", NULL};
	heddle_manifest *m = r->m;
	json_t *value, *part;
	size_t i;
	check_keys(r, root, "a manifest", keys);
	if (strcmp(text_of(r, root, "schema", NULL), "heddle.manifest/1") != 0)
		bad(r, "`schema` must be \"heddle.manifest/1\"");
	m->definition = text_of(r, root, "definition", "");
	m->backend = text_of(r, root, "backend", NULL);
	m->arch = text_of(r, root, "arch", "");
	m->source = text_of(r, root, "source", NULL);
	m->config = text_of(r, root, "config", "");
	m->policy = text_of(r, root, "policy", "ieee");
	m->proof = text_of(r, root, "proof", "not proved");
	read_sizes(r, root);
	m->precondition = read_preconditions(r, root, &m->n_precondition);
	part = json_object_get(root, "warp");
	m->warp = part ? (int)integer_of(r, part, "warp", 1, 1024) : 1;
	part = json_object_get(root, "workspace_bytes");
	m->workspace_bytes = part ? formula_of(r, part, "workspace_bytes") : "0";
	read_options(r, root);
	read_defines(r, root);
	int n_note;
	string_list(r, root, "notes", &n_note); /* for people */
	part = json_object_get(root, "arguments");
	if (!json_is_array(part))
		bad(r, "`arguments` must be a list");
	json_array_foreach(part, i, value)
		read_argument(r, value, &m->argument, &m->n_argument);
	if (m->temporaries && json_object_get(root, "workspace_bytes"))
		bad(r, "`workspace_bytes`: give every temporary an offset, or leave both to the reader");
	else if (m->temporaries)
		m->workspace_bytes = m->temporaries;
	read_launches(r, root, &m->launch, &m->n_launch);
	read_variants(r, root);
}

heddle_manifest *heddle_manifest_parse(heddle_ctx *ctx, const char *name, const char *text)
{
	heddle_arena *arena = heddle_arena_new();
	heddle_manifest *m = HEDDLE_NEW(arena, heddle_manifest);
	heddle_source *source = HEDDLE_NEW(heddle_ctx_arena(ctx), heddle_source);
	m->arena = arena;
	m->path = heddle_arena_strdup(arena, name);
	source->name = heddle_arena_strdup(heddle_ctx_arena(ctx), name);
	source->text = heddle_arena_strdup(heddle_ctx_arena(ctx), text);
	source->length = strlen(text);
	json_error_t error;
	json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &error);
	if (!root) {
		heddle_location location = {source, error.line > 0 ? error.line : 1, error.column > 0 ? error.column : 1, 1};
		heddle_error(ctx, 783, &location, "not JSON: %s", error.text);
		return heddle_manifest_free(m);
	}
	reader r = {.ctx = ctx, .m = m, .source = source};
	find_unfinished(&r, root, "");
	if (r.failed)
		heddle_note(ctx, NULL, "fill in each TODO; `heddle manifest --help` says what belongs there");
	else if (json_is_object(root))
		read_root(&r, root);
	else
		bad(&r, "a manifest is a JSON object");
	json_decref(root);
	return r.failed ? heddle_manifest_free(m) : m;
}
