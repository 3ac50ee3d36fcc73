/* Every rule of model/program.h that can be checked without running a program.
 *
 * A violation is a defect of the pass that built the program, so it is an internal error (E0950) that names the launch, the
 * node and the rule.
 * SPDX-License-Identifier: MIT
 */
#include "model/program_words.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { INTERNAL = 950 };

typedef struct variable {
	const char *name;
	heddle_type type;
	int width;
	bool uniform; /* the same in all threads of a block */
	bool warp_uniform;
} variable;

typedef struct checker {
	heddle_ctx *ctx;
	const heddle_program *p;
	const heddle_launch *launch; /* NULL: in the head */
	const heddle_node *node;
	const heddle_buffer *buffer; /* in the head: the one described */
	int n_variable, capacity;
	variable *variable;
	bool *visible;	   /* per buffer: usable here */
	bool uniform;	   /* all threads of the block are here */
	bool warp_uniform; /* all threads of each warp are here or none */
	int errors;
} checker;

static void fault(checker *c, const char *format, ...) HEDDLE_PRINTF(2, 3);
static void fault(checker *c, const char *format, ...)
{
	heddle_text message = {0};
	va_list args;
	if (c->errors++)
		return; /* the first says what went wrong; those after it mostly follow from it */
	heddle_text_printf(&message, "program %s", c->p->name);
	if (c->launch)
		heddle_text_printf(&message, ", launch %s", c->launch->name);
	if (c->node)
		heddle_text_printf(&message, ", node %d", c->node->id);
	if (c->node && c->node->line)
		heddle_text_printf(&message, " (line %d)", c->node->line);
	if (c->buffer)
		heddle_text_printf(&message, ", buffer %s", c->buffer->name);
	heddle_text_add(&message, ": ");
	va_start(args, format);
	heddle_text_vprintf(&message, format, args);
	va_end(args);
	heddle_error(c->ctx, INTERNAL, NULL, "%s", heddle_text_str(&message));
	heddle_text_free(&message);
}

static bool is_identifier(const char *s)
{
	if (!s || !(isalpha((unsigned char)*s) || *s == '_'))
		return false;
	for (; *s; s++)
		if (!isalnum((unsigned char)*s) && *s != '_')
			return false;
	return true;
}

/* Names that the text form gives a meaning of its own. */
static bool is_reserved(const char *s)
{
	static const char *const words[] = {"block", "thread", "true", "false", "inf", "nan"};
	for (size_t k = 0; k < HEDDLE_COUNT(words); k++)
		if (!strcmp(words[k], s))
			return true;
	return false;
}

/* Sizes and buffers may be called "block" or "true": what stands around them tells them apart. */
static void check_user_name(checker *c, const char *name)
{
	if (!is_identifier(name))
		fault(c, "the name %s is not an identifier", name ? name : "(none)");
	else if (!strcmp(name, "inf") || !strcmp(name, "nan"))
		fault(c, "the name %s is a word of the text form", name);
}

static void check_name(checker *c, const char *name)
{
	if (!is_identifier(name))
		fault(c, "the name %s is not an identifier", name ? name : "(none)");
	else if (is_reserved(name))
		fault(c, "the name %s is a word of the text form", name);
}

static bool is_width(int width)
{
	return width >= 1 && width <= HEDDLE_MAX_VECTOR && (width & (width - 1)) == 0;
}

static bool is_index_type(heddle_type type)
{
	return type == HEDDLE_INT32 || type == HEDDLE_INT64;
}

static bool is_half(heddle_type type)
{
	return type == HEDDLE_FLOAT16 || type == HEDDLE_BFLOAT16;
}

static bool is_global(heddle_buffer_role role)
{
	return role != HEDDLE_BUFFER_SHARED && role != HEDDLE_BUFFER_REGISTER;
}

/* ---- uniformity -------------------------------------------------------------------------------------------------------- */

static const variable *find_variable(const checker *c, const char *name)
{
	for (int k = c->n_variable - 1; k >= 0; k--)
		if (name && !strcmp(c->variable[k].name, name))
			return &c->variable[k];
	return NULL;
}

/* thread / n, or thread < n, with n a multiple of the warp: the same in a whole warp. */
static bool is_warp_test(const checker *c, const heddle_value *v)
{
	if (v->kind != HEDDLE_VALUE_BINARY || v->arg[0]->kind != HEDDLE_VALUE_THREAD ||
	    v->arg[1]->kind != HEDDLE_VALUE_INT || v->arg[1]->i % c->p->warp != 0)
		return false;
	return v->op == HEDDLE_OP_DIV || v->op == HEDDLE_OP_LT || v->op == HEDDLE_OP_GE;
}

/* Whether all threads of a block (or of each warp) surely hold the same value.  Loads are: of scalars always, of inputs at a
 * uniform place, for nobody writes them. */
static bool is_uniform(const checker *c, const heddle_value *v, bool warp)
{
	switch (v->kind) {
	case HEDDLE_VALUE_THREAD: return c->launch && c->launch->threads == 1;
	case HEDDLE_VALUE_SHUFFLE: return false;
	case HEDDLE_VALUE_VARIABLE: {
		const variable *var = find_variable(c, v->name);
		return var && (var->uniform || (warp && var->warp_uniform));
	}
	case HEDDLE_VALUE_LOAD:
		if (v->buffer->role != HEDDLE_BUFFER_SCALAR && v->buffer->role != HEDDLE_BUFFER_INPUT &&
		    !(c->launch && c->launch->threads == 1))
			return false;
		break;
	case HEDDLE_VALUE_BINARY:
	case HEDDLE_VALUE_FLOOR_DIV:
		if (warp && is_warp_test(c, v))
			return true;
		break;
	default: break;
	}
	for (int k = 0; k < v->n_arg; k++)
		if (!is_uniform(c, v->arg[k], warp))
			return false;
	return true;
}

/* ---- values -------------------------------------------------------------------------------------------------------------- */

static void check_value(checker *c, const heddle_value *v);

static void check_arity(checker *c, const heddle_value *v, int n)
{
	if (v->n_arg != n)
		fault(c, "a value of kind %d has %d arguments, not %d", (int)v->kind, v->n_arg, n);
}

/* Arguments from .. to of the type and width of the value. */
static void check_same(checker *c, const heddle_value *v, int from, int to)
{
	for (int k = from; k < to; k++)
		if (v->arg[k]->type != v->type || v->arg[k]->width != v->width)
			fault(c, "an argument is %sx%d where the value is %sx%d", heddle_type_name(v->arg[k]->type),
			      v->arg[k]->width, heddle_type_name(v->type), v->width);
}

static void check_access(checker *c, const heddle_buffer *buffer, int n, heddle_value *const *subscript, int width)
{
	if (!buffer || buffer->position < 0 || buffer->position >= c->p->n_buffer ||
	    c->p->buffer[buffer->position] != buffer) {
		fault(c, "an access to a buffer that is not of this program");
		return;
	}
	if (!c->visible[buffer->position])
		fault(c, "%s is neither an argument of the launch nor declared here", buffer->name);
	if (n != buffer->rank && !(n == 1 && buffer->rank > 1))
		fault(c, "%s has rank %d and is accessed by %d subscripts", buffer->name, buffer->rank, n);
	if (buffer->width > 1 ? width != buffer->width : !is_width(width))
		fault(c, "%s of width %d is accessed by width %d", buffer->name, buffer->width, width);
	if (width > 1 && buffer->width == 1 && n == 0)
		fault(c, "%s has no elements after each other for a vector", buffer->name);
	for (int k = 0; k < n; k++) {
		check_value(c, subscript[k]);
		if (!is_index_type(subscript[k]->type) || subscript[k]->width != 1)
			fault(c, "a subscript of %s is %sx%d", buffer->name, heddle_type_name(subscript[k]->type),
			      subscript[k]->width);
	}
}

static void check_constant(checker *c, const heddle_value *v)
{
	if (v->width != 1)
		fault(c, "a constant has width %d", v->width);
	if ((v->kind == HEDDLE_VALUE_FLOAT) != heddle_type_is_float(v->type))
		fault(c, "a constant of the wrong kind for %s", heddle_type_name(v->type));
	int bits = 8 * heddle_type_size(v->type);
	if (v->kind == HEDDLE_VALUE_FLOAT || bits == 64)
		return;
	bool is_unsigned = heddle_type_is_unsigned(v->type);
	int64_t least = is_unsigned ? 0 : -((int64_t)1 << (bits - 1));
	int64_t most = v->type == HEDDLE_BOOL ? 1 : ((int64_t)1 << (is_unsigned ? bits : bits - 1)) - 1;
	if (v->i < least || v->i > most)
		fault(c, "the constant %lld is no %s", (long long)v->i, heddle_type_name(v->type));
}

static void check_variable(checker *c, const heddle_value *v)
{
	const variable *var = find_variable(c, v->name);
	if (!var)
		fault(c, "the variable %s is not in scope", v->name ? v->name : "(none)");
	else if (var->type != v->type || var->width != v->width)
		fault(c, "the variable %s is %sx%d, used as %sx%d", v->name, heddle_type_name(var->type), var->width,
		      heddle_type_name(v->type), v->width);
}

static void check_arithmetic_type(checker *c, heddle_type type)
{
	if (is_half(type))
		fault(c, "arithmetic in %s: it is done in float32", heddle_type_name(type));
}

static void check_binary(checker *c, const heddle_value *v)
{
	const heddle_value *a = v->arg[0], *b = v->arg[1];
	bool is_float = heddle_type_is_float(a->type);
	bool comparison = v->op >= HEDDLE_OP_LT && v->op <= HEDDLE_OP_NE;
	bool logic = v->op == HEDDLE_OP_AND || v->op == HEDDLE_OP_OR;

	if (a->type != b->type || a->width != b->width || v->width != a->width)
		fault(c, "the sides of %s are %sx%d and %sx%d", heddle_op_symbol(v->op), heddle_type_name(a->type),
		      a->width, heddle_type_name(b->type), b->width);
	if (v->type != (comparison || logic ? HEDDLE_BOOL : a->type))
		fault(c, "%s gives %s", heddle_op_symbol(v->op), heddle_type_name(v->type));
	if (logic && a->type != HEDDLE_BOOL)
		fault(c, "%s of %s", heddle_op_symbol(v->op), heddle_type_name(a->type));
	if (v->op >= HEDDLE_OP_BITAND && v->op <= HEDDLE_OP_SHR && is_float)
		fault(c, "%s of %s", heddle_op_symbol(v->op), heddle_type_name(a->type));
	if (v->op > HEDDLE_OP_SHR)
		fault(c, "%s is not a binary operator", heddle_op_symbol(v->op));
	check_arithmetic_type(c, a->type);
}

static void check_select(checker *c, const heddle_value *v)
{
	bool uniform = c->uniform, warp_uniform = c->warp_uniform;
	check_value(c, v->arg[0]);
	if (v->arg[0]->type != HEDDLE_BOOL || (v->arg[0]->width != 1 && v->arg[0]->width != v->width))
		fault(c, "the condition of a selection is %sx%d", heddle_type_name(v->arg[0]->type), v->arg[0]->width);
	c->uniform = uniform && is_uniform(c, v->arg[0], false);
	c->warp_uniform = warp_uniform && is_uniform(c, v->arg[0], true);
	check_value(c, v->arg[1]);
	check_value(c, v->arg[2]);
	c->uniform = uniform;
	c->warp_uniform = warp_uniform;
	check_same(c, v, 1, 3);
}

static void check_shuffle(checker *c, const heddle_value *v)
{
	check_same(c, v, 0, 1);
	if (v->i <= 0 || v->i >= c->p->warp)
		fault(c, "a shuffle by %lld in warps of %d", (long long)v->i, c->p->warp);
	if (!c->uniform && !c->warp_uniform)
		fault(c, "a shuffle under a condition that is not uniform");
	if (c->launch && c->launch->threads % c->p->warp)
		fault(c, "a shuffle in blocks of %d threads and warps of %d", c->launch->threads, c->p->warp);
}

static const int arities[] = {
	[HEDDLE_VALUE_INT] = 0,	      [HEDDLE_VALUE_FLOAT] = 0,	    [HEDDLE_VALUE_VARIABLE] = 0,
	[HEDDLE_VALUE_BLOCK] = 0,     [HEDDLE_VALUE_THREAD] = 0,    [HEDDLE_VALUE_SIZE] = 0,
	[HEDDLE_VALUE_LOAD] = -1,     [HEDDLE_VALUE_UNARY] = 1,	    [HEDDLE_VALUE_BINARY] = 2,
	[HEDDLE_VALUE_FLOOR_DIV] = 2, [HEDDLE_VALUE_FLOOR_MOD] = 2, [HEDDLE_VALUE_SELECT] = 3,
	[HEDDLE_VALUE_CAST] = 1,      [HEDDLE_VALUE_CALL] = -1,	    [HEDDLE_VALUE_FMA] = 3,
	[HEDDLE_VALUE_SPLAT] = 1,     [HEDDLE_VALUE_EXTRACT] = 1,   [HEDDLE_VALUE_BUILD] = -1,
	[HEDDLE_VALUE_ZIP] = 2,	      [HEDDLE_VALUE_UNZIP] = 2,	    [HEDDLE_VALUE_REDUCE] = 1,
	[HEDDLE_VALUE_SHUFFLE] = 1,
};

/* The rules of one kind; the arguments are already right in themselves. */
static void check_kind(checker *c, const heddle_value *v)
{
	const heddle_value *a = v->n_arg ? v->arg[0] : NULL;

	switch (v->kind) {
	case HEDDLE_VALUE_INT:
	case HEDDLE_VALUE_FLOAT: check_constant(c, v); break;
	case HEDDLE_VALUE_VARIABLE: check_variable(c, v); break;
	case HEDDLE_VALUE_BLOCK:
	case HEDDLE_VALUE_THREAD:
		if (!c->launch)
			fault(c, "a block or thread id outside a launch");
		if (v->type != HEDDLE_INT32 || v->width != 1)
			fault(c, "a block or thread id that is not int32");
		break;
	case HEDDLE_VALUE_SIZE:
		if (v->i < 0 || v->i >= c->p->n_size || v->type != HEDDLE_INT64 || v->width != 1)
			fault(c, "the size %lld does not exist or is not int64", (long long)v->i);
		break;
	case HEDDLE_VALUE_LOAD:
	case HEDDLE_VALUE_SELECT: break;
	case HEDDLE_VALUE_UNARY:
		check_same(c, v, 0, 1);
		if (v->op != HEDDLE_OP_NEG && v->op != HEDDLE_OP_NOT)
			fault(c, "%s is not a unary operator", heddle_op_symbol(v->op));
		if ((v->op == HEDDLE_OP_NOT) != (a->type == HEDDLE_BOOL))
			fault(c, "unary %s of %s", heddle_op_symbol(v->op), heddle_type_name(a->type));
		check_arithmetic_type(c, v->type);
		break;
	case HEDDLE_VALUE_BINARY: check_binary(c, v); break;
	case HEDDLE_VALUE_FLOOR_DIV:
	case HEDDLE_VALUE_FLOOR_MOD:
		check_same(c, v, 0, 2);
		if (!heddle_type_is_signed(v->type))
			fault(c, "a floor division of %s", heddle_type_name(v->type));
		if (v->arg[1]->kind == HEDDLE_VALUE_INT && v->arg[1]->i <= 0)
			fault(c, "a floor division by %lld", (long long)v->arg[1]->i);
		break;
	case HEDDLE_VALUE_CAST:
		if (a->width != v->width)
			fault(c, "a conversion from width %d to %d", a->width, v->width);
		break;
	case HEDDLE_VALUE_CALL:
		for (int k = 0; k < v->n_arg; k++)
			if (v->arg[k]->width != v->width)
				fault(c, "an argument of %s has another width", heddle_builtins[v->i].name);
		check_arithmetic_type(c, v->type);
		break;
	case HEDDLE_VALUE_FMA:
		check_same(c, v, 0, 3);
		if (!heddle_type_is_float(v->type))
			fault(c, "fma of %s", heddle_type_name(v->type));
		check_arithmetic_type(c, v->type);
		break;
	case HEDDLE_VALUE_SPLAT:
		if (a->width != 1 || a->type != v->type || v->width == 1)
			fault(c, "a splat of %sx%d to %sx%d", heddle_type_name(a->type), a->width,
			      heddle_type_name(v->type), v->width);
		break;
	case HEDDLE_VALUE_EXTRACT:
		if (v->width != 1 || a->type != v->type || v->i < 0 || v->i >= a->width)
			fault(c, "member %lld of a vector of %d", (long long)v->i, a->width);
		break;
	case HEDDLE_VALUE_BUILD:
		if (v->n_arg != v->width)
			fault(c, "a vector of width %d from %d members", v->width, v->n_arg);
		for (int k = 0; k < v->n_arg; k++)
			if (v->arg[k]->type != v->type || v->arg[k]->width != 1)
				fault(c, "member %d of a vector has another type", k);
		break;
	case HEDDLE_VALUE_UNZIP:
		check_same(c, v, 0, 2);
		if (v->width < 2 || v->type == HEDDLE_BOOL)
			fault(c, "an unzip of vectors of %d", v->width);
		break;
	case HEDDLE_VALUE_ZIP:
		check_same(c, v, 0, 2);
		if (v->width < 2 || v->type == HEDDLE_BOOL || v->i < 0 || v->i > 1)
			fault(c, "a zip of halves %lld of vectors of %d", (long long)v->i, v->width);
		break;
	case HEDDLE_VALUE_REDUCE:
		if (v->width != 1 || a->type != v->type || a->width == 1)
			fault(c, "a reduction of width %d to %d", a->width, v->width);
		if (v->op != HEDDLE_OP_ADD && v->op != HEDDLE_OP_MUL && v->op != HEDDLE_OP_MIN && v->op != HEDDLE_OP_MAX)
			fault(c, "a reduction by %s", heddle_op_symbol(v->op));
		check_arithmetic_type(c, v->type);
		break;
	case HEDDLE_VALUE_SHUFFLE: check_shuffle(c, v); break;
	}
}

static int builtin_arity(const heddle_value *v)
{
	for (int64_t k = 0; heddle_builtins[k].name; k++)
		if (k == v->i)
			return heddle_builtins[k].arity;
	return -1;
}

static void check_value(checker *c, const heddle_value *v)
{
	if (!v) {
		fault(c, "a value is missing");
		return;
	}
	if (v->kind > HEDDLE_VALUE_SHUFFLE || v->type >= HEDDLE_N_TYPE || !is_width(v->width)) {
		fault(c, "a value of kind %d, type %d, width %d", (int)v->kind, (int)v->type, v->width);
		return;
	}
	if (v->kind == HEDDLE_VALUE_CALL && builtin_arity(v) != v->n_arg) {
		fault(c, "a call of function %lld with %d arguments", (long long)v->i, v->n_arg);
		return;
	}
	if (arities[v->kind] >= 0 && v->n_arg != arities[v->kind]) {
		check_arity(c, v, arities[v->kind]);
		return;
	}
	if (v->kind == HEDDLE_VALUE_LOAD) {
		check_access(c, v->buffer, v->n_arg, v->arg, v->width);
		if (v->buffer && v->type != v->buffer->type)
			fault(c, "%s is read as %s", v->buffer->name, heddle_type_name(v->type));
		if (v->buffer && v->i && (v->i < 0 || !is_global(v->buffer->role)))
			fault(c, "%s is asked for %lld elements ahead", v->buffer->name, (long long)v->i);
		return;
	}
	if (v->kind == HEDDLE_VALUE_SELECT) {
		for (int k = 0; k < 3; k++)
			if (!v->arg[k]) {
				fault(c, "a selection lacks a side");
				return;
			}
		check_select(c, v);
		return;
	}
	for (int k = 0; k < v->n_arg; k++)
		check_value(c, v->arg[k]);
	if (!c->errors)
		check_kind(c, v);
}

/* Over constants and sizes. */
static bool is_over_sizes(const heddle_value *v)
{
	if (v->kind == HEDDLE_VALUE_VARIABLE || v->kind == HEDDLE_VALUE_BLOCK || v->kind == HEDDLE_VALUE_THREAD ||
	    v->kind == HEDDLE_VALUE_LOAD || v->kind == HEDDLE_VALUE_SHUFFLE)
		return false;
	for (int k = 0; k < v->n_arg; k++)
		if (!is_over_sizes(v->arg[k]))
			return false;
	return true;
}

static void check_over_sizes(checker *c, const heddle_value *v, heddle_type type, const char *what)
{
	check_value(c, v);
	if (!v || c->errors)
		return;
	if (!is_over_sizes(v))
		fault(c, "%s is not over constants and sizes", what);
	if (v->type != type || v->width != 1)
		fault(c, "%s is %sx%d", what, heddle_type_name(v->type), v->width);
}

/* ---- nodes ---------------------------------------------------------------------------------------------------------------- */

static void push_variable(checker *c, const char *name, heddle_type type, int width, bool uniform, bool warp_uniform)
{
	check_name(c, name);
	if (find_variable(c, name))
		fault(c, "the variable %s is already in scope", name);
	for (int k = 0; k < c->p->n_size; k++)
		if (name && !strcmp(c->p->size[k].name, name))
			fault(c, "the variable %s has the name of a size", name);
	if (c->n_variable == c->capacity) {
		c->capacity = c->capacity ? 2 * c->capacity : 16;
		c->variable = heddle_xrealloc(c->variable, sizeof(variable) * (size_t)c->capacity);
	}
	c->variable[c->n_variable++] = (variable){name ? name : "", type, width, uniform, warp_uniform};
}

static void check_node(checker *c, const heddle_node *node);

/* A child under a condition that is or is not the same for all threads. */
static void check_child(checker *c, const heddle_node *child, bool uniform, bool warp_uniform)
{
	bool outer = c->uniform, warp_outer = c->warp_uniform;
	const heddle_node *node = c->node;
	c->uniform = outer && uniform;
	c->warp_uniform = (outer || warp_outer) && (uniform || warp_uniform);
	check_node(c, child);
	c->uniform = outer;
	c->warp_uniform = warp_outer;
	c->node = node;
}

static void check_block(checker *c, const heddle_node *node)
{
	int outer = c->n_variable;
	for (int k = 0; k < node->n_child; k++)
		check_child(c, node->child[k], true, true);
	c->n_variable = outer;
	for (int k = 0; k < node->n_child; k++)
		if (node->child[k] && node->child[k]->kind == HEDDLE_NODE_DECLARE && node->child[k]->buffer)
			c->visible[node->child[k]->buffer->position] = false;
}

static void check_for(checker *c, const heddle_node *node)
{
	if (node->n_value != 2 || node->n_child != 1) {
		fault(c, "a loop has %d bounds and %d bodies", node->n_value, node->n_child);
		return;
	}
	const heddle_value *lower = node->value[0], *upper = node->value[1];
	check_value(c, lower);
	check_value(c, upper);
	if (c->errors)
		return;
	if (lower->type != upper->type || !is_index_type(lower->type) || lower->width != 1 || upper->width != 1)
		fault(c, "the bounds of the loop over %s are %s and %s", node->name, heddle_type_name(lower->type),
		      heddle_type_name(upper->type));
	if (node->i <= 0)
		fault(c, "the loop over %s has step %lld", node->name, (long long)node->i);
	if (node->copies < 0 || (node->copies && node->loop != HEDDLE_LOOP_SERIAL))
		fault(c, "the loop over %s, %s, has %d copies of its body", node->name, heddle_loop_words[node->loop], node->copies);
	/* compilers that do too many rounds of such loops: simplify_copies.c */
	if (node->copies > 1 && (node->copies & (node->copies - 1)) &&
	    (node->value[0]->kind != HEDDLE_VALUE_INT || node->value[1]->kind != HEDDLE_VALUE_INT))
		fault(c, "the loop over %s has %d copies of its body, and open bounds: powers of two only", node->name, node->copies);
	if (node->loop != HEDDLE_LOOP_SERIAL && (lower->kind != HEDDLE_VALUE_INT || upper->kind != HEDDLE_VALUE_INT))
		fault(c, "the loop over %s is to be unrolled and its bounds are not constant", node->name);
	bool uniform = node->uniform || (is_uniform(c, lower, false) && is_uniform(c, upper, false));
	bool warp = uniform || (is_uniform(c, lower, true) && is_uniform(c, upper, true));
	push_variable(c, node->name, lower->type, 1, uniform, warp);
	check_child(c, node->child[0], uniform, warp);
	c->n_variable--;
}

static void check_if(checker *c, const heddle_node *node)
{
	if (node->n_value != 1 || node->n_child < 1 || node->n_child > 2) {
		fault(c, "a condition has %d values and %d branches", node->n_value, node->n_child);
		return;
	}
	const heddle_value *condition = node->value[0];
	check_value(c, condition);
	if (c->errors)
		return;
	if (condition->type != HEDDLE_BOOL || condition->width != 1)
		fault(c, "a condition is %sx%d", heddle_type_name(condition->type), condition->width);
	bool uniform = node->uniform || is_uniform(c, condition, false);
	bool warp = uniform || is_uniform(c, condition, true);
	for (int k = 0; k < node->n_child; k++)
		check_child(c, node->child[k], uniform, warp);
}

static void check_store(checker *c, const heddle_node *node)
{
	if (node->n_value < 1 || !node->value[0]) {
		fault(c, "a store without a value");
		return;
	}
	const heddle_value *value = node->value[0];
	check_value(c, value);
	check_access(c, node->buffer, node->n_value - 1, node->value + 1, value->width);
	if (c->errors)
		return;
	if (node->buffer->type != value->type)
		fault(c, "a value of %s is stored in %s of %s", heddle_type_name(value->type), node->buffer->name,
		      heddle_type_name(node->buffer->type));
	if (node->buffer->role == HEDDLE_BUFFER_INPUT || node->buffer->role == HEDDLE_BUFFER_SCALAR)
		fault(c, "a store to the input %s", node->buffer->name);
}

static void check_copy(checker *c, const heddle_node *node)
{
	const int n_to = (int)node->i, n_from = node->n_value - 1 - n_to;
	if (!node->name || node->n_value < 1 || n_to < 0 || n_from < 0) {
		fault(c, "a copy without its values");
		return;
	}
	for (int k = 0; k < node->n_value; k++) {
		check_value(c, node->value[k]);
		if (!c->errors && !is_uniform(c, node->value[k], false))
			fault(c, "a copy that is not the same for all threads");
	}
	if (c->errors)
		return;
	check_access(c, node->buffer, n_to, node->value + 1, 1);
	check_access(c, node->source, n_from, node->value + 1 + n_to, 1);
	if (c->errors)
		return;
	if (!c->uniform)
		fault(c, "a copy under a condition that is not uniform");
	if (node->buffer->role != HEDDLE_BUFFER_SHARED || !is_global(node->source->role) || node->source->role == HEDDLE_BUFFER_SCALAR)
		fault(c, "a copy that does not go from global to shared memory");
	else if (node->buffer->width != 1 || node->buffer->type != node->source->type)
		fault(c, "a copy from %s to %s of another type", node->source->name, node->buffer->name);
}

static void check_waits(checker *c, const heddle_node *node, const heddle_node *body)
{
	if (node->kind == HEDDLE_NODE_COPY && node->name && heddle_node_under_way(body, node->name)) {
		c->node = node;
		fault(c, "the copies %s are not waited for in the block that starts them", node->name);
	}
	for (int k = 0; k < node->n_child && !c->errors; k++)
		check_waits(c, node->child[k], body);
}

static void check_declare(checker *c, const heddle_node *node)
{
	const heddle_buffer *buffer = node->buffer;
	if (!buffer || buffer->position < 0 || buffer->position >= c->p->n_buffer ||
	    c->p->buffer[buffer->position] != buffer)
		fault(c, "a declaration of a buffer that is not of this program");
	else if (buffer->role != HEDDLE_BUFFER_REGISTER)
		fault(c, "%s is declared in the tree and is no register buffer", buffer->name);
	else if (c->visible[buffer->position])
		fault(c, "%s is already declared here", buffer->name);
	else
		c->visible[buffer->position] = true;
}

static void check_node(checker *c, const heddle_node *node)
{
	if (!node) {
		fault(c, "a node is missing");
		return;
	}
	c->node = node;
	switch (node->kind) {
	case HEDDLE_NODE_BLOCK: check_block(c, node); break;
	case HEDDLE_NODE_FOR: check_for(c, node); break;
	case HEDDLE_NODE_IF: check_if(c, node); break;
	case HEDDLE_NODE_LET:
		if (node->n_value != 1) {
			fault(c, "a let with %d values", node->n_value);
			break;
		}
		check_value(c, node->value[0]);
		if (!c->errors)
			push_variable(c, node->name, node->value[0]->type, node->value[0]->width,
				      is_uniform(c, node->value[0], false), is_uniform(c, node->value[0], true));
		break;
	case HEDDLE_NODE_DECLARE: check_declare(c, node); break;
	case HEDDLE_NODE_STORE: check_store(c, node); break;
	case HEDDLE_NODE_BARRIER:
		if (!c->uniform)
			fault(c, "a barrier under a condition that is not uniform");
		break;
	case HEDDLE_NODE_COPY: check_copy(c, node); break;
	case HEDDLE_NODE_WAIT:
		if (!c->uniform)
			fault(c, "a wait under a condition that is not uniform");
		break;
	case HEDDLE_NODE_COMMENT:
		if (!node->name)
			fault(c, "a comment without text");
		break;
	default: fault(c, "a node of kind %d", (int)node->kind);
	}
}

/* ---- the head --------------------------------------------------------------------------------------------------------------- */

static void check_sizes(checker *c)
{
	for (int k = 0; k < c->p->n_size; k++) {
		const heddle_program_size *size = &c->p->size[k];
		check_user_name(c, size->name);
		if (size->min > size->max || size->min < 0 || size->divisor < 1)
			fault(c, "the size %s has range %lld..%lld and divisor %lld", size->name, (long long)size->min,
			      (long long)size->max, (long long)size->divisor);
		for (int j = 0; j < k; j++)
			if (!strcmp(c->p->size[j].name, size->name))
				fault(c, "there are two sizes %s", size->name);
	}
}

static void check_extents(checker *c, const heddle_buffer *buffer)
{
	for (int k = 0; k < buffer->rank; k++) {
		check_over_sizes(c, buffer->extent[k], HEDDLE_INT64, "an extent");
		if (buffer->stride)
			check_over_sizes(c, buffer->stride[k], HEDDLE_INT64, "a stride");
		if (c->errors)
			return;
		if (is_global(buffer->role))
			continue;
		if (buffer->extent[k]->kind != HEDDLE_VALUE_INT || buffer->extent[k]->i < 1)
			fault(c, "an extent is not a positive constant");
	}
}

static void check_buffer(checker *c, const heddle_buffer *buffer, int position)
{
	bool global = is_global(buffer->role);
	check_user_name(c, buffer->name);
	for (int k = 0; k < position; k++)
		if (!strcmp(c->p->buffer[k]->name, buffer->name))
			fault(c, "there are two of this name");
	if (buffer->position != position)
		fault(c, "it stands at position %d and says %d", position, buffer->position);
	if (!is_width(buffer->width) || (global && buffer->width != 1))
		fault(c, "it has elements of width %d", buffer->width);
	if (buffer->rank < 0 || (buffer->role == HEDDLE_BUFFER_SCALAR && buffer->rank))
		fault(c, "it has rank %d", buffer->rank);
	if (buffer->pad < 0 || (buffer->pad && (buffer->role != HEDDLE_BUFFER_SHARED || !buffer->rank)))
		fault(c, "it is padded by %d", buffer->pad);
	if (buffer->stride && (!global || buffer->role == HEDDLE_BUFFER_TEMPORARY))
		fault(c, "only what the caller passes has strides");
	if (buffer->align < 1 || (buffer->align & (buffer->align - 1)) || buffer->align < heddle_type_size(buffer->type))
		fault(c, "it is aligned to %d", buffer->align);
	if ((buffer->role == HEDDLE_BUFFER_TEMPORARY) != (buffer->offset != NULL))
		fault(c, "a temporary, and nothing else, has an offset in the workspace");
	if (buffer->offset)
		check_over_sizes(c, buffer->offset, HEDDLE_INT64, "the offset");
	check_extents(c, buffer);
}

static void check_launch(checker *c, const heddle_launch *launch, int position)
{
	const heddle_program *p = c->p;

	c->launch = launch;
	check_user_name(c, launch->name);
	for (int k = 0; k < position; k++)
		if (!strcmp(p->launch[k]->name, launch->name))
			fault(c, "there are two of this name");
	check_over_sizes(c, launch->grid, HEDDLE_INT64, "the grid");
	if (launch->threads < 1 || launch->min_blocks < 0)
		fault(c, "%d threads, %d resident blocks", launch->threads, launch->min_blocks);
	for (int k = 0; k < p->n_buffer; k++)
		c->visible[k] = p->buffer[k]->role == HEDDLE_BUFFER_SCALAR;
	for (int k = 0; k < launch->n_buffer; k++) {
		if (!is_global(launch->buffer[k]->role))
			fault(c, "%s cannot be an argument", launch->buffer[k]->name);
		if (k && launch->buffer[k]->position <= launch->buffer[k - 1]->position)
			fault(c, "the arguments are not in program order");
		c->visible[launch->buffer[k]->position] = true;
	}
	for (int k = 0; k < launch->n_shared; k++) {
		if (launch->shared[k]->role != HEDDLE_BUFFER_SHARED)
			fault(c, "%s is not a shared buffer", launch->shared[k]->name);
		c->visible[launch->shared[k]->position] = true;
	}
	for (int k = 0; k < launch->n_streamed; k++)
		if (!is_global(launch->streamed[k]->role) || !c->visible[launch->streamed[k]->position])
			fault(c, "%s is not an argument", launch->streamed[k]->name);
	c->uniform = c->warp_uniform = true;
	c->n_variable = 0;
	if (!launch->body || launch->body->kind != HEDDLE_NODE_BLOCK)
		fault(c, "the body is not a block");
	else
		check_node(c, launch->body);
	if (!c->errors)
		check_waits(c, launch->body, launch->body);
	c->node = NULL;
	c->launch = NULL;
}

int heddle_program_validate(heddle_ctx *ctx, const heddle_program *p)
{
	checker c = {.ctx = ctx, .p = p};

	c.visible = heddle_xalloc(sizeof(bool) * (size_t)(p->n_buffer + 1));
	check_user_name(&c, p->name);
	if (p->warp < 1)
		fault(&c, "warps of %d threads", p->warp);
	check_sizes(&c);
	for (int k = 0; k < p->n_buffer && !c.errors; k++) {
		c.buffer = p->buffer[k];
		check_buffer(&c, p->buffer[k], k);
	}
	c.buffer = NULL;
	if (!c.errors)
		check_over_sizes(&c, p->workspace, HEDDLE_INT64, "the workspace");
	for (int k = 0; k < p->n_precondition && !c.errors; k++)
		check_over_sizes(&c, p->precondition[k], HEDDLE_BOOL, "a precondition");
	for (int k = 0; k < p->n_launch && !c.errors; k++)
		check_launch(&c, p->launch[k], k);
	free(c.variable);
	free(c.visible);
	return c.errors ? -1 : 0;
}
