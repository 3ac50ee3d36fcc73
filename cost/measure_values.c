/* A launch of a program to a load: instructions of values, as a compiler leaves them.
 *
 * What straight code computes twice from the same names is computed once, and what a loop computes without depending on it, before the loop.
 * SPDX-License-Identifier: MIT
 */
#include "cost/measure_parts.h"

enum {
	MOST_KNOWN = 256, /* values of straight code that are remembered */
	LONG = 4,	  /* instructions from which on those of a subscript are counted: divisions */
};

typedef struct loop {
	int outer; /* -1: none */
	const heddle_node *node;
	double entered; /* instructions of one before the loop are so many in a block */
	bool *stored;	/* [program->n_buffer] by its body */
} loop;

typedef struct counter {
	const measurer *m;
	heddle_arena *arena;
	int n_loop;
	loop *loop;
	int n_name;
	int *defined; /* [n_name] in which loop */
	heddle_name_table names;
	int n_known; /* of the straight code that is being counted */
	const heddle_value *known[MOST_KNOWN];
} counter;

/* ---- loops ------------------------------------------------------------------------------------------------------------------------ */

static void define(counter *c, const char *name, int at)
{
	heddle_name_table_put(c->arena, &c->names, name, c->n_name);
	HEDDLE_PUSH(c->arena, c->defined, c->n_name, at);
}

static void find_loops(counter *c, const heddle_node *node, int at)
{
	if (node->kind == HEDDLE_NODE_FOR) {
		const heddle_region *region = measure_region(c->m->regions.body, node);
		loop l = {.outer = at, .node = node, .entered = region ? measure_per_block(c->m, region->executed) : 0};
		l.stored = HEDDLE_NEW_ARRAY(c->arena, bool, c->m->program->n_buffer + 1);
		HEDDLE_PUSH(c->arena, c->loop, c->n_loop, l);
		at = c->n_loop - 1;
	}
	if (node->kind == HEDDLE_NODE_FOR || node->kind == HEDDLE_NODE_LET)
		define(c, node->name, at);
	for (int l = node->kind == HEDDLE_NODE_STORE ? at : -1; l >= 0; l = c->loop[l].outer)
		c->loop[l].stored[node->buffer->position] = true;
	for (int i = 0; i < node->n_child; i++)
		find_loops(c, node->child[i], at);
}

static bool is_inside(const counter *c, int inner, int at)
{
	while (inner >= 0 && inner != at)
		inner = c->loop[inner].outer;
	return inner == at;
}

/* Does the value differ between iterations of the loop?  Loads of memory that is written count where they stand. */
static bool varies(const counter *c, const heddle_value *v, int at)
{
	const int name = v->kind == HEDDLE_VALUE_VARIABLE ? heddle_name_table_find(&c->names, v->name) : -1;
	bool any = name >= 0 && is_inside(c, c->defined[name], at);
	if (v->kind == HEDDLE_VALUE_LOAD)
		any = heddle_buffer_space(v->buffer) == HEDDLE_SPACE_REGISTER ? c->loop[at].stored[v->buffer->position]
									      : !measure_is_constant(c->m, v->buffer);
	any = any || v->kind == HEDDLE_VALUE_SHUFFLE;
	for (int i = 0; i < v->n_arg && !any; i++)
		any = varies(c, v->arg[i], at);
	return any;
}

/* ---- values ----------------------------------------------------------------------------------------------------------------------- */

static bool is_pure(const heddle_value *v)
{
	bool pure = v->kind != HEDDLE_VALUE_LOAD && v->kind != HEDDLE_VALUE_SHUFFLE;
	for (int i = 0; i < v->n_arg && pure; i++)
		pure = is_pure(v->arg[i]);
	return pure;
}

static bool is_known(counter *c, const heddle_value *v)
{
	if (!v->n_arg || !is_pure(v))
		return false;
	for (int i = 0; i < c->n_known; i++)
		if (heddle_value_equal(c->known[i], v))
			return true;
	if (c->n_known < MOST_KNOWN)
		c->known[c->n_known++] = v;
	return false;
}

/* One instruction multiplies and adds floats, and on simt chips integers. */
static bool contracts(const counter *c, const heddle_value *v)
{
	return v->kind == HEDDLE_VALUE_BINARY && (heddle_type_is_float(v->type) || !c->m->simd);
}

static bool is_sum(const counter *c, const heddle_value *v)
{
	return contracts(c, v) && (v->op == HEDDLE_OP_ADD || v->op == HEDDLE_OP_SUB);
}

static bool is_product(const counter *c, const heddle_value *v)
{
	return contracts(c, v) && v->op == HEDDLE_OP_MUL;
}

/* `at`: the innermost loop around it.  Subscripts are constants and sums that an address holds, but for their divisions. */
static void count_value(counter *c, const heddle_value *v, int at, double times, bool subscript)
{
	heddle_instruction which = HEDDLE_INSTRUCTION_INTEGER;
	if (!v->n_arg || is_known(c, v))
		return;
	for (; at >= 0 && !varies(c, v, at); at = c->loop[at].outer)
		times = c->loop[at].entered < times ? c->loop[at].entered : times;
	double n = measure_operation(c->m, v, &which);
	for (int i = 0; i < v->n_arg && !(heddle_value_is_branch(v) && i); i++) /* sides of a branch are regions of their own */
		count_value(c, v->arg[i], at, times, subscript || v->kind == HEDDLE_VALUE_LOAD);
	if (is_sum(c, v) && (is_product(c, v->arg[0]) || is_product(c, v->arg[1]))) /* contracted: the product counts */
		n = 0;
	if (!subscript || n >= LONG)
		c->m->load->instruction[which] += times * n;
}

static void count_region(counter *c, const heddle_region *region, int at)
{
	const double times = measure_per_block(c->m, region->executed);
	c->n_known = 0;
	for (int i = 0; i < region->n_value; i++) {
		const heddle_value *v = region->value[i].value;
		const bool address = v->width == 1 && (v->type == HEDDLE_INT32 || v->type == HEDDLE_INT64);
		count_value(c, v, at, times, address && !region->value[i].data);
	}
	if (region->kind == HEDDLE_REGION_FOR)
		c->m->load->instruction[HEDDLE_INSTRUCTION_BRANCH] += measure_per_block(c->m, region->child[0]->executed);
	if (region->kind == HEDDLE_REGION_IF)
		c->m->load->instruction[HEDDLE_INSTRUCTION_BRANCH] += times;
	for (int l = 0; l < c->n_loop && region->kind == HEDDLE_REGION_FOR; l++)
		at = c->loop[l].node == region->node ? l : at;
	for (int i = 0; i < region->n_child; i++)
		count_region(c, region->child[i], at);
}

void measure_values(measurer *m)
{
	counter c = {.m = m, .arena = m->regions.reader.arena};
	find_loops(&c, m->launch->body, -1);
	count_region(&c, m->regions.body, -1);
}
