/* Words and types that the printer and the parser of the program's text form share.
 *
 * Literals carry no type where their place gives one: an operand of an operator takes the type of the other operand, a
 * stored value that of the buffer, a subscript int32, a shape int64.  Elsewhere they carry it: 3_int64.  Printer and parser
 * share `heddle_value_own_type`, so they agree on which is which.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_PROGRAM_WORDS_H
#define HEDDLE_PROGRAM_WORDS_H

#include "model/program.h"

#define UNKNOWN HEDDLE_N_TYPE

enum { UNARY_PRECEDENCE = 11, HEDDLE_N_ROLE_WORD = 7, HEDDLE_N_LOOP_WORD = 5, HEDDLE_N_INFIX = 18 };

typedef struct heddle_infix_operator {
	heddle_op op;
	int precedence;
} heddle_infix_operator;

extern const char *const heddle_role_words[HEDDLE_N_ROLE_WORD]; /* by heddle_buffer_role */
extern const char *const heddle_loop_words[HEDDLE_N_LOOP_WORD]; /* by heddle_loop_kind */
extern const heddle_infix_operator heddle_infix[HEDDLE_N_INFIX];

int heddle_op_precedence(heddle_op op); /* 0: not infix */
bool heddle_op_is_truth(heddle_op op);
bool heddle_op_is_comparison(heddle_op op);
/* A word of the text form that a builtin function may not be mistaken for. */
bool heddle_word_is_intrinsic(const char *name);
/* The type that a value has whatever stands around it; UNKNOWN for literals and what is made of them alone.  With
 * `literals`, a literal that was written with its type counts (parser). */
heddle_type heddle_value_own_type(const heddle_value *v, bool literals);
/* The first known one among arguments [from, to). */
heddle_type heddle_value_first_type(const heddle_value *v, int from, int to, bool literals);

#endif
