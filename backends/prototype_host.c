/* Launches in host code: grids, blocks and instances of kernels as formulas over what the host passes.
 * SPDX-License-Identifier: MIT
 */
#include "backends/prototype_scan.h"

#include <stdlib.h>
#include <string.h>

/* ---- host launches ------------------------------------------------------------------------------------------------------------------ */

typedef struct host {
	const scanner *s;
	int at;		/* the launch */
	int n;		/* arguments and what kernel parameter each is */
	const char **argument;
	const heddle_prototype *kernel;
} host;

/* Where the host variable `name` gets its value before the launch: [*begin, *end). */
static bool find_value(const host *h, const char *name, int *begin, int *end)
{
	for (int i = h->at - 1; i > 0 && i > h->at - 4000; i--) {
		if (!is(h->s, i, name))
			continue;
		/* "dim3 a(..)", "dim3 a(..), b(..)" */
		bool dim = is(h->s, i - 1, "dim3");
		for (int k = i - 1; !dim && is(h->s, i - 1, ",") && k > i - 200 && k > 0 && !is(h->s, k, ";") && !is(h->s, k, "{"); k--)
			dim = is(h->s, k, "dim3") && is_word(h->s, k + 1);
		if (dim && (is(h->s, i + 1, "(") || is(h->s, i + 1, "{"))) {
			*begin = i + 2;
			*end = closing(h->s, i + 1);
			return true;
		}
		if (is(h->s, i + 1, "=") && !is(h->s, i + 2, "=")) {
			*begin = i + 2;
			if (is(h->s, *begin, "dim3") && (is(h->s, *begin + 1, "(") || is(h->s, *begin + 1, "{"))) {
				*end = closing(h->s, *begin + 1);
				*begin += 2;
				return true;
			}
			*end = heddle_scan_part_end(h->s, *begin, h->at);
			for (int k = *begin; k < *end; k++)
				if (is(h->s, k, ";"))
					*end = k;
			return *begin < *end;
		}
	}
	return false;
}

/* [begin, end) as a formula over the kernel's parameters; NULL: it has something else in it. */
static const char *formula(const host *h, int begin, int end, int depth)
{
	const scanner *s = h->s;
	heddle_text text = {0};
	bool bad = begin >= end || depth > 6;
	for (int i = begin; i < end && !bad; i++) {
		const heddle_token *t = &s->t[i];
		int64_t value;
		if (t->kind == HEDDLE_TOKEN_NUMBER) {
			bad = !heddle_scan_evaluate((scanner *)(uintptr_t)s, i, i + 1, &value);
			heddle_text_printf(&text, "%lld", (long long)value);
			continue;
		}
		if (t->kind == HEDDLE_TOKEN_MARK) {
			/* "(int)x" */
			if (is(s, i, "(") && is(s, i + 2, ")") && is_word(s, i + 1) && heddle_scan_scalar_type(s->t[i + 1].text) >= 0) {
				i += 2;
				continue;
			}
			bad = !strchr("+-*/%()", t->text[0]);
			heddle_text_add(&text, t->text);
			continue;
		}
		int a, b;
		int which = 0;
		while (which < h->n && strcmp(h->argument[which], t->text) != 0)
			which++;
		if (which < h->n && which < h->kernel->n_parameter && !h->kernel->parameter[which].pointer) {
			heddle_text_add(&text, h->kernel->parameter[which].name);
		} else if ((is(s, i, "sizeof")) && is(s, i + 1, "(")) {
			int members, none = 0;
			const char *what;
			const int close = closing(s, i + 1);
			const int type = heddle_scan_type_of(s, s->t + i + 2, close - i - 2, 0, &members, &none, &what);
			bad = type < 0 || none;
			heddle_text_printf(&text, "%d", type < 0 ? 0 : heddle_type_size((heddle_type)type) * members);
			i = close;
		} else if (heddle_scan_look_up((void *)(uintptr_t)s, t->text, &value)) {
			heddle_text_printf(&text, "%lld", (long long)value);
		} else if (is(s, i, "static_cast") && is(s, i + 1, "<") && heddle_scan_closing_angle(s, i + 1) > 0) {
			i = heddle_scan_closing_angle(s, i + 1);
		} else if (is(s, i + 1, "(") && (strstr(t->text, "div") || strstr(t->text, "Div") || strstr(t->text, "DIV"))) {
			const int close = closing(s, i + 1), comma = heddle_scan_part_end(s, i + 2, close);
			const char *x = formula(h, i + 2, comma, depth + 1), *y = comma < close ? formula(h, comma + 1, close, depth + 1) : NULL;
			bad = !x || !y;
			heddle_text_printf(&text, "((%s+%s-1)/%s)", x ? x : "", y ? y : "", y ? y : "");
			i = close;
		} else if (find_value(h, t->text, &a, &b) && heddle_scan_part_end(s, a, b) == b) {
			const char *inner = formula(h, a, b, depth + 1);
			bad = !inner;
			heddle_text_printf(&text, b - a == 1 ? "%s" : "(%s)", inner ? inner : "");
		} else if (t->kind == HEDDLE_TOKEN_WORD && !is(s, i + 1, "(") && !is(s, i + 1, ".") && !is(s, i + 1, "[") &&
			   !is(s, i + 1, ":") && !is(s, i + 1, "<") && !(is(s, i + 1, "-") && is(s, i + 2, ">"))) {
			heddle_text_printf(&text, "$%s", t->text);
		} else {
			bad = true;
		}
	}
	const char *out = bad ? NULL : heddle_arena_strdup(s->arena, heddle_text_str(&text));
	heddle_text_free(&text);
	return out;
}

/* Up to three formulas: of "a, b", of "dim3(a, b)", of a variable. */
static int formulas(const host *h, int begin, int end, const char *out[3])
{
	const scanner *s = h->s;
	int a, b, n = 0;
	out[0] = out[1] = out[2] = "1";
	if (end - begin == 1 && is_word(s, begin) && find_value(h, s->t[begin].text, &a, &b)) {
		begin = a;
		end = b;
	} else if (is(s, begin, "dim3") && closing(s, begin + 1) == end - 1) {
		begin += 2;
		end--;
	} else if (is(s, begin, "{")) {
		begin++;
		end--;
	}
	while (begin < end && n < 3) {
		const int stop = heddle_scan_part_end(s, begin, end);
		out[n++] = formula(h, begin, stop, 0);
		begin = stop + 1;
	}
	return n;
}

/* The name before tokens that end at `end`: "ns::k<float, 128>"; its begin, or -1. */
static int name_begin(const scanner *s, int end, int *name)
{
	int at = end - 1;
	if (is(s, at, ">")) {
		at = heddle_scan_opening_angle(s, at) - 1;
		if (at < 0)
			return -1;
	}
	*name = at;
	if (!is_word(s, at))
		return -1;
	while (is(s, at - 1, ":") && is(s, at - 2, ":") && is_word(s, at - 3))
		at -= 3;
	return at;
}

static void add_instance(const scanner *s, heddle_prototype *p, const char *instance)
{
	for (int i = 0; i < p->n_instance; i++)
		if (strcmp(p->instance[i], instance) == 0)
			return;
	HEDDLE_PUSH(s->arena, p->instance, p->n_instance, instance);
}

/* The bracket that closes around `at`, which is inside of it. */
static int opening_end(const scanner *s, int at)
{
	int depth = 0;
	for (int i = at + 1; i < s->n; i++) {
		const char c = s->t[i].kind == HEDDLE_TOKEN_MARK ? s->t[i].text[0] : 0;
		if (c == ')' && depth == 0)
			return i;
		depth += c == '(' || c == '[' || c == '{';
		depth -= c == ')' || c == ']' || c == '}';
	}
	return s->n;
}

static void add_host_launch(const scanner *s, heddle_prototype *p, int name, int end, const int part[5], int n_part, int arguments)
{
	host h = {.s = s, .at = name, .kernel = p};
	int close = is(s, arguments, "(") ? closing(s, arguments) : opening_end(s, arguments);
	const host outside = h;
	const char **formula_of = NULL;
	int n_formula = 0;
	for (int i = arguments + 1; i < close;) {
		const int stop = heddle_scan_part_end(s, i, close);
		HEDDLE_PUSH(s->arena, h.argument, h.n, heddle_scan_words(s, i, stop));
		HEDDLE_PUSH(s->arena, formula_of, n_formula, formula(&outside, i, stop, 0));
		i = stop + 1;
	}
	heddle_host_launch l = {.n_argument = n_formula, .argument = formula_of, .line = s->t[name].line, .instance = heddle_scan_words(s, name, end), .shared = "0"};
	const char *block[3];
	formulas(&h, part[0], part[1] - 1, l.grid);
	if (n_part > 1) {
		formulas(&h, part[1], part[2] - 1, block);
		for (int d = 0; d < 3; d++)
			l.block[d] = block[d] && strspn(block[d], "0123456789()+-*/") == strlen(block[d]) ? atoi(block[d]) : 0;
		for (int d = 0; d < 3; d++) {
			heddle_token_list list = {.arena = s->arena};
			const heddle_preprocess_options options = {.path = "", .backend = s->backend, .own = true};
			int64_t value;
			if (block[d] && heddle_preprocess(s->ctx, block[d], &options, &list) == 0 &&
			    heddle_tokens_evaluate(list.t, list.t + list.n, NULL, NULL, &value) && value > 0 && value < 65536)
				l.block[d] = (int)value;
		}
	}
	if (n_part > 2)
		l.shared = formula(&h, part[2], part[3] - 1, 0);
	l.text = heddle_scan_words(s, part[0], part[n_part] - 1);
	if (strchr(l.instance, '<'))
		add_instance(s, p, l.instance);
	HEDDLE_PUSH(s->arena, p->host, p->n_host, l);
}

bool heddle_scan_names(const heddle_prototype *p, const char *name)
{
	const char *colon = strrchr(p->name, ':');
	return strcmp(p->name, name) == 0 || strcmp(colon ? colon + 1 : p->name, name) == 0;
}

void heddle_scan_host_launches(scanner *s, heddle_prototype *p)
{
	for (int k = 0; k < s->n_launch; k++) {
		const int i = s->launch[k];
		int name, begin, part[5], n = 0;
		if (is(s, i, "<") && is(s, i + 1, "<") && is(s, i + 2, "<") && s->t[i + 1].joined && s->t[i + 2].joined) {
			begin = name_begin(s, i, &name);
			int end = i + 3;
			while (end < s->n && !(is(s, end, ">") && is(s, end + 1, ">") && is(s, end + 2, ">")))
				end = is(s, end, "(") || is(s, end, "{") ? closing(s, end) + 1 : end + 1;
			if (begin < 0 || !heddle_scan_names(p, s->t[name].text) || !is(s, end + 3, "("))
				continue;
			for (int at = i + 3; at < end && n < 4; at = part[n])
				part[n] = at, n++, part[n] = heddle_scan_part_end(s, at, end) + 1;
			if (n)
				add_host_launch(s, p, begin, i, part, n, end + 3);
		} else if (is(s, i, "hipLaunchKernelGGL") && is(s, i + 1, "(")) {
			/* (kernel, grid, block, shared, stream, arguments..), the kernel perhaps in HIP_KERNEL_NAME(..) */
			const int close = closing(s, i + 1);
			int end = heddle_scan_part_end(s, i + 2, close), first = i + 2;
			for (int at = end + 1; at < close && n < 4; at = part[n])
				part[n] = at, n++, part[n] = heddle_scan_part_end(s, at, close) + 1;
			const int after = end;
			while (is(s, first, "(") || is(s, first, "HIP_KERNEL_NAME")) {
				end = is(s, first, "(") ? closing(s, first) : closing(s, first + 1);
				first += is(s, first, "(") ? 1 : 2;
			}
			begin = name_begin(s, end, &name);
			if (begin == first && n == 4 && after < close && heddle_scan_names(p, s->t[name].text))
				add_host_launch(s, p, begin, end, part, n, part[4] - 1);
		} else if (is(s, i, "template") && !is(s, i + 1, "<")) {
			/* explicit instantiation: "template __global__ void k<float, 128>(..);" */
			int at = i + 1;
			while (at < s->n && !is(s, at, "(") && !is(s, at, ";"))
				at = is(s, at, "__launch_bounds__") ? closing(s, at + 1) + 1 : at + 1;
			begin = name_begin(s, at, &name);
			if (begin > 0 && heddle_scan_names(p, s->t[name].text) && is(s, at - 1, ">"))
				add_instance(s, p, heddle_scan_words(s, begin, at));
		}
	}
}
