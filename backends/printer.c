/* The one C-like printer: device kernels in the words of a dialect.  lines.c, values.c, statements.c and branches.c are its parts.
 * SPDX-License-Identifier: MIT
 */
#include "backends/printer_parts.h"
#include "model/ranges.h"

#include <stdlib.h>
#include <string.h>

/* ---- what a launch uses ---------------------------------------------------------------------------------------------------------- */

typedef struct visitor {
	void (*value)(void *user, const heddle_value *v, bool data);
	void (*node)(void *user, const heddle_node *node);
	void *user;
} visitor;

static void visit_value(const visitor *visit, const heddle_value *v, bool data)
{
	visit->value(visit->user, v, data);
	for (int i = 0; i < v->n_arg; i++) {
		bool inner = data;
		if (v->kind == HEDDLE_VALUE_LOAD || (v->kind == HEDDLE_VALUE_SELECT && i == 0) ||
		    (v->kind == HEDDLE_VALUE_BINARY && (heddle_is_compare(v->op) || v->op == HEDDLE_OP_AND || v->op == HEDDLE_OP_OR)))
			inner = false;
		else if (v->kind == HEDDLE_VALUE_CAST && heddle_type_is_float(v->type))
			inner = true;
		visit_value(visit, v->arg[i], inner);
	}
}

static void visit_node(const visitor *visit, const heddle_node *node)
{
	if (visit->node)
		visit->node(visit->user, node);
	for (int i = 0; i < node->n_value; i++)
		visit_value(visit, node->value[i], node->kind == HEDDLE_NODE_STORE && i == 0);
	for (int i = 0; i < node->n_child; i++)
		visit_node(visit, node->child[i]);
}

static bool name_taken(const printer *p, const char *name)
{
	return heddle_name_table_find(&p->taken, name) >= 0;
}

bool heddle_is_companion(const heddle_dialect *dialect, const heddle_program *program, const char *name)
{
	if (!heddle_dialect_flag(dialect, "language.byte_offsets"))
		return false;
	const char *suffix = strrchr(name, '_');
	if (!suffix || (strcmp(suffix, "_offset") && strcmp(suffix, "_buffer")))
		return false;
	const size_t n = (size_t)(suffix - name);
	for (int i = 0; i < program->n_buffer; i++)
		if (strlen(program->buffer[i]->name) == n && !strncmp(program->buffer[i]->name, name, n))
			return true;
	return false;
}

/* The language uses this identifier, or the parameters of another tensor do. */
static bool is_reserved(const printer *p, const char *name)
{
	return heddle_dialect_reserves(p->dialect, name) || heddle_is_companion(p->dialect, p->program, name);
}

/* An identifier that the language does not use and that is not taken. */
const char *heddle_fresh_name(printer *p, const char *wanted)
{
	const char *name = wanted;
	while (is_reserved(p, name) || name_taken(p, name))
		name = heddle_arena_printf(p->arena, "%s_", name);
	heddle_name_table_put(p->arena, &p->taken, name, 0);
	return name;
}

/* The name as it is, unless the language owns it. */
static const char *own_name(printer *p, const char *wanted)
{
	if (is_reserved(p, wanted))
		return heddle_fresh_name(p, wanted);
	heddle_name_table_put(p->arena, &p->taken, wanted, 0);
	return wanted;
}

static void no_value(void *user, const heddle_value *v, bool data)
{
	(void)user;
	(void)v;
	(void)data;
}

static void collect_value(void *user, const heddle_value *v, bool data)
{
	printer *p = user;
	(void)data;
	p->uses_block = p->uses_block || v->kind == HEDDLE_VALUE_BLOCK;
	p->uses_thread = p->uses_thread || v->kind == HEDDLE_VALUE_THREAD;
}

/* A product that subscripts do not have: of two values that vary, or by a great number.  (Subscripts are affine, their ranges
 * are proved; arithmetic on data that a pass gave a name of its own must still wrap around.) */
static bool has_great_product(const heddle_value *v)
{
	if (v->kind == HEDDLE_VALUE_BINARY && v->op == HEDDLE_OP_MUL) {
		const heddle_value *a = v->arg[0], *b = v->arg[1];
		bool small = (a->kind == HEDDLE_VALUE_INT && llabs(a->i) < 65536) || (b->kind == HEDDLE_VALUE_INT && llabs(b->i) < 65536);
		if (!small)
			return true;
	}
	for (int i = 0; i < v->n_arg; i++)
		if (has_great_product(v->arg[i]))
			return true;
	return false;
}

/* Two branches may use one name: it is what either is. */
static void collect_node(void *user, const heddle_node *node)
{
	printer *p = user;
	if (node->kind != HEDDLE_NODE_FOR && node->kind != HEDDLE_NODE_LET)
		return;
	printer_local *known = heddle_find_local(p, node->name);
	if (!known) {
		printer_local new = {.name = node->name, .printed = own_name(p, node->name), .nonnegative = true};
		heddle_name_table_put(p->arena, &p->variables, node->name, p->n_variable);
		HEDDLE_PUSH(p->arena, p->variable, p->n_variable, new);
		known = &p->variable[p->n_variable - 1];
	}
	known->moves = known->moves || node->kind == HEDDLE_NODE_FOR || heddle_moves(p, node->value[0]);
	if (node->kind == HEDDLE_NODE_LET) {
		known->let = true;
		known->great = known->great || has_great_product(node->value[0]);
	}
}

static void mark_data_use(void *user, const heddle_value *v, bool data)
{
	printer *p = user;
	printer_local *variable = v->kind == HEDDLE_VALUE_VARIABLE && data ? heddle_find_local(p, v->name) : NULL;
	if (variable && variable->let && variable->great && !variable->data)
		variable->data = p->changed = true;
}

/* Data flows from LETs that hold it, and into LETs that are used as such. */
static void mark_data_let(void *user, const heddle_node *node)
{
	printer *p = user;
	if (node->kind != HEDDLE_NODE_LET)
		return;
	printer_local *variable = heddle_find_local(p, node->name);
	if (!variable->data && heddle_holds_data(p, node->value[0]))
		variable->data = p->changed = true;
	if (variable->data)
		visit_value(&(visitor){mark_data_use, NULL, p}, node->value[0], true);
}

static void mark_nonnegative(void *user, const heddle_node *node)
{
	printer *p = user;
	if (node->kind != HEDDLE_NODE_FOR && node->kind != HEDDLE_NODE_LET)
		return;
	printer_local *variable = heddle_find_local(p, node->name);
	bool is = !heddle_type_is_float(node->value[0]->type) && !variable->data && heddle_is_nonnegative(p, node->value[0]);
	if (variable->nonnegative && !is) {
		variable->nonnegative = false;
		p->changed = true;
	}
}

/* To a fixed point: a name's property may come from another that stands later. */
static void mark_variables(printer *p)
{
	do {
		p->changed = false;
		visit_node(&(visitor){mark_data_use, mark_data_let, p}, p->launch->body);
	} while (p->changed);
	do {
		p->changed = false;
		visit_node(&(visitor){no_value, mark_nonnegative, p}, p->launch->body);
	} while (p->changed);
}

static bool same_names(const printer *p)
{
	for (int i = 0; i < p->program->n_buffer; i++)
		if (p->program->buffer[i]->position != i)
			return false;
	return true;
}

/* ---- kernels ------------------------------------------------------------------------------------------------------------------------ */

typedef struct usage {
	const heddle_program *program;
	bool *size;   /* by position */
	bool *scalar; /* by buffer position */
} usage;

static void use_value(void *user, const heddle_value *v, bool data);

/* Sizes in what linearises a subscript per dimension. */
static void use_layout(usage *use, const heddle_buffer *buffer)
{
	for (int i = buffer->stride ? 0 : 1; i < buffer->rank; i++)
		visit_value(&(visitor){use_value, NULL, use}, buffer->stride ? buffer->stride[i] : buffer->extent[i], false);
}

static void use_value(void *user, const heddle_value *v, bool data)
{
	usage *use = user;
	(void)data;
	if (v->kind == HEDDLE_VALUE_SIZE)
		use->size[v->i] = true;
	if (v->kind != HEDDLE_VALUE_LOAD)
		return;
	if (v->buffer->role == HEDDLE_BUFFER_SCALAR)
		use->scalar[v->buffer->position] = true;
	else if (heddle_is_global(v->buffer) && v->n_arg == v->buffer->rank)
		use_layout(use, v->buffer);
}

static void use_node(void *user, const heddle_node *node)
{
	if (node->kind == HEDDLE_NODE_STORE && heddle_is_global(node->buffer) && node->n_value - 1 == node->buffer->rank)
		use_layout(user, node->buffer);
}

void heddle_kernel_arguments(heddle_arena *arena, const heddle_program *program, const heddle_launch *launch,
			     kernel_arguments *arguments)
{
	*arguments = (kernel_arguments){0};
	usage use = {program, HEDDLE_NEW_ARRAY(arena, bool, program->n_size + 1), HEDDLE_NEW_ARRAY(arena, bool, program->n_buffer + 1)};
	visit_node(&(visitor){use_value, use_node, &use}, launch->body);
	for (int i = 0; i < launch->n_buffer; i++) {
		if (launch->buffer[i]->role == HEDDLE_BUFFER_SCALAR)
			use.scalar[launch->buffer[i]->position] = true;
		else
			HEDDLE_PUSH(arena, arguments->tensor, arguments->n_tensor, launch->buffer[i]);
	}
	for (int i = 0; i < program->n_buffer; i++)
		if (program->buffer[i]->role == HEDDLE_BUFFER_SCALAR && use.scalar[program->buffer[i]->position])
			HEDDLE_PUSH(arena, arguments->scalar, arguments->n_scalar, program->buffer[i]);
	for (int i = 0; i < program->n_size; i++)
		if (use.size[i] && program->size[i].min != program->size[i].max)
			HEDDLE_PUSH(arena, arguments->size, arguments->n_size, i);
}

static int shared_align(const heddle_buffer *buffer)
{
	int least = heddle_type_size(buffer->type) * buffer->width;
	return buffer->align > least ? buffer->align : least > 16 ? 16 : least;
}

static int64_t shared_bytes(const heddle_buffer *buffer)
{
	int64_t n = (int64_t)heddle_type_size(buffer->type) * buffer->width;
	for (int i = 0; i < buffer->rank; i++)
		n *= buffer->extent[i]->i + (i == buffer->rank - 1 ? buffer->pad : 0);
	return n;
}

void heddle_kernel_memory(heddle_arena *arena, const heddle_target *target, const heddle_launch *launch, kernel_memory *memory)
{
	*memory = (kernel_memory){.offset = HEDDLE_NEW_ARRAY(arena, int64_t, launch->n_shared + 1)};
	for (int i = 0; i < launch->n_shared; i++) {
		int64_t align = shared_align(launch->shared[i]);
		memory->offset[i] = (memory->bytes + align - 1) / align * align;
		memory->bytes = memory->offset[i] + shared_bytes(launch->shared[i]);
	}
	const heddle_quantity *limit = &target->descriptor->shared_per_block_static;
	memory->dynamic = limit->set && (double)memory->bytes > limit->value && heddle_dialect_word(target->dialect, "shared.dynamic");
}

typedef struct align_use {
	const heddle_program *program;
	int *width; /* [n_buffer] of the widest access, in members */
} align_use;

static void widen(align_use *use, const heddle_buffer *buffer, int width)
{
	for (int i = 0; i < use->program->n_buffer; i++)
		if (use->program->buffer[i] == buffer && width > use->width[i])
			use->width[i] = width;
}

static void find_wide_load(void *user, const heddle_value *v, bool data)
{
	(void)data;
	if (v->kind == HEDDLE_VALUE_LOAD && v->width > v->buffer->width)
		widen(user, v->buffer, v->width);
}

static void find_wide_store(void *user, const heddle_node *node)
{
	if (node->kind == HEDDLE_NODE_STORE && node->value[0]->width > node->buffer->width)
		widen(user, node->buffer, node->value[0]->width);
}

int *heddle_buffer_alignments(heddle_arena *arena, const heddle_target *target, const heddle_program *program)
{
	int *align = HEDDLE_NEW_ARRAY(arena, int, program->n_buffer + 1);
	for (int i = 0; i < program->n_buffer; i++)
		align[i] = program->buffer[i]->width;
	const bool any = heddle_dialect_language(target->dialect).unaligned_vectors;
	for (int i = 0; i < program->n_launch && !any; i++)
		visit_node(&(visitor){find_wide_load, find_wide_store, &(align_use){program, align}}, program->launch[i]->body);
	for (int i = 0; i < program->n_buffer; i++) {
		const heddle_buffer *buffer = program->buffer[i];
		const int size = heddle_type_size(buffer->type), wide = align[i] * size;
		align[i] = align[i] == buffer->width ? size : wide < buffer->align ? wide : buffer->align;
	}
	return align;
}

/* Warps that each of a unit's schedulers has where so many blocks are resident. */
static int64_t min_warps(const printer *p)
{
	const heddle_descriptor *descriptor = p->target->descriptor;
	const int64_t n = descriptor->schedulers.set ? (int64_t)descriptor->schedulers.value : 1;
	const int64_t warp = descriptor->warp.set ? (int64_t)descriptor->warp.value : 1;
	return (p->launch->min_blocks * ((p->launch->threads + warp - 1) / warp) + n - 1) / n;
}

static void print_signature(printer *p, const kernel_arguments *arguments)
{
	heddle_arena *arena = p->arena;
	heddle_text list = {0};
	const char *offset = heddle_dialect_word(p->dialect, "argument.offset");
	const char *separator = "";
	for (int i = 0; i < arguments->n_tensor; i++) {
		const heddle_buffer *buffer = arguments->tensor[i];
		filler f[] = {{"type", printer_atom(heddle_storage_type(p, buffer->type))}, {"name", printer_atom(p->buffer_name[buffer->position])}};
		const char *key = buffer->role == HEDDLE_BUFFER_INPUT ? "argument.input" : "argument.output";
		heddle_text_printf(&list, "%s%s", separator, heddle_fill(arena, heddle_dialect_word(p->dialect, "%s", key), f, 2).text);
		separator = ", ";
		if (offset)
			heddle_text_printf(&list, ", %s", heddle_fill(arena, offset, f, 2).text);
	}
	for (int i = 0; i < arguments->n_scalar + arguments->n_size; i++) {
		bool scalar = i < arguments->n_scalar;
		const heddle_buffer *buffer = scalar ? arguments->scalar[i] : NULL;
		filler f[] = {{"type", printer_atom(heddle_storage_type(p, scalar ? buffer->type : HEDDLE_INT64))},
			      {"name", printer_atom(scalar ? p->buffer_name[buffer->position]
						   : p->size_name[arguments->size[i - arguments->n_scalar]])}};
		heddle_text_printf(&list, "%s%s", separator,
				   heddle_fill(arena, heddle_dialect_word(p->dialect, "argument.scalar"), f, 2).text);
		separator = ", ";
	}
	filler f[] = {{"name", printer_atom(p->launch->name)},
		      {"threads", printer_atom(printer_number(p, p->launch->threads))},
		      {"min_blocks", printer_atom(printer_number(p, p->launch->min_blocks))},
		      {"min_warps", printer_atom(printer_number(p, min_warps(p)))}};
	bool bounded = p->launch->min_blocks > 0;
	const char *head = heddle_fill(arena, heddle_dialect_word(p->dialect, bounded ? "kernel_min_blocks" : "kernel"), f, 4).text;
	heddle_print_list(p, head, heddle_text_str(&list));
	heddle_text_free(&list);
}

static void print_shared(printer *p, const kernel_memory *memory)
{
	if (memory->dynamic) {
		filler f[] = {{"name", printer_atom(p->shared_name)}, {"align", printer_atom("16")}};
		heddle_print_line(p, "%s", heddle_fill(p->arena, heddle_dialect_word(p->dialect, "shared.dynamic"), f, 2).text);
	}
	for (int i = 0; i < p->launch->n_shared; i++) {
		const heddle_buffer *buffer = p->launch->shared[i];
		const char *size = buffer->rank ? heddle_dimensions(p, buffer, 0) : "";
		filler f[] = {{"type", printer_atom(buffer->width == 1 ? heddle_storage_type(p, buffer->type)
							       : heddle_local_type(p, buffer->type, buffer->width))},
			      {"name", printer_atom(p->buffer_name[buffer->position])},
			      {"dimensions", printer_atom(size)},
			      {"align", printer_atom(printer_number(p, shared_align(buffer)))},
			      {"memory", printer_atom(p->shared_name)},
			      {"offset", printer_atom(printer_number(p, memory->offset[i]))}};
		const char *key = memory->dynamic ? "shared.view" : "shared.declare";
		heddle_print_text(p, heddle_fill(p->arena, heddle_dialect_word(p->dialect, "%s", key), f, 6).text, heddle_buffer_comment(p, buffer));
	}
}

static void print_begin(printer *p, const kernel_arguments *arguments, const kernel_memory *memory)
{
	for (int i = 0; i < arguments->n_tensor; i++) {
		const heddle_buffer *buffer = arguments->tensor[i];
		const char *word = heddle_dialect_word(p->dialect, "argument.begin_%s",
						       buffer->role == HEDDLE_BUFFER_INPUT ? "input" : "output");
		filler f[] = {{"type", printer_atom(heddle_storage_type(p, buffer->type))}, {"name", printer_atom(p->buffer_name[buffer->position])}};
		if (word)
			heddle_print_line(p, "%s", heddle_fill(p->arena, word, f, 2).text);
	}
	print_shared(p, memory);
	const char *type = heddle_storage_type(p, HEDDLE_INT32);
	if (p->uses_block)
		heddle_print_line(p, "%s", heddle_let_text(p, type, p->block_name, (code){heddle_dialect_word(p->dialect, "block"), LEVEL_ANY}));
	if (p->uses_thread)
		heddle_print_line(p, "%s", heddle_let_text(p, type, p->thread_name, (code){heddle_dialect_word(p->dialect, "thread"), LEVEL_ANY}));
}

static void name_everything(printer *p)
{
	const heddle_program *program = p->program;
	p->buffer_name = HEDDLE_NEW_ARRAY(p->arena, const char *, program->n_buffer + 1);
	p->size_name = HEDDLE_NEW_ARRAY(p->arena, const char *, program->n_size + 1);
	heddle_name_table_put(p->arena, &p->taken, p->launch->name, 0);
	/* Names that can stay are taken first: what `int` becomes must not be the name of another tensor. */
	for (int renamed = 0; renamed <= 1; renamed++) {
		for (int i = 0; i < program->n_size; i++)
			if (is_reserved(p, program->size[i].name) == renamed)
				p->size_name[i] = own_name(p, program->size[i].name);
		for (int i = 0; i < program->n_buffer; i++)
			if (is_reserved(p, program->buffer[i]->name) == renamed)
				p->buffer_name[program->buffer[i]->position] = own_name(p, program->buffer[i]->name);
	}
	visit_node(&(visitor){collect_value, collect_node, p}, p->launch->body);
	p->stored_by_open_loop = HEDDLE_NEW_ARRAY(p->arena, bool, program->n_buffer + 1);
	if (heddle_dialect_word(p->dialect, "language.array_bytes"))
		heddle_mark_open_loops(p, p->launch->body);
	p->block_name = heddle_fresh_name(p, "block");
	p->thread_name = heddle_fresh_name(p, "thread");
	p->shared_name = heddle_fresh_name(p, "shared_memory");
	mark_variables(p);
}

int heddle_kernel_print(heddle_ctx *ctx, const heddle_target *target, const heddle_program *program,
			const heddle_launch *launch, const heddle_emit_options *options, heddle_text *out)
{
	heddle_program *scratch = heddle_program_new(program->name);
	printer p = {
		.ctx = ctx,
		.arena = scratch->arena,
		.scratch = scratch,
		.target = target,
		.dialect = target->dialect,
		.program = program,
		.launch = launch,
		.source_name = options ? options->source_name : NULL,
		.out = out,
	};
	if (!same_names(&p)) {
		heddle_program_free(scratch);
		return heddle_error(ctx, 950, NULL, "buffers of %s are not numbered", program->name);
	}
	kernel_arguments arguments;
	kernel_memory memory;
	heddle_kernel_arguments(p.arena, program, launch, &arguments);
	heddle_kernel_memory(p.arena, target, launch, &memory);
	name_everything(&p);
	if (launch->config && *launch->config)
		heddle_print_comment(&p, launch->config);
	print_signature(&p, &arguments);
	heddle_print_line(&p, "{");
	p.depth++;
	print_begin(&p, &arguments, &memory);
	p.depth--;
	heddle_print_body(&p, launch->body);
	heddle_print_line(&p, "}");
	bool failed = p.failed;
	heddle_program_free(scratch);
	return failed ? -1 : 0;
}
