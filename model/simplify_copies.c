/* Of how many copies of its body a loop is made that is left: said in the text, or compilers unroll as they like, some until a
 * thread has all registers.  Loads of global memory are what copies are for: those of a few are under way together.  What is
 * computed from shared memory into registers waits for nothing else, so there the loop's own instructions count.
 * SPDX-License-Identifier: MIT
 */
#include "model/simplify_parts.h"

/* What a body does in one round, loops in it that are written out whole included. */
typedef struct round_work {
	int64_t bytes; /* that a thread asks global memory for */
	int64_t size;  /* nodes and calls */
	bool nested;   /* loops that are written out whole are in it */
	bool near;     /* it reads shared memory */
	bool stores;   /* to what is no register */
	bool apart;    /* a loop that stays one is in it, or what all threads wait at */
} round_work;

static int64_t most_of(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t loaded_bytes(const heddle_value *v)
{
	const bool global = v->kind == HEDDLE_VALUE_LOAD && v->buffer->role != HEDDLE_BUFFER_SHARED &&
			    v->buffer->role != HEDDLE_BUFFER_REGISTER && v->buffer->role != HEDDLE_BUFFER_SCALAR;
	int64_t n = global ? heddle_type_size(v->type) * v->width : 0;
	for (int k = 0; k < v->n_arg; k++)
		n += loaded_bytes(v->arg[k]);
	return n;
}

int64_t heddle_simplify_copies(int64_t rounds, int64_t bytes, int64_t size, bool nested)
{
	enum { AHEAD = 64, FEW = 4, MANY = 8, LONGEST = 256 };
	int64_t most = bytes > AHEAD / MANY ? AHEAD / bytes : bytes > 0 ? MANY : FEW;
	if (most > LONGEST / (size > 0 ? size : 1))
		most = LONGEST / (size > 0 ? size : 1);
	if (most < 1 || rounds == 0)
		return 1;
	if (rounds > 0 && rounds <= most)
		return rounds;
	if (nested)
		return 1;
	if (rounds < 0) /* a power of two: nvcc 13.0 takes the rounds of some such loops for a multiple of 3 or 5, and does too many */
		return (int64_t)1 << (63 - __builtin_clzll((unsigned long long)most));
	const int64_t turns = (rounds + most - 1) / most;
	return (rounds + turns - 1) / turns;
}

static bool loads_shared(const heddle_value *v)
{
	bool any = v->kind == HEDDLE_VALUE_LOAD && v->buffer->role == HEDDLE_BUFFER_SHARED;
	for (int k = 0; k < v->n_arg && !any; k++)
		any = loads_shared(v->arg[k]);
	return any;
}

int64_t heddle_simplify_near_copies(int64_t rounds, int64_t size)
{
	enum { MANY = 8, LONGEST = 1024 };
	return rounds > MANY && rounds % MANY == 0 && size <= LONGEST / MANY ? MANY : 0;
}

/* Of a loop that computes from shared memory into registers; 0: it is another. */
static int64_t near_copies(int64_t rounds, const round_work *body)
{
	const bool is = body->near && !body->stores && !body->nested && body->bytes == 0;
	return is ? heddle_simplify_near_copies(rounds, body->size) : 0;
}

static round_work copy_loops(heddle_node *node);

static void copy_loop(heddle_node *loop, round_work *body)
{
	const int64_t trips = simplify_trips(loop->value[0], loop->value[1], loop->i);
	int64_t copies = loop->loop == HEDDLE_LOOP_SERIAL ? 1 : trips;
	if (loop->loop == HEDDLE_LOOP_SERIAL && !body->apart)
		copies = near_copies(trips, body) ? near_copies(trips, body)
						  : heddle_simplify_copies(trips, body->bytes, body->size, body->nested);
	loop->copies = loop->loop == HEDDLE_LOOP_SERIAL ? (int)copies : 0;
	body->nested = copies == trips;
	body->apart = body->apart || copies != trips;
	body->bytes *= copies;
	body->size *= copies;
}

static round_work copy_loops(heddle_node *node)
{
	round_work all = {.size = node->kind == HEDDLE_NODE_BLOCK ? 0 : 1,
			  .stores = node->kind == HEDDLE_NODE_STORE && node->buffer->role != HEDDLE_BUFFER_REGISTER,
			  .apart = node->kind == HEDDLE_NODE_BARRIER || node->kind == HEDDLE_NODE_COPY || node->kind == HEDDLE_NODE_WAIT};
	for (int k = 0; k < node->n_value; k++) {
		all.bytes += loaded_bytes(node->value[k]);
		all.size += simplify_weight(node->value[k]);
		all.near = all.near || loads_shared(node->value[k]);
	}
	const int64_t asked = all.bytes;
	for (int k = 0; k < node->n_child; k++) {
		const round_work one = copy_loops(node->child[k]);
		all.bytes = node->kind == HEDDLE_NODE_IF ? most_of(all.bytes, asked + one.bytes) : all.bytes + one.bytes;
		all.size += one.size;
		all.nested = all.nested || one.nested;
		all.apart = all.apart || one.apart;
		all.near = all.near || one.near;
		all.stores = all.stores || one.stores;
	}
	if (node->kind == HEDDLE_NODE_FOR)
		copy_loop(node, &all);
	return all;
}

void simplify_copies(simplify *s)
{
	if (s->options->copies)
		copy_loops(s->launch->body);
}
