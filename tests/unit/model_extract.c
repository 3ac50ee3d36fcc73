/* extract and dependences: domains, accesses, guards and order constraints as sets.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/scop.h"

static void contraction(void **state)
{
	(void)state;
	bench b = bench_of("def f(float(M, K) A, float(K, N) B) -> (C) { C(i, j) +=! A(i, k) * B(k, j) }", "M=1:100,K=4:64*4", "fuse=0",
			   "extract");
	assert_int_equal(b.status, 0);
	const heddle_stmt *s = b.scop->stmt[0];
	expect_set(&b, b.scop->context,
		   "[N_M, N_K, N_N] -> { : 1 <= N_M <= 100 and 4 <= N_K <= 64 and N_K mod 4 = 0 and 0 <= N_N <= 2147418112 }");
	expect_set(&b, s->domain,
		   "[N_M, N_K, N_N] -> { S0[i, j, k] : 0 <= i < N_M <= 100 and 0 <= j < N_N <= 2147418112 and "
		   "0 <= k < N_K and 4 <= N_K <= 64 and N_K mod 4 = 0 }");
	assert_int_equal(s->n_access, 3);
	expect_map(&b, s->access[1].relation,
		   "[N_M, N_K, N_N] -> { S0[i, j, k] -> T_A[i, k] : 0 <= i < N_M <= 100 and 0 <= j < N_N <= 2147418112 and "
		   "0 <= k < N_K and 4 <= N_K <= 64 and N_K mod 4 = 0 }");
	assert_true(s->access[0].write && s->access[0].affine && !s->access[1].write);
	assert_true(s->reduction && s->initialise && s->dim[2].reduction && !s->dim[0].reduction);
	bench_free(&b);
}

/* A guard with the identity becomes a smaller domain; the initialisation still covers everything. */
static void guards(void **state)
{
	(void)state;
	bench b = bench_of("def f(float(N) I, float(3) w) -> (O) { O(i) +=! (i + k >= 1 && i + k - 1 < N) ? I(i + k - 1) * w(k) : 0\n"
			   "where i in 0:N, k in 0:3 }",
			   "N=10", "fuse=0", "extract");
	assert_int_equal(b.status, 0);
	expect_set(&b, b.scop->stmt[0]->domain, "{ S0[i, k] : 0 <= i < 10 and 0 <= k < 3 and 1 <= i + k <= 10 }");
	expect_set(&b, b.scop->stmt[0]->all, "{ S0[i, k] : 0 <= i < 10 and 0 <= k < 3 }");
	expect_map(&b, b.scop->stmt[0]->access[1].relation,
		   "{ S0[i, k] -> T_I[i + k - 1] : 0 <= i < 10 and 0 <= k < 3 and 1 <= i + k <= 10 }");
	bench_free(&b);
	/* What is least changes no maximum; what is greatest does. */
	b = bench_of("def f(float(N) I) -> (O) { O(i) max=! i + k >= 1 ? I(i + k - 1) : -inf where i in 0:N, k in 0:2 }", "N=10", "fuse=0", "extract");
	assert_int_equal(b.status, 0);
	expect_set(&b, b.scop->stmt[0]->domain, "{ S0[i, k] : 0 <= i < 10 and 0 <= k < 2 and i + k >= 1 }");
	bench_free(&b);
	b = bench_of("def f(float(N) I) -> (O) { O(i) max=! i + k >= 1 ? I(i + k - 1) : inf where i in 0:N, k in 0:2 }", "N=10", "fuse=0", "extract");
	assert_int_equal(b.status, 0);
	expect_set(&b, b.scop->stmt[0]->domain, "{ S0[i, k] : 0 <= i < 10 and 0 <= k < 2 }");
	bench_free(&b);
}

/* In an assignment the read alone is restricted, by each side of its choice. */
static void choices(void **state)
{
	(void)state;
	bench b = bench_of("def f(float(N) a, float(N) b) -> (o) { o(i) = (i >= 2 && a(0) > 0.0) ? a(i - 2) : b(i) where i in 0:N }",
			   "N=10", "fuse=0", "extract");
	assert_int_equal(b.status, 0);
	const heddle_stmt *s = b.scop->stmt[0];
	expect_set(&b, s->domain, "{ S0[i] : 0 <= i < 10 }");
	expect_map(&b, s->access[1].relation, "{ S0[i] -> T_a[0] : 0 <= i < 10 }");
	expect_map(&b, s->access[2].relation, "{ S0[i] -> T_a[i - 2] : 2 <= i < 10 }");
	expect_map(&b, s->access[3].relation, "{ S0[i] -> T_b[i] : 0 <= i < 10 }");
	bench_free(&b);
	b = bench_of("def f(float(N) a, float(N) b) -> (o) { o(i) = i < 4 ? a(i) : b(i) where i in 0:N }", "N=10", "fuse=0", "extract");
	expect_map(&b, b.scop->stmt[0]->access[1].relation, "{ S0[i] -> T_a[i] : 0 <= i < 4 }");
	expect_map(&b, b.scop->stmt[0]->access[2].relation, "{ S0[i] -> T_b[i] : 4 <= i < 10 }");
	bench_free(&b);
}

static void subscripts(void **state)
{
	(void)state;
	/* truncating division and remainder, never of negative numbers here; gathers touch their whole extent */
	bench b = bench_of("def f(float(N) a, int32(N) at) -> (o) { o(i) = a(i / 2) + a(i % 3) + a(at(i)) where i in 0:N }", "N=10",
			   "fuse=0", "extract");
	assert_int_equal(b.status, 0);
	const heddle_stmt *s = b.scop->stmt[0];
	expect_map(&b, s->access[1].relation, "{ S0[i] -> T_a[floor(i / 2)] : 0 <= i < 10 }");
	expect_map(&b, s->access[2].relation, "{ S0[i] -> T_a[i mod 3] : 0 <= i < 10 }");
	expect_map(&b, s->access[3].relation, "{ S0[i] -> T_at[i] : 0 <= i < 10 }");
	expect_map(&b, s->access[4].relation, "{ S0[i] -> T_a[e] : 0 <= i < 10 and 0 <= e < 10 }");
	assert_true(s->access[3].affine && !s->access[4].affine);
	bench_free(&b);
	b = bench_of("def f(float(M, M) L, float(M) x) -> (y) { y(i) +=! L(i, k) * x(k) where k in 0:i+1 }", "M=8", "fuse=0", "extract");
	expect_set(&b, b.scop->stmt[0]->domain, "{ S0[i, k] : 0 <= i < 8 and 0 <= k <= i }");
	bench_free(&b);
}

/* / and % round down in bounds and extents, truncate in subscripts. */
static void bounds(void **state)
{
	(void)state;
	bench b = bench_of("def f(size H, size K) -> (o) { o(i) +=! k where i in 0:(H - K) / 2 + 2, k in 0:(H - K) % 3 + 1 }",
			   "H=0:9,K=0:9", "fuse=0", "extract");
	assert_int_equal(b.status, 0);
	expect_set(&b, b.scop->context,
		   "[N_H, N_K] -> { : 0 <= N_H <= 9 and 0 <= N_K <= 9 and 0 <= floor((N_H - N_K)/2) + 2 }");
	expect_set(&b, b.scop->stmt[0]->domain,
		   "[N_H, N_K] -> { S0[i, k] : 0 <= N_H <= 9 and 0 <= N_K <= 9 and 0 <= i < floor((N_H - N_K)/2) + 2 and "
		   "0 <= k <= (N_H - N_K) mod 3 }");
	bench_free(&b);

	b = bench_of("def f(size H, size K, float(N) A) -> (o) { o(i) = A((H - K) / 2 + i) where i in 0:4 }", "H=0:9,K=0:9,N=4:8",
		     "fuse=0", "extract");
	assert_int_equal(b.status, 0);
	expect_set(&b, b.scop->context,
		   "[N_H, N_K, N_N] -> { : 0 <= N_H <= 9 and 0 <= N_K <= 9 and 4 <= N_N <= 8 and N_H - N_K > -2 and "
		   "floor((N_H - N_K)/2) + 4 <= N_N }");
	bench_free(&b);
}

static heddle_dependence *find(const bench *b, int source, int sink, const char *tensor)
{
	for (int i = 0; i < b->scop->n_dependence; i++) {
		heddle_dependence *d = &b->scop->dependence[i];
		if (d->source->position == source && d->sink->position == sink && !strcmp(d->tensor->name, tensor))
			return d;
	}
	return NULL;
}

static void order(void **state)
{
	(void)state;
	bench b = bench_of("def f(float(N, D) I) -> (O) {\n"
			   "m(n) max=! I(n, d)\n"
			   "O(n, d) = I(n, d) - m(n) }",
			   "N=4,D=5", "fuse=0,0", "dependences");
	assert_int_equal(b.status, 0);
	heddle_dependence *d = find(&b, 0, 1, "m");
	assert_true(d && !d->input);
	expect_map(&b, d->relation, "{ S0[n, a] -> S1[n, b] : 0 <= n < 4 and 0 <= a, b < 5 }");
	assert_true(heddle_dependence_aligned(d, 0, 0) && !heddle_dependence_aligned(d, 1, 1));
	d = find(&b, 0, 1, "I");
	assert_true(d && d->input);
	/* sums of one reduction may run in any order */
	assert_null(find(&b, 0, 0, "m"));
	assert_true(b.scop->stmt[0]->dim[0].coincident && !b.scop->stmt[0]->dim[1].coincident);
	assert_true(b.scop->stmt[1]->dim[0].coincident && b.scop->stmt[1]->dim[1].coincident);
	bench_free(&b);

	/* elements that only the initialisation touches count too */
	b = bench_of("def f(float(N) I) -> (o, p) {\n"
		     "o(i) +=! i < 3 ? I(k) : 0 where i in 0:N\n"
		     "p(i) = o(i) }",
		     "N=6", "fuse=0,0", "dependences");
	d = find(&b, 0, 1, "o");
	expect_map(&b, d->relation, "{ S0[i, k] -> S1[i] : 0 <= i < 6 and 0 <= k < 6 }");
	bench_free(&b);

	/* what has no first step of its own stays two statements */
	b = bench_of("def f(float(T, C) x) -> (h) {\n"
		     "h(t, c) = x(t, c) where t in 0:1\n"
		     "h(t, c) = h(t - 1, c) + x(t, c) where t in 1:T }",
		     "T=5,C=3", "fuse=0,0", "dependences");
	d = find(&b, 1, 1, "h");
	expect_map(&b, d->relation, "{ S1[t, c] -> S1[t + 1, c] : 1 <= t < 4 and 0 <= c < 3 }");
	assert_true(!b.scop->stmt[1]->dim[0].coincident && b.scop->stmt[1]->dim[1].coincident);
	d = find(&b, 0, 1, "h");
	assert_non_null(d);
	bench_free(&b);

	/* output dependence: a statement after the reader that writes anew */
	b = bench_of("def f(float(N) x) -> (y, z) {\n"
		     "y(i) = x(i)\n"
		     "z(i) = y(N - 1 - i) where i in 0:N\n"
		     "y(i) = x(i) * 2.0 }",
		     "N=4", "fuse=0,0,0", "dependences");
	expect_map(&b, find(&b, 1, 2, "y")->relation, "{ S1[i] -> S2[3 - i] : 0 <= i < 4 }");
	expect_map(&b, find(&b, 0, 2, "y")->relation, "{ S0[i] -> S2[i] : 0 <= i < 4 }");
	bench_free(&b);
}

static void schedules(void **state)
{
	(void)state;
	bench b = bench_of("def f(float(N, M) c) -> (d) {\n"
			   "d(i, j) = c(i, j)\n"
			   "d(i, j) = c(i, j) + d(i - 1, j) + d(i, j - 1) where i in 1:N, j in 1:M }",
			   "N=8,M=8", "fuse=0,1", "schedule");
	assert_int_equal(b.status, 0);
	assert_non_null(b.scop->stmt[0]->schedule);
	assert_true(b.scop->stmt[0]->dim[0].coincident && b.scop->stmt[0]->dim[1].coincident);
	assert_false(b.scop->stmt[1]->dim[0].coincident || b.scop->stmt[1]->dim[1].coincident);
	bench_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(contraction), cmocka_unit_test(guards), cmocka_unit_test(choices),
		cmocka_unit_test(subscripts),  cmocka_unit_test(bounds), cmocka_unit_test(order),
		cmocka_unit_test(schedules),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
