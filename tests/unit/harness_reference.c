/* harness/: the reference evaluator against plain loops, and its error bounds: wide enough for an honest float32
 * evaluation, too narrow for a wrong one.
 * SPDX-License-Identifier: MIT
 */
#include "harness/compare.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MAX_TENSOR 16

/* One definition with its arrays. */
typedef struct bench {
	heddle_ctx *ctx;
	heddle_module *module;
	heddle_definition *d;
	int64_t size[8];
	heddle_array *array[MAX_TENSOR];
	heddle_reference *r;
} bench;

/* Parse `text`, set the sizes (in order of heddle_definition.size, by name), make and fill the arrays. */
static void open_bench(bench *b, const char *text, const char *sizes)
{
	memset(b, 0, sizeof(*b));
	b->ctx = heddle_ctx_new();
	b->module = heddle_module_parse(b->ctx, "test.tc", text, NULL);
	if (!b->module)
		fail_msg("%s", heddle_ctx_messages(b->ctx));
	b->d = heddle_module_find(b->ctx, b->module, NULL);
	heddle_size_list *list = heddle_sizes_parse(b->ctx, b->module->arena, sizes);
	assert_non_null(list);
	for (int k = 0; k < b->d->n_size; ++k) {
		bool found = false;
		for (int j = 0; j < list->n; ++j)
			if (!strcmp(list->range[j].name, b->d->size[k]->name)) {
				b->size[k] = list->range[j].min;
				found = true;
			}
		if (!found)
			fail_msg("no value for size %s", b->d->size[k]->name);
	}
	for (int k = 0; k < b->d->n_tensor; ++k) {
		int64_t shape[HEDDLE_MAX_RANK];
		const heddle_tensor *t = b->d->tensor[k];
		if (t->role == HEDDLE_ROLE_TEMPORARY)
			continue;
		assert_int_equal(heddle_tensor_shape(t, b->size, shape), 0);
		b->array[k] = heddle_array_new(t->type, t->rank, shape);
		heddle_array_fill_random(b->array[k], (uint64_t)k + 1);
	}
}

static heddle_reference *run_with(bench *b, const heddle_reference_options *options)
{
	heddle_reference_free(b->r);
	b->r = heddle_reference_evaluate(b->ctx, b->d, b->size, b->array, options);
	return b->r;
}

static heddle_expected *run(bench *b)
{
	if (!run_with(b, NULL))
		fail_msg("%s", heddle_ctx_messages(b->ctx));
	return b->r->output;
}

static void close_bench(bench *b)
{
	heddle_reference_free(b->r);
	for (int k = 0; k < MAX_TENSOR; ++k)
		heddle_array_free(b->array[k]);
	heddle_module_free(b->module);
	heddle_ctx_free(b->ctx);
}

static heddle_array *array_of(bench *b, const char *name)
{
	for (int k = 0; k < b->d->n_tensor; ++k)
		if (!strcmp(b->d->tensor[k]->name, name))
			return b->array[k];
	fail_msg("no tensor %s", name);
	return NULL;
}

static double get(bench *b, const char *name, int64_t offset)
{
	return (double)heddle_array_get(array_of(b, name), offset);
}

static void within(const heddle_expected *x, int64_t k, double got)
{
	if (!(fabs(got - (double)x->value[k]) <= x->error[k]))
		fail_msg("element %d: %.17g, expected %.17Lg within %g", (int)k, got, x->value[k], x->error[k]);
}

static const char matmul[] = "def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }\n";

/* Numbers worked out by hand: what a condition guards narrows no index. */
static void padding(void **state)
{
	(void)state;
	static const struct {
		const char *text, *sizes, *in[2];
		double value[2][5], expected[5];
	} cases[] = {
		{"def f(float(W) x, float(3) w) -> (y) { y(i) +=! (i+k-1 >= 0 && i+k-1 < W) ? x(i+k-1)*w(k) : 0 where i in 0:W }",
		 "W=5", {"x", "w"}, {{1, 2, 3, 4, 5}, {1, 10, 100}}, {210, 321, 432, 543, 54}},
		{"def f(float(N) x, float(3) w) -> (y) { y(i) = (i < 3 ? w(i) : 0) + x(i) }",
		 "N=5", {"x", "w"}, {{1, 2, 3, 4, 5}, {7, 8, 9}}, {8, 10, 12, 4, 5}},
	};
	for (size_t c = 0; c < HEDDLE_COUNT(cases); ++c) {
		bench b;
		open_bench(&b, cases[c].text, cases[c].sizes);
		for (int k = 0; k < 2; ++k) {
			heddle_array *in = array_of(&b, cases[c].in[k]);
			for (int64_t i = 0; i < in->shape[0]; ++i)
				heddle_array_set(in, i, cases[c].value[k][i]);
		}
		heddle_expected *y = run(&b);
		assert_int_equal(array_of(&b, "y")->shape[0], 5);
		for (int i = 0; i < 5; ++i)
			assert_true(y->value[i] == (long double)cases[c].expected[i]);
		close_bench(&b);
	}
}

static void sums(void **state)
{
	(void)state;
	bench b;
	open_bench(&b, matmul, "M=17,N=70,K=300");
	heddle_expected *x = run(&b);
	assert_false(b.r->exact);
	for (int m = 0; m < 17; ++m)
		for (int n = 0; n < 70; ++n) {
			float sum = 0, backward = 0, most = 0;
			double wide = 0;
			for (int k = 0; k < 300; ++k) {
				float t = (float)get(&b, "A", m * 300 + k) * (float)get(&b, "B", k * 70 + n);
				sum += t;
				wide += get(&b, "A", m * 300 + k) * get(&b, "B", k * 70 + n);
				most = fabsf(t) > fabsf(most) ? t : most;
			}
			for (int k = 299; k >= 0; --k)
				backward += (float)get(&b, "A", m * 300 + k) * (float)get(&b, "B", k * 70 + n);
			const int64_t o = m * 70 + n;
			assert_true(fabs(wide - (double)x->value[o]) < 1e-13);
			within(x, o, (double)sum);
			within(x, o, (double)backward);
			/* One term left out lies outside the bound, which is small. */
			assert_true(x->error[o] < 1e-3);
			assert_true(fabs((double)(sum - most) - (double)x->value[o]) > x->error[o]);
		}
	/* Whole numbers: exact. */
	heddle_array_fill_integers(array_of(&b, "A"), 1, 4);
	heddle_array_fill_integers(array_of(&b, "B"), 2, 4);
	x = run(&b);
	assert_true(b.r->exact);
	double sum = 0;
	for (int k = 0; k < 300; ++k)
		sum += get(&b, "A", k) * get(&b, "B", k * 70);
	assert_true((double)x->value[0] == sum);
	close_bench(&b);
}

static void empty_reduction_and_order(void **state)
{
	(void)state;
	bench b;
	open_bench(&b, matmul, "M=3,N=2,K=0");
	heddle_expected *x = run(&b);
	assert_int_equal(x->n, 6);
	for (int k = 0; k < 6; ++k)
		assert_true(x->value[k] == 0 && x->error[k] == 0);
	close_bench(&b);
	/* Statements run in source order, and op=! initialises each time. */
	open_bench(&b, "def f(float(N) A) -> (B, C) { B(i) = A(i)\n C(i) = B(i) + 1\n B(i) +=! A(i) * 2\n }\n", "N=100");
	x = run(&b);
	for (int k = 0; k < 100; ++k) {
		within(&x[0], k, 2 * get(&b, "A", k));
		within(&x[1], k, get(&b, "A", k) + 1);
	}
	close_bench(&b);
}

static void softmax(void **state)
{
	(void)state;
	bench b;
	open_bench(&b,
		   "def softmax(float(N,D) I) -> (O) {\n m(n) max=! I(n,d)\n e(n,d) = exp(I(n,d) - m(n))\n s(n) +=! e(n,d)\n"
		   " O(n,d) = e(n,d) / s(n)\n}\n",
		   "N=5,D=200");
	heddle_expected *x = run(&b);
	for (int n = 0; n < 5; ++n) {
		float max = -INFINITY, sum = 0;
		for (int d = 0; d < 200; ++d)
			max = fmaxf(max, (float)get(&b, "I", n * 200 + d));
		for (int d = 0; d < 200; ++d)
			sum += expf((float)get(&b, "I", n * 200 + d) - max);
		for (int d = 0; d < 200; ++d) {
			const int64_t o = n * 200 + d;
			within(x, o, (double)(expf((float)get(&b, "I", o) - max) / sum));
			assert_true(x->error[o] < 2e-5 * (double)x->value[o]);
		}
	}
	close_bench(&b);
}

static void scans_and_triangles(void **state)
{
	(void)state;
	bench b;
	open_bench(&b, "def scan(float(N) A) -> (C) { C(i) +=! A(j) where i in 0:N, j in 0:i+1 }\n", "N=150");
	heddle_expected *x = run(&b);
	double sum = 0;
	for (int i = 0; i < 150; ++i) {
		sum += get(&b, "A", i);
		assert_true(fabs((double)x->value[i] - sum) < 1e-12);
	}
	assert_true(x->error[0] == 0 && x->error[149] > 0);
	close_bench(&b);
}

static void integers(void **state)
{
	(void)state;
	bench b;
	open_bench(&b,
		   "def f(int32(N) A, int32(N) B, uint8(N) C) -> (Q, R, P, S, T) { Q(i) = A(i) / B(i)\n R(i) = A(i) % B(i)\n"
		   " P() *=! A(i)\n S(i) = C(i) + uint8(255)\n T(i) = bool(A(i) > B(i)) ? A(i) - B(i) : 0 }\n",
		   "N=40");
	int32_t product = 1;
	for (int i = 0; i < 40; ++i) {
		heddle_array_set_int(array_of(&b, "A"), i, i * 7 - 120);
		heddle_array_set_int(array_of(&b, "B"), i, i % 2 ? 5 : -3);
		product = (int32_t)((uint32_t)product * (uint32_t)(i * 7 - 120));
	}
	heddle_expected *x = run(&b);
	assert_true(b.r->exact);
	for (int i = 0; i < 40; ++i) {
		int a = i * 7 - 120, d = i % 2 ? 5 : -3;
		assert_int_equal(x[0].integer[i], a / d);
		assert_int_equal(x[1].integer[i], a % d);
		assert_int_equal(x[3].integer[i], (uint8_t)((int)get(&b, "C", i) + 255));
		assert_int_equal(x[4].integer[i], a > d ? a - d : 0);
	}
	assert_int_equal(x[2].integer[0], product);
	heddle_array_set_int(array_of(&b, "B"), 7, 0);
	x = run(&b); /* a / 0 is 0, a % 0 is a */
	assert_int_equal(x[0].integer[7], 0);
	assert_int_equal(x[1].integer[7], 7 * 7 - 120);
	close_bench(&b);
}

/* Where a partial product can overflow, or become subnormal, in some order, anything is right. */
static void products(void **state)
{
	(void)state;
	bench b;
	open_bench(&b, "def f(float(N) A) -> (P) { P() *=! A(i) }\n", "N=4");
	static const float factors[][4] = {{1e30f, 1e20f, 1e-30f, 1e-20f},
					   {1e-30f, 1e-20f, 1e30f, 1e20f},
					   {1e20f, 1e10f, 1e-10f, 2},
					   {1e-30f, 1e-20f, 1, 1},
					   {1e30f, 1e20f, 0, 1}};
	static const bool any[] = {true, true, false, false, true};
	for (int k = 0; k < 5; ++k) {
		for (int i = 0; i < 4; ++i)
			heddle_array_set(array_of(&b, "A"), i, factors[k][i]);
		heddle_expected *x = run(&b);
		assert_int_equal(isinf(x->error[0]) != 0, any[k]);
	}
	close_bench(&b);
}

static void nan_and_extrema(void **state)
{
	(void)state;
	bench b;
	open_bench(&b, "def f(float(N) A) -> (L, H, M) { L() min=! A(i)\n H() max=! A(i)\n M(i) = max(A(i), 0.0) }\n", "N=70");
	heddle_expected *x = run(&b);
	double low = INFINITY, high = -INFINITY;
	for (int i = 0; i < 70; ++i) {
		low = fmin(low, get(&b, "A", i));
		high = fmax(high, get(&b, "A", i));
	}
	assert_true((double)x[0].value[0] == low && (double)x[1].value[0] == high && b.r->exact);
	heddle_array_set(array_of(&b, "A"), 33, NAN);
	x = run(&b);
	assert_true(isnan(x[0].value[0]) && isnan(x[1].value[0]) && isnan(x[2].value[33]) && !isnan(x[2].value[34]));
	assert_true(x[0].error[0] == 0);
	close_bench(&b);
}

static void gather(void **state)
{
	(void)state;
	bench b;
	open_bench(&b, "def lut(float(E,D) T, int32(N) I) -> (O) { O(n,d) = T(I(n),d) }\n", "E=20,D=5,N=9");
	for (int n = 0; n < 9; ++n)
		heddle_array_set_int(array_of(&b, "I"), n, (n * 13) % 20);
	heddle_expected *x = run(&b);
	for (int n = 0; n < 9; ++n)
		for (int d = 0; d < 5; ++d)
			assert_true((double)x->value[n * 5 + d] == get(&b, "T", (n * 13) % 20 * 5 + d));
	heddle_array_set_int(array_of(&b, "I"), 8, 20);
	assert_null(run_with(&b, NULL));
	assert_int_equal(heddle_diagnostics(b.ctx)->code, 710);
	assert_non_null(strstr(heddle_diagnostics(b.ctx)->message, "20"));
	assert_int_equal(heddle_diagnostics(b.ctx)->location.line, 1);
	close_bench(&b);
}

static void branches(void **state)
{
	(void)state;
	/* A sum that is zero but for rounding decides: both outcomes are accepted, and counted. */
	bench b;
	open_bench(&b, "def f(float(N,K) A) -> (O) { s(n) +=! A(n,k)\n O(n) = (s(n) > 0.0) ? 1.0 : 2.0 }\n", "N=4,K=3");
	const double rows[4][3] = {{0.1, 0.2, -0.3}, {1, 2, 3}, {-1, -2, 0.5}, {1e-3, 0, 0}};
	for (int k = 0; k < 12; ++k)
		heddle_array_set(array_of(&b, "A"), k, (long double)rows[k / 3][k % 3]);
	heddle_expected *x = run(&b);
	assert_int_equal(b.r->n_branch, 1);
	assert_true(x->branch[0] && x->error[0] >= 1);
	assert_true(x->value[1] == 1 && x->error[1] == 0 && x->value[2] == 2 && x->value[3] == 1);
	close_bench(&b);
	/* The element that is the maximum equals it, computed or not: no branch is open. */
	open_bench(&b,
		   "def f(float(N) A) -> (I) { t(n) = exp(A(n))\n m() max=! t(n)\n I() min=! (t(n) == m()) ? n : N }\n", "N=50");
	x = run(&b);
	int64_t best = 0;
	for (int n = 1; n < 50; ++n)
		if (get(&b, "A", n) > get(&b, "A", best))
			best = n;
	assert_int_equal(x->integer[0], best);
	assert_true(x->error[0] == 0);
	close_bench(&b);
}

static void half_storage(void **state)
{
	(void)state;
	bench b;
	open_bench(&b, "def f(float16(N) A, float16(N) B) -> (float16(N) C) { C(i) = A(i) * B(i) + A(i) }\n", "N=64");
	heddle_expected *x = run(&b);
	for (int i = 0; i < 64; ++i) {
		float t = (float)get(&b, "A", i) * (float)get(&b, "B", i) + (float)get(&b, "A", i);
		within(x, i, (double)heddle_float16_to(heddle_float16_from((long double)t)));
		assert_true(x->error[i] <= 0x1.1p-11 * fabs((double)x->value[i]) + 1e-6);
	}
	close_bench(&b);
}

static void functions_carry_errors(void **state)
{
	(void)state;
	bench b;
	open_bench(&b, "def f(float(N) A) -> (O) { t(n) = A(n) * 3.3 + 7.7\n O(n) = sqrt(log(t(n))) / tanh(t(n) * 0.01) }\n",
		   "N=500");
	heddle_expected *x = run(&b);
	for (int n = 0; n < 500; ++n) {
		float t = (float)get(&b, "A", n) * 3.3f + 7.7f;
		within(x, n, (double)(sqrtf(logf(t)) / tanhf(t * 0.01f)));
		assert_true(x->error[n] < 1e-4 * (double)x->value[n]);
	}
	/* The square root of a difference that may be zero or less: nothing can be said. */
	close_bench(&b);
	open_bench(&b, "def f(float(N) A) -> (O) { t(n) = A(n) * 1.1\n O(n) = sqrt(t(n) - t(n)) }\n", "N=3");
	x = run(&b);
	assert_true(isinf(x->error[0]));
	close_bench(&b);
}

static void samples(void **state)
{
	(void)state;
	bench b;
	open_bench(&b,
		   "def f(float(M,K) A, float(K,N) B, float(N) c) -> (O) { t(m,n) +=! A(m,k) * B(k,n)\n"
		   " O(m,n) = fmax(t(m,n) + c(n), 0.0) }\n",
		   "M=60,N=70,K=40");
	heddle_expected full = *run(&b);
	heddle_reference *whole = b.r;
	b.r = NULL;
	const heddle_reference_options options = { .budget = 1000, .sample = 100, .seed = 3 };
	assert_non_null(run_with(&b, &options));
	assert_true(b.r->sampled);
	const heddle_expected *x = b.r->output;
	assert_true(x->n > 50 && x->n <= 100 && x->count == 4200);
	assert_int_equal(x->element[0], 0);
	assert_int_equal(x->element[x->n - 1], 4199);
	for (int64_t k = 0; k < x->n; ++k) {
		assert_true(fabsl(x->value[k] - full.value[x->element[k]]) < 1e-15L);
		assert_true(fabs(x->error[k] - full.error[x->element[k]]) <= 1e-3 * full.error[x->element[k]]);
	}
	assert_true(b.r->instances < whole->instances / 20);
	heddle_reference_free(whole);
	close_bench(&b);
	/* A softmax needs every element of its row: not sampled. */
	open_bench(&b, "def f(float(M,K) A) -> (O) { s(m) +=! A(m,k)\n O(m,k) = A(m,k) / s(m) }\n", "M=60,K=70");
	assert_non_null(run_with(&b, &options));
	assert_true(b.r->sampled && b.r->output->n <= 100);
	close_bench(&b);
}

/* All that a few values of the first indices ask for is computed; what it is, is what it was. */
static void slices(void **state)
{
	(void)state;
	static const struct {
		const char *text, *sizes;
		int sampled; /* of the outputs */
		double part; /* of all instances, at most */
	} cases[] = {
		{"def f(float(B,T,D) Q, float(B,S,D) K, float(B,S,D) V) -> (O) {\n p(b,t,s) +=! Q(b,t,d) * K(b,s,d)\n m(b,t) max=! p(b,t,s)\n"
		 " w(b,t,s) = exp(p(b,t,s) - m(b,t))\n l(b,t) +=! w(b,t,s)\n O(b,t,d) +=! w(b,t,s) * V(b,s,d)\n O(b,t,d) = O(b,t,d) / l(b,t) }\n",
		 "B=3,T=70,S=31,D=8", 1, 0.2},
		/* ranges that end at the first indices */
		{"def f(float(T,D) Q, float(T,D) K) -> (O) {\n p(t,u) +=! u <= t ? Q(t,d) * K(u,d) : 0\n m(t) max=! p(t,u) where u in 0:t+1\n"
		 " l(t) +=! exp(p(t,u) - m(t)) where u in 0:t+1\n O(t,d) +=! exp(p(t,u) - m(t)) * K(u,d) where u in 0:t+1\n O(t,d) = O(t,d) / l(t) }\n",
		 "T=150,D=4", 1, 0.2},
		/* one output of each row, one of each element; and rows that another statement leaves out */
		{"def f(float(N,D) x) -> (y, sum) {\n sum(n) +=! x(n,d)\n z(n,d) +=! x(n,e) * x(n,d) * sum(n) where d in 0:D, e in 0:D\n"
		 " y(n,d) = z(n,D-1-d) where d in 0:D\n y(n,d) = 1.0 where n in 1:5, d in 0:D }\n", "N=200,D=20", 2, 0.3},
		/* the first index has a range that moves with the second one: single elements of y, and all of z */
		{"def f(float(N,D) x) -> (y) {\n z(n,d) +=! x(n,e) * x(n,d) where n in 0:N, d in 0:D, e in 0:D\n"
		 " y(n,d) = z(n,D-1-d) where n in 0:N, d in 0:D\n y(n,d) = 1.0 where d in 0:D, n in d:N }\n", "N=200,D=20", 1, 1},
		/* a step reads the one before it: the second index only is kept, and that is no first one */
		{"def f(float(T,C) x) -> (h) {\n h(t,c) = x(t,c)\n h(t,c) = h(t-1,c) * 0.5 + x(t,c) where t in 1:T, c in 0:C }\n", "T=600,C=50", 0, 1},
		/* sums over the first index */
		{"def f(float(N,D) x) -> (g) {\n m(n) +=! x(n,d)\n g(d) +=! x(n,d) * m(n) }\n", "N=1000,D=60", 0, 1},
	};
	const heddle_reference_options options = {.budget = 20000, .sample = 40, .seed = 3};
	for (size_t c = 0; c < HEDDLE_COUNT(cases); ++c) {
		bench b;
		int sampled = 0;
		open_bench(&b, cases[c].text, cases[c].sizes);
		run(&b);
		heddle_reference *whole = b.r;
		b.r = NULL;
		if (!run_with(&b, &options))
			fail_msg("%d: %s", (int)c, heddle_ctx_messages(b.ctx));
		for (int o = 0; o < b.r->n_output; ++o) {
			const heddle_expected *x = &b.r->output[o], *full = &whole->output[o];
			sampled += x->element != NULL && x->n < x->count;
			for (int64_t k = 0; k < x->n; ++k) {
				const int64_t e = x->element ? x->element[k] : k;
				if (fabsl(x->value[k] - full->value[e]) > 1e-12L * (1 + fabsl(full->value[e])))
					fail_msg("%d: element %d of %d", (int)c, (int)e, o);
				assert_true(x->error[k] <= full->error[e] * 1.5 && full->error[e] <= x->error[k] * 1.5);
			}
		}
		assert_int_equal(sampled, cases[c].sampled);
		if (b.r->instances > cases[c].part * whole->instances)
			fail_msg("%d: %g of %g instances", (int)c, b.r->instances, whole->instances);
		heddle_reference_free(whole);
		close_bench(&b);
	}
}

static void comparison(void **state)
{
	(void)state;
	bench b;
	heddle_comparison c;
	open_bench(&b, matmul, "M=8,N=8,K=20");
	heddle_expected *x = run(&b);
	heddle_array *result = array_of(&b, "C");
	heddle_arena *arena = heddle_arena_new();
	heddle_array_poison(result);
	heddle_compare(arena, x, result, &c);
	assert_false(c.pass);
	assert_int_equal(c.wrong, 64);
	assert_int_equal(c.untouched, 64);
	for (int k = 0; k < 64; ++k)
		heddle_array_set(result, k, x->value[k]);
	heddle_compare(arena, x, result, &c);
	assert_true(c.pass && c.checked == 64 && c.ratio < 1);
	heddle_array_set(result, 19, x->value[19] + 3 * x->error[19]);
	heddle_compare(arena, x, result, &c);
	assert_false(c.pass);
	assert_int_equal(c.wrong, 1);
	assert_int_equal(c.worst, 19);
	assert_non_null(strstr(c.message, "C[2,3]"));
	heddle_array_set(result, 19, NAN);
	heddle_compare(arena, x, result, &c);
	assert_int_equal(c.wrong, 1);
	heddle_array_set(result, 19, x->value[19]);
	result->data[64 * 4] = 0; /* one past the end */
	heddle_compare(arena, x, result, &c);
	assert_false(c.pass);
	assert_int_equal(c.wrong, 0);
	assert_non_null(strstr(c.message, "past the end"));
	result->data[64 * 4] = 0xA5;
	const double bound = x->error[19];
	x->error[19] = INFINITY; /* nothing that was written is wrong, and nothing is shown by it */
	heddle_array_set(result, 19, NAN);
	heddle_compare(arena, x, result, &c);
	assert_true(!c.pass && c.vacuous && c.wrong == 0);
	heddle_array_set(result, 19, -INFINITY);
	heddle_compare(arena, x, result, &c);
	assert_true(!c.pass && c.vacuous && c.wrong == 0);
	heddle_array_poison(result);
	heddle_compare(arena, x, result, &c);
	assert_int_equal(c.wrong, 64);
	x->error[19] = bound;
	for (int k = 0; k < 64; ++k)
		heddle_array_set(result, k, x->value[k]);
	x->error[5] = 1e6;
	heddle_compare(arena, x, result, &c);
	assert_true(!c.pass && c.vacuous);
	x->branch[5] = 1; /* excused by an open comparison */
	heddle_compare(arena, x, result, &c);
	assert_true(c.pass && c.unchecked == 1);
	heddle_arena_free(arena);
	close_bench(&b);
}

/* What cancels to 0 is judged by what cancelled: a rounding of it passes, a thousandth of it does not. */
static void cancellation(void **state)
{
	(void)state;
	bench b;
	heddle_comparison c;
	heddle_arena *arena = heddle_arena_new();
	open_bench(&b, "def f(float(N) A) -> (C) { s +=! A(i) * 3e4\n v +=! (A(i) * 3e4 - s) * (A(i) * 3e4 - s) / 3\n C(i) = v * A(i) }", "N=1");
	heddle_array_set(array_of(&b, "A"), 0, 0.7);
	heddle_expected *x = run(&b);
	heddle_array *result = array_of(&b, "C");
	assert_true(x->value[0] == 0 && x->weight > 1e8 && x->weight < 1e10);
	assert_true(x->error[0] < x->weight * 1e-5);
	static const struct {
		double part;
		bool pass;
	} cases[] = {{0, true}, {1e-16, true}, {1e-3, false}, {-1, false}};
	for (size_t k = 0; k < HEDDLE_COUNT(cases); ++k) {
		heddle_array_set(result, 0, cases[k].part * x->weight);
		heddle_compare(arena, x, result, &c);
		if (c.pass != cases[k].pass || c.vacuous)
			fail_msg("%g: %s", cases[k].part, c.message ? c.message : "passes");
	}
	close_bench(&b);
	/* Zeros that nothing cancelled for are exact. */
	open_bench(&b, "def f(float(N) A) -> (C) { C(i) = A(i) * 0 }", "N=3");
	x = run(&b);
	assert_true(x->weight == 0 && x->error[0] < 1e-37);
	close_bench(&b);
	heddle_arena_free(arena);
}

/* The bound of a sum grows with its equal terms, not with the look of the subscript: one term left out of 10,000 different ones
 * is found, whether they are gathered, clamped or divided; a float32 loop over equal ones is within the bound. */
static void equal_terms(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		bool equal;
	} cases[] = {
		{"def f(float(N) A, int32(N) I) -> (C) { C +=! A(I(i)) where i in 0:N }", false},
		{"def f(float(N) A, int32(N) I) -> (C) { C +=! A(min(i, N - 2)) + 0 * I(i) }", false},
		{"def f(float(N) A, int32(N) I) -> (C) { C +=! A(i / 2) where i in 0:N, exists I(i) }", false},
		{"def f(float(N) A, int32(N) I) -> (C) { C +=! A(min(i, 0)) where i in 0:N, exists I(i) }", true},
		{"def f(float(N) A, int32(N) I) -> (C) { C +=! A(0) where i in 0:N, exists I(i) }", true},
		{"def f(float(N) A, int32(N) I) -> (C) { t(i) = A(0) where i in 0:N, exists I(i)\n C +=! t(i) }", true},
	};
	enum { N = 10000 };
	for (size_t k = 0; k < HEDDLE_COUNT(cases); ++k) {
		bench b;
		heddle_comparison c;
		heddle_arena *arena = heddle_arena_new();
		open_bench(&b, cases[k].text, "N=10000");
		float sum = 0;
		for (int i = 0; i < N; ++i) {
			heddle_array_set_int(array_of(&b, "I"), i, N - 1 - i);
			heddle_array_set(array_of(&b, "A"), i, 0.5 + (double)(heddle_random(3, (uint64_t)i) % 4096) / 8191);
		}
		heddle_expected *x = run(&b);
		heddle_array *result = array_of(&b, "C");
		heddle_array_set(result, 0, x->value[0] - get(&b, "A", 0));
		heddle_compare(arena, x, result, &c);
		if (c.pass != cases[k].equal)
			fail_msg("case %d: %g", (int)k, x->error[0]);
		for (int i = 0; i < N; ++i)
			sum += (float)get(&b, "A", 0);
		heddle_array_set(result, 0, sum);
		heddle_compare(arena, x, result, &c);
		if (cases[k].equal && !c.pass)
			fail_msg("case %d: %s", (int)k, c.message);
		heddle_arena_free(arena);
		close_bench(&b);
	}
}

static void inout_and_recurrence(void **state)
{
	(void)state;
	bench b;
	open_bench(&b, "def f(float(N) A) -> (C) { C(i) += A(i) }\n", "N=10");
	heddle_expected *x = run(&b);
	for (int k = 0; k < 10; ++k)
		within(x, k, get(&b, "C", k) + get(&b, "A", k));
	close_bench(&b);
}

/* The first of equal ones; the first NaN; over nothing the greatest int32; several indices count as one. */
static void argmax(void **state)
{
	(void)state;
	static const double rows[][5] = {
		{1, 3, 2, 3, 0},	       {-1, -1, -1, -1, -1}, {1, (double)NAN, 7, (double)NAN, 9},
		{-(double)INFINITY, 0, -0.0, 0, 0}, {5, 4, 3, 2, 1},
	};
	static const int greatest[] = {1, 0, 1, 1, 0}, least[] = {4, 0, 1, 0, 4};
	bench b;
	open_bench(&b, "def f(float(N,K) A) -> (g, l, int64 h) { g(n) argmax=! A(n,k)\n l(n) argmin=! A(n,k)\n h argmax=! A(n,k)\n }\n",
		   "N=5,K=5");
	for (int n = 0; n < 5; n++)
		for (int k = 0; k < 5; k++)
			heddle_array_set(array_of(&b, "A"), n * 5 + k, (long double)rows[n][k]);
	heddle_expected *x = run(&b);
	for (int n = 0; n < 5; n++) {
		assert_int_equal(x[0].integer[n], greatest[n]);
		assert_int_equal(x[1].integer[n], least[n]);
	}
	assert_int_equal(x[2].integer[0], 2 * 5 + 1);
	close_bench(&b);
	open_bench(&b, "def f(float(N,K) A) -> (g) { g(n) argmax=! A(n,k) }\n", "N=3,K=0");
	x = run(&b);
	assert_int_equal(x->integer[2], INT32_MAX);
	close_bench(&b);
}

/* What may be flushed to zero is so by policy alone. */
static void policies(void **state)
{
	(void)state;
	for (int relaxed = 0; relaxed < 2; relaxed++) {
		bench b;
		heddle_text text = {0};
		heddle_text_printf(&text, "def f(float(N) A) -> (y, s, r) %s { y(i) = A(i) * 1e-30\n s +=! A(i) * A(i) * 1e-25\n"
					  " r(i) = 1.0 / A(i) }",
				   relaxed ? "policy relaxed" : "");
		open_bench(&b, heddle_text_str(&text), "N=4");
		heddle_text_free(&text);
		for (int i = 0; i < 4; i++)
			heddle_array_set(array_of(&b, "A"), i, i ? 1e-10L * i : 1e-40L);
		heddle_expected *x = run(&b);
		/* 0 instead of 1e-40 and of the sum of four */
		assert_int_equal(fabs((double)x[0].value[1]) <= x[0].error[1], relaxed);
		assert_true(x[0].error[1] < 1e-37);
		assert_int_equal(fabs((double)x[1].value[0]) <= x[1].error[0], relaxed);
		/* a subnormal divisor may be 0: then anything goes; others are near */
		assert_int_equal(isinf(x[2].error[0]) != 0, relaxed);
		assert_true(x[2].error[1] < 1e10 * 1e-6);
		close_bench(&b);
	}
}

static void speed(void **state)
{
	(void)state;
	bench b;
	open_bench(&b, matmul, "M=256,N=256,K=256");
	double start = heddle_now();
	run(&b);
	double seconds = heddle_now() - start;
	print_message("256^3 products: %.2f s\n", seconds);
	assert_true(b.r->instances == 256.0 * 256 * 256);
	close_bench(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(padding), cmocka_unit_test(cancellation), cmocka_unit_test(equal_terms),
		cmocka_unit_test(sums),	      cmocka_unit_test(empty_reduction_and_order),
		cmocka_unit_test(softmax),    cmocka_unit_test(scans_and_triangles),
		cmocka_unit_test(integers),   cmocka_unit_test(products), cmocka_unit_test(nan_and_extrema),
		cmocka_unit_test(gather),     cmocka_unit_test(branches),
		cmocka_unit_test(half_storage), cmocka_unit_test(functions_carry_errors),
		cmocka_unit_test(samples),    cmocka_unit_test(slices), cmocka_unit_test(comparison),
		cmocka_unit_test(inout_and_recurrence), cmocka_unit_test(argmax), cmocka_unit_test(policies), cmocka_unit_test(speed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
