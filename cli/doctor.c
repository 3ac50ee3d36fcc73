/* heddle doctor: which levels and drivers work on this machine, and how to add the rest.
 * SPDX-License-Identifier: MIT
 */
#include "cli/cli.h"

#include "harness/doctor.h"

int heddle_cli_doctor(heddle_cli *cli)
{
	if (!cli->result) {
		heddle_doctor(cli->ctx, false, &cli->out);
		return HEDDLE_EXIT_FINE;
	}
	heddle_text text = {0};
	heddle_doctor(cli->ctx, true, &text);
	json_t *found = json_loads(heddle_text_str(&text), 0, NULL);
	heddle_text_free(&text);
	if (!found)
		return heddle_error(cli->ctx, 950, NULL, "the report of heddle doctor is not JSON");
	json_object_set_new(cli->result, "doctor", found);
	return HEDDLE_EXIT_FINE;
}
