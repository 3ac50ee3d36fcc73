/* Names and types: the syntax tree of a definition to typed statements.
 *
 * Two types are kept of every expression: that of the notation (TC's rules: it decides the type of outputs) and that of the
 * arithmetic, where 16-bit floats become float32 and narrow integers int32.
 * SPDX-License-Identifier: MIT
 */
#include "frontend/check.h"

#include <stdarg.h>
#include <string.h>

void *heddle_check_fail(checker *c, int code, const heddle_location *where, const char *format, ...)
{
	va_list args;
	heddle_text text = {0};
	va_start(args, format);
	heddle_text_vprintf(&text, format, args);
	va_end(args);
	heddle_error(c->ctx, code, where, "%s", heddle_text_str(&text));
	heddle_text_free(&text);
	c->errors++;
	for (const checker *in = c; in->caller; in = in->caller)
		heddle_note(c->ctx, in->call, "`%s` is called here", in->syntax->name);
	return NULL;
}

/* Was it said when the text was checked under other sizes? */
static bool warned(const heddle_ctx *ctx, int code, const heddle_location *where)
{
	for (const heddle_diagnostic *d = heddle_diagnostics(ctx); d; d = d->next) {
		const heddle_source *source = d->location.source;
		if (d->severity == HEDDLE_WARNING && d->code == code && d->location.line == where->line && d->location.column == where->column &&
		    source && source != where->source && !strcmp(source->name, where->source->name) && !strcmp(source->text, where->source->text))
			return true;
	}
	return false;
}

bool heddle_check_warn(checker *c, int code, const heddle_location *where, const char *format, ...)
{
	va_list args;
	heddle_text text = {0};
	if (c->caller || warned(c->ctx, code, where))
		return false;
	va_start(args, format);
	heddle_text_vprintf(&text, format, args);
	va_end(args);
	heddle_warning(c->ctx, code, where, "%s", heddle_text_str(&text));
	heddle_text_free(&text);
	return true;
}

/* ---- types ---------------------------------------------------------------------------------------------------------------- */

/* An expression with its type in the notation.  A weak type (a floating literal's) gives way to any other float. */
typedef struct value {
	heddle_expr *e; /* NULL: an error was reported */
	heddle_type type;
	bool weak;
} value;

static const value nothing = {0};

static heddle_type match(const value *a, const value *b)
{
	if (a->weak && !b->weak && heddle_type_is_float(b->type))
		return b->type;
	if (b->weak && !a->weak && heddle_type_is_float(a->type))
		return a->type;
	return heddle_type_match(a->type, b->type);
}

static heddle_expr *convert(checker *c, heddle_expr *e, heddle_type type)
{
	return heddle_expr_convert(c->arena, heddle_check_widen(c->arena, e, type), type);
}

/* ---- names ---------------------------------------------------------------------------------------------------------------- */

tensor_state *heddle_check_tensor(const checker *c, const char *name)
{
	for (int i = 0; i < c->n_state; i++)
		if (!strcmp(c->state[i].tensor->name, name))
			return &c->state[i];
	return NULL;
}

heddle_size *heddle_check_size(const checker *c, const char *name)
{
	for (int i = 0; i < c->def->n_size; i++)
		if (!strcmp(c->def->size[i]->name, name))
			return c->def->size[i];
	return NULL;
}

static scope_index *find_index(scope *s, const char *name)
{
	for (int i = 0; i < s->n_index; i++)
		if (!strcmp(s->index[i].index->name, name))
			return &s->index[i];
	return NULL;
}

static scope_let *find_let(scope *s, const char *name)
{
	for (int i = 0; i < s->n_let; i++)
		if (!strcmp(s->let[i].name, name))
			return &s->let[i];
	return NULL;
}

static const syntax_clause *find_range(const scope *s, const char *name)
{
	for (int i = 0; i < s->syntax->n_clause; i++)
		if (s->syntax->clause[i].kind == CLAUSE_RANGE && !strcmp(s->syntax->clause[i].name, name))
			return &s->syntax->clause[i];
	return NULL;
}

const char *heddle_check_nearest(const scope *s, const char *name)
{
	const checker *c = s->c;
	const char **names = NULL;
	int n = 0;
	for (int i = 0; i < c->n_state; i++)
		if (!c->state[i].hidden)
			HEDDLE_PUSH(c->scratch, names, n, c->state[i].tensor->name);
	for (int i = 0; i < c->def->n_size; i++)
		HEDDLE_PUSH(c->scratch, names, n, c->def->size[i]->name);
	for (int i = 0; i < s->n_index; i++)
		if (strcmp(s->index[i].index->name, name))
			HEDDLE_PUSH(c->scratch, names, n, s->index[i].index->name);
	for (int i = 0; i < s->n_let; i++)
		HEDDLE_PUSH(c->scratch, names, n, s->let[i].name);
	if (strlen(name) > 2)
		for (int i = 0; heddle_builtins[i].name; i++)
			HEDDLE_PUSH(c->scratch, names, n, heddle_builtins[i].name);
	/* One letter is one edit away from every other: no suggestion. */
	return strlen(name) < 2 || !n ? NULL : heddle_nearest(name, names, n);
}

static scope_index *add_index(scope *s, const char *name, const heddle_location *where)
{
	heddle_index *index = HEDDLE_NEW(s->c->arena, heddle_index);
	index->name = heddle_arena_strdup(s->c->arena, name);
	index->position = s->n_index;
	index->location = *where;
	scope_index new = {.index = index, .lhs = s->in_lhs, .range = find_range(s, name)};
	HEDDLE_PUSH(s->c->scratch, s->index, s->n_index, new);
	return &s->index[s->n_index - 1];
}

/* May `name` be an index here?  It must not be the name of something already in sight. */
static bool index_allowed(scope *s, const char *name, const heddle_location *where)
{
	checker *c = s->c;
	tensor_state *t = heddle_check_tensor(c, name);
	const char *what = heddle_check_size(c, name) ? "a size" : t && t->defined ? "a tensor" : NULL;
	if (find_let(s, name))
		what = "a `where` definition";
	if (heddle_builtin_find(name) >= 0) {
		fail(c, 117, where, "`%s` is a built-in function and cannot be an index", name);
		return false;
	}
	if (what) {
		fail(c, 107, where, "`%s` is %s and cannot also be an index", name, what);
		return false;
	}
	return true;
}

static value index_value(scope *s, const scope_index *x, const heddle_location *where)
{
	heddle_expr *e = heddle_expr_make(s->c->arena, HEDDLE_EXPR_INDEX, HEDDLE_INT32, 0);
	e->index = x->index;
	e->location = *where;
	return (value){e, HEDDLE_INT32, false};
}

static value check_expr(scope *s, const syntax_expr *e);

static value let_value(scope *s, scope_let *let, const syntax_expr *e)
{
	if (let->busy) {
		fail(s->c, 123, &e->location, "`%s` is defined by itself", e->name);
		return nothing;
	}
	let->busy = true;
	let->used = true;
	value v = check_expr(s, let->clause->a);
	let->busy = false;
	return v;
}

static bool need_integer(scope *s, const value *v, const char *what)
{
	if (!v->e)
		return false;
	if (!heddle_type_is_float(v->type))
		return true;
	fail(s->c, 114, &v->e->location, "%s must be an integer but is %s", what, heddle_type_name(v->type));
	heddle_note(s->c->ctx, NULL, "a cast such as `int32(..)` truncates");
	return false;
}

static value read_tensor(scope *s, tensor_state *t, const syntax_expr *e)
{
	checker *c = s->c;
	if (t->bad)
		return nothing;
	if (s->in_bound || s->in_lhs) {
		fail(c, 118, &e->location, "tensor `%s` cannot be read %s", e->name,
		     s->in_bound ? "in the bounds of an index" : "on the left-hand side");
		heddle_note(c->ctx, NULL,
			    s->in_bound ? "bounds may use constants, sizes and other indices; declare `size %s` to pass "
					  "an integer as a size"
					: "what is written where must not depend on data",
			    e->name);
		return nothing;
	}
	bool self = t == s->target;
	if (!t->defined && !self) {
		fail(c, 102, &e->location, "`%s` is read before it is written", e->name);
		heddle_note(c->ctx, NULL, "statements run in the order in which they stand");
		return nothing;
	}
	if (e->n_arg != t->rank) {
		if (!e->has_arg)
			fail(c, 113, &e->location, "`%s` has %d dimensions and needs subscripts", e->name, t->rank);
		else
			fail(c, 113, &e->location, "`%s` has %d dimensions but is read with %d subscripts", e->name, t->rank,
			     e->n_arg);
		if (t->tensor->location.line)
			heddle_note(c->ctx, &t->tensor->location, "it is declared here");
		return nothing;
	}
	heddle_expr *read = heddle_expr_make(c->arena, HEDDLE_EXPR_READ, t->tensor->type, e->n_arg);
	read->tensor = t->tensor;
	read->location = e->location;
	bool fine = true;
	for (int i = 0; i < e->n_arg; i++) {
		value v = check_expr(s, e->arg[i]);
		fine &= need_integer(s, &v, "a subscript");
		read->arg[i] = v.e;
	}
	if (self && !t->defined)
		s->self_read = true;
	if (self && s->self_untyped)
		read->type = HEDDLE_BOOL;
	return fine ? (value){read, read->type, false} : nothing;
}

static value unknown_name(scope *s, const syntax_expr *e, const char *kind)
{
	if (e->has_arg && heddle_check_definition_named(s->c, e->name)) {
		fail(s->c, 131, &e->location, "definition `%s` is called inside of a statement", e->name);
		heddle_note(s->c->ctx, NULL, "its results are whole tensors: `t = %s(..)`, and then read t", e->name);
		return nothing;
	}
	fail(s->c, 101, &e->location, "`%s` is not %s", e->name, kind);
	const char *hint = e->has_arg ? heddle_hint_call(e->name) : NULL, *nearest = heddle_check_nearest(s, e->name);
	const char *const names[] = {nearest, heddle_hint_type(e->name)};
	if (e->has_arg && names[1] && (!nearest || heddle_nearest(e->name, names, 2) == names[1]))
		nearest = names[1];
	if (hint)
		heddle_note(s->c->ctx, NULL, "%s", hint);
	else if (nearest)
		heddle_note(s->c->ctx, NULL, "did you mean `%s`?", nearest);
	return nothing;
}

/* random_bits(seed, counter): both wrap to uint64. */
static value call_integers(scope *s, int builtin, const syntax_expr *e)
{
	checker *c = s->c;
	heddle_expr *call = heddle_expr_make(c->arena, HEDDLE_EXPR_CALL, HEDDLE_UINT32, e->n_arg);
	bool fine = true;
	call->builtin = builtin;
	call->location = e->location;
	for (int i = 0; i < e->n_arg; i++) {
		value v = check_expr(s, e->arg[i]);
		bool integer = need_integer(s, &v, i ? "a counter" : "a seed");
		fine = fine && integer;
		call->arg[i] = integer ? convert(c, v.e, HEDDLE_UINT64) : NULL;
	}
	return fine ? (value){call, HEDDLE_UINT32, false} : nothing;
}

/* random(seed, counter): the upper 24 bits as a float32 in [0, 1). */
static value call_random(scope *s, const syntax_expr *e)
{
	checker *c = s->c;
	if (e->n_arg != 2) {
		fail(c, 112, &e->location, "`random` takes 2 arguments but got %d", e->n_arg);
		return nothing;
	}
	value bits = call_integers(s, heddle_builtin_find("random_bits"), e);
	if (!bits.e)
		return nothing;
	heddle_expr *eight = heddle_expr_make(c->arena, HEDDLE_EXPR_INT, HEDDLE_UINT32, 0);
	heddle_expr *upper = heddle_expr_make(c->arena, HEDDLE_EXPR_BINARY, HEDDLE_UINT32, 2);
	heddle_expr *scale = heddle_expr_make(c->arena, HEDDLE_EXPR_FLOAT, HEDDLE_FLOAT32, 0);
	heddle_expr *product = heddle_expr_make(c->arena, HEDDLE_EXPR_BINARY, HEDDLE_FLOAT32, 2);
	eight->i = 8;
	upper->op = HEDDLE_OP_SHR;
	upper->arg[0] = bits.e;
	upper->arg[1] = eight;
	scale->f = 0x1p-24;
	product->op = HEDDLE_OP_MUL;
	product->arg[0] = heddle_expr_make(c->arena, HEDDLE_EXPR_CAST, HEDDLE_FLOAT32, 1);
	product->arg[0]->arg[0] = upper;
	product->arg[1] = scale;
	upper->location = product->location = product->arg[0]->location = scale->location = e->location;
	return (value){product, HEDDLE_FLOAT32, false};
}

static value call_builtin(scope *s, int builtin, const syntax_expr *e)
{
	checker *c = s->c;
	int arity = heddle_builtins[builtin].arity;
	if (!e->has_arg || e->n_arg != arity) {
		fail(c, 112, &e->location, "`%s` takes %d argument%s but got %d", e->name, arity, arity == 1 ? "" : "s",
		     e->n_arg);
		return nothing;
	}
	if (heddle_builtins[builtin].integer)
		return call_integers(s, builtin, e);
	heddle_expr *call = heddle_expr_make(c->arena, HEDDLE_EXPR_CALL, HEDDLE_FLOAT32, arity);
	value result = {call, HEDDLE_FLOAT32, false};
	bool fine = true;
	for (int i = 0; i < arity; i++) {
		value v = check_expr(s, e->arg[i]);
		fine &= v.e != NULL;
		call->arg[i] = v.e;
		if (v.e && !v.weak)
			result.type = heddle_type_match(result.type, v.type);
	}
	if (!fine)
		return nothing;
	for (int i = 0; i < arity; i++)
		call->arg[i] = convert(c, call->arg[i], result.type);
	call->builtin = builtin;
	call->type = result.type;
	call->location = e->location;
	return result;
}

static value size_value(scope *s, heddle_size *size, const heddle_location *where)
{
	heddle_expr *e = heddle_expr_make(s->c->arena, HEDDLE_EXPR_SIZE, HEDDLE_INT32, 0);
	e->size = size;
	e->location = *where;
	return (value){e, HEDDLE_INT32, false};
}

/* Indices first, then `where` definitions, sizes, tensors and functions; any other bare name becomes an index. */
static value check_name(scope *s, const syntax_expr *e)
{
	checker *c = s->c;
	scope_index *x = find_index(s, e->name);
	scope_let *let = find_let(s, e->name);
	heddle_size *size = heddle_check_size(c, e->name);
	tensor_state *t = heddle_check_tensor(c, e->name);
	int builtin = heddle_builtin_find(e->name);
	if (t && e->has_arg && (!x || t->defined))
		return read_tensor(s, t, e);
	if ((x || let || size || find_range(s, e->name)) && e->has_arg) {
		fail(c, 124, &e->location, "`%s` is %s, not a tensor or a function", e->name,
		     size ? "a size" : let ? "a `where` definition" : "an index");
		return nothing;
	}
	if (x)
		return index_value(s, x, &e->location);
	if (find_range(s, e->name))
		return index_allowed(s, e->name, &e->location) ? index_value(s, add_index(s, e->name, &e->location), &e->location)
							       : nothing;
	if (let)
		return let_value(s, let, e);
	if (size)
		return size_value(s, size, &e->location);
	if (t && (t->defined || t->rank == 0))
		return read_tensor(s, t, e);
	if (builtin >= 0)
		return call_builtin(s, builtin, e);
	if (e->has_arg && !strcmp(e->name, "random") && !heddle_check_definition_named(c, "random"))
		return call_random(s, e);
	if (e->has_arg)
		return unknown_name(s, e, "a tensor or a function");
	return index_value(s, add_index(s, e->name, &e->location), &e->location);
}

/* ---- expressions ------------------------------------------------------------------------------------------------------------ */

static value check_number(scope *s, const syntax_expr *e)
{
	heddle_expr *n = heddle_expr_make(s->c->arena, e->is_float ? HEDDLE_EXPR_FLOAT : HEDDLE_EXPR_INT, HEDDLE_INT32, 0);
	n->type = e->is_float ? HEDDLE_FLOAT32 : heddle_literal_fits(e->i, HEDDLE_INT32) ? HEDDLE_INT32 : HEDDLE_INT64;
	n->f = e->is_float ? e->f : 0;
	n->i = e->i;
	n->location = e->location;
	return (value){n, n->type, e->is_float};
}

static bool need_bool(scope *s, const value *v, const char *what)
{
	if (!v->e)
		return false;
	if (v->type == HEDDLE_BOOL)
		return true;
	fail(s->c, 115, &v->e->location, "%s must be a condition but is %s", what, heddle_type_name(v->type));
	heddle_note(s->c->ctx, NULL, "compare it: `.. != 0`");
	return false;
}

static value check_unary(scope *s, const syntax_expr *e)
{
	value a = check_expr(s, e->arg[0]);
	if (!a.e || (e->op == HEDDLE_OP_NOT && !need_bool(s, &a, "the operand of `!`")))
		return nothing;
	heddle_type type = e->op == HEDDLE_OP_NOT ? HEDDLE_BOOL : heddle_type_arithmetic(a.type);
	heddle_expr *r = heddle_expr_make(s->c->arena, HEDDLE_EXPR_UNARY, type, 1);
	r->op = e->op;
	r->arg[0] = convert(s->c, a.e, type);
	r->location = e->location;
	return (value){r, a.type, a.weak};
}

static bool is_comparison(heddle_op op)
{
	return op >= HEDDLE_OP_LT && op <= HEDDLE_OP_NE;
}

static bool is_bitwise(heddle_op op)
{
	return op >= HEDDLE_OP_BITAND && op <= HEDDLE_OP_SHR;
}

bool heddle_expr_is_zero(const heddle_expr *e)
{
	return e->kind == HEDDLE_EXPR_INT ? e->i == 0
					  : e->kind == HEDDLE_EXPR_SIZE && e->size->min == 0 && e->size->max == 0;
}

static value check_binary(scope *s, const syntax_expr *e)
{
	checker *c = s->c;
	value a = check_expr(s, e->arg[0]), b = check_expr(s, e->arg[1]);
	if (!a.e || !b.e)
		return nothing;
	heddle_expr *r = heddle_expr_make(c->arena, HEDDLE_EXPR_BINARY, HEDDLE_BOOL, 2);
	r->op = e->op;
	r->location = e->location;
	value result = {r, match(&a, &b), a.weak && b.weak};
	heddle_type left = heddle_type_arithmetic(result.type), right = left;
	if (e->op == HEDDLE_OP_AND || e->op == HEDDLE_OP_OR) {
		bool fine = need_bool(s, &a, "the left operand") && need_bool(s, &b, "the right operand");
		if (!fine)
			return nothing;
		left = right = HEDDLE_BOOL;
		r->type = HEDDLE_BOOL;
	} else if (is_comparison(e->op)) {
		result.type = HEDDLE_BOOL;
		result.weak = false;
		r->type = HEDDLE_BOOL;
	} else if (is_bitwise(e->op)) {
		if (heddle_type_is_float(a.type) || heddle_type_is_float(b.type)) {
			fail(c, 120, &e->location, "operator `%s` needs integers but got %s and %s", heddle_op_symbol(e->op),
			     heddle_type_name(a.type), heddle_type_name(b.type));
			if (e->op == HEDDLE_OP_BITXOR)
				heddle_note(c->ctx, NULL, "a power is `x * x`, or `pow(x, y)`");
			return nothing;
		}
		if (e->op == HEDDLE_OP_SHL || e->op == HEDDLE_OP_SHR) {
			result.type = a.type;
			left = right = heddle_type_arithmetic(a.type);
		}
		r->type = left;
	} else {
		if ((e->op == HEDDLE_OP_DIV || e->op == HEDDLE_OP_MOD) && !heddle_type_is_float(result.type) &&
		    heddle_expr_is_zero(b.e)) {
			fail(c, 125, &e->location, "division by zero");
			return nothing;
		}
		r->type = left;
	}
	r->arg[0] = convert(c, a.e, left);
	r->arg[1] = convert(c, b.e, right);
	return result;
}

static value check_select(scope *s, const syntax_expr *e)
{
	value condition = check_expr(s, e->arg[0]), a = check_expr(s, e->arg[1]), b = check_expr(s, e->arg[2]);
	if (!need_bool(s, &condition, "what stands before `?`") || !a.e || !b.e)
		return nothing;
	value result = {NULL, match(&a, &b), a.weak && b.weak};
	/* Two values that are stored in the matched type stay in it, so that a choice between copies is a copy. */
	bool stored = a.e->type == result.type && b.e->type == result.type;
	heddle_type type = stored ? result.type : heddle_type_arithmetic(result.type);
	result.e = heddle_expr_make(s->c->arena, HEDDLE_EXPR_SELECT, type, 3);
	result.e->arg[0] = condition.e;
	result.e->arg[1] = convert(s->c, a.e, type);
	result.e->arg[2] = convert(s->c, b.e, type);
	result.e->location = e->location;
	return result;
}

static value check_cast(scope *s, const syntax_expr *e)
{
	checker *c = s->c;
	value a = check_expr(s, e->arg[0]);
	if (!a.e)
		return nothing;
	a.e = heddle_check_widen(c->arena, a.e, e->type);
	heddle_expr *r = convert(c, a.e, e->type);
	bool rounds = e->type == HEDDLE_FLOAT16 || e->type == HEDDLE_BFLOAT16 || !heddle_type_is_float(e->type);
	/* Calculated in this type, but one of another: later matches see the difference.  And a literal that is converted would
	 * follow the type of what it meets. */
	if ((r == a.e && a.type != e->type) || (r != a.e && r->kind != HEDDLE_EXPR_CAST && rounds)) {
		r = heddle_expr_make(c->arena, HEDDLE_EXPR_CAST, e->type, 1);
		r->arg[0] = a.e;
		r->location = e->location;
	}
	if (r->kind == HEDDLE_EXPR_CAST)
		r->implicit = false;
	if (r->kind == HEDDLE_EXPR_FLOAT && e->type == HEDDLE_FLOAT32 && r->f != (double)(float)r->f) {
		heddle_expr *rounded = heddle_expr_make(c->arena, HEDDLE_EXPR_FLOAT, e->type, 0);
		rounded->f = (double)(float)r->f;
		rounded->location = r->location;
		r = rounded;
	}
	return (value){r, e->type, false};
}

static value check_expr(scope *s, const syntax_expr *e)
{
	if (++s->n_node >= 4 * MAX_NODES) {
		if (s->n_node == 4 * MAX_NODES)
			fail(s->c, 12, &e->location, "the statement has more than %d operands and operators", 4 * MAX_NODES);
		return nothing;
	}
	switch (e->kind) {
	case SYNTAX_NUMBER:
		return check_number(s, e);
	case SYNTAX_NAME:
		return check_name(s, e);
	case SYNTAX_UNARY:
		return check_unary(s, e);
	case SYNTAX_BINARY:
		return check_binary(s, e);
	case SYNTAX_SELECT:
		return check_select(s, e);
	case SYNTAX_CAST:
		return check_cast(s, e);
	}
	return nothing;
}

/* ---- statements -------------------------------------------------------------------------------------------------------------- */

static int collect_clauses(scope *s)
{
	int errors = 0;
	for (int i = 0; i < s->syntax->n_clause; i++) {
		const syntax_clause *c = &s->syntax->clause[i];
		if (c->kind == CLAUSE_EXISTS)
			continue;
		for (int j = 0; j < i; j++) {
			const syntax_clause *d = &s->syntax->clause[j];
			const bool ranges = d->kind == CLAUSE_RANGE && c->kind == CLAUSE_RANGE; /* of which both hold */
			if (d->kind != CLAUSE_EXISTS && !ranges && !strcmp(d->name, c->name)) {
				fail(s->c, 104, &c->location, "`%s` has two `where` clauses", c->name);
				errors++;
			}
		}
		if (c->kind != CLAUSE_LET)
			continue;
		tensor_state *t = heddle_check_tensor(s->c, c->name);
		if (heddle_check_size(s->c, c->name) || (t && t->defined)) {
			fail(s->c, 104, &c->location, "`%s` is already defined", c->name);
			errors++;
		} else if (heddle_builtin_find(c->name) >= 0) {
			fail(s->c, 117, &c->location, "`%s` is a built-in function and cannot be redefined", c->name);
			errors++;
		}
		scope_let let = {.name = c->name, .clause = c};
		HEDDLE_PUSH(s->c->scratch, s->let, s->n_let, let);
	}
	return errors ? -1 : 0;
}

static int check_lhs(scope *s)
{
	heddle_statement *st = s->statement;
	int errors = 0;
	st->n_lhs = s->syntax->n_lhs;
	st->lhs = HEDDLE_NEW_ARRAY(s->c->arena, heddle_expr *, st->n_lhs + 1);
	s->in_lhs = true;
	for (int i = 0; i < st->n_lhs; i++) {
		const syntax_expr *e = s->syntax->lhs[i];
		value v = nothing;
		if (e->kind == SYNTAX_NAME && !e->has_arg) {
			scope_index *x = find_index(s, e->name);
			if (x || index_allowed(s, e->name, &e->location))
				v = index_value(s, x ? x : add_index(s, e->name, &e->location), &e->location);
		} else {
			v = check_expr(s, e);
			if (!need_integer(s, &v, "a subscript"))
				v = nothing;
		}
		st->lhs[i] = v.e;
		errors += !v.e;
	}
	s->in_lhs = false;
	return errors ? -1 : 0;
}

/* A further range of an index: the greater of the lower bounds, or the lesser of the upper ones.  `old` is NULL at its first. */
static heddle_expr *intersect(checker *c, heddle_op op, heddle_expr *old, heddle_expr *new)
{
	if (!old)
		return new;
	heddle_expr *r = heddle_expr_make(c->arena, HEDDLE_EXPR_BINARY, heddle_type_match(old->type, new->type), 2);
	r->op = op;
	r->arg[0] = convert(c, old, r->type);
	r->arg[1] = convert(c, new, r->type);
	r->location = new->location;
	return r;
}

static int check_bounds_of_indices(scope *s)
{
	int errors = 0;
	for (int i = 0; i < s->syntax->n_clause; i++) {
		const syntax_clause *c = &s->syntax->clause[i];
		if (c->kind == CLAUSE_EXISTS) {
			value v = check_expr(s, c->a);
			if (v.e)
				HEDDLE_PUSH(s->c->scratch, s->exists, s->n_exists, v.e);
			errors += !v.e;
		}
		if (c->kind != CLAUSE_RANGE)
			continue;
		if (!find_index(s, c->name)) {
			if (!index_allowed(s, c->name, &c->location)) {
				errors++;
				continue;
			}
			add_index(s, c->name, &c->location);
			if (heddle_check_warn(s->c, 212, &c->location, "index `%s` is not used in the statement", c->name))
				heddle_note(s->c->ctx, NULL, "it still counts: a reduction runs once for each of its values");
		}
		s->in_bound = true;
		value lower = check_expr(s, c->a), upper = check_expr(s, c->b);
		s->in_bound = false;
		bool fine = need_integer(s, &lower, "a bound");
		if (!need_integer(s, &upper, "a bound") || !fine) {
			errors++;
			find_index(s, c->name)->reported = true;
			continue;
		}
		scope_index *x = find_index(s, c->name);
		x->index->lower = intersect(s->c, HEDDLE_OP_MAX, x->index->lower, lower.e);
		x->index->upper = intersect(s->c, HEDDLE_OP_MIN, x->index->upper, upper.e);
	}
	return errors ? -1 : 0;
}

static bool narrows(heddle_type to, const value *v)
{
	if (v->weak && heddle_type_is_float(to))
		return false;
	if (v->e->kind == HEDDLE_EXPR_INT && heddle_literal_fits(v->e->i, to))
		return false;
	if (v->e->kind == HEDDLE_EXPR_UNARY && v->e->op == HEDDLE_OP_NEG && v->e->arg[0]->kind == HEDDLE_EXPR_INT &&
	    heddle_literal_fits(-v->e->arg[0]->i, to))
		return false;
	/* Storing what was calculated in float32 is the one rounding that 16-bit floats are meant to have. */
	if (heddle_type_is_float(to) && v->type == HEDDLE_FLOAT32)
		return false;
	return heddle_type_match(to, v->type) != to;
}

static int check_target_type(scope *s, const value *v)
{
	checker *c = s->c;
	tensor_state *t = s->target;
	if (s->syntax->has_type) {
		if (t->typed && t->tensor->type != s->syntax->type) {
			fail(c, 122, &s->syntax->location, "`%s` is declared %s here but was %s before", s->syntax->name,
			     heddle_type_name(s->syntax->type), heddle_type_name(t->tensor->type));
			return -1;
		}
		t->tensor->type = s->syntax->type;
		t->typed = true;
	}
	if (!t->typed) {
		t->tensor->type = v->type;
		t->typed = true;
	}
	if (narrows(t->tensor->type, v)) {
		fail(c, 116, &s->syntax->value->location, "%s value is assigned to `%s`, which is %s, without a cast",
		     heddle_type_name(v->type), s->syntax->name, heddle_type_name(t->tensor->type));
		heddle_note(c->ctx, NULL, "`%s(..)` converts it", heddle_type_name(t->tensor->type));
		return -1;
	}
	const heddle_assign assign = s->statement->assign;
	const bool compares = assign == HEDDLE_ASSIGN_MIN || assign == HEDDLE_ASSIGN_MAX;
	/* extremes are of what the tensor can hold, whether they are kept in it or in a register meanwhile */
	heddle_expr *e = compares && !heddle_type_is_float(t->tensor->type) ? convert(c, v->e, t->tensor->type) : v->e;
	s->statement->value = convert(c, e, assign == HEDDLE_ASSIGN_SET ? t->tensor->type : heddle_type_arithmetic(t->tensor->type));
	heddle_check_wraps(c, s->statement->value);
	return 0;
}

static int check_value(scope *s)
{
	tensor_state *t = s->target;
	int first_index = s->n_index, errors = s->c->errors;
	s->self_untyped = !t->typed && !s->syntax->has_type;
	if (!t->typed && s->syntax->has_type)
		t->tensor->type = s->syntax->type;
	value v = check_expr(s, s->syntax->value);
	if (v.e && s->self_untyped && s->self_read) {
		/* Now that the type is known, once more with it. */
		t->tensor->type = v.type;
		s->self_untyped = false;
		s->n_index = first_index;
		v = check_expr(s, s->syntax->value);
	}
	if (!v.e)
		return s->c->errors > errors ? -1 : -2;
	return check_target_type(s, &v);
}

tensor_state *heddle_check_target(checker *c, const syntax_statement *st)
{
	tensor_state *t = heddle_check_tensor(c, st->name);
	if (!t)
		return NULL; /* reported when the tensors were collected */
	if (t->tensor->role == HEDDLE_ROLE_INPUT) {
		fail(c, 106, &st->location, "`%s` is an input and cannot be written", st->name);
		heddle_note(c->ctx, &t->tensor->location, "it is declared here");
		return NULL;
	}
	if (t->rank >= 0 && t->rank != st->n_lhs) {
		if (!t->bad) {
			fail(c, t->defined ? 113 : 119, &st->location, "`%s` has %d dimensions but is written with %d subscripts",
			     st->name, t->rank, st->n_lhs);
			const heddle_location *where = t->defined ? &t->first_write : &t->tensor->location;
			if (where->line)
				heddle_note(c->ctx, where, "it has %d here", t->rank);
		}
		/* with extents that only a write would have given, there is nothing to check reads against */
		t->bad |= !t->declared;
		return NULL;
	}
	return t;
}

static int check_initialisation(scope *s)
{
	checker *c = s->c;
	tensor_state *t = s->target;
	const syntax_statement *st = s->syntax;
	if (t->defined || st->assign == HEDDLE_ASSIGN_SET || st->initialise)
		return 0;
	static const char *const names[] = {"=", "+=", "*=", "min=", "max="};
	const char *op = names[st->assign];
	if (t->tensor->role == HEDDLE_ROLE_TEMPORARY) {
		fail(c, 111, &st->location, "`%s` accumulates into temporary `%s`, which has no value yet", op, st->name);
		heddle_note(c->ctx, NULL, "`%s!` initialises it first", op);
		return -1;
	}
	if (t->tensor->role == HEDDLE_ROLE_OUTPUT) {
		t->tensor->role = HEDDLE_ROLE_INOUT;
		if (heddle_check_warn(c, 110, &st->location, "`%s` accumulates into what the caller put into `%s`", op, st->name))
			heddle_note(c->ctx, NULL, "`%s!` initialises it first; `inout %s` in the return list says it is meant",
				    op, st->name);
	}
	return 0;
}

/* A statement that reads the very element it writes, before anything wrote it. */
static bool reads_itself(const heddle_statement *st, const heddle_expr *e)
{
	if (e->kind == HEDDLE_EXPR_READ && e->tensor == st->target) {
		bool same = true;
		for (int i = 0; i < e->n_arg; i++)
			same = same && heddle_expr_equal(e->arg[i], st->lhs[i]);
		if (same)
			return true;
	}
	for (int i = 0; i < e->n_arg; i++)
		if (reads_itself(st, e->arg[i]))
			return true;
	return false;
}

/* Reduction indices that nothing gives a range are most likely misspelt names. */
static int check_reductions(scope *s)
{
	int errors = 0;
	if (s->syntax->assign != HEDDLE_ASSIGN_SET || s->statement->initialise)
		return 0;
	for (int i = 0; i < s->n_index; i++) {
		scope_index *x = &s->index[i];
		if (x->lhs || x->reported)
			continue;
		fail(s->c, 108, &x->index->location, "index `%s` is not on the left-hand side, but `=` does not reduce",
		     x->index->name);
		heddle_note(s->c->ctx, NULL, "`+=!`, `*=!`, `min=!` or `max=!` reduces over it");
		errors++;
	}
	return errors ? -1 : 0;
}

int heddle_check_statement_in(scope *s)
{
	checker *c = s->c;
	heddle_statement *st = s->statement;
	tensor_state *t = s->target;
	int lets = collect_clauses(s), lhs = check_lhs(s);
	if (t->rank < 0)
		t->rank = t->tensor->rank = st->n_lhs;
	int checked = check_value(s), bounds = check_bounds_of_indices(s);
	if (lets || lhs || checked || bounds || heddle_check_limits(s))
		return -1;
	if (check_initialisation(s))
		return -1;
	for (int i = 0; i < s->n_let; i++)
		if (!s->let[i].used)
			heddle_check_warn(c, 126, &s->let[i].clause->location, "`%s` is not used", s->let[i].name);
	st->n_index = s->n_index;
	st->index = HEDDLE_NEW_ARRAY(c->arena, heddle_index *, s->n_index + 1);
	for (int i = 0; i < s->n_index; i++) {
		st->index[i] = s->index[i].index;
		st->index[i]->reduction = !s->index[i].lhs;
	}
	if (!t->defined && t->tensor->role != HEDDLE_ROLE_INOUT && reads_itself(st, st->value)) {
		fail(c, 103, &st->location, "`%s` is read at the element that is being written, which has no value yet",
		     s->syntax->name);
		return -1;
	}
	if (heddle_check_ranges(s) || check_reductions(s))
		return -1;
	return 0;
}

static void check_statement(checker *c, const syntax_statement *syntax)
{
	if (syntax->broken) {
		tensor_state *broken = heddle_check_tensor(c, syntax->name);
		if (broken && broken->tensor->role != HEDDLE_ROLE_INPUT)
			broken->bad = broken->defined = true;
		return;
	}
	const syntax_definition *callee = heddle_check_called(c, syntax);
	if (callee) {
		heddle_check_call(c, syntax, callee);
		return;
	}
	if (syntax->n_output) {
		fail(c, 131, &syntax->value->location, "several names on the left take the results of a definition");
		for (int i = 0; i < syntax->n_output; i++) {
			tensor_state *t = heddle_check_tensor(c, syntax->output[i]);
			if (t)
				t->bad |= t->tensor->role != HEDDLE_ROLE_INPUT;
		}
		return;
	}
	if (syntax->arg) {
		heddle_check_arg(c, syntax);
		return;
	}
	tensor_state *t = heddle_check_target(c, syntax);
	if (!t)
		return;
	heddle_statement *st = HEDDLE_NEW(c->arena, heddle_statement);
	st->target = t->tensor;
	st->assign = syntax->assign;
	st->initialise = syntax->initialise;
	st->location = syntax->location;
	st->position = c->def->n_statement;
	scope s = {.c = c, .syntax = syntax, .statement = st, .target = t};
	if (heddle_check_statement_in(&s)) {
		/* What is known of the target may be wrong now; what is said about it would be, too. */
		t->bad = true;
	} else {
		HEDDLE_PUSH(c->arena, c->def->statement, c->def->n_statement, st);
	}
	if (!t->defined)
		t->first_write = syntax->location;
	t->defined = true;
}

/* The statements in order, as long as all together are not too large. */
static void check_statements(checker *c)
{
	const syntax_definition *syntax = c->syntax;
	int done = 0, nodes = 0;
	for (int i = 0; i < syntax->n_statement && nodes <= MAX_ALL_NODES; i++) {
		check_statement(c, &syntax->statement[i]);
		for (; done < c->def->n_statement; done++)
			nodes += heddle_expr_count(c->def->statement[done]->value);
		if (nodes > MAX_ALL_NODES)
			fail(c, 12, &syntax->statement[i].location, "the definition has more than %d operands and operators up to here",
			     MAX_ALL_NODES);
	}
}

heddle_definition *heddle_check_all(checker *c, const heddle_size_list *sizes)
{
	const syntax_definition *syntax = c->syntax;
	c->def = HEDDLE_NEW(c->arena, heddle_definition);
	c->def->name = heddle_arena_strdup(c->arena, syntax->name);
	c->def->location = syntax->location;
	c->def->policy = heddle_ctx_policy(c->ctx) >= 0 ? (heddle_policy)heddle_ctx_policy(c->ctx) : syntax->policy;
	heddle_check_head(c, sizes);
	check_statements(c);
	heddle_check_steps(c);
	heddle_check_shapes(c);
	heddle_check_layouts(c);
	heddle_check_accesses(c);
	heddle_check_digit_tensors(c);
	if (!c->errors)
		heddle_check_normalise(c);
	heddle_check_steps(c);
	heddle_check_windows(c);
	heddle_check_arrange(c);
	return c->errors || syntax->broken ? NULL : c->def;
}

static bool is_called(const file_checker *file, const char *name)
{
	for (int i = 0; i < file->file->n_definition; i++) {
		const syntax_definition *d = &file->file->definition[i];
		for (int j = 0; j < d->n_statement; j++)
			if (d->statement[j].value && d->statement[j].value->kind == SYNTAX_NAME &&
			    d->statement[j].value->has_arg && !strcmp(d->statement[j].value->name, name))
				return true;
	}
	return false;
}

/* Are all errors after the first `n` diagnostics about strides that are not known? */
static bool only_strides(const heddle_ctx *ctx, int n)
{
	for (const heddle_diagnostic *d = heddle_diagnostics(ctx); d; d = d->next)
		if (--n < 0 && d->severity == HEDDLE_ERROR && d->code != 209)
			return false;
	return true;
}

heddle_definition *heddle_check_definition(file_checker *file, int i)
{
	checker c = {.ctx = file->ctx,
		     .arena = file->arena,
		     .scratch = file->scratch,
		     .file = file,
		     .syntax = &file->file->definition[i]};
	bool given = !file->only || !strcmp(file->only, c.syntax->name);
	if (file->status[i] != CHECK_NEW)
		return file->definition[i];
	int before = heddle_diagnostics_count(file->ctx);
	if (file->slow) { /* which was said */
		file->status[i] = CHECK_DONE;
		return NULL;
	}
	file->status[i] = CHECK_BUSY;
	file->definition[i] = heddle_check_all(&c, given ? file->sizes : NULL);
	file->status[i] = CHECK_DONE;
	/* A size that multiplies an index may be a constant in every call. */
	if (!file->definition[i] && !c.syntax->broken && only_strides(file->ctx, before) && is_called(file, c.syntax->name)) {
		heddle_diagnostics_keep(file->ctx, before);
		file->status[i] = CHECK_OPEN;
	}
	return file->definition[i];
}
