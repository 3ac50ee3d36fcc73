/* A scop of a small definition, run up to a pass; isl objects compared as sets.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_TESTS_SCOP_H
#define HEDDLE_TESTS_SCOP_H

#include "model/nest.h"
#include "model/passes.h"
#include "model/rewrite.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct bench {
	heddle_ctx *ctx;
	heddle_arena *arena;
	heddle_module *module;
	heddle_config *config;
	heddle_scop *scop;
	int status; /* of the passes */
} bench;

static inline int bench_code(const bench *b)
{
	const heddle_diagnostic *d = heddle_diagnostics(b->ctx);
	while (d && d->severity != HEDDLE_ERROR)
		d = d->next;
	return d ? d->code : 0;
}

/* Run the passes up to `stop` with the config, nothing completed. */
static inline bench bench_of(const char *text, const char *sizes, const char *config, const char *stop)
{
	bench b = {.ctx = heddle_ctx_new(), .arena = heddle_arena_new(), .status = -1};
	heddle_size_list *list = sizes ? heddle_sizes_parse(b.ctx, b.arena, sizes) : NULL;
	b.module = heddle_module_parse(b.ctx, "test", text, list);
	if (!b.module)
		fail_msg("%s", heddle_ctx_messages(b.ctx));
	heddle_diagnostics_clear(b.ctx);
	b.config = heddle_config_parse(b.ctx, b.arena, config);
	heddle_definition *d =
		b.config ? heddle_definition_rewrite(b.ctx, b.arena, b.module->definition[0], b.config) : NULL;
	if (!d)
		return b;
	b.scop = heddle_scop_new(b.ctx, b.arena, d, heddle_descriptor_find(b.ctx, "gpu"));
	heddle_pass_options options = {.stop = stop};
	b.status = heddle_passes_run(b.scop, b.config, &options);
	return b;
}

static inline void bench_free(bench *b)
{
	heddle_scop_free(b->scop);
	heddle_module_free(b->module);
	heddle_arena_free(b->arena);
	heddle_ctx_free(b->ctx);
}

static inline void expect_set(bench *b, isl_set *set, const char *text)
{
	isl_set *want = isl_set_read_from_str(b->scop->isl, text);
	char *is = isl_set_to_str(set);
	if (isl_set_is_equal(set, want) != isl_bool_true)
		fail_msg("%s\nis not\n%s", is, text);
	free(is);
	isl_set_free(want);
}

static inline void expect_map(bench *b, isl_map *map, const char *text)
{
	isl_map *want = isl_map_read_from_str(b->scop->isl, text);
	char *is = isl_map_to_str(map);
	if (isl_map_is_equal(map, want) != isl_bool_true)
		fail_msg("%s\nis not\n%s", is, text);
	free(is);
	isl_map_free(want);
}

/* The passes must end with this code. */
static inline void expect_code(const char *text, const char *sizes, const char *config, const char *stop, int code)
{
	bench b = bench_of(text, sizes, config, stop);
	if (b.status == 0 || bench_code(&b) != code)
		fail_msg("%s: E%04d expected, not: %s", config, code, heddle_ctx_messages(b.ctx));
	bench_free(&b);
}

#endif
