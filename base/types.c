/* Scalar types and operators: their names and properties.
 * SPDX-License-Identifier: MIT
 */
#include "base/base.h"

#include <string.h>

static const struct {
	const char *name;
	int size;
	enum { BOOLEAN, SIGNED, UNSIGNED, FLOATING } kind;
} types[] = {
	[HEDDLE_BOOL] = {"bool", 1, BOOLEAN},
	[HEDDLE_INT8] = {"int8", 1, SIGNED},
	[HEDDLE_INT16] = {"int16", 2, SIGNED},
	[HEDDLE_INT32] = {"int32", 4, SIGNED},
	[HEDDLE_INT64] = {"int64", 8, SIGNED},
	[HEDDLE_UINT8] = {"uint8", 1, UNSIGNED},
	[HEDDLE_UINT16] = {"uint16", 2, UNSIGNED},
	[HEDDLE_UINT32] = {"uint32", 4, UNSIGNED},
	[HEDDLE_UINT64] = {"uint64", 8, UNSIGNED},
	[HEDDLE_FLOAT16] = {"float16", 2, FLOATING},
	[HEDDLE_BFLOAT16] = {"bfloat16", 2, FLOATING},
	[HEDDLE_FLOAT32] = {"float32", 4, FLOATING},
	[HEDDLE_FLOAT64] = {"float64", 8, FLOATING},
};
_Static_assert(HEDDLE_COUNT(types) == HEDDLE_N_TYPE, "one row per type");

static const char *const symbols[] = {
	[HEDDLE_OP_ADD] = "+",	   [HEDDLE_OP_SUB] = "-",    [HEDDLE_OP_MUL] = "*",    [HEDDLE_OP_DIV] = "/",
	[HEDDLE_OP_MOD] = "%",	   [HEDDLE_OP_MIN] = "min",  [HEDDLE_OP_MAX] = "max",  [HEDDLE_OP_LT] = "<",
	[HEDDLE_OP_LE] = "<=",	   [HEDDLE_OP_GT] = ">",     [HEDDLE_OP_GE] = ">=",    [HEDDLE_OP_EQ] = "==",
	[HEDDLE_OP_NE] = "!=",	   [HEDDLE_OP_AND] = "&&",   [HEDDLE_OP_OR] = "||",    [HEDDLE_OP_BITAND] = "&",
	[HEDDLE_OP_BITOR] = "|",   [HEDDLE_OP_BITXOR] = "^", [HEDDLE_OP_SHL] = "<<",   [HEDDLE_OP_SHR] = ">>",
	[HEDDLE_OP_NEG] = "-",	   [HEDDLE_OP_NOT] = "!",
};
_Static_assert(HEDDLE_COUNT(symbols) == HEDDLE_N_OP, "one symbol per operator");

static const char *const policies[] = {[HEDDLE_POLICY_IEEE] = "ieee", [HEDDLE_POLICY_RELAXED] = "relaxed"};
_Static_assert(HEDDLE_COUNT(policies) == HEDDLE_N_POLICY, "one name per policy");

const char *heddle_policy_name(heddle_policy policy)
{
	return policies[policy];
}

int heddle_policy_parse(const char *name)
{
	for (int i = 0; i < HEDDLE_N_POLICY; i++)
		if (!strcmp(policies[i], name))
			return i;
	return -1;
}

const char *heddle_type_name(heddle_type type)
{
	return types[type].name;
}

int heddle_type_parse(const char *name)
{
	for (int i = 0; i < HEDDLE_N_TYPE; i++)
		if (!strcmp(types[i].name, name))
			return i;
	if (!strcmp(name, "float"))
		return HEDDLE_FLOAT32;
	if (!strcmp(name, "double"))
		return HEDDLE_FLOAT64;
	return -1;
}

int heddle_type_size(heddle_type type)
{
	return types[type].size;
}

heddle_type heddle_type_computed(heddle_type type)
{
	return type == HEDDLE_FLOAT16 || type == HEDDLE_BFLOAT16 ? HEDDLE_FLOAT32 : type;
}

bool heddle_type_is_float(heddle_type type)
{
	return types[type].kind == FLOATING;
}

bool heddle_type_is_signed(heddle_type type)
{
	return types[type].kind == SIGNED;
}

bool heddle_type_is_unsigned(heddle_type type)
{
	return types[type].kind == UNSIGNED || types[type].kind == BOOLEAN;
}

const char *heddle_op_symbol(heddle_op op)
{
	return symbols[op];
}
