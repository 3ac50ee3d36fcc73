/* What a verb took where it was not told: which definition, targets and sizes, in one line.
 * SPDX-License-Identifier: MIT
 */
#include "cli/cli.h"

#include <string.h>

/* ---- in words ------------------------------------------------------------------------------------------------------------ */

static void add_target(heddle_text *out, const heddle_target *target)
{
	const heddle_descriptor *d = target->descriptor;
	if (heddle_descriptor_is_host(d))
		heddle_text_printf(out, "host (%s, %.0f-bit vectors, %.0f core%s)", target->backend, 8 * d->vector_bytes.value, d->units.value,
				   d->units.value == 1 ? "" : "s");
	else
		heddle_text_add(out, target->text);
}

static bool is_earlier(const heddle_took *took, int definition, int size)
{
	for (int d = 0; d < definition; d++)
		for (int i = 0; i < took->definition[d]->n_size; i++)
			if (!strcmp(took->definition[d]->size[i]->name, took->definition[definition]->size[size]->name))
				return true;
	return false;
}

/* As -s takes it: "M=64", "N=1:512", "K=16*". */
static void add_size(heddle_text *out, const heddle_size *s)
{
	const long long divisor = s->divisor > 1 ? s->divisor : 1, most = HEDDLE_MAX_SIZE / divisor * divisor;
	heddle_text_printf(out, "%s%s", out->length ? "," : "", s->name);
	if (s->min == s->max)
		heddle_text_printf(out, "=%lld", (long long)s->min);
	else if (s->min > 0 || s->max < most)
		heddle_text_printf(out, "=%lld:%lld", (long long)s->min, (long long)s->max);
	if (s->min == s->max || divisor == 1)
		return;
	if (s->min > 0 || s->max < most)
		heddle_text_printf(out, "*%lld", divisor);
	else
		heddle_text_printf(out, "=%lld*", divisor);
}

/* "M=64,N=1:512" and in `open` the names of those that are open; each once. */
static void list_sizes(const heddle_took *took, heddle_text *given, heddle_text *open)
{
	for (int d = 0; d < took->n_definition; d++)
		for (int i = 0; i < took->definition[d]->n_size; i++) {
			const heddle_size *s = took->definition[d]->size[i];
			const bool is_open = s->min <= 0 && s->max == HEDDLE_MAX_SIZE && s->divisor <= 1;
			if (!is_earlier(took, d, i))
				add_size(is_open ? open : given, s);
		}
}

static void say(heddle_cli *cli, const heddle_took *took)
{
	heddle_text *out = &cli->err, given = {0}, open = {0};
	const char *comma = ": ";
	heddle_text_add(out, "heddle");
	if (took->n_definition)
		heddle_text_printf(out, "%sdefinition%s ", comma, took->n_definition == 1 ? "" : "s");
	for (int d = 0; d < took->n_definition; d++)
		heddle_text_printf(out, "%s'%s'", d ? ", " : "", took->definition[d]->name);
	comma = took->n_definition ? ", " : comma;
	if (took->n_target)
		heddle_text_printf(out, "%starget%s ", comma, took->n_target == 1 ? "" : "s");
	for (int t = 0; t < took->n_target; t++) {
		heddle_text_add(out, t ? ", " : "");
		add_target(out, &took->target[t]);
	}
	if (!took->sizes)
		list_sizes(took, &given, &open);
	if (given.length || open.length)
		heddle_text_printf(out, ", sizes %s%s%s%s", heddle_text_str(&given), given.length && open.length ? ", open: " : "",
				   heddle_text_str(&open), open.length && !given.length ? " open" : "");
	if (took->sizes)
		heddle_text_printf(out, ", %s", took->sizes);
	heddle_text_add(out, "\n");
	heddle_text_free(&given);
	heddle_text_free(&open);
}

/* ---- as JSON --------------------------------------------------------------------------------------------------------------- */

json_t *heddle_cli_sizes_json(const heddle_definition *definition)
{
	json_t *sizes = json_object();
	for (int i = 0; i < definition->n_size; i++) {
		const heddle_size *s = definition->size[i];
		json_object_set_new(sizes, s->name,
				    s->min == s->max ? json_integer(s->min)
						     : json_pack("{s:I, s:I, s:I}", "min", (json_int_t)s->min, "max",
								 (json_int_t)s->max, "divisor", (json_int_t)s->divisor));
	}
	return sizes;
}

static json_t *took_json(const heddle_took *took)
{
	json_t *one = json_object(), *definitions = json_array(), *targets = json_array();
	for (int d = 0; d < took->n_definition; d++)
		json_array_append_new(definitions, json_pack("{s:s, s:o}", "name", took->definition[d]->name, "sizes",
							     heddle_cli_sizes_json(took->definition[d])));
	for (int t = 0; t < took->n_target; t++)
		json_array_append_new(targets, json_pack("{s:s, s:s}", "name", took->target[t].text, "title",
							 took->target[t].descriptor->title));
	json_object_set_new(one, "definitions", definitions);
	if (took->n_target)
		json_object_set_new(one, "targets", targets);
	else
		json_decref(targets);
	return one;
}

/* ---- told or not ------------------------------------------------------------------------------------------------------------ */

/* Does an -s say something of the size?  `-s ""` says that all are open. */
static bool names_size(const heddle_cli *cli, const char *name)
{
	const heddle_values *given = &cli->option[HEDDLE_OPTION_SIZES];
	const size_t n = strlen(name);
	for (int i = 0; i < given->n; i++) {
		if (!*given->value[i])
			return true;
		for (const char *at = given->value[i]; (at = strstr(at, name)); at += n)
			if ((at == given->value[i] || at[-1] == ',' || at[-1] == ' ') && (at[n] == '=' || at[n] == ' '))
				return true;
	}
	return false;
}

static bool sizes_are_told(const heddle_cli *cli, const heddle_took *took)
{
	for (int d = 0; d < took->n_definition && !took->sizes; d++)
		for (int i = 0; i < took->definition[d]->n_size; i++)
			if (!names_size(cli, took->definition[d]->size[i]->name))
				return false;
	return !took->sizes || took->sizes_are_told;
}

void heddle_cli_say_took(heddle_cli *cli, const heddle_took *took)
{
	const bool definition = took->n_definition <= 1 || heddle_cli_flag(cli, HEDDLE_OPTION_DEF);
	const bool target = !took->n_target || heddle_cli_flag(cli, HEDDLE_OPTION_TARGET);
	if (cli->result) {
		json_t *all = json_object_get(cli->result, "took");
		if (!all)
			json_object_set_new(cli->result, "took", all = json_array());
		json_array_append_new(all, took_json(took));
	} else if (!definition || !target || !sizes_are_told(cli, took)) {
		say(cli, took);
	}
}
