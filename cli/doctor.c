/* heddle doctor: which levels and drivers work on this machine, and how to add the rest.
 * SPDX-License-Identifier: MIT
 */
#include "cli/cli.h"
#include "harness/level.h"

#include <string.h>

static json_t *runner_json(const heddle_runner *runner, bool usable, const char *why)
{
	json_t *o = json_pack("{s:s, s:s, s:b}", "level", runner->level, "name", runner->name, "available", usable);
	if (runner->backend)
		json_object_set_new(o, "backend", json_string(runner->backend));
	if (why)
		json_object_set_new(o, usable ? "found" : "missing", json_string(why));
	return o;
}

int heddle_cli_doctor(heddle_cli *cli)
{
	heddle_text rows = {0};
	heddle_text_add(&rows, "level\trunner\tbackend\tstate\t\n");
	json_t *list = cli->result ? json_array() : NULL;
	heddle_text_add(&rows, "interpret\tbuilt in\tall\tready\t\n");
	for (const heddle_runner *const *r = heddle_runners; *r; r++) {
		const char *why = NULL;
		bool usable = (*r)->available(cli->ctx, &why) == 1;
		if (list)
			json_array_append_new(list, runner_json(*r, usable, why));
		heddle_text_printf(&rows, "%s\t%s\t%s\t%s\t%s\n", (*r)->level, (*r)->name, (*r)->backend ? (*r)->backend : "all",
				   usable ? "ready" : "missing", why ? why : "");
	}
	if (list)
		json_object_set_new(cli->result, "runners", list);
	else
		heddle_cli_table(heddle_text_str(&rows), &cli->out);
	heddle_text_free(&rows);
	/* What is missing is the answer, not a failure. */
	heddle_diagnostics_clear(cli->ctx);
	return HEDDLE_EXIT_FINE;
}
