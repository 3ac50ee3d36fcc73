/* Values over constants and sizes as text: the manifest's formulas, and the same as C in the host entry.
 * SPDX-License-Identifier: MIT
 */
#include "backends/printer.h"

#include <stdlib.h>

typedef struct formula_printer {
	heddle_arena *arena;
	const heddle_program *program;
	const char *prefix;
	bool failed;
} formula_printer;

/* Never negative, whatever the sizes: / rounds down then, too. */
static bool nonnegative(const heddle_program *program, const heddle_value *v)
{
	switch (v->kind) {
	case HEDDLE_VALUE_INT:
		return v->i >= 0;
	case HEDDLE_VALUE_SIZE:
		return program->size[v->i].min >= 0;
	case HEDDLE_VALUE_FLOOR_MOD:
		return true;
	case HEDDLE_VALUE_CAST:
	case HEDDLE_VALUE_FLOOR_DIV:
		return nonnegative(program, v->arg[0]);
	case HEDDLE_VALUE_BINARY:
		switch (v->op) {
		case HEDDLE_OP_ADD:
		case HEDDLE_OP_MUL:
		case HEDDLE_OP_DIV:
		case HEDDLE_OP_MIN:
			return nonnegative(program, v->arg[0]) && nonnegative(program, v->arg[1]);
		case HEDDLE_OP_MAX:
			return nonnegative(program, v->arg[0]) || nonnegative(program, v->arg[1]);
		case HEDDLE_OP_MOD:
			return nonnegative(program, v->arg[0]);
		default:
			return false;
		}
	default:
		return false;
	}
}

static code formula(formula_printer *p, const heddle_value *v);

static code infix(formula_printer *p, code a, const char *op, code b, int level, int left, int right)
{
	if (*p->prefix && *op && *op != ' ') /* C for people to read */
		op = heddle_arena_printf(p->arena, " %s ", op);
	return (code){heddle_arena_printf(p->arena, "%s%s%s", heddle_bind(p->arena, a, left), op, heddle_bind(p->arena, b, right)),
		      level};
}

/* Rounded down by means of a division that rounds toward zero: (a - ((a % b + b) % b)) / b. */
static code floor_formula(formula_printer *p, const heddle_value *v)
{
	bool div = v->kind == HEDDLE_VALUE_FLOOR_DIV;
	code a = formula(p, v->arg[0]), b = formula(p, v->arg[1]);
	if (nonnegative(p->program, v->arg[0]))
		return infix(p, a, div ? "/" : "%", b, LEVEL_PRODUCT, LEVEL_PRODUCT, LEVEL_UNARY);
	code rest = infix(p, a, "%", b, LEVEL_PRODUCT, LEVEL_PRODUCT, LEVEL_UNARY);
	rest = infix(p, rest, "+", b, LEVEL_SUM, LEVEL_SUM, LEVEL_PRODUCT);
	rest = infix(p, rest, "%", b, LEVEL_PRODUCT, LEVEL_PRODUCT, LEVEL_UNARY);
	if (!div)
		return rest;
	rest = infix(p, a, "-", rest, LEVEL_SUM, LEVEL_SUM, LEVEL_PRODUCT);
	return infix(p, rest, "/", b, LEVEL_PRODUCT, LEVEL_PRODUCT, LEVEL_UNARY);
}

static code binary_formula(formula_printer *p, const heddle_value *v)
{
	code a = formula(p, v->arg[0]), b = formula(p, v->arg[1]);
	switch (v->op) {
	case HEDDLE_OP_ADD:
		if (v->arg[1]->kind == HEDDLE_VALUE_INT && v->arg[1]->i < 0 && v->arg[1]->i > INT64_MIN) {
			b = (code){heddle_arena_printf(p->arena, "%lld", -(long long)v->arg[1]->i), LEVEL_POSTFIX};
			return infix(p, a, "-", b, LEVEL_SUM, LEVEL_SUM, LEVEL_POSTFIX);
		}
		return infix(p, a, "+", b, LEVEL_SUM, LEVEL_SUM, LEVEL_SUM);
	case HEDDLE_OP_SUB: return infix(p, a, "-", b, LEVEL_SUM, LEVEL_SUM, LEVEL_POSTFIX);
	case HEDDLE_OP_MUL: return infix(p, a, "*", b, LEVEL_PRODUCT, LEVEL_PRODUCT, LEVEL_POSTFIX);
	case HEDDLE_OP_DIV: return infix(p, a, "/", b, LEVEL_PRODUCT, LEVEL_PRODUCT, LEVEL_POSTFIX);
	case HEDDLE_OP_MOD: return infix(p, a, "%", b, LEVEL_PRODUCT, LEVEL_PRODUCT, LEVEL_POSTFIX);
	case HEDDLE_OP_LT: return infix(p, a, " < ", b, LEVEL_LESS, LEVEL_SUM, LEVEL_SUM);
	case HEDDLE_OP_LE: return infix(p, a, " <= ", b, LEVEL_LESS, LEVEL_SUM, LEVEL_SUM);
	case HEDDLE_OP_GT: return infix(p, a, " > ", b, LEVEL_LESS, LEVEL_SUM, LEVEL_SUM);
	case HEDDLE_OP_GE: return infix(p, a, " >= ", b, LEVEL_LESS, LEVEL_SUM, LEVEL_SUM);
	case HEDDLE_OP_EQ: return infix(p, a, " == ", b, LEVEL_EQUAL, LEVEL_SUM, LEVEL_SUM);
	case HEDDLE_OP_NE: return infix(p, a, " != ", b, LEVEL_EQUAL, LEVEL_SUM, LEVEL_SUM);
	case HEDDLE_OP_AND: return infix(p, a, " && ", b, LEVEL_AND, LEVEL_EQUAL, LEVEL_EQUAL);
	case HEDDLE_OP_OR: return infix(p, a, " || ", b, LEVEL_OR, LEVEL_EQUAL, LEVEL_EQUAL);
	case HEDDLE_OP_MIN:
	case HEDDLE_OP_MAX:
		return (code){heddle_arena_printf(p->arena, *p->prefix ? "%s%s(%s, %s)" : "%s%s(%s,%s)", p->prefix, v->op == HEDDLE_OP_MIN ? "min" : "max", a.text,
						  b.text),
			      LEVEL_POSTFIX};
	default:
		p->failed = true;
		return a;
	}
}

static code formula(formula_printer *p, const heddle_value *v)
{
	switch (v->kind) {
	case HEDDLE_VALUE_INT:
		return (code){heddle_arena_printf(p->arena, "%lld", (long long)v->i), v->i < 0 ? LEVEL_UNARY : LEVEL_POSTFIX};
	case HEDDLE_VALUE_SIZE: {
		const heddle_program_size *size = &p->program->size[v->i];
		return (code){size->min == size->max ? heddle_arena_printf(p->arena, "%lld", (long long)size->min) : size->name,
			      LEVEL_POSTFIX};
	}
	case HEDDLE_VALUE_CAST:
		return formula(p, v->arg[0]);
	case HEDDLE_VALUE_FLOOR_DIV:
	case HEDDLE_VALUE_FLOOR_MOD:
		return floor_formula(p, v);
	case HEDDLE_VALUE_BINARY:
		return binary_formula(p, v);
	case HEDDLE_VALUE_UNARY: {
		code a = formula(p, v->arg[0]);
		return (code){heddle_arena_printf(p->arena, "%s%s", v->op == HEDDLE_OP_NOT ? "!" : "-",
						  heddle_bind(p->arena, a, LEVEL_POSTFIX)), LEVEL_UNARY};
	}
	case HEDDLE_VALUE_SELECT: {
		code c = formula(p, v->arg[0]), a = formula(p, v->arg[1]), b = formula(p, v->arg[2]);
		return (code){heddle_arena_printf(p->arena, "%s ? %s : %s", heddle_bind(p->arena, c, LEVEL_OR),
						  heddle_bind(p->arena, a, LEVEL_OR), heddle_bind(p->arena, b, LEVEL_SELECT)),
			      LEVEL_SELECT};
	}
	default:
		p->failed = true;
		return (code){"0", LEVEL_POSTFIX};
	}
}

const char *heddle_formula_text(heddle_arena *arena, const heddle_program *program, const heddle_value *value,
				const char *prefix)
{
	formula_printer p = {arena, program, prefix, false};
	code result = formula(&p, value);
	return p.failed ? NULL : heddle_arena_strdup(arena, result.text); /* a name alone is the program's own string */
}
