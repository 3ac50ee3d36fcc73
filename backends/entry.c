/* The C entry points of a definition: NAME_workspace, NAME and NAME_strerror, and their header.
 *
 * What they check is the same everywhere and printed here; how a launch is made are the dialect's `host` words.
 * SPDX-License-Identifier: MIT
 */
#include "backends/printer.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* The codes that the entry returns, in order; the vendor's own follow from `vendor` on. */
static const struct {
	const char *name, *text;
} codes[] = {
	{"OK", "no error"},
	{"BAD_SIZE", "a size is outside its range or not a multiple of its divisor"},
	{"NULL_POINTER", "a tensor is null"},
	{"MISALIGNED", "a tensor or the workspace is not aligned as the manifest asks"},
	{"SMALL_WORKSPACE", "the workspace is null or too small"},
	{"PRECONDITION", "a precondition does not hold"},
	{"TOO_MANY_BLOCKS", "a grid has more blocks than the device takes"},
};
enum { VENDOR = 1000, WORKSPACE_ALIGN = 16 };

typedef struct entry {
	heddle_ctx *ctx;
	heddle_arena *arena;
	const heddle_dialect *dialect;
	const heddle_target *target; /* NULL in the header */
	heddle_program program;	     /* a shallow copy whose sizes have the host's names */
	const char **name;	     /* of buffers, by position, in the host's C */
	const char *workspace, *bytes, *stream;
	const char *upper; /* prefix of the codes */
	int n_taken;
	const char **taken;
	heddle_text *out;
} entry;

static code atom(const char *text) { return (code){text, LEVEL_POSTFIX}; }

static const char *word(const entry *e, const char *key)
{
	const char *text = heddle_dialect_word(e->dialect, "host.%s", key);
	return text ? text : "";
}

static bool is_taken(const entry *e, const char *name)
{
	static const char *const own[] = {
		"error", "result", "arguments", "kernel", "module", "needed", "global", "local", "int64_t", "size_t", "uint8_t", "uint16_t",
		"uint32_t", "uint64_t", "int8_t", "int16_t", "int32_t", "uintptr_t", "set_argument", "find_module", "lock_modules",
		"unlock_modules", "loaded_module", "cl_int", "cl_uint", "cl_ulong", "cl_mem", "cl_kernel", "cl_command_queue",
		"CL_SUCCESS", "dim3", "cudaStream_t", "cudaLaunchKernel", "hipStream_t", "hipLaunchKernel"};
	if (strncmp(name, "blocks", 6) == 0 && name[6 + strspn(name + 6, "_0123456789")] == '\0' && name[strlen(name) - 1] != '_')
		return true;
	for (size_t i = 0; i < HEDDLE_COUNT(own); i++)
		if (strcmp(own[i], name) == 0)
			return true;
	for (int i = 0; i < e->n_taken; i++)
		if (strcmp(e->taken[i], name) == 0)
			return true;
	return heddle_dialect_reserves(e->dialect, name) || heddle_is_companion(e->dialect, &e->program, name);
}

static const char *take(entry *e, const char *wanted)
{
	const char *name = wanted;
	while (is_taken(e, name))
		name = heddle_arena_printf(e->arena, "%s_", name);
	HEDDLE_PUSH(e->arena, e->taken, e->n_taken, name);
	return name;
}

static bool in_entry(const heddle_buffer *buffer)
{
	return buffer->role == HEDDLE_BUFFER_INPUT || buffer->role == HEDDLE_BUFFER_OUTPUT || buffer->role == HEDDLE_BUFFER_INOUT;
}

static bool fixed(const heddle_program_size *size) { return size->min == size->max; }

static void begin(entry *e, heddle_ctx *ctx, heddle_arena *arena, const heddle_dialect *dialect, const heddle_target *target,
		  const heddle_program *program, heddle_text *out)
{
	*e = (entry){.ctx = ctx, .arena = arena, .dialect = dialect, .target = target, .program = *program, .out = out};
	e->program.size = HEDDLE_NEW_ARRAY(arena, heddle_program_size, program->n_size + 1);
	e->name = HEDDLE_NEW_ARRAY(arena, const char *, program->n_buffer + 1);
	HEDDLE_PUSH(arena, e->taken, e->n_taken, program->name);
	for (int i = 0; i < program->n_launch; i++)
		HEDDLE_PUSH(arena, e->taken, e->n_taken, program->launch[i]->name);
	for (int i = 0; i < program->n_size; i++) {
		e->program.size[i] = program->size[i];
		e->program.size[i].name = take(e, program->size[i].name);
	}
	for (int i = 0; i < program->n_buffer; i++)
		if (program->buffer[i]->role != HEDDLE_BUFFER_SHARED && program->buffer[i]->role != HEDDLE_BUFFER_REGISTER)
			e->name[i] = take(e, program->buffer[i]->name);
	e->workspace = take(e, "workspace");
	e->bytes = take(e, "bytes");
	e->stream = take(e, *word(e, "stream") ? word(e, "stream") : "stream");
	char *upper = heddle_arena_strdup(arena, program->name);
	for (char *s = upper; *s; s++)
		*s = (char)toupper((unsigned char)*s);
	e->upper = heddle_arena_printf(arena, "%s%s", upper, word(e, "code_suffix"));
}

static const char *host_type(const entry *e, heddle_type type)
{
	(void)e;
	static const char *const names[] = {"uint8_t",	"int8_t",   "int16_t",	"int32_t",  "int64_t", "uint8_t", "uint16_t",
					    "uint32_t", "uint64_t", "uint16_t", "uint16_t", "float",   "double"};
	_Static_assert(HEDDLE_COUNT(names) == HEDDLE_N_TYPE, "one C type per type");
	return names[type];
}

/* "int64_t M, int64_t N" */
static const char *size_parameters(entry *e)
{
	heddle_text text = {0};
	for (int i = 0; i < e->program.n_size; i++)
		if (!fixed(&e->program.size[i]))
			heddle_text_printf(&text, "%sint64_t %s", text.length ? ", " : "", e->program.size[i].name);
	const char *result = heddle_arena_strdup(e->arena, heddle_text_str(&text));
	heddle_text_free(&text);
	return result;
}

static const char *size_names(entry *e)
{
	heddle_text text = {0};
	for (int i = 0; i < e->program.n_size; i++)
		if (!fixed(&e->program.size[i]))
			heddle_text_printf(&text, "%s%s", text.length ? ", " : "", e->program.size[i].name);
	const char *result = heddle_arena_strdup(e->arena, heddle_text_str(&text));
	heddle_text_free(&text);
	return result;
}

/* Tensors in their order, scalars, sizes, workspace, stream. */
static const char *parameters(entry *e)
{
	heddle_text text = {0};
	for (int i = 0; i < e->program.n_buffer; i++) {
		const heddle_buffer *buffer = e->program.buffer[i];
		if (!in_entry(buffer))
			continue;
		filler f[] = {{"name", atom(e->name[i])}};
		const char *template = word(e, buffer->role == HEDDLE_BUFFER_INPUT ? "input" : "output");
		heddle_text_printf(&text, "%s%s", text.length ? ", " : "", heddle_fill(e->arena, template, f, 1).text);
	}
	for (int i = 0; i < e->program.n_buffer; i++)
		if (e->program.buffer[i]->role == HEDDLE_BUFFER_SCALAR)
			heddle_text_printf(&text, "%s%s %s", text.length ? ", " : "", host_type(e, e->program.buffer[i]->type), e->name[i]);
	const char *sizes = size_parameters(e);
	filler f[] = {{"name", atom(e->workspace)}};
	heddle_text_printf(&text, "%s%s%s%s, size_t %s, void *%s", text.length ? ", " : "", sizes, *sizes ? ", " : "",
			   heddle_fill(e->arena, word(e, "output"), f, 1).text, e->bytes, e->stream);
	const char *result = heddle_arena_strdup(e->arena, heddle_text_str(&text));
	heddle_text_free(&text);
	return result;
}

/* A head of a function or prototype, broken after a comma where it is long. */
static void prototype(entry *e, const char *head, const char *list, const char *end)
{
	heddle_text_printf(e->out, "%s(", head);
	size_t column = strlen(head) + 1;
	for (const char *s = *list ? list : "void"; *s;) {
		size_t n = strcspn(s, ",");
		if (column + n > 116) {
			heddle_text_add(e->out, "\n\t");
			column = 8;
		}
		heddle_text_addn(e->out, s, n);
		column += n + 2;
		s += n;
		if (*s == ',') {
			s += 1 + strspn(s + 1, " ");
			heddle_text_add(e->out, column + strcspn(s, ",") > 116 ? "," : ", ");
		}
	}
	heddle_text_printf(e->out, ")%s\n", end);
}

static const char *formula(entry *e, const heddle_value *value)
{
	const char *text = value ? heddle_formula_text(e->arena, &e->program, value, heddle_arena_printf(e->arena, "%s_", e->program.name))
				 : "0";
	if (!text)
		heddle_error(e->ctx, 950, NULL, "%s: a grid, shape or offset is no formula over the sizes", e->program.name);
	return text ? text : "0";
}

static void print_codes(entry *e)
{
	heddle_text_add(e->out, "enum {\n");
	for (size_t i = 0; i < HEDDLE_COUNT(codes); i++)
		heddle_text_printf(e->out, "\t%s_%s%s, // %s\n", e->upper, codes[i].name, i ? "" : " = 0", codes[i].text);
	heddle_text_printf(e->out, "\t%s_VENDOR = %d, // and above: the vendor's own code is what is left\n};\n\n", e->upper, VENDOR);
}

static void print_strerror(entry *e)
{
	const char *suffix = word(e, "suffix");
	heddle_text_printf(e->out, "%sconst char *%s%s_strerror(int code)\n{\n\tswitch (code) {\n", word(e, "linkage"), e->program.name,
			   suffix);
	for (size_t i = 0; i < HEDDLE_COUNT(codes); i++)
		heddle_text_printf(e->out, "\tcase %s_%s:\n\t\treturn \"%s\";\n", e->upper, codes[i].name, codes[i].text);
	filler f[] = {{"code", (code){heddle_arena_printf(e->arena, "code - %s_VENDOR", e->upper), LEVEL_SUM}}};
	heddle_text_printf(e->out, "\tdefault:\n\t\treturn code < %s_VENDOR ? \"unknown code\" : %s;\n\t}\n}\n\n", e->upper,
			   heddle_fill(e->arena, word(e, "error_text"), f, 1).text);
}

static void print_workspace(entry *e)
{
	const char *suffix = word(e, "suffix");
	prototype(e, heddle_arena_printf(e->arena, "%ssize_t %s%s_workspace", word(e, "linkage"), e->program.name, suffix),
		  size_parameters(e), "");
	heddle_text_add(e->out, "{\n");
	const char *text = formula(e, e->program.workspace);
	for (int i = 0; i < e->program.n_size; i++)
		if (!fixed(&e->program.size[i]) && !strstr(text, e->program.size[i].name))
			heddle_text_printf(e->out, "\t(void)%s;\n", e->program.size[i].name);
	heddle_text_printf(e->out, strchr(text, ' ') ? "\treturn (size_t)(%s);\n}\n\n" : "\treturn (size_t)%s;\n}\n\n", text);
}

/* ---- checks ---------------------------------------------------------------------------------------------------------------- */

static void check(entry *e, const char *condition, const char *name)
{
	heddle_text_printf(e->out, "\tif (%s)\n\t\treturn %s_%s;\n", condition, e->upper, name);
}

static void check_sizes(entry *e)
{
	for (int i = 0; i < e->program.n_size; i++) {
		const heddle_program_size *size = &e->program.size[i];
		if (fixed(size))
			continue;
		const char *condition = heddle_arena_printf(e->arena, "%s < %lld || %s > %lld", size->name, (long long)size->min,
							    size->name, (long long)size->max);
		if (size->divisor > 1)
			condition = heddle_arena_printf(e->arena, "%s || %s %% %lld != 0", condition, size->name,
							(long long)size->divisor);
		check(e, condition, "BAD_SIZE");
	}
	for (int i = 0; i < e->program.n_precondition; i++)
		check(e, heddle_arena_printf(e->arena, "!(%s)", formula(e, e->program.precondition[i])), "PRECONDITION");
}

/* The extents whose product may be 0, as a condition that it is not; "": it never is. */
static const char *not_empty(entry *e, const heddle_buffer *buffer)
{
	const char *text = "";
	for (int i = 0; i < buffer->rank; i++) {
		const heddle_value *extent = buffer->extent[i];
		if ((extent->kind == HEDDLE_VALUE_INT && extent->i > 0) ||
		    (extent->kind == HEDDLE_VALUE_SIZE && e->program.size[extent->i].min > 0))
			continue;
		text = heddle_arena_printf(e->arena, "%s && %s > 0", text, formula(e, extent));
	}
	return text;
}

static void check_pointers(entry *e)
{
	bool addresses = !heddle_dialect_flag(e->dialect, "language.byte_offsets");
	int workspace_align = 1;
	for (int i = 0; i < e->program.n_buffer; i++) {
		const heddle_buffer *buffer = e->program.buffer[i];
		int align = heddle_buffer_alignment(e->target, &e->program, buffer);
		if (buffer->role == HEDDLE_BUFFER_TEMPORARY && align > workspace_align)
			workspace_align = align;
		if (!in_entry(buffer))
			continue;
		const char *some = not_empty(e, buffer);
		check(e, heddle_arena_printf(e->arena, addresses ? "%s == NULL%s" : "!%s%s", e->name[i], some), "NULL_POINTER");
		filler f[] = {{"name", atom(e->name[i])}};
		if (align > 1)
			check(e, heddle_arena_printf(e->arena, "%s %% %d != 0", heddle_fill(e->arena, word(e, "address"), f, 1).text, align),
			      "MISALIGNED");
	}
	if (e->program.workspace && !heddle_value_is_int(e->program.workspace, 0)) {
		heddle_text_printf(e->out, "\tconst size_t needed = %s%s_workspace(%s);\n", e->program.name, word(e, "suffix"), size_names(e));
		check(e, heddle_arena_printf(e->arena, "%s < needed || (needed > 0 && !%s)", e->bytes, e->workspace), "SMALL_WORKSPACE");
		filler f[] = {{"name", atom(e->workspace)}};
		if (workspace_align > 1)
			check(e, heddle_arena_printf(e->arena, "needed > 0 && %s %% %d != 0",
						     heddle_fill(e->arena, word(e, "address"), f, 1).text, workspace_align), "MISALIGNED");
	} else {
		filler f[] = {{"name", atom(e->workspace)}, {"bytes", atom(e->bytes)}};
		heddle_text_printf(e->out, "\t%s\n", heddle_fill(e->arena, word(e, "no_workspace"), f, 2).text);
	}
}

static void print_temporaries(entry *e)
{
	for (int i = 0; i < e->program.n_buffer; i++) {
		const heddle_buffer *buffer = e->program.buffer[i];
		if (buffer->role != HEDDLE_BUFFER_TEMPORARY)
			continue;
		const char *offset = formula(e, buffer->offset);
		filler f[] = {{"name", atom(e->name[i])}, {"workspace", atom(e->workspace)}, {"offset", (code){offset, LEVEL_ANY}}};
		heddle_text_printf(e->out, "\t%s\n", heddle_fill(e->arena, word(e, "temporary"), f, 3).text);
	}
}

static void print_grids(entry *e)
{
	double limit = e->target->descriptor->grid_limit.set ? e->target->descriptor->grid_limit.value : INT32_MAX;
	int64_t most = limit < (double)INT32_MAX ? (int64_t)limit : INT32_MAX;
	for (int i = 0; i < e->program.n_launch; i++) {
		heddle_text_printf(e->out, "\tconst int64_t blocks_%d = %s;\n", i, formula(e, e->program.launch[i]->grid));
		check(e, heddle_arena_printf(e->arena, "blocks_%d > %lld", i, (long long)most), "TOO_MANY_BLOCKS");
	}
}

/* ---- launches -------------------------------------------------------------------------------------------------------------- */

static void add_argument(entry *e, heddle_text *list, int *n, const char *key, const char *name, heddle_type type)
{
	filler f[] = {{"i", atom(heddle_arena_printf(e->arena, "%d", *n))},
		      {"name", atom(name)},
		      {"workspace", atom(e->workspace)},
		      {"type", atom(heddle_dialect_word(e->dialect, "type.%s.host", heddle_type_name(type)))}};
	const char *template = word(e, key);
	if (*template)
		heddle_text_printf(list, "%s%s", (*n)++ ? word(e, "argument_separator") : "", heddle_fill(e->arena, template, f, 4).text);
}

static void print_launch(entry *e, int position)
{
	const heddle_launch *launch = e->program.launch[position];
	kernel_arguments arguments;
	kernel_memory memory;
	heddle_text list = {0};
	int n = 0;
	heddle_kernel_arguments(e->arena, &e->program, launch, &arguments);
	heddle_kernel_memory(e->arena, e->target, launch, &memory);
	for (int i = 0; i < arguments.n_tensor; i++) {
		const heddle_buffer *buffer = arguments.tensor[i];
		bool temporary = buffer->role == HEDDLE_BUFFER_TEMPORARY;
		add_argument(e, &list, &n, temporary ? "argument_temporary" : "argument_tensor", e->name[buffer->position], buffer->type);
		add_argument(e, &list, &n, "argument_offset", e->name[buffer->position], HEDDLE_UINT64);
	}
	for (int i = 0; i < arguments.n_scalar; i++)
		add_argument(e, &list, &n, "argument_scalar", e->name[arguments.scalar[i]->position], arguments.scalar[i]->type);
	for (int i = 0; i < arguments.n_size; i++)
		add_argument(e, &list, &n, "argument_size", e->program.size[arguments.size[i]].name, HEDDLE_INT64);
	filler f[] = {
		{"kernel", atom(launch->name)},
		{"position", atom(heddle_arena_printf(e->arena, "%d", position))},
		{"threads", atom(heddle_arena_printf(e->arena, "%d", launch->threads))},
		{"shared", atom(heddle_arena_printf(e->arena, "%lld", (long long)(memory.dynamic ? memory.bytes : 0)))},
		{"arguments", atom(heddle_arena_strdup(e->arena, heddle_text_str(&list)))},
		{"stream", atom(e->stream)},
		{"workspace", atom(e->workspace)},
	};
	heddle_text_free(&list);
	heddle_text_add(e->out, heddle_fill(e->arena, word(e, memory.dynamic ? "launch_dynamic" : "launch"), f, HEDDLE_COUNT(f)).text);
}

/* min and max for the formulas, where one uses them. */
static void print_helpers(entry *e, const char *text, heddle_text *out)
{
	static const char *const names[] = {"min", "max"};
	for (int i = 0; i < 2; i++) {
		const char *call = heddle_arena_printf(e->arena, "%s_%s(", e->program.name, names[i]);
		if (strstr(text, call))
			heddle_text_printf(out, "static int64_t %sint64_t a, int64_t b)\n{\n\treturn a %s b ? a : b;\n}\n\n", call,
					   i ? ">" : "<");
	}
}

static void print_entry(entry *e)
{
	prototype(e, heddle_arena_printf(e->arena, "%sint %s%s", word(e, "linkage"), e->program.name, word(e, "suffix")), parameters(e), "");
	heddle_text_add(e->out, "{\n");
	check_sizes(e);
	check_pointers(e);
	print_grids(e);
	print_temporaries(e);
	filler f[] = {{"stream", atom(e->stream)}, {"code", atom(heddle_arena_printf(e->arena, "%s_VENDOR", e->upper))}};
	heddle_text_add(e->out, heddle_fill(e->arena, word(e, "open"), f, 2).text);
	for (int i = 0; i < e->program.n_launch; i++)
		print_launch(e, i);
	heddle_text_printf(e->out, "%s}\n", heddle_fill(e->arena, word(e, "close"), f, 2).text);
}

/* The device code as a C string, a line of it per line. */
static void quote(heddle_text *out, const char *s)
{
	heddle_text_add(out, "\t\"");
	for (; *s; s++) {
		if (*s == '\n')
			heddle_text_add(out, s[1] ? "\\n\"\n\t\"" : "\\n");
		else if (*s == '\t')
			heddle_text_add(out, "\\t");
		else if (*s == '"' || *s == '\\' || (*s == '?' && s[1] == '?'))
			heddle_text_printf(out, "\\%c", *s);
		else
			heddle_text_addn(out, s, 1);
	}
	heddle_text_add(out, "\"");
}

int heddle_entry_print(heddle_ctx *ctx, const heddle_target *target, const heddle_program *program,
		       const heddle_emit_options *options, const char *source, heddle_text *out)
{
	heddle_arena *arena = heddle_arena_new();
	heddle_text text = {0}, kernels = {0}, quoted = {0}, build = {0};
	int errors = heddle_error_count(ctx);
	entry e;
	begin(&e, ctx, arena, target->dialect, target, program, &text);
	print_strerror(&e);
	print_workspace(&e);
	print_entry(&e);
	for (int i = 0; i < program->n_launch; i++)
		heddle_text_printf(&kernels, "%s\"%s\"", i ? ", " : "", program->launch[i]->name);
	if (source)
		quote(&quoted, source);
	int n = 0;
	const char **list = heddle_dialect_list(target->dialect, arena, "options.ieee.opencl", &n);
	for (int i = 0; i < n; i++)
		heddle_text_printf(&build, "%s%s", i ? " " : "", list[i]);
	filler f[] = {
		{"base", atom(options && options->base ? options->base : program->name)},
		{"name", atom(program->name)},
		{"kernels", atom(heddle_text_str(&kernels))},
		{"n", atom(heddle_arena_printf(arena, "%d", program->n_launch))},
		{"source", atom(heddle_text_str(&quoted))},
		{"options", atom(heddle_text_str(&build))},
	};
	heddle_text_printf(out, "\n%s\n", heddle_fill(arena, word(&e, "begin"), f, HEDDLE_COUNT(f)).text);
	heddle_text helpers = {0};
	print_helpers(&e, heddle_text_str(&text), &helpers);
	e.out = out;
	print_codes(&e);
	heddle_text_printf(out, "%s%s%s", heddle_text_str(&helpers), heddle_text_str(&text), word(&e, "end"));
	heddle_text_free(&helpers);
	heddle_text_free(&text);
	heddle_text_free(&kernels);
	heddle_text_free(&quoted);
	heddle_text_free(&build);
	heddle_arena_free(arena);
	return heddle_error_count(ctx) > errors ? -1 : 0;
}

/* ---- the header -------------------------------------------------------------------------------------------------------------- */

static void print_prototypes(entry *e)
{
	const char *suffix = word(e, "suffix");
	prototype(e, heddle_arena_printf(e->arena, "size_t %s%s_workspace", e->program.name, suffix), size_parameters(e), ";");
	prototype(e, heddle_arena_printf(e->arena, "int %s%s", e->program.name, suffix), parameters(e), ";");
	heddle_text_printf(e->out, "const char *%s%s_strerror(int code);\n", e->program.name, suffix);
	filler f[] = {{"name", atom(e->program.name)}};
	heddle_text_add(e->out, heddle_fill(e->arena, word(e, "prototypes"), f, 1).text);
}

static void print_parameter_comments(entry *e)
{
	for (int i = 0; i < e->program.n_buffer; i++) {
		const heddle_buffer *buffer = e->program.buffer[i];
		if (!in_entry(buffer) && buffer->role != HEDDLE_BUFFER_SCALAR)
			continue;
		static const char *const roles[] = {"input", "output", "input and output", "", "", "", "scalar, by value"};
		heddle_text_printf(e->out, " *   %s: %s", e->name[i], heddle_type_name(buffer->type));
		for (int k = 0; k < buffer->rank; k++)
			heddle_text_printf(e->out, "%s%s%s", k ? ", " : "(", formula(e, buffer->extent[k]),
					   k == buffer->rank - 1 ? ")" : "");
		heddle_text_printf(e->out, ", %s\n", roles[buffer->role]);
	}
	for (int i = 0; i < e->program.n_size; i++) {
		const heddle_program_size *size = &e->program.size[i];
		if (fixed(size))
			continue;
		heddle_text_printf(e->out, " *   %s: size, %lld to %lld", size->name, (long long)size->min, (long long)size->max);
		if (size->divisor > 1)
			heddle_text_printf(e->out, ", a multiple of %lld", (long long)size->divisor);
		heddle_text_add(e->out, "\n");
	}
}

int heddle_header_print(heddle_ctx *ctx, const heddle_program *program, const heddle_emit_options *options, heddle_text *out)
{
	heddle_arena *arena = heddle_arena_new();
	int errors = heddle_error_count(ctx);
	const char *guard_name = options && options->header ? options->header : program->name;
	char *guard = heddle_arena_printf(arena, "%s_H", guard_name);
	for (char *s = guard; *s; s++)
		*s = (char)(isalnum((unsigned char)*s) ? toupper((unsigned char)*s) : '_');
	heddle_text_printf(out, "/* SPDX-License-Identifier: 0BSD */\n#ifndef %s\n#define %s\n\n#include <stddef.h>\n#include <stdint.h>\n\n"
				"#ifdef __cplusplus\nextern \"C\" {\n#endif\n", guard, guard);
	int n_printed = 0;
	const char *printed[16];
	for (const char *const *name = heddle_dialect_names(ctx); *name; name++) {
		const heddle_dialect *dialect = heddle_dialect_find(ctx, *name);
		if (!dialect)
			break;
		if (!heddle_dialect_has_host(dialect))
			continue;
		entry e;
		begin(&e, ctx, arena, dialect, NULL, program, out);
		bool again = false;
		for (int i = 0; i < n_printed; i++)
			again = again || strcmp(printed[i], word(&e, "suffix")) == 0;
		if (again || n_printed == (int)HEDDLE_COUNT(printed))
			continue;
		printed[n_printed++] = word(&e, "suffix");
		heddle_text_printf(out, "\n/* %s\n", word(&e, "about"));
		print_parameter_comments(&e);
		heddle_text_add(out, " * NAME_workspace gives the bytes that `workspace` must have.  0, or a code for NAME_strerror. */\n");
		print_codes(&e);
		out->length -= 1; /* the empty line after the codes */
		out->data[out->length] = '\0';
		print_prototypes(&e);
	}
	heddle_text_printf(out, "\n#ifdef __cplusplus\n}\n#endif\n#endif\n");
	heddle_arena_free(arena);
	return heddle_error_count(ctx) > errors ? -1 : 0;
}
