/* Fresh names for what the checker adds to a definition.
 * SPDX-License-Identifier: MIT
 */
#include "frontend/check.h"

#include <string.h>

/* A set of strings with open addressing; the capacity is a power of two. */
typedef struct used_name {
	const char *name;
	int next; /* the number that was tried last behind it */
} used_name;

struct heddle_names {
	size_t n, capacity;
	used_name *name;
};

static size_t hash(const char *name)
{
	size_t h = 1469598103934665603u;
	for (; *name; name++)
		h = (h ^ (unsigned char)*name) * 1099511628211u;
	return h;
}

static used_name *slot(const heddle_names *s, const char *name)
{
	size_t i = hash(name) & (s->capacity - 1);
	while (s->name[i].name && strcmp(s->name[i].name, name))
		i = (i + 1) & (s->capacity - 1);
	return &s->name[i];
}

static used_name *add(checker *c, const char *name)
{
	heddle_names *s = c->names;
	if (2 * (s->n + 1) > s->capacity) {
		heddle_names old = *s;
		s->capacity = old.capacity ? 2 * old.capacity : 64;
		s->name = HEDDLE_NEW_ARRAY(c->scratch, used_name, s->capacity);
		for (size_t i = 0; i < old.capacity; i++)
			if (old.name[i].name)
				*slot(s, old.name[i].name) = old.name[i];
	}
	used_name *place = slot(s, name);
	s->n += !place->name;
	place->name = name;
	return place;
}

static bool in_use(const checker *c, const char *name)
{
	return (c->names->capacity && slot(c->names, name)->name) || heddle_builtin_find(name) >= 0 || heddle_type_parse(name) >= 0;
}

static void add_expr(checker *c, const syntax_expr *e)
{
	if (e->kind == SYNTAX_NAME)
		add(c, e->name);
	for (int i = 0; i < e->n_arg; i++)
		add_expr(c, e->arg[i]);
}

static void add_params(checker *c, int n, const syntax_param *param)
{
	for (int i = 0; i < n; i++) {
		add(c, param[i].name);
		for (int j = 0; j < param[i].n_dim; j++)
			add_expr(c, param[i].dim[j]);
		for (int j = 0; j < param[i].n_stride; j++)
			add_expr(c, param[i].stride[j]);
	}
}

static void collect(checker *c)
{
	static const char *const words[] = {"def", "where", "in", "exists", "min", "max", "inf", "infinity", "nan",
					    "size", "inout", "sizes", "strides", "align", "policy", "argmax", "argmin"};
	const syntax_definition *d = c->syntax;
	c->names = HEDDLE_NEW(c->scratch, heddle_names);
	for (size_t i = 0; i < HEDDLE_COUNT(words); i++)
		add(c, words[i]);
	add_params(c, d->n_param, d->param);
	add_params(c, d->n_return, d->ret);
	for (int i = 0; i < d->n_statement; i++) {
		const syntax_statement *st = &d->statement[i];
		if (st->name)
			add(c, st->name);
		for (int j = 0; j < st->n_lhs; j++)
			add_expr(c, st->lhs[j]);
		if (st->value)
			add_expr(c, st->value);
		for (int j = 0; j < st->n_clause; j++) {
			if (st->clause[j].name)
				add(c, st->clause[j].name);
			add_expr(c, st->clause[j].a);
			if (st->clause[j].b)
				add_expr(c, st->clause[j].b);
		}
	}
}

const char *heddle_check_fresh(checker *c, const char *stem)
{
	if (!c->names)
		collect(c);
	const char *name = heddle_arena_strdup(c->arena, stem);
	if (in_use(c, name)) {
		used_name *taken = add(c, name);
		for (taken->next += !taken->next; in_use(c, name);)
			name = heddle_arena_printf(c->arena, "%s_%d", stem, ++taken->next);
	}
	add(c, name);
	return name;
}
