/* What can be seen of isl's sets without looking for a point outside.  Most conditions that a set is asked for stand in it word for
 * word, or follow from one or two of its own and the bounds of single dimensions.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_PLAIN_H
#define HEDDLE_PLAIN_H

#include <isl/map.h>
#include <isl/set.h>
#include <stdbool.h>
#include <stdint.h>

/* Do all conditions of some piece of `b` follow, for each piece of `a`, from bounds of dimensions and at most two conditions of
 * `a`?  Then all of `a` is in `b`; false says nothing. */
bool heddle_plainly_inside(__isl_keep isl_set *a, __isl_keep isl_set *b);
bool heddle_plainly_subset(__isl_keep isl_map *a, __isl_keep isl_map *b);
/* Where `known` holds, is `set` { [.., x] : 0 <= x < extent } of its last dimension, and no more?  Likewise. */
bool heddle_plainly_box(__isl_keep isl_set *set, __isl_keep isl_set *known, int64_t extent);

/* As isl_set_intersect and isl_set_intersect_params, but nothing looks for a point in what two convex sets have in common: a set
 * that is empty may be one piece, without that being known. */
__isl_give isl_set *heddle_plainly_intersect(__isl_take isl_set *a, __isl_take isl_set *b);
__isl_give isl_set *heddle_plainly_intersect_params(__isl_take isl_set *set, __isl_take isl_set *params);

#endif
