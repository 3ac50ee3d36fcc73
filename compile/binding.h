/* Bindings: the entry of a definition as an operator of a framework, from its manifests alone.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_BINDING_H
#define HEDDLE_BINDING_H

#include "compile/manifest.h"

/* One entry: the manifest of a target and its dialect, whose words "torch.*" say how the entry is called there. */
typedef struct heddle_binding_target {
	const heddle_dialect *dialect;
	const heddle_manifest *manifest;
} heddle_binding_target;

/* A C++ file that registers the operator heddle::NAME for PyTorch, for all targets of one definition: those of a kind of
 * device that comes again are left out.  NAME is also the entry and the header.  0, or -1 with E0925 (a type or an interface
 * that PyTorch does not have). */
int heddle_torch_print(heddle_ctx *ctx, const char *name, int n, const heddle_binding_target *target, heddle_text *out);

#endif
