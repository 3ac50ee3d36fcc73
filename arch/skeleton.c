/* What the tables of fields say to people: the beginning of a new descriptor, and the reference of all fields.
 * SPDX-License-Identifier: MIT
 */
#include "arch/reader.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

void heddle_quantity_show(double value, const char *base_unit, heddle_text *out)
{
	const unit *base = heddle_unit_find(base_unit), *best = base;
	char number[40];
	for (const unit *u = heddle_units; base && u->name; u++) {
		double there = value / u->factor;
		if (u->dimension != base->dimension)
			continue;
		bool binary = strchr(u->name, 'i') != NULL; /* KiB only where it comes out whole */
		if (there >= 1 && u->factor >= best->factor && (!binary || there == floor(there)))
			best = u;
		if (best->factor > value && u->factor < best->factor)
			best = u;
	}
	double shown = best ? value / best->factor : value;
	snprintf(number, sizeof(number), "%.6g", shown);
	heddle_text_printf(out, "%s%s%s", shown == floor(shown) && fabs(shown) < 1e15 ? heddle_format_double(shown, number) : number,
			   best && best->dimension != DIMENSION_COUNT ? " " : "", best && best->dimension != DIMENSION_COUNT ? best->name : "");
}

/* ---- a new descriptor --------------------------------------------------------------------------------------------------------- */

static const char *first_unit(unit_dimension dimension)
{
	static const char *const usual[] = {[DIMENSION_COUNT] = "count",  [DIMENSION_BYTES] = "KiB",
					    [DIMENSION_HERTZ] = "MHz",	  [DIMENSION_BYTES_PER_SECOND] = "GB/s",
					    [DIMENSION_SECONDS] = "ns", [DIMENSION_FLOPS] = "TFLOP/s"};
	return usual[dimension];
}

/* One field: its meaning, then what it is now, all of it a comment. */
static void add_field(const field *f, const heddle_quantity *q, const char *indent, heddle_text *out)
{
	char number[40];
	heddle_text list = {0};
	heddle_unit_list(f->dimension, &list);
	heddle_text_printf(out, "#%s # %s (%s)%s\n", indent, f->meaning, heddle_text_str(&list), q->set ? "" : "; unset");
	heddle_text_free(&list);
	if (!q->set) {
		heddle_text_printf(out, "#%s %s: { value: , unit: %s, source: \"\" }\n", indent, f->key, first_unit(f->dimension));
		return;
	}
	heddle_text_printf(out, "#%s %s: { value: %s, unit: %s, source: \"\" }  # %s: %s%s%s\n", indent, f->key,
			   heddle_format_double(q->value / heddle_unit_find(q->unit)->factor, number), q->unit, q->from ? q->from : "?",
			   q->assumed ? "assumed" : "", q->assumed && q->source ? ", " : "", q->source ? q->source : "");
}

static const char *text_of(const heddle_descriptor *d, const char *key)
{
	if (!strcmp(key, "backend"))
		return d->backend ? d->backend : "";
	if (!strcmp(key, "compile_arch"))
		return d->compile_arch && *d->compile_arch ? d->compile_arch : "\"\"";
	if (!strcmp(key, "execution"))
		return d->execution == HEDDLE_SIMD ? "simd" : "simt";
	if (!strcmp(key, "unaligned_vectors"))
		return d->unaligned_vectors ? "true" : "false";
	if (!strcmp(key, "streaming_stores"))
		return d->streaming_stores ? "true" : "false";
	if (!strcmp(key, "prefetches"))
		return d->prefetches ? "true" : "false";
	if (!strcmp(key, "shuffles"))
		return d->shuffles ? "true" : "false";
	if (!strcmp(key, "float64"))
		return d->float64 ? "true" : "false";
	if (!strcmp(key, "compiler"))
		return d->compiler.n ? "[...]" : "[mycc, \"{source}\", -o, \"{output}\", \"{options}\"]";
	if (!strcmp(key, "runner"))
		return d->runner.n ? "[...]" : "[ssh, HOST, heddle, serve-run]";
	if (!strcmp(key, "runner_mode"))
		return d->runner_lines || !d->runner.n ? "lines" : "folder";
	return NULL;
}

void heddle_descriptor_begin(const heddle_descriptor *d, const char *name, heddle_text *out)
{
	heddle_text_printf(out,
			   "# %s: a descriptor that starts from %s.  Save it as %s.yaml in a folder that --path or HEDDLE_PATH names.\n"
			   "# Take the comment sign from what differs, and name the source of each figure (document and section), or\n"
			   "# say `assumed: true`.  Then: heddle arch validate %s.yaml\n"
			   "# SPDX-License-Identifier: MIT\nname: %s\ninherits: %s\ntitle: %s\n",
			   name, d->name, name, name, name, d->name, name);
	for (const plain_field *f = heddle_plain_fields; f->key; f++) {
		const char *value = text_of(d, f->key);
		if (value)
			heddle_text_printf(out, "# # %s (%s)\n# %s: %s\n", f->meaning, f->form, f->key, value);
	}
	heddle_text_add(out, "# # other names of the chip\n# aliases: []\n# # macros of its compilers\n# defines: [");
	for (int i = 0; i < d->n_define; i++)
		heddle_text_printf(out, "%s\"%s\"", i ? ", " : "", d->define[i]);
	heddle_text_add(out, "]\n");
	for (const field *f = heddle_descriptor_fields; f->key; f++)
		add_field(f, FIELD_OF_CONST(d, f), "", out);
	heddle_text_add(out, "# memory:\n");
	for (const char *const *level = heddle_memory_names; *level; level++) {
		const heddle_memory none = {0}, *m = heddle_descriptor_memory(d, *level);
		heddle_text_printf(out, "#   %s:%s\n#     scope: %s\n", *level, m ? "" : "  # unset", m && m->scope ? m->scope : "");
		for (const field *f = heddle_memory_fields; f->key; f++)
			add_field(f, FIELD_OF_CONST(m ? m : &none, f), "    ", out);
	}
	heddle_text_add(out, "# # peak arithmetic rate, a fused multiply-add counted as two\n# rates:\n");
	const field rate = {"", 0, DIMENSION_FLOPS, 0, 0, "arithmetic in this type"};
	for (int i = 0; i < d->n_rate; i++) {
		field f = rate;
		f.key = heddle_type_name(d->rate[i].type);
		add_field(&f, &d->rate[i].flops, "  ", out);
	}
	if (!d->n_rate)
		heddle_text_add(out, "#   float32: { value: , unit: TFLOP/s, source: \"\" }\n");
}

/* ---- the reference -------------------------------------------------------------------------------------------------------------- */

static const char *const dimensions[] = {[DIMENSION_COUNT] = "count",	  [DIMENSION_BYTES] = "memory",
					 [DIMENSION_HERTZ] = "frequency", [DIMENSION_BYTES_PER_SECOND] = "bandwidth",
					 [DIMENSION_SECONDS] = "time",	  [DIMENSION_FLOPS] = "arithmetic rate"};

static void reference_row(const field *f, heddle_text *out)
{
	heddle_text_printf(out, "| `%s` | %s%s%s | %s |\n", f->key, dimensions[f->dimension], f->rules & FIELD_POWER_OF_TWO ? ", a power of two" : "",
			   f->rules & FIELD_REQUIRED ? ", required" : "", f->meaning);
}

void heddle_descriptor_reference(heddle_text *out)
{
	heddle_text_add(out, "| key | form | meaning |\n|---|---|---|\n");
	for (const plain_field *f = heddle_plain_fields; f->key; f++)
		heddle_text_printf(out, "| `%s` | %s | %s |\n", f->key, f->form, f->meaning);
	for (const field *f = heddle_descriptor_fields; f->key; f++)
		reference_row(f, out);
	heddle_text_add(out, "\nOf each level of `memory`:\n\n| key | form | meaning |\n|---|---|---|\n"
			     "| `scope` | thread, block, unit or device | what one instance serves |\n");
	for (const field *f = heddle_memory_fields; f->key; f++)
		reference_row(f, out);
	heddle_text_add(out, "\nUnits:");
	for (int d = DIMENSION_COUNT; d <= DIMENSION_FLOPS; d++) {
		heddle_text list = {0};
		heddle_unit_list((unit_dimension)d, &list);
		heddle_text_printf(out, "%s `%s`", d ? " ·" : "", heddle_text_str(&list));
		heddle_text_free(&list);
	}
	heddle_text_add(out, "\n");
}

static const char *base_unit(unit_dimension dimension)
{
	const unit *u = heddle_units;
	while (u->dimension != dimension || u->factor != 1)
		u++;
	return u->name;
}

/* A field's greatest value is in the base unit. */
static json_t *fields_json(const field *f)
{
	json_t *list = json_array();
	for (; f->key; f++)
		json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:b, s:b, s:b, s:f, s:s}", "key", f->key, "form", dimensions[f->dimension], "unit",
						      base_unit(f->dimension), "required", (f->rules & FIELD_REQUIRED) != 0, "whole",
						      (f->rules & FIELD_WHOLE) != 0, "power_of_two", (f->rules & FIELD_POWER_OF_TWO) != 0, "most",
						      f->maximum, "meaning", f->meaning));
	return list;
}

json_t *heddle_descriptor_reference_json(void)
{
	json_t *plain = json_array(), *units = json_object();
	for (const plain_field *f = heddle_plain_fields; f->key; f++)
		json_array_append_new(plain, json_pack("{s:s, s:s, s:s}", "key", f->key, "form", f->form, "meaning", f->meaning));
	for (const unit *u = heddle_units; u->name; u++)
		json_object_set_new(units, u->name, json_pack("{s:s, s:f}", "form", dimensions[u->dimension], "factor", u->factor));
	return json_pack("{s:o, s:o, s:o, s:o}", "plain", plain, "quantities", fields_json(heddle_descriptor_fields), "memory",
			 fields_json(heddle_memory_fields), "units", units);
}
