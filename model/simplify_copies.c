/* Of how many copies of its body a loop is made that is left: said in the text, or compilers unroll as they like, some until a
 * thread has all registers.  Loads of global memory are what copies are for: those of a few are under way together.  What is
 * computed from shared memory into registers waits for nothing else, so there the loop's own instructions count.
 * SPDX-License-Identifier: MIT
 */
#include "model/simplify_parts.h"

enum { AHEAD = 64, MOST_AHEAD = 256, MOST_NAMES = 64 };

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
	const bool global = v->kind == HEDDLE_VALUE_LOAD && simplify_is_global(v->buffer);
	int64_t n = global ? heddle_type_size(v->type) * v->width : 0;
	for (int k = 0; k < v->n_arg; k++)
		n += loaded_bytes(v->arg[k]);
	return n;
}

/* The loads in it that one of the names decides about. */
static int64_t moving_loads(const heddle_value *v, const char *const *name, int n)
{
	int64_t bytes = 0;
	bool moves = false;
	for (int k = 0; k < n && v->kind == HEDDLE_VALUE_LOAD && !moves; k++)
		moves = heddle_value_depends(v, name[k]);
	if (moves)
		return loaded_bytes(v);
	for (int k = 0; k < v->n_arg; k++)
		bytes += moving_loads(v->arg[k], name, n);
	return bytes;
}

int64_t heddle_simplify_ahead(double in_flight, double threads)
{
	const double share = threads > 0 ? in_flight / threads : 0;
	return share > MOST_AHEAD ? MOST_AHEAD : share > AHEAD ? (int64_t)share : AHEAD;
}

int64_t heddle_simplify_copies(int64_t rounds, int64_t bytes, int64_t size, bool nested, int64_t ahead)
{
	enum { FEW = 4, MANY = 8, LEAST = AHEAD / MANY, LONGEST = 256, SHORT = 32 };
	if (rounds > 0 && rounds <= SHORT) /* over before it matters */
		ahead = AHEAD;
	int64_t most = bytes > LEAST ? ahead / bytes : bytes > 0 ? MANY : FEW;
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

static round_work copy_loops(heddle_node *node, int64_t ahead);

/* Bytes that a round loads which its number, or one of the `n` names that depend on it, decides about: others are loaded once. */
static int64_t moving_bytes(const heddle_node *node, const char **name, int *n)
{
	int64_t bytes = 0, most = 0;
	bool moves = false;
	for (int k = 0; k < node->n_value; k++) {
		bytes += moving_loads(node->value[k], name, *n);
		for (int i = 0; i < *n && !moves; i++)
			moves = heddle_value_depends(node->value[k], name[i]);
	}
	if (node->kind == HEDDLE_NODE_LET && moves && *n < MOST_NAMES)
		name[(*n)++] = node->name;
	for (int k = 0; k < node->n_child; k++) {
		const int64_t one = moving_bytes(node->child[k], name, n);
		most = node->kind == HEDDLE_NODE_IF ? most_of(most, one) : most + one;
	}
	return bytes + most;
}

static bool guards_loads(const heddle_node *node, bool guarded)
{
	bool any = false;
	for (int k = 0; k < node->n_value && guarded && !any; k++)
		any = loaded_bytes(node->value[k]) > 0;
	for (int k = 0; k < node->n_child && !any; k++)
		any = guards_loads(node->child[k], guarded || node->kind == HEDDLE_NODE_IF);
	return any;
}

static void copy_loop(heddle_node *loop, round_work *body, int64_t ahead)
{
	const char *name[MOST_NAMES] = {loop->name};
	int n = 1;
	if (!heddle_node_find(loop->child[0], HEDDLE_NODE_FOR))
		body->bytes = moving_bytes(loop->child[0], name, &n);
	if (guards_loads(loop->child[0], false)) /* conditions keep loads of several rounds apart */
		ahead = AHEAD;

	const int64_t trips = simplify_trips(loop->value[0], loop->value[1], loop->i);
	int64_t copies = loop->loop == HEDDLE_LOOP_SERIAL ? 1 : trips;
	if (loop->loop == HEDDLE_LOOP_SERIAL && !body->apart)
		copies = near_copies(trips, body) ? near_copies(trips, body)
						  : heddle_simplify_copies(trips, body->bytes, body->size, body->nested, ahead);
	loop->copies = loop->loop == HEDDLE_LOOP_SERIAL ? (int)copies : 0;
	body->nested = copies == trips;
	body->apart = body->apart || copies != trips;
	body->bytes *= copies;
	body->size *= copies;
}

static round_work copy_loops(heddle_node *node, int64_t ahead)
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
		const round_work one = copy_loops(node->child[k], ahead);
		all.bytes = node->kind == HEDDLE_NODE_IF ? most_of(all.bytes, asked + one.bytes) : all.bytes + one.bytes;
		all.size += one.size;
		all.nested = all.nested || one.nested;
		all.apart = all.apart || one.apart;
		all.near = all.near || one.near;
		all.stores = all.stores || one.stores;
	}
	if (node->kind == HEDDLE_NODE_FOR)
		copy_loop(node, &all, ahead);
	return all;
}

void simplify_copies(simplify *s)
{
	const heddle_value *grid = s->launch->grid;
	const double threads = grid->kind == HEDDLE_VALUE_INT ? (double)grid->i * s->launch->threads : 0;
	if (s->options->copies)
		copy_loops(s->launch->body, heddle_simplify_ahead(s->options->in_flight, threads));
}
