/* The binding for PyTorch: checks of shape, type, strides and device, outputs and workspace, a function for shapes alone, and
 * the call of the entry as each dialect words it.
 * SPDX-License-Identifier: MIT
 */
#include "backends/dialect.h"
#include "compile/binding.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct torch_type {
	const char *scalar; /* at::ScalarType; NULL: PyTorch has none */
	const char *schema; /* of a scalar argument; NULL: none */
	const char *cpp;    /* of that in C++ */
	const char *pass;   /* how the entry gets it */
} torch_type;

static const torch_type types[HEDDLE_N_TYPE] = {
	[HEDDLE_BOOL] = {"at::kBool", "bool", "bool", "static_cast<uint8_t>(%s)"},
	[HEDDLE_INT8] = {"at::kChar", "int", "int64_t", "static_cast<int8_t>(%s)"},
	[HEDDLE_INT16] = {"at::kShort", "int", "int64_t", "static_cast<int16_t>(%s)"},
	[HEDDLE_INT32] = {"at::kInt", "int", "int64_t", "static_cast<int32_t>(%s)"},
	[HEDDLE_INT64] = {"at::kLong", "int", "int64_t", "%s"},
	[HEDDLE_UINT8] = {"at::kByte", "int", "int64_t", "static_cast<uint8_t>(%s)"},
	[HEDDLE_UINT16] = {NULL, "int", "int64_t", "static_cast<uint16_t>(%s)"},
	[HEDDLE_UINT32] = {NULL, "int", "int64_t", "static_cast<uint32_t>(%s)"},
	[HEDDLE_UINT64] = {NULL, NULL, NULL, NULL},
	[HEDDLE_FLOAT16] = {"at::kHalf", "float", "double", "c10::Half(static_cast<float>(%s)).x"},
	[HEDDLE_BFLOAT16] = {"at::kBFloat16", "float", "double", "c10::BFloat16(static_cast<float>(%s)).x"},
	[HEDDLE_FLOAT32] = {"at::kFloat", "float", "double", "static_cast<float>(%s)"},
	[HEDDLE_FLOAT64] = {"at::kDouble", "float", "double", "%s"},
};

typedef struct binding {
	heddle_ctx *ctx;
	heddle_arena *arena;
	const char *name;
	int n_target;
	const heddle_binding_target *target;
	const heddle_manifest *m; /* of the first target: what all have in common */
	const char **argument;	  /* names in C++, by position */
	const char **size;
	heddle_manifest_size *range; /* of each size, over all variants */
	const char **source; /* of a size: the expression that gives it; NULL: an argument of the operator */
	heddle_text *out;
} binding;

/* Words of C++, of the operator's schema and of the text below. */
static bool is_taken(const char *name)
{
	static const char *const taken[] = {
		"call", "check", "dense", "prepare", "code", "workspace", "bytes", "guard", "device", "outputs", "at", "c10", "torch", "std", "min",
		"max", "strides", "m", "None", "True", "False",
		"Inf", "NaN", "inf", "nan", "def", "is", "not", "and", "or", "in", "global", "import", "from", "with", "as", "pass", "assert",
		"lambda", "del", "raise", "Tensor", "except", "nonlocal", "yield", "async", "await", "elif", "finally"};
	for (size_t i = 0; i < HEDDLE_COUNT(taken); i++)
		if (!strcmp(taken[i], name))
			return true;
	return false;
}

static bool is_tensor(const heddle_argument *a)
{
	return a->role == HEDDLE_ARGUMENT_INPUT || a->role == HEDDLE_ARGUMENT_INOUT || a->role == HEDDLE_ARGUMENT_OUTPUT;
}

static bool is_given(const heddle_argument *a) { return a->role == HEDDLE_ARGUMENT_INPUT || a->role == HEDDLE_ARGUMENT_INOUT; }

static bool is_fixed(const heddle_manifest_size *size) { return size->min == size->max; }

/* `name` is an identifier of the text: no member, no placeholder. */
static bool mentions(const char *text, const char *name)
{
	const size_t n = strlen(name);
	for (const char *at = text; at && (at = strstr(at, name)); at++) {
		const char before = at > text ? at[-1] : ' ', after = at[n];
		if (!isalnum((unsigned char)before) && !strchr("_.{", before) && !isalnum((unsigned char)after) && after != '_')
			return true;
	}
	return false;
}

/* What a dialect writes into the operator has this name in it. */
static bool is_in_words(const heddle_dialect *dialect, const char *name)
{
	static const char *const words[] = {"open", "input", "inout", "output", "workspace", "stream", "close"};
	for (size_t i = 0; i < HEDDLE_COUNT(words); i++)
		if (mentions(heddle_dialect_word(dialect, "torch.%s", words[i]), name))
			return true;
	return false;
}

/* The reserved words of any dialect are those of C and C++ and more: an underscore tells the names apart. */
static const char *own_name(binding *b, const char *wanted)
{
	const char *name = wanted;
	bool again = true;
	while (again) {
		again = is_taken(name) || heddle_dialect_reserves(b->target[0].dialect, name) || heddle_entry_is_reserved(name) ||
			!strcmp(name, b->name);
		for (int i = 0; i < b->n_target && !again; i++)
			again = is_in_words(b->target[i].dialect, name);
		for (int i = 0; i < b->m->n_argument && !again; i++)
			again = b->argument[i] && !strcmp(b->argument[i], name);
		for (int i = 0; i < b->m->n_size && !again; i++)
			again = b->size[i] && !strcmp(b->size[i], name);
		if (again)
			name = heddle_arena_printf(b->arena, "%s_", name);
	}
	return name;
}

/* A formula in C++: sizes by their names there, behind `before`; fixed ones as numbers. */
static const char *formula(binding *b, heddle_formula text, const char *before)
{
	heddle_text out = {0};
	for (const char *s = text; *s;) {
		size_t n = 0;
		while (isalnum((unsigned char)s[n]) || s[n] == '_')
			n++;
		int size = -1;
		for (int i = 0; i < b->m->n_size && n; i++)
			if (strlen(b->m->size[i].name) == n && !strncmp(b->m->size[i].name, s, n))
				size = i;
		if (size >= 0 && is_fixed(&b->range[size]))
			heddle_text_printf(&out, "%lld", (long long)b->range[size].min);
		else if (size >= 0)
			heddle_text_printf(&out, "%s%s", before, b->size[size]);
		else if (n && !isdigit((unsigned char)*s))
			heddle_text_printf(&out, "std::%.*s<int64_t>", (int)n, s); /* min and max */
		else
			heddle_text_addn(&out, s, n ? n : 1);
		s += n ? n : 1;
	}
	const char *copy = heddle_arena_strdup(b->arena, heddle_text_str(&out));
	heddle_text_free(&out);
	return copy;
}

/* Where the tensors that are given show a size: as an extent, else as a stride, which means nothing where there is one row. */
static void find_sources(binding *b)
{
	for (int pass = 0; pass < 2; pass++)
		for (int i = 0; i < b->m->n_argument; i++) {
			const heddle_argument *a = &b->m->argument[i];
			for (int d = 0; is_given(a) && d < a->rank && (pass == 0 || a->strides); d++)
				for (int s = 0; s < b->m->n_size; s++)
					if (!b->source[s] && !strcmp(pass ? a->strides[d] : a->shape[d], b->m->size[s].name))
						b->source[s] = pass ? heddle_arena_printf(b->arena, "%s.size(%d) > 1 ? %s.stride(%d) : dense(%s.sizes())[%d]",
											  b->argument[i], d, b->argument[i], d, b->argument[i], d)
								    : heddle_arena_printf(b->arena, "%s.size(%d)", b->argument[i], d);
		}
}

static int begin(binding *b)
{
	const heddle_manifest *m = b->m;
	bool any = false;
	b->argument = HEDDLE_NEW_ARRAY(b->arena, const char *, m->n_argument + 1);
	b->size = HEDDLE_NEW_ARRAY(b->arena, const char *, m->n_size + 1);
	b->source = HEDDLE_NEW_ARRAY(b->arena, const char *, m->n_size + 1);
	for (int i = 0; i < m->n_argument; i++) {
		const heddle_argument *a = &m->argument[i];
		const torch_type *type = &types[a->type];
		if (is_tensor(a) || a->role == HEDDLE_ARGUMENT_SCALAR)
			b->argument[i] = own_name(b, a->name);
		any = any || is_given(a);
		if ((is_tensor(a) && !type->scalar) || (a->role == HEDDLE_ARGUMENT_SCALAR && !type->schema))
			return heddle_error(b->ctx, 925, NULL, "PyTorch has no type for '%s', which is %s", a->name, heddle_type_name(a->type));
	}
	b->range = HEDDLE_NEW_ARRAY(b->arena, heddle_manifest_size, m->n_size + 1);
	for (int i = 0; i < m->n_size; i++)
		b->range[i] = heddle_manifest_size_of_all(m, i);
	for (int i = 0; i < m->n_size; i++)
		b->size[i] = own_name(b, m->size[i].name);
	if (!any)
		return heddle_error(b->ctx, 925, NULL, "'%s' takes no tensor: PyTorch could not tell on which device it is to run", b->name);
	find_sources(b);
	return 0;
}

/* ---- signatures ------------------------------------------------------------------------------------------------------------ */

/* Of the operator: its schema and its parameters, on meta, where scalars go unnamed because nothing reads them.  Of `prepare`, which
 * takes no scalars: parameters and what is passed. */
typedef enum list_kind { LIST_SCHEMA, LIST_PARAMETERS, LIST_META, LIST_PREPARE, LIST_NAMES } list_kind;

static void add_item(heddle_text *list, const char *text) { heddle_text_printf(list, "%s%s", list->length ? ", " : "", text); }

/* What the operator takes: tensors that are given, scalars, and the sizes that no tensor shows. */
static const char *takes(binding *b, list_kind kind)
{
	heddle_text list = {0};
	for (int tensors = 1; tensors >= 0; tensors--)
		for (int i = 0; i < b->m->n_argument; i++) {
			const heddle_argument *a = &b->m->argument[i];
			const torch_type *type = &types[a->type];
			if (tensors ? !is_given(a) : a->role != HEDDLE_ARGUMENT_SCALAR)
				continue;
			if (!tensors && (kind == LIST_PREPARE || kind == LIST_NAMES))
				continue;
			if (kind == LIST_NAMES)
				add_item(&list, b->argument[i]);
			else if (!tensors)
				add_item(&list, heddle_arena_printf(b->arena, "%s%s%s", kind == LIST_SCHEMA ? type->schema : type->cpp,
								    kind == LIST_META ? "" : " ", kind == LIST_META ? "" : b->argument[i]));
			else if (kind != LIST_SCHEMA)
				add_item(&list, heddle_arena_printf(b->arena, "const at::Tensor &%s", b->argument[i]));
			else if (a->role == HEDDLE_ARGUMENT_INOUT)
				add_item(&list, heddle_arena_printf(b->arena, "Tensor(%c!) %s", 'a' + i % 26, b->argument[i]));
			else
				add_item(&list, heddle_arena_printf(b->arena, "Tensor %s", b->argument[i]));
		}
	for (int i = 0; i < b->m->n_size; i++)
		if (!b->source[i] && !is_fixed(&b->range[i]))
			add_item(&list, heddle_arena_printf(b->arena, "%s%s", kind == LIST_SCHEMA ? "int " : kind == LIST_NAMES ? "" : "int64_t ",
							    b->size[i]));
	const char *copy = heddle_arena_strdup(b->arena, heddle_text_str(&list));
	heddle_text_free(&list);
	return copy;
}

static int n_output(const binding *b)
{
	int n = 0;
	for (int i = 0; i < b->m->n_argument; i++)
		n += b->m->argument[i].role == HEDDLE_ARGUMENT_OUTPUT;
	return n;
}

/* "Tensor" or "(Tensor, Tensor)" with `one` for Tensor. */
static const char *gives(binding *b, const char *one, const char *none, const char *before, const char *after)
{
	heddle_text list = {0};
	const int n = n_output(b);
	for (int i = 0; i < n; i++)
		add_item(&list, one);
	const char *copy = n == 1 ? one : n == 0 ? none : heddle_arena_printf(b->arena, "%s%s%s", before, heddle_text_str(&list), after);
	heddle_text_free(&list);
	return copy;
}

static const char *result_type(binding *b) { return gives(b, "at::Tensor", "void", "std::tuple<", ">"); }

static void print_return(binding *b)
{
	heddle_text list = {0};
	for (int i = 0; i < b->m->n_argument; i++)
		if (b->m->argument[i].role == HEDDLE_ARGUMENT_OUTPUT)
			add_item(&list, heddle_arena_printf(b->arena, "with.%s", b->argument[i]));
	if (n_output(b))
		heddle_text_printf(b->out, n_output(b) == 1 ? "\treturn %s;\n" : "\treturn {%s};\n", heddle_text_str(&list));
	heddle_text_free(&list);
}

/* ---- the part for all devices ------------------------------------------------------------------------------------------------- */

static const char *list_of(binding *b, int n, const heddle_formula *formulas)
{
	heddle_text list = {0};
	for (int d = 0; d < n; d++)
		add_item(&list, formula(b, formulas[d], ""));
	const char *copy = heddle_arena_printf(b->arena, "{%s}", heddle_text_str(&list));
	heddle_text_free(&list);
	return copy;
}

static void print_call(binding *b)
{
	heddle_text_add(b->out, "// What a call is about: its sizes, and its outputs, not yet written.\nstruct call {\n");
	for (int i = 0; i < b->m->n_size; i++)
		if (!is_fixed(&b->range[i]))
			heddle_text_printf(b->out, "\tint64_t %s;\n", b->size[i]);
	for (int i = 0; i < b->m->n_argument; i++)
		if (b->m->argument[i].role == HEDDLE_ARGUMENT_OUTPUT)
			heddle_text_printf(b->out, "\tat::Tensor %s;\n", b->argument[i]);
	heddle_text_add(b->out, "};\n\n");
}

static void print_prepare(binding *b)
{
	const heddle_manifest *m = b->m;
	const char *device = NULL;
	heddle_text_printf(b->out, "// Sizes from shapes, every tensor checked, outputs allocated where the first tensor is.\ncall prepare(%s)\n{\n",
			   takes(b, LIST_PREPARE));
	for (int i = 0; i < m->n_argument; i++)
		if (is_given(&m->argument[i])) {
			device = device ? device : b->argument[i];
			heddle_text_printf(b->out, "\tTORCH_CHECK(%s.dim() == %d, \"%s: %s has \", %s.dim(), \" dimensions, not %d\");\n",
					   b->argument[i], m->argument[i].rank, b->name, m->argument[i].name, b->argument[i], m->argument[i].rank);
		}
	heddle_text_add(b->out, "\tcall with;\n");
	for (int i = 0; i < m->n_size; i++) {
		const heddle_manifest_size *size = &b->range[i];
		if (is_fixed(size))
			continue;
		if (b->source[i])
			heddle_text_printf(b->out, "\tconst int64_t %s = %s;\n", b->size[i], b->source[i]);
		heddle_text_printf(b->out, "\tTORCH_CHECK(%s >= %lld && %s <= %lld", b->size[i], (long long)size->min, b->size[i],
				   (long long)size->max);
		if (size->divisor > 1)
			heddle_text_printf(b->out, " && %s %% %lld == 0", b->size[i], (long long)size->divisor);
		heddle_text_printf(b->out, ", \"%s: the size %s is \", %s, \": the kernels take %lld to %lld", b->name, size->name, b->size[i],
				   (long long)size->min, (long long)size->max);
		if (size->divisor > 1)
			heddle_text_printf(b->out, ", multiples of %lld", (long long)size->divisor);
		heddle_text_printf(b->out, "\");\n\twith.%s = %s;\n", b->size[i], b->size[i]);
	}
	for (int i = 0; i < m->n_argument; i++) {
		const heddle_argument *a = &m->argument[i];
		const char *shape = list_of(b, a->rank, a->shape), *strides = a->strides ? list_of(b, a->rank, a->strides) : NULL;
		if (is_given(a))
			heddle_text_printf(b->out, "\tcheck(%s, \"%s\", %s, %s.device(), %s, %s%s);\n", b->argument[i], a->name, types[a->type].scalar,
					   device, shape, strides ? "" : "dense(", strides ? strides : heddle_arena_printf(b->arena, "%s)", shape));
		else if (a->role == HEDDLE_ARGUMENT_OUTPUT)
			heddle_text_printf(b->out, "\twith.%s = at::empty%s(%s%s%s, at::TensorOptions().dtype(%s).device(%s.device()));\n", b->argument[i],
					   strides ? "_strided" : "", shape, strides ? ", " : "", strides ? strides : "", types[a->type].scalar, device);
	}
	heddle_text_add(b->out, "\treturn with;\n}\n\n");
}

static void print_common(binding *b)
{
	heddle_text_printf(b->out,
			   "// The strides of a tensor without gaps.\n"
			   "std::vector<int64_t> dense(at::IntArrayRef shape)\n{\n"
			   "\tstd::vector<int64_t> strides(shape.size(), 1);\n"
			   "\tfor (size_t d = shape.size(); d > 1; d--)\n"
			   "\t\tstrides[d - 2] = strides[d - 1] * std::max<int64_t>(shape[d - 1], 1);\n"
			   "\treturn strides;\n}\n\n"
			   "void check(const at::Tensor &tensor, const char *name, at::ScalarType type, at::Device device, at::IntArrayRef shape,\n"
			   "\tat::IntArrayRef strides)\n{\n"
			   "\tTORCH_CHECK(tensor.layout() == at::kStrided, \"%s: \", name, \" is not strided, but \", tensor.layout());\n"
			   "\tTORCH_CHECK(tensor.scalar_type() == type, \"%s: \", name, \" is \", tensor.scalar_type(), \", not \", type);\n"
			   "\tTORCH_CHECK(tensor.device() == device, \"%s: \", name, \" is on \", tensor.device(), \", but the first tensor on \", device);\n"
			   "\tTORCH_CHECK(tensor.sizes() == shape, \"%s: \", name, \" has the shape \", tensor.sizes(), \", not \", shape);\n"
			   "\tTORCH_CHECK(!tensor.is_neg(), \"%s: \", name, \" is a negated view: call .resolve_neg()\");\n"
			   "\tfor (size_t d = 0; d < shape.size() && tensor.numel() > 0; d++)\n"
			   "\t\tTORCH_CHECK(shape[d] == 1 || tensor.stride(d) == strides[d], \"%s: \", name, \" has the strides \", tensor.strides(), \", not \",\n"
			   "\t\t\tstrides, strides == at::IntArrayRef(dense(shape)) ? \": call .contiguous()\" : \"\");\n}\n\n",
			   b->name, b->name, b->name, b->name, b->name, b->name);
	print_call(b);
	print_prepare(b);
	heddle_text_printf(b->out, "%s on_meta(%s)\n{\n\t%sprepare(%s);\n", result_type(b), takes(b, LIST_META),
			   n_output(b) ? "const call with = " : "", takes(b, LIST_NAMES));
	print_return(b);
	heddle_text_add(b->out, "}\n\n");
}

/* ---- one device ------------------------------------------------------------------------------------------------------------ */

/* A word of the dialect with {name} and {device} filled in. */
static const char *word(binding *b, const heddle_dialect *dialect, const char *key, const char *name, const char *device)
{
	const char *text = heddle_dialect_word(dialect, "torch.%s", key);
	heddle_text out = {0};
	for (const char *s = text ? text : ""; *s;) {
		if (!strncmp(s, "{name}", 6)) {
			heddle_text_add(&out, name);
			s += 6;
		} else if (!strncmp(s, "{device}", 8)) {
			heddle_text_add(&out, device);
			s += 8;
		} else {
			heddle_text_addn(&out, s++, 1);
		}
	}
	const char *copy = heddle_arena_strdup(b->arena, heddle_text_str(&out));
	heddle_text_free(&out);
	return copy;
}

static void print_entry_call(binding *b, const heddle_dialect *dialect, const char *device)
{
	const char *suffix = heddle_dialect_word(dialect, "host.suffix");
	heddle_text list = {0}, sizes = {0};
	suffix = suffix ? suffix : "";
	for (int i = 0; i < b->m->n_argument; i++) {
		const heddle_argument *a = &b->m->argument[i];
		const char *name = a->role == HEDDLE_ARGUMENT_OUTPUT ? heddle_arena_printf(b->arena, "with.%s", b->argument[i]) : b->argument[i];
		if (is_tensor(a))
			add_item(&list, word(b, dialect, a->role == HEDDLE_ARGUMENT_INPUT ? "input" : a->role == HEDDLE_ARGUMENT_INOUT ? "inout" : "output", name,
					     device));
	}
	for (int i = 0; i < b->m->n_argument; i++) {
		const char *pass = types[b->m->argument[i].type].pass;
		const char *hole = b->m->argument[i].role == HEDDLE_ARGUMENT_SCALAR ? strstr(pass, "%s") : NULL;
		if (hole)
			add_item(&list, heddle_arena_printf(b->arena, "%.*s%s%s", (int)(hole - pass), pass, b->argument[i], hole + 2));
	}
	for (int i = 0; i < b->m->n_size; i++)
		if (!is_fixed(&b->range[i]))
			add_item(&sizes, heddle_arena_printf(b->arena, "with.%s", b->size[i]));
	heddle_text_printf(b->out,
			   "\tconst size_t bytes = %s%s_workspace(%s);\n"
			   "\tconst at::Tensor workspace = at::empty({static_cast<int64_t>(bytes)}, at::TensorOptions().dtype(at::kByte).device(%s));\n",
			   b->name, suffix, heddle_text_str(&sizes), device);
	heddle_text_printf(b->out, "\tconst int code = %s%s(%s%s%s, %s, bytes, %s);\n", b->name, suffix, heddle_text_str(&list), sizes.length ? ", " : "",
			   heddle_text_str(&sizes), word(b, dialect, "workspace", "workspace", device), word(b, dialect, "stream", "", device));
	heddle_text_printf(b->out, "\tTORCH_CHECK(code == 0, \"%s: \", %s%s_strerror(code));\n", b->name, b->name, suffix);
	heddle_text_free(&list);
	heddle_text_free(&sizes);
}

/* Where the entry gets addresses, they must be multiples of what its manifest says. */
static void print_alignment(binding *b, const heddle_binding_target *target)
{
	for (int i = 0; i < target->manifest->n_argument; i++) {
		const heddle_argument *a = &target->manifest->argument[i];
		if (is_given(a) && a->align > 1 && !heddle_dialect_flag(target->dialect, "language.byte_offsets"))
			heddle_text_printf(b->out,
					   "\tTORCH_CHECK(reinterpret_cast<uintptr_t>(%s.data_ptr()) %% %d == 0, \"%s: %s begins at an address that is no \"\n"
					   "\t\t\"multiple of %d: call .clone()\");\n",
					   b->argument[i], a->align, b->name, a->name, a->align);
	}
}

static void print_device(binding *b, const heddle_binding_target *target)
{
	const heddle_dialect *dialect = target->dialect;
	const char *key = heddle_dialect_word(dialect, "torch.key");
	const char *device = NULL;
	for (int i = 0; i < b->m->n_argument && !device; i++)
		if (is_given(&b->m->argument[i]))
			device = heddle_arena_printf(b->arena, "%s.device()", b->argument[i]);
	heddle_text_printf(b->out, "#ifndef HEDDLE_WITHOUT_%s\n%s\n", key, word(b, dialect, "begin", "", ""));
	heddle_text_printf(b->out, "%s on_%s(%s)\n{\n\t[[maybe_unused]] const call with = prepare(%s);\n", result_type(b), key, takes(b, LIST_PARAMETERS),
			   takes(b, LIST_NAMES));
	print_alignment(b, target);
	heddle_text_add(b->out, word(b, dialect, "open", "", device));
	print_entry_call(b, dialect, device);
	heddle_text_add(b->out, word(b, dialect, "close", "", device));
	print_return(b);
	heddle_text_add(b->out, "}\n#endif\n\n");
}

/* The targets to print: one per key of PyTorch's dispatcher. */
static int keys_of(const heddle_binding_target *target, int n, heddle_binding_target *kept)
{
	int n_kept = 0;
	for (int i = 0; i < n; i++) {
		const char *key = heddle_dialect_word(target[i].dialect, "torch.key");
		bool again = !key;
		for (int k = 0; k < n_kept && !again; k++)
			again = !strcmp(heddle_dialect_word(kept[k].dialect, "torch.key"), key);
		if (!again)
			kept[n_kept++] = target[i];
	}
	return n_kept;
}

static const char *key_of(const heddle_binding_target *target) { return heddle_dialect_word(target->dialect, "torch.key"); }

static bool changes_inputs(const binding *b)
{
	for (int i = 0; i < b->m->n_argument; i++)
		if (b->m->argument[i].role == HEDDLE_ARGUMENT_INOUT)
			return true;
	return false;
}

/* There is no derivative.  PyTorch's fallback gives results whose backward raises; it knows no tensors that are changed in place and
 * not returned, whose own gradients would miss the operator without a word: with those, what needs a gradient is refused. */
static void print_autograd_refusal(binding *b)
{
	if (changes_inputs(b))
		heddle_text_printf(
			b->out,
			"// There is no derivative, and a tensor that is changed in place cannot carry the error to backward.\n"
			"void refuse_gradients(const c10::OperatorHandle &op, c10::DispatchKeySet keys, torch::jit::Stack *stack)\n{\n"
			"\tfor (const c10::IValue &value : torch::jit::last(*stack, op.schema().arguments().size()))\n"
			"\t\tTORCH_CHECK_NOT_IMPLEMENTED(!value.isTensor() || !((c10::GradMode::is_enabled() && value.toTensor().requires_grad()) ||\n"
			"\t\t\t(value.toTensor().defined() && value.toTensor()._fw_grad(0).defined())),\n"
			"\t\t\t\"%s changes tensors in place and has no derivative: call it under torch.no_grad() or with .detach()\");\n"
			"\top.redispatchBoxed(keys & c10::after_autograd_keyset, stack);\n}\n\n",
			b->name);
}

static void print_autograd(binding *b)
{
	heddle_text_printf(b->out, "TORCH_LIBRARY_IMPL(heddle, Autograd, m)\n{\n\tm.impl(\"%s\", %s);\n}\n\n", b->name,
			   changes_inputs(b) ? "torch::CppFunction::makeFromBoxedFunction<&refuse_gradients>()"
					     : "torch::autograd::autogradNotImplementedFallback()");
}

static void print(binding *b, int n, const heddle_binding_target *target)
{
	heddle_text_printf(b->out,
			   "// SPDX-License-Identifier: 0BSD\n//\n"
			   "// The operator heddle::%s(%s) -> %s for PyTorch.\n"
			   "// Link it with the other sources of the definition; -DHEDDLE_WITHOUT_%s leaves a kind of device out.\n"
			   "// Generated by Heddle %s; it stands on its own.\n\n"
			   "#include \"%s.h\"\n\n"
			   "#include <ATen/core/Tensor.h>\n%s#include <ATen/ops/empty.h>\n#include <ATen/ops/empty_strided.h>\n#include <c10/core/DeviceGuard.h>\n"
			   "#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>\n#include <torch/library.h>\n\n"
			   "#include <algorithm>\n#include <cstdint>\n#include <tuple>\n#include <vector>\n\n",
			   b->name, takes(b, LIST_SCHEMA), gives(b, "Tensor", "()", "(", ")"), key_of(&target[0]), HEDDLE_VERSION,
			   b->name, changes_inputs(b) ? "#include <ATen/core/dispatch/Dispatcher.h>\n" : "");
	for (int i = 0; i < n; i++) {
		const char *include = heddle_dialect_word(target[i].dialect, "torch.include");
		heddle_text_printf(b->out, "#ifndef HEDDLE_WITHOUT_%s\n%s#endif\n", key_of(&target[i]), include ? include : "");
	}
	heddle_text_add(b->out, "\nnamespace {\n\n");
	print_common(b);
	for (int i = 0; i < n; i++)
		print_device(b, &target[i]);
	print_autograd_refusal(b);
	heddle_text_printf(b->out, "} // namespace\n\nTORCH_LIBRARY_FRAGMENT(heddle, m)\n{\n\tm.def(\"%s(%s) -> %s\");\n}\n\n", b->name, takes(b, LIST_SCHEMA),
			   gives(b, "Tensor", "()", "(", ")"));
	print_autograd(b);
	heddle_text_printf(b->out, "TORCH_LIBRARY_IMPL(heddle, Meta, m)\n{\n\tm.impl(\"%s\", TORCH_FN(on_meta));\n}\n", b->name);
	for (int i = 0; i < n; i++) {
		const char *key = key_of(&target[i]);
		heddle_text_printf(b->out, "\n#ifndef HEDDLE_WITHOUT_%s\nTORCH_LIBRARY_IMPL(heddle, %s, m)\n{\n\tm.impl(\"%s\", TORCH_FN(on_%s));\n}\n#endif\n", key, key,
				   b->name, key);
	}
}

int heddle_torch_print(heddle_ctx *ctx, const char *name, int n, const heddle_binding_target *target, heddle_text *out)
{
	heddle_arena *arena = heddle_arena_new();
	binding b = {.ctx = ctx, .arena = arena, .name = name, .n_target = n, .target = target, .m = target[0].manifest, .out = out};
	heddle_binding_target *kept = HEDDLE_NEW_ARRAY(arena, heddle_binding_target, n + 1);
	const int n_kept = keys_of(target, n, kept);
	int result = begin(&b);
	if (result == 0 && !n_kept)
		result = heddle_error(ctx, 925, NULL, "none of the targets has a binding for PyTorch: its dialect has no words 'torch'");
	if (result == 0)
		print(&b, n_kept, kept);
	heddle_arena_free(arena);
	return result;
}
