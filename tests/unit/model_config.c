/* The config line: parsing, printing, every error with its place.
 * SPDX-License-Identifier: MIT
 */
#include "model/config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void round_trip(void **state)
{
	static const char *const lines[] = {
		"",
		"split=none",
		"split=0:i:64,2:k:8",
		"split=none; fuse=0,0,1",
		"split=none; share=1; fuse=0,0,1",
		"share=0,2",
		"share=none",
		"split=0:k:8; share=1; turn=0:A:k,2:B_1:i; fuse=0,1",
		"turn=none",
		"k0:; k0.A.0: space=global vector=4 prefetch=2",
		"k0:; k0.A.0: prefetch=0",
		"fuse=0",
		"fuse=0; k0:",
		"fuse=0; k0: threads=256 order=j,i lanes=outer",
		"fuse=0; k0: threads=128 resident=4 order=j,i",
		"fuse=0; k0: order=j stream=C,D; k0.S0: tile=i:4",
		"fuse=0; k0: stream=none",
		"fuse=0; k0: threads=256; k0.S0: tile=i:128,j:128,k:8 thread=i:16,j:16 vector=j:4 reduce=k:lanes",
		"fuse=0,1; k0:; k1: threads=32; k1.S1: tile=i:32 thread=i:32 reduce=i:sequential",
		"fuse=0; k0:; k0.S0: tile=i:96,j:64 round=i:16 vector=j:16",
		"fuse=0; k0:; k0.A.0: space=shared order=1,0 pad=4 vector=4 columns=2; k0.B.0: space=shared columns=4 phases=2; k0.A.1: space=global; k0.C.0: space=register",
	};
	(void)state;
	heddle_ctx *ctx = heddle_ctx_new();
	heddle_arena *arena = heddle_arena_new();
	for (size_t i = 0; i < HEDDLE_COUNT(lines); i++) {
		heddle_text out = {0};
		heddle_config *config = heddle_config_parse(ctx, arena, lines[i]);
		if (!config)
			fail_msg("%s", heddle_ctx_messages(ctx));
		heddle_config_print(config, &out);
		assert_string_equal(heddle_text_str(&out), lines[i]);
		heddle_text_free(&out);
	}
	assert_non_null(heddle_config_parse(ctx, arena, NULL));
	heddle_arena_free(arena);
	heddle_ctx_free(ctx);
}

/* What was read, not only what is printed back. */
static void values(void **state)
{
	(void)state;
	heddle_ctx *ctx = heddle_ctx_new();
	heddle_arena *arena = heddle_arena_new();
	heddle_config *c = heddle_config_parse(ctx, arena,
					       "  split=1:k:32;fuse=0,1 ; k1.S1: tile=i:8 tile=j:16 reduce=k:lanes;"
					       "k1.B.2: space=shared pad=3 ; k1: lanes=inner threads=64;");
	assert_non_null(c);
	assert_int_equal(c->n_split, 1);
	assert_int_equal(c->split[0].stmt, 1);
	assert_string_equal(c->split[0].dim, "k");
	assert_int_equal(c->split[0].chunk, 32);
	assert_int_equal(c->n_fuse, 2);
	assert_int_equal(c->n_kernel, 2);
	assert_int_equal(c->kernel[0].threads, 0);
	assert_int_equal(c->kernel[1].threads, 64);
	assert_int_equal(c->kernel[1].lanes_outer, 0);
	heddle_stmt_config *s = heddle_config_stmt(c, 1, 1);
	assert_int_equal(heddle_named_get(&s->tile, "i", 1), 8);
	assert_int_equal(heddle_named_get(&s->tile, "j", 1), 16);
	assert_int_equal(heddle_named_get(&s->tile, "k", 7), 7);
	assert_int_equal(heddle_named_get(&s->reduce, "k", HEDDLE_REDUCE_SEQUENTIAL), HEDDLE_REDUCE_LANES);
	heddle_named_set(c, &s->tile, "i", 4);
	assert_int_equal(heddle_named_get(&s->tile, "i", 1), 4);
	heddle_group_config *g = heddle_config_group(c, 1, "B", 2, false);
	assert_non_null(g);
	assert_int_equal(g->pad, 3);
	assert_int_equal(g->space, 1);
	assert_null(heddle_config_group(c, 1, "B", 0, false));
	assert_int_equal(heddle_config_group(c, 1, "B", 0, true)->space, -1);
	heddle_arena_free(arena);
	heddle_ctx_free(ctx);
}

static void errors(void **state)
{
	static const struct {
		const char *line;
		int column;
	} bad[] = {
		{"what=1", 1},
		{"fuse=", 6},
		{"fuse=0,", 8},
		{"fuse=-1", 6},
		{"fuse=0 1", 8},
		{"split=0", 7},
		{"split=0:i", 7},
		{"split=0:i:0", 7},
		{"split=i:1", 7},
		{"share=", 7},
		{"share=a", 7},
		{"share=1; share=2", 16},
		{"turn=", 6},
		{"turn=A", 6},
		{"turn=0", 6},
		{"turn=0:", 6},
		{"turn=0:A", 6},
		{"turn=0:A:", 6},
		{"turn=0:A:k; turn=1:A:k", 18},
		{"k0", 3},
		{"k9999:", 6},
		{"k0: threads", 5},
		{"k0: threads=0", 5},
		{"k0: resident=0", 5},
		{"k0: resident=65", 5},
		{"k0: threads=5000", 5},
		{"k0: thread=1", 5},
		{"k0: lanes=middle", 5},
		{"k0: order=", 11},
		{"k0: stream=", 12},
		{"k0: stream=C,", 14},
		{"k0.X: tile=i:1", 5},
		{"k0.S0: tile=i", 13},
		{"k0.S0: tile=i:0", 15},
		{"k0.S0: tile=i:9999999999", 24},
		{"k0.S0: title=i:1", 8},
		{"k0.S0: reduce=k:some", 17},
		{"k0.A.x: space=shared", 6},
		{"k0.A.0: space=local", 9},
		{"k0.A.0: pad=5000", 9},
		{"k0.A.0: order=16", 9},
		{"k0.A.0: size=1", 9},
		{"k0.A.0: phases=0", 9},
		{"k0.A.0: vector=0", 9},
		{"k0.A.0: columns=0", 9},
		{"k0.S0: tile=i:4,i:8", 17},
		{"k0.S0: reduce=k:lanes,k:sequential", 23},
		{"k0.S0: tile=n:4 tile=n:8", 22},
		{"k0.S0: tile=n:4 vector=n:2; k0.S0: vector=n:2", 43},
		{"k0: threads=64 threads=32", 16},
		{"k0.A.0: pad=1 vector=4 pad=1", 24},
	};
	(void)state;
	heddle_ctx *ctx = heddle_ctx_new();
	heddle_arena *arena = heddle_arena_new();
	for (size_t i = 0; i < HEDDLE_COUNT(bad); i++) {
		if (heddle_config_parse(ctx, arena, bad[i].line))
			fail_msg("accepted: %s", bad[i].line);
		const heddle_diagnostic *d = heddle_diagnostics(ctx);
		if (d->code != 501 || d->location.column != bad[i].column || d->next)
			fail_msg("%s: column %d expected, not %d\n%s", bad[i].line, bad[i].column, d->location.column,
				 heddle_ctx_messages(ctx));
		heddle_diagnostics_clear(ctx);
	}
	heddle_arena_free(arena);
	heddle_ctx_free(ctx);
}

static void overlay(void **state)
{
	static const struct {
		const char *config, *given, *both;
	} cases[] = {
		{"fuse=0; k0: threads=64 order=i,j stream=none; k0.S0: tile=i:4,j:64 vector=j:8", "k0: order=j,i stream=C; k0.S0: tile=j:32 reduce=k:lanes",
		 "fuse=0; k0: threads=64 order=j,i stream=C; k0.S0: tile=i:4,j:32 vector=j:8 reduce=k:lanes"},
		{"fuse=0; k0:; k0.A.0: space=shared pad=4 vector=4; k0.B.0: space=shared", "k0.A.0: space=global",
		 "fuse=0; k0:; k0.A.0: space=global; k0.B.0: space=shared"},
		{"fuse=0; k0:; k0.A.0: space=shared pad=4 vector=4", "k0.A.0: pad=8", "fuse=0; k0:; k0.A.0: space=shared pad=8 vector=4"},
		{"fuse=0; k0: threads=64", "", "fuse=0; k0: threads=64"},
	};
	(void)state;
	heddle_ctx *ctx = heddle_ctx_new();
	heddle_arena *arena = heddle_arena_new();
	for (size_t i = 0; i < HEDDLE_COUNT(cases); i++) {
		heddle_config *config = heddle_config_parse(ctx, arena, cases[i].config);
		const heddle_config *given = heddle_config_parse(ctx, arena, cases[i].given);
		assert_true(config && given);
		heddle_config_overlay(config, given);
		heddle_text text = {0};
		heddle_config_print(config, &text);
		assert_string_equal(heddle_text_str(&text), cases[i].both);
		heddle_text_free(&text);
	}
	heddle_arena_free(arena);
	heddle_ctx_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(overlay), cmocka_unit_test(round_trip), cmocka_unit_test(values), cmocka_unit_test(errors)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
