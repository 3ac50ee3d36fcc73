/* heddle plan --dump, --stop, --time-passes: what the passes say.
 * SPDX-License-Identifier: MIT
 */
#include "cli/kernel.h"

#include "model/passes.h"

#include <string.h>

static int check_pass(heddle_cli *cli, heddle_option_id id, const char *name)
{
	const char *names[64];
	int n = 0;
	for (const heddle_pass *pass = heddle_passes; pass->name && n < 64; pass++) {
		if (!strcmp(pass->name, name))
			return 0;
		names[n++] = pass->name;
	}
	heddle_error(cli->ctx, 915, NULL, "option '%s': no pass '%s'", heddle_option_rows[id].name, name);
	const char *nearest = heddle_nearest(name, names, n);
	heddle_text list = {0};
	for (int i = 0; i < n; i++)
		heddle_text_printf(&list, "%s%s", i ? ", " : "", names[i]);
	heddle_note(cli->ctx, NULL, nearest ? "did you mean '%s'?" : "passes: %s", nearest ? nearest : heddle_text_str(&list));
	heddle_text_free(&list);
	return -1;
}

int heddle_cli_check_passes(heddle_cli *cli)
{
	static const heddle_option_id ids[] = {HEDDLE_OPTION_DUMP, HEDDLE_OPTION_STOP};
	for (size_t k = 0; k < HEDDLE_COUNT(ids); k++)
		for (int i = 0; i < cli->option[ids[k]].n; i++)
			if (check_pass(cli, ids[k], cli->option[ids[k]].value[i]) < 0)
				return -1;
	return 0;
}

int heddle_cli_show_passes(heddle_cli *cli, const heddle_definition *definition, const heddle_target *target)
{
	const heddle_values *dump = &cli->option[HEDDLE_OPTION_DUMP];
	heddle_text said = {0};
	heddle_compile_options options = {.stop = heddle_cli_value(cli, HEDDLE_OPTION_STOP),
					  .times = heddle_cli_flag(cli, HEDDLE_OPTION_TIME_PASSES),
					  .report = &said};
	for (int i = 0; i < dump->n || i == 0; i++) {
		options.dump = i < dump->n ? dump->value[i] : NULL;
		heddle_program_free(heddle_cli_program(cli, definition, target, &options));
		options.times = false;
	}
	int result = heddle_error_count(cli->ctx) ? -1 : 0;
	if (cli->result && said.length)
		json_object_set_new(cli->result, "passes", heddle_cli_json_string(said.data));
	else
		heddle_text_add(&cli->out, heddle_text_str(&said));
	heddle_text_free(&said);
	return result;
}
