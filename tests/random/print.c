/* The text of a random definition.
 * SPDX-License-Identifier: MIT
 */
#include "tests/random/random.h"

#include <string.h>

static void print_expr(const random_definition *d, const random_expr *e, heddle_text *out)
{
	switch (e->kind) {
	case RANDOM_TEXT:
		heddle_text_add(out, e->text);
		break;
	case RANDOM_READ:
		heddle_text_add(out, d->tensor[e->tensor].name);
		for (int i = 0; i < d->tensor[e->tensor].rank; i++)
			heddle_text_printf(out, "%s%s", i ? ", " : "(", e->subscript[i]);
		heddle_text_add(out, d->tensor[e->tensor].rank ? ")" : "");
		break;
	case RANDOM_CALL: /* also - and ! */
		heddle_text_printf(out, "%s(", e->text);
		for (int i = 0; i < e->n_arg; i++) {
			heddle_text_add(out, i ? ", " : "");
			print_expr(d, e->arg[i], out);
		}
		heddle_text_add(out, ")");
		break;
	default:
		heddle_text_add(out, "(");
		for (int i = 0; i < e->n_arg; i++) {
			bool choice = e->kind == RANDOM_SELECT;
			if (i)
				heddle_text_printf(out, " %s ", choice ? (i == 1 ? "?" : ":") : e->text);
			print_expr(d, e->arg[i], out);
		}
		heddle_text_add(out, ")");
	}
}

/* Does `name` stand in `text` as a word? */
static bool mentions(const char *text, const char *name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
	size_t n = strlen(name);
	for (const char *at = text; (at = strstr(at, name)); at += n)
		if ((at == text || !strchr(letters, at[-1])) && (!at[n] || !strchr(letters, at[n])))
			return true;
	return false;
}

static void print_shape(const random_tensor *t, heddle_text *out)
{
	heddle_text_add(out, heddle_type_name(t->type));
	for (int i = 0; i < t->rank; i++)
		heddle_text_printf(out, "%s%s", i ? ", " : "(", t->extent[i]);
	heddle_text_printf(out, "%s %s", t->rank ? ")" : "", t->name);
}

/* Does the statement write tensor `t`? */
static bool writes(const random_definition *d, const random_stmt *s, int t)
{
	bool result = false;
	if (!s->call)
		return s->target == t;
	for (int k = 0; k < d->callee->n_tensor; k++)
		result |= d->callee->tensor[k].output && s->passed[k] == t;
	return result;
}

/* What the head consists of. */
typedef struct head {
	bool read[RANDOM_MAX_TENSOR], written[RANDOM_MAX_TENSOR], size[RANDOM_N_SIZE];
} head;

static void print_body(const random_definition *d, heddle_text *body);

static void print_tensors(const random_definition *d, const char *body, head *h, heddle_text *inputs, heddle_text *outputs)
{
	*h = (head){0};
	for (int s = 0; s < d->n_stmt; s++)
		for (int t = 0; t < d->n_tensor; t++)
			h->written[t] |= writes(d, &d->stmt[s], t);
	for (int t = 0; t < d->n_tensor; t++) {
		const random_tensor *tensor = &d->tensor[t];
		const char *layout = tensor->layout ? tensor->layout : "";
		if (tensor->input && mentions(body, tensor->name)) {
			h->read[t] = true;
			heddle_text_add(inputs, inputs->length ? ", " : "");
			print_shape(tensor, inputs);
			heddle_text_add(inputs, layout);
		}
		if (!tensor->output || !h->written[t])
			continue;
		heddle_text_add(outputs, outputs->length ? ", " : "");
		if (tensor->inout || tensor->declared) {
			heddle_text_add(outputs, tensor->inout ? "inout " : "");
			print_shape(tensor, outputs);
		} else {
			heddle_text_add(outputs, tensor->name);
		}
		heddle_text_add(outputs, layout);
	}
}

static void print_head(const random_definition *d, const char *body, head *h, heddle_text *inputs, heddle_text *outputs)
{
	print_tensors(d, body, h, inputs, outputs);
	for (int i = 0; i < RANDOM_N_SIZE; i++) {
		h->size[i] = !mentions(heddle_text_str(inputs), random_sizes[i]) &&
			     (mentions(body, random_sizes[i]) || mentions(heddle_text_str(outputs), random_sizes[i]));
		if (h->size[i])
			heddle_text_printf(inputs, "%ssize %s", inputs->length ? ", " : "", random_sizes[i]);
	}
}

/* What the callee's head asks for, in its order. */
static void print_call(const random_definition *d, const random_stmt *s, heddle_text *out)
{
	const random_definition *callee = d->callee;
	heddle_text body = {0}, inputs = {0}, outputs = {0}, results = {0}, arguments = {0};
	head h;
	int n = 0;
	print_body(callee, &body);
	print_head(callee, heddle_text_str(&body), &h, &inputs, &outputs);
	for (int t = 0; t < callee->n_tensor; t++) {
		if (callee->tensor[t].output && h.written[t])
			heddle_text_printf(&results, "%s%s", n++ ? ", " : "", d->tensor[s->passed[t]].name);
		if (h.read[t])
			heddle_text_printf(&arguments, "%s%s", arguments.length ? ", " : "",
					   s->scalar[t] ? s->scalar[t] : d->tensor[s->passed[t]].name);
	}
	for (int i = 0; i < RANDOM_N_SIZE; i++)
		if (h.size[i])
			heddle_text_printf(&arguments, "%s%s", arguments.length ? ", " : "",
					   s->size_argument[i] ? s->size_argument[i] : random_sizes[i]);
	heddle_text_printf(out, n == 1 ? "%s = %s(%s)\n" : "(%s) = %s(%s)\n", heddle_text_str(&results), callee->name,
			   heddle_text_str(&arguments));
	heddle_text_free(&body);
	heddle_text_free(&inputs);
	heddle_text_free(&outputs);
	heddle_text_free(&results);
	heddle_text_free(&arguments);
}

static void print_stmt(const random_definition *d, const random_stmt *s, heddle_text *out)
{
	const random_tensor *target = &d->tensor[s->target];
	heddle_text_add(out, "\t");
	if (s->call) {
		print_call(d, s, out);
		return;
	}
	if (s->typed && !target->inout && !(target->output && target->declared))
		heddle_text_printf(out, "%s ", heddle_type_name(target->type));
	heddle_text_add(out, target->name);
	for (int i = 0; i < target->rank; i++)
		heddle_text_printf(out, "%s%s", i ? ", " : "(", s->lhs[i]);
	heddle_text_printf(out, "%s %s ", target->rank ? ")" : "", s->assign);
	print_expr(d, s->value, out);
	if (s->library)
		heddle_text_printf(out, " <=> library(%s)", target->name);
	const char *before = " where ";
	for (int i = 0; i < s->n_where; i++, before = ", ")
		heddle_text_printf(out, "%s%s", before, s->where[i]);
	for (int i = 0; i < s->n_let; i++, before = ", ") {
		heddle_text_printf(out, "%sv%d = ", before, i);
		print_expr(d, s->let[i], out);
	}
	if (s->exists) {
		heddle_text_printf(out, "%sexists ", before);
		print_expr(d, s->exists, out);
	}
	heddle_text_add(out, "\n");
}

static void print_body(const random_definition *d, heddle_text *body)
{
	for (int s = 0; s < d->n_stmt; s++)
		print_stmt(d, &d->stmt[s], body);
}

void random_print(const random_definition *d, heddle_text *out)
{
	heddle_text body = {0}, inputs = {0}, outputs = {0};
	bool calls = false;
	head h;
	for (int s = 0; s < d->n_stmt; s++)
		calls |= d->stmt[s].call;
	print_body(d, &body);
	print_head(d, heddle_text_str(&body), &h, &inputs, &outputs);
	if (calls && d->callee_last && strcmp(d->name, "f") != 0)
		random_print(d->callee, out);
	heddle_text_printf(out, "def %s(%s) -> (%s) {\n%s}\n", d->name, heddle_text_str(&inputs), heddle_text_str(&outputs),
			   heddle_text_str(&body));
	if (calls && !(d->callee_last && strcmp(d->name, "f") != 0))
		random_print(d->callee, out);
	heddle_text_free(&body);
	heddle_text_free(&inputs);
	heddle_text_free(&outputs);
}
