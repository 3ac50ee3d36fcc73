/* Parts of a descriptor with keys of their own: memory levels, rates, matrix instructions, copies.
 * SPDX-License-Identifier: MIT
 */
#include "arch/parse.h"

#include <math.h>
#include <string.h>

/* ---- memory levels, rates, matrix instructions ----------------------------------------------------------------------- */

static int position_in(const char *const *list, const char *name)
{
	for (int i = 0; list[i]; i++)
		if (!strcmp(list[i], name))
			return i;
	return -1;
}

static int length_of(const char *const *list)
{
	int n = 0;
	while (list[n])
		n++;
	return n;
}

/* The level called `name`, made in its place of the order from register outward when it is not there yet. */
static heddle_memory *memory_level(reader *r, const char *name)
{
	heddle_descriptor *d = r->d;
	int rank = position_in(heddle_memory_names, name), at = 0;
	while (at < d->n_memory && position_in(heddle_memory_names, d->memory[at].name) < rank)
		at++;
	if (at < d->n_memory && !strcmp(d->memory[at].name, name))
		return &d->memory[at];
	heddle_memory *more = HEDDLE_NEW_ARRAY(r->arena, heddle_memory, d->n_memory + 1);
	for (int i = 0; i < d->n_memory; i++)
		more[i + (i >= at)] = d->memory[i];
	more[at] = (heddle_memory){.name = heddle_memory_names[rank]};
	d->memory = more;
	d->n_memory++;
	return &more[at];
}

static void read_memory_key(reader *r, heddle_memory *m, yaml_node_t *key_node, yaml_node_t *value, const char *key)
{
	const char *known[16];
	int n = 0;
	for (const field *f = heddle_memory_fields; f->key; f++) {
		heddle_location at;
		known[n++] = f->key;
		if (!strcmp(f->key, key)) {
			heddle_parse_quantity(r, value, f, FIELD_OF(m, f), &at);
			return;
		}
	}
	known[n++] = "scope";
	if (strcmp(key, "scope")) {
		heddle_parse_unknown_key(r, key_node, key, known, n);
		return;
	}
	const char *scope = heddle_parse_string(r, value, key);
	if (scope && position_in(heddle_memory_scopes, scope) < 0)
		heddle_parse_wrong_form(r, value, key, "thread, block, unit or device");
	else if (scope)
		m->scope = scope;
}

void heddle_parse_memory(reader *r, yaml_node_t *map)
{
	if (map->type != YAML_MAPPING_NODE) {
		heddle_parse_wrong_form(r, map, "memory", "levels: { shared: {...}, global: {...} }");
		return;
	}
	for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top; p++) {
		const char *name = heddle_parse_key(r, map, p);
		yaml_node_t *level = heddle_parse_node(r, p->value);
		if (!name)
			continue;
		if (position_in(heddle_memory_names, name) < 0) {
			heddle_parse_unknown_key(r, heddle_parse_node(r, p->key), name, heddle_memory_names, length_of(heddle_memory_names));
			continue;
		}
		if (level->type != YAML_MAPPING_NODE) {
			heddle_parse_wrong_form(r, level, name, "a mapping: { size: {...}, line: {...} }");
			continue;
		}
		heddle_memory *m = memory_level(r, name);
		for (yaml_node_pair_t *q = level->data.mapping.pairs.start; q < level->data.mapping.pairs.top; q++) {
			const char *key = heddle_parse_key(r, level, q);
			if (key)
				read_memory_key(r, m, heddle_parse_node(r, q->key), heddle_parse_node(r, q->value), key);
		}
		if (m->line.set && m->sector.set && m->sector.value > m->line.value) {
			heddle_location at = heddle_parse_location(r, level);
			heddle_error(r->ctx, 408, &at, "a sector of %s is greater than its line", name);
		}
	}
}

static const field rate_field = {"rate", 0, DIMENSION_FLOPS, 0, 1e20, "of the chip"};

void heddle_parse_rates(reader *r, yaml_node_t *map)
{
	heddle_descriptor *d = r->d;
	if (map->type != YAML_MAPPING_NODE) {
		heddle_parse_wrong_form(r, map, "rates", "a mapping from types: { float32: {...} }");
		return;
	}
	for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top; p++) {
		const char *name = heddle_parse_key(r, map, p);
		heddle_type_rate rate = {0};
		heddle_location at;
		int type = name ? heddle_type_parse(name) : -1, i = 0;
		if (!name)
			continue;
		if (type < 0) {
			heddle_parse_wrong_form(r, heddle_parse_node(r, p->key), "rates", "names of types: float16, float32, ...");
			continue;
		}
		rate.type = (heddle_type)type;
		heddle_parse_quantity(r, heddle_parse_node(r, p->value), &rate_field, &rate.flops, &at);
		while (i < d->n_rate && d->rate[i].type != rate.type)
			i++;
		if (i < d->n_rate)
			d->rate[i] = rate;
		else
			HEDDLE_PUSH(r->arena, d->rate, d->n_rate, rate);
	}
}

static void read_small_int(reader *r, yaml_node_t *node, const char *key, int *out)
{
	double v;
	if (!heddle_parse_scalar(node) || !heddle_parse_number(heddle_parse_scalar(node), &v) || v < 1 || v > 65536 || v != floor(v))
		heddle_parse_wrong_form(r, node, key, "a whole number from 1");
	else
		*out = (int)v;
}

static void read_type(reader *r, yaml_node_t *node, const char *key, heddle_type *out)
{
	int type = heddle_parse_scalar(node) ? heddle_type_parse(heddle_parse_scalar(node)) : -1;
	if (type < 0)
		heddle_parse_wrong_form(r, node, key, "a type: float16, bfloat16, float32, ...");
	else
		*out = (heddle_type)type;
}

static void read_matrix_instruction(reader *r, yaml_node_t *map, heddle_matrix_instruction *x)
{
	static const char *const keys[] = {"name", "m", "n", "k", "lanes", "a", "b", "c", "rate"};
	enum { NAME, M, N, K, LANES, A, B, C, RATE };
	heddle_location at;
	unsigned seen = 0;
	for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top; p++) {
		const char *key = heddle_parse_key(r, map, p);
		yaml_node_t *v = heddle_parse_node(r, p->value);
		int i = 0;
		if (!key)
			continue;
		while (i <= RATE && strcmp(key, keys[i]))
			i++;
		seen |= 1u << i;
		switch (i) {
		case NAME:
			x->name = heddle_parse_string(r, v, key);
			break;
		case M:
			read_small_int(r, v, key, &x->m);
			break;
		case N:
			read_small_int(r, v, key, &x->n);
			break;
		case K:
			read_small_int(r, v, key, &x->k);
			break;
		case LANES:
			read_small_int(r, v, key, &x->lanes);
			break;
		case A:
			read_type(r, v, key, &x->a);
			break;
		case B:
			read_type(r, v, key, &x->b);
			break;
		case C:
			read_type(r, v, key, &x->c);
			break;
		case RATE:
			heddle_parse_quantity(r, v, &rate_field, &x->flops, &at);
			break;
		default:
			heddle_parse_unknown_key(r, heddle_parse_node(r, p->key), key, keys, (int)HEDDLE_COUNT(keys));
		}
	}
	at = heddle_parse_location(r, map);
	for (int i = NAME; i < RATE; i++)
		if (!(seen & 1u << i))
			heddle_error(r->ctx, 413, &at, "a matrix instruction without `%s`", keys[i]);
}

/* Stands for the inherited one of the same name, if there is one. */
void heddle_parse_add_matrix(reader *r, yaml_node_t *map)
{
	heddle_descriptor *d = r->d;
	heddle_matrix_instruction x = {0};
	int i = 0;
	read_matrix_instruction(r, map, &x);
	while (x.name && i < d->n_matrix && strcmp(d->matrix[i].name, x.name))
		i++;
	if (x.name && i < d->n_matrix)
		d->matrix[i] = x;
	else if (x.name)
		HEDDLE_PUSH(r->arena, d->matrix, d->n_matrix, x);
}

/* A list of mappings, each handed to `add`. */
void heddle_parse_mappings(reader *r, yaml_node_t *list, const char *key, const char *wanted, const char *form,
			  void (*add)(reader *r, yaml_node_t *map))
{
	if (list->type != YAML_SEQUENCE_NODE) {
		heddle_parse_wrong_form(r, list, key, wanted);
		return;
	}
	for (yaml_node_item_t *item = list->data.sequence.items.start; item < list->data.sequence.items.top; item++) {
		yaml_node_t *map = heddle_parse_node(r, *item);
		if (map->type == YAML_MAPPING_NODE)
			add(r, map);
		else
			heddle_parse_wrong_form(r, map, key, form);
	}
}

static const field alignment_field = {"alignment", 0, DIMENSION_BYTES, 0, 1e6, "both addresses"};
static const field granularity_field = {"granularity", 0, DIMENSION_BYTES, 0, 1e6, "the length"};

static void read_copy(reader *r, yaml_node_t *map, heddle_copy *x)
{
	static const char *const keys[] = {"name", "from", "to", "dimensions", "alignment", "granularity", "preferred"};
	enum { NAME, FROM, TO, DIMENSIONS, ALIGNMENT, GRANULARITY, PREFERRED };
	heddle_location at = heddle_parse_location(r, map), place;
	unsigned seen = 0;
	x->dimensions = 1;
	for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top; p++) {
		const char *key = heddle_parse_key(r, map, p);
		yaml_node_t *v = heddle_parse_node(r, p->value);
		int i = 0;
		if (!key)
			continue;
		while (i <= PREFERRED && strcmp(key, keys[i]))
			i++;
		seen |= 1u << i;
		switch (i) {
		case NAME:
			x->name = heddle_parse_string(r, v, key);
			break;
		case FROM:
			x->from = heddle_parse_string(r, v, key);
			if (x->from && strcmp(x->from, "global"))
				heddle_parse_wrong_form(r, v, key, "global");
			break;
		case TO:
			x->to = heddle_parse_string(r, v, key);
			if (x->to && strcmp(x->to, "shared"))
				heddle_parse_wrong_form(r, v, key, "shared");
			break;
		case DIMENSIONS:
			read_small_int(r, v, key, &x->dimensions);
			if (x->dimensions != 1)
				heddle_parse_wrong_form(r, v, key, "1: a copy moves consecutive elements");
			break;
		case ALIGNMENT:
			heddle_parse_quantity(r, v, &alignment_field, &x->alignment, &place);
			break;
		case GRANULARITY:
			heddle_parse_quantity(r, v, &granularity_field, &x->granularity, &place);
			break;
		case PREFERRED:
			heddle_parse_bool(r, v, key, &x->preferred);
			break;
		default:
			heddle_parse_unknown_key(r, heddle_parse_node(r, p->key), key, keys, (int)HEDDLE_COUNT(keys));
		}
	}
	for (int i = NAME; i <= TO; i++)
		if (!(seen & 1u << i))
			heddle_error(r->ctx, 413, &at, "a copy without `%s`", keys[i]);
}

void heddle_parse_add_copy(reader *r, yaml_node_t *map)
{
	heddle_descriptor *d = r->d;
	heddle_copy x = {0};
	int i = 0;
	read_copy(r, map, &x);
	while (x.name && i < d->n_copy && strcmp(d->copy[i].name, x.name))
		i++;
	if (x.name && i < d->n_copy)
		d->copy[i] = x;
	else if (x.name)
		HEDDLE_PUSH(r->arena, d->copy, d->n_copy, x);
}
