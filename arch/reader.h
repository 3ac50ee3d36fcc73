/* What the files of arch/ share: the table of quantity fields, units, and where descriptor files are found.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_ARCH_READER_H
#define HEDDLE_ARCH_READER_H

#include "arch/descriptor.h"

typedef enum unit_dimension {
	DIMENSION_COUNT,
	DIMENSION_BYTES,
	DIMENSION_HERTZ,
	DIMENSION_BYTES_PER_SECOND,
	DIMENSION_SECONDS,
	DIMENSION_FLOPS,
} unit_dimension;

typedef struct unit {
	const char *name;
	unit_dimension dimension;
	double factor; /* to the base unit */
} unit;

extern const unit heddle_units[]; /* ended by name NULL */
const unit *heddle_unit_find(const char *name);
/* "B, KiB, MiB, ..." into `out`. */
void heddle_unit_list(unit_dimension dimension, heddle_text *out);
const char *heddle_dimension_name(unit_dimension dimension); /* "an amount of memory" */

enum {
	FIELD_WHOLE = 1,	/* no fraction in the base unit */
	FIELD_POWER_OF_TWO = 2,
	FIELD_REQUIRED = 4,	/* in a descriptor that is not abstract */
};

/* A key whose value is a quantity, and where it goes in its struct. */
typedef struct field {
	const char *key;
	size_t offset;
	unit_dimension dimension;
	unsigned rules;
	double maximum;
	const char *meaning;
} field;

/* A key whose value is something else. */
typedef struct plain_field {
	const char *key;
	const char *form;    /* "text", "true or false" */
	const char *meaning;
} plain_field;

extern const field heddle_descriptor_fields[]; /* of heddle_descriptor; ended by key NULL */
extern const field heddle_memory_fields[];     /* of heddle_memory */
extern const plain_field heddle_plain_fields[]; /* ended by key NULL */
enum { HEDDLE_N_DESCRIPTOR_FIELD = 72 };       /* checked in fields.c */

#define FIELD_OF(object, f) ((heddle_quantity *)(void *)((char *)(object) + (f)->offset))
#define FIELD_OF_CONST(object, f) ((const heddle_quantity *)(const void *)((const char *)(object) + (f)->offset))

extern const char *const heddle_memory_names[];	 /* register, shared, ...; NULL-ended */
extern const char *const heddle_memory_scopes[]; /* thread, block, ...; NULL-ended */

/* As a folder: none of the user's, only what is compiled in, and `host`. */
extern const char heddle_shipped[];
/* The text of the descriptor file called `name`: in `folder` (NULL: nowhere special), then as find does.  NULL without a
 * diagnostic when there is none, NULL with one when it cannot be read. */
const heddle_source *heddle_descriptor_source(heddle_ctx *ctx, const char *folder, const char *name);

/* The first keys of a descriptor file, as far as they can be read: what a search must know of it. */
typedef struct descriptor_header {
	const char *name;
	bool abstract;
	int n_alias;
	const char **alias;
} descriptor_header;
/* 0, or -1 without a diagnostic when the text is no descriptor. */
int heddle_descriptor_peek(heddle_ctx *ctx, const heddle_source *source, descriptor_header *header);

/* Is YAML text nested deeper than any of ours?  The parser's time grows with the square of the depth. */
bool heddle_yaml_is_deep(const heddle_source *source);

/* `host`, this machine's processor, as a file would describe it (host.c), or in `*measured` the file that does.  NULL, and NULL in
 * `*measured`, for any other name. */
const heddle_source *heddle_host_source(heddle_ctx *ctx, const char *name, const char **measured);
bool heddle_host_is_source(const heddle_source *source);

/* Parse, inherit, check.  `folder` is looked at first for parents.  NULL with diagnostics. */
const heddle_descriptor *heddle_descriptor_parse(heddle_ctx *ctx, const heddle_source *source, const char *folder);
/* The folder that a source came from, NULL for one compiled in. */
const char *heddle_descriptor_folder(heddle_ctx *ctx, const heddle_source *source);

#endif
