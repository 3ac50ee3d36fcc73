/* The pass table: stopping, printing, limits; a complete config needs no completion.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/scop.h"

static const char product[] = "def f(float(M, K) A, float(K, N) B) -> (C) { C(i, j) +=! A(i, k) * B(k, j) }";
static const char config[] = "fuse=0; k0.S0: tile=i:8,j:8,k:4 thread=i:4,j:4; k0.A.0: space=shared; k0.B.0: space=shared";

static void stops(void **state)
{
	(void)state;
	for (const heddle_pass *pass = heddle_passes; pass->name; pass++) {
		bench b = bench_of(product, NULL, config, pass->name);
		if (b.status < 0)
			fail_msg("%s: %s", pass->name, heddle_ctx_messages(b.ctx));
		bool generated = !strcmp(pass->name, "generate");
		assert_int_equal(b.scop->program != NULL, generated);
		assert_int_equal(b.scop->n_kernel > 0, pass - heddle_passes >= 3);
		assert_true(strlen(pass->role) > 10);
		heddle_program_free(b.scop->program);
		bench_free(&b);
	}
}

static void prints(void **state)
{
	(void)state;
	bench b = bench_of(product, NULL, config, "extract");
	heddle_scop *scop = heddle_scop_new(b.ctx, b.arena, b.module->definition[0], b.scop->descriptor);
	heddle_text out = {0};
	heddle_pass_options options = {.dump = "map", .stop = "prove", .times = true, .out = &out};
	assert_int_equal(heddle_passes_run(scop, b.config, &options), 0);
	const char *text = heddle_text_str(&out);
	assert_non_null(strstr(text, "extract"));
	assert_non_null(strstr(text, "A.0: shared"));
	assert_non_null(strstr(text, "boundary blocks"));
	assert_null(strstr(text, "launch "));
	assert_string_equal(scop->proof, "proved");
	heddle_text_free(&out);
	heddle_scop_free(scop);
	bench_free(&b);
}

/* A bound on isl's work is an error, or a proof that says so: never a wrong program, never silence. */
static void limits(void **state)
{
	(void)state;
	int stopped = 0, unproved = 0, fine = 0;
	for (unsigned long most = 200; most < 1000000; most = most * 3 / 2) {
		bench b = bench_of(product, NULL, config, "extract");
		heddle_scop *scop = heddle_scop_new(b.ctx, b.arena, b.module->definition[0], b.scop->descriptor);
		heddle_pass_options options = {.max_operations = most, .stop = "prove"};
		if (heddle_passes_run(scop, b.config, &options) < 0) {
			if (bench_code(&b) != 600)
				fail_msg("%lu operations: %s", most, heddle_ctx_messages(b.ctx));
			stopped++;
		} else if (strncmp(scop->proof, "not proved: ", 12) == 0) {
			unproved++;
		} else {
			assert_string_equal(scop->proof, "proved");
			fine++;
		}
		heddle_scop_free(scop);
		bench_free(&b);
	}
	print_message("%d stopped, %d not proved, %d proved\n", stopped, unproved, fine);
	assert_true(stopped && fine);
}

static void preconditions(void **state)
{
	(void)state;
	bench b = bench_of("def f(float(V, D) T, int32(B) at) -> (O) { O(b, d) = T(at(b), d) }", NULL, "fuse=0", "prove");
	assert_int_equal(b.status, 0);
	assert_string_equal(b.scop->proof, "proved under preconditions");
	bench_free(&b);
	b = bench_of("def f(float(N) x) -> (y) { y(i) = x(i) }", NULL, "fuse=0", "prove");
	assert_string_equal(b.scop->proof, "proved");
	bench_free(&b);
}

/* The words stand in this order in the program of the definition under the config. */
static void expect_loops(const char *definition, const char *line, const char *const *word, const char *without)
{
	bench b = bench_of(definition, NULL, line, "generate");
	if (b.status < 0)
		fail_msg("%s", heddle_ctx_messages(b.ctx));
	heddle_text out = {0};
	heddle_program_print(b.scop->program, &out);
	const char *text = heddle_text_str(&out), *at = text;
	for (; *word; word++) {
		at = strstr(at, *word);
		if (!at)
			fail_msg("%s: no `%s` where it should be in\n%s", line, *word, text);
	}
	if (without && strstr(text, without))
		fail_msg("%s: `%s` in\n%s", line, without, text);
	heddle_text_free(&out);
	heddle_program_free(b.scop->program);
	bench_free(&b);
}

/* Vectors run along the target's rows outside of those across them; a lone short reduction over tiles is hinted. */
static void loops(void **state)
{
	(void)state;
	static const char turned[] = "def f(float(M, K) A, float(K, N) B) -> (C) { C(j, i) +=! A(i, k) * B(k, j) }";
	static const char two[] = "def f(float(M, K, L) A, float(K, L, N) B) -> (C) { C(i, j) +=! A(i, k, l) * B(k, l, j) }";
	static const char staged[] =
		"fuse=0; k0.S0: tile=i:8,j:8,k:4 thread=i:2,j:2 vector=i:4,j:4; k0.A.0: space=shared; k0.B.0: space=shared";
	expect_loops(product, staged, (const char *const[]){"for hint k_item", "for vector j_vec", "for vector i_vec", NULL}, NULL);
	expect_loops(turned, staged, (const char *const[]){"for hint k_item", "for vector i_vec", "for vector j_vec", NULL}, NULL);
	expect_loops(product, "fuse=0; k0.S0: tile=i:8,j:8,k:4 thread=i:2,j:2 vector=i:4,j:4",
		     (const char *const[]){"for serial k_item", "for vector j_vec", NULL}, "for hint");
	expect_loops(product,
		     "fuse=0; k0.S0: tile=i:8,j:8,k:16 thread=i:2,j:2 vector=i:4,j:4; k0.A.0: space=shared; k0.B.0: space=shared",
		     (const char *const[]){"for serial k_item", "for vector j_vec", NULL}, "for hint");
	expect_loops(two,
		     "fuse=0; k0.S0: tile=i:8,j:8,k:4,l:2 thread=i:2,j:2 vector=j:4; k0.A.0: space=shared; k0.B.0: space=shared",
		     (const char *const[]){"for serial k_item", "for serial l_item", "for vector j_vec", NULL}, "for hint");
}

/* Loops go in steps where a condition says so; one that has one value only is none, and asks whether it has that. */
static void bounds(void **state)
{
	(void)state;
	static const char strided[] = "def f(float(C, W) I, float(C, 4) t) -> (O) { O(w) +=! (w + 1 - k >= 0 && (w + 1 - k) % 2 == 0 && "
				      "(w + 1 - k) / 2 < W) ? I(c, (w + 1 - k) / 2) * t(c, k) : 0 where w in 0:2 * W, k in 0:4 }";
	expect_loops(strided, "fuse=0; k0.S0: tile=w:1",
		     (const char *const[]){"for serial k in ", " .. min(4, w_block + 2) step 2 uniform", "for serial c in 0 .. int32(C) uniform", "fma(", NULL},
		     "if floor_mod");
	/* threads differ: the condition is theirs */
	expect_loops(strided, "fuse=0; k0.S0: tile=w:8 thread=w:8",
		     (const char *const[]){"for serial k in ", "for serial c in 0 .. int32(C) uniform", "if floor_mod(w_thread + k + 1, 2) == 0", "fma(", NULL},
		     "step 2");
	expect_loops("def f(float(N) x) -> (y) { y(i) +=! (2 * j == i) ? x(j) : 0 where i in 0:N, j in 0:N }", "fuse=0; k0.S0: tile=i:1",
		     (const char *const[]){"if floor_mod(i_block, 2) == 0", "x[floor_div(i_block, 2)]", NULL}, "for ");
	/* full steps, and the rest where there is one */
	expect_loops(product, "fuse=0; k0.S0: tile=i:1,j:1,k:8",
		     (const char *const[]){"for serial k_tile in 0 .. floor_div(int32(K), 8) uniform", "for serial k_item in 0 .. 8 uniform",
					   "if floor_mod(int32(K), 8) > 0", "for serial k_item2 in 0 .. int32(K) - floor_div(int32(K), 8) * 8 uniform", NULL},
		     "min(");
}

/* Tiles that one thread goes through are no longer than dimensions are known to be. */
static void short_dimensions(void **state)
{
	(void)state;
	static const char window[] = "def f(float(N + 2) x, float(5) t) -> (y) { y(i) +=! x(i + k) * t(k) where i in 0:N, k in 0:3 }";
	static const char later[] = "def f(float(N + 4) x, float(5) t) -> (y) { y(i) +=! x(i + k) * t(k) where i in 0:N, k in 2:5 }";
	static const struct {
		const char *text, *config;
		int64_t tile, items, other;
	} one[] = {{window, "fuse=0; k0.S0: tile=k:8", 3, 3, 1}, {window, "fuse=0; k0.S0: tile=k:3", 3, 3, 1}, {window, "fuse=0; k0.S0: tile=k:2", 2, 2, 1},
		   {window, "fuse=0; k0.S0: tile=k:8 vector=k:2 reduce=k:lanes", 8, 4, 1},
		   {window, "fuse=0; k0.S0: tile=k:8 vector=k:4 reduce=k:lanes", 3, 3, 1}, /* no vector of four is filled */
		   {later, "fuse=0; k0.S0: tile=k:8 vector=k:8 reduce=k:lanes", 8, 1, 1},
		   {window, "fuse=0; k0.S0: tile=i:8,k:1", 1, 1, 8}, /* how long N is nobody knows */
		   {later, "fuse=0; k0.S0: tile=k:8", 8, 8, 1}}; /* tiles begin at 0 */
	for (size_t i = 0; i < HEDDLE_COUNT(one); i++) {
		bench b = bench_of(one[i].text, NULL, one[i].config, "tile");
		assert_int_equal(b.status, 0);
		const heddle_stmt *stmt = b.scop->kernel[0]->stmt[0];
		assert_int_equal(stmt->dim[1].layout.tile, one[i].tile);
		assert_int_equal(stmt->dim[1].layout.items, one[i].items);
		assert_int_equal(stmt->dim[0].layout.tile, one[i].other);
		bench_free(&b);
	}
	/* of members, where none of their statements has more */
	static const char *const both[] = {"def f(float(3) x) -> (t, y) { t(i) = 2 * x(i) where i in 0:3 y(i) = t(i) + x(i) where i in 0:3 }",
					   "def f(float(5) x) -> (t, y) { t(i) = 2 * x(i) where i in 0:3 y(i) = 2 * x(i) where i in 0:5 }"};
	for (size_t i = 0; i < HEDDLE_COUNT(both); i++) {
		bench b = bench_of(both[i], NULL, "fuse=0,0; k0.S0: tile=i:8", "tile");
		assert_int_equal(b.status, 0);
		assert_int_equal(b.scop->kernel[0]->member[0].layout.tile, i ? 5 : 3);
		assert_int_equal(b.scop->kernel[0]->stmt[1]->dim[0].layout.items, i ? 5 : 3);
		bench_free(&b);
	}
}

/* Rounds are around the steps of what is staged once; whole ones run without conditions, in blocks that are cut along other
 * dimensions, too, where what is read there is in a tile. */
static void rounds(void **state)
{
	(void)state;
	static const char staged[] = "fuse=0; k0.S0: tile=i:18,j:8,k:4 round=i:6 vector=j:8; k0.B.0: space=shared";
	expect_loops(product, staged,
		     (const char *const[]){"for serial i_round in 0 .. min(", "for serial i_item in 0 .. min(3, ", "for serial k_tile", "B_tile[B_row",
					   "for serial i_round", "for serial k_item", "for unroll i_item", "for vector j_vec", "C_sum0[i_round",
					   "if M_rounds * 3 < int32(M)", "for serial i_item", "for serial k_item", "for vector j_vec",
					   "C_sum0[M_rounds - i_block * 6", "for serial i_round", "for serial i_item", "C[", NULL},
		     "_edge");
	/* A is read where j does not exist, too: not harmless, so the boundary guards both */
	expect_loops("def f(float(M, K, N) A, float(K, N) B) -> (C) { C(i, j) +=! A(i, k, j) * B(k, j) }", staged,
		     (const char *const[]){"} else {", "for serial k_tile", "for serial i_round", "for serial k_item", "for vector j_vec",
					   "j_block * 8 + j_vec", "C_sum0_edge[i_round", NULL},
		     "C_sum0_edge[(int32(M)");
	/* what is beyond the end lies in tiles, filled: sums run over, and only stores ask */
	expect_loops(product, "fuse=0; k0.S0: tile=i:4,j:64,k:4 round=j:4 vector=j:16; k0.A.0: space=shared; k0.B.0: space=shared",
		     (const char *const[]){"B_tile[B_row", "for serial j_round", "for serial k_item", "for vector j_vec", "C_sum0[",
					   "for serial j_round", "if ", "C[", NULL},
		     "N_rounds");
	/* in rounds of both, too: all sums of a round that has any are initialised */
	expect_loops(product, "fuse=0; k0.S0: tile=i:6,j:64,k:4 round=i:2,j:4 vector=j:16; k0.A.0: space=shared; k0.B.0: space=shared",
		     (const char *const[]){"for serial i_round", "for serial j_round", "for serial i_item in 0 .. 3", "C_sum0[", "B_tile[B_row",
					   "for serial i_round", "for serial j_round", "for serial k_item", "for vector j_vec", "C_sum0[", NULL},
		     "_rounds");
}

/* A window at its image's edge asks for its pixels; its channels, whose end has nothing to do with that, run over where they are in a tile. */
static void runs_over(void **state)
{
	(void)state;
	static const char staged[] = "fuse=0; k0.S0: tile=n:1,m:16,w:4,c:4,k:3 vector=m:8; k0.F.0: space=shared";
	expect_loops("def f(float(N, C, W) I, float(C, 3, M) F) -> (O) {"
		     " O(n, m, w) +=! (w + k - 1 >= 0 && w + k - 1 < W) ? I(n, c, w + k - 1) * F(c, k, m) : 0 where w in 0:W, k in 0:3 }",
		     staged,
		     (const char *const[]){"} else {", "F_tile[", "if w_block * 4 + k + w_item2 <= int32(W) && w_block * 4 + k + w_item2 > 0 && "
							   "w_block * 4 + w_item2 < int32(W) @1",
					   "O_sum0_edge[m_item2]", "if m_block * 16 + m_item3 * 8 + m_vec3 < int32(M)", "O[n_block]", NULL},
		     "m_vec2 < int32(M)");
	/* numbers that it reads are the same there */
	expect_loops("def f(int32(M, K) A, int32(K, N) B, int32 zero) -> (C) { C(i, j) +=! (A(i, k) - zero) * B(k, j) }",
		     "fuse=0; k0.S0: tile=i:4,j:16,k:4 vector=j:16; k0.A.0: space=shared; k0.B.0: space=shared",
		     (const char *const[]){"} else {", "B_tile[B_row", "for vector j_vec2", "C_sum0_edge[", "if ", "C[", NULL}, "j_vec2 < int32(N)");
	/* not where the guard asks about channels */
	expect_loops("def f(float(N, C, W) I, float(C, 3, M) F) -> (O) {"
		     " O(n, m, w) +=! (w + k - m >= 0) ? I(n, c, w + k) * F(c, k, m) : 0 where w in 0:W - 3, k in 0:3 }",
		     staged, (const char *const[]){"} else {", "F_tile[", "m_vec2 < int32(M)", "O_sum0_edge[m_item2]", NULL}, NULL);
}

/* Sums of members that are computed together lie side by side: those along the target's rows, else the first that are vectors. */
static void lockstep(void **state)
{
	(void)state;
	static const char rows[] = "def f(float(M, K) A, float(L, K, N) B) -> (C) { C(i, j, n) +=! A(i, k) * B(j, k, n) }";
	expect_loops(rows, "fuse=0; k0.S0: tile=i:8,j:4,n:1 vector=i:8,j:4",
		     (const char *const[]){"buffer register C_sum0 float32 [4][8]", "for vector i_vec", "for vector j_vec", NULL}, NULL);
	expect_loops(rows, "fuse=0; k0.S0: tile=i:8,j:1,n:2 vector=i:8,n:2",
		     (const char *const[]){"buffer register C_sum0 float32 [8][2]", "for vector n_vec", "for vector i_vec", NULL}, NULL);
	expect_loops("def f(float(M, K) A, float(K, N) B) -> (C) { C(j, i) +=! A(i, k) * B(k, j) }", "fuse=0; k0.S0: tile=i:8,j:4 vector=i:8,j:4",
		     (const char *const[]){"buffer register C_sum0 float32 [4][8]", "for vector i_vec", "for vector j_vec", NULL}, NULL);
}

/* Statements go through their tiles together where each needs its own step of the others only. */
static void joined(void **state)
{
	(void)state;
	static const char two[] = "def f(float(N, 64) x) -> (s, q) { s(n) +=! x(n, d) q(n) max=! x(n, d) * x(n, d) }";
	static const char chain[] = "def f(float(N, 64) x) -> (s, O) { t(n, d) = exp(x(n, d)) s(n) +=! t(n, d) O(n, d) = t(n, d) / s(n) }";
	static const char turned[] = "def f(float(N, 64) x) -> (s) { t(n, d) = exp(x(n, d)) s(n) +=! t(n, 63 - d) where d in 0:64 }";
	expect_loops(two, "fuse=0,0; k0.S0: tile=d:8 vector=d:8 reduce=d:lanes; k0.S1: tile=d:8 vector=d:8 reduce=d:lanes",
		     (const char *const[]){"s_sum0[", "q_sum1[", "for serial d_tile in 0 .. 8", "s_sum0[", "q_sum1[", NULL}, "d_tile2");
	/* other tiles */
	expect_loops(two, "fuse=0,0; k0.S0: tile=d:8 vector=d:8 reduce=d:lanes; k0.S1: tile=d:4 vector=d:4 reduce=d:lanes",
		     (const char *const[]){"for serial d_tile in 0 .. 8", "s_sum0[", "for serial d_tile2 in 0 .. 16", "q_sum1[", NULL}, "d_tile3");
	/* more sums than there is room for */
	expect_loops(two, "fuse=0,0; k0.S0: tile=d:32 vector=d:32 reduce=d:lanes; k0.S1: tile=d:32 vector=d:32 reduce=d:lanes",
		     (const char *const[]){"for serial d_tile in 0 .. 2", "s_sum0[", "for serial d_tile2 in 0 .. 2", "q_sum1[", NULL}, "d_tile3");
	/* the third statement needs the whole sum */
	expect_loops(chain,
		     "fuse=0,0,0; k0.S0: tile=d:8 vector=d:8; k0.S1: tile=d:8 vector=d:8 reduce=d:lanes; k0.S2: tile=d:8 vector=d:8; "
		     "k0.s.0: space=register",
		     (const char *const[]){"for serial d_tile in 0 .. 8", "t[", "exp(", "s_sum1[", "for serial d_tile2 in 0 .. 8", "O[", NULL},
		     "d_tile3");
	/* what is needed comes in another step; from the thread itself it needs no barrier */
	expect_loops(turned, "fuse=0,0; k0.S0: tile=d:8 vector=d:8; k0.S1: tile=d:8 vector=d:8 reduce=d:lanes",
		     (const char *const[]){"for serial d_tile in 0 .. 8", "exp(", "for serial d_tile2 in 0 .. 8", "s_sum1[", NULL}, "d_tile3");
	expect_loops(chain,
		     "fuse=0,0,0; k0: threads=4; k0.S0: tile=d:8 thread=d:4 vector=d:2; k0.S1: tile=d:8 thread=d:4 vector=d:2 reduce=d:lanes; "
		     "k0.S2: tile=d:8 thread=d:4 vector=d:2; k0.s.0: space=register",
		     (const char *const[]){"for serial d_tile in 0 .. 8", "exp(", "s_sum1[", "barrier", "for serial d_tile2 in 0 .. 8", "O[", NULL}, "d_tile3");
}

/* Steps in order, and sums that begin and end in each of them. */
static void recurrences(void **state)
{
	(void)state;
	static const char scan[] = "def f(float(16, 8, 4) x, float(16, 4) w) -> (y) { h(t, c, s) = t > 0 ? h(t-1, c, s) * x(t, c, s) : x(t, c, s) where t in 0:16 "
				   "y(t, c) +=! h(t, c, s) * w(t, s) }";
	static const char after[] = "def f(float(16, 8) x) -> (h, y) { h(t, c) = t > 0 ? h(t-1, c) * x(t, c) : x(t, c) where t in 0:16 "
				    "y(t, c) = t > 0 ? h(t-1, c) : x(t, c) where t in 0:16 }";
	expect_loops(scan, "fuse=0,0; k0: threads=32; k0.S0: tile=c:8,s:4 thread=c:8,s:4; k0.S1: tile=s:4 thread=s:4 reduce=s:lanes",
		     (const char *const[]){"for serial t in 0 .. 16", "h[", "y_sum1[] = 0", "fma(", "y[", NULL}, "serial t2");
	/* lanes that have other elements, sums over several steps, tiles of its own */
	expect_loops(scan, "fuse=0,0; k0: threads=32; k0.S0: tile=c:8,s:4 thread=c:8,s:4; k0.S1: tile=s:8 thread=s:4 vector=s:2 reduce=s:lanes",
		     (const char *const[]){"for serial t in 0 .. 16", "h[", "barrier", "for serial t2 in 0 .. 16", "y_sum1[", NULL}, NULL);
	expect_loops(scan, "fuse=0,0; k0.S0: tile=s:2; k0.S1: tile=s:2",
		     (const char *const[]){"for serial t in 0 .. 16", "h[", "for serial t2 in 0 .. 16", "y_sum1[", NULL}, NULL);
	expect_loops(scan,
		     "fuse=0,0; k0: threads=32; k0.S0: tile=c:8,s:4 thread=c:8,s:4; k0.S1: tile=s:4 thread=s:4 reduce=s:lanes; k0.w.0: space=shared",
		     (const char *const[]){"for serial t in 0 .. 16", "h[", "for serial t2 in 0 .. 16", "y_sum1[", NULL}, NULL);
	/* another thread has what is needed */
	expect_loops("def f(float(16, 8, 4) x, float(16, 4) w) -> (y) { h(t, c, s) = t > 0 ? h(t-1, c, s) * x(t, c, s) : x(t, c, s) where t in 0:16 "
		     "y(t, c) +=! h(t, c, 3 - s) * w(t, s) where s in 0:4 }",
		     "fuse=0,0; k0: threads=32; k0.S0: tile=c:8,s:4 thread=c:8,s:4; k0.S1: tile=s:4 thread=s:4 reduce=s:lanes",
		     (const char *const[]){"for serial t in 0 .. 16", "h[", "barrier", "for serial t2 in 0 .. 16", "y_sum1[", NULL}, NULL);
	/* what is needed is of the step before */
	expect_loops(after, "fuse=0,0; k0.S0: tile=c:1", (const char *const[]){"for serial t in 0 .. 16", "h[", "for serial t2 in 0 .. 16", "y[", NULL}, NULL);
}

/* Many of them: what joins is found in a time that grows with their number, not in one that doubles with each. */
static void joins_many(void **state)
{
	(void)state;
	enum { MANY = 40 };
	heddle_text text = {0}, line = {0};
	heddle_text_add(&text, "def f(float(N, 64) x) -> (O) { t0(n, d) = x(n, d) + 1 ");
	heddle_text_add(&line, "fuse=0");
	for (int k = 1; k <= MANY; k++) {
		heddle_text_printf(&text, "t%d(n, d) = t%d(n, d) * %d ", k, k - 1, k);
		heddle_text_add(&line, ",0");
	}
	heddle_text_printf(&text, "s(n) +=! t%d(n, d) O(n, d) = t%d(n, d) / s(n) }", MANY, MANY);
	heddle_text_add(&line, ",0,0");
	for (int k = 0; k <= MANY + 2; k++)
		heddle_text_printf(&line, "; k0.S%d: tile=d:8 vector=d:8%s", k, k == MANY + 1 ? " reduce=d:lanes" : "");
	bench b = bench_of(heddle_text_str(&text), NULL, heddle_text_str(&line), "place");
	if (b.status < 0)
		fail_msg("%s", heddle_ctx_messages(b.ctx));
	const bool *joins = heddle_joins(b.scop->arena, b.scop, b.scop->kernel[0]);
	assert_false(joins[0]);
	for (int k = 1; k <= MANY + 1; k++)
		assert_true(joins[k]);
	assert_false(joins[MANY + 2]);
	heddle_text_free(&text);
	heddle_text_free(&line);
	bench_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(stops), cmocka_unit_test(prints), cmocka_unit_test(limits),
					   cmocka_unit_test(preconditions), cmocka_unit_test(loops), cmocka_unit_test(bounds), cmocka_unit_test(short_dimensions),
					   cmocka_unit_test(rounds), cmocka_unit_test(runs_over), cmocka_unit_test(lockstep), cmocka_unit_test(joined), cmocka_unit_test(recurrences), cmocka_unit_test(joins_many)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
