/* The printer: statements, in the words of a dialect.
 * SPDX-License-Identifier: MIT
 */
#include "backends/printer_parts.h"
#include "model/ranges.h"

#include <stdlib.h>
#include <string.h>

/* The array has `least` bytes or more: the first dimension grows, so no subscript changes. */
const char *heddle_dimensions(printer *p, const heddle_buffer *buffer, int64_t least)
{
	heddle_text text = {0};
	int64_t bytes = (int64_t)heddle_type_size(buffer->type) * buffer->width;
	for (int i = 1; i < buffer->rank; i++)
		bytes *= buffer->extent[i]->i;
	for (int i = 0; i < buffer->rank; i++) {
		int64_t n = buffer->extent[i]->i + (i == buffer->rank - 1 ? buffer->pad : 0);
		if (i == 0 && n * bytes < least)
			n = (least + bytes - 1) / bytes;
		heddle_text_printf(&text, "[%lld]", (long long)n);
	}
	const char *result = heddle_arena_strdup(p->arena, heddle_text_str(&text));
	heddle_text_free(&text);
	return result;
}

const char *heddle_buffer_comment(printer *p, const heddle_buffer *buffer)
{
	if (buffer->comment && buffer->of)
		return heddle_arena_printf(p->arena, " // %s: %s", buffer->of, buffer->comment);
	if (buffer->comment || buffer->of)
		return heddle_arena_printf(p->arena, " // %s%s", buffer->comment ? "" : "tile of ",
					   buffer->comment ? buffer->comment : buffer->of);
	return "";
}

static bool depends_in(const heddle_node *node, const heddle_value *value, const char *iterator);

/* The same through a variable that the node declares. */
static bool depends_by_let(const heddle_node *root, const heddle_node *node, const heddle_value *value, const char *iterator)
{
	if (node->kind == HEDDLE_NODE_LET && heddle_value_depends(value, node->name) &&
	    depends_in(root, node->value[0], iterator))
		return true;
	for (int i = 0; i < node->n_child; i++)
		if (depends_by_let(root, node->child[i], value, iterator))
			return true;
	return false;
}

static bool depends_in(const heddle_node *node, const heddle_value *value, const char *iterator)
{
	return heddle_value_depends(value, iterator) || depends_by_let(node, node, value, iterator);
}

/* Buffers that `loop` stores to at places that go with its iterator. */
static void mark_stored_along(printer *p, const heddle_node *loop, const heddle_node *node)
{
	if (node->kind == HEDDLE_NODE_STORE && !p->stored_by_open_loop[node->buffer->position])
		for (int i = 1; i < node->n_value; i++)
			if (depends_in(loop, node->value[i], loop->name))
				p->stored_by_open_loop[node->buffer->position] = true;
	for (int i = 0; i < node->n_child; i++)
		mark_stored_along(p, loop, node->child[i]);
}

/* Loops whose length is not known here. */
void heddle_mark_open_loops(printer *p, const heddle_node *node)
{
	if (node->kind == HEDDLE_NODE_FOR && (node->value[0]->kind != HEDDLE_VALUE_INT || node->value[1]->kind != HEDDLE_VALUE_INT))
		mark_stored_along(p, node, node);
	for (int i = 0; i < node->n_child; i++)
		heddle_mark_open_loops(p, node->child[i]);
}

static void print_declare(printer *p, const heddle_buffer *buffer)
{
	const char *array_bytes = heddle_dialect_word(p->dialect, "language.array_bytes");
	int64_t least = array_bytes && p->stored_by_open_loop[buffer->position] ? atoi(array_bytes) : 0;
	filler f[] = {{"type", printer_atom(heddle_local_type(p, buffer->type, buffer->width))},
		      {"name", printer_atom(p->buffer_name[buffer->position])},
		      {"dimensions", printer_atom(heddle_dimensions(p, buffer, least))}};
	if (buffer->type == HEDDLE_BOOL && buffer->width == 1)
		f[0].value = printer_atom(heddle_storage_type(p, buffer->type));
	heddle_print_text(p, heddle_fill(p->arena, heddle_dialect_word(p->dialect, "register.declare"), f, 3).text,
		  heddle_buffer_comment(p, buffer));
}

static bool same_place(const heddle_node *store, const heddle_value *load)
{
	if (load->kind != HEDDLE_VALUE_LOAD || load->buffer != store->buffer || load->n_arg != store->n_value - 1 ||
	    load->width != store->value[0]->width)
		return false;
	for (int i = 0; i < load->n_arg; i++)
		if (!heddle_value_equal(load->arg[i], store->value[i + 1]))
			return false;
	return true;
}

/* `x = x op e` is `x op= e` where no conversion hides in it; NULL: it is not of that form. */
static const char *compound(printer *p, const heddle_node *store, code place)
{
	const heddle_value *v = store->value[0];
	bool plain = heddle_type_is_float(v->type) ? !heddle_is_half(v->type)
						   : heddle_type_is_unsigned(v->type) && heddle_type_size(v->type) >= 4;
	if (!plain || v->width != store->buffer->width || heddle_needs_vector_arithmetic(p, v))
		return NULL;
	if (v->kind == HEDDLE_VALUE_FMA && same_place(store, v->arg[2])) {
		code product = heddle_print_product(p, v->arg[0], v->arg[1]);
		return heddle_arena_printf(p->arena, "%s += %s;", place.text, product.text);
	}
	if (v->kind != HEDDLE_VALUE_BINARY)
		return NULL;
	bool commutes = v->op == HEDDLE_OP_ADD || v->op == HEDDLE_OP_MUL;
	if (!commutes && v->op != HEDDLE_OP_SUB && (v->op != HEDDLE_OP_DIV || v->width > 1))
		return NULL;
	const heddle_value *other = NULL;
	if (same_place(store, v->arg[0]))
		other = v->arg[1];
	else if (commutes && same_place(store, v->arg[1]))
		other = v->arg[0];
	if (!other)
		return NULL;
	return heddle_arena_printf(p->arena, "%s %s= %s;", place.text, heddle_op_symbol(v->op), heddle_print_value(p, other, true).text);
}

/* How vectors of global memory are stored: past the caches where the launch asks for it and the language can. */
static const char *store_word(printer *p, const heddle_buffer *buffer)
{
	const char *past = heddle_dialect_word(p->dialect, "vector.stream");
	for (int i = 0; i < p->launch->n_streamed && past; i++)
		if (p->launch->streamed[i] == buffer)
			return past;
	return heddle_dialect_word(p->dialect, "vector.store");
}

static void print_store(printer *p, const heddle_node *node)
{
	const heddle_buffer *buffer = node->buffer;
	const heddle_value *v = node->value[0];
	code place = heddle_print_element(p, buffer, node->n_value - 1, node->value + 1);
	const char *text = compound(p, node, place);
	if (!text) {
		code value = heddle_print_value(p, v, true);
		const char *to_bool = heddle_dialect_word(p->dialect, "vector.condition.to_bool");
		if (v->type == HEDDLE_BOOL && v->width > 1 && v->width != buffer->width && to_bool) {
			filler c[] = {{"width", printer_atom(printer_number(p, v->width))}, {"value", value}};
			value = heddle_fill(p->arena, to_bool, c, 2);
		}
		if (v->width == buffer->width) {
			text = heddle_arena_printf(p->arena, "%s = %s;", place.text, value.text);
		} else {
			filler f[] = {{"vector", printer_atom(heddle_memory_vector(p, buffer->type, v->width))},
				      {"stem", printer_atom(heddle_stem(p, buffer->type))},
				      {"width", printer_atom(printer_number(p, v->width))},
				      {"pointer", (code){heddle_arena_printf(p->arena, "&%s", place.text), LEVEL_UNARY}},
				      {"value", value}};
			text = heddle_fill(p->arena, store_word(p, buffer), f, 5).text;
		}
	}
	heddle_print_mapped(p, node->line, text);
}

static void print_children(printer *p, const heddle_node *block);

void heddle_print_body(printer *p, const heddle_node *body)
{
	p->depth++;
	if (body->kind == HEDDLE_NODE_BLOCK)
		print_children(p, body);
	else
		heddle_print_node(p, body);
	p->depth--;
}

static void print_for(printer *p, const heddle_node *node)
{
	if (node->loop != HEDDLE_LOOP_SERIAL)
		heddle_print_line(p, "%s", heddle_dialect_word(p->dialect, "unroll"));
	if (node->copies) {
		filler copies = {"n", printer_atom(printer_number(p, node->copies))};
		heddle_print_line(p, "%s", heddle_fill(p->arena, heddle_dialect_word(p->dialect, "unroll_by"), &copies, 1).text);
	}
	const char *name = heddle_find_local(p, node->name)->printed, *own = heddle_dialect_word(p->dialect, "statement.for");
	const char *step = node->i == 1 ? heddle_arena_printf(p->arena, "%s++", name)
					: heddle_arena_printf(p->arena, "%s += %lld", name, (long long)node->i);
	const char *text = heddle_arena_printf(p->arena, "for (%s %s = %s; %s < %s; %s) {", heddle_local_type(p, node->value[0]->type, 1),
					       name, heddle_print_value(p, node->value[0], false).text, name,
					       heddle_bind(p->arena, heddle_print_value(p, node->value[1], false), LEVEL_LESS + 1), step);
	if (own) {
		filler f[] = {{"type", printer_atom(heddle_local_type(p, node->value[0]->type, 1))},
			      {"name", printer_atom(name)},
			      {"from", heddle_print_value(p, node->value[0], false)},
			      {"to", heddle_print_value(p, node->value[1], false)},
			      {"step", (code){step, LEVEL_ANY}},
			      {"by", printer_atom(printer_number(p, node->i))}};
		text = heddle_arena_printf(p->arena, "%s {", heddle_fill(p->arena, own, f, 6).text);
	}
	heddle_print_mapped(p, node->line, text);
	heddle_print_body(p, node->child[0]);
	heddle_print_line(p, "}");
}

static bool opens_scope(const heddle_node *block)
{
	for (int i = 0; i < block->n_child; i++)
		if (block->child[i]->kind == HEDDLE_NODE_LET || block->child[i]->kind == HEDDLE_NODE_DECLARE)
			return true;
	return false;
}

/* A name for a value. */
const char *heddle_let_text(printer *p, const char *type, const char *name, code value)
{
	const char *own = heddle_dialect_word(p->dialect, "statement.let");
	filler f[] = {{"type", printer_atom(type)}, {"name", printer_atom(name)}, {"value", value}};
	return own ? heddle_fill(p->arena, own, f, 3).text
		   : heddle_arena_printf(p->arena, "const %s %s = %s;", type, name, value.text);
}

/* The unsigned type of the same size: copies take no 16-bit floats. */
static const char *bits_type(const printer *p, heddle_type type)
{
	static const heddle_type bits[] = {[1] = HEDDLE_UINT8, [2] = HEDDLE_UINT16, [4] = HEDDLE_UINT32, [8] = HEDDLE_UINT64};
	return heddle_storage_type(p, bits[heddle_type_size(type)]);
}

static void copy_line(printer *p, const heddle_node *node, const char *word, const filler *values, int n)
{
	const char *template = heddle_dialect_word(p->dialect, "copy.%s.%s", node->name, word);
	if (!template && !strcmp(word, "begin"))
		return;
	if (!template) {
		heddle_error(p->ctx, 457, NULL, "the dialect `%s` does not say how `%s` copies: it has no `copy.%s.%s`", p->dialect->name,
			     node->name, node->name, word);
		p->failed = true;
		return;
	}
	heddle_print_mapped(p, *word == 'i' ? node->line : 0, heddle_fill(p->arena, template, values, n).text);
}

static const char *address(printer *p, const heddle_buffer *buffer, int n, heddle_value *const *subscript)
{
	return heddle_arena_printf(p->arena, "&%s", heddle_bind(p->arena, heddle_print_element(p, buffer, n, subscript), LEVEL_POSTFIX));
}

static void print_copy(printer *p, const heddle_node *node)
{
	const int n = (int)node->i;
	const filler values[] = {
		{"to", {address(p, node->buffer, n, node->value + 1), LEVEL_UNARY}},
		{"from", {address(p, node->source, node->n_value - 1 - n, node->value + 1 + n), LEVEL_UNARY}},
		{"count", heddle_print_value(p, node->value[0], false)},
		{"bits", printer_atom(bits_type(p, node->buffer->type))},
		{"type", printer_atom(heddle_storage_type(p, node->buffer->type))},
		{"event", printer_atom(p->event)}};
	copy_line(p, node, "issue", values, (int)HEDDLE_COUNT(values));
}

/* Before the first copy that a wait further down in the same block ends: its event. */
static void begin_copies(printer *p, const heddle_node *block, int at)
{
	const heddle_node *copy = p->event ? NULL : heddle_node_find(block->child[at], HEDDLE_NODE_COPY);
	if (copy && !heddle_node_under_way(block->child[at], copy->name))
		return; /* waited for inside */
	for (int i = at + 1; copy && i < block->n_child; i++) {
		if (!heddle_node_find(block->child[i], HEDDLE_NODE_WAIT))
			continue;
		p->event = heddle_fresh_name(p, "copies");
		const filler event[] = {{"event", printer_atom(p->event)}};
		copy_line(p, copy, "begin", event, 1);
		return;
	}
}

static void print_wait(printer *p, const heddle_node *node)
{
	const filler event[] = {{"event", printer_atom(p->event ? p->event : "")}};
	copy_line(p, node, "wait", event, 1);
	p->event = NULL;
}

static void print_children(printer *p, const heddle_node *block)
{
	for (int i = 0; i < block->n_child; i++) {
		begin_copies(p, block, i);
		heddle_print_node(p, block->child[i]);
		const heddle_node *next = i + 1 < block->n_child ? block->child[i + 1] : NULL;
		if (heddle_meets_at_barrier(p, block->child[i]) && (next ? next->kind != HEDDLE_NODE_BARRIER : p->depth > 1))
			heddle_print_barrier(p);
	}
}

void heddle_print_node(printer *p, const heddle_node *node)
{
	switch (node->kind) {
	case HEDDLE_NODE_BLOCK:
		if (opens_scope(node)) {
			heddle_print_line(p, "{");
			heddle_print_body(p, node);
			heddle_print_line(p, "}");
		} else {
			print_children(p, node);
		}
		break;
	case HEDDLE_NODE_FOR:
		print_for(p, node);
		break;
	case HEDDLE_NODE_IF:
		heddle_print_if(p, node);
		break;
	case HEDDLE_NODE_LET: {
		const heddle_value *v = node->value[0];
		const printer_local *variable = heddle_find_local(p, node->name);
		heddle_print_mapped(p, node->line,
			    heddle_let_text(p, heddle_local_type(p, v->type, v->width), variable->printed, heddle_print_value(p, v, variable->data)));
		break;
	}
	case HEDDLE_NODE_DECLARE:
		print_declare(p, node->buffer);
		break;
	case HEDDLE_NODE_STORE:
		print_store(p, node);
		break;
	case HEDDLE_NODE_BARRIER:
		heddle_print_barrier(p);
		break;
	case HEDDLE_NODE_COPY:
		print_copy(p, node);
		break;
	case HEDDLE_NODE_WAIT:
		print_wait(p, node);
		break;
	case HEDDLE_NODE_COMMENT:
		heddle_print_comment(p, node->name);
		break;
	}
}
