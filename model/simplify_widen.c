/* simplify: scalar loads of neighbouring elements of memory become one vector load.
 *
 * Where statements in a row surely load X[i], X[i + 1], ... of a shared or global array, nothing is stored to it in between, and
 * the first address is a multiple of the whole vector, there is one load and its members are named:
 *
 *   let v = X[i : 4]; ... extract(v, 0) ... extract(v, 1) ...
 *
 * Branches between them, and those that follow, take from the vector what they read of it, too, where nothing there is stored to the array.
 *
 * Vector loops make most vectors; this is for the second operand of a product, whose own vector loop was unrolled inside the
 * first one's, and for what a thread's rows have one value each of.  A block of one thread has vectors to compute with, which
 * scalars of global memory are multiplied into as they are.
 * SPDX-License-Identifier: MIT
 */
#include "model/simplify_parts.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_LOADS = 512 };

typedef struct narrow_load {
	heddle_value *load, *base; /* last subscript = base + offset; base NULL: 0 */
	int64_t offset;
	int at, last;	    /* children of the block where it stands first and last */
	int stores;	    /* to its buffer, in the stretch before it */
	const char *vector; /* the let it comes from; NULL: none */
	heddle_value *whole;
	int member;
} narrow_load;

typedef struct widener {
	simplify *s;
	int n;
	narrow_load *load; /* [MOST_LOADS] */
	const heddle_node *block;
	int from;
} widener;

static int stores_before(const widener *w, const heddle_buffer *buffer, int at)
{
	int n = 0;
	for (int k = w->from; k < at; k++)
		n += simplify_stores_to(w->block->child[k], buffer);
	return n;
}

static bool has_pure_subscripts(const heddle_value *load)
{
	for (int k = 0; k < load->n_arg; k++)
		if (!simplify_is_pure(load->arg[k]))
			return false;
	return true;
}

static bool is_memory(const widener *w, const heddle_buffer *buffer)
{
	if (buffer->role == HEDDLE_BUFFER_REGISTER || buffer->role == HEDDLE_BUFFER_SCALAR)
		return false;
	return buffer->role == HEDDLE_BUFFER_SHARED || w->s->launch->threads > 1;
}

/* Are elements whose last subscripts follow each other neighbours in memory, whatever strides the caller gives? */
static bool has_rows(const heddle_value *load)
{
	const heddle_buffer *buffer = load->buffer;
	return !buffer->stride || (load->n_arg == buffer->rank && heddle_value_is_int(buffer->stride[buffer->rank - 1], 1));
}

static bool is_narrow_load(const widener *w, const heddle_value *v)
{
	return v->kind == HEDDLE_VALUE_LOAD && v->width == 1 && v->n_arg > 0 && is_memory(w, v->buffer) && v->buffer->width == 1 &&
	       v->type != HEDDLE_BOOL && has_pure_subscripts(v) && has_rows(v);
}

/* ---- addresses as sums of products ------------------------------------------------------------------------------------------------------- */

enum { MOST_TERMS = 48, MOST_ATOMS = 4 };

typedef struct term {
	int64_t factor;
	int n;
	const heddle_value *atom[MOST_ATOMS];
} term;

typedef struct sum {
	int n;
	term of[MOST_TERMS];
} sum;

static bool has_atom(const term *t, const heddle_value *atom, int times)
{
	for (int k = 0; k < t->n; k++)
		times -= heddle_value_equal(t->atom[k], atom);
	return times <= 0;
}

static bool same_atoms(const term *a, const term *b)
{
	bool same = a->n == b->n;
	for (int k = 0; k < a->n && same; k++) {
		int times = 0;
		for (int j = 0; j < a->n; j++)
			times += heddle_value_equal(a->atom[j], a->atom[k]);
		same = has_atom(b, a->atom[k], times);
	}
	return same;
}

static bool add_term(sum *to, const term *t)
{
	for (int k = 0; k < to->n; k++)
		if (same_atoms(&to->of[k], t))
			return !__builtin_add_overflow(to->of[k].factor, t->factor, &to->of[k].factor);
	if (to->n == MOST_TERMS)
		return false;
	to->of[to->n++] = *t;
	return true;
}

/* Adds factor * v; false: it has too many terms. */
static bool expand(const heddle_value *v, int64_t factor, sum *to)
{
	sum a = {.n = 0}, b = {.n = 0};
	const bool binary = v->kind == HEDDLE_VALUE_BINARY;
	if (v->kind == HEDDLE_VALUE_CAST && !heddle_type_is_float(v->arg[0]->type))
		return expand(v->arg[0], factor, to);
	if (binary && (v->op == HEDDLE_OP_ADD || v->op == HEDDLE_OP_SUB))
		return expand(v->arg[0], factor, to) && expand(v->arg[1], v->op == HEDDLE_OP_ADD ? factor : -factor, to);
	if (!binary || v->op != HEDDLE_OP_MUL) {
		term one = {.factor = factor, .n = v->kind != HEDDLE_VALUE_INT, .atom = {v}};
		return (v->kind != HEDDLE_VALUE_INT || !__builtin_mul_overflow(factor, v->i, &one.factor)) && add_term(to, &one);
	}
	if (!expand(v->arg[0], factor, &a) || !expand(v->arg[1], 1, &b))
		return false;
	for (int i = 0; i < a.n; i++)
		for (int j = 0; j < b.n; j++) {
			term product = a.of[i];
			if (product.n + b.of[j].n > MOST_ATOMS || __builtin_mul_overflow(product.factor, b.of[j].factor, &product.factor))
				return false;
			for (int k = 0; k < b.of[j].n; k++)
				product.atom[product.n++] = b.of[j].atom[k];
			if (!add_term(to, &product))
				return false;
		}
	return true;
}

/* The constant that is added inside, in a cast or a product: 1 of int64(2 * k + 1). */
static int64_t constant_in(const heddle_value *v)
{
	sum all = {.n = 0};
	bool known = expand(v, 1, &all);
	for (int k = 0; k < all.n && known; k++)
		if (all.of[k].n == 0)
			return all.of[k].factor;
	return 0;
}

/* ---- loads beside each other -------------------------------------------------------------------------------------------------------------- */

/* Loads of a value that surely happen: not those of a selection's sides, nor of what && and || may leave out. */
static void collect(widener *w, heddle_value *v, int at)
{
	const bool decides = v->kind == HEDDLE_VALUE_SELECT ||
			     (v->kind == HEDDLE_VALUE_BINARY && (v->op == HEDDLE_OP_AND || v->op == HEDDLE_OP_OR));
	for (int k = 0; k < (decides ? 1 : v->n_arg); k++)
		collect(w, v->arg[k], at);
	if (!is_narrow_load(w, v))
		return;
	const int stores = stores_before(w, v->buffer, at);
	for (int k = 0; k < w->n; k++)
		if (w->load[k].stores == stores && heddle_value_equal(w->load[k].load, v)) {
			w->load[k].last = at;
			return;
		}
	if (w->n == MOST_LOADS)
		return;
	narrow_load new = {.load = v, .at = at, .last = at, .stores = stores};
	new.base = simplify_without_constant(v->arg[v->n_arg - 1], &new.offset);
	if (new.base->kind == HEDDLE_VALUE_INT) {
		new.offset = new.base->i;
		new.base = NULL;
	} else {
		new.offset += constant_in(new.base);
	}
	w->load[w->n++] = new;
}

/* Is the value a multiple of a power of two, term by term: (b + 33) * H * 3 + H of 4? */
static bool is_multiple(widener *w, const heddle_value *v, int64_t of)
{
	sum all = {.n = 0};
	bool multiple = expand(v, 1, &all);
	for (int k = 0; k < all.n && multiple; k++) {
		int64_t step = all.of[k].factor & -all.of[k].factor;
		for (int j = 0; j < all.of[k].n && step % of; j++)
			step *= heddle_ranges_step(w->s->ranges, all.of[k].atom[j]);
		multiple = step % of == 0;
	}
	return multiple;
}

/* Are they the same sums of products, but for constants, however they are written? */
static bool same_sums(const heddle_value *a, const heddle_value *b)
{
	sum difference = {.n = 0};
	bool same = expand(a, 1, &difference) && expand(b, -1, &difference);
	for (int k = 0; k < difference.n && same; k++)
		same = difference.of[k].factor == 0 || difference.of[k].n == 0;
	return same;
}

/* The load of element `offset` beside that of `first`; NULL: there is none that has no vector yet. */
static narrow_load *beside(widener *w, const narrow_load *first, int64_t offset)
{
	for (int k = 0; k < w->n; k++) {
		narrow_load *l = &w->load[k];
		if (l->vector || l->offset != offset || l->stores != first->stores || l->load->buffer != first->load->buffer ||
		    (l->base ? !first->base || (!heddle_value_equal(l->base, first->base) && !same_sums(l->base, first->base)) : first->base != NULL))
			continue;
		bool same = true;
		for (int d = 0; d < l->load->n_arg - 1; d++)
			same = same && heddle_value_equal(l->load->arg[d], first->load->arg[d]);
		if (same)
			return l;
	}
	return NULL;
}

static bool is_aligned(widener *w, const heddle_value *load, int width)
{
	heddle_buffer *buffer = load->buffer;
	const int bytes = width * heddle_type_size(buffer->type);
	const heddle_value *offset = simplify_offset(w->s, buffer, load->n_arg, load->arg);
	if (heddle_range_residue(heddle_ranges_of(w->s->ranges, offset), width) != 0 && !is_multiple(w, offset, width))
		return false;
	if (buffer->role == HEDDLE_BUFFER_SHARED && buffer->align < bytes && bytes % buffer->align == 0) /* ours to align */
		buffer->align = bytes;
	return buffer->align % bytes == 0;
}

/* The widest vector that begins with `first` gets a name; false: there is none. */
static bool widen_from(widener *w, narrow_load *first, int width)
{
	narrow_load *member[64];
	int at = first->at, last = first->last;
	for (int m = 0; m < width; m++) {
		member[m] = beside(w, first, first->offset + m);
		if (!member[m])
			return false;
		at = member[m]->at < at ? member[m]->at : at;
		last = member[m]->last > last ? member[m]->last : last;
	}
	if (!is_aligned(w, first->load, width))
		return false;
	heddle_program *p = w->s->p;
	const heddle_value *load = first->load;
	const char *name = simplify_name(w->s, heddle_arena_printf(p->arena, "%s_v", load->buffer->name));
	heddle_value *whole = heddle_value_load(p, load->buffer, width, load->n_arg, load->arg);
	for (int m = 0; m < width; m++) {
		member[m]->vector = name;
		member[m]->whole = whole;
		member[m]->member = m;
		member[m]->at = at;
		member[m]->last = last;
	}
	return true;
}

static heddle_value *member_of(heddle_program *p, const narrow_load *l)
{
	return heddle_value_extract(p, heddle_value_variable(p, l->load->type, l->whole->width, l->vector), l->member);
}

typedef struct place {
	widener *w;
	int at;
} place;

static heddle_value *from_vector(heddle_value *v, void *user)
{
	const place *here = user;
	if (!is_narrow_load(here->w, v))
		return v;
	for (int k = 0; k < here->w->n; k++) {
		const narrow_load *l = &here->w->load[k];
		if (l->vector && here->at >= l->at && here->at <= l->last && heddle_value_equal(l->load, v))
			return member_of(here->w->s->p, l);
	}
	return v;
}

/* Loads that are members of vectors which stand before a branch. */
typedef struct named {
	widener *w;
	int n;
	narrow_load *load;
} named;

static heddle_value *from_named(heddle_value *v, void *user)
{
	const named *all = user;
	if (!is_narrow_load(all->w, v))
		return v;
	for (int k = 0; k < all->n; k++)
		if (heddle_value_equal(all->load[k].load, v))
			return member_of(all->w->s->p, &all->load[k]);
	return v;
}

/* Those that stand before child `to` of the stretch, or at its end, which nothing is stored to after them. */
static void take_named(const widener *w, int to, named *all)
{
	all->n = 0;
	for (int k = 0; k < w->n; k++) {
		const narrow_load *l = &w->load[k];
		if (!l->vector || l->at >= to || l->stores != stores_before(w, l->load->buffer, to))
			continue;
		if (!all->load)
			all->load = HEDDLE_NEW_ARRAY(w->s->p->arena, narrow_load, MOST_LOADS);
		all->load[all->n++] = *l;
	}
}

static bool waits(const heddle_node *node)
{
	bool any = node->kind == HEDDLE_NODE_BARRIER || node->kind == HEDDLE_NODE_COPY || node->kind == HEDDLE_NODE_WAIT;
	for (int k = 0; k < node->n_child; k++)
		any = any || waits(node->child[k]);
	return any;
}

static void map_inside(heddle_program *p, heddle_node *node, named *all)
{
	for (int v = 0; v < node->n_value; v++)
		node->value[v] = heddle_value_map(p, node->value[v], from_named, all);
	for (int k = 0; k < node->n_child; k++)
		map_inside(p, node->child[k], all);
}

/* A branch takes what it reads from vectors that have names.  What it stores to, and all memory where threads wait for each other, is then another. */
static void take_from_named(widener *w, heddle_node *node, named *all)
{
	const int n = waits(node) ? 0 : all->n;
	int left = 0;
	for (int k = 0; k < n; k++)
		if (!simplify_stores_to(node, all->load[k].load->buffer))
			all->load[left++] = all->load[k];
	all->n = left;
	if (left > 0 && node->kind == HEDDLE_NODE_IF)
		map_inside(w->s->p, node, all);
}

/* Children from .. to of w->block, appended to `out`. */
static void widen_stretch(widener *w, int from, int to, heddle_node *out)
{
	const heddle_simplify_options *language = w->s->options;
	heddle_program *p = w->s->p;
	bool any = false;
	w->n = 0;
	w->from = from;
	for (int k = from; k < to; k++)
		for (int v = 0; v < w->block->child[k]->n_value; v++)
			collect(w, w->block->child[k]->value[v], k);
	for (int width = language->max_vector < 64 ? language->max_vector : 64; width > 1; width /= 2)
		for (int k = 0; k < w->n; k++) {
			const int bytes = width * heddle_type_size(w->load[k].load->buffer->type);
			if (!w->load[k].vector && (!language->max_bytes || bytes <= language->max_bytes))
				any |= widen_from(w, &w->load[k], width);
		}
	for (int k = from; k < to; k++) {
		heddle_node *node = w->block->child[k];
		place here = {w, k};
		for (int l = 0; l < w->n && any; l++) {
			const narrow_load *load = &w->load[l];
			if (!load->vector || load->member || load->at != k)
				continue;
			heddle_node *let = heddle_node_let(p, load->vector, load->whole);
			let->line = node->line;
			heddle_node_append(p, out, let);
		}
		for (int v = 0; v < node->n_value && any; v++)
			node->value[v] = heddle_value_map(p, node->value[v], from_vector, &here);
		if (node->kind == HEDDLE_NODE_IF && any) {
			named all = {.w = w};
			take_named(w, k, &all);
			take_from_named(w, node, &all);
		}
		heddle_node_append(p, out, node);
	}
}

/* Lets and stores, and branches between them in which no thread waits for others: the child after them. */
static int stretch_end(const heddle_node *block, int from)
{
	int end = simplify_straight_end(block, from), next = end;
	while (end > from && next < block->n_child && block->child[next]->kind == HEDDLE_NODE_IF && !waits(block->child[next])) {
		const int straight = simplify_straight_end(block, next + 1);
		end = straight > next + 1 ? straight : end;
		next = straight > next + 1 ? straight : next + 1;
	}
	return end;
}

static void widen(widener *w, heddle_node *node)
{
	simplify *s = w->s;
	int mark = heddle_ranges_mark(s->ranges);
	if (node->kind == HEDDLE_NODE_FOR)
		heddle_ranges_define(s->ranges, node->name, heddle_ranges_loop(s->ranges, node));
	if (node->kind != HEDDLE_NODE_BLOCK) {
		for (int k = 0; k < node->n_child; k++)
			widen(w, node->child[k]);
		heddle_ranges_unwind(s->ranges, mark);
		return;
	}
	heddle_node *out = simplify_node_like(s->p, node);
	named all = {.w = w};
	for (int k = 0; k < node->n_child;) {
		const int end = stretch_end(node, k);
		for (int i = k; i < end; i++)
			if (node->child[i]->kind == HEDDLE_NODE_LET)
				heddle_ranges_let(s->ranges, node->child[i]->name, node->child[i]->value[0]);
		if (end > k) {
			w->block = node;
			widen_stretch(w, k, end, out);
			take_named(w, end, &all);
			for (; k < end; k++)
				if (node->child[k]->kind == HEDDLE_NODE_IF)
					widen(w, node->child[k]);
		} else {
			take_from_named(w, node->child[k], &all);
			widen(w, node->child[k]);
			heddle_node_append(s->p, out, node->child[k++]);
		}
	}
	*node = *out;
	heddle_ranges_unwind(s->ranges, mark);
}

void simplify_widen(simplify *s)
{
	widener w = {.s = s, .load = heddle_xalloc(sizeof(narrow_load) * MOST_LOADS)};
	if (s->options->max_vector > 1)
		widen(&w, s->launch->body);
	free(w.load);
}
