/* NumPy .npy files: read (any version, byte order and element order) and write.
 * SPDX-License-Identifier: MIT
 */
#include "harness/tensor.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* NumPy's kind letter and size for each type that it knows. */
static const struct {
	char kind;
	int size;
	heddle_type type;
} kinds[] = {
	{ 'b', 1, HEDDLE_BOOL },    { 'i', 1, HEDDLE_INT8 },	{ 'i', 2, HEDDLE_INT16 },   { 'i', 4, HEDDLE_INT32 },
	{ 'i', 8, HEDDLE_INT64 },   { 'u', 1, HEDDLE_UINT8 },	{ 'u', 2, HEDDLE_UINT16 },  { 'u', 4, HEDDLE_UINT32 },
	{ 'u', 8, HEDDLE_UINT64 },  { 'f', 2, HEDDLE_FLOAT16 }, { 'f', 4, HEDDLE_FLOAT32 }, { 'f', 8, HEDDLE_FLOAT64 },
	{ 'V', 2, HEDDLE_BFLOAT16 },
};

/* What the header's dictionary says. */
typedef struct header {
	bool big_endian, fortran;
	char kind;
	int size;
	int rank;
	int64_t shape[HEDDLE_MAX_RANK];
	bool has_descr, has_order, has_shape;
} header;

typedef struct cursor {
	heddle_ctx *ctx;
	const char *name;
	const char *at, *end;
} cursor;

static int bad(const cursor *c, const char *what)
{
	return heddle_error(c->ctx, 701, NULL, "%s: bad .npy header: %s", c->name, what);
}

static void blank(cursor *c)
{
	while (c->at < c->end && isspace((unsigned char)*c->at))
		++c->at;
}

static bool take(cursor *c, char wanted)
{
	blank(c);
	if (c->at >= c->end || *c->at != wanted)
		return false;
	++c->at;
	return true;
}

/* A quoted string without escapes into buffer [size]. */
static int take_string(cursor *c, char *buffer, size_t size)
{
	blank(c);
	if (c->at >= c->end || (*c->at != '\'' && *c->at != '"'))
		return bad(c, "a quoted string is missing");
	char quote = *c->at++;
	size_t n = 0;
	while (c->at < c->end && *c->at != quote) {
		if (n + 1 >= size)
			return bad(c, "a string is too long");
		buffer[n++] = *c->at++;
	}
	if (c->at >= c->end)
		return bad(c, "a string does not end");
	++c->at;
	buffer[n] = 0;
	return 0;
}

static int take_descr(cursor *c, header *h)
{
	blank(c);
	if (c->at < c->end && *c->at == '[')
		return heddle_error(c->ctx, 702, NULL, "%s: holds records, not numbers", c->name);
	char text[64];
	if (take_string(c, text, sizeof(text)) < 0)
		return -1;
	const char *s = text;
	h->big_endian = *s == '>';
	if (*s == '<' || *s == '>' || *s == '|' || *s == '=')
		++s;
	h->kind = *s;
	char *rest;
	long size = *s ? strtol(s + 1, &rest, 10) : 0;
	if (!*s || *rest || rest == s + 1 || size < 1 || size > 1024)
		return heddle_error(c->ctx, 702, NULL, "%s: unknown NumPy type '%s'", c->name, text);
	h->size = (int)size;
	h->has_descr = true;
	return 0;
}

static int take_shape(cursor *c, header *h)
{
	if (!take(c, '('))
		return bad(c, "the shape is no tuple");
	h->rank = 0;
	int64_t count = 1;
	while (!take(c, ')')) {
		blank(c);
		if (c->at >= c->end || !isdigit((unsigned char)*c->at))
			return bad(c, "an extent is no number");
		int64_t n = 0;
		while (c->at < c->end && isdigit((unsigned char)*c->at)) {
			if (n > INT64_MAX / 16)
				return bad(c, "an extent is too large");
			n = n * 10 + (*c->at++ - '0');
		}
		if (c->at < c->end && *c->at == 'L')
			++c->at; /* written by Python 2 */
		if (h->rank == HEDDLE_MAX_RANK)
			return bad(c, "more than 8 dimensions");
		if (n && count > INT64_MAX / 16 / n)
			return bad(c, "more elements than can be addressed");
		count *= n ? n : 1;
		h->shape[h->rank++] = n;
		if (!take(c, ',') && !(blank(c), c->at < c->end && *c->at == ')'))
			return bad(c, "a comma is missing in the shape");
	}
	h->has_shape = true;
	return 0;
}

static int take_order(cursor *c, header *h)
{
	blank(c);
	size_t left = (size_t)(c->end - c->at);
	if (left >= 4 && !strncmp(c->at, "True", 4)) {
		h->fortran = true;
		c->at += 4;
	} else if (left >= 5 && !strncmp(c->at, "False", 5)) {
		c->at += 5;
	} else {
		return bad(c, "fortran_order is neither True nor False");
	}
	h->has_order = true;
	return 0;
}

static int parse_header(cursor *c, header *h)
{
	if (!take(c, '{'))
		return bad(c, "no dictionary");
	while (!take(c, '}')) {
		char key[32];
		if (take_string(c, key, sizeof(key)) < 0)
			return -1;
		if (!take(c, ':'))
			return bad(c, "a colon is missing");
		int rc = !strcmp(key, "descr")		 ? take_descr(c, h)
			 : !strcmp(key, "fortran_order") ? take_order(c, h)
			 : !strcmp(key, "shape")	 ? take_shape(c, h)
							 : bad(c, "an unknown key");
		if (rc < 0)
			return -1;
		if (!take(c, ',') && !(blank(c), c->at < c->end && *c->at == '}'))
			return bad(c, "a comma is missing");
	}
	if (!h->has_descr || !h->has_order || !h->has_shape)
		return bad(c, "descr, fortran_order or shape is missing");
	return 0;
}

/* The type that the file's kind means where `wanted` is asked for; -1 with a diagnostic. */
static int resolve_type(const cursor *c, const header *h, int wanted)
{
	int found = -1;
	for (size_t k = 0; k < HEDDLE_COUNT(kinds); ++k)
		if (kinds[k].kind == h->kind && kinds[k].size == h->size)
			found = (int)kinds[k].type;
	if (wanted == HEDDLE_BFLOAT16 && found == HEDDLE_UINT16)
		found = HEDDLE_BFLOAT16;
	if (found < 0)
		return heddle_error(c->ctx, 702, NULL, "%s: NumPy type '%c%d' has no counterpart here", c->name, h->kind,
				    h->size);
	if (wanted >= 0 && found != wanted)
		return heddle_error(c->ctx, 702, NULL, "%s: holds %s, but %s is wanted", c->name,
				    heddle_type_name((heddle_type)found), heddle_type_name((heddle_type)wanted));
	return found;
}

static void copy_elements(heddle_array *array, const unsigned char *from, const header *h)
{
	const size_t size = (size_t)h->size;
	const int64_t n = heddle_array_count(array);
	for (int64_t k = 0; k < n; ++k) {
		int64_t source = k;
		if (h->fortran) {
			/* k is row-major; the file counts the first subscript fastest. */
			int64_t subscript[HEDDLE_MAX_RANK], step = 1;
			heddle_array_subscript(array, k, subscript);
			source = 0;
			for (int d = 0; d < array->rank; ++d) {
				source += subscript[d] * step;
				step *= array->shape[d];
			}
		}
		unsigned char *to = array->data + (size_t)k * size;
		if (h->big_endian)
			for (size_t b = 0; b < size; ++b)
				to[b] = from[(size_t)source * size + size - 1 - b];
		else
			memcpy(to, from + (size_t)source * size, size);
		if (array->type == HEDDLE_BOOL)
			*to = *to != 0;
	}
}

/* The header at the begin of a file; in `*end` where the elements begin.  0, or -1 with a diagnostic. */
static int read_header(cursor *c, const unsigned char *bytes, size_t length, header *h, size_t *end)
{
	if (length < 10 || memcmp(bytes, "\x93NUMPY", 6))
		return heddle_error(c->ctx, 701, NULL, "%s: not an .npy file", c->name);
	if (bytes[6] < 1 || bytes[6] > 3)
		return heddle_error(c->ctx, 701, NULL, "%s: .npy format version %d is not known", c->name, bytes[6]);
	size_t start = bytes[6] == 1 ? 10 : 12;
	size_t text = (size_t)bytes[8] | (size_t)bytes[9] << 8;
	if (bytes[6] > 1 && length >= 12)
		text |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
	if (length < start || text > length - start)
		return heddle_error(c->ctx, 701, NULL, "%s: the file ends inside its header", c->name);
	c->at = (const char *)bytes + start;
	c->end = c->at + text;
	*h = (header){ 0 };
	*end = start + text;
	return parse_header(c, h);
}

int heddle_npy_shape(heddle_ctx *ctx, const char *path, int *rank, int64_t *shape)
{
	enum { LONGEST_HEADER = 1 << 16 };
	FILE *file = heddle_stream_open(path);
	if (!file)
		return heddle_error(ctx, 901, NULL, "cannot read '%s': %s", path, strerror(errno));
	unsigned char *data = heddle_xalloc(LONGEST_HEADER);
	const size_t length = fread(data, 1, LONGEST_HEADER, file);
	fclose(file);
	cursor c = { .ctx = ctx, .name = path };
	header h;
	size_t end;
	int result = read_header(&c, data, length, &h, &end);
	free(data);
	*rank = result == 0 ? h.rank : 0;
	for (int d = 0; d < *rank; d++)
		shape[d] = h.shape[d];
	return result;
}

heddle_array *heddle_npy_parse(heddle_ctx *ctx, const char *name, const void *data, size_t length, int wanted)
{
	const unsigned char *bytes = data;
	cursor c = { .ctx = ctx, .name = name };
	header h;
	size_t end;
	if (read_header(&c, bytes, length, &h, &end) < 0)
		return NULL;
	int type = resolve_type(&c, &h, wanted);
	if (type < 0)
		return NULL;
	uint64_t count = 1;
	for (int d = 0; d < h.rank; ++d)
		count *= (uint64_t)h.shape[d];
	uint64_t there = length - end;
	if (count * (uint64_t)h.size != there) {
		heddle_error(ctx, 703, NULL, "%s: %llu bytes of data where the shape needs %llu", name,
			     (unsigned long long)there, (unsigned long long)(count * (uint64_t)h.size));
		return NULL;
	}
	heddle_array *array = heddle_array_new((heddle_type)type, h.rank, h.shape);
	copy_elements(array, bytes + end, &h);
	return array;
}

heddle_array *heddle_npy_read(heddle_ctx *ctx, const char *path, int wanted)
{
	FILE *file = heddle_stream_open(path);
	if (!file) {
		heddle_error(ctx, 901, NULL, "cannot read '%s': %s", path, strerror(errno));
		return NULL;
	}
	size_t length = 0, capacity = 1 << 16;
	unsigned char *data = heddle_xalloc(capacity);
	for (size_t n; (n = fread(data + length, 1, capacity - length, file)) > 0;) {
		length += n;
		if (memcmp(data, "\x93NUMPY", length < 6 ? length : 6) != 0)
			break;
		if (length == capacity)
			data = heddle_xrealloc(data, capacity *= 2);
	}
	bool failed = ferror(file) != 0;
	fclose(file);
	heddle_array *array = NULL;
	if (failed)
		heddle_error(ctx, 901, NULL, "cannot read '%s': %s", path, strerror(errno));
	else
		array = heddle_npy_parse(ctx, path, data, length, wanted);
	free(data);
	return array;
}

int heddle_npy_write(heddle_ctx *ctx, const char *path, const heddle_array *array)
{
	const bool raw = array->type == HEDDLE_BFLOAT16;
	const heddle_type stored = raw ? HEDDLE_UINT16 : array->type;
	const size_t size = (size_t)heddle_type_size(stored);
	char kind = 'f';
	for (size_t k = 0; k < HEDDLE_COUNT(kinds); ++k)
		if (kinds[k].type == stored)
			kind = kinds[k].kind;
	heddle_text dictionary = { 0 }, out = { 0 };
	heddle_text_printf(&dictionary, "{'descr': '%c%c%zu', 'fortran_order': False, 'shape': (", size == 1 ? '|' : '<', kind,
			   size);
	for (int d = 0; d < array->rank; ++d)
		heddle_text_printf(&dictionary, "%lld,%s", (long long)array->shape[d], d + 1 < array->rank ? " " : "");
	heddle_text_add(&dictionary, "), }");
	while ((10 + dictionary.length + 1) % 64) /* the data starts at a multiple of 64 bytes */
		heddle_text_add(&dictionary, " ");
	heddle_text_add(&dictionary, "\n");
	const char magic[10] = { '\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0, (char)(dictionary.length & 255),
				 (char)(dictionary.length >> 8) };
	heddle_text_addn(&out, magic, sizeof(magic));
	heddle_text_addn(&out, dictionary.data, dictionary.length);
	const int64_t n = heddle_array_count(array);
	if (heddle_array_is_dense(array))
		heddle_text_addn(&out, (const char *)array->data, (size_t)n * size);
	else
		for (int64_t k = 0; k < n; ++k)
			heddle_text_addn(&out, (const char *)array->data + (size_t)heddle_array_offset(array, k) * size, size);
	int rc = heddle_file_write(ctx, path, out.data, out.length);
	heddle_text_free(&dictionary);
	heddle_text_free(&out);
	return rc < 0 ? -1 : raw ? 1 : 0;
}
