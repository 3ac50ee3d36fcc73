/* A launch of a program to a load: 32-bit words of a simt thread that are live at the same time.
 *
 * Nodes are positions in the order of the program.  A value lives from where it is computed to its
 * last use, or to the end of the outermost loop that it is used but not computed in.  Subscripts of
 * global memory are sums; compilers add up, before each loop, the terms that the loop does not
 * change, so that each different sum is an address of two words, which lives through the loop.
 * SPDX-License-Identifier: MIT
 */
#include "cost/measure_parts.h"

#include <math.h>

enum {
	MOST_DEPTH = 24,      /* loops in each other; sums are looked at in so many */
	MOST_TERMS = 12,      /* of a subscript that are looked at */
	MOST_ELEMENTS = 4096, /* of one array in registers */
	ADDRESS = 2,          /* words */
};

/* A loop: where its body begins and ends, and how often that runs. */
typedef struct loop {
	int begin, end;
	uint64_t executed;
} loop;

typedef struct lived {
	int first, last;
	int depth; /* loops around the definition */
	int until; /* the last loop that it has to outlive; -1: none */
	double words;
} lived;

/* The sum of some terms of a subscript, before a loop. */
typedef struct address {
	const heddle_buffer *buffer;
	int loop, n;
	const heddle_value *term[MOST_TERMS];
} address;

typedef struct liver {
	const measurer *m;
	heddle_arena *arena;
	int position, depth, n_loop, n_value, n_address;
	int open[MOST_DEPTH]; /* the loops that are walked */
	loop *loop;
	lived *value;
	address *address;
	double *passing; /* [position] words that are live there alone */
	double copies;   /* unroll factor of the innermost loop, whose loads run together */
	double flight;   /* words loaded for shared memory: compilers load all, then store */
	heddle_name_table names;
	int **element; /* [buffer][element of an array] 1 + its number in value; 0: none yet */
} liver;

/* ---- live values ----------------------------------------------------------------------------- */

static int begin(liver *l, double words)
{
	lived v = {l->position, l->position, l->depth, -1, words};
	HEDDLE_PUSH(l->arena, l->value, l->n_value, v);
	return l->n_value - 1;
}

/* A use in so many loops of those that are walked. */
static void use(liver *l, lived *v, int depth)
{
	v->last = depth < l->depth ? l->loop[l->open[depth]].begin : l->position;
	if (depth > v->depth)
		v->until = l->open[v->depth];
}

static double words_of(heddle_type type, int width)
{
	return type == HEDDLE_BOOL
		       ? 0
		       : ceil((double)width * heddle_type_size(heddle_type_computed(type)) / 4);
}

static int64_t elements_of(const heddle_buffer *buffer)
{
	int64_t n = 1;
	for (int i = 0; i < buffer->rank; i++)
		n *= buffer->extent[i]->i;
	return n < MOST_ELEMENTS ? n : MOST_ELEMENTS;
}

static bool is_global(const heddle_value *v)
{
	return v->kind == HEDDLE_VALUE_LOAD && v->n_arg &&
	       heddle_buffer_space(v->buffer) == HEDDLE_SPACE_GLOBAL;
}

static void touch_element(liver *l, const heddle_buffer *buffer, int64_t at)
{
	int *number = &l->element[buffer->position][at];
	if (!*number)
		*number = begin(l, words_of(buffer->type, buffer->width)) + 1;
	use(l, &l->value[*number - 1], l->depth);
}

/* An element of an array in registers, or all where it is not known which. */
static void touch(liver *l, const heddle_buffer *buffer, heddle_value *const *subscript, int n)
{
	const int64_t all = elements_of(buffer);
	int64_t at = 0;
	bool known = true;
	for (int i = 0; i < n; i++) {
		known = known && subscript[i]->kind == HEDDLE_VALUE_INT;
		at = at * buffer->extent[i]->i + subscript[i]->i;
	}
	if (!l->element[buffer->position])
		l->element[buffer->position] = HEDDLE_NEW_ARRAY(l->arena, int, (int)all);
	for (int64_t i = 0; i < all; i++)
		if (!known || i == at)
			touch_element(l, buffer, i);
}

/* ---- values ---------------------------------------------------------------------------------- */

static lived *named(liver *l, const heddle_value *v)
{
	const int i =
		v->kind == HEDDLE_VALUE_VARIABLE ? heddle_name_table_find(&l->names, v->name) : -1;
	return i >= 0 ? &l->value[i] : NULL;
}

/* Loops that the value varies in, of those that are walked. */
static int depth_of(liver *l, const heddle_value *v)
{
	const lived *name = named(l, v);
	int depth = name ? name->depth : v->kind == HEDDLE_VALUE_LOAD ? l->depth : 0;
	for (int i = 0; i < v->n_arg; i++) {
		const int here = depth_of(l, v->arg[i]);
		depth = here > depth ? here : depth;
	}
	return depth;
}

static void add_terms(const heddle_value *v, const heddle_value **term, int *n)
{
	if (v->kind == HEDDLE_VALUE_CAST && v->arg[0]->kind != HEDDLE_VALUE_LOAD) {
		add_terms(v->arg[0], term, n);
	} else if (v->kind == HEDDLE_VALUE_BINARY && v->op == HEDDLE_OP_ADD) {
		add_terms(v->arg[0], term, n);
		add_terms(v->arg[1], term, n);
	} else if (v->kind != HEDDLE_VALUE_INT && *n < MOST_TERMS) {
		term[(*n)++] = v;
	}
}

static void add_address(liver *l, const address *a)
{
	for (int i = 0; i < l->n_address; i++) {
		const address *b = &l->address[i];
		bool same = b->buffer == a->buffer && b->loop == a->loop && b->n == a->n;
		for (int t = 0; t < a->n && same; t++)
			same = heddle_value_equal(a->term[t], b->term[t]);
		if (same)
			return;
	}
	HEDDLE_PUSH(l->arena, l->address, l->n_address, *a);
	const int v = begin(l, ADDRESS);
	l->value[v].first = l->value[v].last = l->loop[a->loop].begin;
	l->value[v].until = a->loop;
}

static void use_value(liver *l, const heddle_value *v, int depth);

/* The subscripts of an access of global memory. */
static void use_address(liver *l, const heddle_buffer *buffer, heddle_value *const *subscript,
			int n)
{
	const heddle_value *term[MOST_TERMS * HEDDLE_MAX_RANK];
	int depth[MOST_TERMS * HEDDLE_MAX_RANK], n_term = 0, before = 0;
	for (int i = 0; i < n; i++) {
		int here = 0;
		add_terms(subscript[i], term + n_term, &here);
		n_term += here;
	}
	for (int t = 0; t < n_term; t++) {
		depth[t] = depth_of(l, term[t]);
		use_value(l, term[t], depth[t]);
	}
	for (int at = 0; at < l->depth; at++) {
		address a = {.buffer = buffer, .loop = l->open[at]};
		for (int t = 0; t < n_term && a.n < MOST_TERMS; t++)
			if (depth[t] <= at)
				a.term[a.n++] = term[t];
		if (a.n > before)
			add_address(l, &a);
		before = a.n;
	}
}

/* How often the load is under way in the innermost loop: a compiler moves one that the loop does not change out of it. */
static double copies_of(liver *l, const heddle_value *v)
{
	int depth = 0;
	for (int i = 0; i < v->n_arg; i++) {
		const int here = depth_of(l, v->arg[i]);
		depth = here > depth ? here : depth;
	}
	return depth < l->depth && measure_is_constant(l->m, v->buffer) ? 1 : l->copies;
}

/* ... in so many loops. */
static void use_value(liver *l, const heddle_value *v, int depth)
{
	lived *name = named(l, v);
	if (name)
		use(l, name, depth);
	if (v->kind == HEDDLE_VALUE_LOAD && v->buffer->role == HEDDLE_BUFFER_REGISTER) {
		touch(l, v->buffer, v->arg, v->n_arg);
	} else if (is_global(v)) {
		use_address(l, v->buffer, v->arg, v->n_arg);
		l->passing[l->position] += copies_of(l, v) * words_of(v->type, v->width);
		return;
	}
	for (int i = 0; i < v->n_arg; i++)
		use_value(l, v->arg[i], depth);
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static void name_value(liver *l, const char *name, double words)
{
	heddle_name_table_put(l->arena, &l->names, name, begin(l, words));
}

static void walk(liver *l, const heddle_node *node);

static void walk_loop(liver *l, const heddle_node *node)
{
	const heddle_region *region = measure_region(l->m->regions.body, node);
	const double copies = l->copies;
	loop one = {.begin = l->position,
		    .end = l->position,
		    .executed = region ? region->child[0]->executed : 0};
	if (l->depth == MOST_DEPTH) {
		walk(l, node->child[0]);
		return;
	}
	HEDDLE_PUSH(l->arena, l->loop, l->n_loop, one);
	const int at = l->n_loop - 1;
	l->open[l->depth++] = at;
	l->position++;
	name_value(l, node->name, node->loop == HEDDLE_LOOP_SERIAL ? 1 : 0);
	l->value[l->n_value - 1].until = at;
	l->copies = node->copies > 0 ? node->copies : 1;
	l->flight = 0;
	walk(l, node->child[0]);
	l->copies = copies;
	l->flight = 0;
	l->loop[at].end = ++l->position;
	l->depth--;
}

static void name_node(liver *l, const heddle_node *node)
{
	const heddle_value *v = node->value[0];
	name_value(l, node->name, words_of(v->type, v->width) * (is_global(v) ? copies_of(l, v) : 1));
	l->passing[l->position] = is_global(v) ? 0 : l->passing[l->position];
}

static void store(liver *l, const heddle_node *node)
{
	if (node->buffer->role == HEDDLE_BUFFER_REGISTER) {
		touch(l, node->buffer, node->value + 1, node->n_value - 1);
	} else if (heddle_buffer_space(node->buffer) == HEDDLE_SPACE_GLOBAL) {
		use_address(l, node->buffer, node->value + 1, node->n_value - 1);
	} else {
		l->flight += l->passing[l->position];
		l->passing[l->position] = l->flight;
	}
}

static void walk(liver *l, const heddle_node *node)
{
	l->position++;
	for (int i = 0; i < node->n_value && node->kind != HEDDLE_NODE_COPY; i++)
		if (node->kind != HEDDLE_NODE_STORE || i == 0 ||
		    heddle_buffer_space(node->buffer) == HEDDLE_SPACE_SHARED)
			use_value(l, node->value[i], l->depth);
	switch (node->kind) {
	case HEDDLE_NODE_BLOCK:
	case HEDDLE_NODE_IF:
		for (int i = 0; i < node->n_child; i++)
			walk(l, node->child[i]);
		break;
	case HEDDLE_NODE_FOR:
		walk_loop(l, node);
		break;
	case HEDDLE_NODE_LET:
		name_node(l, node);
		break;
	case HEDDLE_NODE_STORE:
		store(l, node);
		break;
	case HEDDLE_NODE_BARRIER:
		l->flight = 0;
		break;
	case HEDDLE_NODE_DECLARE:
	case HEDDLE_NODE_COPY:
	case HEDDLE_NODE_WAIT:
	case HEDDLE_NODE_COMMENT:
		break;
	}
}

/* ---- the most -------------------------------------------------------------------------------- */

static int count_nodes(const heddle_node *node)
{
	int n = 3; /* a loop has positions of its own for its begin and end */
	for (int i = 0; i < node->n_child; i++)
		n += count_nodes(node->child[i]);
	return n;
}

void measure_registers(measurer *m)
{
	heddle_load *load = m->load;
	liver l = {.m = m, .arena = m->regions.reader.arena, .copies = 1};
	const int positions = count_nodes(m->launch->body);
	double *change = HEDDLE_NEW_ARRAY(l.arena, double, positions + 2), now = 0;
	int most = 0;
	l.passing = HEDDLE_NEW_ARRAY(l.arena, double, positions + 2);
	l.element = HEDDLE_NEW_ARRAY(l.arena, int *, m->program->n_buffer + 1);
	walk(&l, m->launch->body);
	for (int i = 0; i < l.n_value; i++) {
		const lived *v = &l.value[i];
		const int end = v->until >= 0 && l.loop[v->until].end > v->last
					? l.loop[v->until].end
					: v->last;
		change[v->first] += v->words;
		change[end] -= v->words;
	}
	load->registers = 0;
	for (int at = 0; at <= l.position; at++) {
		now += change[at];
		if (now + l.passing[at] > load->registers) {
			load->registers = now + l.passing[at];
			most = at;
		}
	}
	load->registers +=
		m->descriptor->registers.base.set ? m->descriptor->registers.base.value : 0;
	load->peak_runs = 1;
	for (int i = 0; i < l.n_loop; i++)
		if (l.loop[i].begin < most && most <= l.loop[i].end)
			load->peak_runs =
				(double)l.loop[i].executed / (load->blocks * m->launch->threads);
}
