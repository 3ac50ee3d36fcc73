/* Mutants of a program: each has one small fault, of the kind that a wrong pass would make.  Tests that accept a mutant do not
 * see that kind of fault (unless the mutant means the same: a barrier that nothing needs, a bound that no size reaches).
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_MUTATE_H
#define HEDDLE_MUTATE_H

#include "model/program.h"

/* Mutants of one place:
 *   barrier            removed
 *   store              removed (moves, initialisations, results)
 *   if, ?:             condition always true; each comparison in it with and without equality, == and != exchanged
 *   for                each bound + 1 and - 1
 *   load, store        each subscript + 1
 *   reduction          its operator changed: + to -, * to +, min and max exchanged; a shuffle by another distance
 */
int heddle_mutant_count(const heddle_program *program);

/* A copy with mutant `k`, numbered anew; what was changed, where ("launch product_0, node 12 (line 3): barrier removed", node
 * as numbered in `program`), added to `description` unless that is NULL.  NULL when k is not in 0 .. count. */
heddle_program *heddle_mutant(const heddle_program *program, int k, heddle_text *description);

#endif
