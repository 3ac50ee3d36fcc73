/* Range inference against the golden table of tensor notation, shapes, preconditions and bounds of accesses.
 * SPDX-License-Identifier: MIT
 */
#include "frontend/definition.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* ---- helpers ------------------------------------------------------------------------------------------------------------- */

static heddle_module *parse_with(heddle_ctx *ctx, const char *text, const char *sizes)
{
	heddle_arena *arena = heddle_ctx_arena(ctx);
	heddle_size_list *list = sizes ? heddle_sizes_parse(ctx, arena, sizes) : NULL;
	return heddle_module_parse(ctx, "test.tc", text, list);
}

static bool has_code(heddle_ctx *ctx, heddle_severity severity, int code)
{
	for (const heddle_diagnostic *d = heddle_diagnostics(ctx); d; d = d->next)
		if (d->severity == severity && d->code == code)
			return true;
	return false;
}

/* The value of an expression in the notation over the sizes of `like`. */
static int64_t value_of(const heddle_definition *like, const char *expression, const int64_t *size)
{
	heddle_ctx *ctx = heddle_ctx_new();
	heddle_text text = {0};
	int64_t value = 0, upper = 0;
	heddle_text_add(&text, "def e(");
	for (int i = 0; i < like->n_size; i++)
		heddle_text_printf(&text, "%ssize %s", i ? ", " : "", like->size[i]->name);
	heddle_text_printf(&text, ") -> (o) { o +=! 1 where x in (%s):2000000000 }", expression);
	heddle_module *m = heddle_module_parse(ctx, "e.tc", heddle_text_str(&text), NULL);
	if (!m)
		fail_msg("%s", heddle_ctx_messages(ctx));
	assert_int_equal(heddle_expr_evaluate(m->definition[0]->statement[0]->index[0]->lower, size, &value), 0);
	/* an index that may begin below 0 is counted from there */
	assert_int_equal(heddle_expr_evaluate(m->definition[0]->statement[0]->index[0]->upper, size, &upper), 0);
	heddle_module_free(m);
	heddle_text_free(&text);
	heddle_ctx_free(ctx);
	return value + 2000000000 - upper;
}

/* Sizes to evaluate at: a fixed sequence of small and medium ones. */
static void pick_sizes(int64_t *size, int n, int round)
{
	uint32_t x = (uint32_t)round * 2654435761u + 12345u;
	for (int i = 0; i < n; i++) {
		x = x * 1664525u + 1013904223u;
		size[i] = 1 + (int64_t)((x >> 16) % (round < 100 ? 9u : 70u));
	}
}

static void assert_same(const heddle_definition *d, const heddle_expr *e, const char *expected, const char *what, int dim)
{
	int64_t size[32], got, want;
	for (int round = 0; round < 200; round++) {
		pick_sizes(size, d->n_size, round);
		assert_int_equal(heddle_expr_evaluate(e, size, &got), 0);
		want = value_of(d, expected, size);
		if (got != want) {
			heddle_text text = {0};
			heddle_expr_print(e, &text);
			fail_msg("%s, dimension %d: %s of %s is %lld, expected %s = %lld", d->name, dim, what,
				 heddle_text_str(&text), (long long)got, expected, (long long)want);
		}
		if (round >= 3 && d->n_size == 0)
			break;
	}
}

/* ---- the golden table -------------------------------------------------------------------------------------------------------- */

typedef struct golden {
	const char *program;
	int statement;
	const char *range[6]; /* per left-hand index: lower and upper bound, from TC's minimum and extent */
} golden;

static const golden table[] = {
	{"def stride(float(N) I) -> (O) { O(i) = I(123*i) }", 0, {"0", "(N+122)/123"}},
	{"def shift(float(N) I) -> (O) { O(i) = I(i-1) }", 0, {"1", "1+N"}},
	{"def conv(float(N,C,H,W) I, float(M,C,KH,KW) W1) -> (O) { O(n,m,h,w) +=! I(n,c,h+kh,w+kw) * W1(m,c,kh,kw) }",
	 0, {"0", "N", "0", "M", "0", "H-KH+1"}},
	{"def backward(float(N,M,OH,OW) d_O, float(M,C,KH,KW) W1) -> (d_I) {"
	 " d_I(n,c,h,w) +=! d_O(n,m,h-kh,w-kw) * W1(m,c,kh,kw) }",
	 0, {"0", "N", "0", "C", "KH-1", "KH-1+OH-KH+1"}},
	{"def padded(float(N,C,H,W) I, float(M,C,KH,KW) W1) -> (pad, O) {\n"
	 " pad(n,c,h,w) = I(n,c,h-5,w-7)\n"
	 " O(n,m,h,w) +=! pad(n,c,2*h+kh,3*w+kw) * W1(m,c,kh,kw) }",
	 1, {"0", "N", "0", "M", "3", "3+(H-KH+1)/2"}},
	{"def skewed(float(B,IP,H,W) input, float(OP,IP,KH,KW) weight) -> (output) {"
	 " output(b,op,h,w) +=! input(b,ip,2*h+3*w+kh,2*w+kw) * weight(op,ip,kh,kw) }",
	 0, {"0", "B", "0", "OP", "0", "((H-KH)-((W-KW)/2)*3)/2+1"}},
	{"def diagonal(float(A,B,C) I) -> (O) { O(i) +=! I(j,i+j,k) }", 0, {"0", "B-A+1"}},
	{"def matched(float(P,Q,R) B, float(S,T,U) A) -> (O2) { O2(j,k,l) +=! B(j,k,l) + A(i,j,k) }", 0,
	 {"0", "min(P,T)", "0", "min(Q,U)", "0", "R"}},
	{"def given(float(N,M) I) -> (O) { O(i,j) = I(i,j) where i in 3:N-1 }", 0, {"3", "3+N-4", "0", "M"}},
	{"def crossed(float(N,M) I) -> (O) { O(i,j) = I(10+i-j,i+j) where i in 0:10 }", 0,
	 {"0", "10", "20-min(N,20)", "20-min(N,20)+min(M-10,10)+min(N,20)-19"}},
	{"def provable(float(10,19,10) I) -> (O) { O(i,j) = I(i,i+j,j) }", 0, {"0", "10", "0", "10"}},
	{"def band(float(M,M) L, float(M,M) B) -> (C) { C(m1,m2) +=! L(m1,k) * B(k,m2) where k in m1:M, k in 0:m2+1 }", 0,
	 {"0", "M", "0", "M"}},
	/* Not of the table. */
	{"def both(float(N) A, size K) -> (O) { O(i) = A(i) where i in 0:N-1, i in 2:K, i in -5:N+3 }", 0, {"2", "min(N-1,K)"}},
	{"def later(float(N) A, size K) -> (O) { O(i) = A(i) where i in K:N, i in 3:N+K }", 0, {"max(K,3)", "N"}},
	{"def quotient(float(N) A) -> (O) { O(i) = A(2*(i/3) - 1) }", 0, {"3", "3*(N/2)+3"}},
	{"def existing(float(N,M) A) -> (O) { O(i,j) = A(i,j) where exists A(i+1,j) }", 0, {"0", "N-1", "0", "M"}},
	{"def half(float(2*N) A) -> (O) { O(i) = A(2*i) + A(2*i+1) }", 0, {"0", "N"}},
	{"def declared(float(N) A) -> (float(N, 4) O) { O(i,j) = A(i) }", 0, {"0", "N", "0", "4"}},
	{"def cached(float(N) A) -> (inout float(N) B, O) {\nB(0) = A(0)\nO(i) = B(i) }", 1, {"0", "N"}},
	{"def cleared(float(N) A) -> (inout float(N) B) {\nB(0) = A(0)\nB(i) += 1 }", 1, {"0", "N"}},
	{"def updated(float(N) A, float(M) B) -> (O) {\nO(i,j) = A(i) * B(j)\nO(i,j) += 1 }", 1, {"0", "N", "0", "M"}},
};

/* The last left-hand dimension of those in the table that have four. */
static const golden last_dimension[] = {
	{"def conv(float(N,C,H,W) I, float(M,C,KH,KW) W1) -> (O) { O(n,m,h,w) +=! I(n,c,h+kh,w+kw) * W1(m,c,kh,kw) }",
	 0, {"0", "W-KW+1"}},
	{"def backward(float(N,M,OH,OW) d_O, float(M,C,KH,KW) W1) -> (d_I) {"
	 " d_I(n,c,h,w) +=! d_O(n,m,h-kh,w-kw) * W1(m,c,kh,kw) }",
	 0, {"KW-1", "OW"}},
	{"def padded(float(N,C,H,W) I, float(M,C,KH,KW) W1) -> (pad, O) {\n"
	 " pad(n,c,h,w) = I(n,c,h-5,w-7)\n"
	 " O(n,m,h,w) +=! pad(n,c,2*h+kh,3*w+kw) * W1(m,c,kh,kw) }",
	 1, {"3", "3+(W-KW+1)/3"}},
	{"def skewed(float(B,IP,H,W) input, float(OP,IP,KH,KW) weight) -> (output) {"
	 " output(b,op,h,w) +=! input(b,ip,2*h+3*w+kh,2*w+kw) * weight(op,ip,kh,kw) }",
	 0, {"0", "(W-KW)/2+1"}},
};

static void check_golden(const golden *g, int first)
{
	heddle_ctx *ctx = heddle_ctx_new();
	heddle_module *m = heddle_module_parse(ctx, "golden.tc", g->program, NULL);
	if (!m)
		fail_msg("%s", heddle_ctx_messages(ctx));
	const heddle_definition *d = m->definition[0];
	const heddle_statement *s = d->statement[g->statement];
	for (int i = 0; i < 3 && g->range[2 * i]; i++) {
		const heddle_index *index = s->lhs[first + i]->index;
		assert_same(d, index->lower, g->range[2 * i], "minimum", first + i);
		assert_same(d, index->upper, g->range[2 * i + 1], "end", first + i);
	}
	heddle_module_free(m);
	heddle_ctx_free(ctx);
}

static void test_golden(void **state)
{
	(void)state;
	for (size_t i = 0; i < HEDDLE_COUNT(table); i++)
		check_golden(&table[i], 0);
	for (size_t i = 0; i < HEDDLE_COUNT(last_dimension); i++)
		check_golden(&last_dimension[i], 3);
}

/* Only what TC rejects under all options is rejected; where it warns of an unchecked precondition there is a checked one. */
static void test_rejected(void **state)
{
	(void)state;
	static const struct {
		const char *program;
		int code; /* 0: accepted with a precondition */
	} cases[] = {
		{"def f(float(A,B,C) I) -> (O) { O(i,j) = I(i+j,i+j,i+j) }", 201},
		{"def f(float(A,B,C) I) -> (O) { O(i,j) = I(i,i+j,j) }", 0},
		{"def f(float(A,B,C,D,E) I) -> (O) { O(i,j,k) = I(i,j,i,k,2*i+j) }", 0},
		{"def f(float(N,M) I) -> (O) { O(i,j) = I(10+i-j,i+j) }", 201},
		{"def f(float(N) I) -> (O) { O(i,j) = 3 }", 201},
		{"def f(float(N) I) -> (O) { O(i,j) = I(i) }", 201},
		{"def f(float(N) I) -> (O) { O(i) = I(i+5) }", 202},
		{"def f(float(N) I) -> (O) { O(i,j) = 3 where i in 8:4, j in 3:20 }", 203},
		{"def f(float(10,18,10) I) -> (O) { O(i,j) = I(i,i+j,j) }", 205},
		{"def f(float(N) I) -> (O) { O(i) = I(i+1) where i in 0:N }", 205},
		{"def f(float(N) I) -> (O) { O(i) = I(i-1) where i in 0:N }", 205},
		{"def f(float(N) I, float(M) J) -> (O) { O(i) = I(i)*J(i) where i in 0:N }", 0},
		{"def f(float(N,S) I) -> (O) { O(i) +=! I(S*i,j) }", 209},
		/* two digits: the lower one below the factor, the same factor everywhere, all of it written */
		{"def f(float(N) I, size G, size P) -> (O) { O(g,c) = I(P*g+c) where g in 0:G, c in 0:P }", 0},
		{"def f(float(N) I, size G, size P) -> (O) { O(g,c) = I(c+g*P) where g in 0:G, c in 0:P }", 0},
		{"def f(float(N) I, size G, size P) -> (O) { O(g,c) = I(P*g+c) where g in 0:G, c in 0:P+1 }", 209},
		{"def f(float(N) I, size G, size P) -> (O) { O(g,c) = I(P*g+c-1) where g in 0:G, c in 0:P }", 209},
		{"def f(float(N) I, size G, size P) -> (O) { O(g) = I(P*g) where g in 0:G }", 209},
		{"def f(float(N) I, size G, size P) -> (O) sizes P=1:9 { O(g) = I(P*g) where g in 0:G }", 0},
		{"def f(float(G,P) I) -> (O) { O(P*g+c) = I(g,c) where c in 0:P }", 0},
		{"def f(float(G,P) I) -> (O) { O(P*g+c) = I(g,c) where c in 0:P-1 }", 209},
		{"def f(float(N,G,P) I) -> (float(N) O) { O(P*g+c) = I(0,g,c) where c in 0:P }", 209},
		{"def f(float(G,P) I, size Q) -> (O) {\nO(P*g+c) = I(g,c) where c in 0:P\nO(Q*g+c) = 2.0 where c in 0:Q, g in 0:1 }", 209},
		{"def f(float(G,P) I) -> (O) {\nO(P*g+c) = I(g,c) where c in 0:P\nO(0) = 1.0 }", 209},
		{"def f(float(N) I) -> (O) { O(i) = I(i) where i in j:N, j in i:N }", 206},
		{"def f(float(N) I) -> (O) { O(i) = I(i) where i in 0:N*i }", 209},
		{"def f(float(N) I) -> (O) { O(i) = I(i) where i in 0:i*i }", 207},
		{"def f(float(N) I) -> (O) { O(i*j) +=! I(i)*I(j) }", 208},
		{"def f(float(N) I) -> (float(N) O) { O(i+1) = I(i) }", 210},
	};
	for (size_t i = 0; i < HEDDLE_COUNT(cases); i++) {
		heddle_ctx *ctx = heddle_ctx_new();
		heddle_module *m = heddle_module_parse(ctx, "rejected.tc", cases[i].program, NULL);
		if (cases[i].code) {
			if (m || !has_code(ctx, HEDDLE_ERROR, cases[i].code))
				fail_msg("%s: expected E%04d: %s", cases[i].program, cases[i].code, heddle_ctx_messages(ctx));
		} else if (!m || m->definition[0]->n_precondition == 0) {
			fail_msg("%s: expected a precondition: %s", cases[i].program, heddle_ctx_messages(ctx));
		}
		heddle_module_free(m);
		heddle_ctx_free(ctx);
	}
}

/* ---- preconditions: exactly the sizes at which every access is inside ------------------------------------------------------------ */

/* Reads of rank-1 and rank-2 tensors by one statement, run by brute force: is every access inside? */
static int64_t subscript_value(const heddle_expr *e, const int64_t *size, const int64_t *index)
{
	int64_t a, b;
	switch (e->kind) {
	case HEDDLE_EXPR_INT:
		return e->i;
	case HEDDLE_EXPR_SIZE:
		return size[e->size->position];
	case HEDDLE_EXPR_INDEX:
		return index[e->index->position];
	case HEDDLE_EXPR_UNARY:
		a = subscript_value(e->arg[0], size, index);
		return e->op == HEDDLE_OP_NOT ? !a : -a;
	case HEDDLE_EXPR_SELECT:
		return subscript_value(e->arg[subscript_value(e->arg[0], size, index) ? 1 : 2], size, index);
	case HEDDLE_EXPR_BINARY:
		a = subscript_value(e->arg[0], size, index);
		b = subscript_value(e->arg[1], size, index);
		switch (e->op) {
		case HEDDLE_OP_ADD:
			return a + b;
		case HEDDLE_OP_SUB:
			return a - b;
		case HEDDLE_OP_MUL:
			return a * b;
		case HEDDLE_OP_DIV: /* bounds round down, but none of these is negative */
			return a / b;
		case HEDDLE_OP_MOD:
			return a % b;
		case HEDDLE_OP_BITAND:
			return a & b;
		case HEDDLE_OP_SHR:
			return a >> b;
		case HEDDLE_OP_MIN:
			return a < b ? a : b;
		case HEDDLE_OP_MAX:
			return a > b ? a : b;
		case HEDDLE_OP_LT:
			return a < b;
		case HEDDLE_OP_LE:
			return a <= b;
		case HEDDLE_OP_GT:
			return a > b;
		case HEDDLE_OP_GE:
			return a >= b;
		case HEDDLE_OP_EQ:
			return a == b;
		case HEDDLE_OP_NE:
			return a != b;
		case HEDDLE_OP_AND:
			return a && b;
		case HEDDLE_OP_OR:
			return a || b;
		default:
			break;
		}
		break;
	default:
		break;
	}
	fail_msg("unexpected expression in a subscript");
	return 0;
}

static bool reads_inside(const heddle_expr *e, const int64_t *size, const int64_t *index)
{
	int64_t extent;
	if (e->kind == HEDDLE_EXPR_SELECT)
		return reads_inside(e->arg[0], size, index) &&
		       reads_inside(e->arg[subscript_value(e->arg[0], size, index) ? 1 : 2], size, index);
	for (int i = 0; i < e->n_arg; i++)
		if (!reads_inside(e->arg[i], size, index))
			return false;
	for (int i = 0; e->kind == HEDDLE_EXPR_READ && i < e->n_arg; i++) {
		int64_t at = subscript_value(e->arg[i], size, index);
		assert_int_equal(heddle_expr_evaluate(e->tensor->extent[i], size, &extent), 0);
		if (at < 0 || at >= extent)
			return false;
	}
	return true;
}

static int64_t bound_value(const heddle_expr *e, const int64_t *size, const int64_t *index)
{
	int64_t value;
	return heddle_expr_evaluate(e, size, &value) == 0 ? value : subscript_value(e, size, index);
}

static bool points_inside(const heddle_statement *s, int level, const int64_t *size, int64_t *index, long *n_point)
{
	if (level == s->n_index) {
		++*n_point;
		for (int i = 0; i < s->n_lhs; i++) {
			int64_t extent, at = subscript_value(s->lhs[i], size, index);
			assert_int_equal(heddle_expr_evaluate(s->target->extent[i], size, &extent), 0);
			if (at < 0 || at >= extent)
				return false;
		}
		return reads_inside(s->value, size, index);
	}
	int64_t lower = bound_value(s->index[level]->lower, size, index);
	int64_t upper = bound_value(s->index[level]->upper, size, index);
	for (index[level] = lower; index[level] < upper; index[level]++)
		if (!points_inside(s, level + 1, size, index, n_point))
			return false;
	return true;
}

static bool preconditions_hold(const heddle_definition *d, const int64_t *size)
{
	int64_t value;
	for (int i = 0; i < d->n_precondition; i++) {
		assert_int_equal(heddle_expr_evaluate(d->precondition[i], size, &value), 0);
		if (!value)
			return false;
	}
	return true;
}

static bool extents_fine(const heddle_definition *d, const int64_t *size)
{
	int64_t value;
	for (int i = 0; i < d->n_tensor; i++)
		for (int j = 0; j < d->tensor[i]->rank; j++)
			if (heddle_expr_evaluate(d->tensor[i]->extent[j], size, &value) || value < 0)
				return false;
	return true;
}

/* Indices have 32 bits, tiles included: where sizes can take them beyond, a precondition says which. */
static void test_reach(void **state)
{
	(void)state;
	static const struct {
		const char *text, *precondition; /* NULL: none */
	} cases[] = {
		{"def f(float(2 * N) A) -> (O) { O(i) = A(i) }", "N <= 1073725439"},
		{"def f(float(N) A) -> (O) { O +=! A(i / 2) where i in 0:2 * N }", "N <= 1073725439"},
		{"def f(float(N) A) -> (O) { O(i) = A(i) where i in 0:N }", NULL},
		{"def f(float(N + 2) A, float(3) w) -> (O) { O(i) +=! A(i + k) * w(k) }", NULL},
		{"def f(float(2 * N) A) -> (O) sizes N=1:1000000000 { O(i) = A(i) }", NULL},
	};
	for (size_t i = 0; i < HEDDLE_COUNT(cases); i++) {
		heddle_ctx *ctx = heddle_ctx_new();
		heddle_text text = {0};
		heddle_module *m = heddle_module_parse(ctx, "reach.tc", cases[i].text, NULL);
		if (!m)
			fail_msg("%s", heddle_ctx_messages(ctx));
		for (int k = 0; k < m->definition[0]->n_precondition; k++)
			heddle_expr_print(m->definition[0]->precondition[k], &text);
		assert_string_equal(heddle_text_str(&text), cases[i].precondition ? cases[i].precondition : "");
		heddle_text_free(&text);
		heddle_module_free(m);
		heddle_ctx_free(ctx);
	}
}

/* `exact`: the preconditions hold if, and only if, every access is inside; else only if. */
static void check_by_force(const char *program, bool exact)
{
	heddle_ctx *ctx = heddle_ctx_new();
	heddle_module *m = heddle_module_parse(ctx, "force.tc", program, NULL);
	int64_t size[8], index[16];
	if (!m)
		fail_msg("%s: %s", program, heddle_ctx_messages(ctx));
	const heddle_definition *d = m->definition[0];
	int held = 0;
	for (int round = 0; round < 150; round++) {
		uint32_t x = (uint32_t)round * 2654435761u;
		for (int i = 0; i < d->n_size; i++) {
			x = x * 1664525u + 1013904223u;
			size[i] = (int64_t)((x >> 16) % 8u);
		}
		bool inside = extents_fine(d, size), hold = preconditions_hold(d, size);
		long n_point = 0;
		for (int i = 0; i < d->n_statement && inside; i++)
			inside = points_inside(d->statement[i], 0, size, index, &n_point);
		held += hold;
		if ((hold && !inside) || (exact && inside && !hold)) {
			heddle_text text = {0};
			heddle_definition_print(d, &text);
			for (int i = 0; i < d->n_size; i++)
				heddle_text_printf(&text, "%s=%lld ", d->size[i]->name, (long long)size[i]);
			fail_msg("%s: preconditions %s but accesses are %s", heddle_text_str(&text), hold ? "hold" : "do not hold",
				 inside ? "inside" : "outside");
		}
	}
	assert_true(held > 0 || !exact);
	heddle_module_free(m);
	heddle_ctx_free(ctx);
}

static void test_preconditions(void **state)
{
	(void)state;
	static const struct {
		const char *program;
		bool exact;
	} cases[] = {
		/* Not exact: only the indices of a subscript are looked at, not whether another index has no values. */
		{"def f(float(A,B,C) I) -> (O) { O(i,j) = I(i,i+j,j) }", true},
		{"def f(float(N) I, float(M) J) -> (O) { O(i) = I(i)*J(i) where i in 0:N }", true},
		{"def f(float(N) I, float(M) J) -> (O) { O(i) = I(i)*J(i) }", true},
		{"def f(float(H) I, float(K) W) -> (O) { O(h) +=! I(h+k)*W(k) }", true},
		{"def f(float(H) I) -> (O) { O(h) +=! (2*h+k-1 >= 0 && 2*h+k-1 < H) ? I(2*h+k-1) : 0"
		 " where h in 0:(H+1)/2, k in 0:3 }", true},
		{"def f(float(H) I) -> (O) { O(h) +=! (h-k >= 0 && (h-k) % 2 == 0 && (h-k)/2 < H) ? I((h-k)/2) : 0"
		 " where h in 0:2*H+1, k in 0:3 }", true},
		{"def f(float(H) I) -> (O) { O(h) = I(min(max(h-2, 0), H-1)) where h in 0:H+4 }", true},
		{"def f(float(M,K) L, float(K,N) B) -> (C) { C(i,j) +=! L(i,k)*B(k,j) where k in 0:i+1 }", true},
		{"def f(float(M,K) L) -> (C) { C(i) +=! L(i,k) where i in 0:M, k in max(0,i-1):min(K,i+2) }", true},
		{"def f(float(M,K) L) -> (C) { C(i) +=! L(i,k) where i in 0:M, k in i:K }", true},
		{"def f(float(N) A, float(M) B) -> (O) {\nO(i) = A(i)\nO(i+N) = B(i) }", true},
		{"def f(float(N) A) -> (O) { O(i) = A(i/2) }", true},
		{"def f(float(N) A) -> (O) { O(i) = A(i/2) where i in 0:2*N-1 }", true},
		{"def f(float(N) A) -> (O) { O(i) = A((i-1)/2) where i in 0:2*N }", true},
		{"def f(float(N) A) -> (O) { O(i) = A(i%4) where i in 0:N }", true},
		{"def f(float(N) A) -> (O) { O(i) = A(N-1-i) }", true},
		{"def f(float(N) A) -> (O) { O(i) = A(i > 0 ? i-1 : N-1) where i in 0:N }", true},
		{"def f(float(N) A) -> (O) { O(i) = i != 0 ? A(i-1) : 0.0 where i in 0:N+1 }", true},
		{"def f(float(N) A) -> (O) { O(i) = !(i == 0 || i > N) ? A(i-1) : 0.0 where i in 0:N+2 }", true},
		{"def f(float(T,C) x) -> (h) {\nh(t,c) = x(t,c) where t in 0:1\nh(t,c) = h(t-1,c)+x(t,c) where t in 1:T }", false},
		{"def f(float(T) x) -> (h) { h(t) = t == 0 ? x(t) : h(t-1)+x(t) where t in 0:T }", true},
		{"def f(float(N,M) A) -> (O) { O(i*4+j) = A(i,j) where j in 0:4 }", false},
		{"def f(float(N,K) A, size S) -> (O) { O(i) +=! A(i+S,k) where i in 0:N-S }", false},
		{"def f(float(N*M) A, float(M) B) -> (O) { O(i) = A(i) + B(0) where i in 0:M*N }", false},
		{"def f(float(N) A) -> (O) { O(i) = A(i & 3) where i in 0:N }", true},
		{"def f(float(N) A) -> (O) { O(i) = A(i >> 1) where i in 0:2*N }", true},
	};
	for (size_t i = 0; i < HEDDLE_COUNT(cases); i++)
		check_by_force(cases[i].program, cases[i].exact);
}

static uint32_t random_below(uint32_t *x, uint32_t n)
{
	*x = *x * 1664525u + 1013904223u;
	return (*x >> 10) % n;
}

static void random_subscript(uint32_t *x, heddle_text *out)
{
	static const char *const forms[] = {
		"%d*i + %d*k - %d", "i - k + %d*%d - %d", "(%d*i + k)/%d - %d", "(i - %d*k) %% %d + %d", "min(%d*i, N - %d) - %d",
		"max(i - %d, %d*k) - %d", "N - i - %d + %d*k - %d", "(i - k - %d)/%d + %d", "i/%d*%d + k - %d",
	};
	int a = 1 + (int)random_below(x, 3), b = 1 + (int)random_below(x, 3), c = (int)random_below(x, 3);
	const char *form = forms[random_below(x, HEDDLE_COUNT(forms))];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	heddle_text_printf(out, form, a, b, c);
#pragma GCC diagnostic pop
}

/* Random subscripts under random conditions: whenever the preconditions hold, every access is inside. */
static void test_random_accesses(void **state)
{
	(void)state;
	uint32_t x = 7;
	int accepted = 0;
	for (int round = 0; round < 400; round++) {
		heddle_text text = {0}, subscript = {0};
		random_subscript(&x, &subscript);
		heddle_text_add(&text, "def f(float(N) A, float(M) B) -> (O) { O(i) +=! ");
		uint32_t guard = random_below(&x, 5);
		if (guard == 1)
			heddle_text_printf(&text, "%s >= 0 && %s < N ? ", heddle_text_str(&subscript), heddle_text_str(&subscript));
		else if (guard == 2)
			heddle_text_printf(&text, "%s >= 0 ? ", heddle_text_str(&subscript));
		else if (guard == 3)
			heddle_text_printf(&text, "!(%s < 0 || %s > N - 1) ? ", heddle_text_str(&subscript),
					   heddle_text_str(&subscript));
		heddle_text_printf(&text, "A(%s)%s", heddle_text_str(&subscript), guard >= 1 && guard <= 3 ? " : 0" : "");
		static const char *const ranges[] = {
			" where i in 0:M, k in 0:3 }", " where i in 0:N, k in 0:i+1 }", " where i in 0:N, k in i:M }",
			" + 0 * B(k) where i in 0:N }", " where i in 0:4, k in max(0, i - 2):min(M, i + 2) }",
		};
		heddle_text_add(&text, ranges[random_below(&x, HEDDLE_COUNT(ranges))]);
		heddle_ctx *ctx = heddle_ctx_new();
		heddle_module *m = heddle_module_parse(ctx, "random.tc", heddle_text_str(&text), NULL);
		if (m) {
			accepted++;
			heddle_module_free(m);
			check_by_force(heddle_text_str(&text), false);
		} else if (!has_code(ctx, HEDDLE_ERROR, 205) && !has_code(ctx, HEDDLE_ERROR, 203)) {
			fail_msg("%s", heddle_ctx_messages(ctx));
		}
		heddle_ctx_free(ctx);
		heddle_text_free(&text);
		heddle_text_free(&subscript);
	}
	assert_true(accepted > 100);
}

/* With sizes given, what was a precondition is decided. */
static void test_given_sizes(void **state)
{
	(void)state;
	const char *program = "def f(float(A,B,C) I) -> (O) { O(i,j) = I(i,i+j,j) }";
	heddle_ctx *ctx = heddle_ctx_new();
	heddle_module *m = parse_with(ctx, program, "A=10,B=19,C=10");
	assert_non_null(m);
	assert_int_equal(m->definition[0]->n_precondition, 0);
	heddle_module_free(m);
	m = parse_with(ctx, program, "A=1:10,B=19:30,C=10");
	assert_non_null(m);
	assert_int_equal(m->definition[0]->n_precondition, 0);
	heddle_module_free(m);
	assert_int_equal(heddle_error_count(ctx), 0);
	assert_null(parse_with(ctx, program, "A=10,B=18,C=10"));
	assert_true(has_code(ctx, HEDDLE_ERROR, 205));
	heddle_ctx_free(ctx);

	const char *stride = "def f(float(N) I, size S) -> (O) { O(i) = I(S*i) }";
	ctx = heddle_ctx_new();
	assert_null(parse_with(ctx, stride, NULL));
	assert_true(has_code(ctx, HEDDLE_ERROR, 209));
	m = parse_with(ctx, stride, "S=3");
	assert_non_null(m);
	assert_same(m->definition[0], m->definition[0]->tensor[1]->extent[0], "(N+2)/3", "extent", 0);
	heddle_module_free(m);
	heddle_ctx_free(ctx);

	/* A divisor makes blocks fit. */
	const char *blocks = "def f(float(N) I) -> (O) { O(b) +=! I(4*b+i) where b in 0:(N+3)/4, i in 0:4 }";
	ctx = heddle_ctx_new();
	m = parse_with(ctx, blocks, "N=64*");
	assert_non_null(m);
	assert_int_equal(m->definition[0]->n_precondition, 0);
	heddle_module_free(m);
	m = parse_with(ctx, blocks, NULL);
	assert_non_null(m);
	assert_true(m->definition[0]->n_precondition > 0);
	heddle_module_free(m);
	heddle_ctx_free(ctx);
}

/* Subscripts that the condition of their branch bounds tell nothing about ranges, but for indices that have none otherwise. */
static void test_branches(void **state)
{
	(void)state;
	static const struct {
		const char *program;
		int statement;
		const char *index, *lower, *upper; /* NULL: an error */
		int code;			   /* of the error or the warning; 0: no warning */
	} cases[] = {
#define CONV "def f(float(W) x, float(3) w) -> (y) { y(i) +=! "
		{CONV "(i+k-1 >= 0 && i+k-1 < W) ? x(i+k-1)*w(k) : 0 where i in 0:W }", 0, "k", "0", "3", 0},
		{CONV "(i+k-1 < 0 || i+k-1 >= W) ? 0 : x(i+k-1)*w(k) where i in 0:W }", 0, "k", "0", "3", 0},
		{CONV "!(i+k < 1 || i+k > W) ? x(i+k-1)*w(k) : 0 where i in 0:W }", 0, "k", "0", "3", 0},
		{CONV "2*i+2*k >= 2 ? (3*i+3*k < 3*W+3 ? x(i+k-1)*w(k) : 0) : 0 where i in 0:W }", 0, "k", "0", "3", 0},
		{CONV "(i-k >= 0 && i-k < 2*W && (i-k) % 2 == 0) ? x((i-k)/2)*w(k) : 0 where i in 0:2*W }", 0, "k", "0", "3", 0},
		{CONV "i+k-1 >= 0 ? x(i+k-1)*w(k) : 0 where i in 0:W }", 0, NULL, NULL, NULL, 205},
		/* not a conjunct, or on data: as in TC */
		{CONV "(i+k-1 >= 0 || i+k-1 < W) ? x(i+k-1)*w(k) : 0 where i in 0:W }", 0, "k", "1", "2", 0},
		{CONV "x(i+k-1) > 0 ? x(i+k-1)*w(k) : 0 where i in 0:W }", 0, "k", "1", "2", 0},
		{CONV "i > 0 && i < W-1 ? x(i+k-1)*w(k) : 0 where i in 0:W }", 0, "k", "1", "2", 0},
		/* only one of two reads is bounded */
		{"def f(float(N) a, float(3) b) -> (y) { y(i) = (i < 3 ? b(i) : 0) + a(i) }", 0, "i", "0", "N", 0},
		{"def f(float(N) a, float(3) b) -> (y) { y(i) = (i >= 3 ? 0 : b(i)) + a(i) }", 0, "i", "0", "N", 0},
		{"def f(float(N) a, float(3) b) -> (y) { y(i) = i < 3 ? a(i) : b(i-3) where i in 0:6 }", 0, "i", "0", "6", 0},
		{"def f(float(N) a, float(M) b) -> (float(N+M) y) { y(i) = i < N ? a(i) : b(i-N) }", 0, "i", "0", "N+M", 0},
		/* nothing else gives the index a range */
		{CONV "(i+k-1 >= 0 && i+k-1 < W) ? x(i+k-1)*w(k) : 0 }", 0, "i", "1", "W-1", 219},
		{"def f(float(N) a) -> (y) { y(i) = i > 0 ? a(i) : 0.0 }", 0, "i", "0", "N", 0},
		{"def f(float(N) a, float(M) b) -> (y) {\ny(i) = a(i)\ny(i) = i < M ? b(i) : 0 }", 1, "i", "0", "M", 219},
		{"def f(float(N) a, float(M) b) -> (y) {\ny(i) = a(i)\ny(i) = i < M ? b(i) : y(i) }", 1, "i", "0", "min(N,M)", 219},
#undef CONV
	};
	for (size_t i = 0; i < HEDDLE_COUNT(cases); i++) {
		heddle_ctx *ctx = heddle_ctx_new();
		heddle_module *m = heddle_module_parse(ctx, "branches.tc", cases[i].program, NULL);
		if (!cases[i].index) {
			if (m || !has_code(ctx, HEDDLE_ERROR, cases[i].code))
				fail_msg("%s: expected E%04d: %s", cases[i].program, cases[i].code, heddle_ctx_messages(ctx));
			heddle_ctx_free(ctx);
			continue;
		}
		if (!m)
			fail_msg("%s: %s", cases[i].program, heddle_ctx_messages(ctx));
		if (has_code(ctx, HEDDLE_WARNING, 219) != (cases[i].code == 219))
			fail_msg("%s: %s", cases[i].program, heddle_ctx_messages(ctx));
		const heddle_statement *st = m->definition[0]->statement[cases[i].statement];
		bool found = false;
		for (int k = 0; k < st->n_index; k++) {
			if (strcmp(st->index[k]->name, cases[i].index) != 0)
				continue;
			assert_same(m->definition[0], st->index[k]->written_lower, cases[i].lower, "minimum", k);
			assert_same(m->definition[0], st->index[k]->written_upper, cases[i].upper, "end", k);
			found = true;
		}
		assert_true(found);
		heddle_module_free(m);
		heddle_ctx_free(ctx);
	}
}

static void test_zero_fill(void **state)
{
	(void)state;
	static const struct {
		const char *program;
		bool zero_fill;
		const char *extent; /* of the first dimension */
	} cases[] = {
		{"def f(float(N) I) -> (O) { O(i) = I(i-1) }", true, "N+1"},
		{"def f(float(N) I) -> (O) { O(i) = I(i) }", false, "N"},
		{"def f(float(N) I) -> (O) { O(i) = I(i-2) where i in 2:N }", true, "N"},
		{"def f(float(N) A, float(M) B) -> (O) {\nO(i) = A(i)\nO(i+N) = B(i) }", false, "N+M"},
		{"def f(float(N) A, float(M) B) -> (O) {\nO(i+N) = B(i)\nO(i) = A(i) }", false, "N+M"},
		{"def f(float(N) A, float(M) B) -> (O) {\nO(i) = A(i)\nO(i+N+1) = B(i) }", true, "N+M+1"},
		{"def f(float(N) A) -> (O) { O(2*i) = A(i) }", true, "2*N-1"},
		/* which fill each other's gaps, and which do not */
		{"def f(float(N) A, float(N) B) -> (O) {\nO(2*i) = A(i)\nO(2*i+1) = B(i) }", false, "2*N"},
		{"def f(float(N) A, float(N) B) -> (O) {\nO(2*N-1-2*i) = A(i)\nO(2*i) = B(i) }", false, "2*N"},
		{"def f(float(N) A) -> (O) {\nO(3*i+2) = A(i)\nO(3*i) = A(i)\nO(3*i+1) = A(i) }", false, "3*N"},
		{"def f(float(N,4) A) -> (O) {\nO(8*i+2*j) = A(i,j)\nO(8*i+2*j+1) = A(i,j) }", false, "8*N"},
		{"def f(float(N) A, float(N) B) -> (O) {\nO(3*i) = A(i)\nO(3*i+1) = B(i) }", true, "3*N-1"},
		{"def f(float(N) A, float(N) B) -> (O) {\nO(2*i) = A(i)\nO(2*i) = B(i) }", true, "2*N-1"},
		{"def f(float(N) A, float(N) B) -> (O) {\nO(2*i+1) = A(i)\nO(2*i+2) = B(i) }", true, "2*N+1"},
		{"def f(float(N) A, float(M) B) -> (O) {\nO(2*i) = A(i)\nO(2*i+1) = B(i) }", true, "max(2*N-1,2*M)"},
		{"def f(float(N,N) A, float(N,N) B) -> (O) {\nO(2*i,2*j) = A(i,j)\nO(2*i+1,2*j+1) = B(i,j) }", true, "2*N"},
		{"def f(float(N) A, float(N) B) -> (O) {\nO(2*i) = A(i)\nO(2*i+1) += B(i) }", true, "2*N"},
		{"def f(float(N,4) A) -> (O) { O(4*i+j) = A(i,j) }", false, "4*N"},
		/* ranges that crop what is written, which has no gaps, or has some */
		{"def f(float(W) x, float(4) w) -> (O) { O(2*u+k-1) +=! x(u)*w(k) where u in 0:W, k in max(0,1-2*u):min(4,2*W+1-2*u) }", false, "2*W"},
		{"def f(float(W) x, float(3) w) -> (O) { O(2*u+k-1) +=! x(u)*w(k) where u in 0:W, k in max(0,1-2*u):3 }", false, "2*W"},
		{"def f(float(W) x, float(3) w) -> (O) { O(2*u-k+2) +=! x(u)*w(k) where u in 0:W, k in max(0,2*u+3-2*W):3 }", false, "2*W"},
		{"def f(float(W) x, float(3) w) -> (O) { O(4*u+k-1) +=! x(u)*w(k) where u in 0:W, k in max(0,1-4*u):3 }", true, "4*W-2"},
		{"def f(float(W) x, float(3) w) -> (O) { O(2*u+k) +=! x(u)*w(k) where u in 0:W, k in max(0,1-u):3 }", true, "2*W+1"},
		{"def f(float(W) x, float(3) w) -> (O) { O(2*u+k) +=! x(u)*w(k) where u in 0:W, k in 0:min(3,u+1) }", true, "min(2*W+1,3*W-2)"},
		/* runs that fill each other's gaps, and a stride that is a size */
		{"def f(float(N) A) -> (O) {\nO(3*i+r) = A(i) where r in 0:2\nO(3*i+2) = A(i) }", false, "3*N"},
		{"def f(float(N) A) -> (O) {\nO(5*i+4-r) = A(i) where r in 0:2\nO(5*i+r) = A(i) where r in 0:3 }", false, "5*N"},
		{"def f(float(N) A) -> (O) {\nO(6*i+2*j+r) = A(i) where j in 0:2, r in 0:2\nO(6*i+4+r) = A(i) where r in 0:2 }", false, "6*N"},
		{"def f(float(N) A) -> (O) {\nO(4*i+r) = A(i) where r in 0:2\nO(4*i+3) = A(i) }", true, "4*N"},
		{"def f(float(N) A) -> (O) {\nO(4*i+r) = A(i) where r in 0:2\nO(4*i+r+1) = A(i) where r in 0:2 }", true, "4*N-1"},
		{"def f(float(N,C) A, size G, size P) -> (O) { O(P*g+c) = A(0,P*g+c) where g in 0:G, c in 0:P }", false, "P*G"},
		{"def f(float(N,C) A, size G, size P) -> (O) sizes P=4 { O(P*g+c) = A(0,P*g+c) where g in 0:G, c in 0:P }", false, "4*G+P-4"},
		{"def f(float(N) A, size S) -> (O) sizes S=3 {\nO(S*i+r) = A(i) where r in 0:S-1\nO(S*i+S-1) = A(i) }", false, "3*N-3+S"},
		{"def f(float(N,3,2) A) -> (O) { O(6*i+2*j+1-k) = A(i,j,k) }", false, "6*N"},
		{"def f(float(N,4) A) -> (O) { O(5*i+j) = A(i,j) }", true, "5*N-1"},
		{"def f(float(N,N) A) -> (O) { O(i,j) = A(i,j) where j in 0:i+1 }", true, "N"},
		{"def f(float(N) A) -> (O) { O(i,i) = A(i) }", true, "N"},
		{"def f(float(N) A) -> (float(N+4) O) { O(i+2) = A(i) }", true, "N+4"},
		{"def f(float(N) A) -> (float(N) O) { O(i) = A(i) }", false, "N"},
		{"def f(float(N,N) A) -> (O) { O(i) +=! A(i,j) where j in 0:i }", false, "N"},
		{"def f(float(T) x) -> (h) {\nh(0) = x(0)\nh(t) = h(t-1)+x(t) where t in 1:T }", false, "max(1,T)"},
		/* from the end to the start, which a mirrored subscript counts up to; one that is not goes on to what nothing wrote */
		{"def f(float(T) x) -> (h) {\nh(T-1) = x(T-1)\nh(T-1-t) = h(T-t)+x(T-1-t) where t in 1:T }", false, "T"},
		{"def f(float(T) x) -> (h) {\nh(0) = x(0)\nh(T-1-t) = h(T-2-t)+x(t) where t in 0:T-1 }", true, "max(1,T)"},
		{"def f(float(T) x) -> (h) {\nh(T-1) = x(T-1)\nh(t) = h(t+1)+x(t) where t in 0:T-1 }", true, "T"},
	};
	for (size_t i = 0; i < HEDDLE_COUNT(cases); i++) {
		heddle_ctx *ctx = heddle_ctx_new();
		heddle_module *m = heddle_module_parse(ctx, "fill.tc", cases[i].program, NULL);
		if (!m)
			fail_msg("%s: %s", cases[i].program, heddle_ctx_messages(ctx));
		const heddle_definition *d = m->definition[0];
		const heddle_tensor *o = d->tensor[d->n_input];
		if (o->zero_fill != cases[i].zero_fill)
			fail_msg("%s: zero_fill is %d", cases[i].program, o->zero_fill);
		assert_int_equal(has_code(ctx, HEDDLE_WARNING, 204), cases[i].zero_fill);
		assert_same(d, o->extent[0], cases[i].extent, "extent", 0);
		heddle_module_free(m);
		heddle_ctx_free(ctx);
	}
}

static void test_gather(void **state)
{
	(void)state;
	heddle_ctx *ctx = heddle_ctx_new();
	heddle_module *m = heddle_module_parse(
		ctx, "g.tc", "def f(float(V,D) T, int32(B,L) I) -> (O) { O(b,d) +=! I(b,l) > 0 ? T(I(b,l), d) : 0 }", NULL);
	assert_non_null(m);
	const heddle_definition *d = m->definition[0];
	assert_int_equal(d->n_precondition, 1);
	assert_int_equal(d->precondition[0]->kind, HEDDLE_EXPR_SELECT);
	heddle_text text = {0};
	heddle_expr_print(d->precondition[0], &text);
	assert_string_equal(heddle_text_str(&text), "I(b, l) > 0 ? I(b, l) >= 0 && I(b, l) < V : bool(1)");
	heddle_text_free(&text);
	heddle_module_free(m);
	/* The guard that says it all leaves nothing to require. */
	m = heddle_module_parse(
		ctx, "g.tc", "def f(int32(N) I, float(M) A) -> (O) { O(i) = I(i) >= 0 && I(i) < M ? A(I(i)) : 0 }", NULL);
	assert_non_null(m);
	assert_int_equal(m->definition[0]->n_precondition, 0);
	heddle_module_free(m);
	heddle_ctx_free(ctx);
}

static void test_fixit(void **state)
{
	(void)state;
	heddle_ctx *ctx = heddle_ctx_new();
	assert_null(heddle_module_parse(ctx, "f.tc", "def f(float(N) I) -> (O) {\n\tO(i) = I(i+5)\n}\n", NULL));
	const heddle_diagnostic *d = heddle_diagnostics(ctx);
	assert_int_equal(d->code, 202);
	assert_non_null(d->fixit);
	assert_string_equal(d->fixit, "O(i) = I(i+5) where i in 0:N - 5");
	heddle_ctx_free(ctx);
}

/* What is refused for the size of its numbers says so, and the limit. */
static void test_large_numbers(void **state)
{
	(void)state;
	static const struct {
		const char *body;
		int code;
	} cases[] = {
		{"O(i) = A(i) where i in 0:9223372036854775807", 207},
		{"O(i) +=! A(i + j) where j in i * 1152921504606846976 * 4:N", 207},
		{"O(i) = A(i * 4611686018427387904 * 4)", 201},
		{"O(i * 1152921504606846976 * 4) = A(i)", 208},
		{"O(i + 2305843009213693951) = A(i) where i in 0:5", 208},
	};
	static const struct {
		const char *body, *note;
	} others[] = {
		{"O(i) = A(i ^ 1)", "this subscript is not affine"},
		{"O(i) = N", "it is in no subscript of a tensor that is read"},
		{"O(i) +=! A(j) where j in 0:i*i", "sums of indices and sizes"},
	};
	for (size_t i = 0; i < HEDDLE_COUNT(cases) + HEDDLE_COUNT(others); i++) {
		heddle_ctx *ctx = heddle_ctx_new();
		const bool large = i < HEDDLE_COUNT(cases);
		const char *body = large ? cases[i].body : others[i - HEDDLE_COUNT(cases)].body;
		heddle_text text = {0};
		heddle_text_printf(&text, "def f(float(N) A) -> (O) { %s }", body);
		if (heddle_module_parse(ctx, "l.tc", heddle_text_str(&text), NULL))
			fail_msg("accepted: %s", body);
		const char *said = heddle_ctx_messages(ctx);
		if (large ? !has_code(ctx, HEDDLE_ERROR, cases[i].code) || !strstr(said, "are at most 2^61")
			  : !strstr(said, others[i - HEDDLE_COUNT(cases)].note) || strstr(said, "2^61"))
			fail_msg("%s: %s", body, said);
		heddle_text_free(&text);
		heddle_ctx_free(ctx);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reach), cmocka_unit_test(test_golden),	    cmocka_unit_test(test_rejected),  cmocka_unit_test(test_preconditions),
		cmocka_unit_test(test_given_sizes), cmocka_unit_test(test_branches), cmocka_unit_test(test_zero_fill), cmocka_unit_test(test_gather),
		cmocka_unit_test(test_fixit),	    cmocka_unit_test(test_large_numbers), cmocka_unit_test(test_random_accesses),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
