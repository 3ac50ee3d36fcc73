/* Arenas: bump allocation in blocks that are freed together; and the allocators that never return NULL.
 * SPDX-License-Identifier: MIT
 */
#include "base/base.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_BLOCK = 4096, LARGEST_BLOCK = 1 << 20 };

typedef struct block {
	struct block *next;
	size_t used;
	size_t capacity;
	alignas(max_align_t) unsigned char data[];
} block;

struct heddle_arena {
	block *newest;
	size_t next_capacity;
};

/* Without memory nothing useful can be said or freed any more. */
static _Noreturn void out_of_memory(size_t size)
{
	fprintf(stderr, "heddle: out of memory (asked for %zu bytes)\n", size);
	exit(HEDDLE_EXIT_LIMIT);
}

void *heddle_xalloc(size_t size)
{
	void *p = calloc(1, size ? size : 1);
	if (!p)
		out_of_memory(size);
	return p;
}

void *heddle_xrealloc(void *old, size_t size)
{
	void *p = realloc(old, size ? size : 1);
	if (!p)
		out_of_memory(size);
	return p;
}

char *heddle_xstrdup(const char *s)
{
	size_t size = strlen(s) + 1;
	return memcpy(heddle_xalloc(size), s, size);
}

heddle_arena *heddle_arena_new(void)
{
	heddle_arena *arena = calloc(1, sizeof(*arena));
	if (arena)
		arena->next_capacity = FIRST_BLOCK;
	return arena;
}

heddle_arena *heddle_arena_free(heddle_arena *arena)
{
	if (!arena)
		return NULL;
	for (block *b = arena->newest; b;) {
		block *next = b->next;
		free(b);
		b = next;
	}
	free(arena);
	return NULL;
}

static void add_block(heddle_arena *arena, size_t size)
{
	size_t capacity = arena->next_capacity > size ? arena->next_capacity : size;
	if (capacity > SIZE_MAX - sizeof(block))
		out_of_memory(size);
	block *b = calloc(1, sizeof(*b) + capacity);
	if (!b)
		out_of_memory(size);
	b->capacity = capacity;
	b->next = arena->newest;
	arena->newest = b;
	if (arena->next_capacity < LARGEST_BLOCK)
		arena->next_capacity *= 2;
}

void *heddle_arena_alloc(heddle_arena *arena, size_t size)
{
	const size_t align = alignof(max_align_t);
	if (size > SIZE_MAX - align)
		out_of_memory(size);
	size = (size + align - 1) / align * align;
	if (!arena->newest || arena->newest->capacity - arena->newest->used < size)
		add_block(arena, size);
	void *p = arena->newest->data + arena->newest->used;
	arena->newest->used += size;
	return p;
}

size_t heddle_arena_bytes(const heddle_arena *arena)
{
	size_t bytes = 0;
	for (const block *b = arena->newest; b; b = b->next)
		bytes += b->used;
	return bytes;
}

char *heddle_arena_strndup(heddle_arena *arena, const char *s, size_t n)
{
	char *copy = heddle_arena_alloc(arena, n + 1);
	if (n)
		memcpy(copy, s, n);
	copy[n] = '\0';
	return copy;
}

char *heddle_arena_strdup(heddle_arena *arena, const char *s)
{
	return heddle_arena_strndup(arena, s, strlen(s));
}

char *heddle_arena_printf(heddle_arena *arena, const char *format, ...)
{
	heddle_text text = {0};
	va_list args;
	va_start(args, format);
	heddle_text_vprintf(&text, format, args);
	va_end(args);
	char *copy = heddle_arena_strndup(arena, heddle_text_str(&text), text.length);
	heddle_text_free(&text);
	return copy;
}

void *heddle_arena_grow(heddle_arena *arena, void *array, size_t n, size_t element_size)
{
	if (n & (n - 1) && n)
		return array;
	size_t capacity = n ? 2 * n : 1;
	if (capacity > SIZE_MAX / element_size)
		out_of_memory(SIZE_MAX);
	void *bigger = heddle_arena_alloc(arena, capacity * element_size);
	if (n)
		memcpy(bigger, array, n * element_size);
	return bigger;
}
