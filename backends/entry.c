/* The C entry points of a definition: NAME_workspace, NAME and NAME_strerror, and their header.
 *
 * What they check is the same everywhere and printed here; how a launch is made are the dialect's `host` words.
 * SPDX-License-Identifier: MIT
 */
#include "backends/printer.h"
#include "model/ranges.h"

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

/* A buffer's name in the program and in the host's C. */
typedef struct host_name {
	const char *name, *host;
} host_name;

typedef struct entry {
	heddle_ctx *ctx;
	heddle_arena *arena;
	const heddle_dialect *dialect;
	const heddle_target *target; /* NULL in the header */
	const heddle_variants *variants;
	heddle_program *view;	   /* [variants->n] shallow copies whose sizes have the host's names */
	heddle_program_size *size; /* [n_size] with the values that any variant takes, in the host's names */
	bool has_workspace;	   /* some variant needs one */
	bool widest;		   /* the last variant is for everything that any of them is for */
	int **alignments;	   /* [variants->n][n_buffer] what each view asks of addresses; NULL in the header */
	heddle_program program;	   /* the view that is printed */
	const int *align;	   /* ... and its alignments */
	int n_name;
	host_name *name;
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

static bool is_fixed(const heddle_program_size *size) { return size->min == size->max; }

static const char *name_of(const entry *e, const heddle_buffer *buffer)
{
	for (int i = 0; i < e->n_name; i++)
		if (strcmp(e->name[i].name, buffer->name) == 0)
			return e->name[i].host;
	return buffer->name;
}

/* What is printed from now on is of this variant. */
static void enter(entry *e, int variant)
{
	e->program = e->view[variant];
	e->align = e->alignments ? e->alignments[variant] : NULL;
}

static bool in_memory_or_scalar(const heddle_buffer *buffer)
{
	return buffer->role != HEDDLE_BUFFER_SHARED && buffer->role != HEDDLE_BUFFER_REGISTER;
}

static const char *function_of(entry *e, int variant)
{
	return heddle_arena_printf(e->arena, "%s%s_v%d", e->program.name, word(e, "suffix"), variant);
}

static void take_names(entry *e)
{
	const heddle_variants *variants = e->variants;
	HEDDLE_PUSH(e->arena, e->taken, e->n_taken, e->program.name);
	for (int v = 0; v < variants->n; v++) {
		const heddle_program *p = variants->item[v].program;
		if (variants->n > 1)
			HEDDLE_PUSH(e->arena, e->taken, e->n_taken, function_of(e, v));
		for (int i = 0; i < p->n_launch; i++)
			HEDDLE_PUSH(e->arena, e->taken, e->n_taken, p->launch[i]->name);
	}
	for (int i = 0; i < e->program.n_size; i++) {
		e->size[i] = heddle_variants_size(variants, i);
		e->size[i].name = take(e, e->size[i].name);
		for (int v = 0; v < variants->n; v++)
			e->view[v].size[i].name = e->size[i].name;
	}
	for (int v = 0; v < variants->n; v++)
		for (int i = 0; i < variants->item[v].program->n_buffer; i++) {
			const heddle_buffer *buffer = variants->item[v].program->buffer[i];
			bool known = !in_memory_or_scalar(buffer);
			for (int k = 0; k < e->n_name && !known; k++)
				known = strcmp(e->name[k].name, buffer->name) == 0;
			if (!known) {
				const host_name new = {buffer->name, take(e, buffer->name)};
				HEDDLE_PUSH(e->arena, e->name, e->n_name, new);
			}
		}
	e->workspace = take(e, "workspace");
	e->bytes = take(e, "bytes");
	e->stream = take(e, *word(e, "stream") ? word(e, "stream") : "stream");
}

static void begin(entry *e, heddle_ctx *ctx, heddle_arena *arena, const heddle_dialect *dialect, const heddle_target *target,
		  const heddle_variants *variants, heddle_text *out)
{
	*e = (entry){.ctx = ctx, .arena = arena, .dialect = dialect, .target = target, .variants = variants, .out = out};
	e->view = HEDDLE_NEW_ARRAY(arena, heddle_program, variants->n);
	for (int v = 0; v < variants->n; v++) {
		e->view[v] = *variants->item[v].program;
		e->view[v].size = HEDDLE_NEW_ARRAY(arena, heddle_program_size, e->view[v].n_size + 1);
		for (int i = 0; i < e->view[v].n_size; i++)
			e->view[v].size[i] = variants->item[v].program->size[i];
	}
	e->alignments = target ? HEDDLE_NEW_ARRAY(arena, int *, variants->n) : NULL;
	for (int v = 0; v < variants->n && target; v++)
		e->alignments[v] = heddle_buffer_alignments(arena, target, variants->item[v].program);
	enter(e, variants->n - 1);
	e->size = HEDDLE_NEW_ARRAY(arena, heddle_program_size, e->program.n_size + 1);
	e->widest = heddle_variants_is_widest(variants, variants->n - 1);
	take_names(e);
	for (int v = 0; v < variants->n; v++)
		e->has_workspace = e->has_workspace || (e->view[v].workspace && !heddle_value_is_int(e->view[v].workspace, 0));
	enter(e, variants->n - 1);
	char *upper = heddle_arena_strdup(arena, e->program.name);
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

/* "int64_t M, int64_t N", or without the types. */
static const char *size_list(entry *e, const char *type)
{
	heddle_text text = {0};
	for (int i = 0; i < e->program.n_size; i++)
		if (!is_fixed(&e->size[i]))
			heddle_text_printf(&text, "%s%s%s", text.length ? ", " : "", type, e->size[i].name);
	const char *result = heddle_arena_strdup(e->arena, heddle_text_str(&text));
	heddle_text_free(&text);
	return result;
}

static const char *size_parameters(entry *e) { return size_list(e, "int64_t "); }

/* Tensors in their order, scalars, sizes, workspace, bytes, stream; the function of one variant has no `bytes`, and a workspace
 * only if there is one. */
static const char *parameters(entry *e, bool whole)
{
	heddle_text text = {0};
	for (int i = 0; i < e->program.n_buffer; i++) {
		const heddle_buffer *buffer = e->program.buffer[i];
		if (!in_entry(buffer))
			continue;
		filler f[] = {{"name", atom(name_of(e, buffer))}};
		const char *template = word(e, buffer->role == HEDDLE_BUFFER_INPUT ? "input" : "output");
		heddle_text_printf(&text, "%s, ", heddle_fill(e->arena, template, f, 1).text);
	}
	for (int i = 0; i < e->program.n_buffer; i++)
		if (e->program.buffer[i]->role == HEDDLE_BUFFER_SCALAR)
			heddle_text_printf(&text, "%s %s, ", host_type(e, e->program.buffer[i]->type), name_of(e, e->program.buffer[i]));
	const char *sizes = size_parameters(e);
	filler f[] = {{"name", atom(e->workspace)}};
	heddle_text_printf(&text, "%s%s", sizes, *sizes ? ", " : "");
	if (whole || e->has_workspace)
		heddle_text_printf(&text, "%s, ", heddle_fill(e->arena, word(e, "output"), f, 1).text);
	if (whole)
		heddle_text_printf(&text, "size_t %s, ", e->bytes);
	heddle_text_printf(&text, "void *%s", e->stream);
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

/* The header has them, too, and may have come before. */
static void print_codes(entry *e)
{
	heddle_text_printf(e->out, "#ifndef %s_CODES\n#define %s_CODES\nenum {\n", e->upper, e->upper);
	for (size_t i = 0; i < HEDDLE_COUNT(codes); i++)
		heddle_text_printf(e->out, "\t%s_%s%s, // %s\n", e->upper, codes[i].name, i ? "" : " = 0", codes[i].text);
	heddle_text_printf(e->out, "\t%s_VENDOR = %d, // and above: the vendor's own code is what is left\n};\n#endif\n\n", e->upper,
			   VENDOR);
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

/* `name` as a word of its own in `text`. */
static bool mentions(const char *text, const char *name)
{
	const size_t n = strlen(name);
	for (const char *at = text; (at = strstr(at, name)); at += n) {
		bool before = at > text && (isalnum((unsigned char)at[-1]) || at[-1] == '_');
		if (!before && !isalnum((unsigned char)at[n]) && at[n] != '_')
			return true;
	}
	return false;
}

/* The names of a list of parameters: the last word of each. */
static const char **parameter_names(entry *e, const char *list, int *n)
{
	const char **name = NULL;
	*n = 0;
	while (*list) {
		size_t length = strcspn(list, ","), at = length;
		while (at > 0 && (isalnum((unsigned char)list[at - 1]) || list[at - 1] == '_'))
			at--;
		HEDDLE_PUSH(e->arena, name, *n, (const char *)heddle_arena_strndup(e->arena, list + at, length - at));
		list += length + (list[length] == ',');
	}
	return name;
}

/* Parameters that a body does not use. */
static void print_unused(entry *e, const char *list, const char *body)
{
	int n;
	const char **name = parameter_names(e, list, &n);
	for (int i = 0; i < n; i++)
		if (!mentions(body, name[i]))
			heddle_text_printf(e->out, "\t(void)%s;\n", name[i]);
}

/* The sizes are ones that the variant is for, as far as not all that the entry takes are; "": they always are. */
static const char *size_condition(entry *e, int variant)
{
	const char *text = "";
	for (int i = 0; i < e->program.n_size; i++) {
		const heddle_program_size *all = &e->size[i], *one = &e->view[variant].size[i];
		const char *and = *text ? " && " : "";
		if (is_fixed(all))
			continue;
		if (is_fixed(one)) {
			text = heddle_arena_printf(e->arena, "%s%s%s == %lld", text, and, all->name, (long long)one->min);
			continue;
		}
		if (one->min > all->min) {
			text = heddle_arena_printf(e->arena, "%s%s%s >= %lld", text, and, all->name, (long long)one->min);
			and = " && ";
		}
		if (one->max < all->max) {
			text = heddle_arena_printf(e->arena, "%s%s%s <= %lld", text, and, all->name, (long long)one->max);
			and = " && ";
		}
		if (one->divisor > 1 && one->divisor != all->divisor)
			text = heddle_arena_printf(e->arena, "%s%s%s %% %lld == 0", text, and, all->name, (long long)one->divisor);
	}
	return text;
}

/* The most that a variant for these sizes needs: which one runs hangs on addresses, too. */
static void print_workspace(entry *e)
{
	const heddle_variants *variants = e->variants;
	const char *suffix = word(e, "suffix"), *last = formula(e, e->program.workspace);
	heddle_text body = {0}, *out = e->out;
	prototype(e, heddle_arena_printf(e->arena, "%ssize_t %s%s_workspace", word(e, "linkage"), e->program.name, suffix),
		  size_parameters(e), "");
	const char *bytes = e->widest ? last : "0";
	for (int v = 0; v < variants->n; v++) {
		enter(e, v);
		const char *text = formula(e, e->program.workspace);
		if (strcmp(text, "0") == 0 || strcmp(text, bytes) == 0)
			continue;
		if (!body.length)
			heddle_text_printf(&body, "\tint64_t %s = %s;\n", e->bytes, bytes);
		const char *condition = size_condition(e, v);
		heddle_text_printf(&body, "\tif (%s%s%s < %s)\n\t\t%s = %s;\n", condition, *condition ? " && " : "", e->bytes, text, e->bytes,
				   text);
	}
	enter(e, variants->n - 1);
	if (body.length)
		heddle_text_printf(&body, "\treturn (size_t)%s;\n", e->bytes);
	else
		heddle_text_printf(&body, strchr(bytes, ' ') ? "\treturn (size_t)(%s);\n" : "\treturn (size_t)%s;\n", bytes);
	heddle_text_add(out, "{\n");
	print_unused(e, size_parameters(e), heddle_text_str(&body));
	heddle_text_printf(out, "%s}\n\n", heddle_text_str(&body));
	heddle_text_free(&body);
}

/* ---- checks ---------------------------------------------------------------------------------------------------------------- */

static void check(entry *e, const char *condition, const char *name)
{
	heddle_text_printf(e->out, "\tif (%s)\n\t\treturn %s_%s;\n", condition, e->upper, name);
}

static void check_sizes(entry *e)
{
	for (int i = 0; i < e->program.n_size; i++) {
		const heddle_program_size *size = &e->size[i];
		if (is_fixed(size))
			continue;
		const char *condition = heddle_arena_printf(e->arena, "%s < %lld || %s > %lld", size->name, (long long)size->min,
							    size->name, (long long)size->max);
		if (size->divisor > 1)
			condition = heddle_arena_printf(e->arena, "%s || %s %% %lld != 0", condition, size->name,
							(long long)size->divisor);
		check(e, condition, "BAD_SIZE");
	}
}

static void check_preconditions(entry *e)
{
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

static const char *address_of(entry *e, const char *name)
{
	filler f[] = {{"name", atom(name)}};
	return heddle_fill(e->arena, word(e, "address"), f, 1).text;
}

static void check_pointers(entry *e)
{
	bool addresses = !heddle_dialect_flag(e->dialect, "language.byte_offsets");
	for (int i = 0; i < e->program.n_buffer; i++) {
		const heddle_buffer *buffer = e->program.buffer[i];
		const int align = e->align[i];
		if (!in_entry(buffer))
			continue;
		const char *some = not_empty(e, buffer), *name = name_of(e, buffer);
		check(e, heddle_arena_printf(e->arena, addresses ? "%s == NULL%s" : "!%s%s", name, some), "NULL_POINTER");
		if (align > 1)
			check(e, heddle_arena_printf(e->arena, "%s %% %d != 0", address_of(e, name), align), "MISALIGNED");
	}
}

/* What the view's temporaries ask of the workspace's address. */
static int workspace_alignment(entry *e)
{
	int most = 1;
	for (int i = 0; i < e->program.n_buffer; i++) {
		const heddle_buffer *buffer = e->program.buffer[i];
		const int align = e->align[i];
		if (buffer->role == HEDDLE_BUFFER_TEMPORARY && align > most)
			most = align;
	}
	return most;
}

static void check_workspace(entry *e)
{
	if (!e->has_workspace) {
		filler f[] = {{"name", atom(e->workspace)}, {"bytes", atom(e->bytes)}};
		heddle_text_printf(e->out, "\t%s\n", heddle_fill(e->arena, word(e, "no_workspace"), f, 2).text);
		return;
	}
	heddle_text_printf(e->out, "\tconst size_t needed = %s%s_workspace(%s);\n", e->program.name, word(e, "suffix"), size_list(e, ""));
	check(e, heddle_arena_printf(e->arena, "%s < needed || (needed > 0 && !%s)", e->bytes, e->workspace), "SMALL_WORKSPACE");
	int align = workspace_alignment(e);
	if (align > 1)
		check(e, heddle_arena_printf(e->arena, "needed > 0 && %s %% %d != 0", address_of(e, e->workspace), align), "MISALIGNED");
}

/* When the entry runs this variant, as far as it has not checked that; "": always. */
static const char *condition_of(entry *e, int variant)
{
	const char *text = size_condition(e, variant);
	const int last = e->variants->n - 1;
	enter(e, last);
	const int workspace = workspace_alignment(e);
	enter(e, variant);
	for (int i = 0; i < e->program.n_buffer; i++) {
		const heddle_buffer *buffer = e->program.buffer[i];
		const int align = e->align[i];
		if (in_entry(buffer) && align > heddle_type_size(buffer->type))
			text = heddle_arena_printf(e->arena, "%s%s%s %% %d == 0", text, *text ? " && " : "", address_of(e, name_of(e, buffer)),
						   align);
	}
	if (workspace_alignment(e) > workspace)
		text = heddle_arena_printf(e->arena, "%s%s%s %% %d == 0", text, *text ? " && " : "", address_of(e, e->workspace),
					   workspace_alignment(e));
	enter(e, last);
	return text;
}

static bool is_passed(const heddle_program *program, const heddle_buffer *buffer)
{
	for (int i = 0; i < program->n_launch; i++)
		for (int k = 0; k < program->launch[i]->n_buffer; k++)
			if (program->launch[i]->buffer[k] == buffer)
				return true;
	return false;
}

static void print_temporaries(entry *e)
{
	for (int i = 0; i < e->program.n_buffer; i++) {
		const heddle_buffer *buffer = e->program.buffer[i];
		if (buffer->role != HEDDLE_BUFFER_TEMPORARY || !is_passed(&e->program, buffer))
			continue;
		const char *offset = formula(e, buffer->offset);
		filler f[] = {{"name", atom(name_of(e, buffer))}, {"workspace", atom(e->workspace)}, {"offset", (code){offset, LEVEL_ANY}}};
		heddle_text_printf(e->out, "\t%s\n", heddle_fill(e->arena, word(e, "temporary"), f, 3).text);
	}
}

static bool overflows(const heddle_ranges *ranges, const heddle_value *v)
{
	return v->kind == HEDDLE_VALUE_BINARY && v->op == HEDDLE_OP_MUL &&
	       (heddle_ranges_overflow(ranges, v) || overflows(ranges, v->arg[0]) || overflows(ranges, v->arg[1]));
}

static const char *cut_off(const entry *e, const char *number, int64_t most)
{
	return heddle_arena_printf(e->arena, "%s_min(%s, %lld)", e->program.name, number, (long long)most + 1);
}

/* A number of blocks that cannot overflow: what would is multiplied factor by factor, each time cut off one above `most` before.
 * Too many stay too many, and none stay none. */
static void print_blocks(entry *e, const heddle_ranges *ranges, int i, const heddle_value *v, bool whole, int64_t most)
{
	if (!overflows(ranges, v)) {
		heddle_text_printf(e->out, "\t%sint64_t blocks_%d = %s;\n", whole ? "const " : "", i, formula(e, v));
		return;
	}
	print_blocks(e, ranges, i, v->arg[0], false, most);
	const char *factor = formula(e, v->arg[1]);
	if (heddle_ranges_of(ranges, v->arg[1]).hi > INT64_MAX / (most + 1))
		factor = cut_off(e, factor, most);
	else if (strchr(factor, ' '))
		factor = heddle_arena_printf(e->arena, "(%s)", factor);
	const char *blocks = heddle_arena_printf(e->arena, "blocks_%d", i);
	heddle_text_printf(e->out, "\t%s = %s * %s;\n", blocks, cut_off(e, blocks, most), factor);
}

static void print_grids(entry *e)
{
	const int64_t most = heddle_descriptor_grid_limit(e->target->descriptor);
	heddle_ranges *ranges = heddle_ranges_new(&e->program, NULL);
	for (int i = 0; i < e->program.n_launch; i++) {
		print_blocks(e, ranges, i, e->program.launch[i]->grid, true, most);
		check(e, heddle_arena_printf(e->arena, "blocks_%d > %lld", i, (long long)most), "TOO_MANY_BLOCKS");
	}
	heddle_ranges_free(ranges);
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

/* `index`: of the kernel among those of all variants. */
static void print_launch(entry *e, int position, int index)
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
		add_argument(e, &list, &n, temporary ? "argument_temporary" : "argument_tensor", name_of(e, buffer), buffer->type);
		add_argument(e, &list, &n, "argument_offset", name_of(e, buffer), HEDDLE_UINT64);
	}
	for (int i = 0; i < arguments.n_scalar; i++)
		add_argument(e, &list, &n, "argument_scalar", name_of(e, arguments.scalar[i]), arguments.scalar[i]->type);
	for (int i = 0; i < arguments.n_size; i++)
		add_argument(e, &list, &n, "argument_size", e->program.size[arguments.size[i]].name, HEDDLE_INT64);
	filler f[] = {
		{"kernel", atom(launch->name)},
		{"position", atom(heddle_arena_printf(e->arena, "%d", position))},
		{"index", atom(heddle_arena_printf(e->arena, "%d", index))},
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

static void print_launches(entry *e, int index)
{
	print_grids(e);
	print_temporaries(e);
	filler f[] = {{"stream", atom(e->stream)}, {"code", atom(heddle_arena_printf(e->arena, "%s_VENDOR", e->upper))}};
	heddle_text_add(e->out, heddle_fill(e->arena, word(e, "open"), f, 2).text);
	for (int i = 0; i < e->program.n_launch; i++)
		print_launch(e, i, index + i);
	heddle_text_add(e->out, heddle_fill(e->arena, word(e, "close"), f, 2).text);
}

/* One of several variants, in a function of its own. */
static void print_variant(entry *e, int variant, int index)
{
	heddle_text *out = e->out, body = {0};
	const char *list = parameters(e, false);
	enter(e, variant);
	e->out = &body;
	if (!e->widest) {
		check_preconditions(e);
		check_pointers(e);
	}
	print_launches(e, index);
	e->out = out;
	prototype(e, heddle_arena_printf(e->arena, "static int %s", function_of(e, variant)), list, "");
	heddle_text_add(out, "{\n");
	print_unused(e, list, heddle_text_str(&body));
	heddle_text_printf(out, "%s}\n\n", heddle_text_str(&body));
	heddle_text_free(&body);
	enter(e, e->variants->n - 1);
}

/* An if, broken before an && where it is long. */
static void print_condition(entry *e, const char *condition)
{
	size_t column = 12;
	heddle_text_add(e->out, "\tif (");
	for (const char *s = condition; *s;) {
		const char *next = strstr(s, " && ");
		size_t n = next ? (size_t)(next - s) : strlen(s);
		if (s > condition && column + n + 4 > 116) {
			heddle_text_add(e->out, "\n\t    ");
			column = 12;
		}
		heddle_text_printf(e->out, "%s%.*s", s > condition ? (column == 12 ? "&& " : " && ") : "", (int)n, s);
		column += n + 4;
		s += n + (next ? 4 : 0);
	}
	heddle_text_add(e->out, ")\n\t");
}

/* The first variant whose conditions hold. */
static void print_choice(entry *e)
{
	int n;
	const char **name = parameter_names(e, parameters(e, false), &n);
	heddle_text list = {0};
	for (int i = 0; i < n; i++)
		heddle_text_printf(&list, "%s%s", i ? ", " : "", name[i]);
	const char *condition = "always";
	for (int v = 0; v < e->variants->n && *condition; v++) {
		condition = condition_of(e, v);
		if (*condition)
			print_condition(e, condition);
		prototype(e, heddle_arena_printf(e->arena, "\treturn %s", function_of(e, v)), heddle_text_str(&list), ";");
	}
	if (*condition)
		heddle_text_printf(e->out, "\treturn %s_BAD_SIZE;\n", e->upper);
	heddle_text_free(&list);
}

static void print_entry(entry *e)
{
	const heddle_variants *variants = e->variants;
	for (int v = 0, index = 0; variants->n > 1 && v < variants->n; v++) {
		print_variant(e, v, index);
		index += e->view[v].n_launch;
	}
	prototype(e, heddle_arena_printf(e->arena, "%sint %s%s", word(e, "linkage"), e->program.name, word(e, "suffix")),
		  parameters(e, true), "");
	heddle_text_add(e->out, "{\n");
	check_sizes(e);
	if (e->widest) {
		check_preconditions(e);
		check_pointers(e);
	}
	check_workspace(e);
	if (variants->n > 1)
		print_choice(e);
	else
		print_launches(e, 0);
	heddle_text_add(e->out, "}\n");
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

int heddle_entry_print(heddle_ctx *ctx, const heddle_target *target, const heddle_variants *variants,
		       const heddle_emit_options *options, const char *source, heddle_text *out)
{
	heddle_arena *arena = heddle_arena_new();
	heddle_text text = {0}, kernels = {0}, quoted = {0};
	int errors = heddle_error_count(ctx), n_kernel = 0;
	entry e;
	begin(&e, ctx, arena, target->dialect, target, variants, &text);
	print_strerror(&e);
	print_workspace(&e);
	print_entry(&e);
	for (int v = 0; v < variants->n; v++)
		for (int i = 0; i < variants->item[v].program->n_launch; i++)
			heddle_text_printf(&kernels, "%s\"%s\"", n_kernel++ ? ", " : "", variants->item[v].program->launch[i]->name);
	if (source)
		quote(&quoted, source);
	const char *set = heddle_dialect_word(e.dialect, "host.options");
	const char *policy = heddle_policy_name(variants->item[0].program->policy);
	const char *build = set ? heddle_dialect_word(e.dialect, "options.%s.%s", policy, set) : NULL;
	filler f[] = {
		{"base", atom(options && options->base ? options->base : e.program.name)},
		{"name", atom(e.program.name)},
		{"kernels", atom(heddle_text_str(&kernels))},
		{"n", atom(heddle_arena_printf(arena, "%d", n_kernel))},
		{"source", atom(heddle_text_str(&quoted))},
		{"options", atom(build ? build : "")},
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
	heddle_arena_free(arena);
	return heddle_error_count(ctx) > errors ? -1 : 0;
}

/* ---- the header -------------------------------------------------------------------------------------------------------------- */

static void print_prototypes(entry *e)
{
	const char *suffix = word(e, "suffix");
	prototype(e, heddle_arena_printf(e->arena, "size_t %s%s_workspace", e->program.name, suffix), size_parameters(e), ";");
	prototype(e, heddle_arena_printf(e->arena, "int %s%s", e->program.name, suffix), parameters(e, true), ";");
	heddle_text_printf(e->out, "const char *%s%s_strerror(int code);\n", e->program.name, suffix);
	filler f[] = {{"name", atom(e->program.name)}};
	heddle_text_add(e->out, heddle_fill(e->arena, word(e, "prototypes"), f, 1).text);
}

/* An extent of the entry's parameter `number`, in the words of every variant: "64 or 128" where they were made for fixed sizes. */
static const char *extent_text(entry *e, const heddle_buffer *buffer, int k)
{
	const char *text = formula(e, buffer->extent[k]);
	const int size = e->widest ? -1 : heddle_variants_extent_size(e->variants, buffer->name, false, k);
	if (size >= 0)
		return e->size[size].name;
	for (int v = 0; v < e->variants->n && !e->widest; v++) {
		enter(e, v);
		for (int i = 0; i < e->program.n_buffer; i++)
			if (strcmp(e->program.buffer[i]->name, buffer->name) == 0) {
				const char *other = formula(e, e->program.buffer[i]->extent[k]);
				if (!mentions(text, other))
					text = heddle_arena_printf(e->arena, "%s or %s", text, other);
			}
	}
	enter(e, e->variants->n - 1);
	return text;
}

static void print_parameter_comments(entry *e)
{
	for (int i = 0; i < e->program.n_buffer; i++) {
		const heddle_buffer *buffer = e->program.buffer[i];
		if (!in_entry(buffer) && buffer->role != HEDDLE_BUFFER_SCALAR)
			continue;
		static const char *const roles[] = {"input", "output", "input and output", "", "", "", "scalar, by value"};
		heddle_text_printf(e->out, " *   %s: %s", name_of(e, buffer), heddle_type_name(buffer->type));
		for (int k = 0; k < buffer->rank; k++)
			heddle_text_printf(e->out, "%s%s%s", k ? ", " : "(", extent_text(e, buffer, k), k == buffer->rank - 1 ? ")" : "");
		for (int k = 0; k < buffer->rank && buffer->stride; k++)
			heddle_text_printf(e->out, "%s%s%s", k ? ", " : ", strides (", formula(e, buffer->stride[k]),
					   k == buffer->rank - 1 ? ")" : "");
		heddle_text_printf(e->out, ", %s\n", roles[buffer->role]);
	}
	for (int i = 0; i < e->program.n_size; i++) {
		const heddle_program_size *size = &e->size[i];
		if (is_fixed(size))
			continue;
		heddle_text_printf(e->out, " *   %s: size, %lld to %lld", size->name, (long long)size->min, (long long)size->max);
		if (size->divisor > 1)
			heddle_text_printf(e->out, ", a multiple of %lld", (long long)size->divisor);
		heddle_text_add(e->out, "\n");
	}
}

int heddle_header_print(heddle_ctx *ctx, const heddle_variants *variants, const heddle_emit_options *options, heddle_text *out)
{
	heddle_arena *arena = heddle_arena_new();
	int errors = heddle_error_count(ctx);
	const char *guard_name = options && options->header ? options->header : variants->item[0].program->name;
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
		begin(&e, ctx, arena, dialect, NULL, variants, out);
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
