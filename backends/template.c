/* Templates: words with placeholders, filled with as few parentheses as C needs.
 * SPDX-License-Identifier: MIT
 */
#include "backends/printer.h"

#include <ctype.h>
#include <string.h>

const char *heddle_bind(heddle_arena *arena, code value, int level)
{
	return value.level >= level ? value.text : heddle_arena_printf(arena, "(%s)", value.text);
}

int heddle_operator_level(const char *s)
{
	static const struct {
		const char *text;
		int level;
	} table[] = {
		{" ? ", LEVEL_SELECT},	{" : ", LEVEL_SELECT}, {" || ", LEVEL_OR},    {" && ", LEVEL_AND},  {" | ", LEVEL_BITOR},
		{" ^ ", LEVEL_BITXOR},	{" & ", LEVEL_BITAND}, {" == ", LEVEL_EQUAL}, {" != ", LEVEL_EQUAL}, {" < ", LEVEL_LESS},
		{" <= ", LEVEL_LESS},	{" > ", LEVEL_LESS},   {" >= ", LEVEL_LESS},  {" << ", LEVEL_SHIFT}, {" >> ", LEVEL_SHIFT},
		{" + ", LEVEL_SUM},	{" - ", LEVEL_SUM},    {" * ", LEVEL_PRODUCT}, {" / ", LEVEL_PRODUCT}, {" % ", LEVEL_PRODUCT},
	};
	for (size_t i = 0; i < HEDDLE_COUNT(table); i++)
		if (strncmp(s, table[i].text, strlen(table[i].text)) == 0)
			return table[i].level;
	return 0;
}

int heddle_template_level(const char *s)
{
	int depth = 0, level = LEVEL_POSTFIX;
	if (strchr("*&-!~", *s))
		level = LEVEL_UNARY;
	for (const char *start = s; *s; s++) {
		if (strchr("([{", *s) || (*s == '<' && s > start && (isalnum((unsigned char)s[-1]) || s[-1] == '_')))
			depth++;
		else if (strchr(")]}", *s) || (*s == '>' && depth > 0)) {
			depth--;
			/* "(type){value}": a cast */
			if (*s == ')' && depth == 0 && *start == '(' && level > LEVEL_UNARY && s[1] && s[1] != ' ')
				level = LEVEL_UNARY;
		} else if (*s == ' ' && depth == 0) {
			int here = heddle_operator_level(s);
			if (here && here < level)
				level = here;
		}
	}
	return level;
}

/* The level that the value of the placeholder template[from .. to) needs. */
static int placeholder_level(const char *template, size_t from, size_t to)
{
	int need = LEVEL_ANY;
	char after = template[to];
	if (from > 0) {
		char before = template[from - 1];
		if (strchr("*&-!~)", before))
			need = LEVEL_UNARY;
		else if (before == ' ')
			for (size_t k = 2; k <= 4 && k <= from && need == LEVEL_ANY; k++) {
				int level = heddle_operator_level(template + from - k);
				if (level && template[from - k] == ' ')
					need = level + 1;
			}
	}
	if (after == '.' || after == '[' || after == '(')
		need = LEVEL_POSTFIX;
	else if (after == ' ') {
		int level = heddle_operator_level(template + to);
		if (level > need)
			need = level;
	}
	return need;
}

code heddle_fill(heddle_arena *arena, const char *template, const filler *list, int n)
{
	heddle_text out = {0};
	int level = heddle_template_level(template), inherited = -1;
	for (size_t i = 0; template[i];) {
		size_t length = 0;
		if (template[i] == '{')
			for (length = 1; isalnum((unsigned char)template[i + length]) || template[i + length] == '_';)
				length++;
		bool found = false;
		if (length > 1 && template[i + length] == '}') {
			for (int k = 0; k < n && !found; k++)
				if (strlen(list[k].name) == length - 1 && strncmp(list[k].name, template + i + 1, length - 1) == 0) {
					bool whole = i == 0 && template[length + 1] == '\0';
					heddle_text_add(&out, heddle_bind(arena, list[k].value,
									  placeholder_level(template, i, i + length + 1)));
					if (whole)
						inherited = list[k].value.level;
					found = true;
				}
		}
		if (found) {
			i += length + 1;
		} else {
			heddle_text_addn(&out, template + i, 1);
			i++;
		}
	}
	code result = {heddle_arena_strdup(arena, heddle_text_str(&out)), inherited >= 0 ? inherited : level};
	heddle_text_free(&out);
	return result;
}
