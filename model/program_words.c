/* The words of the program's text form.
 * SPDX-License-Identifier: MIT
 */
#include "model/program_words.h"

#include <string.h>

const char *const heddle_role_words[HEDDLE_N_ROLE_WORD] = {
	[HEDDLE_BUFFER_INPUT] = "input",	 [HEDDLE_BUFFER_OUTPUT] = "output",
	[HEDDLE_BUFFER_INOUT] = "inout",	 [HEDDLE_BUFFER_TEMPORARY] = "temporary",
	[HEDDLE_BUFFER_SHARED] = "shared",	 [HEDDLE_BUFFER_REGISTER] = "register",
	[HEDDLE_BUFFER_SCALAR] = "scalar",
};

const char *const heddle_loop_words[HEDDLE_N_LOOP_WORD] = {
	[HEDDLE_LOOP_SERIAL] = "serial",
	[HEDDLE_LOOP_UNROLL] = "unroll",
	[HEDDLE_LOOP_WINDOW] = "window",
	[HEDDLE_LOOP_VECTOR] = "vector",
	[HEDDLE_LOOP_HINT] = "hint",
};

/* Words of the text form that a builtin function may not be mistaken for. */
static const char *const intrinsics[] = {"min",	  "max",    "floor_div", "floor_mod", "fma",	"splat",
					 "extract", "vector", "zip",	 "unzip",     "reduce",	 "shuffle", "call"};

const heddle_infix_operator heddle_infix[HEDDLE_N_INFIX] = {
	{HEDDLE_OP_OR, 1},    {HEDDLE_OP_AND, 2}, {HEDDLE_OP_BITOR, 3}, {HEDDLE_OP_BITXOR, 4}, {HEDDLE_OP_BITAND, 5},
	{HEDDLE_OP_EQ, 6},    {HEDDLE_OP_NE, 6},  {HEDDLE_OP_LE, 7},	{HEDDLE_OP_GE, 7},     {HEDDLE_OP_LT, 7},
	{HEDDLE_OP_GT, 7},    {HEDDLE_OP_SHL, 8}, {HEDDLE_OP_SHR, 8},	{HEDDLE_OP_ADD, 9},    {HEDDLE_OP_SUB, 9},
	{HEDDLE_OP_MUL, 10}, {HEDDLE_OP_DIV, 10}, {HEDDLE_OP_MOD, 10},
};
int heddle_op_precedence(heddle_op op)
{
	for (size_t k = 0; k < (size_t)HEDDLE_N_INFIX; k++)
		if (heddle_infix[k].op == op)
			return heddle_infix[k].precedence;
	return 0;
}

bool heddle_word_is_intrinsic(const char *name)
{
	for (size_t k = 0; k < HEDDLE_COUNT(intrinsics); k++)
		if (!strcmp(intrinsics[k], name))
			return true;
	return heddle_type_parse(name) >= 0;
}

bool heddle_op_is_truth(heddle_op op)
{
	return op == HEDDLE_OP_AND || op == HEDDLE_OP_OR || op == HEDDLE_OP_NOT;
}

bool heddle_op_is_comparison(heddle_op op)
{
	return op >= HEDDLE_OP_LT && op <= HEDDLE_OP_NE;
}

heddle_type heddle_value_first_type(const heddle_value *v, int from, int to, bool literals)
{
	for (int k = from; k < to; k++) {
		heddle_type type = heddle_value_own_type(v->arg[k], literals);
		if (type != UNKNOWN)
			return type;
	}
	return UNKNOWN;
}

heddle_type heddle_value_own_type(const heddle_value *v, bool literals)
{
	switch (v->kind) {
	case HEDDLE_VALUE_INT:
		if (v->type == HEDDLE_BOOL)
			return HEDDLE_BOOL;
		return literals ? v->type : UNKNOWN;
	case HEDDLE_VALUE_FLOAT: return literals ? v->type : UNKNOWN;
	case HEDDLE_VALUE_UNARY:
		return v->op == HEDDLE_OP_NOT ? HEDDLE_BOOL : heddle_value_own_type(v->arg[0], literals);
	case HEDDLE_VALUE_BINARY:
		if (heddle_op_is_comparison(v->op) || heddle_op_is_truth(v->op))
			return HEDDLE_BOOL;
		return heddle_value_first_type(v, 0, 2, literals);
	case HEDDLE_VALUE_SELECT: return heddle_value_first_type(v, 1, 3, literals);
	case HEDDLE_VALUE_CALL: return v->type;
	case HEDDLE_VALUE_FLOOR_DIV:
	case HEDDLE_VALUE_FLOOR_MOD:
	case HEDDLE_VALUE_FMA:
	case HEDDLE_VALUE_SPLAT:
	case HEDDLE_VALUE_EXTRACT:
	case HEDDLE_VALUE_BUILD:
	case HEDDLE_VALUE_ZIP:
	case HEDDLE_VALUE_UNZIP:
	case HEDDLE_VALUE_REDUCE:
	case HEDDLE_VALUE_SHUFFLE: return heddle_value_first_type(v, 0, v->n_arg, literals);
	default: return v->type;
	}
}
