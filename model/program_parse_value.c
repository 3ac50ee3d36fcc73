/* The readable text form of a program: values, and the types of their literals.
 * SPDX-License-Identifier: MIT
 */
#include "model/program_parse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- parsing values: types ------------------------------------------------------------------------------------------------ */

static void resolve_range(parser *ps, heddle_value *v, int from, int to, heddle_type expected)
{
	for (int k = from; k < to; k++)
		program_resolve(ps, v->arg[k], expected);
}

/* Is a floating-point literal without a type among what takes its type from what stands around it? */
static bool has_float(const heddle_value *v)
{
	switch (v->kind) {
	case HEDDLE_VALUE_FLOAT: return v->type == UNKNOWN;
	case HEDDLE_VALUE_BINARY:
		if (heddle_op_is_truth(v->op) || heddle_op_is_comparison(v->op))
			return false;
		break;
	case HEDDLE_VALUE_UNARY:
		if (v->op == HEDDLE_OP_NOT)
			return false;
		break;
	case HEDDLE_VALUE_SELECT: return has_float(v->arg[1]) || has_float(v->arg[2]);
	case HEDDLE_VALUE_FLOOR_DIV:
	case HEDDLE_VALUE_FLOOR_MOD:
	case HEDDLE_VALUE_FMA:
	case HEDDLE_VALUE_SPLAT:
	case HEDDLE_VALUE_EXTRACT:
	case HEDDLE_VALUE_BUILD:
	case HEDDLE_VALUE_ZIP:
	case HEDDLE_VALUE_UNZIP:
	case HEDDLE_VALUE_REDUCE:
	case HEDDLE_VALUE_SHUFFLE: break;
	default: return false;
	}
	for (int k = 0; k < v->n_arg; k++)
		if (has_float(v->arg[k]))
			return true;
	return false;
}

/* The type that arguments from .. to share, or else `expected`; then every one of them resolved to it. */
static heddle_type resolve_together(parser *ps, heddle_value *v, int from, int to, heddle_type expected)
{
	heddle_type type = heddle_value_first_type(v, from, to, true);
	if (type == UNKNOWN)
		type = expected;
	for (int k = from; k < to && type == UNKNOWN; k++)
		type = has_float(v->arg[k]) ? HEDDLE_FLOAT32 : UNKNOWN;
	resolve_range(ps, v, from, to, type);
	return v->arg[from]->type;
}

static void resolve_literal(parser *ps, heddle_value *v, heddle_type expected)
{
	if (v->kind == HEDDLE_VALUE_INT && v->type == UNKNOWN) {
		if (expected != UNKNOWN && heddle_type_is_float(expected)) {
			v->kind = HEDDLE_VALUE_FLOAT;
			v->f = (double)v->i;
			v->i = 0;
		} else {
			v->type = expected == UNKNOWN ? HEDDLE_INT32 : expected;
		}
	}
	if (v->kind == HEDDLE_VALUE_FLOAT) {
		if (v->type == UNKNOWN && expected != UNKNOWN && !heddle_type_is_float(expected))
			program_fail(ps, &ps->value, "a floating-point literal stands where the type is %s", heddle_type_name(expected));
		if (v->type == UNKNOWN)
			v->type = expected != UNKNOWN && heddle_type_is_float(expected) ? expected : HEDDLE_FLOAT32;
		if (v->type != HEDDLE_FLOAT64)
			v->f = (double)(float)v->f;
	}
}

/* Give literals the type that their place asks for, and every value its type and width. */
void program_resolve(parser *ps, heddle_value *v, heddle_type expected)
{
	switch (v->kind) {
	case HEDDLE_VALUE_INT:
	case HEDDLE_VALUE_FLOAT: resolve_literal(ps, v, expected); return;
	case HEDDLE_VALUE_VARIABLE:
	case HEDDLE_VALUE_BLOCK:
	case HEDDLE_VALUE_THREAD:
	case HEDDLE_VALUE_SIZE:
	case HEDDLE_VALUE_LOAD: return;
	case HEDDLE_VALUE_UNARY:
		program_resolve(ps, v->arg[0], v->op == HEDDLE_OP_NOT ? HEDDLE_BOOL : expected);
		v->type = v->arg[0]->type;
		break;
	case HEDDLE_VALUE_BINARY:
		if (heddle_op_is_truth(v->op)) {
			resolve_range(ps, v, 0, 2, HEDDLE_BOOL);
			v->type = HEDDLE_BOOL;
		} else if (heddle_op_is_comparison(v->op)) {
			resolve_together(ps, v, 0, 2, UNKNOWN);
			v->type = HEDDLE_BOOL;
		} else {
			v->type = resolve_together(ps, v, 0, 2, expected);
		}
		break;
	case HEDDLE_VALUE_SELECT:
		program_resolve(ps, v->arg[0], HEDDLE_BOOL);
		v->type = resolve_together(ps, v, 1, 3, expected);
		v->width = v->arg[1]->width;
		return;
	case HEDDLE_VALUE_CAST: program_resolve(ps, v->arg[0], UNKNOWN); break;
	case HEDDLE_VALUE_CALL: resolve_together(ps, v, 0, v->n_arg, v->type); break;
	case HEDDLE_VALUE_SPLAT:
	case HEDDLE_VALUE_BUILD: v->type = resolve_together(ps, v, 0, v->n_arg, expected); return;
	case HEDDLE_VALUE_EXTRACT:
	case HEDDLE_VALUE_REDUCE:
		v->type = resolve_together(ps, v, 0, 1, expected);
		v->width = 1;
		return;
	default: v->type = resolve_together(ps, v, 0, v->n_arg, expected); break;
	}
	v->width = v->n_arg ? v->arg[0]->width : 1;
}

/* ---- parsing values: grammar ------------------------------------------------------------------------------------------------ */

heddle_value *program_parse_expression(parser *ps, int precedence);
heddle_value *program_parse_value(parser *ps, heddle_type expected);

static heddle_value *value_new(parser *ps, heddle_value_kind kind, heddle_type type)
{
	heddle_value *v = HEDDLE_NEW(ps->p->arena, heddle_value);
	v->kind = kind;
	v->type = type;
	v->width = 1;
	return v;
}

static void add_argument(parser *ps, heddle_value *v, heddle_value *argument)
{
	HEDDLE_PUSH(ps->p->arena, v->arg, v->n_arg, argument);
}

static heddle_value *parse_literal(parser *ps, bool negative)
{
	const token *t = &ps->now;
	heddle_value *v = value_new(ps, t->kind == INTEGER ? HEDDLE_VALUE_INT : HEDDLE_VALUE_FLOAT, t->type);
	if (t->kind == FLOATING || (t->type != UNKNOWN && heddle_type_is_float(t->type))) {
		v->kind = HEDDLE_VALUE_FLOAT;
		v->f = strtod(t->text, NULL);
		v->f = negative ? -v->f : v->f;
	} else {
		v->i = program_integer_of(ps, t, negative);
	}
	if (t->kind == FLOATING && t->type != UNKNOWN && !heddle_type_is_float(t->type))
		program_fail(ps, t, "a floating-point literal cannot be %s", heddle_type_name(t->type));
	program_next(ps);
	return v;
}

heddle_buffer *program_find_buffer(const heddle_program *p, const char *name)
{
	for (int k = 0; k < p->n_buffer; k++)
		if (!strcmp(p->buffer[k]->name, name))
			return p->buffer[k];
	return NULL;
}

heddle_buffer *program_expect_buffer(parser *ps)
{
	token where = ps->now;
	const char *name = program_expect_name(ps, "a buffer");
	heddle_buffer *buffer = program_find_buffer(ps->p, name);
	if (!buffer)
		program_fail(ps, &where, "there is no buffer %s", name);
	return buffer;
}

/* [a][b][c : 4], appended to v's arguments; the width after the colon, 1 without. */
static int parse_subscripts(parser *ps, heddle_value *v)
{
	int width = 1;
	while (width == 1 && program_accept(ps, "[")) {
		if (program_accept(ps, "]"))
			break;
		add_argument(ps, v, program_parse_value(ps, HEDDLE_INT32));
		if (program_accept(ps, ":"))
			width = program_expect_int(ps, 1);
		if (program_accept(ps, "ahead"))
			v->i = program_expect_int(ps, 1);
		program_expect(ps, "]");
	}
	return width;
}

heddle_value *program_parse_load(parser *ps, const token *where, const char *name)
{
	heddle_value *v = value_new(ps, HEDDLE_VALUE_LOAD, HEDDLE_INT32);
	v->buffer = program_find_buffer(ps->p, name);
	v->width = parse_subscripts(ps, v);
	if (!v->buffer) {
		program_fail(ps, where, "there is no buffer %s", name);
		return v;
	}
	v->type = v->buffer->type;
	if (v->buffer->width > 1 && v->width == 1)
		v->width = v->buffer->width;
	return v;
}

static heddle_value *parse_name(parser *ps, const token *where, const char *name)
{
	for (int k = ps->n_variable - 1; k >= 0; k--)
		if (!strcmp(ps->variable[k].name, name)) {
			heddle_value *v = value_new(ps, HEDDLE_VALUE_VARIABLE, ps->variable[k].type);
			v->width = ps->variable[k].width;
			v->name = name;
			return v;
		}
	for (int k = 0; k < ps->p->n_size; k++)
		if (!strcmp(ps->p->size[k].name, name))
			return heddle_value_size(ps->p, k);
	if (!strcmp(name, "block") || !strcmp(name, "$block"))
		return heddle_value_block(ps->p);
	if (!strcmp(name, "thread") || !strcmp(name, "$thread"))
		return heddle_value_thread(ps->p);
	const char *word = name + (*name == '$');
	if (!strcmp(word, "true") || !strcmp(word, "false"))
		return heddle_value_int(ps->p, HEDDLE_BOOL, !strcmp(word, "true"));
	if (program_find_buffer(ps->p, name))
		program_fail(ps, where, "%s is a buffer: its elements are read by %s[..], a scalar by %s[]", name, name, name);
	else
		program_fail(ps, where, "there is no variable or size %s here", name);
	return value_new(ps, HEDDLE_VALUE_INT, HEDDLE_INT32);
}

static void parse_arguments(parser *ps, heddle_value *v, int n)
{
	for (int k = 0; k < n; k++) {
		if (k)
			program_expect(ps, ",");
		add_argument(ps, v, program_parse_expression(ps, 0));
	}
}

/* n arguments, then a comma and an integer. */
static heddle_value *parse_with_integer(parser *ps, heddle_value_kind kind, int *integer)
{
	heddle_value *v = value_new(ps, kind, UNKNOWN);
	parse_arguments(ps, v, 1);
	program_expect(ps, ",");
	*integer = program_expect_int(ps, 0);
	return v;
}

static heddle_value *parse_reduce(parser *ps)
{
	static const heddle_op ops[] = {HEDDLE_OP_ADD, HEDDLE_OP_MUL, HEDDLE_OP_MIN, HEDDLE_OP_MAX};
	heddle_value *v = value_new(ps, HEDDLE_VALUE_REDUCE, UNKNOWN);
	size_t k = 0;
	while (k < HEDDLE_COUNT(ops) && !program_is(ps, heddle_op_symbol(ops[k])))
		k++;
	if (k == HEDDLE_COUNT(ops))
		program_fail(ps, &ps->now, "expected +, *, min or max but found %s", program_describe(ps));
	else
		v->op = ops[k];
	program_next(ps);
	program_expect(ps, ",");
	parse_arguments(ps, v, 1);
	return v;
}

/* An intrinsic or conversion after its "(", without the ")"; NULL when `name` is neither. */
static heddle_value *parse_intrinsic(parser *ps, const char *name)
{
	heddle_value *v;
	int integer, type = heddle_type_parse(name);

	if (type >= 0) {
		v = value_new(ps, HEDDLE_VALUE_CAST, (heddle_type)type);
		parse_arguments(ps, v, 1);
		return v;
	}
	if (!strcmp(name, "min") || !strcmp(name, "max")) {
		v = value_new(ps, HEDDLE_VALUE_BINARY, UNKNOWN);
		v->op = name[1] == 'i' ? HEDDLE_OP_MIN : HEDDLE_OP_MAX;
		parse_arguments(ps, v, 2);
		return v;
	}
	if (!strcmp(name, "floor_div") || !strcmp(name, "floor_mod")) {
		v = value_new(ps, name[6] == 'd' ? HEDDLE_VALUE_FLOOR_DIV : HEDDLE_VALUE_FLOOR_MOD, UNKNOWN);
		parse_arguments(ps, v, 2);
		return v;
	}
	if (!strcmp(name, "fma")) {
		v = value_new(ps, HEDDLE_VALUE_FMA, UNKNOWN);
		parse_arguments(ps, v, 3);
		return v;
	}
	if (!strcmp(name, "splat")) {
		v = parse_with_integer(ps, HEDDLE_VALUE_SPLAT, &integer);
		v->width = integer;
		return v;
	}
	if (!strcmp(name, "extract") || !strcmp(name, "shuffle")) {
		v = parse_with_integer(ps, name[0] == 'e' ? HEDDLE_VALUE_EXTRACT : HEDDLE_VALUE_SHUFFLE, &integer);
		v->i = integer;
		return v;
	}
	if (!strcmp(name, "vector")) {
		v = value_new(ps, HEDDLE_VALUE_BUILD, UNKNOWN);
		do
			add_argument(ps, v, program_parse_expression(ps, 0));
		while (program_accept(ps, ","));
		v->width = v->n_arg;
		return v;
	}
	if (!strcmp(name, "zip")) {
		v = value_new(ps, HEDDLE_VALUE_ZIP, UNKNOWN);
		parse_arguments(ps, v, 2);
		program_expect(ps, ",");
		v->i = program_expect_int(ps, 0);
		return v;
	}
	if (!strcmp(name, "unzip")) {
		v = value_new(ps, HEDDLE_VALUE_UNZIP, UNKNOWN);
		parse_arguments(ps, v, 2);
		return v;
	}
	return strcmp(name, "reduce") ? NULL : parse_reduce(ps);
}

/* exp(x), exp.float64(x), call.fma(x, y, z): `name` is read, "(" or "." is next. */
static heddle_value *parse_call(parser *ps, const token *where, const char *name)
{
	bool forced = !strcmp(name, "call") && program_accept(ps, ".");
	if (forced)
		name = program_expect_name(ps, "a function");
	int type = UNKNOWN;
	if (program_accept(ps, ".")) {
		type = heddle_type_parse(program_expect_name(ps, "a type"));
		if (type < 0) {
			program_fail(ps, where, "%s. is followed by the type of its result", name);
			type = HEDDLE_FLOAT32;
		}
	}
	program_expect(ps, "(");
	heddle_value *v = forced ? NULL : parse_intrinsic(ps, name);
	if (!v) {
		int builtin = heddle_builtin_find(name);
		v = value_new(ps, HEDDLE_VALUE_CALL, (heddle_type)type);
		if (builtin < 0) {
			program_fail(ps, where, "there is no function %s", name);
			return v;
		}
		v->i = builtin;
		parse_arguments(ps, v, heddle_builtins[builtin].arity);
		if (type == UNKNOWN)
			v->type = heddle_value_first_type(v, 0, v->n_arg, true);
		if (v->type == UNKNOWN)
			v->type = HEDDLE_FLOAT32;
	}
	program_expect(ps, ")");
	return v;
}

static heddle_value *parse_primary(parser *ps);

/* - and !, any number of them; a minus right before a number belongs to it. */
static heddle_value *parse_unary(parser *ps, const token *where)
{
	heddle_op op = program_accept(ps, "!") ? HEDDLE_OP_NOT : HEDDLE_OP_NEG;
	bool literal = op == HEDDLE_OP_NEG && program_accept(ps, "-") &&
		       (ps->now.kind == INTEGER || ps->now.kind == FLOATING) && ps->now.start == where->start + 1;
	if (literal)
		return parse_literal(ps, true);
	heddle_value *v = value_new(ps, HEDDLE_VALUE_UNARY, op == HEDDLE_OP_NOT ? HEDDLE_BOOL : UNKNOWN);
	v->op = op;
	if (++ps->depth > MAX_DEPTH)
		program_fail(ps, &ps->now, "more than %d levels of parentheses and braces", MAX_DEPTH);
	add_argument(ps, v, parse_primary(ps));
	ps->depth--;
	return v;
}

static heddle_value *parse_primary(parser *ps)
{
	token where = ps->now;

	if (where.kind == INTEGER || where.kind == FLOATING)
		return parse_literal(ps, false);
	if (program_accept(ps, "(")) {
		heddle_value *v = program_parse_expression(ps, 0);
		program_expect(ps, ")");
		return v;
	}
	if (program_is(ps, "-") || program_is(ps, "!"))
		return parse_unary(ps, &where);
	const char *name = program_expect_name(ps, "a value");
	if (ps->failed)
		return value_new(ps, HEDDLE_VALUE_INT, HEDDLE_INT32);
	if (program_is(ps, "["))
		return program_parse_load(ps, &where, name);
	if (program_is(ps, "(") || program_is(ps, "."))
		return parse_call(ps, &where, name);
	return parse_name(ps, &where, name);
}

static int infix_precedence(const parser *ps, heddle_op *op)
{
	if (ps->now.kind != PUNCTUATION)
		return 0;
	for (size_t k = 0; k < (size_t)HEDDLE_N_INFIX; k++)
		if (!strcmp(ps->now.text, heddle_op_symbol(heddle_infix[k].op))) {
			*op = heddle_infix[k].op;
			return heddle_infix[k].precedence;
		}
	return 0;
}

/* Operators that bind at least as tightly as `precedence`; 0 takes c ? a : b too. */
heddle_value *program_parse_expression(parser *ps, int precedence)
{
	if (++ps->depth > MAX_DEPTH)
		program_fail(ps, &ps->now, "more than %d levels of parentheses and braces", MAX_DEPTH);
	heddle_value *left = parse_primary(ps);
	heddle_op op = HEDDLE_OP_ADD;
	int own;

	while ((own = infix_precedence(ps, &op)) > 0 && own >= precedence) {
		program_next(ps);
		heddle_value *v = value_new(ps, HEDDLE_VALUE_BINARY, UNKNOWN);
		v->op = op;
		add_argument(ps, v, left);
		add_argument(ps, v, program_parse_expression(ps, own + 1));
		left = v;
	}
	ps->depth--;
	if (precedence == 0 && program_accept(ps, "?")) {
		heddle_value *v = value_new(ps, HEDDLE_VALUE_SELECT, UNKNOWN);
		add_argument(ps, v, left);
		add_argument(ps, v, program_parse_expression(ps, 0));
		program_expect(ps, ":");
		add_argument(ps, v, program_parse_expression(ps, 0));
		return v;
	}
	return left;
}

heddle_value *program_parse_value(parser *ps, heddle_type expected)
{
	token first = ps->now;
	heddle_value *v = program_parse_expression(ps, 0);
	ps->value = first;
	if (!ps->failed)
		program_resolve(ps, v, expected);
	return v;
}
