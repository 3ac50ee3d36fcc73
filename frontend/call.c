/* One definition calling another: its statements, with the tensors and sizes that are passed, in place of the call.
 *
 * The called definition is checked once more for the sizes of this call, so that what is constant here is constant there; its
 * statements are then copied with tensors, sizes and indices replaced.  Passes see one definition and fuse across.
 * SPDX-License-Identifier: MIT
 */
#include "frontend/check.h"

#include <string.h>

enum { MAX_INLINED = 4096, MAX_CALL_DEPTH = 64, MAX_SIZE_NODES = 200, MAX_SCALAR_NODES = 2 };

/* A size of the callee and its value in the caller. */
typedef struct binding {
	const char *name;
	heddle_expr *value; /* over the caller's sizes, / and % round down; NULL: not known */
	heddle_expr *as_value;
	bool given; /* by an argument of its own, not by an extent */
} binding;

/* A tensor of the callee: a tensor of the caller, or an expression for it. */
typedef struct passed {
	heddle_tensor *tensor;
	heddle_expr *expr;
	bool grows; /* a result whose shape is the call's for the call only: statements after it may write further */
} passed;

typedef struct call {
	checker *c, *outermost;
	int depth; /* of this call below the outermost definition, from 1 */
	const syntax_statement *syntax;
	const syntax_expr *call;
	const syntax_definition *callee;
	heddle_definition *def; /* the callee, for these sizes */
	int n_binding;
	binding *binding;
	passed *passed; /* per parameter of the callee, then per tensor of `def` */
	heddle_index **to;
	int n_map;
	heddle_index **map_from, **map_to;
	bool rounded; /* what is rewritten is a value or a subscript */
} call;

/* A called definition, checked without errors for the sizes of a call: what further calls with the same sizes take. */
typedef struct call_instance {
	const syntax_definition *callee;
	heddle_policy policy; /* of the outermost definition */
	heddle_size_list sizes;
	heddle_definition *def;
	int n_inlined; /* statements that its own calls brought */
	int depth;     /* of its own calls */
} call_instance;

const syntax_definition *heddle_check_definition_named(const checker *c, const char *name)
{
	const syntax_file *file = c->file->file;
	for (int i = 0; i < file->n_definition; i++)
		if (file->definition[i].name && !strcmp(file->definition[i].name, name))
			return &file->definition[i];
	return NULL;
}

const syntax_definition *heddle_check_called(const checker *c, const syntax_statement *syntax)
{
	const syntax_expr *e = syntax->value;
	if (e->kind != SYNTAX_NAME || !e->has_arg || syntax->assign != HEDDLE_ASSIGN_SET || syntax->arg || syntax->n_lhs ||
	    syntax->n_clause || heddle_check_tensor(c, e->name) || heddle_builtin_find(e->name) >= 0)
		return NULL;
	return heddle_check_definition_named(c, e->name);
}

/* ---- sizes --------------------------------------------------------------------------------------------------------------- */

static binding *find(call *k, const char *name)
{
	for (int i = 0; i < k->n_binding; i++)
		if (!strcmp(k->binding[i].name, name))
			return &k->binding[i];
	return NULL;
}

static heddle_expr *whole(checker *c, int64_t i)
{
	heddle_expr *e = heddle_expr_make(c->arena, HEDDLE_EXPR_INT, HEDDLE_INT32, 0);
	e->i = i;
	return e;
}

/* Has `e` more than so many nodes?  Parts that are shared count each time. */
static bool takes_all(const heddle_expr *e, int *left)
{
	if (--*left < 0)
		return true;
	for (int i = 0; i < e->n_arg; i++)
		if (takes_all(e->arg[i], left))
			return true;
	return false;
}

static bool larger(const heddle_expr *e, int limit)
{
	return takes_all(e, &limit);
}

/* Nodes of `e` count as brought by this call; false with an error when the file's calls bring too many. */
static bool bring(call *k, const heddle_expr *e)
{
	int left = MAX_BROUGHT - k->c->file->n_brought;
	bool all = takes_all(e, &left);
	k->c->file->n_brought = MAX_BROUGHT - (all ? 0 : left);
	if (all)
		fail(k->c, 12, &k->call->location, "calls of definitions bring more than %d operands and operators to this file",
		     MAX_BROUGHT);
	return !all;
}

static void bind(call *k, const char *name, heddle_expr *value)
{
	if (larger(value, MAX_SIZE_NODES)) {
		fail(k->c, 12, &k->call->location, "the expression for size `%s` of `%s` has more than %d operands and operators",
		     name, k->callee->name, MAX_SIZE_NODES);
		value = whole(k->c, 0);
	}
	binding new = {name, value, heddle_check_as_value(k->c, value), false};
	HEDDLE_PUSH(k->c->scratch, k->binding, k->n_binding, new);
}

static heddle_expr *binary(checker *c, heddle_op op, heddle_type type, heddle_expr *a, heddle_expr *b)
{
	heddle_expr *e = heddle_expr_make(c->arena, HEDDLE_EXPR_BINARY, type, 2);
	e->op = op;
	e->arg[0] = a;
	e->arg[1] = b;
	e->location = a->location;
	return e;
}

/* An expression over sizes in its shortest form. */
static heddle_expr *short_form(checker *c, heddle_expr *e)
{
	heddle_arena *arena = heddle_arena_new();
	affine_space *space = affine_space_new(arena, c->arena, &c->file->steps);
	affine_row row;
	if (affine_from_expr(space, e, true, &row))
		e = affine_to_expr(space, &row);
	heddle_arena_free(arena);
	return e;
}

/* A declared extent of the callee over the caller's sizes; NULL when a size in it is not known. */
static heddle_expr *in_caller(call *k, const syntax_expr *e)
{
	checker *c = k->c;
	if (e->kind == SYNTAX_NUMBER)
		return whole(c, e->i);
	if (e->kind == SYNTAX_NAME) {
		const binding *b = find(k, e->name);
		return b ? b->value : NULL;
	}
	heddle_expr *r = heddle_expr_make(c->arena, e->kind == SYNTAX_UNARY ? HEDDLE_EXPR_UNARY : HEDDLE_EXPR_BINARY,
					  HEDDLE_INT32, e->n_arg);
	r->op = e->op;
	for (int i = 0; i < e->n_arg; i++)
		if (!(r->arg[i] = in_caller(k, e->arg[i])))
			return NULL;
	return short_form(c, r);
}

/* Find the one unknown size of `e` from e = value: through sums, differences and products. */
static void solve(call *k, const syntax_expr *e, heddle_expr *value)
{
	checker *c = k->c;
	if (e->kind == SYNTAX_NAME && !find(k, e->name))
		bind(k, e->name, short_form(c, value));
	if (e->kind != SYNTAX_BINARY)
		return;
	heddle_expr *left = in_caller(k, e->arg[0]), *right = in_caller(k, e->arg[1]);
	if (!left == !right)
		return;
	const syntax_expr *rest = e->arg[left ? 1 : 0];
	heddle_expr *known = left ? left : right;
	if (e->op == HEDDLE_OP_ADD)
		solve(k, rest, binary(c, HEDDLE_OP_SUB, HEDDLE_INT32, value, known));
	else if (e->op == HEDDLE_OP_SUB && right)
		solve(k, rest, binary(c, HEDDLE_OP_ADD, HEDDLE_INT32, value, known));
	else if (e->op == HEDDLE_OP_SUB)
		solve(k, rest, binary(c, HEDDLE_OP_SUB, HEDDLE_INT32, known, value));
	else if (e->op == HEDDLE_OP_MUL && known->kind == HEDDLE_EXPR_INT && known->i > 0)
		solve(k, rest, binary(c, HEDDLE_OP_DIV, HEDDLE_INT32, value, known));
}

static void add_condition(call *k, heddle_expr *condition);

/* a == b: known, impossible (false), or a precondition. */
static bool agree(call *k, heddle_expr *a, heddle_expr *b)
{
	checker *c = k->c;
	if (heddle_expr_equal(a, b))
		return true;
	heddle_arena *arena = heddle_arena_new();
	affine_space *space = affine_space_new(arena, c->arena, &c->file->steps);
	affine_row x, y, more, less;
	bool possible = true, known = affine_from_expr(space, a, true, &x) && affine_from_expr(space, b, true, &y);
	if (known) {
		more = x;
		less = y;
		known = affine_add(&more, &y, -1) && affine_add(&less, &x, -1);
	}
	bool equal = known && affine_prove(space, &more) && affine_prove(space, &less);
	if (known && !equal) {
		more.k--;
		less.k--;
		possible = !affine_prove(space, &more) && !affine_prove(space, &less);
	}
	heddle_arena_free(arena);
	if (possible && !equal)
		heddle_check_require(c, binary(c, HEDDLE_OP_EQ, HEDDLE_BOOL, a, b));
	return possible;
}

/* Extents that a tensor has at this place; from now on it keeps them. */
static heddle_expr **extents(checker *c, tensor_state *t)
{
	if (t->declared)
		return t->tensor->extent;
	if (!t->upper)
		return NULL;
	t->tensor->extent = HEDDLE_NEW_ARRAY(c->arena, heddle_expr *, t->rank + 1);
	for (int d = 0; d < t->rank; d++)
		t->tensor->extent[d] = t->upper[d];
	t->declared = true;
	return t->tensor->extent;
}

/* ---- arguments ------------------------------------------------------------------------------------------------------------- */

static int wrong(call *k, const heddle_location *where, const char *message)
{
	fail(k->c, 131, where, "%s", message);
	heddle_note(k->c->ctx, &k->callee->location, "`%s` is defined here", k->callee->name);
	return -1;
}

static int wrong_type(call *k, const heddle_location *where, const char *name, const heddle_tensor *t, heddle_type type, int rank)
{
	fail(k->c, 131, where, "`%s` is %s with %d dimension%s, but `%s` of `%s` is %s with %d", t->name, heddle_type_name(t->type),
	     t->rank, t->rank == 1 ? "" : "s", name, k->callee->name, heddle_type_name(type), rank);
	return -1;
}

/* A tensor by its name; NULL with an error, or silently when one was reported about it. */
static tensor_state *tensor_argument(call *k, const syntax_param *p, const syntax_expr *e)
{
	checker *c = k->c;
	if (e->kind != SYNTAX_NAME || e->has_arg) {
		fail(c, 131, &e->location, "`%s` of `%s` is a tensor: it is passed by its name", p->name, k->callee->name);
		heddle_note(c->ctx, NULL, "write the expression to a temporary first");
		return NULL;
	}
	tensor_state *t = heddle_check_tensor(c, e->name);
	if (!t || t->hidden) {
		fail(c, 101, &e->location, "`%s` is not a tensor", e->name);
		return NULL;
	}
	if (t->bad) {
		c->errors++;
		return NULL;
	}
	if (!t->defined) {
		fail(c, 102, &e->location, "`%s` is read before it is written", e->name);
		return NULL;
	}
	if (t->tensor->type != p->type || t->rank != p->n_dim) {
		wrong_type(k, &e->location, p->name, t->tensor, p->type, p->n_dim);
		return NULL;
	}
	return t;
}

static bool simple(const heddle_expr *e)
{
	if (e->kind == HEDDLE_EXPR_READ)
		return e->tensor->role == HEDDLE_ROLE_INPUT && !e->n_arg;
	for (int i = 0; i < e->n_arg; i++)
		if (!simple(e->arg[i]))
			return false;
	return true;
}

/* An input without dimensions: an expression of constants, sizes and inputs without dimensions is put in its place, others are
 * calculated before. */
static int scalar_argument(call *k, const syntax_param *p, const syntax_expr *e, passed *out)
{
	checker *c = k->c;
	char *stem = heddle_arena_printf(c->scratch, "%s_%s", k->callee->name, p->name);
	syntax_statement st = {.name = heddle_check_fresh(c, stem),
			       .has_type = true,
			       .type = p->type,
			       .value = (syntax_expr *)(uintptr_t)e,
			       .location = e->location};
	heddle_statement *made = HEDDLE_NEW(c->arena, heddle_statement);
	tensor_state *t = heddle_check_add_tensor(c, st.name, HEDDLE_ROLE_TEMPORARY, &e->location);
	t->hidden = true;
	made->target = t->tensor;
	made->location = e->location;
	made->position = c->def->n_statement;
	scope s = {.c = c, .syntax = &st, .statement = made, .target = t};
	if (heddle_check_statement_in(&s)) {
		t->bad = true;
		return -1;
	}
	t->defined = true;
	t->first_write = e->location;
	out->tensor = t->tensor;
	if (simple(made->value) && !larger(made->value, MAX_SCALAR_NODES)) {
		out->expr = made->value;
		c->def->n_tensor--; /* not needed: it is the last */
		c->n_state--;
		return 0;
	}
	HEDDLE_PUSH(c->arena, c->def->statement, c->def->n_statement, made);
	return 0;
}

static int size_argument(call *k, const syntax_param *p, const syntax_expr *e)
{
	checker *c = k->c;
	bool unknown = false;
	heddle_expr *value = heddle_check_dim(c, e, "a size that is passed", &unknown);
	if (unknown) {
		fail(c, 131, &e->location, "`%s` of `%s` is a size: it is passed constants and sizes", p->name, k->callee->name);
		heddle_note(c->ctx, NULL, "such as `N / 2 + 1`");
	}
	if (!value)
		return -1;
	bind(k, p->name, short_form(c, value));
	k->binding[k->n_binding - 1].given = true;
	return 0;
}

static int check_arguments(call *k)
{
	checker *c = k->c;
	const syntax_definition *f = k->callee;
	int errors = 0;
	k->passed = HEDDLE_NEW_ARRAY(c->scratch, passed, f->n_param + 1);
	for (int i = 0; i < f->n_param; i++) {
		const syntax_param *p = &f->param[i];
		if (p->is_size) {
			errors -= size_argument(k, p, k->call->arg[i]);
		} else if (p->n_dim) {
			tensor_state *t = tensor_argument(k, p, k->call->arg[i]);
			k->passed[i].tensor = t ? t->tensor : NULL;
			errors += !t;
			if (t)
				heddle_check_read_whole(c, t);
		} else {
			errors -= scalar_argument(k, p, k->call->arg[i], &k->passed[i]);
		}
	}
	return errors ? -1 : 0;
}

/* The strides of what is passed, for a callee that gives them names. */
static void bind_strides(call *k, const syntax_param *p, const heddle_tensor *t)
{
	checker *c = k->c;
	for (int d = 0; d < p->n_stride && d < t->rank; d++) {
		heddle_expr *stride = t->stride ? t->stride[d] : whole(c, 1);
		for (int e = d + 1; !t->stride && e < t->rank; e++)
			stride = binary(c, HEDDLE_OP_MUL, HEDDLE_INT32, stride, t->extent[e]);
		solve(k, p->stride[d], stride);
	}
}

static int bind_sizes(call *k)
{
	checker *c = k->c;
	const syntax_definition *f = k->callee;
	int errors = 0;
	heddle_expr ***extent = HEDDLE_NEW_ARRAY(c->scratch, heddle_expr **, f->n_param + 1);
	for (int i = 0; i < f->n_param; i++) {
		if (f->param[i].n_dim && !(extent[i] = extents(c, &c->state[k->passed[i].tensor->position]))) {
			c->errors++; /* what defines its shape was not right */
			return -1;
		}
	}
	for (int round = 0; round < 2; round++) /* plain names first, so that expressions have one unknown */
		for (int i = 0; i < f->n_param; i++)
			for (int d = 0; d < f->param[i].n_dim; d++)
				if (round || f->param[i].dim[d]->kind == SYNTAX_NAME)
					solve(k, f->param[i].dim[d], extent[i][d]);
	for (int i = 0; i < f->n_param; i++) {
		const syntax_param *p = &f->param[i];
		for (int d = 0; d < p->n_dim; d++) {
			heddle_expr *wanted = in_caller(k, p->dim[d]);
			if (wanted && agree(k, wanted, extent[i][d]))
				continue;
			heddle_text text = {0};
			if (wanted)
				heddle_expr_print(wanted, &text);
			if (wanted)
				fail(c, 133, &k->call->arg[i]->location, "`%s` of `%s` needs %s elements in dimension %d", p->name,
				     f->name, heddle_text_str(&text), d);
			else
				fail(c, 133, &k->call->arg[i]->location, "no argument says what the sizes in dimension %d of `%s` are",
				     d, p->name);
			heddle_text_clear(&text);
			heddle_expr_print(extent[i][d], &text);
			if (wanted)
				heddle_note(c->ctx, NULL, "`%s` has %s", k->passed[i].tensor->name, heddle_text_str(&text));
			else
				heddle_note(c->ctx, &p->location, "pass them by `size` parameters");
			heddle_text_free(&text);
			errors++;
		}
		if (p->n_dim)
			bind_strides(k, p, k->passed[i].tensor);
	}
	return errors ? -1 : 0;
}

/* ---- the callee for these sizes ---------------------------------------------------------------------------------------------------- */

/* Least and greatest value of an expression over sizes, within 0 .. HEDDLE_MAX_SIZE. */
static heddle_size_range range_of(checker *c, const char *name, heddle_expr *e)
{
	heddle_size_range r = {.name = name, .min = 0, .max = HEDDLE_MAX_SIZE, .divisor = 1};
	if (e->kind == HEDDLE_EXPR_INT && e->i >= 0 && e->i <= HEDDLE_MAX_SIZE) {
		r.min = r.max = e->i;
	} else if (e->kind == HEDDLE_EXPR_SIZE) {
		r.min = e->size->min;
		r.max = e->size->max;
		r.divisor = e->size->divisor;
	} else {
		/* by bisection: what can be proved */
		heddle_arena *arena = heddle_arena_new();
		affine_space *space = affine_space_new(arena, c->arena, &c->file->steps);
		affine_row row, test;
		if (affine_from_expr(space, e, true, &row)) {
			for (int64_t step = (int64_t)1 << 30; step; step /= 2) {
				test = row;
				test.k -= r.min + step;
				r.min += affine_prove(space, &test) ? step : 0;
				test = (affine_row){0};
				if (r.max - step >= r.min && affine_add(&test, &row, -1)) {
					test.k += r.max - step;
					r.max -= affine_prove(space, &test) ? step : 0;
				}
			}
		}
		heddle_arena_free(arena);
	}
	return r;
}

/* What `sizes` of the callee says must hold here. */
static int require_ranges(call *k)
{
	checker *c = k->c;
	int errors = 0;
	heddle_arena *arena = heddle_arena_new();
	affine_space *space = affine_space_new(arena, c->arena, &c->file->steps);
	for (int i = 0; i < k->n_binding; i++) {
		affine_row row, above, below = affine_constant(-1);
		heddle_expr *value = k->binding[i].value;
		/* extents are small enough as all are; what is calculated may not be */
		bool calculated = k->binding[i].given && value->kind == HEDDLE_EXPR_BINARY;
		if (!affine_from_expr(space, k->binding[i].value, true, &row) || !affine_add(&below, &row, -1)) {
			heddle_check_require(c, binary(c, HEDDLE_OP_GE, HEDDLE_BOOL, k->binding[i].value, whole(c, 0)));
		} else if (heddle_check_violated(c, space, &below)) {
			fail(c, 133, &k->call->location, "size `%s` of `%s` would be negative", k->binding[i].name,
			     k->callee->name);
			errors++;
		} else if (calculated) {
			above = row;
			above.k -= (int64_t)HEDDLE_MAX_SIZE + 1;
			if (heddle_check_violated(c, space, &above)) {
				fail(c, 133, &k->call->location, "size `%s` of `%s` would be above %d",
				     k->binding[i].name, k->callee->name, HEDDLE_MAX_SIZE);
				errors++;
			}
		}
	}
	heddle_arena_free(arena);
	for (int i = 0; i < k->callee->sizes.n; i++) {
		const heddle_size_range *r = &k->callee->sizes.range[i];
		const binding *b = find(k, r->name);
		if (!b)
			continue;
		heddle_size_range have = range_of(c, r->name, b->value);
		if (have.min > r->max || have.max < r->min ||
		    (have.min == have.max && r->divisor > 1 && have.min % r->divisor)) {
			fail(c, 133, &k->call->location, "size `%s` of `%s` cannot be what is passed", r->name, k->callee->name);
			heddle_note(c->ctx, &k->callee->size_location[i], "it is limited here");
			errors++;
			continue;
		}
		if (have.min < r->min)
			heddle_check_require(c, binary(c, HEDDLE_OP_GE, HEDDLE_BOOL, b->value, whole(c, r->min)));
		if (have.max > r->max)
			heddle_check_require(c, binary(c, HEDDLE_OP_LE, HEDDLE_BOOL, b->value, whole(c, r->max)));
		if (have.min != have.max && r->divisor > 1 && have.divisor % r->divisor)
			heddle_check_require(c, binary(c, HEDDLE_OP_EQ, HEDDLE_BOOL,
						       binary(c, HEDDLE_OP_MOD, HEDDLE_INT32, b->value, whole(c, r->divisor)),
						       whole(c, 0)));
	}
	return errors ? -1 : 0;
}

static bool same_sizes(const heddle_size_list *a, const heddle_size_list *b)
{
	bool same = a->n == b->n;
	for (int i = 0; same && i < a->n; i++) {
		const heddle_size_range *x = &a->range[i], *y = &b->range[i];
		same = !strcmp(x->name, y->name) && x->min == y->min && x->max == y->max && x->divisor == y->divisor;
	}
	return same;
}

static const call_instance *known_instance(const call *k, const heddle_size_list *sizes)
{
	const file_checker *file = k->c->file;
	for (int i = 0; i < file->n_instance; i++) {
		const call_instance *known = &file->instance[i];
		if (known->callee == k->callee && known->policy == k->outermost->syntax->policy && same_sizes(&known->sizes, sizes))
			return known;
	}
	return NULL;
}

static int check_depth(call *k, int depth)
{
	if (depth <= MAX_CALL_DEPTH && k->outermost->n_inlined <= MAX_INLINED)
		return 0;
	fail(k->c, 12, &k->call->location, "calls of definitions bring more than %d statements or are deeper than %d", MAX_INLINED,
	     MAX_CALL_DEPTH);
	return -1;
}

static int instantiate(call *k)
{
	checker *c = k->c;
	heddle_size_list list = {0};
	for (int i = 0; i < k->n_binding; i++)
		HEDDLE_PUSH(c->scratch, list.range, list.n, range_of(c, k->binding[i].name, k->binding[i].value));
	const call_instance *known = known_instance(k, &list);
	if (known) {
		k->def = known->def;
		k->outermost->n_inlined += known->n_inlined;
		c->called = c->called > known->depth + 1 ? c->called : known->depth + 1;
		return check_depth(k, k->depth + known->depth);
	}
	int before = k->outermost->n_inlined;
	checker in = {.ctx = c->ctx,
		      .arena = c->arena,
		      .scratch = c->scratch,
		      .file = c->file,
		      .caller = c,
		      .call = &k->call->location,
		      .syntax = k->callee};
	k->def = heddle_check_all(&in, &list);
	c->errors += !k->def;
	c->called = c->called > in.called + 1 ? c->called : in.called + 1;
	if (!k->def)
		return -1;
	call_instance new = {.callee = k->callee,
			     .policy = k->outermost->syntax->policy,
			     .sizes = list,
			     .def = k->def,
			     .n_inlined = k->outermost->n_inlined - before,
			     .depth = in.called};
	HEDDLE_PUSH(c->scratch, c->file->instance, c->file->n_instance, new);
	return 0;
}

/* ---- rewriting -------------------------------------------------------------------------------------------------------------------- */

static heddle_expr *replaced(void *user, heddle_expr *e)
{
	call *k = user;
	heddle_location where = e->location;
	if (e->kind == HEDDLE_EXPR_SIZE) {
		const binding *b = find(k, e->size->name);
		heddle_expr *value = HEDDLE_NEW(k->c->arena, heddle_expr);
		*value = *(k->rounded ? b->as_value : b->value);
		value->location = where;
		return value;
	}
	if (e->kind == HEDDLE_EXPR_INDEX) {
		for (int i = 0; i < k->n_map; i++)
			if (k->map_from[i] == e->index)
				e->index = k->map_to[i];
	}
	if (e->kind == HEDDLE_EXPR_READ) {
		const passed *p = &k->passed[e->tensor->position];
		if (p->expr)
			return heddle_expr_rewrite(k->c->arena, p->expr, NULL, NULL);
		e->tensor = p->tensor;
	}
	return e;
}

static heddle_expr *rewrite(call *k, const heddle_expr *e, bool value)
{
	k->rounded = value;
	return heddle_expr_rewrite(k->c->arena, e, replaced, k);
}

static bool has_kind(const heddle_expr *e, heddle_expr_kind kind)
{
	if (e->kind == kind)
		return true;
	for (int i = 0; i < e->n_arg; i++)
		if (has_kind(e->arg[i], kind))
			return true;
	return false;
}

static bool unbound(call *k, const heddle_expr *e)
{
	if (e->kind == HEDDLE_EXPR_SIZE && !find(k, e->size->name))
		return true;
	for (int i = 0; i < e->n_arg; i++)
		if (unbound(k, e->arg[i]))
			return true;
	return false;
}

static void add_condition(call *k, heddle_expr *condition)
{
	checker *c = k->c;
	heddle_arena *arena = heddle_arena_new();
	affine_space *space = affine_space_new(arena, c->arena, &c->file->steps);
	affine_problem *holds = affine_problem_new(space), *fails = affine_problem_new(space);
	affine_require_or(holds, affine_condition(space, condition, false));
	affine_require_or(fails, affine_condition(space, condition, true));
	bool always = affine_infeasible(fails), never = affine_infeasible(holds);
	heddle_arena_free(arena);
	if (always && !never)
		return;
	if (!never) {
		heddle_check_require(c, condition);
		return;
	}
	heddle_text text = {0};
	heddle_expr_print(condition, &text);
	fail(c, 133, &k->call->location, "what `%s` requires is impossible here: %s", k->callee->name, heddle_text_str(&text));
	heddle_text_free(&text);
}

/* ---- results --------------------------------------------------------------------------------------------------------------------- */

static const char *output_name(const call *k, int i)
{
	return k->syntax->n_output ? k->syntax->output[i] : k->syntax->name;
}

static const heddle_location *output_location(const call *k, int i)
{
	return k->syntax->n_output ? &k->syntax->output_location[i] : &k->syntax->location;
}

/* What is written must be nothing that is read, and one thing only. */
static int check_aliases(call *k)
{
	checker *c = k->c;
	for (int i = 0; i < k->callee->n_return; i++) {
		const char *name = output_name(k, i);
		const tensor_state *t = heddle_check_tensor(c, name);
		if (t->tensor->role == HEDDLE_ROLE_INPUT) {
			fail(c, 106, output_location(k, i), "`%s` is an input and cannot be written", name);
			return -1;
		}
		for (int j = 0; j < i; j++)
			if (!strcmp(output_name(k, j), name))
				return wrong(k, output_location(k, i), "a tensor takes two results");
		for (int j = 0; j < k->call->n_arg; j++)
			if (!k->callee->param[j].is_size && k->call->arg[j]->kind == SYNTAX_NAME &&
			    !strcmp(k->call->arg[j]->name, name) && k->callee->param[j].n_dim)
				return wrong(k, output_location(k, i), "a tensor is passed and also takes a result");
	}
	return 0;
}

/* The caller's tensor for an output of the callee. */
static int take_output(call *k, int i)
{
	checker *c = k->c;
	heddle_tensor *from = k->def->tensor[k->def->n_input + i];
	tensor_state *t = heddle_check_tensor(c, output_name(k, i));
	const heddle_location *where = output_location(k, i);
	if (t->bad) {
		c->errors++;
		return -1;
	}
	if (k->syntax->has_type && !t->typed) {
		t->tensor->type = k->syntax->type;
		t->typed = true;
	}
	if (t->rank < 0)
		t->rank = t->tensor->rank = from->rank;
	if (!t->typed)
		t->tensor->type = from->type;
	t->typed = true;
	if (t->tensor->type != from->type || t->rank != from->rank)
		return wrong_type(k, where, from->name, t->tensor, from->type, from->rank);
	if (from->role == HEDDLE_ROLE_INOUT && !t->defined) {
		fail(c, 102, where, "`%s` has no value yet, but `%s` begins with what is there", t->tensor->name, k->callee->name);
		return -1;
	}
	if (t->defined && from->zero_fill) {
		fail(c, 131, where, "`%s` has values already, but `%s` leaves some elements of its result unwritten, at 0",
		     t->tensor->name, k->callee->name);
		return -1;
	}
	if (from->role == HEDDLE_ROLE_INOUT)
		heddle_check_read_whole(c, t);
	heddle_expr **have = t->defined || t->declared ? extents(c, t) : NULL;
	heddle_expr **extent = HEDDLE_NEW_ARRAY(c->arena, heddle_expr *, from->rank + 1);
	for (int d = 0; d < from->rank; d++) {
		extent[d] = short_form(c, rewrite(k, from->extent[d], false));
		if (have && !agree(k, extent[d], have[d])) {
			heddle_text text = {0};
			heddle_expr_print(extent[d], &text);
			fail(c, 133, where, "the result has %s elements in dimension %d, but `%s` has another shape",
			     heddle_text_str(&text), d, t->tensor->name);
			heddle_text_free(&text);
			return -1;
		}
	}
	if (!have) {
		t->tensor->extent = extent;
		t->declared = true;
	}
	t->zeroed |= from->zero_fill;
	k->passed[from->position] = (passed){.tensor = t->tensor, .grows = !have};
	return 0;
}

/* As if one statement wrote all of it. */
static void mark_written(checker *c, tensor_state *t, const heddle_location *where)
{
	tensor_write w = {.lower = HEDDLE_NEW_ARRAY(c->arena, heddle_expr *, t->rank + 1),
			  .upper = HEDDLE_NEW_ARRAY(c->arena, heddle_expr *, t->rank + 1),
			  .box = true};
	/* of all writes so far, which later ones add to: arrays of their own */
	t->lower = HEDDLE_NEW_ARRAY(c->arena, heddle_expr *, t->rank + 1);
	t->upper = HEDDLE_NEW_ARRAY(c->arena, heddle_expr *, t->rank + 1);
	for (int d = 0; d < t->rank; d++) {
		w.lower[d] = t->lower[d] = whole(c, 0);
		w.upper[d] = t->upper[d] = t->tensor->extent[d];
	}
	HEDDLE_PUSH(c->scratch, t->write, t->n_write, w);
	if (!t->defined)
		t->first_write = *where;
	t->defined = true;
}

static void take_temporary(call *k, heddle_tensor *from)
{
	checker *c = k->c;
	char *stem = heddle_arena_printf(c->scratch, "%s_%s", k->callee->name, from->name);
	tensor_state *t = heddle_check_add_tensor(c, heddle_check_fresh(c, stem), HEDDLE_ROLE_TEMPORARY, &from->location);
	heddle_tensor *to = t->tensor;
	to->type = from->type;
	to->rank = t->rank = from->rank;
	to->extent = HEDDLE_NEW_ARRAY(c->arena, heddle_expr *, from->rank + 1);
	for (int d = 0; d < from->rank; d++)
		to->extent[d] = short_form(c, rewrite(k, from->extent[d], false));
	t->hidden = t->typed = t->declared = true;
	t->zeroed = from->zero_fill;
	mark_written(c, t, &from->location);
	k->passed[from->position] = (passed){.tensor = to};
}

static int take_statement(call *k, const heddle_statement *from)
{
	checker *c = k->c;
	heddle_statement *st = HEDDLE_NEW(c->arena, heddle_statement);
	*st = *from;
	st->target = k->passed[from->target->position].tensor;
	st->index = HEDDLE_NEW_ARRAY(c->arena, heddle_index *, from->n_index + 1);
	if (!bring(k, from->value))
		return -1;
	for (int i = 0; i < from->n_lhs; i++)
		if (!bring(k, from->lhs[i]))
			return -1;
	for (int i = 0; i < from->n_index; i++)
		if (!bring(k, from->index[i]->lower) || !bring(k, from->index[i]->upper))
			return -1;
	for (int i = 0; i < from->n_index; i++) {
		int n = k->n_map;
		st->index[i] = HEDDLE_NEW(c->arena, heddle_index);
		*st->index[i] = *from->index[i];
		HEDDLE_PUSH(c->scratch, k->map_from, n, from->index[i]);
		HEDDLE_PUSH(c->scratch, k->map_to, k->n_map, st->index[i]);
	}
	for (int i = 0; i < from->n_index; i++) {
		st->index[i]->lower = rewrite(k, from->index[i]->lower, false);
		st->index[i]->upper = rewrite(k, from->index[i]->upper, false);
	}
	for (int i = 0; i < from->n_index; i++) {
		st->index[i]->lower = short_form(c, st->index[i]->lower);
		st->index[i]->upper = short_form(c, st->index[i]->upper);
	}
	st->lhs = HEDDLE_NEW_ARRAY(c->arena, heddle_expr *, from->n_lhs + 1);
	for (int i = 0; i < from->n_lhs; i++)
		st->lhs[i] = rewrite(k, from->lhs[i], true);
	st->value = rewrite(k, from->value, true);
	bool large = larger(st->value, 4 * MAX_NODES);
	for (int i = 0; i < st->n_lhs; i++)
		large = large || larger(st->lhs[i], MAX_NODES);
	for (int i = 0; i < st->n_index; i++)
		large = large || larger(st->index[i]->lower, MAX_NODES) || larger(st->index[i]->upper, MAX_NODES);
	if (large) {
		fail(c, 12, &k->call->location, "a statement of `%s` has too many operands and operators with what is passed",
		     k->callee->name);
		return -1;
	}
	st->position = c->def->n_statement;
	HEDDLE_PUSH(c->arena, c->def->statement, c->def->n_statement, st);
	HEDDLE_PUSH(c->scratch, c->derived, c->n_derived, ((derived_statement){.statement = st, .writes = true}));
	return 0;
}

/* ---- all of it -------------------------------------------------------------------------------------------------------------------- */

static int check_circle(call *k)
{
	checker *c = k->c;
	int i = (int)(k->callee - c->file->file->definition);
	k->depth = 1;
	for (k->outermost = c; k->outermost->caller; k->outermost = k->outermost->caller)
		k->depth++;
	if (c->file->status[i] == CHECK_BUSY) {
		fail(c, 132, &k->call->location, "this call of `%s` leads back to where it is called from", k->callee->name);
		heddle_note(c->ctx, &k->callee->location, "`%s` is defined here", k->callee->name);
		return -1;
	}
	if (check_depth(k, k->depth))
		return -1;
	/* By itself first: then what is wrong inside is said once, without the call. */
	if (!heddle_check_definition(c->file, i) && c->file->status[i] != CHECK_OPEN) {
		c->errors++;
		return -1;
	}
	return 0;
}

/* A definition that says nothing takes the policy of its caller. */
static int check_policy(call *k)
{
	const syntax_definition *outer = k->outermost->syntax;
	if (!k->callee->has_policy || k->callee->policy == outer->policy || heddle_ctx_policy(k->c->ctx) >= 0)
		return 0;
	fail(k->c, 131, &k->call->location, "`%s` has policy %s, but `%s` has %s", k->callee->name,
	     heddle_policy_name(k->callee->policy), outer->name, heddle_policy_name(outer->policy));
	return -1;
}

static int check_count(call *k)
{
	int n = k->syntax->n_output ? k->syntax->n_output : 1;
	if (k->call->n_arg != k->callee->n_param) {
		fail(k->c, 131, &k->call->location, "`%s` takes %d argument%s but got %d", k->callee->name, k->callee->n_param,
		     k->callee->n_param == 1 ? "" : "s", k->call->n_arg);
		heddle_note(k->c->ctx, &k->callee->location, "`%s` is defined here", k->callee->name);
		return -1;
	}
	if (n != k->callee->n_return) {
		fail(k->c, 131, &k->syntax->location, "`%s` has %d result%s but %d name%s take%s them", k->callee->name,
		     k->callee->n_return, k->callee->n_return == 1 ? "" : "s", n, n == 1 ? "" : "s", n == 1 ? "s" : "");
		heddle_note(k->c->ctx, &k->callee->location, "`%s` is defined here", k->callee->name);
		return -1;
	}
	return 0;
}

static int inline_callee(call *k)
{
	checker *c = k->c;
	heddle_definition *def = k->def;
	passed *params = k->passed;
	int errors = 0, input = 0, before = c->errors;
	k->passed = HEDDLE_NEW_ARRAY(c->scratch, passed, def->n_tensor + 1);
	for (int i = 0; i < k->callee->n_param; i++)
		if (!k->callee->param[i].is_size)
			k->passed[input++] = params[i];
	for (int i = 0; i < def->n_statement; i++) {
		const heddle_statement *st = def->statement[i];
		bool open = unbound(k, st->value);
		for (int j = 0; j < st->n_index; j++)
			open = open || unbound(k, st->index[j]->lower) || unbound(k, st->index[j]->upper);
		for (int j = 0; j < st->n_lhs; j++)
			open = open || unbound(k, st->lhs[j]);
		if (open)
			return wrong(k, &k->call->location, "a size that the definition uses is in no argument");
	}
	for (int i = 0; i < def->n_output; i++)
		errors -= take_output(k, i);
	if (errors)
		return -1;
	for (int i = def->n_input + def->n_output; i < def->n_tensor; i++)
		take_temporary(k, def->tensor[i]);
	for (int i = 0; i < def->n_statement; i++)
		if (take_statement(k, def->statement[i]))
			return -1;
	for (int i = 0; i < def->n_precondition; i++) {
		const heddle_expr *condition = def->precondition[i];
		if (unbound(k, condition))
			continue; /* about strides, which are those of what is passed */
		if (has_kind(condition, HEDDLE_EXPR_READ))
			heddle_check_require(c, rewrite(k, condition, true));
		else
			add_condition(k, rewrite(k, condition, false));
	}
	for (int i = 0; i < def->n_output; i++) {
		const passed *result = &k->passed[def->n_input + i];
		tensor_state *t = &c->state[result->tensor->position];
		mark_written(c, t, output_location(k, i));
		t->declared = t->declared && !result->grows;
	}
	k->outermost->n_inlined += def->n_statement;
	return c->errors > before ? -1 : 0;
}

int heddle_check_call(checker *c, const syntax_statement *syntax, const syntax_definition *callee)
{
	call k = {.c = c, .syntax = syntax, .call = syntax->value, .callee = callee};
	for (int i = 0; i < (syntax->n_output ? syntax->n_output : 1); i++)
		if (!heddle_check_tensor(c, output_name(&k, i)))
			return -1; /* reported when the tensors were collected */
	int errors = c->errors, failed = check_circle(&k) || check_policy(&k) || check_count(&k) || check_aliases(&k) || check_arguments(&k) ||
					 bind_sizes(&k) || require_ranges(&k) || instantiate(&k) || inline_callee(&k);
	for (int i = 0; failed && i < (syntax->n_output ? syntax->n_output : 1); i++) {
		tensor_state *t = heddle_check_tensor(c, syntax->n_output ? syntax->output[i] : syntax->name);
		t->bad |= t->tensor->role != HEDDLE_ROLE_INPUT;
	}
	c->errors += failed && c->errors == errors;
	return failed ? -1 : 0;
}
