/* A launch of a program to a load: the longest dependent path of a warp; simd: the registers that are live at the same time.
 *
 * Straight code between loops is a path; operations that take results of others stand behind them.  An iteration of a loop is as long as its
 * longest path, or, where iterations overlap (an unrolled body, a processor whose window of instructions holds several), as what one iteration
 * computes from the results of the one before it.  A load that only puts a value into a register for a later iteration makes nothing wait.
 * SPDX-License-Identifier: MIT
 */
#include "cost/measure_parts.h"

#include <math.h>
#include <string.h>

enum { MOST_ELEMENTS = 4096 }; /* of one array in registers */

typedef struct path {
	double weight;
	float n[HEDDLE_N_INSTRUCTION];
} path;

/* A value that is known by name: since the iteration began, and since the one before it ended. */
typedef struct known {
	path any, carried;
	bool depends; /* on what the iteration before left */
	bool loaded;  /* from global memory by itself, and nothing has waited for it */
	bool entered; /* so before the loop that is walked */
} known;

typedef struct array {
	int64_t n;
	known *element;
	int *touched; /* the body that touched it last */
} array;

typedef struct named {
	const char *name;
	known value;
	int first, last; /* positions of the definition and of the last use */
	double words;
} named;

typedef struct walker {
	measurer *m;
	heddle_arena *arena;
	array *array; /* [program->n_buffer] */
	heddle_name_table names;
	int n_name;
	named *name; /* in the order of their definitions */
	path stall; /* what the straight code waits for in all */
	double ahead; /* loads for a later iteration */
	bool waited;  /* the loop's body reads what was loaded before the loop */
	int position;
	int body;     /* counts loops */
	double words; /* simd: of array elements that the body touches */
	path total; /* of what has been walked in this body */
	double latency[HEDDLE_N_INSTRUCTION];
} walker;

/* ---- paths ------------------------------------------------------------------------------------------------------------------------ */

static double value_or(const heddle_quantity *q, double otherwise)
{
	return q->set ? q->value : otherwise;
}

static double cycles(const heddle_descriptor *d, const char *memory)
{
	const heddle_memory *m = heddle_descriptor_memory(d, memory);
	return m ? m->latency.value * d->clock.value : 0;
}

/* Clocks of each class tell which of two paths is longer.  A thread that has others under way behind a load waits for the nearest cache only. */
static void weigh(walker *w)
{
	const heddle_descriptor *d = w->m->descriptor;
	const double fma = value_or(&d->latency.fma, 1);
	for (int i = 0; i < HEDDLE_N_INSTRUCTION; i++)
		w->latency[i] = fma;
	w->latency[HEDDLE_INSTRUCTION_SPECIAL] = value_or(&d->latency.special, fma);
	w->latency[HEDDLE_INSTRUCTION_PERMUTE] = value_or(&d->latency.permute, fma);
	w->latency[HEDDLE_INSTRUCTION_SHUFFLE] = value_or(&d->latency.shuffle, fma);
	w->latency[HEDDLE_INSTRUCTION_BARRIER] = value_or(&d->latency.barrier, fma);
	w->latency[HEDDLE_INSTRUCTION_SHARED_LOAD] = cycles(d, d->window.set ? "l1" : "shared");
	w->latency[HEDDLE_INSTRUCTION_GLOBAL_LOAD] = cycles(d, d->window.set ? "l1" : "global");
	w->latency[HEDDLE_INSTRUCTION_STACK] = cycles(d, "l1");
	w->latency[HEDDLE_INSTRUCTION_GLOBAL_STORE] = w->latency[HEDDLE_INSTRUCTION_SHARED_STORE] = 0;
}

static path plus(const walker *w, path a, heddle_instruction which, double n)
{
	a.n[which] += (float)n;
	a.weight += w->latency[which] * n;
	return a;
}

static path scaled_sum(path a, double by, path b)
{
	for (int i = 0; i < HEDDLE_N_INSTRUCTION; i++)
		a.n[i] += (float)by * b.n[i];
	a.weight += by * b.weight;
	return a;
}

static path longer(path a, path b)
{
	return a.weight < b.weight ? b : a;
}

static known later(known a, known b)
{
	a.any = longer(a.any, b.any);
	if (b.depends)
		a.carried = a.depends ? longer(a.carried, b.carried) : b.carried;
	a.depends = a.depends || b.depends;
	a.loaded = false;
	return a;
}

static void step(const walker *w, known *k, heddle_instruction which, double n)
{
	k->any = plus(w, k->any, which, n);
	if (k->depends)
		k->carried = plus(w, k->carried, which, n);
}

/* ---- values ----------------------------------------------------------------------------------------------------------------------- */

static named *find(walker *w, const char *name)
{
	const int i = heddle_name_table_find(&w->names, name);
	return i >= 0 && i < w->n_name && !strcmp(w->name[i].name, name) ? &w->name[i] : NULL;
}

static double words_of(const walker *w, heddle_type type, int width)
{
	const double bytes = (double)width * heddle_type_size(heddle_type_computed(type));
	return width > 1 ? fmax(1, bytes / w->m->vector_bytes) : heddle_type_is_float(type);
}

/* The element of a register array at a place that is known; NULL: it is in memory. */
static known *element(walker *w, const heddle_buffer *buffer, heddle_value *const *subscript, int n)
{
	array *a = &w->array[buffer->position];
	int64_t at = 0;
	if (buffer->role != HEDDLE_BUFFER_REGISTER)
		return NULL;
	for (int i = 0; i < n; i++) {
		if (subscript[i]->kind != HEDDLE_VALUE_INT)
			return NULL;
		at = at * buffer->extent[i]->i + subscript[i]->i;
	}
	if (!a->element) {
		a->n = 1;
		for (int i = 0; i < buffer->rank; i++)
			a->n *= buffer->extent[i]->i;
		a->n = a->n < MOST_ELEMENTS ? a->n : MOST_ELEMENTS;
		a->element = HEDDLE_NEW_ARRAY(w->arena, known, (int)a->n);
		a->touched = HEDDLE_NEW_ARRAY(w->arena, int, (int)a->n);
		for (int64_t i = 0; i < a->n; i++)
			a->element[i] = (known){.depends = true};
	}
	if (at >= a->n)
		return NULL;
	w->words += a->touched[at] == w->body ? 0 : words_of(w, buffer->type, buffer->width);
	a->touched[at] = w->body;
	return &a->element[at];
}

/* `data`: integers count, too; else they are subscripts. */
static known evaluate(walker *w, const heddle_value *v, bool data)
{
	known k = {0};
	heddle_instruction which = HEDDLE_INSTRUCTION_INTEGER;
	if (v->kind == HEDDLE_VALUE_VARIABLE) {
		named *name = find(w, v->name);
		if (name)
			name->last = w->position;
		return name ? name->value : k;
	}
	for (int i = 0; i < v->n_arg; i++)
		k = later(k, evaluate(w, v->arg[i], data && v->kind != HEDDLE_VALUE_LOAD));
	if (v->kind == HEDDLE_VALUE_LOAD) {
		const known *e = element(w, v->buffer, v->arg, v->n_arg);
		if (e) {
			w->waited = w->waited || e->entered;
			k = *e;
			k.entered = false;
			return k;
		}
		if (v->buffer->role == HEDDLE_BUFFER_SCALAR)
			return k;
		which = measure_access(v->buffer, false);
		step(w, &k, which, 1);
		k.loaded = which == HEDDLE_INSTRUCTION_GLOBAL_LOAD;
		return k;
	}
	if (measure_operation(w->m, v, &which) > 0 && (data || heddle_type_is_float(v->type) || heddle_type_is_float(v->n_arg ? v->arg[0]->type : v->type))) {
		step(w, &k, which, 1);
		w->stall = longer(w->stall, k.any);
	}
	return k;
}

/* ---- nodes ------------------------------------------------------------------------------------------------------------------------ */

static void walk(walker *w, const heddle_node *node);

/* Straight code ends here: what it waits for is a part of the path. */
static void end_straight(walker *w)
{
	w->total = scaled_sum(w->total, 1, w->stall);
	w->stall = (path){0};
	for (int b = 0; b < w->m->program->n_buffer; b++)
		for (int64_t i = 0; i < w->array[b].n; i++) {
			known *e = &w->array[b].element[i];
			const bool loaded = e->loaded;
			e->any = (path){0};
			e->loaded = loaded;
		}
	for (int i = 0; i < w->n_name; i++)
		w->name[i].value.any = (path){0};
}

static void store(walker *w, const heddle_node *node)
{
	known k = evaluate(w, node->value[0], !heddle_type_is_float(node->value[0]->type));
	for (int i = 1; i < node->n_value; i++)
		k = later(k, evaluate(w, node->value[i], false));
	known *e = element(w, node->buffer, node->value + 1, node->n_value - 1);
	const heddle_value *v = node->value[0];
	if (e) {
		const named *name = v->kind == HEDDLE_VALUE_VARIABLE ? find(w, v->name) : NULL;
		k.loaded = v->kind == HEDDLE_VALUE_LOAD ? measure_access(v->buffer, false) == HEDDLE_INSTRUCTION_GLOBAL_LOAD : name && name->value.loaded;
		*e = k;
		return;
	}
	w->stall = longer(w->stall, k.any); /* nothing waits for what is stored */
}

/* Iterations that the hardware or the compiler has under way at the same time. */
static double overlap(const walker *w, const heddle_node *node, double trips)
{
	double n = node->loop == HEDDLE_LOOP_SERIAL ? fmax(1, node->copies) : trips;
	const heddle_quantity *window = &w->m->descriptor->window;
	const heddle_region *region = measure_region(w->m->regions.body, node);
	if (window->set && region && region->child[0]->executed) {
		double body = 0;
		for (int i = 0; i < region->child[0]->n_value; i++) {
			heddle_instruction which;
			body += 1 + measure_operation(w->m, region->child[0]->value[i].value, &which);
		}
		n = fmax(n, window->value / fmax(body, 1));
	}
	return fmin(n, fmax(trips, 1));
}

/* The longest path from what an iteration found in registers to what it left there. */
static path carried_path(const walker *w)
{
	path most = {0};
	for (int b = 0; b < w->m->program->n_buffer; b++)
		for (int64_t i = 0; i < w->array[b].n; i++)
			if (w->array[b].element[i].depends)
				most = longer(most, w->array[b].element[i].carried);
	return most;
}

static double loads_ahead(const walker *w)
{
	for (int b = 0; b < w->m->program->n_buffer; b++)
		for (int64_t i = 0; i < w->array[b].n; i++)
			if (w->array[b].element[i].loaded)
				return 1;
	return 0;
}

/* A loop's body begins, or has ended. */
static void fresh(walker *w, bool begins)
{
	for (int b = 0; b < w->m->program->n_buffer; b++)
		for (int64_t i = 0; i < w->array[b].n; i++)
			w->array[b].element[i] = (known){.depends = true, .entered = begins && w->array[b].element[i].loaded};
}

/* Words of names that are live at the same time, of those defined from number `from` on. */
static double live_words(const walker *w, int from)
{
	double *change = HEDDLE_NEW_ARRAY(w->arena, double, w->position + 2), most = 0, now = 0;
	for (int i = from; i < w->n_name; i++) {
		change[w->name[i].first] += w->name[i].words;
		change[w->name[i].last] -= w->name[i].words;
	}
	for (int at = 0; at <= w->position; at++)
		most = fmax(most, now += change[at]);
	return most;
}

static void count_registers(walker *w, int from, uint64_t executed)
{
	heddle_load *load = w->m->load;
	const double words = w->words + live_words(w, from);
	if (words <= load->registers)
		return;
	load->registers = words;
	load->peak_runs = (double)executed / (load->blocks * w->m->launch->threads);
}

static bool has_loop(const heddle_node *node)
{
	bool any = node->kind == HEDDLE_NODE_FOR;
	for (int i = 0; i < node->n_child && !any; i++)
		any = has_loop(node->child[i]);
	return any;
}

static void walk_loop(walker *w, const heddle_node *node)
{
	const heddle_region *region = measure_region(w->m->regions.body, node);
	const walker outer = *w;
	const double trips = region && region->executed ? (double)region->child[0]->executed / (double)region->executed : 0;
	w->total = w->stall = (path){0};
	w->words = 0;
	w->body++;
	w->ahead = 0;
	w->waited = false;
	const double pending = loads_ahead(w);
	fresh(w, true);
	walk(w, node->child[0]);
	const bool straight = w->total.weight == 0;
	const double ahead = w->ahead + loads_ahead(w);
	const path body = scaled_sum(w->total, 1, w->stall), carried = carried_path(w);
	const double together = straight ? overlap(w, node, trips) : 1;
	const path one = straight && carried.weight < body.weight
				 ? scaled_sum(scaled_sum((path){0}, 1 / together, body), 1 - 1 / together, carried)
				 : body;
	if (w->m->simd && region && region->child[0]->executed && !has_loop(node->child[0]))
		count_registers(w, outer.n_name, region->child[0]->executed);
	w->n_name = outer.n_name;
	fresh(w, false);
	const double exposed = w->waited ? pending : 0; /* no iteration is before the first one */
	w->total = scaled_sum(plus(w, outer.total, HEDDLE_INSTRUCTION_GLOBAL_LOAD, exposed), trips, one);
	w->stall = (path){0};
	w->waited = outer.waited;
	w->ahead = outer.ahead + pending - exposed + trips * ahead;
	w->words = outer.words;
	w->body++;
}

static void walk_if(walker *w, const heddle_node *node)
{
	const heddle_region *region = measure_region(w->m->regions.body, node);
	const double all = region ? (double)region->executed : 0;
	for (int side = 0; side < node->n_child; side++) {
		const double share = all > 0 ? (double)region->child[side]->executed / all : 0;
		const path before = w->total;
		const int n_name = w->n_name;
		if (share == 0)
			continue;
		w->total = (path){0};
		walk(w, node->child[side]);
		w->total = scaled_sum(before, share, w->total);
		w->n_name = has_loop(node->child[side]) ? n_name : w->n_name;
	}
}

static void define(walker *w, const heddle_node *node)
{
	const heddle_value *v = node->value[0];
	named name = {.name = node->name, .value = evaluate(w, v, v->width > 1), .first = w->position, .last = w->position};
	name.words = heddle_type_is_float(v->type) ? words_of(w, v->type, v->width) : 0;
	heddle_name_table_put(w->arena, &w->names, node->name, w->n_name);
	HEDDLE_PUSH(w->arena, w->name, w->n_name, name);
}

static void walk(walker *w, const heddle_node *node)
{
	w->position++;
	switch (node->kind) {
	case HEDDLE_NODE_BLOCK:
		for (int i = 0; i < node->n_child; i++)
			walk(w, node->child[i]);
		break;
	case HEDDLE_NODE_FOR:
		end_straight(w);
		walk_loop(w, node);
		break;
	case HEDDLE_NODE_IF: walk_if(w, node); break;
	case HEDDLE_NODE_LET: define(w, node); break;
	case HEDDLE_NODE_STORE: store(w, node); break;
	case HEDDLE_NODE_BARRIER:
		end_straight(w);
		w->total = plus(w, w->total, HEDDLE_INSTRUCTION_BARRIER, 1);
		break;
	case HEDDLE_NODE_WAIT:
		end_straight(w);
		w->total = plus(w, w->total, HEDDLE_INSTRUCTION_GLOBAL_LOAD, 1);
		break;
	case HEDDLE_NODE_DECLARE:
	case HEDDLE_NODE_COPY:
	case HEDDLE_NODE_COMMENT: break;
	}
}

void measure_paths(measurer *m)
{
	walker w = {.m = m, .arena = m->regions.reader.arena, .body = 1};
	heddle_load *load = m->load;
	const double warps = ceil(m->launch->threads / (m->descriptor->warp.set ? m->descriptor->warp.value : 1));
	weigh(&w);
	w.array = HEDDLE_NEW_ARRAY(w.arena, array, m->program->n_buffer + 1);
	walk(&w, m->launch->body);
	end_straight(&w);
	if (m->simd && load->registers == 0)
		count_registers(&w, 0, (uint64_t)(load->blocks * m->launch->threads));
	if (!m->simd)
		measure_registers(m);
	for (int i = 0; i < HEDDLE_N_INSTRUCTION; i++)
		load->chain[i] = w.total.n[i];
	load->instruction[HEDDLE_INSTRUCTION_BARRIER] = warps * load->chain[HEDDLE_INSTRUCTION_BARRIER];
	load->chain[HEDDLE_INSTRUCTION_GLOBAL_LOAD] += w.ahead;
	load->prefetched = w.ahead;
	const double waits = fmax(1, load->chain[HEDDLE_INSTRUCTION_GLOBAL_LOAD]);
	load->flight = m->loaded / waits;
}
