/* The printer: lines of text, broken where they are long.
 * SPDX-License-Identifier: MIT
 */
#include "backends/printer_parts.h"

#include <string.h>

enum { LINE_WIDTH = 118 };

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

void heddle_print_text(printer *p, const char *text, const char *end) { wrapped_text(p, text, end, 1); }

void heddle_print_line(printer *p, const char *format, ...)
{
	heddle_text text = {0};
	va_list args;
	va_start(args, format);
	heddle_text_vprintf(&text, format, args);
	va_end(args);
	heddle_print_text(p, heddle_text_str(&text), "");
	heddle_text_free(&text);
}

void heddle_print_list(printer *p, const char *head, const char *list)
{
	if (strlen(head) + strlen(list) + 2 <= LINE_WIDTH) {
		heddle_print_line(p, "%s(%s)", head, list);
		return;
	}
	heddle_print_line(p, "%s(", head);
	p->depth++;
	wrapped_text(p, list, ")", 0);
	p->depth--;
}

/* A line that says where it comes from, when that changed. */
void heddle_print_mapped(printer *p, int source_line, const char *text)
{
	const char *end = "";
	if (source_line > 0 && source_line != p->last_line && p->source_name) {
		end = heddle_arena_printf(p->arena, " // %s:%d", p->source_name, source_line);
		p->last_line = source_line;
	}
	heddle_print_text(p, text, end);
}

/* Lines of comment, broken between words where they are long. */
void heddle_print_comment(printer *p, const char *text)
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
