/* What the files of `generate` share.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_GENERATE_H
#define HEDDLE_GENERATE_H

#include "model/nest.h"

#include <isl/ast.h>
#include <isl/ast_build.h>

typedef struct heddle_generator {
	heddle_scop *scop;
	heddle_program *program;
	heddle_launch *launch;
	heddle_kernel *kernel;
	heddle_mapped *mapped;
	const heddle_branch *branch;
	heddle_type index_type;
	int n_name; /* variables of the launch so far */
	const char **name;
	int n_varying; /* variables that differ between threads */
	const char **varying;
	int64_t *varying_extent; /* each is in 0 .. extent; 0: nothing is known of it */
	int n_alias; /* coordinates: isl's parameter and the variable that stands for it */
	const char **alias_param, **alias_name;
	heddle_buffer **global; /* by tensor position */
	heddle_node *top;	/* of the branch: register arrays are declared here */
	heddle_buffer **shared; /* by group index in the kernel */
} heddle_generator;

/* isl's expression as a value; AST iterators become variables of their isl name. */
heddle_value *heddle_generate_expr(heddle_generator *g, __isl_take isl_ast_expr *expr);
/* One leaf at the place where isl put it, as a node over isl's iterators. */
heddle_node *heddle_generate_leaf(heddle_generator *g, heddle_leaf *leaf, __isl_keep isl_ast_build *build,
				  __isl_take isl_pw_multi_aff *iteration);
/* The branch's AST as nodes. */
heddle_node *heddle_generate_branch(heddle_generator *g);

/* A size as an index value. */
heddle_value *heddle_generate_size(heddle_generator *g, const heddle_size *size);
/* The variable that stands for isl's parameter of a coordinate ("c_lane"), or the variable of that name. */
heddle_value *heddle_generate_coordinate(heddle_generator *g, const char *param);
/* A variable name that the launch does not use yet. */
const char *heddle_generate_name(heddle_generator *g, const char *stem);
bool heddle_generate_varies(const heddle_generator *g, const heddle_value *value);
void heddle_generate_vary(heddle_generator *g, const char *name, int64_t extent);
/* A shape expression of the definition over sizes, INT64. */
heddle_value *heddle_generate_shape(heddle_generator *g, const heddle_expr *expr);
/* The register array behind `r` in this branch, declared on first use. */
heddle_buffer *heddle_generate_registers(heddle_generator *g, heddle_registers *r, const char *of);

#endif
