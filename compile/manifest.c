/* A program's manifest: arguments in the entry's order, launches with their arguments, options per policy.
 * SPDX-License-Identifier: MIT
 */
#include "compile/manifest.h"

#include "backends/printer.h"

#include <stdlib.h>
#include <string.h>

static heddle_argument_role role_of(const heddle_buffer *buffer)
{
	switch (buffer->role) {
	case HEDDLE_BUFFER_INPUT: return HEDDLE_ARGUMENT_INPUT;
	case HEDDLE_BUFFER_OUTPUT: return HEDDLE_ARGUMENT_OUTPUT;
	case HEDDLE_BUFFER_INOUT: return HEDDLE_ARGUMENT_INOUT;
	case HEDDLE_BUFFER_SCALAR: return HEDDLE_ARGUMENT_SCALAR;
	default: return HEDDLE_ARGUMENT_TEMPORARY;
	}
}

static heddle_formula formula(heddle_arena *arena, const heddle_program *program, const heddle_value *value, bool *failed)
{
	const char *text = value ? heddle_formula_text(arena, program, value, "") : "0";
	*failed = *failed || !text;
	return text ? text : "0";
}

static void add_tensor(heddle_manifest *m, heddle_argument **list, int *n, const heddle_program *program, const heddle_buffer *buffer,
		       int align, bool *failed)
{
	heddle_argument argument = {
		.name = heddle_arena_strdup(m->arena, buffer->name),
		.role = role_of(buffer),
		.type = buffer->type,
		.rank = buffer->rank,
		.align = align,
	};
	if (argument.role == HEDDLE_ARGUMENT_SCALAR)
		argument.rank = 0;
	argument.shape = HEDDLE_NEW_ARRAY(m->arena, heddle_formula, argument.rank + 1);
	for (int i = 0; i < argument.rank; i++)
		argument.shape[i] = formula(m->arena, program, buffer->extent[i], failed);
	if (buffer->stride)
		argument.strides = HEDDLE_NEW_ARRAY(m->arena, heddle_formula, argument.rank + 1);
	for (int i = 0; i < argument.rank && buffer->stride; i++)
		argument.strides[i] = formula(m->arena, program, buffer->stride[i], failed);
	if (argument.role == HEDDLE_ARGUMENT_TEMPORARY)
		argument.offset = formula(m->arena, program, buffer->offset, failed);
	HEDDLE_PUSH(m->arena, *list, *n, argument);
}

/* The buffer's place in the program, -1: there is none. */
static int find_buffer(const heddle_program *program, const char *name)
{
	for (int i = 0; i < program->n_buffer; i++)
		if (!strcmp(program->buffer[i]->name, name))
			return i;
	return -1;
}

/* "M==64&&N==32": the sizes are the variant's. */
static const char *sizes_text(heddle_arena *arena, const heddle_program *p)
{
	const char *text = "";
	for (int i = 0; i < p->n_size; i++) {
		const heddle_program_size *s = &p->size[i];
		const char *and = *text ? "&&" : "";
		if (s->min == s->max)
			text = heddle_arena_printf(arena, "%s%s%s==%lld", text, and, s->name, (long long)s->min);
		else
			text = heddle_arena_printf(arena, "%s%s%s>=%lld&&%s<=%lld&&%s%%%lld==0", text, and, s->name, (long long)s->min,
						   s->name, (long long)s->max, s->name, (long long)(s->divisor > 1 ? s->divisor : 1));
	}
	return *text ? text : "1";
}

/* Where no variant is for all sizes, what is a number in each of them must be said for all. */
static heddle_formula for_all(heddle_manifest *m, const heddle_variants *variants, const char *name, bool stride, int k, bool *failed)
{
	const int size = heddle_variants_extent_size(variants, name, stride, k);
	if (size >= 0)
		return heddle_arena_strdup(m->arena, variants->item[0].program->size[size].name);
	const char *text = NULL;
	for (int v = variants->n - 1; v >= 0; v--) {
		const heddle_program *p = variants->item[v].program;
		const heddle_buffer *buffer = p->buffer[find_buffer(p, name)];
		if (variants->item[v].why)
			continue; /* a copy for the same sizes */
		const char *own = formula(m->arena, p, stride ? buffer->stride[k] : buffer->extent[k], failed);
		if (text && strcmp(own, text) != 0)
			text = heddle_arena_printf(m->arena, "(%s?(%s):(%s))", sizes_text(m->arena, p), own, text);
		else
			text = own;
	}
	return text;
}

static void generalise(heddle_manifest *m, const heddle_variants *variants, bool *failed)
{
	for (int i = 0; i < m->n_argument; i++) {
		heddle_argument *a = &m->argument[i];
		for (int k = 0; k < a->rank && a->role != HEDDLE_ARGUMENT_TEMPORARY; k++) {
			a->shape[k] = for_all(m, variants, a->name, false, k, failed);
			if (a->strides)
				a->strides[k] = for_all(m, variants, a->name, true, k, failed);
		}
	}
}

/* The entry's order: tensors, scalars, sizes; temporaries come last, they are no parameters. */
static void add_arguments(heddle_manifest *m, const heddle_target *target, const heddle_variants *variants, bool *failed)
{
	const heddle_program *program = variants->item[variants->n - 1].program;
	const int *align = heddle_buffer_alignments(m->arena, target, program);
	for (int pass = 0; pass < 3; pass++) {
		for (int i = 0; i < program->n_buffer; i++) {
			const heddle_buffer *buffer = program->buffer[i];
			if (buffer->role == HEDDLE_BUFFER_SHARED || buffer->role == HEDDLE_BUFFER_REGISTER)
				continue;
			int where = buffer->role == HEDDLE_BUFFER_SCALAR ? 1 : buffer->role == HEDDLE_BUFFER_TEMPORARY ? 2 : 0;
			if (where == pass)
				add_tensor(m, &m->argument, &m->n_argument, program, buffer, align[i], failed);
		}
		for (int i = 0; pass == 1 && i < program->n_size; i++) {
			const heddle_program_size all = heddle_variants_size(variants, i);
			const heddle_argument size = {.name = heddle_arena_strdup(m->arena, all.name),
						      .role = HEDDLE_ARGUMENT_SIZE,
						      .type = HEDDLE_INT64};
			if (all.min != all.max)
				HEDDLE_PUSH(m->arena, m->argument, m->n_argument, size);
		}
	}
}

static void add_launch(heddle_manifest *m, heddle_manifest_launch **list, int *n, const heddle_target *target, const heddle_program *program,
		       const heddle_launch *launch, bool *failed)
{
	heddle_manifest_launch out = {
		.kernel = heddle_arena_strdup(m->arena, launch->name),
		.grid = {formula(m->arena, program, launch->grid, failed), "1", "1"},
		.block = {launch->threads, 1, 1},
	};
	kernel_memory memory;
	kernel_arguments arguments;
	heddle_kernel_memory(m->arena, target, launch, &memory);
	heddle_kernel_arguments(m->arena, program, launch, &arguments);
	out.dynamic_shared_bytes = heddle_arena_printf(m->arena, "%lld", (long long)(memory.dynamic ? memory.bytes : 0));
	bool offsets = heddle_dialect_flag(target->dialect, "language.byte_offsets");
	for (int i = 0; i < arguments.n_tensor; i++) {
		heddle_kernel_argument argument = {.name = heddle_arena_strdup(m->arena, arguments.tensor[i]->name),
						   .type = arguments.tensor[i]->type};
		HEDDLE_PUSH(m->arena, out.argument, out.n_argument, argument);
		argument.byte_offset = true;
		argument.type = HEDDLE_UINT64;
		if (offsets)
			HEDDLE_PUSH(m->arena, out.argument, out.n_argument, argument);
	}
	for (int i = 0; i < arguments.n_scalar; i++) {
		heddle_kernel_argument argument = {.name = heddle_arena_strdup(m->arena, arguments.scalar[i]->name),
						   .type = arguments.scalar[i]->type};
		HEDDLE_PUSH(m->arena, out.argument, out.n_argument, argument);
	}
	for (int i = 0; i < arguments.n_size; i++) {
		heddle_kernel_argument argument = {
			.name = heddle_arena_strdup(m->arena, program->size[arguments.size[i]].name), .size = true, .type = HEDDLE_INT64};
		HEDDLE_PUSH(m->arena, out.argument, out.n_argument, argument);
	}
	HEDDLE_PUSH(m->arena, *list, *n, out);
}

/* A set is a word, one text, or a list of words: options.POLICY.SET or options.POLICY.SET.0 and on.  Empty ones are left out. */
static void add_options(heddle_manifest *m, const heddle_dialect *dialect)
{
	const char *prefix = heddle_arena_printf(m->arena, "options.%s.", m->policy);
	const size_t length = strlen(prefix);
	for (int i = 0; i < dialect->n_word; i++) {
		const char *key = dialect->word[i].key;
		if (strncmp(key, prefix, length) != 0)
			continue;
		const size_t n = strcspn(key + length, ".");
		heddle_option_set set = {.name = heddle_arena_strndup(m->arena, key + length, n), .text = !key[length + n]};
		if (heddle_manifest_option_set(m, set.name).n)
			continue;
		if (set.text)
			HEDDLE_PUSH(m->arena, set.option, set.n, dialect->word[i].text);
		else
			set.option = heddle_dialect_list(dialect, m->arena, heddle_arena_strndup(m->arena, key, length + n), &set.n);
		for (int k = 0; k < set.n; k++)
			set.option[k] = heddle_arena_strdup(m->arena, set.option[k]);
		HEDDLE_PUSH(m->arena, m->option_set, m->n_option_set, set);
	}
	m->global_threads = heddle_dialect_flag(dialect, "language.global_threads");
}

heddle_option_set heddle_manifest_option_set(const heddle_manifest *m, const char *name)
{
	for (int i = 0; i < m->n_option_set; i++)
		if (strcmp(m->option_set[i].name, name) == 0)
			return m->option_set[i];
	return (heddle_option_set){.name = name};
}

const char *heddle_source_file(heddle_arena *arena, const heddle_target *target, const char *base)
{
	return heddle_arena_printf(arena, "%s%s", base, heddle_dialect_suffix(target->dialect));
}

const char *heddle_host_file(heddle_arena *arena, const heddle_target *target, const char *base)
{
	const char *suffix = heddle_dialect_host_suffix(target->dialect);
	return suffix ? heddle_arena_printf(arena, "%s%s", base, suffix) : NULL;
}

static const char *proof_of(heddle_arena *arena, const heddle_program *program)
{
	return heddle_arena_strdup(arena, program->proof ? program->proof : "not proved");
}

static heddle_manifest_size *sizes_of(heddle_arena *arena, const heddle_program *program, int *n)
{
	heddle_manifest_size *list = NULL;
	*n = 0;
	for (int i = 0; i < program->n_size; i++) {
		const heddle_manifest_size size = {heddle_arena_strdup(arena, program->size[i].name), program->size[i].min,
						   program->size[i].max, program->size[i].divisor > 0 ? program->size[i].divisor : 1};
		HEDDLE_PUSH(arena, list, *n, size);
	}
	return list;
}

static const char **preconditions_of(heddle_arena *arena, const heddle_program *program, int *n, bool *failed)
{
	const char **list = NULL;
	*n = 0;
	for (int i = 0; i < program->n_precondition; i++)
		HEDDLE_PUSH(arena, list, *n, formula(arena, program, program->precondition[i], failed));
	return list;
}

/* All but the last become variants, which describes the manifest's own launches. */
static void add_variant(heddle_manifest *m, const heddle_target *target, const heddle_program *program, bool *failed)
{
	heddle_manifest_variant v = {.config = heddle_arena_strdup(m->arena, program->config ? program->config : ""),
				     .proof = proof_of(m->arena, program)};
	int n;
	v.size = sizes_of(m->arena, program, &n);
	v.precondition = preconditions_of(m->arena, program, &v.n_precondition, failed);
	v.workspace_bytes = formula(m->arena, program, program->workspace, failed);
	v.align = HEDDLE_NEW_ARRAY(m->arena, int, m->n_argument + 1);
	const int *align = heddle_buffer_alignments(m->arena, target, program);
	for (int i = 0; i < m->n_argument; i++) {
		const int buffer = find_buffer(program, m->argument[i].name);
		const int bytes = buffer >= 0 && m->argument[i].role != HEDDLE_ARGUMENT_TEMPORARY ? align[buffer] : 0;
		v.align[i] = bytes != m->argument[i].align ? bytes : 0;
	}
	for (int i = 0; i < program->n_buffer; i++)
		if (program->buffer[i]->role == HEDDLE_BUFFER_TEMPORARY)
			add_tensor(m, &v.temporary, &v.n_temporary, program, program->buffer[i], align[i], failed);
	for (int i = 0; i < program->n_launch; i++)
		add_launch(m, &v.launch, &v.n_launch, target, program, program->launch[i], failed);
	HEDDLE_PUSH(m->arena, m->variant, m->n_variant, v);
}

heddle_manifest *heddle_manifest_make(heddle_ctx *ctx, const heddle_target *target, const heddle_variants *variants,
				      const heddle_emit_options *options)
{
	const heddle_program *program = variants->item[variants->n - 1].program;
	heddle_arena *arena = heddle_arena_new();
	heddle_manifest *m = HEDDLE_NEW(arena, heddle_manifest);
	bool failed = false;
	m->arena = arena;
	m->definition = heddle_arena_strdup(arena, program->name);
	m->backend = heddle_arena_strdup(arena, target->backend);
	m->arch = heddle_arena_strdup(arena, target->descriptor->name);
	if (heddle_descriptor_is_host(target->descriptor))
		m->note = heddle_arena_printf(arena, "%s is %s", target->descriptor->name, target->descriptor->title);
	m->source = heddle_source_file(arena, target, options->base ? options->base : program->name);
	m->config = heddle_arena_strdup(arena, program->config ? program->config : "");
	m->policy = heddle_policy_name(program->policy);
	m->proof = proof_of(arena, program);
	m->warp = program->warp > 1			? program->warp
		  : target->descriptor->warp.set	? (int)target->descriptor->warp.value
							: 1;
	m->size = sizes_of(arena, program, &m->n_size);
	m->precondition = preconditions_of(arena, program, &m->n_precondition, &failed);
	m->workspace_bytes = formula(arena, program, program->workspace, &failed);
	add_arguments(m, target, variants, &failed);
	if (!heddle_variants_is_widest(variants, variants->n - 1))
		generalise(m, variants, &failed);
	for (int i = 0; i < program->n_launch; i++)
		add_launch(m, &m->launch, &m->n_launch, target, program, program->launch[i], &failed);
	for (int i = 0; i < variants->n - 1; i++)
		add_variant(m, target, variants->item[i].program, &failed);
	add_options(m, target->dialect);
	if (failed) {
		heddle_error(ctx, 950, NULL, "%s: a grid, shape or offset is no formula over the sizes", program->name);
		return heddle_manifest_free(m);
	}
	return m;
}

heddle_manifest *heddle_manifest_free(heddle_manifest *manifest)
{
	if (manifest)
		heddle_arena_free(manifest->arena);
	return NULL;
}

const char **heddle_manifest_flags(heddle_arena *arena, const heddle_manifest *m, const char *source, int *n)
{
	const char **flag = NULL, *slash = m->path ? strrchr(m->path, '/') : NULL;
	*n = 0;
	for (int i = 0; i < m->n_define; i++)
		HEDDLE_PUSH(arena, flag, *n,
			    heddle_arena_printf(arena, "-D%s%s%s", m->define[i].name, *m->define[i].value ? "=" : "",
						m->define[i].value));
	for (int i = 0; i < m->n_include; i++)
		HEDDLE_PUSH(arena, flag, *n,
			    m->include[i][0] == '/' || !slash
				    ? heddle_arena_printf(arena, "-I%s", m->include[i])
				    : heddle_arena_printf(arena, "-I%.*s/%s", (int)(slash - m->path), m->path, m->include[i]));
	if (source && (strstr(source, "#include \"") || strstr(source, "# include \"") || strstr(source, "#  include \""))) {
		const char *end = m->source ? strrchr(m->source, '/') : NULL;
		const char *folder = end ? heddle_arena_strndup(arena, m->source, (size_t)(end - m->source) + 1) : "";
		if (*folder == '/')
			HEDDLE_PUSH(arena, flag, *n, heddle_arena_printf(arena, "-I%s", folder));
		else
			HEDDLE_PUSH(arena, flag, *n,
				    heddle_arena_printf(arena, "-I%.*s/%s", slash ? (int)(slash - m->path) : 1, slash ? m->path : ".",
							folder));
	}
	return flag;
}
