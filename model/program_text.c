/* The readable text form of a program: the printer.  doc/ir.md describes it.
 * SPDX-License-Identifier: MIT
 */
#include "model/program_words.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- printing values --------------------------------------------------------------------------------------------------- */

typedef struct printer {
	const heddle_program *p; /* NULL: a value alone */
	heddle_text *out;
} printer;

static void print_value(const printer *pr, const heddle_value *v, heddle_type expected, int precedence);

static void print_type(const printer *pr, heddle_type type, int width)
{
	heddle_text_add(pr->out, heddle_type_name(type));
	if (width > 1)
		heddle_text_printf(pr->out, "x%d", width);
}

/* A size may be called "block" or "true": the word then has a dollar before it. */
static bool is_size(const printer *pr, const char *name)
{
	for (int k = 0; pr->p && k < pr->p->n_size; k++)
		if (!strcmp(pr->p->size[k].name, name))
			return true;
	return false;
}

static void print_literal(const printer *pr, const heddle_value *v, heddle_type expected)
{
	char digits[40];

	if (v->kind == HEDDLE_VALUE_INT && v->type == HEDDLE_BOOL) {
		const char *word = v->i ? "true" : "false";
		heddle_text_printf(pr->out, "%s%s", is_size(pr, word) ? "$" : "", word);
		return;
	}
	if (v->kind == HEDDLE_VALUE_INT) {
		heddle_text_printf(pr->out, "%lld", (long long)v->i);
	} else {
		if (v->type == HEDDLE_FLOAT64)
			heddle_format_double(v->f, digits);
		else
			heddle_format_float((float)v->f, digits);
		heddle_text_add(pr->out, isnan(v->f) ? "nan" : digits);
		if (!strpbrk(digits, ".en"))
			heddle_text_add(pr->out, ".0");
	}
	if (v->type != expected)
		heddle_text_printf(pr->out, "_%s", heddle_type_name(v->type));
}

static void print_arguments(const printer *pr, const heddle_value *v, heddle_type expected)
{
	heddle_text_add(pr->out, "(");
	for (int k = 0; k < v->n_arg; k++) {
		if (k)
			heddle_text_add(pr->out, ", ");
		print_value(pr, v->arg[k], expected, 0);
	}
}

static void print_subscripts(const printer *pr, const heddle_buffer *buffer, int n, heddle_value *const *subscript, int width,
			     int64_t ahead)
{
	heddle_text_add(pr->out, buffer->name);
	if (n == 0)
		heddle_text_add(pr->out, "[]");
	for (int k = 0; k < n; k++) {
		heddle_text_add(pr->out, "[");
		print_value(pr, subscript[k], HEDDLE_INT32, 0);
		if (k == n - 1 && width > 1 && buffer->width == 1)
			heddle_text_printf(pr->out, " : %d", width);
		if (k == n - 1 && ahead)
			heddle_text_printf(pr->out, " ahead %lld", (long long)ahead);
		heddle_text_add(pr->out, "]");
	}
}

static void print_binary(const printer *pr, const heddle_value *v, heddle_type expected, int precedence)
{
	heddle_type inner = heddle_op_is_truth(v->op) ? HEDDLE_BOOL : heddle_value_first_type(v, 0, 2, false);
	if (inner == UNKNOWN)
		inner = heddle_op_is_comparison(v->op) || expected == UNKNOWN ? HEDDLE_INT32 : expected;
	if (v->op == HEDDLE_OP_MIN || v->op == HEDDLE_OP_MAX) {
		heddle_text_add(pr->out, heddle_op_symbol(v->op));
		print_arguments(pr, v, inner);
		heddle_text_add(pr->out, ")");
		return;
	}
	int own = heddle_op_precedence(v->op);
	if (own < precedence)
		heddle_text_add(pr->out, "(");
	print_value(pr, v->arg[0], inner, own);
	heddle_text_printf(pr->out, " %s ", heddle_op_symbol(v->op));
	print_value(pr, v->arg[1], inner, own + 1);
	if (own < precedence)
		heddle_text_add(pr->out, ")");
}

static void print_call(const printer *pr, const heddle_value *v)
{
	const char *name = heddle_builtins[v->i].name;
	heddle_type inner = heddle_value_first_type(v, 0, v->n_arg, false);
	if (heddle_word_is_intrinsic(name))
		heddle_text_add(pr->out, "call.");
	heddle_text_add(pr->out, name);
	if (inner != v->type)
		heddle_text_printf(pr->out, ".%s", heddle_type_name(v->type));
	print_arguments(pr, v, inner == UNKNOWN ? v->type : inner);
	heddle_text_add(pr->out, ")");
}

static void print_unary(const printer *pr, const heddle_value *v, heddle_type expected, int precedence)
{
	const heddle_value *a = v->arg[0];
	bool literal = a->kind == HEDDLE_VALUE_INT || a->kind == HEDDLE_VALUE_FLOAT;
	bool paren = UNARY_PRECEDENCE < precedence;
	heddle_text_add(pr->out, paren ? "(" : "");
	heddle_text_add(pr->out, heddle_op_symbol(v->op));
	heddle_text_add(pr->out, literal ? "(" : "");
	print_value(pr, a, v->op == HEDDLE_OP_NOT ? HEDDLE_BOOL : expected, UNARY_PRECEDENCE + 1);
	heddle_text_add(pr->out, literal ? ")" : "");
	heddle_text_add(pr->out, paren ? ")" : "");
}

/* name(arguments, with one literal type among them all */
static void print_function(const printer *pr, const char *name, const heddle_value *v, heddle_type expected)
{
	heddle_type inner = heddle_value_first_type(v, 0, v->n_arg, false);
	heddle_text_add(pr->out, name);
	print_arguments(pr, v, inner == UNKNOWN ? expected : inner);
}

static void print_value(const printer *pr, const heddle_value *v, heddle_type expected, int precedence)
{
	heddle_text *out = pr->out;

	switch (v->kind) {
	case HEDDLE_VALUE_INT:
	case HEDDLE_VALUE_FLOAT: print_literal(pr, v, expected); break;
	case HEDDLE_VALUE_VARIABLE: heddle_text_add(out, v->name); break;
	case HEDDLE_VALUE_BLOCK: heddle_text_add(out, is_size(pr, "block") ? "$block" : "block"); break;
	case HEDDLE_VALUE_THREAD: heddle_text_add(out, is_size(pr, "thread") ? "$thread" : "thread"); break;
	case HEDDLE_VALUE_SIZE:
		if (pr->p && v->i < pr->p->n_size)
			heddle_text_add(out, pr->p->size[v->i].name);
		else if (v->name)
			heddle_text_add(out, v->name);
		else
			heddle_text_printf(out, "size%d", (int)v->i);
		break;
	case HEDDLE_VALUE_LOAD: print_subscripts(pr, v->buffer, v->n_arg, v->arg, v->width, v->i); break;
	case HEDDLE_VALUE_UNARY: print_unary(pr, v, expected, precedence); break;
	case HEDDLE_VALUE_BINARY: print_binary(pr, v, expected, precedence); break;
	case HEDDLE_VALUE_FLOOR_DIV:
	case HEDDLE_VALUE_FLOOR_MOD:
		print_function(pr, v->kind == HEDDLE_VALUE_FLOOR_DIV ? "floor_div" : "floor_mod", v, expected);
		heddle_text_add(out, ")");
		break;
	case HEDDLE_VALUE_SELECT: {
		heddle_type inner = heddle_value_first_type(v, 1, 3, false);
		inner = inner == UNKNOWN ? expected : inner;
		heddle_text_add(out, "(");
		print_value(pr, v->arg[0], HEDDLE_BOOL, 1);
		heddle_text_add(out, " ? ");
		print_value(pr, v->arg[1], inner, 1);
		heddle_text_add(out, " : ");
		print_value(pr, v->arg[2], inner, 1);
		heddle_text_add(out, ")");
		break;
	}
	case HEDDLE_VALUE_CAST: {
		heddle_type inner = heddle_value_own_type(v->arg[0], false);
		heddle_text_printf(out, "%s(", heddle_type_name(v->type));
		print_value(pr, v->arg[0], inner == UNKNOWN ? HEDDLE_INT32 : inner, 0);
		heddle_text_add(out, ")");
		break;
	}
	case HEDDLE_VALUE_CALL: print_call(pr, v); break;
	case HEDDLE_VALUE_FMA:
		print_function(pr, "fma", v, expected);
		heddle_text_add(out, ")");
		break;
	case HEDDLE_VALUE_SPLAT:
		print_function(pr, "splat", v, expected);
		heddle_text_printf(out, ", %d)", v->width);
		break;
	case HEDDLE_VALUE_EXTRACT:
	case HEDDLE_VALUE_SHUFFLE:
	case HEDDLE_VALUE_ZIP:
		print_function(pr, v->kind == HEDDLE_VALUE_EXTRACT ? "extract" : v->kind == HEDDLE_VALUE_ZIP ? "zip" : "shuffle", v, expected);
		heddle_text_printf(out, ", %d)", (int)v->i);
		break;
	case HEDDLE_VALUE_BUILD:
	case HEDDLE_VALUE_UNZIP:
		print_function(pr, v->kind == HEDDLE_VALUE_BUILD ? "vector" : "unzip", v, expected);
		heddle_text_add(out, ")");
		break;
	case HEDDLE_VALUE_REDUCE:
		heddle_text_printf(out, "reduce(%s, ", heddle_op_symbol(v->op));
		print_value(pr, v->arg[0], expected, 0);
		heddle_text_add(out, ")");
		break;
	}
}

void heddle_value_print(const heddle_value *v, heddle_text *out)
{
	printer pr = {NULL, out};
	print_value(&pr, v, v->type, 0);
}

/* ---- printing the rest --------------------------------------------------------------------------------------------------- */

static void print_string(heddle_text *out, const char *s)
{
	heddle_text_add(out, "\"");
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			heddle_text_printf(out, "\\%c", *s);
		else if (*s == '\n')
			heddle_text_add(out, "\\n");
		else
			heddle_text_addn(out, s, 1);
	}
	heddle_text_add(out, "\"");
}

static void print_line(const printer *pr, const heddle_node *node)
{
	if (node->line)
		heddle_text_printf(pr->out, " @%d", node->line);
}

static void print_node(const printer *pr, const heddle_node *node, int depth);

/* " {", the children, "}" without a newline after it. */
static void print_block(const printer *pr, const heddle_node *block, int depth)
{
	heddle_text_add(pr->out, "{");
	print_line(pr, block);
	heddle_text_add(pr->out, "\n");
	if (block->kind == HEDDLE_NODE_BLOCK)
		for (int k = 0; k < block->n_child; k++)
			print_node(pr, block->child[k], depth + 1);
	else
		print_node(pr, block, depth + 1);
	heddle_text_indent(pr->out, depth);
	heddle_text_add(pr->out, "}");
}

static void print_for(const printer *pr, const heddle_node *node, int depth)
{
	heddle_type type = heddle_value_own_type(node->value[0], false);
	if (type == UNKNOWN)
		type = heddle_value_own_type(node->value[1], false);
	if (type == UNKNOWN)
		type = HEDDLE_INT32;
	heddle_text_printf(pr->out, "for %s %s in ", heddle_loop_words[node->loop], node->name);
	print_value(pr, node->value[0], type, 0);
	heddle_text_add(pr->out, " .. ");
	print_value(pr, node->value[1], type, 0);
	if (node->i != 1)
		heddle_text_printf(pr->out, " step %lld", (long long)node->i);
	if (node->copies)
		heddle_text_printf(pr->out, " copies %d", node->copies);
	heddle_text_add(pr->out, node->uniform ? " uniform" : "");
	print_line(pr, node);
	heddle_text_add(pr->out, " ");
	print_block(pr, node->child[0], depth);
}

static void print_if(const printer *pr, const heddle_node *node, int depth)
{
	heddle_text_add(pr->out, "if ");
	print_value(pr, node->value[0], HEDDLE_BOOL, 0);
	heddle_text_add(pr->out, node->uniform ? " uniform" : "");
	print_line(pr, node);
	heddle_text_add(pr->out, " ");
	print_block(pr, node->child[0], depth);
	if (node->n_child > 1) {
		heddle_text_add(pr->out, " else ");
		print_block(pr, node->child[1], depth);
	}
}

static void print_comment(const printer *pr, const char *text)
{
	heddle_text_add(pr->out, "// ");
	for (; *text; text++) {
		if (*text == '\n' || *text == '\\')
			heddle_text_add(pr->out, *text == '\n' ? "\\n" : "\\\\");
		else
			heddle_text_addn(pr->out, text, 1);
	}
}

static void print_node(const printer *pr, const heddle_node *node, int depth)
{
	heddle_text *out = pr->out;

	heddle_text_indent(out, depth);
	switch (node->kind) {
	case HEDDLE_NODE_BLOCK: print_block(pr, node, depth); break;
	case HEDDLE_NODE_FOR: print_for(pr, node, depth); break;
	case HEDDLE_NODE_IF: print_if(pr, node, depth); break;
	case HEDDLE_NODE_LET:
		heddle_text_add(out, "let ");
		print_type(pr, node->value[0]->type, node->value[0]->width);
		heddle_text_printf(out, " %s = ", node->name);
		print_value(pr, node->value[0], node->value[0]->type, 0);
		print_line(pr, node);
		break;
	case HEDDLE_NODE_DECLARE:
		heddle_text_printf(out, "declare %s", node->buffer->name);
		print_line(pr, node);
		break;
	case HEDDLE_NODE_STORE:
		print_subscripts(pr, node->buffer, node->n_value - 1, node->value + 1, node->value[0]->width, 0);
		heddle_text_add(out, " = ");
		print_value(pr, node->value[0], node->buffer->type, 0);
		print_line(pr, node);
		break;
	case HEDDLE_NODE_BARRIER:
		heddle_text_add(out, "barrier");
		print_line(pr, node);
		break;
	case HEDDLE_NODE_COPY:
		heddle_text_printf(out, "copy %s ", node->name);
		print_value(pr, node->value[0], HEDDLE_INT32, 0);
		heddle_text_add(out, " to ");
		print_subscripts(pr, node->buffer, (int)node->i, node->value + 1, 1, 0);
		heddle_text_add(out, " from ");
		print_subscripts(pr, node->source, node->n_value - 1 - (int)node->i, node->value + 1 + node->i, 1, 0);
		print_line(pr, node);
		break;
	case HEDDLE_NODE_WAIT:
		heddle_text_printf(out, "wait %s", node->name);
		print_line(pr, node);
		break;
	case HEDDLE_NODE_COMMENT: print_comment(pr, node->name); break;
	}
	heddle_text_add(out, "\n");
}

static void print_buffer(const printer *pr, const heddle_buffer *buffer)
{
	heddle_text *out = pr->out;
	heddle_text_printf(out, "buffer %s %s ", heddle_role_words[buffer->role], buffer->name);
	print_type(pr, buffer->type, buffer->width);
	heddle_text_add(out, buffer->rank ? " " : "");
	for (int k = 0; k < buffer->rank; k++) {
		heddle_text_add(out, "[");
		print_value(pr, buffer->extent[k], HEDDLE_INT64, 0);
		heddle_text_add(out, "]");
	}
	for (int k = 0; k < buffer->rank && buffer->stride; k++) {
		heddle_text_add(out, k ? "[" : " strides [");
		print_value(pr, buffer->stride[k], HEDDLE_INT64, 0);
		heddle_text_add(out, "]");
	}
	if (buffer->pad)
		heddle_text_printf(out, " pad %d", buffer->pad);
	if (buffer->align)
		heddle_text_printf(out, " align %d", buffer->align);
	if (buffer->offset) {
		heddle_text_add(out, " offset ");
		print_value(pr, buffer->offset, HEDDLE_INT64, 0);
	}
	if (buffer->of)
		heddle_text_printf(out, " of %s", buffer->of);
	heddle_text_add(out, buffer->unread ? " unread" : "");
	heddle_text_add(out, buffer->early ? " early" : "");
	if (buffer->comment) {
		heddle_text_add(out, " ");
		print_string(out, buffer->comment);
	}
	heddle_text_add(out, "\n");
}

static void print_names(heddle_text *out, const char *word, int n, heddle_buffer *const *buffer)
{
	for (int k = 0; k < n; k++)
		heddle_text_printf(out, k ? ", %s" : " %s %s", k ? buffer[k]->name : word, buffer[k]->name);
}

static void print_launch(const printer *pr, const heddle_launch *launch)
{
	heddle_text *out = pr->out;
	heddle_text_printf(out, "\nlaunch %s grid ", launch->name);
	print_value(pr, launch->grid, HEDDLE_INT64, 0);
	heddle_text_printf(out, " threads %d", launch->threads);
	if (launch->min_blocks)
		heddle_text_printf(out, " min_blocks %d", launch->min_blocks);
	print_names(out, "args", launch->n_buffer, launch->buffer);
	print_names(out, "shared", launch->n_shared, launch->shared);
	print_names(out, "streamed", launch->n_streamed, launch->streamed);
	if (launch->config) {
		heddle_text_add(out, " config ");
		print_string(out, launch->config);
	}
	heddle_text_add(out, " ");
	print_block(pr, launch->body, 0);
	heddle_text_add(out, "\n");
}

static void print_property(heddle_text *out, const char *word, const char *text)
{
	if (!text)
		return;
	heddle_text_printf(out, "%s ", word);
	print_string(out, text);
	heddle_text_add(out, "\n");
}

void heddle_program_print(const heddle_program *p, heddle_text *out)
{
	printer pr = {p, out};

	heddle_text_printf(out, "program %s", p->name);
	if (p->target)
		heddle_text_printf(out, " target %s", p->target);
	if (p->warp != 1)
		heddle_text_printf(out, " warp %d", p->warp);
	heddle_text_add(out, "\n");
	print_property(out, "config", p->config);
	print_property(out, "proof", p->proof);
	if (p->policy != HEDDLE_POLICY_IEEE)
		print_property(out, "policy", heddle_policy_name(p->policy));
	for (int k = 0; k < p->n_size; k++) {
		heddle_text_printf(out, "size %s %lld..%lld", p->size[k].name, (long long)p->size[k].min,
				   (long long)p->size[k].max);
		if (p->size[k].divisor != 1)
			heddle_text_printf(out, " *%lld", (long long)p->size[k].divisor);
		heddle_text_add(out, "\n");
	}
	for (int k = 0; k < p->n_buffer; k++)
		print_buffer(&pr, p->buffer[k]);
	if (p->workspace && !heddle_value_is_int(p->workspace, 0)) {
		heddle_text_add(out, "workspace ");
		print_value(&pr, p->workspace, HEDDLE_INT64, 0);
		heddle_text_add(out, "\n");
	}
	for (int k = 0; k < p->n_precondition; k++) {
		heddle_text_add(out, "require ");
		print_value(&pr, p->precondition[k], HEDDLE_BOOL, 0);
		heddle_text_add(out, "\n");
	}
	for (int k = 0; k < p->n_launch; k++)
		print_launch(&pr, p->launch[k]);
}
