/* fuse, tile and place: which statements may share a kernel, what their members are, where tensors may live; and the errors of
 * configs that ask for what is not so.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/scop.h"

#include <isl/aff.h>

static const char rows[] = "def f(float(N, D) I) -> (O) {\n"
			   "m(n) max=! I(n, d)\n"
			   "s(n) +=! exp(I(n, d) - m(n))\n"
			   "O(n, d) = I(n, d) / s(n) }";
static const char product[] = "def f(float(M, K) A, float(K, N) B) -> (C) { C(i, j) +=! A(i, k) * B(k, j) }";
static const char transposed[] = "def f(float(N, M) A) -> (O) {\n"
				 "t(j, i) = A(i, j)\n"
				 "O(i, j) = t(j, i) + t(0, i) }";

static void members(void **state)
{
	(void)state;
	bench b = bench_of(rows, NULL, "fuse=0,0,0", "fuse");
	assert_int_equal(b.status, 0);
	assert_int_equal(b.scop->n_kernel, 1);
	const heddle_kernel *k = b.scop->kernel[0];
	assert_int_equal(k->n_member, 1);
	assert_string_equal(k->member[0].name, "n");
	assert_int_equal(k->stmt[2]->dim[0].member, 0);
	assert_int_equal(k->stmt[2]->dim[1].member, -1);
	bench_free(&b);
	/* alone, an assignment is cut along both dimensions */
	b = bench_of(rows, NULL, "fuse=0,0,1", "fuse");
	assert_int_equal(b.scop->n_kernel, 2);
	assert_int_equal(b.scop->kernel[1]->n_member, 2);
	bench_free(&b);
	/* t(0, i) ties all j to the first: only i is shared, and by position, not by name */
	b = bench_of(transposed, NULL, "fuse=0,0", "fuse");
	k = b.scop->kernel[0];
	assert_int_equal(k->n_member, 1);
	assert_string_equal(k->member[0].name, "i");
	assert_int_equal(k->stmt[0]->dim[1].member, 0);
	assert_int_equal(k->stmt[1]->dim[0].member, 0);
	bench_free(&b);
}

static void illegal_fuse(void **state)
{
	(void)state;
	expect_code(rows, NULL, "fuse=0,0", "fuse", 511);
	expect_code(rows, NULL, "fuse=0,0,0,0", "fuse", 511);
	expect_code(rows, NULL, "fuse=0,2,2", "fuse", 511);
	expect_code(rows, NULL, "fuse=1,0,1", "fuse", 512);
	expect_code(rows, NULL, "fuse=0,1,0", "fuse", 512);
	expect_code(rows, NULL, "fuse=0,0,9", "fuse", 512);
	/* what does not depend on each other may change places */
	static const char two[] = "def f(float(N) x) -> (a, b, c) { a(i) = x(i)  b(i) = x(i)  c(i) = a(i) }";
	bench b = bench_of(two, NULL, "fuse=1,0,1", "fuse");
	assert_int_equal(b.status, 0);
	int order[] = {1, 0, 1};
	assert_true(heddle_fuse_legal(b.scop, order, 3));
	order[2] = 0;
	assert_false(heddle_fuse_legal(b.scop, order, 3));
	bench_free(&b);
}

static void layouts(void **state)
{
	(void)state;
	bench b = bench_of(product, "K=32", "fuse=0; k0: threads=64 order=j,i; k0.S0: tile=i:8,j:64,k:8 thread=i:4,j:8 vector=j:2", "tile");
	assert_int_equal(b.status, 0);
	const heddle_kernel *k = b.scop->kernel[0];
	assert_int_equal(k->threads, 64);
	assert_int_equal(k->lanes, 2);
	assert_int_equal(k->member[1].layout.items, 4);
	assert_int_equal(k->member[0].layout.items, 2);
	/* lanes are fastest, then the last member of the order */
	assert_int_equal(k->lane_stride, 1);
	assert_int_equal(k->member[0].thread_stride, 2);
	assert_int_equal(k->member[1].thread_stride, 8);
	assert_false(k->stmt[0]->dim[2].single_tile);
	bench_free(&b);
	b = bench_of(product, "K=32", "fuse=0; k0: threads=64 lanes=outer; k0.S0: tile=k:32 thread=i:4,j:8", "tile");
	assert_true(b.scop->kernel[0]->stmt[0]->dim[2].single_tile);
	assert_int_equal(b.scop->kernel[0]->lane_stride, 32);
	assert_int_equal(b.scop->kernel[0]->member[1].thread_stride, 1);
	bench_free(&b);
	expect_code(product, NULL, "fuse=0; k0.S0: tile=z:8", "tile", 513);
	expect_code(product, NULL, "fuse=0; k0: order=z", "tile", 513);
	expect_code(product, NULL, "fuse=0; k0: order=k", "tile", 513); /* no member */
	expect_code(product, NULL, "fuse=0; k0: order=i,i", "tile", 521);
	expect_code(product, NULL, "fuse=0; k0: stream=z", "tile", 513);
	expect_code(product, NULL, "fuse=0; k0: stream=A", "tile", 513);
	expect_code(product, NULL, "fuse=0; k0: stream=C", "tile", 528);
	expect_code(product, NULL, "fuse=0; k0.S0: tile=i:6 thread=i:4", "tile", 514);
	expect_code(rows, NULL, "fuse=0,0,0; k0.S0: tile=n:2; k0.S1: tile=n:4", "tile", 515);
	expect_code(product, NULL, "fuse=0; k0: threads=12; k0.S0: thread=i:8", "tile", 516);
	expect_code(product, NULL, "fuse=0; k0.S0: thread=i:64,j:64", "tile", 517);
	expect_code(product, NULL, "fuse=0; k0: resident=64; k0.S0: thread=i:16,j:16", "tile", 531);
	expect_code(product, NULL, "fuse=0; k0: threads=8; k0.S0: thread=k:8", "tile", 518);
	expect_code(product, NULL, "fuse=0; k0.S0: reduce=k:lanes", "tile", 518);
	expect_code(product, NULL, "fuse=0; k0.S0: tile=k:8 round=k:2", "tile", 518);
	expect_code(product, NULL, "fuse=0; k0.S0: tile=i:12 round=i:8", "tile", 514);
	expect_code(product, NULL, "fuse=0; k0.S0: round=x:8", "tile", 513);
	expect_code(product, NULL, "fuse=0; k0.S0: tile=i:65536,j:16 round=i:8192 vector=j:16", "place", 527);
	expect_code("def f(float(T) x) -> (h) { h(t) = x(t) where t in 0:1 h(t) = h(t-1) + x(t) where t in 1:T }", NULL,
		    "fuse=0,1; k1.S1: tile=t:2", "tile", 518);
	expect_code(product, NULL, "fuse=0; k0: threads=8; k0.S0: thread=k:4 reduce=k:lanes", "tile", 519);
}

static heddle_group *group(const bench *b, const char *name, int number)
{
	for (int g = 0; g < b->scop->kernel[0]->n_group; g++)
		if (!strcmp(b->scop->kernel[0]->group[g]->tensor->name, name) && b->scop->kernel[0]->group[g]->number == number)
			return b->scop->kernel[0]->group[g];
	return NULL;
}

static void boxes(void **state)
{
	(void)state;
	bench b = bench_of(product, NULL,
			   "fuse=0; k0.S0: tile=i:8,j:16,k:4 thread=i:8,j:4; k0.A.0: space=shared order=1,0 pad=1; k0.B.0: space=shared vector=4",
			   "place");
	assert_int_equal(b.status, 0);
	const heddle_group *a = group(&b, "A", 0), *c = group(&b, "B", 0);
	assert_true(a && c && a->space == HEDDLE_SPACE_SHARED);
	assert_int_equal(a->size[0], 8);
	assert_int_equal(a->size[1], 4);
	assert_int_equal(c->size[0], 4);
	assert_int_equal(c->size[1], 16);
	assert_true(a->order[0] == 1 && a->order[1] == 0 && a->pad == 1 && c->vector == 4);
	isl_map *offset = isl_map_from_multi_aff(isl_multi_aff_copy(a->offset));
	const char *block = heddle_block_param(b.scop, &b.scop->kernel[0]->member[0]);
	expect_map(&b, offset, heddle_arena_printf(b.arena, "[N_M, N_K, N_N, %s] -> { [k] -> T_A[8 %s, 4 k] }", block, block));
	isl_map_free(offset);
	bench_free(&b);
	/* a window: stride 2, three taps; two reads of one tensor are two groups */
	b = bench_of("def f(float(W) I) -> (O) { O(w) = I(2 * w) + I(2 * w + 1) + I(2 * w + 2) }", NULL,
		     "fuse=0; k0.S0: tile=w:8 thread=w:8; k0.I.1: space=shared", "place");
	assert_int_equal(b.status, 0);
	assert_non_null(group(&b, "I", 2));
	assert_int_equal(group(&b, "I", 1)->size[0], 15);
	assert_int_equal(group(&b, "I", 0)->space, HEDDLE_SPACE_GLOBAL);
	bench_free(&b);
	expect_code(product, NULL, "fuse=0; k0.C.0: space=shared", "place", 520);
	expect_code("def f(float(V, D) T, int32(B) at) -> (O) { O(b, d) = T(at(b), d) }", NULL, "fuse=0; k0.T.0: space=shared", "place", 520);
	expect_code(product, NULL, "fuse=0; k0.A.0: space=shared order=0,0", "place", 521);
	expect_code(product, NULL, "fuse=0; k0.A.0: space=shared order=0", "place", 521);
	expect_code(product, NULL, "fuse=0; k0.A.0: space=shared order=1", "place", 521);
	expect_code(product, NULL, "fuse=0; k0.A.0: space=shared order=0,1,2", "place", 521);
	expect_code(product, NULL, "fuse=0; k0.S0: tile=k:3; k0.A.0: space=shared vector=2", "place", 522);
	expect_code(product, NULL, "fuse=0; k0.S0: tile=k:8 thread=i:4,j:8; k0.A.0: space=shared columns=3", "place", 522);
	expect_code(product, NULL, "fuse=0; k0.S0: tile=k:8 thread=i:4,j:8; k0.A.0: space=shared columns=64", "place", 522);
	expect_code(product, NULL, "fuse=0; k0.S0: tile=k:2 thread=i:4,j:8; k0.A.0: space=shared phases=4", "place", 522);
	expect_code(product, NULL, "fuse=0; k0.A.5: space=shared", "place", 513);
	expect_code(product, NULL, "fuse=0; k0.A.0: prefetch=1", "place", 530);
	expect_code(product, NULL, "fuse=0; k0.S0: tile=k:8 thread=i:4,j:8; k0.A.0: space=shared prefetch=2", "place", 530);
	expect_code(product, NULL, "fuse=0; k0.S0: tile=k:8; k0.A.0: space=shared prefetch=1", "place", 530);
}

static void registers(void **state)
{
	(void)state;
	bench b = bench_of(rows, NULL, "fuse=0,0,0; k0: threads=4; k0.S0: tile=n:6 thread=n:2; k0.m.0: space=register", "place");
	assert_int_equal(b.status, 0);
	const heddle_group *m = group(&b, "m", 0);
	assert_true(m && m->space == HEDDLE_SPACE_REGISTER && !m->live_out);
	assert_int_equal(m->registers.n, 1);
	assert_int_equal(m->registers.c[0].extent, 3);
	assert_true(b.scop->stmt[0]->in_group);
	assert_ptr_equal(m->first_writer, b.scop->stmt[0]);
	assert_true(heddle_register_legal(b.scop, b.scop->kernel[0], b.scop->stmt[1]->access[0].tensor, NULL));
	bench_free(&b);
	/* an output is stored at the end; the first of its writers covers it */
	b = bench_of("def f(float(N) x) -> (y) { y(i) = x(i)  y(0) = 5.0 }", NULL, "fuse=0,1", "place");
	bench_free(&b);
	b = bench_of("def f(float(N) x) -> (y) { y(i) = x(i)  y(i) *= 2.0 where i in 0:N }", NULL, "fuse=0,0; k0.y.0: space=register", "place");
	assert_int_equal(b.status, 0);
	assert_true(group(&b, "y", 0)->live_out);
	assert_ptr_equal(group(&b, "y", 0)->first_writer, b.scop->stmt[0]);
	assert_ptr_equal(group(&b, "y", 0)->last_writer, b.scop->stmt[1]);
	bench_free(&b);
	/* shared by threads, read first, or what the caller put there */
	expect_code(transposed, NULL, "fuse=0,0; k0.t.0: space=register", "place", 523);
	expect_code("def f(float(N) x) -> (inout float(N) y) { y(i) = x(i) }", NULL, "fuse=0; k0.y.0: space=register", "place", 523);
	expect_code("def f(float(N, D) x) -> (y) { t(n, d) = x(n, d)  y(n) +=! t(n, d) }", NULL,
		    "fuse=0,0; k0.t.0: space=register", "place", 523);
	expect_code("def f(float(T) x) -> (h) { h(t) = x(t) where t in 0:1 h(t) = h(t-1) + x(t) where t in 1:T }", NULL,
		    "fuse=0,0; k0.h.0: space=register", "place", 523);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members), cmocka_unit_test(illegal_fuse), cmocka_unit_test(layouts),
		cmocka_unit_test(boxes),   cmocka_unit_test(registers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
