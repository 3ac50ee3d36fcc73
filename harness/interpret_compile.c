/* A launch's tree to the interpreter's flat form: expressions become lists of operations over lanes.
 *
 * Cells are a stack: a result is reserved first, its operands above it, and the operands' cells are free again once the
 * operation is emitted.  Values that are the same in all threads (no thread id, no load from memory that is written) are
 * computed once, in one lane.
 * SPDX-License-Identifier: MIT
 */
#include "harness/interpret_machine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct variable {
	const char *name;
	operand operand;
	struct variable *outer; /* in scope before it */
	struct variable *chain; /* of the same bucket */
} variable;

enum { BUCKETS = 512 };

typedef struct compiler {
	machine *m;
	variable *scope;
	variable *bucket[BUCKETS]; /* unrolled code has thousands of variables in scope */
	const heddle_node *node;
} compiler;

static operand compile_value(compiler *c, const heddle_value *v);

static int fail(compiler *c, const char *what)
{
	if (!c->m->broken)
		heddle_error(c->m->ctx, 950, NULL, "launch %s, node %d cannot be interpreted: %s", c->m->launch->name,
			     c->node ? c->node->id : -1, what);
	c->m->broken = true;
	return -1;
}

/* ---- cells and constants -------------------------------------------------------------------------------------------------- */

static int reserve(machine *m, int width, bool scalar)
{
	int at = m->top;
	m->top += width * (scalar ? 1 : m->lanes);
	if (m->top > m->most)
		m->most = m->top;
	return at;
}

static operand constant(machine *m, lane_class class, uint64_t bits)
{
	int k = m->n_constant - 1;
	while (k >= 0 && (m->constant[k].class != class || m->constant[k].bits != bits))
		k--;
	if (k < 0) {
		struct constant new = {class, bits};
		k = m->n_constant;
		HEDDLE_PUSH(m->arena, m->constant, m->n_constant, new);
	}
	return (operand){-1 - k * m->lanes, true, true};
}

static operand constant_int(machine *m, int64_t i)
{
	return constant(m, CLASS_INT, (uint64_t)i);
}

static operand constant_float(machine *m, heddle_type type, double f)
{
	uint64_t bits = 0;
	float narrow = (float)f;
	if (type == HEDDLE_FLOAT64)
		memcpy(&bits, &f, sizeof(f));
	else
		memcpy(&bits, &narrow, sizeof(narrow));
	return constant(m, class_of(type), bits);
}

static operand constant_scalar(compiler *c, const heddle_buffer *buffer)
{
	const heddle_array *array = c->m->in->array[buffer->position];
	if (heddle_type_is_float(buffer->type))
		return constant_float(c->m, buffer->type, (double)heddle_array_get(array, 0));
	return constant_int(c->m, heddle_array_get_int(array, 0));
}

static op *emit(compiler *c, op_code code, const heddle_value *v, bool scalar, int width)
{
	machine *m = c->m;
	if (m->n_op == m->op_capacity) {
		m->op_capacity = m->op_capacity ? 2 * m->op_capacity : 256;
		m->op = heddle_xrealloc(m->op, sizeof(op) * (size_t)m->op_capacity);
	}
	op *o = &m->op[m->n_op++];
	*o = (op){.code = code, .scalar = scalar, .width = width, .a_stride = scalar ? 1 : m->lanes};
	o->node = c->node ? c->node->id : -1;
	o->line = c->node ? c->node->line : 0;
	if (v) {
		o->operator = v->op;
		o->type = v->type;
		o->class = class_of(v->type);
	}
	return o;
}

/* The operand as one that reads in all lanes. */
static operand widen(compiler *c, operand a, lane_class class, int width)
{
	if (!a.scalar || a.constant)
		return a;
	operand d = {reserve(c->m, width, false), false, false};
	op *o = emit(c, OP_BROADCAST, NULL, false, width);
	o->class = class;
	o->d = d.at;
	o->a = a.at;
	return d;
}

static operand compile_wide(compiler *c, const heddle_value *v)
{
	return widen(c, compile_value(c, v), class_of(v->type), v->width);
}

static operand compile_as(compiler *c, const heddle_value *v, bool scalar)
{
	return scalar ? compile_value(c, v) : compile_wide(c, v);
}

static variable **bucket_of(compiler *c, const char *name)
{
	unsigned hash = 5381;
	for (const char *s = name; *s; s++)
		hash = hash * 33 + (unsigned char)*s;
	return &c->bucket[hash % BUCKETS];
}

static operand find(compiler *c, const char *name)
{
	for (variable *v = *bucket_of(c, name); v; v = v->chain)
		if (!strcmp(v->name, name))
			return v->operand;
	fail(c, "a variable is not in scope");
	return (operand){0, true, false};
}

/* ---- questions -------------------------------------------------------------------------------------------------------------- */

static bool is_scalar(compiler *c, const heddle_value *v)
{
	switch (v->kind) {
	case HEDDLE_VALUE_THREAD:
	case HEDDLE_VALUE_SHUFFLE: return false;
	case HEDDLE_VALUE_VARIABLE: return find(c, v->name).scalar;
	case HEDDLE_VALUE_LOAD:
		if (v->buffer->role == HEDDLE_BUFFER_SCALAR)
			return true;
		if (v->buffer->role != HEDDLE_BUFFER_INPUT)
			return false;
		break;
	default: break;
	}
	for (int k = 0; k < v->n_arg; k++)
		if (!is_scalar(c, v->arg[k]))
			return false;
	return true;
}

/* Can be evaluated where it is not wanted: touches no memory and cannot fail. */
static bool is_harmless(const heddle_value *v)
{
	if (v->kind == HEDDLE_VALUE_LOAD && v->buffer->role != HEDDLE_BUFFER_SCALAR)
		return false;
	if (v->kind == HEDDLE_VALUE_SHUFFLE || v->kind == HEDDLE_VALUE_SELECT || v->kind == HEDDLE_VALUE_CALL)
		return false;
	if (v->kind == HEDDLE_VALUE_FLOOR_DIV || v->kind == HEDDLE_VALUE_FLOOR_MOD)
		return v->arg[1]->kind == HEDDLE_VALUE_INT && v->arg[1]->i > 0 && is_harmless(v->arg[0]);
	if (v->kind == HEDDLE_VALUE_BINARY && !heddle_type_is_float(v->type) &&
	    (v->op == HEDDLE_OP_DIV || v->op == HEDDLE_OP_MOD || v->op == HEDDLE_OP_SHL || v->op == HEDDLE_OP_SHR) &&
	    !(v->arg[1]->kind == HEDDLE_VALUE_INT && v->arg[1]->i > 0))
		return false;
	for (int k = 0; k < v->n_arg; k++)
		if (!is_harmless(v->arg[k]))
			return false;
	return true;
}

/* ---- accesses ---------------------------------------------------------------------------------------------------------------- */

static access *compile_access(compiler *c, const heddle_buffer *buffer, int n, heddle_value *const *subscript, int width)
{
	machine *m = c->m;
	access *x = HEDDLE_NEW(m->arena, access);
	x->memory = &m->memory[buffer->position];
	x->n = n;
	x->width = width;
	x->node = c->node->id;
	x->line = c->node->line;
	x->scalar = true;
	for (int k = 0; k < n; k++) {
		x->subscript[k] = compile_value(c, subscript[k]);
		x->scalar &= x->subscript[k].scalar;
	}
	return x;
}

static operand compile_load(compiler *c, const heddle_value *v)
{
	if (v->buffer->role == HEDDLE_BUFFER_SCALAR)
		return constant_scalar(c, v->buffer);
	bool scalar = is_scalar(c, v);
	operand d = {reserve(c->m, v->width, scalar), scalar, false};
	int top = c->m->top;
	access *x = compile_access(c, v->buffer, v->n_arg, v->arg, v->width);
	c->m->top = top;
	op *o = emit(c, OP_LOAD, v, scalar, v->width);
	o->d = d.at;
	o->access = x;
	return d;
}

/* ---- functions ----------------------------------------------------------------------------------------------------------------- */

static double reciprocal_root(double x)
{
	return 1 / sqrt(x);
}

static double quotient(double x, double y)
{
	return x / y;
}

static const struct {
	const char *name;
	double (*one)(double);
	double (*two)(double, double);
} fast[] = {
	{"exp", exp, NULL},   {"exp2", exp2, NULL},   {"expm1", expm1, NULL}, {"log", log, NULL},     {"log2", log2, NULL},
	{"log10", log10, NULL}, {"log1p", log1p, NULL}, {"sqrt", sqrt, NULL},	{"tanh", tanh, NULL},	{"sin", sin, NULL},
	{"cos", cos, NULL},   {"fabs", fabs, NULL},   {"floor", floor, NULL}, {"ceil", ceil, NULL},   {"trunc", trunc, NULL},
	{"round", round, NULL}, {"erf", erf, NULL},	{"rsqrt", reciprocal_root, NULL}, {"cbrt", cbrt, NULL},
	{"fmax", NULL, fmax}, {"fmin", NULL, fmin},   {"fmod", NULL, fmod},   {"pow", NULL, pow},     {"atan2", NULL, atan2},
	{"fdivide", NULL, quotient}, {"copysign", NULL, copysign},
};

static void choose_function(compiler *c, op *o, const char *name)
{
	o->random = !strcmp(name, "random_bits");
	if (o->random)
		return;
	o->i = !strcmp(name, "nextafter");
	for (size_t k = 0; k < HEDDLE_COUNT(fast); k++)
		if (!strcmp(fast[k].name, name)) {
			o->one = fast[k].one;
			o->two = fast[k].two;
			return;
		}
	o->special = heddle_special_find(name);
	if (!o->special && !o->i)
		fail(c, "a function without an implementation");
}

/* ---- values ------------------------------------------------------------------------------------------------------------------- */

static operand compile_select(compiler *c, const heddle_value *v, bool scalar)
{
	machine *m = c->m;
	operand d = {reserve(m, v->width, scalar), scalar, false};
	int top = m->top;
	lane_class class = class_of(v->type);
	bool scalar_condition = is_scalar(c, v->arg[0]);

	if (v->arg[0]->width > 1 || (!scalar_condition && is_harmless(v->arg[1]) && is_harmless(v->arg[2]))) {
		operand a = compile_as(c, v->arg[0], scalar);
		operand then = compile_as(c, v->arg[1], scalar), otherwise = compile_as(c, v->arg[2], scalar);
		op *o = emit(c, OP_BLEND, v, scalar, v->width);
		o->wide_condition = v->arg[0]->width > 1;
		o->d = d.at;
		o->a = a.at;
		o->b = then.at;
		o->c = otherwise.at;
		m->top = top;
		return d;
	}
	operand a = compile_value(c, v->arg[0]);
	int at = m->n_op, side_top = m->top;
	emit(c, OP_SELECT, v, scalar_condition, v->width)->a = a.at;
	m->op[at].mask = m->n_mask;
	m->n_mask += 2;
	for (int side = 1; side <= 2; side++) {
		int from = m->n_op;
		operand r = compile_as(c, v->arg[side], scalar);
		op *copy = emit(c, OP_COPY, v, scalar, v->width);
		copy->class = class;
		copy->d = d.at;
		copy->a = r.at;
		m->top = side_top;
		*(side == 1 ? &m->op[at].then : &m->op[at].otherwise) = m->n_op - from;
	}
	m->top = top;
	return d;
}

/* Members of a vector side by side. */
static operand compile_build(compiler *c, const heddle_value *v, bool scalar)
{
	machine *m = c->m;
	operand d = {reserve(m, v->width, scalar), scalar, false};
	int top = m->top;
	for (int k = 0; k < v->n_arg; k++) {
		operand a = compile_as(c, v->arg[k], scalar);
		op *o = emit(c, OP_COPY, v, scalar, 1);
		o->d = d.at + k * (scalar ? 1 : m->lanes);
		o->a = a.at;
		m->top = top;
	}
	return d;
}

/* The members of two vectors in turn, or every second one of them. */
static operand compile_zip(compiler *c, const heddle_value *v, bool scalar)
{
	machine *m = c->m;
	const int lanes = scalar ? 1 : m->lanes;
	operand d = {reserve(m, v->width, scalar), scalar, false};
	int top = m->top;
	const operand from[2] = {compile_as(c, v->arg[0], scalar), compile_as(c, v->arg[1], scalar)};
	for (int k = 0; k < v->width; k++) {
		const bool zip = v->kind == HEDDLE_VALUE_ZIP, second = zip ? k % 2 : k >= v->width / 2;
		const operand *a = &from[second];
		const int member = zip ? (int)v->i * v->width / 2 + k / 2 : 2 * (k % (v->width / 2)) + second;
		op *o = emit(c, OP_COPY, v, scalar, 1);
		o->d = d.at + k * lanes;
		o->a = a->at + (a->constant ? 0 : member * lanes);
	}
	m->top = top;
	return d;
}

static int float_operations(const heddle_value *v)
{
	if (!heddle_type_is_float(v->n_arg ? v->arg[0]->type : v->type))
		return 0;
	switch (v->kind) {
	case HEDDLE_VALUE_FMA: return 2;
	case HEDDLE_VALUE_REDUCE: return v->arg[0]->width - 1;
	case HEDDLE_VALUE_CALL:
	case HEDDLE_VALUE_BINARY:
	case HEDDLE_VALUE_UNARY: return 1;
	default: return 0;
	}
}

static op_code code_of(const heddle_value *v)
{
	switch (v->kind) {
	case HEDDLE_VALUE_UNARY: return v->op == HEDDLE_OP_NOT ? OP_NOT : OP_NEGATE;
	case HEDDLE_VALUE_BINARY: return OP_BINARY;
	case HEDDLE_VALUE_FLOOR_DIV: return OP_FLOOR_DIV;
	case HEDDLE_VALUE_FLOOR_MOD: return OP_FLOOR_MOD;
	case HEDDLE_VALUE_CAST: return OP_CAST;
	case HEDDLE_VALUE_CALL: return OP_CALL;
	case HEDDLE_VALUE_FMA: return OP_FMA;
	case HEDDLE_VALUE_SPLAT: return OP_SPLAT;
	case HEDDLE_VALUE_REDUCE: return OP_REDUCE;
	default: return OP_SHUFFLE;
	}
}

/* A copy that the operation may overwrite. */
static operand compile_copy(compiler *c, const heddle_value *v, operand a, bool scalar)
{
	operand d = {reserve(c->m, v->width, scalar), scalar, false};
	op *o = emit(c, OP_COPY, v, scalar, v->width);
	o->d = d.at;
	o->a = a.at;
	return d;
}

/* Operations that take up to four operands lane by lane. */
static operand compile_plain(compiler *c, const heddle_value *v, bool scalar)
{
	machine *m = c->m;
	operand d = {reserve(m, v->width, scalar), scalar, false}, a[4] = {{0}};
	int top = m->top;
	for (int k = 0; k < v->n_arg; k++)
		a[k] = compile_as(c, v->arg[k], scalar);
	if (v->kind == HEDDLE_VALUE_REDUCE)
		a[0] = compile_copy(c, v->arg[0], a[0], scalar);
	op *o = emit(c, code_of(v), v, scalar, v->width);
	o->class = class_of(v->arg[0]->type);
	o->from = v->arg[0]->type;
	if (v->kind == HEDDLE_VALUE_BINARY)
		o->type = v->arg[0]->type;
	if (v->kind == HEDDLE_VALUE_REDUCE)
		o->width = v->arg[0]->width;
	if (v->kind == HEDDLE_VALUE_CALL)
		choose_function(c, o, heddle_builtins[v->i].name);
	if (v->kind == HEDDLE_VALUE_SHUFFLE)
		o->i = v->i;
	o->flops = float_operations(v);
	o->d = d.at;
	o->a = a[0].at;
	o->b = a[1].at;
	o->c = a[2].at;
	o->e = a[3].at;
	m->top = top;
	return d;
}

static operand compile_extract(compiler *c, const heddle_value *v)
{
	operand a = compile_value(c, v->arg[0]);
	if (!a.constant)
		a.at += (int)v->i * (a.scalar ? 1 : c->m->lanes);
	return a;
}

static operand compile_value(compiler *c, const heddle_value *v)
{
	int64_t i;
	if (heddle_value_evaluate(v, c->m->in->size, &i) == 0)
		return constant_int(c->m, i);
	bool scalar = is_scalar(c, v);
	switch (v->kind) {
	case HEDDLE_VALUE_INT: return constant_int(c->m, v->i);
	case HEDDLE_VALUE_FLOAT: return constant_float(c->m, v->type, v->f);
	case HEDDLE_VALUE_VARIABLE: return find(c, v->name);
	case HEDDLE_VALUE_BLOCK: return (operand){c->m->block_cell, true, false};
	case HEDDLE_VALUE_THREAD: return (operand){c->m->thread_cell, false, false};
	case HEDDLE_VALUE_LOAD: return compile_load(c, v);
	case HEDDLE_VALUE_SELECT: return compile_select(c, v, scalar);
	case HEDDLE_VALUE_EXTRACT: return compile_extract(c, v);
	case HEDDLE_VALUE_BUILD: return compile_build(c, v, scalar);
	case HEDDLE_VALUE_ZIP:
	case HEDDLE_VALUE_UNZIP: return compile_zip(c, v, scalar);
	default: return compile_plain(c, v, scalar);
	}
}

/* ---- nodes ---------------------------------------------------------------------------------------------------------------------- */

static step *compile_node(compiler *c, const heddle_node *node);

static void push(compiler *c, const char *name, int cell, bool scalar)
{
	variable *v = HEDDLE_NEW(c->m->arena, variable);
	v->name = name;
	v->operand = (operand){cell, scalar, false};
	v->outer = c->scope;
	c->scope = v;
	v->chain = *bucket_of(c, name);
	*bucket_of(c, name) = v;
}

/* Back to an outer scope: the variables since then leave their buckets, newest first. */
static void pop(compiler *c, variable *scope)
{
	for (; c->scope != scope; c->scope = c->scope->outer)
		*bucket_of(c, c->scope->name) = c->scope->chain;
}

static void compile_children(compiler *c, step *s)
{
	variable *scope = c->scope;
	int top = c->m->top;
	s->child = s->node->n_child ? HEDDLE_NEW_ARRAY(c->m->arena, step *, s->node->n_child) : NULL;
	for (int k = 0; k < s->node->n_child; k++) {
		s->child[s->n_child++] = compile_node(c, s->node->child[k]);
		c->node = s->node;
	}
	pop(c, scope);
	c->m->top = top;
}

static void compile_for(compiler *c, step *s)
{
	machine *m = c->m;
	const heddle_node *node = s->node;
	s->type = node->value[0]->type;
	s->scalar = is_scalar(c, node->value[0]) && is_scalar(c, node->value[1]);
	s->variable = reserve(m, 1, s->scalar);
	/* the bounds stay where they are while the loop runs */
	for (int k = 0; k < 2; k++)
		s->value[k] = compile_as(c, node->value[k], s->scalar);
	s->to = m->n_op;
	s->mask = m->n_mask++;
	variable *scope = c->scope;
	push(c, node->name, s->variable, s->scalar);
	compile_children(c, s);
	pop(c, scope);
	m->top = s->variable;
}

static void compile_let(compiler *c, step *s)
{
	machine *m = c->m;
	const heddle_value *v = s->node->value[0];
	s->scalar = is_scalar(c, v);
	s->variable = reserve(m, v->width, s->scalar);
	int top = m->top;
	operand a = compile_as(c, v, s->scalar);
	op *o = emit(c, OP_COPY, v, s->scalar, v->width);
	o->d = s->variable;
	o->a = a.at;
	m->top = top;
	s->to = m->n_op;
	push(c, s->node->name, s->variable, s->scalar);
}

static void compile_store(compiler *c, step *s)
{
	const heddle_node *node = s->node;
	int top = c->m->top;
	s->value[0] = compile_wide(c, node->value[0]);
	s->width = node->value[0]->width;
	s->access = compile_access(c, node->buffer, node->n_value - 1, node->value + 1, s->width);
	c->m->top = top;
	s->to = c->m->n_op;
}

static void compile_transfer(compiler *c, step *s)
{
	const heddle_node *node = s->node;
	int top = c->m->top, n = (int)node->i;
	s->value[0] = compile_value(c, node->value[0]);
	s->access = compile_access(c, node->buffer, n, node->value + 1, 1);
	s->source = compile_access(c, node->source, node->n_value - 1 - n, node->value + 1 + n, 1);
	c->m->top = top;
	s->to = c->m->n_op;
}

static void compile_if(compiler *c, step *s)
{
	int top = c->m->top;
	s->value[0] = compile_value(c, s->node->value[0]);
	s->scalar = s->value[0].scalar;
	s->to = c->m->n_op;
	s->mask = c->m->n_mask;
	c->m->n_mask += 2;
	compile_children(c, s);
	c->m->top = top;
}

static step *compile_node(compiler *c, const heddle_node *node)
{
	step *s = HEDDLE_NEW(c->m->arena, step);
	s->node = c->node = node;
	s->from = s->to = c->m->n_op;
	if (node->id < 0 || node->id >= c->m->count->n_node) {
		fail(c, "its nodes are not numbered");
		return s;
	}
	switch (node->kind) {
	case HEDDLE_NODE_BLOCK: compile_children(c, s); break;
	case HEDDLE_NODE_FOR: compile_for(c, s); break;
	case HEDDLE_NODE_IF: compile_if(c, s); break;
	case HEDDLE_NODE_LET: compile_let(c, s); break;
	case HEDDLE_NODE_DECLARE: s->memory = &c->m->memory[node->buffer->position]; break;
	case HEDDLE_NODE_STORE: compile_store(c, s); break;
	case HEDDLE_NODE_COPY: compile_transfer(c, s); break;
	case HEDDLE_NODE_BARRIER:
	case HEDDLE_NODE_WAIT:
	case HEDDLE_NODE_COMMENT: break;
	}
	return s;
}

static void fill_pool(machine *m)
{
	m->pool = heddle_xalloc(sizeof(*m->pool) * (size_t)m->lanes * (size_t)(m->n_constant + 1));
	for (int k = 0; k < m->n_constant; k++) {
		uint64_t *run = m->pool + (size_t)k * (size_t)m->lanes;
		const struct constant *value = &m->constant[k];
		for (int l = 0; l < m->lanes; l++) {
			if (value->class == CLASS_FLOAT)
				memcpy((char *)run + (size_t)l * sizeof(float), &value->bits, sizeof(float));
			else
				run[l] = value->bits;
		}
	}
}

int heddle_machine_compile(machine *m, const heddle_launch *launch)
{
	compiler c = {.m = m};
	m->launch = launch;
	m->lanes = launch->threads;
	m->n_op = m->top = m->most = m->n_mask = m->n_constant = 0;
	m->constant = NULL;
	m->block_cell = reserve(m, 1, true);
	m->thread_cell = reserve(m, 1, false);
	m->n_mask = 1; /* mask 0: all lanes */
	m->body = compile_node(&c, launch->body);
	if (m->broken)
		return -1;
	fill_pool(m);
	m->cell = heddle_xalloc(sizeof(*m->cell) * (size_t)(m->most + 1));
	m->masks = heddle_xalloc((size_t)m->n_mask * (size_t)m->lanes);
	m->offset = heddle_xalloc(sizeof(*m->offset) * (size_t)m->lanes);
	memset(m->masks, 1, (size_t)m->lanes);
	for (int l = 0; l < m->lanes; l++)
		m->cell[m->thread_cell + l] = (uint64_t)l;
	return 0;
}
