/* Inside of the descriptor parser: what is known of the file that is read.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_ARCH_PARSE_H
#define HEDDLE_ARCH_PARSE_H

#include "arch/reader.h"

#include <yaml.h>

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

#define QUANTITY_FORM "{ value: NUMBER, unit: UNIT, source: \"where it was read\" }"

/* ---- nodes.c ---- */

yaml_node_t *heddle_parse_node(reader *r, int index);
heddle_location heddle_parse_location(const reader *r, const yaml_node_t *node);
/* NULL when the node is not a scalar. */
const char *heddle_parse_scalar(const yaml_node_t *node);
int heddle_parse_wrong_form(reader *r, const yaml_node_t *node, const char *key, const char *wanted);
const char *heddle_parse_string(reader *r, yaml_node_t *node, const char *key);
void heddle_parse_bool(reader *r, yaml_node_t *node, const char *key, bool *out);
const char **heddle_parse_strings(reader *r, yaml_node_t *node, const char *key, int *n);
void heddle_parse_unknown_key(reader *r, const yaml_node_t *node, const char *key, const char *const *known, int n);
/* The key of a pair as text, checked to be a scalar that did not stand earlier in the same mapping. */
const char *heddle_parse_key(reader *r, const yaml_node_t *map, const yaml_node_pair_t *pair);
/* The value of `key` in a mapping, NULL if it is not there. */
yaml_node_t *heddle_parse_lookup(reader *r, const yaml_node_t *map, const char *key);
/* A decimal number whatever the locale; false when `s` is anything else. */
bool heddle_parse_number(const char *s, double *value);
/* `{ value: 227, unit: KiB, source: "..." }` into *out; *at becomes its place. */
void heddle_parse_quantity(reader *r, yaml_node_t *map, const field *f, heddle_quantity *out,
				heddle_location *at);

/* ---- parts.c ---- */

void heddle_parse_memory(reader *r, yaml_node_t *map);
void heddle_parse_rates(reader *r, yaml_node_t *map);
/* Stands for the inherited one of the same name, if there is one. */
void heddle_parse_add_matrix(reader *r, yaml_node_t *map);
/* A list of mappings, each handed to `add`. */
void heddle_parse_mappings(reader *r, yaml_node_t *list, const char *key, const char *wanted,
				const char *form, void (*add)(reader *r, yaml_node_t *map));
void heddle_parse_add_copy(reader *r, yaml_node_t *map);

#endif
