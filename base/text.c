/* A growing string, numbers as their shortest text, and the nearest of some names.
 * SPDX-License-Identifier: MIT
 */
#include "base/base.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void reserve(heddle_text *text, size_t more)
{
	size_t needed = text->length + more + 1;
	if (needed <= text->capacity)
		return;
	size_t capacity = text->capacity ? text->capacity : 64;
	while (capacity < needed)
		capacity *= 2;
	text->data = heddle_xrealloc(text->data, capacity);
	text->capacity = capacity;
}

void heddle_text_clear(heddle_text *text)
{
	text->length = 0;
	if (text->data)
		text->data[0] = '\0';
}

void heddle_text_free(heddle_text *text)
{
	free(text->data);
	*text = (heddle_text){0};
}

void heddle_text_addn(heddle_text *text, const char *s, size_t n)
{
	reserve(text, n);
	if (n)
		memcpy(text->data + text->length, s, n);
	text->length += n;
	text->data[text->length] = '\0';
}

void heddle_text_add(heddle_text *text, const char *s)
{
	heddle_text_addn(text, s, strlen(s));
}

void heddle_text_vprintf(heddle_text *text, const char *format, va_list args)
{
	va_list again;
	va_copy(again, args);
	reserve(text, 0);
	const size_t room = text->capacity - text->length;
	int n = vsnprintf(text->data + text->length, room, format, args);
	if (n >= 0 && (size_t)n >= room) {
		reserve(text, (size_t)n);
		vsnprintf(text->data + text->length, (size_t)n + 1, format, again);
	}
	if (n >= 0)
		text->length += (size_t)n;
	else
		text->data[text->length] = '\0';
	va_end(again);
}

void heddle_text_printf(heddle_text *text, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	heddle_text_vprintf(text, format, args);
	va_end(args);
}

void heddle_text_indent(heddle_text *text, int depth)
{
	for (int i = 0; i < depth; i++)
		heddle_text_addn(text, "\t", 1);
}

const char *heddle_text_str(const heddle_text *text)
{
	return text->data ? text->data : "";
}

static const char *format_special(double value, char buffer[40])
{
	if (isnan(value))
		return strcpy(buffer, "nan");
	return strcpy(buffer, value < 0 ? "-inf" : "inf");
}

/* "10", which %g would call "1e+01". */
static bool is_short_whole(double value)
{
	return fabs(value) < 1e6 && !(floor(value) < value);
}

static const char *format_whole(double value, char buffer[40])
{
	snprintf(buffer, 40, "%.0f", value);
	return buffer;
}

const char *heddle_format_double(double value, char buffer[40])
{
	if (!isfinite(value))
		return format_special(value, buffer);
	if (is_short_whole(value))
		return format_whole(value, buffer);
	for (int digits = 1; digits <= 17; digits++) {
		snprintf(buffer, 40, "%.*g", digits, value);
		if (!(strtod(buffer, NULL) < value) && !(strtod(buffer, NULL) > value))
			break;
	}
	return buffer;
}

const char *heddle_format_float(float value, char buffer[40])
{
	if (!isfinite(value))
		return format_special((double)value, buffer);
	if (is_short_whole((double)value))
		return format_whole((double)value, buffer);
	for (int digits = 1; digits <= 9; digits++) {
		snprintf(buffer, 40, "%.*g", digits, (double)value);
		if (!(strtof(buffer, NULL) < value) && !(strtof(buffer, NULL) > value))
			break;
	}
	return buffer;
}

enum { LONGEST_NAME = 64 };

/* Edit distance with swapped neighbours as one edit; rows are kept for the last two prefixes. */
static int distance(const char *a, int n, const char *b, int m)
{
	int row[3][LONGEST_NAME + 1];
	for (int j = 0; j <= m; j++)
		row[0][j] = j;
	for (int i = 1; i <= n; i++) {
		int *now = row[i % 3], *last = row[(i + 2) % 3], *before = row[(i + 1) % 3];
		now[0] = i;
		for (int j = 1; j <= m; j++) {
			int best = last[j - 1] + (a[i - 1] != b[j - 1]);
			if (last[j] + 1 < best)
				best = last[j] + 1;
			if (now[j - 1] + 1 < best)
				best = now[j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && before[j - 2] + 1 < best)
				best = before[j - 2] + 1;
			now[j] = best;
		}
	}
	return row[n % 3][m];
}

/* So many edits may be between two names: a third of the longer one. */
static int most_edits(int n, int m)
{
	const int longer = n > m ? n : m;
	return longer < 2 ? 0 : longer < 5 ? 1 : (longer + 1) / 3;
}

const char *heddle_nearest(const char *name, const char *const *names, int n)
{
	const int length = (int)strlen(name);
	int best = LONGEST_NAME;
	const char *found = NULL;
	if (length > LONGEST_NAME)
		return NULL;
	for (int i = 0; i < n; i++) {
		if (strlen(names[i]) > LONGEST_NAME)
			continue;
		const int other = (int)strlen(names[i]), d = distance(name, length, names[i], other);
		/* A name of one or two letters is near anything: at least half of it must be right. */
		if (d * 2 > length + 1 || d > most_edits(length, other) || (found && d >= best))
			continue;
		best = d;
		found = names[i];
	}
	return found;
}
