/* Size ranges: "M=1:8192,K=64*,N=4096".
 * SPDX-License-Identifier: MIT
 */
#include "frontend/syntax.h"

#include <ctype.h>
#include <string.h>

/* The reader works on the given text as a source of its own, so that messages point into it. */
typedef struct reader {
	heddle_ctx *ctx;
	heddle_arena *arena;
	const heddle_source *source;
	const char *p;
} reader;

static int complain(reader *r, int code, const char *begin, size_t length, const char *message)
{
	heddle_location where = {.source = r->source,
				 .line = 1,
				 .column = (int)(begin - r->source->text) + 1,
				 .length = length ? (int)length : 1};
	return heddle_error(r->ctx, code, &where, "%s", message);
}

static size_t word(const char *p)
{
	size_t n = 0;
	while (isalnum((unsigned char)p[n]) || p[n] == '_')
		n++;
	return n;
}

static void skip(reader *r)
{
	while (isspace((unsigned char)*r->p) || *r->p == ',')
		r->p++;
}

/* A decimal number up to HEDDLE_MAX_SIZE; -1 with an error. */
static int64_t read_number(reader *r)
{
	const char *begin = r->p;
	int64_t n = 0;
	if (!isdigit((unsigned char)*r->p))
		return complain(r, 301, r->p, 1, "expected a number");
	while (isdigit((unsigned char)*r->p)) {
		n = n * 10 + (*r->p++ - '0');
		if (n > HEDDLE_MAX_SIZE) {
			while (isdigit((unsigned char)*r->p))
				r->p++;
			complain(r, 302, begin, (size_t)(r->p - begin), "a size is at most 2147418112");
			heddle_note(r->ctx, NULL, "that is 2^31 - 65536: tiles reach beyond the last element, and indices have 32 bits");
			return -1;
		}
	}
	return n;
}

static int64_t round_up(int64_t value, int64_t divisor)
{
	return (value + divisor - 1) / divisor * divisor;
}

/* Move the ends to multiples of the divisor. */
static int settle(heddle_size_range *s)
{
	s->min = round_up(s->min, s->divisor);
	s->max = s->max / s->divisor * s->divisor;
	return s->min <= s->max ? 0 : -1;
}

/* n | n* | n:n | n:n* | n:n*n   (`64*` is every multiple of 64) */
static int read_range(reader *r, heddle_size_range *s)
{
	const char *begin = r->p;
	int64_t a = read_number(r);
	if (a < 0)
		return -1;
	*s = (heddle_size_range){.name = s->name, .min = a, .max = a, .divisor = 1};
	if (*r->p == ':') {
		r->p++;
		if ((s->max = read_number(r)) < 0)
			return -1;
		if (s->max < s->min)
			return complain(r, 302, begin, (size_t)(r->p - begin), "the least value is above the greatest");
	} else if (*r->p == '*') {
		r->p++;
		if (a == 0)
			return complain(r, 303, begin, 1, "a size cannot be a multiple of 0");
		s->min = 0;
		s->max = HEDDLE_MAX_SIZE;
		s->divisor = a;
		return settle(s);
	}
	if (*r->p == '*') {
		const char *star = r->p++;
		int64_t d = read_number(r);
		if (d < 0)
			return -1;
		if (d == 0)
			return complain(r, 303, star, 2, "a size cannot be a multiple of 0");
		s->divisor = d;
		if (settle(s))
			return complain(r, 305, begin, (size_t)(r->p - begin), "no multiple of the divisor is in the range");
	}
	return 0;
}

static int read_size(reader *r, heddle_size_list *list)
{
	size_t n = word(r->p);
	if (!n || isdigit((unsigned char)*r->p))
		return complain(r, 301, r->p, n, "expected a size such as `M=64`, `M=1:8192` or `K=64*`");
	heddle_size_range s = {.name = heddle_arena_strndup(r->arena, r->p, n)};
	const char *name = r->p;
	r->p += n;
	if (*r->p != '=')
		return complain(r, 301, r->p, 1, "expected `=` after the name of a size");
	r->p++;
	if (read_range(r, &s))
		return -1;
	if (*r->p && !isspace((unsigned char)*r->p) && *r->p != ',')
		return complain(r, 301, r->p, 1, "expected `,` or the end after a size");
	for (int i = 0; i < list->n; i++)
		if (!strcmp(list->range[i].name, s.name))
			return complain(r, 308, name, n, "this size is given twice");
	HEDDLE_PUSH(r->arena, list->range, list->n, s);
	return 0;
}

heddle_size_list *heddle_sizes_parse(heddle_ctx *ctx, heddle_arena *arena, const char *text)
{
	return heddle_sizes_parse_from(ctx, arena, "sizes", text);
}

heddle_size_list *heddle_sizes_parse_from(heddle_ctx *ctx, heddle_arena *arena, const char *name, const char *text)
{
	heddle_arena *keep = heddle_ctx_arena(ctx);
	heddle_source *source = HEDDLE_NEW(keep, heddle_source);
	heddle_size_list *list = HEDDLE_NEW(arena, heddle_size_list);
	source->name = name;
	source->text = heddle_arena_strdup(keep, text);
	source->length = strlen(text);
	reader r = {.ctx = ctx, .arena = arena, .source = source, .p = source->text};
	for (skip(&r); *r.p; skip(&r))
		if (read_size(&r, list))
			return NULL;
	return list;
}

static int64_t gcd(int64_t a, int64_t b)
{
	return b ? gcd(b, a % b) : a;
}

int heddle_sizes_apply(heddle_ctx *ctx, heddle_definition *definition, const heddle_size_list *list)
{
	int errors = 0;
	for (int i = 0; list && i < list->n; i++) {
		const heddle_size_range *given = &list->range[i];
		for (int j = 0; j < definition->n_size; j++) {
			heddle_size *size = definition->size[j];
			if (strcmp(size->name, given->name))
				continue;
			int64_t divisor = size->divisor / gcd(size->divisor, given->divisor) * given->divisor;
			heddle_size_range both = {
				.min = given->min > size->min ? given->min : size->min,
				.max = given->max < size->max ? given->max : size->max,
				.divisor = divisor,
			};
			if (settle(&both)) {
				heddle_error(ctx, 305, &size->location, "no value of size `%s` is allowed", size->name);
				heddle_note(ctx, NULL, "declared %lld:%lld*%lld, given %lld:%lld*%lld", (long long)size->min,
					    (long long)size->max, (long long)size->divisor, (long long)given->min,
					    (long long)given->max, (long long)given->divisor);
				errors++;
				continue;
			}
			size->min = both.min;
			size->max = both.max;
			size->divisor = both.min == both.max ? 1 : divisor;
		}
	}
	return errors ? -1 : 0;
}

int heddle_sizes_check(heddle_ctx *ctx, const heddle_definition *definition, const int64_t *size)
{
	for (int i = 0; i < definition->n_size; i++) {
		const heddle_size *s = definition->size[i];
		if (size[i] < s->min || size[i] > s->max)
			return heddle_error(ctx, 306, &s->location, "size `%s` is %lld, outside %lld:%lld", s->name,
					    (long long)size[i], (long long)s->min, (long long)s->max);
		if (size[i] % s->divisor)
			return heddle_error(ctx, 307, &s->location, "size `%s` is %lld, which is not a multiple of %lld", s->name,
					    (long long)size[i], (long long)s->divisor);
	}
	return 0;
}
