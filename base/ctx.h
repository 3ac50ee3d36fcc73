/* The context's fields: for base/ alone.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_CTX_H
#define HEDDLE_CTX_H

#include "base/base.h"

typedef struct heddle_attachment {
	const char *name;
	void *data; /* NULL: none any more */
	void (*release)(void *data);
	struct heddle_attachment *next;
} heddle_attachment;

struct heddle_ctx {
	heddle_arena *arena;
	heddle_diagnostic *first, *last;
	heddle_diagnostic *newest; /* error or warning: where a fix-it goes */
	int n_error;
	int n_path;	   /* all of them */
	int n_added;	   /* of these, added by the user: they come before HEDDLE_PATH's */
	const char **path; /* NULL-ended */
	int n_read;
	const char **read; /* files, in the order of reading */
	heddle_text messages;
	int policy; /* one more than the policy for all definitions; 0: none was asked for */
	void (*progress)(void *user, const char *text); /* NULL: not wanted */
	void *progress_user;
	heddle_attachment *attachment;
};

#endif
