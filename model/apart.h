/* The proof beside the passes after it: they need nothing of it and it nothing of them, so that it may run in a copy of the process.
 * isl's objects belong to one context, which one thread alone may use, but a copy of the process has all of them, and the system
 * copies only the pages that either of the two goes on to write.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_APART_H
#define HEDDLE_APART_H

#include "base/process.h"
#include "model/passes.h"
#include "model/watchdog.h"

typedef struct heddle_apart {
	heddle_scop *scop;
	heddle_config *config;
	const heddle_pass *pass; /* that is run apart */
	const heddle_pass_options *options;
	double seconds; /* of processor time, that it may take */
	int before;	/* diagnostics before it */
	heddle_child child;
} heddle_apart;

/* Start the pass in a copy of the process.  False where it is not the proof, or not worth a process, or there is one processor only,
 * or the system refuses, or one was started before: nothing has been done then. */
bool heddle_apart_start(heddle_apart *apart, heddle_scop *scop, heddle_config *config, const heddle_pass *pass,
			const heddle_pass_options *options, const heddle_watchdog *dog);

/* Wait for it, where one was started; `status` is that of the passes after it.  The status of all: where the proof has anything to
 * say, it is run again here, and where a pass after it has failed, so is that: as if each had been run in its turn.  The scop and
 * the options must still be there. */
int heddle_apart_end(heddle_apart *apart, int status);

#endif
