/* Files of definitions: parse and check, find by name, evaluate expressions over sizes.
 * SPDX-License-Identifier: MIT
 */
#include "frontend/syntax.h"

#include "frontend/check.h"

#include <string.h>

/* Sources outlive the module: diagnostics point into them. */
static heddle_source *keep_source(heddle_ctx *ctx, const char *name, const char *text)
{
	heddle_arena *arena = heddle_ctx_arena(ctx);
	heddle_source *source = HEDDLE_NEW(arena, heddle_source);
	source->name = heddle_arena_strdup(arena, name);
	if (!strncmp(text, "\xEF\xBB\xBF", 3)) /* a byte order mark, as editors of Windows write it */
		text += 3;
	source->length = strlen(text);
	source->text = heddle_arena_strndup(arena, text, source->length);
	return source;
}

static int check_given_sizes(heddle_ctx *ctx, const heddle_module *module, const heddle_size_list *sizes)
{
	const char **names = NULL;
	int n = 0, errors = 0;
	for (int i = 0; i < module->n_definition; i++)
		for (int j = 0; module->definition[i] && j < module->definition[i]->n_size; j++)
			HEDDLE_PUSH(module->arena, names, n, module->definition[i]->size[j]->name);
	for (int i = 0; sizes && i < sizes->n; i++) {
		bool found = false;
		for (int j = 0; j < n && !found; j++)
			found = !strcmp(names[j], sizes->range[i].name);
		if (found)
			continue;
		heddle_error(ctx, 304, NULL, "`%s` is not a size of any definition in %s", sizes->range[i].name,
			     module->source->name);
		const char *nearest = n ? heddle_nearest(sizes->range[i].name, names, n) : NULL;
		if (nearest)
			heddle_note(ctx, NULL, "did you mean `%s`?", nearest);
		errors++;
	}
	return errors;
}

/* From definitions of the file to those of the module; what stands in others goes. */
static void place_pragmas(heddle_module *module, int n, const int *position)
{
	int kept = 0;
	for (int i = 0; i < module->n_pragma; i++) {
		heddle_pragma p = module->pragma[i];
		if (p.definition >= n)
			p.definition = n - 1;
		p.definition = p.definition < 0 ? p.definition : position[p.definition];
		if (p.definition >= 0)
			module->pragma[kept++] = p;
	}
	module->n_pragma = kept;
}

static int check_file(heddle_ctx *ctx, heddle_arena *scratch, heddle_module *module, const syntax_file *file,
		      const heddle_size_list *sizes, const char *only)
{
	int errors = 0;
	file_checker all = {
		.ctx = ctx, .arena = module->arena, .scratch = scratch, .file = file, .sizes = sizes, .only = only, .steps = MAX_STEPS};
	all.status = heddle_arena_alloc(scratch, sizeof(*all.status) * (size_t)(file->n_definition + 1));
	all.definition = HEDDLE_NEW_ARRAY(scratch, heddle_definition *, file->n_definition + 1);
	int before = heddle_error_count(ctx);
	int *position = HEDDLE_NEW_ARRAY(scratch, int, file->n_definition + 1);
	for (int i = 0; i < file->n_definition && heddle_error_count(ctx) - before < MAX_ERRORS; i++) {
		const syntax_definition *d = &file->definition[i];
		for (int j = 0; j < i && d->name; j++) {
			if (file->definition[j].name && !strcmp(file->definition[j].name, d->name)) {
				heddle_error(ctx, 105, &d->location, "definition `%s` stands here a second time", d->name);
				heddle_note(ctx, &file->definition[j].location, "the first is here");
				errors++;
				break;
			}
		}
		heddle_definition *definition = NULL;
		/* A head that could not be read leaves nothing to check the body against. */
		if (d->name && d->n_return)
			definition = heddle_check_definition(&all, i);
		else if (d->name && !d->broken)
			heddle_error(ctx, 109, &d->location, "definition `%s` returns nothing", d->name);
		errors += !definition && all.status[i] != CHECK_OPEN;
		position[i] = definition ? module->n_definition : -1;
		if (definition)
			HEDDLE_PUSH(module->arena, module->definition, module->n_definition, definition);
	}
	if (!errors)
		place_pragmas(module, file->n_definition, position);
	return errors;
}

heddle_module *heddle_module_parse(heddle_ctx *ctx, const char *name, const char *text, const heddle_size_list *sizes)
{
	return heddle_module_parse_for(ctx, name, text, sizes, NULL);
}

heddle_module *heddle_module_parse_for(heddle_ctx *ctx, const char *name, const char *text, const heddle_size_list *sizes,
				       const char *only)
{
	heddle_module *module = HEDDLE_NEW(heddle_ctx_arena(ctx), heddle_module);
	heddle_arena *scratch = heddle_arena_new();
	token_list tokens = {0};
	syntax_file file = {0};
	int before = heddle_error_count(ctx);
	module->arena = heddle_arena_new();
	module->source = keep_source(ctx, name, text);
	/* After an unreadable token the grammar would complain about nothing but its absence. */
	if (module->source->length > MAX_FILE_BYTES) {
		heddle_error(ctx, 12, NULL, "%s has %zu bytes, more than %d", name, module->source->length, MAX_FILE_BYTES);
	} else if (heddle_lex(ctx, scratch, module, &tokens) == 0) {
		heddle_parse(ctx, scratch, &tokens, &file);
		if (!file.n_definition && heddle_error_count(ctx) == before)
			heddle_error(ctx, 9, NULL, "%s has no definition", name);
		if (!check_file(ctx, scratch, module, &file, sizes, only))
			check_given_sizes(ctx, module, sizes);
	}
	heddle_arena_free(scratch);
	return heddle_error_count(ctx) > before ? heddle_module_free(module) : module;
}

heddle_module *heddle_module_free(heddle_module *module)
{
	if (module)
		module->arena = heddle_arena_free(module->arena);
	return NULL;
}

heddle_definition *heddle_module_find(heddle_ctx *ctx, heddle_module *module, const char *name)
{
	const char **names = NULL;
	int n = 0;
	if (!name)
		return module->definition[module->n_definition - 1];
	for (int i = 0; i < module->n_definition; i++) {
		if (!strcmp(module->definition[i]->name, name))
			return module->definition[i];
		HEDDLE_PUSH(module->arena, names, n, module->definition[i]->name);
	}
	heddle_error(ctx, 309, NULL, "%s has no definition `%s`", module->source->name, name);
	const char *nearest = heddle_nearest(name, names, n);
	heddle_note(ctx, NULL, nearest ? "did you mean `%s`?" : "its last is `%s`", nearest ? nearest : names[n - 1]);
	return NULL;
}

/* ---- evaluation ---------------------------------------------------------------------------------------------------------------- */

static int evaluate_binary(heddle_op op, int64_t a, int64_t b, int64_t *value)
{
	switch (op) {
	case HEDDLE_OP_ADD:
		return __builtin_add_overflow(a, b, value) ? -1 : 0;
	case HEDDLE_OP_SUB:
		return __builtin_sub_overflow(a, b, value) ? -1 : 0;
	case HEDDLE_OP_MUL:
		return __builtin_mul_overflow(a, b, value) ? -1 : 0;
	case HEDDLE_OP_DIV:
	case HEDDLE_OP_MOD: {
		if (b == 0 || (a == INT64_MIN && b == -1))
			return -1;
		int64_t quotient = a / b - (a % b != 0 && (a < 0) != (b < 0));
		*value = op == HEDDLE_OP_DIV ? quotient : a - quotient * b;
		return 0;
	}
	case HEDDLE_OP_MIN:
		*value = a < b ? a : b;
		return 0;
	case HEDDLE_OP_MAX:
		*value = a > b ? a : b;
		return 0;
	case HEDDLE_OP_LT:
		*value = a < b;
		return 0;
	case HEDDLE_OP_LE:
		*value = a <= b;
		return 0;
	case HEDDLE_OP_GT:
		*value = a > b;
		return 0;
	case HEDDLE_OP_GE:
		*value = a >= b;
		return 0;
	case HEDDLE_OP_EQ:
		*value = a == b;
		return 0;
	case HEDDLE_OP_NE:
		*value = a != b;
		return 0;
	case HEDDLE_OP_AND:
	case HEDDLE_OP_BITAND:
		*value = a & b;
		return 0;
	case HEDDLE_OP_OR:
	case HEDDLE_OP_BITOR:
		*value = a | b;
		return 0;
	case HEDDLE_OP_BITXOR:
		*value = a ^ b;
		return 0;
	case HEDDLE_OP_SHL:
		return b < 0 || b > 62 ? -1 : __builtin_mul_overflow(a, (int64_t)1 << b, value) ? -1 : 0;
	case HEDDLE_OP_SHR:
		*value = b < 0 || b > 63 ? 0 : a >> b;
		return b < 0 || b > 63 ? -1 : 0;
	default:
		return -1;
	}
}

int heddle_expr_evaluate_at(const heddle_expr *expr, const int64_t *size, const int64_t *index, int64_t *value)
{
	int64_t a, b;
	switch (expr->kind) {
	case HEDDLE_EXPR_INT:
		*value = expr->i;
		return 0;
	case HEDDLE_EXPR_SIZE:
		if (!size && expr->size->min != expr->size->max)
			return -1;
		*value = size ? size[expr->size->position] : expr->size->min;
		return 0;
	case HEDDLE_EXPR_INDEX:
		if (!index)
			return -1;
		*value = index[expr->index->position];
		return 0;
	case HEDDLE_EXPR_UNARY:
		if (heddle_expr_evaluate_at(expr->arg[0], size, index, &a))
			return -1;
		if (expr->op == HEDDLE_OP_NOT) {
			*value = !a;
			return 0;
		}
		return expr->op == HEDDLE_OP_NEG && !__builtin_sub_overflow((int64_t)0, a, value) ? 0 : -1;
	case HEDDLE_EXPR_BINARY:
		if (heddle_expr_evaluate_at(expr->arg[0], size, index, &a) || heddle_expr_evaluate_at(expr->arg[1], size, index, &b))
			return -1;
		return evaluate_binary(expr->op, a, b, value);
	case HEDDLE_EXPR_SELECT:
		if (heddle_expr_evaluate_at(expr->arg[0], size, index, &a))
			return -1;
		return heddle_expr_evaluate_at(expr->arg[a ? 1 : 2], size, index, value);
	case HEDDLE_EXPR_CAST:
		return heddle_type_is_float(expr->type) ? -1 : heddle_expr_evaluate_at(expr->arg[0], size, index, value);
	default:
		return -1;
	}
}

int heddle_expr_evaluate(const heddle_expr *expr, const int64_t *size, int64_t *value)
{
	return heddle_expr_evaluate_at(expr, size, NULL, value);
}

bool heddle_expr_same_node(const heddle_expr *a, const heddle_expr *b)
{
	if (a->kind != b->kind || a->type != b->type || a->n_arg != b->n_arg)
		return false;
	switch (a->kind) {
	case HEDDLE_EXPR_INT:
		return a->i == b->i;
	case HEDDLE_EXPR_FLOAT:
		return !memcmp(&a->f, &b->f, sizeof(a->f));
	case HEDDLE_EXPR_INDEX:
		return a->index == b->index;
	case HEDDLE_EXPR_SIZE:
		return a->size == b->size;
	case HEDDLE_EXPR_READ:
		return a->tensor == b->tensor;
	case HEDDLE_EXPR_UNARY:
	case HEDDLE_EXPR_BINARY:
		return a->op == b->op;
	case HEDDLE_EXPR_CALL:
		return a->builtin == b->builtin;
	default:
		return true;
	}
}

bool heddle_expr_equal(const heddle_expr *a, const heddle_expr *b)
{
	if (a == b)
		return true;
	if (!heddle_expr_same_node(a, b))
		return false;
	for (int i = 0; i < a->n_arg; i++)
		if (!heddle_expr_equal(a->arg[i], b->arg[i]))
			return false;
	return true;
}

bool heddle_expr_reads(const heddle_expr *expr, const heddle_tensor *tensor)
{
	if (expr->kind == HEDDLE_EXPR_READ && expr->tensor == tensor)
		return true;
	for (int i = 0; i < expr->n_arg; i++)
		if (heddle_expr_reads(expr->arg[i], tensor))
			return true;
	return false;
}
