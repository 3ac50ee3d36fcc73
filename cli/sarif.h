/* Findings as SARIF 2.1.0, the format in which code hosts show the findings of tools.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_CLI_SARIF_H
#define HEDDLE_CLI_SARIF_H

#include "cli/cli.h"
#include "harness/test.h"

/* Diagnostics so far, and for the second also the findings of tests, to `path`; 0 or -1 with a diagnostic. */
int heddle_cli_sarif_check(heddle_cli *cli, const char *path);
int heddle_cli_sarif_test(heddle_cli *cli, const char *path, const heddle_test_report *report);

#endif
