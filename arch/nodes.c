/* YAML nodes of a descriptor: places, strings, lists, keys, and quantities with unit and source.
 * SPDX-License-Identifier: MIT
 */
#include "arch/parse.h"

#include <math.h>
#include <string.h>

/* ---- YAML nodes ------------------------------------------------------------------------------------------------------ */

yaml_node_t *heddle_parse_node(reader *r, int index)
{
	return yaml_document_get_node(&r->document, index);
}

heddle_location heddle_parse_location(const reader *r, const yaml_node_t *node)
{
	heddle_location at = {r->source, (int)node->start_mark.line + 1, (int)node->start_mark.column + 1, 1};
	if (node->end_mark.line == node->start_mark.line && node->end_mark.column > node->start_mark.column)
		at.length = (int)(node->end_mark.column - node->start_mark.column);
	return at;
}

/* NULL when the node is not a scalar. */
const char *heddle_parse_scalar(const yaml_node_t *node)
{
	return node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value : NULL;
}

int heddle_parse_wrong_form(reader *r, const yaml_node_t *node, const char *key, const char *wanted)
{
	heddle_location at = heddle_parse_location(r, node);
	return heddle_error(r->ctx, 405, &at, "`%s` wants %s", key, wanted);
}

const char *heddle_parse_string(reader *r, yaml_node_t *node, const char *key)
{
	const char *s = heddle_parse_scalar(node);
	if (!s || !*s) {
		heddle_parse_wrong_form(r, node, key, "a text");
		return NULL;
	}
	return heddle_arena_strdup(r->arena, s);
}

void heddle_parse_bool(reader *r, yaml_node_t *node, const char *key, bool *out)
{
	const char *s = heddle_parse_scalar(node);
	if (s && !strcmp(s, "true"))
		*out = true;
	else if (s && !strcmp(s, "false"))
		*out = false;
	else
		heddle_parse_wrong_form(r, node, key, "true or false");
}

const char **heddle_parse_strings(reader *r, yaml_node_t *node, const char *key, int *n)
{
	const char **list = NULL;
	*n = 0;
	if (node->type != YAML_SEQUENCE_NODE) {
		heddle_parse_wrong_form(r, node, key, "a list: [a, b]");
		return NULL;
	}
	for (yaml_node_item_t *item = node->data.sequence.items.start; item < node->data.sequence.items.top; item++) {
		const char *s = heddle_parse_string(r, heddle_parse_node(r, *item), key);
		if (s)
			HEDDLE_PUSH(r->arena, list, *n, s);
	}
	int n_ended = *n;
	HEDDLE_PUSH(r->arena, list, n_ended, NULL);
	return list;
}

void heddle_parse_unknown_key(reader *r, const yaml_node_t *node, const char *key, const char *const *known, int n)
{
	heddle_location at = heddle_parse_location(r, node);
	const char *nearest = heddle_nearest(key, known, n);
	heddle_error(r->ctx, 403, &at, "unknown key `%s`", key);
	if (nearest) {
		heddle_fixit(r->ctx, "%s", nearest);
		heddle_note(r->ctx, NULL, "did you mean `%s`?", nearest);
		return;
	}
	heddle_text list = {0};
	for (int i = 0; i < n; i++)
		heddle_text_printf(&list, "%s%s", i ? ", " : "", known[i]);
	heddle_note(r->ctx, NULL, "keys here are: %s", heddle_text_str(&list));
	heddle_text_free(&list);
}

/* The key of a pair as text, checked to be a scalar that did not stand earlier in the same mapping. */
const char *heddle_parse_key(reader *r, const yaml_node_t *map, const yaml_node_pair_t *pair)
{
	yaml_node_t *node = heddle_parse_node(r, pair->key);
	const char *key = heddle_parse_scalar(node);
	if (!key) {
		heddle_parse_wrong_form(r, node, "key", "a text");
		return NULL;
	}
	for (const yaml_node_pair_t *p = map->data.mapping.pairs.start; p < pair; p++) {
		const char *earlier = heddle_parse_scalar(heddle_parse_node(r, p->key));
		if (earlier && !strcmp(earlier, key)) {
			heddle_location at = heddle_parse_location(r, node), before = heddle_parse_location(r, heddle_parse_node(r, p->key));
			heddle_error(r->ctx, 404, &at, "`%s` is given twice", key);
			heddle_note(r->ctx, &before, "first given here");
			return NULL;
		}
	}
	return key;
}

/* The value of `key` in a mapping, NULL if it is not there. */
yaml_node_t *heddle_parse_lookup(reader *r, const yaml_node_t *map, const char *key)
{
	for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top; p++) {
		const char *s = heddle_parse_scalar(heddle_parse_node(r, p->key));
		if (s && !strcmp(s, key))
			return heddle_parse_node(r, p->value);
	}
	return NULL;
}

/* ---- quantities ------------------------------------------------------------------------------------------------------ */

/* A decimal number whatever the locale; false when `s` is anything else. */
bool heddle_parse_number(const char *s, double *value)
{
	bool negative = *s == '-';
	long double mantissa = 0;
	int exponent = 0, digits = 0;
	if (*s == '-' || *s == '+')
		s++;
	for (; *s >= '0' && *s <= '9'; s++, digits++)
		mantissa = mantissa * 10 + (*s - '0');
	if (*s == '.')
		for (s++; *s >= '0' && *s <= '9'; s++, digits++, exponent--)
			mantissa = mantissa * 10 + (*s - '0');
	if (!digits)
		return false;
	if (*s == 'e' || *s == 'E') {
		int given = 0, sign = s[1] == '-' ? -1 : 1;
		s += 1 + (s[1] == '-' || s[1] == '+');
		if (*s < '0' || *s > '9')
			return false;
		for (; *s >= '0' && *s <= '9'; s++)
			given = given > 9999 ? given : given * 10 + (*s - '0');
		exponent += sign * given;
	}
	if (*s)
		return false;
	long double result = exponent < 0 ? mantissa / powl(10, -exponent) : mantissa * powl(10, exponent);
	*value = (double)(negative ? -result : result);
	return true;
}

static void check_value(reader *r, const field *f, const heddle_quantity *q, const heddle_location *at)
{
	double v = q->value;
	if (v <= 0)
		heddle_error(r->ctx, 408, at, "`%s` must be more than 0", f->key);
	else if (!(v <= f->maximum))
		heddle_error(r->ctx, 408, at, "`%s` is impossibly great: is the unit right?", f->key);
	else if ((f->rules & FIELD_WHOLE) && v != floor(v))
		heddle_error(r->ctx, 408, at, "`%s` must be a whole number of %s", f->key,
			     f->dimension == DIMENSION_BYTES ? "bytes" : "things");
	else if ((f->rules & FIELD_POWER_OF_TWO) && ((uint64_t)v & ((uint64_t)v - 1)))
		heddle_error(r->ctx, 408, at, "`%s` must be a power of two", f->key);
}

static const unit *read_unit(reader *r, yaml_node_t *map, const field *f)
{
	yaml_node_t *node = heddle_parse_lookup(r, map, "unit");
	heddle_text list = {0};
	const unit *u = NULL;
	heddle_unit_list(f->dimension, &list);
	if (!node) {
		heddle_location at = heddle_parse_location(r, map);
		heddle_error(r->ctx, 406, &at, "`%s` has no unit", f->key);
		heddle_note(r->ctx, NULL, "it is %s: %s", heddle_dimension_name(f->dimension), heddle_text_str(&list));
	} else if (!heddle_parse_scalar(node)) {
		heddle_parse_wrong_form(r, node, "unit", "a text");
	} else {
		u = heddle_unit_find(heddle_parse_scalar(node));
		if (!u || u->dimension != f->dimension) {
			heddle_location at = heddle_parse_location(r, node);
			if (u)
				heddle_error(r->ctx, 407, &at, "`%s` is %s, and %s is the unit of %s", f->key,
					     heddle_dimension_name(f->dimension), u->name, heddle_dimension_name(u->dimension));
			else
				heddle_error(r->ctx, 407, &at, "unknown unit `%s`", heddle_parse_scalar(node));
			heddle_note(r->ctx, NULL, "`%s` takes: %s", f->key, heddle_text_str(&list));
			u = NULL;
		}
	}
	heddle_text_free(&list);
	return u;
}

static void read_source(reader *r, yaml_node_t *map, const field *f, heddle_quantity *q)
{
	yaml_node_t *source = heddle_parse_lookup(r, map, "source"), *assumed = heddle_parse_lookup(r, map, "assumed");
	if (assumed)
		heddle_parse_bool(r, assumed, "assumed", &q->assumed);
	if (source)
		q->source = heddle_parse_string(r, source, "source");
	if (!source && !q->assumed) {
		heddle_location at = heddle_parse_location(r, map);
		heddle_error(r->ctx, 409, &at, "`%s` has no source", f->key);
		heddle_note(r->ctx, NULL, "say where the number was read, source: \"...\", or that it is a guess, assumed: true");
	}
}

/* `{ value: 227, unit: KiB, source: "..." }` into *out; *at becomes its place. */
void heddle_parse_quantity(reader *r, yaml_node_t *map, const field *f, heddle_quantity *out, heddle_location *at)
{
	static const char *const keys[] = {"value", "unit", "source", "assumed"};
	heddle_quantity q = {.set = true, .from = r->d->name};
	double number;
	*at = heddle_parse_location(r, map);
	if (map->type != YAML_MAPPING_NODE) {
		if (heddle_parse_scalar(map) && heddle_parse_number(heddle_parse_scalar(map), &number)) {
			heddle_error(r->ctx, 406, at, "`%s` has no unit", f->key);
			heddle_note(r->ctx, NULL, "write %s: %s", f->key, QUANTITY_FORM);
		} else {
			heddle_parse_wrong_form(r, map, f->key, QUANTITY_FORM);
		}
		return;
	}
	int errors = heddle_error_count(r->ctx);
	for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top; p++) {
		const char *key = heddle_parse_key(r, map, p);
		bool known = false;
		for (size_t i = 0; key && i < HEDDLE_COUNT(keys); i++)
			known |= !strcmp(key, keys[i]);
		if (key && !known)
			heddle_parse_unknown_key(r, heddle_parse_node(r, p->key), key, keys, (int)HEDDLE_COUNT(keys));
	}
	yaml_node_t *value = heddle_parse_lookup(r, map, "value");
	const unit *u = read_unit(r, map, f);
	read_source(r, map, f, &q);
	if (!value || !heddle_parse_scalar(value) || !heddle_parse_number(heddle_parse_scalar(value), &number)) {
		heddle_parse_wrong_form(r, value ? value : map, f->key, value ? "a number as its value" : QUANTITY_FORM);
		return;
	}
	if (heddle_error_count(r->ctx) != errors)
		return;
	*at = heddle_parse_location(r, value);
	q.value = number * u->factor;
	if ((f->rules & FIELD_WHOLE) && fabs(q.value - nearbyint(q.value)) < 1e-9 * fabs(q.value))
		q.value = nearbyint(q.value);
	q.unit = u->name;
	check_value(r, f, &q, at);
	*out = q;
}
