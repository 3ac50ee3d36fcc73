/* The one C-like printer: statements and device kernels in the words of a dialect; values.c is its other half.
 * SPDX-License-Identifier: MIT
 */
#include "backends/printer_parts.h"
#include "model/ranges.h"

#include <stdlib.h>
#include <string.h>

enum { LINE_WIDTH = 118 };

/* ---- lines ---------------------------------------------------------------------------------------------------------------------- */

/* How good a place the space at `s` is for a line to end: 0 none, else the less the better.  After an assignment comes first,
 * then commas and operators, the loosest first, each less good the deeper it is nested. */
static int break_cost(const char *text, size_t i, int depth)
{
	int level = heddle_operator_level(text + i);
	if (i > 0 && (text[i - 1] == ',' || text[i - 1] == ';'))
		return 1 + 16 * depth;
	if (level && level <= LEVEL_PRODUCT)
		return 1 + level + 16 * depth;
	return i > 1 && text[i - 1] == '=' && strchr(" +-*/", text[i - 2]) ? 1 : 0;
}

/* The best place to break `text` before column `limit`, as the number of characters that stay: a line should not be cut early
 * for little.  After an opening bracket only where nothing else is left; 0: nowhere. */
static size_t break_at(const char *text, size_t limit)
{
	size_t best = 0, bracket = 0;
	int best_cost = 0, depth = 0;
	for (size_t i = 0; text[i] && i < limit; i++) {
		if (strchr("([{", text[i])) {
			depth++;
			bracket = text[i] == '(' ? i + 1 : bracket;
		}
		if (strchr(")]}", text[i]))
			depth--;
		if (text[i] == ' ') {
			int cost = break_cost(text, i, depth);
			if (cost && i < limit / 3)
				cost += 64;
			if (cost && (best == 0 || cost <= best_cost)) {
				best_cost = cost;
				best = i;
			}
		}
	}
	return best ? best : bracket;
}

/* `text` on as many lines as it needs, those after the first `extra` deeper; `end` closes the last. */
static void wrapped_text(printer *p, const char *text, const char *end, int extra)
{
	int depth = p->depth;
	heddle_text_indent(p->out, depth);
	for (;;) {
		if (8 * depth + (int)strlen(text) <= LINE_WIDTH)
			break;
		int room = LINE_WIDTH - 8 * depth;
		size_t at = room > 30 ? break_at(text, (size_t)room) : 0;
		if (at == 0)
			break;
		heddle_text_addn(p->out, text, at);
		heddle_text_add(p->out, "\n");
		depth = p->depth + extra;
		heddle_text_indent(p->out, depth);
		text += at + (text[at] == ' ');
	}
	heddle_text_printf(p->out, "%s%s\n", text, end);
}

static void line_text(printer *p, const char *text, const char *end) { wrapped_text(p, text, end, 1); }

static void line(printer *p, const char *format, ...) HEDDLE_PRINTF(2, 3);
static void line(printer *p, const char *format, ...)
{
	heddle_text text = {0};
	va_list args;
	va_start(args, format);
	heddle_text_vprintf(&text, format, args);
	va_end(args);
	line_text(p, heddle_text_str(&text), "");
	heddle_text_free(&text);
}

/* A line that says where it comes from, when that changed. */
static void mapped_line(printer *p, int source_line, const char *text)
{
	const char *end = "";
	if (source_line > 0 && source_line != p->last_line && p->source_name) {
		end = heddle_arena_printf(p->arena, " // %s:%d", p->source_name, source_line);
		p->last_line = source_line;
	}
	line_text(p, text, end);
}

/* Lines of comment, broken between words where they are long. */
static void comment(printer *p, const char *text)
{
	size_t room = (size_t)(LINE_WIDTH - 8 * p->depth - 3);
	while (text && *text) {
		size_t n = strcspn(text, "\n");
		if (n > room) {
			n = room;
			while (n > 0 && text[n] != ' ')
				n--;
			if (n == 0)
				n = strcspn(text, " \n");
		}
		heddle_text_indent(p->out, p->depth);
		heddle_text_printf(p->out, "// %.*s\n", (int)n, text);
		text += n + (text[n] != '\0');
	}
}

/* ---- statements -------------------------------------------------------------------------------------------------------------------- */

static void print_node(printer *p, const heddle_node *node);

/* The array has `least` bytes or more: the first dimension grows, so no subscript changes. */
static const char *dimensions(printer *p, const heddle_buffer *buffer, int64_t least)
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

static const char *buffer_comment(printer *p, const heddle_buffer *buffer)
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
static void mark_open_loops(printer *p, const heddle_node *node)
{
	if (node->kind == HEDDLE_NODE_FOR && (node->value[0]->kind != HEDDLE_VALUE_INT || node->value[1]->kind != HEDDLE_VALUE_INT))
		mark_stored_along(p, node, node);
	for (int i = 0; i < node->n_child; i++)
		mark_open_loops(p, node->child[i]);
}

static void print_declare(printer *p, const heddle_buffer *buffer)
{
	const char *array_bytes = heddle_dialect_word(p->dialect, "language.array_bytes");
	int64_t least = array_bytes && p->stored_by_open_loop[buffer->position] ? atoi(array_bytes) : 0;
	filler f[] = {{"type", printer_atom(heddle_local_type(p, buffer->type, buffer->width))},
		      {"name", printer_atom(p->buffer_name[buffer->position])},
		      {"dimensions", printer_atom(dimensions(p, buffer, least))}};
	if (buffer->type == HEDDLE_BOOL && buffer->width == 1)
		f[0].value = printer_atom(heddle_storage_type(p, buffer->type));
	line_text(p, heddle_fill(p->arena, heddle_dialect_word(p->dialect, "register.declare"), f, 3).text,
		  buffer_comment(p, buffer));
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
	if (!commutes && v->op != HEDDLE_OP_SUB && v->op != HEDDLE_OP_DIV)
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
			text = heddle_fill(p->arena, heddle_dialect_word(p->dialect, "vector.store"), f, 5).text;
		}
	}
	mapped_line(p, node->line, text);
}

static void print_children(printer *p, const heddle_node *block);
static const char *fresh_name(printer *p, const char *wanted);

static void print_body(printer *p, const heddle_node *body)
{
	p->depth++;
	if (body->kind == HEDDLE_NODE_BLOCK)
		print_children(p, body);
	else
		print_node(p, body);
	p->depth--;
}

static void print_for(printer *p, const heddle_node *node)
{
	if (node->loop != HEDDLE_LOOP_SERIAL)
		line(p, "%s", heddle_dialect_word(p->dialect, "unroll"));
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
	mapped_line(p, node->line, text);
	print_body(p, node->child[0]);
	line(p, "}");
}

static const heddle_node *only_if(const heddle_node *node)
{
	if (node->kind == HEDDLE_NODE_BLOCK && node->n_child == 1)
		return only_if(node->child[0]);
	return node->kind == HEDDLE_NODE_IF ? node : NULL;
}

static bool has_barrier(const heddle_node *node)
{
	if (node->kind == HEDDLE_NODE_BARRIER)
		return true;
	for (int i = 0; i < node->n_child; i++)
		if (has_barrier(node->child[i]))
			return true;
	return false;
}

static const char *print_condition(printer *p, const heddle_node *node)
{
	if (heddle_dialect_flag(p->dialect, "language.joint_conditions") && has_barrier(node))
		return heddle_print_joint(p, node->value[0]).text;
	return heddle_print_value(p, node->value[0], false).text;
}

static void print_barrier(printer *p)
{
	line(p, "%s", heddle_dialect_word(p->dialect, "barrier"));
}

/* Must a barrier stand where ways with and without one meet? */
static bool meets_at_barrier(const printer *p, const heddle_node *node)
{
	return node->kind == HEDDLE_NODE_IF && heddle_dialect_flag(p->dialect, "language.barriers_at_joins") && has_barrier(node);
}

/* How many barriers the text of a node ends with. */
static int last_barriers(const printer *p, const heddle_node *node)
{
	int n = 0;
	if (node->kind == HEDDLE_NODE_BARRIER)
		return 1;
	if (node->kind != HEDDLE_NODE_BLOCK)
		return 0;
	for (int i = node->n_child - 1; i >= 0; i--, n++)
		if (node->child[i]->kind != HEDDLE_NODE_BARRIER)
			return n + meets_at_barrier(p, node->child[i]);
	return n;
}

static void print_if(printer *p, const heddle_node *node);

static bool value_names(const heddle_value *v, const char *name)
{
	if (v->kind == HEDDLE_VALUE_VARIABLE && !strcmp(v->name, name))
		return true;
	for (int i = 0; i < v->n_arg; i++)
		if (value_names(v->arg[i], name))
			return true;
	return false;
}

static bool value_loads(const heddle_value *v)
{
	if (v->kind == HEDDLE_VALUE_LOAD)
		return true;
	for (int i = 0; i < v->n_arg; i++)
		if (value_loads(v->arg[i]))
			return true;
	return false;
}

static bool names(const heddle_node *node, const char *name)
{
	for (int i = 0; i < node->n_value; i++)
		if (value_names(node->value[i], name))
			return true;
	for (int i = 0; i < node->n_child; i++)
		if (names(node->child[i], name))
			return true;
	return false;
}

/* Can `if (c) { a; barrier; b }` be `if (c) a; barrier; if (c) b`: do both times give the same condition and names? */
static bool may_part(const heddle_node *node)
{
	const heddle_node *body = node->child[0];
	if (node->n_child != 1 || body->kind != HEDDLE_NODE_BLOCK || value_loads(node->value[0]))
		return false;
	int last = body->n_child - 1;
	while (last >= 0 && body->child[last]->kind != HEDDLE_NODE_BARRIER)
		last--;
	for (int i = 0; i < last; i++) {
		const heddle_node *child = body->child[i];
		if (child->kind == HEDDLE_NODE_DECLARE || (child->kind == HEDDLE_NODE_LET && value_loads(child->value[0])))
			return false;
	}
	return last >= 0;
}

/* What stands in the body from `from` to `to`, under its condition, with the names from before that it needs. */
static void print_part(printer *p, const heddle_node *node, int from, int to)
{
	const heddle_node *body = node->child[0];
	heddle_node part = *node, inside = *body;
	heddle_node *children[1] = {&inside};
	inside.child = HEDDLE_NEW_ARRAY(p->arena, heddle_node *, to);
	inside.n_child = to - from;
	for (int i = 0; i < inside.n_child; i++)
		inside.child[i] = body->child[from + i];
	for (int i = from - 1; i >= 0; i--) {
		if (body->child[i]->kind != HEDDLE_NODE_LET || !names(&inside, body->child[i]->name))
			continue;
		for (int k = inside.n_child; k > 0; k--)
			inside.child[k] = inside.child[k - 1];
		inside.child[0] = body->child[i];
		inside.n_child++;
	}
	part.child = children;
	if (from < to)
		print_if(p, &part);
}

/* An `if` without an else whose body has barriers: they stand between its parts; print_children puts one behind the last. */
static void print_parts(printer *p, const heddle_node *node)
{
	const heddle_node *body = node->child[0];
	int from = 0, to = body->n_child;
	while (to > 0 && body->child[to - 1]->kind == HEDDLE_NODE_BARRIER)
		to--;
	for (int i = 0; i < to; i++) {
		if (body->child[i]->kind != HEDDLE_NODE_BARRIER)
			continue;
		print_part(p, node, from, i);
		print_barrier(p);
		from = i + 1;
	}
	print_part(p, node, from, to);
}

static void print_if(printer *p, const heddle_node *node)
{
	const bool meets = meets_at_barrier(p, node);
	if (meets && may_part(node)) {
		print_parts(p, node);
		return;
	}
	const char *start = "", *own = heddle_dialect_word(p->dialect, "statement.if");
	const char *own_else = heddle_dialect_word(p->dialect, "statement.else"), *otherwise_word = own_else ? own_else : "else";
	for (;;) {
		const char *head = heddle_arena_printf(p->arena, "if (%s)", print_condition(p, node));
		if (own) {
			filler f[] = {{"condition", (code){print_condition(p, node), LEVEL_ANY}}};
			head = heddle_fill(p->arena, own, f, 1).text;
		}
		mapped_line(p, *start ? 0 : node->line, heddle_arena_printf(p->arena, "%s%s {", start, head));
		print_body(p, node->child[0]);
		const heddle_node *otherwise = node->n_child == 2 ? node->child[1] : NULL;
		if (!otherwise || (otherwise->kind == HEDDLE_NODE_BLOCK && otherwise->n_child == 0)) {
			line(p, "}");
			return;
		}
		const heddle_node *next = meets ? NULL : only_if(otherwise);
		if (!next) {
			line(p, "} %s {", otherwise_word);
			print_body(p, otherwise);
			/* compilers may not take the ends of both for one: the second has a barrier more */
			const int already = last_barriers(p, otherwise), wanted = meets ? last_barriers(p, node->child[0]) + 1 : 0;
			p->depth++;
			if (already < wanted)
				comment(p, "one barrier more than the branch above, so that their ends are not merged");
			for (int i = already; i < wanted; i++)
				print_barrier(p);
			p->depth--;
			line(p, "}");
			return;
		}
		start = heddle_arena_printf(p->arena, "} %s ", otherwise_word);
		node = next;
	}
}

static bool opens_scope(const heddle_node *block)
{
	for (int i = 0; i < block->n_child; i++)
		if (block->child[i]->kind == HEDDLE_NODE_LET || block->child[i]->kind == HEDDLE_NODE_DECLARE)
			return true;
	return false;
}

/* A name for a value. */
static const char *let_text(printer *p, const char *type, const char *name, code value)
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
	mapped_line(p, *word == 'i' ? node->line : 0, heddle_fill(p->arena, template, values, n).text);
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

static const heddle_node *find_copy(const heddle_node *node)
{
	if (node->kind == HEDDLE_NODE_COPY)
		return node;
	const heddle_node *found = NULL;
	for (int i = 0; i < node->n_child && !found; i++)
		found = find_copy(node->child[i]);
	return found;
}

static bool has_wait(const heddle_node *node)
{
	if (node->kind == HEDDLE_NODE_WAIT)
		return true;
	for (int i = 0; i < node->n_child; i++)
		if (has_wait(node->child[i]))
			return true;
	return false;
}

/* Before the first copy that a wait further down in the same block ends: its event. */
static void begin_copies(printer *p, const heddle_node *block, int at)
{
	const heddle_node *copy = p->event ? NULL : find_copy(block->child[at]);
	if (copy && !heddle_node_under_way(block->child[at], copy->name))
		return; /* waited for inside */
	for (int i = at + 1; copy && i < block->n_child; i++) {
		if (!has_wait(block->child[i]))
			continue;
		p->event = fresh_name(p, "copies");
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
		print_node(p, block->child[i]);
		const heddle_node *next = i + 1 < block->n_child ? block->child[i + 1] : NULL;
		if (meets_at_barrier(p, block->child[i]) && (next ? next->kind != HEDDLE_NODE_BARRIER : p->depth > 1))
			print_barrier(p);
	}
}

static void print_node(printer *p, const heddle_node *node)
{
	switch (node->kind) {
	case HEDDLE_NODE_BLOCK:
		if (opens_scope(node)) {
			line(p, "{");
			print_body(p, node);
			line(p, "}");
		} else {
			print_children(p, node);
		}
		break;
	case HEDDLE_NODE_FOR:
		print_for(p, node);
		break;
	case HEDDLE_NODE_IF:
		print_if(p, node);
		break;
	case HEDDLE_NODE_LET: {
		const heddle_value *v = node->value[0];
		const printer_local *variable = heddle_find_local(p, node->name);
		mapped_line(p, node->line,
			    let_text(p, heddle_local_type(p, v->type, v->width), variable->printed, heddle_print_value(p, v, variable->data)));
		break;
	}
	case HEDDLE_NODE_DECLARE:
		print_declare(p, node->buffer);
		break;
	case HEDDLE_NODE_STORE:
		print_store(p, node);
		break;
	case HEDDLE_NODE_BARRIER:
		print_barrier(p);
		break;
	case HEDDLE_NODE_COPY:
		print_copy(p, node);
		break;
	case HEDDLE_NODE_WAIT:
		print_wait(p, node);
		break;
	case HEDDLE_NODE_COMMENT:
		comment(p, node->name);
		break;
	}
}

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
static const char *fresh_name(printer *p, const char *wanted)
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
		return fresh_name(p, wanted);
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
	const heddle_buffer *buffer;
	int width; /* of the widest access, in members */
} align_use;

static void find_wide_load(void *user, const heddle_value *v, bool data)
{
	align_use *use = user;
	(void)data;
	if (v->kind == HEDDLE_VALUE_LOAD && v->buffer == use->buffer && v->width > use->width)
		use->width = v->width;
}

static void find_wide_store(void *user, const heddle_node *node)
{
	align_use *use = user;
	if (node->kind == HEDDLE_NODE_STORE && node->buffer == use->buffer && node->value[0]->width > use->width)
		use->width = node->value[0]->width;
}

int heddle_buffer_alignment(const heddle_target *target, const heddle_program *program, const heddle_buffer *buffer)
{
	const int size = heddle_type_size(buffer->type);
	align_use use = {buffer, buffer->width};
	if (heddle_dialect_language(target->dialect).unaligned_vectors)
		return size;
	for (int i = 0; i < program->n_launch; i++)
		visit_node(&(visitor){find_wide_load, find_wide_store, &use}, program->launch[i]->body);
	if (use.width == buffer->width)
		return size;
	return use.width * size < buffer->align ? use.width * size : buffer->align;
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
		      {"min_blocks", printer_atom(printer_number(p, p->launch->min_blocks))}};
	bool bounded = p->launch->min_blocks > 0;
	const char *head = heddle_fill(arena, heddle_dialect_word(p->dialect, bounded ? "kernel_min_blocks" : "kernel"), f, 3).text;
	const char *all = heddle_text_str(&list);
	if (strlen(head) + strlen(all) + 2 <= LINE_WIDTH) {
		line(p, "%s(%s)", head, all);
	} else {
		line(p, "%s(", head);
		p->depth++;
		wrapped_text(p, all, ")", 0);
		p->depth--;
	}
	heddle_text_free(&list);
}

static void print_shared(printer *p, const kernel_memory *memory)
{
	if (memory->dynamic) {
		filler f[] = {{"name", printer_atom(p->shared_name)}, {"align", printer_atom("16")}};
		line(p, "%s", heddle_fill(p->arena, heddle_dialect_word(p->dialect, "shared.dynamic"), f, 2).text);
	}
	for (int i = 0; i < p->launch->n_shared; i++) {
		const heddle_buffer *buffer = p->launch->shared[i];
		const char *size = buffer->rank ? dimensions(p, buffer, 0) : "";
		filler f[] = {{"type", printer_atom(buffer->width == 1 ? heddle_storage_type(p, buffer->type)
							       : heddle_local_type(p, buffer->type, buffer->width))},
			      {"name", printer_atom(p->buffer_name[buffer->position])},
			      {"dimensions", printer_atom(size)},
			      {"align", printer_atom(printer_number(p, shared_align(buffer)))},
			      {"memory", printer_atom(p->shared_name)},
			      {"offset", printer_atom(printer_number(p, memory->offset[i]))}};
		const char *key = memory->dynamic ? "shared.view" : "shared.declare";
		line_text(p, heddle_fill(p->arena, heddle_dialect_word(p->dialect, "%s", key), f, 6).text, buffer_comment(p, buffer));
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
			line(p, "%s", heddle_fill(p->arena, word, f, 2).text);
	}
	print_shared(p, memory);
	const char *type = heddle_storage_type(p, HEDDLE_INT32);
	if (p->uses_block)
		line(p, "%s", let_text(p, type, p->block_name, (code){heddle_dialect_word(p->dialect, "block"), LEVEL_ANY}));
	if (p->uses_thread)
		line(p, "%s", let_text(p, type, p->thread_name, (code){heddle_dialect_word(p->dialect, "thread"), LEVEL_ANY}));
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
		mark_open_loops(p, p->launch->body);
	p->block_name = fresh_name(p, "block");
	p->thread_name = fresh_name(p, "thread");
	p->shared_name = fresh_name(p, "shared_memory");
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
		comment(&p, launch->config);
	print_signature(&p, &arguments);
	line(&p, "{");
	p.depth++;
	print_begin(&p, &arguments, &memory);
	p.depth--;
	print_body(&p, launch->body);
	line(&p, "}");
	bool failed = p.failed;
	heddle_program_free(scratch);
	return failed ? -1 : 0;
}
