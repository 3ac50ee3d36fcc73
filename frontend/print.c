/* A checked definition back to the notation.
 * SPDX-License-Identifier: MIT
 */
#include "frontend/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int precedence(const heddle_expr *e)
{
	if (e->kind == HEDDLE_EXPR_SELECT)
		return 0;
	if (e->kind == HEDDLE_EXPR_UNARY || (e->kind == HEDDLE_EXPR_INT && e->i < 0))
		return 10;
	if (e->kind != HEDDLE_EXPR_BINARY)
		return 11;
	switch (e->op) {
	case HEDDLE_OP_OR:
		return 1;
	case HEDDLE_OP_AND:
		return 2;
	case HEDDLE_OP_BITOR:
		return 4;
	case HEDDLE_OP_BITXOR:
		return 5;
	case HEDDLE_OP_BITAND:
		return 6;
	case HEDDLE_OP_SHL:
	case HEDDLE_OP_SHR:
		return 7;
	case HEDDLE_OP_ADD:
	case HEDDLE_OP_SUB:
		return 8;
	case HEDDLE_OP_MUL:
	case HEDDLE_OP_DIV:
	case HEDDLE_OP_MOD:
		return 9;
	case HEDDLE_OP_MIN:
	case HEDDLE_OP_MAX:
		return 11;
	default:
		return 3;
	}
}

/* With all casts, or only those that were written. */
typedef struct printer {
	heddle_text *out;
	bool all;
} printer;

static void print(const heddle_expr *e, int level, printer p);

static void print_list(int n, heddle_expr *const *list, printer p)
{
	heddle_text *out = p.out;
	heddle_text_add(out, "(");
	for (int i = 0; i < n; i++) {
		heddle_text_add(out, i ? ", " : "");
		print(list[i], 0, p);
	}
	heddle_text_add(out, ")");
}

static void print_float(const heddle_expr *e, heddle_text *out)
{
	char buffer[40];
	bool cast = e->type != HEDDLE_FLOAT32;
	if (cast)
		heddle_text_printf(out, "%s(", heddle_type_name(e->type));
	heddle_format_double(e->f, buffer);
	heddle_text_add(out, buffer);
	if (isfinite(e->f) && !strpbrk(buffer, ".eE"))
		heddle_text_add(out, ".0");
	heddle_text_add(out, cast ? ")" : "");
}

static void print_int(const heddle_expr *e, heddle_text *out)
{
	bool wide = e->i < INT32_MIN || e->i > INT32_MAX;
	if (e->type == HEDDLE_INT32 || (e->type == HEDDLE_INT64 && wide))
		heddle_text_printf(out, "%lld", (long long)e->i);
	else
		heddle_text_printf(out, "%s(%lld)", heddle_type_name(e->type), (long long)e->i);
}

static void print_binary(const heddle_expr *e, int level, printer p)
{
	heddle_text *out = p.out;
	if (e->op == HEDDLE_OP_MIN || e->op == HEDDLE_OP_MAX) {
		heddle_text_add(out, heddle_op_symbol(e->op));
		print_list(2, e->arg, p);
		return;
	}
	print(e->arg[0], level, p);
	heddle_text_printf(out, " %s ", heddle_op_symbol(e->op));
	print(e->arg[1], level + 1, p);
}

static void print(const heddle_expr *e, int level, printer p)
{
	heddle_text *out = p.out;
	while (!p.all && e->kind == HEDDLE_EXPR_CAST && e->implicit)
		e = e->arg[0];
	int mine = precedence(e);
	if (mine < level)
		heddle_text_add(out, "(");
	switch (e->kind) {
	case HEDDLE_EXPR_INT:
		print_int(e, out);
		break;
	case HEDDLE_EXPR_FLOAT:
		print_float(e, out);
		break;
	case HEDDLE_EXPR_INDEX:
		heddle_text_add(out, e->index->name);
		break;
	case HEDDLE_EXPR_SIZE:
		heddle_text_add(out, e->size->name);
		break;
	case HEDDLE_EXPR_READ:
		heddle_text_add(out, e->tensor->name);
		print_list(e->n_arg, e->arg, p);
		break;
	case HEDDLE_EXPR_UNARY:
		heddle_text_add(out, e->op == HEDDLE_OP_NOT ? "!" : "-");
		print(e->arg[0], mine, p);
		break;
	case HEDDLE_EXPR_BINARY:
		print_binary(e, mine, p);
		break;
	case HEDDLE_EXPR_SELECT:
		print(e->arg[0], 1, p);
		heddle_text_add(out, " ? ");
		print(e->arg[1], 1, p);
		heddle_text_add(out, " : ");
		print(e->arg[2], 1, p);
		break;
	case HEDDLE_EXPR_CAST:
		heddle_text_add(out, heddle_type_name(e->type));
		print_list(1, e->arg, p);
		break;
	case HEDDLE_EXPR_CALL:
		heddle_text_add(out, heddle_builtins[e->builtin].name);
		print_list(e->n_arg, e->arg, p);
		break;
	}
	if (mine < level)
		heddle_text_add(out, ")");
}

void heddle_expr_print(const heddle_expr *expr, heddle_text *out)
{
	print(expr, 0, (printer){out, true});
}

static void print_tensor(const heddle_tensor *t, heddle_text *out)
{
	heddle_text_add(out, t->role == HEDDLE_ROLE_INOUT ? "inout " : "");
	heddle_text_add(out, heddle_type_name(t->type));
	if (t->rank)
		print_list(t->rank, t->extent, (printer){out, false});
	heddle_text_printf(out, " %s", t->name);
	if (t->stride) {
		heddle_text_add(out, " strides ");
		print_list(t->rank, t->stride, (printer){out, false});
	}
	if (t->align)
		heddle_text_printf(out, " align %lld", (long long)t->align);
}

/* ---- heads ---------------------------------------------------------------------------------------------------------------- */

/* The sizes that reading a head would find, in its order. */
typedef struct found {
	int n;
	const heddle_size **size;
} found;

static void find(found *f, const heddle_expr *e)
{
	if (e->kind == HEDDLE_EXPR_SIZE) {
		for (int i = 0; i < f->n; i++)
			if (f->size[i] == e->size)
				return;
		f->size[f->n++] = e->size;
	}
	for (int i = 0; i < e->n_arg; i++)
		find(f, e->arg[i]);
}

static void find_list(found *f, int n, heddle_expr *const *list)
{
	for (int i = 0; list && i < n; i++)
		find(f, list[i]);
}

static bool in_order(const heddle_definition *d, const found *f, bool all)
{
	for (int i = 0; i < f->n; i++)
		if (f->size[i] != d->size[i])
			return false;
	return !all || f->n == d->n_size;
}

/* Print `size S` for as few sizes as keep the definition's order when the tensors (first .. first + n) come next.  `f` has
 * what was found before; those tensors' sizes are added. */
static void print_sizes_before(const heddle_definition *d, found *f, int first, int n, const char **separator,
			       heddle_text *out)
{
	bool inputs = first < d->n_input;
	for (int before = f->n;; f->n = ++before) {
		for (int i = first; i < first + n; i++) {
			const heddle_tensor *t = d->tensor[i];
			find_list(f, inputs ? t->rank : 0, t->extent);
			find_list(f, t->rank, t->stride);
		}
		if (before >= d->n_size || in_order(d, f, !inputs))
			return;
		heddle_text_printf(out, "%ssize %s", *separator, d->size[before]->name);
		*separator = ", ";
		f->size[before] = d->size[before];
	}
}

static void print_head(const heddle_definition *d, heddle_text *out)
{
	const char *separator = "";
	found f = {.size = heddle_xalloc(sizeof(*f.size) * (size_t)(d->n_size + 1))};
	heddle_text_printf(out, "def %s(", d->name);
	for (int i = 0; i < d->n_input; i++) {
		print_sizes_before(d, &f, i, 1, &separator, out);
		heddle_text_add(out, separator);
		print_tensor(d->tensor[i], out);
		separator = ", ";
	}
	print_sizes_before(d, &f, d->n_input, d->n_output, &separator, out);
	free(f.size);
	heddle_text_add(out, ") -> (");
	for (int i = 0; i < d->n_output; i++) {
		heddle_text_add(out, i ? ", " : "");
		print_tensor(d->tensor[d->n_input + i], out);
	}
	heddle_text_add(out, ")");
	if (d->policy != HEDDLE_POLICY_IEEE)
		heddle_text_printf(out, " policy %s", heddle_policy_name(d->policy));
	separator = " sizes ";
	for (int i = 0; i < d->n_size; i++) {
		const heddle_size *s = d->size[i];
		if (s->min == 0 && s->max == HEDDLE_MAX_SIZE && s->divisor == 1)
			continue;
		heddle_text_printf(out, "%s%s=%lld", separator, s->name, (long long)s->min);
		if (s->min != s->max)
			heddle_text_printf(out, ":%lld", (long long)s->max);
		if (s->divisor != 1)
			heddle_text_printf(out, "*%lld", (long long)s->divisor);
		separator = ", ";
	}
	heddle_text_add(out, " {\n");
}

static void print_statement(const heddle_statement *s, bool first, heddle_text *out)
{
	static const char *const assign[] = {"=", "+=", "*=", "min=", "max="};
	printer p = {out, false};
	heddle_text_add(out, "\t");
	if (first && s->target->role == HEDDLE_ROLE_TEMPORARY)
		heddle_text_printf(out, "%s ", heddle_type_name(s->target->type));
	heddle_text_add(out, s->target->name);
	if (s->n_lhs)
		print_list(s->n_lhs, s->lhs, p);
	heddle_text_printf(out, " %s%s ", assign[s->assign], s->initialise ? "!" : "");
	print(s->value, 0, p);
	for (int i = 0; i < s->n_index; i++) {
		heddle_text_printf(out, "%s%s in ", i ? ", " : " where ", s->index[i]->name);
		print(s->index[i]->lower, 1, p);
		heddle_text_add(out, ":");
		print(s->index[i]->upper, 1, p);
	}
	heddle_text_add(out, "\n");
}

void heddle_definition_print(const heddle_definition *definition, heddle_text *out)
{
	print_head(definition, out);
	for (int i = 0; i < definition->n_precondition; i++) {
		heddle_text_add(out, "\t# requires ");
		print(definition->precondition[i], 0, (printer){out, false});
		heddle_text_add(out, "\n");
	}
	for (int i = 0; i < definition->n_statement; i++) {
		bool first = true;
		for (int j = 0; j < i; j++)
			first = first && definition->statement[j]->target != definition->statement[i]->target;
		print_statement(definition->statement[i], first, out);
	}
	heddle_text_add(out, "}\n");
}
