/* Integer subexpressions that are computed again and again, in loops or in many statements, get a name: a let as far out as
 * their variables allow, but not out of a branch unless that also leaves a loop, and not out of both branches of a
 * condition where one has a loop before its use: the value would take a register throughout that loop.
 * SPDX-License-Identifier: MIT
 */
#include "model/simplify_parts.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_LETS = 256, LEAST_COST = 2, N_BUCKET = 4096 };
/* Lets are chosen by walks over everything: programs of great size get fewer. */
enum { MOST_VISITS = 10000000 };

/* A block of the tree, with the way from its parent. */
typedef struct place {
	heddle_node *block;
	int parent; /* -1: the body */
	int depth;
	const heddle_node *owner; /* the loop or condition that it is a body or branch of; NULL */
	int loop_end;		  /* when the first loop in it, in no other one in it, ends; 0: none so far */
} place;

typedef struct candidate {
	heddle_value *value;
	uint64_t hash;
	int count;
	int size, cost;
	int defined; /* the place that its variables allow */
	int common;  /* the innermost place around all uses */
	int first;   /* when the first use is */
	const heddle_buffer *buffer; /* whose linear subscript it begins; NULL */
	int next;    /* in its bucket, from the oldest on; -1: last */
} candidate;

/* What counts of a value, of all that it is computed from. */
typedef struct summary {
	uint64_t hash;
	int size, cost;
	bool movable; /* it reads nothing, and computing it where it was not computed before is harmless */
} summary;

typedef struct hoister {
	simplify *s;
	int n_place, n_candidate;
	int now; /* nodes that the census has met */
	int place_capacity, candidate_capacity;
	place *place;
	heddle_name_table defined; /* variables, by the last place that defines them */
	candidate *candidate;
	int *bucket;
	int n_summary, summary_capacity;
	summary *summary; /* of one value and all in it, each before what is in it */
	int n_counted;	     /* values that were counted */
	int n_plain, plain_capacity;
	const heddle_value **plain; /* nodes' values with nothing in them to count: a set, each at the first free place from its own */
	int n_wish;
	const char **wish; /* base names of the lets made */
	const char **name; /* what became of them */
	int64_t visits;	   /* of values */
} hoister;

static void *grown(void *array, int n, int *capacity, size_t size)
{
	if (n < *capacity)
		return array;
	*capacity = *capacity ? 2 * *capacity : 64;
	return heddle_xrealloc(array, size * (size_t)*capacity);
}

/* ---- values ---------------------------------------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t hash, uint64_t x)
{
	hash ^= x + UINT64_C(0x9e3779b97f4a7c15) + (hash << 6) + (hash >> 2);
	return hash * UINT64_C(0x100000001b3);
}

/* Of the value itself, without what is in it. */
static uint64_t own_hash(const heddle_value *v)
{
	uint64_t hash = mix((uint64_t)v->kind, (uint64_t)v->type * 64 + (uint64_t)v->op);
	hash = mix(hash, (uint64_t)v->i);
	if (v->kind == HEDDLE_VALUE_VARIABLE)
		for (const char *p = v->name; *p; p++)
			hash = mix(hash, (unsigned char)*p);
	return hash;
}

static bool is_index(const heddle_value *v)
{
	return v->width == 1 && (v->type == HEDDLE_INT32 || v->type == HEDDLE_INT64);
}

static bool is_division(const heddle_value *v)
{
	return v->kind == HEDDLE_VALUE_FLOOR_DIV || v->kind == HEDDLE_VALUE_FLOOR_MOD ||
	       (v->kind == HEDDLE_VALUE_BINARY && (v->op == HEDDLE_OP_DIV || v->op == HEDDLE_OP_MOD));
}

static bool is_movable(const heddle_value *v)
{
	switch (v->kind) {
	case HEDDLE_VALUE_LOAD:
	case HEDDLE_VALUE_CALL:
	case HEDDLE_VALUE_SHUFFLE:
	case HEDDLE_VALUE_EXTRACT:
	case HEDDLE_VALUE_REDUCE:
	case HEDDLE_VALUE_SELECT:
		return false;
	case HEDDLE_VALUE_CAST:
		return !heddle_type_is_float(v->arg[0]->type);
	default:
		return !is_division(v) || (v->arg[1]->kind == HEDDLE_VALUE_INT && v->arg[1]->i > 0);
	}
}

static int own_cost(const heddle_value *v)
{
	if (is_division(v))
		return 2;
	return v->kind == HEDDLE_VALUE_BINARY || v->kind == HEDDLE_VALUE_UNARY;
}

static bool is_over_sizes(const heddle_value *v)
{
	if (v->kind == HEDDLE_VALUE_VARIABLE || v->kind == HEDDLE_VALUE_BLOCK || v->kind == HEDDLE_VALUE_THREAD)
		return false;
	for (int k = 0; k < v->n_arg; k++)
		if (!is_over_sizes(v->arg[k]))
			return false;
	return true;
}

/* x + 3 and x + 2 * K: the address is x, and machines add such an offset for nothing. */
static bool is_offset(const heddle_value *v)
{
	return v->kind == HEDDLE_VALUE_BINARY && (v->op == HEDDLE_OP_ADD || v->op == HEDDLE_OP_SUB) && is_over_sizes(v->arg[1]);
}

/* ---- places ------------------------------------------------------------------------------------------------------------------ */

static int add_place(hoister *h, heddle_node *block, int parent, const heddle_node *owner)
{
	h->place = grown(h->place, h->n_place, &h->place_capacity, sizeof(*h->place));
	h->place[h->n_place] = (place){block, parent, parent < 0 ? 0 : h->place[parent].depth + 1, owner, 0};
	return h->n_place++;
}

static bool is_loop(const place *at) { return at->owner && at->owner->kind == HEDDLE_NODE_FOR; }

/* A loop in the place ends. */
static void end_loop(hoister *h, int at)
{
	for (; at >= 0; at = h->place[at].parent) {
		if (!h->place[at].loop_end)
			h->place[at].loop_end = h->now;
		if (is_loop(&h->place[at]))
			return;
	}
}

static void define(hoister *h, const char *name, int at)
{
	heddle_name_table_put(h->s->p->arena, &h->defined, name, at);
}

static int common_place(const hoister *h, int a, int b)
{
	while (a != b) {
		if (h->place[a].depth >= h->place[b].depth)
			a = h->place[a].parent;
		else
			b = h->place[b].parent;
	}
	return a;
}

/* The place directly in `outer` that holds `at`. */
static int place_under(const hoister *h, int at, int outer)
{
	while (h->place[at].parent != outer)
		at = h->place[at].parent;
	return at;
}

static bool is_after_loop(const place *branch, int use) { return branch->loop_end && branch->loop_end < use; }

/* Are the candidate's uses so far in one branch of a condition, and a use at the place `at` in the other one, and do those
 * of one branch come after a loop in it? */
static bool is_apart(const hoister *h, const candidate *c, int at)
{
	const int common = common_place(h, c->common, at);
	if (c->common == common || at == common)
		return false;
	const place *a = &h->place[place_under(h, c->common, common)];
	const place *b = &h->place[place_under(h, at, common)];
	return a->owner && a->owner == b->owner && (is_after_loop(a, c->first) || is_after_loop(b, h->now));
}

/* The innermost place that defines one of the value's variables; all of them are around the use. */
static int defined_at(const hoister *h, const heddle_value *v)
{
	int at = 0;
	if (v->kind == HEDDLE_VALUE_VARIABLE) {
		int known = heddle_name_table_find(&h->defined, v->name);
		if (known >= 0)
			return known;
	}
	for (int k = 0; k < v->n_arg; k++) {
		int inner = defined_at(h, v->arg[k]);
		if (h->place[inner].depth > h->place[at].depth)
			at = inner;
	}
	return at;
}

/* Where the let goes: from the common place of the uses outward to just outside the outermost loop that does not change the
 * value. */
static int target_of(const hoister *h, const candidate *c)
{
	int target = c->common;
	for (int at = c->common; at != c->defined && at > 0; at = h->place[at].parent)
		if (is_loop(&h->place[at]))
			target = h->place[at].parent;
	return target;
}

/* ---- values with nothing to count --------------------------------------------------------------------------------------------- */

/* Where the value is in the set, or the free place where it would be. */
static size_t plain_at(const hoister *h, const heddle_value *v)
{
	size_t at = (uintptr_t)v / sizeof(void *) * 31 % (size_t)h->plain_capacity;
	while (h->plain[at] && h->plain[at] != v)
		at = (at + 1) % (size_t)h->plain_capacity;
	return at;
}

static bool is_plain(const hoister *h, const heddle_value *v) { return h->n_plain && h->plain[plain_at(h, v)]; }

static void add_plain(hoister *h, const heddle_value *v)
{
	if (2 * h->n_plain >= h->plain_capacity) {
		const heddle_value **old = h->plain;
		const int n = h->plain_capacity;
		h->plain_capacity = n ? 4 * n : 1024;
		h->plain = heddle_xalloc(sizeof(*h->plain) * (size_t)h->plain_capacity);
		memset(h->plain, 0, sizeof(*h->plain) * (size_t)h->plain_capacity);
		for (int i = 0; i < n; i++)
			if (old[i])
				h->plain[plain_at(h, old[i])] = old[i];
		free(old);
	}
	h->plain[plain_at(h, v)] = v;
	h->n_plain++;
}

/* ---- census --------------------------------------------------------------------------------------------------------------------- */

static int summarise(hoister *h, const heddle_value *v)
{
	h->summary = grown(h->summary, h->n_summary, &h->summary_capacity, sizeof(*h->summary));
	const int at = h->n_summary++;
	summary all = {own_hash(v), 1, own_cost(v), is_movable(v)};
	for (int k = 0; k < v->n_arg; k++) {
		const int number = summarise(h, v->arg[k]); /* moves the array */
		const summary *part = &h->summary[number];
		all.hash = mix(all.hash, part->hash);
		all.size += part->size;
		all.cost += part->cost;
		all.movable = all.movable && part->movable;
	}
	h->summary[at] = all;
	return at;
}

static void count(hoister *h, heddle_value *v, const summary *all, int at, const heddle_buffer *buffer)
{
	const uint64_t hash = all->hash;
	int *bucket = &h->bucket[hash % N_BUCKET], last = -1;
	h->n_counted++;
	for (int k = *bucket; k >= 0; k = h->candidate[k].next) {
		candidate *c = &h->candidate[k];
		last = k;
		if (c->hash != hash || !heddle_value_equal(c->value, v) || is_apart(h, c, at))
			continue;
		c->count++;
		c->buffer = c->buffer == buffer ? buffer : NULL;
		c->common = common_place(h, c->common, at);
		return;
	}
	h->candidate = grown(h->candidate, h->n_candidate, &h->candidate_capacity, sizeof(*h->candidate));
	h->candidate[h->n_candidate] = (candidate){.value = v, .hash = hash, .count = 1, .size = all->size, .cost = all->cost,
						   .defined = defined_at(h, v), .common = at, .first = h->now, .buffer = buffer, .next = -1};
	*(last < 0 ? bucket : &h->candidate[last].next) = h->n_candidate++;
}

/* `number`: of its summary; returns that of what comes after all in it. */
static int census_value(hoister *h, heddle_value *v, int number, int at, const heddle_buffer *buffer)
{
	const summary *all = &h->summary[number++];
	h->visits++;
	bool arithmetic = v->kind == HEDDLE_VALUE_BINARY || v->kind == HEDDLE_VALUE_UNARY || is_division(v);
	if (arithmetic && all->movable && all->cost >= LEAST_COST && is_index(v) && !is_offset(v))
		count(h, v, all, at, buffer);
	bool sum = v->kind == HEDDLE_VALUE_BINARY && (v->op == HEDDLE_OP_ADD || v->op == HEDDLE_OP_SUB);
	for (int k = 0; k < v->n_arg; k++) {
		const heddle_buffer *inner = (sum && k == 0) || v->kind == HEDDLE_VALUE_CAST ? buffer : NULL;
		if (v->kind == HEDDLE_VALUE_LOAD && v->n_arg == 1)
			inner = v->buffer;
		number = census_value(h, v->arg[k], number, at, inner);
	}
	return number;
}

/* `owner`: of the block that the node is, or NULL. */
static void census_node(hoister *h, heddle_node *node, int at, const heddle_node *owner)
{
	h->now++;
	for (int k = 0; k < node->n_value; k++) {
		if (is_plain(h, node->value[k]))
			continue;
		bool linear = node->kind == HEDDLE_NODE_STORE && k == 1 && node->n_value == 2;
		const int counted = h->n_counted;
		h->n_summary = 0;
		census_value(h, node->value[k], summarise(h, node->value[k]), at, linear ? node->buffer : NULL);
		if (h->n_counted == counted)
			add_plain(h, node->value[k]);
	}
	if (node->kind == HEDDLE_NODE_LET)
		define(h, node->name, at);
	if (node->kind == HEDDLE_NODE_BLOCK) {
		int here = add_place(h, node, at, owner);
		for (int k = 0; k < node->n_child; k++)
			census_node(h, node->child[k], here, NULL);
		return;
	}
	for (int k = 0; k < node->n_child; k++) {
		/* The iterator is defined in the block that is about to become a place. */
		if (node->kind == HEDDLE_NODE_FOR)
			define(h, node->name, h->n_place);
		census_node(h, node->child[k], at, node);
	}
	if (node->kind == HEDDLE_NODE_FOR)
		end_loop(h, at);
}

static void take_census(hoister *h)
{
	h->n_place = h->n_candidate = h->now = 0;
	heddle_name_table_clear(&h->defined);
	for (int k = 0; k < N_BUCKET; k++)
		h->bucket[k] = -1;
	census_node(h, h->s->launch->body, -1, NULL);
}

/* Is the expression worth a name: does it stand in several places, or in a loop that does not change it? */
static bool is_worth(const hoister *h, const candidate *c)
{
	return c->count > 1 || target_of(h, c) != c->common;
}

/* Nodes of the greatest expression that is worth a name; 0: none is. */
static int greatest(const hoister *h)
{
	int size = 0;
	for (int k = 0; k < h->n_candidate; k++)
		if (h->candidate[k].size > size && is_worth(h, &h->candidate[k]))
			size = h->candidate[k].size;
	return size;
}

/* ---- replacing ------------------------------------------------------------------------------------------------------------------- */

typedef struct replacement {
	const hoister *h;
	heddle_program *p;
	const heddle_value *value;
	heddle_value *variable;
	bool found;
} replacement;

/* Top down, so that the value is met whole. */
static heddle_value *replaced(replacement *r, heddle_value *v)
{
	heddle_value *copy = NULL;
	if (v->kind == r->value->kind && heddle_value_equal(v, r->value)) {
		r->found = true;
		return r->variable;
	}
	for (int k = 0; k < v->n_arg; k++) {
		heddle_value *arg = replaced(r, v->arg[k]);
		if (arg == v->arg[k])
			continue;
		if (!copy) {
			copy = HEDDLE_NEW(r->p->arena, heddle_value);
			*copy = *v;
			copy->arg = HEDDLE_NEW_ARRAY(r->p->arena, heddle_value *, v->n_arg);
			memcpy(copy->arg, v->arg, sizeof(*v->arg) * (size_t)v->n_arg);
		}
		copy->arg[k] = arg;
	}
	return copy ? copy : v;
}

static void replace_in(replacement *r, heddle_node *node)
{
	for (int k = 0; k < node->n_value; k++)
		if (!is_plain(r->h, node->value[k]))
			node->value[k] = replaced(r, node->value[k]);
	for (int k = 0; k < node->n_child; k++)
		replace_in(r, node->child[k]);
}

static void insert(heddle_program *p, heddle_node *block, int at, heddle_node *node)
{
	heddle_node_append(p, block, node);
	for (int k = block->n_child - 1; k > at; k--)
		block->child[k] = block->child[k - 1];
	block->child[at] = node;
}

enum { MOST_STEMS = 3 };

/* The coordinates that a value is made of: "i" for i_block * 64 + i_thread. */
typedef struct stems {
	int n; /* MOST_STEMS: too many for a name */
	const char *stem[MOST_STEMS];
	const char *size; /* the first size symbol; NULL */
} stems;

static void add_stem(stems *s, const char *stem)
{
	for (int k = 0; k < s->n; k++)
		if (!strcmp(s->stem[k], stem))
			return;
	if (s->n < MOST_STEMS)
		s->stem[s->n++] = stem;
}

/* "i" of i_block, i_thread, i_item2, i_1; other names as they are, without their number. */
static const char *stem_of(heddle_arena *arena, const char *name)
{
	static const char *const parts[] = {"block", "thread", "warp", "lane", "tile", "item", "vec", "step"};
	const char *end = strrchr(name, '_');
	if (end && end[1] >= '0' && end[1] <= '9') {
		name = heddle_arena_strndup(arena, name, (size_t)(end - name));
		end = strrchr(name, '_');
	}
	size_t length = end ? strcspn(end + 1, "0123456789") : 0;
	for (size_t k = 0; end && k < HEDDLE_COUNT(parts); k++)
		if (strlen(parts[k]) == length && !strncmp(end + 1, parts[k], length))
			return heddle_arena_strndup(arena, name, (size_t)(end - name));
	return name;
}

static void find_stems(const hoister *h, const heddle_value *v, stems *s)
{
	heddle_arena *arena = h->s->p->arena;
	if (v->kind == HEDDLE_VALUE_VARIABLE)
		add_stem(s, stem_of(arena, *v->name == '$' ? h->wish[atoi(v->name + 1)] : v->name));
	if (v->kind == HEDDLE_VALUE_THREAD || v->kind == HEDDLE_VALUE_BLOCK)
		add_stem(s, v->kind == HEDDLE_VALUE_THREAD ? "thread" : "block");
	if (v->kind == HEDDLE_VALUE_SIZE && !s->size)
		s->size = v->name;
	for (int k = 0; k < v->n_arg; k++)
		find_stems(h, v->arg[k], s);
}

/* x of N - x and min(8, N - x) is what is left of N. */
static const char *left_of(const heddle_value *v)
{
	const heddle_value *size = v;
	if (v->kind != HEDDLE_VALUE_BINARY)
		return NULL;
	if (v->op == HEDDLE_OP_MIN || v->op == HEDDLE_OP_MAX) {
		const char *left = left_of(v->arg[1]);
		return left ? left : left_of(v->arg[0]);
	}
	if (v->op != HEDDLE_OP_SUB && v->op != HEDDLE_OP_ADD)
		return NULL;
	if (v->arg[1]->kind == HEDDLE_VALUE_INT || v->op == HEDDLE_OP_ADD)
		return left_of(v->arg[0]);
	size = v->arg[0];
	while (size->kind == HEDDLE_VALUE_CAST)
		size = size->arg[0];
	return size->kind == HEDDLE_VALUE_SIZE ? size->name : left_of(v->arg[0]);
}

/* A name that says what it is: where a buffer is read, a division of the thread or block id, a coordinate. */
static const char *wish_for(const hoister *h, const candidate *c)
{
	const heddle_value *v = c->value;
	heddle_arena *arena = h->s->p->arena;
	bool div = v->kind == HEDDLE_VALUE_FLOOR_DIV || (v->kind == HEDDLE_VALUE_BINARY && v->op == HEDDLE_OP_DIV);
	stems of = {0};
	if (c->buffer)
		return heddle_arena_printf(arena, "%s_at", c->buffer->name);
	find_stems(h, v, &of);
	if (is_division(v) && v->arg[1]->kind == HEDDLE_VALUE_INT) {
		const char *what = v->arg[0]->kind == HEDDLE_VALUE_THREAD    ? "thread"
				   : v->arg[0]->kind == HEDDLE_VALUE_BLOCK   ? "block"
				   : v->arg[0]->kind == HEDDLE_VALUE_VARIABLE && *v->arg[0]->name != '$' ? v->arg[0]->name
									     : NULL;
		if (what)
			return heddle_arena_printf(arena, "%s_%s%lld", what, div ? "div" : "mod", (long long)v->arg[1]->i);
		if (of.size && !of.n) {
			const char *word = div ? "tiles" : is_offset(v->arg[0]) ? "last" : "rest";
			return heddle_arena_printf(arena, "%s_%s", of.size, word);
		}
	}
	const char *left = left_of(v);
	if (!left && of.size && !of.n && v->kind == HEDDLE_VALUE_BINARY && v->op == HEDDLE_OP_MIN)
		left = of.size;
	if (left)
		return heddle_arena_printf(arena, "%s_left", left);
	if (of.size && of.n != 1)
		return "offset";
	if (of.size)
		return heddle_arena_printf(arena, "%s_offset", of.stem[0]);
	if (of.n == 1 && strcmp(of.stem[0], "thread") && strcmp(of.stem[0], "block"))
		return of.stem[0];
	if (of.n == 2)
		return heddle_arena_printf(arena, "%s_%s", of.stem[0], of.stem[1]);
	return "at";
}

static void give_name(hoister *h, candidate *c)
{
	simplify *s = h->s;
	heddle_node *block = h->place[target_of(h, c)].block;
	/* Names are given at the end, in the order of the text; until then "$number". */
	const char *wish = wish_for(h, c), *name = heddle_arena_printf(s->p->arena, "$%d", h->n_wish);
	HEDDLE_PUSH(s->p->arena, h->wish, h->n_wish, wish);
	replacement r = {h, s->p, c->value, heddle_value_variable(s->p, c->value->type, 1, name), false};
	int first = -1;
	for (int k = 0; k < block->n_child; k++) {
		r.found = false;
		replace_in(&r, block->child[k]);
		if (r.found && first < 0)
			first = k;
	}
	if (first >= 0)
		insert(s->p, block, first, heddle_node_let(s->p, name, c->value));
}

static heddle_value *renamed(heddle_value *v, void *user)
{
	hoister *h = user;
	if (v->kind != HEDDLE_VALUE_VARIABLE || *v->name != '$')
		return v;
	return heddle_value_variable(h->s->p, v->type, v->width, h->name[atoi(v->name + 1)]);
}

/* Lets come before their uses, so one walk does. */
static void give_final_names(hoister *h, heddle_node *node)
{
	if (node->kind == HEDDLE_NODE_LET && *node->name == '$') {
		int k = atoi(node->name + 1);
		h->name[k] = simplify_name(h->s, h->wish[k]);
		node->name = h->name[k];
	}
	for (int k = 0; k < node->n_value; k++)
		node->value[k] = heddle_value_map(h->s->p, node->value[k], renamed, h);
	for (int k = 0; k < node->n_child; k++)
		give_final_names(h, node->child[k]);
}

void simplify_hoist(simplify *s)
{
	hoister h = {.s = s, .bucket = heddle_xalloc(sizeof(int) * N_BUCKET)};
	for (int size = 1; size && h.n_wish < MOST_LETS && h.visits < MOST_VISITS;) {
		take_census(&h);
		size = greatest(&h);
		/* expressions of one size do not hold each other: all of them get names at once, but for those that are offsets only without one */
		bool offset = false;
		for (int k = 0; size && k < h.n_candidate && h.n_wish < MOST_LETS && !offset; k++)
			if (h.candidate[k].size == size && is_worth(&h, &h.candidate[k])) {
				offset = is_over_sizes(h.candidate[k].value);
				give_name(&h, &h.candidate[k]);
			}
	}
	h.name = HEDDLE_NEW_ARRAY(s->p->arena, const char *, h.n_wish ? h.n_wish : 1);
	give_final_names(&h, s->launch->body);
	free(h.bucket);
	free(h.plain);
	free(h.place);
	free(h.candidate);
	free(h.summary);
}
