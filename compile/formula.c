/* The manifest's formulas evaluated: integers and sizes with + - * / % min max and parentheses; in preconditions also
 * comparisons, && || ! and ?:.
 *
 *   choice  = or [ "?" choice ":" choice ]        sum     = product { ("+" | "-") product }
 *   or      = and { "||" and }                    product = unary { ("*" | "/" | "%") unary }
 *   and     = compare { "&&" compare }            unary   = [ "-" | "!" ] unary | number | name
 *   compare = sum [ ("<" | "<=" | ...) sum ]                | ("min" | "max") "(" choice "," choice ")" | "(" choice ")"
 * SPDX-License-Identifier: MIT
 */
#include "compile/manifest.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 64 };

typedef struct evaluation {
	const char *s;
	int n_size;
	const heddle_manifest_size *size;
	const int64_t *value; /* NULL: only syntax and names are checked */
	const char *problem;
	int depth;
} evaluation;

static int64_t choice(evaluation *e);

static int64_t stop(evaluation *e, const char *problem)
{
	if (!e->problem)
		e->problem = problem;
	e->s += strlen(e->s);
	return 0;
}

static void space(evaluation *e)
{
	while (isspace((unsigned char)*e->s))
		e->s++;
}

static bool accept(evaluation *e, const char *token)
{
	space(e);
	size_t n = strlen(token);
	if (strncmp(e->s, token, n) != 0)
		return false;
	e->s += n;
	return true;
}

static int64_t size_value(evaluation *e, const char *name, size_t n)
{
	for (int i = 0; i < e->n_size; i++)
		if (strlen(e->size[i].name) == n && strncmp(e->size[i].name, name, n) == 0)
			return e->value ? e->value[i] : e->size[i].min == e->size[i].max ? e->size[i].min : 1;
	return stop(e, "a name that is no size");
}

static int64_t primary(evaluation *e)
{
	space(e);
	if (isdigit((unsigned char)*e->s)) {
		int64_t value = 0;
		while (isdigit((unsigned char)*e->s))
			if (__builtin_mul_overflow(value, (int64_t)10, &value) ||
			    __builtin_add_overflow(value, (int64_t)(*e->s++ - '0'), &value))
				return stop(e, "a number too large");
		return value;
	}
	if (isalpha((unsigned char)*e->s) || *e->s == '_') {
		const char *name = e->s;
		while (isalnum((unsigned char)*e->s) || *e->s == '_')
			e->s++;
		size_t n = (size_t)(e->s - name);
		bool least = n == 3 && strncmp(name, "min", 3) == 0, most = n == 3 && strncmp(name, "max", 3) == 0;
		if (!(least || most) || !accept(e, "("))
			return size_value(e, name, n);
		int64_t a = choice(e);
		if (!accept(e, ","))
			return stop(e, "`,` expected");
		int64_t b = choice(e);
		if (!accept(e, ")"))
			return stop(e, "`)` expected");
		return least ? (a < b ? a : b) : (a > b ? a : b);
	}
	if (accept(e, "(")) {
		int64_t value = choice(e);
		return accept(e, ")") ? value : stop(e, "`)` expected");
	}
	return stop(e, *e->s ? "an unexpected character" : "it ends too early");
}

static int64_t unary(evaluation *e)
{
	if (++e->depth > MAX_DEPTH)
		return stop(e, "nested too deeply");
	int64_t value;
	if (accept(e, "-")) {
		if (__builtin_sub_overflow((int64_t)0, unary(e), &value))
			value = stop(e, "an overflow");
	} else if (accept(e, "!")) {
		value = !unary(e);
	} else {
		value = primary(e);
	}
	e->depth--;
	return value;
}

static int64_t product(evaluation *e)
{
	int64_t a = unary(e);
	for (;;) {
		if (accept(e, "*")) {
			if (__builtin_mul_overflow(a, unary(e), &a))
				return stop(e, "an overflow");
		} else if (accept(e, "/") || accept(e, "%")) {
			bool div = e->s[-1] == '/';
			int64_t b = unary(e);
			if (b == 0)
				return stop(e, "a division by zero");
			if (b == -1) {
				if (div && __builtin_sub_overflow((int64_t)0, a, &a))
					return stop(e, "an overflow");
				a = div ? a : 0;
			} else {
				a = div ? a / b : a % b;
			}
		} else {
			return a;
		}
	}
}

static int64_t sum(evaluation *e)
{
	int64_t a = product(e);
	for (;;) {
		if (accept(e, "+")) {
			if (__builtin_add_overflow(a, product(e), &a))
				return stop(e, "an overflow");
		} else if (accept(e, "-")) {
			if (__builtin_sub_overflow(a, product(e), &a))
				return stop(e, "an overflow");
		} else {
			return a;
		}
	}
}

static int64_t compare(evaluation *e)
{
	int64_t a = sum(e);
	if (accept(e, "<="))
		return a <= sum(e);
	if (accept(e, ">="))
		return a >= sum(e);
	if (accept(e, "=="))
		return a == sum(e);
	if (accept(e, "!="))
		return a != sum(e);
	if (accept(e, "<"))
		return a < sum(e);
	if (accept(e, ">"))
		return a > sum(e);
	return a;
}

static int64_t conjunction(evaluation *e)
{
	int64_t a = compare(e);
	while (accept(e, "&&")) {
		int64_t b = compare(e);
		a = a != 0 && b != 0;
	}
	return a;
}

static int64_t disjunction(evaluation *e)
{
	int64_t a = conjunction(e);
	while (accept(e, "||")) {
		int64_t b = conjunction(e);
		a = a != 0 || b != 0;
	}
	return a;
}

static int64_t choice(evaluation *e)
{
	int64_t a = disjunction(e);
	if (!accept(e, "?"))
		return a;
	int64_t b = choice(e);
	if (!accept(e, ":"))
		return stop(e, "`:` expected");
	int64_t c = choice(e);
	return a ? b : c;
}

static int run(heddle_ctx *ctx, heddle_formula formula, int n_size, const heddle_manifest_size *size, const int64_t *value,
	       int64_t *result)
{
	evaluation e = {.s = formula ? formula : "", .n_size = n_size, .size = size, .value = value};
	int64_t got = choice(&e);
	space(&e);
	if (!e.problem && *e.s)
		e.problem = "an unexpected character";
	/* Without values the sizes are made up, so only what does not depend on them counts. */
	bool arithmetic = e.problem && (strcmp(e.problem, "a division by zero") == 0 || strcmp(e.problem, "an overflow") == 0);
	if (e.problem && (value || !arithmetic))
		return heddle_error(ctx, 785, NULL, "formula `%s`: %s", formula ? formula : "", e.problem);
	*result = got;
	return 0;
}

int heddle_formula_evaluate(heddle_ctx *ctx, heddle_formula formula, int n_size, const heddle_manifest_size *size,
			    const int64_t *value, int64_t *result)
{
	return run(ctx, formula, n_size, size, value, result);
}

int heddle_formula_check(heddle_ctx *ctx, heddle_formula formula, int n_size, const heddle_manifest_size *size)
{
	int64_t ignored;
	return run(ctx, formula, n_size, size, NULL, &ignored);
}
