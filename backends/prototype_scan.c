/* Tokens of a source for the prototypes' scanner: brackets, parts, integer constants and type aliases.
 * SPDX-License-Identifier: MIT
 */
#include "backends/prototype_scan.h"

#include <stdlib.h>
#include <string.h>

/* Brackets of all kinds count alike: what does not fit is for compilers to say. */
void heddle_scan_partners(scanner *s)
{
	int *open = heddle_xalloc(sizeof(int) * (size_t)(s->n + 1)), n = 0;
	s->partner = HEDDLE_NEW_ARRAY(s->arena, int, s->n + 1);
	for (int i = 0; i < s->n; i++) {
		const char c = s->t[i].kind == HEDDLE_TOKEN_MARK ? s->t[i].text[0] : 0;
		s->partner[i] = i; /* no bracket: itself */
		if (c == '(' || c == '[' || c == '{') {
			s->partner[i] = s->n;
			open[n++] = i;
		} else if (c == ')' || c == ']' || c == '}') {
			s->partner[i] = n ? open[n - 1] : -1;
			if (n)
				s->partner[open[--n]] = i;
		}
	}
	free(open);
}

/* The `>` of the template arguments that begin at `open`; -1: it is no such bracket. */
int heddle_scan_closing_angle(const scanner *s, int open)
{
	int depth = 0;
	for (int i = open; i < s->n && i < open + 400; i++) {
		const char c = s->t[i].kind == HEDDLE_TOKEN_MARK ? s->t[i].text[0] : 0;
		if (c == '(' || c == '[' || c == '{')
			i = closing(s, i);
		if (c == ';' || c == ')' || c == '}')
			return -1;
		depth += c == '<';
		depth -= c == '>';
		if (depth == 0)
			return i;
	}
	return -1;
}

int heddle_scan_opening_angle(const scanner *s, int close)
{
	int depth = 0;
	for (int i = close; i >= 0 && i > close - 400; i--) {
		const char c = s->t[i].kind == HEDDLE_TOKEN_MARK ? s->t[i].text[0] : 0;
		if (c == ')' || c == ']' || c == '}')
			i = opening(s, i);
		if (c == ';' || c == '(' || c == '{')
			return -1;
		depth += c == '>';
		depth -= c == '<';
		if (depth == 0)
			return i;
	}
	return -1;
}

const char *heddle_scan_words(const scanner *s, int begin, int end)
{
	return begin < end ? heddle_tokens_text(s->arena, s->t + begin, s->t + end) : "";
}

/* The end of the part that begins at `i`: a comma of its own depth, or `end`. */
int heddle_scan_part_end(const scanner *s, int i, int end)
{
	while (i < end && !is(s, i, ",")) {
		const int angle = is(s, i, "<") && is_word(s, i - 1) ? heddle_scan_closing_angle(s, i) : -1;
		if (is(s, i, "(") || is(s, i, "[") || is(s, i, "{"))
			i = closing(s, i);
		else if (angle > i && angle < end)
			i = angle;
		i++;
	}
	return i < end ? i : end;
}

/* ---- constants and aliases ------------------------------------------------------------------------------------------------------ */

bool heddle_scan_look_up(void *user, const char *name, int64_t *value)
{
	const scanner *s = user;
	for (int i = s->n_constant - 1; i >= 0; i--)
		if (strcmp(s->constant[i].name, name) == 0) {
			*value = s->constant[i].value;
			return true;
		}
	return false;
}

bool heddle_scan_evaluate(scanner *s, int begin, int end, int64_t *value)
{
	return begin < end && heddle_tokens_evaluate(s->t + begin, s->t + end, heddle_scan_look_up, s, value);
}

void heddle_scan_add_constant(scanner *s, const char *name, int64_t value)
{
	const constant c = {name, value};
	HEDDLE_PUSH(s->arena, s->constant, s->n_constant, c);
}

/* `constexpr int A = 4, B = A * 2;` and `const unsigned C = 32;` at any depth: a later one of the name wins. */
void heddle_scan_constants(scanner *s)
{
	for (int i = 0; i < s->n; i++) {
		if (is(s, i, "enum")) {
			int at = i + 1;
			while (at < s->n && !is(s, at, "{") && !is(s, at, ";"))
				at++;
			const int end = is(s, at, "{") ? closing(s, at) : at;
			int64_t value = -1;
			for (at++; at < end; at++) {
				const int stop = heddle_scan_part_end(s, at, end);
				if (is(s, at + 1, "=") ? !heddle_scan_evaluate(s, at + 2, stop, &value) : (value++, !is_word(s, at)))
					break;
				heddle_scan_add_constant(s, s->t[at].text, value);
				at = stop;
			}
		}
		if (!is(s, i, "constexpr") && !is(s, i, "const"))
			continue;
		int at = i + 1;
		while (is_word(s, at) && !is(s, at + 1, "="))
			at++;
		while (is_word(s, at) && is(s, at + 1, "=")) {
			int stop = at + 2;
			while (stop < s->n && !is(s, stop, ";") && !is(s, stop, ",") && !is(s, stop, "{"))
				stop = is(s, stop, "(") ? closing(s, stop) + 1 : stop + 1;
			int64_t value;
			if (stop > s->n || !heddle_scan_evaluate(s, at + 2, stop, &value))
				break;
			heddle_scan_add_constant(s, s->t[at].text, value);
			at = is(s, stop, ",") ? stop + 1 : s->n;
		}
	}
}

void heddle_scan_aliases(scanner *s)
{
	for (int i = 0; i < s->n; i++) {
		int end = i;
		while (end < s->n && !is(s, end, ";") && !is(s, end, "{"))
			end++;
		if (is(s, i, "typedef") && is(s, end, ";") && is_word(s, end - 1)) {
			const alias a = {s->t[end - 1].text, i + 1, end - 1, s->t};
			HEDDLE_PUSH(s->arena, s->alias, s->n_alias, a);
		} else if (is(s, i, "using") && is_word(s, i + 1) && is(s, i + 2, "=") && is(s, end, ";")) {
			const alias a = {s->t[i + 1].text, i + 3, end, s->t};
			HEDDLE_PUSH(s->arena, s->alias, s->n_alias, a);
		}
	}
}
