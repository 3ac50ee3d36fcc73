/* Work whose only result is a verdict, in a process of its own, while this one goes on.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_APART_H
#define HEDDLE_APART_H

#include "base/base.h"

#include <stdbool.h>
#include <sys/types.h>

typedef struct heddle_apart {
	pid_t child; /* 0: nothing was started */
	int pipe;    /* what it says comes out here */
} heddle_apart;

/* Call `work` in a copy of this process, which shares nothing with it afterwards: neither memory nor diagnostics.  False where there
 * is one processor only, or the system refuses: nothing has been done then.  Other threads of this process must not hold locks that
 * `work` needs, as they do not exist in the copy. */
bool heddle_apart_start(heddle_apart *apart, const char *(*work)(void *user), void *user);

/* Wait for the copy.  What its `work` returned, in the arena; NULL if that was NULL, or if it came to any other end. */
const char *heddle_apart_end(heddle_apart *apart, heddle_arena *arena);

#endif
