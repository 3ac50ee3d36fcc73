/* What integer values of a program can be: an interval and a congruence for each, from the sizes' ranges and divisors, loop
 * bounds and steps, the number of threads and blocks.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_RANGES_H
#define HEDDLE_RANGES_H

#include "model/program.h"

/* lo <= value <= hi, and value = residue (mod modulus) with 0 <= residue < modulus.  INT64_MIN and INT64_MAX stand for no
 * bound.  A known value has lo == hi and modulus 0, residue the value. */
typedef struct heddle_range {
	int64_t lo, hi;
	int64_t modulus, residue;
} heddle_range;

/* The greatest number that divides both; of 0 and a, a. */
int64_t heddle_gcd(int64_t a, int64_t b);
heddle_range heddle_range_constant(int64_t value);
heddle_range heddle_range_between(int64_t lo, int64_t hi);
/* value % modulus, from 0; -1 when it is not known. */
int64_t heddle_range_residue(heddle_range range, int64_t modulus);
/* What of the range lies in lo .. hi; the range itself when nothing does. */
heddle_range heddle_range_narrowed(heddle_range range, int64_t lo, int64_t hi);
/* Of a value of `a` minus one of `b`, as unbounded integers. */
heddle_range heddle_range_difference(heddle_range a, heddle_range b);
/* The range lies within the values of `type`. */
bool heddle_range_fits(heddle_range range, heddle_type type);

/* Ranges of the variables in scope at one place of a launch: filled and unwound by whoever walks the tree. */
typedef struct heddle_ranges heddle_ranges;

/* Nothing in scope.  Freed with heddle_ranges_free; the program outlives it.  `launch` NULL: sizes alone. */
heddle_ranges *heddle_ranges_new(const heddle_program *program, const heddle_launch *launch);
heddle_ranges *heddle_ranges_free(heddle_ranges *ranges);
/* Also "block" and "thread", for what a branch says of them. */
void heddle_ranges_define(heddle_ranges *ranges, const char *name, heddle_range range);
/* The same of a variable that has a range, of which a comparison leaves this. */
void heddle_ranges_narrow(heddle_ranges *ranges, const char *name, heddle_range range);
/* Is there a variable in it of which comparisons have left one number?  An address with that in its place would look different from the one
 * around the branch, which may be the same. */
bool heddle_ranges_settled(const heddle_ranges *ranges, const heddle_value *value);
/* A variable that stands for the value. */
void heddle_ranges_let(heddle_ranges *ranges, const char *name, const heddle_value *value);
/* Position of the stack of variables; unwinding to it forgets those defined since. */
int heddle_ranges_mark(const heddle_ranges *ranges);
void heddle_ranges_unwind(heddle_ranges *ranges, int mark);

/* Of an integer value of width 1.  Arithmetic is that of unbounded integers; where it could leave the value's type, nothing
 * but the type's own range is said. */
heddle_range heddle_ranges_of(const heddle_ranges *ranges, const heddle_value *value);
/* The greatest power of two, up to 2^20, that divides the integer value of width 1, even where it wraps around; 1: none is known. */
int64_t heddle_ranges_step(const heddle_ranges *ranges, const heddle_value *value);
/* The last operation of the value may leave the value's type. */
bool heddle_ranges_overflow(const heddle_ranges *ranges, const heddle_value *value);
/* The index is not below 0: sums and products of such do not wrap around, for sizes are small enough. */
bool heddle_ranges_natural(const heddle_ranges *ranges, const heddle_value *value);
/* Of the iterator of a loop, inside it. */
heddle_range heddle_ranges_loop(const heddle_ranges *ranges, const heddle_node *loop);
/* 1 when the condition surely holds, 0 when it surely does not, -1 otherwise. */
int heddle_ranges_decide(const heddle_ranges *ranges, const heddle_value *condition);

/* value = coefficient * iterator + rest with a rest that does not depend on the iterator: true, and the coefficient. */
bool heddle_value_coefficient(const heddle_value *value, const char *iterator, int64_t *coefficient);
/* The variable occurs in the value; in a value of the node or of one below it. */
bool heddle_value_depends(const heddle_value *value, const char *variable);
bool heddle_node_depends(const heddle_node *node, const char *variable);

#endif
