/* heddle check: parse and check files, print what was found.
 * SPDX-License-Identifier: MIT
 */
#include "cli/cli.h"
#include "cli/sarif.h"

#include <string.h>

static const char *const role_names[] = {"input", "output", "inout", "temporary"};

static void print_tensor(const heddle_tensor *tensor, heddle_text *out)
{
	heddle_text_printf(out, "  %-9s %s %s", role_names[tensor->role], heddle_type_name(tensor->type), tensor->name);
	for (int d = 0; d < tensor->rank; d++) {
		heddle_text_add(out, d ? "," : "(");
		heddle_expr_print(tensor->extent[d], out);
	}
	heddle_text_add(out, tensor->rank ? ")" : "");
	for (int d = 0; tensor->stride && d < tensor->rank; d++) {
		heddle_text_add(out, d ? "," : " strides (");
		heddle_expr_print(tensor->stride[d], out);
	}
	heddle_text_add(out, tensor->stride ? ")" : "");
	if (tensor->align)
		heddle_text_printf(out, " align %lld", (long long)tensor->align);
	heddle_text_add(out, "\n");
}

static void print_sizes(const heddle_definition *definition, heddle_text *out)
{
	for (int i = 0; i < definition->n_size; i++) {
		const heddle_size *s = definition->size[i];
		heddle_text_printf(out, "%s%s", i ? ", " : "  sizes     ", s->name);
		if (s->min == s->max)
			heddle_text_printf(out, "=%lld", (long long)s->min);
		else if (s->min > 0 || s->max != HEDDLE_MAX_SIZE)
			heddle_text_printf(out, "=%lld:%lld", (long long)s->min, (long long)s->max);
		if (s->divisor > 1 && s->min != s->max)
			heddle_text_printf(out, ", a multiple of %lld", (long long)s->divisor);
	}
	if (definition->n_size)
		heddle_text_add(out, "\n");
}

/* "y(n,o): n in 0:B, o in 0:O, i in 0:I" */
static void print_ranges(const heddle_statement *statement, heddle_text *out)
{
	heddle_text_printf(out, "  ranges    %s", statement->target->name);
	for (int d = 0; d < statement->n_lhs; d++) {
		heddle_text_add(out, d ? "," : "(");
		heddle_expr_print(statement->lhs[d], out);
	}
	heddle_text_add(out, statement->n_lhs ? ")" : "");
	for (int i = 0; i < statement->n_index; i++) {
		heddle_text_printf(out, "%s %s in ", i ? "," : ":", statement->index[i]->name);
		heddle_expr_print(statement->index[i]->written_lower, out);
		heddle_text_add(out, ":");
		heddle_expr_print(statement->index[i]->written_upper, out);
	}
	heddle_text_add(out, "\n");
}

static void print_definition(const heddle_definition *definition, heddle_text *out)
{
	heddle_text_printf(out, "%s\n", definition->name);
	print_sizes(definition, out);
	if (definition->policy != HEDDLE_POLICY_IEEE)
		heddle_text_printf(out, "  policy    %s\n", heddle_policy_name(definition->policy));
	for (int i = 0; i < definition->n_tensor; i++)
		print_tensor(definition->tensor[i], out);
	for (int i = 0; i < definition->n_statement; i++)
		if (definition->statement[i]->n_index)
			print_ranges(definition->statement[i], out);
	for (int i = 0; i < definition->n_precondition; i++) {
		heddle_text_add(out, "  requires  ");
		heddle_expr_print(definition->precondition[i], out);
		heddle_text_add(out, "\n");
	}
}

static json_t *expr_json(const heddle_expr *expr)
{
	heddle_text text = {0};
	heddle_expr_print(expr, &text);
	json_t *s = json_string(heddle_text_str(&text));
	heddle_text_free(&text);
	return s;
}

static json_t *statement_json(const heddle_statement *statement)
{
	json_t *indices = json_array();
	for (int i = 0; i < statement->n_index; i++) {
		const heddle_index *index = statement->index[i];
		json_array_append_new(indices, json_pack("{s:s, s:o, s:o, s:b}", "name", index->name, "lower", expr_json(index->written_lower),
							 "upper", expr_json(index->written_upper), "reduction", index->reduction));
	}
	return json_pack("{s:s, s:i, s:o}", "target", statement->target->name, "line", statement->location.line, "indices", indices);
}

static json_t *definition_json(const heddle_definition *definition)
{
	json_t *sizes = heddle_cli_sizes_json(definition), *tensors = json_array(), *statements = json_array(), *conditions = json_array();
	for (int i = 0; i < definition->n_tensor; i++) {
		const heddle_tensor *t = definition->tensor[i];
		json_t *shape = json_array();
		for (int d = 0; d < t->rank; d++)
			json_array_append_new(shape, expr_json(t->extent[d]));
		json_t *tensor = json_pack("{s:s, s:s, s:s, s:o}", "name", t->name, "role", role_names[t->role], "type",
					   heddle_type_name(t->type), "shape", shape);
		json_t *strides = t->stride ? json_array() : NULL;
		for (int d = 0; strides && d < t->rank; d++)
			json_array_append_new(strides, expr_json(t->stride[d]));
		if (strides)
			json_object_set_new(tensor, "strides", strides);
		if (t->align)
			json_object_set_new(tensor, "align", json_integer(t->align));
		json_array_append_new(tensors, tensor);
	}
	for (int i = 0; i < definition->n_statement; i++)
		json_array_append_new(statements, statement_json(definition->statement[i]));
	for (int i = 0; i < definition->n_precondition; i++)
		json_array_append_new(conditions, expr_json(definition->precondition[i]));
	return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o}", "name", definition->name, "policy", heddle_policy_name(definition->policy),
			 "sizes", sizes, "tensors", tensors, "statements", statements, "preconditions", conditions);
}

static int check_file(heddle_cli *cli, const char *path, const heddle_size_list *sizes, json_t *files)
{
	heddle_module *module = heddle_cli_module(cli, path, sizes);
	if (!module)
		return -1;
	const char *only = heddle_cli_value(cli, HEDDLE_OPTION_DEF);
	int result = only && !heddle_module_find(cli->ctx, module, only) ? -1 : 0;
	json_t *definitions = files ? json_array() : NULL;
	for (int i = 0; i < module->n_definition && result == 0; i++) {
		const heddle_definition *definition = module->definition[i];
		if (only && strcmp(only, definition->name) != 0)
			continue;
		if (definitions)
			json_array_append_new(definitions, definition_json(definition));
		else
			print_definition(definition, &cli->out);
	}
	if (definitions)
		json_array_append_new(files, json_pack("{s:o, s:o}", "file", heddle_cli_json_string(path), "definitions", definitions));
	heddle_module_free(module);
	return result;
}

int heddle_cli_check(heddle_cli *cli)
{
	heddle_size_list *sizes;
	if (heddle_cli_sizes(cli, 0, &sizes) < 0)
		return -1;
	json_t *files = cli->result ? json_array() : NULL;
	int result = HEDDLE_EXIT_FINE;
	for (int i = 0; i < cli->n_word; i++)
		if (check_file(cli, cli->word[i], sizes, files) < 0)
			result = -1;
	if (files)
		json_object_set_new(cli->result, "files", files);
	const char *sarif = heddle_cli_value(cli, HEDDLE_OPTION_SARIF);
	if (sarif && heddle_cli_sarif_check(cli, sarif) < 0)
		result = -1;
	return result;
}
