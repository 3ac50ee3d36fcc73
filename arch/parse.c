/* Descriptor files: YAML to heddle_descriptor, with inheritance and every check, each error at its line.
 *
 * This stands on libyaml's document interface (libcyaml's own parser): libcyaml's schemas give values without the place
 * that they came from, and every error here, also those found after inheritance, names file, line and column.
 * SPDX-License-Identifier: MIT
 */
#include "arch/parse.h"

#include <math.h>
#include <string.h>

enum { MAX_YAML_DEPTH = 64 };

/* ---- the keys of the file ---------------------------------------------------------------------------------------------- */

typedef enum plain_key {
	KEY_NAME,
	KEY_INHERITS,
	KEY_TITLE,
	KEY_ALIASES,
	KEY_ABSTRACT,
	KEY_BACKEND,
	KEY_COMPILE_ARCH,
	KEY_DEFINES,
	KEY_EXECUTION,
	KEY_UNALIGNED_VECTORS,
	KEY_STREAMING_STORES,
	KEY_PREFETCHES,
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
	[KEY_DEFINES] = {"defines", "list", "macros that those compilers define for the chip, NAME or NAME=VALUE: __gfx942__, __CUDA_ARCH__=900"},
	[KEY_EXECUTION] = {"execution", "simt or simd", "blocks of many threads in warps, or of one thread with vectors"},
	[KEY_UNALIGNED_VECTORS] = {"unaligned_vectors", "true or false", "vector accesses need no more than their element's alignment"},
	[KEY_STREAMING_STORES] = {"streaming_stores", "true or false", "stores can go past the caches, which else read every line before it is written"},
	[KEY_PREFETCHES] = {"prefetches", "true or false", "a thread can ask for lines of memory before it needs them, and go on"},
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
	command->argv = heddle_parse_strings(r, node, key, &command->n);
	if (command->argv && command->n == 0)
		heddle_parse_wrong_form(r, node, key, "a command: [program, \"{source}\", ...]");
	for (int i = 0; i < command->n; i++)
		command->argv[i] = with_folder(r, command->argv[i]);
}

static void read_execution(reader *r, yaml_node_t *node)
{
	const char *s = heddle_parse_scalar(node);
	r->execution_at = heddle_parse_location(r, node);
	if (s && !strcmp(s, "simt"))
		r->d->execution = HEDDLE_SIMT;
	else if (s && !strcmp(s, "simd"))
		r->d->execution = HEDDLE_SIMD;
	else
		heddle_parse_wrong_form(r, node, "execution", "simt or simd");
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
		d->title = heddle_parse_string(r, v, name);
		break;
	case KEY_ALIASES:
		d->alias = heddle_parse_strings(r, v, name, &d->n_alias);
		break;
	case KEY_ABSTRACT:
		heddle_parse_bool(r, v, name, &d->abstract);
		break;
	case KEY_BACKEND:
		d->backend = heddle_parse_string(r, v, name);
		d->backend_at = heddle_parse_location(r, v);
		break;
	case KEY_COMPILE_ARCH:
		s = heddle_parse_scalar(v);
		if (s)
			d->compile_arch = heddle_arena_strdup(r->arena, s);
		else
			heddle_parse_wrong_form(r, v, name, "a text");
		break;
	case KEY_DEFINES:
		d->define = heddle_parse_strings(r, v, name, &d->n_define);
		break;
	case KEY_EXECUTION:
		read_execution(r, v);
		break;
	case KEY_UNALIGNED_VECTORS:
		heddle_parse_bool(r, v, name, &d->unaligned_vectors);
		break;
	case KEY_STREAMING_STORES:
		heddle_parse_bool(r, v, name, &d->streaming_stores);
		break;
	case KEY_PREFETCHES:
		heddle_parse_bool(r, v, name, &d->prefetches);
		break;
	case KEY_SHUFFLES:
		heddle_parse_bool(r, v, name, &d->shuffles);
		break;
	case KEY_FLOAT64:
		heddle_parse_bool(r, v, name, &d->float64);
		break;
	case KEY_MEMORY:
		heddle_parse_memory(r, v);
		break;
	case KEY_RATES:
		heddle_parse_rates(r, v);
		break;
	case KEY_MATRIX:
		heddle_parse_mappings(r, v, name, "a list of matrix instructions", "mappings: - { name: ..., m: 16, n: 8, k: 16, ... }",
			      heddle_parse_add_matrix);
		break;
	case KEY_COPIES:
		heddle_parse_mappings(r, v, name, "a list of copies", "mappings: - { name: ..., from: global, to: shared }", heddle_parse_add_copy);
		break;
	case KEY_COMPILER:
		read_command(r, v, name, &d->compiler);
		break;
	case KEY_RUNNER:
		read_command(r, v, name, &d->runner);
		break;
	case KEY_RUNNER_MODE:
		s = heddle_parse_scalar(v);
		if (s && (!strcmp(s, "folder") || !strcmp(s, "lines")))
			d->runner_lines = !strcmp(s, "lines");
		else
			heddle_parse_wrong_form(r, v, name, "folder or lines");
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
		const char *key = heddle_parse_key(r, root, p);
		yaml_node_t *value = heddle_parse_node(r, p->value);
		int i = 0;
		if (!key)
			continue;
		while (i < n && strcmp(key, known[i]))
			i++;
		if (i == n)
			heddle_parse_unknown_key(r, heddle_parse_node(r, p->key), key, known, n);
		else if (i < N_KEY)
			read_plain_key(r, (plain_key)i, value);
		else {
			const field *f = &heddle_descriptor_fields[i - N_KEY];
			heddle_parse_quantity(r, value, f, FIELD_OF(r->d, f), &r->at[i - N_KEY]);
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
	const heddle_embedded *own = heddle_embedded_find(source->name);
	if (own && own->data == source->text)
		return false; /* what the program itself has, of which every run reads some */
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
	const char *name = heddle_parse_string(r, node, "inherits");
	if (!name)
		return -1;
	heddle_location at = heddle_parse_location(r, node);
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
	d->name_at = r->name_at;
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
	yaml_node_t *name = heddle_parse_lookup(r, root, "name"), *parent = heddle_parse_lookup(r, root, "inherits");
	if (!name) {
		heddle_error(r->ctx, 413, &nowhere, "a descriptor without `name`");
		return;
	}
	r->name_at = heddle_parse_location(r, name);
	r->d->name = heddle_parse_string(r, name, "name");
	r->d->name_at = r->name_at;
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
	if (root && root->type == YAML_MAPPING_NODE && !heddle_parse_lookup(&r, root, "dialect")) {
		node = heddle_parse_lookup(&r, root, "name");
		name = node ? heddle_parse_scalar(node) : NULL;
		node = heddle_parse_lookup(&r, root, "abstract");
		header->abstract = node && heddle_parse_scalar(node) && !strcmp(heddle_parse_scalar(node), "true");
		node = heddle_parse_lookup(&r, root, "aliases");
		if (node && node->type == YAML_SEQUENCE_NODE)
			for (yaml_node_item_t *i = node->data.sequence.items.start; i < node->data.sequence.items.top; i++) {
				const char *s = heddle_parse_scalar(heddle_parse_node(&r, *i));
				if (s)
					HEDDLE_PUSH(r.arena, header->alias, header->n_alias, heddle_arena_strdup(r.arena, s));
			}
	}
	if (name)
		header->name = heddle_arena_strdup(r.arena, name);
	yaml_document_delete(&r.document);
	return name ? 0 : -1;
}
