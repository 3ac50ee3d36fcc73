/* Conditions over v in a loop that runs in lockstep.
 *
 * `if (P && Q(v)) S(v)`, where P does not depend on v, becomes
 *
 *   if (P) { if (Q of all members) S in lockstep; else S of those members that take part; }
 *
 * Those that do are visited by a short loop over v; registers, whose subscripts must be constant, lend it a copy:
 *
 *   part = X; for v in 0 .. min(width, bound): part[v] = ...; X = part;
 *
 * inside of a loop that S is all of, which then goes around; or min(width - 1, bound - 1) + 1, where the bound may be too great;
 * or, where there are no vectors to copy with, by one branch for each number of members that the failed test leaves possible.
 * SPDX-License-Identifier: MIT
 */
#include "model/simplify_lanes.h"

#include <string.h>

/* ---- one comparison ------------------------------------------------------------------------------------------------------ */

/* Affine comparisons joined by AND: they hold for all members when they hold for the first and the last. */
static bool is_convex(const lanes *l, const heddle_value *c)
{
	int64_t a;
	if (!lanes_depends(l, c))
		return !lanes_has_load(c);
	if (c->kind != HEDDLE_VALUE_BINARY || lanes_has_load(c))
		return false;
	if (c->op == HEDDLE_OP_AND)
		return is_convex(l, c->arg[0]) && is_convex(l, c->arg[1]);
	if (c->op < HEDDLE_OP_LT || c->op > HEDDLE_OP_EQ || !heddle_type_is_signed(c->arg[0]->type))
		return false;
	return heddle_value_coefficient(c->arg[0], l->name, &a) && heddle_value_coefficient(c->arg[1], l->name, &a);
}

/* The comparison at its worse end, when its direction tells which that is; else at both. */
static heddle_value *for_all(lanes *l, heddle_value *c)
{
	int64_t a, b;
	if (!lanes_depends(l, c))
		return c;
	if (c->op == HEDDLE_OP_AND)
		return heddle_value_binary(l->p, HEDDLE_OP_AND, for_all(l, c->arg[0]), for_all(l, c->arg[1]));
	heddle_value_coefficient(c->arg[0], l->name, &a);
	heddle_value_coefficient(c->arg[1], l->name, &b);
	if (c->op == HEDDLE_OP_EQ && a != b)
		return heddle_value_int(l->p, HEDDLE_BOOL, 0); /* of several members for one at most */
	if (c->op == HEDDLE_OP_EQ)
		return heddle_value_binary(l->p, HEDDLE_OP_AND, lanes_at(l, c, 0), lanes_at(l, c, l->width - 1));
	bool less = c->op == HEDDLE_OP_LT || c->op == HEDDLE_OP_LE;
	return lanes_at(l, c, (a > b) == less ? l->width - 1 : 0);
}

/* 1: a member takes part when a greater one does not; -1: the other way around; 0: neither is known. */
static int direction(const lanes *l, const heddle_value *c)
{
	int64_t a, b;
	if (c->kind != HEDDLE_VALUE_BINARY)
		return 0;
	if (c->op == HEDDLE_OP_AND) {
		int first = direction(l, c->arg[0]), second = direction(l, c->arg[1]);
		return first == second ? first : 0;
	}
	if (c->op < HEDDLE_OP_LT || c->op > HEDDLE_OP_GE || !is_convex(l, c) || !heddle_value_coefficient(c->arg[0], l->name, &a) ||
	    !heddle_value_coefficient(c->arg[1], l->name, &b) || a == b)
		return 0;
	bool less = c->op == HEDDLE_OP_LT || c->op == HEDDLE_OP_LE;
	return (a > b) == less ? 1 : -1;
}

/* Is it so small that where a tile begins can be added?  Sizes that are counted with 32 bits end 65,535 below the greatest (model/generate.c). */
static bool is_within_tile(const lanes *l, const heddle_value *v)
{
	enum { TILE = 1 << 15 };
	const heddle_range range = heddle_ranges_of(l->s->ranges, v);
	return range.lo >= 0 && range.hi < TILE;
}

/* a - b + c with the constants together; NULL where it could overflow. */
static heddle_value *difference(lanes *l, heddle_value *a, heddle_value *b, int64_t c)
{
	heddle_program *p = l->p;
	if (b->kind == HEDDLE_VALUE_BINARY && (b->op == HEDDLE_OP_ADD || b->op == HEDDLE_OP_SUB) &&
	    b->arg[1]->kind == HEDDLE_VALUE_INT) {
		c += b->op == HEDDLE_OP_ADD ? -b->arg[1]->i : b->arg[1]->i;
		b = b->arg[0];
	}
	if (heddle_value_is_int(b, 0) && c == 0) /* it is computed anyway */
		return a;
	heddle_value *room = heddle_value_binary(p, HEDDLE_OP_SUB, a, b);
	heddle_value *sum = heddle_value_binary(p, HEDDLE_OP_ADD, room, heddle_value_int(p, room->type, c));
	if (!heddle_ranges_overflow(l->s->ranges, room) && !heddle_ranges_overflow(l->s->ranges, sum))
		return sum;
	while (a->kind == HEDDLE_VALUE_BINARY && a->op == HEDDLE_OP_SUB && (heddle_value_is_int(b, 0) || is_within_tile(l, b))) {
		b = heddle_value_is_int(b, 0) ? a->arg[1] : heddle_value_binary(p, HEDDLE_OP_ADD, a->arg[1], b); /* u - w - b is u - (w + b) */
		a = a->arg[0];
		room = heddle_value_binary(p, HEDDLE_OP_SUB, a, b);
		sum = heddle_value_binary(p, HEDDLE_OP_ADD, room, heddle_value_int(p, room->type, c));
	}
	/* Of two that are not negative, and do not overflow themselves, the difference is no greater than the first. */
	int64_t most = heddle_ranges_of(l->s->ranges, a).hi;
	bool fits = room->type == HEDDLE_INT32 && heddle_ranges_natural(l->s->ranges, a) && heddle_ranges_natural(l->s->ranges, b) &&
		    most <= INT32_MAX && most + c <= INT32_MAX;
	return fits ? sum : NULL;
}

/* The members of one comparison are those below a bound (direction 1) or from a bound on (-1), which is what is returned and `more`; NULL where the
 * arithmetic could overflow. */
static heddle_value *bound_of(lanes *l, const heddle_value *c, int way, int64_t more)
{
	heddle_program *p = l->p;
	int64_t a, b, step;
	if (!way || c->op < HEDDLE_OP_LT || c->op > HEDDLE_OP_GE)
		return NULL;
	bool less = c->op == HEDDLE_OP_LT || c->op == HEDDLE_OP_LE, strict = c->op == HEDDLE_OP_LT || c->op == HEDDLE_OP_GT;
	heddle_value *low = lanes_at(l, c->arg[less ? 0 : 1], 0), *high = lanes_at(l, c->arg[less ? 1 : 0], 0);
	heddle_value_coefficient(c->arg[less ? 0 : 1], l->name, &a);
	heddle_value_coefficient(c->arg[less ? 1 : 0], l->name, &b);
	step = a - b;
	/* low + step v < high, or <= */
	bool below = step > 0;
	step = below ? step : -step;
	/* v < ceil(room / step) or floor(room / step) + 1; else v >= floor(-room / step) + 1 or ceil(-room / step) */
	heddle_value *room = difference(l, below ? high : low, below ? low : high, (strict == below ? step - 1 : step) - step * more);
	if (!room)
		return NULL;
	heddle_value *bound = step == 1 ? room
					: heddle_value_floor(p, HEDDLE_VALUE_FLOOR_DIV, room, heddle_value_int(p, room->type, step));
	return heddle_range_fits(heddle_ranges_of(l->s->ranges, bound), l->type) ? heddle_value_cast(p, l->type, bound) : NULL;
}

/* c = fixed && moving, the conjuncts that do not depend on v and those that do; NULL for none. */
static void split(lanes *l, heddle_value *c, heddle_value **fixed, heddle_value **moving)
{
	if (c->kind == HEDDLE_VALUE_BINARY && c->op == HEDDLE_OP_AND) {
		split(l, c->arg[0], fixed, moving);
		split(l, c->arg[1], fixed, moving);
		return;
	}
	heddle_value **to = lanes_depends(l, c) ? moving : fixed;
	*to = *to ? heddle_value_binary(l->p, HEDDLE_OP_AND, *to, c) : c;
}

/* ---- copies of registers for a loop over v ------------------------------------------------------------------------------- */

enum { MOST_PARTS = 8 };

/* The vector of a register array that the members of a statement touch. */
typedef struct part {
	heddle_buffer *of, *array;
	heddle_value **first; /* subscripts at v = 0 */
	int n;
	bool stored;
} part;

typedef struct parts {
	lanes *l;
	const heddle_node *statement;
	int n;
	part part[MOST_PARTS];
	bool failed;
} parts;

static bool same_subscripts(int n, heddle_value *const *a, heddle_value *const *b)
{
	for (int k = 0; k < n; k++)
		if (!heddle_value_equal(a[k], b[k]))
			return false;
	return true;
}

/* Does a loop inside of the statement change the subscripts? */
static bool changes_inside(const heddle_node *node, int n, heddle_value *const *subscript)
{
	for (int k = 0; k < n && node->kind == HEDDLE_NODE_FOR; k++)
		if (heddle_value_depends(subscript[k], node->name))
			return true;
	for (int k = 0; k < node->n_child; k++)
		if (changes_inside(node->child[k], n, subscript))
			return true;
	return false;
}

static bool any_depends(const lanes *l, int n, heddle_value *const *subscript)
{
	for (int k = 0; k < n; k++)
		if (lanes_depends(l, subscript[k]))
			return true;
	return false;
}

static void add_part(parts *ps, heddle_buffer *buffer, int n, heddle_value *const *subscript, bool stored)
{
	if (buffer->role != HEDDLE_BUFFER_REGISTER || !any_depends(ps->l, n, subscript))
		return;
	heddle_value **first = lanes_consecutive(ps->l, buffer, n, subscript);
	if (!first || changes_inside(ps->statement, n, first) || ps->n == MOST_PARTS) {
		ps->failed = true;
		return;
	}
	for (int k = 0; k < ps->n; k++)
		if (ps->part[k].of == buffer && same_subscripts(n, ps->part[k].first, first)) {
			ps->part[k].stored |= stored;
			return;
		}
	ps->part[ps->n++] = (part){buffer, NULL, first, n, stored};
}

static void find_parts_in(parts *ps, const heddle_value *v)
{
	if (v->kind == HEDDLE_VALUE_LOAD)
		add_part(ps, v->buffer, v->n_arg, v->arg, false);
	for (int k = 0; k < v->n_arg; k++)
		find_parts_in(ps, v->arg[k]);
}

static void find_parts(parts *ps, const heddle_node *node)
{
	for (int k = 0; k < node->n_value; k++)
		find_parts_in(ps, node->value[k]);
	if (node->kind == HEDDLE_NODE_STORE)
		add_part(ps, node->buffer, node->n_value - 1, node->value + 1, true);
	for (int k = 0; k < node->n_child; k++)
		find_parts(ps, node->child[k]);
}

/* Accesses to the buffer that are no part. */
static bool is_touched_elsewhere_in(const parts *ps, const heddle_buffer *buffer, const heddle_value *v)
{
	if (v->kind == HEDDLE_VALUE_LOAD && v->buffer == buffer && !any_depends(ps->l, v->n_arg, v->arg))
		return true;
	for (int k = 0; k < v->n_arg; k++)
		if (is_touched_elsewhere_in(ps, buffer, v->arg[k]))
			return true;
	return false;
}

static bool is_touched_elsewhere(const parts *ps, const heddle_buffer *buffer, const heddle_node *node)
{
	for (int k = 0; k < node->n_value; k++)
		if (is_touched_elsewhere_in(ps, buffer, node->value[k]))
			return true;
	if (node->kind == HEDDLE_NODE_STORE && node->buffer == buffer && !any_depends(ps->l, node->n_value - 1, node->value + 1))
		return true;
	if (node->kind == HEDDLE_NODE_COPY && (node->buffer == buffer || node->source == buffer))
		return true;
	for (int k = 0; k < node->n_child; k++)
		if (is_touched_elsewhere(ps, buffer, node->child[k]))
			return true;
	return false;
}

/* A copy that is stored to stands alone for its buffer. */
static bool are_apart(const parts *ps, const heddle_node *node)
{
	for (int k = 0; k < ps->n; k++) {
		for (int j = 0; j < ps->n; j++)
			if (j != k && ps->part[j].of == ps->part[k].of && (ps->part[j].stored || ps->part[k].stored))
				return false;
		if (is_touched_elsewhere(ps, ps->part[k].of, node))
			return false;
	}
	return true;
}

static const part *part_of(const parts *ps, const heddle_buffer *buffer, int n, heddle_value *const *subscript)
{
	if (buffer->role != HEDDLE_BUFFER_REGISTER || !any_depends(ps->l, n, subscript))
		return NULL;
	heddle_value **first = lanes_consecutive(ps->l, buffer, n, subscript);
	for (int k = 0; first && k < ps->n; k++)
		if (ps->part[k].of == buffer && same_subscripts(n, ps->part[k].first, first))
			return &ps->part[k];
	return NULL;
}

static heddle_value *in_part(heddle_value *v, void *user)
{
	parts *ps = user;
	const part *at = v->kind == HEDDLE_VALUE_LOAD ? part_of(ps, v->buffer, v->n_arg, v->arg) : NULL;
	if (!at)
		return v;
	heddle_value *member = heddle_value_variable(ps->l->p, ps->l->type, 1, ps->l->name);
	return heddle_value_load(ps->l->p, at->array, 1, 1, &member);
}

static heddle_node *on_parts(parts *ps, const heddle_node *node)
{
	heddle_program *p = ps->l->p;
	heddle_node *copy = simplify_node_like(p, node);
	const part *at = node->kind == HEDDLE_NODE_STORE ? part_of(ps, node->buffer, node->n_value - 1, node->value + 1) : NULL;
	for (int k = 0; k < node->n_value; k++)
		HEDDLE_PUSH(p->arena, copy->value, copy->n_value, heddle_value_map(p, node->value[k], in_part, ps));
	if (at) {
		copy->buffer = at->array;
		copy->value[1] = heddle_value_variable(p, ps->l->type, 1, ps->l->name);
		copy->n_value = 2;
	}
	for (int k = 0; k < node->n_child; k++)
		HEDDLE_PUSH(p->arena, copy->child, copy->n_child, on_parts(ps, node->child[k]));
	return copy;
}

/* ---- the members that take part ------------------------------------------------------------------------------------------- */

static heddle_node *block_of(lanes *l, const heddle_node *node)
{
	heddle_node *block = heddle_node_block(l->p);
	heddle_node *copy = simplify_node_like(l->p, node);
	*copy = *node;
	heddle_node_append(l->p, block, copy);
	return block;
}

/* for v from `from` below `to`: the block. */
static void append_loop(lanes *l, const heddle_node *block, heddle_value *from, heddle_value *to, const heddle_node *like,
			heddle_node *out)
{
	const char *name = simplify_name(l->s, l->name);
	int mark = heddle_ranges_mark(l->s->ranges);
	heddle_node *loop = heddle_node_for(l->p, HEDDLE_LOOP_SERIAL, name, from, to, 1, NULL);
	heddle_ranges_define(l->s->ranges, name, heddle_ranges_loop(l->s->ranges, loop));
	loop->child[0] = simplify_substitute(l->s, block, l->name, heddle_value_variable(l->p, l->type, 1, name));
	heddle_ranges_unwind(l->s->ranges, mark);
	loop->uniform = like->uniform || (from->kind == HEDDLE_VALUE_INT && to->kind == HEDDLE_VALUE_INT);
	loop->line = like->line;
	heddle_node_append(l->p, out, loop);
}

/* What an IF does, or the node itself, for the members of a bound; where there is none, the condition stays inside. */
static void append_bounded_loop(lanes *l, const heddle_node *node, heddle_node *out)
{
	heddle_program *p = l->p;
	heddle_value *from = heddle_value_int(p, l->type, 0), *to = heddle_value_int(p, l->type, l->width), *bound = NULL;
	bool single = node->kind == HEDDLE_NODE_IF && node->n_child == 1 && !lanes_has_load(node->value[0]);
	int way = single ? direction(l, node->value[0]) : 0;
	/* what is one less fits where the bound itself may not */
	for (int more = 0; more < 2 && way && !bound; more++) {
		bound = bound_of(l, node->value[0], way, more);
		heddle_value **end = way > 0 ? &to : &from;
		heddle_value *limit = heddle_value_int(p, l->type, (*end)->i - more);
		if (bound)
			*end = heddle_value_binary(p, way > 0 ? HEDDLE_OP_MIN : HEDDLE_OP_MAX, limit, bound);
		if (bound && more && way < 0)
			*end = heddle_value_binary(p, HEDDLE_OP_MIN, *end, heddle_value_int(p, l->type, l->width - 1));
		if (bound && more)
			*end = heddle_value_binary(p, HEDDLE_OP_ADD, *end, heddle_value_int(p, l->type, 1));
	}
	append_loop(l, bound ? node->child[0] : block_of(l, node), from, to, node, out);
}

bool simplify_reads(const heddle_value *v, const heddle_buffer *buffer)
{
	if (v->kind == HEDDLE_VALUE_LOAD && v->buffer == buffer)
		return true;
	for (int k = 0; k < v->n_arg; k++)
		if (simplify_reads(v->arg[k], buffer))
			return true;
	return false;
}

/* The first access in the order of the text: 1 a store, 0 a load, -1 there is none. */
static int begins_with_store(const heddle_node *node, const heddle_buffer *buffer)
{
	for (int k = 0; k < node->n_value; k++)
		if (simplify_reads(node->value[k], buffer))
			return 0;
	if (node->kind == HEDDLE_NODE_STORE && node->buffer == buffer)
		return 1;
	for (int k = 0; k < node->n_child; k++) {
		const int first = begins_with_store(node->child[k], buffer);
		if (first >= 0)
			return first;
	}
	return -1;
}

/* By a loop; registers in copies.  False, and nothing is done, when registers must be indexed by constants. */
static bool by_loop(lanes *l, const heddle_node *node, heddle_node *out)
{
	heddle_program *p = l->p;
	parts ps = {.l = l, .statement = node};
	if (!lanes_touch_registers(l, node)) {
		append_bounded_loop(l, node, out);
		return true;
	}
	if (!l->arithmetic)
		return false;
	find_parts(&ps, node);
	if (ps.failed || !are_apart(&ps, node))
		return false;
	heddle_node *scope = heddle_node_block(p);
	heddle_value *zero = heddle_value_int(p, HEDDLE_INT32, 0);
	for (int k = 0; k < ps.n; k++) {
		part *at = &ps.part[k];
		const char *name = heddle_arena_printf(p->arena, "%s_part", at->of->of ? at->of->of : at->of->name);
		at->array = heddle_buffer_new(p, simplify_name(l->s, name), HEDDLE_BUFFER_REGISTER, at->of->type, 1);
		at->array->extent[0] = heddle_value_int(p, HEDDLE_INT64, l->width);
		at->array->align = heddle_type_size(at->of->type) * l->width;
		at->array->of = at->of->of;
		heddle_node_append(p, scope, heddle_node_declare(p, at->array));
		HEDDLE_PUSH(p->arena, l->s->copied, l->s->n_copied, ((copied_buffer){at->of, l->width, begins_with_store(node, at->of) == 1}));
		heddle_value *whole = heddle_value_load(p, at->of, l->width, at->n, at->first);
		heddle_node_append(p, scope, heddle_node_store(p, at->array, 1, &zero, whole));
	}
	append_bounded_loop(l, on_parts(&ps, node), scope);
	for (int k = 0; k < ps.n; k++) {
		const part *at = &ps.part[k];
		heddle_value *whole = heddle_value_load(p, at->array, l->width, 1, &zero);
		if (at->stored)
			heddle_node_append(p, scope, heddle_node_store(p, at->of, at->n, at->first, whole));
	}
	/* where no member takes part the registers may have no value yet */
	const int way = node->kind == HEDDLE_NODE_IF && node->n_child == 1 && !lanes_has_load(node->value[0]) ? direction(l, node->value[0]) : 0;
	heddle_node *any = way ? heddle_node_if(p, lanes_at(l, node->value[0], way > 0 ? 0 : l->width - 1), scope, NULL) : scope;
	any->uniform = node->uniform;
	any->line = node->line;
	heddle_node_append(p, out, any);
	return true;
}

static void append_members(lanes *l, const heddle_node *block, int from, int to, heddle_node *out)
{
	for (int m = from; m < to; m++) {
		heddle_node *body = simplify_substitute(l->s, block, l->name, heddle_value_int(l->p, l->type, m));
		for (int k = 0; k < body->n_child; k++)
			heddle_node_append(l->p, out, body->child[k]);
	}
}

static void append_branch(lanes *l, const heddle_node *node, heddle_value *condition, int from, int to, heddle_node *out)
{
	heddle_node *then = heddle_node_block(l->p);
	append_members(l, node->child[0], from, to, then);
	heddle_node *test = heddle_node_if(l->p, condition, then, NULL);
	test->uniform = node->uniform;
	test->line = node->line;
	heddle_node_append(l->p, out, test);
}

static bool may_be(heddle_range range, int64_t b)
{
	return b >= range.lo && b <= range.hi && (range.modulus == 0 || b % range.modulus == range.residue % range.modulus);
}

/* Where the condition does not hold for all members it holds for none: no number in between has the remainder that is known of the bound. */
static bool holds_for_none_or_all(lanes *l, const heddle_node *node)
{
	const heddle_value *c = node->kind == HEDDLE_NODE_IF && node->n_child == 1 ? node->value[0] : NULL;
	const int way = c ? direction(l, c) : 0;
	heddle_value *bound = way ? bound_of(l, c, way, 0) : NULL;
	if (!bound)
		return false;
	const heddle_range range = heddle_ranges_of(l->s->ranges, bound);
	for (int b = 1; b < l->width; b++)
		if (may_be(range, b))
			return false;
	return true;
}

/* By branches.  The members are 0 .. b (or b .. width); `all` failed: 0 < b < width.  Members whose b cannot differ share a
 * branch. */
static void by_branches(lanes *l, const heddle_node *node, bool all_failed, heddle_node *out)
{
	const heddle_value *c = node->kind == HEDDLE_NODE_IF ? node->value[0] : NULL;
	int way = c && node->n_child == 1 ? direction(l, c) : 0;
	heddle_value *bound = way ? bound_of(l, c, way, 0) : NULL;
	if (!c || node->n_child != 1 || (!way && !all_failed)) {
		append_members(l, block_of(l, node), 0, l->width, out);
		return;
	}
	heddle_range range = bound ? heddle_ranges_of(l->s->ranges, bound) : heddle_range_between(0, l->width);
	int last = all_failed && way ? l->width - 1 : l->width, done = 0;
	for (int n = 1; n <= last; n++) { /* n members take part */
		int64_t b = way < 0 ? l->width - n : n;
		bool possible = may_be(range, b);
		/* More members than `width` is as good as `width`. */
		if (n == l->width)
			possible = true;
		if (bound && !possible)
			continue;
		int from = way < 0 ? l->width - n : done, to = way < 0 ? l->width - done : n;
		heddle_value *condition = lanes_at(l, node->value[0], way < 0 ? from : to - 1);
		append_branch(l, node, condition, from, to, out);
		done = n;
	}
}

/* The loop that is all of what an IF on v does, and goes the same rounds whatever it is asked; NULL: it does something else. */
static const heddle_node *loop_inside(const heddle_node *node)
{
	const heddle_node *inner = node->kind == HEDDLE_NODE_IF && node->n_child == 1 ? node->child[0] : NULL;
	while (inner && inner->kind == HEDDLE_NODE_BLOCK)
		inner = inner->n_child == 1 ? inner->child[0] : NULL;
	const bool fixed = inner && inner->kind == HEDDLE_NODE_FOR && inner->value[0]->kind == HEDDLE_VALUE_INT &&
			   inner->value[1]->kind == HEDDLE_VALUE_INT && !heddle_value_depends(node->value[0], inner->name);
	return fixed ? inner : NULL;
}

/* The members of `node` that take part; `all_failed`: not all of them do.  A loop inside goes around: members are parallel, and what is copied for
 * them is then that of one of its rounds. */
static void emit_partly(lanes *l, const heddle_node *node, bool all_failed, heddle_node *out)
{
	const heddle_node *loop = l->arithmetic && lanes_touch_registers(l, node) ? loop_inside(node) : NULL;
	if (loop) {
		heddle_node *around = simplify_node_like(l->p, loop), *test = simplify_node_like(l->p, node);
		*around = *loop;
		*test = *node;
		test->child = HEDDLE_NEW_ARRAY(l->p->arena, heddle_node *, 1);
		test->child[0] = loop->child[0];
		around->child = HEDDLE_NEW_ARRAY(l->p->arena, heddle_node *, 1);
		around->child[0] = heddle_node_block(l->p);
		around->loop = loop->loop == HEDDLE_LOOP_VECTOR ? HEDDLE_LOOP_UNROLL : loop->loop;
		const int mark = heddle_ranges_mark(l->s->ranges);
		heddle_ranges_define(l->s->ranges, loop->name, heddle_ranges_loop(l->s->ranges, loop));
		emit_partly(l, test, all_failed, around->child[0]);
		heddle_ranges_unwind(l->s->ranges, mark);
		heddle_node_append(l->p, out, around);
		return;
	}
	if (all_failed && holds_for_none_or_all(l, node))
		return;
	if (!by_loop(l, node, out))
		by_branches(l, node, all_failed, out);
}

/* ---- statements ---------------------------------------------------------------------------------------------------------- */

/* The part of `node` under its condition over v. */
static void emit_moving(lanes *l, const heddle_node *node, heddle_node *out)
{
	bool any = l->any;
	heddle_node *partly = heddle_node_block(l->p);
	if (!is_convex(l, node->value[0])) {
		emit_partly(l, node, false, out);
		return;
	}
	heddle_node *then = heddle_node_block(l->p);
	l->any = false;
	lanes_emit_children(l, node->child[0], then);
	if (!l->any) { /* nothing is gained by asking first */
		emit_partly(l, node, false, out);
		l->any = any;
		return;
	}
	l->any = true;
	emit_partly(l, node, true, partly);
	heddle_node *test = heddle_node_if(l->p, for_all(l, node->value[0]), then, partly->n_child ? partly : NULL);
	test->uniform = node->uniform;
	test->line = node->line;
	heddle_node_append(l->p, out, test);
}

static void emit_fixed(lanes *l, const heddle_node *node, heddle_node *out)
{
	heddle_node *then = heddle_node_block(l->p), *otherwise = heddle_node_block(l->p);
	lanes_emit_children(l, node->child[0], then);
	if (node->n_child > 1)
		lanes_emit_children(l, node->child[1], otherwise);
	heddle_node *test = heddle_node_if(l->p, node->value[0], then, node->n_child > 1 ? otherwise : NULL);
	test->uniform = node->uniform;
	test->line = node->line;
	heddle_node_append(l->p, out, test);
}

/* Conditions right inside of a condition over v that do not depend on v themselves are asked once for all members: added to `fixed`.
 * What is left of the block. */
static heddle_node *lift_fixed(lanes *l, heddle_node *node, heddle_value **fixed, bool *uniform)
{
	heddle_node *inner = node;
	while (inner->kind == HEDDLE_NODE_BLOCK && inner->n_child == 1)
		inner = inner->child[0];
	if (inner->kind != HEDDLE_NODE_IF || inner->n_child != 1 || lanes_has_load(inner->value[0]))
		return node;
	heddle_value *here = NULL, *moving = NULL;
	split(l, inner->value[0], &here, &moving);
	heddle_node *body = lift_fixed(l, inner->child[0], fixed, uniform);
	if (here) {
		*fixed = *fixed ? heddle_value_binary(l->p, HEDDLE_OP_AND, *fixed, here) : here;
		*uniform = *uniform && inner->uniform;
	}
	if (!moving)
		return body;
	if (!here && body == inner->child[0])
		return node;
	heddle_node *rest = simplify_node_like(l->p, inner);
	HEDDLE_PUSH(l->p->arena, rest->value, rest->n_value, moving);
	HEDDLE_PUSH(l->p->arena, rest->child, rest->n_child, body);
	return block_of(l, rest);
}

void lanes_emit_if(lanes *l, const heddle_node *node, heddle_node *out)
{
	heddle_value *fixed = NULL, *moving = NULL;
	if (!lanes_depends(l, node->value[0])) {
		emit_fixed(l, node, out);
		return;
	}
	split(l, node->value[0], &fixed, &moving);
	bool uniform = node->uniform;
	heddle_node *body = node->n_child == 1 ? lift_fixed(l, node->child[0], &fixed, &uniform) : NULL;
	if (!fixed || node->n_child > 1) {
		emit_moving(l, node, out);
		return;
	}
	heddle_node *rest = simplify_node_like(l->p, node), *then = heddle_node_block(l->p);
	HEDDLE_PUSH(l->p->arena, rest->value, rest->n_value, moving);
	HEDDLE_PUSH(l->p->arena, rest->child, rest->n_child, body);
	emit_moving(l, rest, then);
	heddle_node *test = heddle_node_if(l->p, fixed, then, NULL);
	test->uniform = uniform;
	test->line = node->line;
	heddle_node_append(l->p, out, test);
}

/* The AND of all conditions over v of selections that surely are evaluated; false when one of them is not convex. */
static bool collect_conditions(lanes *l, const heddle_value *v, heddle_value **all)
{
	if (!lanes_depends(l, v))
		return true;
	if (v->kind == HEDDLE_VALUE_SELECT && lanes_depends(l, v->arg[0]) && !lanes_has_load(v->arg[0])) {
		if (!is_convex(l, v->arg[0]))
			return false;
		heddle_value *c = for_all(l, v->arg[0]);
		*all = *all ? heddle_value_binary(l->p, HEDDLE_OP_AND, *all, c) : c;
		return collect_conditions(l, v->arg[1], all);
	}
	for (int k = 0; k < v->n_arg; k++)
		if (!collect_conditions(l, v->arg[k], all))
			return false;
	return true;
}

static heddle_value *settle(heddle_value *v, void *user)
{
	lanes *l = user;
	if (v->kind == HEDDLE_VALUE_SELECT && lanes_depends(l, v->arg[0]) && !lanes_has_load(v->arg[0]))
		return v->arg[1];
	return v;
}

/* The selection over v, where there is one only; `*n`: how many there are. */
static const heddle_value *only_selection(const lanes *l, const heddle_value *v, int *n)
{
	const heddle_value *found = v->kind == HEDDLE_VALUE_SELECT && lanes_depends(l, v->arg[0]) ? v : NULL;
	*n += found != NULL;
	for (int k = 0; k < v->n_arg; k++) {
		const heddle_value *inside = only_selection(l, v->arg[k], n);
		found = found ? found : inside;
	}
	return *n == 1 ? found : NULL;
}

/* What holds where no member chooses the first value of the only selection over v, which asks one comparison; NULL: that is not known, or
 * cannot be. */
static heddle_value *none_chooses(lanes *l, const heddle_value *v)
{
	int n = 0;
	const heddle_value *selection = only_selection(l, v, &n);
	const int way = selection ? direction(l, selection->arg[0]) : 0;
	if (!way || lanes_has_load(selection->arg[0]))
		return NULL;
	heddle_value *any = lanes_at(l, selection->arg[0], way > 0 ? 0 : l->width - 1), *none = simplify_opposite(l->p, any);
	none = none ? none : heddle_value_unary(l->p, HEDDLE_OP_NOT, any);
	return heddle_ranges_decide(l->s->ranges, none) == 0 ? NULL : none;
}

static heddle_value *settle_otherwise(heddle_value *v, void *user)
{
	lanes *l = user;
	return v->kind == HEDDLE_VALUE_SELECT && lanes_depends(l, v->arg[0]) ? v->arg[2] : v;
}

/* The store with another value. */
static heddle_node *with_value(lanes *l, const heddle_node *node, heddle_value *value)
{
	heddle_node *other = simplify_node_like(l->p, node);
	for (int k = 0; k < node->n_value; k++)
		HEDDLE_PUSH(l->p->arena, other->value, other->n_value, k ? node->value[k] : value);
	return other;
}

/* Selections over v that a few members only must ask for: vectors of the others' elements are built without. */
static bool few_ask(lanes *l, const heddle_value *v)
{
	enum { FEW = 2 };
	if (!lanes_depends(l, v))
		return true;
	if (v->kind == HEDDLE_VALUE_SELECT && lanes_depends(l, v->arg[0])) {
		heddle_value *fixed = NULL, *moving = NULL;
		int asked = 0;
		split(l, v->arg[0], &fixed, &moving);
		for (int m = 0; m < l->width; m++)
			asked += heddle_ranges_decide(l->s->ranges, lanes_at(l, moving, m)) != 1;
		if (asked > FEW)
			return false;
	}
	for (int k = 0; k < v->n_arg; k++)
		if (!few_ask(l, v->arg[k]))
			return false;
	return true;
}

/* f && m ? a : b is f ? (m ? a : b) : b, and f is asked once for all members. */
static heddle_value *asked_apart(heddle_value *v, void *user)
{
	lanes *l = user;
	heddle_value *fixed = NULL, *moving = NULL;
	if (v->kind != HEDDLE_VALUE_SELECT || !lanes_depends(l, v->arg[0]))
		return v;
	split(l, v->arg[0], &fixed, &moving);
	return fixed ? heddle_value_select(l->p, fixed, heddle_value_select(l->p, moving, v->arg[1], v->arg[2]), v->arg[2]) : v;
}

/* The store of members some of which choose another value. */
static void emit_choosing(lanes *l, const heddle_node *node, heddle_node *out)
{
	if (!l->arithmetic || !few_ask(l, node->value[0])) {
		emit_partly(l, node, false, out);
		return;
	}
	lanes_emit_plain_store(l, with_value(l, node, heddle_value_map(l->p, node->value[0], asked_apart, l)), out);
}

void lanes_emit_store(lanes *l, const heddle_node *node, heddle_node *out)
{
	heddle_value *all = NULL;
	if (!collect_conditions(l, node->value[0], &all) || !all || lanes_store_in_one_element(l, node)) {
		lanes_emit_plain_store(l, node, out);
		return;
	}
	heddle_node *inside = heddle_node_block(l->p), *partly = heddle_node_block(l->p);
	bool any = l->any;
	l->any = false;
	lanes_emit_plain_store(l, with_value(l, node, heddle_value_map(l->p, node->value[0], settle, l)), inside);
	if (!l->any) { /* nothing is gained by asking first */
		emit_partly(l, node, false, out);
		l->any = any;
		return;
	}
	emit_choosing(l, node, partly);
	heddle_value *none = none_chooses(l, node->value[0]);
	if (none) {
		heddle_node *outside = heddle_node_block(l->p), *rest = partly;
		lanes_emit_plain_store(l, with_value(l, node, heddle_value_map(l->p, node->value[0], settle_otherwise, l)), outside);
		partly = heddle_node_block(l->p);
		heddle_node_append(l->p, partly, heddle_node_if(l->p, none, outside, rest));
	}
	heddle_node *test = heddle_node_if(l->p, all, inside, partly);
	test->line = node->line;
	heddle_node_append(l->p, out, test);
}

/* ---- copies of what was never stored ---------------------------------------------------------------------------------------- */

/* Does the store go through the loop: is one of its subscripts the loop's variable?  Registers are indexed so by rounds only: those
 * that the loop leaves out nothing uses, unless it gives them values first (`begun`). */
static bool stores_each(const heddle_node *loop, const heddle_buffer *buffer)
{
	const heddle_node *node = loop;
	while (node->kind != HEDDLE_NODE_STORE && node->n_child == 1 && node->kind != HEDDLE_NODE_IF)
		node = node->child[0];
	for (int k = 1; k < node->n_value && node->kind == HEDDLE_NODE_STORE && node->buffer == buffer; k++)
		if (node->value[k]->kind == HEDDLE_VALUE_VARIABLE && !strcmp(node->value[k]->name, loop->name))
			return true;
	return false;
}

/* The first access in the order of the text: 1 a store that surely happens, 0 anything else, -1 there is none. */
static int starts_with_store(const heddle_node *node, const heddle_buffer *buffer, bool surely)
{
	for (int k = 0; k < node->n_value; k++)
		if (simplify_reads(node->value[k], buffer))
			return 0;
	if (node->kind == HEDDLE_NODE_STORE && node->buffer == buffer)
		return surely;
	if (node->kind == HEDDLE_NODE_IF)
		surely = false;
	if (node->kind == HEDDLE_NODE_FOR && (node->value[0]->kind != HEDDLE_VALUE_INT || node->value[1]->kind != HEDDLE_VALUE_INT))
		surely = surely && stores_each(node, buffer);
	for (int k = 0; k < node->n_child; k++) {
		int first = starts_with_store(node->child[k], buffer, surely);
		if (first >= 0)
			return first;
	}
	return -1;
}

/* X = 0, in vectors. */
static void append_clear(simplify *s, const copied_buffer *c, heddle_node *out)
{
	heddle_program *p = s->p;
	heddle_buffer *b = c->buffer;
	heddle_value **subscript = HEDDLE_NEW_ARRAY(p->arena, heddle_value *, b->rank), *zero = heddle_value_int(p, HEDDLE_INT32, 0);
	int64_t last = b->extent[b->rank - 1]->i;
	int width = last % c->width ? 1 : c->width;
	const char **name = HEDDLE_NEW_ARRAY(p->arena, const char *, b->rank);
	for (int k = 0; k < b->rank; k++) {
		name[k] = simplify_name(s, "i");
		subscript[k] = heddle_value_variable(p, HEDDLE_INT32, 1, name[k]);
	}
	subscript[b->rank - 1] = heddle_value_binary(p, HEDDLE_OP_MUL, subscript[b->rank - 1],
						     heddle_value_int(p, HEDDLE_INT32, width));
	heddle_value *nothing = heddle_type_is_float(b->type) ? heddle_value_float(p, b->type, 0)
							      : heddle_value_int(p, b->type, 0);
	heddle_node *body = heddle_node_store(p, b, b->rank, subscript,
					      width > 1 ? heddle_value_splat(p, nothing, width) : nothing);
	for (int k = b->rank - 1; k >= 0; k--) {
		int64_t n = k == b->rank - 1 ? last / width : b->extent[k]->i;
		body = heddle_node_for(p, HEDDLE_LOOP_UNROLL, name[k], zero, heddle_value_int(p, HEDDLE_INT32, n), 1, body);
		body->uniform = true;
	}
	heddle_node_append(p, out, body);
}

static void clear_in(simplify *s, heddle_node *block)
{
	for (int k = 0; k < block->n_child; k++)
		clear_in(s, block->child[k]);
	if (block->kind != HEDDLE_NODE_BLOCK)
		return;
	heddle_node *new = heddle_node_block(s->p);
	for (int k = 0; k < block->n_child; k++) {
		const heddle_node *child = block->child[k];
		heddle_node_append(s->p, new, block->child[k]);
		if (child->kind != HEDDLE_NODE_DECLARE || !child->buffer->rank)
			continue;
		heddle_node rest = *block;
		rest.child = block->child + k + 1;
		rest.n_child = block->n_child - k - 1;
		const copied_buffer *copied = NULL;
		bool begun = false;
		for (int c = 0; c < s->n_copied; c++)
			if (s->copied[c].buffer == child->buffer) {
				copied = copied ? copied : &s->copied[c];
				begun = begun || s->copied[c].begun;
			}
		if (copied && (begun || !starts_with_store(&rest, child->buffer, true)))
			append_clear(s, copied, new);
	}
	block->child = new->child;
	block->n_child = new->n_child;
}

void lanes_clear_copied(simplify *s)
{
	if (s->n_copied)
		clear_in(s, s->launch->body);
}
