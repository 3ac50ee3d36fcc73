/* Prototypes to the skeleton of a manifest.
 *
 * Every guess is a note; what cannot be guessed is text that begins with TODO, which the reader of manifests refuses.
 * SPDX-License-Identifier: MIT
 */
#include "compile/skeleton.h"

#include "backends/emulator/text.h"
#include "compile/manifest.h"

#include <ctype.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct skeleton {
	heddle_ctx *ctx;
	heddle_arena *arena;
	const heddle_skeleton_options *options;
	const heddle_definition *definition;
	heddle_text *out;
	int n_todo, n_note;
	const char **note;
	int n_size, n_argument;
	const char **size, **argument; /* names already written */
	heddle_text arguments;
	int n_chosen;
	struct choice *chosen;
} skeleton;

typedef struct choice {
	const heddle_prototype *p;
	const char *instance; /* NULL: plain, or not decided */
} choice;

static void quote(heddle_text *out, const char *s)
{
	json_t *value = json_string(s);
	char *text = value ? json_dumps(value, JSON_ENCODE_ANY) : NULL;
	heddle_text_add(out, text ? text : "\"?\"");
	free(text);
	json_decref(value);
}

static void todo(skeleton *s, heddle_text *out, const char *format, ...) HEDDLE_PRINTF(3, 4);
static void todo(skeleton *s, heddle_text *out, const char *format, ...)
{
	heddle_text text = {0};
	va_list args;
	va_start(args, format);
	heddle_text_add(&text, "TODO: ");
	heddle_text_vprintf(&text, format, args);
	va_end(args);
	quote(out, heddle_text_str(&text));
	heddle_text_free(&text);
	s->n_todo++;
}

static void note(skeleton *s, const char *format, ...) HEDDLE_PRINTF(2, 3);
static void note(skeleton *s, const char *format, ...)
{
	heddle_text text = {0};
	va_list args;
	va_start(args, format);
	heddle_text_vprintf(&text, format, args);
	va_end(args);
	HEDDLE_PUSH(s->arena, s->note, s->n_note, heddle_arena_strdup(s->arena, heddle_text_str(&text)));
	heddle_text_free(&text);
}

/* ---- names of the definition ------------------------------------------------------------------------------------------------------ */

static bool taken(const skeleton *s, const char *name)
{
	for (int i = 0; i < s->n_argument; i++)
		if (strcmp(s->argument[i], name) == 0)
			return true;
	return false;
}

/* The tensor that a parameter is: by its name, else as the only one left of its type and direction. */
static const heddle_tensor *tensor_of(const skeleton *s, const heddle_prototype *p, const heddle_parameter *a)
{
	const heddle_definition *d = s->definition;
	const heddle_tensor *only = NULL;
	for (int i = 0; i < d->n_input + d->n_output && i < d->n_tensor; i++)
		if (strcmp(d->tensor[i]->name, a->name) == 0)
			return d->tensor[i];
	for (int i = 0; i < d->n_input + d->n_output && i < d->n_tensor; i++)
		if (strcasecmp(d->tensor[i]->name, a->name) == 0)
			return d->tensor[i];
	if (!a->pointer)
		return NULL;
	int left = 0;
	for (int i = 0; i < d->n_input + d->n_output && i < d->n_tensor; i++) {
		const heddle_tensor *t = d->tensor[i];
		const bool input = t->role == HEDDLE_ROLE_INPUT;
		bool named = false;
		for (int c = 0; c < s->n_chosen; c++)
			for (int k = 0; k < s->chosen[c].p->n_parameter; k++)
				named = named || strcasecmp(s->chosen[c].p->parameter[k].name, t->name) == 0;
		if (!named && t->rank > 0 && (int)t->type == a->element && input == a->constant) {
			only = t;
			left++;
		}
	}
	int rivals = 0; /* parameters that could be it as well */
	for (int k = 0; k < p->n_parameter && only; k++) {
		const heddle_parameter *b = &p->parameter[k];
		bool named = false;
		for (int i = 0; i < d->n_tensor; i++)
			named = named || strcasecmp(d->tensor[i]->name, b->name) == 0;
		rivals += !named && b->pointer && b->element == a->element && b->constant == a->constant;
	}
	return left == 1 && rivals == 1 ? only : NULL;
}

static const char *size_of(const skeleton *s, const char *name)
{
	const heddle_definition *d = s->definition;
	if (!d)
		return name;
	for (int i = 0; i < d->n_size; i++)
		if (strcmp(d->size[i]->name, name) == 0)
			return d->size[i]->name;
	for (int i = 0; i < d->n_size; i++)
		if (strcasecmp(d->size[i]->name, name) == 0)
			return d->size[i]->name;
	return NULL;
}

static bool is_integer(int type)
{
	return type >= 0 && type != HEDDLE_BOOL && !heddle_type_is_float((heddle_type)type);
}

/* A by-value parameter that is a size, under the manifest's name for it. */
static const char *size_name(const skeleton *s, const heddle_parameter *a)
{
	if (a->pointer || !is_integer(a->element) || heddle_type_size((heddle_type)a->element) < 4)
		return NULL;
	return size_of(s, a->name);
}

static const char *sizes_list(const skeleton *s)
{
	const char *out = "";
	for (int i = 0; i < s->n_size; i++)
		out = heddle_arena_printf(s->arena, "%s%s%s", out, i ? ", " : "", s->size[i]);
	return s->n_size ? out : "numbers (the kernels take no sizes)";
}

/* ---- formulas over parameters to formulas over sizes ------------------------------------------------------------------------------ */

static void add_size(skeleton *s, const char *name)
{
	for (int i = 0; i < s->n_size; i++)
		if (strcmp(s->size[i], name) == 0)
			return;
	HEDDLE_PUSH(s->arena, s->size, s->n_size, name);
}

/* Variables of the host are sizes too, unless a definition says which there are. */
static void add_host_sizes(skeleton *s, const heddle_prototype *p, const char *formula)
{
	for (const char *at = formula ? strchr(formula, '$') : NULL; at && !s->definition; at = strchr(at + 1, '$')) {
		size_t n = 1;
		while (isalnum((unsigned char)at[n]) || at[n] == '_')
			n++;
		const char *name = heddle_arena_strndup(s->arena, at + 1, n - 1);
		const int before = s->n_size;
		add_size(s, name);
		if (s->n_size > before)
			note(s, "%s: %s of the host is taken for a size", p->name, name);
	}
}

/* "(((n)+(128)-1)/(128))" as "(n+128-1)/128": macros bring brackets that nobody needs. */
static const char *fewer_brackets(heddle_arena *arena, const char *formula)
{
	char *text = heddle_arena_strdup(arena, formula);
	size_t n = strlen(text);
	for (size_t i = 0; i < n; i++) {
		size_t k = 1;
		while (isalnum((unsigned char)text[i + k]) || text[i + k] == '_')
			k++;
		if (text[i] != '(' || k == 1 || text[i + k] != ')' || (i && (isalnum((unsigned char)text[i - 1]) || text[i - 1] == '_')))
			continue;
		memmove(text + i, text + i + 1, k - 1);
		memmove(text + i + k - 1, text + i + k + 1, n - i - k);
		n -= 2;
		i = 0;
	}
	for (bool outer = true; outer && n > 2 && text[0] == '(';) {
		int depth = 0;
		for (size_t i = 0; i < n && outer; i++) {
			depth += text[i] == '(';
			depth -= text[i] == ')';
			outer = depth > 0 || i == n - 1;
		}
		if (outer) {
			memmove(text, text + 1, n - 2);
			n -= 2;
			text[n] = 0;
		}
	}
	return text;
}

static const char *with_sizes(const skeleton *s, const heddle_prototype *p, const char *formula)
{
	heddle_text text = {0};
	bool bad = !formula;
	for (const char *at = formula; at && *at && !bad;) {
		size_t n = 0;
		const bool host = *at == '$';
		at += host;
		while (isalnum((unsigned char)at[n]) || at[n] == '_')
			n++;
		if (!n || isdigit((unsigned char)*at)) {
			heddle_text_addn(&text, at, n ? n : 1);
			at += n ? n : 1;
			continue;
		}
		const char *word = heddle_arena_strndup(s->arena, at, n), *size = NULL;
		if (host)
			size = size_of(s, word);
		for (int i = 0; i < p->n_parameter && !host; i++)
			if (strcmp(p->parameter[i].name, word) == 0)
				size = size_name(s, &p->parameter[i]);
		if (size)
			heddle_text_add(&text, size);
		else
			bad = true;
		at += n;
	}
	heddle_manifest_size *size = HEDDLE_NEW_ARRAY(s->arena, heddle_manifest_size, s->n_size + 1);
	for (int i = 0; i < s->n_size; i++)
		size[i] = (heddle_manifest_size){s->size[i], 1, INT32_MAX, 1};
	heddle_ctx *quiet = heddle_ctx_new();
	const char *out = bad ? NULL : fewer_brackets(s->arena, heddle_text_str(&text));
	if (out && heddle_formula_check(quiet, out, s->n_size, size) < 0)
		out = NULL;
	heddle_ctx_free(quiet);
	heddle_text_free(&text);
	return out;
}

/* A number as a number. */
static void put_formula(heddle_text *out, const char *formula)
{
	if (*formula && strspn(formula, "0123456789") == strlen(formula) && strlen(formula) < 10)
		heddle_text_add(out, formula);
	else
		quote(out, formula);
}

/* ---- arguments ------------------------------------------------------------------------------------------------------------------------ */

static void put_type(skeleton *s, heddle_text *out, const heddle_parameter *a)
{
	heddle_text_add(out, "\"type\": ");
	if (a->element >= 0)
		quote(out, heddle_type_name((heddle_type)a->element));
	else
		todo(s, out, "the scalar type of %s, which the source calls %s", a->name, a->what ? a->what : a->type);
}

static void put_role(skeleton *s, heddle_text *out, const heddle_prototype *p, const heddle_parameter *a)
{
	heddle_text_add(out, "\"role\": ");
	if (a->constant || a->use == HEDDLE_USE_READ)
		quote(out, "input");
	else if (a->use == HEDDLE_USE_WRITE)
		quote(out, "output");
	else if (a->use == (HEDDLE_USE_READ | HEDDLE_USE_WRITE))
		quote(out, "inout");
	else
		todo(s, out, "input, output or inout: what %s does with %s is not plain", p->name, a->name);
	if (!a->constant && (a->use == HEDDLE_USE_WRITE || a->use == (HEDDLE_USE_READ | HEDDLE_USE_WRITE)))
		note(s, "%s: line %d: %s is taken for an %s", p->name, a->line, a->name,
		     a->use == HEDDLE_USE_WRITE ? "output: it is written and never read"
						: "inout: it is read and written; \"output\" if the kernel writes before it reads");
}

static void put_extents(skeleton *s, heddle_text *out, const heddle_tensor *t)
{
	heddle_text_add(out, "[");
	for (int d = 0; d < t->rank; d++) {
		heddle_text text = {0};
		heddle_expr_print(t->extent[d], &text);
		heddle_text_add(out, d ? ", " : "");
		put_formula(out, heddle_text_str(&text));
		heddle_text_free(&text);
	}
	heddle_text_add(out, "]");
	(void)s;
}

static void put_tensor(skeleton *s, heddle_text *out, const heddle_prototype *p, const heddle_parameter *a)
{
	static const char *const roles[] = {"input", "output", "inout", "temporary"};
	const heddle_tensor *t = s->definition ? tensor_of(s, p, a) : NULL;
	if (t) {
		heddle_text_printf(out, "\"role\": \"%s\", ", roles[t->role]);
		if (a->element >= 0 && (heddle_type)a->element != t->type) {
			heddle_text_add(out, "\"type\": ");
			todo(s, out, "%s is %s in the source and %s in the definition", a->name, a->type, heddle_type_name(t->type));
		} else {
			heddle_text_printf(out, "\"type\": \"%s\"", heddle_type_name(t->type));
		}
		heddle_text_add(out, ", \"shape\": ");
		put_extents(s, out, t);
	} else if (s->definition) {
		heddle_text_add(out, "\"role\": ");
		todo(s, out, "%s is no tensor of %s by its name: give its name there above and its role, or temporary",
		     a->name, s->definition->name);
		heddle_text_add(out, ", ");
		put_type(s, out, a);
		heddle_text_add(out, ", \"shape\": [");
		todo(s, out, "extents of %s, formulas over %s", a->name, sizes_list(s));
		heddle_text_add(out, "]");
	} else {
		put_role(s, out, p, a);
		heddle_text_add(out, ", ");
		put_type(s, out, a);
		heddle_text_add(out, ", \"shape\": [");
		todo(s, out, "extents of %s, formulas over %s", a->name, sizes_list(s));
		heddle_text_add(out, "]");
	}
	if (a->element >= 0 && a->align > heddle_type_size((heddle_type)a->element))
		heddle_text_printf(out, ", \"align\": %d", a->align);
	const bool index = a->element == HEDDLE_INT32 || a->element == HEDDLE_INT64 || a->element == HEDDLE_UINT32 || a->element == HEDDLE_UINT64;
	if (!s->definition && index && (a->constant || a->use == HEDDLE_USE_READ)) {
		heddle_text_add(out, ", \"range\": [");
		todo(s, out, "least value of %s", a->name);
		heddle_text_add(out, ", ");
		todo(s, out, "greatest value, such as V-1 of a subscript below V");
		heddle_text_add(out, "]");
	}
}

static const char *argument_name(const skeleton *s, const heddle_prototype *p, const heddle_parameter *a, int number)
{
	const heddle_tensor *t = s->definition && *a->name ? tensor_of(s, p, a) : NULL;
	return t ? t->name : *a->name ? a->name : heddle_arena_printf(s->arena, "argument_%d", number + 1);
}

/* A parameter as an argument of the list; sizes and shared memory are none. */
static void add_argument(skeleton *s, const heddle_prototype *p, int number)
{
	const heddle_parameter *a = &p->parameter[number];
	const char *name = argument_name(s, p, a, number);
	if (a->local || size_name(s, a) || taken(s, name))
		return;
	const heddle_tensor *scalar = s->definition && !a->pointer ? tensor_of(s, p, a) : NULL;
	if (s->definition && !a->pointer && !scalar)
		return; /* a literal, or a size of another name: the launch asks */
	heddle_text *out = &s->arguments;
	HEDDLE_PUSH(s->arena, s->argument, s->n_argument, name);
	heddle_text_add(out, s->n_argument > 1 ? ",\n    {\"name\": " : "\n    {\"name\": ");
	quote(out, name);
	heddle_text_add(out, ", ");
	if (a->pointer) {
		put_tensor(s, out, p, a);
	} else {
		heddle_text_add(out, "\"role\": \"scalar\", ");
		put_type(s, out, a);
		if (!s->definition) {
			heddle_text_add(out, ", \"value\": ");
			todo(s, out, "the number to pass for %s %s", a->type, a->name);
		}
	}
	heddle_text_add(out, "}");
}

/* ---- launches --------------------------------------------------------------------------------------------------------------------------- */

/* "k< float,128 >" and "ns::k<float, 128>" are the same. */
static bool same_instance(const char *a, const char *b)
{
	const char *p = a + strcspn(a, "<"), *q = b + strcspn(b, "<");
	while (p > a && p[-1] != ':')
		p--;
	while (q > b && q[-1] != ':')
		q--;
	for (;; p++, q++) {
		p += strspn(p, " ");
		q += strspn(q, " ");
		if (*p != *q || !*p)
			return *p == *q;
	}
}

static const heddle_host_launch *host_launch(const heddle_prototype *p, const char *kernel)
{
	for (int i = 0; i < p->n_host; i++)
		if (same_instance(p->host[i].instance, kernel))
			return &p->host[i];
	return p->n_host && !strchr(kernel, '<') ? &p->host[0] : NULL;
}

static void put_kernel(skeleton *s, const heddle_prototype *p, const char *instance)
{
	heddle_text *out = s->out;
	if (!p->n_template || instance) {
		quote(out, instance ? instance : p->name);
		return;
	}
	heddle_text list = {0};
	for (int i = 0; i < p->n_instance; i++)
		heddle_text_printf(&list, "%s%s", i ? ", " : "one of ", p->instance[i]);
	for (int i = 0; !p->n_instance && i < p->n_template; i++)
		heddle_text_printf(&list, "%s%s%s", i ? ", " : "an instance: ", i ? "" : heddle_arena_printf(s->arena, "%s<", p->name),
				   p->template_parameter[i].name);
	todo(s, out, "%s%s (or write this file again with --instance)", heddle_text_str(&list), p->n_instance ? "" : ">");
	heddle_text_free(&list);
}

static void put_grid(skeleton *s, const heddle_prototype *p, const heddle_host_launch *h)
{
	static const char axis[] = "xyz";
	heddle_text *out = s->out;
	heddle_text_add(out, ", \"grid\": [");
	if (h)
		note(s, "%s: grid and block as launched in line %d: <<<%s>>>", p->name, h->line, h->text);
	for (int d = 0; d < 3; d++) {
		const char *formula = h ? with_sizes(s, p, h->grid[d]) : NULL;
		heddle_text_add(out, d ? ", " : "");
		if (formula)
			put_formula(out, formula);
		else if (h)
			todo(s, out, "blocks along %c, a formula over %s; line %d launches <<<%s>>>", axis[d], sizes_list(s), h->line, h->text);
		else if (d == 0)
			todo(s, out, "blocks (not threads) along x, a formula over %s", sizes_list(s));
		else
			heddle_text_add(out, "1");
	}
	if (!h)
		note(s, "%s: one block along y and z is a guess: the source does not launch it", p->name);
	heddle_text_add(out, "]");
}

static void put_block(skeleton *s, const heddle_prototype *p, const heddle_host_launch *h)
{
	heddle_text *out = s->out;
	int block[3] = {p->block[0], p->block[1], p->block[2]};
	bool host = h && !p->block_exact;
	for (int d = 0; d < 3 && h; d++)
		host = host && h->block[d] > 0;
	for (int d = 0; d < 3 && host; d++)
		block[d] = h->block[d];
	heddle_text_add(out, ", \"block\": [");
	for (int d = 0; d < 3; d++) {
		heddle_text_add(out, d ? ", " : "");
		if (block[0] > 0)
			heddle_text_printf(out, "%d", block[d] > 0 ? block[d] : 1);
		else if (d == 0)
			todo(s, out, "threads of a block along x%s%s", h ? "; launched as " : "", h ? h->text : "");
		else
			heddle_text_add(out, "1");
	}
	heddle_text_add(out, "]");
	if (block[0] > 0 && !host && !p->block_exact)
		note(s, "%s: line %d: %d threads are the most that __launch_bounds__ allows; correct the block if you launch fewer, or in "
			"two dimensions",
		     p->name, p->block_line, block[0]);
	if (p->block_line && !block[0])
		note(s, "%s: line %d: the bound on threads is no constant that is known here", p->name, p->block_line);
}

static void put_launch_argument(skeleton *s, const heddle_prototype *p, const heddle_host_launch *h, int number)
{
	const heddle_parameter *a = &p->parameter[number];
	const char *size = size_name(s, a), *name = argument_name(s, p, a, number);
	heddle_text *out = s->out;
	if (a->local) {
		heddle_text_add(out, "{\"local\": ");
		todo(s, out, "bytes of %s %s, a formula over %s", a->type, a->name, sizes_list(s));
		heddle_text_add(out, "}");
	} else if (size) {
		heddle_text_add(out, "{\"size\": ");
		quote(out, size);
		if (a->element != HEDDLE_INT64)
			heddle_text_printf(out, ", \"type\": \"%s\"", heddle_type_name((heddle_type)a->element));
		heddle_text_add(out, "}");
	} else if (taken(s, name)) {
		quote(out, name);
	} else if (is_integer(a->element) && h && number < h->n_argument && with_sizes(s, p, h->argument[number])) {
		heddle_text_add(out, "{\"formula\": ");
		put_formula(out, with_sizes(s, p, h->argument[number]));
		heddle_text_printf(out, ", \"type\": \"%s\"}", heddle_type_name((heddle_type)a->element));
	} else if (is_integer(a->element)) {
		heddle_text_add(out, "{\"size\": ");
		todo(s, out, "which size %s is (%s); or put {\"literal\": number} or {\"formula\": ..} here", a->name, sizes_list(s));
		heddle_text_printf(out, ", \"type\": \"%s\"}", heddle_type_name((heddle_type)a->element));
	} else {
		heddle_text_add(out, "{\"literal\": ");
		todo(s, out, "the number to pass for %s %s, which %s does not have", a->type, a->name, s->definition->name);
		heddle_text_add(out, ", ");
		put_type(s, out, a);
		heddle_text_add(out, "}");
	}
}

static void put_launch(skeleton *s, const heddle_prototype *p, const char *instance)
{
	const heddle_host_launch *h = host_launch(p, instance ? instance : p->name);
	heddle_text *out = s->out;
	heddle_text_add(out, "    {\"kernel\": ");
	put_kernel(s, p, instance);
	put_grid(s, p, h);
	put_block(s, p, h);
	const char *shared = h ? with_sizes(s, p, h->shared) : NULL;
	heddle_text_add(out, ", \"dynamic_shared_bytes\": ");
	if (p->dynamic_shared && !shared)
		todo(s, out, "bytes of %s of line %d, a formula over %s", p->dynamic_shared, p->dynamic_line, sizes_list(s));
	else
		put_formula(out, p->dynamic_shared ? shared : "0");
	heddle_text_add(out, ",\n     \"arguments\": [");
	for (int i = 0; i < p->n_parameter; i++) {
		heddle_text_add(out, i ? ", " : "");
		put_launch_argument(s, p, h, i);
	}
	heddle_text_add(out, "]}");
}

/* ---- all together ------------------------------------------------------------------------------------------------------------------------ */

static void add_sizes(skeleton *s, const heddle_prototype *p)
{
	for (int i = 0; i < p->n_parameter && !s->definition; i++) {
		const char *name = size_name(s, &p->parameter[i]);
		bool known = !name;
		for (int k = 0; k < s->n_size && name; k++)
			known = known || strcmp(s->size[k], name) == 0;
		if (known)
			continue;
		add_size(s, name);
		note(s, "%s: line %d: %s %s is taken for a size; put {\"literal\": number} in the launch if it is a flag", p->name,
		     p->parameter[i].line, p->parameter[i].type, name);
	}
}

/* The way from the manifest's folder to a path. */
static const char *from_manifest(const skeleton *s, const char *path)
{
	const char *output = s->options->output;
	const char *slash = output ? strrchr(output, '/') : NULL, *own = strrchr(path, '/');
	if (!output)
		return path == s->options->path && own ? own + 1 : path;
	const size_t n = slash ? (size_t)(slash - output) + 1 : 0;
	if (path[0] == '/' || (n && output[0] == '/') || strstr(output, ".."))
		return slash && own && (size_t)(own - path) + 1 == n && strncmp(path, output, n) == 0 ? own + 1 : path;
	if (strncmp(path, output, n) == 0)
		return path + n;
	const char *up = "";
	for (size_t i = 0; i < n; i++)
		if (output[i] == '/')
			up = heddle_arena_printf(s->arena, "%s../", up);
	return heddle_arena_printf(s->arena, "%s%s", up, path);
}

static void put_head(skeleton *s)
{
	const heddle_target *t = s->options->target;
	heddle_text *out = s->out;
	heddle_text_add(out, "{\n  \"schema\": \"heddle.manifest/1\",\n");
	if (s->definition) {
		heddle_text_add(out, "  \"definition\": ");
		quote(out, s->definition->name);
		heddle_text_add(out, ",\n");
	}
	heddle_text_add(out, "  \"backend\": ");
	quote(out, t->backend);
	heddle_text_add(out, ",\n  \"arch\": ");
	quote(out, t->descriptor->name);
	heddle_text_add(out, ",\n  \"source\": ");
	quote(out, from_manifest(s, s->options->path));
	heddle_text_add(out, ",\n");
	for (int i = 0; i < s->options->n_define; i++) {
		const char *d = s->options->define[i], *value = strchr(d, '=');
		heddle_text_add(out, i ? ", " : "  \"defines\": {");
		quote(out, heddle_arena_strndup(s->arena, d, strcspn(d, "=")));
		heddle_text_add(out, ": ");
		put_formula(out, value ? value + 1 : "1");
		heddle_text_add(out, i + 1 == s->options->n_define ? "},\n" : "");
	}
	for (int i = 0; i < s->options->n_include; i++) {
		heddle_text_add(out, i ? ", " : "  \"include_paths\": [");
		quote(out, from_manifest(s, s->options->include[i]));
		heddle_text_add(out, i + 1 == s->options->n_include ? "],\n" : "");
	}
	heddle_text_add(out, "  \"sizes\": {");
	for (int i = 0; i < s->n_size; i++)
		heddle_text_printf(out, "%s\"%s\": {\"min\": 1}", i ? ", " : "", s->size[i]);
	heddle_text_printf(out, "},\n  \"warp\": %d,\n", t->descriptor->warp.set ? (int)t->descriptor->warp.value : 1);
}

static int refuse_unpassable(skeleton *s, const heddle_prototype *p)
{
	int bad = 0;
	for (int i = 0; i < p->n_parameter; i++)
		if (p->parameter[i].unsupported)
			bad = heddle_error(s->ctx, 787, NULL, "unsupported: %s at %s:%d: parameter '%s' of %s", p->parameter[i].unsupported,
					   p->file, p->parameter[i].line, p->parameter[i].name, p->name);
	for (int i = 0; i < p->n_parameter; i++)
		if (!p->parameter[i].unsupported && !p->parameter[i].pointer && p->parameter[i].element < 0 && !p->n_template)
			bad = heddle_error(s->ctx, 787, NULL, "unsupported: %s by value at %s:%d: parameter '%s' of %s",
					   p->parameter[i].type, p->file, p->parameter[i].line, p->parameter[i].name, p->name);
	return bad;
}

static bool is_named(const heddle_prototype *p, const char *instance)
{
	const size_t n = strcspn(instance, "<");
	const char *colon = strrchr(p->name, ':'), *plain = colon ? colon + 1 : p->name;
	return (strlen(p->name) == n && strncmp(p->name, instance, n) == 0) || (strlen(plain) == n && strncmp(plain, instance, n) == 0);
}

static int choose(skeleton *s, const heddle_prototype_list *list, choice **chosen, int *n)
{
	*n = 0;
	*chosen = NULL;
	for (int i = 0; i < s->options->n_instance; i++) {
		const char *instance = s->options->instance[i];
		int k = 0;
		while (k < list->n && !is_named(&list->item[k], instance))
			k++;
		if (k == list->n) {
			const char **names = HEDDLE_NEW_ARRAY(s->arena, const char *, list->n + 1), *all = "";
			for (int j = 0; j < list->n; j++) {
				names[j] = list->item[j].name;
				all = heddle_arena_printf(s->arena, "%s%s%s", all, j ? ", " : "", names[j]);
			}
			heddle_error(s->ctx, 789, NULL, "'%s' has no kernel '%s'", s->options->path, instance);
			heddle_note(s->ctx, NULL, "its kernels: %s", all);
			return -1;
		}
		const char *angle = strchr(instance, '<');
		const choice c = {&list->item[k],
				  angle ? heddle_arena_printf(s->arena, "%s%s", list->item[k].name, angle) : NULL};
		HEDDLE_PUSH(s->arena, *chosen, *n, c);
	}
	for (int k = 0; k < list->n && !s->options->n_instance; k++) {
		const choice c = {&list->item[k], NULL};
		HEDDLE_PUSH(s->arena, *chosen, *n, c);
	}
	for (int i = 0; i < *n; i++) {
		const heddle_prototype *p = (*chosen)[i].p;
		if (p->n_template && !(*chosen)[i].instance && p->n_instance == 1) {
			const char *angle = strchr(p->instance[0], '<');
			(*chosen)[i].instance = heddle_arena_printf(s->arena, "%s%s", p->name, angle ? angle : "");
			note(s, "%s: the only instance in the source is taken: %s", p->name, p->instance[0]);
		}
	}
	return 0;
}

/* Headers that no level serves may be in parts that are not compiled: a note only. */
static void note_headers(skeleton *s, const char *source)
{
	int line = 1;
	for (const char *at = source; *at; at += strcspn(at, "\n"), at += *at == '\n', line++) {
		const char *text = at + strspn(at, " \t");
		if (*text != '#' || strncmp(text + 1 + strspn(text + 1, " \t"), "include", 7) != 0)
			continue;
		const char *open = strpbrk(text, "<\"\n");
		if (open && *open != '\n' && heddle_foreign_header(open + 1, true))
			heddle_warning(s->ctx, 787, NULL, "header %.*s at %s:%d: levels that do not have it answer 'unsupported'",
				       (int)strcspn(open, "\n\r"), open, s->options->path, line);
	}
}

static int write(skeleton *s, const char *source, const heddle_prototype_list *list)
{
	choice *chosen;
	int n, bad = 0;
	for (int i = 0; i < list->n_feature; i++)
		heddle_warning(s->ctx, 787, NULL, "%s at %s:%d: levels that do not take it answer 'unsupported'", list->feature[i].what,
			       list->feature[i].file, list->feature[i].line);
	note_headers(s, source);
	if (!list->n)
		return heddle_error(s->ctx, 789, NULL, "'%s' has no kernel for %s", s->options->path, s->options->target->backend);
	if (choose(s, list, &chosen, &n) < 0)
		return -1;
	s->n_chosen = n;
	s->chosen = chosen;
	for (int i = 0; i < n; i++)
		bad = refuse_unpassable(s, chosen[i].p) < 0 ? -1 : bad;
	if (bad)
		return -1;
	for (int i = 0; s->definition && i < s->definition->n_size; i++)
		HEDDLE_PUSH(s->arena, s->size, s->n_size, s->definition->size[i]->name);
	for (int i = 0; i < n; i++)
		add_sizes(s, chosen[i].p);
	for (int i = 0; i < n; i++) {
		const heddle_prototype *p = chosen[i].p;
		const heddle_host_launch *h = host_launch(p, chosen[i].instance ? chosen[i].instance : p->name);
		for (int d = 0; h && d < 3; d++)
			add_host_sizes(s, p, h->grid[d]);
	}
	for (int i = 0; i < n; i++)
		for (int k = 0; k < chosen[i].p->n_parameter; k++)
			add_argument(s, chosen[i].p, k);
	put_head(s);
	heddle_text_printf(s->out, "  \"arguments\": [%s\n  ],\n  \"launches\": [", heddle_text_str(&s->arguments));
	for (int i = 0; i < n; i++) {
		heddle_text_add(s->out, i ? ",\n" : "\n");
		put_launch(s, chosen[i].p, chosen[i].instance);
	}
	heddle_text_add(s->out, "\n  ],\n  \"notes\": [");
	for (int i = 0; i < s->n_note; i++) {
		heddle_text_add(s->out, i ? ",\n    " : "\n    ");
		quote(s->out, s->note[i]);
	}
	heddle_text_add(s->out, s->n_note ? "\n  ]\n}\n" : "]\n}\n");
	return 0;
}

int heddle_skeleton_write(heddle_ctx *ctx, const char *source, const heddle_skeleton_options *options, heddle_text *out,
			  int *n_todo)
{
	heddle_arena *arena = heddle_arena_new();
	skeleton s = {.ctx = ctx, .arena = arena, .options = options, .definition = options->definition, .out = out};
	heddle_token_list tokens = {.arena = arena};
	heddle_prototype_list list = {.arena = arena};
	const char **flag = NULL;
	int n = 0;
	for (int i = 0; i < options->n_define; i++)
		HEDDLE_PUSH(arena, flag, n, heddle_arena_printf(arena, "-D%s", options->define[i]));
	for (int i = 0; i < options->n_include; i++)
		HEDDLE_PUSH(arena, flag, n, heddle_arena_printf(arena, "-I%s", options->include[i]));
	const heddle_preprocess_options how = {.path = options->path, .backend = options->target->backend, .n_flag = n, .flag = flag,
					       .own = options->own_preprocessor};
	int result = heddle_preprocess(ctx, source, &how, &tokens);
	if (result == 0)
		result = heddle_prototypes_find(ctx, &tokens, options->target->backend, options->n_instance, options->instance, &list);
	if (result == 0)
		result = write(&s, source, &list);
	*n_todo = s.n_todo;
	heddle_text_free(&s.arguments);
	heddle_arena_free(arena);
	return result;
}
