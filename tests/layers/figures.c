/* Figures about the layers' programs, on every shipped chip: softmax and product with bias and ReLU are one launch each, the
 * triangular product computes no empty half, the padded convolution has no guard for its padding in its interior branch.
 * SPDX-License-Identifier: MIT
 */
#include "compile/compile.h"
#include "harness/cases.h"
#include "harness/interpret.h"
#include "model/config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct layer {
	heddle_ctx *ctx;
	heddle_arena *arena;
	heddle_module *module;
	heddle_definition *definition;
} layer;

static layer open_layer(const char *name)
{
	layer l = {.ctx = heddle_ctx_new(), .arena = heddle_arena_new()};
	const char *path = heddle_arena_printf(l.arena, HEDDLE_SOURCE_DIR "/layers/%s.tc", name);
	char *text = heddle_file_read(l.ctx, path, NULL);
	assert_non_null(text);
	l.module = heddle_module_parse(l.ctx, path, text, NULL);
	free(text);
	assert_non_null(l.module);
	l.definition = heddle_module_find(l.ctx, l.module, name);
	assert_non_null(l.definition);
	return l;
}

static void close_layer(layer *l)
{
	heddle_module_free(l->module);
	heddle_arena_free(l->arena);
	heddle_ctx_free(l->ctx);
}

/* Nothing is rewritten; the rest is chosen, or as `simd` and `simt` say. */
static heddle_program *program_for(layer *l, const char *chip, const char *simd, const char *simt)
{
	heddle_target target;
	assert_int_equal(heddle_target_parse(l->ctx, chip, &target), 0);
	const char *config = heddle_arena_printf(l->arena, "split=none; share=none; turn=none; %s", target.descriptor->execution == HEDDLE_SIMD ? simd : simt);
	heddle_program *p = heddle_compile(l->ctx, l->definition, &target, &(heddle_compile_options){.config = config});
	if (!p)
		fail_msg("%s: %s", chip, heddle_ctx_messages(l->ctx));
	heddle_program_number(p);
	return p;
}

/* ---- launches ----------------------------------------------------------------------------------------------------------- */

static void one_launch(const char *name)
{
	layer l = open_layer(name);
	for (const char *const *chip = heddle_descriptor_names(l.ctx); *chip; ++chip) {
		if (!strcmp(*chip, "host"))
			continue; /* a file's, on some machine */
		heddle_program *p = program_for(&l, *chip, "", "");
		if (p->n_launch != 1)
			fail_msg("%s on %s: %d launches, config %s", name, *chip, p->n_launch, p->config);
		heddle_program_free(p);
	}
	print_message("%s: one launch on every chip\n", name);
	close_layer(&l);
}

static void softmax_is_one_launch(void **state)
{
	(void)state;
	one_launch("softmax");
}

static void product_with_bias_and_relu_is_one_launch(void **state)
{
	(void)state;
	one_launch("matmul_bias_relu");
}

/* ---- running ------------------------------------------------------------------------------------------------------------ */

static int size_position(const heddle_definition *d, const char *name)
{
	for (int k = 0; k < d->n_size; ++k)
		if (!strcmp(d->size[k]->name, name))
			return k;
	fail_msg("no size %s", name);
	return -1;
}

/* Run `p` with sizes "M", 512, "N", 128, NULL. */
static void run_program(layer *l, const heddle_program *p, heddle_interpret *run, ...)
{
	const heddle_definition *d = l->definition;
	int64_t *size = HEDDLE_NEW_ARRAY(l->arena, int64_t, d->n_size), *own = HEDDLE_NEW_ARRAY(l->arena, int64_t, p->n_size);
	heddle_array **array = HEDDLE_NEW_ARRAY(l->arena, heddle_array *, d->n_tensor);
	heddle_array **buffer = HEDDLE_NEW_ARRAY(l->arena, heddle_array *, p->n_buffer);
	va_list arguments;
	va_start(arguments, run);
	for (const char *name; (name = va_arg(arguments, const char *));)
		size[size_position(d, name)] = va_arg(arguments, int);
	va_end(arguments);
	assert_int_equal(heddle_case_arrays(l->ctx, l->module, d, size, HEDDLE_FILL_INTEGERS, 1, array), 0);
	for (int k = 0; k < p->n_size; ++k)
		own[k] = size[size_position(d, p->size[k].name)];
	for (int k = 0; k < p->n_buffer; ++k)
		for (int j = 0; j < d->n_tensor; ++j)
			if (array[j] && p->buffer[k]->role <= HEDDLE_BUFFER_INOUT && !strcmp(d->tensor[j]->name, p->buffer[k]->name))
				buffer[k] = array[j];
	*run = (heddle_interpret){.arena = l->arena, .program = p, .size = own, .array = buffer, .unaligned_vectors = true};
	if (heddle_interpret_run(l->ctx, run) < 0)
		fail_msg("%s", heddle_ctx_messages(l->ctx));
	if (run->n_finding)
		fail_msg("%s: %s", run->finding[0].kind, run->finding[0].text);
	heddle_case_arrays_free(d, array);
}

/* What the first kernel's first statement takes of a dimension at a time: its tile, or a round of it. */
static int64_t step_of(layer *l, const heddle_program *p, const char *dimension)
{
	heddle_config *config = heddle_config_parse(l->ctx, l->arena, p->config);
	assert_non_null(config);
	const heddle_stmt_config *stmt = &config->kernel[0].stmt[0];
	return heddle_named_get(&stmt->tile, dimension, 1) / heddle_named_get(&stmt->round, dimension, 1);
}

/* ---- no empty half -------------------------------------------------------------------------------------------------------- */

static void triangular_product_computes_no_empty_half(void **state)
{
	enum { M = 512, N = 128 };
	(void)state;
	layer l = open_layer("trmm");
	for (const char *const *chip = heddle_descriptor_names(l.ctx); *chip; ++chip) {
		if (!strcmp(*chip, "host"))
			continue; /* a file's, on some machine */
		heddle_program *p = program_for(&l, *chip, "", "");
		heddle_interpret run;
		run_program(&l, p, &run, "M", M, "N", N, (const char *)NULL);
		uint64_t operations = 0;
		for (int k = 0; k < p->n_launch; ++k)
			operations += run.launch[k].float_operations;
		/* Blocks on the diagonal may run whole: ti (ti - 1) / 2 more for each of M / ti, and k goes in steps. */
		const int64_t i = step_of(&l, p, "i"), k = step_of(&l, p, "k"), j = step_of(&l, p, "j"), columns = (N + j - 1) / j * j;
		const int64_t exact = (int64_t)M * (M + 1) / 2 * N,
			      most = (int64_t)M * (M + 1) / 2 * columns + (int64_t)M * columns * ((i - 1) / 2 + (i % k ? k : 0));
		const int64_t done = (int64_t)operations / 2;
		print_message("trmm %s: %lld multiply-adds, %lld needed (%.1f %% more), %lld in the square\n", *chip, (long long)done,
			      (long long)exact, 100.0 * (double)(done - exact) / (double)exact, (long long)M * M * N);
		if (done < exact || done > most || done >= (int64_t)M * M * columns * 3 / 4)
			fail_msg("%s: %lld multiply-adds, from %lld to %lld expected", *chip, (long long)done, (long long)exact,
				 (long long)most);
		heddle_program_free(p);
	}
	close_layer(&l);
}

/* ---- no guard in the interior ------------------------------------------------------------------------------------------------ */

/* LETs in scope, by name. */
typedef struct scope {
	heddle_arena *arena;
	const heddle_program *program;
	int n;
	const heddle_node **let;
	int guards;   /* conditions that look at image sizes or the block's place */
} scope;

static bool looks_outside(const scope *s, const heddle_value *v)
{
	if (v->kind == HEDDLE_VALUE_BLOCK)
		return true;
	if (v->kind == HEDDLE_VALUE_SIZE)
		return strcmp(s->program->size[v->i].name, "C") != 0; /* the sum's remainder is no guard */
	for (int k = s->n - 1; v->kind == HEDDLE_VALUE_VARIABLE && k >= 0; --k)
		if (!strcmp(s->let[k]->name, v->name))
			return looks_outside(s, s->let[k]->value[0]);
	for (int k = 0; k < v->n_arg; ++k)
		if (looks_outside(s, v->arg[k]))
			return true;
	return false;
}

static void look_at_value(scope *s, const heddle_value *v)
{
	if (v->kind == HEDDLE_VALUE_SELECT)
		s->guards += looks_outside(s, v->arg[0]);
	for (int k = 0; k < v->n_arg; ++k)
		look_at_value(s, v->arg[k]);
}

static void look_at_node(scope *s, const heddle_node *node)
{
	const int n = s->n;
	for (int k = 0; k < node->n_value; ++k)
		look_at_value(s, node->value[k]);
	if (node->kind == HEDDLE_NODE_IF)
		s->guards += looks_outside(s, node->value[0]);
	for (int k = 0; k < node->n_child; ++k) {
		look_at_node(s, node->child[k]);
		if (node->child[k]->kind == HEDDLE_NODE_LET)
			HEDDLE_PUSH(s->arena, s->let, s->n, node->child[k]);
	}
	if (node->kind == HEDDLE_NODE_BLOCK)
		s->n = n;
}

/* The branch between interior and boundary: an IF with two sides at the launch's outermost level; the LETs before it. */
static const heddle_node *interior_branch(scope *s, const heddle_node *body)
{
	for (int k = 0; k < body->n_child; ++k) {
		const heddle_node *child = body->child[k];
		if (child->kind == HEDDLE_NODE_IF && child->n_child == 2)
			return child;
		if (child->kind == HEDDLE_NODE_LET)
			HEDDLE_PUSH(s->arena, s->let, s->n, child);
		const heddle_node *inside = child->kind == HEDDLE_NODE_BLOCK ? interior_branch(s, child) : NULL;
		if (inside)
			return inside;
	}
	return NULL;
}

static void convolution_has_no_guard_in_its_interior(void **state)
{
	(void)state;
	layer l = open_layer("conv2d");
	for (const char *const *chip = heddle_descriptor_names(l.ctx); *chip; ++chip) {
		if (!strcmp(*chip, "host"))
			continue; /* a file's, on some machine */
		heddle_program *p = program_for(&l, *chip, "k0.S0: tile=m:4,w:16 vector=w:4", "k0.S0: tile=m:32,w:32,kh:3,kw:3,c:4 thread=m:8,w:8");
		assert_int_equal(p->n_launch, 1);
		scope s = {.arena = l.arena, .program = p};
		const heddle_node *branch = interior_branch(&s, p->launch[0]->body);
		if (!branch)
			fail_msg("%s: no branch between interior and boundary", *chip);
		scope boundary = s;
		boundary.let = NULL;
		boundary.n = 0;
		for (int k = 0; k < s.n; ++k)
			HEDDLE_PUSH(l.arena, boundary.let, boundary.n, s.let[k]);
		look_at_node(&s, branch->child[0]);
		look_at_node(&boundary, branch->child[1]);
		/* The interior must run at all: wide enough for a block that touches no edge. */
		const int w = 6 * (int)step_of(&l, p, "w"), h = 6 * (int)step_of(&l, p, "h"), m = (int)step_of(&l, p, "m"), n = (int)step_of(&l, p, "n");
		heddle_interpret run;
		run_program(&l, p, &run, "N", n, "C", 1, "M", m, "H", h, "W", w, (const char *)NULL);
		const uint64_t inside = run.launch[0].runs[branch->child[0]->id], outside = run.launch[0].runs[branch->child[1]->id];
		print_message("conv2d %s: %d guards in the interior, %d in the boundary; %llu and %llu blocks of %dx%dx%d\n", *chip,
			      s.guards, boundary.guards, (unsigned long long)inside, (unsigned long long)outside, m, h, w);
		assert_int_equal(s.guards, 0);
		assert_true(boundary.guards > 0); /* the check can fail */
		assert_true(inside > 0 && outside > 0);
		heddle_program_free(p);
	}
	close_layer(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(softmax_is_one_launch),
		cmocka_unit_test(product_with_bias_and_relu_is_one_launch),
		cmocka_unit_test(triangular_product_computes_no_empty_half),
		cmocka_unit_test(convolution_has_no_guard_in_its_interior),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
