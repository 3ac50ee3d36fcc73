/* What a descriptor says, for programs (JSON) and for readers (a table), and questions that the cost model asks it.
 * SPDX-License-Identifier: MIT
 */
#include "arch/reader.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

int64_t heddle_descriptor_grid_limit(const heddle_descriptor *descriptor)
{
	const heddle_quantity *limit = &descriptor->grid_limit;
	return limit->set && limit->value < (double)INT32_MAX ? (int64_t)limit->value : INT32_MAX;
}

const heddle_copy *heddle_descriptor_copy(const heddle_descriptor *descriptor, const char *name)
{
	for (int i = 0; i < descriptor->n_copy; i++)
		if (!strcmp(descriptor->copy[i].name, name))
			return &descriptor->copy[i];
	return NULL;
}

const heddle_memory *heddle_descriptor_memory(const heddle_descriptor *descriptor, const char *name)
{
	for (int i = 0; i < descriptor->n_memory; i++)
		if (!strcmp(descriptor->memory[i].name, name))
			return &descriptor->memory[i];
	return NULL;
}

heddle_transfer heddle_descriptor_transfer(const heddle_descriptor *descriptor)
{
	const heddle_memory none = {0}, *global = heddle_descriptor_memory(descriptor, "global"), *shared = heddle_descriptor_memory(descriptor, "shared"),
			    *l1 = heddle_descriptor_memory(descriptor, "l1");
	global = global ? global : &none;
	shared = shared ? shared : &none;
	return (heddle_transfer){.sector = global->sector.set ? (int)global->sector.value : 32,
				 .line = l1 && l1->line.set ? (int)l1->line.value : 128,
				 .ways = l1 && l1->ways.set ? (int)l1->ways.value : 0,
				 .way = l1 && l1->ways.set ? (int)(l1->size.value / l1->ways.value) : 0,
				 .lines = descriptor->issue.line.set ? descriptor->issue.line.value : INFINITY,
				 .cache_banks = l1 && l1->banks.set ? (int)l1->banks.value : 0,
				 .banks = shared->banks.set ? (int)shared->banks.value : 32,
				 .bank_width = shared->bank_width.set ? (int)shared->bank_width.value : 4,
				 .streams = descriptor->prefetch_streams.set ? (int)descriptor->prefetch_streams.value : 0};
}

double heddle_descriptor_rate(const heddle_descriptor *descriptor, heddle_type type)
{
	double float32 = 0;
	for (int i = 0; i < descriptor->n_rate; i++) {
		if (descriptor->rate[i].type == type)
			return descriptor->rate[i].flops.value;
		if (descriptor->rate[i].type == HEDDLE_FLOAT32)
			float32 = descriptor->rate[i].flops.value;
	}
	return float32;
}

/* ---- JSON -------------------------------------------------------------------------------------------------------------- */

static const char *base_unit(unit_dimension dimension)
{
	for (const unit *u = heddle_units; u->name; u++)
		if (u->dimension == dimension && u->factor == 1)
			return u->name;
	return "";
}

/* A number in JSON: whole ones without a fraction. */
static json_t *number_json(double v)
{
	if (v < 9e15 && v == (double)(int64_t)v)
		return json_integer((json_int_t)v);
	return json_real(v);
}

static void set_text(json_t *object, const char *key, const char *s)
{
	if (s)
		json_object_set_new(object, key, json_string(s));
}

static void set_quantity(json_t *object, const char *key, unit_dimension dimension, const heddle_quantity *q)
{
	if (!q->set)
		return;
	json_t *j = json_object();
	json_object_set_new(j, "value", number_json(q->value));
	set_text(j, "unit", base_unit(dimension));
	set_text(j, "source", q->source);
	if (q->assumed)
		json_object_set_new(j, "assumed", json_true());
	set_text(j, "from", q->from);
	json_object_set_new(object, key, j);
}

static json_t *strings_json(const char *const *s, int n)
{
	json_t *list = json_array();
	for (int i = 0; i < n; i++)
		json_array_append_new(list, json_string(s[i]));
	return list;
}

static json_t *memory_json(const heddle_memory *m)
{
	json_t *j = json_object();
	set_text(j, "scope", m->scope);
	for (const field *f = heddle_memory_fields; f->key; f++)
		set_quantity(j, f->key, f->dimension, FIELD_OF_CONST(m, f));
	return j;
}

static json_t *matrix_json(const heddle_matrix_instruction *x)
{
	json_t *j = json_object();
	set_text(j, "name", x->name);
	json_object_set_new(j, "m", json_integer(x->m));
	json_object_set_new(j, "n", json_integer(x->n));
	json_object_set_new(j, "k", json_integer(x->k));
	json_object_set_new(j, "lanes", json_integer(x->lanes));
	set_text(j, "a", heddle_type_name(x->a));
	set_text(j, "b", heddle_type_name(x->b));
	set_text(j, "c", heddle_type_name(x->c));
	set_quantity(j, "rate", DIMENSION_FLOPS, &x->flops);
	return j;
}

static json_t *copy_json(const heddle_copy *x)
{
	json_t *j = json_object();
	set_text(j, "name", x->name);
	set_text(j, "from", x->from);
	set_text(j, "to", x->to);
	json_object_set_new(j, "dimensions", json_integer(x->dimensions));
	set_quantity(j, "alignment", DIMENSION_BYTES, &x->alignment);
	set_quantity(j, "granularity", DIMENSION_BYTES, &x->granularity);
	json_object_set_new(j, "preferred", json_boolean(x->preferred));
	return j;
}

json_t *heddle_descriptor_json(const heddle_descriptor *d)
{
	json_t *j = json_object(), *part;
	set_text(j, "name", d->name);
	set_text(j, "title", d->title);
	set_text(j, "inherits", d->inherits);
	json_object_set_new(j, "aliases", strings_json(d->alias, d->n_alias));
	if (d->abstract)
		json_object_set_new(j, "abstract", json_true());
	set_text(j, "backend", d->backend);
	set_text(j, "compile_arch", d->compile_arch);
	json_object_set_new(j, "defines", strings_json(d->define, d->n_define));
	set_text(j, "execution", d->execution == HEDDLE_SIMD ? "simd" : "simt");
	json_object_set_new(j, "unaligned_vectors", json_boolean(d->unaligned_vectors));
	json_object_set_new(j, "streaming_stores", json_boolean(d->streaming_stores));
	json_object_set_new(j, "prefetches", json_boolean(d->prefetches));
	json_object_set_new(j, "shuffles", json_boolean(d->shuffles));
	json_object_set_new(j, "float64", json_boolean(d->float64));
	for (const field *f = heddle_descriptor_fields; f->key; f++)
		set_quantity(j, f->key, f->dimension, FIELD_OF_CONST(d, f));
	json_object_set_new(j, "memory", part = json_object());
	for (int i = 0; i < d->n_memory; i++)
		json_object_set_new(part, d->memory[i].name, memory_json(&d->memory[i]));
	json_object_set_new(j, "rates", part = json_object());
	for (int i = 0; i < d->n_rate; i++)
		set_quantity(part, heddle_type_name(d->rate[i].type), DIMENSION_FLOPS, &d->rate[i].flops);
	json_object_set_new(j, "matrix", part = json_array());
	for (int i = 0; i < d->n_matrix; i++)
		json_array_append_new(part, matrix_json(&d->matrix[i]));
	json_object_set_new(j, "copies", part = json_array());
	for (int i = 0; i < d->n_copy; i++)
		json_array_append_new(part, copy_json(&d->copy[i]));
	if (d->compiler.argv)
		json_object_set_new(j, "compiler", strings_json(d->compiler.argv, d->compiler.n));
	if (d->runner.argv)
		json_object_set_new(j, "runner", strings_json(d->runner.argv, d->runner.n));
	if (d->runner_lines)
		set_text(j, "runner_mode", "lines");
	set_text(j, "file", d->path);
	return j;
}

/* ---- table --------------------------------------------------------------------------------------------------------------- */

static void show_text(heddle_text *out, const char *key, const char *value)
{
	if (value && *value)
		heddle_text_printf(out, "%-26s %s\n", key, value);
}

static void show_bool(heddle_text *out, const char *key, bool value)
{
	show_text(out, key, value ? "yes" : "no");
}

static void show_quantity(heddle_text *out, const char *prefix, const char *key, const heddle_quantity *q)
{
	char name[80], value[80], buffer[40];
	if (!q->set)
		return;
	const unit *u = heddle_unit_find(q->unit);
	bool counted = u->dimension == DIMENSION_COUNT;
	snprintf(name, sizeof(name), "%s%s", prefix, key);
	snprintf(value, sizeof(value), "%s%s%s", heddle_format_double(q->value / u->factor, buffer), counted ? "" : " ",
		 counted ? "" : u->name);
	heddle_text_printf(out, "%-26s %-14s %s%s%s%s%s\n", name, value, q->assumed ? "assumed" : "",
			   q->assumed && q->source ? ": " : "", q->source ? q->source : "", q->from ? " -- " : "",
			   q->from ? q->from : "");
}

static void show_list(heddle_text *out, const char *key, const char *const *s, int n)
{
	if (!n)
		return;
	heddle_text_printf(out, "%-26s", key);
	for (int i = 0; i < n; i++)
		heddle_text_printf(out, " %s", s[i]);
	heddle_text_add(out, "\n");
}

void heddle_descriptor_show(const heddle_descriptor *d, heddle_text *out)
{
	heddle_text_printf(out, "%s: %s%s\n", d->name, d->title, d->abstract ? " (abstract)" : "");
	show_text(out, "inherits", d->inherits);
	show_list(out, "aliases", d->alias, d->n_alias);
	show_text(out, "backend", d->backend);
	show_text(out, "compile_arch", d->compile_arch);
	show_list(out, "defines", d->define, d->n_define);
	show_text(out, "execution", d->execution == HEDDLE_SIMD ? "simd" : "simt");
	show_bool(out, "unaligned_vectors", d->unaligned_vectors);
	show_bool(out, "streaming_stores", d->streaming_stores);
	show_bool(out, "prefetches", d->prefetches);
	show_bool(out, "shuffles", d->shuffles);
	show_bool(out, "float64", d->float64);
	for (const field *f = heddle_descriptor_fields; f->key; f++)
		show_quantity(out, "", f->key, FIELD_OF_CONST(d, f));
	for (int i = 0; i < d->n_memory; i++) {
		char prefix[40];
		snprintf(prefix, sizeof(prefix), "memory.%s.", d->memory[i].name);
		for (const field *f = heddle_memory_fields; f->key; f++)
			show_quantity(out, prefix, f->key, FIELD_OF_CONST(&d->memory[i], f));
	}
	for (int i = 0; i < d->n_rate; i++)
		show_quantity(out, "rates.", heddle_type_name(d->rate[i].type), &d->rate[i].flops);
	for (int i = 0; i < d->n_matrix; i++) {
		const heddle_matrix_instruction *x = &d->matrix[i];
		heddle_text_printf(out, "matrix.%s: %dx%dx%d over %d lanes, %s x %s -> %s\n", x->name, x->m, x->n, x->k, x->lanes,
				   heddle_type_name(x->a), heddle_type_name(x->b), heddle_type_name(x->c));
		show_quantity(out, "matrix.", "rate", &x->flops);
	}
	for (int i = 0; i < d->n_copy; i++) {
		const heddle_copy *x = &d->copy[i];
		heddle_text_printf(out, "copies.%s: %s to %s, %d dimension%s%s\n", x->name, x->from, x->to, x->dimensions,
				   x->dimensions > 1 ? "s" : "", x->preferred ? ", preferred" : "");
		show_quantity(out, "copies.", "alignment", &x->alignment);
		show_quantity(out, "copies.", "granularity", &x->granularity);
	}
	show_list(out, "compiler", d->compiler.argv, d->compiler.n);
	show_list(out, "runner", d->runner.argv, d->runner.n);
	show_text(out, "runner_mode", d->runner_lines ? "lines" : "");
	show_text(out, "file", d->path);
}
