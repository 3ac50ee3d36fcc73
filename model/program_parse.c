/* The readable text form of a program: the parser of nodes, buffers and launches.  doc/ir.md describes it.
 * SPDX-License-Identifier: MIT
 */
#include "model/program_parse.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- parsing nodes ---------------------------------------------------------------------------------------------------------- */

/* float32 or float32x4 */
static heddle_type parse_type(parser *ps, int *width)
{
	token where = ps->now;
	const char *word = program_expect_name(ps, "a type");
	size_t n = strlen(word);
	while (n > 0 && isdigit((unsigned char)word[n - 1]))
		n--;
	*width = 1;
	int type = heddle_type_parse(word);
	if (type < 0 && n > 1 && word[n - 1] == 'x' && word[n]) {
		long members = strtol(word + n, NULL, 10);
		type = heddle_type_parse(heddle_arena_strndup(ps->p->arena, word, n - 1));
		if (members < 1 || members > HEDDLE_MAX_VECTOR)
			program_fail(ps, &where, "a vector has 1 to %d members, %s does not", HEDDLE_MAX_VECTOR, word);
		else
			*width = (int)members;
	}
	if (type < 0)
		program_fail(ps, &where, "there is no type %s", word);
	return type < 0 ? HEDDLE_INT32 : (heddle_type)type;
}

static void add_variable(parser *ps, const char *name, heddle_type type, int width)
{
	variable v = {name, type, width};
	HEDDLE_PUSH(ps->p->arena, ps->variable, ps->n_variable, v);
}

static int parse_line(parser *ps)
{
	return program_accept(ps, "@") ? program_expect_int(ps, 0) : 0;
}

static heddle_node *parse_node(parser *ps);

static heddle_node *parse_block(parser *ps)
{
	heddle_node *block = heddle_node_block(ps->p);
	int outer = ps->n_variable;
	token open = ps->now;
	if (++ps->depth > MAX_DEPTH)
		program_fail(ps, &open, "more than %d levels of parentheses and braces", MAX_DEPTH);
	program_expect(ps, "{");
	block->line = parse_line(ps);
	while (!ps->failed && !program_is(ps, "}")) {
		if (ps->now.kind == END)
			program_fail(ps, &open, "this { has no }");
		else
			heddle_node_append(ps->p, block, parse_node(ps));
	}
	program_expect(ps, "}");
	ps->n_variable = outer;
	ps->depth--;
	return block;
}

static heddle_node *node_new(parser *ps, heddle_node_kind kind)
{
	heddle_node *node = HEDDLE_NEW(ps->p->arena, heddle_node);
	node->kind = kind;
	return node;
}

static void add_value(parser *ps, heddle_node *node, heddle_value *v)
{
	HEDDLE_PUSH(ps->p->arena, node->value, node->n_value, v);
}

static heddle_node *parse_for(parser *ps)
{
	heddle_node *node = node_new(ps, HEDDLE_NODE_FOR);
	size_t k = 0;
	while (k < (size_t)HEDDLE_N_LOOP_WORD && !program_is(ps, heddle_loop_words[k]))
		k++;
	if (k == (size_t)HEDDLE_N_LOOP_WORD)
		program_fail(ps, &ps->now, "expected serial, unroll, vector or hint but found %s", program_describe(ps));
	node->loop = (heddle_loop_kind)k;
	program_next(ps);
	node->name = program_expect_name(ps, "an iterator");
	program_expect(ps, "in");
	token first = ps->now;
	add_value(ps, node, program_parse_expression(ps, 1));
	program_expect(ps, "..");
	add_value(ps, node, program_parse_expression(ps, 1));
	if (ps->failed)
		return node;
	heddle_type type = heddle_value_own_type(node->value[0], true);
	if (type == UNKNOWN)
		type = heddle_value_own_type(node->value[1], true);
	if (type == UNKNOWN)
		type = HEDDLE_INT32;
	ps->value = first;
	program_resolve(ps, node->value[0], type);
	program_resolve(ps, node->value[1], type);
	node->i = program_accept(ps, "step") ? program_expect_integer(ps) : 1;
	node->copies = program_accept(ps, "copies") ? (int)program_expect_integer(ps) : 0;
	node->uniform = program_accept(ps, "uniform");
	node->line = parse_line(ps);
	add_variable(ps, node->name, node->value[0]->type, 1);
	HEDDLE_PUSH(ps->p->arena, node->child, node->n_child, parse_block(ps));
	ps->n_variable--;
	return node;
}

static heddle_node *parse_if(parser *ps)
{
	heddle_node *node = node_new(ps, HEDDLE_NODE_IF);
	add_value(ps, node, program_parse_value(ps, HEDDLE_BOOL));
	node->uniform = program_accept(ps, "uniform");
	node->line = parse_line(ps);
	HEDDLE_PUSH(ps->p->arena, node->child, node->n_child, parse_block(ps));
	if (program_accept(ps, "else"))
		HEDDLE_PUSH(ps->p->arena, node->child, node->n_child, parse_block(ps));
	return node;
}

static heddle_node *parse_let(parser *ps)
{
	int width;
	heddle_node *node = node_new(ps, HEDDLE_NODE_LET);
	heddle_type type = parse_type(ps, &width);
	token where = ps->now;
	node->name = program_expect_name(ps, "a variable");
	program_expect(ps, "=");
	add_value(ps, node, program_parse_value(ps, type));
	if (node->value[0]->type != type || node->value[0]->width != width)
		program_fail(ps, &where, "the value of %s is not of the type it is given", node->name);
	add_variable(ps, node->name, type, width);
	node->line = parse_line(ps);
	return node;
}

static heddle_node *parse_store(parser *ps, const token *where, const char *name)
{
	heddle_node *node = node_new(ps, HEDDLE_NODE_STORE);
	heddle_value *place = program_parse_load(ps, where, name);
	program_expect(ps, "=");
	node->buffer = place->buffer;
	add_value(ps, node, program_parse_value(ps, place->type));
	for (int k = 0; k < place->n_arg; k++)
		add_value(ps, node, place->arg[k]);
	if (node->value[0]->width != place->width)
		program_fail(ps, where, "%d members of %s are stored from a value of width %d", place->width, name,
		     node->value[0]->width);
	node->line = parse_line(ps);
	return node;
}

static heddle_node *parse_copy(parser *ps, bool wait)
{
	heddle_node *node = node_new(ps, wait ? HEDDLE_NODE_WAIT : HEDDLE_NODE_COPY);
	node->name = program_expect_name(ps, "the name of a copy");
	if (!wait) {
		add_value(ps, node, program_parse_value(ps, HEDDLE_INT32));
		for (int side = 0; side < 2; side++) {
			program_expect(ps, side ? "from" : "to");
			token where = ps->now;
			heddle_value *place = program_parse_load(ps, &where, program_expect_name(ps, "a buffer"));
			*(side ? &node->source : &node->buffer) = place->buffer;
			node->i = side ? node->i : place->n_arg;
			for (int k = 0; k < place->n_arg; k++)
				add_value(ps, node, place->arg[k]);
		}
	}
	node->line = parse_line(ps);
	return node;
}

static heddle_node *parse_node(parser *ps)
{
	token where = ps->now;

	if (program_is(ps, "{"))
		return parse_block(ps);
	if (where.kind == REMARK) {
		heddle_node *node = node_new(ps, HEDDLE_NODE_COMMENT);
		node->name = where.text;
		program_next(ps);
		return node;
	}
	const char *word = program_expect_name(ps, "a statement");
	if (program_is(ps, "["))
		return parse_store(ps, &where, word);
	if (!strcmp(word, "for"))
		return parse_for(ps);
	if (!strcmp(word, "if"))
		return parse_if(ps);
	if (!strcmp(word, "let"))
		return parse_let(ps);
	if (!strcmp(word, "copy") || !strcmp(word, "wait"))
		return parse_copy(ps, word[0] == 'w');
	if (!strcmp(word, "barrier") || !strcmp(word, "declare")) {
		heddle_node *node = node_new(ps, word[0] == 'b' ? HEDDLE_NODE_BARRIER : HEDDLE_NODE_DECLARE);
		if (node->kind == HEDDLE_NODE_DECLARE)
			node->buffer = program_expect_buffer(ps);
		node->line = parse_line(ps);
		return node;
	}
	program_fail(ps, &where, "expected a statement but found %s", word);
	return node_new(ps, HEDDLE_NODE_BARRIER);
}

/* ---- parsing the rest --------------------------------------------------------------------------------------------------------- */

/* "cuda:h200": characters up to white space, which the tokens would break apart. */
static const char *parse_target(parser *ps)
{
	const char *start = ps->now.start;
	size_t n = strcspn(start, " \t\r\n");
	ps->at = start + n;
	program_next(ps);
	return heddle_arena_strndup(ps->p->arena, start, n);
}

static void parse_head(parser *ps)
{
	program_expect(ps, "program");
	ps->p->name = program_expect_name(ps, "the name of the program");
	while (!ps->failed) {
		if (program_is(ps, "target")) {
			program_next(ps);
			ps->p->target = parse_target(ps);
		} else if (program_accept(ps, "warp")) {
			ps->p->warp = program_expect_int(ps, 1);
		} else {
			return;
		}
	}
}

static void parse_size(parser *ps)
{
	heddle_program_size size = {.divisor = 1};
	size.name = program_expect_name(ps, "a size");
	size.min = program_expect_integer(ps);
	program_expect(ps, "..");
	size.max = program_expect_integer(ps);
	if (program_accept(ps, "*"))
		size.divisor = program_expect_integer(ps);
	HEDDLE_PUSH(ps->p->arena, ps->p->size, ps->p->n_size, size);
}

/* strides [s][t]..: one per extent. */
static void parse_strides(parser *ps, heddle_buffer *buffer)
{
	int n = 0;
	while (program_accept(ps, "[")) {
		token where = ps->now;
		HEDDLE_PUSH(ps->p->arena, buffer->stride, n, program_parse_value(ps, HEDDLE_INT64));
		if (n > buffer->rank)
			program_fail(ps, &where, "more strides than extents");
		program_expect(ps, "]");
	}
	if (n < buffer->rank)
		program_fail(ps, &ps->now, "expected a stride for each of %d extents", buffer->rank);
}

static void parse_buffer(parser *ps)
{
	int role = -1, width;
	for (size_t k = 0; k < (size_t)HEDDLE_N_ROLE_WORD; k++)
		if (program_is(ps, heddle_role_words[k]))
			role = (int)k;
	if (role < 0)
		program_fail(ps, &ps->now, "expected what the buffer is (input, output, shared, ..) but found %s", program_describe(ps));
	program_next(ps);
	token where = ps->now;
	const char *name = program_expect_name(ps, "the name of the buffer");
	if (program_find_buffer(ps->p, name))
		program_fail(ps, &where, "there are two buffers %s", name);
	heddle_type type = parse_type(ps, &width);
	if (ps->failed)
		return;
	heddle_buffer *buffer = heddle_buffer_new(ps->p, name, (heddle_buffer_role)role, type, 0);
	buffer->width = width;
	buffer->align = heddle_type_size(type) * width;
	while (program_accept(ps, "[")) {
		HEDDLE_PUSH(ps->p->arena, buffer->extent, buffer->rank, program_parse_value(ps, HEDDLE_INT64));
		program_expect(ps, "]");
	}
	for (;;) {
		if (program_accept(ps, "pad"))
			buffer->pad = program_expect_int(ps, 0);
		else if (program_accept(ps, "strides"))
			parse_strides(ps, buffer);
		else if (program_accept(ps, "align"))
			buffer->align = program_expect_int(ps, 1);
		else if (program_accept(ps, "offset"))
			buffer->offset = program_parse_value(ps, HEDDLE_INT64);
		else if (program_accept(ps, "of"))
			buffer->of = program_expect_name(ps, "the tensor");
		else if (program_accept(ps, "unread"))
			buffer->unread = true;
		else if (program_accept(ps, "early"))
			buffer->early = true;
		else if (ps->now.kind == STRING)
			buffer->comment = program_expect_string(ps);
		else
			return;
	}
}

static void parse_launch(parser *ps)
{
	heddle_launch *launch = HEDDLE_NEW(ps->p->arena, heddle_launch);
	launch->name = program_expect_name(ps, "the name of the launch");
	program_expect(ps, "grid");
	launch->grid = program_parse_value(ps, HEDDLE_INT64);
	program_expect(ps, "threads");
	launch->threads = program_expect_int(ps, 0);
	while (!ps->failed && !program_is(ps, "{")) {
		if (program_accept(ps, "min_blocks")) {
			launch->min_blocks = program_expect_int(ps, 0);
		} else if (program_accept(ps, "args")) {
			do
				HEDDLE_PUSH(ps->p->arena, launch->buffer, launch->n_buffer, program_expect_buffer(ps));
			while (program_accept(ps, ","));
		} else if (program_accept(ps, "shared")) {
			do
				HEDDLE_PUSH(ps->p->arena, launch->shared, launch->n_shared, program_expect_buffer(ps));
			while (program_accept(ps, ","));
		} else if (program_accept(ps, "streamed")) {
			do
				HEDDLE_PUSH(ps->p->arena, launch->streamed, launch->n_streamed, program_expect_buffer(ps));
			while (program_accept(ps, ","));
		} else if (program_accept(ps, "config")) {
			launch->config = program_expect_string(ps);
		} else {
			program_fail(ps, &ps->now, "expected { or a property of the launch but found %s", program_describe(ps));
		}
	}
	launch->body = parse_block(ps);
	HEDDLE_PUSH(ps->p->arena, ps->p->launch, ps->p->n_launch, launch);
}

static void parse_policy(parser *ps)
{
	token where = ps->now;
	int policy = heddle_policy_parse(program_expect_string(ps));
	if (policy < 0)
		program_fail(ps, &where, "there is no such policy");
	else
		ps->p->policy = (heddle_policy)policy;
}

static void parse_program(parser *ps)
{
	heddle_program *p = ps->p;
	parse_head(ps);
	while (!ps->failed && ps->now.kind != END) {
		if (program_accept(ps, "config"))
			p->config = program_expect_string(ps);
		else if (program_accept(ps, "proof"))
			p->proof = program_expect_string(ps);
		else if (program_accept(ps, "policy"))
			parse_policy(ps);
		else if (program_accept(ps, "size"))
			parse_size(ps);
		else if (program_accept(ps, "buffer"))
			parse_buffer(ps);
		else if (program_accept(ps, "workspace"))
			p->workspace = program_parse_value(ps, HEDDLE_INT64);
		else if (program_accept(ps, "require"))
			HEDDLE_PUSH(p->arena, p->precondition, p->n_precondition, program_parse_value(ps, HEDDLE_BOOL));
		else if (program_accept(ps, "launch"))
			parse_launch(ps);
		else
			program_fail(ps, &ps->now, "expected size, buffer, launch, .. but found %s", program_describe(ps));
	}
}

heddle_program *heddle_program_parse(heddle_ctx *ctx, const char *name, const char *text)
{
	heddle_arena *arena = heddle_ctx_arena(ctx);
	heddle_source *source = HEDDLE_NEW(arena, heddle_source);
	source->name = heddle_arena_strdup(arena, name);
	source->text = heddle_arena_strdup(arena, text);
	source->length = strlen(text);

	parser ps = {.ctx = ctx, .p = heddle_program_new(""), .source = source, .line = 1};
	ps.at = ps.line_start = source->text;
	program_next(&ps);
	parse_program(&ps);
	if (ps.failed)
		return heddle_program_free(ps.p);
	heddle_program_number(ps.p);
	return ps.p;
}
