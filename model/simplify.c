/* The pass `simplify`: its order, and what its steps share.
 * SPDX-License-Identifier: MIT
 */
#include "model/simplify_parts.h"

#include <stdlib.h>
#include <string.h>

/* ---- names -------------------------------------------------------------------------------------------------------------- */

/* "k_12" is base "k" and number 12, "k" is number 0. */
static int split_name(const char *name, size_t *length)
{
	size_t n = strlen(name), digits = 0;
	while (digits < n && name[n - 1 - digits] >= '0' && name[n - 1 - digits] <= '9')
		digits++;
	*length = n;
	if (digits == 0 || digits > 8 || digits + 1 >= n || name[n - 1 - digits] != '_')
		return 0;
	*length = n - 1 - digits;
	return atoi(name + n - digits);
}

static name_base *find_base(simplify *s, const char *base, size_t length)
{
	for (int k = 0; k < s->n_base; k++)
		if (!strncmp(s->base[k].base, base, length) && !s->base[k].base[length])
			return &s->base[k];
	return NULL;
}

static void take_name(simplify *s, const char *name)
{
	size_t length;
	int number = split_name(name, &length);
	name_base *base = find_base(s, name, length);
	if (!base) {
		name_base new = {heddle_arena_strndup(s->p->arena, name, length), 0};
		HEDDLE_PUSH(s->p->arena, s->base, s->n_base, new);
		base = &s->base[s->n_base - 1];
	}
	if (base->next <= number)
		base->next = number + 1;
}

const char *simplify_name(simplify *s, const char *wish)
{
	size_t length;
	split_name(wish, &length);
	name_base *base = find_base(s, wish, length);
	const char *name = heddle_arena_strndup(s->p->arena, wish, length);
	if (base)
		name = heddle_arena_printf(s->p->arena, "%s_%d", name, base->next);
	take_name(s, name);
	return name;
}

static void take_names_of(simplify *s, const heddle_node *node)
{
	if (node->kind == HEDDLE_NODE_FOR || node->kind == HEDDLE_NODE_LET)
		take_name(s, node->name);
	for (int k = 0; k < node->n_child; k++)
		take_names_of(s, node->child[k]);
}

static void take_outer_names(simplify *s)
{
	static const char *const words[] = {"block", "thread", "true", "false", "inf", "nan"};
	for (size_t k = 0; k < HEDDLE_COUNT(words); k++)
		take_name(s, words[k]);
	for (int k = 0; k < s->p->n_size; k++)
		take_name(s, s->p->size[k].name);
	for (int k = 0; k < s->p->n_buffer; k++)
		take_name(s, s->p->buffer[k]->name);
	for (int k = 0; k < s->p->n_launch; k++)
		take_name(s, s->p->launch[k]->name);
}

/* ---- names in the end --------------------------------------------------------------------------------------------------- */

/* Names with numbers, of which many went with what was simplified away, are numbered again in the order of the text. */
typedef struct renaming {
	simplify *s;
	int n;
	struct {
		const char *from, *to;
	} *pair;
} renaming;

static bool is_numbered(const char *name)
{
	size_t length;
	split_name(name, &length);
	return name[length] != 0;
}

static void take_plain_names(simplify *s, const heddle_node *node)
{
	if ((node->kind == HEDDLE_NODE_FOR || node->kind == HEDDLE_NODE_LET) && !is_numbered(node->name))
		take_name(s, node->name);
	for (int k = 0; k < node->n_child; k++)
		take_plain_names(s, node->child[k]);
}

static heddle_value *renamed(heddle_value *v, void *user)
{
	const renaming *r = user;
	if (v->kind != HEDDLE_VALUE_VARIABLE || !is_numbered(v->name))
		return v;
	for (int k = r->n - 1; k >= 0; k--)
		if (!strcmp(r->pair[k].from, v->name))
			return heddle_value_variable(r->s->p, v->type, v->width, r->pair[k].to);
	return v;
}

/* Definitions come before uses, so one walk does. */
static void rename_in(renaming *r, heddle_node *node)
{
	for (int k = 0; k < node->n_value; k++)
		node->value[k] = heddle_value_map(r->s->p, node->value[k], renamed, r);
	if ((node->kind == HEDDLE_NODE_FOR || node->kind == HEDDLE_NODE_LET) && is_numbered(node->name)) {
		r->pair = heddle_arena_grow(r->s->p->arena, r->pair, (size_t)r->n, sizeof(*r->pair));
		r->pair[r->n].from = node->name;
		node->name = r->pair[r->n++].to = simplify_name(r->s, node->name);
	}
	for (int k = 0; k < node->n_child; k++)
		rename_in(r, node->child[k]);
}

/* ---- walking ------------------------------------------------------------------------------------------------------------ */

void simplify_walk(simplify *s, heddle_node *node, void (*visit)(simplify *s, heddle_node *node, void *user), void *user)
{
	int mark = heddle_ranges_mark(s->ranges);
	switch (node->kind) {
	case HEDDLE_NODE_BLOCK:
		for (int k = 0; k < node->n_child; k++)
			simplify_walk(s, node->child[k], visit, user);
		break;
	case HEDDLE_NODE_FOR:
		visit(s, node, user);
		heddle_ranges_define(s->ranges, node->name, heddle_ranges_loop(s->ranges, node));
		simplify_walk(s, node->child[0], visit, user);
		break;
	case HEDDLE_NODE_IF:
		visit(s, node, user);
		for (int k = 0; k < node->n_child; k++)
			simplify_walk(s, node->child[k], visit, user);
		break;
	case HEDDLE_NODE_LET:
		visit(s, node, user);
		heddle_ranges_let(s->ranges, node->name, node->value[0]);
		return; /* visible to the end of the block */
	case HEDDLE_NODE_STORE:
	case HEDDLE_NODE_COPY:
		visit(s, node, user);
		break;
	case HEDDLE_NODE_DECLARE:
	case HEDDLE_NODE_BARRIER:
	case HEDDLE_NODE_WAIT:
	case HEDDLE_NODE_COMMENT:
		break;
	}
	heddle_ranges_unwind(s->ranges, mark);
}

static void number_again(simplify *s)
{
	renaming r = {.s = s};
	s->n_base = 0;
	take_outer_names(s);
	take_plain_names(s, s->launch->body);
	rename_in(&r, s->launch->body);
}

/* ---- the rule for register arrays ------------------------------------------------------------------------------------------ */

typedef struct register_check {
	heddle_ctx *ctx;
	int n_loop;
	const heddle_node *loop[64]; /* UNROLL loops that are still there, around the place of the walk */
	bool failed;
} register_check;

static void check_register_subscripts(register_check *c, const heddle_buffer *buffer, int n, heddle_value *const *subscript)
{
	if (buffer->role != HEDDLE_BUFFER_REGISTER || c->failed)
		return;
	for (int l = 0; l < c->n_loop; l++)
		for (int k = 0; k < n; k++) {
			if (!heddle_value_depends(subscript[k], c->loop[l]->name))
				continue;
			c->failed = true;
			heddle_error(c->ctx, 601, NULL, "the register array %s is indexed by the loop over %s, which is too long to unroll",
				     buffer->name, c->loop[l]->name);
			heddle_note(c->ctx, NULL, "choose a smaller tile for each thread");
			return;
		}
}

static void check_values(register_check *c, const heddle_value *v)
{
	if (v->kind == HEDDLE_VALUE_LOAD)
		check_register_subscripts(c, v->buffer, v->n_arg, v->arg);
	for (int k = 0; k < v->n_arg; k++)
		check_values(c, v->arg[k]);
}

static void check_registers(register_check *c, const heddle_node *node)
{
	bool pushed = node->kind == HEDDLE_NODE_FOR && (node->loop == HEDDLE_LOOP_UNROLL || node->loop == HEDDLE_LOOP_WINDOW) &&
		      c->n_loop < (int)HEDDLE_COUNT(c->loop);
	if (pushed)
		c->loop[c->n_loop++] = node;
	for (int k = 0; k < node->n_value; k++)
		check_values(c, node->value[k]);
	if (node->kind == HEDDLE_NODE_STORE)
		check_register_subscripts(c, node->buffer, node->n_value - 1, node->value + 1);
	for (int k = 0; k < node->n_child; k++)
		check_registers(c, node->child[k]);
	c->n_loop -= pushed;
}

/* ---- the pass ------------------------------------------------------------------------------------------------------------- */

static int simplify_launch(simplify *s)
{
	register_check check = {.ctx = s->ctx};
	take_outer_names(s);
	take_names_of(s, s->launch->body);
	simplify_fold(s, (rewriter){.unique = true});
	simplify_vectorise(s);
	simplify_turn(s, true); /* short loops are unrolled next */
	simplify_fold(s, (rewriter){.unroll = true});
	simplify_partial(s);
	simplify_registers(s);
	check_registers(&check, s->launch->body);
	if (check.failed)
		return -1;
	simplify_turn(s, false); /* wide vectors are several now */
	simplify_rounds(s);
	simplify_carry(s);
	simplify_linearise(s);
	simplify_widen(s);
	simplify_fold(s, (rewriter){.unroll = false}); /* conditions that have become alike are one, and what stands under them shares */
	simplify_share(s);
	simplify_ahead(s);
	simplify_fold(s, (rewriter){.plain_division = true});
	simplify_hoist(s);
	simplify_copies(s);
	number_again(s);
	return 0;
}

int heddle_simplify(heddle_ctx *ctx, heddle_program *program, const heddle_simplify_options *given)
{
	heddle_simplify_options options = *given;
	int result = 0;
	if (options.unroll_limit <= 0)
		options.unroll_limit = 1024;
	for (int k = 0; k < program->n_launch && !result; k++) {
		simplify s = {.ctx = ctx, .p = program, .launch = program->launch[k], .options = &options};
		s.ranges = heddle_ranges_new(program, s.launch);
		result = simplify_launch(&s);
		heddle_ranges_free(s.ranges);
	}
	heddle_program_number(program);
	return result;
}
