/* The lock: configs that stay as they are until someone asks for others (heddle.lock).
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_CLI_LOCK_H
#define HEDDLE_CLI_LOCK_H

#include "cli/cli.h"

typedef struct heddle_lock heddle_lock;

/* The lock of --lock in `*lock`, NULL without one; a file that is not there is an empty lock.  0, or -1 with a diagnostic. */
int heddle_lock_open(heddle_cli *cli, heddle_lock **lock);
/* The config to compile this with: the pinned one, or NULL: choose.  Says it when an entry does not fit any more. */
const char *heddle_lock_config(heddle_cli *cli, const heddle_definition *definition, const heddle_target *target);
/* What was compiled, under which config. */
void heddle_lock_pin(heddle_cli *cli, const heddle_definition *definition, const heddle_target *target, const char *config);
/* Does the lock differ from its file? */
bool heddle_lock_changed(const heddle_lock *lock);
const char *heddle_lock_path(const heddle_lock *lock);
void heddle_lock_print(const heddle_lock *lock, heddle_text *out);
/* Say how many entries come from another version of Heddle. */
void heddle_lock_report(heddle_cli *cli);

#endif
