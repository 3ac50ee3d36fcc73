/* The printer: branches, and barriers where their ways meet.
 * SPDX-License-Identifier: MIT
 */
#include "backends/printer_parts.h"
#include "model/ranges.h"

static const heddle_node *only_if(const heddle_node *node)
{
	if (node->kind == HEDDLE_NODE_BLOCK && node->n_child == 1)
		return only_if(node->child[0]);
	return node->kind == HEDDLE_NODE_IF ? node : NULL;
}

static const char *print_condition(printer *p, const heddle_node *node)
{
	if (heddle_dialect_flag(p->dialect, "language.joint_conditions") && heddle_node_find(node, HEDDLE_NODE_BARRIER))
		return heddle_print_joint(p, node->value[0]).text;
	return heddle_print_value(p, node->value[0], false).text;
}

void heddle_print_barrier(printer *p)
{
	heddle_print_line(p, "%s", heddle_dialect_word(p->dialect, "barrier"));
}

bool heddle_meets_at_barrier(const printer *p, const heddle_node *node)
{
	return node->kind == HEDDLE_NODE_IF && heddle_dialect_flag(p->dialect, "language.barriers_at_joins") &&
	       heddle_node_find(node, HEDDLE_NODE_BARRIER);
}

/* How many barriers the text of a node ends with. */
static int last_barriers(const printer *p, const heddle_node *node)
{
	int n = 0;
	if (node->kind == HEDDLE_NODE_BARRIER)
		return 1;
	if (node->kind != HEDDLE_NODE_BLOCK)
		return 0;
	for (int i = node->n_child - 1; i >= 0; i--, n++)
		if (node->child[i]->kind != HEDDLE_NODE_BARRIER)
			return n + heddle_meets_at_barrier(p, node->child[i]);
	return n;
}

static bool value_loads(const heddle_value *v)
{
	if (v->kind == HEDDLE_VALUE_LOAD)
		return true;
	for (int i = 0; i < v->n_arg; i++)
		if (value_loads(v->arg[i]))
			return true;
	return false;
}

/* Is a copy under way behind the first `n` children, and its event thus named there? */
static bool is_copying(const heddle_node *body, int n)
{
	heddle_node first = *body;
	first.n_child = n;
	const heddle_node *copy = heddle_node_find(&first, HEDDLE_NODE_COPY);
	return copy && heddle_node_under_way(&first, copy->name);
}

/* Can `if (c) { a; barrier; b }` be `if (c) a; barrier; if (c) b`: do both times give the same condition and names? */
static bool may_part(const heddle_node *node)
{
	const heddle_node *body = node->child[0];
	if (node->n_child != 1 || body->kind != HEDDLE_NODE_BLOCK || value_loads(node->value[0]))
		return false;
	int last = body->n_child - 1;
	while (last >= 0 && body->child[last]->kind != HEDDLE_NODE_BARRIER)
		last--;
	for (int i = 0; i < last; i++) {
		const heddle_node *child = body->child[i];
		if (child->kind == HEDDLE_NODE_DECLARE || (child->kind == HEDDLE_NODE_LET && value_loads(child->value[0])))
			return false;
		if (child->kind == HEDDLE_NODE_BARRIER && is_copying(body, i))
			return false;
	}
	return last >= 0 && !is_copying(body, last);
}

/* What stands in the body from `from` to `to`, under its condition, with the names from before that it needs. */
static void print_part(printer *p, const heddle_node *node, int from, int to)
{
	const heddle_node *body = node->child[0];
	heddle_node part = *node, inside = *body;
	heddle_node *children[1] = {&inside};
	inside.child = HEDDLE_NEW_ARRAY(p->arena, heddle_node *, to);
	inside.n_child = to - from;
	for (int i = 0; i < inside.n_child; i++)
		inside.child[i] = body->child[from + i];
	for (int i = from - 1; i >= 0; i--) {
		if (body->child[i]->kind != HEDDLE_NODE_LET || !heddle_node_depends(&inside, body->child[i]->name))
			continue;
		for (int k = inside.n_child; k > 0; k--)
			inside.child[k] = inside.child[k - 1];
		inside.child[0] = body->child[i];
		inside.n_child++;
	}
	part.child = children;
	if (from < to)
		heddle_print_if(p, &part);
}

/* An `if` without an else whose body has barriers: they stand between its parts; print_children puts one behind the last. */
static void print_parts(printer *p, const heddle_node *node)
{
	const heddle_node *body = node->child[0];
	int from = 0, to = body->n_child;
	while (to > 0 && body->child[to - 1]->kind == HEDDLE_NODE_BARRIER)
		to--;
	for (int i = 0; i < to; i++) {
		if (body->child[i]->kind != HEDDLE_NODE_BARRIER)
			continue;
		print_part(p, node, from, i);
		heddle_print_barrier(p);
		from = i + 1;
	}
	print_part(p, node, from, to);
}

void heddle_print_if(printer *p, const heddle_node *node)
{
	const bool meets = heddle_meets_at_barrier(p, node);
	if (meets && may_part(node)) {
		print_parts(p, node);
		return;
	}
	const char *start = "", *own = heddle_dialect_word(p->dialect, "statement.if");
	const char *own_else = heddle_dialect_word(p->dialect, "statement.else"), *otherwise_word = own_else ? own_else : "else";
	for (;;) {
		const char *head = heddle_arena_printf(p->arena, "if (%s)", print_condition(p, node));
		if (own) {
			filler f[] = {{"condition", (code){print_condition(p, node), LEVEL_ANY}}};
			head = heddle_fill(p->arena, own, f, 1).text;
		}
		heddle_print_mapped(p, *start ? 0 : node->line, heddle_arena_printf(p->arena, "%s%s {", start, head));
		heddle_print_body(p, node->child[0]);
		const heddle_node *otherwise = node->n_child == 2 ? node->child[1] : NULL;
		if (!otherwise || (otherwise->kind == HEDDLE_NODE_BLOCK && otherwise->n_child == 0)) {
			heddle_print_line(p, "}");
			return;
		}
		const heddle_node *next = meets ? NULL : only_if(otherwise);
		if (!next) {
			heddle_print_line(p, "} %s {", otherwise_word);
			heddle_print_body(p, otherwise);
			/* compilers may not take the ends of both for one: the second has a barrier more */
			const int already = last_barriers(p, otherwise), wanted = meets ? last_barriers(p, node->child[0]) + 1 : 0;
			p->depth++;
			if (already < wanted)
				heddle_print_comment(p, "one barrier more than the branch above, so that their ends are not merged");
			for (int i = already; i < wanted; i++)
				heddle_print_barrier(p);
			p->depth--;
			heddle_print_line(p, "}");
			return;
		}
		start = heddle_arena_printf(p->arena, "} %s ", otherwise_word);
		node = next;
	}
}
