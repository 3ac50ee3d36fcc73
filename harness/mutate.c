/* Enumerating mutants: one walk over a copy of the program counts the places; at place `wanted` it makes the change.
 * SPDX-License-Identifier: MIT
 */
#include "harness/mutate.h"

#include <string.h>

typedef struct mutator {
	heddle_program *p; /* the copy */
	const heddle_launch *launch;
	const heddle_node *node;
	int count;  /* places so far */
	int wanted; /* -1: only count */
	bool done;
	heddle_text *description;
} mutator;

static void describe(mutator *m, const char *format, ...) HEDDLE_PRINTF(2, 3);
static void describe(mutator *m, const char *format, ...)
{
	va_list args;
	if (!m->description)
		return;
	heddle_text_printf(m->description, "launch %s, node %d", m->launch->name, m->node->id);
	if (m->node->line)
		heddle_text_printf(m->description, " (line %d)", m->node->line);
	heddle_text_add(m->description, ": ");
	va_start(args, format);
	heddle_text_vprintf(m->description, format, args);
	va_end(args);
}

/* ", was TEXT" */
static void describe_value(mutator *m, const heddle_value *value)
{
	if (!m->description)
		return;
	heddle_text_add(m->description, ", was ");
	heddle_value_print(value, m->description);
}

/* One more place; is it the one to change? */
static bool here(mutator *m)
{
	if (m->count++ != m->wanted)
		return false;
	m->done = true;
	return true;
}

static heddle_value *plus(mutator *m, heddle_value *v, int64_t i)
{
	return heddle_value_binary(m->p, HEDDLE_OP_ADD, v, heddle_value_int(m->p, v->type, i));
}

/* ---- values ------------------------------------------------------------------------------------------------------------ */

static bool is_comparison(heddle_op op)
{
	return op >= HEDDLE_OP_LT && op <= HEDDLE_OP_NE;
}

static heddle_op other_comparison(heddle_op op)
{
	switch (op) {
	case HEDDLE_OP_LT: return HEDDLE_OP_LE;
	case HEDDLE_OP_LE: return HEDDLE_OP_LT;
	case HEDDLE_OP_GT: return HEDDLE_OP_GE;
	case HEDDLE_OP_GE: return HEDDLE_OP_GT;
	case HEDDLE_OP_EQ: return HEDDLE_OP_NE;
	default: return HEDDLE_OP_EQ;
	}
}

static bool has_other_operator(heddle_op op)
{
	return op == HEDDLE_OP_ADD || op == HEDDLE_OP_MUL || op == HEDDLE_OP_MIN || op == HEDDLE_OP_MAX;
}

static heddle_op other_operator(heddle_op op)
{
	switch (op) {
	case HEDDLE_OP_ADD: return HEDDLE_OP_SUB;
	case HEDDLE_OP_MUL: return HEDDLE_OP_ADD;
	case HEDDLE_OP_MIN: return HEDDLE_OP_MAX;
	default: return HEDDLE_OP_MIN;
	}
}

static void mutate_comparisons(mutator *m, heddle_value *v, const char *what)
{
	if (v->kind == HEDDLE_VALUE_BINARY && is_comparison(v->op) && here(m)) {
		heddle_op op = other_comparison(v->op);
		describe(m, "%s for %s in the condition of %s", heddle_op_symbol(op), heddle_op_symbol(v->op), what);
		describe_value(m, v);
		v->op = op;
	}
	for (int k = 0; k < v->n_arg && !m->done; k++)
		mutate_comparisons(m, v->arg[k], what);
}

static void mutate_condition(mutator *m, heddle_value **condition, const char *what)
{
	bool constant = (*condition)->kind == HEDDLE_VALUE_INT;
	if (!constant && (*condition)->width == 1 && here(m)) {
		describe(m, "the condition of %s always true", what);
		describe_value(m, *condition);
		*condition = heddle_value_int(m->p, HEDDLE_BOOL, 1);
		return;
	}
	mutate_comparisons(m, *condition, what);
}

static void mutate_subscripts(mutator *m, const heddle_buffer *buffer, int n, heddle_value **subscript, const char *what)
{
	for (int k = 0; k < n && !m->done; k++)
		if (here(m)) {
			describe(m, "subscript %d of %s %s + 1", k, what, buffer->name);
			subscript[k] = plus(m, subscript[k], 1);
		}
}

/* Operators that combine: with a value of another lane, or all members of a vector. */
static void mutate_combination(mutator *m, heddle_value *v)
{
	bool lanes = v->kind == HEDDLE_VALUE_BINARY && (v->arg[0]->kind == HEDDLE_VALUE_SHUFFLE ||
							v->arg[1]->kind == HEDDLE_VALUE_SHUFFLE);
	if (!(lanes || v->kind == HEDDLE_VALUE_REDUCE) || !has_other_operator(v->op) || !here(m))
		return;
	/* a vector has no difference of its members */
	bool members = v->kind == HEDDLE_VALUE_REDUCE && v->op == HEDDLE_OP_ADD;
	heddle_op op = members ? HEDDLE_OP_MAX : other_operator(v->op);
	describe(m, "%s for %s in a combination", heddle_op_symbol(op), heddle_op_symbol(v->op));
	v->op = op;
}

static void mutate_value(mutator *m, heddle_value *v)
{
	if (m->done)
		return;
	if (v->kind == HEDDLE_VALUE_LOAD)
		mutate_subscripts(m, v->buffer, v->n_arg, v->arg, "the load of");
	if (v->kind == HEDDLE_VALUE_SELECT)
		mutate_condition(m, &v->arg[0], "?:");
	if (v->kind == HEDDLE_VALUE_SHUFFLE && m->p->warp > 2 && here(m)) {
		int64_t distance = v->i == 1 ? 2 : v->i / 2;
		describe(m, "a shuffle by %d for %d", (int)distance, (int)v->i);
		v->i = distance;
	}
	if (v->kind == HEDDLE_VALUE_ZIP && here(m)) {
		describe(m, "a zip of the other halves");
		v->i = 1 - v->i;
	}
	if (v->kind == HEDDLE_VALUE_UNZIP && here(m)) {
		describe(m, "an unzip of the second vector alone");
		v->arg[0] = v->arg[1];
	}
	mutate_combination(m, v);
	for (int k = 0; k < v->n_arg && !m->done; k++)
		mutate_value(m, v->arg[k]);
}

/* ---- nodes ---------------------------------------------------------------------------------------------------------------- */

/* buffer = buffer op value, or fma(x, y, buffer): reductions. */
static void mutate_reduction(mutator *m, heddle_node *node)
{
	heddle_value *v = node->value[0];
	bool accumulates = false;
	for (int k = 0; k < v->n_arg; k++)
		accumulates |= v->arg[k]->kind == HEDDLE_VALUE_LOAD && v->arg[k]->buffer == node->buffer;
	if (!accumulates)
		return;
	if (v->kind == HEDDLE_VALUE_FMA && here(m)) {
		describe(m, "the product of the fma into %s negated", node->buffer->name);
		v->arg[0] = heddle_value_unary(m->p, HEDDLE_OP_NEG, v->arg[0]);
	} else if (v->kind == HEDDLE_VALUE_BINARY && has_other_operator(v->op) && here(m)) {
		describe(m, "%s for %s in the reduction into %s", heddle_op_symbol(other_operator(v->op)),
			 heddle_op_symbol(v->op), node->buffer->name);
		v->op = other_operator(v->op);
	}
}

static void mutate_bounds(mutator *m, heddle_node *node)
{
	static const char *const names[] = {"lower", "upper"};
	for (int k = 0; k < 2; k++)
		for (int by = -1; by <= 1; by += 2)
			if (!m->done && here(m)) {
				describe(m, "the %s bound of the loop over %s %s 1", names[k], node->name, by < 0 ? "-" : "+");
				node->value[k] = plus(m, node->value[k], by);
			}
}

/* Can `child` of a block be left out?  Then that is its first mutant. */
static bool mutate_removal(mutator *m, heddle_node *block, int k)
{
	const heddle_node *child = block->child[k];
	bool barrier = child->kind == HEDDLE_NODE_BARRIER, wait = child->kind == HEDDLE_NODE_WAIT;
	m->node = child;
	if (!(barrier || wait || child->kind == HEDDLE_NODE_STORE || child->kind == HEDDLE_NODE_COPY) || !here(m))
		return false;
	if (barrier || wait)
		describe(m, "%s removed", barrier ? "barrier" : "wait");
	else
		describe(m, "%s to %s removed", child->kind == HEDDLE_NODE_COPY ? "copy" : "store", child->buffer->name);
	memmove(block->child + k, block->child + k + 1, sizeof(*block->child) * (size_t)(block->n_child - k - 1));
	block->n_child--;
	return true;
}

static void mutate_node(mutator *m, heddle_node *node)
{
	m->node = node;
	if (node->kind == HEDDLE_NODE_STORE) {
		mutate_reduction(m, node);
		mutate_subscripts(m, node->buffer, node->n_value - 1, node->value + 1, "the store to");
	}
	if (node->kind == HEDDLE_NODE_COPY) {
		int n = (int)node->i;
		mutate_subscripts(m, node->buffer, n, node->value + 1, "the copy to");
		mutate_subscripts(m, node->source, node->n_value - 1 - n, node->value + 1 + n, "the copy from");
	}
	if (node->kind == HEDDLE_NODE_FOR)
		mutate_bounds(m, node);
	if (node->kind == HEDDLE_NODE_IF)
		mutate_condition(m, &node->value[0], node->n_child > 1 ? "the if with an else" : "the if");
	for (int k = 0; k < node->n_value && !m->done; k++)
		mutate_value(m, node->value[k]);
	for (int k = 0; k < node->n_child && !m->done; k++)
		if (node->kind != HEDDLE_NODE_BLOCK || !mutate_removal(m, node, k))
			mutate_node(m, node->child[k]);
}

static void walk(mutator *m)
{
	for (int k = 0; k < m->p->n_launch && !m->done; k++) {
		m->launch = m->p->launch[k];
		mutate_node(m, m->p->launch[k]->body);
	}
}

int heddle_mutant_count(const heddle_program *program)
{
	mutator m = {.p = heddle_program_copy(program), .wanted = -1};
	walk(&m);
	heddle_program_free(m.p);
	return m.count;
}

heddle_program *heddle_mutant(const heddle_program *program, int k, heddle_text *description)
{
	if (k < 0)
		return NULL;
	mutator m = {.p = heddle_program_copy(program), .wanted = k, .description = description};
	walk(&m);
	if (!m.done)
		return heddle_program_free(m.p);
	heddle_program_number(m.p);
	return m.p;
}
