/* Lists of programs behind one entry: their order, the copies without vectors, which one runs.
 * SPDX-License-Identifier: MIT
 */
#include "backends/printer_parts.h"

#include <string.h>

void heddle_variants_begin(heddle_variants *variants)
{
	*variants = (heddle_variants){.arena = heddle_arena_new()};
}

void heddle_variants_free(heddle_variants *variants)
{
	for (int i = 0; i < variants->n; i++)
		heddle_program_free(variants->item[i].program);
	if (variants->arena)
		heddle_arena_free(variants->arena);
	*variants = (heddle_variants){0};
}

/* A parameter of the entry. */
static bool is_parameter(const heddle_buffer *buffer)
{
	return buffer->role == HEDDLE_BUFFER_SCALAR || (heddle_is_global(buffer) && buffer->role != HEDDLE_BUFFER_TEMPORARY);
}

static bool size_takes(const heddle_program_size *size, int64_t value)
{
	return value >= size->min && value <= size->max && (size->divisor < 2 || value % size->divisor == 0);
}

/* Every value of `b` is one of `a`. */
static bool size_contains(const heddle_program_size *a, const heddle_program_size *b)
{
	if (b->min == b->max)
		return size_takes(a, b->min);
	return b->min >= a->min && b->max <= a->max && (a->divisor < 2 || (b->divisor > 0 && b->divisor % a->divisor == 0));
}

static bool contains(const heddle_program *a, const heddle_program *b)
{
	bool all = a->n_size == b->n_size;
	for (int i = 0; i < a->n_size && all; i++)
		all = size_contains(&a->size[i], &b->size[i]);
	return all;
}

void heddle_variants_add(heddle_variants *variants, heddle_program *program)
{
	const heddle_variant new = {.program = program};
	for (int i = 0; i < variants->n; i++)
		if (contains(variants->item[i].program, program) && contains(program, variants->item[i].program)) {
			heddle_program_free(program);
			return;
		}
	HEDDLE_PUSH(variants->arena, variants->item, variants->n, new);
	int at = 0;
	while (at < variants->n - 1 && !contains(variants->item[at].program, program))
		at++;
	for (int i = variants->n - 1; i > at; i--)
		variants->item[i] = variants->item[i - 1];
	variants->item[at] = new;
}

/* Some tensor's address must be aligned to more than its elements.  The workspace's alignment is asked of the caller. */
static bool needs_alignment(heddle_arena *arena, const heddle_target *target, const heddle_program *p)
{
	const int *align = heddle_buffer_alignments(arena, target, p);
	for (int i = 0; i < p->n_buffer; i++)
		if (heddle_is_global(p->buffer[i]) && is_parameter(p->buffer[i]) && align[i] > heddle_type_size(p->buffer[i]->type))
			return true;
	return false;
}

/* Copies for those that no later one stands in for.  The last one's comes first: it is for the most sizes. */
static void add_scalar(const heddle_target *target, heddle_variants *variants)
{
	const int n = variants->n;
	for (int i = n - 1; i >= 0; i--) {
		heddle_program *p = variants->item[i].program;
		bool covered = !needs_alignment(variants->arena, target, p);
		for (int j = i + 1; j < variants->n && !covered; j++)
			covered = contains(variants->item[j].program, p) && !needs_alignment(variants->arena, target, variants->item[j].program);
		if (covered)
			continue;
		const heddle_variant new = {heddle_program_scalar(p),
					    heddle_arena_printf(variants->arena, "variant %d without vectors: for base addresses that are not "
										 "aligned as its vectors need", i)};
		HEDDLE_PUSH(variants->arena, variants->item, variants->n, new);
	}
}

static bool same_interface(const heddle_program *a, const heddle_program *b)
{
	bool same = a->n_size == b->n_size && !strcmp(a->name, b->name);
	for (int i = 0; i < a->n_size && same; i++)
		same = !strcmp(a->size[i].name, b->size[i].name);
	int j = 0;
	for (int i = 0; i < a->n_buffer && same; i++) {
		const heddle_buffer *x = a->buffer[i], *y;
		if (!is_parameter(x))
			continue;
		while (j < b->n_buffer && !is_parameter(b->buffer[j]))
			j++;
		y = j < b->n_buffer ? b->buffer[j++] : NULL;
		same = y && x->role == y->role && x->type == y->type && x->rank == y->rank && !strcmp(x->name, y->name);
	}
	return same;
}

int heddle_variants_finish(heddle_ctx *ctx, const heddle_target *target, heddle_variants *variants)
{
	if (!heddle_dialect_language(target->dialect).unaligned_vectors)
		add_scalar(target, variants);
	for (int i = 1; i < variants->n; i++) {
		heddle_program *p = variants->item[i].program;
		if (!same_interface(variants->item[0].program, p))
			return heddle_error(ctx, 950, NULL, "%s: variant %d has other parameters than the first", p->name, i);
		for (int k = 0; k < p->n_launch; k++)
			p->launch[k]->name = heddle_arena_printf(p->arena, "%s_v%d_%d", p->name, i, k);
	}
	return 0;
}

static int64_t gcd(int64_t a, int64_t b)
{
	while (b) {
		int64_t r = a % b;
		a = b;
		b = r;
	}
	return a;
}

/* What divides every value: a single value is its own divisor. */
static int64_t divisor_of(const heddle_program_size *size)
{
	if (size->min == size->max)
		return size->min;
	return size->divisor > 1 ? size->divisor : 1;
}

heddle_program_size heddle_variants_size(const heddle_variants *variants, int i)
{
	heddle_program_size all = variants->item[0].program->size[i];
	int64_t divisor = divisor_of(&all);
	for (int k = 1; k < variants->n; k++) {
		const heddle_program_size *one = &variants->item[k].program->size[i];
		all.min = one->min < all.min ? one->min : all.min;
		all.max = one->max > all.max ? one->max : all.max;
		divisor = gcd(divisor, divisor_of(one));
	}
	all.divisor = all.min == all.max || divisor < 1 ? 1 : divisor;
	return all;
}

bool heddle_variants_is_widest(const heddle_variants *variants, int i)
{
	for (int k = 0; k < variants->n; k++)
		if (!contains(variants->item[i].program, variants->item[k].program))
			return false;
	return true;
}

static const heddle_value *layout_of(const heddle_program *p, const char *name, bool stride, int k)
{
	for (int i = 0; i < p->n_buffer; i++)
		if (strcmp(p->buffer[i]->name, name) == 0)
			return stride ? p->buffer[i]->stride[k] : p->buffer[i]->extent[k];
	return NULL;
}

int heddle_variants_extent_size(const heddle_variants *variants, const char *buffer, bool stride, int k)
{
	for (int i = 0; i < variants->item[0].program->n_size; i++) {
		bool all = true;
		for (int v = 0; v < variants->n && all; v++) {
			const heddle_program *p = variants->item[v].program;
			const heddle_value *x = layout_of(p, buffer, stride, k);
			bool value = x && x->kind == HEDDLE_VALUE_INT && p->size[i].min == p->size[i].max && p->size[i].min == x->i;
			all = value || (x && x->kind == HEDDLE_VALUE_SIZE && x->i == i);
		}
		if (all)
			return i;
	}
	return -1;
}

/* All tensors, each `misalign` elements past an aligned address. */
static bool are_aligned(const heddle_target *target, const heddle_program *p, int misalign)
{
	heddle_arena *arena = heddle_arena_new();
	const int *align = heddle_buffer_alignments(arena, target, p);
	bool all = true;
	for (int i = 0; i < p->n_buffer && all; i++) {
		const heddle_buffer *buffer = p->buffer[i];
		all = !is_parameter(buffer) || buffer->role == HEDDLE_BUFFER_SCALAR ||
		      misalign * heddle_type_size(buffer->type) % align[i] == 0;
	}
	heddle_arena_free(arena);
	return all;
}

int heddle_variants_choose(const heddle_variants *variants, const heddle_target *target, const int64_t *size, int misalign)
{
	for (int i = 0; i < variants->n; i++) {
		const heddle_program *p = variants->item[i].program;
		bool fits = true;
		for (int k = 0; k < p->n_size && fits; k++)
			fits = size_takes(&p->size[k], size[k]);
		if (fits && are_aligned(target, p, misalign))
			return i;
	}
	return -1;
}
