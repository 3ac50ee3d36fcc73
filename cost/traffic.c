/* What a launch moves, from its text: a tree of conditions and loops, with the bytes that stand in each, over a box of blocks and threads.
 *
 * A condition that holds in all of the box, or nowhere in it, is decided; else the box is cut in half along what the condition depends on most, and
 * each half is asked again, for this condition and what it guards alone.  A loop adds its variable to the box.  So what tiles do inside costs one
 * question however many there are, and only what lies along an edge is looked at more closely.
 * SPDX-License-Identifier: MIT
 */
#include "cost/traffic_parts.h"

#include <string.h>

enum { MOST_READINGS = 2 * TRAFFIC_MOST_DIGITS + 2 };

typedef enum step_kind { STEP_ALWAYS, STEP_IF, STEP_FOR, STEP_COPY } step_kind;

/* What stands at a place of the text, and what is inside of it. */
typedef struct step {
	step_kind kind;
	const traffic_form *asked; /* IF: the condition; FOR: from the first value to the end; COPY: elements */
	int64_t by;		   /* FOR: the step; COPY: bytes of an element */
	int variable;		   /* FOR: the round, from 0 */
	uint64_t load_bytes[HEDDLE_N_SPACE], store_bytes[HEDDLE_N_SPACE]; /* of a thread, each time */
	int n_child;		   /* IF: two */
	struct step **child;
} step;

/* ---- the text as steps ------------------------------------------------------------------------------------------------------- */

static step *new_step(traffic_reader *reader, step_kind kind)
{
	step *s = HEDDLE_NEW(reader->arena, step);
	*s = (step){.kind = kind};
	return s;
}

static void append(traffic_reader *reader, step *to, step *child)
{
	HEDDLE_PUSH(reader->arena, to->child, to->n_child, child);
}

static bool is_empty(const step *s)
{
	bool empty = s->kind != STEP_COPY;
	for (int k = 0; k < HEDDLE_N_SPACE; k++)
		empty = empty && s->load_bytes[k] == 0 && s->store_bytes[k] == 0;
	for (int i = 0; i < s->n_child; i++)
		empty = empty && is_empty(s->child[i]);
	return empty;
}

/* HEDDLE_SPACE_REGISTER: it is not counted. */
static heddle_space space_of(const heddle_buffer *buffer)
{
	switch (buffer->role) {
	case HEDDLE_BUFFER_SHARED: return HEDDLE_SPACE_SHARED;
	case HEDDLE_BUFFER_REGISTER:
	case HEDDLE_BUFFER_SCALAR: return HEDDLE_SPACE_REGISTER;
	default: return HEDDLE_SPACE_GLOBAL;
	}
}

static bool moves(const heddle_value *v)
{
	bool any = v->kind == HEDDLE_VALUE_LOAD && space_of(v->buffer) != HEDDLE_SPACE_REGISTER;
	for (int i = 0; i < v->n_arg && !any; i++)
		any = moves(v->arg[i]);
	return any;
}

static void push(traffic_reader *reader, const char *text, const heddle_value *value, const traffic_form *form)
{
	traffic_name *name = HEDDLE_NEW(reader->arena, traffic_name);
	*name = (traffic_name){.name = text, .value = value, .form = form, .outer = reader->scope};
	reader->scope = name;
}

/* What the evaluation of a value loads; of a choice only one side is evaluated, unless its members choose each for itself. */
static void read_loads(traffic_reader *reader, const heddle_value *v, step *to)
{
	if (v->kind == HEDDLE_VALUE_SELECT && v->arg[0]->width == 1 && (moves(v->arg[1]) || moves(v->arg[2]))) {
		read_loads(reader, v->arg[0], to);
		step *s = new_step(reader, STEP_IF);
		s->asked = heddle_traffic_read(reader, v->arg[0]);
		for (int side = 1; side <= 2; side++) {
			append(reader, s, new_step(reader, STEP_ALWAYS));
			read_loads(reader, v->arg[side], s->child[side - 1]);
		}
		append(reader, to, s);
		return;
	}
	for (int i = 0; i < v->n_arg; i++)
		read_loads(reader, v->arg[i], to);
	if (v->kind == HEDDLE_VALUE_LOAD && space_of(v->buffer) != HEDDLE_SPACE_REGISTER)
		to->load_bytes[space_of(v->buffer)] += (uint64_t)(v->width * heddle_type_size(v->buffer->type));
}

/* Of a loop. */
static int64_t rounds(int64_t length, int64_t by)
{
	return length > 0 ? (length + by - 1) / by : 0;
}

static void read_node(traffic_reader *reader, const heddle_node *node, step *to);

static step *read_side(traffic_reader *reader, const heddle_node *node)
{
	step *s = new_step(reader, STEP_ALWAYS);
	traffic_name *scope = reader->scope;
	if (node)
		read_node(reader, node, s);
	reader->scope = scope;
	return s;
}

static void read_if(traffic_reader *reader, const heddle_node *node, step *to)
{
	step *s = new_step(reader, STEP_IF);
	s->asked = heddle_traffic_read(reader, node->value[0]);
	append(reader, s, read_side(reader, node->child[0]));
	append(reader, s, read_side(reader, node->n_child > 1 ? node->child[1] : NULL));
	if (!is_empty(s))
		append(reader, to, s);
}

static void read_for(traffic_reader *reader, const heddle_node *node, step *to)
{
	step *s = new_step(reader, STEP_FOR);
	const traffic_form *lower = heddle_traffic_read(reader, node->value[0]), *upper = heddle_traffic_read(reader, node->value[1]);
	traffic_name *scope = reader->scope;
	s->by = node->i;
	s->asked = heddle_traffic_sum(reader, upper, -1, lower);
	const traffic_range length = heddle_traffic_range(s->asked, &reader->box);
	s->variable = heddle_traffic_variable(reader, length.lo == length.hi ? rounds(length.lo, s->by) : 0);
	push(reader, node->name, NULL, heddle_traffic_sum(reader, lower, node->i, heddle_traffic_of_variable(reader, s->variable)));
	append(reader, s, read_side(reader, node->child[0]));
	reader->scope = scope;
	if (!is_empty(s))
		append(reader, to, s);
}

static void read_node(traffic_reader *reader, const heddle_node *node, step *to)
{
	for (int i = 0; i < node->n_value; i++)
		read_loads(reader, node->value[i], to);
	switch (node->kind) {
	case HEDDLE_NODE_BLOCK: {
		traffic_name *scope = reader->scope;
		for (int i = 0; i < node->n_child; i++)
			read_node(reader, node->child[i], to);
		reader->scope = scope;
		break;
	}
	case HEDDLE_NODE_FOR: read_for(reader, node, to); break;
	case HEDDLE_NODE_IF: read_if(reader, node, to); break;
	case HEDDLE_NODE_LET: push(reader, node->name, node->value[0], NULL); break;
	case HEDDLE_NODE_STORE:
		if (space_of(node->buffer) != HEDDLE_SPACE_REGISTER)
			to->store_bytes[space_of(node->buffer)] += (uint64_t)(node->value[0]->width * heddle_type_size(node->buffer->type));
		break;
	case HEDDLE_NODE_COPY: {
		step *s = new_step(reader, STEP_COPY);
		s->asked = heddle_traffic_read(reader, node->value[0]);
		s->by = heddle_type_size(node->buffer->type);
		append(reader, to, s);
		break;
	}
	case HEDDLE_NODE_DECLARE:
	case HEDDLE_NODE_BARRIER:
	case HEDDLE_NODE_WAIT:
	case HEDDLE_NODE_COMMENT: break;
	}
}

/* ---- counting ---------------------------------------------------------------------------------------------------------------- */

typedef struct counter {
	const traffic_id *thread;
	traffic_box box;
	uint64_t points; /* in it, of the variables that are in scope */
	bool lost; /* no answer */
	heddle_traffic *traffic;
} counter;

static void count_step(counter *c, const step *s);

/* Sums that no number holds have no answer. */
static void add_bytes(counter *c, uint64_t *sum, uint64_t times, uint64_t bytes)
{
	uint64_t all;
	c->lost = __builtin_mul_overflow(times, bytes, &all) || __builtin_add_overflow(*sum, all, sum) || c->lost;
}

/* Both halves of the box along what is asked about; false: it depends on nothing that has more than one value. */
static bool count_halves(counter *c, const step *s)
{
	const int v = heddle_traffic_widest(s->asked, &c->box);
	if (v < 0)
		return false;
	const traffic_range whole = c->box.range[v];
	const uint64_t points = c->points, values = (uint64_t)(whole.hi - whole.lo + 1);
	const int64_t middle = whole.lo + (whole.hi - whole.lo) / 2;
	c->box.range[v].hi = middle;
	c->points = points / values * (uint64_t)(middle - whole.lo + 1);
	count_step(c, s);
	c->box.range[v] = (traffic_range){middle + 1, whole.hi};
	c->points = points / values * (uint64_t)(whole.hi - middle);
	count_step(c, s);
	c->box.range[v] = whole;
	c->points = points;
	return true;
}

static void count_if(counter *c, const step *s)
{
	const traffic_range r = heddle_traffic_range(s->asked, &c->box);
	if (r.lo == r.hi) {
		count_step(c, s->child[r.lo ? 0 : 1]);
	} else if (!count_halves(c, s)) {
		c->traffic->data = true;
		count_step(c, s->child[0]);
	}
}

static void count_for(counter *c, const step *s)
{
	const traffic_range r = heddle_traffic_range(s->asked, &c->box);
	const int64_t n = rounds(r.lo, s->by);
	if (n != rounds(r.hi, s->by)) {
		if (!count_halves(c, s))
			c->lost = true;
	} else if (n > 0) {
		const uint64_t points = c->points;
		c->box.range[s->variable] = (traffic_range){0, n - 1};
		c->lost = __builtin_mul_overflow(points, (uint64_t)n, &c->points) || c->lost;
		count_step(c, s->child[0]);
		c->points = points;
	}
}

/* A block copies once, and all of its threads come there. */
static void count_copy(counter *c, const step *s)
{
	const traffic_range r = heddle_traffic_range(s->asked, &c->box);
	uint64_t blocks = c->points;
	if (r.lo != r.hi) {
		if (!count_halves(c, s))
			c->lost = true;
		return;
	}
	for (int d = 0; d < c->thread->n_digit; d++) { /* where a condition that is the same for all of them has been looked at for some, who knows */
		const traffic_range digit = c->box.range[c->thread->first + d];
		c->lost = c->lost || digit.hi - digit.lo + 1 != c->thread->weight[d + 1] / c->thread->weight[d];
	}
	blocks /= (uint64_t)c->thread->n;
	const uint64_t bytes = r.lo > 0 ? (uint64_t)(r.lo * s->by) : 0;
	add_bytes(c, &c->traffic->load_bytes[HEDDLE_SPACE_GLOBAL], blocks, bytes);
	add_bytes(c, &c->traffic->store_bytes[HEDDLE_SPACE_SHARED], blocks, bytes);
}

static void count_step(counter *c, const step *s)
{
	c->lost = c->lost || ++c->box.work > TRAFFIC_MOST_WORK;
	if (c->lost)
		return;
	switch (s->kind) {
	case STEP_IF: count_if(c, s); break;
	case STEP_FOR: count_for(c, s); break;
	case STEP_COPY: count_copy(c, s); break;
	case STEP_ALWAYS:
		for (int k = 0; k < HEDDLE_N_SPACE; k++) {
			add_bytes(c, &c->traffic->load_bytes[k], c->points, s->load_bytes[k]);
			add_bytes(c, &c->traffic->store_bytes[k], c->points, s->store_bytes[k]);
		}
		for (int i = 0; i < s->n_child; i++)
			count_step(c, s->child[i]);
		break;
	}
}

bool heddle_launch_traffic(const heddle_launch *launch, const int64_t *size, heddle_traffic *traffic)
{
	int64_t blocks;
	*traffic = (heddle_traffic){.data = false};
	if (heddle_value_evaluate(launch->grid, size, &blocks) < 0)
		return false;
	if (blocks <= 0)
		return true;
	traffic_reader reader = {.arena = heddle_arena_new(), .size = size,
				 .block = {.n = blocks, .n_digit = 1, .weight = {1, blocks}},
				 .thread = {.n = launch->threads, .n_digit = 1, .weight = {1, launch->threads}}};
	step *body = NULL;
	bool again = true;
	for (int i = 0; i < MOST_READINGS && again; i++) {
		reader.again = false;
		reader.scope = NULL;
		reader.box.range = NULL;
		reader.n_variable = 0;
		heddle_traffic_ids(&reader);
		body = read_side(&reader, launch->body);
		again = reader.again;
	}
	counter c = {.thread = &reader.thread, .box = reader.box, .traffic = traffic};
	c.lost = __builtin_mul_overflow((uint64_t)blocks, (uint64_t)launch->threads, &c.points);
	count_step(&c, body);
	heddle_arena_free(reader.arena);
	return !c.lost;
}
