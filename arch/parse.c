/* Descriptor files: YAML to heddle_descriptor, with inheritance and every check, each error at its line.
 *
 * This stands on libyaml's document interface (libcyaml's own parser): libcyaml's schemas give values without the place
 * that they came from, and every error here, also those found after inheritance, names file, line and column.
 * SPDX-License-Identifier: MIT
 */
#include "arch/reader.h"

#include <math.h>
#include <string.h>
#include <yaml.h>

enum { MAX_YAML_DEPTH = 64 };

/* Files that are being read because one inherits from the next: what a cycle is found by. */
typedef struct chain {
	const char *name;
	const struct chain *up;
} chain;

typedef struct reader {
	heddle_ctx *ctx;
	heddle_arena *arena;
	const heddle_source *source;
	const char *folder;
	yaml_document_t document;
	heddle_descriptor *d;
	heddle_location at[HEDDLE_N_DESCRIPTOR_FIELD]; /* where this file states each field; line 0: it does not */
	heddle_location name_at;
	heddle_location execution_at;
	const chain *chain;
} reader;

static const char *const quantity_form = "{ value: NUMBER, unit: UNIT, source: \"where it was read\" }";

/* ---- YAML nodes ------------------------------------------------------------------------------------------------------ */

static yaml_node_t *node_at(reader *r, int index)
{
	return yaml_document_get_node(&r->document, index);
}

static heddle_location location_of(const reader *r, const yaml_node_t *node)
{
	heddle_location at = {r->source, (int)node->start_mark.line + 1, (int)node->start_mark.column + 1, 1};
	if (node->end_mark.line == node->start_mark.line && node->end_mark.column > node->start_mark.column)
		at.length = (int)(node->end_mark.column - node->start_mark.column);
	return at;
}

/* NULL when the node is not a scalar. */
static const char *scalar(const yaml_node_t *node)
{
	return node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value : NULL;
}

static int wrong_form(reader *r, const yaml_node_t *node, const char *key, const char *wanted)
{
	heddle_location at = location_of(r, node);
	return heddle_error(r->ctx, 405, &at, "`%s` wants %s", key, wanted);
}

static const char *read_string(reader *r, yaml_node_t *node, const char *key)
{
	const char *s = scalar(node);
	if (!s || !*s) {
		wrong_form(r, node, key, "a text");
		return NULL;
	}
	return heddle_arena_strdup(r->arena, s);
}

static void read_bool(reader *r, yaml_node_t *node, const char *key, bool *out)
{
	const char *s = scalar(node);
	if (s && !strcmp(s, "true"))
		*out = true;
	else if (s && !strcmp(s, "false"))
		*out = false;
	else
		wrong_form(r, node, key, "true or false");
}

static const char **read_strings(reader *r, yaml_node_t *node, const char *key, int *n)
{
	const char **list = NULL;
	*n = 0;
	if (node->type != YAML_SEQUENCE_NODE) {
		wrong_form(r, node, key, "a list: [a, b]");
		return NULL;
	}
	for (yaml_node_item_t *item = node->data.sequence.items.start; item < node->data.sequence.items.top; item++) {
		const char *s = read_string(r, node_at(r, *item), key);
		if (s)
			HEDDLE_PUSH(r->arena, list, *n, s);
	}
	int n_ended = *n;
	HEDDLE_PUSH(r->arena, list, n_ended, NULL);
	return list;
}

static void unknown_key(reader *r, const yaml_node_t *node, const char *key, const char *const *known, int n)
{
	heddle_location at = location_of(r, node);
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
static const char *key_of(reader *r, const yaml_node_t *map, const yaml_node_pair_t *pair)
{
	yaml_node_t *node = node_at(r, pair->key);
	const char *key = scalar(node);
	if (!key) {
		wrong_form(r, node, "key", "a text");
		return NULL;
	}
	for (const yaml_node_pair_t *p = map->data.mapping.pairs.start; p < pair; p++) {
		const char *earlier = scalar(node_at(r, p->key));
		if (earlier && !strcmp(earlier, key)) {
			heddle_location at = location_of(r, node), before = location_of(r, node_at(r, p->key));
			heddle_error(r->ctx, 404, &at, "`%s` is given twice", key);
			heddle_note(r->ctx, &before, "first given here");
			return NULL;
		}
	}
	return key;
}

/* The value of `key` in a mapping, NULL if it is not there. */
static yaml_node_t *lookup(reader *r, const yaml_node_t *map, const char *key)
{
	for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top; p++) {
		const char *s = scalar(node_at(r, p->key));
		if (s && !strcmp(s, key))
			return node_at(r, p->value);
	}
	return NULL;
}

/* ---- quantities ------------------------------------------------------------------------------------------------------ */

/* A decimal number whatever the locale; false when `s` is anything else. */
static bool parse_number(const char *s, double *value)
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
	yaml_node_t *node = lookup(r, map, "unit");
	heddle_text list = {0};
	const unit *u = NULL;
	heddle_unit_list(f->dimension, &list);
	if (!node) {
		heddle_location at = location_of(r, map);
		heddle_error(r->ctx, 406, &at, "`%s` has no unit", f->key);
		heddle_note(r->ctx, NULL, "it is %s: %s", heddle_dimension_name(f->dimension), heddle_text_str(&list));
	} else if (!scalar(node)) {
		wrong_form(r, node, "unit", "a text");
	} else {
		u = heddle_unit_find(scalar(node));
		if (!u || u->dimension != f->dimension) {
			heddle_location at = location_of(r, node);
			if (u)
				heddle_error(r->ctx, 407, &at, "`%s` is %s, and %s is the unit of %s", f->key,
					     heddle_dimension_name(f->dimension), u->name, heddle_dimension_name(u->dimension));
			else
				heddle_error(r->ctx, 407, &at, "unknown unit `%s`", scalar(node));
			heddle_note(r->ctx, NULL, "`%s` takes: %s", f->key, heddle_text_str(&list));
			u = NULL;
		}
	}
	heddle_text_free(&list);
	return u;
}

static void read_source(reader *r, yaml_node_t *map, const field *f, heddle_quantity *q)
{
	yaml_node_t *source = lookup(r, map, "source"), *assumed = lookup(r, map, "assumed");
	if (assumed)
		read_bool(r, assumed, "assumed", &q->assumed);
	if (source)
		q->source = read_string(r, source, "source");
	if (!source && !q->assumed) {
		heddle_location at = location_of(r, map);
		heddle_error(r->ctx, 409, &at, "`%s` has no source", f->key);
		heddle_note(r->ctx, NULL, "say where the number was read, source: \"...\", or that it is a guess, assumed: true");
	}
}

/* `{ value: 227, unit: KiB, source: "..." }` into *out; *at becomes its place. */
static void read_quantity(reader *r, yaml_node_t *map, const field *f, heddle_quantity *out, heddle_location *at)
{
	static const char *const keys[] = {"value", "unit", "source", "assumed"};
	heddle_quantity q = {.set = true, .from = r->d->name};
	double number;
	*at = location_of(r, map);
	if (map->type != YAML_MAPPING_NODE) {
		if (scalar(map) && parse_number(scalar(map), &number)) {
			heddle_error(r->ctx, 406, at, "`%s` has no unit", f->key);
			heddle_note(r->ctx, NULL, "write %s: %s", f->key, quantity_form);
		} else {
			wrong_form(r, map, f->key, quantity_form);
		}
		return;
	}
	int errors = heddle_error_count(r->ctx);
	for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top; p++) {
		const char *key = key_of(r, map, p);
		bool known = false;
		for (size_t i = 0; key && i < HEDDLE_COUNT(keys); i++)
			known |= !strcmp(key, keys[i]);
		if (key && !known)
			unknown_key(r, node_at(r, p->key), key, keys, (int)HEDDLE_COUNT(keys));
	}
	yaml_node_t *value = lookup(r, map, "value");
	const unit *u = read_unit(r, map, f);
	read_source(r, map, f, &q);
	if (!value || !scalar(value) || !parse_number(scalar(value), &number)) {
		wrong_form(r, value ? value : map, f->key, value ? "a number as its value" : quantity_form);
		return;
	}
	if (heddle_error_count(r->ctx) != errors)
		return;
	*at = location_of(r, value);
	q.value = number * u->factor;
	if ((f->rules & FIELD_WHOLE) && fabs(q.value - nearbyint(q.value)) < 1e-9 * fabs(q.value))
		q.value = nearbyint(q.value);
	q.unit = u->name;
	check_value(r, f, &q, at);
	*out = q;
}

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
			read_quantity(r, value, f, FIELD_OF(m, f), &at);
			return;
		}
	}
	known[n++] = "scope";
	if (strcmp(key, "scope")) {
		unknown_key(r, key_node, key, known, n);
		return;
	}
	const char *scope = read_string(r, value, key);
	if (scope && position_in(heddle_memory_scopes, scope) < 0)
		wrong_form(r, value, key, "thread, block, unit or device");
	else if (scope)
		m->scope = scope;
}

static void read_memory(reader *r, yaml_node_t *map)
{
	if (map->type != YAML_MAPPING_NODE) {
		wrong_form(r, map, "memory", "levels: { shared: {...}, global: {...} }");
		return;
	}
	for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top; p++) {
		const char *name = key_of(r, map, p);
		yaml_node_t *level = node_at(r, p->value);
		if (!name)
			continue;
		if (position_in(heddle_memory_names, name) < 0) {
			unknown_key(r, node_at(r, p->key), name, heddle_memory_names, length_of(heddle_memory_names));
			continue;
		}
		if (level->type != YAML_MAPPING_NODE) {
			wrong_form(r, level, name, "a mapping: { size: {...}, line: {...} }");
			continue;
		}
		heddle_memory *m = memory_level(r, name);
		for (yaml_node_pair_t *q = level->data.mapping.pairs.start; q < level->data.mapping.pairs.top; q++) {
			const char *key = key_of(r, level, q);
			if (key)
				read_memory_key(r, m, node_at(r, q->key), node_at(r, q->value), key);
		}
		if (m->line.set && m->sector.set && m->sector.value > m->line.value) {
			heddle_location at = location_of(r, level);
			heddle_error(r->ctx, 408, &at, "a sector of %s is greater than its line", name);
		}
	}
}

static const field rate_field = {"rate", 0, DIMENSION_FLOPS, 0, 1e20, "of the chip"};

static void read_rates(reader *r, yaml_node_t *map)
{
	heddle_descriptor *d = r->d;
	if (map->type != YAML_MAPPING_NODE) {
		wrong_form(r, map, "rates", "a mapping from types: { float32: {...} }");
		return;
	}
	for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top; p++) {
		const char *name = key_of(r, map, p);
		heddle_rate rate = {0};
		heddle_location at;
		int type = name ? heddle_type_parse(name) : -1, i = 0;
		if (!name)
			continue;
		if (type < 0) {
			wrong_form(r, node_at(r, p->key), "rates", "names of types: float16, float32, ...");
			continue;
		}
		rate.type = (heddle_type)type;
		read_quantity(r, node_at(r, p->value), &rate_field, &rate.flops, &at);
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
	if (!scalar(node) || !parse_number(scalar(node), &v) || v < 1 || v > 65536 || v != floor(v))
		wrong_form(r, node, key, "a whole number from 1");
	else
		*out = (int)v;
}

static void read_type(reader *r, yaml_node_t *node, const char *key, heddle_type *out)
{
	int type = scalar(node) ? heddle_type_parse(scalar(node)) : -1;
	if (type < 0)
		wrong_form(r, node, key, "a type: float16, bfloat16, float32, ...");
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
		const char *key = key_of(r, map, p);
		yaml_node_t *v = node_at(r, p->value);
		int i = 0;
		if (!key)
			continue;
		while (i <= RATE && strcmp(key, keys[i]))
			i++;
		seen |= 1u << i;
		switch (i) {
		case NAME:
			x->name = read_string(r, v, key);
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
			read_quantity(r, v, &rate_field, &x->flops, &at);
			break;
		default:
			unknown_key(r, node_at(r, p->key), key, keys, (int)HEDDLE_COUNT(keys));
		}
	}
	at = location_of(r, map);
	for (int i = NAME; i < RATE; i++)
		if (!(seen & 1u << i))
			heddle_error(r->ctx, 413, &at, "a matrix instruction without `%s`", keys[i]);
}

/* Stands for the inherited one of the same name, if there is one. */
static void add_matrix(reader *r, yaml_node_t *map)
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
static void read_mappings(reader *r, yaml_node_t *list, const char *key, const char *wanted, const char *form,
			  void (*add)(reader *r, yaml_node_t *map))
{
	if (list->type != YAML_SEQUENCE_NODE) {
		wrong_form(r, list, key, wanted);
		return;
	}
	for (yaml_node_item_t *item = list->data.sequence.items.start; item < list->data.sequence.items.top; item++) {
		yaml_node_t *map = node_at(r, *item);
		if (map->type == YAML_MAPPING_NODE)
			add(r, map);
		else
			wrong_form(r, map, key, form);
	}
}

static const field alignment_field = {"alignment", 0, DIMENSION_BYTES, 0, 1e6, "both addresses"};
static const field granularity_field = {"granularity", 0, DIMENSION_BYTES, 0, 1e6, "the length"};

static void read_copy(reader *r, yaml_node_t *map, heddle_copy *x)
{
	static const char *const keys[] = {"name", "from", "to", "dimensions", "alignment", "granularity", "preferred"};
	enum { NAME, FROM, TO, DIMENSIONS, ALIGNMENT, GRANULARITY, PREFERRED };
	heddle_location at = location_of(r, map), place;
	unsigned seen = 0;
	x->dimensions = 1;
	for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top; p++) {
		const char *key = key_of(r, map, p);
		yaml_node_t *v = node_at(r, p->value);
		int i = 0;
		if (!key)
			continue;
		while (i <= PREFERRED && strcmp(key, keys[i]))
			i++;
		seen |= 1u << i;
		switch (i) {
		case NAME:
			x->name = read_string(r, v, key);
			break;
		case FROM:
			x->from = read_string(r, v, key);
			if (x->from && strcmp(x->from, "global"))
				wrong_form(r, v, key, "global");
			break;
		case TO:
			x->to = read_string(r, v, key);
			if (x->to && strcmp(x->to, "shared"))
				wrong_form(r, v, key, "shared");
			break;
		case DIMENSIONS:
			read_small_int(r, v, key, &x->dimensions);
			if (x->dimensions != 1)
				wrong_form(r, v, key, "1: a copy moves consecutive elements");
			break;
		case ALIGNMENT:
			read_quantity(r, v, &alignment_field, &x->alignment, &place);
			break;
		case GRANULARITY:
			read_quantity(r, v, &granularity_field, &x->granularity, &place);
			break;
		case PREFERRED:
			read_bool(r, v, key, &x->preferred);
			break;
		default:
			unknown_key(r, node_at(r, p->key), key, keys, (int)HEDDLE_COUNT(keys));
		}
	}
	for (int i = NAME; i <= TO; i++)
		if (!(seen & 1u << i))
			heddle_error(r->ctx, 413, &at, "a copy without `%s`", keys[i]);
}

static void add_copy(reader *r, yaml_node_t *map)
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

/* ---- the keys of the file ---------------------------------------------------------------------------------------------- */

typedef enum plain_key {
	KEY_NAME,
	KEY_INHERITS,
	KEY_TITLE,
	KEY_ALIASES,
	KEY_ABSTRACT,
	KEY_BACKEND,
	KEY_COMPILE_ARCH,
	KEY_EXECUTION,
	KEY_UNALIGNED_VECTORS,
	KEY_SHUFFLES,
	KEY_FLOAT64,
	KEY_MEMORY,
	KEY_RATES,
	KEY_MATRIX,
	KEY_COPIES,
	KEY_COMPILER,
	KEY_RUNNER,
	KEY_RUNNER_MODE,
	N_KEY
} plain_key;

const plain_field heddle_plain_fields[] = {
	[KEY_NAME] = {"name", "text", "as the file is called"},
	[KEY_INHERITS] = {"inherits", "text", "the descriptor that says what this one does not"},
	[KEY_TITLE] = {"title", "text", "for readers"},
	[KEY_ALIASES] = {"aliases", "list", "other names of the chip; an alias may also be the name of an abstract descriptor"},
	[KEY_ABSTRACT] = {"abstract", "true or false", "only to be inherited from, never a target"},
	[KEY_BACKEND] = {"backend", "text", "the dialect that it speaks: cuda, hip, opencl, or one of your own"},
	[KEY_COMPILE_ARCH] = {"compile_arch", "text", "what that dialect's compilers call the chip: sm_90a, gfx942"},
	[KEY_EXECUTION] = {"execution", "simt or simd", "blocks of many threads in warps, or of one thread with vectors"},
	[KEY_UNALIGNED_VECTORS] = {"unaligned_vectors", "true or false", "vector accesses need no more than their element's alignment"},
	[KEY_SHUFFLES] = {"shuffles", "true or false", "lanes of a warp can exchange values"},
	[KEY_FLOAT64] = {"float64", "true or false", "it has double arithmetic"},
	[KEY_MEMORY] = {"memory", "levels", "register, shared, l1, l2, l3, global: each with the fields below"},
	[KEY_RATES] = {"rates", "types", "peak arithmetic rate without matrix instructions, a fused multiply-add counted as two"},
	[KEY_MATRIX] = {"matrix", "list", "matrix instructions: name, m, n, k, lanes, the types a, b, c, and rate of the chip"},
	[KEY_COPIES] = {"copies", "list", "copies that go on beside the threads, started by a whole block: name (the dialect's copy.NAME has its words), from, to, dimensions, alignment, granularity, preferred"},
	[KEY_COMPILER] = {"compiler", "list", "a command that compiles: doc/backend.md"},
	[KEY_RUNNER] = {"runner", "list", "a command that runs: doc/backend.md"},
	[KEY_RUNNER_MODE] = {"runner_mode", "folder or lines", "started for each run over a folder, or once and asked in lines"},
	[N_KEY] = {NULL, NULL, NULL},
};
_Static_assert(HEDDLE_COUNT(heddle_plain_fields) == N_KEY + 1, "every plain key has a row");

/* {folder} is where the file lies: known only here, for the command may be inherited by a descriptor elsewhere. */
static const char *with_folder(reader *r, const char *word)
{
	static const char mark[] = "{folder}";
	const char *slash = strrchr(r->source->name, '/');
	for (const char *at; (at = strstr(word, mark));)
		word = heddle_arena_printf(r->arena, "%.*s%.*s%s", (int)(at - word), word,
					   slash ? (int)(slash - r->source->name) : 1, slash ? r->source->name : ".",
					   at + sizeof(mark) - 1);
	return word;
}

static void read_command(reader *r, yaml_node_t *node, const char *key, heddle_command *command)
{
	command->argv = read_strings(r, node, key, &command->n);
	if (command->argv && command->n == 0)
		wrong_form(r, node, key, "a command: [program, \"{source}\", ...]");
	for (int i = 0; i < command->n; i++)
		command->argv[i] = with_folder(r, command->argv[i]);
}

static void read_execution(reader *r, yaml_node_t *node)
{
	const char *s = scalar(node);
	r->execution_at = location_of(r, node);
	if (s && !strcmp(s, "simt"))
		r->d->execution = HEDDLE_SIMT;
	else if (s && !strcmp(s, "simd"))
		r->d->execution = HEDDLE_SIMD;
	else
		wrong_form(r, node, "execution", "simt or simd");
}

static void read_plain_key(reader *r, plain_key key, yaml_node_t *v)
{
	heddle_descriptor *d = r->d;
	const char *name = heddle_plain_fields[key].key, *s;
	switch (key) {
	case KEY_NAME:
	case KEY_INHERITS:
	case N_KEY:
		break; /* read before everything else */
	case KEY_TITLE:
		d->title = read_string(r, v, name);
		break;
	case KEY_ALIASES:
		d->alias = read_strings(r, v, name, &d->n_alias);
		break;
	case KEY_ABSTRACT:
		read_bool(r, v, name, &d->abstract);
		break;
	case KEY_BACKEND:
		d->backend = read_string(r, v, name);
		break;
	case KEY_COMPILE_ARCH:
		s = scalar(v);
		if (s)
			d->compile_arch = heddle_arena_strdup(r->arena, s);
		else
			wrong_form(r, v, name, "a text");
		break;
	case KEY_EXECUTION:
		read_execution(r, v);
		break;
	case KEY_UNALIGNED_VECTORS:
		read_bool(r, v, name, &d->unaligned_vectors);
		break;
	case KEY_SHUFFLES:
		read_bool(r, v, name, &d->shuffles);
		break;
	case KEY_FLOAT64:
		read_bool(r, v, name, &d->float64);
		break;
	case KEY_MEMORY:
		read_memory(r, v);
		break;
	case KEY_RATES:
		read_rates(r, v);
		break;
	case KEY_MATRIX:
		read_mappings(r, v, name, "a list of matrix instructions", "mappings: - { name: ..., m: 16, n: 8, k: 16, ... }",
			      add_matrix);
		break;
	case KEY_COPIES:
		read_mappings(r, v, name, "a list of copies", "mappings: - { name: ..., from: global, to: shared }", add_copy);
		break;
	case KEY_COMPILER:
		read_command(r, v, name, &d->compiler);
		break;
	case KEY_RUNNER:
		read_command(r, v, name, &d->runner);
		break;
	case KEY_RUNNER_MODE:
		s = scalar(v);
		if (s && (!strcmp(s, "folder") || !strcmp(s, "lines")))
			d->runner_lines = !strcmp(s, "lines");
		else
			wrong_form(r, v, name, "folder or lines");
		break;
	}
}

static void read_keys(reader *r, yaml_node_t *root)
{
	const char *known[N_KEY + HEDDLE_N_DESCRIPTOR_FIELD];
	int n = 0;
	for (; n < N_KEY; n++)
		known[n] = heddle_plain_fields[n].key;
	for (const field *f = heddle_descriptor_fields; f->key; f++)
		known[n++] = f->key;
	for (yaml_node_pair_t *p = root->data.mapping.pairs.start; p < root->data.mapping.pairs.top; p++) {
		const char *key = key_of(r, root, p);
		yaml_node_t *value = node_at(r, p->value);
		int i = 0;
		if (!key)
			continue;
		while (i < n && strcmp(key, known[i]))
			i++;
		if (i == n)
			unknown_key(r, node_at(r, p->key), key, known, n);
		else if (i < N_KEY)
			read_plain_key(r, (plain_key)i, value);
		else {
			const field *f = &heddle_descriptor_fields[i - N_KEY];
			read_quantity(r, value, f, FIELD_OF(r->d, f), &r->at[i - N_KEY]);
		}
	}
}

/* ---- checks over several fields ---------------------------------------------------------------------------------------- */

/* Where this file states the field at `offset`, or its name when the value is inherited. */
static heddle_location stated_at(const reader *r, size_t offset)
{
	for (int i = 0; heddle_descriptor_fields[i].key; i++)
		if (heddle_descriptor_fields[i].offset == offset && r->at[i].line)
			return r->at[i];
	return r->name_at;
}

static const char *key_at(size_t offset)
{
	for (int i = 0; heddle_descriptor_fields[i].key; i++)
		if (heddle_descriptor_fields[i].offset == offset)
			return heddle_descriptor_fields[i].key;
	return "?";
}

static void check_at_most(reader *r, size_t less, size_t more)
{
	const heddle_quantity *a = (const heddle_quantity *)(const void *)((const char *)r->d + less);
	const heddle_quantity *b = (const heddle_quantity *)(const void *)((const char *)r->d + more);
	if (!a->set || !b->set || a->value <= b->value)
		return;
	heddle_location at = stated_at(r, less);
	if (at.line == r->name_at.line)
		at = stated_at(r, more);
	heddle_error(r->ctx, 408, &at, "`%s` (%.15g) is greater than `%s` (%.15g)", key_at(less), a->value, key_at(more),
		     b->value);
}

#define AT(member) offsetof(heddle_descriptor, member)

static void check_together(reader *r)
{
	static const size_t pairs[][2] = {
		{AT(shared_per_block), AT(shared_per_unit)},
		{AT(shared_per_block_static), AT(shared_per_block)},
		{AT(threads_per_block), AT(threads_per_unit)},
		{AT(warp), AT(threads_per_block)},
		{AT(registers_per_thread), AT(registers_per_unit)},
		{AT(blocks_per_unit), AT(threads_per_unit)},
		{AT(register_granularity), AT(registers_per_thread)},
	};
	const heddle_descriptor *d = r->d;
	heddle_location at;
	for (size_t i = 0; i < HEDDLE_COUNT(pairs); i++)
		check_at_most(r, pairs[i][0], pairs[i][1]);
	if (d->execution != HEDDLE_SIMD)
		return;
	if (d->warp.set && d->warp.value != 1) {
		at = stated_at(r, AT(warp));
		heddle_error(r->ctx, 408, &at, "a simd descriptor has warp 1: its lanes are the members of a vector");
	}
	if (d->threads_per_block.set && d->threads_per_block.value != 1) {
		at = stated_at(r, AT(threads_per_block));
		heddle_error(r->ctx, 408, &at, "a simd descriptor has threads_per_block 1");
	}
}

static void check_complete(reader *r)
{
	const heddle_descriptor *d = r->d;
	if (d->abstract)
		return;
	for (const field *f = heddle_descriptor_fields; f->key; f++)
		if ((f->rules & FIELD_REQUIRED) && !FIELD_OF_CONST(d, f)->set)
			heddle_error(r->ctx, 413, &r->name_at, "`%s` does not say `%s`, nor does what it inherits from", d->name,
				     f->key);
	if (!d->backend)
		heddle_error(r->ctx, 413, &r->name_at, "`%s` does not say its `backend`", d->name);
}

/* ---- a whole file -------------------------------------------------------------------------------------------------------- */

static const heddle_descriptor *parse_file(heddle_ctx *ctx, const heddle_source *source, const char *folder,
					   const chain *up);

bool heddle_yaml_is_deep(const heddle_source *source)
{
	yaml_parser_t parser;
	if (!yaml_parser_initialize(&parser))
		return false; /* told by who parses it */
	yaml_parser_set_input_string(&parser, (const unsigned char *)source->text, source->length);
	int depth = 0;
	for (bool more = true; more && depth <= MAX_YAML_DEPTH;) {
		yaml_event_t event;
		if (!yaml_parser_parse(&parser, &event))
			break;
		depth += event.type == YAML_SEQUENCE_START_EVENT || event.type == YAML_MAPPING_START_EVENT;
		depth -= event.type == YAML_SEQUENCE_END_EVENT || event.type == YAML_MAPPING_END_EVENT;
		more = event.type != YAML_STREAM_END_EVENT;
		yaml_event_delete(&event);
	}
	yaml_parser_delete(&parser);
	return depth > MAX_YAML_DEPTH;
}

/* Without `ctx`, silently. */
static int load_yaml(heddle_ctx *ctx, const heddle_source *source, yaml_document_t *document)
{
	yaml_parser_t parser;
	if (heddle_yaml_is_deep(source))
		return ctx ? heddle_error(ctx, 402, NULL, "%s: nested deeper than %d levels", source->name, MAX_YAML_DEPTH) : -1;
	if (!yaml_parser_initialize(&parser))
		return ctx ? heddle_error(ctx, 402, NULL, "%s: no memory for the YAML parser", source->name) : -1;
	yaml_parser_set_input_string(&parser, (const unsigned char *)source->text, source->length);
	int ok = yaml_parser_load(&parser, document);
	if (!ok && ctx) {
		heddle_location at = {source, (int)parser.problem_mark.line + 1, (int)parser.problem_mark.column + 1, 1};
		heddle_error(ctx, 402, &at, "not YAML: %s", parser.problem ? parser.problem : "malformed");
	}
	yaml_parser_delete(&parser);
	return ok ? 0 : -1;
}

/* `at` says that the innermost file inherits from `name`, which is being read: "c -> a -> b -> c". */
static void cycle_error(reader *r, const heddle_location *at, const char *name)
{
	const char *path = name;
	for (const chain *c = r->chain; c; c = c->up) {
		path = heddle_arena_printf(r->arena, "%s -> %s", c->name, path);
		if (!strcmp(c->name, name))
			break;
	}
	heddle_error(r->ctx, 411, at, "`%s` inherits from itself: %s", name, path);
}

static int inherit(reader *r, yaml_node_t *node)
{
	heddle_descriptor *d = r->d;
	const char *name = read_string(r, node, "inherits");
	if (!name)
		return -1;
	heddle_location at = location_of(r, node);
	for (const chain *c = r->chain; c; c = c->up)
		if (!strcmp(c->name, name)) {
			cycle_error(r, &at, name);
			return -1;
		}
	int errors = heddle_error_count(r->ctx);
	const heddle_source *source = heddle_descriptor_source(r->ctx, r->folder, name);
	if (!source) {
		if (heddle_error_count(r->ctx) == errors)
			heddle_error(r->ctx, 410, &at, "unknown parent `%s`: no file %s.yaml", name, name);
		return -1;
	}
	const heddle_descriptor *parent = parse_file(r->ctx, source, r->folder, r->chain);
	if (!parent) {
		heddle_note(r->ctx, &at, "inherited here");
		return -1;
	}
	const char *own = d->name;
	*d = *parent;
	d->name = own;
	d->inherits = name;
	d->title = NULL;
	d->abstract = false;
	d->n_alias = 0;
	d->alias = NULL;
	d->path = r->source->name;
	d->memory = HEDDLE_NEW_ARRAY(r->arena, heddle_memory, parent->n_memory);
	d->rate = NULL;
	d->matrix = NULL;
	d->copy = NULL;
	d->n_rate = d->n_matrix = d->n_copy = 0;
	for (int i = 0; i < parent->n_memory; i++)
		d->memory[i] = parent->memory[i];
	for (int i = 0; i < parent->n_rate; i++)
		HEDDLE_PUSH(r->arena, d->rate, d->n_rate, parent->rate[i]);
	for (int i = 0; i < parent->n_matrix; i++)
		HEDDLE_PUSH(r->arena, d->matrix, d->n_matrix, parent->matrix[i]);
	for (int i = 0; i < parent->n_copy; i++)
		HEDDLE_PUSH(r->arena, d->copy, d->n_copy, parent->copy[i]);
	return 0;
}

static void read_document(reader *r, yaml_node_t *root, const chain *up)
{
	heddle_location nowhere = {r->source, 1, 1, 1};
	r->name_at = nowhere;
	if (!root || root->type != YAML_MAPPING_NODE) {
		heddle_error(r->ctx, 405, &nowhere, "a descriptor is a mapping: name: ..., units: {...}");
		return;
	}
	yaml_node_t *name = lookup(r, root, "name"), *parent = lookup(r, root, "inherits");
	if (!name) {
		heddle_error(r->ctx, 413, &nowhere, "a descriptor without `name`");
		return;
	}
	r->name_at = location_of(r, name);
	r->d->name = read_string(r, name, "name");
	if (!r->d->name)
		return;
	chain here = {r->d->name, up};
	r->chain = &here;
	if (parent && inherit(r, parent) < 0)
		return;
	read_keys(r, root);
	check_together(r);
	if (!parent && !r->execution_at.line)
		heddle_error(r->ctx, 413, &r->name_at, "`%s` does not say its `execution`: simt or simd", r->d->name);
	check_complete(r);
	r->chain = NULL;
}

static const heddle_descriptor *parse_file(heddle_ctx *ctx, const heddle_source *source, const char *folder,
					   const chain *up)
{
	reader r = {.ctx = ctx, .arena = heddle_ctx_arena(ctx), .source = source, .folder = folder};
	int errors = heddle_error_count(ctx);
	if (load_yaml(ctx, source, &r.document) < 0)
		return NULL;
	r.d = HEDDLE_NEW(r.arena, heddle_descriptor);
	r.d->path = source->name;
	r.d->compile_arch = "";
	read_document(&r, yaml_document_get_root_node(&r.document), up);
	yaml_document_delete(&r.document);
	if (heddle_error_count(ctx) != errors)
		return NULL;
	if (!r.d->title)
		r.d->title = r.d->name;
	return r.d;
}

const heddle_descriptor *heddle_descriptor_parse(heddle_ctx *ctx, const heddle_source *source, const char *folder)
{
	return parse_file(ctx, source, folder, NULL);
}

/* ---- a look at a file ------------------------------------------------------------------------------------------------------ */

int heddle_descriptor_peek(heddle_ctx *ctx, const heddle_source *source, descriptor_header *header)
{
	reader r = {.ctx = ctx, .arena = heddle_ctx_arena(ctx), .source = source};
	*header = (descriptor_header){0};
	if (load_yaml(NULL, source, &r.document) < 0)
		return -1;
	yaml_node_t *root = yaml_document_get_root_node(&r.document), *node;
	const char *name = NULL;
	if (root && root->type == YAML_MAPPING_NODE && !lookup(&r, root, "dialect")) {
		node = lookup(&r, root, "name");
		name = node ? scalar(node) : NULL;
		node = lookup(&r, root, "abstract");
		header->abstract = node && scalar(node) && !strcmp(scalar(node), "true");
		node = lookup(&r, root, "aliases");
		if (node && node->type == YAML_SEQUENCE_NODE)
			for (yaml_node_item_t *i = node->data.sequence.items.start; i < node->data.sequence.items.top; i++) {
				const char *s = scalar(node_at(&r, *i));
				if (s)
					HEDDLE_PUSH(r.arena, header->alias, header->n_alias, heddle_arena_strdup(r.arena, s));
			}
	}
	if (name)
		header->name = heddle_arena_strdup(r.arena, name);
	yaml_document_delete(&r.document);
	return name ? 0 : -1;
}
