/* Heads of definitions: sizes, inputs, outputs and temporaries with their types, extents, strides and alignments.
 * SPDX-License-Identifier: MIT
 */
#include "frontend/check.h"

#include <string.h>

static heddle_size *add_size(checker *c, const char *name, const heddle_location *where)
{
	heddle_size *size = HEDDLE_NEW(c->arena, heddle_size);
	size->name = heddle_arena_strdup(c->arena, name);
	size->max = HEDDLE_MAX_SIZE;
	size->divisor = 1;
	size->position = c->def->n_size;
	size->location = *where;
	HEDDLE_PUSH(c->arena, c->def->size, c->def->n_size, size);
	return size;
}

heddle_expr *heddle_check_dim(checker *c, const syntax_expr *e, const char *what, bool *unknown)
{
	static const char *const rule = "%s may use constants, sizes and + - * / %% min max only";
	heddle_expr *r = NULL;
	switch (e->kind) {
	case SYNTAX_NUMBER:
		if (e->is_float || e->i > HEDDLE_MAX_SIZE)
			return fail(c, 302, &e->location, "%s is an integer from 0 to %d", what, HEDDLE_MAX_SIZE);
		r = heddle_expr_make(c->arena, HEDDLE_EXPR_INT, HEDDLE_INT32, 0);
		r->i = e->i;
		break;
	case SYNTAX_NAME: {
		heddle_size *size = heddle_check_size(c, e->name);
		if (e->has_arg)
			return fail(c, 127, &e->location, rule, what);
		if (!size) {
			*unknown = true;
			return NULL;
		}
		r = heddle_expr_make(c->arena, HEDDLE_EXPR_SIZE, HEDDLE_INT32, 0);
		r->size = size;
		break;
	}
	case SYNTAX_UNARY:
	case SYNTAX_BINARY:
		if (e->op > HEDDLE_OP_MAX && e->op != HEDDLE_OP_NEG)
			return fail(c, 127, &e->location, rule, what);
		r = heddle_expr_make(c->arena, e->kind == SYNTAX_UNARY ? HEDDLE_EXPR_UNARY : HEDDLE_EXPR_BINARY, HEDDLE_INT32,
				     e->n_arg);
		r->op = e->op;
		for (int i = 0; i < e->n_arg; i++)
			if (!(r->arg[i] = heddle_check_dim(c, e->arg[i], what, unknown)))
				return NULL;
		if ((e->op == HEDDLE_OP_DIV || e->op == HEDDLE_OP_MOD) && heddle_expr_is_zero(r->arg[1]))
			return fail(c, 125, &e->location, "division by zero");
		break;
	default:
		return fail(c, 127, &e->location, rule, what);
	}
	r->location = e->location;
	return r;
}

tensor_state *heddle_check_add_tensor(checker *c, const char *name, heddle_role role, const heddle_location *where)
{
	heddle_tensor *tensor = HEDDLE_NEW(c->arena, heddle_tensor);
	tensor->name = heddle_arena_strdup(c->arena, name);
	tensor->role = role;
	tensor->type = HEDDLE_FLOAT32;
	tensor->position = c->def->n_tensor;
	tensor->location = *where;
	HEDDLE_PUSH(c->arena, c->def->tensor, c->def->n_tensor, tensor);
	tensor_state new = {.tensor = tensor, .rank = -1};
	HEDDLE_PUSH(c->scratch, c->state, c->n_state, new);
	return &c->state[c->n_state - 1];
}

static void check_rank(checker *c, tensor_state *t)
{
	if (t->rank <= HEDDLE_MAX_RANK)
		return;
	fail(c, 612, &t->tensor->location, "`%s` has %d dimensions, more than %d", t->tensor->name, t->rank, HEDDLE_MAX_RANK);
	t->bad = true;
}

/* A second thing of this name is left out; one with the name of a function is kept, so that its uses make sense. */
static bool name_taken(checker *c, const char *name, const heddle_location *where)
{
	if (heddle_builtin_find(name) >= 0)
		fail(c, 117, where, "`%s` is a built-in function and cannot be redefined", name);
	if (heddle_check_tensor(c, name) || heddle_check_size(c, name)) {
		fail(c, 104, where, "`%s` is already defined", name);
		return true;
	}
	return false;
}

static void collect_sizes(checker *c, const syntax_expr *e)
{
	if (e->kind == SYNTAX_NAME && !e->has_arg && !heddle_check_size(c, e->name))
		add_size(c, e->name, &e->location);
	for (int i = 0; i < e->n_arg; i++)
		collect_sizes(c, e->arg[i]);
}

/* Is a name in the extents of an output? */
static bool names_extent(const checker *c, const char *name, const syntax_expr *e)
{
	if (e->kind == SYNTAX_NAME && !strcmp(e->name, name))
		return true;
	for (int i = 0; i < e->n_arg; i++)
		if (names_extent(c, name, e->arg[i]))
			return true;
	return false;
}

/* The strides of outputs may bring sizes too.  A name that otherwise is only that of an output's extent would look like
 * this extent and be another number. */
static void collect_output_sizes(checker *c, const syntax_expr *e)
{
	const syntax_definition *d = c->syntax;
	for (int i = 0; i < e->n_arg; i++)
		collect_output_sizes(c, e->arg[i]);
	if (e->kind != SYNTAX_NAME || e->has_arg || heddle_check_size(c, e->name))
		return;
	for (int i = 0; i < d->n_return; i++) {
		for (int j = 0; j < d->ret[i].n_dim; j++) {
			if (!names_extent(c, e->name, d->ret[i].dim[j]))
				continue;
			fail(c, 128, &e->location, "`%s` is not a size of the inputs, so no stride can use it", e->name);
			heddle_note(c->ctx, &d->ret[i].dim[j]->location, "here it only names an extent");
			return;
		}
	}
	add_size(c, e->name, &e->location);
}

/* In the order in which they stand: `size S`, the extents and strides of the inputs, the strides of the outputs. */
static void check_sizes(checker *c)
{
	const syntax_definition *d = c->syntax;
	for (int i = 0; i < d->n_param; i++) {
		const syntax_param *p = &d->param[i];
		if (p->is_size && !heddle_check_size(c, p->name))
			add_size(c, p->name, &p->location);
		for (int j = 0; j < i && p->is_size; j++)
			if (d->param[j].is_size && !strcmp(d->param[j].name, p->name))
				fail(c, 104, &p->location, "`%s` is already defined", p->name);
		for (int j = 0; j < p->n_dim; j++)
			collect_sizes(c, p->dim[j]);
		for (int j = 0; j < p->n_stride; j++)
			collect_sizes(c, p->stride[j]);
	}
	for (int i = 0; i < d->n_return && !c->caller; i++)
		for (int j = 0; j < d->ret[i].n_stride; j++)
			collect_output_sizes(c, d->ret[i].stride[j]);
	for (int i = 0; i < c->def->n_size; i++)
		if (heddle_builtin_find(c->def->size[i]->name) >= 0)
			fail(c, 117, &c->def->size[i]->location, "`%s` is a built-in function and cannot be a size",
			     c->def->size[i]->name);
}

/* "(K, 1)": what the strides of a dense tensor with these extents are. */
static void add_dense(const heddle_tensor *t, heddle_text *out)
{
	for (int d = 0; d < t->rank; d++) {
		heddle_text_add(out, d ? ", " : "(");
		for (int e = d + 1; e < t->rank; e++) {
			bool simple = t->extent[e]->kind == HEDDLE_EXPR_INT || t->extent[e]->kind == HEDDLE_EXPR_SIZE;
			heddle_text_add(out, e > d + 1 ? " * " : "");
			heddle_text_add(out, simple ? "" : "(");
			heddle_expr_print(t->extent[e], out);
			heddle_text_add(out, simple ? "" : ")");
		}
		heddle_text_add(out, d == t->rank - 1 ? "1)" : "");
	}
}

static void check_strides(checker *c, tensor_state *t)
{
	const syntax_param *p = t->param;
	heddle_tensor *tensor = t->tensor;
	if (p->has_strides && !p->has_type) {
		fail(c, 128, &p->stride_location, "the strides of `%s` need its type and extents before its name", p->name);
		heddle_note(c->ctx, NULL, "such as `float(M, N) %s strides (ldc, 1)`", p->name);
		t->bad = true;
		return;
	}
	if (p->n_stride != p->n_dim) {
		fail(c, 128, &p->stride_location, "`%s` has %d dimension%s but %d stride%s", p->name, p->n_dim,
		     p->n_dim == 1 ? "" : "s", p->n_stride, p->n_stride == 1 ? "" : "s");
		if (!p->n_dim)
			heddle_note(c->ctx, NULL, "a tensor without dimensions is one element: it needs none");
		bool known = p->n_dim > 0;
		for (int d = 0; d < p->n_dim; d++)
			known = known && tensor->extent[d];
		if (known) {
			heddle_text text = {0};
			add_dense(tensor, &text);
			heddle_fixit(c->ctx, "%s", heddle_text_str(&text));
			heddle_text_free(&text);
		}
		t->bad = true;
		return;
	}
	if (!p->n_dim)
		return;
	tensor->stride = HEDDLE_NEW_ARRAY(c->arena, heddle_expr *, p->n_stride);
	for (int d = 0; d < p->n_stride; d++) {
		bool unknown = false; /* already reported */
		tensor->stride[d] = heddle_check_dim(c, p->stride[d], "a stride", &unknown);
		t->bad |= !tensor->stride[d];
	}
	if (t->bad)
		tensor->stride = NULL;
}

enum { MAX_ALIGN = 4096 };

static void check_align(checker *c, tensor_state *t)
{
	const syntax_param *p = t->param;
	int size = t->typed ? heddle_type_size(t->tensor->type) : 1;
	if (t->tensor->role == HEDDLE_ROLE_INPUT && !p->n_dim) {
		fail(c, 129, &p->align_location, "`%s` is passed by value and has no address to align", p->name);
		return;
	}
	if (p->align < size || p->align > MAX_ALIGN || (p->align & (p->align - 1))) {
		int64_t fix = size;
		while (fix < p->align && fix < MAX_ALIGN)
			fix *= 2;
		fail(c, 129, &p->align_location, "an alignment is a power of two from the element's %d byte%s to %d", size,
		     size == 1 ? "" : "s", MAX_ALIGN);
		heddle_fixit(c->ctx, "%lld", (long long)fix);
		return;
	}
	t->tensor->align = p->align;
}

/* Layouts are those of the tensors that are passed when the definition is called. */
static void check_layout(checker *c, tensor_state *t)
{
	if (c->caller)
		return;
	if (t->param->has_strides)
		check_strides(c, t);
	if (t->param->has_align)
		check_align(c, t);
}

/* All size names come first, so that a size and a tensor of one name are told apart wherever they stand. */
static void check_inputs(checker *c)
{
	const syntax_definition *d = c->syntax;
	check_sizes(c);
	for (int i = 0; i < d->n_param; i++) {
		const syntax_param *p = &d->param[i];
		bool unknown = false;
		if (p->is_size || name_taken(c, p->name, &p->location))
			continue;
		tensor_state *t = heddle_check_add_tensor(c, p->name, HEDDLE_ROLE_INPUT, &p->location);
		t->tensor->type = p->type;
		t->tensor->rank = t->rank = p->n_dim;
		t->tensor->extent = HEDDLE_NEW_ARRAY(c->arena, heddle_expr *, p->n_dim + 1);
		for (int j = 0; j < p->n_dim; j++) {
			t->tensor->extent[j] = heddle_check_dim(c, p->dim[j], "an extent", &unknown);
			t->bad |= !t->tensor->extent[j];
		}
		t->param = p;
		t->typed = t->defined = t->declared = true;
		check_rank(c, t);
		check_layout(c, t);
		c->def->n_input++;
	}
}

static void check_outputs(checker *c)
{
	const syntax_definition *d = c->syntax;
	if (!d->n_return)
		fail(c, 109, &d->location, "definition `%s` returns nothing", d->name);
	for (int i = 0; i < d->n_return; i++) {
		const syntax_param *p = &d->ret[i];
		tensor_state *old = heddle_check_tensor(c, p->name);
		if (old && old->tensor->role == HEDDLE_ROLE_INPUT) {
			fail(c, 106, &p->location, "`%s` is an input and cannot be an output", p->name);
			continue;
		}
		if (name_taken(c, p->name, &p->location))
			continue;
		tensor_state *t = heddle_check_add_tensor(c, p->name, p->is_inout ? HEDDLE_ROLE_INOUT : HEDDLE_ROLE_OUTPUT, &p->location);
		t->param = p;
		c->def->n_output++;
		if (!p->has_type) {
			if (p->is_inout) {
				fail(c, 121, &p->location, "`inout %s` needs a type and extents", p->name);
				t->bad = true;
			}
			check_layout(c, t);
			continue;
		}
		bool unknown = false;
		t->tensor->type = p->type;
		t->typed = true;
		t->tensor->rank = t->rank = p->n_dim;
		t->tensor->extent = HEDDLE_NEW_ARRAY(c->arena, heddle_expr *, p->n_dim + 1);
		for (int j = 0; j < p->n_dim; j++) {
			bool unknown_name = false;
			t->tensor->extent[j] = heddle_check_dim(c, p->dim[j], "an extent", &unknown_name);
			unknown |= unknown_name;
			t->bad |= !t->tensor->extent[j] && !unknown_name;
		}
		check_rank(c, t);
		t->declared = !unknown && !t->bad;
		if (p->is_inout && unknown) {
			fail(c, 121, &p->location, "the extents of `inout %s` must be known sizes", p->name);
			t->bad = true;
		}
		check_layout(c, t);
		/* What the caller put there can be read at once. */
		t->defined = p->is_inout;
	}
}

static bool writes(const syntax_statement *st, const char *name)
{
	for (int i = 0; i < st->n_output; i++)
		if (!strcmp(st->output[i], name))
			return true;
	return !strcmp(st->name, name);
}

static void check_temporaries(checker *c)
{
	const syntax_definition *d = c->syntax;
	for (int i = 0; i < d->n_statement; i++) {
		const syntax_statement *st = &d->statement[i];
		for (int j = 0; j < st->n_output; j++)
			if (!heddle_check_tensor(c, st->output[j]) &&
			    !name_taken(c, st->output[j], &st->output_location[j]))
				heddle_check_add_tensor(c, st->output[j], HEDDLE_ROLE_TEMPORARY, &st->output_location[j]);
		if (heddle_check_tensor(c, st->name))
			continue;
		if (!name_taken(c, st->name, &st->location))
			heddle_check_add_tensor(c, st->name, HEDDLE_ROLE_TEMPORARY, &st->location);
	}
	for (int i = 0; i < c->n_state; i++) {
		tensor_state *t = &c->state[i];
		bool written = t->tensor->role == HEDDLE_ROLE_INPUT;
		for (int j = 0; j < d->n_statement && !written; j++)
			written = writes(&d->statement[j], t->tensor->name);
		if (!written && t->tensor->role != HEDDLE_ROLE_INOUT && !d->broken) {
			const char **names = NULL;
			int n = 0;
			for (int j = 0; j < d->n_statement; j++)
				HEDDLE_PUSH(c->scratch, names, n, d->statement[j].name);
			fail(c, 109, &t->tensor->location, "output `%s` is never written", t->tensor->name);
			const char *nearest = n ? heddle_nearest(t->tensor->name, names, n) : NULL;
			if (nearest)
				heddle_note(c->ctx, NULL, "did you mean `%s`?", nearest);
			t->bad = true;
		}
	}
}


void heddle_check_head(checker *c, const heddle_size_list *sizes)
{
	const syntax_definition *syntax = c->syntax;
	check_inputs(c);
	for (int i = 0; i < syntax->sizes.n; i++)
		if (!heddle_check_size(c, syntax->sizes.range[i].name))
			fail(c, 304, &syntax->size_location[i], "`%s` is not a size of `%s`", syntax->sizes.range[i].name,
			     syntax->name);
	if (heddle_sizes_apply(c->ctx, c->def, &syntax->sizes) || heddle_sizes_apply(c->ctx, c->def, sizes))
		c->errors++;
	check_outputs(c);
	check_temporaries(c);
}
