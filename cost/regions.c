/* The program of one launch as regions, and how often each runs.
 * SPDX-License-Identifier: MIT
 */
#include "cost/regions.h"

#include <string.h>

enum { MOST_READINGS = 2 * TRAFFIC_MOST_DIGITS + 2 };

/* ---- the program as regions --------------------------------------------------------------------------------------------------- */

static heddle_region *new_region(traffic_reader *reader, heddle_region_kind kind)
{
	heddle_region *r = HEDDLE_NEW(reader->arena, heddle_region);
	*r = (heddle_region){.kind = kind};
	return r;
}

static void append(traffic_reader *reader, heddle_region *to, heddle_region *child)
{
	HEDDLE_PUSH(reader->arena, to->child, to->n_child, child);
}

heddle_space heddle_buffer_space(const heddle_buffer *buffer)
{
	switch (buffer->role) {
	case HEDDLE_BUFFER_SHARED: return HEDDLE_SPACE_SHARED;
	case HEDDLE_BUFFER_REGISTER:
	case HEDDLE_BUFFER_SCALAR: return HEDDLE_SPACE_REGISTER;
	default: return HEDDLE_SPACE_GLOBAL;
	}
}

static bool loads_memory(const heddle_value *v)
{
	bool any = v->kind == HEDDLE_VALUE_LOAD && heddle_buffer_space(v->buffer) != HEDDLE_SPACE_REGISTER;
	for (int i = 0; i < v->n_arg && !any; i++)
		any = loads_memory(v->arg[i]);
	return any;
}

bool heddle_value_is_branch(const heddle_value *v)
{
	return v->kind == HEDDLE_VALUE_SELECT && v->arg[0]->width == 1 && (loads_memory(v->arg[1]) || loads_memory(v->arg[2]));
}

static void push(traffic_reader *reader, const char *text, const heddle_value *value, const traffic_form *form)
{
	traffic_name *name = HEDDLE_NEW(reader->arena, traffic_name);
	*name = (traffic_name){.name = text, .value = value, .form = form, .outer = reader->scope};
	reader->scope = name;
}

/* Bytes from one value of subscript `dim` of `n` to the next: of one alone, those of an element. */
static int64_t stride_of(const traffic_reader *reader, const heddle_buffer *buffer, int dim, int n)
{
	int64_t stride = heddle_type_size(buffer->type) * buffer->width, extent;
	if (n < buffer->rank)
		return stride;
	if (buffer->stride && heddle_value_evaluate(buffer->stride[dim], reader->size, &extent) == 0)
		return stride * extent;
	for (int i = buffer->rank - 1; i > dim; i--) {
		if (heddle_value_evaluate(buffer->extent[i], reader->size, &extent) < 0)
			return 0;
		stride *= extent + (i == buffer->rank - 1 ? buffer->pad : 0);
	}
	return stride;
}

static bool is_constant(const heddle_value *const *subscript, int n)
{
	for (int i = 0; i < n; i++)
		if (subscript[i]->kind != HEDDLE_VALUE_INT)
			return false;
	return true;
}

static void add_access(traffic_reader *reader, heddle_region *to, const heddle_buffer *buffer, heddle_value *const *subscript, int n, int width,
		       bool store)
{
	const heddle_space space = heddle_buffer_space(buffer);
	heddle_region_access access = {.buffer = buffer, .store = store, .bytes = width * heddle_type_size(buffer->type)};
	if (space == HEDDLE_SPACE_REGISTER && (buffer->role == HEDDLE_BUFFER_SCALAR || is_constant((const heddle_value *const *)subscript, n)))
		return;
	const heddle_value zero = {.kind = HEDDLE_VALUE_INT, .type = HEDDLE_INT32, .width = 1};
	access.address = heddle_traffic_read(reader, &zero);
	for (int i = 0; i < n; i++)
		access.address = heddle_traffic_sum(reader, access.address, stride_of(reader, buffer, i, n), heddle_traffic_read(reader, subscript[i]));
	if (space != HEDDLE_SPACE_REGISTER)
		*(store ? &to->store_bytes[space] : &to->load_bytes[space]) += (uint64_t)access.bytes;
	HEDDLE_PUSH(reader->arena, to->access, to->n_access, access);
}

/* What the evaluation of a value loads; of a choice only one side is evaluated, unless its members choose each for itself. */
static void read_loads(traffic_reader *reader, const heddle_value *v, heddle_region *to);

static void read_value(traffic_reader *reader, const heddle_value *v, bool data, heddle_region *to)
{
	HEDDLE_PUSH(reader->arena, to->value, to->n_value, ((heddle_region_value){v, data}));
	read_loads(reader, v, to);
}

static void read_loads(traffic_reader *reader, const heddle_value *v, heddle_region *to)
{
	if (heddle_value_is_branch(v)) {
		read_loads(reader, v->arg[0], to);
		heddle_region *s = new_region(reader, HEDDLE_REGION_IF);
		s->asked = heddle_traffic_read(reader, v->arg[0]);
		for (int side = 1; side <= 2; side++) {
			append(reader, s, new_region(reader, HEDDLE_REGION_STRAIGHT));
			read_value(reader, v->arg[side], true, s->child[side - 1]);
		}
		append(reader, to, s);
		return;
	}
	for (int i = 0; i < v->n_arg; i++)
		read_loads(reader, v->arg[i], to);
	const int before = to->n_access;
	if (v->kind == HEDDLE_VALUE_LOAD)
		add_access(reader, to, v->buffer, v->arg, v->n_arg, v->width, false);
	if (to->n_access > before)
		to->access[before].ahead = v->i > 0;
}

/* Of a loop. */
static int64_t trips(int64_t length, int64_t by)
{
	return length > 0 ? (length + by - 1) / by : 0;
}

static void read_node(traffic_reader *reader, const heddle_node *node, heddle_region *to);

static heddle_region *read_side(traffic_reader *reader, const heddle_node *node)
{
	heddle_region *s = new_region(reader, HEDDLE_REGION_STRAIGHT);
	traffic_name *scope = reader->scope;
	if (node)
		read_node(reader, node, s);
	reader->scope = scope;
	return s;
}

static void read_if(traffic_reader *reader, const heddle_node *node, heddle_region *to)
{
	heddle_region *s = new_region(reader, HEDDLE_REGION_IF);
	s->node = node;
	s->asked = heddle_traffic_read(reader, node->value[0]);
	append(reader, s, read_side(reader, node->child[0]));
	append(reader, s, read_side(reader, node->n_child > 1 ? node->child[1] : NULL));
	append(reader, to, s);
}

static void read_for(traffic_reader *reader, const heddle_node *node, heddle_region *to)
{
	heddle_region *s = new_region(reader, HEDDLE_REGION_FOR);
	const traffic_form *lower = heddle_traffic_read(reader, node->value[0]), *upper = heddle_traffic_read(reader, node->value[1]);
	traffic_name *scope = reader->scope;
	s->node = node;
	s->by = node->i;
	s->asked = heddle_traffic_sum(reader, upper, -1, lower);
	const traffic_range length = heddle_traffic_range(s->asked, &reader->box);
	s->variable = heddle_traffic_variable(reader, length.lo == length.hi ? trips(length.lo, s->by) : 0);
	push(reader, node->name, NULL, heddle_traffic_sum(reader, lower, node->i, heddle_traffic_of_variable(reader, s->variable)));
	append(reader, s, read_side(reader, node->child[0]));
	reader->scope = scope;
	append(reader, to, s);
}

static void read_block(traffic_reader *reader, const heddle_node *node, heddle_region *to)
{
	traffic_name *scope = reader->scope;
	for (int i = 0; i < node->n_child; i++)
		read_node(reader, node->child[i], to);
	reader->scope = scope;
}

static void read_copy(traffic_reader *reader, const heddle_node *node, heddle_region *to)
{
	heddle_region *s = new_region(reader, HEDDLE_REGION_COPY);
	s->asked = heddle_traffic_read(reader, node->value[0]);
	s->by = heddle_type_size(node->buffer->type);
	append(reader, to, s);
}

static void read_node(traffic_reader *reader, const heddle_node *node, heddle_region *to)
{
	for (int i = 0; i < node->n_value; i++)
		read_value(reader, node->value[i], node->kind == HEDDLE_NODE_STORE && i == 0, to);
	switch (node->kind) {
	case HEDDLE_NODE_BLOCK: read_block(reader, node, to); break;
	case HEDDLE_NODE_FOR: read_for(reader, node, to); break;
	case HEDDLE_NODE_IF: read_if(reader, node, to); break;
	case HEDDLE_NODE_LET: push(reader, node->name, node->value[0], NULL); break;
	case HEDDLE_NODE_STORE: add_access(reader, to, node->buffer, node->value + 1, node->n_value - 1, node->value[0]->width, true); break;
	case HEDDLE_NODE_COPY: read_copy(reader, node, to); break;
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
	bool first;	 /* of the first unit's blocks only */
	bool lost;	 /* no answer */
	bool data;
} counter;

static void count_region(counter *c, heddle_region *s);

static void add(counter *c, heddle_region *s, uint64_t times)
{
	uint64_t *sum = c->first ? &s->of_first : &s->executed;
	c->lost = __builtin_add_overflow(*sum, times, sum) || c->lost;
}

static bool moves_bytes(const heddle_region *s)
{
	bool any = s->kind == HEDDLE_REGION_COPY;
	for (int k = 0; k < HEDDLE_N_SPACE; k++)
		any = any || s->load_bytes[k] || s->store_bytes[k];
	for (int i = 0; i < s->n_child && !any; i++)
		any = moves_bytes(s->child[i]);
	return any;
}

/* Both halves of the box along what is asked about; false: it depends on nothing that has more than one value. */
static bool count_halves(counter *c, heddle_region *s)
{
	const int v = heddle_traffic_widest(s->asked, &c->box);
	if (v < 0)
		return false;
	const traffic_range whole = c->box.range[v];
	const uint64_t points = c->points, values = (uint64_t)(whole.hi - whole.lo + 1);
	const int64_t middle = whole.lo + (whole.hi - whole.lo) / 2;
	c->box.range[v].hi = middle;
	c->points = points / values * (uint64_t)(middle - whole.lo + 1);
	count_region(c, s);
	c->box.range[v] = (traffic_range){middle + 1, whole.hi};
	c->points = points / values * (uint64_t)(whole.hi - middle);
	count_region(c, s);
	c->box.range[v] = whole;
	c->points = points;
	return true;
}

static void count_if(counter *c, heddle_region *s)
{
	const traffic_range r = heddle_traffic_range(s->asked, &c->box);
	if (r.lo == r.hi) {
		add(c, s, c->points);
		count_region(c, s->child[r.lo ? 0 : 1]);
	} else if (!count_halves(c, s)) {
		add(c, s, c->points);
		c->data = c->data || moves_bytes(s);
		count_region(c, s->child[0]);
	}
}

static void count_for(counter *c, heddle_region *s)
{
	const traffic_range r = heddle_traffic_range(s->asked, &c->box);
	const int64_t n = trips(r.lo, s->by);
	if (n != trips(r.hi, s->by)) {
		if (!count_halves(c, s))
			c->lost = c->lost || moves_bytes(s);
	} else if (n > 0) {
		const uint64_t points = c->points;
		add(c, s, points);
		c->box.range[s->variable] = (traffic_range){0, n - 1};
		c->lost = __builtin_mul_overflow(points, (uint64_t)n, &c->points) || c->lost;
		count_region(c, s->child[0]);
		c->points = points;
	}
}

/* A block copies once, and all of its threads come there. */
static void count_copy(counter *c, heddle_region *s)
{
	const traffic_range r = heddle_traffic_range(s->asked, &c->box);
	if (r.lo != r.hi) {
		if (!count_halves(c, s))
			c->lost = true;
		return;
	}
	for (int d = 0; d < c->thread->n_digit; d++) { /* where a condition that is the same for all of them has been looked at for some, who knows */
		const traffic_range digit = c->box.range[c->thread->first + d];
		c->lost = c->lost || digit.hi - digit.lo + 1 != c->thread->weight[d + 1] / c->thread->weight[d];
	}
	uint64_t elements;
	c->lost = __builtin_mul_overflow(c->points / (uint64_t)c->thread->n, (uint64_t)(r.lo > 0 ? r.lo : 0), &elements) || c->lost;
	add(c, s, elements);
}

static void count_region(counter *c, heddle_region *s)
{
	c->lost = c->lost || ++c->box.work > TRAFFIC_MOST_WORK;
	if (c->lost)
		return;
	switch (s->kind) {
	case HEDDLE_REGION_IF: count_if(c, s); break;
	case HEDDLE_REGION_FOR: count_for(c, s); break;
	case HEDDLE_REGION_COPY: count_copy(c, s); break;
	case HEDDLE_REGION_STRAIGHT:
		add(c, s, c->points);
		for (int i = 0; i < s->n_child; i++)
			count_region(c, s->child[i]);
		break;
	}
}

/* The box of the first of so many parts of the grid, neighbours of each other; its number of blocks. */
static int64_t first_blocks(heddle_regions *regions, traffic_box *box, int64_t parts)
{
	const traffic_id *block = &regions->reader.block;
	regions->first_blocks = 1;
	for (int d = block->n_digit - 1; d >= 0; d--) {
		const int64_t n = block->weight[d + 1] / block->weight[d], here = n >= parts ? (n + parts - 1) / parts : 1;
		box->range[block->first + d] = (traffic_range){0, here - 1};
		regions->first_blocks *= here;
		parts = n >= parts ? 1 : (parts + n - 1) / n;
	}
	return regions->first_blocks;
}

bool heddle_regions_read(heddle_regions *regions, const heddle_launch *launch, const int64_t *size, int64_t units)
{
	*regions = (heddle_regions){.reader = {.arena = heddle_arena_new(), .size = size}};
	traffic_reader *reader = &regions->reader;
	if (heddle_value_evaluate(launch->grid, size, &regions->blocks) < 0)
		return false;
	regions->blocks = regions->blocks > 0 ? regions->blocks : 0;
	reader->block = (traffic_id){.n = regions->blocks + !regions->blocks, .n_digit = 1, .weight = {1, regions->blocks + !regions->blocks}};
	reader->thread = (traffic_id){.n = launch->threads, .n_digit = 1, .weight = {1, launch->threads}};
	bool again = true;
	for (int i = 0; i < MOST_READINGS && again; i++) {
		reader->again = false;
		reader->scope = NULL;
		reader->box.range = NULL;
		reader->n_variable = 0;
		heddle_traffic_ids(reader);
		regions->body = read_side(reader, launch->body);
		again = reader->again;
	}
	counter c = {.thread = &reader->thread, .box = reader->box};
	c.lost = __builtin_mul_overflow((uint64_t)regions->blocks, (uint64_t)launch->threads, &c.points);
	if (regions->blocks)
		count_region(&c, regions->body);
	regions->data = c.data;
	if (c.lost || !regions->blocks)
		return !c.lost;
	c.first = true;
	c.points = (uint64_t)launch->threads * (uint64_t)first_blocks(regions, &c.box, units);
	count_region(&c, regions->body);
	for (int d = 0; d < reader->block.n_digit; d++)
		c.box.range[reader->block.first + d] = (traffic_range){0, reader->block.weight[d + 1] / reader->block.weight[d] - 1};
	return !c.lost;
}

void heddle_regions_free(heddle_regions *regions)
{
	heddle_arena_free(regions->reader.arena);
}
