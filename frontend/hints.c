/* What writers of other languages mean: notes for errors about words and signs that this notation does not have.
 * SPDX-License-Identifier: MIT
 */
#include "frontend/syntax.h"

#include <string.h>

typedef struct hint {
	const char *word, *text;
} hint;

static const char *find(const hint *list, size_t n, const char *word)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(list[i].word, word))
			return list[i].text;
	return NULL;
}

static const char choice[] = "a choice is written `condition ? a : b`";
static const char logic[] = "`&&` is and, `||` is or, `!` is not";

const char *heddle_hint_token(const token *t)
{
	static const hint list[] = {
		{"if", choice},
		{"then", choice},
		{"else", choice},
		{"and", logic},
		{"or", logic},
		{"not", logic},
		{"for", "indices run by themselves; `where i in 0:N` gives one its range"},
		{"[", "subscripts and extents stand in parentheses: `A(i)`"},
	};
	return t->kind == TOKEN_END ? NULL : find(list, HEDDLE_COUNT(list), t->text);
}

bool heddle_hint_where(const token *t)
{
	static const char *const where[] = {"where"};
	return t->kind == TOKEN_NAME && (t[1].kind == TOKEN_NAME || t[1].kind == TOKEN_EXISTS) && heddle_nearest(t->text, where, 1);
}

const char *heddle_hint_type(const char *name)
{
	static const hint other[] = {
		{"boolean", "bool"}, {"byte", "uint8"},	    {"char", "int8"},	  {"short", "int16"},  {"int", "int32"},
		{"long", "int64"},   {"uint", "uint32"},    {"unsigned", "uint32"}, {"half", "float16"}, {"fp16", "float16"},
		{"f16", "float16"},  {"bf16", "bfloat16"}, {"fp32", "float32"},  {"f32", "float32"},  {"fp64", "float64"},
		{"f64", "float64"},  {"i32", "int32"},	    {"i64", "int64"},
	};
	const char *names[HEDDLE_N_TYPE + 2] = {"float", "double"};
	const char *found = find(other, HEDDLE_COUNT(other), name);
	for (int i = 0; i < HEDDLE_N_TYPE; i++)
		names[i + 2] = heddle_type_name((heddle_type)i);
	return found ? found : heddle_nearest(name, names, HEDDLE_N_TYPE + 2);
}

const char *heddle_hint_call(const char *name)
{
	static const char sum[] = "a sum is `+=!`: O(i) +=! A(i, k)";
	static const char mean[] = "a sum is `+=!`, and a mean is one that is divided: O(i) +=! A(i, k) / K";
	static const char product[] = "write the product with indices: C(i, j) +=! A(i, k) * B(k, j)";
	static const hint list[] = {
		{"sum", sum},
		{"reduce_sum", sum},
		{"mean", mean},
		{"avg", mean},
		{"average", mean},
		{"prod", "a product over an index is `*=!`: O(i) *=! A(i, k)"},
		{"argmax", "the place of the greatest is `argmax=!`: O(i) argmax=! A(i, k)"},
		{"argmin", "the place of the least is `argmin=!`: O(i) argmin=! A(i, k)"},
		{"matmul", product},
		{"dot", product},
		{"power", "write pow(x, y)"},
		{"abs", "write fabs(x), or x < 0 ? -x : x for integers"},
		{"sigmoid", "write 1.0 / (1.0 + exp(-x))"},
		{"sign", "write copysign(1.0, x)"},
		{"select", "write condition ? a : b"},
		{"relu", "write fmax(x, 0.0)"},
	};
	return find(list, HEDDLE_COUNT(list), name);
}

const char *heddle_hint_character(const char *character)
{
	static const hint list[] = {
		{"\xC3\x97", "*"},	  /* multiplication sign */
		{"\xC2\xB7", "*"},	  /* middle dot */
		{"\xE2\x8B\x85", "*"},	  /* dot operator */
		{"\xC3\xB7", "/"},	  /* division sign */
		{"\xE2\x88\x92", "-"},	  /* minus sign */
		{"\xE2\x80\x93", "-"},	  /* en dash */
		{"\xE2\x89\xA4", "<="},
		{"\xE2\x89\xA5", ">="},
		{"\xE2\x89\xA0", "!="},
		{"\xE2\x86\x92", "->"},
		{"\xC2\xA0", " "},	  /* no-break space */
	};
	return find(list, HEDDLE_COUNT(list), character);
}
