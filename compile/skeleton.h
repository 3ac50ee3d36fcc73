/* The skeleton of a manifest for a hand-written source: what its prototypes say, and TODO where a person has to say it.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_SKELETON_H
#define HEDDLE_SKELETON_H

#include "backends/prototype.h"
#include "backends/backend.h"
#include "frontend/definition.h"

typedef struct heddle_skeleton_options {
	const char *path;   /* of the source */
	const char *output; /* of the manifest: the source is named from its folder; NULL: standard output */
	const heddle_target *target;
	int n_define; /* "NAME=VALUE" */
	const char *const *define;
	int n_include; /* folders, from here */
	const char *const *include;
	int n_instance; /* "k<float, 128>" or "k": these kernels in this order; none: all of the file */
	const char *const *instance;
	const heddle_definition *definition; /* gives names, shapes and roles; NULL: none */
	bool own_preprocessor;
} heddle_skeleton_options;

/* The manifest as JSON text; `*n_todo` places are left to fill in.  Warnings name what no level can take (W0787) or what was not
 * understood (W0788).  0, or -1 with a diagnostic: no kernel (E0789), or one that no launch can pass its arguments to (E0787). */
int heddle_skeleton_write(heddle_ctx *ctx, const char *source, const heddle_skeleton_options *options, heddle_text *out,
			  int *n_todo);

#endif
