/* What the files of `generate` share.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_GENERATE_H
#define HEDDLE_GENERATE_H

#include "model/nest.h"

#include <isl/aff.h>

typedef struct heddle_generator {
	heddle_scop *scop;
	heddle_program *program;
	heddle_launch *launch;
	heddle_kernel *kernel;
	heddle_mapped *mapped;
	const heddle_branch *branch;
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

/* ---- generate_expr.c: of isl's objects over { [x0, x1, ..] }, each x as a value ---- */

heddle_value *heddle_generate_aff(heddle_generator *g, __isl_take isl_aff *aff, heddle_value *const *x);
/* On the points of `where` only; NULL: the function is one piece. */
heddle_value *heddle_generate_pieces(heddle_generator *g, __isl_take isl_pw_aff *function, __isl_take isl_set *where,
				     heddle_value *const *x);
/* aff >= 0, or aff = 0 */
heddle_value *heddle_generate_comparison(heddle_generator *g, __isl_take isl_aff *aff, bool equal, heddle_value *const *x);
/* Is the point in the set? */
heddle_value *heddle_generate_condition(heddle_generator *g, __isl_take isl_set *set, heddle_value *const *x);

/* ---- generate_leaf.c, generate_loops.c ---- */

/* One leaf where its loops are `x`. */
heddle_node *heddle_generate_leaf(heddle_generator *g, heddle_leaf *leaf, heddle_value *const *x);
/* All of the branch. */
heddle_node *heddle_generate_branch(heddle_generator *g);

/* ---- generate.c ---- */

/* A size as an index value. */
heddle_value *heddle_generate_size(heddle_generator *g, const heddle_size *size);
/* isl's parameter as a value: a size, or a coordinate. */
heddle_value *heddle_generate_parameter(heddle_generator *g, const char *param);
/* The variable that stands for isl's parameter of a coordinate ("c_lane"), or the variable of that name. */
heddle_value *heddle_generate_coordinate(heddle_generator *g, const char *param);
/* A variable name that the launch does not use yet. */
const char *heddle_generate_name(heddle_generator *g, const char *stem);
bool heddle_generate_varies(const heddle_generator *g, const heddle_value *value);
/* The number of a variable that differs between threads; -1: it does not. */
int heddle_generate_find_varying(const heddle_generator *g, const char *name);
void heddle_generate_vary(heddle_generator *g, const char *name, int64_t extent);
/* A shape expression of the definition over sizes, INT64. */
heddle_value *heddle_generate_shape(heddle_generator *g, const heddle_expr *expr);
/* The register array behind `r` in this branch, declared on first use. */
heddle_buffer *heddle_generate_registers(heddle_generator *g, heddle_registers *r, const char *of);

#endif
